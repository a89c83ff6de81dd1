"""Every public operation on arrays: its derivative, its vectorisation, both compiled.

The elementwise functions of the registry have their tests in test_gradient.py and test_vmap.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from operation_calls import NOT_OF_ARRAYS, RANDOM, SINGLE, TEXT, arrays, names_in, table

import eutectic.core as mx
from eutectic.errors import TransformError
from eutectic.ops.registry import OPS
from eutectic.tree import flatten

CASES = [(call, mx.float64) for calls in table(TEXT).values() for call in calls]
CASES += [(call, mx.float32) for calls in (table(SINGLE) | table(RANDOM)).values()
          for call in calls]
CONSTANT = {"stop_gradient", "round", "random.bernoulli"}
"""Floating results whose derivative is zero by definition."""


def function(call: str, given: dict[str, mx.array], name: str) -> Callable[[mx.array], Any]:
    return lambda x: [y for y in flatten(eval(call, {"mx": mx, **given, name: x}))[0]
                      if isinstance(y, mx.array)]


def parts(y: mx.array) -> list[np.ndarray]:
    n = np.array(y)
    return [n.real, n.imag] if n.dtype.kind == "c" else [n]


def dot(xs: list[mx.array], ys: list[Any]) -> float:
    return float(sum((p.astype(float) * q).sum() for x, y in zip(xs, ys)
                     for p, q in zip(parts(x), parts(y))))


@pytest.mark.parametrize("call, dtype", CASES, ids=[c for c, _ in CASES])
def test_derivative(call: str, dtype: Any) -> None:
    """Pullback, pushforward and differences agree; the compiled gradient has the same bits."""
    given = arrays(dtype)
    rng = np.random.default_rng(1)
    step, tolerance = (1e-6, 1e-6) if dtype is mx.float64 else (3e-3, 3e-2)
    for name in names_in(call, given):
        whole, x = function(call, given, name), given[name]
        live = [i for i, y in enumerate(whole(x)) if y.dtype.is_float or y.dtype.is_complex]

        def f(*xs: mx.array, live: Any = live, whole: Any = whole) -> list[mx.array]:
            return [whole(*xs)[i] for i in live]
        if not live:
            continue
        outs = f(x)
        gs = [mx.array(rng.standard_normal(y.shape) + (
            1j * rng.standard_normal(y.shape) if y.dtype.is_complex else 0)).astype(y.dtype)
            for y in outs]
        t = mx.array(rng.standard_normal(x.shape), mx.float64).astype(dtype)
        _, (grad,) = mx.vjp(f, [x], gs)
        _, pushed = mx.jvp(f, [x], [t])
        by_rule = dot([grad], [t])
        np.testing.assert_allclose(dot(gs, pushed), by_rule, rtol=tolerance, atol=tolerance)
        if not any(call.startswith(f"mx.{n}(") for n in CONSTANT):
            ends = [np.concatenate([p.ravel() for y in f(x + s * step * t) for p in parts(y)])
                    for s in (1, -1)]
            weights = np.concatenate([p.ravel() for g in gs for p in parts(g)])
            numeric = float(((ends[0] - ends[1]) / (2 * step) * weights).sum())
            np.testing.assert_allclose(by_rule, numeric, rtol=tolerance, atol=tolerance)
        fused = mx.compile(lambda x, gs, f=f: mx.vjp(f, [x], gs)[1][0])(x, gs)
        assert np.array(fused).tobytes() == np.array(grad).tobytes(), name


def same(got: mx.array, want: np.ndarray, call: str) -> None:
    n = np.array(got)
    assert n.shape == want.shape and n.dtype == want.dtype, call
    if n.dtype.kind in "fc":
        tolerance = 1e-12 if n.dtype == np.float64 else 1e-5
        np.testing.assert_allclose(n, want, rtol=tolerance, atol=tolerance)
    else:
        assert (n == want).all()


@pytest.mark.parametrize("call, dtype", CASES, ids=[c for c, _ in CASES])
def test_vectorised(call: str, dtype: Any) -> None:
    """Against a loop over entries; the batch first and last; a gradient inside and outside."""
    given = arrays(dtype)
    for name in names_in(call, given):
        f, x = function(call, given, name), given[name]
        batch = mx.stack([x, mx.flip(x, -1) if name != "k" else x.T, x])
        loop = [f(batch[i]) for i in range(3)]
        want = [np.stack([np.array(y) for y in ys]) for ys in zip(*loop)]
        for axis in (0, -1):
            xs = mx.moveaxis(batch, 0, axis)
            got = mx.vmap(f, in_axes=axis)(xs)
            for g, w in zip(got, want, strict=True):
                same(g, w, call)
            for c, g in zip(mx.compile(mx.vmap(f, in_axes=axis))(xs), got):
                assert np.array(c).tobytes() == np.array(g).tobytes()

        def loss(x: mx.array, f: Any = f) -> mx.array:
            ys = [mx.real(y) if y.dtype.is_complex else y for y in f(x)]
            return sum([(y * y).sum() for y in ys if y.dtype.is_float], mx.array(0, dtype))
        each = np.stack([np.array(mx.grad(loss)(batch[i])) for i in range(3)])
        tolerance = 1e-9 if dtype is mx.float64 else 1e-3
        inside = mx.vmap(mx.grad(loss))(batch)
        outside = mx.grad(lambda xs, loss=loss: mx.vmap(loss)(xs).sum())(batch)
        for g in (inside, outside):
            np.testing.assert_allclose(np.array(g), each, rtol=tolerance, atol=tolerance)


def test_every_public_operation_has_a_call() -> None:
    called = (table(TEXT) | table(SINGLE) | table(RANDOM)).keys()
    apis = {op.api for op in OPS.values()} | {getattr(mx, n) for n in called if "." not in n}
    public = {n: getattr(mx, n) for n in mx.__all__}
    names = [n for n, f in public.items() if callable(f) and not isinstance(f, type)
             and f.__module__.startswith("eutectic.ops") and f not in apis]
    names += [f"{group}.{n}" for group in ("linalg", "fft", "fast", "random")
              for n in getattr(mx, group).__all__ if callable(getattr(getattr(mx, group), n))]
    assert set(names) - called - NOT_OF_ARRAYS.keys() == set()
    assert called & NOT_OF_ARRAYS.keys() == set()


NO_RULE = {
    # Bits read as another type: not even piecewise a function of real numbers.
    "view": lambda x: mx.view(x, mx.float16).sum().astype(mx.float32),
}


@pytest.mark.parametrize("name", NO_RULE)
def test_what_has_no_derivative_says_so(name: str) -> None:
    x = mx.array([1.0, 2.0])
    for call in (lambda: mx.grad(NO_RULE[name])(x), lambda: mx.jvp(NO_RULE[name], [x], [x])):
        with pytest.raises(TransformError, match=rf"\[vjp\] the derivative of {name} is not known"):
            call()


def test_what_an_index_picks_by_its_values_cannot_be_vectorised() -> None:
    with pytest.raises(ValueError, match="mask index"):
        mx.vmap(lambda m: mx.ones(4)[m])(mx.array([[True, False, True, True]]))
