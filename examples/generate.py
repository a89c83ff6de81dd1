"""Generates text token by token with a cache of keys and values that grows by one place a token.

    python examples/generate.py [--tokens 500] [--prompt "def "] [--weights lm.safetensors]

The cache has room for all positions from the beginning, and each step writes one place of it. Where
is an array, `position`, so that the step is traced once for all positions: a Python integer would
be a constant of the trace. `mx.slice_update` writes, and the attention is told by a mask how far
the cache is filled. A cache to which every step concatenates its token would have another shape
each time, hence another trace, and would be copied each time.

Weights are those of `language_model.py --save`, random ones without.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import common
from language_model import Transformer

import eutectic.core as mx


@dataclass
class Generated:
    """What a run gave."""

    tokens: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """Seconds of each token."""
    traces: int = 0

    def ms(self, part: slice) -> float:
        """Milliseconds a token in a part of the run: the median."""
        return 1000 * median(self.times[part] or self.times)


def generate(options: argparse.Namespace, compiled: bool) -> Generated:
    """Read the prompt in one call, then make one token a call."""
    mx.random.seed(options.seed)
    prompt = mx.array([list(options.prompt.encode())])
    model = Transformer(options.layers, options.width, options.heads)
    if options.weights:
        common.load_model(model, options.weights)
    model.eval()
    caches = model.caches(prompt.size + options.tokens)

    def step(tokens: mx.array, position: mx.array) -> mx.array:
        logits = model(tokens, caches, position)[:, -1]
        return mx.random.categorical(logits / options.temperature)[:, None]

    call: Any = step
    if compiled:
        state = [caches, mx.random.state]
        call = mx.compile(step, inputs=state, outputs=state)
    mx.eval(model, caches)
    found = Generated()
    token = call(prompt, mx.array(0))
    for position in range(prompt.size, prompt.size + options.tokens):
        start = time.perf_counter()
        token = call(token, mx.array(position))
        mx.eval(token, caches)
        found.times.append(time.perf_counter() - start)
        found.tokens.append(token.item())
    found.traces = mx.compile_stats(call).traces if compiled else 0
    return found


PARSER = common.parser(__doc__, tokens=500, prompt="def ", layers=4, width=128, heads=4,
                       temperature=0.8, weights="")


def main() -> None:
    options = PARSER.parse_args()
    runs = {way: generate(options, way == "compiled")
            for way in ([options.only] if options.only else ["plain", "compiled"])}
    tenth = max(options.tokens // 10, 4)
    print(f"{'':10}{'ms a token':>11}{'at first':>10}{'at last':>10}{'traces':>8}")
    for way, run in runs.items():
        print(f"{way:10}{run.ms(slice(3, None)):11.3f}{run.ms(slice(3, tenth)):10.3f}"
              f"{run.ms(slice(-tenth, None)):10.3f}{run.traces:8}")
    if len(runs) == 2:
        plain, compiled = runs.values()
        if plain.tokens != compiled.tokens:
            raise SystemExit("The texts differ.")
        print(f"{plain.ms(slice(3, None)) / compiled.ms(slice(3, None)):.2f}x; the texts are equal")
    if options.weights:
        print(options.prompt + bytes(run.tokens).decode(errors="replace"))


if __name__ == "__main__":
    main()
