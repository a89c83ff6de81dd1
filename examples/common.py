"""What the examples share: data, the loop around a step, checkpoints, and the table at the end.

An example makes a `Job`: a model, an optimizer, one training step as one would write it for MLX,
and a function that gives the batch of step i. `main` trains it plainly and compiled, from the same
seed, and compares times, memory and the loss curves, which must be equal in every bit.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import eutectic.core as mx
import eutectic.nn as nn
import eutectic.optimizers as optim
from eutectic.utils import tree_flatten, tree_unflatten

WARM = 3
"""First steps that are not timed: they trace, generate code and make the optimizer's state."""


@dataclass
class Job:
    """Something to train: `step(*batch(i))` is step i and returns the loss."""

    model: nn.Module
    optimizer: optim.Optimizer
    step: Callable[..., mx.array]
    batch: Callable[[int], tuple[mx.array, ...]]
    evaluate: Callable[[], str] = lambda: ""
    """Says in a few words what the model has learnt."""
    prepare: Callable[[], None] = lambda: None
    """Called once, before the first step, when the state of a compiled one is listed already."""


@dataclass
class Run:
    """What happened in a number of steps."""

    losses: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """Seconds of each step."""
    peak: int = 0
    """Most bytes in use during a step after the first ones."""
    traces: int = 0
    words: str = ""

    @property
    def ms(self) -> float:
        """Milliseconds of a step, the first ones left out: the median."""
        return 1000 * median(self.times[WARM:] or self.times)


def train(job: Job, steps: int, compiled: bool, first: int = 0) -> Run:
    """Train from step `first` to step `steps`, exclusively."""
    step: Any = job.step
    if compiled:
        state = [job.model.state, job.optimizer.state, mx.random.state]
        step = mx.compile(step, inputs=state, outputs=state)
    job.prepare()
    run = Run()
    mx.reset_peak_memory()
    for i in range(first, steps):
        batch = job.batch(i)
        mx.eval(batch)
        if i - first == WARM:
            mx.reset_peak_memory()
        start = time.perf_counter()
        loss = step(*batch)
        mx.eval(loss, job.model.state, job.optimizer.state)
        run.times.append(time.perf_counter() - start)
        run.losses.append(loss.item())
    run.peak = mx.get_peak_memory()
    run.traces = mx.compile_stats(step).traces if compiled else 0
    run.words = job.evaluate()
    return run


# ---- checkpoints --------------------------------------------------------------------------------


def save(job: Job, steps: int, file: str | Path) -> None:
    """Write weights, the optimizer's state and the random state to a .safetensors file."""
    parts = {"model": job.model.parameters(), "optimizer": job.optimizer.state,
             "random": mx.random.state}
    mx.save_safetensors(str(file), dict(tree_flatten(parts)), {"steps": str(steps)})


def load(job: Job, file: str | Path) -> int:
    """Read what `save` wrote, before the step is compiled; returns how many steps were made."""
    job.prepare()
    job.prepare = lambda: None
    arrays, metadata = mx.load(str(file), return_metadata=True)
    parts = tree_unflatten(list(arrays.items()))
    job.model.update(parts["model"])
    job.optimizer.state = parts["optimizer"]
    mx.random.state[:] = parts["random"]
    return int(metadata["steps"])


def load_model(model: nn.Module, file: str | Path) -> None:
    """Read the weights alone from what `save` wrote."""
    arrays: Any = mx.load(str(file))
    model.load_weights([(name.removeprefix("model."), w) for name, w in arrays.items()
                        if name.startswith("model.")])


# ---- data ---------------------------------------------------------------------------------------


def digits() -> tuple[mx.array, mx.array]:
    """The 1,797 digits of scikit-learn: images (n, 8, 8, 1) in [0, 1], and classes (n,)."""
    from sklearn.datasets import load_digits

    data = load_digits()
    images = mx.array(data.images).astype(mx.float32) / 16
    return images[..., None], mx.array(data.target).astype(mx.int32)


def shuffled(count: int, size: int, seed: int) -> Callable[[int], mx.array]:
    """Indices of batch i of endless epochs, each in an order of its own; the last is smaller."""
    batches = -(-count // size)
    orders: dict[int, mx.array] = {}

    def indices(i: int) -> mx.array:
        epoch, at = divmod(i, batches)
        if epoch not in orders:
            orders.clear()
            orders[epoch] = mx.random.permutation(count, key=mx.random.key(seed + epoch))
        return orders[epoch][at * size:(at + 1) * size]

    return indices


SOURCES = ("argparse", "ast", "calendar", "collections", "configparser", "copy", "csv", "datetime",
           "difflib", "doctest", "email.message", "fractions", "functools", "heapq", "inspect",
           "ipaddress", "json.decoder", "mailbox", "optparse", "pathlib", "pickle", "random",
           "shutil", "smtplib", "statistics", "string", "subprocess", "tarfile", "tempfile",
           "textwrap", "threading", "traceback", "typing", "unittest.mock", "zipfile")
"""Modules of the standard library whose text the language models read."""


def text(modules: Sequence[str] = SOURCES) -> mx.array:
    """The bytes of the sources of modules, one after another: a uint8 array."""
    found = b""
    for name in modules:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SystemExit(f"The source of the standard library's {name} is not there.")
        found += Path(spec.origin).read_bytes()
    return mx.array(memoryview(found))


def windows(data: mx.array, size: int, length: int, seed: int) -> Callable[[int], tuple[Any, ...]]:
    """Batches of places in a text: inputs (size, length), and the bytes that follow each."""
    steps = mx.arange(length + 1)

    def batch(i: int) -> tuple[mx.array, mx.array]:
        key = mx.random.key(seed + i)
        starts = mx.random.randint(0, data.size - length, (size, 1), key=key)
        taken = data[starts + steps].astype(mx.int32)
        return taken[:, :-1], taken[:, 1:]

    return batch


# ---- the command line ---------------------------------------------------------------------------


def parser(doc: str | None, **defaults: Any) -> argparse.ArgumentParser:
    """A parser with an option for each default, besides the common ones."""
    found = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {**defaults, "seed": 0}.items():
        found.add_argument(f"--{name}", type=type(value), default=value, help=f"default: {value}")
    found.add_argument("--only", choices=("plain", "compiled"), help="one of the two runs only")
    return found


def main(make: Callable[[argparse.Namespace], Job], options: argparse.ArgumentParser) -> None:
    """Train plainly and compiled, as the command line says, and print what came of it."""
    options.add_argument("--save", metavar="FILE", help="write a checkpoint after the last step")
    options.add_argument("--resume", metavar="FILE", help="go on from a checkpoint")
    given = options.parse_args()
    runs: dict[str, Run] = {}
    for way in [given.only] if given.only else ["plain", "compiled"]:
        job = make(given)
        first = load(job, given.resume) if given.resume else 0
        runs[way] = train(job, given.steps, way == "compiled", first)
        if given.save:
            save(job, given.steps, given.save)
    show(runs)


def show(runs: dict[str, Run]) -> None:
    """Print a line a run, and whether the curves are the same."""
    print(f"{'':10}{'ms a step':>10}{'first ms':>10}{'peak MB':>10}{'traces':>8}{'loss':>21}")
    for way, run in runs.items():
        loss = f"{run.losses[0]:.4f} -> {run.losses[-1]:.4f}" if run.losses else "-"
        first = 1000 * run.times[0] if run.times else 0.0
        print(f"{way:10}{run.ms:10.2f}{first:10.0f}{run.peak / 1e6:10.2f}{run.traces:8}{loss:>21}"
              f"  {run.words}")
    if len(runs) == 2:
        plain, compiled = runs.values()
        if plain.losses != compiled.losses:
            raise SystemExit("The loss curves differ.")
        print(f"{plain.ms / compiled.ms:.2f}x; the {len(plain.losses)} losses are equal in every "
              "bit")
