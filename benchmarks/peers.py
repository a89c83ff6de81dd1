"""The same workloads on several frameworks, side by side in one run.

    python benchmarks/peers.py [eutectic,jax,torch,mlx] [WORKLOAD,...]
        [--rounds 3] [--python NAME=PATH ...] [--json FILE]

Each (framework, workload) runs in a process of its own with empty caches; the frameworks take
turns, ROUNDS times, and the medians over the rounds are printed: plain ms / compiled ms / first
compiled call ms. `ratio` is the first framework's compiled time over the best other one's: below 1
it is faster than every peer. `--python peers=PATH` names one Python for all peers. Peers come with
`pip install 'eutectic[peers]'`; a missing one is said in a line.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import frameworks
import harness
from harness import ChildError, Interpreters
from workloads import WORKLOADS

COLUMNS = ("plain", "compiled", "first")


def measure(framework: str, workload: str) -> dict[str, float]:
    """Runs in the child: the three columns of one framework and workload, in milliseconds."""
    F = frameworks.load(framework)
    function, args = WORKLOADS[workload](F)
    plain = harness.median_ms(lambda: F.wait(function(*args)))
    start = time.perf_counter()
    compiled = F.compile(function)
    F.wait(compiled(*args))
    first = (time.perf_counter() - start) * 1e3
    steady = harness.median_ms(lambda: F.wait(compiled(*args)))
    return {"plain": plain, "compiled": steady, "first": first}


@dataclass
class Comparison:
    """The rounds of every framework on one workload."""

    workload: str
    rounds: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def median(self, framework: str) -> dict[str, float] | None:
        rounds = self.rounds.get(framework)
        return harness.medians(rounds) if rounds else None

    def best_peer(self, subject: str) -> tuple[str, float] | None:
        """The fastest compiled time among all but the subject."""
        others = [name for name in self.rounds if name != subject and self.rounds[name]]
        times = {name: harness.medians(self.rounds[name])["compiled"] for name in others}
        return min(times.items(), key=lambda item: item[1]) if times else None

    def ratio(self, subject: str) -> float | None:
        own, best = self.median(subject), self.best_peer(subject)
        return own["compiled"] / best[1] if own and best else None

    def line(self, names: list[str]) -> str:
        ratio = self.ratio(names[0])
        cells = [f"{self.workload:14s} ratio {'-' if ratio is None else f'{ratio:.2f}':>6s}"]
        for name in names:
            if found := self.median(name):
                plain, compiled, first = (found[column] for column in COLUMNS)
                cells.append(f"{name} {plain:.3f}/{compiled:.3f}/{first:.0f}")
            else:
                cells.append(f"{name} ERROR {self.errors.get(name)}")
        return " | ".join(cells)

    def record(self) -> dict[str, Any]:
        return {
            name: {"error": self.errors[name]}
            if name in self.errors
            else {**harness.medians(rounds), "rounds": rounds}
            for name, rounds in self.rounds.items()
        }


def compare(
    names: list[str], workloads: list[str], rounds: int, pythons: Interpreters
) -> Iterator[Comparison]:
    """Run the frameworks in turn on each workload; one comparison a workload."""
    for workload in workloads:
        result = Comparison(workload, {name: [] for name in names})
        for _ in range(rounds):
            for name in names:
                if name in result.errors:
                    continue
                with harness.fresh_cache() as cache:
                    env = harness.environment(Path(cache))
                    try:
                        child = harness.run_child(
                            pythons.of(name), __file__, name, workload, env=env
                        )
                        result.rounds[name].append(child)
                    except ChildError as error:
                        result.errors[name] = str(error)
                        result.rounds[name].clear()
        yield result


def main(argv: list[str]) -> int:
    if argv[:1] == ["--one"]:
        harness.report(measure(argv[1], argv[2]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("frameworks", nargs="?", default=",".join(frameworks.NAMES))
    parser.add_argument("workloads", nargs="?", default=",".join(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round there")
    options = parser.parse_args(argv)
    workloads = options.workloads.split(",")
    if unknown := [name for name in workloads if name not in WORKLOADS]:
        parser.error(f"no workload {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")

    pythons = Interpreters.parse(options.python)
    versions = harness.installed(options.frameworks.split(","), pythons)
    names = list(versions)
    if not names:
        return 1
    print(harness.machine())
    print("  ".join(f"{name} {version}" for name, version in versions.items()))
    print("plain / compiled / first compiled call, in milliseconds", flush=True)
    records = {}
    for comparison in compare(names, workloads, options.rounds, pythons):
        print(comparison.line(names), flush=True)
        records[comparison.workload] = comparison.record()
    if options.json:
        about = {"machine": harness.machine(), "versions": versions, "rounds": options.rounds}
        options.json.write_text(json.dumps({**about, "workloads": records}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
