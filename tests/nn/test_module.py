"""`Module`: a dict of arrays and modules; selecting, replacing, freezing, saving."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
import eutectic.nn as nn
from eutectic.errors import ArgumentError, ArgumentTypeError, MissingKeyError
from eutectic.utils import tree_flatten, tree_map


class Mixed(nn.Module):
    """Every kind of attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.l = nn.Linear(2, 3)
        self.ls = [nn.Linear(2, 2), {"a": nn.ReLU(), "w": mx.zeros(2)}, [mx.ones(1)], "text", 5]
        self.t = (mx.zeros(3), nn.Linear(1, 1))
        self.d = {"x": mx.zeros(4), "_h": mx.zeros(5), "n": 3, "m": nn.Linear(1, 2), "e": {},
                  "none": None}
        self._p = mx.zeros(6)
        self.n = 7
        self.none = None


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.l = nn.Linear(2, 3)
        self.seq = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
        self.d = {"m": nn.Linear(1, 2)}
        self.w = mx.zeros(2)


def shapes(tree: Any) -> Any:
    return tree_map(lambda x: x.shape if isinstance(x, mx.array) else x, tree)


def paths(tree: Any) -> list[str]:
    return [path for path, _ in tree_flatten(tree)]


def test_attributes_become_items_or_stay() -> None:
    m = Mixed()
    assert list(m) == ["l", "ls", "t", "d", "_p"]
    assert (m.n, m.none) == (7, None)
    assert m.l is m["l"] and isinstance(m, dict) and m.state is m


def test_attributes_change_their_kind() -> None:
    m = Net()
    m.w = 3
    assert "w" not in m and m.w == 3
    m.w = mx.zeros(1)
    assert m.w is m["w"] and "w" not in vars(m)
    m.n = 1
    del m.w, m.n
    for name in ("w", "n", "zzz"):
        with pytest.raises(AttributeError, match=f"'Net' object has no attribute '{name}'"):
            getattr(m, name)
        with pytest.raises(AttributeError, match=f"'Net' object has no attribute '{name}'"):
            delattr(m, name)


def test_parameters() -> None:
    assert shapes(Mixed().parameters()) == {
        "l": {"weight": (3, 2), "bias": (3,)},
        "ls": [{"weight": (2, 2), "bias": (2,)}, {"a": {}, "w": (2,)}, [(1,)], {}, {}],
        "d": {"x": (4,), "_h": (5,), "n": {}, "m": {"weight": (2, 1), "bias": (2,)}, "e": {},
              "none": {}}}


def test_children_and_modules() -> None:
    m = Mixed()
    children = m.children()
    assert list(children) == ["l", "ls", "d"] and children["l"] is m.l
    assert children["ls"] == [m.ls[0], {"a": m.ls[1]["a"], "w": {}}, [{}], {}, {}]
    assert [path for path, _ in m.named_modules()] == ["", "d.m", "ls.1.a", "ls.0", "l"]
    assert [type(x) for x in m.modules()] == [Mixed, nn.Linear, nn.ReLU, nn.Linear, nn.Linear]
    n = Net()
    assert n.leaf_modules() == {"l": n.l, "seq": {"layers": n.seq.layers}, "d": n.d}
    only_functions = nn.Sequential(nn.Sequential(nn.ReLU()))
    assert only_functions.leaf_modules() == {"layers": only_functions.layers}
    seen: list[str] = []
    assert n.apply_to_modules(lambda path, module: seen.append(path)) is n
    assert seen == ["", "d.m", "seq", "seq.layers.2", "seq.layers.1", "seq.layers.0", "l"]


def test_text() -> None:
    assert repr(Mixed()) == """Mixed(
  (l): Linear(input_dims=2, output_dims=3, bias=True)
  (ls.0): Linear(input_dims=2, output_dims=2, bias=True)
  (ls.1.a): ReLU()
  (d.m): Linear(input_dims=1, output_dims=2, bias=True)
)"""
    assert repr(nn.Sequential(nn.Sequential(nn.ReLU()))) == """Sequential(
  (layers.0): Sequential(
    (layers.0): ReLU()
  )
)"""


def test_filter_and_map() -> None:
    keys: list[tuple[str, str]] = []

    def chosen(module: Any, key: str, value: Any) -> bool:
        keys.append((type(module).__name__, key))
        return nn.Module.valid_parameter_filter(module, key, value)

    Mixed().filter_and_map(chosen)
    assert keys[3:10] == [("Mixed", "ls"), ("Mixed", "ls.0"), ("Linear", "weight"),
                          ("Linear", "bias"), ("Mixed", "ls.1"), ("Mixed", "ls.1.a"),
                          ("Mixed", "ls.1.w")]
    m = Mixed()
    everything = m.filter_and_map(lambda module, key, value: True)
    assert everything["t"] is m.t and everything["ls"][3:] == ["text", 5]
    names = m.filter_and_map(nn.Module.valid_child_filter, lambda x: type(x).__name__,
                             lambda module, key, value: isinstance(value, nn.Module))
    assert names["l"] == "Linear" and names["d"]["m"] == "Linear"
    with pytest.raises(ArgumentError, match=r"\[filter_and_map\] weight is a array"):
        m.l.filter_and_map(nn.Module.valid_parameter_filter, None, lambda m, k, v: False)


# ---- replacing ----------------------------------------------------------------------------------


def test_update() -> None:
    n = Net()
    new = mx.ones((3, 2))
    assert n.update({"l": {"weight": new}, "seq": {"layers": [{}, {}, {"bias": mx.ones(1)}]}}) is n
    assert n.l.weight is new and n.seq.layers[2].bias.item() == 1
    assert n.update({"w": mx.zeros(9)}).w.shape == (9,)  # shapes are not compared
    assert n.update({}) is n


@pytest.mark.parametrize(("tree", "text"), [
    ({"q": mx.zeros(1)}, r"\[update\] the module has nothing named q"),
    ({"l": mx.zeros(1)}, r"\[update\] a array cannot take the place of a Linear"),
    ({"w": {"a": mx.zeros(1)}}, r"\[update\] w is an array, and cannot become a dict"),
    ({"w": 1.0}, r"\[update\] w is an array, and cannot become a float"),
    ({"seq": {"layers": [{}, {}, {}, {"bias": mx.zeros(1)}]}}, r"index 3 of a list of 3"),
    ({"seq": {"layers": ({"bias": mx.zeros(1)},)}}, r"a tuple cannot take the place of a list"),
])
def test_update_refuses(tree: Any, text: str) -> None:
    n = Net()
    before = dict(tree_flatten(n.parameters()))
    with pytest.raises(ArgumentError, match=text):
        n.update(tree)
    n.update(tree, strict=False)
    assert all(x is before[path] for path, x in tree_flatten(n.parameters()))


def test_update_modules() -> None:
    n = Net()
    new, tanh = nn.Linear(5, 5), nn.Tanh()
    n.update_modules({"l": new, "seq": {"layers": [{}, tanh]}})
    assert n.l is new and n.seq.layers[1] is tanh and isinstance(n.seq.layers[0], nn.Linear)
    for tree, text in (({"zz": new}, "nothing named zz"), ({"w": new}, "w is a array, no module"),
                       ({"l": mx.zeros(1)}, "a array cannot take the place of a Linear"),
                       ({"seq": {"layers": [{}, {}, {}, new]}}, "index 3 of a list of 3")):
        with pytest.raises(ArgumentError, match=text):
            n.update_modules(tree)
        n.update_modules(tree, strict=False)
        assert n.l is new and len(n.seq.layers) == 3 and n.w.shape == (2,)


def test_apply_and_set_dtype() -> None:
    n = Net()
    n.i = mx.array([1, 2])
    n.set_dtype(mx.float16)
    assert {str(x.dtype) for _, x in tree_flatten(n.parameters())} == {
        "eutectic.core.float16", "eutectic.core.int32"}
    n.set_dtype(mx.float32, predicate=None)
    assert n.i.dtype == mx.float32
    n.apply(lambda x: x.astype(mx.bfloat16),
            lambda m, k, v: k == "weight" or isinstance(v, (dict, list)))
    assert n.l.weight.dtype == mx.bfloat16 and n.l.bias.dtype == mx.float32


# ---- freezing and modes -------------------------------------------------------------------------


def test_freeze_and_unfreeze() -> None:
    n = Net()
    assert shapes(n.freeze().trainable_parameters()) == {
        "l": {}, "seq": {"layers": [{}, {}, {}]}, "d": {"m": {}}}
    assert paths(n.parameters()) != []
    assert paths(n.unfreeze(keys="bias").trainable_parameters()) == [
        "l.bias", "seq.layers.0.bias", "seq.layers.2.bias", "d.m.bias"]
    assert "w" in n.unfreeze(recurse=False).trainable_parameters()
    n.unfreeze().freeze(recurse=False)
    assert "w" not in n.trainable_parameters() and "weight" in n.l.trainable_parameters()
    assert paths(n.unfreeze().freeze(keys=["weight", "w"]).trainable_parameters()) == [
        "l.bias", "seq.layers.0.bias", "seq.layers.2.bias", "d.m.bias"]
    with pytest.raises(MissingKeyError, match=r"\[Module\] \w+ does not contain a member zz\.$"):
        n.freeze(keys="zz", strict=True)
    with pytest.raises(KeyError):
        n.unfreeze(keys=["w"], strict=True)
    assert n.l.freeze(keys=["bias"], strict=True) is n.l


def test_modes() -> None:
    n = Net()
    assert n.training and n.eval() is n and not n.training and not n.seq.layers[0].training
    assert n.train() is n and n.d["m"].training and not n.train(False).d["m"].training


def test_batch_norm_keeps_its_averages_frozen() -> None:
    for layer in (nn.BatchNorm(3), nn.BatchNorm(3).unfreeze(),
                  nn.BatchNorm(3).unfreeze(keys="running_mean"), nn.BatchNorm(3).freeze()):
        assert not {"running_mean", "running_var"} & layer.trainable_parameters().keys()


def test_copies() -> None:
    n = Net().eval()
    n.freeze(keys="w", recurse=False)
    for made in (copy.deepcopy(n), pickle.loads(pickle.dumps(n))):
        assert not made.training and "w" not in made.trainable_parameters()
        assert shapes(made.parameters()) == shapes(n.parameters())
        assert made.l is not n.l and mx.array_equal(made.l.weight, n.l.weight)
    assert copy.copy(n).l is n.l


# ---- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
def test_weights_through_files(tmp_path: Path, ending: str) -> None:
    a, b = Net(), Net()
    for file in (str(tmp_path / f"a{ending}"), tmp_path / f"b{ending}"):
        a.save_weights(file)
        assert b.load_weights(file) is b
        assert all(mx.array_equal(x, dict(tree_flatten(b.parameters()))[path])
                   for path, x in tree_flatten(a.parameters()))
    assert "seq.layers.0.weight" in mx.load(str(tmp_path / f"a{ending}"))


def test_file_endings() -> None:
    with pytest.raises(ArgumentError, match=r"\[save_weights\] w.bin must end in .npz or"):
        Net().save_weights("w.bin")


def test_weights_that_do_not_fit() -> None:
    n = Net()
    own = tree_flatten(n.parameters())
    for weights, kind, text in (
            (own[1:], ArgumentError, r"1 parameters are missing: l\.weight\."),
            ([*own, ("foo", mx.zeros(1)), ("goo", mx.zeros(1))], ArgumentError,
             "2 parameters that the model does not have: foo, goo"),
            ([("l.weight", mx.zeros((9, 9))), *own[1:]], ArgumentError,
             r"l\.weight has shape \(3,2\), the weights have \(9,9\)"),
            ([("l.weight", np.zeros((3, 2))), *own[1:]], ArgumentTypeError,
             r"l\.weight is a ndarray, not an array")):
        with pytest.raises(kind, match=text):
            n.load_weights(weights)
    assert n.load_weights([("l.weight", mx.zeros((9, 9))), ("foo", mx.zeros(1))],
                          strict=False).l.weight.shape == (9, 9)
    assert n.load_weights([], strict=False) is n


# ---- gradients ----------------------------------------------------------------------------------


def test_value_and_grad() -> None:
    n = Net()
    n.freeze(keys=["bias", "w"])

    def loss(x: mx.array, *, scale: float = 1.0) -> Any:
        """Documented."""
        return (n.seq(n.l(x)) * scale).sum(), {"x": x}

    before = dict(tree_flatten(n.parameters()))
    f = nn.value_and_grad(n, loss)
    (value, extra), grads = f(mx.ones((4, 2)), scale=2.0)
    assert value.shape == () and extra["x"].shape == (4, 2)
    assert (f.__name__, f.__doc__) == ("loss", "Documented.")
    assert shapes(grads) == {"l": {"weight": (3, 2)}, "seq": {"layers": [
        {"weight": (3, 3)}, {}, {"weight": (1, 3)}]}, "d": {"m": {"weight": (2, 1)}}}
    assert all(x is before[path] for path, x in tree_flatten(n.parameters()))
    with pytest.raises(ZeroDivisionError):
        nn.value_and_grad(n, lambda: 1 / 0)()
    assert all(x is before[path] for path, x in tree_flatten(n.parameters()))
    with pytest.raises(ArgumentError, match=r"\[value_and_grad\] the model has no trainable"):
        nn.value_and_grad(n.freeze(), loss)(mx.ones((4, 2)))


def test_value_and_grad_keeps_what_the_function_changes() -> None:
    layer = nn.BatchNorm(2)
    x = mx.array([[1.0, 2.0], [3.0, 6.0]])
    nn.value_and_grad(layer, lambda: layer(x).sum())()
    assert np.allclose(np.array(layer.running_mean), [0.2, 0.4])


def test_tied_weights_have_gradients_of_their_own() -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    model.layers[1].weight = model.layers[0].weight
    x = mx.array([[1.0, 2.0]])
    _, grads = nn.value_and_grad(model, lambda: model(x).sum())()
    a, b = (layer["weight"] for layer in grads["layers"])
    assert not mx.array_equal(a, b)


def test_checkpoint_gives_the_same_gradients() -> None:
    mx.random.seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = mx.random.normal((5, 3))
    again = nn.utils.checkpoint(model)
    plain = nn.value_and_grad(model, lambda x: model(x).sum())(x)
    found = nn.value_and_grad(model, lambda x: again(x).sum())(x)
    pairs = zip(tree_flatten(plain), tree_flatten(found))
    assert all(p == q and mx.array_equal(a, b) for (p, a), (q, b) in pairs)
    squared = nn.utils.checkpoint(model, lambda x, power, *rest: model(x) ** power)
    assert mx.array_equal(squared(x, power=2), model(x) ** 2)
    assert mx.array_equal(squared(x, 2, None, "text"), model(x) ** 2)
    assert nn.value_and_grad(model, lambda: squared(x, power=2).sum())()[0].shape == ()
