"""Containers of layers."""

from __future__ import annotations

from typing import Any

import eutectic.core as mx
from eutectic.nn.layers.base import Module


class Sequential(Module):
    """Calls modules or other functions one after another.

    >>> model = Sequential(lambda x: x + 1, mx.negative)
    >>> model(mx.array([1.0]))
    array([-2], dtype=float32)
    """

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        self.layers = list(modules)

    def __call__(self, x: mx.array) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x
