"""GPU kernels by kind: `map`, `row`, `units`, `col` and `short`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eutectic.codegen.nvptx.thread import Address, GpuKernel, LaneAccumulators, at_once
from eutectic.kernel.memory import gather_offset
from eutectic.kernel.reductions import UNIT
from eutectic.kernel.scalar import Value
from eutectic.kernel.spec import MAX_SHORT, S_K, S_PART, S_UNITS

COLUMNS = 32
"""Columns that a block of a `col` kernel takes."""


class MapKernel(GpuKernel):
    """Kind `map`: threads take elements a block's width apart, so that neighbours load together."""

    def main(self, flat: bool) -> None:
        """`flat`: there are no outer dimensions, and an element's number is its index."""
        spec, fn = self.spec, self.fn
        self.begin(levels=False)
        together = at_once(spec)
        tile = fn.mul(self.block_id, fn.mul(self.threads, together))
        first = fn.add(tile, self.tid)
        numbers = [first, *(fn.add(first, fn.mul(self.threads, u)) for u in range(1, together))]
        places = [self._place(self.clamped(e, "%total"), flat) for e in numbers]
        outs = [a for _o, a in spec.stores]
        found = self.elements([o for o, _a in spec.stores], places,
                              {i: spec.args[a].dtype for i, a in enumerate(outs)})
        for e, place, regs in zip(numbers, places, found):
            to = [(reg, a, place(a)) for reg, a in zip(regs, outs)]
            self.store_where(fn.bind(f"icmp ult i64 {e}, %total"), to)
        self.end()

    def _place(self, element: str, flat: bool) -> Address:
        fn = self.fn
        if flat:
            rows, index = self.decode(None), element
        else:
            row = fn.bind(f"udiv i64 {element}, %n")
            index = fn.bind(f"sub i64 {element}, {fn.mul(row, '%n')}")
            rows = self.decode(row)
        return self.along(self.moved(rows), index)

    def moved(self, rows: dict[int, str]) -> dict[int, str]:
        """Row addresses after what once-a-row indices add to them."""
        out = dict(rows)
        for a, ops in self.spec.moved:
            [regs] = self.elements(ops, [lambda x: rows[x]])
            values = [Value("arg", self.spec.operand_dtype(o).compute) for o in ops]
            bound = {id(v): r[0] for v, r in zip(values, regs)}
            [offset] = self.fn.emitter(1).body([gather_offset(*values)], bound)
            out[a] = self.fn.add(out[a], offset)
        return out


class RowKernel(MapKernel):
    """Kinds `row` and `units`: a block of threads takes a row, or a unit of one."""

    def rows(self) -> None:
        """A row for each block of threads, in phases."""
        self.begin(levels=True)
        self._open(self.block_id)
        self.lane, self.slot = self.split(self.spec.lanes)
        for phase in range(self.plan.count):
            self.once_values(phase, 1)
            if phase == 0:
                self.row = self.moved(self.row)
            self._phase(phase)
        self.once_values(self.plan.count, 1)
        self._close()

    def _open(self, row: str) -> None:
        self.row = self.decode(row)
        self.load_scalars(self.row, [i for i, a in enumerate(self.spec.args)
                                     if a.access == "s" and a.role != "out"])

    def _close(self) -> None:
        """What is stored once a row."""
        spec, fn = self.spec, self.fn
        stores = [(o, a) for o, a in spec.stores
                  if spec.operand_level(o) == "O" and spec.args[a].access == "s"]
        if stores:
            there, skip = fn.label("end"), fn.label("ends")
            zero = fn.bind(f"icmp eq i64 {self.tid}, 0")
            fn.line(f"br i1 {zero}, label %{there}, label %{skip}")
            fn.start(there)
            for o, a in stores:
                self.store_once(o, a, self.pointer(self.row[a]), 1)
            fn.line(f"br label %{skip}")
            fn.start(skip)
        self.end()

    def _store_phase(self, o: int) -> int:
        if o < self.base or self.spec.instrs[o - self.base][4] != "F":
            return self.plan.count - 1
        return self.plan.phase[o - self.base]

    def _leaves(self, reds: Sequence[int], first: str,
                length: str) -> Callable[[list[str]], list[list[str]]]:
        """Accumulators of the thread's element in some blocks, counted from block `first`."""
        fn, lanes = self.fn, self.spec.lanes
        roots = [self.spec.instrs[i][2][0] for i in reds]

        def leaves(blocks: list[str]) -> list[list[str]]:
            indices = [fn.add(fn.mul(fn.add(b, first), lanes), self.lane) for b in blocks]
            places = [self.along(self.row, self.clamped(i, length)) for i in indices]
            out = []
            for i, values in zip(indices, self.elements(roots, places)):
                inside = fn.bind(f"icmp slt i64 {i}, {length}")
                found = self.lifted(reds, values, i)
                acc = self.acc
                out.append([fn.bind(f"select i1 {inside}, {acc.vt(j)} {r}, {acc.vt(j)} {none}")
                            for j, (r, none) in enumerate(zip(found, acc.identity))])
            return out
        return leaves

    def _blocks(self, n: str) -> str:
        lanes = self.spec.lanes
        return self.fn.bind(f"udiv i64 {self.fn.add(n, lanes - 1)}, {lanes}")

    def _phase(self, phase: int) -> None:
        spec = self.spec
        reds = self.reductions_of(phase)
        together = at_once(spec)
        self._store_elements(phase, "0", "%n")
        if reds:
            self.acc = LaneAccumulators(self, reds)
            total = self.reduce(self.acc, spec.lanes, self.lane, self.slot, self._blocks("%n"),
                                together, self._leaves(reds, "0", "%n"))
            self.finished(self.acc, reds, self.across(self.acc, spec.lanes, total))

    def _store_elements(self, phase: int, start: str, end: str) -> None:
        """What a pass stores for each element, from `start` to before `end`."""
        spec, fn, together = self.spec, self.fn, at_once(self.spec)
        stores = [(o, a) for o, a in spec.stores if spec.args[a].access == "v"
                  and self._store_phase(o) == phase]
        if not stores:
            return
        step = fn.mul(self.threads, together)
        with fn.loop(fn.add(start, self.tid), end, step) as first:
            indices = [first, *(fn.add(first, fn.mul(self.threads, u))
                                for u in range(1, together))]
            places = [self.along(self.row, self.clamped(i, end)) for i in indices]
            found = self.elements([o for o, _a in stores], places,
                                  {k: spec.args[a].dtype for k, (_o, a) in enumerate(stores)})
            for i, place, regs in zip(indices, places, found):
                self.store_where(fn.bind(f"icmp slt i64 {i}, {end}"),
                                 [(reg, a, place(a)) for reg, (_o, a) in zip(regs, stores)])

    # -- long rows: units, then their end --------------------------------------------------------

    def units(self) -> None:
        """A unit of a row for each block of threads; its lanes go to memory."""
        fn = self.fn
        self.begin(levels=True)
        per = fn.slot(S_UNITS)
        row = fn.bind(f"udiv i64 {self.block_id}, {per}")
        unit = fn.bind(f"sub i64 {self.block_id}, {fn.mul(row, per)}")
        self._open(row)
        self.lane, self.slot = self.split(self.spec.lanes)
        self.once_values(0, 1)
        self.row = self.moved(self.row)
        reds = self.reductions_of(0)
        self.acc = acc = LaneAccumulators(self, reds)
        first = fn.mul(unit, UNIT)
        start = fn.mul(first, self.spec.lanes)
        self._store_elements(0, start, fn.least(fn.add(start, UNIT * self.spec.lanes), "%n"))
        blocks = fn.least(fn.bind(f"sub i64 {self._blocks('%n')}, {first}"), UNIT)
        total = self.reduce(acc, self.spec.lanes, self.lane, self.slot, blocks,
                            at_once(self.spec), self._leaves(reds, first, "%n"))
        there, skip = fn.label("save"), fn.label("saved")
        zero = fn.bind(f"icmp eq i64 {self.slot}, 0")
        fn.line(f"br i1 {zero}, label %{there}, label %{skip}")
        fn.start(there)
        for j, r in enumerate(total):
            acc.save_at(self._unit(acc, self.block_id, j), j, r)
        fn.line(f"br label %{skip}")
        fn.start(skip)
        self.end()

    def _unit(self, acc: LaneAccumulators, number: str, j: int) -> str:
        """Memory of an accumulator of the thread's lane of a unit."""
        fn, lanes = self.fn, self.spec.lanes
        at = fn.add(fn.mul(number, len(acc.types)), j)
        at = fn.mul(fn.add(fn.mul(at, lanes), self.lane), 8)
        return self.pointer(fn.add(fn.slot(S_PART), at))

    def finish(self) -> None:
        """Combine the units of a row: results of two levels, which enter the third."""
        fn = self.fn
        self.begin(levels=True)
        self._open(self.block_id)
        self.lane, self.slot = self.split(self.spec.lanes)
        units = fn.slot(S_UNITS)
        reds = self.reductions_of(0)
        self.acc = acc = LaneAccumulators(self, reds)
        first = fn.mul(self.block_id, units)
        last = fn.bind(f"sub i64 {units}, 1")

        def leaves(numbers: list[str]) -> list[list[str]]:
            return [[acc.load_at(self._unit(acc, fn.add(first, fn.least(b, last)), j), j)
                     for j in range(len(acc.types))] for b in numbers]
        total = self.reduce(acc, self.spec.lanes, self.lane, self.slot, units, 4, leaves)
        self.finished(acc, reds, self.across(acc, self.spec.lanes, total))
        self.once_values(0, 1)
        self.once_values(1, 1)
        self._close()


class ColumnKernel(GpuKernel):
    """Kinds `col` and `short`: each result has a column of its own, at an index of the inner axis.
    """

    def columns(self) -> None:
        """A block of threads takes COLUMNS columns; slots share the reduced axis."""
        fn = self.fn
        self.begin(levels=True)
        strips = fn.bind(f"udiv i64 {fn.add('%n', COLUMNS - 1)}, {COLUMNS}")
        row = fn.bind(f"udiv i64 {self.block_id}, {strips}")
        strip = fn.bind(f"sub i64 {self.block_id}, {fn.mul(row, strips)}")
        lane, slot = self.split(COLUMNS)
        column = fn.add(fn.mul(strip, COLUMNS), lane)
        reds, leaf = self._open(row, self.clamped(column, "%n"))
        depth = fn.slot(S_K)
        acc = LaneAccumulators(self, reds)
        total = self.reduce(acc, COLUMNS, lane, slot, depth, at_once(self.spec), leaf)
        inside = fn.bind(f"icmp slt i64 {column}, %n")
        zero = fn.bind(f"icmp eq i64 {slot}, 0")
        self._close(acc, reds, total, fn.bind(f"and i1 {inside}, {zero}"))

    def short(self) -> None:
        """A thread takes a row of at most MAX_SHORT elements: the tree of a block's lanes."""
        fn = self.fn
        self.begin(levels=False)
        acc = LaneAccumulators(self, self.reductions_of(0))
        size = MAX_SHORT // 2 * acc.stride()
        fn.lines.insert(1, f"  %lev = alloca i8, i64 {size}, align 8")
        number = fn.add(fn.mul(self.block_id, self.threads), self.tid)
        element = self.clamped(number, "%total")
        row = fn.bind(f"udiv i64 {element}, %n")
        column = fn.bind(f"sub i64 {element}, {fn.mul(row, '%n')}")
        reds, leaf = self._open(row, column)
        depth = fn.slot(S_K)
        fn.module.declares.add("declare i64 @llvm.ctlz.i64(i64, i1)")
        least = fn.bind(f"sub i64 {depth}, 1")
        zeros = fn.bind(f"call i64 @llvm.ctlz.i64(i64 {least}, i1 false)")
        half = fn.bind(f"lshr i64 {1 << 63}, {zeros}")
        with fn.loop(0, half) as i:
            pair = fn.add(i, half)
            low, high = leaf([i, pair])
            inside = fn.bind(f"icmp slt i64 {pair}, {depth}")
            high = [fn.bind(f"select i1 {inside}, {acc.vt(j)} {r}, {acc.vt(j)} {none}")
                    for j, (r, none) in enumerate(zip(high, acc.identity))]
            acc.save(i, acc.combine(low, high))
        pre, head, done = fn.label("sp"), fn.label("sh"), fn.label("sd")
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        size_, latch, body = f"%{head}s", fn.label("sl"), fn.label("sb")
        fn.line(f"{size_} = phi i64 [{half}, %{pre}], [{size_}n, %{latch}]")
        fn.line(f"{size_}n = lshr i64 {size_}, 1")
        some = fn.bind(f"icmp ne i64 {size_}n, 0")
        fn.line(f"br i1 {some}, label %{body}, label %{done}")
        fn.start(body)
        with fn.loop(0, f"{size_}n") as i:
            acc.save(i, acc.combine(acc.load(i), acc.load(fn.add(i, f"{size_}n"))))
        fn.line(f"br label %{latch}")
        fn.start(latch)
        fn.line(f"br label %{head}")
        fn.start(done)
        self._close(acc, reds, acc.load("0"), fn.bind(f"icmp ult i64 {number}, %total"))

    def _open(self, row: str, column: str) -> tuple[
            list[int], Callable[[list[str]], list[list[str]]]]:
        """Read what is the same down a column; the reductions, and what gives their elements."""
        spec, fn = self.spec, self.fn
        rows = self.decode(row)
        place = self.along(rows, column)
        here = {a: place(a) for a in range(len(spec.args))}
        self.row = here
        self.load_scalars(here, [i for i, a in enumerate(spec.args)
                                 if a.role != "out" and not a.deep])
        self.once_values(0, 1)
        reds = self.reductions_of(0)
        roots = [spec.instrs[i][2][0] for i in reds]
        steps = {i: fn.slot(self.slots.k + i) for i, a in enumerate(spec.args)
                 if a.deep and a.role != "out"}
        last = fn.bind(f"sub i64 {fn.slot(S_K)}, 1")

        def down(k: str) -> Address:
            return lambda a: fn.add(here[a], fn.mul(k, steps[a]))

        def leaf(numbers: list[str]) -> list[list[str]]:
            places = [down(fn.least(k, last)) for k in numbers]
            return [self.lifted(reds, values, k)
                    for k, values in zip(numbers, self.elements(roots, places))]
        return reds, leaf

    def _close(self, acc: LaneAccumulators, reds: Sequence[int], total: Sequence[str],
               inside: str) -> None:
        spec, fn = self.spec, self.fn
        self.finished(acc, reds, total)
        self.once_values(1, 1)
        there, skip = fn.label("put"), fn.label("puts")
        fn.line(f"br i1 {inside}, label %{there}, label %{skip}")
        fn.start(there)
        for o, a in spec.stores:
            self.store_once(o, a, self.pointer(self.row[a]), 1)
        fn.line(f"br label %{skip}")
        fn.start(skip)
        self.end()
