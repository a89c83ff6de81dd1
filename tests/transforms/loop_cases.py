"""What the tests of `scan`, `while_loop` and `cond` share: data, and a scan as a Python loop."""

from __future__ import annotations

import numpy as np

import eutectic.core as mx
from eutectic.tree import flatten, unflatten

RNG = np.random.default_rng(3)


def normal(*shape, dtype=np.float32):
    return mx.array(RNG.standard_normal(shape).astype(dtype))


def f64(*shape):
    return mx.array(RNG.standard_normal(shape), dtype=mx.float64)


def bits(tree):
    leaves, treedef = flatten(tree)
    mx.eval(leaves)
    return treedef, [(x.shape, x.dtype, bytes(x)) for x in leaves]


def unrolled(f, init, xs=None, length=None, reverse=False):
    """The scan as a Python loop."""
    leaves, treedef = flatten(xs)
    n = leaves[0].shape[0] if leaves else length
    carry, ys = init, [None] * n
    for i in reversed(range(n)) if reverse else range(n):
        carry, ys[i] = f(carry, unflatten(treedef, [x[i] for x in leaves]))
    _first, ydef = flatten(ys[0])
    columns = zip(*[flatten(y)[0] for y in ys])
    return carry, unflatten(ydef, [mx.stack(list(c)) for c in columns])
