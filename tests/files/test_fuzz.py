"""Random damage: whatever the bytes are, loading gives arrays or our error, in little memory."""

from __future__ import annotations

import io
import json
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eutectic.core as mx
from eutectic.errors import DtypeError, FormatError

A, B = mx.arange(6).reshape(2, 3), mx.array([1.5, -2], mx.bfloat16)


def written(save: Callable[[io.BytesIO], None]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


VALID = {
    "npy": [written(lambda f: mx.save(f, A)), written(lambda f: mx.save(f, B)),
            written(lambda f: mx.save(f, A.T))],
    "npz": [written(lambda f: mx.savez(f, A, b=B)),
            written(lambda f: mx.savez_compressed(f, A, b=mx.zeros(1000)))],
    "safetensors": [written(lambda f: mx.save_safetensors(
        f, {"a": A, "b": B, "c": A == 1}, {"k": "v"}))],
    "gguf": [written(lambda f: mx.save_gguf(f, {"a": A, "b": B}, {
        "s": "text", "l": ["x", "yy"], "n": mx.array([1, 2]), "f": mx.array(True),
        "general.alignment": mx.array(32, mx.uint32)}))],
}
KINDS = list(VALID)


def check(data: bytes, kind: str) -> None:
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NumPy about headers, of zipfile about names
            found = mx.load(io.BytesIO(data), format=kind)
    except (FormatError, DtypeError) as e:
        assert str(e).startswith("[load] <BytesIO>: ")
    else:
        mx.eval(found)
        for a in [found] if kind == "npy" else found.values():
            np.array(a)
            assert a.nbytes <= len(data) * 1032
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < (8 << 20) + 2000 * len(data)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_valid_loads(kind: str) -> None:
    for data in VALID[kind]:
        mx.eval(mx.load(io.BytesIO(data), kind))


@pytest.mark.parametrize("kind", KINDS)
def test_every_truncation(kind: str) -> None:
    for data in VALID[kind]:
        for n in range(len(data)):
            try:
                mx.load(io.BytesIO(data[:n]), kind)
            except FormatError:
                continue
            pytest.fail(f"{n} of {len(data)} bytes load")


@pytest.mark.parametrize("kind", KINDS)
@given(draw=st.data())
def test_changed_bytes(kind: str, draw: st.DataObject) -> None:
    data = bytearray(draw.draw(st.sampled_from(VALID[kind])))
    for _ in range(draw.draw(st.integers(1, 6))):
        i = draw.draw(st.integers(0, len(data) - 1))
        data[i] = draw.draw(st.one_of(st.integers(0, 255), st.sampled_from([0, 1, 127, 128, 255])))
    check(bytes(data), kind)


@pytest.mark.parametrize("kind", KINDS)
@given(draw=st.data())
def test_changed_words(kind: str, draw: st.DataObject) -> None:
    """Four or eight bytes at once: lengths, counts and offsets."""
    data = bytearray(draw.draw(st.sampled_from(VALID[kind])))
    for _ in range(draw.draw(st.integers(1, 3))):
        n = draw.draw(st.sampled_from([2, 4, 8]))
        i = draw.draw(st.integers(0, len(data) - n))
        word = draw.draw(st.one_of(st.integers(0, 2 ** (8 * n) - 1), st.integers(0, 300)))
        data[i:i + n] = word.to_bytes(n, "little")
    check(bytes(data), kind)


@pytest.mark.parametrize("kind", KINDS)
@given(draw=st.data())
def test_cut_and_joined(kind: str, draw: st.DataObject) -> None:
    data = draw.draw(st.sampled_from(VALID[kind]))
    i, j = (draw.draw(st.integers(0, len(data))) for _ in range(2))
    check(data[:i] + draw.draw(st.binary(max_size=20)) + data[j:], kind)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.binary(max_size=200))
def test_any_bytes(kind: str, data: bytes) -> None:
    check(data, kind)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
    | st.sampled_from(["F32", "I8", "BOOL", "dtype", "shape"]),
    lambda x: st.lists(x, max_size=4) | st.dictionaries(
        st.sampled_from(["a", "b", "dtype", "shape", "data_offsets", "__metadata__"]), x))
ENTRY = st.fixed_dictionaries({
    "dtype": st.sampled_from(["F32", "I8", "BOOL", "U64", "F4", "X"]) | JSON,
    "shape": st.lists(st.integers(-2, 5) | st.integers(), max_size=4) | JSON,
    "data_offsets": st.lists(st.integers(-2, 40) | st.integers(), max_size=3) | JSON})


@given(header=JSON | st.dictionaries(
           st.sampled_from(["a", "b", "c", "__metadata__"]), ENTRY | JSON),
       data=st.binary(max_size=40))
def test_any_header_of_safetensors(header: object, data: bytes) -> None:
    text = json.dumps(header).encode()
    check(len(text).to_bytes(8, "little") + text + data, "safetensors")


@given(descr=st.sampled_from(["<f4", ">i2", "|b1", "<V2", "|O", "<U3", "<M8[s]", ("<f4", (2,)),
                              [("a", "<f4")], 3, None]) | st.text(max_size=4),
       order=st.booleans() | st.integers(0, 1), data=st.binary(max_size=40),
       shape=st.lists(st.integers(-2, 5) | st.integers(), max_size=4).map(tuple) | st.integers())
def test_any_header_of_npy(descr: object, order: object, shape: object, data: bytes) -> None:
    text = repr({"descr": descr, "fortran_order": order, "shape": shape}).encode(
        "latin1", "backslashreplace") + b"\n"
    check(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data, "npy")
