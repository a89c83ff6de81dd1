"""Rotation of pairs of features by given sines and cosines: one pass over the array.

A row is the features at one position. Its sines and cosines are a row of a table that all heads
share, so a block of positions of one head reads the array and a part of the table, and writes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from eutectic.codegen.blocks import Element, Function, Module, load, store, to_memory
from eutectic.codegen.native import Code, Range
from eutectic.codegen.scalars import element_type, vector_type
from eutectic.codegen.targets import LINE, STREAM_BYTES
from eutectic.dtype import BY_NAME
from eutectic.kernel.rounding import rounded
from eutectic.kernel.scalar import Value

_POSITIONS = 32
"""Positions of a task."""
_WIDTHS = (32, 16, 8, 1)
"""Pairs rotated at once; the last takes what is left, and rows whose features lie apart."""


class Slot(IntEnum):
    """Words of the parameter block; strides in bytes."""

    X = 0
    COS = 1
    SIN = 2
    OUT = 3
    POSITIONS = 4
    HEADS = 5
    BLOCKS = 6  # of positions
    PAIRS = 7
    WHOLE = 8  # pairs that may be taken several at once: all or none
    WIDTH = 9  # features
    REST = 10  # features after the rotated ones that may be taken several at once: all or none
    X_STRIDES = 11  # batch, head, position, feature
    COS_STRIDES = 15
    SIN_STRIDES = 19


SLOTS = 23


@dataclass(frozen=True, slots=True)
class Variant:
    """What decides the machine code: never sizes. `neighbours`: pairs are (2i, 2i + 1).

    `stream`: whole cache lines of the result, which start where lines do, go past the caches.
    """

    dtype: str
    neighbours: bool
    stream: bool


@lru_cache(maxsize=64)
def emit(v: Variant) -> tuple[str, str]:
    """LLVM text of a variant, and the name of its function."""
    m = Module()
    _Rotate(m, v).main()
    text = m.text()
    name = "rotate_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    return text.replace("@ROTATE", f"@{name}"), name


class _Rotate:
    """The function of one task range: (batch x head x block of positions)."""

    def __init__(self, m: Module, v: Variant) -> None:
        self.fn = Function(m)
        self.d = BY_NAME[v.dtype]
        self.size = self.d.size
        self.ty = "f64" if v.dtype == "float64" else "f32"
        self.table_size = 8 if self.ty == "f64" else 4
        self.neighbours = v.neighbours
        self.stream = v.stream

    def main(self) -> None:
        fn = self.fn
        fn.start("entry")
        pointers = (Slot.X, Slot.COS, Slot.SIN, Slot.OUT)
        self.slot: dict[int, str] = {s: fn.slot(s) for s in Slot if s not in pointers}
        for base in (Slot.X_STRIDES, Slot.COS_STRIDES, Slot.SIN_STRIDES):
            self.slot |= {base + i: fn.slot(base + i) for i in range(4)}
        slot = self.slot
        row_bytes = fn.mul(slot[Slot.WIDTH], self.size)
        with fn.loop("%lo", "%hi") as u:
            outer = fn.bind(f"udiv i64 {u}, {slot[Slot.BLOCKS]}")
            block = fn.bind(f"urem i64 {u}, {slot[Slot.BLOCKS]}")
            b = fn.bind(f"udiv i64 {outer}, {slot[Slot.HEADS]}")
            h = fn.bind(f"urem i64 {outer}, {slot[Slot.HEADS]}")
            first = fn.mul(block, _POSITIONS)
            end = fn.least(fn.add(first, _POSITIONS), slot[Slot.POSITIONS])
            x, c, s = (self._base(at, strides, b, h) for at, strides in (
                (Slot.X, Slot.X_STRIDES), (Slot.COS, Slot.COS_STRIDES),
                (Slot.SIN, Slot.SIN_STRIDES)))
            out = fn.at(fn.slot(Slot.OUT, "ptr"),
                        fn.mul(fn.mul(outer, slot[Slot.POSITIONS]), row_bytes))
            with fn.loop(first, end) as t:
                self._row(fn.at(x, fn.mul(t, self._step(Slot.X_STRIDES, 2))),
                          fn.at(c, fn.mul(t, self._step(Slot.COS_STRIDES, 2))),
                          fn.at(s, fn.mul(t, self._step(Slot.SIN_STRIDES, 2))),
                          fn.at(out, fn.mul(t, row_bytes)))
        fn.line("ret void")
        fn.define("rotate", "void @ROTATE(ptr %params, i64 %lo, i64 %hi, i64 %tid)")

    def _step(self, strides: int, axis: int) -> str:
        return self.slot[strides + axis]

    def _base(self, at: Slot, strides: Slot, b: str, h: str) -> str:
        fn = self.fn
        off = fn.add(fn.mul(b, self._step(strides, 0)), fn.mul(h, self._step(strides, 1)))
        return fn.at(fn.slot(at, "ptr"), off)

    def _row(self, x: str, c: str, s: str, out: str) -> None:
        fn, slot = self.fn, self.slot
        start = "0"
        for width in _WIDTHS:
            stop = slot[Slot.PAIRS] if width == 1 else self._whole(slot[Slot.WHOLE], width)
            with fn.loop(start, stop, width) as j:
                self._pairs(x, c, s, out, j, width)
            start = stop
        start = turned = fn.mul(slot[Slot.PAIRS], 2)
        for width in _WIDTHS:
            stop = slot[Slot.WIDTH]
            if width > 1:
                stop = fn.add(turned, self._whole(slot[Slot.REST], width))
            with fn.loop(start, stop, width) as j:
                bound: dict[int, str] = {}
                at = fn.at(x, fn.mul(j, self._step(Slot.X_STRIDES, 3)))
                same = load(fn.emitter(width), self.d, at, bound)
                self._store(same, bound, fn.at(out, fn.mul(j, self.size)), width)
            start = stop

    def _whole(self, count: str, width: int) -> str:
        return self.fn.mul(self.fn.bind(f"udiv i64 {count}, {width}"), width)

    def _store(self, v: Element, bound: dict[int, str], at: str, width: int) -> None:
        e = self.fn.emitter(width)
        store(e, self.d, at, e.body(to_memory(self.d, v), dict(bound)),
              self.stream and width * self.size % LINE == 0)

    def _table(self, row: str, strides: Slot, j: str, width: int) -> str:
        fn = self.fn
        at = fn.at(row, fn.mul(j, self._step(strides, 3)))
        return fn.bind(f"load {vector_type(self.ty, width)}, ptr {at}, align {self.table_size}")

    def _pairs(self, x: str, c: str, s: str, out: str, j: str, width: int) -> None:
        """Pairs j, j + 1, ... of a row."""
        fn, step = self.fn, self._step(Slot.X_STRIDES, 3)
        cos = self._table(c, Slot.COS_STRIDES, j, width)
        sin = self._table(s, Slot.SIN_STRIDES, j, width)
        if self.neighbours and width > 1:
            a, b = self._apart(fn.at(x, fn.mul(fn.mul(j, 2), step)), width)
        else:
            i, k = self._places(j)
            a, b = (self._element(fn.at(x, fn.mul(n, step)), width) for n in (i, k))
        va, vb, vc, vs = (Value("arg", self.ty) for _ in range(4))
        known = {id(va): a, id(vb): b, id(vc): cos, id(vs): sin}
        first, second = (rounded(v, self.d) for v in (va * vc - vb * vs, va * vs + vb * vc))
        assert isinstance(first, Value) and isinstance(second, Value)
        if self.neighbours and width > 1:
            one, two = fn.emitter(width).body([first, second], known)
            vt = vector_type(self.ty, width)
            order = ", ".join(f"i32 {n}" for i in range(width) for n in (i, width + i))
            both = fn.bind(f"shufflevector {vt} {one}, {vt} {two}, <{2 * width} x i32> <{order}>")
            v = Value("arg", self.ty)
            self._store(v, {id(v): both}, fn.at(out, fn.mul(j, 2 * self.size)), 2 * width)
            return
        for v, n in zip((first, second), self._places(j)):
            self._store(v, known, fn.at(out, fn.mul(n, self.size)), width)

    def _places(self, j: str) -> tuple[str, str]:
        """The features of pair j; those of the next ones follow them."""
        if self.neighbours:
            even = self.fn.mul(j, 2)
            return even, self.fn.add(even, 1)
        return j, self.fn.add(j, self.slot[Slot.PAIRS])

    def _element(self, at: str, width: int) -> str:
        bound: dict[int, str] = {}
        e = self.fn.emitter(width)
        v = load(e, self.d, at, bound)
        assert isinstance(v, Value)
        return e.body([v], bound)[0]

    def _apart(self, at: str, width: int) -> tuple[str, str]:
        """The even and the odd ones of 2 * width neighbours."""
        both, t = self._element(at, 2 * width), element_type(self.ty)
        a, b = (self.fn.bind(
            f"shufflevector <{2 * width} x {t}> {both}, <{2 * width} x {t}> poison, "
            f"<{width} x i32> <{', '.join(f'i32 {n}' for n in range(k, 2 * width, 2))}>")
            for k in (0, 1))
        return a, b


def code(dtype: str, neighbours: bool, shapes: Sequence[tuple[int, ...]],
         strides: Sequence[tuple[int, ...]]) -> Code:
    """How to run one rotation: of (batch, heads, positions, features) by two tables.

    The tables are (batch or 1, 1, positions, pairs). `strides` are in elements.
    """
    (batch, heads, positions, width), (*_rest, pairs) = shapes[:2]
    size = BY_NAME[dtype].size
    stream = (batch * heads * positions * width * size >= STREAM_BYTES
              and pairs * size % LINE == 0 and width * size % LINE == 0)
    text, name = emit(Variant(dtype, neighbours, stream))
    table = 8 if dtype == "float64" else 4
    unit = [given[3] == 1 for given in strides]
    params = [0] * SLOTS
    for slot, value in ((Slot.POSITIONS, positions), (Slot.HEADS, heads),
                        (Slot.BLOCKS, -(-positions // _POSITIONS)), (Slot.PAIRS, pairs),
                        (Slot.WHOLE, pairs if all(unit) else 0), (Slot.WIDTH, width),
                        (Slot.REST, width - 2 * pairs if unit[0] else 0)):
        params[slot] = value
    for at, shape, given, item in zip((Slot.X_STRIDES, Slot.COS_STRIDES, Slot.SIN_STRIDES), shapes,
                                      strides, (size, table, table)):
        params[at:at + 4] = [0 if d == 1 else s * item for d, s in zip(shape, given)]
    task = min(positions, _POSITIONS) * width
    return Code(text, [Range(name, batch * heads * params[Slot.BLOCKS], max(1, 4096 // task))],
                params, [Slot.X, Slot.COS, Slot.SIN], Slot.OUT)
