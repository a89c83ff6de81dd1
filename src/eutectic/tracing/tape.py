"""Replaying a trace at other shapes, without the function's Python: `shapeless=True`.

While the function is traced, each call it makes of an operation is put on a tape: the operation,
its arguments, its results. At another shape the calls are made again, so that every operation
follows its own rules for the new shapes. Results that are no arrays (a length, a shape) must be
what they were, because Python may have done anything with them; where they are not, and where an
operation raises, the function is traced again. So a replay is what the function would have done,
or it does not happen, and the reason is recorded.
"""

from __future__ import annotations

import contextlib
import gc
import dis
import functools
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from eutectic.array import array
from eutectic.dtype import Dtype
from eutectic.tracing.drawn import restore_profile
from eutectic.tracing.libraries import is_ours, is_standard
from eutectic.tracing.state import IMPLICIT
from eutectic.tree import flatten

_PACKAGE = __file__.rsplit("tracing", 1)[0]
_TRANSPARENT = frozenset(("tracing", "tree.py", "nn", "optimizers", "utils", "compat"))
"""Parts whose functions are looked into like the user's: they are made of operations."""
_VALUES = (bool, int, float, complex, str, bytes, type(None), type(...), Dtype, np.generic)
_RETURNS = frozenset(dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST")
                     if name in dis.opmap)
_VARARGS, _VARKEYWORDS, _GENERATOR = 0x04, 0x08, 0x20


class CannotReplay(Exception):
    """A tape does not hold for other shapes; the message says why."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """The object at a place among those a trace knows."""

    place: int


@dataclass(frozen=True, slots=True)
class _New:
    """A new object of this type, put at the end of those a trace knows."""

    kind: type


@dataclass(frozen=True, slots=True)
class _Is:
    """Something that does not depend on shapes."""

    it: Any


@dataclass(frozen=True, slots=True)
class _Items:
    """A container: its type, the keys of a dict, its items."""

    kind: type
    keys: tuple[Any, ...] | None
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Done:
    """One call on the tape."""

    fun: Any
    args: Any
    kwargs: Any
    result: Any
    where: str


@dataclass(frozen=True, slots=True)
class _Implicit:
    """The array at a place in the random state, after the calls."""

    place: int


class Tape:
    """The calls that a function made of operations."""

    def __init__(self) -> None:
        self.calls: list[_Done] = []
        self.why = ""
        """Why they cannot be made again; empty where they can."""
        self.roots: list[Any] = []
        """What the outputs of the trace are."""
        self.untouched: list[bool] = []
        """Which arrays of the random state it left alone."""

    def replay(self, known: Sequence[array]) -> list[array]:
        """Make the calls for other arguments and captured arrays; the arrays that are outputs.

        Raises CannotReplay.
        """
        objects: list[Any] = list(known)
        for c in self.calls:
            try:
                result = c.fun(*_decode(c.args, objects), **_decode(c.kwargs, objects))
            except Exception as error:
                raise CannotReplay(f"{c.where}: {error}") from error
            _match(c, c.result, result, objects)
        implicit = flatten(IMPLICIT)[0]
        return [implicit[r.place] if type(r) is _Implicit else _decode(r, objects)
                for r in self.roots]


class TapeRecorder:
    """Makes a tape of the operations that a thread calls."""

    def __init__(self) -> None:
        self.tape = Tape()
        self._objects: list[Any] = []
        self._places: dict[int, int] = {}
        self._frame: types.FrameType | None = None
        """The operation that is running."""
        self._begun: tuple[Any, Any, Any, str] | None = None
        self._self: Any = None

    @contextlib.contextmanager
    def recording(self, known: Sequence[array]) -> Iterator[None]:
        """A context in which this thread's calls are recorded; `known` arrays are given."""
        self._objects += known
        self._places |= {id(x): i for i, x in enumerate(known)}
        before: Any = sys.getprofile()
        collects = gc.isenabled()
        gc.disable()  # what a collection calls is no part of an operation
        sys.setprofile(self._event)
        try:
            yield
        finally:
            restore_profile(before)
            self._frame = None
            if collects:
                gc.enable()

    def finish(self, roots: Sequence[array], untouched: list[bool]) -> None:
        """The trace is done and has these outputs."""
        self.tape.untouched = untouched
        implicit = {id(x): i for i, x in enumerate(flatten(IMPLICIT)[0])}
        for a in roots:
            if id(a) in implicit and id(a) not in self._places:
                self.tape.roots.append(_Implicit(implicit[id(a)]))
            else:
                self.tape.roots.append(self._encode(a, "the result"))
        self._objects.clear()
        self._places.clear()

    def _give_up(self, why: str) -> None:
        self.tape.why = self.tape.why or why

    def _event(self, frame: types.FrameType, event: str, arg: Any) -> None:
        if event == "call":
            if self._frame is not None:
                name = frame.f_globals.get("__name__")
                if not is_ours(name) and not is_standard(name) and not self.tape.why:
                    self._give_up(f"{self._frame.f_code.co_name} calls "
                                  f"{frame.f_code.co_name}, which is not an operation")
            elif is_operation(frame.f_code.co_filename) and not self.tape.why:
                self._begin(frame)
        elif event == "return" and frame is self._frame:
            self._end(frame, arg)

    def _begin(self, frame: types.FrameType) -> None:
        code, local = frame.f_code, frame.f_locals
        user = frame.f_back
        name: Any = local.get("op_name") or getattr(local.get("api"), "__name__", code.co_name)
        where = str(name) if user is None else (
            f"{name} ({PurePath(user.f_code.co_filename).name}, line {user.f_lineno})")
        self._frame = frame
        n, m = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
        args = [local[k] for k in code.co_varnames[:n]]
        kwargs = {k: local[k] for k in code.co_varnames[n:m]}
        if code.co_flags & _VARARGS:
            args += local[code.co_varnames[m]]
            m += 1
        if code.co_flags & _VARKEYWORDS:
            kwargs |= local[code.co_varnames[m]]
        self._self = None
        if code is array.__init__.__code__:
            fun: Any = type(args[0])
            self._self, args = args[0], args[1:]
        else:
            cells = tuple([types.CellType(local[k]) for k in code.co_freevars])
            fun = types.FunctionType(code, frame.f_globals, code.co_name, None, cells)
        if code.co_flags & _GENERATOR:
            self._give_up(f"{where} is a generator")
        self._begun = (fun, self._encode(args, where), self._encode(kwargs, where), where)

    def _end(self, frame: types.FrameType, result: Any) -> None:
        assert self._begun is not None
        fun, args, kwargs, where = self._begun
        self._frame = self._begun = None
        if frame.f_code.co_code[frame.f_lasti] not in _RETURNS:
            self._give_up(f"{where} raises")
        elif not self.tape.why:
            result = result if self._self is None else self._self
            self.tape.calls.append(_Done(fun, args, kwargs, self._describe(result, where), where))

    def _encode(self, x: Any, where: str) -> Any:
        """An argument, with known objects by their places."""
        t = type(x)
        place = self._places.get(id(x))
        if place is not None:
            return _Slot(place)
        if t in (list, tuple):
            return _Items(t, None, tuple([self._encode(v, where) for v in x]))
        if t is dict:
            return _Items(t, tuple(x), tuple([self._encode(v, where) for v in x.values()]))
        if t is slice:
            parts = (x.start, x.stop, x.step)
            return _Items(t, None, tuple([self._encode(v, where) for v in parts]))
        if isinstance(x, array):
            if x._n.trace is None and x._n.data is not None:
                return _Is(x)
            self._give_up(f"{where} takes an array of unknown origin")
        elif isinstance(x, np.ndarray):
            return _Is(x.copy())
        elif not (isinstance(x, (*_VALUES, type, types.FunctionType, types.MethodType))
                  or is_ours(t.__module__)):
            self._give_up(f"{where} takes a {t.__name__}")
        return _Is(x)

    def _describe(self, x: Any, where: str) -> Any:
        """A result; objects that are new become known."""
        t = type(x)
        place = self._places.get(id(x))
        if place is not None:
            return _Slot(place)
        if t in (list, tuple):
            return _Items(t, None, tuple([self._describe(v, where) for v in x]))
        if t is dict:
            return _Items(t, tuple(x), tuple([self._describe(v, where) for v in x.values()]))
        if isinstance(x, _VALUES):
            return _Is(x)
        if not is_ours(t.__module__):
            self._give_up(f"{where} gives a {t.__name__}")
        self._places[id(x)] = len(self._objects)
        self._objects.append(x)
        return _New(t)


@functools.lru_cache(1024)
def is_operation(filename: str) -> bool:
    """Whether a file of this package holds operations rather than code made of them."""
    return (filename.startswith(_PACKAGE)
            and PurePath(filename[len(_PACKAGE):]).parts[0] not in _TRANSPARENT)


def _decode(spec: Any, objects: list[Any]) -> Any:
    if type(spec) is _Slot:
        return objects[spec.place]
    if type(spec) is _Is:
        return spec.it
    items = [_decode(s, objects) for s in spec.items]
    if spec.keys is not None:
        return dict(zip(spec.keys, items))
    return slice(*items) if spec.kind is slice else spec.kind(items)


def _match(call: _Done, spec: Any, result: Any, objects: list[Any]) -> None:
    """Compare a result with the one of the trace; raises CannotReplay where they differ."""
    if type(spec) is _New:
        if type(result) is spec.kind:
            objects.append(result)
            return
    elif type(spec) is _Slot:
        if result is objects[spec.place]:
            return
    elif type(spec) is _Is:
        if type(result) is type(spec.it) and bool(result == spec.it):
            return
        raise CannotReplay(f"{call.where} gives {result} instead of {spec.it}")
    elif type(result) is spec.kind and len(result) == len(spec.items) and (
            spec.keys is None or tuple(result) == spec.keys):
        for s, x in zip(spec.items, result.values() if spec.keys is not None else result):
            _match(call, s, x, objects)
        return
    raise CannotReplay(f"{call.where} gives another kind of result")
