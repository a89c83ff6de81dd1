"""Derivatives and batching rules of loops and choices.

The pullback of a scan is a scan in the other direction over the history of its carries: each step
computes the body's intermediate values again and pulls its cotangents back. Cotangents of what the
body reads from outside add up in carries of that scan, from the last step to the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eutectic.dtype import bool_
from eutectic.errors import TransformError
from eutectic.graph import loops, prims
from eutectic.graph.ir import Node
from eutectic.graph.loops import COND, SCAN, WHILE
from eutectic.ops.checks import apply
from eutectic.ops.comparison import WHERE
from eutectic.ops.derivatives import is_discrete

Pullback = Callable[[Sequence[Node], Sequence[Node], Sequence[Node | None]], list[Node | None]]
Operand = tuple[Node, bool]
Batch = Callable[[Sequence[Node], Sequence[Node], Sequence[Operand], int], list[Operand]]


def pull_control(n: Node, cotangents: Mapping[int, Node], wanted: Sequence[bool],
                 pullback: Pullback) -> list[Node | None]:
    """Cotangents of the wanted inputs of a loop or choice, from those of its results by index."""
    if n.prim is WHILE:
        where = f" (at {n.source[0]}:{n.source[1]})" if n.source else ""
        raise TransformError("[vjp] while_loop has no derivative, as its length is not known; use "
                             f"mx.scan with a length{where}.")
    rule = _pull_cond if n.prim is COND else _pull_scan
    return rule(n, cotangents, wanted, pullback)


def _like(n: Node) -> Node:
    return loops.placeholder(n.shape, n.dtype)


def _full(value: float, shape: tuple[int, ...], like: Node) -> Node:
    number = complex(value, value) if like.dtype.is_complex else value
    return prims.broadcast(prims.const(number, like.dtype), shape)


def _sum(a: Node | None, b: Node | None) -> Node | None:
    if a is None or b is None:
        return a if b is None else b
    return apply("add", a, b)


def _pull_scan(n: Node, cotangents: Mapping[int, Node], wanted: Sequence[bool],
               pullback: Pullback) -> list[Node | None]:
    body, carries, xs, length, reverse = n.attrs
    inputs, count = body.inputs, len(body.outputs)
    smooth = [j for j in range(carries) if not is_discrete(inputs[j])]
    entries = [j for j in range(carries, carries + xs) if wanted[j]]
    constants = [j for j in range(carries + xs, len(inputs)) if wanted[j]]
    # What the step backward reads: cotangents of its carries, of its ys, of the histories.
    state = {j: _like(inputs[j]) for j in smooth}
    of_ys = {i: _like(body.outputs[i]) for i in range(carries, count) if i in cotangents}
    of_history = {j: _like(inputs[j]) for j in smooth if count + j in cotangents}
    seeds = [state.get(i) if i < carries else of_ys.get(i) for i in range(count)]
    targets = [*smooth, *entries, *constants]
    found = dict(zip(targets, pullback(body.outputs, [inputs[j] for j in targets], seeds)))
    after = []
    for j in smooth:
        g = _sum(found[j], of_history.get(j))
        after.append(g if g is not None else _full(0.0, inputs[j].shape, inputs[j]))
    constants = [j for j in constants if found[j] is not None]
    entries = [j for j in entries if found[j] is not None]
    sums = {j: _like(inputs[j]) for j in constants}
    totals = [_sum(sums[j], found[j]) for j in constants]
    steps = [found[j] for j in entries]
    placeholders = [*state.values(), *sums.values(), *inputs[:carries + xs], *of_ys.values(),
                    *of_history.values(), *inputs[carries + xs:]]
    outputs = [o for o in (*after, *totals, *steps) if o is not None]
    (back,), captured = loops.close(placeholders, [outputs], [f"backward of {body}"])
    first = [cotangents.get(j) or _full(0.0, inputs[j].shape, inputs[j]) for j in smooth]
    # -0.0 + x is x for every x.
    first += [_full(-0.0, inputs[j].shape, inputs[j]) for j in constants]
    read = [*[loops.history(n, j) for j in range(carries)], *n.inputs[carries:carries + xs],
            *[cotangents[i] for i in of_ys], *[cotangents[count + j] for j in of_history]]
    m = loops.loop(SCAN, back, [*first, *read, *n.inputs[carries + xs:], *captured], len(first),
                   len(read), length, not reverse)
    out: list[Node | None] = [None] * len(inputs)
    for k, j in enumerate([*smooth, *constants, *entries]):
        out[j] = loops.result(m, k)
    return out


def _pull_cond(n: Node, cotangents: Mapping[int, Node], wanted: Sequence[bool],
               pullback: Pullback) -> list[Node | None]:
    some = loops.bodies(n)
    inputs = some[0].inputs
    targets = [j for j in range(len(inputs)) if wanted[j + 1]]
    seeds = {i: _like(some[0].outputs[i]) for i in cotangents}
    found = [pullback(b.outputs, [inputs[j] for j in targets],
                      [seeds.get(i) for i in range(len(b.outputs))]) for b in some]
    kept = [k for k in range(len(targets)) if any(f[k] is not None for f in found)]
    outputs = [[f[k] or _full(0.0, inputs[targets[k]].shape, inputs[targets[k]]) for k in kept]
               for f in found]
    back, captured = loops.close([*inputs, *seeds.values()], outputs,
                                 [f"backward of {b}" for b in some])
    m = loops.cond(n.inputs[0], back, [*n.inputs[1:], *[cotangents[i] for i in seeds], *captured])
    out: list[Node | None] = [None] * len(n.inputs)
    for at, k in enumerate(kept):
        out[targets[k] + 1] = loops.result(m, at)
    return out


class Batched:
    """A loop or choice with the batch axis: gives each of its results."""

    def __init__(self, results: Callable[[int], Operand]) -> None:
        self.result = results


def batch_control(n: Node, ins: Sequence[Operand], size: int, batch: Batch) -> Batched:
    """A loop or choice of which operands have the batch axis."""
    if n.prim is COND:
        return _batch_cond(n, ins, size, batch)
    return _batch_loop(n, ins, size, batch)


def everywhere(o: Operand, size: int) -> Node:
    """The operand with the batch axis, repeated if it has none."""
    n, batched = o
    return n if batched else prims.broadcast(n, (size, *n.shape))


def _axes_swapped(n: Node) -> Node:
    return prims.transpose(n, (1, 0, *range(2, len(n.shape))))


def _wide(n: Node, batched: bool, size: int) -> Node:
    return loops.placeholder((size, *n.shape), n.dtype) if batched else n


def _batch_loop(n: Node, ins: Sequence[Operand], size: int, batch: Batch) -> Batched:
    body, carries, xs, length, reverse = n.attrs
    inputs, count = body.inputs, len(body.outputs)
    flags = [b for _a, b in ins]
    while True:  # a carry has the axis if it starts with it or a step gives it one
        new = [_wide(p, b, size) for p, b in zip(inputs, flags)]
        outs = batch(body.outputs, inputs, list(zip(new, flags)), size)
        more = [flags[j] or outs[j][1] for j in range(carries)]
        if more == flags[:carries]:
            break
        flags[:carries] = more
    asks = n.prim is WHILE and flags[0]
    if asks and not all(flags[:carries]):
        flags[:carries] = [True] * carries
        new = [_wide(p, b, size) for p, b in zip(inputs, flags)]
        outs = batch(body.outputs, inputs, list(zip(new, flags)), size)
    after = [everywhere(o, size) if j < carries and flags[j] else o[0]
             for j, o in enumerate(outs)]
    operands = [everywhere(o, size) if j < carries and flags[j] else
                _axes_swapped(o[0]) if carries <= j < carries + xs and o[1] else o[0]
                for j, o in enumerate(ins)]
    if asks:  # goes on as long as any entry does; those that are done keep their values
        goes = new[0]
        after = [_where(goes, a, p if j else _full(0.0, p.shape, p)) for j, (a, p) in enumerate(
            zip(after, new))]
        after.insert(0, prims.reduce("any", after[0], (0,)))
        operands.insert(0, prims.reduce("any", operands[0], (0,)))
        new.insert(0, loops.placeholder((), bool_))
        carries += 1
    (wide,), captured = loops.close(new, [after], [body.graph.name])
    m = loops.loop(n.prim, wide, [*operands, *captured], carries, xs, length, reverse)

    def one(index: int) -> Operand:
        if index < carries - asks:
            return loops.result(m, index + asks), flags[index]
        batched = outs[index][1] if index < count else flags[index - count]
        found = loops.result(m, index)
        return (_axes_swapped(found) if batched else found), batched
    return Batched(one)


def _batch_cond(n: Node, ins: Sequence[Operand], size: int, batch: Batch) -> Batched:
    some = loops.bodies(n)
    inputs = some[0].inputs
    choice, chosen = ins[0]
    if chosen:  # entries choose differently: both, then select
        yes, no = [[everywhere(o, size) for o in batch(b.outputs, inputs, ins[1:], size)]
                   for b in some]
        both = [_where(choice, a, b) for a, b in zip(yes, no)]
        return Batched(lambda index: (both[index], True))
    new = [_wide(p, b, size) for p, (_a, b) in zip(inputs, ins[1:])]
    operands = [(p, b) for p, (_a, b) in zip(new, ins[1:])]
    found = [batch(b.outputs, inputs, operands, size) for b in some]
    flags = [a[1] or b[1] for a, b in zip(*found)]
    outputs = [[everywhere(o, size) if f else o[0] for o, f in zip(outs, flags)] for outs in found]
    wide, captured = loops.close(new, outputs, [b.graph.name for b in some])
    m = loops.cond(choice, wide, [*[a for a, _b in ins[1:]], *captured])
    return Batched(lambda index: (loops.result(m, index), flags[index]))


def _where(choice: Node, a: Node, b: Node) -> Node:
    wide: Any = prims.reshape(choice, (*choice.shape, *(1,) * (len(a.shape) - 1)))
    return Node(WHERE, (wide, a, b), (), a.shape, a.dtype)
