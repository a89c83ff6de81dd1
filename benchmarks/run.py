"""All benchmarks in two tables, each row with its bar, its aim (goals.py) and whether it is met.

    python benchmarks/run.py [--api] [--rounds 3] [--only ROW,...] [--python NAME=PATH ...]
                             [--json FILE] [--markdown]

Without `--api`: compiled functions, calls, first calls. With it: single operations of the array API
(plain calls; for jax, jitted ones). `value` is what bar and aim speak of: a ratio to the best
peer's time (1.00 is as fast as the fastest), a speed-up (4.0x) or a time. `--markdown` prints the
table for the README. Peers that are not installed are said in a line. The first table takes about
20 minutes with all peers, most of it torch.compile's first calls; `--rounds 1` gives a quick look.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import frameworks
import goals
import harness
import overhead
import peers
from goals import Goal
from harness import ChildError, Interpreters

SUBJECT = "eutectic"
HEADER = ("what", "plain", "eutectic", "best peer", "value", "bar", "aim", "")

TITLES = {
    "speed-up": "chain20_512, speed-up by compiling",
    "plain_over_mlx": "chain20_512, plain against mlx compiled",
} | {name: case.title for name, case in overhead.CASES.items()}

# The API's scripts: what is added to their command line, and the milliseconds in their unit.
EXTRA = {"matmul.py": ("--api",)}
UNITS = {"matmul.py": 1e-3, "convolution.py": 1e-3}


@dataclass(frozen=True)
class Row:
    """One line of the table and what it was made from."""

    goal: Goal
    plain: float | None  # milliseconds, all three
    own: float | None
    best: tuple[str, float] | None
    value: float | None
    reason: str = ""  # why there is no value
    record: dict[str, object] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return TITLES.get(self.goal.name, self.goal.name)

    def cells(self) -> tuple[str, ...]:
        best = f"{time(self.best[1])} ({self.best[0]})" if self.best else "-"
        goal = self.goal
        return (
            self.title,
            "" if self.plain is None else time(self.plain),
            self.reason[:60] or "-" if self.own is None else time(self.own),
            best,
            shown(goal, self.value),
            shown(goal, goal.bar),
            shown(goal, goal.aim),
            goal.verdict(self.value),
        )


def time(ms: float) -> str:
    if ms < 0.1:
        return f"{ms * 1e3:.2f} us"
    return f"{ms:.3f} ms" if ms < 10 else f"{ms:.1f} ms"


def shown(goal: Goal, value: float | None) -> str:
    """A value in the unit of its goal."""
    if value is None:
        return "-"
    if goal.kind == goals.TIME:
        return time(value)
    return f"{value:.2f}x" if goal.at_least else f"{value:.2f}"


def workload_rows(
    names: list[str], chosen: list[Goal], rounds: int, pythons: Interpreters
) -> Iterator[Row]:
    """Rows of the same workload share its measurement."""
    for found in peers.compare(names, list(dict.fromkeys(g.case for g in chosen)), rounds, pythons):
        own, best, mlx = found.median(SUBJECT), found.best_peer(SUBJECT), found.median("mlx")
        for goal in [g for g in chosen if g.case == found.workload]:
            value = None
            if goal.kind == goals.RATIO:
                value = found.ratio(SUBJECT)
            elif own and goal.kind == goals.SPEED_UP:
                value = own["plain"] / own["compiled"]
            elif own and mlx and goal.kind == goals.OVER_MLX:
                value = mlx["compiled"] / own["plain"]
            yield Row(
                goal,
                own and own["plain"],
                own and own["compiled"],
                ("mlx", mlx["compiled"]) if mlx and goal.kind == goals.OVER_MLX else best,
                value,
                found.errors.get(SUBJECT, ""),
                found.record(),
            )


def overhead_rows(
    names: list[str], chosen: list[Goal], rounds: int, pythons: Interpreters
) -> Iterator[Row]:
    results = overhead.compare(names, [g.case for g in chosen], rounds, pythons)
    for goal, found in zip(chosen, results):
        own = found.median(SUBJECT)
        record = {**found.samples, "errors": found.errors}
        reason = found.errors.get(SUBJECT, "")
        yield Row(goal, None, own, found.best_peer(SUBJECT), own, reason, record)


def operation_rows(
    names: list[str], chosen: list[Goal], rounds: int, pythons: Interpreters
) -> Iterator[Row]:
    """Rows of the API's scripts: every framework in turn, in processes of their own."""
    for goal in chosen:
        known = importlib.import_module(goal.script.removesuffix(".py")).FRAMEWORKS
        samples: dict[str, list[float]] = {
            name: [] for name in (*names, "safetensors") if name in known}
        errors: dict[str, str] = {}
        script = str(Path(__file__).parent / goal.script)
        extra = ("--only", goal.case, *EXTRA.get(goal.script, ()))
        with harness.fresh_cache() as cache:
            env = harness.environment(Path(cache))
            for _ in range(rounds):
                for name in samples:
                    if name in errors:
                        continue
                    try:
                        child = harness.run_child(pythons.of(name), script, name, *extra, env=env)
                        samples[name].append(child[goal.case] * UNITS.get(goal.script, 1.0))
                    except ChildError as error:
                        errors[name] = str(error)
        medians = {n: statistics.median(s) for n, s in samples.items() if s and n not in errors}
        own = medians.pop(SUBJECT, None)
        best = min(medians.items(), key=lambda item: item[1]) if medians else None
        for name, error in errors.items():
            print(f"  {goal.name}: {name}: {error}", file=sys.stderr)
        yield Row(goal, None, own, best, own / best[1] if own and best else None,
                  errors.get(SUBJECT, ""), {**samples, "errors": errors})


def text_table(rows: list[Row]) -> str:
    lines = [HEADER, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    texts = []
    for name, *numbers, verdict in lines:
        aligned = [cell.rjust(width) for cell, width in zip(numbers, widths[1:])]
        texts.append("  ".join([name.ljust(widths[0]), *aligned, verdict]).rstrip())
    return "\n".join(texts)


def markdown_table(rows: list[Row]) -> str:
    """The columns that hold something, for the README."""
    lines = [HEADER, *(row.cells() for row in rows)]
    kept = [i for i in range(len(HEADER)) if any(line[i] for line in lines[1:])]
    header, *body = ["| " + " | ".join(line[i] for i in kept) + " |" for line in lines]
    rule = "|---" + "|--:" * (len(kept) - 2) + "|---|"
    return "\n".join([header, rule, *body])


def summary(rows: list[Row]) -> str:
    verdicts = [row.goal.verdict(row.value) for row in rows]
    missed = [row.title for row, verdict in zip(rows, verdicts) if verdict == "BAR MISSED"]
    text = f"{len(rows) - len(missed) - verdicts.count('')} of {len(rows)} bars met"
    return text + (f"; missed: {', '.join(missed)}" if missed else "")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--api", action="store_true", help="the table of single operations")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="ROW,...", help="these rows only")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args(argv)

    table = goals.API if options.api else goals.COMPILING
    known = [goal.name for goal in table]
    only = options.only.split(",") if options.only else known
    if unknown := [name for name in only if name not in known]:
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(known)}")

    pythons = Interpreters.parse(options.python)
    versions = harness.installed(list(frameworks.NAMES), pythons)
    if SUBJECT not in versions:
        return 1
    about = [
        harness.machine(),
        "  ".join(f"{name} {version}" for name, version in versions.items()),
        f"medians of {options.rounds} rounds, each framework and row in its own process",
    ]
    print("\n".join(about), flush=True)

    rows: list[Row] = []
    sources = {"peers.py": workload_rows, "overhead.py": overhead_rows}
    scripts = list(sources) if not options.api else ["*"]
    for script in scripts:
        chosen = [g for g in table if g.name in only and script in (g.script, "*")]
        source = sources.get(script, operation_rows)
        for row in source(list(versions), chosen, options.rounds, pythons):
            rows.append(row)
            print(f"  measured {row.goal.name}", file=sys.stderr, flush=True)

    print("\n" + (markdown_table(rows) if options.markdown else text_table(rows)))
    print("\n" + summary(rows))
    if options.json:
        records = {row.goal.name: {"value": row.value, **row.record} for row in rows}
        options.json.write_text(json.dumps({"about": about, "rows": records}, indent=1) + "\n")
    failed = [f"{row.goal.name} ({row.reason})" for row in rows if row.own is None]
    if failed:
        print(f"eutectic gave no result for: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
