"""Native plans: steps in order, patches, one region for independent steps, threads, bad calls."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runtime_kernels import kernels

from eutectic.config import config
from eutectic.errors import InternalError
from eutectic.runtime import driver, pool, pool_text
from eutectic.runtime.driver import CALL, NESTED, RANGE, NativePlan, Step


@pytest.fixture(autouse=True)
def restore_threads() -> Iterator[None]:
    before = config.num_threads
    yield
    pool.set_num_threads(before or pool.available_processors())
    config.num_threads = before


def test_no_more_threads_than_the_plan_was_made_for() -> None:
    pool.set_num_threads(4)
    driver.entries()  # without the runner, plans run on copies of their parameters
    n = 4000
    for allowed in (1, 2):
        # The kernel writes the number of its thread, and one more, over its parameters.
        steps = [Step(RANGE, kernels()["record"], [0] * n, n, independent=i < 2) for i in range(3)]
        plan = NativePlan(steps, threads=allowed)

        def run(plan: NativePlan = plan) -> set[int]:
            plan.run_list([])
            return {int(t) for i in range(3) for t in set(plan.params(i).tolist())}

        assert threads_of(run, allowed) == set(range(1, allowed + 1))
    ids = np.zeros(n, np.int64)

    def launch() -> set[int]:
        pool.parallel(kernels()["record"], ids.ctypes.data, n, 1)
        return set(ids.tolist())

    assert len(threads_of(launch, 3)) > 2  # there is no plan


def threads_of(run: Callable[[], set[int]], wanted: int) -> set[int]:
    """What 200 runs give, and more if it is too little: threads of a busy machine come late."""
    end, turns, seen = time.monotonic() + 60, 0, run()
    while turns < 200 or (len(seen) < wanted and time.monotonic() < end):
        turns += 1
        seen |= run()
    return seen


def add(source: int, target: int, k: int, n: int, kind: int = RANGE, **more: object) -> Step:
    """A step out[i] = in[i] + k between two buffers of the plan."""
    patches = ((0, source, 0), (1, target, 0))
    return Step(kind, kernels()["add"], [0, 0, k], n, more.pop("grain", 16), patches, **more)


def arrays(count: int, n: int) -> tuple[list[np.ndarray], list[int]]:
    made = [np.zeros(n, np.int64) for _ in range(count)]
    return made, [array.ctypes.data for array in made]


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("kinds", [(RANGE, RANGE), (RANGE, CALL), (CALL, RANGE), (CALL, CALL)])
def test_a_step_sees_the_one_before(threads: int, kinds: tuple[int, int]) -> None:
    pool.set_num_threads(threads)
    data, addresses = arrays(3, 5000)
    plan = NativePlan([add(0, 1, 5, 5000, kinds[0]), add(1, 2, 7, 5000, kinds[1])])
    for round in range(20):
        data[0][:] = round
        plan.run_list(addresses)
        assert (data[2] == round + 12).all()


def test_by_address_and_by_list() -> None:
    data, addresses = arrays(2, 100)
    plan = NativePlan([add(0, 1, 3, 100)])
    buffers = np.array(addresses, np.int64)
    plan.run(buffers.ctypes.data)
    assert (data[1] == 3).all()
    data[1][:] = 0
    plan.run_list(addresses)
    assert (data[1] == 3).all()


def test_an_offset_is_added_to_the_buffer() -> None:
    data, addresses = arrays(2, 10)
    data[0][:] = range(10)
    step = Step(RANGE, kernels()["add"], [0, 0, 0], 3, 1, [(0, 0, 16), (1, 1, 8)])
    NativePlan([step]).run_list(addresses)
    assert data[1].tolist() == [0, 2, 3, 4, 0, 0, 0, 0, 0, 0]


def test_a_step_that_starts_regions_itself() -> None:
    pool.set_num_threads(3)
    plan = NativePlan([Step(NESTED, kernels()["nested"], [0] * (50 * 100 // 2), 50)])
    for round in range(20):
        plan.run(0)
        assert (plan.params(0).view(np.int32) == round + 1).all()


def test_regions_back_to_back() -> None:
    """Workers that come late find the region closed, and never the next one half set up."""
    rounds = 64 * 2000
    for threads in (2, 3, 6):
        pool.set_num_threads(threads)
        counts = np.zeros(66, np.int32)
        NativePlan([Step(NESTED, kernels()["storm"], [rounds, counts.ctypes.data], 1)]).run(0)
        expected = [rounds // 64 * min(64, 65 - index) for index in range(65)]
        assert counts.tolist() == [expected[1], *expected[1:], 0]


@given(
    sizes=st.lists(st.integers(0, 3000), min_size=1, max_size=30),
    flags=st.lists(st.booleans(), min_size=30, max_size=30),
    kinds=st.lists(st.sampled_from([RANGE, RANGE, RANGE, CALL]), min_size=30, max_size=30),
    grain=st.integers(1, 400),
    threads=st.sampled_from([1, 2, 4]),
)
def test_independent_steps(
    sizes: list[int], flags: list[bool], kinds: list[int], grain: int, threads: int
) -> None:
    pool.set_num_threads(threads)
    data, addresses = arrays(1 + len(sizes), 3001)
    data[0][:] = range(3001)
    steps = [add(0, 1 + i, i, n, kinds[i], grain=grain, independent=flags[i])
             for i, n in enumerate(sizes)]
    NativePlan(steps).run_list(addresses)
    for i, n in enumerate(sizes):
        assert (data[1 + i][:n] == data[0][:n] + i).all()
        assert not data[1 + i][n:].any()


def test_more_independent_steps_than_fit_one_region() -> None:
    pool.set_num_threads(2)
    count = 2 * pool_text.GROUP_STEPS + 3
    data, addresses = arrays(count + 1, 40)
    steps = [add(0, 1 + i, i, 1 + i % 40, independent=True) for i in range(count)]
    NativePlan(steps).run_list(addresses)
    for i in range(count):
        assert data[1 + i].tolist() == [i] * (1 + i % 40) + [0] * (39 - i % 40)


def test_the_last_of_a_group_is_waited_for() -> None:
    pool.set_num_threads(3)
    data, addresses = arrays(5, 3000)
    plan = NativePlan([
        add(0, 1, 1, 3000, independent=True), add(0, 2, 2, 3000),
        add(1, 3, 10, 3000, independent=True), add(2, 4, 10, 3000),
    ])
    for round in range(50):
        data[0][:] = round
        plan.run_list(addresses)
        assert (data[3] == round + 11).all() and (data[4] == round + 12).all()


def test_independent_steps_make_one_region() -> None:
    """Chunks of a group are sized by the work of all its steps."""
    pool.set_num_threads(2)
    # `limits` writes into its params and counts its calls in the word before them.
    steps = [Step(RANGE, kernels()["limits"], [0] * 100, 100, 1, (), True) for _ in range(4)]
    plan = NativePlan([Step(CALL, kernels()["empty"], [0], 1), *steps])
    plan.run(0)
    for index in range(1, 5):
        calls = int(plan._words[plan._params_at[index][0] - 1])
        # 400 indices in 8 chunks: 2 for each step, where a region each would make 8.
        assert calls == 2


def test_a_parameter_can_change_between_runs() -> None:
    data, addresses = arrays(2, 10)
    plan = NativePlan([add(0, 1, 3, 10)])
    plan.params(0)[2] = 9
    plan.run_list(addresses)
    assert (data[1] == 9).all()


def test_negative_and_large_words() -> None:
    data, addresses = arrays(2, 4)
    for k in (-1, -(2**63), 2**63 - 1, 2**64 - 1):
        NativePlan([add(0, 1, k, 4)]).run_list(addresses)
        assert data[1][0] == np.uint64(k & (2**64 - 1)).astype(np.int64)
        driver.entries().launch(kernels()["add"], 4, 1, 0, [*addresses, k])
        assert data[1][0] == np.uint64(k & (2**64 - 1)).astype(np.int64)


def test_launch() -> None:
    pool.set_num_threads(2)
    data, addresses = arrays(2, 5000)
    for release in (0, 1):
        data[1][:] = 0
        driver.entries().launch(kernels()["add"], 5000, 16, release, [*addresses, 4])
        assert (data[1] == 4).all()


@pytest.mark.parametrize("count", [1, 16, 1024, 1025, 5000])
def test_long_lists(count: int) -> None:
    data, addresses = arrays(2, 10)
    plan = NativePlan([Step(RANGE, kernels()["add"], [0, 0, 2], 10, 1,
                            [(0, 0, 0), (1, count, 0)])])
    plan.run_list([addresses[0]] * count + [addresses[1]])
    assert (data[1] == 2).all()


@pytest.mark.parametrize("release", [False, True])
def test_eight_python_threads_share_a_plan(release: bool) -> None:
    pool.set_num_threads(2)
    plan = NativePlan([add(0, 1, 1, 3000), add(1, 2, 1, 3000)], release_gil=release)
    wrong: list[int] = []

    def work(start: int) -> None:
        data, addresses = arrays(3, 3000)
        for round in range(100):
            data[0][:] = start * 1000 + round
            plan.run_list(addresses)
            if not (data[2] == start * 1000 + round + 2).all():
                wrong.append(round)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_long_plans_let_other_threads_run() -> None:
    step = Step(NESTED, kernels()["many"], [30_000_000, 1, 1], 1)  # a tenth of a second
    assert driver.worth_releasing([step]) and not driver.worth_releasing([add(0, 1, 1, 100)])
    assert driver.worth_releasing([add(0, 1, 1, driver.RELEASE_ELEMENTS)])
    ticks, stop = [0], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0)  # lets the GIL go

    thread = threading.Thread(target=tick)
    thread.start()
    seen: dict[bool, list[int]] = {False: [], True: []}
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5.0)  # nobody is made to let it go
    try:
        for release in (False, True) * 5:
            plan = NativePlan([step], release_gil=release)
            before = ticks[0]
            plan.run(0)
            seen[release].append(ticks[0] - before)
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join(20)
    # A request from before may be granted first, and on a busy machine many are.
    assert min(seen[False]) <= 2 < 5 < max(seen[True])


def test_a_lock_held_elsewhere_is_waited_for_without_the_gil() -> None:
    """A plan that keeps the GIL must let it go while it waits: the holder may need it."""
    n = 1 << 19
    data, addresses = arrays(4, n)
    long = NativePlan([Step(RANGE, kernels()["slow"], [0, 0, 1], n, 64, [(0, 0, 0), (1, 1, 0)])])
    short = NativePlan([add(2, 3, 1, 10)], release_gil=False)
    thread = threading.Thread(target=lambda: [long.run_list(addresses) for _ in range(3)])
    thread.start()
    end = time.monotonic() + 20
    while thread.is_alive() and time.monotonic() < end:
        short.run_list(addresses)
    thread.join(20)
    assert not thread.is_alive() and (data[1] == 1).all()


CALLS: list[Callable[[driver.Entries, NativePlan], object]] = [
    lambda e, p: e.run(),  # type: ignore[call-arg]
    lambda e, p: e.run(0, 0),
    lambda e, p: e.run("x", 0),  # type: ignore[arg-type]
    lambda e, p: e.run(p.address, "x"),  # type: ignore[arg-type]
    lambda e, p: e.run(p.address, None),  # type: ignore[arg-type]
    lambda e, p: e.run_list(p.address),  # type: ignore[call-arg]
    lambda e, p: e.run_list(p.address, (1, 2)),  # type: ignore[arg-type]
    lambda e, p: e.run_list(p.address, [1, "x"]),  # type: ignore[list-item]
    lambda e, p: e.run_list(p.address, ["x"] * 3000),  # type: ignore[list-item]
    lambda e, p: e.launch(0, 1, 1, 0, []),
    lambda e, p: e.launch(kernels()["empty"], 1, 0, 0, []),
    lambda e, p: e.launch(kernels()["empty"], 1, 1, 0, [None]),  # type: ignore[list-item]
    lambda e, p: e.launch(kernels()["empty"], 1, 1, 0, [0] * 2000),
]


@pytest.mark.parametrize("index", range(len(CALLS)))
def test_bad_arguments_raise(index: int) -> None:
    entries = driver.entries()
    if not entries.native:
        pytest.skip("ctypes stands in")
    with pytest.raises((TypeError, SystemError)):
        CALLS[index](entries, NativePlan([]))


def test_an_integer_too_large_raises() -> None:
    with pytest.raises(OverflowError):
        driver.entries().run_list(NativePlan([]).address, [1 << 70])


def test_calls_leak_no_references() -> None:
    entries, plan, argument = driver.entries(), NativePlan([]), [1 << 40]
    before = sys.getrefcount(argument), sys.getrefcount(argument[0]), sys.getrefcount(None)
    for _ in range(1000):
        assert entries.run_list(plan.address, argument) is None
        assert entries.run(plan.address, argument[0]) is None
    after = sys.getrefcount(argument), sys.getrefcount(argument[0]), sys.getrefcount(None)
    assert after[:2] == before[:2]
    assert abs(after[2] - before[2]) < 100


def test_plans_are_checked() -> None:
    fn = kernels()["empty"]
    for bad in (Step(9, fn, [], 1), Step(RANGE, 0, [], 1), Step(RANGE, fn, [], -1),
                Step(RANGE, fn, [], 1, 0)):
        with pytest.raises(InternalError, match=r"\[plan\] step 0 is not well formed"):
            NativePlan([bad])
    with pytest.raises(InternalError, match="patches slot 2 of 2"):
        NativePlan([Step(RANGE, fn, [0, 0], 1, 1, [(2, 0, 0)])])
    with pytest.raises(InternalError, match="needs 2 buffers and was given 1"):
        NativePlan([add(0, 1, 1, 4)]).run_list([1])


def test_the_stand_in_through_ctypes() -> None:
    entries = driver._ctypes_entries()
    data, addresses = arrays(2, 100)
    plan = NativePlan([add(0, 1, 3, 100)])
    entries.run_list(plan.address, addresses)
    assert (data[1] == 3).all()
    entries.launch(kernels()["add"], 100, 1, 0, [*addresses, -4])
    assert (data[1] == -4).all()
    buffers = np.array(addresses, np.int64)
    entries.run(plan.address, buffers.ctypes.data)
    assert (data[1] == 3).all()


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_a_plan_repeats_on_moving_and_swapping_buffers(count: int) -> None:
    """y[i] = x[i] + 5, and a carry to which each step adds 1."""
    n = 10
    inner = NativePlan([add(0, 1, 5, n), add(2, 3, 1, n)])
    x, y = np.arange(7 * n).reshape(7, n), np.zeros((7, n), np.int64)
    (a, b), _ = arrays(2, n)
    step = driver.repeat_step(inner, [(0, 0), (1, 0), (2, 0), (3, 0)], [(0, 8 * n), (1, 8 * n)],
                              [(2, 3, 8 * n)], count)
    plan = NativePlan([step, add(1, 1, 0, n)])
    for _ in range(2):  # the frame starts anew
        a[:] = 3
        plan.run_list([v.ctypes.data for v in (x, y, a, b)])
        assert ((b if count % 2 else a) == 3 + count).all()
    assert (y[:count] == x[:count] + 5).all() and not y[count:].any()


@pytest.mark.parametrize("start", [0, -1, -2, -7])
def test_a_plan_repeats_while_a_byte_is_not_zero(start: int) -> None:
    """The first carry counts up to zero; the results stand where an even number has them."""
    inner = NativePlan([add(0, 1, 1, 1), add(2, 3, 10, 4)])
    (count, other), _ = arrays(2, 1)
    (a, b), _ = arrays(2, 4)
    count[0] = start
    step = driver.repeat_step(inner, [(i, 0) for i in range(4)], [], [(0, 1, 8), (2, 3, 32)], -1)
    NativePlan([step]).run_list([v.ctypes.data for v in (count, other, a, b)])
    assert count[0] == 0
    assert (a == -10 * start).all()


@pytest.mark.parametrize("choice", [0, 1, 255])
def test_one_of_two_plans_runs(choice: int) -> None:
    plans = NativePlan([add(0, 1, 1, 4)]), NativePlan([add(1, 0, 2, 4), add(1, 0, 3, 4)])
    byte = np.array([9, choice], np.uint8)
    step = driver.branch_step(plans, [[(0, 0), (1, 8)], [(0, 16), (1, 0)]], (2, 1))
    data = np.zeros(8, np.int64)
    a = np.arange(8)
    NativePlan([step]).run_list([a.ctypes.data, data.ctypes.data, byte.ctypes.data])
    if choice:
        assert data.tolist() == [0, 1, 2, 3, 4, 0, 0, 0] and a.tolist() == list(range(8))
    else:
        assert not data.any() and a.tolist() == [0, 1, 3, 3, 3, 3, 6, 7]


def test_the_stand_in_keeps_addresses_while_a_plan_runs() -> None:
    """With Python's debugging allocator memory that was freed too early holds no addresses."""
    test = f"{__file__}::test_the_stand_in_through_ctypes"
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
                          env=os.environ | {"PYTHONMALLOC": "debug"}, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_native_function_may_outlive_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """At exit the order is anyone's: a freed definition was read, and crashed the process."""
    made: list[weakref.ref[driver._MethodDef]] = []

    class Watched(driver._MethodDef):
        def __init__(self, *fields: object) -> None:
            super().__init__(*fields)
            made.append(weakref.ref(self))

    monkeypatch.setattr(driver, "_MethodDef", Watched)
    function = driver.builtin("run", driver.native_run())
    for name, held in list(vars(driver).items()):
        if isinstance(held, (list, dict)) and any(x is made[0]() for x in held):
            monkeypatch.delattr(driver, name)
            held.clear()
    gc.collect()
    assert made[0]() is not None and callable(function)
