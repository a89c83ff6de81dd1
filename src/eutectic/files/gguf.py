"""The GGUF format of llama.cpp, versions 2 and 3: metadata of any type, and tensors of plain types.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from eutectic.array import array, build, wrap
from eutectic.dtype import (
    Dtype, bfloat16, bool_, float16, float32, float64, int8, int16, int32, int64, uint8, uint16,
    uint32, uint64)
from eutectic.errors import ArgumentError, ArgumentTypeError, DtypeError
from eutectic.files.source import MOST_AXES, Source, check_apart
from eutectic.files.target import named_arrays, value_of, writing

_MAGIC = b"GGUF"
_VERSION = 3
_ALIGNMENT = 32
_MOST_ALIGNMENT = 1 << 20
_MOST_AXES_WRITTEN = 8
_MOST_NESTED = 8

_STRING, _ARRAY = 8, 9
# Types of metadata values.
_VALUES: dict[int, tuple[str, Dtype]] = {
    0: ("<B", uint8), 1: ("<b", int8), 2: ("<H", uint16), 3: ("<h", int16), 4: ("<I", uint32),
    5: ("<i", int32), 6: ("<f", float32), 7: ("<?", bool_), 10: ("<Q", uint64), 11: ("<q", int64),
    12: ("<d", float64)}
_VALUE_TYPES = {d: t for t, (_, d) in _VALUES.items()}
# Types of tensors.
_TENSORS: dict[int, Dtype] = {
    0: float32, 1: float16, 24: int8, 25: int16, 26: int32, 27: int64, 28: float64, 30: bfloat16}
_TENSOR_TYPES = {d: t for t, d in _TENSORS.items()}
_QUANTIZED = {
    2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K",
    12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS",
    19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 29: "IQ1_M", 34: "TQ1_0",
    35: "TQ2_0", 39: "MXFP4"}


# ---- reading ------------------------------------------------------------------------------------


def read_gguf(source: Source) -> tuple[dict[str, array], dict[str, Any]]:
    """The tensors of a GGUF file by name, and its metadata.

    A metadata value is a string, a scalar array, a one-dimensional array, or a list of strings or
    of lists.
    """
    reader = _Reader(source)
    if bytes(source.view[:4]) != _MAGIC:
        raise source.error("it does not start with GGUF.")
    reader.position = 4
    version = reader.number("<I")
    if version not in (2, 3):
        order = "; its bytes are in big-endian order" if version in (2 << 24, 3 << 24) else ""
        raise source.error(f"version {version} of GGUF cannot be read{order}.")
    tensors, values = reader.number("<Q"), reader.number("<Q")
    metadata: dict[str, Any] = {}
    for _ in range(values):
        key = reader.text("the key of a metadata value")
        if key in metadata:
            raise source.error(f"its metadata names {key!r} twice.")
        metadata[key] = reader.value(reader.number("<I"), f"metadata {key!r}")
    entries: dict[str, tuple[Dtype, tuple[int, ...], int]] = {}
    for _ in range(tensors):
        name = reader.text("the name of a tensor")
        if name in entries:
            raise source.error(f"two tensors are named {name!r}.")
        entries[name] = reader.tensor(name)
    alignment = _alignment(source, metadata)
    start = reader.position + -reader.position % alignment
    spans = []
    for name, (dtype, shape, offset) in entries.items():
        what = f"tensor {name!r}"
        nbytes = source.check(start + offset, shape, dtype, what)
        spans.append((offset, offset + nbytes, what))
    check_apart(source, spans)
    return {name: source.array(start + offset, shape, dtype, f"tensor {name!r}")
            for name, (dtype, shape, offset) in entries.items()}, metadata


def _alignment(source: Source, metadata: dict[str, Any]) -> int:
    found = metadata.get("general.alignment", _ALIGNMENT)
    if isinstance(found, array) and found.dtype is uint32 and not found.shape:
        found = found.item()
    if not isinstance(found, int) or not 0 < found <= _MOST_ALIGNMENT or found & (found - 1):
        raise source.error("general.alignment is not a power of two of a sensible size.")
    return found


class _Reader:
    """Reads one part after the other; each is checked against the end of the file first."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.position = 0

    def take(self, nbytes: int, what: str) -> memoryview:
        end = self.position + nbytes
        if end > self.source.size:
            raise self.source.error(f"it ends within {what}.")
        part = self.source.view[self.position:end]
        self.position = end
        return part

    def number(self, form: str, what: str = "its header") -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form), what))[0]

    def text(self, what: str) -> str:
        part = self.take(self.number("<Q", what), what)
        try:
            return str(part, "utf-8")
        except UnicodeDecodeError as e:
            raise self.source.error(f"{what} is not UTF-8: {e}.") from e

    def value(self, kind: int, what: str, depth: int = 0) -> Any:
        if kind == _STRING:
            return self.text(what)
        if kind != _ARRAY:
            return self._numbers(kind, (), what)
        if depth == _MOST_NESTED:
            raise self.source.error(f"{what} nests more than {_MOST_NESTED} arrays.")
        inner, length = self.number("<I", what), self.number("<Q", what)
        if inner in (_STRING, _ARRAY):
            least = 8 if inner == _STRING else 12  # bytes of the shortest element
            if length * least > self.source.size - self.position:
                raise self.source.error(f"it ends within {what}.")
            return [self.value(inner, what, depth + 1) for _ in range(length)]
        return self._numbers(inner, (length,), what)

    def _numbers(self, kind: int, shape: tuple[int, ...], what: str) -> array:
        if kind not in _VALUES:
            raise self.source.error(f"{what} is of the unknown type {kind}.")
        dtype = _VALUES[kind][1]
        length = shape[0] if shape else 1
        part = np.frombuffer(self.take(length * dtype.size, what), np.uint8)
        if dtype is bool_ and length and part.max() > 1:
            raise self.source.error(f"{what} holds a byte that is neither true (1) nor false (0).")
        found = part.view(dtype.np.newbyteorder("<")).reshape(shape)
        return wrap(build(found, dtype))

    def tensor(self, name: str) -> tuple[Dtype, tuple[int, ...], int]:
        """(dtype, shape, offset) of the tensor whose description comes next."""
        what = f"tensor {name!r}"
        axes = self.number("<I", what)
        if axes > MOST_AXES:
            raise self.source.error(f"{what} has {axes} axes; at most {MOST_AXES} can be read.")
        dims = struct.unpack(f"<{axes}Q", self.take(8 * axes, what))
        kind, offset = self.number("<I", what), self.number("<Q", what)
        dtype = _TENSORS.get(kind)
        if dtype is None:
            if kind in _QUANTIZED:
                raise DtypeError(f"[load] {self.source.name}: {what} is of the quantized type "
                                 f"{_QUANTIZED[kind]}, which cannot be read yet.")
            raise self.source.error(f"{what} is of the unknown type {kind}.")
        return dtype, dims[::-1], offset


# ---- writing ------------------------------------------------------------------------------------


def write_gguf(file: Any, arrays: Any, metadata: Any, name: str) -> None:
    """Write tensors and metadata (strings, lists of strings, arrays of no or one axis)."""
    entries = named_arrays(arrays, name)
    metadata = {} if metadata is None else metadata
    if not isinstance(metadata, dict):
        raise ArgumentTypeError(f"[{name}] metadata must be a dict, not a "
                                f"{type(metadata).__name__}.")
    alignment = _ALIGNMENT
    head = [_MAGIC, struct.pack("<IQQ", _VERSION, len(entries), len(metadata))]
    for key, value in metadata.items():
        if not isinstance(key, str):
            raise ArgumentTypeError(f"[{name}] names are strings, not a {type(key).__name__}.")
        head += [_text(key, name), _value(key, value, name)]
        if key == "general.alignment":
            alignment = _alignment_given(value, name)
    offset = 0
    for key, a, view in entries:
        if a.dtype not in _TENSOR_TYPES:
            raise DtypeError(f"[{name}] {key!r} is of dtype {a.dtype.name}, which GGUF does not "
                             "have; convert it.")
        if a.ndim > _MOST_AXES_WRITTEN:
            raise ArgumentError(f"[{name}] {key!r} has {a.ndim} axes; readers of GGUF take at "
                                f"most {_MOST_AXES_WRITTEN}.")
        head += [_text(key, name), struct.pack(f"<I{a.ndim}QIQ", a.ndim, *a.shape[::-1],
                                               _TENSOR_TYPES[a.dtype], offset)]
        offset += view.nbytes + -view.nbytes % alignment
    with writing(file, name, ".gguf") as target:
        target.write(b"".join(head))
        target.pad_to(alignment)
        for i, (_, _, view) in enumerate(entries):
            if i:
                target.pad_to(alignment)
            target.write_array(view)


def _alignment_given(value: Any, name: str) -> int:
    found = value.item() if isinstance(value, array) and value.dtype is uint32 and not value.shape \
        else 0
    if not 8 <= found <= _MOST_ALIGNMENT or found & (found - 1):
        raise ArgumentError(f"[{name}] general.alignment must be a uint32 array of shape () that "
                            "holds a power of two from 8 on.")
    return found


def _text(text: str, name: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError as e:
        raise ArgumentError(f"[{name}] {text!r} has no UTF-8 form: {e}.") from None
    return struct.pack("<Q", len(data)) + data


def _value(key: str, value: Any, name: str) -> bytes:
    """The type and the bytes of a metadata value."""
    if isinstance(value, str):
        return struct.pack("<I", _STRING) + _text(value, name)
    if isinstance(value, (list, tuple)) and all(isinstance(x, str) for x in value):
        parts = [_text(x, name) for x in value]
        return struct.pack("<IIQ", _ARRAY, _STRING, len(parts)) + b"".join(parts)
    if not isinstance(value, array):
        raise ArgumentTypeError(f"[{name}] the metadata {key!r} must be a string, a list of "
                                f"strings or an array, not a {type(value).__name__}.")
    kind = _VALUE_TYPES.get(value.dtype)
    if kind is None:
        raise DtypeError(f"[{name}] the metadata {key!r} is of dtype {value.dtype.name}, which "
                         "GGUF's metadata does not have.")
    if value.ndim > 1:
        raise ArgumentError(f"[{name}] the metadata {key!r} has {value.ndim} axes; GGUF's metadata "
                            "has at most one.")
    data = value_of(value, name).tobytes()
    if value.ndim:
        return struct.pack("<IIQ", _ARRAY, kind, value.size) + data
    return struct.pack("<I", kind) + data


