"""Choices of a loop kernel that cost or save time: widths, stores past the caches, ranges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from eutectic.codegen.outline import MIN_COST, MIN_USES
from eutectic.codegen.targets import LINE, STREAM_BYTES
from eutectic.engine.host import host_target
from eutectic.engine.loop_arrays import Array
from eutectic.engine.steps import LoopStep, Token
from eutectic.kernel.reductions import lanes
from eutectic.kernel.spec import (
    S_PART, S_TMP, S_TMP_STRIDE, S_UNITS, Instr, KernelSpec, body_cost, phases)

MAX_THREADS = 64
HEAVY_COST = 60.0
"""Weighted instructions above which kernels on float64 or complex numbers use narrow blocks."""
_CHUNK_COST = 40_000.0
"""Weighted work of the least range worth giving to a thread (about 10 us)."""


def block_width(kind: str, arrays: Sequence[Array], instrs: Sequence[Instr], sums: Sequence[str],
                n: int, rows: int, cost: float) -> int:
    """Elements of a block: fixed by an ordered row reduction, else by the largest type.

    `sums` are the compute types of the kernel's ordered reductions.
    """
    wide = any(a.dtype.size == 8 and a.dtype.compute != "c64" for a in arrays
               if a.role != "iota")
    wide = wide or any(d.size == 8 and d.compute != "c64" for _p, _a, _o, d, _l in instrs)
    width = lanes(sums[-1]) if sums and kind == "row" else (32 if wide else 64)
    if kind == "map" and cost > HEAVY_COST and (wide or any(
            ins[3].is_complex for ins in instrs)):
        width = 16  # LLVM's time grows with the registers a value is split into
    if kind == "short":
        width = 16 if wide or n < 32 else 32  # several partial sums are alive at once
    if kind != "map" or rows > 1:
        while width > 16 and n <= width // 2:
            width //= 2
    return width


def widened(spec: KernelSpec, n: int) -> KernelSpec:
    """The kernel on blocks of twice the lanes, where that fills the time of a long chain."""
    target = host_target()
    if (spec.kind not in ("map", "row", "units") or spec.width != 64 or n < 2 * spec.width
            or target.registers < 32 or target.vector_bits < 512):
        return spec
    return _chain_widened(spec)


@lru_cache(maxsize=1024)
def _chain_widened(spec: KernelSpec) -> KernelSpec:
    """The kernel on blocks of twice the lanes, where it is one long chain of costly operations.

    Each operation waits for the one before it, and 64 lanes are too few to fill the time
    (decision 0009). More than one value alive would not stay in 32 registers.
    """
    uses = Counter([i[0] for i in spec.instrs])
    if max(uses.values(), default=0) < MIN_USES or not any(
            body_cost(prim, attrs, tuple([spec.operand_dtype(o).compute for o in ops])) >= MIN_COST
            for prim, attrs, ops in {i[0]: i[:3] for i in spec.instrs if i[0].body}.values()
            if uses[prim] >= MIN_USES):
        return spec
    base = len(spec.args) + len(spec.scalars)
    last = len(spec.instrs) - 1
    for i, (prim, _attrs, ops, dtype, level) in enumerate(spec.instrs):
        if prim.reduction is not None and i == last:
            continue
        if level != "F" or prim.body is None or dtype.compute != "f32":
            return spec
        varying = [o for o in ops if o >= base or spec.operand_level(o) == "F"]
        if len(varying) != 1 or (varying[0] != base + i - 1 if i else varying[0] >= base):
            return spec
    parts = 1 if spec.kind == "map" else 2
    return replace(spec, width=2 * spec.width, parts=parts)


def unroll(k: int) -> int:
    """Elements in a turn of a `short` kernel's loop; negative where some may be missing."""
    u = 4 if k <= 4 else 8
    return u if k >= u and k & (k - 1) == 0 else -u


def streams(arrays: Sequence[Array], outer: Sequence[int], n_dim: int | None, n: int, rows: int,
            width: int) -> bool:
    """Whether the results should not displace what the caches hold, and may be stored so.

    A store past the caches must be aligned to a cache line: every block of every row.
    """
    outs = [a for a in arrays if a.role == "out" and a.level == "F"]
    if n_dim is None or sum(rows * n * a.dtype.size for a in outs) < STREAM_BYTES:
        return False
    for a in outs:
        size = a.dtype.size
        if (a.strides.get(n_dim) != 1 or a.offset * size % LINE or width * size % LINE
                or any(a.strides.get(d, 0) * size % LINE for d in outer)
                or (rows > 1 and n % width)):
            return False
    return True


def set_range(s: LoopStep, rows: int, n: int, k: int, units: int, cost: float,
              scratch: Callable[[], Token]) -> None:
    """Give a step its range, the least part of it worth a thread, and the memory of threads."""
    spec = s.spec
    per = 1.0 + 0.5 * len(spec.args) + cost
    if spec.kind == "map":
        s.n = rows * n
        step = spec.width
        s.grain = max(step, int(_CHUNK_COST * 4 / per) // step * step)
        return
    if spec.kind == "row":
        s.n = rows
        s.grain = max(1, int(_CHUNK_COST * 4 / (per * n + 40)))
        kept = len(phases(spec).saved)
        if kept:
            size = kept * 8 * (n + 2 * spec.width)
            size = -(-size // 64) * 64
            token = scratch()
            s.scratch[token] = size * MAX_THREADS
            s.patches.append((S_TMP, token, 0))
            s.params[S_TMP_STRIDE] = size
        return
    if spec.kind == "units":
        s.n = rows * units
        s.grain = 1
        s.params[S_UNITS] = units
        accs = sum(len(p.reduction.identity(spec.operand_dtype(ops[0]).compute))
                   for p, _a, ops, _d, _l in spec.instrs if p.reduction is not None)
        token = scratch()
        s.scratch[token] = rows * units * accs * spec.lanes * 8
        s.patches.append((S_PART, token, 0))
        s.finish_rows = rows
        return
    strips = -(-n // spec.width)
    s.n = rows * strips
    s.params[S_UNITS] = strips
    s.grain = max(1, int(_CHUNK_COST * 4 / (per * k * spec.width)))
