"""What has happened to a compiled function: counts, places that need values, and what it was told.

`CompileStats` is what users see of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eutectic.config import config
from eutectic.engine.debug import report_break
from eutectic.errors import CompileWarning
from eutectic.graph.ir import user_depth
from eutectic.tracing.breaks import Break, told_once, wrapped
from eutectic.tracing.drawn import Drawn
from eutectic.tracing.entry import Entry
from eutectic.tracing.reasons import Reason

MANY = 8
"""Traces that differ in the same thing only, after which a warning says so."""
_REMEMBERED = 4096
"""Signatures dropped from the cache that are remembered, to give the reason for their return."""


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """Bytes that the traces of a compiled function hold."""

    temporaries: int
    """Memory for temporaries of one call: of the trace that needs most."""
    constants: int
    """Arrays that traces found computed and keep; each buffer once."""
    code: int
    """Machine code of the kernels, as object files; kernels that traces share count once. Other
    functions may run the same kernels."""

    @property
    def total(self) -> int:
        """All of it."""
        return self.temporaries + self.constants + self.code


@dataclass(frozen=True, slots=True)
class CompileStats:
    """What a compiled function has done and holds, at the time it was asked."""

    name: str
    traces: int
    """How often the function was traced."""
    hits: int
    """Calls that found their trace."""
    misses: int
    """Calls that did not: they traced, or ran plainly because they needed a value."""
    evictions: int
    """Traces dropped because the cache was full (`EUTECTIC_COMPILE_CACHE_ENTRIES`)."""
    entries: int
    """Traces that are held."""
    plain_calls: int
    """Calls inside other traces, which take the function up, or while compiling is disabled."""
    broken_calls: int
    """Calls that ran uncompiled because they needed a value (`on_break="plain"`)."""
    breaks: tuple[tuple[Break, int], ...]
    """The places that needed one, and how many calls ran uncompiled because of each."""
    reasons: tuple[Reason, ...]
    """Why each of the latest traces was made, oldest first: 16 at most."""
    memory: HeldMemory

    @property
    def bytes(self) -> int:
        """Bytes held: temporaries of a call, constants and machine code."""
        return self.memory.total


_REASONS = 16


class History:
    """Counts of one compiled function, and what its user has been told."""

    def __init__(self, name: str, told: set[str]) -> None:
        self.name = name
        self.told = told
        """What has been said; shared by the compiled functions that are made of one function."""
        self.traces = 0
        self.hits = 0
        """Hits of traces that are not held any more."""
        self.misses = 0
        self.evictions = 0
        self.plain_calls = 0
        self.broken_calls = 0
        self.places: dict[Break, int] = {}
        self.broken: dict[Any, Break] = {}
        """Signatures that need a value, by key."""
        self.reasons: list[Reason] = []
        self._dropped: dict[int, None] = {}
        self._shapes: dict[str, int] = {}
        self._numbers: dict[str, int] = {}

    # -- traces -----------------------------------------------------------------------------------

    def known(self, key: Any, found: Reason) -> Reason:
        """The reason for a trace; a signature that was dropped is not new."""
        if hash(key) in self._dropped:
            text = (f"its trace was dropped: {config.compile_cache_entries} are kept "
                    "(EUTECTIC_COMPILE_CACHE_ENTRIES)")
            return Reason("dropped", text=text)
        return found

    def traced(self, why: Reason, shapeless: bool) -> None:
        """Count a trace; warn where there are many that differ in one thing only."""
        self.traces += 1
        self.reasons = [*self.reasons[1 - _REASONS:], why]
        if why.only == "shape":
            self._shapes[why.name] = self._shapes.get(why.name, 0) + 1
            if sum(self._shapes.values()) == MANY - 1:
                self._say("shapes", self._about_shapes(why, shapeless))
        elif why.only == "number":
            count = self._numbers[why.name] = self._numbers.get(why.name, 0) + 1
            if count == MANY - 1:
                self._say("numbers", self._about_number(why))

    def dropped(self, entry: Entry) -> None:
        """Count a trace that left the cache because that was full."""
        self.hits += entry.hits
        self.evictions += 1
        while len(self._dropped) >= _REMEMBERED:
            del self._dropped[next(iter(self._dropped))]
        self._dropped[hash(entry.key)] = None

    def _about_shapes(self, why: Reason, shapeless: bool) -> str:
        names = list(self._shapes)
        which = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
        remedy = ("Pad to a few sizes" if shapeless else "Pad to a few sizes, or compile with "
                  "shapeless=True if one trace is right for all sizes")
        return wrapped(
                f"[compile] {self.name!r} has been traced {MANY} times for calls that differ only "
                f"in the shape of {which}; the last: {why}. Each new shape costs a trace and a "
                f"plan. {remedy}.")

    def _about_number(self, why: Reason) -> str:
        return wrapped(
                f"[compile] {self.name!r} has been traced {MANY} times for calls that differ only "
                f"in the number {why.name}, which is part of the trace; the last: {why}. Pass it "
                f"as an array, mx.array({why.new}), where it is only computed with; where it "
                "decides a shape, an axis or a loop, call with few different values.")

    def frozen(self, name: str) -> None:
        """The function changes a value outside its arguments, which its trace does not do."""
        self._say("frozen", wrapped(
            f"[compile] {self.name!r} changes {name}, which holds no array: that happens when it "
            "is traced, not at each call, and later calls go on with what the trace found. Keep "
            "it in an mx.array, or give it as an argument, where its value matters."))

    def drew(self, found: Sequence[Drawn]) -> None:
        """The trace used up iterators, or drew from generators that are not `mx.random`'s."""
        for x in found:
            remedy = ("Draw from mx.random, whose state each call advances, or give what is drawn "
                      "as an argument." if x.is_random else
                      "Take the next value outside and give it as an argument.")
            self._say(f"drew {x.name}", wrapped(
                f"[compile] {self.name!r} {x}: that happens when it is traced, not at each call, "
                f"and later calls go on with what the trace found. {remedy}"))

    # -- breaks -----------------------------------------------------------------------------------

    def broke(self, key: Any, found: Break) -> None:
        """A call that was to be traced needs a value and goes on plainly."""
        while len(self.broken) >= config.compile_cache_entries:
            self.broken.pop(next(iter(self.broken)), None)
        self.broken[key] = found
        self.count(found)
        report_break(found.function, str(found))
        self._say("breaks", told_once(found))

    def count(self, found: Break) -> None:
        """A call runs plainly because of a break."""
        self.broken_calls += 1
        self.places[found] = self.places.get(found, 0) + 1

    def _say(self, what: str, text: str) -> None:
        if what not in self.told:
            self.told.add(what)
            warnings.warn(text, CompileWarning, stacklevel=user_depth())

    # -- what users see ---------------------------------------------------------------------------

    def stats(self, entries: Sequence[Entry]) -> CompileStats:
        """Everything so far; `entries` are the traces that are held."""
        hits = self.hits + sum([e.hits for e in entries])
        return CompileStats(
            self.name, self.traces, hits, self.misses, self.evictions, len(entries),
            self.plain_calls, self.broken_calls, tuple(self.places.items()), tuple(self.reasons),
            held_memory(entries))


def held_memory(entries: Sequence[Entry]) -> HeldMemory:
    """Bytes that traces hold."""
    constants: dict[int, int] = {}
    code: dict[str, int] = {}
    for e in entries:
        for n in e.traced.captured:
            buffer = n.data.buffer
            constants[buffer.ptr] = buffer.nbytes
        code |= e.plan.code
    return HeldMemory(max([e.plan.arena for e in entries], default=0), sum(constants.values()),
                      sum(code.values()))
