"""What a first call costs, stage by stage, with caches that are empty.

Nothing of the process's own is lost: the tables of loaded kernels, modules and plans, and the disk
cache, are put aside and replaced by empty ones (a temporary directory on disk), and put back
afterwards. What a process does once stays done: LLVM is loaded and the thread pool runs.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from eutectic.config import config
from eutectic.engine import evaluate, kernels, plan
from eutectic.runtime import diskcache, jit
from eutectic.tracing.function import CompiledFunction

_OTHER_STAGES = ("trace", "plan", "codegen", "llvm", "load")


def passes_seconds(seconds: dict[str, float]) -> float:
    """Of the cost by stage that a `Record` keeps, that of the passes and of fusion."""
    return sum([s for stage, s in seconds.items() if stage not in _OTHER_STAGES])


@dataclass(frozen=True, slots=True)
class FirstCall:
    """Seconds of a compiled function's first call, by stage."""

    total: float
    trace: float
    passes: float
    """All passes and fusion."""
    plan: float
    """Loops, memory, parameter blocks; without the kernels' code."""
    codegen: float
    """Kernels to LLVM text."""
    llvm: float
    """LLVM: text to machine code."""
    load: float
    """Reading from the disk cache, and loading machine code."""
    run: float
    """What is left: reading the arguments, the first run, results."""


@dataclass(frozen=True, slots=True)
class FirstCalls:
    """First calls by what was in the caches, and the plain function's."""

    cold: FirstCall
    """Nothing in memory or on disk: the first call ever."""
    disk: FirstCall
    """The kernels on disk: the first call of a later process."""
    memory: FirstCall
    """The kernels in memory: a new shape, in the same process."""
    plain: float
    """Seconds of the plain function's first call with nothing in memory or on disk."""


def first_calls(make: Callable[[], CompiledFunction], call: Callable[[Callable[..., Any]], Any],
                plain: Callable[[], Any], after: Callable[[], None]) -> FirstCalls:
    """Measure first calls of `make()`, each with caches of its own kind.

    `call(fun)` calls and computes; `plain()` does that with the plain function; `after` puts
    changed state back.
    """
    jit.host()
    with tempfile.TemporaryDirectory(prefix="eutectic-cold-") as folder:
        with _caches(folder + "/compiled"):
            cold = _first(make(), call)
            after()
        with _caches(folder + "/compiled"):
            disk = _first(make(), call)
            after()
            memory = _first(make(), call)
            after()
        with _caches(folder + "/plain"):
            start = time.perf_counter()
            plain()
            plain_seconds = time.perf_counter() - start
            after()
    return FirstCalls(cold, disk, memory, plain_seconds)


def _first(fun: CompiledFunction, call: Callable[[Callable[..., Any]], Any]) -> FirstCall:
    start = time.perf_counter()
    call(fun)
    total = time.perf_counter() - start
    s = fun.entries()[-1].record.seconds
    passes = passes_seconds(s)
    known = s["trace"] + passes + s["plan"] + s["codegen"] + s["llvm"] + s["load"]
    return FirstCall(total, s["trace"], passes, s["plan"], s["codegen"], s["llvm"], s["load"],
                     max(total - known, 0.0))


@contextlib.contextmanager
def _caches(folder: str) -> Iterator[None]:
    """Empty caches in memory, and on disk those of `folder`."""
    tables: list[tuple[Any, dict[Any, Any]]] = []
    for table in (kernels._loaded, plan._products, jit._modules, evaluate._plans):
        tables.append((table, dict(table)))
        table.clear()
    disk = diskcache._default
    diskcache._default = diskcache.DiskCache(folder, config.disk_cache_bytes)
    try:
        yield
    finally:
        diskcache._default = disk
        for table, content in tables:
            # What was made meanwhile stays alive: plans hold addresses of its code.
            table.update(content)
