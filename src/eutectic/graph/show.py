"""Graphs as text: one node a line, with the user's source line where it is known."""

from __future__ import annotations

from textwrap import indent

from eutectic.dtype import Dtype
from eutectic.graph.ir import CONST, Graph, Node
from eutectic.graph.loops import COND, WHILE, bodies


def type_text(shape: tuple[int, ...], d: Dtype) -> str:
    """E.g. `float32[2,3]`."""
    return f"{d.name}[{','.join(map(str, shape))}]"


def node_names(graph: Graph) -> dict[int, str]:
    """Names by id: `%in0`, ... for the inputs, `%0`, ... for the others in the graph's order."""
    names = {id(n): f"%in{i}" for i, n in enumerate(graph.inputs)}
    for n in graph.order:
        if id(n) not in names:
            names[id(n)] = f"%{len(names) - len(graph.inputs)}"
    return names


def show(graph: Graph, sources: bool = False) -> str:
    """Write a graph as text.

    Inputs first, then a line `%k = op(operands) attrs : type` for each node, outputs last. Below a
    loop or choice stand its bodies, with names of their own.
    """
    names = node_names(graph)
    given = {id(n) for n in graph.inputs}
    lines = [f"graph {graph.name}"]
    lines += [f"  {names[id(n)]} : {type_text(n.shape, n.dtype)}" for n in graph.inputs]
    for n in graph.order:
        if id(n) not in given:
            lines.append("  " + node_text(n, names[id(n)], names) + (_source(n) if sources else ""))
            for body in bodies(n):
                lines.append(indent(show(body.graph, sources), "    "))
    lines.append("  return " + ", ".join(names[id(o)] for o in graph.outputs))
    return "\n".join(lines)


def node_text(n: Node, name: str, names: dict[int, str]) -> str:
    operands = ", ".join(names.get(id(i), "?") for i in n.inputs)
    attrs = ""
    if n.prim is CONST:
        attrs = f" {n.attrs[0]:#x}" if n.attrs[0] >= 0 else " (given at each call)"
    elif n.prim.family == "loop":
        return f"{name} = {n.prim.name}({operands}){control_text(n)}"
    elif n.attrs:
        attrs = " " + " ".join(str(a).replace(" ", "") for a in n.attrs)
    data = " (memory)" if n.data is not None else ""
    return f"{name} = {n.prim.name}({operands}){attrs} : {type_text(n.shape, n.dtype)}{data}"


def control_text(n: Node) -> str:
    """What a loop or choice does with its operands, in words."""
    if n.prim is COND:
        return ""
    _body, carries, xs, length, reverse = n.attrs
    if n.prim is WHILE:
        return f" {carries} carries"
    return f" {length} steps{' backward' * reverse}, {carries} carries, {xs} xs"


def _source(n: Node) -> str:
    return f"  # {n.source[0].rsplit('/', 1)[-1]}:{n.source[1]}" if n.source else ""
