"""What an operation is to the compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eutectic.graph.ir import Node
    from eutectic.kernel.reductions import Reduction

FAMILIES = ("leaf", "elementwise", "view", "reduction", "scan", "contract", "place", "scatter",
            "composite", "opaque", "native", "loop", "result")


@dataclass(frozen=True, eq=False, slots=True)
class Prim:
    """What an operation is to the compiler. Compared by identity; one instance an operation.

    `body(*values, *attrs)` is the scalar meaning of an elementwise operation; `lower(node)` the
    graph of simpler operations that a composite stands for; `call(arrays, node)` the Python
    function of an opaque one; `reduction` the accumulation of a reduction.
    """

    name: str
    family: str
    body: Callable[..., Any] | None = None
    lower: Callable[[Node], Node] | None = None
    call: Callable[..., Any] | None = None
    native: Callable[..., Any] | None = None
    """Of a `native` operation: (node, operand strides, threads) -> `codegen.native.Code`."""
    reduction: Reduction | None = None
    absorb: Callable[..., Any] | None = None
    """Of an operation that can pad its first operand with zeros: (node, operand, low, high) -> the
    node that reads the operand and pads it by these widths, or why it cannot."""
    commutes: bool = False
    """Whether swapping the two operands gives the same bits."""

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        raise TypeError(f"operation {self.name} cannot be pickled")
