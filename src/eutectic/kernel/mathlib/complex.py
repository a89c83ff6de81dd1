"""Functions of complex numbers (pairs of f32).

Everything is computed in f64 and rounded once at the end: squares of f32 numbers neither overflow
nor underflow there, so no scaling is needed, and cancellation costs bits that f32 does not show.
Branch cuts and values at infinities follow C99's Annex G where NumPy does.
"""

from __future__ import annotations

from eutectic.kernel.mathlib import exponential as ex
from eutectic.kernel.mathlib import hyperbolic as hy
from eutectic.kernel.mathlib import trigonometric as tr
from eutectic.kernel.scalar import (Complex, Value, bitcast, const, convert, copysign, fabs, fma,
                                    select)
from eutectic.kernel.scalar import sqrt as _sqrt

Pair = tuple[Value, Value]
INF = float("inf")


def _wide(z: Complex) -> Pair:
    return convert(z.re, "f64"), convert(z.im, "f64")


def _narrow(p: Pair) -> Complex:
    return Complex(convert(p[0], "f32"), convert(p[1], "f32"))


def _c(v: float) -> Value:
    return const(v, "f64")


def _hypot(a: Value, b: Value) -> Value:
    """sqrt(a^2 + b^2); infinite if either is, even beside NaN."""
    h = _sqrt(fma(a, a, b * b))
    return select(fabs(a).eq(INF) | fabs(b).eq(INF), _c(INF), h)


def abs_(z: Complex) -> Value:
    """Modulus."""
    return convert(_hypot(*_wide(z)), "f32")


def angle(z: Complex) -> Value:
    """Argument in [-pi, pi]."""
    return tr.arctan2(z.im, z.re)


def _scale(x: Value, t: Value) -> Value:
    """x*t with a zero where t is 0, even if x is infinite."""
    return select(t.eq(0.0) & fabs(x).eq(INF), t, x * t)


def _exp_pair(x: Value, im: Value) -> Pair:
    """exp(x) * (cos im + i sin im)."""
    e = ex.exp(x)
    s, c = tr.sin_cos_wide(im)
    s = select(im.eq(0.0), convert(im, "f64"), s)
    bad = ~(fabs(im) < INF)
    gone = bad & e.eq(0.0)
    re, imag = select(gone, _c(0.0), e * c), select(gone, _c(0.0), _scale(e, s))
    imag = select(im.eq(0.0), convert(im, "f64"), imag)
    return select(bad & x.eq(INF), e, re), imag


def exp(z: Complex) -> Complex:
    """e**z."""
    return _narrow(_exp_pair(convert(z.re, "f64"), z.im))


def expm1(z: Complex) -> Complex:
    """e**z - 1: the real part is expm1(x) cos y - 2 sin(y/2)^2."""
    x = convert(z.re, "f64")
    s, c = tr.sin_cos_wide(z.im)
    h, _ = tr.sin_cos_wide(z.im * 0.5)
    re = ex.expm1(x) * c - 2.0 * h * h
    e = ex.exp(x)
    flat = z.im.eq(0.0)
    re = select(flat, ex.expm1(x), re)
    imag = select(flat, convert(z.im, "f64"), e * s)
    return _narrow((re, imag))


def _log_abs(a: Value, b: Value) -> Value:
    """log|a + ib| for f64 values that hold float32 numbers or short sums of them."""
    a, b = fabs(a), fabs(b)
    big, small = select(a < b, b, a), select(a < b, a, b)
    norm = fma(big, big, small * small)
    near = ex.log1p(fma(small, small, fma(big, big, -1.0)))
    y = select((norm > 0.5) & (norm < 2.0), near, ex.log(norm)) * 0.5
    return select(a.eq(INF) | b.eq(INF), _c(INF), y)


def _log_pair(a: Value, b: Value) -> Pair:
    return _log_abs(a, b), tr.arctan2(b, a)


def log(z: Complex) -> Complex:
    """Principal logarithm."""
    return _narrow(_log_pair(*_wide(z)))


def log2(z: Complex) -> Complex:
    """Principal logarithm over log 2."""
    re, im = _log_pair(*_wide(z))
    return _narrow((re * 1.4426950408889634, im * 1.4426950408889634))


def log10(z: Complex) -> Complex:
    """Principal logarithm over log 10."""
    re, im = _log_pair(*_wide(z))
    return _narrow((re * 0.4342944819032518, im * 0.4342944819032518))


def log1p(z: Complex) -> Complex:
    """log(1 + z): the modulus from |1+z|^2 - 1 = x (2 + x) + y^2."""
    x, y = _wide(z)
    u = x + 1.0
    norm = fma(u, u, y * y)
    near = ex.log1p(fma(x, x + 2.0, y * y)) * 0.5
    re = select((norm > 0.25) & (norm < 4.0), near, _log_abs(u, y))
    return _narrow((re, tr.arctan2(y, u)))


def _sqrt_pair(a: Value, b: Value) -> Pair:
    h = _sqrt((fabs(a) + _hypot(a, b)) * 0.5)
    other = select(h.eq(0.0), _c(0.0), fabs(b) / (h + h))
    right = bitcast(a, "i64") >= 0
    re, im = select(right, h, other), select(right, other, h)
    infinite = fabs(b).eq(INF)
    re, im = select(infinite, _c(INF), re), select(infinite, _c(INF), im)
    flat = fabs(a).eq(INF) & (fabs(b) < INF)
    re = select(flat, select(right, _c(INF), _c(0.0)), re)
    im = select(flat, select(right, _c(0.0), _c(INF)), im)
    return re, copysign(im, b)


def sqrt(z: Complex) -> Complex:
    """Principal square root."""
    return _narrow(_sqrt_pair(*_wide(z)))


def square(z: Complex) -> Complex:
    """z * z."""
    return z * z


def _divide_pair(a: Value, b: Value, c: Value, d: Value) -> Pair:
    n = fma(c, c, d * d)
    re, im = fma(a, c, b * d) / n, fma(b, c, -(a * d)) / n
    zero = c.eq(0.0) & d.eq(0.0)
    re, im = select(zero, a / fabs(c), re), select(zero, b / fabs(c), im)
    # a finite number over an infinite one: a zero with the sign of the product with 1/(c + id)
    gone = (fabs(c).eq(INF) | fabs(d).eq(INF)) & (fabs(a) < INF) & (fabs(b) < INF)
    p = copysign(select(fabs(c).eq(INF), _c(1.0), _c(0.0)), c)
    q = copysign(select(fabs(d).eq(INF), _c(1.0), _c(0.0)), d)
    re = select(gone, 0.0 * fma(a, p, b * q), re)
    return re, select(gone, 0.0 * fma(b, p, -(a * q)), im)


def divide(x: Complex, y: Complex) -> Complex:
    """x / y without overflow in between."""
    return _narrow(_divide_pair(*_wide(x), *_wide(y)))


def reciprocal(z: Complex) -> Complex:
    """1 / z."""
    return _narrow(_divide_pair(_c(1.0), _c(0.0), *_wide(z)))


def _sinh_cosh(x: Value) -> Pair:
    return hy.sinh(x), hy.cosh(x)


def sinh(z: Complex) -> Complex:
    """Hyperbolic sine: sinh x cos y + i cosh x sin y."""
    sh, ch = _sinh_cosh(convert(z.re, "f64"))
    s, c = tr.sin_cos_wide(z.im)
    s = select(z.im.eq(0.0), convert(z.im, "f64"), s)
    bad = ~(fabs(z.im) < INF)
    infinite = fabs(z.re).eq(INF)
    re = select(bad & (infinite | z.re.eq(0.0)), sh, sh * c)
    im = select(z.im.eq(0.0), convert(z.im, "f64"), _scale(ch, s))
    return _narrow((re, im))


def cosh(z: Complex) -> Complex:
    """Hyperbolic cosine: cosh x cos y + i sinh x sin y."""
    sh, ch = _sinh_cosh(convert(z.re, "f64"))
    s, c = tr.sin_cos_wide(z.im)
    s = select(z.im.eq(0.0), convert(z.im, "f64"), s)
    bad = ~(fabs(z.im) < INF)
    infinite = fabs(z.re).eq(INF)
    re = select(infinite & bad, ch, ch * c)
    s = select(bad & z.re.eq(0.0), _c(0.0), s)
    im = select(s.eq(0.0), s * copysign(_c(1.0), sh), sh * s)
    return _narrow((re, im))


def tanh(z: Complex) -> Complex:
    """Hyperbolic tangent: (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)."""
    x = convert(z.re, "f64")
    sh, ch = _sinh_cosh(x)
    s, c = tr.sin_cos_wide(z.im)
    s = select(z.im.eq(0.0), convert(z.im, "f64"), s)
    d = fma(sh, sh, c * c)
    re, im = sh * ch / d, s * c / d
    large = fabs(x) > 40.0
    sign = copysign(_c(1.0), x)
    tail = 4.0 * s * c * ex.exp(fabs(x) * -2.0)
    bad = ~(fabs(z.im) < INF)
    tail = select(bad, copysign(_c(0.0), convert(z.im, "f64")), tail)
    infinite = fabs(x).eq(INF)
    known = large & (infinite | ~bad)
    re = select(known, sign, select(x.eq(0.0) & bad, x, re))
    im = select(known, tail, im)
    return _narrow((re, select(z.im.eq(0.0) & z.re.is_nan(), convert(z.im, "f64"), im)))


def _turn(z: Complex) -> Complex:
    """i z."""
    return Complex(-z.im, z.re)


def _turn_back(z: Complex) -> Complex:
    """-i z."""
    return Complex(z.im, -z.re)


def sin(z: Complex) -> Complex:
    """Sine: -i sinh(iz)."""
    return _turn_back(sinh(_turn(z)))


def cos(z: Complex) -> Complex:
    """Cosine: cosh(iz)."""
    return cosh(_turn(z))


def tan(z: Complex) -> Complex:
    """Tangent: -i tanh(iz)."""
    return _turn_back(tanh(_turn(z)))


def _multiply_pair(a: Pair, b: Pair) -> Pair:
    return fma(a[0], b[0], -(a[1] * b[1])), fma(a[0], b[1], a[1] * b[0])


def _log_double(x: Value, y: Value) -> tuple[Value, Value]:
    """(|x + iy| is large or infinite, log|2(x + iy)|): the inverse functions far from 0."""
    a, b = fabs(x), fabs(y)
    return (a > 1e15) | (b > 1e15), _log_abs(x, y) + ex.LN2


def arcsinh(z: Complex) -> Complex:
    """Inverse hyperbolic sine: with p = sqrt(1 + iz), q = sqrt(1 - iz), the real part is
    arcsinh|Im p Re q - Re p Im q| and the imaginary part arctan2(|y|, Re(p q)), with the signs of z
    (W. Kahan, "Branch cuts for complex elementary functions", 1987)."""
    x, y = _wide(z)
    p = _sqrt_pair(1.0 - y, x)
    q = _sqrt_pair(1.0 + y, -x)
    cross = fma(p[1], q[0], -(p[0] * q[1]))
    dot = fma(p[0], q[0], -(p[1] * q[1]))
    re = select(x.eq(0.0) & (fabs(y) <= 1.0), _c(0.0), hy.arcsinh(fabs(cross)))
    im = tr.arctan2(fabs(y), dot)
    far, size = _log_double(x, y)
    re = select(far, size, re)
    im = select(far, tr.arctan2(fabs(y), fabs(x)), im)
    return _narrow((copysign(re, x), copysign(im, y)))


def arcsin(z: Complex) -> Complex:
    """Inverse sine: -i arcsinh(iz)."""
    return _turn_back(arcsinh(_turn(z)))


def arccos(z: Complex) -> Complex:
    """Inverse cosine: with p = sqrt(1 - z), q = sqrt(1 + z), 2 arctan2(Re p, Re q) and
    arcsinh(Im(conj(q) p)) (Kahan's)."""
    x, y = _wide(z)
    p = _sqrt_pair(1.0 - x, -y)
    q = _sqrt_pair(1.0 + x, y)
    re = 2.0 * tr.arctan2(p[0], q[0])
    cross = fma(q[0], p[1], -(q[1] * p[0]))
    im = hy.arcsinh(fabs(cross))
    far, size = _log_double(x, y)
    re, im = select(far, tr.arctan2(fabs(y), x), re), select(far, size, im)
    return _narrow((re, copysign(im, -y)))


def arccosh(z: Complex) -> Complex:
    """Inverse hyperbolic cosine: arcsinh(Re(conj(p) q)) and 2 arctan2(Im p, Re q) with
    p = sqrt(z - 1), q = sqrt(z + 1) (Kahan's)."""
    x, y = _wide(z)
    p = _sqrt_pair(x - 1.0, y)
    q = _sqrt_pair(x + 1.0, y)
    re = hy.arcsinh(fma(p[0], q[0], p[1] * q[1]))
    im = 2.0 * tr.arctan2(p[1], q[0])
    far, size = _log_double(x, y)
    re, im = select(far, size, re), select(far, tr.arctan2(y, x), im)
    return _narrow((re, im))


def arctanh(z: Complex) -> Complex:
    """Inverse hyperbolic tangent: log1p(4x / ((1-x)^2 + y^2)) / 4 and
    arctan2(2y, (1-x)(1+x) - y^2) / 2."""
    x, y = _wide(z)
    a = fabs(x)
    u = 1.0 - a
    re = copysign(0.25 * ex.log1p(4.0 * a / fma(u, u, y * y)), x)
    im = 0.5 * tr.arctan2(2.0 * y, fma(u, 1.0 + a, -(y * y)))
    infinite = a.eq(INF) | fabs(y).eq(INF)
    re = select(infinite, copysign(_c(0.0), x), re)
    im = select(infinite, copysign(_c(tr.PI_2[0]), y), im)
    return _narrow((re, im))


def arctan(z: Complex) -> Complex:
    """Inverse tangent: -i arctanh(iz)."""
    return _turn_back(arctanh(_turn(z)))


def power(x: Complex, y: Complex) -> Complex:
    """x**y = exp(y log x); 1 for y = 0, 0 for x = 0 with Re y > 0."""
    a = _wide(x)
    b = _wide(y)
    re, im = _multiply_pair(b, _log_pair(*a))
    e = ex.exp(re)
    s, c = tr.sin_cos_double(im)
    out_re, out_im = e * c, select(im.eq(0.0), im, e * s)
    zero = a[0].eq(0.0) & a[1].eq(0.0)
    out_re = select(zero & (b[0] > 0.0), _c(0.0), out_re)
    out_im = select(zero & (b[0] > 0.0), _c(0.0), out_im)
    unit = b[0].eq(0.0) & b[1].eq(0.0)
    return _narrow((select(unit, _c(1.0), out_re), select(unit, _c(0.0), out_im)))


def sign(z: Complex) -> Complex:
    """z / |z|; 0 at 0."""
    a, b = _wide(z)
    h = _hypot(a, b)
    zero = h.eq(0.0)
    return _narrow((select(zero, a, a / h), select(zero, b, b / h)))


def conjugate(z: Complex) -> Complex:
    """The complex conjugate."""
    return Complex(z.re, -z.im)
