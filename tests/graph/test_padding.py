"""Paddings before convolutions: taken over by them, with the same bits, or stored for a reason."""

from __future__ import annotations

import itertools
import math

import pytest
from test_fuse import Fused, rand

import eutectic.core as mx
from eutectic.array import wrap
from eutectic.graph.ir import INPUT, Graph, Node
from eutectic.graph.passes.padding import absorb_padding
from eutectic.graph.prims import PAD

WIDTHS = [((1, 1), (1, 1)), ((0, 1), (0, 1)), ((3, 0), (0, 2))]


def padded(x, *spatial, **given):
    return mx.pad(x, [(0, 0), *spatial, (0, 0)], **given)


def reasons(f):
    return [r.reason for r in f.fusion.refusals if r.rule == "padding"]


def stored(f):
    """Whether a padding has memory of its own."""
    return any(n.prim is PAD for g in f.fusion.groups for n in g.members) or bool(reasons(f))


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16, mx.float64])
@pytest.mark.parametrize("widths", WIDTHS)
def test_a_convolution_takes_over_a_padding_with_the_same_bits(dtype, widths):
    """Weights hold an infinity: a zero of the padding times it is nan, as in the stored array."""
    for stride, dilation, groups, own in itertools.product((1, 2), (1, 2), (1, 2), (-1, 0, 1)):
        weight = rand(6, 3, 2, 4 // groups)
        weight[:, 0, 0] *= math.inf

        def f(x, w, stride=stride, dilation=dilation, groups=groups, own=own):
            x, w = (a.astype(dtype) for a in (x, w))
            return mx.conv_general(padded(x - 1, *widths), w, stride, own, dilation,
                                   groups=groups) * 2
        assert not stored(Fused(f, rand(2, 9, 8, 4), weight))


def test_one_and_three_axes():
    assert not stored(Fused(lambda x, w: mx.conv1d(padded(x, (4, 0)), w), rand(2, 9, 3),
                            rand(5, 5, 3)))
    assert not stored(Fused(lambda x, w: mx.conv3d(padded(x, (1, 0), (0, 2), (1, 1)), w),
                            rand(2, 4, 5, 6, 3), rand(5, 2, 3, 2, 3)))


def test_what_is_padded_keeps_its_kernel_and_its_own_memory():
    f = Fused(lambda x, w: mx.conv2d(padded(mx.exp(x), (1, 1), (1, 1)), w), rand(2, 9, 8, 4),
              rand(6, 3, 3, 4))
    assert f.kinds == ["map"] and sum(s.n for s in f.kernels) == 2 * 9 * 8 * 4


@pytest.mark.parametrize("around, reason", [
    (dict(constant_values=1), "not with the value of this padding"),
    (dict(constant_values=-0.0), "not with the value of this padding"),
    (dict(constant_values=mx.zeros(())), "not with the value of this padding"),
    (dict(pad_width=[(0, 1), (1, 1), (0, 0), (0, 0)]), "neither the batch nor the channels"),
    (dict(pad_width=[(0, 0), (1, 1), (0, 0), (1, 0)]), "neither the batch nor the channels"),
    (dict(input_dilation=2), "the input is dilated after the padding"),
])
def test_why_a_padding_is_stored(around, reason):
    spread = around.pop("input_dilation", 1)
    around = {"pad_width": [(0, 0), (1, 1), (1, 1), (0, 0)]} | around

    def f(x, w):
        p = mx.pad(x, **around)
        return mx.conv_general(p, w[..., :1] + mx.zeros(p.shape[-1]), input_dilation=spread)
    assert any(reason in r for r in reasons(Fused(f, rand(2, 9, 8, 4), rand(6, 3, 2, 4))))


def test_a_padding_that_others_read_is_stored():
    def two(x, w):
        p = padded(x, (1, 1), (1, 1))
        return mx.conv2d(p, w), mx.conv2d(p, w * 2)

    def result(x, w):
        p = padded(x, (1, 1), (1, 1))
        return mx.conv2d(p, w), p
    for f, count in ((two, 2), (result, 1)):
        found = reasons(Fused(f, rand(2, 9, 8, 4), rand(6, 3, 2, 4)))
        assert found == ["the padded array has other readers"] * count


def test_long_kernels_read_padded_rows_where_they_are():
    f = Fused(lambda x, w: mx.conv1d(padded(x, (300, 0)), w), rand(1, 700, 2), rand(3, 300, 2))
    assert any("reads padded rows" in r for r in reasons(f))


def test_a_padding_of_nothing_is_stored():
    f = Fused(lambda x, w: mx.conv2d(padded(x, (2, 2), (0, 0)), w), mx.zeros((1, 0, 5, 2)),
              rand(3, 2, 2, 2))
    assert reasons(f) == ["there is nothing to pad"]


def test_a_graph_without_a_padding_comes_back_itself():
    x, w = (Node(INPUT, (), (), n.shape, n.dtype) for n in (rand(2, 9, 8, 4), rand(6, 3, 2, 4)))
    g = Graph([x, w], [mx.conv2d(wrap(x), wrap(w))._n])
    assert absorb_padding(g) is g
