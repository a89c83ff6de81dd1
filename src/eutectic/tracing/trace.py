"""One trace: a function run with placeholders, and what of it is a graph."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.engine.evaluate import evaluate
from eutectic.errors import TraceError
from eutectic.graph import ir
from eutectic.graph.ir import CONST, INPUT, IOTA, Graph, Node, toposort
from eutectic.graph.loops import RESULT
from eutectic.tracing.arguments import Copies, call_tree
from eutectic.tracing.breaks import LEFT_BEHIND, Trace, active
from eutectic.tracing.effects import Effects
from eutectic.tracing.entry import Call, Plain, Traced
from eutectic.tracing.keys import Reader
from eutectic.tracing.state import IMPLICIT, Snapshot, implicit_lock, template, untouched
from eutectic.tree import flatten, unflatten


def trace_call(reader: Reader, call: Call) -> Traced:
    """Run the function once with placeholders for the call's arrays.

    All that the function may write to is put back as it was.
    """
    traced = trace_or_run(reader, call, Trace(reader.name))
    assert isinstance(traced, Traced)
    return traced


def trace_or_run(reader: Reader, call: Call, trace: Trace) -> Traced | Plain:
    """As `trace_call`; but where a value is needed the call may go on plainly, and is then done.

    See `Trace.value_needed`. What it has written then stays.
    """
    with implicit_lock:  # the random state holds a placeholder meanwhile
        return _trace_alone(reader, call, trace)


def _trace_alone(reader: Reader, call: Call, trace: Trace) -> Traced | Plain:
    placeholders: list[Node] = []
    for a in call.arrays:
        p = Node(INPUT, (), (), a._n.shape, a._n.dtype)
        p.trace = trace
        placeholders.append(p)
    stand_ins = [wrap(p) for p in placeholders[:call.n_arguments]]
    given = iter(stand_ins)
    leaves = [next(given) if type(x) is array else x for x in call.leaves]
    tree = unflatten(call.treedef, leaves)
    args, kwargs = tree if call.kwargs else (tree, {})
    held = [a._n for a in call.arrays]
    trace.values(placeholders, held)
    copies = Copies(call_tree(call), tree)
    outputs = reader.output_containers()
    before = Snapshot([*call.state, *outputs, *call.arrays[call.n_arguments:]])
    old = _content(outputs)
    effects = Effects(reader.environment.places(), [*call.state, *outputs])
    active.depth += 1
    ir.begin_trace()
    try:
        for a, p in zip(call.arrays[call.n_arguments:], placeholders[call.n_arguments:]):
            a._n = p
        result = reader.fun(*args, **kwargs)
        if trace.broken is not None:
            return Plain(copies.own(result))
        found, structure = flatten(tree)
        if structure != call.treedef or any(a is not b for a, b in zip(found, leaves)):
            warnings.warn(
                f"[compile] {reader.name} changes a list or dict among its arguments; the "
                "compiled calls do not. Return it, or give it as inputs= and outputs=.",
                stacklevel=ir.user_depth())
        return _collect(reader.name, call, result, placeholders, stand_ins, outputs, old, effects)
    finally:
        ir.end_trace()
        active.depth -= 1
        trace.end()
        if trace.broken is None:
            effects.restore()
            before.restore()
        else:
            copies.settle()
            for a, p, n in zip(call.arrays, placeholders, held):
                if a._n is p:
                    a._n = n


def _collect(name: str, call: Call, result: Any, placeholders: list[Node],
             stand_ins: list[array], outputs: list[Any], old: list[Any],
             effects: Effects) -> Traced:
    roots: list[Node] = []

    def number(n: Node) -> int:
        roots.append(n)
        return len(roots) - 1

    leaves, treedef = flatten(result)
    described: list[Any] = []
    for x in leaves:
        described.append(number(x._n) if isinstance(x, array) else ("constant", x))
    n_results = len(roots)
    position = {id(p): i for i, p in reversed(list(enumerate(placeholders)))}
    own = {id(a): placeholders[k] for k, a in enumerate(call.arrays)}

    def index_of(a: array) -> int | None:
        return None if own.get(id(a)) is a._n else number(a._n)

    templates = [template(o, b, index_of) for o, b in zip(outputs, old)]
    written = effects.collect(index_of)
    in_outputs = {id(x) for o in outputs for x in flatten(o)[0]}
    # Changed in place (`x += 1`): arguments by their stand-ins, captured arrays themselves.
    changed = []
    for k, a in enumerate([*stand_ins, *call.arrays[call.n_arguments:]]):
        if a._n is not placeholders[k] and (k < call.n_arguments or id(a) not in in_outputs):
            changed.append((k, number(a._n)))
    order = toposort(roots, lambda n: n.data is not None)
    early = [n for n in order if n.data is None and n.source is None and n.trace is None
             and n.prim not in (CONST, IOTA, INPUT)]
    # A loop that has run: its other results are at hand.
    early += [n for n in order if n.prim is RESULT and n.inputs[0].data is not None]
    if early:
        # Recorded before the trace but not computed yet: compute it, it is a captured value.
        evaluate(early)
        order = toposort(roots, lambda n: n.data is not None)
    used, captured = [], []
    inputs: list[Node] = []
    for n in order:
        if n.data is None and id(n) in position:
            used.append(position[id(n)])
            inputs.append(n)
        elif n.data is None and n.prim is INPUT:
            raise TraceError(f"[compile] {name} uses a placeholder that a trace of "
                             f"{getattr(n.trace, 'name', n.trace)} left behind. {LEFT_BEHIND}")
    for n in order:
        if n.data is not None:
            captured.append(n)
    graph = Graph([*inputs, *captured], roots, name, order)
    first = len(templates) - len(IMPLICIT)
    random = {id(x) for x in flatten(IMPLICIT)[0]}
    draws = any(not untouched(t) for t in templates[first:]) or any(
        id(call.arrays[i]) in random for i in used)
    return Traced(graph, treedef, described, n_results, used, captured, templates, changed,
                  draws, written)


def _content(trees: Sequence[Any]) -> list[Any]:
    """Shallow copies of nested lists and dicts, to compare array objects with later."""
    def copy(x: Any) -> Any:
        if isinstance(x, dict):
            return {k: copy(v) for k, v in x.items()}
        if isinstance(x, list):
            return [copy(v) for v in x]
        return x
    return [copy(t) for t in trees]
