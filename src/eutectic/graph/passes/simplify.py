"""Simplification by rules that are exact for every bit pattern, and common subexpressions."""

from __future__ import annotations

from eutectic.graph import prims
from eutectic.graph.ir import CONST, INPUT, Graph, Node, rebuild, with_inputs
from eutectic.graph.prims import RESHAPE, TRANSPOSE


def simplify(graph: Graph) -> Graph:
    """Apply the rules to every node, inputs first."""
    return rebuild(graph, lambda n, inputs: _rules(with_inputs(n, inputs)))


def _rules(n: Node) -> Node:
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
