"""A call or more of every operation on arrays that is no elementwise function of the registry.

`name: call; call` a line, `(...)` standing for `mx.name(...)`; indented lines go on. The names in
the calls are the arrays of `arrays`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import eutectic.core as mx

TEXT = """
divmod: (p, b * b + 1)[1]
positive: (a)
stop_gradient: (a)
round: (a)
allclose: (a, b)
array_equal: (a, b)
isclose: (a, b)
clip: (a, -0.5, 0.5); (a, b, p); (a, None, 0.5); (0.1, a, p)
nan_to_num: (a)
where: (m, a, b); (a > 0, a * a, b)
full: ((2, 4), v)
full_like: (a, v)
meshgrid: (v, w); (v, w, sparse=True, indexing='ij')
diag: (v); (k, 1)
diagonal: (a, 1); (t, 0, 1, 2)
trace: (a); (t, 1, 1, 2)
tril: (a, 1); (t)
triu: (a, -1)
asarray: (a)
atleast_1d: (a)
atleast_2d: (v)
atleast_3d: (a)
broadcast_arrays: (a, v)
broadcast_to: (v, (2, 4))
concat: ([a, b], 1)
concatenate: ([a, b]); ([a, t[0]], None)
contiguous: (a.T)
expand_dims: (a, (0, 2))
flatten: (t, 1)
flip: (a, 1); (t)
matrix_transpose: (t)
moveaxis: (t, 0, 2)
pad: (a, ((1, 0), (2, 1))); (v, 2, 'edge'); (a, 1, constant_values=v[0])
permute_dims: (t, (2, 0, 1))
repeat: (a, 2, 1)
reshape: (t, (4, 6))
roll: (a, 1, 0); (t, (1, 2), (0, 2))
split: (a, 2, 1)
squeeze: (a[None, :, None], (0, 2))
stack: ([a, b], 1)
swapaxes: (t, 0, 2)
tile: (a, (2, 1, 2))
transpose: (t)
unflatten: (a, 1, (2, 2))
unstack: (t, axis=1)
as_strided: (a, (3, 3), (1, 2), 1)
put_along_axis: (a, j[:, :2], b[:, :2], 1); (a, i[:, None], v[0], 1)
slice: (a, mx.array([1]), (1,), (3, 2))
slice_update: (a, b[:, :2], mx.array([1]), (1,))
take: (a, i, 0); (a, j, 1); (v, i)
take_along_axis: (a, j, 0)
all: (a)
any: (a, 0)
argmax: (a, 1)
argmin: (a)
count_nonzero: (a)
logsumexp: (a); (t, (0, 2))
max: (a); (a, 1, keepdims=True); (t, (0, 2))
mean: (a, 0)
min: (a, 0)
minmax: (a, 0)
prod: (a, 1); (t, (0, 2)); (a * 0)
softmax: (a, 0); (a, (0, 1))
std: (a, 1); (t, (0, 2), ddof=1)
sum: (a, 0); (t, (0, 2))
var: (a); (a, 1, ddof=1)
cummax: (a, 1); (a, 0, reverse=True)
cummin: (a, 1)
cumprod: (a, 1); (a, 0, reverse=True); (a, 1, inclusive=False)
cumsum: (a, 1, reverse=True, inclusive=False); (t, 1)
diff: (a, 2, 1)
logcumsumexp: (a, 1); (a, 0, reverse=True)
argpartition: (a, 1)
argsort: (a, 0)
median: (a); (t, (0, 2)); (a, 1, keepdims=True)
partition: (a, 1, 0)
searchsorted: (mx.sort(v), a); (mx.sort(v), w)
sort: (a); (t, 1); (a, None)
topk: (a, 2, 0)
unique: (a, 12)[:3]; (a, 14, return_counts=True, fill_value=v[0])
block_masked_mm: (a, b.T, 2, None, m[:2, :2]); (a, b.T, 2, mask_out=k[:2, :2])
gather_mm: (t, t.swapaxes(1, 2), mx.array([0, 1]), mx.array([1, 1]))
hadamard_transform: (a)
segmented_mm: (a, b.T, mx.array([[0, 2], [1, -1], [3, 3]]))
conv1d: (t, w3); (t, w3, 2, 1, 2)
conv2d: (x, w4, (1, 2), 1); (x, w4[:, :, :, :1], 1, 1, 1, 2)
conv3d: (x[:, None], w4[:, None])
conv_general: (x, w4, 1, ([1, 0], [0, 1]), 1, 2, 1, True)
conv_transpose1d: (t, w3, 2, 1, 1, 1)
conv_transpose2d: (x, w4, 2, 1)
conv_transpose3d: (x[:, None], w4[:, None])
convolve: (v, w[:3]); (v, w, 'same')
addmm: (k, a, b.T, 0.5, 2.0)
einsum: ('ij,kj,lik->l', a, b, t[:, :, :3])
inner: (a, b)
kron: (a, r)
matmul: (a, b.T); (t, v); (t, t.swapaxes(1, 2))
outer: (v, w)
tensordot: (t, a, [[1, 2], [0, 1]])
vecdot: (a, b)
matrix_norm: (a); (k, 'nuc'); (k, 1); (k, -2); (a, ord=3, axis=1)
depends: (a, b)
linalg.cholesky: (k @ k.T); (k @ k.T, True)
linalg.cholesky_inv: (k); (k, True)
linalg.cross: (k, r[:, 0])
linalg.det: (k); (t[:, :, :3])
linalg.eigh: (k + k.T); (t[:, :, :3] + t[:, :, :3].swapaxes(1, 2), 'U')
linalg.eigvalsh: (k + k.T)
linalg.inv: (k)
linalg.lu: (k)[1:]; (a)[1:]; (t.swapaxes(1, 2))[1:]
linalg.lu_factor: (a)[:1]; (t.swapaxes(1, 2))[:1]
linalg.norm: (a, axis=0); (t, 'fro', (1, 2))
linalg.pinv: (a); (a.T)
linalg.qr: (k); (a); (t.swapaxes(1, 2))
linalg.slogdet: (k)[1]; (t[:, :, :3])[1]
linalg.solve: (k, r); (k, v[:3])
linalg.solve_triangular: (k, r); (k, r, upper=True)
linalg.svd: (a, False); mx.linalg.svd(a)[0] @ mx.linalg.svd(a)[2][:3]; (t, False);
    mx.linalg.svd(t.swapaxes(1, 2))[0][..., :3] @ mx.linalg.svd(t.swapaxes(1, 2))[2]
linalg.tri_inv: (k); (k, True)
fast.layer_norm: (a, v, w, 1e-5); (a, None, None, 1e-5)
fast.rms_norm: (a, v, 1e-5); (a, None, 1e-5)
fast.scaled_dot_product_attention: (t[None], t[None], 2 * t[None], scale=0.5);
    (t[:, None], t[:, None], t[:, None], scale=0.5, mask='causal')
"""

SINGLE = """
fft.fft: (a); (a, 5, 0, 'ortho')
fft.fft2: (a)
fft.fftn: (t, (2, 5), (0, 2))
fft.fftshift: (a)
fft.ifft: (a, 3)
fft.ifft2: (a)
fft.ifftn: (t)
fft.ifftshift: (a)
fft.irfft: (a); (a, 5)
fft.irfft2: (a)
fft.irfftn: (t, (5, 4), (1, 0))
fft.rfft: (a); (a, 5)
fft.rfft2: (a)
fft.rfftn: (t)
fft.istft: mx.fft.istft(mx.fft.stft(a, 4))
fft.stft: (a, 4)
fast.rope: (t, 4, traditional=False, base=100.0, scale=1.0, offset=1)
fast.cross_entropy: (a, mx.array([0, 3, 1]))
fast.scaled_dot_product_attention: (t[None], t[None], t[None], scale=0.5, mask=k);
    (t[None], t[None], 2 * t[None], scale=1.0, sinks=v[:2], mask='causal')
linalg.eig: mx.abs(mx.linalg.eig(k)[0]); mx.abs(mx.linalg.eig(k)[1])
linalg.eigvals: mx.abs(mx.linalg.eigvals(k))
astype: (a, mx.float32)
"""
"""In single precision, whatever comes in."""

RANDOM = """
random.bernoulli: (u, key=key)
random.categorical: (a, key=key); (v, shape=(5,), key=key)
random.laplace: (a.shape, mx.float32, u, 0.5, key)
random.multivariate_normal: (v[:3], k @ k.T, (2,), key=key)
random.normal: (a.shape, mx.float32, a, u, key)
random.permutation: (a, 1, key)
random.truncated_normal: (a, a + 1, key=key)
random.uniform: (u, u + p, a.shape, key=key)
"""
"""Draws from one key, in single precision."""

NOT_OF_ARRAYS: dict[str, str] = {
    **dict.fromkeys(("issubdtype", "can_cast", "isdtype", "result_type"), "of dtypes"),
    **dict.fromkeys(("arange", "linspace", "empty", "empty_like", "eye", "identity", "ones",
                     "ones_like", "tri", "zeros", "zeros_like", "bartlett", "blackman", "hamming",
                     "hanning", "fft.fftfreq", "fft.rfftfreq"), "made of numbers and shapes"),
    **dict.fromkeys(("random.gumbel", "random.key", "random.randint", "random.seed",
                     "random.split"), "of keys and numbers"),
    **dict.fromkeys(("broadcast_shapes", "einsum_path"), "of shapes"),
    "from_dlpack": "of other libraries' arrays",
    "view": "bits as another type, which has no derivative",
    **dict.fromkeys((
        "async_eval", "clear_cache", "clear_streams", "default_device", "default_stream",
        "device_count", "device_info", "eval", "get_active_memory", "get_array_buffer_size",
        "get_cache_memory", "get_memory_limit", "get_peak_memory", "is_available", "new_stream",
        "new_thread_local_stream", "new_thread_unsafe_stream", "reset_peak_memory",
        "set_cache_limit", "set_default_device", "set_default_stream", "set_memory_limit",
        "set_wired_limit", "stream", "synchronize", "get_printoptions", "set_printoptions"),
        "of the library's state")}


def table(text: str) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for line in re.sub(r"\n +", " ", text).strip().splitlines():
        name, _, calls = line.partition(": ")
        out[name] = [f"mx.{name}{c}" if c.startswith("(") else c
                     for c in map(str.strip, calls.split("; "))]
    return out


def arrays(dtype: Any) -> dict[str, mx.array]:
    """The arrays of the calls: a, b, t, v, w, r of normal numbers, p > 0, |u| < 1, k well away
    from singular, x, w3, w4 of convolutions, m booleans, i, j positions, key."""
    rng = np.random.default_rng(5)
    real = {name: rng.standard_normal(shape) for name, shape in {
        "a": (3, 4), "b": (3, 4), "t": (2, 3, 4), "v": (4,), "w": (4,), "r": (3, 2),
        "x": (2, 3, 4, 2), "w3": (3, 2, 4), "w4": (2, 2, 2, 2)}.items()}
    real["p"] = rng.uniform(0.6, 2, (3, 4))
    real["u"] = rng.uniform(0.1, 0.8, (3, 4))
    real["k"] = 2 * np.eye(3) + 0.4 * rng.standard_normal((3, 3))
    return {name: mx.array(v, mx.float64).astype(dtype) for name, v in real.items()} | {
        "m": mx.array(rng.random((3, 4)) > 0.4), "i": mx.array([2, 0, 2]),
        "j": mx.array(rng.integers(0, 3, (3, 4))), "key": mx.random.key(3)}


def names_in(call: str, given: dict[str, mx.array]) -> list[str]:
    """The floating arrays that a call takes."""
    found = dict.fromkeys(re.findall(r"(?<![\w.'])([a-z]\w*)\b(?!\()", call))
    return [n for n in found if n in given and given[n].dtype in (mx.float32, mx.float64)]
