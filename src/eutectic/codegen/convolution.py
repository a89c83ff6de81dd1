"""Convolutions: LLVM text of an implicit matrix product over the positions of the kernel.

Each output element is one chain acc = fma(input, weight, acc) from +0.0 over the kernel's positions
in row-major order and, at each, the channels ascending; positions outside the input contribute
zeros. It is rounded once to the dtype. Blocking stores and reloads accumulators exactly.

A task is a block of output positions of one image and group. It copies the part of the input that
they see into a padded slab of accumulators (or reads it in place, where nothing is to pad or to
convert) and runs a microkernel on 12 positions x 2 vectors of output channels, whose rows are
addresses: the indirect convolution of Dukhan (arXiv 1907.02129), with a kernel position's channels,
or a whole row of the kernel, as the contiguous inner sum. Nothing is ever unrolled into a matrix.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

from eutectic.codegen.convolution_plan import Phase, Problem, SHARED_SLOTS, Slot, make_plan
from eutectic.codegen.matmul_pack import pack
from eutectic.codegen.matmul_text import Fn, get, module
from eutectic.codegen.matmul_types import NUMERICS, Numeric, Tile, tile_for, vec
from eutectic.codegen.native import Code, Range
from eutectic.codegen.targets import Target

_RANGE_ARGS = ("ptr %p", "i64 %lo", "i64 %hi", "i64 %tid")
_SPREAD = 4  # lanes written at once where groups share input channels
_KERNEL_ARGS = ("ptr %rows", "i64 %at", "ptr %segments", "i64 %n", "ptr %b", "ptr %sums",
                "i64 %column", "i1 %first")


@dataclass(frozen=True, slots=True)
class Variant:
    """What decides the machine code: never sizes. `deep`: lanes run across small groups."""

    dtype: str
    deep: bool


@lru_cache(maxsize=64)
def emit(variant: Variant, target: Target) -> tuple[str, str, str]:
    """LLVM text of a variant, and the names of its packing and computing functions."""
    numeric = NUMERICS[variant.dtype]
    tile = tile_for(numeric, target)
    kernels = [_kernel(name, numeric, tile, rows, vectors, variant.deep) for name, rows, vectors in
               (("tall", tile.rows, tile.vectors), ("slim", tile.rows, 1),
                ("few", tile.few, tile.vectors))]
    functions = [*kernels, pack(numeric, tile), _pack_range(numeric, tile), _copy(numeric, tile),
                 _clear(numeric, tile), _slab(numeric, variant.deep), _rows(numeric, tile),
                 _finish(numeric, tile), _panel(numeric, tile),
                 _task(numeric, tile, variant.deep), _convolve()]
    if variant.deep:
        functions.append(_spread(numeric))
    text = module(functions, target.attributes)
    stem = "conv_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    names = "|".join(f.name for f in functions)
    return re.sub(rf"@({names})\b", rf"@{stem}_\1", text), f"{stem}_pack_range", f"{stem}_convolve"


def _kernel(name: str, numeric: Numeric, tile: Tile, rows: int, vectors: int, deep: bool) -> Fn:
    """A tile of sums along `n` segments (byte offset, bytes) of the rows' memory.

    `rows` holds addresses in the input and `sums` addresses of accumulators. A step of the sum
    takes one row of the packed weights. `deep`: a segment is a step, the input a vector as well.
    """
    f = Fn(name, _KERNEL_ARGS)
    acc, lanes, size = numeric.acc, tile.lanes, numeric.acc_size
    wide = vec(acc, lanes)
    keys = [(i, j) for i in range(rows) for j in range(vectors)]

    def addresses() -> dict[tuple[int, int], str]:
        out = {}
        for i in range(rows):
            row = f.at(f.load("ptr", f.at("%sums", i), 8), "%column", "i8")
            for j in range(vectors):
                out[i, j] = f.at(row, lanes * j, acc) if j else row
        return out

    f.put("br i1 %first, label %go, label %resume")
    f.start("resume")
    where = addresses()
    held = {key: f.load(wide, where[key], size) for key in keys}
    f.put("br label %go")
    f.start("go")
    start = [f.merge(wide, ("zeroinitializer", "entry"), (held[key], "resume")) for key in keys]
    for spot in [] if deep else addresses().values():  # the lines to write arrive meanwhile
        f.call("void", "llvm.prefetch.p0", f"ptr {spot}", "i32 1", "i32 3", "i32 1")
    step = tile.columns * size
    bases = []
    if deep:
        bases = [f.at(f.load("ptr", f.at("%rows", i), 8), "%at", "i8") for i in range(rows)]
    new: list[str]
    with f.loop(0, "%n", 1, [("ptr", "%b"), *((wide, s) for s in start)]) as segment:
        pb, sums = segment.values[0], segment.values[1:]
        spot = f.at("%segments", f.mul(segment.i, 2))
        offset = f.load("i64", spot, 8)

        def weights(at: str) -> list[str]:
            return [f.load(wide, f.at(at, j * lanes, acc) if j else at, size)
                    for j in range(vectors)]

        if deep:
            b = weights(pb)
            new = []
            for i, j in keys:
                x = f.at(bases[i], offset, "i8")
                a = f.load(wide, f.at(x, lanes * j, acc) if j else x, size)
                new += numeric.multiply_add(f, lanes, [a], [b[j]], [sums[len(new)]])
            segment.carry(f.at(pb, step, "i8"), *new)
        else:
            length = f.load("i64", f.at(spot, 1), 8)
            end = f.add(f.add("%at", offset), length)
            ends = [f.at(f.load("ptr", f.at("%rows", i), 8), end, "i8") for i in range(rows)]
            carried = [("ptr", pb), *((wide, s) for s in sums)]
            with f.loop(f.sub(0, length), 0, size, carried) as k:
                pk, chains = k.values[0], k.values[1:]
                b = weights(pk)
                new = []
                for i in range(rows):
                    a = f.splat(acc, wide, lanes, f.load(acc, f.at(ends[i], k.i, "i8"), size))
                    for j in range(vectors):
                        new += numeric.multiply_add(f, lanes, [a], [b[j]], [chains[len(new)]])
                k.carry(f.at(pk, step, "i8"), *new)
            segment.carry(*k.values)
    where = addresses()
    for key, value in zip(keys, segment.values[1:]):
        f.store(wide, value, where[key], size)
    return f


def _phase_of(f: Fn, number: str, slot: Phase) -> str:
    """The words of the phase that a task or unit belongs to: the last that starts at or before."""
    last = f.sub(get(f, Slot.PHASES), 1)
    places = f.at("%p", SHARED_SLOTS)

    def start_of(i: str) -> str:
        place = f.load("i64", f.at(places, i), 8)
        return f.load("i64", f.at(f.at("%p", place), int(slot)), 8)

    # Bisection; that many steps are enough.
    with f.loop(0, f.min(f.add(last, 1), 32), 1, [("i64", "0"), ("i64", last)]) as s:
        low, high = s.values
        middle = f.v(f"lshr i64 {f.add(f.add(low, high), 1)}, 1")
        after = f.cmp("sle", start_of(middle), number)
        s.carry(f.select(after, middle, low), f.select(after, high, f.max(f.sub(middle, 1), low)))
    return f.at("%p", f.load("i64", f.at(places, s.values[0]), 8))


def _of(f: Fn, q: str, slot: int) -> str:
    return f.load("i64", f.at(q, int(slot)), 8)


def _pack_range(numeric: Numeric, tile: Tile) -> Fn:
    """Packs units lo to hi of the weights: a panel of output channels of a group and phase."""
    f = Fn("pack_range", _RANGE_ARGS, internal=False)
    with f.loop("%lo", "%hi") as unit:
        q = _phase_of(f, unit.i, Phase.FIRST_UNIT)
        index = f.sub(unit.i, _of(f, q, Phase.FIRST_UNIT))
        panels, columns = get(f, Slot.PANELS), get(f, Slot.COLUMNS)
        group = f.div(index, panels)
        first = f.mul(f.sub(index, f.mul(group, panels)), tile.columns)
        rows = f.min(f.sub(columns, first), tile.columns)
        channel = f.add(f.mul(group, columns), first)
        across = get(f, Slot.W_OUT)
        start = f.add(f.mul(channel, across), _of(f, q, Phase.W_FIRST))
        to = f.at(get(f, Slot.PACKED, "ptr"), _of(f, q, Phase.PACKED_AT), "i8")
        to = f.at(to, f.mul(index, _of(f, q, Phase.PANEL_BYTES)), "i8")
        run = _of(f, q, Phase.W_RUN)
        step = f.mul(run, tile.columns)
        along = _of(f, q, Phase.W_ALONG)
        counts = [_of(f, q, Phase.W_COUNTS + i) for i in range(3)]
        strides = [_of(f, q, Phase.W_STRIDES + i) for i in range(3)]
        weight = get(f, Slot.WEIGHT, "ptr")
        with f.loop(0, counts[0], 1, [("ptr", to)]) as z:
            with f.loop(0, counts[1], 1, [("ptr", z.values[0])]) as y:
                with f.loop(0, counts[2], 1, [("ptr", y.values[0])]) as x:
                    at = f.add(start, f.mul(z.i, strides[0]))
                    at = f.add(at, f.add(f.mul(y.i, strides[1]), f.mul(x.i, strides[2])))
                    source = f.at(weight, at, numeric.elem)
                    f.call("void", "pack", f"ptr {source}", f"i64 {across}", f"i64 {along}",
                           f"i64 {rows}", f"i64 {run}", f"ptr {x.values[0]}",
                           f"i64 {tile.columns}", "i64 0")
                    x.carry(f.at(x.values[0], step, numeric.acc))
                y.carry(x.values[0])
            z.carry(y.values[0])
    return f


def _copy(numeric: Numeric, tile: Tile) -> Fn:
    """Copies n neighbouring elements to accumulators."""
    f = Fn("copy", ("ptr %to", "ptr %from", "i64 %n"))
    starts = ["0"]
    for width in (4 * tile.lanes, tile.lanes):
        starts.append(f.v(f"and i64 %n, -{width}"))
    for start, stop, width in zip(starts, (*starts[1:], "%n"), (4 * tile.lanes, tile.lanes, 1)):
        with f.loop(start, stop, width) as i:
            x = numeric.read(f, f.at("%from", i.i, numeric.elem), width)[0]
            f.store(vec(numeric.acc, width), x, f.at("%to", i.i, numeric.acc), numeric.acc_size)
    return f


def _clear(numeric: Numeric, tile: Tile) -> Fn:
    """Sets n accumulators to zero."""
    f = Fn("clear", ("ptr %to", "i64 %n"))
    whole = f.v(f"and i64 %n, -{tile.lanes}")
    for start, stop, width in (("0", whole, tile.lanes), (whole, "%n", 1)):
        with f.loop(start, stop, width) as i:
            f.store(vec(numeric.acc, width), numeric.zero(width),
                    f.at("%to", i.i, numeric.acc), numeric.acc_size)
    return f


def _slab(numeric: Numeric, deep: bool) -> Fn:
    """Copies what a block sees: planes x ny x nx pixels from input position (z, y, x) on.

    `in` is the image's first channel that is wanted, of `channels`; pixels outside are zeros.
    A `deep` pixel holds, for each input channel of a group, a lane for each output channel.
    """
    f = Fn("slab", ("ptr %p", "ptr %q", "ptr %in", "ptr %slab", "i64 %z0", "i64 %y0", "i64 %x0",
                    "i64 %ny", "i64 %nx", "i64 %channels"))
    acc, elem = numeric.acc, numeric.elem
    sd, sh, sw = (get(f, Slot.IN_STRIDES + i) for i in range(3))
    sc = get(f, Slot.IN_CHANNEL)
    depth, height, width = (get(f, Slot.IN_SIZES + i) for i in range(3))
    planes, step, slab_h, slab_w, pitch = (
        _of(f, "%q", s) for s in (Phase.PLANES, Phase.PLANE_STEP, Phase.SLAB_H, Phase.SLAB_W,
                                  Phase.PITCH))
    left = f.min(f.max(f.sub(0, "%x0"), 0), "%nx")
    right = f.max(f.min(f.sub(width, "%x0"), "%nx"), left)
    near = f.cmp("eq", sc, 1)
    whole = f.both(near, f.both(f.cmp("eq", pitch, "%channels"), f.cmp("eq", sw, "%channels")))
    alike = "true"
    if deep:
        spread, own = get(f, Slot.SPREAD), get(f, Slot.CHANNELS)
        alike = f.both(f.cmp("eq", spread, 1), f.cmp("eq", own, 1))
        whole = f.both(whole, alike)
    with f.loop(0, planes) as z:
        iz = f.add("%z0", f.mul(z.i, step))
        z_in = f.cmp("ult", iz, depth)
        with f.loop(0, "%ny") as y:
            iy = f.add("%y0", y.i)
            inside = f.both(z_in, f.cmp("ult", iy, height))
            a, b = f.select(inside, left, "%nx"), f.select(inside, right, "%nx")
            line = f.mul(f.mul(f.add(f.mul(z.i, slab_h), y.i), slab_w), pitch)
            start = f.at("%slab", line, acc)
            f.call("void", "clear", f"ptr {start}", f"i64 {f.mul(a, pitch)}")
            at = f.add(f.add(f.mul(iz, sd), f.mul(iy, sh)), f.mul(f.add("%x0", a), sw))
            source, to = f.at("%in", at, elem), f.at(start, f.mul(a, pitch), acc)
            n = f.sub(b, a)
            with f.when(whole):
                f.call("void", "copy", f"ptr {to}", f"ptr {source}",
                       f"i64 {f.mul(n, '%channels')}")
            with f.otherwise(whole), f.loop(0, n, 1, [("ptr", source), ("ptr", to)]) as x:
                px, pt = x.values
                with f.when(f.both(near, alike)):
                    f.call("void", "copy", f"ptr {pt}", f"ptr {px}", "i64 %channels")
                apart = f.both(alike, f.v(f"xor i1 {near}, true"))
                with f.when(apart), f.loop(0, "%channels") as c:
                    value = numeric.read(f, f.at(px, f.mul(c.i, sc), elem), 1)[0]
                    f.store(acc, value, f.at(pt, c.i, acc), numeric.acc_size)
                if deep:
                    with f.otherwise(alike):
                        f.call("void", "spread", f"ptr {pt}", f"ptr {px}", "i64 %channels",
                               f"i64 {spread}", f"i64 {own}", f"i64 {f.div(pitch, own)}",
                               f"i64 {sc}")
                x.carry(f.at(px, sw, elem), f.at(pt, pitch, acc))
            # After the copy, which may write a little further.
            f.call("void", "clear", f"ptr {f.at(start, f.mul(b, pitch), acc)}",
                   f"i64 {f.mul(f.sub('%nx', b), pitch)}")
    return f


def _spread(numeric: Numeric) -> Fn:
    """One pixel of n output channels: to[c*pitch + g*spread + i] = from[g*own + c], i < spread.

    Written from left to right, each group up to _SPREAD - 1 elements too far.
    """
    f = Fn("spread", ("ptr %to", "ptr %from", "i64 %n", "i64 %spread", "i64 %own", "i64 %pitch",
                      "i64 %sc"))
    acc = numeric.acc
    wide = vec(acc, _SPREAD)
    step = f.mul("%own", "%sc")
    with f.loop(0, "%own", 1, [("ptr", "%to"), ("ptr", "%from")]) as c:
        with f.loop(0, "%n", "%spread", [("ptr", c.values[1])]) as g:
            value = numeric.read(f, g.values[0], 1)[0]
            many = f.splat(acc, wide, _SPREAD, value)
            to = f.at(c.values[0], g.i, acc)
            f.store(wide, many, to, numeric.acc_size)
            with f.loop(_SPREAD, "%spread", _SPREAD) as i:
                f.store(wide, many, f.at(to, i.i, acc), numeric.acc_size)
            g.carry(f.at(g.values[0], step, numeric.elem))
        c.carry(f.at(c.values[0], "%pitch", acc), f.at(c.values[1], "%sc", numeric.elem))
    return f


def _rows(numeric: Numeric, tile: Tile) -> Fn:
    """Addresses of a block's rows: where their sums start in the input, and the output elements.

    Those missing in the last tile read the first row and write behind the accumulators.
    """
    f = Fn("rows", ("ptr %rows", "ptr %outs", "ptr %sums", "i64 %nh", "i64 %nw", "ptr %in",
                    "i64 %in_h", "i64 %in_w", "ptr %out", "i64 %out_h", "i64 %out_w", "ptr %acc",
                    "ptr %spare"))
    step = tile.columns * numeric.acc_size
    with f.loop(0, "%nh", 1, [("ptr", "%in"), ("ptr", "%out"), ("i64", "0")]) as h:
        start = [("ptr", h.values[0]), ("ptr", h.values[1]), ("i64", h.values[2])]
        with f.loop(0, "%nw", 1, start) as w:
            row, out, n = w.values
            f.store("ptr", row, f.at("%rows", n), 8)
            f.store("ptr", out, f.at("%outs", n), 8)
            f.store("ptr", f.at("%acc", f.mul(n, step), "i8"), f.at("%sums", n), 8)
            w.carry(f.at(row, "%in_w", "i8"), f.at(out, "%out_w", "i8"), f.add(n, 1))
        h.carry(f.at(h.values[0], "%in_h", "i8"), f.at(h.values[1], "%out_h", "i8"), w.values[2])
    n = h.values[2]
    with f.loop(n, f.add(n, tile.few)) as i:
        f.store("ptr", "%in", f.at("%rows", i.i), 8)
        f.store("ptr", "%spare", f.at("%outs", i.i), 8)
        f.store("ptr", f.at("%acc", f.mul(i.i, step), "i8"), f.at("%sums", i.i), 8)
    return f


def _finish(numeric: Numeric, tile: Tile) -> Fn:
    """Rounds n columns of m rows of accumulators into the output."""
    f = Fn("finish", ("ptr %outs", "i64 %column", "ptr %acc", "i64 %m", "i64 %n"))
    whole = f.v(f"and i64 %n, -{tile.lanes}")
    with f.loop(0, "%m", 1, [("ptr", "%acc")]) as i:
        source = i.values[0]
        to = f.at(f.load("ptr", f.at("%outs", i.i), 8), "%column", numeric.elem)
        for start, stop, width in (("0", whole, tile.lanes), (whole, "%n", 1)):
            with f.loop(start, stop, width) as j:
                value = f.load(vec(numeric.acc, width), f.at(source, j.i, numeric.acc),
                               numeric.acc_size)
                numeric.write(f, f.at(to, j.i, numeric.elem), width, [value])
        i.carry(f.at(source, tile.columns, numeric.acc))
    return f


def _panel(numeric: Numeric, tile: Tile) -> Fn:
    """m rows of one panel of columns: all blocks of the inner sum in turn."""
    f = Fn("panel", ("ptr %q", "ptr %rows", "i64 %at", "ptr %b", "ptr %sums", "i64 %column",
                     "i64 %m", "i64 %n"))
    slim = f.cmp("sle", "%n", tile.lanes)
    kernel = f.select(slim, "@slim", "@tall", "ptr")
    table = f.at("%q", _of(f, "%q", Phase.K_TABLE))
    tall = f.mul(f.div("%m", tile.rows), tile.rows)
    with f.loop(0, _of(f, "%q", Phase.K_BLOCKS), 1, [("ptr", table)]) as block:
        entry = block.values[0]
        segments = f.at("%q", _of(f, entry, 0))
        count, b = _of(f, entry, 1), f.at("%b", f.mul(_of(f, entry, 2), tile.columns), numeric.acc)
        first = f.cmp("eq", block.i, 0)
        for start, stop, height, code in (("0", tall, tile.rows, kernel),
                                          (tall, "%m", tile.few, "@few")):
            with f.loop(start, stop, height) as r:
                f.put(f"call void {code}(ptr {f.at('%rows', r.i)}, i64 %at, ptr {segments}, "
                      f"i64 {count}, ptr {b}, ptr {f.at('%sums', r.i)}, i64 %column, i1 {first})")
        block.carry(f.at(entry, 3))
    return f


def _task(numeric: Numeric, tile: Tile, deep: bool) -> Fn:
    """One block of output positions and channels of one group and phase."""
    f = Fn("task", ("ptr %p", "i64 %number", "i64 %tid"))
    elem, acc, size = numeric.elem, numeric.acc, numeric.acc_size
    q = _phase_of(f, "%number", Phase.FIRST_TASK)
    rest = f.sub("%number", _of(f, q, Phase.FIRST_TASK))

    def split(rest: str, n: str) -> tuple[str, str]:
        whole = f.div(rest, n)
        return whole, f.sub(rest, f.mul(whole, n))

    rest, block_c = split(rest, get(f, Slot.COLUMN_BLOCKS))
    rest, block_w = split(rest, _of(f, q, Phase.BLOCKS_W))
    rest, block_h = split(rest, _of(f, q, Phase.BLOCKS_H))
    rest, od = split(rest, _of(f, q, Phase.COUNTS))
    image, group = split(rest, get(f, Slot.GROUPS))
    bh, bw = _of(f, q, Phase.BLOCK_H), _of(f, q, Phase.BLOCK_W)
    oh, ow = f.mul(block_h, bh), f.mul(block_w, bw)
    nh = f.min(f.sub(_of(f, q, Phase.COUNTS + 1), oh), bh)
    nw = f.min(f.sub(_of(f, q, Phase.COUNTS + 2), ow), bw)
    c0 = f.mul(block_c, get(f, Slot.COLUMN_BLOCK))
    columns = get(f, Slot.COLUMNS)
    n = f.min(f.sub(columns, c0), get(f, Slot.COLUMN_BLOCK))

    own = f.at(get(f, Slot.SCRATCH, "ptr"), f.mul("%tid", get(f, Slot.SCRATCH_STRIDE)), "i8")
    rows, outs, sums, accs = (f.at(own, get(f, s), "i8") for s in (
        Slot.TH_ROWS, Slot.TH_OUT, Slot.TH_SUMS, Slot.TH_ACC))
    # Where the block's first position starts in the input; below 0 in the padding.
    z, y, x = (f.sub(f.mul(o, _of(f, q, Phase.STRIDES + i)), _of(f, q, Phase.LOW + i))
               for i, o in enumerate((od, oh, ow)))
    channels = get(f, Slot.CHANNELS)
    share = f.div(c0, get(f, Slot.SPREAD)) if deep else group
    channel = f.mul(f.mul(share, channels), get(f, Slot.IN_CHANNEL))
    direct = f.cmp("ne", _of(f, q, Phase.DIRECT), 0)
    extents = [f.add(f.mul(f.sub(count, 1), _of(f, q, Phase.STRIDES + 1 + i)),
                     _of(f, q, Phase.REACH + i)) for i, count in enumerate((nh, nw))]
    there = "0"
    for i, o in enumerate((z, y, x)):
        there = f.add(there, f.mul(o, get(f, Slot.IN_STRIDES + i)))
    place = f.add(_of(f, q, Phase.OUT_FIRST), f.add(f.mul(group, columns), c0))
    out_strides = [_of(f, q, Phase.OUT_STRIDES + i) for i in range(3)]
    for o, stride in zip((od, oh, ow), out_strides):
        place = f.add(place, f.mul(o, stride))
    images = _of(f, q, Phase.BLOCK_N)
    first = f.mul(image, images)
    images = f.min(f.sub(get(f, Slot.BATCH), first), images)
    each = f.mul(nh, nw)
    m = f.mul(each, images)
    spare = f.at(accs, f.mul(f.add(m, tile.few), tile.columns), acc)
    steps = [_of(f, q, s) for s in (Phase.ROW_H, Phase.ROW_W)]
    with f.loop(0, images, 1, [("ptr", own)]) as one:
        number = f.add(first, one.i)
        at = f.add(f.mul(number, get(f, Slot.IN_BATCH)), channel)
        base, slab = f.at(get(f, Slot.IN, "ptr"), at, elem), one.values[0]
        with f.otherwise(direct):
            f.call("void", "slab", "ptr %p", f"ptr {q}", f"ptr {base}", f"ptr {slab}", f"i64 {z}",
                   f"i64 {y}", f"i64 {x}", *(f"i64 {e}" for e in extents),
                   f"i64 {n if deep else channels}")
        source = f.select(direct, f.at(base, there, elem), slab, "ptr")
        out = f.at(get(f, Slot.OUT, "ptr"), f.add(place, f.mul(number, get(f, Slot.OUT_BATCH))),
                   elem)
        done = f.mul(one.i, each)
        tables = [f"ptr {f.at(table, done)}" for table in (rows, outs, sums)]
        held = f.at(accs, f.mul(done, tile.columns), acc)
        f.call("void", "rows", *tables, f"i64 {nh}", f"i64 {nw}", f"ptr {source}",
               *(f"i64 {s}" for s in steps), f"ptr {out}",
               *(f"i64 {f.mul(s, numeric.size)}" for s in out_strides[1:]), f"ptr {held}",
               f"ptr {spare}")
        one.carry(f.at(slab, _of(f, q, Phase.SLAB_BYTES), "i8"))

    panel_bytes = _of(f, q, Phase.PANEL_BYTES)
    number = f.add(f.mul(group, get(f, Slot.PANELS)), f.div(c0, tile.columns))
    packed = f.at(get(f, Slot.PACKED, "ptr"), _of(f, q, Phase.PACKED_AT), "i8")
    with f.loop(0, n, tile.columns,
                [("ptr", f.at(packed, f.mul(number, panel_bytes), "i8"))]) as j:
        width = f.min(f.sub(n, j.i), tile.columns)
        offset = f.mul(j.i, size)
        final = "false" if numeric.widened else f.cmp("eq", width, tile.columns)
        to = f.select(final, outs, sums, "ptr")
        f.call("void", "panel", f"ptr {q}", f"ptr {rows}", f"i64 {offset if deep else 0}",
               f"ptr {j.values[0]}", f"ptr {to}", f"i64 {f.select(final, offset, 0)}", f"i64 {m}",
               f"i64 {width}")
        with f.otherwise(final):
            f.call("void", "finish", f"ptr {outs}", f"i64 {j.i}", f"ptr {accs}", f"i64 {m}",
                   f"i64 {width}")
        j.carry(f.at(j.values[0], panel_bytes, "i8"))
    return f


def _convolve() -> Fn:
    """The tasks lo to hi."""
    f = Fn("convolve", _RANGE_ARGS, internal=False)
    with f.loop("%lo", "%hi") as task:
        f.call("void", "task", "ptr %p", f"i64 {task.i}", "i64 %tid")
    return f


def code(dtype: str, p: Problem, target: Target, threads: int) -> Code:
    """How to run one convolution: operands are the input and the weights."""
    variant, numeric = Variant(dtype, p.deep), NUMERICS[dtype]
    text, packing, convolve = emit(variant, target)
    plan = make_plan(p, numeric, tile_for(numeric, target), target, threads)
    taps = 1
    for k in p.kernel:
        taps *= k
    outputs = p.batch * p.groups * p.columns
    for d in p.out:
        outputs *= d
    return Code(text, [Range(packing, plan.units, plan.units_grain),
                       Range(convolve, plan.tasks, plan.grain)],
                plan.params, [Slot.IN, Slot.WEIGHT], Slot.OUT,
                [(Slot.PACKED, max(64, plan.packed_bytes)), (Slot.SCRATCH, plan.scratch_bytes)],
                2 * outputs * taps * p.channels)
