"""What each operation of an exported graph must satisfy: attributes, dtypes, shapes.

A file is data from anywhere. Before any node of it is compiled, `verify` establishes what the
constructors of `ops` guarantee for nodes of this process; `graph.check` adds the shapes of views.
A graph that is written is held to the same rules, so what cannot be read is not written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eutectic.codegen.convolution_plan import AXES
from eutectic.dtype import (
    BY_NAME, DTYPES, PROMOTE, Dtype, bool_, complex64, float32, float64, float_of, int32, int64,
    uint32)
from eutectic.errors import EutecticError, InternalError
from eutectic.export.library import LIBRARY, verify_library
from eutectic.graph.check import check_node
from eutectic.graph import loops, prims
from eutectic.graph.ir import CONST, IOTA, Node, toposort
from eutectic.kernel.prim import Prim
from eutectic.ops import (  # noqa: F401 - bitwise adds its operations
    arithmetic, bitwise, comparison, creation, fast, functions, random, reductions, rotary, views)
from eutectic.ops.attention import ATTENTION
from eutectic.ops.convolution import CONVOLUTION, SEQUENCES
from eutectic.ops.convolution import LANES as SEQUENCE_LANES
from eutectic.ops.cumulative import LOGCUMSUMEXP
from eutectic.ops.registry import OPS, Op
from eutectic.ops.taking import WINDOW

from eutectic.export.faults import (
    Fault, attributes, count, dtypes, flag, integer, integers, number, text, that)

Rule = Callable[[Node], None]

_FAR = 1 << 31
"""Strides, paddings and the like stay below, so that no address computed from them overflows."""
_MOST_DECIMALS = 308
_MODES = ("set", *prims.COMBINE)


# -- leaves ----------------------------------------------------------------------------------------


def _const(n: Node) -> None:
    attributes(n, integer)
    count(n, 0)
    bits = 1 if n.dtype is bool_ else 8 * n.dtype.size
    that(0 <= n.attrs[0] < 1 << bits, "the constant is no pattern of its dtype")


def _iota(n: Node) -> None:
    attributes(n, integer)
    count(n, 0)
    that(n.dtype is int64, "coordinates are int64")


# -- elementwise -----------------------------------------------------------------------------------


def _registered(op: Op) -> Rule:
    accepted = frozenset(op.computes(d) for d in DTYPES if op.takes(d))

    def rule(n: Node) -> None:
        attributes(n)
        count(n, op.arity)
        d = n.inputs[0].dtype
        that(all(i.dtype is d for i in n.inputs) and d in accepted, "takes no such dtypes")
        that(n.dtype is op.result(d), f"gives {op.result(d).name}")
    return rule


def _same(n: Node) -> None:
    attributes(n)
    dtypes(n, n.dtype)


def _cast(n: Node) -> None:
    count(n, 1)
    attributes(n, text)
    made = prims.cast(n.inputs[0], n.dtype)
    that(n.attrs in (made.attrs, (n.dtype.compute,)), "converts in another way")


def _round(n: Node) -> None:
    attributes(n, integer)
    dtypes(n, n.dtype)
    that(abs(n.attrs[0]) <= _MOST_DECIMALS, "rounds to too many decimals")


def _view(n: Node) -> None:
    count(n, 1)
    source = n.inputs[0].dtype
    that(n.attrs == (source.name, n.dtype.name, n.dtype.compute) and source.size == n.dtype.size,
         "the same bits in another size")


def _piece(n: Node) -> None:
    count(n, 2)
    source = n.inputs[0].dtype
    that(n.attrs == (n.dtype.compute,) and _unsigned(source) and _unsigned(n.dtype)
         and n.dtype.size < source.size and n.inputs[1].dtype is int64, "takes no such dtypes")


def _joined(n: Node) -> None:
    that(bool(n.inputs), "joins nothing")
    d = n.inputs[0].dtype
    that(n.attrs == (n.dtype.compute,) and _unsigned(d) and _unsigned(n.dtype)
         and all(i.dtype is d for i in n.inputs) and len(n.inputs) * d.size == n.dtype.size,
         "takes no such dtypes")


def _unsigned(d: Dtype) -> bool:
    return d.is_int and not d.is_signed


def _line(n: Node) -> None:
    count(n, 3)
    d = n.inputs[1].dtype
    dtypes(n, int64, d, d)
    that(d in (int64, float64) and n.attrs == (n.dtype.compute,) and not n.dtype.is_complex,
         "takes no such dtypes")


def _between(n: Node) -> None:
    count(n, 4)
    d = n.inputs[1].dtype
    dtypes(n, int64, d, d, d)
    that(d in (float32, float64) and n.attrs == (n.dtype.compute,) and not n.dtype.is_complex,
         "takes no such dtypes")


def _grid(n: Node) -> None:
    attributes(n)
    dtypes(n, int64, int64, int64, gives=bool_)


def _isclose(n: Node) -> None:
    attributes(n, number, number, flag)
    count(n, 2)
    d = n.inputs[0].dtype
    dtypes(n, d, d, gives=bool_)
    that(d.is_float or d.is_complex, f"does not compare {d.name}")


def _equal_nan(n: Node) -> None:
    attributes(n)
    count(n, 2)
    dtypes(n, n.inputs[0].dtype, n.inputs[0].dtype, gives=bool_)


def _where(n: Node) -> None:
    attributes(n)
    dtypes(n, bool_, n.dtype, n.dtype)


def _clip(n: Node) -> None:
    attributes(n)
    dtypes(n, n.dtype, n.dtype, n.dtype)


def _nan_to_num(n: Node) -> None:
    attributes(n)
    dtypes(n, *[n.dtype] * 4)
    that(n.dtype.is_float, "takes floating types")


def _pair(n: Node) -> None:
    attributes(n)
    dtypes(n, float32, float32, gives=complex64)


def _bits(n: Node) -> None:
    attributes(n)
    dtypes(n, uint32, uint32, int64, uint32, uint32, gives=uint32)


def _window(n: Node) -> None:
    attributes(n)
    count(n, 4)
    dtypes(n, n.inputs[0].dtype, int64, int64, int64, gives=int64)
    that(n.inputs[0].dtype.is_int, "starts are integers")


def _chosen(axes: tuple[int, ...], indices: tuple[Node, ...], of: Node, empty: bool) -> None:
    """Axes of `of` that indices choose: each index one axis, and one that has elements."""
    that(sorted(a for a in axes if a < 0) == list(range(-len(indices), 0)),
         "an index chooses no axis, or several")
    that(all(i.dtype.is_int for i in indices), "an index is no integer")
    that(len(axes) == len(of.shape), "an axis has no rule")
    that(empty or all(d for a, d in zip(axes, of.shape) if a < 0), "chooses among no elements")


def _gather(n: Node) -> None:
    attributes(n, integers)
    that(len(n.inputs) > 1 and n.inputs[0].dtype is n.dtype, "takes no such dtypes")
    _chosen(n.attrs[0], n.inputs[1:], n.inputs[0], not n.size)


def _scatter(n: Node) -> None:
    attributes(n, integers, text)
    that(len(n.inputs) > 2 and all(i.dtype is n.dtype for i in n.inputs[:2]),
         "takes no such dtypes")
    that(n.attrs[1] in _MODES, "combines in no known way")
    _chosen(n.attrs[0], n.inputs[2:], n, not n.inputs[1].size)


# -- views, placing, reductions, products ----------------------------------------------------------


def _ranks(n: Node, *tuples: tuple[int, ...]) -> None:
    rank = len(n.shape)
    that(all(len(t) == rank for t in (n.inputs[0].shape, *tuples)), "the ranks differ")


def _transpose(n: Node) -> None:
    attributes(n, integers)
    dtypes(n, n.dtype)
    _ranks(n, n.attrs[0])


def _slice(n: Node) -> None:
    attributes(n, integers, integers)
    dtypes(n, n.dtype)
    _ranks(n, *n.attrs)
    that(0 not in n.attrs[1], "a step is 0")


def _concatenate(n: Node) -> None:
    attributes(n, integer)
    that(len(n.inputs) > 1, "joins fewer than two")
    dtypes(n, *[n.dtype] * len(n.inputs))
    axis = n.attrs[0]
    that(0 <= axis < len(n.shape), "has no such axis")
    for i in n.inputs:
        that(len(i.shape) == len(n.shape) and all(
            d == e for k, (d, e) in enumerate(zip(i.shape, n.shape)) if k != axis),
            "other axes differ")


def _pad(n: Node) -> None:
    attributes(n, integers)
    dtypes(n, n.dtype, n.dtype)
    _ranks(n, n.attrs[0])
    that(n.inputs[1].shape == () and min(n.attrs[0], default=0) >= 0, "the padding is wrong")


def _reduction(n: Node) -> None:
    attributes(n, integers)
    count(n, 1)
    (axes,), a = n.attrs, n.inputs[0]
    that(bool(axes) and axes == tuple(range(axes[0], axes[0] + len(axes)))
         and axes[0] >= 0 and axes[-1] < len(a.shape), "has no such run of axes")
    reduction = n.prim.reduction
    assert reduction is not None
    logical, index = n.prim.name in ("all", "any"), reduction.uses_index
    that((a.dtype is bool_ or not logical) and not (index and a.dtype.is_complex),
         "takes no such dtype")
    that(not index or a.size > 0 or not n.size, "has no element to point at")
    that(n.dtype is reduction.result(a.dtype), f"gives {reduction.result(a.dtype).name}")


def _scan(n: Node) -> None:
    attributes(n, flag)
    dtypes(n, n.dtype)
    that(n.inputs[0].shape == n.shape != (), "the shapes differ")
    that(n.prim is not LOGCUMSUMEXP or n.dtype.is_float or n.dtype.is_complex,
         "takes no such dtype")


def _matmul(n: Node) -> None:
    attributes(n)
    dtypes(n, n.dtype, n.dtype)
    that(n.dtype.is_float or n.dtype.is_complex, f"does not multiply {n.dtype.name}")
    that(len(n.shape) > 1 and all(len(i.shape) == len(n.shape) for i in n.inputs),
         "the ranks differ")


# -- operations with code of their own -------------------------------------------------------------


def _attention(n: Node) -> None:
    attributes(n, number, text, flag, flag)
    _scale, mask, _causal, sinks = n.attrs
    d = n.dtype
    rest = ([BY_NAME[mask]] if mask in BY_NAME else []) + [float32] * sinks
    that(mask in ("", "bool", "float32") and d.is_float and d is not float64,
         "takes no such dtypes")
    dtypes(n, d, d, d, *rest)
    q, k, v = [i.shape for i in n.inputs[:3]]
    that(len(q) == len(k) == len(v) == 4, "needs 4 axes")
    b, heads, tq, features = q
    groups, tk = k[1], k[2]
    that(k == (b, groups, tk, features) and v[:3] == k[:3] and n.shape == (b, heads, tq, v[3])
         and groups > 0 and heads % groups == 0 and tk > 0 and features > 0,
         "the shapes do not go together")
    that(not mask or n.inputs[3].shape == (b, heads, tq, tk), "the mask has another shape")
    that(not sinks or n.inputs[-1].shape == (heads,), "the sinks have another shape")


def _rotation(n: Node) -> None:
    attributes(n, flag)
    table = float64 if n.dtype is float64 else float32
    that(n.dtype.is_float, "takes no such dtype")
    dtypes(n, n.dtype, table, table)
    x, cosines, sines = [i.shape for i in n.inputs]
    that(x == n.shape and len(x) == len(cosines) == 4 and cosines == sines,
         "the shapes do not go together")
    that(cosines[:3] in ((1, 1, x[2]), (x[0], 1, x[2])) and 0 < 2 * cosines[3] <= x[3],
         "the tables have another shape")


def _convolution(n: Node) -> None:
    attributes(n, integers, integers, integers, integers, integer)
    dtypes(n, n.dtype, n.dtype)
    stride, low, dilation, spread, groups = n.attrs
    x, w = [i.shape for i in n.inputs]
    rank = len(n.shape) - 2
    that(n.dtype.is_float and 1 <= rank <= AXES and len(x) == len(w) == len(n.shape)
         and all(len(t) == rank for t in (stride, low, dilation, spread)), "the ranks differ")
    that(all(0 < t < _FAR for t in (*stride, *dilation, *spread, groups))
         and all(-_FAR < t < _FAR for t in low), "an option is out of range")
    that(0 not in (*x, *w, *n.shape), "has an empty operand")
    that(x[0] == n.shape[0] and w[0] == n.shape[-1] and x[-1] == w[-1] * groups
         and w[0] % groups == 0, "the channels do not go together")
    that(all(max(size * s, out * t, k * d) < _FAR for size, s, out, t, k, d in zip(
        x[1:-1], spread, n.shape[1:-1], stride, w[1:-1], dilation)), "is too long")


def _sequences(n: Node) -> None:
    attributes(n)
    dtypes(n, n.dtype, n.dtype)
    a, v = [i.shape for i in n.inputs]
    that(n.dtype in (float32, float64) and len(a) == len(v) == 1 and v[0] > 0
         and n.shape == (a[0] - v[0] + 1,) and n.shape[0] > 0
         and n.shape[0] % SEQUENCE_LANES == 0, "the lengths do not go together")


# -- composites: what they claim, and then what they lower to --------------------------------------


def _lowered(rule: Rule) -> Rule:
    def verified(n: Node) -> None:
        rule(n)
        assert n.prim.lower is not None
        try:
            low = n.prim.lower(n)
        except EutecticError as e:
            raise Fault(f"has no meaning: {e}") from e
        that(low.shape == n.shape and low.dtype is n.dtype, "has another shape or dtype")
        stop = {id(i) for i in n.inputs}
        for m in toposort([low], lambda x: id(x) in stop):
            if id(m) not in stop:
                verify(m)
    return verified


def _axes(n: Node, axes: Any) -> tuple[int, ...]:
    rank = len(n.inputs[0].shape)
    that(list(axes) == sorted(set(axes)) and all(0 <= a < rank for a in axes), "has no such axes")
    return tuple(axes)


def _moment(n: Node) -> None:
    more = (integer,) if n.prim in (reductions.VAR, reductions.STD) else ()
    attributes(n, integers, flag, *more)
    count(n, 1)
    axes, a = _axes(n, n.attrs[0]), n.inputs[0]
    d = float_of(a.dtype)
    if n.prim is reductions.COUNT_NONZERO:
        d = int32
    elif more and d.is_complex:
        d = float32
    that(n.dtype is d, f"gives {d.name}")
    shape = [1 if i in axes else k for i, k in enumerate(a.shape) if n.attrs[1] or i not in axes]
    that(n.shape == tuple(shape), "the kept axes differ")


def _softmax(n: Node) -> None:
    attributes(n, integers)
    count(n, 1)
    _axes(n, n.attrs[0])
    that(n.dtype is float_of(n.inputs[0].dtype), "gives another dtype")


def _norm(n: Node) -> None:
    flags = n.attrs[1:]
    attributes(n, number, *[flag] * (1 if n.prim is fast.RMS_NORM else 2))
    count(n, 1 + sum(flags))
    d = n.inputs[0].dtype
    for i in n.inputs[1:]:
        that(i.shape == n.shape[-1:], "the weights do not fit")
        d = PROMOTE[d.index][i.dtype.index]
    that(bool(n.shape) and n.inputs[0].shape == n.shape and n.dtype is d
         and all(i.dtype.is_float for i in n.inputs), "takes no such dtypes")


def _rope(n: Node) -> None:
    attributes(n, integer, flag, lambda x: x is None or number(x), number)
    dims, _, base, _ = n.attrs
    count(n, 2 if base is not None else 3)
    x, offset, *freqs = n.inputs
    that(x.dtype is n.dtype and n.dtype.is_float and len(n.shape) >= 3 and x.shape == n.shape
         and 0 < dims <= n.shape[-1] and dims % 2 == 0, "does not rotate that")
    that(base is None or 0 < base < float("inf"), "has no such base")
    that(offset.shape in ((), (1,), n.shape[:1]) and not offset.dtype.is_complex
         and all(f.shape == (dims // 2,) and f.dtype.is_float for f in freqs),
         "the offset or the frequencies do not fit")


def _cross_entropy(n: Node) -> None:
    attributes(n)
    count(n, 2)
    x, t = n.inputs
    that(x.dtype.is_float and t.dtype.is_int and n.dtype is float32 and bool(x.shape)
         and x.shape[:-1] == t.shape == n.shape and x.shape[-1] > 0, "takes no such operands")


def _drawn(n: Node) -> None:
    attributes(n)
    key, *rest = n.inputs
    that(n.dtype.is_float and len(n.shape) == 1 and n.shape[0] < 1 << 32
         and (key.shape, key.dtype) == ((2,), uint32) and len(rest) in (0, 2)
         and all(i.shape == () and i.dtype is n.dtype for i in rest), "draws in no known way")


# -- loops and choices: their bodies are verified as they are made ---------------------------------


def _is_body(x: Any) -> bool:
    return type(x) is loops.Body


def _loop(n: Node) -> None:
    attributes(n, _is_body, integer, integer, lambda x: x is None or integer(x), flag)
    body, carries, xs, length, reverse = n.attrs
    that(min(carries, xs) >= 0 and carries + xs <= len(n.inputs)
         and carries <= len(body.outputs), "has no such carries")
    if n.prim is loops.WHILE:
        that(length is None and not reverse and xs == 0 < carries == len(body.outputs),
             "goes along nothing")
    else:
        that(length is not None and length >= 0, "has no length")
    that(n.shape == () and n.dtype is bool_, "has no value")


def _cond(n: Node) -> None:
    attributes(n, _is_body, _is_body)
    that(len(n.inputs) > 0 and n.shape == () and n.dtype is bool_, "has no value")


def _result(n: Node) -> None:
    attributes(n, integer)
    count(n, 1)
    whole = n.inputs[0]
    that(whole.prim.family == "loop", "is no result of a loop")
    results = loops.result_count(whole) + (whole.attrs[1] if whole.prim is loops.SCAN else 0)
    that(0 <= n.attrs[0] < results, "is no result of its loop")


RULES: dict[Prim, Rule] = {
    loops.SCAN: _loop, loops.WHILE: _loop, loops.COND: _cond, loops.RESULT: _result,
    **{op.prim: _registered(op) for op in OPS.values()},
    CONST: _const, IOTA: _iota,
    prims.CAST: _cast, prims.COPY: _same, arithmetic.STOP_GRADIENT: _same,
    functions.ROUND: _round, views.VIEW: _view, views.PIECE: _piece, views.JOINED: _joined,
    views.PAIR: _pair, creation.LINE: _line, creation.BETWEEN: _between,
    creation.DIAGONAL: _grid, creation.BELOW: _grid, comparison.ISCLOSE: _isclose,
    comparison.EQUAL_NAN: _equal_nan, comparison.WHERE: _where, comparison.CLIP: _clip,
    comparison.NAN_TO_NUM: _nan_to_num, random.BITS: _bits, WINDOW: _window,
    prims.GATHER: _gather, prims.SCATTER: _scatter, prims.TRANSPOSE: _transpose,
    prims.SLICE: _slice, prims.RESHAPE: _same, prims.BROADCAST: _same,
    prims.CONCATENATE: _concatenate, prims.PAD: _pad, prims.MATMUL: _matmul,
    **dict.fromkeys(prims.REDUCE.values(), _reduction),
    **dict.fromkeys((*prims.SCAN.values(), LOGCUMSUMEXP), _scan),
    ATTENTION: _attention, CONVOLUTION: _convolution, SEQUENCES: _sequences,
    rotary.ROTATE: _rotation,
    **{p: _lowered(_moment) for p in (
        reductions.MEAN, reductions.VAR, reductions.STD, reductions.LOGSUMEXP,
        reductions.COUNT_NONZERO)},
    reductions.SOFTMAX: _lowered(_softmax), fast.RMS_NORM: _lowered(_norm),
    fast.LAYER_NORM: _lowered(_norm), rotary.ROPE: _lowered(_rope),
    fast.CROSS_ENTROPY: _lowered(_cross_entropy), random.UNIFORM: _lowered(_drawn),
    random.NORMAL: _lowered(_drawn),
    **dict.fromkeys(LIBRARY.values(), verify_library)}
"""By operation; what is not here can neither be written nor read."""

PRIMS: dict[str, Prim] = {p.name: p for p in RULES if p not in set(LIBRARY.values())} | LIBRARY
"""Operations by the names that stand in files."""
NAMES: dict[Prim, str] = {p: name for name, p in PRIMS.items()}
assert len(NAMES) == len(RULES) == len(PRIMS), "two operations have one name"


def verify(n: Node) -> None:
    """Raise Fault unless a node is one that the operations of `ops` could have made."""
    that(n.prim in RULES, "is not an operation that files hold")
    size = n.dtype.size
    for d in n.shape:
        that(type(d) is int and d >= 0, "a length is no natural number")
        size *= d or 1
    that(size < 1 << 63, "is too large")
    that(n.prim is loops.RESULT or all(i.prim.family != "loop" for i in n.inputs),
         "reads a loop, not a result of it")
    try:
        RULES[n.prim](n)
        check_node(n)
    except InternalError as e:
        raise Fault(str(e)) from e
    except (ArithmeticError, LookupError, TypeError, ValueError) as e:
        raise Fault(f"has other operands or attributes: {e}") from e
