"""The table of vectors of tokens."""

from __future__ import annotations

import math

import eutectic.core as mx
from eutectic.nn.layers.base import Module


class Embedding(Module):
    """Rows of a table: integers of any shape to (..., dims).

    `weight` of shape (num_embeddings, dims) begins normally distributed with standard deviation
    1 / sqrt(dims).

    >>> layer = Embedding(10, 4)
    >>> layer(mx.array([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    def __init__(self, num_embeddings: int, dims: int) -> None:
        super().__init__()
        self.weight = mx.random.normal((num_embeddings, dims), scale=math.sqrt(1 / dims))

    def _extra_repr(self) -> str:
        return ", ".join(map(str, self.weight.shape))

    def __call__(self, x: mx.array) -> mx.array:
        return self["weight"][x]

    def as_linear(self, x: mx.array) -> mx.array:
        """x @ weight.T: the table as the last layer of a model; (..., dims) to the logits.

        >>> Embedding(10, 4).as_linear(mx.ones((2, 4))).shape
        (2, 10)
        """
        return x @ self["weight"].T
