"""What all loop kernels share: prologue, operands, and the copied or in-place block."""

from __future__ import annotations

from collections.abc import Sequence

from eutectic.codegen.accumulate import LEVELS, Part
from eutectic.codegen.blocks import (
    Block, Function, Module, copies, from_memory, lane_numbers, load,
    splat, store, to_memory)
from eutectic.codegen.outline import Outliner
from eutectic.codegen.scalars import vector_type
from eutectic.dtype import Dtype, complex64, float16
from eutectic.kernel.rounding import rounded
from eutectic.kernel.scalar import Value, widened
from eutectic.kernel.spec import (
    MAX_DIMS, S_N, KernelSpec, Slots, phases, roots_of)

HIDDEN = 8
"""Arrays of a block above which its index comes from memory: that hides it from LLVM's reduction of
strength, which tries combinations of all addresses in the loop for seconds (decision 0013)."""


class LoopKernel:
    """What the kinds of kernels share: prologue, operands, and the copied or in-place block."""

    def __init__(self, m: Module, spec: KernelSpec, name: str) -> None:
        self.m = m
        self.spec = spec
        self.name = name
        self.fn = Function(m)
        self.slots = Slots.of(spec)
        self.base = len(spec.args) + len(spec.scalars)
        self.plan = phases(spec)
        self.outline = Outliner(m, spec)
        self.scalar_regs: dict[int, tuple[str, ...]] = {}
        self.row: dict[int, str] = {}
        """Row address of each argument (i64)."""
        self.once: dict[int, tuple[str, ...]] = {}
        """Registers of operands computed once a row (scalar) or strip (vector)."""

    # -- prologue ----------------------------------------------------------------------------

    def begin(self, levels: bool) -> None:
        """Function head: allocations, sizes, scalars, and whether all arguments are contiguous."""
        fn, spec, w = self.fn, self.spec, self.spec.width
        fn.start("entry")
        n_args = max(1, len(spec.args))
        # A fixed frame: beside a dynamic one LLVM misaligns vectors passed to calls on the stack.
        fn.line(f"%idx = alloca i64, i64 {MAX_DIMS}, align 8")
        fn.line(f"%base = alloca i64, i64 {n_args}, align 8")
        for i, a in enumerate(spec.args):
            if a.access == "v" and a.memory:
                fn.line(f"%buf{i} = alloca i8, i64 {w * a.dtype.size}, align 64")
        if levels:
            count = max(1, sum(len(p.types) for ps in self.parts_by_phase().values() for p in ps))
            fn.line(f"%lev = alloca i8, i64 {(LEVELS + 1) * count * spec.lanes * 8}, align 64")
        fn.line(f"%n = load i64, ptr {fn.bind(f'getelementptr i64, ptr %params, i64 {S_N}')}")
        for i, d in enumerate(spec.scalars):
            self.scalar_regs[len(spec.args) + i] = self._scalar(i, d)
        self.strides = {i: fn.slot(self.slots.inner + i) for i, a in enumerate(spec.args)
                        if a.access == "v"}
        checks = [fn.bind(f"icmp eq i64 {self.strides[i]}, {a.dtype.size}")
                  for i, a in enumerate(spec.args) if a.access == "v" and a.memory]
        contig = "true"
        for c in checks:
            contig = c if contig == "true" else fn.bind(f"and i1 {contig}, {c}")
        self.contig = contig

    def _scalar(self, i: int, d: Dtype) -> tuple[str, ...]:
        fn = self.fn
        word = fn.slot(self.slots.scalars + i)
        e = fn.emitter(1)
        if d is complex64:
            low = fn.bind(f"trunc i64 {word} to i32")
            up = fn.bind(f"lshr i64 {word}, 32")
            high = fn.bind(f"trunc i64 {up} to i32")
            return tuple(fn.bind(f"bitcast i32 {r} to float") for r in (low, high))
        bits = 8 * d.size
        raw = word if bits == 64 else fn.bind(f"trunc i64 {word} to i{bits}")
        if d.is_float and d.name != "bfloat16":
            kind = {16: "half", 32: "float", 64: "double"}[bits]
            raw = fn.bind(f"bitcast i{bits} {raw} to {kind}")
        bound: dict[int, str] = {}
        v = from_memory(e, d, raw, bound)
        return tuple(e.body(roots_of(v), bound))

    def parts_by_phase(self) -> dict[int, list[Part]]:
        """Reductions by the pass that accumulates them."""
        out: dict[int, list[Part]] = {}
        for i, ins in enumerate(self.spec.instrs):
            if ins[0].family == "reduction":
                out.setdefault(self.plan.phase[i] - 1, []).append(self.part(i))
        return out

    def part(self, i: int) -> Part:
        """What instruction `i`, a reduction, accumulates."""
        prim, _attrs, ops, _dtype, _level = self.spec.instrs[i]
        assert prim.reduction is not None
        return Part(prim.reduction, self.spec.operand_dtype(ops[0]).compute)

    def reductions_of(self, phase: int) -> list[int]:
        return [i for i, ins in enumerate(self.spec.instrs)
                if ins[0].family == "reduction" and self.plan.phase[i] - 1 == phase]

    def load_row(self) -> None:
        """Read the row address of every argument from the odometer."""
        for i in range(len(self.spec.args)):
            p = self.fn.bind(f"getelementptr i64, ptr %base, i64 {i}")
            self.row[i] = self.fn.bind(f"load i64, ptr {p}, align 8")

    def hides_index(self) -> bool:
        """Whether there are more arrays than LLVM bears."""
        return sum([a.access == "v" and a.memory for a in self.spec.args]) > HIDDEN

    def hidden(self, index: str) -> str:
        """The index for addresses."""
        if not self.hides_index():
            return index
        self.fn.line(f"store i64 {index}, ptr %at, align 8")
        return self.fn.bind("load i64, ptr %at, align 8")

    # -- a block of elements --------------------------------------------------------------------

    def block(self, index: str, limit: str, args: Sequence[int], outs: Sequence[int],
              addresses: dict[int, str]) -> tuple[Block, str, str, str]:
        """Open a block at element `index`: in place where it is whole and contiguous, else copied.

        `addresses` are row addresses; returns the block, its number of elements, the flag that it
        is in place, and the label of its body.
        """
        fn, w = self.fn, self.spec.width
        end = fn.bind(f"add i64 {index}, {w}")
        whole = fn.bind(f"icmp ule i64 {end}, {limit}")
        fast = whole if self.contig == "true" else fn.bind(f"and i1 {whole}, {self.contig}")
        direct, slow, body = fn.label("dir"), fn.label("slow"), fn.label("body")
        fn.line(f"br i1 {fast}, label %{direct}, label %{slow}")
        fn.start(direct)
        straight = {}
        for a in (*args, *outs):
            off = fn.bind(f"mul i64 {index}, {self.spec.args[a].dtype.size}")
            at = fn.bind(f"add i64 {addresses[a]}, {off}")
            straight[a] = fn.bind(f"inttoptr i64 {at} to ptr")
        fn.line(f"br label %{body}")
        fn.start(slow)
        left = fn.bind(f"sub i64 {limit}, {index}")
        short = fn.bind(f"icmp ult i64 {left}, {w}")
        count = fn.bind(f"select i1 {short}, i64 {left}, i64 {w}")
        for a in args:
            off = fn.bind(f"mul i64 {index}, {self.strides[a]}")
            at = fn.bind(f"add i64 {addresses[a]}, {off}")
            p = fn.bind(f"inttoptr i64 {at} to ptr")
            gather, _ = copies(self.m, self.spec.args[a].dtype.size)
            fn.line(f"call void {gather}(ptr %buf{a}, ptr {p}, i64 {self.strides[a]}, i64 {count})")
        fn.line(f"br label %{body}")
        fn.start(body)
        n = fn.bind(f"phi i64 [{w}, %{direct}], [{count}, %{slow}]")
        pointers = {a: fn.bind(f"phi ptr [{straight[a]}, %{direct}], [%buf{a}, %{slow}]")
                    for a in (*args, *outs)}
        return Block(pointers, index), n, fast, body

    def close(self, b: Block, count: str, fast: str, outs: Sequence[int],
              addresses: dict[int, str], latch: str) -> None:
        """Copy a block's outputs to their places unless it worked in place; go to `latch`."""
        fn = self.fn
        if not outs:
            fn.line(f"br label %{latch}")
            return
        back = fn.label("back")
        fn.line(f"br i1 {fast}, label %{latch}, label %{back}")
        fn.start(back)
        for a in outs:
            off = fn.bind(f"mul i64 {b.index}, {self.strides[a]}")
            at = fn.bind(f"add i64 {addresses[a]}, {off}")
            p = fn.bind(f"inttoptr i64 {at} to ptr")
            _, scatter = copies(self.m, self.spec.args[a].dtype.size)
            fn.line(f"call void {scatter}(ptr %buf{a}, ptr {p}, i64 {self.strides[a]}, "
                    f"i64 {count})")
        fn.line(f"br label %{latch}")

    def clamped_lanes(self, count: str, stride: str) -> str:
        """Lane offsets of addresses: lanes beyond the block's elements repeat the last one."""
        fn, w = self.fn, self.spec.width
        e, vt = fn.emitter(w), vector_type("i64", w)
        last = splat(e, "i64", fn.bind(f"sub i64 {count}, 1"))
        c = fn.bind(f"icmp ult {vt} {lane_numbers(w)}, {last}")
        lane = fn.bind(f"select <{w} x i1> {c}, {vt} {lane_numbers(w)}, {vt} {last}")
        return fn.bind(f"mul {vt} {lane}, {splat(e, 'i64', stride)}")

    # -- values -------------------------------------------------------------------------------

    def once_values(self, at: int, width: int, want: str = "O") -> None:
        """Emit the once-a-row instructions that become available after `at` passes."""
        spec = self.spec
        for i, (prim, attrs, ops, dtype, level) in enumerate(spec.instrs):
            if level != want or prim.family == "reduction" or self.plan.phase[i] != at:
                continue
            e = self.fn.emitter(width)
            bound: dict[int, str] = {}
            vals = []
            for o in ops:
                v = spec.held(o)
                for r, reg in zip(roots_of(v), self.once_regs(o, width)):
                    bound[id(r)] = reg
                vals.append(v)
            assert prim.body is not None
            result = rounded(prim.body(*vals, *attrs), dtype)
            self.once[self.base + i] = tuple(e.body(roots_of(result), bound))

    def once_regs(self, o: int, width: int) -> tuple[str, ...]:
        """Registers of a once-a-row operand at a width (1 in rows)."""
        if o in self.scalar_regs:
            if width == 1:
                return self.scalar_regs[o]
            key = -1 - o
            if key not in self.once:
                self.once[key] = self.splats(o, self.scalar_regs[o])
            return self.once[key]
        return self.once[o]

    def splats(self, o: int, regs: Sequence[str]) -> tuple[str, ...]:
        e = self.fn.emitter(self.spec.width)
        ty = self.spec.operand_dtype(o).compute
        types = ("f32", "f32") if ty == "c64" else (ty,)
        return tuple(splat(e, t, r) for t, r in zip(types, regs))

    def load_once(self, a: int, ptr: str, width: int) -> tuple[str, ...]:
        """Load one element (or `width`) and give its compute registers."""
        e = self.fn.emitter(width)
        bound: dict[int, str] = {}
        v = load(e, self.spec.args[a].dtype, ptr, bound)
        if self.spec.args[a].dtype is float16 and isinstance(v, Value):
            v = widened(v)
        return tuple(e.body(roots_of(v), bound))

    def iota_once(self, a: int) -> tuple[str, ...]:
        return (self.row[a],)

    def store_once(self, o: int, a: int, ptr: str, width: int) -> None:
        spec, e = self.spec, self.fn.emitter(width)
        v = spec.held(o)
        bound = {id(r): reg for r, reg in zip(roots_of(v), self.once_regs(o, width))}
        regs = e.body(to_memory(spec.args[a].dtype, v), bound)
        store(e, spec.args[a].dtype, ptr, regs)
