"""Accumulators of a kernel's reductions, in the fixed order of `kernel.reductions`.

Level 0 lives in registers; levels 1.. in memory (`%lev`), one vector for each accumulator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eutectic.codegen.blocks import Function
from eutectic.codegen.scalars import constant, vector_type
from eutectic.kernel.reductions import Accs, Reduction
from eutectic.kernel.scalar import Value
from eutectic.kernel.spec import roots_of

LEVELS = 9
"""Levels in memory: enough for 2**40 elements."""


@dataclass(frozen=True)
class Part:
    """One reduction of the kernel: its kind and its operand's compute type."""

    reduction: Reduction
    ty: str

    @property
    def types(self) -> list[str]:
        return [t for t, _bits in self.reduction.identity(self.ty)]


class Accumulators:
    """All accumulators of a phase, side by side."""

    def __init__(self, fn: Function, parts: Sequence[Part], width: int,
                 first_level: int = 1) -> None:
        self.fn = fn
        self.parts = list(parts)
        self.width = width
        self.first = first_level
        self.types = [t for p in self.parts for t in p.types]
        self.identity = self.identity_at(width)

    def identity_at(self, width: int) -> list[str]:
        """The identity of each accumulator, `width` times."""
        return [constant(bits, t, width) for p in self.parts
                for t, bits in p.reduction.identity(p.ty)]

    def vt(self, j: int, width: int | None = None) -> str:
        return vector_type(self.types[j], self.width if width is None else width)

    def stride(self) -> int:
        """Bytes of one level: accumulators lie 8 bytes an element apart."""
        return len(self.types) * self.width * 8

    def combine(self, a: Sequence[str], b: Sequence[str], width: int | None = None) -> list[str]:
        """Emit the combination of two sets of accumulators (a earlier than b)."""
        w = self.width if width is None else width
        e = self.fn.emitter(w)
        out: list[str] = []
        j = 0
        for p in self.parts:
            types = p.types
            x: Accs = tuple([Value("arg", t) for t in types])
            y: Accs = tuple([Value("arg", t) for t in types])
            bound = {id(v): a[j + i] for i, v in enumerate(x)}
            bound |= {id(v): b[j + i] for i, v in enumerate(y)}
            out += e.body(p.reduction.combine(x, y), bound)
            j += len(types)
        return out

    def _address(self, base: str, level: str, j: int) -> str:
        fn = self.fn
        off = fn.bind(f"mul i64 {level}, {self.stride()}")
        at = fn.bind(f"add i64 {off}, {j * self.width * 8}")
        return fn.bind(f"getelementptr i8, ptr {base}, i64 {at}")

    def load_from(self, base: str, index: str) -> list[str]:
        """All accumulators at an index of an array of them."""
        return [self.load_at(self._address(base, index, j), j) for j in range(len(self.types))]

    def save_to(self, base: str, index: str, regs: Sequence[str]) -> None:
        for j, r in enumerate(regs):
            self.save_at(self._address(base, index, j), j, r)

    def load(self, level: str) -> list[str]:
        return self.load_from("%lev", level)

    def load_at(self, ptr: str, j: int) -> str:
        fn = self.fn
        if self.types[j] == "bool":
            raw = fn.bind(f"load <{self.width} x i8>, ptr {ptr}, align 8")
            return fn.bind(f"trunc <{self.width} x i8> {raw} to <{self.width} x i1>")
        return fn.bind(f"load {self.vt(j)}, ptr {ptr}, align 8")

    def save_at(self, ptr: str, j: int, reg: str) -> None:
        fn = self.fn
        if self.types[j] == "bool":
            wide = fn.bind(f"zext <{self.width} x i1> {reg} to <{self.width} x i8>")
            fn.line(f"store <{self.width} x i8> {wide}, ptr {ptr}, align 8")
        else:
            fn.line(f"store {self.vt(j)} {reg}, ptr {ptr}, align 8")

    def save(self, level: str, regs: Sequence[str]) -> None:
        self.save_to("%lev", level, regs)

    def reset(self, top: str) -> None:
        """Set the levels first..top to the identity (a loop; `top` may be below `first`)."""
        fn = self.fn
        head, body, done = fn.label("rst"), fn.label("rstb"), fn.label("rstd")
        pre = fn.label("rstp")
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        k = f"%{head}k"
        fn.line(f"{k} = phi i64 [{self.first}, %{pre}], [{k}n, %{body}]")
        c = fn.bind(f"icmp ule i64 {k}, {top}")
        fn.line(f"br i1 {c}, label %{body}, label %{done}")
        fn.start(body)
        self.save(k, self.identity)
        fn.line(f"{k}n = add i64 {k}, 1")
        fn.line(f"br label %{head}")
        fn.start(done)

    def _phis(self, head: str) -> tuple[list[str], Callable[..., None]]:
        """Names of loop-carried accumulators, and a function that gives their sources later."""
        fn = self.fn
        names = [f"%{head}c{j}" for j in range(len(self.types))]
        at = len(fn.lines)
        fn.lines.extend([""] * len(names))

        def later(start: Sequence[str], pre: str, again: Sequence[str], latch: str) -> None:
            for j, name in enumerate(names):
                fn.lines[at + j] = (f"  {name} = phi {self.vt(j)} [{start[j]}, %{pre}], "
                                    f"[{again[j]}, %{latch}]")
        return names, later

    def push(self, current: Sequence[str], count: str, after: str) -> None:
        """Add finished partial results to level `first`, and on while levels are full.

        `count` is the number of partial results of this size so far, this one included, when
        `first` counts single ones; jumps to label `after`.
        """
        fn = self.fn
        pre, head = fn.label("psp"), fn.label("psh")
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        k = f"%{head}k"
        more = fn.label("psm")
        fn.line(f"{k} = phi i64 [{self.first}, %{pre}], [{k}n, %{more}]")
        cur, later = self._phis(head)
        new = self.combine(self.load(k), cur)
        later(current, pre, new, more)
        up = fn.bind(f"sub i64 {k}, {self.first - 1}")
        shift = fn.bind(f"shl i64 {up}, 2")
        one = fn.bind(f"shl i64 1, {shift}")
        mask = fn.bind(f"sub i64 {one}, 1")
        rest = fn.bind(f"and i64 {count}, {mask}")
        full = fn.bind(f"icmp eq i64 {rest}, 0")
        keep = fn.label("psk")
        fn.line(f"br i1 {full}, label %{more}, label %{keep}")
        fn.start(more)
        self.save(k, self.identity)
        fn.line(f"{k}n = add i64 {k}, 1")
        fn.line(f"br label %{head}")
        fn.start(keep)
        self.save(k, new)
        fn.line(f"br label %{after}")

    def fold(self, current: Sequence[str], top: str) -> list[str]:
        """Combine what is left: level `first` with `current`, then upwards to `top`."""
        fn = self.fn
        pre, head, body, done = (fn.label(s) for s in ("fdp", "fdh", "fdb", "fdd"))
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        k = f"%{head}k"
        fn.line(f"{k} = phi i64 [{self.first}, %{pre}], [{k}n, %{body}]")
        cur, later = self._phis(head)
        c = fn.bind(f"icmp ule i64 {k}, {top}")
        fn.line(f"br i1 {c}, label %{body}, label %{done}")
        fn.start(body)
        later(current, pre, self.combine(self.load(k), cur), body)
        fn.line(f"{k}n = add i64 {k}, 1")
        fn.line(f"br label %{head}")
        fn.start(done)
        return cur

    def across(self, regs: Sequence[str]) -> list[str]:
        """Combine the lanes, lane i with lane i + half, down to one of each."""
        fn, w = self.fn, self.width
        regs = list(regs)
        while w > 1:
            half = w // 2
            low, high = [], []
            for j, r in enumerate(regs):
                vt = self.vt(j, w)
                if half == 1:
                    low.append(fn.bind(f"extractelement {vt} {r}, i64 0"))
                    high.append(fn.bind(f"extractelement {vt} {r}, i64 1"))
                    continue
                for part, start in ((low, 0), (high, half)):
                    m = ", ".join(f"i32 {i}" for i in range(start, start + half))
                    part.append(fn.bind(f"shufflevector {vt} {r}, {vt} poison, "
                                        f"<{half} x i32> <{m}>"))
            regs = self.combine(low, high, half)
            w = half
        return regs

    def finish(self, regs: Sequence[str], width: int) -> list[tuple[str, ...]]:
        """The registers of each reduction's result, from its accumulators at `width`."""
        e = self.fn.emitter(width)
        out: list[tuple[str, ...]] = []
        j = 0
        for p in self.parts:
            accs: Accs = tuple([Value("arg", t) for t in p.types])
            bound = {id(v): regs[j + i] for i, v in enumerate(accs)}
            out.append(tuple(e.body(roots_of(p.reduction.finish(accs)), bound)))
            j += len(accs)
        return out


def levels_needed(fn: Function, count: str) -> str:
    """Number of levels above registers that `count` blocks can reach: floor(log16(count))."""
    # 63 - ctlz(count | 1) is floor(log2).
    fn.module.declares.add("declare i64 @llvm.ctlz.i64(i64, i1)")
    odd = fn.bind(f"or i64 {count}, 1")
    z = fn.bind(f"call i64 @llvm.ctlz.i64(i64 {odd}, i1 true)")
    log2 = fn.bind(f"sub i64 63, {z}")
    return fn.bind(f"lshr i64 {log2}, 2")

