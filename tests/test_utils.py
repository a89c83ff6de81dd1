"""Trees as `mlx.utils` sees them: paths, structure, merging."""

from __future__ import annotations

import importlib.util
import itertools
import pprint
import subprocess
import sys
from collections import namedtuple
from typing import Any

import pytest

import eutectic.core as mx
from eutectic.utils import (
    tree_flatten, tree_map, tree_map_with_path, tree_merge, tree_reduce, tree_unflatten)

Pair = namedtuple("Pair", "a b")
TREE = {"layers": [{"w": 1, "b": None}, {"w": (2, 3)}], "out": Pair(4, []), "none": {}}
FLAT = [("layers.0.w", 1), ("layers.0.b", None), ("layers.1.w.0", 2), ("layers.1.w.1", 3),
        ("out.0", 4)]


def test_flatten() -> None:
    assert tree_flatten(TREE) == FLAT
    assert tree_flatten(TREE, destination={}) == dict(FLAT)
    assert tree_flatten(5) == [("", 5)]
    assert tree_flatten(None) == [("", None)]
    assert tree_flatten([1, 2], prefix=".p") == [("p.0", 1), ("p.1", 2)]
    assert tree_flatten({1: 2}) == [("1", 2)]
    assert tree_flatten([1, [2, 3]], is_leaf=lambda t: t == [2, 3]) == [("0", 1), ("1", [2, 3])]
    kept = [("x", 0)]
    assert tree_flatten([1], destination=kept) is kept
    assert kept == [("x", 0), ("0", 1)]


def test_unflatten() -> None:
    assert tree_unflatten(FLAT) == {
        "layers": [{"w": 1, "b": None}, {"w": [2, 3]}], "out": [4]}
    assert tree_unflatten(dict(FLAT)) == tree_unflatten(FLAT)
    assert tree_unflatten([("", 5)]) == 5
    assert tree_unflatten([]) == []
    assert tree_unflatten([("2", 1), ("0", 2)]) == [2, {}, 1]
    assert tree_unflatten([("0", 1), ("a", 2)]) == {"0": 1, "a": 2}
    assert tree_unflatten([("a", 1), ("a.b", 2)]) == {"a": {"": 1, "b": 2}}
    assert tree_unflatten([(f"l.{i}", i) for i in range(12)]) == {"l": list(range(12))}
    with pytest.raises(ValueError, match=r"\[tree_unflatten\] 2 values have the path"):
        tree_unflatten([("a", 1), ("a", 2)])
    with pytest.raises(ValueError, match=r"\[tree_unflatten\] index 999999999999 in a list"):
        tree_unflatten([("a.999999999999", 1)])


def test_map() -> None:
    tree = {"a": [1, (2, 3)], "b": Pair(4, None)}
    assert tree_map(lambda x: [x], tree) == {"a": [[1], ([2], [3])], "b": Pair([4], [None])}
    assert tree_map(lambda x, y: (x, y), {"a": 1}, {"a": {"b": 2}}) == {"a": (1, {"b": 2})}
    assert tree_map(sum, [[1, 2], [3]], is_leaf=lambda t: t != [[1, 2], [3]]) == [3, 3]
    assert tree_map_with_path(lambda p, x: p, tree) == {
        "a": ["a.0", ("a.1.0", "a.1.1")], "b": Pair("b.0", "b.1")}
    assert tree_map_with_path(lambda p, x, y: (p, x, y), [5], [6], path="q") == [("q.0", 5, 6)]
    assert tree_map_with_path(lambda p, x: (p, x), 5) == (None, 5)
    with pytest.raises(KeyError):
        tree_map(lambda x, y: x, {"a": 1}, {"b": 1})
    with pytest.raises(IndexError):
        tree_map(lambda x, y: x, [1, 2], [1])


def test_reduce() -> None:
    add = lambda x, y: x + y  # noqa: E731
    assert tree_reduce(add, {"a": [1, 2], "b": 3}) == 6
    assert tree_reduce(add, [1, 2], 10) == 13
    assert tree_reduce(add, []) is None
    assert tree_reduce(add, [], 5) == 5
    assert tree_reduce(lambda n, t: n + len(t), [[1, 2], [3]], 0, lambda t: len(t) < 3
                       and isinstance(t[0], int)) == 3


def test_merge() -> None:
    assert tree_merge({"a": 1}, {"b": 2}) == {"a": 1, "b": 2}
    assert tree_merge([1, None], [None, 2]) == [1, 2]
    assert tree_merge((1,), (None, 2)) == (1, 2)
    assert tree_merge(Pair(1, None), Pair(None, 2)) == Pair(1, 2)
    assert tree_merge({"a": {}}, {"a": [1]}) == {"a": [1]}
    assert tree_merge({"a": 1}, {"a": 2}, lambda x, y: x + y) == {"a": 3}
    with pytest.raises(ValueError, match="a int and a int stand at the same place"):
        tree_merge({"a": 1}, {"a": 2})
    with pytest.raises(ValueError, match="a list and a dict cannot be merged"):
        tree_merge([], {})


def test_with_arrays() -> None:
    model = {"w": mx.ones((2, 2)), "b": [mx.zeros(2)]}
    half = tree_map(lambda x: x.astype(mx.float16), model)
    assert [(p, a.dtype) for p, a in tree_flatten(half)] == [
        ("w", mx.float16), ("b.0", mx.float16)]
    assert tree_reduce(lambda n, a: n + a.size, model, 0) == 6


_TREES: list[Any] = [None, 0, 1, {}, [], (), {"a": 1}, [1], (1,), [1, 2], [None], {"a": None},
                     {"a": {"b": 1}, "c": [1, (2, {"x": 3})]}]


def outcomes(u: Any) -> list[str]:
    """What the functions do on many trees, as text."""
    def tried(f: Any, *args: Any, **named: Any) -> str:
        try:
            # MLX's order of merged keys changes from run to run.
            return pprint.pformat(f(*args, **named), width=10_000)
        except ValueError:
            return "ValueError"

    pair = lambda p, x: (p, x)  # noqa: E731
    out = []
    for a, b, f in itertools.product(_TREES, _TREES, (None, pair)):
        out.append(tried(u.tree_merge, a, b, f))
    for a in _TREES:
        for prefix, destination in itertools.product(("", "p", ".p.q"), (None, dict)):
            out.append(tried(u.tree_flatten, a, prefix,
                             destination=destination and destination()))
        out.append(tried(u.tree_unflatten, u.tree_flatten(a)))
        out.append(tried(u.tree_map_with_path, pair, a, path="q"))
        out.append(tried(u.tree_reduce, pair, a))
    return out


@pytest.mark.skipif(importlib.util.find_spec("mlx") is None, reason="mlx is not installed")
def test_as_mlx_does() -> None:
    import eutectic.utils

    script = (f"import sys; sys.path.insert(0, {str(__file__).rpartition('/')[0]!r})\n"
              "import test_utils, mlx.utils\nprint(*test_utils.outcomes(mlx.utils), sep='\\n')")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == outcomes(eutectic.utils)


class Point:
    def __init__(self, x: Any, y: Any, name: str = "") -> None:
        self.x, self.y, self.name = x, y, name


class Later(Point):
    pass


def test_registered_types_are_containers() -> None:
    assert tree_flatten([Later(1, 2)])[0][0] == "0"  # seen before its base is registered
    mx.register_container(Point, lambda p: ((p.x, p.y), p.name),
                          lambda name, xy: Point(*xy, name))
    tree = {"p": Point(1, [2, 3], "first")}
    found = tree_map(lambda a, b: a + b, tree, {"p": Point(10, [20, 30])})["p"]
    assert (type(found), found.x, found.y, found.name) == (Point, 11, [22, 33], "first")
    found = tree_map_with_path(lambda path, a: f"{path}={a}", tree)["p"]
    assert (found.x, found.y, found.name) == ("p.0=1", ["p.1.0=2", "p.1.1=3"], "first")
    assert tree_flatten(tree) == [("p.0", 1), ("p.1.0", 2), ("p.1.1", 3)]
    assert tree_reduce(lambda total, a: total + a, tree, 0) == 6
    assert tree_map(lambda a: a, tree, is_leaf=lambda t: isinstance(t, Point))["p"] is tree["p"]
    assert tree_flatten([Later(1, 2)]) == [("0.0", 1), ("0.1", 2)]
    assert tree_map(lambda a: 2 * a, [mx.array(1), Point(mx.array(2), 3)])[1].x.item() == 4
