"""Costly bodies that occur often in one kernel become a function of its module.

Twenty inlined copies of tanh take LLVM most of the first call; twenty calls of one copy take a
sixth of that and run as fast, since a call moves whole vectors in registers (decision 0004).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from eutectic.codegen.blocks import Element, Function, Module
from eutectic.codegen.scalars import vector_type
from eutectic.dtype import Dtype
from eutectic.kernel.prim import Prim
from eutectic.kernel.rounding import rounded
from eutectic.kernel.scalar import Value
from eutectic.kernel.spec import KernelSpec, body_cost

MIN_COST = 14.0
"""Weighted instructions below which a call would cost more than the body."""
MIN_USES = 3

_Key = tuple[Prim, tuple[Any, ...], tuple[str, ...], Dtype]


class Outliner:
    """Decides and emits the functions of one kernel at one width."""

    def __init__(self, m: Module, spec: KernelSpec) -> None:
        self.m = m
        self.width = spec.width
        uses: Counter[_Key] = Counter()
        for prim, attrs, ops, dtype, level in spec.instrs:
            if prim.body is not None and level == "F":
                types = tuple([spec.operand_dtype(o).compute for o in ops])
                if "c64" not in (*types, dtype.compute):
                    uses[prim, attrs, types, dtype] += max(1, abs(spec.depth))
        self.names: dict[_Key, str | None] = {
            k: None for k, n in uses.items()
            if n >= MIN_USES and body_cost(k[0], k[1], k[2]) >= MIN_COST}

    def apply(self, prim: Prim, attrs: tuple[Any, ...], operands: Sequence[Element],
              dtype: Dtype) -> Element:
        """The operation's value, rounded to its dtype: inlined, or a call."""
        if self.names:
            key = (prim, attrs, tuple([v.ty for v in operands]), dtype)
            if key in self.names:
                name = self.names[key] or self._define(key)
                return Value("call", dtype.compute, tuple(operands), name)  # type: ignore[arg-type]
        assert prim.body is not None
        return rounded(prim.body(*operands, *attrs), dtype)

    def _define(self, key: _Key) -> str:
        prim, attrs, types, dtype = key
        name = f"@op{self.m.next_id()}_{prim.name}"
        self.names[key] = name
        f = Function(self.m)
        args = [Value("arg", t) for t in types]
        f.start("entry")
        e = f.emitter(self.width)
        assert prim.body is not None
        result = rounded(prim.body(*args, *attrs), dtype)
        bound = {id(a): f"%a{i}" for i, a in enumerate(args)}
        [reg] = e.body([result], bound)  # type: ignore[list-item]
        vt = vector_type(dtype.compute, self.width)
        f.line(f"ret {vt} {reg}")
        params = ", ".join(f"{vector_type(t, self.width)} %a{i}" for i, t in enumerate(types))
        text = "\n".join(f.lines)
        self.m.functions.append(f"define internal fastcc {vt} {name}({params}) #0 {{\n{text}\n}}")
        return name
