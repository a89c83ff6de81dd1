"""An LSTM that reads the standard library byte by byte and predicts the next byte.

    python examples/lstm.py [--steps 60] [--batch 32] [--length 32] [--width 128]

`nn.LSTM` is a Python loop over the positions. A plain step runs it again each time, operation by
operation; a compiled one ran it once, while it was traced.
"""

from __future__ import annotations

import argparse

import common

import eutectic.core as mx
import eutectic.nn as nn
import eutectic.optimizers as optim


class Reader(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(256, width)
        self.lstm = nn.LSTM(width, width)
        self.out = nn.Linear(width, 256)

    def __call__(self, x: mx.array) -> mx.array:
        hidden, _ = self.lstm(self.embedding(x))
        return self.out(hidden)


def make(options: argparse.Namespace) -> common.Job:
    mx.random.seed(options.seed)
    model = Reader(options.width)
    optimizer = optim.Adam(options.rate)

    def loss_fn(x: mx.array, y: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(x), y, reduction="mean")

    def step(x: mx.array, y: mx.array) -> mx.array:
        loss, grads = nn.value_and_grad(model, loss_fn)(x, y)
        grads, _ = optim.clip_grad_norm(grads, 1.0)
        optimizer.update(model, grads)
        return loss

    batch = common.windows(common.text(), options.batch, options.length, options.seed)
    return common.Job(model, optimizer, step, batch)


PARSER = common.parser(__doc__, steps=60, batch=32, length=32, width=128, rate=3e-3)

if __name__ == "__main__":
    common.main(make, PARSER)
