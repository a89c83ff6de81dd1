"""From LLVM text to addresses: compile or fetch from the disk cache, then load.

llvmlite is imported when the first text has to be compiled. A warm start needs none of it: what the
cache key must know of LLVM and the processor is itself a cache entry, and `elf` loads the object.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import hashlib
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from eutectic.config import VERSION, config
from eutectic.errors import InternalError
from eutectic.runtime import diskcache, elf

OPT_LEVEL = 2
"""Level of LLVM's code generator; the pass pipeline is not run (explicit vectors need none)."""


@dataclass(frozen=True, slots=True)
class Host:
    """What machine code depends on besides its LLVM text."""

    llvmlite: str
    llvm: str
    triple: str
    layout: str
    cpu: str
    features: str


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """Addresses of a module's functions and how they came to be."""

    key: str
    addresses: dict[str, int]
    timings: dict[str, float]
    """Seconds: `lookup` in the disk cache, `parse`, `codegen`, `load`."""
    cached: bool
    """Whether the machine code came from the disk cache."""
    loader: str
    """`elf` (ours) or `mcjit` (LLVM's)."""
    nbytes: int
    """Bytes of the object file."""

    def __getitem__(self, name: str) -> int:
        return self.addresses[name]


@dataclass(slots=True)
class JitStats:
    """What this process compiled and loaded."""

    compiled: int = 0
    from_disk: int = 0
    from_memory: int = 0
    parse_seconds: float = 0.0
    codegen_seconds: float = 0.0
    load_seconds: float = 0.0

    @property
    def llvm_seconds(self) -> float:
        """Seconds inside LLVM."""
        return self.parse_seconds + self.codegen_seconds


stats = JitStats()

class _Spent(threading.local):
    """Seconds that this thread spent, where `stats` counts those of all threads."""

    llvm = 0.0
    """In LLVM, or waiting for another thread that is in it."""
    load = 0.0


spent = _Spent()

lock = threading.RLock()
"""One lock for LLVM and loading; a fork waits for it, so that no child inherits a held one."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release,
                        after_in_child=lock.release)

_modules: dict[str, CompiledModule] = {}
_symbols: dict[str, int] = {}
_lazy_symbols: dict[str, Callable[[], int]] = {}


def add_symbol(name: str, address: int) -> None:
    """Let kernels compiled from now on call `name`."""
    with lock:
        _symbols[name] = address
        if _llvm.cache_info().currsize:
            _llvm().add_symbol(name, address)


def add_lazy_symbol(name: str, provide: Callable[[], int]) -> None:
    """As `add_symbol`, but `provide()` gives the address when the first module needs it."""
    _lazy_symbols[name] = provide


def compile_module(text: str, names: Sequence[str]) -> CompiledModule:
    """Return the addresses of functions `names` defined by a module of LLVM text.

    Names must tell different functions of one process apart (put a content hash in them). Equal
    text is loaded once. Raises `InternalError` for text that LLVM refuses.

    >>> module = compile_module("define i64 @doc_add(i64 %a, i64 %b) {\\n  %c = add i64 %a, %b\\n"
    ...                         "  ret i64 %c\\n}", ["doc_add"])
    >>> ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(module["doc_add"])(2, 3)
    5
    """
    start = time.perf_counter()
    key = cache_key(text)
    asked = time.perf_counter()
    with lock:
        spent.llvm += time.perf_counter() - asked
        module = _modules.get(key)
        if module is not None and module.addresses.keys() >= set(names):
            stats.from_memory += 1
            return module
        disk = diskcache.default()
        data = disk.get(key)
        timings = {"lookup": time.perf_counter() - start, "parse": 0.0, "codegen": 0.0, "load": 0.0}
        cached = data is not None
        if data is None:
            data = _emit(text, timings)
            disk.put(key, data)
            stats.compiled += 1
        else:
            stats.from_disk += 1
        return _loaded(key, data, names, timings, cached)


def _loaded(key: str, data: bytes, names: Sequence[str], timings: dict[str, float],
            cached: bool) -> CompiledModule:
    start = time.perf_counter()
    addresses, loader = _load(data, names)
    timings["load"] = time.perf_counter() - start
    stats.load_seconds += timings["load"]
    spent.load += timings["load"]
    module = _modules[key] = CompiledModule(key, addresses, timings, cached, loader, len(data))
    return module


def remember(recipe: str, module: CompiledModule) -> None:
    """Note on disk which module a recipe gave: all that its text was made from."""
    diskcache.default().put(cache_key(recipe), "\n".join([module.key, *module.addresses]).encode())


def recall(recipe: str) -> CompiledModule | None:
    """The module of a recipe that `remember` was told of, if its machine code is still on disk.

    It spares the text: writing that takes as long as everything else in a warm start.
    """
    start = time.perf_counter()
    disk = diskcache.default()
    if not disk.enabled or not disk.exists():
        return None
    with lock:
        note = disk.get(cache_key(recipe))
        if note is None:
            return None
        key, *names = note.decode().split("\n")
        data = disk.get(key)
        if data is None:
            return None
        stats.from_disk += 1
        timings = {"lookup": time.perf_counter() - start, "parse": 0.0, "codegen": 0.0, "load": 0.0}
        return _loaded(key, data, names, timings, True)


def is_cached(text: str) -> bool:
    """Whether `compile_module` would take this text's machine code from memory or the disk."""
    disk = diskcache.default()
    if not disk.enabled or not disk.exists():
        return False  # and naming the machine may need LLVM
    key = cache_key(text)
    return key in _modules or disk.has(key)


def cache_key(text: str) -> str:
    """The disk cache's key for the machine code of a module of LLVM text."""
    digest = hashlib.sha256(_key_prefix())
    digest.update(text.encode())
    return digest.hexdigest()


def assembly(text: str) -> str:
    """The native assembly of a module of LLVM text, for reading.

    >>> "77" in assembly("define i32 @f(i32 %a) {\\n  %b = add i32 %a, 77\\n  ret i32 %b\\n}")
    True
    """
    with lock:
        module = _parse(text)
        try:
            return _machine().emit_assembly(module)
        finally:
            module.close()


def optimise(text: str, level: int = 2) -> str:
    """The module after LLVM's pass pipeline at `level` (0 to 3), as LLVM text; for experiments."""
    with lock:
        llvm = _llvm()
        module = _parse(text)
        try:
            options = llvm.create_pipeline_tuning_options(speed_level=level)
            builder = llvm.create_pass_builder(_machine(), options)
            builder.getModulePassManager().run(module, builder)
            return str(module)
        finally:
            module.close()


def resolve(name: str) -> int | None:
    """The address of a symbol that machine code may refer to, or None."""
    address = _symbols.get(name)
    if address is None and name in _lazy_symbols:
        address = _symbols[name] = _lazy_symbols[name]()
    if address is None:
        for library in _libraries():
            try:
                function = getattr(library, name)
            except AttributeError:
                continue
            return ctypes.cast(function, ctypes.c_void_p).value
    return address


# ---- host ---------------------------------------------------------------------------------------


@functools.cache
def host() -> Host:
    """LLVM's and the processor's identity; from the disk cache when nothing has changed."""
    disk = diskcache.default()
    memo = _host_memo_key()
    if memo is not None and "llvmlite.binding" not in sys.modules:
        data = disk.get(memo)
        if data is not None:
            return Host(*data.decode().split("\n"))
    llvm = _llvm()
    import llvmlite

    triple = llvm.get_process_triple()
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    machine = _create_machine(triple, cpu, features)
    version = ".".join(map(str, llvm.llvm_version_info))
    found = Host(llvmlite.__version__, version, triple, str(machine.target_data), cpu, features)
    if memo is not None:
        disk.put(memo, "\n".join(astuple(found)).encode())
    return found


@functools.cache
def _key_prefix() -> bytes:
    parts = [str(diskcache.FORMAT), VERSION, str(OPT_LEVEL), *astuple(host())]
    return "\n".join(parts).encode() + b"\n\n"  # no part holds a newline


def _host_memo_key() -> str | None:
    """Names the processor and the LLVM library without loading LLVM; None where we cannot."""
    from importlib.util import find_spec

    try:
        spec = find_spec("llvmlite")
        assert spec is not None and spec.origin is not None
        folder = os.path.join(os.path.dirname(spec.origin), "binding")
        with os.scandir(folder) as entries:
            library = next(entry for entry in entries
                           if entry.name.startswith(("libllvmlite", "llvmlite.")))
        info = library.stat()
        processor = _processor()
    except (OSError, AssertionError, StopIteration, ImportError):
        return None
    parts = ["host", diskcache.FORMAT, VERSION, library.path, info.st_size, info.st_mtime_ns,
             platform.machine(), *processor]
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def _processor() -> list[str]:
    """The first processor's identity from the kernel (OSError where there is no such file)."""
    with open("/proc/cpuinfo", "rb", buffering=0) as file:
        # One page holds the first processor: the kernel writes the rest only if asked to.
        first = file.read(8192).split(b"\n\n", 1)[0].decode("utf-8", "replace")
    wanted = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags",  # x86
              "CPU implementer", "CPU variant", "CPU part", "CPU revision", "Features")  # Arm
    lines = (line.partition(":") for line in first.splitlines())
    found = [f"{name.strip()}={text.strip()}" for name, _, text in lines if name.strip() in wanted]
    if not any(line.startswith(("flags=", "Features=")) for line in found):
        raise OSError("no processor features in /proc/cpuinfo")
    return found


# ---- LLVM ---------------------------------------------------------------------------------------


@functools.cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()  # kernels may hold inline assembly
    for name, address in _symbols.items():
        llvm.add_symbol(name, address)
    return llvm


def _create_machine(triple: str, cpu: str, features: str) -> Any:
    # Position-independent code with the small model is what the loader in `elf` understands.
    target = _llvm().Target.from_triple(triple)
    return target.create_target_machine(cpu=cpu, features=features, opt=OPT_LEVEL, reloc="pic",
                                        codemodel="small" if elf.supported() else "jitdefault")


@functools.cache
def _machine() -> Any:
    this = host()
    return _create_machine(this.triple, this.cpu, this.features)


def _parse(text: str) -> Any:
    llvm = _llvm()
    this = host()
    if "target datalayout" not in text:  # on the first line, so that LLVM's line numbers stay right
        text = f'target datalayout = "{this.layout}" target triple = "{this.triple}" {text}'
    try:
        # A context of its own: the global one would keep every type and constant for ever.
        module = llvm.parse_assembly(text, llvm.create_context())
        if config.check or config.debug:
            module.verify()
    except RuntimeError as error:
        raise InternalError(f"[jit] LLVM refuses a module: {error}") from error
    return module


def _emit(text: str, timings: dict[str, float]) -> bytes:
    start = time.perf_counter()
    machine = _machine()  # importing llvmlite counts as parsing: it happens once
    module = _parse(text)
    parsed = time.perf_counter()
    try:
        data = machine.emit_object(module)
    finally:
        module.close()
    timings["parse"] = parsed - start
    timings["codegen"] = time.perf_counter() - parsed
    stats.parse_seconds += timings["parse"]
    stats.codegen_seconds += timings["codegen"]
    spent.llvm += timings["parse"] + timings["codegen"]
    return data


# ---- loading ------------------------------------------------------------------------------------


@functools.cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    found = [ctypes.CDLL(None)]
    for name in ("libm.so.6", "libgcc_s.so.1"):  # half-precision helpers live in libgcc
        try:
            found.append(ctypes.CDLL(name))
        except OSError:
            pass
    return tuple(found)


@functools.cache
def _engine() -> Any:
    llvm = _llvm()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _create_machine_for_engine())
    return engine


def _create_machine_for_engine() -> Any:
    this = host()  # the engine owns its machine, so it gets one of its own
    return _create_machine(this.triple, this.cpu, this.features)


def _load(data: bytes, names: Sequence[str]) -> tuple[dict[str, int], str]:
    if elf.supported():
        try:
            found = elf.load(data, resolve)
            return {name: found[name] for name in names}, "elf"
        except elf.UnsupportedObject:
            pass
        except elf.UnresolvedSymbol as error:
            raise InternalError(f"[jit] machine code refers to unknown symbol {error}.") from error
        except KeyError as error:
            raise InternalError(f"[jit] the module does not define {error}.") from error
    return _load_with_llvm(data, names), "mcjit"


def _load_with_llvm(data: bytes, names: Sequence[str]) -> dict[str, int]:
    llvm = _llvm()
    for name in _lazy_symbols.keys() - _symbols.keys() - set(names):
        if name.encode() in data:
            add_symbol(name, _lazy_symbols[name]())
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    found = {name: engine.get_function_address(name) for name in names}
    missing = [name for name, address in found.items() if not address]
    if missing:
        raise InternalError(f"[jit] the module does not define {', '.join(missing)}.")
    return found


# ---- an empty disk cache ------------------------------------------------------------------------


_first: list[Callable[[], object]] = []


def compile_first(step: Callable[[], object]) -> None:
    """Let the thread that imports LLVM do `step` next: the first kernel will need what it loads."""
    _first.append(step)


def _begin() -> None:
    """Import LLVM on a thread where the first call will certainly need it.

    Where something was compiled before, everything probably was: then LLVM is left alone.
    """
    def start() -> None:
        with lock:  # a fork waits for it
            _machine()
            for step in _first:
                step()

    if config.disk_cache and not diskcache.default().exists():
        thread = threading.Thread(target=start, name="eutectic-llvm", daemon=True)
        atexit.register(thread.join)  # LLVM must not be at work when the process ends
        thread.start()


_begin()
