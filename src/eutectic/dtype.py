"""Data types, their categories, and promotion (MLX's rules; Python scalars are weak)."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from eutectic.errors import ArgumentTypeError


class DtypeCategory(Enum):
    """A set of data types, e.g. `floating`; `issubdtype` walks from a type to its categories."""

    complexfloating = 0
    floating = 1
    inexact = 2
    signedinteger = 3
    unsignedinteger = 4
    integer = 5
    number = 6
    generic = 7

    @property
    def parent(self) -> DtypeCategory | None:
        """The category that holds all of this one."""
        return _PARENT.get(self)

    def __repr__(self) -> str:
        return f"DtypeCategory.{self.name}"


generic = DtypeCategory.generic
number = DtypeCategory.number
integer = DtypeCategory.integer
signedinteger = DtypeCategory.signedinteger
unsignedinteger = DtypeCategory.unsignedinteger
inexact = DtypeCategory.inexact
floating = DtypeCategory.floating
complexfloating = DtypeCategory.complexfloating
_PARENT = {
    number: generic, integer: number, signedinteger: integer, unsignedinteger: integer,
    inexact: number, floating: inexact, complexfloating: inexact}


class Dtype:
    """A data type: name, size in bytes, category, and how the compiler stores and computes it.

    >>> import eutectic.core as mx
    >>> mx.float32.size, mx.bfloat16.size
    (4, 2)
    """

    __slots__ = ("category", "compute", "index", "is_complex", "is_float", "is_int", "is_signed",
                 "name", "np", "size")

    def __init__(self, index: int, name: str, size: int, category: DtypeCategory, compute: str,
                 np_dtype: Any) -> None:
        self.index = index
        self.name = name
        self.size = size
        self.category = category
        self.compute = compute
        """Type of the kernel's registers: 'bool', 'u8'..'i64', 'f32', 'f64' or 'c64'."""
        self.np = np.dtype(np_dtype)
        """NumPy type of the same bytes (bfloat16: uint16)."""
        self.is_float = category is floating
        self.is_complex = category is complexfloating
        self.is_signed = category is signedinteger
        self.is_int = category in (signedinteger, unsignedinteger)

    def __repr__(self) -> str:
        return f"eutectic.core.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_by_name, (self.name,))

    def __copy__(self) -> Dtype:
        return self

    def __deepcopy__(self, memo: Any) -> Dtype:
        return self

    @property
    def is_half(self) -> bool:
        """True of the two types that are computed in float32 and rounded after each operation."""
        return self.size == 2 and self.is_float


_S, _U = signedinteger, unsignedinteger
bool_ = Dtype(0, "bool", 1, generic, "bool", np.bool_)
uint8 = Dtype(1, "uint8", 1, _U, "u8", np.uint8)
uint16 = Dtype(2, "uint16", 2, _U, "u16", np.uint16)
uint32 = Dtype(3, "uint32", 4, _U, "u32", np.uint32)
uint64 = Dtype(4, "uint64", 8, _U, "u64", np.uint64)
int8 = Dtype(5, "int8", 1, _S, "i8", np.int8)
int16 = Dtype(6, "int16", 2, _S, "i16", np.int16)
int32 = Dtype(7, "int32", 4, _S, "i32", np.int32)
int64 = Dtype(8, "int64", 8, _S, "i64", np.int64)
float16 = Dtype(9, "float16", 2, floating, "f32", np.float16)
bfloat16 = Dtype(10, "bfloat16", 2, floating, "f32", np.uint16)
float32 = Dtype(11, "float32", 4, floating, "f32", np.float32)
float64 = Dtype(12, "float64", 8, floating, "f64", np.float64)
complex64 = Dtype(13, "complex64", 8, complexfloating, "c64", np.complex64)

DTYPES = (bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, bfloat16,
          float32, float64, complex64)
BY_NAME = {d.name: d for d in DTYPES} | {"bool_": bool_}


def _by_name(name: str) -> Dtype:
    return BY_NAME[name]


def _promote(a: Dtype, b: Dtype) -> Dtype:
    if a is b:
        return a
    if a.index > b.index:
        a, b = b, a
    if a is bool_ or b is complex64 or b is float64:
        return b
    if b.is_float:
        return float32 if a is float16 else b  # float16 with bfloat16, and either with float32
    if a.is_signed == b.is_signed:
        return b
    # a unsigned, b signed: the next signed type that holds both; uint64 has none.
    if a is uint64:
        return float32
    return {1: int16, 2: int32, 4: int64}[a.size] if b.size <= a.size else b


PROMOTE = tuple(tuple(_promote(a, b) for b in DTYPES) for a in DTYPES)


def promote(a: Dtype, b: Dtype) -> Dtype:
    """Return the type that an operation on `a` and `b` computes in.

    >>> promote(uint8, int8), promote(float16, bfloat16)
    (eutectic.core.int16, eutectic.core.float32)
    """
    return PROMOTE[a.index][b.index]


def scalar_dtype(value: Any, other: Dtype | None = None) -> Dtype:
    """Return the type a Python scalar takes beside an array of type `other` (weak promotion)."""
    if isinstance(value, bool):
        return bool_ if other is None else other
    if isinstance(value, int):
        if other is not None and other is not bool_:
            return other
        return int32 if -(1 << 31) <= value < 1 << 31 else int64
    if isinstance(value, float):
        return other if other is not None and (other.is_float or other.is_complex) else float32
    if isinstance(value, complex):
        return complex64
    raise ArgumentTypeError(f"[array] cannot use a {type(value).__name__} as a number.")


def float_of(d: Dtype) -> Dtype:
    """Return `d` when it is inexact, float32 otherwise: the result type of `exp` and its like."""
    return d if d.is_float or d.is_complex else float32


_NP = {d.np: d for d in DTYPES if d is not bfloat16}


def from_numpy(np_dtype: Any) -> Dtype | None:
    """Return the type of the same bytes as a NumPy dtype, or None where there is none."""
    np_dtype = np.dtype(np_dtype)
    if np_dtype.name == "bfloat16":  # ml_dtypes
        return bfloat16
    return _NP.get(np_dtype.newbyteorder("=") if np_dtype.byteorder == ">" else np_dtype)


def issubdtype(a: Dtype | DtypeCategory, b: Dtype | DtypeCategory) -> bool:
    """Say whether `a` is the type `b`, or belongs to the category `b`.

    >>> issubdtype(float32, inexact), issubdtype(int8, floating)
    (True, False)
    """
    for x in (a, b):
        if not isinstance(x, (Dtype, DtypeCategory)):
            raise ArgumentTypeError("[issubdtype] takes dtypes and categories, not "
                                    f"{type(x).__name__}.")
    if isinstance(b, Dtype):
        return a is b
    category: DtypeCategory | None = a.category if isinstance(a, Dtype) else a
    while category is not None:
        if category is b:
            return True
        category = category.parent
    return False
