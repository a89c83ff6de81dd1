"""The LLVM text of a few dozen kernels, of every kind and dtype, is what was reviewed.

`pytest tests/codegen/test_golden.py --update-golden` writes the files anew; read the difference
before it is committed. The text does not depend on the machine.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.codegen.loop_kernel import HIDDEN
from eutectic.engine.kernels import llvm_text
from eutectic.engine.steps import LoopStep, ProductStep

GOLDEN = Path(__file__).parent / "golden"


def zeros(*shape, dtype=mx.float32):
    """Memory of its own, row-major: `mx.zeros` repeats one element."""
    a = mx.array(np.zeros(shape, np.float32)).astype(dtype)
    mx.eval(a)
    return a


def strided(*shape):
    a = mx.transpose(zeros(*reversed(shape)))
    mx.eval(a)
    return a


def axpy(x, y):
    return x * 2 + y


CASES = {
    # By name: the function and its inputs.
    **{f"map_{d.name}": (axpy, (zeros(100, dtype=d), zeros(100, dtype=d)))
       for d in (mx.float32, mx.float64, mx.float16, mx.bfloat16, mx.complex64, mx.int32, mx.int8,
                 mx.uint64)},
    "map_bool": (mx.logical_xor, (zeros(100, dtype=mx.bool_), zeros(100, dtype=mx.bool_))),
    "map_compare": (mx.less, (zeros(100), zeros(100))),
    "map_select": (mx.where, (zeros(100, dtype=mx.bool_), zeros(100), zeros(100))),
    "map_cast_saturates": (lambda x: x.astype(mx.uint8), (zeros(100),)),
    "map_cast_wide_to_half": (lambda x: x.astype(mx.bfloat16), (zeros(100, dtype=mx.float64),)),
    "map_cast_int_to_float": (lambda x: x.astype(mx.float32), (zeros(100, dtype=mx.int64),)),
    "map_broadcast_rows": (axpy, (zeros(70, 100), zeros(100))),
    "map_broadcast_columns": (axpy, (zeros(70, 100), zeros(70, 1))),
    "map_coordinates": (lambda x: x + mx.arange(100), (zeros(100, dtype=mx.int64),)),
    "map_two_results": (lambda x: (lambda y: (y, y * y))(x + 1), (zeros(100),)),
    "map_many_arrays": (lambda *xs: sum(xs), tuple(zeros(100) for _ in range(HIDDEN))),
    "map_outlined": (lambda x: mx.exp(mx.exp(mx.exp(x))), (zeros(100),)),
    "map_copy": (lambda x: mx.reshape(x, (7000,)), (strided(70, 100),)),
    "map_random": (lambda k: mx.random.bernoulli(0.5, (100,), key=k),
                   (zeros(2, dtype=mx.uint32),)),
    "row_sum_float32": (lambda x: mx.sum(x, axis=-1), (zeros(70, 1000),)),
    "row_sum_bfloat16": (lambda x: mx.sum(x, axis=-1), (zeros(70, 1000, dtype=mx.bfloat16),)),
    "row_sum_int8": (lambda x: mx.sum(x, axis=-1), (zeros(70, 1000, dtype=mx.int8),)),
    "row_max_float64": (lambda x: mx.max(x, axis=-1), (zeros(70, 1000, dtype=mx.float64),)),
    "row_argmin": (lambda x: mx.argmin(x, axis=-1), (zeros(70, 1000),)),
    "row_all": (lambda x: mx.all(x, axis=-1), (zeros(70, 1000, dtype=mx.bool_),)),
    "row_normalise": (lambda x: x / mx.sum(x, axis=-1, keepdims=True), (zeros(70, 1000),)),
    "short_sum": (lambda x: mx.sum(x, axis=-1), (strided(5000, 4),)),
    "units_sum": (lambda x: mx.sum(x), (zeros(100_000),)),
    "col_sum_float32": (lambda x: mx.sum(x, axis=0), (zeros(70, 1000),)),
    "col_max_float16": (lambda x: mx.max(x, axis=0), (zeros(70, 1000, dtype=mx.float16),)),
    "col_with_epilogue": (lambda x: mx.sum(x * x, axis=0) + 1, (zeros(70, 1000),)),
    "product_epilogue": (lambda a, b, c: mx.maximum(a @ b + c, 0),
                         (zeros(20, 30), zeros(30, 40), zeros(40))),
}


def spec_of(name):
    fun, inputs = CASES[name]
    steps = mx.compile(lambda *xs: fun(*xs)).lower(*inputs).plan.steps
    loops = [s if isinstance(s, LoopStep) else s.epilogue for s in steps
             if isinstance(s, (LoopStep, ProductStep))]
    assert len(loops) == 1, "a golden case is one kernel"
    return loops[0].spec


def text_of(name):
    """The structure as comments, then the module; the kernel's name without its digest."""
    spec = spec_of(name)
    head = "".join(f"; {line}\n" for line in spec.text().splitlines())
    return head + re.sub(r"\bk_[0-9a-f]{20}", "kernel", llvm_text(spec))


@pytest.mark.parametrize("name", CASES)
def test_golden(name, request):
    path, found = GOLDEN / f"{name}.ll", text_of(name)
    if request.config.getoption("--update-golden"):
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(found)
        return
    assert path.exists(), "no golden file: run with --update-golden"
    if found != path.read_text():
        lines, old = found.splitlines(), path.read_text().splitlines()
        at = next((i for i, (a, b) in enumerate(zip(lines, old)) if a != b),
                  min(map(len, (lines, old))))
        raise AssertionError(
            f"{path.name} differs from line {at + 1} on:\n- {'; '.join(old[at:at + 3])}\n"
            f"+ {'; '.join(lines[at:at + 3])}\nRun with --update-golden if that is meant.")


def test_the_files_are_those_of_the_cases():
    assert {p.stem for p in GOLDEN.glob("*.ll")} == set(CASES)


def test_their_names_tell_their_kinds():
    for name in CASES:
        kind = name.split("_")[0]
        assert spec_of(name).kind == ("map" if kind == "product" else kind)


def test_no_fast_math_and_constants_as_bits():
    """What the contract on numbers forbids occurs in none of them."""
    for path in GOLDEN.glob("*.ll"):
        text = path.read_text()
        assert not re.search(r"\b(fast|nnan|ninf|nsz|arcp|contract|afn|reassoc)\b", text)
        assert not re.search(r"(float|double) -?\d+\.\d", text), "a constant as decimal text"


def test_the_text_is_the_same_each_time():
    assert text_of("map_outlined") == text_of("map_outlined")
    assert np.unique([text_of("row_argmin") for _ in range(3)]).size == 1
