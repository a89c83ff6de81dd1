"""`measure`: a function plain against compiled, on this machine, with what explains the numbers."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eutectic.array import array, numpy_view
from eutectic.config import config
from eutectic.engine import evaluate
from eutectic.engine.plan import Plan
from eutectic.engine.steps import Step
from eutectic.errors import ArgumentError
from eutectic.graph.ir import Node
from eutectic.graph.show import type_text
from eutectic.inspect.cold import FirstCalls, first_calls
from eutectic.inspect.load import BUSY, Others
from eutectic.inspect.machine import Machine, machine
from eutectic.inspect.timing import Progress, Samples, interleave
from eutectic.inspect.units import percent_text, seconds_text
from eutectic.inspect.verdict import NOISY, Timed, Verdict, judge
from eutectic.inspect.work import Work, kernel_steps, step_work, total
from eutectic.runtime import buffers
from eutectic.tracing.environment import Environment
from eutectic.tracing.function import CompiledFunction
from eutectic.tracing.state import IMPLICIT, Snapshot
from eutectic.tree import flatten, unflatten

BUDGET = 2.0
"""Seconds that the timing takes unless told otherwise."""
_WATCHED_RUNS = 5
_WATCHED_SECONDS = 0.5
"""No further run is watched after this long."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the comparison: the plain function, or the compiled one."""

    samples: Samples
    kernels: int
    """Kernels that a call runs."""
    work: Work
    """Bytes and arithmetic of those kernels."""
    in_kernels: float
    """Seconds of a call inside machine code and Python libraries."""
    memory: float
    """Least seconds for the bytes at this machine's measured bandwidth."""
    arithmetic: float
    """Least seconds for the instructions at this machine's measured rate."""

    @property
    def median(self) -> float:
        """Median seconds of a call."""
        return self.samples.median

    @property
    def around(self) -> float:
        """Seconds of a call outside kernels."""
        return max(self.median - self.in_kernels, 0.0)

    @property
    def bandwidth_part(self) -> float:
        """Part of the measured memory bandwidth that the kernels reach."""
        return self.memory / self.in_kernels if self.in_kernels else 0.0

    @property
    def rate(self) -> float:
        """Floating-point operations per second inside kernels."""
        return self.work.flops / self.in_kernels if self.in_kernels else 0.0

    def timed(self) -> Timed:
        """The numbers that the verdict needs."""
        return Timed(self.median, self.kernels, self.work.moved, self.around, self.memory,
                     self.arithmetic)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What `measure` found; prints as a report, `to_dict` gives the numbers."""

    name: str
    inputs: tuple[str, ...]
    """The arguments' arrays by type and shape, other arguments as they print."""
    plain: Side
    compiled: Side
    first: FirstCalls
    identical: bool
    """Whether both gave the same bits: results, and state that the function changes."""
    machine: Machine
    verdict: Verdict
    others: float
    """Part of the processors' time that other programs used while the function was timed."""
    warnings: tuple[str, ...]

    @property
    def wins(self) -> float:
        """Part of the rounds in which compiled was faster."""
        return _wins(self.plain.samples, self.compiled.samples)

    @property
    def noisy(self) -> bool:
        """Whether the times of a side lie far apart, or other programs were busy meanwhile."""
        spread = max(self.plain.samples.spread, self.compiled.samples.spread)
        return spread > NOISY or self.others > BUSY

    @property
    def speedup(self) -> float:
        """Median of plain over median of compiled."""
        return self.plain.median / self.compiled.median

    def to_dict(self) -> dict[str, Any]:
        """The numbers, for JSON: seconds, bytes, operations per second."""
        found = asdict(self)
        for side, key in ((self.plain, "plain"), (self.compiled, "compiled")):
            s = side.samples
            found[key] |= {
                "median": s.median, "minimum": s.minimum, "lower_quartile": s.lower,
                "upper_quartile": s.upper, "rounds": len(s.seconds), "around": side.around,
                "bandwidth_part": side.bandwidth_part, "flops_per_second": side.rate,
                "peak_part": side.rate / self.machine.flops, "bytes_moved": side.work.moved}
        found |= {"speedup": self.speedup, "wins": self.wins, "noisy": self.noisy}
        found["verdict"]["worth"] = self.verdict.worth
        if math.isinf(self.verdict.calls):
            found["verdict"]["calls"] = None
        return found

    def __str__(self) -> str:
        from eutectic.inspect.report import report

        return report(self)

    __repr__ = __str__


def measure(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Measurement:
    """Time `fun(*args, **kwargs)` plain and compiled and say whether compiling is worth it.

    Takes about four seconds, two of them timing. `fun` may be compiled already: its traces stay as
    they are. Arguments and state that `fun` changes are put back after each call. Raises what
    `fun` raises, TraceError where it cannot be compiled, and ArgumentError while compiling is
    switched off.

    >>> import eutectic.core as mx
    >>> m = mx.measure(lambda x: mx.tanh(x * 2) + 1, mx.ones((64, 64)))
    >>> m.plain.kernels, m.compiled.kernels, m.identical
    (3, 1, True)
    """
    return measure_call(fun, args, kwargs)


def measure_call(fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
                 budget: float = BUDGET, name: str | None = None,
                 progress: Progress | None = None) -> Measurement:
    """As `measure`, with a budget in seconds for the timing and a callback for its progress."""
    if config.disable_compile:
        raise ArgumentError("[measure] compiling is switched off: call mx.enable_compile(), or "
                            "unset EUTECTIC_DISABLE_COMPILE.")
    subject = _Subject(fun, tuple(args), dict(kwargs))
    this = machine()
    compiled = subject.make()
    identical = subject.compare(compiled)
    load = Others()
    samples = interleave([lambda: subject.call(subject.plain), lambda: subject.call(compiled)],
                         budget, subject.restore, progress)
    others = load.share()
    sides = []
    for s, (part, steps) in zip(samples, (subject.watch_plain(), subject.watch(compiled))):
        work = [step_work(step) for step in steps]
        sides.append(Side(s, len(steps), total(work), s.median * part,
                          sum(map(this.memory_seconds, work)),
                          sum(map(this.arithmetic_seconds, work))))
    plain, fused = sides
    first = first_calls(subject.make, subject.call, lambda: subject.call(subject.plain),
                        subject.restore)
    done = fused.work
    product_part = done.product_flops / done.flops if done.flops else 0.0
    verdict = judge(plain.timed(), fused.timed(), first.cold.total,
                    _wins(plain.samples, fused.samples), product_part, identical)
    warnings = _warnings(plain, fused, this, others, identical)
    return Measurement(name or subject.name, subject.inputs(), plain, fused, first, identical,
                       this, verdict, others, warnings)


def _wins(plain: Samples, compiled: Samples) -> float:
    pairs = list(zip(plain.seconds, compiled.seconds))
    return sum([c < p for p, c in pairs]) / len(pairs)


def _warnings(plain: Side, compiled: Side, this: Machine, others: float = 0.0,
              identical: bool = True) -> tuple[str, ...]:
    found = []
    if not identical:
        found.append("The results of plain and compiled differ. Either the function is not a "
                     "function of its arguments and its state, or this is a bug: please report it.")
    noisy = [f"half of the {name} samples lie between {seconds_text(side.samples.lower)} and "
             f"{seconds_text(side.samples.upper)}"
             for side, name in ((plain, "plain"), (compiled, "compiled"))
             if side.samples.spread > NOISY]
    if others > BUSY:
        noisy.append(f"other programs used {percent_text(others)} of the processors")
    if noisy:
        found.append(f"The machine was noisy: {', '.join(noisy)}. Measure again on an idle one.")
    if this.disturbed:
        found.append(f"Other programs used {percent_text(this.others)} of the processors while the "
                     "machine's limits were measured: these may be too low.")
    return tuple(found)


class _Subject:
    """The function under measurement with its arguments and the state it may change."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...],
                 kwargs: dict[str, Any]) -> None:
        self.given = fun if isinstance(fun, CompiledFunction) else None
        self.plain = self.given.fun if self.given else fun
        self.name = getattr(self.plain, "__name__", type(self.plain).__name__)
        self.args, self.kwargs = _arrays(args), _arrays(kwargs)
        own = [self.given.inputs, self.given.outputs] if self.given else []
        self.given_arguments = [self.args, self.kwargs]
        self.state = [*own, *IMPLICIT, Environment(self.plain).read()[0]]
        everything = [self.given_arguments, self.state]
        evaluate.evaluate([x._n for x in flatten(everything)[0] if isinstance(x, array)])
        self.before = Snapshot(everything)

    def make(self) -> CompiledFunction:
        """The function compiled, with no traces yet."""
        if self.given is None:
            return CompiledFunction(self.plain)
        g = self.given
        return CompiledFunction(g.fun, g.inputs, g.outputs, g.shapeless)

    def call(self, fun: Callable[..., Any]) -> Any:
        """Call and compute everything that the call gives."""
        result = fun(*self.args, **self.kwargs)
        if type(result) is array:
            if result._n.data is None:
                evaluate.evaluate([result._n])
        else:
            evaluate.evaluate([x._n for x in flatten(result)[0] if type(x) is array])
        return result

    def restore(self) -> None:
        self.before.restore()

    def inputs(self) -> tuple[str, ...]:
        """The arguments in words."""
        return tuple([type_text(x.shape, x.dtype) if isinstance(x, array) else repr(x)
                      for x in flatten([self.args, self.kwargs])[0]])

    def compare(self, compiled: CompiledFunction) -> bool:
        """Whether plain and compiled give the same bits: results, state, and arguments that the
        function changes in place."""
        found = []
        for fun in (self.plain, compiled, compiled):
            result = self.call(fun)
            found.append(_bits([result, self.state, self.given_arguments]))
            self.restore()
        return found[0] == found[1] == found[2]

    def watch_plain(self) -> tuple[float, list[Step]]:
        """(part of the time in kernels, steps) of a plain call."""
        plans: list[Plan] = []
        inside = 0.0

        def run(_n: Node, plan: Plan, addresses: list[int]) -> list[Any]:
            nonlocal inside
            made, seconds = run_timed(plan, addresses)
            inside += seconds
            plans.append(plan)
            return made

        parts: list[float] = []
        begin = time.perf_counter()
        for i in range(_WATCHED_RUNS + 1):
            if parts and time.perf_counter() - begin > _WATCHED_SECONDS:
                break
            plans.clear()
            inside = 0.0
            evaluate.watcher = run
            try:
                start = time.perf_counter()
                self.call(self.plain)
                elapsed = time.perf_counter() - start
            finally:
                evaluate.watcher = None
            self.restore()
            if i:  # the first run warms up
                parts.append(min(inside / elapsed, 1.0))
        return statistics.median(parts), [s for p in plans for s in kernel_steps(p)]

    def watch(self, compiled: CompiledFunction) -> tuple[float, list[Step]]:
        """(part of the time in kernels, steps) of a compiled call."""
        # The call may be native code all through, so its plan is run alone, next to it.
        entry = compiled.lower(*self.args, **self.kwargs)
        call = compiled.reader.read(self.args, self.kwargs)
        nodes = [call.nodes[i] for i in entry.traced.used] + entry.traced.captured
        addresses = [n.data.ptr for n in nodes]
        whole = inside = math.inf
        begin = time.perf_counter()
        for _ in range(4 * _WATCHED_RUNS):
            if inside < math.inf and time.perf_counter() - begin > _WATCHED_SECONDS:
                break
            start = time.perf_counter()
            self.call(compiled)
            whole = min(whole, time.perf_counter() - start)
            self.restore()
            inside = min(inside, run_timed(entry.plan, addresses.copy())[1])
        return min(inside / whole, 1.0), kernel_steps(entry.plan)


def run_timed(plan: Plan, addresses: list[int]) -> tuple[list[Any], float]:
    """As `Plan.run`, with the seconds inside machine code and Python libraries."""
    made = [buffers.alloc(n) for n in plan.fresh]
    arena = buffers.alloc(plan.arena) if plan.arena else None
    addresses += [b.ptr for b in made]
    if arena is not None:
        addresses.append(arena.ptr)
    native, address = plan.native_run, plan.address
    start = time.perf_counter()
    if native is not None:
        native(address, addresses)
    else:
        for segment in plan.segments:
            segment.run_list(addresses)
    return made, time.perf_counter() - start


def _arrays(tree: Any) -> Any:
    """NumPy data in the arguments as arrays, so that converting it is not timed."""
    leaves, treedef = flatten(tree)
    return unflatten(treedef, [array(x) if isinstance(x, np.ndarray) else x for x in leaves])


def _bits(tree: Any) -> list[Any]:
    """Shape, dtype and bytes of every array in a tree; other leaves as they print."""
    return [(x.shape, x.dtype.name, numpy_view(x, "measure").tobytes())
            if isinstance(x, array) else repr(x) for x in flatten(tree)[0]]
