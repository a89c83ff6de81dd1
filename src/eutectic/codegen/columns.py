"""Kernels of kind `col`: reductions along an axis outside the innermost one.

A thread takes a strip of `width` columns and runs down the reduced axis; each lane is a column, so
the order of accumulation per column is that of `kernel.reductions` without lanes.
"""

from __future__ import annotations

from collections.abc import Sequence

from eutectic.codegen.accumulate import Accumulators, Part, levels_needed
from eutectic.codegen.blocks import (
    Block, Element, decode, lane_numbers, load, splat, store, to_memory)
from eutectic.codegen.rows import LoopKernel
from eutectic.codegen.scalars import vector_type
from eutectic.kernel.rounding import rounded
from eutectic.kernel.scalar import Value
from eutectic.kernel.spec import S_K, S_UNITS, operand_value, roots_of


class ColumnKernel(LoopKernel):
    """Kind `col`."""

    def main(self) -> None:
        spec, fn, w = self.spec, self.fn, self.spec.width
        self.begin(levels=True)
        reds = self.reductions_of(0)
        roots = [spec.instrs[i][2][0] for i in reds]
        each, once = self._arguments(roots)
        outs = sorted({a for _o, a in spec.stores})
        strips, depth = fn.slot(S_UNITS), fn.slot(S_K)
        k_steps = {a: fn.slot(self.slots.k + a) for a in each}
        top = levels_needed(fn, depth)
        parts = [Part(spec.instrs[i][0].reduction, spec.operand_dtype(r).compute)
                 for i, r in zip(reds, roots)]
        acc = Accumulators(fn, parts, w)
        fn.line("br label %pre")
        fn.start("pre")
        fn.line("br label %unit")
        fn.start("unit")
        fn.line("%u = phi i64 [%lo, %pre], [%u2, %next]")
        row = fn.bind(f"udiv i64 %u, {strips}")
        skip = fn.bind(f"mul i64 {row}, {strips}")
        strip = fn.bind(f"sub i64 %u, {skip}")
        start = fn.bind(f"mul i64 {strip}, {w}")
        decode(fn, spec, row)
        self.load_row()
        acc.reset(top)
        # Once a strip: what does not vary along the reduced axis.
        if once or outs:
            self._strip_values(once, start)
        total = self._down(acc, reds, roots, each, k_steps, start, depth, top)
        for i, regs in zip(reds, acc.finish(total, w)):
            self.once[self.base + i] = self._rounded(i, regs)
        self.once_values(1, w)
        self._store_strip(outs, start)
        fn.start("next")
        fn.line("%u2 = add i64 %u, 1")
        more = fn.bind("icmp ult i64 %u2, %hi")
        fn.line(f"br i1 {more}, label %unit, label %done")
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
        memory = [a for a in once if spec.args[a].role != "iota" and spec.args[a].access == "v"]
        if memory:
            b, _count, _fast, _label = self.block(start, "%n", memory, [], self.row)
            for a in memory:
                self.once[a] = self.load_once(a, b.pointers[a], w)
        for a in once:
            if a in memory:
                continue
            if spec.args[a].role == "iota":
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
        lanes = fn.bind(f"mul {vt} {splat(e, 'i64', self.strides[a])}, {lane_numbers(w)}")
        return fn.bind(f"add {vt} {splat(e, 'i64', first)}, {lanes}")

    def _down(self, acc: Accumulators, reds: Sequence[int], roots: Sequence[int],
              each: Sequence[int], k_steps: dict[int, str], start: str, depth: str,
              top: str) -> list[str]:
        """The loop along the reduced axis; the accumulated registers."""
        spec, fn, w = self.spec, self.fn, self.spec.width
        fn.line("br label %kpre")
        fn.start("kpre")
        fn.line("br label %khead")
        fn.start("khead")
        fn.line("%k = phi i64 [0, %kpre], [%k2, %klatch]")
        carried = [f"%kacc{j}" for j in range(len(acc.types))]
        at = len(fn.lines)
        fn.lines.extend([""] * len(carried))
        here: dict[int, str] = {}
        for a in each:
            off = fn.bind(f"mul i64 %k, {k_steps[a]}")
            here[a] = fn.bind(f"add i64 {self.row[a]}, {off}")
        vectors = [a for a in each if spec.args[a].access == "v" and spec.args[a].role != "iota"]
        b = Block({}, start)
        if vectors:
            b, _count, _fast, _label = self.block(start, "%n", vectors, [], here)
        values = self._elements(roots, each, vectors, b, here, k_steps, start)
        e = fn.emitter(w)
        lifted: list[str] = []
        for i, r, regs in zip(reds, roots, values):
            red = spec.instrs[i][0].reduction
            v = operand_value(spec.operand_dtype(r).compute)
            bound = {id(x): reg for x, reg in zip(roots_of(v), regs)}
            index = Value("arg", "u32")
            if red.uses_index:
                bound[id(index)] = splat(e, "u32", fn.bind("trunc i64 %k to i32"))
            lifted += e.body(red.lift(v, index), bound)
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

    def _elements(self, roots: Sequence[int], each: Sequence[int], vectors: Sequence[int],
                  b: Block, here: dict[int, str], k_steps: dict[int, str],
                  start: str) -> list[tuple[str, ...]]:
        spec, fn = self.spec, self.fn
        e = fn.emitter(spec.width)
        bound: dict[int, str] = {}
        memo: dict[int, Element] = {}
        for a in each:
            if spec.args[a].role == "iota":
                v: Element = Value("arg", "i64")
                bound[id(v)] = self._iota(a, start, ("%k", k_steps[a]))
            elif a in vectors:
                v = load(e, spec.args[a].dtype, b.pointers[a], bound)
            else:
                p = fn.bind(f"inttoptr i64 {here[a]} to ptr")
                v = operand_value(spec.args[a].dtype.compute)
                for r, reg in zip(roots_of(v), self.splats(a, self.load_once(a, p, 1))):
                    bound[id(r)] = reg
            memo[a] = v
        for s in range(len(spec.args), self.base):
            v = memo[s] = operand_value(spec.operand_dtype(s).compute)
            for r, reg in zip(roots_of(v), self.once_regs(s, spec.width)):
                bound[id(r)] = reg
        for i, (prim, attrs, ops, dtype, _level) in enumerate(spec.instrs):
            if prim.reduction is None and all(o in memo for o in ops):
                memo[self.base + i] = self.outline.apply(
                    prim, attrs, [memo[o] for o in ops], dtype)
        regs = e.body([r for o in roots for r in roots_of(memo[o])], bound)
        out, k = [], 0
        for o in roots:
            size = len(roots_of(memo[o]))
            out.append(tuple(regs[k:k + size]))
            k += size
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
            v = operand_value(spec.operand_dtype(o).compute)
            bound = {id(r): reg for r, reg in zip(roots_of(v), self.once_regs(o, w))}
            store(e, spec.args[a].dtype, b.pointers[a],
                  e.body(to_memory(spec.args[a].dtype, v), bound))
        self.close(b, count, fast, outs, self.row, "next")

