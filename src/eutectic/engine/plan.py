"""Plans: the steps of a graph with memory assigned, run by one native call.

Buffers of a plan, in order: inputs, results (fresh at each call), and one arena that holds every
temporary at an offset chosen by lifetime, so that temporaries share memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol

import numpy as np

from eutectic.codegen import matmul
from eutectic.dtype import Dtype
from eutectic.engine.host import host_target
from eutectic.engine.kernels import Loaded, load_kernel, load_support
from eutectic.engine.control import PythonBranch, PythonRepeat, branch, repeat
from eutectic.engine.lower import CompileBody, Lowering
from eutectic.engine.steps import (
    BranchStep, CallStep, LoopStep, NativeStep, ProductStep, RepeatStep, Step, Token)
from eutectic.graph.ir import Graph, Node
from eutectic.graph.layout import Data, is_row_major, row_major, view_layout
from eutectic.graph.passes.fuse import Fusion
from eutectic.runtime import buffers, driver, jit, pool
from eutectic.runtime.driver import CALL, NESTED, RANGE, NativePlan

_ALIGN = 64
SHARED_RESULT = 1024
"""Results up to this many bytes share buffers of one call, which live until the last of them."""
SHARED_BUFFER = 16 << 10
"""Bytes of such a buffer: what one small array that is kept can keep alive at most."""


@dataclass(frozen=True, slots=True)
class Result:
    """Where an output lies: buffer index, byte offset, strides (None: row-major)."""

    buffer: int
    offset: int
    strides: tuple[int, ...] | None


@dataclass(slots=True)
class Plan:
    """A graph ready to run. `run` takes input addresses and returns the plan's buffers."""

    n_inputs: int
    fresh: list[int]
    """Bytes of each result buffer."""
    arena: int
    """Bytes of temporaries."""
    results: list[Result]
    segments: list[Segment]
    steps: list[Step]
    kernels: list[Loaded]
    scalar_inputs: int = 0
    keep: list[Any] = field(default_factory=list)
    """Tables that parameter blocks point to."""
    code: dict[str, int] = field(default_factory=dict)
    """Bytes of machine code that the steps run, by the name of its module."""
    native_plan: NativePlan | None = None
    """The plan's only segment, where no step calls a Python library."""
    address: int = 0
    _runner: Callable[[int, list[int]], None] | None = None

    @property
    def native_run(self) -> Callable[[int, list[int]], None] | None:
        """The native function that runs `address`; None where a step calls a Python library."""
        return driver.entries().run_list if self.native_plan is not None else None

    def run(self, addresses: list[int]) -> list[Any]:
        """Run on input addresses (and scalar patterns); returns the fresh result buffers."""
        alloc = buffers.alloc
        made = [alloc(n) for n in self.fresh]
        for b in made:
            addresses.append(b.ptr)
        if self.arena:
            arena = alloc(self.arena)
            addresses.append(arena.ptr)
        run = self._runner
        if run is None and self.native_plan is not None:
            found = driver.ready()
            if found is not None:
                run = self._runner = found.run_list
        if run is not None:
            run(self.address, addresses)
        else:
            for segment in self.segments:
                segment.run_list(addresses)
        return made


@dataclass(slots=True)
class _PythonCall:
    """A step that calls a Python library on NumPy views of its operands."""

    node: Node
    operands: list[tuple[int, int, tuple[int, ...]]]
    """(buffer index, byte offset, strides in elements)."""
    out: tuple[int, int]

    def run_list(self, addresses: list[int]) -> None:
        n = self.node
        views = []
        for operand, (b, offset, strides) in zip(n.inputs, self.operands):
            views.append(_view(addresses[b] + offset, operand.shape, strides, operand.dtype, True))
        out = _view(addresses[self.out[0]] + self.out[1], n.shape, row_major(n.shape), n.dtype,
                    False)
        assert n.prim.call is not None
        out[...] = n.prim.call(*views, *n.attrs)


class _Memory:
    """Memory at an address, for NumPy to look at."""

    __slots__ = ("__array_interface__",)
    __array_interface__: dict[str, Any]


def _view(address: int, shape: tuple[int, ...], strides: tuple[int, ...], d: Dtype,
          readonly: bool) -> np.ndarray:
    m = _Memory()
    m.__array_interface__ = {"shape": shape, "typestr": d.np.str, "data": (address, readonly),
                             "version": 3, "strides": tuple([s * d.size for s in strides])}
    return np.asarray(m)


Segment = NativePlan | _PythonCall | PythonRepeat | PythonBranch
"""A part of a plan: one native call, or what has to come back to Python."""


def build_plan(graph: Graph, fusion: Fusion, strides_of: Callable[[Node], tuple[int, ...]],
               compile_body: CompileBody, scalar_inputs: Sequence[Node] = (),
               separate: bool = False) -> Plan:
    """Lower a fused graph, assign memory, load its kernels.

    `scalar_inputs` are constants whose bit patterns come with each call, after the inputs. Where
    results are `separate`, result i has fresh buffer i to itself.
    """
    threads = pool.get_num_threads()  # once: another thread may change it
    steps = Lowering(fusion, strides_of, compile_body, threads).run()
    return Builder(graph, fusion, steps, strides_of, scalar_inputs, separate, threads).build()


class Builder:
    """Gives the steps of a graph their memory and makes a plan of them."""

    def __init__(self, graph: Graph, fusion: Fusion, steps: list[Step],
                 strides_of: Callable[[Node], tuple[int, ...]],
                 scalar_inputs: Sequence[Node], separate: bool, threads: int) -> None:
        self.separate = separate
        self.graph = graph
        self.fusion = fusion
        self.steps = steps
        self.strides_of = strides_of
        self.buffer: dict[Token, tuple[int, int]] = {}
        """(buffer index, byte offset) by token."""
        self.fresh: list[int] = []
        self.scalars = {n.attrs[0]: i + len(graph.inputs) for i, n in enumerate(scalar_inputs)}
        self.n_scalars = len(scalar_inputs)
        self.shared: int | None = None
        """The buffer of small results that has room, among `fresh`."""
        self.kernels: list[Loaded] = []
        self.keep: list[Any] = []
        self.code: dict[str, int] = {}
        self.nbytes: dict[Token, int] = {}
        self.threads = threads

    def build(self) -> Plan:
        for s in self.steps:
            if isinstance(s, ProductStep):
                self._workspace(s)
        results, arena = self.assign()
        segments = self._segments()
        plan = Plan(len(self.graph.inputs), self.fresh, arena, results, segments, self.steps,
                    self.kernels, self.n_scalars, self.keep, self.code)
        if len(segments) == 1 and isinstance(segments[0], NativePlan):
            plan.native_plan = segments[0]
            plan.address = segments[0].address
        return plan

    # -- memory ---------------------------------------------------------------------------------

    def assign(self) -> tuple[list[Result], int]:
        """Give every array its place: the results, and the bytes of the arena."""
        for i, n in enumerate(self.graph.inputs):
            self.buffer[id(n)] = (i, 0)
        results = self._results()
        first_temp = len(self.graph.inputs) + self.n_scalars + len(self.fresh)
        return results, self._temporaries(first_temp)

    def _results(self) -> list[Result]:
        """Give each stored output its buffer; views of it share that."""
        out: list[Result] = []
        index = len(self.graph.inputs) + self.n_scalars
        for o in self.graph.outputs:
            chain = []
            base = o
            while base.prim.family == "view" and base.data is None:
                chain.append(base)
                base = base.inputs[0]
            if id(base) not in self.buffer:
                self.buffer[id(base)] = self._place(index, base.size * base.dtype.size)
            offset, strides = 0, self.strides_of(base)
            for v in reversed(chain):
                found = view_layout(v, offset, strides)
                assert found is not None, "output views are made storable before fusion"
                offset, strides = found
            b = self.buffer[id(base)]
            plain = is_row_major(o.shape, strides)
            out.append(Result(b[0], b[1] + offset * o.dtype.size, None if plain else strides))
        return out

    def _place(self, first: int, nbytes: int) -> tuple[int, int]:
        """(buffer index, offset) for a result. Small results share buffers: one costs 0.5 us."""
        if nbytes > SHARED_RESULT or self.separate:
            self.fresh.append(nbytes)
            return first + len(self.fresh) - 1, 0
        if self.shared is None or self.fresh[self.shared] + nbytes > SHARED_BUFFER:
            self.shared = len(self.fresh)
            self.fresh.append(0)
        at = self.fresh[self.shared]
        self.fresh[self.shared] = at + -(-nbytes // _ALIGN) * _ALIGN
        return first + self.shared, at

    def _workspace(self, s: ProductStep) -> None:
        variant, (m, n, k, batch) = _variant(s.node), _sizes(s.node)
        size = matmul.workspace_bytes(variant, host_target(), m, n, k, batch, self.threads)
        if size:
            token = min([0, *s.scratch, *(t for x in self.steps for t in _tokens(x))]) - 1
            s.scratch[token] = size + 64
            s.reads.append(token)

    def _temporaries(self, index: int) -> int:
        """Offsets in the arena, first fit by lifetime; returns its size."""
        first: dict[Token, int] = {}
        last: dict[Token, int] = {}
        size: dict[Token, int] = {}
        for i, s in enumerate(self.steps):
            own = s.scratch if not isinstance(s, CallStep) else {}
            size.update(own)
            for t in (*s.reads, *s.writes, *own):
                first.setdefault(t, i)
                last[t] = i
        by_id = {id(m): m for g in self.fusion.groups for m in g.members}
        self.nbytes = dict(size)
        live: list[tuple[int, int, int]] = []  # (offset, end, last step)
        total = 0
        for t in sorted(first, key=lambda t: first[t]):
            if t in self.buffer:
                continue
            nbytes = size.get(t)
            if nbytes is None:
                n = by_id[t]
                nbytes = n.size * n.dtype.size
            self.nbytes[t] = nbytes
            nbytes = -(-max(nbytes, 1) // _ALIGN) * _ALIGN
            live = [x for x in live if x[2] >= first[t]]
            live.sort()
            at = 0
            for start, end, _last in live:
                if start - at >= nbytes:
                    break
                at = max(at, end)
            live.append((at, at + nbytes, last[t]))
            self.buffer[t] = (index, at)
            total = max(total, at + nbytes)
        return total

    # -- steps ----------------------------------------------------------------------------------

    def _segments(self) -> list[Segment]:
        segments: list[Segment] = []
        run: list[driver.Step] = []
        together: list[LoopStep] = []  # the last steps of `run`, none of which needs another
        for s in self.steps:
            if isinstance(s, CallStep):
                if s.node.prim.family == "place":
                    continue
                if run:
                    segments.append(NativePlan(run, threads=self.threads))
                    run = []
                operands = []
                for operand, (t, offset, strides) in zip(s.node.inputs, s.operands):
                    b, at = self.buffer[t]
                    operands.append((b, at + offset * operand.dtype.size, strides))
                segments.append(_PythonCall(s.node, operands, self.buffer[id(s.node)]))
                together = []
            elif isinstance(s, (RepeatStep, BranchStep)):
                step, otherwise = (repeat(s, self.buffer) if isinstance(s, RepeatStep)
                                   else branch(s, self.buffer))
                for body in [s.body] if isinstance(s, RepeatStep) else s.bodies:
                    self.kernels += body.kernels
                    self.keep.append(body)
                if step is not None:
                    run.append(step)
                elif otherwise is not None:
                    if run:
                        segments.append(NativePlan(run, threads=self.threads))
                        run = []
                    segments.append(otherwise)
            elif isinstance(s, NativeStep):
                run += self._native(s)
            elif isinstance(s, LoopStep):
                made = self._loop(s, len(run))
                alone = len(made) > 1 or s.serial
                if not alone and self._independent(s, together):
                    if together:
                        run[-1] = replace(run[-1], independent=True)
                    together.append(s)
                else:
                    together = [] if alone else [s]
                run += made
                continue
            else:
                run += self._product(s, len(run))
            together = []
        if run or not segments:
            segments.append(NativePlan(run, threads=self.threads))
        return segments

    def _independent(self, s: LoopStep, others: list[LoopStep]) -> bool:
        """Whether a step touches no memory that one of the others writes, and the reverse."""
        for o in others:
            both = s.joins & o.joins  # their parts of it do not overlap
            own, others_own = ([t for t in (*x.writes, *x.scratch) if t not in both]
                               for x in (s, o))
            if (self._overlap(own, [*o.reads, *o.writes, *o.scratch])
                    or self._overlap([*both], [*o.reads, *others_own])
                    or self._overlap(others_own, s.reads)):
                return False
        return True

    def _overlap(self, some: Sequence[Token], others: Sequence[Token]) -> bool:
        spans = [(*self.buffer[t], self.nbytes.get(t, 1 << 62)) for t in others]
        for t in some:
            b, at = self.buffer[t]
            end = at + self.nbytes.get(t, 1 << 62)
            if any(b == c and at < o + n and o < end for c, o, n in spans):
                return True
        return False

    def patches(self, patches: Sequence[tuple[int, Token, int]]) -> list[tuple[int, int, int]]:
        out = []
        for slot, token, offset in patches:
            b, at = self.buffer[token]
            out.append((slot, b, at + offset))
        return out

    def all_patches(self, s: LoopStep) -> list[tuple[int, int, int]]:
        """Words of a step's parameters that a call gives; writes the constants among the others."""
        patches = self.patches(s.patches)
        for slot, c in s.scalar_slots:
            if c.attrs[0] < 0:
                patches.append((slot, self.scalars[c.attrs[0]], 0))
            else:
                s.params[slot] = c.attrs[0]
        return patches

    def _loop(self, s: LoopStep, at: int, epilogue: bool = False) -> list[driver.Step]:
        kernel = load_kernel(s.spec)
        self.kernels.append(kernel)
        self.code[kernel.name] = kernel.nbytes
        patches = self.all_patches(s)
        if epilogue:
            # Runs nothing itself: it only has its parameters filled in.
            return [driver.Step(CALL, _noop(), s.params, 0, 1, patches)]
        kind = CALL if s.serial else RANGE
        main = driver.Step(kind, kernel.main, s.params, s.n, s.grain, patches)
        if s.finish_rows:
            end = driver.Step(CALL, kernel.finish, s.params, s.finish_rows, 1, patches)
            return [main, end]
        return [main]

    def _native(self, s: NativeStep) -> list[driver.Step]:
        code = s.code
        names = [r.fn for r in code.ranges]
        pool.native()
        load_support()
        module = jit.compile_module(code.text, names)
        self.code[module.key] = module.nbytes
        patches = [(slot, t, offset * operand.dtype.size) for slot, (t, offset, _s), operand in zip(
            code.operands, s.operands, s.node.inputs)]
        patches.append((code.out, id(s.node), 0))
        patches += [(slot, t, 0) for (slot, _size), t in zip(code.scratch, s.scratch)]
        where = self.patches(patches)
        return [driver.Step(RANGE, module[r.fn], code.params, r.n, r.grain, where)
                for r in code.ranges]

    def _product(self, s: ProductStep, at: int) -> list[driver.Step]:
        n = s.node
        variant, (m, cols, k, batch) = _variant(n), _sizes(n)
        target = host_target()
        text, entry = matmul.emit(variant, target)
        module = _product_code(text, entry)
        self.code[module.key] = module.nbytes
        steps: list[driver.Step] = []
        refs: list[tuple[int, int]] = []
        epilogue = 0
        if s.epilogue is not None:
            steps = self._loop(s.epilogue, at, epilogue=True)
            refs = [(int(matmul.Slot.EPILOGUE_PARAMS), at)]
            epilogue = self.kernels[-1].main
        offsets = []
        for _token, _offset, strides in (s.a, s.b):
            offsets.append(self._offsets(n.shape[:-2], strides[:-2]))
        params = matmul.params(
            variant, target, m, cols, k, a_strides=(s.a[2][-2], s.a[2][-1]),
            b_strides=(s.b[2][-2], s.b[2][-1]), batch=batch, a_offsets=offsets[0],
            b_offsets=offsets[1], epilogue=epilogue, threads=self.threads)
        item = n.dtype.size
        patches = self.patches([(int(matmul.Slot.A), s.a[0], s.a[1] * item),
                                (int(matmul.Slot.B), s.b[0], s.b[1] * item),
                                (int(matmul.Slot.C), s.c, 0)])
        workspace = [t for t in s.scratch if t not in (s.c,) and t in s.reads]
        if workspace:
            patches += self.patches([(int(matmul.Slot.WORKSPACE), workspace[-1], 0)])
        steps.append(driver.Step(NESTED, module[entry], params, 1, 1, patches, param_refs=refs))
        return steps

    def _offsets(self, batch: tuple[int, ...], strides: tuple[int, ...]) -> int:
        if not batch or math.prod(batch) == 1:
            return 0
        table = np.zeros(batch, np.int64)
        for axis, (d, s) in enumerate(zip(batch, strides)):
            table += (np.arange(d) * s).reshape([-1 if i == axis else 1
                                                 for i in range(len(batch))])
        table = np.ascontiguousarray(table)
        self.keep.append(table)
        return int(table.ctypes.data)


def _tokens(s: Step) -> list[Token]:
    own = [] if isinstance(s, CallStep) else list(s.scratch)
    return [*s.reads, *s.writes, *own]


def _variant(n: Node) -> matmul.MatmulVariant:
    m, cols, k, _batch = _sizes(n)
    return matmul.MatmulVariant(n.dtype.name, matmul.select(m, cols, k))


def _sizes(n: Node) -> tuple[int, int, int, int]:
    return n.shape[-2], n.shape[-1], n.inputs[0].shape[-1], math.prod(n.shape[:-2])


def product_text(n: Node) -> str:
    """The LLVM module of a matrix product, for reading."""
    return matmul.emit(_variant(n), host_target())[0]


_products: dict[str, jit.CompiledModule] = {}


def _product_code(text: str, entry: str) -> jit.CompiledModule:
    if entry not in _products:
        pool.native()
        _products[entry] = jit.compile_module(text, [entry])
    return _products[entry]


@cache
def _noop() -> int:
    text = "define void @eutectic_noop(ptr %p, i64 %lo, i64 %hi, i64 %tid) {\n  ret void\n}"
    return jit.compile_module(text, ["eutectic_noop"])["eutectic_noop"]


class Placed(Protocol):
    """A plan as far as its results' places go."""

    n_inputs: int
    scalar_inputs: int
    results: list[Result]


def result_data(plan: Placed, inputs: Sequence[Data], fresh: Sequence[Any], i: int) -> Data:
    """The memory of output i of a finished run."""
    r = plan.results[i]
    if r.buffer < plan.n_inputs:
        given = inputs[r.buffer]
        return Data(given.buffer, given.offset + r.offset, r.strides)
    return Data(fresh[r.buffer - plan.n_inputs - plan.scalar_inputs], r.offset, r.strides)

