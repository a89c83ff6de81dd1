"""Decoding with a cache of keys and values that grows by a place a token, beside mlx.

    python benchmarks/decoding.py [--tokens 2000] [--only room] [--python mlx=PATH]

One token a call through a small transformer, batch 1, float32. Two forms of the cache: in `room` it
has place for all tokens from the beginning, each call writes one with `mx.slice_update` at a
position given as an array, and a mask says how far it is filled; in `growing` each call
concatenates its token, under `compile(..., shapeless=True)`. For both, plain
and compiled: milliseconds a token (medians of the first and last tenth and of all), and how often
the function's Python ran. Work does not grow with the position in `room`; in `growing` the
attention's does, and each token is a new shape, hence a new plan.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import harness
import numpy as np

FRAMEWORKS = ("eutectic", "mlx")
LAYERS, DIMS, HEADS = 4, 256, 4
CASES = ("room, plain", "room, compiled", "growing, plain", "growing, compiled")


def decoder(mx: Any, case: str, tokens: int) -> tuple[Callable[[int], Any], Callable[[], int]]:
    """A call for the token at a position, and how often its function has run."""
    rng = np.random.default_rng(0)

    def weight(*shape: int) -> Any:
        return mx.array(rng.standard_normal(shape).astype(np.float32) / np.sqrt(shape[0]))

    room, compiled = case.startswith("room"), case.endswith("compiled")
    weights = [(weight(DIMS, 3 * DIMS), weight(DIMS, DIMS), weight(DIMS, 4 * DIMS),
                weight(4 * DIMS, DIMS)) for _ in range(LAYERS)]
    gain, scale = mx.ones((DIMS,)), (DIMS // HEADS) ** -0.5
    # One place before the first, so that no array is empty.
    shape = 1, HEADS, tokens + 1 if room else 1, DIMS // HEADS
    caches = [[mx.zeros(shape), mx.zeros(shape)] for _ in range(LAYERS)]
    x = weight(1, 1, DIMS)
    mx.eval(x, weights, caches, gain)
    runs = itertools.count()  # compile does not look into an iterator

    def norm(h: Any) -> Any:
        return mx.fast.rms_norm(h, gain, 1e-5)

    def step(h: Any, position: Any) -> Any:
        next(runs)
        for (qkv, out, widen, narrow), cache in zip(weights, caches):
            q, k, v = [part.reshape(1, 1, HEADS, -1).transpose(0, 2, 1, 3)
                       for part in mx.split(norm(h) @ qkv, 3, axis=-1)]
            mask = None
            if room:
                k = mx.slice_update(cache[0], k, position, (2,))
                v = mx.slice_update(cache[1], v, position, (2,))
                mask = mx.arange(tokens + 1) <= position
            else:
                k = mx.concatenate([cache[0], k], axis=2)
                v = mx.concatenate([cache[1], v], axis=2)
            cache[:] = k, v
            a = mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask=mask)
            h = h + a.transpose(0, 2, 1, 3).reshape(1, 1, DIMS) @ out
            h = h + mx.maximum(norm(h) @ widen, 0) @ narrow
        return h

    call: Any = step
    if compiled:
        call = mx.compile(step, inputs=caches, outputs=caches, shapeless=not room)

    def token(t: int) -> Any:
        result = call(x, mx.array(t + 1))
        mx.eval(result, caches)
        return result

    return token, lambda: next(runs)


def child(framework: str, tokens: int, cases: list[str]) -> None:
    """Generates with one framework, case by case."""
    mx = importlib.import_module(f"{framework}.core")
    if framework == "mlx":
        mx.set_default_device(mx.cpu)
    result: dict[str, float] = {}
    tenth = max(tokens // 10, 1)
    for case in cases:
        try:
            token, runs = decoder(mx, case, tokens)
            times = []
            for t in range(tokens):
                start = time.perf_counter()
                last = token(t)
                times.append(1000 * (time.perf_counter() - start))
        except ValueError:  # mlx cannot replay every operation at another shape
            continue
        result |= {f"{case}|first": median(times[:tenth]), f"{case}|last": median(times[-tenth:]),
                   f"{case}|all": median(times), f"{case}|traces": runs(),
                   f"{case}|check": float(np.abs(np.array(last)).sum())}
    harness.report(result)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = [case for case in CASES if options.only in case]
    if options.one:
        child(options.one, options.tokens, cases)
        return
    pythons = harness.Interpreters.parse(options.python)
    print(f"{harness.machine()}; {options.tokens} tokens; ms a token")
    print(f"{'':30}{'first tenth':>12}{'last tenth':>12}{'all':>9}{'traces':>8}")
    checks: dict[str, list[float]] = {}
    for framework in harness.installed(list(FRAMEWORKS), pythons):
        with harness.fresh_cache() as cache:
            found = harness.run_child(
                pythons.of(framework), __file__, framework, "--tokens", str(options.tokens),
                "--only", options.only, env=harness.environment(Path(cache)))
        for case in cases:
            if f"{case}|all" not in found:
                print(f"{framework + ' ' + case:30}{'refused':>12}")
                continue
            first, last, every, traces, check = (
                found[f"{case}|{part}"] for part in ("first", "last", "all", "traces", "check"))
            ran = f"{traces:8.0f}" if case.endswith("compiled") else f"{'-':>8}"
            print(f"{framework + ' ' + case:30}{first:12.3f}{last:12.3f}{every:9.3f}{ran}")
            checks.setdefault(case.split(",")[0], []).append(check)
    for values in checks.values():
        if not np.allclose(values, values[0], rtol=1e-3):
            raise SystemExit("The results differ.")


if __name__ == "__main__":
    main()
