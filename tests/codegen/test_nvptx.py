"""GPU kernels: their PTX, and their bits: where the CPU runs their text thread by thread, and where
there is a GPU, on that.
"""

from __future__ import annotations

import re
from pathlib import Path

import gpu_results
import numpy as np
import pytest
from identity import one_nan
from test_golden import CASES, spec_of

import eutectic.core as mx
from eutectic.codegen.nvptx import product
from eutectic.codegen.nvptx.emit import gpu_spec
from eutectic.engine.gpu import Refused, gpu_kernel
from eutectic.runtime.cuda import driver

GOLDEN = Path(__file__).parent / "golden_nvptx"
FLAT = {name for name in CASES if name.startswith("map") and "broadcast" not in name}
SHOWN = ("map_float32", "map_bfloat16", "map_broadcast_rows", "row_sum_float32", "row_normalise",
         "units_sum", "col_sum_float32", "short_sum")


def kernel_of(name):
    return gpu_kernel(gpu_spec(spec_of(name)), name in FLAT or name == "product_epilogue")


@pytest.mark.parametrize("name", CASES)
def test_every_family_compiles_to_ptx(name: str) -> None:
    """IEEE operations alone: nothing approximate, flushed to zero, or open to contraction."""
    kernel = kernel_of(name)
    ptx = kernel.ptx()
    assert re.findall(r"\.visible \.entry (\w+)\(", ptx) == kernel.names
    assert not re.search(r"approx|\.ftz|\.full|\b(?:add|sub|mul|div|mad)\.f(?:32|64)\b", ptx)
    fused = len(re.findall(r"\bfma\.rn", ptx))
    assert bool(fused) == ("@llvm.fma" in kernel.text)


@pytest.mark.parametrize("name", SHOWN)
def test_text_is_what_was_reviewed(name: str, request: pytest.FixtureRequest) -> None:
    kernel = kernel_of(name)
    text = kernel.text.replace(kernel.names[0], name)
    path = GOLDEN / f"{name}.ll"
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert text == path.read_text()


@pytest.fixture(params=["emulated", *(["gpu"] if driver.available() else [])])
def same(request: pytest.FixtureRequest):
    """Asserts that a function's GPU plan gives the bits of the compiled function."""
    def check(fun, *inputs: mx.array) -> None:
        expected = mx.compile(lambda *xs: fun(*xs))(*inputs)
        expected = expected if isinstance(expected, (list, tuple)) else [expected]
        found = gpu_results.results(fun, inputs, request.param == "gpu")
        for e, f in zip(expected, found, strict=True):
            mx.eval(e)
            left, right = (one_nan(e.dtype.name, raw) for raw in (bytes(e), f))
            assert left == right, e.dtype.name
    return check


def data(*shape: int, dtype=mx.float32, seed: int = 0) -> mx.array:
    """Numbers of all sizes, with the special ones among them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    if dtype in (mx.float32, mx.float64, mx.float16, mx.bfloat16):
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-42, 65504.0])
        x = np.where(rng.random(shape) < 0.05, special[rng.integers(0, 8, shape)], x)
    if dtype is mx.complex64:
        x = x + 1j * rng.standard_normal(shape)
        out = mx.array(x.astype(np.complex64))
    elif dtype is mx.bool_:
        out = mx.array(rng.random(shape) < 0.5)
    elif dtype in (mx.float32, mx.float64, mx.float16, mx.bfloat16):
        out = mx.array(x.astype(np.float64), dtype=mx.float64).astype(dtype)
    else:
        out = mx.array(rng.integers(0, 100, shape)).astype(dtype)
    mx.eval(out)
    return out


DTYPES = (mx.float32, mx.float64, mx.float16, mx.bfloat16, mx.complex64, mx.bool_, mx.int8,
          mx.uint8, mx.int16, mx.uint16, mx.int32, mx.uint32, mx.int64, mx.uint64)
NAMES = [d.name for d in DTYPES]
REAL = [d for d in DTYPES if d is not mx.complex64]


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
def test_maps_have_the_bits_of_the_cpu(same, dtype) -> None:
    x, y = data(7, 100, dtype=dtype), data(7, 100, dtype=dtype, seed=1)
    same(lambda a, b: (a + b, a * b + a, mx.equal(a, b) if dtype is mx.complex64 else a < b), x, y)
    same(lambda a, b: a + mx.transpose(mx.reshape(b, (100, 7))), x, y)
    same(lambda a, b: mx.where(a == b, a, b[:, ::-1]), x, y)


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "erf", "sin", "cos", "sqrt", "rsqrt",
                                  "expm1", "log1p", "arctan", "sinh", "floor", "round"])
def test_the_mathematics_library_has_the_bits_of_the_cpu(same, name: str) -> None:
    function = getattr(mx, name)
    for dtype in (mx.float32, mx.float16, mx.bfloat16):
        same(function, data(700, dtype=dtype))


def test_conversions_and_division(same) -> None:
    x, y = data(600), data(600, seed=2)
    same(lambda a, b: (a / b, a // b, a % b, mx.power(mx.abs(a), b)), x, y)
    same(lambda a: tuple([a.astype(d) for d in REAL]), x)
    i, j = data(600, dtype=mx.int32), data(600, dtype=mx.int32, seed=3)
    same(lambda a, b: (a // b, a % b, a / b, a << 3, a >> 1), i, j)


def test_layouts(same) -> None:
    x, y, z = data(6, 5, 40), data(5, 1), data(40, 6)
    same(lambda a, b, c: (a * b + mx.transpose(c)[:, None, :], a[1:, ::2, 3:30:4] + 1), x, y, z)
    same(lambda a: mx.concatenate([a, a[:2] * 2, mx.zeros((1, 5, 40))]), x)
    same(lambda a: mx.transpose(a, (2, 0, 1)) + mx.arange(5), x)
    table, rows = data(30, 64), mx.array([3, 0, 29, -1, 7])
    same(lambda t, i: t[i] * 2, table, rows)
    same(lambda t, i: t[:, i], table, rows)
    same(lambda k: mx.random.uniform(shape=(300,), key=k), mx.array([1, 2], dtype=mx.uint32))


@pytest.mark.parametrize("n", [20, 64, 65, 1024, 1025, 5000])
def test_rows(same, n: int) -> None:
    x = data(3, n)
    x = mx.where(mx.isfinite(x), x, 1.0)
    same(lambda a: (mx.sum(a, axis=-1), mx.max(a, axis=-1), mx.argmax(a, axis=-1)), x)
    same(lambda a: mx.softmax(a, axis=-1), x)
    same(lambda a: (a - mx.mean(a, axis=-1, keepdims=True)) * mx.rsqrt(
        mx.var(a, axis=-1, keepdims=True) + 1e-5), x)


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
def test_reductions_of_every_dtype(same, dtype) -> None:
    x = data(4, 70, dtype=dtype)
    for axis in (0, 1):
        same(lambda a, axis=axis: (mx.sum(a, axis=axis), mx.prod(a, axis=axis)), x)
        same(lambda a, axis=axis: (mx.min(a, axis=axis), mx.max(a, axis=axis)), x)
        same(lambda a, axis=axis: (mx.any(a, axis=axis), mx.all(a, axis=axis)), x)
        if dtype is not mx.complex64:
            same(lambda a, axis=axis: (mx.argmin(a, axis=axis), mx.argmax(a, axis=axis)), x)


def test_long_rows_are_units(same) -> None:
    x = data(40_000)
    x = mx.where(mx.isfinite(x), x, 1.0)
    same(lambda a: (mx.sum(a * a) + 1, mx.max(a)), x)
    # The pass that sums may store elements too.
    same(lambda a: (a * 2 - mx.sum(a * 2), mx.sin(a) / mx.max(mx.sin(a))), x[:33_000])


@pytest.mark.parametrize("depth", [1, 2, 15, 16, 17, 300])
def test_columns(same, depth: int) -> None:
    same(lambda a: mx.sum(a * a, axis=0) + 1, data(depth, 45))
    same(lambda a: mx.argmin(a, axis=1), data(2, depth, 3))


@pytest.mark.parametrize("length", [2, 3, 5, 8, 64])
def test_short_rows(same, length: int) -> None:
    same(lambda a: mx.sum(a, axis=-1), mx.transpose(data(length, 3000)))


@pytest.mark.parametrize("dtype", [mx.float32, mx.float64, mx.float16, mx.bfloat16],
                         ids=["float32", "float64", "float16", "bfloat16"])
def test_products(same, dtype) -> None:
    def finite(*shape):
        x = data(*shape, dtype=dtype, seed=sum(shape))
        x = mx.where(mx.isfinite(x), x, 1.0).astype(dtype)
        mx.eval(x)
        return x
    same(lambda a, b: a @ b, finite(35, 19), finite(19, 40))
    same(lambda a, b: mx.maximum(a @ mx.transpose(b) + 1, 0), finite(3, 8), finite(70, 8))
    same(lambda a, b: mx.transpose(a) @ b, finite(1, 33), finite(1, 5))
    same(lambda a, b: a @ b, finite(2, 3, 5, 9), finite(3, 9, 4))
    for k in (3, 100):
        same(lambda a, b: a @ b, finite(2, 1, k), finite(2, k, 37))
        same(lambda a, b: a @ mx.transpose(b), finite(1, k), finite(37, k))
        same(lambda a, b: a @ b, finite(21, k), finite(k, 1))


def test_products_with_larger_tiles(same, monkeypatch: pytest.MonkeyPatch) -> None:
    x = mx.random.normal((70, 11), key=mx.random.key(1))
    y = mx.random.normal((11, 130), key=mx.random.key(2))
    for few in (4, 1):
        monkeypatch.setattr(product, "FEW_BLOCKS", few)
        same(lambda a, b: a @ b, x, y)
        same(lambda a, b: mx.transpose(a) @ mx.transpose(b), mx.transpose(x), mx.transpose(y))


def test_a_product_that_underflows_keeps_its_sign(same) -> None:
    same(lambda a, b: a @ b, mx.full((2, 3), -1e-30), mx.full((3, 2), 1e-30))


def test_what_has_no_kernel_is_named() -> None:
    x = data(8, 8)
    for fun, why in ((lambda a: mx.cumsum(a, axis=-1), "scan"), (mx.linalg.inv, "inv"),
                     (lambda a: a.at[mx.array([1, 1])].add(a[:2]), "scatter")):
        with pytest.raises(Refused, match=why):
            gpu_results.results(fun, (x,), False)
