"""Structured control: nodes whose meaning is a graph of their own, run many times or by choice.

A `SCAN` or `WHILE` node runs its body again and again, a `COND` node one of two bodies. Such a node
has several results, each a `RESULT` node of it; it has no value itself. A body is closed: what it
reads from outside are inputs of the node, so a body depends on its placeholders only.

    SCAN, WHILE  inputs (carries, xs, constants), attrs (body, carries, xs, length, reverse);
                 body (carries, x of one step, constants) -> (carries, y of one step)
    COND         inputs (choice, operands), attrs (body if true, body if false)

Results of a loop are the last carries, the stacked ys, and then the history of each carry: what it
was at the start of each step, which derivatives read. A `WHILE` has length None and runs as long as
its first carry, a bool, is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from eutectic.dtype import Dtype, bool_
from eutectic.graph.ir import CONST, INPUT, IOTA, Graph, Node, toposort, with_inputs
from eutectic.kernel.prim import Prim

SCAN = Prim("scan", "loop")
WHILE = Prim("while_loop", "loop")
COND = Prim("cond", "loop")
RESULT = Prim("result", "result")
"""A result of a loop or choice: inputs (that node,), attrs = (index,)."""
SPARE = Prim("spare", "leaf")
"""The second buffer of a carry, while a plan is made."""


class Body:
    """A closed graph. Bodies are equal where they compute the same: plans are found by them."""

    def __init__(self, inputs: Sequence[Node], outputs: Sequence[Node], name: str) -> None:
        self.graph = Graph(list(inputs), list(outputs), name)

    @property
    def inputs(self) -> list[Node]:
        return self.graph.inputs

    @property
    def outputs(self) -> list[Node]:
        return self.graph.outputs

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Its operations with their operands by position."""
        place = {id(n): i for i, n in enumerate(self.inputs)}
        parts: list[Any] = [tuple([(n.shape, n.dtype) for n in self.inputs])]
        for n in self.graph.order:
            if id(n) not in place:
                place[id(n)] = len(place)
                operands = tuple([place[id(i)] for i in n.inputs])
                parts.append((n.prim, n.attrs, n.shape, n.dtype, operands))
        return (*parts, tuple([place[id(o)] for o in self.outputs]))

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Body) and self.key == other.key)

    def __repr__(self) -> str:
        return f"Body{self.key}"

    def __str__(self) -> str:
        return self.graph.name


def bodies(n: Node) -> list[Body]:
    """The bodies of a loop or choice."""
    return [a for a in n.attrs if isinstance(a, Body)]


def placeholder(shape: tuple[int, ...], dtype: Dtype, trace: Any = None) -> Node:
    p = Node(INPUT, (), (), shape, dtype)
    p.trace = trace
    return p


def close(inputs: Sequence[Node], outputs: Sequence[Sequence[Node]],
          names: Sequence[str]) -> tuple[list[Body], list[Node]]:
    """Bodies over `inputs`, and what they read besides: the last inputs of each of them.

    What does not depend on `inputs` stays outside, where it is computed once; constants and
    coordinates, and views of them, go inside.
    """
    roots = [o for some in outputs for o in some]
    new: dict[int, Node] = {id(i): i for i in inputs}
    inside = set(new)
    fixed: set[int] = set()
    captured: list[Node] = []
    stand_ins: list[Node] = []

    def within(n: Node) -> Node:
        found = new.get(id(n))
        if found is None:
            if id(n) in fixed:
                return n
            found = new[id(n)] = placeholder(n.shape, n.dtype)
            captured.append(n)
            stand_ins.append(found)
        return found

    for n in toposort(roots, lambda x: id(x) in new or x.data is not None):
        if id(n) in inside or n.data is not None:
            continue
        if any(id(i) in inside for i in n.inputs):
            inside.add(id(n))
            new[id(n)] = with_inputs(n, [within(i) for i in n.inputs])
        elif n.prim in (CONST, IOTA) or (
                n.prim.family == "view" and id(n.inputs[0]) in fixed and n.trace is None):
            fixed.add(id(n))  # with a trace: a derivative tells it apart
    closed = [[within(o) for o in some] for some in outputs]
    everything = [*inputs, *stand_ins]
    return [Body(everything, some, name) for some, name in zip(closed, names)], captured


def loop(prim: Prim, body: Body, inputs: Sequence[Node], carries: int, xs: int,
         length: int | None, reverse: bool) -> Node:
    """A SCAN or WHILE node, without the xs and constants that its body does not read."""
    used = {id(n) for n in body.graph.order}
    keep = [i < carries or id(p) in used for i, p in enumerate(body.inputs)]
    if not all(keep):
        body = Body(_kept(body.inputs, keep), body.outputs, body.graph.name)
        inputs, xs = _kept(inputs, keep), sum(keep[carries:carries + xs])
    return Node(prim, tuple(inputs), (body, carries, xs, length, reverse), (), bool_)


def cond(choice: Node, some: Sequence[Body], inputs: Sequence[Node]) -> Node:
    """A COND node, without the operands that neither body reads."""
    used = {id(n) for b in some for n in b.graph.order}
    keep = [id(p) in used for p in some[0].inputs]
    if not all(keep):
        some = [Body(_kept(b.inputs, keep), b.outputs, b.graph.name) for b in some]
        inputs = _kept(inputs, keep)
    return Node(COND, (choice, *inputs), tuple(some), (), bool_)


def _kept(items: Sequence[Node], keep: Sequence[bool]) -> list[Node]:
    return [x for x, k in zip(items, keep) if k]


def result_count(n: Node) -> int:
    """Results of a loop or choice, without the histories."""
    return len(bodies(n)[0].outputs)


def result_type(n: Node, index: int) -> tuple[tuple[int, ...], Dtype]:
    """Shape and dtype of a result."""
    outputs = bodies(n)[0].outputs
    if n.prim is COND:
        return outputs[index].shape, outputs[index].dtype
    body, carries, _xs, length, _reverse = n.attrs
    if index < carries:
        return outputs[index].shape, outputs[index].dtype
    one = outputs[index] if index < len(outputs) else body.inputs[index - len(outputs)]
    return (length, *one.shape), one.dtype


def result(n: Node, index: int) -> Node:
    """The node of a result."""
    return Node(RESULT, (n,), (index,), *result_type(n, index))


def history(n: Node, carry: int) -> Node:
    """What a carry was at the start of each step of a SCAN, stacked."""
    return result(n, result_count(n) + carry)


def results(n: Node) -> list[Node]:
    """The nodes of all results but the histories."""
    return [result(n, i) for i in range(result_count(n))]
