"""Trains a small network as MLX's examples do: declared state, a compiled step."""

import sys
from functools import partial

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from mlx.nn.layers.base import Module
from mlx.nn.losses import cross_entropy
from mlx.optimizers.optimizers import Adam
from mlx.utils import tree_flatten


class Network(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.layers = [nn.Linear(2, dims), nn.Linear(dims, 2)]

    def __call__(self, x):
        return self.layers[1](nn.relu(self.layers[0](x)))


def main(steps):
    mx.random.seed(0)
    x = mx.random.normal((256, 2))
    y = (x[:, 0] * x[:, 1] > 0).astype(mx.int32)
    model = Network(32)
    optimizer = optim.Adam(optim.cosine_decay(0.05, steps))
    mx.eval(model.parameters())
    state = [model.state, optimizer.state, mx.random.state]

    def loss_fn(model, x, y):
        return cross_entropy(model(x), y, reduction="mean")

    @partial(mx.compile, inputs=state, outputs=state)
    def step(x, y):
        loss, grads = nn.value_and_grad(model, loss_fn)(model, x, y)
        optimizer.update(model, grads)
        return loss

    first = step(x, y).item()
    for _ in range(steps):
        loss = step(x, y)
        mx.eval(state)
    known = isinstance(model, Module) and len(tree_flatten(model.parameters())) == 4
    print(nn.__name__, Adam.__module__, known, loss.item() < 0.3 * first)


if __name__ == "__main__":
    main(int(sys.argv[1]))
