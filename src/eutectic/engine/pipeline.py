"""The compiler, as one list of passes: the file to read first.

    graph --expand--> simpler operations --simplify, cse--> fewer --fuse--> groups --plan--> code

`compile_graph` runs the whole list; plain evaluation runs it on graphs of one operation. A
`Record` keeps what each pass left and what each cost: `explain` and `measure` read it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from eutectic.config import config
from eutectic.engine.debug import report_graph, report_kernels
from eutectic.engine.kernels import loaded_count, loaded_kernels
from eutectic.engine.plan import Plan, build_plan
from eutectic.graph.check import check
from eutectic.graph.ir import Graph, Node
from eutectic.graph.layout import row_major
from eutectic.graph.loops import Body
from eutectic.graph.passes.expand import expand, separate_outputs, store_outputs
from eutectic.graph.passes.fuse import Fusion, fuse
from eutectic.graph.passes.padding import absorb_padding, kept_paddings
from eutectic.graph.passes.prune import prune
from eutectic.graph.passes.simplify import cse, simplify
from eutectic.graph.passes.split import split
from eutectic.runtime import jit

PASSES: tuple[tuple[str, Callable[[Graph], Graph]], ...] = (
    ("expand", expand),
    ("simplify", simplify),
    ("cse", cse),
    ("absorb_padding", absorb_padding),
    ("prune", prune),
)
"""Graph to graph, in order; `store_outputs`, which must know how the inputs lie in memory (of a
body: `separate_outputs`), fusion and planning follow. `split` cuts kernels that read joined arrays,
after which fusion runs again. The bodies of loops are compiled by the same list when the plan that
runs them is made."""
MAX_CUTS = 3
"""Most times that kernels are cut: what reads a joined array may be a part of another."""


@dataclass(slots=True)
class Record:
    """What compiling one graph did, pass by pass."""

    why: Any = None
    """Why a compiled function was traced: its first call, or what is new in the call's key."""
    graphs: list[tuple[str, Graph]] = field(default_factory=list)
    """(pass, graph after it); the first entry is the trace."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Cost by stage: trace, each pass, fuse, plan, and of kernels not in memory codegen, llvm and
    load."""
    fusion: Fusion | None = None
    plan: Plan | None = None
    bodies: dict[tuple[int, int], Record] = field(default_factory=dict)
    """What compiling the bodies of loops did, by the ids of the loop's node and of its body."""


def fused_graph(graph: Graph, record: Record, fused: bool,
                strides: Callable[[Node], tuple[int, ...]], separate: bool = False) -> Graph:
    """Run all passes but planning; the groups of the graph are in `record.fusion`."""
    record.graphs.append(("trace", graph))
    report_graph("trace", graph)
    if config.check:
        check(graph)
    last: tuple[str, Callable[[Graph], Graph]] = ("store_outputs",
                                                  lambda g: store_outputs(g, strides))
    if separate:
        last = ("separate_outputs", separate_outputs)

    for name, run in (*PASSES, last):
        start = time.perf_counter()
        graph = run(graph)
        record.seconds[name] = time.perf_counter() - start
        record.graphs.append((name, graph))
        if config.check:
            check(graph)
        report_graph(name, graph, record.graphs[-2][1])
    start = time.perf_counter()
    record.fusion = fuse(graph, fused, strides)
    for _ in range(MAX_CUTS if fused else 0):
        cut, whole = split(graph, record.fusion)
        if cut is graph:
            record.fusion.refusals += whole
            break
        record.graphs.append(("split", cut))
        report_graph("split", cut, graph)
        graph = cut
        if config.check:
            check(graph)
        record.fusion = fuse(graph, fused, strides)
    record.fusion.refusals[:0] = kept_paddings(graph)
    record.seconds["fuse"] = time.perf_counter() - start
    return graph


def compile_graph(graph: Graph, record: Record | None = None, fused: bool = True,
                  strides_of: Callable[[Node], tuple[int, ...]] | None = None,
                  scalar_inputs: Sequence[Node] = (), separate: bool = False) -> Plan:
    """Run all passes on a graph and return its plan; `separate` results share no memory."""
    record = Record() if record is None else record
    strides = strides_of or (lambda n: row_major(n.shape))

    def compile_body(n: Node, body: Body, strides: Sequence[tuple[int, ...]]) -> Plan:
        made = record.bodies[id(n), id(body)] = Record()
        of = {id(i): s for i, s in zip(body.inputs, strides)}
        return compile_graph(body.graph, made, fused, lambda m: of.get(id(m)) or row_major(m.shape),
                             separate=True)

    graph = fused_graph(graph, record, fused, strides, separate)
    assert record.fusion is not None
    made, llvm, load = loaded_count(), jit.spent.llvm, jit.spent.load
    start = time.perf_counter()
    plan = build_plan(graph, record.fusion, strides, compile_body, scalar_inputs, separate)
    elapsed = time.perf_counter() - start
    code = {"codegen": sum([k.codegen for k in loaded_kernels(made)]),
            "llvm": jit.spent.llvm - llvm, "load": jit.spent.load - load}
    record.seconds |= {"plan": max(elapsed - sum(code.values()), 0.0), **code}
    record.plan = plan
    report_kernels(graph.name, plan)
    return plan
