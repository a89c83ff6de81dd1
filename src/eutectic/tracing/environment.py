"""What a function reads outside its arguments: closure cells, globals, defaults, and `self`.

Arrays found there become inputs that are read again at each call; numbers, strings and the like
become a part of the call's key, so rebinding one traces anew instead of giving a stale result.
Functions and instances of the user's own classes are followed; modules and libraries are not.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from eutectic.array import array
from eutectic.dtype import Dtype

_MAX_OBJECTS = 20_000
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None))
_PACKAGE = __name__.split(".")[0]
_STDLIB = getattr(sys, "stdlib_module_names", frozenset())


class Environment:
    """The places a function reads; `read` gives their arrays and the key of everything else."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun
        self.trivial = False
        arrays, key = self.read()
        # Most functions read nothing but library names: then a call need not look again, except
        # at the names themselves, which `read` would find changed.
        self.places = self._places
        self.trivial = not arrays and not key

    def read(self) -> tuple[list[array], tuple[Any, ...]]:
        """Arrays reachable now, in a fixed order, and a hashable key of the rest."""
        walk = _Walk()
        walk.callable(self.fun)
        self._places = walk.count
        return walk.arrays, tuple(walk.key)


class _Walk:
    def __init__(self) -> None:
        self.arrays: list[array] = []
        self.key: list[Any] = []
        self.seen: dict[int, int] = {}
        self.count = 0

    def callable(self, f: Any) -> None:
        while True:
            if isinstance(f, types.MethodType):
                self.value(f.__self__)
                f = f.__func__
            elif hasattr(f, "func") and hasattr(f, "args") and hasattr(f, "keywords"):
                self.value((f.args, f.keywords))
                f = f.func
            else:
                break
        if isinstance(f, types.FunctionType):
            self.function(f)
        elif not isinstance(f, (types.BuiltinFunctionType, type)):
            self.instance(f)

    def function(self, f: types.FunctionType) -> None:
        if id(f) in self.seen:
            return
        self.seen[id(f)] = self.count
        self.count += 1
        if _library(f.__module__):
            return
        wrapped = f.__dict__.get("__wrapped__")
        if wrapped is not None:
            self.callable(wrapped)
        for cell in f.__closure__ or ():
            try:
                self.value(cell.cell_contents)
            except ValueError:  # an empty cell: the name is not bound yet
                self.key.append("unbound")
        for d in f.__defaults__ or ():
            self.value(d)
        for d in (f.__kwdefaults__ or {}).values():
            self.value(d)
        names = f.__globals__
        for name in _global_names(f.__code__):
            if name in names:
                self.value(names[name])

    def value(self, x: Any) -> None:
        t = type(x)
        if t is array:
            at = self.seen.get(id(x))
            if at is None:
                self.seen[id(x)] = len(self.arrays)
                self.arrays.append(x)
            else:
                self.key.append(("again", at))
        elif t in _CONSTANTS:
            self.key.append((t, _float_key(x)))
        elif t is types.FunctionType:
            if not _library(x.__module__):
                self.key.append(_Is(x.__code__))
                self.function(x)
        elif isinstance(x, types.MethodType):
            self.callable(x)
        elif isinstance(x, (types.ModuleType, types.BuiltinFunctionType, type, Dtype)):
            self.key.append(_Is(x)) if not isinstance(x, types.ModuleType) else None
        elif id(x) in self.seen:
            self.key.append(("again", self.seen[id(x)]))
        elif self.count < _MAX_OBJECTS:
            self.seen[id(x)] = self.count
            self.count += 1
            self.contents(x, t)

    def contents(self, x: Any, t: type) -> None:
        if isinstance(x, dict):
            self.key.append((t, len(x)))
            for k, v in x.items():
                self.key.append(k if isinstance(k, (str, int)) else _Is(k))
                self.value(v)
            if t is not dict:
                self.attributes(x)
        elif isinstance(x, (list, tuple)):
            self.key.append((t, len(x)))
            for v in x:
                self.value(v)
        elif isinstance(x, np.ndarray):
            self.key.append((x.dtype.str, x.shape, x.tobytes() if x.size <= 4096 else _Is(x)))
        elif isinstance(x, np.generic):
            self.key.append((t, x.item() if x.dtype.kind != "V" else _Is(x)))
        elif callable(x) and hasattr(x, "__wrapped__"):
            self.callable(x.__wrapped__)
        else:
            self.instance(x)

    def instance(self, x: Any) -> None:
        if _library(type(x).__module__):
            return
        self.attributes(x)

    def attributes(self, x: Any) -> None:
        found = getattr(x, "__dict__", None)
        if isinstance(found, dict):
            self.key.append((type(x), len(found)))
            for k, v in found.items():
                self.key.append(k)
                self.value(v)


class _Is:
    """A key part that is equal only for the same living object."""

    __slots__ = ("it",)

    def __init__(self, it: Any) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Is) and other.it is self.it

    def __hash__(self) -> int:
        return id(self.it)


def _float_key(x: Any) -> Any:
    """Tell -0.0 from 0.0 and let nan equal itself."""
    if type(x) is float:
        return x.hex() if x == x else "nan"
    if type(x) is complex:
        return (_float_key(x.real), _float_key(x.imag))
    return x


def constant_key(x: Any) -> Any:
    """Key of a constant: its type and value, with True, 1 and 1.0 distinct."""
    return (type(x), _float_key(x))


def _library(module: str | None) -> bool:
    if not module:
        return False
    root = module.split(".")[0]
    if root == _PACKAGE or (root in _STDLIB and root != "__main__"):
        return True
    found = sys.modules.get(root)
    path = getattr(found, "__file__", None) or ""
    return "site-packages" in path or "dist-packages" in path


def _global_names(code: types.CodeType) -> list[str]:
    """Names that the code, and functions defined inside it, may read from the globals."""
    names = list(code.co_names)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            names += _global_names(c)
    return names
