"""Fusion: which nodes share a kernel.

Nodes are visited from results to inputs. A node joins the group of a consumer when every rule
allows it; otherwise it starts a group and is stored. Visiting backwards, all consumers of a node
are placed when its turn comes, so a group can be left out of a cycle by looking at what is there.
Each refusal is recorded with its rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from eutectic.graph import prims
from eutectic.graph.affine import Forms, NotAffine
from eutectic.graph.ir import INPUT, Graph, Node, with_inputs
from eutectic.graph.joins import JOINS, Part, parts_of
from eutectic.graph.layout import row_major, view_layout
from eutectic.graph.loops import RESULT
from eutectic.graph.passes.control import place_control
from eutectic.graph.passes.dependences import Dependences
from eutectic.graph.passes.forms import (
    forms_over, in_order, in_order_all, in_order_prefix, inner_size, is_bijective, lane_clash,
    reads_alike, renamed, shares, trailing)
from eutectic.graph.passes.groups import (
    LARGE_PRODUCT, MAX_ARGUMENTS, MAX_NODES, PRODUCT_ARRAYS, RECOMPUTE_COST, Edge, Group, Refusal,
    _fresh, call_reason, copy_node, is_row_class, new_indices, node_cost, reduced_size)
from eutectic.graph.prims import GATHER, MATMUL, SCATTER, UPDATE
from eutectic.kernel.reductions import UNIT

# Reduced axes become one; arrays that are uneven along it are copied, which addresses cannot be.
_UNEVEN = "the addresses of a gather do not run evenly along several reduced axes"
FEW_ROWS = 8
"""Fewer rows than this do not keep the threads busy: a long row is then reduced on its own."""


@dataclass(slots=True)
class Fusion:
    """Result of the pass: groups in an order in which they can run, and the refusals."""

    graph: Graph
    groups: list[Group]
    refusals: list[Refusal] = field(default_factory=list)
    views: dict[int, Node] = field(default_factory=dict)
    """Graph outputs that are views: id of the view -> the base that is stored."""


def fuse(graph: Graph, enabled: bool = True,
         strides_of: Callable[[Node], tuple[int, ...]] | None = None) -> Fusion:
    """Put the graph's nodes into groups, one kernel each; `enabled=False`: a group a node.

    `strides_of` gives the strides of an input's memory; row-major where it is not given.
    """
    return _Fuser(graph, enabled, strides_of or (lambda n: row_major(n.shape))).run()


class _Fuser:
    def __init__(self, graph: Graph, enabled: bool,
                 strides_of: Callable[[Node], tuple[int, ...]]) -> None:
        self.graph = graph
        self.strides_of = strides_of
        self.enabled = enabled
        self.groups: list[Group] = []
        self.home: dict[int, Group] = {}
        """Group that computes a node, by id."""
        self.uses: dict[int, list[tuple[Group, Edge]]] = {}
        self.dependences = Dependences()
        self.refusals: list[Refusal] = []
        self.copies: dict[int, Node] = {}
        self.required: set[int] = set()
        self.views: dict[int, Node] = {}
        self.rank: dict[int, float] = {id(n): i for i, n in enumerate(graph.order)}
        self.results: dict[int, dict[int, Node]] = {}
        """Results that are read of a loop or choice, by its id and their index."""
        self.readers = Counter([id(i) for n in graph.order for i in n.inputs])

    def run(self) -> Fusion:
        for o in self.graph.outputs:
            base = o
            while base.prim.family == "view" and base.data is None:
                base = base.inputs[0]
            if base is not o:
                self.views[id(o)] = base
            self.required.add(id(base))
        for n in reversed(self.graph.order):
            if n.prim.family in ("view", "leaf") or n.data is not None:
                continue
            if n.prim.family == "place":
                self._place_parts(n)
            elif n.prim.family in ("opaque", "native"):
                self._call(n)
            elif n.prim is RESULT:
                if id(n) in self.required or self.uses.get(id(n)):
                    self.results.setdefault(id(n.inputs[0]), {})[n.attrs[0]] = n
            elif n.prim.family == "loop":
                if id(n) in self.results:
                    place_control(self, n, self.results[id(n)])
            else:
                self._place(n)
        if self.enabled:
            self._merge_parts()
        return Fusion(self.graph, self._sorted(), self.refusals, self.views)

    # -- placing ------------------------------------------------------------------------------

    def _place(self, n: Node) -> None:
        uses = [(self._top(g), e) for g, e in self.uses.get(id(n), [])]
        groups = list(dict.fromkeys(g for g, _e in uses))
        wanted = id(n) in self.required
        if not groups:
            if wanted:
                self._start(n)
            return
        if self.enabled and len(groups) > 1 and n.prim is not MATMUL:
            groups = self._merge(n, groups)
        target, why = None, None
        if not self.enabled:
            why = ("plain", "plain evaluation runs one kernel an operation")
        else:
            depends = self.dependences.depends
            free = groups if len(groups) == 1 else [
                g for g in groups if not any(o is not g and depends(g, o) for o in groups)]
            for g in free:
                stored = wanted or len(groups) > 1
                edges = [e for h, e in uses if h is g or self._top(h) is g]
                why = self._joins(n, g, edges, stored)
                if why is None:
                    target = g
                    break
        if target is None:
            assert why is not None
            for g in groups:
                for h, e in uses:
                    if self._top(h) is g:
                        self.refusals.append(Refusal(n, e.consumer, *why))
                        break
            self._start(n)
            return
        for g in groups:
            if g is not target:
                e = next(e for h, e in uses if self._top(h) is g)
                self.refusals.append(Refusal(
                    n, e.consumer, "two-kernels", "its other consumer is in another kernel, so "
                    "the value is stored there and read here"))
        if wanted or len(groups) > 1:
            target.outputs.append(n)

    def _start(self, n: Node) -> None:
        """A group of its own for a node; its result is stored."""
        if n.prim is MATMUL:
            order, sizes, forms = new_indices(n.shape)
            g = Group("product", order, sizes, heavy=n)
            self._enter(g, n, forms)
        elif n.prim.family == "scan":
            order, sizes, forms = new_indices(n.shape)
            g = Group("row", order, sizes, inner=set(order[-1:]) if n.shape[-1] != 1 else set())
            self._enter(g, n, forms)
        elif n.prim.family == "reduction":
            g = Group("row", *new_indices(n.shape)[:2])
            forms = forms_over(g, n.shape)
            self._add_reduced(g, n)
            self._enter(g, n, forms)
        else:
            order, sizes, forms = new_indices(n.shape)
            g = Group("map", order, sizes)
            self._enter(g, n, forms)
        self.groups.append(g)
        g.outputs.append(n)

    def _call(self, n: Node) -> None:
        """A node that a library computes: its operands are stored, whole and row-major."""
        if id(n) not in self.required and not self.uses.get(id(n)):
            return
        g = Group("call", [], {}, heavy=n, members=[n], maps={id(n): ()}, outputs=[n])
        self._settle(g, n)
        self.groups.append(g)
        for i, operand in enumerate(n.inputs):
            self._reads(g, n, i, operand)

    def _reads(self, g: Group, n: Node, i: int, operand: Node) -> None:
        """Let a group read an operand from memory through a strided layout."""
        base, offset, strides = self._stored(operand)
        edge = Edge(n, i, base, (), (offset, strides))
        g.edges.append(edge)
        self._note(g, edge)
        self.required.add(id(base))

    def _gathered(self, n: Node) -> tuple[Node, int, tuple[int, ...]]:
        base, offset, strides = self._stored(n)
        self.required.add(id(base))
        return base, offset, strides

    def _stored(self, n: Node) -> tuple[Node, int, tuple[int, ...]]:
        """(base, offset, strides) by which memory gives a node; copies what has no such layout."""
        if n.prim.family != "view" or n.data is not None:
            if n.prim.family == "leaf" and n.prim is not INPUT:
                copy = self._copy(n)
                return copy, 0, row_major(copy.shape)
            return n, 0, self.strides_of(n)
        base, offset, strides = self._stored(n.inputs[0])
        found = view_layout(n, offset, strides)
        if found is None:
            new = self._copy_of(n)
            return new.inputs[0], 0, row_major(n.shape)
        return base, *found

    def _place_parts(self, n: Node) -> None:
        """Concatenation and padding: each operand is computed right where it belongs."""
        if id(n) not in self.required and not self.uses.get(id(n)):
            return
        g = Group("call", [], {}, heavy=n, members=[n], maps={id(n): ()}, outputs=[n])
        self._settle(g, n)
        self.groups.append(g)
        if n.prim is SCATTER:
            self._scatter_parts(g, n)
            return
        strides = row_major(n.shape)
        for i, (operand, starts) in enumerate(self._parts(n)):
            copy = copy_node(operand)
            self.rank[id(copy)] = self.rank[id(n)] - 0.5
            self._start(copy)
            offset = sum([at * s for at, s in zip(starts, strides)])
            self.groups[-1].dests[id(copy)] = (n, offset, strides)
            edge = Edge(n, i, copy, ())
            g.edges.append(edge)
            self._note(g, edge)

    def _parts(self, n: Node) -> list[Part]:
        """A join's parts; one that only this join reads and is a join itself, as its own parts."""
        found: list[Part] = []
        for part, starts in parts_of(n):
            if part.prim in JOINS and self.readers[id(part)] == 1 and (
                    id(part) not in self.required):
                found += [(p, tuple([a + b for a, b in zip(starts, at)]))
                          for p, at in self._parts(part)]
            else:
                found.append((part, starts))
        return found

    def _scatter_parts(self, g: Group, n: Node) -> None:
        """A copy of the array, then a loop over the updates that writes into it."""
        updates, indices = n.inputs[1], n.inputs[2:]
        copy = copy_node(n.inputs[0])
        update = Node(UPDATE, (updates, *indices), n.attrs, updates.shape, n.dtype)
        update.source = n.source
        for part in (copy, update):
            self.rank[id(part)] = self.rank[id(n)] - 0.5
            if part.size == 0:
                continue
            self._start(part)
            made = self.groups[-1]
            made.dests[id(part)] = (n, 0, row_major(n.shape))
            if part is update:
                made.after = [copy]
                self.dependences.add(made, self._top(self.home[id(copy)]))
            edge = Edge(n, 0, part, ())
            g.edges.append(edge)
            self._note(g, edge)

    def _enter(self, g: Group, n: Node, forms: Forms) -> None:
        if n.prim is MATMUL:
            g.members.append(n)
            g.maps[id(n)] = forms
            for i, operand in enumerate(n.inputs):
                self._reads(g, n, i, operand)
        else:
            before = len(g.edges)
            g.add(n, forms, self._copy_of, self._gathered)
            for e in g.edges[before:]:
                self._note(g, e)
        self._settle(g, n)

    def _settle(self, g: Group, n: Node) -> None:
        """Note that a node is computed in a group, for those that read it."""
        self.home[id(n)] = g
        for reader in {self._top(h) for h, _e in self.uses.get(id(n), ())}:
            self.dependences.add(reader, g)

    def _note(self, g: Group, e: Edge) -> None:
        self.uses.setdefault(id(e.base), []).append((g, e))
        home = self.home.get(id(e.base))
        if home is not None:
            self.dependences.add(g, self._top(home))

    def _copy_of(self, view: Node) -> Node:
        """A view that is no linear index map of its input: the view of a stored copy of it."""
        new = self.copies.get(id(view))
        if new is None:
            source = view.inputs[0]
            # The copy has one axis: any reshape of it is linear, which one of its axes need not be.
            flat = prims.reshape(source, (source.size,))
            self.rank[id(flat)] = self.rank.get(id(source), 0)
            new = self.copies[id(view)] = with_inputs(view, (self._copy(flat),))
            self.refusals.append(Refusal(source, view, "reshape", "the reshape is not a linear "
                                         "index map of a strided array, so it is copied first"))
        return new

    def _copy(self, source: Node) -> Node:
        copy = copy_node(source)
        self.rank[id(copy)] = self.rank.get(id(source), 0) + 0.5
        self._start(copy)
        return copy

    # -- rules --------------------------------------------------------------------------------

    def _joins(self, n: Node, g: Group, edges: list[Edge], stored: bool) -> tuple[str, str] | None:
        """Join node `n` to group `g` if every rule allows it; else the rule and the reason."""
        if g.kind == "call":
            return ("call", call_reason(g.heavy))
        readers = [e.consumer.prim for e in edges]
        if MATMUL in readers:
            return ("product-operand", "a matrix product reads its operands from memory")
        if GATHER in readers and any(e.consumer.prim is GATHER and not e.position for e in edges):
            return ("gathered", "a gather reads its array at places that only its indices decide")
        if len(g.members) >= MAX_NODES:
            return ("size", f"the kernel already has {MAX_NODES} operations")
        if len(g.by_base) > MAX_ARGUMENTS and g.arguments() + len(n.inputs) > MAX_ARGUMENTS:
            return ("arguments", f"the kernel already has {MAX_ARGUMENTS} arrays")
        forms = edges[0].forms
        if len(edges) > 1 and any(e.forms != forms for e in edges):
            return ("two-maps", "it is read through two different index maps")
        if n.prim is GATHER and len(g.indices(forms) & g.inner) > 1:
            return ("gathered", _UNEVEN)
        if n.prim.family == "reduction":
            return self._joins_reduction(n, g, forms, stored)
        if n.prim is MATMUL:
            return self._joins_product(n, g, forms)
        if n.prim.family == "scan":
            return self._joins_scan(n, g, forms)
        used, size, bijective = g.coverage(forms)
        per_row = g.kind in ("row", "col") and not (used & g.inner)
        level = g.outer_size() if per_row else g.domain()
        whole = size == n.size and bijective
        if stored and g.kind == "col" and used & g.inner:
            return ("column", "it must be stored, but a column reduction stores its result only")
        if stored and g.kind == "row" and not in_order_all(g, forms):
            return ("shape", "it must be stored in another order than the rows'")
        if stored and not (whole and size == level):
            return ("shape", "it must be stored, but the kernel does not visit each of its "
                    "elements once")
        if not whole and n.size < level:
            cost = node_cost(n)
            if g.recompute + cost > RECOMPUTE_COST:
                return ("recompute", "only part of it is read at each place, and it costs too much "
                        "to compute again")
            g.recompute += cost
        elif n.size < level:
            hoisted = g.kind == "map" and not (used & set(g.order[-1:]))
            cost = node_cost(n)
            if not hoisted and g.recompute + cost > RECOMPUTE_COST:
                times = level // max(1, n.size)
                return ("recompute", f"it would be computed {times} times for each element")
            if not hoisted:
                g.recompute += cost
        # Where only a part of a larger value is read, computing just that is less work than all.
        return self._try(g, n, forms)

    def _joins_reduction(self, n: Node, g: Group, forms: Forms, stored: bool) -> tuple[
            str, str] | None:
        if not is_bijective(forms) or g.size_of(forms) != n.size:
            return ("shape", "only part of the reduced result is read")
        used = g.indices(forms)
        size = reduced_size(n)
        if used == set(g.order) and any(m.prim is UPDATE for m in g.members):
            return ("scatter", "a scatter writes elements of a row, not one result of each row")
        if not is_row_class(n):
            if g.kind != "map" or g.heavy is not None:
                return ("column", f"a reduction along an outer axis cannot join a {g.kind} kernel")
            if g.size_of(forms) != g.domain() or not in_order(g, forms):
                return ("column", "its consumer runs over more than the reduced result")
            if not all(in_order(g, g.maps[id(m)]) for m in g.members):
                return ("column", "its consumers use another order of axes")
            return self._try_column(g, n, forms)
        if g.kind not in ("map", "row"):
            return ("kind", f"a row reduction cannot join a {g.kind} kernel")
        clash = lane_clash(n, g)
        if clash:
            return ("lanes", clash)
        if g.kind == "row":
            outer = [d for d in g.order if d not in g.inner]
            if used & g.inner or used != set(outer):
                return ("nested", "it would reduce inside the row of another reduction")
            if inner_size(g) != size:
                return ("row", "the rows of the two reductions differ in length")
            return self._try(g, n, forms)
        tail = trailing(g, size, used)
        if tail and used == set(g.order) - tail:
            rows = g.domain() // size
            if rows < FEW_ROWS and size > UNIT * 64:
                return ("few-rows", f"{rows} long rows would run on {rows} threads; the reduction "
                        "is split over all of them instead")
            if not in_order_prefix(g, forms, tail):
                return ("row", "its axes come in another order than the consumer's")
            if g.dests and len(tail) > 1:
                return ("row", "its result is a part of a larger array")
            if any(m.prim is GATHER and len(g.indices(g.maps[id(m)]) & tail) > 1
                   for m in g.members):
                return ("gathered", _UNEVEN)
            if not all(in_order_all(g, g.maps[id(m)]) for m in g.outputs):
                return ("row", "its consumer stores in another order than the rows'")
            g.kind, g.inner = "row", tail
            why = self._try(g, n, forms)
            if why is not None:
                g.kind, g.inner = "map", set()
            return why
        if used == set(g.order) and in_order(g, forms):
            self._add_reduced_row(g, n)
            return self._try(g, n, forms)
        return ("row", "the consumer does not run over the reduced rows")

    def _joins_scan(self, n: Node, g: Group, forms: Forms) -> tuple[str, str] | None:
        if g.kind not in ("map", "row"):
            return ("kind", f"a scan cannot join a {g.kind} kernel")
        if g.size_of(forms) != n.size or g.domain() != n.size or not in_order_all(g, forms):
            return ("scan", "its consumer does not run over the scanned rows in their order")
        clash = lane_clash(n, g)
        if clash:
            return ("lanes", clash)
        tail = trailing(g, n.shape[-1], set())
        if g.kind == "row":
            return self._try(g, n, forms) if tail == g.inner else (
                "row", "the scanned rows differ in length from the kernel's")
        if len(tail) != 1 or not all(
                in_order_all(g, g.maps[id(m)]) for m in g.outputs):
            return ("scan", "its consumer stores in another order than the rows'")
        g.kind, g.inner = "row", tail
        return self._try(g, n, forms)

    def _joins_product(self, n: Node, g: Group, forms: Forms) -> tuple[str, str] | None:
        if g.kind != "map":
            return ("product", f"a matrix product cannot join a {g.kind} kernel")
        if any(m.prim is UPDATE for m in g.members):
            return ("scatter", "a scatter's writes have an order, a product's blocks have none")
        if g.size_of(forms) != n.size or g.domain() != n.size or not in_order(g, forms):
            return ("product", "its consumer does not run over the product in its order")
        if any(not in_order(g, g.maps[id(m)]) for m in g.members):
            return ("product", "its consumers store in another order")
        if n.size >= LARGE_PRODUCT and g.traffic(n) > PRODUCT_ARRAYS:
            return ("traffic", f"besides the product {g.traffic(n)} arrays of its size would move "
                    "between its blocks; a pass of their own is faster")
        g.kind, g.heavy = "product", n
        self._enter(g, n, forms)
        return None

    def _try(self, g: Group, n: Node, forms: Forms) -> tuple[str, str] | None:
        try:
            self._enter(g, n, forms)
        except NotAffine as error:  # a reduction whose axes are not products of the kernel's loops
            g.members.remove(n)
            del g.maps[id(n)]
            return ("reshape", f"its axes do not line up with the kernel's loops ({error})")
        return None

    def _try_column(self, g: Group, n: Node, forms: Forms) -> tuple[str, str] | None:
        axes, shape = n.attrs[0], n.inputs[0].shape
        after = 1
        for a in range(axes[-1] + 1, len(shape)):
            after *= shape[a]
        tail = trailing(g, after, set())
        if not tail and after != 1:
            return ("column", "its axes come in another order than the consumer's")
        at = len(g.order) - len(tail)
        k = _fresh()
        g.order.insert(at, k)
        g.sizes[k] = reduced_size(n)
        g.kind, g.inner, g.heavy = "col", {k}, n
        self._enter(g, n, forms)
        return None

    def _add_reduced(self, g: Group, n: Node) -> None:
        """Give a new reduction's group its reduced index, in its place among the axes."""
        if is_row_class(n):
            self._add_reduced_row(g, n)
            return
        axes, shape = n.attrs[0], n.inputs[0].shape
        at = sum(1 for a in range(axes[0]) if shape[a] != 1)
        k = _fresh()
        g.order.insert(at, k)
        g.sizes[k] = reduced_size(n)
        g.kind, g.inner, g.heavy = "col", {k}, n

    def _add_reduced_row(self, g: Group, n: Node) -> None:
        k = _fresh()
        g.order.append(k)
        g.sizes[k] = reduced_size(n)
        g.kind, g.inner = "row", {k}

    # -- groups among each other ------------------------------------------------------------------

    def _top(self, g: Group) -> Group:
        while g.merged_into is not None:
            g = g.merged_into
        return g

    def _merge(self, n: Node, groups: list[Group]) -> list[Group]:
        """Merge consumers of `n` that run over the same loops and do not depend on each other."""
        if len(groups) < 2:
            return groups
        kept: list[Group] = []
        for g in groups:
            for k in kept:
                if ((n.size >= k.domain() or not (k.dests or g.dests)) and self._same_loops(k, g)
                        and reads_alike(n, k, g) and self.dependences.apart(k, g)):
                    self._absorb(k, g)
                    break
            else:
                kept.append(g)
        return kept

    def _merge_parts(self) -> None:
        """Merge kernels of one join's parts that read the same memory."""
        for n in self.graph.order:
            g = self.home.get(id(n))
            if n.prim not in JOINS or g is None:
                continue
            kept: list[Group] = []
            for part in dict.fromkeys(self._top(self.home[id(e.base)]) for e in g.edges):
                for k in kept:
                    if (part.kind == "map" and self._same_loops(k, part)
                            and self.dependences.apart(k, part) and shares(k, part)):
                        self._absorb(k, part)
                        break
                else:
                    kept.append(part)

    def _same_loops(self, a: Group, b: Group) -> bool:
        if a.kind != b.kind or a.kind not in ("map", "row") or len(a.order) != len(b.order):
            return False
        if any(m.prim is UPDATE for m in (*a.members, *b.members)):
            return False  # a scatter's writes have an order
        if (a.dests or b.dests) and any(
                e.base.prim is MATMUL and id(e.base) not in self.home
                for e in (*a.edges, *b.edges)):
            return False  # one kernel takes one product, each part its own
        if (len(a.members) + len(b.members) > MAX_NODES
                or a.arguments() + b.arguments() > MAX_ARGUMENTS):
            return False
        if [a.sizes[d] for d in a.order] != [b.sizes[d] for d in b.order]:
            return False
        if [d in a.inner for d in a.order] != [d in b.inner for d in b.order]:
            return False
        return not any(lane_clash(m, a) for m in b.members if m.prim.reduction is not None)

    def _absorb(self, a: Group, b: Group) -> None:
        names = dict(zip(b.order, a.order))
        a.members += b.members
        for k, forms in b.maps.items():
            a.maps[k] = renamed(forms, names)
        for e in b.edges:
            e.forms = renamed(e.forms, names)
            a.edges.append(e)
            a.by_base.setdefault(id(e.base), []).append(e)
        a.outputs += b.outputs
        a.dests |= b.dests
        a.after += b.after
        a.recompute += b.recompute
        for m in b.members:
            self.home[id(m)] = a
        b.merged_into = a
        self.dependences.merge(a, b)
        self.groups.remove(b)

    def _sorted(self) -> list[Group]:
        """Groups in an order in which each comes after those it reads."""
        done: set[int] = set()
        out: list[Group] = []
        for root in sorted(self.groups, key=lambda g: min(
                self.rank.get(id(m), 0) for m in g.members)):
            stack: list[tuple[Group, bool]] = [(root, False)]
            while stack:
                g, ready = stack.pop()
                if id(g) in done:
                    continue
                if ready:
                    done.add(id(g))
                    out.append(g)
                    continue
                stack.append((g, True))
                for base in [*[e.base for e in g.edges], *g.after]:
                    h = self.home.get(id(base))
                    if h is not None and self._top(h) is not g and id(self._top(h)) not in done:
                        stack.append((self._top(h), False))
        for g in out:
            g.members.sort(key=lambda m: self.rank[id(m)])
        return out
