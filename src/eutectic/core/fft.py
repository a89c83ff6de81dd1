"""The facade of Fourier transforms, `mx.fft`: explicit re-exports only."""

from eutectic.ops.fft import (
    fft, fft2, fftfreq, fftn, fftshift, ifft, ifft2, ifftn, ifftshift, irfft, irfft2, irfftn, rfft,
    rfft2, rfftfreq, rfftn)
from eutectic.ops.stft import istft, stft

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "ifft", "ifft2", "ifftn", "ifftshift", "irfft",
    "irfft2", "irfftn", "istft", "rfft", "rfft2", "rfftfreq", "rfftn", "stft",
]
