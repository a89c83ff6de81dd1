"""Members of classes, and attributes of functions, that a compiled function reads: never stale.

Each program is a function and changes; plain and compiled calls between them must agree.
"""

from __future__ import annotations

import collections
import enum
import functools
import itertools
import operator
import time
import types

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.tracing import native

PROGRAMS = {}
GIVEN_UP = ("set", "NumPy array", "namespace", "deque")
"""What the native guard cannot check."""


def program(make):
    PROGRAMS[make.__name__.replace("_", " ")] = make
    return make


FACTOR = 2.0


class Config:
    def __init__(self, value):
        self.value = value


def results(make, compiled):
    f, changes = make()
    g = mx.compile(f) if compiled else f
    x = mx.array([1.0, 2.0])
    found = [[g(x).tolist() for _ in range(3)]]
    for change in changes:
        change()
        found.append([g(x).tolist() for _ in range(3)])
    return found


# -- the class's own class -------------------------------------------------------------------------

def of_a_metaclass(members, read, *changes):
    """A class K of a class M with these members."""
    def make():
        m = type("M", (type,), dict(members))
        k = m("K", (), {"v": 2.0})
        return (lambda x: x * read(k)), [functools.partial(c, m, k) for c in changes]
    return make


PROGRAMS |= {
    "metaclass property": of_a_metaclass(
        {"p": property(lambda cls: cls.v * 1.0)}, lambda k: k.p,
        lambda m, k: setattr(k, "v", 3.0),
        lambda m, k: setattr(m, "p", property(lambda cls: 5.0))),
    "metaclass attribute": of_a_metaclass(
        {"w": 2.0}, lambda k: k.w, lambda m, k: setattr(m, "w", 3.0),
        lambda m, k: setattr(k, "w", 4.0)),
    "metaclass property by an instance": of_a_metaclass(
        {"p": property(lambda cls: cls.v)}, lambda k: type(k()).p,
        lambda m, k: setattr(k, "v", 3.0)),
}


@program
def metaclass_getattr_and_call():
    table = {"a": 2.0}

    class M(type):
        def __getattr__(cls, name):
            return table[name]

        def __call__(cls, x):
            return x * table["b"]

    class K(metaclass=M):
        pass
    table["b"] = 3.0
    return (lambda x: K(x) * K.a), [lambda: table.update(a=5.0), lambda: table.update(b=7.0)]


# -- dispatch, and other descriptors of functools --------------------------------------------------

@program
def singledispatch():
    factor = [2.0]

    @functools.singledispatch
    def op(x):
        return x * factor[0]

    return (lambda x: op(x)), [
        lambda: factor.__setitem__(0, 3.0),
        lambda: op.register(mx.array)(lambda x: x * factor[0] * 7),
        lambda: factor.__setitem__(0, 5.0)]


@program
def singledispatchmethod():
    factor = [2.0]

    class K:
        @functools.singledispatchmethod
        def op(self, x):
            return x * factor[0]
    k = K()
    return (lambda x: k.op(x)), [
        lambda: factor.__setitem__(0, 3.0),
        lambda: K.op.register(mx.array)(lambda self, x: x * 11)]


@program
def cached_property():
    class K:
        v = 2.0

        @functools.cached_property
        def p(self):
            return self.v * 2
    k = K()

    def change():
        del k.p
        K.v = 5.0
    return (lambda x: x * k.p), [change]


@program
def partialmethod():
    class K:
        s = 2.0

        def f(self, x, y):
            return x * y * self.s
        g = functools.partialmethod(f, y=3.0)
    k = K()
    return (lambda x: k.g(x)), [
        lambda: setattr(K, "s", 9.0),
        lambda: setattr(K, "g", functools.partialmethod(K.f, y=4.0))]


@program
def descriptor_of_ones_own():
    table = [2.0]

    class D:
        def __init__(self):
            self.v = 2.0

        def __get__(self, instance, owner):
            return self.v * table[0]
    d = D()

    class K:
        s = d
    k = K()
    return (lambda x: x * k.s), [
        lambda: setattr(d, "v", 4.0), lambda: table.__setitem__(0, 3.0)]


# -- values of class attributes --------------------------------------------------------------------

def held(first, read, change):
    """A class attribute that is changed inside, or replaced."""
    def make():
        class K:
            s = first()
        return (lambda x: read(K.s, x)), [lambda: change(K)]
    return make


class Numbers(enum.Enum):
    TWO = 2
    THREE = 3


def value(s, x):
    return x * s.value


PROGRAMS |= {f"class attribute: {name}": held(*how) for name, how in {
    "instance, changed": (lambda: Config(2.0), value, lambda K: setattr(K.s, "value", 3.0)),
    "instance, replaced": (lambda: Config(2.0), value, lambda K: setattr(K, "s", Config(3.0))),
    "class": (lambda: type("In", (), {"value": 2.0}), value,
              lambda K: setattr(K.s, "value", 3.0)),
    "namespace": (lambda: types.SimpleNamespace(value=2.0), value,
                  lambda K: setattr(K.s, "value", 3.0)),
    "enum": (lambda: Numbers.TWO, value, lambda K: setattr(K, "s", Numbers.THREE)),
    "NumPy scalar": (lambda: np.float32(2), lambda s, x: x * s,
                     lambda K: setattr(K, "s", np.float32(3))),
    "NumPy array": (lambda: np.ones(2, np.float32), lambda s, x: x * mx.array(s),
                    lambda K: K.s.__setitem__(0, 9)),
    "set": (lambda: {1}, lambda s, x: x * len(s), lambda K: K.s.add(4)),
    "deque": (lambda: collections.deque([1]), lambda s, x: x * len(s), lambda K: K.s.append(4)),
    "dtype": (lambda: mx.float32, lambda s, x: (x * 1.5).astype(s),
              lambda K: setattr(K, "s", mx.int32)),
    "builtin": (lambda: operator.add, lambda s, x: s(x, x),
                lambda K: setattr(K, "s", operator.mul)),
    "operation": (lambda: mx.add, lambda s, x: s(x, x), lambda K: setattr(K, "s", mx.multiply)),
    "partial": (lambda: functools.partial(mx.add), lambda s, x: s(x, x),
                lambda K: setattr(K, "s", functools.partial(mx.multiply))),
}.items()}


@program
def class_attribute_that_is_a_module():
    m = types.ModuleType("of_a_class")
    m.k = 2.0

    class K:
        s = m
    return (lambda x: x * K.s.k), [lambda: setattr(m, "k", 4.0)]


# -- read by another function than the one that knows the object -----------------------------------

@program
def member_read_by_a_helper():
    class Layer:
        scale = 2.0
    layers = [Layer(), Layer()]

    def apply(layer, x):
        return x * layer.scale

    def f(x):
        for layer in layers:
            x = apply(layer, x)
        return x
    return f, [lambda: setattr(Layer, "scale", 7.0)]


@program
def member_of_a_class_that_a_helper_returns():
    class K:
        s = 2.0
    store = {"c": K}

    def get():
        return store["c"]
    return (lambda x: x * get().s), [lambda: setattr(K, "s", 7.0)]


@program
def class_named_inside_a_static_method():
    class A:
        class B:
            k = 2.0

        @staticmethod
        def s(x):
            return x * A.B.k
    return (lambda x: A.s(x)), [lambda: setattr(A.B, "k", 7.0)]


@program
def instances_made_inside():
    table = [2.0]

    class A:
        k = 2.0

        def __new__(cls, x):
            made = object.__new__(cls)
            made.y = x * table[0]
            return made

        def __init__(self, x):
            self.x = x * A.k
    return (lambda x: A(x).x + A(x).y), [
        lambda: setattr(A, "k", 5.0), lambda: table.__setitem__(0, 3.0),
        lambda: setattr(A, "__init__", lambda self, x: setattr(self, "x", x * 50))]


@program
def context_manager():
    class A:
        v = 2.0

        def __enter__(self):
            return self.v

        def __exit__(self, *what):
            pass

    def f(x):
        with A() as v:
            return x * v
    return f, [lambda: setattr(A, "v", 5.0)]


@program
def names_as_text():
    class K:
        s, t = 2.0, 3.0
    return (lambda x: x * getattr(K, "s") + vars(K)["t"]), [  # noqa: B009
        lambda: setattr(K, "s", 5.0), lambda: setattr(K, "t", 7.0)]


@program
def global_as_text():
    return (lambda x: x * globals()["FACTOR"]), [
        lambda: globals().update(FACTOR=3.0), lambda: globals().update(FACTOR=2.0)]


# -- what hides another ----------------------------------------------------------------------------

@program
def other_bases():
    class A:
        def f(self, x):
            return x * 2

    class B:
        def f(self, x):
            return x * 5

    class K(A):
        pass
    k = K()
    return (lambda x: k.f(x)), [
        lambda: setattr(K, "__bases__", (B,)), lambda: setattr(K, "f", lambda self, x: x * 9)]


@program
def another_class():
    class A:
        def f(self, x):
            return x * 2

    class B:
        def f(self, x):
            return x * 5
    k = A()
    return (lambda x: k.f(x)), [lambda: setattr(k, "__class__", B)]


@program
def member_that_was_not_there():
    class K:
        pass
    k = K()
    return (lambda x: x * getattr(k, "s", 2.0)), [
        lambda: setattr(K, "s", 3.0), lambda: delattr(K, "s"), lambda: setattr(k, "s", 5.0)]


# -- attributes of functions and of wrappers -------------------------------------------------------

@program
def attribute_of_a_function():
    def h():
        pass
    h.scale = 2.0

    class K:
        def m(self):
            pass
        m.scale = 2.0
    k = K()

    def f(x):
        return x * h.scale * k.m.scale * getattr(f, "scale", 1.0)
    return f, [lambda: setattr(h, "scale", 4.0), lambda: setattr(K.m, "scale", 4.0),
               lambda: setattr(f, "scale", 4.0)]


@program
def arrays_kept_on_a_function():
    def f(x):
        f.total = getattr(f, "total", 0) + x
        return f.total
    return f, [lambda: setattr(f, "total", mx.array([10.0, 20.0]))]


@program
def wrapper_that_is_an_object():
    class W:
        def __init__(self, f):
            self.f, self.k = f, 2.0
            functools.update_wrapper(self, f)

        def __call__(self, x):
            return self.f(x) * self.k
    w = W(lambda x: x * 2)
    return (lambda x: w(x)), [lambda: setattr(w, "k", 9.0), lambda: setattr(w, "f", mx.exp)]


class Whole(int):
    pass


class Text(str):
    pass


@program
def values_of_classes_made_of_numbers_and_text():
    held = {"n": Whole(2), "t": Text("a"), "f": type("Real", (float,), {})(1.5)}
    return (lambda x: x * held["n"] * held["f"] + len(held["t"])), [
        lambda: held.update(n=Whole(3)), lambda: held.update(t=Text("ab")),
        lambda: held.update(f=type(held["f"])(2.5))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_member_is_never_stale(name):
    expected = results(PROGRAMS[name], False)
    assert results(PROGRAMS[name], True) == expected
    assert all(a != b for a, b in itertools.pairwise(expected))


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "arrays kept on a function"
                                  and not n.endswith(GIVEN_UP)])
def test_calls_that_read_members_are_native(name):
    g = mx.compile(PROGRAMS[name]()[0])
    end = time.monotonic() + 60
    g(mx.array([1.0, 2.0]))
    while native.preparing() and time.monotonic() < end:  # its code is made meanwhile
        time.sleep(0.01)
    for _ in range(6):
        g(mx.array([1.0, 2.0]))
    assert g.entries()[-1].native.hits >= 3
