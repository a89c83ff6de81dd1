"""Indexing with arrays of integers and with masks, and `x.at[...]`; all of it as methods.

Reading is a gather, writing a scatter; integers and slices beside the arrays stay views. Where the
axes of the index arrays go is NumPy's rule: to the place of the first array or integer if all of
them stand side by side, else in front. A mask stands for the positions of its true elements, so
reading through one, whose result has as many elements, needs the mask's value; writing does not.

Indices known while building (numbers, lists, NumPy arrays) are checked. Those in arrays are not:
the kernels count negative ones from the end and clamp what lies outside to the nearest element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any

import numpy as np

from eutectic.array import array, build, need_value, numpy_view, wrap
from eutectic.dtype import Dtype, bool_, int32, int64
from eutectic.errors import ArgumentTypeError, DtypeError, IndexingError, ShapeError, show_shape
from eutectic.graph import number, prims
from eutectic.graph.ir import Node
from eutectic.ops.arithmetic import (
    add, divide, maximum, minimum, multiply, negative, subtract)
from eutectic.ops.checks import apply
from eutectic.ops.comparison import WHERE
from eutectic.ops.indexing import (
    Selection, fitted, picked, replaced, row, select, value_for)
from eutectic.ops.registry import broadcast_shape


def index_type(length: int) -> Dtype:
    """The dtype of positions along an axis."""
    return int32 if length <= 1 << 31 else int64


def known_index(name: str, x: Any, axis: int, shape: tuple[int, ...]) -> Node:
    """The node of indices known while building, none of them negative.

    Raises IndexingError for one out of range.
    """
    a = np.asarray(x)
    length = shape[axis]
    if a.size:
        bad = a[(a < -length) | (a >= length)]
        if bad.size:
            raise IndexingError(f"[{name}] index {bad.flat[0]} is out of range for axis {axis} of "
                                f"shape {show_shape(shape)}.")
    a = a.astype(np.int64)
    return build(np.where(a < 0, a + length, a), index_type(length))


def given_index(name: str, x: Any) -> np.ndarray | Node:
    """An index that is no number: NumPy data if it is known while building, else a node.

    Raises IndexingError for what is neither integers nor booleans.
    """
    if isinstance(x, array):
        found: np.ndarray | Node = x._n
    elif isinstance(x, np.ndarray):
        found = x
    elif isinstance(x, (list, tuple)):
        found = _of_list(name, x)
    else:
        found = build(x)
    d = found.dtype
    ok = d.kind in "biu" if isinstance(d, np.dtype) else d.is_int or d is bool_
    if not ok:
        raise IndexingError(f"[{name}] indices are integers or booleans, not "
                            f"{d if isinstance(d, np.dtype) else d.name}.")
    return found


def _of_list(name: str, x: Any) -> np.ndarray | Node:
    if _only_numbers(x):
        try:
            a = np.array(x)
        except ValueError:
            raise ShapeError(f"[{name}] the nested lists of an index are ragged.") from None
        return a if a.size else np.zeros(a.shape, np.int32)
    return build(x)


def _only_numbers(x: Any) -> bool:
    return all(_only_numbers(i) if isinstance(i, (list, tuple)) else
               isinstance(i, (int, np.integer, np.bool_)) for i in x)


Combine = Callable[[Node, Node], Node]
"""What becomes of an old element and a new one."""


# What an index picks

@dataclass
class Picks:
    """An index with arrays in it, for an array of one shape."""

    shape: tuple[int, ...] = ()
    """Shape of what is picked."""
    starts: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    """Slice of each axis; axes of index arrays are whole."""
    rules: list[int | None] = field(default_factory=list)
    """For each axis: the axis of the result, -1 - j for index j, or None for an integer."""
    indices: list[Node] = field(default_factory=list)
    """Index arrays, in shapes that broadcast to the result's."""


def _is_basic(x: Any) -> bool:
    return isinstance(x, (int, slice, EllipsisType, type(None), np.integer)) and (
        x is not True and x is not False)


def _is_array(x: Any) -> bool:
    return isinstance(x, (array, list, tuple, np.ndarray, bool, np.bool_)) or hasattr(
        x, "__mlx_array__") or hasattr(x, "__dlpack__")


def is_basic(index: Any) -> bool:
    """Whether an index has no arrays, lists or masks in it."""
    if type(index) is tuple:
        return not any(not _is_basic(x) and _is_array(x) for x in index)
    return _is_basic(index) or not _is_array(index)


def _part(x: Any) -> Any:
    if _is_basic(x) or not _is_array(x):
        return x
    return np.asarray(x) if isinstance(x, (bool, np.bool_)) else given_index("index", x)


def _items(index: Any, shape: tuple[int, ...]) -> list[Any]:
    """The parts of an index with all axes written out; arrays as nodes or NumPy data."""
    rank = len(shape)
    parts = list(map(_part, index if isinstance(index, tuple) else (index,)))
    given = sum([_axes(x) for x in parts])
    if given > rank:
        raise IndexingError(f"[index] {given} indices for the {rank} axes of shape "
                            f"{show_shape(shape)}.")
    dots = [i for i, x in enumerate(parts) if isinstance(x, EllipsisType)]
    if len(dots) > 1:
        raise IndexingError("[index] only one ellipsis (...) is allowed in an index.")
    at = dots[0] if dots else len(parts)
    fill = (slice(None),) * (rank - given)
    out: list[Any] = []
    axis = 0
    # The ellipsis stays, of no axes: even then what stands on its sides stands apart.
    for x in (*parts[:at], *fill, *parts[at:]):
        if _is_mask(x) and tuple(x.shape) != shape[axis:axis + len(x.shape)]:
            raise IndexingError(f"[index] a mask of shape {show_shape(x.shape)} does not match "
                                f"the axes from {axis} of shape {show_shape(shape)}.")
        out.append(x)
        axis += _axes(x)
    return out


def _is_mask(x: Any) -> bool:
    return isinstance(x, (np.ndarray, Node)) and x.dtype in (bool_, np.dtype(bool))


def _axes(x: Any) -> int:
    if x is None or isinstance(x, EllipsisType):
        return 0
    return len(x.shape) if _is_mask(x) else 1


def true_positions(mask: Any) -> tuple[np.ndarray, ...]:
    """Coordinates of a mask's true elements, which computes the mask.

    Raises TraceError for one that depends on a placeholder.
    """
    if isinstance(mask, Node):
        mask = numpy_view(wrap(mask), "mask index")
    return np.nonzero(mask) if mask.ndim else (np.zeros(int(bool(mask)), np.int64),)


def picks(index: Any, shape: tuple[int, ...]) -> Picks:
    """The meaning of an index with arrays in it for an array of a shape.

    Raises IndexingError for indices out of range, too many of them, arrays of other dtypes than
    integers and booleans and masks of a wrong shape, ShapeError where index arrays do not
    broadcast.
    """
    p = Picks()
    dims: list[int] = []  # of the result, without the index arrays' own
    found: list[np.ndarray | Node] = []
    extra: list[tuple[int, ...]] = []
    first, last, apart = -1, -1, False
    for i, x in enumerate(_items(index, shape)):
        axis = len(p.rules)
        if isinstance(x, EllipsisType):
            continue
        if x is None or isinstance(x, slice):
            if x is not None:
                s = select(x, shape[axis:axis + 1])
                _slice(p, s.starts[0], s.steps[0], s.counts[0], len(dims))
            dims.append(1 if x is None else p.counts[-1])
            continue
        if first < 0:
            first = len(dims)
        apart = apart or last not in (-1, i - 1)
        last = i
        if _is_mask(x):
            places = true_positions(x)
            if not x.shape:
                extra.append(places[0].shape)
            found += places[:len(x.shape)]
            for k in range(len(x.shape)):
                _slice(p, 0, 1, shape[axis + k], -len(found) + len(x.shape) - 1 - k)
        elif isinstance(x, (np.ndarray, Node)):
            found.append(x)
            _slice(p, 0, 1, shape[axis], -len(found))
        else:
            start = select((slice(None),) * axis + (x,), shape).starts[axis]
            _slice(p, start, 1, 1, None)
    nodes = [x if isinstance(x, Node) else known_index("index", x, p.rules.index(-1 - j), shape)
             for j, x in enumerate(found)]
    batch = broadcast_shape("index", *extra, *[n.shape for n in nodes])
    at = 0 if apart else first
    p.shape = (*dims[:at], *batch, *dims[at:])
    behind = (1,) * (len(dims) - at)
    p.indices = [prims.reshape(n, n.shape + behind) for n in nodes]
    p.rules = [r + len(batch) if r is not None and r >= at else r for r in p.rules]
    if 0 not in p.shape:
        for axis, r in enumerate(p.rules):
            if r is not None and r < 0 and not shape[axis]:
                raise IndexingError(f"[index] no elements to pick on axis {axis} of shape "
                                    f"{show_shape(shape)}.")
    return p


def _slice(p: Picks, start: int, step: int, count: int, rule: int | None) -> None:
    p.starts.append(start)
    p.steps.append(step)
    p.counts.append(count)
    p.rules.append(rule)


def gathered(n: Node, p: Picks) -> Node:
    """The elements that an index picks."""
    view = prims.slice_(n, tuple(p.starts), tuple(p.steps), tuple(p.counts))
    kept = [(d, r) for d, r in zip(view.shape, p.rules) if r is not None]
    view = prims.reshape(view, tuple([d for d, _r in kept]))
    if 0 in p.shape:
        return prims.broadcast(prims.const(0, n.dtype), p.shape)
    if not p.indices:  # only masks without axes
        return prims.reshape(view, p.shape)
    return prims.gather(view, p.indices, tuple([r for _d, r in kept]), p.shape)


def scattered(n: Node, v: Node, p: Picks, mode: str, combine: Combine) -> Node:
    """n with the elements that an index picks changed by v, one after another.

    `mode` is a scatter's and `combine` the same for nodes.
    """
    v = fitted(v, p.shape)
    if 0 in p.shape:
        return n
    if not p.indices:  # only masks without axes
        s = Selection(tuple(p.starts), tuple(p.steps), tuple(p.counts), p.shape)
        return replaced(n, combine(picked(n, s), v), s)
    indices = list(p.indices)
    axes: list[int] = []
    for r, start, step, count in zip(p.rules, p.starts, p.steps, p.counts):
        if r is None:
            indices.append(prims.const(start, int64))
        elif r >= 0 and (start or step != 1):
            along = apply(add, apply(multiply, prims.iota((count,), 0), prims.const(step, int64)),
                          prims.const(start, int64))
            indices.append(prims.reshape(along, (count, *(1,) * (len(p.shape) - 1 - r))))
        else:
            axes.append(r)
            continue
        axes.append(-len(indices))
    return prims.scatter(n, v, indices, tuple(axes), mode)


# Masks that are written through: no position has to be known

def lone_mask(index: Any, shape: tuple[int, ...]) -> tuple[int, Any] | None:
    """(axis, mask) of an index that is one mask among whole axes; else None."""
    items = _items(index, shape)
    masks = [i for i, x in enumerate(items) if _is_mask(x)]
    if len(masks) != 1 or not all(
            isinstance(x, EllipsisType) or (isinstance(x, slice) and x == slice(None))
            for i, x in enumerate(items) if i != masks[0]):
        return None
    return sum([_axes(x) for x in items[:masks[0]]]), items[masks[0]]


def masked(n: Node, v: Node, axis: int, mask: Any, combine: Combine) -> Node:
    """combine(n, v) where a mask over the axes from `axis` holds, n elsewhere.

    v broadcasts to the picked elements, or has one for each true element of the mask, in order.
    """
    m = mask if isinstance(mask, Node) else build(mask)
    rank = len(m.shape)
    lead, trail = n.shape[:axis], n.shape[axis + rank:]
    behind = (1,) * len(trail)
    count_axis = len(v.shape) - len(trail) - 1
    if count_axis >= 0 and v.shape[count_axis] == 1:
        shape = (*v.shape[:count_axis], *(1,) * rank, *v.shape[count_axis + 1:])
        v = fitted(prims.reshape(v, shape), n.shape)
    elif count_axis >= 0:
        count = v.shape[count_axis]
        v = fitted(v, (*lead, count, *trail))
        _enough(n, v, count, m)
        if not count or not m.size:
            return n
        flat = prims.cast(prims.reshape(m, (m.size,)), index_type(m.size))
        last = apply(subtract, prims.scan("sum", flat), prims.const(1, flat.dtype))
        places = prims.reshape(last, m.shape + behind)
        axes = (*range(axis), -1, *range(axis + rank, len(n.shape)))
        v = prims.gather(v, [places], axes, n.shape)
    else:
        v = fitted(v, n.shape)
    m = prims.reshape(m, m.shape + behind)
    return Node(WHERE, (m, combine(n, v), n), (), n.shape, n.dtype)


def _enough(n: Node, v: Node, count: int, m: Node) -> None:
    """Compare the number of values with the mask's, where that can be known."""
    if m.trace is not None and count:
        number.need_value(m, "mask index")
        return
    need_value(wrap(m), "mask index")
    wanted = int(numpy_view(wrap(m), "mask index").sum())
    if count < wanted:
        raise ShapeError(f"[index] {count} values of shape {show_shape(v.shape)} for the {wanted} "
                         f"true elements of a mask over shape {show_shape(n.shape)}.")


# Methods

def getitem(self: array, index: Any) -> array:
    """The part of an array that an index picks: a view, or with arrays in the index a copy.

    Integers, slices, None, ..., and as NumPy has them arrays, lists and masks. Raises IndexingError
    for numbers and lists out of range; those in arrays pick the nearest element.
    """
    n = self._n
    if type(index) is int and n.shape:  # the common case: one row
        return wrap(row(n, index))
    if is_basic(index):
        return wrap(picked(n, select(index, n.shape)))
    return wrap(gathered(n, picks(index, n.shape)))


def setitem(self: array, index: Any, value: Any) -> None:
    """Replace the part of an array that an index picks by a value broadcast to it.

    The value is converted to the array's dtype; where an index comes twice, the last one stands.
    Raises ShapeError where it does not broadcast.
    """
    n = self._n
    v = value_for(value, n.dtype)
    if is_basic(index):
        s = select(index, n.shape)
        self._n = replaced(n, fitted(v, s.shape), s)
        return
    mask = lone_mask(index, n.shape)
    if mask is not None:
        self._n = masked(n, v, *mask, _new)
    else:
        self._n = scattered(n, v, picks(index, n.shape), "set", _new)


def _new(old: Node, new: Node) -> Node:
    return new


class ArrayAt:
    """Changes of picked elements: `x.at[index].add(v)` and the like give a changed array.

    Unlike `x[index] += v`, an index that comes twice counts twice. The value is converted to the
    array's dtype and broadcast to the picked elements.

    >>> import eutectic.core as mx
    >>> mx.zeros(3).at[mx.array([0, 0, 2])].add(1)
    array([2, 0, 1], dtype=float32)
    """

    __slots__ = ("_array", "_index")
    _array: array
    _index: tuple[Any, ...]
    """The index in a tuple; nothing before one is given."""

    def __init__(self, x: array) -> None:
        self._array = x
        self._index = ()

    def __getitem__(self, index: Any) -> ArrayAt:
        out = ArrayAt(self._array)
        out._index = (index,)
        return out

    def add(self, value: Any) -> array:
        """The array with `value` added to the picked elements."""
        return self._changed(value, add, "sum")

    def subtract(self, value: Any) -> array:
        """The array with `value` subtracted from the picked elements."""
        return self._changed(value, subtract, "sum")

    def multiply(self, value: Any) -> array:
        """The array with the picked elements multiplied by `value`."""
        return self._changed(value, multiply, "prod")

    def divide(self, value: Any) -> array:
        """The array with the picked elements divided by `value`; floating and complex dtypes."""
        d = self._array._n.dtype
        if not (d.is_float or d.is_complex):
            raise DtypeError(f"[at] divide does not take {d.name}; convert it by "
                             "astype(mx.float32).")
        return self._changed(value, divide, "div")

    def maximum(self, value: Any) -> array:
        """The array with the greater of the picked elements and `value`; nan wins."""
        return self._changed(value, maximum, "max")

    def minimum(self, value: Any) -> array:
        """The array with the lesser of the picked elements and `value`; nan wins."""
        return self._changed(value, minimum, "min")

    def _changed(self, value: Any, operation: Callable[..., Any], mode: str) -> array:
        n = self._array._n
        if not self._index:
            raise ArgumentTypeError("[at] needs an index, as in x.at[0].add(1).")
        index = self._index[0]
        if n.dtype is bool_ and operation is subtract:
            raise DtypeError("[at] subtract does not take bool; use maximum or minimum.")
        v = value_for(value, n.dtype)

        def combine(old: Node, new: Node) -> Node:
            return apply(operation, old, new, dtype=n.dtype)

        if is_basic(index):
            s = select(index, n.shape)
            return wrap(replaced(n, combine(picked(n, s), fitted(v, s.shape)), s))
        mask = lone_mask(index, n.shape)
        if mask is not None:
            return wrap(masked(n, v, *mask, combine))
        p = picks(index, n.shape)
        if operation is subtract and p.indices:
            v = apply(negative, v)
        elif n.dtype is bool_:
            mode = {"sum": "max", "prod": "min"}.get(mode, mode)
        return wrap(scattered(n, v, p, mode, combine))


def _at(self: array) -> ArrayAt:
    """Changes of picked elements: `x.at[index].add(v)`. See `ArrayAt`."""
    return ArrayAt(self)


for _name, _method in (("__getitem__", getitem), ("__setitem__", setitem), ("at", property(_at))):
    setattr(array, _name, _method)
