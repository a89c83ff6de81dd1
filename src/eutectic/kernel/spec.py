"""Kernels as data: loops around scalar bodies, generic over sizes and strides.

A `KernelSpec` holds everything that machine code depends on and nothing else, so it is the key of
the code caches: a new shape gives the same spec unless the structure of the kernel changes.

Kinds of loops over `outer dims x inner n`:
- `map`: every element on its own; the range given to a thread is in elements.
- `row`: reductions along the inner axis, in phases; the range is in rows.
- `units`: the one-phase `row` with long rows split into units, and a function that combines them.
- `col`: reduction along an axis outside the inner one; the range is in strips of `width` columns.
- `short`: reduction along an innermost axis of at most MAX_SHORT elements; the lanes are different
  rows, so the range is in strips of `width` rows and no lane is wasted.

Operands are numbered through `args`, then `scalars`, then `instrs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from eutectic.dtype import Dtype, bfloat16, float16
from eutectic.kernel.prim import Prim
from eutectic.kernel.scalar import Complex, Value, cost


@dataclass(frozen=True, slots=True)
class Arg:
    """A pointer argument. `access` is 'v' (varies along the inner axis) or 's' (once a row).

    `role` is 'in' or 'out'; or, for values that are computed and not loaded, 'iota' (the pointer
    slot is a number and the strides count) and 'table' (the value is the address of an element,
    as int64: a gather adds to it what its indices say) and 'target' (the same of a scatter).
    """

    dtype: Dtype
    access: str
    role: str
    deep: bool = True
    """Of `col` and `short`: whether it varies along the reduced axis."""

    @property
    def memory(self) -> bool:
        """Whether elements are loaded or stored there by the loop itself."""
        return self.role in ("in", "out")

    def __str__(self) -> str:
        return f"{self.role}.{self.access}{'' if self.deep else '.once'}:{self.dtype.name}"


Instr = tuple[Prim, tuple[Any, ...], tuple[int, ...], Dtype, str]
"""(operation, attributes, operands, dtype, level): level 'F' each element, 'O' once a row/strip."""


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """The structure of a kernel; see the module's text."""

    kind: str
    width: int
    args: tuple[Arg, ...]
    scalars: tuple[Dtype, ...]
    instrs: tuple[Instr, ...]
    stores: tuple[tuple[int, int], ...]
    """(operand, argument) pairs."""
    depth: int = 0
    """Of `short`: elements of the reduced axis in one turn of the loop; negative where the axis'
    length is no power of two."""

    stream: bool = False
    """Whether results go past the caches: they are larger than those, and all blocks aligned."""

    moved: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """(argument, operands of `gather_offset`): arguments whose row address depends on indices."""

    parts: int = 1
    """Blocks of the order of reductions in one of `width`; they are added one after another."""

    @property
    def lanes(self) -> int:
        """Lanes of the accumulators."""
        return self.width // self.parts

    def operand_dtype(self, i: int) -> Dtype:
        if i < len(self.args):
            return self.args[i].dtype
        i -= len(self.args)
        return self.scalars[i] if i < len(self.scalars) else self.instrs[i - len(self.scalars)][3]

    def held(self, i: int) -> Value | Complex:
        """A fresh value for an operand that was computed or loaded before: it says what it holds.

        A bfloat16 in a float32 is stored without rounding, a float16 as it was loaded or chosen:
        a signalling NaN that was only moved stays one.
        """
        d = self.operand_dtype(i)
        scalar = len(self.args) <= i < len(self.args) + len(self.scalars)
        if d is bfloat16 or (d is float16 and not scalar):
            return Value("arg", "f32", (), d.name)
        return operand_value(d.compute)

    def operand_level(self, i: int) -> str:
        if i < len(self.args):
            return "F" if self.args[i].access == "v" else "O"
        i -= len(self.args) + len(self.scalars)
        return "O" if i < 0 else self.instrs[i][4]

    def text(self) -> str:
        """The kernel as text, one instruction a line; equal texts are equal kernels."""
        names = [f"%{i}" for i in range(len(self.args) + len(self.scalars) + len(self.instrs))]
        depth = f" depth {self.depth}" if self.depth else ""
        stream = " stream" if self.stream else ""
        parts = f" parts {self.parts}" if self.parts > 1 else ""
        lines = [f"kernel {self.kind} width {self.width}{parts}{depth}{stream}"]
        lines += [f"  {names[i]} = {a}" for i, a in enumerate(self.args)]
        base = len(self.args)
        lines += [f"  {names[base + i]} = scalar:{d.name}" for i, d in enumerate(self.scalars)]
        base += len(self.scalars)
        for i, (prim, attrs, ops, dtype, level) in enumerate(self.instrs):
            extra = f" {attrs}" if attrs else ""
            operands = " ".join(names[o] for o in ops)
            lines.append(
                f"  {names[base + i]} = {prim.name}{extra} {operands} :{dtype.name} {level}")
        lines += [f"  move {names[a]} by {' '.join(names[o] for o in ops)}"
                  for a, ops in self.moved]
        lines += [f"  store {names[v]} -> {names[a]}" for v, a in self.stores]
        return "\n".join(lines)


MAX_SHORT = 64
"""Longest reduced axis of a `short` kernel: one block of the row class."""

MAX_DIMS = 64
"""Most outer dimensions of a kernel: each is at least 2 long, so that more have over 2^64 rows."""

# Slots of the parameter block (64-bit words); the tables follow the arguments.
S_N, S_ND, S_K, S_TMP, S_TMP_STRIDE, S_UNITS, S_PART, FIRST_ARG = range(8)


@dataclass(frozen=True, slots=True)
class Slots:
    """Where the tables of a spec's parameter block begin."""

    scalars: int
    inner: int
    k: int
    outer: int
    row: int
    """Words an outer dimension takes: its size, then a stride for each argument."""

    @staticmethod
    def of(spec: KernelSpec) -> Slots:
        a, s = len(spec.args), len(spec.scalars)
        inner = FIRST_ARG + a + s
        k = inner + a
        outer = k + (a if spec.kind in ("col", "short") else 0)
        return Slots(FIRST_ARG + a, inner, k, outer, 1 + a)


@dataclass(frozen=True, slots=True)
class Phases:
    """Order of work inside a row: `phase[i]` of each instruction, and what is kept between."""

    phase: tuple[int, ...]
    count: int
    saved: tuple[int, ...]
    """Operands (element level) kept in a row buffer for later phases."""


_RECOMPUTE_COST = 8.0


@lru_cache(maxsize=1024)
def phases(spec: KernelSpec) -> Phases:
    """Assign instructions to passes over the row; a pass may not need a result of itself."""
    base = len(spec.args) + len(spec.scalars)
    phase: list[int] = []
    costs: list[float] = []
    for prim, attrs, ops, _dtype, level in spec.instrs:
        p = max((phase[o - base] for o in ops if o >= base), default=0)
        if prim.family == "reduction":
            p += 1
        phase.append(p)
        own = 0.0
        if prim.family == "scan":
            own = float("inf")  # it depends on all earlier elements: never computed again
        elif level == "F":
            own = instr_cost(spec, prim, attrs, ops)
            own += sum(costs[o - base] for o in ops
                       if o >= base and spec.instrs[o - base][4] == "F" and phase[o - base] == p)
        costs.append(own)
    saved = set()
    last = 0
    for i, (prim, _attrs, ops, _dtype, level) in enumerate(spec.instrs):
        if level != "F" and prim.family != "reduction":
            continue
        at = phase[i] - (prim.family == "reduction")
        last = max(last, at)
        for o in ops:
            if (o >= base and spec.instrs[o - base][4] == "F" and phase[o - base] < at
                    and costs[o - base] > _RECOMPUTE_COST):
                saved.add(o)
    return Phases(tuple(phase), last + 1, tuple(sorted(saved)))


def operand_value(ty: str) -> Value | Complex:
    """A fresh operand of a compute type."""
    if ty == "c64":
        return Complex(Value("arg", "f32"), Value("arg", "f32"))
    return Value("arg", ty)


def roots_of(v: Value | Complex) -> list[Value]:
    return [v.re, v.im] if isinstance(v, Complex) else [v]


_costs: dict[tuple[Prim, tuple[Any, ...], tuple[str, ...]], float] = {}


def body_cost(prim: Prim, attrs: tuple[Any, ...], types: tuple[str, ...]) -> float:
    """Weighted instruction count of an elementwise body on operands of these compute types."""
    key = (prim, attrs, types)
    c = _costs.get(key)
    if c is None:
        assert prim.body is not None
        c = _costs[key] = cost(roots_of(prim.body(*[operand_value(t) for t in types], *attrs)))
    return c


def instr_cost(spec: KernelSpec, prim: Prim, attrs: tuple[Any, ...], ops: tuple[int, ...]) -> float:
    """Weighted instruction count of one instruction (1 for a reduction's step)."""
    if prim.body is None:
        return 1.0
    return body_cost(prim, attrs, tuple([spec.operand_dtype(o).compute for o in ops]))
