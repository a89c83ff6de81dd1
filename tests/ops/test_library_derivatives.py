"""Derivatives of transforms, order and linear algebra against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx

L = mx.linalg
Scalar = Callable[[mx.array], mx.array]


def weighted(y: mx.array) -> mx.array:
    """A number that every element of a result changes."""
    w = np.cos(np.arange(y.size)).reshape(y.shape)
    if y.dtype is mx.complex64:
        return (mx.real(y) * w.astype(np.float32) + mx.imag(y) * (w + 0.3).astype(np.float32)).sum()
    return (y * mx.array(w, mx.float64).astype(y.dtype)).sum()


def check(f: Callable[[mx.array], Any], x: np.ndarray, step: float, tolerance: float) -> None:
    """The gradient of weighted(f(x)) against central differences."""
    d = mx.array(x, mx.float64 if x.dtype == np.float64 else None).dtype
    got = np.array(mx.grad(lambda a: weighted(f(a)))(mx.array(x, d)))
    want = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        ends = []
        for sign in (1, -1):
            y = x.copy()
            y[i] += sign * step
            ends.append(np.float64(weighted(f(mx.array(y, d))).item()))
        want[i] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def near_identity(n: int, stack: tuple[int, ...] = ()) -> np.ndarray:
    return np.eye(n) * 2 + np.random.default_rng(n).normal(size=(*stack, n, n)) * 0.3


B = mx.array(np.random.default_rng(9).normal(size=(3, 2)), mx.float64)
SMOOTH: dict[str, Callable[[mx.array], Any]] = {
    "inv": L.inv, "tri_inv": L.tri_inv, "tri_inv upper": lambda x: L.tri_inv(x, True),
    "cholesky": lambda x: L.cholesky(x @ x.swapaxes(-1, -2)),
    "cholesky upper": lambda x: L.cholesky(x @ x.swapaxes(-1, -2), True),
    "cholesky_inv": L.cholesky_inv, "det": L.det, "solve": lambda x: L.solve(x, B),
    "solve of right sides": lambda x: L.solve(mx.eye(3).astype(mx.float64) * 3 + 1, x),
    "solve_triangular": lambda x: L.solve_triangular(x, B),
    "solve_triangular upper": lambda x: L.solve_triangular(x, B, upper=True),
    "svd": lambda x: L.svd(x, compute_uv=False), "norm 2": lambda x: L.norm(x, 2, (-2, -1)),
    "nuc": lambda x: L.norm(x, "nuc", (-2, -1)), "norm 1": lambda x: L.norm(x, 1, (-2, -1)),
    "eigvalsh": lambda x: L.eigvalsh(x + x.swapaxes(-1, -2)), "sort": mx.sort,
    "sort axis 0": lambda x: mx.sort(x, 0), "sort flat": lambda x: mx.sort(x, None),
    "partition": lambda x: mx.partition(x, 1), "topk": lambda x: mx.topk(x, 2, 0),
    "median": mx.median, "median axis": lambda x: mx.median(x, -1),
    "median of four": lambda x: mx.median(x.reshape(-1)[:4]),
    "logcumsumexp": lambda x: mx.logcumsumexp(x, -1),
    "logcumsumexp exclusive": lambda x: mx.logcumsumexp(
        x, 0, reverse=True, inclusive=False).reshape(-1)[:-3 * x.shape[-1]],
    "einsum": lambda x: mx.einsum("...ij,...jk,jk->...i", x, x, x.reshape(-1, 3, 3)[0]),
}


@pytest.mark.parametrize("name", list(SMOOTH))
def test_against_differences(name: str) -> None:
    check(SMOOTH[name], near_identity(3), 1e-5, 2e-7)
    if "logcumsumexp exclusive" not in name:
        check(SMOOTH[name], near_identity(3, (2,)), 1e-5, 2e-7)


TRANSFORMS: dict[str, Callable[[mx.array], Any]] = {
    f"{name} {norm} {n}": lambda x, name=name, norm=norm, n=n: getattr(mx.fft, name)(x, n, -1, norm)
    for name in ("fft", "ifft", "rfft", "irfft") for norm in ("backward", "ortho", "forward")
    for n in (None, 5, 8)}
TRANSFORMS |= {
    "fft2": mx.fft.fft2, "rfft2": mx.fft.rfft2, "irfft2": mx.fft.irfft2,
    "irfftn": lambda x: mx.fft.irfftn(x, (5, 4), (1, 0)),
    "rfftn": lambda x: mx.fft.rfftn(x, (5, 4), (1, 0)), "ifftn": mx.fft.ifftn,
    "stft": lambda x: mx.fft.stft(x, 4), "shift": mx.fft.fftshift,
    "istft": lambda x: mx.fft.istft(mx.fft.stft(x, 4))}


@pytest.mark.parametrize("name", list(TRANSFORMS))
def test_transforms(name: str) -> None:
    x = np.random.default_rng(1).normal(size=(2, 6)).astype(np.float32)
    check(TRANSFORMS[name], x, 0.5, 2e-5)  # linear: large steps are exact


def test_transforms_of_complex_numbers() -> None:
    re, im = (mx.array(np.random.default_rng(i).normal(size=(2, 5)).astype(np.float32))
              for i in (1, 2))
    for f in (mx.fft.fft, mx.fft.ifft, mx.fft.irfft, mx.fft.irfft2):
        check(lambda x, f=f: f(x + 1j * im), np.array(re), 0.5, 2e-5)


def test_positions_have_no_derivative() -> None:
    x = mx.array([3.0, 1.0, 2.0])
    g = mx.grad(lambda a: (a * mx.argsort(a)).sum() + mx.searchsorted(a, a).sum())(x)
    assert g.tolist() == [1, 2, 0]


def test_extreme_sums_of_exponentials() -> None:
    g = mx.grad(lambda a: mx.logcumsumexp(a)[-1])(mx.array([1000.0, 1000.0, -1000.0]))
    np.testing.assert_allclose(np.array(g), [0.5, 0.5, 0], rtol=1e-4)


def test_second_order_and_compiled() -> None:
    x = mx.array(near_identity(3), mx.float64)
    second = mx.grad(lambda a: mx.grad(lambda b: L.det(b))(a).sum())
    check(lambda a: mx.grad(lambda b: L.det(b))(a), near_identity(3), 1e-5, 1e-6)
    assert np.array(mx.compile(second)(x)).tobytes() == np.array(second(x)).tobytes()
