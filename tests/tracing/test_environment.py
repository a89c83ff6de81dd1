"""Nothing a compiled function reads outside its arguments goes stale, natively or not."""

from __future__ import annotations

import functools
import types

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.tracing import native

SCALE = 2.0
TABLE = [1.0, 2.0]
ARRAY = mx.array([10.0])
DATA = np.array([1.0, 2.0], np.float32)
helper_scale = 3.0


def helper(x):
    return x * helper_scale


def other_helper(x):
    return x + 100


chosen = helper


@pytest.fixture(params=["native", "python"], autouse=True)
def path(request, monkeypatch):
    """Every test runs with the native call and without it."""
    if request.param == "python":
        monkeypatch.setattr(native, "run", lambda: None)


@pytest.fixture(autouse=True)
def globals_restored():
    saved = {k: v for k, v in globals().items() if not k.startswith("__")}
    table = list(TABLE)
    yield
    globals().update(saved)
    TABLE[:] = table


def values(f, *args):
    """The result on three calls, which must agree."""
    x = mx.array([1.0])
    found = [f(x, *args).tolist() for _ in range(3)]
    assert found[0] == found[1] == found[2]
    return found[0]


def test_a_global_is_rebound():
    global SCALE
    f = mx.compile(lambda x: x * SCALE)
    assert values(f) == [2]
    SCALE = 5.0
    assert values(f) == [5]
    SCALE = 2.0
    assert values(f) == [2] and f.stats.traces == 2


def test_a_global_of_a_nested_helper_is_rebound():
    global helper_scale, chosen
    f = mx.compile(lambda x: chosen(x))
    assert values(f) == [3]
    helper_scale = 4.0
    assert values(f) == [4]
    chosen = other_helper
    assert values(f) == [101]


def test_a_global_appears():
    f = mx.compile(lambda x: x * globals().get("no_such", 1.0) if False else x * len(TABLE))
    assert values(f) == [2]
    globals()["len"] = lambda t: 7.0
    try:
        assert values(f) == [7]
    finally:
        del globals()["len"]
    assert values(f) == [2]


def test_a_library_function_is_rebound():
    globals()["chosen"] = mx.abs
    f = mx.compile(lambda x: chosen(-x))
    assert values(f) == [1]
    globals()["chosen"] = mx.negative
    assert values(f) == [1]
    globals()["chosen"] = mx.square
    f(mx.array([3.0]))
    assert f(mx.array([3.0])).tolist() == [9]


def test_a_closure_cell_is_rebound():
    k = 2.0
    f = mx.compile(lambda x: x * k)
    assert values(f) == [2]
    k = 3.0
    assert values(f) == [3]
    k = 3
    assert values(f) == [3]


def test_defaults_are_replaced():
    def g(x, k=2.0, *, j=1.0):
        return x * k + j

    f = mx.compile(lambda x: g(x))
    assert values(f) == [3]
    g.__defaults__ = (5.0,)
    assert values(f) == [6]
    g.__kwdefaults__["j"] = 2.0
    assert values(f) == [7]
    g.__code__ = (lambda x, k=2.0, *, j=1.0: x * k - j).__code__
    assert values(f) == [3]


def test_attributes_of_self():
    class Model:
        scale = 1.0

        def __init__(self):
            self.w = mx.array([2.0])
            self.layers = [{"b": mx.array([1.0])}]
            self.training = True

        def helper(self, x):
            return x * self.scale * SCALE

        def __call__(self, x):
            y = self.helper(x) * self.w + self.layers[0]["b"]
            return y if self.training else -y

    global SCALE
    m = Model()
    compiled = [mx.compile(m), mx.compile(m.__call__), mx.compile(lambda x: m(x))]

    def check(expected):
        for f in compiled:
            assert values(f) == [expected] and m(mx.array([1.0])).tolist() == [expected]

    check(5)
    m.w = mx.array([3.0])
    check(7)
    m.w[0] = 4.0
    check(9)
    m.layers[0]["b"] = mx.array([2.0])
    check(10)
    m.layers.append({"b": mx.array([2.0])})
    check(10)
    m.training = False
    check(-10)
    m.scale = 2.0
    check(-18)
    del m.scale
    Model.scale = 3.0
    check(-26)
    SCALE = 1.0
    check(-14)
    Model.helper = lambda self, x: x
    check(-6)
    m.__dict__ = {**m.__dict__, "training": True}
    check(6)


def test_list_elements_and_module_level_lists():
    f = mx.compile(lambda x: x * TABLE[0] + TABLE[-1])
    assert values(f) == [3]
    TABLE[0] = 4.0
    assert values(f) == [6]
    TABLE.append(7.0)
    assert values(f) == [11]
    TABLE.pop()
    assert values(f) == [6]


def test_an_array_is_rebound_or_changed_in_place():
    global ARRAY
    f = mx.compile(lambda x: x + ARRAY)
    assert values(f) == [11]
    ARRAY = mx.array([20.0])
    assert values(f) == [21]
    ARRAY[0] = 30.0
    assert values(f) == [31]
    assert f.stats.traces == 1
    ARRAY = mx.array([1.0, 2.0])
    assert values(f) == [2, 3]


def test_numpy_arrays_changed_in_place():
    f = mx.compile(lambda x: x * float(DATA.sum()))
    assert values(f) == [3]
    DATA[0] = 5.0
    assert values(f) == [7]
    DATA[0] = 1.0
    assert values(f) == [3]


def test_an_array_that_becomes_two():
    pair = [mx.array([1.0])] * 2
    f = mx.compile(lambda x: x * pair[0] + pair[1] * 10)
    assert values(f) == [11]
    pair[1] = mx.array([2.0])
    assert values(f) == [21]
    pair[0] = pair[1]
    assert values(f) == [22]


def test_attributes_of_modules_and_classes():
    settings = types.ModuleType("settings")
    settings.k = 2.0

    class Config:
        k = 3.0
        __slots__ = ("j",)

    c = Config()
    c.j = 1.0
    f = mx.compile(lambda x: x * settings.k * Config.k + c.j)
    assert values(f) == [7]
    settings.k = 3.0
    assert values(f) == [10]
    Config.k = 4.0
    assert values(f) == [13]
    c.j = 2.0
    assert values(f) == [14]


def test_partial_and_sets_and_numpy_scalars():
    chosen_set = {1, 2}
    k = np.float32(2)
    options = {"j": 1.0}

    def g(scale, x, j):
        return x * scale * len(chosen_set) * float(k) + j

    f = mx.compile(functools.partial(g, 3.0, **options))
    assert values(f) == [13]
    chosen_set.add(3)
    assert values(f) == [19]
    k = np.float32(1)
    assert values(f) == [10]
    f.fun.keywords["j"] = 5.0
    assert values(f) == [14]


def test_a_counter_does_not_trace_for_ever():
    count = 0

    def g(x):
        nonlocal count
        count += 1
        return x * 2

    f = mx.compile(g)
    for _ in range(10):
        assert values(f) == [2]
    assert count <= 2


def test_a_counter_that_matters_is_never_stale():
    count = 0

    def g(x):
        nonlocal count
        count += 1
        return x * count

    f = mx.compile(g)
    assert [f(mx.array([1.0])).tolist() for _ in range(5)] == [[1], [2], [3], [4], [5]]


def test_a_transformation_is_followed_to_the_users_function():
    def made_by(fun):
        def inner(x):
            return fun(x)
        inner.__module__ = "eutectic.somewhere"
        return inner

    k = 2.0
    f = mx.compile(made_by(lambda x: x * k))
    assert values(f) == [2]
    k = 4.0
    assert values(f) == [4]


def test_a_wrapped_function_and_a_compiled_one_inside():
    k = 2.0
    inner = mx.compile(lambda x: x * k)

    @functools.lru_cache
    def number():
        return k

    @functools.wraps(number)
    def g(x):
        return inner(x)

    f = mx.compile(g)
    assert values(f) == [2]
    k = 5.0
    assert values(f) == [5]


def test_a_name_bound_later():
    f = mx.compile(lambda x: x * late if x.shape == (1,) else x)
    assert f(mx.array([1.0, 2.0])).tolist() == [1, 2]
    late = 3.0
    assert values(f) == [3]
    late = 4.0
    assert values(f) == [4]


def test_properties_and_class_methods():
    class Base:
        k = 2.0

        @property
        def twice(self):
            return 2 * self.k

        @classmethod
        def of(cls, x):
            return x * cls.k

        @staticmethod
        def plus(x):
            return x + SCALE

    class Model(Base):
        def __call__(self, x):
            return self.plus(self.of(x) * self.twice)

    global SCALE
    m = Model()
    f = mx.compile(m)
    assert values(f) == [10]
    Base.k = 3.0
    assert values(f) == [20]
    m.k = 1.0
    assert values(f) == [8]
    SCALE = 3.0
    assert values(f) == [9]
