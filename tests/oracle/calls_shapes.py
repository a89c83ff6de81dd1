"""Calls that make, move, pick and join arrays."""

from __future__ import annotations

import re


def table(text: str) -> dict[str, list[str]]:
    """`name: call; call` a line, `(...)` standing for `mx.name(...)`; indented lines go on."""
    out: dict[str, list[str]] = {}
    for line in re.sub(r"\n +", " ", text).strip().splitlines():
        name, _, calls = line.strip().partition(": ")
        out.setdefault(name, []).extend(
            f"mx.{name}{call}" if call.startswith("(") else call
            for call in map(str.strip, calls.split("; ")))
    return out


CORE = table("""
arange: (5); (2, 7); (0, 1, 0.1); (5, 0, -2); (5.0); (3, dtype=mx.float16); (0); (1, 2, 0); (2, 9,
    3, mx.int8); (-3); (0, 1e3, 7.7); (0.5, 3); (start=1, stop=4)
array: (3); (2.5); (True); ([1, 2]); ([1, 2.5]); ([[1, 2], [3, 4]]); ([True, False]); ([]); (1j);
    ([1, 2], mx.float16); (np.arange(3)); (np.float64(2)); (f); (f, mx.int32); ([f, g]); ([1,
    True]); (2**40); (-1, mx.uint8); ([300], mx.uint8); (np.ones(2)); ([[1], [2, 3]]); ((1, 2));
    (f, dtype=mx.bool_)
asarray: ([1, 2]); (f); (np.arange(3.0)); (f, mx.int32); (2); (i, dtype=mx.float16)
astype: (f, mx.int32); (f, mx.bool_); (i, mx.uint8); (c, mx.float32); (m, mx.float32); (s,
    mx.float16); (i, mx.complex64); (f, mx.bfloat16); (s, mx.int32); (f, mx.uint8)
zeros: ((2, 3)); (3); ((), mx.int8); ([2], dtype=mx.bool_); ((-1,))
ones: ((2, 3)); (3); ((2,), mx.complex64)
empty: ((0, 3)); (0, mx.int8)
zeros_like: (f); (i8); (m)
ones_like: (f); (i8); (m); (c)
empty_like: (o)
full: ((2, 3), 7); ((2,), 1.5); ((2,), True); ((2, 4), w); ((2,), 1, mx.float16); (3, 2); ((2,),
    i); ((3, 4), f, dtype=mx.int32)
full_like: (f, 2); (i, 2.5); (f, 1, mx.int8); (m, 3)
eye: (3); (2, 4); (3, k=1); (3, 3, -1, mx.int32); (3, dtype=mx.float16)
identity: (3); (2, mx.int8)
linspace: (0, 1); (0, 1, 5); (1, -1, 3); (0, 5, num=6, dtype=mx.int32); (0, 1, 1); (0, 1, 0); (2,
    3, 7, mx.float16); (0, 1, -1)
tri: (3); (2, 4, 1); (3, k=-1, dtype=mx.int8)
tril: (f); (f, 1); (t, k=-1); (i); (w)
triu: (f); (f, 1); (t, k=-1); (m)
diag: (w); (f); (w, 1); (f, -1); (k, k=1); (t)
diagonal: (f); (t); (t, 1); (t, 0, 1, 2); (t, offset=-1, axis1=0, axis2=2); (w)
trace: (f); (t); (k, 1); (i); (t, 0, 1, 2); (m); (h); (k, dtype=mx.float16)
meshgrid: (v, w); (v, w, indexing='ij'); (v); (v, w, sparse=True); (v, w, w); (v, w,
    indexing='zz'); (f, w)
bartlett: (5); (0); (1); (8)
blackman: (5); (1); (0)
hamming: (5); (1); (0)
hanning: (5); (1); (0)
reshape: (f, (4, 3)); (f, -1); (f, (2, -1)); (f, (5, 2)); (f, (-1, -1)); (o, (3, 0)); (z, (1, 1));
    (f.T, (2, 6)); (o, (-1,))
flatten: (t); (t, 1); (t, 0, 1); (t, start_axis=-2); (z); (t, 2, 1); (t, end_axis=5)
unflatten: (f, 1, (2, 2)); (f, -1, (2, -1)); (f, 0, (2, 2)); (f, 5, (1,))
ravel: f.flatten()
squeeze: (f[None]); (f[None], 0); (f, 0); (f[:, None, :, None], (1, 3)); (f[:, None], axis=-2); (z)
expand_dims: (f, 0); (f, (0, -1)); (f, 5); (f, [1, 2]); (f, (0, 0))
atleast_1d: (z); (f); (z, f); (2)
atleast_2d: (z); (w); (z, w); (t)
atleast_3d: (z); (w); (f); (z, f)
transpose: (f); (t); (t, (1, 0, 2)); (t, axes=[2, 1, 0]); (t, (0, 1)); (t, (0, 0, 1)); (w); (t,
    (-1, 0, 1))
permute_dims: (t, (1, 0, 2)); (t); (f)
matrix_transpose: (t); (f); (w)
swapaxes: (t, 0, 2); (t, -1, 0); (t, 0, 3)
moveaxis: (t, 0, 2); (t, -1, 0); (t, 3, 0); (t, (0, 1), (1, 2))
flip: (f); (f, 0); (t, (0, -1)); (f, 2)
roll: (f, 1); (f, -2, 1); (f, (1, 2), (0, 1)); (f, 5, 0); (t, 1, (0, 1)); (f, (1, 2)); (o, 1); (f,
    1, 3)
repeat: (f, 2); (f, 2, 0); (f, 0, 1); (f, 3, axis=-1); (f, -1); (f, 2, 3)
tile: (f, 2); (f, (2, 1)); (w, (2, 3)); (f, (2, 1, 2)); (f, (0, 1)); (z, 3)
pad: (f, 1); (f, (1, 2)); (f, [(0, 1), (2, 0)]); (f, 1, 5.0); (f, 1, mode='edge'); (i, (1, 0),
    constant_values=3); (f, [(1, 1)]); (f, -1); (f, 1, mode='other'); (m, 1)
broadcast_to: (w, (3, 4)); (z, (2, 2)); (f, (4, 3)); (f, (2, 3, 4)); (w, (-1, 4))
broadcast_arrays: (f, w); (f, z, t); (f, v); (w)
broadcast_shapes: ((2, 1), (1, 3)); ((2,), (3,)); (); ((), (2,))
concatenate: ([f, g]); ([f, g], 1); ([f, i]); ([f, g], axis=None); ([f, t]); ([]); ([f, f[:1]],
    0); ([f, f[:1]], 1); ([m, i8]); ([h, b]); ([f, g], -1); ([f], 2)
concat: ([f, g]); ([i, j], 1); ((f, g), axis=-1)
stack: ([f, g]); ([f, g], 1); ([f, i], -1); ([f, w]); ([f, g], axis=3); ([])
split: (f, 2, 1); (f, 3); (f, [1, 2]); (f, 2); (f, [1], axis=-1); (f, [1, 9]); (f, 0); (f, [2, 1])
unstack: (f); (t, axis=1); (t, -1); (z)
take: (f, x); (f, x, 0); (f, x, axis=-1); (f, 1); (f, 1, 0); (f, -1, 1); (f, i[:1] % 3, 1); (m, x,
    0); (f, f); (f, x.astype(mx.uint8), 0)
take_along_axis: (f, x[None] % 3, 0); (f, mx.argsort(f, 1), 1); (f, x, None); (f, x[:, None], 1);
    (t, mx.argsort(t, -1), axis=-1); (f, f, 1)
put_along_axis: (f, mx.array([[1], [0], [2]]), 5.0, 1); (f, mx.array([[1], [0], [2]]), g[:, :1],
    axis=1); (f, x, w, None); (i, mx.array([[1, 2]]), j[:1, :2], 0)
slice: (f, mx.array([1]), (0,), (2, 4)); (f, mx.array([0, 1]), (0, 1), (2, 2)); (f, mx.array([1,
    1]), (0, 1), (1, 3))
slice_update: (f, g[:2], mx.array([1]), (0,)); (f, g[:1, :2], mx.array([0, 1]), (0, 1)); (f, i[:1,
    :2], mx.array([0, 1]), (0, 1))
as_strided: (f, (2, 2), (1, 4)); (f, (3,), (4,), 1); (f); (f, (4, 3), (1, 4), offset=0); (f.T,
    (2,), (1,))
contiguous: (f.T); (f, allow_col_major=True)
view: (f, mx.int32); (f, mx.uint8); (i, mx.float32); (f, mx.float16); (i8, mx.int32); (c,
    mx.float32); (z, mx.uint8); (w, mx.complex64); (m, mx.uint8)
sort: (f); (f, 0); (f, None); (i); (s); (ties); (m); (h); (u8, axis=0); (o); (z); (f, 2); (b); (c)
argsort: (f); (f, 0); (f, axis=None); (ties); (i); (z); (o)
argpartition: (f[:, :1], 0, 1); (w, 9)
partition: (f[:, :1], 0); (w, 9); (ties, 0)[..., 0]
topk: (w, 4).sum(); (w, 1); (f, 1); (f, 1, 0); (w, 9); (ties, 1, axis=None); (i, 1)
searchsorted: (mx.sort(v), w); (mx.arange(5), 2); (mx.arange(5), mx.array([2, 9, -1]),
    right=True); (mx.arange(5), 2, side='right'); (f, w)
unique: (x); (ties); (i); (m); (x, return_counts=True); (x, return_inverse=True)
count_nonzero: (m); (i, 0); (f, axis=1, keepdims=True); (i, (0, 1))
einsum: ('ij,kj->ik', f, g); ('ij->ji', f); ('ij->', f); ('ii->i', k); ('ij,j', f, w);
    ('bij,kj->bik', t, g); ('...ij,...kj->...ik', t, t); ('ij,jk', f, g); ('i,j->ij', i[0], j[0])
einsum_path: ('ij,jk,kl->il', f, k, k)[0]
can_cast: (mx.int8, mx.int32); (mx.float32, mx.float16); (mx.int32, mx.float32); (mx.bool_,
    mx.int8); (f, mx.int32)
result_type: (f, i); (i8, u8); (h, b); (f, 2); (i, 2.5); (mx.int8, mx.uint16); (u64, i64); (m, m);
    (c, f)
issubdtype: (mx.float32, mx.floating); (mx.int8, mx.number); (mx.uint8, mx.signedinteger);
    (mx.bool_, mx.generic); (mx.floating, mx.inexact); (mx.complex64, mx.complexfloating)
isdtype: (mx.float32, 'real floating'); (mx.int8, 'integral'); (mx.int8, mx.int8); (mx.uint8,
    ('bool', 'unsigned integer')); (mx.float32, 'numeric'); (mx.float32, 'other')
finfo: (mx.float32).max; (mx.float16).eps; (mx.bfloat16).min; (mx.float32).dtype; (mx.int32)
iinfo: (mx.int8).max; (mx.uint64).max; (mx.int32).min; (mx.float32)
from_dlpack: (np.arange(3.0)); (np.arange(3)); (np.ones((2, 3), np.float32).T); (3)
""")

METHODS = table("""
T: f.T; t.T; w.T
mT: t.mT; f.mT; w.mT
__array__: f.__array__(); i.__array__()
__array_namespace__: quiet(lambda: f.__array_namespace__())
__bool__: bool(z); bool(f); bool(mx.array(0)); bool(mx.array([True])); bool(o)
__bytes__: bytes(f); bytes(i8); bytes(m)
__complex__: complex(z); complex(c[0, 0]); complex(f)
__float__: float(z); float(mx.array(3)); float(f); float(mx.array([2.0]))
__int__: int(z); int(mx.array(3)); int(f); int(mx.array([2]))
__index__: [0, 1, 2][mx.array(1)]; [0][z]
__len__: len(f); len(z); len(o)
__iter__: list(f); list(z); list(iter(w))
__copy__: __import__('copy').copy(f)
__deepcopy__: __import__('copy').deepcopy(f)
__dlpack__: np.from_dlpack(f); np.from_dlpack(i)
__dlpack_device__: tuple(f.__dlpack_device__())
__module__: quiet(lambda: mx.array.__module__)
__getitem__: f[0]; f[-1]; f[5]; f[:, 1]; f[..., None]; f[::2]; f[::-1]; f[2:0:-1]; f[x]; f[:, x];
    f[x, x]; f[x, 1]; f[None]; f[mx.array(1)]; f[1:1]; f[[0, 2]]; f[True]; t[:, x, 0]; t[..., 0];
    t[0, ..., x]; t[x[:2] % 2, :, x[:2]]; f[1, 2, 3]; f[1.5]; f[z]; f['a']; f[np.array([0, 1])];
    f[mx.array([-1, 0])]; w[i % 4]; f[x.astype(mx.uint8)]; f[:, -3:]; f[0, :2]; z[...]; z[0];
    t[None, 0, ..., None, 1]; f[m]
__setitem__: put(f, 0, 5); put(f, (slice(None), 1), 7.0); put(f, x, 1.5); put(f, (0, x), w);
    put(f, slice(None), g); put(f, slice(None, None, 2), 0); put(i, 0, 2.7); put(f, m, 0.0);
    put(f, m, 3); put(f, 5, 1); put(f, ..., 2); put(f, (slice(None), x[:3]), g[:, :3]); put(f, 0,
    v); put(t, (0, slice(None), x), 1.0); put(f, None, 4.0); put(f, mx.array([0, 1]), g[:2]);
    put(u8, 0, -1); put(f, 0, i[0]); put(f, slice(2, 0, -1), g[:2]); put(f, 0, [1, 2, 3, 4])
at: f.at[0].add(1.0); f.at[x].add(1.0); f.at[x].subtract(g[0]); f.at[x].multiply(2.0);
    f.at[x].divide(2.0); f.at[x].maximum(0.0); f.at[x].minimum(0.0); i.at[x].add(1); f.at[:,
    1].add(w[:3]); f.at[m].add(1.0); f.at[0, x].add(w); f.at[..., 0].multiply(3);
    i.at[x].add(1.5); h.at[0:2].add(1)
astype: f.astype(mx.int32); i.astype(mx.float16); m.astype(mx.int8); c.astype(mx.float32)
diag: w.diag(); f.diag(1)
diagonal: f.diagonal(); t.diagonal(0, 1, 2)
dtype: f.dtype; m.dtype; b.dtype
flatten: t.flatten(); t.flatten(1)
item: z.item(); mx.array(3).item(); f.item(); mx.array(True).item(); c[0, 0].item()
itemsize: f.itemsize; h.itemsize; c.itemsize; m.itemsize
nbytes: f.nbytes; b.nbytes; o.nbytes
ndim: f.ndim; z.ndim
size: f.size; z.size; o.size
shape: f.shape; z.shape
moveaxis: t.moveaxis(0, 2)
reshape: f.reshape(4, 3); f.reshape((2, 6)); f.reshape(-1); f.reshape([12]); f.reshape(5)
split: f.split(2, 1); f.split([1]); f.split(5)
squeeze: f[None].squeeze(); f[None].squeeze(0)
swapaxes: t.swapaxes(0, 1)
tolist: f.tolist(); i.tolist(); m.tolist(); z.tolist(); o.tolist(); h.tolist(); c.tolist();
    b.tolist()
transpose: t.transpose(); t.transpose(1, 0, 2); t.transpose([2, 1, 0]); t.transpose(0)
view: f.view(mx.int32); w.view(mx.uint8)
__matmul__: f @ g.T; f @ w; f @ g; f.__matmul__(k)
__imatmul__: change(k, '__imatmul__', k)
""")
