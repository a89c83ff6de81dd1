"""The Lohe model: oscillators on spheres that turn and pull at each other; two variants.

Given: "Lohe spherical plus Lohe v2" "needs fix for throughput gap", and compiling "likely closes
gap".

Chosen: unit vectors x follow x' = W x + k (f - <x, f> x), W antisymmetric, f what one sees of the
others. Variant 1 sees their mean and takes steps of Euler with a normalisation after each. Variant
2 sees a mean with learned weights, and its steps are Heun's, with two evaluations. The steps are
unrolled; a training step fits W, k and the weights to where the vectors ought to be.
"""

from __future__ import annotations

from typing import Any

from seeds.system import System, training

SIZES = {"tiny": (2, 3, 4, 2), "full": (16, 64, 16, 8)}  # batch, oscillators, dimensions, steps
TIME = 0.1


def build(mx: Any, nn: Any, optimizers: Any, size: str, variant: int = 1) -> System:
    batch, count, dimensions, steps = SIZES[size]

    def normalised(x: Any) -> Any:
        return x * mx.rsqrt(mx.sum(x * x, axis=-1, keepdims=True))

    class Lohe(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.turning = mx.random.normal((dimensions, dimensions)) * 0.5
            self.coupling = mx.array(1.0)
            if variant == 2:
                self.weights = mx.random.normal((count, count))

        def field(self, x: Any) -> Any:
            if variant == 2:
                return mx.softmax(self.weights, axis=-1) @ x
            return mx.mean(x, axis=1, keepdims=True)

        def slope(self, x: Any) -> Any:
            f = self.field(x)
            across = f - mx.sum(x * f, axis=-1, keepdims=True) * x
            return x @ (self.turning - self.turning.T) + self.coupling * across

        def __call__(self, x: Any) -> Any:
            for _ in range(steps):
                slope = self.slope(x)
                if variant == 2:
                    slope = (slope + self.slope(normalised(x + TIME * slope))) * 0.5
                x = normalised(x + TIME * slope)
            return x

    model = Lohe()
    x = normalised(mx.random.normal((batch, count, dimensions)))
    y = normalised(mx.mean(x, axis=1, keepdims=True) + 0.1 * x)

    def loss(x: Any, y: Any) -> Any:
        return mx.mean(1 - mx.sum(model(x) * y, axis=-1))

    return training(mx, nn, model, optimizers.Adam(1e-2), loss, (x, y))
