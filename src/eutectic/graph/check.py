"""The graph checker: what every pass must leave true. Run between passes under EUTECTIC_CHECK."""

from __future__ import annotations

import math

from eutectic.dtype import bool_
from eutectic.errors import InternalError
from eutectic.graph.ir import CONST, INPUT, IOTA, Graph, Node
from eutectic.graph.loops import COND, RESULT, WHILE, bodies, result_type
from eutectic.graph.prims import (
    BROADCAST, CONCATENATE, GATHER, JOIN, MATMUL, PAD, RESHAPE, SCATTER, SLICE, TRANSPOSE)


def check(graph: Graph) -> None:
    """Raise InternalError at the first node that breaks a rule."""
    seen: set[int] = set()
    for n in graph.order:
        for i in n.inputs:
            _that(id(i) in seen, n, "an input comes after its use")
        seen.add(id(n))
        if n.data is None:
            check_node(n)
    for o in graph.outputs:
        _that(id(o) in seen, o, "an output is not in the graph's order")


def check_node(n: Node) -> None:
    """Raise InternalError where a node's shapes and attributes do not go together."""
    family = n.prim.family
    shapes = [i.shape for i in n.inputs]
    _that(all(isinstance(d, int) and d >= 0 for d in n.shape), n, "a length is no natural number")
    if n.prim is CONST:
        _that(n.shape == () and isinstance(n.attrs[0], int), n, "a constant is a scalar pattern")
    elif n.prim is IOTA:
        _that(0 <= n.attrs[0] < len(n.shape), n, "no such axis")
    elif n.prim is INPUT:
        _that(not n.inputs, n, "a placeholder has no inputs")
    elif n.prim is GATHER:
        axes, inner = n.attrs[0], shapes[1:]
        _that(len(axes) == len(shapes[0]), n, "an axis has no rule")
        _that(all(a < len(n.shape) and (a < 0 or n.shape[a] <= d)
                  for a, d in zip(axes, shapes[0])), n, "reaches outside its input")
        _that(all(-1 - a < len(inner) for a in axes if a < 0), n, "no such index")
        _that(_broadcast([*inner, n.shape]) == n.shape, n, "indices do not broadcast to it")
        _that(all(i.dtype.is_int for i in n.inputs[1:]), n, "an index is no integer")
    elif family == "elementwise":
        _that(bool(shapes) and _broadcast(shapes) == n.shape, n, "shapes do not broadcast to it")
    elif n.prim.family == "loop":
        _control(n)
    elif n.prim is RESULT:
        _that((n.shape, n.dtype) == result_type(n.inputs[0], n.attrs[0])
              if n.inputs[0].prim.family == "loop" else n.inputs[0].data is not None, n,
              "its loop has no such result")
    elif n.prim is TRANSPOSE:
        perm = n.attrs[0]
        _that(sorted(perm) == list(range(len(n.shape)))
              and n.shape == tuple(shapes[0][p] for p in perm), n, "not a permutation")
    elif n.prim is RESHAPE:
        _that(math.prod(n.shape) == math.prod(shapes[0]), n, "sizes differ")
    elif n.prim is BROADCAST:
        _that(_broadcast([shapes[0], n.shape]) == n.shape, n, "does not broadcast")
    elif n.prim is SLICE:
        for start, step, d, k in zip(*n.attrs, n.shape, shapes[0]):
            last = start + step * (d - 1)
            _that(d == 0 or (0 <= start < k and 0 <= last < k), n, "reaches outside its input")
    elif n.prim is SCATTER:
        axes, updates = n.attrs[0], shapes[1]
        _that(n.shape == shapes[0] and len(axes) == len(n.shape), n, "an axis has no rule")
        _that(all(a < len(updates) and (a < 0 or updates[a] <= d)
                  for a, d in zip(axes, n.shape)), n, "updates reach outside")
        _that(_broadcast([*shapes[2:], updates]) == updates, n, "indices do not broadcast")
    elif family == "reduction":
        kept = tuple(d for a, d in enumerate(shapes[0]) if a not in n.attrs[0])
        _that(kept == n.shape, n, "kept axes differ")
    elif n.prim is MATMUL:
        a, b = shapes
        _that(a[:-2] == b[:-2] and a[-1] == b[-2] and n.shape == (*a[:-1], b[-1]), n,
              "shapes do not multiply")
    elif n.prim is CONCATENATE:
        _that(sum(s[n.attrs[0]] for s in shapes) == n.shape[n.attrs[0]], n, "parts do not add up")
    elif n.prim is JOIN:
        _that(all(a + d <= k for s, at in zip(shapes, n.attrs[0])
                  for d, a, k in zip(s, at, n.shape))
              and sum(map(math.prod, shapes)) == math.prod(n.shape), n, "parts do not cover it")
    elif n.prim is PAD:
        _that(all(lo + d <= k for lo, d, k in zip(n.attrs[0], shapes[0], n.shape)), n,
              "the padded array does not fit")


def _control(n: Node) -> None:
    """A loop or choice: its bodies take its operands, and give the next carries."""
    types = [(i.shape, i.dtype) for i in n.inputs]
    if n.prim is COND:
        _that(types[0] == ((), bool_), n, "the choice is no bool")
        results = [[(o.shape, o.dtype) for o in b.outputs] for b in bodies(n)]
        _that(results[0] == results[1], n, "the bodies have different results")
        types = types[1:]
    else:
        body, carries, xs, length, _reverse = n.attrs
        _that(length is None or length >= 0, n, "a length is no natural number")
        for k in range(carries, carries + xs):
            shape, dtype = types[k]
            _that(shape[:1] == (length,), n, "xs differ in length")
            types[k] = (shape[1:], dtype)
        _that([(o.shape, o.dtype) for o in body.outputs[:carries]] == types[:carries], n,
              "a carry changes")
        _that(n.prim is not WHILE or types[0] == ((), bool_), n, "the first carry is no bool")
    for b in bodies(n):
        _that([(i.shape, i.dtype) for i in b.inputs] == types, n, "a body takes other operands")
        given = {id(i) for i in b.inputs}
        _that(all(m.prim is not INPUT and m.data is None for m in b.graph.order
                  if id(m) not in given), n, "a body is not closed")
        check(b.graph)


def _broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    rank = max(map(len, shapes))
    out = []
    for i in range(rank):
        ds = {s[i - rank + len(s)] for s in shapes if i - rank + len(s) >= 0} - {1}
        if len(ds) > 1:
            return None
        out.append(ds.pop() if ds else 1)
    return tuple(out)


def _that(ok: bool, n: Node, why: str) -> None:
    if not ok:
        raise InternalError(f"[check] {n} with inputs {[i.shape for i in n.inputs]} "
                            f"and attributes {n.attrs}: {why}.")
