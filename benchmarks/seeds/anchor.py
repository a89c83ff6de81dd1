"""Anchor mode: a Kolmogorov-Arnold network whose functions stand on anchor points.

Given: anchor mode "benefits significantly more from" compiling than pairwise mode, "fuses kernels
well: small kernel calls", "would help performance of anchor KAN", 30 to 50 % in training, "causes
no divergence", tested "without layout changes".

Chosen: each feature passes through a learned function, a sum over anchors of weighted Gaussian
bumps, evaluated anchor by anchor in a Python loop, so that a layer is a hundred small operations;
then a linear layer mixes the features. Three layers, AdamW, mean squared error.
"""

from __future__ import annotations

from typing import Any

from seeds.system import System, training

SIZES = {"tiny": (8, 4, 3), "full": (256, 64, 16)}  # batch, width, anchors


def build(mx: Any, nn: Any, optimizers: Any, size: str) -> System:
    batch, width, anchors = SIZES[size]

    class Anchors(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.place = mx.linspace(-2, 2, anchors)[:, None] + mx.zeros((anchors, width))
            self.sharpness = mx.full((anchors, width), anchors / 4)
            self.weight = mx.random.normal((anchors, width)) * 0.5
            self.mix = nn.Linear(width, width)

        def __call__(self, x: Any) -> Any:
            y = x
            for a in range(anchors):
                distance = (x - self.place[a]) * self.sharpness[a]
                y = y + self.weight[a] * mx.exp(-distance * distance)
            return self.mix(y)

    model = nn.Sequential(Anchors(), Anchors(), Anchors())
    x = mx.random.normal((batch, width))
    y = mx.sin(3 * x) * x[:, ::-1]

    def loss(x: Any, y: Any) -> Any:
        return nn.losses.mse_loss(model(x), y)

    return training(mx, nn, model, optimizers.AdamW(1e-3), loss, (x, y))
