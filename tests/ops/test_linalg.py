"""Linear algebra against NumPy and SciPy, and by what defines each decomposition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.dtype import DTYPES, Dtype
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, AxisError, DtypeError, LinalgError, ShapeError)

FLOATS = [mx.float32, mx.float64]
INEXACT = [*FLOATS, mx.complex64]
STACKS: list[tuple[int, ...]] = [(), (3,), (2, 3), (0,)]
RECTANGLES = [(5, 5), (5, 3), (3, 5), (1, 1), (1, 4), (0, 3), (3, 0)]


def ids(d: Dtype) -> str:
    return d.name


def matrices(d: Dtype, shape: tuple[int, ...], symmetric: bool = False) -> np.ndarray:
    """Random matrices; symmetric ones are positive definite."""
    rng = np.random.default_rng(sum(shape))
    x = rng.normal(size=shape)
    if d.is_complex:
        x = x + 1j * rng.normal(size=shape)
    if symmetric:
        x = x @ adjoint(x) + np.eye(shape[-1])
    return x.astype(d.np)


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -2, -1))


def close(got: Any, want: Any, d: Dtype, scale: float = 1.0) -> None:
    tolerance = scale * (1e-11 if d is mx.float64 else 2e-5)
    np.testing.assert_allclose(np.array(got), want, rtol=tolerance, atol=tolerance)


def results(made: Any) -> list[np.ndarray]:
    return [np.array(r) for r in (made if isinstance(made, tuple) else (made,))]


@pytest.mark.parametrize("d", INEXACT, ids=ids)
def test_rectangular(d: Dtype) -> None:
    real = mx.float32 if d.is_complex else d
    for stack in STACKS:
        for m, n in RECTANGLES:
            x, k = matrices(d, (*stack, m, n)), min(m, n)
            u, s, vt = mx.linalg.svd(mx.array(x, d))
            assert (u.dtype, s.dtype, vt.dtype) == (d, real, d)
            assert (u.shape, s.shape, vt.shape) == ((*stack, m, m), (*stack, k), (*stack, n, n))
            u, s, vt = np.array(u), np.array(s), np.array(vt)
            close((u[..., :k] * s[..., None, :]) @ vt[..., :k, :], x, d)
            close(u @ adjoint(u), np.broadcast_to(np.eye(m), u.shape), d)
            close(mx.linalg.svd(mx.array(x, d), compute_uv=False), s, d)
            if d.is_complex:
                continue
            q, r = results(mx.linalg.qr(mx.array(x, d)))
            assert (q.shape, r.shape) == ((*stack, m, k), (*stack, k, n))
            close(q @ r, x, d)
            close(adjoint(q) @ q, np.broadcast_to(np.eye(k), (*stack, k, k)), d)
            assert (r == np.triu(r)).all()
            p, low, high = results(mx.linalg.lu(mx.array(x, d)))
            assert p.dtype == np.uint32
            close(np.take_along_axis(low, p[..., None], -2) @ high, x, d)
            assert (low == np.tril(low)).all() and (high == np.triu(high)).all()
            packed, pivots = results(mx.linalg.lu_factor(mx.array(x, d)))
            assert pivots.dtype == np.uint32 and pivots.shape == (*stack, k)
            close(np.triu(packed[..., :k, :]), high, d)
            pinv = mx.linalg.pinv(mx.array(x, d))
            close(pinv, np.linalg.pinv(x) if x.size else np.zeros((*stack, n, m)), d, 10)


def sides(d: Dtype, stack: tuple[int, ...], n: int) -> list[np.ndarray]:
    return [matrices(d, (n,)), matrices(d, (*stack, n, 2)), matrices(d, (n, 3))]


def solved(a: np.ndarray, y: mx.array, b: np.ndarray, d: Dtype) -> None:
    """Check a y = b."""
    assert y.dtype is d
    column = b.ndim == 1
    back = a @ (np.array(y)[..., None] if column else np.array(y))
    close(back, np.broadcast_to(b[:, None] if column else b, back.shape), d, 10)


@pytest.mark.parametrize("d", FLOATS, ids=ids)
def test_inverses_and_solutions(d: Dtype) -> None:
    for stack in STACKS:
        for n in (1, 2, 7, 0):
            x = matrices(d, (*stack, n, n), symmetric=True)
            a, eye = mx.array(x, d), np.broadcast_to(np.eye(n), x.shape)
            close(x @ np.array(mx.linalg.inv(a)), eye, d, 10)
            for upper, keep in ((False, np.tril), (True, np.triu)):
                close(keep(x) @ np.array(mx.linalg.tri_inv(a, upper)), eye, d, 10)
                (f,) = results(mx.linalg.cholesky(a, upper))
                assert (f == keep(f)).all()
                close(adjoint(f) @ f if upper else f @ adjoint(f), x, d, 10)
                inverse = np.array(mx.linalg.cholesky_inv(mx.array(f, d), upper))
                close(x @ inverse, eye, d, 100)
                for b in sides(d, stack, n):
                    y = mx.linalg.solve_triangular(a, mx.array(b, d), upper=upper)
                    solved(keep(x), y, b, d)
            for b in sides(d, stack, n):
                solved(x, mx.linalg.solve(a, mx.array(b, d)), b, d)
            sign, log = results(mx.linalg.slogdet(a))
            wants = np.linalg.slogdet(x.astype(float))
            close(sign, wants[0], d)
            close(log, wants[1], d)
            close(mx.linalg.det(a), np.linalg.det(x.astype(float)), d)


@pytest.mark.parametrize("d", INEXACT, ids=ids)
def test_eigenvalues(d: Dtype) -> None:
    real = mx.float32 if d.is_complex else d
    for stack in STACKS:
        for n in (1, 2, 6, 0):
            x = matrices(d, (*stack, n, n), symmetric=True)
            for uplo, other in (("L", np.triu(x, 1)), ("u", np.tril(x, -1))):
                given = mx.array((x - other).astype(d.np), d)  # the other triangle is not read
                w, v = mx.linalg.eigh(given, uplo)
                assert (w.dtype, v.dtype) == (real, d)
                close(x @ np.array(v), np.array(v) * np.array(w)[..., None, :], d, 20)
                assert (np.diff(np.array(w), axis=-1) >= 0).all()
                close(mx.linalg.eigvalsh(given, uplo), np.array(w), d, 10)
            y = matrices(d, (*stack, n, n))
            w, v = mx.linalg.eig(mx.array(y, d))
            assert w.dtype is v.dtype is mx.complex64
            close(y @ np.array(v), np.array(v) * np.array(w)[..., None, :], mx.float32, 5)
            np.testing.assert_allclose(
                np.sort(np.array(mx.linalg.eigvals(mx.array(y, d)))), np.sort(np.array(w)),
                rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("d", [d for d in DTYPES if not d.is_complex], ids=ids)
def test_determinants_take_every_real_dtype(d: Dtype) -> None:
    x = np.array([[[1, 2], [3, 4]], [[0, 1], [1, 0]]]) if d is not mx.bool_ else np.array(
        [[[1, 1], [0, 1]], [[0, 1], [1, 0]]])
    got = mx.linalg.det(mx.array(x).astype(d))
    assert got.dtype is (d if d.is_float else mx.float32)
    np.testing.assert_allclose(np.array(got), np.round(np.linalg.det(x)), rtol=1e-15)
    sign, log = mx.linalg.slogdet(mx.array(x).astype(d))
    assert sign.dtype is log.dtype is got.dtype
    np.testing.assert_array_equal(np.array(sign), np.sign(np.linalg.det(x)))
    assert mx.linalg.det(mx.ones((2, 2))).item() == 0
    assert mx.linalg.slogdet(mx.ones((2, 2)))[1].item() == -np.inf


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_norms(d: Dtype) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0 if not (d.is_signed or d.is_float or d.is_complex) else -3, 4, (2, 3, 4))
    a = mx.array(x.astype(np.float32)).astype(d)
    if d.is_complex:
        a = a * (0.5 + 1j)
    wide = np.array(a).astype(np.complex128 if d.is_complex else np.float64)
    to = mx.float32 if d.is_complex else d if d.is_float else mx.float32
    inf = np.inf
    for keepdims in (False, True):
        cases: list[tuple[Any, Any]] = [(None, None), (None, 1), (None, (0, 2)), (None, ())]
        cases += [(p, i) for p in (0, 1, 2, 3, 0.5, -1, -2, inf, -inf) for i in (0, -1)]
        cases += [(p, i) for p in ("fro", "nuc", 1, -1, 2, -2, inf, -inf)
                  for i in ((0, 1), (2, 0), [-1, -2])]
        for order, axis in cases:
            got = mx.linalg.norm(a, order, axis, keepdims)
            if axis is None or axis == ():
                want = np.abs(wide) if axis == () else np.sqrt(np.sum(np.abs(wide) ** 2))
                if keepdims and axis is None:
                    want = want.reshape(1, 1, 1)
            else:
                with np.errstate(divide="ignore"):
                    axis = tuple(axis) if isinstance(axis, list) else axis
                    want = np.linalg.norm(wide, order, axis, keepdims)
            assert got.dtype is to and got.shape == want.shape
            tolerance = {"float16": 2e-3, "bfloat16": 1e-2}.get(to.name, 1e-5)
            np.testing.assert_allclose(np.array(got), want, rtol=tolerance, atol=3e-6)


def test_norms_of_extremes() -> None:
    assert mx.linalg.norm(mx.array([300.0, 400.0], mx.float16)).item() == 500
    assert mx.linalg.norm(mx.zeros((0,))).item() == 0
    assert mx.linalg.norm(mx.zeros((0, 3)), 1).item() == 0
    assert np.isnan(mx.linalg.norm(mx.array([np.nan, 1.0]), np.inf).item())
    assert np.isnan(mx.linalg.norm(mx.array([[np.nan, 1.0]]), 2).item())
    assert mx.linalg.norm(mx.array(-3.0)).item() == 3
    assert mx.matrix_norm(mx.array([[3, 4]]), "f").item() == 5


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_cross(d: Dtype) -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.integers(0, 3, (4, 3)).astype(np.float32) for _ in range(2))
    if d is mx.bool_:
        got = mx.linalg.cross(mx.array([True, False, True]), mx.array([True, True, True]))
        assert got.tolist() == [True, False, True]  # differences of booleans: whether they differ
        return
    a, b = mx.array(x).astype(d), mx.array(y).astype(d)
    got = mx.linalg.cross(a, b)
    assert got.dtype is d
    np.testing.assert_array_equal(np.array(got), np.cross(x, y).astype(np.array(got).dtype))
    np.testing.assert_array_equal(np.array(mx.linalg.cross(a.T, b.T, 0)), np.array(got).T)
    np.testing.assert_array_equal(np.array(mx.linalg.cross(a, b[0])),
                                  np.cross(x, y[0]).astype(np.array(got).dtype))


def test_cross_of_two_components() -> None:
    assert mx.linalg.cross(mx.array([1, 2.0]), mx.array([4, 5.0])).tolist() == [0, 0, -3]
    assert mx.linalg.cross(mx.array([1, 2, 3.0]), mx.array([4, 5.0])).tolist() == [-15, 12, -3]
    got = mx.linalg.cross(mx.array([1, 2, 3], mx.int8), mx.array([4, 5, 6], mx.uint8))
    assert (got.dtype, got.tolist()) == (mx.int16, [-3, 6, -3])


ONE: dict[str, Callable[..., Any]] = {
    name: getattr(mx.linalg, name) for name in (
        "cholesky", "cholesky_inv", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lu",
        "lu_factor", "pinv", "qr", "slogdet", "svd", "tri_inv")}
ONE["solve"] = lambda a: mx.linalg.solve(a, a * 1)
ONE["solve_triangular"] = lambda a: mx.linalg.solve_triangular(a, a * 1)


@pytest.mark.parametrize("name", list(ONE))
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite_gives_nan(name: str, bad: float) -> None:
    x = np.stack([np.eye(3, dtype=np.float32) * 2] * 2)
    x[1, 1, 1] = bad
    for r in results(ONE[name](mx.array(x))):
        assert np.isfinite(r[0]).all()
        assert r.dtype.kind == "u" or np.isnan(r[1]).all()
    for r in results(ONE[name](mx.full((2, 2), bad))):
        assert r.dtype.kind == "u" or np.isnan(r).all()


def test_right_sides_may_hold_anything() -> None:
    b = mx.array([[np.nan, 1.0], [np.inf, 2.0]])
    got = np.array(mx.linalg.solve(mx.eye(2), b))
    assert not np.isfinite(got[:, 0]).any() and got[:, 1].tolist() == [1, 2]


FAILURES: list[tuple[str, str]] = [
    ("inv(mx.ones((2, 2)))", "[linalg::inv] the matrix is singular."),
    ("inv(mx.stack([mx.eye(2), mx.ones((2, 2))]))",
     "[linalg::inv] the matrix is singular (matrix (1,) of the stack)."),
    ("solve(mx.ones((2, 2)), mx.ones(2))", "[linalg::solve] the matrix is singular."),
    ("solve(mx.zeros((2, 3, 3)), mx.ones((2, 3, 1)))",
     "[linalg::solve] the matrix is singular (matrix (0,) of the stack)."),
    ("cholesky(-mx.eye(3))", "[linalg::cholesky] the matrix is not positive definite."),
    ("tri_inv(mx.array([[0.0, 0.0], [1.0, 1.0]]))",
     "[linalg::tri_inv] the triangular matrix has a zero on its diagonal."),
    ("cholesky_inv(mx.zeros((2, 2)))",
     "[linalg::cholesky_inv] the triangular matrix has a zero on its diagonal."),
    ("solve_triangular(mx.zeros((2, 2)), mx.ones(2))",
     "[linalg::solve_triangular] the triangular matrix has a zero on its diagonal."),
]


@pytest.mark.parametrize(("code", "message"), FAILURES, ids=[c for c, _ in FAILURES])
def test_failures_when_computed(code: str, message: str) -> None:
    a = eval(f"mx.linalg.{code}", {"mx": mx})
    for _ in range(2):  # the array stays as it was: asking again fails again
        with pytest.raises(LinalgError) as found:
            mx.eval(a)
        assert str(found.value) == message
    assert issubclass(LinalgError, ValueError) and issubclass(LinalgError, RuntimeError)


def test_compiled_functions_fail_and_recover() -> None:
    f = mx.compile(lambda x: mx.linalg.inv(x * 2) + 1)
    with pytest.raises(LinalgError, match=r"\[linalg::inv\] the matrix is singular"):
        mx.eval(f(mx.ones((2, 2))))
    np.testing.assert_array_equal(np.array(f(mx.eye(2))), np.eye(2) / 2 + 1)


@pytest.mark.parametrize("name", [*ONE, "norm"])
def test_compiled_gives_the_same_bits(name: str) -> None:
    function = ONE.get(name, mx.linalg.norm)

    def f(x: mx.array) -> tuple[mx.array, ...]:
        made = function(mx.sin(x) + 3 * mx.eye(4))
        return tuple([m * 2 + 1 for m in (made if isinstance(made, tuple) else (made,))])

    x = matrices(mx.float32, (4, 4), symmetric=True) / 20
    for a in (mx.array(x), mx.array(x[::-1, ::-1].copy())[::-1, ::-1], mx.array(x.T.copy()).T):
        for plain, compiled in zip(results(f(a)), results(mx.compile(f)(a))):
            assert plain.tobytes() == compiled.tobytes()


ERRORS: list[tuple[str, type[Exception], str]] = [
    ("qr(mx.array([[1, 2], [3, 4]]))", DtypeError,
     "[linalg::qr] does not take int32; give float32 or float64."),
    ("svd(mx.ones((2, 2), mx.float16))", DtypeError,
     "[linalg::svd] does not take float16; give float32, float64 or complex64."),
    ("inv(mx.ones((2, 2)).astype(mx.complex64))", DtypeError,
     "[linalg::inv] does not take complex64; give float32 or float64."),
    ("eig(mx.ones((2, 2), mx.bfloat16))", DtypeError, "[linalg::eig] does not take bfloat16"),
    ("det(mx.array([[1j]]))", DtypeError,
     "[linalg::det] does not take complex64; give real numbers."),
    ("slogdet(mx.array([[1j]]))", DtypeError, "[linalg::slogdet] does not take complex64"),
    ("qr(mx.ones(2))", ShapeError,
     "[linalg::qr] needs matrices, at least 2 axes, got shape (2,)."),
    ("inv(mx.ones((2, 3)))", ShapeError,
     "[linalg::inv] needs square matrices, got shape (2,3)."),
    ("tri_inv(mx.ones((2, 3)))", ShapeError, "[linalg::tri_inv] needs square matrices"),
    ("cholesky(mx.ones((2, 3)))", ShapeError, "[linalg::cholesky] needs square matrices"),
    ("cholesky_inv(mx.ones((2, 3)))", ShapeError, "[linalg::cholesky_inv] needs square matrices"),
    ("det(mx.ones((2, 3)))", ShapeError, "[linalg::det] needs square matrices"),
    ("eigh(mx.ones((2, 2)), 'X')", ArgumentError,
     "[linalg::eigh] UPLO must be 'L' or 'U', not 'X'."),
    ("eigvalsh(mx.ones((2, 2)), 3)", ArgumentError, "[linalg::eigvalsh] UPLO must be"),
    ("solve(mx.ones((2, 2)), mx.ones(3))", ShapeError,
     "[linalg::solve] matrices of shape (2,2) do not fit a right side of shape (3,)."),
    ("solve(mx.ones((2, 2)), mx.array(1.0))", ShapeError,
     "[linalg::solve] the right side needs at least one axis."),
    ("solve(mx.ones((5, 2, 2)), mx.ones((4, 2, 1)))", ShapeError,
     "[linalg::solve] shapes (5,) and (4,) cannot be broadcast together."),
    ("solve(mx.array([[1]]), mx.array([1]))", DtypeError,
     "[linalg::solve] does not take int32 with int32; give float32 or float64."),
    ("solve_triangular(mx.ones((2, 3)), mx.ones(3))", ShapeError,
     "[linalg::solve_triangular] needs square matrices"),
    ("cross(mx.ones(3), mx.ones(4))", ShapeError,
     "[linalg::cross] axis 0 of shape (4,) must have length 2 or 3."),
    ("cross(mx.ones(3), mx.ones(3), axis=2)", AxisError,
     "[linalg::cross] axis 2 is out of range for shape (3,)."),
    ("cross(mx.ones((4, 3)), mx.ones((2, 3)))", ShapeError,
     "[linalg::cross] shapes (4,) and (2,) cannot be broadcast together."),
    ("norm(mx.ones((2, 2)), 3)", ArgumentError,
     "[linalg::norm] there is no matrix norm of order 3."),
    ("norm(mx.ones((2, 2)), 'abc')", ArgumentError,
     "[linalg::norm] there is no matrix norm of order 'abc'."),
    ("norm(mx.ones(2), 'fro')", ShapeError,
     "[linalg::norm] the norm 'fro' is of matrices: it needs 2 axes, not 1."),
    ("norm(mx.ones((2, 2, 2)), 2)", ShapeError,
     "[linalg::norm] a norm of order 2 needs 1 or 2 axes, not 3."),
    ("norm(mx.array(1.0), 2)", ShapeError, "[linalg::norm] a norm of order 2 needs 1 or 2 axes"),
    ("norm(mx.ones((2, 2)), axis=(0, 0))", AxisError, "[linalg::norm] an axis is given twice"),
    ("norm(mx.ones((2, 2)), axis=5)", AxisError, "[linalg::norm] axis 5 is out of range"),
    ("norm(mx.ones(2), [1])", ArgumentTypeError,
     "[linalg::norm] ord must be a number or a str, not a list."),
    ("norm(mx.ones((0, 3)), mx.inf)", ShapeError,
     "[linalg::norm] no max over axis 0 of length 0 in shape (0,1)."),
]


@pytest.mark.parametrize(("code", "kind", "message"), ERRORS, ids=[c for c, _, _ in ERRORS])
def test_errors(code: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as found:
        eval(f"mx.linalg.{code}", {"mx": mx})
    assert type(found.value) is kind
    assert message in str(found.value)


def test_against_mlx() -> None:
    mlx = pytest.importorskip("mlx.core", reason="the reference implementation is not installed")
    x = matrices(mx.float32, (2, 4, 4), symmetric=True)
    with mlx.stream(mlx.cpu):
        for name in ("qr", "lu", "lu_factor", "pinv", "inv", "tri_inv", "cholesky", "eigvalsh",
                     "det", "slogdet"):
            wants = getattr(mlx.linalg, name)(mlx.array(x))
            got = getattr(mx.linalg, name)(mx.array(x))
            for g, w in zip(results(got), results(wants)):
                assert (g.dtype, g.shape) == (w.dtype, w.shape)
                np.testing.assert_allclose(g, w, rtol=1e-3, atol=1e-3)
        for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
            want = mlx.linalg.norm(mlx.array(x), ord=order, axis=[0, 2], keepdims=True)
            got = mx.linalg.norm(mx.array(x), order, [0, 2], True)
            np.testing.assert_allclose(np.array(got), np.array(want), rtol=1e-4)
