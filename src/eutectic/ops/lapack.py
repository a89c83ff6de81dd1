"""Decompositions of stacks of matrices in NumPy and LAPACK: what `ops.linalg` computes with.

Matrices are the last two axes. Where one holds an inf or nan, all results of it are nan (pivots
count up): no library has to cope with them. A matrix that has no decomposition raises LinalgError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eutectic.errors import LinalgError, show_shape

Results = tuple[np.ndarray, ...]


def guarded(name: str, problem: str, a: np.ndarray,
            compute: Callable[[np.ndarray], Any]) -> Results:
    """`compute` of the finite matrices of a stack; nan for the others."""
    bad = ~np.isfinite(a).all(axis=(-2, -1))
    any_bad = bool(bad.any())
    if any_bad:
        a = np.where(bad[..., None, None], np.eye(*a.shape[-2:], dtype=a.dtype), a)
    try:
        made = compute(a)
    except np.linalg.LinAlgError:
        raise _failure(name, problem, a, compute) from None
    results = [np.asarray(r) for r in (made if isinstance(made, tuple) else (made,))]
    if any_bad:
        results = [np.where(bad.reshape(bad.shape + (1,) * (r.ndim - bad.ndim)), np.nan, r).astype(
            r.dtype) if r.dtype.kind in "fc" else r for r in results]
    return tuple(results)


def _failure(name: str, problem: str, a: np.ndarray,
             compute: Callable[[np.ndarray], Any]) -> LinalgError:
    """The error for the first matrix that fails."""
    for index in np.ndindex(a.shape[:-2]):
        try:
            compute(a[index])
        except np.linalg.LinAlgError:
            where = f" (matrix {show_shape(index)} of the stack)" if index else ""
            return LinalgError(f"[linalg::{name}] {problem}{where}.")
    return LinalgError(f"[linalg::{name}] {problem}.")


def _each(a: np.ndarray, others: tuple[np.ndarray, ...],
          compute: Callable[..., Results]) -> Results:
    """`compute` of one matrix after another; LAPACK's functions take no stacks."""
    stack = a.shape[:-2]
    made = [compute(a[i], *[o[i] for o in others]) for i in np.ndindex(stack)]
    return tuple([np.stack(parts).reshape(*stack, *parts[0].shape) for parts in zip(*made)])


def _function(name: str, a: np.ndarray) -> Callable[..., Any]:
    """A LAPACK function in the precision of an array."""
    from scipy.linalg import lapack
    return getattr(lapack, ("s" if a.dtype == np.float32 else "d") + name)


SINGULAR = "the matrix is singular"


def qr(a: np.ndarray) -> Results:
    return guarded("qr", "no convergence", a, lambda x: tuple(np.linalg.qr(x)))


def svd(a: np.ndarray) -> Results:
    return guarded("svd", "no convergence", a, lambda x: tuple(np.linalg.svd(x)))


def singular_values(a: np.ndarray) -> np.ndarray:
    return guarded("svd", "no convergence", a,
                   lambda x: np.linalg.svd(x, compute_uv=False))[0]


def inv(a: np.ndarray) -> np.ndarray:
    return guarded("inv", SINGULAR, a, np.linalg.inv)[0]


def tri_inv(a: np.ndarray, upper: bool, name: str) -> np.ndarray:
    keep = np.triu if upper else np.tril

    def one(x: np.ndarray) -> Results:
        out, info = _function("trtri", x)(x, lower=not upper)
        if info > 0:
            raise np.linalg.LinAlgError
        return (keep(out),)
    return guarded(name, "the triangular matrix has a zero on its diagonal", keep(a),
                   lambda x: _each(x, (), one))[0]


def cholesky(a: np.ndarray, upper: bool) -> np.ndarray:
    given = np.tril(np.swapaxes(a, -2, -1) if upper else a)
    low = guarded("cholesky", "the matrix is not positive definite", given, np.linalg.cholesky)[0]
    return np.swapaxes(low, -2, -1) if upper else low


def pinv(a: np.ndarray) -> np.ndarray:
    def compute(x: np.ndarray) -> np.ndarray:
        u, s, vt = np.linalg.svd(x, full_matrices=False)
        # Singular values that rounding may have made of 0 count as 0.
        cutoff = max(x.shape[-2:]) * np.finfo(x.dtype).eps * s.max(axis=-1, keepdims=True)
        with np.errstate(divide="ignore"):
            inverse = np.where(s > cutoff, 1 / s, 0).astype(x.dtype)
        return np.swapaxes(vt, -2, -1) @ (inverse[..., None] * np.swapaxes(u, -2, -1))
    return guarded("pinv", "no convergence", a, compute)[0]


def eigh(a: np.ndarray, uplo: str) -> Results:
    return guarded("eigh", "no convergence", _triangle(a, uplo),
                   lambda x: tuple(np.linalg.eigh(x, uplo)))  # type: ignore[call-overload]


def eigvalsh(a: np.ndarray, uplo: str) -> np.ndarray:
    return guarded("eigvalsh", "no convergence", _triangle(a, uplo),
                   lambda x: np.linalg.eigvalsh(x, uplo))[0]  # type: ignore[call-overload]


def _triangle(a: np.ndarray, uplo: str) -> np.ndarray:
    return np.tril(a) if uplo == "L" else np.triu(a)


def _complex(*results: np.ndarray) -> Results:
    return tuple([r.astype(np.complex64) for r in results])


def eig(a: np.ndarray) -> Results:
    return guarded("eig", "no convergence", a, lambda x: _complex(*np.linalg.eig(x)))


def eigvals(a: np.ndarray) -> np.ndarray:
    return guarded("eigvals", "no convergence", a, lambda x: _complex(np.linalg.eigvals(x)))[0]


def lu_factor(a: np.ndarray) -> Results:
    def one(x: np.ndarray) -> Results:
        packed, pivots, _ = _function("getrf", x)(x)
        return packed, pivots.astype(np.uint32)
    return guarded("lu_factor", "no convergence", a, lambda x: _each(x, (), one))


def lu(a: np.ndarray) -> Results:
    m, n = a.shape[-2:]
    k = min(m, n)

    def one(x: np.ndarray) -> Results:
        packed, pivots, _ = _function("getrf", x)(x)
        rows = np.arange(m, dtype=np.uint32)
        for i, p in enumerate(pivots):
            rows[[i, p]] = rows[[p, i]]
        back = np.argsort(rows).astype(np.uint32)
        return back, np.tril(packed[:, :k], -1) + np.eye(m, k, dtype=x.dtype), np.triu(packed[:k])
    return guarded("lu", "no convergence", a, lambda x: _each(x, (), one))


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return guarded("solve", SINGULAR, a, lambda x: np.linalg.solve(x, _beside(x, b)))[0]


def _beside(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`b`, or any part of it beside a single matrix, by which a failing one is looked for."""
    return b if x.ndim == b.ndim else b[(0,) * (b.ndim - x.ndim)]


def solve_triangular(a: np.ndarray, b: np.ndarray, upper: bool) -> np.ndarray:
    keep = np.triu if upper else np.tril

    def one(x: np.ndarray, y: np.ndarray) -> Results:
        out, info = _function("trtrs", x)(x, y, lower=not upper)
        if info > 0:
            raise np.linalg.LinAlgError
        return (out,)
    return guarded("solve_triangular", "the triangular matrix has a zero on its diagonal", keep(a),
                   lambda x: _each(x, (b,) if x.ndim == b.ndim else (_beside(x, b),), one))[0]


def slogdet(a: np.ndarray) -> Results:
    # In float64: the logarithm of a determinant of float32 does not lose its last digits.
    signs, logs = guarded("slogdet", SINGULAR, a,
                          lambda x: tuple(np.linalg.slogdet(x.astype(np.float64))))
    return signs.astype(a.dtype), logs.astype(a.dtype)


def det(a: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):
        return guarded("det", SINGULAR, a,
                       lambda x: np.linalg.det(x.astype(np.float64)))[0].astype(a.dtype)


def cofactors(a: np.ndarray) -> np.ndarray:
    """Derivative of the determinant: (-1)^(i + j) times that of a without row i and column j."""
    def compute(x: np.ndarray) -> np.ndarray:
        # Cofactors of a product are the product of cofactors; those of orthogonal matrices are
        # themselves, with the determinant's sign.
        u, s, vt = np.linalg.svd(x.astype(np.float64))
        one = np.ones_like(s[..., :1])
        before = np.cumprod(np.concatenate([one, s[..., :-1]], -1), -1)
        after = np.cumprod(np.concatenate([one, s[..., :0:-1]], -1), -1)[..., ::-1]
        sign = np.sign(np.linalg.det(u) * np.linalg.det(vt))[..., None, None]
        return sign * ((u * (before * after)[..., None, :]) @ vt)
    with np.errstate(over="ignore", under="ignore"):
        return guarded("det", "no convergence", a, compute)[0].astype(a.dtype)
