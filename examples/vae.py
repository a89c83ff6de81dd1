"""A variational autoencoder of handwritten digits (Kingma and Welling, 2014).

    python examples/vae.py [--steps 300] [--batch 128] [--width 256] [--latent 8]

The step draws noise. The random state is among the state of the compiled step, so that each call
draws anew, and what the plain step draws.
"""

from __future__ import annotations

import argparse

import common

import eutectic.core as mx
import eutectic.nn as nn
import eutectic.optimizers as optim


class VAE(nn.Module):
    def __init__(self, width: int, latent: int) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, width), nn.SiLU())
        self.mean = nn.Linear(width, latent)
        self.log_variance = nn.Linear(width, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, width), nn.SiLU(), nn.Linear(width, 64))

    def __call__(self, x: mx.array) -> tuple[mx.array, mx.array, mx.array]:
        h = self.encoder(x)
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + mx.exp(0.5 * log_variance) * mx.random.normal(mean.shape)
        return self.decoder(z), mean, log_variance


def make(options: argparse.Namespace) -> common.Job:
    mx.random.seed(options.seed)
    images, _ = common.digits()
    images = images.flatten(1)
    model = VAE(options.width, options.latent)
    optimizer = optim.Adam(options.rate)
    indices = common.shuffled(len(images), options.batch, options.seed)

    def loss_fn(x: mx.array) -> mx.array:
        logits, mean, log_variance = model(x)
        error = nn.losses.binary_cross_entropy(logits, x, reduction="none").sum(axis=-1)
        divergence = 0.5 * (mx.exp(log_variance) + mean.square() - 1 - log_variance).sum(axis=-1)
        return (error + divergence).mean()

    def step(x: mx.array) -> mx.array:
        loss, grads = nn.value_and_grad(model, loss_fn)(x)
        optimizer.update(model, grads)
        return loss

    def batch(i: int) -> tuple[mx.array, ...]:
        return (images[indices(i)],)

    return common.Job(model, optimizer, step, batch)


PARSER = common.parser(__doc__, steps=300, batch=128, width=256, latent=8, rate=1e-3)

if __name__ == "__main__":
    common.main(make, PARSER)
