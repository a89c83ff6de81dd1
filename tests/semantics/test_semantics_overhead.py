"""Overhead of calls, by counting: what a hit does, not how long it takes."""

from __future__ import annotations

import gc
import sys
import time

import pytest

import eutectic.core as mx
import eutectic.nn as nn
from eutectic.runtime import buffers
from eutectic.tracing import native
from eutectic.tracing.function import CompiledFunction

CALLS = 50


class Net(nn.Module):
    """500 layers: 1,000 parameters."""

    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2) for _ in range(500)]
        self.gain = 1.5

    @property
    def half(self):
        return self.gain * 0.5

    def __call__(self, x):
        for layer in self.layers[:3]:
            x = layer(x)
        return x * self.half + sum([p.sum() for layer in self.layers
                                    for p in (layer.weight, layer.bias)])


def small():
    w = mx.ones((4,))
    x = mx.ones((4,))
    return mx.compile(lambda x: mx.tanh(x) * w + 1), (x,)


def hundred_arrays():
    return (mx.compile(lambda xs: [x * 2 + 1 for x in xs]),
            ([mx.full((3,), float(i)) for i in range(100)],))


def model():
    net = Net()
    mx.eval(net.parameters())
    return mx.compile(net), (mx.ones((2, 2)),)


PROGRAMS = {"small": small, "a list of 100 arrays": hundred_arrays, "1,000 parameters": model}


def warmed(name):
    f, args = PROGRAMS[name]()
    end = time.monotonic() + 60
    f(*args)
    while native.preparing() or f.entries()[0].native is None:  # its code is made meanwhile
        assert time.monotonic() < end
        f(*args)
        time.sleep(0.01)
    f(*args)
    return f, args


@pytest.mark.parametrize("name", PROGRAMS)
def test_hits_are_served_by_the_native_record(name):
    f, args = warmed(name)
    (entry,) = f.entries()
    before = entry.native.hits
    for _ in range(CALLS):
        f(*args)
    assert entry.native.hits - before == CALLS
    assert mx.compile_stats(f).traces == 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hit_runs_no_python_but_the_call_and_its_buffers(name):
    f, args = warmed(name)
    ran = []

    def watch(frame, event, arg):
        if event == "call":
            ran.append(frame.f_code)

    gc.collect()
    gc.disable()  # what others let run at a collection is none of a hit's
    sys.setprofile(watch)
    try:
        for _ in range(CALLS):
            f(*args)
    finally:
        gc.enable()
        sys.setprofile(None)
    calls = [code for code in ran if code is CompiledFunction.__call__.__code__]
    assert len(calls) == CALLS
    rest = [code for code in ran if code is not calls[0]]
    assert {code.co_filename for code in rest} <= {buffers.__file__}
    assert len(rest) <= 4 * CALLS  # one block for results, one for temporaries: got and given back


@pytest.mark.parametrize("name", PROGRAMS)
def test_hits_leave_nothing_behind(name):
    f, args = warmed(name)

    def held():
        for _ in range(CALLS):
            f(*args)
        gc.collect()
        return sys.getallocatedblocks()

    held()
    counts = [held() for _ in range(5)]
    assert min(counts[1:]) - counts[0] < CALLS  # fewer than a block a call


def test_a_compiled_call_is_one_kernel():
    f, _args = warmed("small")
    (entry,) = f.entries()
    assert len(entry.plan.steps) == 1
