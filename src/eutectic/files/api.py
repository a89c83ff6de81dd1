"""`load` and the functions that save."""

from __future__ import annotations

from typing import Any

from eutectic.array import array
from eutectic.errors import ArgumentError, FormatError
from eutectic.files.gguf import read_gguf, write_gguf
from eutectic.files.npy import read_npy, read_npz, write_npy, write_npz
from eutectic.files.safetensors import read_safetensors, write_safetensors
from eutectic.files.source import file_name, open_source
from eutectic.files.target import value_of, writing
from eutectic.ops.devices import streamed

_FORMATS = ("npy", "npz", "safetensors", "gguf")


@streamed
def load(file: Any, /, format: str | None = None, return_metadata: bool = False, *,
         stream: Any = None) -> Any:
    """Read the arrays of a .npy, .npz, .safetensors or .gguf file.

    `file` is a path or a file opened in binary mode; without a `format` the extension names it.
    A .npy file gives an array, the others a dict from names to arrays, and with `return_metadata`
    (.safetensors and .gguf) a pair of that dict and the metadata. Arrays of large .npy,
    .safetensors and .gguf files lie in the mapped file, whose pages are read when they are needed:
    replace such a file rather than changing it in place. Nothing in a file is ever executed.

    Raises MissingFileError or FileError where the file cannot be read, FormatError for a damaged
    file or an unknown format, DtypeError for quantized types.

    >>> import eutectic.core as mx
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npy")
    >>> mx.save(path, mx.array([1, 2]))
    >>> mx.load(path)
    array([1, 2], dtype=int32)
    """
    kind = _format(file) if format is None else format
    if kind not in _FORMATS:
        raise FormatError(f"[load] {kind!r} is not a format that can be read; formats are "
                          f"{', '.join(_FORMATS)}.")
    if return_metadata and kind in ("npy", "npz"):
        raise ArgumentError(f"[load] the format {kind} has no metadata.")
    start = _position(file)
    source = open_source(file)
    found: Any
    if kind == "npy":
        found, end = read_npy(source)
        if start is not None:  # several arrays may stand in one file
            file.seek(start + end)
        return found
    if kind == "npz":
        return read_npz(source)
    arrays, metadata = (read_safetensors if kind == "safetensors" else read_gguf)(source)
    return (arrays, metadata) if return_metadata else arrays


def _format(file: Any) -> str:
    name = file_name(file)
    if name is None:
        name = getattr(file, "name", None)
    _, dot, extension = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    if not dot or "/" in extension:
        raise ArgumentError("[load] the format cannot be told from the file's name; give one as "
                            f"format={_FORMATS[0]!r} or {', '.join(map(repr, _FORMATS[1:]))}.")
    return extension


def _position(file: Any) -> int | None:
    """Where an open file that can seek stands."""
    if file_name(file) is None and hasattr(file, "seekable") and file.seekable():
        return file.tell()
    return None


def save(file: Any, arr: array) -> None:
    """Write an array to a .npy file; a path without that extension gets it.

    Raises ArgumentTypeError for what is no array, FileError where the file cannot be written.

    >>> import eutectic.core as mx
    >>> import io
    >>> file = io.BytesIO()
    >>> mx.save(file, mx.array([1.5, 2]))
    >>> np.load(io.BytesIO(file.getvalue()))
    array([1.5, 2. ], dtype=float32)
    """
    value_of(arr, "save")
    with writing(file, "save", ".npy") as target:
        write_npy(target, arr, "save")


def savez(file: Any, *args: Any, **kwargs: Any) -> None:
    """Write several arrays to a .npz file, by keyword or as arr_0, arr_1 and on.

    Raises ArgumentError where a keyword is such a name too, ArgumentTypeError for what is no
    array, FileError where the file cannot be written.

    >>> import eutectic.core as mx
    >>> import io
    >>> file = io.BytesIO()
    >>> mx.savez(file, mx.array([1]), b=mx.array([2, 3]))
    >>> sorted(mx.load(io.BytesIO(file.getvalue()), "npz"))
    ['arr_0', 'b']
    """
    write_npz(file, "savez", args, kwargs, compressed=False)


def savez_compressed(file: Any, *args: Any, **kwargs: Any) -> None:
    """Write several arrays to a compressed .npz file; see `savez`.

    >>> import eutectic.core as mx
    >>> import io
    >>> file = io.BytesIO()
    >>> mx.savez_compressed(file, zeros=mx.zeros(100000))
    >>> len(file.getvalue()) < 1000
    True
    """
    write_npz(file, "savez_compressed", args, kwargs, compressed=True)


def save_safetensors(file: Any, arrays: dict[str, array],
                     metadata: dict[str, str] | None = None) -> None:
    """Write named arrays to a .safetensors file; a path without that extension gets it.

    Raises ArgumentTypeError for what is no array, ArgumentError for metadata other than strings,
    FileError where the file cannot be written.

    >>> import eutectic.core as mx
    >>> import io
    >>> file = io.BytesIO()
    >>> mx.save_safetensors(file, {"w": mx.ones(2)}, {"by": "me"})
    >>> mx.load(io.BytesIO(file.getvalue()), "safetensors", return_metadata=True)
    ({'w': array([1, 1], dtype=float32)}, {'by': 'me'})
    """
    write_safetensors(file, arrays, metadata, "save_safetensors")


def save_gguf(file: Any, arrays: dict[str, array],
              metadata: dict[str, array | str | list[str]] | None = None) -> None:
    """Write named arrays to a .gguf file; a path without that extension gets it.

    Arrays are of float32, float16, bfloat16, float64 or a signed integer type. Metadata values
    are strings, lists of strings, and arrays of no or one axis.

    Raises DtypeError for other dtypes, ArgumentTypeError for other values, FileError where the
    file cannot be written.

    >>> import eutectic.core as mx
    >>> import io
    >>> file = io.BytesIO()
    >>> mx.save_gguf(file, {"w": mx.ones(2)}, {"general.name": "small"})
    >>> mx.load(io.BytesIO(file.getvalue()), "gguf", return_metadata=True)
    ({'w': array([1, 1], dtype=float32)}, {'general.name': 'small'})
    """
    write_gguf(file, arrays, metadata, "save_gguf")


