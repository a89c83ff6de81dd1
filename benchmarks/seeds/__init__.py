"""The systems that the two seed texts name, as workloads written with MLX's API only.

The texts are a page on `mx.compile` with its benchmark, and a sheet of facts that people noted
while they used it on models of theirs. The sheet gives names and outcomes, no code: each module
here says what it took from the sheet and what it chose. The same file runs on every package with
MLX's API, because `build` gets the modules as arguments.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from seeds import (
    anchor, decode, ffn_dft, lohe, pairwise, resonance, rotational, train, versor)
from seeds.system import System

MODULES: dict[str, tuple[ModuleType, dict[str, Any]]] = {
    "anchor": (anchor, {}),
    "pairwise": (pairwise, {}),
    "resonance": (resonance, {}),
    "resonance_scan": (resonance, {"scan": True}),
    "rotational": (rotational, {}),
    "lohe": (lohe, {}),
    "lohe_v2": (lohe, {"variant": 2}),
    "versor": (versor, {}),
    "ffn_dft": (ffn_dft, {}),
    "decode": (decode, {}),
    "decode_fixed": (decode, {"fixed": True}),
    "train": (train, {}),
}
"""Each system by name: its module, and what `build` gets besides the size."""

SIZES = ("tiny", "full")
"""The sizes that every system has; `train` has `large` as well, of 113 million parameters."""


def build(package: str, name: str, size: str) -> System:
    """A system on `eutectic` or `mlx`, the same numbers each time.

    Raises LookupError where the package lacks a function that the system is about.
    """
    mx, nn, optimizers = (importlib.import_module(f"{package}.{part}")
                          for part in ("core", "nn", "optimizers"))
    mx.random.seed(0)
    module, options = MODULES[name]
    system = module.build(mx, nn, optimizers, size, **options)
    mx.eval(system.state())
    return system
