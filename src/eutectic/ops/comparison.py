"""Comparisons, tests of special values, logic, and choice between arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, bool_, float16, float32, float64
from eutectic.errors import ArgumentError, DtypeError
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel import mathlib as ml
from eutectic.kernel.prim import Prim
from eutectic.kernel.scalar import FLOATS, Complex, Value, const, fabs, fmax, fmin, select
from eutectic.ops.checks import number
from eutectic.ops.devices import streamed
from eutectic.ops.registry import broadcast_shape, elementwise, node_of, operands, to_bool

Scalar = Any
"""A `Value` or, of complex64, a `Complex`."""


def _is_inf(v: Value) -> Value:
    return fabs(v).eq(float("inf"))


def _is_finite(v: Value) -> Value:
    return fabs(v) < float("inf")


def _no(a: Value) -> Value:
    return const(False, "bool")


@elementwise(reference=np.equal, result=to_bool, commutes=True, methods=("__eq__",))
def equal(a: Scalar, b: Scalar) -> Value:
    """Whether two arrays are equal, elementwise; nan equals nothing.

    Any dtypes and broadcastable shapes; the result is bool.

    >>> import eutectic.core as mx
    >>> mx.equal(mx.array([1, 2]), 2)
    array([False, True], dtype=bool)
    """
    return a.eq(b)


@elementwise(reference=np.not_equal, result=to_bool, commutes=True, methods=("__ne__",))
def not_equal(a: Scalar, b: Scalar) -> Value:
    """Whether two arrays differ, elementwise; nan differs from everything.

    Any dtypes and broadcastable shapes; the result is bool.

    >>> import eutectic.core as mx
    >>> mx.not_equal(mx.array([1, 2]), 2)
    array([True, False], dtype=bool)
    """
    return a.ne(b)


def _ordered(a: Scalar, b: Scalar, strict: bool) -> Value:
    """a > b, or a >= b; complex numbers by real part, then by imaginary part."""
    if isinstance(a, Complex):
        return (a.re > b.re) | (a.re.eq(b.re) & (a.im > b.im if strict else a.im >= b.im))
    return a > b if strict else a >= b


@elementwise(reference=np.greater, result=to_bool, methods=("__gt__",))
def greater(a: Scalar, b: Scalar) -> Value:
    """Whether the first array is greater than the second, elementwise; false with nan.

    Any dtypes; complex numbers order by real part, then by imaginary part. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.greater(mx.array([1, 3]), 2)
    array([False, True], dtype=bool)
    """
    return _ordered(a, b, True)


@elementwise(reference=np.greater_equal, result=to_bool, methods=("__ge__",))
def greater_equal(a: Scalar, b: Scalar) -> Value:
    """Whether the first array is greater than or equal to the second, elementwise.

    Any dtypes; complex numbers order by real part, then by imaginary part. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.greater_equal(mx.array([1, 2]), 2)
    array([False, True], dtype=bool)
    """
    return _ordered(a, b, False)


@elementwise(reference=np.less, result=to_bool, methods=("__lt__",))
def less(a: Scalar, b: Scalar) -> Value:
    """Whether the first array is less than the second, elementwise; false with nan.

    Any dtypes; complex numbers order by real part, then by imaginary part. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.less(mx.array([1, 3]), 2)
    array([True, False], dtype=bool)
    """
    return _ordered(b, a, True)


@elementwise(reference=np.less_equal, result=to_bool, methods=("__le__",))
def less_equal(a: Scalar, b: Scalar) -> Value:
    """Whether the first array is less than or equal to the second, elementwise.

    Any dtypes; complex numbers order by real part, then by imaginary part. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.less_equal(mx.array([2, 3]), 2)
    array([True, False], dtype=bool)
    """
    return _ordered(b, a, False)


@elementwise(reference=np.isnan, result=to_bool)
def isnan(a: Scalar) -> Value:
    """Whether elements are nan; of complex numbers, whether a part is. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.isnan(mx.array([1.0, mx.nan]))
    array([False, True], dtype=bool)
    """
    if isinstance(a, Complex):
        return a.re.is_nan() | a.im.is_nan()
    return a.is_nan() if a.ty in FLOATS else _no(a)


@elementwise(reference=np.isinf, result=to_bool)
def isinf(a: Scalar) -> Value:
    """Whether elements are infinite; of complex numbers, whether a part is. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.isinf(mx.array([1.0, -mx.inf]))
    array([False, True], dtype=bool)
    """
    if isinstance(a, Complex):
        return _is_inf(a.re) | _is_inf(a.im)
    return _is_inf(a) if a.ty in FLOATS else _no(a)


@elementwise(reference=np.isfinite, result=to_bool)
def isfinite(a: Scalar) -> Value:
    """Whether elements are neither infinite nor nan. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.isfinite(mx.array([1.0, mx.inf, mx.nan]))
    array([True, False, False], dtype=bool)
    """
    if isinstance(a, Complex):
        return _is_finite(a.re) & _is_finite(a.im)
    return _is_finite(a) if a.ty in FLOATS else const(True, "bool")


def _signed_infinity(sign: float) -> Any:
    return lambda a: a == sign * np.inf if a.dtype.kind in "fc" else np.zeros(a.shape, bool)


@elementwise(reference=_signed_infinity(1.0), result=to_bool)
def isposinf(a: Scalar) -> Value:
    """Whether elements are positive infinity. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.isposinf(mx.array([mx.inf, -mx.inf]))
    array([True, False], dtype=bool)
    """
    if isinstance(a, Complex):
        return a.re.eq(float("inf")) & a.im.eq(0.0)
    return a.eq(float("inf")) if a.ty in FLOATS else _no(a)


@elementwise(reference=_signed_infinity(-1.0), result=to_bool)
def isneginf(a: Scalar) -> Value:
    """Whether elements are negative infinity. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.isneginf(mx.array([mx.inf, -mx.inf]))
    array([False, True], dtype=bool)
    """
    if isinstance(a, Complex):
        return a.re.eq(float("-inf")) & a.im.eq(0.0)
    return a.eq(float("-inf")) if a.ty in FLOATS else _no(a)


def _truth(a: Scalar) -> Value:
    if isinstance(a, Complex):
        return a.re.ne(0) | a.im.ne(0)
    return a if a.ty == "bool" else a.ne(0)


@elementwise(reference=np.logical_and, result=to_bool, commutes=True)
def logical_and(a: Scalar, b: Scalar) -> Value:
    """Whether both elements are different from zero. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.logical_and(mx.array([True, True]), mx.array([True, False]))
    array([True, False], dtype=bool)
    """
    return _truth(a) & _truth(b)


@elementwise(reference=np.logical_or, result=to_bool, commutes=True)
def logical_or(a: Scalar, b: Scalar) -> Value:
    """Whether one of two elements is different from zero. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.logical_or(mx.array([True, False]), mx.array([False, False]))
    array([True, False], dtype=bool)
    """
    return _truth(a) | _truth(b)


@elementwise(reference=np.logical_xor, result=to_bool, commutes=True)
def logical_xor(a: Scalar, b: Scalar) -> Value:
    """Whether exactly one of two elements is different from zero. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.logical_xor(mx.array([True, False]), mx.array([True, True]))
    array([False, True], dtype=bool)
    """
    return _truth(a) ^ _truth(b)


@elementwise(reference=np.logical_not, result=to_bool)
def logical_not(a: Scalar) -> Value:
    """Whether elements are zero. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.logical_not(mx.array([0, 3]))
    array([True, False], dtype=bool)
    """
    return ~_truth(a)


def _isclose_body(a: Scalar, b: Scalar, rtol: float, atol: float, equal_nan: bool) -> Value:
    if isinstance(a, Complex):
        size_a, size_b, gap = ml.absolute(a), ml.absolute(b), ml.absolute(a - b)
        nan = (a.re.is_nan() | a.im.is_nan()) & (b.re.is_nan() | b.im.is_nan())
    else:
        size_a, size_b, gap = fabs(a), fabs(b), fabs(a - b)
        nan = a.is_nan() & b.is_nan()
    finite = (size_a < float("inf")) & (size_b < float("inf"))
    close = a.eq(b) | (finite & (gap <= size_b * rtol + atol))
    return close | nan if equal_nan else close


ISCLOSE = Prim("isclose", "elementwise", body=_isclose_body)


@streamed
def isclose(a: Any, b: Any, /, rtol: float = 1e-5, atol: float = 1e-8, *,
            equal_nan: bool = False, stream: Any = None) -> array:
    """Whether elements are close: |a - b| <= atol + rtol*|b|, or equal infinities.

    Any dtypes; halves are compared in float32 and integers in float64. The result is bool.

    >>> import eutectic.core as mx
    >>> mx.isclose(mx.array([1.0, 2.0]), mx.array([1.000001, 2.1]))
    array([True, False], dtype=bool)
    """
    return wrap(_isclose("isclose", a, b, rtol, atol, equal_nan))


def _isclose(name: str, a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Node:
    (x, y), d = operands(name, (a, b))
    to = d if d.is_float or d.is_complex else float64
    shape = broadcast_shape(name, x.shape, y.shape)
    attrs = (number(name, "rtol", rtol), number(name, "atol", atol), bool(equal_nan))
    return Node(ISCLOSE, (prims.cast(x, to), prims.cast(y, to)), attrs, shape, bool_)


def _all(n: Node) -> array:
    return wrap(prims.reduce("all", n, tuple(range(len(n.shape)))))


@streamed
def allclose(a: Any, b: Any, /, rtol: float = 1e-5, atol: float = 1e-8, *,
             equal_nan: bool = False, stream: Any = None) -> array:
    """Whether all elements of two arrays are close, as a bool array of shape (). See `isclose`.

    >>> import eutectic.core as mx
    >>> mx.allclose(mx.array([1.0, 2.0]), mx.array([1.0, 2.1]), atol=0.2)
    array(True, dtype=bool)
    """
    return _all(_isclose("allclose", a, b, rtol, atol, equal_nan))


def _equal_nan_body(a: Scalar, b: Scalar) -> Value:
    if isinstance(a, Complex):
        return a.eq(b) | ((a.re.is_nan() | a.im.is_nan()) & (b.re.is_nan() | b.im.is_nan()))
    return a.eq(b) | (a.is_nan() & b.is_nan()) if a.ty in FLOATS else a.eq(b)


EQUAL_NAN = Prim("equal_nan", "elementwise", body=_equal_nan_body)


@streamed
def array_equal(a: Any, b: Any, equal_nan: bool = False, stream: Any = None) -> array:
    """Whether two arrays have the same shape and elements, as a bool array of shape ().

    >>> import eutectic.core as mx
    >>> mx.array_equal(mx.array([1, 2]), mx.array([1.0, 2.0]))
    array(True, dtype=bool)
    """
    (x, y), d = operands("array_equal", (a, b))
    if x.shape != y.shape:
        return wrap(prims.const(False, bool_))
    prim = EQUAL_NAN if equal_nan else equal.prim  # type: ignore[attr-defined]
    return _all(Node(prim, (prims.cast(x, d), prims.cast(y, d)), (), x.shape, bool_))


def _where_body(c: Value, x: Scalar, y: Scalar) -> Scalar:
    if isinstance(x, Complex):
        return Complex(select(c, x.re, y.re), select(c, x.im, y.im))
    return select(c, x, y)


WHERE = Prim("where", "elementwise", body=_where_body)


@streamed
def where(condition: Any, x: Any, y: Any, /, *, stream: Any = None) -> array:
    """Elements of `x` where the condition holds, of `y` elsewhere.

    The condition is taken as bool; `x` and `y` have any dtypes, the result their promoted one. The
    three shapes broadcast, or ShapeError is raised.

    >>> import eutectic.core as mx
    >>> mx.where(mx.array([True, False]), mx.array([1, 2]), 0)
    array([1, 0], dtype=int32)
    """
    c = prims.cast(node_of(condition, "where"), bool_)
    (a, b), d = operands("where", (x, y))
    shape = broadcast_shape("where", c.shape, a.shape, b.shape)
    return wrap(Node(WHERE, (c, prims.cast(a, d), prims.cast(b, d)), (), shape, d))


def _clip_body(a: Scalar, low: Scalar, high: Scalar) -> Scalar:
    if a.ty == "bool":
        return (a | low) & high
    if isinstance(a, Complex):
        from eutectic.ops.arithmetic import maximum, minimum

        return minimum.prim.body(maximum.prim.body(a, low), high)  # type: ignore[attr-defined]
    return fmin(fmax(a, low), high)


CLIP = Prim("clip", "elementwise", body=_clip_body)


@streamed
def clip(a: Any, /, a_min: Any, a_max: Any, *, stream: Any = None) -> array:
    """Elements moved into an interval: min(max(a, a_min), a_max); nan stays nan.

    Any dtypes, promoted together; either bound may be None, not both (ArgumentError).

    >>> import eutectic.core as mx
    >>> mx.clip(mx.array([-1, 5]), 0, 3)
    array([0, 3], dtype=int32)
    """
    from eutectic.ops.arithmetic import maximum, minimum

    if a_min is None and a_max is None:
        raise ArgumentError("[clip] at most one of a_min and a_max may be None.")
    if a_min is None:
        return minimum(a, a_max)
    if a_max is None:
        return maximum(a, a_min)
    nodes, d = operands("clip", (a, a_min, a_max))
    shape = broadcast_shape("clip", *[n.shape for n in nodes])
    return wrap(Node(CLIP, tuple([prims.cast(n, d) for n in nodes]), (), shape, d))


def _nan_to_num_body(a: Value, nan: Value, high: Value, low: Value) -> Value:
    a_or_nan = select(a.is_nan(), nan, a)
    return select(a.eq(float("inf")), high, select(a.eq(float("-inf")), low, a_or_nan))


NAN_TO_NUM = Prim("nan_to_num", "elementwise", body=_nan_to_num_body)


def largest(d: Dtype) -> float:
    """Greatest finite value of a floating dtype."""
    return {float16: 65504.0, float32: (2 - 2.0 ** -23) * 2.0 ** 127,
            float64: (2 - 2.0 ** -52) * 2.0 ** 1023}.get(d, (2 - 2.0 ** -7) * 2.0 ** 127)


@streamed
def nan_to_num(a: Any, nan: float = 0, posinf: float | None = None, neginf: float | None = None,
               *, stream: Any = None) -> array:
    """Replace nan by a number, and infinities by numbers or the greatest finite ones.

    Real dtypes; integers stay as they are. Raises DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.nan_to_num(mx.array([1.0, mx.nan, mx.inf]), posinf=9.0)
    array([1, 0, 9], dtype=float32)
    """
    n = node_of(a, "nan_to_num")
    d = n.dtype
    if d.is_complex:
        raise DtypeError("[nan_to_num] does not take complex64.")
    if not d.is_float:
        return wrap(n)
    high = largest(d) if posinf is None else number("nan_to_num", "posinf", posinf)
    low = -largest(d) if neginf is None else number("nan_to_num", "neginf", neginf)
    values = [prims.const(v, d) for v in (number("nan_to_num", "nan", nan), high, low)]
    return wrap(Node(NAN_TO_NUM, (n, *values), (), n.shape, d))
