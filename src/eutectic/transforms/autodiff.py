"""Reverse-mode derivatives of the lazy graph; forward mode as the transpose of reverse mode.

A function is called on fresh handles of its arguments; the nodes it records are walked from results
to arguments, and each operation's rule gives the cotangents of its operands. The rules are linear
in the cotangent and made of differentiable operations, so derivatives of any order are derivatives
of that record, and a forward derivative is the transpose of the map from cotangents to cotangents
(Bradbury et al.; Radul et al., arXiv 2204.10923, the other way round).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.errors import ArgumentError, DtypeError, TransformError, show_shape
from eutectic.graph import ir, prims
from eutectic.graph.ir import INPUT, Node, toposort, with_inputs
from eutectic.graph.loops import RESULT
from eutectic.graph.passes.expand import expanded
from eutectic.ops.attention import ATTENTION, formula
from eutectic.ops.derivatives import STRUCTURAL, is_discrete, unbroadcast
from eutectic.ops.registry import OPS, VJP
from eutectic.tracing.breaks import active
from eutectic.transforms.custom import OUTPUT, Call
from eutectic.transforms.loop_rules import pull_control


class Recording:
    """A derivative in progress: nodes keep their inputs even when they have been computed."""

    __slots__ = ("name", "retains")

    def __init__(self, name: str) -> None:
        self.name = name
        self.retains = True


def handle(n: Node, recording: Recording) -> Node:
    """A node of the same value that is told apart from the original."""
    if n.data is not None and n.trace is None:
        h = Node(INPUT, (), (), n.shape, n.dtype)
        h.data = n.data
    else:
        h = Node(prims.RESHAPE, (n,), (), n.shape, n.dtype)
        h.data = n.data
    if h.trace is None:
        h.trace = recording
    return h


def record(fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
           recording: Recording) -> Any:
    """Call a function while its operations are recorded for a derivative."""
    active.depth += 1
    ir.begin_trace()
    try:
        return fun(*args, **kwargs)
    finally:
        ir.end_trace()
        active.depth -= 1


def pullback(outputs: Sequence[Node], inputs: Sequence[Node],
             cotangents: Sequence[Node | None]) -> list[Node | None]:
    """Cotangents of the inputs, from those of the outputs; None where nothing depends on it."""
    ends = {id(i) for i in inputs}
    order, swapped = _simple(outputs, ends)
    depends = set(ends)
    for n in order:
        if any(id(i) in depends for i in n.inputs):
            depends.add(id(n))
    found: dict[int, Node] = {}
    pending: dict[int, tuple[Call, list[Node | None], int]] = {}
    of_results: dict[int, dict[int, Node]] = {}
    """Cotangents of the results of loops and choices, by the id of their node and their index."""
    for o, g in zip(outputs, cotangents):
        if g is not None:
            _accumulate(found, swapped.get(id(o), o), g)
    for n in reversed(order):
        if id(n) in ends or id(n) not in depends:
            continue
        g = found.pop(id(n), None)
        if n.prim is OUTPUT:
            pending = _custom(n, g, pending, order)
            call, cotangents, left = pending[id(n.attrs[0])]
            primals = n.inputs[1:]
            wanted = any(id(p) in depends for p in primals)
            if left == 0 and wanted and any(c is not None for c in cotangents):
                for i, c in zip(primals, call.pullback(cotangents, pullback)):
                    if c is not None and id(i) in depends and not is_discrete(i):
                        _accumulate(found, i, c)
            continue
        if n.prim.family == "loop" and id(n) in of_results:
            flags = [id(i) in depends and not is_discrete(i) for i in n.inputs]
            for i, c in zip(n.inputs, pull_control(n, of_results[id(n)], flags, pullback)):
                if c is not None and id(i) in depends and not is_discrete(i):
                    _accumulate(found, i, c)
            continue
        if g is None:
            continue
        if n.prim is RESULT:
            if not is_discrete(n):
                cotangents_of = of_results.setdefault(id(n.inputs[0]), {})
                old = cotangents_of.get(n.attrs[0])
                cotangents_of[n.attrs[0]] = g if old is None else _sum(old, g)
            continue
        for i, c in zip(n.inputs, _rule(n, g)):
            if c is not None and id(i) in depends and not is_discrete(i):
                _accumulate(found, i, c)
    return [found.get(id(i)) for i in inputs]


def _custom(n: Node, g: Node | None, pending: dict[int, tuple[Call, list[Node | None], int]],
            order: Sequence[Node]) -> dict[int, tuple[Call, list[Node | None], int]]:
    """Collect the cotangents of one call's results: its rule wants them together."""
    call, index = n.attrs
    if id(call) not in pending:
        there = sum([m.prim is OUTPUT and m.attrs[0] is call for m in order])
        pending[id(call)] = (call, [None] * len(call.results), there)
    _call, cotangents, left = pending[id(call)]
    cotangents[index] = g
    pending[id(call)] = (call, cotangents, left - 1)
    return pending


def _accumulate(found: dict[int, Node], n: Node, g: Node) -> None:
    g = prims.cast(unbroadcast(g, n.shape), n.dtype)
    old = found.get(id(n))
    found[id(n)] = g if old is None else _sum(old, g)


def _sum(a: Node, b: Node) -> Node:
    return Node(OPS["add"].prim, (a, b), (), a.shape, a.dtype)


def _simple(outputs: Sequence[Node], ends: set[int]) -> tuple[list[Node], dict[int, Node]]:
    """The recorded nodes down to the ends, composites replaced by what they stand for."""
    new: dict[int, Node] = {}
    for n in toposort(outputs, lambda x: id(x) in ends):
        if id(n) in ends or not n.inputs:
            new[id(n)] = n
            continue
        m = with_inputs(n, [new[id(i)] for i in n.inputs])
        whole = m.prim.family == "composite" and m.prim is not OUTPUT
        new[id(n)] = expanded(m) if whole else m
    roots = [new[id(o)] for o in outputs]
    return toposort(roots, lambda x: id(x) in ends), new


def _attention(n: Node, g: Node) -> Sequence[Node | None]:
    """Through the definition: the score matrix is formed again, in one kernel's row each."""
    scale, mask, causal, sinks = n.attrs
    if sinks:
        raise TransformError("[vjp] attention with sinks has no derivative yet.")
    # Handles of their own: one array may be queries, keys and values at once.
    q, k, v, *rest = [Node(prims.RESHAPE, (i,), (), i.shape, i.dtype) for i in n.inputs]
    out = formula(q, k, v, scale, rest[0] if mask else None, causal)
    return pullback([out], [q, k, v, *rest], [g])


def _rule(n: Node, g: Node) -> Sequence[Node | None]:
    if n.prim is ATTENTION:
        return _attention(n, g)
    if n.dtype.is_complex and (n.prim.name in _HOLOMORPHIC or n.prim in _PRODUCTS):
        # The rules multiply by the derivative; the adjoint multiplies by its conjugate.
        found = _plain_rule(n, _conjugate(g))
        return [None if c is None else _conjugate(c) for c in found]
    return _plain_rule(n, g)


_HOLOMORPHIC = frozenset((
    "multiply", "divide", "power", "square", "sqrt", "rsqrt", "reciprocal", "exp", "expm1", "log",
    "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos",
    "arctan", "arcsinh", "arccosh", "arctanh"))
_PRODUCTS = (prims.MATMUL, prims.REDUCE["prod"], prims.SCAN["prod"])


def _conjugate(n: Node) -> Node:
    if not n.dtype.is_complex:
        return n
    return Node(OPS["conjugate"].prim, (n,), (), n.shape, n.dtype)


def _plain_rule(n: Node, g: Node) -> Sequence[Node | None]:
    structural = STRUCTURAL.get(n.prim)
    if structural is not None:
        return structural(g, n)
    if n.prim not in VJP:
        where = f" (at {n.source[0]}:{n.source[1]})" if n.source else ""
        raise TransformError(f"[vjp] the derivative of {n.prim.name} is not known{where}.")
    rule = VJP[n.prim]
    if rule is None or is_discrete(n):
        return [None] * len(n.inputs)
    out = rule(wrap(g), wrap(n), *[wrap(i) for i in n.inputs])
    if not isinstance(out, tuple):
        out = (out,)
    return [None if c is None else c._n for c in out]


def ones_like(n: Node) -> Node:
    return prims.broadcast(prims.const(1, n.dtype), n.shape)


def zeros_like(n: Node) -> Node:
    return prims.broadcast(prims.const(0, n.dtype), n.shape)


def vjp(fun: Callable[..., Any], primals: Sequence[array],
        cotangents: Sequence[array]) -> tuple[list[array], list[array]]:
    """Results of `fun(*primals)` and the products of `cotangents` with its Jacobian.

    `fun` takes and returns arrays (one, or a sequence); there is a cotangent of each result's
    shape. Returns (results, one product for each primal). Raises ShapeError-like ArgumentError
    where counts or shapes differ, TransformError for an operation without a derivative.

    >>> import eutectic.core as mx
    >>> outs, grads = mx.vjp(lambda x: x * x, [mx.array(3.0)], [mx.array(1.0)])
    >>> grads
    [array(6, dtype=float32)]
    """
    ins, outs = _run("vjp", fun, primals)
    _matching("vjp", "cotangent", outs, cotangents)
    found = pullback(outs, ins, [c._n for c in cotangents])
    return ([wrap(o) for o in outs],
            [wrap(g if g is not None else zeros_like(i)) for g, i in zip(found, ins)])


def jvp(fun: Callable[..., Any], primals: Sequence[array],
        tangents: Sequence[array]) -> tuple[list[array], list[array]]:
    """Results of `fun(*primals)` and the products of its Jacobian with `tangents`.

    There is a tangent of each primal's shape. Returns (results, one product for each result).

    >>> import eutectic.core as mx
    >>> outs, tangents = mx.jvp(mx.sin, [mx.array(0.0)], [mx.array(2.0)])
    >>> tangents
    [array(2, dtype=float32)]
    """
    ins, outs = _run("jvp", fun, primals)
    _matching("jvp", "tangent", ins, tangents)
    recording = Recording("jvp")
    active.depth += 1
    ir.begin_trace()
    try:
        # The pullback is linear in these; its own pullback is the pushforward.
        seeds = [handle(zeros_like(o), recording) for o in outs]
        back = pullback(outs, ins, list(seeds))
    finally:
        ir.end_trace()
        active.depth -= 1
        recording.retains = False
    live = [(b, t._n) for b, t in zip(back, tangents) if b is not None]
    forward = pullback([b for b, _t in live], seeds, [t for _b, t in live])
    return ([wrap(o) for o in outs],
            [wrap(f if f is not None else zeros_like(o)) for f, o in zip(forward, outs)])


def _run(name: str, fun: Callable[..., Any],
         primals: Sequence[array]) -> tuple[list[Node], list[Node]]:
    for p in primals:
        if not isinstance(p, array):
            raise DtypeError(f"[{name}] primals are arrays, got a {type(p).__name__}.")
    recording = Recording(name)
    ins = [handle(p._n, recording) for p in primals]
    try:
        result = record(fun, tuple([wrap(i) for i in ins]), {}, recording)
    finally:
        recording.retains = False
    outs = list(result) if isinstance(result, (list, tuple)) else [result]
    for o in outs:
        if not isinstance(o, array):
            raise DtypeError(f"[{name}] the function returns arrays, got a {type(o).__name__}.")
    return ins, [o._n for o in outs]


def _matching(name: str, what: str, of: Sequence[Node], given: Sequence[array]) -> None:
    if len(of) != len(given):
        raise ArgumentError(f"[{name}] {len(of)} {what}s are needed, {len(given)} were given.")
    for n, g in zip(of, given):
        if n.shape != g._n.shape:
            raise ArgumentError(f"[{name}] a {what} of shape {show_shape(g._n.shape)} does not fit "
                                f"shape {show_shape(n.shape)}.")
