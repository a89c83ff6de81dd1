"""Coordinates of nodes over the loops of a group: order, coverage, rows that go together.

What the rules of fusion (`fuse`) ask; nothing here changes a group.
"""

from __future__ import annotations

from eutectic.graph import affine
from eutectic.graph.affine import Forms, is_bijective
from eutectic.graph.ir import CONST, Node
from eutectic.graph.passes.groups import Group
from eutectic.kernel.reductions import lanes, ordered


def renamed(forms: Forms, names: dict[int, int]) -> Forms:
    return tuple([(c, tuple(sorted((names[d], k) for d, k in terms))) for c, terms in forms])


def forms_over(g: Group, shape: tuple[int, ...]) -> Forms:
    it = iter(list(g.order))
    return tuple([affine.ZERO if d == 1 else affine.pure(next(it)) for d in shape])


def in_order(g: Group, forms: Forms) -> bool:
    """Whether the coordinates run through the loop indices in row-major order."""
    order = [d for d in g.order if d not in g.inner or g.kind == "map"]
    found = [d for _c, terms in forms for d, _k in sorted(terms, key=lambda t: -t[1])]
    return found == [d for d in order if d in set(found)] and is_bijective(forms)


def in_order_all(g: Group, forms: Forms) -> bool:
    """As `in_order`, over the reduced indices too."""
    found = [d for _c, terms in forms for d, _k in sorted(terms, key=lambda t: -t[1])]
    return found == [d for d in g.order if d in set(found)] and is_bijective(forms)


def in_order_prefix(g: Group, forms: Forms, tail: set[int]) -> bool:
    found = [d for _c, terms in forms for d, _k in sorted(terms, key=lambda t: -t[1])]
    return found == [d for d in g.order if d not in tail]


def trailing(g: Group, size: int, used: set[int]) -> set[int]:
    """The innermost loop indices that together have `size` steps and are not `used`."""
    out: set[int] = set()
    total = 1
    for d in reversed(g.order):
        if total >= size:
            break
        if d in used:
            return set()
        out.add(d)
        total *= g.sizes[d]
    return out if total == size and out else set()


def inner_size(g: Group) -> int:
    total = 1
    for d in g.inner:
        total *= g.sizes[d]
    return total


def lane_clash(n: Node, g: Group) -> str | None:
    """Two ordered row reductions of one kernel need the same number of lanes."""
    mine = n.inputs[0].dtype.compute
    assert n.prim.reduction is not None
    if not ordered(n.prim.reduction, mine):
        return None
    for m in g.members:
        if m.prim.reduction is not None:
            other = m.inputs[0].dtype.compute
            if ordered(m.prim.reduction, other) and lanes(other) != lanes(mine):
                return f"sums of {mine} and {other} have different lanes"
    return None


def reads_alike(n: Node, a: Group, b: Group) -> bool:
    """Whether two groups with the same loops read a node at the same places."""
    names = dict(zip(b.order, a.order))
    mine = [e.forms for e in a.by_base.get(id(n), [])]
    return any(renamed(e.forms, names) in mine for e in b.by_base.get(id(n), []))


def shares(a: Group, b: Group) -> bool:
    """Whether one kernel would read less than two, or neither reads anything."""
    if any(reads_alike(e.base, a, b) for e in a.edges if e.base.prim is not CONST
           and a.size_of(e.forms) == a.domain()):
        return True
    return all(e.base.prim is CONST or g.holds(e.base) for g in (a, b) for e in g.edges)
