"""Matrix products."""

from __future__ import annotations

from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import promote
from eutectic.errors import DtypeError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops.arithmetic import add, multiply
from eutectic.ops.checks import apply
from eutectic.ops.devices import streamed
from eutectic.ops.registry import broadcast_shape, node_of


def _product(name: str, x: Node, y: Node) -> Node:
    d = promote(x.dtype, y.dtype)
    if not (d.is_float or d.is_complex):
        raise DtypeError(f"[{name}] only inexact types are supported but {x.dtype.name} and "
                         f"{y.dtype.name} were given.")
    if not x.shape or not y.shape:
        raise ShapeError(f"[{name}] shapes {show_shape(x.shape)} and {show_shape(y.shape)}: both "
                         "operands need at least one axis.")
    row, column = len(x.shape) == 1, len(y.shape) == 1
    a = prims.cast(x, d) if not row else prims.reshape(prims.cast(x, d), (1, *x.shape))
    b = prims.cast(y, d) if not column else prims.reshape(prims.cast(y, d), (*y.shape, 1))
    if a.shape[-1] != b.shape[-2]:
        raise ShapeError(f"[{name}] shapes {show_shape(x.shape)} and {show_shape(y.shape)}: the "
                         f"inner lengths {a.shape[-1]} and {b.shape[-2]} differ.")
    if len(a.shape) > 2 and len(b.shape) == 2:
        # One product over all rows instead of one a batch.
        rows = a.size // a.shape[-1] if a.shape[-1] else 0
        if rows:
            out = prims.matmul(prims.reshape(a, (rows, a.shape[-1])), b)
            return _squeezed(prims.reshape(out, (*a.shape[:-1], b.shape[-1])), row, column)
    batch = _batch(name, x.shape, y.shape, a.shape[:-2], b.shape[:-2])
    a = prims.broadcast(a, (*batch, *a.shape[-2:]))
    b = prims.broadcast(b, (*batch, *b.shape[-2:]))
    return _squeezed(prims.matmul(a, b), row, column)


def _batch(name: str, x: tuple[int, ...], y: tuple[int, ...], a: tuple[int, ...],
           b: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return broadcast_shape(name, a, b)
    except ShapeError:
        raise ShapeError(f"[{name}] shapes {show_shape(x)} and {show_shape(y)}: the axes before "
                         "the last two cannot be broadcast together.") from None


def _squeezed(out: Node, row: bool, column: bool) -> Node:
    shape = out.shape
    if column:
        shape = shape[:-1]
    if row:
        shape = shape[:-2] + shape[-1:] if not column else shape[:-1]
    return prims.reshape(out, shape)


@streamed
def matmul(a: array, b: array, /, *, stream: Any = None) -> array:
    """Matrix product over the last two axes; axes before them broadcast.

    Floating and complex dtypes, promoted together. An operand of one axis is a row on the left
    and a column on the right. Raises DtypeError for integers, ShapeError for shapes that do not
    match.

    >>> import eutectic.core as mx
    >>> mx.matmul(mx.array([[1.0, 2.0]]), mx.array([[3.0], [4.0]]))
    array([[11]], dtype=float32)
    """
    return wrap(_product("matmul", node_of(a, "matmul"), node_of(b, "matmul")))


@streamed
def addmm(c: array, a: array, b: array, /, alpha: float = 1.0, beta: float = 1.0, *,
          stream: Any = None) -> array:
    """alpha * (a @ b) + beta * c, with `c` broadcast to the product's shape.

    Raises as `matmul` does, and ShapeError where `c` does not broadcast to the product.

    >>> import eutectic.core as mx
    >>> mx.addmm(mx.array([1.0]), mx.array([[1.0, 2.0]]), mx.array([[3.0], [4.0]]), alpha=2.0)
    array([[23]], dtype=float32)
    """
    x, y, z = node_of(a, "addmm"), node_of(b, "addmm"), node_of(c, "addmm")
    d = promote(promote(x.dtype, y.dtype), z.dtype)
    product = _product("addmm", prims.cast(x, d), prims.cast(y, d))
    z = prims.cast(z, d)
    if broadcast_shape("addmm", product.shape, z.shape) != product.shape:
        raise ShapeError(f"[addmm] shape {show_shape(z.shape)} does not broadcast to "
                         f"{show_shape(product.shape)}.")
    if alpha != 1:
        product = apply(multiply, product, prims.const(alpha, d))
    if beta != 1:
        z = apply(multiply, z, prims.const(beta, d))
    return wrap(apply(add, product, z))


def _matmul_operator(self: array, other: Any) -> Any:
    return matmul(self, other) if _is_operand(other) else NotImplemented


def _rmatmul_operator(self: array, other: Any) -> Any:
    return matmul(other, self) if _is_operand(other) else NotImplemented


def _is_operand(x: Any) -> bool:
    return hasattr(x, "shape") or hasattr(x, "__mlx_array__")


for _name, _method in (("__matmul__", _matmul_operator), ("__rmatmul__", _rmatmul_operator)):
    setattr(array, _name, _method)
