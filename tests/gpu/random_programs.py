"""Random programs on the GPU and on the CPU: `python tests/gpu/random_programs.py --programs 2000`.

Every result must have the CPU's bits, but for those of NaNs: a GPU's arithmetic has only one. So
programs that look at the bits of floats are left out. What has no GPU kernel yet is counted.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "codegen"), str(TESTS / "engine")]

import gpu_results  # noqa: E402
from identity import one_nan  # noqa: E402
from programs import Program, generate, make  # noqa: E402

import eutectic.core as mx  # noqa: E402
from eutectic.engine.gpu import Refused  # noqa: E402
from eutectic.errors import EutecticError  # noqa: E402
from eutectic.runtime.cuda import driver  # noqa: E402


def differences(p: Program, on_gpu: bool) -> list[str]:
    """What differs between the two, result by result."""
    inputs = [make(s)[0] for s in p.sources]
    function = p.function()
    found = gpu_results.results(function, inputs, on_gpu)
    expected = mx.compile(function)(*inputs)
    mx.eval(*expected)
    out = []
    for i, (e, f) in enumerate(zip(expected, found)):
        left, right = (one_nan(e.dtype.name, raw) for raw in (bytes(e), f))
        if left != right:
            size = e.dtype.size
            at = next(k for k in range(0, len(left), size) if left[k:k + size] != right[k:k + size])
            out.append(f"result {i}: {e.dtype.name}{list(e.shape)}, element {at // size}: "
                       f"{left[at:at + size].hex()} on the CPU, {right[at:at + size].hex()}")
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--emulated", action="store_true", help="thread by thread on the CPU")
    args = parser.parse_args()
    if not args.emulated and not driver.available():
        print(driver.missing())
        return 1
    ran, failed, refused = 0, 0, Counter[str]()
    start = time.monotonic()
    for seed in range(args.seed, args.seed + args.programs):
        if time.monotonic() - start > args.seconds:
            break
        program = generate(random.Random(seed))
        if any(".view(" in s.text or "mx.view(" in s.text for s in program.steps):
            continue
        try:
            wrong = differences(program, not args.emulated)
        except Refused as why:
            refused.update(str(why).removeprefix("[gpu] ").removesuffix(".").split("; "))
            continue
        except EutecticError as error:
            wrong = [f"{type(error).__name__}: {error}"]
        ran += 1
        if wrong:
            failed += 1
            print(f"seed {seed}: {', '.join(wrong)}\n{program.source_text()}", flush=True)
    print(f"{ran} programs ran, {failed} differ; refused:")
    for why, count in refused.most_common():
        print(f"  {count:5} {why}")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
