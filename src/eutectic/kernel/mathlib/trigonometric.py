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
# arctan t = t + t z a(z), z = t^2, |t| <= tan(pi/8)
_ATAN64 = (0.01519549565002475, -0.03347482039508346, 0.04503566187194517, -0.05218408797003757,
           0.058770225280467214, -0.06666226836634027, 0.07692282764356494, -0.09090908144795373,
           0.11111111088185617, -0.1428571428538814, 0.1999999999999767, -0.33333333333333326)
_ATAN40 = (0.047461218450914375, -0.08477410122698797, 0.11044923625246096, -0.1428202905320428,
           0.19999904756684572, -0.3333333251005314)
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


def _window(words: tuple[int, ...], s: Value, count: int) -> list[Value]:
    """`count` words of the bit string that starts at bit s of `words`."""
    ty = s.ty
    size = 32 if ty == "u32" else 64
    log_size = size.bit_length() - 1
    steps = ((len(words) - count - 1) + 1).bit_length() - 1
    parts: list[Value] = [const_bits(w, ty) for w in words]
    for level in reversed(range(steps)):
        jump = 1 << level
        hop = (s & (size << level)).ne(0)
        need = count + 1 + (1 << level) - 1
        parts = [select(hop, parts[i + jump], parts[i]) for i in range(need)]
    k = s & (size - 1)
    rest = const(size - 1, ty) - k
    del log_size
    return [(parts[i] << k) | ((parts[i + 1] >> 1) >> rest) for i in range(count)]


def _reduce32(x: Value) -> tuple[Value, Value]:
    """(quadrant as u32, r as f64 in [-pi/4, pi/4]) with |x| = quadrant*pi/2 + r modulo 2*pi."""
    a = fabs(x)
    small = a < 0.7853981
    i = a.bits()
    e = i >> 23
    s = select(small, const(0, "u32"), e - 126)
    m = (i & 0x7FFFFF) | 0x800000
    top = s >> 7                                       # 1 only for |x| >= 2^127
    m = m << (top & 1)
    s = (s - (top & 1)) & 127
    w0, w1, w2 = _window(_WORDS32, s, 3)
    wide = convert(m, "u64")
    q = (convert(m * w0, "u64") << 32) + wide * convert(w1, "u64")
    q = q + ((wide * convert(w2, "u64")) >> 32)
    n = (q + (1 << 61)) >> 62
    f = bitcast(q - (n << 62), "i64")
    r = convert(f, "f64") * (PI_2[0] * 2.0 ** -62)
    r = select(small, convert(a, "f64"), r)
    r = select(a < float("inf"), r, const(float("nan"), "f64"))
    return select(small, const(0, "u32"), convert(n, "u32")), r


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


def _sin_cos(r: Value, error: Value | None = None) -> tuple[Value, Value]:
    """sin and cos of r + error for |r| <= pi/4."""
    z = r * r
    s = r * z * poly(z, _SIN[r.ty])
    half = z * 0.5
    c = z * z * poly(z, _COS[r.ty])
    w = 1.0 - half
    if error is None:
        return r + s, w + (((1.0 - w) - half) + c)
    return r + fma(error, 1.0 - half, s), w + (((1.0 - w) - half) + fma(-error, r, c))


def _quadrant(x: Value, shift: int) -> tuple[Value, Value, Value, Value]:
    """(n, sin r, cos r, n odd) for x + shift*pi/2."""
    if x.ty == "f32":
        n, r = _reduce32(x)
        s, c = _sin_cos(convert(r, "f32"))
    else:
        n, r, error = _reduce64(x)
        s, c = _sin_cos(r, error)
    return n, s, c, (n & 1).ne(0)


def sin(x: Value) -> Value:
    """Sine; NaN at infinities."""
    n, s, c, odd = _quadrant(x, 0)
    size = 32 if x.ty == "f32" else 64
    y = select(odd, c, s)
    flip = ((n & 2) << (size - 2)) ^ (x.bits() & (1 << (size - 1)))
    y = bitcast(y.bits() ^ flip, x.ty)
    return select(x.eq(0.0), x, y)


def cos(x: Value) -> Value:
    """Cosine; NaN at infinities."""
    n, s, c, odd = _quadrant(x, 1)
    size = 32 if x.ty == "f32" else 64
    y = select(odd, s, c)
    return bitcast(y.bits() ^ (((n + 1) & 2) << (size - 2)), x.ty)


def sin_cos_f64(x: Value) -> tuple[Value, Value]:
    """sin and cos of an f32 argument, as f64."""
    n, r = _reduce32(x)
    s, c = _sin_cos(r)
    odd = (n & 1).ne(0)
    wide = convert(n, "u64")
    sine = bitcast(select(odd, c, s).bits() ^ ((wide & 2) << 62), "f64")
    cosine = bitcast(select(odd, s, c).bits() ^ (((wide + 1) & 2) << 62), "f64")
    return copysign(const(1.0, "f64"), convert(x, "f64")) * sine, cosine


def tan(x: Value) -> Value:
    """Tangent."""
    if x.ty == "f32":
        s, c = sin_cos_f64(x)
        return convert(s / c, "f32")
    n, s, c, odd = _quadrant(x, 0)
    y = select(odd, -c, s) / select(odd, s, c)
    y = bitcast(y.bits() ^ (x.bits() & (1 << 63)), "f64")
    return select(x.eq(0.0), x, y)


def arcsin(x: Value) -> Value:
    """Inverse sine; NaN outside [-1, 1]."""
    if x.ty == "f32":
        return convert(arcsin(convert(x, "f64")), "f32")
    a = fabs(x)
    far = a > 0.5
    zf = (1.0 - a) * 0.5
    z = select(far, zf, a * a)
    t = select(far, sqrt(zf), a)
    p = t * z * poly(z, _ASIN[x.ty])
    # sqrt(zf)^2 - zf corrects the rounding of the root
    low = fma(-t, t, zf) / (t + t)
    low = select(zf.eq(0.0), const(0.0, x.ty), low)
    y = (0.7853981633974483 - 2.0 * t) + 0.7853981633974483
    del y
    outer = PI_2[0] - (2.0 * (t + (p + low)) - PI_2[1])
    return copysign(select(far, outer, t + p), x)


def arccos(x: Value) -> Value:
    """Inverse cosine; NaN outside [-1, 1]."""
    if x.ty == "f32":
        return convert(arccos(convert(x, "f64")), "f32")
    a = fabs(x)
    far = a > 0.5
    zf = (1.0 - a) * 0.5
    z = select(far, zf, a * a)
    t = select(far, sqrt(zf), x)
    p = t * z * poly(z, _ASIN[x.ty])
    low = fma(-t, t, zf) / (t + t)
    low = select(zf.eq(0.0), const(0.0, x.ty), low)
    near = PI_2[0] - (x - (PI_2[1] - p))
    root = t + (p + low)
    outer = select(x < 0.0, 2.0 * (PI_2[0] - (root - PI_2[1])), 2.0 * root)
    return select(far, outer, near)


_TAN_PI_8 = 0.41421356237309503


def _arctan_quotient(a: Value, b: Value, coefficients: tuple[float, ...]) -> Value:
    """arctan(a/b) for f64 a, b >= 0 (not both 0 or infinite) with one division."""
    low = a <= b * _TAN_PI_8
    high = b < a * _TAN_PI_8
    num = select(low, a, select(high, -b, a - b))
    den = select(low, b, select(high, a, a + b))
    t = num / den
    z = t * t
    zero = const(0.0, "f64")
    base = select(low, zero, select(high, const(PI_2[0], "f64"), const(PI_2[0] / 2, "f64")))
    rest = select(low, zero, select(high, const(PI_2[1], "f64"), const(PI_2[1] / 2, "f64")))
    return base + (t + (t * z * poly(z, coefficients) + rest))


def arctan(x: Value) -> Value:
    """Inverse tangent."""
    if x.ty == "f32":
        a = convert(x, "f64")
        y = _arctan_quotient(fabs(a), const(1.0, "f64"), _ATAN40)
        return convert(copysign(select(a.is_nan(), a, y), a), "f32")
    return copysign(_arctan_quotient(fabs(x), const(1.0, "f64"), _ATAN64), x)


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
