"""Layers that set random parts of their input to zero while training."""

from __future__ import annotations

import eutectic.core as mx
from eutectic.errors import ArgumentError, ShapeError, show_shape
from eutectic.nn.layers.base import Module


class _Dropout(Module):
    """What the three kinds share: they differ in the shape of the mask."""

    def __init__(self, p: float = 0.5) -> None:
        if p < 0 or p >= 1:
            raise ArgumentError(f"[{type(self).__name__}] p must be in [0, 1), got {p}.")
        super().__init__()
        self._p_1 = 1 - p

    def _extra_repr(self) -> str:
        return f"p={1 - self._p_1}"

    def _mask_shape(self, x: mx.array) -> tuple[int, ...]:
        return x.shape

    def __call__(self, x: mx.array) -> mx.array:
        shape = self._mask_shape(x)
        if self._p_1 == 1 or not self.training:
            return x
        mask = mx.random.bernoulli(self._p_1, shape)
        return (mask * x) * (1 / self._p_1)


class Dropout(_Dropout):
    """In training mode each element is zero with probability p, the others are divided by 1 - p.

    Raises ArgumentError unless 0 <= p < 1.

    >>> layer = Dropout(0.5)
    >>> x = layer(mx.ones(100))
    >>> bool(((x == 0) | (x == 2)).all()), layer.eval()(mx.ones(2))
    (True, array([1, 1], dtype=float32))
    """


class Dropout2d(_Dropout):
    """Dropout of whole channels of images: (N, H, W, C), or (H, W, C).

    Raises ArgumentError unless 0 <= p < 1, ShapeError for an input of other dimensions.

    >>> x = Dropout2d(0.5)(mx.ones((2, 4, 4, 3)))
    >>> bool((x == x[:, :1, :1]).all())
    True
    """

    def _mask_shape(self, x: mx.array) -> tuple[int, ...]:
        return _channels("Dropout2d", x, 3)


class Dropout3d(_Dropout):
    """Dropout of whole channels of volumes: (N, D, H, W, C), or (D, H, W, C).

    Raises ArgumentError unless 0 <= p < 1, ShapeError for an input of other dimensions.

    >>> x = Dropout3d(0.5)(mx.ones((2, 4, 4, 4, 3)))
    >>> bool((x == x[:, :1, :1, :1]).all())
    True
    """

    def _mask_shape(self, x: mx.array) -> tuple[int, ...]:
        return _channels("Dropout3d", x, 4)


def _channels(name: str, x: mx.array, ndim: int) -> tuple[int, ...]:
    """Shape of a mask of whole channels, for inputs of `ndim` axes or one more for the batch."""
    if x.ndim not in (ndim, ndim + 1):
        raise ShapeError(f"[{name}] needs {ndim} or {ndim + 1} dimensions, got shape "
                         f"{show_shape(x.shape)}.")
    batch = x.shape[:x.ndim - ndim]
    return (*batch, *([1] * (ndim - 1)), x.shape[-1])
