"""Random array programs: data that says which operations to apply to which arrays.

A `Program` is text: each step is one Python expression over earlier values, so a program can be
run plainly, compiled, cut in two, and written out as a function that stands alone. The same
generator serves hypothesis (`programs()`) and a seeded `random.Random` (`generate`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

import eutectic.core as mx
from eutectic.dtype import BY_NAME, Dtype
from eutectic.errors import EutecticError, InternalError

Shape = tuple[int, ...]
Reference = Callable[..., Any]
"""NumPy arrays of the operands to (expected, allowed error), or None where it does not apply."""

LIMIT = 80_000
"""Most elements of any value of a program."""
MAX_RANK = 12


@dataclass(frozen=True)
class Source:
    """An input: its type, how its elements are made, and how they lie in memory."""

    dtype: str
    shape: Shape
    layout: str
    flavour: str
    seed: int


@dataclass(frozen=True)
class Step:
    """One value: a Python expression in which `{0}`, `{1}` stand for the operands."""

    text: str
    operands: tuple[int, ...]
    reference: Reference | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Program:
    """Inputs, steps, and which values are results. Values are numbered inputs first."""

    sources: tuple[Source, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    def source_text(self, name: str = "program") -> str:
        """The program as a Python function of its inputs."""
        n = len(self.sources)
        args = ", ".join(f"v{i}" for i in range(n))
        lines = [f"def {name}({args}):"]
        for i, s in enumerate(self.steps):
            lines.append(f"    v{n + i} = " + s.text.format(*[f"v{o}" for o in s.operands]))
        lines.append("    return [" + ", ".join(f"v{o}" for o in self.outputs) + "]")
        return "\n".join(lines) + "\n"

    def function(self) -> Callable[..., list[mx.array]]:
        """The program as a function."""
        names: dict[str, Any] = {"mx": mx, "__name__": "program"}
        exec(self.source_text(), names)
        found: Callable[..., list[mx.array]] = names["program"]
        return found

    def pruned(self) -> Program:
        """Without steps and inputs that no result needs."""
        n = len(self.sources)
        needed = set(self.outputs)
        for i in range(len(self.steps) - 1, -1, -1):
            if n + i in needed:
                needed.update(self.steps[i].operands)
        order = sorted(needed)
        number = {old: new for new, old in enumerate(order)}
        return Program(
            tuple(self.sources[i] for i in order if i < n),
            tuple(replace(self.steps[i - n],
                          operands=tuple(number[o] for o in self.steps[i - n].operands))
                  for i in order if i >= n),
            tuple(number[o] for o in self.outputs))

    def first_part(self, cut: int) -> tuple[Program, list[int]]:
        """The steps before `cut`, and the numbers of the values it returns."""
        n = len(self.sources)
        later = set(self.outputs)
        for s in self.steps[cut:]:
            later.update(s.operands)
        passed = sorted(v for v in later if v < n + cut)
        return Program(self.sources, self.steps[:cut], tuple(passed)), passed

    def second_text(self, cut: int, passed: Sequence[int]) -> str:
        """The steps from `cut` on, as a function of the values that the first part returns."""
        n = len(self.sources)
        lines = ["def program(" + ", ".join(f"v{v}" for v in passed) + "):"]
        for i, s in enumerate(self.steps[cut:], n + cut):
            lines.append(f"    v{i} = " + s.text.format(*[f"v{o}" for o in s.operands]))
        lines.append("    return [" + ", ".join(f"v{o}" for o in self.outputs) + "]")
        return "\n".join(lines) + "\n"


@cache
def expression(text: str) -> Callable[[Sequence[Any]], Any]:
    """A step's text as a function of the list of its operands."""
    operands = [f"v[{i}]" for i in range(8)]
    found: Callable[[Sequence[Any]], Any] = eval(
        f"lambda v: {text.format(*operands)}", {"mx": mx})
    return found


# ---- elements and memory ------------------------------------------------------------------------

def from_numpy(bits: np.ndarray, d: Dtype) -> mx.array:
    """An array of ours with the bytes of a NumPy array (bfloat16: of its uint16)."""
    if d is mx.bfloat16:
        return mx.array(np.array(bits, order="C").view(ml_dtypes.bfloat16))
    return mx.array(bits, d)


def to_numpy(a: mx.array) -> np.ndarray:
    """The elements in NumPy; bfloat16 widened to float32, which is exact."""
    raw = np.frombuffer(bytes(a), a.dtype.np).reshape(a.shape)
    if a.dtype is mx.bfloat16:
        return (raw.astype(np.uint32) << 16).view(np.float32)
    return raw


def elements(dtype: str, count: int, flavour: str, seed: int) -> np.ndarray:
    """`count` elements of a type, as NumPy data of the type's bytes."""
    d = BY_NAME[dtype]
    rng = np.random.default_rng(seed)
    if d is mx.complex64:
        return (elements("float32", 2 * count, flavour, seed)).view(np.complex64)
    if d.name == "bool":
        return rng.integers(0, 2, count).astype(np.bool_)
    if d.is_int:
        info = np.iinfo(d.np)
        if flavour == "bits":
            return rng.integers(info.min, info.max, count, d.np, endpoint=True)
        small = rng.integers(-9 if d.is_signed else 0, 10, count).astype(d.np)
        if flavour == "special":
            extremes = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 31, 32, 64],
                                d.np)
            pick = rng.random(count) < 0.4
            small[pick] = rng.choice(extremes, int(pick.sum()))
        return small
    unsigned = {2: np.uint16, 4: np.uint32, 8: np.uint64}[d.size]
    if flavour == "bits":
        bits = rng.integers(0, np.iinfo(unsigned).max, count, unsigned, endpoint=True)
        return bits.view(d.np)
    real = rng.standard_normal(count)
    if flavour == "wide":
        real *= np.exp2(rng.integers(-30, 30, count))
    with np.errstate(over="ignore"):
        if d is mx.bfloat16:
            out = (real.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        else:
            out = real.astype(d.np).view(unsigned)
    if flavour == "special":
        pick = rng.random(count) < 0.3
        out = np.array(out)
        out[pick] = rng.choice(special_patterns(d), int(pick.sum()))
    return out.view(d.np)


@cache
def special_patterns(d: Dtype) -> np.ndarray:
    """Bit patterns of zeros, subnormals, extremes, infinities, and NaNs with payloads."""
    exponent, mantissa = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23),
                          "float64": (11, 52)}[d.name]
    top = ((1 << exponent) - 1) << mantissa
    quiet = 1 << (mantissa - 1)
    one = ((1 << (exponent - 1)) - 1) << mantissa
    positive = [0, 1, 2, (1 << mantissa) - 1, 1 << mantissa, top - 1, top, top | quiet,
                top | quiet | 5, top | 3, one, one + 1, one - 1]
    sign = 1 << (exponent + mantissa)
    unsigned = {2: np.uint16, 4: np.uint32, 8: np.uint64}[d.size]
    return np.array([*positive, *[p | sign for p in positive]], unsigned)


LAYOUTS = ("plain", "plain", "plain", "transposed", "reversed", "stepped", "broadcast", "offset",
           "rolled")


def make(s: Source) -> tuple[mx.array, mx.array]:
    """(the input as its layout says, the same elements in row-major order)."""
    d = BY_NAME[s.dtype]
    size = math.prod(s.shape)
    layout = s.layout if s.shape and size else "plain"
    if layout == "broadcast":
        kept = tuple(1 if (s.seed >> i) & 1 else n for i, n in enumerate(s.shape))
        small = elements(s.dtype, math.prod(kept), s.flavour, s.seed).reshape(kept)
        strided = mx.broadcast_to(from_numpy(small, d), s.shape)
        values = np.broadcast_to(small, s.shape)
    else:
        values = elements(s.dtype, size, s.flavour, s.seed).reshape(s.shape)
        strided = _laid_out(values, d, layout)
    straight = from_numpy(np.array(values, order="C"), d)
    mx.eval(strided, straight)
    return strided, straight


def _laid_out(values: np.ndarray, d: Dtype, layout: str) -> mx.array:
    rank = values.ndim
    if layout == "transposed":
        return mx.transpose(from_numpy(np.ascontiguousarray(values.T), d))
    if layout == "rolled":
        perm = [*range(1, rank), 0]
        back = [rank - 1, *range(rank - 1)]
        return mx.transpose(from_numpy(np.ascontiguousarray(values.transpose(perm)), d), back)
    if layout == "reversed":
        flipped = np.ascontiguousarray(values[(slice(None, None, -1),) * rank])
        return from_numpy(flipped, d)[(slice(None, None, -1),) * rank]
    if layout in ("stepped", "offset"):
        first, step = (1, 2) if layout == "stepped" else (1, 1)
        big = np.zeros([first + step * n for n in values.shape], d.np)
        where = tuple(slice(first, first + step * n, step) for n in values.shape)
        big[where] = values
        return from_numpy(big, d)[where]
    return from_numpy(values, d)


# ---- generating ---------------------------------------------------------------------------------

_SMALL = (1, 2, 3, 4, 5, 7)
_EDGES = (15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129)
_LONG = (257, 999, 1000, 1023, 1025)
_HUGE = ((20011,), (66000,), (2, 16400), (17000, 2), (150, 150), (3, 129, 65), (300, 70),
         (1, 33000), (16385, 1), (5, 64, 64))


def random_shape(rng: random.Random) -> Shape:
    """A shape: mostly small or around the vector width, sometimes long, empty, or deep."""
    kind = rng.choice(("small", "small", "small", "edge", "edge", "edge", "long", "huge", "zero",
                       "scalar", "deep"))
    if kind == "scalar":
        return ()
    if kind == "small":
        return tuple(rng.choice(_SMALL) for _ in range(rng.randint(1, 4)))
    if kind == "edge":
        shape = [rng.choice(_EDGES) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.3:
            shape.insert(rng.randint(0, len(shape)), rng.choice((1, 2, 3)))
        return tuple(shape)
    if kind == "long":
        shape = [rng.choice(_LONG)]
        if rng.random() < 0.5:
            shape.insert(rng.randint(0, 1), rng.choice((1, 2, 3, 9, 17)))
        return tuple(shape)
    if kind == "huge":
        return rng.choice(_HUGE)
    if kind == "zero":
        shape = [rng.choice(_SMALL) for _ in range(rng.randint(1, 3))]
        shape[rng.randrange(len(shape))] = 0
        return tuple(shape)
    return tuple(rng.choice((1, 2, 2, 3)) for _ in range(rng.randint(8, 10)))


_FLOATS = ("float32", "float32", "float32", "float32", "float16", "bfloat16", "float64")
_INTS = ("int32", "int32", "int64", "uint8", "int8", "int16", "uint16", "uint32", "uint64")


def random_dtype(rng: random.Random) -> str:
    r = rng.random()
    if r < 0.6:
        return rng.choice(_FLOATS)
    if r < 0.85:
        return rng.choice(_INTS)
    return "bool" if r < 0.93 else "complex64"


def random_axis(rng: random.Random, shape: Shape) -> int:
    """An axis of a shape, from either end."""
    axis = rng.randrange(len(shape))
    return axis - len(shape) if rng.random() < 0.3 else axis


class Builder:
    """A program under construction; values are also kept as lazy arrays, for their types."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sources: list[Source] = []
        self.steps: list[Step] = []
        self._inputs: list[mx.array] = []
        self._values: list[mx.array] = []
        self.flavour = rng.choice(("small", "small", "special", "special", "bits", "wide"))
        self.shape = random_shape(rng)
        self.dtype = random_dtype(rng)

    def value(self, i: int) -> mx.array:
        """A value by number: inputs from 0 up, steps from -1 down while inputs may be added."""
        return self._inputs[i] if i >= 0 else self._values[-1 - i]

    def input(self, shape: Shape | None = None, dtype: str | None = None,
              flavour: str | None = None) -> int:
        """Add an input; its number is >= 0."""
        rng = self.rng
        s = Source(dtype or self.dtype, self.shape if shape is None else shape,
                   rng.choice(LAYOUTS), flavour or self.flavour, rng.randrange(1 << 30))
        self.sources.append(s)
        self._inputs.append(mx.zeros(s.shape, BY_NAME[s.dtype]))
        return len(self.sources) - 1

    def emit(self, text: str, *operands: int, reference: Reference | None = None) -> int | None:
        """Add a step (numbers of steps are < 0), or None where the operation refuses it."""
        try:
            result = expression(text)([self.value(o) for o in operands])
        except InternalError:
            raise
        except EutecticError:
            return None
        if not isinstance(result, mx.array) or result.size > LIMIT or result.ndim > MAX_RANK:
            return None
        self.steps.append(Step(text, operands, reference))
        self._values.append(result)
        return -len(self._values)

    def pick(self) -> int:
        """Some value, recent ones more often."""
        rng = self.rng
        if self._values and rng.random() < 0.75:
            back = min(int(rng.random() ** 2 * 5), len(self._values) - 1)
            return -len(self._values) + back
        if not self._inputs:
            return self.input()
        return rng.randrange(len(self._inputs))

    def partner(self, a: int) -> int:
        """A value that broadcasts with `a`, made where there is none."""
        rng = self.rng
        x = self.value(a)
        if rng.random() < 0.7:
            fits = [i for i in (*range(len(self._inputs)), *range(-len(self._values), 0))
                    if _fits(x.shape, self.value(i).shape)]
            if fits:
                return rng.choice(fits)
        shape = x.shape
        r = rng.random()
        if r < 0.25 and shape:
            shape = shape[rng.randrange(len(shape)):]
        if r < 0.4:
            shape = tuple(1 if rng.random() < 0.5 else n for n in shape)
        dtype = x.dtype.name if rng.random() < 0.8 else random_dtype(rng)
        return self.input(shape, dtype)

    def program(self) -> Program:
        n = len(self.sources)

        def number(i: int) -> int:
            return i if i >= 0 else n - 1 - i
        steps = tuple(replace(s, operands=tuple(number(o) for o in s.operands))
                      for s in self.steps)
        rng = self.rng
        used = {o for s in steps for o in s.operands}
        ends = [n + i for i in range(len(steps)) if n + i not in used]
        outputs = [*ends]
        for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
            outputs.append(rng.randrange(n + len(steps)))
        if not outputs:
            outputs = [n + len(steps) - 1]
        rng.shuffle(outputs)
        return Program(tuple(self.sources), steps, tuple(outputs[:8])).pruned()


def _fits(a: Shape, b: Shape) -> bool:
    try:
        return math.prod(np.broadcast_shapes(a, b)) <= LIMIT
    except ValueError:
        return False


def generate(rng: random.Random, length: int | None = None) -> Program:
    """A random program of about `length` steps."""
    from program_steps import random_step  # which needs this module

    b = Builder(rng)
    b.input()
    length = length or rng.choice((1, 2, 3, 4, 5, 6, 8, 10, 14, 20))
    tries = 0
    while len(b.steps) < length and tries < 6 * length:
        tries += 1
        random_step(b)
    if not b.steps:
        b.emit("mx.stop_gradient({0})", 0)
    return b.program()


def programs() -> st.SearchStrategy[Program]:
    """The generator as a strategy: hypothesis shrinks the choices it makes."""
    return st.randoms(use_true_random=False).map(generate)
