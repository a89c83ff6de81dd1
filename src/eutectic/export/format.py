"""The file of an exported function: a header of 64 bytes, a JSON text, and constants' bytes.

    0   8  b"\\x93EUTFN\\r\\n"
    8   4  version of the format, 1 (numbers are little-endian)
    12  4  0
    16  8  length of the file
    24  8  length of the JSON text, which starts at 64
    32 32  SHA-256 of all other bytes but the first 8

Constants follow, row-major, each at a multiple of 64. The JSON text is an object:

    metadata    a string
    constants   [dtype, shape, offset], ...
    traces      objects: inputs [dtype, shape], ...; keywords, the names of the last inputs;
                constants, numbers of those above; sizes {name: length in the example};
                operations [name, operands, attributes, dtype, shape], ...; outputs

Operands and outputs number the inputs, then the constants, then the operations. A length is an
integer or {"size": [[coefficient, name, ...], ...]}; an attribute also true, false, null, a string,
a list (a tuple), {"float": hexadecimal}, {"dtype": name}, {"number": size} (the bits of a constant
that is a size), or {"body": {name, inputs, operations, outputs}}: of a loop or choice. Nothing in a
file names a function of Python.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from eutectic.array import array, numpy_view
from eutectic.dtype import BY_NAME, Dtype
from eutectic.export.faults import Fault
from eutectic.export.rules import NAMES, PRIMS
from eutectic.export.operations import Block, Operation
from eutectic.export.sizes import Number, Size
from eutectic.export.trace import Trace
from eutectic.files.source import Source, check_apart
from eutectic.files.target import Target

MAGIC = b"\x93EUTFN\r\n"
VERSION = 1
_HEADER = struct.Struct("<8sIIQQ32s")
_ALIGNMENT = 64
_DEEPEST = 32
"""How far attributes nest: layouts of several results do, three deep, and bodies, two deep each."""


# -- writing ---------------------------------------------------------------------------------------


def write_function(target: Target, traces: Sequence[Trace], metadata: str) -> None:
    """Write a file; equal constants are written once."""
    stored: dict[bytes, int] = {}
    described: list[list[Any]] = []
    views = []
    at = 0
    for trace in traces:
        for c in trace.constants:
            key = _fingerprint(c)
            if key in stored:
                continue
            stored[key] = len(described)
            described.append([c._n.dtype.name, list(c._n.shape), at])
            view = numpy_view(c, "export_function")
            views.append(view)
            at += -(-view.nbytes // _ALIGNMENT) * _ALIGNMENT
    texts = [_trace_json(t, [stored[_fingerprint(c)] for c in t.constants]) for t in traces]
    content = json.dumps({"metadata": metadata, "constants": described, "traces": texts},
                         separators=(",", ":")).encode()
    start = -(-(_HEADER.size + len(content)) // _ALIGNMENT) * _ALIGNMENT
    fields = (VERSION, 0, start + at, len(content))
    digest = hashlib.sha256(struct.pack("<IIQQ", *fields))
    padded = content + bytes(start - _HEADER.size - len(content))
    digest.update(padded)
    blocks = [memoryview(_flat(v)) for v in views]
    for block in blocks:
        digest.update(block)
        digest.update(bytes(-len(block) % _ALIGNMENT))
    target.write(_HEADER.pack(MAGIC, *fields, digest.digest()))
    target.write(padded)
    for block in blocks:
        target.write(block)
        target.write(bytes(-len(block) % _ALIGNMENT))


def _flat(view: Any) -> Any:
    return np.ascontiguousarray(view).reshape(-1).view(np.uint8)


def _fingerprint(c: array) -> bytes:
    """What tells constants apart: dtype, shape and bytes."""
    n = c._n
    digest = hashlib.sha256(f"{n.dtype.name}{n.shape}".encode())
    digest.update(memoryview(_flat(numpy_view(c, "export_function"))))
    return digest.digest()


def _trace_json(t: Trace, constants: list[int]) -> dict[str, Any]:
    return {
        "inputs": [[d.name, _json(shape)] for d, shape in t.inputs], "keywords": t.keywords,
        "constants": constants, "sizes": t.example,
        "operations": [_json(op) for op in t.operations], "outputs": t.outputs}


def _json(x: Any) -> Any:
    if x is None or type(x) in (bool, int, str):
        return x
    if type(x) is tuple:
        return [_json(v) for v in x]
    if type(x) is float:
        return {"float": x.hex()}
    if type(x) is Dtype:
        return {"dtype": x.name}
    if type(x) is Size:
        return {"size": [[c, *names] for c, names in x.terms]}
    if type(x) is Number:
        return {"number": _json(x.size)["size"]}
    if type(x) is Operation:
        return [NAMES[x.prim], list(x.inputs), _json(x.attrs), x.dtype.name, _json(x.shape)]
    if type(x) is Block:
        return {"body": {"name": x.name, "inputs": [[d.name, _json(s)] for d, s in x.inputs],
                         "operations": [_json(op) for op in x.operations],
                         "outputs": list(x.outputs)}}
    raise Fault(f"has an attribute of type {type(x).__name__}")


# -- reading ---------------------------------------------------------------------------------------


def read_function(source: Source) -> tuple[list[Trace], str]:
    """The traces and the metadata of a file; FormatError names the file and the fault.

    Lengths are compared with the file before anything is made of them, and every operation is
    verified. Nothing is computed.
    """
    if source.size < _HEADER.size:
        raise source.error(f"its {source.size} bytes hold no exported function.")
    magic, version, zero, size, length, digest = _HEADER.unpack(source.view[:_HEADER.size])
    if magic != MAGIC:
        raise source.error("it is no exported function of Eutectic.")
    if version != VERSION:
        raise source.error(f"its format has version {version}; this Eutectic reads {VERSION}.")
    if size != source.size:
        raise source.error(f"its header claims {size} bytes, the file has {source.size}; it may "
                           "be cut short.")
    if length > size - _HEADER.size:
        raise source.error(f"its header claims a text of {length} bytes in a file of {size}.")
    found = hashlib.sha256(source.view[8:32])
    found.update(source.view[_HEADER.size:])
    if zero or found.digest() != digest:
        raise source.error("it is damaged: its checksum differs.")
    try:
        content = json.loads(bytes(source.view[_HEADER.size:_HEADER.size + length]),
                             object_pairs_hook=_unique, parse_float=_none, parse_constant=_none)
    except (ValueError, RecursionError, Fault) as e:
        raise source.error(f"its text cannot be read: {e}") from e
    start = -(-(_HEADER.size + length) // _ALIGNMENT) * _ALIGNMENT
    try:
        return _content(source, content, start)
    except Fault as e:
        raise source.error(f"{e}.") from e


def _none(text: str) -> Any:
    raise Fault(f"{text} is no integer")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Fault("an object names something twice")
    return found


def _content(source: Source, content: Any, start: int) -> tuple[list[Trace], str]:
    metadata, constants, traces = _fields(content, "text", metadata=str, constants=list,
                                          traces=list)
    arrays, spans = [], []
    for i, entry in enumerate(constants):
        what = f"constant {i}"
        dtype, shape, offset = _list(entry, what, str, list, int)
        d, lengths = _dtype(dtype, what), _lengths(shape, what)
        if offset < 0 or offset % _ALIGNMENT:
            raise Fault(f"{what} lies at {offset}")
        nbytes = source.check(start + offset, lengths, d, what)
        spans.append((offset, offset + nbytes, what))
        arrays.append((start + offset, lengths, d, what))
    check_apart(source, spans)
    made = [source.array(*a) for a in arrays]
    return [_trace(t, f"trace {i}", made) for i, t in enumerate(traces)], metadata


def _trace(entry: Any, what: str, arrays: list[array]) -> Trace:
    inputs, keywords, constants, sizes, operations, outputs = _fields(
        entry, what, inputs=list, keywords=list, constants=list, sizes=dict, operations=list,
        outputs=list)
    for name, length in sizes.items():
        if not name.isidentifier() or type(length) is not int or not 0 <= length < 1 << 62:
            raise Fault(f"{what} has a size {name!r} of {length!r}")
    known: set[str] = set()
    signature = []
    for i, given in enumerate(inputs):
        dtype, shape = _list(given, f"{what}, input {i}", str, list)
        lengths = _lengths(shape, f"{what}, input {i}", sizes)
        for d in lengths:
            if type(d) is Size:
                if len(d.terms) != 1 or d.terms[0][0] != 1 or len(d.terms[0][1]) != 1:
                    raise Fault(f"{what}, input {i} has a length that is no name")
                known.add(d.terms[0][1][0])
        signature.append((_dtype(dtype, f"{what}, input {i}"), lengths))
    if known != sizes.keys():
        raise Fault(f"{what} has sizes that no input has")
    if (len(keywords) > len(inputs) or any(type(k) is not str for k in keywords)
            or keywords != sorted(set(keywords))):
        raise Fault(f"{what} has keywords that are not names in order")
    chosen = [arrays[_index(i, len(arrays), f"{what}, a constant")] for i in constants]
    count = len(inputs) + len(chosen)
    made = _operations(operations, what, count, sizes, _DEEPEST)
    trace = Trace(signature, keywords, chosen, made,
                  _outputs(outputs, what, count, made), sizes)
    if not outputs:
        raise Fault(f"{what} has no outputs")
    try:
        trace.graph(dict(sizes))
    except Fault as e:
        raise Fault(f"{what}, {e}") from e
    return trace


def _operations(entries: list[Any], what: str, count: int, sizes: dict[str, int],
                depth: int) -> list[Operation]:
    """Operations whose values are numbered from `count` on."""
    made: list[Operation] = []
    for entry in entries:
        where = f"{what}, operation {count}"
        name, operands, attrs, dtype, shape = _list(entry, where, str, list, list, str, list)
        if name not in PRIMS:
            raise Fault(f"{where} is {name!r}, which is not known")
        made.append(Operation(
            PRIMS[name], tuple([_index(i, count, where) for i in operands]),
            _value(attrs, where, sizes, depth), _dtype(dtype, where),
            _lengths(shape, where, sizes)))
        count += 1
    return made


def _outputs(outputs: list[Any], what: str, count: int, made: list[Operation]) -> list[int]:
    found = [_index(i, count + len(made), f"{what}, an output") for i in outputs]
    if any(i >= count and made[i - count].prim.family == "loop" for i in found):
        raise Fault(f"{what} has an output that is a loop, not a result of it")
    return found


def _block(x: Any, what: str, sizes: dict[str, int], depth: int) -> Block:
    name, inputs, operations, outputs = _fields(x, f"{what}, a body", name=str, inputs=list,
                                                operations=list, outputs=list)
    if not depth:
        raise Fault(f"{what} has bodies that nest too deep")
    types = []
    for given in inputs:
        dtype, shape = _list(given, f"{what}, a body's input", str, list)
        types.append((_dtype(dtype, what), _lengths(shape, what, sizes)))
    made = _operations(operations, what, len(types), sizes, depth)
    return Block(name, tuple(types), tuple(made),
                 tuple(_outputs(outputs, what, len(types), made)))


def _fields(x: Any, what: str, **kinds: type) -> list[Any]:
    if type(x) is not dict or x.keys() != kinds.keys() or any(
            type(x[k]) is not kind for k, kind in kinds.items()):
        raise Fault(f"{what} does not have the fields {', '.join(kinds)}")
    return [x[k] for k in kinds]


def _list(x: Any, what: str, *kinds: type) -> list[Any]:
    if type(x) is not list or len(x) != len(kinds) or any(
            type(v) is not kind for v, kind in zip(x, kinds)):
        raise Fault(f"{what} is not a list of {len(kinds)} as the format has it")
    return x


def _index(x: Any, count: int, what: str) -> int:
    if type(x) is not int or not 0 <= x < count:
        raise Fault(f"{what} refers to {x!r} of {count}")
    return x


def _dtype(name: Any, what: str) -> Dtype:
    if type(name) is not str or name not in BY_NAME:
        raise Fault(f"{what} has the dtype {name!r}")
    return BY_NAME[name]


def _lengths(x: list[Any], what: str, sizes: dict[str, int] | None = None) -> tuple[Any, ...]:
    found = _value(x, what, {} if sizes is None else sizes, 1)
    if any(type(d) is not Size and (type(d) is not int or d < 0) for d in found):
        raise Fault(f"{what} has a length that is no natural number")
    return tuple(found)


def _value(x: Any, what: str, sizes: dict[str, int], depth: int) -> Any:
    """An attribute; lists are tuples."""
    if x is None or type(x) in (bool, str):
        return x
    if type(x) is int:
        if not -(1 << 64) < x < 1 << 64:
            raise Fault(f"{what} has a number of more than 64 bits")
        return x
    if type(x) is list:
        if not depth:
            raise Fault(f"{what} has lists that nest too deep")
        return tuple([_value(v, what, sizes, depth - 1) for v in x])
    if type(x) is dict and len(x) == 1:
        [(kind, v)] = x.items()
        if kind == "float" and type(v) is str:
            try:
                return float.fromhex(v)
            except (ValueError, OverflowError):
                raise Fault(f"{what} has the number {v!r}") from None
        if kind == "dtype":
            return _dtype(v, what)
        if kind == "body":
            return _block(v, what, sizes, depth - 1)
        if kind in ("size", "number") and type(v) is list:
            size = Size(tuple([_term(t, what, sizes) for t in v]))
            return size if kind == "size" else Number(size)
    raise Fault(f"{what} has an attribute that is not of the format")


def _term(x: Any, what: str, sizes: dict[str, int]) -> tuple[int, tuple[str, ...]]:
    if (type(x) is not list or not 0 < len(x) <= 32 or type(x[0]) is not int
            or not -(1 << 64) < x[0] < 1 << 64 or any(
                type(n) is not str or n not in sizes for n in x[1:])):
        raise Fault(f"{what} has a size that is not of the format")
    return x[0], tuple(x[1:])
