"""This machine's limits: memory bandwidth by size, and peak arithmetic, measured with our kernels.

- *Read*: the sum of a float32 array of w bytes, back to back; bytes of the array per second.
- *Copy*: a copy of w/2 bytes to w/2 bytes; bytes read and written per second (what the processor
  reads because it writes is not counted, as in STREAM).
- *Arithmetic*: independent chains of float32 fma in registers; an fma is two operations.

w runs from 256 KiB to four times the last cache, on the threads in use. Each rate is the best of
seven, since a limit is what the machine can do undisturbed, and never below that of a larger
working set. The result is kept in the disk cache for a day under the processor, the host's name
and the number of threads, unless other programs took part of the processors meanwhile.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from eutectic.array import array
from eutectic.config import VERSION
from eutectic.dtype import float32
from eutectic.engine.pipeline import compile_graph
from eutectic.engine.plan import Plan
from eutectic.graph import prims
from eutectic.graph.ir import INPUT, Graph, Node
from eutectic.inspect.load import BUSY, Others
from eutectic.inspect.work import Work, plan_work
from eutectic.kernel.prim import Prim
from eutectic.kernel.scalar import Value, fma
from eutectic.runtime import buffers, diskcache, jit, pool

SMALLEST = 256 << 10
LARGEST = 512 << 20
KEPT_SECONDS = 86400.0
_ROUNDS = 7
_SAMPLE_SECONDS = 2e-3
_CHAIN = 64
"""fma in each chain of the arithmetic kernel."""
_FMA_COUNT = 1 << 16
"""Elements of the arithmetic kernel: few bytes for its work."""
_CHAINS = (1, 2, 4)
"""Chains tried: the best number depends on the registers and the latency."""


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Rates for a working set, in bytes per second."""

    working_set: int
    read: float
    copy: float


@dataclass(frozen=True, slots=True)
class Machine:
    """What was measured of this machine."""

    processor: str
    threads: int
    bandwidth: tuple[Bandwidth, ...]
    """By working set, smallest first."""
    flops: float
    """float32 operations per second; float64 is taken as half of it."""
    measured: float
    """When, in seconds since 1970."""
    others: float
    """Part of the processors' time that other programs used meanwhile."""

    @property
    def disturbed(self) -> bool:
        """Whether other programs held the processors while the limits were measured."""
        return self.others > BUSY

    def rates(self, working_set: float) -> tuple[float, float]:
        """(read, copy) rates for a working set, between the measured ones by its logarithm."""
        points = self.bandwidth
        size = min(max(working_set, points[0].working_set), points[-1].working_set)
        for a, b in itertools.pairwise(points):
            if size < b.working_set:
                t = math.log(size / a.working_set) / math.log(b.working_set / a.working_set)
                return _between(a.read, b.read, t), _between(a.copy, b.copy, t)
        return points[-1].read, points[-1].copy

    def memory_seconds(self, work: Work) -> float:
        """The least time in which memory gives and takes a kernel's bytes.

        Reading costs what the read test says. Writing costs what is left of the copy test once
        its reading is paid.
        """
        read, copy = self.rates(work.moved)
        writing = max(2 / copy - 1 / read, 1 / (2 * copy))
        return work.read / read + work.written * writing

    def arithmetic_seconds(self, work: Work) -> float:
        """The least time in which the arithmetic units issue a kernel's instructions."""
        return work.instructions / (self.flops / 2)


def _between(a: float, b: float, t: float) -> float:
    return math.exp((1 - t) * math.log(a) + t * math.log(b))


_machines: dict[int, Machine] = {}


def machine(fresh: bool = False) -> Machine:
    """The limits for the number of threads in use; measured (a second) if not known.

    `fresh` measures anew.
    """
    threads = pool.get_num_threads()
    found = _machines.get(threads)
    if fresh or found is None:
        found = None if fresh else _load(threads)
        if found is None:
            found = _measure(threads)
            if not found.disturbed:
                diskcache.default().put(_key(threads), json.dumps(asdict(found)).encode())
        _machines[threads] = found
    return found


def _key(threads: int) -> str:
    host = jit.host()
    parts = ["machine", *Machine.__slots__, VERSION, host.cpu, host.features, platform.node(),
             processor(), str(threads)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _load(threads: int) -> Machine | None:
    data = diskcache.default().get(_key(threads))
    if data is None:
        return None
    fields = json.loads(data)
    if not 0 <= time.time() - fields["measured"] < KEPT_SECONDS:
        return None
    points = tuple([Bandwidth(**b) for b in fields.pop("bandwidth")])
    return Machine(bandwidth=points, **fields)


def _measure(threads: int) -> Machine:
    others = Others()
    sizes = _working_sets()
    tests = []
    for size in sizes:
        tests.append(_Test(_plan(size // 4, _sum), size // 4, size))
        tests.append(_Test(_plan(size // 8, _copy), size // 8, size))
    for chains in _CHAINS:
        plan = _plan(_FMA_COUNT, functools.partial(_fma, chains=chains))
        tests.append(_Test(plan, _FMA_COUNT, plan_work(plan).flops))
    for _ in range(_ROUNDS):
        for test in tests:
            test.run()
    points: list[Bandwidth] = []
    read = copy = 0.0
    for i, size in reversed(list(enumerate(sizes))):
        read, copy = max(read, tests[2 * i].best), max(copy, tests[2 * i + 1].best)
        points.insert(0, Bandwidth(size, read, copy))
    flops = max([test.best for test in tests[2 * len(sizes):]])
    return Machine(processor(), threads, tuple(points), flops, time.time(), others.share())


def _working_sets() -> list[int]:
    last = min(max(4 * last_cache_bytes(), 16 << 20), LARGEST, buffers.physical_memory() // 8)
    sizes = [SMALLEST]
    while sizes[-1] * 4 <= last:
        sizes.append(sizes[-1] * 4)
    return sizes if sizes[-1] * 2 > last else [*sizes, last // 4096 * 4096]


class _Test:
    """One plan run again and again on memory of its own; the best amount per second so far."""

    def __init__(self, plan: Plan, count: int, amount: float) -> None:
        self.amount = amount
        self.best = 0.0
        source = array(np.full(count, 1.0, np.float32))
        made = [buffers.alloc(n) for n in [*plan.fresh, *([plan.arena] if plan.arena else [])]]
        self._keep = (plan, source, made)
        self._addresses = [source._n.data.ptr, *[b.ptr for b in made]]
        self._repeat = 1
        self._time()
        self._repeat = max(1, int(_SAMPLE_SECONDS / max(self._time(), 1e-7)))

    def _time(self) -> float:
        """Seconds of `_repeat` runs."""
        plan, addresses = self._keep[0], self._addresses
        run, address = plan.native_run, plan.address
        assert run is not None
        start = time.perf_counter()
        for _ in range(self._repeat):
            run(address, addresses)
        return time.perf_counter() - start

    def run(self) -> None:
        """One round."""
        self.best = max(self.best, self.amount * self._repeat / self._time())


def _plan(count: int, build: Callable[[Node], Node]) -> Plan:
    x = Node(INPUT, (), (), (count,), float32)
    return compile_graph(Graph([x], [build(x)], "machine"))


def _sum(x: Node) -> Node:
    return Node(prims.REDUCE["sum"], (x,), ((0,),), (), float32)


def _copy(x: Node) -> Node:
    return Node(prims.COPY, (x,), (), x.shape, float32)


def _fma(x: Node, chains: int) -> Node:
    return Node(_FMA, (x,), (chains,), x.shape, float32)


def _fma_body(x: Value, chains: int) -> Value:
    parts = [x + float(i) for i in range(chains)]
    for _ in range(_CHAIN):
        parts = [fma(p, 0.5, 1.0) for p in parts]
    out = parts[0]
    for p in parts[1:]:
        out = out + p
    return out


_FMA = Prim("fma_chains", "elementwise", body=_fma_body)


def processor() -> str:
    """The processor's name as the system tells it."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith(("model name", "Model")):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def last_cache_bytes() -> int:
    """Bytes of the largest cache of the first processor; 32 MiB where the system does not say."""
    root = "/sys/devices/system/cpu/cpu0/cache"
    sizes = [0]
    try:
        for entry in os.listdir(root):
            if entry.startswith("index"):
                with open(f"{root}/{entry}/size") as file:
                    text = file.read().strip()
                unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1], 1)
                sizes.append(int(text.rstrip("KMG")) * unit)
    except (OSError, ValueError):
        pass
    return max(sizes) or 32 << 20

