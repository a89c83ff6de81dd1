"""The facade of linear algebra, `mx.linalg`: explicit re-exports only."""

from eutectic.ops.linalg import (
    cholesky, cholesky_inv, cross, det, eig, eigh, eigvals, eigvalsh, inv, lu, lu_factor, pinv, qr,
    slogdet, solve, solve_triangular, svd, tri_inv)
from eutectic.ops.norm import norm

__all__ = [
    "cholesky", "cholesky_inv", "cross", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lu",
    "lu_factor", "norm", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd", "tri_inv",
]
