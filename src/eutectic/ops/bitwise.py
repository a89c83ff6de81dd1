"""Operations on the bits of integers and booleans, and views of bits as another type."""

from __future__ import annotations

from typing import Any

import numpy as np

from eutectic.dtype import Dtype, bool_, uint8
from eutectic.kernel import mathlib as ml
from eutectic.kernel.scalar import Value
from eutectic.ops.registry import elementwise, integral


@elementwise(reference=np.bitwise_and, takes=integral, commutes=True,
             methods=("__and__", "__rand__"))
def bitwise_and(a: Value, b: Value) -> Value:
    """Bits that both elements have.

    Integers and booleans; the result has the promoted dtype. Raises DtypeError for other dtypes.

    >>> import eutectic.core as mx
    >>> mx.bitwise_and(mx.array([6, 5]), 3)
    array([2, 1], dtype=int32)
    """
    return a & b


@elementwise(reference=np.bitwise_or, takes=integral, commutes=True, methods=("__or__", "__ror__"))
def bitwise_or(a: Value, b: Value) -> Value:
    """Bits that one of the elements has.

    Integers and booleans; the result has the promoted dtype. Raises DtypeError for other dtypes.

    >>> import eutectic.core as mx
    >>> mx.bitwise_or(mx.array([6, 5]), 3)
    array([7, 7], dtype=int32)
    """
    return a | b


@elementwise(reference=np.bitwise_xor, takes=integral, commutes=True,
             methods=("__xor__", "__rxor__"))
def bitwise_xor(a: Value, b: Value) -> Value:
    """Bits that exactly one of the elements has.

    Integers and booleans; the result has the promoted dtype. Raises DtypeError for other dtypes.

    >>> import eutectic.core as mx
    >>> mx.bitwise_xor(mx.array([6, 5]), 3)
    array([5, 6], dtype=int32)
    """
    return a ^ b


@elementwise(reference=np.invert, takes=integral, methods=("__invert__",))
def bitwise_invert(a: Value) -> Value:
    """All bits flipped; the negation of booleans.

    Integers and booleans. Raises DtypeError for other dtypes.

    >>> import eutectic.core as mx
    >>> mx.bitwise_invert(mx.array([0, 5]))
    array([-1, -6], dtype=int32)
    """
    return ~a


def _numbers(d: Dtype) -> Dtype:
    return uint8 if d is bool_ else d


def _shift_amounts(shift: Any) -> Any:
    """NumPy's shift, for amounts NumPy leaves to the compiler as well."""
    def reference(a: Any, b: Any) -> Any:
        width = 8 * a.dtype.itemsize
        inside = (b >= 0) & (b < width)
        shifted = shift(a, np.where(inside, b, 0).astype(a.dtype))
        outside = a >> (width - 1) if shift is np.right_shift and a.dtype.kind == "i" else a * 0
        return np.where(inside, shifted, outside).astype(a.dtype)
    return reference


@elementwise(reference=_shift_amounts(np.left_shift), computes=_numbers, takes=integral,
             aliases=("bitwise_left_shift",), methods=("__lshift__", "__rlshift__"))
def left_shift(a: Value, b: Value) -> Value:
    """Bits moved up by `b` places: a * 2^b, wrapping; 0 where `b` is not in [0, width).

    Integers; booleans are taken as uint8. Raises DtypeError for other dtypes.

    >>> import eutectic.core as mx
    >>> mx.left_shift(mx.array([1, 2]), 3)
    array([8, 16], dtype=int32)
    """
    return ml.left_shift(a, b)


@elementwise(reference=_shift_amounts(np.right_shift), computes=_numbers, takes=integral,
             aliases=("bitwise_right_shift",), methods=("__rshift__", "__rrshift__"))
def right_shift(a: Value, b: Value) -> Value:
    """Bits moved down by `b` places: floor(a / 2^b); the sign fills where `b` is not in [0, width).

    Integers; booleans are taken as uint8. Raises DtypeError for other dtypes.

    >>> import eutectic.core as mx
    >>> mx.right_shift(mx.array([16, -16]), 3)
    array([2, -2], dtype=int32)
    """
    return ml.right_shift(a, b)
