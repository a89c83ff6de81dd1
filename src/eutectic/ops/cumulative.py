"""Running reductions along an axis, and differences of neighbours."""

from __future__ import annotations

from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, bool_, float_of, int32
from eutectic.errors import ArgumentError, ArgumentTypeError
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel import mathlib as ml
from eutectic.kernel.prim import Prim
from eutectic.kernel.reductions import MAX, MIN, Accs, Reduction
from eutectic.kernel.scalar import Complex, Value, select
from eutectic.ops.arithmetic import add, subtract
from eutectic.ops.checks import apply, axis_of, integer
from eutectic.ops.devices import streamed
from eutectic.ops.joining import slice_axis
from eutectic.ops.registry import install, node_of


def _reversed(n: Node, axis: int) -> Node:
    starts, steps = [0] * len(n.shape), [1] * len(n.shape)
    starts[axis], steps[axis] = max(n.shape[axis] - 1, 0), -1
    return prims.slice_(n, tuple(starts), tuple(steps), n.shape)


def _along(name: str, n: Node, axis: Any, reverse: Any, inclusive: Any, scan: Any) -> array:
    """Scan along an axis: moved to the end, and reversed where asked for."""
    if axis is None:
        n, axis = prims.reshape(n, (n.size,)), 0
    i = axis_of(name, axis, n.shape)
    rank = len(n.shape)
    perm = (*range(i), *range(i + 1, rank), i)
    back = (*range(i), rank - 1, *range(i, rank - 1))
    n = prims.transpose(n, perm)
    if 0 not in n.shape:
        if reverse:
            n = _reversed(n, rank - 1)
        n = scan(n, bool(inclusive))
        if reverse:
            n = _reversed(n, rank - 1)
    return wrap(prims.transpose(n, back))


def _cumulative(name: str, kind: str, a: Any, axis: Any, reverse: Any, inclusive: Any,
                dtype: Dtype | None = None) -> array:
    n = node_of(a, name)
    if dtype is not None:
        if not isinstance(dtype, Dtype):
            raise ArgumentTypeError(f"[{name}] dtype must be a Dtype, not a "
                                    f"{type(dtype).__name__}.")
        n = prims.cast(n, dtype)
    if kind == "sum" and n.dtype is bool_:
        n = prims.cast(n, int32)
    return _along(name, n, axis, reverse, inclusive, lambda x, own: _scan(kind, x, own))


def _scan(kind: str, n: Node, inclusive: bool) -> Node:
    if inclusive:
        return prims.scan(kind, n)
    if n.shape[-1] == 1 and n.dtype.is_complex and kind in ("max", "min"):
        end = float("-inf") if kind == "max" else float("inf")
        return prims.broadcast(prims.const(complex(end, end), n.dtype), n.shape)
    out = prims.scan(kind, n, False)
    if kind == "sum" and not n.dtype.is_int:
        # The sum of nothing is -0.0 inside the scan, so that -0.0 stays itself; outside it is 0.
        out = apply(add, out, prims.const(0, n.dtype))
    return out


@streamed
def cumsum(a: array, /, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True,
           dtype: Dtype | None = None, stream: Any = None) -> array:
    """Running sum along an axis, or of the flattened array.

    The result has the array's dtype (int32 of booleans), or `dtype`, to which the elements are
    converted first; integers wrap. `reverse` runs from the end; without `inclusive` an element's
    own value is left out, so that the first result is 0. Raises AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.cumsum(mx.array([1, 2, 3])), mx.cumsum(mx.array([1, 2, 3]), reverse=True)
    (array([1, 3, 6], dtype=int32), array([6, 5, 3], dtype=int32))
    """
    return _cumulative("cumsum", "sum", a, axis, reverse, inclusive, dtype)


@streamed
def cumprod(a: array, /, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True,
            dtype: Dtype | None = None, stream: Any = None) -> array:
    """Running product along an axis, or of the flattened array. See `cumsum`.

    The result has the array's dtype, or `dtype`; integers wrap.

    >>> import eutectic.core as mx
    >>> mx.cumprod(mx.array([1, 2, 3, 4])), mx.cumprod(mx.array([2, 3]), inclusive=False)
    (array([1, 2, 6, 24], dtype=int32), array([1, 2], dtype=int32))
    """
    return _cumulative("cumprod", "prod", a, axis, reverse, inclusive, dtype)


@streamed
def cummax(a: array, /, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True,
           stream: Any = None) -> array:
    """Greatest element so far along an axis, or of the flattened array; nan after a nan.

    Without `inclusive` the first result is the dtype's least value. See `cumsum`.

    >>> import eutectic.core as mx
    >>> mx.cummax(mx.array([1, 3, 2, 5]))
    array([1, 3, 3, 5], dtype=int32)
    """
    return _cumulative("cummax", "max", a, axis, reverse, inclusive)


@streamed
def cummin(a: array, /, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True,
           stream: Any = None) -> array:
    """Least element so far along an axis, or of the flattened array; nan after a nan.

    Without `inclusive` the first result is the dtype's greatest value. See `cumsum`.

    >>> import eutectic.core as mx
    >>> mx.cummin(mx.array([4, 5, 2, 3]))
    array([4, 4, 2, 2], dtype=int32)
    """
    return _cumulative("cummin", "min", a, axis, reverse, inclusive)


def _log_of_sum(a: Accs, b: Accs) -> Accs:
    # Beside -inf, the logarithm of an empty sum, the other stays as it is.
    if len(a) == 2:
        top, low = Complex(*MAX.combine(a, b)), Complex(*MIN.combine(a, b))
        z = top + ml.log1p(ml.exp(low - top))
        first, second = _empty(a[0]), _empty(b[0])
        return (select(first, b[0], select(second, a[0], z.re)),
                select(first, b[1], select(second, a[1], z.im)))
    x, y = a[0], b[0]
    return (select(_empty(x), y, select(_empty(y), x, ml.logaddexp(x, y))),)


def _empty(v: Value) -> Value:
    return v.eq(float("-inf"))


def _log_identity(ty: str) -> tuple[tuple[str, int], ...]:
    lowest = MAX.identity("f32" if ty == "c64" else ty)
    return (*lowest, ("f32", 0)) if ty == "c64" else lowest


LOGSUM = Reduction("logaddexp", _log_identity, MAX.lift, _log_of_sum, MAX.finish, lambda d: d)
LOGCUMSUMEXP = Prim("logcumsumexp", "scan", reduction=LOGSUM)


def _log_scan(n: Node, inclusive: bool) -> Node:
    made = Node(LOGCUMSUMEXP, (n,), (inclusive,), n.shape, n.dtype)
    return made if n.shape[-1] > 1 else prims.short_scan(made)


@streamed
def logcumsumexp(a: array, /, axis: int | None = None, *, reverse: bool = False,
                 inclusive: bool = True, stream: Any = None) -> array:
    """Running logarithm of the sum of exponentials along an axis, or of the flattened array.

    Integers and booleans give float32. Without overflow, as `logaddexp` of all elements so far;
    without `inclusive` the first result is -inf. See `cumsum`.

    >>> import eutectic.core as mx
    >>> mx.logcumsumexp(mx.array([1000.0, 1000.0, -mx.inf]))
    array([1000, 1000.69, 1000.69], dtype=float32)
    """
    n = node_of(a, "logcumsumexp")
    n = prims.cast(n, float_of(n.dtype))
    return _along("logcumsumexp", n, axis, reverse, inclusive, _log_scan)


@streamed
def diff(a: array, /, n: int = 1, axis: int = -1, *, stream: Any = None) -> array:
    """Differences a[i+1] - a[i] of neighbours along an axis, taken `n` times.

    The result has the array's dtype; of booleans, whether neighbours differ. The axis gets shorter
    by `n`, down to 0. Raises ArgumentError for a negative `n`, AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.diff(mx.array([1, 4, 9, 16])), mx.diff(mx.array([1, 4, 9, 16]), n=2)
    (array([3, 5, 7], dtype=int32), array([2, 2], dtype=int32))
    """
    x = node_of(a, "diff")
    times = integer("diff", "n", n)
    if times < 0:
        raise ArgumentError(f"[diff] n must not be negative, got {times}.")
    i = axis_of("diff", axis, x.shape)
    if times >= x.shape[i]:
        return wrap(slice_axis(x, i, 0, 0) if times else x)
    for _ in range(times):
        length = x.shape[i]
        x = apply(subtract, slice_axis(x, i, 1, length), slice_axis(x, i, 0, length - 1))
    return wrap(x)


for _method in (cumsum, cumprod, cummax, cummin, logcumsumexp):
    install(_method.__name__, _method)
