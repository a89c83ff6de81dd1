"""Error functions."""

from __future__ import annotations

from eutectic.kernel.mathlib.exponential import log, log1p, rough_log, scaled_exp
from eutectic.kernel.scalar import (Value, const, convert, copysign, fabs, fma, poly, select, sqrt)

# erf x = x (2/sqrt(pi) + z p(z)), z = x^2, |x| <= 1 (float32: 1.15)
_ERF64 = (5.968201680948802e-11, -1.1379779354809177e-09, 1.4661689235617725e-08,
          -1.6350617958732367e-07, 1.646103156999931e-06, -1.4925597376568038e-05,
          0.0001205533120832391, -0.0008548326983800292, 0.005223977624877177,
          -0.026866170645084037, 0.11283791670954928, -0.3761263890318375)
_ERF32 = (6.952595119437e-05, -0.0007728973708955023, 0.0051558382851826495, -0.026836924766600316,
          0.11283208978146311, -0.3761260007244268)
_ERF_LEAD = 0.12837916709551257                     # 2/sqrt(pi) - 1
# erfc x = p(x - 2)^-4, x in [1.15, 4] (the form of C. Hastings, "Approximations for Digital
# Computers", 1955); the last bits of the float32 coefficients were chosen by trial
_ERFC32 = (0.0117616793140769, 0.05298513546586037, 0.14708754420280457, 0.3742193579673767,
           0.8894869685173035, 1.849041223526001, 3.2156059741973877, 4.223546028137207,
           3.8237664699554443)
# erfc x = exp(-x^2) / (1 + 2x) * p(t), t = (x - 5/2) / (x + 5/2), x in [1, 6] (the variable of
# M. M. Shepherd and J. G. Laframboise, Math. Comp. 36, 1981)
_ERFC64 = (4.444333532310095e-07, -1.2070443106132701e-06, -4.152154949187831e-06,
           2.4880980211548366e-06, 2.2679708277117167e-05, 6.287487077212358e-06,
           -0.00011351919275409872, -8.84815210467753e-05, 0.0006321240529799005,
           0.0004918659606240501, -0.004382078325257642, 0.0009318928117005048,
           0.03276089326822923, -0.10296705603845759, 0.15762991902322437, -0.09902453957360276,
           -0.12235676308240433, 1.2648381843668615)
# erfinv x / x as polynomial in w - 5/2, w = -log(1 - x^2) < 5, and in sqrt(w) - 3 beyond (the
# variables of M. Giles, "Approximating the erfinv function", 2012)
_INV_CENTRE = (4.2955861021978543e-10, -8.712636664302897e-09, 1.6616701873204187e-08,
               4.650967435268883e-07, -3.4271259820653153e-06, -4.958433760625222e-06,
               0.00021826660043923894, -0.0012527502442432528, -0.00417732746033146,
               0.2466402900284262, 1.5014093521016976)
_INV_TAIL = (0.0001124897769597483, -0.0003055102156731609, -5.258506108032778e-05,
             0.0014794392426030816, -0.003599168781980378, 0.005689420862126137,
             -0.0076370111129037835, 0.00944495008655071, 1.0016749534633318, 2.8329768083246694)
TWO_OVER_ROOT_PI = 1.1283791670955126


def _erfc_tail(a: Value) -> Value:
    """erfc for f64 a in [1, 6]."""
    z = a * a
    low = fma(a, a, -z)
    e = scaled_exp(-z)
    e = fma(e, -low, e)
    g = poly((a - 2.5) / (a + 2.5), _ERFC64)
    return e * g / fma(a, 2.0, 1.0)


def erf(x: Value) -> Value:
    """Error function."""
    a = fabs(x)
    if x.ty == "f32":
        z = x * x
        near = fma(x, poly(z, (*_ERF32, _ERF_LEAD)), x)
        a = select(a > 4.0, const(4.0, "f32"), a)
        p = poly(a - 2.0, _ERFC32)
        p = p * p
        return select(a < 1.15, near, copysign(1.0 - 1.0 / (p * p), x))
    a = select(a > 6.0, const(6.0, x.ty), a)
    z = a * a
    near = fma(a, fma(z, poly(z, _ERF64), _ERF_LEAD), a)
    return copysign(select(a < 1.0, near, 1.0 - _erfc_tail(a)), x)


def erfinv(x: Value) -> Value:
    """Inverse error function on [-1, 1]; infinite at the ends, NaN outside.

    float64 takes two steps of Halley's method from the float32 polynomials, or in the far tail from
    the leading term of erfc, on erf(y) - x or, in the tail, on erfc(y) - (1 - |x|).
    """
    a = fabs(x)
    if x.ty == "f32":
        wide = convert(x, "f64")
        w = -rough_log((1.0 - wide) * (1.0 + wide))
        v = convert(w, "f32")
        near = v < 5.0
        u = select(near, v - 2.5, sqrt(v) - 3.0)
        inner = select(near, poly(u, _INV_CENTRE[:-1]), poly(u, _INV_TAIL[:-1]))
        lead = select(near, const(_INV_CENTRE[-1], "f64"), const(_INV_TAIL[-1], "f64"))
        y = convert(wide * fma(convert(u, "f64"), convert(inner, "f64"), lead), "f32")
    else:
        w = -log1p(-(x * x))
        b = fabs(x * select(w < 5.0, poly(w - 2.5, _INV_CENTRE), poly(sqrt(w) - 3.0, _INV_TAIL)))
        # Beyond float32's range the polynomial leads astray: erfc(y) ~ e^(-y^2) / (y sqrt(pi)).
        rest = 1.0 - a
        b = select(w < 15.0, b, sqrt(-log(select(a < 0.5, const(0.5, x.ty), rest)
                                          * sqrt(select(w < 1.0, const(1.0, x.ty), w))
                                          * (2.0 / TWO_OVER_ROOT_PI))))
        for _ in range(2):
            z = b * b
            near = fma(b, fma(z, poly(z, _ERF64), _ERF_LEAD), b - a)
            far = rest - _erfc_tail(select(b > 6.0, const(6.0, x.ty), b))
            d = select(b < 1.0, near, far) / (TWO_OVER_ROOT_PI * scaled_exp(-z))
            b = b - d / fma(b, d, 1.0)
        y = copysign(b, x)
    y = select(a.eq(1.0), copysign(const(float("inf"), x.ty), x), y)
    return select(a > 1.0, const(float("nan"), x.ty), y)
