"""A training step of a transformer language model; the large one has 113 million parameters.

Given: "mx.eval(loss, model.parameters(), optimizer.state) traverses the full tree of 113M params +
Adam's 2x state every step"; compiling "optimizes training run", "training step enabled", and
"potentially speeds up" forward pass and loss computation.

Chosen: 113 million parameters are 12 blocks of width 768 and an embedding of 36,864 tokens that is
the output layer too. Causal attention, GELU, RMS norm, AdamW, cross entropy.
"""

from __future__ import annotations

from typing import Any

from seeds.system import System, training

# batch, length, width, heads, layers, vocabulary
SIZES = {"tiny": (2, 5, 8, 2, 2, 11), "full": (4, 64, 128, 4, 4, 1024),
         "large": (1, 128, 768, 12, 12, 36864)}


def build(mx: Any, nn: Any, optimizers: Any, size: str) -> System:
    batch, length, width, heads, layers, vocabulary = SIZES[size]
    each = width // heads

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
            self.project = nn.Linear(width, 3 * width, bias=False)
            self.out = nn.Linear(width, width, bias=False)
            self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def __call__(self, h: Any) -> Any:
            qkv = self.project(self.norm1(h)).reshape(batch, length, 3, heads, each)
            q, k, v = (qkv[:, :, j].transpose(0, 2, 1, 3) for j in range(3))
            a = mx.fast.scaled_dot_product_attention(q, k, v, scale=each ** -0.5, mask="causal")
            h = h + self.out(a.transpose(0, 2, 1, 3).reshape(batch, length, width))
            return h + self.narrow(nn.gelu(self.widen(self.norm2(h))))

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(vocabulary, width)
            self.places = nn.Embedding(length, width)
            self.blocks = [Block() for _ in range(layers)]
            self.norm = nn.RMSNorm(width)

        def __call__(self, x: Any) -> Any:
            h = self.tokens(x) + self.places(mx.arange(length))
            for block in self.blocks:
                h = block(h)
            return self.tokens.as_linear(self.norm(h))

    model = Transformer()
    x = mx.random.randint(0, vocabulary, (batch, length))
    y = mx.concatenate([x[:, 1:], x[:, :1]], axis=1)

    def loss(x: Any, y: Any) -> Any:
        return nn.losses.cross_entropy(model(x), y, reduction="mean")

    return training(mx, nn, model, optimizers.AdamW(3e-4), loss, (x, y))
