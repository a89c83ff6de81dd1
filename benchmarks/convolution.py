"""Convolutions beside torch, jax and MLX: microseconds of a call.

    python benchmarks/convolution.py [--rounds 5] [--only depthwise] [--dtype float32] [--threads 2]
        [--python NAME=PATH ...]

How, and what the table shows: `turns.py`. torch has channels-last memory, jax one jitted call.
Frameworks that are not installed are left out.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import harness
import numpy as np
import turns

FRAMEWORKS = ("eutectic", "torch", "jax", "mlx")


@dataclass(frozen=True, slots=True)
class Case:
    """Shapes of input and weights, channels last."""

    name: str
    x: tuple[int, ...]
    w: tuple[int, ...]
    stride: int = 1
    padding: int = 0
    groups: int = 1
    transposed: bool = False

    @property
    def rank(self) -> int:
        return len(self.x) - 2


CASES = (
    Case("3x3, 64 to 64", (8, 56, 56, 64), (64, 3, 3, 64), padding=1),
    Case("3x3, 512 to 512", (8, 7, 7, 512), (512, 3, 3, 512), padding=1),
    Case("3x3 stride 2, 128 to 128", (8, 56, 56, 128), (128, 3, 3, 128), 2, 1),
    Case("1x1, 64 to 256", (8, 56, 56, 64), (256, 1, 1, 64)),
    Case("1x1 stride 2, 256 to 512", (8, 56, 56, 256), (512, 1, 1, 256), 2),
    Case("7x7 stride 2, 3 to 64", (8, 224, 224, 3), (64, 7, 7, 3), 2, 3),
    Case("3x3, 1 to 32", (64, 28, 28, 1), (32, 3, 3, 1), padding=1),
    Case("3x3 depthwise, 64", (8, 56, 56, 64), (64, 3, 3, 1), padding=1, groups=64),
    Case("3x3 depthwise, 256", (8, 28, 28, 256), (256, 3, 3, 1), padding=1, groups=256),
    Case("3x3, 32 groups of 4", (8, 28, 28, 128), (128, 3, 3, 4), padding=1, groups=32),
    Case("conv1d 3, 80 to 256", (8, 1000, 80), (256, 3, 80), padding=1),
    Case("transposed 4x4 stride 2", (8, 28, 28, 64), (32, 4, 4, 64), 2, 1, transposed=True),
    Case("3x3, 16 to 16, small", (1, 8, 8, 16), (16, 3, 3, 16), padding=1),
)


def operands(case: Case, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(s, np.float32).astype(dtype) for s in (case.x, case.w))
    return x, w


def array_call(mx: Any, case: Case, x: np.ndarray, w: np.ndarray) -> Callable[[], object]:
    """A call through MLX's API."""
    function = getattr(mx, f"conv{'_transpose' * case.transposed}{case.rank}d")
    a, b = mx.array(x), mx.array(w)
    mx.eval(a, b)
    given = {"stride": case.stride, "padding": case.padding, "groups": case.groups}

    def call() -> object:
        out = function(a, b, **given)
        mx.eval(out)
        return out

    return call


def eutectic_call(case: Case, x: np.ndarray, w: np.ndarray, threads: int) -> Callable[[], object]:
    import eutectic.core as mx
    from eutectic.runtime import pool

    pool.set_num_threads(threads)
    return array_call(mx, case, x, w)


def mlx_call(case: Case, x: np.ndarray, w: np.ndarray, threads: int) -> Callable[[], object]:
    import mlx.core as mx

    return array_call(mx, case, x, w)


def torch_call(case: Case, x: np.ndarray, w: np.ndarray, threads: int) -> Callable[[], object]:
    import torch

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    rank = case.rank
    order = (0, rank + 1, *range(1, rank + 1))
    a, b = torch.from_numpy(x).permute(order), torch.from_numpy(w).permute(order)
    given = {"stride": case.stride, "padding": case.padding, "groups": case.groups}
    if case.transposed:
        b = b.transpose(0, 1).contiguous(memory_format=torch.channels_last)
        function = getattr(torch.nn.functional, f"conv_transpose{rank}d")
    else:
        function = getattr(torch.nn.functional, f"conv{rank}d")
    if rank == 1:  # no channels-last memory there
        a, b = a.contiguous(), b.contiguous()
    return lambda: function(a, b, **given)


def jax_call(case: Case, x: np.ndarray, w: np.ndarray, threads: int) -> Callable[[], object]:
    import jax

    rank, kernel = case.rank, case.w[1:-1]
    space = "DHW"[3 - rank:]
    layouts = (f"N{space}C", f"O{space}I", f"N{space}C")
    low, strides, gaps = case.padding, (case.stride,) * rank, (1,) * rank
    if case.transposed:
        w = np.flip(w, tuple(range(1, rank + 1)))
        pads, strides, gaps = [(k - 1 - low, k - 1 - low) for k in kernel], gaps, strides
    else:
        pads = [(low, low)] * rank
    run = jax.jit(lambda a, b: jax.lax.conv_general_dilated(
        a, b, strides, pads, lhs_dilation=gaps, dimension_numbers=layouts,
        feature_group_count=case.groups))
    a, b = jax.numpy.asarray(x), jax.numpy.asarray(w)
    return lambda: run(a, b).block_until_ready()


MAKE = {"eutectic": eutectic_call, "torch": torch_call, "jax": jax_call, "mlx": mlx_call}


def child(framework: str, only: str, dtype: str, threads: int) -> None:
    """Measures every case with one framework and reports microseconds."""
    result = {}
    for case in CASES:
        if only in case.name:
            call = MAKE[framework](case, *operands(case, dtype), threads)
            result[case.name] = harness.short_us(call)
    harness.report(result)


def flops(case: Case) -> int:
    """Multiplications and additions, those with padding included."""
    sizes = case.x[1:-1]
    if not case.transposed:
        sizes = [(n + 2 * case.padding - k) // case.stride + 1
                 for n, k in zip(sizes, case.w[1:-1])]
    return 2 * case.x[0] * math.prod(sizes) * math.prod(case.w)


def main() -> None:
    parser = turns.parser(__doc__, 5)
    parser.add_argument("--dtype", default="float32", choices=("float32", "float16"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    if options.one:
        child(options.one, options.only, options.dtype, options.threads)
        return
    table = turns.measure(__file__, FRAMEWORKS, options,
                          ("--dtype", options.dtype, "--threads", str(options.threads)),
                          {"OMP_NUM_THREADS": str(options.threads)})
    work = {case.name: flops(case) for case in CASES}
    turns.show(table, f"{harness.machine()}; {options.dtype}, {options.threads} threads, "
                      f"{options.rounds} rounds; us a call", 1, "GFLOP/s",
               lambda case, us: f"{work[case] / us / 1e3:.1f}")


if __name__ == "__main__":
    main()
