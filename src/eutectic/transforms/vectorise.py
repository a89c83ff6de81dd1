"""`vmap`: a function of one example, over a batch of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from eutectic.array import array, wrap
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, AxisError, ShapeError, show_shape)
from eutectic.graph import ir, prims
from eutectic.graph.ir import INPUT, Node
from eutectic.tracing.function import CompiledFunction
from eutectic.tracing.breaks import Trace, active
from eutectic.transforms import library_batching  # noqa: F401 - it adds rules
from eutectic.transforms.batching import batch
from eutectic.transforms.loop_rules import everywhere
from eutectic.tree import flatten, is_container, unflatten


def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Return a function that applies `fun` to each entry along an axis of its arguments.

    `in_axes` is an axis, None (the argument is shared), or a tree prefix of the positional
    arguments with such leaves; `out_axes` the same for the results. `fun` is called once, with
    arrays without the batch axis; every operation then gets one more axis, nothing loops. A
    compiled `fun` gives a compiled result.

    Raises ShapeError where the lengths of the batch axes differ, ArgumentError where no argument
    has one, AxisError for an axis out of range, TransformError for an operation that cannot be
    vectorised, TraceError where `fun` needs the value of an array.

    >>> import eutectic.core as mx
    >>> f = mx.vmap(lambda v, m: m @ v, in_axes=(0, None))
    >>> f(mx.ones((2, 3)), mx.ones((4, 3))).shape
    (2, 4)
    """
    if not callable(fun):
        raise ArgumentTypeError(f"[vmap] cannot vectorise a {type(fun).__name__}.")
    if isinstance(fun, CompiledFunction):
        return fun.of(vmap(fun.fun, in_axes, out_axes))

    @functools.wraps(fun)
    def vectorised(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ArgumentTypeError(f"[vmap] in_axes has no place for the keyword argument "
                                    f"{next(iter(kwargs))!r}; pass it by position.")
        return _apply(fun, args, in_axes, out_axes)
    vectorised.__dict__["_made_of"] = vectorised.__dict__.pop("__wrapped__", None)
    return vectorised


def _apply(fun: Callable[..., Any], args: tuple[Any, ...], in_axes: Any, out_axes: Any) -> Any:
    leaves, treedef = flatten(args)
    axes = _spread("in_axes", in_axes, args)
    name = getattr(fun, "__name__", type(fun).__name__)
    trace = Trace(name, "vmap")
    size: int | None = None
    inputs: list[Node] = []
    operands: list[tuple[Node, bool]] = []
    stand_ins: list[Any] = []
    for x, axis in zip(leaves, axes):
        if axis is None or not isinstance(x, array):
            if axis is not None:
                raise ArgumentTypeError(f"[vmap] an argument is a {type(x).__name__}; only arrays "
                                        "have axes (use None for it in in_axes).")
            stand_ins.append(x)
            continue
        n = x._n
        at = _axis(axis, len(n.shape), n.shape)
        if size is not None and n.shape[at] != size:
            raise ShapeError(f"[vmap] axis {axis} of shape {show_shape(n.shape)} has length "
                             f"{n.shape[at]}, but another batch axis has length {size}.")
        size = n.shape[at]
        first = prims.transpose(n, (at, *[i for i in range(len(n.shape)) if i != at]))
        p = Node(INPUT, (), (), first.shape[1:], n.dtype)
        p.trace = trace
        inputs.append(p)
        operands.append((first, True))
        stand_ins.append(wrap(p))
    if size is None:
        raise ArgumentError("[vmap] no argument has a batch axis; in_axes gives None for all.")
    active.depth += 1
    ir.begin_trace()
    try:
        result = fun(*unflatten(treedef, stand_ins))
        found, out_def = flatten(result)
        for x in found:
            if not isinstance(x, array):
                raise ArgumentTypeError(f"[vmap] the function returned a {type(x).__name__}; "
                                        "it must return arrays.")
        outs = batch([x._n for x in found], inputs, operands, size)
    finally:
        ir.end_trace()
        active.depth -= 1
        trace.end()
    placed = []
    for o, axis in zip(outs, _spread("out_axes", out_axes, result)):
        if axis is None:
            if o[1]:
                raise ArgumentError("[vmap] a result differs between entries, but its out_axes "
                                    "is None.")
            placed.append(wrap(o[0]))
            continue
        n = everywhere(o, size)
        at = _axis(axis, len(n.shape), n.shape)
        order = list(range(1, len(n.shape)))
        order.insert(at, 0)
        placed.append(wrap(prims.transpose(n, tuple(order))))
    return unflatten(out_def, placed)


def _axis(axis: Any, rank: int, shape: tuple[int, ...]) -> int:
    if not -rank <= axis < rank:
        raise AxisError(f"[vmap] {axis} is no axis of shape {show_shape(shape)}.")
    return axis % rank


def _spread(what: str, axes: Any, tree: Any) -> list[Any]:
    """The axis of each leaf of `tree`, from a prefix of its structure."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(flatten(tree)[0])
    if isinstance(axes, dict) and isinstance(tree, dict):
        if axes.keys() != tree.keys():
            raise ArgumentError(f"[vmap] {what} has keys {sorted(axes)}, the tree {sorted(tree)}.")
        return [a for k in tree for a in _spread(what, axes[k], tree[k])]
    if isinstance(axes, (list, tuple)) and isinstance(tree, (list, tuple)):
        if len(axes) != len(tree):
            raise ArgumentError(f"[vmap] {what} has {len(axes)} entries for {len(tree)} values.")
        return [a for x, t in zip(axes, tree) for a in _spread(what, x, t)]
    if isinstance(axes, (list, tuple)) and len(axes) == 1 and not is_container(tree):
        return _spread(what, axes[0], tree)
    raise ArgumentError(f"[vmap] {what} {axes!r} is no prefix of the structure it describes.")
