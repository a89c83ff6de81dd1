"""New arrays against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.dtype import DTYPES, Dtype

REAL = [d for d in DTYPES if d is not mx.bool_]


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
def test_filled(d: Dtype) -> None:
    for shape in ((), 3, (2, 3), [2, 0]):
        for a, value in ((mx.zeros(shape, d), 0), (mx.ones(shape, d), 1),
                         (mx.full(shape, 1, d), 1), (mx.empty(shape, d), None)):
            assert a.dtype is d
            assert a.shape == np.zeros(shape).shape
            if value is not None:
                np.testing.assert_array_equal(np.array(a), np.full(a.shape, value))
    x = mx.ones((2, 2), d)
    assert mx.zeros_like(x).dtype is d
    assert mx.ones_like(x, mx.float32).dtype is mx.float32
    assert mx.full_like(x, 1).tolist() == x.tolist()
    assert mx.empty_like(x).shape == (2, 2)


def test_full_takes_the_dtype_of_its_value() -> None:
    assert mx.full(2, 3).dtype is mx.int32
    assert mx.full(2, True).dtype is mx.bool_
    assert mx.full(2, 2.5).dtype is mx.float32
    assert mx.full(2, 3.5, mx.int32).tolist() == [3, 3]
    assert mx.full((2, 2), mx.array([1, 2])).tolist() == [[1, 2], [1, 2]]


RANGES: list[tuple[Any, ...]] = [
    (5,), (0,), (-3,), (1, 5), (5, 1), (5, 1, -1), (5, 0, -2), (0, 10, 3), (2, 2), (-1, -5),
    (0, 1, 0.25), (1, 2, 0.1), (0, 10, 2.5), (5.0,), (0.5, 5), (3, 0.5, -0.5), (0.0, -1.0),
]


@pytest.mark.parametrize("args", RANGES, ids=str)
def test_arange(args: tuple[Any, ...]) -> None:
    got, want = mx.arange(*args), np.arange(*args)
    assert got.dtype is (mx.float32 if want.dtype == np.float64 else mx.int32)
    assert got.shape == want.shape
    np.testing.assert_allclose(np.array(got), want, rtol=1e-6)


@pytest.mark.parametrize("d", REAL, ids=lambda d: d.name)
def test_arange_dtypes(d: Dtype) -> None:
    got = mx.arange(0, 100, 3, dtype=d)
    assert got.dtype is d
    np.testing.assert_array_equal(np.array(got).real, np.arange(0, 100, 3))


def test_arange_forms() -> None:
    assert mx.arange(1, 4, dtype=mx.float16).tolist() == [1, 2, 3]
    assert mx.arange(1, 4, 2, mx.int8).dtype is mx.int8
    assert mx.arange(stop=3).tolist() == [0, 1, 2]
    assert mx.arange(start=1, stop=3).tolist() == [1, 2]
    assert mx.arange(1, stop=3).tolist() == [1, 2]
    assert mx.arange(3, None).tolist() == [0, 1, 2]
    assert mx.arange(4, step=2).tolist() == [0, 2]
    assert mx.arange(2**33, 2**33 + 2).dtype is mx.int64
    assert mx.arange(300, dtype=mx.uint8)[-1].item() == 299 % 256
    assert mx.arange(0.5, 4, dtype=mx.int32).tolist() == [0, 1, 2, 3]
    assert mx.arange(0, 1, 0.1).size == 10
    # i*step, not a running sum: no error builds up.
    x = np.array(mx.arange(0, 1000, 0.1))
    np.testing.assert_array_equal(x, (np.arange(10000) * 0.1).astype(np.float32))


@pytest.mark.parametrize(("start", "stop", "num"), [
    (0, 1, 5), (0, 1, 1), (0, 1, 0), (1, 1, 3), (-3.3, 5, 100), (5, -2, 7)])
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace(start: float, stop: float, num: int, endpoint: bool) -> None:
    for d in (mx.float16, mx.float32, mx.float64):
        got = mx.linspace(start, stop, num, endpoint, d)
        assert got.dtype is d
        np.testing.assert_allclose(np.array(got), np.linspace(start, stop, num, endpoint),
                                   rtol=1e-3 if d is mx.float16 else 1e-6, atol=1e-6)
    if num > 1 and endpoint:
        assert mx.linspace(start, stop, num)[-1].item() == np.float32(stop)


def test_linspace_of_integers() -> None:
    assert mx.linspace(0, 10, 5, dtype=mx.int32).tolist() == [0, 2, 5, 7, 10]
    assert mx.linspace(0, 1).shape == (50,)


@pytest.mark.parametrize(("n", "m", "k"), [(3, None, 0), (2, 3, 1), (3, 2, -1), (0, 2, 0),
                                           (3, 3, 5), (3, 3, -5)])
def test_matrices(n: int, m: int | None, k: int) -> None:
    for d in (mx.float32, mx.int8, mx.bool_, mx.complex64):
        np.testing.assert_array_equal(np.array(mx.eye(n, m, k, d)), np.eye(n, m, k))
        np.testing.assert_array_equal(np.array(mx.tri(n, m, k, d)), np.tri(n, m, k))
    np.testing.assert_array_equal(np.array(mx.identity(n)), np.identity(n))
    assert mx.tri(3).dtype is mx.float32


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sparse", [False, True])
def test_meshgrid(indexing: Any, sparse: bool) -> None:
    xs = [np.arange(2), np.arange(3.0), np.arange(4)]
    for k in (1, 2, 3):
        got = mx.meshgrid(*[mx.array(x) for x in xs[:k]], sparse=sparse, indexing=indexing)
        want = np.meshgrid(*xs[:k], sparse=sparse, indexing=indexing)
        for ours, theirs in zip(got, want, strict=True):
            assert ours.shape == theirs.shape
            np.testing.assert_array_equal(np.array(ours), theirs)
    assert mx.meshgrid() == ()


def test_asarray() -> None:
    x = mx.array([1, 2])
    assert mx.asarray(x) is x
    assert mx.asarray(x, copy=True) is not x
    assert mx.asarray(x, mx.float32).dtype is mx.float32
    assert mx.asarray([1.5]).tolist() == [1.5]


def test_constants() -> None:
    assert (mx.pi, mx.e, mx.inf, mx.newaxis) == (np.pi, np.e, np.inf, None)
    assert np.isnan(mx.nan)
    assert mx.euler_gamma == np.euler_gamma


def test_trace_adds_like_sum():
    """bool and narrow integers in 32 bits; what `dtype` asks for is the elements' type."""
    m = mx.array([[True, False], [True, True]])
    assert mx.trace(m).dtype == mx.int32 and mx.trace(m).item() == 2
    assert mx.trace(m, dtype=mx.uint8).dtype == mx.uint32
    assert mx.trace(m.astype(mx.float16)).dtype == mx.float16
