"""Pruning: loops and choices compute only what is read of them."""

from __future__ import annotations

from eutectic.graph.ir import Graph, Node, toposort, with_inputs
from eutectic.graph.loops import COND, RESULT, WHILE, Body, cond, loop, result
from eutectic.graph.prims import COPY


def prune(graph: Graph) -> Graph:
    """Drop results that nobody reads, and carries that only they need.

    Histories that are read become ys: copies of a carry as a step finds it. Afterwards a loop has
    no histories.
    """
    wanted: dict[int, set[int]] = {}
    for n in graph.order:
        if n.prim is RESULT:
            wanted.setdefault(id(n.inputs[0]), set()).add(n.attrs[0])
    if not wanted:
        return graph
    new: dict[int, Node] = {}
    places: dict[int, dict[int, int]] = {}
    for n in graph.order:
        if n.prim is RESULT:
            new[id(n)] = result(new[id(n.inputs[0])], places[id(n.inputs[0])][n.attrs[0]])
            continue
        m = with_inputs(n, [new[id(i)] for i in n.inputs])
        if id(n) in wanted:
            pruned, places[id(n)] = _pruned(m, sorted(wanted[id(n)]))
            pruned.source, pruned.trace = n.source, n.trace
            m = pruned
        new[id(n)] = m
    return Graph(graph.inputs, [new[id(o)] for o in graph.outputs], graph.name)


def _pruned(n: Node, wanted: list[int]) -> tuple[Node, dict[int, int]]:
    """The node with the wanted results only, and the new index of each."""
    if n.prim is COND:
        some = [Body(b.inputs, [b.outputs[i] for i in wanted], b.graph.name) for b in n.attrs]
        return cond(n.inputs[0], some, n.inputs[1:]), {i: k for k, i in enumerate(wanted)}
    body, carries, xs, length, reverse = n.attrs
    count = len(body.outputs)
    ys = [i for i in wanted if carries <= i < count]
    histories = [i for i in wanted if i >= count]
    live = {i for i in wanted if i < carries} | {i - count for i in histories}
    if n.prim is WHILE:
        live.add(0)
    while True:  # a carry lives if what is read depends on it
        reached = {id(m) for m in toposort([body.outputs[i] for i in (*sorted(live), *ys)])}
        more = live | {i for i in range(carries) if id(body.inputs[i]) in reached}
        if more == live:
            break
        live = more
    kept = sorted(live)
    saved = [body.inputs[i - count] for i in histories]
    outputs = [*[body.outputs[i] for i in (*kept, *ys)],
               *[Node(COPY, (s,), (), s.shape, s.dtype) for s in saved]]
    inputs = [*[body.inputs[i] for i in kept], *body.inputs[carries:]]
    operands = [*[n.inputs[i] for i in kept], *n.inputs[carries:]]
    m = loop(n.prim, Body(inputs, outputs, body.graph.name), operands, len(kept), xs, length,
             reverse)
    return m, {i: k for k, i in enumerate([*kept, *ys, *histories])}
