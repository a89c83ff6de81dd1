"""Graph rewriting: kinds of failure reported against array compilers, each with a test."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

import eutectic.core as mx


def same(fun, *inputs):
    """Plain and compiled bits agree, on the first and the second call; the plain results."""
    g = mx.compile(fun)
    expected, first, second = fun(*inputs), g(*inputs), g(*inputs)
    if isinstance(expected, mx.array):
        expected, first, second = [expected], [first], [second]
    for e, a, b in zip(expected, first, second):
        assert (e.dtype, e.shape, bytes(e)) == (a.dtype, a.shape, bytes(a))
        assert bytes(a) == bytes(b)
    return expected


def rand(*shape, seed=0):
    return mx.array(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def test_forty_thousand_additions_of_a_scalar():
    """A deep graph: no recursion anywhere, and time that grows with its length."""
    def f(x):
        for _ in range(40_000):
            x = x + 1
        return x
    limit = sys.getrecursionlimit()
    x = mx.array([0.0, 0.5])
    y = f(x)
    assert y.tolist() == [40_000.0, 40_000.5]
    start = time.perf_counter()
    g = mx.compile(f)
    assert g(x).tolist() == [40_000.0, 40_000.5]
    assert time.perf_counter() - start < 60
    start = time.perf_counter()
    g(x)
    assert time.perf_counter() - start < 1
    assert sys.getrecursionlimit() == limit


def test_a_tree_of_64_inputs():
    xs = [rand(30, seed=i) for i in range(64)]

    def tree(*xs):
        while len(xs) > 1:
            xs = [a * b + a for a, b in zip(xs[::2], xs[1::2])]
        return xs[0]
    same(tree, *xs)


def test_a_tree_of_500_inputs():
    xs = [rand(3, seed=i) for i in range(500)]

    def total(*xs):
        s = xs[0]
        for x in xs[1:]:
            s = s + x
        return s
    same(total, *xs)


def test_a_graph_of_150_nodes_called_twice():
    def f(x, y):
        values = [x, y]
        for i in range(148):
            a, b = values[-1 - i % 2], values[-1 - i % 5 % len(values)]
            values.append((mx.sin(a), a + b, a * b, mx.tanh(a - b), mx.maximum(a, b))[i % 5])
        return values[-1], values[75], values[20]
    same(f, rand(17, 9), rand(17, 9, seed=1))


def test_log_and_log2_of_one_input():
    x = mx.array(np.random.default_rng(0).uniform(0.1, 9, 100).astype(np.float32))
    a, b, c = same(lambda x: (mx.log(x), mx.log2(x), mx.log10(x)), x)
    assert np.allclose(np.array(a), np.log(np.array(x)), rtol=1e-6)
    assert np.allclose(np.array(b), np.log2(np.array(x)), rtol=1e-6)
    assert np.allclose(np.array(c), np.log10(np.array(x)), rtol=1e-6)


@pytest.mark.parametrize(("a", "b"), [
    (1.0000001, 1.0000002), (0.1, 0.10000001), (0.0, -0.0), (float("inf"), float("-inf")),
    (float("nan"), 0.0), (1e-45, 0.0), (16777216.0, 16777217.0), (3.4e38, float("inf"))])
def test_constants_that_differ_late(a, b):
    """Two functions, and two nodes of one, that differ in one constant give their own results."""
    x = mx.array([1.0, -1.0, 0.0])
    for c in (a, b):
        same(lambda x, c=c: mx.copysign(x, c) if hasattr(mx, "copysign") else x * c, x)
    ra, rb = same(lambda x: (x * a, x * b), x)
    with np.errstate(all="ignore"):
        for r, c in ((ra, a), (rb, b)):
            expected = np.array(x) * np.float32(c)
            assert np.array_equal(np.array(r), expected, equal_nan=True)
            finite = ~np.isnan(expected)
            assert np.array_equal(np.signbit(np.array(r))[finite], np.signbit(expected)[finite])


def test_same_operations_other_constants():
    x = mx.array([5])
    assert mx.compile(lambda x: x * 1 + 23)(x).item() == 28
    assert mx.compile(lambda x: x * 12 + 3)(x).item() == 63


def test_complex_infinity_is_a_constant_of_its_own():
    x = mx.array([1 + 1j])
    for c in (complex("inf"), complex(0, float("inf")), complex(float("-inf"), 0), 1j, -1j):
        same(lambda x, c=c: x + c, x)


def test_shared_broadcasts_among_many_consumers():
    def f(x, b):
        wide = mx.broadcast_to(mx.expand_dims(b, 0), x.shape)
        outs = [x * wide, x + wide, mx.maximum(x, wide), wide - x, mx.sum(x * wide, axis=1),
                mx.sum(wide, axis=0), mx.transpose(wide) @ x, wide]
        return outs
    same(f, rand(33, 65), rand(65, seed=1))


def test_one_value_in_many_shapes():
    def f(x):
        y = mx.exp(x)
        return [y, mx.transpose(y), mx.reshape(y, (-1,)), y[::-1], mx.sum(y, axis=0),
                mx.sum(y, axis=1), mx.broadcast_to(y, (3, *y.shape)), mx.concatenate([y, y], 1),
                mx.pad(y, 1), mx.max(y)]
    same(f, rand(16, 17))


def test_siblings_partly_used():
    def f(x):
        _low, high = mx.minmax(x, axis=1)
        _q, r = mx.divmod(x, 3)
        parts = mx.split(x, 4, axis=1)
        return high, r, parts[2]
    same(f, rand(8, 12))


def test_isclose_with_equal_nan():
    x = mx.array([1.0, float("nan"), float("inf"), -0.0])
    y = mx.array([1.0, float("nan"), float("inf"), 0.0])
    [a, b] = same(lambda x, y: (mx.isclose(x, y, equal_nan=True), mx.isclose(x, y)), x, y)
    assert a.tolist() == [True, True, True, True]
    assert b.tolist() == [True, False, True, True]


def test_the_same_array_twice():
    x = rand(20)
    same(lambda a, b: a * b + mx.sum(a) - mx.max(b), x, x)


def test_outputs_repeat_and_are_inputs():
    x = rand(6, 7)
    outs = same(lambda x: (x, x, mx.exp(x), mx.exp(x), x[1:], mx.transpose(x)), x)
    assert bytes(outs[0]) == bytes(x)


def test_results_without_inputs():
    same(lambda: (mx.arange(10) * 2, mx.ones((3, 4)), mx.array([1.0, 2.0]) + 1))


def test_unused_inputs():
    same(lambda a, b, c: b + 1, rand(3), rand(4), rand(5))


def test_diamonds_do_not_double():
    """y = y + y, sixty times: sixty nodes, not 2^60."""
    def f(x):
        for _ in range(60):
            x = x + x
        return x
    [y] = same(f, mx.array([1.0]))
    assert y.item() == 2.0 ** 60


def test_diamonds_of_choices_do_not_double():
    """Nested choices of halves: looked through once each."""
    for d in (mx.float16, mx.bfloat16):
        def f(x, y):
            for _ in range(60):
                x, y = mx.maximum(x, y), mx.minimum(y, x)
            return x, y
        same(f, rand(33).astype(d), rand(33, seed=1).astype(d))


def test_merged_siblings_keep_their_places():
    """A value that goes into a larger array and to another consumer of the same shape."""
    def f(x):
        v = mx.max(x, axis=1)
        return mx.pad(v, [(2, 1)], constant_values=0), mx.sign(v), mx.concatenate([v, -v])
    same(f, rand(1, 33_000))
    same(f, rand(5, 300))


def test_parts_of_a_larger_array_wait_for_its_fill():
    def f(x):
        y = mx.exp(x)
        return mx.pad(y, 2, constant_values=mx.sum(y)), mx.pad(y, 1, constant_values=y[0, 0])
    same(f, rand(4, 5))
