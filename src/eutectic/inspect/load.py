"""How much of the processors other programs use meanwhile."""

from __future__ import annotations

import os
import time

BUSY = 0.15
"""Part of the processors' time in other hands above which timing is called disturbed."""


class Others:
    """Watches the processors that this process may use, from its making on."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._busy, self._own = _busy_seconds(), _own_seconds()

    def share(self) -> float:
        """Part of the processors' time that others used so far; 0 where the system does not say.

        >>> 0 <= Others().share() <= 1
        True
        """
        elapsed = time.perf_counter() - self._start
        busy = _busy_seconds()
        if busy is None or self._busy is None:
            return 0.0
        others = busy - self._busy - (_own_seconds() - self._own)
        return min(max(others / (elapsed * len(_processors())), 0.0), 1.0)


def _processors() -> set[int]:
    try:
        return os.sched_getaffinity(0)
    except (AttributeError, OSError):
        return set(range(os.cpu_count() or 1))


def _busy_seconds() -> float | None:
    """Seconds that our processors were busy since they started, time lost to other machines
    included; None where the system does not say."""
    names = {f"cpu{i}" for i in _processors()}
    ticks = 0
    try:
        with open("/proc/stat") as file:
            for line in file:
                fields = line.split()
                if fields[0] in names:
                    user, nice, system, _idle, _wait, irq, soft, steal = map(int, fields[1:9])
                    ticks += user + nice + system + irq + soft + steal
        return ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return None


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system
