"""Eight Python threads through one compiled function, for errors and wrong values.

The threads mix shapes, changing numbers, random draws, and state that the function captures and
changes. Prints the calls made, errors and wrong values; the last two must be 0.

    python benchmarks/threads.py [--seconds 10] [--threads 8]
"""

from __future__ import annotations

import argparse
import threading
import time
import traceback

import numpy as np

import eutectic.core as mx

WEIGHT = mx.array(np.linspace(-1, 1, 32).astype(np.float32))
LENGTHS = (1, 3, 8, 31, 32)


def pure(x, scale):
    return mx.tanh(x * WEIGHT[:x.shape[-1]] * scale).sum(axis=-1)


def stepper(counts):
    def step(x):
        counts["steps"] = counts["steps"] + 1
        counts["sums"][0] = counts["sums"][0] + x.sum()
        return counts["steps"] * 2
    return step


class Threads:
    """The functions that all threads share, and what they found."""

    def __init__(self, threads: int) -> None:
        self.counts = {"steps": mx.zeros((), mx.int32), "sums": [mx.zeros((4,), mx.int32)]}
        self.pure = mx.compile(pure)
        self.shapeless = mx.compile(pure, shapeless=True)
        self.draw = mx.compile(lambda n: mx.random.randint(0, 2**30, (n,)) + 0)
        self.step = mx.compile(stepper(self.counts), inputs=self.counts, outputs=self.counts)
        self.calls = [0] * threads
        self.errors: list[str] = []
        self.wrong: list[str] = []
        self.draws: list[list[bytes]] = [[] for _ in range(threads)]
        self.steps = [0] * threads

    def work(self, me: int, until: float) -> None:
        rng = np.random.default_rng(me)
        inputs = [mx.array(rng.standard_normal((2, n)).astype(np.float32)) for n in LENGTHS]
        wants: dict[tuple[int, float], bytes] = {}
        last = 0
        while time.perf_counter() < until:
            k, scale = int(rng.integers(len(LENGTHS))), float(rng.integers(1, 20))
            kind = int(rng.integers(4))
            try:
                if kind < 2:
                    got = bytes((self.shapeless if kind else self.pure)(inputs[k], scale))
                    if (k, scale) not in wants:
                        wants[k, scale] = bytes(pure(inputs[k], scale))
                    if got != wants[k, scale]:
                        self.wrong.append(f"shape {inputs[k].shape}, scale {scale}")
                elif kind == 2:
                    self.draws[me].append(bytes(self.draw(4)))
                else:
                    step = self.step(mx.array([1, 2, 3], mx.int32)).item()
                    self.steps[me] += 1
                    if step <= last or step % 2:
                        self.wrong.append(f"step {step} after {last}")
                    last = step
            except Exception:
                self.errors.append(traceback.format_exc())
            self.calls[me] += 1

    def settle(self) -> None:
        """Look at what only all threads together tell."""
        steps, draws = sum(self.steps), [d for own in self.draws for d in own]
        if self.counts["steps"].item() != steps:
            self.wrong.append(f"{self.counts['steps'].item()} steps instead of {steps}")
        if self.counts["sums"][0].tolist() != [6 * steps] * 4:
            self.wrong.append(f"{self.counts['sums'][0].tolist()} instead of {6 * steps}")
        if len(set(draws)) != len(draws):
            self.wrong.append(f"{len(draws) - len(set(draws))} draws twice")


def run(seconds: float, threads: int) -> Threads:
    shared = Threads(threads)
    until = time.perf_counter() + seconds
    workers = [threading.Thread(target=shared.work, args=(k, until)) for k in range(threads)]
    for t in workers:
        t.start()
    for t in workers:
        t.join()
    shared.settle()
    return shared


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=8)
    options = parser.parse_args()
    found = run(options.seconds, options.threads)
    print(f"{sum(found.calls)} calls of {options.threads} threads in {options.seconds:g} s: "
          f"{len(found.errors)} errors, {len(found.wrong)} wrong values")
    for text in [*found.errors[:3], *found.wrong[:3]]:
        print(text)
    return 1 if found.errors or found.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
