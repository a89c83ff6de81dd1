"""Plans for an NVIDIA GPU: the steps of a graph as kernels there, run by one launch a call.

The graph goes through the same passes as for the CPU, is fused and lowered to the same steps and
parameter blocks, and its memory is assigned alike. All parameter blocks of a plan lie side by side
in the GPU's memory; a call fills in the addresses of its arrays and launches one CUDA graph, which
copies the blocks there and runs the kernels.

A plan runs on the GPU as a whole. What has no kernel there is named by `Refused`.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

from eutectic.codegen.nvptx import product
from eutectic.codegen.nvptx.emit import (
    Launch, emit, emit_product, gpu_spec, is_flat, launches, refusal)
from eutectic.engine.lower import Lowering
from eutectic.engine.pipeline import Record, fused_graph
from eutectic.engine.plan import Builder, Plan, Result
from eutectic.engine.steps import CallStep, LoopStep, ProductStep, Step
from eutectic.errors import DeviceError
from eutectic.graph.ir import Graph, Node
from eutectic.graph.layout import row_major
from eutectic.graph.loops import Body
from eutectic.kernel.spec import KernelSpec
from eutectic.runtime.cuda import driver
from eutectic.runtime.cuda.ptx import ARCHITECTURE, compile_ptx

IN_FLIGHT = 4
"""Launches of a plan on different memory that may wait for the GPU at a time."""


class Refused(DeviceError):
    """A graph that no GPU plan runs; the text names each operation and why."""


@dataclass(frozen=True, slots=True)
class GpuKernel:
    """The code of a kernel: its LLVM text, from which its PTX is made when it is asked for."""

    text: str
    names: list[str]

    def ptx(self, architecture: str = ARCHITECTURE) -> str:
        return compile_ptx(self.text, architecture)


@dataclass(slots=True)
class GpuStep:
    """Launches of one kernel on one parameter block."""

    kernel: GpuKernel
    launches: list[Launch]
    params: list[int]
    patches: list[tuple[int, int, int]]
    """(slot, buffer index, byte offset), as on the CPU."""


@dataclass(slots=True)
class _Recorded:
    """A CUDA graph and the page-locked memory that it copies parameter blocks from."""

    graph: driver.Graph
    blocks: driver.HostBuffer
    addresses: list[int]
    done: driver.Event


@dataclass(slots=True)
class GpuPlan:
    """A graph ready to run on the GPU. Buffers are numbered as in `Plan`."""

    n_inputs: int
    fresh: list[int]
    arena: int
    results: list[Result]
    steps: list[GpuStep]
    scalar_inputs: int = 0
    _params: driver.DeviceBuffer | None = None
    _functions: list[list[int]] = field(default_factory=list)
    _recorded: list[_Recorded] = field(default_factory=list)
    _arenas: driver.DeviceBuffer | None = None

    def run(self, addresses: list[int]) -> list[driver.DeviceBuffer]:
        """Run on input addresses (and scalar patterns), all work before; the result buffers.

        Returns when the work is given to the GPU's stream.
        """
        made = [driver.DeviceBuffer(n) for n in self.fresh]
        everything = addresses + [b.ptr for b in made]
        if self.arena:
            if self._arenas is None:  # one: calls come one after another in the stream
                self._arenas = driver.DeviceBuffer(self.arena)
            everything.append(self._arenas.ptr)
        if self.steps:
            recorded = self._ready(everything)
            recorded.graph.launch()
            recorded.done.record()
        return made

    def _ready(self, addresses: list[int]) -> _Recorded:
        """A recorded graph with these addresses in its parameter blocks."""
        for r in self._recorded:
            if r.addresses == addresses:
                return r
        found = next((r for r in self._recorded if r.done.reached()), None)
        if found is None and len(self._recorded) < IN_FLIGHT:
            found = self._record()
        elif found is None:
            found = self._recorded[0]
            found.done.wait()
        if found in self._recorded:
            self._recorded.remove(found)
        self._recorded.append(found)
        found.addresses = addresses
        words = (ctypes.c_uint64 * self._words()).from_address(found.blocks.ptr)
        at = 0
        for s in self.steps:
            words[at:at + len(s.params)] = [p & _MASK for p in s.params]
            for slot, buffer, offset in s.patches:
                words[at + slot] = (addresses[buffer] + offset) & _MASK
            at += len(s.params)
        return found

    def _words(self) -> int:
        return sum(len(s.params) for s in self.steps)

    def _record(self) -> _Recorded:
        device = driver.device()
        nbytes = 8 * self._words()
        if self._params is None:
            self._params = driver.DeviceBuffer(nbytes)
            self._functions = [_functions(s.kernel) for s in self.steps]
        params, blocks = self._params, driver.HostBuffer(nbytes)

        def work() -> None:
            driver.call("cuMemcpyHtoDAsync_v2", params.ptr, blocks.ptr, nbytes, device.stream)
            at = params.ptr
            for s, functions in zip(self.steps, self._functions):
                for entry, function in zip(s.launches, functions):
                    driver.launch(function, entry.blocks, entry.threads, entry.shared, at,
                                  entry.total)
                at += 8 * len(s.params)
        return _Recorded(driver.Graph(work), blocks, [], driver.Event())


_MASK = (1 << 64) - 1
_kernels: dict[tuple[KernelSpec, bool], GpuKernel] = {}
_loaded: dict[str, list[int]] = {}


def gpu_kernel(spec: KernelSpec, flat: bool) -> GpuKernel:
    """The code of a `gpu_spec`, made once a process."""
    found = _kernels.get((spec, flat))
    if found is None:
        shape = "flat " if flat else ""
        digest = hashlib.sha256(f"{shape}{spec.text()}".encode()).hexdigest()[:20]
        found = _kernels[spec, flat] = GpuKernel(*emit(spec, f"k_{digest}", flat))
    return found


def _functions(kernel: GpuKernel) -> list[int]:
    """Handles of a kernel's entry points, loaded once a process."""
    found = _loaded.get(kernel.names[0])
    if found is None:
        architecture = driver.device().properties.architecture
        found = driver.load(kernel.ptx(architecture), kernel.names)
        _loaded[kernel.names[0]] = found
    return found


class _GpuBuilder(Builder):
    """Assigns memory as the CPU's builder does, and makes GPU steps."""

    def gpu_plan(self) -> GpuPlan:
        reasons = [f"{_name(s)}: {why}" for s in self.steps if (why := _refusal(s)) is not None]
        if reasons:
            raise Refused(f"[gpu] {'; '.join(dict.fromkeys(reasons))}.")
        results, arena = self.assign()
        steps: list[GpuStep] = []
        for s in self.steps:
            if isinstance(s, LoopStep):
                steps.append(self._gpu_step(s))
            elif isinstance(s, ProductStep):
                steps.append(self._gpu_product(s))
                if s.epilogue is not None:
                    steps.append(self._gpu_step(s.epilogue))
        return GpuPlan(len(self.graph.inputs), self.fresh, arena, results, steps, self.n_scalars)

    def _gpu_step(self, s: LoopStep) -> GpuStep:
        spec = gpu_spec(s.spec)
        kernel = gpu_kernel(spec, is_flat(spec, s.params))
        patches = self.all_patches(s)
        return GpuStep(kernel, launches(spec, kernel.names, s.params, s.n, s.finish_rows),
                       s.params, patches)

    def _gpu_product(self, s: ProductStep) -> GpuStep:
        node = s.node
        item = node.dtype.size
        *lengths, m, n = node.shape
        k = node.inputs[0].shape[-1]
        (_a, _at, steps_a), (_b, _bt, steps_b) = s.a, s.b
        batch = math.prod(lengths)
        p = product.choose(node.dtype.name, m, n, batch, steps_a[-1] == 1, steps_b[-2] == 1)
        params = [0] * (product.BATCH + 3 * len(lengths))
        for slot, value in ((product.M, m), (product.N, n), (product.K, k),
                            (product.DIMS, len(lengths)), (product.A_ROW, steps_a[-2] * item),
                            (product.A_DEPTH, steps_a[-1] * item),
                            (product.B_DEPTH, steps_b[-2] * item),
                            (product.B_COLUMN, steps_b[-1] * item)):
            params[slot] = value
        for axis, length in enumerate(lengths):
            at = product.BATCH + 3 * axis
            params[at:at + 3] = length, steps_a[axis] * item, steps_b[axis] * item
        kernel = _product_kernel(p)
        blocks = product.blocks(p, m, n, batch)
        return GpuStep(kernel, [Launch(kernel.names[0], blocks, product.THREADS, p.shared, 0)],
                       params, self.patches([(product.A, s.a[0], s.a[1] * item),
                                             (product.B, s.b[0], s.b[1] * item),
                                             (product.C, s.c, 0)]))


@cache
def _product_kernel(p: product.Product) -> GpuKernel:
    name = f"product_{p.dtype}_{p.side}_{int(p.a_deep)}{int(p.b_deep)}"
    return GpuKernel(*emit_product(p, name))


def _refusal(s: Step) -> str | None:
    if isinstance(s, LoopStep):
        return refusal(s.spec)
    if isinstance(s, ProductStep):
        if not s.node.dtype.is_float:
            return "a product of integers has no GPU kernel"
        if not s.node.inputs[0].shape[-1]:
            return "a product over no elements has no GPU kernel"
        return None if s.epilogue is None else refusal(s.epilogue.spec)
    if isinstance(s, CallStep) and s.node.prim.family == "place":
        return None
    return "it has no GPU kernel"


def _name(s: Step) -> str:
    if isinstance(s, LoopStep):
        return " ".join(dict.fromkeys([i[0].name for i in s.spec.instrs])) or "copy"
    return s.node.prim.name


def compile_for_gpu(graph: Graph, record: Record | None = None, fused: bool = True,
                    strides_of: Callable[[Node], tuple[int, ...]] | None = None,
                    scalar_inputs: Sequence[Node] = ()) -> GpuPlan:
    """Run all passes on a graph and return its GPU plan; it needs no GPU until it runs.

    Raises `Refused` where an operation has no GPU kernel.
    """
    record = Record() if record is None else record
    strides = strides_of or (lambda n: row_major(n.shape))
    graph = fused_graph(graph, record, fused, strides)
    assert record.fusion is not None
    steps = Lowering(record.fusion, strides, _no_body, 1).run()
    return _GpuBuilder(graph, record.fusion, steps, strides, scalar_inputs, False, 1).gpu_plan()


def _no_body(n: Node, body: Body, strides: Sequence[tuple[int, ...]]) -> Plan:
    raise Refused(f"[gpu] {n.prim.name}: it has no GPU kernel.")
