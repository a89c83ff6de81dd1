"""Blocks of elements: loading, computing and storing `width` elements of every argument.

A block that is whole and contiguous works in place; any other is copied through small buffers of
`width` elements, so one text of the body serves full blocks, tails, and strided arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from eutectic.codegen.support import DECLARATIONS
from eutectic.codegen.scalars import Emitter, constant, element_type, vector_type
from eutectic.dtype import Dtype, bfloat16, bool_, complex64, float16
from eutectic.kernel import mathlib
from eutectic.kernel.memory import STORED, from_stored
from eutectic.kernel.scalar import Complex, Value, convert
from eutectic.kernel.spec import KernelSpec, Slots

Element = Value | Complex


@dataclass
class Carry:
    """A value that a loop hands from one turn to the next.

    `value` is the register before the loop, then the one of the turn, and after it the last;
    `following` is what the body makes of it.
    """

    ty: str
    value: str
    following: str = ""


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

    def at(self, ptr: str, offset: str) -> str:
        return self.bind(f"getelementptr i8, ptr {ptr}, i64 {offset}")

    def mul(self, a: str | int, b: str | int) -> str:
        return self.bind(f"mul i64 {a}, {b}")

    def add(self, a: str | int, b: str | int) -> str:
        return self.bind(f"add i64 {a}, {b}")

    def least(self, a: str | int, b: str | int) -> str:
        c = self.bind(f"icmp slt i64 {a}, {b}")
        return self.bind(f"select i1 {c}, i64 {a}, i64 {b}")

    def most(self, a: str | int, b: str | int) -> str:
        c = self.bind(f"icmp sgt i64 {a}, {b}")
        return self.bind(f"select i1 {c}, i64 {a}, i64 {b}")

    @contextmanager
    def loop(self, start: str | int, end: str | int, step: str | int = 1,
             carry: Carry | None = None) -> Iterator[str]:
        """A loop over i64 values start, start + step, ... below end (perhaps none)."""
        pre, head, body, latch, done = (self.label(s) for s in ("lp", "lh", "lb", "ll", "ld"))
        self.line(f"br label %{pre}")
        self.start(pre)
        self.line(f"br label %{head}")
        self.start(head)
        i = f"%{head}i"
        self.line(f"{i} = phi i64 [{start}, %{pre}], [{i}n, %{latch}]")
        phi = len(self.lines)
        if carry:
            before, carry.value = carry.value, f"%{head}c"
            self.line("")  # written below, when what follows is known
        more = self.bind(f"icmp slt i64 {i}, {end}")
        self.line(f"br i1 {more}, label %{body}, label %{done}")
        self.start(body)
        yield i
        if carry:
            self.lines[phi] = (f"  {carry.value} = phi {carry.ty} [{before}, %{pre}], "
                               f"[{carry.following}, %{latch}]")
        self.line(f"br label %{latch}")
        self.start(latch)
        self.line(f"{i}n = add i64 {i}, {step}")
        self.line(f"br label %{head}")
        self.start(done)

    def define(self, name: str, signature: str) -> None:
        text = "\n".join(self.lines)
        self.module.functions.append(f"define {signature} #0 {{\n{text}\n}}")


@dataclass
class Module:
    """Functions and declarations of one kernel's LLVM module."""

    functions: list[str] = field(default_factory=list)
    declares: set[str] = field(default_factory=set)
    _id: int = 0

    def next_id(self) -> int:
        self._id += 1
        return self._id

    def text(self) -> str:
        return "\n".join([*sorted(self.declares), *self.functions,
                          'attributes #0 = { nounwind "prefer-vector-width"="512" }',
                          "!0 = !{i32 1}", ""])


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
    if d is bool_ and e.width == 1:
        raw = e.bind(f"icmp ne i8 {raw}, 0")
    elif d is bool_:
        raw = e.bind(f"icmp ne <{e.width} x i8> {raw}, {constant(0, 'u8', e.width)}")
    v = Value("arg", d.compute if d is bool_ else STORED.get(d, d.compute))
    bound[id(v)] = raw
    return v if d is bool_ else from_stored(v, d)


def to_memory(d: Dtype, v: Element) -> list[Value]:
    """The value(s) whose registers are stored for an element of a dtype."""
    if isinstance(v, Complex):
        return [v.re, v.im]
    if d is bfloat16:
        return [mathlib.bf16_bits(v)]
    return [convert(v, "f16")] if d is float16 else [v]


def store(e: Emitter, d: Dtype, ptr: str, regs: Sequence[str], stream: bool = False) -> None:
    """Store the registers of `to_memory` contiguously at `ptr`; `stream`: past the caches."""
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
        e.line(f"store <{2 * w} x float> {both}, ptr {ptr}, "
               + ("align 64, !nontemporal !0" if stream else "align 4"))
        return
    reg = regs[0]
    mt = memory_type(d)
    if d is bool_:
        to = mt if w == 1 else f"<{w} x i8>"
        reg = e.bind(f"zext {vector_type('bool', w)} {reg} to {to}")
    vt = mt if w == 1 else f"<{w} x {mt}>"
    e.line(f"store {vt} {reg}, ptr {ptr}, "
           + ("align 64, !nontemporal !0" if stream else f"align {d.size}"))


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


def helper(m: Module, name: str) -> str:
    """The name of a shared function, declared in the module."""
    m.declares.add(DECLARATIONS[name])
    return "@" + name


def copies(m: Module, size: int) -> tuple[str, str]:
    """Names of the functions that gather strided elements of `size` bytes, and scatter them."""
    return helper(m, f"ev_gather{size}"), helper(m, f"ev_scatter{size}")


def decode(fn: Function, spec: KernelSpec, row: str) -> None:
    """Set `%idx` and `%base` to a row number's outer indices and row addresses."""
    if spec.args:
        name = helper(fn.module, "ev_decode")
        fn.line(f"call void {name}(ptr %params, i64 {row}, ptr %idx, ptr %base, "
                f"i64 {len(spec.args)}, i64 {Slots.of(spec).outer})")


def advance(fn: Function, spec: KernelSpec) -> None:
    """Step `%idx` and `%base` to the next row."""
    if spec.args:
        name = helper(fn.module, "ev_advance")
        fn.line(f"call void {name}(ptr %params, ptr %idx, ptr %base, i64 {len(spec.args)}, "
                f"i64 {Slots.of(spec).outer})")
