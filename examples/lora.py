"""Adapts the transformer of `language_model.py` to English by low-rank updates (Hu et al., 2021).

    python examples/lora.py [--steps 60] [--rank 4] [--weights lm.safetensors]

All weights are frozen and small matrices added to the projections of queries and values; these
alone are trained, on the help texts that Python's `help()` shows. The model may change after the
state of the compiled step was listed: the adapters are added only then, and the step trains them.
"""

from __future__ import annotations

import argparse
import math

import common
from language_model import Transformer

import eutectic.core as mx
import eutectic.nn as nn
import eutectic.optimizers as optim
from eutectic.utils import tree_flatten


class LoRALinear(nn.Module):
    """A frozen layer plus `scale * x @ a @ b`; `b` begins at zero."""

    def __init__(self, linear: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        self.linear = linear
        dims_out, dims_in = linear.weight.shape
        limit = 1 / math.sqrt(dims_in)
        self.scale = scale
        self.lora_a = mx.random.uniform(-limit, limit, (dims_in, rank))
        self.lora_b = mx.zeros((rank, dims_out))

    def __call__(self, x: mx.array) -> mx.array:
        return self.linear(x) + self.scale * ((x @ self.lora_a) @ self.lora_b)


def adapt(model: Transformer, rank: int) -> None:
    """Freeze a model and give it adapters."""
    model.freeze()
    for block in model.blocks:
        attention = block.attention
        for name in ("query_proj", "value_proj"):
            setattr(attention, name, LoRALinear(getattr(attention, name), rank, scale=4.0))


def make(options: argparse.Namespace) -> common.Job:
    mx.random.seed(options.seed)
    model = Transformer(options.layers, options.width, options.heads)
    if options.weights:
        common.load_model(model, options.weights)
    optimizer = optim.Adam(options.rate)

    def loss_fn(x: mx.array, y: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(x), y, reduction="mean")

    def step(x: mx.array, y: mx.array) -> mx.array:
        loss, grads = nn.value_and_grad(model, loss_fn)(x, y)
        optimizer.update(model, grads)
        return loss

    def evaluate() -> str:
        trained = sum([w.size for _, w in tree_flatten(model.trainable_parameters())])
        count = sum([w.size for _, w in tree_flatten(model.parameters())])
        return f"{trained} of {count} parameters trained"

    data = common.text(["pydoc_data.topics"])
    batch = common.windows(data, options.batch, options.length, options.seed)
    return common.Job(model, optimizer, step, batch, evaluate,
                      prepare=lambda: adapt(model, options.rank))


PARSER = common.parser(__doc__, steps=60, batch=8, length=128, layers=4, width=128, heads=4,
                       rank=4, rate=1e-2, weights="")

if __name__ == "__main__":
    common.main(make, PARSER)
