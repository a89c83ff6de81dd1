"""Loops of 1,000 steps beside jax: milliseconds of a call, and of tracing.

    python benchmarks/loops.py [--rounds 5] [--only lstm]

How, and what the table shows: `turns.py`. One compiled call each: `recurrence` is
tanh(h * a + x) on 16 numbers, `lstm` a cell of width 64 on a batch of 8, `lstm grad` the gradient
of a loss by its weights, `while` 1,000 steps that shrink 16 numbers. `trace` is the trace of
`recurrence` alone (bar: 20 ms), its machine code being there. Results are compared with NumPy's;
gradients are in tests/transforms/test_loops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
import numpy as np
import turns

FRAMEWORKS = ("eutectic", "jax")
STEPS, BATCH, WIDTH, SMALL = 1000, 8, 64, 16
CASES = ("recurrence", "lstm", "lstm grad", "while", "trace")

Arrays = dict[str, np.ndarray]
Call = Callable[[], Any]


def operands() -> Arrays:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    return {"small": normal(STEPS, SMALL), "xs": normal(STEPS, BATCH, WIDTH),
            "w": normal(WIDTH, 4 * WIDTH) * 0.1, "u": normal(WIDTH, 4 * WIDTH) * 0.1}


def functions(xp: Any, scan: Any, while_loop: Any, sigmoid: Any, grad: Any) -> dict[str, Any]:
    """The cases, written once for both."""

    def recurrence(xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = xp.tanh(h * 0.9 + x)
            return h, h
        return scan(step, xp.zeros((SMALL,)), xs)[1]

    def lstm(w: Any, u: Any, xs: Any) -> Any:
        def cell(carry: Any, x: Any) -> Any:
            h, s = carry
            z = x @ w + h @ u
            i, f, g, o = [z[:, k * WIDTH:(k + 1) * WIDTH] for k in range(4)]
            s = sigmoid(f) * s + sigmoid(i) * xp.tanh(g)
            h = sigmoid(o) * xp.tanh(s)
            return (h, s), h
        start = xp.zeros((BATCH, WIDTH))
        return scan(cell, (start, start), xs)[1]

    def shrunk(x: Any) -> Any:
        return while_loop(lambda v: v[1] < STEPS, lambda v: (v[0] - 0.5 * xp.tanh(v[0]), v[1] + 1),
                          (x, xp.array(0)))[0]

    gradient = grad(lambda w, u, xs: (lstm(w, u, xs) ** 2).sum(), (0, 1))
    return {"recurrence": recurrence, "lstm": lstm, "while": shrunk, "lstm grad": gradient}


def arguments(case: str, a: dict[str, Any]) -> list[Any]:
    if "lstm" in case:
        return [a["w"], a["u"], a["xs"]]
    return [a["small"][0] if case == "while" else a["small"]]


def eutectic_call(case: str, d: Arrays) -> Call:
    import eutectic.core as mx

    a = {name: mx.array(value) for name, value in d.items()}
    mx.eval(list(a.values()))
    found = functions(mx, mx.scan, mx.while_loop, mx.sigmoid, mx.grad)
    if case == "trace":
        def trace() -> Any:
            fresh = mx.compile(functions(mx, mx.scan, mx.while_loop, mx.sigmoid, mx.grad)[
                "recurrence"])
            return fresh.lower(a["small"])
        return trace
    f, given = mx.compile(found[case]), arguments(case, a)
    mx.eval(given)

    def call() -> Any:
        result = f(*given)
        mx.eval(result)
        return result
    return call


def jax_call(case: str, d: Arrays) -> Call:
    import jax
    import jax.numpy as jnp

    a = {name: jnp.asarray(value) for name, value in d.items()}

    def made() -> dict[str, Any]:
        return functions(jnp, jax.lax.scan, jax.lax.while_loop, jax.nn.sigmoid, jax.grad)
    if case == "trace":
        return lambda: jax.jit(made()["recurrence"]).trace(a["small"])
    f, given = jax.jit(made()[case]), arguments(case, a)
    return lambda: jax.block_until_ready(f(*given))


MAKE = {"eutectic": eutectic_call, "jax": jax_call}


def expected(case: str, d: Arrays) -> np.ndarray:
    """The result by NumPy, in float64."""
    d = {name: value.astype(np.float64) for name, value in d.items()}
    if case == "while":
        x = d["small"][0]
        for _ in range(STEPS):
            x = x - 0.5 * np.tanh(x)
        return x
    out = []
    if case == "recurrence":
        h = np.zeros(SMALL)
        for x in d["small"]:
            h = np.tanh(h * 0.9 + x)
            out.append(h)
        return np.array(out)
    h = s = np.zeros((BATCH, WIDTH))
    for x in d["xs"]:
        i, f, g, o = np.split(x @ d["w"] + h @ d["u"], 4, axis=1)
        s = s / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(s) / (1 + np.exp(-o))
        out.append(h)
    return np.array(out)


def child(framework: str, only: str) -> None:
    """Measures every case with one framework and reports milliseconds."""
    d, result = operands(), {}
    for case in CASES:
        if only in case:
            call = MAKE[framework](case, d)
            found = call()
            if case in ("recurrence", "lstm", "while") and not np.allclose(
                    np.asarray(found), expected(case, d), rtol=1e-3, atol=1e-4):
                raise SystemExit(f"{framework} {case}: wrong result")
            result[case] = harness.median_ms(call, 0.7, 5, 100)
    harness.report(result)


def main() -> None:
    turns.main(__doc__, __file__, FRAMEWORKS, 5, child)


if __name__ == "__main__":
    main()
