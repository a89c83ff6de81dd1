"""What a compiled training step costs beside its kernels, by the number of parameters.

    python benchmarks/training_state.py [PARAMETERS ...]

The parameters have four elements each; Adam keeps two arrays more for each. Shown for state that is
declared (`inputs=`, `outputs=`) and for state that is captured: the call, its kernels alone (the
median of the same plan's runs), the difference, and `mx.eval` of model and optimizer afterwards.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import eutectic.core as mx
import eutectic.nn as nn
import eutectic.optimizers as optim

ROUNDS = 50


class Scales(nn.Module):
    """Many small layers of one parameter."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.layers = [nn.RMSNorm(4) for _ in range(count)]

    def __call__(self, x: mx.array) -> mx.array:
        for layer in self.layers:
            x = x + layer.weight
        return x


def median_us(action: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def measure(count: int, declared: bool) -> tuple[float, float, float]:
    """Microseconds of the call, of its plan, and of `eval`."""
    model, optimizer = Scales(count), optim.Adam(1e-3)
    optimizer.init(model.trainable_parameters())
    mx.eval(model, optimizer.state)
    x = mx.ones(4)

    def step(x: mx.array) -> mx.array:
        value, grads = nn.value_and_grad(model, lambda x: model(x).sum())(x)
        optimizer.update(model, grads)
        return value

    state = [model.state, optimizer.state]
    compiled: Any = mx.compile(step, **dict(inputs=state, outputs=state) if declared else {})
    for _ in range(4):
        compiled(x)
    entry = compiled.entries()[-1]
    assert entry.native is not None, "no native call here"
    call = median_us(lambda: compiled(x))
    evaluation = median_us(lambda: mx.eval(model, optimizer.state))
    found = compiled.reader.read((x,), {})
    nodes = [found.arrays[i]._n for i in entry.traced.used] + entry.traced.captured
    addresses = [n.data.buffer.ptr + n.data.offset for n in nodes]
    return call, median_us(lambda: entry.plan.run(addresses)), evaluation


def main(counts: list[int]) -> None:
    print("parameters  state     call us  kernels us  beside us  eval us")
    for count in counts:
        for declared in (True, False):
            call, kernels, evaluation = measure(count, declared)
            name = "declared" if declared else "captured"
            print(f"{count:10d}  {name:8s} {call:8.0f} {kernels:11.0f} {call - kernels:10.0f} "
                  f"{evaluation:8.0f}")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [100, 300, 1000])
