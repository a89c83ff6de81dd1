"""Resonance attention: a bank of damped oscillators that keys drive and queries read, step by step.

Given: the "resonance attention Python loop" "breaks mx.compile". `.tolist()` "was identified
blocker": compiling "depends on fixing" it.

Chosen: each head is an oscillator with a frequency and a damping of its own; its state turns by the
angle of a step, takes in key times value, and is read by the query. The loop over positions is in
Python. The frequencies are parameters, turned into sine and cosine as arrays: the `.tolist()` that
would make them Python numbers is left out here and is a check of its own. With `scan` the loop is
one operation, `mx.scan`, which MLX has not. A training step: one layer between two linear ones,
AdamW.
"""

from __future__ import annotations

from typing import Any

from seeds.system import System, training

SIZES = {"tiny": (2, 4, 2, 3), "full": (8, 32, 4, 32)}  # batch, length, heads, width of a head


def build(mx: Any, nn: Any, optimizers: Any, size: str, scan: bool = False) -> System:
    if scan and not hasattr(mx, "scan"):
        raise LookupError("no mx.scan")
    batch, length, heads, each = SIZES[size]
    width = heads * each

    class Resonance(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.frequency = mx.linspace(0.1, 2.0, heads)[:, None]
            self.damping = mx.full((heads, 1), 3.0)
            self.project = nn.Linear(width, 3 * width, bias=False)
            self.out = nn.Linear(width, width)

        def __call__(self, x: Any) -> Any:
            # (length, batch, heads, each), so that a position is the first axis
            qkv = self.project(x).reshape(batch, length, 3, heads, each)
            q, k, v = (qkv[:, :, j].transpose(1, 0, 2, 3) for j in range(3))
            keep = mx.sigmoid(self.damping)
            cosine, sine = keep * mx.cos(self.frequency), keep * mx.sin(self.frequency)

            def turn(state: Any, xs: Any) -> Any:
                (real, imaginary), (q, k, v) = state, xs
                real, imaginary = (real * cosine - imaginary * sine + k * v,
                                   real * sine + imaginary * cosine)
                return (real, imaginary), mx.tanh(q * real + imaginary)

            state = mx.zeros((batch, heads, each)), mx.zeros((batch, heads, each))
            if scan:
                _, y = mx.scan(turn, state, (q, k, v))
            else:
                ys = []
                for t in range(length):
                    state, y = turn(state, (q[t], k[t], v[t]))
                    ys.append(y)
                y = mx.stack(ys)
            return self.out(y.transpose(1, 0, 2, 3).reshape(batch, length, width))

    model = Resonance()
    x = mx.random.normal((batch, length, width))
    y = mx.cumsum(x, axis=1) * 0.1

    def loss(x: Any, y: Any) -> Any:
        return nn.losses.mse_loss(model(x), y)

    return training(mx, nn, model, optimizers.AdamW(1e-3), loss, (x, y))
