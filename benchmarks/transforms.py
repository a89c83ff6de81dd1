"""What derivatives and vectorisation cost in Python: a training step, and very long chains.

    python benchmarks/transforms.py [--length 40000]

The training step is `gpt_train` of workloads.py, its gradient and Adam included. Chains are
`for _ in range(length): x = x + 1.0`, and the same with a product.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import eutectic.core as mx
import frameworks
from workloads import WORKLOADS

TRACE_BAR = 0.150
"""Seconds for the trace and gradient of the training step."""
CHAIN_BAR = 10.0
"""Seconds for anything done with a chain of 40,000 operations."""


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def report(what: str, spent: float, bar: float | None = None) -> None:
    limit = "" if bar is None else f"  bar {bar * 1e3:.0f}  {'ok' if spent <= bar else 'MISSED'}"
    print(f"{what:54s} {spent * 1e3:9.1f} ms{limit}")


def training_step() -> None:
    step, args = WORKLOADS["gpt_train"](frameworks.load("eutectic"))
    report("gpt_train: recorded with its gradient, first time", seconds(lambda: step(*args)),
           TRACE_BAR)
    times = [seconds(lambda: step(*args)) for _ in range(9)]
    report("gpt_train: recorded with its gradient", statistics.median(times), TRACE_BAR)
    compiled = mx.compile(step)
    report("gpt_train: first compiled call", seconds(lambda: mx.eval(compiled(*args))))
    times = [seconds(lambda: mx.eval(compiled(*args))) for _ in range(5)]
    report("gpt_train: compiled call", statistics.median(times))
    traces = mx.compile_stats(compiled).traces
    print(f"gpt_train: traces in 6 calls: {traces}{'' if traces == 1 else '  MISSED'}")


def chains(length: int) -> None:
    def add(x: mx.array) -> mx.array:
        for _ in range(length):
            x = x + 1.0
        return x

    def multiply(x: mx.array) -> mx.array:
        for _ in range(length):
            x = x * 1.0001
        return x

    x = mx.array([1.0, 2.0])
    for name, f in (("additions", add), ("products", multiply)):
        gradient = mx.grad(lambda x, f=f: f(x).sum())
        for what, call in (
                ("plain", lambda f=f: mx.eval(f(x))),
                ("recorded and freed", lambda f=f: f(x)),
                ("compiled", lambda f=f: mx.eval(mx.compile(f)(x))),
                ("gradient", lambda g=gradient: mx.eval(g(x))),
                ("gradient, compiled", lambda g=gradient: mx.eval(mx.compile(g)(x))),
                ("jvp", lambda f=f: mx.eval(mx.jvp(f, [x], [x])[1])),
                ("vmap", lambda f=f: mx.eval(mx.vmap(f)(x)))):
            report(f"{length} {name}: {what}", seconds(call), CHAIN_BAR)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=40_000)
    options = parser.parse_args()
    training_step()
    chains(options.length)
