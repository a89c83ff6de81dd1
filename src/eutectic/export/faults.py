"""Checks of attributes and operands that the rules of all operations share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eutectic.dtype import Dtype
from eutectic.graph.ir import Node


class Fault(Exception):
    """What is wrong with a node; readers and writers put the file or the function before it."""


def that(ok: bool, why: str) -> None:
    if not ok:
        raise Fault(why)


def integer(x: Any) -> bool:
    return type(x) is int


def flag(x: Any) -> bool:
    return type(x) is bool


def number(x: Any) -> bool:
    return type(x) is float


def text(x: Any) -> bool:
    return type(x) is str


def integers(x: Any) -> bool:
    return type(x) is tuple and all(type(i) is int for i in x)


def attributes(n: Node, *kinds: Callable[[Any], bool]) -> None:
    """Each attribute of its kind, and no more of them."""
    that(len(n.attrs) == len(kinds) and all(is_kind(x) for is_kind, x in zip(kinds, n.attrs)),
         "has other attributes")


def count(n: Node, inputs: int) -> None:
    that(len(n.inputs) == inputs, f"takes {inputs} operands")


def dtypes(n: Node, *of: Dtype, gives: Dtype | None = None) -> None:
    """The operands' number and dtypes, and the result's."""
    count(n, len(of))
    that(all(i.dtype is d for i, d in zip(n.inputs, of)) and (gives is None or n.dtype is gives),
         "takes no such dtypes")
