"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from eutectic.kernel.mathlib.exponential import expm1, log, log1p, scaled_exp
from eutectic.kernel.scalar import (Value, const, convert, copysign, fabs, poly, select, sqrt)

_TANH_P = (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11,
           5.12229709037114e-08, 1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03)
_TANH_Q = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)


def tanh(x: Value) -> Value:
    """Hyperbolic tangent."""
    if x.ty == "f32":
        hi = const(7.99881172180175781, "f32")
        lo = const(-7.99881172180175781, "f32")
        c = select(x < lo, lo, x)
        c = select(c > hi, hi, c)
        z = c * c
        y = poly(z, _TANH_P) * c / poly(z, _TANH_Q)
        return select(fabs(x) < 0.0004, x, y)
    a = fabs(x)
    e = expm1(select(a > 22.0, const(22.0, x.ty), a) * 2.0)
    return copysign(select(x.is_nan(), x, e / (e + 2.0)), x)


def _via_f64(f, x: Value) -> Value:
    return convert(f(convert(x, "f64")), "f32")


def sinh(x: Value) -> Value:
    """Hyperbolic sine, from h = exp(|x|)/2 and, near 0, from expm1."""
    if x.ty == "f32":
        return _via_f64(sinh, x)
    a = fabs(x)
    e = expm1(select(a > 2.0, const(2.0, x.ty), a))
    near = 0.5 * (e + e / (e + 1.0))
    h = scaled_exp(a, -1)
    far = h - 0.25 / h
    return copysign(select(a < 1.0, near, far), x)


def cosh(x: Value) -> Value:
    """Hyperbolic cosine, from h = exp(|x|)/2."""
    if x.ty == "f32":
        return _via_f64(cosh, x)
    h = scaled_exp(fabs(x), -1)
    return h + 0.25 / h


def arcsinh(x: Value) -> Value:
    """Inverse hyperbolic sine."""
    if x.ty == "f32":
        return _via_f64(arcsinh, x)
    a = fabs(x)
    big = a > 1e9
    s = select(big, const(1.0, x.ty), a)
    z = s * s
    near = log1p(s + z / (1.0 + sqrt(z + 1.0)))
    far = log(a) + 0.6931471805599453
    return copysign(select(big, far, near), x)


def arccosh(x: Value) -> Value:
    """Inverse hyperbolic cosine; NaN below 1."""
    if x.ty == "f32":
        return _via_f64(arccosh, x)
    big = x > 1e9
    t = select(big, const(1.0, x.ty), x) - 1.0
    near = log1p(t + sqrt(t * (t + 2.0)))
    far = log(x) + 0.6931471805599453
    y = select(big, far, near)
    return select(x < 1.0, const(float("nan"), x.ty), y)


def arctanh(x: Value) -> Value:
    """Inverse hyperbolic tangent; infinite at 1, NaN outside."""
    if x.ty == "f32":
        return _via_f64(arctanh, x)
    a = fabs(x)
    return copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x)
