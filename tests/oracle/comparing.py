"""One call on both libraries: inputs, results as NumPy arrays, and in what they differ.

A call is the text of a Python expression. `mx` in it is either library; the names of `values` are
arrays of that library; the functions of `helpers` do what takes a statement.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

ULPS = {"float16": 2.0 ** -10, "bfloat16": 2.0 ** -7, "float32": 2.0 ** -23,
        "float64": 2.0 ** -52, "complex64": 2.0 ** -23}


def values() -> dict[str, tuple[np.ndarray, str]]:
    """The inputs by name: values and dtype. f, g: float32; h: float16; b: bfloat16; c, d: complex.

    i, j: int32; p: positive integers; u: in (0, 1); m, n: bool; t: three axes; k: square;
    s: corners of float32; v, w: vectors; z: a scalar; o: empty.
    """
    rng = np.random.default_rng(0)
    f, g = rng.standard_normal((2, 3, 4)).astype(np.float32) * 3
    c, d = (rng.standard_normal((2, 3, 4)) + 1j * rng.standard_normal((2, 3, 4))) * 2
    i, j = rng.integers(-20, 20, (2, 3, 4))
    j[j == 0] = 3
    p = rng.integers(1, 9, (3, 4))
    corners = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -2.5, 1.5, 3e38, 1e-30],
                       np.float32)
    out: dict[str, tuple[np.ndarray, str]] = {
        "f": (f, "float32"), "g": (g, "float32"), "h": (f, "float16"), "b": (f, "bfloat16"),
        "h2": (g, "float16"), "b2": (g, "bfloat16"),
        "u": (rng.random((3, 4)), "float32"), "c": (c, "complex64"), "d": (d, "complex64"),
        "i": (i, "int32"), "j": (j, "int32"), "p": (p, "int32"),
        "m": (f > 0, "bool"), "n": (g > 0, "bool"),
        "t": (rng.standard_normal((2, 3, 4)), "float32"), "k": (rng.standard_normal((4, 4)),
                                                                "float32"),
        "s": (corners, "float32"), "s16": (corners, "float16"),
        "v": (rng.standard_normal(5), "float32"), "w": (rng.standard_normal(4), "float32"),
        "z": (np.array(2.5), "float32"), "o": (np.zeros((0, 3)), "float32"),
        "x": (np.array([2, 0, 1, 2]), "int32"),  # indices
        "f64": (f, "float64"),
        "ties": (np.array([[3, 1, 3, 1, 2], [2, 2, 0, 2, 0]]), "float32"),
    }
    for bits in (8, 16, 64):
        out[f"i{bits}"] = (i, f"int{bits}")
        out[f"j{bits}"] = (j, f"int{bits}")
    for bits in (8, 16, 32, 64):
        out[f"u{bits}"] = (np.abs(i) + 1, f"uint{bits}")
        out[f"w{bits}"] = (p, f"uint{bits}")
    return out


class Inputs(dict):
    """The names of a call: `mx`, the arrays (each made when it is used), the helpers."""

    def __init__(self, mx: Any) -> None:
        super().__init__(mx=mx, np=np, **helpers(mx))
        self.sources = values()

    def __missing__(self, name: str) -> Any:
        if name not in self.sources:
            raise KeyError(name)
        data, dtype = self.sources[name]
        return mx_array(self["mx"], data, dtype)


def mx_array(mx: Any, data: np.ndarray, dtype: str) -> Any:
    if dtype == "bfloat16":
        return mx.array(data.astype(np.float32)).astype(mx.bfloat16)
    return mx.array(data.astype("bool" if dtype == "bool" else dtype),
                    dtype=getattr(mx, "bool_" if dtype == "bool" else dtype))


def helpers(mx: Any) -> dict[str, Callable[..., Any]]:
    def put(a: Any, key: Any, value: Any) -> Any:
        """a[key] = value"""
        a[key] = value
        return a

    def change(a: Any, method: str, other: Any) -> Any:
        """`a.__iadd__(other)` and such, with the array itself."""
        result = getattr(a, method)(other)
        return result, a

    def through(save: Callable[[str], None], suffix: str) -> Any:
        """What a file holds that was saved by `save(path)`."""
        with tempfile.TemporaryDirectory() as where:
            path = os.path.join(where, "file" + suffix)
            save(path)
            result = mx.load(path)
            mx.eval(result)
            return result

    def restored(action: Callable[[], Any]) -> Any:
        """A call that draws from the global state, after `seed(3)`."""
        mx.random.seed(3)
        return action()

    def quiet(action: Callable[[], Any]) -> str:
        """The type of what a call gives, where the value is the machine's."""
        return type(action()).__name__

    return {f.__name__: f for f in (put, change, through, restored, quiet)}


def leaf(mx: Any, value: Any) -> Any:
    """A result made of what can be compared: (dtype, shape, values) for arrays."""
    if isinstance(value, mx.array):
        dtype = str(value.dtype).rpartition(".")[2]
        shown = value.astype(mx.float32) if dtype == "bfloat16" else value
        return ("array", dtype, tuple(value.shape), np.array(shown))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, [leaf(mx, each) for each in value])
    if isinstance(value, Mapping):
        return ("dict", [(str(k), leaf(mx, value[k])) for k in sorted(value)])
    if isinstance(value, np.ndarray):
        return ("numpy", str(value.dtype), value.shape, value)
    if isinstance(value, (bool, int, str, bytes, type(None))):
        return (type(value).__name__, value)
    if isinstance(value, (float, complex)):
        return (type(value).__name__, "float64", (), np.asarray(value))
    return ("object", str(value).replace("mlx.core", "core").replace("eutectic.core", "core"))


def outcome(mx: Any, call: str) -> Any:
    """The result of a call, or ("raises", class)."""
    try:
        names = Inputs(mx)
        value = eval(call, names)
        if isinstance(value, mx.array):
            mx.eval(value)
        return leaf(mx, value)
    except NameError:
        raise
    except Exception as error:
        return ("raises", type(error).__name__, str(error).splitlines()[0][:90] if str(error)
                else "")


def differ(theirs: Any, ours: Any, ulps: float, norm: bool) -> str:
    """In what two outcomes differ; empty where they agree."""
    if "raises" in (theirs[0], ours[0]):
        if theirs[0] == ours[0]:
            return ""
        raised = "mlx" if theirs[0] == "raises" else "eutectic"
        error = theirs if raised == "mlx" else ours
        return f"only {raised} raises {error[1]}: {error[2]}"
    if theirs[0] != ours[0]:
        return f"{theirs[0]} of mlx, {ours[0]} of eutectic"
    if theirs[0] in ("tuple", "list", "dict"):
        if len(theirs[1]) != len(ours[1]):
            return f"{len(theirs[1])} items of mlx, {len(ours[1])} of eutectic"
        for a, b in zip(theirs[1], ours[1]):
            found = differ(a[1], b[1], ulps, norm) if theirs[0] == "dict" else differ(
                a, b, ulps, norm)
            if found or (theirs[0] == "dict" and a[0] != b[0]):
                return found or f"key {a[0]!r} of mlx, {b[0]!r} of eutectic"
        return ""
    if len(theirs) < 4:
        return "" if theirs == ours else f"{theirs[1]!r} of mlx, {ours[1]!r} of eutectic"
    if theirs[1:3] != ours[1:3]:
        return f"{theirs[1]}{theirs[2]} of mlx, {ours[1]}{ours[2]} of eutectic"
    return differ_values(theirs[3], ours[3], theirs[1], ulps, norm)


def differ_values(a: np.ndarray, b: np.ndarray, dtype: str, ulps: float, norm: bool) -> str:
    if dtype not in ULPS:
        same = a == b
    else:
        with np.errstate(all="ignore"):
            wide = np.complex128 if dtype == "complex64" else np.float64
            x, y = a.astype(wide), b.astype(wide)
            size = np.abs(x)
            if norm:
                size = np.full(x.shape, np.max(size[np.isfinite(size)], initial=0.0))
            tiny = 2.0 ** -24 if dtype == "float16" else 2.0 ** -126
            near = np.abs(x - y) <= ulps * ULPS[dtype] * np.maximum(size, tiny / ULPS[dtype])
        same = near | (x == y) | (np.isnan(x) & np.isnan(y))
    if np.all(same):
        return ""
    wrong = np.argwhere(~np.asarray(same).reshape(a.shape))
    at = tuple(int(n) for n in wrong[0]) if a.ndim else ()
    return f"at {list(at)}: {a[at]} of mlx, {b[at]} of eutectic ({len(wrong)} of {a.size} differ)"
