"""Upsampling of signals, images and volumes by interpolation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

import eutectic.core as mx
from eutectic.errors import ArgumentError, ShapeError, show_shape
from eutectic.nn.layers.base import Module

_MODES = ("nearest", "linear", "cubic")


class Upsample(Module):
    """Resample the axes between the first and the last: (N, ..., C), each by its scale.

    The new length is int(scale * length). Modes: the `nearest` element, `linear` or `cubic`
    interpolation (Keys, 1981), axis by axis. `align_corners` maps first and last elements onto each
    other instead of keeping the outer edges; `antialias` widens the kernel where the scale is below
    one. Interpolation computes in float32.

    Raises ArgumentError for another mode or options that exclude each other, ShapeError for an
    input without such axes, or with another number of them than scales.

    >>> x = mx.array([1.0, 2.0]).reshape(1, 2, 1)
    >>> Upsample(2)(x).flatten(), Upsample(2, mode="linear")(x).flatten()
    (array([1, 1, 2, 2], dtype=float32), array([1, 1.25, 1.75, 2], dtype=float32))
    """

    def __init__(self, scale_factor: float | tuple[float, ...],
                 mode: Literal["nearest", "linear", "cubic"] = "nearest",
                 align_corners: bool = False, antialias: bool = False) -> None:
        super().__init__()
        if mode not in _MODES:
            raise ArgumentError(f"[Upsample] mode must be one of {', '.join(_MODES)}, not "
                                f"{mode!r}.")
        if antialias and (mode == "nearest" or align_corners):
            raise ArgumentError("[Upsample] antialias needs linear or cubic interpolation without "
                                "align_corners.")
        self.scale_factor = (tuple(map(float, scale_factor))
                             if isinstance(scale_factor, (list, tuple)) else float(scale_factor))
        self.mode = mode
        self.align_corners = align_corners
        self.antialias = antialias

    def _extra_repr(self) -> str:
        text = (f"scale_factor={self.scale_factor}, mode={self.mode!r}, "
                f"align_corners={self.align_corners}")
        return text + ", antialias=True" if self.antialias else text

    def __call__(self, x: mx.array) -> mx.array:
        dims = x.ndim - 2
        if dims < 1:
            raise ShapeError("[Upsample] needs (N, ..., C) of at least three dimensions, got "
                             f"shape {show_shape(x.shape)}.")
        scales = self.scale_factor
        if not isinstance(scales, tuple):
            scales = (scales,) * dims
        elif len(scales) != dims:
            raise ShapeError(f"[Upsample] {len(scales)} scales for the {dims} inner axes of shape "
                             f"{show_shape(x.shape)}.")
        for axis, scale in enumerate(scales, 1):
            if self.mode == "nearest":
                x = _nearest(x, axis, scale)
            else:
                x = self._interpolated(x, axis, scale)
        return x

    def _interpolated(self, x: mx.array, axis: int, scale: float) -> mx.array:
        indices, weights = _taps(x.shape[axis], scale, self.mode, self.align_corners,
                                 self.antialias)
        place = (-1,) + (1,) * (x.ndim - 1 - axis)
        y = None
        for at, w in zip(indices, weights):
            part = mx.take(x, mx.array(at), axis=axis) * mx.array(w).reshape(place)
            y = part if y is None else y + part
        assert y is not None
        return y


def _nearest(x: mx.array, axis: int, scale: float) -> mx.array:
    n = x.shape[axis]
    m = int(scale * n)
    if m == scale * n and m % n == 0:
        wide = mx.expand_dims(x, axis + 1)
        wide = mx.broadcast_to(wide, (*x.shape[:axis + 1], m // n, *x.shape[axis + 1:]))
        return wide.reshape(*x.shape[:axis], m, *x.shape[axis + 1:])
    at = np.arange(m, dtype=np.float32)
    # Upsampling takes the element whose centre is nearest, downsampling the first one covered.
    at = np.rint((at + 0.5) * np.float32(n / m) - 0.5) if m > n else at * np.float32(n / m)
    return mx.take(x, mx.array(np.clip(at.astype(np.int32), 0, n - 1)), axis=axis)


def _taps(n: int, scale: float, mode: str, align_corners: bool, antialias: bool
          ) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Indices and weights, each a list of arrays of the new length: y = sum of w * x[index]."""
    m = int(scale * n)
    if align_corners:
        centre = np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0)
    else:
        centre = np.arange(m) / scale - ((m - 1) / scale - n + 1) / 2
    if mode == "linear" and not antialias:
        centre = np.clip(centre, 0, n - 1)
    kernel = _KERNELS[mode, antialias]
    widen = max(1 / scale, 1.0) if antialias else 1.0
    reach = math.ceil(widen * (1 if mode == "linear" else 2))
    start = np.floor(centre).astype(np.int64) - reach + 1
    indices, weights = [], []
    for k in range(2 * reach):
        at = start + k
        w = kernel(np.abs(centre - at) / widen)
        if antialias:
            w = np.where((at >= 0) & (at < n), w, 0.0)
        indices.append(np.clip(at, 0, n - 1).astype(np.int32))
        weights.append(w)
    total = sum(weights) if antialias else 1.0
    return indices, [(w / total).astype(np.float32) for w in weights]


def _tent(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - x, 0.0)


def _keys(a: float) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0.0))
    return kernel


_KERNELS: dict[tuple[str, bool], Callable[[np.ndarray], np.ndarray]] = {
    ("linear", False): _tent, ("linear", True): _tent,
    ("cubic", False): _keys(-0.75), ("cubic", True): _keys(-0.5)}
"""By mode and antialias; Keys' parameter differs, as in MLX and torch."""
