"""Packing: operand blocks into panels that the microkernel reads in order.

A panel of width w holds, for each k, w elements (a column of A, or a row of B), converted to the
accumulator type and padded with zeros; a second plane follows the first within each k.
"""

from __future__ import annotations

from eutectic.codegen.matmul_text import Fn
from eutectic.codegen.matmul_types import Numeric, Tile, vec

PANEL_ARGS = ("ptr %src", "i64 %rs", "i64 %ks", "i64 %rows", "i64 %k", "ptr %dst", "i64 %w")
_GROUP = 4  # rows transposed at a time; both panel widths are multiples of it, or packed singly


def pack_panel(numeric: Numeric, tile: Tile) -> Fn:
    """dst[k, r] = src[r*rs + k*ks] for r < rows, 0 for rows <= r < w; strides in elements."""
    f = Fn("pack_panel", PANEL_ARGS)
    size = numeric.acc_size
    stride = f.mul("%w", numeric.planes)
    by_four = f.v(f"and i64 %rows, -{_GROUP}")
    along_rows = f.cmp("eq", "%rs", 1)
    with f.when(along_rows):
        _copy_rows(f, numeric, tile.lanes, stride, by_four)
    with f.otherwise(along_rows):
        begin: str | int = 0
        if numeric.planes == 1:
            along_k = f.cmp("eq", "%ks", 1)
            begin = f.select(along_k, by_four, 0)
            with f.when(along_k):
                _transpose(f, numeric, max(tile.lanes, _GROUP), stride, by_four)
        with f.loop(0, "%k") as k:
            source = f.at("%src", f.mul(k.i, "%ks"), numeric.elem)
            to = f.at("%dst", f.mul(k.i, stride), numeric.acc)
            with f.loop(begin, "%rows") as r:
                planes = numeric.read(f, f.at(source, f.mul(r.i, "%rs"), numeric.elem), 1)
                _put(f, numeric, f.at(to, r.i, numeric.acc), 1, planes)
    with f.when(f.cmp("slt", "%rows", "%w")):
        with f.loop(0, "%k") as k:
            to = f.at("%dst", f.mul(k.i, stride), numeric.acc)
            with f.loop("%rows", "%w") as r:
                spot = f.at(to, r.i, numeric.acc)
                for p in range(numeric.planes):
                    plane = f.at(spot, "%w", numeric.acc) if p else spot
                    f.store(numeric.acc, numeric.zero(1), plane, size)
    return f


def _put(f: Fn, numeric: Numeric, spot: str, n: int, planes: list[str]) -> None:
    for p, value in enumerate(planes):
        plane = f.at(spot, "%w", numeric.acc) if p else spot
        f.store(vec(numeric.acc, n), value, plane, numeric.acc_size)


def _copy_rows(f: Fn, numeric: Numeric, lanes: int, stride: str, by_four: str) -> None:
    """The panel's rows are neighbours in memory: vector copies."""
    wide = f.v(f"and i64 %rows, -{lanes}")
    with f.loop(0, "%k", 1, [("ptr", "%src"), ("ptr", "%dst")]) as k:
        source, to = k.values
        for start, stop, n in ((0, wide, lanes), (wide, by_four, _GROUP), (by_four, "%rows", 1)):
            with f.loop(start, stop, n) as r:
                planes = numeric.read(f, f.at(source, r.i, numeric.elem), n)
                _put(f, numeric, f.at(to, r.i, numeric.acc), n, planes)
        k.carry(f.at(source, "%ks", numeric.elem), f.at(to, stride, numeric.acc))


def _transpose(f: Fn, numeric: Numeric, n: int, stride: str, by_four: str) -> None:
    """k is contiguous: four rows and n values of k at a time, in 4x4 blocks."""
    wide = vec(numeric.acc, n)
    blocks = range(0, n, _GROUP)
    low = [g + i for g in blocks for i in (0, n, 1, n + 1)]
    high = [g + i for g in blocks for i in (2, n + 2, 3, n + 3)]
    front = [g + i for g in blocks for i in (0, 1, n, n + 1)]
    back = [g + i for g in blocks for i in (2, 3, n + 2, n + 3)]

    def shuffle(a: str, b: str, order: list[int]) -> str:
        mask = ", ".join(f"i32 {i}" for i in order)
        return f.v(f"shufflevector {wide} {a}, {wide} {b}, <{len(order)} x i32> <{mask}>")

    whole = f.v(f"and i64 %k, -{n}")
    with f.loop(0, by_four, _GROUP) as r:
        first = f.at("%src", f.mul(r.i, "%rs"), numeric.elem)
        rows = [first]
        for _ in range(_GROUP - 1):
            rows.append(f.at(rows[-1], "%rs", numeric.elem))
        column = f.at("%dst", r.i, numeric.acc)
        with f.loop(0, whole, n) as k:
            x = [numeric.read(f, f.at(row, k.i, numeric.elem), n)[0] for row in rows]
            top = shuffle(x[0], x[1], low), shuffle(x[2], x[3], low)
            end = shuffle(x[0], x[1], high), shuffle(x[2], x[3], high)
            quads = [shuffle(*top, front), shuffle(*top, back), shuffle(*end, front),
                     shuffle(*end, back)]
            spot = f.at(column, f.mul(k.i, stride), numeric.acc)
            for g in blocks:
                for quad in quads:
                    part = shuffle(quad, "poison", list(range(g, g + _GROUP)))
                    f.store(vec(numeric.acc, _GROUP), part, spot, numeric.acc_size)
                    spot = f.at(spot, stride, numeric.acc)
        with f.loop(whole, "%k") as k:
            spot = f.at(column, f.mul(k.i, stride), numeric.acc)
            for q, row in enumerate(rows):
                value = numeric.read(f, f.at(row, k.i, numeric.elem), 1)[0]
                f.store(numeric.acc, value, f.at(spot, q, numeric.acc), numeric.acc_size)


def pack_block(numeric: Numeric) -> Fn:
    """Packs consecutive panels: dst[panel][k, w] from `rows` rows."""
    f = Fn("pack_block", PANEL_ARGS)
    step = f.mul(f.mul("%w", "%k"), numeric.planes)
    with f.loop(0, "%rows", "%w", [("ptr", "%dst")]) as r:
        source = f.at("%src", f.mul(r.i, "%rs"), numeric.elem)
        rows = f.min(f.sub("%rows", r.i), "%w")
        f.call("void", "pack_panel", f"ptr {source}", "i64 %rs", "i64 %ks", f"i64 {rows}",
               "i64 %k", f"ptr {r.values[0]}", "i64 %w")
        r.carry(f.at(r.values[0], step, numeric.acc))
    return f
