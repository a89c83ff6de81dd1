"""Files of exported functions in memory, and files whose text is changed and signed anew."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

import eutectic.core as mx
from eutectic.export.format import MAGIC


def file_of(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> bytes:
    file = io.BytesIO()
    mx.export_function(file, fun, *args, **kwargs)
    return file.getvalue()


def read(data: bytes) -> Any:
    return mx.import_function(io.BytesIO(data))


def imported(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return read(file_of(fun, *args, **kwargs))


def content(data: bytes) -> dict[str, Any]:
    """The JSON text of a file."""
    [length] = struct.unpack("<Q", data[24:32])
    return json.loads(data[64:64 + length])


def constants(data: bytes) -> bytes:
    [length] = struct.unpack("<Q", data[24:32])
    return data[-(-(64 + length) // 64) * 64:]


def signed(text: bytes, rest: bytes = b"", version: int = 1) -> bytes:
    """A file with a text and constants, and a checksum that fits."""
    start = -(-(64 + len(text)) // 64) * 64
    fields = struct.pack("<IIQQ", version, 0, start + len(rest), len(text))
    body = text + bytes(start - 64 - len(text)) + rest
    return MAGIC + fields + hashlib.sha256(fields + body).digest() + body


def changed(data: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """The file after a change of its content."""
    found = content(data)
    change(found)
    return signed(json.dumps(found).encode(), constants(data))


def variants(found: Any, values: list[Any]) -> Iterator[Any]:
    """The content with one value after another in the place of each part of it."""
    def places(x: Any) -> Iterator[tuple[Any, Any]]:
        for k in (x if isinstance(x, dict) else range(len(x))):
            yield x, k
            if isinstance(x[k], (dict, list)):
                yield from places(x[k])

    for holder, k in places(found):
        kept = holder[k]
        for value in values:
            holder[k] = copy.deepcopy(value)
            yield found
        holder[k] = kept
        if isinstance(holder, list):
            del holder[k]
            yield found
            holder.insert(k, kept)
            holder.insert(k, copy.deepcopy(kept))
            yield found
            del holder[k]
