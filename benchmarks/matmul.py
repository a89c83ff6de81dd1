"""Matrix products beside torch, jax, mlx and NumPy (OpenBLAS): microseconds of a call.

    python benchmarks/matmul.py [--rounds 5] [--only 1024] [--dtype float32] [--threads 2] [--api]

How, and what the table shows: `turns.py`. Ours is the generated code alone; with `--api` it is
`a @ b` of eutectic.core. Frameworks that are not installed are left out.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import harness
import numpy as np
import turns

FRAMEWORKS = ("eutectic", "torch", "jax", "mlx", "numpy")


@dataclass(frozen=True, slots=True)
class Case:
    """Shapes of A and B as they are stored; `ta` and `tb` say which is used transposed."""

    name: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    ta: bool = False
    tb: bool = False


def _square(n: int, **how: bool) -> Case:
    suffix = " A^T" if how.get("ta") else " B^T" if how.get("tb") else ""
    return Case(f"{n}^3{suffix}", (n, n), (n, n), **how)


CASES = (
    _square(16), _square(64), _square(128), _square(256), _square(512), _square(1024),
    _square(2048), _square(512, ta=True), _square(512, tb=True), _square(1024, ta=True),
    _square(1024, tb=True),
    Case("256x784 @ 784x1024", (256, 784), (784, 1024)),
    Case("512x256 @ 256x1024", (512, 256), (256, 1024)),
    Case("256x128 @ 128x10", (256, 128), (128, 10)),
    Case("8x4096 @ 4096x4096", (8, 4096), (4096, 4096)),
    Case("(16,8) 128x64 @ 64x128", (16, 8, 128, 64), (16, 8, 64, 128)),
    Case("(16,8) 128x64 @ (128x64)^T", (16, 8, 128, 64), (16, 8, 128, 64), tb=True),
    Case("(512) 32x32 @ 32x32", (512, 32, 32), (512, 32, 32)),
    Case("1x4096 @ 4096x4096", (1, 4096), (4096, 4096)),
    Case("1x4096 @ (4096x4096)^T", (1, 4096), (4096, 4096), tb=True),
)


def operands(case: Case, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s, np.float32).astype(dtype) for s in (case.a, case.b))
    return (a.swapaxes(-1, -2) if case.ta else a), (b.swapaxes(-1, -2) if case.tb else b)


def eutectic_call(a: np.ndarray, b: np.ndarray, threads: int) -> Callable[[], object]:
    """A call of the generated code as a compiled plan makes it, through ctypes."""
    from eutectic.codegen import matmul as mm
    from eutectic.codegen.targets import target_for
    from eutectic.runtime import jit, pool

    pool.set_num_threads(threads)
    pool.native()
    host = jit.host()
    features = {f[1:]: f[0] == "+" for f in host.features.split(",")}
    target = target_for(host.triple.split("-")[0], features)
    m, k, n = *a.shape[-2:], b.shape[-1]
    batch = math.prod(a.shape[:-2])
    variant = mm.MatmulVariant(a.dtype.name, mm.select(m, n, k))
    text, name = mm.emit(variant, target)
    address = jit.compile_module(text, [name])[name]
    locked = jit.compile_module(_LOCKED, ["bench_locked_call"])["bench_locked_call"]
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(locked)
    c = _aligned(batch * m * n * a.itemsize).view(a.dtype).reshape(*a.shape[:-2], m, n)
    space = _aligned(mm.workspace_bytes(variant, target, m, n, k, batch, threads))
    tables = [np.arange(batch, dtype=np.int64) * math.prod(x.shape[-2:]) for x in (a, b)]
    several = batch > 1
    slots = np.array(mm.params(
        variant, target, m, n, k, a=a.ctypes.data, b=b.ctypes.data, c=c.ctypes.data,
        a_strides=_strides(a), b_strides=_strides(b), batch=batch,
        a_offsets=tables[0].ctypes.data if several else 0,
        b_offsets=tables[1].ctypes.data if several else 0,
        workspace=space.ctypes.data, threads=threads), np.int64)
    where, keep = slots.ctypes.data, (a, b, c, space, tables, slots)

    def call() -> object:
        run(address, where)
        return keep

    call()
    if not np.allclose(c, a @ b, rtol=1e-2, atol=1e-2 * math.sqrt(k)):
        raise SystemExit("wrong result")
    return call


_LOCKED = """
declare void @ev_lock()
declare void @ev_unlock()
define void @bench_locked_call(ptr %fn, ptr %p) {
  call void @ev_lock()
  call void %fn(ptr %p, i64 0, i64 1, i64 0)
  call void @ev_unlock()
  ret void
}"""


def _strides(x: np.ndarray) -> tuple[int, int]:
    return x.strides[-2] // x.itemsize, x.strides[-1] // x.itemsize


def _aligned(size: int) -> np.ndarray:
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + size]


def numpy_call(a: np.ndarray, b: np.ndarray, threads: int) -> Callable[[], object]:
    out = np.empty(a.shape[:-1] + b.shape[-1:], a.dtype)
    return lambda: np.matmul(a, b, out=out)


def torch_call(a: np.ndarray, b: np.ndarray, threads: int) -> Callable[[], object]:
    import torch

    torch.set_num_threads(threads)
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    out = torch.empty(a.shape[:-1] + b.shape[-1:], dtype=x.dtype)
    return lambda: torch.matmul(x, y, out=out)


def jax_call(a: np.ndarray, b: np.ndarray, threads: int) -> Callable[[], object]:
    import jax

    def stored(x: np.ndarray) -> tuple[Any, bool]:
        turned = x.strides[-1] != x.itemsize
        return jax.numpy.asarray(x.swapaxes(-1, -2) if turned else x), turned

    (x, tx), (y, ty) = stored(a), stored(b)
    def product(x: Any, y: Any) -> Any:
        return (x.swapaxes(-1, -2) if tx else x) @ (y.swapaxes(-1, -2) if ty else y)

    run = jax.jit(product)
    return lambda: run(x, y).block_until_ready()


def array_call(mx: Any, a: np.ndarray, b: np.ndarray) -> Callable[[], object]:
    """`a @ b` with MLX's API; transposed operands are views."""
    def stored(x: np.ndarray) -> Any:
        turned = x.strides[-1] != x.itemsize
        y = mx.array(np.ascontiguousarray(x.swapaxes(-1, -2) if turned else x))
        mx.eval(y)
        return y.swapaxes(-1, -2) if turned else y

    x, y = stored(a), stored(b)
    return lambda: mx.eval(x @ y)


def api_call(a: np.ndarray, b: np.ndarray, threads: int) -> Callable[[], object]:
    import eutectic.core as mx
    from eutectic.runtime import pool

    pool.set_num_threads(threads)
    return array_call(mx, a, b)


def mlx_call(a: np.ndarray, b: np.ndarray, threads: int) -> Callable[[], object]:
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    return array_call(mx, a, b)


def child(framework: str, only: str, dtype: str, threads: int, api: bool) -> None:
    """Measures every case with one framework and reports microseconds."""
    make = {"eutectic": api_call if api else eutectic_call, "torch": torch_call, "jax": jax_call,
            "mlx": mlx_call, "numpy": numpy_call}
    result = {}
    for case in CASES:
        if only in case.name:
            call = make[framework](*operands(case, dtype), threads)
            result[case.name] = harness.short_us(call)
    harness.report(result)


def main() -> None:
    parser = turns.parser(__doc__, 5)
    parser.add_argument("--dtype", default="float32", choices=("float32", "float64", "float16"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--api", action="store_true", help="our calls through eutectic.core")
    options = parser.parse_args()
    if options.one:
        child(options.one, options.only, options.dtype, options.threads, options.api)
        return
    extra = ["--dtype", options.dtype, "--threads", str(options.threads)]
    table = turns.measure(__file__, FRAMEWORKS, options, [*extra, *["--api"] * options.api],
                          {name: str(options.threads)
                           for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")})
    work = {}
    for case in CASES:
        a, b = operands(case, options.dtype)
        work[case.name] = 2 * math.prod(a.shape) * b.shape[-1]
    turns.show(table, f"{harness.machine()}; {options.dtype}, {options.threads} threads, "
                      f"{options.rounds} rounds; us a call", 1, "GFLOP/s",
               lambda case, us: f"{work[case] / us / 1e3:.1f}")


if __name__ == "__main__":
    main()
