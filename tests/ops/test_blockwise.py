"""Products of picked matrices, segments and masked blocks; the Hadamard transform."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.errors import ArgumentError, DtypeError, ShapeError

rng = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


A, B = normal(2, 4, 5), normal(3, 5, 6)
S, T = normal(4, 10), normal(10, 3)
P, Q = normal(40, 48), normal(48, 20)
OUT, LEFT, RIGHT = (np.array(m) for m in ([[True], [False]], [[True, False], [True, True]],
                                          [[True], [True]]))
I32 = np.int32


def blocks(m: np.ndarray, shape: tuple[int, ...], size: int = 32) -> np.ndarray:
    return np.repeat(np.repeat(m, size, -2), size, -1)[..., :shape[-2], :shape[-1]]


Case = tuple[str, Callable[..., Any], list[np.ndarray], Any]
CASES: list[Case] = [
    ("both", lambda m, a, b, i, j: m.gather_mm(a, b, i, j),
     [A, B, np.array([0, 1], I32), np.array([1, 2], I32)],
     lambda a, b, i, j: a[i] @ b[j]),
    ("outer", lambda m, a, b, i, j: m.gather_mm(a, b, i, j),
     [A, B, np.array([[0], [1]], I32), np.array([[1, 2, 0]], I32)],
     lambda a, b, i, j: a[i] @ b[j]),
    ("right", lambda m, a, b, j: m.gather_mm(a, b, rhs_indices=j),
     [A, B, np.array([1, 2], np.int8)], lambda a, b, j: a @ b[j]),
    ("left", lambda m, a, b, i: m.gather_mm(a, b, lhs_indices=i),
     [B, normal(6), np.array([1, 2], np.uint32)], lambda a, b, i: a[i] @ b),
    ("one matrix", lambda m, a, b, j: m.gather_mm(a, b, rhs_indices=j),
     [normal(4, 5), B, np.array([[1], [2]], I32)], lambda a, b, j: a @ b[j]),
    ("row", lambda m, a, b, j: m.gather_mm(a, b, rhs_indices=j),
     [normal(5), B, np.array([1, 2], I32)], lambda a, b, j: a @ b[j]),
    ("several batch axes", lambda m, a, b, i, j: m.gather_mm(a, b, i, j),
     [normal(2, 3, 4, 5), B, np.array([5], I32), np.array([0], I32)],
     lambda a, b, i, j: a.reshape(6, 4, 5)[i] @ b[j]),
    ("sorted", lambda m, a, b, j: m.gather_mm(a, b, rhs_indices=j, sorted_indices=True),
     [normal(7, 1, 5), B, np.array([0, 0, 1, 1, 1, 2, 2], I32)], lambda a, b, j: a @ b[j]),
    ("segments", lambda m, a, b, s: m.segmented_mm(a, b, s),
     [S, T, np.array([[0, 3], [3, 8], [2, 2], [5, 3]], np.uint32)],
     lambda a, b, s: np.stack([a[:, i:j] @ b[i:j] for i, j in s])),
    ("segments of segments", lambda m, a, b, s: m.segmented_mm(a, b, s),
     [S, T, np.array([[[0, 3], [3, 8]]], I32)],
     lambda a, b, s: np.stack([a[:, i:j] @ b[i:j] for i, j in s[0]])[None]),
    ("one segment", lambda m, a, b, s: m.segmented_mm(a, b, s),
     [S, T, np.array([1, 9], np.int64)], lambda a, b, s: a[:, 1:9] @ b[1:9]),
    ("blocks", lambda m, a, b, o, x, y: m.block_masked_mm(a, b, 32, o, x, y),
     [P, Q, OUT, LEFT, RIGHT],
     lambda a, b, o, x, y: (a * blocks(x, a.shape)) @ (b * blocks(y, b.shape)) * blocks(
         o, (40, 20))),
    ("scaled blocks", lambda m, a, b, o, x: m.block_masked_mm(a, b, 32, o, x),
     [P, Q, OUT * np.float32(0.5), LEFT * np.float32(3)],
     lambda a, b, o, x: (a * blocks(x, a.shape)) @ b * blocks(o, (40, 20))),
    ("batch of blocks", lambda m, a, b, o: m.block_masked_mm(a, b, 32, o),
     [normal(3, 40, 48), Q, OUT[None]], lambda a, b, o: a @ b * blocks(o, (40, 20))),
    ("no mask", lambda m, a, b: m.block_masked_mm(a, b), [P, Q], lambda a, b: a @ b),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_products(case: Case) -> None:
    _name, call, inputs, reference = case
    ours = [mx.array(x) for x in inputs]
    got = call(mx, *ours)
    want = reference(*inputs)
    assert got.shape == want.shape
    assert got.dtype is mx.float32
    np.testing.assert_allclose(np.array(got), want, rtol=1e-5, atol=1e-5)
    fused = mx.compile(lambda *x: call(mx, *x))(*ours)
    assert bytes(fused) == bytes(got)
    if importlib.util.find_spec("mlx") is not None:
        import mlx.core as mlx

        theirs = np.array(call(mlx, *[mlx.array(x) for x in inputs]))
        np.testing.assert_allclose(np.array(got), theirs, rtol=1e-5, atol=1e-5)


def test_halves() -> None:
    for d in (mx.float16, mx.bfloat16):
        a, b = mx.array(S).astype(d), mx.array(T).astype(d)
        x, y = np.array(a.astype(mx.float32)), np.array(b.astype(mx.float32))
        s = mx.segmented_mm(a, b, mx.array([[2, 9]]))
        assert s.dtype is d
        np.testing.assert_allclose(np.array(s.astype(mx.float32))[0], x[:, 2:9] @ y[2:9], rtol=1e-2,
                                   atol=1e-2)
        g = mx.gather_mm(a, b[None], rhs_indices=mx.array([0, 0]))
        assert g.dtype is d
        np.testing.assert_allclose(np.array(g.astype(mx.float32))[1], x @ y, rtol=1e-2, atol=2e-2)


def test_segments_out_of_range() -> None:
    a, b = mx.ones((1, 4)), mx.ones((4, 1))
    s = mx.array([[2, 100], [-2, 4], [-100, 1], [7, 9], [0, 0]])
    assert mx.segmented_mm(a, b, s).flatten().tolist() == [2, 2, 1, 0, 0]
    narrow = mx.array([[0, 127]], mx.int8)
    assert mx.segmented_mm(mx.ones((1, 300)), mx.ones((300, 1)), narrow).item() == 127
    assert mx.segmented_mm(a, b, mx.zeros((0, 2), mx.int32)).shape == (0, 1, 1)
    none = mx.segmented_mm(mx.ones((2, 0)), mx.ones((0, 3)), mx.array([0, 0]))
    assert none.tolist() == [[0] * 3] * 2


def test_picked_out_of_range() -> None:
    got = mx.gather_mm(mx.array(A[0]), mx.array(B), rhs_indices=mx.array([-1, 9, -9]))
    np.testing.assert_allclose(np.array(got), A[0] @ B[[2, 2, 0]], rtol=1e-5, atol=1e-5)


def test_masked_blocks_hide_nan() -> None:
    a = mx.array([[1.0, mx.nan], [2.0, 3.0]])
    keep = mx.array([[True, False], [True, True]])
    assert mx.block_masked_mm(a, mx.ones((2, 1)), 1, mask_lhs=keep).tolist() == [[1], [5]]
    out = mx.block_masked_mm(a, mx.ones((2, 1)), 1, mask_out=mx.array([[False], [True]]))
    assert out.tolist() == [[0], [5]]


@pytest.mark.parametrize("n", [1, 2, 8, 64, 1024, 12, 24, 96, 20, 40, 28, 56])
def test_hadamard(n: int) -> None:
    x = normal(3, n)
    a = mx.array(x)
    got = mx.hadamard_transform(a)
    h = np.array(mx.hadamard_transform(mx.eye(n), scale=1.0)).T
    assert np.array_equal(np.abs(h), np.ones((n, n)))
    assert np.array_equal(h @ h.T, n * np.eye(n))
    np.testing.assert_allclose(np.array(got), x @ h.T / np.sqrt(n), rtol=1e-5, atol=1e-5)
    assert bytes(mx.compile(mx.hadamard_transform)(a)) == bytes(got)
    if importlib.util.find_spec("mlx") is not None:
        import mlx.core as mlx

        np.testing.assert_allclose(np.array(got), np.array(mlx.hadamard_transform(mlx.array(x))),
                                   rtol=1e-5, atol=1e-5)


def test_hadamard_dtypes() -> None:
    assert mx.hadamard_transform(mx.arange(4)).tolist() == [3, -1, -2, 0]
    assert mx.hadamard_transform(mx.array([True, False])).dtype is mx.float32
    for d in (mx.float16, mx.bfloat16, mx.float64):
        y = mx.hadamard_transform(mx.ones((2, 4), d), scale=0.5)
        assert y.dtype is d
        assert y.tolist() == [[2, 0, 0, 0]] * 2
    assert mx.hadamard_transform(mx.array(3.0)).item() == 3
    assert mx.hadamard_transform(mx.zeros((0, 4))).shape == (0, 4)


ERRORS: list[tuple[str, type[Exception], str]] = [
    ("mx.gather_mm(mx.ones((2, 2), mx.int32), mx.ones((2, 2), mx.int32), [0], [0])", DtypeError,
     "[matmul] only inexact types are supported but int32 and int32"),
    ("mx.gather_mm(mx.ones((2, 2)), mx.ones((2, 2)), mx.array([0.0]))", DtypeError,
     "[gather_mm] indices are integers, not float32."),
    ("mx.gather_mm(mx.ones((2, 3)), mx.ones((2, 2)), mx.array([0]))", ShapeError, "[matmul]"),
    ("mx.gather_mm(mx.ones((2, 1, 3)), mx.ones((3, 3, 2)), rhs_indices=[0, 1, 2])", ShapeError,
     "[gather_mm] shapes (2,) and (3,) cannot be broadcast together."),
    ("mx.gather_mm(mx.array(1.0), mx.ones((2, 2)), [0])", ShapeError,
     "[gather_mm] shapes () and (2,2): both operands need at least one axis."),
    ("mx.segmented_mm(mx.ones((2, 3)), mx.ones((2, 3)), mx.array([0, 1]))", ShapeError,
     "[segmented_mm] shapes (2,3) and (2,3): (M, K) and (K, N) are needed."),
    ("mx.segmented_mm(mx.ones((2, 3)), mx.ones((3, 3)), mx.array([0.0, 1]))", DtypeError,
     "[segmented_mm] segments are integers, not float32."),
    ("mx.segmented_mm(mx.ones((2, 3)), mx.ones((3, 3)), mx.array([0]))", ShapeError,
     "[segmented_mm] segments of shape (1,): (..., 2) is needed."),
    ("mx.segmented_mm(mx.array([[1]]), mx.array([[1]]), mx.array([0, 1]))", DtypeError,
     "[segmented_mm] only real floating types are supported but int32 and int32 were given."),
    ("mx.block_masked_mm(mx.ones((2, 2)), mx.ones((2, 2)), 0)", ArgumentError,
     "[block_masked_mm] block_size must be positive, got 0."),
    ("mx.block_masked_mm(mx.ones((2, 2)), mx.ones((2, 2)), 1, mx.ones((3, 2)))", ShapeError,
     "[block_masked_mm] mask_out of shape (3,2) does not broadcast to the blocks (2,2)."),
    ("mx.block_masked_mm(mx.array([[1j]]), mx.array([[1j]]))", DtypeError,
     "[block_masked_mm] only real floating types"),
    ("mx.hadamard_transform(mx.ones((2, 3)))", ShapeError, "[hadamard_transform] the last axis of "
     "shape (2,3) is not m * 2^k long, with m one of 1, 12, 20, 28."),
    ("mx.hadamard_transform(mx.ones((2, 0)))", ShapeError, "[hadamard_transform] the last axis of"),
    ("mx.hadamard_transform(mx.array([1j]))", DtypeError,
     "[hadamard_transform] does not take complex64; give real numbers."),
]


@pytest.mark.parametrize(("code", "error", "says"), ERRORS, ids=[e[0] for e in ERRORS])
def test_errors(code: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=re.escape(says)):
        mx.eval(eval(code, {"mx": mx}))
