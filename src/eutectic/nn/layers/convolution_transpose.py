"""Transposed convolutions; the channels are the last axis."""

from __future__ import annotations

import eutectic.core as mx
from eutectic.nn.layers.convolution import _Conv, spread


class _ConvTranspose(_Conv):
    def _extra_repr(self) -> str:
        head, _, bias = self._describe().rpartition(", ")
        return f"{head}, output_padding={self.output_padding}, {bias}"


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution along one axis: (N, L, in_channels) to (N, L', out_channels).

    `weight` of shape (out_channels, kernel_size, in_channels) and `bias` begin as those of
    `Conv1d`. `output_padding` adds to the length of the result.

    >>> ConvTranspose1d(3, 8, kernel_size=4, stride=2)(mx.ones((1, 5, 3))).shape
    (1, 12, 8)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1,
                 padding: int = 0, dilation: int = 1, output_padding: int = 0,
                 bias: bool = True) -> None:
        super().__init__()
        self._create(in_channels, out_channels, (kernel_size,), 1, bias)
        self.padding = padding
        self.dilation = dilation
        self.stride = stride
        self.output_padding = output_padding

    def __call__(self, x: mx.array) -> mx.array:
        return self._biased(mx.conv_transpose1d(
            x, self.weight, self.stride, self.padding, self.dilation, self.output_padding))


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution along two axes: (N, H, W, in_channels) to (N, H', W', out_channels).

    `weight` has shape (out_channels, *kernel_size, in_channels); see `ConvTranspose1d`.

    >>> ConvTranspose2d(3, 8, kernel_size=2, stride=2)(mx.ones((1, 4, 5, 3))).shape
    (1, 8, 10, 8)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, int],
                 stride: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0,
                 dilation: int | tuple[int, int] = 1,
                 output_padding: int | tuple[int, int] = 0, bias: bool = True) -> None:
        super().__init__()
        self._create(in_channels, out_channels, spread(kernel_size, 2), 1, bias)
        self.padding = spread(padding, 2)
        self.stride = spread(stride, 2)
        self.output_padding = spread(output_padding, 2)
        self.dilation = dilation

    def __call__(self, x: mx.array) -> mx.array:
        return self._biased(mx.conv_transpose2d(
            x, self.weight, self.stride, self.padding, self.dilation, self.output_padding))


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution along three axes: (N, D, H, W, C) to (N, D', H', W', out_channels).

    `weight` has shape (out_channels, *kernel_size, in_channels); see `ConvTranspose1d`.

    >>> ConvTranspose3d(2, 4, kernel_size=2, stride=2)(mx.ones((1, 2, 3, 4, 2))).shape
    (1, 4, 6, 8, 4)
    """

    def __init__(self, in_channels: int, out_channels: int,
                 kernel_size: int | tuple[int, int, int], stride: int | tuple[int, int, int] = 1,
                 padding: int | tuple[int, int, int] = 0,
                 dilation: int | tuple[int, int, int] = 1,
                 output_padding: int | tuple[int, int, int] = 0, bias: bool = True) -> None:
        super().__init__()
        self._create(in_channels, out_channels, spread(kernel_size, 3), 1, bias)
        self.padding = spread(padding, 3)
        self.stride = spread(stride, 3)
        self.output_padding = spread(output_padding, 3)
        self.dilation = dilation

    def __call__(self, x: mx.array) -> mx.array:
        return self._biased(mx.conv_transpose3d(
            x, self.weight, self.stride, self.padding, self.dilation, self.output_padding))
