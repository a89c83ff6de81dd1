"""A classifier of handwritten digits: layers with dropout, AdamW, a schedule of the learning rate.

    python examples/classifier.py [--steps 300] [--batch 64] [--width 256]

The last batch of an epoch is smaller, which is another shape and one more trace. The learning rate
is computed from the optimizer's step, an array, so that its schedule needs none.
"""

from __future__ import annotations

import argparse

import common

import eutectic.core as mx
import eutectic.nn as nn
import eutectic.optimizers as optim


class Classifier(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = [nn.Linear(64, width), nn.Linear(width, width), nn.Linear(width, 10)]
        self.dropout = nn.Dropout(0.2)

    def __call__(self, x: mx.array) -> mx.array:
        for layer in self.layers[:-1]:
            x = self.dropout(nn.gelu(layer(x)))
        return self.layers[-1](x)


def make(options: argparse.Namespace) -> common.Job:
    mx.random.seed(options.seed)
    images, classes = common.digits()
    images = images.flatten(1)
    training = 1500
    model = Classifier(options.width)
    schedule = optim.join_schedules(
        [optim.linear_schedule(0.0, options.rate, 20),
         optim.cosine_decay(options.rate, options.steps)], [20])
    optimizer = optim.AdamW(schedule)
    indices = common.shuffled(training, options.batch, options.seed)

    def loss_fn(x: mx.array, y: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(x), y, reduction="mean")

    def step(x: mx.array, y: mx.array) -> mx.array:
        loss, grads = nn.value_and_grad(model, loss_fn)(x, y)
        optimizer.update(model, grads)
        return loss

    def batch(i: int) -> tuple[mx.array, ...]:
        chosen = indices(i)
        return images[chosen], classes[chosen]

    def evaluate() -> str:
        model.eval()
        right = mx.argmax(model(images[training:]), axis=-1) == classes[training:]
        model.train()
        return f"{100 * right.astype(mx.float32).mean().item():.1f} % of the others right"

    return common.Job(model, optimizer, step, batch, evaluate)


PARSER = common.parser(__doc__, steps=300, batch=64, width=256, rate=3e-3)

if __name__ == "__main__":
    common.main(make, PARSER)
