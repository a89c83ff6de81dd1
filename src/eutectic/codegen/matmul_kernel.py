"""The microkernel: a tile of C in registers, updated along k, and its handling of edges."""

from __future__ import annotations

from eutectic.codegen.matmul_text import Fn
from eutectic.codegen.matmul_types import Numeric, Tile, vec
from eutectic.codegen.targets import Target

KERNEL_ARGS = ("ptr %a", "i64 %ars", "i64 %acs", "ptr %b", "i64 %bks", "ptr %c", "i64 %ldc",
               "i64 %k", "i1 %first")
TILE_ARGS = ("i64 %m", "i64 %n", "ptr %scratch", *KERNEL_ARGS)


def microkernel(name: str, numeric: Numeric, tile: Tile, rows: int, vectors: int) -> Fn:
    """C[rows, vectors * lanes] (+)= A[rows, k] @ B[k, ...], one fma chain an element.

    Strides in accumulator elements; a row of B is contiguous. `first` starts the chains at +0.0,
    otherwise they go on from what C holds. A second plane of A and B follows the first within each
    k; that of C lies half a row further.
    """
    f = Fn(name, KERNEL_ARGS)
    acc, lanes, planes = numeric.acc, tile.lanes, range(numeric.planes)
    wide, size = vec(acc, lanes), numeric.acc_size
    half = f.v("lshr i64 %ldc, 1") if numeric.planes == 2 else "0"
    cells = [(i, j) for i in range(rows) for j in range(vectors)]

    def addresses() -> dict[tuple[int, int, int], str]:
        out = {}
        row = "%c"
        for i in range(rows):
            for p in planes:
                plane = row if p == 0 else f.at(row, half, acc)
                for j in range(vectors):
                    out[i, j, p] = f.at(plane, lanes * j, acc) if j else plane
            if i + 1 < rows:
                row = f.at(row, "%ldc", acc)
        return out

    keys = [(i, j, p) for i, j in cells for p in planes]
    f.put("br i1 %first, label %go, label %resume")
    f.start("resume")
    where = addresses()
    held = {key: f.load(wide, where[key], size) for key in keys}
    f.put("br label %go")
    f.start("go")
    start = [f.merge(wide, ("zeroinitializer", "entry"), (held[key], "resume")) for key in keys]

    stride, along_a, along_b = (f.mul(x, size) for x in ("%ars", "%acs", "%bks"))
    twice = f.mul(stride, 2)
    thrice = f.mul(stride, 3)
    groups = ["%a"]
    while 3 * len(groups) < rows:
        groups.append(f.at(groups[-1], thrice, "i8"))
    carried = [("ptr", "%b"), *(("ptr", g) for g in groups), *((wide, s) for s in start)]
    with f.loop(0, "%k", 1, carried) as loop:
        pb, pas = loop.values[0], loop.values[1:1 + len(groups)]
        sums = dict(zip(keys, loop.values[1 + len(groups):]))
        b = [[f.load(wide, f.at(pb, (p * tile.vectors + j) * lanes, acc), size) for p in planes]
             for j in range(vectors)]
        for i in range(rows):
            base = pas[i // 3]
            row = (base, f.at(base, stride, "i8"), f.at(base, twice, "i8"))[i % 3]
            a = []
            for p in planes:
                scalar = f.load(acc, f.at(row, p * tile.rows, acc) if p else row, size)
                a.append(f.splat(acc, wide, lanes, scalar))
            for j in range(vectors):
                new = numeric.multiply_add(f, lanes, a, b[j], [sums[i, j, p] for p in planes])
                sums.update({(i, j, p): new[p] for p in planes})
        after = [f.at(pb, along_b, "i8"), *(f.at(p, along_a, "i8") for p in pas)]
        loop.carry(*after, *(sums[key] for key in keys))
    final = dict(zip(keys, loop.values[1 + len(groups):]))
    where = addresses()
    for key in keys:
        f.store(wide, final[key], where[key], size)
    return f


def copy_rows(numeric: Numeric, tile: Tile, target: Target) -> Fn:
    """Copies m rows of n elements (at most one tile wide) between two row strides."""
    f = Fn("copy_rows", ("ptr %to", "i64 %ldt", "ptr %from", "i64 %ldf", "i64 %m", "i64 %n"))
    acc, lanes, size = numeric.acc, tile.lanes, numeric.acc_size
    wide, mask_type = vec(acc, lanes), vec("i1", lanes)
    masks = []
    if target.masked_stores:
        lane = ", ".join(f"i32 {i}" for i in range(lanes))
        count = f.v("trunc i64 %n to i32")
        for j in range(tile.vectors):
            left = f.v(f"sub i32 {count}, {lanes * j}")
            many = f.splat("i32", vec("i32", lanes), lanes, left)
            masks.append(f.v(f"icmp sgt {vec('i32', lanes)} {many}, <{lane}>"))
    with f.loop(0, "%m", 1, [("ptr", "%to"), ("ptr", "%from")]) as rows:
        to, source = rows.values
        suffix = f"v{lanes}{'i' if acc[0] == 'i' else 'f'}{8 * size}.p0"
        for j, mask in enumerate(masks):
            source_j, to_j = f.at(source, lanes * j, acc), f.at(to, lanes * j, acc)
            value = f.call(wide, f"llvm.masked.load.{suffix}", f"ptr {source_j}",
                           f"{mask_type} {mask}", f"{wide} zeroinitializer")
            f.call("void", f"llvm.masked.store.{suffix}", f"{wide} {value}", f"ptr {to_j}",
                   f"{mask_type} {mask}")
        if not masks:
            with f.loop(0, "%n") as column:
                value = f.load(acc, f.at(source, column.i, acc), size)
                f.store(acc, value, f.at(to, column.i, acc), size)
        rows.carry(f.at(to, "%ldt", acc), f.at(source, "%ldf", acc))
    return f


def tile_function(numeric: Numeric, tile: Tile) -> Fn:
    """Runs the microkernel for m x n valid elements; a partial tile goes through the scratch.

    m is tile.rows, or at most tile.few. Widened types have padded accumulators: no partial tiles.
    """
    f = Fn("tile", TILE_ARGS)
    tall = f.cmp("eq", "%m", tile.rows)
    slim = f.cmp("sle", "%n", tile.lanes)
    kernel = f.select(tall, f.select(slim, "@kernel_slim", "@kernel_tall", "ptr"), "@kernel_few",
                      "ptr")
    arguments = "ptr %a, i64 %ars, i64 %acs, ptr %b, i64 %bks"
    if numeric.widened:
        f.put(f"call void {kernel}({arguments}, ptr %c, i64 %ldc, i64 %k, i1 %first)")
        return f
    rows_full = f.either(tall, f.cmp("eq", "%m", tile.few))
    full = f.both(rows_full, f.cmp("eq", "%n", tile.columns))
    partial = f.v(f"xor i1 {full}, true")
    c = f.select(full, "%c", "%scratch", "ptr")
    ldc = f.select(full, "%ldc", tile.columns)
    with f.when(f.both(partial, f.v("xor i1 %first, true"))):
        f.call("void", "copy_rows", f"ptr {c}", f"i64 {ldc}", "ptr %c", "i64 %ldc", "i64 %m",
               "i64 %n")
    f.put(f"call void {kernel}({arguments}, ptr {c}, i64 {ldc}, i64 %k, i1 %first)")
    with f.when(partial):
        f.call("void", "copy_rows", "ptr %c", "i64 %ldc", f"ptr {c}", f"i64 {ldc}", "i64 %m",
               "i64 %n")
    return f
