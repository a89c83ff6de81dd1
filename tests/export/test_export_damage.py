"""Files that are cut, changed or hostile: an error that names the file, never anything else."""

from __future__ import annotations

import contextlib
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from exported import changed, constants, content, file_of, read, signed, variants
from samples import STRUCTURAL

import eutectic.core as mx
from eutectic.errors import EutecticError, FormatError
from eutectic.export.rules import PRIMS

WEIGHT = mx.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
SMALL = file_of(lambda x: mx.exp(x @ WEIGHT)[:, 1:], mx.ones((2, 2)))
SHAPELESS = file_of(lambda x: mx.softmax(x @ WEIGHT / x.shape[0], axis=-1), mx.ones((3, 2)),
                    shapeless=True)

NASTY: list[Any] = [
    -1, 0, 1, 5, 1 << 31, 1 << 62, -(1 << 62), 1 << 200, True, None, "", "add", "float64", "a",
    [], [0], [[]], {}, {"float": "nan"}, {"float": "x"}, {"dtype": "int8"}, {"size": [[1, "a"]]},
    {"size": [[1 << 60, "a", "a"]]}, {"number": [[-1]]}]


def test_every_byte() -> None:
    for i in range(len(SMALL)):
        for flip in (1, 0x80, 0xFF):
            data = bytearray(SMALL)
            data[i] ^= flip
            with pytest.raises(FormatError, match=r"^\[import_function\] <BytesIO>: "):
                read(bytes(data))


def test_every_length() -> None:
    for n in range(len(SMALL)):
        with pytest.raises(FormatError):
            read(SMALL[:n])
    with pytest.raises(FormatError, match="the file has"):
        read(SMALL + b"\0")


def test_version() -> None:
    data = SMALL[:8] + struct.pack("<I", 2) + SMALL[12:]
    with pytest.raises(FormatError, match=r"format has version 2; this Eutectic reads 1"):
        read(data)
    with pytest.raises(FormatError, match="no exported function of Eutectic"):
        read(b"\x06" + bytes(200))


def test_the_error_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "f.mlxfn"
    path.write_bytes(SMALL[:100])
    with pytest.raises(FormatError) as e:
        mx.import_function(path)
    assert str(path) in str(e.value)
    with pytest.raises(FileNotFoundError, match=r"\[import_function\]"):
        mx.import_function(str(tmp_path / "none"))


def run(data: bytes, args: list[mx.array]) -> None:
    """Read a file, and where that succeeds call it; other errors than ours pass through."""
    try:
        function = read(data)
    except FormatError:
        return
    for trace in function._traces:
        graph = trace.graph(dict(trace.example))
        if sum(n.size for n in graph.values) > 1 << 16:
            return  # as large as it says, and lawful: a call would allocate it
    try:
        mx.eval(function(*args))
    except EutecticError:
        return


@pytest.mark.parametrize("data", [SMALL, SHAPELESS], ids=["plain", "shapeless"])
def test_every_part_of_the_text(data: bytes) -> None:
    """Signed anew, so that it is the checks of the content that find what is wrong."""
    args = [mx.ones((2, 2))]
    count = 0
    for found in variants(content(data), NASTY):
        run(signed(json.dumps(found).encode(), constants(data)), args)
        count += 1
    assert count > 1000


HOSTILE = [-1, 0, 3, 1 << 40, [], "left", True]


@pytest.mark.parametrize("name", STRUCTURAL)
def test_every_operand_and_attribute(name: str) -> None:
    """Of each structural operation; what is read is what a call could have recorded."""
    fun, args = STRUCTURAL[name]
    data = file_of(fun, *args)
    whole = content(data)
    tried = set()
    for entry in whole["traces"][0]["operations"]:
        kept = list(entry)
        if kept[0] in tried:
            continue
        tried.add(kept[0])
        for part in range(1, 5):
            if isinstance(kept[part], str):
                choices = ["bool", "int8", "float64", "complex64"]
                changes = ([c] for c in choices)
            else:
                changes = (list(v) for v in variants(list(kept[part]), HOSTILE))
            for v in changes:
                entry[part] = v[0] if isinstance(kept[part], str) else v
                try:
                    read(signed(json.dumps(whole).encode(), constants(data)))
                except FormatError:
                    pass
                entry[part] = kept[part]


def test_operands_and_attributes_that_other_operations_have() -> None:
    """Found by random changes: a coordinate with an operand, a call with an argument too many."""
    fun, args = STRUCTURAL["creation"]
    with pytest.raises(FormatError, match=r"\(iota\) takes 0 operands"):
        read(changed(file_of(fun, *args), lambda t: t["traces"][0]["operations"][0][1].append(0)))
    fun, args = STRUCTURAL["svd values"]
    with pytest.raises(FormatError, match=r"\(svd\) has other attributes"):
        read(changed(file_of(fun, *args), lambda t: t["traces"][0]["operations"][0][2].append(0)))


def test_bodies_of_loops() -> None:
    fun, args = STRUCTURAL["while_loop"]
    data = file_of(fun, *args)
    for found in variants(content(data), HOSTILE):
        with contextlib.suppress(FormatError):
            read(signed(json.dumps(found).encode(), constants(data)))
    operations = content(data)["traces"][0]["operations"]
    [at] = [i for i, op in enumerate(operations) if op[0] == "while_loop"]

    def output_the_loop(t: Any) -> None:
        t["traces"][0]["outputs"] = [1 + at]

    def read_the_loop(t: Any) -> None:
        t["traces"][0]["operations"].append(["logical_not", [1 + at], [], "bool", []])

    def nest(t: Any) -> None:
        loop = t["traces"][0]["operations"][at]
        loop[1] = []
        for _ in range(40):
            loop[2][0]["body"]["operations"] = [json.loads(json.dumps(loop))]
    for change, fault in ((output_the_loop, "an output that is a loop"),
                          (read_the_loop, "reads a loop"), (nest, "nest too deep")):
        with pytest.raises(FormatError, match=fault):
            read(changed(data, change))


def test_unknown_operations_are_named() -> None:
    def rename(found: Any) -> None:
        found["traces"][0]["operations"][0][0] = "os.system"
    with pytest.raises(FormatError, match=r"trace 0, operation 2 is 'os.system', which is not"):
        read(changed(SMALL, rename))


@pytest.mark.parametrize(("change", "fault"), [
    (lambda t: t["constants"][0].__setitem__(1, [1 << 40, 1 << 20]), "too long|needs the bytes"),
    (lambda t: t["constants"][0].__setitem__(1, [1 << 30]), "needs the bytes"),
    (lambda t: t["constants"][0].__setitem__(2, 64), "needs the bytes"),
    (lambda t: t["constants"].append(t["constants"][0]), "overlap"),
    (lambda t: t["traces"][0]["operations"][0].__setitem__(1, [5, 0]), "refers to 5 of 2"),
    (lambda t: t["traces"][0]["operations"][0].__setitem__(4, [2, 4]), "do not multiply"),
    (lambda t: t["traces"][0]["operations"][2].__setitem__(2, [[0, 9], [1, 1]]),
     "reaches outside its input"),
    (lambda t: t["traces"][0].__setitem__("outputs", [7]), "an output refers to 7"),
    (lambda t: t["traces"][0].__setitem__("keywords", ["b", "a"]), "keywords"),
])
def test_faults(change: Any, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        read(changed(SMALL, change))


@pytest.mark.parametrize("text", [
    b"", b"[]", b"{", b"1" * 5000, b"[" * 100000, b'{"a": NaN}', b'{"a": 1e5}', b"\xff",
    b'{"metadata": "", "metadata": "", "constants": [], "traces": []}'])
def test_texts(text: bytes) -> None:
    with pytest.raises(FormatError):
        read(signed(text))


def test_random_operations() -> None:
    """Operations of every name on operands they were not made for."""
    whole = content(SMALL)
    first = whole["traces"][0]["operations"][0]
    for name in PRIMS:
        for attrs in ([], [0], [[0]], [[0], [1]], [True], [{"float": "0x1p+0"}]):
            first[:] = [name, [0, 1], attrs, "float32", [2, 3]]
            run(signed(json.dumps(whole).encode(), constants(SMALL)), [mx.ones((2, 2))])
