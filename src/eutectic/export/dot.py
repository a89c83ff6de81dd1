"""`export_to_dot`: the operations that arrays wait for, as a graph that Graphviz draws."""

from __future__ import annotations

import io
from typing import Any

from eutectic.array import array
from eutectic.errors import ArgumentError, ArgumentTypeError
from eutectic.export.api import value_name
from eutectic.files.source import file_name
from eutectic.files.target import writing
from eutectic.graph.ir import CONST, Node, toposort
from eutectic.graph.show import type_text


def export_to_dot(file: Any, *args: array, **kwargs: array) -> None:
    """Write the operations that have not been computed yet, of some results, in Graphviz's DOT.

    `args` are arrays, or lists, tuples and dicts of them: the results. `kwargs` name arrays: their
    names stand in the graph, and those that are no part of the results are results too. `file` is
    a path or an open file. Computed arrays are sources, operations rectangles with their
    attributes, other arrays take the names A, B, and on. Equal graphs give equal texts.

    Raises ArgumentTypeError for what is no array, ArgumentError for no arrays at all and for a
    file that cannot be written to, FileError where writing fails.

    >>> import eutectic.core as mx
    >>> import io
    >>> x = mx.array([1.0, 2.0])
    >>> text = io.StringIO()
    >>> mx.export_to_dot(text, mx.exp(x), x=x)
    >>> print(text.getvalue())
    digraph {
    { rank=source; "x" [tooltip="float32[2]"]; }
    { op0 [label="exp", shape=rectangle]; }
    "x" -> op0
    { rank=sink; "A" [tooltip="float32[2]"]; }
    op0 -> "A"
    }
    <BLANKLINE>
    """
    named = {}
    for name, a in kwargs.items():
        if not isinstance(a, array):
            raise ArgumentTypeError(f"[export_to_dot] {name} must be an array, not a "
                                    f"{type(a).__name__}.")
        named[id(a._n)] = (name, a._n)
    roots = [n for x in args for n in _nodes(x)]
    if not roots and not named:
        raise ArgumentError("[export_to_dot] give at least one array.")
    inside = set(map(id, toposort(roots, _computed)))
    roots += [n for _, n in named.values() if id(n) not in inside]
    text = dot_text(roots, {k: name for k, (name, _) in named.items()})
    if isinstance(file, io.TextIOBase):
        file.write(text)
        return
    if file_name(file) is None and not hasattr(file, "write"):
        raise ArgumentError("[export_to_dot] the file must be a path or an open file, not a "
                            f"{type(file).__name__}.")
    with writing(file, "export_to_dot", "") as target:
        target.write(text.encode())


def _nodes(x: Any) -> list[Node]:
    if isinstance(x, array):
        return [x._n]
    if isinstance(x, (list, tuple)):
        return [n for v in x for n in _nodes(v)]
    if isinstance(x, dict):
        return [n for v in x.values() for n in _nodes(v)]
    raise ArgumentTypeError(f"[export_to_dot] takes arrays, not a {type(x).__name__}.")


def _computed(n: Node) -> bool:
    return n.data is not None


def dot_text(roots: list[Node], names: dict[int, str]) -> str:
    """The graph of some nodes; `names` by id of nodes."""
    order = toposort(roots, _computed)
    taken = set(names.values())
    free = (name for i in range(len(order) + len(taken)) if (name := value_name(i)) not in taken)
    known = {id(n): _quoted(names[id(n)] if id(n) in names else next(free)) for n in order}
    ends = {id(n) for n in roots} - {id(i) for n in order if n.data is None for i in n.inputs}
    lines = ["digraph {"]
    operations = 0
    for n in order:
        name = f"{known[id(n)]} [tooltip={_quoted(type_text(n.shape, n.dtype))}]"
        if n.data is not None or (not n.inputs and n.prim is not CONST and not n.attrs):
            lines.append(f"{{ rank=source; {name}; }}")
            continue
        op = f"op{operations}"
        operations += 1
        lines.append(f"{{ {op} [label={_quoted(_label(n))}, shape=rectangle]; }}")
        lines += [f"{known[id(i)]} -> {op}" for i in n.inputs]
        lines.append(f"{{ rank=sink; {name}; }}" if id(n) in ends else f"{{ {name}; }}")
        lines.append(f"{op} -> {known[id(n)]}")
    return "\n".join([*lines, "}", ""])


def _label(n: Node) -> str:
    if n.prim is CONST:
        return f"const {n.attrs[0]:#x}"
    shown = " ".join(str(a).replace(" ", "") for a in n.attrs)
    return f"{n.prim.name} {shown}".strip()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
