"""Data types: promotion, categories, limits; compared with mlx where it is installed."""

from __future__ import annotations

import copy
import importlib.util
import pickle

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.dtype import DTYPES, from_numpy, promote

CATEGORIES = (mx.generic, mx.number, mx.integer, mx.signedinteger, mx.unsignedinteger, mx.inexact,
              mx.floating, mx.complexfloating)


def test_promotion_is_a_join() -> None:
    for a in DTYPES:
        assert promote(a, a) is a
        assert promote(a, mx.bool_) is a
        for b in DTYPES:
            d = promote(a, b)
            assert d is promote(b, a)
            assert promote(d, a) is promote(d, b) is d


@pytest.mark.skipif(importlib.util.find_spec("mlx") is None, reason="needs mlx")
def test_against_mlx() -> None:
    import mlx.core as mlx

    def theirs(name: str) -> object:
        return getattr(mlx, "bool_" if name == "bool" else name)

    names = [d.name for d in DTYPES if d is not mx.float64]
    for a in names:
        for b in names:
            want = str(mlx.result_type(theirs(a), theirs(b))).split(".")[-1]
            ours = getattr(mx, "bool_" if a == "bool" else a), getattr(
                mx, "bool_" if b == "bool" else b)
            assert mx.result_type(*ours).name == want
            assert mx.can_cast(*ours) == mlx.can_cast(theirs(a), theirs(b))
        for c in CATEGORIES:
            assert mx.issubdtype(getattr(mx, "bool_" if a == "bool" else a), c) == mlx.issubdtype(
                theirs(a), getattr(mlx, c.name))
    for a in CATEGORIES:
        for c in CATEGORIES:
            assert mx.issubdtype(a, c) == mlx.issubdtype(getattr(mlx, a.name), getattr(mlx, c.name))


def test_limits() -> None:
    for d in (mx.float16, mx.float32, mx.float64):
        ours, theirs = mx.finfo(d), np.finfo(d.np)
        assert (ours.min, ours.max, ours.eps, ours.smallest_normal, ours.bits) == (
            theirs.min, theirs.max, theirs.eps, theirs.smallest_normal, theirs.bits)
    assert mx.finfo(mx.bfloat16).eps == 2.0 ** -7
    assert mx.finfo(mx.complex64).dtype is mx.float32
    assert repr(mx.finfo(mx.float32)) == "finfo(min=-3.40282e+38, max=3.40282e+38, dtype=float32)"
    for d in DTYPES:
        if d.is_int:
            assert (mx.iinfo(d).min, mx.iinfo(d).max) == (np.iinfo(d.np).min, np.iinfo(d.np).max)


def test_sizes_and_names() -> None:
    for d in DTYPES:
        assert d.np.itemsize == d.size
        assert repr(d) == f"eutectic.core.{d.name}"
        assert pickle.loads(pickle.dumps(d)) is d
        assert copy.deepcopy(d) is d
    assert repr(mx.floating) == "DtypeCategory.floating"


def test_numpy_types() -> None:
    for d in DTYPES:
        if d is not mx.bfloat16:
            assert from_numpy(d.np) is d
            assert from_numpy(d.np.newbyteorder(">")) is d
    assert from_numpy("U1") is None
    assert from_numpy(object) is None


def test_kinds() -> None:
    assert mx.isdtype(mx.int8, "integral")
    assert mx.isdtype(mx.int8, ("real floating", mx.int8))
    assert not mx.isdtype(mx.float32, "integral")
    assert mx.isdtype(mx.bool_, "bool")
    assert not mx.isdtype(mx.bool_, "numeric")
    assert mx.isdtype(mx.complex64, "complex floating")
