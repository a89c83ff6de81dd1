"""Why a compiled function was traced: what is new in a call's key, and what that is called."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from eutectic.dtype import Dtype
from eutectic.errors import show_shape
from eutectic.tracing.entry import Call
from eutectic.tracing.environment import Same
from eutectic.tracing.keys import GIVEN, Reader
from eutectic.tracing.paths import argument_paths, positional, signature_of
from eutectic.tree import TreeDef, container_parts, first_difference, flatten, paths

# What the parts of a key are called, in their order (see `keys.Reader.read`).
_STRUCTURE, _CONSTANTS, _ARRAYS, _CAPTURED, _STATE, _THREADS, _ALIASES = range(7)
_APART = 1_000_000
"""Counts as that many differences: parts that cannot be compared one by one."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a function was traced. `str` of it is the whole reason as a sentence."""

    part: str
    """What differs from the nearest trace: 'first', 'dropped', 'structure', 'constant', 'shape',
    'dtype', 'layout', 'captured' (a constant that the function reads elsewhere), 'state' (one in
    `inputs=`), or 'threads'."""
    name: str = ""
    """Which argument or captured value, with the way inside it: `x`, `params['w'][0]`."""
    new: str = ""
    old: str = ""
    text: str = ""
    only: str = ""
    """'shape' where nothing but shapes differ, 'number' where it is one Python number."""

    notes: tuple[str, ...] = ()
    """What else there is to say about the trace: that a number is an input from now on or must be
    a constant, that it was made without Python or could not be."""

    def __str__(self) -> str:
        return self.text

    @property
    def whole(self) -> str:
        """The reason with its notes."""
        return "; ".join((self.text, *self.notes))

    def noted(self, *notes: str) -> Reason:
        """The same reason with more notes."""
        return replace(self, notes=(*self.notes, *notes))



FIRST = Reason("first", text="first call")


class Names:
    """Names of a call's arguments and of what the function reads; looked up when asked for."""

    def __init__(self, reader: Reader, call: Call) -> None:
        self.reader = reader
        self.call = call
        self._surroundings: Any = None

    @property
    def surroundings(self) -> Any:
        if self._surroundings is None:
            self._surroundings = self.reader.environment.names(self.call.objects)
        return self._surroundings

    def positional(self, count: int) -> list[str]:
        return positional(signature_of(self.reader.fun), count)

    def leaf(self, i: int) -> str:
        """The i-th leaf of the arguments."""
        call = self.call
        return argument_paths(signature_of(self.reader.fun), call.args, call.kwargs)[i]

    def array(self, k: int) -> str:
        """The k-th array: of the arguments, of the surroundings, of the state."""
        call = self.call
        if k < call.n_arguments:
            return self.leaf([i for i, c in enumerate(call.key[_CONSTANTS]) if c is None][k])
        k -= call.n_arguments
        if k < len(self.surroundings.arrays):
            return str(self.surroundings.arrays[k])
        own = [i for i, part in enumerate(call.key[_STATE][1]) if part is None]
        return self.state(own[k - len(self.surroundings.arrays)])

    def state(self, i: int) -> str:
        """The i-th leaf of the state."""
        given = [] if self.reader.inputs is None else [
            f"inputs{way}" for way in paths(flatten(self.reader.inputs)[1])]
        return given[i] if i < len(given) else "the random state"


def reason(call: Call, reader: Reader, known: Sequence[tuple[Any, ...]]) -> Reason:
    """Say what tells a call's key from the nearest of those already traced."""
    if not known:
        return FIRST
    key = call.key
    distance, nearest = min([(_distance(key, k), k) for k in reversed(known)],
                            key=lambda pair: pair[0])
    names = Names(reader, call)
    found = _first(key, nearest, names)
    more = distance - 1
    arrays = sum(a != b for a, b in zip(key[_ARRAYS], nearest[_ARRAYS]))
    shapes = sum(a[0] != b[0] and a[1] is b[1] for a, b in zip(key[_ARRAYS], nearest[_ARRAYS]))
    only = ""
    if found.part == "shape" and arrays == shapes and arrays == more + 1:
        only = "shape"
    elif found.part in ("constant", "captured", "state") and not more and _is_number(found.new):
        only = "number"
    text = found.text
    if 0 < more < _APART // 2:
        text += f", and {more} more {'differs' if more == 1 else 'differ'}"
    return Reason(found.part, found.name, found.new, found.old, text, only)


def _distance(new: tuple[Any, ...], old: tuple[Any, ...]) -> int:
    """How many places differ."""
    if new[_STRUCTURE] != old[_STRUCTURE] or len(new[_ARRAYS]) != len(old[_ARRAYS]):
        return _APART + _count(new[_CONSTANTS], old[_CONSTANTS])
    state = 0
    if new[_STATE] != old[_STATE]:
        state = _APART if new[_STATE][0] != old[_STATE][0] else _count(
            new[_STATE][1], old[_STATE][1])
    # What is named in inputs= is often found in the surroundings as well.
    captured = max(_count(new[_CAPTURED], old[_CAPTURED]), state)
    if any(a != b and type(a) is tuple and type(a[1]) is Same
           for a, b in zip(new[_CONSTANTS], old[_CONSTANTS])):
        captured = 0  # another object holds other things: that is one difference
    return (_count(new[_CONSTANTS], old[_CONSTANTS]) + _count(new[_ARRAYS], old[_ARRAYS])
            + captured + (new[_THREADS] != old[_THREADS])
            + (new[_ALIASES] != old[_ALIASES]))


def _count(new: Sequence[Any], old: Sequence[Any]) -> int:
    if len(new) != len(old):
        return _APART
    return 0 if new == old else sum([a != b for a, b in zip(new, old)])


def _first(new: tuple[Any, ...], old: tuple[Any, ...], names: Names) -> Reason:
    """The first difference, of those that matter most."""
    if new[_STRUCTURE] != old[_STRUCTURE]:
        return _structure(new[_STRUCTURE], old[_STRUCTURE], names)
    if new[_CONSTANTS] != old[_CONSTANTS]:
        return _part("constant", new[_CONSTANTS], old[_CONSTANTS], names.leaf)
    if new[_CAPTURED] != old[_CAPTURED]:
        return _part("captured", new[_CAPTURED], old[_CAPTURED], names.surroundings.part)
    if new[_STATE] != old[_STATE]:
        (structure, parts), (old_structure, old_parts) = new[_STATE], old[_STATE]
        if structure != old_structure:
            way, what = first_difference(structure, old_structure)
            name = _below("inputs", way)
            return Reason("state", name, text=f"{name} {what}")
        return _part("state", parts, old_parts, names.state)
    if new[_ARRAYS] != old[_ARRAYS]:
        return _array(new[_ARRAYS], old[_ARRAYS], names)
    if new[_ALIASES] != old[_ALIASES]:
        return Reason("structure", text="other arrays among those it reads are one and the same")
    threads, before = str(new[_THREADS]), str(old[_THREADS])
    return Reason("threads", "", threads, before, f"{threads} threads instead of {before}")


def changed_name(reader: Reader, call: Call, old: Sequence[Any], new: Sequence[Any]) -> str:
    """Name of the first thing outside the arguments in which two environments' keys differ."""
    i = next((i for i, (a, b) in enumerate(zip(new, old)) if a != b), min(len(new), len(old)) - 1)
    named = reader.environment.names(call.objects).part(i)
    return str(named) or "what it reads outside its arguments"


def _below(name: str, way: str) -> str:
    """The way inside `[inputs, ...]` as one inside `inputs`."""
    return name + way[way.index("]") + 1:] if "]" in way else name


def _structure(new: TreeDef, old: TreeDef, names: Names) -> Reason:
    (args, kwargs), (old_args, old_kwargs) = _arguments(new), _arguments(old)
    if len(args) != len(old_args):
        text = f"{len(args)} positional argument{'s' * (len(args) != 1)} instead of {len(old_args)}"
        return Reason("structure", "", str(len(args)), str(len(old_args)), text)
    pairs = [*zip(names.positional(len(args)), args, old_args)]
    pairs += [(k, v, old_kwargs[k]) for k, v in kwargs.items() if k in old_kwargs]
    for name, a, b in pairs:
        if a != b:
            way, what = first_difference(a, b)
            return Reason("structure", name + way, text=f"{name}{way} {what}")
    for k in [*kwargs, *old_kwargs]:
        if k not in kwargs or k not in old_kwargs:
            return Reason("structure", k, text=f"{k} is {'given' if k in kwargs else 'not given'}")
    return Reason("structure", text="the keywords come in another order")


def _arguments(treedef: TreeDef) -> tuple[list[TreeDef], dict[str, TreeDef]]:
    """Structures of the positional and of the keyword arguments."""
    kind, _, children = _parts_of(treedef)
    if kind is tuple:
        return children, {}
    (_, _, args), (_, keys, values) = _parts_of(children[0]), _parts_of(children[1])
    return args, dict(zip(keys, values))


def _parts_of(treedef: TreeDef) -> tuple[type, list[Any], list[TreeDef]]:
    found = container_parts(treedef)
    assert found is not None
    return found


def _part(part: str, new: Sequence[Any], old: Sequence[Any],
          name_of: Callable[[int], str]) -> Reason:
    """A difference between constants, one of them in each place."""
    i = next((i for i, (a, b) in enumerate(zip(new, old)) if a != b), min(len(new), len(old)))
    name = name_of(min(i, len(new) - 1)) or "what the function reads"
    a, b = (_value(x[i]) if i < len(x) else "" for x in (new, old))
    reads = ", which the function reads," if part == "captured" else ""
    if i < min(len(new), len(old)) and _length(new[i]) and _length(old[i]):
        a, b = _length(new[i]), _length(old[i])
        items = "item" if a == "1" else "items"
        return Reason(part, name, a, b, f"{name}{reads} has {a} {items} instead of {b}")
    if a and b and a != b:
        return Reason(part, name, a, b, f"{name}{reads} is {a} instead of {b}")
    return Reason(part, name, a, b, f"{name}{reads} has changed")


def _value(part: Any) -> str:
    """A constant as it stands in a key, as Python writes it; empty for other parts."""
    if part is None:
        return "an array"
    if isinstance(part, Dtype):
        return part.name
    if isinstance(part, tuple) and part[:1] == (GIVEN,):
        return f"any {part[1].__name__}"
    if not isinstance(part, tuple) or not part:
        return ""
    kind, *rest = part
    if kind is slice:
        return f"slice({', '.join(map(_value, rest))})"
    if kind is float or kind is complex:
        return repr(_float(rest[0]) if kind is float else complex(*map(_float, rest[0])))
    if len(rest) == 1 and type(rest[0]) is kind and (kind in _PLAIN or issubclass(kind, Enum)):
        text = repr(rest[0])
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST - 3]}..."
    return ""


_PLAIN = (bool, int, str, bytes, type(None), type(...))


def _length(part: Any) -> str:
    """The length of a container, or the number of attributes, as it stands in a key."""
    sized = isinstance(part, tuple) and len(part) == 2 and type(part[1]) is int
    return str(part[1]) if sized and part[0] is not int else ""


_LONGEST = 40


def _float(key: str | bytes) -> float:
    return float.fromhex(key) if isinstance(key, str) else math.nan


def _is_number(text: str) -> bool:
    try:
        complex(text)
    except ValueError:
        return False
    return True


def _array(new: tuple[Any, ...], old: tuple[Any, ...], names: Names) -> Reason:
    if len(new) != len(old):
        return Reason("structure", "", str(len(new)), str(len(old)),
                      f"{len(new)} arrays are read instead of {len(old)}")
    i, a, b = next((i, a, b) for i, (a, b) in enumerate(zip(new, old)) if a != b)
    name = names.array(i)
    if a[1] is not b[1]:
        return Reason("dtype", name, a[1].name, b[1].name,
                      f"{name} is {a[1].name} instead of {b[1].name}")
    if a[0] != b[0]:
        here, there = show_shape(a[0]), show_shape(b[0])
        return Reason("shape", name, here, there,
                      f"{name} has the new shape {here} instead of {there}")
    return Reason("layout", name, str(a[2]), str(b[2]),
                  f"{name} lies in memory with other strides")
