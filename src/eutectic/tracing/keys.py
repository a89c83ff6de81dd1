"""A call as its key: everything a trace may depend on, exact.

The structure of the arguments, shape, dtype and layout of each array, the type and value of each
constant, and the same of what the function reads elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import Dtype
from eutectic.engine.evaluate import evaluate
from eutectic.errors import ArgumentTypeError
from eutectic.graph.ir import blocking
from eutectic.runtime import pool
from eutectic.tracing.breaks import active
from eutectic.tracing.entry import Call
from eutectic.tracing.environment import Environment, Same, constant_key
from eutectic.tracing.libraries import can_look_into
from eutectic.tracing.state import IMPLICIT, implicit_lock
from eutectic.tree import flatten

ARRAYS, ENVIRONMENT, ALIASES = 2, 3, 6
"""Which parts of a call's key are the arrays', the environment's, and which arrays
are the same object."""
_CONSTANT_TYPES = (bool, int, float, complex, str, bytes, type(None), Dtype, slice, type(...))


GIVEN = "given at each call"
"""Marks a number in a key that is no constant: the keys of constants begin with a type."""


_INSTEAD: dict[type, str] = {set: "a frozenset", bytearray: "bytes", deque: "a list"}
"""What to give for arguments that can be no part of a key."""
_BY_TEXT = (range, Decimal, Fraction, PurePath, date, time, timedelta)


class Reader:
    """What a compiled function reads at a call: arguments, containers, its environment."""

    def __init__(self, fun: Callable[..., Any], name: str, inputs: Any, outputs: Any) -> None:
        self.fun = fun
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self._environment: Environment | None = None

    @property
    def environment(self) -> Environment:
        if self._environment is None:
            self._environment = Environment(self.fun)
        return self._environment

    def read(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """What a call gives, and its key.

        Waits for a trace of another thread's, whose placeholders stand in what both capture.
        """
        if not active.depth:
            call = self._read(args, kwargs, False)
            if call is not None:
                return call
        with implicit_lock:
            call = self._read(args, kwargs, True)
        assert call is not None
        return call

    def _read(self, args: tuple[Any, ...], kwargs: dict[str, Any], alone: bool) -> Call | None:
        # A list, as positional arguments alone are a tuple: f((x,), {"a": y}) is not f(x, a=y).
        leaves, treedef = flatten([args, kwargs] if kwargs else args)
        arrays: list[array] = []
        constants: list[Any] = []
        for i, x in enumerate(leaves):
            if type(x) is array:
                arrays.append(x)
                constants.append(None)
            else:
                constants.append(self._constant(i, x, leaves, arrays))
        n = len(arrays)
        objects = [x for x, c in zip(leaves, constants)
                   if type(c) is tuple and type(c[1]) is Same and can_look_into(x)]
        captured, env_key = self.environment.read(None, objects)
        state = self.state()
        state_key: Any = None
        if state:
            # Attributes of modules are the environment's: a counter there is no new signature.
            found, structure = flatten(state, attributes=False)
            place = {id(a): i for i, a in enumerate(captured)}
            parts: list[Any] = []
            for x in found:
                if type(x) is not array:
                    parts.append(constant_key(x))
                elif id(x) in place:
                    parts.append(place[id(x)])  # which of the captured arrays it is
                else:
                    place[id(x)] = len(captured)
                    captured.append(x)
                    parts.append(None)
            state_key = (structure, tuple(parts))
        arrays += captured
        nodes = [a._n for a in arrays]
        pending = [n for n in nodes if n.data is None]
        if pending:
            if not alone and any(x.trace is not None or (x.data is None and k >= n)
                                 for k, x in enumerate(nodes)):
                return None  # other threads may compute what is captured, or trace it
            for p in pending:
                if p.trace is not None:
                    while (trace := blocking(p)) is not None:
                        trace.value_needed("compile", p)
            evaluate(pending)
        avals = tuple([(n.shape, n.dtype, n.data.strides) for n in nodes])
        first = {id(a): i for i, a in reversed(list(enumerate(arrays)))}
        aliases = None if len(first) == len(arrays) else tuple([first[id(a)] for a in arrays])
        key = (treedef, tuple(constants), avals, env_key, state_key, pool.get_num_threads(),
               aliases)
        return Call(args, kwargs, leaves, treedef, arrays, nodes, n, key, state, objects)

    def state(self) -> list[Any]:
        """Containers that are read at each call besides the environment."""
        return ([self.inputs] if self.inputs is not None else []) + IMPLICIT

    def _constant(self, i: int, x: Any, leaves: list[Any], arrays: list[array]) -> Any:
        """Key of an argument that is no array of ours; NumPy data and the like become arrays."""
        if isinstance(x, np.generic) and x.dtype.kind in "biufc":
            return constant_key(x)  # as weak as Python's numbers
        if isinstance(x, _CONSTANT_TYPES):
            if isinstance(x, slice):
                return (slice, *[constant_key(v) for v in (x.start, x.stop, x.step)])
            return constant_key(x) if not isinstance(x, Dtype) else x
        if isinstance(x, array):
            leaves[i] = a = wrap(x._n)
            arrays.append(a)
            return None
        if isinstance(x, (np.ndarray, np.generic)) or hasattr(x, "__mlx_array__"):
            leaves[i] = a = array(x)
            arrays.append(a)
            return None
        try:
            hash(x)
        except TypeError:
            raise ArgumentTypeError(
                f"[compile] argument {i} of {self.name} is a {type(x).__name__}, whose content "
                f"may change unseen; give {_INSTEAD.get(type(x), 'arrays, constants, or lists')}, "
                "or make its type a container by mx.register_container.") from None
        if isinstance(x, Iterator) and not can_look_into(x):
            raise ArgumentTypeError(
                f"[compile] argument {i} of {self.name} is a {type(x).__name__}, which a trace "
                "would use up; give a list.")
        if isinstance(x, Enum):
            return (type(x), x)
        if isinstance(x, frozenset):
            return (type(x), tuple([constant_key(v) for v in x]))
        if isinstance(x, _BY_TEXT):
            return (type(x), repr(x))  # equal ones may differ, as 1.0 and 1.00 do
        return (type(x), Same(x))  # the environment looks into it

    def output_containers(self) -> list[Any]:
        """Containers that each call writes."""
        return ([self.outputs] if self.outputs is not None else []) + IMPLICIT


def any_shape(key: Any) -> Any:
    """The key of calls whose arrays have the same ranks and dtypes."""
    return (*key[:ARRAYS], tuple([(len(shape), dtype) for shape, dtype, _ in key[ARRAYS]]),
            *key[ARRAYS + 1:])


def without_environment(key: Any) -> Any:
    """The parts of a key that are not the environment's."""
    return (*key[:ENVIRONMENT], *key[ENVIRONMENT + 1:])
