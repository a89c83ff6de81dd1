"""Functions and arguments named on the command line."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable
from typing import Any

import eutectic.core as mx
from eutectic.dtype import Dtype
from eutectic.errors import ArgumentError


class UsageError(ArgumentError):
    """A function or an argument that the command line does not name rightly."""


DTYPES: dict[str, Dtype] = {
    "f16": mx.float16, "bf16": mx.bfloat16, "f32": mx.float32, "f64": mx.float64,
    "i8": mx.int8, "i16": mx.int16, "i32": mx.int32, "i64": mx.int64,
    "u8": mx.uint8, "u16": mx.uint16, "u32": mx.uint32, "u64": mx.uint64,
    "bool": mx.bool_, "c64": mx.complex64,
}
_BY_NAME = DTYPES | {dtype.name: dtype for dtype in DTYPES.values()}
"""As reports write them too: float32[512,512]."""
SEED = 0
"""Seed of the arguments' data."""
_ARRAY = re.compile(r"(?P<dtype>[a-z]+\d*)\[(?P<shape>[\d,\s]*)\]")
_WORDS = {"True": True, "False": False, "None": None}


def make_input(spec: str, position: int = 0) -> Any:
    """The argument that a text describes: `dtype[shape]`, a number, True, False or None.

    Floating data is normal with mean 0 and variance 1, integers lie in [0, 10), booleans are fair;
    the same text at the same position gives the same data. Raises UsageError for other text.

    >>> make_input("i32[2,3]").shape, make_input("2.5"), make_input("True")
    ((2, 3), 2.5, True)
    >>> make_input("bfloat16[3]").dtype
    eutectic.core.bfloat16
    """
    text = spec.strip()
    if text in _WORDS:
        return _WORDS[text]
    found = _ARRAY.fullmatch(text)
    if found is None:
        return _number(spec)
    name = found["dtype"]
    if name not in _BY_NAME:
        raise UsageError(f"[input] {name!r} in {spec!r} is no data type; there are "
                            f"{', '.join(DTYPES)}.")
    sizes = [s.strip() for s in found["shape"].split(",")]
    if sizes[-1] == "":  # f32[] has no axes, and f32[3,] one
        sizes.pop()
    if "" in sizes:
        raise UsageError(f"[input] {spec!r} has an empty size; write shapes like [512,512].")
    return _data(_BY_NAME[name], tuple(map(int, sizes)), position)


def _number(spec: str) -> int | float:
    for kind in (int, float):
        try:
            return kind(spec)
        except ValueError:
            continue
    raise UsageError(f"[input] cannot read {spec!r}; write an array as f32[512,512], a number "
                        "as 2.5, or True, False, None.")


def _data(dtype: Dtype, shape: tuple[int, ...], position: int) -> mx.array:
    key = mx.random.split(mx.random.key(SEED), position + 1)[position]
    if dtype is mx.bool_:
        made = mx.random.bernoulli(0.5, shape, key)
    elif dtype.is_int:
        made = mx.random.randint(0, 10, shape, mx.int32, key).astype(dtype)
    elif dtype.is_complex:
        made = mx.random.normal(shape, mx.complex64, key=key)
    else:
        made = mx.random.normal(shape, mx.float32, key=key).astype(dtype)
    mx.eval(made)
    return made


def load_function(name: str) -> Callable[..., Any]:
    """The function that `pkg.mod:fun` or `path/to/file.py:fun` names (`fun` may have dots).

    Modules are looked for in the current directory first. Raises UsageError where there is no
    such module or function; errors of the module itself pass through.
    """
    where, colon, path = name.rpartition(":")
    if not colon or not where or not path:
        raise UsageError(f"[function] {name!r} names no function; write package.module:function "
                            "or path/to/file.py:function.")
    found = _load_file(where) if where.endswith(".py") else _load_module(where)
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            near = [n for n in vars(found) if n[0] != "_" and callable(vars(found)[n])]
            known = f"; it has {', '.join(sorted(near)[:8])}" if near else ""
            raise UsageError(f"[function] {where} has no {path!r}{known}.") from None
    if not callable(found):
        raise UsageError(f"[function] {name} is a {type(found).__name__}, not a function.")
    return found


def _load_module(name: str) -> Any:
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A module that the user's module fails to import is an error of theirs.
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise UsageError(f"[function] there is no module {error.name!r} in {here} or on "
                                "Python's path.") from None
        raise


def _load_file(path: str) -> Any:
    if not os.path.isfile(path):
        raise UsageError(f"[function] there is no file {path!r}.")
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as when Python runs the file
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module
