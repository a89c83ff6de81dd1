"""Captured objects that hold others: what changes in them is seen, and the right one is written.

Every program runs plainly and compiled, over the same steps, and must give the same.
"""

from __future__ import annotations

import array
import collections
import contextvars
import sys
import threading
import types
import weakref

import pytest

import eutectic.core as mx
from eutectic.errors import CompileWarning


def run(make, compiled):
    """Results of the steps of a program, as lists; `make` gives a function and its steps."""
    f, steps = make()
    g = mx.compile(f) if compiled else f
    results = []
    for step in steps:
        if step is not None:
            step()
        results.append(g(mx.array([1.0, 2.0])).tolist())
    return results


def same(make):
    expected = run(make, False)
    assert run(make, True) == expected
    return expected


class Cell:
    pass


def cells():
    made = [Cell(), Cell()]
    for i, c in enumerate(made):
        c.w = mx.full((2,), float(i))
    return made


def replaced(kind):
    """Programs whose state is in one of two alike holders, by turns."""
    def make():
        a, b = cells()
        if kind == "list":
            a, b = [a.w], [b.w]
        elif kind == "dict":
            a, b = {"w": a.w}, {"w": b.w}
        elif kind == "deque":
            a, b = collections.deque([a.w]), collections.deque([b.w])
        at = {"now": a}

        def f(x):
            held = at["now"]
            if kind == "object":
                held.w = held.w + x
                return held.w
            k = "w" if kind == "dict" else 0
            held[k] = held[k] + x
            return held[k]

        def use(o):
            return lambda: at.update(now=o)

        return f, [use(a), use(b)] * 4
    return make


@pytest.mark.parametrize("kind", ["object", "list", "dict", "deque"])
def test_state_is_written_to_the_holder_that_is_there(kind):
    results = same(replaced(kind))
    assert results[-2:] == [[4.0, 8.0], [5.0, 9.0]]


def test_a_cell_that_holds_another_object_is_written():
    def make():
        now, other = cells()

        def f(x):
            now.w = now.w + x
            return now.w

        def swap():
            nonlocal now, other
            now, other = other, now

        return f, [None, swap] * 4
    same(make)


def test_arrays_that_are_taken_away_are_taken_away_by_each_call():
    def to_none():
        st = {"m": None}

        def f(x):
            st["m"] = x * 2 if st["m"] is None else None
            return x if st["m"] is None else st["m"]
        return f, [None] * 7

    def popped():
        st = {"m": mx.ones((2,)), "k": 1.0}

        def f(x):
            m = st.pop("m", None)
            if m is not None:
                return x + m
            st["m"] = x * 2
            return x
        return f, [None] * 7

    def shorter():
        held = [mx.ones((2,)), mx.zeros((2,))]

        def f(x):
            if len(held) == 1:
                held.append(x)
                return x
            return x + held.pop()
        return f, [None] * 7

    for make in (to_none, popped, shorter):
        same(make)


def holders():
    """(name, object, function of it that gives a number, change)."""
    d = collections.deque([2.0], maxlen=2)
    yield "deque", lambda: d[0], lambda: d.appendleft(5.0)
    b = bytearray(b"\x02")
    yield "bytearray", lambda: b[0], lambda: b.__setitem__(0, 7)
    a = array.array("d", [2.0])
    yield "array.array", lambda: a[0], lambda: a.__setitem__(0, 7.0)
    under = {"k": 2.0}
    chain, proxy = collections.ChainMap({}, under), types.MappingProxyType(under)
    yield "ChainMap", lambda: chain["k"], lambda: under.update(k=3.0)
    yield "MappingProxyType", lambda: proxy["k"], lambda: under.update(k=4.0)
    user, users = collections.UserDict(k=2.0), collections.UserList([2.0])
    yield "UserDict", lambda: user["k"], lambda: user.update(k=4.0)
    yield "UserList", lambda: users[0], lambda: users.__setitem__(0, 4.0)
    var = contextvars.ContextVar("v", default=2.0)
    yield "ContextVar", lambda: var.get(), lambda: var.set(3.0)
    local, space, cell = threading.local(), types.SimpleNamespace(v=2.0), Cell()
    local.v = cell.v = 2.0
    yield "local", lambda: local.v, lambda: setattr(local, "v", 3.0)
    yield "SimpleNamespace", lambda: space.v, lambda: setattr(space, "v", 3.0)
    ref = weakref.ref(cell)
    yield "weakref", lambda: ref().v, lambda: setattr(cell, "v", 3.0)


@pytest.mark.parametrize("name", [name for name, _, _ in holders()])
def test_what_pythons_own_holders_hold_is_seen(name):
    def make():
        _, value, change = next(h for h in holders() if h[0] == name)
        return (lambda x: x * value()), [None, None, change, None]
    results = same(make)
    assert results[1] != results[2]


def test_a_queue_of_arrays_is_written():
    def make():
        d = collections.deque(maxlen=3)

        def f(x):
            d.append(x * (len(d) + 1))
            return sum(d)
        return f, [None] * 8
    same(make)


def test_attributes_of_classes_are_seen():
    def through_the_class():
        class K:
            c = 1.0

            @classmethod
            def f(cls, x):
                return x * cls.c
        return K.f, [None, None, lambda: setattr(K, "c", 3.0), None]

    def through_the_base():
        class B:
            s = 2.0

            def f(self, x):
                return x * self.s

        class K(B):
            def f(self, x):
                return super().f(x) + 1
        return K().f, [None, lambda: setattr(B, "s", 5.0),
                       lambda: setattr(B, "f", lambda self, x: x * 100)]

    def through_getattr():
        class K:
            table = {"a": 2.0}

            def __getattr__(self, name):
                return self.table[name]
        k = K()
        return (lambda x: x * k.a), [None, None, lambda: K.table.update(a=3.0), None]

    for make in (through_the_class, through_the_base, through_getattr):
        results = same(make)
        assert results[0] != results[-1]


def test_a_module_imported_inside_is_seen():
    def make():
        m = types.ModuleType("imported_inside")
        m.k = 2.0
        sys.modules["imported_inside"] = m

        def f(x):
            import imported_inside
            return x * imported_inside.k
        return f, [None, None, lambda: setattr(m, "k", 3.0), None]
    try:
        results = same(make)
    finally:
        del sys.modules["imported_inside"]
    assert results[0] != results[-1]


def test_a_counter_that_stands_still_is_said():
    st = {"n": 0}

    @mx.compile
    def f(x):
        st["n"] += 1
        return x * 2

    with pytest.warns(CompileWarning,
                      match=r"'f' changes st\['n'\], which holds no array"):
        for _ in range(4):
            f(mx.ones((2,)))


def test_an_argument_that_is_a_captured_array_changed_in_place():
    for first in (True, False):
        def make(first=first):
            w = mx.ones((2,))

            def f(x):
                w[1] = 5.0
                return w * x
            return f, w

        def results(compiled, first=first, make=make):
            f, w = make()
            g = mx.compile(f) if compiled else f
            order = [w, mx.ones((2,))] * 3 if first else [mx.ones((2,)), w] * 3
            return [g(x).tolist() for x in order]

        assert results(True) == results(False)
