"""Iterators and random generators that a compiled function draws from: it is said, once."""

from __future__ import annotations

import cProfile
import itertools
import random
import sys
import types
import warnings
from random import gauss

import numpy as np
import pytest
from numpy.random import rand

import eutectic.core as mx
from eutectic.errors import CompileWarning

IT = iter(range(1000))


def endless():
    while True:
        yield random.random()


class Holder:
    def __init__(self):
        self.rng = np.random.RandomState(0)
        self.batches = {"train": map(float, range(100))}

    def draw(self, x):
        return x * self.rng.rand()

    def step(self, x):
        return x * next(self.batches["train"])


class Steps:
    """As a library has it: its attributes are not looked into."""

    def __next__(self):
        return 2.0

    def __iter__(self):
        return self


Steps.__module__ = "numpy.steps"


def helper():
    return random.uniform(0, 1)


def imports_inside(x):
    import random
    return x * random.random()


def twice_round():
    it = itertools.cycle([1.0, 2.0])
    for _ in range(5):
        next(it)
    return it


def programs():
    listed, counted, several = iter([1.0] * 9), itertools.count(3), zip(iter("abc"), endless())
    orders = itertools.permutations(range(3))
    endlessly, cycle, steps = endless(), twice_round(), Steps()
    rng, bits, own = np.random.default_rng(0), np.random.PCG64(1), random.Random(3)
    h = Holder()
    return {
        "IT": lambda x: x * next(IT),
        "listed": lambda x: x * next(listed),
        "counted": lambda x: x * next(counted),
        "several": lambda x: x * next(several)[1],
        "orders": lambda x: x * next(orders)[0],
        "endlessly": lambda x: x * next(endlessly),
        "cycle": lambda x: x * next(cycle),
        "steps": lambda x: x * next(steps),
        "rng": lambda x: x * float(rng.normal()),
        "bits": lambda x: x * (bits.random_raw() % 7),
        "own": lambda x: x * own.random(),
        "self.rng": h.draw,
        "self.batches['train']": h.step,
        "random": lambda x: x * helper(),
        "random inside": imports_inside,
        "random, gauss": lambda x: x * gauss(0, 1),
        "np.random": lambda x: x * float(np.random.normal()),
        "np.random, rand": lambda x: x * float(rand()),
    }


@pytest.mark.parametrize("name", programs())
@pytest.mark.parametrize("shapeless", [False, True])
def test_what_is_drawn_once_is_said_once(name, shapeless):
    f = programs()[name]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        g = mx.compile(f, shapeless=shapeless)
        first = g(mx.ones((2,)))
        assert g(mx.ones((2,))).tolist() == first.tolist()
        g(mx.ones((2, 3)))
    found = [w for w in found if w.category is CompileWarning]
    assert len(found) == 1 and found[0].filename == __file__
    text = str(found[0].message).replace("\n", " ")
    named = name.split(",")[0].split(" inside")[0]
    assert f" {named} " in text or f" {named}:" in text
    if "," not in name:
        assert f"({__file__}:" in text
    note = mx.compile_stats(g).reasons[0].notes[0]
    assert named in note and note.endswith("which happens when it is traced only")
    assert note in " ".join(str(mx.explain(g, mx.ones((2,)))).split())


def test_the_line_is_the_one_that_draws():
    rng = random.Random(1)

    def f(x):
        y = x + 1
        return y * rng.random()

    line = f.__code__.co_firstlineno + 2
    with pytest.warns(CompileWarning, match=rf"draws from rng\s+\({__file__}:{line}\)"):
        mx.compile(f)(mx.ones((2,)))


@pytest.mark.filterwarnings("error")
def test_what_is_only_held_or_drawn_by_ours_is_not_said():
    it, rng, endlessly = iter([1.0, 2.0]), random.Random(2), endless()
    held = types.SimpleNamespace(it=it, rng=rng, endlessly=endlessly, np=np, random=random)

    def f(x):
        assert held.rng is rng
        return x * mx.random.uniform(shape=(2,)) + sum(v for v in iter([1.0, 2.0]))

    g = mx.compile(f)
    assert g(mx.ones((2,))).tolist() != g(mx.ones((2,))).tolist()
    assert next(it) == 1.0 and mx.compile_stats(g).reasons[0].notes == ()


@pytest.mark.filterwarnings("error")
def test_an_iterator_of_ones_own_is_an_object_like_others():
    class Counter:
        def __init__(self):
            self.i = 0

        def __next__(self):
            self.i += 1
            return self.i

        def __iter__(self):
            return self

    own = Counter()
    f = mx.compile(lambda x: x * next(own))
    assert [f(mx.array(1.0)).item() for _ in range(4)] == [1, 2, 3, 4]


@pytest.mark.filterwarnings("error")
def test_the_systems_generator_has_no_state_to_compare():
    system = random.SystemRandom()
    assert mx.compile(lambda x: x * system.random())(mx.ones((2,))).size == 2


@pytest.mark.parametrize("shapeless", [False, True])
def test_a_profiler_stays(shapeless):
    endlessly = endless()
    profile = cProfile.Profile()
    profile.enable()
    try:
        held = sys.getprofile()
        with pytest.warns(CompileWarning, match="advances endlessly"):
            mx.compile(lambda x: x * next(endlessly), shapeless=shapeless)(mx.ones((2,)))
        assert sys.getprofile() is held is not None
    finally:
        profile.disable()
    assert sys.getprofile() is None
    with pytest.warns(CompileWarning, match="advances endlessly"):
        mx.compile(lambda x: x * next(endlessly), shapeless=shapeless)(mx.ones((2,)))
    assert sys.getprofile() is None
