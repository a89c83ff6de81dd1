"""The scalar language: every instruction against NumPy, total conversions, equal bits by width."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from bodies import NUMPY, Kernel

from eutectic.errors import InternalError
from eutectic.kernel import scalar as s

INTS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
SAMPLES = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.7, -3.7, 1e-45, -1e-45, 1e-39, 1e30, -1e30,
           3.4028235e38, 2147483648.0, -2147483649.0, 4294967295.0, 1.8446744e19, 255.0, 256.0,
           float("inf"), float("-inf"), float("nan")]


def floats(ty: str) -> np.ndarray:
    rng = np.random.default_rng(7)
    dtype = NUMPY[ty]
    bits = rng.integers(0, 2 ** (8 * np.dtype(dtype).itemsize), 500,
                        dtype=f"u{np.dtype(dtype).itemsize}")
    return np.concatenate([np.array(SAMPLES, dtype), bits.view(dtype)])


def integers(ty: str) -> np.ndarray:
    info = np.iinfo(NUMPY[ty])
    rng = np.random.default_rng(8)
    corners = [0, 1, 2, 3, 5, 7, info.max, info.min, info.max - 1, info.max // 2]
    return np.concatenate([np.array(corners, NUMPY[ty]),
                           rng.integers(info.min, info.max, 300, dtype=NUMPY[ty], endpoint=True)])


def same(got: np.ndarray, want: np.ndarray) -> bool:
    """Equal bits, any NaN for a NaN."""
    if got.dtype.kind != "f":
        return bool(np.array_equal(got, want.astype(got.dtype)))
    u = f"u{got.dtype.itemsize}"
    want = want.astype(got.dtype)
    return bool(np.all((got.view(u) == want.view(u)) | (np.isnan(got) & np.isnan(want))))


def check(body, types, arrays, reference) -> None:
    """Each named output of a body against NumPy, at width 64 and, for equal bits, at width 1."""
    names = list(reference)
    wide = Kernel(lambda *v: [body(*v)[n] for n in names], types, 64)(*arrays)
    narrow = Kernel(lambda *v: [body(*v)[n] for n in names], types, 1)(*arrays)
    with np.errstate(all="ignore"):
        for name, a, b in zip(names, wide, narrow):
            assert same(a, np.asarray(reference[name](*arrays))), name
            assert a.tobytes() == b.tobytes() or same(a, b), name


@pytest.mark.parametrize("ty", s.FLOATS)
def test_float_instructions(ty):
    x = floats(ty)
    y = np.roll(x, 7)
    check(lambda a, b: {
        "add": a + b, "sub": a - b, "mul": a * b, "div": a / b, "neg": -a, "sqrt": s.sqrt(a),
        "fabs": s.fabs(a), "floor": s.floor(a), "ceil": s.ceil(a), "trunc": s.trunc(a),
        "rint": s.rint(a), "copysign": s.copysign(a, b), "lt": a < b, "le": a <= b, "gt": a > b,
        "ge": a >= b, "eq": a.eq(b), "ne": a.ne(b), "nan": a.is_nan(), "fmax": s.fmax(a, b),
        "fmin": s.fmin(a, b), "select": s.select(a < b, a, b), "radd": 1.0 + a, "rsub": 1.0 - a,
        "rmul": 2.0 * a, "rdiv": 1.0 / a, "bits": a.bits()},
        (ty, ty), (x, y), {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
        "neg": lambda a, b: -a, "sqrt": lambda a, b: np.sqrt(a), "fabs": lambda a, b: np.abs(a),
        "floor": lambda a, b: np.floor(a), "ceil": lambda a, b: np.ceil(a),
        "trunc": lambda a, b: np.trunc(a), "rint": lambda a, b: np.rint(a),
        "copysign": np.copysign, "lt": np.less, "le": np.less_equal, "gt": np.greater,
        "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
        "nan": lambda a, b: np.isnan(a),
        "fmax": lambda a, b: np.where(a == b, b, np.maximum(a, b)),
        "fmin": lambda a, b: np.where(a == b, b, np.minimum(a, b)),
        "select": lambda a, b: np.where(a < b, a, b), "radd": lambda a, b: 1 + a,
        "rsub": lambda a, b: 1 - a, "rmul": lambda a, b: 2 * a,
        "rdiv": lambda a, b: a.dtype.type(1) / a,
        "bits": lambda a, b: a.view(f"u{a.dtype.itemsize}")})


def test_fma_rounds_once():
    x = np.float32([1 + 2.0 ** -12, 1 - 2.0 ** -13, 3.0])
    y = -np.float32(x.astype(np.float64) ** 2)
    got = Kernel(lambda a, c: s.fma(a, a, c), ("f32", "f32"))(x, y)
    assert same(got, x.astype(np.float64) ** 2 + y)
    assert got[0] != 0.0


def test_poly_is_horners_scheme():
    x = np.linspace(-1, 1, 100)
    got = Kernel(lambda a: s.poly(a, (1.0, -2.0, 0.5)), ("f64",))(x)
    assert np.allclose(got, (x - 2.0) * x + 0.5, rtol=1e-15, atol=1e-16)


@pytest.mark.parametrize("ty", INTS)
def test_integer_instructions(ty):
    x = integers(ty)
    y = np.roll(x, 3)
    bits = s.BITS[ty]
    unsigned = np.dtype(NUMPY[ty.replace("i", "u")])
    with np.errstate(all="ignore"):
        divisor = np.where((y == 0) | (y == np.array(-1).astype(y.dtype)), 3, y).astype(y.dtype)
    amount = (y.view(unsigned) % bits).astype(y.dtype)

    def ones(v: np.ndarray) -> np.ndarray:
        return np.array([bin(int(w)).count("1") for w in v.view(unsigned)])

    def zeros(v: np.ndarray) -> np.ndarray:
        return np.array([bits - int(w).bit_length() for w in v.view(unsigned)])

    def quotient(a: np.ndarray, d: np.ndarray) -> np.ndarray:
        return np.array([abs(int(p)) // abs(int(q)) * (1 if (p < 0) == (q < 0) else -1)
                         for p, q in zip(a, d)], a.dtype)

    check(lambda a, b, d, k: {
        "add": a + b, "sub": a - b, "mul": a * b, "neg": -a, "and": a & b, "or": a | b,
        "xor": a ^ b, "not": ~a, "shl": a << k, "shr": a >> k, "lt": a < b, "le": a <= b,
        "gt": a > b, "ge": a >= b, "eq": a.eq(b), "ne": a.ne(b), "fmax": s.fmax(a, b),
        "fmin": s.fmin(a, b), "idiv": s.idiv(a, d), "irem": s.irem(a, d),
        "popcount": s.popcount(a), "clz": s.clz(a)},
        (ty,) * 4, (x, y, divisor, amount), {
        "add": lambda a, b, d, k: a + b, "sub": lambda a, b, d, k: a - b,
        "mul": lambda a, b, d, k: a * b, "neg": lambda a, b, d, k: np.zeros_like(a) - a,
        "and": lambda a, b, d, k: a & b, "or": lambda a, b, d, k: a | b,
        "xor": lambda a, b, d, k: a ^ b, "not": lambda a, b, d, k: ~a,
        "shl": lambda a, b, d, k: a << k, "shr": lambda a, b, d, k: a >> k,
        "lt": lambda a, b, d, k: a < b, "le": lambda a, b, d, k: a <= b,
        "gt": lambda a, b, d, k: a > b, "ge": lambda a, b, d, k: a >= b,
        "eq": lambda a, b, d, k: a == b, "ne": lambda a, b, d, k: a != b,
        "fmax": lambda a, b, d, k: np.maximum(a, b), "fmin": lambda a, b, d, k: np.minimum(a, b),
        "idiv": lambda a, b, d, k: quotient(a, d),
        "irem": lambda a, b, d, k: a - quotient(a, d) * d,
        "popcount": lambda a, b, d, k: ones(a), "clz": lambda a, b, d, k: zeros(a)})


def saturated(x: np.ndarray, ty: str) -> np.ndarray:
    """The documented meaning of float to integer conversion, in Python integers."""
    def one(v: float) -> int:
        if np.isnan(v):
            return 0
        # narrow integers go through int32 and uint32 through int64, keeping the low bits;
        # uint64 saturates above and goes through int64 below 0
        step = {"i8": "i32", "u8": "i32", "i16": "i32", "u16": "i32", "u32": "i64"}.get(ty, ty)
        step = "i64" if ty == "u64" and v < 0 else step
        info = np.iinfo(NUMPY[step])
        w = info.max if v > info.max else info.min if v < info.min else int(v)
        return w & ((1 << s.BITS[ty]) - 1)
    return np.array([one(float(v)) for v in x], np.uint64).astype(NUMPY[ty])


@pytest.mark.parametrize("ty", s.FLOATS)
def test_conversions_of_floats_are_total(ty):
    x = floats(ty)
    targets = [*INTS, "bool", "f16", "f32", "f64"]
    got = Kernel(lambda a: [s.convert(a, t) for t in targets], (ty,))(x)
    with np.errstate(all="ignore"):
        for t, g in zip(targets, got):
            want = (x != 0 if t == "bool" else saturated(x, t) if t in INTS
                    else x.astype(NUMPY[t]))
            assert same(g, want), t


@pytest.mark.parametrize("ty", INTS)
def test_conversions_of_integers(ty):
    x = integers(ty)
    targets = [*(t for t in INTS if t != ty), "bool", "f32", "f64"]
    got = Kernel(lambda a: [s.convert(a, t) for t in targets], (ty,))(x)
    for t, g in zip(targets, got):
        assert same(g, x != 0 if t == "bool" else x.astype(NUMPY[t])), t


def test_booleans():
    a, b = np.array([0, 0, 1, 1], np.uint8), np.array([0, 1, 0, 1], np.uint8)
    got = Kernel(lambda p, q: [p & q, p | q, p ^ q, ~p, s.convert(p, "f32"), s.convert(p, "i32")],
                 ("bool", "bool"))(a, b)
    for g, w in zip(got, (a & b, a | b, a ^ b, 1 - a, a, a)):
        assert np.array_equal(g, w)


def test_constants_are_bit_patterns():
    assert s.pattern(0.1, "f32") == struct.unpack("<I", struct.pack("<f", 0.1))[0]
    assert s.pattern(1e300, "f32") == 0x7F800000
    assert s.pattern(-1, "u8") == 255
    got = Kernel(lambda a: [s.const(v, "f32") + a * 0.0 for v in (0.1, 1e-45, -3.3)],
                 ("f32",))(np.zeros(1, np.float32))
    assert [float(g[0]) for g in got] == [np.float32(v) for v in (0.1, 1e-45, -3.3)]


def test_mixed_types_are_refused():
    with pytest.raises(InternalError, match="mixes f32 with f64"):
        _ = s.const(1.0, "f32") + s.const(1.0, "f64")
    with pytest.raises(InternalError, match="bitcast"):
        s.bitcast(s.const(1.0, "f32"), "u64")
    with pytest.raises(InternalError, match="typed side"):
        s.select(s.const(True, "bool"), 1.0, 2.0)


def test_text_and_cost():
    x = s.Value("arg", "f32")
    y = s.fma(x, 2.0, 1.0) / x
    assert s.show([y]).splitlines()[-1] == "%4:f32 = div %3 %0"
    assert s.cost([y]) == 9.0


def test_complex_arithmetic():
    rng = np.random.default_rng(1)
    a, b = ((rng.standard_normal(50) + 1j * rng.standard_normal(50)).astype(np.complex64)
            for _ in range(2))
    for op in (lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: -p):
        assert np.allclose(Kernel(op, ("c64", "c64"))(a, b), op(a, b), rtol=1e-5)
    assert np.array_equal(Kernel(lambda p, q: p.eq(q), ("c64", "c64"))(a, a), np.ones(50))
    assert np.array_equal(Kernel(lambda p, q: p.ne(q), ("c64", "c64"))(a, b), np.ones(50))
