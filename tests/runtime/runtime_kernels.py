"""Kernels in LLVM text for the runtime's tests."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

from eutectic.runtime import jit

_LOOP = """
define void @rt_{name}(ptr %p, i64 %lo, i64 %hi, i64 %tid) {{
entry:
{head}
  %some = icmp slt i64 %lo, %hi
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [%lo, %entry], [%i2, %loop]
{body}
  %i2 = add i64 %i, 1
  %more = icmp slt i64 %i2, %hi
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""

# count: p is an i32 array, each index is incremented; record: p is an i64 array of tids + 1.
# add: params (in, out, k): out[i] = in[i] + k. slow: add with a chain of 64 multiplications.
_ADD_HEAD = """
  %in = load ptr, ptr %p
  %outp = getelementptr i64, ptr %p, i64 1
  %out = load ptr, ptr %outp
  %kp = getelementptr i64, ptr %p, i64 2
  %k = load i64, ptr %kp"""
_ADD_BODY = """
  %ip = getelementptr i64, ptr %in, i64 %i
  %v = load i64, ptr %ip
  %w = add i64 %v, %k
  %op = getelementptr i64, ptr %out, i64 %i
  store i64 %w, ptr %op"""
_SPINS = "\n".join(
    f"  %s{n} = lshr i64 %m{n}, 29\n  %x{n} = xor i64 %m{n}, %s{n}\n"
    f"  %m{n + 1} = mul i64 %x{n}, 6364136223846793005"
    for n in range(64)
)
_SLOW_BODY = f"""
  %m0 = add i64 %i, 1
{_SPINS}
  %hit = icmp eq i64 %m64, 12345
  %extra = zext i1 %hit to i64
""" + _ADD_BODY.replace("%w = add i64 %v, %k", "%x = add i64 %v, %extra\n  %w = add i64 %x, %k")

TEXT = (
    _LOOP.format(name="count", head="", body="""
  %q = getelementptr i32, ptr %p, i64 %i
  %v = atomicrmw add ptr %q, i32 1 monotonic""")
    + _LOOP.format(name="record", head="  %t = add i64 %tid, 1", body="""
  %q = getelementptr i64, ptr %p, i64 %i
  store i64 %t, ptr %q""")
    + _LOOP.format(name="add", head=_ADD_HEAD, body=_ADD_BODY)
    + _LOOP.format(name="slow", head=_ADD_HEAD, body=_SLOW_BODY)
    + """
define void @rt_empty(ptr %p, i64 %lo, i64 %hi, i64 %tid) {
  ret void
}
; limits: lo and hi of each call are pushed to p[0..], with p[-1] the number of calls.
define void @rt_limits(ptr %p, i64 %lo, i64 %hi, i64 %tid) {
  %countp = getelementptr i64, ptr %p, i64 -1
  %n = atomicrmw add ptr %countp, i64 1 seq_cst
  %at = mul i64 %n, 2
  %a = getelementptr i64, ptr %p, i64 %at
  store i64 %lo, ptr %a
  %b = getelementptr i64, ptr %a, i64 1
  store i64 %hi, ptr %b
  ret void
}
declare void @ev_parallel(ptr, ptr, i64, i64)
; nested: for each index a region of 100 counts in the row p + 400 * i.
define void @rt_nested(ptr %p, i64 %lo, i64 %hi, i64 %tid) {
entry:
  br label %loop
loop:
  %i = phi i64 [%lo, %entry], [%i2, %loop]
  %o = mul i64 %i, 400
  %row = getelementptr i8, ptr %p, i64 %o
  call void @ev_parallel(ptr @rt_count, ptr %row, i64 100, i64 1)
  %i2 = add i64 %i, 1
  %more = icmp slt i64 %i2, %hi
  br i1 %more, label %loop, label %done
done:
  ret void
}
; The tid that a nested region's kernel is given: 1 for each that differs from the outer one.
define void @rt_check_tid(ptr %p, i64 %lo, i64 %hi, i64 %tid) {
  %expected = load i64, ptr %p
  %same = icmp eq i64 %expected, %tid
  %wrong = zext i1 %same to i64
  %v = xor i64 %wrong, 1
  %q = getelementptr i64, ptr %p, i64 1
  store i64 %v, ptr %q
  ret void
}
define void @rt_nested_tid(ptr %p, i64 %lo, i64 %hi, i64 %tid) {
entry:
  %mine = alloca [2 x i64]
  br label %loop
loop:
  %i = phi i64 [%lo, %entry], [%i2, %loop]
  store i64 %tid, ptr %mine
  call void @ev_parallel(ptr @rt_check_tid, ptr %mine, i64 100, i64 1)
  %w = getelementptr i64, ptr %mine, i64 1
  %v = load i64, ptr %w
  %q = getelementptr i64, ptr %p, i64 %i
  store i64 %v, ptr %q
  %i2 = add i64 %i, 1
  %more = icmp slt i64 %i2, %hi
  br i1 %more, label %loop, label %done
done:
  ret void
}
; storm: p is (number of regions, array of 66 counts); region i counts [0, 2 + i % 64).
define void @rt_storm(ptr %p, i64 %lo, i64 %hi, i64 %tid) {
entry:
  %k = load i64, ptr %p
  %ap = getelementptr i64, ptr %p, i64 1
  %array = load ptr, ptr %ap
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i2, %loop]
  %rest = and i64 %i, 63
  %n = add i64 %rest, 2
  call void @ev_parallel(ptr @rt_count, ptr %array, i64 %n, i64 1)
  %i2 = add i64 %i, 1
  %more = icmp slt i64 %i2, %k
  br i1 %more, label %loop, label %done
done:
  ret void
}
; many: p is (number of regions, n, grain) of the empty kernel.
define void @rt_many(ptr %p, i64 %lo, i64 %hi, i64 %tid) {
entry:
  %k = load i64, ptr %p
  %np = getelementptr i64, ptr %p, i64 1
  %n = load i64, ptr %np
  %gp = getelementptr i64, ptr %p, i64 2
  %g = load i64, ptr %gp
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i2, %loop]
  call void @ev_parallel(ptr @rt_empty, ptr null, i64 %n, i64 %g)
  %i2 = add i64 %i, 1
  %more = icmp slt i64 %i2, %k
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""
)
NAMES = ("count", "record", "add", "slow", "empty", "limits", "nested", "nested_tid", "many",
         "storm")


@functools.cache
def kernels() -> dict[str, int]:
    module = jit.compile_module(TEXT, [f"rt_{name}" for name in NAMES])
    return {name: module[f"rt_{name}"] for name in NAMES}


def run_python(code: str, timeout: float = 30.0, **environment: str) -> str:
    """Run code in a new interpreter, which must end well and quietly; return what it prints."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], timeout=timeout, capture_output=True,
        text=True, env={**os.environ, **environment},
    )
    assert (result.returncode, result.stderr) == (0, ""), (result.returncode, result.stderr)
    return result.stdout
