"""Picking along axes: take, take and put along an axis, slices at computed places, strides.

Indices known while building (numbers, lists, NumPy arrays) are checked; those in arrays are
counted from the end where negative, and clamped to the nearest element where out of range.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import bool_, int64
from eutectic.errors import (
    ArgumentError, AxisError, DtypeError, IndexingError, ShapeError, show_shape)
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.graph.layout import row_major
from eutectic.kernel.prim import Prim
from eutectic.kernel.scalar import Value, convert, fmax, fmin, select
from eutectic.ops.advanced_indexing import given_index, known_index
from eutectic.ops.checks import apply, axis_of, integer, integers, shape_of
from eutectic.ops.devices import streamed
from eutectic.ops.indexing import fitted, value_for
from eutectic.ops.joining import slice_axis
from eutectic.ops.registry import node_of


def _indices(name: str, x: Any, axis: int, shape: tuple[int, ...]) -> Node:
    """Indices along an axis as a node of integers."""
    found = given_index(name, x)
    if found.dtype in (bool_, np.dtype(bool)):
        raise DtypeError(f"[{name}] indices are integers, not bool; use x[mask].")
    return found if isinstance(found, Node) else known_index(name, found, axis, shape)


def _number(x: Any) -> int | None:
    """The integer that an index is, if it is known while building and no array."""
    if isinstance(x, (array, np.ndarray, list, tuple)):
        return None
    try:
        return operator.index(x)
    except TypeError:
        return None


def _not_empty(name: str, axis: int, shape: tuple[int, ...]) -> None:
    if not shape[axis]:
        raise IndexingError(f"[{name}] no elements to take on axis {axis} of shape "
                            f"{show_shape(shape)}.")


@streamed
def take(a: array, /, indices: Any, axis: int | None = None, *, stream: Any = None) -> array:
    """Elements along an axis, or of the flattened array, at integer indices.

    The indices' axes take the place of the axis. A number gives a view. Negative indices count
    from the end. Raises IndexingError for numbers and lists out of range, and for an axis of length
    0, DtypeError for booleans; indices out of range in an array take the nearest element.

    >>> import eutectic.core as mx
    >>> mx.take(mx.array([[1, 2, 3], [4, 5, 6]]), mx.array([2, 0, -1]), axis=1)
    array([[3, 1, 3],
           [6, 4, 6]], dtype=int32)
    >>> mx.take(mx.array([[1, 2, 3], [4, 5, 6]]), 4)
    array(5, dtype=int32)
    """
    n = node_of(a, "take")
    if axis is None or (not n.shape and axis in (0, -1)):
        n, axis = prims.reshape(n, (n.size,)), 0
    i = axis_of("take", axis, n.shape)
    before, after = n.shape[:i], n.shape[i + 1:]
    one = _number(indices)
    if one is not None:
        d = n.shape[i]
        if not -d <= one < d:
            raise IndexingError(f"[take] index {one} is out of range for axis {i} of shape "
                                f"{show_shape(n.shape)}.")
        one %= d
        return wrap(prims.reshape(slice_axis(n, i, one, one + 1), (*before, *after)))
    index = _indices("take", indices, i, n.shape)
    shape = (*before, *index.shape, *after)
    if 0 in shape:
        return wrap(prims.broadcast(prims.const(0, n.dtype), shape))
    _not_empty("take", i, n.shape)
    rank = len(index.shape)
    axes = (*range(i), -1, *range(i + rank, i + rank + len(after)))
    index = prims.reshape(index, index.shape + (1,) * len(after))
    return wrap(prims.gather(n, [index], axes, shape))


def _along(name: str, a: Any, indices: Any, axis: Any) -> tuple[Node, Node, int]:
    """Array, indices and axis of the operations along an axis; flattened for None."""
    n = node_of(a, name)
    if axis is None:
        n, axis = prims.reshape(n, (n.size,)), 0
    i = axis_of(name, axis, n.shape)
    index = _indices(name, indices, i, n.shape)
    if len(index.shape) != len(n.shape):
        raise ShapeError(f"[{name}] indices of shape {show_shape(index.shape)} need as many axes "
                         f"as the array of shape {show_shape(n.shape)}.")
    return n, index, i


@streamed
def take_along_axis(a: array, /, indices: array, axis: int | None = -1, *,
                    stream: Any = None) -> array:
    """Elements along an axis, each at an index of its own, as `argsort` gives them.

    `indices` has as many axes as the array; the other axes broadcast. None: the flattened array.
    Indices out of range as for `take`. Raises ShapeError where shapes do not match, DtypeError for
    booleans.

    >>> import eutectic.core as mx
    >>> mx.take_along_axis(mx.array([[1, 2], [3, 4]]), mx.array([[1], [0]]), axis=1)
    array([[2],
           [3]], dtype=int32)
    """
    n, index, i = _along("take_along_axis", a, indices, axis)
    shape = []
    for k, (d, e) in enumerate(zip(n.shape, index.shape)):
        if k != i and d != e and 1 not in (d, e):
            raise ShapeError(f"[take_along_axis] indices of shape {show_shape(index.shape)} do not "
                             f"match shape {show_shape(n.shape)} outside axis {i}.")
        shape.append(e if k == i or d == 1 else d)
    to = tuple(shape)
    if 0 in to:
        return wrap(prims.broadcast(prims.const(0, n.dtype), to))
    _not_empty("take_along_axis", i, n.shape)
    n = prims.broadcast(n, (*to[:i], n.shape[i], *to[i + 1:]))
    axes = tuple([-1 if k == i else k for k in range(len(to))])
    return wrap(prims.gather(n, [index], axes, to))


@streamed
def put_along_axis(a: array, /, indices: array, values: Any, axis: int | None = None, *,
                   stream: Any = None) -> array:
    """The array with elements along an axis replaced, each at an index of its own.

    `indices` has as many axes as the array, and its other axes broadcast to the array's; `values`
    broadcast to the indices and are converted to the array's dtype. None: the flattened array.
    Where an index comes twice, the last one stands; indices out of range as for `take`. Raises
    ShapeError where shapes do not match.

    >>> import eutectic.core as mx
    >>> mx.put_along_axis(mx.array([[1, 2], [3, 4]]), mx.array([[1], [0]]), 9, axis=1)
    array([[1, 9],
           [9, 4]], dtype=int32)
    """
    n, index, i = _along("put_along_axis", a, indices, axis)
    for k, (d, e) in enumerate(zip(n.shape, index.shape)):
        if k != i and e not in (1, d):
            raise ShapeError(f"[put_along_axis] indices of shape {show_shape(index.shape)} do not "
                             f"match shape {show_shape(n.shape)} outside axis {i}.")
    to = (*n.shape[:i], index.shape[i], *n.shape[i + 1:])
    v = fitted(value_for(values, n.dtype), to)
    if 0 not in to:
        _not_empty("put_along_axis", i, n.shape)
        axes = tuple([-1 if k == i else k for k in range(len(to))])
        n = prims.scatter(n, v, [index], axes, "set")
    return wrap(prims.reshape(n, a.shape))


def _window_body(start: Value, i: Value, length: Value, size: Value) -> Value:
    s = convert(start, "i64")
    s = select(s < 0, s + length, s)
    return fmax(fmin(s, length - size), 0) + i


WINDOW = Prim("window", "elementwise", body=_window_body)
"""Positions of a window of an axis: inputs (start, iota, length, size)."""


def _windows(name: str, n: Node, starts: Any, axes: Any,
             sizes: tuple[int, ...]) -> tuple[tuple[int, ...], list[Node], dict[int, int]]:
    """Axes, and for starts in an array the positions along each; else the starts by axis."""
    at = [axis_of(name, i, n.shape) for i in integers(name, "axes", axes)]
    for i in at:
        if at.count(i) > 1:
            raise AxisError(f"[{name}] axis {i} is given twice for shape {show_shape(n.shape)}.")
    known = not isinstance(starts, array)
    count = len(integers(name, "start_indices", starts)) if known else starts.size
    if count != len(at) or (not known and len(starts.shape) > 1):
        raise ShapeError(f"[{name}] {count} start indices for {len(at)} axes.")
    if known:
        fixed = {}
        for i, s in zip(at, integers(name, "start_indices", starts)):
            d = n.shape[i]
            fixed[i] = s + d if s < 0 else s
            if not 0 <= fixed[i] <= d - sizes[i]:
                raise IndexingError(f"[{name}] {sizes[i]} elements from {s} reach outside axis {i} "
                                    f"of shape {show_shape(n.shape)}.")
        return tuple(at), [], fixed
    if not starts.dtype.is_int:
        raise DtypeError(f"[{name}] start indices are integers, not {starts.dtype.name}.")
    given = prims.reshape(starts._n, (count,))
    indices = []
    for k, i in enumerate(at):
        one = prims.reshape(slice_axis(given, 0, k, k + 1), ())
        size = sizes[i]
        inputs = (one, prims.iota((size,), 0), prims.const(n.shape[i], int64),
                  prims.const(size, int64))
        along = Node(WINDOW, inputs, (), (size,), int64)
        indices.append(prims.reshape(along, (size, *(1,) * (len(n.shape) - 1 - i))))
    return tuple(at), indices, {}


@streamed
def slice_(a: array, start_indices: Any, axes: Any, slice_size: Any, *,
           stream: Any = None) -> array:
    """A part of an array of a fixed size that starts at computed places.

    `start_indices` has one integer for each of `axes`; the other axes start at 0. Starts in an
    array are moved so that the part lies inside; others are checked (IndexingError). Raises
    ShapeError for a size that does not fit, DtypeError for starts that are no integers.

    >>> import eutectic.core as mx
    >>> mx.slice(mx.arange(6).reshape(2, 3), mx.array([1]), [1], (2, 2))
    array([[1, 2],
           [4, 5]], dtype=int32)
    """
    n = node_of(a, "slice")
    size = shape_of("slice", slice_size)
    if len(size) != len(n.shape) or any(s > d for s, d in zip(size, n.shape)):
        raise ShapeError(f"[slice] a slice of size {show_shape(size)} does not fit shape "
                         f"{show_shape(n.shape)}.")
    at, indices, known = _windows("slice", n, start_indices, axes, size)
    if not indices:
        starts = tuple([known.get(i, 0) for i in range(len(size))])
        return wrap(prims.slice_(n, starts, (1,) * len(size), size))
    if 0 in size:
        return wrap(prims.broadcast(prims.const(0, n.dtype), size))
    rules = tuple([-1 - at.index(i) if i in at else i for i in range(len(size))])
    return wrap(prims.gather(n, indices, rules, size))


@streamed
def slice_update(a: array, update: Any, start_indices: Any, axes: Any, *,
                 stream: Any = None) -> array:
    """The array with a part that starts at computed places replaced.

    The part has the update's lengths. Axes that the update lacks in front have length 1 if they
    are among `axes`, else they are whole. The update is converted to the array's dtype. Starts as
    for `slice`. Raises ShapeError for an update that does not fit.

    >>> import eutectic.core as mx
    >>> mx.slice_update(mx.zeros(5), mx.array([1, 2]), mx.array([3]), [0])
    array([0, 0, 0, 1, 2], dtype=float32)
    """
    n = node_of(a, "slice_update")
    v = value_for(update, n.dtype)
    rank = len(n.shape)
    at = [axis_of("slice_update", i, n.shape) for i in integers("slice_update", "axes", axes)]
    lead = rank - len(v.shape)
    size = (*[1 if i in at else d for i, d in enumerate(n.shape[:max(lead, 0)])], *v.shape)
    if lead < 0 or any(s > d for s, d in zip(size, n.shape)):
        raise ShapeError(f"[slice_update] an update of shape {show_shape(v.shape)} does not fit "
                         f"shape {show_shape(n.shape)}.")
    order, indices, known = _windows("slice_update", n, start_indices, axes, size)
    v = prims.broadcast(v, size)
    if 0 in size:
        return wrap(n)
    if not indices:
        out = wrap(n)
        out[tuple([slice(known.get(i, 0), known.get(i, 0) + s) for i, s in enumerate(size)])] = (
            wrap(v))
        return out
    rules = tuple([-1 - order.index(i) if i in order else i for i in range(rank)])
    return wrap(prims.scatter(n, v, indices, rules, "set"))


@streamed
def as_strided(a: array, /, shape: Any = None, strides: Any = None, offset: int = 0, *,
               stream: Any = None) -> array:
    """The elements of an array, in row-major order, read with other strides; reads may overlap.

    Strides and offset count elements. Without a shape the array's, without strides those of the
    shape in row-major order. Raises ShapeError where an element would lie outside the array.

    >>> import eutectic.core as mx
    >>> mx.as_strided(mx.arange(5), (3, 3), (1, 1))
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]], dtype=int32)
    """
    n = node_of(a, "as_strided")
    to = n.shape if shape is None else shape_of("as_strided", shape)
    steps = row_major(to) if strides is None else integers("as_strided", "strides", strides)
    start = integer("as_strided", "offset", offset)
    if len(steps) != len(to):
        raise ShapeError(f"[as_strided] {len(steps)} strides for the {len(to)} axes of shape "
                         f"{show_shape(to)}.")
    if start < 0:
        raise ArgumentError(f"[as_strided] the offset must not be negative, got {start}.")
    if 0 in to:
        return wrap(prims.broadcast(prims.const(0, n.dtype), to))
    reach = [s * (d - 1) for s, d in zip(steps, to)]
    low, high = start + sum(min(r, 0) for r in reach), start + sum(max(r, 0) for r in reach)
    if low < 0 or high >= n.size:
        raise ShapeError(f"[as_strided] shape {show_shape(to)}, strides {show_shape(steps)} and "
                         f"offset {start} read elements {low} to {high} of {n.size}.")
    flat = prims.reshape(n, (n.size,))
    # Axes that do not move repeat; the others are read.
    kept = [(d, s) for d, s in zip(to, steps) if d > 1 and s]
    inner = tuple([d for d, _s in kept])
    if tuple([s for _d, s in kept]) == row_major(inner):
        out = prims.reshape(slice_axis(flat, 0, start, high + 1), inner)
    elif len(kept) == 1:
        d, s = kept[0]
        out = prims.slice_(flat, (start,), (s,), (d,))
    else:
        index: Node = prims.const(start, int64)
        for k, (d, s) in enumerate(kept):
            along = apply("multiply", prims.iota((d,), 0), prims.const(s, int64))
            index = apply("add", prims.reshape(along, (d, *(1,) * (len(kept) - 1 - k))), index)
        out = prims.gather(flat, [index], (-1,), inner)
    ones = tuple([d if d > 1 and s else 1 for d, s in zip(to, steps)])
    return wrap(prims.broadcast(prims.reshape(out, ones), to))
