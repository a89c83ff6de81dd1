"""Arrays that a function writes to what it reads: closures, globals, and containers on `self`.

Nothing of that is declared. A trace that puts new arrays there leaves placeholders, so the places
are put back as they were, and each call writes the outputs there, as the plain function would.
Changes without arrays (a counter, a log) happen once a trace and stay.
"""

from __future__ import annotations

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
    list, or a closure cell (`names` empty)."""

    holder: Any
    names: tuple[str, ...] | None = None

    def content(self) -> dict[Any, Any]:
        """Values by key, index, or 0 of a cell."""
        h = self.holder
        if isinstance(h, dict):
            return dict(h) if self.names is None else {
                k: h[k] for k in self.names if k in h}
        if isinstance(h, list):
            return dict(enumerate(h))
        try:
            return {0: h.cell_contents}
        except ValueError:
            return {}

    def put(self, key: Any, value: Any) -> None:
        h = self.holder
        if isinstance(h, dict):
            dict.__setitem__(h, key, value)
        elif isinstance(h, list):
            h.append(value) if key >= len(h) else h.__setitem__(key, value)
        else:
            h.cell_contents = value

    def drop(self, key: Any) -> None:
        h = self.holder
        if isinstance(h, dict):
            dict.pop(h, key, None)
        elif isinstance(h, list):
            del h[key:]
        else:
            del h.cell_contents


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call writes to a place: templates by key, in order, and keys that go away."""

    place: Place
    shapes: dict[Any, Any]
    gone: tuple[Any, ...]


class Effects:
    """The places of one trace as they were before it."""

    def __init__(self, places: Sequence[Place], declared: Sequence[Any]) -> None:
        known: set[int] = set()
        for tree in declared:
            _containers(tree, known)
        self._before = [(p, p.content()) for p in places if id(p.holder) not in known]

    def collect(self, index_of: Callable[[array, bool], int | None]) -> list[Effect]:
        """The effects of the trace that has run; `index_of` numbers outputs (see `template`)."""
        found = []
        for place, before in self._before:
            now = place.content()
            if not _new_arrays(before, now):
                continue
            shapes: dict[Any, Any] = {}
            for k, v in now.items():
                if before.get(k, _ABSENT) is v:
                    # It stands there already; where it has changed itself, it is a place too.
                    shapes[k] = Slot(-1)
                else:
                    shapes[k] = template(v, before.get(k), index_of)
            found.append(Effect(place, shapes, tuple([k for k in before if k not in now])))
        return found

    def written(self) -> list[array]:
        """The arrays that the trace put there."""
        found = []
        for place, before in self._before:
            for k, v in place.content().items():
                if before.get(k, _ABSENT) is not v and holds_array(v):
                    found += [x for x in flatten(v)[0] if isinstance(x, array)]
        return found

    def restore(self) -> None:
        """Put back the places to which the trace wrote arrays."""
        for place, before in self._before:
            now = place.content()
            if _new_arrays(before, now):
                for k in reversed([k for k in now if k not in before]):
                    place.drop(k)
                for k, v in before.items():
                    if now.get(k, _ABSENT) is not v:
                        place.put(k, v)


def apply(effects: Sequence[Effect], outs: Sequence[Node]) -> None:
    """Write the outputs of a call to their places."""
    for e in effects:
        content = e.place.content()
        for k, shape in e.shapes.items():
            if not (isinstance(shape, Slot) and shape.output == -1):
                e.place.put(k, fill(content.get(k), shape, outs, anew=True))
        for k in reversed(e.gone):
            e.place.drop(k)


def _new_arrays(before: dict[Any, Any], now: dict[Any, Any]) -> bool:
    """Whether values that were not there hold arrays."""
    return any(before.get(k, _ABSENT) is not v and holds_array(v) for k, v in now.items())


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
