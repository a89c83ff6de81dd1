"""Every operation through a file and back: the same graph, the same bits."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from samples import STRUCTURAL, Sample, elementwise

import eutectic.core as mx
from eutectic.dtype import DTYPES
from eutectic.export.rules import NAMES, PRIMS
from eutectic.ops.registry import OPS
from eutectic.tree import leaves


def imported(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    file = io.BytesIO()
    mx.export_function(file, fun, *args, **kwargs)
    return mx.import_function(io.BytesIO(file.getvalue()))


def operations(function: Any) -> set[str]:
    return {NAMES[op.prim] for t in function._traces for op in t.operations}


def same_bits(a: mx.array, b: mx.array) -> bool:
    return (a.shape, a.dtype, bytes(a)) == (b.shape, b.dtype, bytes(b))


def check(sample: Sample) -> set[str]:
    fun, args = sample
    function = imported(fun, *args)
    plain = leaves(fun(*args))
    for found in (function(*args), mx.compile(function)(*args)):
        assert type(found) is tuple
        assert len(found) == len(plain)
        for i, (a, b) in enumerate(zip(found, plain)):
            assert same_bits(a, b), i
    return operations(function)


@pytest.mark.parametrize("name", STRUCTURAL)
def test_structural(name: str) -> None:
    check(STRUCTURAL[name])


@pytest.mark.parametrize("name", OPS)
def test_elementwise(name: str) -> None:
    """Bits for one dtype, and that every dtype can be written and read."""
    op = OPS[name]
    accepted = [d for d in DTYPES if op.takes(d)]
    check(elementwise(name, mx.float32 if mx.float32 in accepted else accepted[-1]))
    for d in accepted:
        fun, args = elementwise(name, d)
        assert name in operations(imported(fun, *args)), d


def test_every_operation_has_a_sample() -> None:
    seen = set(OPS)
    for fun, args in STRUCTURAL.values():
        seen |= operations(imported(fun, *args))
    assert PRIMS.keys() - seen == set()
