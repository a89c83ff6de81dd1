"""Loading a safetensors file of 1 GB beside mlx and the safetensors package: milliseconds a load.

    python benchmarks/files.py [--rounds 3] [--python NAME=PATH ...]

The file is in the page cache: what is measured is opening, mapping or copying. A byte of every page
of every array is read, so that a mapped file counts with its page faults. `read` is NumPy's
`fromfile` into new memory, for scale; it is no peer. `safetensors` is the package with NumPy
arrays, `torch` the package with torch's. How, and what the table shows: `turns.py`. The file lies
in the directory for temporary files, and is left out with a line where the disk is short.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness
import numpy as np
import turns

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
    options = turns.parser(__doc__, 3).parse_args()
    if options.one:
        child(options.one)
        return
    table = turns.measure(__file__, FRAMEWORKS, options, scales=("read",))
    turns.show(table, f"{harness.machine()}; {options.rounds} rounds; {SIZE >> 20} MiB, ms a load",
               1, "GB/s", lambda case, ms: f"{SIZE / ms / 1e6:.1f}", scales=("read",))


if __name__ == "__main__":
    main()
