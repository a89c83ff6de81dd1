"""Einstein summation: parsing, the order of pairwise contractions, and their lowering."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import promote
from eutectic.errors import ArgumentError, ArgumentTypeError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel.reductions import SUM
from eutectic.ops.contractions import contract
from eutectic.ops.creation import diagonal
from eutectic.ops.devices import streamed
from eutectic.ops.registry import node_of

Label = str | int
"""A letter, or an axis of an ellipsis: -1 its last."""
Labels = tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Expression:
    """What subscripts say about operands of given shapes."""

    inputs: tuple[Labels, ...]
    output: Labels
    sizes: dict[Label, int]


def _term(name: str, text: str) -> tuple[str, str | None]:
    """The letters before an ellipsis and those behind it (None without one)."""
    parts = text.split("...")
    if len(parts) > 2:
        raise ArgumentError(f"[{name}] more than one ellipsis in the subscripts {text!r}.")
    for c in "".join(parts):
        if c not in string.ascii_letters:
            raise ArgumentError(f"[{name}] subscripts are letters, not {c!r}.")
    return parts[0], parts[1] if len(parts) == 2 else None


def parse(name: str, subscripts: Any, shapes: Sequence[tuple[int, ...]]) -> Expression:
    """Read subscripts such as "ij,jk->ik" for operands of these shapes."""
    if not isinstance(subscripts, str):
        raise ArgumentTypeError(f"[{name}] the subscripts are a str, not a "
                                f"{type(subscripts).__name__}.")
    if not shapes:
        raise ArgumentError(f"[{name}] needs at least one operand.")
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ArgumentError(f"[{name}] {len(terms)} subscripts for {len(shapes)} operands.")
    inputs = []
    sizes: dict[Label, int] = {}
    dots = 0
    for text, shape in zip(terms, shapes):
        before, behind = _term(name, text)
        letters = len(before) + len(behind or "")
        rest = len(shape) - letters
        if rest < 0 or (behind is None and rest):
            raise ShapeError(f"[{name}] subscripts {text!r} name {letters} axes of an operand of "
                             f"shape {show_shape(shape)}.")
        labels: Labels = (*before, *range(-rest, 0), *(behind or ""))
        dots = max(dots, rest)
        own: dict[Label, int] = {}
        for label, d in zip(labels, shape):
            if own.setdefault(label, d) != d:
                raise ShapeError(f"[{name}] the axes of the repeated subscript {label!r} differ in "
                                 f"shape {show_shape(shape)}.")
            known = sizes.get(label, 1)
            if known not in (1, d) and d != 1:
                raise ShapeError(f"[{name}] {_shown(label)} has length {known} in one operand and "
                                 f"{d} in another, of shape {show_shape(shape)}.")
            sizes[label] = d if known == 1 else known
        inputs.append(labels)
    if arrow:
        before, behind = _term(name, right)
        output: Labels = (*before, *(range(-dots, 0) if behind is not None else ()),
                          *(behind or ""))
        for label in output:
            if output.count(label) > 1:
                raise ArgumentError(f"[{name}] subscript {label!r} occurs twice in the result.")
            if label not in sizes:
                raise ArgumentError(f"[{name}] subscript {label!r} of the result is in no operand.")
    else:
        every = [label for labels in inputs for label in labels if isinstance(label, str)]
        output = (*range(-dots, 0), *sorted([c for c in set(every) if every.count(c) == 1]))
    return Expression(tuple(inputs), output, sizes)


def _shown(label: Label) -> str:
    return f"subscript {label!r}" if isinstance(label, str) else f"axis {label} of the ellipsis"


def contraction_path(e: Expression) -> list[tuple[int, ...]]:
    """Which operands meet, step by step: those at the positions leave, their product comes last."""
    if len(e.inputs) <= 2:
        return [tuple(range(len(e.inputs)))]
    names = dict(zip(e.sizes, string.ascii_letters))
    if len(names) < len(e.sizes):
        return [(0, 1)] * (len(e.inputs) - 1)
    text = ",".join(["".join([names[x] for x in labels]) for labels in e.inputs])
    text += "->" + "".join([names[x] for x in e.output])
    # NumPy looks at the shapes alone.
    shapes = [np.broadcast_to(np.empty((), np.int8), [e.sizes[x] for x in labels])
              for labels in e.inputs]
    how = "optimal" if len(e.inputs) <= 4 else "greedy"
    path = np.einsum_path(text, *shapes, optimize=(how, 1 << 62))[0][1:]
    return [tuple(step) for step in path]


def _own_axes(n: Node, labels: Labels, e: Expression) -> tuple[Node, Labels]:
    """Diagonals of repeated labels taken, axes of length 1 broadcast."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            n = diagonal(wrap(n), 0, i, j)._n
            labels = (*labels[:i], *labels[i + 1:j], *labels[j + 1:], label)
    return prims.broadcast(n, tuple([e.sizes[x] for x in labels])), labels


def _summed(n: Node, labels: Labels, keep: frozenset[Label]) -> tuple[Node, Labels]:
    """Axes summed that are not kept."""
    axes = tuple([i for i, x in enumerate(labels) if x not in keep])
    if not axes:
        return n, labels
    n = prims.cast(n, SUM.result(n.dtype))
    return prims.reduce("sum", n, axes), tuple([x for x in labels if x in keep])


def _arranged(n: Node, labels: Labels, wanted: Labels) -> Node:
    return prims.transpose(n, tuple([labels.index(x) for x in wanted]))


def _together(a: tuple[Node, Labels], b: tuple[Node, Labels],
              keep: frozenset[Label]) -> tuple[Node, Labels]:
    """The product of two operands, summed over labels that nobody else needs."""
    x, lx = _summed(*a, keep | frozenset(b[1]))
    y, ly = _summed(*b, keep | frozenset(a[1]))
    d = promote(x.dtype, y.dtype)
    both = [label for label in lx if label in ly]
    batch = tuple([label for label in both if label in keep])
    k = tuple([label for label in both if label not in keep])
    left = tuple([label for label in lx if label not in both])
    right = tuple([label for label in ly if label not in both])
    out = contract(prims.cast(_arranged(x, lx, batch + left + k), d),
                   prims.cast(_arranged(y, ly, batch + right + k), d),
                   len(batch), len(left), len(right))
    return out, batch + left + right


@streamed
def einsum(subscripts: str, *operands: Any, stream: Any = None) -> array:
    """Sum of products of arrays over the axes that subscripts name.

    Each operand has a term of letters, one an axis, and `...` for axes that broadcast; behind `->`
    stand those of the result, and axes that do not appear there are summed. Without `->` the
    result has the ellipsis and, sorted, the letters that occur once. A letter twice in a term
    takes the diagonal. Operands meet in pairs, in the order of `einsum_path`; dtypes are promoted,
    and sums of integers narrower than 32 bits are int32 or uint32. Raises ArgumentError for wrong
    subscripts, ShapeError for shapes that do not fit them.

    >>> import eutectic.core as mx
    >>> mx.einsum("ij,jk->ik", mx.array([[1.0, 2.0]]), mx.array([[3.0], [4.0]]))
    array([[11]], dtype=float32)
    >>> mx.einsum("ii", mx.array([[1, 2], [3, 4]]))
    array(5, dtype=int32)
    """
    nodes = [node_of(x, "einsum") for x in operands]
    e = parse("einsum", subscripts, [n.shape for n in nodes])
    terms = [_own_axes(n, labels, e) for n, labels in zip(nodes, e.inputs)]
    for step in contraction_path(e):
        chosen = [terms[i] for i in step]
        terms = [t for i, t in enumerate(terms) if i not in step]
        made = chosen[0]
        for i, other in enumerate(chosen[1:], 2):
            needed = [labels for _, labels in (*terms, *chosen[i:])]
            made = _together(made, other, frozenset(e.output).union(*needed))
        terms.append(made)
    n, labels = _summed(*terms[0], frozenset(e.output))
    return wrap(_arranged(n, labels, e.output))


def _cost(sizes: dict[Label, int], labels: frozenset[Label], factors: int, summed: bool) -> int:
    return math.prod([sizes[x] for x in labels]) * (max(1, factors - 1) + summed)


def einsum_path(subscripts: str, *operands: Any) -> tuple[list[tuple[int, ...]], str]:
    """The order in which `einsum` contracts operands, and a text about its cost.

    Each step of the path names the operands that meet, by position; they leave, and their product
    becomes the last. Raises as `einsum` does.

    >>> import eutectic.core as mx
    >>> mx.einsum_path("ij,jk,k->i", mx.ones((9, 8)), mx.ones((8, 7)), mx.ones(7))[0]
    [(1, 2), (0, 1)]
    """
    shapes = [node_of(x, "einsum_path").shape for x in operands]
    e = parse("einsum_path", subscripts, shapes)
    path = contraction_path(e)
    out = frozenset(e.output)
    every = frozenset(e.sizes)
    terms = [frozenset(labels) for labels in e.inputs]
    cost, widest = 0, 0
    for step in path:
        chosen = frozenset().union(*[terms[i] for i in step])
        terms = [t for i, t in enumerate(terms) if i not in step]
        kept = chosen & out.union(*terms)
        cost += _cost(e.sizes, chosen, len(step), kept != chosen)
        widest = max(widest, len(chosen))
        terms.append(kept)
    naive = _cost(e.sizes, every, len(shapes), every != out)
    return path, (f"contraction {subscripts}\nat once: {len(every)} nested loops, {naive} "
                  f"operations\nby this path: {widest} nested loops, {cost} operations\n")
