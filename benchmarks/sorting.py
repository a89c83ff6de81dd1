"""Sorting beside torch, jax and mlx: milliseconds of a call on 4M elements.

    python benchmarks/sorting.py [--rounds 3] [--only argsort]

How, and what the table shows: `turns.py`. All argsorts are stable. Frameworks that are not
installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
import numpy as np
import turns

FRAMEWORKS = ("eutectic", "torch", "jax", "mlx")
SHAPES = {"one row": (1 << 22,), "1024 rows": (1024, 4096), "65536 rows": (65536, 64)}
DTYPES = ("float32", "int32", "int64", "float16")
KINDS = ("sort", "argsort", "topk")
K = 50


def operand(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    if dtype.startswith("int"):
        half = np.iinfo(dtype).max
        return rng.integers(-half, half, shape).astype(dtype)
    return rng.standard_normal(shape, np.float32).astype(dtype)


def eutectic_call(kind: str, x: np.ndarray) -> Callable[[], object]:
    import eutectic.core as mx

    a = mx.array(x)
    calls: dict[str, Callable[[], Any]] = {
        "sort": lambda: mx.sort(a), "argsort": lambda: mx.argsort(a), "topk": lambda: mx.topk(a, K)}
    run = calls[kind]
    return lambda: mx.eval(run())


def mlx_call(kind: str, x: np.ndarray) -> Callable[[], object]:
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    a = mx.array(x)
    calls: dict[str, Callable[[], Any]] = {
        "sort": lambda: mx.sort(a), "argsort": lambda: mx.argsort(a), "topk": lambda: mx.topk(a, K)}
    run = calls[kind]
    return lambda: mx.eval(run())


def torch_call(kind: str, x: np.ndarray) -> Callable[[], object]:
    import torch

    a = torch.from_numpy(x)
    calls: dict[str, Callable[[], Any]] = {
        "sort": lambda: torch.sort(a).values, "argsort": lambda: torch.argsort(a, stable=True),
        "topk": lambda: torch.topk(a, K).values}
    return calls[kind]


def jax_call(kind: str, x: np.ndarray) -> Callable[[], object]:
    import jax

    jax.config.update("jax_enable_x64", True)
    a = jax.numpy.asarray(x)
    calls: dict[str, Callable[[Any], Any]] = {
        "sort": jax.numpy.sort, "argsort": jax.numpy.argsort,
        "topk": lambda v: jax.lax.top_k(v, K)[0]}
    run = jax.jit(calls[kind])
    return lambda: run(a).block_until_ready()


MAKE = {"eutectic": eutectic_call, "torch": torch_call, "jax": jax_call, "mlx": mlx_call}


def cases(only: str) -> list[tuple[str, str, tuple[int, ...], str]]:
    found = [(f"{kind} {dtype}, {place}", kind, shape, dtype)
             for kind in KINDS for dtype in DTYPES for place, shape in SHAPES.items()]
    return [case for case in found if only in case[0]]


def child(framework: str, only: str) -> None:
    """Measures every case with one framework and reports milliseconds."""
    harness.report({name: harness.median_ms(MAKE[framework](kind, operand(shape, dtype)), 0.5, 3)
                    for name, kind, shape, dtype in cases(only)})


def main() -> None:
    options = turns.parser(__doc__, 3).parse_args()
    if options.one:
        child(options.one, options.only)
        return
    table = turns.measure(__file__, FRAMEWORKS, options)
    turns.show(table, f"{harness.machine()}; 4M elements, {options.rounds} rounds; ms a call")


if __name__ == "__main__":
    main()
