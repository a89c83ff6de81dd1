"""Fourier transforms against NumPy, and short-time transforms by their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.dtype import DTYPES, Dtype
from eutectic.errors import ArgumentError, ArgumentTypeError, AxisError, ShapeError

NORMS = ("backward", "ortho", "forward")
ONE = ("fft", "ifft", "rfft", "irfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")


def sample(d: Dtype, shape: tuple[int, ...]) -> tuple[mx.array, np.ndarray]:
    x = np.random.default_rng(sum(shape)).integers(0, 4, shape).astype(np.float32)
    a = mx.array(x).astype(d)
    if d.is_complex:
        a = a + 1j * mx.array(x[..., ::-1].copy())
    return a, np.array(a).astype(np.complex128 if d.is_complex else np.float64)


def same(got: mx.array, want: np.ndarray) -> None:
    assert got.dtype is (mx.complex64 if want.dtype.kind == "c" else mx.float32)
    assert got.shape == want.shape
    np.testing.assert_allclose(np.array(got), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("d", DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("name", ONE)
def test_one_axis(name: str, d: Dtype) -> None:
    for shape in ((8,), (3, 7), (2, 5, 4), (0, 3), (2, 31)):
        a, x = sample(d, shape)
        if name == "rfft":
            x = x.real
        for axis in range(-1, len(shape)):
            for n in (None, 1, 4, 9):
                if shape[axis] < 2 and n is None:
                    continue
                for norm in NORMS if d is mx.float32 else NORMS[:1]:
                    got = getattr(mx.fft, name)(a, n, axis, norm)
                    if 0 in shape:
                        assert got.size == 0 or n is not None
                        continue
                    same(got, getattr(np.fft, name)(x, n, axis, norm))


@pytest.mark.parametrize("d", [mx.float32, mx.int32, mx.complex64], ids=lambda d: d.name)
@pytest.mark.parametrize("name", MANY)
def test_many_axes(name: str, d: Dtype) -> None:
    a, x = sample(d, (3, 6, 5))
    if name.startswith("rfft"):
        x = x.real
    f, g = getattr(mx.fft, name), getattr(np.fft, name)
    for norm in NORMS:
        same(f(a, norm=norm), g(x, norm=norm))
        for axes in ((0, 1), (1, 0), (2, 0), (-1,), (0, 1, 2)):
            same(f(a, axes=axes, norm=norm), g(x, axes=axes, norm=norm))
        for s in ((4, 7), (2, 2), [8, 3]):
            same(f(a, s, (0, 2), norm), g(x, s, (0, 2), norm))
    same(f(a, axes=None), getattr(np.fft, name.replace("2", "n"))(x))


def test_no_axes_and_no_elements() -> None:
    a = mx.array([1.0, 2.0])
    assert mx.fft.fftn(a, axes=()).tolist() == [1, 2]
    assert mx.fft.fft(mx.zeros((3, 0)), n=4).tolist() == [[0] * 4] * 3
    assert mx.fft.rfft(mx.zeros((0, 6))).shape == (0, 4)
    assert mx.fft.irfft(mx.zeros((0, 4))).dtype is mx.float32


def test_large_and_special() -> None:
    x = np.random.default_rng(0).normal(size=(16, 8192)).astype(np.float32)
    got = np.array(mx.fft.rfft(mx.array(x)))
    want = np.fft.rfft(x.astype(np.float64))
    assert np.abs(got - want).max() < 1e-6 * np.abs(want).max()
    assert np.isnan(np.array(mx.fft.fft(mx.array([1.0, np.nan, 2.0])))).all()
    y = np.random.default_rng(1).normal(size=(2,) * 9).astype(np.float32)
    same(mx.fft.fftn(mx.array(y), axes=(0, 4, 8)), np.fft.fftn(y.astype(np.float64),
                                                              axes=(0, 4, 8)))


def test_layouts() -> None:
    x = np.random.default_rng(2).normal(size=(6, 8)).astype(np.float32)
    for a, y in ((mx.array(x).T, x.T), (mx.array(x)[::-1, ::-2], x[::-1, ::-2]),
                 (mx.broadcast_to(mx.array(x[0]), (3, 8)), np.broadcast_to(x[0], (3, 8)))):
        same(mx.fft.fft(a), np.fft.fft(y.astype(np.float64)))
        same(mx.fft.irfft(a, axis=0), np.fft.irfft(y.astype(np.float64), axis=0))


def test_frequencies_and_shifts() -> None:
    for n in (1, 2, 5, 8, 1001):
        for d in (1.0, 0.1, -2):
            same(mx.fft.fftfreq(n, d), np.fft.fftfreq(n, d))
            same(mx.fft.rfftfreq(n, d), np.fft.rfftfreq(n, d))
    x = np.arange(30).reshape(5, 3, 2)
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 0, (1,), (0, 2), -1, ()):
            got = getattr(mx.fft, name)(mx.array(x), axes)
            np.testing.assert_array_equal(np.array(got), getattr(np.fft, name)(x, axes))
    assert mx.fft.fftshift(mx.array(1)).item() == 1


def frames(x: np.ndarray, n: int, hop: int, window: np.ndarray) -> np.ndarray:
    """Windowed frames of a signal, by loops."""
    count = 1 + (x.shape[-1] - n) // hop
    return np.stack([x[..., i * hop:i * hop + n] * window for i in range(count)], -2)


OPTIONS: list[dict[str, Any]] = [
    dict(n_fft=4), dict(n_fft=5), dict(n_fft=8, hop_length=3), dict(n_fft=8, win_length=5),
    dict(n_fft=8, window=np.array([0.5, 1, 2, 1, 0.5, 3])), dict(n_fft=8, center=False),
    dict(n_fft=8, pad_mode="constant"), dict(n_fft=8, pad_mode="edge"),
    dict(n_fft=8, onesided=False), dict(n_fft=8, norm="ortho"),
    dict(n_fft=8, norm="forward", hop_length=8)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("d", [mx.float32, mx.complex64], ids=lambda d: d.name)
def test_stft(options: dict[str, Any], d: Dtype) -> None:
    a, x = sample(d, (2, 40))
    o = dict(center=True, pad_mode="reflect", norm="backward") | options
    n, hop = o["n_fft"], o.get("hop_length") or o["n_fft"] // 4
    w = o.get("window", np.ones(o.get("win_length", n)))
    low = (n - len(w)) // 2
    w = np.pad(w, (low, n - len(w) - low))
    if o["center"]:
        x = np.pad(x, ((0, 0), (n // 2, n // 2)), mode=o["pad_mode"])
    half = not d.is_complex if o.get("onesided") is None else o["onesided"]
    transform = np.fft.rfft if half else np.fft.fft
    want = np.swapaxes(transform(frames(x, n, hop, w), norm=o["norm"]), -1, -2)
    given = {k: mx.array(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    spectrum = mx.fft.stft(a, **given)
    same(spectrum, want)
    if not d.is_complex:
        # The inverse gives the signal back wherever a window is not 0.
        given.pop("pad_mode", None)
        back = np.array(mx.fft.istft(spectrum, **given, length=a.shape[-1]))
        count = want.shape[-1]
        seen = np.zeros(n + hop * (count - 1))
        for i in range(count):
            seen[i * hop:i * hop + n] += w ** 2
        seen = seen[n // 2 if o["center"] else 0:][:a.shape[-1]] > 0
        at = np.flatnonzero(seen)
        np.testing.assert_allclose(back[:, at], np.array(a)[:, at], atol=2e-5)


def test_istft_lengths() -> None:
    x = mx.arange(1.0, 9.0)
    spectrum = mx.fft.stft(x, n_fft=4)
    assert mx.fft.istft(spectrum).shape == (8,)
    np.testing.assert_allclose(np.array(mx.fft.istft(spectrum, length=5)), np.arange(1, 6),
                               rtol=1e-6)
    assert mx.fft.istft(spectrum, length=20).shape == (20,)
    assert mx.fft.istft(spectrum, length=0).shape == (0,)
    assert mx.fft.istft(mx.ones((2, 3, 3))).shape == (2, 2)
    gaps = mx.fft.istft(mx.fft.stft(x, n_fft=4, hop_length=6), hop_length=6, length=8)
    np.testing.assert_allclose(np.array(gaps), [1, 2, 0, 0, 5, 6, 7, 8], atol=1e-6)
    assert mx.fft.stft(x, n_fft=2).shape == (2, 9)
    both = mx.fft.istft(mx.fft.stft(x, n_fft=4, onesided=False), onesided=False)
    np.testing.assert_allclose(np.array(both), np.array(x), rtol=1e-6)


def test_compiled_gives_the_same_bits() -> None:
    def f(x: mx.array) -> tuple[mx.array, ...]:
        y = mx.sin(x) + 1
        return (mx.fft.fft(y) * 2, mx.abs(mx.fft.rfft2(y)), mx.fft.irfft(y * 1j) + x[:, :1],
                mx.fft.istft(mx.fft.stft(y, n_fft=4) * 0.5) + 1, mx.fft.fftshift(y) * 2)

    x = mx.array(np.random.default_rng(1).normal(size=(5, 16)).astype(np.float32))
    for a in (x, x[::-1, ::-1], mx.array(np.array(x).T.copy()).T):
        for plain, compiled in zip(f(a), mx.compile(f)(a)):
            assert np.array(plain).tobytes() == np.array(compiled).tobytes()


X = "mx.ones((2, 3))"
ERRORS: list[tuple[str, type[Exception], str]] = [
    (f"fft({X}, n=0)", ShapeError, "[fft] no transform of lengths (0,) of shape (2,3)."),
    (f"fft({X}, n=-1)", ShapeError, "[fft] no transform of lengths (-1,)"),
    (f"fft({X}, n=1.5)", ArgumentTypeError, "[fft] n must be an integer, not float."),
    (f"fft({X}, norm='x')", ArgumentError,
     "[fft] norm must be 'backward', 'ortho' or 'forward', not 'x'."),
    (f"fft({X}, norm=None)", ArgumentTypeError, "[fft] norm must be a str, not a NoneType."),
    (f"fft({X}, axis=2)", AxisError, "[fft] axis 2 is out of range for shape (2,3)."),
    ("fft(mx.array(1.0))", ShapeError, "[fft] needs an array with at least one axis."),
    ("irfft(mx.ones(1))", ShapeError, "[irfft] no transform of lengths (0,) of shape (1,)."),
    ("fft2(mx.ones(2))", AxisError, "[fft2] axis -2 is out of range for shape (2,)."),
    (f"fft2({X}, (2,))", ShapeError, "[fft2] 1 lengths for 2 axes."),
    (f"fft2({X}, axes=(0, 0))", AxisError, "[fft2] an axis is given twice in (0,0)."),
    (f"fftn({X}, (2,))", ArgumentError, "[fftn] s needs axes."),
    ("fftfreq(0)", ArgumentError, "[fftfreq] n must be positive, got 0."),
    ("rfftfreq(4, 0)", ArgumentError, "[rfftfreq] d must not be 0."),
    ("fftfreq(4, 'a')", ArgumentTypeError, "[fftfreq] d must be a number, not a str."),
    (f"fftshift({X}, 5)", AxisError, "[fftshift] axis 5 is out of range for shape (2,3)."),
    ("stft(mx.array(1.0))", ShapeError, "[stft] needs a signal with at least one axis."),
    ("stft(mx.ones(9), n_fft=0)", ArgumentError, "[stft] n_fft must be positive, got 0."),
    ("stft(mx.ones(9), n_fft=4, hop_length=0)", ArgumentError,
     "[stft] hop_length must be positive, got 0."),
    ("stft(mx.ones(9), n_fft=4, win_length=5)", ShapeError,
     "[stft] the window is longer than n_fft = 4: 5 elements."),
    ("stft(mx.ones(9), n_fft=4, window=mx.ones((2, 2)))", ShapeError,
     "[stft] the window must have one axis, not shape (2,2)."),
    ("stft(mx.ones(2), n_fft=4, center=False)", ShapeError,
     "[stft] a signal of 2 elements is shorter than n_fft = 4."),
    ("stft(mx.ones(9), n_fft=4, pad_mode='wrap')", ArgumentError, "[pad] mode must be"),
    ("istft(mx.ones(3))", ShapeError,
     "[istft] needs axes of frequencies and of frames, got shape (3,)."),
    ("istft(mx.ones((3, 0)))", ShapeError, "[istft] no frames in shape (3,0)."),
    ("istft(mx.ones((1, 3)))", ArgumentError, "[istft] n_fft must be positive, got 0."),
    ("istft(mx.ones((3, 3)), length=-1)", ArgumentError,
     "[istft] length must not be negative, got -1."),
]


@pytest.mark.parametrize(("code", "kind", "message"), ERRORS, ids=[c for c, _, _ in ERRORS])
def test_errors(code: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as found:
        eval(f"mx.fft.{code}", {"mx": mx})
    assert type(found.value) is kind
    assert message in str(found.value)


def test_against_mlx() -> None:
    mlx = pytest.importorskip("mlx.core", reason="the reference implementation is not installed")
    x = np.random.default_rng(3).normal(size=(3, 6, 5)).astype(np.float32)
    signal = np.random.default_rng(4).normal(size=(2, 40)).astype(np.float32)
    with mlx.stream(mlx.cpu):
        for name in (*ONE, *MANY):
            want = getattr(mlx.fft, name)(mlx.array(x), norm="ortho")
            same(getattr(mx.fft, name)(mx.array(x), norm="ortho"), np.array(want))
        for options in OPTIONS:
            own, theirs = ({k: m.array(v.astype(np.float32)) if isinstance(v, np.ndarray) else v
                            for k, v in options.items()} for m in (mx, mlx))
            want = mlx.fft.stft(mlx.array(signal), **theirs)
            same(mx.fft.stft(mx.array(signal), **own), np.array(want))
            own.pop("pad_mode", None), theirs.pop("pad_mode", None)
            for length in (None, 17, 60):
                back = mx.fft.istft(mx.array(np.array(want)), length=length, **own)
                same(back, np.array(mlx.fft.istft(want, length=length, **theirs)))
