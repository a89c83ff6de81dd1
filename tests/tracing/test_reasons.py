"""Why functions are traced again, what they hold, and what their users are told."""

from __future__ import annotations

import enum
import functools
import re
import warnings
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
import eutectic.nn as nn
from eutectic.config import config
from eutectic.errors import ArgumentError, ArgumentTypeError, CompileWarning, TraceCountError
from eutectic.runtime import pool


class Mode(enum.Enum):
    A = 1
    B = 2


Point = namedtuple("Point", "a b")


@dataclass
class Box:
    w: Any
    n: int = 0


def zeros(*shape: int) -> mx.array:
    return mx.zeros(shape)


def call(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def free(x, *rest, k=1, **more):
    return x


# (calls, (part, name, whole text) of the last one's reason)
CALLS: list[tuple[list[Any], tuple[str, str, str]]] = [
    ([call(zeros(2))], ("first", "", "first call")),
    ([call(zeros(2)), call(zeros(3))],
     ("shape", "x", "x has the new shape (3,) instead of (2,)")),
    ([call(zeros(2)), call(zeros(2, 1))],
     ("shape", "x", "x has the new shape (2,1) instead of (2,)")),
    ([call(zeros(2)), call(x=zeros(2))],
     ("structure", "", "0 positional arguments instead of 1")),
    ([call(zeros(2)), call(mx.zeros((2,), mx.int32))],
     ("dtype", "x", "x is int32 instead of float32")),
    ([call(zeros(2)), call(mx.zeros((3,), mx.int32))],
     ("dtype", "x", "x is int32 instead of float32")),
    ([call(zeros(2, 3)), call(mx.array([[1.0, 2.0]] * 3).T)],
     ("layout", "x", "x lies in memory with other strides")),
    ([call(zeros(2), 1), call(zeros(2), 2)],
     ("constant", "rest[0]", "rest[0] is 2 instead of 1")),
    ([call(zeros(2), 1), call(zeros(2), 1.0)],
     ("constant", "rest[0]", "rest[0] is 1.0 instead of 1")),
    ([call(zeros(2), 1), call(zeros(2), True)],
     ("constant", "rest[0]", "rest[0] is True instead of 1")),
    ([call(zeros(2), 0.0), call(zeros(2), -0.0)],
     ("constant", "rest[0]", "rest[0] is -0.0 instead of 0.0")),
    ([call(zeros(2), 1j), call(zeros(2), 2j)],
     ("constant", "rest[0]", "rest[0] is 2j instead of 1j")),
    ([call(zeros(2), float("nan")), call(zeros(2), float("inf"))],
     ("constant", "rest[0]", "rest[0] is inf instead of nan")),
    ([call(zeros(2), "sum"), call(zeros(2), "mean")],
     ("constant", "rest[0]", "rest[0] is 'mean' instead of 'sum'")),
    ([call(zeros(2), mx.float16), call(zeros(2), mx.float32)],
     ("constant", "rest[0]", "rest[0] is float32 instead of float16")),
    ([call(zeros(2), Mode.A), call(zeros(2), Mode.B)],
     ("constant", "rest[0]", "rest[0] is <Mode.B: 2> instead of <Mode.A: 1>")),
    ([call(zeros(2), slice(1)), call(zeros(2), slice(2))],
     ("constant", "rest[0]",
      "rest[0] is slice(None, 2, None) instead of slice(None, 1, None)")),
    ([call(zeros(2), 1), call(zeros(2), zeros(1))],
     ("constant", "rest[0]", "rest[0] is an array instead of 1")),
    ([call(zeros(2), zeros(1)), call(zeros(2), 1)],
     ("constant", "rest[0]", "rest[0] is 1 instead of an array")),
    ([call(zeros(2), free), call(zeros(2), call)],
     ("constant", "rest[0]", "rest[0] has changed")),
    ([call(zeros(2), "a" * 200), call(zeros(2), "b" * 200)],
     ("constant", "rest[0]", f"rest[0] is '{'b' * 36}... instead of '{'a' * 36}...")),
    ([call(zeros(2), k=1), call(zeros(2), k=2)], ("constant", "k", "k is 2 instead of 1")),
    ([call(zeros(2)), call(zeros(2), k=2)], ("structure", "k", "k is given")),
    ([call(zeros(2), k=2), call(zeros(2))], ("structure", "k", "k is not given")),
    ([call(zeros(2), k=2, z=1), call(zeros(2), z=1, k=2)],
     ("structure", "", "the keywords come in another order")),
    ([call(zeros(2), z=1), call(zeros(2), z=2)], ("constant", "z", "z is 2 instead of 1")),
    ([call({"w": [zeros(2), zeros(3)]}), call({"w": [zeros(2), zeros(4)]})],
     ("shape", "x['w'][1]", "x['w'][1] has the new shape (4,) instead of (3,)")),
    ([call({"w": [zeros(2)]}), call({"w": (zeros(2),)})],
     ("structure", "x['w']", "x['w'] is a tuple instead of a list")),
    ([call({"w": zeros(2)}), call({"w": zeros(2), "b": zeros(2)})],
     ("structure", "x['b']", "x['b'] is new")),
    ([call({"w": zeros(2), "b": 1}), call({"w": zeros(2)})],
     ("structure", "x['b']", "x['b'] is gone")),
    ([call({"w": 1, "b": 1}), call({"b": 1, "w": 1})],
     ("structure", "x", "x has its items in another order")),
    ([call([zeros(2)]), call([zeros(2), 1])], ("structure", "x[1]", "x[1] is new")),
    ([call(zeros(2), None), call(zeros(2), 1)],
     ("structure", "rest[0]", "rest[0] is an array or a constant instead of None")),
    ([call(zeros(2), 1), call(zeros(2), None)],
     ("structure", "rest[0]", "rest[0] is None instead of an array or a constant")),
    ([call(Point(zeros(2), 1)), call(Point(zeros(2), 2))],
     ("constant", "x.b", "x.b is 2 instead of 1")),
    ([call(Box([zeros(2)])), call(Box([zeros(3)]))],
     ("shape", "x.w[0]", "x.w[0] has the new shape (3,) instead of (2,)")),
    ([call(zeros(2), zeros(2)), call(zeros(3), zeros(3))],
     ("shape", "x", "x has the new shape (3,) instead of (2,), and 1 more differs")),
    ([call(zeros(2), zeros(2), 1), call(zeros(3), zeros(3), 2)],
     ("constant", "rest[1]", "rest[1] is 2 instead of 1, and 2 more differ")),
    # The nearest of those there were, not the latest.
    ([call(zeros(2), 1), call(zeros(9), 7), call(zeros(3), 1)],
     ("shape", "x", "x has the new shape (3,) instead of (2,)")),
]


@pytest.mark.parametrize(("calls", "want"), CALLS, ids=[e[1][2][:40] for e in CALLS])
def test_reasons_of_arguments(calls: list[Any], want: tuple[str, str, str]) -> None:
    f = mx.compile(free)
    for args, kwargs in calls:
        f(*args, **kwargs)
    found = mx.compile_stats(f)
    assert found.traces == len(calls)
    why = found.reasons[-1]
    assert (why.part, why.name, str(why)) == want
    args, kwargs = calls[-1]
    assert mx.explain(f, *args, **kwargs).why == why


def test_reasons_of_keyword_calls_whose_structures_look_alike() -> None:
    f = mx.compile(lambda *a, **k: mx.array(10 * len(a) + len(k)))
    x = zeros(1)
    for _ in range(3):
        assert f((x,), {"a": x}).item() == 20 and f(x, a=x).item() == 11
    assert f.stats.traces == 2


SCALE = 2.0
helper_table = {"lr": 0.5}


def helper(x):
    return x * helper_table["lr"]


def surroundings() -> list[tuple[Callable[[], Any], Callable[[], Any], tuple[str, str, str]]]:
    """(function, change, reason) of what is read elsewhere."""
    k, table, w, numbers = 1, {"lr": 0.1, "ws": [zeros(2)]}, zeros(2), np.arange(3)
    kinds = {1}

    def closure(x):
        return x * k * table["lr"] + table["ws"][0] + w + len(kinds) + numbers.size

    def rebound(name: str, value: Any) -> Callable[[], Any]:
        def change() -> None:
            nonlocal k, w
            if name == "k":
                k = value
            else:
                w = value
        return change

    def default(x, scale=2.0, *, shift=1):
        return x * scale + shift

    class Model:
        rate = 0.5

        def __init__(self):
            self.w, self.deep, self.on = zeros(2), [{"b": 3}], True

        def __call__(self, x):
            return x * self.w * self.deep[0]["b"] * self.rate if self.on else x

        forward = __call__

    m = Model()

    def set_default(*values: Any) -> None:
        default.__defaults__ = values

    part = functools.partial(lambda x, table: x * table["c"], table={"c": 1.0})
    return [
        (closure, rebound("k", 2), ("captured", "k", "k, which the function reads, is 2 instead "
                                    "of 1")),
        (closure, lambda: table.update(lr=0.2),
         ("captured", "table['lr']", "table['lr'], which the function reads, is 0.2 instead of "
          "0.1")),
        (closure, lambda: table.update(ws=[zeros(1)]),
         ("shape", "table['ws'][0]", "table['ws'][0] has the new shape (1,) instead of (2,)")),
        (closure, rebound("w", mx.zeros((2,), mx.int32)),
         ("dtype", "w", "w is int32 instead of float32")),
        (closure, lambda: table.update(more=1),
         ("captured", "table", "table, which the function reads, has 3 items instead of 2")),
        (closure, lambda: kinds.add(2),
         ("captured", "kinds", "kinds, which the function reads, has changed")),
        (closure, lambda: numbers.__setitem__(0, 5),
         ("captured", "numbers", "numbers, which the function reads, has changed")),
        (default, lambda: set_default(3.0),
         ("captured", "scale", "scale, which the function reads, is 3.0 instead of 2.0")),
        (m, lambda: setattr(m, "on", False),
         ("captured", "self.on", "self.on, which the function reads, is False instead of True")),
        (m.forward, lambda: m.deep[0].update(b=4),
         ("captured", "self.deep[0]['b']", "self.deep[0]['b'], which the function reads, is 4 "
          "instead of 3")),
        (m.forward, lambda: setattr(m, "w", zeros(1)),
         ("shape", "self.w", "self.w has the new shape (1,) instead of (2,)")),
        (m.forward, lambda: setattr(Model, "rate", 0.25),
         ("captured", "Model.rate", "Model.rate, which the function reads, is 0.25 instead of "
          "0.5")),
        (m.forward, lambda: setattr(m, "new", 1),
         ("captured", "self", "self, which the function reads, has 4 items instead of 3")),
        (lambda x: x * SCALE, lambda: globals().update(SCALE=3.0),
         ("captured", "SCALE", "SCALE, which the function reads, is 3.0 instead of 2.0")),
        (lambda x: helper(x), lambda: helper_table.update(lr=0.25),
         ("captured", "helper_table['lr']", "helper_table['lr'], which the function reads, is "
          "0.25 instead of 0.5")),
        (part, lambda: part.keywords["table"].update(c=2.0),
         ("captured", "table['c']", "table['c'], which the function reads, is 2.0 instead "
          "of 1.0")),
    ]


@pytest.mark.parametrize("at", range(16))
def test_reasons_of_surroundings(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    monkeypatch.setitem(helper_table, "lr", 0.5)
    cases = surroundings()
    assert len(cases) == 16
    fun, change, want = cases[at]
    f = mx.compile(fun)
    f(zeros(2))
    change()
    f(zeros(2))
    why = f.stats.reasons[-1]
    assert (why.part, why.name, str(why)) == want


def test_reasons_of_modules() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 1))
    f = mx.compile(lambda x: model(x))
    f(zeros(2, 4))

    def why() -> str:
        f(zeros(2, 4))
        return str(f.stats.reasons[-1])

    g = mx.compile(lambda model, x: model(x))
    g(model, zeros(2, 4))
    weight = model.layers[2].weight
    model.layers[2].weight = weight.astype(mx.float16)
    g(model, zeros(2, 4))
    assert str(g.stats.reasons[-1]) == "model.layers[2].weight is float16 instead of float32"
    model.layers[2].weight = weight
    model.eval()
    assert re.fullmatch(r"model\.layers\[0\]\S*training\S*, which the function reads, is False "
                        r"instead of True.*", why())
    model.layers[2].weight = mx.ones((3, 4))
    model.layers[2].bias = mx.ones((3,))
    assert why() == ("model.layers[2].weight has the new shape (3,4) instead of (1,4), and 1 more "
                     "differs")
    del model.layers[0]["bias"]
    assert why() == "model.layers[0], which the function reads, has 1 item instead of 2"


def test_reasons_of_state_and_threads() -> None:
    held: dict[str, Any] = {"n": 3, "w": zeros(2), "sub": [zeros(1)]}
    f = mx.compile(lambda x: x, inputs=held)

    def why(part: str, name: str, text: str) -> None:
        f(zeros(2))
        found = f.stats.reasons[-1]
        assert (found.part, found.name, str(found)) == (part, name, text)

    why("first", "", "first call")
    held["n"] = 4
    why("state", "inputs['n']", "inputs['n'] is 4 instead of 3")
    held["w"] = zeros(3)
    why("shape", "inputs['w']", "inputs['w'] has the new shape (3,) instead of (2,)")
    held["sub"].append(zeros(1))
    why("state", "inputs['sub'][1]", "inputs['sub'][1] is new")
    now = pool.get_num_threads()
    pool.set_num_threads(now + 1)
    try:
        why("threads", "", f"{now + 1} threads instead of {now}")
    finally:
        pool.set_num_threads(now)


def test_a_trace_that_was_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "compile_cache_entries", 2)
    f = mx.compile(lambda x: x + 1)
    for n in (1, 2, 3, 1):
        f(zeros(n))
    why = f.stats.reasons[-1]
    assert why.part == "dropped"
    assert str(why) == "its trace was dropped: 2 are kept (EUTECTIC_COMPILE_CACHE_ENTRIES)"


def test_names_through_transformations() -> None:
    def loss(params, x):
        return (params["w"] * x).sum()

    for f in (mx.grad(mx.compile(loss)), mx.compile(mx.grad(loss)),
              mx.value_and_grad(mx.compile(loss)), mx.compile(mx.vmap(loss, in_axes=(None, 0)))):
        f = f if hasattr(f, "stats") else mx.compile(f)
        f({"w": mx.ones((2,))}, mx.ones((3, 2)).sum(axis=0, keepdims=True))
        f({"w": mx.ones((2,))}, mx.ones((4, 2)))
        assert str(f.stats.reasons[-1]) == "x has the new shape (4,2) instead of (1,2)"


# ---- Statistics ----------------------------------------------------------------------------------


def test_stats_count_calls() -> None:
    inner = mx.compile(lambda x: x * 2)
    f = mx.compile(lambda x: inner(x) + 1)
    for n in (1, 2, 1, 1, 2):
        f(zeros(n))
    found = mx.compile_stats(f)
    assert found.name == "<lambda>"
    assert (found.traces, found.hits, found.misses, found.entries) == (2, 3, 2, 2)
    assert (found.evictions, found.plain_calls, found.broken_calls) == (0, 0, 0)
    assert mx.compile_stats(inner).plain_calls == 2
    f.clear()
    again = f.stats
    assert (again.traces, again.hits, again.entries, again.bytes) == (2, 3, 0, 0)
    assert found.entries == 2  # a snapshot
    with pytest.raises(AttributeError):
        found.traces = 3  # type: ignore[misc]


def test_stats_of_memory() -> None:
    f = mx.compile(lambda x: (mx.softmax(x) @ x.T).sum(axis=-1) + x[:, 0])
    empty = f.stats.memory
    assert (empty.temporaries, empty.constants, empty.code, f.stats.bytes) == (0, 0, 0, 0)
    f(mx.ones((8, 16)))
    one = f.stats.memory
    assert one.temporaries >= 8 * 16 * 4 and one.code > 500
    f(mx.ones((64, 16)))
    two = f.stats.memory
    assert two.temporaries >= 64 * 16 * 4
    assert f.stats.bytes == two.temporaries + two.constants + two.code == two.total
    g = mx.compile(lambda x: x + mx.array(np.arange(1000, dtype=np.float32)))
    g(mx.ones((1000,)))
    g(mx.ones((2, 1000)))
    assert g.stats.memory.constants == 2 * 4000  # each trace made its own


def test_stats_need_a_compiled_function() -> None:
    for call in (mx.compile_stats, lambda f: mx.assert_max_traces(f, 1)):
        with pytest.raises(ArgumentTypeError, match=r"needs a function made by mx\.compile, "
                                                    "not a function"):
            call(free)


def test_assert_max_traces() -> None:
    f = mx.compile(lambda x: x + 1)
    f(zeros(1))
    with mx.assert_max_traces(f, 0) as counted:
        f(zeros(1))
        assert counted.traces == 0
    with mx.assert_max_traces(f, 2) as counted:
        f(zeros(2))
        counted.check()
        f(zeros(3))
    assert counted.traces == 2
    with pytest.raises(AssertionError) as found, mx.assert_max_traces(f, 1):
        f(zeros(4))
        f(mx.zeros((4,), mx.int32))
    assert type(found.value) is TraceCountError
    assert str(found.value) == (
        "[assert_max_traces] '<lambda>' was traced 2 times, at most 1 were expected. The latest "
        "reasons:\n  x has the new shape (4,) instead of (3,)\n  x is int32 instead of float32")
    with pytest.raises(KeyError), mx.assert_max_traces(f, 0):
        f(zeros(9))
        raise KeyError  # what happens in the block comes first
    with pytest.raises(ArgumentError, match="must not be negative"):
        mx.assert_max_traces(f, -1)

    @mx.assert_max_traces(f, 1)
    def twice(n):
        f(zeros(n))
        f(zeros(n))

    twice(20)
    twice(21)
    g = mx.compile(free)
    with pytest.raises(TraceCountError), mx.assert_max_traces(g, 1) as counted:
        for n in range(30, 33):
            g(zeros(n))
            counted.check()


# ---- Warnings ------------------------------------------------------------------------------------


def told(fun: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fun()
    assert all(w.category is CompileWarning and w.filename == __file__ for w in found)
    texts = [str(w.message) for w in found]
    assert all(len(line) <= 100 for text in texts for line in text.splitlines())
    return [" ".join(text.split()) for text in texts]


def test_eight_shapes_warn_once() -> None:
    f = mx.compile(lambda x, y: (x + 1, y))

    def shapes(first, last):
        for n in range(first, last):
            f(zeros(n), 1)

    assert told(lambda: shapes(0, 7)) == []
    (text,) = told(lambda: shapes(7, 8))
    assert text == (
        "[compile] '<lambda>' has been traced 8 times for calls that differ only in the shape of "
        "x; the last: x has the new shape (7,) instead of (6,). Each new shape costs a trace and "
        "a plan. Pad to a few sizes, or compile with shapeless=True if one trace is right for all "
        "sizes.")
    assert told(lambda: shapes(8, 40)) == []


def test_shapes_of_many_arguments_and_shapeless() -> None:
    f = mx.compile(lambda *xs: xs, shapeless=True)

    def shapes():
        for n in range(20):
            f(*[zeros(n + 1, i) for i in range(5)])

    (text,) = told(shapes)
    assert "in the shape of xs[0]; " in text and "shapeless" not in text
    assert text.endswith("Pad to a few sizes.")


def test_eight_numbers_warn_once() -> None:
    f = mx.compile(lambda x, n: x.reshape(-1)[:n])

    def numbers(first, last):
        for n in range(first, last):
            f(zeros(64), n)

    assert told(lambda: numbers(0, 7)) == []
    (text,) = told(lambda: numbers(7, 8))
    assert "8 times for calls that differ only in the number n, which is part of the trace" in text
    assert "Pass it as an array, mx.array(7), where it is only computed with" in text
    assert told(lambda: numbers(8, 40)) == []


def test_a_captured_number_warns() -> None:
    class Counter:
        def __init__(self):
            self.rows = 0

        def step(self, x):
            return x[:self.rows]

    c = Counter()
    f = mx.compile(c.step)

    def run():
        for _ in range(20):
            c.rows += 1
            f(zeros(64))

    (text,) = told(run)
    assert "differ only in the number self.rows, which is part of the trace" in text


def test_methods_of_one_class_warn_once() -> None:
    class Model:
        @mx.compile
        def step(self, x):
            return x + 1

    def run():
        for _ in range(3):
            m = Model()
            for n in range(10):
                m.step(zeros(n))

    assert len(told(run)) == 1


@pytest.mark.parametrize("calls", [
    [(zeros(n), str(n)) for n in range(20)],  # strings
    [(zeros(n), n) for n in range(20)],  # shapes and numbers
    [(mx.zeros((1,) * n), 1) for n in range(7)],
    [(mx.zeros((2,), d), n) for d in (mx.int8, mx.int16) for n in range(4)],
])
def test_other_traces_do_not_warn(calls: list[Any]) -> None:
    f = mx.compile(lambda x, k: (x, k))
    assert told(lambda: [f(*args) for args in calls]) == []


def test_debug_names_the_argument(capsys: pytest.CaptureFixture[str],
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "debug", 1)
    f = mx.compile(lambda params: params["w"] + 1)
    f({"w": zeros(2)})
    f({"w": zeros(3)})
    first, second = capsys.readouterr().err.splitlines()
    assert ": first call; " in first
    assert "test_reasons.py" in second
    assert "): params['w'] has the new shape (3,) instead of (2,); 1 step, " in second
