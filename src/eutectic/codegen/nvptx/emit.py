"""From a `KernelSpec` to the LLVM module of its GPU kernels, and how many threads run them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eutectic.codegen.blocks import Module
from eutectic.codegen.nvptx.kinds import COLUMNS, ColumnKernel, MapKernel, RowKernel
from eutectic.codegen.nvptx.product import THREADS, Product, ProductKernel, VectorKernel
from eutectic.codegen.nvptx.thread import MOST_THREADS, SHARED, WARP, at_once
from eutectic.kernel.reductions import RADIX
from eutectic.kernel.spec import S_K, S_N, S_ND, S_UNITS, KernelSpec, Slots

TRIPLE = "nvptx64-nvidia-cuda"
MAP_THREADS = 256
SHARED_BYTES = 48 << 10
"""Shared memory that every block of threads may have."""
SLOTS = 16
"""Most results of the first level that a block of threads works on at a time."""


@dataclass(frozen=True, slots=True)
class Launch:
    """An entry point of a kernel's module, and its grid."""

    entry: str
    blocks: int
    threads: int
    shared: int
    """Bytes of shared memory."""
    total: int
    """The kernel's second argument: its elements."""


def refusal(spec: KernelSpec) -> str | None:
    """Why a kernel has no GPU code, or None."""
    families = {ins[0].family for ins in spec.instrs}
    if "scan" in families:
        return "a scan has no GPU kernel"
    if "scatter" in families or any(spec.args[a].role == "out" for a, _ops in spec.moved):
        return "a scatter has no GPU kernel: its updates have an order"
    return None


def gpu_spec(spec: KernelSpec) -> KernelSpec:
    """The kernel without what only matters to a CPU."""
    width = spec.lanes if spec.kind in ("row", "units") else 1
    return replace(spec, width=width, parts=1, depth=0, stream=False)


def emit(spec: KernelSpec, name: str, flat: bool) -> tuple[str, list[str]]:
    """The LLVM module of a `gpu_spec`, and the names of its entry points.

    `flat` (of a `map`): there are no outer dimensions.
    """
    m = Module()
    names = [name]
    if spec.kind == "map":
        MapKernel(m, spec, name).main(flat)
    elif spec.kind == "row":
        RowKernel(m, spec, name).rows()
    elif spec.kind == "units":
        names.append(f"{name}_finish")
        RowKernel(m, spec, name).units()
        RowKernel(m, spec, names[1]).finish()
    elif spec.kind == "col":
        ColumnKernel(m, spec, name).columns()
    else:
        ColumnKernel(m, spec, name).short()
    return _module(m, MAP_THREADS if spec.kind in ("map", "short") else MOST_THREADS), names


def emit_product(p: Product, name: str) -> tuple[str, list[str]]:
    """The LLVM module of a matrix product, and the name of its entry point."""
    m = Module()
    (ProductKernel if p.side else VectorKernel)(m, p, name).main()
    return _module(m, THREADS), [name]


def _module(m: Module, most: int) -> str:
    return "\n".join([
        f'target triple = "{TRIPLE}"',
        f"{SHARED} = external addrspace(3) global [0 x i8], align 16",
        *sorted(m.declares), *m.functions,
        f'attributes #0 = {{ nounwind "nvvm.maxntid"="{most}" }}', ""])


def is_flat(spec: KernelSpec, params: Sequence[int]) -> bool:
    """Whether a `map` with these parameters has no outer dimensions."""
    return spec.kind == "map" and not params[S_ND]


def launches(spec: KernelSpec, names: Sequence[str], params: Sequence[int], total: int,
             rows: int = 0) -> list[Launch]:
    """How a `gpu_spec` with these parameters runs: `total` as the step's range on the CPU has it,
    in elements, rows or units, and `rows` that a `units` kernel ends.
    """
    if spec.kind == "map":
        return [_grid(names[0], total, MAP_THREADS * at_once(spec), MAP_THREADS, 0, total)]
    n, depth = params[S_N], params[S_K]
    each = 8 * _accumulators(spec)
    if spec.kind == "row":
        return [_slotted(names[0], total, spec.lanes, -(-n // spec.lanes), each)]
    if spec.kind == "units":
        return [_slotted(names[0], total, spec.lanes, RADIX * RADIX, each),
                _slotted(names[1], rows, spec.lanes, params[S_UNITS], each)]
    outer = 1
    for d in range(params[S_ND]):
        outer *= params[_outer(spec) + d * (1 + len(spec.args))]
    if spec.kind == "col":
        return [_slotted(names[0], outer * -(-n // COLUMNS), COLUMNS, depth, each)]
    return [_grid(names[0], outer * n, MAP_THREADS, MAP_THREADS, 0, outer * n)]


def _outer(spec: KernelSpec) -> int:
    return Slots.of(spec).outer


def _accumulators(spec: KernelSpec) -> int:
    return sum(len(p.reduction.identity(spec.operand_dtype(ops[0]).compute))
               for p, _a, ops, _d, _l in spec.instrs if p.reduction is not None)


def _slotted(entry: str, blocks: int, lanes: int, length: int, each: int) -> Launch:
    """Threads for sums of `length` blocks on some lanes: slots as can be used, whole warps."""
    slots = max(1, WARP // lanes)
    while (slots < SLOTS and slots * RADIX < length and 2 * slots * lanes <= MOST_THREADS
           and 2 * slots * lanes * each <= SHARED_BYTES):
        slots *= 2
    threads = slots * lanes
    return _grid(entry, blocks, 1, threads, threads * each, blocks)


def _grid(entry: str, total: int, per: int, threads: int, shared: int, elements: int) -> Launch:
    return Launch(entry, -(-total // per), threads, shared, elements)
