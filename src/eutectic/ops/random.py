"""Random numbers: Threefry-2x32 with counters laid out as MLX does, so that keys give MLX's bits.

The n words of a key are the outputs for the counters (i, i + c), i < c = ceil(n/2): first all
first words, then all second ones; for odd n the last counter is (c - 1, 0). A word w becomes
min(w / 2^32, 1 - 2^-24) in [0, 1); the others are made from that.
"""

from __future__ import annotations

import math
import time
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, bfloat16, bool_, complex64, float16, float32, int32, uint32
from eutectic.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel import mathlib as ml
from eutectic.kernel.prim import Prim
from eutectic.kernel.scalar import Value, convert, select
from eutectic.ops.arithmetic import add, divide, minimum, multiply, subtract
from eutectic.ops.checks import apply, integer, shape_of
from eutectic.ops.comparison import less
from eutectic.ops.devices import streamed
from eutectic.ops.functions import erfinv, floor, log
from eutectic.ops.registry import broadcast_shape, node_of
from eutectic.tracing.state import IMPLICIT, implicit_lock


def _bits_body(k0: Value, k1: Value, i: Value, half: Value, odd: Value) -> Value:
    index = convert(i, "u32")
    second = index >= half
    c0 = select(second, index - half, index)
    c1 = select(c0.eq(odd), c0 ^ c0, c0 + half)
    x0, x1 = ml.threefry2x32(k0, k1, c0, c1)
    return select(second, x1, x0)


BITS = Prim("random_bits", "elementwise", body=_bits_body)
"""Words of a key: inputs (first half of the key, second half, iota, half the count, the counter
whose second word is 0, or 2^32-1)."""


def draw_bits(key: Node, count: int) -> Node:
    """`count` words of a key, as a vector."""
    k0 = prims.reshape(prims.slice_(key, (0,), (1,), (1,)), ())
    k1 = prims.reshape(prims.slice_(key, (1,), (1,), (1,)), ())
    half = (count + 1) // 2
    odd = half - 1 if count % 2 else 0xFFFFFFFF
    inputs = (k0, k1, prims.iota((count,), 0), prims.const(half, uint32), prims.const(odd, uint32))
    return Node(BITS, inputs, (), (count,), uint32)


def key(seed: int) -> array:
    """The key, two uint32 words, of an integer in [0, 2^64).

    >>> import eutectic.core as mx
    >>> mx.random.key(7)
    array([0, 7], dtype=uint32)
    """
    n = integer("key", "seed", seed)
    if not 0 <= n < 1 << 64:
        raise ArgumentError(f"[key] the seed must be in [0, 2**64), got {n}.")
    return array([n >> 32, n & 0xFFFFFFFF], uint32)


def checked_key(name: str, k: Any) -> Node:
    if not isinstance(k, array):
        raise ArgumentTypeError(f"[{name}] a key is an array, not a {type(k).__name__}.")
    if k._n.dtype is not uint32:
        raise DtypeError(f"[{name}] a key has dtype uint32, not {k._n.dtype.name}.")
    if k._n.shape != (2,):
        raise ShapeError(f"[{name}] a key has shape (2,), not {show_shape(k._n.shape)}.")
    return k._n


@streamed
def split(key: array, num: int = 2, stream: Any = None) -> array:
    """`num` keys made from one, as rows of a uint32 array.

    >>> import eutectic.core as mx
    >>> mx.random.split(mx.random.key(0), 3).shape
    (3, 2)
    """
    n = checked_key("split", key)
    count = integer("split", "num", num)
    if count < 0:
        raise ArgumentError(f"[split] num must not be negative, got {count}.")
    return wrap(prims.reshape(draw_bits(n, 2 * count), (count, 2)))


state: list[array] = [key(time.time_ns() & 0xFFFFFFFFFFFFFFFF)]
"""The key that draws without a key of their own come from; each replaces it."""
IMPLICIT.append(state)  # every compiled function that draws captures it


def seed(seed: int) -> None:
    """Set the global state to the key of an integer.

    >>> import eutectic.core as mx
    >>> mx.random.seed(3)
    >>> a = mx.random.uniform(shape=(2,))
    >>> mx.random.seed(3)
    >>> mx.array_equal(a, mx.random.uniform(shape=(2,)))
    array(True, dtype=bool)
    """
    state[0] = key(seed)


def next_key(name: str, given: Any) -> Node:
    """The key given, or the next one of the global state."""
    if given is not None:
        return checked_key(name, given)
    with implicit_lock:
        two = draw_bits(checked_key(name, state[0]), 4)
        state[0] = wrap(prims.slice_(two, (0,), (1,), (2,)))
        return prims.slice_(two, (2,), (1,), (2,))


# Upper bound of a draw from [0, 1): the greatest number of the dtype below 1.
_BELOW_ONE = {float16: 1 - 2.0 ** -11, bfloat16: 1 - 2.0 ** -8}


def _unit(key: Node, count: int, dtype: Dtype) -> Node:
    """`count` numbers in [0, 1) as a vector."""
    words = prims.cast(draw_bits(key, count), float32)
    u = prims.cast(apply(divide, words, prims.const(2.0 ** 32, float32)), dtype)
    return apply(minimum, u, prims.const(_BELOW_ONE.get(dtype, 1 - 2.0 ** -24), dtype))


def _stretched(u: Node, low: Node, high: Node) -> Node:
    return apply(add, apply(multiply, apply(subtract, high, low), u), low)


def _lower_uniform(n: Node) -> Node:
    u = _unit(n.inputs[0], n.shape[0], n.dtype)
    return u if len(n.inputs) == 1 else _stretched(u, *n.inputs[1:])


def _lower_normal(n: Node) -> Node:
    low = prims.const(-(1 - 2.0 ** -24), float32)
    u = _stretched(_unit(n.inputs[0], n.shape[0], float32), low, prims.const(1, float32))
    x = prims.cast(apply(erfinv, u), n.dtype)
    return _placed(x, *(n.inputs[1:] or (None, None)))


def _placed(x: Node, loc: Node | None, scale: Node | None) -> Node:
    factor = prims.const(math.sqrt(2.0), x.dtype)
    if scale is not None:
        factor = apply(multiply, factor, scale)
    x = apply(multiply, x, factor)
    return x if loc is None else apply(add, x, loc)


UNIFORM = Prim("random_uniform", "composite", lower=_lower_uniform)
"""A vector of draws from [0, 1), or [low, high): inputs (key) or (key, low, high)."""
NORMAL = Prim("random_normal", "composite", lower=_lower_normal)
"""A vector of normal draws: inputs (key) or (key, loc, scale)."""


def _count(shape: tuple[int, ...]) -> int:
    size = 1
    for d in shape:
        size *= d
    return size


def floating_dtype(name: str, dtype: Any) -> Dtype:
    dtype = float32 if dtype is None else dtype
    if not isinstance(dtype, Dtype):
        raise ArgumentTypeError(f"[{name}] dtype must be a Dtype, not a {type(dtype).__name__}.")
    if not dtype.is_float:
        raise DtypeError(f"[{name}] only floating dtypes are drawn, not {dtype.name}.")
    return dtype


def _fits(name: str, shape: tuple[int, ...], *parameters: Node) -> None:
    common = broadcast_shape(name, *[p.shape for p in parameters])
    if broadcast_shape(name, common, shape) != shape:
        raise ShapeError(f"[{name}] parameters of shape {show_shape(common)} do not broadcast to "
                         f"{show_shape(shape)}.")


def _uniform(name: str, low: Node, high: Node, shape: tuple[int, ...], dtype: Dtype,
             key: Node, plain: bool) -> Node:
    _fits(name, shape, low, high)
    count = (_count(shape),)
    if plain:
        return prims.reshape(Node(UNIFORM, (key,), (), count, dtype), shape)
    if not low.shape and not high.shape:
        return prims.reshape(Node(UNIFORM, (key, low, high), (), count, dtype), shape)
    u = prims.reshape(Node(UNIFORM, (key,), (), count, dtype), shape)
    return _stretched(u, low, high)


@streamed
def uniform(low: Any = 0, high: Any = 1, shape: Any = (), dtype: Dtype | None = float32,
            key: array | None = None, stream: Any = None) -> array:
    """Numbers drawn evenly from [low, high).

    `low` and `high` are numbers or arrays that broadcast to the shape. Floating dtypes. Raises
    DtypeError for others, ShapeError where bounds do not broadcast.

    >>> import eutectic.core as mx
    >>> mx.random.uniform(shape=(2,), key=mx.random.key(0))
    array([0.216295, 0.804124], dtype=float32)
    """
    d = floating_dtype("uniform", dtype)
    to = shape_of("uniform", shape)
    plain = type(low) is int and low == 0 and type(high) is int and high == 1
    first = prims.cast(node_of(low, "uniform", d), d)
    last = prims.cast(node_of(high, "uniform", d), d)
    return wrap(_uniform("uniform", first, last, to, d, next_key("uniform", key), plain))


@streamed
def normal(shape: Any = (), dtype: Dtype | None = float32, loc: Any = None, scale: Any = None,
           key: array | None = None, stream: Any = None) -> array:
    """Numbers drawn from the normal distribution of mean `loc` and standard deviation `scale`.

    sqrt(2) * erfinv(u) * scale + loc with u drawn evenly from (-1, 1). `loc` and `scale` are
    numbers or arrays that broadcast to the shape. Floating dtypes and complex64, whose parts have
    variance 1/2. Raises DtypeError for other dtypes.

    >>> import eutectic.core as mx
    >>> mx.random.normal((2,), key=mx.random.key(0))
    array([-0.784766, 0.856445], dtype=float32)
    """
    to = shape_of("normal", shape)
    if dtype is complex64:
        return _complex_normal(to, loc, scale, key)
    d = floating_dtype("normal", dtype)
    k = next_key("normal", key)
    count = (_count(to),)
    if loc is None and scale is None:
        return wrap(prims.reshape(Node(NORMAL, (k,), (), count, d), to))
    mean = prims.cast(node_of(0 if loc is None else loc, "normal", d), d)
    spread = prims.cast(node_of(1 if scale is None else scale, "normal", d), d)
    _fits("normal", to, mean, spread)
    if not mean.shape and not spread.shape:
        return wrap(prims.reshape(Node(NORMAL, (k, mean, spread), (), count, d), to))
    x = prims.reshape(Node(NORMAL, (k,), (), count, d), to)
    return wrap(apply(add, apply(multiply, x, spread), mean))


def _complex_normal(shape: tuple[int, ...], loc: Any, scale: Any, key: Any) -> array:
    from eutectic.ops.views import as_complex

    parts = normal((*shape, 2), float32, scale=math.sqrt(0.5), key=key)._n
    z = wrap(as_complex(parts))
    z = z if scale is None else multiply(z, scale)
    return z if loc is None else add(z, loc)


@streamed
def randint(low: Any, high: Any, shape: Any = (), dtype: Dtype | None = int32,
            key: array | None = None, stream: Any = None) -> array:
    """Integers drawn evenly from [low, high): the floor of a float32 draw.

    `low` and `high` are numbers or arrays that broadcast to the shape. Integer dtypes and bool.
    Raises DtypeError for others, ArgumentError for bounds that the dtype does not hold.

    >>> import eutectic.core as mx
    >>> mx.random.randint(0, 10, (4,), key=mx.random.key(0))
    array([9, 2, 6, 2], dtype=int32)
    """
    d = int32 if dtype is None else dtype
    if not isinstance(d, Dtype):
        raise ArgumentTypeError(f"[randint] dtype must be a Dtype, not a {type(d).__name__}.")
    if not (d.is_int or d is bool_):
        raise DtypeError(f"[randint] only integers and booleans are drawn, not {d.name}.")
    to = shape_of("randint", shape)
    least = -(1 << 8 * d.size - 1) if d.is_signed else 0
    most = 1 if d is bool_ else least + (1 << 8 * d.size) - 1
    for x in (low, high):
        if isinstance(x, (int, float)) and not least <= x <= most + 1:
            raise ArgumentError(f"[randint] the bound {x} does not fit {d.name}.")
    first = prims.cast(node_of(low, "randint", float32), float32)
    last = prims.cast(node_of(high, "randint", float32), float32)
    last = last if isinstance(high, (int, float)) and isinstance(low, (int, float)) and (
        low <= high) else apply("maximum", first, last)
    u = _uniform("randint", first, last, to, float32, next_key("randint", key), False)
    return wrap(prims.cast(apply(floor, u), d))


@streamed
def bernoulli(p: Any = 0.5, shape: Any = None, key: array | None = None,
              stream: Any = None) -> array:
    """Booleans that are true with probability `p`, a number or an array of floats.

    Without a shape the result has that of `p`. Raises DtypeError for integer arrays, ShapeError
    where `p` does not broadcast to the shape.

    >>> import eutectic.core as mx
    >>> mx.random.bernoulli(0.5, (3,), key=mx.random.key(0))
    array([False, True, False], dtype=bool)
    """
    n = node_of(p, "bernoulli", float32)
    if not n.dtype.is_float:
        raise DtypeError(f"[bernoulli] the probability must be a float, not {n.dtype.name}.")
    to = n.shape if shape is None else shape_of("bernoulli", shape)
    n = prims.cast(n, float32)
    _fits("bernoulli", to, n)
    zero, one = prims.const(0, float32), prims.const(1, float32)
    u = _uniform("bernoulli", zero, one, to, float32, next_key("bernoulli", key), True)
    return wrap(apply(less, u, n, dtype=bool_))


@streamed
def gumbel(shape: Any = (), dtype: Dtype | None = float32, key: array | None = None,
           stream: Any = None) -> array:
    """Numbers drawn from the standard Gumbel distribution: -log(-log(u)). Floating dtypes.

    >>> import eutectic.core as mx
    >>> mx.random.gumbel((2,), key=mx.random.key(1)).shape
    (2,)
    """
    d = floating_dtype("gumbel", dtype)
    u = uniform(shape=shape, dtype=d, key=key)
    return -log(-log(u))
