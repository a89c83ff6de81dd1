"""Convolutions and their transposes; arrays are channels last."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.codegen.convolution import code
from eutectic.codegen.convolution_plan import AXES, FAR, Problem
from eutectic.dtype import PROMOTE, float32, float64
from eutectic.engine.host import host_target
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, DtypeError, ShapeError, show_shape)
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.kernel.prim import Prim
from eutectic.ops.checks import integer, integers
from eutectic.ops.devices import streamed
from eutectic.ops.registry import node_of

Ints = tuple[int, ...]
_SMALL_GROUP = 8
"""Output channels of a group up to which vectors run across groups."""
_MANY_TAPS = 4
"""Kernel positions that repay the copy which that takes."""


def _native(n: Node, strides: list[Ints], threads: int) -> Any:
    stride, low, dilation, input_dilation, groups = n.attrs
    x, w = n.inputs
    rank = len(x.shape) - 2

    def full(values: Sequence[int], fill: int) -> Ints:
        return (fill,) * (AXES - rank) + tuple(values)

    channels, columns = w.shape[-1], w.shape[0] // groups
    spread = 0
    if groups > 1 and (columns == channels == 1
                       or (columns <= _SMALL_GROUP and math.prod(w.shape[1:-1]) >= _MANY_TAPS)):
        spread, columns, groups = columns, n.shape[-1], 1
    x_strides, w_strides = (((s[0], *full(s[1:-1], 0), s[-1])) for s in strides)
    return code(n.dtype.name, Problem(
        x.shape[0], channels, columns, groups, full(x.shape[1:-1], 1), full(w.shape[1:-1], 1),
        full(n.shape[1:-1], 1), full(stride, 1), full(low, 0), full(dilation, 1),
        full(input_dilation, 1), x_strides, w_strides, spread), host_target(), threads)


def _absorb(n: Node, x: Node, low: Ints, high: Ints) -> Node | str:
    """A convolution with a padding of its input as its own; the zeros meet the same weights."""
    stride, own, dilation, input_dilation, groups = n.attrs
    w = n.inputs[1]
    if low[0] or high[0] or low[-1] or high[-1]:
        return "convolutions pad spatial axes only, neither the batch nor the channels"
    if any(spread > 1 and (lo or hi) for spread, lo, hi in zip(
            input_dilation, low[1:-1], high[1:-1])):
        return "the input is dilated after the padding, whose zeros would lie apart"
    if _in_place(w.shape, dilation, input_dilation):
        return "a kernel this long reads padded rows where they are"
    around = tuple([a + b for a, b in zip(own, low[1:-1])])
    return Node(CONVOLUTION, (x, w), (stride, around, dilation, input_dilation, groups), n.shape,
                n.dtype)


def _in_place(kernel: Ints, dilation: Ints, input_dilation: Ints) -> bool:
    """Whether blocks would copy far more than they see, so that a padded array is read instead."""
    return (len(kernel) == 3 and (kernel[1] - 1) * dilation[0] >= FAR and input_dilation == (1,))


CONVOLUTION = Prim("convolution", "native", native=_native, absorb=_absorb)
"""inputs (input, weight) of one dtype, attrs = (stride, low padding, kernel dilation, input
dilation, groups), tuples with an entry an axis; the high padding is in the shape."""


def _sequences(n: Node, strides: list[Ints], threads: int) -> Any:
    # A depthwise convolution whose channels are neighbouring positions, with equal weights.
    x, w = n.inputs
    rows, k = n.size // LANES, w.size
    (along,), (step,) = strides
    one = (1,) * AXES
    return code(n.dtype.name, Problem(
        1, 1, LANES, 1, (1, 1, x.size - LANES + 1), (1, 1, k), (1, 1, rows), (1, 1, LANES),
        (0,) * AXES, one, one, (0, 0, 0, along, along), (0, 0, 0, step, 0), 1), host_target(),
        threads)


LANES = 32
SEQUENCES = Prim("convolve", "native", native=_sequences)
"""inputs (a of length N, v of length K): sum over k of a[i + k] * v[k] for N - K + 1 elements, a
multiple of LANES."""


def _pair(name: str, what: str, x: Any, rank: int, exact: bool = True) -> Ints:
    """An argument for every spatial axis: an integer, or a sequence of one integer an axis."""
    if exact and rank == 1:
        return (integer(name, what, x),)
    values = integers(name, what, x)
    if isinstance(x, int) or (not exact and len(values) == 1):
        return values * rank
    if len(values) != rank:
        kind = ArgumentTypeError if exact else ArgumentError
        raise kind(f"[{name}] {what} needs an integer or {rank} of them, got {values}.")
    return values


def _operands(name: str, input: Any, weight: Any, rank: int | None) -> tuple[Node, Node]:
    x, w = node_of(input, name), node_of(weight, name)
    given = len(x.shape) - 2
    if not 1 <= given <= AXES or rank not in (None, given):
        axes = f"{rank}" if rank else f"1 to {AXES}"
        raise ShapeError(f"[{name}] takes inputs (batch, {axes} spatial axes, channels), got shape "
                         f"{show_shape(x.shape)}.")
    if len(w.shape) != len(x.shape):
        raise ShapeError(f"[{name}] weights of shape {show_shape(w.shape)} for an input of shape "
                         f"{show_shape(x.shape)}: {len(x.shape)} axes are needed.")
    if not x.dtype.is_float:
        raise DtypeError(f"[{name}] takes real floating types, not {x.dtype.name}.")
    d = PROMOTE[x.dtype.index][w.dtype.index]
    if not d.is_float:
        raise DtypeError(f"[{name}] takes real floating types, not {d.name}.")
    return prims.cast(x, d), prims.cast(w, d)


def _convolution(name: str, x: Node, w: Node, stride: Ints, low: Ints, high: Ints,
                 dilation: Ints, input_dilation: Ints, groups: int, flip: bool) -> array:
    """Check what all convolutions share and build the node."""
    groups = integer(name, "groups", groups)
    shapes = f"input {show_shape(x.shape)} and weight {show_shape(w.shape)}"
    if groups < 1:
        raise ArgumentError(f"[{name}] groups must be positive, got {groups}.")
    for what, values in (("stride", stride), ("dilation", dilation),
                         ("input_dilation", input_dilation)):
        if min(values) < 1:
            raise ArgumentError(f"[{name}] {what} must be positive, got {show_shape(values)}.")
    channels, outputs = x.shape[-1], w.shape[0]
    if channels % groups or outputs % groups:
        what = "input" if channels % groups else "output"
        raise ShapeError(f"[{name}] the {what} channels are no multiple of {groups} groups with "
                         f"{shapes}.")
    if channels // groups != w.shape[-1]:
        raise ShapeError(f"[{name}] the weights' last axis must have {channels // groups} channels "
                         f"with {groups} group{'s' * (groups > 1)}, got {shapes}.")
    out = []
    for i, (size, kernel) in enumerate(zip(x.shape[1:-1], w.shape[1:-1])):
        if kernel < 1:
            raise ShapeError(f"[{name}] the kernel has no positions with {shapes}.")
        dilated = (size - 1) * input_dilation[i] + 1 if size else 0
        room = dilated + low[i] + high[i] - ((kernel - 1) * dilation[i] + 1)
        if room < 0:
            raise ShapeError(f"[{name}] the kernel exceeds the padded input on axis {i + 1}: "
                             f"{shapes}, padding {low[i]} and {high[i]}.")
        out.append(room // stride[i] + 1)
    shape = (x.shape[0], *out, outputs)
    if flip:
        w = prims.slice_(w, (0, *[k - 1 for k in w.shape[1:-1]], 0), (1, *[-1] * len(out), 1),
                         w.shape) if math.prod(w.shape[1:-1]) > 1 else w
    if not math.prod(shape):
        return wrap(prims.broadcast(prims.const(0, x.dtype), shape))
    if not x.size or not w.size:
        return wrap(prims.broadcast(prims.const(0, x.dtype), shape))
    one = (1,) * len(out)
    if (groups == 1 and w.shape[1:-1] == stride == input_dilation == one
            and not any(low) and not any(high)):
        # A kernel of one position is a matrix product, which takes an epilogue.
        rows = math.prod(shape[:-1])
        if rows > 1 and outputs > 1:
            product = prims.matmul(
                prims.reshape(x, (rows, channels)),
                prims.transpose(prims.reshape(w, (outputs, channels)), (1, 0)))
            return wrap(prims.reshape(product, shape))
    d = x.dtype
    if _in_place(w.shape, dilation, input_dilation) and low[0] >= 0 and high[0] >= 0:
        if d.is_half:
            x, w = prims.cast(x, float32), prims.cast(w, float32)
        x = prims.pad(x, (0, low[0], 0), (0, high[0], 0), prims.const(0, x.dtype))
        low = (0,)
    attrs = (stride, low, dilation, input_dilation, groups)
    return wrap(prims.cast(Node(CONVOLUTION, (x, w), attrs, shape, x.dtype), d))


def _plain(name: str, rank: int, input: Any, weight: Any, stride: Any, padding: Any,
           dilation: Any, groups: int) -> array:
    x, w = _operands(name, input, weight, rank)
    low = _pair(name, "padding", padding, rank)
    return _convolution(name, x, w, _pair(name, "stride", stride, rank), low, low,
                        _pair(name, "dilation", dilation, rank), (1,) * rank, groups, False)


def _transposed(name: str, rank: int, input: Any, weight: Any, stride: Any, padding: Any,
                dilation: Any, output_padding: Any, groups: int) -> array:
    x, w = _operands(name, input, weight, rank)
    step, around, kernel_step, more = (
        _pair(name, what, value, rank) for what, value in (
            ("stride", stride), ("padding", padding), ("dilation", dilation),
            ("output_padding", output_padding)))
    low = tuple([d * (k - 1) - p for d, k, p in zip(kernel_step, w.shape[1:-1], around)])
    high = tuple([a + b for a, b in zip(low, more)])
    return _convolution(name, x, w, (1,) * rank, low, high, kernel_step, step, groups, True)


@streamed
def conv1d(input: array, weight: array, /, stride: int = 1, padding: int = 0, dilation: int = 1,
           groups: int = 1, *, stream: Any = None) -> array:
    """1-D convolution (without flipping) of `input` (N, L, C) with `weight` (O, K, C/groups).

    The result has shape (N, (L + 2*padding - dilation*(K-1) - 1)//stride + 1, O) and the promoted
    dtype. Each element is one chain of fused multiply-adds over the kernel's positions and then
    the channels, in float32 (float64 for float64), zeros in the padding included. A negative
    padding crops. Raises ShapeError for shapes that do not go together, DtypeError for an input
    that is not real floating, ArgumentError for strides, dilations or groups below 1.

    >>> import eutectic.core as mx
    >>> x = mx.array([[[1.0], [2.0], [3.0]]])
    >>> mx.conv1d(x, mx.array([[[1.0], [10.0]]]))
    array([[[21],
            [32]]], dtype=float32)
    """
    return _plain("conv1d", 1, input, weight, stride, padding, dilation, groups)


@streamed
def conv2d(input: array, weight: array, /, stride: int | tuple[int, int] = 1,
           padding: int | tuple[int, int] = 0, dilation: int | tuple[int, int] = 1,
           groups: int = 1, *, stream: Any = None) -> array:
    """2-D convolution of `input` (N, H, W, C) with `weight` (O, KH, KW, C/groups).

    The result has shape (N, OH, OW, O). Arithmetic, dtypes and errors as `conv1d`; a pair gives
    each axis its own value.

    >>> import eutectic.core as mx
    >>> mx.conv2d(mx.ones((1, 3, 3, 1)), mx.ones((1, 2, 2, 1)), padding=(0, 1)).shape
    (1, 2, 4, 1)
    """
    return _plain("conv2d", 2, input, weight, stride, padding, dilation, groups)


@streamed
def conv3d(input: array, weight: array, /, stride: int | tuple[int, int, int] = 1,
           padding: int | tuple[int, int, int] = 0, dilation: int | tuple[int, int, int] = 1,
           groups: int = 1, *, stream: Any = None) -> array:
    """3-D convolution of `input` (N, D, H, W, C) with `weight` (O, KD, KH, KW, C/groups).

    The result has shape (N, OD, OH, OW, O). Arithmetic, dtypes and errors as `conv1d`.

    >>> import eutectic.core as mx
    >>> mx.conv3d(mx.ones((1, 4, 4, 4, 2)), mx.ones((3, 2, 2, 2, 2)), stride=2).shape
    (1, 2, 2, 2, 3)
    """
    return _plain("conv3d", 3, input, weight, stride, padding, dilation, groups)


@streamed
def conv_transpose1d(input: array, weight: array, /, stride: int = 1, padding: int = 0,
                     dilation: int = 1, output_padding: int = 0, groups: int = 1, *,
                     stream: Any = None) -> array:
    """1-D transposed convolution of `input` (N, L, C) with `weight` (O, K, C/groups).

    The result has length (L-1)*stride - 2*padding + dilation*(K-1) + output_padding + 1. Positions
    of the flipped kernel that fall between input elements contribute nothing. Dtypes and errors as
    `conv1d`.

    >>> import eutectic.core as mx
    >>> x = mx.array([[[1.0], [2.0]]])
    >>> mx.conv_transpose1d(x, mx.array([[[1.0], [10.0]]]), stride=2).reshape(-1)
    array([1, 10, 2, 20], dtype=float32)
    """
    return _transposed("conv_transpose1d", 1, input, weight, stride, padding, dilation,
                       output_padding, groups)


@streamed
def conv_transpose2d(input: array, weight: array, /, stride: int | tuple[int, int] = 1,
                     padding: int | tuple[int, int] = 0, dilation: int | tuple[int, int] = 1,
                     output_padding: int | tuple[int, int] = 0, groups: int = 1, *,
                     stream: Any = None) -> array:
    """2-D transposed convolution of `input` (N, H, W, C) with `weight` (O, KH, KW, C/groups).

    Lengths, arithmetic, dtypes and errors as `conv_transpose1d`.

    >>> import eutectic.core as mx
    >>> mx.conv_transpose2d(mx.ones((1, 2, 3, 1)), mx.ones((1, 2, 2, 1)), stride=2).shape
    (1, 4, 6, 1)
    """
    return _transposed("conv_transpose2d", 2, input, weight, stride, padding, dilation,
                       output_padding, groups)


@streamed
def conv_transpose3d(input: array, weight: array, /, stride: int | tuple[int, int, int] = 1,
                     padding: int | tuple[int, int, int] = 0,
                     dilation: int | tuple[int, int, int] = 1,
                     output_padding: int | tuple[int, int, int] = 0, groups: int = 1, *,
                     stream: Any = None) -> array:
    """3-D transposed convolution of `input` (N, D, H, W, C) with `weight` (O, KD, KH, KW,
    C/groups).

    Lengths, arithmetic, dtypes and errors as `conv_transpose1d`.

    >>> import eutectic.core as mx
    >>> mx.conv_transpose3d(mx.ones((1, 2, 2, 2, 1)), mx.ones((1, 2, 2, 2, 1)), stride=2).shape
    (1, 4, 4, 4, 1)
    """
    return _transposed("conv_transpose3d", 3, input, weight, stride, padding, dilation,
                       output_padding, groups)


@streamed
def conv_general(input: array, weight: array, /, stride: int | Sequence[int] = 1,
                 padding: int | Sequence[int] | tuple[Sequence[int], Sequence[int]] = 0,
                 kernel_dilation: int | Sequence[int] = 1, input_dilation: int | Sequence[int] = 1,
                 groups: int = 1, flip: bool = False, *, stream: Any = None) -> array:
    """Convolution over 1 to 3 spatial axes of `input` (N, ..., C) with `weight` (O, ...,
    C/groups).

    `padding` is an integer, one an axis, or a pair (low, high) of such sequences. With an
    `input_dilation` d, d-1 gaps lie between neighbouring elements; positions of the kernel that
    fall on them contribute nothing. `flip` turns the kernel around in every axis. Arithmetic,
    dtypes and errors as `conv1d`.

    >>> import eutectic.core as mx
    >>> mx.conv_general(mx.ones((1, 4, 1)), mx.ones((1, 3, 1)), padding=([2], [0])).reshape(-1)
    array([1, 2, 3, 3], dtype=float32)
    """
    name = "conv_general"
    x, w = _operands(name, input, weight, None)
    rank = len(x.shape) - 2
    if (isinstance(padding, (tuple, list)) and len(padding) == 2
            and all(isinstance(p, (tuple, list)) for p in padding)):
        low, high = (_pair(name, "padding", p, rank, exact=False) for p in padding)
    else:
        low = high = _pair(name, "padding", padding, rank, exact=False)
    steps = [_pair(name, what, value, rank, exact=False) for what, value in (
        ("stride", stride), ("kernel_dilation", kernel_dilation),
        ("input_dilation", input_dilation))]
    return _convolution(name, x, w, steps[0], low, high, steps[1], steps[2], groups, bool(flip))


@streamed
def convolve(a: array, v: array, /, mode: str = "full", *, stream: Any = None) -> array:
    """Discrete convolution of two sequences, sum over k of `a[i-k] * v[k]`.

    `mode` is "full" (length N+K-1), "same" (max(N, K)) or "valid" (max(N, K) - min(N, K) + 1).
    Raises ShapeError unless both have one axis and are not empty, DtypeError for other than real
    floating types, ArgumentError for an unknown mode.

    >>> import eutectic.core as mx
    >>> mx.convolve(mx.array([1.0, 2.0, 3.0]), mx.array([1.0, 10.0]))
    array([1, 12, 23, 30], dtype=float32)
    """
    name = "convolve"
    x, w = node_of(a, name), node_of(v, name)
    shapes = f"{show_shape(x.shape)} and {show_shape(w.shape)}"
    if len(x.shape) != 1 or len(w.shape) != 1:
        raise ShapeError(f"[{name}] takes arrays of one axis, got shapes {shapes}.")
    if not x.size or not w.size:
        raise ShapeError(f"[{name}] takes no empty arrays, got shapes {shapes}.")
    if x.size < w.size:
        x, w = w, x
    k = w.size
    pads = {"full": (k - 1, k - 1), "valid": (0, 0), "same": (k // 2, k - 1 - k // 2)}
    if mode not in pads:
        raise ArgumentError(f"[{name}] knows the modes 'full', 'same' and 'valid', not {mode!r}.")
    low, high = pads[mode]
    d = PROMOTE[x.dtype.index][w.dtype.index]
    if not d.is_float:
        raise DtypeError(f"[{name}] takes real floating types, not {d.name}.")
    wide = d if d is float64 else float32  # of halves as well: rounded once, at the end
    x, w = prims.cast(x, wide), prims.cast(w, wide)
    count = x.size + low + high - k + 1
    rows = -(-count // LANES)
    more = rows * LANES + k - 1 - x.size - low
    x = prims.pad(x, (low,), (more,), prims.const(0, wide))
    w = prims.slice_(w, (k - 1,), (-1,), (k,)) if k > 1 else w
    out = Node(SEQUENCES, (x, w), (), (rows * LANES,), wide)
    return wrap(prims.cast(prims.slice_(out, (0,), (1,), (count,)), d))
