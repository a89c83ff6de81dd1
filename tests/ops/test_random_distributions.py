"""Distributions: MLX's values for MLX's keys, moments and ranges, and errors."""

from __future__ import annotations

import importlib.util
import re
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.errors import ArgumentError, ArgumentTypeError, AxisError, DtypeError, ShapeError

# Drawn with mlx 0.32 on a CPU.
KNOWN: list[dict[str, Any]] = [
    dict(key=0,
         laplace=["-0x1.3591080000000p+2", "0x1.6d14680000000p+0", "-0x1.e604000000000p-4"],
         gumbel=["0x1.ac097e0000000p+1", "-0x1.293b9e0000000p-3", "0x1.90aab40000000p-1"],
         truncated=["0x1.a248a00000000p+0", "-0x1.b1223e0000000p-3", "0x1.d5ec440000000p-2"],
         permutation=[3, 6, 7, 0, 2, 5, 1, 4, 8],
         rows=[[2, 3], [4, 5], [0, 1]],
         columns=[[1, 3, 2, 0], [5, 7, 6, 4]],
         categorical=[3, 1],
         samples=[[3, 3, 1, 1, 3], [0, 0, 2, 2, 0]],
         shaped=[[1, 0, 1, 0], [1, 0, 0, 0]],
         multivariate=["0x1.b0c1180000000p+1", "-0x1.2d8b8e0000000p+1",
             "0x1.5cdf180000000p+0", "-0x1.39c5660000000p+1"],
         half=["-0x1.5580000000000p+1", "0x1.da40000000000p-2", "-0x1.3cc0000000000p-2"]),
    dict(key=7,
         laplace=["0x1.0c6f780000000p+1", "0x1.a3a0900000000p-1", "0x1.63b5660000000p-1"],
         gumbel=["-0x1.9987c20000000p-2", "0x1.45c4ca0000000p-3", "0x1.e16a1c0000000p-3"],
         truncated=["-0x1.9e79be0000000p-2", "0x1.345ba20000000p-6", "0x1.3412c80000000p-4"],
         permutation=[6, 1, 2, 5, 4, 7, 8, 3, 0],
         rows=[[0, 1], [2, 3], [4, 5]],
         columns=[[0, 1, 3, 2], [4, 5, 7, 6]],
         categorical=[3, 1],
         samples=[[1, 0, 3, 1, 3], [0, 0, 0, 0, 0]],
         shaped=[[1, 0, 1, 1], [1, 1, 1, 0]],
         multivariate=["-0x1.b1a4900000000p-3", "-0x1.70aa200000000p+1",
             "0x1.62ad1e0000000p-1", "-0x1.58f06a0000000p+1"],
         half=["0x1.98c0000000000p-1", "0x1.4740000000000p-3", "0x1.8ec0000000000p-4"]),
    dict(key=1099511627779,
         laplace=["-0x1.0ae5580000000p+2", "0x1.36682e0000000p+2", "0x1.c87ef80000000p-2"],
         gumbel=["0x1.8074ec0000000p+1", "-0x1.0dbe540000000p+0", "0x1.9f0d3c0000000p-2"],
         truncated=["0x1.8901bc0000000p+0", "-0x1.a58f2a0000000p-1", "0x1.97b24e0000000p-3"],
         permutation=[1, 8, 4, 7, 3, 5, 0, 6, 2],
         rows=[[2, 3], [4, 5], [0, 1]],
         columns=[[2, 3, 1, 0], [6, 7, 5, 4]],
         categorical=[3, 0],
         samples=[[1, 3, 3, 3, 3], [0, 0, 0, 0, 0]],
         shaped=[[1, 0, 0, 0], [1, 0, 1, 0]],
         multivariate=["0x1.bee3520000000p+1", "-0x1.bafe300000000p-1",
             "0x1.194ebe0000000p+0", "-0x1.c05e200000000p+0"],
         half=["-0x1.2b00000000000p+1", "0x1.1680000000000p+1", "-0x1.bc00000000000p-6"]),
]
LOGITS = [[0.0, 1.0, -1.0, 2.0], [3.0, 0.0, 0.5, 0.25]]


def close(got: Any, want: list[float] | np.ndarray, scale: float = 1.0) -> bool:
    """Within 2 units in the last place of float32, of the numbers or of `scale` if it is greater.

    Sums such as log(1 - |u|) * scale + loc cancel, so that an ulp of a term can be many of theirs.
    """
    a, b = np.array(got).astype(np.float64).ravel(), np.asarray(want, np.float64).ravel()
    return bool(np.all(np.abs(a - b) <= 2 * np.spacing(np.maximum(np.abs(b), scale).astype("f4"))))


def floats(hexadecimal: list[str]) -> list[float]:
    return [float.fromhex(x) for x in hexadecimal]


@pytest.mark.parametrize("known", KNOWN, ids=lambda k: str(k["key"]))
def test_known_answers(known: dict[str, Any]) -> None:
    key = mx.random.key(known["key"])
    r, logits = mx.random, mx.array(LOGITS)
    assert close(r.laplace((3,), loc=0.5, scale=2.0, key=key), floats(known["laplace"]))
    assert close(r.gumbel((3,), key=key), floats(known["gumbel"]))
    assert np.allclose(np.array(r.truncated_normal(-1, 2, (3,), key=key)),
                       floats(known["truncated"]), rtol=2e-6, atol=3e-7)
    assert r.permutation(9, key=key).tolist() == known["permutation"]
    assert r.permutation(mx.arange(6).reshape(3, 2), key=key).tolist() == known["rows"]
    columns = r.permutation(mx.arange(8).reshape(2, 4), axis=1, key=key)
    assert columns.tolist() == known["columns"]
    assert r.categorical(logits, key=key).tolist() == known["categorical"]
    assert r.categorical(logits, num_samples=5, key=key).tolist() == known["samples"]
    assert r.categorical(logits, axis=0, shape=(2, 4), key=key).tolist() == known["shaped"]
    m = r.multivariate_normal(mx.array([1.0, -2.0]), mx.array([[2.0, 0.5], [0.5, 1.0]]), (2,),
                              key=key)
    assert close(m, floats(known["multivariate"]), 4.0)
    assert r.laplace((3,), dtype=mx.float16, key=key).tolist() == floats(known["half"])


def test_known_sequence() -> None:
    mx.random.seed(42)
    assert mx.random.permutation(6).tolist() == [3, 0, 2, 1, 5, 4]
    assert mx.random.categorical(mx.zeros((8,)), num_samples=6).tolist() == [2, 2, 6, 7, 6, 1]
    assert close(mx.random.laplace((2,)), floats(["-0x1.f56a640000000p-2",
                                                  "-0x1.5609040000000p-4"]))
    assert mx.random.state[0].tolist() == [1536900715, 689864229]


@pytest.mark.skipif(importlib.util.find_spec("mlx") is None, reason="needs mlx")
@pytest.mark.parametrize("seed", [1, 123456789])
def test_against_mlx(seed: int) -> None:
    import mlx.core as mlx

    ours, theirs = mx.random.key(seed), mlx.random.key(seed)
    x = np.random.default_rng(seed).standard_normal((4, 5, 6)).astype(np.float32)
    for n in (0, 1, 2, 1001, 70000):
        assert np.array_equal(np.array(mx.random.permutation(n, key=ours)),
                              np.array(mlx.random.permutation(n, key=theirs)))
    for axis in (0, 1, -1):
        assert np.array_equal(np.array(mx.random.permutation(mx.array(x), axis, key=ours)),
                              np.array(mlx.random.permutation(mlx.array(x), axis, key=theirs)))
    for name in ("float32", "float16", "bfloat16", "int32"):
        a = mx.array(3 * x).astype(getattr(mx, name))
        b = mlx.array(3 * x).astype(getattr(mlx, name))
        how: dict[str, Any]
        for how in ({}, {"num_samples": 50}, {"shape": (20, 4, 5)}, {"axis": 0},
                    {"axis": 1, "num_samples": 7}, {"axis": 1, "shape": (9, 4, 6)}):
            got = mx.random.categorical(a, key=ours, **how)
            want = np.array(mlx.random.categorical(b, key=theirs, **how))
            assert got.dtype is mx.uint32
            assert np.array_equal(np.array(got), want)
        for how in ({"num_samples": 1}, {"num_samples": 500}, {"shape": (20, 1)}, {"shape": (3,)},
                    {"shape": (4, 5)}, {"shape": (1,)}):
            got = mx.random.categorical(a[:1, 2], key=ours, **how)
            want = np.array(mlx.random.categorical(b[:1, 2], key=theirs, **how))
            assert np.array_equal(np.array(got), want)
        got = mx.random.categorical(a[0, 0], key=ours)
        assert got.item() == mlx.random.categorical(b[0, 0], key=theirs).item()
    for loc, scale in ((0.0, 1.0), (0.5, 2.5)):
        want = np.array(mlx.random.laplace((3, 500), loc=loc, scale=scale, key=theirs))
        assert close(mx.random.laplace((3, 500), loc=loc, scale=scale, key=ours), want, scale)
    for low, high in ((-1, 1.5), (0.2, 9.0), (-30.0, -2.0), (1.3, 1.4)):
        want = np.array(mlx.random.truncated_normal(low, high, (2000,), key=theirs))
        # erfinv is steep near -1 and 1: an ulp of its argument is many of its result.
        got = np.array(mx.random.truncated_normal(low, high, (2000,), key=ours))
        assert np.allclose(got, want, rtol=1e-4 if high - low > 5 else 3e-6, atol=3e-7)
    for name in ("float16", "bfloat16"):
        want = np.array(mlx.random.laplace((2000,), getattr(mlx, name), key=theirs).astype(
            mlx.float32))
        assert np.array_equal(np.array(mx.random.laplace((2000,), getattr(mx, name), key=ours)),
                              want)
    cov = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 0.7]], np.float32)
    mean = np.array([1.0, 2.0, 3.0], np.float32)
    for m, c, shape in ((mean, cov, (500,)), (np.stack([mean] * 4), cov, ()),
                        (mean, np.stack([cov, 2 * cov]), (500, 2))):
        got = mx.random.multivariate_normal(mx.array(m), mx.array(c), shape, key=ours)
        want = np.array(mlx.random.multivariate_normal(mlx.array(m), mlx.array(c), shape,
                                                       key=theirs))
        assert got.shape == want.shape
        assert close(got, want, 8.0)


def test_moments_and_ranges() -> None:
    key = mx.random.key(5)
    x = mx.random.laplace((100000,), loc=1.0, scale=2.0, key=key)
    assert abs(x.mean().item() - 1) < 0.05
    assert abs(x.std().item() - 2 * 2**0.5) < 0.05
    t = mx.random.truncated_normal(-1, 2, (100000,), key=key)
    assert -1 <= t.min().item() <= t.max().item() <= 2
    assert abs(t.mean().item() - 0.2296) < 0.01
    same = mx.random.truncated_normal(1, -1, (4,), key=key)  # the lower bound wins
    assert same.tolist() == [1, 1, 1, 1]
    p = np.array([0.1, 0.2, 0.7])
    c = np.array(mx.random.categorical(mx.array(np.log(p)), num_samples=50000, key=key))
    assert np.allclose(np.bincount(c, minlength=3) / 50000, p, atol=0.01)
    order = np.array(mx.random.permutation(1000, key=key))
    assert sorted(order.tolist()) == list(range(1000))
    cov = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)
    m = np.array(mx.random.multivariate_normal(mx.array([1.0, -2.0]), mx.array(cov), (50000,),
                                               key=key))
    assert np.allclose(m.mean(0), [1, -2], atol=0.03)
    assert np.allclose(np.cov(m.T), cov, atol=0.05)
    for d in (mx.float16, mx.bfloat16, mx.float64):
        assert mx.random.laplace((3,), dtype=d, key=key).dtype is d
        assert mx.random.truncated_normal(-1, 1, (3,), dtype=d, key=key).dtype is d


def test_shapes() -> None:
    key = mx.random.key(0)
    assert mx.random.laplace(key=key).shape == ()
    assert mx.random.truncated_normal(mx.zeros((2, 1)), mx.ones(3), key=key).shape == (2, 3)
    assert mx.random.truncated_normal(-1, 1, (0, 2), key=key).shape == (0, 2)
    assert mx.random.categorical(mx.zeros((0, 3)), key=key).shape == (0,)
    assert mx.random.categorical(mx.zeros((2, 3)), num_samples=0, key=key).shape == (2, 0)
    assert mx.random.permutation(0, key=key).shape == (0,)
    assert mx.random.permutation(mx.zeros((0, 2)), key=key).shape == (0, 2)
    assert mx.random.multivariate_normal(mx.zeros((4, 2)), mx.eye(2), (3, 1),
                                         key=key).shape == (3, 4, 2)
    assert mx.random.multivariate_normal(mx.zeros(2), mx.eye(2), (0,), key=key).shape == (0, 2)


def test_compiled_draws_have_the_same_bits() -> None:
    def draw(key: mx.array, logits: mx.array) -> list[mx.array]:
        r = mx.random
        return [r.laplace((100,), key=key), r.truncated_normal(-1, 2, (100,), key=key),
                r.categorical(logits, num_samples=50, key=key), r.permutation(20, key=key),
                r.multivariate_normal(mx.zeros(2), mx.eye(2), (10,), key=key)]

    key, logits = mx.random.key(3), mx.array(LOGITS)
    assert [bytes(x) for x in mx.compile(draw)(key, logits)] == [
        bytes(x) for x in draw(key, logits)]


ERRORS: list[tuple[str, type[Exception], str]] = [
    ("r.laplace((2,), dtype=mx.int32)", DtypeError, "[laplace] only floating dtypes are drawn"),
    ("r.laplace((-2,))", ShapeError, "negative length in shape (-2,)."),
    ("r.truncated_normal(-1, 1, (3,), dtype=mx.int32)", DtypeError, "[truncated_normal] only flo"),
    ("r.truncated_normal(mx.zeros(2), 1, (3,))", ShapeError, "[truncated_normal] shapes (2,) and"),
    ("r.truncated_normal(mx.zeros((2, 1)), 1, (1,))", ShapeError,
     "[truncated_normal] bounds of shape (2,1) do not broadcast to (1,)."),
    ("r.categorical(mx.array(1.0))", AxisError, "[categorical] axis -1 is out of range for shape"),
    ("r.categorical(mx.zeros((2, 5)), shape=(4, 2), num_samples=2)", ArgumentError,
     "[categorical] takes a shape or num_samples, not both."),
    ("r.categorical(mx.zeros((2, 5)), num_samples=-1)", ArgumentError,
     "[categorical] num_samples must not be negative, got -1."),
    ("r.categorical(mx.zeros((2, 5)), shape=(1,))", ShapeError, "[categorical] logits of shape (2,"
     "5) without axis 1 do not broadcast to (1,)."),
    ("r.categorical(mx.zeros((2, 0)))", ShapeError, "[categorical] no logits on axis 1 of shape"),
    ("r.categorical(mx.array([1j]))", DtypeError, "[categorical] does not take complex64"),
    ("r.permutation(-1)", ArgumentError, "[permutation] the number must not be negative, got -1."),
    ("r.permutation(3.5)", ArgumentTypeError, "[permutation] x must be an integer, not float."),
    ("r.permutation(mx.zeros(3), axis=1)", AxisError, "[permutation] axis 1 is out of range for"),
    ("r.multivariate_normal(mx.zeros(2), mx.eye(3))", ShapeError, "[multivariate_normal] shapes "
     "(2,) and (3,3) are not (..., n) and (..., n, n)."),
    ("r.multivariate_normal(mx.zeros(2), mx.eye(2), dtype=mx.float16)", DtypeError,
     "[multivariate_normal] only float32 is drawn."),
]


@pytest.mark.parametrize(("code", "error", "says"), ERRORS, ids=[e[0] for e in ERRORS])
def test_errors(code: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=re.escape(says)):
        mx.eval(eval(code, {"mx": mx, "r": mx.random}))
