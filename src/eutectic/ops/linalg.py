"""Linear algebra: decompositions, inverses and solutions of stacks of matrices.

NumPy and LAPACK compute them, as operations that take part in no fusion; see `ops.lapack`. A
matrix with an inf or nan gives nan; one that has no result raises LinalgError when it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eutectic.array import array, wrap
from eutectic.dtype import Dtype, complex64, float32, float64, promote, uint32
from eutectic.errors import ArgumentError, DtypeError, ShapeError, show_shape
from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops import lapack
from eutectic.ops.checks import apply, axis_of
from eutectic.ops.devices import streamed
from eutectic.ops.joining import slice_axis
from eutectic.ops.registry import broadcast_shape, node_of

REAL = (float32, float64)
ANY = (float32, float64, complex64)

Shape = tuple[int, ...]


def _matrices(name: str, a: Any, dtypes: Sequence[Dtype], square: bool = True) -> Node:
    n = node_of(a, f"linalg::{name}")
    if n.dtype not in dtypes:
        *first, last = [d.name for d in dtypes]
        raise DtypeError(f"[linalg::{name}] does not take {n.dtype.name}; give {', '.join(first)} "
                         f"or {last}.")
    _check_shape(name, n, square)
    return n


def _check_shape(name: str, n: Node, square: bool) -> None:
    if len(n.shape) < 2:
        raise ShapeError(f"[linalg::{name}] needs matrices, at least 2 axes, got shape "
                         f"{show_shape(n.shape)}.")
    if square and n.shape[-2] != n.shape[-1]:
        raise ShapeError(f"[linalg::{name}] needs square matrices, got shape "
                         f"{show_shape(n.shape)}.")


def _made(name: str, call: Callable[..., Any], inputs: Sequence[Node], attrs: tuple[Any, ...],
          *outs: tuple[Shape, Dtype]) -> list[Node]:
    """Results of a decomposition; of no matrices there is nothing to compute."""
    if 0 in inputs[0].shape[:-2] or all(0 in shape for shape, _ in outs):
        return [prims.broadcast(prims.const(0, d), shape) for shape, d in outs]
    return prims.opaque(name, call, inputs, attrs, outs)


def _wrapped(nodes: list[Node]) -> tuple[array, ...]:
    return tuple([wrap(n) for n in nodes])


@streamed
def qr(a: array, *, stream: Any = None) -> tuple[array, array]:
    """Orthonormal Q and upper triangular R with a = Q R, of shapes (..., m, k) and (..., k, n).

    float32 or float64 of shape (..., m, n); k = min(m, n).

    >>> import eutectic.core as mx
    >>> q, r = mx.linalg.qr(mx.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> mx.allclose(q @ r, mx.array([[3.0, 1.0], [4.0, 2.0]])).item()
    True
    """
    n = _matrices("qr", a, REAL, square=False)
    *stack, rows, columns = n.shape
    k = min(rows, columns)
    q, r = _made("qr", lapack.qr, (n,), (), ((*stack, rows, k), n.dtype),
                 ((*stack, k, columns), n.dtype))
    return wrap(q), wrap(r)


@streamed
def svd(a: array, compute_uv: bool = True, *, stream: Any = None) -> Any:
    """Singular value decomposition a = U[:, :k] diag(S) Vt[:k]: (U, S, Vt), or S alone.

    float32, float64 or complex64 of shape (..., m, n). U is (..., m, m) and Vt (..., n, n), both
    unitary; S is (..., k), real and decreasing, k = min(m, n).

    >>> import eutectic.core as mx
    >>> mx.linalg.svd(mx.array([[3.0, 0.0], [0.0, -4.0]]), compute_uv=False)
    array([4, 3], dtype=float32)
    """
    n = _matrices("svd", a, ANY, square=False)
    *stack, rows, columns = n.shape
    real = float32 if n.dtype.is_complex else n.dtype
    values: tuple[Shape, Dtype] = ((*stack, min(rows, columns)), real)
    if not compute_uv:
        return wrap(_made("svd", lapack.singular_values, (n,), (), values)[0])
    return _wrapped(_made("svd", lapack.svd, (n,), (), ((*stack, rows, rows), n.dtype), values,
                          ((*stack, columns, columns), n.dtype)))


@streamed
def inv(a: array, *, stream: Any = None) -> array:
    """Inverse of square matrices, float32 or float64 of shape (..., n, n).

    Raises LinalgError, when computed, for a singular matrix.

    >>> import eutectic.core as mx
    >>> mx.linalg.inv(mx.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5, 0],
           [0, 0.25]], dtype=float32)
    """
    n = _matrices("inv", a, REAL)
    return wrap(_made("inv", lapack.inv, (n,), (), (n.shape, n.dtype))[0])


def _triangular_inverse(name: str, n: Node, upper: Any) -> Node:
    return _made(name, lapack.tri_inv, (n,), (bool(upper), name), (n.shape, n.dtype))[0]


@streamed
def tri_inv(a: array, upper: bool = False, *, stream: Any = None) -> array:
    """Inverse of triangular matrices, float32 or float64 of shape (..., n, n).

    The other triangle is not read. Raises LinalgError, when computed, for a zero on the diagonal.

    >>> import eutectic.core as mx
    >>> mx.linalg.tri_inv(mx.array([[1.0, 0.0], [2.0, 4.0]]))
    array([[1, 0],
           [-0.5, 0.25]], dtype=float32)
    """
    return wrap(_triangular_inverse("tri_inv", _matrices("tri_inv", a, REAL), upper))


@streamed
def cholesky(a: array, upper: bool = False, *, stream: Any = None) -> array:
    """Lower triangular L with a = L L^T, or upper triangular U with a = U^T U.

    float32 or float64 of shape (..., n, n), symmetric: only the triangle of the result is read.
    Raises LinalgError, when computed, for a matrix that is not positive definite.

    >>> import eutectic.core as mx
    >>> mx.linalg.cholesky(mx.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2, 0],
           [1, 2]], dtype=float32)
    """
    n = _matrices("cholesky", a, REAL)
    return wrap(_made("cholesky", lapack.cholesky, (n,), (bool(upper),), (n.shape, n.dtype))[0])


@streamed
def cholesky_inv(a: array, upper: bool = False, *, stream: Any = None) -> array:
    """Inverse of the matrix whose Cholesky factor is given: (L L^T)^-1 or (U^T U)^-1.

    float32 or float64 of shape (..., n, n). Raises LinalgError, when computed, for a zero on the
    diagonal.

    >>> import eutectic.core as mx
    >>> mx.linalg.cholesky_inv(mx.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.25, 0],
           [0, 0.0625]], dtype=float32)
    """
    n = _matrices("cholesky_inv", a, REAL)
    x = _triangular_inverse("cholesky_inv", n, upper)
    if 0 in n.shape:
        return wrap(x)
    rank = len(n.shape)
    turned = prims.transpose(x, (*range(rank - 2), rank - 1, rank - 2))
    return wrap(prims.matmul(x, turned) if upper else prims.matmul(turned, x))


@streamed
def pinv(a: array, *, stream: Any = None) -> array:
    """Pseudo-inverse of matrices, float32 or float64 of shape (..., m, n): shape (..., n, m).

    Singular values below max(m, n) * eps times the greatest count as 0.

    >>> import eutectic.core as mx
    >>> mx.linalg.pinv(mx.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0],
           [0, 0]], dtype=float32)
    """
    n = _matrices("pinv", a, REAL, square=False)
    *stack, rows, columns = n.shape
    return wrap(_made("pinv", lapack.pinv, (n,), (), ((*stack, columns, rows), n.dtype))[0])


@streamed
def cross(a: array, b: array, axis: int = -1, *, stream: Any = None) -> array:
    """Cross product of vectors along an axis of length 2 or 3; the other axes broadcast.

    Any dtype, promoted together. A third component that is missing counts as 0; the result has
    three. Raises ShapeError for other lengths, AxisError for an axis out of range.

    >>> import eutectic.core as mx
    >>> mx.linalg.cross(mx.array([1, 0, 0]), mx.array([0, 1, 0]))
    array([0, 0, 1], dtype=int32)
    """
    x, y = node_of(a, "linalg::cross"), node_of(b, "linalg::cross")
    d = promote(x.dtype, y.dtype)
    parts = [_components(prims.cast(n, d), axis) for n in (x, y)]
    (x0, x1, x2), (y0, y1, y2) = parts
    shape = broadcast_shape("linalg::cross", x0.shape, y0.shape)

    def minor(p: Node, q: Node, r: Node, s: Node) -> Node:
        return prims.broadcast(apply("subtract", apply("multiply", p, q), apply("multiply", r, s)),
                               shape)

    made = [minor(x1, y2, x2, y1), minor(x2, y0, x0, y2), minor(x0, y1, x1, y0)]
    rank = max(len(x.shape), len(y.shape))
    i = axis_of("linalg::cross", axis, (1,) * rank)
    wide = [prims.reshape(n, (*shape[:i], 1, *shape[i:])) for n in made]
    return wrap(prims.concatenate(wide, i))


def _components(n: Node, axis: Any) -> list[Node]:
    i = axis_of("linalg::cross", axis, n.shape)
    length = n.shape[i]
    if length not in (2, 3):
        raise ShapeError(f"[linalg::cross] axis {i} of shape {show_shape(n.shape)} must have "
                         "length 2 or 3.")
    shape = (*n.shape[:i], *n.shape[i + 1:])
    parts = [prims.reshape(slice_axis(n, i, k, k + 1), shape) for k in range(length)]
    return [*parts, *[prims.broadcast(prims.const(0, n.dtype), shape)] * (3 - length)]


def _uplo(name: str, uplo: Any) -> str:
    if uplo not in ("L", "U", "l", "u"):
        raise ArgumentError(f"[linalg::{name}] UPLO must be 'L' or 'U', not {uplo!r}.")
    return uplo.upper()


@streamed
def eigh(a: array, UPLO: str = "L", *, stream: Any = None) -> tuple[array, array]:
    """Eigenvalues, increasing, and eigenvectors, as columns, of symmetric or Hermitian matrices.

    float32, float64 or complex64 of shape (..., n, n), of which one triangle is read: the lower
    for UPLO "L", the upper for "U". Eigenvalues are real. Raises ArgumentError for another UPLO.

    >>> import eutectic.core as mx
    >>> values, vectors = mx.linalg.eigh(mx.array([[2.0, 0.0], [0.0, 1.0]]))
    >>> values
    array([1, 2], dtype=float32)
    """
    n = _matrices("eigh", a, ANY)
    real = float32 if n.dtype.is_complex else n.dtype
    w, v = _made("eigh", lapack.eigh, (n,), (_uplo("eigh", UPLO),), (n.shape[:-1], real),
                 (n.shape, n.dtype))
    return wrap(w), wrap(v)


@streamed
def eigvalsh(a: array, UPLO: str = "L", *, stream: Any = None) -> array:
    """Eigenvalues, increasing, of symmetric or Hermitian matrices. See `eigh`.

    >>> import eutectic.core as mx
    >>> mx.linalg.eigvalsh(mx.array([[2.0, 1.0], [1.0, 2.0]]))
    array([1, 3], dtype=float32)
    """
    n = _matrices("eigvalsh", a, ANY)
    real = float32 if n.dtype.is_complex else n.dtype
    return wrap(_made("eigvalsh", lapack.eigvalsh, (n,), (_uplo("eigvalsh", UPLO),),
                      (n.shape[:-1], real))[0])


@streamed
def eig(a: array, *, stream: Any = None) -> tuple[array, array]:
    """Eigenvalues and eigenvectors, as columns, of square matrices, as complex64.

    float32, float64 or complex64 of shape (..., n, n). The order is LAPACK's.

    >>> import eutectic.core as mx
    >>> values, vectors = mx.linalg.eig(mx.array([[2.0, 0.0], [0.0, 1.0]]))
    >>> values
    array([2+0j, 1+0j], dtype=complex64)
    """
    n = _matrices("eig", a, ANY)
    w, v = _made("eig", lapack.eig, (n,), (), (n.shape[:-1], complex64), (n.shape, complex64))
    return wrap(w), wrap(v)


@streamed
def eigvals(a: array, *, stream: Any = None) -> array:
    """Eigenvalues of square matrices, as complex64. See `eig`.

    >>> import eutectic.core as mx
    >>> mx.linalg.eigvals(mx.array([[0.0, 1.0], [-1.0, 0.0]]))
    array([0+1j, 0-1j], dtype=complex64)
    """
    n = _matrices("eigvals", a, ANY)
    return wrap(_made("eigvals", lapack.eigvals, (n,), (), (n.shape[:-1], complex64))[0])


@streamed
def lu(a: array, *, stream: Any = None) -> tuple[array, array, array]:
    """Row numbers P (uint32), unit lower triangular L and upper triangular U with a = L[P] U.

    float32 or float64 of shape (..., m, n): P is (..., m), L (..., m, k), U (..., k, n),
    k = min(m, n).

    >>> import eutectic.core as mx
    >>> mx.linalg.lu(mx.array([[1.0, 2.0], [2.0, 2.0]]))[0]
    array([1, 0], dtype=uint32)
    """
    n = _matrices("lu", a, REAL, square=False)
    *stack, rows, columns = n.shape
    k = min(rows, columns)
    p, low, high = _made("lu", lapack.lu, (n,), (), ((*stack, rows), uint32),
                         ((*stack, rows, k), n.dtype), ((*stack, k, columns), n.dtype))
    return wrap(p), wrap(low), wrap(high)


@streamed
def lu_factor(a: array, *, stream: Any = None) -> tuple[array, array]:
    """L and U of `lu` in one matrix, and the pivots (uint32): row i was exchanged with pivot i.

    float32 or float64 of shape (..., m, n); the pivots are (..., min(m, n)).

    >>> import eutectic.core as mx
    >>> mx.linalg.lu_factor(mx.array([[1.0, 2.0], [2.0, 2.0]]))
    (array([[2, 2],
           [0.5, 1]], dtype=float32), array([1, 1], dtype=uint32))
    """
    n = _matrices("lu_factor", a, REAL, square=False)
    packed, pivots = _made("lu_factor", lapack.lu_factor, (n,), (), (n.shape, n.dtype),
                           ((*n.shape[:-2], min(n.shape[-2:])), uint32))
    return wrap(packed), wrap(pivots)


def _system(name: str, a: Any, b: Any) -> tuple[Node, Node, Shape]:
    """Both sides with broadcast stacks, and the shape of the solution."""
    x, y = node_of(a, f"linalg::{name}"), node_of(b, f"linalg::{name}")
    d = promote(x.dtype, y.dtype)
    if d not in REAL:
        raise DtypeError(f"[linalg::{name}] does not take {x.dtype.name} with {y.dtype.name}; give "
                         "float32 or float64.")
    _check_shape(name, x, True)
    if not y.shape:
        raise ShapeError(f"[linalg::{name}] the right side needs at least one axis.")
    vector = len(y.shape) == 1
    right = prims.cast(prims.reshape(y, (*y.shape, 1)) if vector else y, d)
    if x.shape[-1] != right.shape[-2]:
        raise ShapeError(f"[linalg::{name}] matrices of shape {show_shape(x.shape)} do not fit a "
                         f"right side of shape {show_shape(y.shape)}.")
    stack = broadcast_shape(f"linalg::{name}", x.shape[:-2], right.shape[:-2])
    left = prims.broadcast(prims.cast(x, d), (*stack, *x.shape[-2:]))
    right = prims.broadcast(right, (*stack, *right.shape[-2:]))
    return left, right, right.shape[:-1] if vector else right.shape


@streamed
def solve(a: array, b: array, *, stream: Any = None) -> array:
    """The x with a x = b, for square matrices a of shape (..., n, n).

    b is (n,) or (..., n, k), with stacks that broadcast; dtypes are promoted to float32 or
    float64. Raises LinalgError, when computed, for a singular matrix, ShapeError for shapes that
    do not fit.

    >>> import eutectic.core as mx
    >>> mx.linalg.solve(mx.array([[2.0, 0.0], [0.0, 4.0]]), mx.array([2.0, 2.0]))
    array([1, 0.5], dtype=float32)
    """
    x, y, shape = _system("solve", a, b)
    out = _made("solve", lapack.solve, (x, y), (), (y.shape, y.dtype))[0]
    return wrap(prims.reshape(out, shape))


@streamed
def solve_triangular(a: array, b: array, *, upper: bool = False, stream: Any = None) -> array:
    """The x with a x = b, for triangular matrices a; the other triangle is not read. See `solve`.

    Raises LinalgError, when computed, for a zero on the diagonal.

    >>> import eutectic.core as mx
    >>> mx.linalg.solve_triangular(mx.array([[2.0, 0.0], [1.0, 4.0]]), mx.array([2.0, 5.0]))
    array([1, 1], dtype=float32)
    """
    x, y, shape = _system("solve_triangular", a, b)
    out = _made("solve_triangular", lapack.solve_triangular, (x, y), (bool(upper),),
                (y.shape, y.dtype))[0]
    return wrap(prims.reshape(out, shape))


def _determinants(name: str, a: Any) -> tuple[Node, Dtype]:
    n = node_of(a, f"linalg::{name}")
    if n.dtype.is_complex:
        raise DtypeError(f"[linalg::{name}] does not take complex64; give real numbers.")
    _check_shape(name, n, True)
    d = n.dtype if n.dtype.is_float else float32
    return prims.cast(n, float32 if d.is_half else d), d


@streamed
def det(a: array, *, stream: Any = None) -> array:
    """Determinant of square matrices, of real numbers of shape (..., n, n).

    Integers and booleans give float32; computed in float64.

    >>> import eutectic.core as mx
    >>> mx.linalg.det(mx.array([[1, 2], [3, 4]]))
    array(-2, dtype=float32)
    """
    n, d = _determinants("det", a)
    if not n.shape[-1]:
        return wrap(prims.broadcast(prims.const(1, d), n.shape[:-2]))
    return wrap(prims.cast(_made("det", lapack.det, (n,), (), (n.shape[:-2], n.dtype))[0], d))


@streamed
def slogdet(a: array, *, stream: Any = None) -> tuple[array, array]:
    """Sign of the determinant of square matrices, and logarithm of its magnitude. See `det`.

    Of a singular matrix 0 and -inf.

    >>> import eutectic.core as mx
    >>> mx.linalg.slogdet(mx.array([[1.0, 2.0], [3.0, 4.0]]))
    (array(-1, dtype=float32), array(0.693147, dtype=float32))
    """
    n, d = _determinants("slogdet", a)
    if not n.shape[-1]:
        return (wrap(prims.broadcast(prims.const(1, d), n.shape[:-2])),
                wrap(prims.broadcast(prims.const(0, d), n.shape[:-2])))
    sign, log = _made("slogdet", lapack.slogdet, (n,), (), (n.shape[:-2], n.dtype),
                      (n.shape[:-2], n.dtype))
    return wrap(prims.cast(sign, d)), wrap(prims.cast(log, d))
