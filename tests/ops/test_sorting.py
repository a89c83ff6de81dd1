"""Sorting, partition, top k, search, median and distinct elements against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic import config
from eutectic.dtype import DTYPES, Dtype
from eutectic.errors import ArgumentError, ArgumentTypeError, AxisError, ShapeError
from eutectic.ops.radix import LONG
from eutectic.runtime.jobs import together

SHAPES = [(7,), (3, 131), (4, 7, 3), (0,), (3, 0), (1,), (3000,)]
REAL = [d for d in DTYPES if not d.is_complex]
nan, inf = np.nan, np.inf


def ids(d: Dtype) -> str:
    return d.name


def sample(d: Dtype, shape: tuple[int, ...]) -> tuple[mx.array, np.ndarray]:
    """Numbers with ties and, of floats, zeros of both signs, as an array and in NumPy."""
    rng = np.random.default_rng(len(shape))
    x = rng.integers(0 if not (d.is_signed or d.is_float or d.is_complex) else -3, 5, shape)
    a = mx.array(x.astype(np.float32) * (-1 if d.is_float else 1)).astype(d)
    if d.is_complex:
        a = a + 1j * mx.array(rng.integers(0, 2, shape).astype(np.float32))
    return a, np.array(a)


def bits(x: Any) -> bytes:
    return np.array(x).tobytes()


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_sort_and_argsort(d: Dtype) -> None:
    for shape in SHAPES:
        a, x = sample(d, shape)
        for axis in (None, *range(-1, len(shape))):
            got, at = mx.sort(a, axis), mx.argsort(a, axis)
            assert got.dtype is d and at.dtype is mx.uint32
            assert bits(got) == bits(np.sort(x, axis, kind="stable"))
            np.testing.assert_array_equal(np.array(at), np.argsort(x, axis, kind="stable"))


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_partition(d: Dtype) -> None:
    for shape in SHAPES:
        a, x = sample(d, shape)
        for axis in (None, *range(len(shape))):
            y, i = (x.reshape(-1), 0) if axis is None else (x, axis)
            n = y.shape[i]
            for kth in sorted({-n, -1, 0, n // 2}) if n else ():
                part, at = np.array(mx.partition(a, kth, axis)), mx.argpartition(a, kth, axis)
                assert at.dtype is mx.uint32
                order = np.argsort(y, i, kind="stable")
                before, own, behind = np.split(order, [kth % n, kth % n + 1], i)
                want = np.concatenate([np.sort(before, i), own, np.sort(behind, i)], i)
                np.testing.assert_array_equal(np.array(at), want)
                assert bits(part) == bits(np.take_along_axis(y, want, i))


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_topk(d: Dtype) -> None:
    for shape in SHAPES:
        a, x = sample(d, shape)
        for axis in (None, *range(len(shape))):
            y, i = (x.reshape(-1), 0) if axis is None else (x, axis)
            n = y.shape[i]
            for k in sorted({0, min(2, n), n // 2, n}):
                got = np.array(mx.topk(a, k, axis))
                np.testing.assert_array_equal(
                    np.sort(got, i), np.sort(y, i)[(slice(None),) * i + (slice(n - k, None),)])


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_topk_of_long_rows(d: Dtype) -> None:
    """Where blocks of the row are looked at first: ties, infinities, nan, and constant rows."""
    rng = np.random.default_rng(7)
    rows = [rng.normal(size=3000), np.zeros(3000), rng.integers(0, 2, 3000) * -0.0]
    if d.is_float:
        rows += [np.where(rng.random(3000) < p, v, rng.normal(size=3000))
                 for p in (0.001, 0.5, 0.999) for v in (nan, -inf)]
    scale = 1 if d.is_float or d.is_complex else 50
    for a in (mx.array(np.abs(x) * scale if not (d.is_signed or d.is_float) else x * scale,
                       mx.float64).astype(d)[None] for x in rows):
        for k in (1, 7, 100):
            want = mx.partition(a, -k)[:, -k:]
            assert mx.topk(a, k).view(mx.uint8).tolist() == want.view(mx.uint8).tolist()
    every = mx.concatenate([mx.array(np.abs(x)).astype(d)[None] for x in rows])
    for k in (1, 7, 100):
        assert mx.topk(every, k).view(mx.uint8).tolist() == mx.partition(
            every, -k)[:, -k:].view(mx.uint8).tolist()


@pytest.mark.parametrize("d", [d for d in DTYPES if d.is_float], ids=ids)
@pytest.mark.parametrize("n", [8, 100, 5000])
def test_special_values(d: Dtype, n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.choice([nan, -nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 5e-324], (3, n))
    x[:, 1] = x[:, 5] = nan
    a = mx.array(x, mx.float64).astype(d)
    b = np.array(a.view({2: mx.uint16, 4: mx.uint32, 8: mx.uint64}[d.size]))
    order = np.argsort(np.array(a), kind="stable")
    np.testing.assert_array_equal(np.array(mx.argsort(a)), order)
    assert bits(mx.sort(a).view(mx.uint8)) == np.take_along_axis(b, order, -1).tobytes()
    np.testing.assert_array_equal(np.array(mx.topk(a, 2)), np.full((3, 2), nan))
    at = np.array(mx.argpartition(a, n // 2))
    assert (np.sort(at[:, :n // 2]) == np.sort(order[:, :n // 2])).all()
    assert np.isnan(np.array(mx.median(a, -1))).all()


def test_complex_with_nan_comes_last() -> None:
    x = [1 + 2j, 0j, complex(nan, 0), 1 + 1j, complex(0, nan), complex(-inf, 0)]
    assert mx.argsort(mx.array(x)).tolist() == [5, 1, 3, 0, 2, 4]
    assert bits(mx.sort(mx.array(x))) == bits(np.array(x, np.complex64)[[5, 1, 3, 0, 2, 4]])
    assert mx.argpartition(mx.array(x), 2).tolist() == [1, 5, 3, 0, 2, 4]


def test_large_inputs_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).integers(0, 1000, 1 << 19).astype(np.float32)
    results = []
    for threads in (1, 3):
        monkeypatch.setattr(config.config, "num_threads", threads)
        row, rows = mx.array(x), mx.array(x.reshape(8, -1))
        results.append([bits(f(a)) for a in (row, rows, rows.T) for f in (
            mx.sort, mx.argsort, lambda v: mx.partition(v, 1000 % v.shape[-1]), mx.median)])
    assert results[0] == results[1]
    assert results[0][1] == bits(np.argsort(x, kind="stable").astype(np.uint32))


@pytest.mark.parametrize("name", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("spread", ["ties", "all bits", "one value", "low bits"])
def test_long_rows_in_passes_over_bits(name: str, spread: str,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    n = (1 << 18) + 3
    x = rng.integers(0, 1 << 64, n, np.uint64)
    x = {"ties": x % 300, "all bits": x, "one value": x // x[0] * 0 + 5,
         "low bits": x % (1 << 40)}[spread]
    if name.startswith("float"):  # "all bits" has nan, infinities, and zeros of both signs
        x = x if name == "float64" else x.astype(np.uint32)
        x = x.view(name) if spread != "ties" else (x % 7).astype(name) - 3
        x[::1000], x[5::1000], x[7::1000], x[9::1000] = 0.0, -0.0, nan, inf
    x = x.astype(name)
    for row in (x, x[:LONG], x[:LONG + 1]):
        order = np.argsort(row, kind="stable").astype(np.uint32)
        for threads in (1, 3):
            monkeypatch.setattr(config.config, "num_threads", threads)
            a = mx.array(row, getattr(mx, name))
            # Named, so that a failure does not compare megabytes line by line.
            same = [bits(mx.argsort(a)) == bits(order), bits(mx.sort(a)) == bits(row[order]),
                    bits(a) == bits(row)]
            assert all(same)
    rows = x[:4 * LONG].reshape(4, LONG)
    order = np.argsort(rows, kind="stable").astype(np.uint32)
    a = mx.array(rows, getattr(mx, name))
    same = [bits(mx.argsort(a)) == bits(order),
            bits(mx.sort(a)) == bits(np.take_along_axis(rows, order, -1))]
    assert all(same)


def test_error_on_a_thread_is_raised() -> None:
    def fail() -> None:
        raise ValueError("here")
    with pytest.raises(ValueError, match="here"):
        together([lambda: None, fail])


def test_layouts_and_many_axes() -> None:
    x = np.random.default_rng(5).normal(size=(6, 7)).astype(np.float32)
    for a, y in ((mx.array(x).T, x.T), (mx.array(x)[::-1, ::-2], x[::-1, ::-2]),
                 (mx.broadcast_to(mx.array(x[0]), (3, 7)), np.broadcast_to(x[0], (3, 7)))):
        np.testing.assert_array_equal(np.array(mx.sort(a)), np.sort(y))
        np.testing.assert_array_equal(np.array(mx.argsort(a, 0)), np.argsort(y, 0, kind="stable"))
        np.testing.assert_array_equal(np.array(mx.median(a, 0)), np.median(y, 0))
    y = np.random.default_rng(6).integers(0, 9, (2,) * 10)
    np.testing.assert_array_equal(np.array(mx.sort(mx.array(y), 3)), np.sort(y, 3))


@pytest.mark.parametrize("d", REAL, ids=ids)
def test_searchsorted(d: Dtype) -> None:
    _, x = sample(d, (50,))
    s = np.sort(x)
    for shape in ((), (3,), (2, 5), (0,)):
        _, v = sample(d, shape or (1,))
        v = v.reshape(shape)
        for side in ("left", "right"):
            got = mx.searchsorted(mx.array(s, d), mx.array(v, d), side)
            assert got.dtype is mx.uint32 and got.shape == shape
            np.testing.assert_array_equal(np.array(got), np.searchsorted(s, v, side))


def test_searchsorted_of_special_values() -> None:
    values = mx.array([nan, inf, -inf, 0.0])
    for s in ([1, 2, nan], [-inf, -0.0, 0.0], []):
        for side in ("left", "right"):
            np.testing.assert_array_equal(
                np.array(mx.searchsorted(mx.array(s), values, side)),
                np.searchsorted(np.array(s, np.float32), np.array(values), side))
    assert mx.searchsorted(mx.array([1, 2], mx.int8), mx.array([200, 1.5])).tolist() == [2, 1]
    assert mx.searchsorted(mx.array([1j, 2]), mx.array([1])).tolist() == [1]


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_median(d: Dtype) -> None:
    for shape in ((7,), (8,), (3, 6), (2, 3, 4), (1,)):
        a, x = sample(d, shape)
        wide = x.astype(np.complex128 if d.is_complex else np.float64)
        axes: list[Any] = [None, *range(len(shape)), tuple(range(len(shape)))]
        for axis in axes:
            for keepdims in (False, True):
                if d.is_complex and axis is not None and isinstance(axis, tuple):
                    continue  # NumPy takes the median of other numbers there
                got = mx.median(a, axis, keepdims)
                want = np.median(wide, axis=axis, keepdims=keepdims)
                assert got.dtype is (d if d.is_float or d.is_complex else mx.float32)
                assert got.shape == want.shape
                np.testing.assert_array_equal(np.array(got), want)


def test_median_of_extremes() -> None:
    assert mx.median(mx.array([3e38, 3e38])).item() == np.float32(3e38)
    assert mx.median(mx.array([60000, 60000], mx.float16)).item() == 60000
    assert mx.median(mx.array([1.0, 2.0, inf, inf])).item() == inf
    assert np.isnan(mx.median(mx.array([-inf, inf])).item())
    assert mx.median(mx.zeros((0, 3)), axis=1).shape == (0,)
    assert mx.median(mx.array(3)).item() == 3
    assert mx.median(mx.ones((2, 3)), axis=()).shape == (2, 3)


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_unique(d: Dtype) -> None:
    for shape in ((7,), (3, 6), (), (1,), (200,)):
        a, x = sample(d, shape or (1,))
        a, x = a.reshape(shape), x.reshape(shape)
        values, index, inverse, counts = np.unique(x, True, True, True)
        inverse = inverse.reshape(shape)
        n = len(values)
        for size in (n, n + 3, max(n - 1, 0), 0):
            got = mx.unique(a, size, True, True, True)
            assert [g.dtype for g in got] == [d, mx.uint32, mx.uint32, mx.int32]

            def filled(v: np.ndarray, by: Any, size: int = size, n: int = n) -> np.ndarray:
                return np.concatenate([v, np.full(3, by)])[:size] if size > n else v[:size]

            wants = (filled(values, values[0]), filled(index, index[0]),
                     np.minimum(inverse, max(size - 1, 0)), filled(counts, 0))
            for g, want in zip(got, wants):
                assert g.shape == want.shape
                np.testing.assert_array_equal(np.array(g), want)


def test_unique_options() -> None:
    x = mx.array([3, 1, 1, 2])
    assert mx.unique(x, 6, fill_value=9).tolist() == [1, 2, 3, 9, 9, 9]
    assert mx.unique(x, 4, fill_value=1.5).tolist() == [1, 2, 3, 1]
    assert mx.unique(x, 4, fill_value=mx.array(7.0)).tolist() == [1, 2, 3, 7]
    values, counts = mx.unique(x, 3, return_counts=True)
    assert (values.tolist(), counts.tolist()) == ([1, 2, 3], [2, 1, 1])
    values, index, inverse, counts = mx.unique(mx.array([3, nan, nan, 2]), 5, True, True, True)
    np.testing.assert_array_equal(np.array(values), [2, 3, nan, nan, 2])
    assert (index.tolist(), inverse.tolist()) == ([3, 0, 1, 2, 3], [1, 2, 3, 0])
    assert counts.tolist() == [1, 1, 1, 1, 0]
    empty = mx.unique(mx.zeros((0,)), 2, True, True, True, fill_value=9)
    assert [e.tolist() for e in empty] == [[9, 9], [0, 0], [], [0, 0]]
    assert mx.unique(mx.array([-0.0, 0.0]), 1).tolist() == [-0.0]
    assert mx.unique(mx.zeros((0,)), 0).shape == (0,)


def test_compiled_gives_the_same_bits() -> None:
    def f(x: mx.array) -> tuple[mx.array, ...]:
        y = mx.sin(x) * 3
        order = mx.argsort(y, axis=0)
        return (mx.exp(mx.sort(y, axis=0)), order + 1, mx.topk(y, 3) * 2, mx.median(y, 0) - x,
                *mx.unique(mx.round(y), 4, return_counts=True),
                mx.searchsorted(mx.sort(x[0]), y * 0.5) * 2)

    x = mx.array(np.random.default_rng(1).normal(size=(5, 9)).astype(np.float32))
    for a in (x, x[::-1, ::-1], mx.array(np.array(x).T).T):
        for plain, compiled in zip(f(a), mx.compile(f)(a)):
            assert bits(plain) == bits(compiled)


ERRORS: list[tuple[str, type[Exception], str]] = [
    ("mx.sort(mx.ones(3), axis=1)", AxisError, "[sort] axis 1 is out of range for shape (3,)."),
    ("mx.sort(mx.array(3))", AxisError, "[sort] axis -1 is out of range for shape ()."),
    ("mx.sort(mx.ones(3), axis=(0,))", ArgumentTypeError,
     "[sort] axis must be an integer, not tuple."),
    ("mx.argsort([3, 1])", ArgumentTypeError, "[argsort] cannot take a list as an operand"),
    ("mx.partition(mx.ones(4), 4)", ArgumentError,
     "[partition] kth 4 is out of range for axis 0 of shape (4,)."),
    ("mx.partition(mx.ones(4), -5)", ArgumentError, "[partition] kth -5 is out of range"),
    ("mx.argpartition(mx.ones(4), 1.5)", ArgumentTypeError,
     "[argpartition] kth must be an integer, not float."),
    ("mx.topk(mx.ones(4), 5)", ArgumentError,
     "[topk] k = 5 is out of range for axis 0 of shape (4,)."),
    ("mx.topk(mx.ones(4), -1)", ArgumentError, "[topk] k = -1 is out of range"),
    ("mx.searchsorted(mx.ones((2, 2)), mx.ones(2))", ShapeError,
     "[searchsorted] the sorted sequence must have one axis, not shape (2,2)."),
    ("mx.searchsorted(mx.ones(2), mx.ones(2), 'up')", ArgumentError,
     "[searchsorted] side must be 'left' or 'right', not 'up'."),
    ("mx.median(mx.zeros((0, 3)), axis=0)", ShapeError,
     "[median] no median of the zero elements over axes (0,) of shape (0,3)."),
    ("mx.median(mx.ones((2, 2)), axis=(0, 0))", AxisError, "[median] axis 0 is given twice"),
    ("mx.median(mx.ones(2), axis=1)", AxisError, "[median] axis 1 is out of range"),
    ("mx.unique(mx.ones(2), -1)", ArgumentError, "[unique] size must not be negative, got -1."),
    ("mx.unique(mx.zeros((0,)), 1)", ArgumentError,
     "[unique] an array without elements needs a fill_value, or size 0."),
    ("mx.unique(mx.ones(2), 3, fill_value=mx.ones(2))", ShapeError,
     "[unique] fill_value must be one element, not of shape (2,)."),
]


@pytest.mark.parametrize(("code", "kind", "message"), ERRORS, ids=[c for c, _, _ in ERRORS])
def test_errors(code: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as found:
        eval(code, {"mx": mx})
    assert type(found.value) is kind
    assert message in str(found.value)


def test_against_mlx() -> None:
    mlx = pytest.importorskip("mlx.core", reason="the reference implementation is not installed")
    x = np.array([[3, nan, 1, -0.0, 0.0], [inf, -inf, 1, 1, nan]], np.float32)
    with mlx.stream(mlx.cpu):
        for axis in (None, 0, 1):
            for name in ("sort", "argsort"):
                assert bits(getattr(mx, name)(mx.array(x), axis)) == bits(
                    getattr(mlx, name)(mlx.array(x), axis))
        y = np.array([[3, 1, 1], [2, 3, 9]], np.int32)
        for size in (0, 2, 4, 6):
            for got, want in zip(mx.unique(mx.array(y), size, True, True, True),
                                 mlx.unique(mlx.array(y), size, True, True, True)):
                np.testing.assert_array_equal(np.array(got), np.array(want))
        for axis in (None, 0, 1, (0, 1)):
            np.testing.assert_array_equal(np.array(mx.median(mx.array(y), axis)),
                                          np.array(mlx.median(mlx.array(y), axis)))
        s, v = np.array([1, 2, 2, nan], np.float32), np.array([2, 0, nan, 9], np.float32)
        for side in ("left", "right"):
            np.testing.assert_array_equal(
                np.array(mx.searchsorted(mx.array(s), mx.array(v), side)),
                np.array(mlx.searchsorted(mlx.array(s), mlx.array(v), side)))
