"""Random numbers: MLX's values for MLX's keys, and the global state."""

from __future__ import annotations

import importlib.util
import threading
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx

# Drawn with mlx 0.32 on a CPU.
KNOWN: list[dict[str, Any]] = [
    dict(key=0,
         uniform=["0x1.2624f00000000p-1", "0x1.9850720000000p-4", "0x1.92989c0000000p-2",
             "0x1.c9d1c00000000p-1", "0x1.31712c0000000p-1"],
         normal=["0x1.d0eb160000000p+0", "-0x1.8280420000000p-1", "0x1.5c0bee0000000p-2",
             "-0x1.11d5f00000000p-1"],
         randint=[55, 5, 72, 88, 57, 42],
         bernoulli=[False, False, False, False, True, False, True],
         split=[[2467461003, 428148500], [3186719485, 3840466878], [2562233961, 1946702221]],
         bfloat16=["0x1.6800000000000p+1", "-0x1.b800000000000p-2", "0x1.2800000000000p+0"]),
    dict(key=7,
         uniform=["0x1.07b9340000000p-4", "0x1.9b04a20000000p-3", "0x1.4d08fe0000000p-1",
             "0x1.8773580000000p-2", "0x1.59d0520000000p-1"],
         normal=["-0x1.82cc780000000p-1", "-0x1.79b8b60000000p-1", "-0x1.dd60c20000000p-4",
             "-0x1.5f0f720000000p-1"],
         randint=[1, 16, 41, 35, 65, 29],
         bernoulli=[True, False, False, False, False, False, False],
         split=[[276534068, 861967409], [1905761346, 1641862660], [2900896126, 1402713516]],
         bfloat16=["-0x1.c000000000000p-1", "0x1.0000000000000p-3", "0x1.1000000000000p-2"]),
    dict(key=1099511627779,
         uniform=["0x1.9f1dd00000000p-3", "0x1.8abdda0000000p-1", "0x1.e68f860000000p-2",
             "0x1.1398820000000p-2", "0x1.4d1b120000000p-2"],
         normal=["0x1.a91b8c0000000p+0", "0x1.9b4e280000000p-1", "0x1.1292140000000p-5",
             "0x1.f9f15a0000000p-3"],
         randint=[16, 75, 51, 23, 29, 2],
         bernoulli=[False, True, True, False, False, False, True],
         split=[[870562294, 3311332485], [2301640474, 1155932254], [1397146737, 315991347]],
         bfloat16=["0x1.6000000000000p+1", "-0x1.b800000000000p+0", "0x1.2000000000000p-1"]),
]


def floats(hexadecimal: list[str]) -> list[float]:
    return [float.fromhex(x) for x in hexadecimal]


def within_ulp(got: mx.array, want: list[float], ulp: int) -> bool:
    a, b = np.array(got), np.array(want, np.float32)
    return bool(np.all(np.abs(a.view(np.int32).astype(int) - b.view(np.int32)) <= ulp))


@pytest.mark.parametrize("known", KNOWN, ids=lambda k: str(k["key"]))
def test_known_answers(known: dict[str, Any]) -> None:
    key = mx.random.key(known["key"])
    assert mx.random.uniform(shape=(5,), key=key).tolist() == floats(known["uniform"])
    assert within_ulp(mx.random.normal((4,), key=key), floats(known["normal"]), 2)
    assert mx.random.randint(-5, 100, (6,), key=key).tolist() == known["randint"]
    assert mx.random.bernoulli(0.3, (7,), key=key).tolist() == known["bernoulli"]
    assert mx.random.split(key, 3).tolist() == known["split"]
    half = mx.random.uniform(-2, 3, (3,), dtype=mx.bfloat16, key=key)
    assert half.tolist() == floats(known["bfloat16"])


def test_known_sequence() -> None:
    mx.random.seed(42)
    assert mx.random.uniform(shape=(2,)).tolist() == floats(
        ["0x1.e976600000000p-1", "0x1.9cf37c0000000p-2"])
    assert within_ulp(mx.random.normal((3,)), floats(
        ["0x1.5baa4e0000000p-1", "-0x1.3879980000000p+0", "0x1.e4b6b00000000p-1"]), 2)
    assert mx.random.randint(0, 1000, (3,)).tolist() == [461, 769, 805]
    assert mx.random.bernoulli(shape=(4,)).tolist() == [True, True, True, False]
    assert mx.random.state[0].tolist() == [4249898905, 2425127087]


@pytest.mark.skipif(importlib.util.find_spec("mlx") is None, reason="needs mlx")
@pytest.mark.parametrize("n", [1, 2, 3, 64, 65, 1001])
def test_against_mlx(n: int) -> None:
    import mlx.core as mlx

    for seed in (0, 1, 123456789, 2**63 + 1):
        ours, theirs = mx.random.key(seed), mlx.random.key(seed)
        assert np.array_equal(np.array(mx.random.split(ours, n)),
                              np.array(mlx.random.split(theirs, n)))
        for low, high in ((0, 1), (-2, 3), (0.1, 0.7), (5, 3)):
            assert np.array_equal(np.array(mx.random.uniform(low, high, (n,), key=ours)),
                                  np.array(mlx.random.uniform(low, high, (n,), key=theirs)))
        for low, high in ((0, 10), (-5, 7), (5, 3)):
            assert np.array_equal(np.array(mx.random.randint(low, high, (n,), key=ours)),
                                  np.array(mlx.random.randint(low, high, (n,), key=theirs)))
        for p in (0.0, 0.3, 1.0):
            assert np.array_equal(np.array(mx.random.bernoulli(p, (n, 2), key=ours)),
                                  np.array(mlx.random.bernoulli(p, (n, 2), key=theirs)))
        normal = np.array(mlx.random.normal((n, 3), loc=0.5, scale=2.0, key=theirs))
        np.testing.assert_allclose(np.array(mx.random.normal((n, 3), loc=0.5, scale=2.0, key=ours)),
                                   normal, rtol=1e-6, atol=1e-6)
        for name in ("float16", "bfloat16"):
            d, e = getattr(mx, name), getattr(mlx, name)
            assert np.array_equal(
                np.array(mx.random.uniform(-1, 2, (n,), dtype=d, key=ours)),
                np.array(mlx.random.uniform(-1, 2, (n,), dtype=e, key=theirs).astype(mlx.float32)))
        z = np.array(mlx.random.normal((n,), mlx.complex64, key=theirs))
        np.testing.assert_allclose(np.array(mx.random.normal((n,), mx.complex64, key=ours)), z,
                                   rtol=1e-6, atol=1e-6)


def test_two_draws_differ() -> None:
    mx.random.seed(1)
    draws = [mx.random.uniform(shape=(8,)) for _ in range(50)]
    mx.eval(draws)
    assert len({bytes(d) for d in draws}) == 50
    mx.random.seed(1)
    assert bytes(mx.random.uniform(shape=(8,))) == bytes(draws[0])


def test_threads_draw_different_numbers() -> None:
    mx.random.seed(2)
    found: list[bytes] = []

    def draw() -> None:
        for _ in range(20):
            found.append(bytes(mx.random.uniform(shape=(4,))))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(set(found)) == 80


def test_ranges_and_moments() -> None:
    key = mx.random.key(3)
    for d in (mx.float16, mx.bfloat16, mx.float32, mx.float64):
        u = mx.random.uniform(shape=(10000,), dtype=d, key=key)
        assert u.dtype is d
        assert u.min().item() >= 0
        assert u.max().item() < 1
        z = mx.random.normal((10000,), dtype=d, key=key)
        assert np.isfinite(np.array(z)).all()
    x = mx.random.normal((100000,), key=key)
    assert abs(x.mean().item()) < 0.02
    assert abs(x.std().item() - 1) < 0.02
    r = mx.random.randint(0, 7, (10000,), key=key)
    assert sorted(set(r.tolist())) == list(range(7))
    assert mx.random.randint(0, 256, (1000,), dtype=mx.uint8, key=key).max().item() > 200
    assert mx.random.randint(0, 2, (100,), dtype=mx.bool_, key=key).dtype is mx.bool_


def test_parameters_broadcast() -> None:
    key = mx.random.key(0)
    low, high = mx.array([0.0, 10.0]), mx.array([1.0, 20.0])
    u = mx.random.uniform(low, high, (500, 2), key=key)
    assert 0 <= u[:, 0].min().item() <= u[:, 0].max().item() < 1
    assert 10 <= u[:, 1].min().item() <= u[:, 1].max().item() < 20
    z = mx.random.normal((500, 2), loc=low, scale=high, key=key)
    assert z[:, 1].std().item() > 10 > z[:, 0].std().item()
    p = mx.random.bernoulli(mx.array([0.0, 1.0]), (50, 2), key=key)
    assert p.any(axis=0).tolist() == [False, True]
    assert mx.random.bernoulli(mx.array([0.0, 1.0]), key=key).tolist() == [False, True]
    assert mx.random.uniform(key=key).shape == ()
    assert mx.random.uniform(shape=(0, 2), key=key).shape == (0, 2)
    assert mx.random.gumbel((3,), key=key).shape == (3,)
