"""A transformer that reads the sources of the standard library and predicts the next byte.

    python examples/language_model.py [--steps 60] [--batch 8] [--length 128] [--width 128]

Pre-norm blocks with rotary positions and `mx.fast`'s attention; AdamW with warm-up and decay,
clipped gradients. With `--save lm.safetensors`, `generate.py --weights lm.safetensors` goes on from
there, and `lora.py --weights` adapts it.
"""

from __future__ import annotations

import argparse

import common

import eutectic.core as mx
import eutectic.nn as nn
import eutectic.optimizers as optim


Cache = dict[str, mx.array]
"""Keys and values of what a layer has read, (batch, heads, room, width): room to be filled."""


class Attention(nn.Module):
    def __init__(self, dims: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_proj = nn.Linear(dims, dims, bias=False)
        self.key_proj = nn.Linear(dims, dims, bias=False)
        self.value_proj = nn.Linear(dims, dims, bias=False)
        self.out_proj = nn.Linear(dims, dims, bias=False)
        self.rope = nn.RoPE(dims // heads)

    def __call__(self, x: mx.array, cache: Cache | None = None,
                 position: mx.array | None = None) -> mx.array:
        n, length, dims = x.shape

        def split(x: mx.array) -> mx.array:
            return x.reshape(n, length, self.heads, -1).transpose(0, 2, 1, 3)

        q, k = split(self.query_proj(x)), split(self.key_proj(x))
        v = split(self.value_proj(x))
        scale = (dims // self.heads) ** -0.5
        mask: str | mx.array = "causal"
        if cache is None:
            q, k = self.rope(q), self.rope(k)
        else:
            q, k = self.rope(q, offset=position), self.rope(k, offset=position)
            cache["keys"] = k = mx.slice_update(cache["keys"], k, position, (2,))
            cache["values"] = v = mx.slice_update(cache["values"], v, position, (2,))
            # Position p + i sees what stands up to there, and not the room behind.
            mask = mx.arange(k.shape[2]) <= position + mx.arange(length)[:, None]
        h = mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask=mask)
        return self.out_proj(h.transpose(0, 2, 1, 3).reshape(n, length, dims))


class Block(nn.Module):
    def __init__(self, dims: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(dims, heads)
        self.norm1, self.norm2 = nn.RMSNorm(dims), nn.RMSNorm(dims)
        self.widen, self.narrow = nn.Linear(dims, 4 * dims), nn.Linear(4 * dims, dims)

    def __call__(self, x: mx.array, cache: Cache | None = None,
                 position: mx.array | None = None) -> mx.array:
        x = x + self.attention(self.norm1(x), cache, position)
        return x + self.narrow(nn.gelu_approx(self.widen(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, layers: int, dims: int, heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(256, dims)
        self.blocks = [Block(dims, heads) for _ in range(layers)]
        self.norm = nn.RMSNorm(dims)

    def __call__(self, x: mx.array, caches: list[Cache] | None = None,
                 position: mx.array | None = None) -> mx.array:
        h = self.embedding(x)
        for i, block in enumerate(self.blocks):
            h = block(h, caches[i] if caches is not None else None, position)
        return self.embedding.as_linear(self.norm(h))

    def caches(self, room: int) -> list[Cache]:
        """Empty caches of all layers for one sequence of up to `room` positions."""
        heads = self.blocks[0].attention.heads
        shape = 1, heads, room, self.embedding.weight.shape[1] // heads
        return [{"keys": mx.zeros(shape), "values": mx.zeros(shape)} for _ in self.blocks]


def make(options: argparse.Namespace) -> common.Job:
    mx.random.seed(options.seed)
    model = Transformer(options.layers, options.width, options.heads)
    warm = 10
    optimizer = optim.AdamW(optim.join_schedules(
        [optim.linear_schedule(0.0, options.rate, warm),
         optim.cosine_decay(options.rate, options.steps)], [warm]), weight_decay=0.1)

    def loss_fn(x: mx.array, y: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(x), y, reduction="mean")

    def step(x: mx.array, y: mx.array) -> mx.array:
        loss, grads = nn.value_and_grad(model, loss_fn)(x, y)
        grads, _ = optim.clip_grad_norm(grads, 1.0)
        optimizer.update(model, grads)
        return loss

    batch = common.windows(common.text(), options.batch, options.length, options.seed)
    return common.Job(model, optimizer, step, batch)


PARSER = common.parser(__doc__, steps=60, batch=8, length=128, layers=4, width=128, heads=4,
                       rate=3e-3)

if __name__ == "__main__":
    common.main(make, PARSER)
