"""Compiling LLVM text, loading it by either loader, and starting warm without LLVM."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from eutectic.config import config
from eutectic.errors import InternalError
from eutectic.runtime import diskcache, elf, jit

needs_elf = pytest.mark.skipif(not elf.supported(), reason="the ELF loader is for x86-64 Linux")

# Constants, a table of addresses, writable data, calls inside and outside, outside data.
EVERYTHING = """
@NAME_state = internal global [8 x i64] zeroinitializer, align 64
@NAME_start = internal global i64 40
@NAME_table = internal constant [3 x ptr] [ptr @NAME_first, ptr @NAME_second, ptr @sin]
@PyExc_TypeError = external global ptr
declare double @sin(double)
define double @NAME_first(double %x) {
  %y = call double @sin(double %x)
  %z = fadd double %y, 0x400A000000000000
  ret double %z
}
define double @NAME_second(double %x) {
  %y = call double @NAME_first(double %x)
  ret double %y
}
define ptr @NAME_pick(i64 %i) {
  %p = getelementptr ptr, ptr @NAME_table, i64 %i
  %q = load ptr, ptr %p
  ret ptr %q
}
define i64 @NAME_count() {
  %a = load i64, ptr @NAME_state
  %b = add i64 %a, 1
  store i64 %b, ptr @NAME_state
  %s = load i64, ptr @NAME_start
  %c = add i64 %b, %s
  ret i64 %c
}
define ptr @NAME_state_address() {
  ret ptr @NAME_state
}
define ptr @NAME_error() {
  %e = load ptr, ptr @PyExc_TypeError
  ret ptr %e
}
define i64 @NAME_switch(i64 %x) {
  switch i64 %x, label %other [ i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %d
                                i64 4, label %e i64 5, label %f ]
a:
  ret i64 77
b:
  ret i64 3
c:
  ret i64 1000
d:
  ret i64 -5
e:
  ret i64 12
f:
  ret i64 8
other:
  ret i64 0
}
define <16 x float> @NAME_vector(<16 x float> %x) {
  %y = fadd <16 x float> %x, <float 0.0, float 1.0, float 2.0, float 3.0, float 4.0, float 5.0,
    float 6.0, float 7.0, float 8.0, float 9.0, float 10.0, float 11.0, float 12.0, float 13.0,
    float 14.0, float 15.0>
  ret <16 x float> %y
}
"""
FUNCTIONS = (
    "first", "second", "pick", "count", "error", "switch", "vector", "state_address",
)


def adder(name: str, amount: int) -> str:
    return (f"define i64 @{name}(i64 %a) {{\n  %b = add i64 %a, {amount}\n  ret i64 %b\n}}\n")


def call_i64(address: int, argument: int) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(argument)


def check_everything(module: jit.CompiledModule, prefix: str) -> None:
    import math

    at = {name: module[f"{prefix}_{name}"] for name in FUNCTIONS}
    second = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(at["second"])
    assert second(1.0) == math.sin(1.0) + 3.25
    pick = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(at["pick"])
    assert [pick(0), pick(1), pick(2)] == [at["first"], at["second"], jit.resolve("sin")]
    count = ctypes.CFUNCTYPE(ctypes.c_int64)(at["count"])
    assert [count(), count()] == [41, 42]
    assert ctypes.CFUNCTYPE(ctypes.c_void_p)(at["error"])() == id(TypeError)
    assert [call_i64(at["switch"], i) for i in range(-1, 7)] == [0, 77, 3, 1000, -5, 12, 8, 0]


def test_whatever_llvm_emits_is_loaded() -> None:
    text = EVERYTHING.replace("NAME", "ours")
    module = jit.compile_module(text, [f"ours_{name}" for name in FUNCTIONS])
    assert module.loader == ("elf" if elf.supported() else "mcjit")
    check_everything(module, "ours")
    assert set(module.timings) == {"lookup", "parse", "codegen", "load"}
    assert module.timings["codegen"] > 0 or module.cached


def test_llvms_loader_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(data: bytes, resolve: elf.Resolver) -> dict[str, int]:
        raise elf.UnsupportedObject("not today")

    monkeypatch.setattr(elf, "load", refuse)
    text = EVERYTHING.replace("NAME", "llvms")
    module = jit.compile_module(text, [f"llvms_{name}" for name in FUNCTIONS])
    assert module.loader == "mcjit"
    check_everything(module, "llvms")


def test_llvms_loader_finds_registered_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: 2 * x)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    jit.add_symbol("jit_test_double", address)
    asked = []

    def provide() -> int:
        asked.append(1)
        return address

    jit.add_lazy_symbol("jit_test_lazy", provide)
    text = ("declare i64 @{0}(i64)\ndefine i64 @{1}(i64 %x) {{\n  %y = call i64 @{0}(i64 %x)\n"
            "  ret i64 %y\n}}\n")
    ours = jit.compile_module(text.format("jit_test_double", "jit_calls_a"), ["jit_calls_a"])
    assert call_i64(ours["jit_calls_a"], 21) == 42
    assert not asked

    def refuse(data: bytes, resolve: elf.Resolver) -> dict[str, int]:
        raise elf.UnsupportedObject("not today")

    monkeypatch.setattr(elf, "load", refuse)
    llvms = jit.compile_module(text.format("jit_test_lazy", "jit_calls_b"), ["jit_calls_b"])
    assert call_i64(llvms["jit_calls_b"], 4) == 8
    assert asked == [1]


def test_the_disk_cache_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    text = adder("jit_cached", 5)
    first = jit.compile_module(text, ["jit_cached"])
    jit._modules.pop(first.key)
    again = jit.compile_module(text, ["jit_cached"])
    assert again.cached and again.timings["codegen"] == 0.0
    assert call_i64(again["jit_cached"], 1) == 6


def test_equal_text_is_loaded_once() -> None:
    text = adder("jit_once", 6)
    assert jit.compile_module(text, ["jit_once"]) is jit.compile_module(text, ["jit_once"])


def test_the_key_depends_on_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    def key_with(**changes: str) -> str:
        host = jit.Host(**{**{f: getattr(real, f) for f in fields}, **changes})
        monkeypatch.setattr(jit, "host", lambda: host)
        jit._key_prefix.cache_clear()
        return jit.cache_key("text")

    real, fields = jit.host(), ("llvmlite", "llvm", "triple", "layout", "cpu", "features")
    keys = {key_with()} | {key_with(**{field: "other"}) for field in fields}
    keys.add(jit.cache_key("text "))
    monkeypatch.undo()
    jit._key_prefix.cache_clear()
    assert len(keys) == len(fields) + 2
    assert jit.cache_key("text") in keys


def test_a_damaged_cache_entry_means_compiling_again() -> None:
    text = adder("jit_damaged", 7)
    module = jit.compile_module(text, ["jit_damaged"])
    file = Path(str(diskcache.default().directory)) / module.key[:2] / f"{module.key}.bin"
    data = bytearray(file.read_bytes())
    data[-20] ^= 0xFF
    file.write_bytes(bytes(data))
    jit._modules.pop(module.key)
    again = jit.compile_module(text, ["jit_damaged"])
    assert not again.cached
    assert call_i64(again["jit_damaged"], 1) == 8


def test_what_llvm_refuses_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match=r"\[jit\] LLVM refuses a module"):
        jit.compile_module("define i64 @broken(", ["broken"])
    with pytest.raises(InternalError, match=r"does not define 'jit_absent'"):
        jit.compile_module(adder("jit_present", 1), ["jit_absent"])
    with pytest.raises(InternalError, match="unknown symbol no_such_function"):
        jit.compile_module("declare void @no_such_function()\ndefine void @jit_lost() {\n"
                           "  call void @no_such_function()\n  ret void\n}", ["jit_lost"])


def test_the_verifier_runs_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    # Parses, but %b is used before it is defined.
    text = "define i64 @jit_unverified(i64 %a) {\n  %c = add i64 %b, 1\n  %b = add i64 %a, 1\n" \
           "  ret i64 %c\n}"
    monkeypatch.setattr(config, "check", True)
    with pytest.raises(InternalError, match="does not dominate"):
        jit.compile_module(text, ["jit_unverified"])


def test_compiling_from_many_threads() -> None:
    results: dict[int, int] = {}

    def work(i: int) -> None:
        module = jit.compile_module(adder(f"jit_thread_{i % 4}", i % 4), [f"jit_thread_{i % 4}"])
        results[i] = call_i64(module[f"jit_thread_{i % 4}"], 100)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert results == {i: 100 + i % 4 for i in range(8)}


def test_optimise_and_assembly() -> None:
    text = "define i64 @f(i64 %a) {\n  %b = add i64 %a, 0\n  %c = add i64 %b, 0\n  ret i64 %c\n}"
    assert " add " not in jit.optimise(text, 2)
    assert " add " in jit.optimise(text, 0)
    assert "ret" in jit.assembly(text)


# ---- our loader on its own ----------------------------------------------------------------------


def emitted(text: str) -> bytes:
    return jit._emit(text, {})


@needs_elf
def test_nothing_is_writable_and_executable() -> None:
    found = elf.load(emitted(EVERYTHING.replace("NAME", "perms")), jit.resolve)
    code = found["perms_first"] & -4096
    data = ctypes.CFUNCTYPE(ctypes.c_void_p)(found["perms_state_address"])() & -4096
    rights = {}
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(bound, 16) for bound in line.split()[0].split("-"))
        for page in (code, data):
            if start <= page < end:
                rights[page] = line.split()[1][:3]
    assert rights == {code: "r-x", data: "rw-"}


@needs_elf
def test_internal_names_stay_internal() -> None:
    found = elf.load(emitted(EVERYTHING.replace("NAME", "names")), jit.resolve)
    assert set(found) == {f"names_{name}" for name in FUNCTIONS}


@needs_elf
def test_objects_of_another_kind_are_refused() -> None:
    good = emitted(adder("elf_good", 1))
    for at, value in ((0, 0), (4, 1), (5, 2), (16, 2), (18, 183)):
        bad = bytearray(good)
        bad[at] = value
        with pytest.raises(elf.UnsupportedObject):
            elf.load(bytes(bad), jit.resolve)
    for length in (0, 10, 64, len(good) // 2):
        with pytest.raises(elf.UnsupportedObject):
            elf.load(good[:length], jit.resolve)


@needs_elf
def test_thread_local_storage_is_refused() -> None:
    text = ("@elf_tls = thread_local global i64 7\ndefine i64 @elf_read() {\n"
            "  %p = call ptr @llvm.threadlocal.address.p0(ptr @elf_tls)\n"
            "  %v = load i64, ptr %p\n  ret i64 %v\n}\n"
            "declare ptr @llvm.threadlocal.address.p0(ptr)\n")
    with pytest.raises((elf.UnsupportedObject, elf.UnresolvedSymbol)):
        elf.load(emitted(text), jit.resolve)


# ---- other processes ----------------------------------------------------------------------------

START = """
import ctypes, json, sys
from eutectic.runtime import jit, diskcache
module = jit.compile_module(sys.argv[1], ["jit_start"])
value = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(module["jit_start"])(1)
stats = diskcache.default().stats
print(json.dumps({"value": value, "cached": module.cached, "llvm": "llvmlite" in sys.modules,
                  "lookup": module.timings["lookup"], "load": module.timings["load"],
                  "disabled": stats.disabled, "writes": stats.writes}))
"""


def start(amount: int = 2, **environment: str) -> dict[str, object]:
    result = subprocess.run(
        [sys.executable, "-c", START, adder("jit_start", amount)], check=True, timeout=30,
        capture_output=True, text=True, env={**os.environ, **environment},
    )
    return json.loads(result.stdout)


@needs_elf
def test_a_warm_start_needs_no_llvm(tmp_path: Path) -> None:
    cold = start(EUTECTIC_CACHE_DIR=str(tmp_path / "c"))
    assert not cold["cached"] and cold["llvm"] and cold["writes"] >= 2
    warm = start(EUTECTIC_CACHE_DIR=str(tmp_path / "c"))
    assert warm["cached"] and not warm["llvm"]
    assert warm["value"] == cold["value"] == 3


def test_without_a_disk(tmp_path: Path) -> None:
    off = start(EUTECTIC_CACHE_DIR=str(tmp_path / "c"), EUTECTIC_DISK_CACHE="0")
    assert off["value"] == 3 and off["disabled"] == "switched off" and off["writes"] == 0
    assert not (tmp_path / "c").exists()
    (tmp_path / "blocked").write_text("")
    blocked = start(EUTECTIC_CACHE_DIR="", XDG_CACHE_HOME="", HOME=str(tmp_path / "blocked"))
    assert blocked["value"] == 3 and blocked["disabled"] and not blocked["cached"]


def test_a_fork_while_another_thread_compiles() -> None:
    code = """
import os, threading, sys
from eutectic.runtime import jit
def text(name): return f"define i64 @{name}(i64 %a) {{\\n  ret i64 %a\\n}}"
jit.compile_module(text("jit_before"), ["jit_before"])
stop = threading.Event()
def busy():
    i = 0
    while not stop.is_set():
        jit.compile_module(text(f"jit_busy_{os.getpid()}_{i}"), [f"jit_busy_{os.getpid()}_{i}"])
        i += 1
thread = threading.Thread(target=busy); thread.start()
for i in range(10):
    child = os.fork()
    if child == 0:
        jit.compile_module(text(f"jit_child_{i}"), [f"jit_child_{i}"])
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
stop.set(); thread.join()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=30)
