"""Attention with several heads, and transformers of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import eutectic.core as mx
from eutectic.errors import ArgumentError
from eutectic.nn.layers.activations import relu
from eutectic.nn.layers.base import Module
from eutectic.nn.layers.dropout import Dropout
from eutectic.nn.layers.linear import Linear
from eutectic.nn.layers.normalization import LayerNorm
from eutectic.nn.utils import checkpoint as checkpointed

Mask = Any


class MultiHeadAttention(Module):
    """Scaled dot-product attention with several heads and projections (Vaswani et al., 2017).

    Queries (N, Lq, query_input_dims), keys (N, Lk, key_input_dims) and values (N, Lk,
    value_input_dims) give (N, Lq, value_output_dims). Dimensions that are not given are `dims`,
    those of the values' input are the keys'. A mask is added to the scores (or says where, if it
    is bool) and broadcasts with (N, num_heads, Lq, Lk).

    Raises ArgumentError where the heads do not divide `dims`.

    >>> attention = MultiHeadAttention(8, num_heads=2)
    >>> x = mx.ones((1, 5, 8))
    >>> attention(x, x, x, mask=attention.create_additive_causal_mask(5)).shape
    (1, 5, 8)
    """

    def __init__(self, dims: int, num_heads: int, query_input_dims: int | None = None,
                 key_input_dims: int | None = None, value_input_dims: int | None = None,
                 value_dims: int | None = None, value_output_dims: int | None = None,
                 bias: bool = False) -> None:
        super().__init__()
        if dims % num_heads:
            raise ArgumentError(f"[MultiHeadAttention] {dims} dimensions cannot be divided among "
                                f"{num_heads} heads.")
        query_input_dims = query_input_dims or dims
        key_input_dims = key_input_dims or dims
        value_input_dims = value_input_dims or key_input_dims
        value_dims = value_dims or dims
        self.num_heads = num_heads
        self.query_proj = Linear(query_input_dims, dims, bias=bias)
        self.key_proj = Linear(key_input_dims, dims, bias=bias)
        self.value_proj = Linear(value_input_dims, value_dims, bias=bias)
        self.out_proj = Linear(value_dims, value_output_dims or dims, bias=bias)

    def __call__(self, queries: mx.array, keys: mx.array, values: mx.array,
                 mask: Mask = None) -> mx.array:
        q, k, v = [self._heads(x) for x in (
            self.query_proj(queries), self.key_proj(keys), self.value_proj(values))]
        y = mx.fast.scaled_dot_product_attention(q, k, v, scale=math.sqrt(1 / q.shape[-1]),
                                                 mask=mask)
        return self.out_proj(y.transpose(0, 2, 1, 3).flatten(-2, -1))

    def _heads(self, x: mx.array) -> mx.array:
        """(N, L, dims) to (N, heads, L, dims / heads)."""
        return mx.unflatten(x, -1, (self.num_heads, -1)).transpose(0, 2, 1, 3)

    @staticmethod
    def create_additive_causal_mask(N: int, dtype: mx.Dtype = mx.float32) -> mx.array:
        """The mask (N, N) of the lowest number where the key comes after the query, else 0.

        >>> MultiHeadAttention.create_additive_causal_mask(2) == 0
        array([[True, False],
               [True, True]], dtype=bool)
        """
        at = mx.arange(N)
        return (at[:, None] < at[None]).astype(dtype) * mx.finfo(dtype).min


class TransformerEncoderLayer(Module):
    """Attention to the sequence itself, then two linear layers: (N, L, dims) to the same shape.

    Each part is added to its input; `norm_first` normalises what goes into a part, otherwise the
    sum is normalised. `mlp_dims`, four times `dims` by default, lies between the linear layers.

    >>> TransformerEncoderLayer(8, num_heads=2)(mx.ones((1, 5, 8)), None).shape
    (1, 5, 8)
    """

    def __init__(self, dims: int, num_heads: int, mlp_dims: int | None = None, dropout: float = 0.0,
                 activation: Callable[[Any], Any] = relu, norm_first: bool = True) -> None:
        super().__init__()
        mlp_dims = mlp_dims or dims * 4
        self.attention = MultiHeadAttention(dims, num_heads)
        self.ln1 = LayerNorm(dims)
        self.ln2 = LayerNorm(dims)
        self.linear1 = Linear(dims, mlp_dims)
        self.linear2 = Linear(mlp_dims, dims)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation
        self.norm_first = norm_first

    def __call__(self, x: mx.array, mask: Mask) -> mx.array:
        if self.norm_first:
            y = self.ln1(x)
            x = x + self.dropout1(self.attention(y, y, y, mask))
            return x + self._mlp(self.ln2(x))
        x = self.ln1(x + self.dropout1(self.attention(x, x, x, mask)))
        return self.ln2(x + self._mlp(x))

    def _mlp(self, x: mx.array) -> mx.array:
        return self.linear2(self.dropout2(self.activation(self.linear1(x))))


class TransformerEncoder(Module):
    """Encoder layers one after another, and a LayerNorm: (N, L, dims) to the same shape.

    `checkpoint` computes what is inside a layer again for the gradient instead of keeping it.

    >>> TransformerEncoder(2, 8, num_heads=2)(mx.ones((1, 5, 8)), None).shape
    (1, 5, 8)
    """

    def __init__(self, num_layers: int, dims: int, num_heads: int, mlp_dims: int | None = None,
                 dropout: float = 0.0, activation: Callable[[Any], Any] = relu,
                 norm_first: bool = True, checkpoint: bool = False) -> None:
        super().__init__()
        self.layers = [
            TransformerEncoderLayer(dims, num_heads, mlp_dims, dropout, activation, norm_first)
            for _ in range(num_layers)]
        self.ln = LayerNorm(dims)
        self.checkpoint = checkpoint

    def __call__(self, x: mx.array, mask: Mask) -> mx.array:
        for layer in self.layers:
            call = checkpointed(layer) if self.checkpoint else layer
            x = call(x, mask)
        return self.ln(x)


class TransformerDecoderLayer(Module):
    """Attention to the sequence itself and to a memory, then two linear layers: (N, L, dims).

    The memory has shape (N, M, dims). See `TransformerEncoderLayer`.

    >>> layer = TransformerDecoderLayer(8, num_heads=2)
    >>> layer(mx.ones((1, 5, 8)), mx.ones((1, 3, 8)), None, None).shape
    (1, 5, 8)
    """

    def __init__(self, dims: int, num_heads: int, mlp_dims: int | None = None, dropout: float = 0.0,
                 activation: Callable[[Any], Any] = relu, norm_first: bool = True) -> None:
        super().__init__()
        mlp_dims = mlp_dims or dims * 4
        self.self_attention = MultiHeadAttention(dims, num_heads)
        self.cross_attention = MultiHeadAttention(dims, num_heads)
        self.ln1 = LayerNorm(dims)
        self.ln2 = LayerNorm(dims)
        self.ln3 = LayerNorm(dims)
        self.linear1 = Linear(dims, mlp_dims)
        self.linear2 = Linear(mlp_dims, dims)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation
        self.norm_first = norm_first

    def __call__(self, x: mx.array, memory: mx.array, x_mask: Mask, memory_mask: Mask) -> mx.array:
        if self.norm_first:
            y = self.ln1(x)
            x = x + self.dropout1(self.self_attention(y, y, y, x_mask))
            y = self.cross_attention(self.ln2(x), memory, memory, memory_mask)
            x = x + self.dropout2(y)
            return x + self._mlp(self.ln3(x))
        x = self.ln1(x + self.dropout1(self.self_attention(x, x, x, x_mask)))
        y = self.cross_attention(x, memory, memory, memory_mask)
        x = self.ln2(x + self.dropout2(y))
        return self.ln3(x + self._mlp(x))

    def _mlp(self, x: mx.array) -> mx.array:
        return self.linear2(self.dropout3(self.activation(self.linear1(x))))


class TransformerDecoder(Module):
    """Decoder layers one after another, and a LayerNorm; see `TransformerDecoderLayer`.

    >>> decoder = TransformerDecoder(2, 8, num_heads=2)
    >>> decoder(mx.ones((1, 5, 8)), mx.ones((1, 3, 8)), None, None).shape
    (1, 5, 8)
    """

    def __init__(self, num_layers: int, dims: int, num_heads: int, mlp_dims: int | None = None,
                 dropout: float = 0.0, activation: Callable[[Any], Any] = relu,
                 norm_first: bool = True, checkpoint: bool = False) -> None:
        super().__init__()
        self.layers = [
            TransformerDecoderLayer(dims, num_heads, mlp_dims, dropout, activation, norm_first)
            for _ in range(num_layers)]
        self.ln = LayerNorm(dims)
        self.checkpoint = checkpoint

    def __call__(self, x: mx.array, memory: mx.array, x_mask: Mask, memory_mask: Mask) -> mx.array:
        for layer in self.layers:
            call = checkpointed(layer) if self.checkpoint else layer
            x = call(x, memory, x_mask, memory_mask)
        return self.ln(x)


class Transformer(Module):
    """An encoder and a decoder (Vaswani et al., 2017); sources (N, M, dims), targets (N, L, dims).

    `custom_encoder` and `custom_decoder` take the places of those made here.

    >>> model = Transformer(8, num_heads=2, num_encoder_layers=1, num_decoder_layers=1)
    >>> model(mx.ones((1, 3, 8)), mx.ones((1, 5, 8)), None, None, None).shape
    (1, 5, 8)
    """

    def __init__(self, dims: int = 512, num_heads: int = 8, num_encoder_layers: int = 6,
                 num_decoder_layers: int = 6, mlp_dims: int | None = None, dropout: float = 0.0,
                 activation: Callable[[Any], Any] = relu, custom_encoder: Any | None = None,
                 custom_decoder: Any | None = None, norm_first: bool = True,
                 checkpoint: bool = False) -> None:
        super().__init__()
        shared = (dims, num_heads, mlp_dims, dropout, activation, norm_first, checkpoint)
        self.encoder = (TransformerEncoder(num_encoder_layers, *shared)
                        if custom_encoder is None else custom_encoder)
        self.decoder = (TransformerDecoder(num_decoder_layers, *shared)
                        if custom_decoder is None else custom_decoder)

    def __call__(self, src: mx.array, tgt: mx.array, src_mask: Mask, tgt_mask: Mask,
                 memory_mask: Mask) -> mx.array:
        memory = self.encoder(src, src_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask)
