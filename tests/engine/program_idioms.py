"""What a random program may do next: draws, indices, and pieces of programs that people write."""

from __future__ import annotations

from programs import Builder, random_axis


def draw(b: Builder) -> None:
    rng = b.rng
    seed = rng.randrange(100)
    shape = b.shape if rng.random() < 0.7 else tuple(rng.choice((1, 3, 16)) for _ in range(2))
    kind = rng.choice(("uniform", "normal", "bernoulli", "randint", "dropout", "arange", "full",
                       "eye", "split"))
    d = rng.choice(("float32", "float16", "bfloat16"))
    if kind == "arange":
        # Uses no operand: a leaf of the graph.
        b.emit(f"mx.multiply(mx.arange({rng.choice((1, 5, 17, 64, 1000))}), 3)")
    elif kind == "full":
        b.emit(f"mx.full({shape}, {rng.choice(('1', '0.5', '-0.0', 'mx.nan'))})")
    elif kind == "eye":
        b.emit(f"mx.tril(mx.ones(({rng.choice((3, 17))}, 16)), {rng.randint(-2, 2)})")
    elif kind == "split":
        b.emit(f"mx.random.split(mx.random.key({seed}), {rng.randint(1, 5)})")
    elif kind == "dropout":
        a = b.pick()
        text = (f"mx.where(mx.random.bernoulli(0.7, {b.value(a).shape}, "
                f"key=mx.random.key({seed})), mx.divide({{0}}, 0.7), 0.0)")
        b.emit(text, a)
    elif kind == "randint":
        b.emit(f"mx.random.randint(-3, 9, {shape}, mx.{rng.choice(('int32', 'int8', 'int64'))}, "
               f"key=mx.random.key({seed}))")
    elif kind == "bernoulli":
        b.emit(f"mx.random.bernoulli(0.3, {shape}, key=mx.random.key({seed}))")
    elif kind == "uniform":
        b.emit(f"mx.random.uniform(-1.0, 2.0, {shape}, mx.{d}, key=mx.random.key({seed}))")
    else:
        b.emit(f"mx.random.normal({shape}, mx.{d}, key=mx.random.key({seed}))")


def optimizer(b: Builder) -> None:
    """An update of several parameters at once: many independent results."""
    rng = b.rng
    shape = b.shape
    for _ in range(rng.randint(1, 3)):
        p, g, m = (b.input(shape, "float32") for _ in range(3))
        m2 = b.emit("mx.add(mx.multiply({0}, 0.9), mx.multiply({1}, 0.1))", m, g)
        if m2 is None:
            return
        b.emit("mx.subtract({0}, mx.multiply({1}, 0.01))", p, m2)
        if rng.random() < 0.5:
            shape = tuple(reversed(shape))


def attention(b: Builder) -> None:
    rng = b.rng
    heads, length, width = rng.choice(((1, 5, 8), (2, 17, 16), (3, 33, 8)))
    d = rng.choice(("float32", "float32", "float16", "bfloat16"))
    q, k, v = (b.input((length, heads * width), d, "small") for _ in range(3))
    parts = [b.emit(f"mx.transpose(mx.reshape({{0}}, ({length}, {heads}, {width})), (1, 0, 2))", x)
             for x in (q, k, v)]
    if any(p is None for p in parts):
        return
    scores = b.emit(f"mx.multiply(mx.matmul({{0}}, mx.swapaxes({{1}}, -1, -2)), {width ** -0.5})",
                    parts[0], parts[1])  # type: ignore[arg-type]
    if scores is None:
        return
    if rng.random() < 0.5:
        scores = b.emit(f"mx.where(mx.tril(mx.ones(({length}, {length}), mx.bool_)), {{0}}, "
                        "-mx.inf)", scores)
    if scores is None:
        return
    weights = b.emit("mx.softmax({0}, axis=-1)", scores)
    if weights is None:
        return
    out = b.emit("mx.matmul({0}, {1})", weights, parts[2])  # type: ignore[arg-type]
    if out is not None:
        b.emit(f"mx.reshape(mx.transpose({{0}}, (1, 0, 2)), ({length}, {heads * width}))", out)


_CUTS = ("1:", ":-1", "::2", "::-1", "..., 1:")


def joined(b: Builder) -> None:
    """Computed parts side by side, and what reads the whole: kernels are cut where parts meet."""
    rng = b.rng
    a = b.pick()
    shape = b.value(a).shape
    if not shape:
        return
    axis = random_axis(rng, shape)
    made = [b.emit(f"mx.{rng.choice(('exp', 'square', 'tanh', 'sqrt'))}({{0}})", a), a]
    kind = rng.choice(("two", "three", "pad", "pad", "edge", "roll", "stack", "inner"))
    if made[0] is None:
        return
    first: int = made[0]
    pads = [(rng.randint(0, 2), rng.randint(0, 2)) for _ in shape]
    if kind in ("pad", "edge"):
        mode = "mode='edge'" if kind == "edge" else f"constant_values={rng.choice((0, 1, 3))}"
        whole = b.emit(f"mx.pad({{0}}, {pads}, {mode})", first)
    elif kind == "roll":
        whole = b.emit(f"mx.roll({{0}}, {rng.randint(1, 5)}, {axis})", first)
    elif kind == "stack":
        whole = b.emit(f"mx.stack([{{0}}, {{1}}], axis={rng.randint(0, len(shape))})", first, a)
    elif kind == "inner":
        inner = b.emit(f"mx.concatenate([{{0}}, {{1}}], axis={axis})", first, a)
        whole = None if inner is None else b.emit(
            f"mx.concatenate([{{1}}, {{0}}], axis={axis})", inner, a)
    else:
        parts = "{0}, {1}, {0}" if kind == "three" else "{0}, {1}"
        whole = b.emit(f"mx.concatenate([{parts}], axis={axis})", first, a)
    if whole is None:
        return
    shape = b.value(whole).shape
    for _ in range(rng.randint(1, 2)):
        how = rng.choice(("scale", "partner", "transpose", "slice", "flat", "reduce", "softmax",
                          "differ", "again", "outer"))
        new: int | None = None
        if how == "scale":
            new = b.emit("mx.add(mx.multiply({0}, 2), 1)", whole)
        elif how == "partner":
            new = b.emit("mx.multiply({0}, {1})", whole, b.partner(whole))
        elif how == "transpose":
            order = rng.sample(range(len(shape)), len(shape))
            new = b.emit(f"mx.sqrt(mx.transpose({{0}}, {order}))", whole)
        elif how == "slice":
            new = b.emit(f"mx.tanh({{0}}[{rng.choice(_CUTS)}])", whole)
        elif how == "flat":
            new = b.emit("mx.exp(mx.reshape({0}, (-1,)))", whole)
        elif how == "reduce":
            at = random_axis(rng, shape)
            new = b.emit(f"mx.{rng.choice(('sum', 'max', 'mean', 'argmax', 'cumsum'))}({{0}}, "
                         f"axis={at})", whole)
        elif how == "softmax":
            new = b.emit(f"mx.softmax({{0}}, axis={random_axis(rng, shape)})", whole)
        elif how == "differ":
            new = b.emit("mx.subtract({0}[1:], {0}[:-1])", whole)
        elif how == "outer":
            new = b.emit("mx.multiply(mx.expand_dims({0}, 0), mx.ones((3,) + (1,) * "
                         f"{len(shape)}))", whole)
        else:
            new = b.emit(f"mx.concatenate([mx.tanh({{0}}), {{0}}], axis={axis})", whole)
        if new is None or not b.value(new).shape:
            return
        if rng.random() < 0.7:
            whole, shape = new, b.value(new).shape
        if not -len(shape) <= axis < len(shape):
            axis = 0


def difference(b: Builder) -> None:
    """Overlapping views of one value meet."""
    rng = b.rng
    a = b.pick()
    shape = b.value(a).shape
    if not shape or shape[-1] < 3:
        return
    kind = rng.choice(("steps", "ends", "transposed"))
    if kind == "steps":
        b.emit("mx.subtract({0}[..., 1:], {0}[..., :-1])", a)
    elif kind == "ends":
        b.emit("mx.add({0}, {0}[..., ::-1])", a)
    elif len(shape) >= 2 and shape[-1] == shape[-2]:
        b.emit("mx.add({0}, mx.swapaxes({0}, -1, -2))", a)


def along(b: Builder) -> None:
    """Scans, sorting, and elements chosen by indices."""
    rng = b.rng
    a = b.pick()
    x = b.value(a)
    shape = x.shape
    if not shape or 0 in shape:
        return
    axis = random_axis(rng, shape)
    n = shape[axis]
    kind = rng.choice(("scan", "scan", "take", "take", "along", "rows", "set", "add", "sort",
                       "diag"))
    if kind == "scan":
        name = rng.choice(("cumsum", "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"))
        flags = f"reverse={rng.random() < 0.3}, inclusive={rng.random() < 0.7}"
        s = b.emit(f"mx.{name}({{0}}, axis={axis}, {flags})", a)
        if s is not None and rng.random() < 0.4:
            b.emit("mx.multiply({0}, {1})", s, a)
    elif kind == "sort":
        b.emit(f"mx.{rng.choice(('sort', 'argsort'))}({{0}}, axis={axis})", a)
    elif kind == "diag":
        b.emit("mx.diagonal({0})" if len(shape) > 1 else "mx.diag({0}[:40])", a)
    else:
        count = rng.choice((1, 2, 5, 17, 64, 70))
        picks = [rng.randrange(-n, n) for _ in range(min(count, 70))]
        if kind == "take":
            b.emit(f"mx.take({{0}}, mx.array({picks}), axis={axis})", a)
        elif kind == "along" and len(shape) > 1:
            i = b.emit(f"mx.argsort({{0}}, axis={axis})", a)
            if i is not None:
                b.emit(f"mx.take_along_axis({{0}}, {{1}}, axis={axis})", a, i)
        elif kind == "rows":
            picks = [p % shape[0] for p in picks]
            b.emit(f"mx.multiply({{0}}[mx.array({picks})], 2)", a)
        elif kind in ("set", "add"):
            picks = [p % shape[0] for p in picks]
            rest = shape[1:]
            u = b.input((len(picks), *rest), x.dtype.name)
            how = "add" if kind == "add" else rng.choice(("multiply", "maximum", "minimum"))
            b.emit(f"{{0}}.at[mx.array({picks})].{how}({{1}})", a, u)
