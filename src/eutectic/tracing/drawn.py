"""What a trace uses up outside of arrays: iterators, and the generators of `random` and NumPy.

They give another value at each plain call. A trace takes one, which is a constant of it, so that
is noticed and said: by comparing states from before and after the trace, and, for what is written
in Python, by watching whether it runs. Only what the function reaches is looked at.
"""

from __future__ import annotations

import dis
import gc
import importlib
import itertools
import random
import re
import sys
import types
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_DEPTH = 8
"""Iterators inside of iterators that are looked into."""
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")


@dataclass(frozen=True, slots=True)
class Source:
    """An iterator or a random generator that a function reaches."""

    it: Any
    register: int
    """Where the walk that found it has it."""
    code: types.CodeType | None
    """Of the function that names it."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A source that a trace has drawn from, and where."""

    name: str
    is_random: bool
    place: str
    """File and line; empty where they are not known."""

    def __str__(self) -> str:
        what = "draws from" if self.is_random else "advances"
        return f"{what} {self.name}" + (f" ({self.place})" if self.place else "")


def source_of(x: Any, names: Sequence[str], library: bool) -> Any:
    """The iterator or generator that `x` is or stands for in a function that uses `names`; or None.

    An iterator of a class of the user's, not of a `library`, is looked into like any object.
    """
    if isinstance(x, types.BuiltinFunctionType):  # from random import random
        x = x.__self__
        return x if _is_random(x) else None
    if isinstance(x, types.ModuleType):
        if x.__name__ == "numpy.random" or (x.__name__ == "numpy" and "random" in names):
            importlib.import_module("numpy.random")  # NumPy loads it when it is first used
            return _shared()[1]
        return _shared()[0] if x is random else None
    return x if _is_random(x) or (library and isinstance(x, Iterator)) else None


@contextmanager
def watched(sources: Sequence[Source], drawn: list[Source]) -> Iterator[None]:
    """Add to `drawn` the sources that are drawn from inside."""
    before = [_state(s.it) for s in sources]
    frames = {s.it.gi_frame: i for i, s in enumerate(sources)
              if isinstance(s.it, types.GeneratorType) and s.it.gi_frame is not None}
    steps = {code: i for i, s in enumerate(sources)
             if (code := getattr(getattr(type(s.it), "__next__", None), "__code__", None))}
    ran: set[int] = set()
    outer: Any = sys.getprofile()

    def watch(frame: types.FrameType, event: str, arg: Any) -> None:
        if event == "call":
            if frame in frames:
                ran.add(frames[frame])
            elif frame.f_code in steps:
                mine = frame.f_locals.get(frame.f_code.co_varnames[0])
                ran.update([i for i, s in enumerate(sources) if s.it is mine])
        if callable(outer):
            outer(frame, event, arg)

    if frames or steps:
        sys.setprofile(watch)
    try:
        yield
    finally:
        if frames or steps:
            restore_profile(outer)
    drawn += [s for i, s in enumerate(sources) if i in ran or _state(s.it) != before[i]]


def restore_profile(before: Any) -> None:
    """Set the profile function that `sys.getprofile` gave."""
    if before is None or callable(before):
        sys.setprofile(before)
    else:  # a profiler of Python's own, which puts itself there
        before.enable()


def drawn_from(sources: Sequence[Source], names: Any) -> tuple[Drawn, ...]:
    """The sources by their names and lines, each once; `names` are those of what is reached."""
    found = {id(s.it): Drawn(_kind(s.it), _is_random(s.it), "") for s in sources}
    for s in names.sources:
        if id(s.it) in found and not found[id(s.it)].place:
            known = _kind(s.it)
            name = known if any(s.it is x for x in _shared()) else names.way(s.register) or known
            found[id(s.it)] = Drawn(name, _is_random(s.it), _place(s.code, name))
    return tuple(found.values())


def _shared() -> tuple[Any, ...]:
    """The generators behind the functions of `random` and `numpy.random`."""
    loaded = sys.modules.get("numpy.random")
    own = random.getstate.__self__  # type: ignore[attr-defined]
    return (own,) if loaded is None else (own, loaded.get_state.__self__)


def _kind(x: Any) -> str:
    """What to call a source that is not named in what is reached."""
    if not _is_random(x):
        return f"a {type(x).__name__}"
    return "np.random" if type(x).__module__.startswith("numpy") else "random"


def _place(code: types.CodeType | None, name: str) -> str:
    """The line of a function that names a source."""
    word = re.findall(r"\w+", name)[-1]
    alone = name == word
    if code is None or code.co_filename == random.__file__:
        return ""
    for op, value, line in _instructions(code):
        if value == word and op.startswith("LOAD") and not (alone and op in _ATTRIBUTES):
            return f"{code.co_filename}:{line}"
    return ""


def _instructions(code: types.CodeType) -> Iterator[tuple[str, Any, int]]:
    """(operation, operand, line) of each, those of functions defined inside included."""
    line = code.co_firstlineno
    starts = dict(dis.findlinestarts(code))
    for i in dis.get_instructions(code):
        line = starts.get(i.offset) or line
        yield i.opname, i.argval, line
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from _instructions(c)


def _is_random(x: Any) -> bool:
    return isinstance(x, _random_types())


def _random_types() -> tuple[type, ...]:
    loaded = sys.modules.get("numpy.random")
    if loaded is None:
        return (random.Random,)
    return random.Random, loaded.Generator, loaded.RandomState, loaded.BitGenerator


def _state(x: Any) -> Any:
    """What is another after drawing; None where it cannot be told."""
    if isinstance(x, random.Random):
        try:
            return x.getstate()
        except NotImplementedError:  # the system's
            return None
    if _is_random(x):
        if hasattr(x, "get_state"):
            return _frozen(x.get_state(legacy=False))
        return _frozen(getattr(x, "bit_generator", x).state)
    return _position(x, 0)


def _frozen(state: Any) -> Any:
    if isinstance(state, dict):
        return tuple([(k, _frozen(v)) for k, v in state.items()])
    return state.tobytes() if hasattr(state, "tobytes") else state


def _position(x: Any, depth: int) -> Any:
    """How far an iterator, and what it iterates over, has come."""
    if isinstance(x, tuple):
        return tuple([_position(v, depth + 1) for v in x]) if depth < _DEPTH else None
    if isinstance(x, list):
        return len(x)
    if isinstance(x, (int, float, str)):
        return x
    if not isinstance(x, Iterator) or isinstance(x, types.GeneratorType) or depth >= _DEPTH:
        return None
    inner = [_position(r, depth + 1) for r in gc.get_referents(x)
             if isinstance(r, Iterator)]
    return _own_position(x, depth), inner


def _own_position(x: Any, depth: int) -> Any:
    if isinstance(x, itertools.count):
        return repr(x)
    try:
        if hasattr(x, "__length_hint__"):
            return x.__length_hint__()
        if type(x).__module__ in ("builtins", "itertools"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                return _position(x.__reduce__()[1:], depth + 1)
    except (TypeError, AttributeError):  # endless, or it does not tell
        pass
    return None
