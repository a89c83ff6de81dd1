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
"""Held from reading the random state to writing it: two draws never start from one key."""


class Snapshot:
    """Containers and array objects as they were, to be put back after a trace."""

    def __init__(self, trees: Sequence[Any]) -> None:
        self._lists: list[tuple[list[Any], list[Any]]] = []
        self._dicts: list[tuple[dict[Any, Any], dict[Any, Any]]] = []
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
        for a, n in self.nodes.values():
            a._n = n


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
    """Describe a container after a trace: nested ('list'|'dict', items) with `Slot` leaves.

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
    old = flatten(tree)[0] if is_container(tree) else []
    return unflatten(shape[2], [fill(old[i] if i < len(old) else None, s, nodes, anew)
                                for i, s in enumerate(shape[1])])


def untouched(shape: Any) -> bool:
    """Whether a trace left a container, described by its template, alone."""
    if isinstance(shape, Slot):
        return shape.output == -1
    return all(map(untouched, shape[1].values() if shape[0] == "dict" else shape[1]))
