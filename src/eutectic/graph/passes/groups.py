"""Groups of nodes that one kernel computes, and what must hold of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from eutectic.graph import affine
from eutectic.graph.affine import Form, Forms, NeedSplit, NotAffine
from eutectic.graph.ir import CONST, Node
from eutectic.graph.prims import COPY, GATHER, RESHAPE
from eutectic.kernel.spec import body_cost

MAX_NODES = 192
"""Nodes in one group: bounds the time to compile a kernel and the registers it needs."""
MAX_ARGUMENTS = 48
LARGE_PRODUCT = 1 << 18
"""Elements of a product above which what is done with it may be better apart."""
PRODUCT_ARRAYS = 2
"""Other arrays of a large product\'s size that its epilogue may read and write (decision 0011)."""
GATHER_COST = 12.0
RECOMPUTE_COST = 6.0
"""Weighted instructions that may be computed again rather than stored."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why two neighbouring nodes are not in one kernel."""

    producer: Node
    consumer: Node
    rule: str
    """Short name of the rule, for counting and tests."""
    reason: str
    """The sentence for people."""


@dataclass(slots=True)
class Edge:
    """A use of `base` (not a view) by `consumer`, at coordinates `forms`."""

    consumer: Node
    position: int
    base: Node
    forms: Forms
    layout: tuple[int, tuple[int, ...]] | None = None
    """Of a product's operand: (offset, strides) in elements within the base's memory."""


@dataclass(eq=False, slots=True)
class Group:
    """Nodes computed together over the loop indices `order` (outermost first).

    `kind` is 'map', 'row', 'col', 'product' or 'call'. In a row group the indices in `inner` are
    the reduced ones and come last; in a col group `inner` holds the reduced indices, which lie
    before the innermost ones. `maps` gives each member's coordinates.
    """

    kind: str
    order: list[int]
    sizes: dict[int, int]
    inner: set[int] = field(default_factory=set)
    members: list[Node] = field(default_factory=list)
    maps: dict[int, Forms] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    outputs: list[Node] = field(default_factory=list)
    heavy: Node | None = None
    """The product or the column reduction that the other members follow."""
    recompute: float = 0.0
    by_base: dict[int, list[Edge]] = field(default_factory=dict)
    merged_into: Group | None = None
    dests: dict[int, tuple[Node, int, tuple[int, ...]]] = field(default_factory=dict)
    """(node, offset, strides) by output's id: the output is a part of this node's memory."""
    after: list[Node] = field(default_factory=list)
    """Nodes that must be computed before, though they are not read."""
    covered: dict[Forms, tuple[set[int], int, bool]] = field(default_factory=dict)
    """What `coverage` found."""

    def domain(self) -> int:
        return math.prod([self.sizes[d] for d in self.order])

    def outer_size(self) -> int:
        return math.prod([self.sizes[d] for d in self.order if d not in self.inner])

    def size_of(self, forms: Forms) -> int:
        """Number of different coordinates that the loop gives a node: product of its indices."""
        return math.prod([self.sizes[d] for d in self.indices(forms)])

    def indices(self, forms: Forms) -> set[int]:
        return {d for f in forms for d, _c in f[1]}

    def coverage(self, forms: Forms) -> tuple[set[int], int, bool]:
        """(`indices`, `size_of`, whether different indices give different coordinates)."""
        found = self.covered.get(forms)
        if found is None:
            found = self.covered[forms] = (
                self.indices(forms), self.size_of(forms), affine.is_bijective(forms))
        return found

    def arguments(self) -> int:
        """Arrays that the kernel reads or writes."""
        return sum([k not in self.maps for k in self.by_base]) + len(self.outputs)

    def traffic(self, n: Node) -> int:
        """Arrays of the size of `n` that the kernel reads or writes besides `n`."""
        read = {id(i) for m in self.members for i in m.inputs
                if i is not n and i.size == n.size and id(i) not in self.maps}
        return len(read) + len(self.outputs)

    def holds(self, n: Node) -> bool:
        return id(n) in self.maps

    def split(self, index: int, inner: int) -> None:
        """Split a loop index into (outer, inner long), everywhere in the group."""
        a, b = _fresh(), _fresh()
        at = self.order.index(index)
        self.order[at:at + 1] = [a, b]
        self.covered.clear()
        size = self.sizes.pop(index)
        self.sizes[a], self.sizes[b] = size // inner, inner
        if index in self.inner:
            self.inner.remove(index)
            self.inner |= {a, b}

        def through(forms: Forms) -> Forms:
            return tuple([affine.split(f, index, a, b, inner) for f in forms])
        self.maps = {k: through(v) for k, v in self.maps.items()}
        for e in self.edges:
            e.forms = through(e.forms)

    def add(self, n: Node, forms: Forms, copy_of: Callable[[Node], Node],
            stored: Callable[[Node], tuple[Node, int, tuple[int, ...]]]) -> None:
        """Make a node a member at `forms`, and follow its operands through views.

        `copy_of` makes a view readable that is no linear index map; `stored` gives the memory of
        an array that is read at places which only its values decide.
        """
        self.members.append(n)
        self.maps[id(n)] = forms
        for i, operand in enumerate(n.inputs):
            if n.prim is GATHER and i == 0:
                base, offset, strides = stored(operand)
                at = tuple([forms[a] if a >= 0 else affine.ZERO for a in n.attrs[0]])
                edge = Edge(n, 0, base, at, (offset, strides))
                self.edges.append(edge)
                self.by_base.setdefault(id(base), []).append(edge)
                continue
            if operand.prim is CONST:
                continue
            self._follow(n, i, operand, copy_of)

    def _operand(self, n: Node, i: int, operand: Node) -> Forms:
        forms = self.maps[id(n)]
        if n.prim.family == "reduction":
            return reduction_forms(self, n, forms)
        return affine.operand_forms(forms, n.shape, operand.shape)

    def _follow(self, n: Node, i: int, operand: Node, copy_of: Callable[[Node], Node]) -> None:
        while True:
            base = operand
            try:
                forms = self._operand(n, i, operand)
                while base.prim.family == "view" and base.data is None:
                    if base.prim is RESHAPE and base.inputs[0].prim is CONST:
                        base, forms = base.inputs[0], ()
                        break
                    try:
                        forms = affine.back(base, forms, self.sizes)
                    except NotAffine:
                        # Written out in its own order, the reshaped array is row-major again.
                        base = copy_of(base)
                        continue
                    base = base.inputs[0]
            except NeedSplit as need:
                self.split(need.index, need.inner)
                continue
            break
        edge = Edge(n, i, base, forms)
        self.edges.append(edge)
        self.by_base.setdefault(id(base), []).append(edge)


_next = [0]


def _fresh() -> int:
    _next[0] += 1
    return _next[0]


def new_indices(shape: tuple[int, ...]) -> tuple[list[int], dict[int, int], Forms]:
    """Loop indices over a shape: (order, sizes, coordinates); axes of length 1 have none."""
    order: list[int] = []
    sizes: dict[int, int] = {}
    forms: list[Form] = []
    for d in shape:
        if d == 1:
            forms.append(affine.ZERO)
            continue
        i = _fresh()
        order.append(i)
        sizes[i] = d
        forms.append(affine.pure(i))
    return order, sizes, tuple(forms)


def reduction_forms(g: Group, n: Node, forms: Forms) -> Forms:
    """Coordinates of a reduction's operand: kept axes as the result's, others from `inner`."""
    axes = n.attrs[0]
    source = n.inputs[0].shape
    reduced = [g_i for g_i in g.order if g_i in g.inner]
    flat = affine.ZERO
    step = 1
    for d in reversed(reduced):
        flat = affine.add(flat, affine.scale(affine.pure(d), step))
        step *= g.sizes[d]
    sizes = tuple([source[a] for a in axes])
    inner = affine.reshape_back((math.prod(sizes),), (flat,), sizes, g.sizes)
    it, kept = iter(inner), iter(forms)
    return tuple([next(it) if a in axes else next(kept) for a in range(len(source))])


def is_row_class(n: Node) -> bool:
    """Whether a reduction's innermost axis (of those longer than 1) is reduced."""
    axes, shape = n.attrs[0], n.inputs[0].shape
    for a in range(len(shape) - 1, -1, -1):
        if shape[a] != 1:
            return a in axes
    return True


def reduced_size(n: Node) -> int:
    return math.prod([n.inputs[0].shape[a] for a in n.attrs[0]])


def node_cost(n: Node) -> float:
    """Weighted instructions an element of an elementwise node takes."""
    if n.prim is GATHER:
        return GATHER_COST
    if n.prim.body is None:
        return 1.0
    c = body_cost(n.prim, n.attrs, tuple([i.dtype.compute for i in n.inputs]))
    return c + (2.0 if n.dtype.is_half else 0.0)


def copy_node(n: Node) -> Node:
    c = Node(COPY, (n,), (), n.shape, n.dtype)
    c.source = n.source
    return c


def call_reason(n: Node | None) -> str:
    """Why nothing joins an operation that is no loop."""
    assert n is not None
    what = {"native": "has machine code of its own", "place": "puts parts into one memory",
            "loop": "runs a body of its own", "result": "comes from a body of its own"}
    return f"{n.prim.name} {what.get(n.prim.family, 'is computed by a library')}"
