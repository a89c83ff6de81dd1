"""What a random program may do next: one function a family of operations.

Each picks operands from the builder's values and emits one step or a few, with a NumPy reference
where one is cheap. `references` here take NumPy arrays (bfloat16 widened to float32) and return
(expected, allowed absolute error), or None where NumPy says nothing about the case.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import program_idioms
from programs import Builder, Reference, Shape, random_axis, random_dtype

import eutectic.core as mx
from eutectic.dtype import BY_NAME, Dtype, promote
from eutectic.ops.registry import OPS, Op

EPS = {"float16": 2.0 ** -10, "bfloat16": 2.0 ** -7, "float32": 2.0 ** -23, "float64": 2.0 ** -52,
       "complex64": 2.0 ** -23}


def random_step(b: Builder) -> None:
    """Emit a step, or a few that belong together."""
    family = b.rng.choices(FAMILIES, WEIGHTS)[0]
    family(b)


# ---- elementwise --------------------------------------------------------------------------------

_UNARY = tuple(op for op in OPS.values() if op.arity == 1)
_BINARY = tuple(op for op in OPS.values() if op.arity == 2)
_OTHER = tuple(op for op in OPS.values() if op.arity > 2)
_LIGHT = ("add", "subtract", "multiply", "divide", "negative", "abs", "maximum", "minimum",
          "square", "sqrt", "exp", "tanh", "sigmoid", "greater", "equal", "floor", "logical_and",
          "logical_not", "less_equal", "bitwise_xor", "left_shift", "remainder", "log")


def _elementwise(b: Builder) -> None:
    rng = b.rng
    a = b.pick()
    d = b.value(a).dtype
    # Complex bodies are long, so that the heavy ones come rarely.
    light = rng.random() < (0.9 if d is mx.complex64 else 0.6)
    if rng.random() < 0.45:
        ops = [op for op in _UNARY if op.takes(d) and (op.name in _LIGHT or not light)]
        op = rng.choice(ops)
        b.emit(f"mx.{op.name}({{0}})", a, reference=_scalar_reference(op))
        return
    ops = [op for op in _BINARY if op.takes(d) and (op.name in _LIGHT or not light)]
    op = rng.choice(ops)
    if rng.random() < 0.25:
        c = _number(rng, d)
        text = f"{{0}}, {c}" if rng.random() < 0.7 else f"{c}, {{0}}"
        b.emit(f"mx.{op.name}({text})", a)
        return
    other = b.partner(a)
    if rng.random() < 0.5:
        a, other = other, a
    b.emit(f"mx.{op.name}({{0}}, {{1}})", a, other, reference=_scalar_reference(op))


def _number(rng: random.Random, d: Dtype) -> str:
    if d.is_int or d.name == "bool":
        return repr(rng.choice((0, 1, 2, 3, 7, True)))
    if d is mx.complex64 and rng.random() < 0.3:
        return "1.5j"
    return rng.choice(("0.5", "2.0", "-1.25", "1", "3", "0.0", "-0.0", "1e-3", "1e30", "mx.inf",
                       "mx.nan", "0.1", "0.10000001", "True"))


def _scalar_reference(op: Op) -> Reference | None:
    if op.reference is None:
        return None

    def reference(xs: list[np.ndarray], types: list[Dtype], out: Dtype) -> Any:
        d = types[0]
        for t in types[1:]:
            d = promote(d, t)
        d = op.computes(d)
        if d.is_complex or op.name in ("power", "logaddexp"):
            return None  # cancellation, and orders of NumPy's own: covered op by op elsewhere
        if any(t.is_float and not t.is_half and d is not t for t in types):
            return None  # a conversion that rounds or leaves the range comes before
        work = np.float32 if d.is_half else d.np
        with np.errstate(all="ignore"):
            converted = []
            for x, t in zip(xs, types):
                if d.is_half and t is not d and not t.is_half:
                    return None
                converted.append(x.astype(work))
            if op.ulp > 1 and work == np.float32:
                converted = [x.astype(np.float64) for x in converted]
            converted = list(np.broadcast_arrays(*converted))
            if converted[0].size == 0:
                return None
            expected = np.asarray(op.reference(*converted))
        eps = EPS.get(out.name)
        if eps is None:
            return (expected, 0) if not (d.is_float or d.is_complex) or op.ulp == 0 else None
        if not np.all(np.isfinite(expected) | np.isnan(expected) | np.isinf(expected)):
            return None
        tiny = {"float16": 2.0 ** -24, "bfloat16": 2.0 ** -133, "float32": 2.0 ** -149,
                "float64": 2.0 ** -1074}[out.name]
        if op.name in ("remainder", "floor_divide") and d is mx.float64 and np.any(
                np.abs(converted[0]) > np.abs(converted[1]) * 2.0 ** 490):
            return None  # exact for smaller quotients only, as its documentation says
        if op.name == "erfinv" and d is mx.float64:
            return None  # of float32's accuracy, like the reference itself
        if op.name == "sigmoid":
            tiny = max(tiny, 2.0 ** -1022)  # NumPy's formula overflows for a subnormal result
        ulps = (op.ulp + 2) if not d.is_half else 1
        if d is mx.float64:
            ulps = 8
        with np.errstate(all="ignore"):
            bound = np.abs(expected.astype(np.float64)) * eps * ulps + tiny * (ulps + 1)
        return expected, bound
    return reference


def _choose(b: Builder) -> None:
    rng = b.rng
    x = b.pick()
    kind = rng.choice(("where", "where", "clip", "astype", "astype", "nan_to_num", "isclose"))
    d = b.value(x).dtype
    if kind == "where":
        y = b.partner(x)
        if rng.random() < 0.5:
            c = b.emit("mx.greater({0}, {1})", x, y)
        else:
            c = b.partner(x)
        if c is not None:
            b.emit("mx.where({0}, {1}, {2})", c, x, y)
    elif kind == "clip":
        low, high = rng.choice((("0", "3"), ("None", "2"), ("-1", "None"), ("1", "1")))
        b.emit(f"mx.clip({{0}}, {low}, {high})", x)
    elif kind == "astype":
        to = random_dtype(rng)
        b.emit(f"{{0}}.astype(mx.{BY_NAME[to].name.replace('bool', 'bool_')})", x,
               reference=_cast_reference)
    elif kind == "nan_to_num":
        b.emit("mx.nan_to_num({0})", x)
    elif d.is_float:
        b.emit("mx.isclose({0}, {1}, equal_nan=True)", x, b.partner(x))


def _cast_reference(xs: list[np.ndarray], types: list[Dtype], out: Dtype) -> Any:
    x, d = xs[0], types[0]
    if out is mx.bfloat16 or d is mx.complex64:
        return None
    if (d.is_float and out.is_int) and not np.all(np.abs(x.astype(np.float64)) < 100):
        return None
    if d.is_float and out.is_int and not out.is_signed and not np.all(x >= 0):
        return None
    with np.errstate(all="ignore"):
        return x.astype(out.np), 0


# ---- views and joins ----------------------------------------------------------------------------

def _view(b: Builder) -> None:
    rng = b.rng
    a = b.pick()
    shape = b.value(a).shape
    kind = rng.choice(("reshape", "reshape", "transpose", "transpose", "slice", "slice", "slice",
                       "broadcast_to", "expand_dims", "squeeze", "flatten", "swapaxes", "moveaxis",
                       "flip", "bits"))
    if kind == "reshape":
        _exact(b, f"mx.reshape({{0}}, {_factored(rng, math.prod(shape))})", a)
    elif kind == "broadcast_to":
        front = tuple(rng.choice((1, 2, 3)) for _ in range(rng.randint(0, 2)))
        to = (*front, *[rng.choice((2, 3, 17)) if n == 1 else n for n in shape])
        _exact(b, f"mx.broadcast_to({{0}}, {to})", a)
    elif kind == "expand_dims":
        _exact(b, f"mx.expand_dims({{0}}, {rng.randint(0, len(shape))})", a)
    elif kind == "squeeze":
        _exact(b, "mx.squeeze({0})", a)
    elif kind == "bits":
        to = rng.choice(("uint8", "int32", "float32", "uint16", "float16", "bfloat16", "int64",
                         "float64"))
        b.emit(f"mx.view({{0}}, mx.{to})", a)
    elif not shape:
        b.emit("mx.flatten({0})", a)
    elif kind == "transpose":
        perm = list(range(len(shape)))
        if rng.random() < 0.5:
            rng.shuffle(perm)
        else:
            perm.reverse()
        _exact(b, f"mx.transpose({{0}}, {perm})", a)
    elif kind == "slice":
        _exact(b, f"{{0}}[{', '.join(_slice(rng, n) for n in shape)}]", a)
    elif kind == "flatten":
        i, j = sorted((rng.randrange(len(shape)), rng.randrange(len(shape))))
        b.emit(f"mx.flatten({{0}}, {i}, {j})", a)
    elif kind == "flip":
        _exact(b, f"mx.flip({{0}}, {random_axis(rng, shape)})", a)
    else:
        _exact(b, f"mx.{kind}({{0}}, {random_axis(rng, shape)}, {random_axis(rng, shape)})", a)


def _exact(b: Builder, text: str, *operands: int) -> int | None:
    """A step that NumPy writes in the same words and that moves elements only."""
    code = compile(text.replace("mx.", "np.").format(*[f"v[{i}]" for i in range(4)]), text, "eval")

    def reference(xs: list[np.ndarray], types: list[Dtype], out: Dtype) -> Any:
        if any(t is not types[0] for t in types):
            return None
        return eval(code, {"np": np, "v": xs}), 0
    return b.emit(text, *operands, reference=reference)


def _factored(rng: random.Random, size: int) -> Shape:
    """A random shape of `size` elements."""
    if size == 0:
        return rng.choice(((0,), (0, 3), (2, 0), (1, 0, 5)))
    out = []
    rest = size
    for p in (2, 2, 2, 3, 3, 5, 7, 11, 13, 2, 2):
        if rest % p == 0 and rng.random() < 0.5:
            if out and rng.random() < 0.5:
                out[-1] *= p
            else:
                out.append(p)
            rest //= p
    out.append(rest)
    if rng.random() < 0.3:
        out.insert(rng.randint(0, len(out)), 1)
    rng.shuffle(out)
    return tuple(out[:10]) if math.prod(out[:10]) == size else (size,)


def _slice(rng: random.Random, n: int) -> str:
    kind = rng.choice(("all", "all", "range", "range", "step", "back", "index", "none"))
    if kind == "all" or n == 0:
        return ":"
    if kind == "index":
        return str(rng.randrange(-n, n))
    if kind == "none":
        return "None, :"
    first = rng.randrange(n)
    last = rng.randint(first, n) if rng.random() < 0.2 else rng.randint(min(first + 1, n), n)
    if kind == "range":
        return f"{first}:{last}"
    step = rng.choice((1, 2, 2, 3, 5))
    if kind == "step":
        return f"{first}:{last}:{step}"
    return f"::-{step}" if rng.random() < 0.5 else f"{last - 1}:{first or ''}:-{step}"


def _join(b: Builder) -> None:
    rng = b.rng
    a = b.pick()
    shape = b.value(a).shape
    kind = rng.choice(("concatenate", "concatenate", "stack", "split", "pad", "tile", "repeat",
                       "roll", "halves"))
    if kind in ("concatenate", "stack"):
        same = [i for i in (*range(len(b.sources)), *range(-len(b.steps), 0))
                if b.value(i).shape == shape]
        parts = [a, *[rng.choice(same) if rng.random() < 0.6 else
                      b.input(shape, b.value(a).dtype.name) for _ in range(rng.randint(0, 2))]]
        names = ", ".join(f"{{{i}}}" for i in range(len(parts)))
        axis = rng.randint(0, len(shape)) if kind == "stack" else random_axis(rng, shape or (1,))
        _exact(b, f"mx.{kind}([{names}], axis={axis})", *parts)
    elif not shape:
        return
    elif kind == "split":
        axis = rng.randrange(len(shape))
        n = shape[axis]
        if rng.random() < 0.5:
            counts = [c for c in (1, 2, 3, 4, 5) if n % c == 0]
            count = rng.choice(counts)
            text, take = str(count), rng.randrange(count)
        else:
            at = sorted(rng.randint(0, n) for _ in range(2))
            text, take = str(at), rng.randrange(3)
        first = _exact(b, f"mx.split({{0}}, {text}, axis={axis})[{take}]", a)
        if first is not None and rng.random() < 0.5:
            _exact(b, f"mx.split({{0}}, {text}, axis={axis})[0]", a)
    elif kind == "halves":
        # The rotation of position embeddings: halves swapped, one negated.
        n = shape[-1]
        low = _exact(b, f"{{0}}[..., :{n // 2}]", a)
        high = b.emit(f"mx.negative({{0}}[..., {n // 2}:])", a)
        if low is not None and high is not None:
            b.emit("mx.concatenate([{0}, {1}], axis=-1)", high, low)
    elif kind == "pad":
        widths = [(rng.randint(0, 3), rng.randint(0, 2)) for _ in shape]
        if rng.random() < 0.7:
            value = rng.choice(("0", "1", "2"))
            _exact(b, f"mx.pad({{0}}, {widths}, constant_values={value})", a)
        else:
            _exact(b, f"mx.pad({{0}}, {widths}, 'edge')", a)
    elif kind == "tile":
        reps = tuple(rng.choice((1, 1, 2, 3)) for _ in range(rng.randint(1, len(shape) + 1)))
        _exact(b, f"mx.tile({{0}}, {reps})", a)
    elif kind == "repeat":
        _exact(b, f"mx.repeat({{0}}, {rng.randint(0, 3)}, axis={random_axis(rng, shape)})", a)
    else:
        _exact(b, f"mx.roll({{0}}, {rng.randint(-5, 70)}, {random_axis(rng, shape)})", a)


# ---- reductions ---------------------------------------------------------------------------------

_SUMS = ("sum", "sum", "sum", "mean", "prod", "var", "std", "logsumexp")
_PICKS = ("max", "max", "min", "all", "any", "argmax", "argmin", "count_nonzero")


def _reduce(b: Builder) -> None:
    rng = b.rng
    a = b.pick()
    shape = b.value(a).shape
    name = rng.choice(_SUMS if rng.random() < 0.6 else _PICKS)
    axis: int | Shape | None = None
    if shape and rng.random() < 0.8:
        axis = random_axis(rng, shape)
        if name not in ("argmax", "argmin") and len(shape) > 1 and rng.random() < 0.4:
            count = rng.randint(1, len(shape))
            axis = tuple(sorted(rng.sample(range(len(shape)), count)))
    keep = rng.random() < 0.4
    r = b.emit(f"mx.{name}({{0}}, axis={axis}, keepdims={keep})", a,
               reference=_reduction_reference(name, axis, keep))
    # What commonly follows: the whole array against its reduced form.
    if r is not None and keep and rng.random() < 0.6:
        b.emit(f"mx.{rng.choice(('subtract', 'divide', 'multiply', 'less'))}({{0}}, {{1}})", a, r)


def _softmax(b: Builder) -> None:
    rng = b.rng
    a = b.pick()
    shape = b.value(a).shape
    if not shape:
        return
    kind = rng.choice(("op", "hand", "norm", "rms", "batch", "entropy", "range"))
    axis = rng.choice((-1, -1, -1, random_axis(rng, shape)))
    if kind == "op":
        b.emit(f"mx.softmax({{0}}, axis={axis})", a)
        return
    if kind == "hand":
        top = b.emit(f"mx.max({{0}}, axis={axis}, keepdims=True)", a)
        if top is None:
            return
        e = b.emit("mx.exp(mx.subtract({0}, {1}))", a, top)
        if e is None:
            return
        total = b.emit(f"mx.sum({{0}}, axis={axis}, keepdims=True)", e)
        if total is not None:
            b.emit("mx.divide({0}, {1})", e, total)
    elif kind in ("norm", "batch"):
        if kind == "batch":
            axis = 0
        residual = b.emit("mx.add({0}, {1})", a, b.partner(a))
        if residual is None:
            return
        m = b.emit(f"mx.mean({{0}}, axis={axis}, keepdims=True)", residual)
        v = b.emit(f"mx.var({{0}}, axis={axis}, keepdims=True)", residual)
        if m is None or v is None:
            return
        scale = b.input((b.value(residual).shape[-1],), flavour="small")
        b.emit("mx.multiply(mx.multiply(mx.subtract({0}, {1}), mx.rsqrt(mx.add({2}, 1e-5))), {3})",
               residual, m, v, scale)
    elif kind == "rms":
        m = b.emit(f"mx.mean(mx.square({{0}}), axis={axis}, keepdims=True)", a)
        if m is not None:
            b.emit("mx.multiply({0}, mx.rsqrt(mx.add({1}, 1e-5)))", a, m)
    elif kind == "entropy":
        lse = b.emit(f"mx.logsumexp({{0}}, axis={axis}, keepdims=True)", a)
        if lse is not None:
            n = shape[axis]
            hot = b.emit(f"mx.sum(mx.where(mx.equal(mx.arange({n}), {n // 2}), {{0}}, 0.0), "
                         "axis=-1, keepdims=True)", a)
            if hot is not None:
                b.emit("mx.subtract({0}, {1})", lse, hot)
    else:
        low = b.emit("mx.min({0})", a)
        high = b.emit("mx.max({0})", a)
        if low is not None and high is not None:
            b.emit("mx.divide(mx.subtract({0}, {1}), mx.subtract({2}, {1}))", a, low, high)


def _reduction_reference(name: str, axis: Any, keep: bool) -> Reference:
    def reference(xs: list[np.ndarray], types: list[Dtype], out: Dtype) -> Any:
        x, d = xs[0], types[0]
        if x.size == 0 or d.is_complex:
            return None
        if name in ("max", "min", "all", "any", "argmax", "argmin"):
            f = getattr(np, name)
            return f(x, axis=axis, keepdims=keep), 0
        if name == "count_nonzero":
            return np.count_nonzero(x, axis=axis, keepdims=keep), 0
        if name not in ("sum", "mean"):
            return None
        if d.is_int or d.name == "bool":
            if name == "mean":
                return None
            return np.sum(x, axis=axis, keepdims=keep, dtype=out.np), 0
        wide = x.astype(np.float64)
        if not np.all(np.abs(wide) < 1e4):  # false for nan too
            return None
        count = x.size / max(1, np.sum(wide, axis=axis).size)
        f = np.sum if name == "sum" else np.mean
        expected = f(wide, axis=axis, keepdims=keep)
        size = f(np.abs(wide), axis=axis, keepdims=keep)
        if np.any(size > 6e4):
            return None
        # Sixteen additions a level, and a rounding of the result.
        work = EPS["float32"] if d is not mx.float64 else EPS["float64"]
        levels = 1 + math.log(max(count, 16), 16)
        return expected, size * work * 16 * levels + np.abs(expected) * EPS[out.name] + 1e-7
    return reference


# ---- products -----------------------------------------------------------------------------------

def _matmul(b: Builder) -> None:
    rng = b.rng
    a = b.pick()
    x = b.value(a)
    if not (x.dtype.is_float or x.dtype.is_complex) or not x.shape or 0 in x.shape:
        a = b.input(rng.choice(((4, 5), (17, 33), (64,), (2, 3, 16), (65, 127))),
                    rng.choice(("float32", "float16", "bfloat16", "float64")))
        x = b.value(a)
    k = x.shape[-1]
    n = rng.choice((1, 2, 5, 16, 17, 33, 64, 65))
    if math.prod(x.shape) * n > 3_000_000:
        return
    kind = rng.choice(("plain", "plain", "transposed", "vector", "batched", "self", "left"))
    dtype = x.dtype.name
    if kind == "vector":
        y = b.input((k,), dtype)
        p = b.emit("mx.matmul({0}, {1})", a, y, reference=_product_reference)
    elif kind == "transposed":
        y = b.input((n, k), dtype)
        p = b.emit("mx.matmul({0}, mx.transpose({1}))", a, y)
    elif kind == "batched":
        front = x.shape[:-2] if rng.random() < 0.5 else (rng.choice((1, 2, 3)),)
        y = b.input((*front, k, n), dtype)
        p = b.emit("mx.matmul({0}, {1})", a, y, reference=_product_reference)
    elif kind == "self" and len(x.shape) >= 2:
        p = b.emit("mx.matmul({0}, mx.swapaxes({0}, -1, -2))", a)
    elif kind == "left" and len(x.shape) >= 2:
        y = b.input((n, x.shape[-2]), dtype)
        p = b.emit("mx.matmul({1}, {0})", a, y)
    else:
        y = b.input((k, n), dtype)
        p = b.emit("mx.matmul({0}, {1})", a, y, reference=_product_reference)
    if p is None:
        return
    end = rng.choice(("none", "bias", "act", "residual", "addmm", "two"))
    shape = b.value(p).shape
    if end == "bias" and shape:
        bias = b.input((shape[-1],), dtype)
        b.emit("mx.maximum(mx.add({0}, {1}), 0)", p, bias)
    elif end == "act":
        b.emit("mx.multiply({0}, mx.sigmoid(mx.abs({0})))", p)
    elif end == "residual":
        r = b.input(shape, dtype)
        s = b.emit("mx.add({0}, {1})", p, r)
        if s is not None:
            b.emit("mx.multiply({0}, {1})", s, p)
    elif end == "addmm" and len(x.shape) >= 2:
        y = b.input((k, n), dtype)
        c = b.input((n,), dtype)
        b.emit("mx.addmm({2}, {0}, {1}, 2.0, 0.5)", a, y, c)
    elif end == "two":
        b.emit("mx.sum({0}, axis=-1)" if shape else "mx.exp({0})", p)
        b.emit("mx.multiply({0}, 0.5)", p)


def _product_reference(xs: list[np.ndarray], types: list[Dtype], out: Dtype) -> Any:
    x, y = xs
    if types[0] is not types[1] or out.is_complex:
        return None
    x, y = x.astype(np.float64), y.astype(np.float64)
    if not (np.all(np.abs(x) < 1e3) and np.all(np.abs(y) < 1e3)):
        return None
    expected, size = np.matmul(x, y), np.matmul(np.abs(x), np.abs(y))
    if np.any(size > 6e4):
        return None
    work = EPS["float64"] if out is mx.float64 else EPS["float32"]
    return expected, size * work * (x.shape[-1] + 2) + np.abs(expected) * EPS[out.name] + 1e-7


_WEIGHTED = (
    (_elementwise, 40), (_choose, 10), (_view, 18), (_join, 8), (_reduce, 16), (_softmax, 7),
    (_matmul, 5), (program_idioms.draw, 4), (program_idioms.optimizer, 1),
    (program_idioms.attention, 1), (program_idioms.difference, 2), (program_idioms.along, 9),
    (program_idioms.joined, 5))
FAMILIES = [f for f, _w in _WEIGHTED]
WEIGHTS = [w for _f, w in _WEIGHTED]
