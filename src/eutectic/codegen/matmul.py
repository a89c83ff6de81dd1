"""Matrix products: LLVM text of C = A @ B for every shape, layout and thread count.

Each element of C is one chain acc = fma(a[i, k], b[k, j], acc) in increasing k from +0.0 (complex:
see `Numeric.multiply_add`; integers wrap around), rounded once to the output's dtype. Blocking
stores and reloads accumulators exactly, so it never changes a bit.

The structure is Goto's: operands packed into panels, a block of C at a time by a thread, a
microkernel on a tile of registers. `matmul_plan` decides the blocking, the code here obeys it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

from eutectic.codegen.matmul_kernel import copy_rows, microkernel, tile_function
from eutectic.codegen.matmul_pack import pack
from eutectic.codegen.matmul_plan import (PANEL_PAD, PARAMS, SLOTS, Plan, Slot, Source, make_plan,
                                           plan_slots)
from eutectic.codegen.matmul_text import Fn, entry_offset, get, module
from eutectic.codegen.matmul_types import NUMERICS, Numeric, Tile, tile_for
from eutectic.codegen.matvec import matvec_functions, matvec_plan
from eutectic.codegen.targets import Target

__all__ = ["PARAMS", "SLOTS", "MatmulVariant", "Plan", "Slot", "emit", "make_plan", "params",
           "select", "workspace_bytes"]

PACK_PANELS = 8
PACK_DEPTH = 256
_RANGE_ARGS = ("ptr %p", "i64 %lo", "i64 %hi", "i64 %tid")


@dataclass(frozen=True, slots=True)
class MatmulVariant:
    """What decides the machine code of a product: the dtype and 'mm' or 'mv'; never sizes."""

    dtype: str
    kind: str


def select(m: int, n: int, k: int) -> str:
    """The kind of a product by its logical shape: 'mv' (fixed lanes) or 'mm' (one chain).

    >>> select(1, 5, 7), select(5, 1, 7), select(2, 2, 0)
    ('mv', 'mv', 'mm')
    """
    return "mv" if m == 1 or n == 1 else "mm"


def plan_for(variant: MatmulVariant, target: Target, m: int, n: int, k: int, batch: int,
             threads: int) -> Plan:
    """The blocking that `params` and `workspace_bytes` agree on."""
    planner = matvec_plan if variant.kind == "mv" else make_plan
    return planner(variant.dtype, target, m, n, k, batch, threads)


def workspace_bytes(variant: MatmulVariant, target: Target, m: int, n: int, k: int, batch: int = 1,
                    threads: int = 1) -> int:
    """Bytes of scratch memory (64-byte aligned) that the product needs."""
    return plan_for(variant, target, m, n, k, batch, threads).bytes


def params(variant: MatmulVariant, target: Target, m: int, n: int, k: int, *,
           a: int = 0, b: int = 0, c: int = 0, a_strides: tuple[int, int] | None = None,
           b_strides: tuple[int, int] | None = None, c_row: int | None = None, batch: int = 1,
           a_offsets: int = 0, b_offsets: int = 0, c_batch: int | None = None, workspace: int = 0,
           epilogue: int = 0, epilogue_params: int = 0, threads: int = 1) -> list[int]:
    """The parameter slots of one product; pointers and strides may be replaced at each call."""
    a_strides = (k, 1) if a_strides is None else a_strides
    b_strides = (n, 1) if b_strides is None else b_strides
    return [a, b, c, m, n, k, *a_strides, *b_strides, n if c_row is None else c_row, batch,
            a_offsets, b_offsets, m * n if c_batch is None else c_batch, workspace, epilogue,
            epilogue_params, *plan_slots(plan_for(variant, target, m, n, k, batch, threads))]


@lru_cache(maxsize=64)
def emit(variant: MatmulVariant, target: Target) -> tuple[str, str]:
    """LLVM text of a variant and the name of its entry, which is unique by content."""
    numeric = NUMERICS[variant.dtype]
    if variant.kind == "mv":
        functions = matvec_functions(numeric, target)
    else:
        tile = tile_for(numeric, target)
        functions = [microkernel("kernel_tall", numeric, tile, tile.rows, tile.vectors),
                     microkernel("kernel_slim", numeric, tile, tile.rows, 1),
                     microkernel("kernel_few", numeric, tile, tile.few, tile.vectors),
                     copy_rows(numeric, tile, target), tile_function(numeric, tile),
                     pack(numeric, tile), _pack_range(numeric, tile), _finish(numeric, tile),
                     _block(numeric, tile), _blocks(), _driver("entry", numeric, tile)]
    text = module(functions, target.attributes, ["declare void @ev_parallel(ptr, ptr, i64, i64)"])
    name = f"{variant.kind}_{variant.dtype}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    names = "|".join(f.name for f in functions)
    # Every function is named by the content, so that modules can be joined.
    return re.sub(rf"@({names})\b", rf"@{name}_\1", text), f"{name}_entry"


def put(f: Fn, slot: Slot, value: str | int) -> None:
    f.store("i64", value, f.at("%p", int(slot)), 8)


def _pack_range(numeric: Numeric, tile: Tile) -> Fn:
    """Packs the shared units lo to hi: those of A, then those of B.

    A unit is PACK_PANELS panels wide and PACK_DEPTH deep: long enough rows to read, and enough
    units for many threads.
    """
    f = Fn("pack_range", _RANGE_ARGS)
    units_a, batch = get(f, Slot.A_UNITS), get(f, Slot.BATCH_BASE)
    depth, k0 = get(f, Slot.DEPTH), get(f, Slot.K_BASE)
    space = get(f, Slot.WORKSPACE, "ptr")
    with f.loop("%lo", "%hi") as unit:
        is_a = f.cmp("slt", unit.i, units_a)

        def pick(a: Slot, b: Slot, ty: str = "i64") -> str:
            return f.load(ty, f.at("%p", f.select(is_a, int(a), int(b))), 8)

        index = f.sub(unit.i, f.select(is_a, 0, units_a))
        width = f.select(is_a, tile.rows, tile.columns)
        across, along = pick(Slot.A_ROW, Slot.B_COL), pick(Slot.A_COL, Slot.B_ROW)
        start, count = pick(Slot.ROW_BASE, Slot.COLUMN_BASE), pick(Slot.ROWS, Slot.COLUMNS)
        array = pick(Slot.A, Slot.B, "ptr")
        panels = f.at(space, f.select(is_a, 0, get(f, Slot.WS_B)), "i8")
        group = f.mul(width, PACK_PANELS)
        groups = f.ceil_div(count, group)
        part = f.div(index, groups)
        first = f.mul(f.sub(index, f.mul(part, groups)), group)
        k = f.mul(part, PACK_DEPTH)
        rows, deep = f.min(f.sub(count, first), group), f.min(f.sub(depth, k), PACK_DEPTH)
        table = pick(Slot.A_OFFSETS, Slot.B_OFFSETS, "ptr")
        origin = f.add(f.mul(f.add(start, first), across), f.mul(f.add(k0, k), along))
        source = f.at(array, f.add(origin, entry_offset(f, table, batch)), numeric.elem)
        pitch = f.mul(width, f.add(depth, PANEL_PAD))
        lead = f.add(f.mul(first, f.add(depth, PANEL_PAD)), f.mul(k, width))
        to = f.at(panels, f.mul(lead, numeric.planes), numeric.acc)
        f.call("void", "pack", f"ptr {source}", f"i64 {across}", f"i64 {along}", f"i64 {rows}",
               f"i64 {deep}", f"ptr {to}", f"i64 {width}",
               f"i64 {f.mul(pitch, numeric.planes)}")
    return f


def _finish(numeric: Numeric, tile: Tile) -> Fn:
    """A block of C is final: round widened accumulators, hand the rows to the epilogue."""
    f = Fn("finish", ("ptr %p", "ptr %c", "ptr %acc", "i64 %ld", "i64 %m", "i64 %n", "i64 %batch",
                      "i64 %row", "i64 %column", "i64 %tid"))
    if numeric.widened:
        c_row = get(f, Slot.C_ROW)
        half = f.v("lshr i64 %ld, 1")
        whole = f.v(f"and i64 %n, -{tile.lanes}")
        with f.loop(0, "%m", 1, [("ptr", "%c"), ("ptr", "%acc")]) as i:
            to, source = i.values
            for start, stop, width in (("0", whole, tile.lanes), (whole, "%n", 1)):
                with f.loop(start, stop, width) as j:
                    planes = []
                    for p in range(numeric.planes):
                        spot = f.at(source, j.i, numeric.acc)
                        spot = f.at(spot, half, numeric.acc) if p else spot
                        ty = numeric.acc if width == 1 else f"<{width} x {numeric.acc}>"
                        planes.append(f.load(ty, spot, numeric.acc_size))
                    numeric.write(f, f.at(to, j.i, numeric.elem), width, planes)
            i.carry(f.at(to, c_row, numeric.elem), f.at(source, "%ld", numeric.acc))
    epilogue, inner = get(f, Slot.EPILOGUE, "ptr"), get(f, Slot.EPILOGUE_PARAMS, "ptr")
    f.leave_if(f.v(f"icmp eq ptr {epilogue}, null"))
    total = get(f, Slot.N)
    first = f.add(f.mul(f.add(f.mul("%batch", get(f, Slot.M)), "%row"), total), "%column")
    whole_rows = f.cmp("eq", "%n", total)
    times = f.select(whole_rows, 1, "%m")
    length = f.select(whole_rows, f.mul("%m", total), "%n")
    with f.loop(0, times, 1, [("i64", first)]) as i:
        begin = i.values[0]
        f.put(f"call void {epilogue}(ptr {inner}, i64 {begin}, i64 {f.add(begin, length)}, "
              "i64 %tid)")
        i.carry(f.add(begin, total))
    return f


def _block(numeric: Numeric, tile: Tile) -> Fn:
    """Computes block number %task of C in the current span."""
    f = Fn("block", ("ptr %p", "i64 %task", "i64 %tid"))
    acc, elem = numeric.acc, numeric.elem
    blocks_n, blocks_m = get(f, Slot.COLUMN_BLOCKS), get(f, Slot.ROW_BLOCKS)
    # A thread's share of the tasks lies side by side: whole lines of one kind, the even one.
    down = f.cmp("ne", get(f, Slot.DOWN), 0)
    inner, outer = f.select(down, blocks_m, blocks_n), f.select(down, blocks_n, blocks_m)
    line = f.div("%task", inner)
    across = f.sub("%task", f.mul(line, inner))
    entry = f.div(line, outer)
    along = f.sub(line, f.mul(entry, outer))
    bi, bj = f.select(down, across, along), f.select(down, along, across)
    batch = f.add(entry, get(f, Slot.BATCH_BASE))
    i0, j0 = f.mul(bi, get(f, Slot.ROW_BLOCK)), f.mul(bj, get(f, Slot.COLUMN_BLOCK))
    m = f.min(f.sub(get(f, Slot.ROWS), i0), get(f, Slot.ROW_BLOCK))
    n = f.min(f.sub(get(f, Slot.COLUMNS), j0), get(f, Slot.COLUMN_BLOCK))
    row, column = f.add(i0, get(f, Slot.ROW_BASE)), f.add(j0, get(f, Slot.COLUMN_BASE))
    depth, k0 = get(f, Slot.DEPTH), get(f, Slot.K_BASE)
    ars, acs = get(f, Slot.A_ROW), get(f, Slot.A_COL)
    brs, bcs = get(f, Slot.B_ROW), get(f, Slot.B_COL)
    a_at = f.add(f.mul(row, ars), f.mul(k0, acs))
    b_at = f.add(f.mul(k0, brs), f.mul(column, bcs))
    a_at = f.add(a_at, entry_offset(f, get(f, Slot.A_OFFSETS, "ptr"), batch))
    b_at = f.add(b_at, entry_offset(f, get(f, Slot.B_OFFSETS, "ptr"), batch))
    a_array = f.at(get(f, Slot.A, "ptr"), a_at, elem)
    b_array = f.at(get(f, Slot.B, "ptr"), b_at, elem)
    c_row = get(f, Slot.C_ROW)
    c_at = f.add(f.mul(batch, get(f, Slot.C_BATCH)), f.add(f.mul(row, c_row), column))
    c_array = f.at(get(f, Slot.C, "ptr"), c_at, elem)

    space = get(f, Slot.WORKSPACE, "ptr")
    own = f.at(f.at(space, get(f, Slot.WS_THREADS), "i8"),
               f.mul("%tid", get(f, Slot.WS_THREAD_SIZE)), "i8")
    own_b = f.at(own, get(f, Slot.WS_THREAD_B), "i8")
    own_c = f.at(own, get(f, Slot.WS_THREAD_C), "i8")
    panels_b = f.at(space, get(f, Slot.WS_B), "i8")
    if numeric.widened:
        c = own_c
        padded = f.mul(f.ceil_div(get(f, Slot.COLUMN_BLOCK), tile.columns), tile.columns)
        ldc = f.mul(padded, numeric.planes)
    else:
        c, ldc = c_array, c_row

    a_from, b_from = get(f, Slot.A_FROM), get(f, Slot.B_FROM)
    a_shared, b_shared = (f.cmp("eq", x, int(Source.SHARED)) for x in (a_from, b_from))
    a_local = f.cmp("eq", a_from, int(Source.LOCAL))
    a_direct = f.cmp("eq", a_from, int(Source.DIRECT))
    b_direct = f.both(f.cmp("eq", b_from, int(Source.DIRECT)), f.cmp("eq", bcs, 1))
    b_local = f.v(f"xor i1 {f.either(b_shared, b_direct)}, true")
    spaced = f.add(depth, PANEL_PAD)
    starting = f.cmp("ne", get(f, Slot.FIRST), 0)
    k_block = get(f, Slot.K_BLOCK)
    steps = f.max(f.ceil_div(depth, k_block), 1)
    with f.loop(0, steps) as s:
        done = f.mul(s.i, k_block)
        kc = f.min(f.sub(depth, done), k_block)
        first = f.both(starting, f.cmp("eq", s.i, 0))
        a_now = f.at(a_array, f.mul(done, acs), elem)
        b_now = f.at(b_array, f.mul(done, brs), elem)
        with f.when(a_local):
            f.call("void", "pack", f"ptr {a_now}", f"i64 {ars}", f"i64 {acs}", f"i64 {m}",
                   f"i64 {kc}", f"ptr {own}", f"i64 {tile.rows}",
                   f"i64 {f.mul(kc, tile.rows * numeric.planes)}")
        with f.when(b_local):
            f.call("void", "pack", f"ptr {b_now}", f"i64 {bcs}", f"i64 {brs}", f"i64 {n}",
                   f"i64 {kc}", f"ptr {own_b}", f"i64 {tile.columns}",
                   f"i64 {f.mul(kc, tile.columns * numeric.planes)}")
        # A packed panel of A starts `lead` elements into the panels for row 0 of the block and
        # `pitch` further for each row.
        a_pitch = f.mul(f.select(a_shared, spaced, kc), numeric.planes)
        a_lead = f.select(a_shared, f.add(f.mul(i0, a_pitch),
                                          f.mul(done, tile.rows * numeric.planes)), 0)
        a_panels = f.at(f.select(a_shared, space, own, "ptr"), a_lead, acc)
        b_pitch = f.mul(f.select(b_shared, spaced, kc), numeric.planes)
        b_lead = f.select(b_shared, f.add(f.mul(j0, b_pitch),
                                          f.mul(done, tile.columns * numeric.planes)), 0)
        b_panels = f.at(f.select(b_shared, panels_b, own_b, "ptr"), b_lead, acc)
        with f.loop(0, n, tile.columns) as jr:
            width = f.min(f.sub(n, jr.i), tile.columns)
            b, bks = f.at(b_panels, f.mul(jr.i, b_pitch), acc), str(tile.columns * numeric.planes)
            if numeric.direct:
                in_place = f.at(b_now, f.mul(jr.i, bcs), elem)
                whole = f.cmp("eq", width, tile.columns)
                edge = f.both(b_direct, f.v(f"xor i1 {whole}, true"))
                b = f.select(edge, own_b, b, "ptr")
                with f.when(edge):
                    # A row's last columns: vector loads in place would leave the array.
                    f.call("void", "pack", f"ptr {in_place}", f"i64 {bcs}", f"i64 {brs}",
                           f"i64 {width}", f"i64 {kc}", f"ptr {own_b}", f"i64 {tile.columns}",
                           "i64 0")
                reads = f.both(b_direct, whole)
                b, bks = f.select(reads, in_place, b, "ptr"), f.select(reads, brs, bks)
            c_tile = f.at(c, jr.i, acc)
            tall = f.mul(f.div(m, tile.rows), tile.rows)
            for start, stop, height in ((0, tall, tile.rows), (tall, m, tile.few)):
                with f.loop(start, stop, height) as ir:
                    rows: str | int = tile.rows
                    panel, within = ir.i, "0"
                    if height == tile.few:
                        rows = f.min(f.sub(m, ir.i), tile.few)
                        panel, within = tall, f.sub(ir.i, tall)
                    packed = f.at(f.at(a_panels, f.mul(panel, a_pitch), acc), within, acc)
                    a, rs, cs = packed, "1", str(tile.rows * numeric.planes)
                    if numeric.direct:
                        in_place = f.at(a_now, f.mul(ir.i, ars), elem)
                        direct = a_direct
                        if height == tile.few:
                            short = f.both(a_direct, f.cmp("slt", rows, tile.few))
                            with f.when(short):
                                # The missing rows may lie outside the array.
                                f.call("void", "pack", f"ptr {in_place}", f"i64 {ars}",
                                       f"i64 {acs}", f"i64 {rows}", f"i64 {kc}", f"ptr {own}",
                                       f"i64 {tile.few}", "i64 0")
                            direct = f.both(a_direct, f.v(f"xor i1 {short}, true"))
                            a = f.select(short, own, a, "ptr")
                            cs = f.select(short, tile.few, cs)
                        a = f.select(direct, in_place, a, "ptr")
                        rs, cs = f.select(direct, ars, rs), f.select(direct, acs, cs)
                    f.call("void", "tile", f"i64 {rows}", f"i64 {width}", f"ptr {own_c}",
                           f"ptr {a}", f"i64 {rs}", f"i64 {cs}", f"ptr {b}", f"i64 {bks}",
                           f"ptr {f.at(c_tile, f.mul(ir.i, ldc), acc)}", f"i64 {ldc}",
                           f"i64 {kc}", f"i1 {first}")
    with f.when(f.cmp("ne", get(f, Slot.LAST), 0)):
        f.call("void", "finish", "ptr %p", f"ptr {c_array}", f"ptr {c}", f"i64 {ldc}", f"i64 {m}",
               f"i64 {n}", f"i64 {batch}", f"i64 {row}", f"i64 {column}", "i64 %tid")
    return f


def _blocks() -> Fn:
    """The blocks lo to hi."""
    f = Fn("blocks", _RANGE_ARGS)
    with f.loop("%lo", "%hi") as task:
        f.call("void", "block", "ptr %p", f"i64 {task.i}", "i64 %tid")
    return f


def _driver(name: str, numeric: Numeric, tile: Tile) -> Fn:
    """The entry: spans of the product in turn, each packed and then multiplied by all threads."""
    f = Fn(name, ("ptr %params", "i64 %lo", "i64 %hi", "i64 %tid"), internal=False)
    f.put(f"%p = alloca [{SLOTS} x i64], align 64")
    with f.loop(0, PARAMS) as i:
        f.store("i64", f.load("i64", f.at("%params", i.i), 8), f.at("%p", i.i), 8)
    m, n, k, count = (get(f, s) for s in (Slot.M, Slot.N, Slot.K, Slot.BATCH))
    a_shared = f.cmp("eq", get(f, Slot.A_FROM), int(Source.SHARED))
    b_shared = f.cmp("eq", get(f, Slot.B_FROM), int(Source.SHARED))
    shared = f.either(a_shared, b_shared)
    span_m, span_n, span_k = (get(f, s) for s in (Slot.ROW_SPAN, Slot.COLUMN_SPAN, Slot.K_SPAN))
    block_m, block_n = get(f, Slot.ROW_BLOCK), get(f, Slot.COLUMN_BLOCK)
    grain = get(f, Slot.GRAIN)
    # Shared panels serve one batch entry at a time; otherwise all entries form one range.
    with f.loop(0, count, f.select(shared, 1, f.max(count, 1))) as entry:
        put(f, Slot.BATCH_BASE, entry.i)
        entries = f.select(shared, 1, count)
        with f.loop(0, n, span_n) as j:
            columns = f.min(f.sub(n, j.i), span_n)
            put(f, Slot.COLUMN_BASE, j.i)
            put(f, Slot.COLUMNS, columns)
            put(f, Slot.COLUMN_BLOCKS, f.ceil_div(columns, block_n))
            with f.loop(0, f.max(k, 1), span_k) as s:
                depth = f.min(f.sub(k, s.i), span_k)
                put(f, Slot.K_BASE, s.i)
                put(f, Slot.DEPTH, depth)
                put(f, Slot.FIRST, f.v(f"zext i1 {f.cmp('eq', s.i, 0)} to i64"))
                last = f.cmp("sge", f.add(s.i, span_k), k)
                put(f, Slot.LAST, f.v(f"zext i1 {last} to i64"))
                with f.loop(0, m, span_m) as i:
                    rows = f.min(f.sub(m, i.i), span_m)
                    put(f, Slot.ROW_BASE, i.i)
                    put(f, Slot.ROWS, rows)
                    blocks_m = f.ceil_div(rows, block_m)
                    put(f, Slot.ROW_BLOCKS, blocks_m)
                    with f.when(shared):
                        parts = f.ceil_div(depth, PACK_DEPTH)
                        groups_a = f.ceil_div(rows, tile.rows * PACK_PANELS)
                        groups_b = f.ceil_div(columns, tile.columns * PACK_PANELS)
                        fresh = f.both(b_shared, f.cmp("eq", i.i, 0))
                        units_a = f.select(a_shared, f.mul(groups_a, parts), 0)
                        units_b = f.select(fresh, f.mul(groups_b, parts), 0)
                        put(f, Slot.A_UNITS, units_a)
                        f.call("void", "ev_parallel", "ptr @pack_range", "ptr %p",
                               f"i64 {f.add(units_a, units_b)}", "i64 1")
                    blocks_n = f.ceil_div(columns, block_n)
                    tasks = f.mul(f.mul(blocks_m, blocks_n), entries)
                    alone = f.cmp("sle", tasks, grain)
                    with f.when(alone):
                        f.call("void", "blocks", "ptr %p", "i64 0", f"i64 {tasks}", "i64 %tid")
                    with f.otherwise(alone):
                        f.call("void", "ev_parallel", "ptr @blocks", "ptr %p", f"i64 {tasks}",
                               f"i64 {grain}")
    return f
