"""Scaled dot-product attention."""

from __future__ import annotations

from typing import Any

from eutectic.array import array, wrap
from eutectic.codegen.attention import Variant, code
from eutectic.dtype import PROMOTE, bool_, float32, float64
from eutectic.errors import ArgumentError, DtypeError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel.prim import Prim
from eutectic.ops.arithmetic import add, multiply
from eutectic.ops.checks import apply
from eutectic.ops.comparison import WHERE
from eutectic.ops.devices import streamed
from eutectic.ops.joining import slice_axis
from eutectic.ops.reductions import softmax
from eutectic.ops.registry import node_of

_NAME = "scaled_dot_product_attention"


def _native(n: Node, strides: list[tuple[int, ...]], threads: int) -> Any:
    scale, mask, causal, sinks = n.attrs
    q, k, v = n.inputs[:3]
    return code(Variant(n.dtype.name, mask, causal, sinks), (q.shape, k.shape, v.shape), strides,
                scale, threads)


ATTENTION = Prim(_NAME, "native", native=_native)
"""inputs (q, k, v[, mask][, sinks]), attrs = (scale, mask dtype or '', causal, sinks)."""


def formula(q: Node, k: Node, v: Node, scale: float, mask: Node | None, causal: bool,
            sinks: Node | None) -> Node:
    """The same by its definition, with the score matrix: float64, and nothing to attend to."""
    b, heads, tq, _d = q.shape
    groups = heads // k.shape[1]

    def spread(x: Node) -> Node:
        one = prims.reshape(x, (b, x.shape[1], 1, *x.shape[2:]))
        wide = prims.broadcast(one, (b, x.shape[1], groups, *x.shape[2:]))
        return prims.reshape(wide, (b, heads, *x.shape[2:]))
    k, v = spread(k), spread(v)
    tk = k.shape[2]
    s = prims.matmul(apply(multiply, q, prims.const(scale, q.dtype)),
                     prims.transpose(k, (0, 1, 3, 2)))
    low = prims.const(float("-inf"), s.dtype)
    if mask is not None:
        s = (Node(WHERE, (mask, s, low), (), s.shape, s.dtype) if mask.dtype is bool_
             else apply(add, s, prims.cast(mask, s.dtype)))
    if causal:
        ahead = apply("add", prims.iota((tq, tk), 0), prims.const(tk - tq, prims.int64))
        seen = apply("greater_equal", ahead, prims.iota((tq, tk), 1), dtype=bool_)
        s = Node(WHERE, (seen, s, low), (), s.shape, s.dtype)
    if sinks is not None:
        column = prims.reshape(prims.cast(sinks, s.dtype), (1, heads, 1, 1))
        s = prims.concatenate([s, prims.broadcast(column, (b, heads, tq, 1))], 3)
    weights = softmax(wrap(s), axis=-1)._n
    return prims.matmul(slice_axis(weights, 3, 0, tk), v)


@streamed
def scaled_dot_product_attention(q: array, k: array, v: array, *, scale: float,
                                 mask: str | array | None = None, sinks: array | None = None,
                                 force_fused: bool = False, stream: Any = None) -> array:
    """`softmax(scale * q @ k.T + mask) @ v` for each head, without the matrix of scores.

    `q` has shape (B, N, Tq, D), `k` (B, Nkv, Tk, D), `v` (B, Nkv, Tk, Dv); N is a multiple of Nkv
    (each key head serves N/Nkv query heads). `mask` is "causal" (the last query sees the last key),
    a boolean array (True is seen) or one to add, broadcast to (B, N, Tq, Tk). `sinks` (N,) adds one
    logit a head that takes weight and gives no value. Scores and sums are float32; the result has
    the promoted dtype. Memory is linear in the lengths. A query that sees nothing gives nan.

    Raises ShapeError for shapes that do not go together, DtypeError for other than real floating
    types, ArgumentError for an unknown mask.

    >>> import eutectic.core as mx
    >>> q = mx.ones((1, 1, 2, 4))
    >>> v = mx.array([[[[1.0], [3.0]]]])
    >>> mx.fast.scaled_dot_product_attention(q, q, v, scale=1.0, mask="causal")
    array([[[[1],
             [2]]]], dtype=float32)
    """
    nodes = [node_of(x, _NAME) for x in (q, k, v)]
    for what, n in zip(("queries", "keys", "values"), nodes):
        if len(n.shape) != 4:
            raise ShapeError(f"[{_NAME}] {what} need 4 axes (batch, heads, length, features), "
                             f"got shape {show_shape(n.shape)}.")
    (b, heads, tq, d), (_, kv_heads, tk, _), (_, _, _, dv) = (n.shape for n in nodes)
    shapes = " and ".join(show_shape(n.shape) for n in nodes)
    if (nodes[1].shape[0] != b or nodes[2].shape[0] != b or nodes[1].shape[3] != d
            or nodes[2].shape[1:3] != (kv_heads, tk)):
        raise ShapeError(f"[{_NAME}] queries, keys and values of shapes {shapes} do not go "
                         "together.")
    if not kv_heads or heads % kv_heads:
        raise ShapeError(f"[{_NAME}] {heads} query heads are no multiple of {kv_heads} key heads, "
                         f"with shapes {shapes}.")
    dtype = nodes[0].dtype
    for n in nodes[1:]:
        dtype = PROMOTE[dtype.index][n.dtype.index]
    if not dtype.is_float:
        raise DtypeError(f"[{_NAME}] takes real floating types, not {dtype.name}.")
    nodes = [prims.cast(n, dtype) for n in nodes]
    causal = isinstance(mask, str)
    if causal and mask != "causal":
        raise ArgumentError(f"[{_NAME}] knows the mask 'causal', not {mask!r}.")
    m = None if mask is None or causal else _mask(mask, (b, heads, tq, tk))
    inputs = list(nodes)
    if m is not None:
        inputs.append(m)
    if sinks is not None:
        s = node_of(sinks, _NAME)
        if s.shape != (heads,):
            raise ShapeError(f"[{_NAME}] sinks need shape ({heads},), got {show_shape(s.shape)}.")
        inputs.append(prims.cast(s, float32))
    shape = (b, heads, tq, dv)
    if dtype is float64 or not tk or not d:
        sink = inputs[-1] if sinks is not None else None
        return wrap(formula(nodes[0], nodes[1], nodes[2], float(scale), m, causal, sink))
    attrs = (float(scale), "" if m is None else m.dtype.name, causal, sinks is not None)
    return wrap(Node(ATTENTION, tuple(inputs), attrs, shape, dtype))


def _mask(mask: Any, shape: tuple[int, ...]) -> Node:
    m = node_of(mask, _NAME)
    if not (m.dtype is bool_ or m.dtype.is_float):
        raise DtypeError(f"[{_NAME}] the mask is boolean or floating, not {m.dtype.name}.")
    fits = len(m.shape) <= 4 and all(a in (1, d) for a, d in zip(m.shape[::-1], shape[::-1]))
    if not fits:
        raise ShapeError(f"[{_NAME}] a mask of shape {show_shape(m.shape)} does not broadcast to "
                         f"{show_shape(shape)}.")
    return prims.broadcast(m if m.dtype is bool_ else prims.cast(m, float32), shape)
