"""What the scripts of single operations share: options, frameworks taking turns, and the table.

A script has cases and a function for each framework that measures them in a process of its own
(`--one FRAMEWORK`). The frameworks take turns, a round each; the table shows medians over the
rounds, and `ours/peer`: below 1, ours is faster than the fastest peer.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import harness

SUBJECT = "eutectic"

Table = dict[str, dict[str, float]]
"""Times by framework and case."""


def parser(doc: str | None, rounds: int) -> argparse.ArgumentParser:
    """The options that every script has; `doc` is the script's docstring."""
    found = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    found.add_argument("--rounds", type=int, default=rounds)
    found.add_argument("--only", default="", help="cases whose name contains this")
    found.add_argument("--one", help=argparse.SUPPRESS)
    found.add_argument("--python", action="append", default=[], metavar="NAME=PATH",
                       help="the Python that has a framework; NAME may be 'peers'")
    return found


def measure(script: str, frameworks: Sequence[str], options: argparse.Namespace,
            extra: Sequence[str] = (), settings: Mapping[str, str] | None = None,
            scales: Sequence[str] = ()) -> Table:
    """Run the script once a round and framework; medians over the rounds.

    `extra` is added to a child's command line, `settings` to its environment. `scales` are
    measured like frameworks, but need no package of that name. One that fails is said in a line
    and left out.
    """
    pythons = harness.Interpreters.parse(options.python)
    peers = harness.installed([f for f in frameworks if f != SUBJECT], pythons)
    rounds: dict[str, list[dict[str, float]]] = {f: [] for f in (SUBJECT, *peers, *scales)}
    with harness.fresh_cache() as cache:
        env = harness.environment(Path(cache)) | dict(settings or {})
        for _ in range(options.rounds):
            for framework, results in list(rounds.items()):
                try:
                    results.append(harness.run_child(pythons.of(framework), script, framework,
                                                     "--only", options.only, *extra, env=env))
                except harness.ChildError as error:
                    print(f"{framework}: {error}", file=sys.stderr)
                    del rounds[framework]
    return {framework: harness.medians(results) for framework, results in rounds.items()}


def show(table: Table, title: str, digits: int = 2, heading: str = "",
         more: Callable[[str, float], str] = lambda case, time: "",
         scales: Sequence[str] = ()) -> None:
    """Print a row a case; `more` fills a last column from the case and our time."""
    peers = [f for f in table if f not in (SUBJECT, *scales)]
    print(title)
    print(f"{'':28}" + "".join(f"{f:>12}" for f in table) + f"{'ours/peer':>12}{heading:>10}")
    ratios = []
    for case, ours in table.get(SUBJECT, {}).items():
        best = min((table[p][case] for p in peers if case in table[p]), default=math.nan)
        ratios.append(ours / best)
        times = "".join(f"{row[case]:12.{digits}f}" if case in row else f"{'-':>12}"
                        for row in table.values())
        print(f"{case:28}{times}{ratios[-1]:12.2f}{more(case, ours):>10}", flush=True)
    if len(ratios) > 1 and peers:
        print(f"geometric mean of ours/peer: {statistics.geometric_mean(ratios):.2f}")


def main(doc: str | None, script: str, frameworks: Sequence[str], rounds: int,
         child: Callable[[str, str], None]) -> None:
    """The whole of a script of one table in milliseconds; `child(framework, only)` measures."""
    options = parser(doc, rounds).parse_args()
    if options.one:
        child(options.one, options.only)
        return
    table = measure(script, frameworks, options)
    show(table, f"{harness.machine()}; {options.rounds} rounds; ms a call")
