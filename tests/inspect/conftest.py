"""A machine with known limits, so that no test measures one (and none depends on this one)."""

from __future__ import annotations

import time

import pytest

from eutectic.inspect import machine
from eutectic.inspect.machine import Bandwidth, Machine
from eutectic.runtime import pool

POINTS = (Bandwidth(256 << 10, 100e9, 100e9), Bandwidth(64 << 20, 20e9, 10e9))


@pytest.fixture(autouse=True)
def known_machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    known = Machine("a processor", 2, POINTS, 200e9, time.time(), 0.0)
    threads = range(1, pool.MAX_THREADS + 1)
    monkeypatch.setattr(machine, "_machines", dict.fromkeys(threads, known))
    return known
