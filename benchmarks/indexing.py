"""Picking and changing elements at integer indices beside torch, jax and mlx: milliseconds a call.

    python benchmarks/indexing.py [--rounds 3] [--only take]

How, and what the table shows: `turns.py`. Plain calls of ours and mlx's, `jax.jit` for jax.
Frameworks that are not installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
import numpy as np
import turns

FRAMEWORKS = ("eutectic", "torch", "jax", "mlx")
N = 4_000_000
ROWS, WIDTH = 100_000, 64
CASES = ("take 4M of 4M", "take 65536 rows of 64", "scatter-add 4M into 4M",
         "scatter-add 65536 rows", "set 4M of 4M", "set by mask 4M", "take along axis 2000x2000",
         "cumsum 4M", "cumsum rows 2000x2000")


def data() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "x": rng.standard_normal(N, np.float32), "v": rng.standard_normal(N, np.float32),
        "i": rng.integers(0, N, N).astype(np.int32),
        "table": rng.standard_normal((ROWS, WIDTH), np.float32),
        "rows": rng.integers(0, ROWS, 65536).astype(np.int32),
        "add": rng.standard_normal((65536, WIDTH), np.float32),
        "mask": rng.random(N) < 0.5,
        "square": rng.standard_normal((2000, 2000), np.float32),
        "order": rng.integers(0, 2000, (2000, 2000)).astype(np.int32),
    }


Calls = dict[str, Callable[[], Any]]


def mlx_like(mx: Any, d: dict[str, np.ndarray]) -> Calls:
    a = {k: mx.array(v) for k, v in d.items()}
    mx.eval(list(a.values()))

    def changed(x: Any, i: Any, value: Any) -> Any:
        y = mx.array(x)
        y[i] = value
        return y

    steps: dict[str, Callable[[], Any]] = {
        "take 4M of 4M": lambda: mx.take(a["x"], a["i"]),
        "take 65536 rows of 64": lambda: a["table"][a["rows"]],
        "scatter-add 4M into 4M": lambda: a["x"].at[a["i"]].add(a["v"]),
        "scatter-add 65536 rows": lambda: a["table"].at[a["rows"]].add(a["add"]),
        "set 4M of 4M": lambda: changed(a["x"], a["i"], a["v"]),
        "set by mask 4M": lambda: changed(a["x"], a["mask"], 0.0),
        "take along axis 2000x2000": lambda: mx.take_along_axis(a["square"], a["order"], 1),
        "cumsum 4M": lambda: mx.cumsum(a["x"]),
        "cumsum rows 2000x2000": lambda: mx.cumsum(a["square"], 1),
    }
    return {k: (lambda f=f: mx.eval(f())) for k, f in steps.items()}


def eutectic_calls(d: dict[str, np.ndarray]) -> Calls:
    import eutectic.core as mx

    return mlx_like(mx, d)


def mlx_calls(d: dict[str, np.ndarray]) -> Calls:
    import mlx.core as mx

    return mlx_like(mx, d)


def torch_calls(d: dict[str, np.ndarray]) -> Calls:
    import torch

    a = {k: torch.from_numpy(v) for k, v in d.items()}
    i64 = {k: a[k].long() for k in ("i", "rows", "order")}  # what it takes everywhere
    return {
        "take 4M of 4M": lambda: torch.take(a["x"], i64["i"]),
        "take 65536 rows of 64": lambda: torch.index_select(a["table"], 0, a["rows"]),
        "scatter-add 4M into 4M": lambda: torch.scatter_add(a["x"], 0, i64["i"], a["v"]),
        "scatter-add 65536 rows": lambda: torch.index_add(a["table"], 0, a["rows"], a["add"]),
        "set 4M of 4M": lambda: torch.scatter(a["x"], 0, i64["i"], a["v"]),
        "set by mask 4M": lambda: torch.masked_fill(a["x"], a["mask"], 0.0),
        "take along axis 2000x2000": lambda: torch.gather(a["square"], 1, i64["order"]),
        "cumsum 4M": lambda: torch.cumsum(a["x"], 0),
        "cumsum rows 2000x2000": lambda: torch.cumsum(a["square"], 1),
    }


def jax_calls(d: dict[str, np.ndarray]) -> Calls:
    import jax
    import jax.numpy as jnp

    a = {k: jnp.asarray(v) for k, v in d.items()}
    steps: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
        "take 4M of 4M": (lambda x, i: jnp.take(x, i, mode="clip"), ("x", "i")),
        "take 65536 rows of 64": (lambda x, i: jnp.take(x, i, 0, mode="clip"), ("table", "rows")),
        "scatter-add 4M into 4M": (lambda x, i, v: x.at[i].add(v, mode="clip"), ("x", "i", "v")),
        "scatter-add 65536 rows": (lambda x, i, v: x.at[i].add(v, mode="clip"),
                                   ("table", "rows", "add")),
        "set 4M of 4M": (lambda x, i, v: x.at[i].set(v, mode="clip"), ("x", "i", "v")),
        "set by mask 4M": (lambda x, m: jnp.where(m, 0.0, x), ("x", "mask")),
        "take along axis 2000x2000": (
            lambda x, i: jnp.take_along_axis(x, i, 1, mode="clip"), ("square", "order")),
        "cumsum 4M": (jnp.cumsum, ("x",)),
        "cumsum rows 2000x2000": (lambda x: jnp.cumsum(x, 1), ("square",)),
    }

    def call(f: Callable[..., Any], names: tuple[str, ...]) -> Callable[[], Any]:
        run = jax.jit(f)
        return lambda: run(*[a[n] for n in names]).block_until_ready()

    return {k: call(*step) for k, step in steps.items()}


def child(framework: str, only: str) -> None:
    """Measures every case with one framework and reports milliseconds."""
    make = {"eutectic": eutectic_calls, "torch": torch_calls, "jax": jax_calls, "mlx": mlx_calls}
    calls = make[framework](data())
    harness.report({name: harness.median_ms(calls[name], 0.7, 5, 60)
                    for name in CASES if only in name})


def main() -> None:
    turns.main(__doc__, __file__, FRAMEWORKS, 3, child)


if __name__ == "__main__":
    main()
