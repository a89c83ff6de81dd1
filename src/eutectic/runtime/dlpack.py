"""Memory to and from other libraries by DLPack, through NumPy's implementation of it.

NumPy has no bfloat16: its values travel as uint16, and the type's code in the capsule's record is
changed behind NumPy's back. The record belongs to one exchange, so nobody else sees that.

Records: https://dmlc.github.io/dlpack/latest/c_api.html.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_UINT, _BFLOAT = 1, 4
# Bytes before the type's code within a DLTensor (data, device, ndim), and before the DLTensor
# within the records of either kind of capsule.
_CODE = 20
_TENSOR = {b"dltensor": 0, b"dltensor_versioned": 32}

_name = ctypes.pythonapi.PyCapsule_GetName
_name.argtypes, _name.restype = [ctypes.py_object], ctypes.c_char_p
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


def _retyped(capsule: Any, before: int, after: int) -> bool:
    """Change the code of a 16-bit type in a capsule; False where it is of another type."""
    name = _name(capsule)
    if name not in _TENSOR:
        return False
    code = (ctypes.c_uint8 * 2).from_address(_pointer(capsule, name) + _TENSOR[name] + _CODE)
    if tuple(code) != (before, 16):
        return False
    code[0] = after
    return True


def exported(view: np.ndarray, bfloat16: bool, max_version: tuple[int, int] | None) -> Any:
    """A capsule of the memory of `view`; with `bfloat16` its uint16 elements are named so."""
    if max_version is None or tuple(max_version) < (1, 0):
        capsule = view.__dlpack__()
    else:
        capsule = view.__dlpack__(max_version=max_version)  # type: ignore[call-arg]
    if bfloat16:
        _retyped(capsule, _UINT, _BFLOAT)
    return capsule


class _Bits:
    """Another library's object, whose bfloat16 elements are called uint16."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self.bfloat16 = False

    def __dlpack__(self, **how: Any) -> Any:
        try:
            capsule = self._producer.__dlpack__(**how)
        except TypeError:  # a producer from before version 1 takes no keywords
            capsule = self._producer.__dlpack__()
        self.bfloat16 = _retyped(capsule, _BFLOAT, _UINT)
        return capsule

    def __dlpack_device__(self) -> Any:
        return self._producer.__dlpack_device__()


def imported(producer: Any) -> tuple[np.ndarray, bool]:
    """(elements in the producer's memory, whether they are bfloat16 as uint16).

    Raises what NumPy or the producer raise where it cannot be had.

    >>> imported(np.arange(3))
    (array([0, 1, 2]), False)
    """
    bits = _Bits(producer)
    return np.from_dlpack(bits), bits.bfloat16
