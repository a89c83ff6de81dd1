"""`scan`, `while_loop`, `cond`: their derivatives and their vectorisation."""

from __future__ import annotations

import numpy as np
import pytest
from loop_cases import bits, f64, normal, unrolled

import eutectic.core as mx
from eutectic.tree import flatten, unflatten

# -- derivatives ----------------------------------------------------------------------------------

def dots(f, *xs):
    """`<g, J t>` by pullback, by finite differences and by pushforward agree; compiled bits too."""
    g = f64(*f(*xs).shape)
    ts = [f64(*x.shape) for x in xs]
    _outs, grads = mx.vjp(f, list(xs), [g])
    eps = 1e-6
    ends = [f(*[x + s * eps * t for x, t in zip(xs, ts)]) for s in (1, -1)]
    numeric = ((ends[0] - ends[1]) / (2 * eps) * g).sum().item()
    by_pullback = sum([(a * t).sum().item() for a, t in zip(grads, ts)])
    np.testing.assert_allclose(by_pullback, numeric, rtol=1e-5, atol=1e-7)
    _outs, (forward,) = mx.jvp(f, list(xs), ts)
    np.testing.assert_allclose((forward * g).sum().item(), numeric, rtol=1e-5, atol=1e-7)

    def gradient(*a):
        return mx.grad(lambda *b: (f(*b) * g).sum(), argnums=tuple(range(len(xs))))(*a)
    assert bits(gradient(*xs)) == bits(mx.compile(gradient)(*xs))


def packed(tree):
    """All floating results as one vector."""
    return mx.concatenate([x.reshape(-1) for x in flatten(tree)[0] if x.dtype is mx.float64])


GRADS = {
    "product": lambda c, x, w: mx.scan(lambda c, x: (mx.tanh(c @ w + x), c * 2), c, x),
    "ys only": lambda c, x, w: mx.scan(lambda c, x: (c @ w, mx.sin(c) * x), c, x)[1],
    "carry only": lambda c, x, w: mx.scan(lambda c, x: (c * x + w[0], None), c, x)[0],
    "reverse": lambda c, x, w: mx.scan(lambda c, x: (mx.sin(c @ w) + x, c), c, x, reverse=True),
    "integer carry": lambda c, x, w: mx.scan(
        lambda s, x: ((s[0] + 1, s[1] * (s[0] + 1) + x), s[1] @ w), (mx.array(0), c), x),
    "unused": lambda c, x, w: mx.scan(lambda s, x: (s * 0.5, s), c, x),
    "nested": lambda c, x, w: mx.scan(
        lambda s, v: (mx.scan(lambda u, t: (mx.sin(u) + t * s, u), s, w)[1].sum(axis=0), s * v),
        c, x),
    "library": lambda c, x, w: mx.scan(
        lambda s, v: (mx.linalg.inv(w + 4 * mx.eye(3, dtype=mx.float64)) @ s + v, s), c, x),
    "cond": lambda c, x, w: mx.scan(
        lambda s, v: (mx.cond(s[0] > 0, lambda s: mx.sin(s) @ w, lambda s: s * s + v, s), s), c, x),
    "length one": lambda c, x, w: mx.scan(lambda s, v: (mx.sin(s) * v, s), c, x[:1]),
    "checkpoint": lambda c, x, w: mx.scan(
        mx.checkpoint(lambda s, v: (mx.tanh(s) * v + v, s)), c, x @ w),
}


@pytest.mark.parametrize("name", GRADS)
def test_derivatives(name):
    f = GRADS[name]
    dots(lambda c, x, w: packed(f(c, x, w)), f64(3), f64(6, 3), f64(3, 3))


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_derivatives_of_cond(value):
    p = mx.array(value)

    def f(x, w):
        return packed(mx.cond(p > 0, lambda x: (x @ w, mx.exp(x)), lambda x: (x * x, w[0]), x))
    dots(f, f64(3), f64(3, 3))


def test_gradient_is_that_of_the_loop():
    def loss(scan, c, x, w):
        carry, ys = scan(lambda c, x: (mx.tanh(c @ w + x), c), c, x)
        return (carry * carry).sum() + (ys * ys * ys).sum()
    args = (normal(2, 4), normal(7, 2, 4), normal(4, 4))
    mine = mx.grad(lambda *a: loss(mx.scan, *a), argnums=(0, 1, 2))(*args)
    by_hand = mx.grad(lambda *a: loss(unrolled, *a), argnums=(0, 1, 2))(*args)
    for a, b in zip(mine, by_hand):
        # Sums over the steps associate otherwise.
        np.testing.assert_allclose(np.array(a), np.array(b), rtol=2e-5, atol=2e-5)


def test_second_derivatives():
    def value(w):
        return mx.scan(lambda c, x: (mx.sin(c * w) + x, c), f64_start, f64_xs)[0]

    f64_start, f64_xs = f64(), f64(5)
    w, eps = mx.array(0.7, dtype=mx.float64), 1e-5
    second = mx.grad(mx.grad(value))
    numeric = (mx.grad(value)(w + eps) - mx.grad(value)(w - eps)) / (2 * eps)
    np.testing.assert_allclose(second(w).item(), numeric.item(), rtol=1e-8)
    assert bits(mx.compile(second)(w)) == bits(second(w))


def test_value_read_before_the_gradient():
    """Evaluating the value first must not lose what the gradient needs."""
    def loss(w):
        return mx.scan(lambda c, x: (mx.sin(c * w) + x, c), mx.array(0.5), xs)[1].sum()
    xs, w = normal(6), mx.array(0.3)
    value, slope = mx.value_and_grad(loss)(w)
    value.item()
    assert slope.item() == mx.grad(loss)(w).item() != 0


def test_custom_derivatives_inside():
    @mx.custom_function
    def f(x, y):
        return x * y

    @f.vjp
    def f_vjp(primals, g, out):
        return g * 10, g * primals[0]

    def loss(c, w):
        return mx.scan(lambda c, _: (f(c, w), None), c, length=3)[0]
    # c -> c w three times; the derivative in c is 10 a step, in w the sum of what comes after.
    a, b = mx.grad(loss, argnums=(0, 1))(mx.array(2.0), mx.array(3.0))
    assert (a.item(), b.item()) == (1000.0, 18 + 10 * 6 + 100 * 2)
    assert bits(mx.compile(mx.grad(loss))(mx.array(2.0), mx.array(3.0))) == bits(a)


def test_gradients_save_carries_only():
    """Memory grows by what a carry takes each step."""
    def loss(c, xs):
        def step(c, x):
            wide = mx.broadcast_to(c, (200, 8)) * x
            return mx.sin(wide).sum(axis=0), None
        return mx.scan(step, c, xs)[0].sum()
    c = mx.zeros(8)
    sizes = [mx.explain(mx.grad(loss), c, mx.ones((n,))).memory.temporaries for n in (100, 1100)]
    assert sizes[1] - sizes[0] <= 1000 * (8 * 4 + 8)


def test_training_step():
    """State declared to compile, gradients, draws and a scan together."""
    params = {"w": normal(4, 4) * 0.3}
    state = [params, mx.random.state]

    def loss(p, xs):
        def step(h, x):
            keep = mx.random.bernoulli(0.5, h.shape)
            return mx.where(keep, mx.tanh(h @ p["w"] + x), h), h
        return (mx.scan(step, mx.zeros(4), xs)[1] ** 2).sum()

    def train(xs):
        value, grads = mx.value_and_grad(loss)(params, xs)
        params["w"] = params["w"] - 0.1 * grads["w"]
        return value

    xs, start = normal(10, 4), params["w"]
    found = []
    for f in (train, mx.compile(train, inputs=state, outputs=state)):
        params["w"] = start
        mx.random.seed(0)
        found.append(bits(([f(xs) for _ in range(3)], params["w"])))
    assert found[0] == found[1]


# -- vmap -----------------------------------------------------------------------------------------

def entries(f, axes, *args):
    """vmap has the bits of one call after another, plain and compiled."""
    size = next(a.shape[0] for a, x in zip(args, axes) if x is not None)
    rows = [f(*[a if x is None else a[i] for a, x in zip(args, axes)]) for i in range(size)]
    treedef = flatten(rows[0])[1]
    want = bits(unflatten(treedef, [mx.stack(list(c)) for c in zip(
        *[flatten(r)[0] for r in rows])]))
    v = mx.vmap(f, in_axes=axes)
    assert bits(v(*args)) == want
    assert bits(mx.compile(v)(*args)) == want


@pytest.mark.parametrize("axes", [(0, 0, 0), (0, None, None), (None, 0, None), (None, None, 0)])
@pytest.mark.parametrize("reverse", [False, True])
def test_vmap_of_scan(axes, reverse):
    def f(c, xs, w):
        def step(s, x):
            return (s[0] * w + x.sum(), s[1] + 1), (x * s[0], s[1], w)
        return mx.scan(step, (c, mx.array(0)), xs, reverse=reverse)
    shapes = [(), (4, 2), ()]
    args = [normal(3, *s) if x is not None else normal(*s) for s, x in zip(shapes, axes)]
    entries(f, axes, *args)


def test_vmap_of_while():
    def f(x, limit):
        return mx.while_loop(lambda v: v[0].sum() < limit,
                             lambda v: (v[0] * 1.5 + 0.1, v[1] + 1, v[2]),
                             (x, mx.array(0), mx.ones(2)))
    x = mx.abs(normal(5, 3))
    entries(f, (0, None), x, mx.array(50.0))
    entries(f, (None, 0), x[0], mx.array([0.0, 10.0, 1e3]))
    entries(f, (0, 0), x[:3], mx.array([0.0, 10.0, 1e3]))
    # All go the same way: the condition has no batch axis.
    entries(lambda x: mx.while_loop(lambda v: v[1] < 3, lambda v: (v[0] * 2, v[1] + 1),
                                    (x, mx.array(0))), (0,), x)


def test_vmap_of_cond():
    def f(p, x, y):
        return mx.cond(p, lambda x, y: (x * y, x, mx.ones(2)), lambda x, y: (y, x - y, x), x, y)
    p, x, y = mx.array([True, False, True]), normal(3, 2), normal(3, 2)
    entries(f, (0, 0, 0), p, x, y)
    entries(f, (0, None, 0), p, x[0], y)
    entries(f, (0, None, None), p, x[0], y[0])
    for q in (True, False):
        entries(f, (None, 0, None), mx.array(q), x, y[0])


def test_vmap_of_vmap_and_of_gradients():
    def f(c, xs):
        return mx.scan(lambda s, x: (mx.sin(s) * x + s, s * x), c, xs)[1].sum()
    c, xs = normal(3), normal(3, 4)
    entries(mx.grad(f, argnums=(0, 1)), (0, 0), c, xs)
    entries(lambda c, xs: mx.vmap(f, in_axes=(0, None))(c, xs), (None, 0), c, xs)
    np.testing.assert_allclose(
        np.array(mx.grad(lambda c: mx.vmap(f)(c, xs).sum())(c)),
        np.array(mx.vmap(mx.grad(f))(c, xs)), rtol=1e-6)
    entries(mx.grad(lambda x: mx.cond(x > 0, mx.sin, lambda x: x * x, x)), (0,), normal(4))
