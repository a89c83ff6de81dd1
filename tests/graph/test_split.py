"""Readers of joined arrays: kernels cut where parts meet, and why others are not.

Every reason that keeps an array joined has a case that triggers it, mostly with a near neighbour
that is cut. Each case is also run, and its bits compared with plain evaluation.
"""

from __future__ import annotations

import pytest
from test_fuse import Fused, rand

import eutectic.core as mx
from eutectic.engine.steps import CallStep, LoopStep
from eutectic.graph.passes import split


def reasons(f):
    return [r.reason for r in f.fusion.refusals if r.rule == "joined"]


def whole(f, reason):
    """Whether a join stayed an array of its own, for this reason."""
    return any(reason in r for r in reasons(f))


def cat(*parts, axis=0):
    return mx.concatenate(list(parts), axis=axis)


# ---- what is cut --------------------------------------------------------------------------------

def test_producers_and_readers_of_a_join_share_kernels():
    f = Fused(lambda x, y: cat(mx.exp(x), mx.sin(y)) * 2 + 1, rand(30), rand(20))
    assert f.kinds == ["map", "map"] and not f.fusion.refusals
    assert sum(s.n for s in f.kernels) == 50  # every element is computed once


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_every_axis(axis):
    f = Fused(lambda x, y: mx.tanh(cat(x, y, x, axis=axis)) * y.sum(), rand(7, 6, 5),
              rand(7, 6, 5, seed=1))
    assert not reasons(f) and f.kinds.count("map") == 2  # x is read once for both its places


def test_a_padding_reads_its_inside_and_computes_the_rest_of_the_fill():
    f = Fused(lambda x: mx.maximum(mx.pad(x, 1), 0) + 1, rand(40, 50))
    assert f.kinds == ["map"] * 3 and not reasons(f)  # inside, rows and columns around it
    assert sum(s.n * len(s.writes) for s in f.kernels) == 42 * 52


def test_rows_and_columns_that_are_reduced():
    f = Fused(lambda x, y: mx.softmax(cat(x, y), axis=-1), rand(30, 17), rand(20, 17))
    assert f.kinds == ["row", "row"] and not reasons(f)
    g = Fused(lambda x, y: mx.sum(cat(x, y, axis=1) * 2, axis=0), rand(300, 17), rand(300, 40))
    assert g.kinds == ["col", "col"] and not reasons(g)
    h = Fused(lambda x, y: mx.cumsum(cat(x, y), axis=1) + 1, rand(30, 70), rand(20, 70))
    assert h.kinds == ["row", "row"] and not reasons(h)


def test_products_and_gathers_go_on_into_the_reader():
    f = Fused(lambda x, y: cat(x @ y, y @ x, axis=1) + 1, rand(20, 20), rand(20, 20, seed=1))
    assert f.kinds == ["product", "product"]
    i = mx.array([3, 1, 2, 2, 0])
    g = Fused(lambda x, y, z: mx.take(x, i, axis=0) + cat(y, z), rand(9, 4), rand(2, 4), rand(3, 4))
    assert len(g) == 2 and not reasons(g)
    h = Fused(lambda x, y, z: mx.take_along_axis(x, mx.astype(z, mx.int32), axis=1) + cat(y, y),
              rand(4, 9), rand(2, 5), mx.abs(rand(4, 5)))
    assert not reasons(h)


def test_views_between_a_join_and_its_reader():
    def views(x, y):
        z = cat(x, y, axis=1)                                     # (4, 8, 6)
        return mx.exp(mx.transpose(z, (1, 0, 2))[1:, None, :, ::-1]) * 2
    f = Fused(views, rand(4, 3, 6), rand(4, 5, 6))
    assert f.kinds == ["map", "map"] and not reasons(f)
    g = Fused(lambda x, y: mx.exp(mx.reshape(cat(x, y), (-1,))), rand(3, 4), rand(5, 4))
    assert g.kinds == ["map", "map"] and not reasons(g)
    h = Fused(lambda x, y: mx.reshape(mx.exp(cat(x, y)) + 1, (-1, 2)), rand(3, 4), rand(5, 4))
    assert h.kinds == ["map", "map"] and not reasons(h)


def test_reading_within_one_part_reads_that_part():
    f = Fused(lambda x, y: mx.exp(cat(x, y)[:10]), rand(30), rand(20))
    assert len(f) == 1 and not reasons(f)
    g = Fused(lambda x, y: mx.exp(mx.stack([x, y])[1]), rand(30), rand(30))
    assert len(g) == 1 and len(g.kernels[0].reads) == 1


def test_several_joins_in_one_reader():
    f = Fused(lambda a, b, c, d: cat(a, b) * cat(c, d), rand(10), rand(30), rand(25), rand(15))
    assert len(f) == 3 and not reasons(f)
    g = Fused(lambda a: a - mx.roll(a, 1, 0) + mx.roll(a, 1, 1), rand(20, 30))
    assert len(g) == 4 and not reasons(g)


def test_a_reader_that_is_a_part_of_another_join():
    f = Fused(lambda x, y: cat(mx.pad(x, 2) * 2, y) + 1, rand(20), rand(30))
    assert not reasons(f) and len(f) == 3
    assert len([s for s in f.steps if isinstance(s, CallStep)]) == 1  # one memory for all
    g = Fused(lambda x, y: mx.pad(cat(cat(x, y), x), 1), rand(20), rand(30))
    assert len([s for s in g.steps if isinstance(s, CallStep)]) == 1


def test_rotated_halves_of_positions_are_one_kernel():
    def rotated(x, c, s):
        h = x.shape[-1] // 2
        return x * c + cat(-x[..., h:], x[..., :h], axis=-1) * s
    f = Fused(rotated, rand(3, 20, 64), rand(20, 64), rand(20, 64))
    assert not reasons(f) and not any(s.scratch for s in f.kernels)
    assert [type(s) for s in f.steps].count(LoopStep) <= 2


# ---- what is not, with its reason ---------------------------------------------------------------

def test_reason_a_result_itself():
    def both(x, y):
        z = cat(x, y)
        return z, z * 2
    assert whole(Fused(both, rand(30), rand(20)), "it is a result itself")


def test_reason_read_from_one_memory():
    f = Fused(lambda x, w: cat(x, x, axis=1) @ w, rand(5, 3), rand(6, 4))
    assert whole(f, "matmul reads it from one memory")
    g = Fused(lambda x, w: mx.conv1d(mx.pad(x, [(0, 0), (1, 1), (0, 0)], constant_values=1), w),
              rand(1, 9, 4), rand(5, 3, 4))
    assert whole(g, "convolution reads it from one memory")


def test_reason_a_reduced_axis():
    f = Fused(lambda x, y: mx.softmax(cat(x, y, axis=-1), axis=-1), rand(30, 17), rand(30, 1))
    assert whole(f, "lies within the rows that its reader reduces")


def test_reason_several_index_maps():
    def differences(z):
        return z[1:] - z[:-1]
    f = Fused(lambda x, y: differences(cat(mx.exp(x), y)), rand(30), rand(20))
    assert whole(f, "through several index maps")
    g = Fused(lambda x, y: differences(cat(x, y)), rand(30), rand(20))
    assert not reasons(g)  # parts in memory are read wherever they are needed


def test_reason_backwards_or_along_several_loops():
    f = Fused(lambda x, y: mx.exp(cat(x, y)[::-1]), rand(30), rand(20))
    assert whole(f, "in steps, backwards")


def test_reason_small():
    f = Fused(lambda x, y, z: cat(x, y)[:, None] * z, rand(3), rand(4), rand(7, 50))
    assert whole(f, "small beside the loops")
    g = Fused(lambda x, y, z: cat(x, y)[:, None] * z, rand(30), rand(40), rand(70, 5))
    assert not reasons(g)


def test_reason_a_scatter():
    i = mx.array([1, 4])
    f = Fused(lambda x, y, u: cat(x, y).at[i].add(u), rand(5), rand(4), rand(2))
    assert whole(f, "a scatter changes a copy of it")


def test_reason_short_rows():
    rows = 4000
    f = Fused(lambda x, y: mx.tanh(cat(x, y, axis=-1)), rand(rows, 6), rand(rows, 10))
    assert whole(f, "short and fill their blocks badly")
    g = Fused(lambda x, y: mx.tanh(cat(x, y, axis=-1)), rand(rows, 16), rand(rows, 32))
    assert not reasons(g)
    h = Fused(lambda x, y: mx.tanh(mx.stack([x, y], axis=-1)), rand(rows), rand(rows))
    assert not reasons(h)  # single columns run along the rows


def test_reason_too_many_kernels():
    def chain(*parts):
        z = cat(*parts)
        for _ in range(20):
            z = mx.sin(z)
        return z
    f = Fused(chain, *[rand(20, seed=i) for i in range(12)])
    assert whole(f, "would become")
    assert not reasons(Fused(chain, *[rand(20, seed=i) for i in range(4)]))


def test_reason_few_long_rows():
    n = 20_000
    f = Fused(lambda x, y: mx.softmax(cat(x, y), axis=-1), rand(9, n), rand(1, n))
    assert whole(f, "too few for the threads")


def test_reason_one_column():
    f = Fused(lambda x, y: mx.sum(cat(x, y, axis=1), axis=0), rand(300, 1), rand(300, 40))
    assert whole(f, "a part is one column wide")


def test_parts_that_end_within_a_reshape():
    f = Fused(lambda x, y, z: cat(x, y) + mx.reshape(z * 2, (10,)), rand(3), rand(7), rand(2, 5))
    assert whole(f, "along several loops")
    g = Fused(lambda x, y, z: cat(x, y) + mx.reshape(z * 2, (10,)), rand(5), rand(5), rand(2, 5))
    assert not reasons(g)
    h = Fused(lambda x, y: mx.reshape(mx.stack([x, y], axis=1), (-1,)) * 2, rand(20), rand(20))
    assert whole(h, "in another order than the parts")


def test_boxes_before_a_reshape():
    at = split._reshaped_box
    assert at((24,), ((8, 12),), (6, 4)) == ((2, 3), (0, 4))
    assert at((3, 8), ((1, 1), (0, 8)), (24,)) == ((8, 8),)
    assert at((2, 1, 6), ((1, 1), (0, 1), (0, 6)), (2, 3, 2, 1)) == ((1, 1), (0, 3), (0, 2), (0, 1))
    with pytest.raises(split._Whole, match="a reshape joins"):
        at((24,), ((2, 4),), (6, 4))
    with pytest.raises(split._Whole, match="a reshape joins"):
        at((3, 8), ((0, 3), (1, 4)), (6, 4))


def test_reason_nothing_is_read():
    f = Fused(lambda x, y: cat(x, y)[:, :0] * 2, rand(3, 4), rand(5, 4))
    assert whole(f, "no element of it is read")


def test_plain_evaluation_is_not_cut(monkeypatch):
    called = []
    monkeypatch.setattr(split, "_kept", lambda *a: called.append(a))
    mx.eval(cat(rand(3), rand(4)) * 2)
    assert not called


def test_the_cut_graph_is_recorded():
    entry = mx.compile(lambda x, y: cat(x, y) * 2).lower(rand(3), rand(4))
    names = [name for name, _g in entry.record.graphs]
    assert names[-1] == "split"
    assert "join" in {n.prim.name for n in entry.record.graphs[-1][1].order}


def test_parts_of_sums_of_paddings_are_few_kernels():
    """Each box of the sum has zeros at other places; they are left out, and kernels are equal."""
    def fun(*xs):
        total = mx.pad(xs[0], [(0, 5000)])
        for i, x in enumerate(xs[1:], 1):
            total = total + mx.pad(x, [(1000 * i, 1000 * (5 - i))])
        return total

    f = Fused(fun, *(rand(1000, seed=i) for i in range(6)))
    assert len(f) == 6 and len({s.spec for s in f.kernels}) == 2
    assert all(len(s.spec.instrs) <= 2 for s in f.kernels)
