"""Layouts: every way that elements may lie in memory gives the results of row-major memory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from programs import LAYOUTS, Source, make

import eutectic.core as mx
from eutectic.dtype import DTYPES

FUNCTIONS = {
    "map": lambda x: x + x,
    "column broadcast": lambda x: x + x[..., :1],
    "sum of rows": lambda x: mx.sum(x, axis=-1),
    "sum of columns": lambda x: mx.sum(x, axis=0),
    "max of all": lambda x: mx.max(x),
    "copy": lambda x: mx.reshape(x, (-1,)),
    "joined": lambda x: mx.concatenate([x, x[::-1]], axis=0),
    "shifted": lambda x: x[..., 1:] + x[..., :-1],
}


@pytest.mark.parametrize("layout", sorted(set(LAYOUTS)))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_layouts(name, layout):
    fun = FUNCTIONS[name]
    g = mx.compile(fun)
    shapes = [(3, 5), (16, 17), (1, 65), (2, 3, 33), (129, 2)]
    for k, (shape, d) in enumerate(itertools.product(shapes, ("float32", "bfloat16", "int8"))):
        strided, straight = make(Source(d, shape, layout, "special", k))
        expected = bytes(fun(straight)) if d == "int8" else None
        results = [fun(straight), fun(strided), g(strided), g(straight)]
        first = np.array(results[0].astype(mx.float64) if d != "int8" else results[0])
        for r in results:
            assert r.shape == results[0].shape and r.dtype == results[0].dtype
            if expected is not None:
                assert bytes(r) == expected
            else:
                assert np.array_equal(np.array(r.astype(mx.float64)), first, equal_nan=True)


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
def test_moving_elements_keeps_every_bit(d):
    """Copies, joins, pads and choices of NaNs with payloads, signalling ones included."""
    for layout in sorted(set(LAYOUTS)):
        strided, straight = make(Source(d.name, (17, 9), layout, "special", 3))
        for fun in (lambda x: mx.reshape(x, (-1,)), lambda x: mx.concatenate([x, x], axis=1),
                    lambda x: mx.contiguous(mx.transpose(x)), lambda x: mx.tile(x, (2, 3)),
                    lambda x: mx.pad(x, 1), lambda x: mx.roll(x, 3, 0),
                    lambda x: mx.repeat(x, 2, axis=1)):
            assert bytes(fun(strided)) == bytes(fun(straight)) == bytes(mx.compile(fun)(strided))
        assert bytes(strided) == bytes(straight)


@pytest.mark.parametrize("d", [mx.float16, mx.bfloat16], ids=lambda d: d.name)
def test_bits_of_halves_seen_as_integers(d):
    """Signalling NaNs pass through choices and views unchanged, once a row as well."""
    strided, x = make(Source(d.name, (5, 34), "broadcast", "bits", 1))
    for fun in (lambda x: mx.view(x, mx.uint16), lambda x: mx.view(x, mx.uint8),
                lambda x: mx.sum(mx.view(x, mx.uint8).astype(mx.int32)),
                lambda x: mx.view(mx.where(mx.isnan(x), x, mx.broadcast_to(x[:1], x.shape)),
                                  mx.uint16),
                lambda x: mx.maximum(x, x), lambda x: mx.broadcast_to(x[:, :1], (5, 34))):
        assert bytes(fun(x)) == bytes(fun(strided))
        assert bytes(fun(x)) == bytes(mx.compile(fun)(strided)) == bytes(mx.compile(fun)(x))
    assert bytes(mx.view(x, mx.uint16)) == bytes(x)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000])
def test_odd_lengths_and_unaligned_starts(n):
    data = np.random.default_rng(n).standard_normal(n + 8).astype(np.float32)
    big = mx.array(data)
    g = mx.compile(lambda x: (x * 2 + 1, mx.sum(x)))
    for start in (0, 1, 3, 7):
        y, s = g(big[start:start + n])
        part = data[start:start + n]
        assert np.array_equal(np.array(y), part * np.float32(2) + np.float32(1))
        assert bytes(s) == bytes(mx.sum(mx.array(part.copy())))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4), (0, 0)])
def test_no_elements(shape):
    x = mx.zeros(shape)
    for fun in (lambda x: mx.exp(x) + 1, lambda x: mx.sum(x), lambda x: mx.sum(x, axis=-1),
                lambda x: mx.prod(x, axis=0), lambda x: mx.all(x), lambda x: mx.mean(x),
                lambda x: mx.transpose(x), lambda x: mx.reshape(x, (0, 5)),
                lambda x: mx.concatenate([x, x]), lambda x: mx.softmax(x, axis=-1),
                lambda x: mx.reshape(mx.exp(mx.reshape(x, (0,))), (5, 0)) * 2,
                lambda x: mx.broadcast_to(x, (2, *shape))):
        e, c = fun(x), mx.compile(fun)(x)
        assert (e.shape, e.dtype, bytes(e)) == (c.shape, c.dtype, bytes(c))


def test_no_axes():
    x = mx.array(2.0)
    for fun in (lambda x: x + x, lambda x: mx.sum(x), lambda x: mx.max(x),
                lambda x: mx.reshape(x, (1, 1)), lambda x: mx.broadcast_to(x, (3, 70)) * 2,
                lambda x: mx.transpose(x), lambda x: mx.argmax(x), lambda x: mx.softmax(x)):
        e, c = fun(x), mx.compile(fun)(x)
        assert (e.shape, bytes(e)) == (c.shape, bytes(c))


@pytest.mark.parametrize("rank", [9, 12, 20])
def test_many_axes(rank):
    shape = tuple(2 if i % 3 != 1 else 1 for i in range(rank))
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    perm = np.random.default_rng(rank).permutation(rank).tolist()

    def f(a):
        t = mx.transpose(a, perm)
        return t + 1, mx.sum(t, axis=tuple(range(0, rank, 2))), mx.exp(t) * mx.reshape(a, t.shape)
    outs = mx.compile(f)(mx.array(x))
    for e, c in zip(f(mx.array(x)), outs):
        assert bytes(e) == bytes(c)
    assert np.array_equal(np.array(outs[0]), x.transpose(perm) + 1)
    assert np.array_equal(np.array(outs[1]), x.transpose(perm).sum(tuple(range(0, rank, 2))))


def test_many_axes_of_length_one():
    shape = (1,) * 70 + (3,) + (1,) * 30
    f = mx.compile(lambda a: (a + 1, mx.sum(a), mx.transpose(a)))
    for e, shape_of in zip(f(mx.ones(shape)), (shape, (), shape[::-1])):
        assert e.shape == shape_of


def test_update_in_place_of_a_reversed_view():
    def f(x):
        y = x[::-1]
        y = y + 0
        y[1:3] = 7.0
        x[::-1] = y
        return x, y
    data = np.arange(6, dtype=np.float32)
    x, y = f(mx.array(data))
    cx, cy = mx.compile(f)(mx.array(data))
    assert x.tolist() == cx.tolist() == [0, 1, 2, 7, 7, 5]
    assert y.tolist() == cy.tolist()


def test_a_view_keeps_the_value_it_was_taken_from():
    x = mx.array([1.0, 2.0, 3.0])
    v = x[::-1]
    x[0] = 9.0
    assert v.tolist() == [3.0, 2.0, 1.0] and x.tolist() == [9.0, 2.0, 3.0]


def test_overlapping_views_meet():
    x = np.random.default_rng(0).standard_normal(70).astype(np.float32)

    def f(a):
        return a[2:] + a[1:-1] * a[:-2], a + a[::-1], a[::2] - a[1::2]
    a, b, c = mx.compile(f)(mx.array(x))
    assert np.array_equal(np.array(a), x[2:] + x[1:-1] * x[:-2])
    assert np.array_equal(np.array(b), x + x[::-1])
    assert np.array_equal(np.array(c), x[::2] - x[1::2])


def test_overlapping_as_strided():
    x = np.arange(10, dtype=np.float32)

    def f(a):
        windows = mx.as_strided(a, (8, 3), (1, 1))
        return mx.sum(windows, axis=1), windows * 2
    for g in (f, mx.compile(f)):
        sums, twice = g(mx.array(x))
        windows = np.lib.stride_tricks.sliding_window_view(x, 3)
        assert np.array_equal(np.array(sums), windows.sum(1))
        assert np.array_equal(np.array(twice), windows * 2)


def test_a_reshape_that_no_strides_describe():
    for shape, to in (((17, 2, 63), (6, 1, 357)), ((6, 4), (8, 3)), ((5, 7, 2), (2, 35))):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        for a in (mx.array(x), mx.transpose(mx.array(np.ascontiguousarray(x.T)))):
            f = mx.compile(lambda a, to=to: (mx.reshape(a, to) * 2, mx.reshape(a, to),
                                             mx.sum(mx.reshape(a + 1, to), axis=0)))
            twice, same, sums = f(a)
            assert np.array_equal(np.array(twice), x.reshape(to) * 2)
            assert np.array_equal(np.array(same), x.reshape(to))
            assert np.array_equal(np.array(sums), (x + 1).reshape(to).sum(0))
