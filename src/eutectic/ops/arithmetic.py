"""Arithmetic: sums, products, quotients, powers, extremes, signs and parts of numbers."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import Dtype
from eutectic.graph.ir import Node
from eutectic.graph.number import Number
from eutectic.kernel import mathlib as ml
from eutectic.kernel.prim import Prim
from eutectic.kernel.reductions import MAX, MIN, Reduction
from eutectic.kernel.scalar import INTS, SIGNED, Complex, Value, const, select
from eutectic.ops.devices import streamed
from eutectic.ops.registry import (
    OPS, elementwise, install, node_of, not_complex, real_of, to_float)

Scalar = Any
"""A `Value` or, of complex64, a `Complex`."""


@elementwise(reference=np.add, commutes=True, methods=("__add__", "__radd__"),
             vjp=lambda g, y, a, b: (g, g))
def add(a: Scalar, b: Scalar) -> Scalar:
    """Sum of two arrays, elementwise; of booleans, their `or`.

    Any dtypes and broadcastable shapes; the result has the promoted dtype. Integers wrap. Raises
    ShapeError where the shapes do not broadcast.

    >>> import eutectic.core as mx
    >>> mx.add(mx.array([1, 2]), 2.5)
    array([3.5, 4.5], dtype=float32)
    """
    return a | b if a.ty == "bool" else a + b


@elementwise(reference=lambda a, b: a ^ b if a.dtype == bool else np.subtract(a, b),
             methods=("__sub__", "__rsub__"),
             vjp=lambda g, y, a, b: (g, -g))
def subtract(a: Scalar, b: Scalar) -> Scalar:
    """Difference of two arrays, elementwise; of booleans, whether they differ.

    Any dtypes and broadcastable shapes; the result has the promoted dtype. Integers wrap.

    >>> import eutectic.core as mx
    >>> mx.subtract(mx.array([5, 2]), mx.array([1, 3]))
    array([4, -1], dtype=int32)
    """
    return a ^ b if a.ty == "bool" else a - b


@elementwise(reference=np.multiply, commutes=True, methods=("__mul__", "__rmul__"), ulp=1.0,
             vjp=lambda g, y, a, b: (g * b, g * a))
def multiply(a: Scalar, b: Scalar) -> Scalar:
    """Product of two arrays, elementwise; of booleans, their `and`.

    Any dtypes and broadcastable shapes; the result has the promoted dtype. Integers wrap.

    >>> import eutectic.core as mx
    >>> mx.multiply(mx.array([1, 2]), mx.array([[3], [4]]))
    array([[3, 6],
           [4, 8]], dtype=int32)
    """
    return a & b if a.ty == "bool" else a * b


@elementwise(reference=np.divide, computes=to_float, ulp=1.0,
             methods=("__truediv__", "__rtruediv__", "__div__", "__rdiv__"),
             vjp=lambda g, y, a, b: (g / b, -(g * y / b)))
def divide(a: Scalar, b: Scalar) -> Scalar:
    """Quotient of two arrays, elementwise.

    Integers and booleans are divided as float32. Division by zero gives inf or nan.

    >>> import eutectic.core as mx
    >>> mx.divide(mx.array([1, 2]), 4)
    array([0.25, 0.5], dtype=float32)
    """
    return ml.divide(a, b)


@elementwise(reference=lambda a, b: a & b if a.dtype == bool else np.floor_divide(a, b),
             takes=not_complex, methods=("__floordiv__", "__rfloordiv__"))
def floor_divide(a: Value, b: Value) -> Value:
    """Largest integer not above the quotient of two arrays, elementwise.

    Real dtypes; the result has the promoted dtype. An integer divided by zero gives 0, a float
    inf or nan. Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.floor_divide(mx.array([7, -7]), 2)
    array([3, -4], dtype=int32)
    """
    if a.ty == "bool":
        return a & b
    return ml.int_floor_divide(a, b) if a.ty in INTS else ml.floor_divide(a, b)


@elementwise(reference=lambda a, b: a & False if a.dtype == bool else np.remainder(a, b),
             takes=not_complex, ulp=1.0, methods=("__mod__", "__rmod__"),
             vjp=lambda g, y, a, b: (g, -(g * floor_divide(a, b))))
def remainder(a: Value, b: Value) -> Value:
    """Remainder of the division of two arrays, with the sign of the divisor, elementwise.

    Real dtypes; the result has the promoted dtype. The remainder by an integer zero is 0, by a
    float zero nan. Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.remainder(mx.array([7, -7]), 3)
    array([1, 2], dtype=int32)
    """
    if a.ty == "bool":
        return a & ~a
    return ml.int_remainder(a, b) if a.ty in INTS else ml.remainder(a, b)


@streamed
def divmod_(a: Any, b: Any, stream: Any = None) -> list[array]:
    """Floor quotient and remainder of two arrays, elementwise.

    Real dtypes; see `floor_divide` and `remainder`.

    >>> import eutectic.core as mx
    >>> mx.divmod(mx.array([7, -7]), 3)
    [array([2, -3], dtype=int32), array([1, 2], dtype=int32)]
    """
    return [floor_divide(a, b), remainder(a, b)]


install("__divmod__", lambda a, b: tuple(divmod_(a, b)))
install("__rdivmod__", lambda a, b: tuple(divmod_(a, b)))


def _power_reference(a: Any, b: Any) -> Any:
    if a.dtype == bool:
        return a | ~b
    if a.dtype.kind == "i":
        whole = np.power(a, np.maximum(b, 0))
        unit = np.where(b % 2 == 0, 1, a)
        return np.where(b < 0, np.where(np.abs(a) == 1, unit, 0), whole).astype(a.dtype)
    return np.power(a, b)


@elementwise(reference=_power_reference, ulp=2.0, domain=(-3.0, 3.0), name="power")
def _power(a: Scalar, b: Scalar) -> Scalar:
    if a.ty == "bool":
        return a | ~b
    return ml.int_power(a, b) if a.ty in INTS else ml.power(a, b)


@streamed
def power(a: Any, b: Any, /, *, stream: Any = None) -> array:
    """First array raised to the power of the second, elementwise.

    Any dtypes; the result has the promoted dtype. Integers wrap, and a negative exponent of an
    integer gives the truncated value. Special values as C99's pow. The Python number 2 as
    exponent gives the square.

    >>> import eutectic.core as mx
    >>> mx.power(mx.array([1.0, 2.0]), 3)
    array([1, 8], dtype=float32)
    """
    if type(b) in (int, float, Number) and b == 2 and isinstance(a, array):
        d = a._n.dtype
        if d.is_float or d.is_complex or (d.is_int and type(b) is int):
            return square(a)
    return _power(a, b)


OPS["power"] = dataclasses.replace(OPS["power"], api=power)
install("__pow__", power)
install("__rpow__", power)


def _by(reduction: Reduction, a: Scalar, b: Scalar) -> Scalar:
    zero = const(0, "u32")
    return reduction.finish(reduction.combine(reduction.lift(a, zero), reduction.lift(b, zero)))


@elementwise(reference=np.maximum)
def maximum(a: Scalar, b: Scalar) -> Scalar:
    """Larger of two arrays, elementwise; nan where either is (NumPy's rule).

    Any dtypes; the result has the promoted dtype. Complex numbers order by real part, then by
    imaginary part.

    >>> import eutectic.core as mx
    >>> mx.maximum(mx.array([1, 5]), 3)
    array([3, 5], dtype=int32)
    """
    return _by(MAX, a, b)


@elementwise(reference=np.minimum)
def minimum(a: Scalar, b: Scalar) -> Scalar:
    """Smaller of two arrays, elementwise; nan where either is (NumPy's rule).

    Any dtypes; the result has the promoted dtype. Complex numbers order by real part, then by
    imaginary part.

    >>> import eutectic.core as mx
    >>> mx.minimum(mx.array([1, 5]), 3)
    array([1, 3], dtype=int32)
    """
    return _by(MIN, a, b)


def _logaddexp_reference(a: Any, b: Any) -> Any:
    return np.log(np.exp(a) + np.exp(b)) if a.dtype.kind == "c" else np.logaddexp(a, b)


@elementwise(reference=_logaddexp_reference, computes=to_float, ulp=4.0)
def logaddexp(a: Scalar, b: Scalar) -> Scalar:
    """Logarithm of the sum of exponentials of two arrays, elementwise, without overflow.

    Integers and booleans are computed as float32. log(e^a + e^b) = max + log1p(e^-|a-b|).

    >>> import eutectic.core as mx
    >>> mx.logaddexp(mx.array([0.0, 1000.0]), mx.array([0.0, 0.0]))
    array([0.693147, 1000], dtype=float32)
    """
    if isinstance(a, Complex):
        top, low = _by(MAX, a, b), _by(MIN, a, b)
        return top + ml.log1p(ml.exp(low - top))
    return ml.logaddexp(a, b)


def _can_negate(d: Dtype) -> bool:
    return d.name != "bool"


@elementwise(reference=np.negative, takes=_can_negate, methods=("__neg__",),
             remedy="use logical_not",
             vjp=lambda g, y, a: -g)
def negative(a: Scalar) -> Scalar:
    """Negative of an array, elementwise.

    Every dtype but bool; unsigned integers wrap. Raises DtypeError for bool: use `logical_not`.

    >>> import eutectic.core as mx
    >>> mx.negative(mx.array([1.5, -2.0]))
    array([-1.5, 2], dtype=float32)
    """
    return -a


@streamed
def positive(a: Any, /, *, stream: Any = None) -> array:
    """The array itself.

    >>> import eutectic.core as mx
    >>> +mx.array([1, -2])
    array([1, -2], dtype=int32)
    """
    return wrap(node_of(a, "positive"))


install("__pos__", positive)


@elementwise(reference=np.abs, result=real_of, methods=("__abs__", "abs"), ulp=1.0)
def abs_(a: Scalar) -> Scalar:
    """Absolute value of an array, elementwise; the modulus of complex numbers, as float32.

    The least integer of a signed type stays itself.

    >>> import eutectic.core as mx
    >>> mx.abs(mx.array([-1, 2])), mx.abs(mx.array(3 + 4j))
    (array([1, 2], dtype=int32), array(5, dtype=float32))
    """
    if a.ty in SIGNED:
        return select(a < 0, -a, a)
    return a if a.ty in INTS or a.ty == "bool" else ml.absolute(a)


def _sign_reference(a: Any) -> Any:
    return a if a.dtype == bool else np.sign(a)


@elementwise(reference=_sign_reference, ulp=2.0)
def sign(a: Scalar) -> Scalar:
    """Sign of an array, elementwise: -1, 0 or 1; of complex numbers a/|a|; nan of nan.

    >>> import eutectic.core as mx
    >>> mx.sign(mx.array([-2.0, 0.0, 3.0]))
    array([-1, 0, 1], dtype=float32)
    """
    if a.ty == "bool":
        return a
    if isinstance(a, Complex):
        return ml.sign_complex(a)
    one, zero = const(1, a.ty), const(0, a.ty)
    if a.ty in INTS and a.ty not in SIGNED:
        return select(a.ne(0), one, zero)
    s = select(a > 0, one, select(a < 0, const(-1, a.ty), zero))
    return s if a.ty in INTS else select(a.is_nan(), a, s)


@elementwise(reference=np.reciprocal, computes=to_float, ulp=1.0, methods=("reciprocal",),
             vjp=lambda g, y, a: -(g * (y * y)))
def reciprocal(a: Scalar) -> Scalar:
    """1/a, elementwise. Integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.reciprocal(mx.array([2.0, 4.0]))
    array([0.5, 0.25], dtype=float32)
    """
    return ml.reciprocal(a)


def _square_reference(a: Any) -> Any:
    return a if a.dtype == bool else np.square(a)


@elementwise(reference=_square_reference, ulp=1.0, methods=("square",),
             vjp=lambda g, y, a: g * (a * 2))
def square(a: Scalar) -> Scalar:
    """Square of an array, elementwise. Integers wrap.

    >>> import eutectic.core as mx
    >>> mx.square(mx.array([2, -3]))
    array([4, 9], dtype=int32)
    """
    if a.ty == "bool":
        return a
    return a * a if a.ty in INTS else ml.square(a)


@elementwise(reference=np.sqrt, computes=to_float, ulp=1.0, domain=(0.0, 9.0), methods=("sqrt",),
             vjp=lambda g, y, a: g * 0.5 / y)
def sqrt(a: Scalar) -> Scalar:
    """Square root of an array, elementwise; nan of negative numbers.

    Integers and booleans are computed as float32. Real results are correctly rounded.

    >>> import eutectic.core as mx
    >>> mx.sqrt(mx.array([4, 2]))
    array([2, 1.41421], dtype=float32)
    """
    return ml.sqrt(a)


@elementwise(reference=lambda a: 1 / np.sqrt(a), computes=to_float, ulp=2.0, domain=(0.0, 9.0),
             methods=("rsqrt",),
             vjp=lambda g, y, a: g * (y * y * y) * -0.5)
def rsqrt(a: Scalar) -> Scalar:
    """1/sqrt(a), elementwise; inf of 0 and nan of negative numbers.

    Integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.rsqrt(mx.array([4.0, 0.0]))
    array([0.5, inf], dtype=float32)
    """
    return ml.reciprocal(ml.sqrt(a)) if isinstance(a, Complex) else ml.rsqrt(a)


@elementwise(reference=lambda a: a * (180 / np.pi), computes=to_float, ulp=1.0,
             vjp=lambda g, y, a: g * (180.0 / math.pi))
def degrees(a: Scalar) -> Scalar:
    """Angles in radians as degrees, elementwise: a * (180/pi).

    >>> import eutectic.core as mx
    >>> mx.degrees(mx.array([0.0, mx.pi]))
    array([0, 180], dtype=float32)
    """
    return _scaled(a, 180.0 / np.pi)


@elementwise(reference=lambda a: a * (np.pi / 180), computes=to_float, ulp=1.0,
             vjp=lambda g, y, a: g * (math.pi / 180.0))
def radians(a: Scalar) -> Scalar:
    """Angles in degrees as radians, elementwise: a * (pi/180).

    >>> import eutectic.core as mx
    >>> mx.radians(mx.array([0.0, 180.0]))
    array([0, 3.14159], dtype=float32)
    """
    return _scaled(a, np.pi / 180.0)


def _scaled(a: Scalar, factor: float) -> Scalar:
    return Complex(a.re * factor, a.im * factor) if isinstance(a, Complex) else a * factor


@elementwise(reference=np.real, result=real_of)
def real(a: Scalar) -> Scalar:
    """Real part of an array, elementwise: float32 of complex64, the array itself otherwise.

    >>> import eutectic.core as mx
    >>> mx.real(mx.array([1 + 2j]))
    array([1], dtype=float32)
    """
    return a.re if isinstance(a, Complex) else a


@elementwise(reference=np.imag, result=real_of)
def imag(a: Scalar) -> Scalar:
    """Imaginary part of an array, elementwise: float32 of complex64, zeros otherwise.

    >>> import eutectic.core as mx
    >>> mx.imag(mx.array([1 + 2j]))
    array([2], dtype=float32)
    """
    return a.im if isinstance(a, Complex) else const(0, a.ty)


for _name, _part in (("real", real), ("imag", imag)):
    setattr(array, _name, property(_part))


@elementwise(reference=np.conjugate, aliases=("conj",), methods=("conj",),
             vjp=lambda g, y, a: conjugate(g))
def conjugate(a: Scalar) -> Scalar:
    """Complex conjugate of an array, elementwise; real arrays stay as they are.

    >>> import eutectic.core as mx
    >>> mx.conjugate(mx.array([1 + 2j]))
    array([1-2j], dtype=complex64)
    """
    return ml.conjugate(a) if isinstance(a, Complex) else a


STOP_GRADIENT = Prim("stop_gradient", "elementwise", body=lambda v: v)


@streamed
def stop_gradient(a: Any, /, *, stream: Any = None) -> array:
    """The array, as a constant to derivatives.

    >>> import eutectic.core as mx
    >>> mx.stop_gradient(mx.array([1.0, 2.0]))
    array([1, 2], dtype=float32)
    """
    n = node_of(a, "stop_gradient")
    return wrap(Node(STOP_GRADIENT, (n,), (), n.shape, n.dtype))
