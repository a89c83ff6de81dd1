"""All benchmarks in one table, each row with its bar and its aim.

    python benchmarks/run.py [--rounds 3] [--only ROW,...] [--python NAME=PATH ...] [--json FILE]
                             [--markdown]

Workload rows: plain and compiled time of Eutectic, the best peer's compiled time, and the ratio of
the two compiled times, which is what bar and aim speak of (1.00 is as fast as the fastest peer).
Overhead rows: bar and aim are in the row's own unit. `--markdown` prints the table for the README.
Peers that are not installed are said in a line. Takes about 20 minutes with all peers, most of it
torch.compile's first calls; `--rounds 1` gives a quick look.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import frameworks
import harness
import overhead
import peers
from harness import Interpreters

SUBJECT = "eutectic"


@dataclass(frozen=True)
class Goal:
    """What a row must reach (`bar`) and should reach (`aim`): at most these numbers."""

    bar: float | None = None
    aim: float | None = None

    def verdict(self, value: float | None) -> str:
        if value is None or (self.bar is None and self.aim is None):
            return ""
        if self.aim is not None and value <= self.aim:
            return "aim met"
        if self.bar is None:
            return "aim missed"
        return "bar met" if value <= self.bar else "BAR MISSED"


# Ratios to the best peer's compiled time.
WORKLOAD_GOALS = {
    "chain20_512": Goal(bar=1.0),
    "chain1_512": Goal(bar=1.0),
    "chain20_4096": Goal(bar=1.0),
    "chain1_4096": Goal(bar=1.0),
    "gelu_32M": Goal(bar=1.0),
    "softmax_mask": Goal(bar=1.0),
    "ln_res_silu": Goal(bar=1.0),
    "small100ops": Goal(bar=1.0),
    "anchor_kan": Goal(bar=1.0),
    "pairwise": Goal(bar=1.0),
    "matmul1024": Goal(bar=1.0),
}

# Milliseconds. "Tens of milliseconds" for a first call and one for a new shape are promises of the
# README; the rest has no goal yet and is there to be watched.
OVERHEAD_GOALS = {
    "call_small": Goal(),
    "call_list100": Goal(),
    "first_seed": Goal(bar=100),
    "first_small": Goal(bar=100),
    "warm_seed": Goal(),
    "warm_small": Goal(),
    "new_shape": Goal(bar=1),
    "import": Goal(),
}

HEADER = ("what", "plain", "compiled", "best peer", "ratio", "bar", "aim", "")


@dataclass(frozen=True)
class Row:
    """One line of the table, already as text, and what it was made from."""

    name: str
    cells: tuple[str, ...]
    record: dict[str, object]
    failed: bool


def workload_rows(
    names: list[str], chosen: list[str], rounds: int, pythons: Interpreters
) -> Iterator[Row]:
    for found in peers.compare(names, chosen, rounds, pythons):
        own, best, ratio = found.median(SUBJECT), found.best_peer(SUBJECT), found.ratio(SUBJECT)
        goal = WORKLOAD_GOALS[found.workload]
        yield Row(
            found.workload,
            (
                found.workload,
                f"{own['plain']:.3f} ms" if own else "error",
                f"{own['compiled']:.3f} ms" if own else found.errors.get(SUBJECT, "-"),
                f"{best[1]:.3f} ms ({best[0]})" if best else "-",
                number(ratio),
                number(goal.bar),
                number(goal.aim),
                goal.verdict(ratio),
            ),
            found.record(),
            own is None,
        )


def overhead_rows(
    names: list[str], chosen: list[str], rounds: int, pythons: Interpreters
) -> Iterator[Row]:
    for found in overhead.compare(names, chosen, rounds, pythons):
        case = found.case
        own, best = found.median(SUBJECT), found.best_peer(SUBJECT)
        goal = OVERHEAD_GOALS[case.name]
        yield Row(
            case.name,
            (
                case.title,
                "",
                case.show(own) if own is not None else found.errors.get(SUBJECT, "-"),
                f"{case.show(best[1])} ({best[0]})" if best else "-",
                number(own / best[1] if own is not None and best else None),
                case.show(goal.bar) if goal.bar is not None else "-",
                case.show(goal.aim) if goal.aim is not None else "-",
                goal.verdict(own),
            ),
            {**found.samples, "errors": found.errors},
            own is None,
        )


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def text_table(rows: list[Row]) -> str:
    lines = [HEADER, *(row.cells for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    texts = []
    for name, *numbers, verdict in lines:
        aligned = [cell.rjust(width) for cell, width in zip(numbers, widths[1:])]
        texts.append("  ".join([name.ljust(widths[0]), *aligned, verdict]).rstrip())
    return "\n".join(texts)


def markdown_table(rows: list[Row]) -> str:
    """The columns a reader of the README needs."""
    lines = ["| | plain | compiled | best peer | ratio |", "|---|--:|--:|--:|--:|"]
    lines += ["| " + " | ".join(row.cells[:5]) + " |" for row in rows]
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="ROW,...", help="these rows only")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args(argv)

    known = [*WORKLOAD_GOALS, *OVERHEAD_GOALS]
    only = options.only.split(",") if options.only else known
    if unknown := [name for name in only if name not in known]:
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(known)}")

    pythons = Interpreters.parse(options.python)
    versions = harness.installed(list(frameworks.NAMES), pythons)
    if SUBJECT not in versions:
        return 1
    names = list(versions)
    about = [
        harness.machine(),
        "  ".join(f"{name} {version}" for name, version in versions.items()),
        f"medians of {options.rounds} rounds, each framework and row in its own process",
    ]
    print("\n".join(about), flush=True)

    rows: list[Row] = []
    workloads = [name for name in WORKLOAD_GOALS if name in only]
    cases = [name for name in OVERHEAD_GOALS if name in only]
    for source, chosen in ((workload_rows, workloads), (overhead_rows, cases)):
        for row in source(names, chosen, options.rounds, pythons):
            rows.append(row)
            print(f"  measured {row.name}", file=sys.stderr, flush=True)

    print("\n" + (markdown_table(rows) if options.markdown else text_table(rows)))
    if options.json:
        records = {row.name: row.record for row in rows}
        options.json.write_text(json.dumps({"about": about, "rows": records}, indent=1) + "\n")
    failed = [row.name for row in rows if row.failed]
    if failed:
        print(f"eutectic gave no result for: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
