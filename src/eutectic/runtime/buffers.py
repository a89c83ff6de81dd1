"""Memory for arrays: 64-byte aligned blocks that are reused, with MLX's statistics and limits.

Blocks come in size classes (multiples of 64 bytes up to 4 KiB, then eight to a doubling). A freed
block goes to its class's list and the next allocation takes the most recent one: its pages have
been touched, and fresh pages cost more than most arithmetic. Blocks of 4 MiB and more are mapped,
with huge pages asked for. The GIL protects the counters: nothing that could switch threads stands
between reading and writing one, and lists are popped before anything else is decided.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import mmap
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from eutectic.errors import AllocationError, InternalError

ALIGNMENT = 64
SMALL_BYTES = 4096
LARGE_BYTES = 4 << 20
HUGE_PAGE_BYTES = 2 << 20

_MADV_HUGEPAGE = 14
_NEVER = -(1 << 100)

_active = 0
_peak = 0
_total = 0
"""Bytes taken from the system: those in use and those kept for reuse."""
_floor = _NEVER
"""`_active` below this means that more than the limit is kept: `_total - _cache_limit`."""
_cache_limit: int | None = None
_memory_limit: int | None = None

_classes: dict[int, list[int]] = {}
"""Free blocks by capacity."""
_known: dict[int, tuple[int, list[int]]] = {}
"""Capacity and free blocks for sizes asked for before; emptied when it has `_MOST_KNOWN`."""
_MOST_KNOWN = 4096


class Buffer:
    """A block of memory at `ptr`; what `alloc` and `wrap` return. Freed with its last reference."""

    __slots__ = ("capacity", "home", "nbytes", "ptr")

    ptr: int
    nbytes: int
    capacity: int
    home: list[int]
    readonly = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.nbytes} bytes at {self.ptr:#x}>"


class OwnBuffer(Buffer):
    """A block from the pool; it goes back there."""

    __slots__ = ()

    def __del__(self) -> None:
        global _active, _peak
        self.home.append(self.ptr)
        if _active > _peak:  # a peak is seen here, just before it ends, or when asked for
            _peak = _active
        _active -= self.capacity
        if _active < _floor:
            _evict(_get_cache_limit())


class ForeignBuffer(Buffer):
    """Memory of another library, kept alive by a reference to its owner."""

    __slots__ = ("owner", "readonly")

    owner: Any
    readonly: bool  # type: ignore[misc]


_new = OwnBuffer.__new__


def alloc(nbytes: int) -> Buffer:
    """Return at least `nbytes` bytes of memory (not cleared), aligned to 64.

    Raises `AllocationError` for more than the machine has, or than the system gives.

    >>> buffer = alloc(100)
    >>> buffer.nbytes, buffer.capacity, buffer.ptr % 64
    (100, 128, 0)
    """
    global _active
    try:
        capacity, home = _known[nbytes]
        ptr = home.pop()
    except (KeyError, IndexError):
        return _alloc_slowly(nbytes)
    buffer = _new(OwnBuffer)
    buffer.ptr = ptr
    buffer.nbytes = nbytes
    buffer.capacity = capacity
    buffer.home = home
    _active += capacity
    return buffer


def wrap(owner: object, ptr: int, nbytes: int, readonly: bool = False) -> Buffer:
    """Refer to memory that `owner` holds, without copying; `owner` lives as long as the buffer.

    >>> import numpy as np
    >>> array = np.arange(3, dtype=np.int64)
    >>> wrap(array, array.ctypes.data, array.nbytes).nbytes
    24
    """
    buffer = ForeignBuffer()
    buffer.ptr = ptr
    buffer.nbytes = nbytes
    buffer.capacity = 0
    buffer.owner = owner
    buffer.readonly = readonly
    return buffer


class _Memory(ctypes.c_char * (1 << 62)):  # type: ignore[misc]
    """An exporter of the buffer protocol at any address; `as_numpy` checks the bounds."""


def as_numpy(
    buffer: Buffer,
    shape: Sequence[int],
    strides_bytes: Sequence[int] | None,
    np_dtype: Any,
    offset_bytes: int = 0,
) -> np.ndarray:
    """A NumPy array of the buffer's memory; the buffer lives as long as the array.

    >>> view = as_numpy(alloc(8), (2,), None, np.int32)
    >>> view[:] = 7, 8
    >>> view.sum()
    np.int64(15)
    """
    dtype = np.dtype(np_dtype)
    low, high = offset_bytes, offset_bytes + dtype.itemsize
    if strides_bytes is None:
        size = 1
        for dim in shape:
            size *= dim
        high += (size - 1) * dtype.itemsize
    else:
        size = 1
        for dim, stride in zip(shape, strides_bytes):
            size *= dim
            if stride > 0:
                high += (dim - 1) * stride
            else:
                low += (dim - 1) * stride
    if size and (low < 0 or high > buffer.nbytes):
        raise InternalError(f"[as_numpy] bytes {low} to {high} of a buffer of {buffer.nbytes}.")
    memory = _Memory.from_address(buffer.ptr + low if size else buffer.ptr)
    memory.buffer = buffer
    view = np.ndarray(shape, dtype, memory, offset_bytes - low if size else 0, strides_bytes)
    if buffer.readonly:
        view.flags.writeable = False
    return view


# ---- statistics and limits ----------------------------------------------------------------------


def active_memory() -> int:
    """Bytes of the blocks in use.

    >>> before = active_memory()
    >>> buffer = alloc(1000)
    >>> active_memory() - before
    1024
    """
    return _active


def peak_memory() -> int:
    """The most bytes that were in use at a time since the start or the last `reset_peak`."""
    return max(_peak, _active)


def reset_peak() -> None:
    """Let the peak start again from what is in use now."""
    global _peak
    _peak = _active


def cache_memory() -> int:
    """Bytes of freed blocks that are kept for reuse."""
    return _total - _active


def set_cache_limit(limit: int) -> int:
    """Keep at most `limit` bytes of freed blocks; returns the limit before."""
    global _cache_limit, _floor
    previous = _get_cache_limit()
    _cache_limit = limit
    _floor = _total - limit
    if _active < _floor:
        _evict(limit)
    return previous


def set_memory_limit(limit: int) -> int:
    """Above `limit` bytes in all, freed blocks are given back before new ones are taken.

    Returns the limit before.
    """
    global _memory_limit
    previous = _get_memory_limit()
    _memory_limit = limit
    return previous


def get_memory_limit() -> int:
    """The limit in force; nine tenths of the physical memory unless set."""
    return _get_memory_limit()


def clear_cache() -> None:
    """Give all freed blocks back to the system."""
    _evict(0)


@functools.cache
def physical_memory() -> int:
    """Bytes of memory this process may use: the machine's, or its control group's if lower."""
    sizes = [_meminfo(), *_control_group_limits()]
    return min(size for size in sizes if size)


def _meminfo() -> int:
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemTotal:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1 << 62


def _control_group_limits() -> list[int]:
    """The limits of this process's control group and those above it (versions 1 and 2)."""
    found = []
    try:
        with open("/proc/self/cgroup") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            root, name = "/sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            root, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        while True:
            try:
                with open(f"{root}{path.rstrip('/')}/{name}") as file:
                    text = file.read().strip()
                if text.isdigit():
                    found.append(int(text))
            except OSError:
                pass
            if path in ("", "/"):
                break
            path = path.rpartition("/")[0]
    return found


def _get_cache_limit() -> int:
    global _cache_limit
    if _cache_limit is None:
        _cache_limit = physical_memory() // 2
    return _cache_limit


def _get_memory_limit() -> int:
    global _memory_limit
    if _memory_limit is None:
        _memory_limit = physical_memory() // 10 * 9
    return _memory_limit


# ---- taking and giving back ---------------------------------------------------------------------


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None)
    libc.posix_memalign.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free.restype = None
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return libc


def _alloc_slowly(nbytes: int) -> Buffer:
    """`alloc` when the class's list is empty: the next class's block, or one from the system."""
    global _active, _total, _floor
    if nbytes < 0:
        raise InternalError(f"[alloc] of {nbytes} bytes.")
    capacity = _class_of(nbytes)
    home = _classes.setdefault(capacity, [])
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[nbytes] = capacity, home
    ptr = 0
    try:
        ptr = home.pop()
    except IndexError:
        if nbytes > SMALL_BYTES:  # a block one class up wastes at most a quarter in all
            above = _class_of(capacity + 1)
            above_home = _classes.get(above)
            if above_home:
                ptr = above_home.pop()
                capacity, home = above, above_home
    if not ptr:
        ptr = _from_system(nbytes, capacity)
        _total += capacity
        _floor = _total - _get_cache_limit()
    buffer = _new(OwnBuffer)
    buffer.ptr = ptr
    buffer.nbytes = nbytes
    buffer.capacity = capacity
    buffer.home = home
    _active += capacity
    return buffer


def _class_of(nbytes: int) -> int:
    """The capacity of the size class that holds `nbytes`."""
    if nbytes <= SMALL_BYTES:
        return max((nbytes + ALIGNMENT - 1) & -ALIGNMENT, ALIGNMENT)
    step = (nbytes - 1).bit_length() - 4
    return (nbytes + (1 << step) - 1) >> step << step


def _from_system(nbytes: int, capacity: int) -> int:
    if nbytes > physical_memory():
        raise AllocationError(f"[alloc] cannot allocate {nbytes} bytes.")
    excess = _total + capacity - _get_memory_limit()
    if excess > 0 and _total > _active:
        _evict(max(0, _total - _active - excess))
    take = _map if capacity >= LARGE_BYTES else _malloc
    ptr = take(capacity)
    if not ptr:
        clear_cache()
        ptr = take(capacity)
    if not ptr:
        raise AllocationError(f"[alloc] cannot allocate {nbytes} bytes.")
    return ptr


def _malloc(capacity: int) -> int:
    place = ctypes.c_void_p()
    _libc().posix_memalign(ctypes.addressof(place), ALIGNMENT, capacity)
    return place.value or 0


def _map(capacity: int) -> int:
    """Map pages at a huge page's boundary: more is mapped than needed and the ends are cut off."""
    libc = _libc()
    failed = ctypes.c_void_p(-1).value
    start = libc.mmap(None, capacity + HUGE_PAGE_BYTES, mmap.PROT_READ | mmap.PROT_WRITE,
                      mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if start is None or start == failed:
        return 0
    ptr = (start + HUGE_PAGE_BYTES - 1) & -HUGE_PAGE_BYTES
    end = start + capacity + HUGE_PAGE_BYTES
    if ptr > start:
        libc.munmap(start, ptr - start)
    if end > ptr + capacity:
        libc.munmap(ptr + capacity, end - ptr - capacity)
    if sys.platform == "linux":
        libc.madvise(ptr, capacity, _MADV_HUGEPAGE)
    return ptr


def _evict(limit: int) -> None:
    """Give freed blocks back, large ones first, until at most `limit` bytes are kept."""
    global _total, _floor
    libc = _libc()
    for capacity, home in sorted(_classes.items(), reverse=True):
        while _total - _active > limit:
            try:
                ptr = home.pop(0)  # the one unused for longest
            except IndexError:
                break
            _total -= capacity
            _floor = _total - _get_cache_limit()
            if capacity >= LARGE_BYTES:
                libc.munmap(ptr, capacity)
            else:
                libc.free(ptr)


@atexit.register
def _at_exit() -> None:
    # What is freed from here on is left to the system: native threads may still run on it, and
    # the names that freeing needs go away.
    delattr(OwnBuffer, "__del__")
