"""Arrays made of parts: which node fills which box of a concatenation or a padding."""

from __future__ import annotations

from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.graph.prims import CONCATENATE, JOIN, PAD

Part = tuple[Node, tuple[int, ...]]
"""A node and the coordinates at which its first element lies."""
JOINS = (CONCATENATE, PAD, JOIN)


def parts_of(n: Node) -> list[Part]:
    """The parts of a node of `JOINS`: boxes that do not overlap and cover it; no empty ones."""
    if n.prim is CONCATENATE:
        axis, at, found = n.attrs[0], 0, []
        for operand in n.inputs:
            found.append((operand, tuple([at if i == axis else 0 for i in range(len(n.shape))])))
            at += operand.shape[axis]
    elif n.prim is JOIN:
        found = list(zip(n.inputs, n.attrs[0]))
    else:
        found = _padding(n)
    return [(part, starts) for part, starts in found if part.size]


def _padding(n: Node) -> list[Part]:
    """The array inside, and on each axis what lies below and above it over the axes after."""
    operand, fill = n.inputs
    low = n.attrs[0]
    found = [(operand, low)]
    for axis, (lo, d, size) in enumerate(zip(low, operand.shape, n.shape)):
        for start, length in ((0, lo), (lo + d, size - lo - d)):
            shape = (*operand.shape[:axis], length, *n.shape[axis + 1:])
            starts = (*low[:axis], start, *[0] * (len(low) - axis - 1))
            found.append((prims.broadcast(fill, shape), starts))
    return found


def join(parts: list[Part], n: Node) -> Node:
    """A node's value from parts that cover it without overlap."""
    if len(parts) == 1:
        return parts[0][0]
    nodes, starts = zip(*parts)
    joined = Node(JOIN, nodes, (starts,), n.shape, n.dtype)
    joined.source = n.source
    return joined
