"""Matrix products against plain fma chains, bit by bit."""

from __future__ import annotations

import ctypes
import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from eutectic.codegen import matmul as mm
from eutectic.codegen import matmul_plan
from eutectic.codegen.matmul_plan import Source
from eutectic.codegen.targets import AVX2, AVX512, GENERIC, Target, target_for
from eutectic.runtime import jit, pool

FLOATS = ("float32", "float64", "float16", "bfloat16", "complex64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint32", "bool")

# The order of every chain, as plainly as it can be written:
# c[i, j] = fma(a[i, k], b[k, j], c[i, j]) for k = 0, 1, ... in turn.
_CHAIN = """
declare T @llvm.fma.S(T, T, T)
define void @NAME(ptr %a, ptr %b, ptr %c, i64 %m, i64 %n, i64 %k) {
entry:
  br label %rows
rows:
  %i = phi i64 [0, %entry], [%i2, %rowend]
  %im = icmp slt i64 %i, %m
  br i1 %im, label %deep, label %out
deep:
  %p = phi i64 [0, %rows], [%p2, %deepend]
  %pm = icmp slt i64 %p, %k
  br i1 %pm, label %one, label %rowend
one:
  %ai0 = mul i64 %i, %k
  %ai = add i64 %ai0, %p
  %ap = getelementptr T, ptr %a, i64 %ai
  %x = load T, ptr %ap
  %b0 = mul i64 %p, %n
  %c0 = mul i64 %i, %n
  br label %column
column:
  %j = phi i64 [0, %one], [%j2, %step]
  %jm = icmp slt i64 %j, %n
  br i1 %jm, label %step, label %deepend
step:
  %bi = add i64 %b0, %j
  %bp = getelementptr T, ptr %b, i64 %bi
  %y = load T, ptr %bp
  %ci = add i64 %c0, %j
  %cp = getelementptr T, ptr %c, i64 %ci
  %z = load T, ptr %cp
  %r = call T @llvm.fma.S(T %x, T %y, T %z)
  store T %r, ptr %cp
  %j2 = add i64 %j, 1
  br label %column
deepend:
  %p2 = add i64 %p, 1
  br label %deep
rowend:
  %i2 = add i64 %i, 1
  br label %rows
out:
  ret void
}
"""

_LOCKED = """
declare void @ev_lock()
declare void @ev_unlock()
define void @test_locked_call(ptr %fn, ptr %p) {
  call void @ev_lock()
  call void %fn(ptr %p, i64 0, i64 1, i64 0)
  call void @ev_unlock()
  ret void
}"""

# Epilogues over C: params are C, the output D, a count per element, and N. Counts calls by element;
# a segment that does not start at a multiple of 64 columns is counted a thousand times.
_EPILOGUE = """
define void @test_epilogue(ptr %p, i64 %lo, i64 %hi, i64 %tid) {
entry:
  %c = load ptr, ptr %p
  %dp = getelementptr i64, ptr %p, i64 1
  %d = load ptr, ptr %dp
  %np = getelementptr i64, ptr %p, i64 2
  %count = load ptr, ptr %np
  %wp = getelementptr i64, ptr %p, i64 3
  %width = load i64, ptr %wp
  %column = urem i64 %lo, %width
  %rest = urem i64 %column, 64
  %bad = icmp ne i64 %rest, 0
  %by = select i1 %bad, i32 1000, i32 1
  br label %loop
loop:
  %i = phi i64 [%lo, %entry], [%i2, %body]
  %more = icmp slt i64 %i, %hi
  br i1 %more, label %body, label %done
body:
  %cp = getelementptr float, ptr %c, i64 %i
  %x = load float, ptr %cp
  %y = fmul float %x, 3.0
  %dpi = getelementptr float, ptr %d, i64 %i
  store float %y, ptr %dpi
  %kp = getelementptr i32, ptr %count, i64 %i
  %k = load i32, ptr %kp
  %k2 = add i32 %k, %by
  store i32 %k2, ptr %kp
  %i2 = add i64 %i, 1
  br label %loop
done:
  ret void
}"""


@functools.cache
def host() -> Target:
    this = jit.host()
    features = {f[1:]: f[0] == "+" for f in this.features.split(",")}
    return target_for(this.triple.split("-")[0], features)


@functools.cache
def function(name: str, text: str, *arguments: type) -> ctypes._CFuncPtr:
    pool.native()
    return ctypes.CFUNCTYPE(None, *arguments)(jit.compile_module(text, [name])[name])


def chain(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A @ B for float32, float64 and complex64 matrices by scalar fma chains."""
    if a.dtype == np.complex64:
        return complex_chain(a, b)
    double = a.dtype == np.float64
    name = f"test_chain_{a.dtype}"
    text = re.sub(r"\bT\b", "double" if double else "float", _CHAIN).replace("NAME", name)
    text = text.replace("fma.S", "fma.f64" if double else "fma.f32")
    run = function(name, text, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 3)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    c = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    run(a.ctypes.data, b.ctypes.data, c.ctypes.data, a.shape[0], b.shape[1], a.shape[1])
    return c


def complex_chain(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """re: fma(-ai, bi, fma(ar, br, re)), im: fma(ai, br, fma(ar, bi, im)), as one chain of 2k."""
    def woven(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        shape = list(x.shape)
        shape[axis] *= 2
        return np.stack([x, y], axis + 1).reshape(shape)
    left_re, left_im = woven(a.real, -a.imag, 1), woven(a.real, a.imag, 1)
    c = np.empty((a.shape[0], b.shape[1]), np.complex64)
    c.real = chain(left_re, woven(b.real, b.imag, 0))
    c.imag = chain(left_im, woven(b.imag, b.real, 0))
    return c


def lanes(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrix-vector order: a chain a lane, lanes added by halves."""
    if b.shape[1] != 1:
        return lanes(b.T, a.T).T  # a row times a matrix is the transposed product
    count = 8 if a.dtype == np.float64 else 16
    parts = [chain(a[:, lane::count], b[lane::count]) for lane in range(count)]
    with np.errstate(all="ignore"):
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [x + y for x, y in zip(parts, parts[half:])]
    return parts[0]


def widen(x: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bfloat16":
        return (x.astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float32) if dtype == "float16" else x


def narrow(x: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bfloat16":
        bits = x.view(np.uint32)
        rounded = (bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(x), (bits >> 16) | 0x40, rounded).astype(np.uint16)
    with np.errstate(over="ignore"):
        return x.astype(np.float16) if dtype == "float16" else x


def reference(a: np.ndarray, b: np.ndarray, dtype: str) -> np.ndarray:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (np.broadcast_to(x, batch + x.shape[-2:]) for x in (a, b))
    out = np.zeros(batch + (a.shape[-2], b.shape[-1]), a.dtype)
    order = lanes if 1 in out.shape[-2:] else chain
    for at in np.ndindex(*batch):
        if dtype in INTEGERS:
            out[at] = a[at] @ b[at]
        else:
            out[at] = narrow(order(widen(a[at], dtype), widen(b[at], dtype)), dtype)
    return out


def aligned(size: int) -> np.ndarray:
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + size]


def offsets(x: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    x = np.broadcast_to(x, batch + x.shape[-2:])
    table = np.zeros(batch, np.int64)
    for axis, (n, stride) in enumerate(zip(batch, x.strides)):
        shape = [-1 if i == axis else 1 for i in range(len(batch))]
        table += (np.arange(n) * (stride // x.itemsize)).reshape(shape)
    return np.ascontiguousarray(table).reshape(-1)


def product(a: np.ndarray, b: np.ndarray, dtype: str, threads: int = 1,
            target: Target | None = None, epilogue: tuple[int, int] = (0, 0),
            out: np.ndarray | None = None) -> np.ndarray:
    """A @ B by the generated code; memory around the output and the workspace is guarded."""
    target = target or host()
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    m, k, n = *a.shape[-2:], b.shape[-1]
    count = int(np.prod(batch, dtype=int))
    variant = mm.MatmulVariant(dtype, mm.select(m, n, k))
    text, name = mm.emit(variant, target)
    pool.native()
    address = jit.compile_module(text, [name])[name]
    guard = 64
    memory = np.full(count * m * n * a.itemsize + 2 * guard, 0xAB, np.uint8)
    size = mm.workspace_bytes(variant, target, m, n, k, count, threads)
    space = aligned(size + guard)
    space[...] = 0xFF  # every float of the workspace is NaN
    c = memory[guard:-guard].view(a.dtype).reshape(*batch, m, n) if out is None else out
    tables = [offsets(x, batch) for x in (a, b)]
    strides = [tuple(s // x.itemsize for s in x.strides[-2:]) for x in (a, b)]
    several = count > 1
    slots = np.array(mm.params(
        variant, target, m, n, k, a=a.ctypes.data, b=b.ctypes.data, c=c.ctypes.data,
        a_strides=strides[0], b_strides=strides[1], batch=count,
        a_offsets=tables[0].ctypes.data if several else 0,
        b_offsets=tables[1].ctypes.data if several else 0, workspace=space.ctypes.data,
        epilogue=epilogue[0], epilogue_params=epilogue[1], threads=threads), np.int64)
    pool.set_num_threads(threads)
    function("test_locked_call", _LOCKED, ctypes.c_void_p, ctypes.c_void_p)(
        address, slots.ctypes.data)
    assert (memory[:guard] == 0xAB).all() and (memory[-guard:] == 0xAB).all(), "wrote outside C"
    assert (space[size:] == 0xFF).all(), "wrote outside the workspace"
    return c


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype in INTEGERS:
        if dtype == "bool":
            return rng.random(shape) < 0.2
        return rng.integers(-1000, 1000, shape).astype(dtype)
    x = rng.standard_normal(shape)
    if dtype == "bfloat16":
        return narrow(x.astype(np.float32), dtype)
    if dtype == "complex64":
        return (x + 1j * rng.standard_normal(shape)).astype(np.complex64)
    return x.astype(dtype)


def bits(x: np.ndarray) -> bytes:
    """The bytes, with every NaN the same: hardware picks a payload by operand order."""
    x = np.ascontiguousarray(x)
    if x.dtype == np.complex64:
        x = x.view(np.float32)
    if x.dtype.kind == "f":
        x = np.where(np.isnan(x), x.dtype.type(np.nan), x)
    return x.tobytes()


@pytest.fixture(autouse=True)
def threads_restored() -> Iterator[None]:
    before = pool.get_num_threads()
    yield
    pool.set_num_threads(before)


SHAPES = [(1, 1, 1), (2, 2, 0), (1, 3, 0), (0, 3, 2), (2, 3, 1), (4, 32, 7), (12, 32, 16),
          (13, 33, 17), (11, 31, 100), (16, 16, 16), (24, 64, 5), (37, 65, 129), (100, 10, 64),
          (3, 200, 40), (133, 130, 70), (1, 77, 50), (77, 1, 50), (1, 1, 100)]


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(dtype: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b = numbers((m, k), dtype, 1), numbers((k, n), dtype, 2)
    want = bits(reference(a, b, dtype))
    for threads in (1, 2):
        assert bits(product(a, b, dtype, threads)) == want


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(400, 260, 300), (130, 1100, 450), (96, 70, 5000)], ids=str)
def test_large(dtype: str, shape: tuple[int, int, int]) -> None:
    """Shared panels, several blocks and spans of k."""
    m, n, k = shape
    a, b = numbers((m, k), dtype, 3), numbers((k, n), dtype, 4)
    want = bits(reference(a, b, dtype))
    for threads in (1, 2):
        assert bits(product(a, b, dtype, threads)) == want
    assert bits(product(np.asfortranarray(a), np.asfortranarray(b), dtype, 2)) == want


@pytest.mark.parametrize("dtype", (*FLOATS, "int16"))
def test_shared_panels(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed by all threads, several spans in each direction."""
    for name, value in (("_SMALL_WORK", 0), ("_DIRECT_BYTES", 0), ("_SHARED_DEPTH", 256),
                        ("_DEPTH", 256), ("_K_SPAN", 150), ("_SPAN", 128), ("_SHORT_TASK", 1000)):
        monkeypatch.setattr(matmul_plan, name, value)
    for m, n, k in ((150, 300, 140), (150, 300, 333), (290, 64, 301)):
        a, b = numbers((2, m, k), dtype, 17), numbers((2, k, n), dtype, 18)
        plan = matmul_plan.make_plan(dtype, host(), m, n, k, 2, 2)
        assert plan.a_from == Source.SHARED or (k > 150 and mm.NUMERICS[dtype].widened)
        want = bits(reference(a, b, dtype))
        for threads in (1, 2):
            assert bits(product(a, b, dtype, threads)) == want
        a, b = (np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) for x in (a, b))
        assert bits(product(a, b, dtype, 2)) == want


@pytest.mark.parametrize("sources", list(itertools.product(Source, Source)), ids=str)
def test_sources(sources: tuple[Source, Source], monkeypatch: pytest.MonkeyPatch) -> None:
    """Operands in place, packed by a thread or by all of them, in every combination."""
    plan = matmul_plan.make_plan("float32", host(), 150, 200, 170, 1, 2)
    plan = replace(plan, a_from=sources[0], b_from=sources[1], row_block=48, column_block=128,
                   k_block=100, b_offset=1 << 19, threads_offset=1 << 20, thread_size=1 << 20,
                   thread_b=1 << 18, thread_c=1 << 19, bytes=3 << 20)
    monkeypatch.setattr(mm, "make_plan", lambda *_: plan)
    a, b = numbers((150, 170), "float32", 19), numbers((170, 200), "float32", 20)
    want = bits(reference(a, b, "float32"))
    for x, y in itertools.product(layouts(a)[:2], layouts(b)[:2]):
        assert bits(product(x, y, "float32", 2)) == want


def layouts(x: np.ndarray) -> list[np.ndarray]:
    """The same matrix in other layouts."""
    m, n = x.shape
    spread = np.zeros((2 * m + 1, 3 * n + 2), x.dtype)
    spread[1::2, 1:3 * n:3] = x
    upside = np.ascontiguousarray(x[::-1])[::-1]
    mirrored = np.ascontiguousarray(x[:, ::-1])[:, ::-1]
    return [x, np.asfortranarray(x), spread[1::2, 1:3 * n:3], upside, mirrored]


@pytest.mark.parametrize("dtype", (*FLOATS, "int32"))
@pytest.mark.parametrize("shape", [(29, 70, 51), (1, 70, 83), (70, 1, 83), (140, 150, 130)],
                         ids=str)
def test_layouts(dtype: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b = numbers((m, k), dtype, 5), numbers((k, n), dtype, 6)
    want = bits(reference(a, b, dtype))
    for x, y in itertools.product(layouts(a), layouts(b)):
        assert bits(product(x, y, dtype, 2)) == want


@pytest.mark.parametrize("dtype", FLOATS)
def test_broadcast_row(dtype: str) -> None:
    """Stride 0 along either axis."""
    a = np.broadcast_to(numbers((1, 40), dtype, 7), (20, 40))
    b = np.broadcast_to(numbers((40, 1), dtype, 8), (40, 70))
    assert bits(product(a, b, dtype, 2)) == bits(reference(a, b, dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_batches(dtype: str) -> None:
    for left, right in (((5, 32, 32), (5, 32, 32)), ((3, 1, 9, 20), (4, 20, 33)),
                        ((2, 3, 17, 8), (8, 64)), ((6, 1, 30), (6, 30, 100)), ((0, 3, 4), (4, 5)),
                        ((2, 110, 190), (2, 190, 100)), ((4, 50, 30), (30, 1))):
        a, b = numbers(left, dtype, 9), numbers(right, dtype, 10)
        want = bits(reference(a, b, dtype))
        for threads in (1, 2):
            assert bits(product(a, b, dtype, threads)) == want
        swapped = np.ascontiguousarray(b.swapaxes(-1, -2)).swapaxes(-1, -2)
        assert bits(product(a, swapped, dtype, 2)) == want


@pytest.mark.parametrize("shape", [(5, 70, 30), (140, 200, 33), (64, 64, 64), (300, 1100, 250),
                                   (1, 500, 20), (500, 1, 20), (3, 8, 0)], ids=str)
@pytest.mark.parametrize("in_place", [False, True])
def test_epilogue(shape: tuple[int, int, int], in_place: bool) -> None:
    m, n, k = shape
    a, b = numbers((3, m, k), "float32", 11), numbers((3, k, n), "float32", 12)
    want = reference(a, b, "float32")
    run = function("test_epilogue", _EPILOGUE)
    for threads in (1, 2):
        c = np.empty((3, m, n), np.float32)
        d = c if in_place else np.empty_like(c)
        count = np.zeros(c.shape, np.int32)
        inner = np.array([c.ctypes.data, d.ctypes.data, count.ctypes.data, n], np.int64)
        address = ctypes.cast(run, ctypes.c_void_p).value or 0
        if 1 in (m, n):
            inner[3] = m * n
        product(a, b, "float32", threads, epilogue=(address, inner.ctypes.data), out=c)
        assert (count == 1).all()
        assert bits(d) == bits(want * np.float32(3))
        assert in_place or bits(c) == bits(want)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(13, 40, 21), (1, 40, 21), (40, 1, 21)], ids=str)
def test_special_values(dtype: str, shape: tuple[int, int, int]) -> None:
    """NaN, infinities, signed zeros and subnormal numbers go through the same chain."""
    m, n, k = shape
    rng = np.random.default_rng(13)
    tiny = {"float64": 1e-160, "float16": 3e-4}.get(dtype, 1e-22)
    values = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, tiny, -tiny, tiny * tiny, 1.0, -3.0])

    def pick(shape: tuple[int, int]) -> np.ndarray:
        x = values[rng.choice(10, shape, p=[.2, .2, .01, .01, .01, .15, .15, .07, .1, .1])]
        if dtype == "complex64":
            x = x + 1j * values[rng.choice([0, 1, 5, 6, 8], shape)]
        return narrow(x.astype(np.float32), dtype) if dtype == "bfloat16" else x.astype(dtype)

    a, b = pick((m, k)), pick((k, n))
    got = product(a, b, dtype, 2)
    assert bits(widen(got, dtype)) == bits(widen(reference(a, b, dtype), dtype))


def test_zero_times_infinity() -> None:
    a, b = np.zeros((20, 30), np.float32), np.zeros((30, 40), np.float32)
    b[3, 7] = np.inf
    c = product(a, b, "float32")
    assert np.isnan(c[:, 7]).all() and np.isnan(c).sum() == 20


def test_empty_sum_is_positive_zero() -> None:
    for dtype in FLOATS:
        for m, n in ((3, 40), (1, 40), (40, 1)):
            c = product(numbers((m, 0), dtype, 1), numbers((0, n), dtype, 1), dtype)
            assert c.tobytes() == bytes(c.nbytes)


def test_bfloat16_rounding() -> None:
    """Ties to even, subnormal results kept, overflow to infinity, NaN stays NaN."""
    rng = np.random.default_rng(14)
    a = rng.integers(0, 1 << 16, (48, 2)).astype(np.uint16)
    b = rng.integers(0, 1 << 16, (2, 64)).astype(np.uint16)
    got, want = product(a, b, "bfloat16"), reference(a, b, "bfloat16")
    assert bits(widen(got, "bfloat16")) == bits(widen(want, "bfloat16"))


@pytest.mark.parametrize("target", [AVX2, GENERIC], ids=lambda t: t.name)
@pytest.mark.parametrize("dtype", FLOATS)
def test_other_targets(target: Target, dtype: str) -> None:
    """Narrower vectors and smaller tiles give the same bits."""
    for m, n, k in ((37, 65, 70), (1, 65, 70)):
        a, b = numbers((m, k), dtype, 15), numbers((k, n), dtype, 16)
        want = bits(reference(a, b, dtype))
        for x, y in ((a, b), (np.asfortranarray(a), np.asfortranarray(b))):
            assert bits(product(x, y, dtype, 2, target)) == want


def test_many_threads_have_room() -> None:
    """The workspace of a plan covers every thread's part and starts at multiples of 64 bytes."""
    for dtype, threads in itertools.product(FLOATS, (1, 7, 64)):
        for m, n, k in ((3, 5, 7), (1000, 1000, 1000), (1, 5000, 20), (5000, 40, 9000)):
            variant = mm.MatmulVariant(dtype, mm.select(m, n, k))
            plan = mm.plan_for(variant, AVX512, m, n, k, 1, threads)
            assert plan.bytes >= plan.threads_offset + threads * plan.thread_size
            starts = (plan.b_offset, plan.threads_offset, plan.thread_size, plan.thread_b,
                      plan.thread_c)
            assert all(s % 64 == 0 for s in starts)


def test_text_does_not_depend_on_sizes() -> None:
    variant = mm.MatmulVariant("float32", "mm")
    text, name = mm.emit(variant, AVX512)
    assert mm.emit(variant, AVX512) == (text, name)
    assert mm.emit(variant, AVX2)[1] != name
    assert re.search(rf"^define void @{name}\(", text, re.M)
