"""Reading and writing with basic indices against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eutectic.core as mx
from eutectic.dtype import DTYPES, Dtype

SHAPE = (4, 5, 3)
INDICES: list[Any] = [
    0, -1, 3, (1, 2), (1, -2, 0), slice(None), slice(1, 3), slice(None, None, -1), slice(3, 0, -2),
    slice(10, 20), slice(-2, None), (slice(None), 1), (slice(1, None, 2), slice(None, None, 3)),
    ..., (..., 0), (0, ...), (0, ..., 1), None, (None, 1), (1, None), (..., None),
    (None, ..., None),
    (slice(2), None, slice(None, None, -2), 1), (), (slice(2, 2),), (slice(None), slice(4, 1), 0),
    np.int64(2), (np.int8(-1), slice(None, np.int32(2))),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_read(index: Any) -> None:
    x = np.arange(60).reshape(SHAPE)
    got = mx.array(x)[index]
    assert got.shape == x[index].shape
    np.testing.assert_array_equal(np.array(got), x[index])
    y = x.transpose(2, 0, 1)[:, ::-1]
    np.testing.assert_array_equal(np.array(mx.array(x).transpose(2, 0, 1)[:, ::-1][..., 1:]),
                                  y[..., 1:])


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_write(index: Any) -> None:
    x = np.arange(60).reshape(SHAPE)
    for value in (7, np.arange(x[index].size).reshape(x[index].shape) + 100,
                  np.arange(x[index].shape[-1]) if x[index].ndim else np.array(3)):
        want = x.copy()
        want[index] = value
        a = mx.array(x)
        before = mx.array(a)
        a[index] = mx.array(value) if isinstance(value, np.ndarray) else value
        np.testing.assert_array_equal(np.array(a), want)
        np.testing.assert_array_equal(np.array(before), x)


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
def test_write_converts(d: Dtype) -> None:
    a = mx.zeros((2, 3), d)
    a[0, 1:] = mx.array([1.7, 0.0])
    assert a.dtype is d
    assert np.array(a)[0].tolist() == np.array(mx.array([0, 1.7, 0]).astype(d)).tolist()
    a[:] = True
    assert np.array(a.astype(mx.float32)).sum() == 6


def test_write_values() -> None:
    a = mx.arange(6).reshape(2, 3)
    a[0] = [7, 8, 9]
    a[1, :2] = np.array([[4.9, 5.9]])
    assert a.tolist() == [[7, 8, 9], [4, 5, 5]]
    s = mx.array(1)
    s[...] = 5
    s[None] = mx.array([6])
    assert s.item() == 6
    b = mx.zeros(5)
    b[::2] += 1
    b[1] -= 2
    assert b.tolist() == [1, -2, 1, 0, 1]
    b[:] = b[::-1]
    assert b.tolist() == [1, 0, 1, -2, 1]


slices = st.slices(7) | st.integers(-7, 6) | st.just(slice(None))


@given(st.tuples(slices, slices), st.integers(0, 100))
def test_any_write(index: Any, value: int) -> None:
    x = np.arange(49).reshape(7, 7)
    want = x.copy()
    fill = np.arange(x[index].size).reshape(x[index].shape) + value
    want[index] = fill
    a = mx.array(x)
    np.testing.assert_array_equal(np.array(a[index]), x[index])
    a[index] = mx.array(fill)
    np.testing.assert_array_equal(np.array(a), want)


def test_in_place_operators() -> None:
    a = mx.array([1.0, 2.0])
    same, copy = a, mx.array(a)
    a += 1
    assert same is a
    assert same.tolist() == [2, 3]
    assert copy.tolist() == [1, 2]
    a -= 1
    a *= 6
    a /= 4
    a //= 1
    a **= 2
    a %= 4
    assert a.tolist() == [1, 1]
    i = mx.array([6, 5])
    i &= 3
    i |= 8
    i ^= 1
    i <<= 2
    i >>= 1
    assert i.tolist() == [22, 16]
    i += 0.5
    assert i.dtype is mx.float32
    m = mx.array([[2.0]])
    m @= mx.array([[3.0, 4.0]])
    assert m.tolist() == [[6, 8]]
    with pytest.raises(TypeError, match="unsupported operand"):
        a += "x"


def test_iteration() -> None:
    a = mx.array([[1, 2], [3, 4]])
    assert [r.tolist() for r in a] == [[1, 2], [3, 4]]
    assert len(a) == 2
    assert 3 in a
    assert 9 not in a
    x, y = mx.array([5, 6])
    assert (x.item(), y.item()) == (5, 6)
