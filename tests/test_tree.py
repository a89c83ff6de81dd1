"""Trees: exact structures, hashing, rebuilding, and the kinds of containers."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eutectic import tree
from eutectic.errors import ArgumentError, ArgumentTypeError
from eutectic.tree import flatten, leaves, map_leaves, unflatten

Point = namedtuple("Point", "x y")


@dataclass
class Pair:
    left: Any
    right: Any


@dataclass(frozen=True)
class Frozen:
    value: Any


class Box:
    def __init__(self, inside: Any, label: str) -> None:
        self.inside, self.label = inside, label

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and (self.inside, self.label) == (other.inside, other.label)


tree.register_container(Box, lambda b: ([b.inside], b.label), lambda label, xs: Box(xs[0], label))

DISTINCT = [
    1, None, [], (), {}, [1], (1,), [None], [[]], [()], [1, 2], (1, 2), [[1], 2], [1, [2]],
    [[1, 2]], [(1, 2)],
    {"a": 1}, {"b": 1}, {"a": [1]}, {"a": 1, "b": 2}, {"b": 1, "a": 2},
    {1: 1}, {True: 1}, {1.0: 1}, {"1": 1}, Point(1, 2), Pair(1, 2), Pair(1, None), Frozen(1),
    Box(1, "a"), Box(1, "b"), Box([1], "a"), OrderedDict(a=1),
    [None, 1], [1, None], ([],), [[], []],
    {"a": {}}, {"a": None}, {"a": ()},
]


def test_structures_are_exact() -> None:
    defs = [flatten(t)[1] for t in DISTINCT]
    assert len(set(defs)) == len(DISTINCT)
    for i, a in enumerate(defs):
        for j, b in enumerate(defs):
            assert (a == b) is (i == j), (DISTINCT[i], DISTINCT[j])


@pytest.mark.parametrize("t", DISTINCT, ids=range(len(DISTINCT)))
def test_round_trip(t: Any) -> None:
    found, treedef = flatten(t)
    back = unflatten(treedef, found)
    assert back == t
    assert type(back) is type(t)
    assert flatten(back)[1] == treedef
    assert hash(flatten(back)[1]) == hash(treedef)


def test_fast_paths_give_the_same_structure() -> None:
    for n in (0, 1, 5, 300):
        flat = flatten(list(range(n)))[1]
        nested = flatten([list(range(n)), 0])[1].encoding[2][0]
        assert flat.encoding == nested
        assert flat.num_leaves == n


def test_order_and_leaves() -> None:
    assert leaves({"b": 1, "a": [2, (3, None)], "c": Pair(4, Point(5, 6))}) == [1, 2, 3, 4, 5, 6]
    assert leaves(None) == []
    assert leaves("text") == ["text"]
    assert map_leaves(lambda x: -x, {"a": (1, [2])}) == {"a": (-1, [-2])}


def test_default_dict_keeps_its_kind() -> None:
    d = defaultdict(list, {"a": 1})
    back = unflatten(flatten(d)[1], [2])
    assert type(back) is defaultdict
    assert back["a"] == 2
    assert back["missing"] == []


def test_subclasses_follow_their_base() -> None:
    class Layers(list):
        pass

    class Settings(dict):
        pass

    for t in (Layers([1, 2]), Settings(a=1)):
        back = unflatten(flatten(t)[1], flatten(t)[0])
        assert type(back) is type(t)
        assert back == t


def test_errors() -> None:
    with pytest.raises(ArgumentError, match=r"\[unflatten\] the tree has 2 leaves, 1 were given"):
        unflatten(flatten([1, 2])[1], [1])
    with pytest.raises(ArgumentTypeError, match=r"\[register_container\] needs a type, not a str"):
        tree.register_container("x", None, None)  # type: ignore[arg-type]


def test_shows() -> None:
    assert repr(flatten({"a": [1, (2,)], "b": None})[1]) == "TreeDef({'a': [*, (*,)], 'b': None})"
    assert repr(flatten(Point(1, 2))[1]) == "TreeDef(Point(*, *))"


trees = st.recursive(
    st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.tuples(inner, inner)
    | st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=8)


@given(trees)
def test_any_tree(t: Any) -> None:
    found, treedef = flatten(t)
    assert unflatten(treedef, found) == t
    assert treedef.num_leaves == len(found)


@given(trees, trees)
def test_any_two_trees(a: Any, b: Any) -> None:
    """Equal structures are exactly those that look the same with all leaves alike."""
    same = repr(map_leaves(lambda _: 0, a)) == repr(map_leaves(lambda _: 0, b))
    assert (flatten(a)[1] == flatten(b)[1]) is same


class Config(dict):
    """A dict with attributes, as modules are."""


def config(**attributes) -> Config:
    made = Config(a=1)
    vars(made).update(attributes)
    return made


def test_attributes_of_dicts_are_structure() -> None:
    marker = object()
    same = dict(n=1, x=0.5, names={"a"}, marker=marker)
    leaves, treedef = flatten([config(**same)])
    assert leaves == [1] and flatten([config(**same)])[1] == treedef
    made = unflatten(treedef, [7])[0]
    assert type(made) is Config and made["a"] == 7 and vars(made) == same
    made.names.add("b")  # a set of its own
    assert flatten([config(**same)])[1] == treedef
    for other in (dict(same, n=True), dict(same, x=-0.5), dict(same, names={"b"}),
                  dict(same, marker=object()), dict(same, more=None), {}):
        assert flatten([config(**other)])[1] != treedef
        assert flatten([config(**other)], attributes=False)[1] == flatten(
            [config(**same)], attributes=False)[1]
    assert repr(treedef) == "TreeDef([Config{'a': *}])"
    other = flatten([config(**dict(same, n=2, more=3))])[1]
    assert tree.first_difference(other, treedef) == ("[0]", "has other attributes: more, n")
    assert tree.paths(treedef) == ["[0]['a']"]
