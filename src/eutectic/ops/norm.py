"""Vector and matrix norms, from ordinary operations."""

from __future__ import annotations

import math
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, float32, float_of
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, AxisError, ShapeError, TraceError, show_shape)
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops import lapack
from eutectic.ops.checks import apply, axis_of, integers
from eutectic.ops.devices import streamed
from eutectic.ops.registry import node_of

NAME = "linalg::norm"


def _magnitude(n: Node, inner: Dtype) -> Node:
    if n.dtype.is_complex:
        return apply("abs", n, dtype=float32)
    n = prims.cast(n, inner)
    return apply("abs", n, dtype=inner)


def _squares(n: Node, inner: Dtype) -> Node:
    if n.dtype.is_complex:
        return apply("add", apply("square", apply("real", n, dtype=float32)),
                     apply("square", apply("imag", n, dtype=float32)))
    return apply("square", prims.cast(n, inner))


def _over(name: str, n: Node, axis: int) -> Node:
    """Reduce over one axis, which stays with length 1."""
    if name in ("max", "min") and not n.shape[axis]:
        raise ShapeError(f"[{NAME}] no {name} over axis {axis} of length 0 in shape "
                         f"{show_shape(n.shape)}.")
    return prims.reduce(name, n, (axis,), True)


def _two(n: Node, inner: Dtype, axes: tuple[int, ...]) -> Node:
    squares = _squares(n, inner)
    return apply("sqrt", prims.reduce("sum", squares, tuple(sorted(axes)), True))


def _vector(n: Node, order: float, axis: int, inner: Dtype) -> Node:
    if order == 2:
        return _two(n, inner, (axis,))
    if order == 0:
        there = apply("not_equal", n, prims.const(0, n.dtype))
        return _over("sum", prims.cast(there, inner), axis)
    x = _magnitude(n, inner)
    if math.isinf(order):
        return _over("max" if order > 0 else "min", x, axis)
    if order == 1:
        return _over("sum", x, axis)
    total = _over("sum", apply("power", x, prims.const(order, inner)), axis)
    return apply("power", total, prims.const(1 / order, inner))


def _matrix(n: Node, order: float | str, rows: int, columns: int, inner: Dtype) -> Node:
    if order in ("fro", "f"):
        return _two(n, inner, (rows, columns))
    if isinstance(order, float) and abs(order) in (1, math.inf):
        within, across = (rows, columns) if abs(order) == 1 else (columns, rows)
        return _over("max" if order > 0 else "min", _over("sum", _magnitude(n, inner), within),
                     across)
    if order not in ("nuc", 2, -2):
        raise ArgumentError(f"[{NAME}] there is no matrix norm of order {_shown(order)}.")
    rank = len(n.shape)
    rest = [i for i in range(rank) if i not in (rows, columns)]
    m = prims.transpose(n if n.dtype.is_complex else prims.cast(n, inner), (*rest, rows, columns))
    count = min(m.shape[-2:])
    values = prims.opaque("singular_values", lapack.singular_values, (m,), (),
                          (((*m.shape[:-2], count), inner),))[0]
    total = _over("sum" if order == "nuc" else "max" if order == 2 else "min", values, rank - 2)
    kept = tuple([1 if i in (rows, columns) else d for i, d in enumerate(n.shape)])
    return prims.reshape(total, kept)


def _shown(order: float | str) -> str:
    return repr(order) if isinstance(order, str) else f"{order:g}"


@streamed
def norm(a: array, /, ord: Any = None, axis: Any = None, keepdims: bool = False, *,
         stream: Any = None) -> array:
    """Norm of vectors along an axis or of matrices over two axes, or of a whole array.

    Without `ord` the square root of the sum of squares over the axes (all by default). `ord` of
    vectors is a number p, for (sum |a|^p)^(1/p), 0, which counts what is not 0, or inf or -inf,
    for the greatest and least magnitude; of matrices (axes of rows and columns) 1 and -1, inf and
    -inf, for the greatest and least sum of magnitudes of a column or row, 2 and -2, for the
    greatest and least singular value, "fro" or "nuc", for the sum of singular values. Integers,
    booleans and complex numbers give float32; float16 and bfloat16 are computed in float32. Raises
    ShapeError for a number of axes that has no such norm, ArgumentError for other orders.

    >>> import eutectic.core as mx
    >>> a = mx.array([[3.0, 4.0], [6.0, 8.0]])
    >>> mx.linalg.norm(a, axis=1), mx.linalg.norm(a, 1), mx.linalg.norm(a, "fro")
    (array([5, 10], dtype=float32), array(12, dtype=float32), array(11.1803, dtype=float32))
    """
    n = node_of(a, NAME)
    d = float32 if n.dtype.is_complex else float_of(n.dtype)
    inner = float32 if d.is_half else d
    axes = tuple(range(len(n.shape))) if axis is None else tuple(
        [axis_of(NAME, i, n.shape) for i in integers(NAME, "axis", axis)])
    if len(set(axes)) != len(axes):
        raise AxisError(f"[{NAME}] an axis is given twice in {show_shape(axes)}.")
    if ord is None:
        out = _two(n, inner, axes)
    else:
        order = _order(ord)
        if isinstance(order, str) and len(axes) != 2:
            raise ShapeError(f"[{NAME}] the norm {order!r} is of matrices: it needs 2 axes, not "
                             f"{len(axes)}.")
        if len(axes) not in (1, 2):
            raise ShapeError(f"[{NAME}] a norm of order {_shown(order)} needs 1 or 2 axes, not "
                             f"{len(axes)}.")
        out = (_vector(n, float(order), axes[0], inner) if len(axes) == 1
               else _matrix(n, order, axes[0], axes[1], inner))
    if not keepdims:
        out = prims.reshape(out, tuple([s for i, s in enumerate(n.shape) if i not in axes]))
    return wrap(prims.cast(out, d))


def _order(ord: Any) -> float | str:
    if isinstance(ord, str):
        return ord
    try:
        return float(ord)
    except TraceError:
        raise
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"[{NAME}] ord must be a number or a str, not a "
                                f"{type(ord).__name__}.") from None
