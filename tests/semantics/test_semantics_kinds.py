"""Kinds of failure reported against array compilers, a test for each line of kinds.

Layouts and numbers have files of their own in `tests/engine`, the disk cache in `tests/runtime`,
transformations in `tests/transforms`; here is what meets compile's keys, state and threads.
"""

from __future__ import annotations

import gc
import math
import os
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

import eutectic.core as mx


def bits(x):
    return x.dtype, x.shape, bytes(x)


def same(f, *calls, rounds=2):
    """Plain and compiled agree, call for call."""
    g = mx.compile(f)
    for _ in range(rounds):
        for args in calls:
            assert bits(g(*args)) == bits(f(*args)), args
    return g


X = mx.array([1.5, -2.0, 3.25])

# -- keys and caches ------------------------------------------------------------------------------


def test_keys_structures():
    def f(a, b):
        return a[0] * len(a) + (b if isinstance(b, mx.array) else b[0]) * 10

    same(f, ([X], X), ([X, X], X), ([X], [X]), ((X,), X), ((X, X), (X,)))
    same(lambda x, t: x * (1 + len(repr(t))), (X, []), (X, [[]]), (X, ()), (X, ((),)), (X, {}),
         (X, [[], []]), (X, [[[]]]), (X, [{}]), (X, None), (X, [None]))


def test_keys_numbers_that_look_alike():
    values = (True, 1, 1.0, False, 0, 0.0, -0.0, 10**40, None, float("inf"), -float("inf"))
    same(lambda x, v: x + len(repr(v)), *[(X, v) for v in values])
    same(lambda x, v: 1 / (x * v), *[(X, v) for v in (0.0, -0.0, 1, 1.0, True, False, 0)])
    same(lambda x, v: x * v, *[(X, complex(a, b)) for a in (0.0, -0.0, float("inf"))
                               for b in (0.0, -0.0, float("inf"))])


def test_keys_nans_by_their_bits():
    """`math.copysign` and `struct` see a nan's sign and payload."""
    class Real(float):
        pass

    nans = [struct.unpack("<d", struct.pack("<Q", n))[0]
            for n in (0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 1)]
    held = [0.0]

    def mantissa(v):
        return struct.unpack("<Q", struct.pack("<d", v))[0] & 0xFF

    def captured(x):
        v = held[0]
        parts = (v.real, v.imag) if isinstance(v, complex) else (v,)
        return mx.stack([x * math.copysign(2.0, p) + mantissa(p) for p in parts])

    def given(x, v):
        return x * math.copysign(2.0, v) + mantissa(v)

    f, g = mx.compile(captured), mx.compile(given)
    x = mx.array([1.0, -2.0])
    values = [*nans, *map(Real, nans), complex(nans[0], nans[1]), complex(nans[1], nans[0])]
    for v in values * 3:
        held[0] = v
        assert bits(f(x)) == bits(captured(x))
        if not isinstance(v, complex):
            assert bits(g(x, v)) == bits(given(x, v))
    assert mx.compile_stats(f).traces == len(values)


def test_keys_keyword_order():
    f = mx.compile(lambda **k: (lambda first, second: first * 10 + second)(*k.values()))
    y = mx.array([1.0, 1.0, 1.0])
    for _ in range(3):
        assert bits(f(a=X, b=y)) == bits(X * 10 + y)
        assert bits(f(b=y, a=X)) == bits(y * 10 + X)


def test_keys_an_address_used_again_also_from_another_thread():
    def work():
        for k in range(30):
            scale = float(k)
            f = mx.compile(lambda x, s=scale: x * s)
            assert bits(f(X)) == bits(X * scale)
            del f
            gc.collect(0)

    threads = [threading.Thread(target=work) for _ in range(2)]
    work()
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def test_keys_equal_operations_with_other_constants():
    pairs = [(1, 23), (12, 3), (1.0000001, 23), (1.0000002, 23)]
    for a, b in pairs:
        f = mx.compile(lambda x, a=a, b=b: x * a + b)
        assert bits(f(X)) == bits(X * a + b)


def test_keys_five_thousand_integers():
    f = mx.compile(lambda x, n: x * n)
    for n in range(5000):
        y = f(X, n)
    assert bits(y) == bits(X * 4999) and f.stats.traces == 2 and len(f.entries()) == 2


@pytest.mark.parametrize("shapeless", [False, True])
def test_keys_a_thousand_shapes(shapeless, monkeypatch):
    from eutectic.config import config
    monkeypatch.setattr(config, "compile_cache_entries", 16)
    f = mx.compile(lambda x: (x + 1).sum(), shapeless=shapeless)
    for n in range(1000):
        assert f(mx.ones((n,))).item() == 2 * n
    assert len(f.entries()) == 16


# -- state ----------------------------------------------------------------------------------------


def test_state_an_exception_in_mid_trace():
    state = {"w": mx.array([1.0]), "l": [mx.array([2.0])]}

    def f(x, fail):
        state["w"] = state["w"] + x
        state["l"].append(x)
        state["new"] = x
        if fail:
            raise KeyError("no")
        del state["l"][-1], state["new"]
        return state["w"]

    g = mx.compile(f, inputs=state, outputs=state)
    with pytest.raises(KeyError):
        g(mx.array([1.0]), True)
    assert list(state) == ["w", "l"] and len(state["l"]) == 1 and state["w"].item() == 1.0
    assert g(mx.array([1.0]), False).item() == 2.0


def test_state_rebound_and_parameters_added_later():
    state = [mx.array([1.0])]
    f = mx.compile(lambda x: sum(state, x), inputs=state)
    assert f(mx.array([1.0])).item() == 2.0
    state[0] = mx.array([5.0])
    assert f(mx.array([1.0])).item() == 6.0
    state.append(mx.array([10.0]))
    assert f(mx.array([1.0])).item() == 16.0


def test_state_the_last_smaller_batch():
    f = mx.compile(lambda x: x / len(x))
    for n in (8, 8, 8, 3, 8, 3):
        assert bits(f(mx.ones((n, 2)))) == bits(mx.ones((n, 2)) / n)


def test_state_outputs_that_are_inputs_and_unused_inputs():
    f = mx.compile(lambda x, y: (x, x * 2, x))
    for _ in range(3):
        a, b, c = f(X, mx.ones((9,)))
        a += 1
        assert bits(c) == bits(X) and bits(b) == bits(X * 2)


# -- randomness -----------------------------------------------------------------------------------


def test_state_a_result_that_is_an_input_is_another_object():
    """As with MLX's compile: the bits are the plain call's, the array object is not."""
    w = mx.array([1.0, 2.0])
    f = mx.compile(lambda x: (x, w))
    for _ in range(3):
        x = mx.array([3.0, 4.0])
        y, v = f(x)
        assert y is not x and v is not w
        y[0], v[0] = 9.0, 9.0
        assert (x.tolist(), w.tolist()) == ([3, 4], [1, 2])
        assert (y.tolist(), v.tolist()) == ([9, 4], [9, 2])


@pytest.mark.parametrize("captured", [False, True])
def test_randomness_draws_differ_reseeding_works(captured):
    state = [mx.random.state] if captured else None
    f = mx.compile(lambda: (mx.random.uniform(shape=(4,)), mx.random.uniform(shape=(4,))),
                   inputs=state, outputs=state)
    mx.random.seed(7)
    first = [bytes(x) for _ in range(3) for x in f()]
    mx.random.seed(7)
    assert [bytes(x) for _ in range(3) for x in f()] == first and len(set(first)) == 6
    mx.random.seed(7)
    assert [bytes(mx.random.uniform(shape=(4,))) for _ in range(6)] == first


# -- graph rewriting ------------------------------------------------------------------------------


def test_rewriting_shapes_of_graphs():
    def siblings(x):
        parts = mx.split(mx.concatenate([x, x, x]), 3)
        return parts[1] + mx.log(x * x) - mx.log2(x * x)

    def broadcasts(x):
        b = mx.broadcast_to(x[:1], (5, 3))
        return (b * 2) + (b.T.sum(axis=0)[:, None]) + mx.exp(b) * b

    def many(x):
        for k in range(150):
            x = x * 1.0001 + k
        return x

    def tree(x):
        leaves = [x * k for k in range(64)]
        while len(leaves) > 1:
            leaves = [a + b for a, b in zip(leaves[::2], leaves[1::2])]
        return leaves[0]

    for f in (siblings, broadcasts, many, tree,
              lambda x: mx.allclose(x, x * 1.0, equal_nan=True)):
        same(f, (X,))


# -- threads and process --------------------------------------------------------------------------


def test_threads_eight_through_one_function():
    f = mx.compile(lambda x, s: mx.tanh(x * s).sum())
    g = mx.compile(lambda x, s: mx.tanh(x * s).sum(), shapeless=True)
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(60):
            n, s = int(rng.integers(1, 6)), float(rng.integers(0, 50))
            x = mx.array(rng.standard_normal(n).astype(np.float32))
            want = bits(mx.tanh(x * s).sum())
            try:
                if bits(f(x, s)) != want or bits(g(x, s)) != want:
                    wrong.append((n, s))
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_process_fork_after_use_and_exit_with_work_pending():
    code = """
import os, sys, warnings
warnings.simplefilter("ignore")
import eutectic.core as mx
f = mx.compile(lambda x, s: mx.tanh(x) * s)
x = mx.ones((100_000,))
for k in range(4):
    want = f(x, float(k)).sum().item()
pid = os.fork()
got = f(x, 3.0).sum().item()
if pid == 0:
    os._exit(0 if got == want else 1)
status = os.waitpid(pid, 0)[1]
pending = f(x, 5.0) + 1
mx.async_eval(pending)
sys.exit(1 if status or got != want else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_threads_that_change_captured_state_lose_nothing():
    state = {"n": mx.zeros((), mx.int32), "w": [mx.zeros((2,), mx.int32)]}

    def f(x):
        state["n"] = state["n"] + 1
        state["w"][0] = state["w"][0] + x
        return state["n"] * 1

    g = mx.compile(f, inputs=state, outputs=state)
    seen, errors = [], []

    def work():
        try:
            for _ in range(40):
                seen.append(g(mx.array([1, 2], mx.int32)).item())
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and sorted(seen) == list(range(1, 321))
    assert state["w"][0].tolist() == [320, 640]
