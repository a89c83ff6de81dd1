"""Files: every format against NumPy and the safetensors package, layouts, errors, atomic writes."""

from __future__ import annotations

import gc
import importlib.util
import io
import json
import os
import pathlib
import stat
import struct
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.array import numpy_view
from eutectic.dtype import DTYPES, Dtype
from eutectic.errors import FileError, MissingFileError
from eutectic.files.source import READ_BYTES

from file_bytes import gguf, tensor, text

LARGE = READ_BYTES // 4 + 1000  # float32 elements of a file that is mapped


def sample(d: Dtype, shape: tuple[int, ...] = (2, 3)) -> mx.array:
    n = int(np.prod(shape))
    if d is mx.bool_:
        return (mx.arange(n) % 2 == 1).reshape(shape)
    return (mx.arange(n) - (0 if d in (mx.uint8, mx.uint16, mx.uint32, mx.uint64) else 2)).astype(
        d).reshape(shape)


def same(a: mx.array, b: mx.array) -> None:
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    np.testing.assert_array_equal(numpy_view(a, "test"), numpy_view(b, "test"))


SHAPES = [(), (3,), (2, 3), (0,), (0, 3), (2, 0, 2), (1, 2, 1, 3, 1)]


# ---- round trips --------------------------------------------------------------------------------


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_round_trips(d: Dtype, shape: tuple[int, ...], tmp_path: pathlib.Path) -> None:
    a = sample(d, shape)
    mx.save(tmp_path / "a", a)
    same(mx.load(tmp_path / "a.npy"), a)
    mx.savez(str(tmp_path / "z"), a, other=a)
    found = mx.load(str(tmp_path / "z.npz"))
    assert sorted(found) == ["arr_0", "other"]
    same(found["arr_0"], a)
    mx.savez_compressed(tmp_path / "c.npz", a)
    same(mx.load(tmp_path / "c.npz")["arr_0"], a)
    mx.save_safetensors(tmp_path / "s", {"a": a, "b.0": a})
    found = mx.load(tmp_path / "s.safetensors")
    assert list(found) == ["a", "b.0"]
    same(found["a"], a)
    same(found["b.0"], a)
    if d in (mx.float32, mx.float16, mx.bfloat16, mx.float64, mx.int8, mx.int16, mx.int32,
             mx.int64):
        mx.save_gguf(tmp_path / "g", {"a": a, "b": a})
        found = mx.load(tmp_path / "g.gguf")
        same(found["a"], a)
        same(found["b"], a)
    else:
        with pytest.raises(ValueError, match=rf"\[save_gguf\] 'a' is of dtype {d.name}"):
            mx.save_gguf(tmp_path / "g", {"a": a})


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
def test_memory_orders(d: Dtype) -> None:
    base = sample(d, (4, 6))
    for a in (base.T, base[::2, ::-1], base[1], mx.broadcast_to(base[:, :1], (4, 3)), base[:0]):
        file = io.BytesIO()
        mx.save(file, a)
        file.seek(0)
        if d is not mx.bfloat16:
            np.testing.assert_array_equal(np.load(file), np.array(a))
            file.seek(0)
        same(mx.load(file, "npy"), a)
        file = io.BytesIO()
        mx.save_safetensors(file, {"a": a})
        same(mx.load(io.BytesIO(file.getvalue()), "safetensors")["a"], a)


@pytest.mark.parametrize("x", [
    np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(6, dtype=">i4"), np.arange(6, dtype=">f8").reshape(2, 3),
    np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3)), np.array(3, ">u4"),
    np.zeros((0, 3), np.int8), np.array([1j], np.complex64), np.array([1j], ">c8"),
    np.array([True, False])], ids=lambda x: f"{x.dtype.str}{x.shape}")
def test_numpy_files(x: np.ndarray, tmp_path: pathlib.Path) -> None:
    np.save(tmp_path / "x.npy", x)
    a = mx.load(tmp_path / "x.npy")
    np.testing.assert_array_equal(np.array(a), x)
    assert a.dtype.np == x.dtype.newbyteorder("=")
    np.savez_compressed(tmp_path / "z.npz", x, y=x)
    found = mx.load(tmp_path / "z.npz")
    np.testing.assert_array_equal(np.array(found["y"]), x)


def test_numpy_reads_ours(tmp_path: pathlib.Path) -> None:
    a = mx.arange(6.0).reshape(2, 3)
    mx.save(tmp_path / "a.npy", a)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.array(a))
    mx.savez(tmp_path / "z", a, b=a.T)
    with np.load(tmp_path / "z.npz") as found:
        np.testing.assert_array_equal(found["b"], np.array(a).T)


def test_bfloat16_is_stored_as_two_bytes_of_type_v2(tmp_path: pathlib.Path) -> None:
    a = mx.array([1.5, -2, 3e38], mx.bfloat16)
    mx.save(tmp_path / "a.npy", a)
    x = np.load(tmp_path / "a.npy")
    assert x.dtype == np.dtype("V2")
    np.testing.assert_array_equal(x.view(np.uint16), np.array(a.view(mx.uint16)))


def test_several_arrays_in_one_open_file(tmp_path: pathlib.Path) -> None:
    with open(tmp_path / "f.npy", "wb") as f:
        for k in range(3):
            mx.save(f, mx.full((k + 1,), k))
        mx.save(f, mx.zeros(LARGE))
    with open(tmp_path / "f.npy", "rb") as f:
        for k in range(3):
            assert mx.load(f).tolist() == [k] * (k + 1)
        assert mx.load(f).size == LARGE
        assert f.read() == b""


def test_open_files_by_name_and_format(tmp_path: pathlib.Path) -> None:
    a = mx.arange(LARGE)
    with open(tmp_path / "x.safetensors", "wb") as f:
        f.write(b"before")
        mx.save_safetensors(f, {"a": a})
    with open(tmp_path / "x.safetensors", "rb") as f:
        f.seek(6)
        same(mx.load(f)["a"], a)
    with pytest.raises(ValueError, match=r"\[load\] the format cannot be told"):
        mx.load(io.BytesIO())
    with pytest.raises(ValueError, match=r"\[load\] the format cannot be told"):
        mx.load("dir.d/file")


def test_pipes(tmp_path: pathlib.Path) -> None:
    read, write = os.pipe()
    with os.fdopen(write, "wb") as f:
        mx.save(f, mx.arange(5))
    with os.fdopen(read, "rb") as f:
        assert mx.load(f, format="npy").tolist() == [0, 1, 2, 3, 4]


# ---- metadata -----------------------------------------------------------------------------------


def test_safetensors_metadata(tmp_path: pathlib.Path) -> None:
    a = mx.arange(3)
    mx.save_safetensors(tmp_path / "m", {"é\"\\\n": a}, {"k": "v", "größe": "😀"})
    arrays, metadata = mx.load(tmp_path / "m.safetensors", return_metadata=True)
    assert metadata == {"k": "v", "größe": "😀"}
    same(arrays["é\"\\\n"], a)
    mx.save_safetensors(tmp_path / "n", {})
    assert mx.load(tmp_path / "n.safetensors", return_metadata=True) == ({}, {})


def test_no_metadata_for_npy(tmp_path: pathlib.Path) -> None:
    for kind in ("npy", "npz"):
        with pytest.raises(ValueError, match=rf"\[load\] the format {kind} has no metadata"):
            mx.load(tmp_path / "a", kind, True)


def test_gguf_metadata(tmp_path: pathlib.Path) -> None:
    values: dict[str, Any] = {
        "text": "hällo", "empty": "", "texts": ["a", "", "ccc"], "none": [],
        "flag": mx.array(True), "flags": mx.array([True, False]), "nothing": mx.zeros((0,))}
    values |= {f"one.{d.name}": mx.array(1).astype(d) for d in (
        mx.uint8, mx.int8, mx.uint16, mx.int16, mx.uint32, mx.int32, mx.uint64, mx.int64,
        mx.float32, mx.float64)}
    values |= {f"many.{d.name}": mx.array([1, 2, 3]).astype(d) for d in (
        mx.uint8, mx.int8, mx.uint16, mx.int16, mx.uint32, mx.int32, mx.uint64, mx.int64,
        mx.float32, mx.float64)}
    mx.save_gguf(tmp_path / "m.gguf", {"w": mx.ones((2, 3))}, values)
    arrays, found = mx.load(tmp_path / "m.gguf", return_metadata=True)
    assert list(found) == list(values)
    for key, value in values.items():
        if isinstance(value, mx.array):
            same(found[key], value)
        else:
            assert found[key] == value
    same(arrays["w"], mx.ones((2, 3)))


@pytest.mark.parametrize("alignment", [8, 64, 4096])
def test_gguf_alignment(alignment: int, tmp_path: pathlib.Path) -> None:
    mx.save_gguf(tmp_path / "a", {"x": mx.array([1.0]), "y": mx.array([2.0])},
                 {"general.alignment": mx.array(alignment, mx.uint32)})
    assert mx.load(tmp_path / "a.gguf")["y"].item() == 2
    assert os.path.getsize(tmp_path / "a.gguf") % alignment == 4


def test_gguf_nested_arrays_and_version_two() -> None:
    nested = text("k") + struct.pack("<IIQ", 9, 9, 2) + struct.pack("<IQ", 8, 1) + text("a") \
        + struct.pack("<IQ2i", 5, 2, 1, -2)
    _, found = mx.load(io.BytesIO(gguf(metadata=nested, m=1, version=2)), "gguf", True)
    assert found["k"][0] == ["a"]
    assert found["k"][1].tolist() == [1, -2]


@pytest.mark.parametrize(("kind", "name"), [(2, "Q4_0"), (8, "Q8_0"), (12, "Q4_K"), (39, "MXFP4")])
def test_quantized_types_are_named(kind: int, name: str) -> None:
    data = gguf(tensor("blk.0.w", kind, (32,)), 1, data=bytes(64))
    with pytest.raises(TypeError, match=rf"tensor 'blk\.0\.w' is of the quantized type {name}"):
        mx.load(io.BytesIO(data), "gguf")


# ---- other programs -----------------------------------------------------------------------------


def test_safetensors_package(tmp_path: pathlib.Path) -> None:
    st = pytest.importorskip("safetensors.numpy")
    arrays = {d.name: sample(d) for d in DTYPES if d not in (mx.bfloat16, mx.complex64)}
    arrays["empty"] = mx.zeros((0, 4))
    mx.save_safetensors(tmp_path / "a.safetensors", arrays, {"by": "us"})
    for name, x in st.load_file(tmp_path / "a.safetensors").items():
        np.testing.assert_array_equal(x, np.array(arrays[name]))
    st.save_file({k: np.array(a) for k, a in arrays.items()}, tmp_path / "b.safetensors",
                 {"a": "b"})
    found, metadata = mx.load(tmp_path / "b.safetensors", return_metadata=True)
    assert metadata == {"a": "b"}
    assert found.keys() == arrays.keys()
    for name, a in arrays.items():
        same(found[name], a)


def test_safetensors_package_with_torch(tmp_path: pathlib.Path) -> None:
    torch = pytest.importorskip("torch")
    st = pytest.importorskip("safetensors.torch")
    mx.save_safetensors(tmp_path / "a.safetensors", {"x": sample(mx.bfloat16)})
    x = st.load_file(tmp_path / "a.safetensors")["x"]
    assert x.dtype is torch.bfloat16
    assert x.tolist() == sample(mx.bfloat16).tolist()
    st.save_file({"x": x}, tmp_path / "b.safetensors")
    same(mx.load(tmp_path / "b.safetensors")["x"], sample(mx.bfloat16))


def test_gguf_package(tmp_path: pathlib.Path) -> None:
    package = pytest.importorskip("gguf")
    writer = package.GGUFWriter(tmp_path / "a.gguf", "llama")
    writer.add_uint8("u8", 200)
    writer.add_int64("i64", -(2**40))
    writer.add_float64("f64", 1 / 3)
    writer.add_bool("flag", True)
    writer.add_array("ints", [1, -2, 3])
    writer.add_array("texts", ["a", "ä"])
    tensors = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "h": np.ones(5, np.float16),
               "i": np.arange(7, dtype=np.int64), "d": np.ones((1, 2), np.float64)}
    for name, x in tensors.items():
        writer.add_tensor(name, x)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found, metadata = mx.load(tmp_path / "a.gguf", return_metadata=True)
    for name, x in tensors.items():
        np.testing.assert_array_equal(np.array(found[name]), x)
        assert found[name].dtype.np == x.dtype
    assert metadata["general.architecture"] == "llama"
    assert metadata["f64"].item() == 1 / 3
    assert metadata["ints"].tolist() == [1, -2, 3]
    assert metadata["texts"] == ["a", "ä"]
    mx.save_gguf(tmp_path / "b", found | {"b": sample(mx.bfloat16)}, metadata)
    reader = package.GGUFReader(tmp_path / "b.gguf")
    read = {t.name: t for t in reader.tensors}
    for name, x in tensors.items():
        np.testing.assert_array_equal(np.asarray(read[name].data).reshape(x.shape), x)
    assert read["b"].tensor_type.name == "BF16"
    assert reader.get_field("texts").contents() == ["a", "ä"]
    assert reader.get_field("i64").contents() == -(2**40)


_PEER = """
import sys, numpy as np, mlx.core as mx
folder, names = sys.argv[1], sys.argv[2].split()
arrays = {n: mx.arange(6).reshape(2, 3).astype(getattr(mx, n)) for n in names}
for n, a in arrays.items():
    b = mx.load(f"{folder}/{n}.npy")
    assert b.dtype == a.dtype and mx.array_equal(a, b).item(), n
    mx.save(f"{folder}/back-{n}.npy", a.T)
for kind in ("npz", "safetensors"):
    found = mx.load(f"{folder}/all.{kind}")
    assert found.keys() == arrays.keys(), found.keys()
    for n, a in arrays.items():
        assert found[n].dtype == a.dtype and mx.array_equal(a, found[n]).item(), n
mx.savez(f"{folder}/back.npz", **arrays)
mx.save_safetensors(f"{folder}/back.safetensors", arrays, {"k": "v"})
some = {n: arrays[n] for n in ("float32", "float16", "int8", "int16", "int32")}
found, metadata = mx.load(f"{folder}/some.gguf", return_metadata=True)
for n, a in some.items():
    assert found[n].dtype == a.dtype and mx.array_equal(a, found[n]).item(), n
assert metadata["s"] == "text" and metadata["l"] == ["a", "b"], metadata
assert metadata["x"].dtype == mx.int64 and metadata["x"].tolist() == [1, 2], metadata
mx.save_gguf(f"{folder}/back.gguf", some, metadata)
"""


@pytest.mark.skipif(importlib.util.find_spec("mlx") is None, reason="mlx is not installed")
def test_mlx(tmp_path: pathlib.Path) -> None:
    """Files of one are read by the other, in every format and dtype that both have."""
    arrays = {d.name: mx.arange(6).reshape(2, 3).astype(d) for d in DTYPES
              if d not in (mx.bool_, mx.float64)}
    for n, a in arrays.items():
        mx.save(tmp_path / n, a)
    mx.savez(tmp_path / "all", **arrays)
    mx.save_safetensors(tmp_path / "all", arrays)
    some = {n: arrays[n] for n in ("float32", "float16", "int8", "int16", "int32")}
    mx.save_gguf(tmp_path / "some", some, {
        "s": "text", "l": ["a", "b"], "x": mx.array([1, 2], mx.int64)})
    done = subprocess.run([sys.executable, "-c", _PEER, str(tmp_path), " ".join(arrays)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for n, a in arrays.items():
        same(mx.load(tmp_path / f"back-{n}.npy"), a.T)
    for kind in ("npz", "safetensors"):
        found = mx.load(tmp_path / f"back.{kind}")
        for n, a in arrays.items():
            same(found[n], a)
    found, metadata = mx.load(tmp_path / "back.gguf", return_metadata=True)
    for n, a in some.items():
        same(found[n], a)
    assert (metadata["s"], metadata["l"], metadata["x"].tolist()) == ("text", ["a", "b"], [1, 2])


# ---- mapping ------------------------------------------------------------------------------------


def test_large_files_are_mapped(tmp_path: pathlib.Path) -> None:
    a = mx.arange(LARGE * 4).astype(mx.float32)
    mx.save_safetensors(tmp_path / "a", {"a": a, "b": a.astype(mx.int8)})
    mx.save(tmp_path / "a.npy", a)
    mx.save_gguf(tmp_path / "a", {"a": a})
    before = mx.get_active_memory()
    descriptors = len(os.listdir("/proc/self/fd"))
    found = mx.load(tmp_path / "a.safetensors")
    others = mx.load(tmp_path / "a.npy"), mx.load(tmp_path / "a.gguf")["a"]
    assert mx.get_active_memory() == before
    assert len(os.listdir("/proc/self/fd")) == descriptors
    same(found["a"], a)
    same(others[0], a)
    same(others[1], a)
    assert mx.array_equal(found["a"] + 1, a + 1).item()
    assert mappings("a.safetensors") == 1
    b = found["b"]
    del found, others
    gc.collect()
    assert mappings("a.npy") == mappings("a.gguf") == 0
    assert b[5].item() == 5
    del b
    gc.collect()
    assert mappings("a.safetensors") == 0


def mappings(name: str) -> int:
    with open("/proc/self/maps") as f:
        return sum(line.rstrip().endswith("/" + name) for line in f)


def test_a_file_may_be_saved_over_while_it_is_mapped(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "w.safetensors"
    a = mx.arange(LARGE * 2)
    mx.save_safetensors(path, {"a": a})
    old = mx.load(path)
    mx.save_safetensors(path, {"a": old["a"] + 1})
    same(old["a"], a)
    same(mx.load(path)["a"], a + 1)


def test_unaligned_arrays_are_copied(tmp_path: pathlib.Path) -> None:
    for pad in range(8):
        header = json.dumps({"a": {"dtype": "F64", "shape": [LARGE], "data_offsets": [
            0, 8 * LARGE]}}).encode() + b" " * pad
        data = np.arange(LARGE, dtype=np.float64)
        (tmp_path / "a.safetensors").write_bytes(
            struct.pack("<Q", len(header)) + header + data.tobytes())
        a = mx.load(tmp_path / "a.safetensors")["a"]
        assert numpy_view(a, "test").ctypes.data % 8 == 0
        np.testing.assert_array_equal(np.array(a), data)
        assert (a + a)[-1].item() == 2 * (LARGE - 1)


# ---- writing ------------------------------------------------------------------------------------


class Refuses(io.RawIOBase):
    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raise OSError(28, "No space left on device")


class Sips(io.RawIOBase):
    """Takes seven bytes at a time."""

    def __init__(self) -> None:
        self.data = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += bytes(data[:7])
        return min(len(data), 7)


def test_short_writes() -> None:
    a = mx.arange(50)
    for kind, save in (("npy", lambda f: mx.save(f, a)), ("npz", lambda f: mx.savez(f, a)),
                       ("safetensors", lambda f: mx.save_safetensors(f, {"a": a})),
                       ("gguf", lambda f: mx.save_gguf(f, {"a": a}))):
        file = Sips()
        save(file)
        found = mx.load(io.BytesIO(file.data), kind)
        same(found if kind == "npy" else next(iter(found.values())), a)
        with pytest.raises(OSError, match="No space"):
            save(Refuses())


def test_a_failed_save_leaves_the_former_file(tmp_path: pathlib.Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npy"
    mx.save(path, mx.array([1, 2]))

    def fail(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eutectic.files.target.Target.write_array", fail)
    with pytest.raises(FileError, match=r"\[save\] No space"):
        mx.save(path, mx.array([3, 4]))
    with pytest.raises(RuntimeError, match=r"\[save_safetensors\] No space"):
        mx.save_safetensors(tmp_path / "s", {"a": mx.array([3, 4])})
    assert os.listdir(tmp_path) == ["a.npy"]
    assert mx.load(path).tolist() == [1, 2]


def test_modes_and_links(tmp_path: pathlib.Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    mx.save(tmp_path / "a.npy", mx.array(1))
    assert (tmp_path / "a.npy").stat().st_mode == plain.stat().st_mode
    os.chmod(tmp_path / "a.npy", 0o640)
    os.symlink("a.npy", tmp_path / "link.npy")
    mx.save(tmp_path / "link.npy", mx.array(2))
    assert (tmp_path / "link.npy").is_symlink()
    assert mx.load(tmp_path / "a.npy").item() == 2
    assert stat.S_IMODE((tmp_path / "a.npy").stat().st_mode) == 0o640


def test_the_same_arrays_give_the_same_bytes() -> None:
    arrays = {"a": mx.arange(3), "b": mx.ones((2, 2))}
    for save in (lambda f: mx.savez(f, **arrays), lambda f: mx.savez_compressed(f, **arrays),
                 lambda f: mx.save_safetensors(f, arrays), lambda f: mx.save_gguf(f, arrays)):
        files = io.BytesIO(), io.BytesIO()
        for f in files:
            save(f)
        assert files[0].getvalue() == files[1].getvalue()


# ---- errors -------------------------------------------------------------------------------------


def test_errors_of_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"\[load\] No such file.*nope\.npy"):
        mx.load(tmp_path / "nope.npy")
    with pytest.raises(RuntimeError, match=r"\[load\] No such file"):
        mx.load(tmp_path / "nope.npy")
    with pytest.raises(OSError, match=r"\[load\] Is a directory"):
        mx.load(tmp_path, format="npy")
    with pytest.raises(MissingFileError, match=r"\[save\] No such file"):
        mx.save(tmp_path / "no" / "a", mx.array(1))
    with pytest.raises(ValueError, match=r"\[load\] 'zip' is not a format.*npy, npz, safetensors"):
        mx.load("a.npy", "zip")
    with pytest.raises(ValueError, match=r"\[load\] 'txt' is not a format"):
        mx.load("a.txt")
    for file in (3, None, io.StringIO()):
        with pytest.raises(ValueError, match=r"binary mode"):
            mx.load(file, "npy")
        with pytest.raises(ValueError, match=r"binary mode"):
            mx.save(file, mx.array(1))


def test_errors_of_arguments(tmp_path: pathlib.Path) -> None:
    a, path = mx.array([1.0]), str(tmp_path / "x")
    for value in (1, [1], np.ones(2)):
        for call in (lambda v: mx.save(path, v), lambda v: mx.savez(path, v),
                     lambda v: mx.savez_compressed(path, x=v),
                     lambda v: mx.save_safetensors(path, {"x": v}),
                     lambda v: mx.save_gguf(path, {"x": v})):
            with pytest.raises(TypeError, match=r"must be an array, not a"):
                call(value)
    for bad in ([a], None, a):
        with pytest.raises(TypeError, match=r"must be a dict"):
            mx.save_safetensors(path, bad)
    with pytest.raises(TypeError, match="names are strings, not a int"):
        mx.save_safetensors(path, {1: a})
    with pytest.raises(ValueError, match="'__metadata__' is the format's own"):
        mx.save_safetensors(path, {"__metadata__": a})
    for metadata in ({"a": 1}, {1: "a"}, "a", [("a", "b")]):
        with pytest.raises(ValueError, match="metadata must be a dict of strings"):
            mx.save_safetensors(path, {"a": a}, metadata)
    for name in ("\ud800", "a\udfff"):
        with pytest.raises(ValueError, match="no UTF-8 form"):
            mx.save_safetensors(path, {name: a})
        with pytest.raises(ValueError, match="no UTF-8 form"):
            mx.save_gguf(path, {name: a})
    with pytest.raises(ValueError, match="arr_0 stands for argument 0"):
        mx.savez(path, a, arr_0=a)
    for value, what in ((1, "not a int"), ([1], "not a list"), (mx.array([[1]]), "2 axes"),
                        (mx.array(1j), "complex64")):
        with pytest.raises(ValueError if isinstance(value, mx.array) else TypeError, match=what):
            mx.save_gguf(path, {"a": a}, {"k": value})
    with pytest.raises(ValueError, match="9 axes"):
        mx.save_gguf(path, {"a": mx.ones((1,) * 9)})
    with pytest.raises(ValueError, match=r"general\.alignment"):
        mx.save_gguf(path, {"a": a}, {"general.alignment": mx.array(24, mx.uint32)})
    assert os.listdir(tmp_path) == []


def test_placeholders_cannot_be_saved() -> None:
    with pytest.raises(ValueError, match=r"\[save\] mx\.save\(\) needs the value"):
        mx.compile(lambda x: mx.save(io.BytesIO(), x))(mx.array([1]))
