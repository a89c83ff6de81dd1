"""Views, joining and splitting against NumPy, on contiguous and strided arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eutectic.core as mx
from eutectic.dtype import DTYPES, Dtype
from eutectic.errors import ArgumentTypeError


def both(shape: tuple[int, ...], d: Dtype = mx.int32) -> tuple[mx.array, np.ndarray]:
    x = np.arange(int(np.prod(shape, initial=1, dtype=int))).reshape(shape).astype(d.np)
    return mx.array(x), x


def same(got: mx.array, want: Any) -> None:
    want = np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_array_equal(np.array(got), want)


VIEWS = [
    ((2, 3, 4), lambda m, a: m.transpose(a, (2, 0, 1))),
    ((2, 3, 4), lambda m, a: m.transpose(a)),
    ((2, 3, 4), lambda m, a: m.transpose(a, (-1, 0, 1))),
    ((2, 3, 4), lambda m, a: m.swapaxes(a, 0, -1)),
    ((2, 3, 4), lambda m, a: m.moveaxis(a, 0, 2)),
    ((2, 3, 4), lambda m, a: m.moveaxis(a, -1, 0)),
    ((2, 3, 4), lambda m, a: m.reshape(a, (4, 6))),
    ((2, 3, 4), lambda m, a: m.reshape(a, (-1, 8))),
    ((2, 3, 4), lambda m, a: m.reshape(m.transpose(a), (6, 4))),
    ((2, 3, 4), lambda m, a: m.reshape(a[:, ::-1, 1:], (3, -1))),
    ((0, 3), lambda m, a: m.reshape(a, (3, 0))),
    ((1,), lambda m, a: m.reshape(a, ())),
    ((), lambda m, a: m.reshape(a, (1, 1))),
    ((1, 3, 1), lambda m, a: m.squeeze(a)),
    ((1, 3, 1), lambda m, a: m.squeeze(a, 0)),
    ((1, 3, 1), lambda m, a: m.squeeze(a, (0, -1))),
    ((2, 3), lambda m, a: m.expand_dims(a, (0, -1))),
    ((2, 3), lambda m, a: m.expand_dims(a, 1)),
    ((2, 3), lambda m, a: m.broadcast_to(a, (4, 2, 3))),
    ((2, 1), lambda m, a: m.broadcast_to(a, (2, 3))),
    ((), lambda m, a: m.broadcast_to(a, (2, 0))),
    ((2, 3), lambda m, a: m.flip(a)),
    ((2, 3), lambda m, a: m.flip(a, 1)),
    ((2, 3), lambda m, a: m.flip(a, (0, 1))),
    ((2, 3), lambda m, a: m.atleast_3d(a)),
    ((3,), lambda m, a: m.atleast_3d(a)),
    ((3,), lambda m, a: m.atleast_2d(a)),
    ((), lambda m, a: m.atleast_1d(a)),
    ((2, 3), lambda m, a: m.tile(a, 2)),
    ((2, 3), lambda m, a: m.tile(a, (2, 1, 2))),
    ((3,), lambda m, a: m.tile(a, 0)),
    ((2, 3), lambda m, a: m.repeat(a, 3)),
    ((2, 3), lambda m, a: m.repeat(a, 2, axis=0)),
    ((2, 3), lambda m, a: m.repeat(a, 0, axis=1)),
    ((5,), lambda m, a: m.roll(a, 2)),
    ((5,), lambda m, a: m.roll(a, -7)),
    ((2, 3), lambda m, a: m.roll(a, 1)),
    ((2, 3), lambda m, a: m.roll(a, (1, 2), (0, 1))),
    ((2, 3), lambda m, a: m.roll(a, (1, 2), 1)),
    ((2, 3), lambda m, a: m.roll(a, 1, (0, 1))),
    ((2, 3), lambda m, a: m.roll(a, shift=-1, axis=0)),
    ((0,), lambda m, a: m.roll(a, 1)),
    ((4, 4), lambda m, a: m.diagonal(a, 1)),
    ((2, 3, 4), lambda m, a: m.diagonal(a, -1, 1, 2)),
    ((2, 3, 4), lambda m, a: m.diagonal(a, 9)),
    ((3,), lambda m, a: m.diag(a)),
    ((3,), lambda m, a: m.diag(a, 2)),
    ((3,), lambda m, a: m.diag(a, -1)),
    ((3, 4), lambda m, a: m.diag(a, 1)),
    ((3, 4), lambda m, a: m.trace(a)),
    ((3, 4), lambda m, a: m.tril(a, -1)),
    ((2, 3, 4), lambda m, a: m.triu(a, 1)),
]


@pytest.mark.parametrize("k", range(len(VIEWS)))
def test_against_numpy(k: int) -> None:
    shape, f = VIEWS[k]
    for d in (mx.int32, mx.complex64, mx.uint8):
        ours, theirs = both(shape, d)
        same(f(mx, ours), f(np, theirs))
    if len(shape) > 1:  # on the transpose of a transpose's copy
        ours, theirs = both(shape[::-1])
        same(f(mx, ours.T), f(np, theirs.T))


def test_views_share_memory() -> None:
    a = mx.arange(24).reshape(2, 3, 4)
    mx.eval(a)
    wide = mx.broadcast_to(a, (5, 2, 3, 4))
    for v in (a.T, a[1], a[:, ::-1], a[0, :, 1:3], a.reshape(6, 4), wide):
        mx.eval(v)
        assert v._n.data.buffer is a._n.data.buffer


def test_flatten_and_unflatten() -> None:
    a, x = both((2, 3, 4))
    same(a.flatten(), x.ravel())
    same(mx.flatten(a, 1), x.reshape(2, 12))
    same(mx.flatten(a, 0, 1), x.reshape(6, 4))
    same(mx.flatten(a, -7, 9), x.ravel())
    same(mx.flatten(mx.array(1)), [1])
    for shape in ((2, 3), ()):
        with pytest.raises(ArgumentTypeError, match=r"\[flatten\] start_axis must be an integer"):
            mx.ones(shape).flatten(1.5)
    same(mx.unflatten(a, 2, (2, -1)), x.reshape(2, 3, 2, 2))


def test_joining() -> None:
    a, x = both((2, 3))
    b, y = both((1, 3))
    same(mx.concatenate([a, b, a]), np.concatenate([x, y, x]))
    same(mx.concatenate([a, a.T.T[:, :1]], axis=-1), np.concatenate([x, x[:, :1]], axis=-1))
    same(mx.concatenate([a, b], axis=None), np.concatenate([x, y], axis=None))
    same(mx.concatenate([a[:0], a]), x)
    for axis in (0, 1, -1):
        same(mx.stack([a, a + 1], axis=axis), np.stack([x, x + 1], axis=axis))
    assert mx.concatenate([mx.zeros(1, mx.int8), mx.zeros(1, mx.float16)]).dtype is mx.float16
    assert mx.stack([mx.array(1), mx.array(2.5)]).tolist() == [1, 2.5]


def test_splitting() -> None:
    a, x = both((6, 2))
    for how in (3, [1, 4], [4, 1], [-1], [9], []):
        parts = mx.split(a, how)
        if how != [4, 1]:
            for ours, theirs in zip(parts, np.split(x, how), strict=True):
                same(ours, theirs)
    assert [p.shape for p in mx.split(a, mx.array([4, 1]))] == [(4, 2), (0, 2), (5, 2)]
    assert [p.shape for p in mx.split(a, [4, 1])] == [(4, 2), (0, 2), (5, 2)]
    assert [p.shape for p in a.split(2, axis=1)] == [(6, 1), (6, 1)]
    assert [p.tolist() for p in mx.unstack(a[:2], axis=1)] == [[0, 2], [1, 3]]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("width", [0, 1, (1, 2), ((2, 0), (1, 3)), ((0, 7), (9, 0))])
def test_pad(mode: str, width: Any) -> None:
    a, x = both((3, 4))
    same(mx.pad(a, width, mode), np.pad(x, width, mode=mode))
    same(mx.pad(a.T, width, mode), np.pad(x.T, width, mode=mode))
    if mode == "constant":
        same(mx.pad(a, width, constant_values=7), np.pad(x, width, constant_values=7))
        same(mx.pad(a, width, constant_values=mx.array(2.5)), np.pad(x, width, constant_values=2))


@given(st.integers(1, 5), st.integers(0, 12), st.integers(0, 12),
       st.sampled_from(["reflect", "symmetric"]))
def test_reflections(length: int, low: int, high: int, mode: Any) -> None:
    x = np.arange(length)
    same(mx.pad(mx.array(x), (low, high), mode), np.pad(x, (low, high), mode=mode))


@pytest.mark.parametrize("source", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("to", DTYPES, ids=lambda d: d.name)
def test_view_as_dtype(source: Dtype, to: Dtype) -> None:
    if to is mx.bool_ and source is not mx.bool_:
        return  # bytes other than 0 and 1 have no meaning
    raw = (np.arange(32) * 37 % 251).astype(np.uint8)
    if source is mx.bool_:
        raw %= 2
    x = raw.view(source.np).reshape(2, -1)
    a = mx.array(x, source) if source is not mx.bfloat16 else mx.array(x).view(mx.bfloat16)
    got = a.view(to)
    assert got.dtype is to
    assert bytes(got) == x.tobytes() or _quieted(got, x.view(to.np))
    assert got.shape == x.view(to.np).shape


def _quieted(got: mx.array, want: np.ndarray) -> bool:
    """Equal but for signalling NaNs, which a conversion between half and float32 makes quiet."""
    ours = np.array(mx.array(got).astype(mx.float32) if got.dtype.is_half else got)
    if got.dtype is mx.bfloat16:
        want = (want.astype(np.uint32) << 16).view(np.float32)
    return np.array_equal(ours, want.astype(ours.dtype), equal_nan=True)


def test_methods_and_properties() -> None:
    a, x = both((2, 3, 4))
    same(a.T, x.T)
    same(a.mT, np.swapaxes(x, 1, 2))
    same(a.transpose(1, 0, 2), x.transpose(1, 0, 2))
    same(a.transpose((1, 0, 2)), x.transpose(1, 0, 2))
    same(a.reshape([4, 6]), x.reshape(4, 6))
    same(mx.contiguous(a.T), x.T)
    assert mx.contiguous(a.T)._n.inputs
    assert mx.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert [b.shape for b in mx.broadcast_arrays(a, mx.array(1))] == [(2, 3, 4)] * 2


def test_many_axes() -> None:
    shape = (2, 1, 2, 1, 2, 1, 2, 1, 2, 2)
    a, x = both(shape)
    same(a.T + 1, x.T + 1)
    same(a.transpose(tuple(range(9, -1, -1)))[..., ::-1] * 2, x.T[..., ::-1] * 2)
