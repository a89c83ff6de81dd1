"""vmap against a Python loop over the batch, its composition with other transforms, its errors."""

from __future__ import annotations

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.array import wrap
from eutectic.errors import ArgumentError, ArgumentTypeError, AxisError, ShapeError, TraceError
from eutectic.graph import prims
from eutectic.ops.registry import OPS

RNG = np.random.default_rng(5)


def draw(*shape):
    return mx.array(RNG.uniform(0.1, 0.9, shape).astype(np.float32))


def loop(f, args, axes):
    """Entries one after another, stacked in front."""
    size = next(a.shape[x] for a, x in zip(args, axes) if x is not None)
    rows = []
    for i in range(size):
        one = [a if x is None else mx.moveaxis(a, x, 0)[i] for a, x in zip(args, axes)]
        rows.append(np.array(f(*one)))
    return np.stack(rows)


def check(f, args, axes, exact=True):
    got = np.array(mx.vmap(f, in_axes=tuple(axes))(*args))
    want = loop(f, args, axes)
    assert got.shape == want.shape
    if exact:
        assert got.tobytes() == want.tobytes()
    else:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    fused = mx.compile(mx.vmap(f, in_axes=tuple(axes)))
    assert np.array(fused(*args)).tobytes() == got.tobytes()


@pytest.mark.parametrize("name", sorted(n for n, o in OPS.items() if o.takes(mx.float32)))
def test_elementwise(name):
    op = OPS[name]
    args = [draw(3, 4), draw(5, 3)][:op.arity]
    f = op.api if op.arity == 1 else lambda a, b: op.api(a, b[0])
    check(f, args, [0, 1][:op.arity])


INDEX = mx.array([2, 0, 1])

CASES = {
    "rank": lambda a: a + mx.ones((2, 1, 1)) * a,
    "sum": lambda a: a.sum(axis=-1), "max": lambda a: mx.max(a, axis=0),
    "argmax": lambda a: mx.argmax(a, axis=-1), "mean": lambda a: mx.mean(a),
    "softmax": lambda a: mx.softmax(a, axis=-1), "transpose": lambda a: a.T,
    "reshape": lambda a: a.reshape(-1), "slice": lambda a: a[1:, ::-2],
    "broadcast": lambda a: mx.broadcast_to(a, (2, *a.shape)),
    "concatenate": lambda a: mx.concatenate([a, mx.zeros((1, a.shape[1]))], axis=0),
    "pad": lambda a: mx.pad(a, 1), "stack": lambda a: mx.stack([a, a + 1]),
    "where": lambda a: mx.where(a > 0.5, a, 0), "split": lambda a: mx.split(a, 2, axis=1)[1],
    "scan": lambda a: wrap(prims.scan("sum", a._n)),
    "gather": lambda a: wrap(prims.gather(a._n, [prims.reshape(INDEX._n, (3, 1))], (-1, 1),
                                          (3, a.shape[1]))),
    "scatter": lambda a: wrap(prims.scatter(mx.zeros((3, a.shape[1]))._n, a._n,
                                            [prims.reshape(INDEX._n, (3, 1))], (-1, 1), "sum")),
    "rms_norm": lambda a: mx.fast.rms_norm(a, None, 1e-5),
    "shared constant": lambda a: a * mx.arange(4) + 1,
}


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_structures(name, axis):
    x = draw(5, 3, 4)
    check(CASES[name], [mx.moveaxis(x, 0, axis)], [axis])


def test_products():
    check(lambda a, b: a @ b, [draw(5, 3, 4), draw(4, 2)], [0, None], exact=False)
    check(lambda a, b: a @ b, [draw(5, 3, 4), draw(4, 5, 2)], [0, 1])
    check(lambda a, v: a @ v, [draw(5, 3, 4), draw(5, 4)], [0, 0])


def test_attention():
    def f(q):
        return mx.fast.scaled_dot_product_attention(q, q, q, scale=0.5, mask="causal")
    check(f, [draw(3, 1, 2, 5, 4)], [0])


def test_nested_and_out_axes():
    x, y = draw(2, 3), draw(4, 3)
    pairs = mx.vmap(mx.vmap(lambda a, b: (a * b).sum(), in_axes=(None, 0)), in_axes=(0, None))
    np.testing.assert_allclose(np.array(pairs(x, y)), np.array(x) @ np.array(y).T, rtol=1e-6)
    assert mx.vmap(lambda a: a, out_axes=1)(x).shape == (3, 2)
    same = mx.vmap(lambda a: (a, mx.ones((7,))), out_axes=(0, None))(x)
    assert same[0].shape == (2, 3) and same[1].shape == (7,)


def test_trees():
    p = {"w": draw(5, 3), "b": draw(5)}
    out = mx.vmap(lambda p, x: (p["w"] * x).sum() + p["b"], in_axes=({"w": 0, "b": 0}, None))(
        p, draw(3))
    assert out.shape == (5,)


def test_with_gradients_and_compile():
    x, w = draw(5, 3), draw(3)

    def loss(w, x):
        return mx.tanh((w * x).sum())
    each = np.array(mx.vmap(mx.grad(loss), in_axes=(None, 0))(w, x))
    want = np.stack([np.array(mx.grad(loss)(w, x[i])) for i in range(5)])
    np.testing.assert_allclose(each, want, rtol=1e-6)
    total = mx.grad(lambda w: mx.vmap(loss, in_axes=(None, 0))(w, x).sum())(w)
    np.testing.assert_allclose(np.array(total), want.sum(0), rtol=1e-5)
    compiled = mx.vmap(mx.compile(lambda a: mx.exp(a)))
    assert np.array(compiled(x)).tobytes() == np.array(mx.exp(x)).tobytes()
    assert compiled.stats.traces == 1


@pytest.mark.parametrize("call, error, text", [
    (lambda: mx.vmap(lambda a, b: a)(draw(2), draw(3)), ShapeError, r"length 3.*length 2"),
    (lambda: mx.vmap(lambda a: a, in_axes=None)(draw(2)), ArgumentError, r"no argument"),
    (lambda: mx.vmap(lambda a: a, in_axes=2)(draw(2)), AxisError, r"2 is no axis"),
    (lambda: mx.vmap(lambda a: a)(3.0), ArgumentTypeError, r"is a float"),
    (lambda: mx.vmap(lambda a: 1.0)(draw(2)), ArgumentTypeError, r"returned a float"),
    (lambda: mx.vmap(lambda a: a, out_axes=None)(draw(2)), ArgumentError, r"differs between"),
    (lambda: mx.vmap(lambda a: a.item())(draw(2)), TraceError, r"item"),
    (lambda: mx.vmap(lambda a, b: a, in_axes=(0,))(draw(2), draw(2)), ArgumentError, r"1 entries"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_gradients_batches_and_compilation_nest_in_every_order():
    x = draw(5, 3)

    def f(x):
        y = x * 1.0
        y[1:] = mx.sin(y[:2]) * y[0]
        return (y * y).sum()
    want = np.stack([np.array(mx.grad(f)(x[i])) for i in range(5)])
    c, v, g = mx.compile, mx.vmap, mx.grad
    for h in (v(g(f)), v(g(c(f))), v(c(g(f))), c(v(g(f))), c(v(c(g(c(f))))),
              g(lambda x: v(f)(x).sum()), g(lambda x: v(c(f))(x).sum()),
              c(g(lambda x: v(f)(x).sum())), g(c(lambda x: c(v(f))(x).sum()))):
        for _ in range(2):
            np.testing.assert_allclose(np.array(h(x)), want, rtol=1e-6)


def test_very_long_chains_need_no_recursion():
    def f(x):
        for _ in range(20_000):
            x = x + 1.0
        return x.sum()
    x = mx.array([1.0, 2.0])
    assert mx.grad(f)(x).tolist() == [1, 1] and f(x).item() == 40_003
    assert mx.vmap(f)(x[:, None]).tolist() == [20_001, 20_002]
    assert mx.compile(mx.grad(f))(x).tolist() == [1, 1]
