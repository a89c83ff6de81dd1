"""Derivatives that need more than their own family: choices, powers, views, reductions, products.

The rule of a simple function stands in its definition. Rules of structural operations take the
cotangent and the node, and return a cotangent (or None) for each input.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import bool_, complex64, int64
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel.prim import Prim
from eutectic.ops.arithmetic import STOP_GRADIENT, sign
from eutectic.ops.comparison import CLIP, NAN_TO_NUM, WHERE, where
from eutectic.ops.functions import ROUND, exp, log, sigmoid
from eutectic.ops.registry import OPS, VJP, Rule
from eutectic.ops.views import PAIR

Structural = Callable[[Node, Node], "list[Node | None]"]
STRUCTURAL: dict[Prim, Structural] = {}
"""Rules of operations that are not elementwise: (cotangent, node) -> cotangents of the inputs."""


def _rule(name: str) -> Callable[[Rule], Rule]:
    def define(rule: Rule) -> Rule:
        VJP[OPS[name].prim] = rule
        return rule
    return define


Several = Callable[[Sequence["Node | None"], Node, Sequence[Node]], "list[Node | None]"]
SEVERAL: dict[Prim, Several] = {}
"""Rules of opaque operations with several results: (cotangent of each result or None, node,
results) -> cotangents of the inputs."""


def structural(*of: Prim) -> Callable[[Structural], Structural]:
    """Define the rule of structural operations."""
    def define(rule: Structural) -> Structural:
        for prim in of:
            STRUCTURAL[prim] = rule
        return rule
    return define


def several(*of: Prim) -> Callable[[Several], Several]:
    """Define the rule of opaque operations with several results."""
    def define(rule: Several) -> Several:
        for prim in of:
            SEVERAL[prim] = rule
        return rule
    return define


# -- elementwise -------------------------------------------------------------------------------


@_rule("power")
def _power(g: array, y: array, a: array, b: array) -> Any:
    # d/db a**b = a**b log a, and 0 where a is 0 (its limit for b > 0).
    rate = where(a == 0, 0, y * log(where(a == 0, 1, a)))
    return g * (b * where(b == 0, 1, a ** (b - 1))), g * rate


@_rule("maximum")
def _maximum(g: array, y: array, a: array, b: array) -> Any:
    return where(a > b, g, 0), where(a <= b, g, 0)


@_rule("minimum")
def _minimum(g: array, y: array, a: array, b: array) -> Any:
    return where(a < b, g, 0), where(a >= b, g, 0)


def _clip(g: array, y: array, a: array, low: array, high: array) -> Any:
    # As minimum(maximum(a, low), high): of equal operands the second passes the cotangent on.
    above = (a >= high) | (low >= high)
    inside = where(above, 0, g)
    return where(a > low, inside, 0), where(a <= low, inside, 0), where(above, g, 0)


@_rule("logaddexp")
def _logaddexp(g: array, y: array, a: array, b: array) -> Any:
    if a._n.dtype.is_complex:
        return g * exp(a - y), g * exp(b - y)
    return g * sigmoid(a - b), g * sigmoid(b - a)  # right where one is infinite


@_rule("abs")
def _abs(g: array, y: array, a: array) -> Any:
    if a._n.dtype.is_complex:
        return g * (a / where(y == 0, 1, y))  # sign, written so that it has a derivative itself
    return g * sign(a)


@_rule("sign")
def _sign(g: array, y: array, a: array) -> Any:
    if not a._n.dtype.is_complex:
        return None
    # a/|a| turns with a: the part of the cotangent across a, over |a|.
    along = (g * y.conj()).real
    return where(y == 0, 0, (g - y * along) / where(y == 0, 1, abs(a)))


@_rule("real")
def _real(g: array, y: array, a: array) -> Any:
    return complex_of(g, g * 0) if a._n.dtype.is_complex else g


@_rule("imag")
def _imag(g: array, y: array, a: array) -> Any:
    return complex_of(g * 0, g) if a._n.dtype.is_complex else None


def complex_of(re: array, im: array) -> array:
    """Complex numbers of their float32 parts."""
    return wrap(Node(PAIR, (re._n, im._n), (), re._n.shape, complex64))


VJP[WHERE] = lambda g, y, c, a, b: (None, where(c, g, 0), where(c, 0, g))
VJP[CLIP] = _clip
VJP[NAN_TO_NUM] = lambda g, y, a, *rest: (where(a == y, g, 0), *[None] * len(rest))
VJP[ROUND] = None
VJP[STOP_GRADIENT] = None
VJP[prims.COPY] = lambda g, y, a: g
VJP[prims.CAST] = lambda g, y, a: g
VJP[PAIR] = lambda g, y, a, b: (g.real, g.imag)


# -- views ---------------------------------------------------------------------------------------


@structural(prims.TRANSPOSE)
def _transpose(g: Node, n: Node) -> list[Node | None]:
    perm = n.attrs[0]
    back = [0] * len(perm)
    for i, p in enumerate(perm):
        back[p] = i
    return [prims.transpose(g, tuple(back))]


@structural(prims.RESHAPE)
def _reshape(g: Node, n: Node) -> list[Node | None]:
    return [prims.reshape(g, n.inputs[0].shape)]


@structural(prims.BROADCAST)
def _broadcast(g: Node, n: Node) -> list[Node | None]:
    return [unbroadcast(g, n.inputs[0].shape)]


def unbroadcast(g: Node, shape: tuple[int, ...]) -> Node:
    """Sum a cotangent over the axes along which an operand was repeated."""
    if g.shape == shape:
        return g
    pad = len(g.shape) - len(shape)
    axes = tuple([i for i, d in enumerate(g.shape)
                  if i < pad or (shape[i - pad] == 1 and d != 1)])
    return prims.reshape(prims.reduce("sum", g, axes), shape)


@structural(prims.SLICE)
def _slice(g: Node, n: Node) -> list[Node | None]:
    starts, steps = n.attrs
    source = n.inputs[0].shape
    zero = prims.const(0, g.dtype)
    if any(s < 0 for s in steps):
        turned = tuple([s < 0 for s in steps])
        g = prims.slice_(g, tuple([d - 1 if t else 0 for d, t in zip(g.shape, turned)]),
                         tuple([-1 if t else 1 for t in turned]), g.shape)
        starts = tuple([a + s * (d - 1) if t else a
                        for a, s, d, t in zip(starts, steps, g.shape, turned)])
        steps = tuple([abs(s) for s in steps])
    for axis, step in enumerate(steps):
        if step > 1 and g.shape[axis] > 1:
            # Put step - 1 zeros behind each element, then cut the surplus off.
            d = g.shape[axis]
            wide = prims.reshape(g, (*g.shape[:axis + 1], 1, *g.shape[axis + 1:]))
            high = tuple([step - 1 if i == axis + 1 else 0 for i in range(len(wide.shape))])
            wide = prims.pad(wide, (0,) * len(wide.shape), high, zero)
            g = prims.reshape(wide, (*g.shape[:axis], d * step, *g.shape[axis + 1:]))
            keep = (*g.shape[:axis], (d - 1) * step + 1, *g.shape[axis + 1:])
            g = prims.slice_(g, (0,) * len(keep), (1,) * len(keep), keep)
    high = tuple([k - a - d for k, a, d in zip(source, starts, g.shape)])
    return [prims.pad(g, tuple(starts), high, zero)]


@structural(prims.CONCATENATE)
def _concatenate(g: Node, n: Node) -> list[Node | None]:
    axis = n.attrs[0]
    out: list[Node | None] = []
    at = 0
    for x in n.inputs:
        starts = tuple([at if i == axis else 0 for i in range(len(x.shape))])
        out.append(prims.slice_(g, starts, (1,) * len(x.shape), x.shape))
        at += x.shape[axis]
    return out


@structural(prims.PAD)
def _pad(g: Node, n: Node) -> list[Node | None]:
    a = n.inputs[0]
    inner = prims.slice_(g, n.attrs[0], (1,) * len(a.shape), a.shape)
    every = tuple(range(len(g.shape)))
    outside = wrap(prims.reduce("sum", g, every)) - wrap(prims.reduce("sum", inner, every))
    return [inner, outside._n]


# -- reductions, scans, products ------------------------------------------------------------------


def _spread(r: Node, n: Node) -> Node:
    """A reduction's result, or its cotangent, over the operand's shape."""
    source, axes = n.inputs[0].shape, n.attrs[0]
    kept = tuple([1 if i in axes else d for i, d in enumerate(source)])
    return prims.broadcast(prims.reshape(r, kept), source)


@structural(prims.REDUCE["sum"])
def _sum(g: Node, n: Node) -> list[Node | None]:
    return [_spread(g, n)]


@structural(prims.REDUCE["max"], prims.REDUCE["min"])
def _extreme(g: Node, n: Node) -> list[Node | None]:
    # The places that hold the extreme share the cotangent.
    x = wrap(n.inputs[0])
    hit = (x == wrap(_spread(n, n))).astype(wrap(g).dtype)
    share = wrap(g) / wrap(prims.reduce("sum", hit._n, n.attrs[0]))
    return [(hit * wrap(_spread(share._n, n)))._n]


@structural(prims.REDUCE["prod"])
def _prod(g: Node, n: Node) -> list[Node | None]:
    # Product of the others, by running products from both sides: right with zeros too.
    axes = n.attrs[0]
    x = n.inputs[0]
    order = tuple([i for i in range(len(x.shape)) if i not in axes]) + axes
    flat = prims.transpose(x, order)
    kept = flat.shape[:len(flat.shape) - len(axes)]
    count = math.prod(flat.shape[len(kept):])
    rows = prims.reshape(flat, (*kept, count))
    before = prims.scan("prod", rows, inclusive=False)
    after = _flip(prims.scan("prod", _flip(rows), inclusive=False))
    others = wrap(before) * wrap(after)
    out = wrap(prims.reshape(g, (*kept, 1))) * others
    back = [0] * len(order)
    for i, p in enumerate(order):
        back[p] = i
    return [prims.transpose(prims.reshape(out._n, flat.shape), tuple(back))]


def _flip(n: Node) -> Node:
    rank, d = len(n.shape), n.shape[-1]
    if d == 0:
        return n
    return prims.slice_(n, (0,) * (rank - 1) + (d - 1,), (1,) * (rank - 1) + (-1,), n.shape)


@structural(prims.SCAN["sum"])
def _cumsum(g: Node, n: Node) -> list[Node | None]:
    return [_flip(prims.scan("sum", _flip(g), n.attrs[0]))]


@structural(prims.SCAN["prod"])
def _cumprod(g: Node, n: Node) -> list[Node | None]:
    """Sum over later places of g times the product of the others, by the recurrence of its terms.

    c[i] = sum over j >= i of g[j] * prod(x[i+1..j]) obeys c[i] = g[i] + x[i+1] * c[i+1], which
    doubling steps solve without dividing by x; the result is prod(x[..i-1]) * c[i].
    """
    x, inclusive = n.inputs[0], n.attrs[0]
    if not inclusive:
        g = shift_left(g)  # place j holds the product of those before: as place j - 1 inclusive
    total = wrap(linear_recurrence(g, shift_left(x)))
    before = wrap(prims.scan("prod", x, inclusive=False))
    return [(before * total)._n]


def linear_recurrence(g: Node, factor: Node) -> Node:
    """c[i] = g[i] + factor[i] * c[i + 1] along the last axis, by doubling steps."""
    total, reach = wrap(g), wrap(factor)
    step = 1
    while step < g.shape[-1]:
        total = total + reach * wrap(shift_left(total._n, step))
        reach = reach * wrap(shift_left(reach._n, step))
        step *= 2
    return total._n


def shift_left(n: Node, by: int = 1) -> Node:
    """Element i + by at place i; zeros at the end."""
    rank, d = len(n.shape), n.shape[-1]
    by = min(by, d)
    zeros = (0,) * (rank - 1)
    kept = prims.slice_(n, (*zeros, by), (1,) * rank, (*n.shape[:-1], d - by))
    return prims.pad(kept, (0,) * rank, (*zeros, by), prims.const(0, n.dtype))


@structural(prims.SCAN["max"], prims.SCAN["min"])
def _cumextreme(g: Node, n: Node) -> list[Node | None]:
    # Each place passes its cotangent to the element that it repeats: the last new extreme.
    x, y = wrap(n.inputs[0]), wrap(n)
    shape = n.shape
    where_new = wrap(prims.iota(shape, len(shape) - 1))
    first = (x == y)
    at = prims.scan("max", where(first, where_new, 0)._n, True)
    zeros = prims.broadcast(prims.const(0, g.dtype), shape)
    axes = (*range(len(shape) - 1), -1)
    return [prims.scatter(zeros, g, [at], axes, "sum")]


@structural(prims.MATMUL)
def _matmul(g: Node, n: Node) -> list[Node | None]:
    a, b = n.inputs
    rank = len(a.shape)
    turn = (*range(rank - 2), rank - 1, rank - 2)
    return [prims.matmul(g, prims.transpose(b, turn)), prims.matmul(prims.transpose(a, turn), g)]


@structural(prims.GATHER)
def _gather(g: Node, n: Node) -> list[Node | None]:
    a = n.inputs[0]
    zeros = prims.broadcast(prims.const(0, g.dtype), a.shape)
    back = prims.scatter(zeros, g, list(n.inputs[1:]), n.attrs[0], "sum")
    return [back, *[None] * (len(n.inputs) - 1)]


@structural(prims.SCATTER)
def _scatter(g: Node, n: Node) -> list[Node | None]:
    axes, mode = n.attrs
    a, updates, *indices = n.inputs
    picked = prims.gather(g, indices, axes, updates.shape)
    rest: list[Node | None] = [None] * len(indices)
    if mode == "sum":
        return [g, picked, *rest]
    if mode == "set":
        # The last update of a place is the one that stays: the others have no influence.
        order = prims.reshape(prims.iota((updates.size,), 0), updates.shape)
        none = prims.broadcast(prims.const(-1, int64), a.shape)
        last = prims.scatter(none, order, indices, axes, "set")
        stays = wrap(prims.gather(last, indices, axes, updates.shape)) == wrap(order)
        kept = where(wrap(last) == -1, wrap(g), 0)
        return [kept._n, where(stays, wrap(picked), 0)._n, *rest]
    if mode in ("prod", "div"):
        y = wrap(n)
        back = wrap(g) * y / wrap(a)
        mine = wrap(prims.gather((wrap(g) * y)._n, indices, axes, updates.shape)) / wrap(updates)
        return [back._n, (mine if mode == "prod" else -mine)._n, *rest]
    y = wrap(n)
    chosen = wrap(prims.gather(n, indices, axes, updates.shape)) == wrap(updates)
    return [where(wrap(a) == y, wrap(g), 0)._n, where(chosen, wrap(picked), 0)._n, *rest]


def is_discrete(n: Node) -> bool:
    """Whether a node has no tangent: integers and booleans."""
    return n.dtype.is_int or n.dtype is bool_
