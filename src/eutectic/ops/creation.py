"""New arrays: filled, counted, diagonal and grid-like ones, and mathematical constants."""

from __future__ import annotations

import math
from typing import Any

from eutectic.array import array, build, wrap
from eutectic.dtype import Dtype, bool_, float32, float64, int32, int64
from eutectic.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.number import Number
from eutectic.graph.ir import Node
from eutectic.kernel.prim import Prim
from eutectic.kernel.reductions import SUM
from eutectic.kernel.scalar import Value, convert
from eutectic.ops.checks import axis_of, integer, number, shape_of
from eutectic.ops.comparison import WHERE
from eutectic.ops.devices import streamed
from eutectic.ops.registry import broadcast_shape, install, node_of

pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
euler_gamma = 0.5772156649015329  # OEIS A001620
newaxis = None


def _filled(shape: tuple[int, ...], value: Any, dtype: Dtype) -> array:
    return wrap(prims.broadcast(prims.const(value, dtype), shape))


def _dtype(name: str, dtype: Any, default: Dtype) -> Dtype:
    if dtype is None:
        return default
    if not isinstance(dtype, Dtype):
        raise ArgumentTypeError(f"[{name}] dtype must be a Dtype, not a {type(dtype).__name__}.")
    return dtype


@streamed
def zeros(shape: Any, dtype: Dtype | None = float32, *, stream: Any = None) -> array:
    """Return an array of zeros.

    `shape` is an integer or a sequence of them; raises ShapeError for negative lengths.

    >>> import eutectic.core as mx
    >>> mx.zeros((2, 3), mx.int32)
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """
    return _filled(shape_of("zeros", shape), 0, _dtype("zeros", dtype, float32))


@streamed
def ones(shape: Any, dtype: Dtype | None = float32, *, stream: Any = None) -> array:
    """Return an array of ones.

    `shape` is an integer or a sequence of them; raises ShapeError for negative lengths.

    >>> import eutectic.core as mx
    >>> mx.ones(3)
    array([1, 1, 1], dtype=float32)
    """
    return _filled(shape_of("ones", shape), 1, _dtype("ones", dtype, float32))


@streamed
def full(shape: Any, vals: Any, dtype: Dtype | None = None, *, stream: Any = None) -> array:
    """Return an array of a number, or of an array broadcast to the shape.

    The dtype is that of `vals` unless one is given. Raises ShapeError where `vals` does not
    broadcast to `shape`.

    >>> import eutectic.core as mx
    >>> mx.full((2, 2), mx.array([1, 2]))
    array([[1, 2],
           [1, 2]], dtype=int32)
    """
    to = shape_of("full", shape)
    if type(vals) in (bool, int, float, complex, Number):
        d = None if dtype is None else _dtype("full", dtype, float32)
        return wrap(prims.broadcast(build(vals, d), to))
    n = node_of(vals, "full")
    n = prims.cast(n, _dtype("full", dtype, n.dtype))
    if broadcast_shape("full", n.shape, to) != to:
        raise ShapeError(f"[full] shape {show_shape(n.shape)} does not broadcast to "
                         f"{show_shape(to)}.")
    return wrap(prims.broadcast(n, to))


def _like(name: str, a: Any, dtype: Any) -> tuple[tuple[int, ...], Dtype]:
    if not isinstance(a, array):
        raise ArgumentTypeError(f"[{name}] needs an array, not a {type(a).__name__}.")
    return a._n.shape, _dtype(name, dtype, a._n.dtype)


@streamed
def zeros_like(a: array, /, dtype: Dtype | None = None, *, stream: Any = None) -> array:
    """Return zeros of the shape, and of the dtype unless one is given, of an array.

    >>> import eutectic.core as mx
    >>> mx.zeros_like(mx.array([1, 2]))
    array([0, 0], dtype=int32)
    """
    shape, d = _like("zeros_like", a, dtype)
    return _filled(shape, 0, d)


@streamed
def ones_like(a: array, /, dtype: Dtype | None = None, *, stream: Any = None) -> array:
    """Return ones of the shape, and of the dtype unless one is given, of an array.

    >>> import eutectic.core as mx
    >>> mx.ones_like(mx.array([1.5, 2.5]))
    array([1, 1], dtype=float32)
    """
    shape, d = _like("ones_like", a, dtype)
    return _filled(shape, 1, d)


@streamed
def full_like(a: array, vals: Any, dtype: Dtype | None = None, *, stream: Any = None) -> array:
    """Return an array of a value with the shape, and the dtype unless one is given, of an array.

    >>> import eutectic.core as mx
    >>> mx.full_like(mx.array([1.5, 2.5]), 7)
    array([7, 7], dtype=float32)
    """
    shape, d = _like("full_like", a, dtype)
    return full(shape, vals, d)


@streamed
def empty(shape: Any, dtype: Dtype | None = float32, *, stream: Any = None) -> array:
    """Return an array of a shape whose values are not specified (they are zeros).

    >>> import eutectic.core as mx
    >>> mx.empty((2, 3)).shape
    (2, 3)
    """
    return _filled(shape_of("empty", shape), 0, _dtype("empty", dtype, float32))


@streamed
def empty_like(a: array, /, dtype: Dtype | None = None, *, stream: Any = None) -> array:
    """Return an array of another's shape whose values are not specified (they are zeros).

    >>> import eutectic.core as mx
    >>> mx.empty_like(mx.array([1, 2])).dtype
    eutectic.core.int32
    """
    shape, d = _like("empty_like", a, dtype)
    return _filled(shape, 0, d)


def _line_body(i: Value, start: Value, step: Value, ty: str) -> Value:
    return convert(start + convert(i, start.ty) * step, ty)


LINE = Prim("arange", "elementwise", body=_line_body)
"""start + i*step in int64 or float64, rounded once: inputs (iota, start, step)."""


@streamed
def arange(*args: Any, start: Any = None, stop: Any = None, step: Any = None,
           dtype: Dtype | None = None, stream: Any = None) -> array:
    """Return the numbers `start + i*step` below `stop`: arange(stop) or arange(start, stop, step).

    The result is int32 (int64 where a bound needs it) for integers and float32 if any argument is
    a float, unless a dtype is given. Its length is ceil((stop - start) / step), at least 0.
    Elements are computed in int64 or float64 and rounded once. Raises ArgumentError for a step of
    0, infinite lengths and the dtype bool.

    >>> import eutectic.core as mx
    >>> mx.arange(3), mx.arange(1, 2, 0.25)
    (array([0, 1, 2], dtype=int32), array([1, 1.25, 1.5, 1.75], dtype=float32))
    """
    start, stop, step, dtype = _arange_arguments(args, start, stop, step, dtype)
    numbers = (start, stop, step)
    for x in numbers:
        if isinstance(x, bool) or not isinstance(x, (int, float)):
            raise ArgumentTypeError("[arange] start, stop and step must be integers or floats, not "
                                    f"{type(x).__name__}.")
    whole = not any(isinstance(x, float) for x in numbers)
    if dtype is None:
        wide = whole and not all(-(1 << 31) <= x < 1 << 31 for x in numbers)
        dtype = (int64 if wide else int32) if whole else float32
    if dtype is bool_:
        raise DtypeError("[arange] does not make bool.")
    if step == 0:
        raise ArgumentError("[arange] step must not be 0.")
    if whole:
        count = max(-((start - stop) // step), 0)
    else:
        length = (stop - start) / step
        if not math.isfinite(length):
            raise ArgumentError(f"[arange] no length from {start} to {stop} by {step}.")
        count = max(math.ceil(length), 0)
    if not whole and dtype.is_int:
        # Whole steps from a whole start, as MLX: 0.5, 1.5, 2.5 become 0, 1, 2.
        start, step, whole = int(start), int(start + step) - int(start), True
    inner = int64 if whole else float64
    i = prims.iota((count,), 0)
    inputs = (i, prims.const(start, inner), prims.const(step, inner))
    if dtype.is_complex:
        return wrap(prims.cast(Node(LINE, inputs, ("f32",), (count,), float32), dtype))
    return wrap(Node(LINE, inputs, (dtype.compute,), (count,), dtype))


def _arange_arguments(args: tuple[Any, ...], start: Any, stop: Any, step: Any,
                      dtype: Any) -> tuple[Any, Any, Any, Any]:
    rest = list(args)
    if rest and isinstance(rest[-1], Dtype):
        dtype = rest.pop()
    if len(rest) > 3:
        raise ArgumentTypeError(f"[arange] takes at most 3 numbers, got {len(rest)}.")
    if len(rest) == 1:
        start, stop = (start, rest[0]) if stop is None else (rest[0], stop)
    elif rest:
        start, stop = rest[0], rest[1]
        step = rest[2] if len(rest) == 3 else step
        if stop is None:
            start, stop = None, start
    if stop is None and start is not None:
        start, stop = None, start
    if stop is None:
        raise ArgumentTypeError("[arange] needs a stop.")
    return (0 if start is None else start), stop, (1 if step is None else step), dtype


def _between_body(i: Value, start: Value, stop: Value, intervals: Value, ty: str) -> Value:
    t = convert(i, start.ty) / intervals
    return convert((1.0 - t) * start + t * stop, ty)


BETWEEN = Prim("linspace", "elementwise", body=_between_body)
"""(1-t)*start + t*stop with t = i/intervals: inputs (iota, start, stop, intervals)."""


@streamed
def linspace(start: Any, stop: Any, num: int | None = 50, endpoint: bool = True,
             dtype: Dtype | None = float32, stream: Any = None) -> array:
    """Return `num` evenly spaced numbers from `start` to `stop`, with or without the latter.

    Elements are (1-t)*start + t*stop in float32 (float64 for that dtype), converted to the dtype.
    Raises ArgumentError for a negative `num`.

    >>> import eutectic.core as mx
    >>> mx.linspace(0, 1, 5)
    array([0, 0.25, 0.5, 0.75, 1], dtype=float32)
    """
    count = integer("linspace", "num", 50 if num is None else num)
    dtype = _dtype("linspace", dtype, float32)
    if count < 0:
        raise ArgumentError(f"[linspace] num must not be negative, got {count}.")
    inner = float64 if dtype is float64 else float32
    first, last = number("linspace", "start", start), number("linspace", "stop", stop)
    intervals = max(count - 1 if endpoint else count, 1)
    inputs = (prims.iota((count,), 0), prims.const(first, inner), prims.const(last, inner),
              prims.const(intervals, inner))
    ty = inner.compute if dtype.is_complex else dtype.compute
    n = Node(BETWEEN, inputs, (ty,), (count,), inner if dtype.is_complex else dtype)
    return wrap(prims.cast(n, dtype))


DIAGONAL = Prim("on_diagonal", "elementwise", body=lambda i, j, k: (j - i).eq(k))
BELOW = Prim("below_diagonal", "elementwise", body=lambda i, j, k: j - i <= k)


def _grid(prim: Prim, shape: tuple[int, ...], k: int) -> Node:
    """Whether column - row is k, or at most k, over the last two axes."""
    row, column = prims.iota(shape, len(shape) - 2), prims.iota(shape, len(shape) - 1)
    return Node(prim, (row, column, prims.const(k, int64)), (), shape, bool_)


def _sides(name: str, n: Any, m: Any) -> tuple[int, int]:
    rows = integer(name, "n", n)
    columns = rows if m is None else integer(name, "m", m)
    if rows < 0 or columns < 0:
        raise ShapeError(f"[{name}] negative length in shape {show_shape((rows, columns))}.")
    return rows, columns


@streamed
def eye(n: int, m: int | None = None, k: int = 0, dtype: Dtype | None = float32, *,
        stream: Any = None) -> array:
    """Return an n by m matrix (n by n without m) with ones on its k-th diagonal.

    >>> import eutectic.core as mx
    >>> mx.eye(2, 3, k=1)
    array([[0, 1, 0],
           [0, 0, 1]], dtype=float32)
    """
    shape = _sides("eye", n, m)
    mask = _grid(DIAGONAL, shape, integer("eye", "k", k))
    return wrap(prims.cast(mask, _dtype("eye", dtype, float32)))


@streamed
def identity(n: int, dtype: Dtype | None = float32, *, stream: Any = None) -> array:
    """Return the n by n identity matrix.

    >>> import eutectic.core as mx
    >>> mx.identity(2)
    array([[1, 0],
           [0, 1]], dtype=float32)
    """
    return eye(n, dtype=dtype)


@streamed
def tri(n: int, m: int | None = None, k: int = 0, dtype: Dtype | None = None, *,
        stream: Any = None) -> array:
    """Return an n by m matrix with ones at and below its k-th diagonal (float32 by default).

    >>> import eutectic.core as mx
    >>> mx.tri(2, 3)
    array([[1, 0, 0],
           [1, 1, 0]], dtype=float32)
    """
    mask = _grid(BELOW, _sides("tri", n, m), integer("tri", "k", k))
    return wrap(prims.cast(mask, _dtype("tri", dtype, float32)))


@streamed
def tril(x: array, k: int = 0, *, stream: Any = None) -> array:
    """Return the array with zeros above the k-th diagonal of its last two axes.

    Raises ShapeError for fewer than two axes.

    >>> import eutectic.core as mx
    >>> mx.tril(mx.ones((2, 3)))
    array([[1, 0, 0],
           [1, 1, 0]], dtype=float32)
    """
    return _triangle("tril", x, integer("tril", "k", k), True)


@streamed
def triu(x: array, k: int = 0, *, stream: Any = None) -> array:
    """Return the array with zeros below the k-th diagonal of its last two axes.

    Raises ShapeError for fewer than two axes.

    >>> import eutectic.core as mx
    >>> mx.triu(mx.ones((2, 3)))
    array([[1, 1, 1],
           [0, 1, 1]], dtype=float32)
    """
    return _triangle("triu", x, integer("triu", "k", k) - 1, False)


def _triangle(name: str, x: Any, k: int, keep: bool) -> array:
    n = node_of(x, name)
    if len(n.shape) < 2:
        raise ShapeError(f"[{name}] needs at least 2 axes, got shape {show_shape(n.shape)}.")
    zero = prims.const(0, n.dtype)
    mask = _grid(BELOW, n.shape, k)
    return wrap(Node(WHERE, (mask, n, zero) if keep else (mask, zero, n), (), n.shape, n.dtype))


@streamed
def diagonal(a: array, offset: int = 0, axis1: int = 0, axis2: int = 1,
             stream: Any = None) -> array:
    """Return a diagonal of two axes, as the last axis of the result.

    Raises ShapeError for fewer than two axes, AxisError for axes out of range or equal.

    >>> import eutectic.core as mx
    >>> mx.diagonal(mx.arange(6).reshape(2, 3), 1)
    array([1, 5], dtype=int32)
    """
    n = node_of(a, "diagonal")
    if len(n.shape) < 2:
        raise ShapeError(f"[diagonal] needs at least 2 axes, got shape {show_shape(n.shape)}.")
    i, j = axis_of("diagonal", axis1, n.shape), axis_of("diagonal", axis2, n.shape)
    if i == j:
        raise ShapeError(f"[diagonal] axis1 and axis2 are both {i} for shape "
                         f"{show_shape(n.shape)}.")
    rest = [x for x in range(len(n.shape)) if x not in (i, j)]
    n = prims.transpose(n, (*rest, i, j))
    *outer, rows, columns = n.shape
    k = integer("diagonal", "offset", offset)
    count = max(min(rows, columns - k) if k >= 0 else min(rows + k, columns), 0)
    start = (k if k >= 0 else -k * columns) if count else 0
    flat = prims.reshape(n, (*outer, rows * columns))
    zero, one = (0,) * len(outer), (1,) * len(outer)
    return wrap(prims.slice_(flat, (*zero, start), (*one, columns + 1), (*outer, count)))


@streamed
def diag(a: array, /, k: int = 0, *, stream: Any = None) -> array:
    """Return the matrix with a vector on its k-th diagonal, or the k-th diagonal of a matrix.

    Raises ShapeError unless there are one or two axes.

    >>> import eutectic.core as mx
    >>> mx.diag(mx.array([1, 2])), mx.diag(mx.array([[1, 2], [3, 4]]))
    (array([[1, 0],
           [0, 2]], dtype=int32), array([1, 4], dtype=int32))
    """
    n = node_of(a, "diag")
    if len(n.shape) == 2:
        return diagonal(a, k)
    if len(n.shape) != 1:
        raise ShapeError(f"[diag] needs 1 or 2 axes, got shape {show_shape(n.shape)}.")
    k = integer("diag", "k", k)
    side = n.shape[0] + abs(k)
    zero = prims.const(0, n.dtype)
    line = prims.pad(n, (0,), (abs(k),), zero)
    line = prims.reshape(line, (side, 1) if k >= 0 else (1, side))
    mask = _grid(DIAGONAL, (side, side), k)
    return wrap(Node(WHERE, (mask, line, zero), (), (side, side), n.dtype))


@streamed
def trace(a: array, /, offset: int = 0, axis1: int = 0, axis2: int = 1,
          dtype: Dtype | None = None, *, stream: Any = None) -> array:
    """Return the sum along a diagonal of two axes, of elements cast to `dtype` where one is given.

    As in `sum`, bool and narrow integers add up in 32 bits.

    >>> import eutectic.core as mx
    >>> mx.trace(mx.array([[1, 2], [3, 4]]))
    array(5, dtype=int32)
    """
    d = diagonal(a, offset, axis1, axis2)._n
    d = prims.cast(d, _dtype("trace", dtype, d.dtype))
    return wrap(prims.reduce("sum", prims.cast(d, SUM.result(d.dtype)), (len(d.shape) - 1,)))


@streamed
def meshgrid(*arrays: array, sparse: bool | None = False, indexing: str | None = "xy",
             stream: Any = None) -> tuple[array, ...]:
    """Return coordinate arrays of the grid that vectors span.

    Arrays of other than one axis are flattened. With `indexing="xy"` the first vector varies
    along the second axis, with "ij" along the first. `sparse` arrays have length 1 on other axes.

    >>> import eutectic.core as mx
    >>> mx.meshgrid(mx.array([1, 2]), mx.array([3, 4]))[0]
    array([[1, 2],
           [1, 2]], dtype=int32)
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"[meshgrid] indexing must be 'xy' or 'ij', not {indexing!r}.")
    nodes = [node_of(a, "meshgrid") for a in arrays]
    rank = len(nodes)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[:2] = 1, 0
    out, full_shape = [], [0] * rank
    for n, axis in zip(nodes, order):
        full_shape[axis] = n.size
        out.append(prims.reshape(n, tuple([n.size if i == axis else 1 for i in range(rank)])))
    if not sparse:
        out = [prims.broadcast(n, tuple(full_shape)) for n in out]
    return tuple([wrap(n) for n in out])


install("diag", diag)
install("diagonal", diagonal)
