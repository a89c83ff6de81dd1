"""Kernels of few and of many arrays, whose addresses are made in different ways: the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.codegen.loop_kernel import HIDDEN
from eutectic.engine.kernels import llvm_text
from eutectic.engine.steps import LoopStep

COUNTS = (HIDDEN - 1, HIDDEN, 3 * HIDDEN)
SHAPES = ((1,), (63,), (1000,), (3, 65), (5, 130), (3, 70_001))


def mixed(*xs: mx.array) -> list[mx.array]:
    a, found = xs[0], []
    for i, x in enumerate(xs[1:]):
        a = mx.maximum(a * x + x, -a) if i % 2 else a - x
        if i % 5 == 4:
            found.append(a)
    return [a, *found]


def rows(*xs: mx.array) -> list[mx.array]:
    """Two passes over a row, with what the first has computed."""
    a = mx.tanh(mixed(*xs)[0])
    return [a / mx.sum(mx.exp(a), axis=-1, keepdims=True), mx.max(a, axis=-1)]


def inputs(count: int, shape: tuple[int, ...], turned: bool) -> list[mx.array]:
    rng = np.random.default_rng(count)
    xs = [mx.array(rng.standard_normal(shape).astype(np.float32)) for _ in range(count)]
    xs[1] = xs[1].astype(mx.bfloat16)
    return [x[..., ::-1] if turned and i % 3 == 0 else x for i, x in enumerate(xs)]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("fun", [mixed, rows])
def test_compiled_as_plain(fun: Callable[..., list[mx.array]], count: int, shape: tuple[int, ...],
                           turned: bool) -> None:
    xs = inputs(count, shape, turned)
    for plain, compiled in zip(fun(*xs), mx.compile(fun)(*xs)):
        assert np.array(plain).tobytes() == np.array(compiled).tobytes()


def test_the_index_is_hidden_where_arrays_are_many() -> None:
    def text(count: int) -> str:
        plan = mx.compile(lambda *xs: mixed(*xs)[0]).lower(*inputs(count, (100,), False)).plan
        [step] = plan.steps
        assert isinstance(step, LoopStep)
        return llvm_text(step.spec)

    assert "%at = alloca" not in text(HIDDEN - 1)  # the result is one more
    assert "%at = alloca" in text(HIDDEN)
