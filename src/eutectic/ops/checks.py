"""Checks of axes and shapes that all families share, and nodes of elementwise operations."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from eutectic.dtype import Dtype
from eutectic.errors import ArgumentTypeError, AxisError, ShapeError, show_shape
from eutectic.graph.ir import Node
from eutectic.ops.registry import OPS, Op, broadcast_shape


def integer(name: str, what: str, x: Any) -> int:
    """An argument as a Python integer, or an error that names it."""
    if type(x) is int:
        return x
    try:
        return operator.index(x)
    except TypeError:
        raise ArgumentTypeError(f"[{name}] {what} must be an integer, not "
                                f"{type(x).__name__}.") from None


def number(name: str, what: str, x: Any) -> float:
    """An argument as a Python float, or an error that names it; text is no number."""
    if type(x) is float:
        return x
    try:
        if not isinstance(x, (str, bytes, bytearray)):
            return float(x)
    except TypeError:
        pass
    raise ArgumentTypeError(f"[{name}] {what} must be a real number, not {type(x).__name__}.")


def integers(name: str, what: str, x: Any) -> tuple[int, ...]:
    """An integer or a sequence of integers as a tuple."""
    if type(x) is int:
        return (x,)
    if isinstance(x, (list, tuple)):
        return tuple([i if type(i) is int else integer(name, what, i) for i in x])
    try:
        return (operator.index(x),)
    except TypeError:
        pass
    try:
        items = list(x)
    except TypeError:
        raise ArgumentTypeError(f"[{name}] {what} must be an integer or a sequence of integers, "
                                f"not {type(x).__name__}.") from None
    return tuple([integer(name, what, i) for i in items])


def shape_of(name: str, x: Any) -> tuple[int, ...]:
    """A shape argument: no negative lengths."""
    shape = integers(name, "shape", x)
    for d in shape:
        if d < 0:
            raise ShapeError(f"[{name}] negative length in shape {show_shape(shape)}.")
    return shape


def axis_of(name: str, axis: Any, shape: Sequence[int]) -> int:
    """A non-negative axis of a shape."""
    i = axis if type(axis) is int else integer(name, "axis", axis)
    if not -len(shape) <= i < len(shape):
        raise AxisError(f"[{name}] axis {i} is out of range for shape {show_shape(shape)}.")
    return i + len(shape) if i < 0 else i


def axes_of(name: str, axis: Any, shape: Sequence[int]) -> tuple[int, ...]:
    """Sorted non-negative axes; all of them for None."""
    if axis is None:
        return tuple(range(len(shape)))
    if type(axis) is int:
        return (axis_of(name, axis, shape),)
    axes = sorted([axis_of(name, i, shape) for i in integers(name, "axis", axis)])
    for i in axes:
        if axes.count(i) > 1:
            raise AxisError(f"[{name}] axis {i} is given twice for shape {show_shape(shape)}.")
    return tuple(axes)


def apply(op: Callable[..., Any] | str, *nodes: Node, dtype: Dtype | None = None,
          attrs: tuple[Any, ...] = ()) -> Node:
    """The node of an elementwise operation on operands that already have its computing dtype."""
    record: Op = OPS[op if isinstance(op, str) else op.__name__]
    shape = broadcast_shape(record.name, *[n.shape for n in nodes])
    return Node(record.prim, nodes, attrs, shape, dtype or record.result(nodes[0].dtype))
