"""Index maps: a node's coordinates as linear forms of the loop indices of a kernel.

A `Form` is `const + sum(coefficient * index)`. Views compose into forms exactly: a transpose
permutes them, a slice scales and shifts, a broadcast drops them, and a reshape merges or splits
axes, where a split may ask for a loop index to be split first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eutectic.graph.ir import Node
from eutectic.graph.prims import BROADCAST, RESHAPE, SLICE, TRANSPOSE

Form = tuple[int, tuple[tuple[int, int], ...]]
"""(constant, ((loop index, coefficient), ...)) with loop indices in ascending order."""
Forms = tuple[Form, ...]

ZERO: Form = (0, ())


@dataclass(frozen=True, slots=True)
class NeedSplit(Exception):
    """A reshape needs loop index `index` split into (outer, `inner` long) first."""

    index: int
    inner: int


class NotAffine(Exception):
    """The view cannot be written as linear forms of the loop indices."""


def pure(index: int) -> Form:
    """The form that is one loop index."""
    return (0, ((index, 1),))


def scale(f: Form, factor: int, shift: int = 0) -> Form:
    return (f[0] * factor + shift, tuple([(d, c * factor) for d, c in f[1]] if factor else []))


def add(a: Form, b: Form) -> Form:
    if not a[1]:
        return (a[0] + b[0], b[1])
    if not b[1]:
        return (a[0] + b[0], a[1])
    terms = dict(a[1])
    for d, c in b[1]:
        terms[d] = terms.get(d, 0) + c
    return (a[0] + b[0], tuple(sorted((d, c) for d, c in terms.items() if c)))


def split(f: Form, index: int, outer: int, inner: int, inner_size: int) -> Form:
    """Replace a loop index by outer*inner_size + inner."""
    for d, c in f[1]:
        if d == index:
            terms = [t for t in f[1] if t[0] != index] + [(outer, c * inner_size), (inner, c)]
            return (f[0], tuple(sorted(terms)))
    return f


def linear(forms: Sequence[Form], strides: Sequence[int]) -> Form:
    """The form of an address: sum of stride * coordinate."""
    const = 0
    terms: dict[int, int] = {}
    for (c0, ts), s in zip(forms, strides):
        const += c0 * s
        for d, c in ts:
            terms[d] = terms.get(d, 0) + c * s
    return (const, tuple(sorted((d, c) for d, c in terms.items() if c)))


def operand_forms(forms: Forms, out_shape: Sequence[int], in_shape: Sequence[int]) -> Forms:
    """Coordinates of an elementwise operand that broadcasts to the result."""
    if in_shape == out_shape:
        return forms
    pad = len(out_shape) - len(in_shape)
    return tuple([ZERO if d == 1 else forms[pad + i] for i, d in enumerate(in_shape)])


def back(view: Node, forms: Forms, sizes: Mapping[int, int]) -> Forms:
    """Coordinates in a view's input, from coordinates in its result."""
    source = view.inputs[0].shape
    if view.prim is TRANSPOSE:
        out: list[Form] = [ZERO] * len(source)
        for i, p in enumerate(view.attrs[0]):
            out[p] = forms[i]
        return tuple(out)
    if view.prim is SLICE:
        starts, steps = view.attrs
        return tuple([scale(f, step, start) for f, start, step in zip(forms, starts, steps)])
    if view.prim is BROADCAST:
        return operand_forms(forms, view.shape, source)
    if view.prim is RESHAPE:
        return reshape_back(view.shape, forms, source, sizes)
    raise NotAffine(view.prim.name)


def reshape_back(out_shape: Sequence[int], forms: Sequence[Form], in_shape: Sequence[int],
                 sizes: Mapping[int, int]) -> Forms:
    """Coordinates before a row-major reshape, from those after it."""
    result: list[Form] = [ZERO] * len(in_shape)
    if 0 in in_shape:
        return tuple(result)  # no element is ever asked for
    i, j = len(in_shape) - 1, len(out_shape) - 1
    while i >= 0 or j >= 0:
        # Grow a run of axes on both sides until they hold equally many elements.
        ins: list[int] = []
        outs: list[int] = []
        n_in = n_out = 1
        while True:
            if n_in == n_out and (ins or outs):
                break
            if n_in <= n_out and i >= 0:
                n_in *= in_shape[i]
                ins.append(i)
                i -= 1
            elif j >= 0:
                n_out *= out_shape[j]
                outs.append(j)
                j -= 1
            elif i >= 0:
                n_in *= in_shape[i]
                ins.append(i)
                i -= 1
            else:
                break
        flat = ZERO
        step = 1
        for o in outs:  # innermost first
            flat = add(flat, scale(forms[o], step))
            step *= out_shape[o]
        for k, ax in enumerate(ins):  # innermost first
            size = in_shape[ax]
            if size == 1:
                continue
            if all(in_shape[x] == 1 for x in ins[k + 1:]):
                result[ax] = flat
                break
            flat, result[ax] = _divide(flat, size, sizes)
    return tuple(result)


def _divide(f: Form, size: int, sizes: Mapping[int, int]) -> tuple[Form, Form]:
    """Split a non-negative form into (f // size, f % size), both linear."""
    high: list[tuple[int, int]] = []
    low: list[tuple[int, int]] = []
    for d, c in f[1]:
        if c < 0:
            raise NotAffine("negative step")
        if c % size == 0:
            high.append((d, c // size))
        else:
            low.append((d, c))
    c_high, c_low = divmod(f[0], size)
    reach = c_low + sum(c * (sizes[d] - 1) for d, c in low)
    if reach < size:
        return (c_high, tuple(high)), (c_low, tuple(low))
    for d, c in low:
        inner = size // c if size % c == 0 else 0
        if 1 < inner < sizes[d] and sizes[d] % inner == 0:
            raise NeedSplit(d, inner)
    raise NotAffine("axes do not divide")


def product(sizes: Sequence[int]) -> int:
    return math.prod(sizes)


def is_bijective(forms: Forms) -> bool:
    """Whether different loop indices give different coordinates, starting from 0 (no slice)."""
    seen: set[int] = set()
    for const, terms in forms:
        if const:
            return False
        for d, c in terms:
            if d in seen or c < 0:
                return False
            seen.add(d)
    return True
