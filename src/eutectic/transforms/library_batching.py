"""Batching rules of operations that a library computes: one call for all entries.

What takes stacks of matrices or works along an axis takes the batch as one axis more; any other
runs entry after entry within one node, and is differentiated by the batched rule of one entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel.prim import Prim
from eutectic.ops import distributions, fft, lapack, sorting
from eutectic.ops.derivatives import SEVERAL, STRUCTURAL
from eutectic.transforms.batching import (
    FAMILIES, RULES, Operand, entry_of, pulled)
from eutectic.transforms.loop_rules import everywhere

Call = tuple[Prim, Sequence[Node], tuple[Any, ...]]
"""What runs in the place of an operation, its operands and attributes."""
Calls = Callable[[Node, Sequence[Operand], int], Call]


def _opaque(n: Node, ins: Sequence[Operand], size: int) -> Node:
    if not size:
        return zeros(n, size)
    assert n.prim.call is not None
    call = getattr(n.prim.call, "__wrapped__", n.prim.call)  # of several results: what is packed
    prim, inputs, attrs = CALLS.get(call, _each)(n, ins, size)
    if not prims.has_parts(n):
        return Node(prim, tuple(inputs), attrs, (size, *n.shape), n.dtype)
    outs = [((size, *shape), dtype) for _at, shape, dtype in n.attrs[-1]]
    return prims.packed(prim, inputs, attrs, outs)


def zeros(n: Node, size: int) -> Node:
    return prims.broadcast(prims.const(0, n.dtype), (size, *n.shape))


def _part(n: Node, ins: Sequence[Operand], size: int) -> Node:
    return prims.parts(ins[0][0])[prims.part_index(n)] if size else zeros(n, size)


def _own(n: Node) -> tuple[Any, ...]:
    return n.attrs[:-1] if prims.has_parts(n) else n.attrs


def _stacked(n: Node, ins: Sequence[Operand], size: int) -> Call:
    return n.prim, [everywhere(o, size) for o in ins], _own(n)


def _along(n: Node, ins: Sequence[Operand], size: int) -> Call:
    axis, *rest = n.attrs
    return n.prim, [ins[0][0]], (axis + 1, *rest)


def _transform(n: Node, ins: Sequence[Operand], size: int) -> Call:
    kind, lengths, axes, norm = n.attrs
    return n.prim, [ins[0][0]], (kind, lengths, tuple([i + 1 for i in axes]), norm)


def _search(n: Node, ins: Sequence[Operand], size: int) -> Call:
    (sequence, several), (values, _batched) = ins
    return _each(n, ins, size) if several else (n.prim, [sequence, values], n.attrs)


def _each(n: Node, ins: Sequence[Operand], size: int) -> Call:
    batched = tuple([b for _a, b in ins])
    return _mapped(n.prim, prims.has_parts(n)), [a for a, _b in ins], (batched, _own(n))


@cache
def _mapped(prim: Prim, several: bool) -> Prim:
    """The operation on one entry after another: attrs = (which inputs are batched, attributes)."""
    assert prim.call is not None
    call = getattr(prim.call, "__wrapped__", prim.call)

    def run(*args: Any) -> Any:
        *given, batched, attrs = args
        size = next(len(x) for x, b in zip(given, batched) if b)
        made = [call(*[x[i] if b else x for x, b in zip(given, batched)], *attrs)
                for i in range(size)]
        return tuple([np.stack(r) for r in zip(*made)]) if several else np.stack(made)

    new = prims.opaque_prim(prim.name, run, several)
    if several and prim in SEVERAL:
        def rule(gs: Sequence[Node | None], n: Node, outs: Sequence[Node]) -> list[Node | None]:
            operands = list(zip(n.inputs, n.attrs[0]))
            ins = [entry_of(o) for o in operands]
            one = prims.packed(prim, ins, n.attrs[1], [(o.shape[1:], o.dtype) for o in outs])
            seeds = [None if g is None else entry_of((g, True)) for g in gs]
            given = [(s, (g, True)) for s, g in zip(seeds, gs) if s and g]
            found = SEVERAL[prim](seeds, one, prims.parts(one))
            return pulled(ins, operands, given, found, outs[0].shape[0])
        SEVERAL[new] = rule
    elif prim in STRUCTURAL:
        def single(g: Node, n: Node) -> list[Node | None]:
            operands = list(zip(n.inputs, n.attrs[0]))
            ins, seed = [entry_of(o) for o in operands], entry_of((g, True))
            one = Node(prim, tuple(ins), n.attrs[1], n.shape[1:], n.dtype)
            found = STRUCTURAL[prim](seed, one)
            return pulled(ins, operands, [(seed, (g, True))], found, n.shape[0])
        STRUCTURAL[new] = single
    return new


CALLS: dict[Callable[..., Any], Calls] = {
    **dict.fromkeys((lapack.qr, lapack.svd, lapack.singular_values, lapack.inv, lapack.tri_inv,
                     lapack.cholesky, lapack.pinv, lapack.eigh, lapack.eigvalsh, lapack.eig,
                     lapack.eigvals, lapack.lu_factor, lapack.lu, lapack.solve,
                     lapack.solve_triangular, lapack.slogdet, lapack.det, lapack.cofactors,
                     sorting._median, distributions._square_root), _stacked),
    **dict.fromkeys((sorting._sort, sorting._argsort, sorting._partition, sorting._argpartition,
                     sorting._topk), _along),
    fft._run: _transform, sorting._searchsorted: _search}
"""By the function that computes; `_each` for all others."""
FAMILIES["opaque"] = _opaque
RULES[prims.PART] = _part
