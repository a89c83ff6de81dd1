"""The array class: construction, printing, conversion to Python and NumPy, pickling."""

from __future__ import annotations

import array as python_array
import copy
import gc
import pickle
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.array import readable
from eutectic.dtype import DTYPES, Dtype

nan, inf = float("nan"), float("inf")


@pytest.mark.parametrize(("value", "shape", "dtype"), [
    (3, (), "int32"), (2**31, (), "int64"), (-2**31, (), "int32"), (2.5, (), "float32"),
    (True, (), "bool"), (1j, (), "complex64"), ([1, 2], (2,), "int32"), ([1, 2.5], (2,), "float32"),
    ([True, 2], (2,), "int32"), ([True, False], (2,), "bool"), ([1, 2j], (2,), "complex64"),
    ([2**31, 1], (2,), "int64"), ([], (0,), "float32"), ([[], []], (2, 0), "float32"),
    ([[[1], [2]]], (1, 2, 1), "int32"), (((1, 2), [3, 4]), (2, 2), "int32"),
    (np.arange(3), (3,), "int64"), (np.arange(3.0), (3,), "float32"),
    (np.array([1 + 2j]), (1,), "complex64"), (np.float64(3), (), "float32"),
    (np.int16(3), (), "int16"), (np.array(3, ">i4"), (), "int32"), (b"abc", (3,), "uint8"),
    (bytearray(b"ab"), (2,), "uint8"), (memoryview(b"abc")[::2], (2,), "uint8"),
    (python_array.array("d", [1, 2]), (2,), "float32"), ([np.float32(1), 2], (2,), "float32"),
    ([np.array([1, 2]), [3, 4]], (2, 2), "int64"),
    (np.ones((2, 3)).T[::-1], (3, 2), "float32"), (np.zeros((0, 4), bool), (0, 4), "bool"),
], ids=lambda x: type(x).__name__ if isinstance(x, memoryview) else str(x))
def test_construct(value: Any, shape: tuple[int, ...], dtype: str) -> None:
    a = mx.array(value)
    assert (a.shape, a.dtype.name) == (shape, dtype)
    if not isinstance(value, (bytes, bytearray, memoryview)):
        np.testing.assert_array_equal(np.array(a), np.array(value).astype(a.dtype.np))


def test_construct_from_arrays() -> None:
    a = mx.array([1, 2])
    assert mx.array([a, [3, 4.5]]).tolist() == [[1, 2], [3, 4.5]]
    assert mx.array([mx.array(1), 2.5]).tolist() == [1, 2.5]
    assert mx.array([[a, a], [a, a]]).shape == (2, 2, 2)
    assert mx.array([a, a], mx.float16).dtype is mx.float16
    assert mx.array(a, mx.float32).tolist() == [1, 2]

    class Wrapped:
        def __mlx_array__(self) -> mx.array:
            return a

    assert mx.array(Wrapped()).tolist() == [1, 2]
    assert (a + Wrapped()).tolist() == [2, 4]
    assert mx.array([Wrapped(), Wrapped()]).shape == (2, 2)


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
def test_construct_with_dtype(d: Dtype) -> None:
    for value in (1, 1.0, True, [0, 1], [0.0, 1.0], np.array([0, 1]), np.array([0.0, 1.0]), [1j]):
        a = mx.array(value, d)
        assert a.dtype is d
        to = np.float32 if d is mx.bfloat16 else d.np
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            want = np.array(value).astype(to)
        np.testing.assert_array_equal(np.array(a), want)


def test_integers_wrap_where_asked() -> None:
    assert mx.array(300, mx.uint8).item() == mx.array([300], mx.uint8).item() == 44
    assert mx.array([-1], mx.uint64).item() == mx.array(-1, mx.uint64).item() == 2**64 - 1
    assert mx.array([2**64 - 1], mx.uint64).item() == 2**64 - 1


def test_rounding_to_halves_is_single() -> None:
    x = 1 + 2.0**-9 + 2.0**-40  # just above a tie of bfloat16
    for value in (x, -x, 1 + 2.0**-8, 3.4e38, 1e-42, nan, -inf):
        one = mx.array(value, mx.bfloat16)
        for other in (mx.array([value], mx.bfloat16), mx.array(np.array([value]), mx.bfloat16)):
            np.testing.assert_array_equal(np.array(other)[0], np.array(one))
    assert mx.array(1 + 2.0**-8 + 2.0**-40, mx.bfloat16).item() == 1 + 2.0**-7


@pytest.mark.parametrize("d", [mx.float16, mx.bfloat16, mx.float32, mx.float64],
                         ids=lambda d: d.name)
def test_numbers_keep_the_sign_of_zero(d: Dtype) -> None:
    """0.0 and -0.0 are equal to Python, and so to a cache with numbers as keys."""
    def signs(x: mx.array) -> list[mx.array]:
        made = [x * 0.0, x * -0.0, mx.minimum(x, 0.0), mx.full((1,), -0.0, d),
                mx.pad(x[:0], (0, 1)), mx.cumsum(x, inclusive=False)]
        return [mx.array(1.0) / m.astype(mx.float32) for m in made]

    x = mx.array([1.5], d)
    expected = [[float("inf")], [-float("inf")], [float("inf")], [-float("inf")], [float("inf")],
                [float("inf")]]
    assert [a.tolist() for a in signs(x)] == expected
    assert [a.tolist() for a in mx.compile(signs)(x)] == expected


def test_the_data_is_copied() -> None:
    x = np.arange(3)
    a = mx.array(x)
    x[0] = 9
    assert a.tolist() == [0, 1, 2]


PRINTED = [
    (lambda: mx.array(1), "array(1, dtype=int32)"),
    (lambda: mx.array(True), "array(True, dtype=bool)"),
    (lambda: mx.array([[1, 2], [3, 4]]), "array([[1, 2],\n       [3, 4]], dtype=int32)"),
    (lambda: mx.array([]), "array([], dtype=float32)"),
    (lambda: mx.zeros((2, 0)), "array([[],\n       []], dtype=float32)"),
    (lambda: mx.array([nan, inf, -inf, -0.0]), "array([nan, inf, -inf, -0], dtype=float32)"),
    (lambda: mx.array([1 / 3, 1e10, 123456.0]), "array([0.333333, 1e+10, 123456], dtype=float32)"),
    (lambda: mx.array([1 / 3], mx.float16), "array([0.333252], dtype=float16)"),
    (lambda: mx.array([1 / 3, 3e38], mx.bfloat16),
     "array([0.333984, 3.00406e+38], dtype=bfloat16)"),
    (lambda: mx.array([1 / 3], mx.float64), "array([0.333333], dtype=float64)"),
    (lambda: mx.array([1 + 2j, -1j, complex(nan, -inf)]),
     "array([1+2j, -0-1j, nan-infj], dtype=complex64)"),
    (lambda: mx.arange(7), "array([0, 1, 2, ..., 4, 5, 6], dtype=int32)"),
    (lambda: mx.arange(6), "array([0, 1, 2, 3, 4, 5], dtype=int32)"),
    (lambda: mx.zeros((2, 1, 2), mx.bool_),
     "array([[[False, False]],\n       [[False, False]]], dtype=bool)"),
    (lambda: mx.arange(14).reshape(7, 2).T,
     "array([[0, 2, 4, ..., 8, 10, 12],\n       [1, 3, 5, ..., 9, 11, 13]], dtype=int32)"),
    (lambda: mx.arange(8).reshape(2, 2, 2),
     "array([[[0, 1],\n        [2, 3]],\n       [[4, 5],\n        [6, 7]]], dtype=int32)"),
    (lambda: mx.zeros((8, 1), mx.int8),
     "array([[0],\n       [0],\n       [0],\n       ...,\n       [0],\n       [0],\n       [0]], "
     "dtype=int8)"),
]


@pytest.mark.parametrize(("make", "text"), PRINTED, ids=[t for _, t in PRINTED])
def test_prints(make: Any, text: str) -> None:
    assert repr(make()) == str(make()) == text


def test_print_options() -> None:
    a = mx.array([3.14159265, 2.0])
    with mx.printoptions(precision=3):
        assert repr(a) == "array([3.14, 2], dtype=float32)"
        assert mx.get_printoptions().precision == 3
    assert repr(a) == "array([3.14159, 2], dtype=float32)"


def test_format() -> None:
    assert f"{mx.array(1.5):.2f}" == "1.50"
    assert f"{mx.array(1.5)}" == "1.5"
    assert f"{mx.array([1.5])}" == "array([1.5], dtype=float32)"


def test_properties() -> None:
    a = mx.zeros((2, 3), mx.float16)
    assert (a.shape, a.ndim, a.size, a.itemsize, a.nbytes) == ((2, 3), 2, 6, 2, 12)
    z = mx.array([1 + 2j])
    assert (z.real.tolist(), z.imag.tolist()) == ([1], [2])
    assert hash(a) != hash(mx.zeros((2, 3), mx.float16))
    assert len({a, a}) == 1


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
def test_python_values(d: Dtype) -> None:
    a = mx.array([[1], [0]], d)
    kind = bool if d is mx.bool_ else int if d.is_int else complex if d.is_complex else float
    assert a.tolist() == [[1], [0]]
    assert type(a.tolist()[0][0]) is kind
    assert type(a[0].item()) is kind
    assert bool(a[0]) is True
    assert bool(a[1]) is False
    assert complex(a[0]) == 1
    if not d.is_complex:
        assert (int(a[0]), float(a[0])) == (1, 1.0)
    if d.is_int:
        assert [5, 6][a[0, 0]] == 6


def test_numpy_shares_memory() -> None:
    a = mx.arange(12).reshape(3, 4)
    x = np.asarray(a)
    assert x.ctypes.data == np.asarray(a).ctypes.data
    t = np.asarray(a.T)
    assert t.strides == (4, 16)
    assert t.ctypes.data == x.ctypes.data
    np.testing.assert_array_equal(np.asarray(a[::-1, 1:]), x[::-1, 1:])
    assert np.array(a).ctypes.data != x.ctypes.data
    with pytest.raises(ValueError, match="read-only"):
        x[0, 0] = 5
    y = np.array(a)
    y[0, 0] = 5
    assert a[0, 0].item() == 0


def test_memory_outlives_the_array() -> None:
    x = np.asarray(mx.arange(1000.0) * 2)
    gc.collect()
    mx.eval([mx.zeros(1000) + k for k in range(20)])
    np.testing.assert_array_equal(x, np.arange(1000.0) * 2)


def test_numpy_conversion() -> None:
    a = mx.array([1.5, 2.5])
    assert np.array(a, dtype=np.int8).tolist() == [1, 2]
    assert np.asarray(mx.array([1.5], mx.bfloat16)).dtype == np.float32
    assert np.asarray(mx.array(1.5, mx.bfloat16)).shape == ()
    assert np.exp(mx.zeros(2)).tolist() == [1, 1]
    assert np.asarray(mx.zeros((0, 3))).shape == (0, 3)
    assert bytes(mx.array([1, 2])) == np.array([1, 2], np.int32).tobytes()
    assert bytes(mx.array([1.0], mx.bfloat16)) == b"\x80\x3f"


def test_dlpack() -> None:
    a = mx.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(np.from_dlpack(a), np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(np.from_dlpack(a.T), np.arange(6).reshape(2, 3).T)
    assert a.__dlpack_device__() == (1, 0)

    class Foreign:
        def __init__(self, x: np.ndarray) -> None:
            self.x = x

        def __dlpack__(self, **k: Any) -> Any:
            return self.x.__dlpack__(**k)

        def __dlpack_device__(self) -> Any:
            return self.x.__dlpack_device__()

    assert mx.array(Foreign(np.array([1, 2], np.int8))).dtype is mx.int8
    assert (mx.array([1, 2]) + Foreign(np.array([1, 2]))).tolist() == [2, 4]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes export buffers from Python 3.12")
def test_buffer() -> None:
    view = memoryview(mx.array([1, 2]))
    assert view.readonly
    assert view.tolist() == [1, 2]
    with pytest.raises(BufferError, match=r"\[buffer\] no buffer format for bfloat16"):
        memoryview(mx.array([1.0], mx.bfloat16))
    assert np.asarray(mx.array([1.5], mx.bfloat16)).tolist() == [1.5]


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
def test_pickle_and_copies(d: Dtype) -> None:
    a = mx.array([[1, 0, 1], [0, 1, 1]], d).T
    for b in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a)):
        assert b is not a
        assert b.dtype is d
        assert mx.array_equal(a, b).item()
    assert mx.array_equal(pickle.loads(pickle.dumps(a[:0])), a[:0]).item()


def test_a_copy_is_independent() -> None:
    a = mx.array([1, 2])
    b = copy.copy(a)
    a[0] = 5
    a += 1
    assert b.tolist() == [1, 2]


def test_eval() -> None:
    a, b = mx.array([1]) + 1, mx.array([2]) * 3
    mx.eval(a, {"b": [b, None]}, 3)
    assert a._n.data is not None
    assert b._n.data is not None
    assert a._n.inputs == ()
    mx.async_eval(a + b)
    assert readable(a + b, "test").tolist() == [8]


def test_long_chains() -> None:
    x = mx.array(0)
    for _ in range(5000):
        x = x + 1
    assert x.item() == 5000


def test_devices_and_memory() -> None:
    assert mx.default_device() == mx.cpu == mx.Device(mx.cpu)
    assert mx.Device(mx.gpu) != mx.cpu
    assert not mx.is_available(mx.gpu)
    assert mx.device_count(mx.gpu) == 0
    assert repr(mx.default_stream(mx.cpu)) == "Stream(Device(cpu, 0), 0)"
    assert hash(mx.Device(mx.cpu)) == hash(mx.Device(mx.cpu))
    with mx.stream(mx.cpu):
        assert (mx.array(1) + 1).item() == 2
    assert mx.add(mx.array(1), 1, stream=mx.cpu).item() == 2
    mx.synchronize()
    before = mx.get_active_memory()
    a = mx.zeros(100000) + 1
    mx.eval(a)
    assert mx.get_active_memory() >= before + 400000
    del a
    assert mx.get_active_memory() < before + 400000


def test_the_facade_is_complete() -> None:
    assert len(set(mx.__all__)) == len(mx.__all__)
    for name in mx.__all__:
        value = getattr(mx, name)
        if callable(value) and not isinstance(value, type):
            assert value.__doc__, name
