"""A decode step: one token through a transformer whose key/value cache grows.

Given: compiling "applies to decode step", and the decode step "lacks mx.compile" in what was
measured.

Chosen: greedy decoding by a small transformer with rotary positions. The cache is concatenated
with each token's keys and values, so its shape is another one at every step; the position is an
array, since a Python number would be a constant in MLX's traces. The step is compiled with
`shapeless=True`. With `fixed` the cache has its full length from the start, and rows beyond the
position are masked. A unit of work is a
number of tokens from an empty cache.
"""

from __future__ import annotations

from typing import Any

from seeds.system import Step, System

SIZES = {"tiny": (8, 2, 2, 11, 3), "full": (256, 4, 4, 1024, 64)}
# width, heads, layers, vocabulary, tokens


def build(mx: Any, nn: Any, optimizers: Any, size: str, fixed: bool = False) -> System:
    width, heads, layers, vocabulary, tokens = SIZES[size]
    each = width // heads

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
            self.project = nn.Linear(width, 3 * width, bias=False)
            self.out = nn.Linear(width, width, bias=False)
            self.widen = nn.Linear(width, 4 * width, bias=False)
            self.narrow = nn.Linear(4 * width, width, bias=False)

        def __call__(self, h: Any, keys: Any, values: Any, position: Any) -> Any:
            qkv = self.project(self.norm1(h)).reshape(1, 1, 3, heads, each)
            q, k, v = (qkv[:, :, j].transpose(0, 2, 1, 3) for j in range(3))
            q, k = (mx.fast.rope(a, each, traditional=False, base=10000.0, scale=1.0,
                                 offset=position) for a in (q, k))
            if fixed:
                start = mx.reshape(position, (1,))
                keys = mx.slice_update(keys, k, start, axes=(2,))
                values = mx.slice_update(values, v, start, axes=(2,))
                mask = mx.arange(tokens) <= position
            else:
                keys = mx.concatenate([keys, k], axis=2)
                values = mx.concatenate([values, v], axis=2)
                mask = None
            a = mx.fast.scaled_dot_product_attention(q, keys, values, scale=each ** -0.5,
                                                     mask=mask)
            h = h + self.out(a.transpose(0, 2, 1, 3).reshape(1, 1, width))
            return h + self.narrow(nn.silu(self.widen(self.norm2(h)))), keys, values

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(vocabulary, width)
            self.layers = [Layer() for _ in range(layers)]

        def __call__(self, token: Any, cache: Any, position: Any) -> Any:
            h, new = self.embedding(token), []
            for layer, (keys, values) in zip(self.layers, cache):
                h, keys, values = layer(h, keys, values, position)
                new.append((keys, values))
            return self.embedding.as_linear(h), new

    model = Model()
    mx.eval(model.parameters())

    def step(token: Any, cache: Any, position: Any) -> Any:
        logits, cache = model(token, cache, position)
        return mx.argmax(logits, axis=-1), cache

    def empty() -> Any:
        shape = 1, heads, tokens if fixed else 0, each
        return [(mx.zeros(shape), mx.zeros(shape)) for _ in range(layers)]

    def generate(step: Step, count: int) -> Any:
        token, cache, found = mx.array([[1]], mx.uint32), empty(), []
        for i in range(count):
            token, cache = step(token, cache, mx.array(i))
            mx.eval(token, cache)
            found.append(token)
        return found

    return System(step, lambda: mx.compile(step, shapeless=not fixed),
                  lambda step: generate(step, tokens), lambda: model.parameters(),
                  lambda step: generate(step, 1))
