"""From LLVM text to PTX: LLVM's NVPTX target, and the disk cache.

What makes the bits those of the CPU is left as it is: LLVM contracts nothing unless told to, and
writes `mul.rn` and `add.rn`, which the driver's assembler does not contract either; division and
square root are the IEEE ones, and subnormal numbers are kept.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any

from eutectic.config import VERSION
from eutectic.errors import InternalError
from eutectic.runtime import diskcache, jit

ARCHITECTURE = "sm_90"
"""What is compiled for where no GPU says better."""
_FEATURES = "+ptx83"
_TRIPLE = "nvptx64-nvidia-cuda"
_OPT_LEVEL = 3
"""Level of LLVM's code generator; the pass pipeline is not run: the driver's assembler has one."""


def compile_ptx(text: str, architecture: str = ARCHITECTURE) -> str:
    """The PTX of a module of LLVM text, from the disk cache where it was made before.

    Raises `InternalError` for text that LLVM refuses.
    """
    digest = hashlib.sha256(_key_prefix(architecture))
    digest.update(text.encode())
    key = digest.hexdigest()
    with jit.lock:
        disk = diskcache.default()
        data = disk.get(key)
        if data is not None:
            return data.decode()
        ptx = _emit(text, architecture)
        disk.put(key, ptx.encode())
        return ptx


def _emit(text: str, architecture: str) -> str:
    llvm = _llvm()
    try:
        module = llvm.parse_assembly(text, llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise InternalError(f"[ptx] LLVM refuses a module: {error}") from error
    try:
        return _machine(architecture).emit_assembly(module)
    finally:
        module.close()


@functools.cache
def _key_prefix(architecture: str) -> bytes:
    import llvmlite

    parts = ["ptx", str(diskcache.FORMAT), VERSION, llvmlite.__version__, str(_OPT_LEVEL),
             architecture, _FEATURES]
    return "\n".join(parts).encode() + b"\n\n"


@functools.cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


@functools.cache
def _machine(architecture: str) -> Any:
    target = _llvm().Target.from_triple(_TRIPLE)
    return target.create_target_machine(cpu=architecture, features=_FEATURES, opt=_OPT_LEVEL)
