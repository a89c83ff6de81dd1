"""Recurrent layers over sequences: (L, input_size) or (N, L, input_size)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import eutectic.core as mx
from eutectic.errors import ArgumentError
from eutectic.nn.layers.base import Module


def _uniform(limit: float, *shape: int) -> mx.array:
    return mx.random.uniform(-limit, limit, shape)


class RNN(Module):
    """h = nonlinearity(Wxh x + Whh h + bias), tanh by default: all h, (..., L, hidden_size).

    `Wxh` of shape (hidden_size, input_size), `Whh` of (hidden_size, hidden_size) and `bias` begin
    uniformly in [-k, k) with k = 1 / sqrt(hidden_size). The call takes the first h as `hidden`, of
    shape (..., hidden_size).

    Raises ArgumentError for a nonlinearity that cannot be called.

    >>> RNN(3, 4)(mx.ones((2, 5, 3))).shape
    (2, 5, 4)
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True,
                 nonlinearity: Callable[..., Any] | None = None) -> None:
        super().__init__()
        self.nonlinearity = nonlinearity or mx.tanh
        if not callable(self.nonlinearity):
            raise ArgumentError(f"[RNN] the nonlinearity must be a function, not {nonlinearity!r}.")
        limit = 1.0 / math.sqrt(hidden_size)
        self.hidden_size = hidden_size
        self.Wxh = _uniform(limit, hidden_size, input_size)
        self.Whh = _uniform(limit, hidden_size, hidden_size)
        self.bias = _uniform(limit, hidden_size) if bias else None

    def _extra_repr(self) -> str:
        return (f"input_dims={self.Wxh.shape[1]}, hidden_size={self.hidden_size}, "
                f"nonlinearity={self.nonlinearity}, bias={self.bias is not None}")

    def __call__(self, x: mx.array, hidden: mx.array | None = None) -> mx.array:
        x = _projected(x, self.Wxh, self.bias)
        found = []
        for t in range(x.shape[-2]):
            step = x[..., t, :]
            if hidden is not None:
                step = step + hidden @ self.Whh.T
            hidden = self.nonlinearity(step)
            found.append(hidden)
        return mx.stack(found, axis=-2)


class GRU(Module):
    """Gated recurrent units (Cho et al., 2014): all h, of shape (..., L, hidden_size).

    r, z = sigmoid(Wx x + b + Wh h) by parts, n = tanh(Wx x + b + r (Wh h + bhn)),
    h = (1 - z) n + z h. `Wx` of shape (3 * hidden_size, input_size), `Wh`, `b` and `bhn` begin as
    in `RNN`. The call takes the first h as `hidden`.

    >>> GRU(3, 4)(mx.ones((2, 5, 3))).shape
    (2, 5, 4)
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        limit = 1.0 / math.sqrt(hidden_size)
        self.Wx = _uniform(limit, 3 * hidden_size, input_size)
        self.Wh = _uniform(limit, 3 * hidden_size, hidden_size)
        self.b = _uniform(limit, 3 * hidden_size) if bias else None
        self.bhn = _uniform(limit, hidden_size) if bias else None

    def _extra_repr(self) -> str:
        return (f"input_dims={self.Wx.shape[1]}, hidden_size={self.hidden_size}, "
                f"bias={self.b is not None}")

    def __call__(self, x: mx.array, hidden: mx.array | None = None) -> mx.array:
        x = _projected(x, self.Wx, self.b)
        n = self.hidden_size
        found = []
        own: mx.array | None
        for t in range(x.shape[-2]):
            gates, new = x[..., t, :2 * n], x[..., t, 2 * n:]
            if hidden is not None:
                back = hidden @ self.Wh.T
                gates = gates + back[..., :2 * n]
                own = back[..., 2 * n:] if self.bhn is None else back[..., 2 * n:] + self.bhn
            else:
                own = self.bhn
            gates = mx.sigmoid(gates)
            r, z = gates[..., :n], gates[..., n:]
            new = mx.tanh(new if own is None else new + r * own)
            hidden = (1 - z) * new if hidden is None else (1 - z) * new + z * hidden
            found.append(hidden)
        return mx.stack(found, axis=-2)


class LSTM(Module):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997): all h and all c, (..., L, hidden).

    i, f, g, o = Wx x + bias + Wh h by parts, c = sigmoid(f) c + sigmoid(i) tanh(g),
    h = sigmoid(o) tanh(c). `Wx` of shape (4 * hidden_size, input_size), `Wh` and `bias` begin as in
    `RNN`. The call takes the first h and c as `hidden` and `cell`.

    >>> hidden, cell = LSTM(3, 4)(mx.ones((2, 5, 3)))
    >>> hidden.shape, cell.shape
    ((2, 5, 4), (2, 5, 4))
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        limit = 1.0 / math.sqrt(hidden_size)
        self.Wx = _uniform(limit, 4 * hidden_size, input_size)
        self.Wh = _uniform(limit, 4 * hidden_size, hidden_size)
        self.bias = _uniform(limit, 4 * hidden_size) if bias else None

    def _extra_repr(self) -> str:
        return (f"input_dims={self.Wx.shape[1]}, hidden_size={self.hidden_size}, "
                f"bias={self.bias is not None}")

    def __call__(self, x: mx.array, hidden: mx.array | None = None,
                 cell: mx.array | None = None) -> tuple[mx.array, mx.array]:
        x = _projected(x, self.Wx, self.bias)
        all_hidden, all_cell = [], []
        for t in range(x.shape[-2]):
            step = x[..., t, :]
            if hidden is not None:
                step = step + hidden @ self.Wh.T
            i, f, g, o = mx.split(step, 4, axis=-1)
            i, f, g, o = mx.sigmoid(i), mx.sigmoid(f), mx.tanh(g), mx.sigmoid(o)
            cell = i * g if cell is None else f * cell + i * g
            hidden = o * mx.tanh(cell)
            all_cell.append(cell)
            all_hidden.append(hidden)
        return mx.stack(all_hidden, axis=-2), mx.stack(all_cell, axis=-2)


def _projected(x: mx.array, weight: mx.array, bias: mx.array | None) -> mx.array:
    return x @ weight.T if bias is None else mx.addmm(bias, x, weight.T)
