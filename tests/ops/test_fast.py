"""Fused layers against their formulas in float64, plain against compiled, and their errors."""

from __future__ import annotations

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.errors import ArgumentError, DtypeError, ShapeError

RNG = np.random.default_rng(7)
X = RNG.standard_normal((2, 3, 5, 16)).astype(np.float32)
W, B = (RNG.standard_normal(16).astype(np.float32) for _ in range(2))


def same_compiled(f, *arrays):
    """The function's value; compiled and plain must agree in every bit."""
    given = [mx.array(a) for a in arrays]
    plain, fused = np.array(f(*given)), np.array(mx.compile(f)(*given))
    assert plain.tobytes() == fused.tobytes()
    return plain


@pytest.mark.parametrize("shape", [(16,), (1, 16), (2, 3, 5, 16), (0, 16)])
def test_rms_norm(shape):
    x = np.resize(X, shape)
    got = same_compiled(lambda a, w: mx.fast.rms_norm(a, w, 1e-5), x, W)
    d = x.astype(np.float64)
    want = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * W
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shifted", [False, True])
def test_layer_norm(weighted, shifted):
    def f(a, w, b):
        return mx.fast.layer_norm(a, w if weighted else None, b if shifted else None, 1e-5)
    got = same_compiled(f, X, W, B)
    d = X.astype(np.float64)
    d = d - d.mean(-1, keepdims=True)
    want = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5)
    want = want * (W if weighted else 1) + (B if shifted else 0)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_halves_are_rounded_once(dtype):
    x = mx.array(X).astype(dtype)
    wide = mx.fast.layer_norm(x.astype(mx.float32), None, None, 1e-5)
    assert mx.array_equal(mx.fast.layer_norm(x, None, None, 1e-5), wide.astype(dtype)).item()


def rope_reference(x, dims, traditional, base, scale, offset, freqs=None):
    half = dims // 2
    rate = 1 / freqs if freqs is not None else base ** (-np.arange(half) / half)
    offset = np.asarray(offset, np.float64).reshape(-1, *[1] * (x.ndim - 1))
    angle = scale * (np.arange(x.shape[-2])[:, None] + offset) * rate
    c, s = np.cos(angle), np.sin(angle)
    out = x.astype(np.float64).copy()
    i, j = ((slice(0, dims, 2), slice(1, dims, 2)) if traditional
            else (slice(0, half), slice(half, dims)))
    a, b = x[..., i], x[..., j]
    out[..., i], out[..., j] = a * c - b * s, a * s + b * c
    return out


@pytest.mark.parametrize("traditional", [False, True])
@pytest.mark.parametrize("dims", [16, 8, 2])
@pytest.mark.parametrize("offset", [0, 3, [1, 4]])
def test_rope(traditional, dims, offset):
    def f(a):
        at = mx.array(offset) if isinstance(offset, list) else offset
        return mx.fast.rope(a, dims, traditional=traditional, base=10000.0, scale=1.5, offset=at)
    got = same_compiled(f, X)
    want = rope_reference(X, dims, traditional, 10000.0, 1.5, offset)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-6)


def test_rope_with_frequencies():
    freqs = np.arange(1, 9).astype(np.float32)
    got = same_compiled(lambda a, f: mx.fast.rope(
        a, 16, traditional=False, base=None, scale=1.0, offset=0, freqs=f), X, freqs)
    want = rope_reference(X, 16, False, None, 1.0, 0, freqs.astype(np.float64))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("traditional", [False, True])
@pytest.mark.parametrize("dtype, tolerance", [
    (mx.float16, 2e-3), (mx.bfloat16, 2e-2), (mx.float32, 1e-5), (mx.float64, 1e-13)])
@pytest.mark.parametrize("dims, width", [(2, 3), (32, 32), (34, 51), (128, 200)])
def test_rope_of_every_type_and_width(traditional, dtype, tolerance, dims, width):
    """Whole vectors, tails, features that stay; positions of several tasks; 5 axes and strides."""
    wide = RNG.standard_normal((2, 3, 1, 70, width))
    x = mx.array(wide, dtype)
    f = mx.compile(lambda a: mx.fast.rope(a, dims, traditional=traditional, base=100.0, scale=0.5,
                                          offset=2))
    got = f(x)
    assert got.dtype == dtype
    want = rope_reference(np.array(x.astype(mx.float64)), dims, traditional, 100.0, 0.5, 2)
    np.testing.assert_allclose(np.array(got.astype(mx.float64)), want, atol=tolerance, rtol=0)
    for view in (x.transpose(2, 1, 0, 3, 4), x[:, ::-1], x[..., ::-1], x[:, :, :, ::2]):
        plain = mx.fast.rope(mx.array(view), dims, traditional=traditional, base=100.0, scale=0.5,
                             offset=2)
        assert np.array(f(view).view(mx.uint8)).tobytes() == np.array(
            plain.view(mx.uint8)).tobytes()


def test_rope_that_goes_past_the_caches():
    x = mx.random.normal((2, 4, 8192, 64))
    for traditional in (False, True):
        whole = mx.fast.rope(x, 32, traditional=traditional, base=1e4, scale=1.0, offset=0)
        part = mx.fast.rope(x[1:, 2:3], 32, traditional=traditional, base=1e4, scale=1.0, offset=0)
        assert mx.array_equal(whole[1:, 2:3], part).item()


@pytest.mark.parametrize("shape", [(0, 2, 3, 4), (2, 0, 3, 4), (2, 2, 0, 4), (1, 1, 4)])
def test_rope_of_nothing_and_of_one(shape):
    x = mx.ones(shape)
    y = mx.fast.rope(x, 4, traditional=False, base=10.0, scale=1.0, offset=0)
    np.testing.assert_allclose(np.array(y), rope_reference(np.array(x), 4, False, 10.0, 1.0, 0),
                               rtol=1e-6)


@pytest.mark.parametrize("traditional", [False, True])
def test_rope_derivatives(traditional):
    """The rotation turns back; frequencies and offsets have derivatives by finite differences."""
    x, g, at, freqs = (mx.array(v, mx.float64) for v in (
        X, RNG.standard_normal(X.shape), [1.0, 4.0], np.arange(1.0, 5.0)))

    def f(a, offset, rates):
        y = mx.fast.rope(a, 8, traditional=traditional, base=None, scale=1.5, offset=offset,
                         freqs=rates)
        return (y * g).sum()
    found = mx.grad(f, argnums=(0, 1, 2))(x, at, freqs)
    for k, (given, slope) in enumerate(zip((x, at, freqs), found)):
        way = mx.array(RNG.standard_normal(given.shape), mx.float64) * 1e-6
        up, down = ([x, at, freqs] for _ in range(2))
        up[k], down[k] = given + way, given - way
        np.testing.assert_allclose(((f(*up) - f(*down)) / 2).item(), (slope * way).sum().item(),
                                   rtol=1e-5)


@pytest.mark.parametrize("axes", [(0, None, None), (None, 0, None), (0, 0, 0), (1, None, 0)])
def test_rope_over_a_batch(axes):
    """Of the array, of offsets for each example, and of frequencies."""
    whole = (mx.array(np.stack([X, X[::-1] * 2])), mx.array([[3, 1], [0, 2]]),
             mx.array(np.arange(1, 17, dtype=np.float32).reshape(2, 8)))
    given = [v if a == 0 else v.swapaxes(0, 1) if a else v[0] for v, a in zip(whole, axes)]

    def f(a, offset, rates):
        return mx.fast.rope(a, 16, traditional=False, base=None, scale=1.0, offset=offset,
                            freqs=rates)
    got = mx.vmap(f, axes)(*given)
    for i in range(2):
        one = [v[0] if a is None else v[i] for v, a in zip(whole, axes)]
        assert mx.array_equal(got[i], f(*one)).item()


def test_cross_entropy():
    targets = RNG.integers(0, 16, (2, 3, 5)).astype(np.int32)
    got = same_compiled(mx.fast.cross_entropy, X, targets)
    d = X.astype(np.float64)
    want = np.log(np.exp(d).sum(-1)) - np.take_along_axis(d, targets[..., None], -1)[..., 0]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_a_norm_is_one_kernel():
    f = mx.compile(lambda a, w: mx.fast.rms_norm(a * 2, w, 1e-5) + 1)
    f(mx.array(X), mx.array(W))
    assert len(f.entries()[0].plan.kernels) == 1


@pytest.mark.parametrize("call, error, text", [
    (lambda: mx.fast.rms_norm(mx.array(X), mx.zeros((3,)), 1e-5), ShapeError,
     r"\[rms_norm\] weight needs shape \(16,\)"),
    (lambda: mx.fast.layer_norm(mx.array(X), None, mx.zeros((3,)), 1e-5), ShapeError,
     r"\[layer_norm\] bias needs shape \(16,\)"),
    (lambda: mx.fast.rms_norm(mx.array([1, 2]), None, 1e-5), DtypeError, r"not int32"),
    (lambda: mx.fast.rms_norm(mx.array(1.0), None, 1e-5), ShapeError, r"at least one axis"),
    (lambda: mx.fast.rope(mx.zeros((3, 4)), 4, traditional=True, base=1.0, scale=1.0, offset=0),
     ShapeError, r"\[rope\] needs at least 3 axes"),
    (lambda: mx.fast.rope(mx.array(X), 3, traditional=True, base=1.0, scale=1.0, offset=0),
     ArgumentError, r"\[rope\] dims must be even"),
    (lambda: mx.fast.rope(mx.array(X), 4, traditional=True, base=None, scale=1.0, offset=0),
     ArgumentError, r"exactly one of base and freqs"),
    (lambda: mx.fast.cross_entropy(mx.array(X), mx.zeros((2, 3), mx.int32)), ShapeError,
     r"\[cross_entropy\] targets need shape \(2,3,5\)"),
    (lambda: mx.fast.cross_entropy(mx.array(X), mx.zeros((2, 3, 5))), DtypeError,
     r"class indices, not float32"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("norm", [lambda x, w: mx.fast.rms_norm(x, w, 1e-5),
                                  lambda x, w: mx.fast.layer_norm(x, None, w, 1e-5)])
def test_norms_promote(norm):
    """A weight of a wider type widens the result, which is computed from the input as it is."""
    x = mx.array([[1.0, 2.0, 4.0]])
    for small in (mx.float16, mx.bfloat16):
        mixed = norm(x.astype(small), mx.ones(3))
        assert mixed.dtype == mx.float32
        assert mx.array_equal(mixed, norm(x, mx.ones(3))).item()
        assert norm(x.astype(small), mx.ones(3, small)).dtype == small
    assert norm(x, mx.ones(3, mx.float16)).dtype == mx.float32
