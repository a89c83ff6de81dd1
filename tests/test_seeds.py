"""The seeds' systems at a tiny size: plain and compiled give the same bits, on 1 and 2 threads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.runtime import pool
from eutectic.utils import tree_flatten

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import seeds

STEPS = 2


def bits(tree: Any) -> list[tuple[str, bytes]]:
    return [(path, np.array(x).tobytes()) for path, x in tree_flatten(tree)]


def trained(name: str, compiled: bool) -> tuple[list[Any], int]:
    """Bits of the results and the state after some steps, and the number of traces."""
    system = seeds.build("eutectic", name, "tiny")
    before = bits(system.state())
    step = system.compile() if compiled else system.step
    results = [system.run(step) for _ in range(STEPS)]
    after = bits(system.state())
    if not name.startswith("decode"):
        assert before != after, "the steps change nothing"
        assert all(np.isfinite(np.array(r)).all() for r in results)
    return [bits(results), after], step.stats.traces if compiled else 0


@pytest.mark.parametrize("name", seeds.MODULES)
def test_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = trained(name, compiled=False)
    compiled, traces = trained(name, compiled=True)
    assert compiled == plain
    # A state that has no moments yet is another structure; a growing cache is replayed.
    assert traces == {"rotational": 2, "decode": 3}.get(name, 1)
    monkeypatch.setattr("eutectic.config.config.num_threads", 1)
    assert pool.get_num_threads() == 1
    assert trained(name, compiled=True)[0] == plain


def test_a_cache_that_grows_is_not_traced_again() -> None:
    system = seeds.build("eutectic", "decode", "tiny")
    step: Any = system.compile()
    system.run(step)
    assert [r.notes for r in step.stats.reasons[1:]] == [("replayed without Python",)] * 2


def test_what_a_package_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(mx, "scan")
    with pytest.raises(LookupError, match=r"no mx\.scan"):
        seeds.build("eutectic", "resonance_scan", "tiny")
