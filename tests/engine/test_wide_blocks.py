"""Blocks of twice the lanes: long chains of one costly operation, bit for bit as plain."""

from __future__ import annotations

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.codegen.targets import AVX2, AVX512
from eutectic.engine import loop_tuning

SIZES = (129, 191, 1000, 1023, 1025, 1984, 64 * 240 + 1, 64 * 256, 64 * 256 + 65, 70_001)
REDUCTIONS = (mx.sum, mx.prod, mx.max, mx.argmin, mx.logsumexp, mx.mean)


@pytest.fixture(autouse=True)
def many_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice of a processor with 32 vector registers, on whatever runs the tests."""
    monkeypatch.setattr(loop_tuning, "host_target", lambda: AVX512)


def chain(x: mx.array) -> mx.array:
    for _ in range(4):
        x = mx.tanh(x * 1.01 + 0.01)
    return x


def bits(a: mx.array) -> bytes:
    return np.array(a).tobytes()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("reduce", REDUCTIONS, ids=lambda f: f.__name__)
def test_reduction(n: int, reduce: object) -> None:
    x = mx.array(np.random.default_rng(n).normal(size=(3, n)).astype(np.float32))
    for view in (x[0], x, x[:, ::-1], x[1:, 1:]):
        plain = reduce(chain(view), axis=-1)  # type: ignore[operator]
        compiled = mx.compile(lambda v: reduce(chain(v), axis=-1))(view)  # type: ignore[operator]
        assert bits(plain) == bits(compiled)


@pytest.mark.parametrize("n", SIZES)
def test_elements(n: int) -> None:
    x = mx.array(np.random.default_rng(n).normal(size=(2, n)).astype(np.float32))
    for view in (x, x[:, ::-1], x[:, 1:], x[0]):
        assert bits(chain(view)) == bits(mx.compile(chain)(view))


def test_which_kernels_are_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain is wide where registers allow; two values alive at once, or short rows, are not."""
    x = mx.zeros((4, 4096))

    def width(fun: object, *args: mx.array) -> int:
        [kernel] = mx.explain(fun, *args).kernels
        return kernel.step.spec.width

    assert width(chain, x) == 128
    assert width(lambda v: chain(v).sum(axis=-1), x) == 128
    assert width(lambda v: chain(v) * v, x) == 64
    assert width(lambda v, w: chain(v * w), x, x) == 64
    assert width(mx.tanh, x) == 64
    assert width(lambda v: chain(v).sum(axis=-1), x[:, :100]) == 64
    monkeypatch.setattr(loop_tuning, "host_target", lambda: AVX2)
    assert width(chain, x) == 64
