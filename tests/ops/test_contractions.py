"""Contractions, Einstein summation and windows against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.dtype import DTYPES, Dtype
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, AxisError, DtypeError, ShapeError)


def ids(d: Dtype) -> str:
    return d.name


def sample(d: Dtype, *shape: int) -> tuple[mx.array, np.ndarray]:
    """Small whole numbers, whose sums of products are exact in every dtype."""
    rng = np.random.default_rng(sum(shape) + len(shape))
    x = rng.integers(0 if not (d.is_signed or d.is_float or d.is_complex) else -1, 2, shape)
    a = mx.array(x.astype(np.float32)).astype(d)
    if d.is_complex:
        a = a + 1j * mx.array(rng.integers(-1, 2, shape).astype(np.float32))
    if d is mx.bool_:
        return a, x.astype(np.int64)  # NumPy's booleans have no sums
    return a, np.array(a).astype(np.complex128 if d.is_complex else np.float64)


def summed(d: Dtype) -> Dtype:
    if d is mx.bool_ or (d.is_signed and d.size < 4):
        return mx.int32
    return mx.uint32 if d.is_int and d.size < 4 else d


def same(got: mx.array, want: Any, d: Dtype) -> None:
    assert got.dtype is d
    assert got.shape == np.shape(want)
    np.testing.assert_array_equal(np.array(got), want)


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_products(d: Dtype) -> None:
    for s, t in (((3,), (3,)), ((2, 3), (4, 3)), ((2, 5, 3), (3,)), ((0,), (0,)), ((2, 0), (3, 0))):
        (a, x), (b, y) = sample(d, *s), sample(d, *t)
        same(mx.inner(a, b), np.inner(x, y), summed(d))
    for s, t in (((3,), (2,)), ((2, 2), (3,)), ((), (4,)), ((0,), (2,))):
        (a, x), (b, y) = sample(d, *s), sample(d, *t)
        same(mx.outer(a, b), np.outer(x, y), d)
        same(mx.kron(a, b), np.kron(x, y) if x.size else np.zeros(0), d)
    same(mx.inner(sample(d)[0], b), sample(d)[1] * y, d)
    for s, t in (((2, 2), (3,)), ((2, 3), (3, 2)), ((2,), (2, 1, 3)), ((), ())):
        (a, x), (b, y) = sample(d, *s), sample(d, *t)
        same(mx.kron(a, b), np.kron(x, y), d)


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_vecdot(d: Dtype) -> None:
    for s, t, axis in (((3,), (3,), -1), ((2, 3), (3,), -1), ((2, 3), (2, 3), 0), ((0,), (0,), 0),
                       ((4, 2, 3), (2, 1), -2), ((4, 1, 3), (1, 2, 3), 2)):
        (a, x), (b, y) = sample(d, *s), sample(d, *t)
        back = axis - max(len(s), len(t)) if axis >= 0 else axis
        want = (np.conj(np.moveaxis(x, back, -1)) * np.moveaxis(y, back, -1)).sum(-1)
        same(mx.vecdot(a, b, axis=axis), want, summed(d))


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_tensordot(d: Dtype) -> None:
    cases: list[tuple[Any, Any, Any]] = [
        ((2, 3), (3, 4), 1), ((2, 3), (2, 3), 2), ((2, 3), (4,), 0), ((2, 3), (2, 4), [[0], [0]]),
        ((2, 3, 4), (4, 3, 5), ([1, 2], [1, 0])), ((2, 3), (5, 3), [[-1], [-1]]),
        ((2, 3), (2,), [[], []]), ((2, 0), (0, 3), 1), ((), (), 0)]
    for s, t, axes in cases:
        (a, x), (b, y) = sample(d, *s), sample(d, *t)
        pairs = axes != 0 and axes != [[], []]
        same(mx.tensordot(a, b, axes), np.tensordot(x, y, axes), summed(d) if pairs else d)


def test_small_integers_do_not_wrap_in_sums() -> None:
    x = mx.array([100, 100], mx.int8)
    for got in (mx.inner(x, x), mx.vecdot(x, x), mx.tensordot(x, x, 1), mx.einsum("i,i", x, x)):
        assert (got.dtype, got.item()) == (mx.int32, 20000)


def test_halves_are_rounded_once() -> None:
    x = mx.full((4096,), 1.0, mx.float16)
    assert mx.vecdot(x, x).item() == 4096 and mx.einsum("i,i->", x, x).item() == 4096


EINSUMS: list[tuple[Any, ...]] = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ii", (3, 3)), ("ii->i", (3, 3)),
    ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)), ("i,i", (4,), (4,)), ("", ()),
    ("->", ()), (",", (), ()), ("i,j", (2,), (3,)), ("ba", (2, 3)), ("Ab", (2, 3)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)), ("...ij,...jk", (5, 2, 3), (3, 4)),
    ("i...->...", (5, 2, 3)), ("i...", (5, 2, 3)), ("...i", (2, 3)), (" i j -> j i ", (2, 3)),
    ("...,...->...", (2, 1), (3,)), ("...i,...i->...", (2, 3), (3,)),
    ("a...b->b...a", (2, 3, 4, 5)), ("ij,ij,ij->ij", (2, 3), (2, 3), (2, 3)),
    ("i,j,k", (2,), (3,), (2,)), ("i,->i", (3,), ()), ("ij,kj->", (2, 3), (4, 3)),
    ("a,ab,abc->abc", (2,), (2, 3), (2, 3, 4)),
    ("ea,fb,abcd,gc,hd->efgh", (4, 3), (5, 3), (3, 3, 3, 3), (4, 3), (5, 3)),
    ("iij->j", (3, 3, 2)), ("iijj->ij", (3, 3, 2, 2)), ("iji,j->i", (3, 2, 3), (2,)),
    ("bij,bjk->bik", (6, 2, 3), (6, 3, 4)), ("bhqd,bhkd->bhqk", (2, 2, 5, 3), (2, 2, 4, 3)),
    ("ijk,ijk->", (2, 3, 4), (2, 3, 4)), ("bij,bij->b", (2, 3, 4), (2, 3, 4)),
    ("ij,jk->ik", (0, 3), (3, 2)), ("ij,jk->ik", (2, 0), (0, 2)), ("ij,jk,kl->il", (2, 3), (3, 4),
                                                                 (4, 2)),
    ("abcdefghij->jihgfedcba", (1, 2, 1, 2, 1, 2, 1, 2, 1, 2)), ("ij,j", (2, 3), (1,))]


@pytest.mark.parametrize("d", DTYPES, ids=ids)
def test_einsum(d: Dtype) -> None:
    for subscripts, *shapes in EINSUMS:
        made = [sample(d, *s) for s in shapes]
        got = mx.einsum(subscripts, *[a for a, _ in made])
        want = np.einsum(subscripts, *[x for _, x in made])
        assert got.shape == want.shape
        assert got.dtype in (d, summed(d))
        if d is mx.bool_ and got.dtype is mx.bool_:
            want = want != 0
        np.testing.assert_array_equal(np.array(got), want)


def test_einsum_layouts_and_mixed_dtypes() -> None:
    x = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    y = np.random.default_rng(1).normal(size=(6, 5)).astype(np.float32)
    for a, p in ((mx.array(x), x), (mx.array(x)[::-1], x[::-1]), (mx.array(x.T.copy()).T, x)):
        for b, q in ((mx.array(y), y), (mx.array(y)[:, ::-1], y[:, ::-1])):
            np.testing.assert_allclose(np.array(mx.einsum("ij,ji->i", a, b)),
                                       np.einsum("ij,ji->i", p, q), rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(np.array(mx.einsum("ij,jk->ki", a, b)), (p @ q).T,
                                       rtol=1e-5, atol=1e-6)
    half = mx.ones((2, 3), mx.float16)
    assert mx.einsum("ij,jk->ki", half, mx.ones((3, 4))).dtype is mx.float32
    assert mx.einsum("ij,j", half, mx.ones(3, mx.int32)).dtype is mx.float16
    assert mx.einsum("a...b->ab", mx.ones((2, 3, 4))).tolist() == [[3] * 4] * 2


def test_einsum_path() -> None:
    path, text = mx.einsum_path("ij,jk,kl,lm->im", *[mx.ones(s) for s in (
        (2, 30), (30, 4), (4, 5), (5, 2))])
    assert path == [(0, 1), (0, 1), (0, 1)] or len(path) == 3
    assert "5 nested loops, 9600 operations" in text and "3 nested loops" in text
    assert mx.einsum_path("ij->ji", mx.ones((2, 3)))[0] == [(0,)]
    assert mx.einsum_path("ij,jk->ik", mx.ones((2, 3)), mx.ones((3, 4)))[0] == [(0, 1)]
    many = ",".join("abcdefghijklmnopqrstuvwxyz"[i:i + 2] for i in range(20))
    path, _ = mx.einsum_path(many, *[mx.ones((2, 2))] * 20)
    assert len(path) == 19
    assert mx.einsum(many + "->", *[mx.ones((2, 2))] * 20).item() == 2 ** 21


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name: str) -> None:
    for n in (-3, 0, 1, 2, 3, 5, 8, 51, 1000):
        got = getattr(mx, name)(n)
        assert got.dtype is mx.float32
        np.testing.assert_allclose(np.array(got), getattr(np, name)(n), rtol=0, atol=6e-8)
        assert (np.array(got) == np.array(got)[::-1]).all()
    assert mx.hanning(9).tolist()[0] == mx.blackman(9).tolist()[0] == 0


def test_compiled_gives_the_same_bits() -> None:
    def f(x: mx.array, y: mx.array) -> tuple[mx.array, ...]:
        a, b = mx.sin(x), y * 0.5
        return (mx.exp(mx.einsum("ij,kj->ik", a, b)), mx.einsum("ij,ij->i", a, b) + 1,
                mx.einsum("ij,ij,kj->k", a, b, b) * 2, mx.inner(a, b) - 1, mx.outer(a, b[0]) * 2,
                mx.tensordot(a, b, [[0, 1], [0, 1]]) + 1, mx.kron(a, b[:2, :2]) * 3,
                mx.vecdot(a, b, axis=0) / 2, mx.einsum("ij->j", a) * mx.hanning(11))

    rng = np.random.default_rng(1)
    for d in (mx.float32, mx.float16):
        x, y = (mx.array(rng.normal(size=(7, 11)).astype(np.float32)).astype(d) for _ in range(2))
        for a in (x, x[::-1, ::-1], mx.contiguous(x.T).T):
            for plain, compiled in zip(f(a, y), mx.compile(f)(a, y)):
                assert plain.dtype is compiled.dtype
                assert np.array(plain).tobytes() == np.array(compiled).tobytes()


ERRORS: list[tuple[str, type[Exception], str]] = [
    ("mx.inner(mx.ones((2, 3)), mx.ones((4, 2)))", ShapeError,
     "[inner] shapes (2,3) and (4,2): the last axes differ in length."),
    ("mx.outer([1], mx.ones(2))", ArgumentTypeError, "[outer] cannot take a list as an operand"),
    ("mx.tensordot(mx.ones((2, 3)), mx.ones((3, 4)))", ShapeError,
     "[tensordot] shapes (2,3) and (3,4): the contracted axes differ in length."),
    ("mx.tensordot(mx.ones(2), mx.ones(2), 2)", ArgumentError,
     "[tensordot] no 2 axes to contract in shapes (2,) and (2,)."),
    ("mx.tensordot(mx.ones(2), mx.ones(2), -1)", ArgumentError, "[tensordot] no -1 axes"),
    ("mx.tensordot(mx.ones(2), mx.ones(2), (0, 0))", ArgumentError,
     "[tensordot] axes must be an integer or two lists of axes."),
    ("mx.tensordot(mx.ones((2, 2)), mx.ones(2), [[0, 1], [0]])", ArgumentError,
     "[tensordot] 2 axes of the first array for 1 of the second."),
    ("mx.tensordot(mx.ones((2, 2)), mx.ones((2, 2)), [[0, 0], [0, 1]])", AxisError,
     "[tensordot] an axis is given twice for shape (2,2)."),
    ("mx.tensordot(mx.ones(2), mx.ones(2), [[5], [0]])", AxisError,
     "[tensordot] axis 5 is out of range for shape (2,)."),
    ("mx.vecdot(mx.ones(3), mx.ones(2))", ShapeError,
     "[vecdot] shapes (3,) and (2,): the lengths of axis -1 differ."),
    ("mx.vecdot(mx.array(1.0), mx.array(1.0))", AxisError,
     "[vecdot] axis -1 is out of range for shapes () and ()."),
    ("mx.vecdot(mx.ones((2, 3)), mx.ones(2), axis=0)", AxisError, "[vecdot] axis 0 is out of"),
    ("mx.vecdot(mx.ones((2, 3)), mx.ones((4, 3)))", ShapeError,
     "[vecdot] shapes (2,3) and (4,3) cannot be broadcast together."),
    ("mx.einsum(1, mx.ones(2))", ArgumentTypeError,
     "[einsum] the subscripts are a str, not a int."),
    ("mx.einsum('ij,jk->ik')", ArgumentError, "[einsum] needs at least one operand."),
    ("mx.einsum('i,j', mx.ones(2))", ArgumentError, "[einsum] 2 subscripts for 1 operands."),
    ("mx.einsum('i1', mx.ones((2, 2)))", ArgumentError,
     "[einsum] subscripts are letters, not '1'."),
    ("mx.einsum('i->j->k', mx.ones(2))", ArgumentError,
     "[einsum] subscripts are letters, not '-'."),
    ("mx.einsum('..i', mx.ones(2))", ArgumentError, "[einsum] subscripts are letters, not '.'."),
    ("mx.einsum('......', mx.ones(2))", ArgumentError, "[einsum] more than one ellipsis"),
    ("mx.einsum('ijk->i', mx.ones((2, 3)))", ShapeError,
     "[einsum] subscripts 'ijk' name 3 axes of an operand of shape (2,3)."),
    ("mx.einsum('i', mx.ones((2, 3)))", ShapeError, "[einsum] subscripts 'i' name 1 axes"),
    ("mx.einsum('...ijk', mx.ones((2, 3)))", ShapeError, "[einsum] subscripts '...ijk' name 3"),
    ("mx.einsum('ii', mx.ones((2, 3)))", ShapeError,
     "[einsum] the axes of the repeated subscript 'i' differ in shape (2,3)."),
    ("mx.einsum('ij,jk', mx.ones((2, 3)), mx.ones((2, 4)))", ShapeError,
     "[einsum] subscript 'j' has length 3 in one operand and 2 in another, of shape (2,4)."),
    ("mx.einsum('...,...', mx.ones(2), mx.ones(3))", ShapeError,
     "[einsum] axis -1 of the ellipsis has length 2 in one operand and 3 in another"),
    ("mx.einsum('ij->ii', mx.ones((2, 3)))", ArgumentError,
     "[einsum] subscript 'i' occurs twice in the result."),
    ("mx.einsum('ij->k', mx.ones((2, 3)))", ArgumentError,
     "[einsum] subscript 'k' of the result is in no operand."),
    ("mx.einsum('i', [1, 2])", ArgumentTypeError, "[einsum] cannot take a list as an operand"),
    ("mx.einsum_path('i,j', mx.ones(2))", ArgumentError, "[einsum_path] 2 subscripts for 1"),
    ("mx.hanning(2.5)", ArgumentTypeError, "[hanning] M must be an integer, not float."),
]


@pytest.mark.parametrize(("code", "kind", "message"), ERRORS, ids=[c for c, _, _ in ERRORS])
def test_errors(code: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as found:
        eval(code, {"mx": mx})
    assert type(found.value) is kind
    assert message in str(found.value)
    assert not isinstance(found.value, DtypeError)


def test_against_mlx() -> None:
    mlx = pytest.importorskip("mlx.core", reason="the reference implementation is not installed")
    rng = np.random.default_rng(3)
    with mlx.stream(mlx.cpu):
        for subscripts, *shapes in EINSUMS:
            xs = [rng.normal(size=s).astype(np.float32) for s in shapes]
            want = np.array(mlx.einsum(subscripts, *[mlx.array(x) for x in xs]))
            got = mx.einsum(subscripts, *[mx.array(x) for x in xs])
            assert got.shape == want.shape
            np.testing.assert_allclose(np.array(got), want, rtol=1e-4, atol=1e-4)
        x, y = (rng.normal(size=(3, 4)).astype(np.float32) for _ in range(2))
        for name in ("inner", "outer", "kron", "vecdot", "tensordot"):
            want = getattr(mlx, name)(mlx.array(x), mlx.array(y))
            got = getattr(mx, name)(mx.array(x), mx.array(y))
            np.testing.assert_allclose(np.array(got), np.array(want), rtol=1e-5, atol=1e-5)
        for name in ("bartlett", "blackman", "hamming", "hanning"):
            np.testing.assert_allclose(np.array(getattr(mx, name)(33)),
                                       np.array(getattr(mlx, name)(33)), rtol=0, atol=1e-6)
