"""Machine code of kernels, by structure: in memory, then on disk, then from LLVM."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from functools import cache

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
    nbytes: int
    """Bytes of machine code, as an object file."""


_loaded: dict[KernelSpec, Loaded] = {}


@cache
def source_digest() -> str:
    """Digest of the state of all source files that machine code may depend on.

    A file's change time cannot be set, so what has the same digest is the same installation.
    """
    root = os.path.dirname(os.path.dirname(__file__))
    digest = hashlib.sha256(root.encode())
    for folder in ("", "codegen", "engine", "graph", "graph/passes", "kernel", "kernel/mathlib",
                   "ops", "runtime"):
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in sorted([e for e in entries if e.name.endswith(".py")], key=_name):
                i = entry.stat()
                digest.update(f"{folder}/{entry.name} {i.st_size} {i.st_mtime_ns} {i.st_ctime_ns} "
                              f"{i.st_ino}\n".encode())
    return digest.hexdigest()[:16]


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _recipe(spec: KernelSpec) -> str | None:
    """All that a kernel's LLVM text is made from; None where functions of a user take part."""
    for prim in {i[0] for i in spec.instrs}:
        if prim.body is not None and not prim.body.__module__.startswith(_PACKAGE):
            return None
    return f"kernel {source_digest()}\n{spec.text()}"


_PACKAGE = __name__.split(".")[0] + "."


@cache
def load_support() -> jit.CompiledModule:
    """Load the functions that kernels share."""
    module = jit.compile_module(support_text(), NAMES)
    for name in NAMES:
        jit.add_symbol(name, module[name])
    return module


for _each in NAMES:
    jit.add_lazy_symbol(_each, lambda name=_each: load_support()[name])  # type: ignore[misc]
def _first() -> None:
    from eutectic.codegen import loops  # noqa: F401  (imported while nobody waits)

    load_support()


jit.compile_first(_first)


def kernel_name(spec: KernelSpec) -> str:
    """A name that tells kernels of one process apart: it holds a digest of the structure."""
    return "k_" + hashlib.sha256(spec.text().encode()).hexdigest()[:20]


def llvm_text(spec: KernelSpec) -> str:
    """The LLVM module of a kernel, for reading and for golden tests."""
    return _emit(spec, kernel_name(spec))[0]


def _emit(spec: KernelSpec, name: str) -> tuple[str, list[str]]:
    from eutectic.codegen.loops import emit  # a warm start needs no code generator

    return emit(spec, name)


def load_kernel(spec: KernelSpec) -> Loaded:
    """The machine code of a kernel; made once a process."""
    found = _loaded.get(spec)
    if found is not None:
        return found
    t0 = time.perf_counter()
    name = kernel_name(spec)
    recipe = _recipe(spec)
    module = jit.recall(recipe) if recipe is not None else None
    t1 = t0
    if module is None:
        text, names = _emit(spec, name)
        t1 = time.perf_counter()
        module = jit.compile_module(text, names)
        if recipe is not None:
            jit.remember(recipe, module)
    main, *finish = module.addresses.values()
    t = module.timings
    found = Loaded(spec, name, main, finish[0] if finish else 0,
                   t1 - t0, t["parse"] + t["codegen"], t["load"] + t["lookup"],
                   "disk" if module.cached else "compiled", module.nbytes)
    _loaded[spec] = found
    return found


def loaded_count() -> int:
    """Number of kernels made so far."""
    return len(_loaded)


def loaded_kernels(start: int = 0) -> list[Loaded]:
    """The kernels of this process in the order they were made, from the `start`-th on."""
    return [] if start >= len(_loaded) else list(_loaded.values())[start:]
