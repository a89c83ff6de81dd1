"""Products with a single row or column: fixed lanes instead of one chain.

Lane l of an output accumulates fma over k = l, l + L, l + 2L, ... in increasing k from +0.0; L is
16 where accumulators have 4 bytes and 8 where they have 8. Lanes are combined by halves: first
l + (l + L/2), down to 0 + 1. A row times a matrix is computed as the transposed product, which
only complex numbers can tell (`Numeric.multiply_add`). The layouts below give equal bits:

- dot: k is contiguous in the matrix; a vector register holds the lanes of an output.
- rows: outputs are contiguous; L rows of accumulators for a strip of outputs stay in the L1 cache.
- any: other strides, an element at a time.
"""

from __future__ import annotations

from eutectic.codegen.matmul_plan import Plan, Slot, Source
from eutectic.codegen.matmul_text import Fn, entry_offset, get
from eutectic.codegen.matmul_types import NUMERICS, Numeric, vec
from eutectic.codegen.targets import Target

_CHUNK = 2048  # values of k at a time: a part of the vector that stays in the L1 cache
_STRIP = 1024  # outputs at a time, at most: long pieces of rows to read
_TOGETHER = 4
_SEGMENT = 64
_TASK_WORK = 1 << 15

_PART_ARGS = ("ptr %w", "i64 %os", "i64 %ks", "ptr %x", "ptr %acc", "i64 %n", "i64 %k",
              "i64 %strip")


def lanes_of(numeric: Numeric) -> int:
    """L, the number of partial sums of an output."""
    return 64 // numeric.acc_size


def matvec_plan(dtype: str, target: Target, m: int, n: int, k: int, batch: int,
                threads: int) -> Plan:
    """Strips and workspace of a matrix-vector product."""
    numeric = NUMERICS[dtype]
    outputs = m * n
    strip = _STRIP
    while strip > _SEGMENT and batch * -(-outputs // strip) < 2 * threads:
        strip //= 2
    per_task = min(strip, max(outputs, 1)) * max(k, 1)
    values = _CHUNK + (lanes_of(numeric) + 1) * strip
    size = -(-values * numeric.acc_size * numeric.planes // 4096) * 4096 + 64
    return Plan(0, strip, _CHUNK, 0, 0, 0, max(1, _TASK_WORK // per_task), Source.DIRECT,
                Source.DIRECT, 0, 0, size, 0, 0, False, threads * size)


def matvec_functions(numeric: Numeric, target: Target) -> list[Fn]:
    """The functions of a matrix-vector module; the first is the entry."""
    return [_entry(), _range(numeric), _dot(numeric), _rows(numeric), _any(numeric)]


def _entry() -> Fn:
    f = Fn("entry", ("ptr %p", "i64 %lo", "i64 %hi", "i64 %tid"), internal=False)
    outputs = f.mul(get(f, Slot.M), get(f, Slot.N))
    strips = f.ceil_div(outputs, get(f, Slot.COLUMN_BLOCK))
    tasks, grain = f.mul(strips, get(f, Slot.BATCH)), get(f, Slot.GRAIN)
    alone = f.cmp("sle", tasks, grain)
    with f.when(alone):
        f.call("void", "strips", "ptr %p", "i64 0", f"i64 {tasks}", "i64 %tid")
    with f.otherwise(alone):
        f.call("void", "ev_parallel", "ptr @strips", "ptr %p", f"i64 {tasks}", f"i64 {grain}")
    return f


def _range(numeric: Numeric) -> Fn:
    """Computes strips of outputs lo to hi."""
    f = Fn("strips", ("ptr %p", "i64 %lo", "i64 %hi", "i64 %tid"))
    acc, elem, size, lanes = numeric.acc, numeric.elem, numeric.acc_size, lanes_of(numeric)
    planes = range(numeric.planes)
    # One column: A is the matrix. One row: B is, transposed.
    column = f.cmp("eq", get(f, Slot.N), 1)

    def pick(a: Slot, b: Slot, ty: str = "i64") -> str:
        return f.load(ty, f.at("%p", f.select(column, int(a), int(b))), 8)

    outputs, depth = f.mul(get(f, Slot.M), get(f, Slot.N)), get(f, Slot.K)
    os, ks = pick(Slot.A_ROW, Slot.B_COL), pick(Slot.A_COL, Slot.B_ROW)
    xs = pick(Slot.B_ROW, Slot.A_COL)
    cs = f.select(column, get(f, Slot.C_ROW), 1)
    strip = get(f, Slot.COLUMN_BLOCK)
    strips = f.ceil_div(outputs, strip)
    x_copy = f.at(get(f, Slot.WORKSPACE, "ptr"), f.mul("%tid", get(f, Slot.WS_THREAD_SIZE)), "i8")
    sums = f.at(x_copy, _CHUNK * numeric.planes, acc)
    plane = f.mul(strip, lanes)  # accumulators of one plane
    result = f.at(sums, f.mul(plane, numeric.planes), acc)
    dot, rows = f.cmp("eq", ks, 1), f.cmp("eq", os, 1)
    rows = f.both(rows, f.v(f"xor i1 {dot}, true"))
    part = f.select(dot, "@dot", f.select(rows, "@rows", "@any", "ptr"), "ptr")
    in_place = f.both(f.cmp("eq", xs, 1), "false" if numeric.widened else "true")
    with f.loop("%lo", "%hi") as task:
        batch = f.div(task.i, strips)
        first = f.mul(f.sub(task.i, f.mul(batch, strips)), strip)
        n = f.min(f.sub(outputs, first), strip)
        w_at = entry_offset(f, pick(Slot.A_OFFSETS, Slot.B_OFFSETS, "ptr"), batch)
        x_at = entry_offset(f, pick(Slot.B_OFFSETS, Slot.A_OFFSETS, "ptr"), batch)
        w = f.at(pick(Slot.A, Slot.B, "ptr"), f.add(w_at, f.mul(first, os)), elem)
        x = f.at(pick(Slot.B, Slot.A, "ptr"), x_at, elem)
        with f.loop(0, f.mul(plane, numeric.planes), lanes) as i:
            f.store(vec(acc, lanes), "zeroinitializer", f.at(sums, i.i, acc), size)
        with f.loop(0, depth, _CHUNK) as k:
            count = f.min(f.sub(depth, k.i), _CHUNK)
            x_now = f.at(x, f.mul(k.i, xs), elem)
            with f.otherwise(in_place), f.loop(0, count) as i:
                value = numeric.read(f, f.at(x_now, f.mul(i.i, xs), elem), 1)
                for p in planes:
                    f.store(acc, value[p], f.at(x_copy, f.add(i.i, p * _CHUNK), acc), size)
            x_now = f.select(in_place, x_now, x_copy, "ptr")
            w_now = f.at(w, f.mul(k.i, ks), elem)
            f.put(f"call void {part}(ptr {w_now}, i64 {os}, i64 {ks}, ptr {x_now}, ptr {sums}, "
                  f"i64 {n}, i64 {count}, i64 {strip})")
        _combine(f, numeric, dot, rows, sums, result, n, strip)
        c_at = f.add(f.mul(batch, get(f, Slot.C_BATCH)), f.mul(first, cs))
        c = f.at(get(f, Slot.C, "ptr"), c_at, elem)
        whole = f.select(f.cmp("eq", cs, 1), f.v(f"and i64 {n}, -{lanes}"), 0)
        for start, stop, width in (("0", whole, lanes), (whole, n, 1)):
            with f.loop(start, stop, width) as o:
                spots = [f.at(result, f.add(o.i, f.mul(strip, p)), acc) for p in planes]
                value = [f.load(vec(acc, width), s, size) for s in spots]
                numeric.write(f, f.at(c, f.mul(o.i, cs), elem), width, value)
        epilogue = get(f, Slot.EPILOGUE, "ptr")
        with f.when(f.v(f"icmp ne ptr {epilogue}, null")):
            begin = f.add(f.mul(batch, outputs), first)
            f.put(f"call void {epilogue}(ptr {get(f, Slot.EPILOGUE_PARAMS, 'ptr')}, i64 {begin}, "
                  f"i64 {f.add(begin, n)}, i64 %tid)")
    return f


def _combine(f: Fn, numeric: Numeric, dot: str, rows: str, sums: str, result: str, n: str,
             strip: str) -> None:
    """Adds up the lanes by halves; they lie side by side, or for `rows` a strip apart."""
    acc, size, lanes = numeric.acc, numeric.acc_size, lanes_of(numeric)
    plus = "fadd" if acc in ("float", "double") else "add"
    wide = vec(acc, lanes)
    with f.loop(0, f.mul(strip, numeric.planes), strip) as p:
        base = f.at(sums, f.mul(p.i, lanes), acc)
        out = f.at(result, p.i, acc)
        with f.when(rows), f.loop(0, n, lanes) as o:
            # The last vector may run into outputs past n: the strip has room for them.
            rest = [f.load(wide, f.at(base, f.add(o.i, f.mul(strip, lane)), acc), size)
                    for lane in range(lanes)]
            while len(rest) > 1:
                half = len(rest) // 2
                rest = [f.v(f"{plus} {wide} {a}, {b}") for a, b in zip(rest, rest[half:])]
            f.store(wide, rest[0], f.at(out, o.i, acc), size)
        with f.otherwise(rows), f.loop(0, n) as o:
            total = f.load(wide, f.at(base, f.mul(o.i, lanes), acc), size)
            half = lanes // 2
            while half:
                pair = vec(acc, 2 * half)
                low, high = (
                    f.v(f"shufflevector {pair} {total}, {pair} poison, <{half} x i32> "
                        f"<{', '.join(f'i32 {i + s}' for i in range(half))}>")
                    if half > 1 else f.v(f"extractelement {pair} {total}, i32 {s}")
                    for s in (0, half))
                total = f.v(f"{plus} {vec(acc, half)} {low}, {high}")
                half //= 2
            f.store(acc, total, f.at(out, o.i, acc), size)


def _dot(numeric: Numeric) -> Fn:
    """k is contiguous: four outputs at a time, a register of lanes each."""
    f = Fn("dot", _PART_ARGS)
    acc, elem, size, lanes = numeric.acc, numeric.elem, numeric.acc_size, lanes_of(numeric)
    planes, wide = range(numeric.planes), vec(acc, lanes)
    plane = f.mul("%strip", lanes)
    whole, fours = f.v(f"and i64 %k, -{lanes}"), f.v("and i64 %n, -4")
    for start, stop, height in (("0", fours, 4), (fours, "%n", 1)):
        with f.loop(start, stop, height) as o:
            rows = [f.at("%w", f.mul(f.add(o.i, r), "%os"), elem) for r in range(height)]
            spots = [[f.at("%acc", f.add(f.mul(f.add(o.i, r), lanes), f.mul(plane, p)), acc)
                      for p in planes] for r in range(height)]
            held = [(wide, f.load(wide, s, size)) for row in spots for s in row]
            with f.loop(0, whole, lanes, held) as k:
                x = [f.load(wide, f.at("%x", f.add(k.i, p * _CHUNK), acc), size) for p in planes]
                after: list[str] = []
                for r, row in enumerate(rows):
                    value = numeric.read(f, f.at(row, k.i, elem), lanes)
                    now = k.values[r * numeric.planes:(r + 1) * numeric.planes]
                    after += numeric.multiply_add(f, lanes, value, x, now)
                k.carry(*after)
            for sum_, place in zip(k.values, [s for row in spots for s in row]):
                f.store(wide, sum_, place, size)
            with f.loop(whole, "%k") as k:
                lane = f.sub(k.i, whole)
                x = [f.load(acc, f.at("%x", f.add(k.i, p * _CHUNK), acc), size) for p in planes]
                for row, spot in zip(rows, spots):
                    value = numeric.read(f, f.at(row, k.i, elem), 1)
                    _update(f, numeric, 1, [value], [x], [f.at(s, lane, acc) for s in spot])
    return f


def _rows(numeric: Numeric) -> Fn:
    """Outputs are contiguous: row k of the matrix goes into the accumulators of lane k % L.

    _TOGETHER rows of a lane at a time, so that accumulators are loaded and stored less often.
    """
    f = Fn("rows", _PART_ARGS)
    acc, elem, lanes = numeric.acc, numeric.elem, lanes_of(numeric)
    planes, plane = range(numeric.planes), f.mul("%strip", lanes)
    apart = f.mul("%ks", lanes)
    whole = f.v(f"and i64 %n, -{lanes}")
    group = lanes * _TOGETHER
    grouped = f.v(f"and i64 %k, -{group}")
    for begin, end, count in (("0", grouped, _TOGETHER), (grouped, "%k", 1)):
        # Counts lanes: within a group, lane 0 to L-1 before the next group.
        steps = f.div(f.sub(end, begin), count)
        with f.loop(0, steps) as i:
            lane = f.v(f"and i64 {i.i}, {lanes - 1}")
            k = f.add(begin, f.add(lane, f.mul(f.sub(i.i, lane), count)))
            rows = [f.at("%w", f.mul(k, "%ks"), elem)]
            for _ in range(count - 1):
                rows.append(f.at(rows[-1], apart, elem))
            sums = f.at("%acc", f.mul(lane, "%strip"), acc)
            x = [[f.load(acc, f.at("%x", f.add(k, r * lanes + p * _CHUNK), acc), numeric.acc_size)
                  for p in planes] for r in range(count)]
            wide = [[f.splat(acc, vec(acc, lanes), lanes, v) for v in row] for row in x]
            for start, stop, width, factor in (("0", whole, lanes, wide), (whole, "%n", 1, x)):
                with f.loop(start, stop, width) as o:
                    values = [numeric.read(f, f.at(row, o.i, elem), width) for row in rows]
                    spots = [f.at(sums, f.add(o.i, f.mul(plane, p)), acc) for p in planes]
                    _update(f, numeric, width, values, factor, spots)
    return f


def _any(numeric: Numeric) -> Fn:
    """Any strides, an element at a time."""
    f = Fn("any", _PART_ARGS)
    acc, elem, size, lanes = numeric.acc, numeric.elem, numeric.acc_size, lanes_of(numeric)
    planes, plane = range(numeric.planes), f.mul("%strip", lanes)
    with f.loop(0, "%n") as o:
        row, sums = f.at("%w", f.mul(o.i, "%os"), elem), f.at("%acc", f.mul(o.i, lanes), acc)
        with f.loop(0, "%k") as k:
            lane = f.v(f"and i64 {k.i}, {lanes - 1}")
            x = [f.load(acc, f.at("%x", f.add(k.i, p * _CHUNK), acc), size) for p in planes]
            value = numeric.read(f, f.at(row, f.mul(k.i, "%ks"), elem), 1)
            spots = [f.at(sums, f.add(lane, f.mul(plane, p)), acc) for p in planes]
            _update(f, numeric, 1, [value], [x], spots)
    return f


def _update(f: Fn, numeric: Numeric, n: int, a: list[list[str]], b: list[list[str]],
            spots: list[str]) -> None:
    """Continues the chains in memory with the products of a and b, in order."""
    ty = vec(numeric.acc, n)
    held = [f.load(ty, s, numeric.acc_size) for s in spots]
    for left, right in zip(a, b):
        held = numeric.multiply_add(f, n, left, right, held)
    for value, spot in zip(held, spots):
        f.store(ty, value, spot, numeric.acc_size)
