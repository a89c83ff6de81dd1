"""LLVM text of a `KernelSpec`: dispatch on its kind."""

from __future__ import annotations

from eutectic.codegen.blocks import Module
from eutectic.codegen.columns import ColumnKernel
from eutectic.codegen.rows import RowKernel
from eutectic.kernel.spec import KernelSpec


def emit(spec: KernelSpec, name: str) -> tuple[str, list[str]]:
    """The LLVM module of a kernel and the names of its entry points."""
    m = Module()
    if spec.kind in ("col", "short"):
        ColumnKernel(m, spec, name).main()
        return m.text(), [name]
    k = RowKernel(m, spec, name)
    k.main()
    if spec.kind == "units":
        RowKernel(m, spec, name + "_finish").finish()
        return m.text(), [name, name + "_finish"]
    return m.text(), [name]
