"""Arguments of a traced call that goes on plainly: what happened to the copies happens to them.

A trace works on copies of the containers among the arguments and on arrays that stand in for
theirs. A plain call would have worked on the caller's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from eutectic.array import array
from eutectic.graph.ir import Node
from eutectic.tracing.entry import Call
from eutectic.tree import flatten, unflatten


class Copies:
    """The arguments of a call beside the copies that were given to the function."""

    def __init__(self, given: Any, made: Any) -> None:
        self._made = made
        """Keeps the copies alive, whose ids are keys."""
        self._own: dict[int, Any] = {}
        """The caller's array or container for that of the copy, by its id."""
        self._foreign: dict[int, Any] = {}
        """The caller's NumPy data and the like for the array that it became, by its id."""
        self._arrays: list[tuple[array, array, Node]] = []
        """(the caller's, the stand-in, its node before the call)."""
        self._containers: list[tuple[Any, Any]] = []
        for x, y in zip(flatten(given)[0], flatten(made)[0]):
            if x is y:
                continue
            if isinstance(x, array):
                self._own[id(y)] = x
                self._arrays.append((x, y, y._n))
            else:
                self._foreign[id(y)] = x
        self._pair(given, made)

    def _pair(self, given: Any, made: Any) -> None:
        if given is made or id(made) in self._own or id(made) in self._foreign:
            return
        self._own[id(made)] = given
        self._containers.append((given, made))
        for x, y in zip(_parts(given), _parts(made)):
            self._pair(x, y)

    def settle(self) -> None:
        """Change the caller's containers and arrays as the copies were changed."""
        for a, stand_in, before in self._arrays:
            if stand_in._n is not before:
                a._n = stand_in._n
        for given, made in self._containers:
            if isinstance(made, dict):
                _become(given, {k: self._back(v) for k, v in made.items()})
            elif isinstance(made, list):
                new = [self._back(v) for v in made]
                if not _same(new, given):
                    given[:] = new
            if hasattr(made, "__dict__"):
                _become(vars(given), {k: self._back(v) for k, v in vars(made).items()})

    def _back(self, x: Any) -> Any:
        """As `own`, and NumPy data for the array that it became: it was not taken out."""
        return self._foreign[id(x)] if id(x) in self._foreign else self.own(x)

    def own(self, x: Any) -> Any:
        """The caller's object for one that the function got; others as they are.

        In lists, tuples and dicts the caller's objects take the place of those that stand for them.
        """
        if id(x) in self._own:
            return self._own[id(x)]
        t = type(x)
        if t is list or t is tuple:
            new = [self.own(v) for v in x]
            if not _same(new, x):
                if t is tuple:
                    return tuple(new)
                x[:] = new
        elif t is dict:
            _become(x, {k: self.own(v) for k, v in x.items()})
        return x


def _parts(x: Any) -> Iterable[Any]:
    """What a container holds, in the order of its copy."""
    if isinstance(x, dict):
        return list(x.values())
    if isinstance(x, (list, tuple)):
        return x
    return list(vars(x).values()) if hasattr(x, "__dict__") else ()


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


def _become(d: dict[Any, Any], new: dict[Any, Any]) -> None:
    """Give a dict another content, in place, as far as it differs."""
    if list(d) == list(new) and _same(list(d.values()), list(new.values())):
        return
    dict.clear(d)
    dict.update(d, new)


def run_plainly(fun: Callable[..., Any], call: Call) -> Any:
    """Call the function itself; arguments that compiled calls turn into arrays become arrays."""
    given = call_tree(call)
    if all(a is b for a, b in zip(flatten(given)[0], call.leaves)):
        return fun(*call.args, **call.kwargs)
    tree = unflatten(call.treedef, call.leaves)
    copies = Copies(given, tree)
    args, kwargs = tree if call.kwargs else (tree, {})
    try:
        return copies.own(fun(*args, **kwargs))
    finally:
        copies.settle()


def call_tree(call: Call) -> Any:
    """The arguments of a call as the tree that its structure describes."""
    return [call.args, call.kwargs] if call.kwargs else call.args
