"""The optimizers. An update takes the learning rate times a direction from each parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import eutectic.core as mx
from eutectic.core import array
from eutectic.errors import ArgumentError
from eutectic.optimizers.base import MultiOptimizer, Optimizer, Rate, clip_grad_norm

__all__ = [
    "AdaDelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "MultiOptimizer", "Muon",
    "Optimizer", "RMSprop", "SGD", "clip_grad_norm"]


def _at_least(optimizer: str, name: str, value: float, positive: bool = False) -> None:
    if value < 0 or (positive and value == 0):
        wanted = "positive" if positive else "at least 0"
        raise ArgumentError(f"[{optimizer}] {name} must be {wanted}, got {value}.")


class SGD(Optimizer):
    """Gradient descent, with momentum where that is not 0: v = momentum v + (1 - dampening) g.

    g is the gradient plus weight_decay times the parameter, and the parameter loses the learning
    rate times v, or times g + momentum v with `nesterov`. State: `v`.

    Raises ArgumentError for `nesterov` without momentum or with dampening.

    >>> SGD(0.5).apply_gradients({"w": mx.array([1.0])}, {"w": mx.array([1.0])})
    {'w': array([0.5], dtype=float32)}
    """

    def __init__(self, learning_rate: Rate, momentum: float = 0.0, weight_decay: float = 0.0,
                 dampening: float = 0.0, nesterov: bool = False) -> None:
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ArgumentError("[SGD] nesterov needs momentum, and no dampening.")
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.dampening = dampening
        self.nesterov = nesterov

    def init_single(self, parameter: array, state: dict[str, Any]) -> None:
        state["v"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        if self.weight_decay != 0:
            gradient = gradient + self.weight_decay * parameter
        rate = self.learning_rate.astype(gradient.dtype)
        if self.momentum <= 0:
            return parameter - rate * gradient
        v = self.momentum * state["v"]
        if self.dampening > 0:
            v = v + (1 - self.dampening) * gradient
        else:
            v = v + gradient
        state["v"] = v
        return parameter - rate * (gradient + self.momentum * v if self.nesterov else v)


class RMSprop(Optimizer):
    """v = alpha v + (1 - alpha) g^2; the parameter loses rate * g / (sqrt(v) + eps). State: `v`.

    Tieleman and Hinton (2012). Raises ArgumentError for alpha or eps below 0.

    >>> new = RMSprop(0.1).apply_gradients({"w": mx.array([1.0])}, {"w": mx.array([1.0])})
    >>> mx.allclose(new["w"], mx.array([0.0]), atol=1e-5)
    array(True, dtype=bool)
    """

    def __init__(self, learning_rate: Rate, alpha: float = 0.99, eps: float = 1e-8) -> None:
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.alpha = alpha
        self.eps = eps
        _at_least("RMSprop", "alpha", alpha)
        _at_least("RMSprop", "eps", eps)

    def init_single(self, parameter: array, state: dict[str, Any]) -> None:
        state["v"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        rate = self.learning_rate.astype(gradient.dtype)
        v = self.alpha * state["v"] + (1 - self.alpha) * mx.square(gradient)
        state["v"] = v
        return parameter - rate * gradient / (mx.sqrt(v) + self.eps)


class Adagrad(Optimizer):
    """v = v + g^2; the parameter loses rate * g / (sqrt(v) + eps). State: `v`.

    Duchi, Hazan and Singer (2011). Raises ArgumentError for eps below 0.

    >>> Adagrad(0.5).apply_gradients({"w": mx.array([2.0])}, {"w": mx.array([1.0])})
    {'w': array([0.5], dtype=float32)}
    """

    def __init__(self, learning_rate: Rate, eps: float = 1e-8) -> None:
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.eps = eps
        _at_least("Adagrad", "eps", eps)

    def init_single(self, parameter: array, state: dict[str, Any]) -> None:
        state["v"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        rate = self.learning_rate.astype(gradient.dtype)
        v = state["v"] + mx.square(gradient)
        state["v"] = v
        return parameter - rate * gradient / (mx.sqrt(v) + self.eps)


class AdaDelta(Optimizer):
    """v = rho v + (1 - rho) g^2, d = g sqrt(u + eps) / sqrt(v + eps), u = rho u + (1 - rho) d^2.

    The parameter loses rate * d. State: `v` and `u` (Zeiler, 2012).

    Raises ArgumentError for rho or eps below 0.

    >>> new = AdaDelta(1.0).apply_gradients({"w": mx.array([1.0])}, {"w": mx.array([1.0])})
    >>> float(new["w"].item()) < 1
    True
    """

    def __init__(self, learning_rate: Rate, rho: float = 0.9, eps: float = 1e-6) -> None:
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.rho = rho
        self.eps = eps
        _at_least("AdaDelta", "rho", rho)
        _at_least("AdaDelta", "eps", eps)

    def init_single(self, parameter: array, state: dict[str, Any]) -> None:
        state["v"] = mx.zeros_like(parameter)
        state["u"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        rate = self.learning_rate.astype(gradient.dtype)
        v = self.rho * state["v"] + (1 - self.rho) * mx.square(gradient)
        d = mx.sqrt(state["u"] + self.eps) / mx.sqrt(v + self.eps) * gradient
        state["u"] = self.rho * state["u"] + (1 - self.rho) * mx.square(d)
        state["v"] = v
        return parameter - rate * d


class Adam(Optimizer):
    """m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2; w loses rate * m / (sqrt(v) + eps).

    With `bias_correction` m is divided by 1 - b1^step and v by 1 - b2^step. State: `m` and `v`
    (Kingma and Ba, 2015).

    Raises ArgumentError for eps below 0.

    >>> new = Adam(0.1, bias_correction=True).apply_gradients(
    ...     {"w": mx.array([2.0])}, {"w": mx.array([1.0])})
    >>> mx.allclose(new["w"], mx.array([0.9]))
    array(True, dtype=bool)
    """

    def __init__(self, learning_rate: Rate, betas: Sequence[float] = (0.9, 0.999),
                 eps: float = 1e-8, bias_correction: bool = False) -> None:
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.betas = list(betas)
        self.eps = eps
        self.bias_correction = bias_correction
        _at_least(type(self).__name__, "eps", eps)

    def init_single(self, parameter: array, state: dict[str, Any]) -> None:
        state["m"] = mx.zeros_like(parameter)
        state["v"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        rate = self.learning_rate.astype(gradient.dtype)
        b1, b2 = self.betas
        m = b1 * state["m"] + (1 - b1) * gradient
        v = b2 * state["v"] + (1 - b2) * mx.square(gradient)
        state["m"], state["v"] = m, v
        if self.bias_correction:
            first = (rate / (1 - b1 ** self.step)).astype(gradient.dtype)
            second = mx.rsqrt(1 - b2 ** self.step).astype(gradient.dtype)
            return parameter - (first * m) / (mx.sqrt(v) * second + self.eps)
        return parameter - rate * m / (mx.sqrt(v) + self.eps)


class AdamW(Adam):
    """`Adam`, with the parameter multiplied by 1 - rate * weight_decay first.

    Loshchilov and Hutter (2019). State: `m` and `v`.

    >>> new = AdamW(0.1, weight_decay=1.0).apply_gradients(
    ...     {"w": mx.array([0.0])}, {"w": mx.array([1.0])})
    >>> new
    {'w': array([0.9], dtype=float32)}
    """

    def __init__(self, learning_rate: Rate, betas: Sequence[float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0.01, bias_correction: bool = False
                 ) -> None:
        super().__init__(learning_rate, betas, eps, bias_correction)
        self.weight_decay = weight_decay

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        rate = self.learning_rate.astype(gradient.dtype)
        return super().apply_single(gradient, parameter * (1 - rate * self.weight_decay), state)


class Adamax(Adam):
    """m = b1 m + (1 - b1) g, v = max(b2 v, |g|); the parameter loses rate * m / (v + eps).

    State: `m` and `v` (Kingma and Ba, 2015).

    Raises ArgumentError for eps below 0.

    >>> new = Adamax(0.1).apply_gradients({"w": mx.array([2.0])}, {"w": mx.array([1.0])})
    >>> new
    {'w': array([0.99], dtype=float32)}
    """

    def __init__(self, learning_rate: Rate, betas: Sequence[float] = (0.9, 0.999),
                 eps: float = 1e-8) -> None:
        super().__init__(learning_rate, betas, eps)

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        rate = self.learning_rate.astype(gradient.dtype)
        b1, b2 = self.betas
        m = b1 * state["m"] + (1 - b1) * gradient
        v = mx.maximum(b2 * state["v"], mx.abs(gradient))
        state["m"], state["v"] = m, v
        return parameter - rate * m / (v + self.eps)


class Lion(Optimizer):
    """The parameter loses rate * sign(b1 m + (1 - b1) g), then m = b2 m + (1 - b2) g. State: `m`.

    The parameter is multiplied by 1 - rate * weight_decay first (Chen et al., 2023).

    >>> Lion(0.5).apply_gradients({"w": mx.array([2.0])}, {"w": mx.array([1.0])})
    {'w': array([0.5], dtype=float32)}
    """

    def __init__(self, learning_rate: Rate, betas: Sequence[float] = (0.9, 0.99),
                 weight_decay: float = 0.0) -> None:
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.betas = list(betas)
        self.weight_decay = weight_decay

    def init_single(self, parameter: array, state: dict[str, Any]) -> None:
        state["m"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        rate = self.learning_rate.astype(gradient.dtype)
        b1, b2 = self.betas
        m = state["m"]
        state["m"] = b2 * m + (1 - b2) * gradient
        if self.weight_decay > 0:
            parameter = (1 - rate * self.weight_decay) * parameter
        return parameter - rate * mx.sign(b1 * m + (1 - b1) * gradient)


class Adafactor(Optimizer):
    """Adam's second moment, of matrices kept as means of rows and columns.

    Shazeer and Stern (2018).

    `relative_step` makes the rate min(limit, 1 / sqrt(step)), limit 0.01 or, `warmup_init`,
    1e-6 * step; `scale_parameter` multiplies it by the parameter's root mean square, at least
    eps[1]. `clip_threshold` bounds the root mean square of an update, `decay_rate` is the power of
    the step by which the mean of squares forgets, `beta_1` switches on a first moment. State:
    `exp_avg_sq_row` and `exp_avg_sq_col`, or `exp_avg_sq` below two axes, and `exp_avg`.

    >>> new = Adafactor().apply_gradients({"w": mx.ones((2, 2))}, {"w": mx.ones((2, 2))})
    >>> mx.allclose(new["w"], mx.full((2, 2), 0.99))
    array(True, dtype=bool)
    """

    def __init__(self, learning_rate: Rate | None = None, eps: tuple[float, float] = (1e-30, 1e-3),
                 clip_threshold: float = 1.0, decay_rate: float = -0.8,
                 beta_1: float | None = None, weight_decay: float = 0.0,
                 scale_parameter: bool = True, relative_step: bool = True,
                 warmup_init: bool = False) -> None:
        super().__init__()
        if learning_rate is not None:
            self._maybe_schedule("learning_rate", learning_rate)
        self.eps = eps
        self.clip_threshold = clip_threshold
        self.decay_rate = decay_rate
        self.beta_1 = beta_1
        self.weight_decay = weight_decay
        self.scale_parameter = scale_parameter
        self.relative_step = relative_step
        self.warmup_init = warmup_init

    def init_single(self, parameter: array, state: dict[str, Any]) -> None:
        shape, dtype = parameter.shape, parameter.dtype
        if parameter.ndim >= 2:
            state["exp_avg_sq_row"] = mx.zeros(shape[:-1], dtype)
            state["exp_avg_sq_col"] = mx.zeros((*shape[:-2], shape[-1]), dtype)
        else:
            state["exp_avg_sq"] = mx.zeros_like(parameter)
        if self.beta_1 is not None:
            state["exp_avg"] = mx.zeros_like(parameter)

    def _rate(self, step: array, rms: array) -> array:
        if self.relative_step:
            limit = 1e-6 * step if self.warmup_init else mx.array(1e-2)
            rate = mx.minimum(limit, mx.rsqrt(step))
        else:
            rate = self.learning_rate
        rate = rate.astype(rms.dtype)
        return mx.maximum(self.eps[1], rms) * rate if self.scale_parameter else rate

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        step = self.step
        rate = self._rate(step, _rms(parameter))
        beta_2 = (1.0 - step ** self.decay_rate).astype(gradient.dtype)
        square = mx.square(gradient) + self.eps[0]
        if gradient.ndim >= 2:
            row = beta_2 * state["exp_avg_sq_row"] + (1 - beta_2) * mx.mean(square, axis=-1)
            column = beta_2 * state["exp_avg_sq_col"] + (1 - beta_2) * mx.mean(square, axis=-2)
            state["exp_avg_sq_row"], state["exp_avg_sq_col"] = row, column
            scaled = mx.rsqrt(row / mx.mean(row, axis=-1, keepdims=True))
            update = scaled[..., None] * mx.rsqrt(column)[..., None, :] * gradient
        else:
            mean = beta_2 * state["exp_avg_sq"] + (1 - beta_2) * square
            state["exp_avg_sq"] = mean
            update = mx.rsqrt(mean) * gradient
        update = update / mx.maximum(1.0, _rms(update) / self.clip_threshold)
        update = rate * update
        if self.beta_1 is not None:
            update = self.beta_1 * state["exp_avg"] + (1 - self.beta_1) * update
            state["exp_avg"] = update
        if self.weight_decay != 0:
            parameter = parameter + parameter * (-self.weight_decay * rate)
        return parameter - update


def _rms(x: array) -> array:
    return mx.sqrt(mx.mean(mx.square(x)))


class Muon(Optimizer):
    """Momentum whose updates of matrices are made orthogonal (Jordan et al., 2024). State: `v`.

    v = momentum v + (1 - momentum) g, where g holds weight_decay times the parameter; the update is
    v or, `nesterov`, (1 - momentum) g + momentum v. From two axes on it is made a matrix of the
    first axis and the rest, `ns_steps` of a Newton-Schulz iteration take its singular values near
    1, and the rate is multiplied by sqrt(max(1, rows / columns)).

    >>> optimizer = Muon(0.1, weight_decay=0.0)
    >>> new = optimizer.apply_gradients({"w": mx.eye(3)}, {"w": mx.zeros((3, 3))})
    >>> new["w"].shape
    (3, 3)
    """

    def __init__(self, learning_rate: Rate, momentum: float = 0.95, weight_decay: float = 0.01,
                 nesterov: bool = True, ns_steps: int = 5) -> None:
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.nesterov = nesterov
        self.ns_steps = ns_steps

    def init_single(self, parameter: array, state: dict[str, Any]) -> None:
        state["v"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        if self.weight_decay != 0:
            gradient = gradient + self.weight_decay * parameter
        new = (1 - self.momentum) * gradient
        v = self.momentum * state["v"] + new
        state["v"] = v
        update = new + self.momentum * v if self.nesterov else v
        rate = self.learning_rate.astype(gradient.dtype)
        if update.ndim >= 2:
            matrix = _orthogonalized(update.reshape(update.shape[0], -1), self.ns_steps)
            rate = rate * math.sqrt(max(1, matrix.shape[0] / matrix.shape[1]))
            update = matrix.reshape(update.shape)
        return parameter - rate * update


def _orthogonalized(x: array, steps: int) -> array:
    """Singular values taken near 1 by X <- a X + (b A + c A^2) X, A = X X^T."""
    a, b, c = 3.4445, -4.7750, 2.0315
    wide = x.shape[0] <= x.shape[1]
    x = x if wide else x.T
    x = x / (mx.linalg.norm(x) + 1e-7)
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * (square @ square)) @ x
    return x if wide else x.T
