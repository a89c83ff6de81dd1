"""docs/claims.md and the command that writes it: every fact, executed at tiny sizes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from eutectic import cli
from eutectic.inspect import claims as command

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from seeds import checks, claims, facts, run

ROOT = Path(__file__).parents[1]


def rows(page: str) -> list[list[str]]:
    section = page.partition("## The facts")[2].partition("## The checks")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_fact_has_a_check_or_a_reason() -> None:
    """The sheet counts 15 mentions and 23 facts, and two disagreements."""
    assert (len(facts.INBOUND), len(facts.ROWS), len(facts.DISPUTES)) == (15, 23, 2)
    assert len({f.text for f in facts.FACTS}) == len(facts.FACTS)
    for fact in facts.FACTS:
        assert bool(fact.check) != bool(fact.why), fact
    assert {f.check for f in facts.FACTS if f.check} == set(checks.CHECKS)


def test_the_page_lists_every_fact() -> None:
    page = (ROOT / "docs" / "claims.md").read_text()
    assert [row[:2] for row in rows(page)] == [[f.source, f.text] for f in facts.FACTS]
    headings = set(re.findall(r"^### (.*)$", page, re.MULTILINE))
    assert headings == set(checks.CHECKS)
    assert "short run" not in page


def test_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Every check runs; those that do not depend on speed come out as on the page."""
    page = tmp_path / "claims.md"
    assert cli.main(["claims", "--quick", "--out", str(page)]) == 0
    assert "100% train" in capfd.readouterr().err
    found, written = rows(page.read_text()), rows(claims.PAGE.read_text())
    assert [row[:2] for row in found] == [row[:2] for row in written]
    behaviour = {"fusion", "bits", "divergence", "layout", "tolist", "globals", "rotational",
                 "versor", "resonance", "eval_tree", "feature"}
    verdicts = {f.check: (a[2], b[2]) for f, a, b in zip(facts.FACTS, found, written)}
    for check in behaviour:
        assert verdicts[check][0] == verdicts[check][1], check


def test_outside_of_a_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
                               capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([], tmp_path) == 2
    assert "Run it in a checkout" in capsys.readouterr().err


def test_bars() -> None:
    row = {"plain": 1.0, "compiled": 0.9, "plain_peak": 2.0, "compiled_peak": 2.0,
           "identical": True, "threads": True}
    assert run.misses(row) == []
    assert run.misses(row | {"compiled": 1.2, "compiled_peak": 2.1}) == ["slower", "more memory"]
    assert run.misses(row | {"identical": False, "threads": False}) == [
        "other bits", "threads differ"]
    assert run.misses({"error": "no"}) == ["no"]
    rounds = [{"identical": True, "plain": 1.0}, {"identical": False, "plain": 3.0}]
    assert run.combined(rounds) == {"identical": False, "plain": 2.0}
