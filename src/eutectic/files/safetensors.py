"""The .safetensors format: eight bytes of length, a JSON header, and the arrays' bytes.

Format: https://github.com/huggingface/safetensors (the README's section "Format").
"""

from __future__ import annotations

import json
from typing import Any

from eutectic.array import array
from eutectic.dtype import (
    Dtype, bfloat16, bool_, complex64, float16, float32, float64, int8, int16, int32, int64, uint8,
    uint16, uint32, uint64)
from eutectic.errors import ArgumentError, DtypeError, FormatError
from eutectic.files.source import Source, check_apart
from eutectic.files.target import named_arrays, writing

_DTYPES: dict[str, Dtype] = {
    "BOOL": bool_, "U8": uint8, "I8": int8, "U16": uint16, "I16": int16, "U32": uint32,
    "I32": int32, "U64": uint64, "I64": int64, "F16": float16, "BF16": bfloat16, "F32": float32,
    "F64": float64, "C64": complex64}
_NAMES = {d: name for name, d in _DTYPES.items()}
# Floats of eight bits come as their bytes, as in MLX.
_AS_BYTES = frozenset(("F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"))
_BELOW_A_BYTE = frozenset(("F4", "F6_E2M3", "F6_E3M2"))
_MOST_HEADER_BYTES = 100_000_000
"""The format's own limit."""
_FIELDS = frozenset(("dtype", "shape", "data_offsets"))


def read_safetensors(source: Source) -> tuple[dict[str, array], dict[str, str]]:
    """The arrays of a .safetensors file by name, and its metadata."""
    if source.size < 8:
        raise source.error(f"its {source.size} bytes hold no header.")
    length = int.from_bytes(source.view[:8], "little")
    if length > _MOST_HEADER_BYTES:
        raise source.error(f"its header claims {length} bytes; the format allows "
                           f"{_MOST_HEADER_BYTES}.")
    if 8 + length > source.size:
        raise source.error(f"its header claims {length} bytes, the file has {source.size}; it may "
                           "be cut short.")
    header = _header(source, length)
    metadata = _metadata(source, header.pop("__metadata__", None))
    entries = {name: _entry(source, name, entry) for name, entry in header.items()}
    spans = []
    for name, (dtype, shape, start, end) in entries.items():
        nbytes = source.check(8 + length + start, shape, dtype, f"tensor {name!r}")
        if nbytes != end - start:
            raise source.error(f"tensor {name!r} of {nbytes} bytes has the offsets {start} to "
                               f"{end}.")
        spans.append((start, end, f"tensor {name!r}"))
    check_apart(source, spans)
    return {name: source.array(8 + length + start, shape, dtype, f"tensor {name!r}")
            for name, (dtype, shape, start, _) in entries.items()}, metadata


def _header(source: Source, length: int) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    raise source.error(f"its header names {key!r} twice.")
                seen.add(key)
        return found

    def no_constant(text: str) -> Any:
        raise source.error(f"its header holds {text}, which is not JSON.")

    try:
        header = json.loads(str(source.view[8:8 + length], "utf-8"), object_pairs_hook=unique,
                            parse_constant=no_constant)
    except FormatError:
        raise
    except (ValueError, RecursionError) as e:
        raise source.error(f"its header is not JSON: {e}.") from e
    if not isinstance(header, dict):
        raise source.error("its header is not a JSON object.")
    return header


def _metadata(source: Source, found: Any) -> dict[str, str]:
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise source.error("its __metadata__ is not an object of strings.")
    return found


def _entry(source: Source, name: str, entry: Any) -> tuple[Dtype, tuple[int, ...], int, int]:
    """(dtype, shape, first byte, end) of a tensor's entry in the header."""
    what = f"tensor {name!r}"
    if not isinstance(entry, dict) or not entry.keys() >= _FIELDS:
        raise source.error(f"{what} lacks one of the fields dtype, shape and data_offsets.")
    kind, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    dtype = _DTYPES.get(kind) if isinstance(kind, str) else None
    if dtype is None and isinstance(kind, str) and kind in _AS_BYTES:
        dtype = uint8
    if dtype is None:
        if isinstance(kind, str) and kind in _BELOW_A_BYTE:
            raise DtypeError(f"[load] {source.name}: {what} is of type {kind}; types of less than "
                             "a byte cannot be read yet.")
        raise source.error(f"{what} is of the unknown type {kind!r}.")
    if not isinstance(shape, list) or not all(type(d) is int for d in shape):
        raise source.error(f"{what} has a shape that is not a list of integers.")
    if (not isinstance(offsets, list) or len(offsets) != 2
            or not all(type(x) is int and x >= 0 for x in offsets)):
        raise source.error(f"{what} has data_offsets that are not two integers.")
    return dtype, tuple(shape), offsets[0], offsets[1]


def write_safetensors(file: Any, arrays: Any, metadata: Any, name: str) -> None:
    """Write named arrays and metadata; wide types come first, so that all lie aligned."""
    entries = named_arrays(arrays, name)
    if metadata is not None and not (isinstance(metadata, dict) and all(
            isinstance(k, str) and isinstance(v, str) for k, v in metadata.items())):
        raise ArgumentError(f"[{name}] metadata must be a dict of strings.")
    if "__metadata__" in arrays:
        raise ArgumentError(f"[{name}] the name '__metadata__' is the format's own.")
    entries.sort(key=lambda e: (-e[1].dtype.size, e[0]))
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    offset = 0
    for key, a, view in entries:
        header[key] = {"dtype": _NAMES[a.dtype], "shape": list(a.shape),
                       "data_offsets": [offset, offset + view.nbytes]}
        offset += view.nbytes
    try:
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as e:
        raise ArgumentError(f"[{name}] a name or metadata has no UTF-8 form: {e}.") from None
    text += b" " * (-len(text) % 8)
    if len(text) > _MOST_HEADER_BYTES:
        raise ArgumentError(f"[{name}] the header has {len(text)} bytes; the format allows "
                            f"{_MOST_HEADER_BYTES}.")
    with writing(file, name, ".safetensors") as target:
        target.write(len(text).to_bytes(8, "little"))
        target.write(text)
        for _key, _a, view in entries:
            target.write_array(view)
