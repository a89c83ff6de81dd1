"""Arguments beyond arrays and constants: what the function may see of them is in the key."""

from __future__ import annotations

import dataclasses
import decimal
import enum
from collections import deque, namedtuple

import numpy as np
import pytest

import eutectic.core as mx
from eutectic import tree
from eutectic.errors import ArgumentTypeError
from eutectic.tracing import native


@pytest.fixture(autouse=True, params=["native", "python"])
def path(request, monkeypatch):
    """Each test once with and once without the native call."""
    if request.param == "native":
        native.load()
    else:
        monkeypatch.setattr(native, "run", lambda: None)


class Holder:
    def __init__(self, v):
        self.v = v

    def scaled(self):
        return self.v * 2


class Named:
    """Equal to others of its name, whatever its value."""

    def __init__(self, name, v):
        self.name, self.v = name, v

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Real(float):
    pass


HELD = Holder(2.0)


def held(v):
    HELD.v = v
    return HELD


def reads_global():
    return HELD.v


CHANGES = {
    "attribute": (lambda x, c: x * c.v, [lambda v=v: held(v) for v in (2.0, 3.0, 4.0, 2.0)]),
    "array attribute": (lambda x, c: x * c.v, [
        lambda v=v: held(mx.array([v, v])) for v in (2.0, 3.0, 4.0, 2.0)]),
    "bound method": (lambda x, m: x * m(), [lambda v=v: held(v).scaled for v in (2.0, 3.0, 4.0)]),
    "function": (lambda x, f: x * f(), [
        lambda v=v: (held(v), reads_global)[1] for v in (2.0, 3.0, 4.0)]),
    "class": (lambda x, t: x * t.k, [
        lambda v=v: (setattr(Holder, "k", v), Holder)[1] for v in (2.0, 3.0, 4.0)]),
    "equal objects": (lambda x, s: x * s.v, [lambda: Named(1, 2.0), lambda: Named(1, 3.0)]),
    "zeros": (lambda x, s: 1 / (x * s), [
        lambda: 0.0, lambda: -0.0, lambda: np.float64(0.0), lambda: np.float64(-0.0),
        lambda: np.float32(-0.0), lambda: np.float32(0.0), lambda: Real(0.0), lambda: Real(-0.0)]),
    "frozen sets": (lambda x, s: x * (2 if type(min(s)) is bool else 3), [
        lambda: frozenset([1]), lambda: frozenset([True]), lambda: frozenset([1.0])]),
    "ranges": (lambda x, r: x * (r.stop + 1), [
        lambda: range(0), lambda: range(1, 1), lambda: range(-3)]),
    "decimals": (lambda x, d: x * len(str(d)), [
        lambda: decimal.Decimal("1.0"), lambda: decimal.Decimal("1.00")]),
    "numpy arrays": (lambda x, a: x * a, [
        lambda v=v: np.full(2, v, np.float32) for v in (1.0, 2.0)]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_an_argument_holds_is_never_stale(name):
    f, makes = CHANGES[name]
    x = mx.array([1.0, 2.0])
    g = mx.compile(f)
    for _ in range(3):
        for make in makes:
            assert bytes(g(x, make())) == bytes(f(x, make()))


@pytest.mark.parametrize("dtype", [mx.int8, mx.float16, mx.bfloat16, mx.float32], ids=str)
def test_numpy_scalars_are_weak(dtype):
    x = mx.array([1, 2]).astype(dtype)
    f = mx.compile(lambda x, s: x * s)
    for s in (np.float32(2.5), np.float64(2.5), np.int64(3), np.float16(2), np.bool_(True)):
        for _ in range(3):
            got, want = f(x, s), x * s
            assert (got.dtype, bytes(got)) == (want.dtype, bytes(want))


def test_an_object_that_the_function_changes():
    def f(x, c):
        c.v = c.v + x
        return c.v * 2

    for g in (f, mx.compile(f)):
        a, b = Holder(mx.array([1.0])), Holder(mx.array([5.0]))
        for _ in range(3):
            g(mx.array([1.0]), a)
            g(mx.array([1.0]), b)
        assert a.v.item() == 4.0 and b.v.item() == 8.0


def test_containers_enums_and_dtypes():
    @dataclasses.dataclass
    class Box:
        w: mx.array
        n: int = 1

    class Mode(enum.Enum):
        ADD = 1
        MUL = 2

    Pair = namedtuple("Pair", "a b")

    class Mine:
        def __init__(self, a):
            self.a = a

    tree.register_container(Mine, lambda m: ((m.a,), None), lambda aux, xs: Mine(*xs))

    def f(box, mode, pair, mine, dtype):
        y = box.w * box.n
        y = y + pair.a if mode is Mode.ADD else y * pair.b
        return (y + mine.a).astype(dtype)

    g = mx.compile(f)
    w = mx.array([1.0, 2.0])
    for _ in range(2):
        for n in (1, 2, 3):
            for mode in Mode:
                for dtype in (mx.float32, mx.int32):
                    args = (Box(w, n), mode, Pair(w, n), Mine(w * n), dtype)
                    got, want = g(*args), f(*args)
                    assert got.dtype is want.dtype and got.tolist() == want.tolist()


def test_one_array_given_twice():
    def f(a, b):
        a += 1
        return a * b

    g = mx.compile(f)
    for _ in range(4):
        results = []
        for h in (f, g):
            x, y, z = mx.array([1.0, 2.0]), mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
            results.append([h(x, x).tolist(), x.tolist(), h(y, z).tolist(), y.tolist(),
                            z.tolist(), h(z, y).tolist()])
        assert results[0] == results[1]


def test_an_argument_that_is_captured_too():
    w = mx.array([1.0, 2.0])

    def f(a):
        a += 1
        return a * w

    g = mx.compile(f)
    for _ in range(4):
        results = []
        for h in (f, g):
            w._n = mx.array([1.0, 2.0])._n
            other = mx.array([1.0, 2.0])
            results.append([h(w).tolist(), w.tolist(), h(other).tolist(), other.tolist(),
                            w.tolist()])
        assert results[0] == results[1]


def test_train_and_eval_are_seen():
    class Layer(dict):
        def __init__(self):
            self["w"] = mx.array([2.0])
            self.training = True

    layer = Layer()
    for f in (lambda x: x * layer["w"] if layer.training else x,
              lambda x, m: x * m["w"] if m.training else x):
        g = mx.compile(f)
        rest = (layer,) if f.__code__.co_argcount == 2 else ()
        for training in (True, False, True, True, False, False):
            layer.training = training
            assert g(mx.array([3.0]), *rest).item() == (6.0 if training else 3.0)


@pytest.mark.parametrize(("value", "instead"), [
    ({1}, "a frozenset"), (bytearray(b"a"), "bytes"), (deque([1]), "a list"),
    (iter([1]), "a list"), ((k for k in "ab"), "a list")], ids=lambda v: type(v).__name__)
def test_what_cannot_be_a_part_of_a_key_says_so(value, instead):
    f = mx.compile(lambda x, v: x * 2)
    with pytest.raises(ArgumentTypeError, match=f"argument 1 of <lambda> is a .*give {instead}"):
        f(mx.array([1.0]), value)


@pytest.mark.parametrize("nested", [False, True])
def test_a_registered_object_as_captured_state(nested):
    class Mine:
        def __init__(self, a, k):
            self.a, self.k = a, k

    tree.register_container(Mine, lambda m: ((m.a,), m.k), lambda k, xs: Mine(xs[0], k))
    first = mx.array([1.0, 2.0])
    mine = Mine(first, 3)
    state = [mine] if nested else mine

    def f(x):
        mine.a = mine.a + x
        return mine.a * mine.k

    g = mx.compile(f, inputs=state, outputs=state)
    for k in range(1, 4):
        assert g(first).tolist() == [3.0 * (k + 1), 6.0 * (k + 1)]
        assert mine.a.tolist() == [k + 1.0, 2 * k + 2.0] and first.tolist() == [1.0, 2.0]
    mine.a, mine.k = mx.array([0.0, 0.0]), 5
    assert g(first).tolist() == [5.0, 10.0] and (not nested or state[0] is mine)


def test_a_registered_container_in_transformations():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    mx.register_container(Pair, lambda p: ((p.a, p.b), None), lambda aux, ab: Pair(*ab))

    def loss(p):
        return (p.a * p.a * p.b).sum()

    a, b = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    for g in (mx.grad(loss), mx.compile(mx.grad(loss)), mx.grad(mx.compile(loss))):
        found = g(Pair(a, b))
        assert found.a.tolist() == [6.0, 16.0] and found.b.tolist() == [1.0, 4.0]
    mapped = mx.vmap(lambda p: Pair(p.b, p.a * 2))(Pair(a, b))
    assert mapped.a.tolist() == [3.0, 4.0] and mapped.b.tolist() == [2.0, 4.0]
    last, ys = mx.scan(lambda c, x: (Pair(c.a + x, c.b), Pair(c.a, x)), Pair(a, b), mx.ones((3, 2)))
    assert last.a.tolist() == [4.0, 5.0] and ys.a.tolist() == [[1, 2], [2, 3], [3, 4]]
