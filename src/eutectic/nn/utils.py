"""Gradients of functions of modules, as in `mlx.nn.utils`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import eutectic.core as mx
from eutectic.errors import ArgumentError
from eutectic.nn.layers.base import Module
from eutectic.tree import flatten, leaves, unflatten

__all__ = ["checkpoint", "value_and_grad"]


def value_and_grad(model: Module, fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the value of `fn` and its gradient by the model's trainable parameters.

    `fn` returns a scalar array, or a tuple that begins with one. The gradient is nested like
    `model.trainable_parameters()`. What `fn` changes in the model stays, as BatchNorm's averages.

    Raises ArgumentError where no parameter is trainable.

    >>> import eutectic.nn as nn
    >>> model = nn.Linear(2, 1, bias=False)
    >>> def loss(x):
    ...     return model(x).sum()
    >>> value, grads = nn.value_and_grad(model, loss)(mx.array([[1.0, 2.0]]))
    >>> grads
    {'weight': array([[1, 2]], dtype=float32)}
    """
    def inner(params: Any, places: list[tuple[Any, Any]], args: Any, kwargs: Any) -> Any:
        return _called(fn, places, params, args, kwargs)

    both = mx.value_and_grad(inner)

    @wraps(fn)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        params = model.trainable_parameters()
        places = _places(model, params, [])
        if not places:
            raise ArgumentError("[value_and_grad] the model has no trainable parameters.")
        return both(params, places, args, kwargs)

    gradient.__dict__.pop("__wrapped__", None)  # its result is not that of `fn`
    return gradient


def checkpoint(module: Module, fn: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return `fn`, or the module's call, with a derivative that computes what is between again.

    As `mx.checkpoint`, with the trainable parameters of the module among the arguments.

    >>> import eutectic.nn as nn
    >>> model = nn.Linear(2, 1, bias=False)
    >>> call = checkpoint(model)
    >>> loss = nn.value_and_grad(model, lambda x: call(x).sum())
    >>> loss(mx.array([[1.0, 2.0]]))[1]
    {'weight': array([[1, 2]], dtype=float32)}
    """
    called: Callable[..., Any] = module if fn is None else fn

    @wraps(called)
    def again(*args: Any, **kwargs: Any) -> Any:
        params = module.trainable_parameters()
        places = _places(module, params, [])
        given, treedef = flatten((args, kwargs))
        at = [i for i, x in enumerate(given) if isinstance(x, mx.array)]

        def inner(params: Any, arrays: list[mx.array]) -> Any:
            found = list(given)
            for i, x in zip(at, arrays):
                found[i] = x
            return _called(called, places, params, *unflatten(treedef, found))
        return mx.checkpoint(inner)(params, [given[i] for i in at])

    again.__dict__.pop("__wrapped__", None)
    return again


def _places(held: Any, params: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Where the arrays of a tree of parameters stand: (container, key), in the tree's order."""
    for k, v in params.items() if isinstance(params, dict) else enumerate(params):
        if isinstance(v, mx.array):
            found.append((held, k))
        elif v:
            _places(held[k], v, found)
    return found


def _called(fn: Callable[..., Any], places: list[tuple[Any, Any]], params: Any, args: Any,
            kwargs: Any) -> Any:
    """`fn(*args, **kwargs)` with other arrays at the places of the parameters."""
    arrays = leaves(params)
    before = [container[key] for container, key in places]
    for (container, key), x in zip(places, arrays):
        container[key] = x
    try:
        return fn(*args, **kwargs)
    finally:
        # Arrays that `fn` itself has put there stay.
        for (container, key), x, old in zip(places, arrays, before):
            if container[key] is x:
                container[key] = old
