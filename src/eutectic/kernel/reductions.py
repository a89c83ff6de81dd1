"""Reductions: how an element enters an accumulator, how accumulators meet, and the fixed order.

The order is a function of the logical shape, the axes and the dtype alone. Along the reduced
elements `e_0 .. e_{n-1}` (row-major over the reduced axes):

- *row class* (the innermost axis is reduced): element i belongs to lane `i % LANES`; blocks of
  LANES elements accumulate in sequence, RADIX blocks at a time; RADIX results of a level
  accumulate in sequence into one of the next; lanes meet last, lane i with lane i + half.
- *column class*: the same levels along the reduced axis with blocks of one element, no lanes.

Each level starts from the identity, and combining with the identity changes no bits, so a level
that has too few elements need not exist. Error grows as RADIX * log_RADIX(n), not as n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eutectic.dtype import Dtype, bool_, int32, uint32
from eutectic.kernel.mathlib import divide
from eutectic.kernel.scalar import (
    BITS, FLOATS, SIGNED, Complex, Value, const_bits, fmax, fmin, pattern, select)

RADIX = 16
UNIT = RADIX * RADIX
"""Blocks in a unit: what one thread accumulates when a long row is split."""

Accs = tuple[Value, ...]


def lanes(ty: str) -> int:
    """Lanes of the row class for an accumulator type: 64, or 32 for 8-byte types."""
    return 32 if BITS.get(ty, 64) == 64 and ty != "c64" else 64


@dataclass(frozen=True, eq=False, slots=True)
class Reduction:
    """One kind of reduction; `ty` is the compute type of its operand."""

    name: str
    identity: Callable[[str], tuple[tuple[str, int], ...]]
    """(type, bit pattern) of each accumulator."""
    lift: Callable[[Value | Complex, Value], Accs]
    """Element and its index ('u32') to accumulators."""
    combine: Callable[[Accs, Accs], Accs]
    """Accumulators of earlier elements with those of later ones."""
    finish: Callable[[Accs], Value | Complex]
    result: Callable[[Dtype], Dtype]
    uses_index: bool = False


def _one(v: Value | Complex, _index: Value) -> Accs:
    return (v.re, v.im) if isinstance(v, Complex) else (v,)


def _only(a: Accs) -> Value | Complex:
    return Complex(a[0], a[1]) if len(a) == 2 else a[0]


def _sum_identity(ty: str) -> tuple[tuple[str, int], ...]:
    if ty == "c64":
        return (("f32", pattern(-0.0, "f32")),) * 2
    return ((ty, pattern(-0.0, ty) if ty in FLOATS else 0),)


def _prod_identity(ty: str) -> tuple[tuple[str, int], ...]:
    if ty == "c64":
        return (("f32", pattern(1.0, "f32")), ("f32", 0))
    return ((ty, pattern(1, ty)),)


def lowest(ty: str) -> int:
    """Bit pattern of the least value of a type (-inf for floats)."""
    if ty in FLOATS:
        return pattern(float("-inf"), ty)
    return 1 << (BITS[ty] - 1) if ty in SIGNED else 0


def highest(ty: str) -> int:
    """Bit pattern of the greatest value of a type (inf for floats)."""
    if ty in FLOATS:
        return pattern(float("inf"), ty)
    return (1 << (BITS[ty] - (ty in SIGNED))) - 1


def _add(a: Accs, b: Accs) -> Accs:
    return tuple([x + y for x, y in zip(a, b)])


def _mul(a: Accs, b: Accs) -> Accs:
    if len(a) == 2:
        p = Complex(*a) * Complex(*b)
        return (p.re, p.im)
    return (a[0] * b[0],)


def _complex_pick(a: Accs, b: Accs, larger: bool) -> Accs:
    # Complex numbers order by real part, then imaginary part; NaN in either wins (NumPy's rule).
    gt = (a[0] > b[0]) if larger else (a[0] < b[0])
    tie = (a[1] > b[1]) if larger else (a[1] < b[1])
    first = a[0].is_nan() | a[1].is_nan() | (
        ~(b[0].is_nan() | b[1].is_nan()) & (gt | (a[0].eq(b[0]) & tie)))
    return (select(first, a[0], b[0]), select(first, a[1], b[1]))


def _bool_safe(f: Callable[[Value, Value], Value], g: Callable[[Value, Value], Value]) -> Callable[
        [Accs, Accs], Accs]:
    def combine(a: Accs, b: Accs) -> Accs:
        return (g(a[0], b[0]) if a[0].ty == "bool" else f(a[0], b[0]),)
    return combine


_max_real = _bool_safe(fmax, lambda a, b: a | b)
_min_real = _bool_safe(fmin, lambda a, b: a & b)


def _max(a: Accs, b: Accs) -> Accs:
    return _complex_pick(a, b, True) if len(a) == 2 else _max_real(a, b)


def _min(a: Accs, b: Accs) -> Accs:
    return _complex_pick(a, b, False) if len(a) == 2 else _min_real(a, b)


def _extreme_identity(bits: Callable[[str], int]) -> Callable[[str], tuple[tuple[str, int], ...]]:
    def identity(ty: str) -> tuple[tuple[str, int], ...]:
        return (("f32", bits("f32")),) * 2 if ty == "c64" else ((ty, bits(ty)),)
    return identity


# An absent element of argmax/argmin: the highest index marks it, and any element beats it.
_NO_INDEX = 0xFFFFFFFF


def _arg_identity(ty: str) -> tuple[tuple[str, int], ...]:
    return ((ty, 0), ("u32", _NO_INDEX))


def _arg_combine(better: Callable[[Value, Value], Value]) -> Callable[[Accs, Accs], Accs]:
    def combine(a: Accs, b: Accs) -> Accs:
        (x, i), (y, j) = a, b
        ahead = better(x, y) if x.ty != "bool" else _bool_better(better, x, y)
        equal = x.eq(y) if x.ty != "bool" else ~(x ^ y)
        if x.ty in FLOATS:
            ahead = ahead | (x.is_nan() & ~y.is_nan())
            ahead = ahead & ~(y.is_nan() & ~x.is_nan())
            equal = equal | (x.is_nan() & y.is_nan())
        first = (j.eq(_NO_INDEX)) | (i.ne(_NO_INDEX) & (ahead | (equal & (i < j))))
        return (select(first, x, y), select(first, i, j))
    return combine


def _bool_better(better: Callable[[Value, Value], Value], x: Value, y: Value) -> Value:
    one, zero = const_bits(1, "u8"), const_bits(0, "u8")
    return better(select(x, one, zero), select(y, one, zero))


def _arg_lift(v: Value | Complex, index: Value) -> Accs:
    assert isinstance(v, Value)
    return (v, index)


def _sum_dtype(d: Dtype) -> Dtype:
    if d is bool_ or (d.is_signed and d.size < 4):
        return int32
    return uint32 if d.is_int and d.size < 4 else d


def _same(d: Dtype) -> Dtype:
    return d


SUM = Reduction("sum", _sum_identity, _one, _add, _only, _sum_dtype)
PROD = Reduction("prod", _prod_identity, _one, _mul, _only, _sum_dtype)
MAX = Reduction("max", _extreme_identity(lowest), _one, _max, _only, _same)
MIN = Reduction("min", _extreme_identity(highest), _one, _min, _only, _same)
ALL = Reduction("all", lambda ty: (("bool", 1),), _one, lambda a, b: (a[0] & b[0],), _only,
                lambda d: bool_)
ANY = Reduction("any", lambda ty: (("bool", 0),), _one, lambda a, b: (a[0] | b[0],), _only,
                lambda d: bool_)
ARGMAX = Reduction("argmax", _arg_identity, _arg_lift, _arg_combine(lambda x, y: x > y),
                   lambda a: a[1], lambda d: uint32, uses_index=True)
ARGMIN = Reduction("argmin", _arg_identity, _arg_lift, _arg_combine(lambda x, y: x < y),
                   lambda a: a[1], lambda d: uint32, uses_index=True)

REDUCTIONS = {r.name: r for r in (SUM, PROD, MAX, MIN, ALL, ANY, ARGMAX, ARGMIN)}


def ordered(reduction: Reduction, ty: str) -> bool:
    """Whether the result can depend on the order: float sums, products and extremes."""
    return not reduction.uses_index and (ty in FLOATS or ty == "c64")


def _pair_body(reduction: Reduction) -> Callable[..., Value | Complex]:
    def body(old: Value | Complex, new: Value | Complex) -> Value | Complex:
        index = const_bits(0, "u32")
        return reduction.finish(reduction.combine(reduction.lift(old, index),
                                                  reduction.lift(new, index)))
    return body


COMBINE_BODY = {**{r.name: _pair_body(r) for r in (SUM, PROD, MAX, MIN)}, "div": divide}
"""What a scatter does with an element that is there and one that comes."""
