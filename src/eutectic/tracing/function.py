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
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.config import config
from eutectic.dtype import Dtype
from eutectic.engine.debug import report_trace
from eutectic.engine.evaluate import evaluate
from eutectic.engine.pipeline import Record, compile_graph
from eutectic.engine.plan import Plan, result_data
from eutectic.errors import ArgumentTypeError
from eutectic.graph import ir
from eutectic.graph.ir import CONST, INPUT, IOTA, Graph, Node, toposort
from eutectic.graph.layout import Data, row_major
from eutectic.runtime import pool
from eutectic.tracing.environment import Environment, constant_key
from eutectic.tracing.reasons import reason
from eutectic.tracing.state import IMPLICIT, Snapshot, fill, template
from eutectic.tree import TreeDef, flatten, unflatten

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


@dataclass(slots=True)
class Traced:
    """What a trace found: the graph and how results go back into Python."""

    graph: Graph
    treedef: TreeDef
    leaves: list[Any]
    """For each result leaf: an output index, or ('constant', value)."""
    n_results: int
    used: list[int]
    """Positions, among arguments and captured arrays, of the graph's inputs."""
    captured: list[Node]
    """Computed nodes found in the trace that are no placeholder; the graph's last inputs."""
    outputs: list[Any]
    """Template of each output container."""
    changed: list[tuple[int, int]]
    """(captured array, output) of arrays in the environment that were changed in place."""


@dataclass(slots=True)
class Entry:
    """One signature: its trace, its plan, and what they cost."""

    traced: Traced
    plan: Plan
    record: Record
    key: Any
    hits: int = 0


@dataclass(slots=True)
class Stats:
    """Counts of one compiled function."""

    traces: int = 0
    hits: int = 0
    evictions: int = 0
    plain_calls: int = 0


@dataclass(slots=True)
class _Call:
    """Everything about a call that its key and its plan need."""

    leaves: list[Any]
    treedef: TreeDef
    arrays: list[array]
    """Array arguments, then captured arrays."""
    n_arguments: int
    key: Any
    state: list[Any] = field(default_factory=list)


class CompiledFunction:
    """A compiled function; call it like the function it was made of."""

    def __init__(self, fun: Callable[..., Any], inputs: Any = None, outputs: Any = None,
                 shapeless: bool = False) -> None:
        self.fun = fun
        self.inputs = inputs
        self.outputs = outputs
        self.shapeless = shapeless
        self.stats = Stats()
        self._entries: OrderedDict[Any, Entry] = OrderedDict()
        self._environment: Environment | None = None
        self._lock = threading.RLock()
        self._implicit_used = False
        functools.update_wrapper(self, fun, updated=())
        if not hasattr(self, "__name__"):
            self.__name__ = getattr(getattr(fun, "func", fun), "__name__", type(fun).__name__)

    def __repr__(self) -> str:
        return f"<compiled {self.__name__}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return functools.partial(self, instance) if not hasattr(
            self.fun, "__get__") else _bound(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if config.disable_compile or (ir._tracing and _active.depth):
            self.stats.plain_calls += 1
            return self.fun(*args, **kwargs)
        call = self._read_call(args, kwargs)
        entry = self._entries.get(call.key)
        if entry is None:
            return self._run(self._new_entry(call, bool(kwargs)), call)
        entry.hits += 1
        self.stats.hits += 1
        if len(self._entries) > 1:
            try:
                self._entries.move_to_end(call.key)
            except KeyError:  # another thread evicted it just now
                pass
        return self._run(entry, call)

    # -- keys -------------------------------------------------------------------------------------

    def _read_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
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
        env_arrays, env_key = self._environment.read()
        arrays += env_arrays
        state = [x for x in (self.inputs,) if x is not None]
        state_key: Any = None
        if state or IMPLICIT:
            state += IMPLICIT
            found, structure = flatten(state)
            state_key = (structure, tuple([None if type(x) is array else constant_key(x)
                                           for x in found]))
            arrays += [x for x in found if type(x) is array]
        pending = [a._n for a in arrays if a._n.data is None]
        if pending:
            evaluate(pending)
        avals = tuple([(a._n.shape, a._n.dtype, a._n.data.strides) for a in arrays])
        key = (treedef, tuple(constants), avals, env_key, state_key, pool.get_num_threads())
        return _Call(leaves, treedef, arrays, n, key, state)

    def _constant(self, i: int, x: Any, leaves: list[Any], arrays: list[array]) -> Any:
        """Key of an argument that is no array of ours; NumPy data and the like become arrays."""
        if isinstance(x, _CONSTANT_TYPES):
            if isinstance(x, slice):
                return (slice, *[constant_key(v) for v in (x.start, x.stop, x.step)])
            return constant_key(x) if not isinstance(x, Dtype) else x
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

    # -- running ----------------------------------------------------------------------------------

    def _run(self, entry: Entry, call: _Call) -> Any:
        traced, plan = entry.traced, entry.plan
        nodes = [call.arrays[i]._n for i in traced.used]
        nodes += traced.captured
        datas = [n.data for n in nodes]
        addresses = [d.buffer.ptr + d.offset for d in datas]
        fresh = plan.run(addresses)
        outs = [_output(plan, i, o, datas, fresh) for i, o in enumerate(traced.graph.outputs)]
        return self._give(traced, call, outs)

    def _give(self, traced: Traced, call: _Call, outs: list[Node]) -> Any:
        for at, index in traced.changed:
            call.arrays[at]._n = outs[index]
        for container, shape in zip(self._output_containers(), traced.outputs):
            fill(container, shape, outs)
        leaves = [wrap(outs[x]) if type(x) is int else x[1] for x in traced.leaves]
        return unflatten(traced.treedef, leaves)

    def _output_containers(self) -> list[Any]:
        return ([self.outputs] if self.outputs is not None else []) + IMPLICIT

    # -- tracing ----------------------------------------------------------------------------------

    def find(self, *args: Any, **kwargs: Any) -> Entry | None:
        """The entry that a call with these arguments runs, or None if it would have to trace."""
        return self._entries.get(self._read_call(args, kwargs).key)

    def lower(self, *args: Any, **kwargs: Any) -> Entry:
        """The entry that a call with these arguments runs, traced if need be; nothing runs."""
        call = self._read_call(args, kwargs)
        return self._entries.get(call.key) or self._new_entry(call, bool(kwargs))

    def _new_entry(self, call: _Call, keywords: bool) -> Entry:
        with self._lock:
            entry = self._entries.get(call.key)
            if entry is not None:
                return entry
            record = Record(why=reason(call.key, [*self._entries]))
            start = time.perf_counter()
            traced = self._trace(call, keywords)
            record.seconds["trace"] = time.perf_counter() - start
            inputs = {id(n): self._strides(call, traced, i)
                      for i, n in enumerate(traced.graph.inputs)}
            plan = compile_graph(
                traced.graph, record, strides_of=lambda n: inputs.get(id(n)) or row_major(n.shape))
            traced.graph = record.graphs[-1][1]
            entry = Entry(traced, plan, record, call.key)
            self.stats.traces += 1
            self._entries[call.key] = entry
            while len(self._entries) > config.compile_cache_entries:
                self._entries.popitem(last=False)
                self.stats.evictions += 1
            report_trace(self.__name__, ir.user_line(), record.why, time.perf_counter() - start,
                         plan)
            return entry

    def _strides(self, call: _Call, traced: Traced, i: int) -> tuple[int, ...]:
        if i < len(traced.used):
            n = call.arrays[traced.used[i]]._n
        else:
            n = traced.captured[i - len(traced.used)]
        return n.data.strides_of(n.shape)

    def _trace(self, call: _Call, keywords: bool) -> Traced:
        trace = Trace(self.__name__)
        holders: dict[int, array] = {}
        placeholders: list[Node] = []
        for k, a in enumerate(call.arrays):
            if k >= call.n_arguments and id(a) in holders and holders[id(a)] is a:
                # The same captured object twice: one placeholder, so that changes are seen.
                placeholders.append(a._n if a._n.trace is trace else placeholders[0])
                continue
            p = Node(INPUT, (), (), a._n.shape, a._n.dtype)
            p.trace = trace
            placeholders.append(p)
            if k >= call.n_arguments:
                holders[id(a)] = a
        stand_in = iter(placeholders[:call.n_arguments])
        leaves = [wrap(next(stand_in)) if type(x) is array else x for x in call.leaves]
        tree = unflatten(call.treedef, leaves)
        args, kwargs = tree if keywords else (tree, {})
        outputs = self._output_containers()
        before = Snapshot([*call.state, *outputs, *call.arrays[call.n_arguments:]])
        old = _content(outputs)
        _active.depth += 1
        ir.begin_trace()
        try:
            first: dict[int, Node] = {}
            for a, p in zip(call.arrays[call.n_arguments:], placeholders[call.n_arguments:]):
                first.setdefault(id(a), p)
                a._n = first[id(a)]
            placeholders[call.n_arguments:] = [first[id(a)] for a in call.arrays[call.n_arguments:]]
            result = self.fun(*args, **kwargs)
            return self._collect(call, result, placeholders, outputs, old)
        finally:
            ir.end_trace()
            _active.depth -= 1
            before.restore()

    def _collect(self, call: _Call, result: Any, placeholders: list[Node], outputs: list[Any],
                 old: list[Any]) -> Traced:
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
        in_outputs = {id(x) for o in outputs for x in flatten(o)[0]}
        changed = []
        for k, a in enumerate(call.arrays[call.n_arguments:], call.n_arguments):
            if a._n is not placeholders[k] and id(a) not in in_outputs:
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
        return Traced(graph, treedef, described, n_results, used, captured, templates, changed)

    # -- inspection -------------------------------------------------------------------------------

    def entries(self) -> Sequence[Entry]:
        """Entries from least to most recently used."""
        return list(self._entries.values())

    def clear(self) -> None:
        """Forget all traces."""
        with self._lock:
            self._entries.clear()


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


def _bound(compiled: CompiledFunction, instance: Any) -> Callable[..., Any]:
    """The compiled function as a method: `self` is read like any captured object."""
    cache = compiled.__dict__.setdefault("_methods", {})
    key = id(instance)
    found = cache.get(key)
    if found is None or found[0] is not instance:
        method = compiled.fun.__get__(instance)
        made = CompiledFunction(method, compiled.inputs, compiled.outputs, compiled.shapeless)
        found = cache[key] = (instance, made)
    return found[1]


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
