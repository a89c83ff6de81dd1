"""RotationalAdamW: an optimizer that rotates pairs of parameters, with new objects on each step.

Given: "mx.compile with RotationalAdamW is a dead end - the optimizer creates new array objects on
each step, so inputs=[model.state] captures stale references"; the error was "array without
primitive". Elsewhere on the sheet compiling is "used with" it and "applies speedup to" its path.

Chosen: the direction of AdamW, seen from each pair of neighbouring parameters (a, b), has a part
along the pair, which changes its length, and a part across, which becomes an angle by which the
pair turns. Parameters of odd size get AdamW. Every step makes a new dict of new dicts for the
state. A multilayer perceptron of three layers is trained, in a loop that lists the state once,
before training, as one does.
"""

from __future__ import annotations

from typing import Any

from seeds.system import System, training

SIZES = {"tiny": (8, 6), "full": (128, 128)}  # batch, width


def make_optimizer(mx: Any, optimizers: Any) -> Any:
    """A RotationalAdamW on the optimizers of a package."""

    class RotationalAdamW(optimizers.Optimizer):
        def __init__(self, learning_rate: float, betas: tuple[float, float] = (0.9, 0.999),
                     eps: float = 1e-8, weight_decay: float = 0.01) -> None:
            super().__init__()
            self._maybe_schedule("learning_rate", learning_rate)
            self.betas, self.eps, self.weight_decay = betas, eps, weight_decay

        def apply_gradients(self, gradients: Any, parameters: Any) -> Any:
            old = dict(optimizers.tree_flatten(self.state.get("moments", {})))
            known = dict(optimizers.tree_flatten(parameters))
            rate, (b1, b2) = self.state["learning_rate"], self.betas
            new, moments = [], []
            for path, g in optimizers.tree_flatten(gradients):
                m = b1 * old.get(f"{path}.m", mx.zeros_like(g)) + (1 - b1) * g
                v = b2 * old.get(f"{path}.v", mx.zeros_like(g)) + (1 - b2) * g * g
                moments += [(f"{path}.m", m), (f"{path}.v", v)]
                p = known[path] * (1 - rate * self.weight_decay)
                move = rate * m / (mx.sqrt(v) + self.eps)
                new.append((path, p - move if p.size % 2 else self.turned(p, move)))
            self.state = {"step": self.state["step"] + 1, "learning_rate": rate,
                          "moments": optimizers.tree_unflatten(moments)}
            return optimizers.tree_unflatten(new)

        def turned(self, p: Any, move: Any) -> Any:
            """Each pair turned by the part of the move across it, and scaled by that along it."""
            pairs, moves = p.reshape(-1, 2), move.reshape(-1, 2)
            a, b, c, d = pairs[:, 0], pairs[:, 1], moves[:, 0], moves[:, 1]
            square = a * a + b * b + 1e-12
            angle = -(a * d - b * c) / square
            scale = 1 - (a * c + b * d) / square
            cosine, sine = scale * mx.cos(angle), scale * mx.sin(angle)
            return mx.stack([a * cosine - b * sine, a * sine + b * cosine], axis=1).reshape(p.shape)

    return RotationalAdamW(1e-3)


def build(mx: Any, nn: Any, optimizers: Any, size: str) -> System:
    batch, width = SIZES[size]
    model = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width), nn.GELU(),
                          nn.Linear(width, width))
    x = mx.random.normal((batch, width))
    y = mx.sin(3 * x) * x[:, ::-1]

    def loss(x: Any, y: Any) -> Any:
        return nn.losses.mse_loss(model(x), y)

    optimizer = make_optimizer(mx, optimizers)
    return training(mx, nn, model, optimizer, loss, (x, y), ready=False)
