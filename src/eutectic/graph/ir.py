"""Nodes and graphs: array-level single-assignment form.

A `Node` is one operation with its shape and dtype; a `Graph` is an ordered set of nodes with named
inputs and outputs. Arrays hold nodes; passes rebuild graphs and never change a node they got.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from eutectic.dtype import Dtype
from eutectic.kernel.prim import Prim

class Node:
    """One operation: `prim(inputs, *attrs) -> shape, dtype`.

    `data` holds the memory of a computed node (`graph.layout.Data`); a node whose value is known
    drops its inputs. `trace` is the trace that a placeholder, or anything computed from one,
    belongs to: `trace.value_needed(operation, node)` says what happens where somebody asks for a
    value that it hides. `source` is the user's (file, line) while tracing.
    """

    __slots__ = ("__weakref__", "attrs", "data", "dtype", "inputs", "prim", "shape", "source",
                 "trace")

    def __init__(self, prim: Prim, inputs: tuple[Node, ...], attrs: tuple[Any, ...],
                 shape: tuple[int, ...], dtype: Dtype) -> None:
        self.prim = prim
        self.inputs = inputs
        self.attrs = attrs
        self.shape = shape
        self.dtype = dtype
        self.data: Any = None
        self.trace: Any = None
        self.source: tuple[str, int] | None = None
        if _tracing:
            self.source = user_line()
            for n in inputs:
                if n.trace is not None:
                    self.trace = n.trace
                    break

    @property
    def size(self) -> int:
        size = 1
        for d in self.shape:
            size *= d
        return size

    def __repr__(self) -> str:
        return f"Node({self.prim.name} {self.dtype.name}{list(self.shape)})"


INPUT = Prim("input", "leaf")
"""A placeholder of a trace, or memory that a computed node holds."""
CONST = Prim("const", "leaf")
"""A scalar known while building: attrs = (bit pattern,), shape ()."""
IOTA = Prim("iota", "leaf")
"""The coordinate along an axis, as int64: attrs = (axis,)."""

# Traces in progress on any thread: recording source lines costs a frame walk, so it is switched.
_tracing = 0
_PACKAGE = __file__.rsplit("graph", 1)[0]
USER_FILES: set[str] = set()
"""Files of this package whose lines count as the user's: the benchmark's."""


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame outside this package, from `frame` up; None at the top."""
    while frame is not None:
        filename = frame.f_code.co_filename
        if not filename.startswith(_PACKAGE) or filename in USER_FILES:
            return frame
        frame = frame.f_back
    return None


def user_line() -> tuple[str, int] | None:
    """The innermost (file, line) outside this package, or None at the top."""
    frame = user_frame(sys._getframe(2))
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


def user_depth() -> int:
    """How many frames up the innermost one outside this package is; for `warnings.warn`."""
    frame: FrameType | None = sys._getframe(1)
    depth = 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, depth = frame.f_back, depth + 1
    return depth


def begin_trace() -> None:
    """Start recording source lines and trace membership (nests)."""
    global _tracing
    _tracing += 1


def end_trace() -> None:
    global _tracing
    _tracing -= 1


def blocking(n: Node) -> Any:
    """The trace whose placeholder a node waits for; None where it can be computed."""
    for m in toposort([n], lambda m: m.data is not None):
        if m.prim is INPUT and m.data is None:
            return m.trace
    return None


def toposort(roots: Iterable[Node], stop: Callable[[Node], bool] | None = None) -> list[Node]:
    """Nodes reachable from `roots`, inputs first, each once; does not go above a `stop` node."""
    order: list[Node] = []
    append = order.append
    seen: set[Node] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        # Nodes on the path from the root, each with an iterator over inputs still to be visited.
        path: list[tuple[Node, Any]] = []
        n = root
        left = iter(n.inputs) if stop is None or not stop(n) else iter(())
        while True:
            for i in left:
                if i not in seen:
                    seen.add(i)
                    if i.inputs and (stop is None or not stop(i)):
                        path.append((n, left))
                        n, left = i, iter(i.inputs)
                        break
                    append(i)
            else:
                append(n)
                if not path:
                    break
                n, left = path.pop()
    return order


@dataclass(slots=True)
class Graph:
    """A traced computation: `inputs` are leaf nodes bound at call time, `outputs` its results."""

    inputs: list[Node]
    outputs: list[Node]
    name: str = "graph"
    order: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.order:
            self.order = toposort(self.outputs)

    def nodes(self) -> list[Node]:
        """All reachable nodes, inputs first."""
        return self.order


def rebuild(graph: Graph, rule: Callable[[Node, tuple[Node, ...]], Node]) -> Graph:
    """Map every node through `rule(node, new_inputs)`; leaves come with no inputs.

    A graph that the rule leaves as it is comes back itself.
    """
    new: dict[Node, Node] = {}
    same = True
    for n in graph.order:
        found = new[n] = rule(n, tuple([new[i] for i in n.inputs]) if n.inputs else ())
        same = same and found is n
    return graph if same else Graph(graph.inputs, [new[o] for o in graph.outputs], graph.name)


def with_inputs(n: Node, inputs: Sequence[Node]) -> Node:
    """The same operation on other inputs; the node itself where nothing changes."""
    inputs = tuple(inputs)
    if inputs == n.inputs:  # nodes are equal only to themselves
        return n
    m = Node(n.prim, inputs, n.attrs, n.shape, n.dtype)
    m.source = n.source
    m.trace = n.trace
    return m
