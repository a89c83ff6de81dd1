"""Layers against their formulas in NumPy, in float64; initial weights and distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
import eutectic.nn as nn
from eutectic.errors import ArgumentError, EutecticError, ShapeError

RNG = np.random.default_rng(0)
# Relative to the greatest value: the reference rounds nowhere, and sums have another order.
TOLERANCE = 2e-6


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def close(ours: mx.array, wanted: np.ndarray, tolerance: float = TOLERANCE) -> None:
    found = np.array(ours)
    assert found.shape == np.shape(wanted)
    assert np.max(np.abs(found - wanted), initial=0.0) <= tolerance * np.max(
        np.abs(wanted), initial=1.0)


def numbers(layer: nn.Module) -> dict[str, np.ndarray]:
    return {k: np.array(v, np.float64) for k, v in layer.items() if isinstance(v, mx.array)}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def norm(x: np.ndarray, axes: Any, eps: float) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


# ---- linear, embedding, containers --------------------------------------------------------------


def test_linear() -> None:
    layer, x = nn.Linear(3, 4), normal(2, 5, 3)
    w = numbers(layer)
    close(layer(mx.array(x)), x @ w["weight"].T + w["bias"])
    plain = nn.Linear(3, 4, bias=False)
    assert list(plain) == ["weight"]
    close(plain(mx.array(x)), x @ numbers(plain)["weight"].T)


def test_bilinear() -> None:
    layer, x, y = nn.Bilinear(2, 3, 4), normal(5, 6, 2), normal(5, 6, 3)
    w = numbers(layer)
    close(layer(mx.array(x), mx.array(y)),
          np.einsum("nmi,oji,nmj->nmo", x, w["weight"], y) + w["bias"])


def test_embedding() -> None:
    layer = nn.Embedding(7, 4)
    w = numbers(layer)["weight"]
    index = np.array([[1, 2], [6, 0]])
    close(layer(mx.array(index)), w[index])
    close(layer.as_linear(mx.array(w[:2].astype(np.float32))), w[:2] @ w.T)


# ---- convolutions and pooling -------------------------------------------------------------------


def convolved(x: np.ndarray, w: np.ndarray, stride: int, padding: int, dilation: int) -> np.ndarray:
    """Convolution along all axes between the first and the last."""
    n = x.ndim - 2
    x = np.pad(x, [(0, 0), *[(padding, padding)] * n, (0, 0)])
    kernel = w.shape[1:-1]
    lengths = [(d - dilation * (k - 1) - 1) // stride + 1 for d, k in zip(x.shape[1:-1], kernel)]
    out = np.zeros((x.shape[0], *lengths, w.shape[0]))
    for at in np.ndindex(*kernel):
        window = tuple(slice(dilation * i, dilation * i + stride * (m - 1) + 1, stride)
                       for i, m in zip(at, lengths))
        out += x[(slice(None), *window)] @ w[(slice(None), *at)].T
    return out


@pytest.mark.parametrize(("layer", "shape"), [
    (nn.Conv1d(4, 6, 3, 2, 1, 2), (2, 11, 4)), (nn.Conv2d(3, 5, 3, 2, 1), (2, 6, 7, 3)),
    (nn.Conv3d(2, 3, 2, 1, 1), (1, 3, 4, 5, 2)),
])
def test_convolutions(layer: Any, shape: tuple[int, ...]) -> None:
    x, w = normal(*shape), numbers(layer)
    layer.bias = mx.array(normal(*layer.bias.shape))
    first = [v if isinstance(v, int) else v[0]
             for v in (layer.stride, layer.padding, layer.dilation)]
    close(layer(mx.array(x)), convolved(x, w["weight"], *first) + np.array(layer.bias))


def test_groups_are_convolutions_of_their_own() -> None:
    layer, x = nn.Conv2d(4, 6, 3, groups=2, bias=False), normal(1, 5, 5, 4)
    w = numbers(layer)["weight"]
    parts = [convolved(x[..., 2 * i:2 * i + 2], w[3 * i:3 * i + 3], 1, 0, 1) for i in range(2)]
    close(layer(mx.array(x)), np.concatenate(parts, -1))


@pytest.mark.parametrize(("forward", "layer", "shape"), [
    (nn.Conv1d(6, 4, 3, 2, 1, bias=False), nn.ConvTranspose1d(4, 6, 3, 2, 1, bias=False),
     (1, 9, 6)),
    (nn.Conv2d(3, 2, 3, 2, bias=False), nn.ConvTranspose2d(2, 3, 3, 2, bias=False), (1, 5, 7, 3)),
    (nn.Conv3d(2, 2, 2, 2, bias=False), nn.ConvTranspose3d(2, 2, 2, 2, bias=False),
     (1, 4, 4, 6, 2)),
])
def test_transposed_convolutions_are_adjoint(forward: Any, layer: Any, shape: tuple[int, ...]
                                             ) -> None:
    """<conv(x), y> = <x, conv_transpose(y)> with the axes of the weight exchanged."""
    layer.weight = mx.swapaxes(forward.weight, 0, -1)
    x = mx.array(normal(*shape))
    z = forward(x)
    y = mx.array(normal(*z.shape))
    back = layer(y)
    assert back.shape == x.shape
    assert (z * y).sum().item() == pytest.approx((x * back).sum().item(), rel=1e-4, abs=1e-4)


def windows(x: np.ndarray, k: int, s: int, p: int, filler: float) -> np.ndarray:
    """The windows of the inner axes, flattened into a last axis."""
    n = x.ndim - 2
    x = np.pad(x, [(0, 0), *[(p, p)] * n, (0, 0)], constant_values=filler)
    v = np.lib.stride_tricks.sliding_window_view(x, (k,) * n, axis=tuple(range(1, n + 1)))
    v = v[(slice(None), *[slice(None, None, s)] * n)]
    return v.reshape(*v.shape[:n + 2], -1)


@pytest.mark.parametrize(("k", "s", "p"), [(2, 2, 0), (3, 2, 1), (3, 1, 0), (2, 3, 1), (2, 2, 1)])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_pooling(n: int, k: int, s: int, p: int) -> None:
    x = normal(2, *(7, 8, 6)[:n], 3)
    for kind, filler, reduced in (("Max", -np.inf, np.max), ("Avg", 0.0, np.mean)):
        layer = getattr(nn, f"{kind}Pool{n}d")(k, s, p)
        close(layer(mx.array(x)), reduced(windows(x, k, s, p, filler), axis=-1))


def test_pooling_of_integers_and_its_gradient() -> None:
    x = mx.arange(8).reshape(1, 8, 1) - 20
    assert nn.MaxPool1d(2, 2, 1)(x).flatten().tolist() == [-20, -18, -16, -14, -13]
    assert nn.MaxPool1d(2)(x).dtype == mx.int32
    assert nn.AvgPool1d(2)(x).flatten().tolist() == [-19.5, -17.5, -15.5, -13.5]
    # Ties share the gradient of a window.
    g = mx.grad(lambda x: nn.MaxPool1d(2)(x).sum())(mx.array([1.0, 1, 2, 3]).reshape(1, 4, 1))
    assert g.flatten().tolist() == [0.5, 0.5, 0, 1]
    g = mx.grad(lambda x: nn.MaxPool1d(2, 1)(x).sum())(mx.array([1.0, 5, 2, 3]).reshape(1, 4, 1))
    assert g.flatten().tolist() == [0, 2, 0, 1]


# ---- upsampling ---------------------------------------------------------------------------------


def sampled(x: np.ndarray, scale: float, mode: str, corners: bool, anti: bool) -> np.ndarray:
    """One axis, each result from its definition: kernel-weighted neighbours around a centre."""
    n = len(x)
    m = int(scale * n)
    out = np.zeros(m)
    wide = max(1 / scale, 1.0) if anti else 1.0
    a = -0.5 if anti else -0.75

    def kernel(d: float) -> float:
        d = abs(d)
        if mode == "linear":
            return max(1 - d, 0.0)
        if d <= 1:
            return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1
        return a * (d ** 3 - 5 * d ** 2 + 8 * d - 4) if d < 2 else 0.0

    for i in range(m):
        centre = i * (n - 1) / (m - 1) if corners else i / scale - ((m - 1) / scale - n + 1) / 2
        if mode == "linear" and not anti:
            centre = min(max(centre, 0), n - 1)
        total = 0.0
        for j in range(math.floor(centre - 2 * wide) - 1, math.ceil(centre + 2 * wide) + 2):
            inside = 0 <= j < n
            w = kernel((centre - j) / wide) * (inside or not anti)
            out[i] += w * x[min(max(j, 0), n - 1)]
            total += w
        out[i] /= total if anti else 1.0
    return out


@pytest.mark.parametrize("scale", [2, 1.6, 0.6, 0.4, 3.3])
@pytest.mark.parametrize("options", ["", "corners", "anti"])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_upsampling_interpolates(mode: Any, options: str, scale: float) -> None:
    x = normal(7)
    layer = nn.Upsample(scale, mode, options == "corners", options == "anti")
    wanted = sampled(x, scale, mode, options == "corners", options == "anti")
    close(layer(mx.array(x).reshape(1, 7, 1)).flatten(), wanted)
    both = layer(mx.array(np.multiply.outer(x, x)).reshape(1, 7, 7, 1)).squeeze()
    close(both, np.multiply.outer(wanted, wanted), 1e-5)


@pytest.mark.parametrize(("n", "scale", "indices"), [
    (3, 2, [0, 0, 1, 1, 2, 2]), (5, 1.5, [0, 1, 1, 2, 3, 3, 4]), (4, 1.5, [0, 0, 1, 2, 2, 3]),
    (5, 0.5, [0, 2]), (7, 0.7, [0, 1, 3, 5]), (4, 1.1, [0, 1, 2, 3]),
])
def test_upsampling_takes_the_nearest(n: int, scale: float, indices: list[int]) -> None:
    x = mx.arange(n)
    found = nn.Upsample(scale)(x.reshape(1, n, 1)).flatten()
    assert found.tolist() == indices and found.dtype == mx.int32
    grid = nn.Upsample((scale, 2.0))(mx.arange(2 * n).reshape(1, n, 2, 1)).squeeze()
    assert grid.tolist() == [[2 * i, 2 * i, 2 * i + 1, 2 * i + 1] for i in indices]


# ---- normalisation ------------------------------------------------------------------------------


def scaled(layer: Any) -> tuple[np.ndarray, np.ndarray]:
    """Give a layer other weights than ones and zeros."""
    layer.weight, layer.bias = mx.array(normal(*layer.weight.shape)), mx.array(
        normal(*layer.bias.shape))
    return np.array(layer.weight), np.array(layer.bias)


def test_layer_rms_and_instance_norm() -> None:
    x = normal(2, 4, 5, 6) * 3 + 1
    layer: Any = nn.LayerNorm(6, 1e-3)
    w, b = scaled(layer)
    close(layer(mx.array(x)), norm(x, -1, 1e-3) * w + b)
    close(nn.LayerNorm(6, affine=False)(mx.array(x)), norm(x, -1, 1e-5))
    assert list(nn.LayerNorm(6, bias=False)) == ["weight"]
    wanted = x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-3)
    close(nn.RMSNorm(6, 1e-3)(mx.array(x)), wanted)
    layer = nn.InstanceNorm(6, affine=True)
    w, b = scaled(layer)
    close(layer(mx.array(x)), norm(x, (1, 2), 1e-5) * w + b)


def test_group_norm() -> None:
    x = normal(2, 4, 5, 6) * 3 + 1
    layer: Any = nn.GroupNorm(3, 6, pytorch_compatible=True)
    w, b = scaled(layer)
    near = norm(x.reshape(2, 4, 5, 3, 2), (1, 2, 4), 1e-5).reshape(x.shape)
    close(layer(mx.array(x)), near * w + b)
    every = norm(x.reshape(2, 4, 5, 2, 3), (1, 2, 3), 1e-5).reshape(x.shape)
    close(nn.GroupNorm(3, 6, affine=False)(mx.array(x)), every)


def test_batch_norm() -> None:
    layer: Any = nn.BatchNorm(3, 1e-3, momentum=0.3)
    w, b = scaled(layer)
    mean, var = np.zeros(3), np.ones(3)
    for _ in range(3):
        x = normal(4, 5, 3) * 2 + 1
        close(layer(mx.array(x)), norm(x, (0, 1), 1e-3) * w + b)
        mean = 0.7 * mean + 0.3 * x.mean((0, 1))
        var = 0.7 * var + 0.3 * x.astype(np.float64).var((0, 1), ddof=1)
    close(layer.running_mean, mean)
    close(layer.running_var, var)
    close(layer.eval()(mx.array(x)), (x - mean) / np.sqrt(var + 1e-3) * w + b)
    loose = nn.BatchNorm(3, affine=False, track_running_stats=False)
    assert dict(loose) == {}
    close(loose.eval()(mx.array(x)), norm(x, (0, 1), 1e-5))


# ---- dropout ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("layer", "shape", "whole"), [
    (nn.Dropout(0.25), (40, 30), ()), (nn.Dropout2d(0.25), (30, 3, 4, 40), (1, 2)),
    (nn.Dropout2d(0.25), (3, 4, 1200), (0, 1)), (nn.Dropout3d(0.25), (30, 2, 3, 4, 40), (1, 2, 3)),
    (nn.Dropout3d(0.25), (2, 3, 4, 1200), (0, 1, 2)),
])
def test_dropout(layer: Any, shape: tuple[int, ...], whole: tuple[int, ...]) -> None:
    mx.random.seed(0)
    y = np.array(layer(mx.ones(shape)))
    assert set(np.unique(y)) == {0.0, np.float32(1 / 0.75)}
    for axis in whole:
        assert (y == y.take([0], axis)).all()
    kept = (y[tuple(slice(0, 1) if a in whole else slice(None) for a in range(y.ndim))] > 0).mean()
    assert abs(kept - 0.75) < 4 * math.sqrt(0.25 * 0.75 / 1200)
    other = np.array(layer(mx.ones(shape)))
    assert (other != y).any()
    mx.random.seed(0)
    assert (np.array(layer(mx.ones(shape))) == y).all()
    x = mx.ones(shape)
    layer.eval()
    assert layer(x) is x and type(layer)(0.0)(x) is x
    layer.train()


# ---- positions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("traditional", [False, True])
def test_rope(traditional: bool) -> None:
    x = normal(2, 5, 8)
    layer = nn.RoPE(6, traditional, base=100.0, scale=0.5)
    angles = np.multiply.outer((np.arange(5) + 3) * 0.5, 100.0 ** (-np.arange(3) / 3))
    wanted = x.astype(np.float64)
    a, b = (slice(0, 6, 2), slice(1, 6, 2)) if traditional else (slice(0, 3), slice(3, 6))
    wanted[..., a] = x[..., a] * np.cos(angles) - x[..., b] * np.sin(angles)
    wanted[..., b] = x[..., a] * np.sin(angles) + x[..., b] * np.cos(angles)
    close(layer(mx.array(x), offset=3), wanted)


def test_sinusoids() -> None:
    x = np.abs(normal(5)) * 10
    sigma = np.exp(np.linspace(math.log(2), math.log(0.01), 3))
    angles = np.multiply.outer(x, sigma)
    both = [np.sin(angles), np.cos(angles)]
    layer = nn.SinusoidalPositionalEncoding(6, 0.01, 2)
    close(layer(mx.array(x)), np.concatenate(both, -1) * math.sqrt(2 / 6), 1e-5)
    layer = nn.SinusoidalPositionalEncoding(6, 0.01, 2, 3.0, cos_first=True, full_turns=True)
    angles = 2 * math.pi * angles
    close(layer(mx.array(x)), 3 * np.concatenate([np.cos(angles), np.sin(angles)], -1), 1e-4)
    assert "_sigmas" in layer and layer.parameters() == {}


def test_alibi() -> None:
    assert nn.ALiBi.create_alibi_slope(6).flatten().tolist() == [
        2.0 ** -2, 2.0 ** -4, 2.0 ** -6, 2.0 ** -8, 2.0 ** -1, 2.0 ** -3]
    scores, mask = normal(2, 4, 3, 5), normal(3, 5)
    distance = np.abs(np.arange(2, 5)[:, None] - np.arange(5))
    slopes = 2.0 ** (-2.0 * np.arange(1, 5))
    wanted = scores - slopes[:, None, None] * distance + mask
    close(nn.ALiBi()(mx.array(scores), 2, mx.array(mask)), wanted)


# ---- recurrent layers ---------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
def test_recurrent_layers(bias: bool) -> None:
    x, h0, c0 = normal(2, 5, 3), normal(2, 4), normal(2, 4)
    layer: Any = nn.RNN(3, 4, bias)
    w = numbers(layer)
    zero = {name: np.zeros(n) for name, n in (("bias", 16), ("b", 12), ("bhn", 4))}
    b = {**zero, **w}
    h, found = h0, []
    for t in range(5):
        h = np.tanh(x[:, t] @ w["Wxh"].T + h @ w["Whh"].T + b["bias"][:4])
        found.append(h)
    close(layer(mx.array(x), mx.array(h0)), np.stack(found, 1))

    layer = nn.GRU(3, 4, bias)
    w = numbers(layer)
    b = {**zero, **w}
    for first in (h0, np.zeros((2, 4))):
        h, found = first, []
        for t in range(5):
            p, q = x[:, t] @ w["Wx"].T + b["b"], h @ w["Wh"].T
            r, z = sigmoid(p[:, :4] + q[:, :4]), sigmoid(p[:, 4:8] + q[:, 4:8])
            h = (1 - z) * np.tanh(p[:, 8:] + r * (q[:, 8:] + b["bhn"])) + z * h
            found.append(h)
        hidden = (mx.array(h0),) if first is h0 else ()
        close(layer(mx.array(x), *hidden), np.stack(found, 1))

    layer = nn.LSTM(3, 4, bias)
    w = numbers(layer)
    b = {**zero, **w}
    h, c = h0, c0
    hs, cs = [], []
    for t in range(5):
        i, f, g, o = np.split(x[:, t] @ w["Wx"].T + h @ w["Wh"].T + b["bias"], 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        hs.append(h)
        cs.append(c)
    hidden, cell = layer(mx.array(x), mx.array(h0), mx.array(c0))
    close(hidden, np.stack(hs, 1))
    close(cell, np.stack(cs, 1))
    alone = layer(mx.array(x))[0]
    assert np.allclose(np.array(layer(mx.array(x[1]))[0]), np.array(alone[1]), atol=1e-6)


def test_another_nonlinearity() -> None:
    layer = nn.RNN(3, 4, nonlinearity=nn.relu)
    assert (np.array(layer(mx.array(normal(5, 3)))) >= 0).all()
    with pytest.raises(ArgumentError, match=r"\[RNN\] the nonlinearity must be a function"):
        nn.RNN(3, 4, nonlinearity=3)  # type: ignore[arg-type]


# ---- transformers -------------------------------------------------------------------------------


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(layer: Any, q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None
              ) -> np.ndarray:
    def projected(part: Any, x: np.ndarray) -> np.ndarray:
        w = numbers(part)
        y = x @ w["weight"].T + w.get("bias", 0.0)
        return y.reshape(*y.shape[:2], layer.num_heads, -1).transpose(0, 2, 1, 3)

    a, b, c = (projected(layer.query_proj, q), projected(layer.key_proj, k),
               projected(layer.value_proj, v))
    scores = a @ b.transpose(0, 1, 3, 2) / math.sqrt(a.shape[-1])
    y = softmax(scores if mask is None else scores + mask) @ c
    y = y.transpose(0, 2, 1, 3).reshape(*q.shape[:2], -1)
    w = numbers(layer.out_proj)
    return y @ w["weight"].T + w.get("bias", 0.0)


def feed_forward(layer: Any, x: np.ndarray) -> np.ndarray:
    one, two = numbers(layer.linear1), numbers(layer.linear2)
    return np.maximum(x @ one["weight"].T + one["bias"], 0) @ two["weight"].T + two["bias"]


def test_multi_head_attention() -> None:
    layer = nn.MultiHeadAttention(8, 2, 5, 6, 7, 4, 3, bias=True)
    q, k, v, mask = normal(2, 4, 5), normal(2, 3, 6), normal(2, 3, 7), normal(2, 2, 4, 3)
    assert layer.out_proj.weight.shape == (3, 4)
    close(layer(mx.array(q), mx.array(k), mx.array(v), mx.array(mask)),
          attention(layer, q, k, v, mask), 1e-5)
    assert nn.MultiHeadAttention(8, 2, key_input_dims=6).value_proj.weight.shape == (8, 6)
    causal = np.array(layer.create_additive_causal_mask(3, mx.float16))
    assert (causal == np.where(np.tri(3) > 0, 0, -65504)).all() and causal.dtype == np.float16


@pytest.mark.parametrize("norm_first", [True, False])
def test_transformer_layers(norm_first: bool) -> None:
    x, memory = normal(2, 4, 8), normal(2, 3, 8)
    mask = np.where(np.tri(4) > 0, 0.0, -1e30)
    e = nn.TransformerEncoderLayer(8, 2, norm_first=norm_first)
    if norm_first:
        n = norm(x, -1, 1e-5)
        y = x + attention(e.attention, n, n, n, mask)
        wanted = y + feed_forward(e, norm(y, -1, 1e-5))
    else:
        y = norm(x + attention(e.attention, x, x, x, mask), -1, 1e-5)
        wanted = norm(y + feed_forward(e, y), -1, 1e-5)
    close(e(mx.array(x), mx.array(mask.astype(np.float32))), wanted, 1e-5)

    d = nn.TransformerDecoderLayer(8, 2, norm_first=norm_first)
    if norm_first:
        n = norm(x, -1, 1e-5)
        y = x + attention(d.self_attention, n, n, n, None)
        y = y + attention(d.cross_attention, norm(y, -1, 1e-5), memory, memory, None)
        wanted = y + feed_forward(d, norm(y, -1, 1e-5))
    else:
        y = norm(x + attention(d.self_attention, x, x, x, None), -1, 1e-5)
        y = norm(y + attention(d.cross_attention, y, memory, memory, None), -1, 1e-5)
        wanted = norm(y + feed_forward(d, y), -1, 1e-5)
    close(d(mx.array(x), mx.array(memory), None, None), wanted, 1e-5)


def test_transformer() -> None:
    mx.random.seed(0)
    model = nn.Transformer(8, 2, 1, 2, mlp_dims=16, dropout=0.1, activation=nn.gelu,
                           checkpoint=True)
    assert model.encoder.layers[0].linear1.weight.shape == (16, 8)
    assert model.decoder.checkpoint and model.decoder.layers[1].activation is nn.gelu
    src, tgt = mx.array(normal(2, 3, 8)), mx.array(normal(2, 4, 8))

    def loss() -> mx.array:
        return mx.square(model(src, tgt, None, None, None)).sum()

    model.eval()
    again = nn.value_and_grad(model, loss)()
    model.encoder.checkpoint = model.decoder.checkpoint = False
    plain = nn.value_and_grad(model, loss)()
    from eutectic.utils import tree_flatten
    for (p, a), (q, b) in zip(tree_flatten(again), tree_flatten(plain)):
        assert p == q and np.allclose(np.array(a), np.array(b), rtol=1e-4, atol=1e-5)
    own = nn.Transformer(8, 2, custom_encoder=nn.Identity(), num_decoder_layers=1)
    assert isinstance(own.encoder, nn.Identity)


# ---- initial weights ----------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "fan"), [
    (lambda: nn.Linear(50, 40), 50), (lambda: nn.Bilinear(50, 3, 20), 50),
    (lambda: nn.Conv1d(10, 20, 5), 50), (lambda: nn.Conv2d(8, 20, 3, groups=2), 36),
    (lambda: nn.Conv3d(2, 20, (1, 2, 5)), 20), (lambda: nn.ConvTranspose2d(8, 20, (3, 2)), 48),
])
def test_weights_begin_uniformly(make: Callable[[], Any], fan: int) -> None:
    mx.random.seed(1)
    w = np.array(make().weight).ravel()
    k = 1 / math.sqrt(fan)
    assert -k <= w.min() < -0.95 * k and 0.95 * k < w.max() < k
    assert abs(w.mean()) < 5 * k / math.sqrt(3 * w.size)


def test_the_seed_decides_the_weights() -> None:
    mx.random.seed(3)
    a = nn.Linear(4, 3)
    mx.random.seed(3)
    w = mx.random.uniform(-0.5, 0.5, (3, 4))
    b = mx.random.uniform(-0.5, 0.5, (3,))
    assert mx.array_equal(a.weight, w) and mx.array_equal(a.bias, b)
    assert np.std(np.array(nn.Embedding(300, 16).weight)) == pytest.approx(0.25, rel=0.05)
    assert not np.array(nn.Conv2d(3, 4, 3).bias).any()
    rnn = nn.RNN(3, 16)
    assert np.abs(np.array(rnn.Wxh)).max() <= 0.25 and np.abs(np.array(rnn.bias)).max() <= 0.25


# ---- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("action", "kind", "text"), [
    (lambda: nn.Dropout(1.0), ArgumentError, r"\[Dropout\] p must be in \[0, 1\), got 1.0."),
    (lambda: nn.Dropout2d(0.5)(mx.ones((2, 2))), ShapeError, r"\[Dropout2d\] needs 3 or 4 dim"),
    (lambda: nn.Dropout3d(0.5)(mx.ones((2, 2))), ShapeError, r"\[Dropout3d\] needs 4 or 5 dim"),
    (lambda: nn.Conv2d(4, 6, 3, groups=3), ArgumentError, r"\[Conv2d\] 4 input channels cannot"),
    (lambda: nn.MaxPool1d((2, 2)), ArgumentError, r"\[MaxPool1d\] kernel_size must be an integer"),
    (lambda: nn.AvgPool2d(2, "a"), ArgumentError, r"\[AvgPool2d\] stride must be an integer or a"),
    (lambda: nn.MaxPool2d(2)(mx.ones((2, 3))), ShapeError, r"\[MaxPool2d\] needs an array of sha"),
    (lambda: nn.MaxPool1d(5)(mx.ones((2, 3, 1))), ShapeError, r"\[MaxPool1d\] windows of \(5,\) "),
    (lambda: nn.Upsample(2, "x"), ArgumentError, r"\[Upsample\] mode must be one of nearest"),
    (lambda: nn.Upsample(2, antialias=True), ArgumentError, r"\[Upsample\] antialias needs linear"),
    (lambda: nn.Upsample(2)(mx.ones((2, 3))), ShapeError, r"\[Upsample\] needs \(N, ..., C\)"),
    (lambda: nn.Upsample((2, 2))(mx.ones((2, 3, 1))), ShapeError, r"\[Upsample\] 2 scales for t"),
    (lambda: nn.GroupNorm(3, 4)(mx.ones((2, 4))), ArgumentError, r"\[GroupNorm\] 4 features cann"),
    (lambda: nn.BatchNorm(3)(mx.ones(3)), ShapeError, r"\[BatchNorm\] needs 2, 3 or 4 dimensions"),
    (lambda: nn.BatchNorm(3)(mx.ones((1, 3))), ShapeError, r"\[BatchNorm\] needs more than one va"),
    (lambda: nn.InstanceNorm(3)(mx.ones((2, 3))), ShapeError, r"\[InstanceNorm\] needs \(N, ..., "),
    (lambda: nn.MultiHeadAttention(7, 2), ArgumentError, r"\[MultiHeadAttention\] 7 dimensions ca"),
    (lambda: nn.GELU("x"), ArgumentError, r"\[GELU\] approx must be one of none, precise, tanh, f"),
])
def test_refusals(action: Callable[[], Any], kind: type[EutecticError], text: str) -> None:
    with pytest.raises(kind, match=text):
        action()
