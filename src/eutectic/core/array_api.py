"""The array API standard: `eutectic.core` is the namespace of its arrays.

Standard: https://data-apis.org/array-api/latest/API_specification/inspection.html.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from eutectic.array import array
from eutectic.dtype import DTYPES, Dtype, bfloat16, complex64, float32, int32
from eutectic.errors import ArgumentError
from eutectic.ops.devices import (
    Device, DeviceType, cpu, default_device, set_default_device, streamed)
from eutectic.ops.types import isdtype

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


class ArrayNamespaceInfo:
    """What the namespace has: devices, dtypes and capabilities."""

    def capabilities(self) -> dict[str, Any]:
        """Which optional parts of the standard are there.

        >>> import eutectic.core as mx
        >>> mx.__array_namespace_info__().capabilities()["data-dependent shapes"]
        False
        """
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": None}

    def default_device(self) -> Device:
        """The device that arrays are made on."""
        return default_device()

    def devices(self) -> tuple[Device, ...]:
        """The devices that are there."""
        return (Device(cpu),)

    def default_dtypes(self, *, device: Any = None) -> dict[str, Dtype]:
        """The dtypes of arrays made without one, by kind."""
        return {"real floating": float32, "complex floating": complex64, "integral": int32,
                "indexing": int32}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Dtype]:
        """The standard's dtypes by name, all or those of some kinds.

        >>> import eutectic.core as mx
        >>> sorted(mx.__array_namespace_info__().dtypes(kind="real floating"))
        ['float16', 'float32', 'float64']
        """
        return {d.name: d for d in DTYPES if d is not bfloat16
                and (kind is None or isdtype(d, kind))}


def array_namespace_info() -> ArrayNamespaceInfo:
    """What the array API standard asks of a namespace: devices, dtypes and capabilities.

    >>> import eutectic.core as mx
    >>> mx.__array_namespace_info__().devices()
    (Device(cpu, 0),)
    """
    return ArrayNamespaceInfo()


def _namespace(self: array, api_version: str | None = None) -> ModuleType:
    """The module with the functions on arrays: `eutectic.core`."""
    if api_version is not None and api_version not in _VERSIONS:
        raise ArgumentError(f"[array_namespace] there is no version {api_version!r} of the array "
                            f"API; versions are {', '.join(_VERSIONS)}.")
    return sys.modules["eutectic.core"]


def _device(self: array) -> Device:
    """The device that the array is on."""
    return default_device()


@streamed
def _to_device(self: array, device: Device | DeviceType, /, *, stream: Any = None
               ) -> array:
    """The array on a device. Raises ArgumentError for one that is not there."""
    set_default_device(device)  # checks that it is there
    return self


for _name, _value in (("__array_namespace__", _namespace), ("device", property(_device)),
                      ("to_device", _to_device)):
    setattr(array, _name, _value)
