"""The benchmark that `eutectic measure` runs: serial tanh on a square array, and its sweep."""

from __future__ import annotations

from collections.abc import Callable

import eutectic.core as mx
from eutectic.graph.ir import USER_FILES

USER_FILES.add(__file__)

REFERENCE = {
    "machine": "M3 Ultra Studio, mlx 0.31.2, 2026-05-03", "shape": (512, 512), "loops": 20,
    "plain_ms": 0.969, "compiled_ms": 0.305, "speedup": 3.18,
}
"""The numbers published with the benchmark."""


def heavy_of(loops: int = 20) -> Callable[[mx.array], mx.array]:
    """The function of the benchmark, with `loops` operations of tanh in a row.

    >>> heavy_of(2)(mx.zeros((2, 2)))
    array(0.00800399, dtype=float32)
    """
    def heavy(x: mx.array) -> mx.array:
        y = x
        for _ in range(loops):
            y = mx.tanh(y * 1.001 + 0.001)
        return y.sum()

    return heavy


def data(n: int = 512) -> mx.array:
    """Its input: normal numbers of shape (n, n), the same each time."""
    return mx.random.normal((n, n), key=mx.random.key(0))
