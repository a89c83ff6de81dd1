"""Attention against its formula in float64, plain against compiled, threads, and its errors."""

from __future__ import annotations

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.errors import ArgumentError, DtypeError, ShapeError
from eutectic.runtime import pool

SHAPES = [  # batch, heads, key heads, queries, keys, features, value features
    (1, 1, 1, 1, 1, 1, 1), (1, 2, 1, 5, 7, 4, 4), (2, 4, 2, 33, 65, 16, 16),
    (1, 2, 2, 100, 200, 64, 64), (1, 1, 1, 70, 97, 40, 13), (1, 2, 1, 1, 300, 64, 64)]


def attend(q, k, v, **given):
    return mx.fast.scaled_dot_product_attention(q, k, v, scale=0.3, **given)


def reference(q, k, v, mask=None, sinks=None):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[1] // k.shape[1], 1) for x in (k, v))
    s = (q * 0.3) @ k.transpose(0, 1, 3, 2)
    tq, tk = s.shape[-2:]
    if isinstance(mask, str):
        s = np.where(np.arange(tq)[:, None] + tk - tq >= np.arange(tk), s, -np.inf)
    elif mask is not None:
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    if sinks is not None:
        column = np.broadcast_to(sinks[:, None, None], (*s.shape[:-1], 1))
        s = np.concatenate([s, column], -1)
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(-1, keepdims=True))
        return (e / e.sum(-1, keepdims=True))[..., :tk] @ v


def draw(shape, seed=0):
    b, n, nk, tq, tk, d, dv = shape
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s).astype(np.float32)
            for s in ((b, n, tq, d), (b, nk, tk, d), (b, nk, tk, dv))]


def masks(shape):
    b, _n, _nk, tq, tk, _d, _dv = shape
    rng = np.random.default_rng(1)
    seen = rng.random((b, 1, tq, tk)) > 0.3
    seen[..., 0] = True
    return {"none": None, "causal": "causal", "bool": seen,
            "additive": rng.standard_normal((tq, tk)).astype(np.float32)}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["none", "causal", "bool", "additive"])
@pytest.mark.parametrize("with_sinks", [False, True])
def test_values_and_bits(shape, kind, with_sinks):
    arrays = draw(shape)
    mask = masks(shape)[kind]
    sinks = np.linspace(-1, 1, shape[1], dtype=np.float32) if with_sinks else None

    def f(q, k, v):
        return attend(q, k, v, mask=mx.array(mask) if isinstance(mask, np.ndarray) else mask,
                      sinks=None if sinks is None else mx.array(sinks))
    given = [mx.array(a) for a in arrays]
    got = np.array(f(*given))
    np.testing.assert_allclose(got, reference(*arrays, mask, sinks), rtol=1e-5, atol=2e-6)
    fused = mx.compile(lambda q, k, v: f(q * 2, k, v) + 1)
    assert np.array(fused(*given)).tobytes() == np.array(f(given[0] * 2, *given[1:]) + 1).tobytes()


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float64])
def test_dtypes(dtype):
    given = [mx.array(a).astype(dtype) for a in draw(SHAPES[3])]
    out = attend(*given, mask="causal")
    assert out.dtype is dtype
    wide = [np.array(a.astype(mx.float32)) for a in given]
    tolerance = 1e-5 if dtype is mx.float64 else 2e-2
    np.testing.assert_allclose(np.array(out.astype(mx.float32)), reference(*wide, "causal"),
                               rtol=tolerance, atol=tolerance)


def test_strided_operands_and_threads_give_the_same_bits():
    q, k, v = (mx.array(a) for a in draw(SHAPES[3]))
    want = np.array(attend(q, k, v, mask="causal")).tobytes()
    turned = [mx.contiguous(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3) for x in (q, k, v)]
    assert np.array(attend(*turned, mask="causal")).tobytes() == want
    before = pool.get_num_threads()
    try:
        for threads in (1, 3):
            pool.set_num_threads(threads)
            assert np.array(attend(q, k, v, mask="causal")).tobytes() == want
    finally:
        pool.set_num_threads(before)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
@pytest.mark.parametrize("kind", ["none", "causal", "bool"])
def test_features_that_lie_apart_give_the_same_bits(shape, dtype, kind):
    """Neighbouring features are moved several at a time, others one by one."""
    mask = masks(shape)[kind]
    mask = mx.array(mask) if isinstance(mask, np.ndarray) else mask
    close = [mx.array(a).astype(dtype) for a in draw(shape)]
    apart = [mx.contiguous(x.swapaxes(2, 3)).swapaxes(2, 3) for x in close]
    backwards = [mx.contiguous(x[..., ::-1])[..., ::-1] for x in close]
    want = np.array(attend(*close, mask=mask).astype(mx.float32)).tobytes()
    for given in (apart, backwards):
        assert np.array(attend(*given, mask=mask).astype(mx.float32)).tobytes() == want


def test_a_query_that_sees_nothing_gives_nan():
    q, k, v = (mx.array(a) for a in draw((1, 1, 1, 3, 4, 4, 4)))
    seen = np.array([[True] * 4, [False] * 4, [True] * 4])
    out = np.array(attend(q, k, v, mask=mx.array(seen)))
    assert np.isnan(out[0, 0, 1]).all() and np.isfinite(out[0, 0, [0, 2]]).all()


def test_no_matrix_of_scores():
    q = mx.zeros((1, 1, 4096, 16))
    mx.eval(q)
    f = mx.compile(lambda a: attend(a, a, a))
    mx.eval(f(q))
    assert f.entries()[0].plan.arena < 4096 * 4096


@pytest.mark.parametrize("shapes, given, error, text", [
    (((2, 3), (1, 1, 2, 4), (1, 1, 2, 4)), {}, ShapeError, r"queries need 4 axes .* \(2,3\)"),
    (((1, 3, 2, 4), (1, 2, 2, 4), (1, 2, 2, 4)), {}, ShapeError, r"3 query heads .* 2 key heads"),
    (((1, 1, 2, 4), (1, 1, 2, 5), (1, 1, 2, 4)), {}, ShapeError, r"do not go together"),
    (((1, 1, 2, 4),) * 3, {"mask": "window"}, ArgumentError, r"not 'window'"),
    (((1, 1, 2, 4),) * 3, {"mask": (3, 3)}, ShapeError, r"mask of shape \(3,3\)"),
    (((1, 1, 2, 4),) * 3, {"sinks": (3,)}, ShapeError, r"sinks need shape \(1,\)"),
])
def test_errors(shapes, given, error, text):
    given = {k: mx.zeros(s) if isinstance(s, tuple) else s for k, s in given.items()}
    with pytest.raises(error, match=text):
        attend(*(mx.zeros(s) for s in shapes), **given)


def test_integers_are_refused():
    x = mx.zeros((1, 1, 2, 4), mx.int32)
    with pytest.raises(DtypeError, match="not int32"):
        attend(x, x, x)


def test_sinks_that_lie_apart_or_on_each_other():
    """Every second one of an array, and one number repeated (in compiled code no array at all)."""
    q, k, v = map(mx.array, draw((2, 4, 2, 33, 65, 16, 16)))
    apart = mx.array([0.5, 99.0, -1.0, 99.0, 2.0, 99.0, 0.25, 99.0])[::2]
    close = mx.array([0.5, -1.0, 2.0, 0.25])
    mask = mx.full((33, 65), 0.5)
    assert bytes(attend(q, k, v, sinks=apart)) == bytes(attend(q, k, v, sinks=close))
    for sinks in (lambda: apart + 0, lambda: apart, lambda: mx.full((4,), 3.0)):
        def f(q, k, v, sinks=sinks):
            return attend(q, k, v, sinks=sinks(), mask=mask * 2)
        assert bytes(f(q, k, v)) == bytes(mx.compile(f)(q, k, v))
