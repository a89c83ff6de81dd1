"""Reductions and composites against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.dtype import DTYPES, Dtype

SHAPE = (3, 5, 7)
AXES: list[Any] = [None, 0, 1, 2, -1, (0, 1), (0, 2), (1, 2), (0, 1, 2), ()]
SIMPLE = ("sum", "prod", "max", "min", "all", "any")


def sample(d: Dtype, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    rng = np.random.default_rng(3)
    if d is mx.bool_:
        return rng.integers(0, 4, shape) > 0
    if d.is_int:
        return rng.integers(1, 5, shape).astype(d.np)
    x = rng.uniform(0.5, 1.5, shape).astype(np.float32)
    if d.is_complex:
        return (x + 1j * rng.uniform(-1, 1, shape)).astype(np.complex64)
    return np.array(mx.array(x, d))


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) if x.dtype.kind == "f" else x.astype(
        np.complex128) if x.dtype.kind == "c" else x


def tolerance(d: Dtype) -> float:
    return {2: 1e-2 if d is mx.bfloat16 else 1.1e-3}.get(d.size, 2e-6)


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("name", SIMPLE)
def test_against_numpy(name: str, d: Dtype) -> None:
    x = sample(d)
    f, g = getattr(mx, name), getattr(np, name)
    for axis in AXES:
        for keepdims in (False, True):
            got = f(mx.array(x, d), axis=axis, keepdims=keepdims)
            want = g(wide(x), axis=axis, keepdims=keepdims)
            assert got.shape == np.shape(want)
            if name in ("all", "any"):
                assert got.dtype is mx.bool_
            elif name in ("max", "min") or not (d.is_int or d is mx.bool_) or d.size >= 4:
                assert got.dtype is d
            else:
                assert got.dtype is (mx.int32 if d.is_signed or d is mx.bool_ else mx.uint32)
            ours = np.array(got)
            if ours.dtype.kind in "fc":
                np.testing.assert_allclose(ours, want, rtol=tolerance(d))
            else:
                np.testing.assert_array_equal(ours, np.asarray(want).astype(ours.dtype))


@pytest.mark.parametrize("name", ["mean", "var", "std", "logsumexp", "softmax"])
@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
def test_composites(name: str, d: Dtype) -> None:
    x = sample(d)
    if name == "logsumexp":
        def g(v: np.ndarray, axis: Any, **k: Any) -> Any:
            return np.log(np.sum(np.exp(v), axis=axis, **k))
    elif name == "softmax":
        def g(v: np.ndarray, axis: Any, **k: Any) -> Any:
            return np.exp(v) / np.sum(np.exp(v), axis=axis, keepdims=True)
    else:
        g = getattr(np, name)
    for axis in AXES:
        if axis == ():
            continue
        for keepdims in (False, True) if name != "softmax" else (False,):
            k = {} if name == "softmax" else {"keepdims": keepdims}
            got = getattr(mx, name)(mx.array(x, d), axis=axis, **k)
            want = np.asarray(g(wide(x).astype(complex if d.is_complex else float), axis=axis, **k))
            floating = d if d.is_float or d.is_complex else mx.float32
            if d.is_complex and name in ("var", "std"):
                floating = mx.float32
            assert got.dtype is floating
            assert got.shape == want.shape
            np.testing.assert_allclose(np.array(got), want, rtol=tolerance(floating), atol=1e-6)


@pytest.mark.parametrize("d", [d for d in DTYPES if not d.is_complex], ids=lambda d: d.name)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name: str, d: Dtype) -> None:
    x = sample(d)
    for axis in (None, 0, 1, -1):
        for keepdims in (False, True):
            got = getattr(mx, name)(mx.array(x, d), axis=axis, keepdims=keepdims)
            want = getattr(np, name)(x, axis=axis, keepdims=keepdims)
            assert got.dtype is mx.uint32
            np.testing.assert_array_equal(np.array(got), want)


def test_positions_of_special_values() -> None:
    nan = np.nan
    assert mx.argmax(mx.array([1.0, nan, 3.0, nan])).item() == 1
    assert mx.argmin(mx.array([1.0, nan, -3.0])).item() == 1
    assert mx.argmax(mx.array([2, 2, 1])).item() == 0
    assert mx.argmax(mx.array(5.0)).item() == 0
    assert mx.argmax(mx.array([[-np.inf, -np.inf]]), axis=1).tolist() == [0]


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 129, 1000, 5000])
def test_lengths(n: int) -> None:
    x = np.random.default_rng(n).normal(size=(3, n)).astype(np.float32)
    for axis in (0, 1, None):
        for a, y in ((mx.array(x), x), (mx.array(x.T.copy()).T, x), (mx.array(x)[::-1], x[::-1])):
            np.testing.assert_allclose(np.array(a.sum(axis)), y.astype(float).sum(axis), rtol=1e-5,
                                       atol=1e-4)
            np.testing.assert_array_equal(np.array(a.max(axis)), y.max(axis))
    assert mx.array_equal(mx.array(x).sum(1), mx.array(x.T.copy()).T.sum(1)).item()


def test_long_sums_are_accurate() -> None:
    assert mx.ones(1 << 22).sum().item() == 1 << 22
    x = np.random.default_rng(0).uniform(size=1 << 20).astype(np.float32)
    exact = float(np.sum(x.astype(np.float64)))
    assert abs(mx.array(x).sum().item() - exact) < 1e-6 * exact


def test_halves_accumulate_in_float32() -> None:
    assert mx.ones(4096, mx.float16).sum().item() == 4096
    assert mx.ones(1024, mx.bfloat16).sum().item() == 1024
    assert mx.full((64, 64), 1.0, mx.bfloat16).sum(axis=(0, 1)).item() == 4096
    assert mx.full(60000, 2.0, mx.float16).mean().item() == 2.0


def test_nothing_to_reduce() -> None:
    empty = mx.zeros((0, 3))
    assert mx.sum(empty).item() == 0
    assert mx.sum(empty, axis=0).tolist() == [0, 0, 0]
    assert mx.prod(empty, axis=0).tolist() == [1, 1, 1]
    assert mx.all(empty).item() is True
    assert mx.any(empty).item() is False
    assert np.isnan(mx.mean(empty).item())
    assert np.isnan(mx.var(empty).item())
    assert mx.max(empty, axis=1).shape == (0,)
    assert mx.softmax(empty, axis=0).shape == (0, 3)
    assert mx.sum(mx.zeros((3, 0)), axis=1).tolist() == [0, 0, 0]
    assert mx.sum(mx.array(3.0)).item() == 3
    assert mx.all(mx.array([2, 0]), axis=()).tolist() == [True, False]


def test_infinities() -> None:
    inf, nan = np.inf, np.nan
    assert mx.logsumexp(mx.array([-inf, -inf])).item() == -inf
    assert mx.logsumexp(mx.array([inf, -inf])).item() == inf
    assert np.isnan(mx.logsumexp(mx.array([nan, inf])).item())
    assert mx.logsumexp(mx.array([1000.0, -1000.0])).item() == 1000
    assert np.isnan(np.array(mx.softmax(mx.array([-inf, -inf])))).all()
    assert mx.softmax(mx.array([-inf, 0.0])).tolist() == [0, 1]
    assert mx.softmax(mx.array([1e4, 0.0])).tolist() == [1, 0]
    assert np.isnan(mx.max(mx.array([1.0, nan])).item())
    assert np.isnan(mx.sum(mx.array([inf, -inf])).item())
    assert mx.var(mx.array([1.0, 2.0]), ddof=2).item() == inf


def test_options() -> None:
    x = mx.array([[1.0, 2.0], [3.0, 5.0]])
    assert mx.var(x, axis=0, ddof=1).tolist() == [2, 4.5]
    assert x.std(axis=0, correction=1).tolist() == pytest.approx([2**0.5, 4.5**0.5])
    assert mx.count_nonzero(mx.array([[1, 0], [0, 0]]), axis=1).tolist() == [1, 0]
    assert [v.item() for v in mx.minmax(x)] == [1, 5]
    assert x.logsumexp(axis=1, keepdims=True).shape == (2, 1)


def test_max_of_complex() -> None:
    x = np.array([1 + 2j, 1 + 3j, 0.5 + 9j], np.complex64)
    assert mx.max(mx.array(x)).item() == 1 + 3j
    assert mx.min(mx.array(x)).item() == 0.5 + 9j


def test_count_nonzero_takes_its_axis_by_position() -> None:
    x = mx.array([[1, 0], [2, 3]])
    assert mx.count_nonzero(x, 0, True).tolist() == [[2, 1]]
