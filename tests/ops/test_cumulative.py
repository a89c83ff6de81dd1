"""Running reductions and differences against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.dtype import DTYPES, Dtype
from eutectic.errors import ArgumentError, ArgumentTypeError, AxisError

SHAPES = [(7,), (3, 130), (4, 5, 3), (1,), (0,), (3, 0), ()]
KINDS: dict[str, Any] = {
    "cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}


def sample(d: Dtype, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(len(shape))
    if d is mx.bool_:
        return rng.integers(0, 2, shape) > 0
    if d.is_int:
        return rng.integers(-2 if d.is_signed else 0, 3, shape).astype(d.np)
    x = rng.choice([-1.0, 0.5, 1.0, 2.0], shape).astype(np.float32)
    return x.astype(np.complex64) if d.is_complex else x


def identity(name: str, d: Dtype) -> Any:
    if name in ("cumsum", "cumprod"):
        return 0 if name == "cumsum" else 1
    low = name == "cummax"
    if d is mx.bool_:
        return not low
    if d.is_int:
        return mx.iinfo(d).min if low else mx.iinfo(d).max
    end = -np.inf if low else np.inf
    return complex(end, end) if d.is_complex else end


def expected(name: str, x: np.ndarray, d: Dtype, axis: int | None, reverse: bool,
             inclusive: bool) -> np.ndarray:
    """One element after another, in a wide dtype where rounding is no matter."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    x = np.moveaxis(x, axis, -1)
    x = x[..., ::-1] if reverse else x
    kind = np.int32 if name == "cumsum" and d is mx.bool_ else x.dtype
    out = KINDS[name].accumulate(x, axis=-1, dtype=kind) if x.size else x.astype(kind)
    if not inclusive and x.size:
        first = np.full((*x.shape[:-1], 1), identity(name, d), out.dtype)
        out = np.concatenate([first, out[..., :-1]], -1)
    return np.moveaxis(out[..., ::-1] if reverse else out, -1, axis)


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("name", list(KINDS))
def test_against_numpy(name: str, d: Dtype) -> None:
    f: Callable[..., mx.array] = getattr(mx, name)
    for shape in SHAPES:
        x = sample(d, shape)
        if d.is_float and name == "cumprod":
            x = np.abs(x) ** 0 * np.sign(x)  # products of halves leave their range
        for axis in (None, *range(len(shape))):
            for reverse in (False, True):
                for inclusive in (False, True):
                    got = f(mx.array(x, d), axis, reverse=reverse, inclusive=inclusive)
                    want = expected(name, x, d, axis, reverse, inclusive)
                    assert got.dtype is (mx.int32 if d is mx.bool_ and name == "cumsum" else d)
                    tolerance = 4e-3 if d.is_half else 1e-6
                    np.testing.assert_allclose(np.array(got), want, rtol=tolerance)


def test_dtype_argument() -> None:
    x = mx.array([1.5, 2.5, 3.5])
    assert mx.cumsum(x, dtype=mx.int32).tolist() == [1, 3, 6]
    assert mx.cumsum(mx.array([1, 2]), dtype=mx.float16).dtype is mx.float16
    assert mx.cumsum(x, dtype=mx.bool_).dtype is mx.int32
    assert mx.cumprod(mx.array([100, 100], mx.int8)).tolist() == [100, 16]
    assert mx.cumprod(mx.array([100, 100], mx.int8), dtype=mx.int64).tolist() == [100, 10000]


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 1000, 100_003])
def test_lengths_and_layouts(n: int) -> None:
    x = np.random.default_rng(n).integers(-9, 9, n).astype(np.float32)
    a = mx.array(x)
    for b, y in ((a, x), (a[::-1], x[::-1]), (a[1::3], x[1::3])):
        np.testing.assert_array_equal(np.array(mx.cumsum(b)), np.cumsum(y))
        np.testing.assert_array_equal(np.array(mx.cummax(b)), np.maximum.accumulate(y)
                                      if y.size else y)
    m = mx.array(np.stack([x, -x, 2 * x]))
    np.testing.assert_array_equal(np.array(mx.cumsum(m, 1)), np.array(mx.cumsum(m.T, 0).T))
    np.testing.assert_array_equal(np.array(m.cumsum(0)), np.cumsum(np.array(m), 0))


def test_many_axes() -> None:
    x = np.arange(1024, dtype=np.int32).reshape((2,) * 10)
    for axis in (0, 4, 9):
        np.testing.assert_array_equal(np.array(mx.cumsum(mx.array(x), axis)), np.cumsum(x, axis))


def test_nan_zeros_and_halves() -> None:
    assert str(mx.cumsum(mx.array([1.0, 2.0]), inclusive=False).tolist()) == "[0.0, 1.0]"
    assert str(mx.cumsum(mx.array([-0.0, -0.0])).tolist()) == "[-0.0, -0.0]"
    for f in (mx.cumsum, mx.cummax, mx.cummin, mx.logcumsumexp):
        assert np.isnan(np.array(f(mx.array([1.0, np.nan, 2.0])))[1:]).all()
    assert mx.cumsum(mx.ones(4000, mx.float16))[-1].item() == 4000
    assert mx.cumsum(mx.ones(1000, mx.bfloat16))[-1].item() == 1000


@pytest.mark.parametrize("d", [d for d in DTYPES if not d.is_complex], ids=lambda d: d.name)
def test_logcumsumexp(d: Dtype) -> None:
    for shape in ((7,), (2, 200), (0,), (1,)):
        x = sample(d, shape).astype(np.float64)
        got = mx.logcumsumexp(mx.array(x).astype(d), -1)
        assert got.dtype is (d if d.is_float else mx.float32)
        want = np.logaddexp.accumulate(x, -1) if x.size else x
        tolerance = {"float16": 1e-3, "bfloat16": 1e-2}.get(d.name, 1e-6)
        np.testing.assert_allclose(np.array(got), want, rtol=tolerance, atol=tolerance)


def test_logcumsumexp_of_extremes() -> None:
    inf = np.inf
    assert mx.logcumsumexp(mx.array([-inf, -inf, 0.0])).tolist() == [-inf, -inf, 0]
    assert mx.logcumsumexp(mx.array([inf, inf, 0.0])).tolist() == [inf, inf, inf]
    assert mx.logcumsumexp(mx.array([-1000.0, 1000.0])).tolist() == [-1000, 1000]
    assert mx.logcumsumexp(mx.array([1.0, 2.0]), inclusive=False).tolist() == [-inf, 1]
    assert mx.logcumsumexp(mx.array([5.0]), inclusive=False).tolist() == [-inf]
    z = np.array([1 + 1j, 0.5 - 2j, -1 + 0.5j], np.complex64)
    np.testing.assert_allclose(np.array(mx.logcumsumexp(mx.array(z))),
                               np.log(np.cumsum(np.exp(z))), rtol=1e-5)
    z = mx.logcumsumexp(mx.array([1 + 0j, 2 + 0j]), reverse=True, inclusive=False)
    assert z.tolist() == [2, complex(-inf, 0)]


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
def test_diff(d: Dtype) -> None:
    for shape in ((7,), (3, 4), (2, 0), (1,)):
        x = sample(d, shape)
        for axis in range(len(shape)):
            for n in (0, 1, 2, 9):
                got = mx.diff(mx.array(x, d), n, axis)
                assert got.dtype is d
                np.testing.assert_array_equal(np.array(got), np.diff(x, n, axis=axis))


@pytest.mark.parametrize("name", [*KINDS, "logcumsumexp", "diff"])
def test_compiled_gives_the_same_bits(name: str) -> None:
    f = getattr(mx, name)

    def g(x: mx.array) -> mx.array:
        return mx.exp(f(x * 0.5 + 1, axis=-1)) * x.sum()

    if name == "diff":
        def g(x: mx.array) -> mx.array:
            return mx.exp(f(mx.sin(x)))

    x = mx.array(np.random.default_rng(1).normal(size=(3, 150)).astype(np.float32)) * 0.1
    for a in (x, x[:, ::-1], x.T):
        assert np.array(mx.compile(g)(a)).tobytes() == np.array(g(a)).tobytes()


ERRORS: list[tuple[str, type[Exception], str]] = [
    ("mx.cumsum(mx.ones(3), axis=1)", AxisError, "[cumsum] axis 1 is out of range for shape (3,)."),
    ("mx.cumsum(mx.array(3), axis=0)", AxisError, "[cumsum] axis 0 is out of range for shape ()."),
    ("mx.cummax(mx.ones(3), axis=1.0)", ArgumentTypeError,
     "[cummax] axis must be an integer, not float."),
    ("mx.cumsum(mx.ones(3), dtype='f4')", ArgumentTypeError,
     "[cumsum] dtype must be a Dtype, not a str."),
    ("mx.cumprod([1, 2])", ArgumentTypeError, "[cumprod] cannot take a list as an operand"),
    ("mx.diff(mx.ones(3), n=-1)", ArgumentError, "[diff] n must not be negative, got -1."),
    ("mx.diff(mx.array(3))", AxisError, "[diff] axis -1 is out of range for shape ()."),
    ("mx.diff(mx.ones(3), n=1.5)", ArgumentTypeError, "[diff] n must be an integer, not float."),
]


@pytest.mark.parametrize(("code", "kind", "message"), ERRORS, ids=[c for c, _, _ in ERRORS])
def test_errors(code: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as found:
        eval(code, {"mx": mx})
    assert type(found.value) is kind
    assert message in str(found.value)


def test_against_mlx() -> None:
    mlx = pytest.importorskip("mlx.core", reason="the reference implementation is not installed")
    x = np.array([[3, 1, 2], [0, 5, 4]], np.float32)
    with mlx.stream(mlx.cpu):
        for name in (*KINDS, "logcumsumexp"):
            for axis in (None, 0, 1):
                for reverse in (False, True):
                    for inclusive in (False, True):
                        options: Any = dict(axis=axis, reverse=reverse, inclusive=inclusive)
                        want = getattr(mlx, name)(mlx.array(x), **options)
                        got = getattr(mx, name)(mx.array(x), **options)
                        np.testing.assert_allclose(np.array(got), np.array(want), rtol=1e-6)
