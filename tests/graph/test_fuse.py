"""Fusion: what shares a kernel, what does not, and the rule that says so.

Every rule of refusal has a case that triggers it and a near neighbour that fuses. Each case is
also run, and its bits compared with plain evaluation.
"""

from __future__ import annotations

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.engine.steps import LoopStep, ProductStep
from eutectic.graph.passes import groups
from eutectic.runtime import driver


def rand(*shape, dtype=None, seed=0):
    x = np.random.default_rng(seed).standard_normal(shape)
    return mx.array(x.astype(np.float32)).astype(dtype or mx.float32)


class Fused:
    """A compiled function: its kernels and the rules that kept others apart."""

    def __init__(self, fun, *inputs):
        entry = mx.compile(fun).lower(*inputs)
        self.fusion = entry.record.fusion
        self.steps = entry.plan.steps
        self.kernels = [s for s in self.steps if isinstance(s, (LoopStep, ProductStep))]
        self.kinds = sorted(s.spec.kind if isinstance(s, LoopStep) else "product"
                            for s in self.kernels)
        self.rules = {r.rule for r in self.fusion.refusals}
        expected, found = fun(*inputs), mx.compile(fun)(*inputs)
        if isinstance(expected, mx.array):
            expected, found = [expected], [found]
        for e, f in zip(expected, found):
            assert (e.dtype, e.shape, bytes(e)) == (f.dtype, f.shape, bytes(f))

    def __len__(self):
        return len(self.kernels)


# ---- what fuses ---------------------------------------------------------------------------------

def test_a_chain_is_one_kernel():
    f = Fused(lambda x: mx.tanh(mx.exp(-x) * 2 + 1), rand(17, 33))
    assert f.kinds == ["map"] and not f.rules


def test_broadcast_views_and_constants_fuse():
    f = Fused(lambda x, b: (mx.transpose(x) + b)[::-1, 1:] * 0.5, rand(9, 7), rand(9))
    assert len(f) == 1 and not f.rules


@pytest.mark.parametrize("axis", [-1, (1, 2), (0, 1, 2)])
def test_softmax_is_one_kernel(axis):
    assert Fused(lambda x: mx.softmax(x, axis=axis), rand(3, 8, 40)).kinds == ["row"]


def test_softmax_by_hand_is_one_kernel():
    def softmax(x):
        e = mx.exp(x - mx.max(x, axis=-1, keepdims=True))
        return e / mx.sum(e, axis=-1, keepdims=True)
    assert Fused(softmax, rand(20, 100)).kinds == ["row"]


def test_layer_norm_with_residual_and_a_second_output_is_one_kernel():
    def norm(x, r, w, b):
        s = x + r
        m = mx.mean(s, axis=-1, keepdims=True)
        v = mx.var(s, axis=-1, keepdims=True)
        return (s - m) * mx.rsqrt(v + 1e-5) * w + b, s
    f = Fused(norm, rand(30, 65), rand(30, 65, seed=1), rand(65, seed=2), rand(65, seed=3))
    assert f.kinds == ["row"] and not f.rules


def test_cross_entropy_is_one_kernel():
    def loss(x, t):
        hot = mx.sum(mx.where(mx.equal(mx.arange(50), mx.expand_dims(t, 1)), x, 0.0), axis=-1)
        return mx.logsumexp(x, axis=-1) - hot
    t = mx.array(np.arange(40) % 50)
    assert Fused(loss, rand(40, 50), t).kinds in (["row"], ["short"])


def test_column_reduction_with_prologue_and_epilogue_is_one_kernel():
    f = Fused(lambda x: mx.exp(mx.sum(x * x, axis=0) / 7), rand(300, 70))
    assert f.kinds == ["col"] and not f.rules


def test_matmul_with_epilogue_is_one_step():
    f = Fused(lambda a, b, c: mx.maximum(a @ b + c, 0), rand(20, 30), rand(30, 40), rand(40))
    assert f.kinds == ["product"] and not f.rules
    assert f.kernels[0].epilogue is not None


def test_siblings_share_a_kernel():
    f = Fused(lambda x: (mx.exp(x), mx.sin(x) * 2, x + 1), rand(500))
    # They have no common producer to meet over; with one they do.
    g = Fused(lambda x: (lambda y: (mx.exp(y), mx.sin(y) * 2, y))(x * 3), rand(500))
    assert len(g) == 1 and len(f) <= 3


def test_sibling_reductions_share_a_kernel():
    def f(x):
        y = x * 2
        return mx.sum(y, axis=-1), mx.max(y, axis=-1)
    assert len(Fused(f, rand(64, 70))) == 1


def test_reshape_splits_and_merges_loops():
    assert len(Fused(lambda x: mx.reshape(x * 2, (4, 6, 5)) + 1, rand(24, 5))) == 1
    assert len(Fused(lambda x, y: mx.reshape(x * 2, (120,)) + y, rand(24, 5), rand(120))) == 1
    assert len(Fused(lambda x: mx.sum(mx.reshape(x * 2, (4, 30)), axis=1), rand(24, 5))) == 1


def test_a_cheap_producer_is_computed_again():
    f = Fused(lambda x, b: x * (b + 1), rand(50, 60), rand(60))
    assert len(f) == 1 and not f.rules


# ---- what does not: one case a rule, and its neighbour that does ---------------------------------

def test_rule_two_kernels_and_cycle_avoidance():
    """y feeds a reduction and, with its result, a map: putting y into the map would be a cycle."""
    def f(x):
        y = mx.exp(x)
        return y + mx.sum(y, axis=0)
    g = Fused(f, rand(70, 90))
    assert g.kinds == ["col", "map", "map"] and "column" in g.rules
    assert Fused(lambda x: mx.exp(x) + 1, rand(70, 90)).kinds == ["map"]


def test_cycle_through_a_third_kernel():
    def f(x):
        y = mx.exp(x)
        z = mx.sum(mx.cos(mx.sum(y, axis=0)), axis=0)
        return y * z, mx.sin(y)
    assert len(Fused(f, rand(30, 40))) >= 2


def test_cycle_through_parts_of_a_larger_array():
    """The fill of a padding is computed from what the padded array also uses."""
    def f(x):
        y = mx.exp(x)
        return mx.pad(y, 1, constant_values=mx.sum(y)), y
    Fused(f, rand(4, 5))


def test_rule_two_maps():
    f = Fused(lambda x: (lambda y: y + mx.transpose(y))(mx.tanh(x)), rand(30, 30))
    assert "two-maps" in f.rules and len(f) == 2
    assert len(Fused(lambda x: (lambda y: y + y[...])(mx.tanh(x)), rand(30, 30))) == 1


def test_rule_recompute():
    def f(x, b):
        return x * mx.tanh(mx.sin(b))
    dear = Fused(f, rand(50, 60), rand(60))
    assert "recompute" in dear.rules and len(dear) == 2
    # Once a row it costs nothing: hoisted out of the inner loop.
    hoisted = Fused(lambda x, b: x * mx.tanh(mx.sin(b)), rand(50, 60), rand(50, 1))
    assert len(hoisted) == 1


def test_rule_shape_part_of_a_value():
    f = Fused(lambda x: mx.tanh(mx.sin(mx.cos(x)))[:10], rand(40))
    assert len(f) == 1  # nothing else needs the rest, so only the part is computed
    g = Fused(lambda x: (lambda y: (y[:10] * 2, y))(mx.tanh(x)), rand(40))
    assert "shape" in g.rules and len(g) == 2


def test_rule_few_rows():
    wide = rand(2, 20_000)
    f = Fused(lambda x: x / mx.sum(x, axis=-1, keepdims=True), wide)
    assert "few-rows" in f.rules and "units" in f.kinds
    assert Fused(lambda x: x / mx.sum(x, axis=-1, keepdims=True), rand(20, 2000)).kinds == ["row"]


def test_rule_nested_reductions():
    f = Fused(lambda x: mx.sum(mx.exp(mx.sum(x, axis=-1)), axis=-1), rand(10, 20, 30))
    assert len(f) == 2
    g = Fused(lambda x: mx.sum(mx.exp(x - mx.max(x, axis=-1, keepdims=True)), axis=-1),
              rand(10, 20, 30))
    assert len(g) == 1


def test_rule_row_other_length():
    f = Fused(lambda x, y: mx.sum(x, axis=-1) + mx.sum(y, axis=-1), rand(40, 50), rand(40, 60))
    assert "row" in f.rules and len(f) == 2
    assert len(Fused(lambda x, y: mx.sum(x, axis=-1) + mx.sum(y, axis=-1), rand(40, 50),
                     rand(40, 50, seed=1))) == 1


def test_rule_row_whose_axes_do_not_line_up():
    """As many elements as the reduced array has, but other axes."""
    f = Fused(lambda x, y: mx.less(y, mx.logsumexp(x)), rand(16, 65), rand(26, 1, 10, 4))
    assert "reshape" in f.rules or "row" in f.rules
    assert len(Fused(lambda x, y: mx.less(y, mx.logsumexp(x)), rand(16, 65), rand(16, 65))) == 1


def test_rule_lanes():
    def f(x, y):
        return mx.sum(x, axis=-1).astype(mx.float64) + mx.sum(y, axis=-1)
    g = Fused(f, rand(40, 50), rand(40, 50).astype(mx.float64))
    assert "lanes" in g.rules and len(g) == 2
    assert len(Fused(f, rand(40, 50), rand(40, 50, seed=1))) == 1


def test_rule_column():
    f = Fused(lambda x, y: mx.sum(x, axis=0) * y, rand(40, 50), rand(6, 50))
    assert "column" in f.rules and len(f) == 2
    assert len(Fused(lambda x, y: mx.sum(x, axis=0) * y, rand(40, 50), rand(50))) == 1


def test_rule_column_must_be_stored():
    f = Fused(lambda x: (lambda y: (mx.sum(y, axis=0), y))(mx.exp(x)), rand(40, 50))
    assert "column" in f.rules and len(f) == 2


def test_rule_product_operand():
    f = Fused(lambda a, b: mx.exp(a) @ b, rand(20, 30), rand(30, 40))
    assert "product-operand" in f.rules and f.kinds == ["map", "product"]
    assert Fused(lambda a, b: mx.transpose(a) @ b, rand(30, 20), rand(30, 40)).kinds == ["product"]


def test_rule_product_in_another_order():
    f = Fused(lambda a, b: mx.transpose(a @ b) + 1, rand(20, 30), rand(30, 40))
    assert "product" in f.rules and len(f) == 2
    assert len(Fused(lambda a, b: (a @ b) + 1, rand(20, 30), rand(30, 40))) == 1


def test_rule_product_traffic():
    """Two more large arrays pass with the product's blocks, three do not; small ones always."""
    def update(a, b, x, y):
        return (a @ b) * x + y

    def two(a, b, x, y):
        return (lambda p: (p, mx.exp(p)))(a @ b * x)

    large = rand(512, 8), rand(8, 512), rand(512, 512), rand(512, 512)
    for fun in (update, two):
        f = Fused(fun, *large)
        assert "traffic" in f.rules and f.kinds == ["map", "product"]
        small = rand(64, 8), rand(8, 64), rand(64, 64), rand(64, 64)
        assert Fused(fun, *small).kinds == ["product"]
    assert Fused(lambda a, b, x: mx.exp(a @ b) * x, *large[:3]).kinds == ["product"]
    assert Fused(lambda a, b, x: mx.exp(a @ b + x), *large[:2], rand(512)).kinds == ["product"]


def test_rule_call_parts_of_a_larger_array():
    """A concatenation is no kernel: its parts are, each written where it belongs."""
    f = Fused(lambda x, y: mx.concatenate([mx.exp(x), y * 2]), rand(30), rand(20))
    assert f.kinds == ["map", "map"] and "call" not in f.rules
    g = Fused(lambda x: (lambda y: (mx.pad(y, 2), mx.sin(y)))(mx.max(x, axis=1)), rand(3, 3000))
    assert g.kinds == ["map", "row"]  # the value goes to its places; both fills are one kernel


def _halves(x, c, s):
    h = x.shape[-1] // 2
    a, b = x[..., :h], x[..., h:]
    return mx.concatenate([a * c - b * s, a * s + b * c], axis=-1)


def test_parts_that_read_the_same_memory_are_one_kernel():
    f = Fused(_halves, rand(3, 20, 64), rand(20, 32), rand(20, 32))
    assert f.kinds == ["map"] and len(f.kernels[0].writes) == 2
    g = Fused(lambda x, t: _halves(x, mx.cos(t), mx.sin(t)), rand(3, 20, 64), rand(3, 20, 32))
    assert g.kinds == ["map"]  # the angles are computed once
    h = Fused(lambda x, y: mx.concatenate([mx.exp(x), mx.exp(y)]), rand(30), rand(30))
    assert h.kinds == ["map", "map"]  # nothing is shared
    squares = [rand(8, 8) for _ in range(3)]
    p = Fused(lambda x, y, s: mx.concatenate([x @ y + s * 2, y @ x + s * 2]), *squares)
    assert p.kinds.count("product") == 2


def test_joins_within_joins_write_into_the_outer_one():
    def nested(x, y, z):
        return mx.concatenate([mx.pad(mx.concatenate([x, y], axis=1), [(1, 0), (0, 2)]), z])
    f = Fused(nested, rand(4, 3), rand(4, 5), rand(2, 10))
    assert len({t for s in f.kernels for t in s.writes}) == 1 and len(f) == 5

    def both(x, y):
        inner = mx.concatenate([x, y])
        return mx.concatenate([inner, y]), inner
    assert len(Fused(both, rand(4), rand(5))) == 4  # the inner one is wanted: it is copied


def test_a_padding_writes_every_element_once():
    f = Fused(lambda x: mx.pad(x, [(1, 2), (0, 3)]), rand(4, 5))
    assert sum(s.n for s in f.kernels) == 7 * 8


def test_parts_of_a_join_run_as_one_region():
    entry = mx.compile(lambda x, y: mx.concatenate([mx.exp(x), y])).lower(rand(30), rand(20))
    [segment] = entry.plan.segments
    first, second = (segment._words[driver._HEADER_WORDS + i * driver._STEP_WORDS + 7]
                     for i in range(2))  # flags of the steps
    assert (first, second) == (1, 0)


def test_rule_kind():
    f = Fused(lambda x, y: mx.sum(x, axis=0) + mx.sum(y, axis=1), rand(300, 40), rand(40, 50))
    assert {"kind", "column"} & f.rules and len(f) == 2


def test_rule_reshape_that_divides_no_axis():
    x = rand(17, 2, 63)
    f = Fused(lambda x: mx.std(mx.reshape(x, (6, 1, 357)), axis=1), x)
    assert "reshape" in f.rules
    assert "reshape" not in Fused(lambda x: mx.std(mx.reshape(x, (34, 63)), axis=1), x).rules


def test_rule_size():
    def chain(n):
        def f(x):
            for _ in range(n):
                x = mx.sin(x)
            return x
        return f
    short = Fused(chain(groups.MAX_NODES), rand(20))
    assert len(short) == 1 and not short.rules
    long = Fused(chain(groups.MAX_NODES + 1), rand(20))
    assert len(long) == 2 and "size" in long.rules


def test_rule_arguments():
    xs = [rand(20, seed=i) for i in range(groups.MAX_ARGUMENTS + 30)]

    def tree(*xs):
        xs = [mx.sin(x) for x in xs]
        while len(xs) > 1:
            xs = [a + b for a, b in zip(xs[::2], xs[1::2])] + xs[len(xs) // 2 * 2:]
        return xs[0]
    f = Fused(tree, *xs)
    assert "arguments" in f.rules and len(f) > 1
    for g in f.fusion.groups:
        assert g.arguments() <= groups.MAX_ARGUMENTS + 3
    assert len(Fused(tree, *xs[:30])) == 1


def test_rule_gathered():
    x = rand(65, 129)
    i = mx.array([99, 89])
    f = Fused(lambda x: mx.logsumexp(mx.take(x, i, axis=-1)), x)
    assert "gathered" in f.rules  # two reduced axes: addresses that do not run evenly
    assert Fused(lambda x: mx.sum(mx.take(x, i, axis=0), axis=-1), x).rules == set()
    g = Fused(lambda x: mx.take(mx.exp(x), i, axis=0), x)
    assert "gathered" in g.rules  # the array of a gather is stored
    h = Fused(lambda x, y: mx.take(x, i, axis=1) * mx.sum(y), rand(8, 129), rand(16))
    assert len(h) >= 2


def test_plain_evaluation_says_so():
    from eutectic.graph.ir import Graph
    from eutectic.graph.passes.fuse import fuse

    x = mx.array([1.0])
    y = mx.exp(mx.sin(x))
    plain = fuse(Graph([x._n], [y._n]), enabled=False)
    assert len(plain.groups) == 2 and {r.rule for r in plain.refusals} == {"plain"}


def test_each_refusal_has_a_sentence():
    f = Fused(lambda x: (lambda y: y + mx.transpose(y))(mx.tanh(x)), rand(30, 30))
    for r in f.fusion.refusals:
        assert r.reason and r.producer.prim and r.consumer.prim


# ---- outputs ------------------------------------------------------------------------------------

def test_outputs_that_are_inputs_or_views():
    x = rand(6, 8)
    f = Fused(lambda x: (x, mx.transpose(x), x[::2], mx.exp(x), mx.transpose(mx.exp(x))), x)
    assert len(f) == 1


def test_an_output_that_strides_cannot_express_is_copied():
    x = mx.transpose(rand(6, 8))
    mx.eval(x)
    f = Fused(lambda x: mx.reshape(x, (48,)), x)
    assert f.kinds == ["map"]
    assert len(Fused(lambda x: mx.reshape(x, (48,)), rand(6, 8))) == 0


def test_unused_values_cost_nothing():
    assert len(Fused(lambda x: (mx.exp(x), mx.sin(x))[0], rand(30))) == 1
