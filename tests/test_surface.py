"""MLX's surface: every name is there or in a list of those that are not yet, and signatures agree.

tests/data/mlx_surface.json holds the names and signatures of MLX 0.32 by group.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
from pathlib import Path
from typing import Any


SURFACE = json.loads((Path(__file__).parent / "data" / "mlx_surface.json").read_text())
GROUPS = ("core", "core.array", "core.fast", "core.fft", "core.linalg", "core.random", "utils",
          "nn", "nn.Module", "nn.init", "nn.losses", "optimizers", "optimizers.Optimizer")
CLASSES = ("core.array", "nn.Module", "optimizers.Optimizer")

# Names that are not there yet, each with its reason in a word. A name that comes must go from here.
NOT_YET: dict[str, str] = {
    "core.ArrayIterator": "internal",
    "core.array.__setstate__": "internal",  # pickles hold a function and its arguments
    "core.dequantize": "quantized",
    "core.from_fp8": "quantized",
    "core.gather_qmm": "quantized",
    "core.gather_qqmm": "quantized",
    "core.qqmm": "quantized",
    "core.quantize": "quantized",
    "core.quantized_matmul": "quantized",
    "core.to_fp8": "quantized",
    "core.fast.cuda_kernel": "source",  # kernels written by hand in another language
    "core.fast.metal_kernel": "source",
    "core.fast.precompiled_cuda_kernel": "source",
    "core.fast.gated_delta_update": "layers",
} | {f"nn.{name}": "quantized" for name in (
    "QQLinear", "QuantizedEmbedding", "QuantizedLinear", "quantize")
} | {f"nn.{name}": "distributed" for name in (
    "AllToShardedLinear", "FullyShardedModule", "QuantizedAllToShardedLinear",
    "QuantizedShardedToAllLinear", "ShardedToAllLinear", "average_gradients", "fully_shard")}

# Signatures that differ from the text, each with its reason in a word.
# overloads: one function of ours takes what both of MLX's do. stricter: MLX itself does not take by
# keyword (or position) what the text of its signature says.
OTHER_SIGNATURE: dict[str, str] = {
    "core.arange": "overloads",
    "core.issubdtype": "stricter",
} | {f"core.{name}": "stricter" for name in (
    "bitwise_invert", "conj", "conjugate", "isfinite", "isinf", "isnan", "isneginf", "isposinf")}


def owner(group: str) -> Any:
    """The module or class of a group."""
    if group in CLASSES:
        module, _, name = group.rpartition(".")
        return getattr(importlib.import_module(f"eutectic.{module}"), name)
    return importlib.import_module(f"eutectic.{group}")


NAMES = [(group, name) for group in GROUPS for name in SURFACE[group]]


def test_names() -> None:
    missing = {f"{group}.{name}" for group, name in NAMES if not hasattr(owner(group), name)}
    assert missing - NOT_YET.keys() == set(), "missing, and not in NOT_YET"
    assert NOT_YET.keys() - missing == set(), "in NOT_YET, but there (or not in the surface)"


def test_kinds() -> None:
    """Classes are classes, functions can be called, values are neither."""
    for group, name in NAMES:
        found = getattr(owner(group), name, None)
        kind = SURFACE[group][name]["kind"]
        if found is None or group in CLASSES or name in ("newaxis",):
            continue
        if kind == "class":
            assert isinstance(found, type), (group, name)
        elif kind == "function":
            assert callable(found), (group, name)
        else:
            assert not inspect.isroutine(found), (group, name)


def test_facades_name_what_they_have() -> None:
    """Every name that is there is also in `__all__`."""
    for group in GROUPS:
        if group not in CLASSES:
            exported = set(owner(group).__all__)
            there = {n for n in SURFACE[group] if hasattr(owner(group), n)}
            assert there - exported == set(), group


# ---- signatures ---------------------------------------------------------------------------------

POSITIONAL, EITHER, KEYWORD, REST, NAMED_REST = (
    inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD)
NO_LITERAL = object()


def split(text: str) -> list[str]:
    """The parts of an argument list, cut at commas outside brackets and quotes."""
    parts, depth, quote, part = [], 0, "", ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        if c == "," and depth == 0 and not quote:
            parts.append(part)
            part = ""
        else:
            part += c
    return [p.strip() for p in [*parts, part] if p.strip()]


def literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return NO_LITERAL


def around_equals(part: str) -> tuple[str, str]:
    """The text before and after the `=` outside brackets."""
    depth = 0
    for i, c in enumerate(part):
        depth += (c in "([{") - (c in ")]}")
        if c == "=" and depth == 0:
            return part[:i], part[i + 1:].strip()
    return part, ""


def parameters(signature: str) -> list[tuple[str, Any, Any]]:
    """(name, kind, default) of the parameters in a signature's text.

    The default is `inspect.Parameter.empty` where there is none, NO_LITERAL where it is no literal.
    """
    inner = signature[signature.index("(") + 1:]
    inner = inner[:inner.rindex(") ->")] if ") ->" in inner else inner[:inner.rindex(")")]
    out: list[tuple[str, Any, Any]] = []
    kind: Any = EITHER
    for part in split(inner):
        if part == "/":
            out = [(n, POSITIONAL, d) for n, _, d in out]
        elif part == "*":
            kind = KEYWORD
        elif part.startswith("**"):
            out.append((part[2:].split(":")[0].strip(), NAMED_REST, inspect.Parameter.empty))
        elif part.startswith("*"):
            out.append((part[1:].split(":")[0].strip(), REST, inspect.Parameter.empty))
            kind = KEYWORD
        else:
            left, default = around_equals(part)
            out.append((left.split(":")[0].strip(), kind,
                        literal(default) if default else inspect.Parameter.empty))
    return out


def plain(default: Any) -> Any:
    """A default for comparison: a list as good as a tuple."""
    return tuple(default) if isinstance(default, list) else default


def differences(theirs: str, ours: inspect.Signature, method: bool) -> list[str]:
    """In what a function of ours does not take what MLX's signature says."""
    wanted = parameters(theirs)
    found = list(ours.parameters.values())
    if method:  # whatever we call it, `self` comes first
        wanted, found = wanted[1:], found[1:]
    names = [n for n, _, _ in wanted]
    if any(p.kind is REST for p in found) and not any(k is REST for _, k, _ in wanted):
        return [f"takes *{next(p.name for p in found if p.kind is REST)}"]
    out = []
    if [p.name for p in found][:len(names)] != names and any(
            k is not POSITIONAL and n not in [p.name for p in found] for n, k, _ in wanted):
        out.append(f"names {[p.name for p in found]}, not {names}")
        return out
    order = [p.name for p in found if p.name in names]
    if order != [n for n in names if n in order]:
        out.append(f"order {order}, not {names}")
    for i, (name, kind, default) in enumerate(wanted):
        p = ours.parameters.get(name) or (found[i] if i < len(found) else None)
        if p is None:
            out.append(f"lacks {name}")
            continue
        allowed = {POSITIONAL: (POSITIONAL, EITHER), EITHER: (EITHER,), KEYWORD: (KEYWORD, EITHER),
                   REST: (REST,), NAMED_REST: (NAMED_REST,)}[kind]
        if p.kind not in allowed:
            out.append(f"{name} is {p.kind.description}, not {kind.description}")
        if default is inspect.Parameter.empty:
            continue
        if p.default is inspect.Parameter.empty:
            out.append(f"{name} has no default")
        elif default is not NO_LITERAL and plain(p.default) != plain(default):
            out.append(f"{name}={p.default!r}, not {default!r}")
    more = [p.name for p in found[len(names):] if p.default is inspect.Parameter.empty
            and p.kind not in (REST, NAMED_REST) and p.name not in names]
    if more:
        out.append(f"needs {more}")
    return out


def signature_of(value: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(value)
    except (TypeError, ValueError):
        return None


# In these groups the signature of a class is that of its `__init__`.
KINDS = {"nn": ("function", "class"), "optimizers": ("function", "class")}


def signatures() -> list[tuple[str, str, str]]:
    """(group, name, signature text) for all names that are there and have one."""
    return [(group, name, entry["signature"][0]) for group in GROUPS
            for name, entry in SURFACE[group].items()
            if entry["kind"] in KINDS.get(group, ("function", "method")) and entry["signature"]
            and hasattr(owner(group), name)
            and all(n.isidentifier() for n, _, _ in parameters(entry["signature"][0]))]


def test_signatures() -> None:
    found = {}
    for group, name, text in signatures():
        ours = signature_of(getattr(owner(group), name))
        assert ours is not None, (group, name)
        if out := differences(text, ours, group in CLASSES):
            found[f"{group}.{name}"] = "; ".join(out)
    wrong = {k: v for k, v in found.items() if k not in OTHER_SIGNATURE}
    assert not wrong, "\n" + "\n".join(f"{k}: {v}" for k, v in wrong.items())
    assert OTHER_SIGNATURE.keys() - found.keys() == set(), "in OTHER_SIGNATURE, but as MLX's"


def test_signatures_are_read() -> None:
    """The reader of signatures itself."""
    empty = inspect.Parameter.empty
    assert parameters("f(a: x | y, /, b: tuple[int, int] = (1, 2), *, c=None, **k) -> array") == [
        ("a", POSITIONAL, empty), ("b", EITHER, (1, 2)), ("c", KEYWORD, None),
        ("k", NAMED_REST, empty)]
    assert parameters("f(*xs: array, mode: str = 'a, b', d: Dtype = float32)") == [
        ("xs", REST, empty), ("mode", KEYWORD, "a, b"), ("d", KEYWORD, NO_LITERAL)]

    def same(a, /, b=(1, 2), *, c=None, e=5, **k): ...  # type: ignore[no-untyped-def]
    def renamed(a, /, bb=(1, 2), *, c=None, **k): ...  # type: ignore[no-untyped-def]
    def stricter(a, b, *, c, **k): ...  # type: ignore[no-untyped-def]

    text = "f(a, /, b=(1, 2), *, c=None, **k)"
    assert differences(text, inspect.signature(same), False) == []
    assert differences(text, inspect.signature(renamed), False) == [
        "names ['a', 'bb', 'c', 'k'], not ['a', 'b', 'c', 'k']"]
    assert differences(text, inspect.signature(stricter), False) == [
        "b has no default", "c has no default"]
