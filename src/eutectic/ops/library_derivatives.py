"""Derivatives of operations that a library computes: transforms, order, products over segments.

Rules take the cotangent and the node (`ops.derivatives.structural`); a cotangent of complex numbers
is dL/dx + i dL/dy, so that of a linear map is its adjoint.
"""

from __future__ import annotations

from collections.abc import Sequence

from eutectic.array import array, wrap
from eutectic.dtype import complex64, float32, int32, int64, uint32
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops import blockwise, cumulative, distributions, fft, sorting
from eutectic.ops.arithmetic import logaddexp, maximum, minimum
from eutectic.ops.checks import apply
from eutectic.ops.comparison import where
from eutectic.ops.derivatives import (
    is_discrete, linear_recurrence, several, shift_left, structural)
from eutectic.ops.functions import exp
from eutectic.ops.joining import slice_axis
from eutectic.ops.matrix import matmul
from eutectic.ops.types import iinfo

_opaque = prims.opaque_prim


def _fitted(n: Node, axis: int, length: int) -> Node:
    """Cut or filled with zeros along an axis to a length."""
    now = n.shape[axis]
    if now >= length:
        return slice_axis(n, axis, 0, length)
    zeros = [0] * len(n.shape)
    high = list(zeros)
    high[axis] = length - now
    return prims.pad(n, tuple(zeros), tuple(high), prims.const(0, n.dtype))


# -- Fourier transforms ------------------------------------------------------------------------

_ADJOINT = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
"""Norm of the inverse transform that is a transform's adjoint."""


def _transformed(g: Node, n: Node) -> list[Node | None]:
    kind, lengths, axes, norm = n.attrs
    source = n.inputs[0]
    back, last = _ADJOINT[norm], axes[-1]
    if kind == "irfftn":
        out = fft.transform("fftn", "rfftn", wrap(g), lengths, axes, back)._n
        # Frequencies that stand for a conjugate pair count twice.
        k = prims.iota((out.shape[last], *(1,) * (len(out.shape) - last - 1)), 0)
        one = apply("equal", k, prims.const(0, k.dtype))
        if lengths[-1] % 2 == 0:
            one = apply("logical_or", one, apply("equal", k, prims.const(lengths[-1] // 2,
                                                                         k.dtype)))
        out = (wrap(out) * where(wrap(one), 1.0, 2.0))._n
    else:
        wide = _fitted(prims.cast(g, complex64), last, lengths[-1])
        inverse = "fftn" if kind == "ifftn" else "ifftn"
        out = fft.transform("fftn", inverse, wrap(wide), None, axes, back)._n
        if kind == "rfftn":
            out = apply("real", out, dtype=float32)
    for axis in axes:
        out = _fitted(out, axis, source.shape[axis])
    return [out]


for _name in ("fft", "ifft", "rfft", "irfft", "fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2",
              "rfft2", "irfft2", "stft", "istft"):
    structural(_opaque(_name, fft._run))(_transformed)


# -- order -------------------------------------------------------------------------------------


def _placed(g: Node, order: array, axis: int) -> Node:
    """The cotangent of x where y[i] = x[order[i]] along an axis: the inverse permutation."""
    back = sorting.argsort(order, axis)._n
    rank = len(g.shape)
    return prims.gather(g, (back,), (*range(axis), -1, *range(axis + 1, rank)), back.shape)


@structural(_opaque("sort", sorting._sort))
def _sort(g: Node, n: Node) -> list[Node | None]:
    axis = n.attrs[0]
    return [_placed(g, sorting.argsort(wrap(n.inputs[0]), axis), axis)]


@structural(_opaque("partition", sorting._partition))
def _partition(g: Node, n: Node) -> list[Node | None]:
    axis, _, kth = n.attrs
    return [_placed(g, sorting.argpartition(wrap(n.inputs[0]), kth, axis), axis)]


@structural(_opaque("topk", sorting._topk))
def _topk(g: Node, n: Node) -> list[Node | None]:
    axis, _, k = n.attrs
    x = n.inputs[0]
    low = [0] * len(x.shape)
    low[axis] = x.shape[axis] - k
    wide = prims.pad(g, tuple(low), (0,) * len(low), prims.const(0, g.dtype))
    return [_placed(wide, sorting.argpartition(wrap(x), -k, axis), axis)]


@structural(_opaque("median", sorting._median))
def _median(g: Node, n: Node) -> list[Node | None]:
    x = n.inputs[0]
    axis, length = len(x.shape) - 1, x.shape[-1]
    middle = 2 - length % 2
    share = apply("multiply", prims.reshape(g, (*g.shape, 1)), prims.const(1 / middle, g.dtype))
    share = prims.broadcast(share, (*g.shape, middle))
    before = (length - 1) // 2
    wide = prims.pad(share, (*(0,) * axis, before), (*(0,) * axis, length - middle - before),
                     prims.const(0, g.dtype))
    return [_placed(wide, sorting.argsort(wrap(x), axis), axis)]


def _nothing(g: Node, n: Node) -> list[Node | None]:
    return [None] * len(n.inputs)


for _name, _call in (("argsort", sorting._argsort), ("argpartition", sorting._argpartition),
                     ("searchsorted", sorting._searchsorted),
                     ("categorical_draws", distributions._find),
                     ("random_order", distributions._order)):
    structural(_opaque(_name, _call))(_nothing)


@structural(_opaque("unique", sorting._unique))
def _distinct(g: Node, n: Node) -> list[Node | None]:
    return _unique([g], n, [n])


@several(_opaque("unique", sorting._unique, True))
def _unique(gs: Sequence[Node | None], n: Node, outs: Sequence[Node]) -> list[Node | None]:
    """Each value passes its cotangent to its first place, fillers to the fill value."""
    if gs[0] is None or is_discrete(outs[0]):
        return [None, None]
    (a, fill), g = n.inputs, wrap(gs[0])
    name, size, filled = n.attrs[:3]
    count = ((size,), int32)
    places, counts = prims.opaque("unique", sorting._unique, n.inputs,
                                  (name, size, filled, ("index", "counts")),
                                  (((size,), uint32), count))
    rest = wrap(counts) == 0 if filled else None
    kept = g if rest is None else where(rest, 0, g)
    zeros = prims.broadcast(prims.const(0, a.dtype), (a.size,))
    found = prims.reshape(prims.scatter(zeros, kept._n, [places], (-1,), "sum"), a.shape)
    if rest is None:
        return [found, None]
    total = prims.reduce("sum", where(rest, g, 0)._n, (0,))
    return [found, prims.reshape(total, fill.shape)]


@structural(cumulative.LOGCUMSUMEXP)
def _logcumsumexp(g: Node, n: Node) -> list[Node | None]:
    """x_j gets the sum over i >= j of g_i e^(x_j - y_i), linear in g and without overflow.

    t[j] = sum over i >= j of g_i e^(y_j - y_i) obeys t[j] = g[j] + e^(y_j - y_(j+1)) t[j+1], whose
    factors are at most 1 because y grows; the result is e^(x_j - y_j) t[j].
    """
    x, y = wrap(n.inputs[0]), wrap(n)
    if not n.attrs[0]:
        y, g = logaddexp(y, x), shift_left(g)
    later = wrap(shift_left(y._n))
    low = float("-inf")
    nothing = (y == low) | (later == low)
    factor = where(nothing, 0, exp(where(nothing, 0, y - later)))
    ends = wrap(prims.iota(n.shape, len(n.shape) - 1)) == n.shape[-1] - 1
    total = linear_recurrence(g, where(ends, 0, factor)._n)
    weight = where(y == low, 0, exp(where(y == low, 0, x - y)))
    return [(weight * wrap(total))._n]


# -- products over segments --------------------------------------------------------------------


@structural(_opaque("segmented_mm", blockwise._segments))
def _segmented(g: Node, n: Node) -> list[Node | None]:
    """Products with the whole of the other operand, of which each segment keeps its part."""
    a, b, segments = n.inputs
    length = a.shape[1]
    top = min(length, iinfo(segments.dtype).max)
    ends = minimum(wrap(segments), top).astype(int64)
    ends = where(ends < 0, maximum(ends + length, 0), ends)
    bounds = prims.reshape(ends._n, (g.shape[0], 2))
    first, last = [wrap(slice_axis(bounds, 1, i, i + 1)) for i in (0, 1)]
    k = wrap(prims.iota((1, length), 1))
    inside = ((k >= first) & (k < last))._n
    wide = [wrap(prims.cast(x, g.dtype)) for x in (a, b)]
    of_a = matmul(wrap(g), wide[1].T)
    of_b = matmul(wide[0].T, wrap(g))
    kept_a = where(wrap(prims.reshape(inside, (g.shape[0], 1, length))), of_a, 0)
    kept_b = where(wrap(prims.reshape(inside, (g.shape[0], length, 1))), of_b, 0)
    return [prims.reduce("sum", kept_a._n, (0,)), prims.reduce("sum", kept_b._n, (0,)), None]
