"""Matrix products of parts: picked matrices, segments of the inner axis, masked blocks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, bool_, float32, int64, promote
from eutectic.errors import ArgumentError, DtypeError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops.arithmetic import multiply
from eutectic.ops.checks import apply, integer
from eutectic.ops.comparison import WHERE
from eutectic.ops.devices import streamed
from eutectic.ops.matrix import matmul
from eutectic.ops.registry import broadcast_shape, node_of
from eutectic.ops.taking import take


def _matrices(x: Node) -> array:
    """The matrices before which batch axes stand, along one axis."""
    return wrap(prims.reshape(x, (math.prod(x.shape[:-2]), *x.shape[-2:])))


def _chosen(x: Node, indices: Any) -> Node:
    """Indices into the batch axes; those not given have the shape of these axes."""
    if indices is None:
        batch = x.shape[:-2]
        return prims.broadcast(prims.const(0, int64), batch)  # for its shape
    n = node_of(array(indices) if isinstance(indices, (list, tuple)) else indices, "gather_mm")
    if not n.dtype.is_int:
        raise DtypeError(f"[gather_mm] indices are integers, not {n.dtype.name}.")
    return n


@streamed
def gather_mm(a: array, b: array, /, lhs_indices: Any = None, rhs_indices: Any = None, *,
              sorted_indices: bool = False, stream: Any = None) -> array:
    """Products of matrices picked from two batches: a[lhs_indices] @ b[rhs_indices].

    The indices number the matrices of all batch axes, and broadcast; those not given are all, in
    order. Floating and complex dtypes, promoted together; `sorted_indices` changes nothing.
    Indices out of range are clamped. Raises DtypeError for integers, ShapeError for shapes that do
    not match.

    >>> import eutectic.core as mx
    >>> b = mx.array([[[1.0], [0.0]], [[0.0], [1.0]]])
    >>> mx.gather_mm(mx.array([[3.0, 4.0]]), b, rhs_indices=mx.array([1, 0, 1])).flatten()
    array([4, 3, 4], dtype=float32)
    """
    x, y = node_of(a, "gather_mm"), node_of(b, "gather_mm")
    if lhs_indices is None and rhs_indices is None:
        return matmul(a, b)
    if not x.shape or not y.shape:
        raise ShapeError(f"[gather_mm] shapes {show_shape(x.shape)} and {show_shape(y.shape)}: "
                         "both operands need at least one axis.")
    row, column = len(x.shape) == 1, len(y.shape) == 1
    x = prims.reshape(x, (1, *x.shape)) if row else x
    y = prims.reshape(y, (*y.shape, 1)) if column else y
    left, right = _chosen(x, lhs_indices), _chosen(y, rhs_indices)
    batch = broadcast_shape("gather_mm", left.shape, right.shape)
    out = matmul(_picked(x, left, lhs_indices is None, batch),
                 _picked(y, right, rhs_indices is None, batch))._n
    shape = out.shape[:-2] + (() if row else out.shape[-2:-1]) + (() if column else out.shape[-1:])
    return wrap(prims.reshape(out, shape))


def _picked(x: Node, index: Node, all_of_them: bool, batch: tuple[int, ...]) -> array:
    """The matrices that an index picks, over the common batch axes."""
    n = x if all_of_them else take(_matrices(x), wrap(index), 0)._n
    return wrap(prims.broadcast(n, (*batch, *x.shape[-2:])))


def _segments(a: np.ndarray, b: np.ndarray, segments: np.ndarray, name: str) -> np.ndarray:
    if name == "bfloat16":
        a, b = [(x.astype(np.uint32) << 16).view(np.float32) for x in (a, b)]
    elif name == "float16":
        a, b = a.astype(np.float32), b.astype(np.float32)
    k = a.shape[1]
    top = min(k, np.iinfo(segments.dtype).max)
    bounds = np.minimum(segments.reshape(-1, 2), top).astype(np.int64)
    bounds = np.where(bounds < 0, np.maximum(bounds + k, 0), bounds)
    out = np.zeros((len(bounds), a.shape[0], b.shape[1]), a.dtype)
    for i, (first, last) in enumerate(bounds):
        if first < last:
            np.matmul(a[:, first:last], b[first:last], out=out[i])
    return out


@streamed
def segmented_mm(a: array, b: array, /, segments: array, *, stream: Any = None) -> array:
    """Products over segments of the inner axis: a[:, i:j] @ b[i:j] for each pair in `segments`.

    `a` (M, K), `b` (K, N), integer `segments` (..., 2) give (..., M, N). Negative bounds count
    from the end, others are clamped to K; an empty segment gives zeros. Real floating dtypes,
    promoted together; halves accumulate in float32. Raises DtypeError for others, ShapeError for
    shapes that do not match.

    >>> import eutectic.core as mx
    >>> a, b = mx.array([[1.0, 2.0, 3.0]]), mx.array([[1.0], [10.0], [100.0]])
    >>> mx.segmented_mm(a, b, mx.array([[0, 2], [2, 3]])).flatten()
    array([21, 300], dtype=float32)
    """
    x, y, s = [node_of(v, "segmented_mm") for v in (a, b, segments)]
    d = _real("segmented_mm", x, y)
    if len(x.shape) != 2 or len(y.shape) != 2 or x.shape[1] != y.shape[0]:
        raise ShapeError(f"[segmented_mm] shapes {show_shape(x.shape)} and {show_shape(y.shape)}: "
                         "(M, K) and (K, N) are needed.")
    if not s.dtype.is_int:
        raise DtypeError(f"[segmented_mm] segments are integers, not {s.dtype.name}.")
    if not s.shape or s.shape[-1] != 2:
        raise ShapeError(f"[segmented_mm] segments of shape {show_shape(s.shape)}: (..., 2) is "
                         "needed.")
    count = math.prod(s.shape[:-1])
    shape = (*s.shape[:-1], x.shape[0], y.shape[1])
    if 0 in shape or not x.shape[1]:
        return wrap(prims.broadcast(prims.const(0, d), shape))
    to = float32 if d.is_half else d
    [out] = prims.opaque("segmented_mm", _segments, (prims.cast(x, d), prims.cast(y, d), s),
                         (d.name,), (((count, x.shape[0], y.shape[1]), to),))
    return wrap(prims.reshape(prims.cast(out, d), shape))


def _real(name: str, x: Node, y: Node) -> Dtype:
    d = promote(x.dtype, y.dtype)
    if not d.is_float:
        raise DtypeError(f"[{name}] only real floating types are supported but {x.dtype.name} and "
                         f"{y.dtype.name} were given.")
    return d


def _masked(x: Node, mask: Any, block: int, what: str) -> Node:
    """A matrix with its blocks kept or dropped by booleans, or scaled by numbers."""
    if mask is None:
        return x
    m = node_of(mask, "block_masked_mm")
    rows, columns = x.shape[-2:]
    blocks = (-(-rows // block), -(-columns // block))
    want = (*x.shape[:-2], *blocks)
    if len(m.shape) > len(want) or any(
            d not in (1, e) for d, e in zip(reversed(m.shape), reversed(want))):
        raise ShapeError(f"[block_masked_mm] {what} of shape {show_shape(m.shape)} does not "
                         f"broadcast to the blocks {show_shape(want)}.")
    m = prims.broadcast(m, want)
    batch = want[:-2]
    m = prims.broadcast(prims.reshape(m, (*batch, blocks[0], 1, blocks[1], 1)),
                        (*batch, blocks[0], block, blocks[1], block))
    m = prims.reshape(m, (*batch, blocks[0] * block, blocks[1] * block))
    m = prims.slice_(m, (0,) * len(want), (1,) * len(want), x.shape)
    if m.dtype is bool_:
        return Node(WHERE, (m, x, prims.const(0, x.dtype)), (), x.shape, x.dtype)
    return apply(multiply, x, prims.cast(m, x.dtype))


@streamed
def block_masked_mm(a: array, b: array, /, block_size: int = 64, mask_out: Any = None,
                    mask_lhs: Any = None, mask_rhs: Any = None, *, stream: Any = None) -> array:
    """Matrix product with a mask for each block of the operands and of the result.

    Blocks are `block_size` long on both axes, shorter at the ends. Where a boolean mask is false
    the block counts as zero; masks of numbers scale their block. Real floating dtypes, promoted
    together. Raises DtypeError for others, ShapeError for masks that do not fit.

    >>> import eutectic.core as mx
    >>> a, keep = mx.ones((2, 2)), mx.array([[True, False]])
    >>> mx.block_masked_mm(a, a, 1, mask_out=keep)
    array([[2, 0],
           [2, 0]], dtype=float32)
    """
    x, y = node_of(a, "block_masked_mm"), node_of(b, "block_masked_mm")
    d = _real("block_masked_mm", x, y)
    block = integer("block_masked_mm", "block_size", block_size)
    if block < 1:
        raise ArgumentError(f"[block_masked_mm] block_size must be positive, got {block}.")
    if not x.shape or not y.shape:
        raise ShapeError(f"[block_masked_mm] shapes {show_shape(x.shape)} and "
                         f"{show_shape(y.shape)}: both operands need at least one axis.")
    row, column = len(x.shape) == 1, len(y.shape) == 1
    x = prims.cast(prims.reshape(x, (1, *x.shape)) if row else x, d)
    y = prims.cast(prims.reshape(y, (*y.shape, 1)) if column else y, d)
    x, y = _masked(x, mask_lhs, block, "mask_lhs"), _masked(y, mask_rhs, block, "mask_rhs")
    out = _masked(matmul(wrap(x), wrap(y))._n, mask_out, block, "mask_out")
    shape = out.shape[:-2] + (() if row else out.shape[-2:-1]) + (() if column else out.shape[-1:])
    return wrap(prims.reshape(out, shape))
