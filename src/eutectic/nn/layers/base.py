"""`Module`, the base of all layers: a dict of arrays and modules that knows what it may learn."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import eutectic.core as mx
from eutectic.errors import ArgumentError, ArgumentTypeError, MissingKeyError, show_shape
from eutectic.utils import tree_flatten, tree_unflatten

Filter = Callable[["Module", str, Any], bool]


class Module(dict[str, Any]):
    """Base class of layers and models: a dict whose items are also attributes.

    Arrays, modules, and lists, tuples and dicts of them that are assigned to an attribute become
    items of the dict, everything else becomes an ordinary attribute. Items whose name begins with
    an underscore are no parameters. Subclasses call `super().__init__()` first and define
    `__call__`.

    >>> class Scale(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = mx.array([2.0])
    ...     def __call__(self, x):
    ...         return x * self.factor
    >>> model = Scale()
    >>> model(mx.array([1.0, 3.0])), model.parameters()
    (array([2, 6], dtype=float32), {'factor': array([2], dtype=float32)})
    """

    __call__: Callable[..., Any]

    def __init__(self) -> None:
        super().__init__()
        self._no_grad: set[str] = set()
        self._training = True

    @property
    def training(self) -> bool:
        """Whether the module is in training mode.

        >>> Module().training
        True
        """
        return self._training

    @property
    def state(self) -> Module:
        """The module itself, as a container of all its arrays: for `compile` and `eval`.

        >>> model = Module()
        >>> model.state is model
        True
        """
        return self

    # -- attributes -------------------------------------------------------------------------------

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {key!r}") from None

    def __setattr__(self, key: str, val: Any) -> None:
        if isinstance(val, (mx.array, dict, list, tuple)):
            self.__dict__.pop(key, None)
            self[key] = val
        else:
            super().__setattr__(key, val)
            self.pop(key, None)

    def __delattr__(self, name: str) -> None:
        if name in self:
            del self[name]
        elif name in self.__dict__:
            super().__delattr__(name)
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _extra_repr(self) -> str:
        """What stands in the brackets of the module's text."""
        return ""

    def __repr__(self) -> str:
        text = f"{type(self).__name__}({self._extra_repr()}"
        children = tree_flatten(self.children(), is_leaf=self.is_module)
        found = [(name, child) for name, child in children if self.is_module(child)]
        for name, child in found:
            text += "\n" + textwrap.indent(f"({name}): {child!r}", "  ")
        return text + ("\n)" if found else ")")

    # -- selecting --------------------------------------------------------------------------------

    @staticmethod
    def is_module(value: Any) -> bool:
        """Say whether a value is a module.

        >>> Module.is_module(Module()), Module.is_module({})
        (True, False)
        """
        return isinstance(value, Module)

    @staticmethod
    def valid_child_filter(module: Any, key: str, value: Any) -> bool:
        """The filter of `children`: dicts (modules too) and lists.

        >>> Module.valid_child_filter(None, "layers", [Module()])
        True
        """
        return isinstance(value, (dict, list))

    @staticmethod
    def valid_parameter_filter(module: Any, key: str, value: Any) -> bool:
        """The filter of `parameters`: arrays, dicts and lists with no underscore before the name.

        >>> Module.valid_parameter_filter(None, "_cache", mx.zeros(2))
        False
        """
        return isinstance(value, (dict, list, mx.array)) and not key.startswith("_")

    @staticmethod
    def trainable_parameter_filter(module: Any, key: str, value: Any) -> bool:
        """The filter of `trainable_parameters`: parameters that are not frozen.

        >>> model = Module().freeze(keys="w")
        >>> Module.trainable_parameter_filter(model, "w", mx.zeros(2))
        False
        """
        return (isinstance(value, (dict, list, mx.array)) and not key.startswith("_")
                and key not in module._no_grad)

    def filter_and_map(self, filter_fn: Filter, map_fn: Callable[[Any], Any] | None = None,
                       is_leaf_fn: Filter | None = None) -> dict[str, Any]:
        """Return the items that a filter chooses, nested as in the module.

        `filter_fn(module, key, value)` is asked for every item; the keys of items in lists and
        dicts hold the path from the module: `layers.0`. What is left out there leaves `{}`, so that
        places in lists stay. `map_fn` replaces leaves; leaves are what is no module, dict or list,
        or what `is_leaf_fn` says.

        >>> model = Module()
        >>> model.w, model.h = mx.zeros((2, 3)), [mx.zeros(4), "text"]
        >>> model.filter_and_map(Module.valid_parameter_filter, lambda x: x.shape)
        {'w': (2, 3), 'h': [(4,), {}]}
        """
        return {k: _selected(self, k, v, filter_fn, map_fn, is_leaf_fn)
                for k, v in self.items() if filter_fn(self, k, v)}

    def parameters(self) -> dict[str, Any]:
        """All arrays of the module and the modules in it, nested as these are.

        >>> model = Module()
        >>> model.w = mx.zeros(2)
        >>> model.parameters()
        {'w': array([0, 0], dtype=float32)}
        """
        return self.filter_and_map(self.valid_parameter_filter)

    def trainable_parameters(self) -> dict[str, Any]:
        """The parameters that are not frozen, nested like `parameters`.

        >>> model = Module()
        >>> model.w, model.b = mx.zeros(2), mx.ones(1)
        >>> model.freeze(keys="w").trainable_parameters()
        {'b': array([1], dtype=float32)}
        """
        return self.filter_and_map(self.trainable_parameter_filter)

    def children(self) -> dict[str, Any]:
        """The modules that are items of this one, or stand in its lists and dicts.

        >>> model = Module()
        >>> model.inner = Module()
        >>> model.children()
        {'inner': Module()}
        """
        return self.filter_and_map(
            self.valid_child_filter, is_leaf_fn=lambda m, k, v: isinstance(v, Module))

    def leaf_modules(self) -> dict[str, Any]:
        """The last modules below this one, nested like `children`.

        A module is one of them where the modules that it holds are empty dicts (as ReLU is).

        >>> import eutectic.nn as nn
        >>> model = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(2, 2)))
        >>> model.leaf_modules()["layers"][1]
        {'layers': [Linear(input_dims=2, output_dims=2, bias=True)]}
        """
        def leaf(module: Module, key: str, value: Any) -> bool:
            return isinstance(value, Module) and not tree_flatten(value.children())
        return self.filter_and_map(self.valid_child_filter, is_leaf_fn=leaf)

    def modules(self) -> list[Module]:
        """This module and all below it.

        >>> model = Module()
        >>> model.inner = Module()
        >>> len(model.modules())
        2
        """
        return [module for _, module in self.named_modules()]

    def named_modules(self) -> list[tuple[str, Module]]:
        """(path, module) of this module, whose path is empty, and all below it.

        >>> model = Module()
        >>> model.inner = [Module()]
        >>> [path for path, _ in model.named_modules()]
        ['', 'inner.0']
        """
        found: list[tuple[str, Module]] = []
        waiting: list[tuple[str, Module]] = [("", self)]
        while waiting:
            path, module = waiting.pop()
            found.append((path, module))
            children = tree_flatten(module.children(), prefix=f".{path}" if path else "",
                                    is_leaf=self.is_module)
            waiting += [(p, m) for p, m in children if isinstance(m, Module)]
        return found

    # -- changing ---------------------------------------------------------------------------------

    def update(self, parameters: dict[str, Any],  # type: ignore[override]
               strict: bool = True) -> Module:
        """Replace arrays by those at the same places of a tree; returns the module.

        The tree may hold fewer places than the module has. Shapes are not compared.

        Raises ArgumentError for what the module does not have and for what is no array; with
        `strict=False` that is passed over.

        >>> model = Module()
        >>> model.w = mx.zeros(2)
        >>> model.update({"w": mx.ones(2)}).w
        array([1, 1], dtype=float32)
        """
        _update(self, parameters, strict)
        return self

    def apply(self, map_fn: Callable[[mx.array], mx.array],
              filter_fn: Filter | None = None) -> Module:
        """Replace all parameters, or the arrays that a filter chooses, by `map_fn(array)`.

        >>> model = Module()
        >>> model.w = mx.zeros(2)
        >>> model.apply(lambda x: x.astype(mx.float16)).w
        array([0, 0], dtype=float16)
        """
        self.update(self.filter_and_map(filter_fn or self.valid_parameter_filter, map_fn))
        return self

    def update_modules(self, modules: dict[str, Any], strict: bool = True) -> Module:
        """Replace modules by those at the same places of a tree; returns the module.

        Raises ArgumentError for places that the module does not have or that hold no module; with
        `strict=False` these are passed over.

        >>> model = Module()
        >>> model.layers = [Module(), Module()]
        >>> new = Module()
        >>> model.update_modules({"layers": [{}, new]}).layers[1] is new
        True
        """
        _update_modules(self, modules, strict)
        return self

    def apply_to_modules(self, apply_fn: Callable[[str, Module], Any]) -> Module:
        """Call `apply_fn(path, module)` for this module and all below it; returns the module.

        >>> model = Module()
        >>> model.inner = Module()
        >>> seen = []
        >>> _ = model.apply_to_modules(lambda path, module: seen.append(path))
        >>> seen
        ['', 'inner']
        """
        for path, module in self.named_modules():
            apply_fn(path, module)
        return self

    def set_dtype(self, dtype: mx.Dtype, predicate: Callable[[mx.Dtype], bool] | None =
                  lambda x: mx.issubdtype(x, mx.floating)) -> None:
        """Cast parameters whose dtype the predicate takes (None: all), floating ones by default.

        >>> model = Module()
        >>> model.w, model.n = mx.zeros(2), mx.array([1])
        >>> model.set_dtype(mx.bfloat16)
        >>> model.w.dtype, model.n.dtype
        (eutectic.core.bfloat16, eutectic.core.int32)
        """
        self.apply(lambda x: x.astype(dtype) if predicate is None or predicate(x.dtype) else x)

    # -- freezing and modes -----------------------------------------------------------------------

    def freeze(self, *, recurse: bool = True, keys: str | list[str] | None = None,
               strict: bool = False) -> Module:
        """Make parameters not trainable: all, or those named in `keys`; returns the module.

        `recurse` freezes in the modules below, too.

        Raises MissingKeyError, a KeyError, with `strict=True` for a key that a module lacks.

        >>> model = Module()
        >>> model.w = mx.zeros(2)
        >>> model.freeze().trainable_parameters()
        {}
        """
        def one(path: str, module: Module) -> None:
            names = keys
            if names is None:
                own = module.filter_and_map(
                    lambda m, k, v: not isinstance(v, Module) and m.valid_parameter_filter(m, k, v))
                names = [path for path, _ in tree_flatten(own)]
            module._no_grad.update(module._validate_keys(names, strict))

        self._each(one, recurse)
        return self

    def unfreeze(self, *, recurse: bool = True, keys: str | list[str] | None = None,
                 strict: bool = False) -> Module:
        """Make parameters trainable again: all, or those named in `keys`; returns the module.

        Raises MissingKeyError, a KeyError, with `strict=True` for a key that a module lacks.

        >>> model = Module()
        >>> model.w, model.b = mx.zeros(2), mx.zeros(1)
        >>> model.freeze().unfreeze(keys="b").trainable_parameters()
        {'b': array([0], dtype=float32)}
        """
        def one(path: str, module: Module) -> None:
            if keys is None:
                module._no_grad.clear()
            else:
                module._no_grad.difference_update(module._validate_keys(keys, strict))

        self._each(one, recurse)
        return self

    def _each(self, fn: Callable[[str, Module], None], recurse: bool) -> None:
        if recurse:
            self.apply_to_modules(fn)
        else:
            fn("", self)

    def _validate_keys(self, keys: str | list[str], strict: bool) -> list[str]:
        names = [keys] if isinstance(keys, str) else list(keys)
        for name in names if strict else ():
            if name not in self:
                raise MissingKeyError(
                    f"[Module] {type(self).__name__} does not contain a member {name}.")
        return names

    def train(self, mode: bool = True) -> Module:
        """Set training mode here and in all modules below; returns the module.

        >>> Module().train(False).training
        False
        """
        self.apply_to_modules(lambda path, module: module._set_training_mode(mode))
        return self

    def _set_training_mode(self, mode: bool) -> None:
        self._training = mode

    def eval(self) -> Module:
        """Leave training mode: `train(False)`.

        >>> Module().eval().training
        False
        """
        return self.train(False)

    # -- files ------------------------------------------------------------------------------------

    def load_weights(self, file_or_weights: str | list[tuple[str, mx.array]],
                     strict: bool = True) -> Module:
        """Set parameters from a .npz or .safetensors file, or from (path, array) pairs.

        Raises ArgumentError where `strict` and names are missing, too many, or an array has another
        shape than the parameter. Dtypes are those of the file.

        >>> model = Module()
        >>> model.w = mx.zeros(2)
        >>> model.load_weights([("w", mx.ones(2))]).w
        array([1, 1], dtype=float32)
        """
        weights: Any = file_or_weights
        if isinstance(weights, str) or hasattr(weights, "__fspath__"):
            loaded: Any = mx.load(weights)
            weights = list(loaded.items())
        elif isinstance(weights, dict):
            weights = list(weights.items())
        if strict:
            self._compare_weights(dict(weights))
        if weights:
            self.update(tree_unflatten(weights), strict=False)
        return self

    def _compare_weights(self, new: dict[str, Any]) -> None:
        """Raise ArgumentError unless the weights are exactly what the module has."""
        own = dict(tree_flatten(self.parameters()))
        own = {name: x for name, x in own.items() if isinstance(x, mx.array)}
        for what, names in (("parameters that the model does not have", new.keys() - own.keys()),
                            ("parameters are missing", own.keys() - new.keys())):
            if names:
                raise ArgumentError(
                    f"[load_weights] {len(names)} {what}: {', '.join(sorted(names))}.")
        for name, x in own.items():
            given = new[name]
            if not isinstance(given, mx.array):
                raise ArgumentTypeError(
                    f"[load_weights] {name} is a {type(given).__name__}, not an array.")
            if given.shape != x.shape:
                raise ArgumentError(f"[load_weights] {name} has shape {show_shape(x.shape)}, the "
                                    f"weights have {show_shape(given.shape)}.")

    def save_weights(self, file: str) -> None:
        """Write the parameters to a .npz or .safetensors file, by the ending of its name.

        Raises ArgumentError for another ending.

        >>> import os, tempfile
        >>> model = Module()
        >>> model.w = mx.ones(2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "w.safetensors")
        ...     model.save_weights(path)
        ...     mx.load(path)
        {'w': array([1, 1], dtype=float32)}
        """
        arrays: dict[str, Any] = {
            name: x for name, x in tree_flatten(self.parameters()) if isinstance(x, mx.array)}
        name = str(file)
        if name.endswith(".npz"):
            mx.savez(file, **arrays)
        elif name.endswith(".safetensors"):
            mx.save_safetensors(file, arrays)
        else:
            raise ArgumentError(
                f"[save_weights] {name} must end in .npz or .safetensors.")


def _selected(module: Module, key: str, value: Any, chosen: Filter,
              map_fn: Callable[[Any], Any] | None, is_leaf: Filter | None) -> Any:
    """What `filter_and_map` puts in the place of a value."""
    if is_leaf is not None and is_leaf(module, key, value):
        return value if map_fn is None else map_fn(value)
    if isinstance(value, Module):
        return value.filter_and_map(chosen, map_fn, is_leaf)
    if isinstance(value, dict):
        items = [(k, f"{key}.{k}", v) for k, v in value.items()]
        return {k: _selected(module, path, v, chosen, map_fn, is_leaf)
                if chosen(module, path, v) else {} for k, path, v in items}
    if isinstance(value, list):
        paths = [f"{key}.{i}" for i in range(len(value))]
        return [_selected(module, path, v, chosen, map_fn, is_leaf)
                if chosen(module, path, v) else {} for path, v in zip(paths, value)]
    if is_leaf is not None:
        raise ArgumentError(
            f"[filter_and_map] {key} is a {type(value).__name__}, and no leaf by is_leaf_fn.")
    return value if map_fn is None else map_fn(value)


def _pairs(name: str, held: Any, new: Any, strict: bool) -> list[tuple[Any, Any, Any]]:
    """(key, value held, new value) for the places of `new` that `held` has."""
    if isinstance(new, dict) and isinstance(held, dict):
        missing = [k for k in new if k not in held]
        if missing and strict:
            raise ArgumentError(f"[{name}] the module has nothing named {missing[0]}.")
        return [(k, held[k], v) for k, v in new.items() if k in held]
    if isinstance(new, list) and isinstance(held, list):
        if len(new) > len(held) and strict:
            raise ArgumentError(f"[{name}] index {len(held)} of a list of {len(held)} elements.")
        return list(zip(range(len(held)), held, new))
    if strict:
        raise ArgumentError(f"[{name}] a {type(new).__name__} cannot take the place of a "
                            f"{type(held).__name__}.")
    return []


def _update(held: Any, new: Any, strict: bool) -> None:
    for k, old, value in _pairs("update", held, new, strict):
        if isinstance(old, mx.array):
            if isinstance(value, mx.array):
                held[k] = value
            elif strict and value != {}:
                raise ArgumentError(f"[update] {k} is an array, and cannot become a "
                                    f"{type(value).__name__}.")
        elif isinstance(value, (dict, list)) and not value:
            continue
        else:
            _update(old, value, strict)


def _update_modules(held: Any, new: Any, strict: bool) -> None:
    for k, old, value in _pairs("update_modules", held, new, strict):
        if isinstance(old, Module) and isinstance(value, Module):
            held[k] = value
        elif isinstance(value, (dict, list)) and not value:
            continue
        elif isinstance(value, Module):
            if strict:
                raise ArgumentError(f"[update_modules] {k} is a {type(old).__name__}, no module.")
        else:
            _update_modules(old, value, strict)
