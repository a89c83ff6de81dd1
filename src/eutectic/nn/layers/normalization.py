"""Layers that normalise: over features, groups of them, examples or whole batches."""

from __future__ import annotations

from typing import Any

import eutectic.core as mx
from eutectic.errors import ArgumentError, ShapeError, show_shape
from eutectic.nn.layers.base import Module


class InstanceNorm(Module):
    """(x - mean) / sqrt(var + eps) over all axes between the first and the last: (N, ..., dims).

    `affine` adds `weight` and `bias` of shape (dims,).

    Raises ShapeError for less than three dimensions.

    >>> y = InstanceNorm(2)(mx.random.normal((3, 4, 2)))
    >>> mx.allclose(y.mean(axis=1), mx.zeros((3, 2)), atol=1e-5)
    array(True, dtype=bool)
    """

    def __init__(self, dims: int, eps: float = 1e-5, affine: bool = False) -> None:
        super().__init__()
        if affine:
            self.weight = mx.ones((dims,))
            self.bias = mx.zeros((dims,))
        self.dims = dims
        self.eps = eps

    def _extra_repr(self) -> str:
        return f"{self.dims}, eps={self.eps}, affine={'weight' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        if x.ndim < 3:
            raise ShapeError(f"[InstanceNorm] needs (N, ..., C) of at least three dimensions, got "
                             f"shape {show_shape(x.shape)}.")
        axes = tuple(range(1, x.ndim - 1))
        mean = mx.mean(x, axis=axes, keepdims=True)
        y = (x - mean) * mx.rsqrt(mx.var(x, axis=axes, keepdims=True) + self.eps)
        return self.weight * y + self.bias if "weight" in self else y


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axis: (..., dims).

    Computed in float32; see `mx.fast.layer_norm`. Without `affine` there are no parameters, without
    `bias` only `weight`.

    >>> LayerNorm(3)(mx.array([[1.0, 2.0, 3.0]]))
    array([[-1.22474, 0, 1.22474]], dtype=float32)
    """

    def __init__(self, dims: int, eps: float = 1e-5, affine: bool = True, bias: bool = True
                 ) -> None:
        super().__init__()
        if affine:
            self.weight = mx.ones((dims,))
            if bias:
                self.bias = mx.zeros((dims,))
        self.eps = eps
        self.dims = dims

    def _extra_repr(self) -> str:
        return f"{self.dims}, eps={self.eps}, affine={'weight' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        return mx.fast.layer_norm(x, self.get("weight"), self.get("bias"), self.eps)


class RMSNorm(Module):
    """x / sqrt(mean(x^2) + eps) * weight over the last axis: (..., dims).

    The mean is computed in float32; see `mx.fast.rms_norm`.

    >>> RMSNorm(2)(mx.array([[3.0, 4.0]]))
    array([[0.848528, 1.13137]], dtype=float32)
    """

    def __init__(self, dims: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = mx.ones((dims,))
        self.eps = eps

    def _extra_repr(self) -> str:
        return f"{self.weight.shape[0]}, eps={self.eps}"

    def __call__(self, x: mx.array) -> mx.array:
        return mx.fast.rms_norm(x, self["weight"], self.eps)


class GroupNorm(Module):
    """Normalisation of groups of features over all positions of an example: (N, ..., dims).

    A group is every num_groups-th feature, or, `pytorch_compatible`, neighbouring features.
    `affine` adds `weight` and `bias` of shape (dims,).

    Raises ArgumentError where the groups do not divide the features.

    >>> GroupNorm(2, 4)(mx.random.normal((3, 5, 4))).shape
    (3, 5, 4)
    """

    def __init__(self, num_groups: int, dims: int, eps: float = 1e-5, affine: bool = True,
                 pytorch_compatible: bool = False) -> None:
        super().__init__()
        if affine:
            self.bias = mx.zeros((dims,))
            self.weight = mx.ones((dims,))
        self.num_groups = num_groups
        self.dims = dims
        self.eps = eps
        self.pytorch_compatible = pytorch_compatible

    def _extra_repr(self) -> str:
        return (f"{self.num_groups}, {self.dims}, eps={self.eps}, affine={'weight' in self}, "
                f"pytorch_compatible={self.pytorch_compatible}")

    def __call__(self, x: mx.array) -> mx.array:
        batch, features, groups = x.shape[0], x.shape[-1], self.num_groups
        if features % groups:
            raise ArgumentError(f"[GroupNorm] {features} features cannot be divided among {groups} "
                                "groups.")
        if self.pytorch_compatible:
            y = x.reshape(batch, -1, groups, features // groups).transpose(0, 2, 1, 3)
            y = mx.fast.layer_norm(y.reshape(batch, groups, -1), None, None, self.eps)
            y = y.reshape(batch, groups, -1, features // groups).transpose(0, 2, 1, 3)
        else:
            y = x.reshape(batch, -1, groups)
            mean = mx.mean(y, axis=1, keepdims=True)
            y = (y - mean) * mx.rsqrt(mx.var(y, axis=1, keepdims=True) + self.eps)
        y = y.reshape(x.shape)
        return self.weight * y + self.bias if "weight" in self else y


class BatchNorm(Module):
    """Normalisation of each feature over the batch: (N, C), (N, L, C) or (N, H, W, C).

    In training mode mean and variance are those of the batch, and `running_mean` and `running_var`
    (the unbiased variance) move toward them by `momentum`; otherwise, these are used, unless
    `track_running_stats` is off. They are never trainable.

    Raises ShapeError for other numbers of dimensions, and where one value is to be a batch.

    >>> layer = BatchNorm(2)
    >>> y = layer(mx.array([[1.0, 2.0], [3.0, 6.0]]))
    >>> layer.running_mean, list(layer.trainable_parameters())
    (array([0.2, 0.4], dtype=float32), ['weight', 'bias'])
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
                 affine: bool = True, track_running_stats: bool = True) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = mx.ones((num_features,))
            self.bias = mx.zeros((num_features,))
        if track_running_stats:
            self.running_mean = mx.zeros((num_features,))
            self.running_var = mx.ones((num_features,))
            self.freeze(keys=["running_mean", "running_var"], recurse=False)

    def unfreeze(self, *args: Any, **kwargs: Any) -> Module:
        """As `Module.unfreeze`, but the running averages stay frozen.

        >>> list(BatchNorm(2).freeze().unfreeze().trainable_parameters())
        ['weight', 'bias']
        """
        super().unfreeze(*args, **kwargs)
        if self.track_running_stats:
            self.freeze(keys=["running_mean", "running_var"], recurse=False)
        return self

    def _extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
                f"affine={'weight' in self}, track_running_stats={self.track_running_stats}")

    def __call__(self, x: mx.array) -> mx.array:
        if x.ndim not in (2, 3, 4):
            raise ShapeError(f"[BatchNorm] needs 2, 3 or 4 dimensions, got shape "
                             f"{show_shape(x.shape)}.")
        tracks = self.track_running_stats
        if self.training or not tracks:
            axes = tuple(range(x.ndim - 1))
            if x.size == x.shape[-1]:
                raise ShapeError("[BatchNorm] needs more than one value of each feature, got shape "
                                 f"{show_shape(x.shape)}.")
            mean, var = mx.mean(x, axis=axes), mx.var(x, axis=axes)
        if self.training and tracks:
            keep = 1 - self.momentum
            count = x.size // x.shape[-1]
            unbiased = var * (count / (count - 1))
            self.running_mean = keep * self.running_mean + self.momentum * mean
            self.running_var = keep * self.running_var + self.momentum * unbiased
        elif tracks:
            mean, var = self.running_mean, self.running_var
        y = (x - mean) * mx.rsqrt(var + self.eps)
        return self.weight * y + self.bias if "weight" in self else y
