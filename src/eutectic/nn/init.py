"""Initializers: functions that make an array of the shape of the one they get."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import eutectic.core as mx
from eutectic.core import array
from eutectic.errors import ArgumentError, ShapeError, show_shape

__all__ = [
    "constant", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity", "normal",
    "orthogonal", "sparse", "uniform"]

Initializer = Callable[[array], array]
ScaledInitializer = Callable[..., array]


def constant(value: float, dtype: mx.Dtype = mx.float32) -> Initializer:
    """An initializer that fills with a value.

    >>> constant(0.5)(mx.zeros((2, 2)))
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """
    def initializer(a: array) -> array:
        return mx.full(a.shape, value, dtype=dtype)
    return initializer


def normal(mean: float = 0.0, std: float = 1.0, dtype: mx.Dtype = mx.float32) -> Initializer:
    """An initializer that draws from a normal distribution.

    >>> normal(mean=3.0, std=0.0)(mx.zeros(2))
    array([3, 3], dtype=float32)
    """
    def initializer(a: array) -> array:
        return mx.random.normal(shape=a.shape, scale=std, loc=mean, dtype=dtype)
    return initializer


def uniform(low: float = 0.0, high: float = 1.0, dtype: mx.Dtype = mx.float32) -> Initializer:
    """An initializer that draws uniformly from [low, high).

    >>> x = uniform(2.0, 3.0)(mx.zeros(100))
    >>> bool((x >= 2).all()), bool((x < 3).all())
    (True, True)
    """
    def initializer(a: array) -> array:
        return mx.random.uniform(low, high, a.shape, dtype=dtype)
    return initializer


def identity(dtype: mx.Dtype = mx.float32) -> Initializer:
    """An initializer that gives the identity matrix.

    Raises ShapeError unless the array is a square matrix.

    >>> identity()(mx.zeros((2, 2)))
    array([[1, 0],
           [0, 1]], dtype=float32)
    """
    def initializer(a: array) -> array:
        if a.ndim != 2 or a.shape[0] != a.shape[1]:
            raise ShapeError(f"[identity] needs a square matrix, not shape {show_shape(a.shape)}.")
        return mx.eye(a.shape[0], dtype=dtype)
    return initializer


def _fans(name: str, a: array) -> tuple[int, int]:
    """(inputs, outputs) of a weight of shape (outputs, ..., inputs)."""
    if a.ndim < 2:
        raise ShapeError(f"[{name}] needs at least two axes, not shape {show_shape(a.shape)}.")
    window = math.prod(a.shape[1:-1])
    return window * a.shape[-1], window * a.shape[0]


def _fan(name: str, a: array, mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise ArgumentError(f"[{name}] mode must be 'fan_in' or 'fan_out', not {mode!r}.")
    return _fans(name, a)[mode == "fan_out"]


def glorot_normal(dtype: mx.Dtype = mx.float32) -> ScaledInitializer:
    """An initializer that draws with standard deviation gain * sqrt(2 / (fan_in + fan_out)).

    For a weight of shape (out, ..., in), fan_in and fan_out are `in` and `out` times the lengths
    between them (Glorot and Bengio, 2010). The initializer takes the gain as second argument.

    Raises ShapeError for less than two axes.

    >>> glorot_normal()(mx.zeros((2, 3)), gain=0.0)
    array([[0, 0, 0],
           [0, 0, 0]], dtype=float32)
    """
    def initializer(a: array, gain: float = 1.0) -> array:
        std = gain * math.sqrt(2.0 / sum(_fans("glorot_normal", a)))
        return mx.random.normal(shape=a.shape, scale=std, dtype=dtype)
    return initializer


def glorot_uniform(dtype: mx.Dtype = mx.float32) -> ScaledInitializer:
    """An initializer that draws from [-limit, limit) with gain * sqrt(6 / (fan_in + fan_out)).

    See `glorot_normal` for fan_in and fan_out. The initializer takes the gain as second argument.

    Raises ShapeError for less than two axes.

    >>> x = glorot_uniform()(mx.zeros((3, 3)))
    >>> bool((mx.abs(x) <= 1).all())
    True
    """
    def initializer(a: array, gain: float = 1.0) -> array:
        limit = gain * math.sqrt(6.0 / sum(_fans("glorot_uniform", a)))
        return mx.random.uniform(-limit, limit, a.shape, dtype=dtype)
    return initializer


def he_normal(dtype: mx.Dtype = mx.float32) -> ScaledInitializer:
    """An initializer that draws with standard deviation gain / sqrt(fan) (He et al., 2015).

    The initializer takes as further arguments the mode, `fan_in` or `fan_out` (see
    `glorot_normal`), and the gain.

    Raises ShapeError for less than two axes, ArgumentError for another mode.

    >>> he_normal()(mx.zeros((1, 2)), mode="fan_out", gain=0.0)
    array([[0, 0]], dtype=float32)
    """
    def initializer(a: array, mode: Literal["fan_in", "fan_out"] = "fan_in",
                    gain: float = 1.0) -> array:
        std = gain / math.sqrt(_fan("he_normal", a, mode))
        return mx.random.normal(shape=a.shape, scale=std, dtype=dtype)
    return initializer


def he_uniform(dtype: mx.Dtype = mx.float32) -> ScaledInitializer:
    """An initializer that draws from [-limit, limit) with limit = gain * sqrt(3 / fan).

    The initializer takes mode and gain as that of `he_normal`.

    Raises ShapeError for less than two axes, ArgumentError for another mode.

    >>> x = he_uniform()(mx.zeros((2, 3)))
    >>> bool((mx.abs(x) <= 1).all())
    True
    """
    def initializer(a: array, mode: Literal["fan_in", "fan_out"] = "fan_in",
                    gain: float = 1.0) -> array:
        limit = gain * math.sqrt(3.0 / _fan("he_uniform", a, mode))
        return mx.random.uniform(-limit, limit, a.shape, dtype=dtype)
    return initializer


def sparse(sparsity: float, mean: float = 0.0, std: float = 1.0,
           dtype: mx.Dtype = mx.float32) -> Initializer:
    """An initializer that draws from a normal distribution and sets a part of each row to zero.

    ceil(sparsity * columns) elements of each row, chosen at random, are zero (Martens, 2010).

    Raises ShapeError unless the array is a matrix.

    >>> x = sparse(0.5)(mx.zeros((3, 4)))
    >>> (x == 0).sum(axis=1)
    array([2, 2, 2], dtype=int32)
    """
    def initializer(a: array) -> array:
        if a.ndim != 2:
            raise ShapeError(f"[sparse] needs a matrix, not shape {show_shape(a.shape)}.")
        zeros = math.ceil(sparsity * a.shape[1])
        order = mx.argsort(mx.random.uniform(shape=a.shape), axis=1)
        x = mx.random.normal(shape=a.shape, scale=std, loc=mean, dtype=dtype)
        return mx.put_along_axis(x, order[:, :zeros], mx.array(0.0, dtype), axis=1)
    return initializer


def orthogonal(gain: float = 1.0, dtype: mx.Dtype = mx.float32) -> Initializer:
    """An initializer that gives a matrix whose rows or columns are orthogonal, of length gain.

    It is cut from the orthogonal factor of a square matrix of normal draws, with the signs that
    make the decomposition unique.

    Raises ShapeError unless the array is a matrix.

    >>> q = orthogonal()(mx.zeros((3, 2)))
    >>> mx.allclose(q.T @ q, mx.eye(2), atol=1e-5)
    array(True, dtype=bool)
    """
    def initializer(a: array) -> array:
        if a.ndim != 2:
            raise ShapeError(f"[orthogonal] needs a matrix, not shape {show_shape(a.shape)}.")
        rows, columns = a.shape
        n = max(rows, columns)
        q, r = mx.linalg.qr(mx.random.normal(shape=(n, n)), stream=mx.cpu)
        q = q * mx.sign(mx.diag(r))
        return (q[:rows, :columns] * gain).astype(dtype)
    return initializer
