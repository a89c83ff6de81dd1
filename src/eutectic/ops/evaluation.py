"""Computing arrays now, and memory statistics."""

from __future__ import annotations

from typing import Any

from eutectic.array import array, need_value
from eutectic.engine.evaluate import evaluate
from eutectic.errors import ArgumentError
from eutectic.ops.checks import integer
from eutectic.runtime import buffers
from eutectic.tracing.native import without_value
from eutectic.tree import container_kind, kinds, leaves


def eval_(*args: Any) -> None:
    """Compute the arrays in trees of any containers.

    Raises TraceError for placeholders of a function being traced.

    >>> import eutectic.core as mx
    >>> x = mx.array([1, 2]) + 1
    >>> mx.eval({"x": x})
    """
    if len(args) == 1 and type(args[0]) is array:
        if args[0]._n.data is None:
            need_value(args[0], "eval")
        return
    pending = without_value(args)
    if pending is None:
        pending = []
        _collect(args, pending)
    if pending:
        for a in pending:
            if a._n.trace is not None:
                need_value(a, "eval")
        evaluate([a._n for a in pending])


def _collect(trees: Any, pending: list[array]) -> None:
    """Append the arrays of trees that have no value yet."""
    waiting = [trees]
    while waiting:
        for x in waiting.pop():
            t = type(x)
            if t is array:
                if x._n.data is None:
                    pending.append(x)
                continue
            kind = kinds.get(t)
            if kind is None:
                kind = container_kind(t)
            if kind == "dict":
                waiting.append(dict.values(x))
            elif kind == "sequence":
                waiting.append(x)
            elif kind:
                waiting.append(leaves(x))
            elif isinstance(x, array) and x._n.data is None:
                pending.append(x)


def async_eval(*args: Any) -> None:
    """Like `eval`; it may return before the values are there, and here it does not.

    >>> import eutectic.core as mx
    >>> mx.async_eval(mx.array([1, 2]) + 1)
    """
    eval_(*args)


def get_active_memory() -> int:
    """Bytes in use by arrays.

    >>> import eutectic.core as mx
    >>> mx.get_active_memory() >= 0
    True
    """
    return buffers.active_memory()


def get_peak_memory() -> int:
    """Most bytes in use at one time since the start or `reset_peak_memory`.

    >>> import eutectic.core as mx
    >>> mx.get_peak_memory() >= mx.get_active_memory()
    True
    """
    return buffers.peak_memory()


def reset_peak_memory() -> None:
    """Start measuring the peak anew.

    >>> import eutectic.core as mx
    >>> mx.reset_peak_memory()
    """
    buffers.reset_peak()


def get_cache_memory() -> int:
    """Bytes kept for reuse.

    >>> import eutectic.core as mx
    >>> mx.get_cache_memory() >= 0
    True
    """
    return buffers.cache_memory()


def clear_cache() -> None:
    """Give the bytes kept for reuse back to the system.

    >>> import eutectic.core as mx
    >>> mx.clear_cache()
    """
    buffers.clear_cache()


def _bytes(name: str, limit: Any) -> int:
    given = integer(name, "limit", limit)
    if given < 0:
        raise ArgumentError(f"[{name}] limit must not be negative, got {given}.")
    return given


def set_cache_limit(limit: int) -> int:
    """Set the most bytes to keep for reuse; returns the former limit.

    Raises ArgumentTypeError for what is no integer, ArgumentError for a negative one.

    >>> import eutectic.core as mx
    >>> former = mx.set_cache_limit(1 << 30)
    >>> mx.set_cache_limit(former)
    1073741824
    """
    return buffers.set_cache_limit(_bytes("set_cache_limit", limit))


def set_memory_limit(limit: int) -> int:
    """Set the bytes that allocation should stay below; returns the former limit.

    Raises ArgumentTypeError for what is no integer, ArgumentError for a negative one.

    >>> import eutectic.core as mx
    >>> former = mx.set_memory_limit(1 << 40)
    >>> mx.set_memory_limit(former)
    1099511627776
    """
    return buffers.set_memory_limit(_bytes("set_memory_limit", limit))


def get_memory_limit() -> int:
    """The bytes that allocation should stay below.

    >>> import eutectic.core as mx
    >>> mx.get_memory_limit() > 0
    True
    """
    return buffers.get_memory_limit()


def set_wired_limit(limit: int) -> int:
    """Set the bytes that stay wired to a GPU's memory; returns the former limit: none are, here.

    >>> import eutectic.core as mx
    >>> mx.set_wired_limit(1 << 30)
    0
    """
    _bytes("set_wired_limit", limit)
    return 0


def get_array_buffer_size(*args: Any) -> int:
    """Bytes of the buffers that the arrays of some trees lie in; shared ones count once.

    Raises ArgumentError for arrays that are not computed yet.

    >>> import eutectic.core as mx
    >>> x = mx.array([1.0] * 100)
    >>> mx.get_array_buffer_size(x, {"part": x})
    448
    """
    sizes: dict[int, int] = {}
    for a in leaves(args):
        if isinstance(a, array):
            if a._n.data is None:
                raise ArgumentError("[get_array_buffer_size] an array is not computed yet; "
                                    "mx.eval it first.")
            b = a._n.data.buffer
            sizes[b.ptr] = max(sizes.get(b.ptr, 0), b.capacity or b.nbytes)
    return sum(sizes.values())
