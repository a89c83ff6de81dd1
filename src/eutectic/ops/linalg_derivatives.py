"""Derivatives of linear algebra.

A cotangent of complex numbers is dL/dx + i dL/dy: a change dA changes the loss by the real part of
the trace of g^H dA. Formulas without a source follow from the differential of the equation that
defines the operation. Where a decomposition has no derivative the rules do not invent one:

- eigenvectors and singular vectors of values that are equal (eigh, eig, svd), and singular vectors
  of a value 0 that span a space with others: the quotients by differences of values are inf or nan;
- qr, lu and lu_factor of matrices whose leading square part is singular, eig of defective matrices,
  inv, solve and slogdet of singular ones: LinalgError when the gradient is computed;
- signs and phases of vectors are the library's choice: only functions that do not depend on them
  have a derivative, and the same holds for the columns of `svd` beyond the smaller side.

The rules of symmetric matrices (eigh, eigvalsh, cholesky) give symmetric cotangents.
"""

from __future__ import annotations

from collections.abc import Sequence

from eutectic.array import array, wrap
from eutectic.dtype import bool_
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops import distributions, lapack, linalg
from eutectic.ops.arithmetic import conjugate
from eutectic.ops.arithmetic import real as real_part
from eutectic.ops.comparison import where
from eutectic.ops.creation import eye, tril, triu, zeros_like
from eutectic.ops.derivatives import complex_of, several, structural
from eutectic.ops.joining import concatenate
from eutectic.ops.matrix import matmul

_opaque = prims.opaque_prim
Cotangents = Sequence["Node | None"]


def _turned(x: array) -> array:
    rank = len(x.shape)
    return wrap(prims.transpose(x._n, (*range(rank - 2), rank - 1, rank - 2)))


def _adjoint(x: array) -> array:
    return conjugate(_turned(x)) if x.dtype.is_complex else _turned(x)


def _skew(x: array) -> array:
    return x - _adjoint(x)


def _row(v: array) -> array:
    """Vectors (..., n) beside matrices, a number a column."""
    return wrap(prims.reshape(v._n, (*v.shape[:-1], 1, v.shape[-1])))


def _column(v: array) -> array:
    return wrap(prims.reshape(v._n, (*v.shape, 1)))


def _number(v: array) -> array:
    """Numbers (...) beside matrices."""
    return wrap(prims.reshape(v._n, (*v.shape, 1, 1)))


def _diagonal(x: array) -> array:
    on = eye(x.shape[-1], dtype=bool_)
    return wrap(prims.reduce("sum", where(on, x, 0)._n, (len(x.shape) - 2,)))


def _with_diagonal(x: array, d: array) -> array:
    return where(eye(x.shape[-1], dtype=bool_), _row(d), x)


def _gaps(values: array) -> array:
    """Element (i, j) is values[j] - values[i]; 1 on the diagonal, which is not divided."""
    return where(eye(values.shape[-1], dtype=bool_), 1, _row(values) - _column(values))


def _given(g: Node | None, like: array) -> array:
    return zeros_like(like) if g is None else wrap(g)


# -- inverses and solutions --------------------------------------------------------------------


def _inverse_rule(g: Node, n: Node) -> array:
    turned = _turned(wrap(n))
    return -matmul(matmul(turned, wrap(g)), turned)


@structural(_opaque("inv", lapack.inv))
def _inv(g: Node, n: Node) -> list[Node | None]:
    return [_inverse_rule(g, n)._n]


def _tri_inv(g: Node, n: Node) -> list[Node | None]:
    return [(triu if n.attrs[0] else tril)(_inverse_rule(g, n))._n]


for _name in ("tri_inv", "cholesky_inv"):
    structural(_opaque(_name, lapack.tri_inv))(_tri_inv)


@structural(_opaque("pinv", lapack.pinv))
def _pinv(g: Node, n: Node) -> list[Node | None]:
    """Golub and Pereyra, SIAM J. Numer. Anal. 10 (1973), transposed; constant rank."""
    a, p, c = wrap(n.inputs[0]), wrap(n), wrap(g)
    pt, ct = _turned(p), _turned(c)
    left = ct - a @ (p @ ct)
    right = ct - (ct @ p) @ a
    return [(left @ (p @ pt) + (pt @ p) @ right - pt @ (c @ pt))._n]


@structural(_opaque("solve", lapack.solve))
def _solve(g: Node, n: Node) -> list[Node | None]:
    right = linalg.solve(_turned(wrap(n.inputs[0])), wrap(g))
    return [(-matmul(right, _turned(wrap(n))))._n, right._n]


@structural(_opaque("solve_triangular", lapack.solve_triangular))
def _solve_triangular(g: Node, n: Node) -> list[Node | None]:
    upper = n.attrs[0]
    right = linalg.solve_triangular(_turned(wrap(n.inputs[0])), wrap(g), upper=not upper)
    own = -matmul(right, _turned(wrap(n)))
    return [(triu if upper else tril)(own)._n, right._n]


# -- determinants ------------------------------------------------------------------------------


@structural(_opaque("det", lapack.det))
def _det(g: Node, n: Node) -> list[Node | None]:
    # By cofactors: right where the matrix is singular.
    a = n.inputs[0]
    cofactors = prims.opaque("cofactors", lapack.cofactors, (a,), (), ((a.shape, a.dtype),))[0]
    return [(_number(wrap(g)) * wrap(cofactors))._n]


@structural(_opaque("cofactors", lapack.cofactors))
def _cofactors(g: Node, n: Node) -> list[Node | None]:
    # C = det(A) A^-T, so dC = tr(A^-1 dA) C - A^-T dA^T C.
    c, h = wrap(n), wrap(g)
    inner = wrap(prims.reduce("sum", (c * h)._n, (len(n.shape) - 2, len(n.shape) - 1)))
    mixed = _number(inner) * eye(n.shape[-1], dtype=n.dtype) - c @ _turned(h)
    return [(mixed @ _turned(linalg.inv(wrap(n.inputs[0]))))._n]


@several(_opaque("slogdet", lapack.slogdet, True))
def _slogdet(gs: Cotangents, n: Node, outs: Sequence[Node]) -> list[Node | None]:
    if gs[1] is None:
        return [None]
    return [(_number(wrap(gs[1])) * _turned(linalg.inv(wrap(n.inputs[0]))))._n]


# -- symmetric matrices ------------------------------------------------------------------------


@structural(_opaque("cholesky", lapack.cholesky))
def _cholesky(g: Node, n: Node) -> list[Node | None]:
    """Murray, arXiv 1602.07527, eq. 9: symmetric, as the matrix is."""
    upper = n.attrs[0]
    low, c = (_turned(wrap(n)), _turned(wrap(g))) if upper else (wrap(n), wrap(g))
    inner = matmul(_turned(low), c)
    half = (tril(inner) + tril(inner, -1)) * 0.5
    inverse = linalg.tri_inv(low)
    out = matmul(matmul(_turned(inverse), half), inverse)
    return [((out + _turned(out)) * 0.5)._n]


@several(_opaque("eigh", lapack.eigh, True))
def _eigh(gs: Cotangents, n: Node, outs: Sequence[Node]) -> list[Node | None]:
    """dw_i = (V^H dA V)_ii, and V^H dV has (V^H dA V)_ij / (w_j - w_i) off its diagonal."""
    return [_spectral(wrap(outs[0]), wrap(outs[1]), *gs)._n]


def _spectral(w: array, v: array, gw: Node | None, gv: Node | None) -> array:
    """Cotangent of V diag(w) V^H from those of w and V."""
    turned = _adjoint(v)
    if gv is None:
        return (v * _row(_given(gw, w))) @ turned
    inner = _with_diagonal((turned @ wrap(gv)) / _gaps(w), _given(gw, w))
    out = v @ inner @ turned
    return (out + _adjoint(out)) * 0.5


@structural(_opaque("eigvalsh", lapack.eigvalsh))
def _eigvalsh(g: Node, n: Node) -> list[Node | None]:
    w, v = linalg.eigh(wrap(n.inputs[0]), n.attrs[0])
    return [_spectral(w, v, g, None)._n]


@structural(_opaque("covariance_root", distributions._square_root))
def _covariance_root(g: Node, n: Node) -> list[Node | None]:
    # R R = C, so dR R + R dR = dC, which R's eigenvectors make diagonal.
    w, v = linalg.eigh(wrap(n))
    turned = _turned(v)
    inner = (turned @ wrap(g) @ v) / (_row(w) + _column(w))
    out = v @ inner @ turned
    return [((out + _turned(out)) * 0.5)._n]


# -- any matrices ------------------------------------------------------------------------------


@several(_opaque("svd", lapack.svd, True))
def _svd(gs: Cotangents, n: Node, outs: Sequence[Node]) -> list[Node | None]:
    """With W = U^H dA V, dS is its diagonal, and U^H dU and V^H dV follow from its other elements.

    Wan and Zhang, arXiv 1909.02659. Vectors beyond the smaller side move only against the others.
    """
    u, s, vt = [wrap(o) for o in outs]
    gu, gvt = gs[0], gs[2]
    k = s.shape[-1]
    rows, columns = u.shape[-1], vt.shape[-1]
    if gu is None and gvt is None:
        return [((u[..., :k] * _row(_given(gs[1], s))) @ vt[..., :k, :])._n]
    gaps = _gaps(s) * where(eye(k, dtype=bool_), 1, _row(s) + _column(s))
    core = zeros_like(u[..., :k, :k])
    more = None
    phases = _given(gs[1], s)
    if gu is not None:
        turn = _skew(_adjoint(u) @ wrap(gu))
        core = core + turn[..., :k, :k] / gaps * _row(s)
        if rows > k:
            more = turn[..., k:, :k] / _row(s)
        if u.dtype.is_complex:
            phases = phases + _diagonal(turn[..., :k, :k]) / (2 * s)
    if gvt is not None:
        turn = _skew(vt @ _adjoint(wrap(gvt)))
        core = core + _column(s) * turn[..., :k, :k] / gaps
        if columns > k:
            more = -turn[..., :k, k:] / _column(s)
    core = _with_diagonal(core, phases)
    out = u[..., :k] @ core @ vt[..., :k, :]
    if more is not None and rows > k:
        out = out + u[..., k:] @ more @ vt
    elif more is not None:
        out = out + u @ more @ vt[..., k:, :]
    return [out._n]


for _name in ("svd", "singular_values"):
    @structural(_opaque(_name, lapack.singular_values))
    def _singular_values(g: Node, n: Node) -> list[Node | None]:
        u, _, vt = linalg.svd(wrap(n.inputs[0]))
        k = n.shape[-1]
        return [((u[..., :k] * _row(wrap(g))) @ vt[..., :k, :])._n]


@several(_opaque("eig", lapack.eig, True))
def _eig(gs: Cotangents, n: Node, outs: Sequence[Node]) -> list[Node | None]:
    return [_eigen(gs, n, wrap(outs[0]), wrap(outs[1]))]


@structural(_opaque("eigvals", lapack.eigvals))
def _eigvals(g: Node, n: Node) -> list[Node | None]:
    return [_eigen((g, None), n, *linalg.eig(wrap(n.inputs[0])))]


def _eigen(gs: Cotangents, n: Node, w: array, v: array) -> Node:
    """Boeddeker et al., arXiv 1701.00392: columns of V have length 1."""
    turned = _adjoint(v)
    inner = zeros_like(v)
    if gs[1] is not None:
        inner = turned @ wrap(gs[1])
        inner = inner - (turned @ v) * _row(real_part(_diagonal(inner)))
        inner = inner / conjugate(_gaps(w))
    out = _complex_solve(turned, _with_diagonal(inner, _given(gs[0], w)) @ turned)
    return out._n if n.inputs[0].dtype.is_complex else real_part(out)._n


def _complex_solve(a: array, b: array) -> array:
    """a^-1 b of complex matrices by twice as large real ones."""
    def halves(x: array) -> tuple[array, array]:
        return real_part(x), x.imag
    (p, q), (c, d) = halves(a), halves(b)
    wide = concatenate([concatenate([p, -q], -1), concatenate([q, p], -1)], -2)
    x = linalg.solve(wide, concatenate([c, d], -2))
    n = a.shape[-1]
    return complex_of(x[..., :n, :], x[..., n:, :])


@several(_opaque("qr", lapack.qr, True))
def _qr(gs: Cotangents, n: Node, outs: Sequence[Node]) -> list[Node | None]:
    """Roberts and Roberts, arXiv 2009.10071: columns beyond the rows follow from R alone."""
    q, r = wrap(outs[0]), wrap(outs[1])
    gq, gr = _given(gs[0], q), _given(gs[1], r)
    k = q.shape[-1]
    if r.shape[-1] == k:
        return [_square_r(gq, gr, q, r)._n]
    beyond = gr[..., k:]
    gq = gq + wrap(n.inputs[0])[..., k:] @ _turned(beyond)
    return [concatenate([_square_r(gq, gr[..., :k], q, r[..., :k]), q @ beyond], -1)._n]


def _square_r(gq: array, gr: array, q: array, r: array) -> array:
    m = r @ _turned(gr) - _turned(gq) @ q
    inner = gq + q @ (tril(m) + _turned(tril(m, -1)))
    return _turned(linalg.solve_triangular(r, _turned(inner), upper=True))


@several(_opaque("lu", lapack.lu, True))
def _lu(gs: Cotangents, n: Node, outs: Sequence[Node]) -> list[Node | None]:
    low, high = wrap(outs[1]), wrap(outs[2])
    return [_factors(_given(gs[1], low), _given(gs[2], high), outs[0], low, high)]


@several(_opaque("lu_factor", lapack.lu_factor, True))
def _lu_factor(gs: Cotangents, n: Node, outs: Sequence[Node]) -> list[Node | None]:
    if gs[0] is None:
        return [None]
    order, low, high = linalg.lu(wrap(n.inputs[0]))
    g, k = wrap(gs[0]), low.shape[-1]
    return [_factors(tril(g[..., :k], -1), triu(g[..., :k, :]), order._n, low, high)]


def _factors(gl: array, gu: array, order: Node, low: array, high: array) -> Node:
    """Cotangent of a = L[P] U from those of L and U.

    L^-1 dA U^-1 is L^-1 dL below the diagonal and dU U^-1 above it, of the leading square parts;
    the rows or columns beyond follow from the other factor.
    """
    rows, k, columns = low.shape[-2], low.shape[-1], high.shape[-1]
    square_l, square_u = low[..., :k, :], high[..., :k]
    inner_l, inner_u = _turned(square_l) @ gl[..., :k, :], gu[..., :k] @ _turned(square_u)
    if columns > k:
        inner_l = inner_l - gu[..., k:] @ _turned(high[..., k:])
    if rows > k:
        inner_u = inner_u - _turned(low[..., k:, :]) @ gl[..., k:, :]
    inner = tril(inner_l, -1) + triu(inner_u)
    if rows > k:
        left = linalg.solve_triangular(_turned(square_l), inner, upper=True)
        left = concatenate([left, gl[..., k:, :]], -2)
        out = _turned(linalg.solve_triangular(square_u, _turned(left), upper=True))
    else:
        right = _turned(linalg.solve_triangular(square_u, _turned(inner), upper=True))
        if columns > k:
            right = concatenate([right, gu[..., k:]], -1)
        out = linalg.solve_triangular(_turned(square_l), right, upper=True)
    # Row i of a is row P[i] of the product.
    rank = len(out.shape)
    index = prims.reshape(order, (*order.shape, 1))
    return prims.gather(out._n, [index], (*range(rank - 2), -1, rank - 1), out.shape)
