"""The Hadamard transform."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eutectic.array import array, build, wrap
from eutectic.dtype import float32, float_of
from eutectic.errors import DtypeError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops.arithmetic import add, multiply, subtract
from eutectic.ops.checks import apply, number
from eutectic.ops.devices import streamed
from eutectic.ops.joining import slice_axis
from eutectic.ops.registry import node_of

# Matrices had.12, had.20.will and had.28.will of N. J. A. Sloane's table of Hadamard matrices
# (neilsloane.com/hadamard), a row a number: bit m - 1 - j is set where column j has a minus.
_MATRICES = {
    12: (0x400, 0xD55, 0x13C, 0x769, 0x04F, 0x5DA, 0x313, 0x676, 0x3C4, 0x69D, 0x0F1, 0x5A7),
    20: (0x7BCC9, 0xBDC74, 0xDEE2A, 0xEF705, 0xF7992, 0x83EC6, 0x45D63, 0x26EB1, 0x17758, 0x0F9AC,
         0xCA5F0, 0xE52E8, 0x72B64, 0x397A2, 0x9CBC1, 0xB65EF, 0x5F2F7, 0xABB7B, 0xD1FBD, 0x6CFDE),
    28: (0x7E796B3, 0xBE3EB59, 0xDF1D5EC, 0xEF8EAB6, 0xF7C751B, 0xFBE1ACD, 0xFCF2D66, 0xC2FE62D,
         0xE17D356, 0x71BC9AB, 0x39DE4D5, 0x1DEF26A, 0x0FF5935, 0x87F8CDA, 0xA4CDFE1, 0x5366FF0,
         0xA9B37B8, 0x54DBB9C, 0x2A6FD8E, 0x9537E87, 0x4B9BF43, 0x9948F3F, 0x4CA47DF, 0x27523EF,
         0x92AB1F7, 0xC8578FB, 0x652BC7D, 0x3295E7E),
}


def _factors(n: int) -> tuple[int, int] | None:
    """(m, k) with n = m * 2^k and m one of 1, 12, 20, 28."""
    for m in (1, *_MATRICES):
        q, r = divmod(n, m)
        if not r and q & (q - 1) == 0:
            return m, q.bit_length() - 1
    return None


def _matrix(m: int) -> np.ndarray:
    return np.array([[-1 if r >> (m - 1 - j) & 1 else 1 for j in range(m)]
                     for r in _MATRICES[m]], np.float64)


@streamed
def hadamard_transform(a: array, scale: float | None = None, stream: Any = None) -> array:
    """The last axis multiplied by the Hadamard matrix of its length, and by `scale`.

    Lengths m * 2^k with m one of 1, 12, 20, 28. The matrix is H_m for the groups of 2^k elements,
    Sylvester's within a group. The scale is 1/sqrt(n) by default. Integers give float32; halves
    are computed in float32. Raises ShapeError for other lengths, DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.hadamard_transform(mx.array([1.0, 2.0, 3.0, 4.0]), scale=1.0)
    array([10, -2, -4, 0], dtype=float32)
    """
    x = node_of(a, "hadamard_transform")
    if x.dtype.is_complex:
        raise DtypeError("[hadamard_transform] does not take complex64; give real numbers.")
    to = float_of(x.dtype)
    length = x.shape[-1] if x.shape else 1
    found = _factors(length) if length else None
    if found is None:
        raise ShapeError(f"[hadamard_transform] the last axis of shape {show_shape(x.shape)} is "
                         "not m * 2^k long, with m one of 1, 12, 20, 28.")
    m, k = found
    d = float32 if to.is_half else to
    n = prims.cast(x, d)
    if x.size:
        n = _steps(n, x.size // length, m, k)
    factor = (1 / math.sqrt(length) if scale is None
              else number("hadamard_transform", "scale", scale))
    n = apply(multiply, prims.reshape(n, x.shape), prims.const(factor, d))
    return wrap(prims.cast(n, to))


def _steps(n: Node, rows: int, m: int, k: int) -> Node:
    """The transform without its scale, of shape (rows, m, 2^k) or one with as many elements."""
    for step in range(k):
        half = 1 << step
        n = prims.reshape(n, (rows * m << (k - 1 - step), 2, half))
        x, y = slice_axis(n, 1, 0, 1), slice_axis(n, 1, 1, 2)
        n = prims.concatenate([apply(add, x, y), apply(subtract, x, y)], 1)
    if m > 1:
        n = prims.reshape(n, (rows, m, 1 << k))
        h = prims.broadcast(build(_matrix(m), n.dtype), (rows, m, m))
        n = prims.matmul(h, n)
    return n
