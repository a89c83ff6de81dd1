"""FFN with DFT features: a feed-forward block that works on the spectrum of its hidden features.

Given: an excerpt, "FFN DFT - much richer specialization than spectral", above a table of blocks
with their DC part and dominant mode.

Chosen: hidden features go through a real DFT, each frequency gets a learned complex gain, the
inverse DFT comes back, GELU follows; the magnitude of the spectrum is a second input of the output
layer. Two blocks with residuals and RMS norm; AdamW.
"""

from __future__ import annotations

from typing import Any

from seeds.system import System, training

SIZES = {"tiny": (4, 6, 8), "full": (512, 128, 256)}  # batch, width, hidden


def build(mx: Any, nn: Any, optimizers: Any, size: str) -> System:
    batch, width, hidden = SIZES[size]
    modes = hidden // 2 + 1

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.RMSNorm(width)
            self.widen = nn.Linear(width, hidden)
            self.gain = mx.ones((2, modes)) + mx.random.normal((2, modes)) * 0.1
            self.narrow = nn.Linear(hidden, width)
            self.read = nn.Linear(modes, width)

        def __call__(self, x: Any) -> Any:
            spectrum = mx.fft.rfft(self.widen(self.norm(x)), axis=-1)
            real, imaginary = mx.real(spectrum), mx.imag(spectrum)
            magnitude = mx.log1p(real * real + imaginary * imaginary)
            turned = spectrum * (self.gain[0] + 1j * self.gain[1])
            h = nn.gelu(mx.fft.irfft(turned, n=hidden, axis=-1))
            return x + self.narrow(h) + self.read(magnitude)

    model = nn.Sequential(Block(), Block())
    x = mx.random.normal((batch, width))
    y = mx.sin(3 * x) * x[:, ::-1]

    def loss(x: Any, y: Any) -> Any:
        return nn.losses.mse_loss(model(x), y)

    return training(mx, nn, model, optimizers.AdamW(1e-3), loss, (x, y))
