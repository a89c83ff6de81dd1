"""Why a compiled function was traced: what is new in a call's key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eutectic.errors import show_shape

# What the parts of a key are called, in their order (see `keys.Reader.read`).
_STRUCTURE, _CONSTANTS, _ARRAYS, _CAPTURED, _STATE, _THREADS = range(6)


def reason(key: tuple[Any, ...], known: Sequence[tuple[Any, ...]]) -> str:
    """Say what tells a key from the most similar of those already traced.

    >>> from eutectic.dtype import float32
    >>> old = (None, (None,), (((2, 3), float32, None),), (), None, 2)
    >>> new = (None, (None,), (((4, 3), float32, None),), (), None, 2)
    >>> reason(new, [])
    'first call'
    >>> reason(new, [old])
    'array 0 has the new shape (4,3) instead of (2,3)'
    """
    if not known:
        return "first call"
    nearest = max(reversed(known), key=lambda k: _likeness(k, key))
    if key[_STRUCTURE] != nearest[_STRUCTURE]:
        return "the arguments have a new structure"
    if key[_CONSTANTS] != nearest[_CONSTANTS]:
        return _constant(key[_CONSTANTS], nearest[_CONSTANTS])
    if key[_ARRAYS] != nearest[_ARRAYS]:
        return _array(key[_ARRAYS], nearest[_ARRAYS])
    if key[_CAPTURED] != nearest[_CAPTURED]:
        return "a value that the function reads from its surroundings has changed"
    if key[_STATE] != nearest[_STATE]:
        return "the captured state has a new structure or constant"
    return f"{key[_THREADS]} threads instead of {nearest[_THREADS]}"


def _likeness(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[int, int]:
    """(equal parts, equal properties of arrays)."""
    arrays = zip(a[_ARRAYS], b[_ARRAYS])
    return (sum([x == y for x, y in zip(a, b)]),
            sum([p == q for x, y in arrays for p, q in zip(x, y)]))


def _constant(new: tuple[Any, ...], old: tuple[Any, ...]) -> str:
    for i, (a, b) in enumerate(zip(new, old)):
        if a != b:
            return f"argument {i} is {_value(a)} instead of {_value(b)}"
    return "the arguments have a new structure"


def _value(part: Any) -> str:
    """A constant as it stands in a key: (type, value)."""
    if part is None:
        return "an array"
    if isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], type):
        return str(float.fromhex(part[1]) if part[0] is float and part[1] != "nan" else part[1])
    return str(part)


def _array(new: tuple[Any, ...], old: tuple[Any, ...]) -> str:
    if len(new) != len(old):
        return f"{len(new)} arrays instead of {len(old)}"
    i, a, b = next((i, a, b) for i, (a, b) in enumerate(zip(new, old)) if a != b)
    if a[0] != b[0]:
        return f"array {i} has the new shape {show_shape(a[0])} instead of {show_shape(b[0])}"
    if a[1] is not b[1]:
        return f"array {i} is {a[1].name} instead of {b[1].name}"
    return f"array {i} lies in memory with other strides"
