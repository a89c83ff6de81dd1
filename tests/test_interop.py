"""Exchange with other libraries: DLPack, NumPy's protocols, pickles, the array API, einops."""

from __future__ import annotations

import gc
import io
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.array import numpy_view
from eutectic.dtype import DTYPES, Dtype
from eutectic.errors import ArgumentError, DtypeError

# Types that NumPy's DLPack has; complex64 and bool among them.
PLAIN = [d for d in DTYPES if d is not mx.bfloat16]


def address(a: mx.array) -> int:
    return numpy_view(a, "test").ctypes.data


def values(d: Dtype) -> mx.array:
    return mx.array([[1, 0, 1], [0, 1, 1]], d)


# ---- NumPy --------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", PLAIN, ids=lambda d: d.name)
def test_dlpack_with_numpy(d: Dtype) -> None:
    a = values(d)
    x = np.from_dlpack(a)
    assert x.dtype == d.np
    assert x.ctypes.data == address(a)
    np.testing.assert_array_equal(x, np.array(a))
    assert not x.flags.writeable
    if d is not mx.float64:
        b = mx.from_dlpack(np.array(a))
        assert b.dtype is d
        assert mx.array_equal(a, b).item()


def test_memory_is_shared_and_kept() -> None:
    x = np.arange(1000, dtype=np.float32)
    a = mx.from_dlpack(x)
    assert address(a) == x.ctypes.data
    x[0] = 7
    assert a[0].item() == 7
    b = a + 1
    del x, a
    gc.collect()
    np.testing.assert_array_equal(np.array(b)[1:], np.arange(1, 1000) + 1)
    y = np.from_dlpack(mx.arange(1000))
    gc.collect()
    mx.eval([mx.zeros(1000, mx.int32) for _ in range(10)])
    np.testing.assert_array_equal(y, np.arange(1000))


@pytest.mark.parametrize("pick", [
    np.s_[::2], np.s_[::-1], np.s_[:, 1:3], np.s_[::-1, ::-2], np.s_[1], np.s_[:, :0],
    np.s_[None, :, None], np.s_[1:2, 2:3]], ids=str)
def test_strides_are_kept(pick: Any) -> None:
    x = np.arange(24, dtype=np.int32).reshape(4, 6)
    for y in (x[pick], x.T[pick]):
        for a in (mx.from_dlpack(y), mx.asarray(y, copy=False) if y.size else mx.asarray(y)):
            np.testing.assert_array_equal(np.array(a), y)
            np.testing.assert_array_equal(np.array(a * 2 + 1), y * 2 + 1)
            if y.size and isinstance(y, np.ndarray):
                assert numpy_view(a, "test").__array_interface__["data"][0] == \
                    y.__array_interface__["data"][0]
    np.testing.assert_array_equal(np.from_dlpack(mx.array(x).T[pick]), x.T[pick])


def test_conversion_when_imported() -> None:
    assert mx.from_dlpack(np.ones(2)).dtype is mx.float32
    assert mx.from_dlpack(np.ones(2, np.complex128)).dtype is mx.complex64
    x = np.arange(3, dtype=np.int32)
    assert address(mx.from_dlpack(x, copy=True)) != x.ctypes.data
    assert address(mx.from_dlpack(x, copy=False)) == x.ctypes.data
    assert mx.asarray(np.ones(2), mx.float64, copy=False).dtype is mx.float64
    a = mx.array([1, 2])
    assert mx.from_dlpack(a).tolist() == [1, 2]
    assert mx.asarray(a) is a
    assert mx.asarray(a, copy=True) is not a
    assert mx.asarray(x, mx.float32).tolist() == [0, 1, 2]


def test_read_only_memory() -> None:
    x = np.frombuffer(b"12345678", np.uint8)
    a = mx.asarray(x, copy=False)
    assert address(a) == x.ctypes.data
    a[0] = 1
    assert a[0].item() == 1
    assert bytes(x) == b"12345678"
    a = mx.asarray(x, copy=False)
    y = np.from_dlpack(Old(a))  # a consumer that is told nothing gets memory of its own
    assert y.ctypes.data != x.ctypes.data
    with pytest.raises(BufferError, match="needs a consumer of version 1"):
        a.__dlpack__(copy=False)


class Old:
    """A producer of before version 1: no keywords, no versions."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.a.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.a.__dlpack_device__()


def test_old_producers_and_consumers() -> None:
    x = np.arange(4, dtype=np.int16)
    assert address(mx.from_dlpack(Old(x))) == x.ctypes.data
    assert (mx.array(Old(x)) + 1).tolist() == [1, 2, 3, 4]
    a = mx.arange(4) + 0
    mx.eval(a)
    assert address(mx.from_dlpack(Old(a))) == address(a)


def test_errors() -> None:
    with pytest.raises(TypeError, match=r"\[from_dlpack\] a list does not export"):
        mx.from_dlpack([1, 2])
    with pytest.raises(ArgumentError, match=r"\[from_dlpack\] float64 becomes .* only by copying"):
        mx.from_dlpack(np.ones(2), copy=False)
    with pytest.raises(ValueError, match=r"\[asarray\] int64 becomes .* only by copying"):
        mx.asarray(np.arange(2), mx.float32, copy=False)
    with pytest.raises(ValueError, match=r"\[asarray\] a list becomes an array only by copying"):
        mx.asarray([1], copy=False)
    with pytest.raises(ValueError, match=r"\[asarray\] a array becomes an array only by copying"):
        mx.asarray(mx.array([1]), mx.float32, copy=False)
    unaligned = np.frombuffer(bytes(9), np.uint8)[1:].view(np.float32)
    assert mx.from_dlpack(np.ones(2, np.float32)[:0]).shape == (0,)
    with pytest.raises(ValueError, match=r"unaligned or foreign-endian"):
        mx.asarray(unaligned, copy=False)
    with pytest.raises(ValueError, match=r"unaligned or foreign-endian"):
        mx.asarray(np.arange(3, dtype=">i4"), copy=False)
    assert mx.asarray(unaligned).tolist() == [0, 0]
    with pytest.raises(DtypeError, match=r"\[array\] no data type for NumPy's <U1"):
        mx.asarray(np.array(["a"]))
    with pytest.raises(BufferError, match="not on the device"):
        mx.array([1]).__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match=r"\[dlpack\] exchange by DLPack needs the value"):
        mx.compile(lambda x: np.from_dlpack(x))(mx.array([1]))


def test_operators_with_numpy() -> None:
    x, a = np.ones((2, 2), np.float32), mx.ones((2, 2))
    for y in (x + a, a + x, x @ a, a @ x, x < a, np.float32(2) * a, a / np.float64(3)):
        assert type(y) is mx.array
    assert (a / np.float64(3)).dtype is mx.float32
    assert mx.array([1]).__array_priority__ > np.ones(1).__array_priority__
    np.add(x, 1, out=x)
    assert isinstance(np.add(x, np.asarray(a)), np.ndarray)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol: int) -> None:
    tree = {"a": mx.arange(5)[::-2], "b": [mx.array(1.5, mx.bfloat16), mx.zeros((0, 2))],
            "d": mx.float16, "t": mx.floating, "s": mx.default_stream(mx.cpu), "p": mx.cpu}
    found = pickle.loads(pickle.dumps(tree, protocol))
    assert found["a"].tolist() == [4, 2, 0]
    assert found["b"][0].dtype is mx.bfloat16
    assert found["b"][1].shape == (0, 2)
    assert found["d"] is mx.float16
    assert found["t"] is mx.floating
    assert found["p"] is mx.cpu
    assert found["s"] == tree["s"]


def test_pickles_out_of_band() -> None:
    a, parts = mx.arange(1000), []
    data = pickle.dumps(a, 5, buffer_callback=parts.append)
    assert len(data) < 500
    assert mx.array_equal(pickle.loads(data, buffers=parts), a).item()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes export buffers from Python 3.12")
def test_buffers_into_files() -> None:
    file = io.BytesIO()
    file.write(mx.array([1, 2], mx.int8))  # type: ignore[arg-type]
    assert file.getvalue() == b"\1\2"


# ---- torch and jax ------------------------------------------------------------------------------


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    for d in DTYPES:
        if d in (mx.uint16, mx.uint32, mx.uint64):  # torch stores these but computes little
            continue
        a = values(d)
        t = torch.from_dlpack(a)
        assert t.dtype is getattr(torch, d.name)
        assert t.data_ptr() == address(a)
        assert t.tolist() == a.tolist()
        b = mx.from_dlpack(t.clone())
        assert b.tolist() == a.tolist()
        assert b.dtype is (mx.float32 if d is mx.float64 else d)
        if d is not mx.float64:
            assert address(mx.from_dlpack(t)) == t.data_ptr()
        assert mx.array(t).tolist() == a.tolist()
    t = torch.arange(12).reshape(3, 4)
    assert mx.from_dlpack(t.T[1:, ::2]).tolist() == t.T[1:, ::2].tolist()
    a = mx.from_dlpack(t)
    t[0, 0] = 99
    assert a[0, 0].item() == 99
    del t
    gc.collect()
    assert a.sum().item() == 66 + 99
    assert (mx.array([1.5], mx.bfloat16) + torch.ones(1, dtype=torch.bfloat16)).tolist() == [2.5]
    with pytest.raises(DtypeError, match=r"\[from_dlpack\] cannot import the Tensor: .*detach"):
        mx.from_dlpack(torch.ones(2, requires_grad=True))
    assert mx.array(torch.ones(2, requires_grad=True)).tolist() == [1.0, 1.0]
    with pytest.raises(DtypeError, match=r"\[from_dlpack\] cannot import the Tensor"):
        mx.from_dlpack(torch.ones(2).to(torch.float8_e4m3fn))
    with pytest.raises(DtypeError, match=r"\[from_dlpack\] cannot import the Tensor"):
        mx.from_dlpack(torch.ones(2, device="meta"))


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    for d in DTYPES:
        if d in (mx.float64, mx.int64, mx.uint64):  # switched off in jax by default
            continue
        a = values(d)
        mx.eval(a)
        j = jax.dlpack.from_dlpack(a)
        assert j.dtype.name == d.name
        assert j.tolist() == a.tolist()
        assert j.unsafe_buffer_pointer() == address(a)
        b = mx.from_dlpack(j)
        assert b.dtype is d
        assert b.tolist() == a.tolist()
        assert address(b) == address(a)
        del j
        gc.collect()
        assert (b * 1).tolist() == a.tolist()
    assert (mx.ones(2) + jax.numpy.ones(2)).tolist() == [2, 2]


# ---- the array API ------------------------------------------------------------------------------


def test_namespace() -> None:
    a = mx.arange(6.0).reshape(2, 3)
    for version in (None, "2022.12", "2024.12"):
        assert a.__array_namespace__(api_version=version) is mx
    with pytest.raises(ValueError, match=r"\[array_namespace\] there is no version '1999'"):
        a.__array_namespace__(api_version="1999")
    info = mx.__array_namespace_info__()
    assert info.default_device() == mx.cpu
    assert info.devices() == (mx.Device(mx.cpu),)
    assert info.default_dtypes() == {
        "real floating": mx.float32, "complex floating": mx.complex64, "integral": mx.int32,
        "indexing": mx.int32}
    assert info.dtypes()["float32"] is mx.float32
    assert set(info.dtypes(kind="unsigned integer")) == {"uint8", "uint16", "uint32", "uint64"}
    assert set(info.dtypes(kind=("bool", "complex floating"))) == {"bool", "complex64"}
    assert not info.capabilities()["boolean indexing"]
    assert a.device == mx.cpu
    assert a.to_device(mx.cpu) is a
    with pytest.raises(ValueError, match="only the CPU is there"):
        a.to_device(mx.gpu)


def normalized(x: Any) -> Any:
    """A program of the array API: names and arguments of the standard only."""
    xp = x.__array_namespace__()
    y = xp.astype(x, xp.float32)
    y = (y - xp.mean(y, axis=-1, keepdims=True)) / (xp.std(y, axis=-1, keepdims=True) + 1e-3)
    y = xp.concat([y, xp.zeros_like(y)], axis=0)
    return xp.where(xp.isfinite(y), xp.permute_dims(y, (1, 0)).T, xp.asarray(0.0))


numpy_has_it = pytest.mark.skipif(not hasattr(np.ndarray, "__array_namespace__"),
                                  reason="NumPy follows the standard from version 2")


@numpy_has_it
def test_a_program_of_the_array_api() -> None:
    x = np.arange(12).reshape(3, 4)
    np.testing.assert_allclose(np.array(normalized(mx.array(x))), normalized(x), rtol=1e-5)


@numpy_has_it
def test_einops_by_the_array_api() -> None:
    api = pytest.importorskip("einops.array_api")
    x = np.arange(24).reshape(2, 3, 4)
    for pattern, axes in (("a b c -> c (b a)", {}), ("a (b d) c -> d a b c", {"d": 3})):
        a = api.rearrange(mx.array(x), pattern, **axes)
        np.testing.assert_array_equal(np.array(a), api.rearrange(x, pattern, **axes))
    a = api.reduce(mx.array(x), "a b c -> b", "max")
    np.testing.assert_array_equal(np.array(a), api.reduce(x, "a b c -> b", "max"))


def test_updates_leave_foreign_memory_alone() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)

    def update(a: mx.array) -> mx.array:
        a[1] = 7
        a[0, 2] = 5
        return a + 1

    for f in (update, mx.compile(update)):
        a = mx.from_dlpack(x)
        a[0] = 9
        a[:, 1] += 1
        mx.eval(a)
        b = f(mx.from_dlpack(x))
        mx.eval(b)
        assert b[1].tolist() == [8] * 4
        del a, b
        np.testing.assert_array_equal(x, np.arange(12).reshape(3, 4))
