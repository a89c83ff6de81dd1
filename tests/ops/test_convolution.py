"""Convolutions against float64 loops, bit by bit against plain fma chains, and their errors."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eutectic.core as mx
from eutectic.codegen.convolution_plan import axis_phases
from eutectic.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from eutectic.runtime import pool


def padded(x, low, high, dilation):
    """The input with gaps and padding; a negative padding crops."""
    rank = x.ndim - 2
    y = np.zeros((x.shape[0], *[max(0, (n - 1) * d + 1) for n, d in zip(x.shape[1:], dilation)],
                  x.shape[-1]), x.dtype)
    y[(slice(None), *[slice(None, None, d) for d in dilation])] = x
    y = np.pad(y, [(0, 0), *[(max(a, 0), max(b, 0)) for a, b in zip(low, high)], (0, 0)])
    return y[(slice(None), *[slice(max(-a, 0), n - max(-b, 0))
                             for a, b, n in zip(low, high, y.shape[1:rank + 1])])]


def windows(x, w, stride=1, low=0, high=0, dilation=1, input_dilation=1, groups=1, flip=False):
    """Yields (kernel position, the input each output sees there, the weights) in order."""
    rank = x.ndim - 2
    stride, low, high, dilation, input_dilation = (
        (v,) * rank if isinstance(v, int) else v
        for v in (stride, low, high, dilation, input_dilation))
    if flip:
        w = np.flip(w, tuple(range(1, rank + 1)))
    y = padded(x, low, high, input_dilation)
    out = [(n - (k - 1) * d - 1) // s + 1
           for n, k, d, s in zip(y.shape[1:], w.shape[1:], dilation, stride)]
    if min(out) < 1:
        return None
    where = []
    for k in itertools.product(*map(range, w.shape[1:-1])):
        at = [slice(i * d, i * d + (n - 1) * s + 1, s)
              for i, d, n, s in zip(k, dilation, out, stride)]
        where.append((y[(slice(None), *at)], w[(slice(None), *k)]))
    return where


def reference(x, w, groups=1, **given):
    """The sum of products in float64."""
    seen = windows(x.astype(np.float64), w.astype(np.float64), groups=groups, **given)
    if seen is None:
        return None
    parts = [sum(np.split(a, groups, -1)[g] @ np.split(b, groups)[g].T for a, b in seen)
             for g in range(groups)]
    return np.concatenate(parts, -1)


def fma(a, b, c):
    """float32 fused multiply-add by exact arithmetic, of finite numbers."""
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    near = np.float32(float(exact))  # twice rounded: perhaps a neighbour is closer
    around = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
    return min(around, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1))


def chain(x, w, groups=1, **given):
    """Every output element as one chain of float32 fused multiply-adds."""
    seen = windows(x, w, groups=groups, **given)
    outputs, channels = w.shape[0], w.shape[-1]
    out = np.zeros((*seen[0][0].shape[:-1], outputs), np.float32)
    for at in itertools.product(*map(range, out.shape)):
        group = at[-1] // (outputs // groups)
        total = np.float32(0)
        for a, b in seen:
            for c in range(channels):
                total = fma(a[(*at[:-1], group * channels + c)], b[at[-1], c], total)
        out[at] = total
    return out


def draw(*shapes, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


@st.composite
def problems(make):
    rank = make(st.integers(1, 3))
    several = [1, 2, 3, 5, 8, 9, 17, 33, 70]
    channels = make(st.sampled_from([1, 2, 3, 5, 16, 18]))
    outputs = make(st.sampled_from(several))
    groups = make(st.sampled_from([1, 1, 2, 3, 32]))
    if groups == 32:
        channels, outputs = make(st.integers(1, 4)), make(st.integers(1, 9))

    def each(low, high):
        return tuple(make(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))
    sizes = each(1, {1: 70, 2: 15, 3: 6}[rank])
    given = {"stride": each(1, 3), "low": each(-1, 3), "high": each(-1, 3), "dilation": each(1, 3),
             "input_dilation": each(1, 4) if make(st.booleans()) else (1,) * rank,
             "groups": groups, "flip": make(st.booleans())}
    x = (make(st.integers(1, 2)), *sizes, channels * groups)
    return x, (outputs * groups, *each(1, 4), channels), given


def convolve(x, w, low=0, high=0, dilation=1, **given):
    rank = len(x.shape) - 2
    low, high = (v if isinstance(v, tuple) else (v,) * rank for v in (low, high))
    return mx.conv_general(x, w, padding=(low, high), kernel_dilation=dilation, **given)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(problems())
def test_values(problem):
    x_shape, w_shape, given_ = problem
    x, w = draw(x_shape, w_shape)
    want = reference(x, w, **given_)
    if want is None:
        with pytest.raises(ShapeError, match="exceeds the padded input"):
            convolve(mx.array(x), mx.array(w), **given_)
        return
    got = np.array(convolve(mx.array(x), mx.array(w), **given_))
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


BITS = {
    "images": ((5, 3, 4, 3), (4, 3, 2, 3), {"low": (1, 0), "high": (1, 1)}),
    "gaps wider than the kernel": ((3, 3, 2, 2), (4, 2, 1, 2), {"input_dilation": (3, 2)}),
    "plain": ((1, 5, 6, 3), (4, 3, 2, 3), {"low": (1, 1), "high": (1, 1)}),
    "one output": ((1, 9, 2), (1, 4, 2), {"low": (2,), "high": (1,)}),
    "one position": ((1, 3, 3, 5), (7, 3, 3, 5), {}),
    "one by one": ((2, 3, 2, 5), (4, 1, 1, 5), {}),
    "one by one, as many as inputs": ((1, 2, 9), (27, 1, 9), {"stride": (2,), "high": (1,)}),
    "one by one, one output": ((2, 3, 2, 5), (1, 1, 1, 5), {}),
    "strides": ((1, 9, 8, 2), (3, 2, 3, 2), {"stride": (2, 3), "dilation": (2, 1)}),
    "gaps": ((1, 4, 3, 2), (3, 3, 4, 2), {"low": (2, 1), "high": (2, 2), "flip": True,
                                          "input_dilation": (2, 3)}),
    "depthwise": ((1, 5, 4, 35), (35, 2, 2, 1), {"low": (1, 0), "high": (0, 1), "groups": 35}),
    "small groups": ((1, 4, 4, 9), (6, 2, 2, 3), {"groups": 3}),
    "large groups": ((1, 7, 6), (22, 2, 3), {"groups": 2}),
    "volume": ((1, 3, 4, 3, 2), (3, 2, 2, 2, 2), {"low": (1, 0, 0), "high": (0, 0, 1)}),
}


@pytest.mark.parametrize("name", BITS)
def test_bits(name):
    x_shape, w_shape, given_ = BITS[name]
    x, w = draw(x_shape, w_shape, seed=1)
    got = np.array(convolve(mx.array(x), mx.array(w), **given_))
    assert got.tobytes() == chain(x, w, **given_).tobytes()


MANY = {
    "wide": ((2, 30, 30, 40), (70, 3, 3, 40), {"low": (1, 1), "high": (1, 1)}),
    "deep": ((2, 5, 5, 1100), (40, 2, 2, 1100), {"low": (1, 0), "high": (0, 0)}),
    "aligned": ((1, 6, 6, 512), (64, 3, 3, 512), {}),
    "depthwise": ((3, 20, 33, 96), (96, 3, 3, 1), {"low": (1, 1), "high": (1, 1), "groups": 96}),
    "groups": ((2, 9, 12, 96), (96, 3, 3, 3), {"low": (1, 1), "high": (1, 1), "groups": 32}),
    "gaps": ((2, 9, 12, 20), (33, 4, 4, 20), {"low": (2, 2), "high": (2, 2), "flip": True,
                                              "input_dilation": (2, 2)}),
    "far": ((1, 700, 6), (33, 3, 6), {"dilation": (150,), "low": (300,), "high": (20,)}),
    "long": ((1, 2000, 5), (37, 7, 5), {"stride": (2,), "low": (3,), "high": (3,)}),
}


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16, mx.float64])
@pytest.mark.parametrize("name", MANY)
def test_layouts_threads_and_compilation_give_the_same_bits(name, dtype):
    x_shape, w_shape, given_ = MANY[name]
    rank = len(x_shape) - 2
    x, w = (mx.array(a).astype(dtype) for a in draw(x_shape, w_shape, seed=2))
    raw = {mx.float64: mx.uint64, mx.float32: mx.uint32}.get(dtype, mx.uint16)

    def bits(a):
        return np.array(mx.contiguous(a).view(raw)).tobytes()
    out = convolve(x, w, **given_)
    assert out.dtype is dtype
    wide = [np.array(a.astype(mx.float64)) for a in (x, w)]
    want = reference(*wide, **given_)
    tolerance = {mx.float32: 2e-4, mx.float16: 1e-2, mx.bfloat16: 1e-1}.get(dtype, 1e-11)
    np.testing.assert_allclose(np.array(out.astype(mx.float64)), want, rtol=tolerance,
                               atol=tolerance * 10)
    first = (0, rank + 1, *range(1, rank + 1))
    last = (0, *range(2, rank + 2), 1)
    turned = [mx.contiguous(a.transpose(first)).transpose(last) for a in (x, w)]
    assert bits(convolve(*turned, **given_)) == bits(out)
    fused = mx.compile(lambda a, b: convolve(a * 2, b, **given_) + 1)
    assert bits(fused(x, w)) == bits(convolve(x * 2, w, **given_) + 1)
    before = pool.get_num_threads()
    try:
        for threads in (1, 3):
            pool.set_num_threads(threads)
            assert bits(convolve(x, w, **given_)) == bits(out)
    finally:
        pool.set_num_threads(before)


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_halves_are_rounded_once(dtype):
    x, w = (mx.array(a).astype(dtype) for a in draw((1, 9, 8, 12), (20, 3, 3, 12)))
    once = mx.conv2d(x.astype(mx.float32), w.astype(mx.float32), padding=1).astype(dtype)
    out = mx.conv2d(x, w, padding=1)
    assert np.array(out.view(mx.uint16)).tobytes() == np.array(once.view(mx.uint16)).tobytes()


def test_padding_is_zeros_and_gaps_are_nothing():
    x, w = mx.ones((1, 3, 1)), mx.full((1, 3, 1), float("inf"))
    assert np.isnan(np.array(mx.conv1d(x, w, padding=1)).ravel()).tolist() == [True, False, True]
    inside = mx.conv_general(x, w, padding=-1, input_dilation=2)
    assert np.isposinf(np.array(inside)).all() and inside.size == 1


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("given_", [
    {}, {"stride": 2}, {"stride": 3, "padding": 1}, {"dilation": 2, "padding": 2},
    {"stride": 2, "padding": 1, "output_padding": 1}, {"stride": 2, "padding": 3, "dilation": 2},
    {"groups": 2, "stride": 2}])
def test_transposed(rank, given_):
    """Against a scatter: every input element adds the kernel where it stands."""
    size, kernel = (5, 4, 3)[:rank], (3, 4, 2)[:rank]
    groups = given_.get("groups", 1)
    x, w = draw((2, *size, 4), (6, *kernel, 4 // groups))
    step, around, dilation, more = (given_.get(k, d) for k, d in (
        ("stride", 1), ("padding", 0), ("dilation", 1), ("output_padding", 0)))
    length = [(n - 1) * step + dilation * (k - 1) + 1 + more for n, k in zip(size, kernel)]
    full = np.zeros((2, *length, 6))
    for i in itertools.product(*map(range, size)):
        for k in itertools.product(*map(range, kernel)):
            at = (slice(None), *[a * step + b * dilation for a, b in zip(i, k)])
            for g in range(groups):
                o, c = slice(g * 6 // groups, (g + 1) * 6 // groups), 4 // groups
                full[(*at, o)] += x[(slice(None), *i, slice(g * c, (g + 1) * c))] @ w[(o, *k)].T
    want = full[(slice(None), *[slice(around, n - around) for n in length])]
    got = getattr(mx, f"conv_transpose{rank}d")(mx.array(x), mx.array(w), **given_)
    assert got.shape == want.shape
    np.testing.assert_allclose(np.array(got), want, rtol=1e-5, atol=1e-5)


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 4), st.integers(-3, 5),
       st.integers(1, 4), st.integers(1, 5))
def test_phases_cover_every_pair_once(size, kernel, stride, low, dilation, input_dilation):
    want = {(o, k, (o * stride + k * dilation - low) // input_dilation)
            for o in range(size) for k in range(kernel)
            if (o * stride + k * dilation - low) % input_dilation == 0}
    got = [(a.first + a.period * q, a.k_first + a.k_step * j, q * a.stride + j * a.dilation - a.low)
           for a in axis_phases(size, kernel, stride, low, dilation, input_dilation)
           for q in range(a.count) for j in range(a.kernel)]
    assert len(got) == len(set(got)) and set(got) == want


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(5, 2), (5, 3), (3, 5), (4, 4), (1, 1), (1, 7), (300, 40)])
def test_convolve(mode, sizes):
    a, v = draw(*[(n,) for n in sizes])
    got = np.array(mx.convolve(mx.array(a), mx.array(v), mode))
    want = np.convolve(a.astype(np.float64), v.astype(np.float64), mode)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("x, w, shape", [
    ((0, 4, 4, 3), (2, 3, 3, 3), (0, 2, 2, 2)), ((1, 4, 4, 3), (0, 3, 3, 3), (1, 2, 2, 0)),
    ((2, 4, 4, 0), (2, 3, 3, 0), (2, 2, 2, 2))])
def test_empty(x, w, shape):
    out = mx.conv2d(mx.zeros(x), mx.ones(w))
    assert out.shape == shape and not np.array(out).any()


def test_an_input_that_is_all_padding():
    out = mx.conv2d(mx.zeros((1, 0, 4, 3)), mx.ones((2, 1, 3, 3)), padding=1)
    assert out.shape == (1, 2, 4, 2) and not np.array(out).any()


@pytest.mark.parametrize("x, w, want", [
    ("float16", "bfloat16", "float32"), ("float16", "float32", "float32"),
    ("float64", "float32", "float64"), ("bfloat16", "bfloat16", "bfloat16"),
    ("float16", "int32", "float16")])
def test_dtypes_are_promoted(x, w, want):
    out = mx.conv1d(mx.ones((1, 4, 2), getattr(mx, x)), mx.ones((3, 2, 2), getattr(mx, w)))
    assert out.dtype is getattr(mx, want) and np.array(out.astype(mx.float32)).tolist() == [
        [[4.0] * 3] * 3]


X, W = (1, 4, 4, 3), (2, 3, 3, 3)


@pytest.mark.parametrize("x, w, given_, error, text", [
    ((2, 3), W, {}, ShapeError, r"\[conv2d\] takes inputs \(batch, 2 spatial .* shape \(2,3\)"),
    (X, (2, 3, 3), {}, ShapeError, r"weights of shape \(2,3,3\) .*: 4 axes are needed"),
    (X, (2, 3, 3, 4), {}, ShapeError, r"must have 3 channels .* \(1,4,4,3\) and .* \(2,3,3,4\)"),
    (X, (2, 5, 5, 3), {}, ShapeError, r"exceeds the padded input on axis 1"),
    (X, (2, 0, 3, 3), {}, ShapeError, r"the kernel has no positions"),
    (X, W, {"padding": -1}, ShapeError, r"padding -1 and -1"),
    (X, W, {"stride": 0}, ArgumentError, r"stride must be positive, got \(0,0\)"),
    (X, W, {"dilation": (1, -1)}, ArgumentError, r"dilation must be positive, got \(1,-1\)"),
    (X, W, {"groups": 0}, ArgumentError, r"groups must be positive, got 0"),
    (X, W, {"groups": 2}, ShapeError, r"input channels are no multiple of 2 groups"),
    ((1, 4, 4, 4), (3, 3, 3, 2), {"groups": 2}, ShapeError, r"output channels are no multiple"),
    (X, W, {"stride": (1, 1, 1)}, ArgumentTypeError, r"stride needs an integer or 2 of them"),
    (X, W, {"stride": 1.5}, ArgumentTypeError, r"stride must be an integer"),
])
def test_errors(x, w, given_, error, text):
    with pytest.raises(error, match=text):
        mx.conv2d(mx.zeros(x), mx.zeros(w), **given_)


@pytest.mark.parametrize("x, w", [(mx.int32, mx.float32), (mx.complex64, mx.float32),
                                  (mx.float32, mx.complex64), (mx.bool_, mx.bool_)])
def test_only_real_floating_inputs(x, w):
    with pytest.raises(DtypeError, match=r"\[conv1d\] takes real floating types, not"):
        mx.conv1d(mx.zeros((1, 4, 3), x), mx.zeros((2, 3, 3), w))


@pytest.mark.parametrize("call, error, text", [
    (lambda: mx.conv_general(mx.zeros(X), mx.zeros(W), padding=[1, 2, 3]), ArgumentError,
     r"\[conv_general\] padding needs an integer or 2 of them"),
    (lambda: mx.conv_general(mx.zeros(X), mx.zeros(W), input_dilation=0), ArgumentError,
     r"input_dilation must be positive"),
    (lambda: mx.conv_general(mx.zeros((1, 2, 2, 2, 2, 1)), mx.zeros((1, 2, 2, 2, 2, 1))),
     ShapeError, r"\(batch, 1 to 3 spatial axes, channels\)"),
    (lambda: mx.conv1d(mx.zeros((1, 4, 3)), mx.zeros((2, 3, 3)), stride=(1,)), ArgumentTypeError,
     r"\[conv1d\] stride must be an integer, not tuple"),
    (lambda: mx.convolve(mx.zeros((2, 2)), mx.zeros(2)), ShapeError, r"one axis, got .*\(2,2\)"),
    (lambda: mx.convolve(mx.zeros(0), mx.zeros(2)), ShapeError, r"no empty arrays"),
    (lambda: mx.convolve(mx.zeros(3), mx.zeros(2), "half"), ArgumentError, r"not 'half'"),
    (lambda: mx.convolve(mx.arange(3), mx.arange(2)), DtypeError, r"\[convolve\] .* int32"),
])
def test_errors_of_the_others(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_new_shape_needs_no_new_machine_code():
    f = mx.compile(lambda a, b: mx.conv2d(a, b, padding=1))
    texts = set()
    for n in (5, 8, 12):
        mx.eval(f(mx.ones((1, n, n, 3)), mx.ones((2, 3, 3, 3))))
        texts.add(f.entries()[-1].plan.steps[-1].code.text)
    assert len(texts) == 1
