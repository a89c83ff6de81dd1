"""Learning rates as functions of the step, a number or an integer array of shape ()."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import eutectic.core as mx
from eutectic.errors import ArgumentError

Schedule = Callable[[Any], Any]


def exponential_decay(init: float, decay_rate: float) -> Schedule:
    """init * decay_rate^step.

    >>> exponential_decay(0.1, 0.9)(mx.array(2))
    array(0.081, dtype=float32)
    """
    def schedule(step: Any) -> Any:
        return init * decay_rate ** step
    return schedule


def step_decay(init: float, decay_rate: float, step_size: int) -> Schedule:
    """init * decay_rate^(step // step_size).

    >>> step_decay(0.1, 0.9, 10)(mx.array(25))
    array(0.081, dtype=float32)
    """
    def schedule(step: Any) -> Any:
        return init * decay_rate ** (step // step_size)
    return schedule


def cosine_decay(init: float, decay_steps: int, end: float = 0.0) -> Schedule:
    """Half a wave of the cosine from `init` down to `end` at step `decay_steps`, then `end`.

    >>> cosine_decay(0.1, 100, end=0.01)(mx.array(50))
    array(0.055, dtype=float32)
    """
    def schedule(step: Any) -> Any:
        s = mx.minimum(step, decay_steps)
        decay = 0.5 * (1.0 + mx.cos((math.pi / decay_steps) * s))
        return end + decay * (init - end)
    return schedule


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """Each schedule from its boundary on, told the steps since then; the first from step 0 on.

    Raises ArgumentError unless there is one boundary less than schedules.

    >>> schedule = join_schedules([linear_schedule(0.0, 0.1, 10), cosine_decay(0.1, 200)], [10])
    >>> schedule(mx.array(5)), schedule(mx.array(10))
    (array(0.05, dtype=float32), array(0.1, dtype=float32))
    """
    if not schedules:
        raise ArgumentError("[join_schedules] there must be at least one schedule.")
    if len(schedules) != len(boundaries) + 1:
        raise ArgumentError(f"[join_schedules] {len(schedules)} schedules need "
                            f"{len(schedules) - 1} boundaries, got {len(boundaries)}.")

    def schedule(step: Any) -> Any:
        rate = schedules[0](step)
        for boundary, later in zip(boundaries, schedules[1:]):
            rate = mx.where(step < boundary, rate, later(step - boundary))
        return rate
    return schedule


def linear_schedule(init: float, end: float, steps: int) -> Schedule:
    """From `init` to `end` at step `steps` in a line, then `end`.

    Raises ArgumentError for steps below 1.

    >>> linear_schedule(0.0, 0.1, 100)(mx.array(50))
    array(0.05, dtype=float32)
    """
    if steps < 1:
        raise ArgumentError(f"[linear_schedule] steps must be at least 1, got {steps}.")

    def schedule(step: Any) -> Any:
        return mx.minimum(step, steps) * ((end - init) / steps) + init
    return schedule
