"""`nn` and `optimizers` of both libraries: the same weights, the same outputs, gradients, steps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from comparing import differ, leaf
from nn_cases import CALLS, FUNCTIONS, LAYERS, OPTIMIZERS

# In units of the last place of the greatest value: sums have other orders.
ULPS = 256.0
# Where they differ, and why.
DIFFERENT: dict[str, str] = {}
STEPS = 20


def library(name: str) -> Any:
    """The names of a case: `mx`, `nn`, `opt`, and the helpers."""
    import importlib

    root = "mlx" if name == "mlx" else "eutectic"
    mx = importlib.import_module(f"{root}.core")
    nn, opt = (importlib.import_module(f"{root}.{part}") for part in ("nn", "optimizers"))
    if name == "mlx":
        mx.set_default_device(mx.cpu)

    def normal(*shape: int, seed: int = 0) -> Any:
        rng = np.random.default_rng([seed, *shape])
        return mx.array(rng.standard_normal(shape).astype(np.float32))

    def seeded(action: Any) -> Any:
        mx.random.seed(7)
        return action()

    utils = importlib.import_module(f"{root}.utils")
    return SimpleNamespace(mx=mx, nn=nn, opt=opt, utils=utils, normal=normal, seeded=seeded)


@pytest.fixture(scope="session")
def both() -> tuple[Any, Any]:
    try:
        return library("mlx"), library("eutectic")
    except ImportError as error:
        pytest.fail(f"mlx is not importable ({error}); `make test-oracle` installs it", False)


def evaluated(names: Any, text: str) -> Any:
    return eval(text, dict(vars(names)))


def outcome(names: Any, action: Any) -> Any:
    try:
        return leaf(names.mx, action())
    except Exception as error:
        return ("raises", type(error).__name__, str(error)[:90])


def agree(theirs: Any, ours: Any) -> str:
    if theirs[0] == ours[0] == "object":  # a module, an optimizer or a dtype
        return ""
    return differ(theirs, ours, ULPS, True)


@pytest.mark.parametrize("call", CALLS)
def test_calls(both: tuple[Any, Any], call: str) -> None:
    theirs, ours = [outcome(names, lambda n=names: evaluated(n, call)) for names in both]
    assert agree(theirs, ours) == DIFFERENT.get(call, "")


def copied(source: Any, target: Any) -> None:
    """The parameters of mlx's module into ours, through NumPy."""
    theirs, ours = source
    pairs = [(name, ours.mx.array(np.array(x))) for name, x in theirs.utils.tree_flatten(
        target[0].parameters())]
    target[1].load_weights(pairs)


@pytest.mark.parametrize("text", LAYERS)
def test_layers(both: tuple[Any, Any], text: str) -> None:
    """Values, shapes, names of parameters, gradients by parameters and inputs, and the text."""
    layers = [evaluated(names, text.strip()) for names in both]
    names = [sorted(n for n, _ in both[i].utils.tree_flatten(layers[i].parameters()))
             for i in range(2)]
    assert names[0] == names[1]
    copied(both, layers)
    if "nonlinearity" not in str(layers[0]):
        assert str(layers[0]) == str(layers[1])
    results = []
    for lib, layer in zip(both, layers):
        args = evaluated(lib, f"({LAYERS[text]},)")
        lib.mx.random.seed(3)
        out = layer(*args)

        def total(*args: Any, layer: Any = layer, lib: Any = lib) -> Any:
            lib.mx.random.seed(3)
            found = layer(*args)
            found = found if isinstance(found, tuple) else (found,)
            return sum((x * (1 + lib.mx.arange(x.size).reshape(x.shape) % 7)).sum() for x in found)

        grads, by_input = None, None
        floating = args[0].dtype == lib.mx.float32 and "Step" not in text
        if floating and lib.utils.tree_flatten(layer.trainable_parameters()):
            tree = lib.nn.value_and_grad(layer, total)(*args)[1]
            # As one vector: the keys' bias has a gradient of 0, up to rounding.
            flat = [g.flatten() for _, g in sorted(lib.utils.tree_flatten(tree))]
            grads = lib.mx.concatenate(flat)
        if floating:
            by_input = lib.mx.grad(total)(*args)
        after = dict(lib.utils.tree_flatten(layer.parameters()))
        results.append(leaf(lib.mx, [out, grads, by_input, after]))
    assert agree(*results) == ""


@pytest.mark.parametrize("text", LAYERS)
def test_initial_weights(both: tuple[Any, Any], text: str) -> None:
    """The same key gives the weights of mlx."""
    found = []
    for lib in both:
        layer = lib.seeded(lambda lib=lib: evaluated(lib, text.strip()))
        found.append(leaf(lib.mx, dict(lib.utils.tree_flatten(layer.parameters()))))
    assert differ(found[0], found[1], 4.0, True) == ""


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("text", OPTIMIZERS)
def test_optimizers(both: tuple[Any, Any], text: str, dtype: str) -> None:
    """Parameters and state after 20 steps, with gradients of a bowl and some noise."""
    found = []
    for lib in both:
        kind = getattr(lib.mx, dtype)
        params = {"a": lib.normal(3, 4).astype(kind), "b": [lib.normal(5).astype(kind)],
                  "c": {"w": lib.normal(4, 2, 3).astype(kind)}}
        optimizer = evaluated(lib, text)
        for step in range(STEPS if dtype == "float32" else 3):
            noise = 0.1 * lib.normal(5, seed=step).astype(kind)
            grads = {"a": params["a"] * 2, "b": [params["b"][0] + noise],
                     "c": {"w": params["c"]["w"] - 1}}
            params = optimizer.apply_gradients(grads, params)
        flat = dict(lib.utils.tree_flatten([params, optimizer.state]))
        found.append(leaf(lib.mx, dict(sorted(flat.items()))))
    ulps = 2.0 ** 12 if dtype == "float32" else 8.0
    assert differ(found[0], found[1], ulps, True) == ""


def test_every_name_is_called() -> None:
    """Layers, functions, losses, initializers, optimizers and schedules of the surface."""
    import json
    from pathlib import Path

    surface = json.loads((Path(__file__).parents[1] / "data" / "mlx_surface.json").read_text())
    text = " ".join([*LAYERS, *LAYERS.values(), *CALLS, *OPTIMIZERS])
    absent = {"Module", "Optimizer", "average_gradients", "fully_shard", "quantize", "init",
              *[n for n in surface["nn"] if "Shard" in n or "Quantized" in n or n == "QQLinear"],
              *[n for n in surface["optimizers"] if n.startswith("tree_")]}
    wanted = {n for group in ("nn", "nn.init", "nn.losses", "optimizers") for n in surface[group]}
    assert {n for n in wanted - absent if f".{n}(" not in text} == set()
    assert set(FUNCTIONS) <= set(surface["nn"])
