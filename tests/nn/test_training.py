"""Training under `compile`: the bits of plain training, however state is declared; its failures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
import eutectic.nn as nn
import eutectic.optimizers as opt
from eutectic.tracing import native
from eutectic.utils import tree_flatten

STEPS = 6
RNG = np.random.default_rng(0)


def normal(*shape: int) -> mx.array:
    return mx.array(RNG.standard_normal(shape).astype(np.float32))


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(16, 4)]
        self.dropout = nn.Dropout(0.2)

    def __call__(self, x: mx.array) -> mx.array:
        for layer in self.layers[:-1]:
            x = self.dropout(nn.gelu(layer(x)))
        return self.layers[-1](x)


class Attentive(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.position = nn.SinusoidalPositionalEncoding(8)
        self.encoder = nn.TransformerEncoder(2, 8, 2, dropout=0.1, activation=nn.silu)
        self.out = nn.Linear(8, 4)

    def __call__(self, x: mx.array) -> mx.array:
        mask = nn.MultiHeadAttention.create_additive_causal_mask(x.shape[1])
        h = self.embedding(x) + self.position(mx.arange(x.shape[1]))
        return self.out(self.encoder(h, mask)).mean(axis=1)


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm(4), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(4, 6, 3), nn.GroupNorm(2, 6), nn.SiLU(), nn.Dropout2d(0.2))
        self.out = nn.Linear(6, 4)

    def __call__(self, x: mx.array) -> mx.array:
        return self.out(self.body(x).mean(axis=(1, 2)))


LABELS = mx.array(RNG.integers(0, 4, 12).astype(np.int32))
MODELS: dict[str, tuple[Callable[[], nn.Module], mx.array]] = {
    "mlp": (MLP, normal(12, 8)),
    "transformer": (Attentive, mx.array(RNG.integers(0, 11, (12, 5)).astype(np.int32))),
    "convolutions": (Convolutional, normal(12, 8, 8, 2)),
}
OPTIMIZERS: dict[str, Callable[[], opt.Optimizer]] = {
    "mlp": lambda: opt.AdamW(opt.join_schedules(
        [opt.linear_schedule(0.0, 1e-2, 3), opt.cosine_decay(1e-2, 20)], [3])),
    "transformer": lambda: opt.MultiOptimizer(
        [opt.Muon(0.01), opt.Adam(opt.cosine_decay(1e-2, 20))],
        [lambda path, g: g.ndim == 2 and "encoder" in path]),
    "convolutions": lambda: opt.SGD(opt.exponential_decay(0.1, 0.9), momentum=0.9),
}


class Training:
    """A model, an optimizer, and a step of them, compiled in one of the ways or not."""

    def __init__(self, name: str, way: str) -> None:
        mx.random.seed(0)
        make, self.x = MODELS[name]
        self.model, self.optimizer = make(), OPTIMIZERS[name]()
        mx.eval(self.model.parameters())
        model, optimizer = self.model, self.optimizer
        failing: list[Exception] = []

        def loss(x: mx.array, y: mx.array) -> mx.array:
            return nn.losses.cross_entropy(model(x), y, reduction="mean")

        def step(x: mx.array, y: mx.array) -> mx.array:
            value, grads = nn.value_and_grad(model, loss)(x, y)
            grads, _ = opt.clip_grad_norm(grads, 1.0)
            optimizer.update(model, grads)
            for error in failing:
                raise error
            return value

        state = [model.state, optimizer.state, mx.random.state]
        options: dict[str, Any] = {
            "declared": dict(inputs=state, outputs=state), "captured": {},
            "without random": dict(inputs=state[:2], outputs=state[:2]),
            "model only": dict(inputs=state[0], outputs=state[0])}
        self.failing = failing
        self.step: Any = step if way == "plain" else mx.compile(step, **options[way])

    def run(self, steps: int = STEPS) -> list[float]:
        found = []
        for _ in range(steps):
            value = self.step(self.x, LABELS)
            mx.eval(value, self.model.state, self.optimizer.state)
            found.append(value.item())
        return found

    def arrays(self) -> dict[str, bytes]:
        flat = tree_flatten([self.model, self.optimizer.state])
        return {path: bytes(x) for path, x in flat if isinstance(x, mx.array)}


@pytest.fixture(scope="module")
def plain() -> dict[str, tuple[list[float], dict[str, bytes]]]:
    found = {}
    for name in MODELS:
        t = Training(name, "plain")
        found[name] = t.run(), t.arrays()
    return found


@pytest.mark.parametrize("way", ["declared", "captured", "without random", "model only"])
@pytest.mark.parametrize("name", MODELS)
def test_compiled_training_has_the_bits_of_plain_training(
        plain: dict[str, Any], name: str, way: str) -> None:
    t = Training(name, way)
    losses, arrays = plain[name]
    assert t.run() == losses
    assert t.arrays() == arrays
    assert losses[-1] < losses[0]
    assert t.step.stats.traces <= 2  # one more for the state of the optimizer
    if native.load() is not None:
        record = t.step.entries()[-1].native
        assert record is not None and record.finish is None, "state is written in the native call"


def test_the_state_of_the_optimizer_may_exist_already(plain: dict[str, Any]) -> None:
    t = Training("mlp", "declared")
    t.optimizer.init(t.model.trainable_parameters())
    assert t.run() == plain["mlp"][0]
    assert t.step.stats.traces == 1


# ---- modes, freezing, randomness ----------------------------------------------------------------


@pytest.mark.parametrize("given", ["captured", "declared", "argument"])
def test_modes_are_seen(given: str) -> None:
    mx.random.seed(0)
    model, x = MLP(), normal(5, 8)
    if given == "argument":
        called = mx.compile(lambda m, x: m(x))
        f = partial(called, model)
    else:
        f = mx.compile(lambda x: model(x), inputs=model.state if given == "declared" else None)
    wanted = model.eval()(x)
    for _ in range(3):
        assert mx.array_equal(f(x), wanted)
    model.train()
    noisy = [f(x) for _ in range(3)]
    assert all(not mx.array_equal(y, wanted) for y in noisy)
    assert not mx.array_equal(noisy[0], noisy[1])
    model.eval()
    assert mx.array_equal(f(x), wanted)


def test_dropout_draws_anew_and_can_be_repeated() -> None:
    layer = nn.Dropout(0.5)
    f = mx.compile(lambda x: layer(x))
    x = mx.ones(200)
    mx.random.seed(1)
    first = [f(x).tolist() for _ in range(4)]
    assert len({tuple(y) for y in first}) == 4
    mx.random.seed(1)
    assert [f(x).tolist() for _ in range(4)] == first
    mx.random.seed(1)
    assert [layer(x).tolist() for _ in range(4)] == first


def test_freezing_is_seen() -> None:
    t = Training("mlp", "captured")
    t.run(3)
    t.model.layers[0].freeze()
    before = bytes(t.model.layers[0].weight), bytes(t.model.layers[1].weight)
    t.run(3)
    after = bytes(t.model.layers[0].weight), bytes(t.model.layers[1].weight)
    assert before[0] == after[0] and before[1] != after[1]
    t.model.unfreeze()
    t.run(1)
    assert bytes(t.model.layers[0].weight) != after[0]


def test_attributes_and_layers_that_change_are_seen() -> None:
    model, x = nn.Sequential(nn.LayerNorm(3), nn.LeakyReLU(0.5)), normal(2, 3)
    f = mx.compile(lambda x: model(x))
    for change in (lambda: None, lambda: setattr(model.layers[0], "eps", 0.5),
                   lambda: setattr(model.layers[1], "_negative_slope", 0.1),
                   lambda: model.layers.append(nn.Linear(3, 2)),
                   lambda: model.update_modules({"layers": [{}, nn.Tanh()]}),
                   lambda: model.layers[2].update({"weight": mx.ones((2, 3))}),
                   lambda: model.set_dtype(mx.float16)):
        change()
        for _ in range(3):
            assert mx.array_equal(f(x), model(x))


# ---- failures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["declared", "captured"])
@pytest.mark.parametrize("at", [0, 1, 3])
def test_an_exception_leaves_model_and_optimizer_as_they_were(
        plain: dict[str, Any], way: str, at: int) -> None:
    t = Training("mlp", way)
    losses = t.run(at)
    before, key = t.arrays(), mx.random.state[0].tolist()
    t.failing.append(ValueError("in the middle"))
    if at == 3:  # a new signature, so that the function runs again
        t.optimizer.betas[0] = 0.8
    for _ in range(2):
        with pytest.raises(ValueError, match="in the middle"):
            t.step(t.x, LABELS)
        assert t.arrays() == before and mx.random.state[0].tolist() == key
    t.failing.clear()
    t.optimizer.betas[0] = 0.9
    assert losses + t.run(STEPS - at) == plain["mlp"][0]


# ---- modules as functions, arguments and owners of compiled methods -----------------------------


def test_compiled_modules_and_methods() -> None:
    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(3, 2)

        @mx.compile
        def __call__(self, x: mx.array) -> mx.array:
            return nn.gelu(self.inner(x))

    x = normal(4, 3)
    own = Own()
    for _ in range(3):
        assert mx.array_equal(own(x), nn.gelu(own.inner(x)))
    own.inner.weight = own.inner.weight * 2
    assert mx.array_equal(own(x), nn.gelu(own.inner(x)))
    for inner in (mx.compile(own.inner), mx.compile(own.inner.__call__)):
        for _ in range(3):
            assert mx.array_equal(inner(x), own.inner(x))
        own.inner.bias = own.inner.bias + 1
        assert mx.array_equal(inner(x), own.inner(x))


def test_modules_as_arguments() -> None:
    """Their arrays are inputs; attributes are a part of the signature, and stay with them."""
    model, x = nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2)), normal(4, 3)
    f: Any = mx.compile(lambda model, x: model(x))

    for _ in range(4):
        assert mx.array_equal(f(model, x), model(x))
    model.layers[0].weight = model.layers[0].weight + 1
    assert mx.array_equal(f(model, x), model(x)) and f.stats.traces == 1
    if native.load() is not None:
        assert f.entries()[0].native is not None
    model.layers[1].eps = 0.5
    assert mx.array_equal(f(model, x), model(x)) and f.stats.traces == 2
    grads = mx.grad(lambda m: m(x).sum())(model)
    assert type(grads) is nn.Sequential and grads.layers[1].eps == 0.5
    wanted = nn.value_and_grad(model, lambda: model(x).sum())()[1]
    assert mx.array_equal(grads.layers[0].weight, wanted["layers"][0]["weight"])


def test_evaluation_of_modules_and_states() -> None:
    model, optimizer = MLP(), opt.Adam(0.1)
    mx.eval(model, model.state, optimizer.state, [model, {"o": optimizer.state}])
    assert model.training
