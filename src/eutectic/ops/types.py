"""Questions about dtypes: limits, promotion, conversion; and how arrays print."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from eutectic.array import array, set_precision
from eutectic.dtype import (
    PROMOTE, Dtype, DtypeCategory, bfloat16, bool_, complex64, complexfloating, float16, float32,
    float64, floating, integer, issubdtype, number, signedinteger, unsignedinteger)
from eutectic.errors import ArgumentError, ArgumentTypeError, DtypeError

# Bits of precision and exponent range (emin, emax) of the floating types (IEEE 754; bfloat16).
_FORMAT = {float16: (11, -14, 15), bfloat16: (8, -126, 127), float32: (24, -126, 127),
           float64: (53, -1022, 1023)}


class finfo:
    """Limits of a floating or complex dtype.

    Raises DtypeError for other dtypes.

    >>> import eutectic.core as mx
    >>> mx.finfo(mx.float16)
    finfo(min=-65504, max=65504, dtype=float16)
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "smallest_normal")

    def __init__(self, dtype: Dtype) -> None:
        if not isinstance(dtype, Dtype) or not (dtype.is_float or dtype.is_complex):
            raise DtypeError(f"[finfo] {_name(dtype)} is not inexact.")
        self.dtype = float32 if dtype is complex64 else dtype
        digits, least, most = _FORMAT[self.dtype]
        self.bits = 8 * self.dtype.size
        self.eps = 2.0 ** (1 - digits)
        self.max = (2 - self.eps) * 2.0 ** most
        self.min = -self.max
        self.smallest_normal = 2.0 ** least

    def __repr__(self) -> str:
        return f"finfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype.name})"


class iinfo:
    """Limits of an integer dtype.

    Raises DtypeError for other dtypes.

    >>> import eutectic.core as mx
    >>> mx.iinfo(mx.int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, dtype: Dtype) -> None:
        if not isinstance(dtype, Dtype) or not dtype.is_int:
            raise DtypeError(f"[iinfo] {_name(dtype)} is not an integer type.")
        self.dtype = dtype
        self.bits = 8 * dtype.size
        self.min = -(1 << (self.bits - 1)) if dtype.is_signed else 0
        self.max = self.min + (1 << self.bits) - 1

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype.name})"


def _name(x: Any) -> str:
    return x.name if isinstance(x, Dtype) else type(x).__name__


def result_type(*arrays_and_dtypes: Any) -> Dtype:
    """The dtype that arrays and dtypes promote to.

    >>> import eutectic.core as mx
    >>> mx.result_type(mx.int8, mx.array(1.0))
    eutectic.core.float32
    """
    if not arrays_and_dtypes:
        raise ArgumentError("[result_type] needs at least one array or dtype.")
    out = bool_
    for x in arrays_and_dtypes:
        if not isinstance(x, (array, Dtype)):
            raise ArgumentTypeError("[result_type] takes arrays and dtypes, not a "
                                    f"{type(x).__name__}.")
        out = PROMOTE[out.index][(x if isinstance(x, Dtype) else x.dtype).index]
    return out


def can_cast(from_: Any, to: Dtype) -> bool:
    """Whether promotion leads from a dtype (or an array's) to another.

    >>> import eutectic.core as mx
    >>> mx.can_cast(mx.int32, mx.float32), mx.can_cast(mx.float32, mx.int32)
    (True, False)
    """
    source = from_.dtype if isinstance(from_, array) else from_
    if not isinstance(source, Dtype) or not isinstance(to, Dtype):
        raise ArgumentTypeError("[can_cast] takes an array or dtype, and a dtype.")
    return PROMOTE[source.index][to.index] is to


_KINDS: dict[str, tuple[Dtype | DtypeCategory, ...]] = {
    "bool": (bool_,), "signed integer": (signedinteger,), "unsigned integer": (unsignedinteger,),
    "integral": (integer,), "real floating": (floating,), "complex floating": (complexfloating,),
    "numeric": (number,)}


def isdtype(dtype: Dtype, kind: Any) -> bool:
    """Whether a dtype is of a kind of the array API standard, or of one of several.

    Kinds are dtypes and "bool", "signed integer", "unsigned integer", "integral",
    "real floating", "complex floating", "numeric".

    >>> import eutectic.core as mx
    >>> mx.isdtype(mx.int8, ("integral", "bool"))
    True
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    for k in kinds:
        if isinstance(k, Dtype):
            if k is dtype:
                return True
        elif k not in _KINDS:
            known = ", ".join(_KINDS)
            raise ArgumentError(f"[isdtype] there is no kind {k!r}; kinds are\n{known}.")
        elif any(issubdtype(dtype, c) for c in _KINDS[k]):
            return True
    return False


class PrintOptions:
    """How arrays print: `precision` significant digits."""

    __slots__ = ("precision",)

    def __init__(self, precision: int = 6) -> None:
        self.precision = precision

    def __repr__(self) -> str:
        return f"PrintOptions(precision={self.precision})"


_options = PrintOptions()


def set_printoptions(precision: int = -1) -> None:
    """Set the significant digits that arrays print with; -1 leaves them.

    >>> import eutectic.core as mx
    >>> with mx.printoptions(precision=3):
    ...     print(mx.array(3.14159))
    array(3.14, dtype=float32)
    """
    if precision >= 0:
        _options.precision = precision
        set_precision(precision)


def get_printoptions() -> PrintOptions:
    """How arrays print.

    >>> import eutectic.core as mx
    >>> mx.get_printoptions()
    PrintOptions(precision=6)
    """
    return PrintOptions(_options.precision)


class printoptions:
    """A context manager under which arrays print with other options.

    >>> import eutectic.core as mx
    >>> with mx.printoptions(precision=2):
    ...     print(mx.array([1.234]))
    array([1.2], dtype=float32)
    """

    def __init__(self, precision: int = -1) -> None:
        self.precision = precision

    def __enter__(self) -> PrintOptions:
        self.former = _options.precision
        set_printoptions(self.precision)
        return get_printoptions()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        set_printoptions(self.former)
