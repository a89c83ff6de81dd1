"""Compiled functions on an NVIDIA GPU: the GPU plan of a call, and the arrays that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eutectic.engine.gpu import GpuPlan, compile_for_gpu
from eutectic.engine.plan import result_data
from eutectic.graph.layout import Data, row_major
from eutectic.runtime import buffers
from eutectic.runtime.cuda import driver
from eutectic.tracing.entry import Traced
from eutectic.tracing.function import CompiledFunction


@dataclass(slots=True)
class GpuCall:
    """A call of a compiled function on the GPU, with arguments that stay the same."""

    traced: Traced
    plan: GpuPlan
    inputs: list[Data]
    """The memory of the plan's inputs on the CPU."""

    @staticmethod
    def of(function: CompiledFunction, *args: Any) -> GpuCall:
        """Trace and plan a call; no GPU is needed. Raises `Refused` where there is no plan."""
        entry = function.lower(*args)
        call = function.reader.read(args, {})
        traced = entry.traced
        datas = [n.data for n in [*[call.nodes[i] for i in traced.used], *traced.captured]]
        graph = entry.record.graphs[0][1]
        strides = {id(n): d.strides_of(n.shape) for n, d in zip(graph.inputs, datas)}
        plan = compile_for_gpu(graph, strides_of=lambda n: strides.get(id(n)) or row_major(n.shape))
        return GpuCall(traced, plan, datas)

    def upload(self) -> list[driver.DeviceBuffer]:
        """Copies of the inputs' memory on the GPU."""
        there = [driver.DeviceBuffer(d.buffer.nbytes) for d in self.inputs]
        for d, b in zip(self.inputs, there):
            b.write(d.buffer.ptr)
        return there

    def run(self, there: Sequence[driver.DeviceBuffer]) -> list[driver.DeviceBuffer]:
        """Start a call on uploaded inputs; the plan's result buffers."""
        return self.plan.run([b.ptr + d.offset for d, b in zip(self.inputs, there)])

    def download(self, made: Sequence[driver.DeviceBuffer]) -> list[Data]:
        """The memory of the graph's outputs on the CPU, once they are computed."""
        here = [buffers.alloc(b.nbytes) for b in made]
        for b, host in zip(made, here):
            b.read(host.ptr, b.nbytes)
        return self.outputs(here)

    def outputs(self, made: Sequence[Any]) -> list[Data]:
        """Where the graph's outputs lie, given the plan's result buffers."""
        plan = self.plan
        return [result_data(plan, self.inputs, made, i) for i in range(len(self.plan.results))]
