"""`grad` and `value_and_grad`: gradients of scalar functions with respect to trees of arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.errors import ArgumentError, ArgumentTypeError, TransformError, show_shape
from eutectic.ops.checks import integers
from eutectic.ops.derivatives import is_discrete
from eutectic.tracing.function import CompiledFunction
from eutectic.transforms.autodiff import (
    Recording, handle, ones_like, pullback, record, zeros_like)
from eutectic.tree import flatten, unflatten


def value_and_grad(fun: Callable[..., Any], argnums: int | Sequence[int] | None = None,
                   argnames: str | Sequence[str] = ()) -> Callable[..., Any]:
    """Return a function of the value of `fun` and its gradient.

    `fun` returns a scalar array, or a tuple or list whose first item is one (the rest is passed
    through). `argnums` are positions of arguments (0 by default, unless `argnames` is given) and
    `argnames` keyword arguments to differentiate by: arrays, or trees of them. The gradient has the
    structure of the argument; of several positions, a tuple in increasing order of position; with
    names, a pair of the positional gradients (or None) and a dict. Integers and booleans among
    other arrays of a tree get zeros. A compiled `fun` gives a compiled result.

    Raises ArgumentError for a result that is no scalar and for arguments that are not there or
    named twice, ArgumentTypeError for results and arguments that are no arrays, TransformError for
    an argument of integers or booleans only, or such a result.

    >>> import eutectic.core as mx
    >>> mx.value_and_grad(lambda x: (x * x).sum())(mx.array([1.0, 2.0]))
    (array(5, dtype=float32), array([2, 4], dtype=float32))
    """
    return _differentiated("value_and_grad", fun, argnums, argnames)


def grad(fun: Callable[..., Any], argnums: int | Sequence[int] | None = None,
         argnames: str | Sequence[str] = ()) -> Callable[..., Any]:
    """Return a function that computes the gradient of `fun`, which returns a scalar array.

    See `value_and_grad`.

    >>> import eutectic.core as mx
    >>> mx.grad(lambda x: x ** 3)(mx.array(2.0))
    array(12, dtype=float32)
    """
    return _differentiated("grad", fun, argnums, argnames)


def _differentiated(name: str, fun: Callable[..., Any], argnums: Any,
                    argnames: Any) -> Callable[..., Any]:
    if not callable(fun):
        raise ArgumentTypeError(f"[{name}] cannot differentiate a {type(fun).__name__}.")
    nums, names = _chosen(name, argnums, argnames)
    if isinstance(fun, CompiledFunction):
        return fun.of(_differentiated(name, fun.fun, argnums, argnames))

    @functools.wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        both = _gradient(name, fun, nums, names, args, kwargs)
        return both[1] if name == "grad" else both
    return _anonymous(gradient)


def _anonymous(f: Callable[..., Any]) -> Callable[..., Any]:
    """Without `__wrapped__`: the gradient's signature is the function's, its result is not."""
    f.__dict__["_made_of"] = f.__dict__.pop("__wrapped__", None)
    return f


def _chosen(name: str, argnums: Any, argnames: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions in increasing order, and names."""
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    if argnums is None:
        nums: tuple[int, ...] = () if names else (0,)
    else:
        nums = integers(name, "argnums", argnums)
    for k in names:
        if not isinstance(k, str):
            raise ArgumentTypeError(f"[{name}] argnames are names, not a {type(k).__name__}.")
    if len(set(nums)) != len(nums) or len(set(names)) != len(names):
        raise ArgumentError(f"[{name}] an argument is named twice: {nums} {names}.")
    if any(n < 0 for n in nums):
        raise ArgumentError(f"[{name}] positions of arguments are not negative, got {nums}.")
    if not nums and not names:
        raise ArgumentError(f"[{name}] no argument is asked for.")
    return tuple(sorted(nums)), names


def _gradient(name: str, fun: Callable[..., Any], nums: tuple[int, ...], names: tuple[str, ...],
              args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if nums and nums[-1] >= len(args):
        raise ArgumentError(f"[{name}] argument {nums[-1]} is asked for, but the call has "
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
        if made and all(is_discrete(h) for h in made):
            raise TransformError(f"[{name}] argument {key} is {made[0].dtype.name}, which has no "
                                 "gradient; convert it by astype.")
        trees.append((treedef, len(handles), len(made)))
        handles += made
        where[key] = unflatten(treedef, [wrap(h) for h in made])
    try:
        result = record(fun, tuple(new_args), new_kwargs, recording)
    finally:
        recording.retains = False
    more = name != "grad" and isinstance(result, (tuple, list)) and result
    value = result[0] if more else result
    if not isinstance(value, array):
        hint = (" (or a tuple that begins with one)" if name != "grad" else
                "; value_and_grad takes more results" if isinstance(result, (tuple, list)) else "")
        raise ArgumentTypeError(f"[{name}] the function must return a scalar array{hint}, got a "
                                f"{type(value).__name__}.")
    if value._n.shape:
        raise ArgumentError(f"[{name}] the function must return a scalar, got an array of shape "
                            f"{show_shape(value._n.shape)}; sum it, or use vjp.")
    if not value._n.dtype.is_float:
        remedy = "; take its real part" if value._n.dtype.is_complex else ""
        raise TransformError(f"[{name}] the result is {value._n.dtype.name}, which has no "
                             f"gradient{remedy}.")
    found = pullback([value._n], handles, [ones_like(value._n)])
    grads = [wrap(g if g is not None else zeros_like(h)) for g, h in zip(found, handles)]
    out = [unflatten(t, grads[at:at + count]) for t, at, count in trees]
    positional: Any = tuple(out[:len(nums)])
    if len(nums) < 2:
        positional = positional[0] if nums else None
    if not names:
        return result, positional
    return result, (positional, dict(zip(names, out[len(nums):])))


def _handle(name: str, x: Any, recording: Recording, key: Any) -> Any:
    if not isinstance(x, array):
        raise ArgumentTypeError(f"[{name}] argument {key} holds a {type(x).__name__}; only arrays "
                                "have gradients.")
    return handle(x._n, recording)

