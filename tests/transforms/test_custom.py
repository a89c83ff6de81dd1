"""custom_function, checkpoint and depends."""

from __future__ import annotations

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.errors import ArgumentError, ArgumentTypeError, TransformError

X, Y = mx.array(2.0), mx.array(3.0)


def two():
    @mx.custom_function
    def f(x, y):
        return mx.sin(x) * y, x + y

    @f.vjp
    def f_vjp(primals, cotangents, outputs):
        (_x, _y), (a, b), (_u, v) = primals, cotangents, outputs
        return a * 10 + b, b * 100 + v * 0

    return f


def test_values_are_the_function_s():
    u, v = two()(X, Y)
    assert np.isclose(u.item(), np.sin(2) * 3) and v.item() == 5


def test_own_vjp_with_several_results():
    f = two()
    grads = mx.grad(lambda x, y: sum(f(x, y)), argnums=(0, 1))(X, Y)
    assert [g.item() for g in grads] == [11, 100]
    one = mx.grad(lambda x, y: f(x, y)[0], argnums=(0, 1))(X, Y)
    assert [g.item() for g in one] == [10, 0]
    fused = mx.compile(mx.grad(lambda x, y: sum(f(x, y)), argnums=(0, 1)))(X, Y)
    assert [g.item() for g in fused] == [11, 100]


def test_captured_arrays_are_constants():
    def g(x, y):
        @mx.custom_function
        def f(x):
            return x * y

        @f.vjp
        def f_vjp(x, dx, fx):
            raise ValueError("the rule was called")
        return f(x)
    assert g(X, Y).item() == 6
    with pytest.raises(ValueError, match="rule was called"):
        mx.grad(g)(X, Y)
    assert mx.grad(g, argnums=1)(X, Y).item() == 0


def test_own_jvp_and_its_transpose():
    @mx.custom_function
    def f(x):
        return x * x

    @f.jvp
    def f_jvp(x, t):
        return t * 7
    assert mx.grad(f)(X).item() == 7
    assert mx.jvp(f, [X], [mx.array(2.0)])[1][0].item() == 14


def test_own_vmap():
    @mx.custom_function
    def f(x, y):
        return x + y

    @f.vmap
    def f_vmap(inputs, axes):
        assert axes == (0, None)
        return inputs[0] * 10 + inputs[1], 0
    out = mx.vmap(f, in_axes=(0, None))(mx.array([1.0, 2.0]), Y)
    assert out.tolist() == [13, 23]


def test_without_rules_it_is_the_function():
    f = mx.custom_function(lambda x: x * x)
    assert mx.grad(f)(Y).item() == 6
    assert mx.vmap(f)(mx.array([1.0, 2.0])).tolist() == [1, 4]


def test_checkpoint():
    def f(x, p):
        return (mx.tanh(x @ p["w"]) ** 2).sum()
    x, p = mx.array([[1.0, 2.0]]), {"w": mx.array([[0.5], [-0.3]])}
    plain = mx.value_and_grad(f, argnums=(0, 1))(x, p)
    saved = mx.value_and_grad(mx.checkpoint(f), argnums=(0, 1))(x, p)
    assert plain[0].item() == saved[0].item()
    assert plain[1][0].tolist() == saved[1][0].tolist()
    assert plain[1][1]["w"].tolist() == saved[1][1]["w"].tolist()


def test_depends():
    a, b = mx.depends([X, Y], mx.array(1.0))
    assert a.item() == 2 and b.item() == 3
    assert mx.grad(lambda x: mx.depends(x * x, x))(Y).item() == 6


def test_errors():
    with pytest.raises(ArgumentTypeError, match="cannot wrap a int"):
        mx.custom_function(3)
    with pytest.raises(ArgumentError, match=r"\[depends\] takes arrays, not a int"):
        mx.depends(X, 3)
    f = mx.custom_function(lambda x: x)
    f.vjp(lambda x, g, y: (g, g))
    with pytest.raises(TransformError, match="returned 2 arrays for 1 arguments"):
        mx.grad(f)(X)


def doubled():
    """x * k with rules that give recognisable numbers."""
    @mx.custom_function
    def f(x, y):
        return x * y

    @f.vjp
    def f_vjp(primals, g, out):
        return 5 * g, 7 * g
    return f


def test_rules_of_derivatives_stay_under_vmap():
    f, x, y = doubled(), mx.array([1.0, 3.0]), mx.array([2.0, 2.0])
    inside = mx.vmap(mx.grad(f, argnums=(0, 1)))(x, y)
    outside = mx.grad(lambda x, y: mx.vmap(f)(x, y).sum(), argnums=(0, 1))(x, y)
    twice = mx.grad(lambda x: mx.vmap(mx.vmap(f, (0, None)), (None, 0))(x, y).sum())(x)
    assert [g.tolist() for g in inside] == [g.tolist() for g in outside] == [[5, 5], [7, 7]]
    assert twice.tolist() == [10, 10]
    shared = mx.grad(lambda y: mx.vmap(f, (0, None))(x, y).sum())(y[0])
    assert shared.item() == 14
    assert mx.vmap(f)(x, y).tolist() == [2, 6]


def test_rules_under_vmap_see_what_they_capture_and_all_results():
    def total(xs, scales):
        def one(x, scale):
            @mx.custom_function
            def f(x):
                return x * 2, x * 3

            @f.vjp
            def f_vjp(x, gs, outs):
                return gs[0] * scale + gs[1] * outs[1]
            return f(x)[1]
        return mx.vmap(one)(xs, scales).sum()
    xs, scales = mx.array([1.0, 2.0]), mx.array([10.0, 20.0])
    assert mx.grad(total)(xs, scales).tolist() == [3, 6]
    assert mx.compile(mx.grad(total))(xs, scales).tolist() == [3, 6]


def test_forward_derivatives_take_the_jvp_or_the_operations():
    f = doubled()
    args = [mx.array(2.0), mx.array(3.0)]
    assert mx.jvp(f, args, [mx.array(1.0), mx.array(0.0)])[1][0].item() == 3  # not 5

    @f.jvp
    def f_jvp(primals, tangents):
        return 100 * tangents[0] + tangents[1]
    assert mx.jvp(f, args, [mx.array(1.0), mx.array(1.0)])[1][0].item() == 101
    assert mx.grad(f)(*args).item() == 5
    clipped = mx.custom_function(lambda x: x * 3)
    clipped.vjp(lambda x, g, y: mx.clip(g, -1, 1))  # not linear in g
    assert mx.jvp(clipped, [mx.array(1.0)], [mx.array(5.0)])[1][0].item() == 15


def test_a_vmap_rule_alone_leaves_derivatives_to_the_operations():
    f = mx.custom_function(lambda x, y: x * y)
    f.vmap(lambda inputs, axes: (inputs[0] * inputs[1] * 100, axes[0]))
    x, y = mx.array([1.0, 3.0]), mx.array([2.0, 4.0])
    assert mx.grad(f)(x[0], y[0]).item() == 2
    assert mx.vmap(f)(x, y).tolist() == [200, 1200]
    assert mx.vmap(mx.grad(f))(x, y).tolist() == [2, 4]


def test_constants_keywords_and_no_influence():
    seen = []

    @mx.custom_function
    def f(x, n, scale=1.0, w=None):
        return x * n * scale * (1 if w is None else w)

    @f.vjp
    def f_vjp(primals, g, out, **named):
        seen.append((primals[1], named))
        return g * 10, None

    @f.vmap
    def f_vmap(inputs, axes, **named):
        seen.append((axes, named))
        return inputs[0] * 7, axes[0]
    x = mx.array(2.0)
    assert f(x, 3).item() == 6 and mx.grad(f)(x, 3, scale=0.5).item() == 10
    assert seen.pop() == (3, {"scale": 0.5})
    assert mx.vmap(lambda x: f(x, 2))(mx.array([1.0, 2.0])).tolist() == [7, 14]
    assert seen.pop() == ((0, None), {})
    with pytest.raises(TransformError, match="by keyword"):
        mx.grad(lambda w: f(x, 3, w=w))(x)
    assert mx.grad(lambda x: f(x, 3, w=mx.array(1.0)))(x).item() == 10
    g = mx.custom_function(lambda p, y: p["a"] * y)
    g.vjp(lambda primals, c, out: (None, c * 3))
    grads = mx.grad(g, argnums=(0, 1))({"a": x}, x)
    assert grads[0]["a"].item() == 0 and grads[1].item() == 3


@pytest.mark.parametrize("rule, text", [
    (lambda p, g, y: g, r"vjp of <lambda> returned 1 arrays for 2"),
    (lambda p, g, y: (g, mx.zeros((2,))), r"returned \(2,\) for an argument of shape \(\)"),
    (lambda p, g, y: (g, 3.0), r"returned float for an argument"),
])
def test_wrong_vjp(rule, text):
    f = mx.custom_function(lambda x, y: x * y)
    f.vjp(rule)
    with pytest.raises(TransformError, match=text):
        mx.grad(f)(mx.array(1.0), mx.array(2.0))


@pytest.mark.parametrize("rule, text", [
    (lambda p, t: (t, t), r"jvp of <lambda> returned 2 arrays for 1 results"),
    (lambda p, t: mx.zeros((3,)), r"returned \(3,\) for a result of shape \(\)"),
])
def test_wrong_jvp(rule, text):
    f = mx.custom_function(lambda x: x * x)
    f.jvp(rule)
    with pytest.raises(TransformError, match=text):
        mx.jvp(f, [mx.array(1.0)], [mx.array(2.0)])


def test_checkpoint_takes_what_the_function_takes():
    calls = []

    def f(p, n, scale=1.0):
        calls.append(n)
        return (mx.sin(p["x"]) * n * scale).sum(), "aux"
    x = mx.array([0.5, 1.0])
    with pytest.raises(ArgumentTypeError, match="returned a str"):
        mx.checkpoint(f)({"x": x}, 3)
    calls.clear()

    def g(p, n, scale=1.0):
        return f(p, n, scale)[0]
    args = ({"x": x}, 3)
    plain, again = mx.grad(g)(*args, scale=2.0), mx.grad(mx.checkpoint(g))(*args, scale=2.0)
    assert calls == [3, 3, 3] and plain["x"].tolist() == again["x"].tolist()
    many = mx.grad(lambda xs: mx.vmap(mx.checkpoint(lambda x: mx.sin(x) * x))(xs).sum())
    np.testing.assert_allclose(np.array(many(x)), np.sin(x) + x * np.cos(x), rtol=1e-6)
    second = mx.grad(mx.grad(mx.checkpoint(lambda x: x ** 3)))
    assert second(mx.array(2.0)).item() == 12


def test_rules_that_call_compiled_functions():
    inner = mx.compile(lambda x: mx.sin(x) * x)
    x = mx.array([0.5, 1.0])
    want = np.array(mx.grad(lambda x: (mx.sin(x) * x).sum())(x))
    again = mx.grad(mx.checkpoint(lambda x: inner(x * 1).sum()))(x)
    assert np.array(again).tobytes() == want.tobytes()
    f = mx.custom_function(lambda x: x * 2)
    f.jvp(lambda x, t: mx.compile(lambda a, b: a * b * 3)(x, t))
    assert mx.grad(lambda x: f(x).sum())(x).tolist() == [1.5, 3]
    valued = mx.checkpoint(lambda x: x * x if x.sum().item() > 0 else x)
    assert mx.grad(lambda x: valued(x).sum())(x).tolist() == [1, 2]


@pytest.mark.parametrize("names", [("x", "y"), ("x",)])
def test_a_batch_of_a_loop_that_calls_a_function_on_what_it_reads_outside(names):
    """`names`: which of the two results are read."""
    @mx.custom_function
    def own(x, y):
        return (x * x * 2).sum() * y, mx.exp(y)

    @own.vjp
    def _(primals, cotangents, outputs):
        return (cotangents[0] * 3 * primals[0] * outputs[1],
                cotangents[1] * outputs[1] * outputs[0])

    def f(x):
        def step(c, v):
            a, b = own(x * v, c)
            return c * 0.5 + a * 0.01, b if "y" in names else c
        c, ys = mx.scan(step, mx.array(0.1), x)
        return c + ys.sum()

    x = mx.array([[0.3, 0.5], [0.1, 0.2], [0.3, 0.4]])
    for g in (f, mx.grad(f), mx.checkpoint(f)):
        expected = [g(row).tolist() for row in x]
        for batched in (mx.vmap(g), mx.compile(mx.vmap(g)), mx.vmap(mx.compile(g))):
            assert batched(x).tolist() == expected
    assert mx.grad(lambda x: mx.vmap(f)(x).sum())(x).tolist() == [
        mx.grad(f)(row).tolist() for row in x]
