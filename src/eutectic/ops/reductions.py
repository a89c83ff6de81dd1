"""Reductions along axes: sums, extremes, moments, softmax.

`sum`, `prod`, `max`, `min`, `all`, `any`, `argmax` and `argmin` are primitives of the compiler.
The others are composites: one operation in the graph that lowers to simpler ones, computed in
float32 for float16 and bfloat16 with a single rounding at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, float32, float_of, int32, uint32
from eutectic.errors import DtypeError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel.prim import Prim
from eutectic.ops.arithmetic import divide, multiply, sqrt, subtract
from eutectic.ops.checks import apply, axes_of, axis_of, integer
from eutectic.ops.comparison import WHERE, isfinite, not_equal
from eutectic.ops.devices import streamed
from eutectic.ops.functions import exp, log
from eutectic.ops.registry import node_of


def _reduced(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple([1 if i in axes else d for i, d in enumerate(shape)])
    return tuple([d for i, d in enumerate(shape) if i not in axes])


def _simple(name: str, a: Any, axis: Any, keepdims: bool) -> array:
    n = node_of(a, name)
    axes = axes_of(name, axis, n.shape)
    reduction = prims.REDUCE[name].reduction
    assert reduction is not None
    to = reduction.result(n.dtype)
    return wrap(prims.reduce(name, prims.cast(n, to), axes, bool(keepdims)))


@streamed
def sum_(a: array, /, axis: Any = None, keepdims: bool = False, *, stream: Any = None) -> array:
    """Sum over axes (all by default); 0 of no elements.

    Integers narrower than 32 bits and booleans are summed as int32 or uint32; float16 and bfloat16
    accumulate in float32. Raises AxisError for an axis out of range or given twice.

    >>> import eutectic.core as mx
    >>> mx.sum(mx.array([[1, 2], [3, 4]]), axis=0)
    array([4, 6], dtype=int32)
    """
    return _simple("sum", a, axis, keepdims)


@streamed
def prod(a: array, /, axis: Any = None, keepdims: bool = False, *, stream: Any = None) -> array:
    """Product over axes (all by default); 1 of no elements. Dtypes as for `sum`.

    >>> import eutectic.core as mx
    >>> mx.prod(mx.array([[1, 2], [3, 4]]))
    array(24, dtype=int32)
    """
    return _simple("prod", a, axis, keepdims)


def _extreme(name: str, a: Any, axis: Any, keepdims: bool) -> array:
    n = node_of(a, name)
    axes = axes_of(name, axis, n.shape)
    for i in axes:
        if n.shape[i] == 0:
            raise ShapeError(f"[{name}] no {name} over axis {i} of length 0 in shape "
                             f"{show_shape(n.shape)}.")
    return wrap(prims.reduce(name, n, axes, bool(keepdims)))


@streamed
def max_(a: array, /, axis: Any = None, keepdims: bool = False, *, stream: Any = None) -> array:
    """Greatest element over axes (all by default); nan where there is one.

    Any dtype; complex numbers order by real part, then by imaginary part. Raises ShapeError over
    an axis of length 0.

    >>> import eutectic.core as mx
    >>> mx.max(mx.array([[1, 4], [3, 2]]), axis=1)
    array([4, 3], dtype=int32)
    """
    return _extreme("max", a, axis, keepdims)


@streamed
def min_(a: array, /, axis: Any = None, keepdims: bool = False, *, stream: Any = None) -> array:
    """Least element over axes (all by default); nan where there is one.

    Any dtype; complex numbers order by real part, then by imaginary part. Raises ShapeError over
    an axis of length 0.

    >>> import eutectic.core as mx
    >>> mx.min(mx.array([[1, 4], [3, 2]]), axis=1)
    array([1, 2], dtype=int32)
    """
    return _extreme("min", a, axis, keepdims)


@streamed
def minmax(a: array, /, axis: Any = None, keepdims: bool = False, *,
           stream: Any = None) -> tuple[array, array]:
    """Least and greatest element over axes (all by default). See `min` and `max`.

    >>> import eutectic.core as mx
    >>> mx.minmax(mx.array([3, 1, 2]))
    (array(1, dtype=int32), array(3, dtype=int32))
    """
    return min_(a, axis, keepdims), max_(a, axis, keepdims)


@streamed
def all_(a: array, /, axis: Any = None, keepdims: bool = False, *, stream: Any = None) -> array:
    """Whether all elements over axes differ from zero; true of no elements.

    >>> import eutectic.core as mx
    >>> mx.all(mx.array([[1, 0], [1, 1]]), axis=1)
    array([False, True], dtype=bool)
    """
    return _simple("all", a, axis, keepdims)


@streamed
def any_(a: array, /, axis: Any = None, keepdims: bool = False, *, stream: Any = None) -> array:
    """Whether any element over axes differs from zero; false of no elements.

    >>> import eutectic.core as mx
    >>> mx.any(mx.array([[0, 0], [1, 0]]), axis=1)
    array([False, True], dtype=bool)
    """
    return _simple("any", a, axis, keepdims)


def _arg(name: str, a: Any, axis: Any, keepdims: bool) -> array:
    n = node_of(a, name)
    if n.dtype.is_complex:
        raise DtypeError(f"[{name}] does not take complex64.")
    axes = tuple(range(len(n.shape))) if axis is None else (axis_of(name, axis, n.shape),)
    if 0 in n.shape:
        raise ShapeError(f"[{name}] no position among the zero elements of shape "
                         f"{show_shape(n.shape)}.")
    if not n.shape:
        return wrap(prims.const(0, uint32))
    return wrap(prims.reduce(name, n, axes, bool(keepdims)))


@streamed
def argmax(a: array, /, axis: int | None = None, keepdims: bool = False, *,
           stream: Any = None) -> array:
    """Position, as uint32, of the first greatest element along an axis, or of all elements.

    nan counts as greatest. Raises ShapeError for an empty array, DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.argmax(mx.array([[1, 4], [3, 2]]), axis=1)
    array([1, 0], dtype=uint32)
    """
    return _arg("argmax", a, axis, keepdims)


@streamed
def argmin(a: array, /, axis: int | None = None, keepdims: bool = False, *,
           stream: Any = None) -> array:
    """Position, as uint32, of the first least element along an axis, or of all elements.

    nan counts as least. Raises ShapeError for an empty array, DtypeError for complex64.

    >>> import eutectic.core as mx
    >>> mx.argmin(mx.array([[1, 4], [3, 2]]), axis=1)
    array([0, 1], dtype=uint32)
    """
    return _arg("argmin", a, axis, keepdims)


# Composites. attrs start with (axes, keepdims); `lower` sees the node and builds its meaning.

def _inner(d: Dtype) -> Dtype:
    """Dtype that a moment is computed in."""
    return float32 if d.is_half else float_of(d)


def _composite(name: str, lower: Callable[[Node], Node]) -> Prim:
    return Prim(name, "composite", lower=lower)


def _count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    count = 1
    for i in axes:
        count *= shape[i]
    return count


def _mean_of(x: Node, axes: tuple[int, ...], keepdims: bool) -> Node:
    total = prims.reduce("sum", x, axes, keepdims)
    return apply(divide, total, prims.const(_count(x.shape, axes), x.dtype))


def _lower_mean(n: Node) -> Node:
    axes, keepdims = n.attrs
    x = prims.cast(n.inputs[0], _inner(n.inputs[0].dtype))
    return prims.cast(_mean_of(x, axes, keepdims), n.dtype)


def _variance(n: Node) -> Node:
    axes, keepdims, ddof = n.attrs
    x = prims.cast(n.inputs[0], _inner(n.inputs[0].dtype))
    off = apply(subtract, x, _mean_of(x, axes, True))
    if x.dtype.is_complex:
        off = apply("abs", off, dtype=float32)
    squares = prims.reduce("sum", apply(multiply, off, off), axes, keepdims)
    count = max(_count(x.shape, axes) - ddof, 0)
    return apply(divide, squares, prims.const(count, squares.dtype))


def _lower_var(n: Node) -> Node:
    return prims.cast(_variance(n), n.dtype)


def _lower_std(n: Node) -> Node:
    return prims.cast(apply(sqrt, _variance(n)), n.dtype)


def _lower_softmax(n: Node) -> Node:
    (axes,) = n.attrs
    x = prims.cast(n.inputs[0], _inner(n.inputs[0].dtype))
    e = apply(exp, apply(subtract, x, prims.reduce("max", x, axes, True)))
    return prims.cast(apply(divide, e, prims.reduce("sum", e, axes, True)), n.dtype)


def _lower_logsumexp(n: Node) -> Node:
    axes = n.attrs[0]
    x = prims.cast(n.inputs[0], _inner(n.inputs[0].dtype))
    top = prims.reduce("max", x, axes, True)
    # An infinite maximum must not be subtracted from itself.
    zero = prims.const(0, x.dtype)
    top = Node(WHERE, (apply(isfinite, top), top, zero), (), top.shape, x.dtype)
    total = prims.reduce("sum", apply(exp, apply(subtract, x, top)), axes, True)
    out = apply("add", apply(log, total), top)
    return prims.cast(prims.reshape(out, n.shape), n.dtype)


def _lower_count(n: Node) -> Node:
    axes, keepdims = n.attrs
    x = n.inputs[0]
    there = apply(not_equal, x, prims.const(0, x.dtype))
    return prims.reduce("sum", prims.cast(there, int32), axes, keepdims)


MEAN = _composite("mean", _lower_mean)
VAR = _composite("var", _lower_var)
STD = _composite("std", _lower_std)
SOFTMAX = _composite("softmax", _lower_softmax)
LOGSUMEXP = _composite("logsumexp", _lower_logsumexp)
COUNT_NONZERO = _composite("count_nonzero", _lower_count)


@streamed
def mean(a: array, /, axis: Any = None, keepdims: bool = False, *, stream: Any = None) -> array:
    """Mean over axes (all by default); nan of no elements.

    Integers and booleans give float32; float16 and bfloat16 are computed in float32.

    >>> import eutectic.core as mx
    >>> mx.mean(mx.array([[1.0, 2.0], [3.0, 6.0]]), axis=1)
    array([1.5, 4.5], dtype=float32)
    """
    n = node_of(a, "mean")
    axes = axes_of("mean", axis, n.shape)
    keepdims = bool(keepdims)
    return wrap(Node(MEAN, (n,), (axes, keepdims), _reduced(n.shape, axes, keepdims),
                     float_of(n.dtype)))


def _spread(name: str, prim: Prim, a: Any, axis: Any, keepdims: bool, ddof: Any) -> array:
    n = node_of(a, name)
    axes = axes_of(name, axis, n.shape)
    keepdims = bool(keepdims)
    d = float32 if n.dtype.is_complex else float_of(n.dtype)
    return wrap(Node(prim, (n,), (axes, keepdims, integer(name, "ddof", ddof)),
                     _reduced(n.shape, axes, keepdims), d))


@streamed
def var(a: array, /, axis: Any = None, keepdims: bool = False, ddof: int = 0, *,
        correction: int | None = None, stream: Any = None) -> array:
    """Variance over axes (all by default): the mean of |a - mean|^2, over n - ddof.

    Integers and booleans give float32; float16 and bfloat16 are computed in float32. `correction`
    is another name of `ddof`.

    >>> import eutectic.core as mx
    >>> mx.var(mx.array([1.0, 2.0, 3.0, 4.0])), mx.var(mx.array([1.0, 2.0, 3.0]), ddof=1)
    (array(1.25, dtype=float32), array(1, dtype=float32))
    """
    return _spread("var", VAR, a, axis, keepdims, ddof if correction is None else correction)


@streamed
def std(a: array, /, axis: Any = None, keepdims: bool = False, ddof: int = 0, *,
        correction: int | None = None, stream: Any = None) -> array:
    """Standard deviation over axes (all by default): the square root of `var`.

    >>> import eutectic.core as mx
    >>> mx.std(mx.array([1.0, 2.0, 3.0, 4.0]))
    array(1.11803, dtype=float32)
    """
    return _spread("std", STD, a, axis, keepdims, ddof if correction is None else correction)


@streamed
def softmax(a: array, /, axis: Any = None, *, precise: bool = False, stream: Any = None) -> array:
    """Softmax over axes (all by default): e^(a - max) / sum of e^(a - max).

    Integers and booleans give float32; float16 and bfloat16 are always computed in float32, as
    `precise=True` asks for. A row of -inf gives nan.

    >>> import eutectic.core as mx
    >>> mx.softmax(mx.array([[1.0, 1.0], [0.0, 0.0]]), axis=-1)
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """
    n = node_of(a, "softmax")
    axes = axes_of("softmax", axis, n.shape)
    d = float_of(n.dtype)
    if 0 in n.shape:
        return wrap(prims.cast(n, d))
    return wrap(Node(SOFTMAX, (n,), (axes,), n.shape, d))


@streamed
def logsumexp(a: array, /, axis: Any = None, keepdims: bool = False, *,
              stream: Any = None) -> array:
    """Logarithm of the sum of exponentials over axes (all by default), without overflow.

    log(sum e^(a - max)) + max. Integers and booleans give float32. Raises ShapeError over an axis
    of length 0.

    >>> import eutectic.core as mx
    >>> mx.logsumexp(mx.array([1000.0, 1000.0]))
    array(1000.69, dtype=float32)
    """
    n = node_of(a, "logsumexp")
    axes = axes_of("logsumexp", axis, n.shape)
    keepdims = bool(keepdims)
    if any(n.shape[i] == 0 for i in axes):
        raise ShapeError(f"[logsumexp] no elements in shape {show_shape(n.shape)}.")
    return wrap(Node(LOGSUMEXP, (n,), (axes, keepdims), _reduced(n.shape, axes, keepdims),
                     float_of(n.dtype)))


@streamed
def count_nonzero(a: array, /, axis: Any = None, keepdims: bool = False, *,
                  stream: Any = None) -> array:
    """Number, as int32, of elements that differ from zero over axes (all by default).

    >>> import eutectic.core as mx
    >>> mx.count_nonzero(mx.array([[1, 0], [2, 3]]), axis=1)
    array([1, 2], dtype=int32)
    """
    n = node_of(a, "count_nonzero")
    axes = axes_of("count_nonzero", axis, n.shape)
    keepdims = bool(keepdims)
    return wrap(Node(COUNT_NONZERO, (n,), (axes, keepdims), _reduced(n.shape, axes, keepdims),
                     int32))


for _name, _method in (("sum", sum_), ("prod", prod), ("max", max_), ("min", min_), ("all", all_),
                       ("any", any_), ("argmax", argmax), ("argmin", argmin), ("mean", mean),
                       ("var", var), ("std", std), ("logsumexp", logsumexp)):
    setattr(array, _name, _method)
