"""Names for what a function reads: parameters with the way inside them, and its surroundings.

Only made where a message needs them: when a function is traced again.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from eutectic.runtime.call_record import Op
from eutectic.tree import flatten, paths


def argument_paths(parameters: inspect.Signature | None, args: tuple[Any, ...],
                   kwargs: dict[str, Any]) -> list[str]:
    """The name of each leaf of a call's arguments: `x`, `params['w'][0]`, `rest[1]`.

    >>> def step(params, *rest, scale=1.0): ...
    >>> argument_paths(inspect.signature(step), ({"w": [1, 2]}, 3), {"scale": 2.0})
    ["params['w'][0]", "params['w'][1]", 'rest[0]', 'scale']
    """
    named = list(zip(positional(parameters, len(args)), args)) + list(kwargs.items())
    return [name + way for name, x in named for way in paths(flatten(x)[1])]


def positional(parameters: inspect.Signature | None, count: int) -> list[str]:
    """Names of the first `count` positional arguments."""
    names: list[str] = []
    for p in parameters.parameters.values() if parameters is not None else ():
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            names.append(p.name)
        elif p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}[{i}]" for i in range(count - len(names))]
    return (names + [f"argument {i}" for i in range(len(names), count)])[:count]


def signature_of(fun: Callable[..., Any]) -> inspect.Signature | None:
    """Signature of a function, or None where Python cannot tell it.

    A function whose results are others than those of the function it was made of, a gradient say,
    does not name that in `__wrapped__` but in `_made_of`.
    """
    try:
        return inspect.signature(getattr(fun, "_made_of", fun))
    except (TypeError, ValueError):
        return None


class Surroundings:
    """Takes a guard's place in the walk over what a function reads, and notes the names.

    The walk writes an instruction for each place it looks at; here they are read as the way to it.
    """

    def __init__(self) -> None:
        self.arrays: list[str] = []
        """Names of the arrays, in the walk's order."""
        self.key: list[Any] = []
        """The walk's key in the making."""
        self.registers: dict[int, int] = {}
        self.partial = ""
        self.sources: list[Any] = []
        """Iterators and random generators, in the walk's order."""
        self._parts: list[tuple[int, str]] = []
        """(index of a part of the key, name), ascending."""
        self._ways: list[str] = []
        """The way to what a register holds; behind `self.` and the like, the namespace itself."""
        self._known: dict[int, str] = {}
        """Ways to the namespaces, cells and classes that the walk loads by themselves."""
        self._defaults: dict[int, tuple[str, ...]] = {}
        """Names of the parameters that tuples of defaults are for."""

    def part(self, index: int) -> str:
        """Name of what a part of the key tells of."""
        for at, name in self._parts:
            if at >= index and name:
                return name
        return ""

    def way(self, r: int) -> str:
        """The way to what a register holds."""
        return self._ways[r].rstrip(".")

    # -- what the walk calls ----------------------------------------------------------------------

    def register(self, way: str = "") -> int:
        self._ways.append(way)
        return len(self._ways) - 1

    def load(self, x: Any) -> int:
        way = self._known.get(id(x))
        return self.register(x.__name__ if way is None and isinstance(x, type) else way or "")

    def emit(self, op: Op, r: int, *operands: Any) -> None:
        if op is Op.METHOD:
            self._ways[operands[0]] = "self"
        elif op is Op.CELL:
            self._ways[r] = self._known.get(id(operands[0]), "")
        elif op is Op.ATTRIBUTES:
            self._ways[r] = (self._ways[operands[0]] or "self") + "."
        elif op is Op.MEMBER:
            self._ways[r] = f"{self._ways[operands[0]]}.{operands[1]}"
        else:
            self._note(r)

    def is_(self, r: int, x: Any) -> None:
        self._note(r)
        if isinstance(x, types.FunctionType):
            for name, cell in zip(x.__code__.co_freevars, x.__closure__ or ()):
                self._known[id(cell)] = name
            if x.__defaults__:
                names = x.__code__.co_varnames[:x.__code__.co_argcount]
                self._defaults[id(x.__defaults__)] = names[-len(x.__defaults__):]
            if x.__kwdefaults__:
                self._defaults[id(x.__kwdefaults__)] = tuple(x.__kwdefaults__)
        elif isinstance(x, functools.partial):
            self._known[id(x.args)] = "args"
            self._defaults[id(x.keywords)] = tuple(x.keywords)
        elif isinstance(x, types.ModuleType):
            self._known[id(x.__dict__)] = self._ways[r] + "."
        elif isinstance(x, type):
            self._known.setdefault(id(x), self._ways[r])

    def constant(self, r: int, x: Any) -> None:
        self._note(r)

    def array(self, r: int, x: Any) -> None:
        self.arrays.append(self._ways[r])

    def name(self, r: int, key: str, present: bool) -> int:
        return self.register(self._ways[r] + key)

    def namespace(self, kind: type) -> int:
        return self.register(f"{self._known.get(id(kind)) or kind.__name__}.")

    def sequence(self, r: int, x: Any, t: type) -> list[int]:
        self._note(r)
        if id(x) in self._defaults:
            return [self.register(name) for name in self._defaults[id(x)]]
        names = getattr(t, "_fields", None)
        return [self.register(self._ways[r] + (f".{names[i]}" if names else f"[{i}]"))
                for i in range(len(x))]

    def dict(self, r: int, x: dict[Any, Any], t: type | None) -> list[int]:
        self._note(r)
        if id(x) in self._defaults:
            return [self.register(name) for name in self._defaults[id(x)]]
        way = self._ways[r]
        if t is not None and hasattr(t, "__getattr__"):  # a module's arrays are its attributes
            way = f"{way or 'self'}."
        return [self.register(f"{way}{k}" if way.endswith(".") else f"{way}[{k!r}]") for k in x]

    def set(self, r: int, x: Any) -> None:
        self._note(r)

    def give_up(self, why: str, r: int = -1) -> None:
        if r >= 0:
            self._note(r)

    def _note(self, r: int) -> None:
        self._parts.append((len(self.key) - 1, self._ways[r].rstrip(".")))
