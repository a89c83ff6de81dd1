"""Random programs give the same bits plain, compiled, on any number of threads, in any layout."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from identity import check, compare, one_nan
from programs import Program, Source, Step, generate, programs

BATCH = 20
PROGRAMS = 500


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_same_bits_in_every_way(first):
    for seed in range(first, first + BATCH):
        p = generate(random.Random(seed))
        found = check(p, threads=((1,), (3,), (1, 3), ())[seed % 4], parts=seed % 2 == 0)
        assert not found, f"seed {seed}\n{p.source_text()}\n" + "\n".join(map(str, found))


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(programs())
def test_same_bits_of_programs_that_shrink(p):
    found = check(p, threads=(1,))
    assert not found, f"{p.source_text()}\n" + "\n".join(map(str, found))


def test_a_difference_is_seen():
    """The comparison itself: one bit, a payload, a sign of zero, a shape."""
    x = np.array([1.0, np.nan, 0.0], np.float32)
    y = x.copy()
    y.view(np.uint32)[1] |= 1
    e, f = [("float32", (3,), x.tobytes())], [("float32", (3,), y.tobytes())]
    assert compare("", e, e) == []
    assert "nan payloads only" in compare("", e, f)[0].detail
    assert compare("", e, f, payloads=False) == []
    z = [("float32", (3,), np.array([1.0, np.nan, -0.0], np.float32).tobytes())]
    assert compare("", e, z, payloads=False)
    assert compare("", e, [("float32", (3, 1), x.tobytes())])
    assert one_nan("bfloat16", np.array([0xFF81, 1], np.uint16).tobytes()) == (
        np.array([0x7FC0, 1], np.uint16).tobytes())


def test_wrong_values_are_seen():
    """A step whose reference disagrees is reported though plain and compiled agree."""
    wrong = Step("mx.exp({0})", (0,), lambda xs, types, out: (np.cos(xs[0]), 0))
    p = Program((Source("float32", (3,), "plain", "small", 1),), (wrong,), (1,))
    assert any(d.way.startswith("NumPy reference") for d in check(p))


def test_programs_cover_what_they_promise():
    """The generator reaches every kind of kernel, layout, dtype and operation."""
    texts, layouts, dtypes, ranks, sizes = "", set(), set(), set(), set()
    for seed in range(1500):
        p = generate(random.Random(seed))
        texts += "".join(s.text for s in p.steps)
        for s in p.sources:
            layouts.add(s.layout)
            dtypes.add(s.dtype)
            ranks.add(len(s.shape))
            sizes.add(int(np.prod(s.shape)))
    assert layouts == {"plain", "transposed", "reversed", "stepped", "broadcast", "offset",
                       "rolled"}
    assert len(dtypes) == 14
    assert max(ranks) > 8 and 0 in ranks and 0 in sizes and max(sizes) > 20_000
    for name in ("add", "where", "clip", "astype", "reshape", "transpose", "broadcast_to",
                 "concatenate", "stack", "split", "pad", "tile", "repeat", "roll", "sum", "prod",
                 "max", "argmax", "mean", "var", "std", "all", "any", "logsumexp", "softmax",
                 "matmul", "addmm", "cumsum", "take", "argsort", "bernoulli", "normal", "uniform",
                 "randint", "view"):
        assert name in texts, name
