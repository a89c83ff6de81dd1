"""Exponentials and logarithms.

Reduction of exponentials: x = n*ln2 + r, |r| <= ln2/2, n found by adding 1.5*2^p (p: mantissa
bits), which leaves n in the low bits of the sum. The scale 2^n is applied as two factors of about
2^(n/2), so that overflow and gradual underflow come out of IEEE multiplication itself.
Reduction of logarithms: x = 2^e * (1 + f) with 1 + f in [2/3, 4/3).

Polynomials are our own minimax fits (Remez exchange in 50-digit arithmetic, weighted for the
relative error of the function). The split into a leading exact part and a small correction
follows W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (1980).
"""

from __future__ import annotations

from eutectic.kernel.scalar import (Value, bitcast, const, const_bits, convert, copysign, fabs,
                                    fma, fmax, poly, select)

LN2 = 0.6931471805599453
LOG2E = 1.4426950408889634

# e^r = 1 + r + r^2 q(r)
EXP_Q = {"f32": (0.0013950825668871403, 0.008369024842977524, 0.04166620224714279,
                 0.166665181517601, 0.5),
         "f64": (2.5118227538098776e-08, 2.7631559087449367e-07, 2.755721517646289e-06,
                 2.4801489208768732e-05, 0.00019841269918597284, 0.0013888888947672794,
                 0.008333333333306664, 0.041666666666513134, 0.166666666666667, 0.5000000000000013)}
# 2^r = 1 + r q(r)
EXP2_Q = {"f32": (0.00015476670523639768, 0.0013400537427514791, 0.00961800292134285,
                  0.05550327152013779, 0.24022650718688965, 0.6931471824645996),
          "f64": (4.4574340163958535e-10, 7.073935929279079e-09, 1.0178046141634075e-07,
                  1.3215434400943641e-06, 1.525273386833994e-05, 0.00015403530458857177,
                  0.0013333558146378158, 0.009618129107592768, 0.05550410866482174,
                  0.24022650695910133, 0.6931471805599453)}
# log(1+f) = f - f^2/2 + f^3 p(f)
LOG_P32 = (-0.13191290199756622, 0.13963176310062408, -0.12115170806646347, 0.14010821282863617,
           -0.16685467958450317, 0.20010046660900116, -0.24999688565731049, 0.33333224058151245)
# log(1+f) = 2s + s z r(z), s = f/(2+f), z = s^2
LOG_R64 = (0.13840897731900723, 0.13173915000513642, 0.15391093237150152, 0.18181666445085432,
           0.22222224287061143, 0.28571428555910067, 0.40000000000056346, 0.666666666666666)
# the same for float32 results
LOG_R40 = (0.20123868309998502, 0.22134992374192927, 0.28573188237608516, 0.3999998457084597,
           0.6666666671052521)

# ln2 as a short leading part, whose products with exponents are exact, and the rest.
LN2_SPLIT = {"f32": (0.693145751953125, 1.428606765330187e-06),
             "f64": (0.6931471803691238, 1.9082149292705877e-10)}
SHIFTER = {"f32": 12582912.0, "f64": 6755399441055744.0}  # 1.5 * 2^mantissa
MANTISSA = {"f32": 23, "f64": 52}
BIAS = {"f32": 127, "f64": 1023}
INT = {"f32": "i32", "f64": "i64"}
TWO_THIRDS = {"f32": 0x3F2AAAAB, "f64": 0x3FE5555555555555}


def clamp(x: Value, lo: float, hi: float) -> Value:
    """x limited to [lo, hi]; NaN stays NaN."""
    lo_, hi_ = const(lo, x.ty), const(hi, x.ty)
    x = select(x < lo_, lo_, x)
    return select(x > hi_, hi_, x)


def two_factors(shifted: Value) -> tuple[Value, Value]:
    """Powers of two with product 2^n from `shifted` = n + SHIFTER + 2*BIAS, for |n| < 2*BIAS."""
    ty, m = shifted.ty, MANTISSA[shifted.ty]
    i = shifted.bits()
    half = i >> 1
    return bitcast(half << m, ty), bitcast((i - half) << m, ty)


def _reduce_exp(x: Value) -> tuple[Value, Value, Value]:
    """(shifted, n, r) with x = n*ln2 + r."""
    ty = x.ty
    hi, lo = LN2_SPLIT[ty]
    shift = SHIFTER[ty] + 2 * BIAS[ty]
    t = fma(x, LOG2E, const(shift, ty))
    n = t - shift
    return t, n, fma(n, -lo, fma(n, -hi, x))


def scaled_exp(x: Value, k: int = 0) -> Value:
    """exp(x) * 2^k with one rounding more than exp only where the result is subnormal."""
    ty = x.ty
    x = clamp(x, -104.0 - k, 89.5 - k) if ty == "f32" else clamp(x, -746.0 - k, 710.5 - k)
    t, _, r = _reduce_exp(x)
    p = poly(r, (*EXP_Q[ty], 1.0, 1.0))
    a, b = two_factors(t + float(k) if k else t)
    return p * a * b


def exp(x: Value) -> Value:
    """e**x."""
    return scaled_exp(x)


def exp2(x: Value) -> Value:
    """2**x."""
    ty = x.ty
    x = clamp(x, -151.0, 129.0) if ty == "f32" else clamp(x, -1076.0, 1025.0)
    shift = SHIFTER[ty] + 2 * BIAS[ty]
    t = x + shift
    r = x - (t - shift)
    a, b = two_factors(t)
    return poly(r, (*EXP2_Q[ty], 1.0)) * a * b


def expm1(x: Value) -> Value:
    """exp(x) - 1 without cancellation near 0."""
    ty = x.ty
    c = clamp(x, -104.0, 89.0) if ty == "f32" else clamp(x, -746.0, 710.0)
    t, n, r = _reduce_exp(c)
    m = fma(poly(r, EXP_Q[ty]), r * r, r)
    a, b = two_factors(t - 1.0)                       # their product is 2^(n-1)
    half = a * b
    far = fma(m, half, half - 0.5) * 2.0
    return copysign(select(n.eq(0.0), m, far), x)


def split_exponent(x: Value, tiny: bool = True) -> tuple[Value, Value]:
    """(e, m): x = 2^e * m with m in [2/3, 4/3) for positive finite x, e as a float.

    Without `tiny`, x must be normal.
    """
    ty = x.ty
    m = MANTISSA[ty]
    if tiny:
        is_tiny = x < const_bits(1 << m, ty)
        x = select(is_tiny, x * float(2 ** (m + 2)), x)
    bits = bitcast(x, INT[ty])
    e = (bits - bitcast(const_bits(TWO_THIRDS[ty], ty), INT[ty])) >> m
    mantissa = bitcast(bits - (e << m), ty)
    e = convert(e, ty)
    return (select(is_tiny, e - float(m + 2), e) if tiny else e), mantissa


def log_terms(f: Value) -> Value:
    """log(1+f) - f for f in [-1/3, 1/3]."""
    if f.ty == "f32":
        z = f * f
        odd, even = poly(z, LOG_P32[::2]), poly(z, LOG_P32[1::2])     # two short chains
        return z * fma(f, fma(odd, f, even), -0.5)
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    return s * (half + z * poly(z, LOG_R64)) - half


def _log_sum(e: Value, f: Value, low: Value | None = None) -> Value:
    """e*ln2 + log(1+f), and a small addend."""
    hi, lo = LN2_SPLIT[f.ty]
    big = e * hi
    s = big + f
    rest = f - (s - big)                              # exact: |big| > |f| or big = 0
    tail = fma(e, lo, log_terms(f)) + rest
    return s + (tail if low is None else tail + low)


def log_special(x: Value, y: Value) -> Value:
    """Put in the values of logarithms at zeros, negative numbers, infinity and NaN."""
    inf = const(float("inf"), x.ty)
    y = select(x < inf, y, x)                         # inf and NaN
    y = select(x.eq(0.0), -inf, y)
    return select(x < 0.0, const(float("nan"), x.ty), y)


def log(x: Value) -> Value:
    """Natural logarithm."""
    e, m = split_exponent(x)
    return log_special(x, _log_sum(e, m - 1.0))


def rough_log(x: Value) -> Value:
    """log x of a normal positive f64 to a relative 2^-42, for results in float32."""
    e, m = split_exponent(x, tiny=False)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    return fma(e, LN2, s * fma(z, poly(z, LOG_R40), 2.0))


# base: (scale hi, scale lo, log_b(2) hi, log_b(2) lo)
_BASES = {("f32", 2): (1.4426950216293335, 1.925963033500011e-08, 1.0, 0.0),
          ("f64", 2): (1.4426950408889634, 2.0355273740931033e-17, 1.0, 0.0),
          ("f32", 10): (0.4342944920063019, -1.0103049952192578e-08,
                        0.301025390625, 4.605038611771306e-06),
          ("f64", 10): (0.4342944819032518, 1.098319650216765e-17,
                        0.3010299955494702, 1.1451100898021838e-10)}


def _log_base(x: Value, base: int) -> Value:
    hi, lo, unit_hi, unit_lo = _BASES[x.ty, base]
    e, m = split_exponent(x)
    f = m - 1.0
    p = f * hi
    low = fma(f, hi, -p) + fma(f, lo, log_terms(f) * hi)
    big = e * unit_hi
    s = big + p
    low = (p - (s - big)) + fma(e, unit_lo, low)
    return log_special(x, s + low)


def log2(x: Value) -> Value:
    """Logarithm to base 2."""
    return _log_base(x, 2)


def log10(x: Value) -> Value:
    """Logarithm to base 10."""
    return _log_base(x, 10)


def log1p(x: Value) -> Value:
    """log(1+x) without cancellation near 0.

    The exponent e is that of the rounded sum u = 1+x; 1+f = 2^-e*(1+x) is then formed from x
    itself, with one rounding.
    """
    ty = x.ty
    u = x + 1.0
    bits = bitcast(u, INT[ty])
    e = (bits - bitcast(const_bits(TWO_THIRDS[ty], ty), INT[ty])) >> MANTISSA[ty]
    s = bitcast(const(BIAS[ty] + 1, INT[ty]) - e << MANTISSA[ty], ty)      # 2^(1-e)
    f = fma(x * 0.5, s, fma(s, 0.5, -1.0))
    m = bitcast(bits - (e << MANTISSA[ty]), ty)
    f = select(x < float(2 ** 60), f, m - 1.0)        # 1+x = x, and s may not exist
    y = log_special(u, _log_sum(convert(e, ty), f))
    return select(fabs(x) < (1e-8 if ty == "f32" else 1e-17), x, y)


def sigmoid(x: Value) -> Value:
    """1 / (1 + exp(-x)), without overflow; both tails keep their relative accuracy.

    With e = exp(-|x|): 1/(1+e) for positive x, y = e/(1+e) for negative x, and e - e*y where e is
    small, so that the rounding errors of y are weighted by e.
    """
    ty = x.ty
    a = -fabs(x)
    low = const(-104.0 if ty == "f32" else -746.0, ty)
    t, _, r = _reduce_exp(select(a < low, low, a))
    scale_1, scale_2 = two_factors(t)
    e = (fma(poly(r, EXP_Q[ty]), r * r, r) + 1.0) * scale_1 * scale_2
    y = select(x < 0.0, e, const(1.0, ty)) / (e + 1.0)
    return select(x < -0.7, fma(-e, y, e), y)


def logaddexp(a: Value, b: Value) -> Value:
    """log(exp(a) + exp(b)), computed as max + log1p(exp(-|a-b|))."""
    if a.ty == "f32":
        return convert(logaddexp(convert(a, "f64"), convert(b, "f64")), "f32")
    top = fmax(a, b)
    d = select(a.eq(b), const(0.0, a.ty), a - b)
    return top + log1p(scaled_exp(-fabs(d)))
