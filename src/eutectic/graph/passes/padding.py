"""Paddings with zeros before an operation that pads by itself: the padded array is not stored."""

from __future__ import annotations

from collections import Counter

from eutectic.graph.ir import CONST, Graph, Node, rebuild, with_inputs
from eutectic.graph.passes.groups import Refusal
from eutectic.graph.prims import PAD


def absorb_padding(graph: Graph) -> Graph:
    """Let operations that can pad their first operand do so, where nothing else reads the padding.

    pad(x) * w -> x * w with a wider padding, for a convolution *
    """
    readers = _readers(graph)

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        m = with_inputs(n, inputs)
        found = _absorbed(m, readers[n.inputs[0]]) if _padded(m) else ""
        return m if isinstance(found, str) else found
    return rebuild(graph, rule)


def kept_paddings(graph: Graph) -> list[Refusal]:
    """Why paddings before operations that pad by themselves are stored nevertheless."""
    readers = _readers(graph)
    found = []
    for n in graph.order:
        if _padded(n):
            why = _absorbed(n, readers[n.inputs[0]])
            assert isinstance(why, str)
            found.append(Refusal(n.inputs[0], n, "padding", why))
    return found


def _readers(graph: Graph) -> Counter[Node]:
    """How often each node is read, as an operand or as a result."""
    return Counter([*graph.outputs, *[i for n in graph.order for i in n.inputs]])


def _padded(n: Node) -> bool:
    return n.prim.absorb is not None and n.inputs[0].prim is PAD and n.inputs[0].data is None


def _absorbed(n: Node, readers: int) -> Node | str:
    """The operation with its operand's padding as its own, or why not."""
    padding = n.inputs[0]
    if readers > 1:
        return "the padded array has other readers"
    x, fill = padding.inputs
    if not x.size:
        return "there is nothing to pad"
    if fill.prim is not CONST or fill.attrs[0] != 0:
        return f"{n.prim.name} pads with zeros, not with the value of this padding"
    low = padding.attrs[0]
    high = tuple([full - d - lo for full, d, lo in zip(padding.shape, x.shape, low)])
    assert n.prim.absorb is not None
    found = n.prim.absorb(n, x, low, high)
    if isinstance(found, Node):
        found.source, found.trace = n.source, n.trace
    return found
