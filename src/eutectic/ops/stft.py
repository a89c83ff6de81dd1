"""Short-time Fourier transforms: overlapping frames, windowed and transformed."""

from __future__ import annotations

from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import complex64, float32, int64
from eutectic.errors import ArgumentError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops.checks import apply, integer
from eutectic.ops.comparison import WHERE
from eutectic.ops.devices import streamed
from eutectic.ops.fft import transform
from eutectic.ops.joining import pad, slice_axis
from eutectic.ops.registry import node_of


def _positive(name: str, what: str, x: Any) -> int:
    value = integer(name, what, x)
    if value <= 0:
        raise ArgumentError(f"[{name}] {what} must be positive, got {value}.")
    return value


def _hop(name: str, hop_length: Any, n_fft: int) -> int:
    return max(n_fft // 4, 1) if hop_length is None else _positive(name, "hop_length", hop_length)


def _window(name: str, window: Any, win_length: Any, n_fft: int) -> Node:
    """The window as float32, between zeros that fill it to n_fft elements."""
    if window is None:
        length = n_fft if win_length is None else _positive(name, "win_length", win_length)
        w = prims.broadcast(prims.const(1, float32), (length,))
    else:
        w = prims.cast(node_of(window, name), float32)
        if len(w.shape) != 1:
            raise ShapeError(f"[{name}] the window must have one axis, not shape "
                             f"{show_shape(w.shape)}.")
    missing = n_fft - w.shape[0]
    if missing < 0:
        raise ShapeError(f"[{name}] the window is longer than n_fft = {n_fft}: {w.shape[0]} "
                         "elements.")
    return prims.pad(w, (missing // 2,), (missing - missing // 2,), prims.const(0, float32))


def _places(frames: int, n_fft: int, hop: int) -> Node:
    """Where element (frame, i) lies in the signal."""
    shape = (frames, n_fft)
    start = apply("multiply", prims.iota(shape, 0), prims.const(hop, int64))
    return apply("add", start, prims.iota(shape, 1))


@streamed
def stft(x: array, n_fft: int = 2048, hop_length: int | None = None,
         win_length: int | None = None, window: array | None = None, center: bool = True,
         pad_mode: str = "reflect", norm: str = "backward", onesided: bool | None = None,
         stream: Any = None) -> array:
    """Fourier transforms of overlapping frames of the last axis, as complex64.

    Frames of `n_fft` elements begin every `hop_length` (by default a quarter of n_fft); each is
    multiplied by the window (ones, `win_length` of them), which zeros on both sides fill to n_fft.
    `center` first pads the signal by n_fft // 2 on both sides, in a mode of `pad`. The result has
    shape (..., frequencies, frames); `onesided` (by default for real input) keeps frequencies that
    are not negative. Raises ShapeError for signals shorter than a frame and windows longer than
    one, ArgumentError for lengths below 1.

    >>> import eutectic.core as mx
    >>> mx.fft.stft(mx.arange(16.0), n_fft=4).shape
    (3, 17)
    """
    n = node_of(x, "stft")
    if not n.shape:
        raise ShapeError("[stft] needs a signal with at least one axis.")
    size = _positive("stft", "n_fft", n_fft)
    hop = _hop("stft", hop_length, size)
    w = _window("stft", window, win_length, size)
    half = not n.dtype.is_complex if onesided is None else bool(onesided)
    n = prims.cast(n, complex64 if n.dtype.is_complex and not half else float32)
    if center:
        widths = [(0, 0)] * (len(n.shape) - 1) + [(size // 2, size // 2)]
        n = pad(wrap(n), widths, pad_mode)._n
    length = n.shape[-1]
    if length < size:
        raise ShapeError(f"[stft] a signal of {length} elements is shorter than n_fft = {size}.")
    frames = 1 + (length - size) // hop
    outer = n.shape[:-1]
    rank = len(outer)
    taken = prims.gather(n, (_places(frames, size, hop),), (*range(rank), -1),
                         (*outer, frames, size))
    windowed = apply("multiply", taken, prims.cast(w, n.dtype))
    out = transform("stft", "rfftn" if half else "fftn", wrap(windowed), None, (-1,), norm)._n
    return wrap(prims.transpose(out, (*range(rank), rank + 1, rank)))


@streamed
def istft(stft_matrix: array, n_fft: int | None = None, hop_length: int | None = None,
          win_length: int | None = None, window: array | None = None, center: bool = True,
          norm: str = "backward", onesided: bool | None = None, length: int | None = None,
          stream: Any = None) -> array:
    """The signal, as float32, whose `stft` is nearest: windowed frames added and normalized.

    Shape (..., frequencies, frames); `n_fft` is by default the even length that fits the
    frequencies. The sum of the frames is divided by that of the squared windows where that is not
    0. `center` cuts n_fft // 2 elements from both ends, or from the front alone with a `length`, to
    which the signal is then cut or filled with zeros.
    Raises ShapeError for fewer than two axes, no frames and windows longer than a frame,
    ArgumentError for lengths below 1.

    >>> import eutectic.core as mx
    >>> mx.fft.istft(mx.fft.stft(mx.array([1.0, 2.0, 3.0, 4.0]), n_fft=4))
    array([1, 2, 3, 4], dtype=float32)
    """
    n = node_of(stft_matrix, "istft")
    if len(n.shape) < 2:
        raise ShapeError("[istft] needs axes of frequencies and of frames, got shape "
                         f"{show_shape(n.shape)}.")
    rows, frames = n.shape[-2:]
    half = onesided is None or bool(onesided)
    size = _positive("istft", "n_fft", (2 * (rows - 1) if half else rows) if n_fft is None
                     else n_fft)
    hop = _hop("istft", hop_length, size)
    w = _window("istft", window, win_length, size)
    if not frames:
        raise ShapeError(f"[istft] no frames in shape {show_shape(n.shape)}.")
    outer = n.shape[:-2]
    rank = len(outer)
    spectra = prims.transpose(n, (*range(rank), rank + 1, rank))
    signal = transform("istft", "irfftn" if half else "ifftn", wrap(spectra), (size,), (-1,),
                       norm)._n
    if signal.dtype is complex64:
        signal = apply("real", signal, dtype=float32)
    total = size + hop * (frames - 1)
    zeros = prims.const(0, float32)
    places = _places(frames, size, hop)
    added = prims.scatter(prims.broadcast(zeros, (*outer, total)), apply("multiply", signal, w),
                          (places,), (*range(rank), -1), "sum")
    squares = prims.broadcast(apply("square", w), (frames, size))
    weight = prims.scatter(prims.broadcast(zeros, (total,)), squares, (places,), (-1,), "sum")
    weight = Node(WHERE, (apply("equal", weight, zeros), prims.const(1, float32), weight), (),
                  weight.shape, float32)
    out = apply("divide", added, weight)
    if center:
        end = total if length is not None else max(total - size // 2, size // 2)
        out = slice_axis(out, rank, size // 2, end)
    if length is not None:
        wanted = integer("istft", "length", length)
        if wanted < 0:
            raise ArgumentError(f"[istft] length must not be negative, got {wanted}.")
        out = slice_axis(out, rank, 0, min(wanted, out.shape[-1]))
        out = prims.pad(out, (0,) * (rank + 1), (*(0,) * rank, wanted - out.shape[-1]), zeros)
    return wrap(out)
