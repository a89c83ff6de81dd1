"""Fusion around loops and choices: their operands and results lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eutectic.graph.ir import Node
from eutectic.graph.layout import row_major
from eutectic.graph.loops import COND, SPARE, result, result_count
from eutectic.graph.passes.groups import Edge, Group, copy_node

if TYPE_CHECKING:
    from eutectic.graph.passes.fuse import _Fuser


def place_control(f: _Fuser, n: Node, read: dict[int, Node]) -> None:
    """Give a loop or choice a group; `read` are its results that are read, by index.

    First values of carries are computed right where the first step reads them.
    """
    made = [read.get(i) or result(n, i) for i in range(result_count(n))]
    g = Group("call", [], {}, heavy=n, members=[n, *made], maps={id(m): () for m in (n, *made)},
              outputs=made)
    starts: list[Node] = []
    if n.prim is not COND:
        _body, carries, _xs, length, _reverse = n.attrs
        # A step reads a carry in one buffer and writes it in the other; the last one writes the
        # result, so their number says where the first value goes.
        spares = [Node(SPARE, (), (), c.shape, c.dtype) for c in made[:carries]]
        g.members += spares
        starts = spares if length is not None and length % 2 else made[:carries]
    for m in g.members:
        f._settle(g, m)
        f.rank[id(m)] = f.rank[id(n)]
    f.groups.append(g)
    for i, operand in enumerate(n.inputs):
        if i >= len(starts):
            f._reads(g, n, i, operand)
        elif operand.size:
            copy = copy_node(operand)
            f.rank[id(copy)] = f.rank[id(n)] - 0.5
            f._start(copy)
            f.groups[-1].dests[id(copy)] = (starts[i], 0, row_major(operand.shape))
            edge = Edge(n, i, copy, ())
            g.edges.append(edge)
            f._note(g, edge)
