"""Matrix products on the GPU: each element is one `fma` chain in increasing k, as on the CPU.

A block of 16 x 16 threads computes a square tile of the result, each thread `side` x `side` of
its elements in registers. Slices of both operands pass through shared memory, the next one being
loaded while the threads work on one. Where k ends within a slice, factors whose product is -0.0
stand in: adding that changes no bits.

A product with a single row or column has the fixed lanes of `codegen.matvec`: a lane of an output
is a thread, and lanes meet by halves in shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eutectic.codegen.blocks import Function, Module, load, store, to_memory
from eutectic.codegen.nvptx.thread import SHARED, Thread
from eutectic.codegen.scalars import constant, element_type
from eutectic.dtype import BY_NAME
from eutectic.kernel.rounding import rounded
from eutectic.kernel.scalar import BITS, Value, fma, pattern
from eutectic.kernel.spec import roots_of

THREADS = 256
_ACROSS = 16
DEPTH = 8
"""Length of a slice along k."""
_PAD = 4
FEW_BLOCKS = 128
"""Blocks of threads below which a smaller tile is taken: a GPU has about as many processors."""

# Slots of the parameter block; a (size, step of A, step of B) for each batch axis follows.
A, B, C, M, N, K, A_ROW, A_DEPTH, B_DEPTH, B_COLUMN, DIMS, BATCH = range(12)


@dataclass(frozen=True, slots=True)
class Product:
    """What a kernel depends on: the dtype, the side of a thread's tile (0 with a single row or
    column), and along which axis neighbouring elements of the operands lie: `deep` where that is k.
    """

    dtype: str
    side: int
    a_deep: bool
    b_deep: bool

    @property
    def tile(self) -> int:
        return _ACROSS * self.side

    @property
    def lanes(self) -> int:
        """Of an output of a product with a single row or column."""
        return 64 // (BITS[BY_NAME[self.dtype].compute] // 8)

    @property
    def shared(self) -> int:
        """Bytes of shared memory."""
        if not self.side:
            return THREADS * BITS[BY_NAME[self.dtype].compute] // 8
        return 2 * DEPTH * (self.tile + _PAD) * BITS[BY_NAME[self.dtype].compute] // 8


def choose(dtype: str, m: int, n: int, batch: int, a_deep: bool, b_deep: bool) -> Product:
    """The largest tile that still gives every processor of the GPU something to do."""
    if m == 1 or n == 1:
        deep = b_deep if m == 1 else a_deep  # the matrix's
        return Product(dtype, 0, deep, deep)
    sides = (4, 2) if dtype == "float64" else (8, 4, 2)
    for side in sides:
        tile = _ACROSS * side
        if -(-m // tile) * -(-n // tile) * batch >= FEW_BLOCKS:
            break
    return Product(dtype, side, a_deep, b_deep)


def blocks(p: Product, m: int, n: int, batch: int) -> int:
    """Blocks of threads that compute a product."""
    if not p.side:
        return -(-m * n // (THREADS // p.lanes)) * batch
    return -(-m // p.tile) * -(-n // p.tile) * batch


class ProductKernel(Thread):
    """The text of a thread."""

    def __init__(self, m: Module, p: Product, name: str) -> None:
        self.m = m
        self.p = p
        self.name = name
        self.fn = Function(m)
        self.d = BY_NAME[p.dtype]
        self.ty = self.d.compute
        self.size = BITS[self.ty] // 8
        self.per = p.tile * DEPTH // THREADS
        """Elements of an operand's slice that a thread loads."""

    def main(self) -> None:
        fn, p = self.fn, self.p
        m, n, k, a, b, c = self._begin()
        across = self._tiles(n)
        whole = fn.mul(self._tiles(m), across)
        batch = fn.bind(f"udiv i64 {self.block_id}, {whole}")
        rest = fn.bind(f"sub i64 {self.block_id}, {fn.mul(batch, whole)}")
        down = fn.bind(f"udiv i64 {rest}, {across}")
        row0 = fn.mul(down, p.tile)
        column0 = fn.mul(fn.bind(f"sub i64 {rest}, {fn.mul(down, across)}"), p.tile)
        a, b = self._batched(batch, a, b)
        c = fn.add(c, fn.mul(fn.mul(batch, fn.mul(m, n)), self.d.size))
        pieces = [self._pieces(a, row0, m, A_ROW, A_DEPTH, p.a_deep),
                  self._pieces(b, column0, n, B_COLUMN, B_DEPTH, p.b_deep)]
        last = fn.bind(f"sub i64 {k}, 1")
        total = self._slices(pieces, k, last)
        self._results(total, c, row0, column0, m, n)
        self._end()

    def _begin(self) -> list[str]:
        """m, n, k, and the addresses of the operands and the result."""
        fn = self.fn
        fn.start("entry")
        self.numbers()
        fn.line(f"%shared = addrspacecast ptr addrspace(3) {SHARED} to ptr")
        return [fn.slot(s) for s in (M, N, K, A, B, C)]

    def _end(self) -> None:
        self.fn.line("ret void")
        text = "\n".join(self.fn.lines)
        self.m.functions.append(
            f"define ptx_kernel void @{self.name}(ptr %params, i64 %total) #0 {{\n{text}\n}}")

    def _tiles(self, length: str) -> str:
        return self.fn.bind(f"udiv i64 {self.fn.add(length, self.p.tile - 1)}, {self.p.tile}")

    def _batched(self, batch: str, a: str, b: str) -> tuple[str, str]:
        """Addresses of the operands' matrices of a batch number."""
        fn = self.fn
        dims = fn.slot(DIMS)
        pre, head, body, done = (fn.label(s) for s in ("bp", "bh", "bb", "bd"))
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        h = f"%{head}"
        fn.line(f"{h}d = phi i64 [{dims}, %{pre}], [{h}dn, %{body}]")
        fn.line(f"{h}r = phi i64 [{batch}, %{pre}], [{h}rn, %{body}]")
        fn.line(f"{h}a = phi i64 [{a}, %{pre}], [{h}an, %{body}]")
        fn.line(f"{h}b = phi i64 [{b}, %{pre}], [{h}bn, %{body}]")
        c = fn.bind(f"icmp eq i64 {h}d, 0")
        fn.line(f"br i1 {c}, label %{done}, label %{body}")
        fn.start(body)
        fn.line(f"{h}dn = sub i64 {h}d, 1")
        table = fn.add(fn.mul(f"{h}dn", 3), BATCH)
        size, step_a, step_b = (fn.slot(fn.add(table, i)) for i in range(3))
        fn.line(f"{h}rn = udiv i64 {h}r, {size}")
        index = fn.bind(f"sub i64 {h}r, {fn.mul(f'{h}rn', size)}")
        fn.line(f"{h}an = add i64 {h}a, {fn.mul(index, step_a)}")
        fn.line(f"{h}bn = add i64 {h}b, {fn.mul(index, step_b)}")
        fn.line(f"br label %{head}")
        fn.start(done)
        return f"{h}a", f"{h}b"

    def _pieces(self, base: str, first: str, length: str, across: int, down: int,
                deep: bool) -> list[tuple[str, str, str, str]]:
        """Of each element that the thread loads: address at k 0, its k, step along k, and place.

        Neighbouring threads take neighbours in memory.
        """
        fn, tile = self.fn, self.p.tile
        step, step_k = fn.slot(across), fn.slot(down)
        last = fn.bind(f"sub i64 {length}, 1")
        out = []
        for i in range(self.per):
            e = fn.add(self.tid, i * THREADS)
            fast = DEPTH if deep else tile
            high = fn.bind(f"udiv i64 {e}, {fast}")
            low = fn.bind(f"sub i64 {e}, {fn.mul(high, fast)}")
            k, x = (low, high) if deep else (high, low)
            at = fn.add(base, fn.mul(fn.least(fn.add(first, x), last), step))
            place = fn.mul(fn.add(fn.mul(k, tile + _PAD), x), self.size)
            out.append((at, k, step_k, place))
        return out

    def _load(self, pieces: Sequence[tuple[str, str, str, str]], k0: str, k: str, last: str,
              beyond: str) -> list[str]:
        """The thread's elements of a slice, as they are computed with."""
        fn = self.fn
        found = []
        for at, own, step, _place in pieces:
            here = fn.add(k0, own)
            address = fn.add(at, fn.mul(fn.least(here, last), step))
            found.append(self._element(address, fn.bind(f"icmp slt i64 {here}, {k}"), beyond))
        return found

    def _element(self, address: str, inside: str, beyond: str) -> str:
        """The element at an address as it is computed with, or what stands in for it."""
        fn, t, bound = self.fn, element_type(self.ty), dict[int, str]()
        v = load(fn.emitter(1), self.d, self.pointer(address), bound)
        [reg] = fn.emitter(1).body(roots_of(v), bound)
        return fn.bind(f"select i1 {inside}, {t} {reg}, {t} {beyond}")

    def _beyond(self) -> list[str]:
        """Factors that stand in where there are none: their product is -0.0."""
        return [constant(pattern(x, self.ty), self.ty, 1) for x in (-0.0, 0.0)]

    def _put(self, inside: str, address: str, reg: str) -> None:
        """Store a result, rounded, where a condition holds."""
        fn = self.fn
        there, skip = fn.label("put"), fn.label("puts")
        fn.line(f"br i1 {inside}, label %{there}, label %{skip}")
        fn.start(there)
        v = Value("arg", self.ty)
        e = fn.emitter(1)
        stored = e.body(to_memory(self.d, rounded(v, self.d)), {id(v): reg})
        store(e, self.d, self.pointer(address), stored)
        fn.line(f"br label %{skip}")
        fn.start(skip)

    def _slices(self, pieces: Sequence[Sequence[tuple[str, str, str, str]]], k: str,
                last: str) -> list[list[str]]:
        """The loop along k; the thread's elements of the result."""
        fn, side, t = self.fn, self.p.side, element_type(self.ty)
        beyond = self._beyond()
        zero = constant(0, self.ty, 1)
        ahead = [r for x, none in zip(pieces, beyond) for r in self._load(x, "0", k, last, none)]
        places = [(i, place) for i, x in enumerate(pieces) for _a, _k, _s, place in x]
        pre, head, done = fn.label("kp"), fn.label("kh"), fn.label("kd")
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        k0 = f"%{head}k"
        fn.line(f"{k0} = phi i64 [0, %{pre}], [{k0}n, %{head}]")
        held = [f"%{head}h{i}" for i in range(len(ahead))]
        sums = [[f"%{head}s{i}_{j}" for j in range(side)] for i in range(side)]
        at = len(fn.lines)
        fn.lines.extend([""] * (len(held) + side * side))
        for (i, place), r in zip(places, held):
            fn.line(f"store {t} {r}, ptr {self._shared(i, place)}, align {self.size}")
        self.barrier()
        fn.line(f"{k0}n = add i64 {k0}, {DEPTH}")
        later = [r for x, none in zip(pieces, beyond)
                 for r in self._load(x, f"{k0}n", k, last, none)]
        total = sums
        for kk in range(DEPTH):
            left, right = (self._row(i, kk, axis) for i, axis in ((0, self.down), (1, self.across)))
            total = [[self._fma(x, y, s) for y, s in zip(right, row)]
                     for x, row in zip(left, total)]
        self.barrier()
        more = fn.bind(f"icmp slt i64 {k0}n, {k}")
        fn.line(f"br i1 {more}, label %{head}, label %{done}")
        lines = [f"  {h} = phi {t} [{r}, %{pre}], [{n}, %{head}]"
                 for h, r, n in zip(held, ahead, later)]
        lines += [f"  {s} = phi {t} [{zero}, %{pre}], [{r}, %{head}]"
                  for row, new in zip(sums, total) for s, r in zip(row, new)]
        fn.lines[at:at + len(lines)] = lines
        fn.start(done)
        return total

    def _fma(self, x: str, y: str, s: str) -> str:
        values = [Value("arg", self.ty) for _ in range(3)]
        bound = {id(v): r for v, r in zip(values, (x, y, s))}
        return self.fn.emitter(1).body([fma(*values)], bound)[0]

    def _shared(self, operand: int, offset: str) -> str:
        start = operand * DEPTH * (self.p.tile + _PAD) * self.size
        return self.fn.bind(f"getelementptr i8, ptr %shared, i64 {self.fn.add(offset, start)}")

    @property
    def down(self) -> str:
        """The thread's row among the block's threads."""
        return self.fn.bind(f"lshr i64 {self.tid}, {_ACROSS.bit_length() - 1}")

    @property
    def across(self) -> str:
        return self.fn.bind(f"and i64 {self.tid}, {_ACROSS - 1}")

    def _lanes(self) -> int:
        """Neighbouring elements that a thread takes: 16 bytes of shared memory."""
        return min(self.p.side, 16 // self.size)

    def _row(self, operand: int, k: int, number: str) -> list[str]:
        """The thread's elements of a row of a slice."""
        fn, w, t = self.fn, self._lanes(), element_type(self.ty)
        out = []
        for group in range(self.p.side // w):
            index = fn.add(fn.mul(number, w), k * (self.p.tile + _PAD) + group * w * _ACROSS)
            p = self._shared(operand, fn.mul(index, self.size))
            v = fn.bind(f"load <{w} x {t}>, ptr {p}, align {w * self.size}")
            out += [fn.bind(f"extractelement <{w} x {t}> {v}, i64 {i}") for i in range(w)]
        return out

    def _results(self, total: Sequence[Sequence[str]], c: str, row0: str, column0: str, m: str,
                 n: str) -> None:
        fn, w = self.fn, self._lanes()

        def numbers(first: str, own: str) -> list[str]:
            start = fn.add(first, fn.mul(own, w))
            return [fn.add(start, i // w * w * _ACROSS + i % w) for i in range(self.p.side)]
        rows, columns = numbers(row0, self.down), numbers(column0, self.across)
        for row, regs in zip(rows, total):
            inside = fn.bind(f"icmp slt i64 {row}, {m}")
            start = fn.mul(row, n)
            for column, reg in zip(columns, regs):
                both = fn.bind(f"and i1 {inside}, {fn.bind(f'icmp slt i64 {column}, {n}')}")
                at = fn.add(c, fn.mul(fn.add(start, column), self.d.size))
                self._put(both, at, reg)


class VectorKernel(ProductKernel):
    """Products with a single row or column."""

    AHEAD = 4
    """Steps of a lane whose elements are loaded together."""

    def main(self) -> None:
        fn, lanes, t = self.fn, self.p.lanes, element_type(self.ty)
        m, n, k, a, b, c = self._begin()
        outputs = fn.mul(m, n)
        per = THREADS // lanes
        strips = fn.bind(f"udiv i64 {fn.add(outputs, per - 1)}, {per}")
        batch = fn.bind(f"udiv i64 {self.block_id}, {strips}")
        strip = fn.bind(f"sub i64 {self.block_id}, {fn.mul(batch, strips)}")
        fast = lanes if self.p.a_deep else per
        high = fn.bind(f"udiv i64 {self.tid}, {fast}")
        low = fn.bind(f"sub i64 {self.tid}, {fn.mul(high, fast)}")
        lane, own = (low, high) if self.p.a_deep else (high, low)
        output = fn.add(fn.mul(strip, per), own)
        inside = fn.bind(f"icmp slt i64 {output}, {outputs}")
        there = fn.least(output, fn.bind(f"sub i64 {outputs}, 1"))
        row = fn.bind(f"udiv i64 {there}, {n}")
        column = fn.bind(f"sub i64 {there}, {fn.mul(row, n)}")
        a, b = self._batched(batch, a, b)
        a = fn.add(a, fn.mul(row, fn.slot(A_ROW)))
        b = fn.add(b, fn.mul(column, fn.slot(B_COLUMN)))
        place = fn.mul(fn.add(fn.mul(lane, per), own), self.size)
        total = self._chain(a, b, lane, k)
        half = lanes // 2
        while half:
            fn.line(f"store {t} {total}, ptr {self._shared(0, place)}, align {self.size}")
            self.barrier()
            # Lanes beyond the half read what is there, and nobody reads theirs.
            other = fn.bind(f"and i64 {fn.add(lane, half)}, {lanes - 1}")
            at = self._shared(0, fn.mul(fn.add(fn.mul(other, per), own), self.size))
            total = fn.bind(f"fadd {t} {total}, {fn.bind(f'load {t}, ptr {at}, align 4')}")
            self.barrier()
            half //= 2
        first = fn.bind(f"icmp eq i64 {lane}, 0")
        at = fn.add(fn.mul(batch, outputs), output)
        self._put(fn.bind(f"and i1 {first}, {inside}"), fn.add(c, fn.mul(at, self.d.size)), total)
        self._end()

    def _chain(self, a: str, b: str, lane: str, k: str) -> str:
        """The sum of the thread's lane."""
        fn, lanes, t = self.fn, self.p.lanes, element_type(self.ty)
        step_a, step_b = fn.slot(A_DEPTH), fn.slot(B_DEPTH)
        beyond = self._beyond()
        last = fn.bind(f"sub i64 {k}, 1")
        pre, head, body, done = (fn.label(s) for s in ("vp", "vh", "vb", "vd"))
        fn.line(f"br label %{pre}")
        fn.start(pre)
        fn.line(f"br label %{head}")
        fn.start(head)
        i, s = f"%{head}i", f"%{head}s"
        fn.line(f"{i} = phi i64 [{lane}, %{pre}], [{i}n, %{body}]")
        fn.line(f"{s} = phi {t} [{constant(0, self.ty, 1)}, %{pre}], [TOTAL, %{body}]")
        phi = len(fn.lines) - 1
        more = fn.bind(f"icmp slt i64 {i}, {k}")
        fn.line(f"br i1 {more}, label %{body}, label %{done}")
        fn.start(body)
        pairs = []
        for step in range(self.AHEAD):
            here = fn.add(i, step * lanes)
            inside = fn.bind(f"icmp slt i64 {here}, {k}")
            at = fn.least(here, last)
            pairs.append([self._element(fn.add(base, fn.mul(at, width)), inside, none)
                          for base, width, none in zip((a, b), (step_a, step_b), beyond)])
        total = s
        for x, y in pairs:
            total = self._fma(x, y, total)
        fn.lines[phi] = fn.lines[phi].replace("TOTAL", total)
        fn.line(f"{i}n = add i64 {i}, {self.AHEAD * lanes}")
        fn.line(f"br label %{head}")
        fn.start(done)
        return s
