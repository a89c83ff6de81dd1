"""Packing: operand blocks into panels that the microkernel reads in order.

A panel of width w holds, for each k, w elements (a column of A, or a row of B), converted to the
accumulator type and padded with zeros; a second plane follows the first within each k.
"""

from __future__ import annotations

import math

from eutectic.codegen.matmul_text import Fn
from eutectic.codegen.matmul_types import Numeric, Tile, vec

PACK_ARGS = ("ptr %src", "i64 %rs", "i64 %ks", "i64 %rows", "i64 %k", "ptr %dst", "i64 %w",
             "i64 %pitch")
_GROUP = 4  # rows transposed at a time; both panel widths are multiples of it, or packed singly


def pack(numeric: Numeric, tile: Tile) -> Fn:
    """Packs `rows` rows of k elements into panels `pitch` accumulators apart.

    dst[r // w][k, r % w] = src[r*rs + k*ks]; strides in elements. The last panel is padded.
    """
    f = Fn("pack", PACK_ARGS)
    stride = f.mul("%w", numeric.planes)
    along_rows = f.cmp("eq", "%rs", 1)
    along_k = f.cmp("eq", "%ks", 1) if numeric.planes == 1 else "false"
    rest = f.v("urem i64 %rows, %w")
    with f.when(f.cmp("ne", rest, 0)):
        # Before the data, so that whole vectors may reach back over its last elements.
        step = math.gcd(tile.columns, tile.rows, tile.few)
        begin = f.mul(f.div(rest, step), step)
        last = f.mul(f.div("%rows", "%w"), "%pitch")
        with f.loop(0, "%k", 1, [("ptr", f.at("%dst", last, numeric.acc))]) as k:
            with f.loop(begin, "%w", step) as r:
                _put(f, numeric, f.at(k.values[0], r.i, numeric.acc), step,
                     [numeric.zero(step)] * numeric.planes)
            k.carry(f.at(k.values[0], stride, numeric.acc))
    with f.when(along_rows):
        _copy_rows(f, numeric, tile.lanes, stride)
    with (f.otherwise(along_rows),
          f.loop(0, "%rows", "%w", [("ptr", "%dst"), ("ptr", "%src")]) as panel):
        to, source = panel.values
        rows = f.min(f.sub("%rows", panel.i), "%w")
        begin = "0"
        if numeric.planes == 1:
            begin = f.select(along_k, f.v(f"and i64 {rows}, -{_GROUP}"), 0)
            _transpose(f, numeric, max(tile.lanes, _GROUP), stride, begin, source, to)
        with f.when(f.cmp("slt", begin, rows)):
            _gather(f, numeric, stride, begin, rows, source, to)
        panel.carry(f.at(to, "%pitch", numeric.acc),
                    f.at(source, f.mul("%rs", "%w"), numeric.elem))
    return f


def _put(f: Fn, numeric: Numeric, spot: str, n: int, planes: list[str]) -> None:
    for p, value in enumerate(planes):
        plane = f.at(spot, "%w", numeric.acc) if p else spot
        f.store(vec(numeric.acc, n), value, plane, numeric.acc_size)


def _copy_rows(f: Fn, numeric: Numeric, lanes: int, stride: str) -> None:
    """The rows are neighbours in memory: vector copies, all panels of a k before the next k."""
    with f.loop(0, "%k", 1, [("ptr", "%src"), ("ptr", "%dst")]) as k:
        with f.loop(0, "%rows", "%w", [("ptr", k.values[1])]) as panel:
            source, to = f.at(k.values[0], panel.i, numeric.elem), panel.values[0]
            rows = f.min(f.sub("%rows", panel.i), "%w")
            wide, four = (f.v(f"and i64 {rows}, -{n}") for n in (lanes, _GROUP))
            for start, stop, n in (("0", wide, lanes), (wide, four, _GROUP), (four, rows, 1)):
                with f.loop(start, stop, n) as r:
                    planes = numeric.read(f, f.at(source, r.i, numeric.elem), n)
                    _put(f, numeric, f.at(to, r.i, numeric.acc), n, planes)
            panel.carry(f.at(to, "%pitch", numeric.acc))
        k.carry(f.at(k.values[0], "%ks", numeric.elem), f.at(k.values[1], stride, numeric.acc))


def _gather(f: Fn, numeric: Numeric, stride: str, begin: str, rows: str, source: str,
            to: str) -> None:
    """Any strides, an element at a time."""
    with f.loop(0, "%k", 1, [("ptr", source), ("ptr", to)]) as k:
        with f.loop(begin, rows) as r:
            spot = f.at(k.values[0], f.mul(r.i, "%rs"), numeric.elem)
            _put(f, numeric, f.at(k.values[1], r.i, numeric.acc), 1, numeric.read(f, spot, 1))
        k.carry(f.at(k.values[0], "%ks", numeric.elem), f.at(k.values[1], stride, numeric.acc))


def _transpose(f: Fn, numeric: Numeric, n: int, stride: str, stop: str, source: str,
               to: str) -> None:
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
    with f.loop(0, stop, _GROUP) as r:
        rows = [f.at(source, f.mul(r.i, "%rs"), numeric.elem)]
        for _ in range(_GROUP - 1):
            rows.append(f.at(rows[-1], "%rs", numeric.elem))
        column = f.at(to, r.i, numeric.acc)
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
