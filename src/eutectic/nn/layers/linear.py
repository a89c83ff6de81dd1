"""Layers that multiply by a matrix, and the one that does nothing."""

from __future__ import annotations

import math
from typing import Any

import eutectic.core as mx
from eutectic.nn.layers.base import Module


class Identity(Module):
    """A layer that returns its input; arguments are ignored.

    >>> Identity(3, kind="any")(mx.array([1.0]))
    array([1], dtype=float32)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def __call__(self, x: mx.array) -> mx.array:
        return x


class Linear(Module):
    """x @ weight.T + bias along the last axis: (..., input_dims) to (..., output_dims).

    `weight` of shape (output_dims, input_dims) and `bias` of (output_dims,) begin uniformly in
    [-k, k) with k = 1 / sqrt(input_dims).

    >>> layer = Linear(3, 2)
    >>> layer(mx.ones((4, 3))).shape, layer
    ((4, 2), Linear(input_dims=3, output_dims=2, bias=True))
    """

    def __init__(self, input_dims: int, output_dims: int, bias: bool = True) -> None:
        super().__init__()
        scale = math.sqrt(1.0 / input_dims)
        self.weight = mx.random.uniform(-scale, scale, (output_dims, input_dims))
        if bias:
            self.bias = mx.random.uniform(-scale, scale, (output_dims,))

    def _extra_repr(self) -> str:
        outputs, inputs = self.weight.shape
        return f"input_dims={inputs}, output_dims={outputs}, bias={'bias' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        if "bias" in self:
            return mx.addmm(self["bias"], x, self["weight"].T)
        return x @ self["weight"].T


class Bilinear(Module):
    """x1 W x2 + bias: (..., input1_dims) and (..., input2_dims) to (..., output_dims).

    `weight` has shape (output_dims, input2_dims, input1_dims); it and `bias` begin uniformly in
    [-k, k) with k = 1 / sqrt(input1_dims).

    >>> Bilinear(2, 3, 4)(mx.ones((5, 2)), mx.ones((5, 3))).shape
    (5, 4)
    """

    def __init__(self, input1_dims: int, input2_dims: int, output_dims: int,
                 bias: bool = True) -> None:
        super().__init__()
        scale = math.sqrt(1.0 / input1_dims)
        self.weight = mx.random.uniform(-scale, scale, (output_dims, input2_dims, input1_dims))
        if bias:
            self.bias = mx.random.uniform(-scale, scale, (output_dims,))

    def _extra_repr(self) -> str:
        outputs, second, first = self.weight.shape
        return (f"input1_dims={first}, input2_dims={second}, output_dims={outputs}, "
                f"bias={'bias' in self}")

    def __call__(self, x1: mx.array, x2: mx.array) -> mx.array:
        outputs, second, first = self.weight.shape
        batch = x1.shape[:-1]
        flat1, flat2 = x1.reshape(-1, first), x2.reshape(-1, second, 1)
        # (n, outputs * second), then a product with the second input for each of n.
        halves = (flat1 @ self.weight.reshape(outputs * second, first).T).reshape(
            -1, outputs, second)
        y = (halves @ flat2).squeeze(-1).reshape(*batch, outputs)
        return y + self.bias if "bias" in self else y
