"""LLVM text of scalar bodies at a fixed vector width (width 1: plain scalars).

One body, one text: the same instructions serve vector blocks, their tails, and single numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import cache, lru_cache

from eutectic.errors import InternalError
from eutectic.kernel.scalar import BITS, FLOATS, SIGNED, Value, toposort

_ELEMENT = {"bool": "i1", "f16": "half", "f32": "float", "f64": "double"}
_FLOAT_OPS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INT_OPS = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor",
            "shl": "shl"}
_FCMP = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_INTRINSIC = {"fma": ("fma", 3), "sqrt": ("sqrt", 1), "fabs": ("fabs", 1), "floor": ("floor", 1),
              "ceil": ("ceil", 1), "trunc": ("trunc", 1), "rint": ("roundeven", 1),
              "copysign": ("copysign", 2), "popcount": ("ctpop", 1)}


@cache
def element_type(ty: str) -> str:
    """The LLVM type of one element in a register."""
    return _ELEMENT.get(ty) or f"i{BITS[ty]}"


@cache
def vector_type(ty: str, width: int) -> str:
    """The LLVM type of `width` elements; a plain scalar at width 1."""
    return element_type(ty) if width == 1 else f"<{width} x {element_type(ty)}>"


@lru_cache(maxsize=4096)
def literal(bits: int, ty: str) -> str:
    """An element constant: floats as bit patterns (LLVM writes float32 in double's hexadecimal)."""
    if ty == "f32":
        as_double = struct.unpack("<f", struct.pack("<I", bits))[0]
        packed = struct.unpack("<Q", struct.pack("<d", as_double))[0]
        return f"0x{packed:016X}"
    if ty == "f64":
        return f"0x{bits:016X}"
    if ty == "f16":
        return f"0xH{bits:04X}"
    if ty == "bool":
        return "true" if bits else "false"
    return str(bits)


@lru_cache(maxsize=4096)
def constant(bits: int, ty: str, width: int) -> str:
    """A constant operand, splatted to the width."""
    text = literal(bits, ty)
    return text if width == 1 else f"splat ({element_type(ty)} {text})"


class Emitter:
    """Appends instructions to `lines`; collects the intrinsics that the module must declare."""

    def __init__(self, width: int, prefix: str = "v") -> None:
        self.width = width
        self.prefix = prefix
        self.lines: list[str] = []
        self.declares: set[str] = set()
        self._n = 0

    def fresh(self) -> str:
        self._n += 1
        return f"%{self.prefix}{self._n}"

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def bind(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def intrinsic(self, name: str, ty: str, operands: list[str], extra: str = "") -> str:
        """Call `llvm.<name>` overloaded on the vector type of `ty`."""
        vt = vector_type(ty, self.width)
        suffix = f"f{BITS[ty]}" if ty in (*FLOATS, "f16") else f"i{BITS[ty]}"
        full = f"@llvm.{name}." + (suffix if self.width == 1 else f"v{self.width}{suffix}")
        types = ", ".join([vt] * len(operands) + (["i1"] if extra else []))
        self.declares.add(f"declare {vt} {full}({types})")
        args = ", ".join([f"{vt} {o}" for o in operands] + ([f"i1 {extra}"] if extra else []))
        return self.bind(f"call {vt} {full}({args})")

    def body(self, roots: Iterable[Value], bound: dict[int, str]) -> list[str]:
        """Emit the instructions of `roots`; `bound` names the already computed values by id.

        Adds the new names to `bound` and returns the operand text of each root. The values must
        outlive `bound`, which knows them by identity.
        """
        roots = list(roots)
        names = bound
        for v in toposort(roots):
            if id(v) not in names:
                names[id(v)] = self._one(v, [names[id(a)] for a in v.args])
        return [names[id(r)] for r in roots]

    def _one(self, v: Value, a: list[str]) -> str:
        w, op, ty = self.width, v.op, v.ty
        if op == "const":
            return constant(v.imm, ty, w)
        source = v.args[0].ty if v.args else ty
        vt = vector_type(source, w)
        if op in _FLOAT_OPS and source in FLOATS:
            return self.bind(f"{_FLOAT_OPS[op]} {vt} {a[0]}, {a[1]}")
        if op in _INT_OPS and source not in FLOATS:
            return self.bind(f"{_INT_OPS[op]} {vt} {a[0]}, {a[1]}")
        if op in _FCMP:
            return self._compare(op, source, vt, a)
        if op in _INTRINSIC:
            return self.intrinsic(_INTRINSIC[op][0], ty, a)
        return self._other(v, a, vt)

    def _compare(self, op: str, source: str, vt: str, a: list[str]) -> str:
        if source in FLOATS:
            return self.bind(f"fcmp {_FCMP[op]} {vt} {a[0]}, {a[1]}")
        if op in ("eq", "ne"):
            return self.bind(f"icmp {op} {vt} {a[0]}, {a[1]}")
        return self.bind(f"icmp {'s' if source in SIGNED else 'u'}{op} {vt} {a[0]}, {a[1]}")

    def _other(self, v: Value, a: list[str], vt: str) -> str:
        w, op, ty = self.width, v.op, v.ty
        source = v.args[0].ty
        if op == "select":
            result = vector_type(ty, w)
            return self.bind(f"select {vt} {a[0]}, {result} {a[1]}, {result} {a[2]}")
        if op == "neg":
            return self.bind(f"fneg {vt} {a[0]}" if source in FLOATS else
                             f"sub {vt} {constant(0, source, w)}, {a[0]}")
        if op == "not":
            ones = constant((1 << BITS[source]) - 1, source, w)
            return self.bind(f"xor {vt} {a[0]}, {ones}")
        if op == "shr":
            kind = "ashr" if source in SIGNED else "lshr"
            return self.bind(f"{kind} {vt} {a[0]}, {a[1]}")
        if op in ("idiv", "irem"):
            sign = "s" if source in SIGNED else "u"
            return self.bind(f"{sign}{op[1:]} {vt} {a[0]}, {a[1]}")
        if op == "clz":
            return self.intrinsic("ctlz", ty, a, extra="false")
        if op == "bitcast":
            if element_type(source) == element_type(ty):
                return a[0]
            return self.bind(f"bitcast {vt} {a[0]} to {vector_type(ty, w)}")
        if op == "convert":
            return self._convert(source, ty, vt, a[0])
        if op == "load_at":
            return self._load_at(ty, a[0], v.imm)
        if op == "call":
            args = ", ".join(f"{vector_type(x.ty, w)} {r}" for x, r in zip(v.args, a))
            return self.bind(f"call fastcc {vector_type(ty, w)} {v.imm}({args})")
        raise InternalError(f"no code for scalar instruction {op}")

    def _load_at(self, ty: str, address: str, align: int) -> str:
        """Load each lane from its own address."""
        w, t, vt = self.width, element_type(ty), vector_type(ty, self.width)
        if w == 1:
            p = self.bind(f"inttoptr i64 {address} to ptr")
            return self.bind(f"load {t}, ptr {p}, align {min(align, 4)}")
        # Load by load: the gather instruction takes a fifth longer here (AMD Zen 4).
        out = "poison"
        for lane in range(w):
            i = self.bind(f"extractelement <{w} x i64> {address}, i64 {lane}")
            p = self.bind(f"inttoptr i64 {i} to ptr")
            x = self.bind(f"load {t}, ptr {p}, align {min(align, 4)}")
            out = self.bind(f"insertelement {vt} {out}, {t} {x}, i64 {lane}")
        return out

    def _convert(self, source: str, ty: str, vt: str, a: str) -> str:
        to = vector_type(ty, self.width)
        wide, narrow = BITS[ty], BITS[source]
        floats = (*FLOATS, "f16")
        if source in floats and ty in floats:
            return self.bind(f"{'fpext' if wide > narrow else 'fptrunc'} {vt} {a} to {to}")
        if source in floats:
            kind = "fptosi.sat" if ty in SIGNED else "fptoui.sat"
            suffix = "" if self.width == 1 else f"v{self.width}"
            name = f"@llvm.{kind}.{suffix}i{wide}.{suffix}f{narrow}"
            self.declares.add(f"declare {to} {name}({vt})")
            return self.bind(f"call {to} {name}({vt} {a})")
        if ty in floats:
            kind = "sitofp" if source in SIGNED else "uitofp"
            return self.bind(f"{kind} {vt} {a} to {to}")
        if wide == narrow:
            return a
        kind = "trunc" if wide < narrow else "sext" if source in SIGNED else "zext"
        return self.bind(f"{kind} {vt} {a} to {to}")
