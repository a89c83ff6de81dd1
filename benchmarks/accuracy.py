"""Accuracy of the mathematics library: the largest error of every function in ulps.

    python benchmarks/accuracy.py             all 2^32 float32 inputs; writes docs/accuracy.md
    python benchmarks/accuracy.py --quick     a sample, printed only
    python benchmarks/accuracy.py --only tanh,exp

An ulp is the distance of neighbouring numbers in the binade of the true result (at least the
smallest subnormal). NaN against a number, an infinity against a number that does not round to it,
and a zero of the wrong sign count as infinite errors.

float32 is compared with our float64 functions, inside one kernel; those are compared with mpmath
at 60 digits. The two share range reductions and special values, which the tests check against
other sources.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mpmath
import numpy as np
from bodies import Kernel

from eutectic.kernel import mathlib as ml
from eutectic.kernel.scalar import Value, bitcast, const, convert, copysign, fabs, select

ROOT = Path(__file__).parents[1]
INF = float("inf")
CHUNK = 1 << 16


@dataclass(frozen=True)
class Unary:
    """A function of one argument: its exact form, the float64 samples, the bars in ulps."""

    name: str
    exact: Callable
    low: float                  # float64 samples: log-uniform magnitudes in [low, high]
    high: float
    signed: bool = True
    bar: float = 2.0            # float32
    near_one: bool = False      # samples 1 +- small as well


def _sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


UNARY = (
    Unary("exp", mpmath.exp, 1e-20, 745.0, bar=1.0),
    Unary("exp2", lambda x: mpmath.power(2, x), 1e-20, 1074.0),
    Unary("expm1", mpmath.expm1, 1e-20, 709.0),
    Unary("log", mpmath.log, 1e-307, 1e308, signed=False, bar=1.0, near_one=True),
    Unary("log2", lambda x: mpmath.log(x, 2), 1e-307, 1e308, signed=False, near_one=True),
    Unary("log10", mpmath.log10, 1e-307, 1e308, signed=False, near_one=True),
    Unary("log1p", mpmath.log1p, 1e-20, 1e300, signed=False),
    Unary("sqrt", mpmath.sqrt, 1e-307, 1e308, signed=False, bar=1.0),
    Unary("rsqrt", lambda x: 1 / mpmath.sqrt(x), 1e-307, 1e308, signed=False, bar=1.0),
    Unary("reciprocal", lambda x: 1 / x, 1e-300, 1e300),
    Unary("sigmoid", _sigmoid, 1e-20, 700.0),
    Unary("tanh", mpmath.tanh, 1e-20, 25.0),
    Unary("sinh", mpmath.sinh, 1e-20, 710.0),
    Unary("cosh", mpmath.cosh, 1e-20, 710.0),
    Unary("arcsinh", mpmath.asinh, 1e-20, 1e308),
    Unary("arccosh", mpmath.acosh, 1.0, 1e308, signed=False),
    Unary("arctanh", mpmath.atanh, 1e-20, 0.999999),
    Unary("sin", mpmath.sin, 1e-20, 1e308),
    Unary("cos", mpmath.cos, 1e-20, 1e308),
    Unary("tan", mpmath.tan, 1e-20, 1e308),
    Unary("arcsin", mpmath.asin, 1e-20, 1.0),
    Unary("arccos", mpmath.acos, 1e-20, 1.0),
    Unary("arctan", mpmath.atan, 1e-20, 1e300),
    Unary("erf", mpmath.erf, 1e-20, 6.5),
    Unary("erfinv", mpmath.erfinv, 1e-20, 0.999999),
)


@dataclass(frozen=True)
class Binary:
    """A function of two arguments; `scale` is the spread of the moderate samples."""

    name: str
    exact: Callable
    scale: float = 5.0


BINARY = (
    Binary("arctan2", mpmath.atan2),
    Binary("power", mpmath.power),
    Binary("logaddexp", lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b))),
)


# ---- errors as scalar bodies --------------------------------------------------------------------


def ulps(y: Value, exact: Value) -> Value:
    """Error of an f32 in ulps of the f64 that is taken for exact."""
    top = 2.0 ** 128
    got = convert(y, "f64")
    got = select(fabs(got).eq(INF), copysign(const(top, "f64"), got), got)
    want = select(fabs(exact) > top, copysign(const(top, "f64"), exact), exact)
    exponent = (fabs(want).bits() >> 52) - 1023
    exponent = bitcast(exponent, "i64")
    exponent = select(exponent < -126, const(-126, "i64"), exponent)
    per_ulp = bitcast((const(1023 + 23, "i64") - exponent) << 52, "f64")
    error = fabs(got - want) * per_ulp
    wrong_zero = got.eq(0.0) & want.eq(0.0) & ((got.bits() ^ want.bits()) >> 63).ne(0)
    error = select(got.is_nan() | want.is_nan() | wrong_zero, const(INF, "f64"), error)
    error = select(got.is_nan() & want.is_nan(), const(0.0, "f64"), error)
    return convert(error, "f32")


def unary_error(name: str) -> Kernel:
    function = getattr(ml, name)
    return Kernel(lambda x: ulps(function(x), function(convert(x, "f64"))), ("f32",), 16)


def binary_error(name: str) -> Kernel:
    function = getattr(ml, name)
    return Kernel(lambda x, y: ulps(function(x, y), function(convert(x, "f64"),
                                                             convert(y, "f64"))),
                  ("f32", "f32"), 16)


def ulps_of_f64(got: np.ndarray, exact: list) -> np.ndarray:
    """Errors of float64 numbers in ulps of multiprecision ones."""
    errors = np.zeros(len(got))
    for k, (y, e) in enumerate(zip(got, exact)):
        if isinstance(e, mpmath.mpc) or mpmath.isnan(e):
            errors[k] = 0.0 if np.isnan(y) else INF
        elif np.isnan(y):
            errors[k] = INF
        else:
            exponent = max(mpmath.frexp(e)[1] - 1, -1022) if e else -1022
            y = mpmath.mpf(y) if np.isfinite(y) else mpmath.sign(y) * mpmath.mpf(2) ** 1024
            limit = mpmath.mpf(2) ** 1024
            e = min(max(e, -limit), limit)
            errors[k] = float(abs(y - e) / mpmath.mpf(2) ** (exponent - 52))
    return errors


# ---- inputs -------------------------------------------------------------------------------------


def float32_sample(n: int, rng: np.random.Generator) -> np.ndarray:
    """Random bit patterns, moderate numbers and the corners."""
    corners = [0.0, -0.0, 1.0, -1.0, INF, -INF, float("nan"), 1e-45, -1e-45, 1.17549435e-38,
               3.4028235e38, -3.4028235e38, 88.72284, -103.97, -104.0, 128.0, -149.5, 0.5, 2.0]
    return np.concatenate([
        rng.integers(0, 2 ** 32, n, dtype=np.uint32).view(np.float32),
        rng.standard_normal(n).astype(np.float32) * 3, rng.random(n, dtype=np.float32) * 2 - 1,
        np.array(corners, np.float32)])


def float64_sample(f: Unary, n: int, rng: np.random.Generator) -> np.ndarray:
    x = np.exp(rng.uniform(np.log(f.low), np.log(f.high), n))
    middle = rng.uniform(max(f.low, 0.0), min(f.high, 10.0), n)
    parts = [x, middle]
    if f.near_one:
        parts.append(1 + rng.standard_normal(n) * 10.0 ** rng.uniform(-15, -0.5, n))
    x = np.abs(np.concatenate(parts))
    return x * rng.choice([-1.0, 1.0], len(x)) if f.signed else x


# ---- measuring ----------------------------------------------------------------------------------


@dataclass
class Worst:
    """The largest error and where it is."""

    error: float = 0.0
    at: tuple[float, ...] = ()
    count: int = 0

    def see(self, errors: np.ndarray, *inputs: np.ndarray) -> None:
        self.count += len(errors)
        k = int(np.argmax(errors))
        if errors[k] > self.error or not self.at:
            self.error = float(errors[k])
            self.at = tuple(float(x[k]) for x in inputs)


def measure_unary(f: Unary, quick: bool, rng: np.random.Generator) -> Worst:
    kernel, worst = unary_error(f.name), Worst()
    if quick:
        x = float32_sample(1 << 16, rng)
        worst.see(kernel(x), x)
        return worst
    bits = np.arange(CHUNK, dtype=np.uint32)
    for high in range(1 << 16):
        x = (bits + np.uint32(high << 16)).view(np.float32)
        worst.see(kernel(x), x)
    return worst


def binary_sample(f: Binary, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A third each of random bits, moderate numbers, and numbers of near magnitude."""
    a = [rng.integers(0, 2 ** 32, n, dtype=np.uint32).view(np.float32) for _ in range(2)]
    b = [rng.standard_normal(n, dtype=np.float32) * np.float32(f.scale) for _ in range(2)]
    c = rng.standard_normal(n, dtype=np.float32)
    near = c * (1 + rng.standard_normal(n, dtype=np.float32) * np.float32(1e-3))
    if f.name == "power":
        b[0] = np.abs(b[0])
        c, near = np.abs(near), c * 80
    return np.concatenate([a[0], b[0], c]), np.concatenate([a[1], b[1], near])


def corner_grid() -> tuple[np.ndarray, np.ndarray]:
    v = np.array([0.0, 1.0, 0.5, 2.0, 3.0, 0.75, 2.5, INF, float("nan"), 1e-45, 1e-38, 3.4028235e38,
                  16777215.0, 16777216.0, 33554432.0, 1e30, 1e-30], np.float32)
    v = np.concatenate([v, -v])
    a, b = np.meshgrid(v, v)
    return a.ravel(), b.ravel()


def measure_binary(f: Binary, quick: bool, rng: np.random.Generator) -> Worst:
    kernel, worst = binary_error(f.name), Worst()
    a, b = corner_grid()
    worst.see(kernel(a, b), a, b)
    for _ in range(1 if quick else 340):
        a, b = binary_sample(f, 1 << 14 if quick else 100_000, rng)
        worst.see(kernel(a, b), a, b)
    return worst


def measure_f64(f: Unary | Binary, quick: bool, rng: np.random.Generator) -> Worst:
    n = 60 if quick else 35_000
    worst = Worst()
    if isinstance(f, Unary):
        x = (float64_sample(f, n, rng),)
    else:
        x = (rng.standard_normal(n) * f.scale, rng.standard_normal(n) * f.scale)
        if f.name == "power":
            x = (np.abs(x[0]), x[1] * 10)
    kernel = Kernel(getattr(ml, f.name), ("f64",) * len(x), 8)
    exact = [f.exact(*[mpmath.mpf(v) for v in row]) for row in zip(*[v.tolist() for v in x])]
    worst.see(ulps_of_f64(kernel(*x), exact), *x)
    return worst


def peer_functions() -> dict[str, dict[str, Callable]]:
    """float32 functions of the frameworks that are installed."""
    peers: dict[str, dict[str, Callable]] = {}
    try:
        import jax
        import jax.numpy as jnp
        special = {"sigmoid": jax.nn.sigmoid, "rsqrt": jax.lax.rsqrt, "erf": jax.lax.erf,
                   "erfinv": jax.lax.erf_inv}
        peers["jax"] = {f.name: (lambda g: lambda *a: np.asarray(jax.jit(g)(*a)))(
            special.get(f.name) or getattr(jnp, f.name)) for f in (*UNARY, *BINARY)}
    except ImportError:
        pass
    try:
        import torch
        peers["torch"] = {f.name: (lambda g: lambda *a: g(*map(torch.from_numpy, a)).numpy())(
            getattr(torch, f.name) if f.name != "power" else torch.pow) for f in (*UNARY, *BINARY)}
    except ImportError:
        pass
    numpy = {f.name: getattr(np, f.name) for f in (*UNARY, *BINARY) if hasattr(np, f.name)}
    return peers | {"numpy": numpy}


def measure_peer(function: Callable, f: Unary | Binary, quick: bool,
                 rng: np.random.Generator) -> float:
    reference = getattr(ml, f.name)
    arity = 1 if isinstance(f, Unary) else 2
    types = ("f32",) * (arity + 1)
    kernel = Kernel(lambda y, *x: ulps(y, reference(*[convert(v, "f64") for v in x])), types, 16)
    n = 1 << 16 if quick else 1 << 22
    x = (float32_sample(n, rng),) if arity == 1 else binary_sample(f, n, rng)
    # Subnormal numbers are left out: some frameworks flush them, which is a different matter.
    normal = np.all([(np.abs(v) > 1e-37) & np.isfinite(v) for v in x], axis=0)
    x = tuple(np.ascontiguousarray(v[normal]) for v in x)
    with np.errstate(all="ignore"):
        y = np.asarray(function(*x), np.float32)
    exact = Kernel(lambda *v: reference(*[convert(u, "f64") for u in v]), ("f32",) * arity, 16)(*x)
    errors = kernel(y, *x)
    return float(np.max(errors[np.isfinite(errors) & (np.abs(exact) > 1e-37)]))


# ---- the table ----------------------------------------------------------------------------------

HEADER = """# Accuracy of the mathematics library

Largest error in units in the last place (ulp) of the true result. Written by
`benchmarks/accuracy.py`.

- float32, functions of one argument: **all** 2^32 inputs, subnormal numbers, infinities and NaN
  among them. The bar is 1 ulp for exp, log, sqrt and rsqrt and 2 for the others; 0.5 is correct
  rounding.
- float32, functions of two arguments: 10^8 random pairs (bit patterns, moderate numbers, pairs of
  near magnitude) and a grid of corners.
- float64: 35,000 to 105,000 samples against mpmath at 60 digits. The bar is 2 ulp. logaddexp may
  cancel, and misses it there: 1.3 ulp of max(|a|, |b|, 1) over 20,000 samples.
- `remainder` and `floor_divide` have no row: the remainder towards zero is exact by construction
  (float64: for quotients below 2^500; it is wrong beyond). The tests compare remainder's bits with
  NumPy's, and floor_divide's with NumPy's in float64, on tens of thousands of samples.
- The peers' columns are samples, not all inputs: the normal ones of 12 million float32 inputs
  where the result is normal too, computed in float32 by the framework on a CPU.
- Complex functions, all but the square, compute in float64 and round each part once. The tests hold
  them to 1.3e-7 of the modulus on some 2,000 samples; a part near one of its zeros may have more
  ulps (2.8 seen in the real part of expm1).
- float16 and bfloat16 are computed in float32 and rounded.

| function | float32 | at | float64 | {peers} |
|---|---|---|---|{rule}|
"""


def cell(error: float) -> str:
    """An error of a peer; beyond 1000 ulp it is an early overflow or no reduction at all."""
    return f"{error:.1f}" if error < 1000 else "> 1000"


def table(quick: bool, only: set[str]) -> tuple[str, bool]:
    rng = np.random.default_rng(2024)
    mpmath.mp.dps = 60
    peers = {} if quick else peer_functions()
    lines, good = [], True
    for f in (*UNARY, *BINARY):
        if only and f.name not in only:
            continue
        single = (measure_unary if isinstance(f, Unary) else measure_binary)(f, quick, rng)
        double = measure_f64(f, quick, rng)
        bar = f.bar if isinstance(f, Unary) else 2.0
        good &= single.error <= bar
        others = [cell(measure_peer(p[f.name], f, quick, rng)) if f.name in p else ""
                  for p in peers.values()]
        at = ", ".join(f"{v:.8g}" for v in single.at)
        cells = [f.name, f"{single.error:.3f}", at, f"{double.error:.2f}", *others]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    header = HEADER.format(peers=" | ".join(peers), rule="---|" * (len(peers) - 1) + "---")
    return header + "\n".join(lines) + "\n", good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    text, good = table(options.quick, only)
    if not options.quick and not only:
        (ROOT / "docs" / "accuracy.md").write_text(text, encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
