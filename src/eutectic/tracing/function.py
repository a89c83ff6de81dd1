"""`compile`: a function that traces once a signature and then runs its plan.

A call's key is exact: the structure of the arguments, shape, dtype and layout of each array, the
type and value of each constant, and the same of what the function reads elsewhere. Entries are
kept in order of use, up to a bound.
"""

from __future__ import annotations

import functools
import inspect
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.config import config
from eutectic.dtype import Dtype
from eutectic.engine.debug import report_trace
from eutectic.engine.evaluate import evaluate
from eutectic.engine.pipeline import Record, compile_graph
from eutectic.engine.plan import Plan, result_data
from eutectic.errors import ArgumentTypeError, TraceError
from eutectic.graph import ir
from eutectic.graph.ir import CONST, INPUT, IOTA, Graph, Node, toposort
from eutectic.graph.layout import Data, row_major
from eutectic.runtime import pool
from eutectic.tracing import native
from eutectic.tracing.effects import Effects, apply
from eutectic.tracing.entry import Call, Entry, Stats, Traced, same_trace
from eutectic.tracing.environment import Environment, constant_key
from eutectic.tracing.guard import Guard
from eutectic.tracing.methods import bound
from eutectic.tracing.native import MISS
from eutectic.tracing.reasons import reason
from eutectic.tracing.state import IMPLICIT, Snapshot, fill, implicit_lock, template, untouched
from eutectic.tree import flatten, unflatten

_ENVIRONMENT = 3
"""Which part of a call's key is the environment's."""
_CONSTANT_TYPES = (bool, int, float, complex, str, bytes, type(None), Dtype, slice, type(...))


class Trace:
    """One trace in progress; placeholders refer to it, so that errors can name the function."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Trace({self.name})"


class _Active(threading.local):
    depth = 0


_active = _Active()


def tracing() -> bool:
    """Whether this thread is inside a trace."""
    return _active.depth > 0


_RECENT = 4
"""Native records that a call tries before its key is made."""
_COMPARED = 16
"""Newest entries that the reason for another trace is looked for among."""
_PATIENCE = 8
"""Lookups of an entry after which a native record that did not serve them is made anew."""

"""Held by calls that draw: no two of them may read the same random state."""


class CompiledFunction:
    """A compiled function; call it like the function it was made of."""

    def __init__(self, fun: Callable[..., Any], inputs: Any = None, outputs: Any = None,
                 shapeless: bool = False) -> None:
        self.fun = fun
        self.inputs = inputs
        self.outputs = outputs
        self.shapeless = shapeless
        self._stats = Stats()
        self._entries: dict[Any, Entry] = {}
        self._aliases: dict[Any, Entry] = {}
        """Entries by the key that their own trace led to."""
        self._recent: tuple[native.Record, ...] = ()
        self._epoch = -1
        self._clock = 0
        self._environment: Environment | None = None
        self._lock = threading.RLock()
        functools.update_wrapper(self, fun, updated=())
        if not hasattr(self, "__name__"):
            self.__name__ = getattr(getattr(fun, "func", fun), "__name__", type(fun).__name__)

    def __repr__(self) -> str:
        return f"<compiled {self.__name__}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return functools.partial(self, instance) if not hasattr(
            self.fun, "__get__") else bound(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._epoch == config.changes and not ir._tracing:
            for record in self._recent:
                out = record.run(record.address, args, kwargs)
                if out is not MISS:
                    return out if record.finish is None else record.finish(out)
        return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call by its key, where no recent native record fits."""
        if config.disable_compile or (ir._tracing and _active.depth):
            self._stats.plain_calls += 1
            return self.fun(*args, **kwargs)
        if self._epoch != config.changes:  # threads or another setting: records may not hold
            self._epoch, self._recent = config.changes, ()
        call = self._read_call(args, kwargs)
        entry = self._find(call.key)
        if entry is None:
            entry = self._new_entry(call, bool(kwargs))
        else:
            record = self._native(entry, call, args, kwargs)
            if record is not None:
                out = record.run(record.address, args, kwargs)
                if out is not MISS:
                    return out if record.finish is None else record.finish(out)
            entry.calls += 1
        if entry.traced.draws:
            with implicit_lock:
                # Another draw may have moved the random state since the key was made.
                return self._run(entry, self._read_call(args, kwargs))
        return self._run(entry, call)

    # -- keys -------------------------------------------------------------------------------------

    def _read_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        leaves, treedef = flatten((args, kwargs) if kwargs else args)
        arrays: list[array] = []
        constants: list[Any] = []
        for i, x in enumerate(leaves):
            if type(x) is array:
                arrays.append(x)
                constants.append(None)
            else:
                constants.append(self._constant(i, x, leaves, arrays))
        n = len(arrays)
        if self._environment is None:
            self._environment = Environment(self.fun)
        captured, env_key = self._environment.read()
        state = self._state()
        state_key: Any = None
        if state:
            found, structure = flatten(state)
            place = {id(a): i for i, a in enumerate(captured)}
            parts: list[Any] = []
            for x in found:
                if type(x) is not array:
                    parts.append(constant_key(x))
                elif id(x) in place:
                    parts.append(place[id(x)])  # which of the captured arrays it is
                else:
                    place[id(x)] = len(captured)
                    captured.append(x)
                    parts.append(None)
            state_key = (structure, tuple(parts))
        arrays += captured
        pending = [a._n for a in arrays if a._n.data is None]
        if pending:
            for p in pending:
                if p.trace is not None:
                    raise TraceError(
                        f"[compile] {self.__name__} reads a placeholder that a trace of "
                        f"{getattr(p.trace, 'name', p.trace)} left behind; name what that function "
                        "writes to in its outputs=.")
            evaluate(pending)
        avals = tuple([(a._n.shape, a._n.dtype, a._n.data.strides) for a in arrays])
        key = (treedef, tuple(constants), avals, env_key, state_key, pool.get_num_threads())
        return Call(leaves, treedef, arrays, n, key, state)

    def _state(self) -> list[Any]:
        """Containers that are read at each call besides the environment."""
        return ([self.inputs] if self.inputs is not None else []) + IMPLICIT

    def _constant(self, i: int, x: Any, leaves: list[Any], arrays: list[array]) -> Any:
        """Key of an argument that is no array of ours; NumPy data and the like become arrays."""
        if isinstance(x, _CONSTANT_TYPES):
            if isinstance(x, slice):
                return (slice, *[constant_key(v) for v in (x.start, x.stop, x.step)])
            return constant_key(x) if not isinstance(x, Dtype) else x
        if isinstance(x, array):
            leaves[i] = a = wrap(x._n)
            arrays.append(a)
            return None
        if isinstance(x, (np.ndarray, np.generic)) or hasattr(x, "__mlx_array__"):
            leaves[i] = a = array(x)
            arrays.append(a)
            return None
        try:
            hash(x)
        except TypeError:
            raise ArgumentTypeError(
                f"[compile] argument {i} of {self.__name__} is a {type(x).__name__}; arguments are "
                "arrays, constants, and lists, tuples and dicts of them.") from None
        return (type(x), x)

    # -- the native call --------------------------------------------------------------------------

    def _native(self, entry: Entry, call: Call, args: tuple[Any, ...],
                kwargs: dict[str, Any]) -> native.Record | None:
        """The entry's native record, put first among the recent ones; made where that is due."""
        self._clock += 1
        entry.stamp = self._clock
        if entry.native is None or entry.misses >= _PATIENCE:
            if entry.given_up:
                return None
            made = self._make_native(entry, call, args, kwargs)
            if made is None:
                entry.given_up = entry.native is None and not native.preparing()
                return None
            if entry.native is not None:
                entry.calls += entry.native.hits
            entry.native, entry.misses = made, 0
        entry.misses += 1
        recent = [r for r in self._recent if r.entry is not entry]
        self._recent = (entry.native, *recent[:_RECENT - 1])
        return entry.native

    def _make_native(self, entry: Entry, call: Call, args: tuple[Any, ...],
                     kwargs: dict[str, Any]) -> native.Record | None:
        run = native.run()
        if run is None:
            return None
        traced = entry.traced
        guard = Guard()
        for r, x in zip(guard.sequence(0, args, tuple), args):
            guard.tree(r, x, False)
        for r, x in zip(guard.dict(1, kwargs, None), kwargs.values()):
            guard.tree(r, x, False)
        assert self._environment is not None
        if self._environment.read(guard)[1] != call.key[_ENVIRONMENT]:
            return None  # it has just changed, on another thread
        draws = traced.draws
        for x in self._state() if draws else [self.inputs] if self.inputs is not None else []:
            guard.tree(guard.load(x), x, True)
        if draws:
            run = _locked(run)
        elif traced.used and max(traced.used) >= len(guard.arrays):
            return None
        recorder = native.Recorder(run, guard, entry.plan, traced.used, traced.captured,
                                   traced.graph.outputs)
        for at, index in traced.changed:
            recorder.change(at, index)
        n = len(self._output_containers()) if draws else len(traced.outputs) - len(IMPLICIT)
        simple = all(recorder.container(container, shape) for container, shape in zip(
            self._output_containers()[:n], traced.outputs))
        if traced.changed or n:
            recorder.distinct(call.n_arguments)
        finish = None
        if not recorder.result(traced.treedef, traced.leaves) or not simple or traced.effects:
            recorder.fill = recorder.fill[:4 * len(traced.changed)]
            finish = functools.partial(self._finish, traced)
        return recorder.record(entry, finish)

    def _finish(self, traced: Traced, made: list[array]) -> Any:
        """Results and containers from the outputs, where the native call does not write them."""
        return self._write(traced, [a._n for a in made])

    # -- running ----------------------------------------------------------------------------------

    def _run(self, entry: Entry, call: Call) -> Any:
        traced, plan = entry.traced, entry.plan
        nodes = [call.arrays[i]._n for i in traced.used]
        nodes += traced.captured
        datas = [n.data for n in nodes]
        addresses = [d.buffer.ptr + d.offset for d in datas]
        fresh = plan.run(addresses)
        outs = [_output(plan, i, o, datas, fresh) for i, o in enumerate(traced.graph.outputs)]
        for at, index in traced.changed:
            call.arrays[at]._n = outs[index]
        return self._write(traced, outs)

    def _write(self, traced: Traced, outs: list[Node]) -> Any:
        for container, shape in zip(self._output_containers(), traced.outputs):
            fill(container, shape, outs)
        if traced.effects:
            apply(traced.effects, outs)
        leaves = [wrap(outs[x]) if type(x) is int else x[1] for x in traced.leaves]
        return unflatten(traced.treedef, leaves)

    def _output_containers(self) -> list[Any]:
        return ([self.outputs] if self.outputs is not None else []) + IMPLICIT

    # -- tracing ----------------------------------------------------------------------------------

    def find(self, *args: Any, **kwargs: Any) -> Entry | None:
        """The entry that a call with these arguments runs, or None if it would have to trace."""
        return self._find(self._read_call(args, kwargs).key)

    def lower(self, *args: Any, **kwargs: Any) -> Entry:
        """The entry that a call with these arguments runs, traced if need be; nothing runs."""
        call = self._read_call(args, kwargs)
        return self._find(call.key) or self._new_entry(call, bool(kwargs))

    def _new_entry(self, call: Call, keywords: bool) -> Entry:
        with self._lock:
            entry = self._find(call.key)
            if entry is not None:
                return entry
            known = list(self._entries)[-_COMPARED:]
            record = Record(why=reason(call.key, known))
            start = time.perf_counter()
            traced = self._trace(call, keywords)
            record.seconds["trace"] = time.perf_counter() - start
            inputs = {id(n): self._strides(call, traced, i)
                      for i, n in enumerate(traced.graph.inputs)}
            plan = compile_graph(
                traced.graph, record, strides_of=lambda n: inputs.get(id(n)) or row_major(n.shape))
            traced.graph = record.graphs[-1][1]
            entry = Entry(traced, plan, record, call.key)
            self._stats.traces += 1
            self._clock += 1
            entry.stamp = self._clock
            self._entries[call.key] = entry
            self._note_effects(entry)
            while len(self._entries) > config.compile_cache_entries:
                self._evict()
            report_trace(self.__name__, ir.user_line(), record.why, time.perf_counter() - start,
                         plan)
            return entry

    def _find(self, key: Any) -> Entry | None:
        return self._entries.get(key) or self._aliases.get(key)

    def _note_effects(self, entry: Entry) -> None:
        """Handle a trace that itself changed what the function reads (a counter, say).

        The change alone would make every call trace. Once two traces that changed it gave the same
        graph, it does not matter to the graph, and what the change led to is the same signature.
        """
        assert self._environment is not None
        after = self._environment.read()[1]
        if after == entry.key[_ENVIRONMENT]:
            return
        entry.effects = True
        rest = _without_environment(entry.key)
        for other in list(self._entries.values())[-_COMPARED:-1]:
            if other.effects and _without_environment(other.key) == rest and same_trace(
                    other, entry):
                key = (*entry.key[:_ENVIRONMENT], after, *entry.key[_ENVIRONMENT + 1:])
                entry.alias = key
                self._aliases[key] = entry

    def _strides(self, call: Call, traced: Traced, i: int) -> tuple[int, ...]:
        if i < len(traced.used):
            n = call.arrays[traced.used[i]]._n
        else:
            n = traced.captured[i - len(traced.used)]
        return n.data.strides_of(n.shape)

    def _trace(self, call: Call, keywords: bool) -> Traced:
        with implicit_lock:  # the random state holds a placeholder meanwhile
            return self._trace_alone(call, keywords)

    def _trace_alone(self, call: Call, keywords: bool) -> Traced:
        trace = Trace(self.__name__)
        placeholders: list[Node] = []
        for a in call.arrays:
            p = Node(INPUT, (), (), a._n.shape, a._n.dtype)
            p.trace = trace
            placeholders.append(p)
        stand_ins = [wrap(p) for p in placeholders[:call.n_arguments]]
        given = iter(stand_ins)
        leaves = [next(given) if type(x) is array else x for x in call.leaves]
        tree = unflatten(call.treedef, leaves)
        args, kwargs = tree if keywords else (tree, {})
        outputs = self._output_containers()
        before = Snapshot([*call.state, *outputs, *call.arrays[call.n_arguments:]])
        old = _content(outputs)
        assert self._environment is not None
        effects = Effects(self._environment.places(), [*call.state, *outputs])
        _active.depth += 1
        ir.begin_trace()
        try:
            for a, p in zip(call.arrays[call.n_arguments:], placeholders[call.n_arguments:]):
                a._n = p
            result = self.fun(*args, **kwargs)
            found, structure = flatten(tree)
            if structure != call.treedef or any(a is not b for a, b in zip(found, leaves)):
                warnings.warn(
                    f"[compile] {self.__name__} changes a list or dict among its arguments; the "
                    "compiled calls do not. Return it, or give it as inputs= and outputs=.",
                    stacklevel=ir.user_depth())
            return self._collect(call, result, placeholders, stand_ins, outputs, old, effects)
        finally:
            ir.end_trace()
            _active.depth -= 1
            effects.restore()
            before.restore()

    def _collect(self, call: Call, result: Any, placeholders: list[Node],
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
        for n in order:
            if n.data is not None:
                captured.append(n)
        graph = Graph([*inputs, *captured], roots, self.__name__, order)
        first = len(templates) - len(IMPLICIT)
        random = {id(x) for x in flatten(IMPLICIT)[0]}
        draws = any(not untouched(t) for t in templates[first:]) or any(
            id(call.arrays[i]) in random for i in used)
        return Traced(graph, treedef, described, n_results, used, captured, templates, changed,
                      draws, written)

    # -- inspection -------------------------------------------------------------------------------

    @property
    def stats(self) -> Stats:
        """Counts so far."""
        s = self._stats
        hits = s.hits + sum([e.hits for e in list(self._entries.values())])
        return Stats(s.traces, hits, s.evictions, s.plain_calls)

    def entries(self) -> Sequence[Entry]:
        """Entries from least to most recently used."""
        with self._lock:
            self._refresh()
            return sorted(self._entries.values(), key=_stamp)

    def clear(self) -> None:
        """Forget all traces."""
        with self._lock:
            self._stats.hits += sum([e.hits for e in self._entries.values()])
            self._entries.clear()
            self._aliases.clear()
            self._recent = ()

    def _refresh(self) -> None:
        """The entries of recent native records were used last: calls do not stamp them."""
        for record in reversed(self._recent):
            self._clock += 1
            record.entry.stamp = self._clock

    def _evict(self) -> None:
        self._refresh()
        oldest = min(self._entries.values(), key=_stamp)
        del self._entries[oldest.key]
        self._aliases.pop(oldest.alias, None)
        self._recent = tuple([r for r in self._recent if r.entry is not oldest])
        self._stats.hits += oldest.hits
        self._stats.evictions += 1


def _without_environment(key: Any) -> Any:
    return (*key[:_ENVIRONMENT], *key[_ENVIRONMENT + 1:])


def _stamp(entry: Entry) -> int:
    return entry.stamp


def _locked(run: native.Run) -> native.Run:
    def call(address: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with implicit_lock:
            return run(address, args, kwargs)
    return call


def _content(trees: Sequence[Any]) -> list[Any]:
    """Shallow copies of nested lists and dicts, to compare array objects with later."""
    def copy(x: Any) -> Any:
        if isinstance(x, dict):
            return {k: copy(v) for k, v in x.items()}
        if isinstance(x, list):
            return [copy(v) for v in x]
        return x
    return [copy(t) for t in trees]


def _output(plan: Plan, i: int, o: Node, inputs: Sequence[Data], fresh: Sequence[Any]) -> Node:
    n = Node(INPUT, (), (), o.shape, o.dtype)
    n.data = result_data(plan, i, inputs, fresh)
    return n


def compile(fun: Callable[..., Any], inputs: Any = None, outputs: Any = None,
            shapeless: bool = False) -> Callable[..., Any]:
    """Return a function that computes what `fun` computes, from a trace of it.

    The first call with a signature (structure, shapes, dtypes, constants) traces `fun`, fuses its
    operations and makes machine code; later calls run that. Results are the bits of a plain call.

    `inputs` and `outputs` are containers (nested lists and dicts) of arrays that `fun` reads and
    changes besides its arguments; they are read and written at each call.

    Raises ArgumentTypeError for a `fun` that cannot be called, and TraceError where `fun` needs the
    value of an array while it is traced.

    >>> import eutectic.core as mx
    >>> f = mx.compile(lambda x: mx.exp(-x) * 2)
    >>> f(mx.array([0.0]))
    array([2], dtype=float32)
    """
    if not callable(fun):
        raise ArgumentTypeError(f"[compile] cannot compile a {type(fun).__name__}.")
    if isinstance(fun, CompiledFunction) and inputs is None and outputs is None:
        return fun
    return CompiledFunction(fun, inputs, outputs, shapeless)


def disable_compile() -> None:
    """Make all compiled functions run plainly."""
    config.disable_compile = True


def enable_compile() -> None:
    """Undo `disable_compile`."""
    config.disable_compile = False


def signature_of(fun: Callable[..., Any]) -> inspect.Signature | None:
    """Signature of a function, or None where Python cannot tell it."""
    try:
        return inspect.signature(fun)
    except (TypeError, ValueError):
        return None
