"""What a compiled function keeps: a call as read, its trace, the entry of its signature, counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from eutectic.array import array, wrap
from eutectic.engine.pipeline import Record
from eutectic.engine.plan import Plan
from eutectic.graph.ir import CONST, INPUT, Graph, Node
from eutectic.graph.number import Numbers
from eutectic.tracing.drawn import Drawn
from eutectic.tracing.effects import Effect
from eutectic.tracing.native import Record as NativeRecord
from eutectic.tree import TreeDef


@dataclass(slots=True)
class Traced:
    """What a trace found: the graph and how results go back into Python."""

    graph: Graph
    treedef: TreeDef
    leaves: list[Any]
    """For each result leaf: an output index, or ('constant', value)."""
    n_results: int
    used: list[int]
    """Positions, among arguments and captured arrays, of the graph's inputs."""
    captured: list[Node]
    """Computed nodes found in the trace that are no placeholder; the graph's last inputs."""
    outputs: list[Any]
    """Template of each output container."""
    changed: list[tuple[int, int]]
    """(captured array, output) of arrays in the environment that were changed in place."""
    draws: bool
    """Whether the random state is read or changed."""
    effects: list[Effect]
    """What is written to places that were not declared."""
    writes: bool = False
    """Whether a call changes captured state; such calls run one at a time, as those that draw."""
    numbers: Numbers | None = None
    """Python numbers whose values come with each call."""
    drawn: tuple[Drawn, ...] = ()
    """Iterators and random generators that the trace used up."""


@dataclass(frozen=True, slots=True)
class Plain:
    """The result of a call that was to be traced and went on plainly."""

    result: Any


@dataclass(slots=True)
class Entry:
    """One signature: its trace, its plan, and what they cost."""

    traced: Traced
    plan: Plan
    record: Record
    key: Any
    calls: int = 0
    """Calls after the first that the Python path looked up."""
    stamp: int = 0
    """When the entry was last looked up, by the function's clock."""
    places: tuple[int, ...] = ()
    """Leaves of a call that are numbers given at each call."""
    native: NativeRecord | None = None
    misses: int = 0
    """Lookups since the native record was made: its guard did not see that the entry fits."""
    given_up: bool = False
    """No native record can be made."""
    effects: bool = False
    """The trace changed what the function reads outside its arguments."""
    alias: Any = None
    """Another key of this entry."""

    def patterns(self, call: Call) -> list[int] | None:
        """Bit patterns of the constants that are given at each call; None: the trace is no good."""
        numbers = self.traced.numbers
        return [] if numbers is None else numbers.patterns([call.leaves[p] for p in self.places])

    @property
    def hits(self) -> int:
        """Calls after the first."""
        return self.calls + (self.native.hits if self.native is not None else 0)


@dataclass(slots=True)
class Call:
    """Everything about a call that its key and its plan need."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    leaves: list[Any]
    """Of the arguments; NumPy data and the like as arrays."""
    treedef: TreeDef
    """Structure of `[args, kwargs]`, or of `args` alone where there are no keywords."""
    arrays: list[array]
    """Array arguments, then captured arrays: each of these once."""
    nodes: list[Node]
    """What the arrays held when the key was made; another thread may change captured ones."""
    n_arguments: int
    key: Any
    state: list[Any] = field(default_factory=list)
    objects: list[Any] = field(default_factory=list)
    """Arguments that are neither arrays nor constants: the function may look into them."""
    patterns: list[int] = field(default_factory=list)
    """Bit patterns of the entry's constants that are given at each call."""


_COMPARED_BYTES = 4096


def same_trace(a: Entry, b: Entry) -> bool:
    """Whether two traces of calls with equal arguments found the same computation."""
    return same_computation(a.traced, a.record.graphs[0][1], b.traced, b.record.graphs[0][1])


def same_computation(s: Traced, first: Graph, t: Traced, second: Graph,
                     patterns: Sequence[int] = ()) -> bool:
    """Whether two traces and their graphs compute the same.

    `patterns` are the values of the constants of the second graph that are given at each call.
    """
    if ((s.treedef, s.used, s.outputs, s.changed, s.effects, s.draws)
            != (t.treedef, t.used, t.outputs, t.changed, t.effects, t.draws)
            or [_typed(x) for x in s.leaves] != [_typed(x) for x in t.leaves]
            or len(first.outputs) != len(second.outputs)):
        return False
    places = [{id(n): i for i, n in enumerate(g.inputs)} for g in (first, second)]
    seen: set[tuple[int, int]] = set()
    left = list(zip(first.outputs, second.outputs))
    while left:
        m, n = left.pop()
        if (id(m), id(n)) in seen:
            continue
        seen.add((id(m), id(n)))
        attrs = n.attrs
        if n.prim is CONST and attrs[0] < 0 and patterns:
            attrs = (patterns[-2 - attrs[0]],)
        if ((m.prim, repr(m.attrs), m.shape, m.dtype) != (n.prim, repr(attrs), n.shape, n.dtype)
                or len(m.inputs) != len(n.inputs) or not _same_data(m, n)):
            return False
        if m.prim is INPUT and m.data is None and places[0].get(id(m)) != places[1].get(id(n)):
            return False
        if m.data is None:
            left += zip(m.inputs, n.inputs)
    return True


def _typed(leaf: Any) -> Any:
    return leaf if type(leaf) is int else (type(leaf[1]), repr(leaf[1]))


def _same_data(m: Node, n: Node) -> bool:
    if m.data is None or n.data is None:
        return m.data is n.data
    if m is n or m.data is n.data:
        return True
    x, y = wrap(m), wrap(n)
    return x.nbytes <= _COMPARED_BYTES and bytes(x) == bytes(y)
