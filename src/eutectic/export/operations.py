"""Operations as data: nodes whose operands are numbers, and the bodies of loops made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from eutectic.dtype import Dtype
from eutectic.export.sizes import Number, Size
from eutectic.kernel.prim import Prim

Shape = tuple[Any, ...]
"""Lengths: integers, and in shapeless traces `Size`s."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One node: its operands are numbers of values."""

    prim: Prim
    inputs: tuple[int, ...]
    attrs: tuple[Any, ...]
    dtype: Dtype
    shape: Shape


@dataclass(frozen=True, slots=True)
class Block:
    """The body of a loop or choice; its values are the inputs, then the operations."""

    name: str
    inputs: tuple[tuple[Dtype, Shape], ...]
    operations: tuple[Operation, ...]
    outputs: tuple[int, ...]


def resolved(x: Any, lengths: Mapping[str, int], dtype: Dtype) -> Any:
    """An attribute or a shape with numbers in the place of sizes."""
    if type(x) is tuple:
        return tuple([resolved(v, lengths, dtype) for v in x])
    if type(x) is Size:
        return x.at(lengths)
    if type(x) is Number:
        return x.at(lengths, dtype)
    if type(x) is Block:
        return replace(
            x, inputs=tuple([(d, resolved(s, lengths, d)) for d, s in x.inputs]),
            operations=tuple([replace(op, attrs=resolved(op.attrs, lengths, op.dtype),
                                      shape=resolved(op.shape, lengths, op.dtype))
                              for op in x.operations]))
    return x
