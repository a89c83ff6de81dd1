"""How the elements of a matrix product are read, multiplied and written, by dtype.

A value is a list of planes: one vector, or two (real and imaginary) for complex numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from eutectic.codegen.matmul_text import Fn
from eutectic.codegen.targets import Target


def vec(ty: str, n: int) -> str:
    """The LLVM type of n elements; a plain scalar for one."""
    return ty if n == 1 else f"<{n} x {ty}>"


@dataclass(frozen=True, slots=True)
class Numeric:
    """A dtype in memory (`elem`) and in accumulators (`acc`); sizes in bytes."""

    dtype: str
    elem: str
    size: int
    acc: str
    acc_size: int
    planes: int = 1

    @property
    def widened(self) -> bool:
        """Accumulators do not fit into the output's memory."""
        return self.elem != self.acc or self.planes != 1

    @property
    def direct(self) -> bool:
        """Operands can feed the microkernel from where they are, without packing."""
        return not self.widened

    def read(self, f: Fn, pointer: str, n: int) -> list[str]:
        """n consecutive elements as accumulator planes."""
        if self.planes == 2:
            if n == 1:
                high = f.at(pointer, 1, "float")
                return [f.load("float", pointer, 4), f.load("float", high, 4)]
            pair = vec("float", 2 * n)
            both = f.load(pair, pointer, 4)
            return [f.v(f"shufflevector {pair} {both}, {pair} poison, <{n} x i32> "
                        f"<{', '.join(f'i32 {2 * i + p}' for i in range(n))}>")
                    for p in range(2)]
        raw = f.load(vec(self.elem, n), pointer, self.size)
        return [self._widen(f, raw, n)]

    def write(self, f: Fn, pointer: str, n: int, planes: list[str]) -> None:
        """Round n accumulators to the dtype and store them."""
        if self.planes == 2:
            if n == 1:
                f.store("float", planes[0], pointer, 4)
                f.store("float", planes[1], f.at(pointer, 1, "float"), 4)
                return
            order = ", ".join(f"i32 {i}, i32 {i + n}" for i in range(n))
            pair = f.v(f"shufflevector {vec('float', n)} {planes[0]}, {vec('float', n)} "
                       f"{planes[1]}, <{2 * n} x i32> <{order}>")
            f.store(vec("float", 2 * n), pair, pointer, 4)
            return
        f.store(vec(self.elem, n), self._narrow(f, planes[0], n), pointer, self.size)

    def zero(self, n: int) -> str:
        """A zero accumulator plane."""
        if n > 1:
            return "zeroinitializer"
        return "0.0" if self.acc in ("float", "double") else "0"

    def multiply_add(self, f: Fn, n: int, a: list[str], b: list[str],
                     acc: list[str]) -> list[str]:
        """One step of the chain: acc + a*b.

        Complex, in this order, each step one fma:
        re = fma(-a.im, b.im, fma(a.re, b.re, re)), im = fma(a.im, b.re, fma(a.re, b.im, im)).
        """
        if self.planes == 1:
            return [self._fma(f, n, a[0], b[0], acc[0])]
        minus = f.v(f"fneg {vec(self.acc, n)} {a[1]}")
        real = self._fma(f, n, a[0], b[0], acc[0])
        imaginary = self._fma(f, n, a[0], b[1], acc[1])
        return [self._fma(f, n, minus, b[1], real), self._fma(f, n, a[1], b[0], imaginary)]

    def add(self, f: Fn, n: int, a: list[str], b: list[str]) -> list[str]:
        op = "fadd" if self.acc in ("float", "double") else "add"
        return [f.v(f"{op} {vec(self.acc, n)} {x}, {y}") for x, y in zip(a, b)]

    def _fma(self, f: Fn, n: int, a: str, b: str, c: str) -> str:
        ty = vec(self.acc, n)
        if self.acc in ("float", "double"):
            bits = 32 if self.acc == "float" else 64
            name = f"llvm.fma.v{n}f{bits}" if n > 1 else f"llvm.fma.f{bits}"
            return f.call(ty, name, f"{ty} {a}", f"{ty} {b}", f"{ty} {c}")
        product = f.v(f"mul {ty} {a}, {b}")
        return f.v(f"add {ty} {product}, {c}")

    def _widen(self, f: Fn, raw: str, n: int) -> str:
        if self.dtype == "float16":
            return f.v(f"fpext {vec('half', n)} {raw} to {vec('float', n)}")
        if self.dtype == "bfloat16":
            wide = f.v(f"zext {vec('i16', n)} {raw} to {vec('i32', n)}")
            high = f.v(f"shl {vec('i32', n)} {wide}, {_constant(16, n)}")
            return f.v(f"bitcast {vec('i32', n)} {high} to {vec('float', n)}")
        if self.elem != self.acc:
            # Products wrap around, so the low bits do not depend on the extension.
            return f.v(f"zext {vec(self.elem, n)} {raw} to {vec(self.acc, n)}")
        return raw

    def _narrow(self, f: Fn, value: str, n: int) -> str:
        wide, i32 = vec(self.acc, n), vec("i32", n)
        if self.dtype == "float16":
            return f.v(f"fptrunc {wide} {value} to {vec('half', n)}")
        if self.dtype == "bfloat16":
            # Nearest even by integers: the hardware conversion flushes subnormal numbers.
            bits = f.v(f"bitcast {wide} {value} to {i32}")
            high = f.v(f"lshr {i32} {bits}, {_constant(16, n)}")
            odd = f.v(f"and {i32} {high}, {_constant(1, n)}")
            bias = f.v(f"add {i32} {odd}, {_constant(0x7FFF, n)}")
            rounded = f.v(f"add {i32} {bits}, {bias}")
            finite = f.v(f"lshr {i32} {rounded}, {_constant(16, n)}")
            quiet = f.v(f"or {i32} {high}, {_constant(0x40, n)}")
            nan = f.v(f"fcmp uno {wide} {value}, {value}")
            chosen = f.v(f"select {vec('i1', n)} {nan}, {i32} {quiet}, {i32} {finite}")
            return f.v(f"trunc {i32} {chosen} to {vec('i16', n)}")
        if self.dtype == "bool":
            true = f.v(f"icmp ne {wide} {value}, {self.zero(n)}")
            return f.v(f"zext {vec('i1', n)} {true} to {vec('i8', n)}")
        if self.elem != self.acc:
            return f.v(f"trunc {wide} {value} to {vec(self.elem, n)}")
        return value


def _constant(value: int, n: int) -> str:
    return str(value) if n == 1 else f"splat (i32 {value})"


def _integers() -> dict[str, Numeric]:
    table = {}
    for sign in ("int", "uint"):
        for bits in (8, 16, 32, 64):
            acc = max(bits, 32)
            table[f"{sign}{bits}"] = Numeric(f"{sign}{bits}", f"i{bits}", bits // 8, f"i{acc}",
                                             acc // 8)
    return table


NUMERICS: dict[str, Numeric] = {
    "float32": Numeric("float32", "float", 4, "float", 4),
    "float64": Numeric("float64", "double", 8, "double", 8),
    "float16": Numeric("float16", "half", 2, "float", 4),
    "bfloat16": Numeric("bfloat16", "i16", 2, "float", 4),
    "complex64": Numeric("complex64", "{ float, float }", 8, "float", 4, planes=2),
    "bool": Numeric("bool", "i8", 1, "i32", 4),
    **_integers(),
}


@dataclass(frozen=True, slots=True)
class Tile:
    """The microkernel's block of C: `rows` (or `few` at the lower edge) x `vectors` * `lanes`."""

    rows: int
    few: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


def tile_for(numeric: Numeric, target: Target) -> Tile:
    """The tile that fills the target's registers (docs/decisions/0002-matrix-products.md)."""
    lanes = target.vector_bits // (8 * numeric.acc_size)
    rows, few = (12, 4) if target.registers >= 32 else (6, 2)
    return Tile(rows // numeric.planes, few // numeric.planes, 2, lanes)
