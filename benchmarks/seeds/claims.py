"""Writes docs/claims.md: every fact of the seeds, what was measured here, and the verdict.

    eutectic claims [--quick] [--large] [--out FILE] [--python NAME=PATH ...]
    python benchmarks/seeds/claims.py        (the same)

Every number comes from a process of its own. `--quick` takes tiny arrays and one short round, to
see that everything runs: its speeds mean nothing.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])

import harness
import seeds
from seeds import checks, facts, run

PAGE = Path(__file__).parents[2] / "docs" / "claims.md"
HEAD = """\
# What the seeds claim, and what is so

Eutectic began from two texts: a sheet of facts that people noted about `mx.compile` while they used
it on models of theirs, and a page that measures it. This page goes through all they say. It is
written by `eutectic claims` (in a checkout), which runs everything that stands here.

{about}

`holds`: so it is here. `no longer so`: a limit that the fact states and that Eutectic does not
have. `settled`: the sheet disagrees with itself. `-`: cannot be run. The speeds are those of a CPU,
whose kernel launches are cheap, and the systems are our designs from names and outcomes.

{counts}
"""


def gather(quick: bool, large: bool, rounds: int, pythons: harness.Interpreters,
           versions: dict[str, str], progress: Callable[[float, str], None]) -> checks.Found:
    """Run every check and every system."""
    alone = [name for name in checks.ALONE if name != "mlx_globals" or "mlx" in versions]
    size = "tiny" if quick else "full"
    names = [(name, size) for name in seeds.MODULES] + [("train", "large")] * large
    total, done = len(alone) + len(names), 0
    numbers: dict[str, Any] = {}
    for name in alone:
        progress(done / total, name)
        with harness.fresh_cache() as cache:
            env = run.environment(Path(cache), keep_cache=quick)
            numbers[name] = harness.run_child(
                pythons.of("eutectic"), __file__, name, str(int(quick)), env=env)
        done += 1
    systems: dict[str, dict[str, Any]] = {}
    progress(done / total, names[0][0])
    for name, rows in run.table(names, list(versions), rounds, 0.05 if quick else 1.5, pythons,
                                keep_cache=quick):
        if "compiled" not in rows["eutectic"]:
            raise harness.ChildError(f"{name}: {rows['eutectic'].get('error')}")
        systems[name] = rows
        done += 1
        progress(done / total, name)
    return checks.Found(numbers, systems)


def render(found: checks.Found, about: str) -> str:
    """The page."""
    used = dict.fromkeys(fact.check for fact in facts.FACTS if fact.check)
    outcomes = {name: checks.CHECKS[name](found) for name in used}
    verdicts = Counter(outcomes[f.check].verdict if f.check else "-" for f in facts.FACTS)
    counts = f"{len(facts.FACTS)} facts: " + ", ".join(
        f"{number} {'cannot be run' if verdict == '-' else verdict}"
        for verdict, number in verdicts.most_common()) + "."
    lines = [HEAD.format(about=about, counts=counts), "## The facts", "",
             "| source | fact | verdict | check |", "|---|---|---|---|"]
    for fact in facts.FACTS:
        verdict = outcomes[fact.check].verdict if fact.check else "-"
        check = f"[{fact.check}](#{fact.check})" if fact.check else fact.why
        lines.append(f"| {fact.source} | {fact.text} | {verdict} | {check} |")
    lines += ["", "## The checks"]
    for name, outcome in outcomes.items():
        lines += ["", f"### {name}", "", f"{_sentence(outcome.verdict)}. {outcome.measured}"]
    lines += ["", "## The systems", "", "From `benchmarks/seeds/run.py`, whose docstring says how "
              "to read the table.", "", "| " + " | ".join(run.HEADINGS) + " |",
              "|" + "---|" * len(run.HEADINGS)]
    lines += ["| " + " | ".join(run.cells(name, rows)) + " |"
              for name, rows in found.systems.items()]
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def one(name: str, quick: bool) -> dict[str, Any]:
    """Runs in the child: the numbers of one check."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `shapes` makes the traces that are warned of
        return checks.ALONE[name](quick)


def main(argv: list[str], progress: Callable[[float, str], None] | None = None) -> int:
    if argv[:1] == ["--one"]:
        harness.report(one(argv[1], argv[2] == "1"))
        return 0
    parser = argparse.ArgumentParser(prog="eutectic claims",
                                     description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true",
                        help="tiny arrays, one short round, without mlx: speeds mean nothing")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="where the page goes (docs/claims.md; with --quick standard output)")
    parser.add_argument("--large", action="store_true",
                        help="the training step of 113 million parameters too (10 GiB)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the systems (3)")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH",
                        help="the Python that has eutectic or mlx")
    options = parser.parse_args(argv)
    pythons = harness.Interpreters.parse(options.python)
    versions = harness.installed(["eutectic"] if options.quick else list(run.FRAMEWORKS), pythons)

    def say(part: float, text: str) -> None:
        print(f"{part:4.0%} {text}", file=sys.stderr, flush=True)

    try:
        found = gather(options.quick, options.large, 1 if options.quick else options.rounds,
                       pythons, versions, progress or say)
    except harness.ChildError as error:
        print(f"eutectic claims: {error}", file=sys.stderr)
        return 1
    about = f"{datetime.date.today()}, {harness.machine()}; " + ", ".join(
        f"{name} {version}" for name, version in versions.items()) + "." + (
        " A short run: its speeds mean nothing." if options.quick else "")
    page = render(found, about)
    out = options.out or (None if options.quick else PAGE)
    if out is None:
        print(page, end="")
    else:
        out.write_text(page)
        print(f"wrote {out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
