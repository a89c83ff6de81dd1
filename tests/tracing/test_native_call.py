"""The native compiled call against the Python path: same results, references, and misses."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
from collections import OrderedDict

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.array import array, wrap
from eutectic.graph.ir import INPUT, Node
from eutectic.graph.layout import Data
from eutectic.ops import evaluation
from eutectic.runtime import buffers, walk_text
from eutectic.tracing import native
from eutectic.tracing.function import CompiledFunction

pytestmark = pytest.mark.skipif(native.load() is None, reason="no native call here")


def ready(f: CompiledFunction, *args, **kwargs):
    """Call until the native record serves the call."""
    for _ in range(3):
        out = f(*args, **kwargs)
    return out


def served(f: CompiledFunction, *args, **kwargs) -> bool:
    """Whether a call is taken by a native record, without the Python path."""
    before = sum(e.native.hits for e in f.entries() if e.native)
    f(*args, **kwargs)
    return sum(e.native.hits for e in f.entries() if e.native) == before + 1


def python_path(f: CompiledFunction, monkeypatch) -> CompiledFunction:
    """The same function compiled again, without the native call."""
    monkeypatch.setattr(native, "run", lambda: None)
    return mx.compile(f.fun, f.inputs, f.outputs)


def numbers(tree):
    """Results with arrays as (dtype, shape, bytes), for comparison."""
    if isinstance(tree, array):
        return (tree.dtype.name, tree.shape, bytes(tree))
    if isinstance(tree, dict):
        return {k: numbers(v) for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(numbers, tree))
    return tree


def strided() -> array:
    """An array with a gap between its elements, in reverse."""
    node = Node(INPUT, (), (), (3,), mx.float32)
    owner = np.arange(8, dtype=np.float32)
    node.data = Data(buffers.wrap(owner, owner.ctypes.data, owner.nbytes), 5 * 4, (-2,))
    return wrap(node)


CASES = {
    "one array": (lambda x: x * 2 + 1, (mx.array([1.0, -0.0, np.nan]),)),
    "a list": (lambda xs: [x + 1 for x in xs], ([mx.array([1.0]), mx.array([2, 3])],)),
    "nested": (lambda t: {"a": (t[0]["k"] * 2, None), "b": [t[1]]},
               (({"k": mx.array([1.0])}, mx.array([[2.0]])),)),
    "constants": (lambda x, n, s, f: (x * n + f, s, n), (mx.array([1.0]), 3, "name", 2.5)),
    "none and bool": (lambda x, a, b: None if a is None and b else x,
                      (mx.array([1.0]), None, True)),
    "an input is the output": (lambda x, y: (x, y + 1), (mx.array([1.0]), mx.array([2.0]))),
    "same array twice": (lambda x, y: x + y, (mx.array([1.0]),) * 2),
    "unused": (lambda x, y: y + 1, (mx.array([1.0]), mx.array([2.0]))),
    "zero size": (lambda x: (x + 1, x.sum()), (mx.zeros((0, 3)),)),
    "no axes": (lambda x: x + 1, (mx.array(2.0),)),
    "strides": (lambda x: (x + 1, x[::-1], x), (strided(),)),
    "views of inputs": (lambda x: (x.T, x[1:], x.reshape(-1)), (mx.arange(6).reshape(2, 3),)),
    "views of results": (lambda x: ((x + 1).T, (x + 1)[0]), (mx.arange(6).reshape(2, 3),)),
    "nothing": (lambda x: (), (mx.array([1.0]),)),
    "only constants": (lambda x: {"n": 1}, (mx.array([1.0]),)),
    "a captured constant": (lambda x: x + mx.array([1.0, 2.0]), (mx.array([1.0]),)),
    "no arguments": (lambda: mx.ones((2,)) * 3, ()),
    "large": (lambda x: x * 2, (mx.ones((300, 1000)),)),
    "reduction": (lambda x: (x.sum(), mx.softmax(x, axis=-1)), (mx.ones((7, 33)),)),
    "product": (lambda a, b: mx.tanh(a @ b), (mx.ones((9, 5)), mx.ones((5, 4)))),
}


@pytest.mark.parametrize("case", CASES)
def test_native_and_python_path_agree(case, monkeypatch):
    fun, args = CASES[case]
    f = mx.compile(fun)
    found = ready(f, *args)
    assert f.entries()[0].native is not None
    assert served(f, *args)
    slow = python_path(f, monkeypatch)
    expected = ready(slow, *args)
    assert slow.entries()[0].native is None
    plain = fun(*args)
    assert numbers(found) == numbers(expected) == numbers(plain)
    assert f.stats.traces == slow.stats.traces == 1
    assert f.stats.hits == slow.stats.hits + 1


def test_results_are_ordinary_arrays():
    x = mx.array([1.0, 2.0])
    f = mx.compile(lambda x: x * 2)
    y = ready(f, x)
    n = y._n
    assert (n.prim, n.inputs, n.attrs, n.shape, n.dtype) == (INPUT, (), (), (2,), mx.float32)
    assert n.trace is None and n.source is None and n.data.strides is None
    y[0] = 7
    assert (y + 1).tolist() == [8, 5] and f(x).tolist() == [2, 4]


def test_results_of_two_calls_do_not_share_memory():
    f = mx.compile(lambda xs: [x + 1 for x in xs])
    xs = [mx.array([float(i)]) for i in range(20)]
    first = ready(f, xs)
    kept = first[7]
    del first
    for k in range(50):
        f([x + k for x in xs])
    assert kept.tolist() == [8]


# ---- guard misses --------------------------------------------------------------------------------


def test_misses_are_seen():
    def fun(x, n=1, k=None):
        return x * n if n > -9 else x  # asked for, so that it is a constant of each trace

    f = mx.compile(fun)
    x = mx.array([1.0, 2.0])
    ready(f, x, 2, k=None)
    for args, kwargs in [
        ((mx.array([1.0, 2.0, 3.0]), 2), {"k": None}), ((mx.array([1, 2]), 2), {"k": None}),
        ((x, True), {"k": None}), ((x, 2.0), {"k": None}), ((x, 2), {}), ((x, 2), {"k": 0}),
        ((x,), {"n": 2, "k": None}), ((x[::-1], 2), {"k": None}),
        ((x.reshape(2, 1), 2), {"k": None}),
        ((x, 1 << 70), {}), ((x, -2), {"k": None}),
    ]:
        try:
            expected = numbers(fun(*args, **kwargs))
        except Exception as error:  # an integer that does not fit
            with pytest.raises(type(error)):
                f(*args, **kwargs)
            continue
        assert not served(f, *args, **kwargs)
        assert numbers(ready(f, *args, **kwargs)) == expected
        assert served(f, *args, **kwargs)
    assert served(f, x, 2, k=None)
    assert served(f, x, int("2"), k=None)


@pytest.mark.parametrize("a, b", [
    (0.0, -0.0), (1.0, 1), (1, True), ("a", "b"), (None, False), (float("inf"), -float("inf"))])
def test_constants_that_look_alike(a, b):
    f = mx.compile(lambda x, c: (x, repr(c)))
    x = mx.array([1.0])
    assert ready(f, x, a)[1] == repr(a)
    assert ready(f, x, b)[1] == repr(b)
    assert f(x, a)[1] == repr(a)
    assert f.stats.traces == 2


def test_equal_strings_and_numbers_made_anew_hit():
    f = mx.compile(lambda x, s, n, v: x * n + v)
    x = mx.array([1.0])
    ready(f, x, "some text", 1000, 2.5)
    assert served(f, x, "".join(["some", " text"]), int("1000"), float("2.5"))
    assert f.stats.traces == 1


def test_structures_that_look_alike():
    f = mx.compile(lambda *args: str(args).replace("array", ""))
    x, y = mx.array([1.0]), mx.array([2.0])
    shapes = [([x], y), ([x, y],), ((x,), y), ((x, y),), ({"a": x}, y), ({"a": x, "b": y},),
              ({"b": x, "a": y},), ([[], x, y],), ([x, [], y],), ([x, y, None],),
              (OrderedDict(a=x, b=y),)]
    g = mx.compile(lambda *args: mx.array(0))
    for args in shapes * 3:
        g(*args)
    assert g.stats.traces == len(shapes)
    assert f is not g


def test_a_subclass_of_array_is_an_array():
    class Special(array):
        __slots__ = ()

    s = Special([1.0, 2.0])
    f = mx.compile(lambda x: x * 2)
    assert ready(f, s).tolist() == [2, 4]
    s2 = Special([3.0, 4.0])
    assert f(s2).tolist() == [6, 8] and f(mx.array([5.0, 6.0])).tolist() == [10, 12]
    assert f.stats.traces == 1


def test_numpy_arguments_keep_to_the_python_path():
    f = mx.compile(lambda x: x * 2)
    for k in range(4):
        assert f(np.array([k], np.float32)).tolist() == [2 * k]
    assert f.stats.traces == 1 and f.entries()[0].native is None


def test_arguments_not_computed_yet():
    f = mx.compile(lambda x: x * 2)
    for k in range(5):
        assert f(mx.array([1.0]) + k).tolist() == [2 + 2 * k]
    assert f.stats.traces == 1


def test_more_than_one_signature_stays_native():
    f = mx.compile(lambda x: x * 2)
    xs = [mx.ones((n,)) for n in (1, 2, 3)]
    for x in xs:
        ready(f, x)
    assert all(served(f, x) for x in xs * 2)
    assert [len(e.traced.graph.inputs[0].shape) for e in f.entries()] == [1, 1, 1]


# ---- memory and threads --------------------------------------------------------------------------


def test_reference_counts_stay():
    w = mx.array([2.0])
    state = {"s": mx.array([0.0])}

    def fun(t, c):
        state["s"] = state["s"] + 1
        return {"y": [t["x"] * w, t["x"]], "c": c}

    f = mx.compile(fun, inputs=state, outputs=state)
    x = mx.array([1.0])
    t, c = {"x": x}, "constant"
    ready(f, t, c)
    held = (x, x._n, x._n.data, x._n.data.buffer, x._n.shape, mx.float32, w, state, t, c, fun,
            INPUT, native.MISS, array, Node, Data, buffers.OwnBuffer)
    gc.collect()
    before = [sys.getrefcount(h) for h in held]
    for _ in range(1000):
        f(t, c)
    f({"x": mx.ones((3,))}, c)
    f.clear()
    ready(f, t, c)
    gc.collect()
    after = [sys.getrefcount(h) for h in held]
    assert max(abs(a - b) for a, b in zip(before, after)) < 20


def test_memory_is_flat():
    f = mx.compile(lambda xs, n: {"a": [x * 2 + n for x in xs], "b": (xs[0].T, None)})
    xs = [mx.ones((2, 3)) for _ in range(5)]
    ready(f, xs, 3)

    gc.collect()
    tracemalloc.start()
    for _ in range(200):
        f(xs, 3)
    active, start = buffers.active_memory(), tracemalloc.get_traced_memory()[0]
    for _ in range(20_000):
        f(xs, 3)
    with pytest.raises(TypeError):
        for _ in range(100):
            f(5, 3)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert grown < 200_000 and buffers.active_memory() - active < 100_000


def test_threads_through_one_function():
    f = mx.compile(lambda x, t: [(x * 2 + i).sum() for i in range(4)] + [t])
    wrong = []

    def work(k: int) -> None:
        for i in range(300):
            size = (64, 1 << 17)[i % 100 == 0]
            x = mx.full((size,), float(k))
            got = f(x, None)
            if [y.item() for y in got[:4]] != [size * (2.0 * k + j) for j in range(4)]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and f.stats.traces == 2


def test_arguments_may_be_replaced_while_the_plan_runs():
    f = mx.compile(lambda xs: [mx.exp(x).sum() for x in xs])
    xs = [mx.zeros((1 << 17,)) for _ in range(4)]
    ready(f, xs)
    stop = threading.Event()

    def replace() -> None:
        while not stop.is_set():
            for i in range(4):
                xs[i] = mx.zeros((1 << 17,)) + 0
                mx.eval(xs[i])

    t = threading.Thread(target=replace)
    t.start()
    try:
        for _ in range(200):
            assert [y.item() for y in f(xs)] == [1 << 17] * 4
    finally:
        stop.set()
        t.join()


def test_a_failing_allocation_raises_and_leaves_all_well(monkeypatch):
    f = mx.compile(lambda x: mx.broadcast_to(x, (1 << 20, 1 << 22)) + 1)
    x = mx.array([1.0])
    for _ in range(4):
        with pytest.raises(MemoryError):
            f(x)
    assert sys.getrefcount(x) < 8


def test_sets_of_names_are_checked() -> None:
    """A set that the function reads: other names, or one more, are another signature."""
    names = {"a", "b"}
    traces = []

    def f(x: array) -> array:
        traces.append(sorted(names))
        return x * len(names)

    g = mx.compile(f)
    x = mx.array([1.0])
    assert ready(g, x).item() == 2 and served(g, x)
    names.add("c")
    assert g(x).item() == 3
    names.discard("a")
    assert g(x).item() == 2
    names.clear()
    names.update(("b", "c"))
    count = len(traces)
    assert ready(g, x).item() == 2 and served(g, x)
    assert len(traces) == count
    numbered = {1, 2}
    h = mx.compile(lambda x: x * len(numbered))
    assert ready(h, x).item() == 2 and not served(h, x)  # 1 and True are equal, and not the same


class Holder:
    def __init__(self) -> None:
        self.total = mx.array([0.0])
        self.parts = [mx.array([1.0]), mx.array([2.0])]
        self.named = {"a": mx.array([3.0]), "other": 5}


def test_places_that_were_not_declared_are_written() -> None:
    """Attributes, lists and dicts that hold new arrays after each call; arrays changed in place."""
    def step(h: Holder, x: array) -> array:
        h.total = h.total + x
        h.parts[1] = h.parts[1] * 2
        h.named["a"] += 1
        return h.total * h.named["other"]

    plain, compiled = Holder(), Holder()
    f = mx.compile(lambda x: step(compiled, x))
    x = mx.array([0.5])
    for i in range(5):
        kept = compiled.parts[1], compiled.named["a"]
        assert numbers(f(x)) == numbers(step(plain, x))
        assert numbers(vars(compiled)) == numbers(vars(plain))
        assert compiled.named["a"] is kept[1] and compiled.parts[1] is not kept[0]
        assert i == 0 or f.entries()[0].native.hits == i
    compiled.parts[1] = compiled.parts[0]  # one array at two places
    plain.parts[1] = plain.parts[0]
    compiled.named["other"] = plain.named["other"] = 7
    for _ in range(3):
        assert numbers(f(x)) == numbers(step(plain, x))
        assert numbers(vars(compiled)) == numbers(vars(plain))


def test_more_registers_than_the_stack_holds() -> None:
    f = mx.compile(lambda xs: xs[-1] + 1)
    xs = [mx.array([float(i)]) for i in range(9000)]
    assert ready(f, xs).item() == 9000 and served(f, xs)
    before = sys.getrefcount(xs[5]), sys.getrefcount(xs[-1])
    for _ in range(3):
        assert f(xs).item() == 9000
    assert (sys.getrefcount(xs[5]), sys.getrefcount(xs[-1])) == before
    xs[5] = mx.array([1, 2])
    assert not served(f, xs)


# ---- the walk of mx.eval ------------------------------------------------------------------------


class _Own(mx.array):
    """A subclass of the arrays."""


class _Settings(dict):
    """A subclass of dict, with an attribute."""


def _trees():
    lazy = mx.array([1.0]) + 1
    known = mx.array([2.0])
    own = _Own([3.0])
    own._n = (own + 1)._n
    settings = _Settings(a=lazy, b=known)
    deep = lazy
    for _ in range(150):
        deep = [deep]
    return lazy, own, [
        ([], []), ((known, "text", None, 3, 2.5, print), []), (lazy, [lazy]), ([own], [own]),
        ({"a": [lazy, (known, {"b": lazy})]}, [lazy, lazy]), (settings, [lazy]),
        ([{}, (), [[]], lazy], [lazy]), (deep, [lazy]), ([known] * 1000 + [lazy], [lazy])]


def test_the_walk_finds_what_python_finds():
    lazy, own, cases = _trees()
    for tree, want in cases:
        native.without_value((tree,))  # types are known from the second time on
        slow: list[array] = []
        evaluation._collect((tree,), slow)
        found = native.without_value((tree,))
        assert found is not None
        assert sorted(map(id, found)) == sorted(map(id, slow)) == sorted(map(id, want))
    counts = [sys.getrefcount(x) for x in (lazy, own)]
    for tree, _ in cases:
        native.without_value((tree,))
    assert [sys.getrefcount(x) for x in (lazy, own)] == counts


def test_what_the_walk_leaves_to_python():
    class Pair:
        def __init__(self, a):
            self.a = a

    x = mx.array([1.0]) + 1
    assert native.without_value([Pair(x)]) is None  # a type of which nothing is known
    mx.eval([Pair(x)])
    assert native.without_value([Pair(x)]) == [] and x._n.data is None
    mx.register_container(Pair, lambda p: ((p.a,), None), lambda aux, items: Pair(*items))
    assert native.without_value([Pair(x)]) is None
    mx.eval([Pair(x)])
    assert x._n.data is not None
    deep = y = mx.array([1.0]) + 2
    for _ in range(walk_text.MAX_DEPTH + 10):
        deep = [deep]
    assert native.without_value(deep) is None
    mx.eval(deep)
    assert y._n.data is not None
