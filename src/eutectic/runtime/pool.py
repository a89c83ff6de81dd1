"""The thread pool: native workers that spin for a moment and then sleep (LLVM text: `pool_text`).

A kernel is `void kernel(ptr params, i64 lo, i64 hi, i64 tid)`; `ev_parallel(fn, params, n, grain)`
covers [0, n) with calls of it and returns when all are done. How a region works:

- [0, n) is cut into chunks; thread t begins with its own contiguous share of them, so that the next
  kernel finds its data in the same core's cache, and steals from the others when done.
- A worker announces itself (`busy`), then looks whether the region is still open. The caller closes
  the region once no chunk is left and waits for the busy ones only: it never waits for a worker
  that has yet to wake up.
- A region uses no more threads than its plan was made for: their scratch memory is in the plan.
- One region runs at a time. Whoever starts one holds the pool's lock; a region asked for from
  inside a region runs on the asking thread.

Which chunk runs where never changes a result: kernels are independent of how [0, n) is cut.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import platform
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from eutectic.config import config
from eutectic.errors import ArgumentError
from eutectic.runtime import jit, pool_base, pool_text
from eutectic.runtime.pool_base import MAX_THREADS

SPIN_SECONDS = 100e-6
"""How long a worker spins for the next region before it sleeps."""
EXIT_WAIT_SECONDS = 5.0
"""How long the end of the interpreter waits for a plan that runs on another thread."""

_LINUX = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class Native:
    """Addresses of the pool's functions, as kernels and other native code call them."""

    state: int
    parallel: int
    """`void (ptr fn, ptr params, i64 n, i64 grain)`; the caller holds the lock."""
    group: int
    """`void (ptr steps, i64 count)`: independent steps as one region; the caller holds the lock."""
    launch: int
    """`parallel` that takes the lock."""
    lock: int
    allow: int
    """`void (i64 threads)`: the most for the regions that follow; the caller holds the lock."""
    trylock: int
    unlock: int
    set_limit: int
    close: int
    keep_lock: int
    reset: int
    spin: int


def get_num_threads() -> int:
    """How many threads a parallel region may use.

    >>> 1 <= get_num_threads() <= MAX_THREADS
    True
    """
    return min(config.num_threads or available_processors(), MAX_THREADS)


def set_num_threads(count: int) -> None:
    """Let parallel regions use `count` threads (1 to 64) from the next one on."""
    if not 1 <= count <= MAX_THREADS:
        raise ArgumentError(f"[set_num_threads] {count} is not between 1 and {MAX_THREADS}.")
    config.num_threads = count
    if _native is not None:
        # Through ctypes, which lets go of the GIL: the lock's holder may need it.
        _function(_native.set_limit, ctypes.c_int32)(count)


@functools.cache
def available_processors() -> int:
    """The processors this process may use: its affinity, cut to the control group's quota.

    Read once: it decides plans, and a call must not ask the system.
    """
    try:
        count = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        count = os.cpu_count() or 1
    quota = _quota()
    return max(1, min(count, quota) if quota else count)


def _quota() -> int:
    """Whole processors of the control group's quota, rounded up; 0 where there is none."""
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()[:2]
        return 0 if quota == "max" else -(-int(quota) // int(period))
    except (OSError, ValueError):
        return 0


def parallel(fn: int, params: int, n: int, grain: int = 1) -> None:
    """Run the kernel at address `fn` over [0, n) in chunks that are multiples of `grain`."""
    _launcher()(fn, params, n, grain)


@functools.cache
def _launcher() -> Callable[..., None]:
    return _function(native().launch, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                     ctypes.c_int64)


def started_workers() -> int:
    """Worker threads that exist now (not counting those that call)."""
    if _native is None:
        return 0
    return ctypes.c_int32.from_address(_native.state + pool_base.STARTED).value


_native: Native | None = None


def native() -> Native:
    """The pool's native functions, loaded at the first call. Threads start when first needed."""
    global _native
    if _native is None:
        with jit.lock:
            if _native is None:
                _native = _load()
    return _native


def _function(address: int, *arguments: type) -> Callable[..., None]:
    return ctypes.CFUNCTYPE(None, *arguments)(address)


def text() -> str:
    """The pool as LLVM text, for this machine."""
    machine = platform.machine().lower()
    return pool_text.native_text(
        machine,
        pool_base.FUTEX_CALLS.get(machine) if _LINUX else None,
        int(getattr(signal, "SIG_SETMASK", 2)),
    )


def _load() -> Native:
    names = ("ev_state_address", "ev_parallel", "ev_group", "ev_launch", "ev_lock", "ev_allow",
             "ev_trylock", "ev_unlock", "ev_set_limit", "ev_close", "ev_keep_lock", "ev_reset",
             "ev_spin")
    module = jit.compile_module(text(), names)
    state = ctypes.CFUNCTYPE(ctypes.c_void_p)(module["ev_state_address"])()
    found = Native(state, *(module[name] for name in names[1:]))
    for name in names[1:8]:
        jit.add_symbol(name, module[name])
    _function(found.reset)()
    ctypes.memmove(state + pool_base.SIGNALS, _blocked_signals(), 128)
    ctypes.c_int64.from_address(state + pool_base.SPIN).value = _spins(found)
    ctypes.c_int32.from_address(state + pool_base.LIMIT).value = get_num_threads()
    if hasattr(os, "register_at_fork"):
        # Threads do not survive a fork, and their lock may have been held: the child begins anew.
        os.register_at_fork(after_in_child=_function(found.reset))
        os.register_at_fork(after_in_child=available_processors.cache_clear)
    atexit.register(_at_exit, found)
    return found


def _blocked_signals() -> bytes:
    """The signal set of workers: all blocked (Python's threads get them) but those of faults."""
    faults = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS")
    bits = (1 << 1024) - 1
    for name in faults:
        if hasattr(signal, name):
            bits &= ~(1 << (getattr(signal, name) - 1))
    return bits.to_bytes(128, sys.byteorder)


def _spins(found: Native) -> int:
    """How many turns of the pause loop take `SPIN_SECONDS`: a pause takes 10 to 150 cycles."""
    spin = _function(found.spin, ctypes.c_int64)
    turns, best = 500, 1.0
    for _ in range(3):
        start = time.perf_counter()
        spin(turns)
        best = min(best, time.perf_counter() - start)
    return max(1, int(turns * SPIN_SECONDS / best))


before_exit: list[Callable[[], None]] = []
"""What ends threads of ours that run plans: called before plans are barred, or they would wait."""


def _at_exit(found: Native) -> None:
    """Let no other thread begin a plan and the one that runs finish before memory goes away."""
    for end in before_exit:
        end()
    trylock = ctypes.CFUNCTYPE(ctypes.c_int32)(found.trylock)
    _function(found.close)()
    deadline = time.monotonic() + EXIT_WAIT_SECONDS
    while not trylock():
        if time.monotonic() > deadline:
            return
        time.sleep(0.0005)
    _function(found.keep_lock)()


jit.add_lazy_symbol("ev_parallel", lambda: native().parallel)
jit.add_lazy_symbol("ev_group", lambda: native().group)
