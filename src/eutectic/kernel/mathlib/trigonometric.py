"""Trigonometric functions and their inverses.

Arguments of any size are reduced exactly: with x = m * 2^k, the product of the integer m and a
window of the bits of 2/pi gives quadrant and fraction in fixed point (M. H. Payne, R. N. Hanek,
"Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983). The window is picked
by a barrel shifter of selects, so no table is read and there is no branch.
"""

from __future__ import annotations

from eutectic.kernel.scalar import (Value, bitcast, const, const_bits, convert, copysign, fabs,
                                    fma, poly, select, sqrt)

# sin r = r + r z s(z), cos r = 1 - z/2 + z^2 c(z), z = r^2, |r| <= pi/4
_SIN = {"f32": (-0.00019516977772582322, 0.008332176133990288, -0.16666655242443085),
        "f64": (1.589666484046101e-10, -2.505075593560658e-08, 2.755731367853362e-06,
                -0.00019841269829770964, 0.00833333333332237, -0.16666666666666632)}
_COS = {"f32": (2.4438102627755143e-05, -0.0013887364184483886, 0.04166664555668831),
        "f64": (-1.1359559382028546e-11, 2.0875721625571897e-09, -2.7557314340679693e-07,
                2.4801587289443573e-05, -0.0013888888888874064, 0.0416666666666666)}
# the same for float32 results computed in float64
_SIN40 = (2.718275258423388e-06, -0.0001983933108738347, 0.008333329374422372,
          -0.16666666641529645)
_COS40 = (-2.720990734854596e-07, 2.4799516041776047e-05, -0.0013888883738413633,
          0.041666666622652636)
# arctan t = t + t z a(z), z = t^2, |t| <= tan(pi/8)
_ATAN64 = (0.01519549565002475, -0.03347482039508346, 0.04503566187194517, -0.05218408797003757,
           0.058770225280467214, -0.06666226836634027, 0.07692282764356494, -0.09090908144795373,
           0.11111111088185617, -0.1428571428538814, 0.1999999999999767, -0.33333333333333326)
_ATAN40 = (0.047461218450914375, -0.08477410122698797, 0.11044923625246096, -0.1428202905320428,
           0.19999904756684572, -0.3333333251005314)
_ATAN32 = (-0.060811664909124374, 0.10595144331455231, -0.1424373984336853, 0.1999848335981369,
           -0.33333316445350647)
# arcsin t = t + t z a(z), z = t^2, |t| <= 1/2
_ASIN = {"f32": (0.04222986474633217, 0.02414138987660408, 0.04547826573252678,
                 0.07495233416557312, 0.16666753590106964),
         "f64": (0.03372049177842483, -0.026282003946342173, 0.02492862096825014,
                 0.0006357074043681397, 0.01002358533806566, 0.009481106113135835,
                 0.011586106744525997, 0.013961859465573842, 0.017352946358825488,
                 0.022372151549326744, 0.030381944646313077, 0.04464285713965846,
                 0.07500000000002559, 0.1666666666666666)}

# 26 zero bits, then the bits of 2/pi, as 32-bit words.
_WORDS32 = (0x00000028, 0xBE60DB93, 0x91054A7F, 0x09D5F47D, 0x4D377036, 0xD8A5664F, 0x10E4107F)
# 55 zero bits, then the bits of 2/pi, as 64-bit words.
_WORDS64 = (0x0000000000000145, 0xF306DC9C882A53F8, 0x4EAFA3EA69BB81B6, 0xC52B3278872083FC,
            0xA2C757BD778AC36E, 0x48DC74849BA5C00C, 0x925DD413A32439FC, 0x3BD63962534E7DD1,
            0x046BEA5D768909D3, 0x38E04D68BEFC8273, 0x23AC7306A673E939, 0x08BF177BF250763F,
            0xF12FFFBC0B301FDE, 0x5E2316B414DA3EDA, 0x6CFD9E4F96136E9E, 0x8C7ECD3CBFD45AEA,
            0x4F758FD7CBE2F67A, 0x0E73EF14A525D4D7, 0xF6BF623F1ABA10AC)
PI_2 = (1.5707963267948966, 6.123233995736766e-17)
PI_2_F32 = (1.5707963705062866, -4.3711390001862426e-08)


def _window(words: tuple[int, ...], s: Value, count: int) -> list[Value]:
    """`count` words of the bit string that starts at bit s of `words`."""
    ty = s.ty
    size = 32 if ty == "u32" else 64
    parts: list[Value] = [const_bits(w, ty) for w in words]
    jump = 1 << ((len(words) - count).bit_length() - 2)
    while jump:
        hop = (s & (size * jump)).ne(0)
        parts = [select(hop, parts[i + jump], parts[i]) for i in range(count + jump)]
        jump //= 2
    k = s & (size - 1)
    rest = k ^ (size - 1)
    return [(parts[i] << k) | ((parts[i + 1] >> 1) >> rest) for i in range(count)]


def _reduce32(x: Value) -> tuple[Value, Value, Value]:
    """(n, h, l): |x| = (n + (h + l)*2^-32) * pi/2 modulo 2*pi for |x| > pi/4; n as u32,
    |h + l| <= 2^31.

    With m the 24 bits of the mantissa and w0 (32 bits), w1, w2 (24 bits) the window of 2/pi, the
    product in units of 2^-32 is 4*m*w0 (modulo 2^34) + m*w1*2^-22 + m*w2*2^-46. The second term is
    formed exactly in floating point; its multiples of 16 move to the integer sum.
    """
    i = fabs(x).bits()
    s = (i >> 23) - 126
    m = (i & 0x7FFFFF) | 0x800000
    scaled = bitcast((i & 0x7FFFFF) | 0x40000000, "f32")                      # m * 2^-22
    huge = i >= 0x7F000000                             # |x| >= 2^127: one step less of the window
    m = select(huge, m + m, m)
    scaled = select(huge, scaled + scaled, scaled)
    s = select(huge, const(127, "u32"), s)
    w0, v1, v2 = _window(_WORDS32, s, 3)
    w1 = convert(bitcast(v1 >> 8, "i32"), "f32")
    w2 = convert(bitcast(((v1 & 0xFF) << 16) | (v2 >> 16), "i32"), "f32") * 2.0 ** -24
    p = scaled * w1
    t = p + 201326592.0                                # 1.5 * 2^27: t is a multiple of 16
    q = m * w0 + ((t.bits() - 0x4D400000) << 2)
    f = q << 2
    high = convert(bitcast(f & 0xFFFFFF00, "i32"), "f32")
    # The terms from large to small: near a multiple of pi/2 they cancel, and every sum is exact.
    h, low = _two_sum(high, convert(bitcast(f & 0xFF, "i32"), "f32"))
    h, e = _two_sum(h, p - (t - 201326592.0))
    low = low + e
    h, e = _two_sum(h, fma(scaled, w1, -p))
    low = low + e
    total = fma(scaled, w2, h)
    return (q + 0x20000000) >> 30, total, fma(scaled, w2, h - total) + low


def _two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """a + b and its rounding error, for |a| >= |b|."""
    s = a + b
    return s, b - (s - a)


def _angle32(x: Value) -> tuple[Value, Value, Value]:
    """(n, r, e): |x| = n*pi/2 + r + e modulo 2*pi, |r| <= pi/4, e the rounding error of r."""
    a = fabs(x)
    n, h, low = _reduce32(x)
    hi, lo = PI_2_F32[0] * 2.0 ** -32, PI_2_F32[1] * 2.0 ** -32
    r = h * hi
    e = fma(low, hi, fma(h, lo, fma(h, hi, -r)))
    small = a < 0.7853981
    r = select(small, a, r)
    r = select(a < float("inf"), r, const(float("nan"), "f32"))
    return (select(small, const(0, "u32"), n), r, select(small, const(0.0, "f32"), e))


def _high_product(a: Value, b: Value) -> tuple[Value, Value]:
    """(high, low) words of the 128-bit product of two u64."""
    mask = 0xFFFFFFFF
    ah, al, bh, bl = a >> 32, a & mask, b >> 32, b & mask
    ll, lh, hl, hh = al * bl, al * bh, ah * bl, ah * bh
    mid = (ll >> 32) + (lh & mask) + (hl & mask)
    return hh + (lh >> 32) + (hl >> 32) + (mid >> 32), (ll & mask) | (mid << 32)


def _reduce64(x: Value) -> tuple[Value, Value, Value]:
    """(quadrant as u64, r, its rounding error) with |x| = quadrant*pi/2 + r modulo 2*pi."""
    a = fabs(x)
    small = a < 0.7853981
    i = a.bits()
    s = select(small, const(0, "u64"), (i >> 52) - 1022)
    m = (i & ((1 << 52) - 1)) | (1 << 52)
    top = (s >> 10) & 1                                # 1 only for |x| >= 2^1023
    m = m << top
    s = (s - top) & 1023
    w0, w1, w2 = _window(_WORDS64, s, 3)
    h1, l1 = _high_product(m, w1)
    h2, _ = _high_product(m, w2)
    q0 = l1 + h2
    q1 = m * w0 + h1 + select(q0 < l1, const(1, "u64"), const(0, "u64"))
    n = (q1 + (1 << 61)) >> 62
    f = q1 - (n << 62)
    high = convert(bitcast(f, "i64") >> 32, "f64") * 2.0 ** 32
    low = convert(f & 0xFFFFFFFF, "f64")
    head = high + low
    tail = (low - (head - high)) + convert(q0 >> 11, "f64") * 2.0 ** -53
    head, tail = head + tail, tail - ((head + tail) - head)
    scale_hi, scale_lo = PI_2[0] * 2.0 ** -62, PI_2[1] * 2.0 ** -62
    r = head * scale_hi
    error = fma(head, scale_hi, -r) + fma(head, scale_lo, tail * scale_hi)
    zero = const(0.0, "f64")
    r = select(small, a, r)
    r = select(a < float("inf"), r, const(float("nan"), "f64"))
    return select(small, const(0, "u64"), n), r, select(small, zero, error)


def _sin_cos_parts(r: Value, error: Value) -> tuple[Value, Value, Value, Value]:
    """Unevaluated sums (sin: a + b, cos: c + d) at r + error for |r| <= pi/4."""
    z = r * r
    half = z * 0.5
    w = 1.0 - half
    s = fma(error, w, r * z * poly(z, _SIN[r.ty]))
    c = ((1.0 - w) - half) + fma(-error, r, z * z * poly(z, _COS[r.ty]))
    return r, s, w, c


def _sin_cos(r: Value, error: Value) -> tuple[Value, Value]:
    """sin and cos of r + error for |r| <= pi/4."""
    a, b, c, d = _sin_cos_parts(r, error)
    return a + b, c + d


def _quadrant(x: Value) -> tuple[Value, Value, Value, Value]:
    """(n, sin r, cos r, n odd) for |x| = n*pi/2 + r."""
    n, r, error = _angle32(x) if x.ty == "f32" else _reduce64(x)
    s, c = _sin_cos(r, error)
    return n, s, c, (n & 1).ne(0)


def sin(x: Value) -> Value:
    """Sine; NaN at infinities."""
    n, s, c, odd = _quadrant(x)
    size = 32 if x.ty == "f32" else 64
    flip = ((n & 2) << (size - 2)) ^ (x.bits() & (1 << (size - 1)))
    return bitcast(select(odd, c, s).bits() ^ flip, x.ty)


def cos(x: Value) -> Value:
    """Cosine; NaN at infinities."""
    n, s, c, odd = _quadrant(x)
    size = 32 if x.ty == "f32" else 64
    return bitcast(select(odd, s, c).bits() ^ (((n + 1) & 2) << (size - 2)), x.ty)


def sin_cos_wide(x: Value) -> tuple[Value, Value]:
    """sin and cos of an f32 argument as f64, to a relative 2^-37."""
    n, h, low = _reduce32(x)
    a = convert(fabs(x), "f64")
    r = (convert(h, "f64") + convert(low, "f64")) * (PI_2[0] * 2.0 ** -32)
    small = a < 0.7853981
    r = select(small, a, r)
    r = select(a < float("inf"), r, const(float("nan"), "f64"))
    wide = convert(select(fabs(x) < 0.7853981, const(0, "u32"), n), "u64")
    z = r * r
    s = fma(r * z, poly(z, _SIN40), r)
    c = fma(z, fma(z, poly(z, _COS40), -0.5), 1.0)
    odd = (wide & 1).ne(0)
    sign = (convert(x.bits() >> 31, "u64") << 63) ^ ((wide & 2) << 62)
    sine = bitcast(select(odd, c, s).bits() ^ sign, "f64")
    return sine, bitcast(select(odd, s, c).bits() ^ (((wide + 1) & 2) << 62), "f64")


def tan(x: Value) -> Value:
    """Tangent: sin/cos; float64 with one correction of the quotient."""
    if x.ty == "f32":
        s, c = sin_cos_wide(x)
        return convert(s / c, "f32")
    n, r, error = _reduce64(x)
    a, b, c, d = _sin_cos_parts(r, error)
    s, s_low = _two_sum(a, b)
    c, c_low = _two_sum(c, d)
    odd = (n & 1).ne(0)
    top, top_low = select(odd, -c, s), select(odd, -c_low, s_low)
    bottom, bottom_low = select(odd, s, c), select(odd, s_low, c_low)
    y = top / bottom
    rest = fma(-y, bottom, top) + fma(-y, bottom_low, top_low)
    y = select(fabs(x) < 1e-100, fabs(x), y + rest / bottom)
    return bitcast(y.bits() ^ (x.bits() & (1 << 63)), "f64")


def arcsin(x: Value) -> Value:
    """Inverse sine; NaN outside [-1, 1]. Beyond 1/2: pi/2 - 2 arcsin(sqrt((1-|x|)/2))."""
    a = fabs(x)
    far = a > 0.5
    half = (1.0 - a) * 0.5
    z = select(far, half, a * a)
    t = select(far, sqrt(half), a)
    p = t * z * poly(z, _ASIN[x.ty])
    if x.ty == "f32":
        outer = fma(t + (p - 0.5 * PI_2_F32[1]), -2.0, PI_2_F32[0])
    else:
        outer = (PI_2[0] - (t + t)) - (2.0 * (p + _root_error(t, half)) - PI_2[1])
    return copysign(select(far, outer, t + p), x)


def arccos(x: Value) -> Value:
    """Inverse cosine; NaN outside [-1, 1]. Beyond 1/2: 2 arcsin(sqrt((1-|x|)/2)) or pi less it."""
    a = fabs(x)
    far = a > 0.5
    half = (1.0 - a) * 0.5
    z = select(far, half, a * a)
    t = select(far, sqrt(half), x)
    p = t * z * poly(z, _ASIN[x.ty])
    pi_2 = PI_2_F32 if x.ty == "f32" else PI_2
    near = pi_2[0] - (x - (pi_2[1] - p))
    root = t + (p if x.ty == "f32" else p + _root_error(t, half))
    outer = select(x < 0.0, pi_2[0] - (root - pi_2[1]), root)
    return select(far, outer + outer, near)


def _root_error(root: Value, square: Value) -> Value:
    """sqrt(square) - root, where root is its rounded value."""
    error = fma(-root, root, square) / (root + root)
    return select(square > 0.0, error, const(0.0, root.ty))


_TAN_PI_8 = 0.41421356237309503


def _arctan_quotient(a: Value, b: Value, coefficients: tuple[float, ...]) -> Value:
    """arctan(a/b) for a, b >= 0 (not both 0 or infinite) with one division."""
    pi_2 = PI_2_F32 if a.ty == "f32" else PI_2
    low = a <= b * _TAN_PI_8
    high = b < a * _TAN_PI_8
    num = select(low, a, select(high, -b, a - b))
    den = select(low, b, select(high, a, a + b))
    t = num / den
    z = t * t
    zero = const(0.0, a.ty)
    base = select(low, zero, select(high, const(pi_2[0], a.ty), const(pi_2[0] / 2, a.ty)))
    rest = select(low, zero, select(high, const(pi_2[1], a.ty), const(pi_2[1] / 2, a.ty)))
    return base + (t + (t * z * poly(z, coefficients) + rest))


def arctan(x: Value) -> Value:
    """Inverse tangent."""
    one = const(1.0, x.ty)
    return copysign(_arctan_quotient(fabs(x), one, _ATAN32 if x.ty == "f32" else _ATAN64), x)


def arctan2(y: Value, x: Value) -> Value:
    """Angle of the point (x, y), with C99's values at zeros and infinities."""
    narrow = y.ty == "f32"
    if narrow:
        y, x = convert(y, "f64"), convert(x, "f64")
    inf = float("inf")
    a, b = fabs(y), fabs(x)
    both = a.eq(inf) & b.eq(inf)
    a, b = select(both, const(1.0, "f64"), a), select(both, const(1.0, "f64"), b)
    b = select(a.eq(0.0) & b.eq(0.0), const(1.0, "f64"), b)
    if not narrow:
        top = select(a > b, a, b)
        big, tiny = top > 1e300, top < 1e-280
        scale = select(big, const(2.0 ** -60, "f64"),
                       select(tiny, const(2.0 ** 110, "f64"), const(1.0, "f64")))
        a, b = a * scale, b * scale
    t = _arctan_quotient(a, b, _ATAN40 if narrow else _ATAN64)
    left = bitcast(x, "i64") < 0
    t = select(left, PI_2[0] * 2 - (t - PI_2[1] * 2), t)
    t = select(x.is_nan() | y.is_nan(), x + y, copysign(t, y))
    return convert(t, "f32") if narrow else t


def sin_cos_double(x: Value) -> tuple[Value, Value]:
    """sin and cos of an f64 argument."""
    return sin(x), cos(x)
