"""The reduction order, written again in NumPy one step at a time, gives the same bits.

Float addition does not associate, so equal bits over many sizes mean an equal order. The order
here is that of the text of `kernel.reductions`; nothing is imported from it.
"""

from __future__ import annotations

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.runtime import pool

SIZES = (1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 1000, 1023, 1024,
         1025, 1040, 4095, 4097, 16383, 16384, 16385, 32769, 65536, 65537, 100_000, 262_143,
         262_145, 300_000)


def add(a, b):
    return a + b


def multiply(a, b):
    if a.dtype == np.complex64:
        # The textbook's formula, each step rounded.
        re = a.real * b.real - a.imag * b.imag
        return (re + 1j * (a.real * b.imag + a.imag * b.real)).astype(np.complex64)
    return a * b


def larger(a, b):
    """The second where they are equal, so that the sign of a zero tells the order."""
    return np.where(np.isnan(a), a, np.where(a > b, a, b))


OPS = {"sum": (add, -0.0), "prod": (multiply, 1.0), "max": (larger, -np.inf)}


def levels(blocks, op, identity):
    """Blocks (first axis) in sequence, sixteen at a time; then sixteen such results; and so on."""
    while len(blocks) > 1:
        missing = -len(blocks) % 16
        rest = np.full((missing, *blocks.shape[1:]), identity, blocks.dtype)
        groups = np.concatenate([blocks, rest]).reshape(-1, 16, *blocks.shape[1:])
        total = np.full(groups[:, 0].shape, identity, blocks.dtype)
        for j in range(16):
            total = op(total, groups[:, j])
        blocks = total
    return blocks[0]


def row_class(x, name):
    """Over the last axis: lanes, levels of blocks of lanes, then lane i with lane i + half."""
    op, identity = OPS[name]
    lanes = 32 if x.dtype == np.float64 else 64
    n = x.shape[-1]
    padded = np.full((*x.shape[:-1], -(-n // lanes) * lanes), identity, x.dtype)
    padded[..., :n] = x
    blocks = np.moveaxis(padded.reshape(*x.shape[:-1], -1, lanes), -2, 0)
    total = levels(blocks, op, identity)
    while total.shape[-1] > 1:
        half = total.shape[-1] // 2
        total = op(total[..., :half], total[..., half:])
    return total[..., 0]


def column_class(x, name):
    """Over the first axis: blocks of one element."""
    op, identity = OPS[name]
    return levels(x, op, identity)


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape) * np.exp2(rng.integers(-12, 12, shape))
    if dtype == "complex64":
        return (x + 1j * rng.standard_normal(shape)).astype(np.complex64)
    x = x.astype(dtype)
    x[rng.random(shape) < 0.05] = -0.0
    x[rng.random(shape) < 0.05] = 0.0
    return x


def near_one(shape, dtype, seed=0):
    """Factors whose products stay in the range."""
    x = np.random.default_rng(seed).uniform(-1, 1, shape) * 1e-4 + 1
    return (x * np.exp(1e-3j) if dtype == "complex64" else x).astype(dtype)


def same(found, expected):
    assert found.shape == expected.shape
    assert bytes(found) == np.ascontiguousarray(expected).tobytes()


def array(x):
    a = mx.array(x, mx.float64 if x.dtype == np.float64 else None)
    mx.eval(a)
    return a


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["sum", "prod", "max"])
def test_row_class(name, dtype):
    if name == "max" and dtype == "complex64":
        pytest.skip("complex numbers have an order of their own")
    for n in SIZES:
        x = (near_one if name == "prod" else numbers)((n,), dtype, n)
        with np.errstate(over="ignore"):
            same(getattr(mx, name)(array(x)), row_class(x, name))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["sum", "prod", "max"])
def test_column_class(name, dtype):
    if name == "max" and dtype == "complex64":
        pytest.skip("complex numbers have an order of their own")
    for n in SIZES:
        columns = 3 if n > 5000 else 70
        x = (near_one if name == "prod" else numbers)((n, columns), dtype, n)
        same(getattr(mx, name)(array(x), axis=0), column_class(x, name))


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 100])
def test_rows_and_their_number_do_not_matter(rows):
    """Few long rows are split into units, many short ones take other kernels."""
    for n in (5, 64, 65, 1000, 16_385, 40_000 if rows < 9 else 2000):
        x = numbers((rows, n), "float32", rows)
        same(mx.sum(array(x), axis=-1), row_class(x, "sum"))


def test_short_rows_of_many_lengths():
    """Rows of at most one block, many of them: their lanes are different rows."""
    for n in range(1, 65):
        x = numbers((4096 // n + 33, n), "float32", n)
        same(mx.sum(array(x), axis=-1), row_class(x, "sum"))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_do_not_matter(threads):
    count = pool.get_num_threads()
    try:
        pool.set_num_threads(threads)
        x = numbers((300_000,), "float32", 1)
        same(mx.sum(array(x)), row_class(x, "sum"))
        x = numbers((3, 100_000), "float32", 2)
        same(mx.sum(array(x), axis=1), row_class(x, "sum"))
        x = numbers((3000, 200), "float32", 3)
        same(mx.sum(array(x), axis=1), row_class(x, "sum"))
        same(mx.sum(array(x), axis=0), column_class(x, "sum"))
    finally:
        pool.set_num_threads(count)


def test_layout_does_not_matter():
    x = numbers((129, 1025), "float32", 4)
    for a in (mx.transpose(array(np.ascontiguousarray(x.T))),
              array(x[::-1, ::-1].copy())[::-1, ::-1],
              array(np.repeat(np.repeat(x, 2, 0), 2, 1))[::2, ::2]):
        mx.eval(a)
        same(mx.sum(a, axis=1), row_class(x, "sum"))
        same(mx.sum(a, axis=0), column_class(x, "sum"))


def test_several_axes_are_one_row_major_axis():
    x = numbers((3, 17, 129), "float32", 5)
    same(mx.sum(array(x), axis=(1, 2)), row_class(x.reshape(3, -1), "sum"))
    same(mx.sum(array(x)), row_class(x.reshape(-1), "sum"))
    same(mx.sum(array(x), axis=(0, 1)), column_class(x.reshape(-1, 129), "sum"))
    same(mx.sum(array(x), axis=1), np.stack([column_class(part, "sum") for part in x]))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_accumulate_in_float32(name):
    d = mx.float16 if name == "float16" else mx.bfloat16
    for n in (17, 1000, 20_000):
        a = mx.array(numbers((n,), "float32", n) / 64).astype(d)
        wide = np.array(a.astype(mx.float32))
        same(mx.sum(a), np.frombuffer(bytes(mx.array(row_class(wide, "sum")).astype(d)),
                                      d.np).reshape(()))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_integers_wrap_in_any_order(dtype):
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(info.min, info.max, 5000, dtype, endpoint=True)
    out = mx.sum(mx.array(x))
    same(out, np.sum(x, dtype=out.dtype.np))
    out = mx.prod(mx.array(x | 1))
    same(out, np.prod(x | 1, dtype=out.dtype.np))


def test_a_fused_reduction_keeps_the_order():
    x, y = numbers((9, 1025), "float32", 6), numbers((9, 1025), "float32", 7)
    f = mx.compile(lambda a, b: (mx.sum(a * b, axis=1) * 2, mx.max(a * b, axis=1),
                                 mx.sum(a * b, axis=0) + 1))
    rows, top, columns = f(array(x), array(y))
    same(rows, row_class(x * y, "sum") * np.float32(2))
    same(top, row_class(x * y, "max"))
    same(columns, column_class(x * y, "sum") + np.float32(1))


def test_errors_grow_with_the_logarithm():
    """10^8 ones sum exactly; a hundred thousand tenths stay within a few units."""
    assert mx.sum(mx.ones((100_000_000,))).item() == 100_000_000
    x = np.full(100_000, 0.1, np.float32)
    exact = float(x.astype(np.float64).sum())
    assert abs(mx.sum(array(x)).item() - exact) < exact * 2.0 ** -23 * 4


def test_first_of_equals_wins():
    for shape, axis in (((300_000,), None), ((5, 3000), 1), ((3000, 70), 0)):
        x = np.random.default_rng(1).integers(0, 5, shape).astype(np.float32)
        assert np.array_equal(np.array(mx.argmax(array(x), axis=axis)), x.argmax(axis))
        assert np.array_equal(np.array(mx.argmin(array(x), axis=axis)), x.argmin(axis))
        x[np.random.default_rng(2).random(shape) < 0.01] = np.nan
        assert np.array_equal(np.array(mx.argmax(array(x), axis=axis)), x.argmax(axis))
        assert np.array_equal(np.array(mx.argmin(array(x), axis=axis)), x.argmin(axis))
