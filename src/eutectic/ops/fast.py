"""Fused layers: `rms_norm`, `layer_norm`, `cross_entropy`.

Each is one operation that lowers to simpler ones in float32 with a single rounding at the end, so
plain evaluation runs it in one pass over each row and compiled code fuses it with its neighbours.
"""

from __future__ import annotations

import functools
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, float32, int64, promote
from eutectic.errors import DtypeError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel.prim import Prim
from eutectic.ops.arithmetic import add, divide, multiply, rsqrt, subtract
from eutectic.ops.checks import apply, number
from eutectic.ops.devices import streamed
from eutectic.ops.reductions import logsumexp
from eutectic.ops.registry import node_of


def real_floating(name: str, x: Any) -> Node:
    n = node_of(x, name)
    if not n.dtype.is_float:
        raise DtypeError(f"[{name}] takes real floating types, not {n.dtype.name}.")
    return n


def vector(name: str, what: str, x: Any, size: int) -> Node:
    n = real_floating(name, x)
    if n.shape != (size,):
        raise ShapeError(f"[{name}] {what} needs shape {show_shape((size,))}, the last axis of the "
                         f"input, but has shape {show_shape(n.shape)}.")
    return n


def _mean(x: Node) -> Node:
    axis = len(x.shape) - 1
    total = prims.reduce("sum", x, (axis,), True)
    return apply(divide, total, prims.const(x.shape[-1], x.dtype))


def _affine(n: Node, y: Node, rest: tuple[Node, ...], flags: tuple[bool, bool]) -> Node:
    it = iter(rest)
    if flags[0]:
        y = apply(multiply, y, prims.cast(next(it), y.dtype))
    if flags[1]:
        y = apply(add, y, prims.cast(next(it), y.dtype))
    return prims.cast(y, n.dtype)


def _lower_rms(n: Node) -> Node:
    eps, weighted = n.attrs
    x = prims.cast(n.inputs[0], float32 if n.dtype.is_half else n.dtype)
    scale = apply(rsqrt, apply(add, _mean(apply(multiply, x, x)), prims.const(eps, x.dtype)))
    return _affine(n, apply(multiply, x, scale), n.inputs[1:], (weighted, False))


def _lower_layer(n: Node) -> Node:
    eps, weighted, shifted = n.attrs
    x = prims.cast(n.inputs[0], float32 if n.dtype.is_half else n.dtype)
    d = apply(subtract, x, _mean(x))
    variance = _mean(apply(multiply, d, d))
    scale = apply(rsqrt, apply(add, variance, prims.const(eps, x.dtype)))
    return _affine(n, apply(multiply, d, scale), n.inputs[1:], (weighted, shifted))


RMS_NORM = Prim("rms_norm", "composite", lower=_lower_rms)
LAYER_NORM = Prim("layer_norm", "composite", lower=_lower_layer)


def _rows(name: str, x: Any) -> Node:
    n = real_floating(name, x)
    if not n.shape:
        raise ShapeError(f"[{name}] needs at least one axis, got shape {show_shape(n.shape)}.")
    return n


def _promoted(*nodes: Node) -> Dtype:
    return functools.reduce(promote, (n.dtype for n in nodes))


@streamed
def rms_norm(x: array, weight: array | None, eps: float, *, stream: Any = None) -> array:
    """Scale each row by the root of the mean of its squares: `x * rsqrt(mean(x*x) + eps) * weight`.

    `x` has any shape (..., D) of a real floating type, `weight` shape (D,) or None; the result has
    the type both promote to. Half types are computed in float32 and rounded once. Raises ShapeError
    for a weight of another length.

    >>> import eutectic.core as mx
    >>> mx.fast.rms_norm(mx.array([3.0, 4.0]), None, 0.0)
    array([0.848528, 1.13137], dtype=float32)
    """
    n = _rows("rms_norm", x)
    rest = () if weight is None else (vector("rms_norm", "weight", weight, n.shape[-1]),)
    return wrap(Node(RMS_NORM, (n, *rest), (number("rms_norm", "eps", eps), bool(rest)), n.shape,
                     _promoted(n, *rest)))


@streamed
def layer_norm(x: array, weight: array | None, bias: array | None, eps: float, *,
               stream: Any = None) -> array:
    """Centre each row and scale it to unit variance, then `* weight + bias`.

    `x` has any shape (..., D) of a real floating type, `weight` and `bias` shape (D,) or None; the
    result has the type all promote to. Half types are computed in float32 and rounded once. Raises
    ShapeError for other lengths.

    >>> import eutectic.core as mx
    >>> mx.fast.layer_norm(mx.array([1.0, 3.0]), None, None, 0.0)
    array([-1, 1], dtype=float32)
    """
    n = _rows("layer_norm", x)
    rest = [vector("layer_norm", what, v, n.shape[-1])
            for what, v in (("weight", weight), ("bias", bias)) if v is not None]
    attrs = (number("layer_norm", "eps", eps), weight is not None, bias is not None)
    return wrap(Node(LAYER_NORM, (n, *rest), attrs, n.shape, _promoted(n, *rest)))


def _lower_cross_entropy(n: Node) -> Node:
    logits, targets = n.inputs
    x = prims.cast(logits, float32)
    rank = len(x.shape)
    axes = (*range(rank - 1), -1)
    picked = prims.cast(prims.gather(logits, [prims.cast(targets, int64)], axes, targets.shape),
                        float32)
    return apply(subtract, logsumexp(wrap(x), axis=-1)._n, picked)


CROSS_ENTROPY = Prim("cross_entropy", "composite", lower=_lower_cross_entropy)


@streamed
def cross_entropy(logits: array, targets: array, *, stream: Any = None) -> array:
    """`logsumexp(logits, axis=-1) - logits[..., target]` for each row, in float32.

    `logits` has shape (..., V) of a real floating type, `targets` holds class indices in [0, V) and
    has shape (...). Raises ShapeError where the shapes differ, DtypeError for other types.

    >>> import eutectic.core as mx
    >>> mx.fast.cross_entropy(mx.array([[0.0, 0.0]]), mx.array([1]))
    array([0.693147], dtype=float32)
    """
    x, t = _rows("cross_entropy", logits), node_of(targets, "cross_entropy")
    if not t.dtype.is_int:
        raise DtypeError(f"[cross_entropy] targets are class indices, not {t.dtype.name}.")
    if t.shape != x.shape[:-1]:
        raise ShapeError(f"[cross_entropy] targets need shape {show_shape(x.shape[:-1])}, "
                         f"got shape {show_shape(t.shape)}.")
    return wrap(Node(CROSS_ENTROPY, (x, t), (), t.shape, float32))


