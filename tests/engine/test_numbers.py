"""Numbers: the corners of arithmetic, plain and compiled alike, against exact answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.dtype import DTYPES

INTS = [d for d in DTYPES if d.is_int]
HALVES = (mx.float16, mx.bfloat16)


def both(fun, *inputs):
    """The plain result, after checking that the compiled one has its bits."""
    e, c = fun(*inputs), mx.compile(fun)(*inputs)
    assert (e.dtype, e.shape, bytes(e)) == (c.dtype, c.shape, bytes(c))
    return e


def values(a):
    return np.array(a.astype(mx.float64)) if a.dtype.is_float else np.array(a)


@pytest.mark.parametrize("d", HALVES, ids=lambda d: d.name)
def test_chains_of_halves_round_after_each_operation(d):
    x = mx.array(np.random.default_rng(0).standard_normal(500).astype(np.float32)).astype(d)

    def chain(x):
        for _ in range(5):
            x = x * 1.1 + 0.3
            x = x / 1.7 - x * x
        return x
    y = both(chain, x)
    step = x
    for _ in range(5):
        for op in (lambda v: v * 1.1, lambda v: v + 0.3):
            step = op(step)
            mx.eval(step)
        a, b = step / 1.7, step * step
        mx.eval(a, b)
        step = a - b
        mx.eval(step)
    assert bytes(step) == bytes(y)


@pytest.mark.parametrize("d", HALVES, ids=lambda d: d.name)
def test_sums_of_halves_do_not_stop_growing(d):
    n = 20_000
    assert both(lambda x: mx.sum(x), mx.ones((n,), d)).item() == (
        n if d is mx.float16 else 19_968)  # the nearest bfloat16
    assert both(lambda x: mx.mean(x), mx.ones((n,), d)).item() == 1


@pytest.mark.parametrize("d", INTS, ids=lambda d: d.name)
def test_integers_wrap(d):
    info = np.iinfo(d.np)
    x = mx.array(np.array([info.max, info.min, info.max, info.min], d.np))
    y = mx.array(np.array([1, 1, info.max, info.min], d.np))
    with np.errstate(over="ignore"):
        for op, f in ((mx.add, np.add), (mx.subtract, np.subtract), (mx.multiply, np.multiply)):
            assert np.array_equal(np.array(both(op, x, y)), f(np.array(x), np.array(y)))
        assert np.array_equal(np.array(both(mx.negative, x)), np.negative(np.array(x)))
        assert np.array_equal(np.array(both(mx.abs, x)), np.abs(np.array(x)))


@pytest.mark.parametrize("d", INTS, ids=lambda d: d.name)
def test_division_by_zero_and_of_the_least_integer(d):
    info = np.iinfo(d.np)
    x = mx.array(np.array([5, 0, info.min, info.min, info.max], d.np))
    minus = info.max if not d.is_signed else -1
    y = mx.array(np.array([0, 0, 0, minus, minus], d.np))
    q = np.array(both(mx.floor_divide, x, y))
    r = np.array(both(mx.remainder, x, y))
    assert (q[:3] == 0).all() and (r[:3] == 0).all()  # NumPy's answer, without its warning
    assert r[3] == (info.min % minus if d.is_signed else 0)
    assert np.isinf(values(both(mx.divide, x, y))[0])


@pytest.mark.parametrize("d", INTS, ids=lambda d: d.name)
def test_shifts_by_the_width_and_more(d):
    bits = 8 * d.size
    x = np.array([1, 3, -1 if d.is_signed else np.iinfo(d.np).max], d.np)
    for k in (0, 1, bits - 1, bits, bits + 1, 63, 64, 100):
        if k > np.iinfo(d.np).max:
            continue
        left = np.array(both(mx.left_shift, mx.array(x), mx.array(np.full(3, k, d.np))))
        right = np.array(both(mx.right_shift, mx.array(x), mx.array(np.full(3, k, d.np))))
        for i, v in enumerate(x.tolist()):
            wrapped = (v << k) & ((1 << bits) - 1) if k < bits else 0
            wrapped -= (1 << bits) if d.is_signed and wrapped >> (bits - 1) else 0
            assert left[i] == wrapped
            assert right[i] == v >> k


def test_uint32_abs():
    x = mx.array(np.array([0, 1, 2**31, 2**32 - 1], np.uint32))
    assert both(mx.abs, x).tolist() == [0, 1, 2**31, 2**32 - 1]


@pytest.mark.parametrize("d", [mx.float16, mx.bfloat16, mx.float32, mx.float64],
                         ids=lambda d: d.name)
def test_nan_wins_extremes_and_positions(d):
    inf, nan = math.inf, math.nan
    x = mx.array([[1.0, nan, 3.0], [4.0, 2.0, -1.0], [inf, -inf, nan]]).astype(d)
    for axis in (0, 1, None):
        v = values(x)
        for name in ("max", "min", "argmax", "argmin"):
            found = values(both(lambda a, n=name, k=axis: getattr(mx, n)(a, axis=k), x))
            assert np.array_equal(found, getattr(np, name)(v, axis=axis), equal_nan=True)
    assert np.isnan(values(both(mx.maximum, x, mx.zeros((3, 3), d)))[0, 1])
    assert np.isnan(values(both(mx.minimum, mx.zeros((3, 3), d), x))[0, 1])


def test_sum_of_1e8_ones():
    ones = mx.ones((100_000_000,))
    assert both(lambda x: mx.sum(x), ones).item() == 1e8
    assert both(lambda x: mx.sum(mx.reshape(x, (10_000, 10_000)), axis=0)[0], ones).item() == 1e4


@pytest.mark.parametrize("axis", [0, 1])
def test_softmax_of_rows_of_minus_infinity(axis):
    x = np.zeros((4, 4), np.float32)
    x[1, :] = -np.inf
    y = np.array(both(lambda a: mx.softmax(a, axis=axis), mx.array(x)))
    if axis == 1:
        assert np.isnan(y[1]).all() and (y[0] == 0.25).all()
    else:
        assert (y[1] == 0).all() and np.allclose(y[0], 1 / 3)
    big = mx.array([[1000.0, 1000.0], [-1000.0, 0.0], [np.inf, 0.0]])
    z = np.array(both(lambda a: mx.softmax(a, axis=-1), big))
    assert z[0].tolist() == [0.5, 0.5] and z[1].tolist() == [0, 1] and np.isnan(z[2, 0])
    assert both(lambda a: mx.logsumexp(a, axis=1), mx.array(x))[1].item() == -math.inf


def test_log1p_and_expm1_near_zero():
    x = np.array([1e-30, -1e-30, 1e-8, -1e-8, 1e-4, 0.0, -0.0, 1e-45], np.float32)
    for name in ("log1p", "expm1"):
        y = np.array(both(getattr(mx, name), mx.array(x)))
        exact = getattr(np, name)(x.astype(np.float64)).astype(np.float32)
        assert np.all(np.abs(y - exact) <= np.spacing(np.abs(exact)))
        assert np.array_equal(np.signbit(y), np.signbit(x))


def test_sine_and_cosine_of_large_arguments():
    x = np.array([1e30, -1e30, 1e22, 3.4e38, 2.0**100, 1e5, 710.0], np.float32)
    for name in ("sin", "cos", "tan"):
        y = np.array(both(getattr(mx, name), mx.array(x)))
        exact = getattr(np, name)(x.astype(np.float64))
        assert np.all(np.abs(y - exact) <= 2 * np.spacing(np.abs(exact).astype(np.float32)))


def test_powers():
    inf, nan = math.inf, math.nan
    cases = [(0.0, 0.0, 1.0), (nan, 0.0, 1.0), (1.0, nan, 1.0), (0.0, -1.0, inf),
             (-0.0, -1.0, -inf), (-0.0, 3.0, -0.0), (-2.0, 3.0, -8.0), (-2.0, 0.5, nan),
             (inf, -1.0, 0.0), (-inf, 3.0, -inf), (-1.0, inf, 1.0), (0.5, inf, 0.0),
             (2.0, -inf, 0.0), (-inf, -3.0, -0.0), (2.0, 127.0, 2.0**127), (2.0, 128.0, inf),
             (2.0, -149.0, 2.0**-149)]
    a, b, c = (mx.array([t[k] for t in cases]) for k in range(3))
    y, e = np.array(both(mx.power, a, b)), np.array(c)
    assert np.array_equal(y, e, equal_nan=True)
    kept = ~np.isnan(e)
    assert np.array_equal(np.signbit(y)[kept], np.signbit(e)[kept])


def test_int64_beyond_two_to_the_53():
    x = mx.array(np.array([2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 1], np.int64))
    assert both(lambda x: x + 0, x).tolist() == [2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 1]
    assert both(lambda x: x - 1, x).tolist() == [2**53, -(2**53) - 2, 2**62, 2**63 - 2]
    assert both(lambda x: mx.max(x), x).item() == 2**63 - 1
    assert both(lambda x: mx.sum(x[:2]), x).item() == 0
    assert both(lambda x: mx.equal(x, x - 1), x).tolist() == [False] * 4


@pytest.mark.parametrize("d", HALVES, ids=lambda d: d.name)
def test_wide_numbers_become_halves_by_one_rounding(d):
    """Just beside a tie between two halves, where rounding to float32 first would reach the tie."""
    bits = 11 if d is mx.float16 else 8
    for e in (0, 5, -3):
        tie = (1 + 2.0 ** -bits) * 2.0 ** e
        x = np.array([tie, math.nextafter(tie, 9e9), math.nextafter(tie, 0)])
        y = values(both(lambda a: a.astype(d), mx.array(x, mx.float64)))
        low, high = 2.0 ** e, (1 + 2.0 ** (1 - bits)) * 2.0 ** e
        assert y.tolist() == [low, high, low]
    if d is mx.bfloat16:
        n = np.array([(257 << 22) + 1, (257 << 22), -((257 << 22) + 1)], np.int32)
        y = values(both(lambda a: a.astype(d), mx.array(n)))
        assert y.tolist() == [258.0 * 2**22, 256.0 * 2**22, -258.0 * 2**22]
        n = np.array([(257 << 54) + 1, 257 << 54], np.int64)
        y = values(both(lambda a: a.astype(d), mx.array(n)))
        assert y.tolist() == [258.0 * 2**54, 256.0 * 2**54]


def test_complex_numbers():
    z = mx.array(np.array([1 + 2j, -3 + 0.5j, 0j, complex(math.inf, 1)], np.complex64))
    w = mx.array(np.array([2 - 1j, 1j, 1 + 1j, 1 + 0j], np.complex64))
    a, b = np.array(z)[:3], np.array(w)[:3]
    for op, f in ((mx.add, np.add), (mx.multiply, np.multiply), (mx.divide, np.divide)):
        assert np.allclose(np.array(both(op, z, w))[:3], f(a, b), rtol=1e-6)
    assert np.allclose(np.array(both(mx.exp, z))[:3], np.exp(a), rtol=1e-6)
    assert np.allclose(np.array(both(mx.abs, z))[:3], np.abs(a), rtol=1e-6)
    assert both(lambda z: mx.sum(z[:3]), z).item() == complex(-2, 2.5)
    both(lambda z: mx.matmul(mx.reshape(z, (2, 2)), mx.reshape(z, (2, 2))), w)


def test_subnormals_are_not_flushed():
    x = np.array([1, 2, 0x7FFFFF], np.uint32).view(np.float32)
    assert np.array_equal(np.array(both(lambda a: a * 1.0, mx.array(x))), x)
    assert np.array_equal(np.array(both(lambda a: a + a, mx.array(x))), x + x)
    assert both(lambda a: mx.sum(a), mx.array(x)).item() == float(x.astype(np.float64).sum())
    assert np.array_equal(np.array(both(lambda a: mx.sqrt(a), mx.array(x))), np.sqrt(x))


def test_conversions_out_of_range():
    x = mx.array([math.nan, math.inf, -math.inf, 1e20, -1e20, 300.7, -1.5])
    assert both(lambda a: a.astype(mx.int32), x).tolist() == [
        0, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 300, -1]
    for d in (mx.uint8, mx.int8, mx.uint16, mx.uint32, mx.int64, mx.uint64, mx.bool_):
        both(lambda a, d=d: a.astype(d), x)


MOVES = {
    "maximum, a count": lambda x, y: mx.maximum(x, mx.count_nonzero(x)),
    "maximum, an element": lambda x, y: mx.maximum(x, y[0]),
    "maximum, two elements": lambda x, y: mx.maximum(x, mx.maximum(y[0], y[1])),
    "minimum, the largest": lambda x, y: mx.minimum(x, mx.max(y)),
    "where, the least of a row": lambda x, y: mx.where(x > y, x, mx.min(x, -1, keepdims=True)),
    "clip": lambda x, y: mx.clip(x, mx.min(y), mx.max(y)),
    "kept for a later pass": lambda x, y: (lambda m: (m - m.mean(-1, keepdims=True), m))(
        mx.maximum(x, y)),
    "negative, kept": lambda x, y: (lambda m: (m / mx.max(m, -1, keepdims=True), mx.abs(m)))(
        mx.maximum(-x, y)),
    "after a softmax": lambda x, y: mx.maximum(mx.softmax(x, -1), y),
    "widened, an element": lambda x, y: mx.minimum(x.astype(mx.float32), y[0].astype(mx.float32)),
    "widened, two elements": lambda x, y: mx.maximum(x, mx.maximum(y[0], y[1])).astype(
        mx.float32) + (x * 0).astype(mx.float32),
    "widened, chosen among": lambda x, y: mx.where(x > y[0], y[1], y[0]).astype(mx.float32),
    "beside another half": lambda x, y: mx.minimum(
        mx.ones(x.shape, mx.bfloat16), mx.broadcast_to(y[0], x.shape)),
    "complex, an element": lambda x, y: mx.where(
        mx.isnan(x), y[0].astype(mx.complex64), y[1].astype(mx.complex64)),
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("shape", [(5, 70), (3, 9, 11), (64,), (2, 300)])
def test_signalling_nans_of_float16_move_alike_in_every_kernel(name, shape):
    """A float16 that is only chosen keeps its bits, wherever in a kernel the choice is made."""
    rng = np.random.default_rng(sum(shape))
    x, y = [mx.array(rng.integers(0, 1 << 16, s, np.uint16).view(np.float16))
            for s in (shape, shape[-1:])]
    found = []
    for f in (MOVES[name], mx.compile(MOVES[name])):
        out = f(x, y)
        found.append([np.array(a).tobytes() for a in (out if isinstance(out, tuple) else (out,))])
    assert found[0] == found[1]
