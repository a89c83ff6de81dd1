"""Calls of an entry: its native record, and the same in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.engine.plan import Plan, result_data
from eutectic.graph.ir import INPUT, Node
from eutectic.graph.layout import Data
from eutectic.runtime.call_record import Op
from eutectic.tracing import native
from eutectic.tracing.effects import apply
from eutectic.tracing.entry import Call, Entry, Traced
from eutectic.tracing.guard import Guard
from eutectic.tracing.keys import ALIASES, ENVIRONMENT, Reader
from eutectic.tracing.state import IMPLICIT, fill, implicit_lock
from eutectic.tree import unflatten


def run_entry(reader: Reader, entry: Entry, call: Call) -> Any:
    """Run an entry's plan on a call, without the native call."""
    traced, plan = entry.traced, entry.plan
    nodes = [call.nodes[i] for i in traced.used]
    nodes += traced.captured
    datas = [n.data for n in nodes]
    addresses = [d.buffer.ptr + d.offset for d in datas]
    addresses += call.patterns
    fresh = plan.run(addresses)
    outs = [_output(plan, i, o, datas, fresh) for i, o in enumerate(traced.graph.outputs)]
    for at, index in traced.changed:
        call.arrays[at]._n = outs[index]
    return _write(reader, traced, call.objects, outs)


def _write(reader: Reader, traced: Traced, objects: Sequence[Any], outs: list[Node]) -> Any:
    places = reader.environment.places(objects) if traced.effects else []
    for container, shape in zip(reader.output_containers(), traced.outputs):
        fill(container, shape, outs)
    apply(traced.effects, places, outs)
    leaves = [wrap(outs[x]) if type(x) is int else x[1] for x in traced.leaves]
    return unflatten(traced.treedef, leaves)


def _output(plan: Plan, i: int, o: Node, inputs: Sequence[Data], fresh: Sequence[Any]) -> Node:
    n = Node(INPUT, (), (), o.shape, o.dtype)
    n.data = result_data(plan, inputs, fresh, i)
    return n


def native_record(reader: Reader, entry: Entry, call: Call, args: tuple[Any, ...],
                  kwargs: dict[str, Any]) -> native.Record | None:
    """The record by which the native call runs an entry; None where there can be none now."""
    run = native.run()
    if run is None:
        return None
    traced = entry.traced
    guard = Guard()
    guard.given = dict.fromkeys(entry.places, -1)
    guard.looked_into = {id(x) for x in call.objects}
    for r, x in zip(guard.sequence(0, args, tuple), args):
        guard.tree(r, x, False)
    for r, x in zip(guard.dict(1, kwargs, None), kwargs.values()):
        guard.tree(r, x, False)
    if reader.environment.read(guard, call.objects)[1] != call.key[ENVIRONMENT]:
        return None  # it has just changed, on another thread
    draws = traced.draws
    for x in reader.state() if draws else [reader.inputs] if reader.inputs is not None else []:
        guard.tree(guard.load(x), x, True)
    if not draws and traced.used and max(traced.used) >= len(guard.arrays):
        return None
    if traced.numbers is not None:
        constants = traced.numbers.converted()
        if constants is None:
            return None
        for k, (i, kind, dtype) in enumerate(constants):
            if not guard.number(guard.given[entry.places[i]], kind, dtype,
                                entry.plan.n_inputs + k):
                return None
    recorder = native.Recorder(run, guard, entry.plan, traced.used, traced.captured,
                               traced.graph.outputs)
    for at, index in traced.changed:
        recorder.change(at, index)
    containers = reader.output_containers()
    n = len(containers) if draws else len(traced.outputs) - len(IMPLICIT)
    simple = all(recorder.container(container, shape) for container, shape in zip(
        containers[:n], traced.outputs))
    places = reader.environment.places(call.objects) if traced.effects else []
    simple = all(recorder.effect(e, places[e.place]) for e in traced.effects) and simple
    aliases = call.key[ALIASES]
    for k, first in enumerate(aliases or ()):
        if first < k:
            if k >= len(guard.arrays):
                return None
            guard.emit(Op.SAME, guard.arrays[k][0], guard.arrays[first][0])
    if aliases is None and (traced.changed or n or traced.effects):
        recorder.distinct(0 if traced.changed else call.n_arguments)
    finish = None
    if not recorder.result(traced.treedef, traced.leaves) or not simple:
        recorder.fill = recorder.fill[:4 * len(traced.changed)]
        finish = functools.partial(_finish, reader, traced, call.objects)
    record = recorder.record(entry, finish)
    if record is not None and (draws or traced.writes):
        record.run, record.finish = _locked(run, finish), None
    return record


def _finish(reader: Reader, traced: Traced, objects: Sequence[Any], made: list[array]) -> Any:
    """Results and containers from the outputs, where the native call does not write them."""
    return _write(reader, traced, objects, [a._n for a in made])


def _locked(run: native.Run, finish: Callable[[list[array]], Any] | None) -> native.Run:
    """The native call and what follows it, from reading the state to writing it."""
    def call(address: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with implicit_lock:
            out = run(address, args, kwargs)
            return out if out is native.MISS or finish is None else finish(out)
    return call
