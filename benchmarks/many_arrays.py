"""Kernels of many arrays with their index in memory, and as LLVM would have it (decision 0013).

    python benchmarks/many_arrays.py [--counts 4,8,...] [--size 4096]

An elementwise function of COUNT arrays of SIZE float32 elements is compiled twice without a disk
cache, once with its index in memory and once without. Shown are milliseconds inside LLVM, and
microseconds of a call on one thread, the least of 20 batches of each in turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import harness
import numpy as np

import eutectic.core as mx
from eutectic.codegen import loop_kernel
from eutectic.config import config
from eutectic.engine import kernels
from eutectic.runtime import diskcache, jit, pool

ROUNDS = 20
COUNTS = "3,7,8,10,12,15,20,40,60"


def made(xs: list[mx.array], hidden: int) -> tuple[Callable[..., Any], float]:
    """A function whose index is hidden above `hidden` arrays, and its milliseconds in LLVM."""
    def fun(*xs: mx.array) -> mx.array:
        a = xs[0]
        for i, x in enumerate(xs[1:]):
            a = a * x + x if i % 2 else a - x
        return a

    loop_kernel.HIDDEN = hidden
    kernels._loaded.clear()
    jit._modules.clear()
    compiled = mx.compile(fun)
    before = jit.stats.llvm_seconds
    mx.eval(compiled(*xs))
    return compiled, (jit.stats.llvm_seconds - before) * 1e3


def microseconds(calls: list[Callable[..., Any]], xs: list[mx.array]) -> list[float]:
    """The least time of a call of each, in turn."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(100):
                call(*xs)
            best[i] = min(best[i], (time.perf_counter() - start) * 1e4)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--counts", default=COUNTS, metavar="N,...")
    parser.add_argument("--size", type=int, default=4096)
    options = parser.parse_args()
    config.disk_cache = False
    diskcache.reset()
    pool.set_num_threads(1)
    print(harness.machine())
    print("arrays | LLVM ms | hidden | us a call | hidden | ratio")
    made([mx.ones((8,))] * 2, 0)  # LLVM is imported once
    for count in [int(n) for n in options.counts.split(",")]:
        rng = np.random.default_rng(count)
        # The result is one of the arrays.
        xs = [mx.array(rng.random(options.size, np.float32)) for _ in range(count - 1)]
        mx.eval(xs)
        (seen, slow), (hidden, fast) = made(xs, 1000), made(xs, 0)
        times = microseconds([seen, hidden], xs)
        print(f"{count} | {slow:.0f} | {fast:.0f} | {times[0]:.2f} | {times[1]:.2f} | "
              f"{times[1] / times[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
