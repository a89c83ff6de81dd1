"""Fits a line by gradient descent written out, with a compiled step."""

import sys

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map


def loss_and_gradient(w, x, y):
    error = x @ w["w"] + w["b"] - y
    return mx.mean(mx.square(error)), {
        "w": 2 * (x.T @ error) / y.size, "b": 2 * mx.mean(error)}


@mx.compile
def step(w, x, y):
    loss, gradient = loss_and_gradient(w, x, y)
    return loss, tree_map(lambda p, g: p - 0.1 * g, w, gradient)


def main(steps):
    x = mx.random.normal((256, 3), key=mx.random.key(1))
    true = mx.array([1.0, -2.0, 3.0])
    y = x @ true + 0.5
    w = {"w": mx.zeros(3), "b": mx.array(0.0)}
    for _ in range(steps):
        loss, w = step(w, x, y)
        mx.eval(loss, w)
    for path, value in tree_flatten(w):
        print(path, [f"{v:.2f}" for v in (value.tolist() if value.ndim else [value.item()])])


if __name__ == "__main__":
    main(int(sys.argv[1]))
