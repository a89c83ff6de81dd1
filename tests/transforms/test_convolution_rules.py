"""Derivatives and vectorisation of convolutions."""

from __future__ import annotations

import numpy as np
import pytest

import eutectic.core as mx

RNG = np.random.default_rng(3)
CASES = [  # input, weight, options
    ((2, 9, 3), (4, 3, 3), {}),
    ((2, 9, 3), (4, 3, 3), {"stride": 2, "padding": 1}),
    ((1, 7, 8, 2), (3, 3, 2, 2), {"stride": (2, 1), "padding": (1, 2), "kernel_dilation": (1, 2)}),
    ((1, 6, 6, 4), (4, 3, 3, 2), {"groups": 2, "padding": 1}),
    ((1, 6, 6, 4), (4, 3, 3, 1), {"groups": 4, "stride": 2}),
    ((1, 5, 2), (3, 3, 2), {"input_dilation": 2, "padding": ([2], [1])}),
    ((1, 3, 4, 5, 2), (2, 2, 2, 2, 2), {"padding": 1}),
    ((1, 9, 2), (3, 3, 2), {"flip": True, "padding": ([-1], [2])}),
]


@pytest.mark.parametrize("x_shape, w_shape, options", CASES)
def test_derivative(x_shape, w_shape, options):
    xs = [RNG.standard_normal(x_shape), RNG.standard_normal(w_shape)]

    def f(x, w):
        return mx.conv_general(x, w, **options)
    arrays = [mx.array(a, dtype=mx.float64) for a in xs]
    g = RNG.standard_normal(f(*arrays).shape)
    ts = [RNG.standard_normal(a.shape) for a in xs]
    _o, grads = mx.vjp(f, arrays, [mx.array(g, dtype=mx.float64)])
    eps = 1e-6
    plus, minus = (np.array(f(*[mx.array(a + s * eps * t, dtype=mx.float64)
                                for a, t in zip(xs, ts)])) for s in (1, -1))
    dots = sum((np.array(a) * t).sum() for a, t in zip(grads, ts))
    np.testing.assert_allclose(dots, ((plus - minus) / (2 * eps) * g).sum(), rtol=1e-6, atol=1e-7)
    _o, pushed = mx.jvp(f, arrays, [mx.array(t, dtype=mx.float64) for t in ts])
    np.testing.assert_allclose(np.array(pushed[0]), (plus - minus) / (2 * eps), atol=1e-6)


def test_sequences():
    a, v = mx.array(RNG.standard_normal(100).astype(np.float32)), mx.array([1.0, -2.0, 0.5])
    got = mx.grad(lambda a, v: (mx.convolve(a, v) ** 2).sum(), argnums=(0, 1))(a, v)
    y = np.convolve(np.array(a), np.array(v)).astype(np.float64)
    want_v = [2 * (y[k:k + 100] * np.array(a)).sum() for k in range(3)]
    np.testing.assert_allclose(np.array(got[1]), want_v, rtol=1e-4)
    want_a = 2 * sum(np.array(v)[k] * y[k:k + 100] for k in range(3))
    np.testing.assert_allclose(np.array(got[0]), want_a, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize("groups", [1, 2])
def test_vmap(axes, groups):
    x = mx.array(RNG.standard_normal((3, 2, 6, 6, 4)).astype(np.float32))
    w = mx.array(RNG.standard_normal((3, 4, 3, 3, 4 // groups)).astype(np.float32))
    args = [a if ax == 0 else a[0] for a, ax in zip((x, w), axes)]

    def f(x, w):
        return mx.conv2d(x, w, padding=1, groups=groups)
    got = np.array(mx.vmap(f, in_axes=axes)(*args))
    want = np.stack([np.array(f(*[a[i] if ax == 0 else a for a, ax in zip(args, axes)]))
                     for i in range(3)])
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
