"""The first calls of a process whose disk cache is empty, while threads still compile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIRST = """
import eutectic.core as mx
f = mx.compile(lambda x: mx.tanh(x * 2 + 1).sum())
x = mx.array([1.0, 2.0, 3.0])
first = f(x).item()
"""


def run(code: str, cache: Path) -> str:
    env = {**os.environ, "EUTECTIC_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("code", ["import eutectic.core", FIRST, FIRST + "f(x)\nf(x)\nf(x)"])
def test_leaving_while_threads_compile(code, tmp_path):
    for k in range(3):
        assert run(code, tmp_path / str(k)) == ""


def test_results_before_and_after_the_runner_is_there(tmp_path):
    code = FIRST + """
import time
from eutectic.tracing import native
same, end = True, time.monotonic() + 60
while not native.load.cache_info().currsize and time.monotonic() < end:
    same = same and f(x).item() == first
for _ in range(5):
    same = same and f(x).item() == first
print(same, f.stats.traces, f.entries()[0].native is not None or native.load() is None)
"""
    assert run(code, tmp_path / "c") == "True 1 True\n"
    assert run(code, tmp_path / "c") == "True 1 True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_while_threads_compile(tmp_path):
    code = FIRST + """
import os
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        good = all(f(x).item() == first for _ in range(5)) and f(mx.ones((2, 2))).item() > 0
        os._exit(0 if good else 1)
    assert os.waitpid(pid, 0)[1] == 0
assert f(x).item() == first
"""
    for k in range(2):
        assert run(code, tmp_path / str(k)) == ""


def test_threads_share_a_first_call(tmp_path):
    code = FIRST + """
import threading
wrong = []
def work(k):
    for i in range(100):
        if f(mx.array([1.0, 2.0, 3.0])).item() != first: wrong.append(k)
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(wrong), f.stats.traces)
"""
    assert run(code, tmp_path / "c") == "0 1\n"


def test_a_short_program_ends_while_the_runner_is_tried(tmp_path):
    """The thread that prepares the native call runs a plan: it must end before plans are barred."""
    code = ("import eutectic.core as mx\n"
            "f = mx.compile(lambda x: mx.exp(x) * 2)\n"
            "x = mx.ones((4,))\n"
            "mx.eval(f(x)); mx.eval(f(x)); print('done')\n")
    for i in range(6):
        env = dict(os.environ, EUTECTIC_CACHE_DIR=str(tmp_path / str(i)))
        out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True,
                             timeout=60)
        assert (out.returncode, out.stdout) == (0, "done\n"), out.stderr
