"""Calls that together use every operation that files hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import eutectic.core as mx
from eutectic.ops.registry import OPS

Sample = tuple[Callable[..., Any], tuple[Any, ...]]

_rng = np.random.default_rng(0)


def floats(*shape: int, dtype: Any = mx.float32) -> mx.array:
    return mx.array(_rng.standard_normal(shape).astype(np.float32)).astype(dtype)


def spd(n: int, stack: tuple[int, ...] = ()) -> mx.array:
    """Symmetric positive definite matrices."""
    a = _rng.standard_normal((*stack, n, n)).astype(np.float32)
    return mx.array(a @ np.swapaxes(a, -2, -1) + n * np.eye(n, dtype=np.float32))


def elementwise(name: str, dtype: Any) -> Sample:
    """An operation of the registry on samples of its domain, shapes that broadcast."""
    op = OPS[name]
    low, high = op.domain
    shapes = [(2, 3), (3,), (2, 1)][:op.arity]
    args = []
    for shape in shapes:
        x = _rng.uniform(low, high, shape)
        if dtype.is_int and not dtype.is_signed:
            x = np.abs(x)
        args.append(mx.array(x.astype(np.float32)).astype(dtype))
    return op.api, tuple(args)


x23, x45, v6 = floats(2, 3), floats(4, 5), floats(6)
i6 = mx.array([3, 1, 4, 1, 5, 9])
W5 = floats(5, 5)
key = mx.random.key(3)
m4, s4 = spd(4), spd(4, (2,))
heads = floats(1, 2, 5, 4)

STRUCTURAL: dict[str, Sample] = {
    "astype": (lambda x: (x.astype(mx.int32), mx.array([1.5]).astype(mx.float16) * x.astype(
        mx.float16)), (x23,)),
    "copy": (mx.contiguous, (x23,)),
    "round": (lambda x: mx.round(x, 1), (x23,)),
    "stop_gradient": (mx.stop_gradient, (x23,)),
    "views": (lambda x: (x.T, x[::-1, 1:], x.reshape(3, 2), mx.broadcast_to(x, (4, 2, 3))), (x23,)),
    "concatenate": (lambda x: mx.concatenate([x, x * 2], axis=1), (x23,)),
    "pad": (lambda x: mx.pad(x, ((1, 0), (0, 2)), constant_values=7), (x23,)),
    "indexing": (lambda x, i: (x[i % 4], mx.take(x, mx.array([1, -1]), axis=1)), (x45, i6)),
    "scatter": (lambda x, i: (x.at[i % 4].add(1.0), x.at[i % 4].multiply(2.0), x.at[0].divide(3.0),
                              x.at[i % 4].maximum(0.0), x.at[i % 4].minimum(0.0),
                              mx.put_along_axis(x, mx.array([[1]]), 3.0, axis=1)), (x45, i6)),
    "window": (lambda x, s: mx.slice(x, s, [0], (2, 5)), (x45, mx.array([1]))),
    "window update": (lambda x, s: mx.slice_update(x, mx.zeros((2, 5)), s, [0]),
                      (x45, mx.array([1]))),
    "creation": (lambda x: (x + mx.arange(6), x * mx.linspace(0, 1, 6), mx.tri(6) * x,
                            mx.eye(6) @ x.reshape(6, 1), mx.arange(0.5, 3.5, 0.5) + x), (v6,)),
    "choices": (lambda x: (mx.where(x > 0, x, -x), mx.clip(x, -0.5, 0.5), mx.nan_to_num(x),
                           mx.isclose(x, x + 1e-9), mx.array_equal(x, x, equal_nan=True)), (x23,)),
    "bits": (lambda x: (x.view(mx.int32), x.view(mx.uint8), x.view(mx.uint8).view(mx.float32)),
             (x23,)),
    "complex": (lambda x: (mx.fft.fft(x), mx.random.normal((3,), mx.complex64, key=key)), (v6,)),
    "reductions": (lambda x: (x.sum(0), x.prod(1), x.max(), x.min(0), (x > 0).all(0),
                              (x > 0).any(1), x.argmax(1), x.argmin()), (x45,)),
    "moments": (lambda x: (x.mean(0), x.var(1, ddof=1), x.std(), mx.softmax(x, -1),
                           mx.logsumexp(x, 0), mx.count_nonzero(x)), (x45,)),
    "scans": (lambda x: (mx.cumsum(x, 1), mx.cumprod(x, 0, reverse=True), mx.cummax(x, 1),
                         mx.cummin(x, 0, inclusive=False), mx.logcumsumexp(x, 1)), (x45,)),
    "matmul": (lambda x: (x @ x.T, x[None] @ x.T), (x45,)),
    "half": (lambda x: x.astype(mx.bfloat16) @ x.astype(mx.bfloat16).T, (x45,)),
    "random": (lambda k: (mx.random.uniform(shape=(7,), key=k), mx.random.normal((2, 3), key=k),
                          mx.random.split(k), mx.random.randint(0, 9, (4,), key=k),
                          mx.random.uniform(1, 2, (3,), key=k),
                          mx.random.normal((3,), loc=1, scale=2, key=k),
                          mx.random.permutation(8, key=k),
                          mx.random.categorical(mx.zeros((2, 5)), key=k),
                          mx.random.categorical(mx.zeros(3000), num_samples=4000, key=k),
                          mx.random.multivariate_normal(mx.zeros(2), mx.eye(2), key=k)), (key,)),
    "norms": (lambda x, w: (mx.fast.rms_norm(x, w, 1e-5), mx.fast.layer_norm(x, w, None, 1e-5),
                            mx.fast.layer_norm(x, w, w, 1e-5)), (x45, floats(5))),
    "rope": (lambda x, f: (
        mx.fast.rope(x, 4, traditional=True, base=1e4, scale=1.0, offset=2),
        mx.fast.rope(x, 4, traditional=False, base=None, scale=1.0, offset=0, freqs=f)),
        (heads, mx.array([1.0, 10.0]))),
    "rope turned back": (lambda x: mx.grad(lambda a: (mx.fast.rope(
        a, 4, traditional=False, base=10.0, scale=1.0, offset=2) ** 2).sum())(x), (heads,)),
    "cross_entropy": (lambda x: mx.fast.cross_entropy(x, mx.array([0, 1, 4, 2])), (x45,)),
    "attention": (lambda q: (
        mx.fast.scaled_dot_product_attention(q, q, q, scale=0.5),
        mx.fast.scaled_dot_product_attention(q, q, q, scale=0.5, mask="causal"),
        mx.fast.scaled_dot_product_attention(q, q, q, scale=0.5, mask=mx.tri(5) > 0),
        mx.fast.scaled_dot_product_attention(q, q, q, scale=0.5, mask=mx.tri(5) * 2,
                                             sinks=mx.zeros(2))), (heads,)),
    "convolution": (lambda x, w: (mx.conv1d(x, w, padding=1), mx.conv1d(x, w, stride=2),
                                  mx.conv_transpose1d(x, w, stride=2)),
                    (floats(2, 9, 3), floats(4, 3, 3))),
    "convolution 2d": (lambda x, w: mx.conv2d(x, w, padding=1, groups=2),
                       (floats(1, 5, 6, 4), floats(2, 3, 3, 2))),
    "convolve": (lambda x: mx.convolve(x, mx.array([1.0, 2.0, 3.0])), (v6,)),
    "sorting": (lambda x: (mx.sort(x, 1), mx.argsort(x, 0), mx.partition(x, 2),
                           mx.argpartition(x, 1), mx.topk(x, 2), mx.median(x, axis=1)), (x45,)),
    "searchsorted": (lambda x: mx.searchsorted(mx.sort(x), x), (v6,)),
    "unique": (lambda i: (mx.unique(i, 6), *mx.unique(
        i, 4, return_index=True, return_inverse=True, return_counts=True)), (i6,)),
    "segmented": (lambda a: mx.segmented_mm(a, a.T, mx.array([[0, 2], [1, 5]])), (x45,)),
    "transforms": (lambda x, z: (
        mx.fft.fft(x), mx.fft.ifft(z), mx.fft.rfft(x), mx.fft.irfft(z), mx.fft.fftn(x),
        mx.fft.ifftn(z), mx.fft.rfftn(x), mx.fft.irfftn(z), mx.fft.fft2(x), mx.fft.ifft2(z),
        mx.fft.rfft2(x), mx.fft.irfft2(z)), (x45, x45.astype(mx.complex64))),
    "stft": (lambda x: mx.fft.istft(mx.fft.stft(x, 16), 16), (floats(64),)),
    "det's gradient": (mx.grad(mx.linalg.det), (m4,)),
    "qr": (mx.linalg.qr, (m4,)), "svd": (mx.linalg.svd, (m4,)),
    "svd values": (lambda a: mx.linalg.svd(a, compute_uv=False), (s4,)),
    "norm": (lambda a: mx.linalg.norm(a, "nuc"), (m4,)),
    "inverses": (lambda a: (mx.linalg.inv(a), mx.linalg.pinv(a), mx.linalg.tri_inv(a),
                            mx.linalg.cholesky_inv(mx.linalg.cholesky(a))), (m4,)),
    "cholesky": (lambda a: mx.linalg.cholesky(a, upper=True), (s4,)),
    "eigh": (mx.linalg.eigh, (m4,)), "eigvalsh": (mx.linalg.eigvalsh, (s4,)),
    "eig": (mx.linalg.eig, (m4,)), "eigvals": (mx.linalg.eigvals, (m4,)),
    "lu": (mx.linalg.lu, (m4,)), "lu_factor": (mx.linalg.lu_factor, (m4,)),
    "solve": (lambda a: (mx.linalg.solve(a, a), mx.linalg.solve_triangular(a, a)), (m4,)),
    "det": (lambda a: (mx.linalg.det(a), *mx.linalg.slogdet(a)), (m4,)),
    "scan": (lambda x: mx.scan(lambda c, v: (mx.tanh(c + v @ W5), c * 2), mx.zeros(5), x), (x45,)),
    "scan of numbers": (lambda x: (mx.scan(lambda c, _: (c * 2 + 1, c), x, length=3)[1],), (v6,)),
    "while_loop": (lambda x: mx.while_loop(lambda s: s.sum() < 50, lambda s: s * 2 + 1, abs(x)),
                   (v6,)),
    "cond": (lambda x: mx.cond(x.sum() > 0, mx.exp, lambda v: -v, x), (v6,)),
    "nested loops": (lambda x: mx.scan(lambda c, v: (mx.cond(
        v > 0, lambda a: mx.while_loop(lambda s: s < 9, lambda s: s + 2.5, a), mx.sin, c), v),
        mx.array(0.5), x), (v6,)),
    "gradient of a loop": (lambda x: mx.grad(lambda y: mx.scan(
        lambda c, v: (mx.sin(c) * v, c), mx.array(1.0), y)[0])(x), (v6,)),
    "gradient": (lambda x: mx.grad(lambda y: (mx.tanh(y) @ mx.sigmoid(y).T).sum())(x), (x45,)),
    "vmap": (lambda x: mx.vmap(lambda v: mx.softmax(v) * v.sum())(x), (x45,)),
}
