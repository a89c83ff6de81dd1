"""Blocks of elements: loading, computing and storing `width` elements of every argument.

A block that is whole and contiguous works in place; any other is copied through small buffers of
`width` elements, so one text of the body serves full blocks, tails, and strided arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from eutectic.codegen.scalars import Emitter, constant, element_type, vector_type
from eutectic.dtype import Dtype, bfloat16, bool_, complex64, float16
from eutectic.kernel import mathlib
from eutectic.kernel.scalar import Complex, Value, convert
from eutectic.kernel.spec import FIRST_ARG, KernelSpec, Slots

Element = Value | Complex


@dataclass
class Function:
    """Text of one LLVM function under construction, with labels and names that are its own."""

    module: Module
    lines: list[str] = field(default_factory=list)
    _n: int = 0

    def label(self, stem: str) -> str:
        self._n += 1
        return f"{stem}{self._n}"

    def bind(self, text: str) -> str:
        self._n += 1
        name = f"%t{self._n}"
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")

    def slot(self, index: int | str, ty: str = "i64") -> str:
        """Load a word of the parameter block."""
        p = self.bind(f"getelementptr i64, ptr %params, i64 {index}")
        return self.bind(f"load {ty}, ptr {p}, align 8")

    def emitter(self, width: int) -> Emitter:
        e = Emitter(width, prefix=f"e{self.module.next_id()}_")
        e.lines = self.lines
        e.declares = self.module.declares
        return e


@dataclass
class Module:
    """Functions and declarations of one kernel's LLVM module."""

    functions: list[str] = field(default_factory=list)
    declares: set[str] = field(default_factory=set)
    helpers: set[str] = field(default_factory=set)
    _id: int = 0

    def next_id(self) -> int:
        self._id += 1
        return self._id

    def text(self) -> str:
        return "\n".join([*sorted(self.declares), *self.functions,
                          'attributes #0 = { nounwind "prefer-vector-width"="512" }', ""])


@dataclass
class Block:
    """Registers of the block being emitted: pointers by argument, values by operand."""

    pointers: dict[int, str]
    index: str
    """First element's index (i64)."""


def memory_type(d: Dtype) -> str:
    """LLVM type of an element in memory."""
    if d is bool_:
        return "i8"
    if d is bfloat16:
        return "i16"
    if d is float16:
        return "half"
    return "i64" if d is complex64 else element_type(d.compute)


def load(e: Emitter, d: Dtype, ptr: str, bound: dict[int, str]) -> Element:
    """Load `e.width` contiguous elements at `ptr`; enters the registers' names into `bound`."""
    w = e.width
    if d is complex64:
        if w == 1:
            re = e.bind(f"load float, ptr {ptr}, align 4")
            q = e.bind(f"getelementptr i8, ptr {ptr}, i64 4")
            im = e.bind(f"load float, ptr {q}, align 4")
        else:
            both = e.bind(f"load <{2 * w} x float>, ptr {ptr}, align 4")
            re, im = [e.bind(f"shufflevector <{2 * w} x float> {both}, <{2 * w} x float> poison, "
                             f"<{w} x i32> {_mask(range(k, 2 * w, 2))}") for k in (0, 1)]
        z = Complex(Value("arg", "f32"), Value("arg", "f32"))
        bound[id(z.re)], bound[id(z.im)] = re, im
        return z
    mt = memory_type(d)
    vt = mt if w == 1 else f"<{w} x {mt}>"
    raw = e.bind(f"load {vt}, ptr {ptr}, align {d.size}")
    return from_memory(e, d, raw, bound)


def from_memory(e: Emitter, d: Dtype, raw: str, bound: dict[int, str]) -> Element:
    """The element that a loaded register (memory type) stands for."""
    if d is bool_:
        vt = "i8" if e.width == 1 else f"<{e.width} x i8>"
        raw = e.bind(f"icmp ne {vt} {raw}, {constant(0, 'u8', e.width)}")
    v = Value("arg", {bfloat16: "u16", float16: "f16"}.get(d, d.compute))
    bound[id(v)] = raw
    if d is bfloat16:
        return mathlib.bf16_value(v)
    return convert(v, "f32") if d is float16 else v


def to_memory(d: Dtype, v: Element) -> list[Value]:
    """The value(s) whose registers are stored for an element of a dtype."""
    if isinstance(v, Complex):
        return [v.re, v.im]
    if d is bfloat16:
        return [mathlib.bf16_bits(v)]
    return [convert(v, "f16")] if d is float16 else [v]


def store(e: Emitter, d: Dtype, ptr: str, regs: Sequence[str]) -> None:
    """Store the registers of `to_memory` contiguously at `ptr`."""
    w = e.width
    if d is complex64:
        if w == 1:
            e.line(f"store float {regs[0]}, ptr {ptr}, align 4")
            q = e.bind(f"getelementptr i8, ptr {ptr}, i64 4")
            e.line(f"store float {regs[1]}, ptr {q}, align 4")
            return
        order = [k for i in range(w) for k in (i, w + i)]
        both = e.bind(f"shufflevector <{w} x float> {regs[0]}, <{w} x float> {regs[1]}, "
                      f"<{2 * w} x i32> {_mask(order)}")
        e.line(f"store <{2 * w} x float> {both}, ptr {ptr}, align 4")
        return
    reg = regs[0]
    mt = memory_type(d)
    if d is bool_:
        to = mt if w == 1 else f"<{w} x i8>"
        reg = e.bind(f"zext {vector_type('bool', w)} {reg} to {to}")
    vt = mt if w == 1 else f"<{w} x {mt}>"
    e.line(f"store {vt} {reg}, ptr {ptr}, align {d.size}")


def splat(e: Emitter, ty: str, reg: str) -> str:
    """Repeat a scalar register over the width."""
    if e.width == 1:
        return reg
    t, vt = element_type(ty), vector_type(ty, e.width)
    one = e.bind(f"insertelement {vt} poison, {t} {reg}, i64 0")
    return e.bind(f"shufflevector {vt} {one}, {vt} poison, <{e.width} x i32> zeroinitializer")


def lane_numbers(width: int, ty: str = "i64") -> str:
    """The constant <0, 1, 2, ...>."""
    if width == 1:
        return "0"
    return "<" + ", ".join(f"{ty} {i}" for i in range(width)) + ">"


def _mask(indices: Sequence[int] | range) -> str:
    return "<" + ", ".join(f"i32 {i}" for i in indices) + ">"


def copy_helpers(m: Module, size: int) -> tuple[str, str]:
    """Names of functions that gather strided elements of `size` bytes, and scatter them."""
    ty = f"i{8 * size}"
    names = (f"@gather{size}", f"@scatter{size}")
    if names[0] in m.helpers:
        return names
    m.helpers.add(names[0])
    for name, src, dst in ((names[0], ("%p", "%stride"), ("%buf", str(size))),
                           (names[1], ("%buf", str(size)), ("%p", "%stride"))):
        m.functions.append(f"""define internal void {name}(ptr %buf, ptr %p, i64 %stride, i64 %n) #0 {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i2, %loop]
  %so = mul i64 %i, {src[1]}
  %s = getelementptr i8, ptr {src[0]}, i64 %so
  %v = load {ty}, ptr %s, align {1 if size == 1 else size if size < 8 else 4}
  %do = mul i64 %i, {dst[1]}
  %d = getelementptr i8, ptr {dst[0]}, i64 %do
  store {ty} %v, ptr %d, align {1 if size == 1 else size if size < 8 else 4}
  %i2 = add i64 %i, 1
  %c = icmp ult i64 %i2, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}}""")
    return names


def odometer(m: Module, spec: KernelSpec) -> None:
    """Functions that set the arguments' row addresses from a row number, and step to the next row.

    `idx` holds the outer indices, `base` the address of each argument's row.
    """
    slots, a = Slots.of(spec), len(spec.args)
    if a == 0 or "@decode" in m.helpers:
        return
    m.helpers.add("@decode")
    m.functions.append(f"""define internal void @decode(ptr %params, i64 %row, ptr %idx, ptr %base) #0 {{
entry:
  %ndp = getelementptr i64, ptr %params, i64 1
  %nd = load i64, ptr %ndp
  br label %init
init:
  %j = phi i64 [0, %entry], [%j2, %init]
  %js = add i64 %j, {FIRST_ARG}
  %sp = getelementptr i64, ptr %params, i64 %js
  %sv = load i64, ptr %sp
  %bp = getelementptr i64, ptr %base, i64 %j
  store i64 %sv, ptr %bp
  %j2 = add i64 %j, 1
  %jc = icmp ult i64 %j2, {a}
  br i1 %jc, label %init, label %dims
dims:
  %d = phi i64 [%nd, %init], [%d1, %dimend]
  %r = phi i64 [%row, %init], [%q, %dimend]
  %more = icmp ne i64 %d, 0
  br i1 %more, label %dim, label %done
dim:
  %d1 = sub i64 %d, 1
  %to = mul i64 %d1, {slots.row}
  %t = add i64 %to, {slots.outer}
  %tp = getelementptr i64, ptr %params, i64 %t
  %size = load i64, ptr %tp
  %q = udiv i64 %r, %size
  %qs = mul i64 %q, %size
  %i = sub i64 %r, %qs
  %ip = getelementptr i64, ptr %idx, i64 %d1
  store i64 %i, ptr %ip
  br label %args
args:
  %k = phi i64 [0, %dim], [%k2, %args]
  %k2 = add i64 %k, 1
  %stp = getelementptr i64, ptr %tp, i64 %k2
  %st = load i64, ptr %stp
  %off = mul i64 %st, %i
  %kbp = getelementptr i64, ptr %base, i64 %k
  %kb = load i64, ptr %kbp
  %kn = add i64 %kb, %off
  store i64 %kn, ptr %kbp
  %kc = icmp ult i64 %k2, {a}
  br i1 %kc, label %args, label %dimend
dimend:
  br label %dims
done:
  ret void
}}
define internal void @advance(ptr %params, ptr %idx, ptr %base) #0 {{
entry:
  %ndp = getelementptr i64, ptr %params, i64 1
  %nd = load i64, ptr %ndp
  br label %dims
dims:
  %d = phi i64 [%nd, %entry], [%d1, %wrapped]
  %more = icmp ne i64 %d, 0
  br i1 %more, label %dim, label %done
dim:
  %d1 = sub i64 %d, 1
  %to = mul i64 %d1, {slots.row}
  %t = add i64 %to, {slots.outer}
  %tp = getelementptr i64, ptr %params, i64 %t
  %size = load i64, ptr %tp
  %ip = getelementptr i64, ptr %idx, i64 %d1
  %i = load i64, ptr %ip
  %i1 = add i64 %i, 1
  %over = icmp uge i64 %i1, %size
  %inew = select i1 %over, i64 0, i64 %i1
  store i64 %inew, ptr %ip
  %delta = sub i64 %inew, %i
  br label %args
args:
  %k = phi i64 [0, %dim], [%k2, %args]
  %k2 = add i64 %k, 1
  %stp = getelementptr i64, ptr %tp, i64 %k2
  %st = load i64, ptr %stp
  %off = mul i64 %st, %delta
  %kbp = getelementptr i64, ptr %base, i64 %k
  %kb = load i64, ptr %kbp
  %kn = add i64 %kb, %off
  store i64 %kn, ptr %kbp
  %kc = icmp ult i64 %k2, {a}
  br i1 %kc, label %args, label %wrapped
wrapped:
  br i1 %over, label %dims, label %done
done:
  ret void
}}""")

