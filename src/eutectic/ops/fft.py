"""Discrete Fourier transforms, by SciPy's pocketfft in single precision.

Results are complex64, or float32 of half spectra.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eutectic.array import array, wrap
from eutectic.dtype import complex64, float32, float64, int64
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, AxisError, ShapeError, TraceError, show_shape)
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops.checks import apply, axis_of, integer, integers
from eutectic.ops.devices import streamed
from eutectic.ops.joining import roll
from eutectic.ops.registry import node_of
from eutectic.runtime.pool import get_num_threads

NORMS = ("backward", "ortho", "forward")
_PARALLEL = 1 << 16
"""Elements from which a transform is worth threads."""


def _run(x: np.ndarray, kind: str, lengths: tuple[int, ...], axes: tuple[int, ...],
         norm: str) -> np.ndarray:
    import scipy.fft
    workers = get_num_threads() if x.size >= _PARALLEL else 1
    return getattr(scipy.fft, kind)(x, s=lengths, axes=axes, norm=norm, workers=workers)


def _axes(name: str, n: Node, s: Any, axes: Any) -> tuple[int, ...]:
    if axes is None:
        if s is not None:
            raise ArgumentError(f"[{name}] s needs axes.")
        return tuple(range(len(n.shape)))
    given = tuple([axis_of(name, i, n.shape) for i in integers(name, "axes", axes)])
    if len(set(given)) != len(given):
        raise AxisError(f"[{name}] an axis is given twice in {show_shape(given)}.")
    return given


def transform(name: str, kind: str, a: Any, s: Any, axes: Any, norm: Any) -> array:
    """A transform of SciPy's `kind` over axes of which the last may be a half spectrum."""
    n = node_of(a, name)
    if not isinstance(norm, str):
        raise ArgumentTypeError(f"[{name}] norm must be a str, not a {type(norm).__name__}.")
    if norm not in NORMS:
        raise ArgumentError(f"[{name}] norm must be 'backward', 'ortho' or 'forward', not "
                            f"{norm!r}.")
    if not n.shape:
        raise ShapeError(f"[{name}] needs an array with at least one axis.")
    over = _axes(name, n, s, axes)
    if not over:
        return wrap(n)
    if s is None:
        lengths = [n.shape[i] for i in over]
        if kind == "irfftn":
            lengths[-1] = 2 * (lengths[-1] - 1)
    else:
        lengths = list(integers(name, "s", s))
    if len(lengths) != len(over):
        raise ShapeError(f"[{name}] {len(lengths)} lengths for {len(over)} axes.")
    if min(lengths) <= 0:
        raise ShapeError(f"[{name}] no transform of lengths {show_shape(lengths)} of shape "
                         f"{show_shape(n.shape)}.")
    shape = list(n.shape)
    for i, length in zip(over, lengths):
        shape[i] = length
    if kind == "rfftn":
        shape[over[-1]] = lengths[-1] // 2 + 1
    # Real input too as complex64, where all frequencies come out: SciPy's way for it gives -0.0 as
    # the imaginary part of real results, which turns the phase of negative ones.
    x = prims.cast(n, float32 if kind == "rfftn" else complex64)
    out = float32 if kind == "irfftn" else complex64
    if 0 in n.shape or 0 in shape:
        return wrap(prims.broadcast(prims.const(0, out), tuple(shape)))
    return wrap(prims.opaque(name, _run, (x,), (kind, tuple(lengths), over, norm),
                             ((tuple(shape), out),))[0])


def _one(name: str, kind: str, a: Any, n: Any, axis: Any, norm: Any) -> array:
    return transform(name, kind, a, None if n is None else (integer(name, "n", n),),
                     (integer(name, "axis", axis),), norm)


@streamed
def fft(a: array, n: int | None = None, axis: int = -1, norm: str = "backward",
        stream: Any = None) -> array:
    """Discrete Fourier transform along an axis, as complex64.

    The axis is cut or filled with zeros to length `n`. X[k] = sum of x[j] e^(-2 pi i j k / n) for
    norm "backward", divided by sqrt(n) for "ortho", by n for "forward". Raises ArgumentError for
    another norm, AxisError for an axis out of range, ShapeError for a length below 1.

    >>> import eutectic.core as mx
    >>> mx.fft.fft(mx.array([1.0, 2.0, 3.0, 4.0]))
    array([10+0j, -2+2j, -2+0j, -2-2j], dtype=complex64)
    """
    return _one("fft", "fftn", a, n, axis, norm)


@streamed
def ifft(a: array, n: int | None = None, axis: int = -1, norm: str = "backward",
         stream: Any = None) -> array:
    """Inverse of `fft` along an axis, as complex64: the "backward" norm divides by n.

    >>> import eutectic.core as mx
    >>> mx.fft.ifft(mx.array([10 + 0j, -2 + 2j, -2 + 0j, -2 - 2j]))
    array([1+0j, 2+0j, 3+0j, 4+0j], dtype=complex64)
    """
    return _one("ifft", "ifftn", a, n, axis, norm)


@streamed
def rfft(a: array, n: int | None = None, axis: int = -1, norm: str = "backward",
         stream: Any = None) -> array:
    """`fft` of real input along an axis: its n//2 + 1 frequencies that are not negative.

    Of complex input the real part is taken.

    >>> import eutectic.core as mx
    >>> mx.fft.rfft(mx.array([1.0, 2.0, 3.0, 4.0]))
    array([10+0j, -2+2j, -2+0j], dtype=complex64)
    """
    return _one("rfft", "rfftn", a, n, axis, norm)


@streamed
def irfft(a: array, n: int | None = None, axis: int = -1, norm: str = "backward",
          stream: Any = None) -> array:
    """Inverse of `rfft` along an axis, as float32; `n` is the length of the result.

    By default 2 * (m - 1) for m frequencies.

    >>> import eutectic.core as mx
    >>> mx.fft.irfft(mx.array([10 + 0j, -2 + 2j, -2 + 0j]))
    array([1, 2, 3, 4], dtype=float32)
    """
    return _one("irfft", "irfftn", a, n, axis, norm)


@streamed
def fftn(a: array, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
         norm: str = "backward", stream: Any = None) -> array:
    """Discrete Fourier transform over axes (all by default), as complex64. See `fft`.

    `s` gives the lengths of the axes, which must then be named. Raises ArgumentError where they
    are not, ShapeError for a wrong number of lengths, AxisError for an axis given twice.

    >>> import eutectic.core as mx
    >>> mx.fft.fftn(mx.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[10+0j, -2+0j],
           [-4+0j, 0+0j]], dtype=complex64)
    """
    return transform("fftn", "fftn", a, s, axes, norm)


@streamed
def ifftn(a: array, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
          norm: str = "backward", stream: Any = None) -> array:
    """Inverse of `fftn` over axes (all by default), as complex64.

    >>> import eutectic.core as mx
    >>> mx.fft.ifftn(mx.fft.fftn(mx.array([[1.0, 2.0], [3.0, 4.0]])))
    array([[1+0j, 2+0j],
           [3+0j, 4+0j]], dtype=complex64)
    """
    return transform("ifftn", "ifftn", a, s, axes, norm)


@streamed
def rfftn(a: array, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
          norm: str = "backward", stream: Any = None) -> array:
    """`fftn` of real input; of the last of the axes only frequencies that are not negative.

    >>> import eutectic.core as mx
    >>> mx.fft.rfftn(mx.ones((2, 3, 4))).shape
    (2, 3, 3)
    """
    return transform("rfftn", "rfftn", a, s, axes, norm)


@streamed
def irfftn(a: array, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
           norm: str = "backward", stream: Any = None) -> array:
    """Inverse of `rfftn`, as float32; `s` gives the lengths of the result.

    >>> import eutectic.core as mx
    >>> mx.fft.irfftn(mx.fft.rfftn(mx.array([[1.0, 2.0], [3.0, 4.0]])))
    array([[1, 2],
           [3, 4]], dtype=float32)
    """
    return transform("irfftn", "irfftn", a, s, axes, norm)


@streamed
def fft2(a: array, s: Sequence[int] | None = None, axes: Sequence[int] | None = (-2, -1),
         norm: str = "backward", stream: Any = None) -> array:
    """`fftn` over two axes, the last two by default.

    >>> import eutectic.core as mx
    >>> mx.fft.fft2(mx.array([[1.0, 2.0], [3.0, 4.0]]))[0]
    array([10+0j, -2+0j], dtype=complex64)
    """
    return transform("fft2", "fftn", a, s, axes, norm)


@streamed
def ifft2(a: array, s: Sequence[int] | None = None, axes: Sequence[int] | None = (-2, -1),
          norm: str = "backward", stream: Any = None) -> array:
    """`ifftn` over two axes, the last two by default.

    >>> import eutectic.core as mx
    >>> mx.fft.ifft2(mx.ones((3, 2, 2))).shape
    (3, 2, 2)
    """
    return transform("ifft2", "ifftn", a, s, axes, norm)


@streamed
def rfft2(a: array, s: Sequence[int] | None = None, axes: Sequence[int] | None = (-2, -1),
          norm: str = "backward", stream: Any = None) -> array:
    """`rfftn` over two axes, the last two by default.

    >>> import eutectic.core as mx
    >>> mx.fft.rfft2(mx.ones((2, 4))).shape
    (2, 3)
    """
    return transform("rfft2", "rfftn", a, s, axes, norm)


@streamed
def irfft2(a: array, s: Sequence[int] | None = None, axes: Sequence[int] | None = (-2, -1),
           norm: str = "backward", stream: Any = None) -> array:
    """`irfftn` over two axes, the last two by default.

    >>> import eutectic.core as mx
    >>> mx.fft.irfft2(mx.ones((2, 3))).shape
    (2, 4)
    """
    return transform("irfft2", "irfftn", a, s, axes, norm)


def _frequencies(name: str, n: Any, d: Any, half: bool) -> array:
    count = integer(name, "n", n)
    if count <= 0:
        raise ArgumentError(f"[{name}] n must be positive, got {count}.")
    try:
        spacing = float(d)
    except TraceError:
        raise
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"[{name}] d must be a number, not a {type(d).__name__}.") from None
    if spacing == 0:
        raise ArgumentError(f"[{name}] d must not be 0.")
    if half:
        k = prims.iota((count // 2 + 1,), 0)
    else:
        # 0, 1, .., -2, -1: the position counted from the middle, whose place is a half behind.
        k = prims.iota((count,), 0)
        k = apply("subtract", apply("remainder", apply("add", k, _whole(count // 2)),
                                    _whole(count)), _whole(count // 2))
    scale = prims.const(count * spacing, float64)
    return wrap(prims.cast(apply("divide", prims.cast(k, float64), scale), float32))


def _whole(value: int) -> Node:
    return prims.const(value, int64)


@streamed
def fftfreq(n: int, d: float = 1.0, stream: Any = None) -> array:
    """Frequencies of the results of `fft` of length n at spacing d, as float32: k / (n d).

    Raises ArgumentError for n below 1 and d = 0.

    >>> import eutectic.core as mx
    >>> mx.fft.fftfreq(4, d=0.5)
    array([0, 0.5, -1, -0.5], dtype=float32)
    """
    return _frequencies("fftfreq", n, d, False)


@streamed
def rfftfreq(n: int, d: float = 1.0, stream: Any = None) -> array:
    """Frequencies of the results of `rfft` of length n at spacing d, as float32: k / (n d).

    Raises ArgumentError for n below 1 and d = 0.

    >>> import eutectic.core as mx
    >>> mx.fft.rfftfreq(4, d=0.5)
    array([0, 0.5, 1], dtype=float32)
    """
    return _frequencies("rfftfreq", n, d, True)


def _shifted(name: str, a: Any, axes: Any, back: bool) -> array:
    n = node_of(a, name)
    over = tuple(range(len(n.shape))) if axes is None else tuple(
        [axis_of(name, i, n.shape) for i in integers(name, "axes", axes)])
    if not over:
        return wrap(n)
    shifts = [-(n.shape[i] // 2) if back else n.shape[i] // 2 for i in over]
    return roll(wrap(n), tuple(shifts), over)


@streamed
def fftshift(a: array, axes: Any = None, stream: Any = None) -> array:
    """Move frequency 0 to the middle of axes (all by default): a shift by half their length.

    Any dtype. Raises AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.fft.fftshift(mx.array([0, 1, 2, 3, 4]))
    array([3, 4, 0, 1, 2], dtype=int32)
    """
    return _shifted("fftshift", a, axes, False)


@streamed
def ifftshift(a: array, axes: Any = None, stream: Any = None) -> array:
    """Inverse of `fftshift`.

    >>> import eutectic.core as mx
    >>> mx.fft.ifftshift(mx.array([3, 4, 0, 1, 2]))
    array([0, 1, 2, 3, 4], dtype=int32)
    """
    return _shifted("ifftshift", a, axes, True)
