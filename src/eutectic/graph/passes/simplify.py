"""Simplification by rules that are exact for every bit pattern, and common subexpressions."""

from __future__ import annotations

from eutectic.graph import prims
from eutectic.graph.ir import CONST, INPUT, Graph, Node, rebuild, with_inputs
from eutectic.graph.prims import RESHAPE, TRANSPOSE


def simplify(graph: Graph) -> Graph:
    """Apply the rules to every node, inputs first."""
    rules = Rules()
    return rebuild(graph, lambda n, inputs: rules(with_inputs(n, inputs)))


class Rules:
    """The rules, for the nodes of one graph as they are made, inputs first."""

    def __init__(self) -> None:
        self._positive: set[Node] = set()
        """Sums that are never -0.0, since one of their terms never is."""

    def __call__(self, n: Node) -> Node:
        """What the node is replaced by, or the node."""
        return self._sum(n) if n.prim.name == "add" and n.data is None else _rule(n)

    def _sum(self, n: Node) -> Node:
        zero = [_is_zero(i) for i in n.inputs]
        positive = [z or i in self._positive for z, i in zip(zero, n.inputs)]
        for i, fixed, other in zip(n.inputs, positive, zero[::-1]):
            if other and fixed and i.shape == n.shape and i.dtype is n.dtype:
                # (x+0)+0 -> x+0, 0+0 -> 0 : only -0.0 changes when +0.0 is added, and a NaN that
                # is a sum is quiet already
                return i
        if any(positive):
            self._positive.add(n)
        return n


def _is_zero(n: Node) -> bool:
    """Whether all elements are +0.0, or 0."""
    while n.prim.family == "view" and n.data is None:
        n = n.inputs[0]
    return n.prim is CONST and n.attrs[0] == 0


def _rule(n: Node) -> Node:
    if n.prim is RESHAPE and n.inputs[0].prim is RESHAPE and n.inputs[0].data is None:
        # reshape(reshape(x)) -> reshape(x)
        return prims.reshape(n.inputs[0].inputs[0], n.shape)
    if n.prim is TRANSPOSE and n.inputs[0].prim is TRANSPOSE and n.inputs[0].data is None:
        # transpose(transpose(x)) -> transpose(x)
        inner = n.inputs[0]
        return prims.transpose(inner.inputs[0], tuple([inner.attrs[0][p] for p in n.attrs[0]]))
    if n.prim.name == "negative" and n.inputs[0].prim is n.prim and n.inputs[0].data is None and (
            not n.dtype.is_half):
        # -(-x) -> x : flipping the sign bit twice (two's complement wraps back as well); not on
        # halves, where rounding to the dtype may quiet a signalling NaN
        return n.inputs[0].inputs[0]
    if n.prim.name == "multiply" and n.dtype.is_int:
        # x*1 -> x, integers only: on floats it would quiet a signalling NaN
        for a, b in (n.inputs, n.inputs[::-1]):
            if b.prim is CONST and b.attrs[0] == 1 and a.shape == n.shape:
                return a
    return n


def cse(graph: Graph) -> Graph:
    """Merge nodes that compute the same thing from the same inputs."""
    seen: dict[object, Node] = {}

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        if n.prim is INPUT or n.data is not None or n.prim.family == "opaque":
            return n
        key = (n.prim, n.attrs, n.shape, n.dtype, inputs)
        found = seen.get(key)
        if found is None:
            found = seen[key] = with_inputs(n, inputs)
        return found
    return rebuild(graph, rule)
