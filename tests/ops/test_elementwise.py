"""Every elementwise operation of the registry against NumPy, for every dtype it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.dtype import DTYPES, Dtype
from eutectic.ops.registry import OPS, Op

SIZES = (1, 3, 63, 64, 65, 129)
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38)
INTEGERS = (0, 1, 2, 3, 7, 31, 32, 64, 100, 127)
CASES = [pytest.param(op, d, id=f"{op.name}-{d.name}")
         for op in OPS.values() for d in DTYPES if op.takes(d)]
FLOATS = [pytest.param(op, id=op.name) for op in OPS.values() if op.takes(mx.float32)]


def sample(d: Dtype, op: Op, size: int, seed: int) -> np.ndarray:
    """Values of a dtype in NumPy (bfloat16 as float32): special ones, then random ones."""
    rng = np.random.default_rng(seed)
    if d is mx.bool_:
        return rng.integers(0, 2, size).astype(bool)
    if d.is_int:
        low, high = mx.iinfo(d).min, mx.iinfo(d).max
        some = rng.integers(low, high, size, dtype=d.np, endpoint=True)
        corners = np.array([low, high, *INTEGERS], d.np)
        if d.is_signed:
            corners = np.concatenate([corners, -corners[2:]])
        picked = rng.choice(corners, size)
        return np.where(rng.integers(0, 2, size), some, picked).astype(d.np)
    low, high = op.domain
    if d.is_complex:
        re, im = rng.uniform(low, high, size), rng.uniform(-2, 2, size)
        return (re + 1j * im).astype(np.complex64)
    x = rng.uniform(low, high, size)
    count = size // 2
    x[:count] = rng.choice(SPECIAL, count)
    with np.errstate(over="ignore"):
        return numbers(mx.array(x, mx.float64).astype(d))


def numbers(a: mx.array) -> np.ndarray:
    """An array in NumPy; bfloat16 as float32."""
    return np.array(a)


def reference(op: Op, d: Dtype, *xs: np.ndarray) -> np.ndarray:
    """NumPy's result, from a wider type where there is one, rounded to the result's dtype."""
    to = op.computes(d)
    wide = np.float64 if to.is_float else np.complex128 if to.is_complex else to.np
    first = np.float32 if to is mx.bfloat16 else to.np
    assert op.reference is not None
    with np.errstate(all="ignore"):
        out = np.asarray(op.reference(*[x.astype(first).astype(wide) for x in xs]))
        result = op.result(to)
        if result is mx.bfloat16:
            return numbers(mx.array(out.astype(np.float64), mx.float64).astype(mx.bfloat16))
        return out.astype(result.np)


def ordered(x: np.ndarray, bits: int) -> np.ndarray:
    """Floats as integers in their order, so that neighbours differ by 1."""
    i = x.view(f"i{bits // 8}").astype(np.int64)
    return np.where(i < 0, -(i & ((1 << (bits - 1)) - 1)), i)


def assert_close(got: np.ndarray, want: np.ndarray, d: Dtype, ulp: float, what: str) -> None:
    assert got.shape == want.shape
    if d.is_complex:
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6, err_msg=what)
        return
    if not d.is_float:
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), nan, err_msg=what)
    got, want = np.where(nan, 0, got).astype(got.dtype), np.where(nan, 0, want).astype(got.dtype)
    distance = np.abs(ordered(got, 8 * got.itemsize) - ordered(want, 8 * got.itemsize))
    # A reference that was rounded from a wider type is itself half a unit off.
    step = 1 << 16 if d is mx.bfloat16 else 1
    allowed = (np.ceil(ulp) if d.size > 2 else min(ulp, 1.0)) * step
    if d is mx.float64:
        allowed = 8 * np.ceil(ulp)
    bad = distance > allowed
    assert not bad.any(), f"{what}: {got[bad][:5]} for {want[bad][:5]}"


@pytest.mark.parametrize(("op", "d"), CASES)
def test_against_numpy(op: Op, d: Dtype) -> None:
    xs = [sample(d, op, 129, seed) for seed in range(op.arity)]
    got = op.api(*[mx.array(x, d) for x in xs])
    result = op.result(op.computes(d))
    assert got.dtype is result
    with np.errstate(all="ignore"):
        want = reference(op, d, *xs)
    ulp = max(op.ulp, 1.0) if d.is_half and op.ulp else op.ulp
    assert_close(numbers(got), want, result, ulp, f"{op.name} {d.name} of {xs}")


@pytest.mark.parametrize("op", FLOATS)
def test_sizes(op: Op) -> None:
    """Every element is computed alike, wherever it stands: tails, short arrays, none, no axes."""
    xs = [sample(mx.float32, op, max(SIZES), seed) for seed in range(op.arity)]
    whole = numbers(op.api(*[mx.array(x) for x in xs]))
    for n in (*SIZES, 0):
        part = numbers(op.api(*[mx.array(x[:n]) for x in xs]))
        np.testing.assert_array_equal(part, whole[:n])
    for k in (0, 50):
        one = op.api(*[mx.array(x[k]) for x in xs])
        assert one.shape == ()
        np.testing.assert_array_equal(numbers(one), whole[k])


@pytest.mark.parametrize("op", FLOATS)
def test_strided(op: Op) -> None:
    """Transposed, reversed, stepped and repeated operands give the elements of contiguous ones."""
    xs = [sample(mx.float32, op, 6 * 10, seed).reshape(6, 10) for seed in range(op.arity)]
    views: list[Callable[[Any], Any]] = [
        lambda a: a.T, lambda a: a[::-1], lambda a: a[::2, 1::3], lambda a: a[:, ::-2]]
    for view in views:
        strided = op.api(*[view(mx.array(x)) for x in xs])
        plain = op.api(*[mx.array(np.ascontiguousarray(view(x))) for x in xs])
        np.testing.assert_array_equal(numbers(strided), numbers(plain))
    if op.arity == 2:
        row, column = mx.array(xs[0][:1]), mx.array(xs[1][:, :1])
        full = op.api(mx.broadcast_to(row, (6, 10)), mx.broadcast_to(column, (6, 10)))
        np.testing.assert_array_equal(numbers(op.api(row, column)), numbers(full))


@pytest.mark.parametrize("op", [pytest.param(o, id=o.name) for o in OPS.values() if o.arity == 2])
def test_promotion(op: Op) -> None:
    """Two dtypes are promoted first, then the operation's rules hold; numbers are weak."""
    for a in DTYPES:
        for b in DTYPES:
            d = mx.result_type(a, b)
            if op.takes(d):
                out = op.api(mx.zeros((2, 1), a), mx.zeros(3, b))
                assert out.shape == (2, 3)
                assert out.dtype is op.result(op.computes(d))
            else:
                with pytest.raises(TypeError, match=rf"\[{op.name}\] does not take"):
                    op.api(mx.zeros(2, a), mx.zeros(2, b))
    for d in DTYPES:
        if op.takes(d) and d is not mx.bool_:
            assert op.api(mx.zeros(2, d), 1).dtype is op.result(op.computes(d))
            if not d.is_int:
                assert op.api(1.5, mx.zeros(2, d)).dtype is op.result(op.computes(d))


@pytest.mark.parametrize("op", [pytest.param(o, id=o.name) for o in OPS.values()
                                if o.prim.commutes])
def test_commutes(op: Op) -> None:
    for d in DTYPES:
        if op.takes(d):
            a, b = (mx.array(np.nan_to_num(sample(d, op, 65, s)), d) for s in (0, 1))
            assert bytes(op.api(a, b)) == bytes(op.api(b, a))


def test_aliases_and_methods() -> None:
    for op in OPS.values():
        for name in op.aliases:
            assert getattr(mx, name) is getattr(mx, op.name)
        for name in op.methods:
            assert hasattr(mx.array, name)


def test_scalar_operands() -> None:
    x = mx.array([1, 2], mx.int8)
    assert (x + 1).dtype is mx.int8
    assert (x + 1.5).dtype is mx.float32
    assert (x + 1j).dtype is mx.complex64
    assert (x.astype(mx.float16) * np.float32(2)).dtype is mx.float16
    assert (np.float32(2) * x.astype(mx.float16)).dtype is mx.float16
    assert (np.array([1.5, 2.5]) + x).dtype is mx.float32
    assert (mx.array(True) + True).dtype is mx.bool_
    assert (mx.array(True) + 1).dtype is mx.int32
    assert (2 ** mx.array([3])).tolist() == [8]
    assert (7 - mx.array([3])).tolist() == [4]
    assert divmod(mx.array([7]), 2)[1].tolist() == [1]
    assert (mx.array([1, 2]) == "a") is False
    with pytest.raises(TypeError, match="unsupported operand"):
        mx.array([1]) + "a"


def test_square_by_power() -> None:
    for x in (mx.array([1.5, -2.0]), mx.array([3, -4]), mx.array([1j])):
        assert (x ** 2)._n.prim.name == "square"
    assert (mx.array([1.5]) ** 2.0)._n.prim.name == "square"
    assert (mx.array([3]) ** 2.0).dtype is mx.float32
    assert (mx.array([True]) ** 2).dtype is mx.int32


def test_where_clip_and_friends() -> None:
    x = mx.array([-2.0, 0.5, np.nan, np.inf])
    assert mx.where(x > 0, x, 0).tolist() == [0, 0.5, 0, np.inf]
    assert mx.where(True, 1, 2.5).dtype is mx.float32
    assert mx.where(mx.array([1, 0]), mx.array([1j]), 2).tolist() == [1j, 2]
    assert mx.where(mx.array([[True], [False]]), mx.array([1, 2]), 0).tolist() == [[1, 2], [0, 0]]
    np.testing.assert_array_equal(np.array(mx.clip(x, -1, 1)), [-1, 0.5, np.nan, 1])
    assert mx.clip(mx.array([1, 5]), 2, None).tolist() == [2, 5]
    assert mx.clip(mx.array([1, 5]), None, 2).tolist() == [1, 2]
    assert mx.clip(mx.array([True, False]), True, True).tolist() == [True, True]
    assert mx.clip(mx.array([2j, 1]), 1, 1 + 1j).tolist() == [1, 1]
    assert mx.nan_to_num(x, nan=7.0, posinf=8.0).tolist() == [-2, 0.5, 7, 8]
    assert mx.nan_to_num(mx.array([np.inf], mx.float16)).item() == 65504
    assert mx.nan_to_num(mx.array([3])).tolist() == [3]


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
def test_round(decimals: int) -> None:
    x = np.random.default_rng(0).uniform(-300, 300, 65).astype(np.float32)
    x[:4] = 2.5, -0.5, 125.0, 15.0
    np.testing.assert_array_equal(np.array(mx.round(mx.array(x), decimals)),
                                  np.round(x, decimals))
    z = (x + 1j * x[::-1]).astype(np.complex64)
    np.testing.assert_array_equal(np.array(mx.round(mx.array(z), decimals)).real,
                                  np.round(x, decimals))


@pytest.mark.parametrize("d", [d for d in DTYPES if d.is_int], ids=lambda d: d.name)
def test_round_integers(d: Dtype) -> None:
    x = np.array([0, 5, 15, 25, 49, 50, 51, 125], d.np)
    if d.is_signed:
        x = np.concatenate([x, -x])
    for decimals in (-1, -2, 0, 2, -30):
        step = 10 ** -decimals if decimals < 0 else 1
        want = [step * ((v // step) + (2 * (v % step) > step or (
            2 * (v % step) == step and v // step % 2 == 1))) for v in x.tolist()]
        got = mx.round(mx.array(x), decimals)
        assert got.dtype is d
        np.testing.assert_array_equal(np.array(got), np.array(want, object).astype(np.int64).astype(
            d.np))


def test_round_bools() -> None:
    x = mx.array([True, False])
    assert mx.round(x, 0).tolist() == mx.round(x, 2).tolist() == [True, False]
    for decimals in (-1, -3):  # as of the integers 1 and 0
        got = mx.round(x, decimals)
        assert got.dtype is mx.bool_ and got.tolist() == [False, False]


def test_closeness() -> None:
    nan, inf = np.nan, np.inf
    a, b = mx.array([1.0, inf, nan, inf, 1.0]), mx.array([1.000001, inf, nan, -inf, inf])
    assert mx.isclose(a, b).tolist() == [True, True, False, False, False]
    assert mx.isclose(a, b, equal_nan=True).tolist() == [True, True, True, False, False]
    assert not mx.allclose(a, b).item()
    assert mx.allclose(mx.array([1, 2**60], mx.int64), mx.array([1, 2**60], mx.int64)).item()
    assert mx.isclose(mx.array([1j]), mx.array([1.000001j])).item()
    assert mx.array_equal(mx.array([1, nan]), mx.array([1, nan]), equal_nan=True).item()
    assert not mx.array_equal(mx.array([1, nan]), mx.array([1, nan])).item()
    assert not mx.array_equal(mx.array([1, 2]), mx.array([1, 2, 3])).item()


@pytest.mark.parametrize("source", DTYPES, ids=lambda d: d.name)
def test_astype(source: Dtype) -> None:
    x = np.array([0, 1, 2, 100], np.float64)
    if source.is_signed or source.is_float:
        x = np.concatenate([x, [-1, -3]])
    a = mx.array(x, source)
    for to in DTYPES:
        got = a.astype(to)
        assert got.dtype is to
        values = numbers(a)
        if to is mx.bfloat16 or to.is_float:
            want = values.real.astype(np.float64)
        elif to is mx.bool_:
            want = values != 0
        elif to.is_complex:
            want = values.astype(np.complex64)
        else:
            want = values.real.astype(np.int64).astype(to.np)
        np.testing.assert_array_equal(numbers(got), want)


def test_float_to_integer() -> None:
    x = mx.array([1.9, -1.9, 300.0, 3e9, -3e9, 1e20, np.nan, np.inf])
    assert x.astype(mx.int32).tolist() == [1, -1, 300, 2**31 - 1, -2**31, 2**31 - 1, 0, 2**31 - 1]
    assert x[:3].astype(mx.uint8).tolist() == [1, 255, 44]
    assert x[:4].astype(mx.uint32).tolist() == [1, 2**32 - 1, 300, 3000000000]
    for d in (mx.int8, mx.uint16, mx.int32, mx.uint32, mx.int64, mx.uint64):
        np.testing.assert_array_equal(  # construction and conversion agree
            np.array(mx.array(np.array(x), d)), np.array(x.astype(d)))
        assert mx.array(x.tolist(), d).tolist() == x.astype(d).tolist()
        assert [mx.array(v, d).item() for v in x.tolist()] == x.astype(d).tolist()


def test_reflected_division():
    x = mx.array([2.0, 4.0])
    assert x.__rdiv__(8).tolist() == x.__rtruediv__(8).tolist() == [4.0, 2.0]
