"""Integer division, powers and shifts without undefined behaviour, half-precision rounding, and
the Threefry random generator."""

from __future__ import annotations

from eutectic.kernel.scalar import (
    BITS, SIGNED, Value, bitcast, const, convert, half_bits, idiv, irem, select)


def _safe(a: Value, b: Value) -> tuple[Value, Value, Value]:
    """(divisor that cannot trap, divisor is 0, divisor is -1)."""
    zero = b.eq(0)
    if a.ty not in SIGNED:
        return select(zero, const(1, b.ty), b), zero, zero
    minus = b.eq(-1)
    return select(zero | minus, const(1, b.ty), b), zero, minus


def int_floor_divide(a: Value, b: Value) -> Value:
    """Quotient rounded down; 0 for a divisor of 0; the least integer by -1 wraps to itself."""
    d, zero, minus = _safe(a, b)
    q = idiv(a, d)
    if a.ty in SIGNED:
        r = a - q * d
        q = q - select(r.ne(0) & ((r ^ d) < 0), const(1, a.ty), const(0, a.ty))
        q = select(minus, -a, q)
    return select(zero, const(0, a.ty), q)


def int_truncate_divide(a: Value, b: Value) -> Value:
    """Quotient rounded towards zero; 0 for a divisor of 0; the least integer by -1 wraps."""
    d, zero, minus = _safe(a, b)
    q = idiv(a, d)
    if a.ty in SIGNED:
        q = select(minus, -a, q)
    return select(zero, const(0, a.ty), q)


def int_remainder(a: Value, b: Value) -> Value:
    """a - b*int_floor_divide(a, b), of the divisor's sign; 0 for a divisor of 0."""
    d, zero, minus = _safe(a, b)
    r = irem(a, d)
    if a.ty in SIGNED:
        r = r + select(r.ne(0) & ((r ^ d) < 0), d, const(0, a.ty))
        return select(zero | minus, const(0, a.ty), r)
    return select(zero, const(0, a.ty), r)


def int_power(a: Value, b: Value) -> Value:
    """a**b modulo 2^width. A negative exponent gives the truncated real value: 1 for base 1, 1 or
    -1 for base -1, 0 for every other base (0 among them)."""
    ty = a.ty
    result, base, e = const(1, ty), a, b
    for i in range(BITS[ty]):
        result = select((e & 1).ne(0), result * base, result)
        if i + 1 < BITS[ty]:
            base = base * base
            e = e >> 1
    if ty not in SIGNED:
        return result
    unit = select((b & 1).ne(0), a, const(1, ty))
    small = select(a.eq(1) | a.eq(-1), unit, const(0, ty))
    return select(b < 0, small, result)


def left_shift(a: Value, b: Value) -> Value:
    """a * 2^b modulo 2^width; 0 for amounts outside [0, width)."""
    width = BITS[a.ty]
    inside = bitcast(b, f"u{width}") < width
    return select(inside, a << (b & (width - 1)), const(0, a.ty))


def right_shift(a: Value, b: Value) -> Value:
    """floor(a / 2^b); amounts outside [0, width) fill with the sign (0 for unsigned types)."""
    width = BITS[a.ty]
    inside = bitcast(b, f"u{width}") < width
    if a.ty in SIGNED:
        return a >> select(inside, b, const(width - 1, a.ty))
    return select(inside, a >> (b & (width - 1)), const(0, a.ty))


def bf16_bits(v: Value) -> Value:
    """The bfloat16 nearest to an f32 (ties to even) as u16; NaN stays a quiet NaN.

    A value that is one already gives its bits, a signalling NaN included.
    """
    i = v.bits()
    if is_bf16(v):
        return convert(i >> 16, "u16")
    rounded = (i + (((i >> 16) & 1) + 0x7FFF)) >> 16
    return convert(select(v.is_nan(), (i >> 16) | 0x40, rounded), "u16")


def bf16_value(bits: Value) -> Value:
    """The f32 of bfloat16 bits held in a u16."""
    return bitcast(convert(bits, "u32") << 16, "f32")


def is_bf16(v: Value) -> bool:
    """Whether an f32 is known to be a bfloat16: loaded, rounded, held, or chosen from such."""
    stack, seen = [v], {id(v)}
    while stack:
        v = stack.pop()
        more: tuple[Value, ...] = ()
        if v.op == "select":
            more = v.args[1:]
        elif v.op in ("neg", "fabs", "copysign"):
            more = v.args[:1]
        elif not ((v.op == "const" and v.imm & 0xFFFF == 0)
                  or (v.op == "arg" and v.imm == "bfloat16")
                  or (v.op == "bitcast" and _low_half_is_zero(v.args[0]))):
            return False
        for x in more:
            if id(x) not in seen:
                seen.add(id(x))
                stack.append(x)
    return True


def _low_half_is_zero(i: Value) -> bool:
    if len(i.args) != 2 or i.args[1].op != "const":
        return False
    return (i.op == "and" and i.args[1].imm == 0xFFFF0000) or (
        i.op == "shl" and i.args[1].imm == 16 and i.args[0].op == "convert"
        and i.args[0].args[0].ty == "u16")


def round_bf16(v: Value) -> Value:
    """An f32 rounded to the nearest bfloat16 (ties to even); overflow gives infinity."""
    if is_bf16(v):
        return v
    i = v.bits()
    rounded = i + (((i >> 16) & 1) + 0x7FFF)
    return bitcast(select(v.is_nan(), i | 0x400000, rounded) & 0xFFFF0000, "f32")


def round_f16(v: Value) -> Value:
    """An f32 rounded to the nearest float16 (ties to even)."""
    return v if half_bits(v) is not None else convert(convert(v, "f16"), "f32")


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry2x32(k0: Value, k1: Value, c0: Value, c1: Value) -> tuple[Value, Value]:
    """Threefry-2x32 with 20 rounds on u32 (J. Salmon et al., "Parallel random numbers: as easy as
    1, 2, 3", SC 2011)."""
    keys = (k0, k1, k0 ^ k1 ^ 0x1BD11BDA)
    x0, x1 = c0 + k0, c1 + k1
    for group in range(5):
        for r in _ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = ((x1 << r) | (x1 >> (32 - r))) ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + (group + 1)
    return x0, x1
