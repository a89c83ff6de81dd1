"""The work in a plan's steps: bytes of arrays read and written, arithmetic, instructions.

Bytes are those of the distinct elements that a kernel reads or writes: an axis along which an
operand is broadcast counts once. What indices choose counts each time. Caches are not modelled;
what a kernel keeps for itself (rows between two passes, partial sums) is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from eutectic.engine.steps import (
    BranchStep, CallStep, LoopStep, NativeStep, ProductStep, RepeatStep, Step)
from eutectic.graph.prims import GATHER
from eutectic.engine.plan import Plan
from eutectic.kernel.prim import Prim
from eutectic.kernel.scalar import FLOATS, toposort
from eutectic.kernel.spec import (
    S_K, S_N, S_ND, KernelSpec, Slots, instr_cost, operand_value, roots_of)


@dataclass(frozen=True, slots=True)
class Work:
    """Work of one kernel or of several."""

    read: int = 0
    """Bytes of arrays read."""
    written: int = 0
    """Bytes of arrays written."""
    flops: int = 0
    """Floating-point additions, multiplications, divisions and square roots; an fma is two."""
    instructions: float = 0.0
    """Instructions on float32 lanes, divisions and roots weighted by their throughput; those on
    elements of 8 bytes count twice."""
    product_flops: int = 0
    """The part of `flops` that matrix products do."""

    @property
    def moved(self) -> int:
        """Bytes read and written."""
        return self.read + self.written

    def __add__(self, o: Work) -> Work:
        return Work(self.read + o.read, self.written + o.written, self.flops + o.flops,
                    self.instructions + o.instructions, self.product_flops + o.product_flops)

    def __mul__(self, times: int) -> Work:
        return Work(self.read * times, self.written * times, self.flops * times,
                    self.instructions * times, self.product_flops * times)


def total(parts: Iterable[Work]) -> Work:
    """The sum of several pieces of work."""
    return sum(parts, Work())


def kernel_steps(plan: Plan) -> list[Step]:
    """The steps of a plan that run something (a `place` step only names memory)."""
    return [s for s in plan.steps
            if not (isinstance(s, CallStep) and s.node.prim.family == "place")]


def plan_work(plan: Plan) -> Work:
    """The work of all steps of a plan."""
    return total(step_work(s) for s in kernel_steps(plan))


def step_work(step: Step) -> Work:
    """The work of one step."""
    if isinstance(step, LoopStep):
        return _loop_work(step)
    if isinstance(step, ProductStep):
        return _product_work(step)
    if isinstance(step, RepeatStep):
        length = step.node.attrs[3]
        # How often a loop runs whose length is not known: once, for want of a better number.
        return plan_work(step.body) * (1 if length is None else length)
    if isinstance(step, BranchStep):
        return max([plan_work(p) for p in step.bodies], key=_instructions)
    read = sum([n.size * n.dtype.size for n in step.node.inputs])
    flops = step.code.flops if isinstance(step, NativeStep) else 0
    return Work(read, step.node.size * step.node.dtype.size, flops, flops / 2)


def _instructions(w: Work) -> float:
    return w.instructions


@dataclass(frozen=True, slots=True)
class Traffic:
    """One array argument of a kernel."""

    role: str
    dtype: str
    elements: int
    """Distinct elements that the kernel reads or writes."""
    nbytes: int


def traffic(step: LoopStep) -> list[Traffic]:
    """The arrays that a loop reads and writes: its arguments in order, then what it gathers."""
    spec, params = step.spec, step.params
    slots = Slots.of(spec)
    outer = list(_outer(spec, params))
    moved = {a for a, _by in spec.moved}
    found = []
    for i, a in enumerate(spec.args):
        if not a.memory:
            continue
        n = params[S_N] if a.access == "v" and params[slots.inner + i] else 1
        if spec.kind in _ACROSS and params[slots.k + i]:
            n *= params[S_K]
        n *= math.prod([size for size, strides in outer if strides[i] or i in moved])
        found.append(Traffic(a.role, a.dtype.name, n, n * a.dtype.size))
    elements, once = _times(step)
    for prim, _attrs, _ops, dtype, level in spec.instrs:
        if prim is GATHER:
            n = elements if level == "F" else once
            found.append(Traffic("in", dtype.name, n, n * dtype.size))
    for value, target in spec.stores:
        if spec.args[target].role == "target":
            dtype = spec.operand_dtype(value)
            found.append(Traffic("out", dtype.name, elements, elements * dtype.size))
    return found


_ACROSS = ("col", "short")
"""Kinds whose reduced axis is not the inner one."""


def _times(step: LoopStep) -> tuple[int, int]:
    """How often an instruction of level 'F', and one of level 'O', runs."""
    spec, params = step.spec, step.params
    rows = math.prod([size for size, _ in _outer(spec, params)])
    if spec.kind in _ACROSS:
        return rows * params[S_N] * params[S_K], rows * params[S_N]
    return rows * params[S_N], rows


def _outer(spec: KernelSpec, params: list[int]) -> Iterator[tuple[int, list[int]]]:
    """(size, stride of each argument) of the outer loop dimensions."""
    slots = Slots.of(spec)
    for d in range(params[S_ND]):
        at = slots.outer + d * slots.row
        yield params[at], params[at + 1:at + slots.row]


def _loop_work(step: LoopStep) -> Work:
    spec = step.spec
    read = written = 0
    for t in traffic(step):
        if t.role == "out":
            written += t.nbytes
        else:
            read += t.nbytes
    elements, once = _times(step)
    flops, instructions = 0, 0.0
    for prim, attrs, ops, dtype, level in spec.instrs:
        accumulates = prim.reduction is not None
        times = elements if level == "F" or accumulates else once
        wide = 2 if dtype.compute in ("f64", "i64", "u64", "c64") else 1
        if accumulates:
            flops += times if spec.operand_dtype(ops[0]).compute in (*FLOATS, "c64") else 0
            instructions += times * wide
            continue
        types = tuple([spec.operand_dtype(o).compute for o in ops])
        flops += times * body_flops(prim, attrs, types)
        instructions += times * wide * instr_cost(spec, prim, attrs, ops)
    return Work(read, written, flops, instructions)


def _product_work(step: ProductStep) -> Work:
    n = step.node
    size, k = n.dtype.size, n.inputs[0].shape[-1]
    m, columns = n.shape[-2:]
    distinct = [math.prod([d for d, s in zip(n.shape[:-2], strides[:-2]) if s])
                for _token, _offset, strides in (step.a, step.b)]
    out = n.size * size
    flops = 2 * n.size * k * (4 if n.dtype.is_complex else 1)
    wide = 2 if n.dtype.size == 8 else 1
    own = Work(size * k * (distinct[0] * m + distinct[1] * columns), out, flops,
               wide * flops / 2, flops)
    if step.epilogue is None:
        return own
    after = _loop_work(step.epilogue)
    # The epilogue finds the product in cache, and overwrites it or stores elsewhere.
    read = after.read - (out if step.c in step.epilogue.reads else 0)
    assert step.group is not None
    kept = out if step.node in step.group.outputs else 0
    return Work(own.read + max(read, 0), max(after.written, 0) + kept, flops + after.flops,
                own.instructions + after.instructions, flops)


_FLOPS = {"add": 1, "sub": 1, "mul": 1, "div": 1, "sqrt": 1, "fma": 2}


@lru_cache(maxsize=4096)
def body_flops(prim: Prim, attrs: tuple[Any, ...], types: tuple[str, ...]) -> int:
    """Floating-point operations of an elementwise body on operands of these compute types."""
    if prim.body is None:
        return 0
    roots = roots_of(prim.body(*[operand_value(t) for t in types], *attrs))
    return sum(_FLOPS.get(v.op, 0) for v in toposort(roots) if v.ty in FLOATS)
