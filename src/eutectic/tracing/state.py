"""Arrays that a traced function reads or changes outside its arguments.

Three sources, all read again at each call: the containers given as `inputs=`, the random state,
and what the function's closure, globals and `self` reach (`environment`). While tracing, their
array objects stand for placeholders; whatever happens, they are put back.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eutectic.array import array, wrap
from eutectic.graph.ir import Node
from eutectic.tree import flatten, is_container, unflatten

IMPLICIT: list[list[Any]] = []
"""Containers that every compiled function captures when it uses them (the random state)."""


implicit_lock = threading.RLock()
"""Held from reading state that a call changes, the random one too, to writing it, and while a
function is traced: its placeholders stand in the state then."""


_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Attributes:
    """An object that is a container, and its attributes before a trace."""

    owner: Any
    values: dict[str, Any]


def attributes(x: Any) -> dict[str, Any] | None:
    """The attributes of a container that holds its children there, not as items."""
    if x is None or isinstance(x, (dict, list, tuple)) or not is_container(x):
        return None
    return getattr(x, "__dict__", None)


def holds_array(x: Any) -> bool:
    """Whether a value is an array or a container with one."""
    return isinstance(x, array) or (x is not None and is_container(x) and any(
        isinstance(leaf, array) for leaf in flatten(x)[0]))


def _state_names(x: Any, before: dict[str, Any]) -> list[str]:
    """Attributes of a container that are its state: with arrays, or changed children of it.

    The others (a counter that `flatten` does not give) happen once a trace and stay.
    """
    now = vars(x)
    children = {id(leaf) for leaf in flatten(x)[0]}
    return [k for k in {**before, **now} if holds_array(before.get(k)) or holds_array(now.get(k))
            or (before.get(k, _ABSENT) is not now.get(k) and id(now.get(k)) in children)]


class Snapshot:
    """Containers and array objects as they were, to be put back after a trace."""

    def __init__(self, trees: Sequence[Any]) -> None:
        self._lists: list[tuple[list[Any], list[Any]]] = []
        self._dicts: list[tuple[dict[Any, Any], dict[Any, Any]]] = []
        self._objects: list[tuple[Any, dict[str, Any]]] = []
        self.nodes: dict[int, tuple[array, Node]] = {}
        for t in trees:
            self._walk(t)

    def _walk(self, x: Any) -> None:
        if type(x) is array:
            self.nodes.setdefault(id(x), (x, x._n))
        elif isinstance(x, dict):
            self._dicts.append((x, dict(x)))
            for v in x.values():
                self._walk(v)
        elif isinstance(x, list):
            self._lists.append((x, list(x)))
            for v in x:
                self._walk(v)
        elif (own := attributes(x)) is not None:
            self._objects.append((x, dict(own)))
            for v in own.values():
                if holds_array(v):
                    self._walk(v)
        elif x is not None and is_container(x):
            for v in flatten(x)[0]:
                self._walk(v)

    def restore(self) -> None:
        """Put containers and arrays back as they were."""
        for d, content in self._dicts:
            dict.clear(d)
            dict.update(d, content)
        for items, held in self._lists:
            items[:] = held
        for x, before in self._objects:
            put_attributes(x, {k: before.get(k, _ABSENT) for k in _state_names(x, before)})
        for a, n in self.nodes.values():
            a._n = n


def content(x: Any) -> Any:
    """A shallow copy of nested containers, to compare array objects with later."""
    if isinstance(x, dict):
        return {k: content(v) for k, v in x.items()}
    if isinstance(x, list):
        return [content(v) for v in x]
    own = attributes(x)
    return x if own is None else Attributes(x, {k: content(v) for k, v in own.items()})


def put_attributes(x: Any, values: dict[str, Any]) -> None:
    """Set attributes of an object, or take them away, whatever its class says to that."""
    own = vars(x)
    for k, v in values.items():
        if v is _ABSENT:
            own.pop(k, None)
        else:
            own[k] = v


@dataclass(frozen=True, slots=True)
class Slot:
    """A leaf of an output container: an output of the graph, or a constant.

    `output` is -1 for a leaf that the function left alone, -2 for a constant. `in_place`: the
    function changed the array object itself rather than putting another in its place.
    """

    output: int
    in_place: bool = False
    value: Any = None


def template(tree: Any, before: Any, index_of: Any) -> Any:
    """Describe a container after a trace: nested (kind, items) with `Slot` leaves.

    The kinds are 'list', 'dict', 'object' for attributes, and 'tree' for what is made anew.

    `index_of(array, same)` numbers an array among the graph's outputs, or gives None for one that
    is the `same` as before and was left alone; `before` is the container's content before the
    trace, at the same place.
    """
    if isinstance(tree, dict):
        old = before if isinstance(before, dict) else {}
        return ("dict", {k: template(v, old.get(k), index_of) for k, v in tree.items()})
    if isinstance(tree, list):
        old_list = before if isinstance(before, list) else []
        return ("list", [template(v, old_list[i] if i < len(old_list) else None, index_of)
                         for i, v in enumerate(tree)])
    if type(tree) is array:
        same = before is tree
        index = index_of(tree, same)
        return Slot(-1 if index is None else index, same)
    if isinstance(before, Attributes):
        if before.owner is tree:
            now = vars(tree)
            old = before.values
            names = _state_names(tree, {k: v.owner if isinstance(v, Attributes) else v
                                        for k, v in old.items()})
            return ("object", {k: template(now[k], old.get(k), index_of) if k in now
                               else Slot(-2, value=_ABSENT) for k in names})
        before = before.owner
    if tree is not None and is_container(tree) and any(type(x) is array for x in flatten(tree)[0]):
        leaves, treedef = flatten(tree)
        old_leaves = flatten(before)[0] if is_container(before) else []
        slots = [template(v, old_leaves[i] if i < len(old_leaves) else None, index_of)
                 for i, v in enumerate(leaves)]
        return ("tree", slots, treedef)
    return Slot(-2, value=tree)


def fill(tree: Any, shape: Any, nodes: Sequence[Node], anew: bool = False) -> Any:
    """Bring a container to the state that `template` described; returns what stands there.

    `anew`: containers are made rather than changed; leaves that stay come from the old ones.
    """
    if isinstance(shape, Slot):
        if shape.output == -1:
            return tree
        if shape.output == -2:
            return shape.value
        if shape.in_place and type(tree) is array:
            tree._n = nodes[shape.output]
            return tree
        return wrap(nodes[shape.output])
    if shape[0] == "dict":
        target = tree if isinstance(tree, dict) else {}
        new = {k: fill(dict.get(target, k), s, nodes, anew) for k, s in shape[1].items()}
        if anew:
            return new
        for k in [k for k in target if k not in new]:
            dict.__delitem__(target, k)
        dict.update(target, new)
        return target
    if shape[0] == "list":
        items = tree if isinstance(tree, list) else []
        entries = [fill(items[i] if i < len(items) else None, s, nodes, anew)
                   for i, s in enumerate(shape[1])]
        if anew:
            return entries
        items[:] = entries
        return items
    if shape[0] == "object":
        own = vars(tree)
        put_attributes(tree, {k: fill(own.get(k), s, nodes, anew) for k, s in shape[1].items()})
        return tree
    old = flatten(tree)[0] if is_container(tree) else []
    return unflatten(shape[2], [fill(old[i] if i < len(old) else None, s, nodes, anew)
                                for i, s in enumerate(shape[1])])


def untouched(shape: Any) -> bool:
    """Whether a trace left a container, described by its template, alone."""
    if isinstance(shape, Slot):
        return shape.output == -1
    return all(map(untouched, shape[1].values() if isinstance(shape[1], dict) else shape[1]))
