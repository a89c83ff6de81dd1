"""Pooling: the greatest or the mean of windows; the channels are the last axis."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import eutectic.core as mx
from eutectic.errors import ArgumentError, ShapeError, show_shape
from eutectic.nn.layers.base import Module


class _Pool(Module):
    """What all share: windows along the `_ndim` axes before the channels."""

    _ndim: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self._kernel_size = self._sizes("kernel_size", kernel_size)
        self._stride = self._kernel_size if stride is None else self._sizes("stride", stride)
        self._padding = self._sizes("padding", padding)

    def _sizes(self, what: str, value: Any) -> tuple[int, ...]:
        """One integer for each axis."""
        n = self._ndim
        if isinstance(value, int):
            return (value,) * n
        if isinstance(value, (tuple, list)) and len(value) == n and all(
                isinstance(v, int) for v in value):
            return tuple(value)
        raise ArgumentError(f"[{type(self).__name__}] {what} must be an integer or a tuple of "
                            f"{n}, not {value!r}.")

    def _extra_repr(self) -> str:
        return f"kernel_size={self._kernel_size}, stride={self._stride}, padding={self._padding}"

    def _windows(self, x: mx.array, filler: Any, join: Callable[[mx.array, mx.array], mx.array],
                 reduce: Callable[[mx.array, tuple[int, ...]], mx.array]) -> mx.array:
        """Combine the elements of each window, after padding with `filler`.

        Windows that lie side by side are axes of their own, which `reduce` reduces; of others the
        first, second, ... elements are slices, which `join` combines, one axis after another.
        """
        n, kernel, stride = self._ndim, self._kernel_size, self._stride
        if x.ndim < n + 2:
            raise ShapeError(f"[{type(self).__name__}] needs an array of shape (N, "
                             f"{'..., ' if n > 1 else 'L, '}C), got {show_shape(x.shape)}.")
        first = x.ndim - 1 - n
        if any(self._padding):
            widths = [(0, 0)] * first + [(p, p) for p in self._padding] + [(0, 0)]
            x = mx.pad(x, widths, constant_values=filler)
        lengths = x.shape[first:-1]
        counts = [(d - k) // s + 1 for d, k, s in zip(lengths, kernel, stride)]
        if min(counts) < 1:
            raise ShapeError(f"[{type(self).__name__}] windows of {show_shape(kernel)} do not fit "
                             f"into {show_shape(lengths)}.")
        if kernel == stride:
            whole = tuple([slice(0, c * k) for c, k in zip(counts, kernel)])
            x = x[(..., *whole, slice(None))]
            split = [d for pair in zip(counts, kernel) for d in pair]
            x = x.reshape(*x.shape[:first], *split, x.shape[-1])
            return reduce(x, tuple(range(first + 1, first + 1 + 2 * n, 2)))
        for axis, (count, k, s) in enumerate(zip(counts, kernel, stride), first):
            before = (slice(None),) * axis
            x = functools.reduce(join, [
                x[(*before, slice(i, i + s * (count - 1) + 1, s))] for i in range(k)])
        return x


class _MaxPool(_Pool):
    def __call__(self, x: mx.array) -> mx.array:
        floating = mx.issubdtype(x.dtype, mx.inexact)
        least = -mx.inf if floating or not any(self._padding) else int(mx.iinfo(x.dtype).min)
        return self._windows(x, least, mx.maximum, mx.max)


class _AvgPool(_Pool):
    def __call__(self, x: mx.array) -> mx.array:
        count = functools.reduce(lambda a, b: a * b, self._kernel_size)
        return self._windows(x, 0, mx.add, mx.sum) * (1 / count)


class MaxPool1d(_MaxPool):
    """The greatest of each window: (N, L, C) to (N, L', C).

    L' is (L + 2 * padding - kernel_size) // stride + 1; `stride` is `kernel_size` by default.
    Padding is less than every number. Where several elements of overlapping windows are the
    greatest, the gradient goes to one of them.

    Raises ArgumentError for sizes that are no integers, ShapeError for windows that do not fit.

    >>> MaxPool1d(2)(mx.array([[[1.0], [3.0], [2.0], [0.0]]])).flatten()
    array([3, 2], dtype=float32)
    """

    _ndim = 1


class MaxPool2d(_MaxPool):
    """The greatest of each window: (N, H, W, C) to (N, H', W', C); see `MaxPool1d`.

    >>> MaxPool2d(2, stride=1)(mx.arange(9.0).reshape(1, 3, 3, 1)).flatten()
    array([4, 5, 7, 8], dtype=float32)
    """

    _ndim = 2


class MaxPool3d(_MaxPool):
    """The greatest of each window: (N, D, H, W, C) to (N, D', H', W', C); see `MaxPool1d`.

    >>> MaxPool3d(2)(mx.ones((1, 4, 4, 6, 2))).shape
    (1, 2, 2, 3, 2)
    """

    _ndim = 3


class AvgPool1d(_AvgPool):
    """The mean of each window: (N, L, C) to (N, L', C).

    L' is (L + 2 * padding - kernel_size) // stride + 1; `stride` is `kernel_size` by default.
    Padding counts as zeros.

    Raises ArgumentError for sizes that are no integers, ShapeError for windows that do not fit.

    >>> AvgPool1d(2, padding=1)(mx.array([[[1.0], [3.0], [2.0], [0.0]]])).flatten()
    array([0.5, 2.5, 0], dtype=float32)
    """

    _ndim = 1


class AvgPool2d(_AvgPool):
    """The mean of each window: (N, H, W, C) to (N, H', W', C); see `AvgPool1d`.

    >>> AvgPool2d(2, stride=1)(mx.arange(9.0).reshape(1, 3, 3, 1)).flatten()
    array([2, 3, 5, 6], dtype=float32)
    """

    _ndim = 2


class AvgPool3d(_AvgPool):
    """The mean of each window: (N, D, H, W, C) to (N, D', H', W', C); see `AvgPool1d`.

    >>> AvgPool3d((1, 2, 2))(mx.ones((1, 4, 4, 6, 2))).shape
    (1, 4, 2, 3, 2)
    """

    _ndim = 3
