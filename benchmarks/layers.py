"""Attention, norms and rotary positions beside torch, jax and mlx: milliseconds of a call.

    python benchmarks/layers.py [--rounds 5] [--only rope] [--python NAME=PATH ...]

How, and what the table shows: `turns.py`. Calls of `mx.fast` for ours and mlx, of the library's own
function for torch, one jitted call for jax. torch and jax have no rotary positions: theirs is the
formula under `torch.compile` and `jax.jit`, a function of the array and the offset as ours is. In
the row "sines ready" they get the cosines and sines instead, ours and mlx still make them. Every
result is compared with NumPy's. Frameworks that are not installed are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import harness
import numpy as np
import turns

FRAMEWORKS = ("eutectic", "torch", "jax", "mlx")
EPS, BASE = 1e-5, 10000.0
HEADS = (1, 8, 1024, 64)  # batch, heads, positions, width: attention
ROWS = (8, 512, 1024)  # norms
READY = "sines ready"
TURNED = (8, 16, 512, 64)  # the same numbers, in heads: rotary positions
CASES = ("attention", "layer_norm", "rms_norm", "rope", READY)

Arrays = dict[str, np.ndarray]
Call = Callable[[], Any]


def operands(case: str) -> Arrays:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    if case == "attention":
        return {name: normal(*HEADS) for name in "qkv"}
    if case in ("rope", READY):
        cos, sin = sines(np, np.arange(TURNED[-2]), 0)
        return {"x": normal(*TURNED), "cos": cos.astype(np.float32), "sin": sin.astype(np.float32),
                "offset": np.array(0, np.int32)}
    return {"x": normal(*ROWS), "w": normal(ROWS[-1]), "b": normal(ROWS[-1])}


def expected(case: str, d: Arrays) -> np.ndarray:
    """The result by NumPy, in float64."""
    d = {name: value.astype(np.float64) for name, value in d.items()}
    if case == "attention":
        length, width = HEADS[-2:]
        scores = d["q"] @ d["k"].swapaxes(-1, -2) / math.sqrt(width)
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        return scores / scores.sum(-1, keepdims=True) @ d["v"]
    if case in ("rope", READY):
        return np.concatenate(turned(d["x"], d["cos"], d["sin"]), -1)
    x = d["x"] if case == "rms_norm" else d["x"] - d["x"].mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * d["w"]
    return x + d["b"] if case == "layer_norm" else x


def sines(np: Any, steps: Any, offset: Any) -> tuple[Any, Any]:
    """Cosines and sines of every position and pair, by a module like NumPy."""
    half = TURNED[-1] // 2
    angles = (steps + offset)[:, None] * BASE ** (-np.arange(half) / half)
    return np.cos(angles), np.sin(angles)


def turned(x: Any, cos: Any, sin: Any) -> tuple[Any, Any]:
    """Both halves of rotated pairs (x[i], x[i + width / 2])."""
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return a * cos - b * sin, a * sin + b * cos


def array_calls(mx: Any, d: Arrays) -> dict[str, Call]:
    a = {name: mx.array(value) for name, value in d.items()}
    mx.eval(list(a.values()))

    def rope() -> Any:
        return mx.fast.rope(a["x"], TURNED[-1], traditional=False, base=BASE, scale=1.0, offset=0)

    steps: dict[str, Call] = {
        "attention": lambda: mx.fast.scaled_dot_product_attention(
            a["q"], a["k"], a["v"], scale=1 / math.sqrt(HEADS[-1]), mask="causal"),
        "layer_norm": lambda: mx.fast.layer_norm(a["x"], a["w"], a["b"], EPS),
        "rms_norm": lambda: mx.fast.rms_norm(a["x"], a["w"], EPS),
        "rope": rope,
        READY: rope,
    }

    def waiting(step: Call) -> Call:
        def call() -> Any:
            result = step()
            mx.eval(result)
            return result

        return call

    return {name: waiting(step) for name, step in steps.items()}


def eutectic_calls(d: Arrays) -> dict[str, Call]:
    import eutectic.core as mx

    return array_calls(mx, d)


def mlx_calls(d: Arrays) -> dict[str, Call]:
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    return array_calls(mx, d)


def torch_calls(d: Arrays) -> dict[str, Call]:
    import torch

    torch.set_grad_enabled(False)
    F = torch.nn.functional
    a = {name: torch.from_numpy(value) for name, value in d.items()}
    ready = torch.compile(lambda x, cos, sin: torch.cat(turned(x, cos, sin), -1))
    rope = torch.compile(lambda x, offset: torch.cat(
        turned(x, *sines(torch, torch.arange(TURNED[-2]), offset)), -1))
    return {
        "attention": lambda: F.scaled_dot_product_attention(a["q"], a["k"], a["v"],
                                                            is_causal=True),
        "layer_norm": lambda: F.layer_norm(a["x"], ROWS[-1:], a["w"], a["b"], EPS),
        "rms_norm": lambda: F.rms_norm(a["x"], ROWS[-1:], a["w"], EPS),
        "rope": lambda: rope(a["x"], a["offset"]),
        READY: lambda: ready(a["x"], a["cos"], a["sin"]),
    }


def jax_calls(d: Arrays) -> dict[str, Call]:
    import jax
    import jax.numpy as jnp

    # Its attention has the positions before the heads.
    a = {name: jnp.asarray(v.swapaxes(1, 2) if name in "qkv" else v) for name, v in d.items()}

    def attention(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.dot_product_attention(q, k, v, is_causal=True)

    def rms_norm(x: Any, w: Any, b: Any) -> Any:
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + EPS) * w

    def layer_norm(x: Any, w: Any, b: Any) -> Any:
        return rms_norm(x - x.mean(-1, keepdims=True), w, b) + b

    def rope(x: Any, cos: Any, sin: Any, offset: Any) -> Any:
        return jnp.concatenate(turned(x, *sines(jnp, jnp.arange(TURNED[-2]), offset)), -1)

    def ready(x: Any, cos: Any, sin: Any, offset: Any) -> Any:
        return jnp.concatenate(turned(x, cos, sin), -1)

    def call(f: Callable[..., Any]) -> Call:
        run = jax.jit(f)
        return lambda: run(*a.values()).block_until_ready()

    steps = {f.__name__: call(f) for f in (attention, layer_norm, rms_norm, rope)}
    return {**steps, READY: call(ready)}


MAKE = {"eutectic": eutectic_calls, "torch": torch_calls, "jax": jax_calls, "mlx": mlx_calls}


def child(framework: str, only: str) -> None:
    """Measures every case with one framework and reports milliseconds."""
    result = {}
    for case in CASES:
        if only in case:
            d = operands(case)
            call = MAKE[framework](d)[case]
            found = np.asarray(call())
            if framework == "jax" and case == "attention":
                found = found.swapaxes(1, 2)
            if not np.allclose(found, expected(case, d), rtol=1e-3, atol=1e-3):
                raise SystemExit(f"{framework} {case}: wrong result")
            result[case] = harness.median_ms(call, 0.7, 5, 100)
    harness.report(result)


def main() -> None:
    turns.main(__doc__, __file__, FRAMEWORKS, 5, child)


if __name__ == "__main__":
    main()
