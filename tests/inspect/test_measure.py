"""`measure`: structure and consistency; verdicts on numbers made up for them. Nothing is timed."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.config import config
from eutectic.engine import evaluate, kernels
from eutectic.errors import ArgumentError
from eutectic.inspect import cold, machine, measure, report, sweep, timing
from eutectic.inspect.machine import Machine
from eutectic.inspect.measure import Measurement, measure_call
from eutectic.inspect.seed import data, heavy_of
from eutectic.inspect.timing import Samples, interleave
from eutectic.inspect.verdict import MANY_CALLS, Timed, bound_of, judge
from eutectic.inspect.work import Work
from eutectic.runtime import diskcache, jit, pool


def measured(fun: Any, *args: Any, **kwargs: Any) -> Measurement:
    return measure_call(fun, args, kwargs, budget=0.01)


@pytest.fixture(scope="module")
def heavy() -> Measurement:
    known = Machine("a processor", 2, (machine.Bandwidth(1 << 20, 1e11, 1e11),), 2e11, 0.0, 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "_machines", {pool.get_num_threads(): known})
        return measured(heavy_of(), data(64))


def test_benchmark(heavy: Measurement) -> None:
    assert (heavy.plain.kernels, heavy.compiled.kernels) == (61, 1)
    assert heavy.compiled.work.moved < heavy.plain.work.moved
    assert heavy.compiled.work.flops == heavy.plain.work.flops
    assert heavy.plain.work.written == 4 * (60 * 64 * 64 + 1)
    assert heavy.identical
    assert heavy.inputs == ("float32[64,64]",)
    for side in (heavy.plain, heavy.compiled):
        s = side.samples
        assert s.minimum <= s.lower <= s.median <= s.upper
        assert len(s.seconds) >= timing.LEAST_ROUNDS
        assert 0 <= side.in_kernels <= side.median


def test_first_calls(heavy: Measurement) -> None:
    first = heavy.first
    for call in (first.cold, first.disk, first.memory):
        parts = (call.trace, call.passes, call.plan, call.codegen, call.llvm, call.load, call.run)
        assert all(p >= 0 for p in parts)
        assert sum(parts) == pytest.approx(call.total)
    assert first.cold.llvm > 0
    assert first.disk.llvm == 0 and first.disk.load > 0
    assert first.memory.codegen == first.memory.llvm == first.memory.load == 0
    assert first.plain > 0


def test_report_and_json(heavy: Measurement) -> None:
    text = str(heavy)
    assert max(map(len, text.splitlines())) <= 80
    assert "identical" in text and heavy.verdict.sentence[:12] in text
    found = json.loads(json.dumps(heavy.to_dict(), allow_nan=False))
    assert found["plain"]["kernels"] == 61
    assert found["speedup"] == pytest.approx(found["plain"]["median"] / found["compiled"]["median"])
    assert found["verdict"]["outcome"] == heavy.verdict.outcome
    assert 0 <= found["wins"] <= 1


def test_numbers_that_no_json_holds(heavy: Measurement) -> None:
    """A verdict of `never` has no number of calls."""
    import dataclasses

    for outcome, said in (("not worth it", "never"), ("cannot tell", "not known")):
        verdict = dataclasses.replace(heavy.verdict, calls=math.inf, outcome=outcome)
        never = dataclasses.replace(heavy, verdict=verdict)
        assert json.loads(json.dumps(never.to_dict(), allow_nan=False))["verdict"]["calls"] is None
        assert f"pays          {said}" in report.body(never)


def test_nan_bits_are_identical() -> None:
    assert measured(lambda x: mx.log(x) * 2, mx.array([-1.0, 0.0, np.nan])).identical


def test_different_results_are_seen() -> None:
    count = itertools.count()
    found = measured(lambda x: x + float(next(count)), mx.ones((4,)))
    assert not found.identical
    assert any("differ" in w for w in found.warnings)
    assert "DIFFERENT" in str(found)
    assert not found.verdict.worth and "DIFFER" in found.verdict.sentence
    assert found.verdict.calls == math.inf


def test_random_state_is_put_back() -> None:
    before = np.array(mx.random.state[0])
    found = measured(lambda x: x + mx.random.normal((4,)), mx.ones((4,)))
    assert found.identical
    assert np.array_equal(before, np.array(mx.random.state[0]))


def test_state_and_arguments_are_put_back() -> None:
    state = {"w": mx.ones((3,))}

    def step(x: mx.array) -> mx.array:
        state["w"] = state["w"] * 2 + x
        return state["w"].sum()

    w = state["w"]
    found = measured(mx.compile(step, inputs=state, outputs=state), mx.zeros((3,)))
    assert found.identical and not found.warnings[1:]
    assert state["w"] is w and w.tolist() == [1, 1, 1]


def test_arguments_changed_in_place() -> None:
    """They change compiled as they do plainly, and are put back after the measurement."""
    def step(x: mx.array) -> mx.array:
        x += 1
        return x * 2

    x = mx.zeros((3,))
    found = measured(step, x)
    assert found.identical
    assert x.tolist() == [0, 0, 0]


def test_compiled_function_is_left_alone() -> None:
    fun = mx.compile(lambda x: mx.exp(x) + 1)
    fun(mx.ones((3,)))
    before = (fun.stats.traces, fun.stats.hits)
    found = measured(fun, mx.ones((5,)))
    assert (found.plain.kernels, found.compiled.kernels) == (2, 1)
    assert (fun.stats.traces, fun.stats.hits) == before


def test_caches_are_put_back() -> None:
    fun = mx.compile(lambda x: x * 3 + 1)
    x = mx.ones((7,))
    fun(x)
    disk, loaded = diskcache.default(), set(kernels.loaded_kernels())
    modules, plans = set(jit._modules), set(evaluate._plans)
    measured(lambda x: mx.sinh(x) * 5, x)
    assert diskcache.default() is disk
    assert loaded <= set(kernels.loaded_kernels())
    assert modules <= set(jit._modules) and plans <= set(evaluate._plans)
    assert evaluate.watcher is None
    assert fun(x).tolist() == [4] * 7


def test_errors_leave_the_caches() -> None:
    disk = diskcache.default()
    with pytest.raises(ZeroDivisionError), cold._caches("/nowhere"):
        raise ZeroDivisionError
    assert diskcache.default() is disk


def test_what_the_function_raises_passes() -> None:
    with pytest.raises(ValueError, match="placeholder"):
        measured(lambda x: x if x.sum() > 0 else -x, mx.ones((3,)))
    assert evaluate.watcher is None


def test_compiling_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "disable_compile", True)
    with pytest.raises(ArgumentError, match="compiling is switched off"):
        measured(lambda x: x, mx.ones((3,)))


@pytest.mark.parametrize("fun", [lambda x: x.T, lambda x: x[:0] + 1, lambda x: 3, lambda x: None])
def test_functions_without_work(fun: Any) -> None:
    found = measured(fun, mx.ones((2, 3)))
    assert (found.plain.kernels, found.compiled.kernels) == (0, 0)
    assert found.identical
    assert found.verdict.bound == "nothing" and "computes nothing" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_numpy_arguments_and_keywords() -> None:
    found = measured(lambda x, k, s=1.0: x * k + s, np.ones((2, 3), np.float32), 2, s=0.5)
    assert found.inputs == ("float32[2,3]", "2", "0.5")


def test_noise_is_told() -> None:
    side = measure.Side(Samples((1.0, 2.0, 3.0, 4.0)), 1, Work(), 1.0, 0.5, 0.5)
    quiet = measure.Side(Samples((1.0, 1.01)), 1, Work(), 1.0, 0.5, 0.5)
    busy = Machine("", 2, (), 1.0, 0.0, 0.5)
    idle = Machine("", 2, (), 1.0, 0.0, 0.1)
    assert measure._warnings(quiet, quiet, idle) == ()
    assert "noisy: half of the plain samples" in measure._warnings(side, quiet, idle)[0]
    assert "noisy: other programs used 60 %" in measure._warnings(quiet, quiet, idle, 0.6)[0]
    assert "used 50 % of the processors while" in measure._warnings(quiet, quiet, busy)[0]


# ---- verdicts -----------------------------------------------------------------------------------


def timed(median: float, kernels: int = 10, moved: int = 1000, around: float = 0.0,
          memory: float = 0.0, arithmetic: float = 0.0) -> Timed:
    return Timed(median, kernels, moved, around, memory, arithmetic)


@pytest.mark.parametrize(
    ("plain", "bound"),
    [
        (timed(1.0, around=0.9), "launch"),
        (timed(1.0, around=0.3, memory=0.6), "memory"),
        (timed(1.0, memory=0.2, arithmetic=0.7), "compute"),
        (timed(1.0, around=0.3, memory=0.3, arithmetic=0.3), "mixed"),
        (timed(1.0, kernels=0), "nothing"),
        (timed(1.0, around=0.33), "mixed"),
        (timed(1.0, around=0.34), "launch"),
        (timed(1.0, memory=7.0), "memory"),
    ],
)
def test_bounds(plain: Timed, bound: str) -> None:
    assert bound_of(plain) == bound


@pytest.mark.parametrize(
    ("plain", "compiled", "wins", "outcome"),
    [
        (timed(2.0), timed(1.0), 1.0, "worth it"),
        (timed(2.0), timed(1.0), 0.75, "worth it"),
        (timed(2.0), timed(1.0), 0.74, "cannot tell"),
        (timed(1.04), timed(1.0), 1.0, "no difference"),
        (timed(1.0), timed(1.04), 0.0, "no difference"),
        (timed(1.0), timed(2.0), 0.0, "not worth it"),
        (timed(1.0), timed(2.0), 0.3, "cannot tell"),
    ],
)
def test_outcomes(plain: Timed, compiled: Timed, wins: float, outcome: str) -> None:
    found = judge(plain, compiled, 1.0, wins)
    assert found.outcome == outcome
    assert found.worth == (outcome == "worth it")
    assert math.isinf(found.calls) == (outcome != "worth it")


def test_calls_until_it_pays() -> None:
    assert judge(timed(3.0), timed(1.0), 21.0).calls == 11
    assert "after 11 calls" in judge(timed(3.0), timed(1.0), 21.0).sentence
    late = judge(timed(3.0), timed(1.0), 2.0 * MANY_CALLS + 2)
    assert late.outcome == "not worth it"
    assert f"{MANY_CALLS + 1:,} calls" in late.sentence


def test_one_kernel_and_products() -> None:
    alone, same = timed(1.0, kernels=1, arithmetic=0.9), timed(1.0, kernels=1)
    assert judge(alone, same, 1.0).bound == "one kernel"
    single = judge(alone, same, 1.0, product_part=1.0)
    assert single.bound == "matrix product" and "single matrix product" in single.sentence
    several = timed(1.0, kernels=4, arithmetic=0.9)
    assert judge(several, several, 1.0, product_part=0.9).bound == "matrix product"
    assert judge(several, several, 1.0, product_part=0.5).bound == "compute"
    small = timed(1.0, kernels=4, around=0.9)
    assert judge(small, small, 1.0, product_part=1.0).bound == "launch"


def test_sentences_say_why() -> None:
    fast = timed(1.0, kernels=1, moved=8 << 20, around=0.5)
    launch = judge(timed(9.0, around=8.0), fast, 1.0).sentence
    assert "Launch-bound: 89 % of the plain call" in launch
    assert "Of the compiled call, 50 % is spent around" in launch
    memory = judge(timed(9.0, moved=80 << 20, memory=6.0), fast, 1.0).sentence
    assert "8.0 MiB instead of 80.0 MiB" in memory
    compute = judge(timed(9.0, arithmetic=6.0), fast, 1.0).sentence
    assert "Compute-bound: arithmetic takes 67 %" in compute
    assert "No single limit" in judge(timed(9.0), fast, 1.0).sentence


# ---- timing, machine, sweep ---------------------------------------------------------------------


def test_rounds_are_interleaved() -> None:
    order: list[str] = []
    settled: list[int] = []
    parts: list[float] = []
    found = interleave([lambda: order.append("a"), lambda: order.append("b")], 0.0,
                       lambda: settled.append(len(order)), parts.append)
    assert [len(s.seconds) for s in found] == [timing.LEAST_ROUNDS] * 2
    assert len(settled) >= 2 * timing.LEAST_ROUNDS
    runs = [a for a, b in zip(order, [*order[1:], ""]) if a != b]
    assert runs[:6] == ["a", "b", "a", "b", "a", "b"]  # a round turns the order of the last round
    assert parts == sorted(parts) and 0 < parts[-1] <= 1


def test_rates_lie_between_the_measured_ones(known_machine: Machine) -> None:
    first, last = known_machine.bandwidth[0], known_machine.bandwidth[-1]
    assert known_machine.rates(1) == pytest.approx((first.read, first.copy))
    assert known_machine.rates(1 << 40) == pytest.approx((last.read, last.copy))
    read, copy = known_machine.rates(4 << 20)
    assert last.read < read < first.read and last.copy < copy < first.copy


def test_copying_takes_what_the_copy_test_took(known_machine: Machine) -> None:
    size = 64 << 20
    work = Work(read=size // 2, written=size // 2)
    assert known_machine.memory_seconds(work) == pytest.approx(size / 10e9)
    assert known_machine.memory_seconds(Work(read=size)) == pytest.approx(size / 20e9)
    assert known_machine.arithmetic_seconds(Work(instructions=100e9)) == pytest.approx(1.0)


def test_machine_is_measured_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_machines", {})
    monkeypatch.setattr(machine, "_ROUNDS", 1)
    monkeypatch.setattr(machine, "LARGEST", 1 << 20)
    monkeypatch.setattr(machine, "BUSY", 1.0)
    found = machine.machine()
    assert [b.working_set for b in found.bandwidth] == [256 << 10, 1 << 20]
    assert found.bandwidth[0].read >= found.bandwidth[1].read > 0
    assert found.bandwidth[0].copy >= found.bandwidth[1].copy > 0
    assert found.flops > 0 and 0 <= found.others <= 1
    machine._machines.clear()
    assert machine.machine() == found  # from disk
    monkeypatch.setattr(machine, "KEPT_SECONDS", 0.0)
    machine._machines.clear()
    assert machine.machine().measured > found.measured


def test_sweep_changes_one_thing_at_a_time() -> None:
    texts: list[str] = []
    found = sweep.sweep([16, 8], [2, 1], budget=0.0, progress=lambda part, text: texts.append(text))
    assert [(p.n, p.loops) for p in found.points()] == [(16, 2), (8, 2), (16, 1)]
    assert [p.measurement.plain.kernels for p in found.points()] == [7, 7, 4]
    assert "From (16, 16) to (8, 8) with 2 loops the speed-up" in found.conclusion()
    assert "From 2 loops to 1 on (16, 16) the speed-up" in found.conclusion()
    assert max(map(len, str(found).splitlines())) <= 80
    assert len(json.loads(json.dumps(found.to_dict(), allow_nan=False))["points"]) == 3
    assert texts[0] == "(16, 16), 2 loops"


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ([3.0, 3.1, 3.05], "holds"),
        ([1.0, 2.0, 3.0], "grows"),
        ([3.0, 2.0, 1.0], "shrinks"),
        ([1.0, 5.0, 1.2], "up to 5.00x between"),
        ([3.0, 1.0, 2.9], "down to 1.00x between"),
    ],
)
def test_trends(factors: list[float], words: str) -> None:
    assert words in sweep.trend(factors)
