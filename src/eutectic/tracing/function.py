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
from collections.abc import Callable, Sequence
from typing import Any

from eutectic.config import config
from eutectic.engine.debug import report_trace
from eutectic.engine.pipeline import Record, compile_graph
from eutectic.errors import ArgumentTypeError
from eutectic.graph import ir
from eutectic.graph.layout import row_major
from eutectic.tracing import native
from eutectic.tracing.entry import Call, Entry, Stats, Traced, same_trace
from eutectic.tracing.keys import ENVIRONMENT, Reader, without_environment
from eutectic.tracing.methods import bound
from eutectic.tracing.native import MISS
from eutectic.tracing.reasons import reason
from eutectic.tracing.running import native_record, run_entry
from eutectic.tracing.state import implicit_lock
from eutectic.tracing.trace import active, trace_call

_RECENT = 4
"""Native records that a call tries before its key is made."""
_COMPARED = 16
"""Newest entries that the reason for another trace is looked for among."""
_PATIENCE = 8
"""Lookups of an entry after which a native record that did not serve them is made anew."""


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
        self._lock = threading.RLock()
        functools.update_wrapper(self, fun, updated=())
        if not hasattr(self, "__name__"):
            self.__name__ = getattr(getattr(fun, "func", fun), "__name__", type(fun).__name__)
        self.reader = Reader(fun, self.__name__, inputs, outputs)

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
        if config.disable_compile or (ir._tracing and active.depth):
            self._stats.plain_calls += 1
            return self.fun(*args, **kwargs)
        if self._epoch != config.changes:  # threads or another setting: records may not hold
            self._epoch, self._recent = config.changes, ()
        call = self.reader.read(args, kwargs)
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
                return run_entry(self.reader, entry, self.reader.read(args, kwargs))
        return run_entry(self.reader, entry, call)

    # -- the native call --------------------------------------------------------------------------

    def _native(self, entry: Entry, call: Call, args: tuple[Any, ...],
                kwargs: dict[str, Any]) -> native.Record | None:
        """The entry's native record, put first among the recent ones; made where that is due."""
        self._clock += 1
        entry.stamp = self._clock
        if entry.native is None or entry.misses >= _PATIENCE:
            if entry.given_up:
                return None
            made = native_record(self.reader, entry, call, args, kwargs)
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

    # -- tracing ----------------------------------------------------------------------------------

    def find(self, *args: Any, **kwargs: Any) -> Entry | None:
        """The entry that a call with these arguments runs, or None if it would have to trace."""
        return self._find(self.reader.read(args, kwargs).key)

    def lower(self, *args: Any, **kwargs: Any) -> Entry:
        """The entry that a call with these arguments runs, traced if need be; nothing runs."""
        call = self.reader.read(args, kwargs)
        return self._find(call.key) or self._new_entry(call, bool(kwargs))

    def _new_entry(self, call: Call, keywords: bool) -> Entry:
        with self._lock:
            entry = self._find(call.key)
            if entry is not None:
                return entry
            known = list(self._entries)[-_COMPARED:]
            record = Record(why=reason(call.key, known))
            start = time.perf_counter()
            traced = trace_call(self.reader, call, keywords)
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
        after = self.reader.environment.read()[1]
        if after == entry.key[ENVIRONMENT]:
            return
        entry.effects = True
        rest = without_environment(entry.key)
        for other in list(self._entries.values())[-_COMPARED:-1]:
            if other.effects and without_environment(other.key) == rest and same_trace(
                    other, entry):
                key = (*entry.key[:ENVIRONMENT], after, *entry.key[ENVIRONMENT + 1:])
                entry.alias = key
                self._aliases[key] = entry

    def _strides(self, call: Call, traced: Traced, i: int) -> tuple[int, ...]:
        if i < len(traced.used):
            n = call.arrays[traced.used[i]]._n
        else:
            n = traced.captured[i - len(traced.used)]
        return n.data.strides_of(n.shape)

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


def _stamp(entry: Entry) -> int:
    return entry.stamp


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
