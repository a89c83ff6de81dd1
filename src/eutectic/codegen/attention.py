"""Scaled dot-product attention without the score matrix: one pass over the keys for 32 queries.

A lane is a query. Scores of a block of keys are `K_tile @ Q^T` (tiles of 12 keys), their running
maximum and sum are lanes' own, and `O^T += V^T @ P^T`, so nothing is ever reduced across lanes.
Keys are packed in tiles of 12 and values as float32 rows, once for all queries, so the memory is
linear in the sequence. The order of every sum is fixed: features and keys ascending, blocks of 96
keys rescaled to the new maximum (the online softmax of Milakov and Gimelshein, arXiv 1805.02867).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from eutectic.codegen.blocks import (
    Carry, Element, Function, Module, lane_numbers, load, splat, store, to_memory)
from eutectic.codegen.native import Code, Range
from eutectic.codegen.scalars import vector_type
from eutectic.dtype import BY_NAME, float32
from eutectic.kernel import mathlib
from eutectic.kernel.memory import load_element
from eutectic.kernel.rounding import rounded
from eutectic.kernel.scalar import Value, fmax, pattern

QUERIES = 32
"""Queries of a task: one vector."""
TILE = 12
"""Keys of a tile: 12 x 2 AVX-512 accumulators leave room for the query vector."""
BLOCK = 96
"""Keys between two rescalings."""
SQUARE = 4
"""Rows and columns that are turned at a time, between rows in memory and lanes."""
LANES = 16
"""Neighbours copied at a time."""
_ROWS = (12, 8, 4)
"""Heights of the tiles of `O^T`; values are padded to a multiple of the last."""


class Slot(IntEnum):
    """Words of the parameter block; strides in bytes, last axis last."""

    Q = 0
    K = 1
    V = 2
    OUT = 3
    MASK = 4
    SINKS = 5
    KEYS = 6  # packed keys
    VALUES = 7  # values as float32 rows
    SCRATCH = 8
    SCRATCH_STRIDE = 9
    HEADS = 10
    GROUP = 11  # query heads for each key head
    TQ = 12
    TK = 13
    D = 14
    DV = 15
    DV_PADDED = 16
    TILES = 17
    QUERY_BLOCKS = 18
    SCALE = 19  # float32 bits
    KEY_HEADS = 20
    Q_STRIDES = 21  # batch, head, position, feature
    K_STRIDES = 25
    V_STRIDES = 29
    MASK_STRIDES = 33
    SINK_STRIDE = 37


SLOTS = 38


@dataclass(frozen=True, slots=True)
class Variant:
    """What decides the machine code: never sizes. `mask` is '', 'bool' or 'float32'."""

    dtype: str
    mask: str
    causal: bool
    sinks: bool


def scratch_bytes(d: int, dv_padded: int) -> int:
    """Bytes of a thread's scratch: transposed queries, scores, transposed output."""
    return 4 * QUERIES * (d + BLOCK + TILE + dv_padded) + 64


@lru_cache(maxsize=64)
def emit(v: Variant) -> tuple[str, str, str]:
    """LLVM text of a variant, and the names of its packing and attending functions."""
    m = Module()
    for rows in _ROWS:
        _tile(m, rows)
    _pack(m, v)
    _attend(m, v)
    text = m.text()
    stem = "sdpa_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    return text.replace("@SDPA_", f"@{stem}_"), f"{stem}_pack", f"{stem}_attend"


def _tile(m: Module, rows: int) -> None:
    """C[rows x 32] (+)= A[rows x k] B[k x 32]; A's rows are neighbours, `a_step` bytes a k."""
    fn = Function(m)
    vt = vector_type("f32", QUERIES)
    fn.start("entry")
    starts = []
    for i in range(rows):
        p = fn.bind(f"getelementptr i8, ptr %c, i64 {i * QUERIES * 4}")
        starts.append(fn.bind(f"load {vt}, ptr {p}, align 64"))
    first = [fn.bind(f"select i1 %fresh, {vt} zeroinitializer, {vt} {s}") for s in starts]
    fn.line("br label %loop")
    fn.start("loop")
    fn.line("%k = phi i64 [0, %entry], [%k2, %loop]")
    fn.line("%a = phi ptr [%a0, %entry], [%a2, %loop]")
    fn.line("%b = phi ptr [%b0, %entry], [%b2, %loop]")
    for i in range(rows):
        fn.line(f"%c{i} = phi {vt} [{first[i]}, %entry], [%d{i}, %loop]")
    fn.line(f"%bv = load {vt}, ptr %b, align 64")
    name = f"@llvm.fma.v{QUERIES}f32"
    m.declares.add(f"declare {vt} {name}({vt}, {vt}, {vt})")
    e = fn.emitter(QUERIES)
    for i in range(rows):
        p = fn.bind(f"getelementptr float, ptr %a, i64 {i}")
        s = splat(e, "f32", fn.bind(f"load float, ptr {p}, align 4"))
        fn.line(f"%d{i} = call {vt} {name}({vt} {s}, {vt} %bv, {vt} %c{i})")
    fn.line("%a2 = getelementptr i8, ptr %a, i64 %a_step")
    fn.line(f"%b2 = getelementptr i8, ptr %b, i64 {QUERIES * 4}")
    fn.line("%k2 = add i64 %k, 1")
    more = fn.bind("icmp slt i64 %k2, %n")
    fn.line(f"br i1 {more}, label %loop, label %done")
    fn.start("done")
    for i in range(rows):
        p = fn.bind(f"getelementptr i8, ptr %c, i64 {i * QUERIES * 4}")
        fn.line(f"store {vt} %d{i}, ptr {p}, align 64")
    fn.line("ret void")
    fn.define("tile", f"internal void @tile{rows}(ptr noalias %a0, i64 %a_step, ptr noalias %b0, "
                      "ptr noalias %c, i64 %n, i1 %fresh)")


def _load_f32(fn: Function, address: str, dtype: str, width: int) -> str:
    """Elements at addresses (one register of i64s), as float32."""
    a = Value("arg", "i64")
    e = fn.emitter(width)
    v = load_element(a, dtype)
    assert isinstance(v, Value)
    return e.body([v], {id(a): address})[0]


def _load_row(fn: Function, address: str, dtype: str, width: int) -> str:
    """Neighbouring elements from an address (i64) on, as float32."""
    e = fn.emitter(width)
    bound: dict[int, str] = {}
    ptr = fn.bind(f"inttoptr i64 {address} to ptr")
    v = load(e, BY_NAME[dtype], ptr, bound)
    assert isinstance(v, Value)
    return e.body([v], bound)[0]


def _wide(fn: Function, n: str, stride: str, dtype: str, width: int) -> str:
    """How many of n elements can be loaded `width` at a time: none unless they are neighbours."""
    near = fn.bind(f"icmp eq i64 {stride}, {BY_NAME[dtype].size}")
    whole = fn.bind(f"and i64 {n}, {-width}")
    return fn.bind(f"select i1 {near}, i64 {whole}, i64 0")


def _turned(fn: Function, rows: list[str]) -> list[str]:
    """The columns of a square of 4 x 4 float32, from its rows."""
    vt = vector_type("f32", SQUARE)

    def mixed(a: str, b: str, *lanes: int) -> str:
        mask = ", ".join(f"i32 {i}" for i in lanes)
        return fn.bind(f"shufflevector {vt} {a}, {vt} {b}, <{SQUARE} x i32> <{mask}>")
    a, b, c, d = rows
    pairs = [(mixed(a, b, *low), mixed(c, d, *low)) for low in ((0, 4, 1, 5), (2, 6, 3, 7))]
    return [mixed(x, y, *half) for x, y in pairs for half in ((0, 1, 4, 5), (2, 3, 6, 7))]


def _base(fn: Function, slot: Slot, strides: Slot, b: str, h: str) -> str:
    """Address (i64) of the first element of a batch entry and head."""
    off = fn.add(fn.mul(b, fn.slot(strides)), fn.mul(h, fn.slot(strides + 1)))
    return fn.add(fn.slot(slot), off)


def _pack(m: Module, v: Variant) -> None:
    """Range over (batch x key head x tile): 12 keys as [feature][12], 12 values as rows."""
    fn = Function(m)
    fn.start("entry")
    tiles, heads, tk = fn.slot(Slot.TILES), fn.slot(Slot.KEY_HEADS), fn.slot(Slot.TK)
    d, dv, padded = fn.slot(Slot.D), fn.slot(Slot.DV), fn.slot(Slot.DV_PADDED)
    steps = {s: fn.slot(s) for s in (Slot.K_STRIDES + 2, Slot.K_STRIDES + 3, Slot.V_STRIDES + 2,
                                     Slot.V_STRIDES + 3)}
    keys, values = fn.slot(Slot.KEYS, "ptr"), fn.slot(Slot.VALUES, "ptr")
    with fn.loop("%lo", "%hi") as u:
        bh = fn.bind(f"udiv i64 {u}, {tiles}")
        tile = fn.bind(f"urem i64 {u}, {tiles}")
        b, h = fn.bind(f"udiv i64 {bh}, {heads}"), fn.bind(f"urem i64 {bh}, {heads}")
        k0 = _base(fn, Slot.K, Slot.K_STRIDES, b, h)
        v0 = _base(fn, Slot.V, Slot.V_STRIDES, b, h)
        first = fn.mul(tile, TILE)
        last = fn.bind(f"sub i64 {tk}, 1")
        to_k = fn.at(keys, fn.mul(fn.mul(u, d), TILE * 4))
        to_v = fn.at(values, fn.mul(fn.mul(u, padded), TILE * 4))
        along_k, along_v = steps[Slot.K_STRIDES + 3], steps[Slot.V_STRIDES + 3]
        rows_k, rows_v = [], []
        for i in range(TILE):
            at = fn.least(fn.add(first, i), last)  # keys beyond the end are never used
            rows_k.append(fn.add(k0, fn.mul(at, steps[Slot.K_STRIDES + 2])))
            rows_v.append(fn.add(v0, fn.mul(at, steps[Slot.V_STRIDES + 2])))
        wide = _wide(fn, d, along_k, v.dtype, SQUARE)
        with fn.loop(0, wide, SQUARE) as j:
            off = fn.mul(j, along_k)
            for i in range(0, TILE, SQUARE):
                square = [_load_row(fn, fn.add(row, off), v.dtype, SQUARE)
                          for row in rows_k[i:i + SQUARE]]
                for c, x in enumerate(_turned(fn, square)):
                    p = fn.at(to_k, fn.mul(fn.add(fn.mul(fn.add(j, c), TILE), i), 4))
                    fn.line(f"store <{SQUARE} x float> {x}, ptr {p}, align 4")
        with fn.loop(wide, d) as j:
            off = fn.mul(j, along_k)
            for i, row in enumerate(rows_k):
                x = _load_f32(fn, fn.add(row, off), v.dtype, 1)
                p = fn.at(to_k, fn.mul(fn.add(fn.mul(j, TILE), i), 4))
                fn.line(f"store float {x}, ptr {p}, align 4")
        wide = _wide(fn, dv, along_v, v.dtype, LANES)
        for i, row in enumerate(rows_v):
            out = fn.at(to_v, fn.mul(fn.mul(padded, i), 4))
            with fn.loop(0, wide, LANES) as j:
                x = _load_row(fn, fn.add(row, fn.mul(j, along_v)), v.dtype, LANES)
                to = fn.at(out, fn.mul(j, 4))
                fn.line(f"store <{LANES} x float> {x}, ptr {to}, align 4")
            with fn.loop(wide, dv) as j:
                x = _load_f32(fn, fn.add(row, fn.mul(j, along_v)), v.dtype, 1)
                fn.line(f"store float {x}, ptr {fn.at(out, fn.mul(j, 4))}, align 4")
            with fn.loop(dv, padded) as j:
                fn.line(f"store float 0.0, ptr {fn.at(out, fn.mul(j, 4))}, align 4")
    fn.line("ret void")
    fn.define("pack", "void @SDPA_pack(ptr %params, i64 %lo, i64 %hi, i64 %tid)")


class _Attend:
    """The function of one task range: (batch x head x block of 32 queries)."""

    def __init__(self, m: Module, v: Variant) -> None:
        self.fn = Function(m)
        self.v = v
        self.vt = vector_type("f32", QUERIES)

    def body(self, values: list[Value], bound: dict[Value, str]) -> list[str]:
        return self.fn.emitter(QUERIES).body(values, {id(k): r for k, r in bound.items()})

    def load(self, ptr: str) -> str:
        return self.fn.bind(f"load {self.vt}, ptr {ptr}, align 64")

    def save(self, reg: str, ptr: str) -> None:
        self.fn.line(f"store {self.vt} {reg}, ptr {ptr}, align 64")

    def row(self, base: str, i: str) -> str:
        return self.fn.at(base, self.fn.mul(i, QUERIES * 4))

    def main(self) -> None:
        fn = self.fn
        fn.start("entry")
        for name in ("m", "l"):  # running maximum, running sum
            fn.line(f"%{name} = alloca {self.vt}, align 64")
        slot = {s: fn.slot(s) for s in (
            Slot.HEADS, Slot.GROUP, Slot.TQ, Slot.TK, Slot.D, Slot.DV, Slot.DV_PADDED, Slot.TILES,
            Slot.QUERY_BLOCKS, Slot.KEY_HEADS)}
        self.slot = slot
        word = fn.bind(f"trunc i64 {fn.slot(Slot.SCALE)} to i32")
        self.scale = fn.bind(f"bitcast i32 {word} to float")
        mine = fn.mul("%tid", fn.slot(Slot.SCRATCH_STRIDE))
        self.qt = fn.at(fn.slot(Slot.SCRATCH, "ptr"), mine)
        self.s = fn.at(self.qt, fn.mul(slot[Slot.D], QUERIES * 4))
        self.ot = fn.at(self.s, str((BLOCK + TILE) * QUERIES * 4))
        with fn.loop("%lo", "%hi") as u:
            self.task(u)
        fn.line("ret void")
        fn.define("attend", "void @SDPA_attend(ptr %params, i64 %lo, i64 %hi, i64 %tid)")

    def task(self, u: str) -> None:
        fn, v, slot = self.fn, self.v, self.slot
        bh = fn.bind(f"udiv i64 {u}, {slot[Slot.QUERY_BLOCKS]}")
        block = fn.bind(f"urem i64 {u}, {slot[Slot.QUERY_BLOCKS]}")
        if v.causal:
            # The last and the first in turn: neighbouring tasks together have equal work.
            half = fn.bind(f"lshr i64 {block}, 1")
            back = fn.bind(f"sub i64 {fn.add(slot[Slot.QUERY_BLOCKS], -1)}, {half}")
            odd = fn.bind(f"trunc i64 {block} to i1")
            block = fn.bind(f"select i1 {odd}, i64 {half}, i64 {back}")
        b = fn.bind(f"udiv i64 {bh}, {slot[Slot.HEADS]}")
        h = fn.bind(f"urem i64 {bh}, {slot[Slot.HEADS]}")
        kh = fn.add(fn.mul(b, slot[Slot.KEY_HEADS]), fn.bind(f"udiv i64 {h}, {slot[Slot.GROUP]}"))
        self.q0 = fn.mul(block, QUERIES)
        last = fn.bind(f"sub i64 {slot[Slot.TQ]}, 1")
        i64s = vector_type("i64", QUERIES)
        e = fn.emitter(QUERIES)
        lane = fn.bind(f"add {i64s} {splat(e, 'i64', self.q0)}, {lane_numbers(QUERIES)}")
        top = splat(e, "i64", last)
        c = fn.bind(f"icmp slt {i64s} {lane}, {top}")
        # Queries beyond the end repeat the last one; their results are not stored.
        self.query = fn.bind(f"select <{QUERIES} x i1> {c}, {i64s} {lane}, {i64s} {top}")
        self.transpose_queries(b, h)
        if v.sinks:
            p = fn.at(fn.slot(Slot.SINKS, "ptr"), fn.mul(h, fn.slot(Slot.SINK_STRIDE)))
            sink = splat(fn.emitter(QUERIES), "f32", fn.bind(f"load float, ptr {p}, align 4"))
            self.save(sink, "%m")
            self.save("splat (float 1.0)", "%l")
        else:
            self.save("splat (float 0xFFF0000000000000)", "%m")
            self.save("zeroinitializer", "%l")
        with fn.loop(0, slot[Slot.DV_PADDED]) as d:
            self.save("zeroinitializer", self.row(self.ot, d))
        end = slot[Slot.TK]
        self.shift = fn.bind(f"sub i64 {slot[Slot.TK]}, {slot[Slot.TQ]}")
        if v.causal:
            end = fn.least(end, fn.add(fn.add(self.q0, QUERIES), self.shift))
        if v.mask:
            self.mask0 = _base(fn, Slot.MASK, Slot.MASK_STRIDES, b, h)
        tiles = fn.mul(kh, slot[Slot.TILES])
        keys = fn.at(fn.slot(Slot.KEYS, "ptr"), fn.mul(fn.mul(tiles, slot[Slot.D]), TILE * 4))
        values = fn.at(fn.slot(Slot.VALUES, "ptr"),
                       fn.mul(fn.mul(tiles, slot[Slot.DV_PADDED]), TILE * 4))
        with fn.loop(0, end, BLOCK) as k0:
            self.block(k0, end, keys, values)
        self.finish(b, h)

    def transpose_queries(self, b: str, h: str) -> None:
        fn, dtype = self.fn, self.v.dtype
        base = _base(fn, Slot.Q, Slot.Q_STRIDES, b, h)
        step, feature = fn.slot(Slot.Q_STRIDES + 2), fn.slot(Slot.Q_STRIDES + 3)
        i64s = vector_type("i64", QUERIES)
        e = fn.emitter(QUERIES)
        rows = fn.bind(f"mul {i64s} {self.query}, {splat(e, 'i64', step)}")
        rows = fn.bind(f"add {i64s} {rows}, {splat(e, 'i64', base)}")
        wide = _wide(fn, self.slot[Slot.D], feature, dtype, SQUARE)
        last = fn.bind(f"sub i64 {self.slot[Slot.TQ]}, 1")
        with fn.loop(0, QUERIES, SQUARE) as g:
            near = [fn.add(base, fn.mul(fn.least(fn.add(self.q0, fn.add(g, i)), last), step))
                    for i in range(SQUARE)]
            scale = splat(fn.emitter(SQUARE), "f32", self.scale)
            with fn.loop(0, wide, SQUARE) as d:
                off = fn.mul(d, feature)
                square = [_load_row(fn, fn.add(row, off), dtype, SQUARE) for row in near]
                for i, x in enumerate(_turned(fn, square)):
                    scaled = fn.bind(f"fmul <{SQUARE} x float> {x}, {scale}")
                    to = fn.at(self.row(self.qt, fn.add(d, i)), fn.mul(g, 4))
                    fn.line(f"store <{SQUARE} x float> {scaled}, ptr {to}, align 16")
        scale = splat(fn.emitter(QUERIES), "f32", self.scale)
        with fn.loop(wide, self.slot[Slot.D]) as d:
            off = splat(fn.emitter(QUERIES), "i64", fn.mul(d, feature))
            at = fn.bind(f"add {i64s} {rows}, {off}")
            x = _load_f32(fn, at, dtype, QUERIES)
            self.save(fn.bind(f"fmul {self.vt} {x}, {scale}"), self.row(self.qt, d))

    def block(self, k0: str, end: str, keys: str, values: str) -> None:
        """Scores, maximum, probabilities and their product with the values, for one block."""
        fn, v, slot = self.fn, self.v, self.slot
        count = fn.least(fn.bind(f"sub i64 {end}, {k0}"), BLOCK)
        size = fn.mul(slot[Slot.D], TILE * 4)
        first = fn.at(keys, fn.mul(fn.bind(f"udiv i64 {k0}, {TILE}"), size))
        with fn.loop(0, count, TILE) as t:
            a = fn.at(first, fn.mul(fn.bind(f"udiv i64 {t}, {TILE}"), size))
            fn.line(f"call void @tile{TILE}(ptr {a}, i64 {TILE * 4}, ptr {self.qt}, "
                    f"ptr {self.row(self.s, t)}, i64 {slot[Slot.D]}, i1 true)")
        x, y = Value("arg", "f32"), Value("arg", "f32")
        most = Carry(self.vt, "splat (float 0xFFF0000000000000)")
        clear = count  # keys that every query may see
        if v.mask:
            clear = "0"
        elif v.causal:
            seen = fn.bind(f"sub i64 {fn.add(fn.add(self.q0, self.shift), 1)}, {k0}")
            clear = fn.least(fn.most(seen, 0), count)
        with fn.loop(0, clear, carry=most) as r:
            [most.following] = self.body([fmax(x, y)], {x: most.value,
                                                        y: self.load(self.row(self.s, r))})
        if v.mask or v.causal:
            with fn.loop(clear, count, carry=most) as r:
                p = self.row(self.s, r)
                s = self.masked(self.load(p), fn.add(k0, r))
                self.save(s, p)
                [most.following] = self.body([fmax(x, y)], {x: most.value, y: s})
        old = self.load("%m")
        [new] = self.body([fmax(x, y)], {x: old, y: most.value})
        self.save(new, "%m")
        # Where nothing is seen yet the maximum is -inf: subtracting 0 keeps exp(-inf) = 0.
        none = fn.bind(f"fcmp oeq {self.vt} {new}, splat (float 0xFFF0000000000000)")
        top = fn.bind(f"select <{QUERIES} x i1> {none}, {self.vt} zeroinitializer, "
                      f"{self.vt} {new}")
        [fade] = self.body([mathlib.exp(x - y)], {x: old, y: top})
        total = Carry(self.vt, "zeroinitializer")
        with fn.loop(0, count, carry=total) as r:
            p = self.row(self.s, r)
            [e] = self.body([mathlib.exp(x - y)], {x: self.load(p), y: top})
            self.save(e, p)
            total.following = fn.bind(f"fadd {self.vt} {total.value}, {e}")
        faded = fn.bind(f"fmul {self.vt} {self.load('%l')}, {fade}")
        self.save(fn.bind(f"fadd {self.vt} {faded}, {total.value}"), "%l")
        with fn.loop(0, slot[Slot.DV_PADDED]) as d:
            p = self.row(self.ot, d)
            self.save(fn.bind(f"fmul {self.vt} {self.load(p)}, {fade}"), p)
        step = fn.mul(slot[Slot.DV_PADDED], 4)
        v0 = fn.at(values, fn.mul(k0, step))
        start = "0"
        for rows in _ROWS:
            whole = fn.bind(f"sub i64 {slot[Slot.DV_PADDED]}, {start}")
            fit = fn.mul(fn.bind(f"udiv i64 {whole}, {rows}"), rows)
            stop = fn.add(start, fit)
            with fn.loop(start, stop, rows) as d:
                fn.line(f"call void @tile{rows}(ptr {fn.at(v0, fn.mul(d, 4))}, i64 {step}, "
                        f"ptr {self.s}, ptr {self.row(self.ot, d)}, i64 {count}, i1 false)")
            start = stop

    def masked(self, s: str, key: str) -> str:
        """A row of scores with what may not be seen at -inf."""
        fn, v = self.fn, self.v
        i64s, low = vector_type("i64", QUERIES), "splat (float 0xFFF0000000000000)"
        e = fn.emitter(QUERIES)
        if v.mask:
            step, along = fn.slot(Slot.MASK_STRIDES + 2), fn.slot(Slot.MASK_STRIDES + 3)
            at = fn.bind(f"mul {i64s} {self.query}, {splat(e, 'i64', step)}")
            base = fn.add(self.mask0, fn.mul(key, along))
            at = fn.bind(f"add {i64s} {at}, {splat(e, 'i64', base)}")
            a = Value("arg", "i64")
            [found] = e.body([load_element(a, v.mask)], {id(a): at})  # type: ignore[list-item]
            if v.mask == "bool":
                s = fn.bind(f"select <{QUERIES} x i1> {found}, {self.vt} {s}, {self.vt} {low}")
            else:
                s = fn.bind(f"fadd {self.vt} {s}, {found}")
        if v.causal:
            limit = fn.bind(f"sub i64 {key}, {self.shift}")
            seen = fn.bind(f"icmp sge {i64s} {self.query}, {splat(e, 'i64', limit)}")
            s = fn.bind(f"select <{QUERIES} x i1> {seen}, {self.vt} {s}, {self.vt} {low}")
        return s

    def finish(self, b: str, h: str) -> None:
        """Divide by the sums and store the queries' rows."""
        fn, slot = self.fn, self.slot
        total = self.load("%l")
        row = fn.add(fn.mul(fn.add(fn.mul(b, slot[Slot.HEADS]), h), slot[Slot.TQ]), self.q0)
        out = fn.at(fn.slot(Slot.OUT, "ptr"), fn.mul(fn.mul(row, slot[Slot.DV]),
                                                         BY_NAME[self.v.dtype].size))
        count = fn.least(fn.bind(f"sub i64 {slot[Slot.TQ]}, {self.q0}"), QUERIES)
        with fn.loop(0, slot[Slot.DV]) as d:
            p = self.row(self.ot, d)
            self.save(fn.bind(f"fdiv {self.vt} {self.load(p)}, {total}"), p)
        wide = fn.bind(f"and i64 {slot[Slot.DV]}, {-SQUARE}")
        rows = fn.bind(f"and i64 {count}, {-SQUARE}")
        with fn.loop(0, rows, SQUARE) as j:
            with fn.loop(0, wide, SQUARE) as d:
                p = fn.at(self.row(self.ot, d), fn.mul(j, 4))
                square = [fn.bind(f"load <{SQUARE} x float>, ptr {fn.at(p, str(i * QUERIES * 4))}, "
                                  "align 16") for i in range(SQUARE)]
                for i, x in enumerate(_turned(fn, square)):
                    self.put(x, out, fn.add(j, i), d, SQUARE)
            with fn.loop(j, fn.add(j, SQUARE)) as query:
                self.put_one_by_one(out, query, wide)
        with fn.loop(rows, count) as query:
            self.put_one_by_one(out, query, "0")

    def put_one_by_one(self, out: str, query: str, first: str) -> None:
        """Store a query's features from `first` on."""
        fn = self.fn
        with fn.loop(first, self.slot[Slot.DV]) as d:
            p = fn.at(self.row(self.ot, d), fn.mul(query, 4))
            self.put(fn.bind(f"load float, ptr {p}, align 4"), out, query, d, 1)

    def put(self, x: str, out: str, query: str, d: str, width: int) -> None:
        """Store neighbouring features of a query."""
        fn, dtype = self.fn, BY_NAME[self.v.dtype]
        e = fn.emitter(width)
        arg = Value("arg", "f32")
        v: Element = arg if dtype is float32 else rounded(arg, dtype)
        to = fn.at(out, fn.mul(fn.add(fn.mul(query, self.slot[Slot.DV]), d), dtype.size))
        store(e, dtype, to, e.body(to_memory(dtype, v), {id(arg): x}))


def _attend(m: Module, v: Variant) -> None:
    _Attend(m, v).main()


def code(v: Variant, shapes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
         strides: list[tuple[int, ...]], scale: float, threads: int) -> Code:
    """How to run one attention: shapes of (queries, keys, values), strides of all operands.

    Operands are queries, keys, values, then the mask (4 axes) and the sinks where there are any.
    """
    (batch, heads, tq, d), (_b, key_heads, tk, _d), (_b2, _h2, _t2, dv) = shapes
    text, pack, attend = emit(v)
    tiles, blocks = -(-tk // TILE), -(-tq // QUERIES)
    padded = -(-dv // _ROWS[-1]) * _ROWS[-1]
    params = [0] * SLOTS
    item = BY_NAME[v.dtype].size
    for slot, given, size in zip((Slot.Q_STRIDES, Slot.K_STRIDES, Slot.V_STRIDES,
                                  Slot.MASK_STRIDES), strides,
                                 (item, item, item, 1 if v.mask == "bool" else 4)):
        if slot == Slot.MASK_STRIDES and not v.mask:
            break
        params[slot:slot + 4] = [s * size for s in given]
    scratch = -(-scratch_bytes(d, padded) // 64) * 64
    for slot, value in ((Slot.SCRATCH_STRIDE, scratch), (Slot.HEADS, heads),
                        (Slot.GROUP, heads // key_heads), (Slot.TQ, tq), (Slot.TK, tk),
                        (Slot.D, d), (Slot.DV, dv), (Slot.DV_PADDED, padded), (Slot.TILES, tiles),
                        (Slot.QUERY_BLOCKS, blocks), (Slot.SCALE, pattern(scale, "f32")),
                        (Slot.KEY_HEADS, key_heads)):
        params[slot] = value
    packed = batch * key_heads * tiles
    operands = [Slot.Q, Slot.K, Slot.V]
    if v.mask:
        operands.append(Slot.MASK)
    if v.sinks:
        operands.append(Slot.SINKS)
        params[Slot.SINK_STRIDE] = strides[-1][0] * 4
    return Code(text, [Range(pack, packed, max(1, 4096 // (d + dv))),
                       Range(attend, batch * heads * blocks)],
                params, operands, Slot.OUT,
                [(Slot.KEYS, max(1, packed * TILE * d * 4)),
                 (Slot.VALUES, max(1, packed * TILE * padded * 4)),
                 (Slot.SCRATCH, scratch * threads)],
                2 * batch * heads * tq * tk * (d + dv))
