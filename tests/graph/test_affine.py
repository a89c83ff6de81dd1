"""Index maps: views composed into linear forms agree with NumPy on every coordinate."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eutectic.dtype import float32
from eutectic.graph import affine, prims
from eutectic.graph.affine import NeedSplit, NotAffine
from eutectic.graph.ir import INPUT, Node


def leaf(*shape):
    return Node(INPUT, (), (), shape, float32)


def evaluate(form, point):
    const, terms = form
    return const + sum(c * point[d] for d, c in terms)


def trace_back(view, sizes=None, forms=None):
    """Coordinates in the view's first input; loop indices split where a reshape asks for it."""
    if forms is None:
        forms = tuple(affine.ZERO if d == 1 else affine.pure(i) for i, d in enumerate(view.shape))
        sizes = {i: d for i, d in enumerate(view.shape) if d != 1}
    chain = []
    n = view
    while n.inputs:
        chain.append(n)
        n = n.inputs[0]
    while True:
        try:
            found = forms
            for v in chain:
                found = affine.back(v, found, sizes)
            return forms, found, sizes
        except NeedSplit as need:
            a, b = max(sizes) + 1, max(sizes) + 2
            size = sizes.pop(need.index)
            assert size % need.inner == 0 and 1 < need.inner < size
            sizes[a], sizes[b] = size // need.inner, need.inner
            forms = tuple(affine.split(f, need.index, a, b, need.inner) for f in forms)


def numpy_of(view, source):
    chain = []
    n = view
    while n.inputs:
        chain.append(n)
        n = n.inputs[0]
    x = source
    for v in reversed(chain):
        if v.prim is prims.TRANSPOSE:
            x = x.transpose(v.attrs[0])
        elif v.prim is prims.RESHAPE:
            x = x.reshape(v.shape)
        elif v.prim is prims.BROADCAST:
            x = np.broadcast_to(x, v.shape)
        else:
            starts, steps = v.attrs
            x = x[tuple(np.arange(d) * k + s for s, k, d in zip(starts, steps, v.shape))
                  if x.ndim == 1 else np.ix_(*[np.arange(d) * k + s for s, k, d in
                                               zip(starts, steps, v.shape)])]
    return x


def agrees(view):
    n = view
    while n.inputs:
        n = n.inputs[0]
    source = np.arange(int(np.prod(n.shape))).reshape(n.shape)
    expected = numpy_of(view, source)
    forms, found, sizes = trace_back(view)
    for values in itertools.product(*[range(d) for d in sizes.values()]):
        point = dict(zip(sizes, values))
        at = tuple(evaluate(f, point) for f in forms)
        back = tuple(evaluate(f, point) for f in found)
        assert source[back] == expected[at]


def test_views_one_by_one():
    a = leaf(2, 3, 4)
    agrees(prims.transpose(a, (2, 0, 1)))
    agrees(prims.slice_(a, (1, 2, 3), (1, -1, -2), (1, 3, 2)))
    agrees(prims.broadcast(leaf(3, 1), (2, 3, 5)))
    agrees(prims.broadcast(leaf(), (2, 2)))
    agrees(prims.reshape(a, (6, 4)))
    agrees(prims.reshape(a, (2, 12)))
    agrees(prims.reshape(a, (2, 3, 2, 2)))
    agrees(prims.reshape(leaf(1, 3, 1), (3,)))


def test_a_reshape_splits_loop_indices():
    agrees(prims.reshape(leaf(4, 6), (24,)))
    agrees(prims.transpose(prims.reshape(leaf(4, 6), (2, 2, 6)), (1, 2, 0)))


def test_a_reshape_after_a_transpose():
    agrees(prims.reshape(prims.transpose(leaf(3, 4), (1, 0)), (12,)))
    agrees(prims.reshape(prims.transpose(leaf(2, 3, 4), (0, 2, 1)), (8, 3)))


@pytest.mark.parametrize(("source", "target"), [((2, 3, 4), (4, 6)), ((17, 2, 63), (6, 1, 357))])
def test_axes_that_do_not_divide(source, target):
    with pytest.raises(NotAffine):
        trace_back(prims.reshape(leaf(*source), target))
    # From one axis, any reshape is linear: that is what a copy is made for.
    agrees(prims.reshape(leaf(int(np.prod(source))), target))


def test_a_reversed_axis_is_not_split():
    flipped = prims.slice_(leaf(12), (11,), (-1,), (12,))
    agrees(flipped)
    agrees(prims.reshape(flipped, (3, 4)))
    with pytest.raises(NotAffine):
        # The reshape lies below the flip: its coordinate runs downwards.
        trace_back(prims.slice_(prims.reshape(leaf(3, 4), (12,)), (11,), (-1,), (12,)))


def test_no_elements():
    forms = affine.reshape_back((0, 4), (affine.pure(0), affine.pure(1)), (2, 0), {0: 0, 1: 4})
    assert forms == (affine.ZERO, affine.ZERO)


def test_forms_add_scale_and_split():
    f = affine.add(affine.scale(affine.pure(1), 6, 5), affine.pure(2))
    assert f == (5, ((1, 6), (2, 1)))
    assert affine.add(f, affine.scale(affine.pure(2), -1)) == (5, ((1, 6),))
    assert affine.scale(f, 0) == (0, ())
    assert affine.split(f, 1, 3, 4, 2) == (5, ((2, 1), (3, 12), (4, 6)))
    assert affine.split(f, 9, 3, 4, 2) is f
    assert affine.linear((affine.pure(0), (1, ((1, 2),))), (10, 3)) == (3, ((0, 10), (1, 6)))


def test_operands_that_broadcast():
    out = (affine.pure(0), affine.pure(1))
    assert affine.operand_forms(out, (2, 3), (2, 3)) is out
    assert affine.operand_forms(out, (2, 3), (3,)) == (affine.pure(1),)
    assert affine.operand_forms(out, (2, 3), (2, 1)) == (affine.pure(0), affine.ZERO)
    assert affine.operand_forms(out, (2, 3), ()) == ()


@given(st.data())
def test_random_chains_of_views(data):
    n = leaf(*data.draw(st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=3)))
    for _ in range(data.draw(st.integers(1, 4))):
        kind = data.draw(st.sampled_from(["reshape", "transpose", "slice", "broadcast"]))
        if kind == "transpose":
            n = prims.transpose(n, tuple(data.draw(st.permutations(range(len(n.shape))))))
        elif kind == "reshape":
            size, shape = n.size, []
            while size > 1:
                d = data.draw(st.sampled_from([k for k in range(2, size + 1) if size % k == 0]))
                shape.append(d)
                size //= d
            if data.draw(st.booleans()):
                shape.insert(0, 1)
            n = prims.reshape(n, tuple(shape))
        elif kind == "slice" and n.shape:
            starts, steps, shape = [], [], []
            for d in n.shape:
                k = data.draw(st.sampled_from([1, 1, 2, -1, -2]))
                first = data.draw(st.integers(0, d - 1))
                most = (d - 1 - first) // k if k > 0 else first // -k
                starts.append(first)
                steps.append(k)
                shape.append(data.draw(st.integers(1, most + 1)))
            n = prims.slice_(n, tuple(starts), tuple(steps), tuple(shape))
        elif n.size < 200:
            n = prims.broadcast(n, (2, *[3 if d == 1 else d for d in n.shape]))
    try:
        agrees(n)
    except NotAffine:
        pass
