"""What all GPU kernels share: a thread's place in the launch, its operands, its share of a sum.

A kernel is the text of one thread. Bodies, accumulators and their order are the CPU's, at width
1; what differs is who computes what: elements, lanes and blocks are spread over threads, and
threads of one block meet in shared memory and by shuffles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eutectic.codegen.accumulate import LEVELS, Accumulators, levels_needed
from eutectic.codegen.blocks import Element, Function, Module, load, store, to_memory
from eutectic.codegen.loop_kernel import LoopKernel
from eutectic.codegen.scalars import element_type
from eutectic.dtype import Dtype
from eutectic.kernel.reductions import RADIX
from eutectic.kernel.rounding import rounded
from eutectic.kernel.scalar import BITS, Value
from eutectic.kernel.spec import (
    FIRST_ARG, S_N, S_ND, KernelSpec, instr_cost, operand_value, roots_of)

WARP = 32
MOST_THREADS = 1024
SHARED = "@eutectic_shared"
_SHUFFLE = "declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)"
_BARRIER = "llvm.nvvm.barrier.cta.sync.aligned.all"

Address = Callable[[int], str]
"""The i64 register with the address of an argument's element, or with its value (an iota's)."""


def at_once(spec: KernelSpec) -> int:
    """Elements that a thread works on together: enough loads in flight to fill the memory."""
    work = sum(instr_cost(spec, prim, attrs, ops) for prim, attrs, ops, _d, level in spec.instrs
               if level == "F" and prim.body is not None)
    wide = any(a.dtype.size == 8 for a in spec.args if a.memory)
    if work > 300:
        return 1
    return 2 if wide or work > 150 else 4


class LaneAccumulators(Accumulators):
    """The accumulators of one lane."""

    def __init__(self, kernel: GpuKernel, reductions: Sequence[int]) -> None:
        super().__init__(kernel.fn, [kernel.part(i) for i in reductions], 1)

    def load_at(self, ptr: str, j: int) -> str:
        if self.types[j] != "bool":
            return super().load_at(ptr, j)
        return self.fn.bind(f"trunc i8 {self.fn.bind(f'load i8, ptr {ptr}, align 8')} to i1")

    def save_at(self, ptr: str, j: int, reg: str) -> None:
        if self.types[j] != "bool":
            super().save_at(ptr, j, reg)
        else:
            self.fn.line(f"store i8 {self.fn.bind(f'zext i1 {reg} to i8')}, ptr {ptr}, align 8")


class Thread:
    """A thread's place in the launch."""

    m: Module
    fn: Function

    def numbers(self) -> None:
        """Its number in its block, the block's threads, the block's number."""
        self.tid, self.threads, self.block_id = (
            self._register(r) for r in ("tid", "ntid", "ctaid"))

    def _register(self, name: str) -> str:
        call = f"i32 @llvm.nvvm.read.ptx.sreg.{name}.x()"
        self.m.declares.add(f"declare {call}")
        return self.fn.bind(f"zext i32 {self.fn.bind(f'call {call}')} to i64")

    def pointer(self, address: str) -> str:
        """A pointer to global memory."""
        p = self.fn.bind(f"inttoptr i64 {address} to ptr addrspace(1)")
        return self.fn.bind(f"addrspacecast ptr addrspace(1) {p} to ptr")

    def barrier(self) -> None:
        """Wait for all threads of the block."""
        self.m.declares.add(f"declare void @{_BARRIER}(i32)")
        self.fn.line(f"call void @{_BARRIER}(i32 0)")


class GpuKernel(Thread, LoopKernel):
    """The text of a thread; the kinds of kernels are its subclasses."""

    def begin(self, levels: bool) -> None:
        """Function head: the thread's numbers, sizes, scalars, inner strides."""
        fn, spec = self.fn, self.spec
        fn.start("entry")
        if levels:
            count = max(1, sum(len(p.types) for ps in self.parts_by_phase().values() for p in ps))
            fn.line(f"%lev = alloca i8, i64 {(LEVELS + 1) * count * 8}, align 8")
        self.numbers()
        if levels:
            fn.line(f"%shared = addrspacecast ptr addrspace(3) {SHARED} to ptr")
        fn.line(f"%n = load i64, ptr {fn.bind(f'getelementptr i64, ptr %params, i64 {S_N}')}")
        for i, d in enumerate(spec.scalars):
            self.scalar_regs[len(spec.args) + i] = self._scalar(i, d)
        self.strides = {i: fn.slot(self.slots.inner + i) for i, a in enumerate(spec.args)
                        if a.access == "v"}

    def end(self) -> None:
        """Close the function and hand its text to the module."""
        self.fn.line("ret void")
        text = "\n".join(self.fn.lines)
        self.m.functions.append(
            f"define ptx_kernel void @{self.name}(ptr %params, i64 %total) #0 {{\n{text}\n}}")

    # -- addresses ------------------------------------------------------------------------------

    def decode(self, row: str | None) -> dict[int, str]:
        """Row addresses of all arguments at an outer row number (None: there is one row)."""
        fn, spec, slots = self.fn, self.spec, self.slots
        first = {a: fn.slot(FIRST_ARG + a) for a in range(len(spec.args))}
        if row is None or not first:
            return first
        dims = fn.slot(S_ND)
        pre, head, body, done = (fn.label(s) for s in ("dp", "dh", "db", "dd"))
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        d, left = f"%{head}d", f"%{head}r"
        fn.line(f"{d} = phi i64 [{dims}, %{pre}], [{d}n, %{body}]")
        fn.line(f"{left} = phi i64 [{row}, %{pre}], [{left}n, %{body}]")
        out = {a: f"%{head}a{a}" for a in first}
        for a, name in out.items():
            fn.line(f"{name} = phi i64 [{first[a]}, %{pre}], [{name}n, %{body}]")
        c = fn.bind(f"icmp eq i64 {d}, 0")
        fn.line(f"br i1 {c}, label %{done}, label %{body}")
        fn.start(body)
        fn.line(f"{d}n = sub i64 {d}, 1")
        table = fn.add(fn.mul(f"{d}n", slots.row), slots.outer)
        size = fn.slot(table)
        fn.line(f"{left}n = udiv i64 {left}, {size}")
        index = fn.bind(f"sub i64 {left}, {fn.mul(f'{left}n', size)}")
        for a, name in out.items():
            step = fn.slot(fn.add(table, 1 + a))
            fn.line(f"{name}n = add i64 {name}, {fn.mul(index, step)}")
        fn.line(f"br label %{head}")
        fn.start(done)
        return out

    def along(self, rows: dict[int, str], index: str) -> Address:
        """Addresses at an index of the inner axis."""
        def address(a: int) -> str:
            if self.spec.args[a].access != "v":
                return rows[a]
            return self.fn.add(rows[a], self.fn.mul(index, self.strides[a]))
        return address

    def clamped(self, index: str, count: str) -> str:
        """The index, or the last one there is: threads too many repeat that."""
        return self.fn.least(index, self.fn.bind(f"sub i64 {count}, 1"))

    def load_scalars(self, rows: dict[int, str], which: Sequence[int]) -> None:
        """Read arguments that are needed once, at these addresses."""
        for a in which:
            self.once[a] = (self.load_once(a, self.pointer(rows[a]), 1) if self.spec.args[a].memory
                            else (rows[a],))

    # -- values -------------------------------------------------------------------------------

    def elements(self, roots: Sequence[int], addresses: Sequence[Address],
                 forms: dict[int, Dtype] | None = None) -> list[list[tuple[str, ...]]]:
        """The registers of each root at each of the places; all loads come first.

        The roots at the positions in `forms` come as they are stored, the others as computed.
        """
        e = self.fn.emitter(1)
        bound: dict[int, str] = {}
        kept: dict[int, Element] = {}
        """Operands that are the same at all places."""
        places: list[dict[int, Element]] = []
        """All values: `bound` knows them by identity, also those that no result needs."""
        shapes: list[list[list[Value]]] = []
        for address in addresses:
            memo = dict(kept)
            places.append(memo)
            for o in roots:
                self._value(o, address, memo, kept, bound)
            shapes.append([to_memory(forms[i], memo[o]) if forms and i in forms
                           else roots_of(memo[o]) for i, o in enumerate(roots)])
        regs = iter(e.body([v for place in shapes for form in place for v in form], bound))
        return [[tuple([next(regs) for _ in form]) for form in place] for place in shapes]

    def _value(self, root: int, address: Address, memo: dict[int, Element],
               kept: dict[int, Element], bound: dict[int, str]) -> None:
        spec, stack = self.spec, [root]
        while stack:
            o = stack.pop()
            if o in memo:
                continue
            if o in self.once or o in self.scalar_regs:
                v = memo[o] = kept[o] = spec.held(o)
                bound.update({id(r): reg for r, reg in zip(roots_of(v), self.once_regs(o, 1))})
            elif o < len(spec.args):
                a = spec.args[o]
                if a.memory:
                    memo[o] = load(self.fn.emitter(1), a.dtype, self.pointer(address(o)), bound)
                else:
                    number = memo[o] = Value("arg", "i64")
                    bound[id(number)] = address(o)
            else:
                prim, attrs, ops, dtype, _level = spec.instrs[o - self.base]
                missing = [x for x in ops if x not in memo]
                if missing:
                    stack += [o, *missing]
                    continue
                assert prim.body is not None
                memo[o] = rounded(prim.body(*[memo[x] for x in ops], *attrs), dtype)

    def store_where(self, inside: str, regs: Sequence[tuple[tuple[str, ...], int, str]]) -> None:
        """Store (registers as stored, argument, address) where a condition holds."""
        fn = self.fn
        there, skip = fn.label("put"), fn.label("puts")
        fn.line(f"br i1 {inside}, label %{there}, label %{skip}")
        fn.start(there)
        for reg, a, address in regs:
            store(fn.emitter(1), self.spec.args[a].dtype, self.pointer(address), reg)
        fn.line(f"br label %{skip}")
        fn.start(skip)

    def lifted(self, reductions: Sequence[int], values: Sequence[tuple[str, ...]],
               index: str) -> list[str]:
        """Accumulators of one element: its values as operands of the reductions."""
        out: list[str] = []
        for i, regs in zip(reductions, values):
            red = self.part(i).reduction
            v = operand_value(self.spec.operand_dtype(self.spec.instrs[i][2][0]).compute)
            bound = {id(r): reg for r, reg in zip(roots_of(v), regs)}
            number = Value("arg", "u32")
            if red.uses_index:
                bound[id(number)] = self.fn.bind(f"trunc i64 {index} to i32")
            out += self.fn.emitter(1).body(red.lift(v, number), bound)
        return out

    def finished(self, acc: Accumulators, reductions: Sequence[int], regs: Sequence[str]) -> None:
        """Enter the results of reductions, rounded, among the values known once."""
        for i, result in zip(reductions, acc.finish(regs, 1)):
            d = self.spec.instrs[i][3]
            v = operand_value(d.compute)
            bound = {id(r): reg for r, reg in zip(roots_of(v), result)}
            self.once[self.base + i] = tuple(
                self.fn.emitter(1).body(roots_of(rounded(v, d)), bound))

    # -- sums over the threads of a block -------------------------------------------------------

    def split(self, lanes: int) -> tuple[str, str]:
        """(lane, slot) of the thread: threads are slots x lanes, and slots take turns."""
        slot = self.fn.bind(f"udiv i64 {self.tid}, {lanes}")
        return self.fn.bind(f"sub i64 {self.tid}, {self.fn.mul(slot, lanes)}"), slot

    def shared(self, acc: Accumulators, j: int, place: str) -> str:
        """Shared memory of accumulator j of a thread's number."""
        fn = self.fn
        at = fn.mul(fn.add(fn.mul(self.threads, j), place), 8)
        return fn.bind(f"getelementptr i8, ptr %shared, i64 {at}")

    def reduce(self, acc: Accumulators, lanes: int, lane: str, slot: str, blocks: str,
               together: int, leaves: Callable[[list[str]], list[list[str]]]) -> list[str]:
        """Accumulate `blocks` blocks in the order of `kernel.reductions`, one lane a thread.

        Each slot takes RADIX blocks in sequence, a whole result of the first level; the threads of
        slot 0 push those of all slots in order. `leaves` gives the accumulators of the thread's
        lane at some block numbers. The result is that of the lane in the threads of slot 0.
        """
        fn = self.fn
        slots = fn.bind(f"udiv i64 {self.threads}, {lanes}")
        chunks = fn.bind(f"udiv i64 {fn.add(blocks, RADIX - 1)}, {RADIX}")
        top = fn.add(levels_needed(fn, chunks), 1)
        acc.reset(top)
        first = fn.bind(f"icmp eq i64 {slot}, 0")
        pre, head, done = fn.label("rp"), fn.label("rh"), fn.label("rd")
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        c0, latch = f"%{head}c", fn.label("rl")
        fn.line(f"{c0} = phi i64 [0, %{pre}], [{c0}n, %{latch}]")
        begin = fn.mul(fn.add(c0, slot), RADIX)
        end = fn.least(fn.add(begin, RADIX), blocks)
        current = self._chunk(acc, begin, end, together, leaves)
        alone, several, out = fn.label("ro"), fn.label("rs"), fn.label("re")
        only = fn.bind(f"icmp eq i64 {chunks}, 1")
        fn.line(f"br i1 {only}, label %{alone}, label %{several}")
        fn.start(alone)
        fn.line(f"br label %{out}")
        fn.start(several)
        for j, r in enumerate(current):
            acc.save_at(self.shared(acc, j, self.tid), j, r)
        self.barrier()
        push, pushed = fn.label("rq"), fn.label("rr")
        fn.line(f"br i1 {first}, label %{push}, label %{pushed}")
        fn.start(push)
        left = fn.least(fn.bind(f"sub i64 {chunks}, {c0}"), slots)
        with fn.loop(0, left) as s:
            place = fn.add(fn.mul(s, lanes), lane)
            regs = [acc.load_at(self.shared(acc, j, place), j) for j in range(len(acc.types))]
            after = fn.label("ra")
            acc.push(regs, fn.add(fn.add(c0, s), 1), after)
            fn.start(after)
        fn.line(f"br label %{pushed}")
        fn.start(pushed)
        self.barrier()
        fn.line(f"br label %{latch}")
        fn.start(latch)
        fn.line(f"{c0}n = add i64 {c0}, {slots}")
        more = fn.bind(f"icmp ult i64 {c0}n, {chunks}")
        fn.line(f"br i1 {more}, label %{head}, label %{done}")
        fn.start(done)
        folded, end_ = acc.fold(acc.identity, top), fn.label("rf")
        fn.line(f"br label %{end_}")
        fn.start(end_)
        fn.line(f"br label %{out}")
        fn.start(out)
        return [fn.bind(f"phi {acc.vt(j)} [{x}, %{alone}], [{y}, %{end_}]")
                for j, (x, y) in enumerate(zip(current, folded))]

    def _chunk(self, acc: Accumulators, begin: str, end: str, together: int,
               leaves: Callable[[list[str]], list[list[str]]]) -> list[str]:
        """Blocks begin ... end, one after another."""
        fn = self.fn
        pre, head, body, latch, done = (fn.label(s) for s in ("cp", "ch", "cb", "cl", "cd"))
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        b = f"%{head}b"
        fn.line(f"{b} = phi i64 [{begin}, %{pre}], [{b}n, %{latch}]")
        carried = [f"%{head}c{j}" for j in range(len(acc.types))]
        at = len(fn.lines)
        fn.lines.extend([""] * len(carried))
        c = fn.bind(f"icmp slt i64 {b}, {end}")
        fn.line(f"br i1 {c}, label %{body}, label %{done}")
        fn.start(body)
        current: Sequence[str] = carried
        numbers = [b, *(fn.add(b, u) for u in range(1, together))]
        for u, found in enumerate(leaves(numbers)):
            if u:  # beyond the end there is nothing, and nothing is an identity
                inside = fn.bind(f"icmp slt i64 {numbers[u]}, {end}")
                found = [fn.bind(f"select i1 {inside}, {acc.vt(j)} {r}, {acc.vt(j)} {none}")
                         for j, (r, none) in enumerate(zip(found, acc.identity))]
            current = acc.combine(current, found)
        fn.line(f"br label %{latch}")
        fn.start(latch)
        fn.line(f"{b}n = add i64 {b}, {together}")
        fn.line(f"br label %{head}")
        for j, name in enumerate(carried):
            fn.lines[at + j] = (f"  {name} = phi {acc.vt(j)} [{acc.identity[j]}, %{pre}], "
                                f"[{current[j]}, %{latch}]")
        fn.start(done)
        return carried

    def across(self, acc: Accumulators, lanes: int, regs: Sequence[str]) -> list[str]:
        """The lanes' tree, lane i with lane i + half; the result comes to all threads."""
        fn = self.fn
        for j, r in enumerate(regs):
            acc.save_at(self.shared(acc, j, self.tid), j, r)
        self.barrier()
        tree, meet = fn.label("tree"), fn.label("meet")
        warp = fn.bind(f"icmp ult i64 {self.tid}, {WARP}")
        fn.line(f"br i1 {warp}, label %{tree}, label %{meet}")
        fn.start(tree)
        regs = list(regs)
        half = lanes // 2
        if half == WARP:
            other = fn.add(self.tid, WARP)
            regs = acc.combine(regs, [acc.load_at(self.shared(acc, j, other), j)
                                      for j in range(len(regs))])
            half //= 2
        while half:
            regs = acc.combine(regs, [self._down(t, r, half) for t, r in zip(acc.types, regs)])
            half //= 2
        # Every thread of the warp has read what it needs: the shuffles made it wait.
        for j, r in enumerate(regs):
            acc.save_at(self.shared(acc, j, self.tid), j, r)
        fn.line(f"br label %{meet}")
        fn.start(meet)
        self.barrier()
        out = [acc.load_at(self.shared(acc, j, "0"), j) for j in range(len(regs))]
        self.barrier()
        return out

    def _down(self, ty: str, reg: str, distance: int) -> str:
        """The register of the thread that many places up in the warp."""
        fn, bits, t = self.fn, BITS[ty], element_type(ty)
        self.m.declares.add(_SHUFFLE)

        def move(word: str) -> str:
            return fn.bind("call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, "
                           f"i32 {word}, i32 {distance}, i32 {WARP - 1})")
        raw = reg if t.startswith("i") else fn.bind(f"bitcast {t} {reg} to i{bits}")
        if bits == 64:
            low = move(fn.bind(f"trunc i64 {raw} to i32"))
            high = move(fn.bind(f"trunc i64 {fn.bind(f'lshr i64 {raw}, 32')} to i32"))
            up = fn.bind(f"shl i64 {fn.bind(f'zext i32 {high} to i64')}, 32")
            raw = fn.bind(f"or i64 {up}, {fn.bind(f'zext i32 {low} to i64')}")
        elif bits == 32:
            raw = move(raw)
        else:
            raw = fn.bind(f"trunc i32 {move(fn.bind(f'zext i{bits} {raw} to i32'))} to i{bits}")
        return raw if t.startswith("i") else fn.bind(f"bitcast i{bits} {raw} to {t}")
