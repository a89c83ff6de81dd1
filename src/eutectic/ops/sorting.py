"""Sorting and what rests on order: partition, top k, search, median, distinct elements.

NumPy and a radix sort compute them, as operations that take part in no fusion; see `ops.ordering`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, float32, float_of, int32, promote, uint32
from eutectic.errors import ArgumentError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops import ordering
from eutectic.ops.checks import axes_of, axis_of, integer
from eutectic.ops.devices import streamed
from eutectic.ops.joining import slice_axis
from eutectic.ops.registry import node_of


def _axis(name: str, n: Node, axis: Any) -> tuple[Node, int]:
    """The array and axis to work on: flattened for None."""
    if axis is None:
        return prims.reshape(n, (n.size,)), 0
    return n, axis_of(name, axis, n.shape)


def _rows_along(x: np.ndarray, axis: int,
                work: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Apply a function of rows along an axis."""
    moved = np.ascontiguousarray(np.moveaxis(x, axis, -1))
    out = work(moved.reshape(-1, moved.shape[-1]))
    return np.moveaxis(out.reshape(*moved.shape[:-1], out.shape[-1]), -1, axis)


def _ordered(name: str, call: Callable[..., Any], n: Node, axis: int, extra: tuple[Any, ...],
             dtype: Dtype) -> array:
    if 0 in n.shape:
        return wrap(prims.broadcast(prims.const(0, dtype), n.shape))
    return wrap(prims.opaque(name, call, (n,), (axis, n.dtype.name, *extra),
                             ((n.shape, dtype),))[0])


def _sort(x: np.ndarray, axis: int, name: str) -> np.ndarray:
    return _rows_along(x, axis, lambda rows: ordering.sort(rows, name))


def _argsort(x: np.ndarray, axis: int, name: str) -> np.ndarray:
    return _rows_along(x, axis, lambda rows: ordering.argsort(rows, name))


def _partition(x: np.ndarray, axis: int, name: str, kth: int) -> np.ndarray:
    return _rows_along(x, axis, lambda rows: ordering.partition(rows, kth, name))


def _argpartition(x: np.ndarray, axis: int, name: str, kth: int) -> np.ndarray:
    return _rows_along(x, axis, lambda rows: ordering.partition_order(rows, kth, name))


def _topk(x: np.ndarray, axis: int, name: str, k: int) -> np.ndarray:
    return _rows_along(x, axis, lambda rows: ordering.top(rows, k, name))


@streamed
def sort(a: array, /, axis: int | None = -1, *, stream: Any = None) -> array:
    """Sort along an axis, or the flattened array for None, in increasing order.

    Any dtype. Stable: -0.0 and 0.0 keep their order, and nan comes last; complex numbers order by
    real part, then imaginary part. Raises AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.sort(mx.array([3, mx.nan, 1, 2]))
    array([1, 2, 3, nan], dtype=float32)
    """
    n, i = _axis("sort", node_of(a, "sort"), axis)
    return _ordered("sort", _sort, n, i, (), n.dtype)


@streamed
def argsort(a: array, /, axis: int | None = -1, *, stream: Any = None) -> array:
    """Positions, as uint32, that sort along an axis, or the flattened array for None.

    Equal elements keep their order. See `sort`.

    >>> import eutectic.core as mx
    >>> mx.argsort(mx.array([3, 1, 2, 1]))
    array([1, 3, 2, 0], dtype=uint32)
    """
    n, i = _axis("argsort", node_of(a, "argsort"), axis)
    return _ordered("argsort", _argsort, n, i, (), uint32)


def _kth(name: str, kth: Any, n: Node, axis: int) -> int:
    k = integer(name, "kth", kth)
    length = n.shape[axis]
    if not -length <= k < length:
        raise ArgumentError(f"[{name}] kth {k} is out of range for axis {axis} of shape "
                            f"{show_shape(n.shape)}.")
    return k + length if k < 0 else k


@streamed
def partition(a: array, /, kth: int, axis: int | None = -1, *, stream: Any = None) -> array:
    """Put the element that sorting would put at `kth` there, smaller ones before, others behind.

    The elements before it, and those behind it, keep their order. A negative `kth` counts from the
    end. Raises ArgumentError for a `kth` and AxisError for an axis out of range. See `sort`.

    >>> import eutectic.core as mx
    >>> mx.partition(mx.array([5, 1, 4, 2, 3]), 2)
    array([1, 2, 3, 5, 4], dtype=int32)
    """
    n, i = _axis("partition", node_of(a, "partition"), axis)
    return _ordered("partition", _partition, n, i, (_kth("partition", kth, n, i),), n.dtype)


@streamed
def argpartition(a: array, /, kth: int, axis: int | None = -1, *, stream: Any = None) -> array:
    """Positions, as uint32, of the elements that `partition` gives.

    >>> import eutectic.core as mx
    >>> mx.argpartition(mx.array([5, 1, 4, 2, 3]), 2)
    array([1, 3, 4, 0, 2], dtype=uint32)
    """
    n, i = _axis("argpartition", node_of(a, "argpartition"), axis)
    return _ordered("argpartition", _argpartition, n, i, (_kth("argpartition", kth, n, i),), uint32)


@streamed
def topk(a: array, /, k: int, axis: int | None = -1, *, stream: Any = None) -> array:
    """The `k` greatest elements along an axis, or of the flattened array for None.

    The least of them comes first, the others in their original order. nan counts as greatest.
    Raises ArgumentError unless 0 <= k <= length, AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.topk(mx.array([3, 9, 1, 5, 7]), 3)
    array([5, 9, 7], dtype=int32)
    """
    n, i = _axis("topk", node_of(a, "topk"), axis)
    count, length = integer("topk", "k", k), n.shape[i]
    if not 0 <= count <= length:
        raise ArgumentError(f"[topk] k = {count} is out of range for axis {i} of shape "
                            f"{show_shape(n.shape)}.")
    if count in (0, length):
        return wrap(slice_axis(n, i, 0, count))
    shape = (*n.shape[:i], count, *n.shape[i + 1:])
    if 0 in shape:
        return wrap(slice_axis(n, i, 0, count))
    return wrap(prims.opaque("topk", _topk, (n,), (i, n.dtype.name, count), ((shape, n.dtype),))[0])


def _searchsorted(sequence: np.ndarray, values: np.ndarray, name: str, side: str) -> np.ndarray:
    return np.searchsorted(ordering.floats_of(sequence, name), ordering.floats_of(values, name),
                           side=side).astype(np.uint32)  # type: ignore[call-overload]


@streamed
def searchsorted(sorted_sequence: array, values: array, /, side: str = "left", *,
                 stream: Any = None) -> array:
    """Where, as uint32, values would be inserted in a sorted sequence to keep it sorted.

    Before elements equal to a value for side "left", behind them for "right". The sequence has one
    axis; the result has the shape of `values`. Dtypes are promoted. Raises ShapeError for a
    sequence of another rank, ArgumentError for another side.

    >>> import eutectic.core as mx
    >>> mx.searchsorted(mx.array([1, 2, 2, 3]), mx.array([2, 0, 9]))
    array([1, 0, 4], dtype=uint32)
    """
    s, v = node_of(sorted_sequence, "searchsorted"), node_of(values, "searchsorted")
    if len(s.shape) != 1:
        raise ShapeError("[searchsorted] the sorted sequence must have one axis, not shape "
                         f"{show_shape(s.shape)}.")
    if side not in ("left", "right"):
        raise ArgumentError(f"[searchsorted] side must be 'left' or 'right', not {side!r}.")
    if 0 in v.shape:
        return wrap(prims.broadcast(prims.const(0, uint32), v.shape))
    d = promote(s.dtype, v.dtype)
    return wrap(prims.opaque("searchsorted", _searchsorted, (prims.cast(s, d), prims.cast(v, d)),
                             (d.name, side), ((v.shape, uint32),))[0])


def _median(x: np.ndarray) -> np.ndarray:
    rows = x.reshape(-1, x.shape[-1])
    return ordering.by_rows(ordering.median, rows).reshape(x.shape[:-1])


@streamed
def median(a: array, /, axis: Any = None, keepdims: bool = False, *, stream: Any = None) -> array:
    """Median over axes (all by default): of an even number the mean of the middle two.

    Integers and booleans give float32; nan where there is one. Raises ShapeError over no elements,
    AxisError for an axis out of range or given twice.

    >>> import eutectic.core as mx
    >>> mx.median(mx.array([4, 1, 3, 2])), mx.median(mx.array([[1, 5, 3], [4, 2, 9]]), axis=1)
    (array(2.5, dtype=float32), array([3, 4], dtype=float32))
    """
    n = node_of(a, "median")
    axes = axes_of("median", axis, n.shape)
    d = float_of(n.dtype)
    rest = tuple([i for i in range(len(n.shape)) if i not in axes])
    outer = tuple([n.shape[i] for i in rest])
    count = 1
    for i in axes:
        count *= n.shape[i]
    if not count:
        raise ShapeError(f"[median] no median of the zero elements over axes {show_shape(axes)} "
                         f"of shape {show_shape(n.shape)}.")
    shape = tuple([1 if i in axes else s for i, s in enumerate(n.shape)]) if keepdims else outer
    x = prims.cast(n, float32 if d.is_half else d)
    x = prims.reshape(prims.transpose(x, (*rest, *axes)), (*outer, count))
    if 0 in outer:
        out = prims.broadcast(prims.const(0, x.dtype), outer)
    else:
        out = prims.opaque("median", _median, (x,), (), ((outer, x.dtype),))[0]
    return wrap(prims.reshape(prims.cast(out, d), shape))


def _unique(x: np.ndarray, fill: np.ndarray, name: str, size: int, filled: bool,
            wanted: tuple[str, ...]) -> Any:
    flat = np.ascontiguousarray(x).reshape(1, -1)
    order = ordering.argsort(flat, name)[0]
    values = flat[0][order]
    compared = ordering.floats_of(values, name)
    starts = np.flatnonzero(np.concatenate(([True], compared[1:] != compared[:-1])))[:x.size]
    found, kept = len(starts), min(len(starts), size)
    first = order[starts[:kept]]  # the sort is stable: the first of equal elements
    out: dict[str, np.ndarray] = {
        "values": np.full(size, fill.reshape(()) if filled or not found else values[0], x.dtype),
        "index": np.full(size, order[0] if found else 0, np.uint32),
        "counts": np.zeros(size, np.int32),
    }
    out["values"][:kept], out["index"][:kept] = flat[0][first], first
    out["counts"][:kept] = np.diff(np.append(starts, x.size))[:kept]
    inverse = np.empty(x.size, np.uint32)
    group = np.zeros(x.size, np.uint32)
    group[starts[1:]] = 1
    inverse[order] = np.minimum(np.cumsum(group, dtype=np.uint32), max(size - 1, 0))
    out["inverse"] = inverse.reshape(x.shape)
    results = tuple([out[w] for w in wanted])
    return results[0] if len(results) == 1 else results


@streamed
def unique(a: array, /, size: int, return_index: bool = False, return_inverse: bool = False,
           return_counts: bool = False, fill_value: Any = None, *, stream: Any = None) -> Any:
    """The distinct elements of the flattened array in increasing order, `size` of them.

    Where there are fewer, `fill_value` follows, or the least element; where there are more, the
    greatest are left out. Each nan counts as distinct. On request a tuple that also holds the
    first position of each, as uint32 (of fillers, that of the least element); for each element of
    `a` the position of its value, as uint32 (at most size - 1); and how often each value occurs,
    as int32. Raises ArgumentError for a negative size, or an empty array, a size other than 0 and
    no fill_value; ShapeError for a fill_value of several elements.

    >>> import eutectic.core as mx
    >>> mx.unique(mx.array([3, 1, 1, 2]), 4, return_counts=True)
    (array([1, 2, 3, 1], dtype=int32), array([2, 1, 1, 0], dtype=int32))
    """
    n = node_of(a, "unique")
    count = integer("unique", "size", size)
    if count < 0:
        raise ArgumentError(f"[unique] size must not be negative, got {count}.")
    if fill_value is None and not n.size and count:
        raise ArgumentError("[unique] an array without elements needs a fill_value, or size 0.")
    fill = prims.const(0, n.dtype) if fill_value is None else prims.cast(
        node_of(fill_value, "unique", n.dtype), n.dtype)
    if fill.size != 1:
        raise ShapeError("[unique] fill_value must be one element, not of shape "
                         f"{show_shape(fill.shape)}.")
    outs: dict[str, tuple[tuple[int, ...], Dtype]] = {"values": ((count,), n.dtype)}
    if return_index:
        outs["index"] = ((count,), uint32)
    if return_inverse:
        outs["inverse"] = (n.shape, uint32)
    if return_counts:
        outs["counts"] = ((count,), int32)
    nodes = prims.opaque("unique", _unique, (n, fill),
                         (n.dtype.name, count, fill_value is not None, tuple(outs)),
                         tuple(outs.values()))
    made = tuple([wrap(x) for x in nodes])
    return made[0] if len(made) == 1 else made
