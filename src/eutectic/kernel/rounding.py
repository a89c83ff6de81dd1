"""Rounding of a node's value to its dtype."""

from __future__ import annotations

from eutectic.dtype import Dtype
from eutectic.kernel import mathlib
from eutectic.kernel.scalar import Complex, Value, bitcast, convert, fabs, select


def rounded(v: Value | Complex, d: Dtype) -> Value | Complex:
    """The node's value: rounded to its dtype where that is computed in a wider one."""
    if d.is_half and isinstance(v, Value):
        return mathlib.round_bf16(v) if d.name == "bfloat16" else mathlib.round_f16(v)
    return v


def odd_f32(v: Value) -> Value:
    """A wide number in float32, rounded to odd: a second rounding, to 11 bits or fewer, is exact.

    Of the two neighbours of an inexact number the one with an odd last bit; see S. Boldo and
    G. Melquiond, "When double rounding is odd", 2005.
    """
    if v.ty in ("i64", "u64"):
        # 48 bits are enough, and exact in float64; the bits below only mark that there is more.
        rest = (v & 0xFFFF).ne(0)
        top = (v >> 16) | select(rest, convert(rest, v.ty), 0)
        high = v >> 52
        exact = high.eq(0) | high.eq(-1) if v.ty == "i64" else high.eq(0)
        v = select(exact, convert(v, "f64"), convert(top, "f64") * 65536.0)
    elif v.ty != "f64":
        v = convert(v, "f64")
    near = convert(v, "f32")
    back = convert(near, "f64")
    bits = near.bits()
    down = select(fabs(back) > fabs(v), bits - 1, bits)
    return bitcast(select((back < v) | (back > v), down | 1, bits), "f32")
