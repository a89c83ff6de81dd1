"""From a group to one loop kernel: loop dimensions, strides, parameter block, structure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from eutectic.dtype import Dtype, int64, uint8, uint16, uint32, uint64
from eutectic.engine.loop_arrays import Array
from eutectic.engine.loop_tuning import block_width, set_range, streams, unroll, widened
from eutectic.engine.steps import LoopStep, Token
from eutectic.graph import affine
from eutectic.graph.affine import Forms
from eutectic.graph.ir import CONST, IOTA, Node
from eutectic.graph.layout import row_major
from eutectic.graph.passes.groups import Edge, Group, node_cost
from eutectic.graph.prims import COMBINE, COPY, GATHER, UPDATE, const
from eutectic.kernel.prim import Prim
from eutectic.kernel.reductions import UNIT, lanes, ordered
from eutectic.kernel.spec import (
    FIRST_ARG, MAX_SHORT, S_K, S_N, S_ND, S_PART, Arg, Instr, KernelSpec, Slots, phases)

Ref = tuple[str, int]
"""An operand before instructions have numbers: an 'array', a 'scalar' or a 'node', and which."""

FEW_ROWS = 8
COPY_COST = 1.0
_BITS = {d.size: d for d in (uint8, uint16, uint32, uint64)}


class Memory(Protocol):
    """What the builder asks of the lowering it works for."""

    steps: list[Any]

    def scratch(self) -> Token: ...

    def where(self, n: Node) -> tuple[Token, int, tuple[int, ...]]: ...


class LoopBuilder:
    def __init__(self, low: Memory, g: Group, product: tuple[Node, Token] | None) -> None:
        self.low = low
        self.g = g
        self.product = product
        self.arrays: list[Array] = []
        self.array_of: dict[Any, int] = {}
        self.scalars: list[tuple[Node, Dtype]] = []
        self.scalar_of: dict[tuple[int, Dtype], int] = {}
        self.scratch: dict[Token, int] = {}
        self.moved: tuple[tuple[int, tuple[int, ...]], ...] = ()
        self.update: Node | None = None
        self.target = -1

    def build(self) -> LoopStep:
        g = self.g
        kind = "map" if g.kind == "product" else g.kind
        members = [m for m in g.members if self.product is None or m is not self.product[0]]
        operands: dict[tuple[int, int], Ref] = {}
        for e in g.edges:
            if self.product is not None and e.consumer is self.product[0]:
                continue
            operands[id(e.consumer), e.position] = self._operand(e)
        self.update = next((m for m in members if m.prim is UPDATE), None)
        outs = [self._output(n) for n in g.outputs if n is not self.update
                and (self.product is None or n is not self.product[0])]
        self.target = self._target(self.update) if self.update is not None else -1
        order = list(g.order)
        sizes = dict(g.sizes)
        groups = self._classes(kind, order)
        merged = self._merge(groups, sizes)
        if kind in ("row", "col"):
            merged = self._one_reduced(kind, groups, merged, sizes)
        return self._finish(kind, members, operands, outs, merged, sizes)

    # -- arrays ---------------------------------------------------------------------------------

    def _operand(self, e: Edge) -> Ref:
        n = e.base
        if e.consumer.prim is GATHER and e.position == 0:
            return "array", self._table(e)
        if n.prim is CONST:
            return "scalar", self._scalar(n)
        if self.g.holds(n) and self.g.maps[id(n)] == e.forms:
            if self.product is None or n is not self.product[0]:
                return "node", id(n)
        return "array", self._array(n, e.forms)

    def _scalar(self, n: Node) -> int:
        key = (n.attrs[0], n.dtype)
        if key not in self.scalar_of:
            self.scalar_of[key] = len(self.scalars)
            self.scalars.append((n, n.dtype))
        return self.scalar_of[key]

    def _table(self, e: Edge) -> int:
        """The array a gather reads: addresses of its elements at index zero."""
        assert e.layout is not None
        key = ("table", id(e.base), e.forms, e.layout)
        if key not in self.array_of:
            token, offset, _ = self.low.where(e.base)
            const, terms = affine.linear(e.forms, e.layout[1])
            self.array_of[key] = len(self.arrays)
            self.arrays.append(Array(int64, "table", token, offset + e.layout[0] + const,
                                     dict(terms), unit=e.base.dtype.size))
        return self.array_of[key]

    def _target(self, n: Node) -> int:
        """The memory that a scatter's updates go to: addresses at index zero."""
        token, offset, strides = self.low.where(n)
        forms = self.g.maps[id(n)]
        at = tuple([forms[a] if a >= 0 else affine.ZERO for a in n.attrs[0]])
        const_, terms = affine.linear(at, strides)
        self.arrays.append(Array(int64, "target", token, offset + const_, dict(terms),
                                 unit=n.dtype.size))
        return len(self.arrays) - 1

    def _index_steps(self, n: Node, shape: tuple[int, ...], strides: tuple[int, ...]) -> list[Ref]:
        """Steps (bytes) and lengths of the axes that the indices of `n` choose, as scalars."""
        steps, lengths = [], []
        for j in range(len(n.inputs) - 1):
            axis = n.attrs[0].index(-1 - j)
            steps.append(strides[axis] * n.dtype.size)
            lengths.append(shape[axis])
        return [("scalar", self._scalar(const(v, int64))) for v in (*steps, *lengths)]

    def _array(self, n: Node, forms: Forms) -> int:
        key = (id(n), forms)
        if key in self.array_of:
            return self.array_of[key]
        if n.prim is IOTA:
            form = forms[n.attrs[0]] if n.shape else affine.ZERO
            a = Array(int64, "iota", 0, form[0], dict(form[1]))
        else:
            if self.product is not None and n is self.product[0]:
                token, offset, strides = self.product[1], 0, row_major(n.shape)
            else:
                token, offset, strides = self.low.where(n)
            const, terms = affine.linear(forms, strides)
            a = Array(n.dtype, "in", token, offset + const, dict(terms))
        self.array_of[key] = len(self.arrays)
        self.arrays.append(a)
        return self.array_of[key]

    def _output(self, n: Node) -> tuple[Node, int]:
        token, offset, strides = self.low.where(n)
        forms = self.g.maps[id(n)]
        const, terms = affine.linear(forms, strides)
        level = "F"
        if self.g.kind in ("row", "col") and not (self.g.indices(forms) & self.g.inner):
            level = "O"
        self.arrays.append(Array(n.dtype, "out", token, offset + const, dict(terms), level))
        return n, len(self.arrays) - 1

    # -- loop dimensions --------------------------------------------------------------------------

    def _classes(self, kind: str, order: list[int]) -> list[list[int]]:
        """Runs of loop indices that may merge with each other, outermost run first."""
        g = self.g
        if kind == "map":
            return [order]
        if kind == "row":
            return [[d for d in order if d not in g.inner], [d for d in order if d in g.inner]]
        first = min(i for i, d in enumerate(order) if d in g.inner)
        last = max(i for i, d in enumerate(order) if d in g.inner)
        return [order[:first], order[first:last + 1], order[last + 1:]]

    def _merge(self, runs: list[list[int]], sizes: dict[int, int]) -> list[list[int]]:
        """Merge neighbours that are gap-free in every array; keeps the inner one's name."""
        out = []
        for run in runs:
            kept: list[int] = []
            for d in run:
                if kept and all(a.strides.get(kept[-1], 0) == a.strides.get(d, 0) * sizes[d]
                                for a in self.arrays):
                    sizes[d] *= sizes[kept[-1]]
                    self._alias(kept.pop(), d)
                kept.append(d)
            out.append(kept)
        return out

    def _alias(self, gone: int, kept: int) -> None:
        self.names = getattr(self, "names", {})
        self.names[gone] = kept
        for k, v in list(self.names.items()):
            if v == gone:
                self.names[k] = kept

    def _one_reduced(self, kind: str, runs: list[list[int]], merged: list[list[int]],
                     sizes: dict[int, int]) -> list[list[int]]:
        """Make the reduced indices one, copying arrays that are not gap-free along them."""
        if len(merged[1]) <= 1:
            return merged
        inner = merged[1]
        for k, a in enumerate(self.arrays):
            step = a.strides.get(inner[-1], 0)
            size = sizes[inner[-1]]
            good = True
            for d in reversed(inner[:-1]):
                good = good and a.strides.get(d, 0) == step * size
                size *= sizes[d]
            if not good:
                self.arrays[k] = self._packed(a, [d for r in merged for d in r], sizes, set(inner))
        return self._merge(merged, sizes)

    def _packed(self, a: Array, order: list[int], sizes: dict[int, int], whole: set[int]) -> Array:
        """A row-major copy of an array over the loop indices it uses and those in `whole`."""
        used = [d for d in order if a.strides.get(d) or d in whole]
        shape = tuple([sizes[d] for d in used])
        token = self.low.scratch()
        self.scratch[token] = math.prod(shape) * a.dtype.size
        new = Array(a.dtype, "in", token, 0, dict(zip(used, row_major(shape))), a.level)
        source = Array(a.dtype, a.role, a.token, a.offset, dict(a.strides), unit=a.unit)
        target = Array(a.dtype, "out", token, 0, dict(new.strides))
        inner = LoopBuilder(self.low, Group("map", used, {d: sizes[d] for d in used}), None)
        inner.arrays = [source, target]
        runs = inner._merge([list(used)], dims := dict(sizes))
        spec_instr: list[Instr] = []
        step = inner._assemble("map", runs, dims, spec_instr, [(0, 1)], COPY_COST, {})
        step.group = None
        self.low.steps.append(step)
        return new

    # -- the kernel -------------------------------------------------------------------------------

    def _finish(self, kind: str, members: Sequence[Node], operands: dict[tuple[int, int], Ref],
                outs: list[tuple[Node, int]], merged: list[list[int]],
                sizes: dict[int, int]) -> LoopStep:
        g = self.g
        names = getattr(self, "names", {})
        inner = self._inner_indices(kind, merged)
        in_rows = self.update is not None and self._updates_rows(operands, merged)
        n_arr, n_sc = len(self.arrays), len(self.scalars)
        number: dict[int, int] = {}
        instrs: list[tuple[Prim, tuple[Any, ...], list[Ref], Dtype, str]] = []
        cost = 0.0
        moving: list[Ref] = []
        for m in members:
            ops: list[Ref] = []
            for i, operand in enumerate(m.inputs):
                ref = operands.get((id(m), i))
                if ref is None:
                    # Only constants have no edge of their own.
                    ref = ("scalar", self._scalar(operand))
                    n_sc = len(self.scalars)
                ops.append(ref)
            used = {names.get(d, d) for d in g.indices(g.maps[id(m)])}
            level = "F" if used & inner or (kind == "map" and not inner) else "O"
            attrs = m.attrs
            if m.prim is GATHER:
                edge = next(e for e in g.edges if e.consumer is m and e.position == 0)
                assert edge.layout is not None
                ops += self._index_steps(m, m.inputs[0].shape, edge.layout[1])
                n_sc = len(self.scalars)
                attrs = (m.dtype.name,)
            prim = m.prim
            if m is self.update:
                whole, _offset, strides = g.dests[id(m)]
                steps = self._index_steps(m, whole.shape, strides)
                n_sc = len(self.scalars)
                mode = m.attrs[1]
                if in_rows:
                    moving = [*ops[1:], *steps]
                    prim = COPY if mode == "set" else COMBINE[mode]
                    old = [] if mode == "set" else [("array", n_arr - 1)]
                    ops, attrs = [*old, ops[0]], ()
                else:
                    ops, attrs = [("array", self.target), *ops, *steps], (mode, m.dtype.name)
            if m.prim.family == "reduction":
                level, attrs = "O", ()
                cost += 2.0
            elif m.prim.family == "scan":
                level = "F"
                cost += 8.0
            else:
                cost += node_cost(m) if level == "F" else 0.0
            number[id(m)] = len(instrs)
            instrs.append((prim, attrs, ops, m.dtype, level))

        def place(ref: Ref) -> int:
            what, k = ref
            if what == "array":
                return k
            return n_arr + k if what == "scalar" else n_arr + n_sc + number[k]
        fixed: list[Instr] = [(prim, attrs, tuple([place(r) for r in refs]), dtype, level)
                              for prim, attrs, refs, dtype, level in instrs]
        stores = [(n_arr + n_sc + number[id(n)], a) for n, a in outs]
        if kind == "row" and self._is_short(merged, sizes, fixed):
            kind = "short"
        self.moved = self._moved(kind, merged, fixed) if kind in ("map", "row") else ()
        if in_rows:
            assert self.update is not None
            stores.append((n_arr + n_sc + number[id(self.update)], self.target))
            by = tuple([place(r) for r in moving])
            self.moved += ((self.target, by),)
            if self.update.attrs[1] != "set":
                self.moved += ((n_arr - 1, by),)
        return self._assemble(kind, merged, sizes, fixed, stores, cost, names)

    def _updates_rows(self, operands: dict[tuple[int, int], Ref],
                      merged: list[list[int]]) -> bool:
        """Whether a scatter changes whole rows, whose indices are known when the row begins.

        Its target is then read and written like any array, at a row address that moves.
        """
        u, t = self.update, self.arrays[self.target]
        assert u is not None
        inner = merged[0][-1:]
        if not inner or t.strides.get(inner[0], 0) != 1:
            return False
        names = getattr(self, "names", {})
        for i in range(1, len(u.inputs)):
            what, k = operands.get((id(u), i), ("scalar", 0))
            if what == "array" and self.arrays[k].strides.get(inner[0], 0):
                return False
            if what == "node" and inner[0] in {names.get(d, d)
                                               for d in self.g.indices(self.g.maps[k])}:
                return False
        t.dtype, t.role, t.unit = u.dtype, "out", 0
        if u.attrs[1] != "set":
            self.arrays.append(Array(t.dtype, "in", t.token, t.offset, dict(t.strides)))
        return True

    def _moved(self, kind: str, merged: list[list[int]],
               instrs: list[Instr]) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Gathers whose indices are the same along a row: the row is read like any array.

        Changes the instruction to a copy of the argument, and the argument to plain memory.
        """
        inner = merged[-1 if kind == "row" else 0][-1:]
        n_first = len(self.arrays) + len(self.scalars)
        moved = []
        users = [o for ins in instrs for o in ins[2]]
        for i, (prim, _attrs, ops, dtype, level) in enumerate(instrs):
            if prim is not GATHER or level != "F" or not inner:
                continue
            a = self.arrays[ops[0]]
            if a.strides.get(inner[0], 0) != 1 or users.count(ops[0]) > 1:
                continue
            if not all(self._once(o, instrs, n_first, inner[0]) for o in ops[1:]):
                continue
            a.dtype, a.role = dtype, "in"
            instrs[i] = (COPY, (), (ops[0],), dtype, level)
            moved.append((ops[0], ops[1:]))
        return tuple(moved)

    def _once(self, o: int, instrs: list[Instr], n_first: int, inner: int) -> bool:
        """Whether an operand is known at the start of a row, before any pass over it."""
        if o < len(self.arrays):
            return not self.arrays[o].strides.get(inner, 0)
        if o < n_first:
            return True
        prim, _attrs, ops, _dtype, level = instrs[o - n_first]
        return (level == "O" and prim.reduction is None
                and all(self._once(x, instrs, n_first, inner) for x in ops))

    def _is_short(self, merged: list[list[int]], sizes: dict[int, int],
                  instrs: list[Instr]) -> bool:
        """Whether lanes should be rows; copies small arrays so that neighbouring rows touch.

        The bits are those of `row`: a row of at most one block is one tree across its lanes.
        """
        if not merged[0] or len(merged[1]) != 1:
            return False
        k, lane = merged[1][0], merged[0][-1]
        others = merged[0][:-1]
        rows = math.prod([sizes[d] for d in merged[0]])
        if not (2 <= sizes[k] <= MAX_SHORT and sizes[lane] >= 16 and rows * sizes[k] >= 4096):
            return False
        if any(a.role == "out" and a.level == "F" for a in self.arrays):
            return False
        if any(ins[0].family == "scan" for ins in instrs):
            return False
        reduced = {i for i, ins in enumerate(instrs) if ins[0].reduction is not None}
        first = len(self.arrays) + len(self.scalars)
        after: set[int] = set()
        """Instructions that wait for a reduction, directly or through others."""
        for i, ins in enumerate(instrs):
            waits = any(o - first in after for o in ins[2])
            if waits and (ins[4] == "F" or i in reduced):
                return False  # more than one pass over the row
            if waits or i in reduced:
                after.add(i)
        if any(lanes(ty) < sizes[k] for ty in self._ordered(instrs)):
            return False
        small = []
        for i, a in enumerate(self.arrays):
            if a.role != "in" or a.strides.get(lane, 0) in (0, 1) or not a.strides.get(k):
                continue
            size = math.prod([sizes[d] for d in (*merged[0], k) if a.strides.get(d)])
            if size * 8 > rows * sizes[k]:
                return False  # as large as the work: rows lie one after another in it
            small.append(i)
        for i in small:
            self.arrays[i] = self._packed(self.arrays[i], [*others, k, lane], sizes, set())
        return True

    def _as_bits(self, instrs: list[Instr]) -> list[Instr]:
        """A kernel that only moves elements moves unsigned integers: no NaN becomes a quiet one."""
        first = len(self.arrays)
        by = {o for _a, ops in self.moved for o in ops}  # row indices stay what they are
        if any(a.role not in ("in", "out") for a in self.arrays) or any(
                o >= first + len(self.scalars) for o in by):
            return instrs
        for i, a in enumerate(self.arrays):
            a.dtype = a.dtype if i in by else _BITS[a.dtype.size]
        self.scalars = [(n, d if first + j in by else _BITS[d.size])
                        for j, (n, d) in enumerate(self.scalars)]
        return [(prim, attrs, ops, _BITS[d.size], level) for prim, attrs, ops, d, level in instrs]

    def _inner_indices(self, kind: str, merged: list[list[int]]) -> set[int]:
        if kind == "map":
            return {merged[0][-1]} if merged[0] else set()
        return set(merged[1])

    def _assemble(self, kind: str, merged: list[list[int]], sizes: dict[int, int],
                  instrs: list[Instr], stores: list[tuple[int, int]], cost: float,
                  names: dict[int, int]) -> LoopStep:
        """Choose width and kind, and lay out the parameter block."""
        if kind == "map" and all(ins[0] is COPY for ins in instrs):
            instrs = self._as_bits(instrs)
        k_dim: int | None = None
        if kind == "map":
            outer, n_dim = merged[0][:-1], (merged[0][-1] if merged[0] else None)
        elif kind == "row":
            outer, n_dim = merged[0], (merged[1][0] if merged[1] else None)
        elif kind == "short":
            outer, n_dim, k_dim = merged[0][:-1], merged[0][-1], merged[1][0]
        else:
            k_dim = merged[1][0] if merged[1] else None
            outer, n_dim = merged[0] + merged[2][:-1], (merged[2][-1] if merged[2] else None)
        n = sizes[n_dim] if n_dim is not None else 1
        k = sizes[k_dim] if k_dim is not None else 1
        rows = math.prod([sizes[d] for d in outer])
        width = block_width(kind, self.arrays, instrs, self._ordered(instrs), n, rows, cost)
        # What a scatter writes is read again where an index comes twice.
        stream = (kind in ("map", "row") and self.update is None
                  and streams(self.arrays, outer, n_dim, n, rows, width))
        args = []
        for a in self.arrays:
            step = a.strides.get(n_dim, 0) if n_dim is not None else 0
            if n_dim is None or n == 1:
                row_out = kind == "row" and a.role == "out" and a.level == "O"
                access = "v" if a.role == "out" and not row_out else "s"
                if kind == "row" and a.role == "in" and a.level == "F":
                    access = "s"
            else:
                access = "v" if step else "s"
            deep = kind not in ("col", "short") or a.role == "out" or (
                k_dim is not None and a.strides.get(k_dim, 0) != 0)
            args.append(Arg(a.dtype, access, a.role, deep))
        spec = KernelSpec(kind, width, tuple(args), tuple([d for _n, d in self.scalars]),
                          tuple(instrs), tuple(stores), unroll(k) if kind == "short" else 0,
                          stream, self.moved)
        params_kind = kind
        n_units = 0
        scans = any(ins[0].family == "scan" for ins in instrs)
        if (kind == "row" and rows < FEW_ROWS and n > UNIT * width and not scans
                and phases(spec).count == 1):
            params_kind = "units"
            n_units = -(-n // (UNIT * width))
            spec = KernelSpec("units", width, spec.args, spec.scalars, spec.instrs, spec.stores,
                              stream=spec.stream, moved=spec.moved)
        spec = widened(spec, n)
        slots = Slots.of(spec)
        table = slots.outer
        params = [0] * (table + slots.row * len(outer))
        params[S_N], params[S_ND], params[S_K] = n, len(outer), k
        if kind == "short":
            params[S_PART] = max(1, (1 << (k - 1).bit_length()) // abs(spec.depth))
        patches: list[tuple[int, Token, int]] = []
        reads: list[Token] = []
        writes: list[Token] = []
        for i, a in enumerate(self.arrays):
            unit = a.bytes()
            if a.role == "iota":
                params[FIRST_ARG + i] = a.offset
            else:
                patches.append((FIRST_ARG + i, a.token, a.offset * unit))
                (writes if a.role in ("out", "target") else reads).append(a.token)
                if a.role == "target":
                    reads.append(a.token)
            step = a.strides.get(n_dim, 0) if n_dim is not None else 0
            params[slots.inner + i] = (step * unit) if n > 1 and n_dim is not None else unit
            if params_kind in ("col", "short"):
                params[slots.k + i] = (a.strides.get(k_dim, 0) if k_dim is not None else 0) * unit
            for j, d in enumerate(outer):
                params[table + j * slots.row + 1 + i] = a.strides.get(d, 0) * unit
        for j, d in enumerate(outer):
            params[table + j * slots.row] = sizes[d]
        step_ = LoopStep(spec, params, patches, 0, 1, reads, writes, self.scratch, group=self.g)
        step_.scalar_slots = [(slots.scalars + i, c) for i, (c, _d) in enumerate(self.scalars)]
        set_range(step_, rows, n, k, n_units, cost, self.low.scratch)
        step_.serial = self.update is not None
        if not step_.serial:
            step_.joins = frozenset([self.low.where(n)[0] for n in self.g.outputs
                                     if id(n) in self.g.dests])
        return step_

    def _ordered(self, instrs: list[Instr]) -> list[str]:
        """Compute types of the reductions that add elements in a set order."""
        types = []
        for prim, _attrs, ops, _dtype, _level in instrs:
            if prim.reduction is not None:
                ty = self._operand_dtype(instrs, ops[0]).compute
                if ordered(prim.reduction, ty):
                    types.append(ty)
        return types

    def _operand_dtype(self, instrs: list[Instr], o: int) -> Dtype:
        if o < len(self.arrays):
            return self.arrays[o].dtype
        o -= len(self.arrays)
        return self.scalars[o][1] if o < len(self.scalars) else instrs[o - len(self.scalars)][3]
