"""One trace: a function run with placeholders, and what of it is a graph."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from eutectic.array import array, wrap
from eutectic.engine.evaluate import evaluate
from eutectic.errors import TraceError
from eutectic.graph import ir
from eutectic.graph.ir import CONST, INPUT, IOTA, Graph, Node, toposort
from eutectic.graph.loops import RESULT, bodies
from eutectic.graph.number import Numbers, Specialised
from eutectic.tracing.arguments import Copies, call_tree
from eutectic.tracing.breaks import LEFT_BEHIND, Trace, active
from eutectic.tracing.drawn import Source, drawn_from, watched
from eutectic.tracing.effects import Effects
from eutectic.tracing.entry import Call, Plain, Traced
from eutectic.tracing.keys import Reader
from eutectic.tracing.state import (
    IMPLICIT, Snapshot, content, implicit_lock, template, untouched)
from eutectic.tracing.tape import CannotReplay, Tape, TapeRecorder
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
        return _trace_alone(reader, call, trace, call.leaves)


def trace_tape(reader: Reader, call: Call, trace: Trace) -> tuple[Traced | Plain, Tape]:
    """As `trace_or_run`, with a tape of the operations called."""
    recorder = TapeRecorder()
    with implicit_lock:
        traced = _trace_alone(reader, call, trace, call.leaves, recorder)
    return traced, recorder.tape


def replay(reader: Reader, call: Call, tape: Tape, old: Traced) -> Traced:
    """The trace for arrays of other shapes, from the tape of `old`; raises CannotReplay."""
    if tape.why:
        raise CannotReplay(tape.why)
    trace = Trace(reader.name)
    placeholders, stand_ins = _placeholders(call, trace)
    captured = call.arrays[call.n_arguments:]
    with implicit_lock:
        before = Snapshot([*call.state, *captured])
        active.depth += 1
        ir.begin_trace()
        try:
            for a, p in zip(captured, placeholders[call.n_arguments:]):
                a._n = p
            roots = tape.replay([*stand_ins, *captured])
            outputs = reader.output_containers()
            if (_changed(call, placeholders, stand_ins, outputs) != [k for k, _ in old.changed]
                    or _untouched(call, placeholders) != tape.untouched):
                raise CannotReplay("other arrays are changed in place")
            return _finish(reader.name, call, placeholders, old, [a._n for a in roots])
        finally:
            ir.end_trace()
            active.depth -= 1
            trace.end()
            before.restore()


def trace_numbers(reader: Reader, call: Call, places: Sequence[int]) -> Traced | dict[int, str]:
    """As `trace_call`, with `Number`s for the leaves at `places`.

    Where the function needs the value of some: why, by place; they must be constants.
    """
    values = [call.leaves[p] for p in places]
    numbers = Numbers([type(v) for v in values])
    leaves = list(call.leaves)
    for p, x in zip(places, numbers.arguments(values)):
        leaves[p] = x
    del x
    traced: Traced | None = None
    why = ""
    try:
        with implicit_lock:
            made = _trace_alone(reader, call, Trace(reader.name), leaves)
        assert isinstance(made, Traced)
        traced = made
    except Specialised:
        pass
    except Exception as error:
        why = f"with a number of unknown value, the trace fails: {error}"
    finally:
        numbers.recording = False
        del leaves
    if traced is not None and not numbers.needed:
        _refuse_in_bodies(traced.graph, numbers)
        if numbers.alive():
            gc.collect()
        for held in numbers.alive():  # in a result, an attribute, something of the user's
            for i in held.among:
                numbers.needed.setdefault(i, "Python keeps it")
        if not numbers.needed:
            traced.numbers = numbers
            return traced
    if why and not numbers.needed:
        return dict.fromkeys(places, why)
    return {places[i]: reason for i, reason in numbers.needed.items()}


def _refuse_in_bodies(graph: Graph, numbers: Numbers) -> None:
    """The body of a loop is closed: a number that it reads must be a constant."""
    for n in graph.order:
        for body in bodies(n):
            for m in body.graph.order:
                if m.prim is CONST and m.attrs[0] < 0:
                    numbers.needed |= dict.fromkeys(numbers.among(m), f"{n.prim.name} reads it")
            _refuse_in_bodies(body.graph, numbers)


def _placeholders(call: Call, trace: Trace) -> tuple[list[Node], list[array]]:
    """Placeholders of the call's arrays, and arrays that stand for the arguments."""
    made: dict[int, Node] = {}
    stands = {id(a): a for a in call.arrays[call.n_arguments:]}
    for a, n in zip(call.arrays, call.nodes):
        if id(a) not in made:
            p = made[id(a)] = Node(INPUT, (), (), n.shape, n.dtype)
            p.trace = trace
            stands.setdefault(id(a), wrap(p))
    return ([made[id(a)] for a in call.arrays],
            [stands[id(a)] for a in call.arrays[:call.n_arguments]])


def _trace_alone(reader: Reader, call: Call, trace: Trace, given_leaves: list[Any],
                 recorder: TapeRecorder | None = None) -> Traced | Plain:
    placeholders, stand_ins = _placeholders(call, trace)
    given = iter(stand_ins)
    leaves = [next(given) if type(x) is array else x for x in given_leaves]
    tree = unflatten(call.treedef, leaves)
    args, kwargs = tree if call.kwargs else (tree, {})
    held = [a._n for a in call.arrays]
    trace.values(placeholders, call.nodes)
    copies = Copies(call_tree(call), tree)
    outputs = reader.output_containers()
    before = Snapshot([*call.state, *outputs, *call.arrays[call.n_arguments:]])
    old = [content(o) for o in outputs]
    sources: list[Source] = []
    effects = Effects(reader.environment.places(call.objects, sources), [*call.state, *outputs])
    drawn: list[Source] = []
    active.depth += 1
    ir.begin_trace()
    try:
        for a, p in zip(call.arrays[call.n_arguments:], placeholders[call.n_arguments:]):
            a._n = p
        with nullcontext() if recorder is None else recorder.recording(
                [*stand_ins, *call.arrays[call.n_arguments:]]), watched(sources, drawn):
            result = reader.fun(*args, **kwargs)
        if trace.broken is not None:
            return Plain(copies.own(result))
        found, structure = flatten(tree)
        if structure != call.treedef or any(a is not b for a, b in zip(found, leaves)):
            warnings.warn(
                f"[compile] {reader.name} changes a list or dict among its arguments; the "
                "compiled calls do not. Return it, or give it as inputs= and outputs=.",
                stacklevel=ir.user_depth())
        roots, traced = _collect(
            reader.name, call, result, placeholders, stand_ins, outputs, old, effects)
        if drawn:
            traced.drawn = drawn_from(drawn, reader.environment.names(call.objects))
        if recorder is not None:
            recorder.finish(roots, _untouched(call, placeholders))
        return traced
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
             effects: Effects) -> tuple[list[array], Traced]:
    roots: list[array] = []

    def number(a: array) -> int:
        roots.append(a)
        return len(roots) - 1

    leaves, treedef = flatten(result)
    described: list[Any] = []
    for x in leaves:
        described.append(number(x) if isinstance(x, array) else ("constant", x))
    n_results = len(roots)
    own = {id(a): placeholders[k] for k, a in enumerate(call.arrays)}

    def index_of(a: array, same: bool) -> int | None:
        return None if same and own.get(id(a)) is a._n else number(a)

    templates = [template(o, b, index_of) for o, b in zip(outputs, old)]
    written = effects.collect(index_of)
    arrays = [*stand_ins, *call.arrays[call.n_arguments:]]
    changed = [(k, number(arrays[k])) for k in _changed(call, placeholders, stand_ins, outputs)]
    traced = Traced(Graph([], []), treedef, described, n_results, [], [], templates, changed,
                    False, written)
    return roots, _finish(name, call, placeholders, traced, [a._n for a in roots])


def _changed(call: Call, placeholders: list[Node], stand_ins: list[array],
             outputs: list[Any]) -> list[int]:
    """Positions of arrays changed in place (`x += 1`) that are in no output container.

    Arguments are seen by their stand-ins, captured arrays are themselves.
    """
    in_outputs = {id(x) for o in outputs for x in flatten(o)[0]}
    arrays = [*stand_ins, *call.arrays[call.n_arguments:]]
    first = {id(a): k for k, a in reversed(list(enumerate(arrays)))}
    return [k for k, a in enumerate(arrays) if a._n is not placeholders[k] and first[id(a)] == k
            and (k < call.n_arguments or id(a) not in in_outputs)]


def _untouched(call: Call, placeholders: list[Node]) -> list[bool]:
    """Which arrays of the random state are still what they were."""
    own = {id(a): placeholders[k] for k, a in enumerate(call.arrays)}
    return [own.get(id(a)) is a._n for a in flatten(IMPLICIT)[0]]


def _finish(name: str, call: Call, placeholders: list[Node], found: Traced,
            roots: list[Node]) -> Traced:
    """What a trace found, with the graph of its outputs."""
    position = {id(p): i for i, p in reversed(list(enumerate(placeholders)))}
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
    first = len(found.outputs) - len(IMPLICIT)
    random = {id(x) for x in flatten(IMPLICIT)[0]}
    draws = any(not untouched(t) for t in found.outputs[first:]) or any(
        id(call.arrays[i]) in random for i in used)
    writes = bool(found.effects) or any(k >= call.n_arguments for k, _ in found.changed) or any(
        not untouched(t) for t in found.outputs[:first])
    return replace(found, graph=graph, used=used, captured=captured, draws=draws, writes=writes)
