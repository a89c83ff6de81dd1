"""`explain`: what compiling a function did, as data that prints.

Everything is read from the record that the pipeline keeps, and from the plan; the kernels' LLVM
text and assembly are made when asked for.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eutectic.engine.kernels import llvm_text
from eutectic.engine.pipeline import Record
from eutectic.engine.plan import product_text
from eutectic.engine.steps import (
    BranchStep, LoopStep, NativeStep, ProductStep, RepeatStep, Step)
from eutectic.graph.ir import CONST, IOTA, Node
from eutectic.graph.loops import RESULT, bodies
from eutectic.graph.passes.groups import Group, call_reason
from eutectic.graph.show import node_names, show, type_text
from eutectic.inspect.work import Work, kernel_steps, step_work, total
from eutectic.runtime import pool
from eutectic.runtime.jit import assembly
from eutectic.tracing.entry import Entry
from eutectic.tracing.function import CompiledFunction
from eutectic.tracing.history import CompileStats
from eutectic.tracing.reasons import Reason

KINDS = {
    "map": "elementwise loop",
    "row": "row by row, with reductions or scans along the rows",
    "units": "reduction of long rows, split among threads",
    "col": "reduction along an outer axis",
    "short": "reduction of short rows, many rows at a time",
    "product": "matrix product",
    "native": "operation with code of its own",
    "call": "call of a Python library",
    "scan": "loop over a body of its own",
    "while_loop": "loop over a body of its own, as long as a condition holds",
    "cond": "choice between two bodies, of which one runs",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the graph, and the user's line it comes from."""

    name: str
    """Its result's name in the last graph, e.g. `%3`."""
    op: str
    type: str
    file: str | None
    line: int | None

    @property
    def where(self) -> str:
        """`file:line`, or nothing where the line is not known."""
        return f"{os.path.basename(self.file)}:{self.line}" if self.file else ""

    def __str__(self) -> str:
        what = self.name if self.name.startswith("copy of") else f"{self.op} {self.name}"
        return what + (f" ({self.where})" if self.file else "")


@dataclass(frozen=True, slots=True)
class Operand:
    """An array in memory that a kernel reads or writes."""

    name: str
    type: str
    nbytes: int
    """Bytes of the array."""


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """One kernel: what it computes, what it moves, and its code."""

    index: int
    kind: str
    """'map', 'row', 'units', 'col', 'short', 'product', 'native', 'call', 'scan', 'while_loop' or
    'cond' (see `KINDS`)."""
    operations: tuple[Operation, ...]
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    work: Work
    text: str
    """The kernel as the code generator gets it."""
    step: Step
    bodies: tuple[BodyInfo, ...] = ()
    """What a loop or a choice runs."""

    @property
    def llvm(self) -> str:
        """LLVM text; empty for a call of a Python library."""
        if self.bodies:
            return "\n".join([k.llvm for b in self.bodies for k in b.kernels if k.llvm])
        if isinstance(self.step, LoopStep):
            return llvm_text(self.step.spec)
        if isinstance(self.step, ProductStep):
            after = self.step.epilogue
            own = product_text(self.step.node)
            return own if after is None else f"{own}\n{llvm_text(after.spec)}"
        return self.step.code.text if isinstance(self.step, NativeStep) else ""

    @property
    def assembly(self) -> str:
        """The processor's instructions; empty for a call of a Python library."""
        if self.bodies:
            return "\n".join([k.assembly for b in self.bodies for k in b.kernels if k.llvm])
        if isinstance(self.step, ProductStep) and self.step.epilogue is not None:
            return (f"{assembly(product_text(self.step.node))}\n"
                    f"{assembly(llvm_text(self.step.epilogue.spec))}")
        return assembly(self.llvm) if self.llvm else ""

    def __str__(self) -> str:
        from eutectic.inspect.explain_text import kernel_text

        return kernel_text(self)

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class NotFused:
    """Two neighbours in different kernels, and why."""

    producer: Operation
    consumer: Operation
    kernels: tuple[int | None, int | None]
    """Indices of their kernels (None: the value is placed in memory by its parts)."""
    rule: str
    """Short name of the rule that forbids it."""
    reason: str


@dataclass(frozen=True, slots=True)
class BodyInfo:
    """What a loop does in each step, or a choice in one of its cases."""

    name: str
    times: int | None
    """How often it runs in a call; None where that is not known before."""
    graphs: tuple[tuple[str, str], ...]
    """(stage, graph as text), as of an `Explanation`."""
    kernels: tuple[KernelInfo, ...]
    not_fused: tuple[NotFused, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of memory that one call uses."""

    inputs: int
    results: int
    """Allocated afresh at each call; results that are views of inputs need none."""
    temporaries: int
    """One block, in which temporaries whose lifetimes do not meet share their place."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What compiling did; prints as a text, `to_dict` gives it for JSON."""

    name: str
    inputs: tuple[Operand, ...]
    results: tuple[Operand, ...]
    why: Reason
    """Why it was traced: its first call, or what tells it from the nearest trace there was."""
    graphs: tuple[tuple[str, str], ...]
    """(stage, graph as text): the trace, then the graph after each pass."""
    kernels: tuple[KernelInfo, ...]
    not_fused: tuple[NotFused, ...]
    memory: Memory
    seconds: dict[str, float]
    """Cost by stage: trace, each pass, fuse, plan, and of kernels that were not in memory codegen,
    llvm and load."""
    threads: int
    holds: CompileStats | None = None
    """What the function has done and holds, where it was compiled already."""

    @property
    def trace(self) -> str:
        """The graph as traced, as text."""
        return self.graphs[0][1]

    @property
    def operations(self) -> int:
        """Number of operations in the kernels; views need none."""
        return sum([len(k.operations) for k in self.kernels])

    @property
    def work(self) -> Work:
        """The work of all kernels."""
        return total(k.work for k in self.kernels)

    def to_dict(self, llvm: bool = False, assembly: bool = False) -> dict[str, Any]:
        """As plain data for JSON; LLVM text and assembly of the kernels if asked for."""
        from eutectic.inspect.explain_text import to_dict

        return to_dict(self, llvm, assembly)

    def __str__(self) -> str:
        from eutectic.inspect.explain_text import explanation_text

        return explanation_text(self)

    __repr__ = __str__


def explain(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """Show what compiling `fun` for these arguments does; nothing is computed.

    Which operations became which kernel, what each kernel reads, writes and computes, why
    neighbours were not fused, memory, and cost by stage. `fun` may be compiled already: its own
    trace is shown where it has one for these arguments, with why it was made (`why`) and what the
    function holds (`holds`); where it has none, `why` says why a call would trace. It is left as
    it is. Raises what `fun` raises, and TraceError where it cannot be compiled.

    >>> import eutectic.core as mx
    >>> found = mx.explain(lambda x: mx.exp(-x).sum(), mx.ones((8, 8)))
    >>> [k.kind for k in found.kernels], [o.op for o in found.kernels[0].operations]
    (['row'], ['negative', 'exp', 'sum'])
    """
    if not isinstance(fun, CompiledFunction):
        fun = CompiledFunction(fun)
        return explanation(fun.__name__, fun.lower(*args, **kwargs))
    holds = fun.stats
    entry = fun.find(*args, **kwargs)
    if entry is None:
        entry = fun.of(fun.fun).lower(*args, **kwargs)
        entry.record.why = fun.why(*args, **kwargs)
    return explanation(fun.__name__, entry, holds)


def explanation(name: str, entry: Entry, holds: CompileStats | None = None) -> Explanation:
    """The explanation of one trace of a compiled function."""
    record, plan = entry.record, entry.plan
    assert record.fusion is not None
    graph = record.graphs[-1][1]
    reader = _Reader(record)
    memory = Memory(sum(n.size * n.dtype.size for n in graph.inputs), sum(plan.fresh), plan.arena)
    return Explanation(
        name, tuple(map(reader.operand, graph.inputs)), tuple(map(reader.operand, graph.outputs)),
        record.why, reader.graphs(),
        reader.kernels(), reader.not_fused(), memory, dict(record.seconds),
        pool.get_num_threads(), holds)


class _Reader:
    """Turns nodes, groups and steps into what people read."""

    def __init__(self, record: Record) -> None:
        assert record.fusion is not None and record.plan is not None
        self.record = record
        self.fusion = record.fusion
        self.steps = kernel_steps(record.plan)
        self.names = node_names(record.graphs[-1][1])
        self.home: dict[int, Group] = {id(m): g for g in self.fusion.groups for m in g.members}
        self.index: dict[int, int] = {}
        """Index of a group's kernel."""
        for i, s in enumerate(self.steps):
            if s.group is not None:
                self.index[id(s.group)] = i
        self.reader_lines: dict[int, tuple[str, int]] = {}
        """Of what no line of the user's made, a copy of an input say: the line that reads it."""
        for g in self.fusion.groups:
            for e in g.edges:
                if e.base.source is None and e.consumer.source is not None:
                    self.reader_lines.setdefault(id(e.base), e.consumer.source)

    def graphs(self) -> tuple[tuple[str, str], ...]:
        return tuple([(stage, show(g, sources=True)) for stage, g in self.record.graphs])

    def name(self, n: Node) -> str:
        if n.prim is RESULT and id(n) not in self.names:
            return f"result {n.attrs[0]} of {self.name(n.inputs[0])}"
        return self.names.get(id(n)) or f"copy of {self.name(_base(n.inputs[0]))}"

    def operation(self, n: Node) -> Operation:
        file, line = n.source or self.reader_lines.get(id(n)) or (None, None)
        return Operation(self.name(n), n.prim.name, type_text(n.shape, n.dtype), file, line)

    def operand(self, n: Node) -> Operand:
        return Operand(self.name(n), type_text(n.shape, n.dtype), n.size * n.dtype.size)

    def kernels(self) -> tuple[KernelInfo, ...]:
        return tuple([self._kernel(i, s) for i, s in enumerate(self.steps)])

    def _kernel(self, i: int, s: Step) -> KernelInfo:
        g = s.group
        if g is None:  # a copy that makes rows contiguous before they are reduced
            assert isinstance(s, LoopStep)
            return KernelInfo(i, s.spec.kind, (), (), (), step_work(s), s.spec.text(), s)
        own = {id(m) for m in g.members}
        read = {id(e.base): e.base for e in g.edges
                if id(e.base) not in own and e.base.prim not in (CONST, IOTA)}
        if isinstance(s, LoopStep):
            kind, text = s.spec.kind, s.spec.text()
        elif isinstance(s, ProductStep):
            kind, text = "product", _product_line(s.node)
            if s.epilogue is not None:
                text += f"\nfollowed on each block of it by\n{s.epilogue.spec.text()}"
        elif isinstance(s, (RepeatStep, BranchStep)):
            return self._control(i, s, g, tuple(map(self.operand, read.values())))
        else:
            kind = "native" if isinstance(s, NativeStep) else "call"
            text = f"{kind} {s.node.prim.name} {s.node.attrs}"
        return KernelInfo(
            i, kind, tuple(map(self.operation, g.members)),
            tuple(map(self.operand, read.values())), tuple(map(self.operand, g.outputs)),
            step_work(s), text, s)

    def _control(self, i: int, s: RepeatStep | BranchStep, g: Group,
                 inputs: tuple[Operand, ...]) -> KernelInfo:
        """A loop or choice, with its bodies."""
        n = s.node
        times = n.attrs[3] if isinstance(s, RepeatStep) else None
        inner = []
        for body in bodies(n):
            reader = _Reader(self.record.bodies[id(n), id(body)])
            inner.append(BodyInfo(str(body), times, reader.graphs(), reader.kernels(),
                                  reader.not_fused()))
        text = "\n".join([f"{n.prim.name} {b.name}:\n{k.text}" for b in inner for k in b.kernels])
        return KernelInfo(i, n.prim.name, (self.operation(n),), inputs,
                          tuple(map(self.operand, g.outputs)), step_work(s), text, s, tuple(inner))

    def not_fused(self) -> tuple[NotFused, ...]:
        """Every pair of neighbours in different kernels, in the kernels' order."""
        reasons: dict[tuple[int, int], tuple[str, str]] = {}
        for r in self.fusion.refusals:
            reasons.setdefault((id(r.producer), id(r.consumer)), (r.rule, r.reason))
        found = []
        for g in self.fusion.groups:
            seen = set()
            for e in g.edges:
                h = self.home.get(id(e.base))
                if h is None or h is g or id(e.base) in seen:
                    continue
                seen.add(id(e.base))
                rule, reason = self._reason(e.base, g, reasons)
                found.append(NotFused(
                    self.operation(e.base), self.operation(e.consumer),
                    (self.index.get(id(h)), self.index.get(id(g))), rule, reason))
        return tuple(found)

    def _reason(self, producer: Node, g: Group,
                reasons: dict[tuple[int, int], tuple[str, str]]) -> tuple[str, str]:
        """The recorded reason for a producer outside a group, or what the structure says."""
        for e in g.edges:
            if e.base is producer and (id(producer), id(e.consumer)) in reasons:
                return reasons[id(producer), id(e.consumer)]
        for (p, c), found in reasons.items():
            if p == id(producer) and self.home.get(c) is g:
                return found
        if g.kind == "call" and g.heavy is not None and g.heavy.prim.family == "place":
            return ("placed", "its kernel writes it right into its part of the larger array")
        home = self.home[id(producer)]
        if id(producer) in home.dests:
            return ("placed", "its kernel writes it right where the loop finds it")
        if home.kind == "call":
            return ("call", call_reason(producer))
        if producer.prim.name == "copy" and producer.source is None:
            return ("copy", "it is copied first, so that it lies in memory as its reader needs it")
        return ("stored", "it is stored for another reader, and read from there")


def _base(n: Node) -> Node:
    while n.prim.family == "view" and n.data is None:
        n = n.inputs[0]
    return n


def _product_line(n: Node) -> str:
    a, b = n.inputs
    batch = math.prod(n.shape[:-2])
    return (f"product {type_text(a.shape, a.dtype)} @ {type_text(b.shape, b.dtype)} -> "
            f"{type_text(n.shape, n.dtype)}" + (f", {batch} of them" if batch > 1 else ""))

