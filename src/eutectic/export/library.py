"""Operations that NumPy, SciPy and LAPACK compute: their calls by name, and what they give.

A file names one of these functions; it cannot name another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eutectic.dtype import Dtype, complex64, float32, float64, int32, uint32
from eutectic.export.faults import (
    attributes, count, dtypes, flag, integer, integers, text, that)
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel.prim import Prim
from eutectic.ops import blockwise, distributions, fft, lapack, sorting

Outs = Sequence[tuple[tuple[int, ...], Dtype]]
Gives = Callable[[Node], Outs]
"""Checks operands and attributes (without the layout of several results); the results."""

_REAL, _ANY = (float32, float64), (float32, float64, complex64)


def _matrix(n: Node, takes: Sequence[Dtype], square: bool = True) -> tuple[tuple[int, ...], Dtype]:
    """Shape and dtype of the first operand, a stack of matrices with elements."""
    a = n.inputs[0]
    that(a.dtype in takes and len(a.shape) >= 2 and a.size > 0, "takes no such matrices")
    that(not square or a.shape[-1] == a.shape[-2], "takes square matrices")
    return a.shape, a.dtype


def _alone(takes: Sequence[Dtype], outs: Callable[..., Outs], *kinds: Callable[[Any], bool],
           square: bool = True) -> Gives:
    """Of one stack of matrices: `outs(stack, rows, columns, dtype)`; `kinds` of attributes."""
    def gives(n: Node) -> Outs:
        count(n, 1)
        attributes(n, *kinds)
        (*stack, rows, columns), d = _matrix(n, takes, square)
        return outs(tuple(stack), rows, columns, d)
    return gives


def _real(d: Dtype) -> Dtype:
    return float32 if d.is_complex else d


def _side(x: Any) -> bool:
    return x in ("L", "U")


def _system(n: Node) -> Outs:
    count(n, 2)
    shape, d = _matrix(n, _REAL)
    b = n.inputs[1]
    that(b.dtype is d and len(b.shape) == len(shape) and b.shape[:-1] == shape[:-1]
         and b.size > 0, "the right side does not fit")
    return [(b.shape, d)]


def _triangular_system(n: Node) -> Outs:
    attributes(n, flag)
    return _system(n)


def _plain_system(n: Node) -> Outs:
    attributes(n)
    return _system(n)


def _ordered(n: Node) -> tuple[Node, int]:
    """The operand of an operation along an axis, and the axis."""
    count(n, 1)
    a = n.inputs[0]
    that(len(n.attrs) >= 2 and integer(n.attrs[0]) and 0 <= n.attrs[0] < len(a.shape)
         and n.attrs[1] == a.dtype.name and a.size > 0, "has no such axis or dtype")
    return a, n.attrs[0]


def _sorted(n: Node) -> Outs:
    a, _ = _ordered(n)
    attributes(n, integer, text)
    return [(a.shape, uint32 if n.prim.name == "argsort" else a.dtype)]


def _partitioned(n: Node) -> Outs:
    a, axis = _ordered(n)
    attributes(n, integer, text, integer)
    that(0 <= n.attrs[2] < a.shape[axis], "has no such place")
    return [(a.shape, uint32 if n.prim.name == "argpartition" else a.dtype)]


def _topk(n: Node) -> Outs:
    a, axis = _ordered(n)
    attributes(n, integer, text, integer)
    that(0 < n.attrs[2] < a.shape[axis], "has no so many elements")
    return [((*a.shape[:axis], n.attrs[2], *a.shape[axis + 1:]), a.dtype)]


def _searchsorted(n: Node) -> Outs:
    count(n, 2)
    attributes(n, text, text)
    a, v = n.inputs
    that(a.dtype is v.dtype and not a.dtype.is_complex and n.attrs[0] == a.dtype.name
         and len(a.shape) == 1 and n.attrs[1] in ("left", "right"), "takes no such operands")
    return [(v.shape, uint32)]


def _median(n: Node) -> Outs:
    count(n, 1)
    attributes(n)
    a = n.inputs[0]
    that(a.dtype in _REAL and len(a.shape) > 0 and a.size > 0, "takes no such operand")
    return [(a.shape[:-1], a.dtype)]


def _unique(n: Node) -> Outs:
    count(n, 2)
    a, fill = n.inputs
    that(len(n.attrs) == 4, "has other attributes")
    name, size, filled, wanted = n.attrs
    that(name == a.dtype.name and integer(size) and flag(filled) and type(wanted) is tuple
         and 0 <= size < 1 << 60, "has other attributes")
    that(fill.dtype is a.dtype and fill.size == 1 and (filled or a.size > 0 or not size),
         "the fill does not fit")
    outs = {"values": ((size,), a.dtype), "index": ((size,), uint32), "inverse": (a.shape, uint32),
            "counts": ((size,), int32)}
    that(wanted[:1] == ("values",) and wanted == tuple([w for w in outs if w in wanted]),
         "gives no such results")
    return [outs[w] for w in wanted]


def _segments(n: Node) -> Outs:
    count(n, 3)
    a, b, s = n.inputs
    that(a.dtype.is_float and b.dtype is a.dtype and n.attrs == (a.dtype.name,) and s.dtype.is_int
         and len(a.shape) == len(b.shape) == 2 and a.shape[1] == b.shape[0] and a.shape[1] > 0
         and bool(s.shape) and s.shape[-1] == 2, "takes no such operands")
    return [((s.size // 2, a.shape[0], b.shape[1]), float32 if a.dtype.is_half else a.dtype)]


def _draws(n: Node) -> Outs:
    attributes(n)
    dtypes(n, float32, float32)
    that(len(n.inputs[0].shape) == 1 and n.inputs[0].size > 0, "draws from nothing")
    return [(n.inputs[1].shape, uint32)]


def _order(n: Node) -> Outs:
    attributes(n)
    dtypes(n, uint32)
    that(len(n.inputs[0].shape) == 1, "orders one axis")
    return [(n.inputs[0].shape, uint32)]


def _root(n: Node) -> Outs:
    attributes(n)
    count(n, 1)
    shape, _ = _matrix(n, (float32,))
    return [(shape, float32)]


_KINDS = {"fftn": (complex64, complex64), "ifftn": (complex64, complex64),
          "rfftn": (float32, complex64), "irfftn": (complex64, float32)}


def _transformed(n: Node) -> Outs:
    count(n, 1)
    attributes(n, text, integers, integers, text)
    kind, lengths, axes, norm = n.attrs
    a = n.inputs[0]
    that(kind in _KINDS and norm in fft.NORMS, "is no known transform")
    takes, gives = _KINDS[kind]
    that(a.dtype is takes and a.size > 0 and len(lengths) == len(axes) == len(set(axes)) > 0
         and all(0 <= i < len(a.shape) for i in axes) and all(k > 0 for k in lengths),
         "takes no such operand")
    shape = list(a.shape)
    for i, k in zip(axes, lengths):
        shape[i] = k
    if kind == "rfftn":
        shape[axes[-1]] = lengths[-1] // 2 + 1
    return [(tuple(shape), gives)]


_TRANSFORMS = ("fft", "ifft", "rfft", "irfft", "fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2",
               "rfft2", "irfft2", "stft", "istft")
_values = _alone(_ANY, lambda s, m, n, d: [((*s, min(m, n)), _real(d))], square=False)
_unchanged = _alone(_REAL, lambda s, m, n, d: [((*s, m, n), d)])

_CALLS: dict[str, tuple[Callable[..., Any], Gives, bool]] = {
    "qr": (lapack.qr, _alone(_REAL, lambda s, m, n, d: [
        ((*s, m, min(m, n)), d), ((*s, min(m, n), n), d)], square=False), True),
    "svd": (lapack.singular_values, _values, False),
    "singular_values": (lapack.singular_values, _values, False),
    "svd with vectors": (lapack.svd, _alone(_ANY, lambda s, m, n, d: [
        ((*s, m, m), d), ((*s, min(m, n)), _real(d)), ((*s, n, n), d)], square=False), True),
    "inv": (lapack.inv, _unchanged, False),
    "pinv": (lapack.pinv, _alone(_REAL, lambda s, m, n, d: [((*s, n, m), d)], square=False),
             False),
    "tri_inv": (lapack.tri_inv, _alone(_REAL, lambda s, m, n, d: [((*s, m, n), d)], flag,
                                       lambda x: x == "tri_inv"), False),
    "cholesky_inv": (lapack.tri_inv, _alone(_REAL, lambda s, m, n, d: [((*s, m, n), d)], flag,
                                            lambda x: x == "cholesky_inv"), False),
    "cholesky": (lapack.cholesky, _alone(_REAL, lambda s, m, n, d: [((*s, m, n), d)], flag),
                 False),
    "eigh": (lapack.eigh, _alone(_ANY, lambda s, m, n, d: [
        ((*s, m), _real(d)), ((*s, m, n), d)], _side), True),
    "eigvalsh": (lapack.eigvalsh, _alone(_ANY, lambda s, m, n, d: [((*s, m), _real(d))], _side),
                 False),
    "eig": (lapack.eig, _alone(_ANY, lambda s, m, n, d: [
        ((*s, m), complex64), ((*s, m, n), complex64)]), True),
    "eigvals": (lapack.eigvals, _alone(_ANY, lambda s, m, n, d: [((*s, m), complex64)]), False),
    "lu": (lapack.lu, _alone(_REAL, lambda s, m, n, d: [
        ((*s, m), uint32), ((*s, m, min(m, n)), d), ((*s, min(m, n), n), d)], square=False), True),
    "lu_factor": (lapack.lu_factor, _alone(_REAL, lambda s, m, n, d: [
        ((*s, m, n), d), ((*s, min(m, n)), uint32)], square=False), True),
    "solve": (lapack.solve, _plain_system, False),
    "solve_triangular": (lapack.solve_triangular, _triangular_system, False),
    "cofactors": (lapack.cofactors, _unchanged, False),
    "det": (lapack.det, _alone(_REAL, lambda s, m, n, d: [(s, d)]), False),
    "slogdet": (lapack.slogdet, _alone(_REAL, lambda s, m, n, d: [(s, d), (s, d)]), True),
    "sort": (sorting._sort, _sorted, False),
    "argsort": (sorting._argsort, _sorted, False),
    "partition": (sorting._partition, _partitioned, False),
    "argpartition": (sorting._argpartition, _partitioned, False),
    "topk": (sorting._topk, _topk, False),
    "searchsorted": (sorting._searchsorted, _searchsorted, False),
    "median": (sorting._median, _median, False),
    "unique": (sorting._unique, _unique, False),
    "unique with places": (sorting._unique, _unique, True),
    "segmented_mm": (blockwise._segments, _segments, False),
    "categorical_draws": (distributions._find, _draws, False),
    "random_order": (distributions._order, _order, False),
    "covariance_root": (distributions._square_root, _root, False),
    **dict.fromkeys(_TRANSFORMS, (fft._run, _transformed, False))}
"""The function, what it gives, and whether these are several results."""


def _prim(name: str, call: Callable[..., Any], several: bool) -> Prim:
    return prims.opaque_prim(name.split(" ")[0], call, several)


LIBRARY: dict[str, Prim] = {
    "part": prims.PART, **{name: _prim(name, call, several)
                           for name, (call, _gives, several) in _CALLS.items()}}
"""Operations of other libraries by the names that stand in files."""
_GIVES = {LIBRARY[name]: entry for name, entry in _CALLS.items()}


def verify_library(n: Node) -> None:
    """Raise Fault unless the node is what its function, operands and attributes make."""
    if n.prim is prims.PART:
        count(n, 1)
        whole = n.inputs[0]
        that(whole.prim in _GIVES and _GIVES[whole.prim][2] and n.attrs in whole.attrs[-1]
             and n.attrs[1:] == (n.shape, n.dtype), "is no part of its input")
        return
    call, gives, several = _GIVES[n.prim]
    attrs = n.attrs[:-1] if several else n.attrs  # the last is the layout
    outs = gives(Node(n.prim, n.inputs, attrs, n.shape, n.dtype))
    that((len(outs) > 1) == several, "gives another number of results")
    [made, *_] = prims.opaque(n.prim.name, call, n.inputs, attrs, outs)
    whole = made.inputs[0] if several else made
    that((whole.attrs, whole.shape, whole.dtype) == (n.attrs, n.shape, n.dtype),
         "gives another shape or dtype")
