"""Apple's GPUs, as `mx.metal`: there are none here. Programs ask before they use them."""

from __future__ import annotations

from eutectic.errors import ArgumentError
from eutectic.ops.devices import device_info, gpu
from eutectic.ops.evaluation import (
    clear_cache, get_active_memory, get_cache_memory, get_peak_memory, reset_peak_memory,
    set_cache_limit, set_memory_limit, set_wired_limit)

__all__ = [
    "clear_cache", "device_info", "get_active_memory", "get_cache_memory", "get_peak_memory",
    "is_available", "reset_peak_memory", "set_cache_limit", "set_memory_limit", "set_wired_limit",
    "start_capture", "stop_capture"]


def is_available() -> bool:
    """Whether Metal is there: never.

    >>> import eutectic.core as mx
    >>> mx.metal.is_available()
    False
    """
    return False


def start_capture(path: str) -> None:
    """Record what a GPU does. Raises ArgumentError: there is none."""
    raise ArgumentError(f"[metal.start_capture] there is no device {gpu!r}.")


def stop_capture() -> None:
    """End `start_capture`. Raises ArgumentError: there is none."""
    raise ArgumentError(f"[metal.stop_capture] there is no device {gpu!r}.")
