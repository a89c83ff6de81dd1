"""`shapeless=True`: other shapes without the function's Python, always with its results."""

from __future__ import annotations

import cProfile
import gc
import itertools

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.tree import leaves

WEIGHT = mx.array(np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32))
INNER = mx.compile(lambda x: x * 3)


def arrays(shapes):
    rng = np.random.default_rng(2)
    return [mx.array(rng.standard_normal(s).astype(np.float32)) for s in shapes]


def outcome(f, *args):
    """Bits of the results, or the error."""
    mx.random.seed(5)
    try:
        result = f(*args)
    except Exception as error:
        return type(error), str(error)
    return [(x.dtype, x.shape, bytes(x)) if isinstance(x, mx.array) else (type(x), x)
            for x in leaves(result)]


def in_place(x):
    x[0] = 5.0
    return x + 1


def with_stream(x):
    with mx.stream(mx.cpu):
        return x * 2


def numbered(*shapes):
    return [s if isinstance(s[0], tuple) else (s,) for s in shapes]


REPLAYED = {
    "elementwise": (lambda x: mx.tanh(x) * 2 + x, numbered((1,), (5,), (0,), (1000,))),
    "reduction over a traced axis of one": (
        lambda x: x.mean(axis=0) + x.var(axis=0, keepdims=True),
        numbered((1, 3), (4, 3), (7, 3), (1, 1))),
    "broadcast": (lambda x, y: x + y, numbered(((1,), (4,)), ((4,), (4,)), ((3,), (1,)),
                                               ((0,), (1,)), ((5,), (5,)))),
    "matmul": (lambda x: x @ WEIGHT, numbered((1, 4), (7, 4), (0, 4))),
    "slice": (lambda x: x[1:-1] * 2, numbered((1,), (8,), (3,), (0,), (2,))),
    "split": (lambda x: mx.split(x, 2), numbered((4,), (6,), (0,))),
    "pad": (lambda x: mx.pad(x, 1)[None], numbered((1,), (4,), (0,))),
    "cumsum": (lambda x: mx.cumsum(x, axis=1), numbered((2, 1), (2, 5), (3, 0))),
    "random": (lambda x: x + mx.random.uniform(shape=(3, 1)), numbered((3, 1), (3, 5), (1, 4))),
    "several outputs": (lambda x: (x.sum(), x * 2, {"a": x.T, "b": x.reshape(-1)}, x[0]),
                        numbered((1, 2), (3, 2), (4, 5))),
    "shape of a weight": (lambda x: x * WEIGHT.shape[0] + x.ndim, numbered((1,), (3,))),
    "at": (lambda x: x.at[0].add(1.0), numbered((1,), (5,), (2,))),
    "in place": (in_place, numbered((1,), (5,))),
    "layer norm": (lambda x: mx.fast.layer_norm(x, None, None, 1e-5),
                   numbered((1, 1), (4, 7), (2, 3))),
    "softmax": (lambda x: mx.softmax(x, axis=-1) @ mx.swapaxes(x, 0, 1),
                numbered((1, 1), (4, 7))),
    "einsum": (lambda x: mx.einsum("ij,kj->ik", x, x), numbered((1, 1), (4, 7))),
    "concatenate": (lambda x: mx.concatenate([x, x[:1]], 0), numbered((1, 1), (4, 7))),
    "sort": (lambda x: mx.sort(x)[::-1], numbered((1,), (7,), (0,))),
    "where": (lambda x: mx.where(x > 0, x, mx.zeros_like(x)), numbered((1,), (7,), (0,))),
    "squeeze": (lambda x: mx.squeeze(x), numbered((1, 3), (2, 3), (1, 1))),
    "take": (lambda x: mx.take(x, mx.array([0, -1]), axis=0), numbered((1, 3), (5, 1))),
    "arrays made there": (lambda x: x + mx.array([1.0]) + np.ones(1, np.float32),
                          numbered((1,), (3,))),
    "fft": (lambda x: mx.abs(mx.fft.fft(x)), numbered((1,), (8,))),
    "convolution": (lambda x: mx.conv1d(x, mx.ones((2, 3, 2))), numbered((1, 3, 2), (2, 9, 2))),
    "stream": (with_stream, numbered((1,), (3,))),
    "compiled inside": (lambda x: INNER(x) + 1, numbered((1,), (3,))),
    "sum of a list": (lambda x: sum([x, x * 2]), numbered((1,), (3,))),
}


@pytest.mark.parametrize("name", REPLAYED)
def test_another_shape_does_not_run_python(name):
    f, shapes = REPLAYED[name]
    compiled = mx.compile(f, shapeless=True)
    for each in (shapes, shapes[::-1], shapes):
        for s in each:
            assert outcome(compiled, *arrays(s)) == outcome(f, *arrays(s)), s
    whys = [e.record.why.whole for e in compiled.entries()]
    assert sum("replayed without Python" in w for w in whys) == len(whys) - 1, whys


def caught(x):
    try:
        return x + mx.ones((2,))
    except ValueError:
        return x


def late(x):
    if x.shape[0] > 2:
        return x.sum()
    return x


TRACED = {
    "shape": (lambda x: x.reshape(x.shape[0], -1) / x.shape[0],
              numbered((1, 2, 2), (3, 2, 2), (4, 5, 1)), "shape"),
    "size": (lambda x: x + mx.arange(x.size), numbered((1,), (7,), (0,)), "size"),
    "nbytes": (lambda x: x + x.nbytes, numbered((1,), (7,)), "nbytes"),
    "len": (lambda x: x * len(x), numbered((1, 2), (3, 2)), "__len__"),
    "iteration": (lambda x: [r * 2 for r in x], numbered((1, 2), (3, 2)), "__iter__"),
    "unpacking": (lambda x: (lambda a, b: a + b)(*x), numbered((2, 2), (2, 3), (3, 2)),
                  "__iter__"),
    "unstack": (lambda x: mx.unstack(x), numbered((1, 2), (3, 2)), "another kind of result"),
    "branch": (late, numbered((1,), (3,), (2,)), "shape"),
    "caught": (caught, numbered((2,), (3,), (1,)), "cannot be broadcast"),
    "caught first": (caught, numbered((3,), (2,), (1,)), "raises"),
    "gradient": (lambda x: mx.grad(lambda y: (y ** 2).sum())(x), numbered((1,), (7,)), "grad"),
    "vmap": (lambda x: mx.vmap(lambda y: y.sum())(x), numbered((1, 2), (7, 1)), "vmap"),
}


@pytest.mark.parametrize("name", TRACED)
def test_what_python_sees_of_a_shape_traces_again_and_says_so(name):
    f, shapes, why = TRACED[name]
    compiled = mx.compile(f, shapeless=True)
    for each in (shapes, shapes[::-1], shapes):
        for s in each:
            assert outcome(compiled, *arrays(s)) == outcome(f, *arrays(s)), s
    notes = [e.record.why.whole for e in compiled.entries()]
    assert any("not replayed: " in w and why in w for w in notes), notes


def test_python_runs_once():
    runs = itertools.count()

    def f(x):
        next(runs)
        return mx.exp(x).sum(axis=0)

    compiled = mx.compile(f, shapeless=True)
    for n in range(1, 100):
        assert compiled(mx.zeros((n, 2))).tolist() == [float(n)] * 2
    assert next(runs) == 1
    compiled(mx.zeros((2, 2, 2)))
    compiled(mx.zeros((2, 2), mx.float16))
    assert next(runs) == 4


@pytest.mark.parametrize("bad", [((3,), (4,)), ((2, 3), (3, 2))])
def test_shapes_that_do_not_fit_raise_and_poison_nothing(bad):
    compiled = mx.compile(lambda x, y: x * y, shapeless=True)
    good = tuple([(1,) * len(s) for s in bad])
    compiled(*arrays(good))
    with pytest.raises(ValueError, match="broadcast"):
        compiled(*arrays(bad))
    assert compiled(*arrays(good)).shape == good[0]


def test_an_update_of_nothing_and_then_of_something():
    def f(x):
        x[:] = 1.0
        x[:, :2] += 1.0

    for shapes in ([(0, 3), (2, 3)], [(2, 3), (0, 3)], [(2, 0), (2, 1), (2, 4)]):
        compiled = mx.compile(f, shapeless=True)
        for s in shapes:
            x, y = mx.zeros(s), mx.zeros(s)
            compiled(x)
            f(y)
            assert x.tolist() == y.tolist()


def test_state_and_draws():
    state = {"w": mx.zeros((3,))}

    def f(x):
        state["w"] = state["w"] + (x * mx.random.uniform(shape=(1, 3))).sum(axis=0)
        state["n"] = x.sum()

    compiled = mx.compile(f, inputs=state, outputs=state, shapeless=True)
    found = []
    for step in (f, compiled):
        state.clear()
        state["w"], state["n"] = mx.zeros((3,)), mx.array(0.0)
        mx.random.seed(1)
        for n in (1, 4, 2, 0, 4):
            step(mx.ones((n, 3)))
        found.append([state["w"].tolist(), state["n"].item()])
    assert found[0] == found[1]
    assert any("replayed without Python" in e.record.why.whole for e in compiled.entries())


def test_a_profiler_is_put_back():
    profiler = cProfile.Profile()
    compiled = mx.compile(lambda x: x + 1, shapeless=True)
    profiler.enable()
    try:
        compiled(mx.zeros((2,)))
        in_place(mx.zeros((3,)))
    finally:
        profiler.disable()
    assert any("in_place" in str(e.code) for e in profiler.getstats())


def test_collections_of_garbage_are_no_part_of_a_trace():
    """What `gc.callbacks` holds runs at any time, also in the middle of an operation."""
    seen = []

    def callback(phase, info):
        seen.append(phase)

    gc.callbacks.append(callback)
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        f = mx.compile(lambda x: mx.exp(x) + mx.random.uniform(shape=(3, 1)), shapeless=True)
        for n in (1, 4, 5):
            f(mx.ones((3, n)))
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(callback)
    assert seen and gc.isenabled()
    whys = [e.record.why.whole for e in f.entries()]
    assert sum("replayed without Python" in w for w in whys) == 2, whys
