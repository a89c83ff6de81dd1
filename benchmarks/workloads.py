"""The workloads: each returns a function and its arguments for a framework `F`.

Sizes and constants are part of a workload's meaning: results are comparable by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from frameworks import Framework

Workload = Callable[[Framework], tuple[Callable[..., Any], tuple[Any, ...]]]
WORKLOADS: dict[str, Workload] = {}


def workload(name: str) -> Callable[[Workload], Workload]:
    def register(function: Workload) -> Workload:
        WORKLOADS[name] = function
        return function

    return register


def chain(F: Framework, size: int, length: int):
    """`length` serial tanh on a square matrix, then a sum."""
    x = F.random(size, size)

    def function(x):
        y = x
        for _ in range(length):
            y = F.xp.tanh(y * 1.001 + 0.001)
        return y.sum()

    return function, (x,)


@workload("chain20_512")
def chain20_512(F: Framework):
    return chain(F, 512, 20)


@workload("chain1_512")
def chain1_512(F: Framework):
    return chain(F, 512, 1)


@workload("chain20_4096")
def chain20_4096(F: Framework):
    return chain(F, 4096, 20)


@workload("chain1_4096")
def chain1_4096(F: Framework):
    return chain(F, 4096, 1)


@workload("gelu_32M")
def gelu(F: Framework):
    """Elementwise on 32 million values: memory and page faults."""
    x = F.random(8, 1000, 4096)
    return (lambda x: x * (1 + F.erf(x / math.sqrt(2))) / 2), (x,)


@workload("softmax_mask")
def softmax_mask(F: Framework):
    """Scaled and masked softmax, as in attention."""
    x, mask = F.random(64, 512, 512), F.random(512, 512)
    return (lambda x, mask: F.softmax(x * 0.125 + mask)), (x, mask)


@workload("ln_res_silu")
def layer_norm_residual_silu(F: Framework):
    """Residual addition, layer norm, gated activation; two outputs."""
    arguments = F.random(4096, 1024), F.random(4096, 1024), F.random(1024), F.random(1024)

    def function(x, residual, weight, bias):
        h = x + residual
        centred = h - F.mean(h, -1, True)
        variance = F.mean(centred * centred, -1, True)
        y = centred * F.xp.rsqrt(variance + 1e-5) * weight + bias
        return y * F.xp.sigmoid(1.702 * y), h

    return function, arguments


@workload("small100ops")
def small_operations(F: Framework):
    """A hundred and fifty operations on 256 values: overhead alone."""
    x = F.random(16, 16)

    def function(x):
        y = x
        for _ in range(50):
            y = F.xp.sin(y) + x * 0.5
        return y

    return function, (x,)


def adam(F: Framework, parameters, gradients, first, second, decay: float):
    """One Adam step on lists of arrays, without bias correction."""
    first = [0.9 * m + 0.1 * g for m, g in zip(first, gradients)]
    second = [0.99 * v + 0.01 * g * g for v, g in zip(second, gradients)]
    parameters = [
        (p * decay if decay != 1 else p) - 1e-3 * m / (F.xp.sqrt(v) + 1e-8)
        for p, m, v in zip(parameters, first, second)
    ]
    return parameters, first, second


def cross_entropy(F: Framework, logits, targets):
    """Mean cross entropy against target distributions."""
    logits = logits - F.max(logits, -1, True)
    normaliser = F.xp.log(F.sum(F.xp.exp(logits), -1, True))
    return -F.mean(F.sum(targets * (logits - normaliser), -1))


def zeros_like(F: Framework, arrays):
    zeros = [each * 0 for each in arrays]
    F.wait(zeros)
    return zeros


@workload("mlp_train")
def mlp_train(F: Framework):
    """One training step of a three-layer perceptron: forward, backward, Adam."""
    p = [F.random(784, 1024) * 0.03, F.random(1024) * 0.0, F.random(1024, 1024) * 0.03]
    p += [F.random(1024) * 0.0, F.random(1024, 16) * 0.03, F.random(16) * 0.0]
    inputs, targets = F.random(256, 784), F.softmax(F.random(256, 16) * 5)
    F.wait([*p, targets])

    def loss(p, inputs, targets):
        h = inputs @ p[0] + p[1]
        h = h * F.xp.sigmoid(h)
        h = h @ p[2] + p[3]
        h = h * F.xp.sigmoid(h)
        return cross_entropy(F, h @ p[4] + p[5], targets)

    value_and_grad = F.value_and_grad(loss)

    def step(p, m, v, inputs, targets):
        value, gradients = value_and_grad(p, inputs, targets)
        return value, *adam(F, p, gradients, m, v, 0.9999)

    return step, (p, zeros_like(F, p), zeros_like(F, p), inputs, targets)


@workload("adam_48t")
def adam_48_tensors(F: Framework):
    """An optimizer step on 48 tensors: many small independent outputs."""
    shapes = [(256, 256), (256,)] * 24
    p, g, m, v = ([F.random(*shape) for shape in shapes] for _ in range(4))
    v = [each**2 for each in v]
    F.wait(v)
    return (lambda p, g, m, v: adam(F, p, g, m, v, 0.9999)), (p, g, m, v)


@workload("anchor_kan")
def anchor_kan(F: Framework):
    """Radial basis functions around anchors: broadcast into a short reduction."""
    x, anchors, weights = F.random(2048, 64), F.random(16), F.random(64, 16)

    def function(x, anchors, weights):
        d = x[:, :, None] - anchors
        return F.sum(F.xp.exp(-d * d * 2.0) * weights, -1)

    return function, (x, anchors, weights)


@workload("pairwise")
def pairwise(F: Framework):
    """All pairs of two sets of points: 16 million differences that nobody should store."""
    x, y = F.random(512, 64), F.random(512, 64)

    def function(x, y):
        d = x[:, None, :] - y[None, :, :]
        return F.sum(F.xp.exp(-F.sum(d * d, -1) * 0.1), -1)

    return function, (x, y)


@workload("matmul1024")
def matmul(F: Framework):
    return (lambda a, b: a @ b), (F.random(1024, 1024), F.random(1024, 1024))


def rms_norm(F: Framework, x, weight):
    return x * F.xp.rsqrt(F.mean(x * x, -1, True) + 1e-5) * weight


class Gpt:
    """A small transformer whose layers are six arrays each."""

    WIDTH, HEADS, LAYERS, VOCABULARY = 256, 4, 4, 512
    HEAD_WIDTH = WIDTH // HEADS

    def __init__(self, F: Framework) -> None:
        self.F = F
        width = self.WIDTH
        self.parameters = [F.random(self.VOCABULARY, width) * 0.02]
        for _ in range(self.LAYERS):
            self.parameters += [F.random(width) * 0 + 1, F.random(width, 3 * width) * 0.05]
            self.parameters += [F.random(width, width) * 0.05, F.random(width) * 0 + 1]
            self.parameters += [F.random(width, 4 * width) * 0.05]
            self.parameters += [F.random(4 * width, width) * 0.05]
        F.wait(self.parameters)

    def heads(self, h, norm, weight, batch: int, length: int):
        """Queries, keys and values, the heads in front of the positions."""
        a = rms_norm(self.F, h, norm) @ weight
        a = a.reshape(batch, length, 3, self.HEADS, self.HEAD_WIDTH)
        return [self.F.xp.swapaxes(a[:, :, j], 1, 2) for j in range(3)]

    def mix(self, h, scores, values, weight, batch: int, length: int):
        mixed = self.F.xp.swapaxes(scores @ values, 1, 2).reshape(batch, length, self.WIDTH)
        return h + mixed @ weight

    def feed_forward(self, h, norm, widen, narrow):
        u = rms_norm(self.F, h, norm) @ widen
        return h + (u * self.F.xp.sigmoid(u)) @ narrow

    @property
    def scale(self) -> float:
        return 1 / math.sqrt(self.HEAD_WIDTH)


@workload("gpt_train")
def gpt_train(F: Framework):
    """One training step of the transformer on 4 sequences of 128 positions."""
    batch, length = 4, 128
    model = Gpt(F)
    p = model.parameters
    x, y = (F.softmax(F.random(batch, length, model.VOCABULARY) * 50) for _ in range(2))
    mask = F.array(np.triu(np.full((length, length), -1e9, np.float32), 1))
    F.wait([x, y])

    def loss(p, x, y, mask):
        h = x @ p[0]
        for i in range(model.LAYERS):
            norm1, qkv, out, norm2, widen, narrow = p[1 + 6 * i : 7 + 6 * i]
            q, k, v = model.heads(h, norm1, qkv, batch, length)
            scores = F.softmax((q @ F.transpose(k)) * model.scale + mask)
            h = model.mix(h, scores, v, out, batch, length)
            h = model.feed_forward(h, norm2, widen, narrow)
        return cross_entropy(F, h @ F.transpose(p[0]), y)

    value_and_grad = F.value_and_grad(loss)

    def step(p, m, v, x, y, mask):
        value, gradients = value_and_grad(p, x, y, mask)
        return value, *adam(F, p, gradients, m, v, 1)

    return step, (p, zeros_like(F, p), zeros_like(F, p), x, y, mask)


@workload("gpt_decode")
def gpt_decode(F: Framework):
    """One token through the transformer with a cache of 256 positions."""
    context = 256
    model = Gpt(F)
    shape = 1, model.HEADS, context, model.HEAD_WIDTH
    keys, values = ([F.random(*shape) for _ in range(model.LAYERS)] for _ in range(2))
    x = F.random(1, 1, model.VOCABULARY)

    def function(p, keys, values, x):
        h = x @ p[0]
        new_keys, new_values = [], []
        for i in range(model.LAYERS):
            norm1, qkv, out, norm2, widen, narrow = p[1 + 6 * i : 7 + 6 * i]
            q, k, v = model.heads(h, norm1, qkv, 1, 1)
            k = F.concatenate([keys[i][:, :, 1:], k], 2)
            v = F.concatenate([values[i][:, :, 1:], v], 2)
            new_keys.append(k)
            new_values.append(v)
            scores = F.softmax((q @ F.transpose(k)) * model.scale)
            h = model.mix(h, scores, v, out, 1, 1)
            h = model.feed_forward(h, norm2, widen, narrow)
        return h @ F.transpose(p[0]), new_keys, new_values

    return function, (model.parameters, keys, values, x)
