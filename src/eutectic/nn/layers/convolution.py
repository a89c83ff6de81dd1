"""Convolutions; the channels are the last axis."""

from __future__ import annotations

import math
from typing import Any

import eutectic.core as mx
from eutectic.errors import ArgumentError
from eutectic.nn.layers.base import Module


def spread(x: Any, n: int) -> Any:
    """The same value along each of n axes, unless values are given for each.

    >>> spread(3, 2), spread((1, 2), 2)
    ((3, 3), (1, 2))
    """
    return (x,) * n if isinstance(x, int) else x


class _Conv(Module):
    """What the layers of one, two and three axes share."""

    def _describe(self) -> str:
        kernel, groups = self.weight.shape[1:-1], getattr(self, "groups", None)
        size = kernel[0] if len(kernel) == 1 else kernel
        return (f"{self.weight.shape[-1] * (groups or 1)}, {self.weight.shape[0]}, "
                f"kernel_size={size}, stride={self.stride}, padding={self.padding}, "
                f"dilation={self.dilation}, "
                + (f"groups={groups}, " if groups else "") + f"bias={'bias' in self}")

    _extra_repr = _describe

    def _create(self, in_channels: int, out_channels: int, kernel: tuple[int, ...], groups: int,
                bias: bool) -> None:
        if in_channels % groups:
            raise ArgumentError(f"[{type(self).__name__}] {in_channels} input channels cannot be "
                                f"divided among {groups} groups.")
        scale = math.sqrt(1 / (math.prod(kernel) * in_channels // groups))
        shape = (out_channels, *kernel, in_channels // groups)
        self.weight = mx.random.uniform(-scale, scale, shape)
        if bias:
            self.bias = mx.zeros((out_channels,))

    def _biased(self, y: mx.array) -> mx.array:
        return y + self.bias if "bias" in self else y


class Conv1d(_Conv):
    """Convolution along one axis: (N, L, in_channels) to (N, L', out_channels).

    `weight` of shape (out_channels, kernel_size, in_channels / groups) begins uniformly in [-k, k)
    with k = 1 / sqrt(kernel_size * in_channels / groups), `bias` with zeros.

    Raises ArgumentError where groups do not divide the input channels.

    >>> Conv1d(3, 8, kernel_size=5)(mx.ones((2, 10, 3))).shape
    (2, 6, 8)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1,
                 padding: int = 0, dilation: int = 1, groups: int = 1, bias: bool = True) -> None:
        super().__init__()
        self._create(in_channels, out_channels, (kernel_size,), groups, bias)
        self.padding = padding
        self.dilation = dilation
        self.stride = stride
        self.groups = groups

    def __call__(self, x: mx.array) -> mx.array:
        return self._biased(mx.conv1d(x, self.weight, self.stride, self.padding, self.dilation,
                                      self.groups))


class Conv2d(_Conv):
    """Convolution along two axes: (N, H, W, in_channels) to (N, H', W', out_channels).

    `weight` has shape (out_channels, *kernel_size, in_channels / groups) and begins as that of
    `Conv1d`. Sizes, strides and paddings are an integer for both axes, or a pair.

    Raises ArgumentError where groups do not divide the input channels.

    >>> Conv2d(3, 8, kernel_size=3, padding=1)(mx.ones((1, 4, 5, 3))).shape
    (1, 4, 5, 8)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, int],
                 stride: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0,
                 dilation: int | tuple[int, int] = 1, groups: int = 1, bias: bool = True) -> None:
        super().__init__()
        self._create(in_channels, out_channels, spread(kernel_size, 2), groups, bias)
        self.padding = spread(padding, 2)
        self.stride = spread(stride, 2)
        self.dilation = dilation
        self.groups = groups

    def __call__(self, x: mx.array) -> mx.array:
        return self._biased(mx.conv2d(x, self.weight, self.stride, self.padding, self.dilation,
                                      self.groups))


class Conv3d(_Conv):
    """Convolution along three axes: (N, D, H, W, in_channels) to (N, D', H', W', out_channels).

    `weight` has shape (out_channels, *kernel_size, in_channels) and begins as that of `Conv1d`.

    >>> Conv3d(2, 4, kernel_size=3)(mx.ones((1, 5, 4, 3, 2))).shape
    (1, 3, 2, 1, 4)
    """

    def __init__(self, in_channels: int, out_channels: int,
                 kernel_size: int | tuple[int, int, int], stride: int | tuple[int, int, int] = 1,
                 padding: int | tuple[int, int, int] = 0,
                 dilation: int | tuple[int, int, int] = 1, bias: bool = True) -> None:
        super().__init__()
        self._create(in_channels, out_channels, spread(kernel_size, 3), 1, bias)
        self.padding = spread(padding, 3)
        self.stride = spread(stride, 3)
        self.dilation = dilation

    def __call__(self, x: mx.array) -> mx.array:
        return self._biased(mx.conv3d(x, self.weight, self.stride, self.padding, self.dilation))
