"""Native plans: a compiled call's kernels as data, run by one native function.

A plan is an array of 64-bit words: a header `[n_steps, release_gil, threads]`, then 8 words a step:

    kind, fn, params, n, grain, n_patches, patches, flags

- kind `RANGE`: `fn` over [0, n) on the pool; `CALL`: `fn(params, 0, n, 0)` on the calling thread;
  `NESTED`: the same call of a function that starts parallel regions of its own (matrix products).
- A patch is three words (slot, buffer, offset): before its step runs, `params[slot]` becomes the
  address of that buffer plus the offset. A plan therefore holds no address of an input.
- Bit 0 of flags: this step and the next one do not depend on each other. A run of such range steps
  becomes one parallel region.

Loops and choices are `NESTED` steps that run other plans: `repeat_step` and `branch_step`.

The pool's lock is held while a plan runs, so that several Python threads may run one plan. Nothing
here compiles code for a plan: only the runner is machine code, and it is the same for all plans.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eutectic.errors import InternalError
from eutectic.runtime import driver_text, jit, pool

RANGE, CALL, NESTED = 0, 1, 2

RELEASE_ELEMENTS = 1 << 17
"""A plan with this many elements to compute, or a NESTED step, lets other Python threads run."""

_MASK = (1 << 64) - 1
_HEADER_WORDS, _STEP_WORDS = 3, 8


@dataclass(frozen=True, slots=True)
class Step:
    """One kernel of a plan. `patches` holds triples (slot, buffer index, byte offset)."""

    kind: int
    fn: int
    params: Sequence[int]
    n: int
    grain: int = 1
    patches: Sequence[tuple[int, int, int]] = ()
    independent: bool = False
    """The next step may run at the same time as this one."""
    param_refs: Sequence[tuple[int, int]] = ()
    """Pairs (slot, step): the slot holds the address of that step's parameters."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The functions that Python calls; each releases the GIL only where that pays.

    `run(plan, buffers)` takes the addresses of a plan and of an array of buffer addresses;
    `run_list(plan, addresses)` takes a list of them; `launch(fn, n, grain, release, params)` runs
    one range kernel with its parameter words given as a list.
    """

    run: Callable[[int, int], None]
    run_list: Callable[[int, list[int]], None]
    launch: Callable[[int, int, int, int, list[int]], None]
    native: bool
    """False where the interpreter takes no native functions and ctypes stands in."""


class NativePlan:
    """A list of steps in memory that the native runner reads; at most `threads` run each.

    >>> NativePlan([]).run(0)
    """

    __slots__ = ("_params_at", "_steps", "_words", "address", "n_buffers", "n_steps")

    def __init__(self, steps: Sequence[Step], release_gil: bool | None = None,
                 threads: int = pool.MAX_THREADS) -> None:
        if release_gil is None:
            release_gil = worth_releasing(steps)
        words: list[int] = [len(steps), int(release_gil), threads]
        words += [0] * (_STEP_WORDS * len(steps))
        self._params_at: list[tuple[int, int]] = []
        pointers: list[tuple[int, int]] = []  # words that hold the address of another word
        self.n_buffers = 0
        for index, step in enumerate(steps):
            _check(index, step)
            at = _HEADER_WORDS + _STEP_WORDS * index
            words[at:at + _STEP_WORDS] = [
                step.kind, step.fn, 0, step.n, step.grain, len(step.patches), 0,
                int(step.independent),
            ]
            pointers.append((at + 2, len(words)))
            self._params_at.append((len(words), len(step.params)))
            words += step.params
            pointers.append((at + 6, len(words)))
            for patch in step.patches:
                words += patch
                self.n_buffers = max(self.n_buffers, patch[1] + 1)
        for index, step in enumerate(steps):
            for slot, other in step.param_refs:
                pointers.append((self._params_at[index][0] + slot, self._params_at[other][0]))
        memory = np.array([word & _MASK for word in words], np.uint64)
        base: int = memory.ctypes.data
        for at, to in pointers:
            memory[at] = base + 8 * to
        self._words = memory
        self.address = base
        self.n_steps = len(steps)
        self._steps = steps

    def run(self, buffers: int) -> None:
        """Run all steps; `buffers` is the address of an array of buffer addresses (int64)."""
        entries().run(self.address, buffers)

    def run_list(self, addresses: list[int]) -> None:
        """Run all steps with the buffers at `addresses`."""
        if len(addresses) < self.n_buffers:
            raise InternalError(
                f"[plan] needs {self.n_buffers} buffers and was given {len(addresses)}."
            )
        found = ready()
        if found is not None or any(step.kind == NESTED for step in self._steps):
            (found or entries()).run_list(self.address, addresses)
        else:
            self._run_here(addresses)

    def _run_here(self, addresses: list[int]) -> None:
        """Run the steps one after the other on this thread, while the runner is not there yet."""
        for step in self._steps:
            params = (ctypes.c_uint64 * len(step.params))(*[word & _MASK for word in step.params])
            for slot, buffer, offset in step.patches:
                params[slot] = addresses[buffer] + offset
            _kernel(step.fn)(params, 0, step.n, 0)

    def params(self, step: int) -> np.ndarray:
        """The parameter words of a step (uint64, writable): scalars may change between runs."""
        start, count = self._params_at[step]
        return self._words[start:start + count]


def worth_releasing(steps: Sequence[Step]) -> bool:
    """Whether steps run long enough to let other Python threads run meanwhile."""
    total = 0
    for step in steps:
        if step.kind == NESTED:
            return True
        total += step.n
    return total >= RELEASE_ELEMENTS


Place = tuple[int, int]
"""(buffer index, byte offset)."""
_REPEAT_FRAME, _BRANCH_FRAMES = 5, 5


def repeat_step(plan: NativePlan, frame: Sequence[Place], moves: Sequence[tuple[int, int]],
                swaps: Sequence[tuple[int, int, int]], count: int) -> Step:
    """A step that runs a plan `count` times, or (-1) as long as the first carry is true.

    `frame` says where the plan's buffers lie before the first time. After each time the buffers of
    `moves` (slot, bytes) go on and those of `swaps` (slot, slot, bytes) change places; where the
    number of times is not known, the results of an odd number are copied to where an even one has
    them. The words: plan, count, number of moves, number of swaps, position of the moves, then the
    frame, the moves, the swaps.
    """
    at = _REPEAT_FRAME + len(frame)
    params = [plan.address, count, len(moves), len(swaps), at, *[0] * len(frame)]
    for words in (*moves, *swaps):
        params += words
    patches = [(_REPEAT_FRAME + i, b, offset) for i, (b, offset) in enumerate(frame)]
    return Step(NESTED, _module()["ev_repeat"], params, 1, 1, patches)


def branch_step(plans: tuple[NativePlan, NativePlan], frames: Sequence[Sequence[Place]],
                choice: Place) -> Step:
    """A step that runs the first plan if the byte at `choice` is not 0, else the second.

    The words: address of the byte, plan and position of its frame for each, then the frames.
    """
    positions = [_BRANCH_FRAMES, _BRANCH_FRAMES + len(frames[0])]
    params = [0, plans[0].address, positions[0], plans[1].address, positions[1],
              *[0] * (len(frames[0]) + len(frames[1]))]
    patches = [(0, *choice)]
    for position, frame in zip(positions, frames):
        patches += [(position + i, b, offset) for i, (b, offset) in enumerate(frame)]
    return Step(NESTED, _module()["ev_branch"], params, 1, 1, patches)


def _check(index: int, step: Step) -> None:
    if step.kind not in (RANGE, CALL, NESTED) or not step.fn or step.grain < 1 or step.n < 0:
        raise InternalError(f"[plan] step {index} is not well formed: {step}")
    for slot, buffer, _ in step.patches:
        if not 0 <= slot < len(step.params) or buffer < 0:
            raise InternalError(f"[plan] step {index} patches slot {slot} of {len(step.params)}.")


# ---- native entry points ------------------------------------------------------------------------


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_METH_FASTCALL = 0x0080


@functools.cache
def native_run() -> int:
    """The address of `i64 ev_run(ptr plan, ptr buffers)`, for native callers without the lock."""
    return _module()["ev_run"]


_kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)

_ready: Entries | None = None
_thread: threading.Thread | None = None
_stopping = False
_preparations: list[Callable[[], object]] = []


def ready() -> Entries | None:
    """The entry points if they need no compiling; otherwise None, and a thread prepares them.

    So the first plan of a process on a machine whose disk cache is empty does not wait for the
    pool and the runner: it needs its own kernels only.
    """
    if _ready is not None or preparing():
        return _ready
    if _thread is None and not _compiled_before():
        prepare()
        return None
    return entries()


def preparing() -> bool:
    """Whether the thread that compiles the runner is at work."""
    return _thread is not None and _thread.is_alive()


def prepare() -> None:
    """Start the thread that compiles the runner and what `also_prepare` was given."""
    global _thread
    if _thread is None:
        atexit.register(_stop)
        pool.before_exit.append(_stop)
    _thread = threading.Thread(target=_prepare, name="eutectic-prepare", daemon=True)
    _thread.start()


def also_prepare(step: Callable[[], object]) -> None:
    """Let the thread that prepares the runner do `step` after it."""
    _preparations.append(step)


def _compiled_before() -> bool:
    return jit.is_cached(pool.text()) and jit.is_cached(driver_text.native_text())


def _prepare() -> None:
    for step in (pool.native, entries, *_preparations):
        if _stopping:
            return
        step()


def _stop() -> None:
    """LLVM must not be at work when the process ends: wait for the module at hand."""
    global _stopping
    _stopping = True
    if _thread is not None:
        _thread.join()


def load() -> None:
    """Load the runner, so that modules compiled from now on may call its functions."""
    _module()


@functools.cache
def _module() -> jit.CompiledModule:
    pool.native()
    names = ("ev_run", "ev_guarded_run", "ev_repeat", "ev_branch", "ev_py_run",
             "ev_py_run_list", "ev_py_launch")
    module = jit.compile_module(driver_text.native_text(), names)
    for name in names[:2]:
        jit.add_symbol(name, module[name])
    return module


def entries() -> Entries:
    """The process's entry points, loaded at the first call."""
    global _ready
    if _ready is None:
        _ready = _load_entries()
    return _ready


def _load_entries() -> Entries:
    try:
        module = _module()
        return Entries(builtin("run", module["ev_py_run"]),
                       builtin("run_list", module["ev_py_run_list"]),
                       builtin("launch", module["ev_py_launch"]), True)
    except (AttributeError, TypeError, SystemError, InternalError):
        return _ctypes_entries()


def builtin(name: str, address: int) -> Callable[..., Any]:
    """A built-in function of CPython's fast calling convention made of machine code."""
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype = ctypes.py_object
    create.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    definition = _MethodDef(name.encode(), address, _METH_FASTCALL, None)
    # The function has a pointer into it and may be among the last things freed at exit.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(definition))
    return create(ctypes.addressof(definition), None, None)


def _ctypes_entries() -> Entries:
    """The same functions through ctypes, where CPython's interface is not to be had."""
    run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(native_run())

    def run_list(plan: int, addresses: list[int]) -> None:
        words = (ctypes.c_uint64 * len(addresses))(*addresses)  # lives until the plan has run
        run(plan, ctypes.addressof(words))

    def launch(fn: int, n: int, grain: int, release: int, params: list[int]) -> None:
        words = (ctypes.c_uint64 * len(params))(*[word & _MASK for word in params])
        pool.parallel(fn, ctypes.addressof(words), n, grain)

    return Entries(run, run_list, launch, False)
