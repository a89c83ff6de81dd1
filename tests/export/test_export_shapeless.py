"""Shapeless traces: which lengths may vary, and the bits of the plain function where they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from exported import content, file_of, imported

import eutectic.core as mx
from eutectic.errors import ExportError
from eutectic.export.sizes import Size, fit

W = mx.random.normal((8, 8), key=mx.random.key(0))


def draw(*shape: int) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(sum(shape)))


def attention(x: mx.array) -> Any:
    b, t, _ = x.shape
    h = (x @ W).reshape(b, t, 2, 4).transpose(0, 2, 1, 3)
    seen = mx.arange(t)[:, None] >= mx.arange(t)[None, :]
    s = mx.where(seen, h @ h.transpose(0, 1, 3, 2) / 2, -mx.inf)
    o = (mx.softmax(s, axis=-1) @ h).transpose(0, 2, 1, 3).reshape(b, t, -1)
    return o, o[:, -1], x.mean(axis=1), x / t, o.reshape(-1, 8)[: b * t - 1]


CASES: list[tuple[str, Callable[..., Any], list[tuple[int, ...]], str, list[Any]]] = [
    ("elementwise", lambda x: mx.exp(x) * 2, [(2, 3)], "(float32[a,b])",
     [[(5, 1)], [(1, 1)], [(0, 4)]]),
    ("from one element", lambda x: mx.exp(x).sum(), [(1,)], "(float32[a])", [[(7,)], [(0,)]]),
    ("matmul", lambda x, y: x @ y, [(3, 4), (4, 5)], "(float32[a,b], float32[b,c])",
     [[(2, 7), (7, 3)], [(1, 1), (1, 1)]]),
    ("a fixed weight", lambda x: x @ W, [(3, 8)], "(float32[a,8])", [[(70, 8)], [(1, 8)]]),
    ("attention", attention, [(2, 5, 8)], "(float32[a,b,8])",
     [[(1, 3, 8)], [(3, 9, 8)], [(4, 1, 8)]]),
    ("reductions", lambda x: (x.sum(0), x.mean(), mx.softmax(x, 0), x.argmax(1), x.var(1)),
     [(3, 4)], "(float32[a,b])", [[(1, 5)], [(20, 3)]]),
    ("flatten", lambda x: (x.reshape(-1), x.flatten(1), x[:, None]), [(2, 3, 4)],
     "(float32[a,b,c])", [[(5, 1, 2)], [(1, 1, 1)]]),
    ("slices", lambda x: (x[-1], x[1:-1], x[::-1], mx.pad(x, 1)), [(5, 4)], "(float32[a,b])",
     [[(9, 2)], [(3, 1)]]),
    ("scans and order", lambda x: (mx.cumsum(x, 1), mx.sort(x, 1), mx.argsort(x, 0)), [(4, 5)],
     "(float32[a,b])", [[(3, 9)], [(1, 1)]]),
    ("split", lambda x: mx.split(x, 3, axis=1), [(2, 6)], "(float32[a,6])", [[(5, 6)]]),
    ("every second", lambda x: x[::2], [(6, 2)], "(float32[6,a])", [[(6, 9)]]),
    ("random", lambda x, k: x + mx.random.normal(x.shape, key=k).astype(x.dtype), [(3, 2)],
     "(float32[a,b], uint32[2])", [[(2, 7)]]),
    ("two that agree", lambda x, y: x + y, [(4, 3), (4, 3)], "(float32[a,b], float32[a,b])",
     [[(2, 9), (2, 9)]]),
    ("a bound", lambda x: x[:4] * 2, [(9,)], "(float32[a])", [[(30,)], [(4,)]]),
    ("gradient", lambda x: mx.grad(lambda y: (mx.tanh(y @ W) / y.shape[0]).sum())(x), [(3, 8)],
     "(float32[a,8])", [[(5, 8)], [(1, 8)]]),
    ("loops", lambda x: (mx.scan(lambda c, v: (c + v / x.shape[0], c[1:]), x[0], x)[1],
                         mx.while_loop(lambda s: s.max() < 9, lambda s: s + 1, x)), [(4, 3)],
     "(float32[a,b])", [[(6, 2)], [(2, 7)]]),
    ("norms", lambda x: (mx.fast.rms_norm(x, None, 1e-5), mx.fast.rope(
        x, 4, traditional=False, base=1e4, scale=1.0, offset=0)), [(2, 3, 8)],
     "(float32[a,b,c])", [[(1, 7, 6)]]),
]


@pytest.mark.parametrize(("fun", "shapes", "signature", "calls"), [c[1:] for c in CASES],
                         ids=[c[0] for c in CASES])
def test_calls(fun: Any, shapes: Any, signature: str, calls: Any) -> None:
    keys = [mx.random.key(1)] if "uint32" in signature else []
    f = imported(fun, *[draw(*s) for s in shapes], *keys, shapeless=True)
    assert repr(f) == f"<imported <BytesIO>: {signature}>"
    for call in (shapes, *calls):
        args = [draw(*s) for s in call] + keys
        expected = fun(*args)
        expected = expected if isinstance(expected, (tuple, list)) else [expected]
        found = f(*args)
        compiled = mx.compile(f)(*args)
        assert len(found) == len(expected)
        for a, b, c in zip(found, compiled, expected):
            assert a.shape == b.shape == c.shape
            assert bytes(a) == bytes(b) == bytes(c), call


@pytest.mark.parametrize(("fun", "shapes", "call"), [
    (lambda x: x @ W, [(3, 8)], [(3, 9)]),
    (lambda x: x.reshape(3, 2), [(2, 3)], [(3, 3)]),
    (lambda x: x[::2], [(6,)], [(7,)]),
    (lambda x, y: x + y, [(4, 3), (4, 3)], [(1, 3), (4, 3)]),
    (lambda x: x, [(2, 3)], [(3,)]),
    (lambda x: x if x.shape[0] > 4 else x + 1, [(4,)], [(5,)]),
    (lambda x: x * (x.shape[0] ** -0.5), [(4,)], [(5,)]),
    (lambda x: x * x.shape[0] ** 2, [(4,)], [(5,)]),
    (lambda x: x.sum() if x.shape[0] == 4 else 1 // 0, [(4,)], [(5,)]),
    (lambda x: x + mx.array(list(range(x.shape[0]))), [(4,)], [(5,)]),
])
def test_lengths_that_may_not_vary(fun: Any, shapes: Any, call: Any) -> None:
    """A call with another length is an error, never a wrong answer; the example's still works."""
    args = [draw(*s) for s in shapes]
    f = imported(fun, *args, shapeless=True)
    assert bytes(f(*args)[0]) == bytes(fun(*args))
    with pytest.raises(ExportError, match="no exported trace of"):
        f(*[draw(*s) for s in call])


def test_a_length_that_an_operation_does_not_allow() -> None:
    f = imported(lambda x: (x[:4], x[-3:]), draw(9), shapeless=True)
    assert [v.shape for v in f(draw(4))] == [(4,), (3,)]
    with pytest.raises(ExportError, match=r"does not take \(float32\[2\]\): operation .*slice"):
        f(draw(2))


def test_lengths_that_vary_together() -> None:
    f = imported(lambda x, y: x @ y, draw(3, 4), draw(4, 5), shapeless=True)
    with pytest.raises(ExportError, match=r"It has:\n 1. \(float32\[a,b\], float32\[b,c\]\)"):
        f(draw(3, 4), draw(5, 5))


def test_dtypes_and_ranks_still_matter() -> None:
    with pytest.raises(ExportError):
        imported(mx.exp, draw(3), shapeless=True)(mx.ones((3,), mx.float16))
    with pytest.raises(ExportError):
        imported(mx.exp, draw(3), shapeless=True)(draw(3, 1))


def test_nothing_is_drawn_or_written_while_looking() -> None:
    count = []
    mx.random.seed(3)
    with pytest.warns(UserWarning) as told:
        imported(lambda x: x + mx.random.uniform(shape=x.shape), draw(3), shapeless=True)
    assert len([w for w in told if "draws random" in str(w.message)]) == 1
    drawn = mx.random.uniform().item()
    mx.random.seed(3)
    assert mx.random.uniform().item() == drawn
    data = file_of(lambda x: (count.append(0), x * 2)[1], draw(3), shapeless=True)
    assert 1 < len(count) < 16
    assert content(data)["traces"][0]["sizes"] == {"a": 3}


def test_several_shapeless_traces() -> None:
    import io
    file = io.BytesIO()
    with mx.exporter(file, lambda *xs: sum(x.sum() for x in xs), shapeless=True) as export:
        export(draw(3))
        export(draw(3), draw(4, 5))
    f = mx.import_function(io.BytesIO(file.getvalue()))
    assert f(mx.ones((9,)))[0].item() == 9
    assert f(mx.ones((2,)), mx.ones((2, 2)))[0].item() == 6


def test_polynomials() -> None:
    def through(f: Callable[..., int]) -> Any:
        low, high = (3, 5), (4, 6)
        return fit(lambda c: f(*[(x, y)[bit] for x, y, bit in zip(low, high, c)]), ["a", "b"],
                   low, high)
    assert str(through(lambda a, b: a * b)) == "a*b"
    assert str(through(lambda a, b: 2 * a - b + 1)) == "2*a-1*b+1"
    assert through(lambda a, b: 7) == 7
    assert through(lambda a, b: a // 2) == Size(((1, ("a",)), (-2, ())))  # found out by a third
    found = through(lambda a, b: 3 * a * b - a + 4)
    assert found.at({"a": 10, "b": 20}) == 3 * 200 - 10 + 4
