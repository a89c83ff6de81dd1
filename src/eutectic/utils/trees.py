"""Trees as MLX sees them: lists, tuples and dicts are containers, all else (None too) is a leaf.

Types that `register_container` was told of are containers as well, as everywhere else.

A path joins the indices and keys on the way to a leaf by dots: `layers.0.weight`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

from eutectic.errors import ArgumentError, ShapeError
from eutectic.tree import registered

Leaf = Callable[[Any], bool]
Paths = TypeVar("Paths", list[tuple[str, Any]], dict[str, Any])


def tree_map(fn: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Leaf | None = None) -> Any:
    """Return a tree of the same structure with `fn(leaf, *leaves of rest)` in place of each leaf.

    The other trees have at least the structure of the first one; what they hold at its leaves is
    passed as it is. `is_leaf` says which containers count as leaves. Types that
    `mx.register_container` was told of are containers here too, with indices as paths.

    Raises KeyError or IndexError where another tree lacks a key or index.

    >>> tree_map(lambda x, y: x + y, {"a": [1, (2, 3)]}, {"a": [10, (20, 30)]})
    {'a': [11, (22, 33)]}
    """
    if is_leaf is not None and is_leaf(tree):
        return fn(tree, *rest)
    if own := registered(tree):
        children, aux = own[0](tree)
        others = [own[0](r)[0] for r in rest]
        return own[1](aux, [tree_map(fn, x, *[o[i] for o in others], is_leaf=is_leaf)
                            for i, x in enumerate(children)])
    if isinstance(tree, (list, tuple)):
        return _like(tree, [tree_map(fn, x, *[r[i] for r in rest], is_leaf=is_leaf)
                            for i, x in enumerate(tree)])
    if isinstance(tree, dict):
        return {k: tree_map(fn, x, *[r[k] for r in rest], is_leaf=is_leaf)
                for k, x in tree.items()}
    return fn(tree, *rest)


def tree_map_with_path(fn: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Leaf | None = None,
                       path: Any = None) -> Any:
    """Like `tree_map`, with `fn(path, leaf, *leaves of rest)`; `path` comes before every path.

    >>> tree_map_with_path(lambda path, x: f"{path} is {x}", {"model": [{"w": 0}, {"w": 1}]})
    {'model': [{'w': 'model.0.w is 0'}, {'w': 'model.1.w is 1'}]}
    """
    def below(key: Any) -> str:
        return f"{path}.{key}" if path else f"{key}"

    if is_leaf is not None and is_leaf(tree):
        return fn(path, tree, *rest)
    if own := registered(tree):
        children, aux = own[0](tree)
        others = [own[0](r)[0] for r in rest]
        return own[1](aux, [tree_map_with_path(
            fn, x, *[o[i] for o in others], is_leaf=is_leaf, path=below(i))
            for i, x in enumerate(children)])
    if isinstance(tree, (list, tuple)):
        return _like(tree, [
            tree_map_with_path(fn, x, *[r[i] for r in rest], is_leaf=is_leaf, path=below(i))
            for i, x in enumerate(tree)])
    if isinstance(tree, dict):
        return {k: tree_map_with_path(fn, x, *[r[k] for r in rest], is_leaf=is_leaf, path=below(k))
                for k, x in tree.items()}
    return fn(path, tree, *rest)


def _like(tree: Any, items: list[Any]) -> Any:
    """The items in a sequence of the kind of `tree`."""
    return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)


@overload
def tree_flatten(tree: Any, prefix: str = ..., is_leaf: Leaf | None = ...,
                 destination: None = ...) -> list[tuple[str, Any]]: ...
@overload
def tree_flatten(tree: Any, prefix: str, is_leaf: Leaf | None, destination: Paths) -> Paths: ...
@overload
def tree_flatten(tree: Any, prefix: str = ..., is_leaf: Leaf | None = ..., *,
                 destination: Paths) -> Paths: ...
def tree_flatten(tree: Any, prefix: str = "", is_leaf: Leaf | None = None,
                 destination: list[tuple[str, Any]] | dict[str, Any] | None = None
                 ) -> list[tuple[str, Any]] | dict[str, Any]:
    """Return the (path, leaf) pairs of a tree, left to right.

    They are added to `destination`, a list or a dict from paths to leaves, where one is given;
    `prefix` comes before every path, and its first character stands for a dot.

    >>> tree_flatten({"layers": [{"w": 1}, {"w": 2}], "b": 3})
    [('layers.0.w', 1), ('layers.1.w', 2), ('b', 3)]
    >>> tree_flatten({"a": {"b": 1}}, destination={})
    {'a.b': 1}
    """
    if destination is None:
        destination = []
    _flatten(tree, prefix, is_leaf, _adder(destination))
    return destination


def _adder(destination: Any) -> Callable[[str, Any], None]:
    if isinstance(destination, dict):
        return destination.__setitem__
    return lambda path, leaf: destination.append((path, leaf))


def _flatten(tree: Any, prefix: str, is_leaf: Leaf | None, add: Callable[[str, Any], None]) -> None:
    items: Iterable[tuple[Any, Any]]
    if is_leaf is not None and is_leaf(tree):
        return add(prefix[1:], tree)
    if own := registered(tree):
        items = enumerate(own[0](tree)[0])
    elif isinstance(tree, (list, tuple)):
        items = enumerate(tree)
    elif isinstance(tree, dict):
        items = tree.items()
    else:
        return add(prefix[1:], tree)
    for key, x in items:
        _flatten(x, f"{prefix}.{key}", is_leaf, add)
    return None


def tree_unflatten(tree: list[tuple[str, Any]] | dict[str, Any]) -> Any:
    """Build a tree from (path, leaf) pairs or a dict from paths to leaves.

    Containers whose first key is an index become lists, with `{}` where an index is missing, the
    others dicts. No pairs make `[]`.

    Raises ArgumentError where two pairs have the same path.

    >>> tree_unflatten([("layers.0.w", 1), ("layers.1.w", 2), ("b", 3)])
    {'layers': [{'w': 1}, {'w': 2}], 'b': 3}
    """
    items = list(tree.items() if isinstance(tree, dict) else tree)
    if len(items) == 1 and items[0][0] == "":
        return items[0][1]
    return _unflatten(items)


def _unflatten(items: list[tuple[str, Any]]) -> Any:
    children: dict[str, list[tuple[str, Any]]] = {}
    for path, leaf in items:
        key, _, rest = path.partition(".")
        children.setdefault(key, []).append((rest, leaf))
    found = {}
    for key, pairs in children.items():
        if len(pairs) == 1 and pairs[0][0] == "":
            found[key] = pairs[0][1]
        elif all(path == "" for path, _ in pairs):
            raise ArgumentError(f"[tree_unflatten] {len(pairs)} values have the path that ends "
                                f"in {key!r}.")
        else:
            found[key] = _unflatten(pairs)
    if any(not _is_index(key) for key in found) and found:
        return found
    size = max(map(int, found), default=-1) + 1
    if size > 2 * len(items) + _MOST_MISSING:
        raise ShapeError(f"[tree_unflatten] index {size - 1} in a list of which {len(found)} "
                         "elements are given.")
    out: list[Any] = [{} for _ in range(size)]
    for key, value in found.items():
        out[int(key)] = value
    return out


_MOST_MISSING = 100_000
"""Elements that a list may lack: a path like `9999999999` fills no memory."""


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit()


def tree_reduce(fn: Callable[[Any, Any], Any], tree: Any, initializer: Any = None,
                is_leaf: Leaf | None = None) -> Any:
    """Combine the leaves of a tree, left to right, by `fn(result so far, leaf)`.

    It starts from `initializer`, or from the first leaf without one; no leaves give `initializer`.

    >>> tree_reduce(lambda total, x: total + x, {"a": [1, 2], "b": 3}, 10)
    16
    """
    leaves: list[Any] = []
    _flatten(tree, "", is_leaf, lambda path, leaf: leaves.append(leaf))
    result = initializer
    for leaf in leaves:
        result = leaf if result is None else fn(result, leaf)
    return result


def tree_merge(tree_a: Any, tree_b: Any,
               merge_fn: Callable[[Any, Any], Any] | None = None) -> Any:
    """Merge two trees: dicts by keys, lists and tuples by indices; None and `{}` give way.

    `merge_fn(a, b)` decides where both trees hold something else at the same place.

    Raises ArgumentError there without it, and where a list and a dict meet.

    >>> tree_merge({"a": 1, "b": [1, None]}, {"b": [None, 2], "c": 3})
    {'a': 1, 'b': [1, 2], 'c': 3}
    """
    containers = isinstance(tree_a, _CONTAINERS), isinstance(tree_b, _CONTAINERS)
    empty = containers[0] and not tree_a, containers[1] and not tree_b
    if all(empty):
        if type(tree_a) is not type(tree_b):
            raise ArgumentError(f"[tree_merge] a {type(tree_a).__name__} and a "
                                f"{type(tree_b).__name__} cannot be merged.")
        return tree_a
    a, b = None if empty[0] else tree_a, None if empty[1] else tree_b
    if (a is None) != (b is None):
        return b if a is None else a
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        n = min(len(a), len(b))
        both = [tree_merge(x, y, merge_fn) for x, y in zip(a, b)]
        return _like(a, [*both, *a[n:], *b[n:]])
    if isinstance(a, dict) and isinstance(b, dict):
        merged = {k: tree_merge(x, b[k], merge_fn) if k in b else x for k, x in a.items()}
        return merged | {k: y for k, y in b.items() if k not in a}
    if merge_fn is None:
        raise ArgumentError(f"[tree_merge] a {type(a).__name__} and a {type(b).__name__} stand at "
                            "the same place; give a merge_fn that decides.")
    return merge_fn(a, b)


_CONTAINERS = (list, tuple, dict)
