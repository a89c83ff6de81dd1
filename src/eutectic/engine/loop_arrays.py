"""The arrays of a loop kernel under construction."""

from __future__ import annotations

from dataclasses import dataclass

from eutectic.dtype import Dtype
from eutectic.engine.steps import Token


@dataclass(slots=True)
class Array:
    """An array of a kernel under construction: strides (elements) by loop index."""

    dtype: Dtype
    role: str
    token: Token
    offset: int
    strides: dict[int, int]
    level: str = "F"
    unit: int = 0
    """Bytes of a step of a 'table'; of other arrays the dtype says it."""

    def bytes(self) -> int:
        """Bytes of one step of the strides (1 of plain coordinates)."""
        return self.unit or (1 if self.role == "iota" else self.dtype.size)
