"""Elements in memory as scalar values: what a loaded register means, and loads at an address."""

from __future__ import annotations

from eutectic.dtype import BY_NAME, Dtype, bfloat16, bool_, complex64, float16
from eutectic.kernel import mathlib
from eutectic.kernel.scalar import Complex, Value, convert, fmax, fmin, select

STORED = {bfloat16: "u16", float16: "f16", bool_: "u8"}
"""Type of the register that holds an element as it lies in memory, where it differs."""


def from_stored(v: Value, d: Dtype) -> Value:
    """The element that a register of the stored type stands for."""
    if d is bfloat16:
        return mathlib.bf16_value(v)
    if d is float16:
        return convert(v, "f32")
    return v.ne(0) if d is bool_ else v


def load_element(address: Value, name: str) -> Value | Complex:
    """The element of dtype `name` at a byte address, lane by lane."""
    d = BY_NAME[name]
    if d is complex64:
        return Complex(Value("load_at", "f32", (address,), 4),
                       Value("load_at", "f32", (address + 4,), 4))
    return from_stored(Value("load_at", STORED.get(d, d.compute), (address,), d.size), d)


def gather_offset(*operands: Value) -> Value:
    """Byte offset of an element from its indices: operands are n indices, n steps, n lengths.

    Negative indices count from the end; what lies outside is clamped, so no index reaches memory
    that is not the array's.
    """
    n = len(operands) // 3
    total: Value | None = None
    for index, step, length in zip(operands[:n], operands[n:2 * n], operands[2 * n:]):
        i = convert(index, "i64")
        i = select(i < 0, i + length, i)
        i = fmax(fmin(i, length - 1), 0)
        part = i * step
        total = part if total is None else total + part
    assert total is not None
    return total
