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


Pull = Callable[..., "list[Node | None]"]
"""(function of arrays to nodes, its arguments, cotangents of its results, whether the result will
be transposed) -> cotangents of the arguments."""


class Arguments:
    """How the arrays of a call lie among its arguments, with the constants between them."""

    __slots__ = ("constants", "is_array", "positional", "treedef")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        leaves, self.treedef = flatten((args, kwargs))
        self.is_array = [isinstance(x, array) for x in leaves]
        self.constants = [x for x in leaves if not isinstance(x, array)]
        self.positional = self.is_array[:len(flatten(args)[0])]

    def filled(self, arrays: Sequence[Any],
               constants: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments with these in the places of the arrays."""
        given, rest = iter(arrays), iter(constants)
        return unflatten(self.treedef, [next(given) if a else next(rest) for a in self.is_array])

    def with_constants(self, arrays: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.filled(arrays, self.constants)

    def beside(self, arrays: Sequence[Any]) -> Any:
        """What stands beside the positional arguments, with None beside the constants."""
        return _single(self.filled(arrays, [None] * len(self.constants))[0])


class Call:
    """One call of a custom function: what its rules need when a transformation comes to it."""

    __slots__ = ("arguments", "batched", "function", "outputs", "primals", "results")

    def __init__(self, function: custom_function, arguments: Arguments, primals: list[Node],
                 outputs: TreeDef, results: list[Node]) -> None:
        self.function = function
        self.arguments = arguments
        self.primals = primals
        self.outputs = outputs
        self.results = results
        self.batched: Any = None

    def at(self, primals: list[Node], results: list[Node]) -> Call:
        """The same call on other arguments."""
        return Call(self.function, self.arguments, primals, self.outputs, results)

    def pullback(self, cotangents: Sequence[Node | None], pull: Pull, wanted: Sequence[bool],
                 forward: bool) -> list[Node | None]:
        """Cotangents of the primals by the function's own rule; `forward`: to be transposed.

        `wanted` says which primals need one: an error where the rule cannot give it.
        """
        f = self.function
        given = [wrap(c if c is not None else _zeros(r))
                 for c, r in zip(cotangents, self.results)]
        seeds = [g._n for g in given]
        args, named = self.arguments.with_constants([wrap(p) for p in self.primals])
        if f._jvp is not None and (forward or f._vjp is None):
            # The transpose of the pushforward, which is linear in the tangents.
            self._only_positional(wanted, "jvp")
            rule = f._jvp

            def pushed(tangents: list[array]) -> list[Node]:
                out = rule(_single(args), self.arguments.beside(tangents), **named)
                return self._results("jvp", out)
            return pull(pushed, [_zeros(p) for p in self.primals], seeds)
        if forward or f._vjp is None:
            # A rule need not be linear, so it cannot be transposed: what the function does.
            def made(arrays: list[array]) -> list[Node]:
                args, named = self.arguments.with_constants(arrays)
                return [x._n for x in flatten(f.fun(*args, **named))[0]]
            return pull(made, self.primals, seeds, forward)
        self._only_positional(wanted, "vjp")
        found = f._vjp(_single(args), unflatten(self.outputs, given),
                       unflatten(self.outputs, [wrap(r) for r in self.results]), **named)
        out: list[Node | None] = []
        for x, p in zip(self._cotangents(found, args), self.primals):
            if x is None:
                out.append(None)
                continue
            if not isinstance(x, array) or x._n.shape != p.shape:
                shape = show_shape(x._n.shape) if isinstance(x, array) else type(x).__name__
                raise TransformError(f"[custom_function] the vjp of {f.__name__} returned {shape} "
                                     f"for an argument of shape {show_shape(p.shape)}.")
            out.append(x._n)
        return out + [None] * (len(self.primals) - len(out))

    def _only_positional(self, wanted: Sequence[bool], rule: str) -> None:
        if any(wanted[sum(self.arguments.positional):]):
            raise TransformError(f"[custom_function] the {rule} of {self.function.__name__} gives "
                                 "no derivative for arrays that are passed by keyword; pass them "
                                 "by position.")

    def _cotangents(self, found: Any, args: tuple[Any, ...]) -> list[Any]:
        """Of each positional array, from what a rule returned: None, also for a whole argument,
        is zero, and constants may be left out or have anything."""
        positional = self.arguments.positional
        leaves = flatten(found)[0]
        if len(leaves) == sum(positional):
            return leaves
        parts = list(found) if isinstance(found, (list, tuple)) and len(args) > 1 else [found]
        counts = [len(flatten(a)[0]) for a in args]
        if len(parts) == len(args):
            leaves = [x for p, n in zip(parts, counts)
                      for x in ([None] * n if p is None else flatten(p)[0])]
        if len(leaves) != len(positional):
            raise TransformError(f"[custom_function] the vjp of {self.function.__name__} returned "
                                 f"{len(leaves)} arrays for {sum(positional)} arguments.")
        return [x for x, is_array in zip(leaves, positional) if is_array]

    def _results(self, rule: str, given: Any) -> list[Node]:
        """What a rule returned for the results, one array of the right shape each."""
        leaves = flatten(given)[0]
        for x, r in zip(leaves, self.results):
            if not isinstance(x, array) or x._n.shape != r.shape:
                shape = show_shape(x._n.shape) if isinstance(x, array) else type(x).__name__
                raise TransformError(f"[custom_function] the {rule} of {self.function.__name__} "
                                     f"returned {shape} for a result of shape "
                                     f"{show_shape(r.shape)}.")
        if len(leaves) != len(self.results):
            raise TransformError(f"[custom_function] the {rule} of {self.function.__name__} "
                                 f"returned {len(leaves)} arrays for {len(self.results)} results.")
        return [x._n for x in leaves]


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
    from the operations (a missing `vjp` beside a `jvp`: to its transpose; a missing `vmap`: to the
    operations' for results, and to that of the other rules for derivatives). With one argument the
    rules get it itself, with several a tuple; keyword arguments they get as such. Arguments that
    are no arrays are constants, with None for a tangent or an axis, and so are arrays that the
    function captures. A `vjp` may return None for an argument that has no influence.

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
        self._by_operations = False
        """Whether derivatives call the function again: `checkpoint`."""
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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (self._by_operations or self._vjp or self._jvp or self._vmap):
            return self.fun(*args, **kwargs)
        arguments = Arguments(args, kwargs)
        primals = [x._n for x in flatten((args, kwargs))[0] if isinstance(x, array)]
        inner, named = arguments.with_constants([wrap(_detached(p)) for p in primals])
        found, outputs = flatten(self.fun(*inner, **named))
        for x in found:
            if not isinstance(x, array):
                raise ArgumentTypeError(f"[custom_function] {self.__name__} returned a "
                                        f"{type(x).__name__}; it must return arrays.")
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

    Saves the memory they would take between the call and its gradient. `fun` returns arrays, or
    trees of them; results and gradients are those of `fun`.

    >>> import eutectic.core as mx
    >>> f = mx.checkpoint(lambda x: mx.sin(x) * x)
    >>> mx.grad(f)(mx.array(0.0))
    array(0, dtype=float32)
    """
    wrapped = custom_function(fun)
    wrapped._by_operations = True
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
