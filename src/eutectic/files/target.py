"""Writing files: all of a file appears at once, under its name, or nothing does."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any

import numpy as np

from eutectic.array import array, numpy_view
from eutectic.errors import ArgumentError, ArgumentTypeError, FileError, MissingFileError
from eutectic.files.source import file_name


class Target:
    """An open file that takes bytes."""

    __slots__ = ("_file", "position")

    def __init__(self, file: Any) -> None:
        self._file = file
        self.position = 0
        """Bytes written so far."""

    def write(self, data: bytes | memoryview) -> None:
        """Write all of `data`, in several steps where the file takes less at a time."""
        left = memoryview(data)
        self.position += len(left)
        while len(left):
            taken = self._file.write(left)
            if taken is None or taken >= len(left):
                break
            left = left[taken:]

    def write_array(self, view: np.ndarray) -> None:
        """Write the elements in row-major order; a copy is made only where they lie otherwise."""
        if view.size:
            flat = np.ascontiguousarray(view).reshape(-1).view(np.uint8)
            self.write(memoryview(flat))  # type: ignore[arg-type]

    def pad_to(self, alignment: int) -> None:
        """Write zeros until the position is a multiple of `alignment`."""
        self.write(bytes(-self.position % alignment))


@contextlib.contextmanager
def writing(file: Any, name: str, extension: str) -> Iterator[Target]:
    """A target for a path, which gets the extension where it has another, or for an open file.

    A path's file is written beside it and renamed when it is complete: readers, arrays mapped from
    the former file among them, never see a part.

    Raises MissingFileError or FileError where it cannot be written, ArgumentError for a file that
    is not open for bytes.
    """
    path = file_name(file)
    if path is None:
        if isinstance(file, io.TextIOBase) or not hasattr(file, "write"):
            raise ArgumentError(f"[{name}] the file must be a path or a file opened in binary "
                                f"mode, not a {type(file).__name__}.")
        yield Target(file)
        return
    if not path.endswith(extension):
        path += extension
    try:
        with _replacing(os.path.realpath(path)) as opened:
            yield Target(opened)
    except FileNotFoundError as e:
        raise MissingFileError(e.errno, f"[{name}] {e.strerror}", path) from None
    except OSError as e:
        if isinstance(e, FileError):
            raise
        raise FileError(e.errno, f"[{name}] {e.strerror}", path) from e


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[Any]:
    mode = None
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(path).st_mode
    if mode is not None and not stat.S_ISREG(mode):  # a pipe or device: nothing to replace
        with open(path, "wb") as opened:
            yield opened
        return
    folder, base = os.path.split(path)
    temporary = os.path.join(folder, f".{base[:100]}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            if mode is not None:
                os.fchmod(descriptor, stat.S_IMODE(mode))
            yield opened
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def value_of(a: Any, name: str, what: str = "the value") -> np.ndarray:
    """The elements of an array that is to be written (bfloat16 as uint16)."""
    if not isinstance(a, array):
        raise ArgumentTypeError(f"[{name}] {what} must be an array, not a {type(a).__name__}; "
                                "convert it by mx.array(...).")
    return numpy_view(a, name)


def named_arrays(arrays: Any, name: str) -> list[tuple[str, array, np.ndarray]]:
    """The entries of a dict from names to arrays, with their elements."""
    if not isinstance(arrays, dict):
        raise ArgumentTypeError(f"[{name}] the arrays must be a dict from names to arrays, not a "
                                f"{type(arrays).__name__}.")
    for key in arrays:
        if not isinstance(key, str):
            raise ArgumentTypeError(f"[{name}] names are strings, not a {type(key).__name__}.")
    return [(k, a, value_of(a, name, f"the value of {k!r}")) for k, a in arrays.items()]
