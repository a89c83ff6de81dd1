"""Views: reshaping, permuting and repeating axes, and the bits as another dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, complex64, uint8, uint16, uint32, uint64
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, ShapeError, show_shape)
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel import mathlib as ml
from eutectic.kernel.prim import Prim
from eutectic.kernel.scalar import BITS, Complex, Value, bitcast, convert
from eutectic.ops.checks import axes_of, axis_of, integer, integers, shape_of
from eutectic.ops.devices import streamed
from eutectic.ops.registry import broadcast_shape, node_of


def _product(shape: Sequence[int]) -> int:
    size = 1
    for d in shape:
        size *= d
    return size


def _resolved(name: str, wanted: tuple[int, ...], size: int, of: tuple[int, ...]) -> tuple[
        int, ...]:
    """A shape of `size` elements, with one -1 replaced."""
    if -1 in wanted:
        if wanted.count(-1) > 1:
            raise ShapeError(f"[{name}] only one length of {show_shape(wanted)} may be -1.")
        rest = -_product(wanted)
        if rest == 0:
            raise ShapeError(f"[{name}] no length for -1 in {show_shape(wanted)} from shape "
                             f"{show_shape(of)}.")
        if rest > 0 and size % rest == 0:
            wanted = tuple([size // rest if d == -1 else d for d in wanted])
    if min(wanted, default=0) < 0 or _product(wanted) != size:
        raise ShapeError(f"[{name}] {size} elements of shape {show_shape(of)} do not fit shape "
                         f"{show_shape(wanted)}.")
    return wanted


@streamed
def reshape(a: array, /, shape: Any, *, stream: Any = None) -> array:
    """The elements, in row-major order, in another shape; one length may be -1.

    Raises ShapeError where the numbers of elements differ.

    >>> import eutectic.core as mx
    >>> mx.reshape(mx.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    n = node_of(a, "reshape")
    wanted = integers("reshape", "shape", shape)
    return wrap(prims.reshape(n, _resolved("reshape", wanted, n.size, n.shape)))


@streamed
def _reshape_method(self: array, *shape: Any, stream: Any = None) -> array:
    """The elements in another shape: `a.reshape(2, 3)` or `a.reshape((2, 3))`."""
    return reshape(self, shape[0] if len(shape) == 1 else shape)


@streamed
def transpose(a: array, /, axes: Any = None, *, stream: Any = None) -> array:
    """Permute the axes; reverse them by default.

    Raises ShapeError unless every axis is named once, AxisError for one out of range.

    >>> import eutectic.core as mx
    >>> mx.transpose(mx.array([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    n = node_of(a, "transpose")
    rank = len(n.shape)
    if axes is None:
        return wrap(prims.transpose(n, tuple(range(rank - 1, -1, -1))))
    perm = tuple([axis_of("transpose", i, n.shape) for i in integers("transpose", "axes", axes)])
    if len(perm) != rank or len(set(perm)) != rank:
        raise ShapeError(f"[transpose] axes {show_shape(perm)} are not a permutation of those of "
                         f"shape {show_shape(n.shape)}.")
    return wrap(prims.transpose(n, perm))


@streamed
def _transpose_method(self: array, *axes: Any, stream: Any = None) -> array:
    """Permute the axes: `a.transpose()`, `a.transpose(1, 0)` or `a.transpose((1, 0))`."""
    if not axes or axes == (None,):
        return transpose(self)
    return transpose(self, axes[0] if len(axes) == 1 else axes)


@streamed
def matrix_transpose(a: array, /, *, stream: Any = None) -> array:
    """Swap the last two axes. Raises ShapeError for fewer than two.

    >>> import eutectic.core as mx
    >>> mx.matrix_transpose(mx.ones((4, 2, 3))).shape
    (4, 3, 2)
    """
    n = node_of(a, "matrix_transpose")
    if len(n.shape) < 2:
        raise ShapeError(f"[matrix_transpose] needs at least 2 axes, got shape "
                         f"{show_shape(n.shape)}.")
    return swapaxes(a, -2, -1)


@streamed
def swapaxes(a: array, /, axis1: int, axis2: int, *, stream: Any = None) -> array:
    """Swap two axes. Raises AxisError for one out of range.

    >>> import eutectic.core as mx
    >>> mx.swapaxes(mx.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    n = node_of(a, "swapaxes")
    i, j = axis_of("swapaxes", axis1, n.shape), axis_of("swapaxes", axis2, n.shape)
    perm = list(range(len(n.shape)))
    perm[i], perm[j] = j, i
    return wrap(prims.transpose(n, tuple(perm)))


@streamed
def moveaxis(a: array, /, source: int, destination: int, *, stream: Any = None) -> array:
    """Move an axis to another place; the others keep their order.

    Raises AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.moveaxis(mx.ones((2, 3, 4)), 0, 2).shape
    (3, 4, 2)
    """
    n = node_of(a, "moveaxis")
    i, j = axis_of("moveaxis", source, n.shape), axis_of("moveaxis", destination, n.shape)
    perm = [k for k in range(len(n.shape)) if k != i]
    perm.insert(j, i)
    return wrap(prims.transpose(n, tuple(perm)))


@streamed
def broadcast_to(a: Any, /, shape: Any, *, stream: Any = None) -> array:
    """Repeat axes of length 1, and add axes in front, to reach a shape.

    Raises ShapeError where the shape cannot be reached.

    >>> import eutectic.core as mx
    >>> mx.broadcast_to(mx.array([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]], dtype=int32)
    """
    n = node_of(a, "broadcast_to")
    to = shape_of("broadcast_to", shape)
    if len(to) < len(n.shape) or broadcast_shape("broadcast_to", n.shape, to) != to:
        raise ShapeError(f"[broadcast_to] shape {show_shape(n.shape)} does not broadcast to "
                         f"{show_shape(to)}.")
    return wrap(prims.broadcast(n, to))


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The common shape that shapes broadcast to.

    Raises ShapeError where there is none.

    >>> import eutectic.core as mx
    >>> mx.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    if not shapes:
        raise ArgumentError("[broadcast_shapes] needs at least one shape.")
    return broadcast_shape("broadcast_shapes", *[shape_of("broadcast_shapes", s) for s in shapes])


@streamed
def broadcast_arrays(*arrays: array, stream: Any = None) -> tuple[array, ...]:
    """Arrays broadcast to their common shape.

    Raises ShapeError where there is none.

    >>> import eutectic.core as mx
    >>> mx.broadcast_arrays(mx.array(1), mx.array([2, 3]))
    (array([1, 1], dtype=int32), array([2, 3], dtype=int32))
    """
    nodes = [node_of(a, "broadcast_arrays") for a in arrays]
    if not nodes:
        return ()
    shape = broadcast_shape("broadcast_arrays", *[n.shape for n in nodes])
    return tuple([wrap(prims.broadcast(n, shape)) for n in nodes])


@streamed
def expand_dims(a: array, /, axis: Any, *, stream: Any = None) -> array:
    """Insert axes of length 1; their positions count in the result.

    Raises AxisError for one out of range or given twice.

    >>> import eutectic.core as mx
    >>> mx.expand_dims(mx.ones((2, 3)), (0, -1)).shape
    (1, 2, 3, 1)
    """
    n = node_of(a, "expand_dims")
    wanted = integers("expand_dims", "axis", axis)
    rank = len(n.shape) + len(wanted)
    axes = axes_of("expand_dims", wanted, (1,) * rank)
    rest = iter(n.shape)
    return wrap(prims.reshape(n, tuple([1 if i in axes else next(rest) for i in range(rank)])))


@streamed
def squeeze(a: array, /, axis: Any = None, *, stream: Any = None) -> array:
    """Drop axes of length 1: those given, or all.

    Raises ShapeError for an axis of another length, AxisError for one out of range.

    >>> import eutectic.core as mx
    >>> mx.squeeze(mx.ones((1, 3, 1))).shape
    (3,)
    """
    n = node_of(a, "squeeze")
    if axis is None:
        return wrap(prims.reshape(n, tuple([d for d in n.shape if d != 1])))
    axes = axes_of("squeeze", axis, n.shape)
    for i in axes:
        if n.shape[i] != 1:
            raise ShapeError(f"[squeeze] axis {i} of shape {show_shape(n.shape)} does not have "
                             "length 1.")
    return wrap(prims.reshape(n, tuple([d for i, d in enumerate(n.shape) if i not in axes])))


@streamed
def flatten(a: array, /, start_axis: int = 0, end_axis: int = -1, *, stream: Any = None) -> array:
    """Merge the axes from `start_axis` to `end_axis` into one; all of them by default.

    An array without axes gets one. Raises ShapeError where `start_axis` is behind `end_axis`.

    >>> import eutectic.core as mx
    >>> mx.flatten(mx.ones((2, 3, 4)), 1).shape
    (2, 12)
    """
    n = node_of(a, "flatten")
    start = integer("flatten", "start_axis", start_axis)
    end = integer("flatten", "end_axis", end_axis)
    if not n.shape:
        return wrap(prims.reshape(n, (1,)))
    rank = len(n.shape)
    first = 0 if start < -rank else axis_of("flatten", start, n.shape)
    last = rank - 1 if end >= rank else axis_of("flatten", end, n.shape)
    if first > last:
        raise ShapeError(f"[flatten] start_axis {first} is behind end_axis {last} for shape "
                         f"{show_shape(n.shape)}.")
    middle = _product(n.shape[first:last + 1])
    return wrap(prims.reshape(n, (*n.shape[:first], middle, *n.shape[last + 1:])))


@streamed
def unflatten(a: array, /, axis: int, shape: Any, *, stream: Any = None) -> array:
    """Split an axis into several; one length may be -1.

    Raises ShapeError where the lengths do not multiply to the axis's.

    >>> import eutectic.core as mx
    >>> mx.unflatten(mx.ones((2, 12)), 1, (3, -1)).shape
    (2, 3, 4)
    """
    n = node_of(a, "unflatten")
    i = axis_of("unflatten", axis, n.shape)
    wanted = integers("unflatten", "shape", shape)
    if not wanted:
        raise ShapeError("[unflatten] the shape must not be empty.")
    inner = _resolved("unflatten", wanted, n.shape[i], n.shape)
    return wrap(prims.reshape(n, (*n.shape[:i], *inner, *n.shape[i + 1:])))


def _atleast(name: str, rank: int, arys: tuple[Any, ...]) -> Any:
    out = []
    for a in arys:
        n = node_of(a, name)
        shape = n.shape
        if rank == 3 and len(shape) in (1, 2):
            shape = (1, *shape, 1) if len(shape) == 1 else (*shape, 1)
        shape = (1,) * (rank - len(shape)) + shape
        out.append(wrap(prims.reshape(n, shape)))
    return out[0] if len(out) == 1 else out


@streamed
def atleast_1d(*arys: array, stream: Any = None) -> Any:
    """Arrays with at least one axis; a list of them for several arguments.

    >>> import eutectic.core as mx
    >>> mx.atleast_1d(mx.array(1)).shape
    (1,)
    """
    return _atleast("atleast_1d", 1, arys)


@streamed
def atleast_2d(*arys: array, stream: Any = None) -> Any:
    """Arrays with at least two axes, new ones in front; a list of them for several arguments.

    >>> import eutectic.core as mx
    >>> mx.atleast_2d(mx.array([1, 2])).shape
    (1, 2)
    """
    return _atleast("atleast_2d", 2, arys)


@streamed
def atleast_3d(*arys: array, stream: Any = None) -> Any:
    """Arrays with at least three axes, NumPy's way; a list of them for several arguments.

    >>> import eutectic.core as mx
    >>> mx.atleast_3d(mx.array([1, 2])).shape
    (1, 2, 1)
    """
    return _atleast("atleast_3d", 3, arys)


@streamed
def flip(a: array, /, axis: Any = None, *, stream: Any = None) -> array:
    """Reverse the order of elements along axes (all by default).

    >>> import eutectic.core as mx
    >>> mx.flip(mx.array([1, 2, 3]))
    array([3, 2, 1], dtype=int32)
    """
    n = node_of(a, "flip")
    axes = axes_of("flip", axis, n.shape)
    starts = tuple([max(d - 1, 0) if i in axes else 0 for i, d in enumerate(n.shape)])
    steps = tuple([-1 if i in axes else 1 for i in range(len(n.shape))])
    return wrap(prims.slice_(n, starts, steps, n.shape))


@streamed
def astype(a: Any, /, dtype: Dtype, *, stream: Any = None) -> array:
    """Convert to another dtype.

    Floats are truncated towards zero to integers (saturating at the 32- and 64-bit ranges), numbers
    other than zero become True, and complex numbers lose their imaginary part.

    >>> import eutectic.core as mx
    >>> mx.array([1.7, -1.7]).astype(mx.int32)
    array([1, -1], dtype=int32)
    """
    if not isinstance(dtype, Dtype):
        raise ArgumentTypeError(f"[astype] dtype must be a Dtype, not a {type(dtype).__name__}.")
    return wrap(prims.cast(node_of(a, "astype"), dtype))


@streamed
def _astype_method(self: array, dtype: Dtype, stream: Any = None) -> array:
    """Convert to another dtype. See `eutectic.core.astype`."""
    return astype(self, dtype)


@streamed
def contiguous(a: array, /, allow_col_major: bool = False, *, stream: Any = None) -> array:
    """The array in row-major memory without gaps.

    >>> import eutectic.core as mx
    >>> mx.contiguous(mx.array([[1, 2], [3, 4]]).T)
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    n = node_of(a, "contiguous")
    return wrap(Node(prims.COPY, (n,), (), n.shape, n.dtype))


def _bits_of(v: Value, name: str) -> Value:
    """The memory form of an element as an unsigned integer."""
    if name == "bfloat16":
        return ml.bf16_bits(v)
    if name == "float16":
        return bitcast(convert(v, "f16"), "u16")
    if v.ty == "bool":
        return convert(v, "u8")
    return bitcast(v, f"u{BITS[v.ty]}")


def _from_bits(bits: Value, name: str, ty: str) -> Value:
    if name == "bfloat16":
        return ml.bf16_value(bits)
    if name == "float16":
        return convert(bitcast(bits, "f16"), "f32")
    return bits.ne(0) if ty == "bool" else bitcast(bits, ty)


def _view_body(v: Any, source: str, target: str, ty: str) -> Any:
    if isinstance(v, Complex):
        low, high = convert(v.re.bits(), "u64"), convert(v.im.bits(), "u64")
        bits = low | (high << 32)
    else:
        bits = _bits_of(v, source)
    if ty == "c64":
        return Complex(bitcast(convert(bits, "u32"), "f32"),
                       bitcast(convert(bits >> 32, "u32"), "f32"))
    return _from_bits(bits, target, ty)


VIEW = Prim("view", "elementwise", body=_view_body)
"""The same bits in a dtype of the same size: attrs = (source, target, compute type)."""

PIECE = Prim("piece_of_bits", "elementwise",
              body=lambda bits, j, ty: convert(bits >> convert(j * BITS[ty], bits.ty), ty))
"""Piece j of an unsigned integer, as a narrower one: inputs (bits, j), attrs = (type,)."""


def _joined_body(*pieces_and_type: Any) -> Value:
    *pieces, ty = pieces_and_type
    width = BITS[pieces[0].ty]
    out = convert(pieces[0], ty)
    for j, p in enumerate(pieces[1:], 1):
        out = out | (convert(p, ty) << (j * width))
    return out


JOINED = Prim("joined_bits", "elementwise", body=_joined_body)
"""Unsigned integers as one wider one, lowest bits first: attrs = (type,)."""

_UNSIGNED = {1: uint8, 2: uint16, 4: uint32, 8: uint64}


@streamed
def view(a: Any, dtype: Dtype, stream: Any = None) -> array:
    """The bits of the elements as another dtype; the last axis grows or shrinks with the size.

    Raises ShapeError where the last axis does not hold a whole number of elements.

    >>> import eutectic.core as mx
    >>> mx.array([1.0, -2.0]).view(mx.int32)
    array([1065353216, -1073741824], dtype=int32)
    """
    n = node_of(a, "view")
    if not isinstance(dtype, Dtype):
        raise ArgumentTypeError(f"[view] dtype must be a Dtype, not a {type(dtype).__name__}.")
    was, size = n.dtype.size, dtype.size
    if was != size and (not n.shape or n.shape[-1] * was % size):
        raise ShapeError(f"[view] {n.dtype.name} of shape {show_shape(n.shape)} does not make "
                         f"whole elements of {dtype.name}.")
    if was > size:
        n = _taken_apart(_same_size(n, _UNSIGNED[was]), _UNSIGNED[size])
    elif was < size:
        n = _joined(_same_size(n, _UNSIGNED[was]), _UNSIGNED[size])
    return wrap(_same_size(n, dtype))


def _same_size(n: Node, dtype: Dtype) -> Node:
    if n.dtype is dtype:
        return n
    return Node(VIEW, (n,), (n.dtype.name, dtype.name, dtype.compute), n.shape, dtype)


def _taken_apart(n: Node, to: Dtype) -> Node:
    k = n.dtype.size // to.size
    wide = (*n.shape, k)
    j = prims.iota((k,), 0)
    pieces = Node(PIECE, (prims.reshape(n, (*n.shape, 1)), j), (to.compute,), wide, to)
    return prims.reshape(pieces, (*n.shape[:-1], n.shape[-1] * k))


def _joined(n: Node, to: Dtype) -> Node:
    k = to.size // n.dtype.size
    shape = (*n.shape[:-1], n.shape[-1] // k)
    zero, one = (0,) * (len(shape) - 1), (1,) * (len(shape) - 1)
    parts = tuple([prims.slice_(n, (*zero, j), (*one, k), shape) for j in range(k)])
    return Node(JOINED, parts, (to.compute,), shape, to)


PAIR = Prim("complex", "elementwise", body=Complex)
"""Complex numbers of real and imaginary parts."""


def as_complex(parts: Node) -> Node:
    """float32 pairs along the last axis as complex64, without that axis."""
    *outer, _ = parts.shape
    zero, one = (0,) * len(outer), (1,) * len(outer)
    re, im = [prims.reshape(prims.slice_(parts, (*zero, i), (*one, 1), (*outer, 1)), tuple(outer))
              for i in (0, 1)]
    return Node(PAIR, (re, im), (), tuple(outer), complex64)


array.reshape = _reshape_method  # type: ignore[attr-defined]
array.transpose = _transpose_method  # type: ignore[attr-defined]
array.astype = _astype_method  # type: ignore[attr-defined]
for _name, _property in (("T", transpose), ("mT", matrix_transpose)):
    setattr(array, _name, property(_property))
for _name, _method in (("swapaxes", swapaxes), ("moveaxis", moveaxis), ("squeeze", squeeze),
                       ("flatten", flatten), ("view", view)):
    setattr(array, _name, _method)
