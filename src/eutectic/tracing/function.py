"""`compile`: a function that traces once a signature and then runs its plan.

A call's key is exact: the structure of the arguments, shape, dtype and layout of each array, the
type and value of each constant, and the same of what the function reads elsewhere. Entries are
kept in order of use, up to a bound.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from eutectic.config import config
from eutectic.engine.debug import report_trace
from eutectic.engine.pipeline import Record, compile_graph
from eutectic.errors import ArgumentError, ArgumentTypeError
from eutectic.graph import ir
from eutectic.graph.layout import row_major
from eutectic.tracing import breaks, native
from eutectic.tracing.arguments import run_plainly
from eutectic.tracing.breaks import Break, Trace, active
from eutectic.tracing.entry import Call, Entry, Plain, Traced, same_trace
from eutectic.tracing.history import CompileStats, History
from eutectic.tracing.keys import (
    ALIASES, ARRAYS, ENVIRONMENT, Reader, any_shape, without_environment)
from eutectic.tracing.lifting import Families, Family, agrees, given_key, number_places
from eutectic.tracing.methods import bound
from eutectic.tracing.native import MISS
from eutectic.tracing.reasons import Reason, changed_name, reason
from eutectic.tracing.running import native_record, run_entry
from eutectic.tracing.state import implicit_lock
from eutectic.tracing.tape import CannotReplay, Tape
from eutectic.tracing.trace import replay, trace_numbers, trace_or_run, trace_tape

_RECENT = 4
"""Native records that a call tries before its key is made."""
_COMPARED = 16
"""Newest entries that the reason for another trace is looked for among."""
_PATIENCE = 8
"""Lookups of an entry after which a native record that did not serve them is made anew."""


class CompiledFunction:
    """A compiled function; call it like the function it was made of."""

    def __init__(self, fun: Callable[..., Any], inputs: Any = None, outputs: Any = None,
                 shapeless: bool = False, on_break: str = "error",
                 told: set[str] | None = None) -> None:
        self.fun = fun
        self.inputs = inputs
        self.outputs = outputs
        self.shapeless = shapeless
        self.on_break = on_break
        self._entries: dict[Any, Entry] = {}
        self._aliases: dict[Any, Entry] = {}
        """Entries by the key that their own trace led to."""
        self._families = Families()
        self._tapes: dict[Any, tuple[Tape, Traced]] = {}
        """By key of any shape: a trace that may be replayed at other shapes."""
        self._recent: tuple[native.Record, ...] = ()
        self._epoch = -1
        self._clock = 0
        self._lock = threading.RLock()
        functools.update_wrapper(self, fun, updated=())
        if not hasattr(self, "__name__"):
            self.__name__ = getattr(getattr(fun, "func", fun), "__name__", type(fun).__name__)
        self.reader = Reader(fun, self.__name__, inputs, outputs)
        self.history = History(self.__name__, set() if told is None else told)

    def __repr__(self) -> str:
        return f"<compiled {self.__name__}>"

    def of(self, fun: Callable[..., Any]) -> CompiledFunction:
        """Another function, made of this one's, compiled in the same way."""
        return CompiledFunction(fun, self.inputs, self.outputs, self.shapeless, self.on_break,
                                self.history.told)

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
            self.history.plain_calls += 1
            if self.on_break == "plain":
                with breaks.allowed():
                    return self.fun(*args, **kwargs)
            return self.fun(*args, **kwargs)
        if self._epoch != config.changes:  # threads or another setting: records may not hold
            self._epoch, self._recent = config.changes, ()
        call = self.reader.read(args, kwargs)
        entry = self._find(call.key)
        if entry is None:
            self.history.misses += 1
            place = self.history.broken.get(call.key)
            if place is not None:
                self.history.count(place)
                return run_plainly(self.fun, call)
            with self._lock, implicit_lock:  # what is captured stays as it is until it is traced
                call = self.reader.read(args, kwargs)
                made, new = self._entry_of_family(
                    call, functools.partial(self.history.broke, call.key))
            if isinstance(made, Plain):
                return made.result
            entry = made
        else:
            new = False
        if entry.traced.numbers is not None:
            patterns = entry.patterns(call)
            if patterns is None:  # Python's arithmetic took another way
                with self._lock, implicit_lock:
                    call = self.reader.read(args, kwargs)
                    made, new = self._new_entry(
                        call, functools.partial(self.history.broke, call.key)), True
                if isinstance(made, Plain):
                    return made.result
                entry = made
            else:
                call.patterns = patterns
        if not new:
            record = self._native(entry, call, args, kwargs)
            if record is not None:
                out = record.run(record.address, args, kwargs)
                if out is not MISS:
                    return out if record.finish is None else record.finish(out)
            entry.calls += 1
        if entry.traced.draws or entry.traced.writes:
            with implicit_lock:
                # Another call may have changed the state since the key was made.
                now = self.reader.read(args, kwargs)
                now.patterns = call.patterns
                if now.key[ARRAYS] == call.key[ARRAYS] and now.key[ALIASES] == call.key[ALIASES]:
                    return run_entry(self.reader, entry, now)
                if new:  # the trace itself did
                    return run_entry(self.reader, entry, call)
            return self._call(args, kwargs)
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
            later = native.preparing()  # asked first: the native call may come meanwhile
            made = native_record(self.reader, entry, call, args, kwargs)
            if made is None:
                entry.given_up = entry.native is None and not later
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
        call = self.reader.read(args, kwargs)
        return self._find(call.key) or self._find_given(call)[0]

    def lower(self, *args: Any, **kwargs: Any) -> Entry:
        """The entry of these arguments, with numbers as constants, traced if need be; nothing runs.
        """
        call = self.reader.read(args, kwargs)
        entry = self._find(call.key) or self._new_entry(call, None)
        assert isinstance(entry, Entry)
        return entry

    def why(self, *args: Any, **kwargs: Any) -> Reason:
        """Why a call with these arguments would trace, where `find` gives nothing."""
        return self._why(self.reader.read(args, kwargs))

    def _why(self, call: Call) -> Reason:
        known = list(self._entries)[-_COMPARED:]
        return self.history.known(call.key, reason(call, self.reader, known))

    def _new_entry(self, call: Call,
                   on_break: Callable[[Break], None] | None) -> Entry | Plain:
        """Trace a call and plan it; or, where it needs a value and may go on, its result."""
        with self._lock:
            entry = self._find(call.key)
            if entry is not None:
                return entry
            start = time.perf_counter()
            traced, why = self._trace(call, on_break)
            if isinstance(traced, Plain):
                return traced
            return self._add(call, traced, why, start)

    def _trace(self, call: Call, on_break: Callable[[Break], None] | None) -> tuple[
            Traced | Plain, Reason]:
        """A trace, from a tape where that can be, and its reason."""
        why = self._why(call)
        trace = Trace(self.__name__, plain=self.on_break == "plain", on_break=on_break)
        if not self.shapeless:
            return trace_or_run(self.reader, call, trace), why
        key = any_shape(call.key)
        known = self._tapes.pop(key, None)
        if known is not None:
            try:
                traced = replay(self.reader, call, *known)
                self._tapes[key] = known
                return traced, why.noted("replayed without Python")
            except CannotReplay as error:
                why = why.noted(f"not replayed: {error}")
        while len(self._tapes) >= config.compile_cache_entries:
            del self._tapes[next(iter(self._tapes))]
        made, tape = trace_tape(self.reader, call, trace)
        if isinstance(made, Traced):
            self._tapes[key] = tape, made
        return made, why

    def _find_given(self, call: Call) -> tuple[Entry | None, list[int], Family | None]:
        """An entry that takes some of the call's numbers at each call; places; their family."""
        places = number_places(call)
        if not places:
            return None, places, None
        with self._lock:
            family, new = self._families.of(call, places)
            for given in family.given:
                entry = self._find(given_key(call, given))
                if entry is not None:
                    return entry, places, family
        return None, places, None if new else family

    def _entry_of_family(self, call: Call, on_break: Callable[[Break], None] | None) -> tuple[
            Entry | Plain, bool]:
        """The entry of a call that has none of its own, and whether it is new."""
        entry, places, family = self._find_given(call)
        if entry is not None:
            return entry, False
        if family is None or self.reader.environment.asks_types:
            return self._new_entry(call, on_break), True
        with self._lock:
            entry = self._find(call.key) or self._find_given(call)[0]
            if entry is not None:
                return entry, False
            start = time.perf_counter()
            traced, why = self._trace(call, on_break)
            if isinstance(traced, Plain):
                return traced, True
            while given := family.varying(call, places):
                found = trace_numbers(self.reader, call, given)
                if isinstance(found, dict):
                    family.constant.update(found)
                elif agrees(found, traced, [call.leaves[p] for p in given]):
                    family.learn(given)
                    why = why.noted("a number is an input from now on", *_constants(family))
                    return self._add(call, found, why, start, given), True
                else:
                    family.constant.update(dict.fromkeys(given, "its type or its value decides"))
            return self._add(call, traced, why.noted(*_constants(family)), start), True

    def _add(self, call: Call, traced: Traced, why: Reason, start: float,
             given: tuple[int, ...] = ()) -> Entry:
        """The entry of a trace, compiled and kept under its key."""
        why = why.noted(*[f"{x}, which happens when it is traced only" for x in traced.drawn])
        self.history.drew(traced.drawn)
        record = Record(why=why)
        record.seconds["trace"] = time.perf_counter() - start
        inputs = {id(n): self._strides(call, traced, i)
                  for i, n in enumerate(traced.graph.inputs)}
        numbers = [] if traced.numbers is None else traced.numbers.given
        plan = compile_graph(
            traced.graph, record, strides_of=lambda n: inputs.get(id(n)) or row_major(n.shape),
            scalar_inputs=[g.node for g in numbers])
        traced.graph = record.graphs[-1][1]
        entry = Entry(traced, plan, record, given_key(call, given) if given else call.key,
                      places=given)
        self._clock += 1
        entry.stamp = self._clock
        self._entries[entry.key] = entry
        self._note_effects(entry, call)
        while len(self._entries) > config.compile_cache_entries:
            self._evict()
        report_trace(self.__name__, ir.user_line(), why.whole, time.perf_counter() - start, plan)
        self.history.traced(why, self.shapeless)
        return entry

    def _find(self, key: Any) -> Entry | None:
        return self._entries.get(key) or self._aliases.get(key)

    def _note_effects(self, entry: Entry, call: Call) -> None:
        """Handle a trace that itself changed what the function reads (a counter, say).

        The change alone would make every call trace. Once two traces that changed it gave the same
        graph, it does not matter to the graph, and what the change led to is the same signature:
        from then on it does not happen, which is said once.
        """
        before = entry.key[ENVIRONMENT]
        after = self.reader.environment.read(None, call.objects)[1]
        if after == before or (entry.traced.effects and len(after) != len(before)):
            return
        entry.effects = True
        rest = without_environment(entry.key)
        for other in list(self._entries.values())[-_COMPARED:-1]:
            if other.effects and without_environment(other.key) == rest and same_trace(
                    other, entry):
                key = (*entry.key[:ENVIRONMENT], after, *entry.key[ENVIRONMENT + 1:])
                entry.alias = key
                self._aliases[key] = entry
                self.history.frozen(changed_name(self.reader, call, before, after))

    def _strides(self, call: Call, traced: Traced, i: int) -> tuple[int, ...]:
        if i < len(traced.used):
            n = call.nodes[traced.used[i]]
        else:
            n = traced.captured[i - len(traced.used)]
        return n.data.strides_of(n.shape)

    # -- inspection -------------------------------------------------------------------------------

    @property
    def stats(self) -> CompileStats:
        """Counts so far, and what is held."""
        return self.history.stats(list(self._entries.values()))

    def entries(self) -> Sequence[Entry]:
        """Entries from least to most recently used."""
        with self._lock:
            self._refresh()
            return sorted(self._entries.values(), key=_stamp)

    def clear(self) -> None:
        """Forget all traces."""
        with self._lock:
            self.history.hits += sum([e.hits for e in self._entries.values()])
            self.history.broken.clear()
            self._entries.clear()
            self._aliases.clear()
            self._families.clear()
            self._tapes.clear()
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
        self.history.dropped(oldest)


def _constants(family: Family) -> list[str]:
    return [f"argument {place} stays a constant: {why}" for place, why in family.constant.items()]


def _stamp(entry: Entry) -> int:
    return entry.stamp


def compile(fun: Callable[..., Any], inputs: Any = None, outputs: Any = None,
            shapeless: bool = False, on_break: str = "error") -> Callable[..., Any]:
    """Return a function that computes what `fun` computes, from a trace of it.

    The first call with a signature (structure, shapes, dtypes, constants) traces `fun`, fuses its
    operations and makes machine code; later calls run that. Results are the bits of a plain call.

    `inputs` and `outputs` are containers (nested lists and dicts) of arrays that `fun` reads and
    changes besides its arguments; they are read and written at each call.

    What the clock, files, the environment, iterators and other generators than `mx.random` give is
    taken once a trace and constant after it; iterators and generators are warned of.

    Where `fun` needs the value of an array while it is traced (`.item()`, `if x > 0`, `print`), the
    call raises TraceError, which names the line and what to do instead. With `on_break="plain"`
    calls of that signature run uncompiled, with the results of `fun` itself: the call in which it
    is found goes on plainly, so nothing runs twice. A warning names the line once, and
    `compile_stats` counts such calls. An outer compiled function takes them up in the same way.

    Raises ArgumentTypeError for a `fun` that cannot be called.

    >>> import eutectic.core as mx
    >>> f = mx.compile(lambda x: mx.exp(-x) * 2)
    >>> f(mx.array([0.0]))
    array([2], dtype=float32)
    >>> g = mx.compile(lambda x: x * 2 if x.item() > 0 else -x, on_break="plain")
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     g(mx.array(-3.0)), g(mx.array(1.0))
    (array(3, dtype=float32), array(2, dtype=float32))
    >>> len(told), mx.compile_stats(g).broken_calls
    (1, 2)
    """
    if not callable(fun):
        raise ArgumentTypeError(f"[compile] cannot compile a {type(fun).__name__}.")
    if on_break not in ("error", "plain"):
        raise ArgumentError(f"[compile] on_break must be 'error' or 'plain', not {on_break!r}.")
    if isinstance(fun, CompiledFunction) and inputs is None and outputs is None:
        if on_break in ("error", fun.on_break):
            return fun
        return CompiledFunction(fun.fun, fun.inputs, fun.outputs, fun.shapeless, on_break)
    return CompiledFunction(fun, inputs, outputs, shapeless, on_break)


def disable_compile() -> None:
    """Make all compiled functions run plainly."""
    config.disable_compile = True


def enable_compile() -> None:
    """Undo `disable_compile`."""
    config.disable_compile = False
