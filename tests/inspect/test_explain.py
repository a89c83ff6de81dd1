"""What `explain` says: kernels, lines, reasons, work, and that it disturbs nothing."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest

import eutectic.core as mx
from eutectic.array import wrap
from eutectic.config import config
from eutectic.graph import prims
from eutectic.inspect.explain import Explanation, KernelInfo, explain
from eutectic.inspect.seed import data, heavy_of


def network(x: mx.array, w: mx.array, b: mx.array, v: mx.array) -> tuple[mx.array, ...]:
    h = mx.maximum(x @ w + b, 0)
    z = h @ v
    p = mx.softmax(z, axis=-1)
    return mx.concatenate([p, z * 2]), (p * mx.log(p)).sum(), z.mean(axis=0), x.T.reshape(-1) + 1


def random(*shape: int) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(len(shape)))


@pytest.fixture(scope="module")
def explained() -> Explanation:
    return explain(network, random(64, 128), random(128, 256), random(256), random(256, 10))


def kernel(fun: Callable[..., Any], *args: mx.array) -> KernelInfo:
    """The only kernel of a function."""
    (found,) = explain(fun, *args).kernels
    return found


def test_benchmark_is_one_kernel() -> None:
    found = explain(heavy_of(), data())
    assert len(found.kernels) == 1
    assert found.operations == 61
    assert found.not_fused == ()
    assert [stage for stage, _ in found.graphs] == [
        "trace", "expand", "simplify", "cse", "absorb_padding", "prune", "store_outputs"]
    assert found.trace.count("tanh") == 20
    assert found.work.read == 512 * 512 * 4
    assert found.work.written == 4
    assert "y = mx.tanh(y * 1.001 + 0.001)" in str(found)


def test_operations_carry_the_users_lines() -> None:
    _, start = inspect.getsourcelines(network)
    found = explain(network, random(8, 8), random(8, 8), random(8), random(8, 8))
    lines = {o.op: (o.file, o.line) for k in found.kernels for o in k.operations}
    assert lines["maximum"] == (__file__, start + 1)
    assert lines["log"] == (__file__, start + 4)


def test_every_unfused_pair_has_a_recorded_reason(explained: Explanation) -> None:
    assert explained.not_fused
    rules = {p.rule for p in explained.not_fused}
    assert "product-operand" in rules
    assert "stored" not in rules  # what is said where nothing was recorded
    for p in explained.not_fused:
        assert p.reason
        assert p.kernels[0] != p.kernels[1]
        assert p.producer.where and p.consumer.where
    product = next(p for p in explained.not_fused if p.rule == "product-operand")
    assert (product.producer.op, product.consumer.op) == ("maximum", "matmul")


def test_pairs_are_those_between_kernels(explained: Explanation) -> None:
    """Whatever a kernel reads that another one wrote is listed as a pair."""
    written = {o.name: k.index for k in explained.kernels for o in k.outputs}
    expected = {(written[o.name], k.index) for k in explained.kernels for o in k.inputs
                if o.name in written}
    assert expected <= {p.kernels for p in explained.not_fused}


def test_data_and_text(explained: Explanation) -> None:
    found = json.loads(json.dumps(explained.to_dict(llvm=True)))
    assert len(found["kernels"]) == len(explained.kernels)
    assert found["memory"]["inputs"] == 4 * (64 * 128 + 128 * 256 + 256 + 256 * 10)
    assert {"trace", "expand", "fuse", "plan", "codegen", "llvm", "load"} <= found["seconds"].keys()
    assert all(s >= 0 for s in found["seconds"].values())
    for text in (str(explained), repr(explained), str(explained.kernels[0])):
        assert max(map(len, text.splitlines())) <= 80
        assert "\0" not in text


def test_code_is_made_when_asked_for(explained: Explanation) -> None:
    for k in explained.kernels:
        assert "define void @" in k.llvm
        assert "ret" in k.assembly
        assert k.text.startswith(("kernel ", "product "))


def test_compiled_function_is_left_alone() -> None:
    fun = mx.compile(lambda x: x * 2 + 1)
    assert len(explain(fun, mx.ones((3,))).kernels) == 1
    assert fun.stats.traces == 0 and not fun.entries()
    fun(mx.ones((3,)))
    before = (fun.stats.traces, fun.stats.hits, len(fun.entries()))
    explain(fun, mx.ones((3,)))
    explain(fun, mx.ones((4,)))
    assert (fun.stats.traces, fun.stats.hits, len(fun.entries())) == before


def test_why_a_compiled_function_was_traced() -> None:
    fun = mx.compile(lambda x, k: x * k)
    fun(mx.ones((3,)), 2)
    assert str(explain(fun, mx.ones((3,)), 2).why) == "first call"
    fun(mx.ones((4,)), 2)
    found = explain(fun, mx.ones((4,)), 2)
    assert str(found.why) == "x has the new shape (4,) instead of (3,)"
    assert (found.why.part, found.why.name, found.why.new, found.why.old) == (
        "shape", "x", "(4,)", "(3,)")
    assert f"traced because {found.why}" in " ".join(str(found).split())
    fun(mx.ones((4,)), 2.5)
    assert str(explain(fun, mx.ones((4,)), 2.5).why) == "k is 2.5 instead of 2"
    fun(mx.ones((4,), mx.float16), 2)
    found = explain(fun, mx.ones((4,), mx.float16), 2)
    assert str(found.why) == "x is float16 instead of float32"
    # A call that has not been made yet: why it would trace.
    assert str(explain(fun, mx.ones((4,)), 3).why) == "k is 3 instead of 2.5"
    assert fun.stats.traces == 4


def test_what_a_compiled_function_holds() -> None:
    table = mx.arange(256)
    fun = mx.compile(lambda x: mx.exp(x).sum(axis=0) + mx.ones((4,)) @ mx.ones((4, 4)))
    assert explain(fun, mx.ones((3, 4))).holds.traces == 0
    for n in (3, 3, 5):
        fun(mx.ones((n, 4)))
    found = explain(fun, mx.ones((5, 4)))
    held = found.holds
    assert (held.traces, held.hits, held.misses, held.entries) == (2, 1, 2, 2)
    text = " ".join(str(found).split())
    assert "holds 2 traces, 1 hit, 2 misses, 0 evictions" in text
    assert "traced x has the new shape (5,4) instead of (3,4)" in text
    assert json.loads(json.dumps(found.to_dict()))["holds"]["bytes"] == held.bytes > 0
    assert explain(lambda x: x + table, mx.ones((256,))).holds is None


@pytest.mark.parametrize("fun", [lambda x: x, lambda x: x.T, lambda x: (3, None), lambda x: ()])
def test_functions_that_compute_nothing(fun: Callable[..., Any]) -> None:
    text = str(explain(fun, mx.ones((2, 3))))
    assert "computes nothing: its results are inputs, views of them, or constants" in " ".join(
        text.split())


@pytest.mark.parametrize("fun", [
    lambda x: mx.zeros((3,)), lambda x: mx.arange(4), lambda x: x.T.reshape(-1),
    lambda x: mx.matmul(x.T.reshape(2, 3), mx.ones((3, 2))),
    lambda x: mx.softmax(x.T.reshape(3, 2)[::-1]) @ x])
def test_every_operation_has_a_line(fun: Callable[..., Any]) -> None:
    found = explain(fun, mx.ones((2, 3)))
    assert found.kernels
    for k in found.kernels:
        assert all(o.file == __file__ for o in k.operations)
    for pair in found.not_fused:
        assert pair.producer.file == pair.consumer.file == __file__
    assert "unknown line" not in str(found)


def test_nothing_is_computed_or_changed() -> None:
    calls = []
    state = [mx.ones((2,))]

    def step(x: mx.array) -> mx.array:
        calls.append(1)
        state[0] = state[0] + x
        return state[0]

    fun = mx.compile(step, inputs=state, outputs=state)
    before = state[0]
    explain(fun, mx.ones((2,)))
    assert state[0] is before
    assert len(calls) == 1


def test_views_need_no_kernel() -> None:
    found = explain(lambda x: x.T, mx.ones((2, 3)))
    assert found.kernels == ()
    assert "computes nothing" in str(found)


# ---- work ---------------------------------------------------------------------------------------


def test_work_of_broadcast_operands() -> None:
    work = kernel(lambda a, b: a + b, mx.ones((64, 1)), mx.ones((1, 32))).work
    assert (work.read, work.written, work.flops) == (4 * (64 + 32), 4 * 64 * 32, 64 * 32)


def test_work_of_an_fma_body_counts_two() -> None:
    one = kernel(lambda a: a * 2, mx.ones((100,))).work
    both = kernel(lambda a: mx.tanh(a), mx.ones((100,))).work
    assert one.flops == 100
    assert both.flops > 1000
    assert both.instructions > one.instructions


@pytest.mark.parametrize("axis", [0, 1])
def test_work_of_reductions(axis: int) -> None:
    work = kernel(lambda a: (a * 2).sum(axis=axis), mx.ones((64, 128))).work
    assert (work.read, work.written) == (4 * 64 * 128, 4 * (128, 64)[axis])
    assert work.flops == 2 * 64 * 128


def test_work_of_a_product_with_its_epilogue() -> None:
    a, b, c = mx.ones((32, 64)), mx.ones((64, 16)), mx.ones((16,))
    found = kernel(lambda a, b, c: a @ b + c, a, b, c)
    assert found.kind == "product"
    assert found.work.product_flops == 2 * 32 * 64 * 16
    assert found.work.flops == found.work.product_flops + 32 * 16
    assert found.work.read == 4 * (32 * 64 + 64 * 16 + 16)
    assert found.work.written == 4 * 32 * 16


def test_work_of_eight_byte_types_weighs_double() -> None:
    single = kernel(lambda a: a * a, mx.ones((64,), mx.float32)).work
    double = kernel(lambda a: a * a, mx.ones((64,), mx.float64)).work
    assert double.instructions == 2 * single.instructions
    assert double.moved == 2 * single.moved


def test_work_of_gathers_counts_what_is_chosen() -> None:
    table, index = mx.ones((1000, 64)), mx.zeros((30,), mx.int32)
    rows = kernel(lambda x, i: wrap(prims.gather(
        x._n, [mx.expand_dims(i, 1)._n], (-1, 1), (30, 64))) * 2, table, index).work
    assert (rows.read, rows.written, rows.flops) == (4 * (30 + 30 * 64), 4 * 30 * 64, 30 * 64)
    ones = kernel(lambda x, i: wrap(prims.gather(x._n, [i._n], (-1, 0), (30,))), table, index).work
    assert (ones.read, ones.written) == (4 * (30 + 30), 4 * 30)


def test_work_of_short_rows() -> None:
    found = kernel(lambda a: (a * 2).sum(axis=-1), mx.ones((4096, 8)))
    assert (found.work.read, found.work.written) == (4 * 4096 * 8, 4 * 4096)
    assert found.work.flops == 2 * 4096 * 8


def test_library_calls_and_native_operations() -> None:
    q = mx.ones((1, 2, 16, 8))
    attention = kernel(lambda q: mx.fast.scaled_dot_product_attention(q, q, q, scale=1.0), q)
    assert attention.kind == "native" and "define" in attention.llvm
    assert attention.work.flops == 2 * 2 * 16 * 16 * (8 + 8)
    found = explain(lambda x: wrap(prims.opaque(
        "turned", lambda a: a[::-1], [x._n], (), [((4,), mx.float32)])[0]) + 1, mx.ones((4,)))
    assert [k.kind for k in found.kernels] == ["call", "map"]
    assert (found.kernels[0].llvm, found.kernels[0].assembly) == ("", "")
    assert found.kernels[0].work.moved == 32
    assert [p.rule for p in found.not_fused] == ["call"]


# ---- the debug ladder ---------------------------------------------------------------------------


@pytest.mark.parametrize("level", range(6))
def test_debug_ladder(level: int, capsys: pytest.CaptureFixture[str],
                      monkeypatch: pytest.MonkeyPatch) -> None:
    x = mx.ones((5, 3))
    mx.eval(x)
    monkeypatch.setattr(config, "debug", level)
    mx.compile(network_step)(x)
    out, err = capsys.readouterr()
    assert out == ""
    shown = ["traced network_step (" in err and "first call" in err,
             "after cse: unchanged\n" in err,
             "kernel map" in err, "define void @" in err, ".text" in err]
    assert shown == [level > i for i in range(5)]


def network_step(x: mx.array) -> mx.array:
    return mx.exp(x) - 1
