"""Expansion: composite operations become the simpler ones they stand for; empty cases too."""

from __future__ import annotations

from collections.abc import Callable

from eutectic.graph import prims
from eutectic.graph.ir import CONST, IOTA, Graph, Node, rebuild, toposort, with_inputs
from eutectic.graph.layout import view_layout
from eutectic.graph.passes.groups import copy_node


def expand(graph: Graph) -> Graph:
    """Replace composites by their lowering, and reductions of nothing by the identity.

    Scans of one element, which the constructors do not make, come from traces of other lengths.
    """
    return rebuild(graph, lambda n, inputs: expanded(with_inputs(n, inputs)))


def expanded(n: Node) -> Node:
    """A node without composites, down to its own inputs."""
    if n.prim.family == "composite":
        assert n.prim.lower is not None
        low = n.prim.lower(n)
        # A lowering may use composites and empty reductions in its turn.
        stop = {id(i) for i in n.inputs}
        done: dict[int, Node] = {}
        for m in toposort([low], lambda x: id(x) in stop):
            if id(m) in stop:
                done[id(m)] = m
                continue
            if m.source is None:
                m.source = n.source
            done[id(m)] = expanded(with_inputs(m, [done.get(id(i), i) for i in m.inputs]))
        return done[id(low)]
    if n.prim.family == "reduction" and n.inputs[0].size == 0 and n.size:
        red = n.prim.reduction
        assert red is not None
        types = red.identity(n.inputs[0].dtype.compute)
        value = 0 if red.name == "sum" else 1 if red.name == "prod" else bool(types[0][1])
        return prims.broadcast(prims.const(value, n.dtype), n.shape)
    if n.prim.family == "scan" and n.shape[-1] <= 1:
        return prims.short_scan(n)
    return n


def store_outputs(graph: Graph, strides_of: Callable[[Node], tuple[int, ...]]) -> Graph:
    """Make every output something that can be stored: not a bare constant or coordinate.

    `strides_of` gives the strides of a stored node's memory, which views are expressed in.
    """
    outputs = []
    for o in graph.outputs:
        base = o
        while base.prim.family == "view" and base.data is None:
            base = base.inputs[0]
        if base.prim is CONST or base.prim is IOTA:
            outputs.append(copy_node(o))
        else:
            outputs.append(_storable_view(o, strides_of))
    return graph if outputs == graph.outputs else Graph(graph.inputs, outputs, graph.name)


def separate_outputs(graph: Graph) -> Graph:
    """Make every output a value of its own, in row-major memory of its own: a body's results."""
    taken: set[int] = set()
    outputs = []
    for o in graph.outputs:
        if o.prim.family in ("view", "leaf") or id(o) in taken:
            o = Node(prims.COPY, (o,), (), o.shape, o.dtype)
        taken.add(id(o))
        outputs.append(o)
    return graph if outputs == graph.outputs else Graph(graph.inputs, outputs, graph.name)


def _storable_view(o: Node, strides_of: Callable[[Node], tuple[int, ...]]) -> Node:
    """A view chain without reshapes that strides cannot express; else a copy at the last one."""
    chain = []
    base = o
    while base.prim.family == "view" and base.data is None:
        chain.append(base)
        base = base.inputs[0]
    if not chain:
        return o
    offset, strides = 0, strides_of(base)
    for v in reversed(chain):
        found = view_layout(v, offset, strides)
        if found is None:
            return copy_node(o)
        offset, strides = found
    return o
