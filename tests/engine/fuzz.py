"""Random programs without end: `python tests/engine/fuzz.py --programs 20000 --seed 1 --jobs 2`.

Each program runs in every way of `identity.check`. A failing one is reduced and written as a
file that stands alone, and the run goes on; the exit code is 1 if there was any. Programs run in
worker processes, so that a crash costs one program.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from identity import check
from programs import Program, generate

_HERE = os.path.dirname(os.path.abspath(__file__))
BATCH = 150
"""Programs of one worker process: kernels stay loaded, so that memory grows with them."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", default="fuzz-failures", help="folder of reproductions")
    parser.add_argument("--worker", type=int, default=0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(args.seed, args.worker, args.save)
    os.makedirs(args.save, exist_ok=True)
    env = dict(os.environ, EUTECTIC_CHECK="1")
    env.setdefault("EUTECTIC_CACHE_DIR", tempfile.mkdtemp(prefix="eutectic-fuzz-"))
    start = time.time()
    done = failed = 0
    batches = [(args.seed + i, min(BATCH, args.programs - i))
               for i in range(0, args.programs, BATCH)]

    def batch(item: tuple[int, int]) -> tuple[int, int]:
        first, count = item
        end, bad = first + count, 0
        while first < end:
            reached, failures = run_worker(first, end - first, args.save, env)
            bad += failures
            first = reached
        return count, bad

    with ThreadPoolExecutor(args.jobs) as pool:
        for count, bad in pool.map(batch, batches):
            done += count
            failed += bad
            print(f"{done} programs, {failed} failed, {time.time() - start:.0f} s", flush=True)
    return 1 if failed else 0


def run_worker(first: int, count: int, save: str, env: dict[str, str]) -> tuple[int, int]:
    """Run seeds first, first + 1, ... in a process; (the seed to go on with, failures)."""
    command = [sys.executable, "-X", "faulthandler", os.path.abspath(__file__), "--seed",
               str(first), "--worker", str(count), "--save", save]
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True)
    at, failures, said = first, 0, []
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("seed "):
            at = int(line.split()[1])
            said = []
        elif line.startswith("failed "):
            failures += 1
            print(line.rstrip(), flush=True)
        else:
            said.append(line)
    code = process.wait()
    if code == 0:
        return first + count, failures
    print(f"failed {at}: the process ended with {code}\n{''.join(said[-40:])}", flush=True)
    with open(os.path.join(save, f"crash_{at}.txt"), "w") as f:
        f.write(f"python tests/engine/fuzz.py --seed {at} --programs 1\n{''.join(said)}")
    return at + 1, failures + 1


def worker(first: int, count: int, save: str) -> int:
    # A program that asks for far too much memory, or does not end, is a failure of its own.
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    for seed in range(first, first + count):
        signal.alarm(120)
        print(f"seed {seed}", flush=True)
        p = generate(random.Random(seed))
        kind, found = failures(p)
        if found:
            path = os.path.join(save, f"program_{seed}.py")
            small = reduced(p, kind)
            with open(path, "w") as f:
                f.write(reproduction(small, found, seed))
            print(f"failed {seed}: {path}: {len(small.steps)} steps: "
                  f"{found[0].strip().splitlines()[-1]}", flush=True)
    return 0


def failures(p: Program) -> tuple[str, list[str]]:
    """(kind of failure or '', descriptions)."""
    try:
        found = check(p)
    except Exception as e:
        last = traceback.extract_tb(e.__traceback__)[-1]
        return f"{type(e).__name__} {last.filename}", [traceback.format_exc()]
    if not found:
        return "", []
    kind = "value" if all(d.way.startswith("NumPy") for d in found) else "bits"
    return kind, [str(d) for d in found]


def reduced(p: Program, kind: str, budget: float = 20.0) -> Program:
    """A smaller program that fails in the same way: fewer outputs and steps, simpler inputs."""
    end = time.time() + budget
    changed = True
    while changed and time.time() < end:
        changed = False
        for candidate in _smaller(p):
            if time.time() > end:
                break
            if failures(candidate)[0] == kind:
                p = candidate
                changed = True
                break
    return p


def _smaller(p: Program) -> Iterator[Program]:
    outputs, n = p.outputs, len(p.sources)
    if len(outputs) > 1:
        for o in outputs:
            yield replace(p, outputs=(o,)).pruned()
        for i in range(len(outputs)):
            yield replace(p, outputs=outputs[:i] + outputs[i + 1:]).pruned()
    else:
        for v in range(n + len(p.steps) - 1, n - 1, -1):
            if v not in outputs:
                yield replace(p, outputs=(v,)).pruned()
    for i, s in enumerate(p.steps):
        for o in s.operands:
            yield _without(p, n + i, o)
    for i, src in enumerate(p.sources):
        for simpler in (replace(src, layout="plain"), replace(src, flavour="small")):
            if simpler != src:
                yield replace(
                    p, sources=(*p.sources[:i], simpler, *p.sources[i + 1:]))


def _without(p: Program, step: int, operand: int) -> Program:
    """The program with a step's value replaced by one of its operands."""
    def go(v: int) -> int:
        return operand if v == step else v
    steps = tuple(replace(s, operands=tuple(map(go, s.operands)))
                  for s in p.steps)
    return replace(p, steps=steps,
                   outputs=tuple(map(go, p.outputs))).pruned()


def reproduction(p: Program, found: list[str], seed: int) -> str:
    """A file that shows the difference when it is run."""
    notes = "\n".join("# " + line for d in found[:6] for line in d.strip().splitlines()[-12:])
    return f'''# Seed {seed}. What differed in the program as generated:
{notes}
import os
import sys

os.environ.setdefault("EUTECTIC_CHECK", "1")
sys.path[:0] = [{_HERE!r}, {os.path.join(os.path.dirname(os.path.dirname(_HERE)), "src")!r}]
from identity import check
from programs import Program, Source, Step

p = Program(
    sources=(
{"".join(f"        {s!r},{chr(10)}" for s in p.sources)}    ),
    steps=(
{"".join(f"        {s!r},{chr(10)}" for s in p.steps)}    ),
    outputs={p.outputs!r})
if __name__ == "__main__":
    print(p.source_text())
    for d in check(p):
        print(d)
'''


if __name__ == "__main__":
    sys.exit(main())
