"""What all benchmarks share: child processes, their environment, timing, medians.

Every number comes from a child process of its own, so that no framework's threads, memory or caches
touch another's. A child prints one line `RESULT {json}`.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Settings of the BLAS that some machines carry; they would change what the peers measure.
REMOVED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
TIMEOUT_S = 600
PREFIX = "RESULT "


class ChildError(Exception):
    """A child that gave no result; the text is the reason in a line."""


def median_ms(
    call: Callable[[], object], budget_s: float = 1.5, low: int = 5, high: int = 200
) -> float:
    """Median milliseconds of a call: 2 warm-up calls, then `low` to `high` within the budget."""
    call()
    call()
    times: list[float] = []
    end = time.perf_counter() + budget_s
    while (len(times) < low or time.perf_counter() < end) and len(times) < high:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def batch_ms(call: Callable[[], object], budget_s: float = 1.0) -> float:
    """Median milliseconds of a call too short to time alone: batches of about 5 ms.

    Half a second of calls goes first: frameworks prepare faster paths while they are called.
    """
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        call()
    start = time.perf_counter()
    for _ in range(20):
        call()
    each = (time.perf_counter() - start) / 20
    size = max(1, int(0.005 / each))

    def batch() -> None:
        for _ in range(size):
            call()

    return median_ms(batch, budget_s) / size


def short_us(call: Callable[[], object], budget_s: float = 0.4) -> float:
    """Microseconds of a call of any length: batches of at least 200 us, the median of their means.

    For calls that a framework runs at full speed from the second one on.
    """
    call()
    start = time.perf_counter()
    call()
    size = max(1, int(200e-6 / max(time.perf_counter() - start, 1e-7)))
    times: list[float] = []
    end = time.perf_counter() + budget_s
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        for _ in range(size):
            call()
        times.append((time.perf_counter() - start) / size)
    return statistics.median(times) * 1e6


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The median of every column over the rounds."""
    return {key: statistics.median(each[key] for each in rounds) for key in rounds[0]}


def environment(cache: Path, persistent: bool = False) -> dict[str, str]:
    """The environment of a child whose every cache lies below `cache`.

    `persistent` also turns on the caches that a framework has but leaves off (jax).
    """
    result = {name: value for name, value in os.environ.items() if name not in REMOVED}
    temporary = cache / "tmp"  # where mlx and torch keep what they compile
    temporary.mkdir(parents=True, exist_ok=True)
    result |= {"TMPDIR": str(temporary), "EUTECTIC_CACHE_DIR": str(cache / "eutectic")}
    result.pop("TORCHINDUCTOR_CACHE_DIR", None)
    if persistent:
        result |= {
            "JAX_COMPILATION_CACHE_DIR": str(cache / "jax"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
    return result


def run_child(python: str, script: str, *args: str, env: dict[str, str]) -> dict[str, Any]:
    """Run `script --one args...` and return what it reported."""
    command = [python, script, "--one", *args]
    try:
        child = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=env)
    except subprocess.TimeoutExpired:
        raise ChildError(f"no result after {TIMEOUT_S} s") from None
    for line in reversed(child.stdout.splitlines()):
        if line.startswith(PREFIX):
            return json.loads(line.removeprefix(PREFIX))
    errors = child.stderr.strip().splitlines()
    raise ChildError(errors[-1][:120] if errors else f"exit status {child.returncode}, no output")


def report(result: dict[str, float]) -> None:
    """Called in a child: hand the result to the parent."""
    print(PREFIX + json.dumps(result), flush=True)


def fresh_cache() -> tempfile.TemporaryDirectory[str]:
    """An empty directory for a child's caches."""
    return tempfile.TemporaryDirectory(prefix="eutectic-bench-", ignore_cleanup_errors=True)


@dataclass
class Interpreters:
    """Which Python runs which framework (`--python NAME=PATH`, `--python peers=PATH`)."""

    paths: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, items: Iterable[str]) -> Interpreters:
        pairs = [item.partition("=") for item in items]
        for name, equals, path in pairs:
            if not equals or not Path(path).exists():
                raise SystemExit(f"--python {name}{equals}{path}: give NAME=PATH of a Python")
        return cls({name: path for name, _, path in pairs})

    def of(self, framework: str) -> str:
        peers = sys.executable if framework == "eutectic" else self.paths.get("peers")
        return self.paths.get(framework) or peers or sys.executable

    def version(self, framework: str) -> str | None:
        """The installed version of a framework, or None where it is missing."""
        code = f"import importlib.metadata as m; print(m.version({framework!r}))"
        child = subprocess.run([self.of(framework), "-c", code], capture_output=True, text=True)
        return child.stdout.strip() or None if child.returncode == 0 else None


def installed(names: list[str], pythons: Interpreters) -> dict[str, str]:
    """The frameworks that are there, with their versions; the others are said in a line."""
    versions = {name: pythons.version(name) for name in names}
    for name in [name for name, version in versions.items() if version is None]:
        print(f"{name}: not installed for {pythons.of(name)}, left out", file=sys.stderr)
    return {name: version for name, version in versions.items() if version is not None}


def machine() -> str:
    """The processor and the number of cores that this process may use."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith(("model name", "Model")):
                model = line.partition(":")[2].strip()
                break
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}"
