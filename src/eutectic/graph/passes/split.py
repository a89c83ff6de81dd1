"""Readers of joined arrays are computed part by part: no concatenation in between is stored.

Where a kernel reads a concatenation or padding that nothing else needs, its loops are cut where
the parts meet: each box of the loops reads one part, through slices, and writes its box of the
results. A part's producers then fuse with the reader. The graph is rewritten and fused anew. What
stays one array has a reason: its reader runs along the joined axis in one row, say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eutectic.graph import prims
from eutectic.graph.affine import Form, Forms
from eutectic.graph.ir import CONST, Graph, Node, with_inputs
from eutectic.graph.joins import JOINS, Part, join, parts_of
from eutectic.graph.passes.forms import inner_size
from eutectic.graph.passes.fuse import FEW_ROWS, Fusion
from eutectic.graph.passes.groups import (
    MAX_NODES, Edge, Group, Refusal, is_row_class, reduced_size)
from eutectic.graph.passes.simplify import Rules
from eutectic.graph.prims import BROADCAST, GATHER, SCATTER, SLICE, TRANSPOSE, UPDATE
from eutectic.kernel.reductions import UNIT

SMALL = 8
"""A joined array this many times smaller than its reader's loops is not worth cutting them."""
NARROW, WASTE, FEW = 16, 1.5, 4096
"""Cut loops with more than FEW elements may compute WASTE times what is needed, in blocks of NARROW
at least: rows of 6 and 10 elements under one tanh won nothing (decision 0012)."""
Box = tuple[tuple[int, int], ...]
"""(first coordinate, length) on each axis of a node."""
Range = dict[int, tuple[int, int]]
"""(first, end) of loop indices; those that are missing run over all."""


@dataclass(slots=True)
class _Whole(Exception):
    """Why a joined array stays one."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def split(graph: Graph, fusion: Fusion) -> tuple[Graph, list[Refusal]]:
    """The graph with kernels cut where the arrays they read are joined, and what was refused.

    The graph itself comes back where nothing is cut.
    """
    readers: dict[Node, list[tuple[Group, Edge]]] = {}
    for g in fusion.groups:
        for e in g.edges:
            if e.base.prim in JOINS and e.base.data is None:
                readers.setdefault(e.base, []).append((g, e))
    known = {id(n) for n in graph.order}
    wanted = {id(b) for b in (*graph.outputs, *fusion.views.values())}
    refusals: list[Refusal] = []

    def refuse(n: Node, g: Group, e: Edge, reason: str) -> None:
        refusals.append(Refusal(n, e.consumer, "joined", reason))
        readers.pop(n)
    for n, uses in list(readers.items()):
        why = "it is a result itself" if id(n) in wanted else _kept(n, uses, known)
        if why is not None:
            refuse(n, *uses[0], why)
    cuts: dict[int, tuple[Group, list[Range]]] = {}
    while readers:
        cuts = {}
        try:
            for n, uses in readers.items():
                for g, e in uses:
                    at = n, g, e
                    if id(g) not in cuts:
                        cuts[id(g)] = g, _ranges(g, readers)
            break
        except _Whole as whole:
            refuse(*at, whole.reason)
    while readers:
        rewriter = _Rewriter(graph, {id(n) for n in readers}, cuts)
        try:
            return rewriter.run(), refusals
        except _Whole as whole:
            # All that this kernel reads stays joined, and so other kernels are cut in fewer boxes.
            assert rewriter.group is not None
            for n, uses in list(readers.items()):
                for g, e in uses:
                    if g is rewriter.group:
                        refuse(n, g, e, whole.reason)
                        break
            cuts = {id(g): (g, _ranges(g, readers)) for uses in readers.values()
                    for g, _e in uses}
    return graph, refusals


def _kept(n: Node, uses: Sequence[tuple[Group, Edge]], known: set[int]) -> str | None:
    """Why a joined array is stored however its readers' loops could be cut."""
    for g, e in uses:
        if g.domain() == 0:
            return "no element of it is read"
        if g.kind not in ("map", "row", "col") or e.layout is not None:
            return f"{e.consumer.prim.name} reads it from one memory"
        if any(m.prim is UPDATE for m in g.members) or any(
                whole.prim is SCATTER for whole, _o, _s in g.dests.values()):
            return "a scatter changes a copy of it"
        if any(id(o) not in known and id(o) not in g.dests for o in g.outputs):
            return "it is copied into the order that its reader needs"
        if n.size * SMALL < g.domain():
            return "it is small beside the loops that read it"
    if len({(id(g), e.forms) for g, e in uses}) > 1 and not all(
            _in_memory(p) for p, _at in parts_of(n)):
        return "it is read through several index maps, and its parts would be computed for each"
    return None


def _in_memory(n: Node) -> bool:
    """Whether a node is stored, or needs no storing, whoever reads it."""
    while n.prim.family == "view" and n.data is None:
        n = n.inputs[0]
    return n.data is not None or n.prim.family not in ("elementwise", "reduction", "scan")


# ---- where loops are cut ------------------------------------------------------------------------

def _ranges(g: Group, joined: dict[Node, list[tuple[Group, Edge]]]) -> list[Range]:
    """The boxes of a group's loops in each of which every joined array is one part."""
    boxes: list[Range] = [{}]
    for e in {(n, e.forms): e for n in joined for h, e in joined[n] if h is g}.values():
        boxes = [both for part in _part_ranges(g, e) for box in boxes
                 for both in _meet(box, part, g)]
        if len(boxes) * len(g.members) > MAX_NODES:
            raise _Whole(f"its reader would become {len(boxes)} kernels")
    for o in g.outputs:
        forms = g.maps[id(o)]
        for d in {d for box in boxes for d in box}:
            here = [form for form in forms if d in dict(form[1])]
            if len(here) != 1 or here[0][0] or _outermost(here[0], g)[0] != d:
                raise _Whole("its reader's results lie in another order than the parts")
    if g.kind == "row" and inner_size(g) > UNIT * 64:
        rows = [_steps(g, box, [d for d in g.order if d not in g.inner]) for box in boxes]
        if min(rows) < FEW_ROWS <= g.outer_size():
            raise _Whole(f"a part has {min(rows)} of its reader's long rows, too few for the "
                         "threads")
    if g.domain() > FEW and any(g.order[-1] in box for box in boxes):
        work = 0
        for box in boxes:
            length = _steps(g, box, g.order[-1:])
            blocks = length if length == 1 else -(-length // NARROW) * NARROW
            work += blocks * _steps(g, box, g.order[:-1])
        if work > WASTE * g.domain():
            raise _Whole("the rows of its parts are short and fill their blocks badly")
    return boxes


def _steps(g: Group, box: Range, order: Sequence[int]) -> int:
    """How many steps some loops of a group have in a box."""
    return math.prod([hi - lo for lo, hi in (box.get(d, (0, g.sizes[d])) for d in order)])


def _part_ranges(g: Group, e: Edge) -> Iterator[Range]:
    """For each part of the joined array that an edge reads, the loops that read it."""
    n = e.base
    for part, starts in parts_of(n):
        found: Range = {}
        for (first, terms), start, size, length in zip(e.forms, starts, part.shape, n.shape):
            lo, hi = start - first, start + size - first
            if size == length:
                continue
            if not terms:
                if not lo <= 0 < hi:
                    break
                continue
            d, step = _outermost((first, terms), g)
            if not step or lo % step or hi % step:
                raise _Whole("its reader runs through it in steps, backwards or along several "
                             "loops at once")
            if d in g.inner:
                raise _Whole("the joined axis lies within the rows that its reader reduces")
            meet = _meet(found, {d: (lo // step, hi // step)}, g)
            if not meet:
                break
            [found] = meet
        else:
            yield found


def _outermost(form: Form, g: Group) -> tuple[int, int]:
    """The loop index that a coordinate moves by `step` with, the others filling what is between.

    As (index, step); the step is 0 where there is no such index.
    """
    *rest, (d, step) = sorted(form[1], key=lambda t: abs(t[1]))
    reach = 1
    for i, c in rest:
        if c != reach:
            return d, 0
        reach *= g.sizes[i]
    return d, step if step == reach else 0


def _meet(a: Range, b: Range, g: Group) -> list[Range]:
    """What two boxes have in common: one box, or none."""
    out = dict(a)
    for d, (lo, hi) in b.items():
        first, end = a.get(d, (0, g.sizes[d]))
        out[d] = lo, hi = max(lo, first), min(hi, end)
        if lo >= hi:
            return []
    return [{d: r for d, r in out.items() if r != (0, g.sizes[d])}]


# ---- computing boxes ----------------------------------------------------------------------------

class _Rewriter:
    """Builds the graph anew, the outputs of cut groups from boxes."""

    def __init__(self, graph: Graph, joined: set[int],
                 cuts: dict[int, tuple[Group, list[Range]]]) -> None:
        self.graph = graph
        self.joined = joined
        self.new: dict[int, Node] = {}
        self.group: Group | None = None
        self.results: dict[int, tuple[Group, list[Range], Forms]] = {}
        """What is computed in boxes, by id: an output of a group, or what a join's part copies."""
        self.parts: dict[int, tuple[Group, list[Range], Forms]] = {}
        self.rules = Rules()  # boxes of a padding are constants
        for g, boxes in cuts.values():
            for o in g.outputs:
                if id(o) in g.dests:
                    self.parts[id(o.inputs[0])] = g, boxes, g.maps[id(o)]
                else:
                    self.results[id(o)] = g, boxes, g.maps[id(o)]

    def run(self) -> Graph:
        for n in self.graph.order:
            cut = self.results.get(id(n))
            if cut is not None:
                self.new[id(n)] = self._boxes(n, *cut)
                continue
            self.new[id(n)] = with_inputs(n, [
                self._boxes(i, *self.parts[id(i)]) if n.prim in JOINS and id(i) in self.parts
                else self.new[id(i)] for i in n.inputs])
        return Graph(self.graph.inputs, [self.new[id(o)] for o in self.graph.outputs],
                     self.graph.name)

    def _boxes(self, n: Node, g: Group, ranges: list[Range], forms: Forms) -> Node:
        self.group = g
        found: list[Part] = []
        for r in ranges:
            at = []
            for form, d in zip(forms, n.shape):
                i, step = _outermost(form, g) if form[1] else (0, 0)
                at.append((r[i][0] * step, r[i][1] * step) if i in r else (0, d))
            box = tuple([(lo, hi - lo) for lo, hi in at])
            found.append((_Restriction(self, g).node(n, box), tuple([lo for lo, _hi in at])))
        return join(found, n)


class _Restriction:
    """One box of a group's loops: its members over that box alone."""

    def __init__(self, rewriter: _Rewriter, g: Group) -> None:
        self.rewriter = rewriter
        self.g = g
        self.done: dict[tuple[int, Box], Node] = {}

    def node(self, n: Node, box: Box) -> Node:
        key = id(n), box
        if key not in self.done:
            self.done[key] = self._node(n, box)
        return self.done[key]

    def _node(self, n: Node, box: Box) -> Node:
        if n.prim is CONST or n.data is not None:
            return _slice(n, box)
        if n.prim.family == "view":
            return self._view(n, box)
        if id(n) in self.rewriter.joined:
            for part, starts in parts_of(n):
                if all(at <= lo and lo + d <= at + size for at, size, (lo, d) in zip(
                        starts, part.shape, box)):
                    return self._part(part, tuple([(lo - at, d) for at, (lo, d) in zip(
                        starts, box)]))
            raise _Whole("its reader needs several parts at once")
        if not self.g.holds(n):
            return _slice(self.rewriter.new[id(n)], box)
        shape = tuple([d for _lo, d in box])
        if n.prim.family == "reduction":
            it = iter(box)
            source = tuple([(0, d) if a in n.attrs[0] else next(it)
                            for a, d in enumerate(n.inputs[0].shape)])
            new = Node(n.prim, (self.node(n.inputs[0], source),), n.attrs, shape, n.dtype)
            if is_row_class(new) != is_row_class(n) and reduced_size(n) > 1:
                raise _Whole("a part is one column wide, where sums have another order")
        else:
            inputs = [self._table(n, box) if n.prim is GATHER and i == 0 else
                      self.node(operand, _operand_box(n.shape, box, operand.shape))
                      for i, operand in enumerate(n.inputs)]
            new = Node(n.prim, tuple(inputs), n.attrs, shape, n.dtype)
        new.source = n.source
        return self.rewriter.rules(new)

    def _part(self, part: Node, box: Box) -> Node:
        """A box of a part, which is computed by other groups, if at all."""
        try:
            return self.node(part, box)
        except _Whole:  # a reshape of memory that gives no box: its index map may be one
            base = part
            while base.prim.family == "view" and base.data is None:
                base = base.inputs[0]
            if id(base) in self.rewriter.joined or self.g.holds(base):
                raise
            return _slice(self.rewriter.new[id(part)], box)

    def _table(self, n: Node, box: Box) -> Node:
        """The array of a gather, cut on the axes whose coordinates are the result's."""
        table = self.rewriter.new[id(n.inputs[0])]
        return _slice(table, tuple([box[a] if a >= 0 else (0, d)
                                    for a, d in zip(n.attrs[0], table.shape)]))

    def _view(self, n: Node, box: Box) -> Node:
        source = n.inputs[0]
        shape = tuple([d for _lo, d in box])
        if n.prim is TRANSPOSE:
            inner = [(0, 0)] * len(box)
            for p, b in zip(n.attrs[0], box):
                inner[p] = b
            return prims.transpose(self.node(source, tuple(inner)), n.attrs[0])
        if n.prim is BROADCAST:
            return prims.broadcast(
                self.node(source, _operand_box(n.shape, box, source.shape)), shape)
        if n.prim is SLICE:
            inner, first = [], []
            for start, step, (lo, d) in zip(*n.attrs, box):
                ends = start + step * lo, start + step * (lo + d - 1)
                inner.append((min(ends), abs(step) * (d - 1) + 1))
                first.append(0 if step > 0 else inner[-1][1] - 1)
            return prims.slice_(self.node(source, tuple(inner)), tuple(first), n.attrs[1], shape)
        return prims.reshape(self.node(source, _reshaped_box(n.shape, box, source.shape)), shape)


def _slice(n: Node, box: Box) -> Node:
    return prims.slice_(n, tuple([lo for lo, _d in box]), (1,) * len(box),
                        tuple([d for _lo, d in box]))


def _operand_box(shape: tuple[int, ...], box: Box, operand: tuple[int, ...]) -> Box:
    """The box of an operand that broadcasts to `shape`."""
    front = len(shape) - len(operand)
    return tuple([(0, 1) if d == 1 else box[front + i] for i, d in enumerate(operand)])


def _reshaped_box(shape: tuple[int, ...], box: Box, source: tuple[int, ...]) -> Box:
    """The box before a row-major reshape to `shape`, where it is one."""
    out = [(0, d) for d in source]
    if 0 in source:
        return tuple(out)
    i, j = 0, 0
    while j < len(shape):
        if box[j] == (0, shape[j]) and shape[j] == 1:
            j += 1
            continue
        # A run of axes on both sides that hold equally many elements.
        first_in, first_out, n_in, n_out = i, j, 1, 1
        while n_in != n_out or n_in == 1:
            if n_in <= n_out and i < len(source):
                n_in, i = n_in * source[i], i + 1
            else:
                n_out, j = n_out * shape[j], j + 1
        if all(box[k] == (0, shape[k]) for k in range(first_out, j)):
            continue
        k = next(k for k in range(first_out, j) if shape[k] != 1)
        m = next(m for m in range(first_in, i) if source[m] != 1)
        rest = math.prod(shape[k + 1:j])
        step = math.prod(source[m + 1:i])
        (lo, d), tail = box[k], range(k + 1, j)
        if any(box[x] != (0, shape[x]) for x in tail) or lo * rest % step or d * rest % step:
            raise _Whole("a reshape joins its axis with others before its reader")
        out[m] = lo * rest // step, d * rest // step
    return tuple(out)
