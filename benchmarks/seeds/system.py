"""What a system is to the runner: a step, a unit of work made of steps, and what steps change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Step = Callable[..., Any]


@dataclass
class System:
    """One system, built; a step changes its state, so plain and compiled runs need one each."""

    step: Step
    """The function as written."""
    compile: Callable[[], Step]
    """The function compiled as its author would."""
    run: Callable[[Step], Any]
    """One unit of work with a step: a training step, some tokens. Computes all, returns arrays."""
    state: Callable[[], Any]
    """What steps change: parameters and optimizer, as trees of arrays."""
    one: Callable[[Step], Any] | None = None
    """A single step where the unit has several; its kernels are counted."""
    forward: Step | None = None
    """The forward pass alone, for the batch of a training step."""
    loss: Step | None = None
    """Forward pass and loss, for the same."""
    batch: tuple[Any, ...] = ()


def training(mx: Any, nn: Any, model: Any, optimizer: Any, loss: Callable[..., Any],
             batch: tuple[Any, ...], ready: bool = True) -> System:
    """A training step in the form that MLX's documentation gives it.

    `ready` makes the optimizer's state before the first step, so that one trace is enough.
    """
    loss_and_grad = nn.value_and_grad(model, loss)

    def step(*batch: Any) -> Any:
        value, gradients = loss_and_grad(*batch)
        optimizer.update(model, gradients)
        return value

    mx.eval(model.parameters(), batch)
    if ready:
        optimizer.init(model.trainable_parameters())
    captured = [model.state, optimizer.state]

    def run(step: Step) -> Any:
        value = step(*batch)
        mx.eval(value, model.state, optimizer.state)
        return value

    return System(step, lambda: mx.compile(step, inputs=captured, outputs=captured), run,
                  lambda: [model.parameters(), optimizer.state],
                  forward=lambda x, y: model(x), loss=loss, batch=batch)
