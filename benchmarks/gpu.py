"""The workloads on an NVIDIA GPU: `python benchmarks/gpu.py` (eutectic's GPU plans, torch, jax).

Two numbers a workload, in milliseconds: a call that is waited for, from the host, and a call among
many that are not. What has no GPU plan yet says why.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import frameworks
from harness import median_ms
from workloads import WORKLOADS

MANY = 50
NAMES = ("eutectic", "torch", "jax")


def prepared(name: str, workload: str) -> tuple[Callable[[], Any], Callable[[], None]]:
    """A call that starts the work, and one that waits for it."""
    F = frameworks.load(name)
    function, arguments = WORKLOADS[workload](F)
    if name != "eutectic":
        compiled = F.compile(function)
        last: list[Any] = []

        def call() -> None:
            last[:] = [compiled(*arguments)]
        return call, lambda: F.wait(last[0])
    from eutectic.runtime.cuda import driver
    from eutectic.tracing.gpu import GpuCall

    made = GpuCall.of(F.compile(function), *arguments)
    there = made.upload()
    return lambda: made.run(there), driver.device().synchronize


def child(name: str, workload: str) -> dict[str, Any]:
    start = time.perf_counter()
    try:
        call, wait = prepared(name, workload)
        made = time.perf_counter()
        call()
        wait()
    except Exception as error:  # what a peer cannot do is a row of the table
        return {"why": f"{type(error).__name__}: {str(error)[:160]}"}

    def alone() -> None:
        call()
        wait()

    def many() -> None:
        for _ in range(MANY):
            call()
        wait()
    first = (time.perf_counter() - made) * 1e3
    return {"first": first, "setup": (made - start) * 1e3, "alone": median_ms(alone, 1.0),
            "many": median_ms(many, 1.0) / MANY}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="workloads, separated by commas")
    parser.add_argument("--frameworks", default=",".join(NAMES))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(child(*args.child)))
        return
    names = args.frameworks.split(",")
    for workload in args.only.split(",") if args.only else WORKLOADS:
        cells = []
        for name in names:
            done = subprocess.run([sys.executable, __file__, "--child", name, workload],
                                  capture_output=True, text=True, timeout=120, check=False)
            lines = done.stdout.strip().splitlines()
            found = json.loads(lines[-1]) if lines else {"why": done.stderr[-160:]}
            cells.append(found["why"] if "why" in found else
                         f"{found['alone']:.3f} {found['many']:.3f} (first {found['first']:.0f})")
        print(f"{workload:14}", " | ".join(f"{n}: {c}" for n, c in zip(names, cells)), flush=True)


if __name__ == "__main__":
    main()
