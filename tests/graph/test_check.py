"""The graph checker catches each broken rule, and passes what is right."""

from __future__ import annotations

import pytest

import eutectic.core as mx
from eutectic.dtype import bool_, float32, int64
from eutectic.errors import InternalError
from eutectic.graph import prims
from eutectic.graph.check import check
from eutectic.graph.ir import CONST, INPUT, IOTA, Graph, Node
from eutectic.graph.loops import COND, RESULT, SCAN, WHILE, Body

ADD = mx.add.prim


def leaf(*shape):
    return Node(INPUT, (), (), shape, float32)


def node(prim, inputs, attrs, shape, dtype=float32):
    return Node(prim, tuple(inputs), attrs, shape, dtype)


a = leaf(2, 3)
c, x, p = leaf(3), leaf(3), Node(INPUT, (), (), (), bool_)
step = Body([c, x], [node(ADD, (c, x), (), (3,))], "step")
wrong = Body([c, x], [node(prims.RESHAPE, (c,), (), (3, 1))], "wrong")
open_ = Body([c], [node(ADD, (c, leaf(3)), (), (3,))], "open")
scan = node(SCAN, (leaf(3), leaf(2, 3)), (step, 1, 1, 2, False), (), bool_)
BROKEN = {
    "a length is no natural number": node(ADD, (a, a), (), (2, -3)),
    "a constant is a scalar pattern": node(CONST, (), (0,), (2,)),
    "a constant without its pattern": node(CONST, (), (0.5,), ()),
    "no such axis": node(IOTA, (), (2,), (2, 3), int64),
    "a placeholder has no inputs": node(INPUT, (a,), (), (2, 3)),
    "shapes do not broadcast to it": node(ADD, (a, leaf(4)), (), (2, 4)),
    "shapes broadcast to another": node(ADD, (a, a), (), (3, 2)),
    "not a permutation": node(prims.TRANSPOSE, (a,), ((0, 0),), (2, 2)),
    "a permutation to another shape": node(prims.TRANSPOSE, (a,), ((1, 0),), (2, 3)),
    "sizes differ": node(prims.RESHAPE, (a,), (), (7,)),
    "does not broadcast": node(prims.BROADCAST, (a,), (), (3, 2)),
    "reaches outside its input": node(prims.SLICE, (a,), ((0, 1), (1, 1)), (2, 3)),
    "reaches below its input": node(prims.SLICE, (a,), ((0, 1), (1, -1)), (2, 3)),
    "kept axes differ": node(prims.REDUCE["sum"], (a,), ((0,),), (2,)),
    "shapes do not multiply": node(prims.MATMUL, (a, leaf(2, 4)), (), (2, 4)),
    "batches differ": node(prims.MATMUL, (leaf(2, 2, 3), leaf(3, 3, 4)), (), (2, 2, 4)),
    "parts do not add up": node(prims.CONCATENATE, (a, a), (0,), (5, 3)),
    "xs differ in length": node(SCAN, (c, a), (step, 1, 1, 3, False), (), bool_),
    "a carry changes": node(SCAN, (c, a), (wrong, 1, 1, 2, False), (), bool_),
    "the first carry is no bool": node(WHILE, (c, x), (step, 1, 0, None, False), (), bool_),
    "a body takes other operands": node(SCAN, (c, leaf(2, 4)), (step, 1, 1, 2, False), (), bool_),
    "a body is not closed": node(SCAN, (c,), (open_, 1, 0, 2, False), (), bool_),
    "the choice is no bool": node(COND, (c, c, x), (step, step), (), bool_),
    "the bodies have different results": node(COND, (p, c, x), (step, wrong), (), bool_),
    "its loop has no such result": node(RESULT, (scan,), (0,), (4,)),
    "the padded array does not fit": node(prims.PAD, (a, leaf()), ((1, 0),), (2, 3)),
}


@pytest.mark.parametrize("why", BROKEN)
def test_broken(why):
    n = BROKEN[why]
    with pytest.raises(InternalError, match=r"\[check\]"):
        check(Graph([a], [n]))


def test_the_message_names_the_node_and_the_rule():
    with pytest.raises(InternalError, match=r"reshape float32\[7\].*\[\(2, 3\)\].*sizes differ"):
        check(Graph([a], [BROKEN["sizes differ"]]))


def test_an_input_after_its_use():
    n = node(ADD, (a, a), (), (2, 3))
    with pytest.raises(InternalError, match="after its use"):
        check(Graph([a], [n], order=[n, a]))


def test_an_output_that_is_not_in_the_order():
    n = node(ADD, (a, a), (), (2, 3))
    with pytest.raises(InternalError, match="not in the graph's order"):
        check(Graph([a], [n], order=[a]))


def test_what_is_right_passes():
    x = mx.zeros((2, 3))
    y = mx.concatenate([mx.pad(mx.transpose(x), 1), mx.broadcast_to(x[::-1, 0:1], (2, 2, 4))[0]],
                       axis=0)
    z = mx.sum(mx.reshape(y, (-1,)) * mx.arange(28), axis=0)
    w = mx.matmul(x, mx.transpose(x))
    check(Graph([x._n], [z._n, w._n]))


def test_it_runs_between_passes():
    from eutectic.config import config

    assert config.check
