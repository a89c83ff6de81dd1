"""Python numbers whose values come with each call of a compiled function.

While such a function is traced, a `Number` stands for an int or a float among its arguments. What
Python computes from it is recorded and computed again by each call, with Python's own arithmetic;
where it meets an array it becomes a constant whose bit pattern is given at each call. Python that
needs the value itself (a comparison, a length, an index, text) cannot be traced in this way: it
raises `Specialised`, and the argument stays a constant of the trace.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from eutectic.dtype import Dtype
from eutectic.graph.ir import CONST, Node


class Specialised(BaseException):
    """A trace needs the value of a number that was to come with each call.

    Not an Exception, so that functions do not catch it; `Numbers.needed` keeps it anyway.
    """


@dataclass(frozen=True, slots=True)
class _Step:
    """Python's arithmetic on numbers: what is computed again at each call."""

    fun: Callable[..., Any]
    operands: tuple[tuple[bool, Any], ...]
    """(True, place of a number) or (False, constant)."""
    kind: type
    """Type of the result in the trace."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A constant of the graph that is given at each call: the number at a place, as a node."""

    make: Callable[[str, Any, Any], Node]
    name: str
    place: int
    other: Any
    node: Node
    among: frozenset[int]


class Numbers:
    """The numbers of one trace."""

    def __init__(self, kinds: Sequence[type]) -> None:
        self.kinds = tuple(kinds)
        self.recording = True
        """False once the trace has ended: numbers that outlive it are plain numbers."""
        self.needed: dict[int, str] = {}
        """Why an argument's value was needed, by its index among the values."""
        self.given: list[_Given] = []
        self._steps: list[_Step] = []
        self._nodes: dict[Any, Node] = {}
        self._made: list[weakref.ref[Number]] = []

    def arguments(self, values: Sequence[int | float]) -> list[Number]:
        """Numbers that stand for the values; made once, before any other."""
        return [Number(self, type(v), v, frozenset((i,))) for i, v in enumerate(values)]

    def place(self, x: Number) -> int:
        self._made.append(weakref.ref(x))
        return len(self._made) - 1

    def among(self, n: Node) -> frozenset[int]:
        """The values that a constant given at each call is computed from."""
        return self.given[-2 - n.attrs[0]].among

    def alive(self) -> list[Number]:
        """Numbers that are still held by someone."""
        return [x for x in [r() for r in self._made] if x is not None]

    def node(self, make: Callable[[str, Any, Any], Node], name: str, x: Number,
             other: Any) -> Node:
        """The constant that `make(name, value, other)` gives for the number's value."""
        key = (make, x.place, other)
        found = self._nodes.get(key)
        if found is None:
            like = make(name, x.value, other)
            found = self._nodes[key] = Node(CONST, (), (-2 - len(self.given),), (), like.dtype)
            found.trace = Unknown(x)
            self.given.append(_Given(make, name, x.place, other, found, x.among))
        return found

    def step(self, fun: Callable[..., Any], *operands: Any) -> Any:
        """The result of Python's arithmetic, recorded."""
        among = frozenset().union(*[x.among for x in operands if type(x) is Number])
        try:
            value = fun(*[x.value if type(x) is Number else x for x in operands])
        except Exception as error:
            self.need(among, str(error))
        if type(value) is not int and type(value) is not float:
            self.need(among, f"{fun.__name__} gives a {type(value).__name__}")
        self._steps.append(_Step(fun, tuple([
            (True, x.place) if type(x) is Number else (False, x) for x in operands]), type(value)))
        return Number(self, type(value), value, among)

    def need(self, among: frozenset[int], why: str) -> NoReturn:
        for i in among:
            self.needed.setdefault(i, why)
        raise Specialised(why)

    def patterns(self, values: Sequence[int | float]) -> list[int] | None:
        """Bit patterns of the given constants for other values.

        None where types differ from the trace's: then the trace does not hold. Raises what the
        plain function raises where a number does not fit its dtype.
        """
        found: list[Any] = list(values)
        for s in self._steps:
            value = s.fun(*[found[x] if placed else x for placed, x in s.operands])
            if type(value) is not s.kind:
                return None
            found.append(value)
        patterns: list[int] = []
        for g in self.given:
            n = g.make(g.name, found[g.place], g.other)
            if n.dtype is not g.node.dtype:
                return None
            patterns.append(n.attrs[0])
        return patterns

    def converted(self) -> list[tuple[int, type, Dtype]] | None:
        """(argument, its type, dtype) of each given constant; None where Python computes some."""
        if self._steps:
            return None
        return [(g.place, self.kinds[g.place], g.node.dtype) for g in self.given]


class Unknown:
    """The `trace` of a constant that is given at each call, and of what is computed from it."""

    __slots__ = ("_among", "_numbers")

    def __init__(self, x: Number) -> None:
        self._numbers = x._numbers
        self._among = x.among

    def need(self, what: str) -> None:
        if self._numbers.recording:
            self._numbers.need(self._among, f"{what} needs its value")


def need_value(n: Node, what: str) -> None:
    """Say that a node's value is asked for; raises Specialised if a number's value decides it."""
    if type(n.trace) is Unknown:
        n.trace.need(what)


class Number:
    """Stands for an int or a float of which a trace does not know the value."""

    __slots__ = ("__weakref__", "_numbers", "among", "kind", "place", "value")

    def __init__(self, numbers: Numbers, kind: type, value: Any, among: frozenset[int]) -> None:
        self._numbers = numbers
        self.kind = kind
        self.value = value
        self.among = among
        """The arguments that it is computed from."""
        self.place = numbers.place(self)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """For `isinstance`."""
        return self.kind

    def node(self, make: Callable[[str, Any, Any], Node], name: str, other: Any) -> Node:
        """The constant that it is beside arrays; `make(name, number, other)` makes one."""
        if not self._numbers.recording:
            return make(name, self.value, other)
        return self._numbers.node(make, name, self, other)

    def need(self, what: str) -> Any:
        """The value, for Python that cannot do without."""
        if self._numbers.recording:
            self._numbers.need(self.among, f"{what} needs its value")
        return self.value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.need(f".{name}"), name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.need("pickle").__reduce_ex__(protocol)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy as np
        return np.asarray(self.need("NumPy"), dtype)


def _arithmetic(name: str, reflected: bool) -> Callable[[Any, Any], Any]:
    fun = getattr(operator, name)

    def method(self: Number, other: Any) -> Any:
        numbers = self._numbers
        if not numbers.recording:
            other = other.value if type(other) is Number else other
            return fun(other, self.value) if reflected else fun(self.value, other)
        if type(other) in (bool, int, float, Number):
            return numbers.step(fun, other, self) if reflected else numbers.step(fun, self, other)
        if hasattr(other, "_n"):
            return NotImplemented  # an array's own operator takes the number
        return numbers.need(self.among, f"{name} with a {type(other).__name__} needs its value")

    return method


def _unary(name: str) -> Callable[[Any], Any]:
    fun = getattr(operator, name)

    def method(self: Number) -> Any:
        numbers = self._numbers
        return numbers.step(fun, self) if numbers.recording else fun(self.value)

    return method


def _of_value(name: str) -> Callable[..., Any]:
    """A method that needs the value."""
    def method(self: Number, *others: Any) -> Any:
        value = self.need(name)
        return getattr(value, name)(*[x.value if type(x) is Number else x for x in others])

    return method


_UNARY = {"neg": "__neg__", "pos": "__pos__", "abs": "__abs__", "invert": "__invert__"}
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_",
           "or_", "xor")
_NEED_VALUE = ("bool", "int", "float", "index", "complex", "hash", "repr", "str", "format", "eq",
               "ne", "lt", "le", "gt", "ge", "round", "trunc", "floor", "ceil", "divmod",
               "rdivmod")

for _name in _BINARY:
    setattr(Number, f"__{_name.rstrip('_')}__", _arithmetic(_name, False))
    setattr(Number, f"__r{_name.rstrip('_')}__", _arithmetic(_name, True))
for _name, _dunder in _UNARY.items():
    setattr(Number, _dunder, _unary(_name))
for _name in _NEED_VALUE:
    setattr(Number, f"__{_name}__", _of_value(f"__{_name}__"))
