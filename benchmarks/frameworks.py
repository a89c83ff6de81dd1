"""One small face for every framework, so that each workload is written once."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

PEERS = ("jax", "torch", "mlx")
NAMES = ("eutectic", *PEERS)


class Framework:
    """The operations that the workloads need and that frameworks spell differently.

    `xp` holds those they spell alike: tanh, sin, exp, log, sqrt, rsqrt, sigmoid, swapaxes.
    """

    name: str
    xp: Any
    compile: Callable[..., Any]

    def random(self, *shape: int) -> Any:
        """Normally distributed float32 values, computed."""
        raise NotImplementedError

    def array(self, values: np.ndarray) -> Any:
        raise NotImplementedError

    def wait(self, result: Any) -> None:
        """Return when every array of a result is computed."""
        raise NotImplementedError

    def erf(self, x: Any) -> Any:
        raise NotImplementedError

    def softmax(self, x: Any) -> Any:
        raise NotImplementedError

    def value_and_grad(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Value and gradient with respect to the first argument, a list of arrays."""
        raise NotImplementedError

    def sum(self, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return self.xp.sum(x, axis=axis, keepdims=keepdims)

    def mean(self, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return self.xp.mean(x, axis=axis, keepdims=keepdims)

    def max(self, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return self.xp.max(x, axis=axis, keepdims=keepdims)

    def transpose(self, x: Any) -> Any:
        """The last two axes exchanged."""
        return self.xp.swapaxes(x, -1, -2)

    def concatenate(self, parts: Sequence[Any], axis: int) -> Any:
        return self.xp.concatenate(parts, axis=axis)


class MlxLike(Framework):
    """eutectic, mlx, and any package with MLX's API under `NAME.core`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.xp = importlib.import_module(f"{name}.core")
        self.compile = self.xp.compile

    def random(self, *shape: int) -> Any:
        result = self.xp.random.normal(shape)
        self.xp.eval(result)
        return result

    def array(self, values: np.ndarray) -> Any:
        result = self.xp.array(values)
        self.xp.eval(result)
        return result

    def wait(self, result: Any) -> None:
        self.xp.eval(result)

    def erf(self, x: Any) -> Any:
        return self.xp.erf(x)

    def softmax(self, x: Any) -> Any:
        return self.xp.softmax(x, axis=-1)

    def value_and_grad(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.xp.value_and_grad(function)


class Jax(Framework):
    name = "jax"

    def __init__(self) -> None:
        import jax
        import jax.numpy as jnp

        self.jax = jax
        alike = ("tanh", "sin", "exp", "log", "sqrt", "sum", "mean", "max", "swapaxes")
        self.xp = SimpleNamespace(**{name: getattr(jnp, name) for name in alike})
        self.xp.concatenate = jnp.concatenate
        self.xp.rsqrt, self.xp.sigmoid = jax.lax.rsqrt, jax.nn.sigmoid
        self.compile = jax.jit
        self.key = jax.random.key(0)

    def random(self, *shape: int) -> Any:
        self.key, key = self.jax.random.split(self.key)
        return self.jax.random.normal(key, shape).block_until_ready()

    def array(self, values: np.ndarray) -> Any:
        return self.jax.numpy.asarray(values).block_until_ready()

    def wait(self, result: Any) -> None:
        self.jax.block_until_ready(result)

    def erf(self, x: Any) -> Any:
        return self.jax.scipy.special.erf(x)

    def softmax(self, x: Any) -> Any:
        return self.jax.nn.softmax(x, axis=-1)

    def value_and_grad(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.jax.value_and_grad(function)


class Torch(Framework):
    name = "torch"

    def __init__(self) -> None:
        import torch

        self.torch = self.xp = torch
        self.compile = torch.compile
        self.device = "cuda" if torch.cuda.is_available() else "cpu"

    def random(self, *shape: int) -> Any:
        return self.torch.randn(*shape, device=self.device)

    def array(self, values: np.ndarray) -> Any:
        return self.torch.from_numpy(values.copy()).to(self.device)

    def wait(self, result: Any) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def erf(self, x: Any) -> Any:
        return self.torch.erf(x)

    def softmax(self, x: Any) -> Any:
        return self.torch.softmax(x, -1)

    def value_and_grad(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def with_gradient(parameters: list[Any], *args: Any) -> Any:
            leaves = [each.detach().requires_grad_() for each in parameters]
            value = function(leaves, *args)
            return value.detach(), self.torch.autograd.grad(value, leaves)

        return with_gradient

    def sum(self, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return self.torch.sum(x) if axis is None else self.torch.sum(x, axis, keepdims)

    def mean(self, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return self.torch.mean(x) if axis is None else self.torch.mean(x, axis, keepdims)

    def max(self, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return self.torch.amax(x, axis, keepdims)

    def concatenate(self, parts: Sequence[Any], axis: int) -> Any:
        return self.torch.cat(parts, axis)


def load(name: str) -> Framework:
    """Import a framework; ImportError where it is not installed."""
    special: dict[str, Callable[[], Framework]] = {"jax": Jax, "torch": Torch}
    return special[name]() if name in special else MlxLike(name)
