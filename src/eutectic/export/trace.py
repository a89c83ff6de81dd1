"""Traces as data: what is written to files, and the graph that is made of it again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from eutectic.array import array, wrap
from eutectic.dtype import Dtype
from eutectic.export.faults import Fault
from eutectic.export.rules import NAMES, verify
from eutectic.export.operations import Block, Operation, Shape, resolved
from eutectic.export.sizes import Size
from eutectic.graph.ir import INPUT, Node
from eutectic.graph.loops import Body

_KEPT = 64
"""Graphs of a shapeless trace that are kept, by the lengths they were made for."""


@dataclass(slots=True)
class Graph:
    """The nodes of a trace for given lengths, ready to be copied onto arguments."""

    inputs: list[Node]
    steps: list[tuple[int, Node, tuple[int, ...]]]
    """(value, node, operands) of what depends on the arguments."""
    values: list[Node]


@dataclass(slots=True)
class Trace:
    """One signature of an exported function.

    Values are numbered: the arguments (positional ones, then keywords in order), the constants,
    the operations.
    """

    inputs: list[tuple[Dtype, Shape]]
    keywords: list[str]
    constants: list[array]
    operations: list[Operation]
    outputs: list[int]
    example: dict[str, int] = field(default_factory=dict)
    """The lengths that the names in shapes had in the example."""
    _graphs: OrderedDict[tuple[int, ...], Graph] = field(default_factory=OrderedDict)

    @property
    def positional(self) -> int:
        return len(self.inputs) - len(self.keywords)

    def lengths(self, given: Sequence[array], keywords: Sequence[str]) -> dict[str, int] | None:
        """The lengths that a call's arguments give to names; None where they do not fit."""
        if list(keywords) != self.keywords or len(given) != len(self.inputs):
            return None
        found: dict[str, int] = {}
        for a, (dtype, shape) in zip(given, self.inputs):
            n = a._n
            if n.dtype is not dtype or len(n.shape) != len(shape):
                return None
            for d, wanted in zip(n.shape, shape):
                if type(wanted) is Size:
                    wanted = found.setdefault(wanted.terms[0][1][0], d)
                if d != wanted:
                    return None
        return found

    def graph(self, lengths: dict[str, int]) -> Graph:
        """The graph for lengths; Fault where an operation does not allow them."""
        key = tuple(lengths.values())
        found = self._graphs.get(key)
        if found is None:
            found = self._graphs[key] = self._build(lengths)
            while len(self._graphs) > _KEPT:
                self._graphs.popitem(last=False)
        return found

    def _build(self, lengths: dict[str, int]) -> Graph:
        values: list[Node] = []
        for dtype, shape in self.inputs:
            values.append(Node(INPUT, (), (), resolved(shape, lengths, dtype), dtype))
        given = list(values)
        values += [c._n for c in self.constants]
        moves = [True] * len(given) + [False] * len(self.constants)
        steps = []
        for op in self.operations:
            n = _node(op, values, lengths)
            moves.append(any(moves[i] for i in op.inputs))
            if moves[-1]:
                steps.append((len(values), n, op.inputs))
            values.append(n)
        return Graph(given, steps, values)

    def call(self, given: Sequence[array], lengths: dict[str, int]) -> tuple[array, ...]:
        """The results, recorded as if the operations had been called one after another."""
        graph = self.graph(lengths)
        values = [*[a._n for a in given], *graph.values[len(given):]]
        for at, n, operands in graph.steps:
            values[at] = Node(n.prim, tuple([values[i] for i in operands]), n.attrs, n.shape,
                              n.dtype)
        return tuple([wrap(values[o]) for o in self.outputs])


def _node(op: Operation, values: list[Node], lengths: dict[str, int]) -> Node:
    """The node of an operation, verified."""
    try:
        attrs = tuple([_body(x) if type(x) is Block else x
                       for x in resolved(op.attrs, lengths, op.dtype)])
        n = Node(op.prim, tuple([values[i] for i in op.inputs]), attrs,
                 resolved(op.shape, lengths, op.dtype), op.dtype)
        n.trace = n.source = None
        verify(n)
    except Fault as e:
        raise Fault(f"operation {len(values)} ({NAMES[op.prim]}) {e}") from e
    return n


def _body(block: Block) -> Body:
    inputs = [Node(INPUT, (), (), shape, dtype) for dtype, shape in block.inputs]
    values = list(inputs)
    for op in block.operations:
        values.append(_node(op, values, {}))
    return Body(inputs, [values[o] for o in block.outputs], block.name)
