"""Compiled functions: keys, state, errors, structure, and what their cache does."""

from __future__ import annotations

import copy
import enum
import functools
import inspect
import threading
from collections import namedtuple
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.config import config
from eutectic.errors import ArgumentTypeError, TraceError
from eutectic.tracing import native


@pytest.fixture(params=["native", "python"], autouse=True)
def path(request, monkeypatch):
    """Every test runs with the native call and without it."""
    if request.param == "python":
        monkeypatch.setattr(native, "run", lambda: None)


def one(value=1.0):
    return mx.array([value])


# ---- Keys and caches -----------------------------------------------------------------------------


def test_the_first_call_traces_and_later_ones_do_not():
    f = mx.compile(lambda x: x + 1)
    for _ in range(5):
        assert f(one()).tolist() == [2]
    assert (f.stats.traces, f.stats.hits) == (1, 4)


@pytest.mark.parametrize("change", [
    mx.array([1.0, 2.0]), mx.array([[1.0]]), mx.array(1.0), mx.array([1]), mx.zeros((0,)),
    mx.array([1.0], mx.float16)])
def test_shape_dimensions_and_dtype_trace_anew(change):
    f = mx.compile(lambda x: x + 1)
    f(one())
    out = f(change)
    assert out.shape == change.shape and out.dtype == (change + 1).dtype
    assert f.stats.traces == 2
    f(one())
    f(change)
    assert f.stats.traces == 2


def test_keys_of_structures_are_exact():
    f = mx.compile(lambda *a, **k: mx.array(0))
    x, y = one(), one(2.0)
    calls = [
        (([x], y), {}), (([x, y],), {}), (((x,), y), {}), ((x, y), {}), ((x,), {"y": y}),
        ((), {"x": x, "y": y}), (([], x, y), {}), (([[]], x, y), {}), (([], [], x), {}),
        (((), [], x), {}), (({}, [], x), {}), ((None, [], x), {}), ((x, None), {}), ((x,), {}),
        (({"a": x, "b": y},), {}), (({"a": [x], "b": y},), {}), (({1: x},), {}),
        (({True: x},), {}), (({1.0: x},), {}),
    ]
    for _ in range(3):
        for args, kwargs in calls:
            f(*args, **kwargs)
    assert f.stats.traces == len(calls)


@pytest.mark.parametrize("values", [
    (True, 1, 1.0, 1 + 0j), (0.0, -0.0, 0, False), ("", b"", None), (1 << 62, 1 << 64, 1 << 65),
    (float("inf"), float("-inf"), float("nan"), complex("inf"), complex("nan")),
    (slice(1), slice(0, 1), slice(None, 1, 1)), (mx.float32, mx.float16, "float32"),
    (0.1, 0.1 + 1e-17, 0.10000000000000002)])
def test_keys_of_constants_are_exact(values):
    f = mx.compile(lambda x, c: (x, repr(c)))
    different = {repr(v) for v in values}
    for _ in range(3):
        for v in values:
            assert f(one(), v)[1] == repr(v)
    assert f.stats.traces == len(different)


def test_constants_of_computations_that_look_alike():
    f = mx.compile(lambda x, a, b: x * a + b)
    x = mx.array([1.0], mx.float32)
    assert f(x, 1, 23).tolist() == [24] and f(x, 12, 3).tolist() == [15]
    a, b = f(x, 1.0000001, 0.0), f(x, 1.0000002, 0.0)
    assert a.tolist() != b.tolist()


def test_enums_and_hashable_objects_are_constants():
    class Mode(enum.Enum):
        A = 1
        B = 2

    f = mx.compile(lambda x, mode, fn: fn(x) if mode is Mode.A else -x)
    for _ in range(3):
        assert f(one(), Mode.A, mx.exp).item() == mx.exp(one()).item()
        assert f(one(), Mode.B, mx.exp).item() == -1
        assert f(one(4.0), Mode.A, mx.sqrt).item() == 2
    assert f.stats.traces == 3
    with pytest.raises(ArgumentTypeError, match=r"argument 1 of <lambda> is a set"):
        f(one(), {1}, mx.exp)


def test_an_address_used_again_is_no_hit():
    def made(k):
        return lambda x: x + k

    for k in range(50):
        assert mx.compile(made(float(k)))(one()).item() == k + 1
    f = mx.compile(lambda x, fn: fn(x))
    found = []

    def in_thread():
        found.extend([f(one(), made(float(k))).item() for k in range(20)])

    t = threading.Thread(target=in_thread)
    t.start()
    t.join()
    assert found == [k + 1.0 for k in range(20)]


def test_five_thousand_integers_and_a_thousand_shapes(monkeypatch):
    monkeypatch.setattr(config, "compile_cache_entries", 64)
    f = mx.compile(lambda x, n: x if n < 5000 else -x)
    x = one()
    for n in range(500):
        f(x, n)
    assert f.stats.traces == 500 and len(f.entries()) == 64 and f.stats.evictions == 436
    for _ in range(3):
        f(x, 499)
    assert f.stats.traces == 500 and f.stats.hits == 3
    f = mx.compile(lambda x, n: x + n)
    for n in range(5000):
        assert f(x, n).item() == n + 1
    assert (f.stats.traces, len(f.entries()), f.stats.hits) == (2, 2, 4998)
    g = mx.compile(lambda x: x + 1)
    for n in range(1000):
        assert g(mx.zeros((n,))).size == n
    assert len(g.entries()) == 64


def test_the_least_recently_used_entry_is_dropped(monkeypatch):
    monkeypatch.setattr(config, "compile_cache_entries", 3)
    f = mx.compile(lambda x: x + 1)
    xs = [mx.zeros((n,)) for n in range(4)]
    for n in (0, 1, 2, 0, 0, 0, 3, 0):
        f(xs[n])
    assert f.stats.traces == 4
    assert [e.traced.graph.inputs[0].shape for e in f.entries()] == [(2,), (3,), (0,)]
    f(xs[1])
    assert f.stats.traces == 5 and f.stats.evictions == 2


def test_clear_forgets():
    f = mx.compile(lambda x: x + 1)
    for _ in range(3):
        f(one())
    f.clear()
    assert not f.entries() and f.stats.hits == 2
    for _ in range(3):
        f(one())
    assert (f.stats.traces, f.stats.hits) == (2, 4)


# ---- Arguments and results -----------------------------------------------------------------------


Point = namedtuple("Point", "a b")


@dataclass
class Pair:
    a: mx.array
    b: object


def test_containers_of_all_kinds_go_in_and_out():
    def fun(p, q, d, n):
        return Point(p.a + 1, p.b), Pair(q.a * 2, q.b), {"x": [d["x"], (None, n)]}, [], ()

    f = mx.compile(fun)
    for _ in range(4):
        p, q, d, e, t = f(Point(one(), 3), Pair(one(), "s"), {"x": one()}, None)
        assert type(p) is Point and p.a.item() == 2 and p.b == 3
        assert type(q) is Pair and q.a.item() == 2 and q.b == "s"
        assert d["x"][0].item() == 1 and d["x"][1] == (None, None) and e == [] and t == ()
    assert f.stats.traces == 1


def test_numpy_and_objects_with_mlx_array_are_arrays():
    class Holder:
        def __mlx_array__(self):
            return one(5.0)

    f = mx.compile(lambda x: x * 2)
    for k in range(4):
        assert f(np.array([k], np.float32)).item() == 2 * k
        assert f(np.float32(k)).item() == 2 * k
        assert f(Holder()).item() == 10
    assert f.stats.traces == 5  # one for arrays, and one for each of NumPy's scalars


def test_same_array_twice_outputs_that_are_inputs_and_unused_inputs():
    f = mx.compile(lambda x, y, z: (y, x + y, x, y))
    x = one()
    for _ in range(4):
        a, b, c, d = f(x, x, one(9.0))
        assert (a.item(), b.item(), c.item(), d.item()) == (1, 2, 1, 1)
        a[0] = 7.0
        assert x.item() == 1 and c.item() == 1 and d.item() == 1


def test_results_may_be_none_strings_and_numbers_by_signature():
    f = mx.compile(lambda x: None if x.ndim == 0 else ("vector", x.size, x) if x.ndim == 1 else x)
    for _ in range(4):
        assert f(mx.array(1.0)) is None
        assert f(one())[:2] == ("vector", 1)
        assert f(mx.zeros((1, 1))).shape == (1, 1)


def test_keywords_defaults_and_their_order():
    def fun(x, *rest, k=2.0, **more):
        return x * k + sum(rest) + sum(more.values())

    f = mx.compile(fun)
    for _ in range(3):
        assert f(one()).item() == 2
        assert f(one(), k=3.0).item() == 3
        assert f(one(), one(), k=3.0, z=one(5.0)).item() == 9
        assert f(x=one(4.0)).item() == 8


def test_name_signature_and_wrapped():
    def fun(x, k: float = 2.0):
        """What it does."""
        return x * k

    f = mx.compile(fun)
    assert (f.__name__, f.__doc__, f.__wrapped__) == ("fun", "What it does.", fun)
    assert inspect.signature(f) == inspect.signature(fun)
    assert mx.compile(f) is f
    part = mx.compile(functools.partial(fun, k=3.0))
    assert part.__name__ == "fun" and part(one()).item() == 3
    with pytest.raises(ArgumentTypeError, match=r"\[compile\] cannot compile a int"):
        mx.compile(3)


def test_methods():
    class Model:
        def __init__(self, w):
            self.w = one(w)

        @mx.compile
        def forward(self, x):
            return x * self.w

    models = [Model(float(k)) for k in range(5)]
    for _ in range(4):
        assert [m.forward(one(2.0)).item() for m in models] == [0, 2, 4, 6, 8]
    models[0].w = one(10.0)
    assert models[0].forward(one(2.0)).item() == 20
    g = mx.compile(models[1].forward)
    assert [g(one(2.0)).item() for _ in range(3)] == [2, 2, 2]


def test_copies_of_an_instance_have_methods_of_their_own():
    class Model:
        def __init__(self):
            self.w = one()

        @mx.compile
        def forward(self, x):
            return x * self.w

    m = Model()
    assert [m.forward(one()).item() for _ in range(3)] == [1, 1, 1]
    for c in (copy.copy(m), copy.deepcopy(m)):
        c.w = one(2.0)
        assert [c.forward(one()).item() for _ in range(3)] == [2, 2, 2]
        assert m.forward(one()).item() == 1


def test_methods_of_many_instances_keep_none_alive():
    import gc
    import weakref

    class Model:
        @mx.compile
        def forward(self, x):
            return x + 1

    first = Model()
    seen = weakref.ref(first)
    first.forward(one())
    del first
    for _ in range(300):
        Model().forward(one())
    gc.collect()
    assert seen() is None


# ---- State ---------------------------------------------------------------------------------------


def test_inputs_are_read_and_outputs_written_at_each_call():
    state = {"w": one(), "n": [mx.array(0)]}

    def step(x):
        state["w"] = state["w"] + x
        state["n"][0] = state["n"][0] + 1
        return state["w"] * 2

    f = mx.compile(step, inputs=state, outputs=state)
    assert [f(one()).item() for _ in range(5)] == [4, 6, 8, 10, 12]
    assert state["w"].item() == 6 and state["n"][0].item() == 5
    state["w"] = one(100.0)
    assert f(one()).item() == 202 and f.stats.traces == 1


def test_state_that_is_changed_in_place():
    state = [one()]

    def step(x):
        state[0] += x
        state[0][0] = state[0][0] * 2

    f = mx.compile(step, inputs=state, outputs=state)
    held = state[0]
    assert [f(one()) for _ in range(4)] == [None] * 4
    assert state[0].item() == ((((1 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2
    assert held is state[0]


def test_a_state_that_grows_takes_one_more_trace():
    state = {"w": one()}

    def step(g):
        if "m" not in state:
            state["m"] = mx.zeros_like(state["w"])
            state["more"] = {"v": [mx.zeros_like(g)]}
        state["m"] = state["m"] * 0.5 + g
        state["more"]["v"][0] = state["more"]["v"][0] + g
        state["w"] = state["w"] - state["m"]
        return state["w"]

    f = mx.compile(step, inputs=state, outputs=state)
    assert [f(one()).item() for _ in range(5)] == [0, -1.5, -3.25, -5.125, -7.0625]
    assert f.stats.traces == 2 and state["more"]["v"][0].item() == 5


def test_a_custom_optimizer_that_makes_new_arrays():
    class Optimizer:
        def __init__(self):
            self.state = {"step": mx.array(0), "moments": {}}

        def update(self, w, g):
            s = self.state
            s["step"] = s["step"] + 1
            s["moments"]["m"] = s["moments"].get("m", mx.zeros_like(w)) * 0.5 + g
            return w - s["moments"]["m"] * s["step"]

    plain, compiled = Optimizer(), Optimizer()
    f = mx.compile(lambda w, g: compiled.update(w, g), inputs=compiled.state,
                   outputs=compiled.state)
    w, v = one(), one()
    for _ in range(5):
        w, v = plain.update(w, one()), f(v, one())
        assert w.item() == v.item()
    assert compiled.state["step"].item() == 5 and f.stats.traces == 2


def test_tied_state_and_state_that_comes_apart():
    w = one()
    state = {"a": w, "b": w}
    f = mx.compile(lambda x: x * state["a"] + 10 * state["b"], inputs=state)
    assert [f(one()).item() for _ in range(3)] == [11, 11, 11]
    state["b"] = one(2.0)
    assert [f(one()).item() for _ in range(3)] == [21, 21, 21]
    state["a"] = state["b"]
    assert [f(one()).item() for _ in range(3)] == [22, 22, 22]


def test_state_is_seen_through_closure_and_inputs_alike():
    state = {"w": one()}

    def step(x):
        state["w"] += x
        return state["w"] + 0

    f = mx.compile(step, inputs=[state], outputs=[state])
    assert [f(one()).item() for _ in range(4)] == [2, 3, 4, 5]
    assert state["w"].item() == 5


def test_constants_of_state_are_part_of_the_key():
    state = {"w": one(), "training": True}
    f = mx.compile(lambda x: x + state["w"] if state["training"] else x, inputs=state)
    assert [f(one()).item() for _ in range(3)] == [2, 2, 2]
    state["training"] = False
    assert [f(one()).item() for _ in range(3)] == [1, 1, 1]
    state["training"] = 1
    assert f(one()).item() == 2


def test_outputs_without_inputs():
    log = {}

    def step(x):
        log["last"] = x * 2
        return x + 1

    f = mx.compile(step, outputs=log)
    for k in range(4):
        assert f(one(k)).item() == k + 1 and log["last"].item() == 2 * k


@pytest.mark.parametrize("fails", ["at once", "later"])
def test_an_exception_restores_containers_and_does_not_poison(fails):
    state = {"w": one(), "items": [one(2.0)]}
    broken = [True]

    def step(x):
        state["w"] = state["w"] + x
        state["new"] = x
        state["items"].append(x)
        state["items"][0] += 1
        if broken[0]:
            raise KeyError("in mid-trace")
        del state["new"]
        state["items"].pop()
        return state["w"]

    f = mx.compile(step, inputs=state, outputs=state)
    if fails == "later":
        broken[0] = False
        for _ in range(3):
            f(one())
        broken[0] = True
    w, first = state["w"].item(), state["items"][0]
    for _ in range(2):
        with pytest.raises(KeyError):
            f(one())
        assert list(state) == ["w", "items"] and state["items"] == [first]
        assert state["w"].item() == w and first._n.trace is None
    broken[0] = False
    assert f(one()).item() == w + 1


def test_the_last_smaller_batch():
    state = {"n": mx.array(0.0)}

    def step(x):
        state["n"] = state["n"] + x.sum()
        return state["n"]

    f = mx.compile(step, inputs=state, outputs=state)
    assert [f(mx.ones((n,))).item() for n in (4, 4, 4, 3, 4, 4, 3)] == [4, 8, 12, 15, 19, 23, 26]
    assert f.stats.traces == 2


# ---- Randomness ----------------------------------------------------------------------------------


@pytest.mark.parametrize("captured", [False, True])
def test_draws_differ_and_reseeding_works(captured):
    kwargs = {"inputs": mx.random.state, "outputs": mx.random.state} if captured else {}
    f = mx.compile(lambda x: x + mx.random.uniform(shape=(3,)), **kwargs)
    mx.random.seed(7)
    first = [f(one()).tolist() for _ in range(4)]
    assert len({str(v) for v in first}) == 4
    mx.random.seed(7)
    assert [f(one()).tolist() for _ in range(4)] == first
    mx.random.seed(7)
    plain = [(one() + mx.random.uniform(shape=(3,))).tolist() for _ in range(4)]
    assert plain == first and f.stats.traces == 1


def test_draws_on_threads_differ():
    f = mx.compile(lambda: mx.random.uniform(shape=(2,)))
    found = []

    def work():
        found.extend([str(f().tolist()) for _ in range(100)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(set(found)) == 400


# ---- Tracing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("use, name", [
    (lambda x: x.item(), "item"), (lambda x: x.tolist(), "tolist"), (bool, "bool"),
    (lambda x: mx.eval(x), "eval"), (lambda x: mx.eval([x]), "eval"), (repr, "print"),
    (np.asarray, "numpy"), (lambda x: mx.eval({"a": x + 1}), "eval")])
def test_evaluation_while_tracing_names_the_function_and_the_line(use, name):
    def my_function(x):
        use(x)
        return x

    f = mx.compile(my_function)
    for _ in range(2):
        with pytest.raises(TraceError, match=rf"(?s)^\[{name}\].*my_function.*test_compile.py"):
            f(one())
    g = mx.compile(lambda x: x + 1)
    assert g(one()).item() == 2


def test_a_placeholder_kept_by_a_side_effect():
    kept = SimpleQueue()  # nothing looks into a library's objects

    def fun(x):
        kept.put(x + 1)
        return x

    f = mx.compile(fun)
    f(one())
    left = kept.get()
    for _ in range(2):
        with pytest.raises(TraceError, match=r"(?s)^\[eval\].*a trace of 'fun'\s+left behind"):
            mx.eval(left)
        with pytest.raises(TraceError, match=r"(?s)^\[compile\].*a trace of\s+'fun' left behind.*"
                                             r"f\(left\).*outputs="):
            f(left)
    assert f(one()).item() == 1


def test_nested_compiled_functions_are_inlined():
    inner = mx.compile(lambda x, k: x * k + 1)
    f = mx.compile(lambda x: inner(x, 2.0) + inner(x, 3.0))
    assert [f(one()).item() for _ in range(3)] == [7, 7, 7]
    assert inner.stats.traces == 0 and len(f.entries()[0].plan.steps) == 1
    assert inner(one(), 2.0).item() == 3 and inner.stats.traces == 1


def test_disable_and_enable():
    f = mx.compile(lambda x: x + 1)
    for _ in range(3):
        f(one())
    mx.disable_compile()
    try:
        assert f(one()).item() == 2 and f.stats.plain_calls == 1
        g = mx.compile(lambda x: float(x.item()))
        assert g(one()) == 1.0
    finally:
        mx.enable_compile()
    assert f(one()).item() == 2
    assert (f.stats.traces, f.stats.plain_calls) == (1, 1)


def test_the_number_of_threads_is_part_of_the_key():
    from eutectic.runtime import pool

    f = mx.compile(lambda x: (x * 2).sum())
    x = mx.ones((1 << 18,))
    before = pool.get_num_threads()
    try:
        for count in (1, 2, 1, 2):
            pool.set_num_threads(count)
            assert [f(x).item() for _ in range(3)] == [1 << 19] * 3
        assert f.stats.traces == 2
    finally:
        pool.set_num_threads(before)


def test_reentrant_evaluation_of_a_python_call_inside_a_plan():
    f = mx.compile(lambda x: mx.softmax(x @ x, axis=-1))
    x = mx.ones((3, 3))
    assert all(abs(v - 1 / 3) < 1e-6 for v in f(x).reshape(-1).tolist())
