"""Putting arrays together and taking them apart: concatenate, stack, split, pad, tile, repeat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import PROMOTE
from eutectic.errors import ArgumentError, ArgumentTypeError, AxisError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops.checks import axis_of, integer, integers
from eutectic.ops.devices import streamed
from eutectic.ops.registry import node_of


def _nodes(name: str, arrays: Any) -> list[Node]:
    if not isinstance(arrays, Iterable):
        raise ArgumentTypeError(f"[{name}] needs a list of arrays, not a "
                                f"{type(arrays).__name__}.")
    nodes = [node_of(a, name) for a in arrays]
    if not nodes:
        raise ArgumentError(f"[{name}] needs at least one array.")
    d = nodes[0].dtype
    for n in nodes[1:]:
        d = PROMOTE[d.index][n.dtype.index]
    return [prims.cast(n, d) for n in nodes]


@streamed
def concatenate(arrays: Any, axis: int | None = 0, *, stream: Any = None) -> array:
    """Join arrays along an axis; flattened ones for None. The result has the promoted dtype.

    Raises ShapeError where ranks or other lengths differ, AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.concatenate([mx.array([1, 2]), mx.array([3])])
    array([1, 2, 3], dtype=int32)
    """
    nodes = _nodes("concatenate", arrays)
    if axis is None:
        nodes = [prims.reshape(n, (n.size,)) for n in nodes]
        axis = 0
    first = nodes[0].shape
    i = axis_of("concatenate", axis, first)
    for n in nodes[1:]:
        if len(n.shape) != len(first) or any(
                d != e for j, (d, e) in enumerate(zip(n.shape, first)) if j != i):
            raise ShapeError(f"[concatenate] shapes {show_shape(first)} and {show_shape(n.shape)} "
                             f"differ outside axis {i}.")
    return wrap(prims.concatenate(nodes, i))


@streamed
def stack(arrays: Any, axis: int | None = 0, *, stream: Any = None) -> array:
    """Join arrays of one shape along a new axis. The result has the promoted dtype.

    Raises ShapeError where shapes differ, AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.stack([mx.array([1, 2]), mx.array([3, 4])], axis=1)
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    nodes = _nodes("stack", arrays)
    shape = nodes[0].shape
    for n in nodes[1:]:
        if n.shape != shape:
            raise ShapeError(f"[stack] shapes {show_shape(shape)} and {show_shape(n.shape)} "
                             "differ.")
    if axis is None:
        return wrap(prims.concatenate([prims.reshape(n, (n.size,)) for n in nodes], 0))
    i = axis_of("stack", axis, (*shape, 1))
    wide = (*shape[:i], 1, *shape[i:])
    return wrap(prims.concatenate([prims.reshape(n, wide) for n in nodes], i))


def slice_axis(n: Node, axis: int, start: int, stop: int, step: int = 1) -> Node:
    """The part of a node from `start` up to `stop` along one axis (0 <= start, stop)."""
    count = max(-((start - stop) // step), 0)
    starts = [0] * len(n.shape)
    steps = [1] * len(n.shape)
    starts[axis], steps[axis] = (start if count else 0), step
    return prims.slice_(n, tuple(starts), tuple(steps),
                        (*n.shape[:axis], count, *n.shape[axis + 1:]))


@streamed
def split(a: array, /, indices_or_sections: Any, axis: int = 0, *, stream: Any = None) -> list[
        array]:
    """Cut an array along an axis, into equal parts or at indices.

    Raises ShapeError where the parts would not be equal, AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.split(mx.arange(4), 2)
    [array([0, 1], dtype=int32), array([2, 3], dtype=int32)]
    >>> mx.split(mx.arange(4), [1])
    [array([0], dtype=int32), array([1, 2, 3], dtype=int32)]
    """
    n = node_of(a, "split")
    i = axis_of("split", axis, n.shape)
    length = n.shape[i]
    if isinstance(indices_or_sections, (list, tuple)) or getattr(
            indices_or_sections, "shape", None):
        cuts = [min(max(c + length if c < 0 else c, 0), length)
                for c in integers("split", "indices", indices_or_sections)]
    else:
        sections = integer("split", "indices_or_sections", indices_or_sections)
        if sections <= 0:
            raise ArgumentError(f"[split] the number of parts must be positive, got {sections}.")
        if length % sections:
            raise ShapeError(f"[split] axis {i} of shape {show_shape(n.shape)} does not split into "
                             f"{sections} equal parts.")
        cuts = [k * (length // sections) for k in range(1, sections)]
    return [wrap(slice_axis(n, i, start, stop))
            for start, stop in zip([0, *cuts], [*cuts, length])]


@streamed
def unstack(x: array, /, *, axis: int = 0, stream: Any = None) -> tuple[array, ...]:
    """The parts of an array along an axis, without that axis.

    >>> import eutectic.core as mx
    >>> mx.unstack(mx.array([[1, 2], [3, 4]]))
    (array([1, 2], dtype=int32), array([3, 4], dtype=int32))
    """
    n = node_of(x, "unstack")
    i = axis_of("unstack", axis, n.shape)
    shape = (*n.shape[:i], *n.shape[i + 1:])
    return tuple([wrap(prims.reshape(slice_axis(n, i, k, k + 1), shape))
                  for k in range(n.shape[i])])


def _widths(pad_width: Any, rank: int, shape: tuple[int, ...]) -> list[tuple[int, int]]:
    if isinstance(pad_width, (list, tuple)):
        if pad_width and isinstance(pad_width[0], (list, tuple)):
            pairs = [integers("pad", "pad_width", p) for p in pad_width]
            if any(len(p) != 2 for p in pairs):
                raise ArgumentError("[pad] an axis's pad_width must be a pair (low, high).")
            if len(pairs) == 1:
                pairs = pairs * rank
        else:
            one = integers("pad", "pad_width", pad_width)
            if len(one) not in (1, 2):
                raise ArgumentError(f"[pad] pad_width must be an integer, a pair or a pair for "
                                    f"each axis, got {len(one)} integers.")
            pairs = [(one[0], one[-1])] * rank
    else:
        one = integers("pad", "pad_width", pad_width)
        pairs = [(one[0], one[0])] * rank
    if len(pairs) != rank:
        raise ShapeError(f"[pad] {len(pairs)} pairs for the {rank} axes of shape "
                         f"{show_shape(shape)}.")
    for low, high in pairs:
        if low < 0 or high < 0:
            raise ArgumentError(f"[pad] pad_width must not be negative, got ({low}, {high}).")
    return [(p[0], p[1]) for p in pairs]


@streamed
def pad(a: array, pad_width: Any, mode: str = "constant", constant_values: Any = 0, *,
        stream: Any = None) -> array:
    """Surround an array: with a value, its edge, or its reflection without or with the edge.

    `pad_width` is a number, a pair (low, high) for all axes, or a pair for each axis. `mode` is
    "constant", "edge", "reflect" or "symmetric". Raises ArgumentError for other modes and negative
    widths, ShapeError for a wrong number of pairs or modes other than "constant" on an empty axis.

    >>> import eutectic.core as mx
    >>> mx.pad(mx.array([1, 2]), 1), mx.pad(mx.array([1, 2, 3]), (2, 0), mode="reflect")
    (array([0, 1, 2, 0], dtype=int32), array([3, 2, 1, 2, 3], dtype=int32))
    """
    n = node_of(a, "pad")
    widths = _widths(pad_width, len(n.shape), n.shape)
    if mode == "constant":
        fill = prims.cast(node_of(constant_values, "pad", n.dtype), n.dtype)
        if fill.size != 1:
            raise ShapeError("[pad] constant_values must be one number, not of shape "
                             f"{show_shape(fill.shape)}.")
        low, high = tuple([w[0] for w in widths]), tuple([w[1] for w in widths])
        return wrap(prims.pad(n, low, high, prims.reshape(fill, ())))
    if mode not in ("edge", "reflect", "symmetric"):
        raise ArgumentError(f"[pad] mode must be 'constant', 'edge', 'reflect' or 'symmetric', not "
                            f"{mode!r}.")
    for i, pair in enumerate(widths):
        n = _extended(n, i, *pair, mode)
    return wrap(n)


def _extended(n: Node, axis: int, low: int, high: int, mode: str) -> Node:
    length = n.shape[axis]
    if not low and not high:
        return n
    if not length:
        raise ShapeError(f"[pad] mode {mode!r} needs elements on axis {axis} of shape "
                         f"{show_shape(n.shape)}.")
    if mode == "edge" or length == 1:
        def repeated(at: int, count: int) -> Node:
            one = slice_axis(n, axis, at, at + 1)
            return prims.broadcast(one, (*n.shape[:axis], count, *n.shape[axis + 1:]))
        parts = [repeated(0, low), n, repeated(length - 1, high)]
        return prims.concatenate([p for p in parts if p.shape[axis]], axis)
    # Reflections repeat with the period of a forward and a backward run.
    edge = 1 if mode == "reflect" else 0
    period = 2 * (length - edge)
    position, left, out = -low, low + length + high, []
    while left:
        k = position % period
        forward = k < length
        first = k if forward else period - k - (0 if edge else 1)
        until = (length - k) if forward else first + (0 if edge else 1)
        count = min(until, left)
        out.append(_run(n, axis, first, 1 if forward else -1, count))
        position += count
        left -= count
    return prims.concatenate(out, axis)


def _run(n: Node, axis: int, first: int, step: int, count: int) -> Node:
    starts, steps = [0] * len(n.shape), [1] * len(n.shape)
    starts[axis], steps[axis] = first, step
    return prims.slice_(n, tuple(starts), tuple(steps),
                        (*n.shape[:axis], count, *n.shape[axis + 1:]))


@streamed
def tile(a: array, reps: Any, /, *, stream: Any = None) -> array:
    """Repeat a whole array along axes; missing ones are added in front.

    Raises ArgumentError for negative numbers.

    >>> import eutectic.core as mx
    >>> mx.tile(mx.array([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """
    n = node_of(a, "tile")
    counts = integers("tile", "reps", reps)
    if any(c < 0 for c in counts):
        raise ArgumentError(f"[tile] reps must not be negative, got {show_shape(counts)}.")
    rank = max(len(counts), len(n.shape))
    counts = (1,) * (rank - len(counts)) + counts
    shape = (1,) * (rank - len(n.shape)) + n.shape
    apart = prims.reshape(n, tuple([x for d in shape for x in (1, d)]))
    repeated = prims.broadcast(apart, tuple([x for c, d in zip(counts, shape) for x in (c, d)]))
    return wrap(prims.reshape(repeated, tuple([c * d for c, d in zip(counts, shape)])))


@streamed
def repeat(array: array, repeats: int, axis: int | None = None, *, stream: Any = None) -> array:
    """Repeat each element along an axis, or of the flattened array.

    Raises ArgumentError for a negative number, AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.repeat(mx.array([1, 2]), 2)
    array([1, 1, 2, 2], dtype=int32)
    """
    n = node_of(array, "repeat")
    count = integer("repeat", "repeats", repeats)
    if count < 0:
        raise ArgumentError(f"[repeat] repeats must not be negative, got {count}.")
    if axis is None:
        n, axis = prims.reshape(n, (n.size,)), 0
    i = axis_of("repeat", axis, n.shape)
    before, after = n.shape[:i + 1], n.shape[i + 1:]
    wide = prims.broadcast(prims.reshape(n, (*before, 1, *after)), (*before, count, *after))
    return wrap(prims.reshape(wide, (*before[:-1], before[-1] * count, *after)))


@streamed
def roll(a: array, /, shift: Any, axis: Any = None, *, stream: Any = None) -> array:
    """Shift elements along axes, those that leave at an end entering at the other.

    Without axes the flattened array is shifted. Raises AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.roll(mx.arange(5), 2)
    array([3, 4, 0, 1, 2], dtype=int32)
    """
    n = node_of(a, "roll")
    shifts = integers("roll", "shift", shift)
    if axis is None:
        flat = prims.reshape(n, (n.size,))
        return wrap(prims.reshape(_rolled(flat, 0, sum(shifts)), n.shape))
    axes = [axis_of("roll", i, n.shape) for i in integers("roll", "axis", axis)]
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        raise AxisError(f"[roll] {len(shifts)} shifts for {len(axes)} axes of shape "
                        f"{show_shape(n.shape)}.")
    count = max(len(axes), len(shifts))
    for i, s in zip(axes * count if len(axes) == 1 else axes,
                    shifts * count if len(shifts) == 1 else shifts):
        n = _rolled(n, i, s)
    return wrap(n)


def _rolled(n: Node, axis: int, shift: int) -> Node:
    length = n.shape[axis]
    k = shift % length if length else 0
    if not k:
        return n
    return prims.concatenate([slice_axis(n, axis, length - k, length),
                              slice_axis(n, axis, 0, length - k)], axis)


array.split = split  # type: ignore[attr-defined]
