"""Products of arrays over chosen axes: inner, outer, tensordot, Kronecker, vector dot product."""

from __future__ import annotations

import math
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import float32, promote
from eutectic.errors import ArgumentError, AxisError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel.reductions import SUM
from eutectic.ops.arithmetic import conjugate, multiply
from eutectic.ops.checks import apply, axis_of, integer, integers
from eutectic.ops.devices import streamed
from eutectic.ops.registry import broadcast_shape, node_of


def contract(a: Node, b: Node, batch: int, left: int, right: int) -> Node:
    """Sum of products: a is (batch..., left..., k...), b (batch..., right..., k...), of one dtype;
    the result (batch..., left..., right...).

    A matrix product where both sides have axes of their own and the dtype is inexact; else
    products and a sum, which one kernel makes when compiled. Halves are rounded once.
    """
    outer = a.shape[:batch]
    m, n = a.shape[batch:batch + left], b.shape[batch:batch + right]
    k = a.shape[batch + left:]
    if not k:
        x = prims.reshape(a, (*outer, *m, *(1,) * right))
        y = prims.reshape(b, (*outer, *(1,) * left, *n))
        return apply(multiply, x, y)
    inexact = a.dtype.is_float or a.dtype.is_complex
    if inexact and (left or right):
        depth = math.prod(k)
        x = prims.reshape(a, (*outer, math.prod(m), depth))
        y = prims.reshape(b, (*outer, math.prod(n), depth))
        swap = (*range(batch), batch + 1, batch)
        return prims.reshape(prims.matmul(x, prims.transpose(y, swap)), (*outer, *m, *n))
    dtype = a.dtype if inexact else SUM.result(a.dtype)
    inner = float32 if a.dtype.is_half else dtype
    x = prims.reshape(prims.cast(a, inner), (*outer, *m, *(1,) * right, *k))
    y = prims.reshape(prims.cast(b, inner), (*outer, *(1,) * left, *n, *k))
    products = apply(multiply, x, y)
    rank = len(products.shape)
    total = prims.reduce("sum", products, tuple(range(rank - len(k), rank)))
    return prims.cast(total, dtype)


def _pair(name: str, a: Any, b: Any) -> tuple[Node, Node]:
    x, y = node_of(a, name), node_of(b, name)
    d = promote(x.dtype, y.dtype)
    return prims.cast(x, d), prims.cast(y, d)


@streamed
def inner(a: array, b: array, /, *, stream: Any = None) -> array:
    """Sums of products over the last axes of two arrays; their product where one has no axes.

    Shapes (*M, k) and (*N, k) give (*M, *N), in the promoted dtype; integers narrower than 32 bits
    and booleans are summed as int32 or uint32. Raises ShapeError where the last axes differ.

    >>> import eutectic.core as mx
    >>> mx.inner(mx.array([1.0, 2.0]), mx.array([[3.0, 4.0], [5.0, 6.0]]))
    array([11, 17], dtype=float32)
    """
    x, y = _pair("inner", a, b)
    if not x.shape or not y.shape:
        return wrap(apply(multiply, x, y))
    if x.shape[-1] != y.shape[-1]:
        raise ShapeError(f"[inner] shapes {show_shape(x.shape)} and {show_shape(y.shape)}: the "
                         "last axes differ in length.")
    return wrap(contract(x, y, 0, len(x.shape) - 1, len(y.shape) - 1))


@streamed
def outer(a: array, b: array, /, *, stream: Any = None) -> array:
    """Products of every element of one flattened array with every element of another.

    Sizes m and n give shape (m, n), in the promoted dtype.

    >>> import eutectic.core as mx
    >>> mx.outer(mx.array([1, 2]), mx.array([3, 4]))
    array([[3, 4],
           [6, 8]], dtype=int32)
    """
    x, y = _pair("outer", a, b)
    return wrap(apply(multiply, prims.reshape(x, (x.size, 1)), prims.reshape(y, (1, y.size))))


def _contracted(axes: Any, x: Node, y: Node) -> tuple[list[int], list[int]]:
    """The contracted axes of both operands of a tensordot."""
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2 or not all(isinstance(s, (list, tuple)) for s in axes):
            raise ArgumentError("[tensordot] axes must be an integer or two lists of axes.")
        left = [axis_of("tensordot", i, x.shape) for i in integers("tensordot", "axes", axes[0])]
        right = [axis_of("tensordot", i, y.shape) for i in integers("tensordot", "axes", axes[1])]
        if len(left) != len(right):
            raise ArgumentError(f"[tensordot] {len(left)} axes of the first array for {len(right)} "
                                "of the second.")
        for chosen, n in ((left, x), (right, y)):
            if len(set(chosen)) != len(chosen):
                raise AxisError(f"[tensordot] an axis is given twice for shape "
                                f"{show_shape(n.shape)}.")
        return left, right
    count = integer("tensordot", "axes", axes)
    if not 0 <= count <= min(len(x.shape), len(y.shape)):
        raise ArgumentError(f"[tensordot] no {count} axes to contract in shapes "
                            f"{show_shape(x.shape)} and {show_shape(y.shape)}.")
    return list(range(len(x.shape) - count, len(x.shape))), list(range(count))


@streamed
def tensordot(a: array, b: array, /, axes: Any = 2, *, stream: Any = None) -> array:
    """Sums of products of two arrays over pairs of axes.

    `axes` is a number n (the last n of the first array with the first n of the second), or two
    lists of axes. The result has the other axes, those of the first array in front. Dtypes as for
    `inner`. Raises ArgumentError for axes that do not pair up, AxisError for one out of range or
    given twice, ShapeError where lengths differ.

    >>> import eutectic.core as mx
    >>> mx.tensordot(mx.ones((2, 3, 4)), mx.ones((4, 3, 5)), axes=[[1, 2], [1, 0]]).shape
    (2, 5)
    """
    x, y = _pair("tensordot", a, b)
    left, right = _contracted(axes, x, y)
    if [x.shape[i] for i in left] != [y.shape[i] for i in right]:
        raise ShapeError(f"[tensordot] shapes {show_shape(x.shape)} and {show_shape(y.shape)}: the "
                         "contracted axes differ in length.")
    own = [i for i in range(len(x.shape)) if i not in left]
    others = [i for i in range(len(y.shape)) if i not in right]
    return wrap(contract(prims.transpose(x, (*own, *left)), prims.transpose(y, (*others, *right)),
                         0, len(own), len(others)))


@streamed
def kron(a: array, b: array, *, stream: Any = None) -> array:
    """Kronecker product: every element of one array times the whole of another, as blocks.

    Missing axes are added in front; lengths multiply; the result has the promoted dtype.

    >>> import eutectic.core as mx
    >>> mx.kron(mx.array([1, 10]), mx.array([3, 4]))
    array([3, 4, 30, 40], dtype=int32)
    """
    x, y = _pair("kron", a, b)
    rank = max(len(x.shape), len(y.shape))
    s = (1,) * (rank - len(x.shape)) + x.shape
    t = (1,) * (rank - len(y.shape)) + y.shape
    left = prims.reshape(x, tuple([d for i in s for d in (i, 1)]))
    right = prims.reshape(y, tuple([d for i in t for d in (1, i)]))
    return wrap(prims.reshape(apply(multiply, left, right),
                              tuple([i * j for i, j in zip(s, t)])))


@streamed
def vecdot(a: array, b: array, /, *, axis: int = -1, stream: Any = None) -> array:
    """Sum over an axis of the products of conj(a) and b; the other axes broadcast.

    Dtypes as for `inner`. A negative axis counts from the end of both arrays. Raises AxisError for
    an axis that one of them lacks, ShapeError where their lengths differ or the others do not
    broadcast.

    >>> import eutectic.core as mx
    >>> mx.vecdot(mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.array([1.0, 10.0]))
    array([21, 43], dtype=float32)
    """
    x, y = _pair("vecdot", a, b)
    i = integer("vecdot", "axis", axis)
    rank = max(len(x.shape), len(y.shape))
    back = i - rank if i >= 0 else i
    for n in (x, y):
        if not -len(n.shape) <= back < 0:
            raise AxisError(f"[vecdot] axis {i} is out of range for shapes {show_shape(x.shape)} "
                            f"and {show_shape(y.shape)}.")
    if x.shape[back] != y.shape[back]:
        raise ShapeError(f"[vecdot] shapes {show_shape(x.shape)} and {show_shape(y.shape)}: the "
                         f"lengths of axis {i} differ.")
    x, y = _last(x, back), _last(y, back)
    shape = broadcast_shape("vecdot", x.shape, y.shape)
    if x.dtype.is_complex:
        x = apply(conjugate, x)
    x, y = prims.broadcast(x, shape), prims.broadcast(y, shape)
    return wrap(contract(x, y, len(shape) - 1, 0, 0))


def _last(n: Node, back: int) -> Node:
    rank = len(n.shape)
    i = rank + back
    return prims.transpose(n, (*range(i), *range(i + 1, rank), i))
