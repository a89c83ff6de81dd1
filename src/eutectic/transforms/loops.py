"""`scan`, `while_loop` and `cond`: loops and choices that a trace holds as one operation.

Their functions are traced once, on placeholders; the graph gets one node with the traced body. The
random state is one more carry of bodies that draw, so that draws differ from step to step and are
those of a Python loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eutectic.array import array, build, wrap
from eutectic.dtype import bool_
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, ShapeError, TransformError, show_shape)
from eutectic.graph import ir, loops, prims
from eutectic.graph.ir import Node, toposort
from eutectic.graph.show import type_text
from eutectic.ops.registry import node_of
from eutectic.tracing.breaks import Trace, active
from eutectic.tracing.effects import Effects
from eutectic.tracing.environment import Environment
from eutectic.tracing.state import IMPLICIT, implicit_lock
from eutectic.tree import TreeDef, flatten, paths, unflatten


def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None,
         length: int | None = None, reverse: bool = False) -> tuple[Any, Any]:
    """Run `carry, y = f(carry, x)` for each entry x along the first axis of `xs`.

    Returns the last carry and the ys, stacked along a new first axis. `init`, `xs` and what `f`
    returns are arrays or trees of them; a carry keeps its structure, shapes and dtypes. Without
    `xs`, f gets None for x and runs `length` times. `reverse` goes from the last entry to the
    first; ys stand where their x stood. `f` is called once, to be traced, however long the scan
    is; inside a compiled function the scan is one operation, which runs without Python. It may
    read other arrays and draw random numbers. It has derivatives, and vmap vectorises it.

    Raises ShapeError where the lengths of xs differ, TransformError where f does not return a pair
    or a carry changes, TraceError where f needs the value of an array.

    >>> import eutectic.core as mx
    >>> mx.scan(lambda total, x: (total + x, total * x), mx.array(0), mx.array([1, 2, 3]))
    (array(6, dtype=int32), array([0, 2, 9], dtype=int32))
    """
    _callable("scan", f)
    start, carry_def = _leaves("scan", "init", init)
    given, xs_def = _leaves("scan", "xs", xs)
    n = _length(given, paths(xs_def), length)
    body = _Body("scan", f)
    carries = body.inputs(start)
    entries = [body.input(x.shape[1:], x.dtype) for x in given]

    def run() -> tuple[list[Node], TreeDef, list[Node]]:
        out = f(unflatten(carry_def, map(wrap, carries)), unflatten(xs_def, map(wrap, entries)))
        if not isinstance(out, tuple) or len(out) != 2:
            raise TransformError(f"[scan] the function returns (carry, y), not {_kind(out)}.")
        ys, ys_def = _leaves("scan", "y", out[1])
        return _next("scan", start, carry_def, out[0]), ys_def, ys

    after, ys_def, ys = body.trace(run, f)
    made = body.loop(loops.SCAN, [*zip(start, carries, after)], [*zip(given, entries)], ys, n,
                     bool(reverse))
    count = len(start)
    return (unflatten(carry_def, made[:count]), unflatten(ys_def, made[count:]))


def while_loop(cond: Callable[[Any], Any], body: Callable[[Any], Any], init: Any) -> Any:
    """Run `value = body(value)` as long as `cond(value)` is true, and return the last value.

    `init` is an array or a tree of them; its structure, shapes and dtypes stay the same. `cond`
    returns one bool. Each function is traced, not called at each step; inside a compiled function
    the loop is one operation, which runs without Python (nothing interrupts one that does not
    end). Both may read other arrays and draw random numbers. vmap vectorises it, until all entries
    are done; it has no derivative, as its length is not known: `scan` has one.

    Raises TransformError where the value changes its type or cond returns no single bool,
    TraceError where a function needs the value of an array.

    >>> import eutectic.core as mx
    >>> mx.while_loop(lambda x: x < 100, lambda x: x * 2, mx.array(3))
    array(192, dtype=int32)
    """
    _callable("while_loop", cond)
    _callable("while_loop", body)
    start, treedef = _leaves("while_loop", "init", init)

    def asked(values: Sequence[Node]) -> Node:
        return _choice("while_loop", cond(unflatten(treedef, map(wrap, values))))

    first = asked(start)
    traced = _Body("while_loop", body)
    values = traced.inputs(start)

    def run() -> tuple[list[Node], Node]:
        after = _next("while_loop", start, treedef, body(unflatten(treedef, map(wrap, values))))
        return after, asked(after)

    after, again = traced.trace(run, body, cond)
    made = traced.loop(loops.WHILE, [(first, traced.input((), bool_), again),
                                     *zip(start, values, after)], [], [], None, False)
    return unflatten(treedef, made[1:])


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any],
         *operands: Any) -> Any:
    """Return `true_fun(*operands)` if `pred` is true, else `false_fun(*operands)`.

    `pred` is one bool (a number is true unless 0), operands are arrays or trees of them. Both
    functions are traced and return the same structure, shapes and dtypes; only the one that is
    chosen runs. Both may read other arrays and draw random numbers. It has derivatives; vmap
    over `pred` computes both and selects.

    Raises TransformError where the results differ in type, TraceError where a function needs the
    value of an array.

    >>> import eutectic.core as mx
    >>> x = mx.array(-4.0)
    >>> mx.cond(x > 0, mx.sqrt, lambda v: -v, x)
    array(4, dtype=float32)
    """
    _callable("cond", true_fun)
    _callable("cond", false_fun)
    choice = _choice("cond", pred)
    given, treedef = _leaves("cond", "operands", operands)
    found: list[tuple[list[Node], TreeDef]] = []
    traced = _Body("cond", true_fun)
    inputs = traced.inputs(given)
    for fun in (true_fun, false_fun):
        def run(fun: Callable[..., Any] = fun) -> tuple[list[Node], TreeDef]:
            return _leaves("cond", "result", fun(*unflatten(treedef, map(wrap, inputs))))
        found.append(traced.trace(run, fun))
    (yes, out_def), (no, other_def) = found
    if out_def != other_def:
        raise TransformError(f"[cond] the functions return {out_def} and {other_def}; they must "
                             "return the same structure.")
    for path, a, b in zip(paths(out_def), yes, no):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise TransformError(
                f"[cond] the result{path} is {type_text(a.shape, a.dtype)} if true and "
                f"{type_text(b.shape, b.dtype)} if false; use astype or broadcast_to so that both "
                "are the same.")
    return unflatten(out_def, traced.cond(choice, [*zip(given, inputs)], yes, no))


class _Body:
    """The traces of the functions of one loop or choice."""

    def __init__(self, op: str, fun: Callable[..., Any]) -> None:
        self.op = op
        self.name = getattr(fun, "__name__", type(fun).__name__)
        self._trace = Trace(self.name, op)
        self._places = [(c, i) for c in IMPLICIT for i in range(len(c))]
        self._made: set[int] = set()
        """Ids of the placeholders."""
        self._keys: list[Node] = []
        """Placeholders of the random state."""
        self._drawn: list[list[Node]] = []
        """The random state after each trace."""

    def input(self, shape: tuple[int, ...], dtype: Any) -> Node:
        p = loops.placeholder(shape, dtype, self._trace)
        self._made.add(id(p))
        return p

    def inputs(self, like: Sequence[Node]) -> list[Node]:
        return [self.input(n.shape, n.dtype) for n in like]

    def trace(self, run: Callable[[], Any], *funs: Callable[..., Any]) -> Any:
        """Run a trace of some functions; the random state holds placeholders meanwhile."""
        with implicit_lock:
            before = [c[i] for c, i in self._places]
            self._keys = self._keys or self.inputs([a._n for a in before])
            outside = [_Outside(f) for f in funs]
            active.depth += 1
            ir.begin_trace()
            done = False
            try:
                for (c, i), key in zip(self._places, self._keys):
                    c[i] = wrap(key)
                out = run()
                self._drawn.append([c[i]._n for c, i in self._places])
                done = True
            finally:
                ir.end_trace()
                active.depth -= 1
                for (c, i), a in zip(self._places, before):
                    c[i] = a
                leaks = [o.name for o in outside if o.leaks(self._made)]
                if leaks or not done:
                    self._trace.end()
                    for o in outside:
                        o.restore()
            if leaks:
                raise TransformError(
                    f"[{self.op}] {leaks[0]} changes an array that it reads from outside, or puts "
                    "one there; steps leave nothing outside. Return it, in the carry where the "
                    "next step needs it.")
            return out

    def _draws(self) -> list[int]:
        return [i for i, key in enumerate(self._keys) if any(d[i] is not key for d in self._drawn)]

    def _states(self) -> list[tuple[Node, Node]]:
        """(the random state now, its placeholder) of what the bodies draw from."""
        return [(c[i]._n, self._keys[k]) for k in self._draws() for c, i in [self._places[k]]]

    def _advance(self, after: Sequence[Node]) -> None:
        for k, n in zip(self._draws(), after):
            c, i = self._places[k]
            c[i] = wrap(n)

    def loop(self, prim: Any, carries: list[tuple[Node, Node, Node]],
             xs: list[tuple[Node, Node]], ys: list[Node], length: int | None,
             reverse: bool) -> list[array]:
        """The results of a loop; carries are (first value, placeholder, value after a step)."""
        self._trace.end()
        count = len(carries)
        with implicit_lock:
            carries = [*carries, *[(now, key, self._drawn[0][k]) for k, (now, key) in zip(
                self._draws(), self._states())]]
            first, placeholders, after = zip(*carries) if carries else ((), (), ())
            (body,), captured = loops.close([*placeholders, *[p for _x, p in xs]],
                                            [[*after, *ys]], [f"{self.op} of {self.name}"])
            n = loops.loop(prim, body, [*first, *[x for x, _p in xs], *captured], len(carries),
                           len(xs), length, reverse)
            made = loops.results(n)
            self._advance(made[count:len(carries)])
        return [wrap(m) for m in (*made[:count], *made[len(carries):])]

    def cond(self, choice: Node, operands: list[tuple[Node, Node]], yes: list[Node],
             no: list[Node]) -> list[array]:
        self._trace.end()
        with implicit_lock:
            draws = self._draws()
            operands = [*operands, *self._states()]
            outputs = [[*found, *[drawn[k] for k in draws]]
                       for found, drawn in zip((yes, no), self._drawn)]
            some, captured = loops.close([p for _x, p in operands], outputs,
                                         ["cond, if true", "cond, if false"])
            n = loops.cond(choice, some, [*[x for x, _p in operands], *captured])
            made = loops.results(n)
            self._advance(made[len(yes):])
        return [wrap(m) for m in made[:len(yes)]]


class _Outside:
    """What a function reads outside its arguments, as it was before its trace."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.name = getattr(fun, "__name__", type(fun).__name__)
        environment = Environment(fun)
        self._arrays = [(a, a._n) for a in environment.read()[0]]
        self._effects = Effects(environment.places(), [])

    def leaks(self, placeholders: set[int]) -> bool:
        """Whether a value of a step is left there."""
        nodes = [a._n for a, n in self._arrays if a._n is not n]
        nodes += [a._n for a in self._effects.written()]
        return any(id(n) in placeholders for n in toposort(nodes, lambda n: n.data is not None))

    def restore(self) -> None:
        self._effects.restore()
        for a, n in self._arrays:
            a._n = n


def _callable(op: str, f: Any) -> None:
    if not callable(f):
        raise ArgumentTypeError(f"[{op}] cannot call a {type(f).__name__}.")


def _leaves(op: str, what: str, tree: Any) -> tuple[list[Node], TreeDef]:
    """The nodes of a tree of arrays and numbers."""
    leaves, treedef = flatten(tree)
    nodes = []
    for i, x in enumerate(leaves):
        if not isinstance(x, (array, bool, int, float, complex, np.ndarray, np.generic)):
            raise ArgumentTypeError(f"[{op}] {what}{paths(treedef)[i]} is a {type(x).__name__}; "
                                    "give arrays or numbers.")
        nodes.append(build(x))
    return nodes, treedef


def _length(xs: Sequence[Node], where: Sequence[str], length: int | None) -> int:
    if length is not None and (isinstance(length, bool) or not isinstance(length, int)
                               or length < 0):
        raise ArgumentError(f"[scan] length must be an integer of at least 0, got {length!r}.")
    for path, x in zip(where, xs):
        if not x.shape:
            raise ShapeError(f"[scan] xs{path} has no axis to go along, its shape is ().")
        if length is None:
            length = x.shape[0]
        if x.shape[0] != length:
            raise ShapeError(f"[scan] xs{path} has length {x.shape[0]} along its first axis (shape "
                             f"{show_shape(x.shape)}), not {length}.")
    if length is None:
        raise ArgumentError("[scan] without xs the length must be given.")
    return length


def _next(op: str, start: Sequence[Node], treedef: TreeDef, tree: Any) -> list[Node]:
    """The carries after a step; they have the types of those at the start."""
    leaves, found = flatten(tree)
    if found != treedef:
        raise TransformError(f"[{op}] the carry is {treedef} at the start and {found} after a "
                             "step; its structure must stay the same.")
    nodes = []
    for path, a, x in zip(paths(treedef), start, leaves):
        b = prims.cast(node_of(x, op, a.dtype), a.dtype) if type(x) in (
            bool, int, float, complex) else build(x)
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise TransformError(
                f"[{op}] the carry{path} is {type_text(a.shape, a.dtype)} at the start and "
                f"{type_text(b.shape, b.dtype)} after a step; use astype or broadcast_to so that "
                "it stays the same.")
        nodes.append(b)
    return nodes


def _choice(op: str, pred: Any) -> Node:
    """A condition as one bool."""
    if not isinstance(pred, (array, bool, int, float, np.ndarray, np.generic)):
        raise TransformError(f"[{op}] the condition is {_kind(pred)}, not one bool.")
    n = build(pred)
    if n.shape:
        raise TransformError(f"[{op}] the condition has shape {show_shape(n.shape)}; it must be "
                             "one bool of shape ().")
    return prims.cast(n, bool_)


def _kind(x: Any) -> str:
    n = f" of {len(x)}" if isinstance(x, (tuple, list)) else ""
    return f"a {type(x).__name__}{n}"
