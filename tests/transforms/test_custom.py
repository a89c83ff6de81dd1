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
