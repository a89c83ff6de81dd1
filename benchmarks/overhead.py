"""What a call, a first call, a new shape and the import cost, side by side.

    python benchmarks/overhead.py [eutectic,jax,torch,mlx] [CASE,...]
        [--rounds 3] [--python NAME=PATH ...] [--json FILE]

Each (framework, case) runs in a process of its own. All caches are empty, except for the `warm`
cases, where another process has run the same function before and left its disk cache behind (jax's
own disk cache, off by default, is switched on there).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import frameworks
import harness
from frameworks import Framework
from harness import ChildError, Interpreters

MODULES = {"eutectic": "eutectic.core", "mlx": "mlx.core"}


@dataclass(frozen=True)
class Case:
    """One number: how a child takes it, and in which unit it is shown."""

    name: str
    title: str
    unit: str
    take: Callable[[str], float]  # framework's name -> milliseconds
    warm: bool = False

    def show(self, ms: float) -> str:
        return f"{ms * 1e3:.2f} us" if self.unit == "us" else f"{ms:.2f} ms"


def scale(x):
    return x * 2 + 1


def seed_function(F: Framework) -> Callable:
    """Twenty serial tanh and a sum, on a (512, 512) array."""

    def heavy(x):
        y = x
        for _ in range(20):
            y = F.xp.tanh(y * 1.001 + 0.001)
        return y.sum()

    return heavy


def call_small(name: str) -> float:
    F = frameworks.load(name)
    x = F.array(np.arange(4, dtype=np.float32))
    compiled = F.compile(scale)
    return harness.batch_ms(lambda: F.wait(compiled(x)))


def call_list(name: str) -> float:
    F = frameworks.load(name)
    xs = [F.array(np.full(4, i, np.float32)) for i in range(100)]
    compiled = F.compile(lambda xs: [scale(x) for x in xs])
    return harness.batch_ms(lambda: F.wait(compiled(xs)))


def first_call(F: Framework, function: Callable, shape: tuple[int, ...]) -> float:
    """Milliseconds from `compile` to the first result."""
    x = F.array(np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape))
    start = time.perf_counter()
    F.wait(F.compile(function)(x))
    return (time.perf_counter() - start) * 1e3


def first_seed(name: str) -> float:
    F = frameworks.load(name)
    return first_call(F, seed_function(F), (512, 512))


def first_small(name: str) -> float:
    return first_call(frameworks.load(name), scale, (4,))


def new_shape(name: str) -> float:
    """The whole call; median over nine shapes so small that the work itself is next to nothing."""
    F = frameworks.load(name)
    compiled = F.compile(seed_function(F))

    def once(rows: int, columns: int) -> float:
        x = F.array(np.zeros((rows, columns), np.float32))
        start = time.perf_counter()
        F.wait(compiled(x))
        return (time.perf_counter() - start) * 1e3

    once(512, 512)
    return statistics.median(once(16 + 3 * i, 24 + 5 * i) for i in range(9))


def import_time(name: str) -> float:
    start = time.perf_counter()
    __import__(MODULES.get(name, name))
    return (time.perf_counter() - start) * 1e3


CASES = {
    case.name: case
    for case in (
        Case("call_small", "call of compiled x*2+1, 4 floats", "us", call_small),
        Case("call_list100", "the same on a list of 100 arrays", "us", call_list),
        Case("first_seed", "first compiled call, 20 tanh, cold", "ms", first_seed),
        Case("first_small", "first compiled call, x*2+1, cold", "ms", first_small),
        Case("warm_seed", "first compiled call, 20 tanh, warm disk", "ms", first_seed, warm=True),
        Case("warm_small", "first compiled call, x*2+1, warm disk", "ms", first_small, warm=True),
        Case("new_shape", "known function, first call at a new shape", "ms", new_shape),
        Case("import", "import, new process", "ms", import_time),
    )
}


@dataclass
class Result:
    """The samples of every framework in one case, in milliseconds."""

    case: Case
    samples: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def median(self, framework: str) -> float | None:
        samples = self.samples.get(framework)
        return statistics.median(samples) if samples else None

    def best_peer(self, subject: str) -> tuple[str, float] | None:
        times = {name: self.median(name) for name in self.samples if name != subject}
        found = [(name, time) for name, time in times.items() if time is not None]
        return min(found, key=lambda item: item[1]) if found else None

    def line(self, names: list[str]) -> str:
        cells = [f"{self.case.title:40s}"]
        for name in names:
            ms = self.median(name)
            shown = f"ERROR {self.errors.get(name)}" if ms is None else self.case.show(ms)
            cells.append(f"{name} {shown}")
        return " | ".join(cells)


def take(case: Case, name: str, repeats: int, pythons: Interpreters) -> list[float]:
    """One framework's samples of a case, each from its own process."""
    samples: list[float] = []
    with harness.fresh_cache() as kept:
        # The first of warm cases fills the cache; the first import reads the files from the disk.
        primed = case.warm or case.take is import_time
        for index in range(repeats + primed):
            with harness.fresh_cache() as empty:
                cache = Path(kept if case.warm else empty)
                env = harness.environment(cache, persistent=case.warm)
                child = harness.run_child(pythons.of(name), __file__, name, case.name, env=env)
            if index >= primed:
                samples.append(child["ms"])
    return samples


def compare(
    names: list[str], cases: list[str], rounds: int, pythons: Interpreters
) -> Iterator[Result]:
    """Every case on every framework; cheap cases take more samples."""
    for key in cases:
        result = Result(CASES[key])
        repeats = 3 * rounds if CASES[key].take is import_time else rounds
        for name in names:
            try:
                result.samples[name] = take(CASES[key], name, repeats, pythons)
            except ChildError as error:
                result.errors[name] = str(error)
        yield result


def main(argv: list[str]) -> int:
    if argv[:1] == ["--one"]:
        harness.report({"ms": CASES[argv[2]].take(argv[1])})
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("frameworks", nargs="?", default=",".join(frameworks.NAMES))
    parser.add_argument("cases", nargs="?", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(argv)
    cases = options.cases.split(",")
    if unknown := [name for name in cases if name not in CASES]:
        parser.error(f"no case {', '.join(unknown)}; there are {', '.join(CASES)}")

    pythons = Interpreters.parse(options.python)
    names = list(harness.installed(options.frameworks.split(","), pythons))
    if not names:
        return 1
    print(harness.machine(), flush=True)
    records = {}
    for result in compare(names, cases, options.rounds, pythons):
        print(result.line(names), flush=True)
        records[result.case.name] = {**result.samples, "errors": result.errors}
    if options.json:
        about = {"machine": harness.machine(), "rounds": options.rounds}
        options.json.write_text(json.dumps({**about, "milliseconds": records}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
