"""Rotary positions: `rope`.

The sines and cosines depend on positions and frequencies alone: they are a small table, made once
a call, by which one pass over the array rotates all heads.
"""

from __future__ import annotations

import math
from typing import Any

from eutectic.array import array, wrap
from eutectic.codegen.rotation import code
from eutectic.dtype import Dtype, float32, float64
from eutectic.errors import ArgumentError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel.prim import Prim
from eutectic.ops.arithmetic import add, divide, multiply, negative, subtract
from eutectic.ops.checks import apply, number
from eutectic.ops.derivatives import structural
from eutectic.ops.devices import streamed
from eutectic.ops.fast import real_floating, vector
from eutectic.ops.functions import cos, exp, sin
from eutectic.ops.registry import node_of


def _native(n: Node, strides: list[tuple[int, ...]], threads: int) -> Any:
    return code(n.dtype.name, n.attrs[0], [i.shape for i in n.inputs], strides)


ROTATE = Prim("rotate", "native", native=_native)
"""inputs (x, cosines, sines) of shapes (B, H, T, D) and (B or 1, 1, T, pairs), attrs =
(neighbours,): pair k of the first features, neighbours or half the rotated width apart, turned."""


def rotate(x: Node, cosines: Node, sines: Node, neighbours: bool) -> Node:
    return Node(ROTATE, (x, cosines, sines), (neighbours,), x.shape, x.dtype)


@structural(ROTATE)
def _back(g: Node, n: Node) -> list[Node | None]:
    x, cosines, sines = n.inputs
    [neighbours] = n.attrs
    (a, b), (da, db) = (_pairs(v, sines.dtype, sines.shape[-1], neighbours) for v in (x, g))
    # first = a cos - b sin, second = a sin + b cos
    along = apply(add, apply(multiply, da, a), apply(multiply, db, b))
    across = apply(subtract, apply(multiply, db, a), apply(multiply, da, b))
    return [rotate(g, cosines, apply(negative, sines), neighbours), along, across]


def _pairs(x: Node, dtype: Dtype, pairs: int, neighbours: bool) -> tuple[Node, Node]:
    """The first and the second features of the pairs."""
    step, second = (2, 1) if neighbours else (1, pairs)
    a, b = (prims.slice_(x, (0, 0, 0, start), (1, 1, 1, step), (*x.shape[:-1], pairs))
            for start in (0, second))
    return prims.cast(a, dtype), prims.cast(b, dtype)


def _lower(n: Node) -> Node:
    dims, traditional, base, scale = n.attrs
    x = n.inputs[0]
    batch, *middle, length, width = x.shape
    half = dims // 2
    to = float64 if x.dtype is float64 else float32
    offset = prims.cast(n.inputs[1], to)
    if offset.shape:  # one for each example of the batch
        offset = prims.reshape(offset, (offset.shape[0], 1, 1, 1))
    steps = prims.reshape(prims.cast(prims.iota((length,), 0), to), (1, 1, length, 1))
    position = apply(multiply, apply(add, steps, offset), prims.const(scale, to))
    if base is None:
        rate = apply(divide, prims.const(1.0, to), prims.cast(n.inputs[2], to))
    else:
        k = prims.cast(prims.iota((half,), 0), to)
        rate = apply(exp, apply(multiply, k, prims.const(-math.log(base) / half, to)))
    angle = apply(multiply, position, rate)
    flat = prims.reshape(x, (batch, math.prod(middle), length, width))
    return prims.reshape(rotate(flat, apply(cos, angle), apply(sin, angle), traditional), x.shape)


ROPE = Prim("rope", "composite", lower=_lower)


@streamed
def rope(a: array, dims: int, *, traditional: bool, base: float | None, scale: float,
         offset: int | array, freqs: array | None = None, stream: Any = None) -> array:
    """Rotate pairs of features by angles that grow with the position (rotary encoding).

    `a` has shape (B, ..., T, D); the first `dims` features are rotated, neighbouring ones if
    `traditional`, else feature i with i + dims/2. Position t turns pair k by
    `scale * (t + offset) * base**(-2k/dims)`, or divided by `freqs[k]`; `offset` is a number or an
    array of one for each example. Exactly one of `base` and `freqs` is given. Angles are float32,
    float64 for float64.
    Formula: Su et al., RoFormer (arXiv 2104.09864).

    Raises ShapeError for fewer than 3 axes, ArgumentError for odd or too large `dims`.

    >>> import eutectic.core as mx
    >>> x = mx.ones((1, 2, 2))
    >>> mx.fast.rope(x, 2, traditional=True, base=10000.0, scale=1.0, offset=0)
    array([[[1, 1],
            [-0.301169, 1.38177]]], dtype=float32)
    """
    n = real_floating("rope", a)
    if len(n.shape) < 3:
        raise ShapeError(f"[rope] needs at least 3 axes (B, ..., T, D), got shape "
                         f"{show_shape(n.shape)}.")
    if dims % 2 or not 0 < dims <= n.shape[-1]:
        raise ArgumentError(f"[rope] dims must be even and at most the last axis of shape "
                            f"{show_shape(n.shape)}, got {dims}.")
    if (base is None) == (freqs is None):
        raise ArgumentError("[rope] give exactly one of base and freqs.")
    at = node_of(offset, "rope")
    if at.shape not in ((), (1,), (n.shape[0],)):
        raise ShapeError(f"[rope] offset needs one number, or one for each of {n.shape[0]} "
                         f"examples; it has shape {show_shape(at.shape)}.")
    inputs = [n, at]
    if freqs is not None:
        inputs.append(vector("rope", "freqs", freqs, dims // 2))
    attrs = (dims, bool(traditional), None if base is None else number("rope", "base", base),
             number("rope", "scale", scale))
    return wrap(Node(ROPE, tuple(inputs), attrs, n.shape, n.dtype))
