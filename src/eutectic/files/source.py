"""The bytes of a file, mapped or read, and arrays that lie in them.

A header is believed only as far as the file's size bears it out: every offset and size is checked
before anything is made of it, and nothing is allocated for what the file does not hold.

Large files are mapped: pages are read when they are touched, and arrays share the page cache's
memory. A mapping is private: writing to it (a consumer of DLPack could) changes no file.
"""

from __future__ import annotations

import ctypes
import functools
import io
import mmap
import os
import stat
from collections.abc import Iterable
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, bool_
from eutectic.errors import ArgumentError, FileError, FormatError, MissingFileError
from eutectic.graph.ir import INPUT, Node
from eutectic.graph.layout import Data, row_major
from eutectic.runtime import buffers

READ_BYTES = 1 << 20
"""Files up to this size are read, not mapped: reading costs no more, and truncating the file later
does no harm."""
MOST_AXES = 32
"""NumPy before version 2 has no more axes."""

_MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # in the module from Python 3.11


class Source:
    """The bytes of a file from `start` on; its name, and the reading function's, for errors."""

    __slots__ = ("data", "name", "op", "view")

    def __init__(self, data: np.ndarray, name: str, op: str = "load") -> None:
        self.data = data
        self.op = op
        self.view = memoryview(data)  # type: ignore[arg-type]
        self.name = name

    @property
    def size(self) -> int:
        return self.data.size

    def error(self, fault: str) -> FormatError:
        """The error that names the file and what is wrong with it."""
        return FormatError(f"[{self.op}] {self.name}: {fault}")

    def array(self, offset: int, shape: tuple[int, ...], dtype: Dtype, what: str,
              column_major: bool = False) -> array:
        """The array that lies at `offset`; shares memory where the address suits the dtype."""
        nbytes = self.check(offset, shape, dtype, what)
        node = Node(INPUT, (), (), shape, dtype)
        strides = row_major(shape[::-1])[::-1] if column_major else None
        if not nbytes:
            node.data = Data(buffers.alloc(1))
            return wrap(node)
        part = self.data[offset:offset + nbytes]
        if dtype is bool_ and part.max() > 1:
            raise self.error(f"{what} holds a byte that is neither true (1) nor false (0).")
        start = part.ctypes.data
        if start % dtype.size:
            own = buffers.alloc(nbytes)
            ctypes.memmove(own.ptr, start, nbytes)
            node.data = Data(own, 0, strides)
        else:
            held = buffers.wrap(self.data, start, nbytes, readonly=True)
            node.data = Data(held, 0, strides)
        return wrap(node)

    def check(self, offset: int, shape: tuple[int, ...], dtype: Dtype, what: str) -> int:
        """The bytes of an array, once they are known to lie within the file."""
        if len(shape) > MOST_AXES:
            raise self.error(f"{what} has {len(shape)} axes; at most {MOST_AXES} can be read.")
        nbytes = dtype.size
        for d in shape:
            if d < 0:
                raise self.error(f"{what} has an axis of length {d}.")
            nbytes *= d or 1
        if nbytes >= 1 << 63:  # NumPy's limit, for empty arrays as well
            raise self.error(f"{what} has axes that are too long.")
        if 0 in shape:
            nbytes = 0
        if offset < 0 or offset + nbytes > self.size:
            raise self.error(f"{what} needs the bytes {offset} to {offset + nbytes}, the file has "
                             f"{self.size}; it may be cut short.")
        return nbytes


def check_apart(source: Source, spans: Iterable[tuple[int, int, str]]) -> None:
    """Raise where two arrays (first byte, end, name) share bytes."""
    end, before = 0, ""
    for start, stop, what in sorted(spans):
        if start == stop:
            continue
        if start < end:
            raise source.error(f"{before} and {what} overlap.")
        end, before = stop, what


def file_name(file: Any) -> str | None:
    """The path of a file given as a string or path object; None for file objects."""
    if isinstance(file, (str, bytes, os.PathLike)):
        return os.fsdecode(file)
    return None


def open_source(file: Any, op: str = "load") -> Source:
    """The bytes of a file given by its path, or of an open binary file from its position on.

    Raises MissingFileError or FileError where it cannot be read, ArgumentError for other objects.
    """
    path = file_name(file)
    if path is not None:
        try:
            with open(path, "rb") as opened:
                return Source(_bytes_of(opened, op), path, op)
        except FileNotFoundError as e:
            raise MissingFileError(e.errno, f"[{op}] {e.strerror}", path) from None
        except OSError as e:
            raise FileError(e.errno, f"[{op}] {e.strerror}", path) from e
    if isinstance(file, io.TextIOBase) or not hasattr(file, "read"):
        raise ArgumentError(f"[{op}] the file must be a path or a file opened in binary mode, not "
                            f"a {type(file).__name__}.")
    name = getattr(file, "name", None)
    name = name if isinstance(name, str) else f"<{type(file).__name__}>"
    return Source(_bytes_of(file, op), name, op)


def _bytes_of(file: Any, op: str) -> np.ndarray:
    if type(file) in (io.BufferedReader, io.FileIO):
        status = os.fstat(file.fileno())
        start = file.tell() if stat.S_ISREG(status.st_mode) else 0
        if stat.S_ISREG(status.st_mode) and status.st_size - start > READ_BYTES:
            file.seek(0, os.SEEK_END)
            return _mapped(file.fileno(), status.st_size)[start:]
    data = file.read()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ArgumentError(f"[{op}] reading the file gave a {type(data).__name__}, not bytes.")
    return np.frombuffer(data, np.uint8)


class _Mapping:
    """Pages of a file. Python's own `mmap` would keep a descriptor open for each file."""

    __slots__ = ("address", "size")

    def __init__(self, descriptor: int, size: int) -> None:
        self.address = self.size = 0
        address = _libc().mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE,
                               mmap.MAP_PRIVATE | _MAP_NORESERVE, descriptor, 0)
        if address is None or address == ctypes.c_void_p(-1).value:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self.address, self.size = address, size

    def __del__(self) -> None:
        if self.size:
            _libc().munmap(self.address, self.size)


def _mapped(descriptor: int, size: int) -> np.ndarray:
    mapping = _Mapping(descriptor, size)
    memory: Any = (ctypes.c_char * size).from_address(mapping.address)
    memory.mapping = mapping
    return np.frombuffer(memory, np.uint8)


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return libc
