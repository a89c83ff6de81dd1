"""Defining an operation: one decorated function that is its name, documentation and meaning.

The decorators build the compiler's `Prim`, the public function with MLX's signature, and the
record that drives the generated tests (NumPy reference, sample domain, accepted dtypes).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eutectic.array import array, build, wrap
from eutectic.dtype import (
    DTYPES, PROMOTE, Dtype, bool_, complex64, float32, float_of, scalar_dtype)
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, DtypeError, ShapeError, show_shape)
from eutectic.graph.ir import CONST, Node
from eutectic.graph.number import Number
from eutectic.graph.prims import cast, const
from eutectic.kernel.prim import Prim
from eutectic.kernel.scalar import pattern
from eutectic.ops.devices import check_stream


@dataclass(frozen=True, eq=False)
class Op:
    """The record of one public operation."""

    name: str
    family: str
    prim: Prim
    api: Callable[..., Any]
    reference: Callable[..., Any] | None
    """The same operation in NumPy, on arrays already of the computing dtype."""
    arity: int
    computes: Callable[[Dtype], Dtype]
    """Dtype that the operands are converted to, from their promoted dtype."""
    result: Callable[[Dtype], Dtype]
    """Dtype of the result, from the computing dtype."""
    takes: Callable[[Dtype], bool]
    """Whether the (promoted) dtype is accepted at all."""
    domain: tuple[float, float]
    """Interval the tests draw real samples from."""
    ulp: float
    """Allowed distance from the reference in units in the last place (float32)."""
    methods: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


Rule = Callable[..., Any]
"""Derivative of an elementwise operation: (cotangent, result, *operands) -> a cotangent for each
operand (None: zero), before broadcasting and conversion are undone."""
VJP: dict[Prim, Rule | None] = {}
"""Rules by operation; None where the derivative is zero wherever it exists."""

OPS: dict[str, Op] = {}
"""Every operation of a scalar body, by public name."""


def same(d: Dtype) -> Dtype:
    return d


def to_bool(d: Dtype) -> Dtype:
    return bool_


def to_float(d: Dtype) -> Dtype:
    return float_of(d)


def real_of(d: Dtype) -> Dtype:
    return float32 if d is complex64 else d


def any_dtype(d: Dtype) -> bool:
    return True


def not_complex(d: Dtype) -> bool:
    return not d.is_complex


def integral(d: Dtype) -> bool:
    return d.is_int or d is bool_


_RANGE = {d: (-(1 << 8 * d.size - 1), (1 << 8 * d.size - 1) - 1) if d.is_signed
          else (0, (1 << 8 * d.size) - 1) for d in DTYPES if d.is_int}


def number(name: str, x: Any, other: Dtype | None = None) -> Node:
    """A Python number as an operand; it takes the dtype of the array beside it where it can."""
    if type(x) is float and other is float32:
        return Node(CONST, (), (pattern(x, "f32"),), (), other)
    if type(x) is Number:
        return x.node(number, name, other)
    d = scalar_dtype(x, other)
    if type(x) is int:
        if d.is_int:
            low, high = _RANGE[d]
            if not low <= x <= high:
                raise ArgumentError(f"[{name}] the integer {x} does not fit {d.name}.")
        elif d is not bool_:
            try:
                x = float(x)
            except OverflowError:
                raise ArgumentError(f"[{name}] the integer is too large for {d.name}.") from None
    return const(x, d)


def node_of(x: Any, name: str, other: Dtype | None = None) -> Node:
    """The node of an operand: an array, a number (weak, beside `other`) or NumPy data.

    NumPy's scalars are as weak as Python's numbers.
    """
    if type(x) is array:
        return x._n
    t = type(x)
    if t is float or t is int or t is bool or t is complex:
        return number(name, x, other)
    if isinstance(x, array):
        return x._n
    if isinstance(x, np.generic):
        if x.dtype.kind in "biufc":
            return number(name, x.item(), other)
        raise DtypeError(f"[{name}] no data type for NumPy's {x.dtype}.")
    if isinstance(x, (bool, int, float, complex)):
        return number(name, x, other)
    if isinstance(x, np.ndarray) or hasattr(x, "__mlx_array__") or hasattr(x, "__dlpack__"):
        return build(x)
    raise ArgumentTypeError(
        f"[{name}] cannot take a {t.__name__} as an operand; give an array or a number.")


def broadcast_shape(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape of operands, or an error that names all their shapes."""
    first = shapes[0]
    for s in shapes[1:]:
        if s != first:
            break
    else:
        return first
    rank = max(map(len, shapes))
    out = [1] * rank
    for s in shapes:
        pad = rank - len(s)
        for i, d in enumerate(s):
            if d != out[pad + i]:
                if out[pad + i] == 1:
                    out[pad + i] = d
                elif d != 1:
                    raise ShapeError(f"[{name}] shapes {' and '.join(map(show_shape, shapes))} "
                                     "cannot be broadcast together.")
    return tuple(out)


def operands(name: str, xs: tuple[Any, ...]) -> tuple[list[Node], Dtype]:
    """Nodes of the operands and their promoted dtype; Python numbers do not widen arrays."""
    strong: Dtype | None = None
    for x in xs:
        t = type(x)
        if t is array:
            d = x._n.dtype
        elif t is float or t is int or t is bool or t is complex or isinstance(
                x, (np.generic, bool, int, float, complex)):
            continue
        else:
            d = node_of(x, name).dtype
        strong = d if strong is None else PROMOTE[strong.index][d.index]
    nodes = [node_of(x, name, strong) for x in xs]
    out = nodes[0].dtype
    for n in nodes[1:]:
        if n.dtype is not out:
            out = PROMOTE[out.index][n.dtype.index]
    return nodes, out


def _check(op_name: str, takes: Callable[[Dtype], bool], d: Dtype, remedy: str = "") -> None:
    if not takes(d):
        what = remedy or _TAKES.get(takes, "")
        raise DtypeError(f"[{op_name}] does not take {d.name}{what and '; '}{what}.")


_TAKES: dict[Callable[[Dtype], bool], str] = {
    not_complex: "give real numbers", integral: "give integers or booleans"}


def elementwise(
    *,
    reference: Callable[..., Any] | None,
    computes: Callable[[Dtype], Dtype] = same,
    result: Callable[[Dtype], Dtype] = same,
    takes: Callable[[Dtype], bool] = any_dtype,
    domain: tuple[float, float] = (-4.0, 4.0),
    ulp: float = 0.0,
    aliases: tuple[str, ...] = (),
    methods: tuple[str, ...] = (),
    commutes: bool = False,
    name: str | None = None,
    vjp: Rule | None = None,
    remedy: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Define an elementwise operation by its scalar body.

    The decorated function takes one `Value` an operand (after promotion, conversion to
    `computes(promoted)`, and broadcasting) and returns the element; its docstring becomes the
    documentation. `methods` also installs it on the array class under these names; a method
    called as a reflected operator (`__radd__`) swaps its operands. `remedy` ends the error about a
    dtype that is not taken.
    """

    def define(body: Callable[..., Any]) -> Callable[..., Any]:
        op_name = name or body.__name__.rstrip("_")
        arity = len(inspect.signature(body).parameters)
        prim = Prim(op_name, "elementwise", body=body, commutes=commutes)
        VJP[prim] = vjp
        d_in = {d: computes(d) for d in DTYPES}
        d_out = {d: result(d_in[d]) for d in DTYPES}
        accepted = frozenset(d for d in DTYPES if takes(d))

        if arity == 1:
            def unary(a: Any, /, *, stream: Any = None) -> array:
                if stream is not None:
                    check_stream(op_name, stream)
                n = a._n if type(a) is array else node_of(a, op_name)
                d = n.dtype
                if d not in accepted:
                    _check(op_name, takes, d, remedy)
                if d_in[d] is not d:
                    n = cast(n, d_in[d])
                return wrap(Node(prim, (n,), (), n.shape, d_out[d]))
        elif arity == 2:
            def binary(a: Any, b: Any, stream: Any = None) -> array:
                if stream is not None:
                    check_stream(op_name, stream)
                ta, tb = type(a), type(b)
                if ta is array and tb is array and a._n.dtype is b._n.dtype:
                    x, y = a._n, b._n
                    d = x.dtype
                elif ta is array and (tb is float or tb is int):
                    x = a._n
                    y = number(op_name, b, x.dtype)
                    d = y.dtype if y.dtype is x.dtype else PROMOTE[x.dtype.index][y.dtype.index]
                else:
                    (x, y), d = operands(op_name, (a, b))
                if d not in accepted:
                    _check(op_name, takes, d, remedy)
                to = d_in[d]
                if x.dtype is not to:
                    x = cast(x, to)
                if y.dtype is not to:
                    y = cast(y, to)
                shape = x.shape
                if y.shape != shape:
                    shape = (shape if not y.shape else y.shape if not shape
                             else broadcast_shape(op_name, shape, y.shape))
                return wrap(Node(prim, (x, y), (), shape, d_out[d]))
        else:
            def n_ary(*xs: Any, stream: Any = None) -> array:
                if stream is not None:
                    check_stream(op_name, stream)
                if len(xs) != arity:
                    raise ArgumentTypeError(f"[{op_name}] takes {arity} operands, got {len(xs)}.")
                nodes, d = operands(op_name, xs)
                _check(op_name, takes, d, remedy)
                ns = tuple([cast(n, d_in[d]) for n in nodes])
                shape = broadcast_shape(op_name, *[n.shape for n in ns])
                return wrap(Node(prim, ns, (), shape, d_out[d]))

        api: Callable[..., Any] = unary if arity == 1 else binary if arity == 2 else n_ary
        api.__name__ = api.__qualname__ = op_name
        api.__doc__ = body.__doc__
        api.__module__ = body.__module__
        api.prim = prim  # type: ignore[attr-defined]
        OPS[op_name] = Op(op_name, "elementwise", prim, api, reference, arity, computes, result,
                          takes, domain, ulp, methods, aliases)
        for m in methods:
            install(m, api)
        return api

    return define


_REFLECTED = ("__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rdiv__", "__rfloordiv__",
              "__rmod__", "__rpow__", "__rand__", "__ror__", "__rxor__", "__rlshift__",
              "__rrshift__", "__rdivmod__")


def install(method: str, api: Callable[..., Any]) -> None:
    """Make an operation a method of the array class."""
    if method in _REFLECTED:
        def reflected(self: array, other: Any) -> Any:
            return api(other, self) if can_operate(other) else NotImplemented
        bound: Callable[..., Any] = reflected
    elif method.startswith("__") and method not in ("__neg__", "__abs__", "__invert__", "__pos__"):
        def operator(self: array, other: Any) -> Any:
            if type(other) in _OPERANDS or can_operate(other):
                return api(self, other)
            return NotImplemented
        bound = operator
    else:
        bound = api
    setattr(array, method, bound)


_OPERANDS = frozenset((array, float, int, bool))


def can_operate(x: Any) -> bool:
    """Whether `x` can stand beside an array in an operator."""
    return (isinstance(x, (array, bool, int, float, complex, np.ndarray, np.generic))
            or hasattr(x, "__mlx_array__") or hasattr(x, "__dlpack__"))
