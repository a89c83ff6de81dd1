"""Operations with machine code of their own, beside loops and matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Range:
    """One parallel region of an operation: function `fn` over [0, n)."""

    fn: str
    n: int
    grain: int = 1


@dataclass(frozen=True, slots=True)
class Code:
    """How to run an operation: a module, its regions in order, and one parameter block.

    `operands` and `out` are the slots of addresses; `scratch` are (slot, bytes) of temporaries.
    """

    text: str
    ranges: Sequence[Range]
    params: list[int]
    operands: Sequence[int]
    out: int
    scratch: Sequence[tuple[int, int]] = field(default=())
    flops: int = 0
    """Floating-point operations of its products, for reports; 0 where they are not counted."""
