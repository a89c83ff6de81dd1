"""What compile promises, a test for each line; `tests/tracing` has the details."""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.errors import TraceError


def bits(x):
    return x.dtype, x.shape, bytes(x)


def seven(x):
    return mx.softmax(mx.tanh(x) * 1.5 + 0.25, axis=-1).sum(axis=0)


def test_01_compiled_and_plain_agree_bit_for_bit():
    x = mx.array(np.random.default_rng(0).standard_normal((33, 65)).astype(np.float32))
    assert bits(mx.compile(seven)(x)) == bits(seven(x))


def test_02_later_calls_neither_trace_nor_compile():
    f = mx.compile(seven)
    for _ in range(5):
        f(mx.ones((2, 3)))
    assert f.stats.traces == 1 and f.stats.hits == 4
    assert mx.compile(f) is f


@pytest.mark.parametrize("other", [
    (mx.ones((3,)),), (mx.ones((2, 1)),), (mx.ones((2,), mx.float16),),
    (mx.ones((2,)), mx.ones((2,)))], ids=["shape", "dimensions", "dtype", "number"])
def test_03_a_change_of_the_signature_traces(other):
    f = mx.compile(lambda *xs: sum(xs))
    f(mx.ones((2,)))
    assert bits(f(*other)) == bits(sum(other))
    assert f.stats.traces == 2


@pytest.mark.parametrize("use", [print, mx.eval, str, bool, float, np.asarray,
                                 lambda x: x.item(), lambda x: x.tolist()])
def test_04_placeholders_have_no_value(use):
    with pytest.raises(TraceError):
        mx.compile(lambda x: use(x) or x)(mx.array([1.0]))


def test_05_disable_and_enable_at_any_time():
    f = mx.compile(lambda x: x + 1)
    mx.disable_compile()
    try:
        assert f(mx.array([1.0])).item() == 2.0
        assert f.stats.traces == 0 and f.stats.plain_calls == 1
    finally:
        mx.enable_compile()
    assert f(mx.array([1.0])).item() == 2.0
    assert f.stats.traces == 1


def test_05_the_environment_switch():
    code = ("import eutectic.core as mx; f = mx.compile(lambda x: x + 1); f(mx.ones(1)); "
            "print(f.stats.traces)")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                         check=True, env={**os.environ, "EUTECTIC_DISABLE_COMPILE": "1"})
    assert out.stdout.strip() == "0"


def test_06_what_a_side_effect_leaves_is_read_with_an_error():
    class Hidden:
        __slots__ = ("it",)

        def __init__(self):
            self.it = None

    hidden = Hidden()

    def f(x, keep):
        keep(x * 2)
        return x

    mx.compile(f)(mx.array([1.0]), lambda v: setattr(hidden, "it", v))
    with pytest.raises(TraceError):
        hidden.it.item()


def test_07_inputs_are_read_and_outputs_written():
    state = {"w": [mx.array([1.0])], "n": mx.array(0)}

    def f(x):
        state["w"][0] = state["w"][0] * x
        state["n"] = state["n"] + 1

    g = mx.compile(f, inputs=state, outputs=state)
    for _ in range(3):
        g(mx.array([2.0]))
    assert state["w"][0].item() == 8.0 and state["n"].item() == 3
    state["w"][0] = mx.array([10.0])
    g(mx.array([2.0]))
    assert state["w"][0].item() == 20.0


def test_08_state_may_grow():
    state = {}

    def f(x):
        state["m"] = state.get("m", mx.zeros((1,))) + x

    g = mx.compile(f, inputs=state, outputs=state)
    for _ in range(4):
        g(mx.array([1.0]))
    assert state["m"].item() == 4.0 and g.stats.traces == 2


def test_09_transformations_compose_in_every_order():
    def f(x):
        return (mx.sin(x) * x).sum()

    x = mx.array([0.5, 1.0, -2.0])
    want = bits(mx.grad(f)(x))
    assert bits(mx.compile(mx.grad(f))(x)) == bits(mx.grad(mx.compile(f))(x)) == want
    many = mx.stack([x, x * 2])
    want = bits(mx.vmap(mx.grad(f))(many))
    for g in (mx.compile(mx.vmap(mx.grad(f))), mx.vmap(mx.compile(mx.grad(f))),
              mx.vmap(mx.grad(mx.compile(f)))):
        assert bits(g(many)) == want
    inner = mx.compile(f)
    outer = mx.compile(lambda x: inner(x) + 1)
    assert outer(x).item() == (f(x) + 1).item() and inner.stats.traces == 0


def test_10_shapeless():
    f = mx.compile(lambda x: mx.exp(x).mean(axis=0), shapeless=True)
    for shape in ((1, 2), (5, 2), (7, 3)):
        assert bits(f(mx.ones(shape))) == bits(mx.exp(mx.ones(shape)).mean(axis=0))
    notes = [e.record.why.notes for e in f.entries()]
    assert notes.count(("replayed without Python",)) == 2
    f(mx.ones((2, 2), mx.float16))
    f(mx.ones((2,)))
    assert [e.record.why.notes for e in f.entries()].count(()) == 3
    g = mx.compile(lambda x, y: x + y, shapeless=True)
    g(mx.ones((1,)), mx.ones((3,)))
    with pytest.raises(ValueError, match="broadcast"):
        g(mx.ones((2,)), mx.ones((3,)))


def test_11_arguments_and_the_wrapper():
    def f(x, /, a, *, k=None, flag=False, name="n"):
        """Adds."""
        return x + (a["p"][1] if flag else a["p"][0]) + (0 if k is None else k) + len(name)

    g = mx.compile(f)
    x, a = mx.array([1.0]), {"p": (mx.array([2.0]), 3)}
    for kwargs in ({}, {"flag": True}, {"k": 2.5, "name": "abc"}, {"k": 4}, {"k": None}):
        assert bits(g(x, a, **kwargs)) == bits(f(x, a, **kwargs))
    assert (g.__name__, g.__doc__, g.__wrapped__) == ("f", "Adds.", f)
    assert inspect.signature(g) == inspect.signature(f)

    class Model:
        def __init__(self, w):
            self.w = w

        @mx.compile
        def __call__(self, x):
            return x * self.w

    assert [Model(w)(x).item() for w in (2.0, 3.0, mx.array([4.0]))] == [2.0, 3.0, 4.0]
    half = mx.compile(functools.partial(f, x, k=1.0))
    assert bits(half(a)) == bits(f(x, a, k=1.0))


def test_12_structures_may_differ_and_be_none():
    f = mx.compile(lambda x, n: None if n == 0 else [x] * n if n < 3 else {"x": (x, None)})
    x = mx.array([1.0])
    for _ in range(2):
        assert f(x, 0) is None and len(f(x, 2)) == 2 and f(x, 3)["x"][1] is None


def test_13_a_failed_trace_does_not_poison():
    def f(x, y):
        return mx.exp(x) + y

    g = mx.compile(f)
    for _ in range(2):
        with pytest.raises(ValueError):
            g(mx.ones((2,)), mx.ones((3,)))
        assert bits(g(mx.ones((2,)), mx.ones((2,)))) == bits(f(mx.ones((2,)), mx.ones((2,))))


def test_14_export_and_import(tmp_path):
    path = str(tmp_path / "f.mlxfn")
    x = mx.array([[0.5, -1.0]])
    mx.export_function(path, seven, x)
    (got,) = mx.import_function(path)(x)
    assert bits(got) == bits(seven(x))
