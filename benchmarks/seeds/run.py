"""The seeds' systems: plain against compiled, on Eutectic and on mlx where it is installed.

    python benchmarks/seeds/run.py [--only anchor,versor] [--rounds 3] [--size tiny|full] [--large]
        [--python NAME=PATH ...] [--json FILE]

Each (framework, system) runs in a process of its own with empty caches; they take turns, ROUNDS
times, and medians over the rounds are shown. Within a process plain and compiled take turns too.
A measurement is a unit of work of the system: a training step, or the tokens of a decode. `bits`
says whether parameters, optimizer state and losses of plain and compiled are the same after three
units, `threads` whether one thread and all give the same. The bars: compiled is not slower than
plain, and its peak of memory is not higher; a system that misses one is marked. `--large` measures
the training step of 113 million parameters as well.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

import harness
import numpy as np
import seeds
from seeds.system import Step, System

FRAMEWORKS = ("eutectic", "mlx")
UNITS = 3
SLOWER = 1.05
"""Compiled over plain above which a system counts as slower: what differs less is noise."""

Row = dict[str, Any]


def measure(framework: str, name: str, size: str, budget: float) -> Row:
    """Runs in the child: everything about one system on one framework."""
    mx = importlib.import_module(f"{framework}.core")

    def fresh() -> System:
        return seeds.build(framework, name, size)

    def run(system: System, step: Step) -> str:
        """Some units of work; a digest of what they give and leave behind."""
        flatten = importlib.import_module(f"{framework}.utils").tree_flatten
        digest = hashlib.sha256()
        results = [system.run(step) for _ in range(UNITS)]
        for path, x in flatten([results, system.state()]):
            digest.update(path.encode() + np.array(x).tobytes())
        return digest.hexdigest()

    def peak(system: System, step: Step) -> float:
        gc.collect()
        mx.clear_cache()
        mx.reset_peak_memory()
        system.run(step)
        return mx.get_peak_memory() / 2**20

    row: Row = {}
    plain = fresh()
    bits = run(plain, plain.step)
    row["plain_peak"] = peak(plain, plain.step)
    if framework == "eutectic":
        row["plain_kernels"] = float(_plain_kernels(plain))
    del plain
    compiled = fresh()
    try:
        start = time.perf_counter()
        step = compiled.compile()
        compiled.run(step)
        row["first"] = (time.perf_counter() - start) * 1e3
        del compiled
        compiled = fresh()
        row["identical"] = run(compiled, step := compiled.compile()) == bits
    except (RuntimeError, ValueError) as error:
        row["error"] = str(error).splitlines()[0]
    else:
        row["compiled_peak"] = peak(compiled, step)
        if framework == "eutectic":
            row["compiled_kernels"] = float(_compiled_kernels(compiled, step))
            row["traces"] = float(step.stats.traces)
            row["threads"] = _one_thread(lambda: run(one := fresh(), one.compile())) == bits
    plain = fresh()
    calls: list[Callable[[], Any]] = [lambda: plain.run(plain.step)]
    if "error" not in row:
        calls.append(lambda: compiled.run(step))
    row |= dict(zip(("plain", "compiled"), _in_turn(calls, budget)))
    return row


def _in_turn(calls: list[Callable[[], Any]], budget: float) -> list[float]:
    """Median milliseconds of each, one call of each after the other."""
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + budget
    while len(times[0]) < 3 or (time.perf_counter() < end and len(times[0]) < 200):
        for call, own in zip(calls, times):
            start = time.perf_counter()
            call()
            own.append(time.perf_counter() - start)
    return [statistics.median(own) * 1e3 for own in times]


def _plain_kernels(system: System) -> int:
    from eutectic.engine import evaluate
    from eutectic.inspect.measure import run_timed
    from eutectic.inspect.work import kernel_steps

    count = 0

    def watch(_node: Any, plan: Any, addresses: list[int]) -> list[Any]:
        nonlocal count
        count += len(kernel_steps(plan))
        return run_timed(plan, addresses)[0]

    evaluate.watcher = watch
    try:
        (system.one or system.run)(system.step)
    finally:
        evaluate.watcher = None
    return count


def _compiled_kernels(system: System, step: Any) -> int:
    from eutectic.inspect.work import kernel_steps

    seen: list[tuple[Any, ...]] = []

    def noting(*args: Any) -> Any:
        seen.append(args)
        return step(*args)

    (system.one or system.run)(noting)
    return len(kernel_steps(step.lower(*seen[0]).plan))


def _one_thread(call: Callable[[], str]) -> str:
    from eutectic.runtime import pool

    threads = pool.get_num_threads()
    pool.set_num_threads(1)
    try:
        return call()
    finally:
        pool.set_num_threads(threads)


def table(names: list[tuple[str, str]], frameworks: list[str], rounds: int, budget: float,
          pythons: harness.Interpreters, keep_cache: bool = False
          ) -> Iterator[tuple[str, dict[str, Row]]]:
    """(system, row by framework) for each (system, size); a failed child has an `error` alone."""
    for name, size in names:
        # The large model is about our own bars.
        running = frameworks if size != "large" else frameworks[:1]
        found: dict[str, list[Row]] = {framework: [] for framework in running}
        for _ in range(rounds):
            for framework in running:
                if any("error" in row for row in found[framework]):
                    continue
                with harness.fresh_cache() as cache:
                    env = environment(Path(cache), keep_cache)
                    try:
                        found[framework].append(harness.run_child(
                            pythons.of(framework), __file__, framework, name, size, str(budget),
                            env=env))
                    except harness.ChildError as error:
                        found[framework].append({"error": str(error)})
        label = name if size != "large" else f"{name}_113M"
        yield label, {framework: combined(rows) for framework, rows in found.items()}


def environment(cache: Path, keep_cache: bool) -> dict[str, str]:
    """A child's environment; with `keep_cache` Eutectic's disk cache is the one it always has."""
    env = harness.environment(cache)
    if keep_cache:
        del env["EUTECTIC_CACHE_DIR"]
        if own := os.environ.get("EUTECTIC_CACHE_DIR"):
            env["EUTECTIC_CACHE_DIR"] = own
    return env


def combined(rows: list[Row]) -> Row:
    """Medians over the rounds; what is true must be so in each; the first error."""
    result: Row = {}
    for key in {k: None for row in rows for k in row}:
        values = [row[key] for row in rows if key in row]
        if isinstance(values[0], bool):
            result[key] = all(values)
        else:
            result[key] = values[0] if key == "error" else statistics.median(values)
    return result


def misses(row: Row) -> list[str]:
    """The bars that a system misses."""
    if "error" in row:
        return [row["error"]]
    found = []
    if row["compiled"] > SLOWER * row["plain"]:
        found.append("slower")
    if row["compiled_peak"] > row["plain_peak"]:
        found.append("more memory")
    if not row.get("identical", True):
        found.append("other bits")
    if not row.get("threads", True):
        found.append("threads differ")
    return found


HEADINGS = ("system", "plain ms", "compiled ms", "speed-up", "first ms", "kernels", "peak MiB",
            "bits", "threads", "mlx plain / compiled ms", "bars")


def cells(name: str, rows: dict[str, Row]) -> list[str]:
    """A line of the table, by column."""
    own, mlx = rows["eutectic"], rows.get("mlx", {})
    if "compiled" not in own:
        return [name, *[""] * (len(HEADINGS) - 2), own.get("error", "")]
    beside = ""
    if "plain" in mlx:
        compiled = f"{mlx['compiled']:.2f}" if "compiled" in mlx else "fails"
        beside = f"{mlx['plain']:.2f} / {compiled}"
    return [name, f"{own['plain']:.2f}", f"{own['compiled']:.2f}",
            f"{own['plain'] / own['compiled']:.2f}x", f"{own['first']:.0f}",
            f"{own['plain_kernels']:.0f} -> {own['compiled_kernels']:.0f}",
            f"{own['plain_peak']:.1f} -> {own['compiled_peak']:.1f}",
            "same" if own["identical"] else "OTHER", "same" if own["threads"] else "OTHER",
            beside, ", ".join(misses(own)) or "ok"]


def main(argv: list[str]) -> int:
    if argv[:1] == ["--one"]:
        harness.report(measure(argv[1], argv[2], argv[3], float(argv[4])))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default=",".join(seeds.MODULES), metavar="NAME,...")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", choices=seeds.SIZES, default="full")
    parser.add_argument("--large", action="store_true", help="train 113 million parameters too")
    parser.add_argument("--budget", type=float, default=1.5, metavar="SECONDS")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    options = parser.parse_args(argv)
    names = [name for name in options.only.split(",") if name]
    if unknown := [name for name in names if name not in seeds.MODULES]:
        parser.error(f"no system {', '.join(unknown)}; there are {', '.join(seeds.MODULES)}")
    wanted = [(name, options.size) for name in names]
    if options.large:
        wanted.append(("train", "large"))
    pythons = harness.Interpreters.parse(options.python)
    versions = harness.installed(list(FRAMEWORKS), pythons)
    print(harness.machine())
    print("  ".join(f"{name} {version}" for name, version in versions.items()))
    print(" | ".join(HEADINGS), flush=True)
    found = {}
    for name, rows in table(wanted, list(versions), options.rounds, options.budget, pythons):
        print(" | ".join(cells(name, rows)), flush=True)
        if error := rows.get("mlx", {}).get("error"):
            print(f"    mlx: {error}", flush=True)
        found[name] = rows
    if options.json:
        about = {"machine": harness.machine(), "versions": versions, "rounds": options.rounds}
        options.json.write_text(json.dumps({**about, "systems": found}, indent=1) + "\n")
    return int(any(misses(rows["eutectic"]) for rows in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
