"""Batching rules: each operation with one more axis, always the first.

A batched operand has shape (size, *its shape in the traced function); an operand that is not
batched stays as it is. Composites are expanded first, so few rules are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eutectic.array import wrap
from eutectic.dtype import bool_
from eutectic.errors import TransformError
from eutectic.graph import prims
from eutectic.graph.ir import INPUT, Node, toposort
from eutectic.graph.passes.expand import expanded
from eutectic.kernel.prim import Prim
from eutectic.ops.attention import ATTENTION
from eutectic.ops.comparison import WHERE
from eutectic.ops.convolution import CONVOLUTION, SEQUENCES
from eutectic.ops.rotary import ROTATE, rotate
from eutectic.transforms.custom import OUTPUT, Pull
from eutectic.transforms.loop_rules import Batched, batch_control, everywhere
from eutectic.tree import flatten

Operand = tuple[Node, bool]
"""A node of the new graph, and whether it has the batch axis."""
Rule = Callable[[Node, Sequence[Operand], int], Node]


def batch(outputs: Sequence[Node], inputs: Sequence[Node], operands: Sequence[Operand],
          size: int, known: dict[int, Operand] | None = None) -> list[Operand]:
    """Outputs of a traced graph over `inputs`, with `operands` put in their place.

    `known` are operands for other nodes, by identity.
    """
    new = dict(known) if known else {}
    new.update([(id(i), o) for i, o in zip(inputs, operands)])
    return _reached(outputs, new, size)


def _reached(outputs: Sequence[Node], new: dict[int, Operand], size: int) -> list[Operand]:
    for n in toposort(outputs, lambda x: id(x) in new):
        if id(n) not in new:
            new[id(n)] = _node(n, new, size)
    return [new[id(o)] for o in outputs]


def _node(n: Node, new: dict[int, Operand], size: int) -> Operand:
    ins = [new[id(i)] for i in n.inputs]
    if not any(b for _i, b in ins):
        if all(a is i for (a, _b), i in zip(ins, n.inputs)):
            return n, False
        return Node(n.prim, tuple([a for a, _b in ins]), n.attrs, n.shape, n.dtype), False
    if n.prim is OUTPUT:
        custom = n.attrs[0].function._vmap is not None
        return _custom(n, ins, new) if custom else _keeping_rules(n, ins, new, size)
    if n.prim.family == "composite":
        return batch([expanded(n)], n.inputs, ins, size)[0]
    if n.prim.family == "loop":
        return batch_control(n, ins, size, batch), True  # type: ignore[return-value]
    if isinstance(ins[0][0], Batched):
        return ins[0][0].result(n.attrs[0])
    rule = RULES.get(n.prim) or FAMILIES.get(n.prim.family)
    if rule is None:
        where = f" (at {n.source[0]}:{n.source[1]})" if n.source else ""
        raise TransformError(f"[vmap] {n.prim.name} cannot be vectorised{where}.")
    return rule(n, ins, size), True


class BatchedCall:
    """A call of a custom function on a batch: its rules are those of one entry, batched."""

    __slots__ = ("_results", "batched", "entry", "function", "known", "operands", "primals", "size")

    def __init__(self, entry: Any, operands: Sequence[Operand], results: list[Node | None],
                 known: dict[int, Operand], size: int) -> None:
        self.entry = entry
        self.function = entry.function
        self.operands = operands
        self.primals = [a for a, _b in operands]
        self._results = results
        self.known = known
        """What the entry's other nodes became: the rules may capture some."""
        self.size = size
        self.batched: Any = None

    def at(self, primals: list[Node], results: list[Node]) -> BatchedCall:
        operands = [(p, b) for p, (_a, b) in zip(primals, self.operands)]
        return BatchedCall(self.entry, operands, [*results], self.known, self.size)

    def result(self, i: int, computed: Operand) -> Node:
        """Result `i` of the batch, of which the value is `computed`."""
        found = self._results[i]
        if found is None:
            m = everywhere(computed, self.size)
            found = self._results[i] = Node(OUTPUT, (m, *self.primals), (self, i), m.shape, m.dtype)
        return found

    @property
    def results(self) -> list[Node]:
        """All results, those that nobody reads included."""
        return [self.result(i, _reached([r.inputs[0]], self.known, self.size)[0]) if own is None
                else own for i, (own, r) in enumerate(zip(self._results, self.entry.results))]

    def pullback(self, cotangents: Sequence[Node | None], pull: Pull, wanted: Sequence[bool],
                 forward: bool) -> list[Node | None]:
        ins = [entry_of(o) for o in self.operands]
        outs = [entry_of((r, True)) for r in self.results]
        seeds = [None if c is None else entry_of((c, True)) for c in cotangents]
        found = self.entry.at(ins, outs).pullback(seeds, pull, wanted, forward)
        given = [(s, (c, True)) for s, c in zip(seeds, cotangents) if s and c]
        given += [(o, (r, True)) for o, r in zip(outs, self.results)]
        return pulled(ins, self.operands, given, found, self.size, self.known)


def entry_of(o: Operand) -> Node:
    """A stand-in for one entry of an operand."""
    n, batched = o
    return Node(INPUT, (), (), n.shape[1:] if batched else n.shape, n.dtype)


def pulled(ins: Sequence[Node], operands: Sequence[Operand], given: Sequence[tuple[Node, Operand]],
           found: Sequence[Node | None], size: int,
           known: dict[int, Operand] | None = None) -> list[Node | None]:
    """Cotangents of all entries from those of one; what all share gets their sum.

    `found` are cotangents of `ins`, which stand for `operands`; `given` are other stand-ins.
    """
    live = [c for c in found if c is not None]
    outs = iter(batch(live, [*ins, *[s for s, _o in given]],
                      [*operands, *[o for _s, o in given]], size, known))
    out: list[Node | None] = []
    for c, (_a, batched) in zip(found, operands):
        if c is None:
            out.append(None)
            continue
        wide = everywhere(next(outs), size)
        out.append(wide if batched else prims.reduce("sum", wide, (0,)))
    return out


def _keeping_rules(n: Node, ins: Sequence[Operand], new: dict[int, Operand],
                   size: int) -> Operand:
    """A result of a custom function by its operations, with the rules of its derivative."""
    call, index = n.attrs
    if call.batched is None or call.batched[0] is not new:  # once a walk: operands may be others
        nothing: list[Node | None] = [None] * len(call.results)
        call.batched = new, BatchedCall(call, ins[1:], nothing, new, size)
    # Its value as this graph has it: in the body of a loop, what it reads outside are operands.
    return call.batched[1].result(index, ins[0]), True


def _custom(n: Node, ins: Sequence[Operand], new: dict[int, Operand]) -> Operand:
    """A result of a custom function by its own rule, called once for all its results."""
    call, index = n.attrs
    if call.batched is None or call.batched[0] is not new:
        inputs, named = call.arguments.with_constants([wrap(a) for a, _b in ins[1:]])
        axes = call.arguments.beside([0 if b else None for _a, b in ins[1:]])
        outs, places = call.function._vmap(inputs[0] if len(inputs) == 1 else inputs, axes, **named)
        leaves = flatten(outs)[0]
        where = flatten(places)[0] if not isinstance(places, int) else [places] * len(leaves)
        call.batched = new, [(o._n, p) for o, p in zip(leaves, where)]
    out, axis = call.batched[1][index]
    if axis is None:
        return out, False
    perm = (axis, *[i for i in range(len(out.shape)) if i != axis])
    return prims.transpose(out, perm), True


def _aligned(o: Operand, rank: int) -> Node:
    """A broadcasting operand whose batch axis comes before `rank` axes."""
    n, batched = o
    if not batched or len(n.shape) == rank + 1:
        return n
    return prims.reshape(n, (n.shape[0], *(1,) * (rank + 1 - len(n.shape)), *n.shape[1:]))


def _elementwise(n: Node, ins: Sequence[Operand], size: int) -> Node:
    rank = len(n.shape)
    return Node(n.prim, tuple([_aligned(o, rank) for o in ins]), n.attrs, (size, *n.shape),
                n.dtype)


def _transpose(n: Node, ins: Sequence[Operand], size: int) -> Node:
    return prims.transpose(ins[0][0], (0, *[p + 1 for p in n.attrs[0]]))


def _slice(n: Node, ins: Sequence[Operand], size: int) -> Node:
    starts, steps = n.attrs
    return prims.slice_(ins[0][0], (0, *starts), (1, *steps), (size, *n.shape))


def _reshape(n: Node, ins: Sequence[Operand], size: int) -> Node:
    return prims.reshape(ins[0][0], (size, *n.shape))


def _broadcast(n: Node, ins: Sequence[Operand], size: int) -> Node:
    return prims.broadcast(_aligned(ins[0], len(n.shape)), (size, *n.shape))


def _concatenate(n: Node, ins: Sequence[Operand], size: int) -> Node:
    return prims.concatenate([everywhere(o, size) for o in ins], n.attrs[0] + 1)


def _pad(n: Node, ins: Sequence[Operand], size: int) -> Node:
    low = n.attrs[0]
    a = everywhere(ins[0], size)
    high = tuple([d - lo - k for d, lo, k in zip(n.shape, low, n.inputs[0].shape)])
    fill, batched = ins[1]
    if not batched:
        return prims.pad(a, (0, *low), (0, *high), fill)
    # A fill of its own for each: place what is inside over the fill by position.
    padded = prims.pad(a, (0, *low), (0, *high), prims.const(0, n.dtype))
    ones = prims.broadcast(prims.const(True, bool_), a.shape)
    inside = prims.pad(ones, (0, *low), (0, *high), prims.const(False, bool_))
    wide = prims.reshape(fill, (size, *(1,) * len(n.shape)))
    return Node(WHERE, (inside, padded, wide), (), padded.shape, n.dtype)


def _reduction(n: Node, ins: Sequence[Operand], size: int) -> Node:
    return prims.reduce(n.prim.name, ins[0][0], tuple([a + 1 for a in n.attrs[0]]))


def _scan(n: Node, ins: Sequence[Operand], size: int) -> Node:
    return Node(n.prim, (ins[0][0],), n.attrs, (size, *n.shape), n.dtype)


def _matmul(n: Node, ins: Sequence[Operand], size: int) -> Node:
    return prims.matmul(*[everywhere(o, size) for o in ins])


def _gather(n: Node, ins: Sequence[Operand], size: int) -> Node:
    rank = len(n.shape)
    (a, batched), indices = ins[0], [_aligned(o, rank) for o in ins[1:]]
    axes = tuple([x + 1 if x >= 0 else x for x in n.attrs[0]])
    return prims.gather(a, indices, (0, *axes) if batched else axes, (size, *n.shape))


def _scatter(n: Node, ins: Sequence[Operand], size: int) -> Node:
    axes, mode = n.attrs
    updates = n.inputs[1]
    a, u = everywhere(ins[0], size), everywhere(ins[1], size)
    indices = [_aligned(o, len(updates.shape)) for o in ins[2:]]
    moved = (0, *[x + 1 if x >= 0 else x for x in axes])
    return prims.scatter(a, u, indices, moved, mode)


def _attention(n: Node, ins: Sequence[Operand], size: int) -> Node:
    _scale, mask, _causal, sinks = n.attrs
    wide = [everywhere(o, size) for o in ins[:4 if mask else 3]]
    rest = [o[0] for o in ins[len(wide):]]
    if not sinks or not ins[-1][1]:  # the batches are one batch
        merged = [prims.reshape(x, (size * x.shape[1], *x.shape[2:])) for x in wide]
        out = Node(ATTENTION, (*merged, *rest), n.attrs, (size * n.shape[0], *n.shape[1:]), n.dtype)
        return prims.reshape(out, (size, *n.shape))
    # Sinks of its own for each entry: the entries' heads are heads.
    turned = [prims.transpose(x, (1, 0, 2, 3, 4)) for x in wide]
    merged = [prims.reshape(x, (x.shape[0], size * x.shape[2], *x.shape[3:])) for x in turned]
    batches, heads, *rows = n.shape
    logits = prims.reshape(rest[0], (size * heads,))
    out = Node(ATTENTION, (*merged, logits), n.attrs, (batches, size * heads, *rows), n.dtype)
    return prims.transpose(prims.reshape(out, (batches, size, heads, *rows)), (1, 0, 2, 3, 4))


def _rotate(n: Node, ins: Sequence[Operand], size: int) -> Node:
    (x, tables), shape = (everywhere(ins[0], size), ins[1:]), n.shape
    merged = []
    for t, batched in tables:
        if batched or t.shape[0] > 1:  # else all entries share it, as all examples do
            *_more, length, pairs = t.shape
            t = everywhere((t, batched), size)
            t = prims.broadcast(t, (size, shape[0], 1, length, pairs))
            t = prims.reshape(t, (size * shape[0], 1, length, pairs))
        merged.append(t)
    flat = prims.reshape(x, (size * shape[0], *shape[1:]))
    return prims.reshape(rotate(flat, merged[0], merged[1], n.attrs[0]), (size, *shape))


def _convolution(n: Node, ins: Sequence[Operand], size: int) -> Node:
    (x, many), (w, kernels) = ins
    *options, groups = n.attrs
    rank = len(n.shape) - 2
    if many and not kernels:  # the batches are one batch
        out = Node(CONVOLUTION, (prims.reshape(x, (size * x.shape[1], *x.shape[2:])), w), n.attrs,
                   (size * n.shape[0], *n.shape[1:]), n.dtype)
        return prims.reshape(out, (size, *n.shape))
    # Each entry is a group of its own.
    x = everywhere((x, many), size)
    wide = prims.transpose(x, (*range(1, rank + 2), 0, rank + 2))
    wide = prims.reshape(wide, (*wide.shape[:-2], size * x.shape[-1]))
    weight = prims.reshape(w, (size * w.shape[1], *w.shape[2:]))
    out = Node(CONVOLUTION, (wide, weight), (*options, size * groups),
               (*n.shape[:-1], size * n.shape[-1]), n.dtype)
    out = prims.reshape(out, (*n.shape[:-1], size, n.shape[-1]))
    return prims.transpose(out, (rank + 1, *range(rank + 1), rank + 2))


def _sequences(n: Node, ins: Sequence[Operand], size: int) -> Node:
    # A convolution of one channel: (batch, positions, channels).
    (a, many), (v, kernels) = ins
    a, v = [prims.reshape(x, (*((size,) if b else ()), 1, x.shape[-1], 1))
            for x, b in ((a, many), (v, kernels))]
    one, zero = (1,), (0,)
    operands = ((a, many), (v, kernels))
    same = Node(CONVOLUTION, tuple(map(entry_of, operands)), (one, zero, one, one, 1),
                (1, n.size, 1), n.dtype)
    return prims.reshape(_convolution(same, operands, size), (size, *n.shape))


RULES: dict[Prim, Rule] = {
    prims.TRANSPOSE: _transpose, prims.SLICE: _slice, prims.RESHAPE: _reshape,
    prims.BROADCAST: _broadcast, prims.CONCATENATE: _concatenate, prims.PAD: _pad,
    prims.MATMUL: _matmul, prims.GATHER: _gather, prims.SCATTER: _scatter,
    ATTENTION: _attention, CONVOLUTION: _convolution, SEQUENCES: _sequences, ROTATE: _rotate}
FAMILIES: dict[str, Rule] = {"elementwise": _elementwise, "reduction": _reduction, "scan": _scan}
