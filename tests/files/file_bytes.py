"""Bytes of small files of each format, for tests that damage them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import Any


def npy(header: bytes, data: bytes = b"", version: bytes = b"\1\0") -> bytes:
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header + data


ONE = npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n", b"1234")


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as z:
        for name, data in members:
            z.writestr(name, data)
    return file.getvalue()


def patched(data: bytes, at: bytes, shift: int, value: bytes) -> bytes:
    i = data.rindex(at) + shift
    return data[:i] + value + data[i + len(value):]


def safetensors(header: Any, data: bytes = b"12345678") -> bytes:
    h = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(h)) + h + data


def entry(dtype: Any = "U8", shape: Any = (2,), offsets: Any = (0, 2)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def gguf(tensors: bytes = b"", n: int = 0, metadata: bytes = b"", m: int = 0,
         data: bytes = b"", version: int = 3) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, n, m) + metadata + tensors
    return head + bytes(-len(head) % 32) + data


def text(s: str) -> bytes:
    return struct.pack("<Q", len(s.encode())) + s.encode()


def tensor(name: str, kind: int, dims: tuple[int, ...], offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)
