"""Results of a function's GPU plan: on the GPU, or run thread by thread on the CPU."""

from __future__ import annotations

import ctypes

import launch_emulation
import numpy as np

import eutectic.core as mx
from eutectic.runtime import buffers
from eutectic.tracing.gpu import GpuCall


def results(fun, inputs, on_gpu: bool) -> list[bytes]:
    """The bytes of each result, row-major."""
    mx.eval(*inputs)
    call = GpuCall.of(mx.compile(lambda *xs: fun(*xs)), *inputs)
    runs = _on_gpu(call) if on_gpu else [_emulated(call)]
    found = [[_bytes(n, d) for n, d in zip(call.traced.graph.outputs, run)] for run in runs]
    assert all(f == found[0] for f in found)
    return [found[0][x] if type(x) is int else bytes(mx.array(x[1])) for x in call.traced.leaves]


def _bytes(n, d) -> bytes:
    steps = [k * n.dtype.size for k in d.strides_of(n.shape)]
    return np.ascontiguousarray(
        buffers.as_numpy(d.buffer, n.shape, steps, n.dtype.np, d.offset)).tobytes()


def _emulated(call: GpuCall):
    made = [buffers.alloc(n) for n in call.plan.fresh]
    for b in made:  # what is not written shows
        ctypes.memset(b.ptr, 0xA5, b.nbytes)
    arena = buffers.alloc(call.plan.arena)
    addresses = [d.ptr for d in call.inputs] + [b.ptr for b in [*made, arena]]
    for s in call.plan.steps:
        params = list(s.params)
        for slot, buffer, offset in s.patches:
            params[slot] = addresses[buffer] + offset
        launch_emulation.run(s.kernel.text, s.kernel.names, s.launches, params)
    return call.outputs(made)


def _on_gpu(call: GpuCall):
    there = call.upload()
    runs = call.run(there), call.run(there)  # the second takes other memory
    return [call.download(made) for made in runs]

