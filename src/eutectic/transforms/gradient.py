"""`grad` and `value_and_grad`: gradients of scalar functions with respect to trees of arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.errors import ArgumentError, ArgumentTypeError, TransformError, show_shape
from eutectic.tracing.function import CompiledFunction
from eutectic.transforms.autodiff import (
    Recording, handle, ones_like, pullback, record, zeros_like)
from eutectic.tree import flatten, unflatten


def value_and_grad(fun: Callable[..., Any], argnums: int | Sequence[int] | None = None,
                   argnames: str | Sequence[str] = ()) -> Callable[..., Any]:
    """Return a function of the value of `fun` and its gradient.

    `fun` returns a scalar array, or a tuple or list whose first item is one (the rest is passed
    through). `argnums` are positions of arguments (0 by default, unless `argnames` is given) and
    `argnames` keyword arguments to differentiate by: arrays of floating type, or trees of them. The
    gradient has the structure of the argument; of several, a tuple; with names, a pair of the
    positional gradients and a dict. A compiled `fun` gives a compiled result.

    Raises ArgumentError for a result that is no scalar and for arguments that are not there.

    >>> import eutectic.core as mx
    >>> mx.value_and_grad(lambda x: (x * x).sum())(mx.array([1.0, 2.0]))
    (array(5, dtype=float32), array([2, 4], dtype=float32))
    """
    if not callable(fun):
        raise ArgumentTypeError(f"[value_and_grad] cannot differentiate a {type(fun).__name__}.")
    nums, names = _chosen("value_and_grad", argnums, argnames)
    if isinstance(fun, CompiledFunction):
        inner = value_and_grad(fun.fun, argnums, argnames)
        return fun.of(inner)

    @functools.wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return _gradient("value_and_grad", fun, nums, names, argnums, args, kwargs)
    return _anonymous(gradient)


def grad(fun: Callable[..., Any], argnums: int | Sequence[int] | None = None,
         argnames: str | Sequence[str] = ()) -> Callable[..., Any]:
    """Return a function that computes the gradient of `fun`; see `value_and_grad`.

    >>> import eutectic.core as mx
    >>> mx.grad(lambda x: x ** 3)(mx.array(2.0))
    array(12, dtype=float32)
    """
    both = value_and_grad(fun, argnums, argnames)
    if isinstance(both, CompiledFunction):
        return both.of(_second(fun, both.fun))
    return _second(fun, both)


def _second(fun: Callable[..., Any], both: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]
    return _anonymous(gradient)


def _anonymous(f: Callable[..., Any]) -> Callable[..., Any]:
    """Without `__wrapped__`: the gradient's signature is the function's, its result is not."""
    f.__dict__["_made_of"] = f.__dict__.pop("__wrapped__", None)
    return f


def _chosen(name: str, argnums: Any, argnames: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames)
    if argnums is None:
        nums: tuple[int, ...] = () if names else (0,)
    else:
        nums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if len(set(nums)) != len(nums) or len(set(names)) != len(names):
        raise ArgumentError(f"[{name}] an argument is named twice: {nums} {names}.")
    if any(n < 0 for n in nums):
        raise ArgumentError(f"[{name}] positions of arguments are not negative, got {nums}.")
    return nums, names


def _gradient(name: str, fun: Callable[..., Any], nums: tuple[int, ...], names: tuple[str, ...],
              argnums: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if nums and max(nums) >= len(args):
        raise ArgumentError(f"[{name}] argument {max(nums)} is asked for, but the call has "
                            f"{len(args)} positional arguments.")
    for k in names:
        if k not in kwargs:
            raise ArgumentError(f"[{name}] no keyword argument {k!r} in the call.")
    recording = Recording(name)
    new_args, new_kwargs = list(args), dict(kwargs)
    handles: list[Any] = []
    trees = []
    places: list[tuple[Any, Any]] = [*((new_args, i) for i in nums),
                                     *((new_kwargs, k) for k in names)]
    for where, key in places:
        leaves, treedef = flatten(where[key])
        made = [_handle(name, x, recording, key) for x in leaves]
        trees.append((treedef, len(handles), len(made)))
        handles += made
        where[key] = unflatten(treedef, [wrap(h) for h in made])
    try:
        result = record(fun, tuple(new_args), new_kwargs, recording)
    finally:
        recording.retains = False
    value = result[0] if isinstance(result, (tuple, list)) and result else result
    if not isinstance(value, array):
        raise ArgumentTypeError(f"[{name}] the function must return a scalar array (or a tuple "
                                f"that begins with one), got {type(value).__name__}.")
    if value._n.shape:
        raise ArgumentError(f"[{name}] the function must return a scalar, got an array of shape "
                            f"{show_shape(value._n.shape)}; sum it, or use vjp.")
    if not value._n.dtype.is_float:
        raise TransformError(f"[{name}] the result is {value._n.dtype.name}, which has no "
                             "gradient.")
    found = pullback([value._n], handles, [ones_like(value._n)])
    grads = [wrap(g if g is not None else zeros_like(h)) for g, h in zip(found, handles)]
    out = [unflatten(t, grads[at:at + count]) for t, at, count in trees]
    positional: Any = tuple(out[:len(nums)])
    if isinstance(argnums, int) or argnums is None:
        positional = positional[0] if positional else None
    if not names:
        return result, positional
    return result, (positional, dict(zip(names, out[len(nums):])))


def _handle(name: str, x: Any, recording: Recording, key: Any) -> Any:
    if not isinstance(x, array):
        raise ArgumentTypeError(f"[{name}] argument {key} holds a {type(x).__name__}; only arrays "
                                "have gradients.")
    return handle(x._n, recording)

