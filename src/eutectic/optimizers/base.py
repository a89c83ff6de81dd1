"""What optimizers share: their state, their steps, and several of them at once.

The state holds `step`, `learning_rate`, and at the place of every parameter a dict of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import eutectic.core as mx
from eutectic.core import array
from eutectic.errors import ArgumentError
from eutectic.nn.layers.base import Module
from eutectic.utils import tree_flatten, tree_map, tree_merge, tree_reduce, tree_unflatten

Rate = float | array | Callable[[array], array]


class Optimizer:
    """Base class: subclasses define `init_single` and `apply_single`.

    `schedulers` gives functions of the step for names of the state, such as `learning_rate`.

    >>> class Descent(Optimizer):
    ...     def init_single(self, parameter, state):
    ...         state["last"] = mx.zeros_like(parameter)
    ...     def apply_single(self, gradient, parameter, state):
    ...         state["last"] = gradient
    ...         return parameter - 0.5 * gradient
    >>> Descent().apply_gradients({"w": mx.array([2.0])}, {"w": mx.array([1.0])})
    {'w': array([0], dtype=float32)}
    """

    def __init__(self, schedulers: dict[str, Callable[[array], array]] | None = None) -> None:
        self._state: dict[str, Any] = {"step": mx.array(0, mx.uint64)}
        self._schedulers = dict(schedulers or {})

    @property
    def state(self) -> dict[str, Any]:
        """The state: a tree of arrays, for `compile`, `eval` and checkpoints.

        >>> from eutectic.optimizers import SGD
        >>> sorted(SGD(0.1).state)
        ['learning_rate', 'step']
        """
        return self._state

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self._state = state

    @property
    def step(self) -> array:
        """How many updates have been made, a uint64 array of shape ().

        >>> from eutectic.optimizers import SGD
        >>> SGD(0.1).step
        array(0, dtype=uint64)
        """
        return self.state["step"]

    @property
    def learning_rate(self) -> array:
        """The learning rate, an array of shape (); can be set to a number.

        >>> from eutectic.optimizers import SGD
        >>> optimizer = SGD(0.1)
        >>> optimizer.learning_rate = 0.5
        >>> optimizer.learning_rate
        array(0.5, dtype=float32)
        """
        return self.state["learning_rate"]

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | array) -> None:
        self.state["learning_rate"] = mx.array(learning_rate)

    def _maybe_schedule(self, name: str, param: Rate) -> None:
        """Put a number into the state, or the first value of a schedule."""
        if isinstance(param, array) or not callable(param):
            self.state[name] = mx.array(param)
        else:
            self._schedulers[name] = param
            self.state[name] = param(self.step)

    def init(self, parameters: dict[str, Any]) -> None:
        """Make the state of all parameters that have none yet; `update` does it where needed.

        >>> from eutectic.optimizers import SGD
        >>> optimizer = SGD(0.1)
        >>> optimizer.init({"w": mx.zeros(2)})
        >>> optimizer.state["w"]
        {'v': array([0, 0], dtype=float32)}
        """
        def init_single(parameter: Any, state: dict[str, Any]) -> None:
            if not state:
                self.init_single(parameter, state)

        _prepare(parameters, self.state)
        tree_map(init_single, parameters, self.state)

    def init_single(self, parameter: array, state: dict[str, Any]) -> None:
        """Fill the empty state of one parameter; for subclasses.

        >>> from eutectic.optimizers import Adam
        >>> state = {}
        >>> Adam(0.1).init_single(mx.zeros(2), state)
        >>> sorted(state)
        ['m', 'v']
        """
        raise NotImplementedError(f"[Optimizer] {type(self).__name__} defines no init_single.")

    def update(self, model: Module, gradients: dict[str, Any]) -> None:
        """Make one step: the model gets new parameters where there are gradients.

        >>> from eutectic.optimizers import SGD
        >>> import eutectic.nn as nn
        >>> model = nn.Linear(1, 1, bias=False).update({"weight": mx.array([[1.0]])})
        >>> SGD(0.5).update(model, {"weight": mx.array([[1.0]])})
        >>> model.weight
        array([[0.5]], dtype=float32)
        """
        model.update(self.apply_gradients(gradients, model))

    def apply_gradients(self, gradients: dict[str, Any], parameters: dict[str, Any]
                        ) -> dict[str, Any]:
        """Make one step and return the new parameters, a tree like the gradients.

        `parameters` has at least the gradients' structure: a tree of arrays, or a module.

        >>> from eutectic.optimizers import SGD
        >>> SGD(0.5).apply_gradients({"w": mx.array([1.0])}, {"w": mx.array([1.0])})
        {'w': array([0.5], dtype=float32)}
        """
        self.init(gradients)
        for name, schedule in self._schedulers.items():
            self.state[name] = schedule(self.step)
        self.state["step"] = self.step + 1
        return tree_map(self.apply_single, gradients, parameters, self.state)

    def apply_single(self, gradient: array, parameter: array, state: dict[str, Any]) -> array:
        """The new parameter, from its gradient and state, which it changes; for subclasses.

        >>> from eutectic.optimizers import SGD
        >>> SGD(0.5).apply_single(mx.array([1.0]), mx.array([1.0]), {})
        array([0.5], dtype=float32)
        """
        raise NotImplementedError(f"[Optimizer] {type(self).__name__} defines no apply_single.")


def _prepare(parameters: Any, state: Any) -> Any:
    """State of the structure of the parameters, `{}` for new ones; dicts are filled in place."""
    if isinstance(parameters, dict):
        state = {} if state is None else state
        for k, p in parameters.items():
            old = state.get(k)
            new = _prepare(p, old)
            if new is not old:
                state[k] = new
        return state
    if isinstance(parameters, (list, tuple)):
        old_items = list(state or ())
        items = [_prepare(p, old_items[i] if i < len(old_items) else None)
                 for i, p in enumerate(parameters)] + old_items[len(parameters):]
        if state is not None and len(items) == len(old_items) and all(
                a is b for a, b in zip(items, old_items)):
            return state
        return type(parameters)(items)
    return {} if state is None else state


class MultiOptimizer(Optimizer):
    """Several optimizers, each for the parameters that its filter is the first to take.

    Filters are functions of path and gradient; the last optimizer, which has none, takes the rest.

    Raises ArgumentError unless there is one filter less than optimizers.

    >>> from eutectic.optimizers import SGD, Adam
    >>> optimizer = MultiOptimizer([Adam(0.1), SGD(1.0)], [lambda path, g: g.ndim > 1])
    >>> new = optimizer.apply_gradients({"b": mx.array([1.0])}, {"b": mx.array([1.0])})
    >>> new["b"], len(optimizer.state["states"])
    (array([0], dtype=float32), 2)
    """

    def __init__(self, optimizers: Sequence[Optimizer],
                 filters: Sequence[Callable[[str, array], bool]] = ()) -> None:
        super().__init__()
        self._state = {}
        if len(filters) != len(optimizers) - 1:
            raise ArgumentError(f"[MultiOptimizer] {len(optimizers)} optimizers need "
                                f"{len(optimizers) - 1} filters, got {len(filters)}.")
        self.optimizers = list(optimizers)
        self.filters = [*filters, lambda path, gradient: True]

    def _split_dictionary(self, gradients: dict[str, Any]) -> list[dict[str, Any]]:
        """The gradients of each optimizer, as trees."""
        if len(self.optimizers) == 1:
            return [gradients]
        parts: list[list[tuple[str, Any]]] = [[] for _ in self.optimizers]
        for path, g in tree_flatten(gradients):
            for part, chosen in zip(parts, self.filters):
                if chosen(path, g):
                    part.append((path, g))
                    break
        return [tree_unflatten(part) if part else {} for part in parts]

    def init(self, parameters: dict[str, Any]) -> None:
        """As `Optimizer.init`, for each part.

        >>> from eutectic.optimizers import SGD
        >>> optimizer = MultiOptimizer([SGD(0.1)])
        >>> optimizer.init({"w": mx.zeros(1)})
        >>> list(optimizer.state["states"][0]["w"])
        ['v']
        """
        for optimizer, part in zip(self.optimizers, self._split_dictionary(parameters)):
            optimizer.init(part)

    def apply_gradients(self, gradients: dict[str, Any], parameters: dict[str, Any]
                        ) -> dict[str, Any]:
        """As `Optimizer.apply_gradients`, each part by its optimizer.

        >>> from eutectic.optimizers import SGD
        >>> optimizer = MultiOptimizer([SGD(0.5)])
        >>> optimizer.apply_gradients({"w": mx.array([1.0])}, {"w": mx.array([1.0])})
        {'w': array([0.5], dtype=float32)}
        """
        tree: dict[str, Any] = {}
        for optimizer, part in zip(self.optimizers, self._split_dictionary(gradients)):
            tree = tree_merge(tree, optimizer.apply_gradients(part, parameters))
        return tree

    @property
    def state(self) -> dict[str, Any]:
        """{"states": states of the optimizers}.

        >>> from eutectic.optimizers import SGD
        >>> len(MultiOptimizer([SGD(0.1)]).state["states"])
        1
        """
        return {"states": [optimizer.state for optimizer in self.optimizers]}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        if "states" not in state or len(state["states"]) != len(self.optimizers):
            raise ArgumentError(f"[MultiOptimizer] the state must hold {len(self.optimizers)} "
                                "states.")
        for optimizer, part in zip(self.optimizers, state["states"]):
            optimizer.state = part

    @property
    def learning_rate(self) -> array:
        """That of the first optimizer; setting it sets all.

        >>> from eutectic.optimizers import SGD
        >>> MultiOptimizer([SGD(0.5)]).learning_rate
        array(0.5, dtype=float32)
        """
        return self.optimizers[0].learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | array) -> None:
        for optimizer in self.optimizers:
            optimizer.learning_rate = learning_rate


def clip_grad_norm(grads: Any, max_norm: float) -> tuple[Any, array]:
    """Scale gradients so that their norm, over the whole tree, is at most `max_norm`.

    Returns them and the norm that they had.

    >>> clip_grad_norm({"a": mx.array([3.0]), "b": mx.array([4.0])}, 10.0)
    ({'a': array([3], dtype=float32), 'b': array([4], dtype=float32)}, array(5, dtype=float32))
    """
    total = mx.sqrt(tree_reduce(lambda total, g: total + mx.square(g.astype(mx.float32)).sum(),
                                grads, mx.array(0.0)))
    scale = mx.minimum(max_norm / (total + 1e-6), 1.0)
    return tree_map(lambda g: (g * scale).astype(g.dtype), grads), total
