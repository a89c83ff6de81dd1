"""Arrays that a function writes to what it reads: closures, globals, and containers on `self`.

Nothing of that is declared. A trace that puts new arrays there leaves placeholders, so the places
are put back as they were, and each call writes the outputs there, as the plain function would.
Changes without arrays (a counter, a log) happen once a trace and stay.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from eutectic.array import array
from eutectic.graph.ir import Node
from eutectic.tracing.state import Slot, attributes, fill, holds_array, template
from eutectic.tree import flatten

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Place:
    """Something that holds values: a dict (`names`: those of its keys that count; None: all), a
    list or deque, or a closure cell (`names` empty)."""

    holder: Any
    names: tuple[str, ...] | None = None

    def content(self) -> dict[Any, Any]:
        """Values by key, index, or 0 of a cell."""
        h = self.holder
        if isinstance(h, dict):
            return dict(h) if self.names is None else {
                k: h[k] for k in self.names if k in h}
        if isinstance(h, (list, deque)):
            return dict(enumerate(h))
        try:
            return {0: h.cell_contents}
        except ValueError:
            return {}

    def put(self, key: Any, value: Any) -> None:
        h = self.holder
        if isinstance(h, dict):
            dict.__setitem__(h, key, value)
        elif isinstance(h, (list, deque)):
            h.append(value) if key >= len(h) else h.__setitem__(key, value)
        else:
            h.cell_contents = value

    def drop(self, key: Any) -> None:
        h = self.holder
        if isinstance(h, dict):
            dict.pop(h, key, None)
        elif isinstance(h, (list, deque)):
            while len(h) > key:
                h.pop()
        else:
            del h.cell_contents


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call writes to a place: templates by key, in order, and keys that go away.

    `place` is its number in the walk over what the function reads: a call of the same signature may
    find another object there.
    """

    place: int
    shapes: dict[Any, Any]
    gone: tuple[Any, ...]


class Effects:
    """The places of one trace as they were before it."""

    def __init__(self, places: Sequence[Place], declared: Sequence[Any]) -> None:
        known: set[int] = set()
        for tree in declared:
            _containers(tree, known)
        self._before = [(i, p, p.content()) for i, p in enumerate(places)
                        if id(p.holder) not in known]

    def collect(self, index_of: Callable[[array, bool], int | None]) -> list[Effect]:
        """The effects of the trace that has run; `index_of` numbers outputs (see `template`)."""
        found = []
        for i, place, before in self._before:
            now = place.content()
            if not _arrays_changed(before, now):
                continue
            shapes: dict[Any, Any] = {}
            for k, v in now.items():
                if before.get(k, _ABSENT) is v:
                    # It stands there already; where it has changed itself, it is a place too.
                    shapes[k] = Slot(-1)
                else:
                    shapes[k] = template(v, before.get(k), index_of)
            found.append(Effect(i, shapes, tuple([k for k in before if k not in now])))
        return found

    def written(self) -> list[array]:
        """The arrays that the trace put there."""
        found = []
        for _, place, before in self._before:
            for k, v in place.content().items():
                if before.get(k, _ABSENT) is not v and holds_array(v):
                    found += [x for x in flatten(v)[0] if isinstance(x, array)]
        return found

    def restore(self) -> None:
        """Put back the places to which the trace wrote arrays, or where it took some away."""
        for _, place, before in self._before:
            now = place.content()
            if _arrays_changed(before, now):
                for k in reversed([k for k in now if k not in before]):
                    place.drop(k)
                for k, v in before.items():
                    if now.get(k, _ABSENT) is not v:
                        place.put(k, v)


def apply(effects: Sequence[Effect], places: Sequence[Place], outs: Sequence[Node]) -> None:
    """Write the outputs of a call to their places, as they were found before it."""
    for e in effects:
        place = places[e.place]
        content = place.content()
        for k, shape in e.shapes.items():
            if not (isinstance(shape, Slot) and shape.output == -1):
                place.put(k, fill(content.get(k), shape, outs, anew=True))
        for k in reversed(e.gone):
            place.drop(k)


def _arrays_changed(before: dict[Any, Any], now: dict[Any, Any]) -> bool:
    """Whether values that were not there hold arrays, or values that are there no more."""
    return any(before.get(k, _ABSENT) is not v and (holds_array(v) or holds_array(before.get(k)))
               for k, v in now.items()) or any(
        k not in now and holds_array(v) for k, v in before.items())


def _containers(x: Any, into: set[int]) -> None:
    if isinstance(x, dict):
        into.add(id(x))
        for v in x.values():
            _containers(v, into)
    elif isinstance(x, (list, tuple)):
        into.add(id(x))
        for v in x:
            _containers(v, into)
    elif (own := attributes(x)) is not None:
        into.add(id(own))
        for v in own.values():
            _containers(v, into)
