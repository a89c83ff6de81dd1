"""Rounding of a node's value to its dtype."""

from __future__ import annotations

from eutectic.dtype import Dtype
from eutectic.kernel import mathlib
from eutectic.kernel.scalar import Complex, Value


def rounded(v: Value | Complex, d: Dtype) -> Value | Complex:
    """The node's value: rounded to its dtype where that is computed in a wider one."""
    if d.is_half and isinstance(v, Value):
        return mathlib.round_bf16(v) if d.name == "bfloat16" else mathlib.round_f16(v)
    return v
