"""Kernels of kinds `col` and `short`, whose lanes are different results.

`col` reduces along an axis outside the innermost one: a thread takes a strip of `width` columns and
runs down the reduced axis, in the order of `kernel.reductions` for the column class. `short`
reduces along a short innermost axis: its elements are combined by the tree of the row class's
lanes, unrolled.
"""

from __future__ import annotations

from collections.abc import Sequence

from eutectic.codegen.accumulate import Accumulators, levels_needed
from eutectic.codegen.blocks import (
    Block, Element, advance, copies, decode, lane_numbers, load, splat, store, to_memory)
from eutectic.codegen.loop_kernel import LoopKernel
from eutectic.codegen.scalars import vector_type
from eutectic.kernel.rounding import rounded
from eutectic.kernel.scalar import Value
from eutectic.kernel.spec import (
    MAX_SHORT, S_K, S_PART, S_UNITS, operand_value, roots_of)


class ColumnKernel(LoopKernel):
    """Kinds `col` and `short`."""

    def main(self) -> None:
        spec, fn, w = self.spec, self.fn, self.spec.width
        self.begin(levels=spec.kind == "col")
        if spec.kind == "short":
            for i, a in enumerate(spec.args):
                if a.access == "v" and a.role == "in" and a.deep:
                    fn.line(f"%all{i} = alloca i8, i64 {MAX_SHORT * w * a.dtype.size}, align 64")
        reds = self.reductions_of(0)
        roots = [spec.instrs[i][2][0] for i in reds]
        each, once = self._arguments(roots)
        outs = sorted({a for _o, a in spec.stores})
        strips, depth = fn.slot(S_UNITS), fn.slot(S_K)
        deep = [a for a in each if spec.args[a].deep]
        k_steps = {a: fn.slot(self.slots.k + a) for a in deep}
        parts = [self.part(i) for i in reds]
        acc = Accumulators(fn, parts, w)
        if spec.kind == "short":
            fn.line(f"%part = alloca i8, i64 {MAX_SHORT // 4 * acc.stride()}, align 64")
        top = levels_needed(fn, depth) if spec.kind == "col" else ""
        row0 = fn.bind(f"udiv i64 %lo, {strips}")
        strip0 = fn.bind(f"sub i64 %lo, {fn.bind(f'mul i64 {row0}, {strips}')}")
        decode(fn, spec, row0)
        fn.line("br label %pre")
        fn.start("pre")
        fn.line("br label %unit")
        fn.start("unit")
        fn.line("%u = phi i64 [%lo, %pre], [%u2, %again]")
        fn.line(f"%strip = phi i64 [{strip0}, %pre], [%strip2, %again]")
        start = fn.bind(f"mul i64 %strip, {w}")
        self.load_row()
        if spec.kind == "col":
            acc.reset(top)
        # Once a strip: what does not vary along the reduced axis.
        shallow = [a for a in each if not spec.args[a].deep]
        if once or shallow or outs:
            self._strip_values(sorted({*once, *shallow}), start)
        if spec.kind == "col":
            total = self._down(acc, reds, roots, each, k_steps, start, depth, top)
        else:
            total = self._tree(acc, reds, roots, each, k_steps, start, depth)
        for i, regs in zip(reds, acc.finish(total, w)):
            self.once[self.base + i] = self._rounded(i, regs)
        self.once_values(1, w)
        self._store_strip(outs, start)
        fn.start("next")
        fn.line("%u2 = add i64 %u, 1")
        more = fn.bind("icmp ult i64 %u2, %hi")
        fn.line(f"br i1 {more}, label %step, label %done")
        fn.start("step")
        fn.line("%strip1 = add i64 %strip, 1")
        over = fn.bind(f"icmp uge i64 %strip1, {strips}")
        fn.line(f"br i1 {over}, label %move, label %stay")
        fn.start("move")
        advance(fn, spec)
        fn.line("br label %again")
        fn.start("stay")
        fn.line("br label %again")
        fn.start("again")
        fn.line("%strip2 = phi i64 [0, %move], [%strip1, %stay]")
        fn.line("br label %unit")
        fn.start("done")
        fn.line("ret void")
        text = "\n".join(fn.lines)
        self.m.functions.append(
            f"define void @{self.name}(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {{\n{text}\n}}")

    def _arguments(self, roots: Sequence[int]) -> tuple[list[int], list[int]]:
        """Arguments read for each element, and those read once a strip."""
        spec = self.spec
        each: set[int] = set()
        stack, seen = list(roots), set()
        while stack:
            o = stack.pop()
            if o in seen:
                continue
            seen.add(o)
            if o < len(spec.args):
                each.add(o)
            elif o >= self.base:
                stack.extend(spec.instrs[o - self.base][2])
        once = {o for _p, _a, ops, _d, level in spec.instrs if level == "O" for o in ops
                if o < len(spec.args) and _p.reduction is None}
        return sorted(each), sorted(once)

    def _strip_values(self, once: Sequence[int], start: str) -> None:
        spec, fn, w = self.spec, self.fn, self.spec.width
        memory = [a for a in once if spec.args[a].memory and spec.args[a].access == "v"]
        if memory:
            b, _count, _fast, _label = self.block(start, "%n", memory, [], self.row)
            for a in memory:
                self.once[a] = self.load_once(a, b.pointers[a], w)
        for a in once:
            if a in memory:
                continue
            if not spec.args[a].memory:
                self.once[a] = (self._iota(a, start, None),)
            else:
                p = fn.bind(f"inttoptr i64 {self.row[a]} to ptr")
                self.once[a] = self.splats(a, self.load_once(a, p, 1))
        # Instructions that need no reduction; what needs one comes after the loop.
        self.once_values(0, w)

    def _iota(self, a: int, start: str, k: tuple[str, str] | None) -> str:
        fn, w = self.fn, self.spec.width
        e = fn.emitter(w)
        first = self.row[a]
        if k is not None:
            first = fn.bind(f"add i64 {first}, {fn.bind(f'mul i64 {k[0]}, {k[1]}')}")
        vt = vector_type("i64", w)
        if self.spec.args[a].access == "s":
            return splat(e, "i64", first)
        first = fn.bind(f"add i64 {first}, {fn.bind(f'mul i64 {start}, {self.strides[a]}')}")
        if self.spec.args[a].role == "table":
            left = fn.bind(f"sub i64 %n, {start}")
            lanes = self.clamped_lanes(left, self.strides[a])
        else:
            lanes = fn.bind(f"mul {vt} {splat(e, 'i64', self.strides[a])}, {lane_numbers(w)}")
        return fn.bind(f"add {vt} {splat(e, 'i64', first)}, {lanes}")

    def _down(self, acc: Accumulators, reds: Sequence[int], roots: Sequence[int],
              each: Sequence[int], k_steps: dict[int, str], start: str, depth: str,
              top: str) -> list[str]:
        """The loop along the reduced axis; the accumulated registers."""
        fn = self.fn
        fn.line("br label %kpre")
        fn.start("kpre")
        fn.line("br label %khead")
        fn.start("khead")
        fn.line("%k = phi i64 [0, %kpre], [%k2, %klatch]")
        carried = [f"%kacc{j}" for j in range(len(acc.types))]
        at = len(fn.lines)
        fn.lines.extend([""] * len(carried))
        lifted = self._lifted(reds, roots, each, k_steps, start, "%k")
        current = acc.combine(carried, lifted)
        fn.line("%k2 = add i64 %k, 1")
        low = fn.bind("and i64 %k2, 15")
        flush = fn.bind(f"icmp eq i64 {low}, 0")
        fn.line("br label %ktest")
        fn.start("ktest")
        fn.line(f"br i1 {flush}, label %kpush, label %klatch")
        fn.start("kpush")
        acc.push(current, fn.bind("lshr i64 %k2, 4"), "kpushed")
        fn.start("kpushed")
        fn.line("br label %klatch")
        fn.start("klatch")
        nxt = [fn.bind(f"phi {acc.vt(j)} [{r}, %ktest], [{acc.identity[j]}, %kpushed]")
               for j, r in enumerate(current)]
        more = fn.bind(f"icmp ult i64 %k2, {depth}")
        fn.line(f"br i1 {more}, label %khead, label %kdone")
        for j, name in enumerate(carried):
            fn.lines[at + j] = (f"  {name} = phi {acc.vt(j)} [{acc.identity[j]}, %kpre], "
                                f"[{nxt[j]}, %klatch]")
        fn.start("kdone")
        return acc.fold(nxt, top)

    def _tree(self, acc: Accumulators, reds: Sequence[int], roots: Sequence[int],
              each: Sequence[int], k_steps: dict[int, str], start: str, depth: str) -> list[str]:
        """All elements of the short axis, i met with i + half first, as lanes of a block are.

        With `step` the axis' length (rounded up to a power of two) over the unrolled number U, one
        turn of a loop combines elements i, i + step, ...; then the `step` results meet in memory.
        Unrolling it all would leave LLVM with more values alive than there are registers.
        """
        fn = self.fn
        unroll, ragged = abs(self.spec.depth), self.spec.depth < 0
        here, steps = self._settled([a for a in each if self.spec.args[a].deep], k_steps, start,
                                    depth)
        turns = fn.slot(S_PART)  # the power of two over U
        last = fn.bind(f"sub i64 {depth}, 1")
        fn.line("br label %tpre")
        fn.start("tpre")
        fn.line("br label %turn")
        fn.start("turn")
        fn.line("%i = phi i64 [0, %tpre], [%i2, %tlatch]")

        def leaf(j: int) -> list[str]:
            k = "%i" if j == 0 else fn.bind(f"add i64 %i, {fn.bind(f'mul i64 {turns}, {j}')}")
            if not ragged:
                return self._lifted(reds, roots, each, steps, start, k, here)
            inside = fn.bind(f"icmp ult i64 {k}, {depth}")
            safe = fn.bind(f"select i1 {inside}, i64 {k}, i64 {last}")
            found = self._lifted(reds, roots, each, steps, start, safe, here)
            return [fn.bind(f"select i1 {inside}, {acc.vt(x)} {r}, {acc.vt(x)} {acc.identity[x]}")
                    for x, r in enumerate(found)]

        def part(j: int, step: int) -> list[str]:
            if step == unroll:
                return leaf(j)
            low = part(j, 2 * step)
            return acc.combine(low, part(j + step, 2 * step))
        acc.save_to("%part", "%i", part(0, 1))
        fn.line("%i2 = add i64 %i, 1")
        fn.line("br label %tlatch")
        fn.start("tlatch")
        more = fn.bind(f"icmp ult i64 %i2, {turns}")
        fn.line(f"br i1 {more}, label %turn, label %meet")
        # half = turns/2, turns/4, ..., 1: result i meets result i + half.
        fn.start("meet")
        fn.line(f"%size = phi i64 [{turns}, %tlatch], [%half, %met]")
        fn.line("%half = lshr i64 %size, 1")
        some = fn.bind("icmp ne i64 %half, 0")
        fn.line(f"br i1 {some}, label %pairs, label %one")
        fn.start("pairs")
        fn.line("%p = phi i64 [0, %meet], [%p2, %pairs]")
        other = fn.bind("add i64 %p, %half")
        acc.save_to("%part", "%p", acc.combine(acc.load_from("%part", "%p"),
                                               acc.load_from("%part", other)))
        fn.line("%p2 = add i64 %p, 1")
        again = fn.bind("icmp ult i64 %p2, %half")
        fn.line(f"br i1 {again}, label %pairs, label %met")
        fn.start("met")
        fn.line("br label %meet")
        fn.start("one")
        return acc.load_from("%part", "0")

    def _settled(self, deep: Sequence[int], k_steps: dict[int, str], start: str,
                 depth: str) -> tuple[dict[int, str], dict[int, str]]:
        """Addresses of a strip's first elements and their steps along the short axis.

        One test a strip: where it is not whole and contiguous, all its elements are copied first.
        """
        spec, fn, w = self.spec, self.fn, self.spec.width
        vectors = [a for a in deep if spec.args[a].access == "v" and spec.args[a].memory]
        if not vectors:
            return {}, k_steps
        end = fn.bind(f"add i64 {start}, {w}")
        fast = fn.bind(f"icmp ule i64 {end}, %n")
        for a in vectors:
            unit = fn.bind(f"icmp eq i64 {self.strides[a]}, {spec.args[a].dtype.size}")
            fast = fn.bind(f"and i1 {fast}, {unit}")
        direct, slow, body = fn.label("dir"), fn.label("slow"), fn.label("body")
        at = {a: fn.bind(f"add i64 {self.row[a]}, {fn.bind(f'mul i64 {start}, {self.strides[a]}')}")
              for a in vectors}
        fn.line(f"br i1 {fast}, label %{direct}, label %{slow}")
        fn.start(direct)
        fn.line(f"br label %{body}")
        fn.start(slow)
        left = fn.bind(f"sub i64 %n, {start}")
        short = fn.bind(f"icmp ult i64 {left}, {w}")
        count = fn.bind(f"select i1 {short}, i64 {left}, i64 {w}")
        for a in vectors:
            size = spec.args[a].dtype.size
            gather, _ = copies(self.m, size)
            head, done = fn.label("copy"), fn.label("copied")
            before = fn.label("precopy")
            fn.line(f"br label %{before}")
            fn.start(before)
            fn.line(f"br label %{head}")
            fn.start(head)
            k = f"%{head}k"
            fn.line(f"{k} = phi i64 [0, %{before}], [{k}n, %{head}]")
            off = fn.bind(f"mul i64 {k_steps[a]}, {k}")
            p = fn.bind(f"inttoptr i64 {fn.bind(f'add i64 {at[a]}, {off}')} to ptr")
            to = fn.bind(f"getelementptr i8, ptr %all{a}, i64 "
                         f"{fn.bind(f'mul i64 {k}, {w * size}')}")
            fn.line(f"call void {gather}(ptr {to}, ptr {p}, i64 {self.strides[a]}, i64 {count})")
            fn.line(f"{k}n = add i64 {k}, 1")
            c = fn.bind(f"icmp ult i64 {k}n, {depth}")
            fn.line(f"br i1 {c}, label %{head}, label %{done}")
            fn.start(done)
            slow = done
        copied = {a: fn.bind(f"ptrtoint ptr %all{a} to i64") for a in vectors}
        fn.line(f"br label %{body}")
        fn.start(body)
        steps = dict(k_steps)
        here = {}
        for a in vectors:
            here[a] = fn.bind(f"phi i64 [{at[a]}, %{direct}], [{copied[a]}, %{slow}]")
            steps[a] = fn.bind(f"phi i64 [{k_steps[a]}, %{direct}], "
                               f"[{w * spec.args[a].dtype.size}, %{slow}]")
        return here, steps

    def _lifted(self, reds: Sequence[int], roots: Sequence[int], each: Sequence[int],
                k_steps: dict[int, str], start: str, k: str,
                settled: dict[int, str] | None = None) -> list[str]:
        """Accumulators of the elements at position `k` of the reduced axis."""
        spec, fn, w = self.spec, self.fn, self.spec.width
        settled = settled or {}
        here: dict[int, str] = {}
        for a in each:
            if spec.args[a].deep:
                off = fn.bind(f"mul i64 {k}, {k_steps[a]}")
                here[a] = fn.bind(f"add i64 {settled.get(a, self.row[a])}, {off}")
        vectors = [a for a in here if spec.args[a].access == "v" and spec.args[a].memory]
        b = Block({}, start)
        if settled:
            b.pointers.update({a: fn.bind(f"inttoptr i64 {here[a]} to ptr") for a in vectors})
        elif vectors:
            b, _count, _fast, _label = self.block(start, "%n", vectors, [], here)
        values = self._elements(roots, each, vectors, b, here, k_steps, start, k)
        e = fn.emitter(w)
        lifted: list[str] = []
        for i, r, regs in zip(reds, roots, values):
            red = self.part(i).reduction
            v = operand_value(spec.operand_dtype(r).compute)
            bound = {id(x): reg for x, reg in zip(roots_of(v), regs)}
            index = Value("arg", "u32")
            if red.uses_index:
                bound[id(index)] = splat(e, "u32", fn.bind(f"trunc i64 {k} to i32"))
            lifted += e.body(red.lift(v, index), bound)
        return lifted

    def _elements(self, roots: Sequence[int], each: Sequence[int], vectors: Sequence[int],
                  b: Block, here: dict[int, str], k_steps: dict[int, str], start: str,
                  k: str) -> list[tuple[str, ...]]:
        spec, fn = self.spec, self.fn
        e = fn.emitter(spec.width)
        bound: dict[int, str] = {}
        memo: dict[int, Element] = {}
        for a in each:
            if a not in here:
                v: Element = spec.held(a)
                for r, reg in zip(roots_of(v), self.once[a]):
                    bound[id(r)] = reg
            elif not spec.args[a].memory:
                v = Value("arg", "i64")
                bound[id(v)] = self._iota(a, start, (k, k_steps[a]))
            elif a in vectors:
                v = load(e, spec.args[a].dtype, b.pointers[a], bound)
            else:
                p = fn.bind(f"inttoptr i64 {here[a]} to ptr")
                v = spec.held(a)
                for r, reg in zip(roots_of(v), self.splats(a, self.load_once(a, p, 1))):
                    bound[id(r)] = reg
            memo[a] = v
        for s in range(len(spec.args), self.base):
            v = memo[s] = spec.held(s)
            for r, reg in zip(roots_of(v), self.once_regs(s, spec.width)):
                bound[id(r)] = reg
        for i, (prim, attrs, ops, dtype, _level) in enumerate(spec.instrs):
            if prim.reduction is None and all(o in memo for o in ops):
                memo[self.base + i] = self.outline.apply(
                    prim, attrs, [memo[o] for o in ops], dtype)
        regs = e.body([r for o in roots for r in roots_of(memo[o])], bound)
        out, at = [], 0
        for o in roots:
            size = len(roots_of(memo[o]))
            out.append(tuple(regs[at:at + size]))
            at += size
        return out

    def _rounded(self, i: int, regs: tuple[str, ...]) -> tuple[str, ...]:
        d = self.spec.instrs[i][3]
        v = operand_value(d.compute)
        bound = {id(r): reg for r, reg in zip(roots_of(v), regs)}
        return tuple(self.fn.emitter(self.spec.width).body(roots_of(rounded(v, d)), bound))

    def _store_strip(self, outs: Sequence[int], start: str) -> None:
        spec, fn, w = self.spec, self.fn, self.spec.width
        b, count, fast, _label = self.block(start, "%n", [], outs, self.row)
        for o, a in spec.stores:
            e = fn.emitter(w)
            v = spec.held(o)
            bound = {id(r): reg for r, reg in zip(roots_of(v), self.once_regs(o, w))}
            store(e, spec.args[a].dtype, b.pointers[a],
                  e.body(to_memory(spec.args[a].dtype, v), bound))
        self.close(b, count, fast, outs, self.row, "next")

