"""`scan`, `while_loop`, `cond`: against Python loops, bit by bit; errors; what is shown."""

from __future__ import annotations

import itertools
from collections import namedtuple

import numpy as np
import pytest
from loop_cases import RNG, bits, normal, unrolled

import eutectic.core as mx
from eutectic.engine import evaluate
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, CompileWarning, LinalgError, ShapeError, TraceError,
    TransformError)
from eutectic.runtime import pool
from eutectic.tree import map_leaves

Pair = namedtuple("Pair", ["a", "b"])


def same(f, *args, **options):
    """The scan has the bits of the loop: plain, compiled, at once and twice, on 1 and 3 threads."""
    want = bits(unrolled(f, *args, **options))

    def run(*a):
        return mx.scan(f, *a, **options)

    assert bits(run(*args)) == want
    compiled = mx.compile(run)
    assert bits(compiled(*args)) == want
    assert bits(compiled(*args)) == want
    count = pool.get_num_threads()
    try:
        for n in (1, 3):
            pool.set_num_threads(n)
            evaluate.clear_plans()
            assert bits(run(*args)) == want
            assert bits(compiled(*args)) == want
    finally:
        pool.set_num_threads(count)
        evaluate.clear_plans()
    return want


W = normal(6, 6) * 0.4
WIDE = normal(300, 300) * 0.05


def cell(carry, x):
    """A little like an LSTM."""
    h, c = carry["h"], carry["c"]
    z = h @ W + x
    c = mx.sigmoid(z) * c + mx.tanh(z[..., ::-1])
    h = mx.tanh(c) * mx.sigmoid(z.sum(axis=-1, keepdims=True))
    return {"h": h, "c": c}, (h, c.sum(axis=-1))


BODIES = {
    "numbers": (lambda c, x: (c * 0.9 + x, c), mx.array(0.5), normal(17)),
    "tree": (cell, {"h": mx.zeros((2, 6)), "c": mx.ones((2, 6))}, normal(9, 2, 6)),
    "two xs": (lambda c, x: (c + x["u"].sum() * x["v"], x["u"] * c), mx.array(1.0),
               {"u": normal(5, 3), "v": normal(5)}),
    "named tuples": (lambda c, x: (Pair(c.b, c.a + x), Pair(x, [c.a])),
                     Pair(mx.array(1.0), mx.array(2.0)), normal(6)),
    "same result twice": (lambda c, x: (x, (x, x)), mx.array(1.0), normal(4)),
    "views of the carry": (lambda c, x: (c.T, (c[::-1], c[0], c)), normal(3, 3), normal(4)),
    "constants": (lambda c, x: (mx.zeros(3), mx.arange(3)), normal(3), normal(4)),
    "carry unchanged": (lambda c, x: (c, c * x), normal(3), normal(4)),
    "carry exchanged": (lambda c, x: ((c[1], c[0]), c[0]), (normal(3), normal(3)), normal(5)),
    "half": (lambda c, x: (c * x + c, c.astype(mx.float16)), normal(40).astype(mx.bfloat16),
             normal(8, 40).astype(mx.bfloat16)),
    "integers": (lambda c, x: (c * 3 + x, c > x), mx.array([1, 2]), mx.arange(14).reshape(7, 2)),
    "complex": (lambda c, x: (c * x, c.real), mx.array(1 + 1j), mx.array([1j, 2.0, 1 - 1j])),
    "wide": (lambda c, x: (mx.tanh(c @ WIDE + x), c.max(axis=0)), normal(64, 300), normal(5, 300)),
    "no ys": (lambda c, x: (c + x, None), mx.array(0.0), normal(5)),
    "no carry": (lambda c, x: (None, x * 2), None, normal(5)),
    "empty arrays": (lambda c, x: (c, x), mx.zeros((0, 3)), mx.zeros((4, 0))),
    "joined": (lambda c, x: (mx.concatenate([c[1:], x[None]]), mx.pad(c, 1)), normal(4), normal(6)),
    "scattered": (lambda c, x: (c.at[x].add(1), c.sum()), mx.zeros(5), mx.array([0, 3, 3, 1])),
    "gathered": (lambda c, x: (c[x], c[0]), mx.arange(5), mx.array([[4, 3, 2, 1, 0]] * 3)),
    "running": (lambda c, x: (mx.cumsum(c) * 0.1, mx.sort(c)), normal(9), normal(4)),
    "library": (lambda c, x: (mx.linalg.inv(c) + x, mx.linalg.norm(c)),
                mx.eye(3) * 2, mx.zeros((5, 3, 3))),
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_scan_is_the_loop(name, reverse):
    f, init, xs = BODIES[name]
    same(f, init, xs, reverse=reverse)


@pytest.mark.parametrize("length", [1, 2, 3, 64])
def test_length_without_xs(length):
    same(lambda c, x: (c * 1.5, c), mx.array(0.1), length=length)


@pytest.mark.parametrize("layout", [
    lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::2], lambda x: x[1:], lambda x: x[::-2, 1:],
    lambda x: mx.broadcast_to(x[:1], x.shape), lambda x: mx.broadcast_to(x[:, :1], x.shape)])
def test_strided_operands(layout):
    x, start = layout(normal(6, 8)), normal(20)[::-2]
    scale = normal(x.shape[1], 3).T[1]
    for reverse in (False, True):
        same(lambda c, v: (c * 0.5 + v.sum(), v * c[0] * scale), start, x, reverse=reverse)


def test_length_zero_gives_the_start_and_no_ys():
    def f(xs):
        return mx.scan(lambda c, x: (c + x, (x, mx.ones((2, 3)))), mx.array(3.0), xs)

    for g in (f, mx.compile(f)):
        carry, (a, b) = g(mx.zeros((0,)))
        assert carry.item() == 3.0
        assert (a.shape, b.shape) == ((0,), (0, 2, 3))
    assert mx.grad(lambda x: f(x)[0])(mx.zeros((0,))).shape == (0,)


def test_numbers_are_arrays():
    carry, ys = mx.scan(lambda c, x: (c + 1, 2.5), 0, None, 3)
    assert (carry.dtype, carry.item()) == (mx.int32, 3)
    assert ys.tolist() == [2.5, 2.5, 2.5]


def test_a_long_scan_is_traced_once():
    calls = itertools.count()  # not a part of the key, as a number would be

    def step(c, x):
        next(calls)
        return c * 0.5 + x, c

    f = mx.compile(lambda c, xs: mx.scan(step, c, xs))
    xs = normal(1000, 4)
    with pytest.warns(CompileWarning, match="advances calls"):
        found = bits(f(mx.zeros(4), xs))
    assert next(calls) == 1
    f(mx.ones(4), xs)
    mx.eval(mx.scan(step, mx.zeros(4), xs))
    assert next(calls) == 3
    assert found == bits(unrolled(step, mx.zeros(4), xs))
    entry = f.lower(mx.zeros(4), xs)
    assert [n.prim.name for n in entry.traced.graph.order].count("scan") == 1
    # Whatever the length: a few operations.
    assert len(entry.traced.graph.order) < 8


def test_unread_results_are_not_computed():
    def f(xs):
        carry, _ys = mx.scan(lambda c, x: ((c[0] + x, c[1] @ c[1]), mx.exp(x)),
                             (mx.array(0.0), mx.eye(4)), xs)
        return carry[0]

    kernel = mx.explain(f, normal(5)).kernels[-1]
    assert kernel.kind == "scan"
    assert [o.op for k in kernel.bodies[0].kernels for o in k.operations] == ["add"]


def test_captured_arrays_are_read_at_each_call():
    w = mx.array(2.0)
    box = {"b": mx.array(1.0)}

    def step(c, x):
        return c * w + x * box["b"], c

    f = mx.compile(lambda xs: mx.scan(step, mx.array(1.0), xs))
    xs = normal(4)
    for value in (2.0, 3.0):
        w += value
        box["b"] = mx.array(value)
        assert bits(f(xs)) == bits(unrolled(step, mx.array(1.0), xs))


def test_what_does_not_change_is_computed_once():
    w = normal(4, 4)
    f = mx.compile(lambda xs: mx.scan(lambda c, x: (c @ mx.exp(w) + x, None), mx.zeros(4), xs))
    found = mx.explain(f, normal(3, 4))
    assert "exp" not in [o.op for b in found.kernels[-1].bodies for k in b.kernels
                         for o in k.operations]
    assert "exp" in [o.op for k in found.kernels for o in k.operations]


def test_while_is_the_loop():
    def goes(v):
        return v["x"].sum() < 1000

    def step(v):
        return {"x": v["x"] * 1.7 + v["n"], "n": v["n"] + 1}

    def f(x):
        return mx.while_loop(goes, step, {"x": x, "n": mx.array(0)})

    compiled = mx.compile(f)
    for start in (normal(3), mx.array([999.0, 0, 0]), mx.array([1e4, 0, 0]), mx.ones(3)):
        want = {"x": start, "n": mx.array(0)}
        while goes(want):
            want = step(want)
        assert bits(f(start)) == bits(want) == bits(compiled(start))
    assert compiled.stats.traces == 1


def test_while_with_numbers_and_a_constant_condition():
    assert mx.while_loop(lambda x: x < 3, lambda x: x + 1, 0).item() == 3
    assert mx.while_loop(lambda x: False, lambda x: x + 1, 7).item() == 7
    assert mx.compile(lambda: mx.while_loop(lambda x: 5 - x, lambda x: x + 1, 0))().item() == 5


def test_while_that_calls_a_library():
    def f(m):
        return mx.while_loop(lambda v: mx.linalg.norm(v[0]) > 1,
                             lambda v: (mx.linalg.inv(v[0] * 2), v[1] + 1), (m, mx.array(0)))

    m = mx.eye(2) * 3
    value, count = m, 0
    while mx.linalg.norm(value) > 1:
        value, count = mx.linalg.inv(value * 2), count + 1
    assert count % 2  # the last value lies in the second buffer
    for g in (f, mx.compile(f)):
        assert bits(g(m)) == bits((value, mx.array(count)))


@pytest.mark.parametrize("pred", [True, False, 0, 2.5, np.float32(0), np.bool_(True)])
def test_cond_is_the_branch(pred):
    yes, no = (lambda x, y: {"r": x @ y, "s": x}), (lambda x, y: {"r": x - y, "s": y.T})
    x, y = normal(3, 3), normal(3, 3)
    want = bits(yes(x, y) if pred else no(x, y))
    assert bits(mx.cond(pred, yes, no, x, y)) == want
    assert bits(mx.compile(lambda p, *a: mx.cond(p, yes, no, *a))(mx.array(pred), x, y)) == want


def test_only_the_chosen_branch_runs():
    def f(p, m):  # the inverse of a singular matrix is an error
        return mx.cond(p, mx.linalg.inv, lambda m: m, m)

    singular = mx.zeros((2, 2))
    for g in (f, mx.compile(f)):
        assert bits(g(mx.array(False), singular)) == bits(singular)
        with pytest.raises(LinalgError):
            mx.eval(g(mx.array(True), singular))
        assert bits(g(mx.array(True), mx.eye(2))) == bits(mx.eye(2))


def test_results_that_are_operands_or_views_or_equal():
    x = normal(3, 4)
    same_thing = mx.cond(True, lambda a: (a, a, a.T[1:]), lambda a: (a * 2, a, a.T[:3]), x)
    assert bits(same_thing) == bits((x, x, x.T[1:]))


def test_nesting():
    def row(c, x):
        def inner(d, v):
            d = mx.cond(d > 1, lambda d: d * 0.5, lambda d: d + v * c, d)
            return d, mx.while_loop(lambda u: u < 2, lambda u: u * 1.5 + 0.1, mx.abs(d))
        d, ys = mx.scan(inner, c, x)
        return d, ys

    def by_hand(c, x):
        def inner(d, v):
            d = d * 0.5 if d > 1 else d + v * c
            u = mx.abs(d)
            while u < 2:
                u = u * 1.5 + 0.1
            return d, u
        return unrolled(inner, c, x)

    xs = normal(5, 4)
    want = bits(unrolled(by_hand, mx.array(0.7), xs))
    assert bits(mx.scan(row, mx.array(0.7), xs)) == want
    assert bits(mx.compile(lambda c, x: mx.scan(row, c, x))(mx.array(0.7), xs)) == want


def test_compiled_functions_inside():
    step = mx.compile(lambda c, x: (mx.tanh(c) + x, c))
    same(step, mx.array(0.1), normal(5))


def test_arguments_stay_as_they_are():
    init, xs = normal(3), normal(4, 3)
    before = bits((init, xs))

    def f(c, x):
        c += x
        x *= 2
        return c, x

    mx.eval(mx.scan(f, init, xs), mx.compile(lambda c, x: mx.scan(f, c, x))(init, xs))
    assert bits((init, xs)) == before


# -- random numbers -------------------------------------------------------------------------------

def test_draws_are_those_of_the_loop():
    def step(c, _):
        return c + mx.random.normal((3,)), mx.random.uniform()

    mx.random.seed(4)
    want = bits((unrolled(step, mx.zeros(3), length=5), mx.random.uniform()))
    compiled = mx.compile(lambda: mx.scan(step, mx.zeros(3), length=5))
    for f in (lambda: mx.scan(step, mx.zeros(3), length=5), compiled):
        mx.random.seed(4)
        assert bits((f(), mx.random.uniform())) == want
        assert bits(f()) != bits(f())


def test_draws_in_while_and_cond():
    def body(v):
        return v + mx.random.uniform()

    def f(p):
        v = mx.while_loop(lambda v: v < 3 + mx.random.uniform(), body, mx.array(0.0))
        return v, mx.cond(p, lambda: mx.random.normal(), lambda: mx.array(1.0))

    for p in (True, False):
        mx.random.seed(9)
        v = mx.array(0.0)
        while v < 3 + mx.random.uniform():
            v = body(v)
        want = bits((v, mx.random.normal() if p else mx.array(1.0), mx.random.uniform()))
        for g in (f, mx.compile(f)):
            mx.random.seed(9)
            assert bits((*g(mx.array(p)), mx.random.uniform())) == want


def test_keys_as_xs_leave_the_state_alone():
    keys = mx.random.split(mx.random.key(1), 4)
    mx.random.seed(2)
    same(lambda c, k: (c, mx.random.normal((2,), key=k)), mx.array(0.0), keys)
    after = mx.random.uniform()
    mx.random.seed(2)
    assert bits(after) == bits(mx.random.uniform())


# -- errors ---------------------------------------------------------------------------------------

def doubles(x):
    return x.astype(mx.float64)


ERRORS = {
    "dtype of a carry": (
        lambda: mx.scan(lambda c, x: ({"h": [c["h"][0] + 0.5]}, x), {"h": [mx.array(0)]},
                        mx.ones(3)),
        TransformError, r"\[scan\] the carry\['h'\]\[0\] is int32\[\] at the start and "
        r"float32\[\] after a step; use astype"),
    "shape of a carry": (
        lambda: mx.scan(lambda c, x: (Pair(c.a, mx.ones(2)), x), Pair(mx.array(0), mx.ones(3)),
                        mx.ones(3)),
        TransformError, r"the carry\.b is float32\[3\] at the start and float32\[2\]"),
    "structure of a carry": (
        lambda: mx.scan(lambda c, x: ([c], x), mx.array(0), mx.ones(3)),
        TransformError, r"the carry is TreeDef\(\*\) at the start and TreeDef\(\[\*\]\)"),
    "no pair": (lambda: mx.scan(lambda c, x: c, mx.array(0), mx.ones(3)),
                TransformError, r"\[scan\] the function returns \(carry, y\), not a array"),
    "lengths differ": (
        lambda: mx.scan(lambda c, x: (c, x), 0, {"u": mx.ones(3), "v": mx.ones((4, 2))}),
        ShapeError, r"xs\['v'\] has length 4 along its first axis \(shape \(4,2\)\), not 3"),
    "another length": (lambda: mx.scan(lambda c, x: (c, x), 0, mx.ones(3), length=2),
                       ShapeError, r"xs has length 3"),
    "no axis": (lambda: mx.scan(lambda c, x: (c, x), 0, mx.array(1.0)),
                ShapeError, r"xs has no axis to go along"),
    "no length": (lambda: mx.scan(lambda c, x: (c, x), 0), ArgumentError, "length must be given"),
    "negative length": (lambda: mx.scan(lambda c, x: (c, x), 0, None, -1),
                        ArgumentError, "at least 0, got -1"),
    "no array": (lambda: mx.scan(lambda c, x: (c, x), {"a": "b"}, None, 1),
                 ArgumentTypeError, r"init\['a'\] is a str"),
    "no array as y": (lambda: mx.scan(lambda c, x: (c, (x, "b")), 0, mx.ones(2)),
                      ArgumentTypeError, r"y\[1\] is a str"),
    "no function": (lambda: mx.scan(3, 0, None, 1), ArgumentTypeError, "cannot call a int"),
    "value needed": (lambda: mx.scan(lambda c, x: (c + c.item(), x), mx.array(1.0), mx.ones(2)),
                     TraceError, r"\[item\]"),
    "while changes": (lambda: mx.while_loop(lambda x: x < 3, doubles, mx.array(1)),
                      TransformError, r"\[while_loop\] the carry is int32\[\] at the start and "
                      r"float64\[\]"),
    "condition is no scalar": (lambda: mx.while_loop(lambda x: x < 3, lambda x: x, mx.ones(2)),
                               TransformError, r"the condition has shape \(2,\)"),
    "condition is a pair": (lambda: mx.while_loop(lambda x: (x, x), lambda x: x, mx.array(1)),
                            TransformError, "the condition is a tuple of 2, not one bool"),
    "while has no derivative": (
        lambda: mx.grad(lambda x: mx.while_loop(lambda v: v < 3, lambda v: v * 2, x))(mx.array(1.)),
        TransformError, r"\[vjp\] while_loop has no derivative.*mx.scan.*test_loops.py"),
    "branches differ in dtype": (
        lambda: mx.cond(True, lambda: {"k": mx.array(1)}, lambda: {"k": mx.array(1.0)}),
        TransformError, r"the result\['k'\] is int32\[\] if true and float32\[\] if false"),
    "branches differ in structure": (
        lambda: mx.cond(True, lambda: (1,), lambda: 1),
        TransformError, r"the functions return TreeDef\(\(\*,\)\) and TreeDef\(\*\)"),
    "choice is no scalar": (lambda: mx.cond(mx.ones(2), lambda: 1, lambda: 2),
                            TransformError, r"\[cond\] the condition has shape \(2,\)"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        call()
    with pytest.raises(kind, match=text):
        mx.compile(call)()


def test_state_is_put_back_after_an_error():
    w, box = mx.array(1.0), {}
    mx.random.seed(5)
    before = bits(mx.random.state)

    def bad(c, x):
        nonlocal w
        w += c
        box["left"] = c
        mx.random.uniform()
        raise KeyError("mine")

    def f():
        return mx.scan(bad, mx.array(1.0), mx.ones(3))

    for g in (f, mx.compile(f)):
        with pytest.raises(KeyError, match="mine"):
            g()
        assert (w.item(), box) == (1.0, {})
        assert bits(mx.random.state) == before
    # Nothing stays in tracing mode.
    assert mx.scan(lambda c, x: (c + x, None), mx.array(0.0), mx.ones(3))[0].item() == 3.0


def test_values_of_a_step_cannot_leak():
    w, box = mx.array(1.0), []

    def changes(c, x):
        nonlocal w
        w += c
        return c, w

    def puts(c, x):
        box.append(c)
        return c, x

    for f in (changes, puts):
        for g in (mx.scan, mx.compile(lambda *a, f=f: mx.scan(f, *a[1:]))):
            with pytest.raises(TransformError, match=f"{f.__name__} changes an array that it reads "
                               "from outside"):
                g(f, mx.array(1.0), mx.ones(3))
        assert (w.item(), box) == (1.0, [])


def test_arrays_made_outside_may_be_kept():
    cache = {}

    def step(c, x):
        if "table" not in cache:
            cache["table"] = mx.arange(4) * 1.0
        return c + cache["table"], x

    assert mx.scan(step, mx.zeros(4), mx.ones(2))[0].tolist() == [0, 2, 4, 6]
    assert cache["table"].tolist() == [0, 1, 2, 3]


def test_other_results_of_a_loop_that_has_run():
    """Results are computed together; one read later, inside another trace, is at hand."""
    carry, ys = mx.scan(lambda c, x: (c + x, c * 2), mx.array(1.0), normal(4))
    carry.item()
    f = mx.compile(lambda x: x + ys)
    assert bits(f(mx.ones(4))) == bits(ys + 1)

    def inner(x):
        a, b = mx.scan(lambda c, _: (c + 1, c * 2), mx.array(1.0), length=4)
        return x * b + a.item()
    assert mx.compile(inner)(mx.ones(4)).tolist() == [7, 9, 11, 13]


def test_equal_loops_share_a_plan():
    xs = normal(4)
    evaluate.clear_plans()
    counts = []
    for _ in range(3):
        mx.eval(mx.scan(lambda c, x: (c * 0.5 + x, c), mx.array(0.0), xs))
        counts.append(evaluate.plan_count())
    assert counts[0] == counts[1] == counts[2]
    mx.eval(mx.scan(lambda c, x: (c * 0.25 + x, c), mx.array(0.0), xs))
    assert evaluate.plan_count() == counts[0] + 1


# -- seeing them ----------------------------------------------------------------------------------

def test_graphs_show_bodies():
    def step(c, x):
        return c @ W + x, c.sum()

    found = mx.explain(lambda c, xs: mx.scan(step, c, xs, reverse=True), mx.zeros(6), normal(9, 6))
    assert "scan(%in0, %in1, %in2) 9 steps backward, 1 carries, 1 xs" in found.trace
    assert "    graph scan of step\n      %in0 : float32[6]" in found.trace
    (kernel,) = [k for k in found.kernels if k.kind == "scan"]
    (body,) = kernel.bodies
    assert (body.name, body.times) == ("scan of step", 9)
    assert sorted(o.op for k in body.kernels for o in k.operations) == ["add", "matmul", "sum"]
    assert kernel.work.product_flops == 9 * 2 * 36
    text = str(found)
    assert "scan of step: " in text and ", 9 times" in text
    assert "matrix product" in text and "test_loops.py" in text
    assert found.to_dict(llvm=True)["kernels"][kernel.index]["bodies"][0]["times"] == 9
    assert "define" in kernel.llvm


def test_choices_are_shown():
    found = mx.explain(lambda p, x: mx.cond(p, mx.sin, mx.exp, x), mx.array(True), normal(3))
    assert [b.name for b in found.kernels[-1].bodies] == ["cond, if true", "cond, if false"]
    assert "choice between two bodies" in str(found)


def test_measure_counts_loops():
    m = mx.measure(lambda c, xs: mx.scan(lambda c, x: (mx.tanh(c) + x, c), c, xs), mx.zeros(4),
                   normal(50, 4))
    assert m.identical
    assert m.compiled.kernels == 2  # the carry's start, and the loop


def test_debug_output(capfd):
    from eutectic.config import config

    config.debug = 3
    try:
        mx.compile(lambda xs: mx.scan(lambda c, x: (c * 0.5 + x, None), mx.array(0.0), xs))(
            normal(3))
    finally:
        config.debug = 0
    text = capfd.readouterr().err
    assert "scan of <lambda> after trace" in text
    assert "scan of <lambda> kernel 0" in text


def test_maps_of_trees():
    """The unrolled loop of these tests itself: a scan by NumPy."""
    xs = RNG.standard_normal(5)
    carry, ys = mx.scan(lambda c, x: (c * 2 + x, c), mx.array(0.0, dtype=mx.float64),
                        mx.array(xs, dtype=mx.float64))
    c, seen = 0.0, []
    for x in xs:
        seen.append(c)
        c = c * 2 + x
    assert carry.item() == c
    assert ys.tolist() == seen
    assert map_leaves(lambda a: a.shape, (carry, ys)) == ((), (5,))


def test_values_of_jax():
    jax = pytest.importorskip("jax", reason="the reference implementation is not installed")
    lax, jnp = jax.lax, jax.numpy
    w, xs = np.array(W), np.array(normal(9, 6))

    def both(lib, scan, loop, choose, w, xs):
        def step(c, x):
            c = choose(c.sum() > 0, lambda c: lib.tanh(c @ w), lambda c: c * 0.5 + x, c)
            return c, loop(lambda v: v.sum() < 1, lambda v: v * 1.5 + 1.0, x)
        return scan(step, lib.ones(6), xs, reverse=True)
    mine = both(mx, mx.scan, mx.while_loop, mx.cond, mx.array(w), mx.array(xs))
    theirs = both(jnp, lax.scan, lax.while_loop, lax.cond, jnp.array(w), jnp.array(xs))
    for a, b in zip(mine, theirs):
        np.testing.assert_allclose(np.array(a), np.array(b), rtol=1e-5, atol=1e-6)
