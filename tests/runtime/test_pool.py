"""The thread pool: each index once, whatever the threads do, in every process that may use it."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eutectic.config import config
from eutectic.errors import ArgumentError
from eutectic.runtime import jit, pool, pool_text

from runtime_kernels import kernels, run_python

HERE = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def restore_threads() -> Iterator[None]:
    before = config.num_threads
    yield
    pool.set_num_threads(before or pool.available_processors())
    config.num_threads = before


def counts(n: int, grain: int, fn: str = "count") -> np.ndarray:
    array = np.zeros(n + 8, np.int32)
    pool.parallel(kernels()[fn], array.ctypes.data, n, grain)
    return array


@given(
    n=st.integers(0, 5000) | st.sampled_from([100_003, 65_536]),
    grain=st.integers(1, 300) | st.sampled_from([1000, 4096]),
    threads=st.sampled_from([1, 2, 3, 4, 7, 16]),
)
def test_every_index_exactly_once(n: int, grain: int, threads: int) -> None:
    pool.set_num_threads(threads)
    for _ in range(3):
        array = counts(n, grain)
        assert (array[:n] == 1).all() and (array[n:] == 0).all()


def test_every_index_exactly_once_under_stress() -> None:
    pool.set_num_threads(8)  # more than there are processors: workers come late and in the middle
    array = np.zeros(64, np.int32)
    for _ in range(5000):
        pool.parallel(kernels()["count"], array.ctypes.data, 64, 1)
    assert (array == 5000).all()


@given(n=st.integers(1, 3000), grain=st.integers(1, 200), threads=st.sampled_from([1, 2, 4]))
def test_chunks(n: int, grain: int, threads: int) -> None:
    pool.set_num_threads(threads)
    words = np.zeros(2000, np.int64)
    pool.parallel(kernels()["limits"], words.ctypes.data + 8, n, grain)
    calls = sorted(map(tuple, words[1:1 + 2 * words[0]].reshape(-1, 2).tolist()))
    assert calls[0][0] == 0 and calls[-1][1] == n
    for (_, end), (start, _) in pairwise(calls):
        assert start == end
    assert all(start % grain == 0 for start, _ in calls)
    sizes = {end - start for start, end in calls[:-1]}
    assert len(sizes) <= 1  # equal but for the last
    most = 1 if threads == 1 or n <= grain else threads * pool_text.CHUNKS_PER_THREAD
    assert len(calls) <= most
    if most > 1:
        assert len(calls) >= 2


def test_nothing_is_called_for_nothing() -> None:
    words = np.zeros(4, np.int64)
    pool.parallel(kernels()["limits"], words.ctypes.data + 8, 0, 1)
    assert words[0] == 0


def test_all_threads_take_part_and_ids_are_in_range() -> None:
    pool.set_num_threads(2)
    words = np.zeros((3, 4096), np.int64)
    words[0] = 1
    params = np.array([words[0].ctypes.data, words[1].ctypes.data, 5], np.int64)
    seen: set[int] = set()
    end = time.monotonic() + 10  # a busy machine may give the worker no processor for a while
    while time.monotonic() < end:
        pool.parallel(kernels()["slow"], params.ctypes.data, 4096, 64)
        pool.parallel(kernels()["record"], words[2].ctypes.data, 4096, 16)
        seen |= set(words[2].tolist())
        if len(seen) == 2:
            break
    assert seen == {1, 2}
    assert (words[1] == 6).all()


def test_a_region_within_a_region() -> None:
    for threads in (1, 2, 5):
        pool.set_num_threads(threads)
        array = np.zeros((50, 100), np.int32)
        pool.parallel(kernels()["nested"], array.ctypes.data, 50, 1)
        assert (array == 1).all()


def test_a_nested_region_keeps_its_threads_id() -> None:
    pool.set_num_threads(4)
    wrong = np.ones(200, np.int64)
    for _ in range(50):
        pool.parallel(kernels()["nested_tid"], wrong.ctypes.data, 200, 1)
        assert not wrong.any()


def test_eight_python_threads_at_once() -> None:
    pool.set_num_threads(2)
    arrays = [np.zeros(1000, np.int32) for _ in range(8)]

    def work(array: np.ndarray) -> None:
        for _ in range(200):
            pool.parallel(kernels()["count"], array.ctypes.data, 1000, 10)

    threads = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert all((array == 200).all() for array in arrays)


def test_number_of_threads() -> None:
    pool.native()
    pool.set_num_threads(3)
    assert pool.get_num_threads() == 3
    counts(1000, 1)
    assert pool.started_workers() >= 2
    for bad in (0, -1, 65):
        with pytest.raises(ArgumentError, match=rf"\[set_num_threads\] {bad} is not between"):
            pool.set_num_threads(bad)
    pool.set_num_threads(1)
    words = np.zeros(4, np.int64)
    pool.parallel(kernels()["limits"], words.ctypes.data + 8, 1000, 1)
    assert words.tolist() == [1, 0, 1000, 0]


def test_changing_the_number_while_regions_run() -> None:
    array = np.zeros(500, np.int32)
    stop = threading.Event()
    rounds = 0

    def change() -> None:
        while not stop.is_set():
            for threads in (1, 4, 2, 6):
                pool.set_num_threads(threads)

    thread = threading.Thread(target=change)
    thread.start()
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        pool.parallel(kernels()["count"], array.ctypes.data, 500, 3)
        rounds += 1
    stop.set()
    thread.join(10)
    assert rounds and (array == rounds).all()


def test_threads_start_only_when_needed() -> None:
    code = f"""
import sys; sys.path.insert(0, {HERE!r})
from runtime_kernels import kernels
from eutectic.runtime import pool
import numpy as np
a = np.zeros(100, np.int32)
pool.parallel(kernels()["count"], a.ctypes.data, 100, 100)
assert pool.started_workers() == 0
pool.parallel(kernels()["count"], a.ctypes.data, 100, 1)
assert pool.started_workers() == 2, pool.started_workers()
assert pool.get_num_threads() == 3
"""
    run_python(code, EUTECTIC_NUM_THREADS="3")


def test_the_default_is_the_affinity() -> None:
    code = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from eutectic.runtime import pool
print(pool.get_num_threads())
"""
    assert run_python(code, EUTECTIC_NUM_THREADS="").strip() == "1"


def test_idle_workers_use_no_processor_time() -> None:
    pool.set_num_threads(4)
    counts(1000, 1)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.02


def test_sleeping_workers_wake_up() -> None:
    pool.set_num_threads(2)
    words = np.zeros((2, 20000), np.int64)
    for _ in range(20):
        time.sleep(0.002)  # many times the spinning time
        words[1] = 0
        params = np.array([words[0].ctypes.data, words[1].ctypes.data, 3], np.int64)
        pool.parallel(kernels()["slow"], params.ctypes.data, 20000, 10)
        assert (words[1] == 3).all()


def test_signals_go_to_the_main_thread() -> None:
    code = f"""
import sys, signal, os, time; sys.path.insert(0, {HERE!r})
from runtime_kernels import kernels
from eutectic.runtime import pool
import numpy as np
pool.set_num_threads(4)
a = np.zeros(100, np.int32)
before = set(os.listdir("/proc/self/task"))
pool.parallel(kernels()["count"], a.ctypes.data, 100, 1)
def masks():
    found = []
    for task in set(os.listdir("/proc/self/task")) - before:
        status = open(f"/proc/self/task/{{task}}/status").read()
        found.append(int(status.split("SigBlk:")[1].split()[0], 16))
    return found
def right(mask):
    return mask >> (signal.SIGINT - 1) & 1 and not mask >> (signal.SIGSEGV - 1) & 1
for _ in range(100):  # a thread that is being made blocks every signal for a moment
    if len(masks()) == 3 and all(map(right, masks())): break
    time.sleep(0.01)
else:
    raise AssertionError(masks())
"""
    if sys.platform == "linux":
        run_python(code)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_fork(threads: int) -> None:
    code = f"""
import sys, os, threading; sys.path.insert(0, {HERE!r})
from runtime_kernels import kernels
from eutectic.runtime import pool
import numpy as np
pool.set_num_threads({threads})
a = np.zeros(100000, np.int32)
count = kernels()["count"]
def go(k):
    for _ in range(k): pool.parallel(count, a.ctypes.data, a.size, 7)
go(3)
stop = threading.Event()
def busy():
    b = np.zeros(100000, np.int32)
    while not stop.is_set(): pool.parallel(count, b.ctypes.data, b.size, 7)
thread = threading.Thread(target=busy); thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        assert pool.started_workers() == 0
        a[:] = 0; go(5); assert (a == 5).all()
        pool.set_num_threads(3); go(1); assert (a == 6).all()
        grandchild = os.fork()
        if grandchild == 0:
            go(1); os._exit(5 if (a == 7).all() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]) == 5
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    go(1)
stop.set(); thread.join()
"""
    run_python(code)


def test_exit_while_a_thread_computes() -> None:
    code = f"""
import sys, threading, time; sys.path.insert(0, {HERE!r})
from runtime_kernels import kernels
from eutectic.runtime import pool, buffers
import numpy as np
pool.set_num_threads(2)
slow = kernels()["slow"]
a, b = buffers.alloc(8 << 20), buffers.alloc(8 << 20)
params = np.array([a.ptr, b.ptr, 5], np.int64)
def work():
    while True: pool.parallel(slow, params.ctypes.data, 1 << 20, 1000)
for _ in range(3): threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
"""
    for _ in range(3):
        start = time.monotonic()
        run_python(code)
        assert time.monotonic() - start < pool.EXIT_WAIT_SECONDS  # it was not given up


def test_computing_after_the_exit_handlers() -> None:
    code = f"""
import sys, atexit; sys.path.insert(0, {HERE!r})
import numpy as np
a = np.zeros(1000, np.int32)
class Late:
    def __del__(self):
        self.parallel(self.count, self.address, 1000, 1)
        print("late", self.a.tolist() == [2] * 1000)
late = Late()
late.a, late.address = a, a.ctypes.data
atexit.register(lambda: (pool.parallel(count, a.ctypes.data, 1000, 1), print("early")))
from runtime_kernels import kernels
from eutectic.runtime import pool
late.parallel = pool.parallel
late.count = count = kernels()["count"]
"""
    assert run_python(code).split() == ["early", "late", "True"]


# ---- what other platforms get -------------------------------------------------------------------


def test_without_a_futex() -> None:
    """The condition variables that stand in for the futex elsewhere, run here."""
    code = f"""
import sys, time; sys.path.insert(0, {HERE!r})
from eutectic.runtime import pool, pool_base
pool_base.FUTEX_CALLS.clear()
from runtime_kernels import kernels
import numpy as np
pool.set_num_threads(4)
a = np.zeros(1000, np.int32)
for i in range(300):
    pool.parallel(kernels()["count"], a.ctypes.data, 1000, 3)
    if i % 20 == 0: time.sleep(0.002)
assert (a == 300).all()
import os
child = os.fork()
if child == 0:
    pool.parallel(kernels()["count"], a.ctypes.data, 1000, 3)
    os._exit(7 if (a == 301).all() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
pool.set_num_threads(2); pool.set_num_threads(5)
pool.parallel(kernels()["count"], a.ctypes.data, 1000, 3)
start = time.process_time(); time.sleep(0.2); assert time.process_time() - start < 0.02
"""
    run_python(code)


@pytest.mark.parametrize(
    ("machine", "futex", "triple"),
    [("aarch64", 98, "aarch64-unknown-linux-gnu"), ("arm64", None, "arm64-apple-macosx12"),
     ("x86_64", 202, "x86_64-unknown-linux-gnu"), ("riscv64", None, None)],
)
def test_the_text_compiles_for_other_machines(
    machine: str, futex: int | None, triple: str | None
) -> None:
    llvm = jit._llvm()
    text = pool_text.native_text(machine, futex, 2)
    if triple is None:
        llvm.parse_assembly(text, llvm.create_context()).verify()
        return
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    code = llvm.Target.from_triple(triple).create_target_machine(opt=2)
    header = f'target datalayout = "{code.target_data}"\ntarget triple = "{triple}"\n'
    module = llvm.parse_assembly(header + text, llvm.create_context())
    module.verify()
    assert ("pause" if machine == "x86_64" else "isb") in code.emit_assembly(module)


def test_spinning_is_calibrated() -> None:
    native = pool.native()
    spins = pool._spins(native)
    start = time.perf_counter()
    ctypes.CFUNCTYPE(None, ctypes.c_int64)(native.spin)(spins)
    elapsed = time.perf_counter() - start
    assert elapsed > pool.SPIN_SECONDS / 4
