"""Readers of joined arrays, cut where parts meet, against the joined array stored: microseconds.

    python benchmarks/joining.py [--rounds 15] [--only pad]

Both are compiled functions of one process that take turns; `stored` is compiled with the pass that
cuts kernels (graph/passes/split.py) left out. The table shows medians over the rounds and how many
kernels each has.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import eutectic.core as mx
from eutectic.engine import pipeline
from eutectic.engine.steps import CallStep

_rng = np.random.default_rng(0)


def rand(*shape: int) -> mx.array:
    return mx.array(_rng.standard_normal(shape, np.float32))


def rotated(x: mx.array, c: mx.array, s: mx.array) -> mx.array:
    h = x.shape[-1] // 2
    return x * c + mx.concatenate([-x[..., h:], x[..., :h]], axis=-1) * s


AROUND = [(0, 0), (1, 1), (1, 1), (0, 0)]
CASES: dict[str, tuple[Callable[..., Any], tuple[mx.array, ...]]] = {
    "concatenate 2 x 1M, scaled": (lambda a, b: mx.concatenate([a + 1, b * b]) * 2,
                                   (rand(1 << 20), rand(1 << 20))),
    "concatenate 2 x 1000, scaled": (lambda a, b: mx.concatenate([mx.exp(a), mx.sin(b)]) * 2,
                                     (rand(1000), rand(1000))),
    "concatenate 32 along rows, relu": (lambda *x: mx.maximum(mx.concatenate(list(x), axis=1), 0),
                                        tuple(rand(64, 256) for _ in range(32))),
    "pad 1M, scaled": (lambda a: mx.pad(a, 3) * 2 + 1, (rand(1 << 20),)),
    "pad 30x30, relu": (lambda a: mx.maximum(mx.pad(a, 1), 0) + 1, (rand(30, 30),)),
    "pad 8x112x112x16, relu": (lambda a: mx.maximum(mx.pad(a, AROUND), 0),
                               (rand(8, 112, 112, 16),)),
    "pad edge 2000x500, scaled": (lambda a: mx.pad(a, [(0, 0), (1, 1)], mode="edge") * 2,
                                  (rand(2000, 500),)),
    "pad rows 2000x500, row sums": (lambda a: mx.sum(mx.pad(a, [(1, 1), (0, 0)]), axis=1),
                                    (rand(2000, 500),)),
    "concatenate rows, softmax": (lambda a, b: mx.softmax(mx.concatenate([a, b]), axis=-1),
                                  (rand(2000, 256), rand(1000, 256))),
    "stack 2 x 256k, tanh": (lambda a, b: mx.tanh(mx.stack([a, b])),
                             (rand(1 << 18), rand(1 << 18))),
    "stack pairs 2 x 256k, scaled": (lambda a, b: mx.stack([a, b], axis=-1) * 2,
                                     (rand(1 << 18), rand(1 << 18))),
    "rotate half 8x512x128": (rotated, (rand(8, 512, 128), rand(512, 128), rand(512, 128))),
    "key cache + 1, scaled": (lambda k, n: mx.concatenate([k, n], axis=2) * 0.125,
                              (rand(1, 8, 1024, 64), rand(1, 8, 1, 64))),
    "roll differences 1000x1000": (lambda a: a - mx.roll(a, 1, 0) + mx.roll(a, 1, 1),
                                   (rand(1000, 1000),)),
    "two products side by side + 1": (
        lambda a, b, c: mx.concatenate([a @ b, a @ c], axis=-1) + 1, (rand(256, 256),) * 3),
    "rows of 6 and 10, tanh": (lambda a, b: mx.tanh(mx.concatenate([a, b], axis=-1)),
                               (rand(100_000, 6), rand(100_000, 10))),
}


def compiled(fun: Callable[..., Any], inputs: tuple[mx.array, ...], cuts: int) -> tuple[Any, int]:
    """The compiled function and how many kernels it has."""
    before, pipeline.MAX_CUTS = pipeline.MAX_CUTS, cuts
    try:
        run = mx.compile(fun)
        steps = run.lower(*inputs).plan.steps
        mx.eval(run(*inputs))
    finally:
        pipeline.MAX_CUTS = before
    return run, sum([not isinstance(s, CallStep) for s in steps])


def seconds(run: Any, inputs: tuple[mx.array, ...], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        mx.eval(run(*inputs))
    return (time.perf_counter() - start) / times


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    args = parser.parse_args()
    print(f"{'':34}{'stored':>12}{'cut':>12}{'ratio':>8}   kernels")
    for name, (fun, inputs) in CASES.items():
        if args.only not in name:
            continue
        stored, cut = compiled(fun, inputs, 0), compiled(fun, inputs, pipeline.MAX_CUTS)
        times = max(1, int(0.002 / seconds(cut[0], inputs, 3)))
        found: tuple[list[float], list[float]] = [], []
        for _ in range(args.rounds):
            for (run, _n), ts in zip((stored, cut), found):
                ts.append(seconds(run, inputs, times))
        a, b = (statistics.median(ts) * 1e6 for ts in found)
        print(f"{name:34}{a:12.1f}{b:12.1f}{b / a:8.2f}   {stored[1]} -> {cut[1]}")


if __name__ == "__main__":
    main()
