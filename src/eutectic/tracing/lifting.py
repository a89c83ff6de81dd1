"""Which numbers among a function's arguments are given at each call instead of being constants.

A number that comes with a second value becomes an input of the trace, if the trace can do without
its value. Calls that differ in numbers only are a family; what a family has learnt stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from eutectic.config import config
from eutectic.tracing.entry import Call, Traced, same_computation
from eutectic.tracing.keys import GIVEN

_CONSTANTS = 1
"""Which part of a call's key are the arguments' constants."""


@dataclass(slots=True)
class Family:
    """Calls whose keys differ only in the values of numbers."""

    first: tuple[Any, ...]
    """Constants of its first call."""
    given: list[tuple[int, ...]] = field(default_factory=list)
    """Places of the numbers that some trace takes at each call, newest trace first."""
    constant: dict[int, str] = field(default_factory=dict)
    """Places of numbers that must be constants, with the reason."""

    def varying(self, call: Call, places: Sequence[int]) -> tuple[int, ...]:
        """Places of numbers that have had another value and may be given at each call."""
        known = self.given[0] if self.given else ()
        now = call.key[_CONSTANTS]
        return tuple([p for p in places if p not in self.constant
                      and (p in known or now[p] != self.first[p])])

    def learn(self, places: tuple[int, ...]) -> None:
        if places in self.given:
            self.given.remove(places)
        self.given.insert(0, places)


class Families:
    """The families of one compiled function, as many as it keeps traces, newest last."""

    def __init__(self) -> None:
        self._found: dict[Any, Family] = {}

    def of(self, call: Call, places: Sequence[int]) -> tuple[Family, bool]:
        """The family of a call, and whether this is its first call."""
        key = given_key(call, places)
        found = self._found.pop(key, None)
        new = found is None
        if found is None:
            found = Family(call.key[_CONSTANTS])
            while len(self._found) >= config.compile_cache_entries:
                del self._found[next(iter(self._found))]
        self._found[key] = found
        return found, new

    def clear(self) -> None:
        self._found.clear()


def agrees(found: Traced, traced: Traced, values: Sequence[int | float]) -> bool:
    """Whether a trace with numbers computes for these values what the trace with constants does.

    Where it does not, the function looked at something that a `Number` cannot hide.
    """
    assert found.numbers is not None
    patterns = found.numbers.patterns(values)
    return patterns is not None and same_computation(
        traced, traced.graph, found, found.graph, patterns)


def number_places(call: Call) -> list[int]:
    """Places of the plain ints and floats among the leaves of a call's arguments."""
    return [i for i, x in enumerate(call.leaves) if type(x) is int or type(x) is float]


def given_key(call: Call, places: Sequence[int]) -> Any:
    """The call's key where the numbers at some places are given at each call."""
    constants = list(call.key[_CONSTANTS])
    for p in places:
        constants[p] = (GIVEN, type(call.leaves[p]))
    return (*call.key[:_CONSTANTS], tuple(constants), *call.key[_CONSTANTS + 1:])
