"""NumPy's .npy and .npz. Pickled objects are neither read nor written.

bfloat16, which NumPy lacks, is stored as MLX does: two bytes of type V2.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib import format as numpy_format

from eutectic.array import array, build, wrap
from eutectic.dtype import Dtype, bfloat16, from_numpy
from eutectic.errors import ArgumentError, FormatError
from eutectic.files.source import Source
from eutectic.files.target import Target, value_of, writing

_MAGIC_BYTES = 12
_MOST_HEADER_BYTES = 10_000
_DEFLATE_RATIO = 1032
"""No deflated byte stands for more: what claims to be longer is not what it says."""


# ---- .npy ---------------------------------------------------------------------------------------


def read_npy(source: Source, what: str = "the array") -> tuple[array, int]:
    """The array of a .npy file, and the bytes it takes."""
    head = io.BytesIO(bytes(source.view[:_MAGIC_BYTES + _MOST_HEADER_BYTES]))
    try:
        version = numpy_format.read_magic(head)
        if version == (1, 0):
            shape, column_major, kind = numpy_format.read_array_header_1_0(
                head, _MOST_HEADER_BYTES)
        elif version == (2, 0):
            shape, column_major, kind = numpy_format.read_array_header_2_0(
                head, _MOST_HEADER_BYTES)
        else:
            raise ValueError(f"version {version[0]}.{version[1]} of the format cannot be read")
    except Exception as e:  # the parser raises many kinds on damaged headers
        fault = " ".join(str(e).split())[:200]
        raise source.error(f"not a header of .npy: {fault or type(e).__name__}.") from e
    dtype = _dtype_of(source, kind, what)
    if not all(type(d) is int for d in shape):
        raise source.error(f"{what} has the shape {shape}.")
    found = source.array(head.tell(), shape, dtype, what, column_major)
    end = head.tell() + dtype.size * found.size
    if not kind.isnative:
        swapped = np.array(found).view(kind).reshape(shape)
        found = wrap(build(swapped, dtype))
    return found, end


def _dtype_of(source: Source, kind: np.dtype, what: str) -> Dtype:
    if kind.fields is None and kind.subdtype is None and not kind.hasobject:
        if kind.kind == "V" and kind.itemsize == 2:
            return bfloat16
        found = from_numpy(kind)
        if found is not None:
            return found
    if kind.hasobject:
        raise source.error(f"{what} holds Python objects, which are never read.")
    raise source.error(f"{what} is of NumPy's type {kind.str!r}, which has no data type here.")


def write_npy(target: Target, a: Any, name: str) -> None:
    """Write the header and the elements of an array."""
    view = value_of(a, name)
    column_major = view.flags.f_contiguous and not view.flags.c_contiguous
    header = io.BytesIO()
    numpy_format.write_array_header_1_0(header, {
        "shape": view.shape, "fortran_order": column_major,
        "descr": "<V2" if a.dtype is bfloat16 else view.dtype.str})
    target.write(header.getvalue())
    target.write_array(view.T if column_major else view)


# ---- .npz ---------------------------------------------------------------------------------------


def read_npz(source: Source) -> dict[str, array]:
    """The arrays of a .npz file by name."""
    found: dict[str, array] = {}
    try:
        with zipfile.ZipFile(_Window(source)) as archive:  # type: ignore[arg-type]
            members = archive.infolist()
            if sum(m.compress_size for m in members) > source.size:
                raise source.error("its members claim more bytes than it has.")
            for member in members:
                name = member.filename.removesuffix(".npy")
                if name in found:
                    raise source.error(f"two members are named {name!r}.")
                found[name] = _read_member(source, archive, member)
    except FormatError:
        raise
    except Exception as e:  # zipfile and zlib raise many kinds on damaged archives
        raise source.error(f"not a .npz archive: {e or type(e).__name__}.") from e
    return found


def _read_member(source: Source, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> array:
    what = f"member {member.filename!r}"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise source.error(f"{what} is compressed by a method that .npz does not use.")
    ratio = _DEFLATE_RATIO if member.compress_type == zipfile.ZIP_DEFLATED else 1
    if member.file_size > member.compress_size * ratio:
        raise source.error(f"{what} claims {member.file_size} bytes from {member.compress_size}.")
    data = np.empty(member.file_size, np.uint8)
    view = memoryview(data)  # type: ignore[arg-type]
    filled = 0
    with archive.open(member) as opened:  # checks the sum of the bytes
        while filled < member.file_size:
            n = opened.readinto(view[filled:])  # type: ignore[attr-defined]
            if not n:
                raise source.error(f"{what} ends after {filled} of {member.file_size} bytes.")
            filled += n
    return read_npy(Source(data, source.name), what)[0]


class _Window(io.RawIOBase):
    """A file object on the bytes of a source."""

    def __init__(self, source: Source) -> None:
        self._view = source.view
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self._position, len(self._view))[whence]
        if base + offset < 0:
            raise ValueError("an offset before the start of the file")
        self._position = base + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        out = memoryview(buffer).cast("B")
        part = self._view[self._position:self._position + len(out)]
        out[:len(part)] = part
        self._position += len(part)
        return len(part)


def write_npz(file: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any],
              compressed: bool) -> None:
    """Write an archive: positional arrays as arr_0, arr_1 and on, the others by their keywords."""
    named = dict(kwargs)
    for i, a in enumerate(args):
        if f"arr_{i}" in named:
            raise ArgumentError(f"[{name}] the name arr_{i} stands for argument {i} and is a "
                                "keyword too.")
        named[f"arr_{i}"] = a
    for key, a in named.items():
        value_of(a, name, f"the value of {key!r}")
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with writing(file, name, ".npz") as target, zipfile.ZipFile(
            _Sink(target), "w", method) as archive:  # type: ignore[arg-type]
        for key, a in named.items():
            member = zipfile.ZipInfo(key + ".npy")  # of 1980: the same arrays give the same bytes
            member.compress_type = method
            member.external_attr = 0o600 << 16
            with archive.open(member, "w", force_zip64=True) as opened:
                write_npy(Target(opened), a, name)


class _Sink(io.RawIOBase):
    """A file object that writes to a target."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._target.write(view)
        return len(view)
