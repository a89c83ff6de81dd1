"""Functions of one number: exponentials, logarithms, trigonometry, error functions, rounding.

The formulas and their accuracy are those of `kernel.mathlib`.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import bool_
from eutectic.errors import ArgumentTypeError
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel import mathlib as ml
from eutectic.kernel import scalar
from eutectic.kernel.prim import Prim
from eutectic.kernel.scalar import BITS, FLOATS, Complex, Value, const, convert, select
from eutectic.ops.devices import streamed
from eutectic.ops.registry import elementwise, node_of, not_complex, to_float

Scalar = Any
"""A `Value` or, of complex64, a `Complex`."""

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(a: Any) -> Any:
    return 1 / (1 + np.exp(-a))


def _erfinv(a: Any) -> Any:
    """Newton's iteration on math.erf, from the bracket that bisection leaves."""
    def one(y: float) -> float:
        if y != y or abs(y) > 1:
            return math.nan
        if abs(y) == 1:
            return math.copysign(math.inf, y)
        low, high = -6.0, 6.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if math.erf(middle) < y else (low, middle)
        x = (low + high) / 2
        for _ in range(3):
            x -= (math.erf(x) - y) / (2 / math.sqrt(math.pi) * math.exp(-x * x))
        return x
    return np.vectorize(one, otypes=[np.float64])(a)


@elementwise(reference=np.exp, computes=to_float, domain=(-4.0, 4.0), ulp=1.0, methods=("exp",),
             vjp=lambda g, y, a: g * y)
def exp(a: Scalar) -> Scalar:
    """Exponential, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.exp(mx.array([0.0, 1.0]))
    array([1, 2.71828], dtype=float32)
    """
    return ml.exp(a)


@elementwise(reference=np.expm1, computes=to_float, takes=not_complex, domain=(-4.0, 4.0), ulp=2.0,
             vjp=lambda g, y, a: g * (y + 1))
def expm1(a: Value) -> Value:
    """e^a - 1, elementwise.

    Real dtypes; integers and booleans are computed as float32. Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.expm1(mx.array([0.0, 1.0]))
    array([0, 1.71828], dtype=float32)
    """
    return ml.expm1(a)


@elementwise(reference=np.log, computes=to_float, domain=(0.0, 9.0), ulp=1.0, methods=("log",),
             vjp=lambda g, y, a: g / a)
def log(a: Scalar) -> Scalar:
    """Natural logarithm, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.log(mx.array([1.0, 10.0]))
    array([0, 2.30259], dtype=float32)
    """
    return ml.log(a)


@elementwise(reference=np.log2, computes=to_float, domain=(0.0, 9.0), ulp=2.0, methods=("log2",),
             vjp=lambda g, y, a: g / (a * math.log(2.0)))
def log2(a: Scalar) -> Scalar:
    """Logarithm to base 2, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.log2(mx.array([1.0, 8.0]))
    array([0, 3], dtype=float32)
    """
    return ml.log2(a)


@elementwise(reference=np.log10, computes=to_float, domain=(0.0, 9.0), ulp=2.0, methods=("log10",),
             vjp=lambda g, y, a: g / (a * math.log(10.0)))
def log10(a: Scalar) -> Scalar:
    """Logarithm to base 10, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.log10(mx.array([1.0, 1000.0]))
    array([0, 3], dtype=float32)
    """
    return ml.log10(a)


@elementwise(reference=np.log1p, computes=to_float, domain=(-1.0, 9.0), ulp=2.0, methods=("log1p",),
             vjp=lambda g, y, a: g / (a + 1))
def log1p(a: Scalar) -> Scalar:
    """log(1 + a), elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.log1p(mx.array([0.0, 1.0]))
    array([0, 0.693147], dtype=float32)
    """
    return ml.log1p(a)


@elementwise(reference=np.sin, computes=to_float, domain=(-9.0, 9.0), ulp=2.0, methods=("sin",),
             vjp=lambda g, y, a: g * cos(a))
def sin(a: Scalar) -> Scalar:
    """Sine, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.sin(mx.array([0.0, 1.0]))
    array([0, 0.841471], dtype=float32)
    """
    return ml.sin(a)


@elementwise(reference=np.cos, computes=to_float, domain=(-9.0, 9.0), ulp=2.0, methods=("cos",),
             vjp=lambda g, y, a: -(g * sin(a)))
def cos(a: Scalar) -> Scalar:
    """Cosine, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.cos(mx.array([0.0, 1.0]))
    array([1, 0.540302], dtype=float32)
    """
    return ml.cos(a)


@elementwise(reference=np.tan, computes=to_float, domain=(-9.0, 9.0), ulp=2.0,
             vjp=lambda g, y, a: g * (y * y + 1))
def tan(a: Scalar) -> Scalar:
    """Tangent, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.tan(mx.array([0.0, 1.0]))
    array([0, 1.55741], dtype=float32)
    """
    return ml.tan(a)


@elementwise(reference=np.sinh, computes=to_float, domain=(-4.0, 4.0), ulp=2.0,
             vjp=lambda g, y, a: g * cosh(a))
def sinh(a: Scalar) -> Scalar:
    """Hyperbolic sine, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.sinh(mx.array([0.0, 1.0]))
    array([0, 1.1752], dtype=float32)
    """
    return ml.sinh(a)


@elementwise(reference=np.cosh, computes=to_float, domain=(-4.0, 4.0), ulp=2.0,
             vjp=lambda g, y, a: g * sinh(a))
def cosh(a: Scalar) -> Scalar:
    """Hyperbolic cosine, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.cosh(mx.array([0.0, 1.0]))
    array([1, 1.54308], dtype=float32)
    """
    return ml.cosh(a)


@elementwise(reference=np.tanh, computes=to_float, domain=(-4.0, 4.0), ulp=2.0,
             vjp=lambda g, y, a: g * (1 - y * y))
def tanh(a: Scalar) -> Scalar:
    """Hyperbolic tangent, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.tanh(mx.array([0.0, 1.0]))
    array([0, 0.761594], dtype=float32)
    """
    return ml.tanh(a)


@elementwise(reference=np.arcsin, computes=to_float, domain=(-1.0, 1.0), ulp=2.0, aliases=("asin",),
             vjp=lambda g, y, a: g * (1 - a * a).rsqrt())
def arcsin(a: Scalar) -> Scalar:
    """Inverse sine, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.arcsin(mx.array([0.0, 1.0]))
    array([0, 1.5708], dtype=float32)
    """
    return ml.arcsin(a)


@elementwise(reference=np.arccos, computes=to_float, domain=(-1.0, 1.0), ulp=2.0, aliases=("acos",),
             vjp=lambda g, y, a: -(g * (1 - a * a).rsqrt()))
def arccos(a: Scalar) -> Scalar:
    """Inverse cosine, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.arccos(mx.array([1.0, 0.0]))
    array([0, 1.5708], dtype=float32)
    """
    return ml.arccos(a)


@elementwise(reference=np.arctan, computes=to_float, domain=(-9.0, 9.0), ulp=2.0, aliases=("atan",),
             vjp=lambda g, y, a: g / (a * a + 1))
def arctan(a: Scalar) -> Scalar:
    """Inverse tangent, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.arctan(mx.array([0.0, 1.0]))
    array([0, 0.785398], dtype=float32)
    """
    return ml.arctan(a)


@elementwise(reference=np.arcsinh, computes=to_float, domain=(-9.0, 9.0), ulp=2.0,
             aliases=("asinh",),
             vjp=lambda g, y, a: g * (a * a + 1).rsqrt())
def arcsinh(a: Scalar) -> Scalar:
    """Inverse hyperbolic sine, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.arcsinh(mx.array([0.0, 1.0]))
    array([0, 0.881374], dtype=float32)
    """
    return ml.arcsinh(a)


@elementwise(reference=np.arccosh, computes=to_float, domain=(1.0, 9.0), ulp=2.0,
             aliases=("acosh",),
             vjp=lambda g, y, a: g * (a * a - 1).rsqrt())
def arccosh(a: Scalar) -> Scalar:
    """Inverse hyperbolic cosine, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.arccosh(mx.array([1.0, 2.0]))
    array([0, 1.31696], dtype=float32)
    """
    return ml.arccosh(a)


@elementwise(reference=np.arctanh, computes=to_float, domain=(-1.0, 1.0), ulp=2.0,
             aliases=("atanh",),
             vjp=lambda g, y, a: g / (1 - a * a))
def arctanh(a: Scalar) -> Scalar:
    """Inverse hyperbolic tangent, elementwise.

    Any dtype; integers and booleans are computed as float32.

    >>> import eutectic.core as mx
    >>> mx.arctanh(mx.array([0.0, 0.5]))
    array([0, 0.549306], dtype=float32)
    """
    return ml.arctanh(a)


@elementwise(reference=_erf, computes=to_float, takes=not_complex, domain=(-4.0, 4.0), ulp=2.0,
             vjp=lambda g, y, a: g * (exp(-(a * a)) * (2.0 / math.sqrt(math.pi))))
def erf(a: Value) -> Value:
    """Error function, elementwise.

    Real dtypes; integers and booleans are computed as float32. Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.erf(mx.array([0.0, 1.0]))
    array([0, 0.842701], dtype=float32)
    """
    return ml.erf(a)


@elementwise(reference=_erfinv, computes=to_float, takes=not_complex, domain=(-1.0, 1.0), ulp=2.0,
             vjp=lambda g, y, a: g * (exp(y * y) * (math.sqrt(math.pi) / 2.0)))
def erfinv(a: Value) -> Value:
    """Inverse of the error function, elementwise.

    Real dtypes; integers and booleans are computed as float32. Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.erfinv(mx.array([0.0, 0.5]))
    array([0, 0.476936], dtype=float32)
    """
    return ml.erfinv(a)


@elementwise(reference=_sigmoid, computes=to_float, takes=not_complex, domain=(-8.0, 8.0), ulp=2.0,
             vjp=lambda g, y, a: g * (y * (1 - y)))
def sigmoid(a: Value) -> Value:
    """Logistic function 1/(1 + e^-a), elementwise.

    Real dtypes; integers and booleans are computed as float32. Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.sigmoid(mx.array([0.0, 1.0]))
    array([0.5, 0.731059], dtype=float32)
    """
    return ml.sigmoid(a)


@elementwise(reference=np.arctan2, computes=to_float, takes=not_complex, ulp=2.0,
             aliases=("atan2",),
             vjp=lambda g, y, a, b: (g * b / (a * a + b * b), -(g * a / (a * a + b * b))))
def arctan2(a: Value, b: Value) -> Value:
    """Angle of the points (b, a) from the positive first axis, in (-pi, pi], elementwise.

    Real dtypes; integers and booleans are computed as float32. Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.arctan2(mx.array([1.0, -1.0]), mx.array([1.0, 0.0]))
    array([0.785398, -1.5708], dtype=float32)
    """
    return ml.arctan2(a, b)


def _whole(f: Any) -> Any:
    """A rounding function in NumPy that leaves integers and booleans alone."""
    return lambda a: f(a) if a.dtype.kind in "fc" else a


@elementwise(reference=_whole(np.ceil), takes=not_complex)
def ceil(a: Value) -> Value:
    """Least integer not below the element; integers stay as they are.

    Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.ceil(mx.array([1.2, -1.2]))
    array([2, -1], dtype=float32)
    """
    return scalar.ceil(a) if a.ty in FLOATS else a


@elementwise(reference=_whole(np.floor), takes=not_complex)
def floor(a: Value) -> Value:
    """Greatest integer not above the element; integers stay as they are.

    Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.floor(mx.array([1.2, -1.2]))
    array([1, -2], dtype=float32)
    """
    return scalar.floor(a) if a.ty in FLOATS else a


@elementwise(reference=_whole(np.trunc), takes=not_complex)
def trunc(a: Value) -> Value:
    """Nearest integer towards zero; integers stay as they are.

    Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.trunc(mx.array([1.8, -1.8]))
    array([1, -1], dtype=float32)
    """
    return scalar.trunc(a) if a.ty in FLOATS else a


def _round_body(a: Scalar, decimals: int) -> Scalar:
    """rint(a * 10^d) / 10^d; integers to a multiple of 10^-d, ties to even, exactly."""
    if isinstance(a, Complex):
        return Complex(_round_body(a.re, decimals), _round_body(a.im, decimals))
    if a.ty in FLOATS:
        if decimals > 0:
            return scalar.rint(a * 10.0 ** decimals) / 10.0 ** decimals
        step = 10.0 ** -decimals
        return scalar.rint(a / step) * step if decimals else scalar.rint(a)
    if decimals >= 0 or a.ty == "bool":
        return a
    step = 10 ** -decimals
    wide = a if BITS[a.ty] == 64 else convert(a, "i64")
    if step > 10 ** 18:
        return const(0, a.ty)
    q = ml.int_floor_divide(wide, const(step, wide.ty))
    twice = (wide - q * step) * 2
    up = (twice > step) | (twice.eq(step) & (q & 1).ne(0))
    return convert((q + select(up, const(1, wide.ty), const(0, wide.ty))) * step, a.ty)


ROUND = Prim("round", "elementwise", body=_round_body)


@streamed
def round_(a: Any, /, decimals: int = 0, stream: Any = None) -> array:
    """Round to a number of decimals, ties to even, elementwise.

    Any dtype; complex numbers by parts. Integers and bools change for negative decimals only. The
    formula is NumPy's: rint(a * 10^decimals) / 10^decimals.

    >>> import eutectic.core as mx
    >>> mx.round(mx.array([2.5, 1.26]), decimals=1), mx.round(mx.array([125, 15]), -1)
    (array([2.5, 1.3], dtype=float32), array([120, 20], dtype=int32))
    """
    n = node_of(a, "round")
    try:
        decimals = operator.index(decimals)
    except TypeError:
        raise ArgumentTypeError("[round] decimals must be an integer, not "
                                f"{type(decimals).__name__}.") from None
    if not (n.dtype.is_float or n.dtype.is_complex) and decimals >= 0:
        return wrap(n)
    if n.dtype is bool_:  # 1 is nearer to 0 than to 10
        return wrap(prims.broadcast(prims.const(False, bool_), n.shape))
    return wrap(Node(ROUND, (n,), (decimals,), n.shape, n.dtype))


array.round = round_  # type: ignore[attr-defined]
array.__round__ = round_  # type: ignore[attr-defined]
