"""Indexing with arrays, lists and masks, `x.at`, and picking along axes, against NumPy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eutectic.core as mx
from eutectic.dtype import DTYPES, Dtype
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, AxisError, DtypeError, IndexingError, ShapeError, TraceError)

SHAPE = (4, 5, 3)
X = np.arange(60).reshape(SHAPE)

# Index expressions; I makes an index array of ours or NumPy's, x is the array.
INDICES = [
    "[0, 1]", "I([0, 1])", "I([[0, -1], [2, 0]])", "I(1)", "I(-1), 1", "[]",
    "I([0, 1]), slice(None), I([0, 1])", "slice(None), I([0, 1]), I([0, 1])",
    "0, slice(None), I([0, 1])", "I([0, 1]), None, I([0, 1])", "None, I([0, 1])",
    "..., I([0, -1])", "slice(1, None), I([0, -1]), slice(None, None, -2)", "1, I([0, 1]), 2",
    "I([[0], [1]]), I([0, 1, 2])", "slice(None, None, 2), [0, 1], slice(1, 3)", "[[0]], ..., [1]",
    "slice(1, 1), [0, 1]", "0, I([1]), None", "[0, 1], 1", "1, [0, 1]", "(0, 1),", "[], 1",
    "np.array([1, 2])", "np.array(1)", "np.uint8(1), [2]", "slice(None), [], 0",
    "x > 30", "[True, False, True, True]", "slice(None), x[0] > 7", "x[:, :, 0] > 30",
    "x[:, :, 0] > 30, 1", "x[:, 0, 0] > 30, slice(None), I([1])", "..., x[0, 0] > 0", "True",
    "False", "None, True", "True, 0", "..., True", "True, I([0, 1])", "x > 100", "np.array(True)",
    "I([0, 1]), [True, False, False, True, False]", "np.array([2, 0]), [True] * 2 + [False] * 3",
    "x[:, 0, 0] > 10, slice(1, 3)",
]


def index_of(text: str, x: Any, make: Callable[..., Any]) -> Any:
    return eval(text, {"np": np, "x": x, "I": make})


@pytest.mark.parametrize("text", INDICES)
@pytest.mark.parametrize("layout", ["plain", "transposed", "reversed"])
def test_read(text: str, layout: str) -> None:
    x, a = X, mx.array(X)
    if layout == "transposed":
        x, a = X.reshape(3, 4, 5).transpose(1, 2, 0), a.reshape(3, 4, 5).transpose(1, 2, 0)
    elif layout == "reversed":
        x, a = X[::-1, :, ::-1], a[::-1, :, ::-1]
    want = x[index_of(text, x, np.array)]
    got = a[index_of(text, a, mx.array)]
    assert got.shape == want.shape
    np.testing.assert_array_equal(np.array(got), want)


@pytest.mark.parametrize("text", INDICES)
def test_write(text: str) -> None:
    part = X[index_of(text, X, np.array)]
    for value in (7, np.arange(part.size).reshape(part.shape) + 100,
                  np.arange(part.shape[-1]) if part.ndim else np.array(3)):
        want = X.copy()
        want[index_of(text, X, np.array)] = value
        a = mx.array(X)
        before = mx.array(a)
        a[index_of(text, a, mx.array)] = mx.array(value) if isinstance(value, np.ndarray) else value
        np.testing.assert_array_equal(np.array(a), want)
        np.testing.assert_array_equal(np.array(before), X)


@pytest.mark.parametrize("text", INDICES)
def test_at(text: str) -> None:
    part = X[index_of(text, X, np.array)]
    value = np.arange(part.size).reshape(part.shape) + 3
    for name, ufunc in (("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply),
                        ("maximum", np.maximum), ("minimum", np.minimum)):
        want = X.copy()
        ufunc.at(want, index_of(text, X, np.array), value)
        a = mx.array(X)
        got = getattr(a.at[index_of(text, a, mx.array)], name)(mx.array(value))
        np.testing.assert_array_equal(np.array(got), want)
        np.testing.assert_array_equal(np.array(a), X)
    want = X.astype(np.float32)
    np.divide.at(want, index_of(text, X, np.array), value.astype(np.float32))
    a = mx.array(X.astype(np.float32))
    got = a.at[index_of(text, a, mx.array)].divide(mx.array(value))
    np.testing.assert_array_equal(np.array(got), want)


def integer_arrays(length: int, shape: tuple[int, ...]) -> st.SearchStrategy[np.ndarray]:
    n = int(np.prod(shape))
    return st.lists(st.integers(-length, length - 1), min_size=n, max_size=n).map(
        lambda v: np.array(v, np.int32).reshape(shape))


@st.composite
def expressions(draw: st.DrawFn) -> tuple[Any, ...]:
    """An index for an array of shape (4, 5, 3): every kind of part, masks among them."""
    shape = draw(st.sampled_from([(), (1,), (3,), (2, 3), (2, 1), (0,)]))
    parts: list[Any] = []
    axis = 0
    while axis < 3:
        d = SHAPE[axis]
        kind = draw(st.sampled_from(["slice", "int", "array", "array", "mask", "none", "stop"]))
        if kind == "stop":
            break
        if kind == "none":
            parts.append(None)
            continue
        if kind == "mask":
            count = int(np.prod(shape[-1:])) if shape else 1
            hits = draw(st.permutations([True] * min(count, d) + [False] * (d - min(count, d))))
            parts.append(np.array(hits))
        elif kind == "array":
            cut = draw(st.integers(0, len(shape)))
            parts.append(draw(integer_arrays(d, shape[cut:])))
        elif kind == "int":
            parts.append(draw(st.integers(-d, d - 1)))
        else:
            parts.append(draw(st.slices(d)))
        axis += 1
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), Ellipsis)
    return tuple(parts)


def ours(part: Any, dtype: str) -> Any:
    if not isinstance(part, np.ndarray):
        return part
    return mx.array(part if part.dtype == bool else part.astype(dtype))


@settings(max_examples=60)
@given(expressions(), st.sampled_from(["int8", "int16", "int32", "int64"]), st.data())
def test_any_index(index: tuple[Any, ...], dtype: str, data: st.DataObject) -> None:
    x = X.astype(np.float32)
    try:
        part = x[index]
    except IndexError:  # index shapes that do not broadcast
        with pytest.raises((IndexError, ValueError)):
            mx.array(x)[tuple(ours(p, dtype) for p in index)]
        return
    mine = tuple(ours(p, dtype) for p in index)
    a = mx.array(x)
    got = a[mine]
    assert got.shape == part.shape
    np.testing.assert_array_equal(np.array(got), part)
    value = np.arange(part.size, dtype=np.float32).reshape(part.shape) + 1
    want = x.copy()
    want[index] = value
    a[mine] = mx.array(value)
    np.testing.assert_array_equal(np.array(a), want)
    name, ufunc = data.draw(st.sampled_from(
        [("add", np.add), ("divide", np.divide), ("maximum", np.maximum)]))
    want = x.copy()
    ufunc.at(want, index, value)
    changed = getattr(mx.array(x).at[mine], name)(mx.array(value))
    np.testing.assert_array_equal(np.array(changed), want)
    if any(isinstance(p, np.ndarray) and p.dtype == bool for p in index):
        return

    @mx.compile
    def compiled(a: mx.array, v: mx.array, *arrays: mx.array) -> tuple[mx.array, mx.array]:
        rest = iter(arrays)
        i = tuple([next(rest) if isinstance(p, mx.array) else p for p in mine])
        return a[i] * 2, getattr(a.at[i], name)(v)

    twice, again = compiled(mx.array(x), mx.array(value),
                            *[p for p in mine if isinstance(p, mx.array)])
    assert bytes(again) == bytes(changed)
    assert bytes(twice) == bytes(got * 2)


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
def test_every_dtype(d: Dtype) -> None:
    a = mx.array(np.arange(12).reshape(3, 4) % 2 if d is mx.bool_ else
                 np.arange(12).reshape(3, 4)).astype(d)
    b = np.array(a.astype(mx.float32))
    assert np.array_equal(np.array(a[[2, 0]].astype(mx.float32)), b[[2, 0]])
    assert np.array_equal(np.array(a[:, mx.array([1, 1])].astype(mx.float32)), b[:, [1, 1]])
    c = mx.array(a)
    c[mx.array([0, 2]), mx.array([1, 1])] = mx.array([1.7, 0.0])
    one = np.array(mx.array([1.7, 0.0]).astype(d).astype(mx.float32))
    b[[0, 2], [1, 1]] = one
    assert c.dtype is d
    assert np.array_equal(np.array(c.astype(mx.float32)), b)
    for i in (mx.array([1, 1]), slice(1, 2), mx.array([False, True, False])):
        added = a.at[i].add(1)
        assert added.dtype is d
        once = 1 if d is mx.bool_ or not isinstance(i, mx.array) or i.dtype is mx.bool_ else 2
        want = np.array(a.astype(mx.float32))
        want[1] = np.minimum(want[1] + once, 1) if d is mx.bool_ else want[1] + once
        assert np.array_equal(np.array(added.astype(mx.float32)), want)
    if d.is_float or d.is_complex:
        assert np.array_equal(np.array(a.at[mx.array([1, 1])].divide(2).astype(mx.float32))[1],
                              np.array(a.astype(mx.float32))[1] / 4)
    else:
        with pytest.raises(DtypeError, match="divide does not take"):
            a.at[0].divide(2)


@pytest.mark.parametrize("d", [d for d in DTYPES if d.is_int], ids=lambda d: d.name)
def test_index_dtypes(d: Dtype) -> None:
    a = mx.array(X)
    i = mx.array([0, 3, 1], d)
    assert np.array_equal(np.array(a[i]), X[[0, 3, 1]])
    assert np.array_equal(np.array(mx.take(a, i, axis=1)), X[:, [0, 3, 1]])
    assert np.array_equal(np.array(a.at[i].add(1)), X + np.array([1, 1, 0, 1])[:, None, None])
    if d.is_signed:
        assert np.array_equal(np.array(a[mx.array([-1, -4], d)]), X[[-1, -4]])


def test_out_of_range_is_clamped() -> None:
    a = mx.array([10, 20, 30])
    assert a[mx.array([5, -9, 3, -3])].tolist() == [30, 10, 30, 10]
    assert mx.take(a, mx.array([2**40, -2**40])).tolist() == [30, 10]
    assert a.at[mx.array([7])].add(1).tolist() == [10, 20, 31]
    assert mx.take_along_axis(a, mx.array([9])).tolist() == [30]
    assert mx.slice(a, mx.array([9]), [0], [2]).tolist() == [20, 30]
    assert mx.slice(a, mx.array([-9]), [0], [2]).tolist() == [10, 20]
    assert mx.slice_update(a, mx.array([1, 2]), mx.array([9]), [0]).tolist() == [10, 1, 2]


def test_views_stay_views() -> None:
    a = mx.array(X)
    for index in (0, (1, slice(None)), (..., 2), np.int64(1), (slice(1, 3), None, slice(0, 2))):
        assert a[index]._n.prim.family == "view"
    assert mx.take(a, 2, axis=1)._n.prim.family == "view"
    assert mx.slice(a, [1], [0], [2, 5, 3])._n.prim.family == "view"
    assert mx.as_strided(a, (5, 12))._n.prim.family == "view"


def test_masks() -> None:
    a = mx.arange(6)
    mask = a > 2
    a[mask] = mx.array([7, 8, 9, 10])  # the first ones are taken, as MLX does
    assert a.tolist() == [0, 1, 2, 7, 8, 9]
    a[mask] = 1.9
    assert a.tolist() == [0, 1, 2, 1, 1, 1]
    with pytest.raises(ShapeError, match=re.escape(
            "[index] 2 values of shape (2,) for the 3 true elements of a mask over shape (6,).")):
        a[mask] = mx.array([1, 2])
    a[a > 100] = mx.array([1, 2])
    assert a.tolist() == [0, 1, 2, 1, 1, 1]

    @mx.compile
    def fill(x: mx.array, values: mx.array) -> mx.array:
        x[x > 2] = values
        return x.at[x > 5].multiply(2)

    assert fill(mx.arange(6), mx.array([7, 8, 4])).tolist() == [0, 1, 2, 14, 16, 4]
    assert fill(mx.arange(6), mx.array(3)).tolist() == [0, 1, 2, 3, 3, 3]

    @mx.compile
    def pick(x: mx.array) -> mx.array:
        return x[x > 2]

    with pytest.raises(TraceError, match=r"(?s)^\[mask index\] .*x\[x > 2\].*Use mx\.where "
                                         "with the mask"):
        pick(a)


def test_empty() -> None:
    a = mx.zeros((3, 0))
    assert a[[0, 1]].shape == (2, 0)
    assert a[:, []].shape == (3, 0)
    assert a[mx.zeros((0, 2), mx.int32)].shape == (0, 2, 0)
    assert mx.take(a, mx.array([2, 1]), axis=0).shape == (2, 0)
    assert mx.take(mx.ones(3), mx.zeros((0,), mx.int32)).shape == (0,)
    b = mx.ones(3)
    b[[]] = 5
    b[mx.zeros((0,), mx.int32)] = mx.zeros((0,))
    assert b.tolist() == [1, 1, 1]
    assert b.at[[]].add(1).tolist() == [1, 1, 1]
    with pytest.raises(IndexError, match="no elements to pick on axis 1"):
        a[:, mx.array([0])]
    with pytest.raises(IndexError, match="no elements to take on axis 1"):
        mx.take(a, mx.array([0]), axis=1)


def test_order_of_updates() -> None:
    i = mx.array([1, 0, 1, 1])
    a = mx.zeros(3)
    a[i] = mx.array([1.0, 2.0, 3.0, 4.0])
    assert a.tolist() == [2, 4, 0]
    assert mx.zeros(3).at[i].add(mx.array([1.0, 2.0, 3.0, 4.0])).tolist() == [2, 8, 0]
    assert mx.ones((3, 2)).at[i].divide(2).tolist() == [[0.5, 0.5], [0.125, 0.125], [1, 1]]


@pytest.mark.parametrize("f", [
    lambda x: mx.zeros((20,)).at[mx.argmax(x, -1)].add(1.0),
    lambda x: mx.zeros((60,)).at[mx.arange(60)].add(x.sum(-1)),
    lambda x: mx.zeros((20,)).at[mx.argmax(x, 0) % 20].maximum(x.max(0)),
    lambda x: mx.zeros((60, 20)).at[mx.arange(60)].add(x / x.sum(-1, keepdims=True)),
    lambda x: mx.zeros((3,)).at[1].add(x.sum()),
])
def test_updates_made_by_reductions(f: Callable[[mx.array], mx.array]) -> None:
    """One update for each row, or column: the scatter is no part of the reduction's kernel."""
    x = mx.array(np.random.default_rng(3).standard_normal((60, 20)).astype(np.float32))
    assert np.array(f(x)).tobytes() == np.array(mx.compile(f)(x)).tobytes()


@pytest.mark.parametrize("update", ["add", "multiply", "set"])
def test_updates_made_by_a_product(update: str) -> None:
    """Blocks of a product are computed in parallel, updates of one place are made in order."""
    rng = np.random.default_rng(4)
    x, w = (mx.array(rng.standard_normal(s).astype(np.float32)) for s in ((512, 64), (64, 128)))
    at = mx.array(rng.integers(0, 3, 512))

    def f(x: mx.array) -> mx.array:
        if update == "set":
            out = mx.zeros((3, 128))
            out[at] = x @ w
            return out
        return getattr(mx.zeros((3, 128)).at[at], update)(x @ w)

    plain, g = bytes(f(x)), mx.compile(f)
    assert all(bytes(g(x)) == plain for _ in range(30))


@pytest.mark.parametrize("width", [1, 3, 16, 64, 70, 300])
def test_rows_far_ahead(width: int) -> None:
    """Rows whose memory is asked for early: the last ones, nested ones, indices out of range."""
    rng = np.random.default_rng(width)
    table = rng.standard_normal((50, width)).astype(np.float32)
    rows = rng.integers(-50, 50, (7, 11)).astype(np.int32)
    np.testing.assert_array_equal(np.array(mx.take(mx.array(table), mx.array(rows), 0)),
                                  table[rows])
    wild = np.where(rng.random(rows.shape) < 0.3, np.int32(1 << 30), rows)
    near = np.clip(wild, -50, 49)
    np.testing.assert_array_equal(np.array(mx.take(mx.array(table), mx.array(wild), 0)),
                                  table[near])
    updates = rng.standard_normal((7, 11, width)).astype(np.float32)
    want = table.copy()
    np.add.at(want, rows, updates)
    f = mx.compile(lambda t, i, u: t.at[i].add(u))
    for got in (mx.array(table).at[mx.array(rows)].add(mx.array(updates)),
                f(mx.array(table), mx.array(rows), mx.array(updates))):
        np.testing.assert_array_equal(np.array(got), want)


def test_take() -> None:
    a = mx.array(X)
    for axis in (0, 1, 2, -1):
        for index in ([0, 2], [[1], [0]], -1, 1):
            want = np.take(X, index, axis)
            assert np.array_equal(np.array(mx.take(a, mx.array(index), axis)), want)
            assert np.array_equal(np.array(mx.take(a, index, axis)), want)
    assert np.array_equal(np.array(mx.take(a, mx.array([59, 0, -2]))), X.ravel()[[59, 0, -2]])
    t = mx.array(X).T
    assert np.array_equal(np.array(mx.take(t, mx.array([7, 1]))), X.T.ravel()[[7, 1]])
    assert mx.take(mx.array(5), 0).item() == 5


def test_along_axis() -> None:
    rng = np.random.default_rng(0)
    a = mx.array(X)
    for axis in (0, 1, 2, -2):
        order = rng.permuted(np.broadcast_to(np.arange(SHAPE[axis]).reshape(
            [-1 if k == axis % 3 else 1 for k in range(3)]), SHAPE), axis=axis)
        want = np.take_along_axis(X, order, axis)
        assert np.array_equal(np.array(mx.take_along_axis(a, mx.array(order), axis)), want)
        put = X.copy()
        np.put_along_axis(put, order, want * 3, axis)
        got = mx.put_along_axis(a, mx.array(order), mx.array(want * 3), axis)
        assert np.array_equal(np.array(got), put)
    one = mx.take_along_axis(a, mx.array([[[1]]]), 1)
    assert np.array_equal(np.array(one), X[:, 1:2])
    assert mx.take_along_axis(a, mx.array([7, 3]), None).tolist() == [7, 3]
    assert mx.put_along_axis(mx.zeros((2, 2)), mx.array([3, 0]), mx.array([1, 2])).tolist() == [
        [2, 0], [0, 1]]


def test_dynamic_slices() -> None:
    a = mx.array(X)

    @mx.compile
    def part(x: mx.array, start: mx.array) -> tuple[mx.array, mx.array]:
        return (mx.slice(x, start, (0, 1), (2, 2, 3)),
                mx.slice_update(x, mx.ones((2, 2, 3)), start, (0, 1)))

    for i, j in ((0, 0), (1, 2), (2, 3), (-2, -3)):
        start = mx.array([i, j])
        got = mx.slice(a, start, (0, 1), (2, 2, 3))
        i, j = i % 4, j % 5
        assert np.array_equal(np.array(got), X[i:i + 2, j:j + 2])
        want = X.copy()
        want[i:i + 2, j:j + 2] = 1
        updated = mx.slice_update(a, mx.ones((2, 2, 3)), start, (0, 1))
        assert np.array_equal(np.array(updated), want)
        assert np.array_equal(np.array(mx.slice_update(a, 1, [i, j], (0, 1)))[i, j], [1, 1, 1])
        both = part(a, start)
        assert [bytes(x) for x in both] == [bytes(got), bytes(updated)]
    # An update without an axis in front: whole there, or one element if the axis has a start.
    assert mx.slice_update(mx.zeros((2, 3)), mx.array([1, 2]), mx.array([1]), [1]).tolist() == [
        [0, 1, 2], [0, 1, 2]]
    assert mx.slice_update(mx.zeros((2, 3)), mx.array([1, 2]), mx.array([1]), [0]).tolist() == [
        [0, 0, 0], [1, 2, 0]]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(-6, 6)), max_size=3), st.integers(0, 30))
def test_as_strided(axes: list[tuple[int, int]], offset: int) -> None:
    shape, strides = tuple(d for d, _s in axes), tuple(s for _d, s in axes)
    reach = [s * (d - 1) for d, s in axes]
    flat = np.arange(40, dtype=np.int32)
    a = mx.array(flat[::-1].copy())[::-1].reshape(4, 10)
    inside = (offset + sum(min(r, 0) for r in reach) >= 0
              and offset + sum(max(r, 0) for r in reach) < 40)
    if not inside:
        with pytest.raises(ShapeError, match=r"\[as_strided\] .* read elements"):
            mx.as_strided(a, shape, strides, offset)
        return
    want = np.lib.stride_tricks.as_strided(flat[offset:], shape, [4 * s for s in strides])
    got = mx.as_strided(a, shape, strides, offset)
    assert got.shape == shape
    np.testing.assert_array_equal(np.array(got), want)


A = "mx.ones((2, 3))"
ERRORS: list[tuple[str, type[Exception], str]] = [
    (f"{A}[[0, 2]]", IndexingError, "[index] index 2 is out of range for axis 0 of shape (2,3)."),
    (f"{A}[:, np.array([-4])]", IndexingError,
     "[index] index -4 is out of range for axis 1 of shape (2,3)."),
    (f"{A}[mx.array([0.5])]", IndexingError, "[index] indices are integers or booleans, not float"),
    (f"{A}[[0.5]]", IndexingError, "[index] indices are integers or booleans, not float32."),
    (f"{A}[[[0], [0, 1]]]", ShapeError, "[index] the nested lists of an index are ragged."),
    (f"{A}[mx.array([0, 1]), mx.array([0, 1, 2])]", ShapeError,
     "[index] shapes (2,) and (3,) cannot be broadcast together."),
    (f"{A}[mx.array([True])]", IndexingError,
     "[index] a mask of shape (1,) does not match the axes from 0 of shape (2,3)."),
    (f"{A}[0, 0, [0]]", IndexingError, "[index] 3 indices for the 2 axes of shape (2,3)."),
    (f"{A}[[0], ..., ...]", IndexingError, "[index] only one ellipsis (...) is allowed"),
    (f"{A}.at.add(1)", ArgumentTypeError, "[at] needs an index, as in x.at[0].add(1)."),
    ("mx.array([1]).at[0].divide(1)", DtypeError, "[at] divide does not take int32; convert it by "
     "astype(mx.float32)."),
    ("mx.array([True]).at[0].subtract(1)", DtypeError, "[at] subtract does not take bool;"),
    (f"{A}.at[[0, 1]].add(mx.ones(2))", ShapeError,
     "[index] a value of shape (2,) does not broadcast to the selected shape (2,3)."),
    (f"mx.take({A}, 2, axis=0)", IndexingError, "[take] index 2 is out of range for axis 0 of"),
    (f"mx.take({A}, [6])", IndexingError, "[take] index 6 is out of range for axis 0 of shape (6,"),
    (f"mx.take({A}, mx.array([True]))", DtypeError, "[take] indices are integers, not bool; use x"),
    (f"mx.take({A}, mx.array([1]), axis=2)", AxisError, "[take] axis 2 is out of range for shape"),
    (f"mx.take_along_axis({A}, mx.array([1]), 0)", ShapeError,
     "[take_along_axis] indices of shape (1,) need as many axes as the array of shape (2,3)."),
    (f"mx.take_along_axis({A}, mx.array([[0, 0]]), 0)", ShapeError,
     "[take_along_axis] indices of shape (1,2) do not match shape (2,3) outside axis 0."),
    (f"mx.put_along_axis({A}, mx.array([[0, 0]]), 1, 0)", ShapeError,
     "[put_along_axis] indices of shape (1,2) do not match shape (2,3) outside axis 0."),
    (f"mx.slice({A}, mx.array([0]), [0], [3, 3])", ShapeError,
     "[slice] a slice of size (3,3) does not fit shape (2,3)."),
    (f"mx.slice({A}, mx.array([0, 1]), [0], [1, 3])", ShapeError,
     "[slice] 2 start indices for 1 axes."),
    (f"mx.slice({A}, mx.array([0.0]), [0], [1, 3])", DtypeError,
     "[slice] start indices are integers, not float32."),
    (f"mx.slice({A}, [1], [0], [2, 3])", IndexingError,
     "[slice] 2 elements from 1 reach outside axis 0 of shape (2,3)."),
    (f"mx.slice({A}, mx.array([0, 0]), [0, 0], [1, 3])", AxisError,
     "[slice] axis 0 is given twice for shape (2,3)."),
    (f"mx.slice_update({A}, mx.ones((3, 1)), mx.array([0]), [0])", ShapeError,
     "[slice_update] an update of shape (3,1) does not fit shape (2,3)."),
    (f"mx.as_strided({A}, (7,))", ShapeError, "[as_strided] shape (7,), strides (1,) and offset 0 "
     "read elements 0 to 6 of 6."),
    (f"mx.as_strided({A}, (2,), (1, 1))", ShapeError, "[as_strided] 2 strides for the 1 axes of"),
    (f"mx.as_strided({A}, (2,), (1,), -1)", ArgumentError, "[as_strided] the offset must not be "
     "negative, got -1."),
]


@pytest.mark.parametrize(("code", "error", "says"), ERRORS, ids=[e[0] for e in ERRORS])
def test_errors(code: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=re.escape(says)):
        mx.eval(eval(code, {"mx": mx, "np": np}))


@pytest.mark.parametrize("updates", [
    lambda g: g.sum(0), lambda g: g.sum(0) * 2 + 1, lambda g: mx.softmax(g[0], -1),
    lambda g: g.sum(-1).T, lambda g: g.sum(0).sum(-1), lambda g: g[0].max(-1) * 2])
def test_updates_that_are_reductions(updates):
    """A scatter does not run at the end of a reduction: its kernel has no loop there."""
    index = mx.array([0, 2, 2, 4, 1])

    def scatter(g):
        new = updates(g)
        return mx.zeros(new.shape).at[index].add(new)

    g = mx.random.normal((4, 5, 8), key=mx.random.key(0))
    assert mx.array_equal(scatter(g), mx.compile(scatter)(g))
