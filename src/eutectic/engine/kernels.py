"""Machine code of kernels, by structure: in memory, then on disk, then from LLVM."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from functools import cache

from eutectic.codegen.loops import emit
from eutectic.codegen.support import NAMES, support_text
from eutectic.kernel.spec import KernelSpec
from eutectic.runtime import jit


@dataclass(frozen=True, slots=True)
class Loaded:
    """A kernel's entry points and what its making cost (seconds)."""

    spec: KernelSpec
    name: str
    main: int
    finish: int
    """Address of the function that ends a `units` kernel, or 0."""
    codegen: float
    llvm: float
    load: float
    origin: str
    """'compiled', 'disk' (warm start)."""


_loaded: dict[KernelSpec, Loaded] = {}


@cache
def source_digest() -> str:
    """Digest of the code generator's own source: kernels on disk are keyed by it."""
    root = os.path.dirname(os.path.dirname(__file__))
    digest = hashlib.sha256()
    for folder in ("kernel", "kernel/mathlib", "codegen", "ops"):
        path = os.path.join(root, folder)
        for name in sorted(os.listdir(path)):
            if name.endswith(".py"):
                info = os.stat(os.path.join(path, name))
                digest.update(f"{folder}/{name} {info.st_size} {info.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


@cache
def load_support() -> None:
    """Load the functions that kernels share."""
    module = jit.compile_module(support_text(), NAMES)
    for name in NAMES:
        jit.add_symbol(name, module[name])


def kernel_name(spec: KernelSpec) -> str:
    """A name that tells kernels of one process apart: it holds a digest of the structure."""
    return "k_" + hashlib.sha256(spec.text().encode()).hexdigest()[:20]


def llvm_text(spec: KernelSpec) -> str:
    """The LLVM module of a kernel, for reading and for golden tests."""
    return emit(spec, kernel_name(spec))[0]


def load_kernel(spec: KernelSpec) -> Loaded:
    """The machine code of a kernel; made once a process."""
    found = _loaded.get(spec)
    if found is not None:
        return found
    t0 = time.perf_counter()
    name = kernel_name(spec)
    text, names = emit(spec, name)
    t1 = time.perf_counter()
    load_support()
    module = jit.compile_module(text, names)
    t = module.timings
    found = Loaded(spec, name, module[name], module[names[1]] if len(names) > 1 else 0,
                   t1 - t0, t["parse"] + t["codegen"], t["load"] + t["lookup"],
                   "disk" if module.cached else "compiled")
    _loaded[spec] = found
    return found


def loaded_count() -> int:
    """Number of kernels made so far."""
    return len(_loaded)


def loaded_kernels(start: int = 0) -> list[Loaded]:
    """The kernels of this process in the order they were made, from the `start`-th on."""
    return [] if start >= len(_loaded) else list(_loaded.values())[start:]
