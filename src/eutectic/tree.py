"""Trees of Python containers: flatten to leaves and an exact structure, and back.

Containers are lists, tuples, namedtuples, dicts, dataclasses, and types that `register_container`
was told of; `None` is a container without leaves. The attributes of a dict of a subclass (a
module, say) are a part of the structure. Everything else is a leaf. A `TreeDef`
encodes kinds, lengths and keys of all containers in the order they are met, so equal definitions
mean equal structure.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from eutectic.errors import ArgumentError, ArgumentTypeError

Flatten = Callable[[Any], tuple[Sequence[Any], Hashable]]
Unflatten = Callable[[Hashable, Sequence[Any]], Any]

# Type -> (flatten, unflatten); None: a leaf. Filled by `register_container`, and on first sight.
_CONTAINERS: dict[type, tuple[Flatten, Unflatten] | None] = {}

SEQUENCE, DICT, OTHER, NO_CONTAINER = "sequence", "dict", "other", ""
kinds: dict[type, str] = {}
"""What `container_kind` said of types before, for whoever looks at many objects."""

_REGISTERED: set[type] = set()
"""Types that `register_container` was told of."""

_LEAF, _NONE = 0, 1


class TreeDef:
    """Structure of a tree: a nested tuple of (type, auxiliary data, children); hashable, exact."""

    __slots__ = ("_hash", "encoding", "num_leaves")

    def __init__(self, encoding: Any, num_leaves: int) -> None:
        self.encoding = encoding
        self.num_leaves = num_leaves
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, TreeDef) and self.encoding == other.encoding)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.encoding)
        return self._hash

    def __repr__(self) -> str:
        return f"TreeDef({_show(self.encoding)})"


_ONE_LEAF = TreeDef(_LEAF, 1)
_FLAT_LISTS: list[TreeDef] = []
_FLAT_TUPLES: list[TreeDef] = []


def register_container(kind: type, flatten: Flatten, unflatten: Unflatten) -> None:
    """Make a type a container of arrays: as argument, result, captured state, in transformations.

    `flatten(x) -> (children, aux)` and `unflatten(aux, children) -> x`; `aux` is hashable and takes
    part in the comparison of structures. Subclasses follow. Raises ArgumentTypeError where `kind`
    is not a type.

    >>> import eutectic.core as mx
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> mx.register_container(Pair, lambda p: ((p.a, p.b), None), lambda aux, ab: Pair(*ab))
    >>> double = mx.compile(lambda p: Pair(p.a * 2, p.b * 2))
    >>> double(Pair(mx.array(1), mx.array(2))).b
    array(4, dtype=int32)
    """
    if not isinstance(kind, type):
        raise ArgumentTypeError(f"[register_container] needs a type, not a {type(kind).__name__}.")
    _CONTAINERS[kind] = (flatten, unflatten)
    _REGISTERED.add(kind)
    for t in [t for t in _CONTAINERS if kind in t.__mro__[1:]]:
        if t not in _REGISTERED and t not in _BUILT_IN:
            del _CONTAINERS[t]  # seen before: it follows now
    kinds.clear()


def registered(x: Any) -> tuple[Flatten, Unflatten] | None:
    """How to flatten and unflatten `x`, where its type or a base of it was registered.

    >>> registered([1, 2]) is None
    True
    """
    if _REGISTERED and not _REGISTERED.isdisjoint(type(x).__mro__):
        return _handlers(type(x))
    return None


def is_container(x: Any) -> bool:
    """Say whether `flatten` looks inside `x`.

    >>> is_container([]), is_container(None), is_container("ab")
    (True, True, False)
    """
    return x is None or _handlers(type(x)) is not None


def container_kind(t: type) -> str:
    """How `flatten` reads containers of type `t`: by iterating over a `sequence` or a `dict`, in
    another way (`other`), or not at all (the empty string).

    >>> container_kind(list), container_kind(dict), container_kind(int)
    ('sequence', 'dict', '')
    """
    kind = kinds.get(t)
    if kind is None:
        if t is list or t is tuple:
            kind = SEQUENCE
        else:
            handlers = _handlers(t)
            dicts = (_dict_flatten, _subclass_flatten)
            kind = NO_CONTAINER if handlers is None else DICT if handlers[0] in dicts else OTHER
        kinds[t] = kind
    return kind


def has_attributes(t: type) -> bool:
    """Whether containers of type `t` are dicts whose `__dict__` is a part of the structure.

    >>> class Config(dict):
    ...     pass
    >>> has_attributes(Config), has_attributes(dict)
    (True, False)
    """
    handlers = _handlers(t)
    return handlers is not None and handlers[0] is _subclass_flatten


def container_parts(treedef: TreeDef) -> tuple[type, list[Any], list[TreeDef]] | None:
    """(type, keys of a dict, structures of the children) of a structure; None for a leaf.

    >>> container_parts(flatten({"a": 1})[1])
    (<class 'dict'>, ['a'], [TreeDef(*)])
    """
    encoding = treedef.encoding
    if encoding == _LEAF:
        return None
    if encoding == _NONE:
        return type(None), [], []
    t, aux, children = encoding
    keys = [k[1] for k in aux] if t is dict else []
    return t, keys, [TreeDef(c, 0) for c in children]


def paths(treedef: TreeDef) -> list[str]:
    """The way to each leaf as Python writes it.

    >>> paths(flatten({"w": [1, 2], "b": 3})[1])
    ["['w'][0]", "['w'][1]", "['b']"]
    """
    found: list[str] = []
    _paths(treedef.encoding, "", found)
    return found


def first_difference(new: TreeDef, old: TreeDef) -> tuple[str, str]:
    """The way to the first place where structures differ, and what is different there.

    >>> first_difference(flatten({"w": [1, 2]})[1], flatten({"w": (1, 2)})[1])
    ("['w']", 'is a list instead of a tuple')
    >>> first_difference(flatten({"w": 1, "b": 2})[1], flatten({"w": 1})[1])
    ("['b']", 'is new')
    """
    return _difference(new.encoding, old.encoding, "")


def flatten(tree: Any, attributes: bool = True) -> tuple[list[Any], TreeDef]:
    """Split a tree into its leaves, left to right, and its structure.

    `attributes=False` leaves those of dicts of a subclass out of the structure.

    >>> leaves, treedef = flatten({"w": [1, 2], "b": None})
    >>> leaves, treedef
    ([1, 2], TreeDef({'w': [*, *], 'b': None}))
    >>> unflatten(treedef, [3, 4])
    {'w': [3, 4], 'b': None}
    """
    t = type(tree)
    if t is list or t is tuple:
        for x in tree:
            if x is None or _handlers(type(x)) is not None:
                break
        else:
            return list(tree), _flat(t, len(tree))
    elif tree is not None and _handlers(t) is None:
        return [tree], _ONE_LEAF
    leaves: list[Any] = []
    encoding = _encode(tree, leaves, attributes)
    return leaves, TreeDef(encoding, len(leaves))


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Any:
    """Put leaves back into a structure that `flatten` returned.

    Raises ArgumentError where their number differs.
    """
    leaves = list(leaves)
    if len(leaves) != treedef.num_leaves:
        raise ArgumentError(f"[unflatten] the tree has {treedef.num_leaves} leaves, "
                            f"{len(leaves)} were given.")
    return _decode(treedef.encoding, iter(leaves))


def leaves(tree: Any) -> list[Any]:
    """The leaves of a tree, left to right.

    >>> leaves((1, [2, None, {"a": 3}]))
    [1, 2, 3]
    """
    return flatten(tree)[0]


def map_leaves(f: Callable[[Any], Any], tree: Any) -> Any:
    """Replace every leaf by `f(leaf)`.

    >>> map_leaves(lambda x: 2 * x, (1, [2, None]))
    (2, [4, None])
    """
    found, treedef = flatten(tree)
    return _decode(treedef.encoding, iter([f(x) for x in found]))


def _handlers(t: type) -> tuple[Flatten, Unflatten] | None:
    try:
        return _CONTAINERS[t]
    except KeyError:
        pass
    found: tuple[Flatten, Unflatten] | None = None
    for base in t.__mro__[1:]:  # a subclass of a registered type, of list, tuple or dict
        if base is not object and _CONTAINERS.get(base) is not None:
            found = _subclass(t, base)
            break
    if found is None and dataclasses.is_dataclass(t):
        found = _dataclass(t)
    _CONTAINERS[t] = found
    return found


def _subclass(t: type, base: type) -> tuple[Flatten, Unflatten] | None:
    if base is tuple and hasattr(t, "_fields"):
        return (lambda x: (tuple(x), None)), (lambda aux, xs: t(*xs))
    if base is dict:
        return _subclass_flatten, lambda aux, xs: _rebuild_subclass(t, aux, xs)
    if base in (list, tuple):
        return (lambda x: (tuple(x), None)), (lambda aux, xs: t(xs))
    return _CONTAINERS[base]


def _rebuild_dict(t: type, keys: Any, xs: Sequence[Any]) -> Any:
    new: Any = t.__new__(t)  # type: ignore[call-overload]
    for k, x in zip(keys, xs):
        dict.__setitem__(new, k[1], x)
    return new


def _subclass_flatten(d: dict[Any, Any]) -> tuple[Sequence[Any], Hashable]:
    children, keys = _dict_flatten(d)
    found = getattr(d, "__dict__", None)
    return children, (keys, _Attributes(found) if found else None)


def _rebuild_subclass(t: type, aux: Any, xs: Sequence[Any]) -> Any:
    new = _rebuild_dict(t, aux[0], xs)
    if aux[1] is not None:
        new.__dict__.update({k: set(v) if type(v) is set else v for k, v in aux[1].values.items()})
    return new


class _Attributes:
    """Attributes of an instance: equal where names, and constants or objects are the same."""

    __slots__ = ("key", "values")

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = dict(values)
        self.key = tuple([(name, type(x), _attribute_key(x)) for name, x in values.items()])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Attributes) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


def _attribute_key(x: Any) -> Any:
    t = type(x)
    if t in (bool, int, str, bytes, type(None)):
        return x
    if t in (float, complex):
        return repr(x)
    if t in (set, frozenset):
        return frozenset([(type(v), v) for v in x])
    return id(x)


def _dataclass(t: type) -> tuple[Flatten, Unflatten]:
    names = tuple(f.name for f in dataclasses.fields(t))

    def flatten_fields(x: Any) -> tuple[Sequence[Any], Hashable]:
        return [getattr(x, n) for n in names], None

    def unflatten_fields(aux: Hashable, xs: Sequence[Any]) -> Any:
        new: Any = object.__new__(t)
        for n, x in zip(names, xs):
            object.__setattr__(new, n, x)
        return new

    return flatten_fields, unflatten_fields


def _dict_flatten(d: dict[Any, Any]) -> tuple[Sequence[Any], Hashable]:
    # The type of a key takes part: 1, 1.0 and True are equal keys but not the same structure.
    return list(d.values()), tuple([(type(k), k) for k in d])


def _ordered_rebuild(keys: Any, xs: Sequence[Any]) -> Any:
    return OrderedDict(zip([k for _, k in keys], xs))


def _default_flatten(d: defaultdict[Any, Any]) -> tuple[Sequence[Any], Hashable]:
    children, keys = _dict_flatten(d)
    return children, (d.default_factory, keys)


def _default_rebuild(aux: Any, xs: Sequence[Any]) -> Any:
    return defaultdict(aux[0], zip([k for _, k in aux[1]], xs))


_CONTAINERS[list] = (lambda x: (x, None)), (lambda aux, xs: list(xs))
_CONTAINERS[tuple] = (lambda x: (x, None)), (lambda aux, xs: tuple(xs))
_CONTAINERS[dict] = _dict_flatten, lambda keys, xs: _rebuild_dict(dict, keys, xs)
_CONTAINERS[OrderedDict] = _dict_flatten, _ordered_rebuild
_CONTAINERS[defaultdict] = _default_flatten, _default_rebuild
_BUILT_IN = frozenset(_CONTAINERS)


def _encode(tree: Any, out: list[Any], attributes: bool) -> Any:
    if tree is None:
        return _NONE
    t = type(tree)
    handlers = _handlers(t)
    if handlers is None:
        out.append(tree)
        return _LEAF
    if attributes or handlers[0] is not _subclass_flatten:
        children, aux = handlers[0](tree)
    else:
        children, keys = _dict_flatten(tree)
        aux = (keys, None)
    return (t, aux, tuple([_encode(c, out, attributes) for c in children]))


def _paths(encoding: Any, way: str, found: list[str]) -> None:
    if encoding == _LEAF:
        found.append(way)
    elif encoding != _NONE:
        for step, child in zip(_steps(encoding), encoding[2]):
            _paths(child, way + step, found)


def _steps(encoding: Any) -> list[str]:
    """How Python writes the way from a container to each of its children."""
    t, aux, children = encoding
    if issubclass(t, dict):
        attributes = hasattr(t, "__getattr__")  # as modules of a network have them
        return [f".{k}" if attributes else f"[{k!r}]" for _, k in _keys(t, aux)]
    names = getattr(t, "_fields", None) if issubclass(t, tuple) else None
    if names is None and dataclasses.is_dataclass(t):
        names = [f.name for f in dataclasses.fields(t)]
    if names is not None and len(names) == len(children):
        return [f".{name}" for name in names]
    return [f"[{i}]" for i in range(len(children))]


def _keys(t: type, aux: Any) -> Any:
    """(type, key) of the items of a dict."""
    return aux[1] if t is defaultdict else aux[0] if has_attributes(t) else aux


def _difference(new: Any, old: Any, way: str) -> tuple[str, str]:
    if new in (_LEAF, _NONE) or old in (_LEAF, _NONE) or new[0] is not old[0]:
        return way, f"is {_kind(new)} instead of {_kind(old)}"
    here, there = dict(zip(_steps(new), new[2])), dict(zip(_steps(old), old[2]))
    for step, child in here.items():
        if step not in there:
            return way + step, "is new"
        if child != there[step]:
            return _difference(child, there[step], way + step)
    for step in there:
        if step not in here:
            return way + step, "is gone"
    if list(here) != list(there):
        return way, "has its items in another order"
    if has_attributes(new[0]):
        return way, "has other attributes: " + ", ".join(_changed(new[1][1], old[1][1]))
    return way, "has changed"


def _changed(new: _Attributes | None, old: _Attributes | None) -> list[str]:
    """Names of attributes that differ."""
    a, b = ({part[0]: part for part in x.key} if x is not None else {} for x in (new, old))
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))


def _kind(encoding: Any) -> str:
    if encoding in (_LEAF, _NONE):
        return "None" if encoding == _NONE else "an array or a constant"
    name = encoding[0].__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def _decode(encoding: Any, found: Any) -> Any:
    if encoding == _LEAF:
        return next(found)
    if encoding == _NONE:
        return None
    t, aux, children = encoding
    handlers = _handlers(t)
    assert handlers is not None
    return handlers[1](aux, [_decode(c, found) for c in children])


def _flat(t: type, n: int) -> TreeDef:
    cache = _FLAT_LISTS if t is list else _FLAT_TUPLES
    while len(cache) <= n and n < 256:
        cache.append(TreeDef((t, None, (_LEAF,) * len(cache)), len(cache)))
    return cache[n] if n < 256 else TreeDef((t, None, (_LEAF,) * n), n)


def _show(encoding: Any) -> str:
    if encoding == _LEAF:
        return "*"
    if encoding == _NONE:
        return "None"
    t, aux, children = encoding
    parts = [_show(c) for c in children]
    if t is list:
        return "[" + ", ".join(parts) + "]"
    if t is tuple:
        return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"
    if issubclass(t, dict):
        parts = [f"{k[1]!r}: {p}" for k, p in zip(_keys(t, aux), parts)]
        return ("" if t is dict else t.__name__) + "{" + ", ".join(parts) + "}"
    return f"{t.__name__}({', '.join(parts)})"
