"""GPU kernels on the CPU: every thread of a block is a thread here, barriers and shuffles included.

The LLVM text is the GPU's but for its first lines: what reads a thread's number, waits at a
barrier, shuffles, or names shared memory asks a context that each thread is given.
"""

from __future__ import annotations

import ctypes
import re
import threading

from eutectic.runtime import jit

_CONTEXT = """
declare i32 @pthread_barrier_wait(ptr)
define internal i32 @emulated_down(ptr %ctx, i32 %value, i32 %distance) {
  %slots_at = getelementptr i64, ptr %ctx, i64 5
  %slots = load ptr, ptr %slots_at
  %warp_at = getelementptr i64, ptr %ctx, i64 4
  %warp = load ptr, ptr %warp_at
  %tid = load i64, ptr %ctx
  %mine = getelementptr i32, ptr %slots, i64 %tid
  store i32 %value, ptr %mine
  %a = call i32 @pthread_barrier_wait(ptr %warp)
  %wide = zext i32 %distance to i64
  %up = add i64 %tid, %wide
  %in = icmp ult i64 %up, 32
  %from = select i1 %in, i64 %up, i64 %tid
  %other = getelementptr i32, ptr %slots, i64 %from
  %found = load i32, ptr %other
  %b = call i32 @pthread_barrier_wait(ptr %warp)
  ret i32 %found
}
"""
_WORDS = {"tid": 0, "ntid": 1, "ctaid": 2}


def emulated(text: str) -> str:
    """The module as CPU code: kernels take a context as their third argument."""
    lines = [x for x in text.splitlines() if not x.startswith(("target triple", "@eutectic_shared"))
             and not re.match(r"declare .*llvm\.nvvm", x)]
    body = "\n".join(lines).replace("ptx_kernel void", "void").replace(
        "(ptr %params, i64 %total)", "(ptr %params, i64 %total, ptr %ctx)")
    body = re.sub(r"(%\w+) = call i32 @llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x\(\)",
                  lambda m: f"{m[1]}p = getelementptr i64, ptr %ctx, i64 {_WORDS[m[2]]}\n"
                            f"  {m[1]} = load i32, ptr {m[1]}p", body)
    body = re.sub(r"call void @llvm\.nvvm\.barrier\S*\(i32 0\)",
                  "call void @emulated_barrier(ptr %ctx)", body)
    body = re.sub(r"call i32 @llvm\.nvvm\.shfl\.sync\.down\.i32\(i32 -1, (.*?), i32 31\)",
                  r"call i32 @emulated_down(ptr %ctx, \1)", body)
    body = re.sub(r"%shared = .*", "%shared_at = getelementptr i64, ptr %ctx, i64 6\n"
                                   "  %shared = load ptr, ptr %shared_at", body)
    barrier = ("define internal void @emulated_barrier(ptr %ctx) {\n"
               "  %at = getelementptr i64, ptr %ctx, i64 3\n  %b = load ptr, ptr %at\n"
               "  %c = call i32 @pthread_barrier_wait(ptr %b)\n  ret void\n}\n")
    return _CONTEXT + barrier + body


class _Barrier:
    def __init__(self, count: int) -> None:
        self.memory = ctypes.create_string_buffer(64)
        self.at = ctypes.addressof(self.memory)
        libc = ctypes.CDLL(None)
        libc.pthread_barrier_init.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint
        assert libc.pthread_barrier_init(self.at, None, count) == 0


def run(text: str, names, launches, params) -> None:
    """Run launches of a GPU module's entry points on a parameter block of host addresses."""
    module = jit.compile_module(emulated(text), names)
    block = (ctypes.c_uint64 * len(params))(*[p & (1 << 64) - 1 for p in params])
    for launch in launches:
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)(
            module[launch.entry])
        together = "@llvm.nvvm.barrier" in text  # else threads never wait for each other
        for number in range(launch.blocks):
            shared = ctypes.create_string_buffer(launch.shared + 64)
            slots = (ctypes.c_uint32 * 32)()
            whole, warp = _Barrier(launch.threads), _Barrier(32)
            contexts = [(ctypes.c_uint64 * 7)(t, launch.threads, number, whole.at, warp.at,
                                              ctypes.addressof(slots), ctypes.addressof(shared))
                        for t in range(launch.threads)]
            if not together:
                for c in contexts:
                    function(ctypes.addressof(block), launch.total, ctypes.addressof(c))
                continue
            threads = [threading.Thread(target=function, args=(
                ctypes.addressof(block), launch.total, ctypes.addressof(c))) for c in contexts]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
