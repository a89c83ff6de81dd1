"""Timing of calls that are to be compared: interleaved rounds within a budget of time.

A round takes one sample of each call, in an order that turns round each time, so that whatever
slows the machine for a while slows all of them. A sample is as many calls as make 1 ms, after one
that is not timed: it brings the call's own data into the caches and wakes the threads.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

SAMPLE_SECONDS = 1e-3
LEAST_ROUNDS = 5
MOST_ROUNDS = 400
_LONG_SECONDS = 0.05
"""A call this long needs no untimed one before each sample."""

Progress = Callable[[float], None]
"""Told the part that is done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Seconds a call, one number a sample.

    >>> s = Samples((1.0, 2.0, 3.0, 4.0, 5.0))
    >>> s.median, s.minimum, s.lower, s.upper, s.spread
    (3.0, 1.0, 2.0, 4.0, 0.6666666666666666)
    """

    seconds: tuple[float, ...]
    calls: int = 1
    """Calls in each sample."""

    @property
    def median(self) -> float:
        """The middle sample."""
        return statistics.median(self.seconds)

    @property
    def minimum(self) -> float:
        """The fastest sample."""
        return min(self.seconds)

    @property
    def lower(self) -> float:
        """The first quartile: a quarter of the samples are faster."""
        return self._quartile(0)

    @property
    def upper(self) -> float:
        """The third quartile: a quarter of the samples are slower."""
        return self._quartile(2)

    @property
    def spread(self) -> float:
        """Distance of the quartiles, as a part of the median."""
        return (self.upper - self.lower) / self.median if self.median else 0.0

    def _quartile(self, which: int) -> float:
        if len(self.seconds) < 2:
            return self.seconds[0]
        return statistics.quantiles(self.seconds, n=4, method="inclusive")[which]


def interleave(calls: Sequence[Callable[[], Any]], budget: float,
               after: Callable[[], None] | None = None,
               progress: Progress | None = None) -> list[Samples]:
    """Time calls in turn for about `budget` seconds, at least five rounds.

    `after` runs, untimed, behind every sample and every warm-up call.
    """
    settle = after or (lambda: None)
    repeats = [_repeat(call, settle) for call in calls]
    times: list[list[float]] = [[] for _ in calls]
    begin = time.perf_counter()
    rounds = 0
    collecting = gc.isenabled()
    gc.disable()
    try:
        while rounds < LEAST_ROUNDS or (rounds < MOST_ROUNDS
                                        and time.perf_counter() - begin < budget):
            order = range(len(calls)) if rounds % 2 == 0 else reversed(range(len(calls)))
            for i in order:
                times[i].append(_sample(calls[i], repeats[i], settle))
            rounds += 1
            if progress is not None:
                progress(min(1.0, max((time.perf_counter() - begin) / budget if budget else 1.0,
                                      0.0) if rounds >= LEAST_ROUNDS else rounds / LEAST_ROUNDS
                             * 0.5))
    finally:
        if collecting:
            gc.enable()
    return [Samples(tuple(t), r) for t, r in zip(times, repeats)]


def _repeat(call: Callable[[], Any], settle: Callable[[], None]) -> int:
    """Calls that make a sample; warms up meanwhile."""
    elapsed = 0.0
    for _ in range(3):
        start = time.perf_counter()
        call()
        elapsed = time.perf_counter() - start
        settle()
        if elapsed > _LONG_SECONDS:
            break
    return max(1, min(1000, int(SAMPLE_SECONDS / max(elapsed, 1e-7))))


def _sample(call: Callable[[], Any], repeat: int, settle: Callable[[], None]) -> float:
    clock = time.perf_counter
    if repeat > 1:
        call()
    else:
        start = clock()
        call()
        elapsed = clock() - start
        settle()
        if elapsed > _LONG_SECONDS:
            return elapsed
    start = clock()
    for _ in range(repeat):
        call()
    elapsed = clock() - start
    settle()
    return elapsed / repeat
