"""`eutectic claims`: docs/claims.md anew, by benchmarks/seeds/claims.py of a checkout."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]


def main(arguments: Sequence[str], checkout: Path = CHECKOUT) -> int:
    """Run the script with these arguments; returns its exit status, 2 outside of a checkout.

    >>> main(["--quick"], Path("/nowhere"))
    2
    """
    benchmarks = checkout / "benchmarks"
    if not (benchmarks / "seeds" / "claims.py").is_file():
        sys.stderr.write(
            "eutectic claims: the systems that it measures are not installed with the package: "
            f"{benchmarks / 'seeds'} is not there. Run it in a checkout "
            "(pip install --editable .).\n")
        return 2
    sys.path.insert(0, str(benchmarks))
    try:
        return importlib.import_module("seeds.claims").main(list(arguments))
    finally:
        sys.path.remove(str(benchmarks))
