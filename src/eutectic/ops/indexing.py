"""Basic indexing: integers, slices, None and the ellipsis; reading gives views.

Writing (`x[i] = v`) gives the array object a new node that is the old one with a part replaced.
The part is cut out and put back axis by axis with concatenations, which is exact in every dtype.
Arrays and masks as indices are in `advanced_indexing`, which also makes all of it methods.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from eutectic.array import build
from eutectic.dtype import Dtype
from eutectic.errors import IndexingError, ShapeError, TraceError, show_shape
from eutectic.graph import prims
from eutectic.graph.number import Number
from eutectic.graph.ir import Node
from eutectic.ops.joining import slice_axis
from eutectic.ops.registry import node_of, number


@dataclass(frozen=True)
class Selection:
    """What an index picks: along each axis `count` elements from `start` by `step`."""

    starts: tuple[int, ...]
    steps: tuple[int, ...]
    counts: tuple[int, ...]
    shape: tuple[int, ...]
    """Shape of the result: axes of integers dropped, those of None added."""


def select(index: Any, shape: tuple[int, ...]) -> Selection:
    """The meaning of a basic index for an array of a shape.

    Raises IndexingError for indices out of range, too many of them, and kinds not supported.
    """
    items = index if isinstance(index, tuple) else (index,)
    given = sum([1 for x in items if x is not None and not isinstance(x, EllipsisType)])
    if given > len(shape):
        raise IndexingError(f"[index] {given} indices for the {len(shape)} axes of shape "
                            f"{show_shape(shape)}.")
    dots = [i for i, x in enumerate(items) if isinstance(x, EllipsisType)]
    if len(dots) > 1:
        raise IndexingError("[index] only one ellipsis (...) is allowed in an index.")
    at = dots[0] if dots else len(items)
    fill = (slice(None),) * (len(shape) - given)
    starts: list[int] = []
    steps: list[int] = []
    counts: list[int] = []
    out: list[int] = []
    for x in (*items[:at], *fill, *items[at + 1:]):
        if x is None:
            out.append(1)
            continue
        length = shape[len(starts)]
        if isinstance(x, slice):
            start, step, count = _slice(x, length)
            out.append(count)
        else:
            start, step, count = _position(x, len(starts), shape), 1, 1
        starts.append(start)
        steps.append(step)
        counts.append(count)
    return Selection(tuple(starts), tuple(steps), tuple(counts), tuple(out))


def _slice(x: slice, length: int) -> tuple[int, int, int]:
    try:
        picked = range(*x.indices(length))
    except TraceError:  # a bound that is a placeholder
        raise
    except (TypeError, ValueError) as e:
        raise IndexingError("[index] a slice needs integers and a step other than 0, not "
                            f"{_shown(x)}.") from e
    return (picked.start if len(picked) else 0), picked.step, len(picked)


def _shown(x: slice) -> str:
    """A slice as Python writes it; parts of other types by their type."""
    parts = [repr(v) if isinstance(v, int) or v is None else type(v).__name__
             for v in (x.start, x.stop, x.step)]
    return f"slice({', '.join(parts)})"


def _position(x: Any, axis: int, shape: tuple[int, ...]) -> int:
    try:
        i = operator.index(x)
    except TypeError:
        raise IndexingError("[index] an index is an integer, a slice, None, ..., an array of "
                            f"integers or a mask, not a {type(x).__name__}.") from None
    length = shape[axis]
    if not -length <= i < length:
        raise IndexingError(f"[index] index {i} is out of range for axis {axis} of shape "
                            f"{show_shape(shape)}.")
    return i + length if i < 0 else i


def row(n: Node, index: int) -> Node:
    """One row of a node along its first axis."""
    i = _position(index, 0, n.shape)
    return prims.reshape(slice_axis(n, 0, i, i + 1), n.shape[1:])


def picked(n: Node, s: Selection) -> Node:
    """The part of a node that a selection picks, as a view."""
    return prims.reshape(prims.slice_(n, s.starts, s.steps, s.counts), s.shape)


def replaced(n: Node, v: Node, s: Selection) -> Node:
    """n with the part that a selection picks replaced by v, which has the selection's shape."""
    return n if 0 in s.counts else _replaced(n, prims.reshape(v, s.counts), s, 0)


def value_for(value: Any, d: Dtype) -> Node:
    """A value to be written, in the dtype of the array that takes it."""
    if type(value) in (bool, int, float, complex, Number):
        v = number("index", value, d)
    else:
        v = build(value) if isinstance(value, (list, tuple)) else node_of(value, "index")
    return prims.cast(v, d)


def fitted(v: Node, shape: tuple[int, ...]) -> Node:
    """A value broadcast to the shape it is written to; axes of length 1 in front may go."""
    lead = len(v.shape) - len(shape)
    if lead > 0 and all(d == 1 for d in v.shape[:lead]):
        v = prims.reshape(v, v.shape[lead:])
    if not _broadcasts(v.shape, shape):
        raise ShapeError(f"[index] a value of shape {show_shape(v.shape)} does not broadcast to "
                         f"the selected shape {show_shape(shape)}.")
    return prims.broadcast(v, shape)


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    return len(shape) <= len(to) and all(
        d in (1, t) for d, t in zip(reversed(shape), reversed(to)))


def _replaced(n: Node, v: Node, s: Selection, axis: int) -> Node:
    """n with the selection on `axis` and those behind it replaced by v."""
    while axis < len(n.shape) and s.counts[axis] == n.shape[axis] and s.steps[axis] == 1:
        axis += 1
    if axis == len(n.shape):
        return v
    start, step, count = s.starts[axis], s.steps[axis], s.counts[axis]
    if step < 0:
        start, step = start + (count - 1) * step, -step
        v = _reversed(v, axis)
    if count == 1:
        step = 1
    last = start + (count - 1) * step
    if axis + 1 < len(n.shape):
        old = slice_axis(n, axis, start, last + 1, step)
        v = _replaced(old, v, _from(s, axis + 1), axis + 1)
    if step > 1:
        v = _interleaved(n, v, axis, start, step, count)
    parts = [slice_axis(n, axis, 0, start), v, slice_axis(n, axis, last + 1, n.shape[axis])]
    return prims.concatenate([p for p in parts if p.shape[axis]], axis)


def _from(s: Selection, axis: int) -> Selection:
    """The selection with all axes before `axis` taken whole (they are cut out already)."""
    return Selection((0,) * axis + s.starts[axis:], (1,) * axis + s.steps[axis:],
                     s.counts, s.shape)


def _reversed(v: Node, axis: int) -> Node:
    starts, steps = [0] * len(v.shape), [1] * len(v.shape)
    starts[axis], steps[axis] = v.shape[axis] - 1, -1
    return prims.slice_(v, tuple(starts), tuple(steps), v.shape)


def _interleaved(n: Node, v: Node, axis: int, start: int, step: int, count: int) -> Node:
    """The elements from `start` to the last replaced one: v's, with the old ones between."""
    groups = count - 1
    before, after = v.shape[:axis], v.shape[axis + 1:]
    region = slice_axis(n, axis, start, start + groups * step)
    region = prims.reshape(region, (*before, groups, step, *after))
    heads = prims.reshape(slice_axis(v, axis, 0, groups), (*before, groups, 1, *after))
    mixed = prims.concatenate([heads, slice_axis(region, axis + 1, 1, step)], axis + 1)
    mixed = prims.reshape(mixed, (*before, groups * step, *after))
    return prims.concatenate([mixed, slice_axis(v, axis, groups, count)], axis)
