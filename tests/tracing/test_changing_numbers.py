"""Python numbers that change from call to call: inputs of the trace where it does without them."""

from __future__ import annotations

import dataclasses
import math
import tracemalloc

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.tracing import native
from eutectic.tree import leaves

INTS = (0, 1, -1, 2, 3, 127, 128, 255, 256, 2**31 - 1, 2**31, -2**31, 2**40 + 1, 2**53 + 1,
        2**63 - 1, 2**63, 2**64, 10**30)
FLOATS = (0.0, -0.0, 1.5, 0.1, 1e-40, 1e-46, 3.4028235677973366e38, 1e39, -1e300, math.inf,
          -math.inf)


@pytest.fixture(autouse=True, params=["native", "python"])
def path(request, monkeypatch):
    """Each test once with and once without the native call."""
    if request.param == "native":
        native.load()
    else:
        monkeypatch.setattr(native, "run", lambda: None)


def outcome(f, *args):
    """Bits of the results, or the error."""
    try:
        result = f(*args)
    except Exception as error:
        return type(error), str(error)
    return [(x.dtype, x.shape, bytes(x)) if isinstance(x, mx.array) else (type(x), x)
            for x in leaves(result)]


def same(f, values, *args, traces=None):
    """Plain and compiled agree for each value, thrice; the number of traces where that is known."""
    compiled = mx.compile(f)
    for _ in range(3):
        for v in values:
            assert outcome(compiled, *args, v) == outcome(f, *args, v)
    if traces is not None:
        assert compiled.stats.traces == traces, [e.record.why.whole for e in compiled.entries()]
    return compiled


FUNCTIONS = {
    "times": lambda x, s: x * s, "from": lambda x, s: (s - x) * s,
    "maximum": lambda x, s: mx.maximum(x, s), "array": lambda x, s: mx.array(s) + x,
    "where": lambda x, s: mx.where(x > s, s, x), "power": lambda x, s: x ** s,
    "list": lambda x, s: mx.array([s, 1]) + x[0], "full": lambda x, s: mx.full((2,), s),
    "in place": lambda x, s: x.at[0].add(s), "unused": lambda x, s: x,
    "arithmetic": lambda x, s: x * (s * 2 - 1) + 1 / (s + 4) + abs(-s) + s ** 2 + s // 3 + s % 5,
    "result": lambda x, s: (x, s), "clip": lambda x, s: mx.clip(x, 0, s),
    "both": lambda x, s: x * mx.array(s, mx.float32) + mx.array(s, mx.int8),
}
DTYPES = (mx.bool_, mx.int8, mx.uint8, mx.int32, mx.uint64, mx.float16, mx.bfloat16, mx.float32,
          mx.float64, mx.complex64)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_values_and_dtypes_are_those_of_constants(name, dtype):
    x = mx.array([1, 2, 3, 100]).astype(dtype)
    for values in (INTS, FLOATS, (2, 2.0, True, 3, 3.0, False)):
        same(FUNCTIONS[name], values, x)


def test_the_second_value_makes_a_number_an_input():
    x = mx.array([1.0, 2.0])
    f = same(lambda x, s: x * s + s, [0.5 * k for k in range(100)], x, traces=2)
    assert f.entries()[-1].record.why.notes == ("a number is an input from now on",)


def test_only_what_changes_becomes_an_input():
    x = mx.arange(8)
    f = mx.compile(lambda x, n, s: x.reshape(n, -1) * s)
    for s in range(20):
        assert f(x, 2, s).shape == (2, 4)
    assert f.stats.traces == 2
    for s in range(20):
        assert f(x, 4, s).tolist() == (x.reshape(4, 2) * s).tolist()
    assert f.stats.traces <= 4
    assert any("__index__ needs its value" in e.record.why.whole for e in f.entries())


@pytest.mark.parametrize("use", [
    lambda x, s: x + 1 if s > 3 else x, lambda x, s: x + 1 if s else x,
    lambda x, s: x + 1 if s in (1, 2) else x, lambda x, s: x[:s], lambda x, s: x[s],
    lambda x, s: x.reshape(s, -1) if 4 % max(s, 1) == 0 and s else x,
    lambda x, s: mx.sum(x) * sum(range(s)), lambda x, s: mx.zeros((s, 2)),
    lambda x, s: x + {0: 5.0}.get(s, 6.0), lambda x, s: x * len("x" * s),
    lambda x, s: x * len([0] * s), lambda x, s: x + len(str(s)), lambda x, s: x + len(f"{s:03d}"),
    lambda x, s: x * math.sqrt(s), lambda x, s: x * np.float32(s), lambda x, s: x * s.bit_length(),
    lambda x, s: x + int(s), lambda x, s: x + round(s / 2), lambda x, s: x + divmod(s, 2)[1],
    lambda x, s: x + np.arange(4)[s % 4], lambda x, s: x * (np.arange(4) * s).astype(np.float32),
    lambda x, s: x + mx.array(s).item(), lambda x, s: x + float(mx.array(s) * 2),
    lambda x, s: mx.arange(s).sum() + x, lambda x, s: mx.split(x, 2, axis=s * 0)[0],
    lambda x, s: x + (1.0 if type(s) is int and s > 2 else 0.0),
    lambda x, s: x + (1.0 if s.__class__ is int and s > 2 else 0.0),
], ids=lambda f: "use")
def test_python_that_needs_the_value_keeps_it_constant(use):
    same(use, range(7), mx.array([1.0, 2.0, 3.0, 4.0]))


def test_a_number_that_is_caught_or_kept_stays_constant():
    seen = []

    def catches(x, s):
        try:
            if s > 2:
                return x + 1
        except BaseException:
            return x - 1
        return x

    def keeps(x, s):
        seen.append(s)
        return x * s

    x = mx.array([1.0])
    same(catches, range(6), x, traces=6)
    same(keeps, range(6), x)
    assert all(type(s) is int or s == int(s) for s in seen)


def test_isinstance_sees_the_number():
    def f(x, s):
        return x + s if isinstance(s, float) and not isinstance(s, (int, mx.array)) else x - s

    x = mx.array([1.0])
    same(f, [k / 4 for k in range(20)], x, traces=2)
    same(f, range(20), x, traces=2)


def test_arithmetic_may_change_its_type():
    x = mx.array([1, 2])
    same(lambda x, s: x * 2 ** s, [3, 2, 1, 0, -1, -2, 4, 5], x)
    same(lambda x, s: x * s * 2, [1, 2**29, 2**30, 2**31, 2**62, 2**63, 2**64], x)
    same(lambda x, s: x + 1 / s, [2, 1, 0, 4, 3], x)
    same(lambda x, s: x * (s - 2.0) ** 0.5, [4.0, 3.0, 1.0, 5.0], x)


def test_numbers_in_trees_keywords_and_dataclasses():
    @dataclasses.dataclass
    class Options:
        scale: float
        shift: int

    x = mx.array([1.0, 2.0])
    f = mx.compile(lambda x, o, *, lr, more: x * o.scale + o.shift - lr * more["a"][1])
    for k in range(30):
        o = Options(0.5 * k, k)
        got = f(x, o, lr=0.1 * k, more={"a": [None, k + 3]})
        assert got.tolist() == (x * o.scale + o.shift - 0.1 * k * (k + 3)).tolist()
    assert f.stats.traces == 2


def test_state_and_random_draws_beside_numbers():
    state = {"w": mx.array([1.0, 2.0])}
    plain = {"w": mx.array([1.0, 2.0])}

    def step(where, lr):
        where["w"] = where["w"] - lr * where["w"] * mx.random.uniform(shape=(2,))

    compiled = mx.compile(lambda lr: step(state, lr), inputs=state, outputs=state)
    mx.random.seed(3)
    for k in range(20):
        compiled(0.01 * k)
    mx.random.seed(3)
    for k in range(20):
        step(plain, 0.01 * k)
    assert state["w"].tolist() == plain["w"].tolist() and compiled.stats.traces == 2


def test_derivatives_with_numbers():
    f = mx.compile(mx.grad(lambda x, s: (x ** 2 * s).sum()))
    x = mx.array([1.0, 2.0])
    for k in range(10):
        assert f(x, 0.5 * k).tolist() == [k * 1.0, 2.0 * k]
    assert f.stats.traces == 2


def test_memory_is_flat_over_many_numbers():
    x = mx.array([1.0])
    f = mx.compile(lambda x, s: x * s)
    for k in range(200):
        f(x, k * 0.5)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for k in range(3000):
            f(x, k * 0.25)
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()
    assert len(f.entries()) == 2
