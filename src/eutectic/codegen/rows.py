"""Kernels of kinds `map`, `row` and `units`."""

from __future__ import annotations

from collections.abc import Sequence

from eutectic.codegen.accumulate import Accumulators, levels_needed
from eutectic.codegen.blocks import (
    Block, Element, advance, decode, lane_numbers, load, splat, store, to_memory)
from eutectic.codegen.loop_kernel import LoopKernel
from eutectic.codegen.scalars import constant, vector_type
from eutectic.codegen.scans import Scans
from eutectic.codegen.targets import LINE
from eutectic.dtype import BY_NAME, Dtype, float16
from eutectic.kernel.memory import gather_offset
from eutectic.kernel.reductions import COMBINE_BODY, UNIT
from eutectic.kernel.rounding import rounded
from eutectic.kernel.scalar import Value, widened
from eutectic.kernel.spec import (
    S_ND, S_PART, S_TMP, S_TMP_STRIDE, S_UNITS, Instr, operand_value, roots_of)

AHEAD = 8
"""Rows between the one that is computed and the one whose memory is asked for."""
FETCHED = 4
"""Cache lines of a row that are asked for; the processor sees the following ones coming."""


class RowKernel(LoopKernel):
    """Kinds `map`, `row` and `units`."""

    def main(self) -> None:
        spec, fn = self.spec, self.fn
        elements, units = spec.kind == "map", spec.kind == "units"
        self.begin(levels=spec.kind != "map")
        if self.hides_index():
            fn.line("%at = alloca i64, align 8")
        if any(ins[0].family == "scatter" for ins in spec.instrs):
            fn.line(f"%sent_at = alloca i64, i64 {spec.width}, align 64")
            fn.line(f"%sent = alloca i64, i64 {spec.width}, align 64")
        if elements or units:
            per = "%n" if elements else fn.slot(S_UNITS)
        first = fn.bind(f"udiv i64 %lo, {per}") if elements else "%lo"
        if elements:
            skip = fn.bind(f"mul i64 {first}, %n")
            start0 = fn.bind(f"sub i64 %lo, {skip}")
            left0 = fn.bind("sub i64 %hi, %lo")
        if not units:
            decode(fn, spec, first)
        fn.line("br label %pre")
        fn.start("pre")
        fn.line("br label %row")
        fn.start("row")
        fn.line(f"%r = phi i64 [{first}, %pre], [%r2, %again]")
        if elements:
            fn.line(f"%start = phi i64 [{start0}, %pre], [0, %again]")
            fn.line(f"%left = phi i64 [{left0}, %pre], [%left2, %again]")
            room = fn.bind("sub i64 %n, %start")
            c = fn.bind(f"icmp ult i64 {room}, %left")
            length = fn.bind(f"select i1 {c}, i64 {room}, i64 %left")
            start, end = "%start", fn.bind(f"add i64 %start, {length}")
            fn.line(f"%left2 = sub i64 %left, {length}")
        elif units:
            row = fn.bind(f"udiv i64 %r, {per}")
            back = fn.bind(f"mul i64 {row}, {per}")
            unit = fn.bind(f"sub i64 %r, {back}")
            decode(fn, spec, row)
            start = fn.bind(f"mul i64 {unit}, {UNIT * spec.lanes}")
            stop = fn.bind(f"add i64 {start}, {UNIT * spec.lanes}")
            c = fn.bind(f"icmp ult i64 {stop}, %n")
            end = fn.bind(f"select i1 {c}, i64 {stop}, i64 %n")
        else:
            start, end = "0", "%n"
        self.load_row()
        self._row_scalars()
        for phase in range(self.plan.count):
            self.once_values(phase, 1)
            if phase == 0:
                self._move_rows()
            self.phase(phase, start, end)
        if not units:
            self.once_values(self.plan.count, 1)
            self._row_stores()
        fn.line("br label %next")
        fn.start("next")
        fn.line("%r2 = add i64 %r, 1")
        done = fn.bind("icmp eq i64 %left2, 0" if elements else "icmp uge i64 %r2, %hi")
        fn.line(f"br i1 {done}, label %done, label %again")
        fn.start("again")
        if not units:
            advance(fn, spec)
        fn.line("br label %row")
        fn.start("done")
        fn.line("ret void")
        self._end()

    def _end(self) -> None:
        text = "\n".join(self.fn.lines)
        self.m.functions.append(
            f"define void @{self.name}(ptr %params, i64 %lo, i64 %hi, i64 %tid) #0 {{\n{text}\n}}")

    def _row_scalars(self) -> None:
        for i, a in enumerate(self.spec.args):
            if a.access == "s" and a.role == "in":
                p = self.fn.bind(f"inttoptr i64 {self.row[i]} to ptr")
                self.once[i] = self.load_once(i, p, 1)
            elif a.access == "s" and not a.memory:
                self.once[i] = self.iota_once(i)

    def _move_rows(self) -> None:
        """Add to row addresses what once-a-row indices say: whole rows are then read in place."""
        if self.spec.kind != "units":
            self._fetch_ahead()
        for a, ops in self.spec.moved:
            regs = [self.once_regs(o, 1)[0] for o in ops]
            self.row[a] = self.fn.bind(f"add i64 {self.row[a]}, {self._offset(ops, regs)}")

    def _offset(self, ops: Sequence[int], regs: Sequence[str]) -> str:
        """What indices, steps and lengths say, in bytes."""
        vals = [Value("arg", self.spec.operand_dtype(o).compute) for o in ops]
        bound = {id(v): r for v, r in zip(vals, regs)}
        return self.fn.emitter(1).body([gather_offset(*vals)], bound)[0]

    def _fetch_ahead(self) -> None:
        """Ask for the memory of a row to come, whose indices lie in memory already.

        Rows at random places are bound by the latency of memory; the processor does not see far
        enough ahead, past the instructions of the rows between.
        """
        fn, spec = self.fn, self.spec
        seen: dict[tuple[int, ...], int] = {}
        for a, ops in spec.moved:
            if all(spec.args[o].role == "in" for o in ops if o < len(spec.args)) and all(
                    o < self.base for o in ops):
                seen[ops] = a
        if not seen:
            return
        count = fn.slot(S_ND)
        there, skip = fn.label("ahead"), fn.label("went")
        none = fn.bind(f"icmp eq i64 {count}, 0")
        fn.line(f"br i1 {none}, label %{skip}, label %{there}")
        fn.start(there)
        axis = fn.bind(f"sub i64 {count}, 1")
        table = fn.bind(f"mul i64 {axis}, {self.slots.row}")
        table = fn.bind(f"add i64 {table}, {self.slots.outer}")
        p = fn.bind(f"getelementptr i64, ptr %idx, i64 {axis}")
        left = fn.bind(f"sub i64 {fn.slot(table)}, {fn.bind(f'load i64, ptr {p}, align 8')}")
        steps = fn.least(fn.bind(f"sub i64 {left}, 1"), AHEAD)

        def later(a: int) -> str:
            stride = fn.slot(fn.bind(f"add i64 {table}, {1 + a}"))
            return fn.add(self.row[a], fn.mul(stride, steps))
        fn.module.declares.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        for ops, a in seen.items():
            regs = []
            for o in ops:
                if o < len(spec.args):
                    at = fn.bind(f"inttoptr i64 {later(o)} to ptr")
                    regs.append(self.load_once(o, at, 1)[0])
                else:
                    regs.append(self.once_regs(o, 1)[0])
            start = fn.add(later(a), self._offset(ops, regs))
            last = fn.bind(f"sub i64 {fn.mul('%n', spec.args[a].dtype.size)}, 1")
            for line in range(FETCHED):
                at = fn.bind(f"inttoptr i64 {fn.add(start, fn.least(last, line * LINE))} to ptr")
                fn.line(f"call void @llvm.prefetch.p0(ptr {at}, i32 0, i32 3, i32 1)")
        fn.line(f"br label %{skip}")
        fn.start(skip)

    def _row_stores(self) -> None:
        for o, a in self.spec.stores:
            if self.spec.operand_level(o) == "O" and self.spec.args[a].access == "s":
                p = self.fn.bind(f"inttoptr i64 {self.row[a]} to ptr")
                self.store_once(o, a, p, 1)

    # -- one pass over a row ------------------------------------------------------------------

    def phase(self, phase: int, start: str, end: str) -> None:
        spec, fn, w = self.spec, self.fn, self.spec.width
        reds = self.reductions_of(phase)
        stores = [(o, a) for o, a in spec.stores if spec.args[a].access == "v"
                  and self._store_phase(o) == phase]
        keep = [o for o in self.plan.saved if self.plan.phase[o - self.base] == phase]
        updates = [ins for i, ins in enumerate(spec.instrs)
                   if ins[0].family == "scatter" and self.plan.phase[i] == phase]
        sent = [o for ins in updates for o in ins[2]]
        roots = [spec.instrs[i][2][0] for i in reds] + [o for o, _a in stores] + keep + sent
        if not roots:
            return
        scanned = self._scans_of(phase)
        ins = self._loads_of(phase, roots)
        outs = sorted({a for _o, a in stores})
        wide = {o: self.splats(o, self.once_regs(o, 1)) for o in self._once_of(phase, roots)}
        lanes: dict[int, str] = {}
        for a in [a for a in ins if spec.args[a].role == "iota"]:
            e = fn.emitter(w)
            step = splat(e, "i64", self.strides[a])
            vt = vector_type("i64", w)
            lanes[a] = fn.bind(f"mul {vt} {step}, {lane_numbers(w)}")
        memory = [a for a in ins if spec.args[a].memory]
        parts = [self.part(i) for i in reds]
        acc = Accumulators(fn, parts, spec.lanes)
        if reds:
            length = fn.bind(f"sub i64 {end}, {start}")
            up = fn.bind(f"add i64 {length}, {w - 1}")
            blocks = self._in_order(fn.bind(f"udiv i64 {up}, {w}"))
            top = levels_needed(fn, blocks)
            acc.reset(top)
        pre, head, latch, done = (fn.label(s) for s in ("ppre", "phead", "platch", "pdone"))
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        i = f"%{head}i"
        fn.line(f"{i} = phi i64 [{start}, %{pre}], [{i}n, %{latch}]")
        carried = [f"%{head}a{j}" for j in range(len(acc.types))]
        at = len(fn.lines)
        fn.lines.extend([""] * len(carried))
        self.scans = Scans(fn, spec, scanned, head)
        self.scans.open()
        here = self.hidden(i)
        b, count, fast, _body = self.block(here, end, memory, outs, self.row)
        for a in [a for a in ins if spec.args[a].role in ("table", "target")]:
            lanes[a] = self.clamped_lanes(count, self.strides[a])
        memory_forms = {len(reds) + k: spec.args[a].dtype for k, (_o, a) in enumerate(stores)}
        kept = len(reds) + len(stores)
        regs = self._values(phase, roots, b, wide, lanes, memory_forms,
                            range(kept, kept + len(keep)))
        current = carried
        if reds:
            current = self._accumulate(acc, reds, regs, carried, b, count, fast)
        for k, o in enumerate(keep):
            self._keep(o, regs[kept + k], here)
        for (_o, a), value in zip(stores, regs[len(reds):]):
            store(fn.emitter(w), spec.args[a].dtype, b.pointers[a], value, spec.stream)
        at_update = len(regs) - len(sent)
        for update in updates:
            size = len(update[2])
            self._send(update, regs[at_update:at_update + size], count)
            at_update += size
        self.close(b, count, fast, outs, self.row, latch if not reds else f"{latch}p")
        nxt = list(current)
        if reds:
            fn.start(f"{latch}p")
            so_far = fn.bind(f"sub i64 {i}, {start}")
            blocks_so_far = fn.bind(f"udiv i64 {so_far}, {w}")
            cnt = self._in_order(fn.bind(f"add i64 {blocks_so_far}, 1"))
            low = fn.bind(f"and i64 {cnt}, 15")
            flush = fn.bind(f"icmp eq i64 {low}, 0")
            push = fn.label("push")
            fn.line(f"br i1 {flush}, label %{push}, label %{latch}")
            fn.start(push)
            sixteens = fn.bind(f"lshr i64 {cnt}, 4")
            reset = fn.label("pushed")
            acc.push(current, sixteens, reset)
            fn.start(reset)
            fn.line(f"br label %{latch}")
            fn.start(latch)
            nxt = [fn.bind(f"phi {acc.vt(j)} [{r}, %{latch}p], [{acc.identity[j]}, %{reset}]")
                   for j, r in enumerate(current)]
        else:
            fn.start(latch)
        fn.line(f"{i}n = add i64 {i}, {w}")
        c = fn.bind(f"icmp ult i64 {i}n, {end}")
        fn.line(f"br i1 {c}, label %{head}, label %{done}")
        for j, name in enumerate(carried):
            fn.lines[at + j] = (f"  {name} = phi {acc.vt(j)} [{acc.identity[j]}, %{pre}], "
                                f"[{nxt[j]}, %{latch}]")
        self.scans.close(pre, latch)
        fn.start(done)
        if reds:
            total = acc.fold(nxt, top)
            if spec.kind == "units":
                self._save_unit(acc, total)
            else:
                for r, result in zip(reds, acc.finish(acc.across(total), 1)):
                    self.once[self.base + r] = self._rounded_once(r, result)

    def _send(self, ins: Instr, regs: Sequence[tuple[str, ...]], count: str) -> None:
        """Write a block of a scatter's updates, one after another: later ones see earlier ones."""
        fn, w = self.fn, self.spec.width
        mode, name = ins[1]
        d = BY_NAME[name]
        e = fn.emitter(w)
        types = [self.spec.operand_dtype(o).compute for o in ins[2]]
        vals = [Value("arg", t) for t in (types[0], *types[2:])]
        bound = {id(v): r[0] for v, r in zip(vals, (regs[0], *regs[2:]))}
        [address] = e.body([vals[0] + gather_offset(*vals[1:])], bound)
        fn.line(f"store <{w} x i64> {address}, ptr %sent_at, align 64")
        new = operand_value(types[1])
        bound = {id(r): reg for r, reg in zip(roots_of(new), regs[1])}
        store(e, d, "%sent", e.body(to_memory(d, new), bound))
        pre, head, done = fn.label("sp"), fn.label("send"), fn.label("sent")
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        j = f"%{head}j"
        fn.line(f"{j} = phi i64 [0, %{pre}], [{j}n, %{head}]")
        p = fn.bind(f"getelementptr i64, ptr %sent_at, i64 {j}")
        to = fn.bind(f"inttoptr i64 {fn.bind(f'load i64, ptr {p}, align 8')} to ptr")
        q = fn.bind(f"getelementptr i8, ptr %sent, i64 {fn.bind(f'mul i64 {j}, {d.size}')}")
        one = fn.emitter(1)
        known: dict[int, str] = {}
        v = load(one, d, q, known)
        if mode != "set":
            old = load(one, d, to, known)
            v = rounded(COMBINE_BODY[mode](old, v), d)
        store(one, d, to, one.body(to_memory(d, v), known))
        fn.line(f"{j}n = add i64 {j}, 1")
        c = fn.bind(f"icmp ult i64 {j}n, {count}")
        fn.line(f"br i1 {c}, label %{head}, label %{done}")
        fn.start(done)

    def _rounded_once(self, i: int, regs: tuple[str, ...]) -> tuple[str, ...]:
        d = self.spec.instrs[i][3]
        v = operand_value(d.compute)
        e = self.fn.emitter(1)
        bound = {id(r): reg for r, reg in zip(roots_of(v), regs)}
        return tuple(e.body(roots_of(rounded(v, d)), bound))

    def _store_phase(self, o: int) -> int:
        """The pass that stores an element-level result (once-a-row ones go with the last)."""
        if o < self.base or self.spec.instrs[o - self.base][4] != "F":
            return self.plan.count - 1
        return self.plan.phase[o - self.base]

    def _walk(self, phase: int, roots: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
        """Element arguments, once-a-row operands and saved operands that a pass reads."""
        spec = self.spec
        loads, once, saved = set(), set(), set()
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            o = stack.pop()
            if o in seen:
                continue
            seen.add(o)
            if spec.operand_level(o) == "O":
                once.add(o)
            elif o < len(spec.args):
                loads.add(o)
            elif o in self.plan.saved and self.plan.phase[o - self.base] < phase:
                saved.add(o)
            else:
                stack.extend(spec.instrs[o - self.base][2])
        return sorted(loads), sorted(once), sorted(saved)

    def _scans_of(self, phase: int) -> list[int]:
        """Scans that a pass computes (those of earlier passes are kept in the row buffer)."""
        return [i for i, ins in enumerate(self.spec.instrs)
                if ins[0].family == "scan" and self.plan.phase[i] == phase]

    def _loads_of(self, phase: int, roots: Sequence[int]) -> list[int]:
        return self._walk(phase, roots)[0]

    def _once_of(self, phase: int, roots: Sequence[int]) -> list[int]:
        return self._walk(phase, roots)[1]

    def _values(self, phase: int, roots: Sequence[int], b: Block, wide: dict[int, tuple[str, ...]],
                lanes: dict[int, str], memory_forms: dict[int, Dtype],
                kept: range) -> list[tuple[str, ...]]:
        """Emit the pass's element values; the registers of each root.

        The roots at the positions in `memory_forms` come as they are stored, those at `kept` for
        later passes, the others as they are computed: from the value itself it is seen whether a
        half was moved or computed.
        """
        spec, fn, w = self.spec, self.fn, self.spec.width
        e = fn.emitter(w)
        loads, once, saved = self._walk(phase, roots)
        bound: dict[int, str] = {}
        memo: dict[int, Element] = {}
        for o in once:
            v = memo[o] = spec.held(o)
            bound.update({id(r): reg for r, reg in zip(roots_of(v), wide[o])})
        for a in loads:
            if not spec.args[a].memory:
                off = fn.bind(f"mul i64 {b.index}, {self.strides[a]}")
                first = fn.bind(f"add i64 {self.row[a]}, {off}")
                vt = vector_type("i64", w)
                reg = fn.bind(f"add {vt} {splat(e, 'i64', first)}, {lanes[a]}")
                memo[a] = v = Value("arg", "i64")
                bound[id(v)] = reg
            else:
                memo[a] = load(e, spec.args[a].dtype, b.pointers[a], bound)
        for o in saved:
            v = memo[o] = spec.held(o)
            for r, reg in zip(roots_of(v), self._kept(o, b.index)):
                bound[id(r)] = reg

        held: list[Element] = []  # keeps the identities in `bound` alive

        def value(o: int) -> Element:
            stack = [o]
            while stack:
                top = stack[-1]
                if top in memo:
                    stack.pop()
                    continue
                prim, attrs, ops, dtype, _level = spec.instrs[top - self.base]
                missing = [x for x in ops if x not in memo]
                if missing:
                    stack.extend(missing)
                    continue
                if prim.family == "scan":
                    regs = self.scans.block(top - self.base,
                                            e.body(roots_of(memo[ops[0]]), bound))
                    v = operand_value(dtype.compute)
                    bound.update({id(r): reg for r, reg in zip(roots_of(v), regs)})
                    held.append(v)
                    memo[top] = rounded(v, dtype)
                    stack.pop()
                    continue
                memo[top] = self.outline.apply(prim, attrs, [memo[x] for x in ops],
                                                        dtype)
                stack.pop()
            return memo[o]

        forms = []
        for i, o in enumerate(roots):
            v = value(o)
            if i in kept and spec.operand_dtype(o) is float16 and isinstance(v, Value):
                v = widened(v)
                held.append(v)
            forms.append(to_memory(memory_forms[i], v) if i in memory_forms else roots_of(v))
        regs = e.body([r for form in forms for r in form], bound)
        out, k = [], 0
        for form in forms:
            out.append(tuple(regs[k:k + len(form)]))
            k += len(form)
        return out

    def _accumulate(self, acc: Accumulators, reds: Sequence[int], regs: Sequence[tuple[str, ...]],
                    carried: Sequence[str], b: Block, count: str, fast: str) -> list[str]:
        """Lift the elements, mask what lies beyond a short block, and add to the accumulators."""
        fn, w = self.fn, self.spec.width
        e = fn.emitter(w)
        lifted: list[str] = []
        for i, value in zip(reds, regs):
            red = self.part(i).reduction
            v = operand_value(self.spec.operand_dtype(self.spec.instrs[i][2][0]).compute)
            bound = {id(r): reg for r, reg in zip(roots_of(v), value)}
            index = Value("arg", "u32")
            if red.uses_index:
                first = fn.bind(f"trunc i64 {b.index} to i32")
                bound[id(index)] = fn.bind(f"add {vector_type('u32', w)} {splat(e, 'u32', first)}, "
                                           f"{lane_numbers(w, 'i32')}")
            lifted += e.body(red.lift(v, index), bound)
        mask, join, here = fn.label("mask"), fn.label("join"), fn.label("lift")
        fn.line(f"br label %{here}")
        fn.start(here)
        fn.line(f"br i1 {fast}, label %{join}, label %{mask}")
        fn.start(mask)
        r = splat(e, "u32", fn.bind(f"trunc i64 {count} to i32"))
        inside = fn.bind(f"icmp ult {vector_type('u32', w)} {lane_numbers(w, 'i32')}, {r}")
        masked = [fn.bind(f"select <{w} x i1> {inside}, {acc.vt(j, w)} {x}, {acc.vt(j, w)} {none}")
                  for j, (x, none) in enumerate(zip(lifted, acc.identity_at(w)))]
        fn.line(f"br label %{join}")
        fn.start(join)
        values = [fn.bind(f"phi {acc.vt(j, w)} [{x}, %{here}], [{y}, %{mask}]")
                  for j, (x, y) in enumerate(zip(lifted, masked))]
        if self.spec.parts == 1:
            return acc.combine(carried, values)
        out = list(carried)
        for lane in range(0, w, acc.width):
            order = ", ".join(f"i32 {i}" for i in range(lane, lane + acc.width))
            out = acc.combine(out, [
                fn.bind(f"shufflevector {acc.vt(j, w)} {x}, {acc.vt(j, w)} poison, "
                        f"<{acc.width} x i32> <{order}>") for j, x in enumerate(values)])
        return out

    def _in_order(self, blocks: str) -> str:
        """How many blocks of the order of reductions a number of blocks holds.

        The last may hold nothing but identities, which change no bits.
        """
        parts = self.spec.parts
        return blocks if parts == 1 else self.fn.bind(f"mul i64 {blocks}, {parts}")

    # -- what is kept between passes, and between units and their end ----------------------------

    def _kept_address(self, o: int, index: str, part: int) -> str:
        """Address in the thread's row buffer; a kept operand takes 8 bytes an element."""
        fn = self.fn
        k = self.plan.saved.index(o)
        base, stride = fn.slot(S_TMP), fn.slot(S_TMP_STRIDE)
        mine = fn.bind(f"mul i64 {stride}, %tid")
        up = fn.bind(f"add i64 %n, {2 * self.spec.width}")
        skip = fn.bind(f"mul i64 {up}, {8 * k}")
        at = fn.bind(f"mul i64 {index}, 8")
        total = fn.bind(f"add i64 {base}, {mine}")
        total = fn.bind(f"add i64 {total}, {skip}")
        total = fn.bind(f"add i64 {total}, {at}")
        total = fn.bind(f"add i64 {total}, {4 * self.spec.width * part}")
        return fn.bind(f"inttoptr i64 {total} to ptr")

    def _keep(self, o: int, regs: tuple[str, ...], index: str) -> None:
        fn, w = self.fn, self.spec.width
        ty = self.spec.operand_dtype(o).compute
        for part, reg in enumerate(regs):
            p = self._kept_address(o, index, part)
            if ty == "bool":
                reg = fn.bind(f"zext <{w} x i1> {reg} to <{w} x i8>")
            t = {"bool": f"<{w} x i8>", "c64": f"<{w} x float>"}.get(ty) or vector_type(ty, w)
            fn.line(f"store {t} {reg}, ptr {p}, align 4")

    def _kept(self, o: int, index: str) -> tuple[str, ...]:
        fn, w = self.fn, self.spec.width
        ty = self.spec.operand_dtype(o).compute
        out = []
        for part in range(2 if ty == "c64" else 1):
            p = self._kept_address(o, index, part)
            t = {"bool": f"<{w} x i8>", "c64": f"<{w} x float>"}.get(ty) or vector_type(ty, w)
            reg = fn.bind(f"load {t}, ptr {p}, align 4")
            if ty == "bool":
                reg = fn.bind(f"icmp ne <{w} x i8> {reg}, {constant(0, 'u8', w)}")
            out.append(reg)
        return tuple(out)

    def _save_unit(self, acc: Accumulators, regs: Sequence[str]) -> None:
        fn = self.fn
        base = fn.slot(S_PART)
        off = fn.bind(f"mul i64 %r, {acc.stride()}")
        at = fn.bind(f"add i64 {base}, {off}")
        for j, r in enumerate(regs):
            here = fn.bind(f"add i64 {at}, {j * acc.width * 8}")
            acc.save_at(fn.bind(f"inttoptr i64 {here} to ptr"), j, r)

    def finish(self) -> None:
        """Combine the units of each row in [lo, hi), and the once-a-row end of the kernel."""
        spec, fn, w = self.spec, self.fn, self.spec.lanes
        self.begin(levels=True)
        units = fn.slot(S_UNITS)
        reds = self.reductions_of(0)
        parts = [self.part(i) for i in reds]
        # A unit is a finished result of two levels: it enters the third.
        acc = Accumulators(fn, parts, w, first_level=1)
        top = fn.bind(f"add i64 {levels_needed(fn, units)}, 1")
        fn.line("br label %pre")
        fn.start("pre")
        fn.line("br label %row")
        fn.start("row")
        fn.line("%r = phi i64 [%lo, %pre], [%r2, %again]")
        decode(fn, spec, "%r")
        self.load_row()
        self._row_scalars()
        acc.reset(top)
        base = fn.slot(S_PART)
        first = fn.bind(f"mul i64 %r, {units}")
        fn.line("br label %upre")
        fn.start("upre")
        fn.line("br label %unit")
        fn.start("unit")
        fn.line("%u = phi i64 [0, %upre], [%u2, %ulatch]")
        at = fn.bind(f"add i64 {first}, %u")
        off = fn.bind(f"mul i64 {at}, {acc.stride()}")
        here = fn.bind(f"add i64 {base}, {off}")
        regs = []
        for j in range(len(acc.types)):
            p = fn.bind(f"add i64 {here}, {j * w * 8}")
            regs.append(acc.load_at(fn.bind(f"inttoptr i64 {p} to ptr"), j))
        fn.line("%u2 = add i64 %u, 1")
        acc.push(regs, "%u2", "ulatch")
        fn.start("ulatch")
        more = fn.bind(f"icmp ult i64 %u2, {units}")
        fn.line(f"br i1 {more}, label %unit, label %uend")
        fn.start("uend")
        total = acc.fold(acc.identity, top)
        for r, result in zip(reds, acc.finish(acc.across(total), 1)):
            self.once[self.base + r] = self._rounded_once(r, result)
        self.once_values(0, 1)
        self.once_values(1, 1)
        self._row_stores()
        fn.line("br label %next")
        fn.start("next")
        fn.line("%r2 = add i64 %r, 1")
        done = fn.bind("icmp uge i64 %r2, %hi")
        fn.line(f"br i1 {done}, label %done, label %again")
        fn.start("again")
        fn.line("br label %row")
        fn.start("done")
        fn.line("ret void")
        self._end()

