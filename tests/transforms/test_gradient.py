"""Derivatives: finite differences (dot test) of every operation, transposes, trees, errors."""

from __future__ import annotations

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.array import wrap
from eutectic.errors import ArgumentError, ArgumentTypeError, TransformError
from eutectic.graph import prims
from eutectic.ops.registry import OPS, VJP

RNG = np.random.default_rng(11)
EPS = 1e-6
INSIDE = {"log": (0.3, 4), "log2": (0.3, 4), "log10": (0.3, 4), "sqrt": (0.3, 4),
          "rsqrt": (0.3, 4), "power": (0.3, 3), "divide": (0.3, 4), "log1p": (-0.5, 4),
          "arcsin": (-0.8, 0.8), "arccos": (-0.8, 0.8), "arctanh": (-0.8, 0.8),
          "erfinv": (-0.8, 0.8), "arccosh": (1.2, 4)}


def f64(a):
    return mx.array(np.asarray(a, np.float64), dtype=mx.float64)


def check(f, *xs, rtol=1e-5):
    """`<g, J t>` by the pullback, by finite differences, and by the pushforward agree."""
    arrays = [f64(x) for x in xs]
    shape = f(*arrays).shape
    g = RNG.standard_normal(shape)
    ts = [RNG.standard_normal(np.shape(x)) for x in xs]
    _outs, grads = mx.vjp(f, arrays, [f64(g)])
    plus = np.array(f(*[f64(x + EPS * t) for x, t in zip(xs, ts)]))
    minus = np.array(f(*[f64(x - EPS * t) for x, t in zip(xs, ts)]))
    numeric = (plus - minus) / (2 * EPS)
    dots = sum((np.array(a) * t).sum() for a, t in zip(grads, ts))
    np.testing.assert_allclose(dots, (numeric * g).sum(), rtol=rtol, atol=1e-6)
    _outs, forward = mx.jvp(f, arrays, [f64(t) for t in ts])
    np.testing.assert_allclose(np.array(forward[0]), numeric, rtol=rtol, atol=1e-5)

    def gradient(*a):
        return mx.grad(lambda *b: (f(*b) * f64(g)).sum(), argnums=tuple(range(len(xs))))(*a)
    for a, b in zip(gradient(*arrays), mx.compile(gradient)(*arrays)):
        assert np.array(a).tobytes() == np.array(b).tobytes()


@pytest.mark.parametrize("name", sorted(n for n, o in OPS.items() if VJP.get(o.prim)))
def test_elementwise(name):
    op = OPS[name]
    low, high = INSIDE.get(name, op.domain)
    check(op.api, *[RNG.uniform(low, high, 7) for _ in range(op.arity)])


def test_every_float_operation_has_a_rule_or_none():
    assert all(o.prim in VJP for o in OPS.values())


A = RNG.standard_normal((4, 5))
B = RNG.standard_normal((5, 6))
V = RNG.standard_normal(5)
ROWS = [0, 2, 0, 1]


def index(rows):
    return prims.reshape(mx.array(rows)._n, (len(rows), 1))


STRUCTURES = {
    "sum": lambda a: a.sum(axis=0), "mean": lambda a: mx.mean(a, axis=1),
    "var": lambda a: mx.var(a, axis=1), "max": lambda a: mx.max(a, axis=0),
    "min": lambda a: mx.min(a), "prod": lambda a: mx.prod(a, axis=1),
    "prod of zeros": lambda a: mx.prod(a * 0 + a, axis=0),
    "softmax": lambda a: mx.softmax(a, axis=-1), "logsumexp": lambda a: mx.logsumexp(a, axis=0),
    "transpose": lambda a: a.T * 2, "slice": lambda a: a[1:4:2, ::-2],
    "concatenate": lambda a: mx.concatenate([a, a * 2], axis=1),
    "pad": lambda a: mx.pad(a, ((1, 2), (0, 1))), "reshape": lambda a: a.reshape(2, 10) ** 2,
    "broadcast": lambda a: mx.broadcast_to(a[0], (3, 5)) * a[:3],
    "split": lambda a: mx.split(a, 5, axis=1)[2],
    "where": lambda a: mx.where(a > 0, a * a, a), "clip": lambda a: mx.clip(a, -0.5, 0.5),
    "cumsum": lambda a: wrap(prims.scan("sum", a._n)),
    "cumsum exclusive": lambda a: wrap(prims.scan("sum", a._n, False)),
    "cumprod": lambda a: wrap(prims.scan("prod", a._n)),
    "cummax": lambda a: wrap(prims.scan("max", a._n)),
    "rms_norm": lambda a: mx.fast.rms_norm(a, None, 1e-5),
    "gather": lambda a: wrap(prims.gather(a._n, [index(ROWS)], (-1, 1), (4, 5))),
    "scatter add": lambda a: wrap(prims.scatter(
        f64(np.zeros((3, 5)))._n, a._n, [index(ROWS)], (-1, 1), "sum")),
    "scatter set": lambda a: wrap(prims.scatter(
        a._n, (a[:3] * 2)._n, [index(ROWS[:3])], (-1, 1), "set")),
    "scatter max": lambda a: wrap(prims.scatter(
        a._n, (a * 3)._n, [index(ROWS)], (-1, 1), "max")),
}


@pytest.mark.parametrize("name", sorted(STRUCTURES))
def test_structures(name):
    check(STRUCTURES[name], A)


def test_products():
    check(lambda a, b: a @ b, A, B)
    check(lambda a, v: a @ v, A, V)
    check(lambda a, w, b: mx.fast.layer_norm(a, w, b, 1e-5), A, V, V + 1)


def test_attention():
    q, k, v = (RNG.standard_normal((1, 2, 5, 4)).astype(np.float32) for _ in range(3))

    def loss(q, k, v, mask):
        out = mx.fast.scaled_dot_product_attention(q, k, v, scale=0.5, mask=mask)
        return (out * out).sum()
    for mask in (None, "causal"):
        exact = mx.grad(lambda *a, m=mask: loss(*a, m), argnums=(0, 1, 2))(*map(f64, (q, k, v)))
        fused = mx.grad(lambda *a, m=mask: loss(*a, m), argnums=(0, 1, 2))(
            *map(mx.array, (q, k, v)))
        for e, f in zip(exact, fused):
            np.testing.assert_allclose(np.array(f), np.array(e), rtol=2e-4, atol=1e-5)


COMPLEX = ("multiply", "divide", "square", "sqrt", "reciprocal", "exp", "log", "sin", "cos", "tanh",
           "abs", "conjugate", "negative", "add", "subtract")


def complex_check(f, *xs):
    """`Re <g, J t>` by the pullback and by differences of float32 arithmetic."""
    arrays = [mx.array(x.astype(np.complex64)) for x in xs]
    ts = [RNG.standard_normal(x.shape) + 1j * RNG.standard_normal(x.shape) for x in xs]
    outs, _ = mx.vjp(f, arrays, [mx.zeros_like(f(*arrays))])
    g = RNG.standard_normal(outs[0].shape)
    if outs[0].dtype is mx.complex64:
        g = g + 1j * RNG.standard_normal(outs[0].shape)
    _outs, grads = mx.vjp(f, arrays, [mx.array(g).astype(outs[0].dtype)])
    eps = 1e-3
    plus, minus = (np.array(f(*[mx.array((x + s * eps * t).astype(np.complex64))
                                for x, t in zip(xs, ts)])) for s in (1, -1))
    numeric = (plus.astype(complex) - minus) / (2 * eps)
    by_rule = sum((np.conj(np.array(a)) * t).sum().real for a, t in zip(grads, ts))
    np.testing.assert_allclose(by_rule, (np.conj(g) * numeric).sum().real, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name):
    op = OPS[name]
    xs = [RNG.uniform(0.5, 1.5, 5) + 1j * RNG.uniform(0.2, 1.0, 5) for _ in range(op.arity)]
    complex_check(op.api, *xs)


def test_complex_structures():
    a = RNG.standard_normal((3, 4)) + 1j * RNG.standard_normal((3, 4))
    b = RNG.standard_normal((4, 2)) + 1j * RNG.standard_normal((4, 2))
    complex_check(lambda x, y: x @ y, a, b)
    complex_check(lambda x: x.sum(axis=0), a)
    complex_check(lambda x: mx.real(x) * mx.imag(x), a)
    assert mx.grad(lambda x: mx.imag(1j * x))(mx.array(1.0)).item() == 1


def test_second_order():
    f = mx.grad(lambda x: mx.grad(lambda y: (y ** 3).sum())(x).sum())
    np.testing.assert_allclose(np.array(f(mx.array([1.0, 2.0]))), [6, 12])


def test_trees_argnums_names_and_the_rest_of_the_result():
    params = {"w": mx.array([1.0, 2.0]), "b": [mx.array(3.0)]}
    value, grads = mx.value_and_grad(lambda p: ((p["w"] * 2) ** 2).sum() + p["b"][0])(params)
    assert value.item() == 23 and grads["w"].tolist() == [8, 16] and grads["b"][0].item() == 1
    both = mx.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(mx.array(2.0), mx.array(5.0))
    assert [g.item() for g in both] == [5, 2]
    (out, aux), g = mx.value_and_grad(lambda x: (x * x, "aux"))(mx.array(3.0))
    assert out.item() == 9 and aux == "aux" and g.item() == 6
    _v, (first, named) = mx.value_and_grad(lambda x, *, y: x * y, argnums=0, argnames="y")(
        mx.array(2.0), y=mx.array(7.0))
    assert first.item() == 7 and named["y"].item() == 2


def test_evaluating_inside_a_gradient_keeps_the_record():
    def f(x):
        y = x * x
        assert y.item() == 9
        return y * x
    assert mx.grad(f)(mx.array(3.0)).item() == 27


def test_unused_arguments_and_integers_have_zero_gradient():
    assert mx.grad(lambda x, y: y)(mx.array(1.0), mx.array(2.0)).item() == 0
    assert mx.grad(lambda x: x.astype(mx.int32).astype(mx.float32))(mx.array(2.5)).item() == 0
    assert mx.grad(lambda x: mx.stop_gradient(x) * x)(mx.array(3.0)).item() == 3


def test_gradient_of_compiled_stays_compiled():
    f = mx.compile(lambda x: (mx.tanh(x) ** 2).sum())
    g = mx.grad(f)
    x = mx.array([0.5, -1.0])
    plain = mx.grad(lambda x: (mx.tanh(x) ** 2).sum())(x)
    assert np.array(g(x)).tobytes() == np.array(plain).tobytes()
    assert g.stats.traces == 1 and np.array(g(x)).tobytes() == np.array(plain).tobytes()
    assert g.stats.traces == 1


@pytest.mark.parametrize("call, error, text", [
    (lambda: mx.grad(lambda x: x)(mx.array([1.0, 2.0])), ArgumentError, r"scalar.*\(2,\)"),
    (lambda: mx.grad(lambda x: 3.0)(mx.array(1.0)), ArgumentTypeError, r"got a float"),
    (lambda: mx.grad(lambda x: x)(2.0), ArgumentTypeError, r"holds a float"),
    (lambda: mx.grad(lambda x: x, argnums=1)(mx.array(1.0)), ArgumentError, r"argument 1"),
    (lambda: mx.grad(lambda x: x, argnums=(0, 0)), ArgumentError, r"named twice"),
    (lambda: mx.grad(lambda x: x, argnames="z")(x=mx.array(1.0)), ArgumentError, r"'z'"),
    (lambda: mx.grad(lambda x: x.astype(mx.int32))(mx.array(1.0)), TransformError, r"int32"),
    (lambda: mx.vjp(lambda x: x, [mx.array(1.0)], []), ArgumentError, r"1 cotangents"),
    (lambda: mx.jvp(lambda x: x, [mx.array(1.0)], [mx.zeros((2,))]), ArgumentError,
     r"tangent of shape \(2,\)"),
    (lambda: mx.grad(3), ArgumentTypeError, r"cannot differentiate a int"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_second_derivatives_where_first_ones_use_other_functions():
    x = mx.array([2.0, 0.0, 3.0])
    np.testing.assert_allclose(np.array(mx.grad(lambda y: mx.cumprod(y).sum())(x)), [1, 8, 0])

    def curvature(f, x):
        return np.array(mx.grad(lambda x: (mx.grad(f)(x) ** 2).sum())(x))
    np.testing.assert_allclose(curvature(lambda y: mx.prod(y), x), [36, 0, 24])
    z = mx.array([0.3, -0.5, 0.9, 0.2])
    np.testing.assert_allclose(curvature(lambda y: mx.abs(y + 1j * y * y).sum(), z),
                               [1.8949916, -3.360001, 6.650567, 1.2301775], rtol=1e-5)
    u = mx.array([0.3, 0.5, 0.9])
    np.testing.assert_allclose(curvature(lambda y: mx.logcumsumexp(y)[-1] * 1.0, u),
                               [-0.0534978, -0.0322635, 0.0857612], rtol=1e-4)


@pytest.mark.parametrize("options", [{}, {"reverse": True}, {"inclusive": False}])
def test_logcumsumexp(options):
    check(lambda a: mx.exp(mx.logcumsumexp(a, axis=1, **options)), A)


def test_attention_mask():
    q, k, v = (mx.array(RNG.standard_normal((1, 1, 3, 4)).astype(np.float32)) for _ in range(3))
    m = mx.array(RNG.standard_normal((3, 3)).astype(np.float32))

    def by_hand(m):
        s = mx.softmax(q @ k.swapaxes(-1, -2) * 0.5 + m, axis=-1)
        return ((s @ v) ** 2).sum()

    def fused(m):
        return (mx.fast.scaled_dot_product_attention(q, k, v, scale=0.5, mask=m) ** 2).sum()
    np.testing.assert_allclose(np.array(mx.grad(fused)(m)), np.array(mx.grad(by_hand)(m)),
                               rtol=1e-4, atol=1e-5)


def test_structure_of_gradients_as_in_mlx():
    x, y = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])

    def f(x, y, k=1):
        return (x * y * k).sum()
    assert mx.grad(f, argnums=[0])(x, y).tolist() == [3, 4]
    assert [g.tolist() for g in mx.grad(f, argnums=[1, 0])(x, y)] == [[3, 4], [1, 2]]
    _, (positional, named) = mx.value_and_grad(f, argnums=[0], argnames=["y"])(x, y=y, k=2)
    assert positional.tolist() == [6, 8] and named["y"].tolist() == [2, 4]
    assert mx.grad(f, argnums=[], argnames="y")(x, y=y)[0] is None
    outs, grads = mx.vjp(lambda x, y: (x * y, x), (x, y), (x, x))
    assert type(outs) is list and type(grads) is list and len(outs) == len(grads) == 2
    tree = mx.grad(lambda p: (p["a"] * p["i"]).sum())({"a": x, "i": mx.array([1, 2]), "n": None})
    assert tree["a"].tolist() == [1, 2] and tree["i"].tolist() == [0, 0] and tree["n"] is None


@pytest.mark.parametrize("call, error, text", [
    (lambda: mx.grad(lambda x: x, argnums=[]), ArgumentError, r"\[grad\] no argument is asked"),
    (lambda: mx.grad(lambda x: x, argnums=-1), ArgumentError, r"not negative, got \(-1,\)"),
    (lambda: mx.grad(lambda x: x, argnums="x"), ArgumentTypeError, r"argnums must be an integer"),
    (lambda: mx.grad(lambda x: x, argnames=[3]), ArgumentTypeError, r"argnames are names"),
    (lambda: mx.value_and_grad(lambda x: x)(), ArgumentError, r"\[value_and_grad\] argument 0"),
    (lambda: mx.grad(lambda x: (x, x))(mx.array(1.0)), ArgumentTypeError, r"value_and_grad takes"),
    (lambda: mx.grad(lambda x: x * 1.0)(mx.array(1)), TransformError, r"argument 0 is int32"),
    (lambda: mx.grad(lambda x: x["a"] * 1.0)({"a": mx.array(True)}), TransformError, r"is bool"),
    (lambda: mx.grad(lambda x: x * 1j)(mx.array(1.0)), TransformError, r"take its real part"),
])
def test_more_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


INF, NAN = float("inf"), float("nan")
CORNERS = {
    # Of equal operands the second gets the cotangent, of nan none, as in MLX.
    "maximum": (mx.maximum, [[1, 2, NAN, 1], [1, 1, 1, NAN]], [[0, 1, 0, 0], [1, 0, 0, 0]]),
    "minimum": (mx.minimum, [[1, 2, NAN, 1], [1, 1, 1, NAN]], [[0, 0, 0, 0], [1, 1, 0, 0]]),
    "clip": (lambda a: mx.clip(a, 0, 1), [[0, 1, -1, 2, 0.5]], [[0, 0, 0, 0, 1]]),
    "clip crossed": (mx.clip, [[0.5, 3], [0.7, 5], [0.6, 4]], [[0, 0], [0, 0], [1, 1]]),
    "max": (mx.max, [[1, 3, 3]], [[0, 0.5, 0.5]]), "min": (mx.min, [[1, 1, 3]], [[0.5, 0.5, 0]]),
    "sqrt": (mx.sqrt, [[0, 4, INF]], [[INF, 0.25, 0]]), "abs": (mx.abs, [[0, -2]], [[0, -1]]),
    "norm": (mx.linalg.norm, [[0, 0]], [[NAN, NAN]]),  # as MLX and JAX
    "where": (lambda a: mx.where(a > 0, mx.log(mx.where(a > 0, a, 1)), 0), [[0, -1, 2]],
              [[0, 0, 0.5]]),
    "where of nan": (lambda a: mx.where(a > 0, mx.sqrt(a), 0), [[0, 4]], [[NAN, 0.25]]),
    "logsumexp": (mx.logsumexp, [[-INF, 0, 0]], [[0, 0.5, 0.5]]),
    "logaddexp": (mx.logaddexp, [[-INF, INF, 0], [1, 1, 0]], [[0, 1, 0.5], [1, 0, 0.5]]),
    "power": (mx.power, [[0, 0, 0, -2], [0, 1, 2, 2]], [[0, 1, 0, -4], [0, 0, 0, NAN]]),
    "square root": (lambda a: a ** 0.5, [[0, 4]], [[INF, 0.25]]),
    "prod": (mx.prod, [[0, 2, 3]], [[6, 0, 0]]),
    "sigmoid": (mx.sigmoid, [[-INF, 200, 0]], [[0, 0, 0.25]]),
    "cummax": (mx.cummax, [[1, 1, 0, 2]], [[1, 2, 0, 1]]),
    "sort": (lambda a: mx.sort(a) * mx.array([1, 2, 3]), [[1, 1, 0]], [[2, 3, 1]]),
    "nan_to_num": (mx.nan_to_num, [[NAN, INF, 1]], [[0, 0, 1]]),
}


@pytest.mark.parametrize("name", CORNERS)
def test_corners(name):
    f, xs, want = CORNERS[name]
    arrays = [mx.array(x, mx.float32) for x in xs]
    grads = mx.vjp(lambda *a: f(*a).sum(), arrays, [mx.array(1.0)])[1]
    for g, w in zip(grads, want, strict=True):
        np.testing.assert_allclose(np.array(g), np.array(w, np.float32), rtol=1e-6)
