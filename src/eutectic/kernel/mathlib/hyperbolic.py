"""Hyperbolic functions and their inverses.

Polynomials are our own minimax fits (see exponential.py); the identities are the textbook's.
"""

from __future__ import annotations

from eutectic.kernel.mathlib.exponential import (LN2, LOG2E, MANTISSA, SHIFTER, expm1,
                                                 log, log1p, rough_log, scaled_exp)
from eutectic.kernel.scalar import (Value, bitcast, const, convert, copysign, fabs, fma, poly,
                                    select, sqrt)

# e^r = 1 + r + r^2 q(r), weighted for the relative error of e^r - 1
_TANH_Q = (0.0013882451973121631, 0.008366707546686367, 0.04166720638762707, 0.1666654222905022,
           0.4999999812146374)
# sinh x = x + x z s(z), z = x^2, |x| <= 1
_SINH = {"f32": (2.817625500028953e-06, 0.00019836034334730357, 0.008333350531756878,
                 0.1666666716337204),
         "f64": (7.759652480108042e-13, 1.6057229404251565e-10, 2.5052123535182387e-08,
                 2.7557319154503267e-06, 0.0001984126984144023, 0.008333333333333135,
                 0.16666666666666669)}


def tanh(x: Value) -> Value:
    """Hyperbolic tangent.

    With h = (exp(2|x|) - 1)/2 it is h/(h+1), and, where that is small, h - h*(h/(h+1)), whose
    rounding errors are weighted by h. exp(2|x|) - 1 is formed as 2^n*(e^r - 1) + (2^n - 1).
    float64 goes the same way through expm1.
    """
    if x.ty == "f32":
        w = fabs(x + x)
        w = select(w > 20.0, const(20.0, "f32"), w)
        shift = SHIFTER["f32"] + 126.0                # scale 2^(n-1)
        t = fma(w, LOG2E, const(shift, "f32"))
        r = fma(t - shift, -LN2, w)
        s = bitcast(t.bits() << MANTISSA["f32"], "f32")
        h = fma(fma(poly(r, _TANH_Q), r * r, r), s, s - 0.5)
        cut = w < 0.7
    else:
        a = fabs(x)
        h = expm1(select(a > 22.0, const(22.0, "f64"), a) * 2.0) * 0.5
        cut = a < 0.35
    y = h / (h + 1.0)
    return copysign(select(cut, fma(-h, y, h), y), x)


def sinh(x: Value) -> Value:
    """Hyperbolic sine: a polynomial below 1, else from h = exp(|x|)/2."""
    a = fabs(x)
    h = scaled_exp(a, -1)
    z = x * x
    near = fma(x * z, poly(z, _SINH[x.ty]), x)
    return select(a < 1.0, near, copysign(h - 0.25 / h, x))


def cosh(x: Value) -> Value:
    """Hyperbolic cosine, from h = exp(|x|)/2."""
    h = scaled_exp(fabs(x), -1)
    return h + 0.25 / h


def arcsinh(x: Value) -> Value:
    """Inverse hyperbolic sine: log(|x| + sqrt(x^2 + 1)), float32 with the logarithm in float64."""
    a = fabs(x)
    if x.ty == "f32":
        w = convert(a, "f64")
        far = convert(rough_log(w + sqrt(fma(w, w, 1.0))), "f32")
        z = x * x
        near = fma(a * z, fma(z, 0.075, -1.0 / 6.0), a)
        return copysign(select(a < 0.01, near, select(a < float("inf"), far, a)), x)
    big = a > 1e9
    s = select(big, const(1.0, x.ty), a)
    z = s * s
    near = log1p(s + z / (1.0 + sqrt(z + 1.0)))
    return copysign(select(big, log(a) + LN2, near), x)


def arccosh(x: Value) -> Value:
    """Inverse hyperbolic cosine, log(x + sqrt((x-1)(x+1))); NaN below 1."""
    nan = const(float("nan"), x.ty)
    if x.ty == "f32":
        w = convert(x, "f64")
        y = convert(rough_log(w + sqrt((w - 1.0) * (w + 1.0))), "f32")
        return select(x < 1.0, nan, select(x < float("inf"), y, x))
    big = x > 1e9
    t = select(big, const(1.0, x.ty), x) - 1.0
    near = log1p(t + sqrt(t * (t + 2.0)))
    return select(x < 1.0, nan, select(big, log(x) + LN2, near))


def arctanh(x: Value) -> Value:
    """Inverse hyperbolic tangent, log((1+x)/(1-x))/2; infinite at 1, NaN outside."""
    a = fabs(x)
    if x.ty == "f32":
        w = convert(a, "f64")
        y = convert(rough_log((1.0 + w) / (1.0 - w)) * 0.5, "f32")
        z = x * x
        near = fma(x * z, fma(z, 0.2, 1.0 / 3.0), x)
        y = select(a < 0.01, near, copysign(y, x))
        y = select(a.eq(1.0), copysign(const(float("inf"), "f32"), x), y)
        return select(a <= 1.0, y, const(float("nan"), "f32"))
    return copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x)
