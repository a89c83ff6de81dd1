"""Plain evaluation: one kernel an operation, from a cache of plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eutectic.config import config
from eutectic.engine.pipeline import compile_graph
from eutectic.engine.plan import Plan, result_data
from eutectic.errors import TraceError
from eutectic.graph.ir import CONST, INPUT, IOTA, Graph, Node, toposort
from eutectic.graph.number import need_value
from eutectic.graph.layout import Data, is_row_major, row_major, view_layout
from eutectic.graph.loops import RESULT, result, result_count
from eutectic.graph.prims import COPY
from eutectic.runtime import buffers

_PLAN_LIMIT = 4096
_plans: dict[Any, Plan] = {}

watcher: Callable[[Node, Plan, list[int]], list[Any]] | None = None
"""Runs the plans of plain operations in the place of `Plan.run`, while something is measured."""


def clear_plans() -> None:
    """Forget the plans of plain operations (kernels stay)."""
    _plans.clear()


def plan_count() -> int:
    return len(_plans)


def evaluate(nodes: Sequence[Node]) -> None:
    """Compute nodes: afterwards each has `data`. Raises TraceError for placeholders of a trace."""
    if len(nodes) == 1:
        n = nodes[0]
        if n.data is not None:
            return
        for i in n.inputs:
            if i.data is None and i.prim is not CONST:
                break
        else:  # its operands are there: nothing to sort
            if n.inputs:
                _compute(n)
                if n.data is not None:
                    return
    order = toposort(nodes, _known)
    for n in order:
        if n.data is None:
            if n.prim is INPUT:
                raise TraceError("[eval] cannot compute a placeholder of a function being traced.")
            if n.prim.family == "loop":
                _control(n, order)
            elif n.prim is not CONST and n.prim is not IOTA:
                _compute(n)
    for n in nodes:
        if n.data is None:
            _compute(Node(COPY, (n,), (), n.shape, n.dtype), n)


def _known(n: Node) -> bool:
    return n.data is not None


def _settle(n: Node, data: Data) -> None:
    """Give a node its value; it needs its inputs no more, unless a derivative is recording."""
    n.data = data
    if n.trace is not None and getattr(n.trace, "retains", False):
        return
    n.prim = INPUT
    n.inputs = ()
    n.attrs = ()


def _compute(n: Node, into: Node | None = None) -> None:
    into = into or n
    family = n.prim.family
    if family == "view":
        _view(n, into)
    elif family == "result":
        source = n.inputs[0]
        if n.attrs[0] not in source.data:
            _control(source, [n])
        _settle(into, source.data[n.attrs[0]])
    elif 0 in n.shape:
        _settle(into, Data(buffers.alloc(0)))
    else:
        _settle(into, result_data(*_run(n), 0))


def _control(n: Node, readers: Sequence[Node]) -> None:
    """Compute a loop or choice: its value are the memories of its results by index.

    Histories are computed where they are among the readers. For one that is asked for later the
    loop runs again, so it keeps its inputs as long as somebody may ask.
    """
    found: dict[int, Data] = n.data or {}
    wanted = {r.attrs[0] for r in readers if r.prim is RESULT and r.inputs[0] is n}
    if not found:
        wanted |= set(range(result_count(n)))
    indices = tuple(sorted(wanted))
    run = _run(n, indices)
    n.data = found | {i: result_data(*run, k) for k, i in enumerate(indices)}


def _run(n: Node, indices: tuple[int, ...] = ()) -> tuple[Plan, list[Data], list[Any]]:
    """Run an operation, or a loop or choice for some of its results: plan, operands, buffers."""
    leaves: list[Node] = []
    scalars: list[Node] = []
    parts: list[Any] = [n.prim, n.attrs, n.dtype, n.shape, config.num_threads, indices]
    for i in n.inputs:
        data = i.data
        if data is None:
            parts.append(_key(i, leaves, scalars))
        else:
            leaves.append(i)
            parts += (i.dtype, i.shape, data.strides)
    key = tuple(parts)
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _PLAN_LIMIT:
            _plans.clear()
        plan = _plans[key] = _plan(n, leaves, scalars, indices)
    datas = [x.data for x in leaves]
    addresses = [d.buffer.ptr + d.offset for d in datas]
    for s in scalars:
        addresses.append(s.attrs[0])
    fresh = plan.run(addresses) if watcher is None else watcher(n, plan, addresses)
    return plan, datas, fresh


def _view(n: Node, into: Node) -> None:
    source = n.inputs[0]
    if source.data is None:
        return  # a view of a constant: whoever reads it sees through it
    data = source.data
    found = view_layout(n, 0, data.strides_of(source.shape))
    if found is not None:
        offset, strides = found
        moved = data.offset + offset * n.dtype.size
        _settle(into, Data(data.buffer, moved,
                           None if is_row_major(n.shape, strides) else strides))
        return
    copy = Node(COPY, (source,), (), source.shape, source.dtype)
    _compute(copy)
    _settle(into, Data(copy.data.buffer, copy.data.offset))


def _key(n: Node, leaves: list[Node], scalars: list[Node]) -> Any:
    """What a plan depends on of an operand; collects its memory and its constants."""
    data = n.data
    if data is not None:
        leaves.append(n)
        return (n.dtype, n.shape, data.strides)
    if n.prim is CONST:
        if n.attrs[0] < 0:
            need_value(n, "eval")
        scalars.append(n)
        return n.dtype
    if n.prim is IOTA:
        return (n.shape, n.attrs)
    return (n.prim, n.attrs, n.shape, tuple([_key(i, leaves, scalars) for i in n.inputs]))


def _plan(n: Node, leaves: list[Node], scalars: list[Node], indices: tuple[int, ...]) -> Plan:
    """Plan of one operation on placeholders in the place of its operands."""
    placeholders: list[Node] = []
    strides: dict[int, tuple[int, ...]] = {}
    constants: list[Node] = []

    def stand_in(x: Node) -> Node:
        if x.data is not None:
            p = Node(INPUT, (), (), x.shape, x.dtype)
            strides[id(p)] = x.data.strides_of(x.shape)
            placeholders.append(p)
            return p
        if x.prim is CONST:
            # Its value comes with each call: a pattern of its own, that no rule of simplification
            # knows and that is merged with no other constant.
            c = Node(CONST, (), (-2 - len(constants),), (), x.dtype)
            constants.append(c)
            return c
        return Node(x.prim, tuple([stand_in(i) for i in x.inputs]), x.attrs, x.shape, x.dtype)

    root = Node(n.prim, tuple([stand_in(i) for i in n.inputs]), n.attrs, n.shape, n.dtype)
    roots = [result(root, i) for i in indices] if n.prim.family == "loop" else [root]
    graph = Graph(placeholders, roots, f"plain {n.prim.name}")

    def strides_of(x: Node) -> tuple[int, ...]:
        return strides.get(id(x)) or row_major(x.shape)

    return compile_graph(graph, fused=n.prim.family == "composite", strides_of=strides_of,
                         scalar_inputs=constants)

