"""Memory: alignment, reuse, honest statistics, limits, foreign memory, threads, fork, exit."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runtime_kernels import run_python

from eutectic.errors import AllocationError, InternalError
from eutectic.runtime import buffers
from eutectic.runtime.buffers import alloc, as_numpy, wrap


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    gc.collect()
    buffers.clear_cache()
    before = buffers.active_memory()
    yield
    gc.collect()
    assert buffers.active_memory() == before, "a test kept memory"
    buffers.clear_cache()
    assert buffers.cache_memory() == 0


@given(st.integers(0, 1 << 24) | st.integers(0, 5000) | st.sampled_from([1 << 30]))
def test_capacity_and_alignment(nbytes: int) -> None:
    buffer = alloc(nbytes)
    assert buffer.nbytes == nbytes
    assert buffer.ptr % 64 == 0 and buffer.ptr
    assert max(nbytes, 1) <= buffer.capacity <= max(64 + nbytes, nbytes * 1.25)


@pytest.mark.parametrize("nbytes", [1, 100, 4096, 4097, 100_000, (4 << 20) - 1, 4 << 20, 50 << 20])
def test_memory_can_be_used_to_its_end(nbytes: int) -> None:
    buffer, other = alloc(nbytes), alloc(nbytes)
    ctypes.memset(buffer.ptr, 0xAB, buffer.capacity)
    ctypes.memset(other.ptr, 0xCD, other.capacity)
    assert ctypes.string_at(buffer.ptr, nbytes) == b"\xab" * nbytes
    assert ctypes.string_at(other.ptr, nbytes) == b"\xcd" * nbytes


@pytest.mark.parametrize("nbytes", [0, 10, 5000, 100_000, 8 << 20])
def test_the_block_freed_last_is_used_next(nbytes: int) -> None:
    first, second = alloc(nbytes), alloc(nbytes)
    a, b = first.ptr, second.ptr
    del first
    del second
    again = alloc(nbytes)
    assert again.ptr == b
    assert alloc(nbytes).ptr == a


def test_a_block_of_the_next_class_is_used() -> None:
    big = alloc(9 << 20)
    ptr, capacity = big.ptr, big.capacity
    del big
    smaller = alloc((8 << 20) + 5)
    assert (smaller.ptr, smaller.capacity) == (ptr, capacity)
    assert smaller.capacity <= 1.25 * smaller.nbytes
    far = alloc(5 << 20)  # the free list is empty, and what it had would have been too large
    assert far.capacity <= 1.25 * far.nbytes


def test_live_blocks_never_overlap() -> None:
    rng = np.random.default_rng(0)
    live: list[buffers.Buffer] = []
    for _ in range(3000):
        if live and rng.random() < 0.5:
            live.pop(int(rng.integers(len(live))))
        else:
            live.append(alloc(int(2 ** rng.uniform(0, 18))))
    spans = sorted((buffer.ptr, buffer.ptr + buffer.capacity) for buffer in live)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_statistics() -> None:
    base = buffers.active_memory()
    buffers.reset_peak()
    a = alloc(1000)
    b = alloc(1 << 20)
    assert buffers.active_memory() - base == 1024 + (1 << 20)
    del b
    assert buffers.active_memory() - base == 1024
    assert buffers.cache_memory() == 1 << 20
    assert buffers.peak_memory() - base == 1024 + (1 << 20)
    buffers.reset_peak()
    assert buffers.peak_memory() - base == 1024
    c = alloc(1 << 20)
    assert buffers.cache_memory() == 0
    assert buffers.peak_memory() - base == 1024 + (1 << 20)
    buffers.clear_cache()
    assert buffers.active_memory() - base == 1024 + (1 << 20)
    del a, c
    assert buffers.cache_memory() == 1024 + (1 << 20)


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_cleared_memory_goes_back_to_the_system() -> None:
    buffers.clear_cache()
    for nbytes in (64 << 20, 1 << 20):
        held = [alloc(nbytes) for _ in range((128 << 20) // nbytes)]
        for buffer in held:
            ctypes.memset(buffer.ptr, 1, nbytes)
        full = resident()
        held.clear()
        del buffer
        assert resident() > full - (16 << 20)  # kept for reuse
        buffers.clear_cache()
        # Most of it: pages that small blocks share with what others hold stay.
        assert resident() < full - (64 << 20)


def test_cache_limit() -> None:
    before = buffers.set_cache_limit(3 << 20)
    try:
        assert before == buffers.physical_memory() // 2
        held = [alloc(1 << 20) for _ in range(8)]
        assert buffers.cache_memory() == 0
        held.clear()
        assert buffers.cache_memory() == 3 << 20
        assert buffers.set_cache_limit(0) == 3 << 20
        assert buffers.cache_memory() == 0
        ptrs = {alloc(1 << 20).ptr}
        assert buffers.cache_memory() == 0 and ptrs
    finally:
        buffers.set_cache_limit(before)


def test_memory_limit_frees_the_cache_first() -> None:
    a = alloc(16 << 20)
    del a
    assert buffers.cache_memory() == 16 << 20
    before = buffers.set_memory_limit(buffers.active_memory() + (20 << 20))
    try:
        b = alloc(1 << 20)
        assert buffers.cache_memory() == 16 << 20  # both fit
        c = alloc(10 << 20)
        assert buffers.cache_memory() == 0
        d = alloc(64 << 20)  # a limit for the cache, not for what a program needs
        assert d.nbytes == 64 << 20
        del b, c, d
    finally:
        buffers.set_memory_limit(before)
    assert before == buffers.get_memory_limit()


def test_more_than_the_machine_has() -> None:
    with pytest.raises(AllocationError) as caught:
        alloc(123456789012345)
    assert str(caught.value) == "[alloc] cannot allocate 123456789012345 bytes."
    assert isinstance(caught.value, MemoryError)
    with pytest.raises(InternalError, match=r"\[alloc\] of -1 bytes"):
        alloc(-1)


def test_what_the_system_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    a = alloc(8 << 20)
    del a
    monkeypatch.setattr(buffers, "_map", lambda capacity: 0)
    with pytest.raises(AllocationError, match=r"\[alloc\] cannot allocate 20971520 bytes\."):
        alloc(20 << 20)
    assert buffers.cache_memory() == 0  # it tried with the cache given back
    before = buffers.active_memory()
    monkeypatch.undo()
    b = alloc(20 << 20)
    assert buffers.active_memory() - before == b.capacity


# ---- arrays of it -------------------------------------------------------------------------------


def test_a_view_shares_and_keeps_the_memory() -> None:
    buffer = alloc(48)
    ptr = buffer.ptr
    view = as_numpy(buffer, (3, 4), None, np.float32)
    assert view.ctypes.data == ptr and view.flags.c_contiguous and view.flags.writeable
    view[:] = np.arange(12).reshape(3, 4)
    again = as_numpy(buffer, (4, 3), (4, 16), "f4")
    assert (again == view.T).all()
    active = buffers.active_memory()
    del buffer, again
    assert buffers.active_memory() == active
    part = view[1:, 2:]
    del view
    gc.collect()
    assert buffers.active_memory() == active and part.tolist() == [[6, 7], [10, 11]]
    del part
    assert buffers.active_memory() == active - 64


def test_views_of_every_layout() -> None:
    buffer = alloc(80)
    base = as_numpy(buffer, (20,), None, np.int32)
    base[:] = range(20)
    assert as_numpy(buffer, (5,), (-8,), np.int32, 32).tolist() == [8, 6, 4, 2, 0]
    assert as_numpy(buffer, (2, 3), (0, 4), np.int32, 4).tolist() == [[1, 2, 3]] * 2
    assert as_numpy(buffer, (), (), np.int32, 76).item() == 19
    assert as_numpy(buffer, (0, 5), (4, 4), np.int32, 80).shape == (0, 5)
    assert as_numpy(buffer, (2, 2), (-40, 20), np.int32, 40).tolist() == [[10, 15], [0, 5]]
    assert as_numpy(buffer, (3,), (2,), np.int16, 4).tolist() == [1, 0, 2]


def test_views_stay_inside() -> None:
    buffer = alloc(40)
    for shape, strides, offset in (
        ((11,), (4,), 0), ((10,), (4,), 4), ((2,), (-4,), 0), ((2,), (64,), 0), ((1,), (4,), 38),
        ((3, 3), (16, 4), 0), ((11,), None, 0),
    ):
        with pytest.raises(InternalError, match=r"\[as_numpy\] bytes"):
            as_numpy(buffer, shape, strides, np.int32, offset)


def test_foreign_memory() -> None:
    class Owner(np.ndarray):
        pass

    array = np.arange(10, dtype=np.int64).view(Owner)
    gone = weakref.ref(array)
    buffer = wrap(array, array.ctypes.data, array.nbytes, readonly=True)
    active = buffers.active_memory()
    del array
    view = as_numpy(buffer, (10,), None, np.int64)
    assert buffer.readonly and not view.flags.writeable
    assert view.tolist() == list(range(10))
    del buffer
    gc.collect()
    assert gone() is not None
    del view
    gc.collect()
    assert gone() is None
    assert buffers.active_memory() == active
    assert not alloc(8).readonly


# ---- threads and process ------------------------------------------------------------------------


def test_eight_threads() -> None:
    before = buffers.active_memory()
    wrong: list[int] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        live: list[tuple[buffers.Buffer, int]] = []
        for step in range(2000):
            if len(live) > 20:
                buffer, value = live.pop(int(rng.integers(len(live))))
                if ctypes.c_int64.from_address(buffer.ptr).value != value:
                    wrong.append(seed)
            buffer = alloc(int(rng.choice([8, 8, 100, 5000, 70_000])))
            ctypes.c_int64.from_address(buffer.ptr).value = seed * 10_000 + step
            live.append((buffer, seed * 10_000 + step))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not wrong
    gc.collect()
    assert buffers.active_memory() == before


def test_buffers_in_reference_cycles() -> None:
    before = buffers.active_memory()
    for _ in range(1000):
        cycle: list[object] = [alloc(1000)]
        cycle.append(cycle)
    del cycle
    gc.collect()
    assert buffers.active_memory() == before
    assert buffers.cache_memory() >= 1024


def test_fork_and_exit() -> None:
    code = """
import os, sys
from eutectic.runtime import buffers
import ctypes
a, b = buffers.alloc(100), buffers.alloc(8 << 20)
ctypes.memset(b.ptr, 1, 8 << 20)
child = os.fork()
if child == 0:
    assert ctypes.string_at(b.ptr, 4) == b"\\1" * 4
    ctypes.memset(b.ptr, 2, 8 << 20)
    del b
    c = buffers.alloc(8 << 20)
    buffers.clear_cache()
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert ctypes.string_at(b.ptr, 4) == b"\\1" * 4
cycle = [buffers.alloc(10)]; cycle.append(cycle)
sys.keep = buffers.alloc(10)
class Late:
    def __del__(self):
        self.buffer = self.alloc(100)
        ptr = self.big.ptr
        self.big = None  # a native thread may still be reading it
        print("late", self.buffer.nbytes, self.read(ptr, 4))
late = Late(); late.alloc, late.read, late.big = buffers.alloc, ctypes.string_at, b
buffers.set_cache_limit(0)
"""
    assert run_python(code).strip() == r"late 100 b'\x01\x01\x01\x01'"


def test_physical_memory_heeds_control_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = buffers._meminfo()
    monkeypatch.setattr(buffers, "_control_group_limits", lambda: [5 << 30, 1 << 62])
    buffers.physical_memory.cache_clear()
    try:
        assert buffers.physical_memory() == min(machine, 5 << 30)
    finally:
        monkeypatch.undo()
        buffers.physical_memory.cache_clear()
    assert 0 < buffers.physical_memory() <= machine


def test_repr_shows_size_and_place() -> None:
    assert repr(alloc(100)).startswith("<OwnBuffer of 100 bytes at 0x")
