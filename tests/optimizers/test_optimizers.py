"""Optimizers over 20 steps against their formulas in NumPy; state, schedules, several at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
import eutectic.nn as nn
import eutectic.optimizers as opt
from eutectic.errors import ArgumentError
from eutectic.utils import tree_flatten, tree_map

RNG = np.random.default_rng(0)
START = {"a": RNG.standard_normal((3, 4)), "b": RNG.standard_normal(5)}
NOISE = RNG.standard_normal((20, 5))
Arrays = dict[str, np.ndarray]


def gradients(step: int, params: Any) -> Any:
    """Of a bowl, with noise."""
    noise = NOISE[step].astype(np.float32)
    return {"a": params["a"] * 2, "b": params["b"] + 0.1 * (
        mx.array(noise) if isinstance(params["b"], mx.array) else noise)}


# ---- the formulas, in float64: step(t, w, g, s) gives the new parameter; s is its state ---------


def sgd(rate: Callable[[int], float], momentum: float = 0, decay: float = 0, dampening: float = 0,
        nesterov: bool = False) -> Any:
    def step(t: int, w: np.ndarray, g: np.ndarray, s: Arrays) -> np.ndarray:
        g = g + decay * w
        if momentum:
            s["v"] = momentum * s.get("v", np.zeros_like(w)) + (1 - dampening) * g
            g = g + momentum * s["v"] if nesterov else s["v"]
        return w - rate(t) * g
    return step


def adam(rate: Callable[[int], float], b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8,
         correct: bool = False, decay: float = 0.0, largest: bool = False) -> Any:
    def step(t: int, w: np.ndarray, g: np.ndarray, s: Arrays) -> np.ndarray:
        zero = np.zeros_like(w)
        w = w * (1 - rate(t) * decay)
        m = s["m"] = b1 * s.get("m", zero) + (1 - b1) * g
        if largest:
            v = s["v"] = np.maximum(b2 * s.get("v", zero), np.abs(g))
            return w - rate(t) * m / (v + eps)
        v = s["v"] = b2 * s.get("v", zero) + (1 - b2) * g * g
        if correct:
            m, v = m / (1 - b1 ** (t + 1)), v / (1 - b2 ** (t + 1))
        return w - rate(t) * m / (np.sqrt(v) + eps)
    return step


def rmsprop(rate: float, alpha: float, eps: float) -> Any:
    def step(t: int, w: np.ndarray, g: np.ndarray, s: Arrays) -> np.ndarray:
        s["v"] = alpha * s.get("v", np.zeros_like(w)) + (1 - alpha) * g * g
        return w - rate * g / (np.sqrt(s["v"]) + eps)
    return step


def adagrad(rate: float, eps: float = 1e-8) -> Any:
    def step(t: int, w: np.ndarray, g: np.ndarray, s: Arrays) -> np.ndarray:
        s["v"] = s.get("v", np.zeros_like(w)) + g * g
        return w - rate * g / (np.sqrt(s["v"]) + eps)
    return step


def adadelta(rate: float, rho: float, eps: float) -> Any:
    def step(t: int, w: np.ndarray, g: np.ndarray, s: Arrays) -> np.ndarray:
        zero = np.zeros_like(w)
        s["v"] = rho * s.get("v", zero) + (1 - rho) * g * g
        u = s.get("u", zero)
        d = g * np.sqrt(u + eps) / np.sqrt(s["v"] + eps)
        s["u"] = rho * u + (1 - rho) * d * d
        return w - rate * d
    return step


def lion(rate: float, b1: float, b2: float, decay: float) -> Any:
    def step(t: int, w: np.ndarray, g: np.ndarray, s: Arrays) -> np.ndarray:
        m = s.get("m", np.zeros_like(w))
        s["m"] = b2 * m + (1 - b2) * g
        return w * (1 - rate * decay) - rate * np.sign(b1 * m + (1 - b1) * g)
    return step


def rms(x: np.ndarray) -> Any:
    return np.sqrt(np.mean(x * x))


def adafactor(rate: float | None = None, clip: float = 1.0, power: float = -0.8,
              b1: float | None = None, decay: float = 0.0, scale: bool = True,
              warmup: bool = False) -> Any:
    def step(t: int, w: np.ndarray, g: np.ndarray, s: Arrays) -> np.ndarray:
        n = t + 1
        r = min(1e-6 * n if warmup else 1e-2, n ** -0.5) if rate is None else rate
        r = r * max(1e-3, rms(w)) if scale else r
        b2 = 1 - n ** power
        square = g * g + 1e-30
        if w.ndim == 2:
            row = s["exp_avg_sq_row"] = b2 * s.get("exp_avg_sq_row", 0) + (1 - b2) * square.mean(-1)
            col = s["exp_avg_sq_col"] = b2 * s.get("exp_avg_sq_col", 0) + (1 - b2) * square.mean(-2)
            u = g / np.sqrt(np.outer(row, col) / row.mean())
        else:
            s["exp_avg_sq"] = b2 * s.get("exp_avg_sq", 0) + (1 - b2) * square
            u = g / np.sqrt(s["exp_avg_sq"])
        u = r * u / max(1.0, rms(u) / clip)
        if b1 is not None:
            u = s["exp_avg"] = b1 * s.get("exp_avg", 0) + (1 - b1) * u
        return w * (1 - decay * r) - u
    return step


def muon(rate: float, momentum: float, decay: float, nesterov: bool, steps: int) -> Any:
    def step(t: int, w: np.ndarray, g: np.ndarray, s: Arrays) -> np.ndarray:
        g = g + decay * w
        v = s["v"] = momentum * s.get("v", np.zeros_like(w)) + (1 - momentum) * g
        u = momentum * v + (1 - momentum) * g if nesterov else v
        if u.ndim < 2:
            return w - rate * u
        # The iteration is a polynomial of the singular values.
        left, sigma, right = np.linalg.svd(u, full_matrices=False)
        sigma = sigma / (np.sqrt((u * u).sum()) + 1e-7)
        for _ in range(steps):
            sigma = 3.4445 * sigma - 4.7750 * sigma ** 3 + 2.0315 * sigma ** 5
        return w - rate * math.sqrt(max(1, w.shape[0] / w.shape[1])) * (left * sigma) @ right
    return step


def always(x: float) -> Callable[[int], float]:
    return lambda t: x


def half_wave(t: int) -> float:
    return 0.05 * (1 + math.cos(math.pi * min(t, 15) / 15))


CASES: list[tuple[Callable[[], opt.Optimizer], Any]] = [
    (lambda: opt.SGD(0.1), sgd(always(0.1))),
    (lambda: opt.SGD(0.1, 0.9, 0.01, 0.3), sgd(always(0.1), 0.9, 0.01, 0.3)),
    (lambda: opt.SGD(0.05, 0.9, 0.01, nesterov=True), sgd(always(0.05), 0.9, 0.01, 0, True)),
    (lambda: opt.SGD(opt.linear_schedule(0.1, 0.01, 12), 0.5),
     sgd(lambda t: 0.1 - 0.09 * min(t, 12) / 12, 0.5)),
    (lambda: opt.RMSprop(0.01, 0.9, 1e-3), rmsprop(0.01, 0.9, 1e-3)),
    (lambda: opt.Adagrad(0.1), adagrad(0.1)),
    (lambda: opt.AdaDelta(0.5, 0.8, 1e-3), adadelta(0.5, 0.8, 1e-3)),
    (lambda: opt.Adam(0.01), adam(always(0.01))),
    (lambda: opt.Adam(0.01, [0.8, 0.9], 1e-3, True), adam(always(0.01), 0.8, 0.9, 1e-3, True)),
    (lambda: opt.Adam(opt.cosine_decay(0.1, 15), bias_correction=True),
     adam(half_wave, correct=True)),
    (lambda: opt.AdamW(0.01, weight_decay=0.3), adam(always(0.01), decay=0.3)),
    (lambda: opt.AdamW(0.01, bias_correction=True), adam(always(0.01), correct=True, decay=0.01)),
    (lambda: opt.Adamax(0.01), adam(always(0.01), largest=True)),
    (lambda: opt.Lion(0.01, [0.8, 0.9], 0.1), lion(0.01, 0.8, 0.9, 0.1)),
    (lambda: opt.Adafactor(), adafactor()),
    (lambda: opt.Adafactor(0.01, relative_step=False), adafactor(0.01)),
    (lambda: opt.Adafactor(beta_1=0.9, weight_decay=0.01, warmup_init=True),
     adafactor(b1=0.9, decay=0.01, warmup=True)),
    (lambda: opt.Adafactor(scale_parameter=False, clip_threshold=0.5, decay_rate=-0.5),
     adafactor(scale=False, clip=0.5, power=-0.5)),
    (lambda: opt.Muon(0.01, 0.9, 0.1, True, 5), muon(0.01, 0.9, 0.1, True, 5)),
    (lambda: opt.Muon(0.01, 0.8, 0.0, False, 3), muon(0.01, 0.8, 0.0, False, 3)),
]


@pytest.mark.parametrize("case", range(len(CASES)),
                         ids=lambda i: f"{type(CASES[i][0]()).__name__}-{i}")
def test_twenty_steps(case: int) -> None:
    make, step = CASES[case]
    optimizer = make()
    ours = {k: mx.array(v.astype(np.float32)) for k, v in START.items()}
    wanted = {k: v.copy() for k, v in START.items()}
    states: dict[str, Arrays] = {k: {} for k in wanted}
    for t in range(20):
        ours = optimizer.apply_gradients(gradients(t, ours), ours)
        g = gradients(t, wanted)
        wanted = {k: step(t, w, g[k], states[k]) for k, w in wanted.items()}
    assert optimizer.step.item() == 20
    for k, w in wanted.items():
        assert np.allclose(np.array(ours[k]), w, rtol=2e-5, atol=2e-5), k
        for name, x in states[k].items():
            assert np.allclose(np.array(optimizer.state[k][name]), x, rtol=1e-4, atol=1e-5), name
    # The same steps, compiled: the same bits.
    optimizer = make()
    other = {k: mx.array(v.astype(np.float32)) for k, v in START.items()}
    compiled = mx.compile(optimizer.apply_gradients)
    for t in range(20):
        other = compiled(gradients(t, other), other)
    assert all(mx.array_equal(other[k], ours[k]) for k in ours)


# ---- state --------------------------------------------------------------------------------------


LAYOUT = {
    "SGD": ["v"], "RMSprop": ["v"], "Adagrad": ["v"], "AdaDelta": ["u", "v"], "Adam": ["m", "v"],
    "AdamW": ["m", "v"], "Adamax": ["m", "v"], "Lion": ["m"], "Muon": ["v"],
    "Adafactor": ["exp_avg_sq_col", "exp_avg_sq_row"]}


@pytest.mark.parametrize("name", LAYOUT)
@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16], ids=str)
def test_state(name: str, dtype: mx.Dtype) -> None:
    optimizer = getattr(opt, name)(learning_rate=0.1)
    assert list(optimizer.state) == ["step", "learning_rate"]
    assert optimizer.step.dtype == mx.uint64 and optimizer.learning_rate.dtype == mx.float32
    params = {"w": mx.ones((3, 4), dtype), "l": [mx.ones(3, dtype)]}
    new = optimizer.apply_gradients(params, params)
    assert sorted(optimizer.state["w"]) == LAYOUT[name]
    assert isinstance(optimizer.state["l"], list)
    for tree in (new, optimizer.state["w"], optimizer.state["l"]):
        assert {x.dtype for _, x in tree_flatten(tree)} == {dtype}


def test_init_adds_what_is_new() -> None:
    optimizer = opt.SGD(0.1, momentum=0.9)
    optimizer.init({"a": [mx.zeros(1), {"b": mx.zeros(2)}], "t": (mx.zeros(2),)})
    first = optimizer.state["a"][0]["v"]
    optimizer.init({"a": [mx.zeros(1), {"b": mx.zeros(2), "c": mx.zeros(7)}, mx.zeros(3)]})
    shapes = tree_map(lambda x: x.shape, {k: optimizer.state[k] for k in ("a", "t")})
    assert shapes == {"a": [{"v": (1,)}, {"b": {"v": (2,)}, "c": {"v": (7,)}}, {"v": (3,)}],
                      "t": ({"v": (2,)},)}
    assert optimizer.state["a"][0]["v"] is first


def test_gradients_of_a_part() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    optimizer = opt.Adam(0.1)
    bias = model.layers[1].bias
    optimizer.update(model, {"layers": [{"weight": mx.ones((2, 2))}, {}]})
    assert model.layers[1].bias is bias and optimizer.state["layers"][1] == {}
    optimizer.update(model, {"layers": [{"weight": mx.ones((2, 2))}, {"bias": mx.ones(1)}]})
    assert sorted(optimizer.state["layers"][1]["bias"]) == ["m", "v"]
    with pytest.raises(KeyError):
        optimizer.apply_gradients({"q": mx.ones(1)}, {"w": mx.ones(1)})


def test_state_can_be_restored() -> None:
    params = {"w": mx.ones(3)}
    a, b = opt.Adam(0.1), opt.Adam(0.3)
    a.apply_gradients(params, params)
    flat = tree_flatten(a.state, destination={})
    assert sorted(flat) == ["learning_rate", "step", "w.m", "w.v"]
    b.state = opt.tree_unflatten(flat)
    assert mx.array_equal(a.apply_gradients(params, params)["w"],
                          b.apply_gradients(params, params)["w"])
    assert b.step.item() == 2


def test_learning_rate() -> None:
    optimizer = opt.Adam(lambda step: 0.1 * step)
    params = {"w": mx.ones(3)}
    rates = []
    for _ in range(3):
        optimizer.apply_gradients(params, params)
        rates.append(optimizer.learning_rate.item())
    assert np.allclose(rates, [0, 0.1, 0.2])
    plain = opt.SGD(0.1)
    plain.learning_rate = 0.5
    assert plain.learning_rate.tolist() == 0.5
    assert opt.SGD(mx.array(0.1, mx.float16)).learning_rate.dtype == mx.float16
    assert "learning_rate" not in opt.Adafactor().state


def test_base_class() -> None:
    for action in (lambda o: o.init({"w": mx.ones(1)}),
                   lambda o: o.apply_single(mx.ones(1), mx.ones(1), {})):
        with pytest.raises(NotImplementedError, match=r"\[Optimizer\] Optimizer defines no"):
            action(opt.Optimizer())


def test_schedulers_of_other_names() -> None:
    class Own(opt.Optimizer):
        def __init__(self) -> None:
            super().__init__({"force": lambda step: step * 2.0})

        def init_single(self, parameter: mx.array, state: dict[str, Any]) -> None:
            state["seen"] = mx.zeros(())

        def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict[str, Any]
                         ) -> mx.array:
            return parameter - self.state["force"] * gradient

    own = Own()
    params = {"w": mx.array([1.0])}
    for wanted in (1.0, -1.0, -5.0):
        params = own.apply_gradients({"w": mx.array([1.0])}, params)
        assert params["w"].item() == wanted


# ---- several optimizers, clipping, schedules ----------------------------------------------------


def test_multi_optimizer() -> None:
    optimizer = opt.MultiOptimizer([opt.Adam(0.1), opt.SGD(0.2)], [lambda path, g: g.ndim > 1])
    params = {"l": {"w": mx.ones((2, 2)), "b": mx.ones(2)}, "z": [mx.ones(2), mx.ones((1, 2))]}
    optimizer.init(params)
    adam_state, sgd_state = optimizer.state["states"]
    assert sorted(adam_state["l"]) == ["w"] and sorted(sgd_state["l"]) == ["b"]
    new = optimizer.apply_gradients(params, params)
    assert tree_map(lambda x: x.shape, new) == tree_map(lambda x: x.shape, params)
    assert np.allclose(np.array(new["l"]["b"]), 0.8) and np.allclose(np.array(new["z"][0]), 0.8)
    alone = opt.Adam(0.1).apply_gradients({"w": mx.ones((2, 2))}, {"w": mx.ones((2, 2))})["w"]
    assert mx.array_equal(new["l"]["w"], alone)
    optimizer.learning_rate = 0.7
    assert [o.learning_rate.item() for o in optimizer.optimizers] == [pytest.approx(0.7)] * 2
    other = opt.MultiOptimizer([opt.Adam(0.1), opt.SGD(0.2)], [lambda path, g: g.ndim > 1])
    other.state = optimizer.state
    assert other.optimizers[1].state is optimizer.optimizers[1].state
    with pytest.raises(ArgumentError, match=r"\[MultiOptimizer\] the state must hold 2 states"):
        optimizer.state = {"states": []}
    with pytest.raises(ArgumentError, match="1 optimizers need 0 filters, got 1"):
        opt.MultiOptimizer([opt.Adam(0.1)], [lambda path, g: True])


def test_clip_grad_norm() -> None:
    grads = {"a": mx.array([3.0, 4.0]), "b": [mx.array([12.0])]}
    clipped, norm = opt.clip_grad_norm(grads, 1.0)
    assert norm.item() == 13 and np.allclose(np.array(clipped["b"][0]), 12 / 13, rtol=1e-6)
    assert mx.array_equal(opt.clip_grad_norm(grads, 20.0)[0]["a"], grads["a"])
    halves, norm = opt.clip_grad_norm({"a": mx.array([300.0, 400.0], mx.float16)}, 1.0)
    assert halves["a"].dtype == mx.float16 and norm.item() == 500
    assert opt.clip_grad_norm({}, 1.0)[0] == {}


@pytest.mark.parametrize(("schedule", "formula"), [
    (opt.exponential_decay(0.1, 0.9), lambda t: 0.1 * 0.9 ** t),
    (opt.step_decay(0.1, 0.5, 10), lambda t: 0.1 * 0.5 ** (t // 10)),
    (opt.cosine_decay(0.1, 100, 0.01),
     lambda t: 0.01 + 0.09 * (1 + math.cos(math.pi * min(t, 100) / 100)) / 2),
    (opt.linear_schedule(0.3, 0.1, 100), lambda t: 0.3 - 0.2 * min(t, 100) / 100),
    (opt.join_schedules([opt.linear_schedule(0, 0.1, 10), opt.cosine_decay(0.1, 200),
                         opt.step_decay(1.0, 0.5, 3)], [10, 40]),
     lambda t: 0.1 * t / 10 if t < 10 else 0.05 * (1 + math.cos(math.pi * (t - 10) / 200))
     if t < 40 else 0.5 ** ((t - 40) // 3)),
])
def test_schedules(schedule: Any, formula: Callable[[int], float]) -> None:
    compiled = mx.compile(schedule)
    for t in (0, 1, 5, 9, 10, 11, 39, 40, 43, 120):
        for step in (t, mx.array(t, mx.uint64)):
            assert float(schedule(step)) == pytest.approx(formula(t), rel=2e-6, abs=1e-9)
        assert mx.array_equal(compiled(mx.array(t, mx.uint64)), schedule(mx.array(t, mx.uint64)))


@pytest.mark.parametrize(("action", "text"), [
    (lambda: opt.SGD(0.1, nesterov=True), r"\[SGD\] nesterov needs momentum, and no dampening."),
    (lambda: opt.SGD(0.1, 0.9, dampening=0.1, nesterov=True), r"\[SGD\] nesterov needs"),
    (lambda: opt.RMSprop(0.1, alpha=-1), r"\[RMSprop\] alpha must be at least 0, got -1."),
    (lambda: opt.AdaDelta(0.1, eps=-1), r"\[AdaDelta\] eps must be at least 0, got -1."),
    (lambda: opt.Adam(0.1, eps=-1), r"\[Adam\] eps must be at least 0, got -1."),
    (lambda: opt.linear_schedule(0, 1, 0), r"\[linear_schedule\] steps must be at least 1, got 0."),
    (lambda: opt.join_schedules([], []), r"\[join_schedules\] there must be at least one"),
    (lambda: opt.join_schedules([opt.cosine_decay(1, 2)], [3]), r"1 schedules need 0 boundaries"),
])
def test_refusals(action: Callable[[], Any], text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        action()
