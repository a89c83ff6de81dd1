"""Arrays written to closures, globals and containers that were not declared."""

from __future__ import annotations

import pytest

import eutectic.core as mx
from eutectic.tracing import native

total = mx.array([0.0])


@pytest.fixture(params=["native", "python"], autouse=True)
def path(request, monkeypatch):
    """Every test runs with the native call and without it."""
    if request.param == "python":
        monkeypatch.setattr(native, "run", lambda: None)


def one(value=1.0):
    return mx.array([float(value)])


def test_an_optimizer_that_makes_new_arrays():
    class Optimizer:
        def __init__(self):
            self.step, self.moments = mx.array(0), {}

        def update(self, w, g):
            self.step = self.step + 1
            self.moments["m"] = self.moments.get("m", mx.zeros_like(w)) * 0.5 + g
            return w - self.moments["m"] * self.step

    plain, compiled = Optimizer(), Optimizer()
    f = mx.compile(lambda w, g: compiled.update(w, g))
    w, v = one(), one()
    for k in range(6):
        w, v = plain.update(w, one()), f(v, one())
        assert w.item() == v.item() and compiled.step.item() == k + 1
    assert compiled.moments["m"].item() == plain.moments["m"].item()
    assert f.stats.traces == 2


def test_a_global_and_a_closure_cell():
    global total
    total, last = one(0.0), one(0.0)

    def step(x):
        global total
        nonlocal last
        total = total + x
        last = x * 2
        return total * 1

    f = mx.compile(step)
    assert [f(one(k)).item() for k in (1, 2, 3, 4)] == [1, 3, 6, 10]
    assert total.item() == 10 and last.item() == 8 and f.stats.traces == 1


def test_containers_that_grow_and_nested_new_ones():
    log, state = [], {"a": {"w": one()}}

    def step(x):
        log.append(x + 1)
        state["a"]["w"] = state["a"]["w"] + x
        state["b"] = [{"v": x * 3}, None]
        return x

    f = mx.compile(step)
    for k in range(5):
        f(one(k))
        assert [v.item() for v in log] == [j + 1 for j in range(k + 1)]
        assert state["b"][0]["v"].item() == 3 * k and state["b"][1] is None
    assert state["a"]["w"].item() == 11


def test_keys_that_go_away():
    state = {"w": one(), "tmp": one()}

    def step(x):
        state["w"] = state["w"] + x
        state.pop("tmp", None)
        return state["w"] + 0

    f = mx.compile(step)
    assert [f(one()).item() for _ in range(4)] == [2, 3, 4, 5]
    assert list(state) == ["w"]


def test_an_exception_leaves_no_placeholders():
    class Model:
        def __init__(self):
            self.w, self.cache, self.fail = one(), {}, True

        def __call__(self, x):
            self.cache["x"] = x * 2
            self.w = self.w + x
            if self.fail:
                raise KeyError("in mid-trace")
            return self.w + 0

    m = Model()
    f = mx.compile(m)
    w = m.w
    for _ in range(3):
        with pytest.raises(KeyError):
            f(one())
        assert m.w is w and m.cache == {}
    m.fail = False
    assert [f(one()).item() for _ in range(4)] == [2, 3, 4, 5]
    assert m.cache["x"].item() == 2


def test_counters_beside_arrays_are_exact():
    class Optimizer:
        def __init__(self):
            self.t, self.m = 0, one(0.0)

        def __call__(self, g):
            self.t += 1
            self.m = self.m + g / self.t
            return self.m + 0

    plain, compiled = Optimizer(), Optimizer()
    f = mx.compile(compiled)
    for _ in range(6):
        assert plain(one()).item() == f(one()).item()
    assert compiled.t == plain.t == 6


def test_a_cached_constant_is_kept():
    cache = {}

    def step(x):
        if "mask" not in cache:
            cache["mask"] = mx.array([2.0])
        return x * cache["mask"]

    f = mx.compile(step)
    assert [f(one(k)).item() for k in range(4)] == [0, 2, 4, 6]
    assert cache["mask"].item() == 2


@pytest.mark.parametrize("declared", [False, True])
def test_a_new_state_that_keeps_arrays_of_the_old_one(declared):
    """A dict made anew holds what the function did not touch, under its name or another."""
    class Holder:
        def __init__(self):
            self.state = {"rate": one(0.5), "old": one(7), "deep": [{"w": one(1)}]}

        def step(self, x):
            s = self.state
            w = s["deep"][0]["w"] * s["rate"] + x
            self.state = {"rate": s["rate"], "new": s.get("old", s.get("new")), "deep": [{"w": w}]}
            return w

    plain, compiled = Holder(), Holder()
    listed = [compiled.state] if declared else None
    f = mx.compile(compiled.step, inputs=listed, outputs=listed)
    for _ in range(4):
        before = compiled.state
        assert f(one()).item() == plain.step(one()).item()
        assert compiled.state is not before
        assert sorted(compiled.state) == ["deep", "new", "rate"]
        assert compiled.state["rate"] is before["rate"] and compiled.state["new"].item() == 7


@pytest.mark.parametrize("declared", [False, True])
def test_arrays_that_change_places(declared):
    state = {"a": one(1), "b": one(2)}

    def swap():
        state["a"], state["b"] = state["b"], state["a"]

    f = mx.compile(swap, inputs=state, outputs=state) if declared else mx.compile(swap)
    for a, b in [(2, 1), (1, 2), (2, 1)]:
        f()
        assert (state["a"].item(), state["b"].item()) == (a, b)
