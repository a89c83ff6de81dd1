"""Compiled functions as methods: one compiled function for each instance, living as long as it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eutectic.tracing.function import CompiledFunction


class _Methods:
    """Compiled methods of one instance, kept in its `__dict__` so that they end with it.

    Copies of the instance begin without.
    """

    __slots__ = ("made",)

    def __init__(self) -> None:
        self.made: dict[CompiledFunction, CompiledFunction] = {}

    def __reduce__(self) -> Any:
        return _Methods, ()


_METHODS = "_eutectic_methods"
_SLOTTED = 16
"""Instances without a `__dict__` whose compiled methods are kept, for each method."""


def bound(compiled: CompiledFunction, instance: Any) -> Callable[..., Any]:
    """The compiled function as a method: `self` is read like any captured object."""
    attributes = getattr(instance, "__dict__", None)
    if isinstance(attributes, dict):
        methods = attributes.get(_METHODS)
        if methods is None:
            methods = attributes[_METHODS] = _Methods()
        found = methods.made.get(compiled)
        if found is not None and _owner(found) is instance:
            return found
        if found is not None:  # a shallow copy of the instance has its methods
            methods = attributes[_METHODS] = _Methods()
        made = methods.made
    else:
        made = compiled.__dict__.setdefault("_slotted", {})
        for found in list(made.values()):
            if _owner(found) is instance:
                return found
        while len(made) >= _SLOTTED:
            made.pop(next(iter(made)), None)
    new = compiled.of(compiled.fun.__get__(instance))
    made[compiled if isinstance(attributes, dict) else new] = new
    return new


def _owner(made: CompiledFunction) -> Any:
    """The instance that a compiled method was made for."""
    method: Any = made.fun
    return method.__self__
