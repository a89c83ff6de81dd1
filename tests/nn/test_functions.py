"""Activations, losses and initializers against their formulas in NumPy, in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import eutectic.core as mx
import eutectic.nn as nn
from eutectic.errors import ArgumentError, EutecticError, ShapeError
from eutectic.nn import init, losses

X = np.concatenate([np.linspace(-8, 8, 101), [0.0]]).astype(np.float32)
RNG = np.random.default_rng(0)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(x, 0)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def elu(x: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    return np.where(x > 0, x, alpha * np.expm1(x))


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sigmoid": sigmoid, "relu": lambda x: np.maximum(x, 0),
    "relu2": lambda x: np.maximum(x, 0) ** 2,
    "relu6": lambda x: np.clip(x, 0, 6), "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": elu, "celu": elu, "softplus": softplus, "softsign": lambda x: x / (1 + np.abs(x)),
    "softshrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
    "silu": lambda x: x * sigmoid(x), "log_sigmoid": lambda x: -softplus(-x),
    "gelu": lambda x: x * special.ndtr(x), "mish": lambda x: x * np.tanh(softplus(x)),
    "gelu_approx": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi)
                                                    * (x + 0.044715 * x ** 3))),
    "gelu_fast_approx": lambda x: x * sigmoid(1.702 * x),
    "step": lambda x: (x >= 0).astype(np.int32), "selu": lambda x: 1.0507 * elu(x, 1.67326),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6, "hard_tanh": lambda x: np.clip(x, -1, 1),
    "hard_shrink": lambda x: np.where(np.abs(x) > 0.5, x, 0), "tanh": np.tanh,
    "softmax": softmax, "softmin": lambda x: softmax(-x),
    "log_softmax": lambda x: x - special.logsumexp(x, -1, keepdims=True),
    "glu": lambda x: x[:51] * sigmoid(x[51:]),
}
MODULES = {"relu": "ReLU", "relu2": "ReLU2", "relu6": "ReLU6", "leaky_relu": "LeakyReLU",
           "elu": "ELU", "celu": "CELU", "silu": "SiLU", "log_sigmoid": "LogSigmoid",
           "gelu": "GELU", "selu": "SELU", "hard_tanh": "HardTanh", "hard_shrink": "HardShrink",
           "log_softmax": "LogSoftmax", "glu": "GLU", "gelu_approx": "gelu_approx",
           "gelu_fast_approx": "gelu_fast_approx"}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    """The function, its module, and the function under compile: the same bits."""
    function = getattr(nn, name)
    found = function(mx.array(X))
    wanted = ACTIVATIONS[name](X.astype(np.float64))
    assert np.allclose(np.array(found), wanted, rtol=2e-6, atol=1e-6)
    module = getattr(nn, MODULES.get(name, name.capitalize()))
    for other in (module() if isinstance(module, type) else module, mx.compile(function),
                  mx.compile(lambda x: function(x))):
        assert mx.array_equal(other(mx.array(X)), found)
    mx.disable_compile()
    try:
        assert mx.array_equal(function(mx.array(X)), found)
    finally:
        mx.enable_compile()


def test_activations_with_parameters() -> None:
    x, y = mx.array(X), X.astype(np.float64)
    for found, wanted in (
            (nn.LeakyReLU(0.3)(x), np.where(y > 0, y, 0.3 * y)), (nn.ELU(0.3)(x), elu(y, 0.3)),
            (nn.CELU(0.3)(x), np.where(y > 0, y, 0.3 * np.expm1(y / 0.3))),
            (nn.Step(1.5)(x), y >= 1.5), (nn.HardShrink(2.0)(x), np.where(np.abs(y) > 2, y, 0)),
            (nn.Softshrink(2.0)(x), np.sign(y) * np.maximum(np.abs(y) - 2, 0)),
            (nn.hard_tanh(x, -0.5, 2.0), np.clip(y, -0.5, 2.0)),
            (nn.PReLU(init=0.1)(x), np.where(y > 0, y, 0.1 * y)),
            (nn.GELU("precise")(x), ACTIVATIONS["gelu_approx"](y)),
            (nn.GELU("tanh")(x), ACTIVATIONS["gelu_approx"](y)),
            (nn.GELU("fast")(x), ACTIVATIONS["gelu_fast_approx"](y)),
            (nn.softmax(x.reshape(2, 51), axis=0), softmax(y.reshape(2, 51).T).T),
            (nn.log_softmax(x.reshape(2, 51), axis=0), np.log(softmax(y.reshape(2, 51).T)).T),
            (nn.GLU(0)(x.reshape(2, 51)), (y[:51] * sigmoid(y[51:]))[None])):
        assert np.allclose(np.array(found), wanted, rtol=2e-6, atol=1e-6)
    assert nn.PReLU(3).weight.tolist() == [0.25] * 3


@pytest.mark.parametrize("name", [n for n in ACTIVATIONS if n not in ("step", "glu")])
def test_gradients_of_activations(name: str) -> None:
    """Central differences of the formula, away from kinks."""
    f = ACTIVATIONS[name]
    x = np.array([-7.3, -2.2, -0.8, -0.3, 0.2, 0.7, 1.9, 5.1], np.float32)
    weights = np.arange(1.0, 9.0)
    scale = mx.array(weights, mx.float32)
    got = mx.grad(lambda x: (getattr(nn, name)(x) * scale).sum())(mx.array(x))
    h = 1e-5
    steps = h * np.eye(len(x))
    wanted = [(weights @ f(x + s) - weights @ f(x - s)) / (2 * h) for s in steps]
    assert np.allclose(np.array(got), wanted, rtol=1e-4, atol=1e-5)


def test_dtypes_of_activations() -> None:
    for name in ACTIVATIONS:
        for dtype in (mx.float16, mx.bfloat16):
            out = getattr(nn, name)(mx.array([-1.0, 2.0], dtype))
            assert out.dtype == (mx.int32 if name == "step" else dtype), name
    for name in ("relu6", "elu", "gelu", "softshrink", "hard_tanh", "softplus"):
        assert getattr(nn, name)(mx.array([-1, 2])).dtype == mx.float32, name


# ---- losses -------------------------------------------------------------------------------------


A, B, C = (RNG.standard_normal((4, 3)) for _ in range(3))
LABELS = np.array([0, 2, 1, 1])
LOG_P = A - special.logsumexp(A, -1, keepdims=True)
P = softmax(B)
SIGNS = np.where(B > 0, 1.0, -1.0)


def row_norms(x: np.ndarray, p: int) -> np.ndarray:
    return ((np.abs(x) ** p).sum(-1) + 1e-6) ** (1 / p)


D = np.abs(A - B)
LOSSES: list[tuple[str, tuple[Any, ...], dict[str, Any], np.ndarray]] = [
    ("l1_loss", (A, B), {}, D),
    ("mse_loss", (A, B), {}, D ** 2),
    ("smooth_l1_loss", (A, B), {"beta": 0.7}, np.where(D < 0.7, D ** 2 / 1.4, D - 0.35)),
    ("smooth_l1_loss", (A, B), {"beta": 0.0}, D),
    ("huber_loss", (A, B), {"delta": 0.7}, np.where(D <= 0.7, D ** 2 / 2, 0.7 * (D - 0.35))),
    ("log_cosh_loss", (A, B), {}, np.log(np.cosh(A - B))),
    ("hinge_loss", (A, SIGNS), {}, np.maximum(1 - A * SIGNS, 0)),
    ("kl_div_loss", (LOG_P, np.log(P)), {}, (P * (np.log(P) - LOG_P)).sum(-1)),
    ("nll_loss", (LOG_P, LABELS), {}, -LOG_P[range(4), LABELS]),
    ("nll_loss", (LOG_P.T, LABELS), {"axis": 0}, -LOG_P[range(4), LABELS]),
    ("cross_entropy", (A, LABELS), {}, -LOG_P[range(4), LABELS]),
    ("cross_entropy", (A.T, LABELS), {"axis": 0}, -LOG_P[range(4), LABELS]),
    ("cross_entropy", (A, P), {}, -(P * LOG_P).sum(-1)),
    ("cross_entropy", (A, LABELS, C[:, 0]), {}, -LOG_P[range(4), LABELS] * C[:, 0]),
    ("cross_entropy", (A, LABELS), {"label_smoothing": 0.2},
     -(0.8 * LOG_P[range(4), LABELS] + 0.2 * LOG_P.mean(-1))),
    ("cross_entropy", (A, P), {"label_smoothing": 0.2},
     -((0.8 * P + 0.2 / 3) * LOG_P).sum(-1)),
    ("binary_cross_entropy", (A, P), {}, softplus(A) - A * P),
    ("binary_cross_entropy", (A, P, C), {}, (softplus(A) - A * P) * C),
    ("binary_cross_entropy", (P, sigmoid(A)), {"with_logits": False},
     -(sigmoid(A) * np.log(P) + (1 - sigmoid(A)) * np.log(1 - P))),
    ("gaussian_nll_loss", (A, B, np.abs(C)), {"eps": 0.3},
     0.5 * (np.log(np.maximum(np.abs(C), 0.3)) + (A - B) ** 2 / np.maximum(np.abs(C), 0.3))),
    ("gaussian_nll_loss", (A, B, np.abs(C)), {"full": True, "eps": 0.3},
     0.5 * (np.log(2 * math.pi * np.maximum(np.abs(C), 0.3))
            + (A - B) ** 2 / np.maximum(np.abs(C), 0.3))),
    ("triplet_loss", (A, B, C), {},
     np.maximum(row_norms(A - B, 2) - row_norms(A - C, 2) + 1, 0)),
    ("triplet_loss", (A, B, C), {"p": 3, "margin": 2.0},
     np.maximum(row_norms(A - B, 3) - row_norms(A - C, 3) + 2, 0)),
    ("cosine_similarity_loss", (A, B), {},
     (A * B).sum(-1) / np.sqrt((A ** 2).sum(-1) * (B ** 2).sum(-1))),
    ("margin_ranking_loss", (A, B, SIGNS), {"margin": 0.3},
     np.maximum(-SIGNS * (A - B) + 0.3, 0)),
]


@pytest.mark.parametrize("case", range(len(LOSSES)), ids=lambda i: f"{LOSSES[i][0]}-{i}")
def test_losses(case: int) -> None:
    name, args, options, wanted = LOSSES[case]
    function = getattr(losses, name)
    arrays = [mx.array(a if a.dtype.kind == "i" else a.astype(np.float32)) for a in args]
    for reduction, reduced in (("none", wanted), ("mean", wanted.mean()), ("sum", wanted.sum())):
        found = function(*arrays, **options, reduction=reduction)
        assert np.allclose(np.array(found), reduced, rtol=1e-5, atol=1e-5)
        compiled = mx.compile(lambda *xs, r=reduction: function(*xs, **options, reduction=r))
        assert mx.array_equal(compiled(*arrays), found)


def test_losses_at_the_ends() -> None:
    assert losses.binary_cross_entropy(mx.array([0.0, 1.0]), mx.array([1.0, 0.0]),
                                       with_logits=False, reduction="none").tolist() == [100, 100]
    assert losses.log_cosh_loss(mx.array([1e4]), mx.array([0.0])).item() == pytest.approx(
        1e4 - math.log(2))
    assert losses.cosine_similarity_loss(mx.zeros((2, 3)), mx.ones((2, 3))).tolist() == [0, 0]
    assert losses.cross_entropy(mx.array([[1e4, 0.0]]), mx.array([1])).tolist() == [1e4]
    assert losses.cross_entropy(mx.ones((2, 3), mx.float16), mx.array([0, 1])).dtype == mx.float16


@pytest.mark.parametrize(("action", "kind", "text"), [
    (lambda: losses.l1_loss(mx.ones(2), mx.ones(2), "x"), ArgumentError,  # type: ignore[arg-type]
     r"\[losses\] reduction must be one of none, mean, sum, not 'x'."),
    (lambda: losses.l1_loss(mx.ones(2), mx.ones(3)), ShapeError,
     r"\[l1_loss\] predictions have shape \(2,\), targets \(3,\)."),
    (lambda: losses.cross_entropy(mx.ones((2, 3)), mx.array([1])), ShapeError,
     r"\[cross_entropy\] targets of shape \(1,\) do not fit logits of shape \(2,3\) along axis -1"),
    (lambda: losses.cross_entropy(mx.ones((2, 3)), mx.ones((2, 4))), ShapeError,
     r"\[cross_entropy\] targets of shape \(2,4\) do not fit"),
    (lambda: losses.cross_entropy(mx.ones((2, 3)), mx.array([0, 1]), mx.ones(3)), ShapeError,
     r"\[cross_entropy\] weights have shape \(3,\), the losses \(2,\)."),
    (lambda: losses.cross_entropy(mx.ones((2, 3)), mx.array([0, 1]), label_smoothing=1),
     ArgumentError, r"\[cross_entropy\] label_smoothing must be in \[0, 1\), got 1."),
    (lambda: init.identity()(mx.zeros((2, 3))), ShapeError, r"\[identity\] needs a square matrix"),
    (lambda: init.sparse(0.5)(mx.zeros(3)), ShapeError, r"\[sparse\] needs a matrix, not shape"),
    (lambda: init.orthogonal()(mx.zeros(3)), ShapeError, r"\[orthogonal\] needs a matrix"),
    (lambda: init.he_normal()(mx.zeros(3)), ShapeError, r"\[he_normal\] needs at least two axes"),
    (lambda: init.he_uniform()(mx.zeros((2, 3)), "x"), ArgumentError,
     r"\[he_uniform\] mode must be 'fan_in' or 'fan_out', not 'x'."),
])
def test_refusals(action: Callable[[], Any], kind: type[EutecticError], text: str) -> None:
    with pytest.raises(kind, match=text):
        action()


# ---- initializers -------------------------------------------------------------------------------


SHAPE = (60, 5, 40)
FAN_IN, FAN_OUT = 200, 300


@pytest.mark.parametrize(("make", "args", "std"), [
    (init.normal(2.0, 3.0), (), 3.0), (init.glorot_normal(), (), math.sqrt(2 / 500)),
    (init.glorot_normal(), (2.0,), 2 * math.sqrt(2 / 500)), (init.he_normal(), (), FAN_IN ** -0.5),
    (init.he_normal(), ("fan_out", 2.0), 2 * FAN_OUT ** -0.5),
])
def test_normal_initializers(make: Any, args: tuple[Any, ...], std: float) -> None:
    mx.random.seed(5)
    x = np.array(make(mx.zeros(SHAPE), *args), np.float64)
    mean = 2.0 if std == 3.0 else 0.0
    assert abs(x.mean() - mean) < 5 * std / math.sqrt(x.size)
    assert x.std() == pytest.approx(std, rel=5 / math.sqrt(2 * x.size))
    z = np.sort((x.ravel() - mean) / std)
    assert np.abs(special.ndtr(z) - np.linspace(0, 1, x.size)).max() < 2 / math.sqrt(x.size)


@pytest.mark.parametrize(("make", "args", "low", "high"), [
    (init.uniform(1.0, 3.0), (), 1.0, 3.0), (init.uniform(), (), 0.0, 1.0),
    (init.glorot_uniform(), (), -math.sqrt(6 / 500), math.sqrt(6 / 500)),
    (init.glorot_uniform(), (2.0,), -2 * math.sqrt(6 / 500), 2 * math.sqrt(6 / 500)),
    (init.he_uniform(), (), -math.sqrt(3 / FAN_IN), math.sqrt(3 / FAN_IN)),
    (init.he_uniform(), ("fan_out", 0.5), -0.5 * math.sqrt(3 / FAN_OUT), 0.5 * math.sqrt(0.01)),
])
def test_uniform_initializers(make: Any, args: tuple[Any, ...], low: float, high: float) -> None:
    mx.random.seed(5)
    x = np.array(make(mx.zeros(SHAPE), *args), np.float64)
    u = np.sort((x.ravel() - low) / (high - low))
    assert u[0] >= -1e-6 and u[-1] <= 1 + 1e-6
    assert np.abs(u - np.linspace(0, 1, x.size)).max() < 2 / math.sqrt(x.size)


def test_the_key_decides_the_draw() -> None:
    for make, direct in (
            (init.normal(1.0, 2.0), lambda: mx.random.normal((3, 4), loc=1.0, scale=2.0)),
            (init.he_uniform(), lambda: mx.random.uniform(
                -math.sqrt(0.75), math.sqrt(0.75), (3, 4)))):
        mx.random.seed(2)
        a = make(mx.zeros((3, 4)))
        mx.random.seed(2)
        assert mx.array_equal(a, direct())


def test_other_initializers() -> None:
    mx.random.seed(5)
    assert init.constant(2, mx.float16)(mx.zeros((2, 2))).dtype == mx.float16
    assert init.identity()(mx.zeros((3, 3))).tolist() == np.eye(3).tolist()
    x = np.array(init.sparse(0.3, 1.0, 2.0)(mx.zeros((50, 11))))
    assert ((x == 0).sum(1) == 4).all() and len({tuple(r == 0) for r in x}) > 20
    assert abs(x[x != 0].mean() - 1) < 0.5
    for shape in ((5, 8), (8, 5), (6, 6)):
        q = np.array(init.orthogonal(2.0)(mx.zeros(shape)))
        small = q @ q.T if shape[0] <= shape[1] else q.T @ q
        assert np.allclose(small, 4 * np.eye(min(shape)), atol=1e-5)
    assert init.normal(dtype=mx.bfloat16)(mx.zeros((2, 2))).dtype == mx.bfloat16
