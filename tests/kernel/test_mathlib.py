"""The mathematics library: bars on a sample, corner values, subnormals, equal bits by width.

All 2^32 float32 inputs are the business of benchmarks/accuracy.py, whose measures are used here.
"""

from __future__ import annotations

import math

import accuracy
import mpmath
import numpy as np
import pytest
from accuracy import BINARY, UNARY
from bodies import NUMPY, Kernel

from eutectic.kernel import mathlib as ml
from eutectic.kernel.scalar import BITS, Value

INF, NAN = math.inf, math.nan
PI = math.pi
TINY = 1e-45                    # the least positive float32
LEAST = 1.1754943508222875e-38  # the least normal one
MOST = 3.4028234663852886e38
INTS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")


def equal(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Equal bits, any NaN for a NaN."""
    u = f"u{got.dtype.itemsize}"
    return (got.view(u) == want.astype(got.dtype).view(u)) | (np.isnan(got) & np.isnan(want))


# ---- accuracy -----------------------------------------------------------------------------------


@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.name)
def test_float32_bar(f):
    worst = accuracy.measure_unary(f, True, np.random.default_rng(1))
    assert worst.error <= f.bar, worst


@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.name)
def test_float32_bar_of_two_arguments(f):
    worst = accuracy.measure_binary(f, True, np.random.default_rng(2))
    assert worst.error <= 1.0, worst


@pytest.mark.parametrize("f", (*UNARY, *BINARY), ids=lambda f: f.name)
def test_float64_bar(f):
    if f.name == "logaddexp":
        pytest.skip("the sum may cancel: bounded by ulps of the larger argument, see below")
    with mpmath.workdps(60):
        worst = accuracy.measure_f64(f, True, np.random.default_rng(3))
    assert worst.error <= 2.0, worst


def test_float64_logaddexp_against_the_larger_argument():
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal(200), rng.standard_normal(200)
    got = Kernel(ml.logaddexp, ("f64", "f64"), 8)(a, b)
    bar = 4e-16 * np.maximum(np.abs(a), np.abs(b)) + 3e-16
    assert np.all(np.abs(got - np.logaddexp(a, b)) <= bar)


def test_huge_arguments_of_sine_and_cosine():
    x = np.array([1e5, 1e10, 1e22, 1e30, MOST, 6381956970095103.0 * 2.0 ** 20,
                  16367173.0 * 2.0 ** 72, 2.0 ** 127, 1.5 * 2.0 ** 127, 0.785398, 0.7853982])
    for ty in ("f32", "f64"):
        v = np.concatenate([x, -x, [1e308, 6381956970095103.0 * 2.0 ** 797]]
                           if ty == "f64" else [x, -x]).astype(NUMPY[ty])
        for name in ("sin", "cos", "tan"):
            got = Kernel(getattr(ml, name), (ty,), 8)(v)
            with mpmath.workdps(500):
                exact = [getattr(mpmath, name)(mpmath.mpf(float(w))) for w in v]
                want = np.array([float(e) for e in exact]).astype(NUMPY[ty])
            assert np.all(np.abs(got - want) <= 2 * np.spacing(np.abs(want))), name


# ---- corners ------------------------------------------------------------------------------------

CORNERS = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (MOST, INF), (-MOST, 0.0),
            (1.0, math.e), (TINY, 1.0), (88.72284, INF), (88.722831, 3.4027973e38),
            (-87.5, 9.98e-39), (-103.97, TINY), (-103.98, 0.0)],
    "exp2": [(0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (127.0, 2.0 ** 127), (128.0, INF),
             (-149.0, TINY), (-126.0, LEAST), (-150.0, 0.0), (10.0, 1024.0), (-149.5, TINY),
             (MOST, INF)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (NAN, NAN), (TINY, TINY),
              (-TINY, -TINY), (MOST, INF), (-MOST, -1.0), (88.8, INF), (-30.0, -1.0)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, NAN), (NAN, NAN), (-1.0, NAN),
            (TINY, -103.27893), (MOST, 88.722839), (-TINY, NAN)],
    "log2": [(1.0, 0.0), (8.0, 3.0), (0.5, -1.0), (0.0, -INF), (INF, INF), (-1.0, NAN), (NAN, NAN),
             (TINY, -149.0), (2.0 ** -126, -126.0), (2.0 ** 127, 127.0)],
    "log10": [(1.0, 0.0), (10.0, 1.0), (1000.0, 3.0), (0.0, -INF), (INF, INF), (-1.0, NAN),
              (NAN, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (INF, INF), (-INF, NAN), (-2.0, NAN),
              (NAN, NAN), (TINY, TINY), (-TINY, -TINY), (MOST, 88.722839)],
    "sqrt": [(0.0, 0.0), (-0.0, -0.0), (4.0, 2.0), (INF, INF), (-1.0, NAN), (NAN, NAN),
             (-INF, NAN)],
    "rsqrt": [(0.0, INF), (-0.0, -INF), (4.0, 0.5), (INF, 0.0), (-1.0, NAN), (NAN, NAN),
              (TINY, 2.6713e22), (2.0 ** -148, 2.0 ** 74)],
    "reciprocal": [(0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, -0.0), (NAN, NAN), (2.0, 0.5),
                   (TINY, INF)],
    "square": [(-3.0, 9.0), (INF, INF), (-INF, INF), (NAN, NAN), (-0.0, 0.0), (1e30, INF)],
    "sigmoid": [(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (MOST, 1.0),
                (-MOST, 0.0), (-103.97, TINY), (-90.0, 8.194e-40)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (TINY, TINY),
             (-TINY, -TINY), (MOST, 1.0), (LEAST, LEAST), (1e-20, 1e-20), (-9.5, -1.0)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (TINY, TINY),
             (-TINY, -TINY), (89.41, 3.3825267e38), (89.5, INF), (-89.5, -INF)],
    "cosh": [(0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN), (TINY, 1.0), (89.41, 3.3825267e38),
             (89.5, INF)],
    "arcsinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (TINY, TINY),
                (-TINY, -TINY), (MOST, 89.415987)],
    "arccosh": [(1.0, 0.0), (0.5, NAN), (INF, INF), (-INF, NAN), (NAN, NAN), (MOST, 89.415987)],
    "arctanh": [(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (-INF, NAN),
                (NAN, NAN), (TINY, TINY), (-TINY, -TINY)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (TINY, TINY),
            (-TINY, -TINY), (LEAST, LEAST), (MOST, -0.5218765)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (TINY, 1.0),
            (MOST, 0.8530211)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (TINY, TINY),
            (-TINY, -TINY)],
    "arcsin": [(0.0, 0.0), (-0.0, -0.0), (1.0, PI / 2), (-1.0, -PI / 2), (1.5, NAN), (INF, NAN),
               (NAN, NAN), (TINY, TINY), (-TINY, -TINY)],
    "arccos": [(1.0, 0.0), (-1.0, PI), (0.0, PI / 2), (-0.0, PI / 2), (1.5, NAN), (-INF, NAN),
               (NAN, NAN)],
    "arctan": [(0.0, 0.0), (-0.0, -0.0), (INF, PI / 2), (-INF, -PI / 2), (NAN, NAN), (TINY, TINY),
               (-TINY, -TINY), (1.0, PI / 4), (MOST, PI / 2)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (MOST, 1.0), (4.0, 1.0),
            (TINY, TINY), (-TINY, -TINY)],
    "erfinv": [(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (-INF, NAN),
               (NAN, NAN), (TINY, TINY), (-TINY, -TINY)],
}
EXACT = {0.0, 1.0, -1.0, INF, -INF, TINY, -TINY, LEAST}


@pytest.mark.parametrize("name", CORNERS)
def test_corner_values(name):
    x, want = (np.array(v, np.float32) for v in zip(*CORNERS[name]))
    got = Kernel(getattr(ml, name), ("f32",))(x)
    for v, g, w in zip(x, got, want):
        if np.isnan(w):
            assert np.isnan(g), (v, g)
        elif float(w) in EXACT or w == 0 or np.isinf(w):
            assert g == w and np.signbit(g) == np.signbit(w), (v, g, w)
        else:
            assert abs(g - w) <= (4e-3 if abs(w) < LEAST else 3e-5) * abs(w), (v, g, w)


@pytest.mark.parametrize("name", CORNERS)
def test_float64_corner_values(name):
    """Where the argument is 0, infinite, NaN or out of the domain, float64 agrees."""
    corners = [c for c in CORNERS[name] if abs(c[0]) in (0.0, 1.0, 1.5, INF) or math.isnan(c[0])]
    x, want = (np.array(v) for v in zip(*corners))
    got = Kernel(getattr(ml, name), ("f64",), 8)(x)
    assert np.all(equal(got, want) | np.isclose(got, want, rtol=1e-15, atol=0.0)), (x, got)


def test_float64_subnormals_and_thresholds():
    least = 5e-324
    for name in ("expm1", "log1p", "tanh", "sinh", "arcsinh", "arctanh", "sin", "tan", "arcsin",
                 "arctan"):
        x = np.array([least, -least, 1e-310, 2.2250738585072014e-308, -0.0])
        assert np.all(equal(Kernel(getattr(ml, name), ("f64",), 8)(x), x)), name
    x = np.array([709.78, 709.79, -745.13, -745.14, -740.0])
    with np.errstate(over="ignore"):
        assert np.allclose(Kernel(ml.exp, ("f64",), 8)(x), np.exp(x), rtol=1e-2, atol=0)
    assert Kernel(ml.log, ("f64",), 8)(np.array([least]))[0] == math.log(least)


POWER = [
    (0.0, 0.0, 1.0), (NAN, 0.0, 1.0), (1.0, NAN, 1.0), (1.0, INF, 1.0), (-1.0, INF, 1.0),
    (-1.0, -INF, 1.0), (0.0, -1.0, INF), (-0.0, -1.0, -INF), (-0.0, -2.0, INF), (-0.0, 3.0, -0.0),
    (-0.0, 2.0, 0.0), (-0.0, 0.5, 0.0), (0.0, -INF, INF), (0.0, INF, 0.0), (INF, -1.0, 0.0),
    (INF, 0.5, INF), (-INF, 3.0, -INF), (-INF, 2.0, INF), (-INF, -3.0, -0.0), (-INF, 0.5, INF),
    (0.5, INF, 0.0), (0.5, -INF, INF), (2.0, INF, INF), (2.0, -INF, 0.0), (-8.0, 1 / 3, NAN),
    (-2.0, 3.0, -8.0), (-2.0, 4.0, 16.0), (2.0, 0.5, 1.4142135), (NAN, 1.0, NAN), (2.0, NAN, NAN),
    (2.0, 128.0, INF), (2.0, -149.0, TINY), (2.0, -151.0, 0.0), (-2.0, 129.0, -INF),
    (TINY, -1.0, INF), (TINY, 1.0, TINY), (MOST, 1.0, MOST), (-1.0, 16777216.0, 1.0),
    (-1.0, 16777215.0, -1.0), (10.0, 10.0, 1e10), (-2.0, 1e30, INF)]


@pytest.mark.parametrize("ty", ("f32", "f64"))
def test_power_corners(ty):
    x, y, want = (np.array(v) for v in zip(*POWER))
    if ty == "f64":
        keep = (np.abs(x) != np.float64(TINY)) & ~((np.abs(x) == 2) & (np.abs(y) >= 128)
                                                   & (np.abs(y) < 1e30))
        x, y, want = x[keep], y[keep], want[keep]
    got = Kernel(ml.power, (ty, ty), 8)(x.astype(NUMPY[ty]), y.astype(NUMPY[ty]))
    ok = equal(got, want) | np.isclose(got, want, rtol=1e-7, atol=0.0)
    ok &= np.isnan(want) | (np.signbit(got) == np.signbit(want))
    assert np.all(ok), [(x[i], y[i], got[i], want[i]) for i in np.nonzero(~ok)[0]]


@pytest.mark.parametrize("ty", ("f32", "f64"))
def test_arctan2_and_logaddexp_corners(ty):
    v = np.array([0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, TINY, -TINY, MOST, -MOST])
    a, b = (m.ravel().astype(NUMPY[ty]) for m in np.meshgrid(v, v))
    for name in ("arctan2", "logaddexp"):
        got = Kernel(getattr(ml, name), (ty, ty), 8)(a, b)
        with np.errstate(all="ignore"):
            want = getattr(np, name)(a, b)
        ok = equal(got, want) | np.isclose(got, want, rtol=3e-7, atol=0.0)
        assert np.all(ok), [(a[i], b[i], got[i], want[i]) for i in np.nonzero(~ok)[0]]


@pytest.mark.parametrize("ty", ("f32", "f64"))
def test_remainder_is_numpys(ty):
    rng = np.random.default_rng(5)
    n, dtype = 20000, NUMPY[ty]
    size = np.dtype(dtype).itemsize
    v = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, INF, -INF, NAN, TINY, MOST, 3.0])
    a, b = (m.ravel().astype(dtype) for m in np.meshgrid(v, v))
    x = [a, rng.standard_normal(n).astype(dtype) * 50]
    y = [b, rng.standard_normal(n).astype(dtype) * 3]
    if ty == "f32":
        for part in (x, y):
            part.append(rng.integers(0, 2 ** 32, n, dtype=f"u{size}").view(dtype))
    else:
        for high, low in ((1e140, 1.0), (1e308, 1e300), (1e-300, 1e-310), (1e-200, 5e-320)):
            x.append(rng.random(n) * high)
            y.append(rng.standard_normal(n) * low)
    x, y = np.concatenate(x), np.concatenate(y)
    with np.errstate(all="ignore"):
        want = np.remainder(x, y)
    got = Kernel(ml.remainder, (ty, ty), 16)(x, y)
    ok = equal(got, want)
    assert np.all(ok), [(x[i], y[i], got[i], want[i]) for i in np.nonzero(~ok)[0][:5]]


def test_floor_divide_is_numpys_on_float64():
    rng = np.random.default_rng(6)
    v = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, INF, -INF, NAN, 1e300])
    a, b = (m.ravel() for m in np.meshgrid(v, v))
    x = np.concatenate([a, rng.standard_normal(5000) * 1000])
    y = np.concatenate([b, rng.standard_normal(5000)])
    with np.errstate(all="ignore"):
        want = np.floor_divide(x, y)
        single = np.floor_divide(x.astype(np.float32).astype(np.float64),
                                 y.astype(np.float32).astype(np.float64)).astype(np.float32)
    got = Kernel(ml.floor_divide, ("f64", "f64"), 8)(x, y)
    assert np.all(equal(got, want)), [(x[i], y[i], got[i], want[i])
                                      for i in np.nonzero(~equal(got, want))[0][:5]]
    with np.errstate(all="ignore"):
        got = Kernel(ml.floor_divide, ("f32", "f32"))(x, y)
    assert np.all(equal(got, single))


# ---- equal bits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ty", ("f32", "f64"))
@pytest.mark.parametrize("f", (*UNARY, *BINARY), ids=lambda f: f.name)
def test_widths_give_the_same_bits(f, ty):
    rng = np.random.default_rng(7)
    arity = 2 if f in BINARY else 1
    with np.errstate(invalid="ignore"):
        x = [accuracy.float32_sample(300, rng).astype(NUMPY[ty]) for _ in range(arity)]
    if ty == "f64":
        x = [v * np.exp(rng.standard_normal(len(v)) * 0.1) for v in x]
    function = getattr(ml, f.name)
    wide = Kernel(function, (ty,) * arity, 64 if ty == "f32" else 8)(*x)
    narrow = Kernel(function, (ty,) * arity, 1)(*x)
    assert np.all(equal(wide, narrow))


# ---- integers -----------------------------------------------------------------------------------


def integer_grid(ty: str) -> tuple[np.ndarray, np.ndarray]:
    info = np.iinfo(NUMPY[ty])
    v = [0, 1, 2, 3, 5, 7, 10, 31, 32, 63, 64, 100, info.max, info.min, info.max - 1]
    v += [-1, -2, -3, -7] if info.min else []
    a, b = np.meshgrid(np.array(v, NUMPY[ty]), np.array(v, NUMPY[ty]))
    return a.ravel(), b.ravel()


@pytest.mark.parametrize("ty", INTS)
def test_integers_are_numpys(ty):
    a, b = integer_grid(ty)
    names = ("int_floor_divide", "int_remainder", "int_truncate_divide", "int_power", "left_shift",
             "right_shift")
    kernel = Kernel(lambda p, q: [getattr(ml, n)(p, q) for n in names], (ty, ty))
    got = dict(zip(names, kernel(a, b)))
    with np.errstate(all="ignore"):
        assert np.array_equal(got["int_floor_divide"], np.where(b == 0, 0, np.floor_divide(a, b)))
        assert np.array_equal(got["int_remainder"], np.where(b == 0, 0, np.remainder(a, b)))
        assert np.array_equal(got["left_shift"], np.left_shift(a, b))
        assert np.array_equal(got["right_shift"], np.right_shift(a, b))
        whole = b >= 0
        assert np.array_equal(got["int_power"][whole], np.power(a[whole], b[whole]))
    for p, q, r, t in zip(a.tolist(), b.tolist(), got["int_power"].tolist(),
                          got["int_truncate_divide"].tolist()):
        if q < 0:
            assert r == {1: 1, -1: -1 if q % 2 else 1}.get(p, 0)
        want = 0 if q == 0 else abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        assert (t - want) % 2 ** BITS[ty] == 0


# ---- halves -------------------------------------------------------------------------------------


def every_half_and_neighbours() -> np.ndarray:
    """Every bfloat16, every float16, and what lies just beside and between them."""
    high = np.arange(1 << 16, dtype=np.uint32) << 16
    x = np.concatenate([high, high + 0x7FFF, high + 0x8000, high + 0x8001, high + 0xFFFF])
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32).view(np.uint32)
    return np.concatenate([x, halves, halves + 0xFFF, halves + 0x1000, halves + 0x1001]).view(
        np.float32)


def test_bfloat16_rounding():
    x = every_half_and_neighbours()
    bf16 = pytest.importorskip("ml_dtypes").bfloat16
    with np.errstate(all="ignore"):
        want = x.astype(bf16)
    got, bits = Kernel(lambda v: [ml.round_bf16(v), ml.bf16_bits(v)], ("f32",))(x)
    assert np.all(equal(got, want.astype(np.float32)))
    number = ~np.isnan(x)
    assert np.array_equal(bits[number], want.view(np.uint16)[number])
    back = Kernel(ml.bf16_value, ("u16",))(bits)
    assert np.array_equal(back.view(np.uint32), got.view(np.uint32))
    assert np.all(np.isnan(got[~number])) and np.all(bits[~number] & 0x40)


def test_float16_rounding():
    x = every_half_and_neighbours()
    with np.errstate(all="ignore"):
        want = x.astype(np.float16).astype(np.float32)
    assert np.all(equal(Kernel(ml.round_f16, ("f32",))(x), want))


# ---- random -------------------------------------------------------------------------------------


def test_threefry_known_answers():
    """The test vectors of the Random123 distribution."""
    one = 0xFFFFFFFF
    answers = [((0, 0, 0, 0), (0x6B200159, 0x99BA4EFE)),
               ((one,) * 4, (0x1CB996FC, 0xBB002BE7)),
               ((0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0))]
    inputs = [np.array(c, np.uint32) for c in zip(*[a for a, _ in answers])]
    got = Kernel(ml.threefry2x32, ("u32",) * 4)(*inputs)
    assert [tuple(int(v) for v in pair) for pair in zip(*got)] == [b for _, b in answers]


# ---- complex ------------------------------------------------------------------------------------

COMPLEX = ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "expm1", "log1p",
           "log2", "log10", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "square",
           "reciprocal")


def complex_sample() -> np.ndarray:
    rng = np.random.default_rng(9)
    n = 2000
    z = rng.standard_normal(n) * np.exp(rng.standard_normal(n)) + 1j * rng.standard_normal(n)
    axes = np.array([0.5, -0.5, 2.0, -2.0, 0.5j, -0.5j, 2j, -2j, 1e-20 + 1e-20j, 1e-3j, 30 + 1j])
    return np.concatenate([z, axes]).astype(np.complex64)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_accuracy(name):
    z = complex_sample()
    if name == "log1p":
        z = z[np.abs(z) > 1e-10]    # NumPy's is log(1 + z) there
    got = Kernel(getattr(ml, name), ("c64",), 8)(z).astype(np.complex128)
    want = getattr(np, name)(z.astype(np.complex128))
    bar = 3e-7 if name == "square" else 1.3e-7
    error = np.abs(got - want) / np.maximum(np.abs(want), 1e-37)
    assert error.max() < bar, (z[error.argmax()], got[error.argmax()], want[error.argmax()])


def test_complex_values_of_two_arguments():
    z = complex_sample()
    w = np.roll(z, 17)
    for name, function in (("divide", np.divide), ("power", np.power)):
        got = Kernel(getattr(ml, name), ("c64", "c64"), 8)(z, w).astype(np.complex128)
        with np.errstate(all="ignore"):
            want = function(z.astype(np.complex128), w.astype(np.complex128))
        inside = (np.abs(want) < 1e38) & (np.abs(want) > 1e-36)
        assert np.all(np.abs(got - want)[inside] <= 1.3e-7 * np.abs(want)[inside]), name
    got = Kernel(ml.divide, ("c64", "c64"), 8)(np.complex64([1e38 + 1e38j, 1e-38j]),
                                               np.complex64([1e38 + 1e38j, 1e-38j]))
    assert np.array_equal(got, np.complex64([1, 1]))


CUTS = [  # function, argument, value: both sides of branch cuts, infinities
    ("log", complex(-1, 0.0), complex(0, PI)), ("log", complex(-1, -0.0), complex(0, -PI)),
    ("log", complex(0, 0), complex(-INF, 0)), ("log", complex(-INF, 1), complex(INF, PI)),
    ("sqrt", complex(-4, 0.0), complex(0, 2)), ("sqrt", complex(-4, -0.0), complex(0, -2)),
    ("sqrt", complex(-INF, 1), complex(0, INF)), ("sqrt", complex(1, INF), complex(INF, INF)),
    ("sqrt", complex(-0.0, -0.0), complex(0, -0.0)),
    ("exp", complex(-INF, 5), complex(0, -0.0)), ("exp", complex(INF, 0), complex(INF, 0)),
    ("exp", complex(NAN, 0), complex(NAN, 0)),
    ("arcsin", complex(2, 0.0), complex(PI / 2, 1.3169579)),
    ("arcsin", complex(2, -0.0), complex(PI / 2, -1.3169579)),
    ("arccos", complex(2, 0.0), complex(0, -1.3169579)),
    ("arccos", complex(2, -0.0), complex(0, 1.3169579)),
    ("arccosh", complex(0.5, 0.0), complex(0, 1.0471976)),
    ("arccosh", complex(0.5, -0.0), complex(0, -1.0471976)),
    ("arctanh", complex(2, 0.0), complex(0.54930614, PI / 2)),
    ("arctanh", complex(2, -0.0), complex(0.54930614, -PI / 2)),
    ("arctan", complex(0, 2), complex(PI / 2, 0.54930614)),
    ("arcsinh", complex(0.0, 2), complex(1.3169579, PI / 2)),
    ("arcsinh", complex(-0.0, 2), complex(-1.3169579, PI / 2)),
    ("tanh", complex(INF, 2), complex(1, -0.0)), ("tanh", complex(50, 1), complex(1, 0)),
    ("sinh", complex(INF, 0), complex(INF, 0)), ("cosh", complex(-INF, 0), complex(INF, -0.0)),
    ("reciprocal", complex(INF, -1), complex(0, 0.0)),
    ("log1p", complex(-1, 0), complex(-INF, 0))]


@pytest.mark.parametrize("name", sorted({c[0] for c in CUTS}))
def test_complex_branch_cuts(name):
    cases = [c for c in CUTS if c[0] == name]
    z = np.array([c[1] for c in cases], np.complex64)
    want = np.array([c[2] for c in cases], np.complex64)
    got = Kernel(getattr(ml, name), ("c64",), 8)(z)
    for v, g, w in zip(z, got, want):
        for a, b in ((g.real, w.real), (g.imag, w.imag)):
            both = np.isnan(a) and np.isnan(b)
            close = np.isclose(a, b, rtol=1e-6, atol=1e-30) and np.signbit(a) == np.signbit(b)
            assert both or close, (v, g, w)


def test_complex_parts():
    z = complex_sample()
    for name, want in (("absolute", np.abs(z.astype(np.complex128))),
                       ("angle", np.angle(z.astype(np.complex128)))):
        got = Kernel(getattr(ml, name), ("c64",), 8)(z)
        assert np.allclose(got, want, rtol=1.2e-7, atol=0)
    assert np.array_equal(Kernel(ml.conjugate, ("c64",), 8)(z), z.conj())
    sign = Kernel(ml.sign_complex, ("c64",), 8)(np.concatenate([z, np.complex64([0])]))
    assert np.allclose(np.abs(sign[:-1]), 1, rtol=2e-7) and sign[-1] == 0
    huge = Kernel(ml.absolute, ("c64",), 8)(np.complex64([3e38 + 1e38j, 3e-45 + 4e-45j]))
    assert np.allclose(huge, [3.1622777e38, 5e-45], rtol=0.3)


# ---- the public face ----------------------------------------------------------------------------


def test_every_public_name_exists_and_is_documented():
    for name in ml.__all__:
        assert getattr(ml, name).__doc__, name


@pytest.mark.parametrize("name", [f.name for f in UNARY])
def test_bodies_do_not_branch_or_call(name):
    """A body is a bounded list of known instructions."""
    from eutectic.kernel.scalar import toposort
    x = Value("arg", "f32")
    order = toposort([getattr(ml, name)(x)])
    assert len(order) < 260
