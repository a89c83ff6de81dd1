"""From groups to steps: loop dimensions, strides, parameter blocks, and kernel structures.

A `LoopStep` is a kernel with its parameter block; memory is named by tokens that the plan turns
into buffers. Loop dimensions that lie without gaps in every array are merged, so most kernels run
over one dimension whatever the rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from eutectic.engine.loop_builder import LoopBuilder
from eutectic.engine.steps import (
    BranchStep, CallStep, LoopStep, NativeStep, ProductStep, RepeatStep, Step, Token)
from eutectic.graph.ir import Node
from eutectic.graph.layout import row_major
from eutectic.graph.loops import COND, Body, bodies
from eutectic.graph.passes.fuse import Fusion
from eutectic.graph.passes.groups import Group

if TYPE_CHECKING:
    from eutectic.engine.plan import Plan

CompileBody = Callable[[Node, Body, Sequence[tuple[int, ...]]], "Plan"]
"""Compiles a body of a node for inputs of these strides."""
Operand = tuple[Token, int, tuple[int, ...]]
"""(token, offset, strides) in elements."""


class Lowering:
    """Turns the groups of one fusion into steps, in order."""

    def __init__(self, fusion: Fusion, strides_of: Callable[[Node], tuple[int, ...]],
                 compile_body: CompileBody, threads: int) -> None:
        self.fusion = fusion
        self.strides_of = strides_of
        self.compile_body = compile_body
        self.threads = threads
        self.places: dict[int, tuple[Node, int, tuple[int, ...]]] = {}
        self.steps: list[Step] = []
        self._scratch = 0

    def run(self) -> list[Step]:
        for g in self.fusion.groups:
            self.places.update(g.dests)
        for g in self.fusion.groups:
            if any(d == 0 for d in g.sizes.values()):
                continue
            if g.kind == "call" and g.heavy is not None and g.heavy.prim.family == "loop":
                self._control(g)
            elif g.kind == "call":
                self._call(g)
            elif g.kind == "product":
                self._product(g)
            else:
                self.steps.append(self._loop(g))
        return self.steps

    def scratch(self) -> Token:
        self._scratch -= 1
        return self._scratch

    # -- memory ---------------------------------------------------------------------------------

    def where(self, n: Node) -> tuple[Token, int, tuple[int, ...]]:
        """(token, offset, strides) in elements of a stored node or an input."""
        dest = self.places.get(id(n))
        if dest is not None:
            root, offset, strides = dest
            token, base, _ = self.where(root)
            return token, base + offset, strides
        return id(n), 0, self.strides_of(n)

    # -- kinds ----------------------------------------------------------------------------------

    def _call(self, g: Group) -> None:
        n = g.heavy
        assert n is not None
        operands = []
        for e in g.edges:
            token, offset, strides = self.where(e.base)
            if e.layout is not None:
                offset, strides = offset + e.layout[0], e.layout[1]
            operands.append((token, offset, strides))
        if n.prim.family == "native":
            assert n.prim.native is not None
            code = n.prim.native(n, [s for _t, _o, s in operands], self.threads)
            scratch = {self.scratch(): size for _slot, size in code.scratch}
            self.steps.append(NativeStep(n, operands, [t for t, _o, _s in operands], [id(n)], code,
                                         scratch, g))
            return
        self.steps.append(CallStep(n, operands, [t for t, _o, _s in operands], [id(n)], g))

    def _control(self, g: Group) -> None:
        n = g.heavy
        assert n is not None
        operands: list[Operand] = []
        for e in g.edges:
            if e.layout is not None:
                token, offset, _ = self.where(e.base)
                operands.append((token, offset + e.layout[0], e.layout[1]))
        results = [id(r) for r in g.outputs]
        reads = [t for t, _o, _s in operands]
        arena = self.scratch()
        if n.prim is COND:
            (token, offset, _), *operands = operands
            plans = [self.compile_body(n, b, [s for _t, _o, s in operands]) for b in bodies(n)]
            scratch = {arena: max([p.arena for p in plans])}
            self.steps.append(BranchStep(n, (token, offset), operands, results, plans, arena,
                                         reads, results, scratch, g))
            return
        body, carries, xs, length, _reverse = n.attrs
        if length == 0:
            return
        strides = [row_major(r.shape) for r in g.outputs[:carries]]
        strides += [s[1:] for _t, _o, s in operands[:xs]] + [s for _t, _o, s in operands[xs:]]
        plan = self.compile_body(n, body, strides)
        spares = [id(m) for m in g.members[1 + len(results):]]
        pairs = list(zip(results[:carries], spares))
        if length is not None and length % 2:
            pairs = [(b, a) for a, b in pairs]
        self.steps.append(RepeatStep(n, pairs, operands, results[carries:], plan, arena,
                                     [*reads, *[a for a, _b in pairs]], [*results, *spares],
                                     {arena: plan.arena}, g))

    def _product(self, g: Group) -> None:
        n = g.heavy
        assert n is not None
        operands = []
        for e in g.edges:
            if e.consumer is n:
                token, offset, _ = self.where(e.base)
                assert e.layout is not None
                operands.append((token, offset + e.layout[0], e.layout[1]))
        alone = g.members == [n]
        epilogue = None
        c = id(n)
        scratch: dict[Token, int] = {}
        if not alone:
            # The product lands in its own memory if it is wanted, else where the result will be.
            if n not in g.outputs:
                same = [o for o in g.outputs if o.dtype is n.dtype and o.size == n.size
                        and id(o) not in self.places]
                if same:
                    c = id(same[0])
                else:
                    c = self.scratch()
                    scratch[c] = n.size * n.dtype.size
            epilogue = self._loop(g, product=(n, c))
        reads = [operands[0][0], operands[1][0]]
        writes = [c]
        if epilogue is not None:
            reads += [t for t in epilogue.reads if t != c]
            writes += [t for t in epilogue.writes if t != c]
            scratch.update(epilogue.scratch)
            epilogue.scratch = {}
        self.steps.append(ProductStep(n, operands[0], operands[1], c, epilogue, reads, writes,
                                      scratch, g))

    def _loop(self, g: Group, product: tuple[Node, Token] | None = None) -> LoopStep:
        return LoopBuilder(self, g, product).build()
