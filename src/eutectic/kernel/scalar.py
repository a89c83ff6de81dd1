"""Scalar bodies: typed single-assignment values that one text of arithmetic builds.

A body is a Python function from `Value`s to a `Value`; operators and the functions below record
instructions. The same record is emitted as vector code, as scalar code and as GPU code, printed,
and counted. Types: 'bool', 'u8' 'u16' 'u32' 'u64' 'i8' 'i16' 'i32' 'i64', 'f32', 'f64', and the
storage-only 'f16' (bfloat16 is stored as 'u16'). A complex number is a pair of 'f32' (`Complex`).

Semantics are exact and the same on every target: float operations are IEEE, never contracted;
integers wrap; `select`, comparisons and bit operations as in C; shifts by the width or more,
division by zero and out-of-range conversions must be kept out by the body (`convert` is total).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from eutectic.errors import InternalError

BITS = {"bool": 1, "u8": 8, "u16": 16, "u32": 32, "u64": 64, "i8": 8, "i16": 16, "i32": 32,
        "i64": 64, "f16": 16, "f32": 32, "f64": 64}
FLOATS = ("f32", "f64")
SIGNED = ("i8", "i16", "i32", "i64")
INTS = (*SIGNED, "u8", "u16", "u32", "u64")

Number = int | float | bool


class Value:
    """One instruction of a body and its result. Immutable; compared by identity."""

    __slots__ = ("args", "imm", "op", "ty")

    def __init__(self, op: str, ty: str, args: tuple[Value, ...] = (), imm: Any = None) -> None:
        self.op = op
        self.ty = ty
        self.args = args
        self.imm = imm

    def __add__(self, o: Value | Number) -> Value:
        return Value("add", self.ty, (self, _lift(o, self.ty)))

    def __radd__(self, o: Number) -> Value:
        return Value("add", self.ty, (_lift(o, self.ty), self))

    def __sub__(self, o: Value | Number) -> Value:
        return Value("sub", self.ty, (self, _lift(o, self.ty)))

    def __rsub__(self, o: Number) -> Value:
        return Value("sub", self.ty, (_lift(o, self.ty), self))

    def __mul__(self, o: Value | Number) -> Value:
        return Value("mul", self.ty, (self, _lift(o, self.ty)))

    def __rmul__(self, o: Number) -> Value:
        return Value("mul", self.ty, (_lift(o, self.ty), self))

    def __truediv__(self, o: Value | Number) -> Value:
        return Value("div", self.ty, (self, _lift(o, self.ty)))

    def __rtruediv__(self, o: Number) -> Value:
        return Value("div", self.ty, (_lift(o, self.ty), self))

    def __neg__(self) -> Value:
        return Value("neg", self.ty, (self,))

    def __and__(self, o: Value | Number) -> Value:
        return Value("and", self.ty, (self, _lift(o, self.ty)))

    def __or__(self, o: Value | Number) -> Value:
        return Value("or", self.ty, (self, _lift(o, self.ty)))

    def __xor__(self, o: Value | Number) -> Value:
        return Value("xor", self.ty, (self, _lift(o, self.ty)))

    def __invert__(self) -> Value:
        return Value("not", self.ty, (self,))

    def __lshift__(self, o: Value | Number) -> Value:
        return Value("shl", self.ty, (self, _lift(o, self.ty)))

    def __rshift__(self, o: Value | Number) -> Value:
        """Arithmetic for signed types, logical for unsigned ones."""
        return Value("shr", self.ty, (self, _lift(o, self.ty)))

    def __lt__(self, o: Value | Number) -> Value:
        return Value("lt", "bool", (self, _lift(o, self.ty)))

    def __le__(self, o: Value | Number) -> Value:
        return Value("le", "bool", (self, _lift(o, self.ty)))

    def __gt__(self, o: Value | Number) -> Value:
        return Value("gt", "bool", (self, _lift(o, self.ty)))

    def __ge__(self, o: Value | Number) -> Value:
        return Value("ge", "bool", (self, _lift(o, self.ty)))

    def eq(self, o: Value | Number) -> Value:
        """Ordered equality (False with NaN); `==` stays identity, so that values hash."""
        return Value("eq", "bool", (self, _lift(o, self.ty)))

    def ne(self, o: Value | Number) -> Value:
        """Unordered inequality (True with NaN)."""
        return Value("ne", "bool", (self, _lift(o, self.ty)))

    def is_nan(self) -> Value:
        return Value("ne", "bool", (self, self))

    def bits(self) -> Value:
        """The float's bits as an unsigned integer of the same size."""
        return Value("bitcast", f"u{BITS[self.ty]}", (self,))

    def __repr__(self) -> str:
        return f"Value({self.op}:{self.ty})"


def const(value: Number, ty: str) -> Value:
    """A constant, kept as the bit pattern of its type."""
    return Value("const", ty, (), pattern(value, ty))


def const_bits(bits: int, ty: str) -> Value:
    """A constant given by its bit pattern."""
    return Value("const", ty, (), bits)


def pattern(value: Number, ty: str) -> int:
    """The bit pattern of a Python number in a type; floats are rounded to nearest, ints wrap."""
    if ty == "f32":
        return struct.unpack("<I", struct.pack("<f", _clip_f32(float(value))))[0]
    if ty == "f64":
        return struct.unpack("<Q", struct.pack("<d", float(value)))[0]
    if ty == "bool":
        return int(bool(value))
    return int(value) & ((1 << BITS[ty]) - 1)


def bits_to_float(bits: int, width: int) -> float:
    """The number of a float's bit pattern, 32 or 64 bits wide."""
    if width == 32:
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def _clip_f32(value: float) -> float:
    try:
        struct.pack("<f", value)
        return value
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _lift(o: Value | Number, ty: str) -> Value:
    if isinstance(o, Value):
        if o.ty != ty:
            raise InternalError(f"scalar body mixes {ty} with {o.ty}")
        return o
    return const(o, ty)


def fma(a: Value, b: Value | Number, c: Value | Number) -> Value:
    """a*b + c with one rounding."""
    return Value("fma", a.ty, (a, _lift(b, a.ty), _lift(c, a.ty)))


def sqrt(a: Value) -> Value:
    return Value("sqrt", a.ty, (a,))


def fabs(a: Value) -> Value:
    """Clear the sign bit of a float."""
    return Value("fabs", a.ty, (a,))


def floor(a: Value) -> Value:
    return Value("floor", a.ty, (a,))


def ceil(a: Value) -> Value:
    return Value("ceil", a.ty, (a,))


def trunc(a: Value) -> Value:
    return Value("trunc", a.ty, (a,))


def rint(a: Value) -> Value:
    """Round to an integer, ties to even."""
    return Value("rint", a.ty, (a,))


def copysign(a: Value, sign: Value | Number) -> Value:
    return Value("copysign", a.ty, (a, _lift(sign, a.ty)))


def idiv(a: Value, b: Value) -> Value:
    """Integer quotient towards zero; b must not be 0, and not -1 where a is the least integer."""
    return Value("idiv", a.ty, (a, b))


def irem(a: Value, b: Value) -> Value:
    """Remainder of `idiv`, with its sign of `a`; the same conditions."""
    return Value("irem", a.ty, (a, b))


def popcount(a: Value) -> Value:
    """Number of set bits."""
    return Value("popcount", a.ty, (a,))


def clz(a: Value) -> Value:
    """Number of leading zero bits; the width for 0."""
    return Value("clz", a.ty, (a,))


def select(c: Value, a: Value | Number, b: Value | Number) -> Value:
    """a where the condition holds, b elsewhere."""
    ty = a.ty if isinstance(a, Value) else b.ty if isinstance(b, Value) else None
    if ty is None:
        raise InternalError("select needs a typed side")
    return Value("select", ty, (c, _lift(a, ty), _lift(b, ty)))


def bitcast(a: Value, ty: str) -> Value:
    """The same bits in another type of the same size."""
    if BITS[a.ty] != BITS[ty]:
        raise InternalError(f"bitcast {a.ty} to {ty}")
    return a if a.ty == ty else Value("bitcast", ty, (a,))


def convert(a: Value, ty: str) -> Value:
    """Numeric conversion: to bool `!= 0`; float to integer truncates and saturates, NaN gives 0.

    Integers narrower than 32 bits are reached through a saturated int32 whose low bits are kept,
    and uint32 through int64, as C compilers do on x86-64; so -1.0 becomes 255 in uint8.
    """
    if a.ty == ty:
        return a
    if ty == "f16":
        bits = half_bits(a)
        if bits is not None:
            return bitcast(bits, "f16")
    if ty == "bool":
        return a.ne(0)
    if a.ty in FLOATS and ty in ("i8", "i16", "u8", "u16"):
        return Value("convert", ty, (Value("convert", "i32", (a,)),))
    if a.ty in FLOATS and ty == "u32":
        return Value("convert", ty, (Value("convert", "i64", (a,)),))
    if a.ty in FLOATS and ty == "u64":
        negative = bitcast(Value("convert", "i64", (a,)), "u64")
        return select(a < 0, negative, Value("convert", "u64", (a,)))
    return Value("convert", ty, (a,))


def half_bits(a: Value) -> Value | None:
    """The float16 that an f32 was widened from, or chosen from such, as u16; None of others.

    Narrowing it again would be the same but for NaNs, which conversions make quiet: where LLVM
    sees both conversions it drops them. Said here, it does not depend on what LLVM sees.
    """
    return _half_bits(a, {})


def widened(a: Value) -> Value:
    """An f32 of which a later part of the kernel must see whether it is a float16 that moved."""
    bits = half_bits(a)
    return a if bits is None else wide_half(bits)


def quieted(a: Value) -> Value:
    """The f32 that a float16 converts to: quiet where it is a NaN, however it was widened."""
    if a.op == "convert" or half_bits(a) is None:  # by the processor, or no float16 that moved
        return a
    return select(a.is_nan(), bitcast(a.bits() | 0x400000, "f32"), a)


def wide_half(bits: Value) -> Value:
    """The f32 of float16 bits held in a u16, a signalling NaN included."""
    b = convert(bits, "u32")
    nan = ((b & 0x8000) << 16) | 0x7F800000 | ((b & 0x3FF) << 13)
    number = Value("convert", "f32", (bitcast(bits, "f16"),))
    return select((b & 0x7FFF) > 0x7C00, bitcast(nan, "f32"), number)


def _half_bits(a: Value, memo: dict[int, Value | None]) -> Value | None:
    if id(a) in memo:
        return memo[id(a)]
    found: Value | None = None
    if a.op == "convert" and a.args[0].ty == "f16":
        found = bitcast(a.args[0], "u16")
    elif a.op == "select":
        x = _half_bits(a.args[1], memo)
        y = None if x is None else _half_bits(a.args[2], memo)
        found = None if x is None or y is None else select(a.args[0], x, y)
    elif a.op in ("neg", "fabs"):
        x = _half_bits(a.args[0], memo)
        found = None if x is None else x ^ 0x8000 if a.op == "neg" else x & 0x7FFF
    elif a.op == "arg" and a.imm == "float16":
        b = a.bits()
        nan = ((b >> 16) & 0x8000) | 0x7C00 | ((b >> 13) & 0x3FF)
        narrow = bitcast(Value("convert", "f16", (a,)), "u16")
        found = select(a.is_nan(), convert(nan, "u16"), narrow)
    memo[id(a)] = found
    return found


def fmax(a: Value, b: Value | Number) -> Value:
    """Larger of two numbers; NaN if either is (NumPy's rule); b where they are equal."""
    b = _lift(b, a.ty)
    t = select(a > b, a, b)
    return select(a.is_nan(), a, t) if a.ty in FLOATS else t


def fmin(a: Value, b: Value | Number) -> Value:
    """Smaller of two numbers; NaN if either is (NumPy's rule); b where they are equal."""
    b = _lift(b, a.ty)
    t = select(a < b, a, b)
    return select(a.is_nan(), a, t) if a.ty in FLOATS else t


def poly(x: Value, coefficients: Iterable[float | Value]) -> Value:
    """Horner's scheme with fma; coefficients from the highest power down."""
    it = iter(coefficients)
    p = _lift(next(it), x.ty)
    for c in it:
        p = fma(p, x, c)
    return p


class Complex:
    """A complex number: two 'f32' values with the arithmetic of the textbook."""

    __slots__ = ("im", "re")
    ty = "c64"

    def __init__(self, re: Value, im: Value) -> None:
        self.re = re
        self.im = im

    def __add__(self, o: Complex) -> Complex:
        return Complex(self.re + o.re, self.im + o.im)

    def __sub__(self, o: Complex) -> Complex:
        return Complex(self.re - o.re, self.im - o.im)

    def __mul__(self, o: Complex) -> Complex:
        return Complex(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)

    def __neg__(self) -> Complex:
        return Complex(-self.re, -self.im)

    def eq(self, o: Complex) -> Value:
        return self.re.eq(o.re) & self.im.eq(o.im)

    def ne(self, o: Complex) -> Value:
        return self.re.ne(o.re) | self.im.ne(o.im)


Body = Callable[..., Value | Complex]


def toposort(roots: Iterable[Value]) -> list[Value]:
    """Instructions in an order in which operands come first; each once."""
    order: list[Value] = []
    seen: set[int] = set()
    for root in roots:
        stack: list[tuple[Value, int]] = [(root, 0)]
        while stack:
            v, i = stack.pop()
            if i == 0 and id(v) in seen:
                continue
            if i < len(v.args):
                stack.append((v, i + 1))
                if id(v.args[i]) not in seen:
                    stack.append((v.args[i], 0))
            elif id(v) not in seen:
                seen.add(id(v))
                order.append(v)
    return order


_COST = {"const": 0.0, "arg": 0.0, "div": 8.0, "idiv": 24.0, "irem": 26.0, "sqrt": 8.0}


def cost(roots: Iterable[Value]) -> float:
    """Rough cost of a body: instructions, with divisions and roots weighted by throughput."""
    return sum(_COST.get(v.op, 1.0) for v in toposort(roots))


def show(roots: Iterable[Value]) -> str:
    """Write a body as text, one instruction a line."""
    names: dict[int, str] = {}
    lines = []
    for v in toposort(roots):
        names[id(v)] = name = f"%{len(names)}"
        operands = " ".join(names[id(a)] for a in v.args)
        imm = "" if v.imm is None else f" {v.imm:#x}" if v.op == "const" else f" {v.imm}"
        lines.append(f"{name}:{v.ty} = {v.op}{imm} {operands}".rstrip())
    return "\n".join(lines)
