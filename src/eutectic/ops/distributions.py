"""Distributions made from uniform and normal draws, with MLX's values for MLX's keys."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import float32, uint32
from eutectic.errors import (
    ArgumentError, DtypeError, ShapeError, show_shape)
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops.arithmetic import (
    abs_, add, maximum, minimum, multiply, negative, sign, subtract)
from eutectic.ops.checks import apply, axis_of, integer, shape_of
from eutectic.ops.devices import streamed
from eutectic.ops.functions import erf, erfinv, exp, log1p
from eutectic.ops.random import (
    draw_bits, floating_dtype, gumbel, next_key, normal, uniform)
from eutectic.ops.reductions import argmax, max_
from eutectic.ops.registry import broadcast_shape, node_of
from eutectic.ops.taking import take


@streamed
def laplace(shape: Any = (), dtype: Any = float32, loc: Any = 0.0, scale: Any = 1.0,
            key: array | None = None, stream: Any = None) -> array:
    """Numbers drawn from the Laplace distribution of mean `loc` and width `scale`.

    sign(u) * log(1 - |u|) * scale + loc with u drawn evenly from (-1, 1) in float32. Floating
    dtypes; others raise DtypeError.

    >>> import eutectic.core as mx
    >>> mx.random.laplace((2,), key=mx.random.key(3))
    array([0.0982647, -0.0332323], dtype=float32)
    """
    d = floating_dtype("laplace", dtype)
    low = float(np.nextafter(np.float32(-1), np.float32(0)))
    u = uniform(low, 1, shape, float32, key)._n
    x = apply(multiply, apply(sign, u), apply(log1p, apply(negative, apply(abs_, u))))
    x = prims.cast(x, d)
    if not (isinstance(scale, (int, float)) and scale == 1):
        x = apply(multiply, x, prims.cast(node_of(scale, "laplace", d), d))
    if not (isinstance(loc, (int, float)) and loc == 0):
        x = apply(add, x, prims.cast(node_of(loc, "laplace", d), d))
    return wrap(x)


@streamed
def truncated_normal(lower: Any, upper: Any, shape: Any = None, dtype: Any = float32,
                     key: array | None = None, stream: Any = None) -> array:
    """Numbers of the standard normal distribution within [lower, upper].

    sqrt(2) * erfinv(u) with u drawn evenly from [erf(lower / sqrt(2)), erf(upper / sqrt(2))),
    kept within the bounds. These are numbers or arrays; without a shape the result has theirs.
    Floating dtypes. Raises DtypeError for others, ShapeError where bounds do not broadcast.

    >>> import eutectic.core as mx
    >>> mx.random.truncated_normal(-1, 1, (2,), key=mx.random.key(3))
    array([-0.0801646, 0.0279707], dtype=float32)
    """
    d = floating_dtype("truncated_normal", dtype)
    low = prims.cast(node_of(lower, "truncated_normal", d), d)
    high = prims.cast(node_of(upper, "truncated_normal", d), d)
    to = broadcast_shape("truncated_normal", low.shape, high.shape)
    if shape is not None:
        wanted = shape_of("truncated_normal", shape)
        if broadcast_shape("truncated_normal", to, wanted) != wanted:
            raise ShapeError(f"[truncated_normal] bounds of shape {show_shape(to)} do not "
                             f"broadcast to {show_shape(wanted)}.")
        to = wanted
    root = prims.const(float(np.float32(math.sqrt(2.0))), d)
    first, last = [apply(erf, apply("divide", x, root)) for x in (low, high)]
    u = uniform(wrap(first), wrap(last), to, d, key)._n
    x = apply(multiply, root, apply(erfinv, u))
    return wrap(apply(maximum, apply(minimum, x, high), low))


@streamed
def categorical(logits: array, axis: int = -1, shape: Any = None, num_samples: int | None = None,
                key: array | None = None, stream: Any = None) -> array:
    """Indices, as uint32, drawn with the probabilities softmax(logits) along an axis.

    The index of the greatest logit after adding Gumbel noise in float32; several draws from a
    single distribution invert its sum instead. The result has the shape of the logits without the
    axis; `num_samples` draws append an axis, and `shape` asks for a shape that the logits'
    broadcasts to. Raises AxisError for an axis out of range, ArgumentError for both, DtypeError
    for complex logits.

    >>> import eutectic.core as mx
    >>> mx.random.categorical(mx.array([0.0, 5.0, 0.0]), num_samples=4, key=mx.random.key(0))
    array([1, 1, 1, 1], dtype=uint32)
    """
    n = node_of(logits, "categorical")
    i = axis_of("categorical", axis, n.shape)
    if n.dtype.is_complex:
        raise DtypeError("[categorical] does not take complex64; give real numbers.")
    if shape is not None and num_samples is not None:
        raise ArgumentError("[categorical] takes a shape or num_samples, not both.")
    rest = (*n.shape[:i], *n.shape[i + 1:])
    if num_samples is not None:
        count = integer("categorical", "num_samples", num_samples)
        if count < 0:
            raise ArgumentError(f"[categorical] num_samples must not be negative, got {count}.")
        n = prims.reshape(n, (*n.shape, 1))
        drawn: tuple[int, ...] = (*n.shape[:-1], count)
        at = i
    else:
        to = rest if shape is None else shape_of("categorical", shape)
        if broadcast_shape("categorical", to, rest) != to:
            raise ShapeError(f"[categorical] logits of shape {show_shape(n.shape)} without axis "
                             f"{i} do not broadcast to {show_shape(to)}.")
        at = len(to) - (len(rest) - i)
        drawn = (*to[:at], n.shape[i], *to[at:])
    result = (*drawn[:at], *drawn[at + 1:])
    if not n.shape[i]:
        raise ShapeError(f"[categorical] no logits on axis {i} of shape {show_shape(n.shape)}.")
    n = prims.cast(n, float32)
    if n.size == n.shape[i] and result:
        return _inverted(n, uniform(shape=result, key=key)._n)
    noise = gumbel(drawn, float32, key)._n
    if 0 in result:
        return wrap(prims.broadcast(prims.const(0, uint32), result))
    return argmax(wrap(apply(add, n, noise)), at)


def _find(weights: np.ndarray, u: np.ndarray) -> np.ndarray:
    # One float32 sum after another, as MLX makes them: where they round decides a draw.
    sums = np.cumsum(weights, dtype=np.float32)
    at = np.searchsorted(sums, u * sums[-1], side="right")
    return np.minimum(at, len(sums) - 1).astype(np.uint32)


def _inverted(logits: Node, u: Node) -> array:
    """Draws from one distribution by where u lies among the sums of its weights."""
    if not u.size:
        return wrap(prims.cast(u, uint32))
    flat = prims.reshape(logits, (logits.size,))
    weights = exp(subtract(wrap(flat), max_(wrap(flat), keepdims=True)))._n
    [found] = prims.opaque("categorical_draws", _find, (weights, u), (), ((u.shape, uint32),))
    return wrap(found)


def _order(words: np.ndarray) -> np.ndarray:
    return np.argsort(words, kind="stable").astype(np.uint32)


@streamed
def permutation(x: Any, axis: int = 0, key: array | None = None, stream: Any = None) -> array:
    """The parts of an array along an axis in random order, or of 0 ... x - 1 (uint32) for a number.

    The order in which random words, one for each part, are sorted. Raises AxisError for an axis
    out of range.

    >>> import eutectic.core as mx
    >>> mx.random.permutation(5, key=mx.random.key(3))
    array([0, 1, 4, 3, 2], dtype=uint32)
    """
    if isinstance(x, array):
        i = axis_of("permutation", axis, x.shape)
        count = x.shape[i]
    else:
        count = integer("permutation", "x", x)
        if count < 0:
            raise ArgumentError(f"[permutation] the number must not be negative, got {count}.")
    words = draw_bits(next_key("permutation", key), count)
    if not count:
        return x if isinstance(x, array) else wrap(prims.cast(words, uint32))
    [order] = prims.opaque("random_order", _order, (words,), (), (((count,), uint32),))
    return take(x, wrap(order), i) if isinstance(x, array) else wrap(order)


def _square_root(cov: np.ndarray) -> np.ndarray:
    u, s, v = np.linalg.svd(cov.astype(np.float64))
    return ((u * np.sqrt(s)[..., None, :]) @ v).astype(np.float32)


@streamed
def multivariate_normal(mean: array, cov: array, shape: Any = (), dtype: Any = float32,
                        key: array | None = None, stream: Any = None) -> array:
    """Vectors of the normal distribution with means (..., n) and covariances (..., n, n).

    mean + z S with z standard normal and S = U sqrt(s) V of the singular values of the covariance.
    The axes before the last ones and `shape` broadcast. Raises DtypeError for dtypes other
    than float32, ShapeError for shapes that do not match.

    >>> import eutectic.core as mx
    >>> mx.random.multivariate_normal(mx.zeros(2), mx.eye(2), (3,), key=mx.random.key(0)).shape
    (3, 2)
    """
    if dtype is not None and dtype is not float32:
        raise DtypeError("[multivariate_normal] only float32 is drawn.")
    m, c = node_of(mean, "multivariate_normal"), node_of(cov, "multivariate_normal")
    if len(m.shape) < 1 or len(c.shape) < 2 or c.shape[-1] != c.shape[-2] or (
            c.shape[-1] != m.shape[-1]):
        raise ShapeError(f"[multivariate_normal] shapes {show_shape(m.shape)} and "
                         f"{show_shape(c.shape)} are not (..., n) and (..., n, n).")
    m, c = prims.cast(m, float32), prims.cast(c, float32)
    to = broadcast_shape("multivariate_normal", shape_of("multivariate_normal", shape),
                         m.shape[:-1], c.shape[:-2])
    n = m.shape[-1]
    z = normal((*to, n), float32, key=key)._n
    if 0 in z.shape:
        return wrap(z)
    [root] = prims.opaque("covariance_root", _square_root, (c,), (), ((c.shape, float32),))
    if len(c.shape) == 2:
        x = prims.matmul(prims.reshape(z, (z.size // n, n)), root)
    else:
        x = prims.matmul(prims.reshape(z, (*to, 1, n)), prims.broadcast(root, (*to, n, n)))
    return wrap(apply(add, prims.reshape(x, (*to, n)), m))
