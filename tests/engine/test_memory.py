"""Memory of a plan: temporaries share the arena but never while both are needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eutectic.core as mx
from eutectic.engine.plan import Builder
from eutectic.engine.steps import LoopStep
from eutectic.graph.ir import Graph
from eutectic.graph.passes.fuse import Fusion
from eutectic.runtime import pool


def builder(steps):
    graph = Graph([], [])
    return Builder(graph, Fusion(graph, []), steps, lambda n: (), (), False, 2)


@st.composite
def step_lists(draw):
    """Steps that write a temporary, read earlier ones, and use scratch memory of their own."""
    steps, made = [], []
    for k in range(draw(st.integers(1, 14))):
        reads = draw(st.lists(st.sampled_from(made), max_size=3, unique=True)) if made else []
        out, own = -2 * k - 1, -2 * k - 2
        scratch = {out: draw(st.integers(0, 5000))}
        if draw(st.booleans()):
            scratch[own] = draw(st.integers(0, 9000))
        steps.append(LoopStep(None, [], [], 1, 1, reads, [out], scratch))
        made.append(out)
    return steps


def spans_of(b, steps):
    """(start, end, first step, last step) of each temporary."""
    first, last, size = {}, {}, {}
    for i, s in enumerate(steps):
        size.update(s.scratch)
        for t in (*s.reads, *s.writes, *s.scratch):
            first.setdefault(t, i)
            last[t] = i
    return {t: (b.buffer[t][1], b.buffer[t][1] + size[t], first[t], last[t]) for t in size}


@given(step_lists())
def test_temporaries_do_not_overlap_while_live(steps):
    b = builder(steps)
    total = b._temporaries(7)
    spans = list(spans_of(b, steps).values())
    for k, (start, end, first, last) in enumerate(spans):
        assert start % 64 == 0 and end <= total
        for start2, end2, first2, last2 in spans[k + 1:]:
            if first <= last2 and first2 <= last:
                assert end <= start2 or end2 <= start or end == start or end2 == start2


@given(step_lists())
def test_memory_is_used_again(steps):
    """The arena is no larger than the live temporaries with the gaps that first fit leaves."""
    b = builder(steps)
    total = b._temporaries(0)
    rounded = [(-(-max(end - start, 1) // 64) * 64, f, la)
               for start, end, f, la in spans_of(b, steps).values()]
    assert total <= sum(n for n, _f, _l in rounded)
    peak = max(sum(n for n, f, la in rounded if f <= i <= la) for i in range(len(steps)))
    assert total >= peak


@given(step_lists())
def test_steps_that_run_together_touch_no_common_memory(steps):
    b = builder(steps)
    b._temporaries(0)
    spans = spans_of(b, steps)

    def touches(some, others):
        return any(spans[t][0] < spans[u][1] and spans[u][0] < spans[t][1]
                   for t in some for u in others)
    for i, s in enumerate(steps):
        for o in steps[:i]:
            if b._independent(s, [o]):
                mine, its = {*s.writes, *s.scratch}, {*o.writes, *o.scratch}
                assert not touches(mine, {*its, *o.reads})
                assert not touches(its, s.reads)


def test_a_step_whose_scratch_lies_where_another_reads():
    """The case that a row kernel with a row buffer made: it must wait for the reader."""
    first = LoopStep(None, [], [], 1, 1, [], [-1], {-1: 640})
    second = LoopStep(None, [], [], 1, 1, [-1], [-2], {-2: 64})
    third = LoopStep(None, [], [], 1, 1, [], [-3], {-3: 64, -4: 640})
    b = builder([first, second, third])
    b._temporaries(0)
    assert b.buffer[-4][1] < 640
    assert not b._independent(third, [second])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_while_temporaries_share_memory(threads):
    x = mx.array(np.random.default_rng(0).standard_normal((3, 129, 65)).astype(np.float16))

    def f(v):
        y = mx.nan_to_num(v)
        return y / mx.max(y, axis=1, keepdims=True), mx.softmax(v, axis=-1)
    expected = [bytes(a) for a in f(x)]
    count = pool.get_num_threads()
    try:
        pool.set_num_threads(threads)
        g = mx.compile(f)
        for _ in range(30):
            assert [bytes(a) for a in g(x)] == expected
    finally:
        pool.set_num_threads(count)


def turns(x, n):
    """Operations that cannot share a kernel: each needs the whole of the one before."""
    for _ in range(n):
        x = mx.cos(x - mx.sum(mx.transpose(x), axis=0))
    return x


def test_the_arena_does_not_grow_with_the_length_of_a_program():
    x = mx.array(np.random.default_rng(0).standard_normal((200, 200)).astype(np.float32))
    arenas = [mx.compile(lambda a, n=n: turns(a, n)).lower(x).plan.arena for n in (4, 8, 40)]
    assert arenas[1] == arenas[2] <= 4 * x.nbytes


def test_peak_of_a_compiled_call_is_not_above_that_of_a_plain_one():
    x = mx.array(np.random.default_rng(0).standard_normal((500, 500)).astype(np.float32))
    g = mx.compile(lambda a: turns(a, 12))
    mx.eval(g(x))

    def peak(f):
        mx.clear_cache()
        mx.reset_peak_memory()
        before = mx.get_active_memory()
        y = f(x)
        mx.eval(y)
        return mx.get_peak_memory() - before
    compiled, plain = peak(g), peak(lambda a: turns(a, 12))
    assert compiled <= plain
    assert compiled <= 5 * x.nbytes


def test_results_outlive_their_plan():
    def made():
        g = mx.compile(lambda a: (a * 2, (a * 2)[::2], mx.transpose(mx.reshape(a, (4, 5)))))
        return g(mx.array(np.arange(20, dtype=np.float32)))
    outs = [made() for _ in range(50)]
    for a, b, c in outs:
        assert np.array_equal(np.array(a), np.arange(20) * 2)
        assert np.array_equal(np.array(b), np.arange(20)[::2] * 2)
        assert np.array_equal(np.array(c), np.arange(20).reshape(4, 5).T)


def test_nothing_is_kept_of_finished_calls():
    x = mx.array(np.zeros((300, 300), np.float32))
    g = mx.compile(lambda a: turns(a, 3))
    mx.eval(g(x))
    before = mx.get_active_memory()
    for _ in range(20):
        mx.eval(g(x))
    assert mx.get_active_memory() <= before + x.nbytes
