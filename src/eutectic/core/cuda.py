"""NVIDIA's GPUs, as `mx.cuda`."""

from __future__ import annotations

from eutectic.ops import devices

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether arrays can be computed on an NVIDIA GPU.

    >>> import eutectic.core as mx
    >>> mx.cuda.is_available() == mx.is_available(mx.gpu)
    True
    """
    return devices.is_available(devices.gpu)
