"""Sizes that are known when a function is called: integer polynomials of the arguments' lengths."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from eutectic.dtype import Dtype
from eutectic.graph.prims import const_pattern


@dataclass(frozen=True, slots=True)
class Size:
    """A sum of terms (coefficient, names), e.g. 2*a*b + 1: ((2, ('a', 'b')), (1, ()))."""

    terms: tuple[tuple[int, tuple[str, ...]], ...]

    def at(self, lengths: Mapping[str, int]) -> int:
        total = 0
        for coefficient, names in self.terms:
            for name in names:
                coefficient *= lengths[name]
            total += coefficient
        return total

    def __str__(self) -> str:
        return "+".join("*".join(([str(c)] if c != 1 or not names else []) + list(names))
                        for c, names in self.terms).replace("+-", "-") or "0"


@dataclass(frozen=True, slots=True)
class Number:
    """The pattern of a constant that is a size: `x / x.shape[0]` has one."""

    size: Size

    def at(self, lengths: Mapping[str, int], dtype: Dtype) -> int:
        return const_pattern(self.size.at(lengths), dtype)


def fit(values: Callable[[tuple[int, ...]], int], names: Sequence[str], low: Sequence[int],
        high: Sequence[int]) -> int | Size | None:
    """The polynomial, linear in each name, through the values at all corners of a box.

    `values` takes a corner: for each name 0 (low) or 1 (high). None where a coefficient is no
    integer.
    """
    found: dict[tuple[str, ...], Fraction] = {}
    ranks = range(len(names))
    for corner in itertools.product((0, 1), repeat=len(names)):
        chosen = [i for i in ranks if corner[i]]
        # The divided difference over the chosen names, times the product of (name - low).
        slope = Fraction(sum(
            (-1) ** (len(chosen) - sum(part)) * values(tuple(
                dict(zip(chosen, part)).get(i, 0) for i in ranks))
            for part in itertools.product((0, 1), repeat=len(chosen))))
        for i in chosen:
            slope /= high[i] - low[i]
        if not slope:
            continue
        for part in itertools.product((0, 1), repeat=len(chosen)):
            monomial = tuple(names[i] for i, p in zip(chosen, part) if p)
            rest = slope
            for i, p in zip(chosen, part):
                rest *= 1 if p else -low[i]
            found[monomial] = found.get(monomial, Fraction(0)) + rest
    terms = {m: c for m, c in found.items() if c}
    if any(c.denominator != 1 for c in terms.values()):
        return None
    if not terms or terms.keys() == {()}:
        return int(terms.get((), Fraction(0)))
    ordered = sorted(terms.items(), key=lambda t: (-len(t[0]), t[0]))
    return Size(tuple([(int(c), m) for m, c in ordered]))
