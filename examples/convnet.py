"""A convolutional net on handwritten digits: convolutions, batch norm, pooling, momentum.

    python examples/convnet.py [--steps 200] [--batch 64] [--channels 32]

Batch norm's running averages change in the forward pass; they are a part of `model.state`, so the
compiled step writes them like weights.
"""

from __future__ import annotations

import argparse

import common

import eutectic.core as mx
import eutectic.nn as nn
import eutectic.optimizers as optim


class ConvNet(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1), nn.BatchNorm(channels), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.BatchNorm(2 * channels), nn.ReLU(),
            nn.MaxPool2d(2))
        self.out = nn.Linear(2 * channels, 10)

    def __call__(self, x: mx.array) -> mx.array:
        return self.out(self.body(x).mean(axis=(1, 2)))


def make(options: argparse.Namespace) -> common.Job:
    mx.random.seed(options.seed)
    images, classes = common.digits()
    training = 1500
    model = ConvNet(options.channels)
    optimizer = optim.SGD(optim.cosine_decay(options.rate, options.steps), momentum=0.9)
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


PARSER = common.parser(__doc__, steps=200, batch=64, channels=32, rate=0.1)

if __name__ == "__main__":
    common.main(make, PARSER)
