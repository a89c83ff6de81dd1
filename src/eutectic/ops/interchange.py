"""Arrays from other libraries' memory: shared where that can be, copied otherwise."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from eutectic.array import array, copy_numpy, import_dlpack, wrap
from eutectic.dtype import Dtype, float64, from_numpy
from eutectic.errors import ArgumentError, ArgumentTypeError
from eutectic.graph.ir import INPUT, Node
from eutectic.graph.layout import Data
from eutectic.runtime import buffers


@runtime_checkable
class ArrayLike(Protocol):
    """An object that operations take as an array: it has a method `__mlx_array__` that gives one.

    >>> import eutectic.core as mx
    >>> class Wrapped:
    ...     def __mlx_array__(self):
    ...         return mx.array([1, 2])
    >>> isinstance(Wrapped(), mx.ArrayLike), mx.array([1, 1]) + Wrapped()
    (True, array([2, 3], dtype=int32))
    """

    def __mlx_array__(self) -> array:
        """The array that the object stands for."""
        ...


def from_dlpack(x: Any, /, *, copy: bool | None = None) -> array:
    """Return an array of an object that exports its memory by DLPack: torch, jax, NumPy and others.

    Memory of the CPU is shared where dtype and alignment allow it: whoever changes it changes the
    array. It is copied otherwise, and where `copy` is True. float64 becomes float32 and complex128
    complex64, as in `array(x)`.

    Raises ArgumentTypeError for objects without DLPack, ArgumentError where `copy=False` and a copy
    is needed, DtypeError for types that are not there.

    >>> import eutectic.core as mx
    >>> x = np.arange(3, dtype=np.int32)
    >>> a = mx.from_dlpack(x)
    >>> x[0] = 5
    >>> a
    array([5, 1, 2], dtype=int32)
    """
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise ArgumentTypeError(f"[from_dlpack] a {type(x).__name__} does not export its memory by "
                                "DLPack; use mx.array(...).")
    if isinstance(x, array):
        return wrap(x._n)
    view, found = import_dlpack(x, "from_dlpack")
    return wrap(_taken("from_dlpack", view, found, None, copy))


def asarray(a: Any, dtype: Dtype | None = None, *, copy: bool | None = None) -> array:
    """Return an array as it is, and anything else as `array(a, dtype)` does.

    With `copy=False` the array shares the memory of NumPy data and of objects with DLPack.

    Raises ArgumentError where `copy=False` and a copy is needed.

    >>> import eutectic.core as mx
    >>> x = mx.array([1, 2])
    >>> mx.asarray(x) is x
    True
    """
    if isinstance(a, array) and (dtype is None or dtype is a._n.dtype):
        return wrap(a._n) if copy else a
    if copy is False:
        if isinstance(a, np.ndarray):
            return wrap(_taken("asarray", a, from_numpy(a.dtype), dtype, False))
        if hasattr(a, "__dlpack__") and not isinstance(a, array):
            return wrap(_taken("asarray", *import_dlpack(a, "asarray"), dtype, False))
        raise ArgumentError(f"[asarray] a {type(a).__name__} becomes an array only by copying.")
    return array(a, dtype)


def _taken(name: str, view: np.ndarray, found: Dtype | None, dtype: Dtype | None,
           copy: bool | None) -> Node:
    """A leaf in the memory of `view`, whose dtype is `found`, or with a copy of it."""
    kept = found is not None and (found is dtype or (dtype is None and found is not float64))
    node = _shared(view, found) if kept and not copy else None
    if node is None:
        if copy is False:
            what = "unaligned or foreign-endian memory" if kept else str(view.dtype)
            raise ArgumentError(f"[{name}] {what} becomes an array of this dtype only by copying.")
        return copy_numpy(view, dtype, found)
    return node


def _shared(x: np.ndarray, dtype: Any) -> Node | None:
    """A leaf in the memory of `x`; None where its elements do not lie as ours do."""
    size = dtype.size
    start = x.ctypes.data
    if not x.size or not x.dtype.isnative or start % size or any(s % size for s in x.strides):
        return None
    node = Node(INPUT, (), (), x.shape, dtype)
    spans = [(d - 1) * s for d, s in zip(x.shape, x.strides)]
    low = sum([s for s in spans if s < 0])
    high = sum([s for s in spans if s > 0]) + size
    held = buffers.wrap(x, start + low, high - low, readonly=not x.flags.writeable)
    strides = None if x.flags.c_contiguous else tuple([s // size for s in x.strides])
    node.data = Data(held, -low, strides)
    return node
