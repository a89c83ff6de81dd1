"""Questions about compiled functions: `compile_stats`, and `assert_max_traces` for tests."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from eutectic.errors import ArgumentError, ArgumentTypeError, TraceCountError
from eutectic.tracing.function import CompiledFunction
from eutectic.tracing.history import CompileStats


def compile_stats(fun: Callable[..., Any]) -> CompileStats:
    """Return what a compiled function has done so far and what it holds.

    The result is a snapshot with the fields `name`, `traces`, `hits`, `misses`, `evictions`,
    `entries`, `plain_calls`, `broken_calls`, `breaks` (places that needed a value, with counts),
    `reasons` (why the latest traces were made), `memory` (`temporaries`, `constants` and `code`,
    in bytes), and `bytes`, their sum. A method of an instance has statistics of its own.

    Raises ArgumentTypeError for a function that is not compiled.

    >>> import eutectic.core as mx
    >>> f = mx.compile(lambda x: mx.exp(x) * 2)
    >>> for n in (2, 3, 3):
    ...     mx.eval(f(mx.zeros((n,))))
    >>> found = mx.compile_stats(f)
    >>> found.traces, found.hits, found.misses, found.evictions, found.bytes > 0
    (2, 1, 2, 0, True)
    >>> print(found.reasons[-1])
    x has the new shape (3,) instead of (2,)
    """
    return _compiled(fun, "compile_stats").stats


class assert_max_traces(contextlib.ContextDecorator):
    """Check that a compiled function is traced at most `n` times within a `with` block.

    For tests: a retrace that sneaks in shows as a failure, with its reason. `check()` compares
    inside the block, and `traces` is the count so far. It decorates functions as well.

    Raises TraceCountError, an AssertionError, where there were more traces; ArgumentTypeError for
    a function that is not compiled, and ArgumentError for a negative `n`.

    >>> import eutectic.core as mx
    >>> f = mx.compile(lambda x: x + 1)
    >>> with mx.assert_max_traces(f, 1) as counted:
    ...     for _ in range(5):
    ...         mx.eval(f(mx.ones((3,))))
    >>> counted.traces
    1
    """

    def __init__(self, fun: Callable[..., Any], n: int) -> None:
        self.fun = _compiled(fun, "assert_max_traces")
        if n < 0:
            raise ArgumentError(f"[assert_max_traces] n must not be negative, got {n}.")
        self.n = n
        self._before: int | None = None
        self._traces = 0

    def __enter__(self) -> assert_max_traces:
        self._before = self.fun.history.traces
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        self._traces, self._before = self.traces, None
        if kind is None:
            self.check()

    @property
    def traces(self) -> int:
        """Traces in the block: so far, or when it ended."""
        return self._traces if self._before is None else self.fun.history.traces - self._before

    def check(self) -> None:
        """Raise TraceCountError where there have been more than `n` traces."""
        count = self.traces
        if count > self.n:
            latest = self.fun.history.reasons[-count:]
            lines = "\n".join([f"  {why}" for why in latest])
            raise TraceCountError(
                f"[assert_max_traces] {self.fun.__name__!r} was traced {count} times, at most "
                f"{self.n} were expected. The latest reasons:\n{lines}")


def _compiled(fun: Any, name: str) -> CompiledFunction:
    if not isinstance(fun, CompiledFunction):
        raise ArgumentTypeError(f"[{name}] needs a function made by mx.compile, not a "
                                f"{type(fun).__name__}.")
    return fun
