"""Running reductions along a row, block by block.

Within a block, log2(width) steps in which lane i meets lane i - 1, i - 2, i - 4, ...; then every
lane meets what was carried from the blocks before. A row shorter than a block gives the same bits
at a smaller width.
"""

from __future__ import annotations

from collections.abc import Sequence

from eutectic.codegen.accumulate import Accumulators, Part
from eutectic.codegen.blocks import Function, splat
from eutectic.kernel.spec import KernelSpec


class Scans:
    """The scans of one pass over a row: their carried values, and the code of a block."""

    def __init__(self, fn: Function, spec: KernelSpec, instrs: Sequence[int], stem: str) -> None:
        self.fn = fn
        self.width = spec.width
        self.accs: dict[int, Accumulators] = {}
        self.carried: dict[int, list[str]] = {}
        self.next: dict[int, list[str]] = {}
        self.inclusive: dict[int, bool] = {}
        for i in instrs:
            prim, attrs, ops, _dtype, _level = spec.instrs[i]
            assert prim.reduction is not None
            part = Part(prim.reduction, spec.operand_dtype(ops[0]).compute)
            self.accs[i] = Accumulators(fn, [part], spec.width)
            self.inclusive[i] = attrs[0]
            self.carried[i] = [f"%{stem}s{i}_{j}" for j in range(len(self.accs[i].types))]
        self._at = 0

    def open(self) -> None:
        """Reserve the lines of the loop-carried values."""
        self._at = len(self.fn.lines)
        self.fn.lines.extend([""] * sum(map(len, self.carried.values())))

    def close(self, pre: str, latch: str) -> None:
        """Write them: (identity before the row, last lanes after each block)."""
        at = self._at
        for i, names in self.carried.items():
            acc = self.accs[i]
            for j, name in enumerate(names):
                self.fn.lines[at] = (f"  {name} = phi {acc.vt(j)} [{acc.identity[j]}, %{pre}], "
                                     f"[{self.next[i][j]}, %{latch}]")
                at += 1

    def block(self, i: int, regs: Sequence[str]) -> tuple[str, ...]:
        """Scan a block's registers; the result's registers."""
        acc, w = self.accs[i], self.width
        current = list(regs)
        step = 1
        while step < w:
            current = acc.combine(self._shifted(acc, current, acc.identity, step), current)
            step *= 2
        total = acc.combine(self.carried[i], current)
        self.next[i] = [self._last(acc, j, r) for j, r in enumerate(total)]
        if self.inclusive[i]:
            return tuple(total)
        return tuple(self._shifted(acc, total, self.carried[i], 1))

    def _shifted(self, acc: Accumulators, regs: Sequence[str], fill: Sequence[str],
                 step: int) -> list[str]:
        """Lane i takes lane i - step; the first lanes take those of `fill`."""
        w = self.width
        lanes = [w + i if i < step else i - step for i in range(w)]
        mask = "<" + ", ".join(f"i32 {k}" for k in lanes) + ">"
        return [self.fn.bind(f"shufflevector {acc.vt(j)} {r}, {acc.vt(j)} {f}, <{w} x i32> {mask}")
                for j, (r, f) in enumerate(zip(regs, fill))]

    def _last(self, acc: Accumulators, j: int, reg: str) -> str:
        one = self.fn.bind(f"extractelement {acc.vt(j)} {reg}, i64 {self.width - 1}")
        return splat(self.fn.emitter(self.width), acc.types[j], one)
