"""Encodings of positions: rotary, sinusoidal, and linear biases of attention."""

from __future__ import annotations

import math

import eutectic.core as mx
from eutectic.nn.layers.base import Module


class RoPE(Module):
    """Rotates pairs of features by angles that grow with the position: (..., L, features).

    Pairs are features i and i + dims / 2, or neighbours in the `traditional` form; the angle of
    pair i at position t is t * scale * base^(-2 i / dims). Features after the first `dims` are
    left alone. Positions begin at the `offset` of the call (Su et al., 2021).

    >>> RoPE(4)(mx.ones((1, 3, 4))).shape
    (1, 3, 4)
    """

    def __init__(self, dims: int, traditional: bool = False, base: float = 10000,
                 scale: float = 1.0) -> None:
        super().__init__()
        self.dims = dims
        self.traditional = traditional
        self.base = base
        self.scale = scale

    def _extra_repr(self) -> str:
        return f"{self.dims}, traditional={self.traditional}"

    def __call__(self, x: mx.array, offset: int | mx.array = 0) -> mx.array:
        return mx.fast.rope(x, self.dims, traditional=self.traditional, base=self.base,
                            scale=self.scale, offset=offset)


class SinusoidalPositionalEncoding(Module):
    """Sines and cosines of positions: (...) to (..., dims).

    The frequencies go from max_freq down to min_freq in equal ratios; `full_turns` multiplies them
    by 2 pi. The result is multiplied by `scale`, sqrt(2 / dims) by default (Vaswani et al., 2017).

    >>> SinusoidalPositionalEncoding(4, scale=1.0)(mx.array([0.0]))
    array([[0, 0, 1, 1]], dtype=float32)
    """

    def __init__(self, dims: int, min_freq: float = 0.0001, max_freq: float = 1,
                 scale: float | None = None, cos_first: bool = False, full_turns: bool = False
                 ) -> None:
        super().__init__()
        steps = 1 - mx.arange(0, dims // 2) / (dims // 2 - 1)
        low, high = math.log(min_freq), math.log(max_freq)
        sigmas = mx.exp(steps * (high - low) + low)
        self._sigmas = sigmas * (2 * math.pi) if full_turns else sigmas
        self.scale = (2 / dims) ** 0.5 if scale is None else scale
        self.cos_first = cos_first

    def __call__(self, x: mx.array) -> mx.array:
        angles = x[..., None] * self._sigmas
        parts = [mx.sin(angles), mx.cos(angles)]
        y = mx.concatenate(parts[::-1] if self.cos_first else parts, axis=-1)
        return y * self.scale if self.scale != 1 else y


class ALiBi(Module):
    """Adds to attention scores a bias that falls with the distance: (N, heads, queries, keys).

    A mask given with the call is added, too. Queries begin at position `offset` (Press et al.,
    2022).

    >>> ALiBi()(mx.zeros((1, 2, 2, 2)))[0, 0]
    array([[0, -0.0625],
           [-0.0625, 0]], dtype=float32)
    """

    @staticmethod
    def create_alibi_matrix(q_sequence_length: int, k_sequence_length: int, num_heads: int,
                            offset: int = 0, dtype: mx.Dtype = mx.float32) -> mx.array:
        """The biases of queries from `offset` to `q_sequence_length`: (1, heads, queries, keys).

        >>> ALiBi.create_alibi_matrix(2, 3, 1)[0, 0] * 256
        array([[0, -1, -2],
               [-1, 0, -1]], dtype=float32)
        """
        queries = mx.arange(offset, q_sequence_length)
        keys = mx.arange(k_sequence_length)
        distance = -mx.abs(queries[:, None] - keys[None])
        slopes = ALiBi.create_alibi_slope(num_heads, dtype)
        return distance[None, None].astype(dtype) * slopes

    @staticmethod
    def create_alibi_slope(num_heads: int, dtype: mx.Dtype = mx.float32) -> mx.array:
        """The slopes of the heads, 2^(-8 i / heads) for a power of two: shape (heads, 1, 1).

        Otherwise those of the next smaller power of two come first, then every other one of those
        of the next greater.

        >>> ALiBi.create_alibi_slope(2).flatten()
        array([0.0625, 0.00390625], dtype=float32)
        """
        def slopes(n: int) -> list[float]:
            return [2.0 ** (-8.0 * (i + 1) / n) for i in range(n)]

        whole = 2 ** int(math.log2(num_heads))
        found = slopes(whole) + slopes(2 * whole)[::2][:num_heads - whole]
        return mx.array(found, dtype)[:, None, None]

    def __call__(self, attention_scores: mx.array, offset: int = 0,
                 mask: mx.array | None = None) -> mx.array:
        _, heads, queries, keys = attention_scores.shape
        bias = ALiBi.create_alibi_matrix(queries + offset, keys, heads, offset,
                                         attention_scores.dtype)
        return attention_scores + (bias if mask is None else bias + mask)
