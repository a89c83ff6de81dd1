"""Functions with derivatives of their own: `custom_function`, `checkpoint`, and `depends`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.errors import ArgumentError, ArgumentTypeError, TransformError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import INPUT, Node
from eutectic.kernel.prim import Prim
from eutectic.tree import TreeDef, flatten, unflatten

OUTPUT = Prim("custom_output", "composite", lower=lambda n: n.inputs[0])
"""A result of a custom function: inputs (computed result, *arguments), attrs = (call, index)."""
DEPENDS = Prim("depends", "composite", lower=lambda n: n.inputs[0])
"""inputs (array, *dependencies): the array, which counts as made of all of them."""


class Call:
    """One call of a custom function: what its rules need when a transformation comes to it."""

    __slots__ = ("arguments", "batched", "function", "outputs", "primals", "results")

    def __init__(self, function: custom_function, arguments: TreeDef, primals: list[Node],
                 outputs: TreeDef, results: list[Node]) -> None:
        self.function = function
        self.arguments = arguments
        self.primals = primals
        self.outputs = outputs
        self.results = results
        self.batched: Any = None

    def pullback(self, cotangents: Sequence[Node | None],
                 pull: Callable[..., list[Node | None]]) -> list[Node | None]:
        """Cotangents of the primals by the function's own rule."""
        f = self.function
        given = [wrap(c if c is not None else _zeros(r))
                 for c, r in zip(cotangents, self.results)]
        primals = unflatten(self.arguments, [wrap(p) for p in self.primals])
        if f._vjp is None:
            # The transpose of the pushforward, which is linear in the tangents.
            tangents = [_zeros(p) for p in self.primals]
            assert f._jvp is not None
            pushed = f._jvp(_single(primals), _single(
                unflatten(self.arguments, [wrap(t) for t in tangents])))
            outs = [x._n for x in flatten(pushed)[0]]
            return pull(outs, tangents, [g._n for g in given])
        found = f._vjp(_single(primals), unflatten(self.outputs, given),
                       unflatten(self.outputs, [wrap(r) for r in self.results]))
        leaves = flatten(found)[0]
        if len(leaves) != len(self.primals):
            raise TransformError(f"[custom_function] the vjp of {f.__name__} returned "
                                 f"{len(leaves)} arrays for {len(self.primals)} arguments.")
        out: list[Node | None] = []
        for x, p in zip(leaves, self.primals):
            if not isinstance(x, array) or x._n.shape != p.shape:
                shape = show_shape(x._n.shape) if isinstance(x, array) else type(x).__name__
                raise TransformError(f"[custom_function] the vjp of {f.__name__} returned {shape} "
                                     f"for an argument of shape {show_shape(p.shape)}.")
            out.append(x._n)
        return out


def _zeros(n: Node) -> Node:
    # A node of its own: a pullback tells its inputs apart by identity.
    return Node(prims.BROADCAST, (prims.const(0, n.dtype),), (), n.shape, n.dtype)


def _single(args: Any) -> Any:
    """A function of one argument gets the argument itself, as its rules expect."""
    return args[0] if isinstance(args, tuple) and len(args) == 1 else args


class custom_function:
    """A function whose derivative or vectorisation is given rather than derived.

    Use as a decorator, then give rules with the methods `vjp(primals, cotangent, output)`,
    `jvp(primals, tangents)` and `vmap(inputs, axes)`; a missing rule falls back to what follows
    from the operations (a missing `vjp` beside a `jvp`: to its transpose). With one argument the
    rules get it itself, with several a tuple. Arrays that the function captures are constants.

    >>> import eutectic.core as mx
    >>> @mx.custom_function
    ... def f(x):
    ...     return x * x
    >>> @f.vjp
    ... def f_vjp(x, g, y):
    ...     return g * 100
    >>> mx.grad(f)(mx.array(3.0))
    array(100, dtype=float32)
    """

    __name__: str

    def __init__(self, fun: Callable[..., Any]) -> None:
        if not callable(fun):
            raise ArgumentTypeError(f"[custom_function] cannot wrap a {type(fun).__name__}.")
        self.fun = fun
        self._vjp: Callable[..., Any] | None = None
        self._jvp: Callable[..., Any] | None = None
        self._vmap: Callable[..., Any] | None = None
        functools.update_wrapper(self, fun, updated=())

    def vjp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Give the pullback: (primals, cotangent, output) -> a cotangent for each primal."""
        self._vjp = rule
        return rule

    def jvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Give the pushforward: (primals, tangents) -> a tangent for each output."""
        self._jvp = rule
        return rule

    def vmap(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Give the vectorisation: (inputs, axes) -> (outputs, axes of the outputs)."""
        self._vmap = rule
        return rule

    def __call__(self, *args: Any) -> Any:
        if self._vjp is None and self._jvp is None and self._vmap is None:
            return self.fun(*args)
        leaves, arguments = flatten(args)
        result = self.fun(*unflatten(arguments, [
            wrap(_detached(x._n)) if isinstance(x, array) else x for x in leaves]))
        if not all(isinstance(x, array) for x in leaves):
            raise ArgumentTypeError(f"[custom_function] the arguments of {self.__name__} are "
                                    "arrays, or trees of them.")
        found, outputs = flatten(result)
        primals = [x._n for x in leaves]
        call = Call(self, arguments, primals, outputs, [x._n for x in found])
        made = [Node(OUTPUT, (x._n, *primals), (call, i), x._n.shape, x._n.dtype)
                for i, x in enumerate(found)]
        call.results = made
        return unflatten(outputs, [wrap(n) for n in made])


def _detached(n: Node) -> Node:
    """The value of a node, of which a derivative in progress does not keep the making."""
    if not getattr(n.trace, "retains", False):
        return n
    d = Node(INPUT, (), (), n.shape, n.dtype) if n.data is not None else Node(
        prims.RESHAPE, (n,), (), n.shape, n.dtype)
    d.data, d.trace = n.data, None
    return d


def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return `fun` with a derivative that computes its intermediate values again.

    Saves the memory they would take between the call and its gradient. `fun` takes and returns
    arrays, or trees of them; results and gradients are those of `fun`.

    >>> import eutectic.core as mx
    >>> f = mx.checkpoint(lambda x: mx.sin(x) * x)
    >>> mx.grad(f)(mx.array(0.0))
    array(0, dtype=float32)
    """
    from eutectic.transforms.autodiff import vjp

    wrapped = custom_function(fun)

    @wrapped.vjp
    def again(primals: Any, cotangent: Any, output: Any) -> Any:
        args = primals if isinstance(primals, tuple) else (primals,)
        leaves, treedef = flatten(args)

        def flat(*xs: array) -> Any:
            return flatten(fun(*unflatten(treedef, list(xs))))[0]
        return vjp(flat, leaves, flatten(cotangent)[0])[1]
    return wrapped


def depends(inputs: Any, dependencies: Any) -> Any:
    """Return `inputs`, computed only together with `dependencies`.

    Both are an array or a sequence of arrays.

    >>> import eutectic.core as mx
    >>> mx.depends(mx.array(1.0), mx.array(2.0))
    array(1, dtype=float32)
    """
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    needs = list(dependencies) if isinstance(dependencies, (list, tuple)) else [dependencies]
    for x in (*given, *needs):
        if not isinstance(x, array):
            raise ArgumentError(f"[depends] takes arrays, not a {type(x).__name__}.")
    extra = tuple([x._n for x in needs])
    made = [wrap(Node(DEPENDS, (x._n, *extra), (), x._n.shape, x._n.dtype)) for x in given]
    return type(inputs)(made) if isinstance(inputs, (list, tuple)) else made[0]
