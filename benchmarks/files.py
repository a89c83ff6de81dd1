"""Loading a safetensors file of 1 GB beside mlx and the safetensors package: milliseconds a load.

    python benchmarks/files.py [--rounds 3] [--python NAME=PATH ...]

The file is in the page cache: what is measured is opening, mapping or copying. A byte of every page
of every array is read, so that a mapped file counts with its page faults. `read` is NumPy's
`fromfile` into new memory, for scale; it is no peer. `safetensors` is the package with NumPy
arrays, `torch` the package with torch's. Each runs in a process of its own, in turns; the table
shows medians over the rounds. The file lies in the directory for temporary files, and is left out
with a line where the disk is short.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import numpy as np

FRAMEWORKS = ("eutectic", "safetensors", "torch", "mlx")
CASES = ("safetensors load",)
ARRAYS, EACH = 32, (1 << 23)  # 32 float32 arrays of 2^23 elements: 1 GiB
SIZE = ARRAYS * EACH * 4
PAGE = 4096


def file_of(directory: Path) -> Path:
    """The file, written where it is not there yet."""
    path = directory / "benchmark.safetensors"
    if path.exists():
        return path
    free = shutil.disk_usage(directory).free
    if free < 2 * SIZE:
        raise SystemExit(f"skipped: {free >> 20} MiB free in {directory}, {2 * SIZE >> 20} needed")
    header = json.dumps({f"a{i:02}": {"dtype": "F32", "shape": [EACH // 1024, 1024],
                                      "data_offsets": [i * EACH * 4, (i + 1) * EACH * 4]}
                         for i in range(ARRAYS)}).encode()
    header += b" " * (-len(header) % 8)
    values = np.random.default_rng(0).standard_normal(EACH, np.float32).tobytes()
    with path.with_suffix(".part").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _ in range(ARRAYS):
            file.write(values)
    return path.with_suffix(".part").rename(path)


def touched(arrays: dict[str, Any]) -> int:
    """Reads a byte of every page; the number of bytes of the arrays."""
    total = 0
    for value in arrays.values():
        raw = np.asarray(value).reshape(-1).view(np.uint8)
        int(raw[::PAGE].sum())
        total += raw.size
    return total


def array_load(mx: Any, path: Path) -> dict[str, Any]:
    arrays = mx.load(str(path))
    mx.eval(arrays)
    return arrays


def loader(framework: str) -> Callable[[Path], dict[str, Any]]:
    if framework in ("eutectic", "mlx"):
        import importlib

        mx = importlib.import_module(f"{framework}.core")
        return lambda path: array_load(mx, path)
    if framework == "read":
        return lambda path: {"all": np.fromfile(path, np.float32, SIZE // 4)}
    if framework == "torch":
        from safetensors.torch import load_file
    else:
        from safetensors.numpy import load_file
    return lambda path: load_file(path)


def child(framework: str) -> None:
    load, path = loader(framework), file_of(Path(tempfile.gettempdir()))
    if touched(load(path)) != SIZE:
        raise SystemExit(f"{framework}: wrong result")
    harness.report({CASES[0]: harness.median_ms(lambda: touched(load(path)), 3.0, 3, 30)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help=argparse.SUPPRESS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH",
                        help="the Python that has a framework; NAME may be 'peers'")
    options = parser.parse_args()
    if options.one:
        child(options.one)
        return
    pythons = harness.Interpreters.parse(options.python)
    peers = list(harness.installed([f for f in FRAMEWORKS if f != "eutectic"], pythons))
    rounds: dict[str, list[dict[str, float]]] = {f: [] for f in ("eutectic", *peers, "read")}
    with harness.fresh_cache() as cache:
        env = harness.environment(Path(cache))
        for _ in range(options.rounds):
            for framework, results in list(rounds.items()):
                try:
                    results.append(harness.run_child(pythons.of(framework), __file__, framework,
                                                     env=env))
                except harness.ChildError as error:
                    print(f"{framework}: {error}", file=sys.stderr)
                    del rounds[framework]
    times = {f: harness.medians(results)[CASES[0]] for f, results in rounds.items()}
    best = min((times[p] for p in peers if p in times), default=math.nan)
    print(f"{harness.machine()}; {options.rounds} rounds; {SIZE >> 20} MiB, ms a load")
    for framework, ms in times.items():
        print(f"{framework:12}{ms:10.1f}{SIZE / ms / 1e6:8.1f} GB/s")
    if "eutectic" in times:
        print(f"ours/peer   {times['eutectic'] / best:10.2f}")


if __name__ == "__main__":
    sys.exit(main())
