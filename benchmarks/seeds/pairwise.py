"""Pairwise mode: the same task by kernels between all pairs of examples and centres.

Given: pairwise mode "sees modest gain from compile", where anchor mode gains significantly more.

Chosen: the squared distance of every example to every centre by one matrix product, a Gaussian of
it, and a product with the centres' values: a step is large matrix products with little between
them. Two layers, AdamW, mean squared error.
"""

from __future__ import annotations

from typing import Any

from seeds.system import System, training

SIZES = {"tiny": (8, 4, 5), "full": (1024, 256, 1024)}  # batch, width, centres


def build(mx: Any, nn: Any, optimizers: Any, size: str) -> System:
    batch, width, centres = SIZES[size]

    class Pairs(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.centres = mx.random.normal((centres, width))
            self.outputs = mx.random.normal((centres, width)) * 0.1

        def __call__(self, x: Any) -> Any:
            c = self.centres
            squares = (mx.sum(x * x, axis=1, keepdims=True) + mx.sum(c * c, axis=1)
                       - 2 * (x @ c.T))
            return x + mx.exp(squares * (-0.5 / width)) @ self.outputs

    model = nn.Sequential(Pairs(), Pairs())
    x = mx.random.normal((batch, width))
    y = mx.sin(3 * x) * x[:, ::-1]

    def loss(x: Any, y: Any) -> Any:
        return nn.losses.mse_loss(model(x), y)

    return training(mx, nn, model, optimizers.AdamW(1e-3), loss, (x, y))
