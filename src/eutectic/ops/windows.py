"""Windows of signal processing, computed in float64 and rounded to float32 once."""

from __future__ import annotations

import math
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import float32, float64
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops.checks import apply, integer
from eutectic.ops.devices import streamed


def _constant(value: float) -> Node:
    return prims.const(value, float64)


def _window(name: str, m: Any, *weights: float) -> array:
    """sum over k of weights[k] * cos(2 pi k i / (M - 1)), i = 0 .. M - 1; 1 where M is 1."""
    count = integer(name, "M", m)
    if count <= 1:
        return wrap(prims.broadcast(prims.const(1, float32), (max(count, 0),)))
    # From the middle out, so that both halves have the same bits.
    i = prims.cast(prims.iota((count,), 0), float64)
    from_middle = apply("subtract", apply("multiply", i, _constant(2.0)), _constant(count - 1))
    total = None
    # Even terms first: then Blackman's window ends in exact zeros.
    for k, weight in sorted(enumerate(weights), key=lambda term: term[0] % 2):
        # cos(pi k (1 + x)) = (-1)^k cos(pi k x), x = (2 i - (M - 1)) / (M - 1)
        angle = apply("multiply", from_middle, _constant(math.pi * k / (count - 1)))
        term = apply("multiply", apply("cos", angle), _constant(weight * (-1) ** k))
        total = term if total is None else apply("add", total, term)
    assert total is not None
    return wrap(prims.cast(total, float32))


@streamed
def bartlett(M: int, *, stream: Any = None) -> array:
    """Triangular window of M points, float32: 1 - |2i/(M-1) - 1|. None for M below 1.

    >>> import eutectic.core as mx
    >>> mx.bartlett(5)
    array([0, 0.5, 1, 0.5, 0], dtype=float32)
    """
    count = integer("bartlett", "M", M)
    if count <= 1:
        return _window("bartlett", count)
    i = prims.cast(prims.iota((count,), 0), float64)
    off = apply("subtract", apply("multiply", i, _constant(2.0)), _constant(count - 1))
    part = apply("divide", apply("abs", off, dtype=float64), _constant(count - 1))
    return wrap(prims.cast(apply("subtract", _constant(1.0), part), float32))


@streamed
def hanning(M: int, *, stream: Any = None) -> array:
    """Hann window of M points, float32: 0.5 - 0.5 cos(2 pi i / (M-1)). None for M below 1.

    >>> import eutectic.core as mx
    >>> mx.hanning(5)
    array([0, 0.5, 1, 0.5, 0], dtype=float32)
    """
    return _window("hanning", M, 0.5, -0.5)


@streamed
def hamming(M: int, *, stream: Any = None) -> array:
    """Hamming window of M points, float32: 0.54 - 0.46 cos(2 pi i / (M-1)). None for M below 1.

    >>> import eutectic.core as mx
    >>> mx.hamming(3)
    array([0.08, 1, 0.08], dtype=float32)
    """
    return _window("hamming", M, 0.54, -0.46)


@streamed
def blackman(M: int, *, stream: Any = None) -> array:
    """Blackman window of M points, float32: 0.42 - 0.5 cos(t) + 0.08 cos(2t), t = 2 pi i / (M-1).

    None for M below 1.

    >>> import eutectic.core as mx
    >>> mx.blackman(5)
    array([0, 0.34, 1, 0.34, 0], dtype=float32)
    """
    return _window("blackman", M, 0.42, -0.5, 0.08)
