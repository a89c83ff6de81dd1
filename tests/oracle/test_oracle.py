"""Every name of MLX on both libraries: the same dtypes, shapes, values and refusals.

Run by hand (`make test-oracle`): it needs mlx. What differs is in differences.py, with a reason.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import calls_elementwise as elementwise
import calls_methods as methods
import calls_numeric as numeric
import calls_shapes as shapes
import pytest
from comparing import differ, outcome
from differences import DIFFERENCES, NOT_COMPARED, REASONS

import eutectic.core as ours

ROOT = Path(__file__).parents[2]
SURFACE = json.loads((ROOT / "tests" / "data" / "mlx_surface.json").read_text())
GROUPS = ("core", "core.array", "core.random", "core.linalg", "core.fft", "core.fast")

# Allowed distance in ulps of the dtype, of the value itself or (NORM) of the largest value.
ULPS, NORM_ULPS = 8.0, 64.0
NORM = re.compile("|".join((
    r"mx\.(linalg|fft|fast)\.", "sum", "mean", "std", "var", "prod", "logcumsumexp", "trace",
    "matmul", "addmm", "inner", "outer", "kron", "dot", "einsum", "conv", "hadamard", "_mm",
    "matrix_norm", "@", "diff", "softmax", "random", "grad", "vjp", "jvp",
    r"mx\.(blackman|ham|han)", "linspace", "bartlett")))


def merged(*tables: dict[str, list[str]]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for each in tables:
        for name, calls in each.items():
            out.setdefault(name, []).extend(calls)
    return {name: list(dict.fromkeys(calls)) for name, calls in out.items()}


METHODS = merged(elementwise.METHODS, shapes.METHODS, numeric.METHODS, methods.METHODS)
CALLS = merged(elementwise.CORE, shapes.CORE, numeric.CORE, numeric.RANDOM, numeric.LINALG,
               numeric.FFT, numeric.FAST) | {f"array.{n}": calls for n, calls in METHODS.items()}
ALL = {call for calls in CALLS.values() for call in calls}


@pytest.fixture(scope="session")
def theirs() -> Any:
    try:
        import mlx.core as mx
    except ImportError as error:
        pytest.fail(f"mlx is not importable ({error}); `make test-oracle` installs it", False)
    mx.set_default_device(mx.cpu)
    return mx


def found(mlx: Any, call: str) -> str:
    norm = bool(NORM.search(call))
    return differ(outcome(mlx, call), outcome(ours, call), NORM_ULPS if norm else ULPS, norm)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_calls(theirs: Any, name: str) -> None:
    """The calls of a name: each agrees, or is listed and differs."""
    wrong = []
    for call in CALLS[name]:
        difference = found(theirs, call)
        if difference and call not in DIFFERENCES:
            wrong.append(f"{call}: {difference}")
        if not difference and call in DIFFERENCES:
            wrong.append(f"{call}: agrees, and is listed as {DIFFERENCES[call]!r}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_every_name_is_called() -> None:
    names = {f"{group}.{name}".removeprefix("core.") for group in GROUPS for name in SURFACE[group]}
    assert names - CALLS.keys() - NOT_COMPARED.keys() == set()
    assert NOT_COMPARED.keys() & CALLS.keys() == set()


def test_differences_are_of_calls_and_explained() -> None:
    assert DIFFERENCES.keys() - ALL == set(), "listed, but no call"
    assert set(DIFFERENCES.values()) - REASONS == set(), "reasons without a row"
    document = (ROOT / "docs" / "mlx-differences.md").read_text()
    rows = set(re.findall(r"^\| `([^`]+)` \|", document, re.M))
    assert rows == REASONS | {"not compared"}
