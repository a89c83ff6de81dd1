"""Activations: functions of arrays of any shape, and modules that call them.

Functions of several operations are compiled: one kernel each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import eutectic.core as mx
from eutectic.errors import ArgumentError
from eutectic.nn.layers.base import Module


def sigmoid(x: mx.array) -> mx.array:
    """1 / (1 + exp(-x)).

    >>> sigmoid(mx.array([0.0]))
    array([0.5], dtype=float32)
    """
    return mx.sigmoid(x)


def relu(x: mx.array) -> mx.array:
    """max(x, 0).

    >>> relu(mx.array([-1.0, 2.0]))
    array([0, 2], dtype=float32)
    """
    return mx.maximum(x, 0)


@mx.compile
def relu2(x: mx.array) -> mx.array:
    """max(x, 0)^2.

    >>> relu2(mx.array([-1.0, 2.0]))
    array([0, 4], dtype=float32)
    """
    return mx.square(mx.maximum(x, 0))


@mx.compile
def relu6(x: mx.array) -> mx.array:
    """min(max(x, 0), 6).

    >>> relu6(mx.array([-1.0, 2.0, 7.0]))
    array([0, 2, 6], dtype=float32)
    """
    return mx.minimum(mx.maximum(x, 0), 6.0)


@mx.compile
def leaky_relu(x: mx.array, negative_slope: float = 0.01) -> mx.array:
    """max(negative_slope * x, x).

    >>> leaky_relu(mx.array([-1.0, 2.0]))
    array([-0.01, 2], dtype=float32)
    """
    return mx.maximum(negative_slope * x, x)


def log_softmax(x: mx.array, axis: int = -1) -> mx.array:
    """x - logsumexp(x) along an axis.

    >>> log_softmax(mx.array([0.0, 0.0]))
    array([-0.693147, -0.693147], dtype=float32)
    """
    return x - mx.logsumexp(x, axis=axis, keepdims=True)


@mx.compile
def elu(x: mx.array, alpha: float = 1.0) -> mx.array:
    """x where x > 0, else alpha * (exp(x) - 1).

    >>> elu(mx.array([-1.0, 2.0]))
    array([-0.632121, 2], dtype=float32)
    """
    return mx.where(x > 0, x, alpha * (mx.exp(x) - 1))


def softmax(x: mx.array, axis: int = -1) -> mx.array:
    """exp(x) / sum(exp(x)) along an axis.

    >>> softmax(mx.array([0.0, 0.0]))
    array([0.5, 0.5], dtype=float32)
    """
    return mx.softmax(x, axis=axis)


def softmin(x: mx.array, axis: int = -1) -> mx.array:
    """exp(-x) / sum(exp(-x)) along an axis.

    >>> softmin(mx.array([0.0, 0.0]))
    array([0.5, 0.5], dtype=float32)
    """
    return mx.softmax(-x, axis=axis)


def softplus(x: mx.array) -> mx.array:
    """log(1 + exp(x)).

    >>> softplus(mx.array([0.0, 100.0]))
    array([0.693147, 100], dtype=float32)
    """
    return mx.logaddexp(x, 0)


@mx.compile
def softsign(x: mx.array) -> mx.array:
    """x / (1 + |x|).

    >>> softsign(mx.array([-1.0, 3.0]))
    array([-0.5, 0.75], dtype=float32)
    """
    return x / (1 + mx.abs(x))


@mx.compile
def softshrink(x: mx.array, lambd: float = 0.5) -> mx.array:
    """x moved toward 0 by lambd, and 0 within that distance.

    >>> softshrink(mx.array([-1.0, 0.2, 2.0]))
    array([-0.5, 0, 1.5], dtype=float32)
    """
    return mx.where(mx.abs(x) > lambd, x - mx.sign(x) * lambd, 0)


@mx.compile
def celu(x: mx.array, alpha: float = 1.0) -> mx.array:
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).

    >>> celu(mx.array([-1.0, 2.0]))
    array([-0.632121, 2], dtype=float32)
    """
    return mx.maximum(x, 0.0) + alpha * (mx.exp(mx.minimum(x, 0.0) / alpha) - 1)


@mx.compile
def silu(x: mx.array) -> mx.array:
    """x * sigmoid(x).

    >>> silu(mx.array([0.0, 2.0]))
    array([0, 1.76159], dtype=float32)
    """
    return x * mx.sigmoid(x)


@mx.compile
def log_sigmoid(x: mx.array) -> mx.array:
    """log(sigmoid(x)).

    >>> log_sigmoid(mx.array([0.0, -100.0]))
    array([-0.693147, -100], dtype=float32)
    """
    return -mx.logaddexp(-x, 0)


@mx.compile
def gelu(x: mx.array) -> mx.array:
    """x * (1 + erf(x / sqrt(2))) / 2 (Hendrycks and Gimpel, 2016).

    >>> gelu(mx.array([-1.0, 2.0]))
    array([-0.158655, 1.9545], dtype=float32)
    """
    return x * (1 + mx.erf(x / math.sqrt(2))) / 2


@mx.compile
def gelu_approx(x: mx.array) -> mx.array:
    """x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2, within 0.0005 of `gelu`.

    >>> gelu_approx(mx.array([-1.0, 2.0]))
    array([-0.158808, 1.9546], dtype=float32)
    """
    return 0.5 * x * (1 + mx.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


@mx.compile
def gelu_fast_approx(x: mx.array) -> mx.array:
    """x * sigmoid(1.702 * x), within 0.015 of `gelu` on [-6, 6].

    >>> gelu_fast_approx(mx.array([-1.0, 2.0]))
    array([-0.154204, 1.93566], dtype=float32)
    """
    return x * mx.sigmoid(1.702 * x)


def glu(x: mx.array, axis: int = -1) -> mx.array:
    """a * sigmoid(b) for the halves a and b of an axis, whose length is even.

    >>> glu(mx.array([3.0, 4.0, 0.0, 0.0]))
    array([1.5, 2], dtype=float32)
    """
    a, b = mx.split(x, 2, axis=axis)
    return a * mx.sigmoid(b)


@mx.compile
def step(x: mx.array, threshold: float = 0.0) -> mx.array:
    """1 where x >= threshold, else 0, as int32.

    >>> step(mx.array([-1.0, 0.0, 1.0]))
    array([0, 1, 1], dtype=int32)
    """
    return mx.where(x >= threshold, 1, 0)


@mx.compile
def selu(x: mx.array) -> mx.array:
    """1.0507 * elu(x, 1.67326) (Klambauer et al., 2017).

    >>> selu(mx.array([-1.0, 2.0]))
    array([-1.11133, 2.1014], dtype=float32)
    """
    return elu(x, 1.67326) * 1.0507


@mx.compile
def prelu(x: mx.array, alpha: mx.array) -> mx.array:
    """max(x, 0) + alpha * min(x, 0); shapes are broadcast.

    >>> prelu(mx.array([-1.0, 2.0]), mx.array(0.25))
    array([-0.25, 2], dtype=float32)
    """
    return mx.maximum(0, x) + alpha * mx.minimum(0, x)


@mx.compile
def mish(x: mx.array) -> mx.array:
    """x * tanh(softplus(x)) (Misra, 2019).

    >>> mish(mx.array([0.0, 2.0]))
    array([0, 1.94396], dtype=float32)
    """
    return x * mx.tanh(softplus(x))


@mx.compile
def hardswish(x: mx.array) -> mx.array:
    """x * min(max(x + 3, 0), 6) / 6 (Howard et al., 2019).

    >>> hardswish(mx.array([-4.0, 1.0, 3.0]))
    array([-0, 0.666667, 3], dtype=float32)
    """
    return x * mx.minimum(mx.maximum(x + 3, 0), 6) / 6


@mx.compile
def hard_tanh(x: mx.array, min_val: float = -1.0, max_val: float = 1.0) -> mx.array:
    """min(max(x, min_val), max_val).

    >>> hard_tanh(mx.array([-2.0, 0.5, 3.0]))
    array([-1, 0.5, 1], dtype=float32)
    """
    return mx.minimum(mx.maximum(x, min_val), max_val)


@mx.compile
def hard_shrink(x: mx.array, lambd: float = 0.5) -> mx.array:
    """x where |x| > lambd, else 0.

    >>> hard_shrink(mx.array([-1.0, 0.2, 2.0]))
    array([-1, 0, 2], dtype=float32)
    """
    return mx.where(mx.abs(x) > lambd, x, 0)


def tanh(x: mx.array) -> mx.array:
    """The hyperbolic tangent.

    >>> tanh(mx.array([0.0]))
    array([0], dtype=float32)
    """
    return mx.tanh(x)


# ---- modules ------------------------------------------------------------------------------------


class _Activation(Module):
    """A module that calls a function of its input alone."""

    _fn: Callable[..., Any]

    def __call__(self, x: mx.array) -> mx.array:
        return type(self)._fn(x)


class Sigmoid(_Activation):
    """`sigmoid` as a module.

    >>> Sigmoid()(mx.array([0.0]))
    array([0.5], dtype=float32)
    """

    _fn = staticmethod(sigmoid)


class Mish(_Activation):
    """`mish` as a module.

    >>> Mish()(mx.array([0.0]))
    array([0], dtype=float32)
    """

    _fn = staticmethod(mish)


class ReLU(_Activation):
    """`relu` as a module.

    >>> ReLU()(mx.array([-1.0, 2.0]))
    array([0, 2], dtype=float32)
    """

    _fn = staticmethod(relu)


class ReLU2(_Activation):
    """`relu2` as a module.

    >>> ReLU2()(mx.array([-1.0, 2.0]))
    array([0, 4], dtype=float32)
    """

    _fn = staticmethod(relu2)


class ReLU6(_Activation):
    """`relu6` as a module.

    >>> ReLU6()(mx.array([-1.0, 7.0]))
    array([0, 6], dtype=float32)
    """

    _fn = staticmethod(relu6)


class Softmax(_Activation):
    """`softmax` along the last axis as a module.

    >>> Softmax()(mx.array([0.0, 0.0]))
    array([0.5, 0.5], dtype=float32)
    """

    _fn = staticmethod(softmax)


class Softmin(_Activation):
    """`softmin` along the last axis as a module.

    >>> Softmin()(mx.array([0.0, 0.0]))
    array([0.5, 0.5], dtype=float32)
    """

    _fn = staticmethod(softmin)


class Softplus(_Activation):
    """`softplus` as a module.

    >>> Softplus()(mx.array([100.0]))
    array([100], dtype=float32)
    """

    _fn = staticmethod(softplus)


class Softsign(_Activation):
    """`softsign` as a module.

    >>> Softsign()(mx.array([1.0]))
    array([0.5], dtype=float32)
    """

    _fn = staticmethod(softsign)


class SiLU(_Activation):
    """`silu` as a module.

    >>> SiLU()(mx.array([0.0]))
    array([0], dtype=float32)
    """

    _fn = staticmethod(silu)


class LogSoftmax(_Activation):
    """`log_softmax` along the last axis as a module.

    >>> LogSoftmax()(mx.array([0.0, 0.0]))
    array([-0.693147, -0.693147], dtype=float32)
    """

    _fn = staticmethod(log_softmax)


class LogSigmoid(_Activation):
    """`log_sigmoid` as a module.

    >>> LogSigmoid()(mx.array([-100.0]))
    array([-100], dtype=float32)
    """

    _fn = staticmethod(log_sigmoid)


class Tanh(_Activation):
    """`tanh` as a module.

    >>> Tanh()(mx.array([0.0]))
    array([0], dtype=float32)
    """

    _fn = staticmethod(tanh)


class HardTanh(_Activation):
    """`hard_tanh` to [-1, 1] as a module.

    >>> HardTanh()(mx.array([-3.0, 0.5]))
    array([-1, 0.5], dtype=float32)
    """

    _fn = staticmethod(hard_tanh)


class Hardswish(_Activation):
    """`hardswish` as a module.

    >>> Hardswish()(mx.array([3.0]))
    array([3], dtype=float32)
    """

    _fn = staticmethod(hardswish)


class SELU(_Activation):
    """`selu` as a module.

    >>> SELU()(mx.array([2.0]))
    array([2.1014], dtype=float32)
    """

    _fn = staticmethod(selu)


class GLU(Module):
    """`glu` along an axis as a module.

    >>> GLU()(mx.array([3.0, 4.0, 0.0, 0.0]))
    array([1.5, 2], dtype=float32)
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def __call__(self, x: mx.array) -> mx.array:
        return glu(x, axis=self.axis)


class ELU(Module):
    """`elu` as a module.

    >>> ELU(alpha=2.0)(mx.array([-1.0]))
    array([-1.26424], dtype=float32)
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def __call__(self, x: mx.array) -> mx.array:
        return elu(x, self._alpha)


class CELU(Module):
    """`celu` as a module.

    >>> CELU(alpha=2.0)(mx.array([-1.0]))
    array([-0.786939], dtype=float32)
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def __call__(self, x: mx.array) -> mx.array:
        return celu(x, self._alpha)


class LeakyReLU(Module):
    """`leaky_relu` as a module.

    >>> LeakyReLU(0.5)(mx.array([-1.0, 2.0]))
    array([-0.5, 2], dtype=float32)
    """

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self._negative_slope = negative_slope

    def __call__(self, x: mx.array) -> mx.array:
        return leaky_relu(x, self._negative_slope)


class Step(Module):
    """`step` as a module.

    >>> Step(1.0)(mx.array([0.0, 1.0]))
    array([0, 1], dtype=int32)
    """

    def __init__(self, threshold: float = 0.0) -> None:
        super().__init__()
        self.threshold = threshold

    def __call__(self, x: mx.array) -> mx.array:
        return step(x, self.threshold)


class Softshrink(Module):
    """`softshrink` as a module.

    >>> Softshrink(1.0)(mx.array([0.5, 3.0]))
    array([0, 2], dtype=float32)
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def __call__(self, x: mx.array) -> mx.array:
        return softshrink(x, self.lambd)


class HardShrink(Module):
    """`hard_shrink` as a module.

    >>> HardShrink(1.0)(mx.array([0.5, 3.0]))
    array([0, 3], dtype=float32)
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def __call__(self, x: mx.array) -> mx.array:
        return hard_shrink(x, self.lambd)


class PReLU(Module):
    """`prelu` with a slope that is learned: `weight` of shape (num_parameters,).

    >>> PReLU()(mx.array([-1.0, 2.0]))
    array([-0.25, 2], dtype=float32)
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        super().__init__()
        self.weight = mx.full([num_parameters], init)

    def __call__(self, x: mx.array) -> mx.array:
        return prelu(x, self.weight)


class GELU(Module):
    """`gelu`, or an approximation: `gelu_approx` for `precise` and `tanh`, `gelu_fast_approx` for
    `fast`.

    Raises ArgumentError for another `approx`.

    >>> GELU("fast")(mx.array([2.0]))
    array([1.93566], dtype=float32)
    """

    def __init__(self, approx: str = "none") -> None:
        super().__init__()
        if approx not in _GELU:
            raise ArgumentError(f"[GELU] approx must be one of {', '.join(_GELU)}, not {approx!r}.")
        self._approx = approx

    def __call__(self, x: mx.array) -> mx.array:
        return _GELU[self._approx](x)


_GELU: dict[str, Callable[..., Any]] = {
    "none": gelu, "precise": gelu_approx, "tanh": gelu_approx, "fast": gelu_fast_approx}
