"""Reverse-mode derivatives of the lazy graph; forward mode as the transpose of reverse mode.

A function is called on fresh handles of its arguments; the nodes it records are walked from results
to arguments, and each operation's rule gives the cotangents of its operands. The rules are linear
in the cotangent and made of differentiable operations, so derivatives of any order are derivatives
of that record, and a forward derivative is the transpose of the map from cotangents to cotangents
(Bradbury et al.; Radul et al., arXiv 2204.10923, the other way round).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import float32
from eutectic.errors import ArgumentError, DtypeError, TransformError, show_shape
from eutectic.graph import ir, prims
from eutectic.graph.ir import INPUT, Node, toposort, with_inputs
from eutectic.graph.loops import RESULT
from eutectic.graph.passes.expand import expanded
from eutectic.ops.attention import ATTENTION, formula
from eutectic.ops.derivatives import SEVERAL, STRUCTURAL, is_discrete, unbroadcast
from eutectic.ops.registry import OPS, VJP
from eutectic.tracing.breaks import active
from eutectic.transforms.custom import OUTPUT
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


def pullback(outputs: Sequence[Node], inputs: Sequence[Node], cotangents: Sequence[Node | None],
             forward: bool = False) -> list[Node | None]:
    """Cotangents of the inputs, from those of the outputs; None where nothing depends on it.

    `forward`: the result will be transposed into a forward derivative.
    """
    ends = {id(i) for i in inputs}
    order, swapped = _simple(outputs, ends)
    depends = set(ends)
    for n in order:
        if any(id(i) in depends for i in n.inputs):
            depends.add(id(n))
    found: dict[int, Node] = {}
    results: dict[int, dict[int, Node]] = {}
    """Cotangents of the results, by their index, of what has several: calls, loops, libraries."""
    left = Counter([n.attrs[0] for n in order if n.prim is OUTPUT])
    for o, g in zip(outputs, cotangents):
        if g is not None:
            _accumulate(found, swapped.get(id(o), o), g)
    for n in reversed(order):
        if id(n) in ends or id(n) not in depends:
            continue
        g = found.pop(id(n), None)
        if n.prim is OUTPUT:
            call, index = n.attrs
            left[call] -= 1
            _collect(results, call, index, g)
            gs = results.get(id(call))
            if gs is not None and not left[call]:
                # The rule wants the cotangents of all results together.
                primals = list(n.inputs[1:])
                wanted = [id(p) in depends and not is_discrete(p) for p in primals]
                if any(wanted):
                    count = len(call.results)
                    made = call.pullback([gs.get(i) for i in range(count)], _through, wanted,
                                         forward)
                    for i, c, w in zip(primals, made, wanted):
                        if c is not None and w:
                            _accumulate(found, i, c)
            continue
        if n.prim is RESULT or n.prim is prims.PART:
            if not is_discrete(n):
                index = n.attrs[0] if n.prim is RESULT else prims.part_index(n)
                _collect(results, n.inputs[0], index, g)
            continue
        of_results = results.get(id(n))
        if of_results is not None and n.prim.family == "loop":
            flags = [id(i) in depends and not is_discrete(i) for i in n.inputs]
            rules: Sequence[Node | None] = pull_control(n, of_results, flags, pullback)
        elif of_results is not None:
            rules = _several(n, of_results)
        elif g is not None:
            rules = _rule(n, g)
        else:
            continue
        for i, c in zip(n.inputs, rules):
            if c is not None and id(i) in depends and not is_discrete(i):
                _accumulate(found, i, c)
    return [found.get(id(i)) for i in inputs]


def _through(fun: Callable[[list[array]], list[Node]], primals: Sequence[Node],
             cotangents: Sequence[Node], forward: bool = False) -> list[Node | None]:
    """Call a function and pull cotangents of its results back to its arguments."""
    recording = Recording("vjp")
    ins = [handle(p, recording) for p in primals]
    try:
        outs = record(fun, ([wrap(i) for i in ins],), {}, recording)
    finally:
        recording.retains = False
    return pullback(outs, ins, cotangents, forward)


def _collect(results: dict[int, dict[int, Node]], of: Any, index: int, g: Node | None) -> None:
    """Add a cotangent to those of the results of a call or an operation."""
    if g is not None:
        gs = results.setdefault(id(of), {})
        gs[index] = _sum(gs.get(index), g)


def _accumulate(found: dict[int, Node], n: Node, g: Node) -> None:
    found[id(n)] = _sum(found.get(id(n)), prims.cast(unbroadcast(g, n.shape), n.dtype))


def _sum(old: Node | None, g: Node) -> Node:
    return g if old is None else Node(OPS["add"].prim, (old, g), (), g.shape, g.dtype)


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
    """Through the definition: the score matrix is formed again, in float32 as in the call."""
    scale, mask, causal, sinks = n.attrs
    # Handles of their own: one array may be queries, keys and values at once.
    ins = [Node(prims.RESHAPE, (i,), (), i.shape, i.dtype) for i in n.inputs]
    q, k, v = [prims.cast(i, float32) for i in ins[:3]]
    out = formula(q, k, v, scale, ins[3] if mask else None, causal, ins[-1] if sinks else None)
    return pullback([out], ins, [prims.cast(g, float32)])


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
        raise _unknown(n)
    rule = VJP[n.prim]
    if rule is None or is_discrete(n):
        return [None] * len(n.inputs)
    out = rule(wrap(g), wrap(n), *[wrap(i) for i in n.inputs])
    if not isinstance(out, tuple):
        out = (out,)
    return [None if c is None else c._n for c in out]


def _several(n: Node, gs: Mapping[int, Node]) -> Sequence[Node | None]:
    rule = SEVERAL.get(n.prim)
    if rule is None:
        raise _unknown(n)
    outs = prims.parts(n)
    return rule([gs.get(i) for i in range(len(outs))], n, outs)


def _unknown(n: Node) -> TransformError:
    where = f" (at {n.source[0]}:{n.source[1]})" if n.source else ""
    return TransformError(f"[vjp] the derivative of {n.prim.name} is not known{where}.")


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
        back = pullback(outs, ins, seeds, forward=True)
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
