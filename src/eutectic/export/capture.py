"""From functions to traces: one call with placeholders, and for shapeless traces several.

A shapeless trace is found by example. The function is traced with other lengths; a length may vary
if it can be changed alone (or together with all equal ones that cannot) and if every number in the
graph then is a polynomial of the lengths. What follows no such rule keeps its axis as it was.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eutectic.array import array, numpy_view, wrap
from eutectic.dtype import Dtype
from eutectic.errors import ExportError
from eutectic.export.faults import Fault
from eutectic.export.rules import verify
from eutectic.export.operations import Block, Operation, resolved
from eutectic.export.sizes import Number, Size, fit
from eutectic.export.trace import Trace
from eutectic.graph import ir
from eutectic.graph.ir import CONST, INPUT, Graph, Node, rebuild, with_inputs
from eutectic.graph.layout import Data
from eutectic.graph.loops import Body
from eutectic.graph.prims import identity_value
from eutectic.runtime import buffers
from eutectic.tracing.function import CompiledFunction
from eutectic.tracing.state import untouched
from eutectic.tracing.trace import trace_call
from eutectic.transforms.custom import DEPENDS, OUTPUT

Axis = tuple[int, int]
"""An argument and one of its axes."""
_MOST_NAMES = 6
"""Lengths that may vary: with n of them, a function is traced about 2^n times."""


def capture(name: str, fun: Callable[..., Any], args: Sequence[array],
            kwargs: dict[str, array]) -> Trace:
    """The trace of a call; arrays that the function reads elsewhere become constants.

    Raises ExportError for results or operations that files do not hold.
    """
    # Each argument of the exported function is one of its own, whatever these are.
    args = [wrap(a._n) for a in args]
    kwargs = {k: wrap(kwargs[k]._n) for k in sorted(kwargs)}
    compiled = fun if isinstance(fun, CompiledFunction) else CompiledFunction(fun)
    call = compiled.reader.read(tuple(args), kwargs)
    traced = trace_call(compiled.reader, call)
    if any(type(x) is not int for x in traced.leaves) or not _flat(traced.treedef.encoding):
        raise ExportError(f"[{name}] {compiled.__name__} must return an array, or a tuple or list "
                          "of arrays.")
    declared = traced.outputs[:1] if compiled.outputs is not None else []
    if traced.effects or traced.changed or not all(map(untouched, declared)):
        warnings.warn(
            f"[{name}] {compiled.__name__} changes arrays besides its results; the exported "
            "function does not. Return them.", stacklevel=ir.user_depth())
    if traced.draws:
        warnings.warn(
            f"[{name}] {compiled.__name__} draws random numbers without a key; the exported "
            "function draws the same ones at each call. Give it a key as an argument.",
            stacklevel=ir.user_depth())
    position = dict(zip(map(id, traced.graph.inputs), traced.used))
    outputs = traced.graph.outputs[:traced.n_results]
    graph = rebuild(Graph(traced.graph.inputs, outputs, compiled.__name__), _plain)
    given = call.arrays[:call.n_arguments]
    values: dict[int, int] = {}
    constants: list[array] = []
    for n in graph.order:
        at = position.get(id(n))
        if at is not None and at < len(given):
            values[id(n)] = at
        elif n.data is not None or at is not None:
            values[id(n)] = len(given) + len(constants)
            constants.append(wrap(n) if at is None else wrap(call.nodes[at]))
    try:
        operations = _operations(graph, values)
    except Fault as e:
        raise ExportError(f"[{name}] {compiled.__name__} cannot be exported: {e}.") from e
    return Trace([(a._n.dtype, a._n.shape) for a in given], list(kwargs), constants, operations,
                 [values[id(o)] for o in graph.outputs])


def _operations(graph: Graph, values: dict[int, int]) -> list[Operation]:
    """The nodes of a graph that have no number in `values` yet, numbered from there on."""
    found: list[Operation] = []
    for n in graph.order:
        if id(n) in values:
            continue
        try:
            verify(n)
        except Fault as e:
            where = f" (at {n.source[0]}:{n.source[1]})" if n.source else ""
            raise Fault(f"{n.prim.name}{where} {e}") from e
        attrs = tuple([_block(x) if type(x) is Body else x for x in n.attrs])
        operands = tuple([values[id(i)] for i in n.inputs])
        values[id(n)] = len(values)
        found.append(Operation(n.prim, operands, attrs, n.dtype, n.shape))
    return found


def _block(body: Body) -> Block:
    graph = rebuild(body.graph, _plain)
    values = {id(n): i for i, n in enumerate(body.inputs)}
    return Block(str(body), tuple([(n.dtype, n.shape) for n in body.inputs]),
                 tuple(_operations(graph, values)), tuple([values[id(o)] for o in graph.outputs]))


def _flat(encoding: Any) -> bool:
    """Whether a structure is one leaf, or a tuple or list of leaves."""
    return encoding == 0 or (type(encoding) is tuple and encoding[0] in (tuple, list)
                             and bool(encoding[2]) and all(c == 0 for c in encoding[2]))


def _plain(n: Node, inputs: tuple[Node, ...]) -> Node:
    """The node without what only transformations of this process can use."""
    if n.prim in (OUTPUT, DEPENDS):
        return inputs[0]
    return with_inputs(n, inputs)


# -- shapeless -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Length:
    """A length that varies: its axes, and the lengths it is tried with."""

    axes: tuple[Axis, ...]
    low: int
    high: int
    others: tuple[int, ...]


def capture_shapeless(name: str, fun: Callable[..., Any], args: Sequence[array],
                      kwargs: dict[str, array]) -> Trace:
    """A trace with names in the place of the lengths that may vary; see above."""
    kwargs = dict(sorted(kwargs.items()))
    example = capture(name, fun, args, kwargs)  # its warnings and errors are the user's
    given = [*args, *kwargs.values()]

    def attempt(changes: dict[Axis, int]) -> Trace | None:
        """The trace with other lengths, or None where the function does not take them."""
        changed = []
        for i, a in enumerate(given):
            shape = [changes.get((i, k), d) for k, d in enumerate(a._n.shape)]
            changed.append(_stand_in(tuple(shape), a._n.dtype))
        count = len(args)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return capture(name, fun, changed[:count], dict(zip(kwargs, changed[count:])))
            except Exception:  # whatever it raises, it does not take these lengths
                return None

    lengths = _lengths([a._n.shape for a in given], attempt)[:_MOST_NAMES]
    while lengths:
        found = _general(example, lengths, attempt)
        if found is not None:
            return found
        lengths.pop()
    return example


def _stand_in(shape: tuple[int, ...], dtype: Dtype) -> array:
    """An array of a shape, all of whose elements are one: a trace looks at none."""
    n = Node(INPUT, (), (), shape, dtype)
    n.data = Data(buffers.alloc(dtype.size), 0, (0,) * len(shape))
    return wrap(n)


def _lengths(shapes: list[tuple[int, ...]],
             attempt: Callable[[dict[Axis, int]], Trace | None]) -> list[_Length]:
    """Lengths that can be changed: alone, or all equal ones that cannot."""
    found, stuck = [], []
    for i, shape in enumerate(shapes):
        for k, d in enumerate(shape):
            length = _varied(((i, k),), d, attempt)
            found.append(length) if length is not None else stuck.append((i, k))
    by_length: dict[int, list[Axis]] = {}
    for i, k in stuck:
        by_length.setdefault(shapes[i][k], []).append((i, k))
    for d, axes in by_length.items():
        length = _varied(tuple(axes), d, attempt) if len(axes) > 1 else None
        if length is not None:
            found.append(length)
    return sorted(found, key=lambda x: x.axes)


def _varied(axes: tuple[Axis, ...], d: int,
            attempt: Callable[[dict[Axis, int]], Trace | None]) -> _Length | None:
    """The length of some axes, if the numbers in the graph follow it along a line."""
    low = max(d, 2)
    high, *others = low + 1, low + 3, *([low - 1] if low > 2 else [low + 6])
    traces = {at: attempt(dict.fromkeys(axes, at)) for at in (low, high, *others)}
    if any(t is None for t in traces.values()):
        return None
    length = _Length(axes, low, high, tuple(others))
    corners: dict[tuple[int, ...], Any] = {(0,): traces[low], (1,): traces[high]}
    general = _fitted(corners, ["a"], [length])
    if general is None or not all(_agrees(general, {"a": at}, traces[at]) for at in others):
        return None
    return length


def _general(example: Trace, lengths: list[_Length],
             attempt: Callable[[dict[Axis, int]], Trace | None]) -> Trace | None:
    """The trace with a name for each length, checked at lengths it was not made from."""
    names = [_name(i) for i in range(len(lengths))]

    def at(values: Sequence[int]) -> Trace | None:
        return attempt({axis: v for x, v in zip(lengths, values) for axis in x.axes})

    corners = {c: at([x.high if bit else x.low for x, bit in zip(lengths, c)])
               for c in itertools.product((0, 1), repeat=len(lengths))}
    if any(t is None for t in corners.values()):
        return None
    general = _fitted(corners, names, lengths)
    if general is None:
        return None
    for k in range(len(lengths[0].others)):
        other = [x.others[k] for x in lengths]
        trace = at(other)
        if trace is None or not _agrees(general, dict(zip(names, other)), trace):
            return None
    shapes = [shape for _, shape in example.inputs]
    sizes = {n: shapes[x.axes[0][0]][x.axes[0][1]] for n, x in zip(names, lengths)}
    try:
        general.graph(sizes)
    except Fault:  # an example length that is special: 0, say
        sizes = {n: x.low for n, x in zip(names, lengths)}
    return replace(general, example=sizes, keywords=example.keywords)


def _name(i: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[i]


def _fitted(corners: Mapping[tuple[int, ...], Any], names: list[str],
            lengths: list[_Length]) -> Trace | None:
    """The trace whose numbers are polynomials through those at all corners; None: they are not."""
    low, high = [x.low for x in lengths], [x.high for x in lengths]
    base = corners[(0,) * len(names)]
    if not all(_same_structure(base, t) for t in corners.values()):
        return None

    def general(values: Iterable[Any]) -> Any:
        return _combined(dict(zip(corners, values)), names, low, high)

    traces = list(corners.values())
    try:
        inputs = [(d, general([t.inputs[i][1] for t in traces]))
                  for i, (d, _) in enumerate(base.inputs)]
        operations = list(general([tuple(t.operations) for t in traces]))
    except Fault:
        return None
    return Trace(inputs, base.keywords, base.constants, operations, base.outputs)


def _combined(values: dict[tuple[int, ...], Any], names: list[str], low: list[int],
              high: list[int]) -> Any:
    """An attribute or a shape from those at all corners."""
    first = next(iter(values.values()))
    kind = type(first)
    if any(type(v) is not kind for v in values.values()):
        raise Fault("an attribute changes its type")
    if kind is tuple:
        if any(len(v) != len(first) for v in values.values()):
            raise Fault("an attribute changes its length")
        return tuple([_combined({c: v[i] for c, v in values.items()}, names, low, high)
                      for i in range(len(first))])
    if kind is Operation:
        return _operation(values, names, low, high)
    if kind is Block:
        if not all(_same_operations(first.operations, v.operations) for v in values.values()):
            raise Fault("a body changes")
        inputs, operations, outputs = [
            _combined({c: get(v) for c, v in values.items()}, names, low, high)
            for get in (lambda b: tuple([s for _, s in b.inputs]), lambda b: b.operations,
                        lambda b: b.outputs)]
        return replace(first, operations=operations, outputs=outputs, inputs=tuple(
            [(d, s) for (d, _), s in zip(first.inputs, inputs)]))
    if kind is int:
        size = fit(values.__getitem__, names, low, high)
        if size is None:
            raise Fault("a number is no polynomial")
        return size
    if any(v != first and not (v != v and first != first) for v in values.values()):
        raise Fault("an attribute changes")
    return first


def _operation(values: dict[tuple[int, ...], Operation], names: list[str], low: list[int],
               high: list[int]) -> Operation:
    """An operation from those at all corners, which have the same operands."""
    first = next(iter(values.values()))
    shape = _combined({c: op.shape for c, op in values.items()}, names, low, high)
    attrs: tuple[Any, ...] = first.attrs
    if first.prim is not CONST:
        attrs = _combined({c: op.attrs for c, op in values.items()}, names, low, high)
    elif any(op.attrs != attrs for op in values.values()):
        patterns = {c: op.attrs[0] for c, op in values.items()}
        attrs = (_number(patterns, first.dtype, names, low, high),)
    return replace(first, shape=shape, attrs=attrs)


def _number(patterns: dict[tuple[int, ...], int], dtype: Dtype, names: list[str],
            low: list[int], high: list[int]) -> Number:
    """A constant that differs, as a size that is rounded to its dtype."""
    values = {}
    for c, bits in patterns.items():
        value = _value(bits, dtype)
        if value != value or value in (float("inf"), float("-inf")) or value != int(value):
            raise Fault("a constant is no size")
        values[c] = int(value)
    size = fit(values.__getitem__, names, low, high)
    if type(size) is not Size:
        raise Fault("a constant is no polynomial")
    return Number(size)


def _value(bits: int, dtype: Dtype) -> Any:
    if dtype.is_half or dtype.is_complex:
        raise Fault("a constant of another dtype changes")
    return identity_value(bits, dtype)


def _same_structure(a: Trace, b: Trace) -> bool:
    return (a.keywords == b.keywords and a.outputs == b.outputs
            and [d for d, _ in a.inputs] == [d for d, _ in b.inputs]
            and _same_operations(a.operations, b.operations)
            and len(a.constants) == len(b.constants)
            and all(map(_equal, a.constants, b.constants)))


def _same_operations(a: Sequence[Operation], b: Sequence[Operation]) -> bool:
    return len(a) == len(b) and all(
        (p.prim, p.inputs, p.dtype) == (q.prim, q.inputs, q.dtype) for p, q in zip(a, b))


def _equal(a: array, b: array) -> bool:
    m, n = a._n, b._n
    return m is n or ((m.dtype, m.shape) == (n.dtype, n.shape)
                      and numpy_view(a, "export_function").tobytes()
                      == numpy_view(b, "export_function").tobytes())


def _agrees(general: Trace, lengths: dict[str, int], trace: Any) -> bool:
    """Whether a general trace is, at some lengths, the trace made with them."""
    return _same_structure(general, trace) and all(
        resolved(p.shape, lengths, p.dtype) == q.shape
        and repr(resolved(p.attrs, lengths, p.dtype)) == repr(q.attrs)
        for p, q in zip(general.operations, trace.operations)) and all(
        resolved(p, lengths, d) == q for (d, p), (_, q) in zip(general.inputs, trace.inputs))
