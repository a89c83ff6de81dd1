"""Derivatives of operations that a library computes: transforms, order, linear algebra.

Rules take the cotangent and the node (`ops.derivatives.structural`); a cotangent of complex numbers
is dL/dx + i dL/dy, so that of a linear map is its adjoint.
"""

from __future__ import annotations

from eutectic.array import array, wrap
from eutectic.dtype import complex64, float32
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops import cumulative, fft, lapack, linalg, sorting
from eutectic.ops.arithmetic import logaddexp
from eutectic.ops.checks import apply
from eutectic.ops.comparison import where
from eutectic.ops.creation import tril, triu
from eutectic.ops.derivatives import linear_recurrence, shift_left, structural
from eutectic.ops.functions import exp
from eutectic.ops.joining import slice_axis
from eutectic.ops.matrix import matmul

_opaque = prims._opaque_prim


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
                     ("searchsorted", sorting._searchsorted)):
    structural(_opaque(_name, _call))(_nothing)


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


# -- linear algebra ----------------------------------------------------------------------------


def _turned(x: array) -> array:
    rank = len(x.shape)
    return wrap(prims.transpose(x._n, (*range(rank - 2), rank - 1, rank - 2)))


def _inverse_rule(g: Node, n: Node) -> array:
    turned = _turned(wrap(n))
    return -matmul(matmul(turned, wrap(g)), turned)


@structural(_opaque("inv", lapack.inv))
def _inv(g: Node, n: Node) -> list[Node | None]:
    return [_inverse_rule(g, n)._n]


def _tri_inv(g: Node, n: Node) -> list[Node | None]:
    return [(triu if n.attrs[0] else tril)(_inverse_rule(g, n))._n]


for _name in ("tri_inv", "cholesky_inv"):
    structural(_opaque(_name, lapack.tri_inv))(_tri_inv)


@structural(_opaque("solve", lapack.solve))
def _solve(g: Node, n: Node) -> list[Node | None]:
    right = linalg.solve(_turned(wrap(n.inputs[0])), wrap(g))
    return [(-matmul(right, _turned(wrap(n))))._n, right._n]


@structural(_opaque("solve_triangular", lapack.solve_triangular))
def _solve_triangular(g: Node, n: Node) -> list[Node | None]:
    upper = n.attrs[0]
    right = linalg.solve_triangular(_turned(wrap(n.inputs[0])), wrap(g), upper=not upper)
    own = -matmul(right, _turned(wrap(n)))
    return [(triu if upper else tril)(own)._n, right._n]


@structural(_opaque("cholesky", lapack.cholesky))
def _cholesky(g: Node, n: Node) -> list[Node | None]:
    """Murray, arXiv 1602.07527, eq. 9: symmetric, as the matrix is."""
    upper = n.attrs[0]
    low, c = (_turned(wrap(n)), _turned(wrap(g))) if upper else (wrap(n), wrap(g))
    inner = matmul(_turned(low), c)
    half = (tril(inner) + tril(inner, -1)) * 0.5
    inverse = linalg.tri_inv(low)
    out = matmul(matmul(_turned(inverse), half), inverse)
    return [((out + _turned(out)) * 0.5)._n]


@structural(_opaque("det", lapack.det))
def _det(g: Node, n: Node) -> list[Node | None]:
    scale = wrap(g) * wrap(n)
    wide = wrap(prims.reshape(scale._n, (*scale.shape, 1, 1)))
    return [(wide * _turned(linalg.inv(wrap(n.inputs[0]))))._n]


def _scaled(left: Node, g: Node, right: Node) -> Node:
    """left diag(g) right."""
    columns = prims.reshape(prims.cast(g, left.dtype), (*g.shape[:-1], 1, g.shape[-1]))
    return prims.matmul(apply("multiply", left, columns), right)


def _singular_values(g: Node, n: Node) -> list[Node | None]:
    u, _, vt = linalg.svd(wrap(n.inputs[0]))
    k, rank = n.shape[-1], len(n.shape)
    return [_scaled(slice_axis(u._n, rank, 0, k), g, slice_axis(vt._n, rank - 1, 0, k))]


for _name in ("svd", "singular_values"):
    structural(_opaque(_name, lapack.singular_values))(_singular_values)


@structural(_opaque("eigvalsh", lapack.eigvalsh))
def _eigvalsh(g: Node, n: Node) -> list[Node | None]:
    v = linalg.eigh(wrap(n.inputs[0]), n.attrs[0])[1]._n
    rank = len(v.shape)
    turned = prims.transpose(v, (*range(rank - 2), rank - 1, rank - 2))
    return [_scaled(v, g, apply("conjugate", turned) if v.dtype.is_complex else turned)]
