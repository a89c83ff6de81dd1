"""Damaged and hostile files: the error names the file and what is wrong with it."""

from __future__ import annotations

import io
import pathlib
import pickle
import struct
import zipfile
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.errors import FormatError

from file_bytes import ONE, archive, entry, gguf, npy, patched, safetensors, tensor, text


class Bomb:
    def __reduce__(self) -> Any:
        return exec, ("raise RuntimeError('executed')",)


def test_pickles_are_not_loaded(tmp_path: pathlib.Path) -> None:
    np.save(tmp_path / "o.npy", np.array([Bomb()], object), allow_pickle=True)
    with pytest.raises(FormatError, match="Python objects, which are never read"):
        mx.load(tmp_path / "o.npy")
    with zipfile.ZipFile(tmp_path / "o.npz", "w") as z:
        z.write(tmp_path / "o.npy", "x.npy")
        z.writestr("y.npy", pickle.dumps(Bomb()))
    with pytest.raises(FormatError, match="Python objects, which are never read"):
        mx.load(tmp_path / "o.npz")


@pytest.mark.parametrize(("data", "fault"), [
    (b"", "not a header of .npy"),
    (b"\x93NUMPY\x01\x00", "not a header of .npy"),
    (b"\x93NUMPX\x01\x00\x00\x00", "not a header of .npy"),
    (npy(b"{}", version=b"\4\0"), "not a header of .npy"),
    (npy(b"x" * 20000), "not a header of .npy"),
    (npy(b"(" * 9000), "not a header of .npy"),
    (npy(b"__import__('os').abort()"), "not a header of .npy"),
    (npy(b"{'descr': '<f4', 'fortran_order': False}\n"), "not a header of .npy"),
    (npy(b"{'descr': '<f4', 'fortran_order': 3, 'shape': ()}\n"), "not a header of .npy"),
    (npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}\n", b"1234"),
     r"the array needs the bytes \d+ to \d+, the file has \d+; it may be cut short"),
    (npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999)}\n", b"1"),
     "too long"),
    (npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9999999999, 9999999999)}\n"),
     "too long"),
    (npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}\n", b"1234"),
     "axis of length -1"),
    (npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (True,)}\n", b"1234"), "shape"),
    (npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"1," * 99 + b")}\n", b"1234"),
     "99 axes"),
    (npy(b"{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}\n", b"1234"), "'<U1'"),
    (npy(b"{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}\n", b"1234" * 4), "'<c16'"),
    (npy(b"{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,)}\n", b"1234"), "type"),
    (npy(b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}\n", b"1234"), "type"),
    (npy(b"{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}\n", b"\0\1\2"), "neither true"),
], ids=str)
def test_damaged_npy(data: bytes, fault: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.npy").write_bytes(data)
    with pytest.raises(FormatError, match=rf"\[load\] .*x\.npy: .*{fault}"):
        mx.load(tmp_path / "x.npy")


@pytest.mark.parametrize(("data", "fault"), [
    (b"", "not a .npz archive"),
    (b"PK\3\4", "not a .npz archive"),
    (archive(("x.npy", ONE))[:-10], "not a .npz archive"),
    (archive(("x.npy", ONE), ("x", ONE)), "two members are named 'x'"),
    (archive(("x.npy", ONE), method=zipfile.ZIP_LZMA), "a method that .npz does not use"),
    (archive(("x.txt", b"text")), "not a header of .npy"),
    (patched(archive(("x.npy", ONE)), b"PK\1\2", 24, b"\xff\xff\xff\x7f"), "claims 2147483647"),
    (patched(archive(("x.npy", ONE)), b"PK\1\2", 20, b"\xff\xff\xff\x7f"),
     "more bytes than it has"),
    (patched(archive(("x.npy", ONE)), b"PK\1\2", 16, b"\1\2\3\4"), "not a .npz archive"),
    (patched(archive(("x.npy", ONE)), b"PK\1\2", 8, b"\1"), "not a .npz archive"),
], ids=range(10))
def test_damaged_npz(data: bytes, fault: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(FormatError, match=rf"\[load\] .*x\.npz: .*{fault}"):
        mx.load(tmp_path / "x.npz")


@pytest.mark.parametrize(("data", "fault"), [
    (b"", "its 0 bytes hold no header"),
    (b"1234567", "its 7 bytes hold no header"),
    (struct.pack("<Q", 1 << 62) + b"{}", "the format allows 100000000"),
    (struct.pack("<Q", 3) + b"{}", "may be cut short"),
    (safetensors(b"{"), "its header is not JSON"),
    (safetensors(b"\xff\xfe{}"), "its header is not JSON"),
    (safetensors(b'{"a":NaN}'), "NaN, which is not JSON"),
    (safetensors(b"[" * 100000), "its header is not JSON"),
    (safetensors(b'{"a":' + b"1" * 5000 + b"}"), "its header is not JSON"),
    (safetensors([]), "not a JSON object"),
    (safetensors(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
                 b'"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}'), "names 'a' twice"),
    (safetensors(b'{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}'),
     "names 'dtype' twice"),
    (safetensors({"__metadata__": {"a": 1}}), "not an object of strings"),
    (safetensors({"__metadata__": ["a"]}), "not an object of strings"),
    (safetensors({"a": 1}), "lacks one of the fields"),
    (safetensors({"a": {"dtype": "U8"}}), "lacks one of the fields"),
    (safetensors({"a": entry("X8")}), "the unknown type 'X8'"),
    (safetensors({"a": entry(["U8"])}), "the unknown type"),
    (safetensors({"a": entry(shape=2)}), "a shape that is not a list"),
    (safetensors({"a": entry(shape=[2.0])}), "a shape that is not a list of integers"),
    (safetensors({"a": entry(shape=[True])}), "a shape that is not a list of integers"),
    (safetensors({"a": entry(shape=[-2])}), "axis of length -2"),
    (safetensors({"a": entry(shape=[1 << 40] * 3, offsets=[0, 1 << 120])}), "too long"),
    (safetensors({"a": entry(shape=[1] * 99)}), "99 axes"),
    (safetensors({"a": entry(offsets=[0])}), "not two integers"),
    (safetensors({"a": entry(offsets=[-1, 1])}), "not two integers"),
    (safetensors({"a": entry(offsets=[0, 3])}), "2 bytes has the offsets 0 to 3"),
    (safetensors({"a": entry(offsets=[2, 0])}), "2 bytes has the offsets 2 to 0"),
    (safetensors({"a": entry(offsets=[7, 9])}), "may be cut short"),
    (safetensors({"a": entry(), "b": entry(offsets=[1, 3])}), "'a' and tensor 'b' overlap"),
    (safetensors({"a": entry("BOOL")}), "neither true"),
], ids=range(31))
def test_damaged_safetensors(data: bytes, fault: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.safetensors").write_bytes(data)
    with pytest.raises(FormatError, match=rf"\[load\] .*x\.safetensors: .*{fault}"):
        mx.load(tmp_path / "x.safetensors")


def test_safetensors_of_small_floats() -> None:
    found = mx.load(io.BytesIO(safetensors({"a": entry("F8_E4M3")})), "safetensors")
    assert found["a"].tolist() == [49, 50]
    with pytest.raises(TypeError, match="tensor 'a' is of type F4"):
        mx.load(io.BytesIO(safetensors({"a": entry("F4")})), "safetensors")


@pytest.mark.parametrize(("data", "fault"), [
    (b"", "does not start with GGUF"),
    (b"GGUF", "ends within its header"),
    (gguf(version=1), "version 1 of GGUF"),
    (gguf(version=3 << 24), "big-endian"),
    (gguf(m=1 << 60), "ends within|not UTF-8|unknown type"),
    (gguf(n=1 << 60), "ends within|twice"),
    (gguf(metadata=struct.pack("<Q", 1 << 60), m=1), "ends within the key"),
    (gguf(metadata=struct.pack("<Q", 1) + b"\xff", m=1), "is not UTF-8"),
    (gguf(metadata=text("k") + struct.pack("<I", 99), m=1), "the unknown type 99"),
    (gguf(metadata=text("k") + struct.pack("<IIQ", 9, 5, 1 << 60), m=1), "ends within metadata"),
    (gguf(metadata=text("k") + struct.pack("<IIQ", 9, 8, 1 << 60), m=1), "ends within metadata"),
    (gguf(metadata=text("k") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 40, m=1),
     "nests more than"),
    (gguf(metadata=(text("k") + struct.pack("<IB", 7, 1)) * 2, m=2), "names 'k' twice"),
    (gguf(metadata=text("k") + struct.pack("<IB", 7, 2), m=1), "neither true"),
    (gguf(metadata=text("general.alignment") + struct.pack("<II", 4, 0), m=1), "power of two"),
    (gguf(metadata=text("general.alignment") + struct.pack("<II", 4, 1 << 31), m=1),
     "power of two"),
    (gguf(metadata=text("general.alignment") + struct.pack("<I", 8) + text("x"), m=1),
     "power of two"),
    (gguf(tensor("a", 0, (1,)) * 2, 2, data=bytes(4)), "two tensors are named 'a'"),
    (gguf(tensor("a", 5, (1,)), 1, data=bytes(4)), "the unknown type 5"),
    (gguf(tensor("a", 0, (1,) * 60), 1, data=bytes(4)), "60 axes"),
    (gguf(tensor("a", 0, (1 << 62, 1 << 62)), 1, data=bytes(4)), "too long"),
    (gguf(tensor("a", 0, (1,), 1 << 63), 1, data=bytes(4)), "may be cut short"),
    (gguf(tensor("a", 0, (2,)), 1, data=bytes(4)), "may be cut short"),
    (gguf(tensor("a", 0, (1,)) + tensor("b", 0, (1,)), 2, data=bytes(4)), "overlap"),
], ids=range(24))
def test_damaged_gguf(data: bytes, fault: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.gguf").write_bytes(data)
    with pytest.raises(FormatError, match=rf"\[load\] .*x\.gguf: .*({fault})"):
        mx.load(tmp_path / "x.gguf")
