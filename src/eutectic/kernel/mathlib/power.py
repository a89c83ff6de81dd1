"""Powers, roots, reciprocals and float remainders."""

from __future__ import annotations

from eutectic.kernel.mathlib.exponential import (EXP_Q, LN2_SPLIT, LOG2E, LOG_R40,
                                                 SHIFTER, split_exponent, two_factors)
from eutectic.kernel.scalar import (BITS, Value, bitcast, const, convert, copysign, fabs, floor,
                                    fma, poly, rint, select)
from eutectic.kernel.scalar import sqrt as _sqrt

# log(1+f) = 2s + s z r(z), s = f/(2+f), z = s^2, with r(z) = 2/3 + z q(z)
_LOG_Q64 = (0.11614719996988727, 0.10326880145940355, 0.1177516713504155, 0.13332999161505332,
            0.15384622095342504, 0.18181818097880229, 0.2222222222284412, 0.28571428571426144, 0.4)
_EXP2_Q40 = (1.5315174738882795e-05, 0.00015467366208207656, 0.0013333429838731485,
             0.00961803616778266, 0.055504109636844774, 0.2402265108045195, 0.693147180541349)


def sqrt(x: Value) -> Value:
    """Square root, correctly rounded."""
    return _sqrt(x)


def rsqrt(x: Value) -> Value:
    """1 / sqrt(x); infinite at zeros with their sign, NaN below.

    One Newton step with the residual 1 - x*y^2 formed exactly (x*y = p + q).
    """
    y = 1.0 / _sqrt(x)
    p = x * y
    q = fma(x, y, -p)
    residual = fma(-q, y, fma(-p, y, const(1.0, x.ty)))
    fixed = fma(y * 0.5, residual, y)
    return select(fabs(fixed) < float("inf"), fixed, y)


def reciprocal(x: Value) -> Value:
    """1 / x."""
    return 1.0 / x


def square(x: Value) -> Value:
    """x * x."""
    return x * x


def _two_sum_fast(a: Value, b: Value) -> tuple[Value, Value]:
    s = a + b
    return s, b - (s - a)


def _two_product(a: Value, b: Value) -> tuple[Value, Value]:
    p = a * b
    return p, fma(a, b, -p)


def _log_extended(x: Value) -> tuple[Value, Value]:
    """log x of a positive f64 as an unevaluated sum, relative error about 2^-66."""
    e, m = split_exponent(x)
    f = m - 1.0
    d = m + 1.0
    d_low = m - (d - 1.0)
    s = f / d
    s_low = (fma(-s, d, f) - s * d_low) / d
    z, z_low = _two_product(s, s)
    z_low = fma(s + s, s_low, z_low)
    # c = 2/3 + z q(z), t = c z s
    c, c_low = _two_sum_fast(const(2.0 / 3.0, "f64"), z * poly(z, _LOG_Q64))
    c_low = c_low + 3.700743415417188e-17
    u, u_low = _two_product(z, c)
    u_low = fma(z, c_low, fma(z_low, c, u_low))
    t, t_low = _two_product(s, u)
    t_low = fma(s, u_low, fma(s_low, u, t_low))
    # e*ln2 + 2s + t
    hi, lo = LN2_SPLIT["f64"]
    big = e * hi
    h, l1 = _two_sum_fast(big, s + s)
    zero = e.eq(0.0)
    h, l1 = select(zero, s + s, h), select(zero, const(0.0, "f64"), l1)
    g, l2 = _two_sum_fast(h, t)
    low_ln2 = e * lo
    low = l1 + (fma(e, 1.1612227229362532e-26, fma(e, lo, -low_ln2)) + (t_low + (s_low + s_low)))
    k, l3 = _two_sum_fast(g, low_ln2)
    # where e is 0 the tails are all that is left to add
    return _two_sum_fast(k, (l2 + l3) + low)


def _power_f64(x: Value, y: Value) -> Value:
    """x**y for positive finite x."""
    h, low = _log_extended(x)
    p, p_low = _two_product(y, h)
    p_low = fma(y, low, p_low)
    big = fabs(p) > 800.0
    p = select(p > 800.0, const(800.0, "f64"), p)
    p = select(p < -800.0, const(-800.0, "f64"), p)
    p_low = select(big, const(0.0, "f64"), p_low)
    hi, lo = LN2_SPLIT["f64"]
    shift = SHIFTER["f64"] + 2046.0
    t = fma(p, LOG2E, const(shift, "f64"))
    n = t - shift
    r = fma(n, -hi, p)
    r_low = fma(n, -lo, p_low)
    q = r + r_low
    e = q + ((r_low - (q - r)) + q * q * poly(q, EXP_Q["f64"]))
    a, b = two_factors(t)
    return (e + 1.0) * a * b


def _power_f32(x: Value, y: Value) -> Value:
    """x**y for positive finite f64 x, y that hold float32 numbers, to about 2^-33."""
    e, m = split_exponent(x, tiny=False)
    f = m - 1.0
    s = f / (m + 1.0)
    z = s * s
    log_m = s * fma(z, poly(z, LOG_R40), 2.0)
    p = y * fma(log_m, LOG2E, e)
    p = select(p > 300.0, const(300.0, "f64"), p)
    p = select(p < -300.0, const(-300.0, "f64"), p)
    shift = SHIFTER["f64"] + 1023.0
    t = p + shift
    r = p - (t - shift)
    return poly(r, (*_EXP2_Q40, 1.0)) * bitcast(t.bits() << 52, "f64")


def power(x: Value, y: Value) -> Value:
    """x**y with C99's values at zeros, ones, infinities, NaN and negative bases."""
    ty = x.ty
    inf = float("inf")
    a, b = fabs(x), fabs(y)
    if ty == "f32":
        p = convert(_power_f32(convert(a, "f64"), convert(y, "f64")), "f32")
    else:
        p = _power_f64(a, y)
    zero, one, infinity = const(0.0, ty), const(1.0, ty), const(inf, ty)
    up = y > 0.0
    p = select(a.eq(inf), select(up, infinity, zero), p)
    p = select(a.eq(0.0), select(up, zero, infinity), p)
    p = select(b.eq(inf), select(a.eq(1.0), one, select((a > 1.0) ^ up, zero, infinity)), p)
    whole = floor(y).eq(y)
    half = y * 0.5
    odd = whole & floor(half).ne(half) & (b < inf)
    sign = (x.bits() >> (BITS[ty] - 1)).ne(0)
    p = select(sign & odd, -p, p)
    p = select((x < 0.0) & ~whole & (a < inf), const(float("nan"), ty), p)
    p = select(x.is_nan() | y.is_nan(), x + y, p)
    return select(y.eq(0.0) | x.eq(1.0), one, p)


def _reduce(a: Value, m: Value, steps: int, bits: int) -> Value:
    """The remainder of a by m, both positive, in [0, m).

    Each step takes `bits` bits of the quotient from the top and is exact: the new remainder, in
    [-m/2, m/2] of the step's multiple of m, fits into the significand.
    """
    inverse = 1.0 / m
    for k in reversed(range(steps)):
        n = rint(a * (inverse * 2.0 ** (-bits * k)))
        a = fma(-n, m * 2.0 ** (bits * k), a)
    a = select(a < 0.0, a + m, a)
    return select(a < m, a, const(0.0, "f64"))


def _scaled_reduce(a: Value, m: Value) -> Value:
    """The same for any f64; exact for quotients below 2^500, which larger ones are taken for."""
    tiny = m < 2.0 ** -400
    factor = select(tiny, const(2.0 ** 600, "f64"), const(1.0, "f64"))
    m = m * factor
    x = a * factor
    top = m * 2.0 ** 500
    x = select(x > top, top, x)
    inverse = 1.0 / m
    for k in reversed(range(10)):
        unit = m * 2.0 ** (50 * k)
        n = rint(x * (inverse * 2.0 ** (-50 * k)))
        x = select(unit < float("inf"), fma(-n, unit, x), x)
    x = select(x < 0.0, x + m, x)
    return select(x < m, x, const(0.0, "f64")) / factor


def _remainder_towards_zero(a: Value, b: Value, narrow: bool) -> Value:
    """C's fmod on f64 values."""
    x, m = fabs(a), fabs(b)
    r = _reduce(x, m, 10, 29) if narrow else _scaled_reduce(x, m)
    r = select(x < m, x, r)
    r = select((x < float("inf")) & (m > 0.0), r, const(float("nan"), "f64"))
    return select(a.is_nan() | b.is_nan(), a + b, copysign(r, a))


def _signs_differ(a: Value, b: Value) -> Value:
    return (bitcast(a, "i64") ^ bitcast(b, "i64")) < 0


def remainder(x: Value, y: Value) -> Value:
    """Remainder with the sign of the divisor (Python's and NumPy's `%`).

    The remainder towards zero is exact (float64: for quotients below 2^500); where its sign is not
    the divisor's, the divisor is added with one rounding.
    """
    narrow = x.ty == "f32"
    a, b = (convert(x, "f64"), convert(y, "f64")) if narrow else (x, y)
    r = _remainder_towards_zero(a, b, narrow)
    r = select(r.eq(0.0), copysign(r, b), select(_signs_differ(r, b), r + b, r))
    return convert(r, "f32") if narrow else r


def floor_divide(x: Value, y: Value) -> Value:
    """Largest integer not above x / y (NumPy's `//`), rounded to the type; x / y for y = 0."""
    narrow = x.ty == "f32"
    a, b = (convert(x, "f64"), convert(y, "f64")) if narrow else (x, y)
    r = _remainder_towards_zero(a, b, narrow)
    q = a / b
    d = select(fabs(b).eq(float("inf")) & (fabs(a) < float("inf")), copysign(q * 0.0, q),
               (a - r) / b)
    d = select(r.ne(0.0) & _signs_differ(r, b), d - 1.0, d)
    n = floor(d)
    n = select(d - n > 0.5, n + 1.0, n)
    n = select(n.eq(0.0), copysign(n, q), n)
    n = select(b.eq(0.0), q, n)
    return convert(n, "f32") if narrow else n
