"""Steps of a plan before memory is assigned; memory is named by tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eutectic.codegen.native import Code
from eutectic.graph.ir import Node
from eutectic.graph.passes.groups import Group
from eutectic.kernel.spec import (
    KernelSpec)

if TYPE_CHECKING:
    from eutectic.engine.plan import Plan

Token = int
"""Names memory: the id of the node whose elements it holds, or a negative number: scratch."""

@dataclass(slots=True)
class LoopStep:
    """A kernel and its parameters. `patches`: (slot, token, byte offset)."""

    spec: KernelSpec
    params: list[int]
    patches: list[tuple[int, Token, int]]
    n: int
    grain: int
    reads: list[Token]
    writes: list[Token]
    scratch: dict[Token, int] = field(default_factory=dict)
    """Bytes of temporary memory by token."""
    finish_rows: int = 0
    """Rows that a `units` kernel ends one by one."""
    scalar_slots: list[tuple[int, Node]] = field(default_factory=list)
    """(slot, constant node): filled by the plan."""
    group: Group | None = None
    serial: bool = False
    """One thread runs it: its writes have an order."""
    joins: frozenset[Token] = frozenset()
    """Memory of which it writes a part that no other step of the same join writes."""


@dataclass(slots=True)
class ProductStep:
    """A matrix product; `epilogue` runs over its blocks while they are in cache."""

    node: Node
    a: tuple[Token, int, tuple[int, ...]]
    """(token, offset, strides) in elements, batch axes first."""
    b: tuple[Token, int, tuple[int, ...]]
    c: Token
    epilogue: LoopStep | None
    reads: list[Token]
    writes: list[Token]
    scratch: dict[Token, int] = field(default_factory=dict)
    group: Group | None = None


@dataclass(slots=True)
class CallStep:
    """A Python call (`opaque`), or nothing but a name for parts placed in memory (`place`)."""

    node: Node
    operands: list[tuple[Token, int, tuple[int, ...]]]
    reads: list[Token]
    writes: list[Token]
    group: Group | None = None


@dataclass(slots=True)
class NativeStep:
    """An operation with machine code of its own; see `codegen.native`."""

    node: Node
    operands: list[tuple[Token, int, tuple[int, ...]]]
    reads: list[Token]
    writes: list[Token]
    code: Code
    scratch: dict[Token, int] = field(default_factory=dict)
    group: Group | None = None


@dataclass(slots=True)
class RepeatStep:
    """A loop: the plan of its body, run again and again on moving addresses."""

    node: Node
    carries: list[tuple[Token, Token]]
    """The buffers of each carry: the one that the first step reads, and the other."""
    operands: list[tuple[Token, int, tuple[int, ...]]]
    """xs, then constants; as everywhere: (token, offset, strides) in elements."""
    stacked: list[Token]
    """The ys."""
    body: Plan
    arena: Token
    """Temporaries of the body."""
    reads: list[Token]
    writes: list[Token]
    scratch: dict[Token, int] = field(default_factory=dict)
    group: Group | None = None


@dataclass(slots=True)
class BranchStep:
    """A choice: the plan of one of two bodies is run."""

    node: Node
    choice: tuple[Token, int]
    """(token, offset) of the bool that chooses."""
    operands: list[tuple[Token, int, tuple[int, ...]]]
    results: list[Token]
    bodies: list[Plan]
    """Where the choice is true, and where it is false."""
    arena: Token
    reads: list[Token]
    writes: list[Token]
    scratch: dict[Token, int] = field(default_factory=dict)
    group: Group | None = None


Step = LoopStep | ProductStep | CallStep | NativeStep | RepeatStep | BranchStep
