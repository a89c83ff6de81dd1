"""Calls that reduce, multiply, transform, draw; functions of functions; files."""

from __future__ import annotations

from calls_shapes import table

AXES = ("", ", 0", ", axis=-1", ", (0, 1)", ", 1, True", ", axis=0, keepdims=True", ", 2", ", [0]",
        ", None", ", ()")
REDUCED = ("f", "i", "h", "b", "m", "u8", "i8", "c", "o", "z", "s")
REDUCTIONS = ["all", "any", "max", "mean", "min", "prod", "std", "sum", "var", "logsumexp"]
ARG = ["argmax", "argmin"]
REFUSE_NOTHING = ("max", "min", "logsumexp", *ARG)
RUNNING = ["cummax", "cummin", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum",
    "logcumsumexp"]


def reductions(prefix: str, names: list[str]) -> dict[str, list[str]]:
    def call(name: str, x: str, rest: str) -> str:
        return f"mx.{name}({x}{rest})" if prefix else f"{x}.{name}({rest.lstrip(', ')})"

    out = {}
    for name in names:
        axes = AXES if name not in ARG else tuple(a for a in AXES if "(" not in a and "[" not in a)
        out[name] = [call(name, "f", rest) for rest in axes]
        # Of nothing: mlx may not return from reductions that give their start, such as `any`.
        arrays = [x for x in REDUCED[1:] if x != "o" or name in REFUSE_NOTHING]
        out[name] += [call(name, x, rest) for x in arrays for rest in ("", ", 0")]
    return out


def running(prefix: str) -> dict[str, list[str]]:
    rest = ("", ", 0", ", axis=-1", ", 1, reverse=True", ", 1, inclusive=False", ", 2",
            ", axis=0, reverse=True, inclusive=False")
    arrays = ("i", "m", "h", "u8", "w", "o", "s", "c")
    if prefix:
        return {name: [f"mx.{name}(f{r})" for r in rest] + [f"mx.{name}({x}, 0)" for x in arrays]
                for name in RUNNING}
    return {name: [f"f.{name}({r.lstrip(', ')})" for r in rest] for name in RUNNING
            if not name.startswith("cumulative")}


CORE = reductions("mx.", REDUCTIONS + ARG) | running("mx.") | table("""
std: (f, ddof=1); (f, 0, ddof=1); (f, 0, False, 3)
var: (f, ddof=1); (f, 1, ddof=1); (i, ddof=2)
median: (f); (f, 0); (i, axis=1, keepdims=True); (s); (f, (0, 1)); (o)
minmax: (f); (i, 0); (f, axis=1, keepdims=True)
softmax: (f); (f, 0); (f, axis=-1, precise=True); (h); (b, -1); (i, -1); (s); (f, (0, 1)); (z);
    (f, [])
diff: (f); (f, 2); (i, 1, 0); (f, n=1, axis=0); (f, 0); (f, 9)
matmul: (f, k); (f, w); (w, k); (f, g); (w, w); (t, k); (t, t.swapaxes(1, 2)); (h,
    k.astype(mx.float16)); (i, i.T); (c, d.T); (f, z); (m, m.T); (o, f[:, :2])
addmm: (f, f, k); (w, f, k, 2.0, 0.5); (f, g, k, alpha=0.5, beta=2.0); (z, w, w); (f, f, g)
inner: (w, w); (f, g); (f, 2.0); (f, v); (i, j)
outer: (w, v); (f, g); (i[0], j[0]); (z, w)
kron: (f, g); (w, v); (k, w); (i, j)
tensordot: (f, g, 2); (f, g.T, 1); (f, g, [[1], [1]]); (t, k, axes=1); (f, g, 0); (f, g, 1)
vecdot: (f, g); (f, w); (c, d); (f, g, axis=0); (f, v)
conv1d: (t, mx.ones((5, 2, 4))); (t, mx.ones((5, 2, 4)), 2, 1); (t, mx.ones((2, 2, 2)), groups=2);
    (t, mx.ones((5, 2, 3))); (t, mx.ones((5, 2, 4)), padding=1, dilation=2)
conv2d: (t[..., None], mx.ones((2, 2, 2, 1))); (t[..., None], mx.ones((2, 2, 2, 1)), (1, 2), 1);
    (t[None], mx.ones((3, 2, 2, 4)), padding=(1, 0)); (t, mx.ones((1, 1, 1)))
conv3d: (t[..., None, None], mx.ones((2, 2, 2, 1, 1)))
conv_general: (t, mx.ones((5, 2, 4)), flip=True); (t, mx.ones((5, 2, 4)), 1, ([1], [0])); (t,
    mx.ones((5, 2, 4)), input_dilation=2)
conv_transpose1d: (t, mx.ones((5, 2, 4)), 2); (t, mx.ones((5, 2, 4)), stride=2, padding=1,
    output_padding=1)
conv_transpose2d: (t[..., None], mx.ones((2, 2, 2, 1)), 2, 1)
conv_transpose3d: (t[..., None, None], mx.ones((2, 2, 2, 1, 1)), 2)
convolve: (w, v); (v, w, 'same'); (v, w, mode='valid'); (v, w, mode='other')
hadamard_transform: (w); (f); (f, scale=1.0); (v)
block_masked_mm: (mx.ones((64, 64)), mx.ones((64, 64)), 32, mx.array([[True, False], [True, True]]))
gather_mm: (mx.stack([k, k]), mx.stack([k, 2 * k]), mx.array([0, 1]), mx.array([1, 1]));
    (mx.stack([k, k]), mx.stack([k, 2 * k]), None, mx.array([1, 0]))
segmented_mm: (k, k, mx.array([[0, 2], [2, 4]], mx.uint32))
matrix_norm: (f); (f, ord=1); (k, 'nuc'); (k, ord=2)
grad: (lambda a: (a * a).sum())(f); (lambda a, e: (a * e).sum(), argnums=(0, 1))(f, g); (lambda a:
    a)(f); (lambda a: mx.max(a))(ties); (lambda a: mx.abs(a).sum())(s[:3]); (lambda a:
    a.sum())(i); (lambda a: mx.softmax(a)[0, 0])(f); (lambda p: (p['a'] * p['e']).sum())({'a': f,
    'e': g}); (lambda a: mx.sort(a)[..., 0].sum())(ties); (lambda a, e: mx.maximum(a, e).sum())(f,
    f)
value_and_grad: (lambda a: mx.tanh(a).sum())(f); (lambda a, e=None: (a * e).sum(),
    argnames='e')(f, e=g); (lambda a: (a.sum(), 3))(f); (lambda a: mx.prod(a))(w); (lambda a:
    mx.logsumexp(a))(f)
vjp: (lambda a: a * a, [f], [g]); (lambda a, e: a @ e, [f, k], [g]); (lambda a: mx.cumsum(a, 0),
    [f], [g]); (lambda a: a.astype(mx.float16), [f], [h])
jvp: (lambda a: mx.sin(a), [f], [g]); (lambda a, e: a * e, [f, g], [g, f])
vmap: (lambda a: a.sum())(f); (lambda a, e: a + e, in_axes=(0, None))(f, w); (lambda a: a * 2,
    in_axes=1, out_axes=0)(f); (lambda a, e: a @ e)(t, t.swapaxes(1, 2)); (lambda a: a,
    in_axes=5)(f); (lambda a: mx.softmax(a))(f)
compile: (lambda a: mx.exp(a) * 2)(f); (lambda a, e: (a + e, a - e))(f, g); (lambda p: p['q'] *
    2)({'q': f}); (lambda a, n: a * n)(f, 3)
checkpoint: (lambda a: mx.exp(a))(f)
custom_function: (lambda a: mx.sin(a))(f)
depends: ([f], [g]); (f, g)
save: through(lambda path: mx.save(path, f), '.npy'); through(lambda path: mx.save(path, i8),
    '.npy')
savez: through(lambda path: mx.savez(path, f, q=i), '.npz')
savez_compressed: through(lambda path: mx.savez_compressed(path, f), '.npz')
save_safetensors: through(lambda path: mx.save_safetensors(path, {'q': f, 'r': b, 'e': m}),
    '.safetensors')
save_gguf: through(lambda path: mx.save_gguf(path, {'q': f, 'r': h}), '.gguf')
load: ('/nowhere/file.npy'); ('file.other')
cpu: mx.cpu; mx.Device(mx.cpu, 0)
default_device: quiet(lambda: mx.default_device())
default_stream: quiet(lambda: mx.default_stream(mx.cpu))
device_count: (mx.cpu)
device_info: quiet(lambda: mx.device_info(mx.cpu))
is_available: (mx.cpu)
get_active_memory: quiet(lambda: mx.get_active_memory())
get_cache_memory: quiet(lambda: mx.get_cache_memory())
get_peak_memory: quiet(lambda: mx.get_peak_memory())
reset_peak_memory: ()
clear_cache: ()
eval: (f, [g, {'q': i}]); (3)
async_eval: (f, [g])
synchronize: ()
enable_compile: ()
get_printoptions: quiet(lambda: mx.get_printoptions())
e: mx.e
pi: mx.pi
euler_gamma: mx.euler_gamma
inf: mx.inf
nan: mx.nan
newaxis: mx.newaxis
bool_: mx.bool_; mx.bool_.size
bfloat16: mx.bfloat16; mx.bfloat16.size
complex64: mx.complex64
float16: mx.float16
float32: mx.float32
float64: mx.float64; f64 + 1; mx.exp(f64); f64 * f; f64.sum(); f64 @ f64.T
int16: mx.int16; i16 * j16; i16.sum()
int32: mx.int32
int64: mx.int64; i64 * j64; i64.sum()
int8: mx.int8
uint16: mx.uint16; u16 - w16
uint32: mx.uint32
uint64: mx.uint64; u64 - w64
uint8: mx.uint8
Dtype: mx.float32 == mx.float32; mx.float32 == mx.int8; str(mx.float32).rpartition('.')[2]
""")

METHODS = reductions("", REDUCTIONS + ARG) | running("")

RANDOM = table("""
random.key: mx.random.key(0); mx.random.key(2**40 + 3); mx.random.key(-1)
random.seed: restored(lambda: mx.random.uniform(shape=(4,))); restored(lambda:
    [mx.random.normal((2,)), mx.random.normal((2,))])
random.split: mx.random.split(mx.random.key(3)); mx.random.split(mx.random.key(3), 4);
    mx.random.split(f)
random.uniform: mx.random.uniform(shape=(7,), key=mx.random.key(1)); mx.random.uniform(-2, 3, (3,
    4), key=mx.random.key(1)); mx.random.uniform(shape=(5,), dtype=mx.float16,
    key=mx.random.key(2)); mx.random.uniform(shape=(5,), dtype=mx.bfloat16, key=mx.random.key(2));
    mx.random.uniform(w, w + 1, (3, 4), key=mx.random.key(4));
    mx.random.uniform(key=mx.random.key(9)); mx.random.uniform(shape=(2,), dtype=mx.int32)
random.bernoulli: mx.random.bernoulli(0.3, (9,), key=mx.random.key(1)); mx.random.bernoulli(u,
    key=mx.random.key(1)); mx.random.bernoulli(key=mx.random.key(1)); mx.random.bernoulli(u, (2,
    3, 4), mx.random.key(2)); mx.random.bernoulli(u, (2,))
random.randint: mx.random.randint(0, 10, (20,), key=mx.random.key(1)); mx.random.randint(-5, 5,
    (3, 4), mx.int8, mx.random.key(2)); mx.random.randint(x, x + 5, (3, 4), key=mx.random.key(2));
    mx.random.randint(0, 10, (3,), mx.float32)
random.normal: mx.random.normal((9,), key=mx.random.key(1)); mx.random.normal((3, 4), mx.float16,
    2.0, 0.5, mx.random.key(2)); mx.random.normal((3, 4), loc=w, scale=2.0, key=mx.random.key(2));
    mx.random.normal((4,), mx.bfloat16, key=mx.random.key(3)); mx.random.normal((4,),
    mx.complex64, key=mx.random.key(3)); mx.random.normal((4,), mx.int32)
random.gumbel: mx.random.gumbel((9,), key=mx.random.key(1)); mx.random.gumbel((4,), mx.float16,
    mx.random.key(1))
random.laplace: mx.random.laplace((9,), key=mx.random.key(1)); mx.random.laplace((4,), mx.float16,
    1.0, 2.0, mx.random.key(1))
random.truncated_normal: mx.random.truncated_normal(-1, 2, (9,), key=mx.random.key(1));
    mx.random.truncated_normal(0.0, w * w + 1, key=mx.random.key(1));
    mx.random.truncated_normal(-1, 1, (4,), mx.float16, mx.random.key(1))
random.categorical: mx.random.categorical(f, key=mx.random.key(1)); mx.random.categorical(f, 0,
    key=mx.random.key(1)); mx.random.categorical(f, num_samples=5, key=mx.random.key(1));
    mx.random.categorical(f, shape=(2, 3), key=mx.random.key(1)); mx.random.categorical(f,
    shape=(2, 2), key=mx.random.key(1)); mx.random.categorical(f, 3)
random.permutation: mx.random.permutation(7, key=mx.random.key(1)); mx.random.permutation(f,
    key=mx.random.key(1)); mx.random.permutation(f, 1, mx.random.key(2)); mx.random.permutation(f,
    2)
random.multivariate_normal: mx.random.multivariate_normal(mx.zeros(2), mx.eye(2), (3,),
    key=mx.random.key(1)).shape; mx.random.multivariate_normal(mx.zeros(2), mx.eye(3), (3,))
""")

PD = "(k @ k.T + 4 * mx.eye(4))"
LINALG = table(f"""
linalg.cholesky: mx.linalg.cholesky({PD}); mx.linalg.cholesky({PD}, upper=True);
    mx.linalg.cholesky(f); mx.linalg.cholesky(i)
linalg.cholesky_inv: mx.linalg.cholesky_inv(mx.linalg.cholesky({PD}));
    mx.linalg.cholesky_inv(mx.linalg.cholesky({PD}, upper=True), upper=True)
linalg.cross: mx.linalg.cross(f[:, :3], g[:, :3]); mx.linalg.cross(f, g, axis=0);
    mx.linalg.cross(f[:, :2], g[:, :2]); mx.linalg.cross(f, g); mx.linalg.cross(i[:, :3], j[:,
    :3])
linalg.det: mx.linalg.det(k); mx.linalg.det(mx.stack([k, 2 * k])); mx.linalg.det(f);
    mx.linalg.det(mx.zeros((2, 2)))
linalg.slogdet: mx.linalg.slogdet(k); mx.linalg.slogdet(mx.zeros((2, 2))); mx.linalg.slogdet(f)
linalg.eig: mx.linalg.eig({PD})[0].shape; mx.linalg.eig(f)
linalg.eigh: mx.linalg.eigh({PD})[0]; mx.abs(mx.linalg.eigh({PD}, UPLO='U')[1]); mx.linalg.eigh(f)
linalg.eigvals: mx.sort(mx.real(mx.linalg.eigvals({PD}))); mx.linalg.eigvals(f)
linalg.eigvalsh: mx.linalg.eigvalsh({PD}); mx.linalg.eigvalsh(mx.stack([{PD}, {PD}]), 'U');
    mx.linalg.eigvalsh({PD}, 'X')
linalg.inv: mx.linalg.inv(k); mx.linalg.inv(mx.stack([k, 2 * k])); mx.linalg.inv(f);
    mx.linalg.inv(mx.zeros((2, 2))); mx.linalg.inv(i)
linalg.lu: mx.linalg.lu(k); mx.linalg.lu(f); mx.linalg.lu(w)
linalg.lu_factor: mx.linalg.lu_factor(k); mx.linalg.lu_factor(f)
linalg.norm: mx.linalg.norm(f); mx.linalg.norm(f, axis=1); mx.linalg.norm(f, 1, 0);
    mx.linalg.norm(f, ord='fro', keepdims=True); mx.linalg.norm(f, ord=float('inf'), axis=0);
    mx.linalg.norm(k, 'nuc'); mx.linalg.norm(k, 2); mx.linalg.norm(f, 3, 1); mx.linalg.norm(i);
    mx.linalg.norm(c); mx.linalg.norm(k, ord=1); mx.linalg.norm(k, -2); mx.linalg.norm(w, 0);
    mx.linalg.norm(k, 'other'); mx.linalg.norm(t, axis=(0, 1)); mx.linalg.norm(h, axis=0)
linalg.pinv: mx.linalg.pinv(f); mx.linalg.pinv(k); mx.linalg.pinv(w)
linalg.qr: mx.abs(mx.linalg.qr(k)[0]); mx.abs(mx.linalg.qr(f)[1]); mx.abs(mx.linalg.qr(f.T)[0]);
    mx.linalg.qr(w)
linalg.solve: mx.linalg.solve(k, w); mx.linalg.solve(k, f.T); mx.linalg.solve(k, v);
    mx.linalg.solve(f, w)
linalg.solve_triangular: mx.linalg.solve_triangular(mx.tril(k), w);
    mx.linalg.solve_triangular(mx.triu(k), f.T, upper=True); mx.linalg.solve_triangular(k, v)
linalg.svd: mx.linalg.svd(f)[1]; mx.abs(mx.linalg.svd(k)[0]); mx.linalg.svd(f, compute_uv=False);
    mx.linalg.svd(f)[2].shape; mx.linalg.svd(w)
linalg.tri_inv: mx.linalg.tri_inv(mx.tril(k)); mx.linalg.tri_inv(mx.triu(k), upper=True);
    mx.linalg.tri_inv(f)
""")

TRANSFORMS = ("fft", "ifft", "rfft", "irfft")
FFT = {f"fft.{name}": [f"mx.fft.{name}({rest})" for rest in (
    "f", "c", "f, 3", "f, 6, 0", "f, n=4, axis=-1", "t, axis=1", "f, norm='ortho'", "i", "h",
    "f, axis=2", "o", "f, 0")] for name in TRANSFORMS} | {
    f"fft.{name}{n}": [f"mx.fft.{name}{n}({rest})" for rest in (
        "f", "c", "t", "t, (3, 2), (1, 2)", "t, axes=(0, 1)", "f, s=(2, 6)", "w",
        "f, norm='forward'", "t, axes=(0, 0)")]
    for name in TRANSFORMS for n in ("2", "n")} | table("""
fft.fftshift: mx.fft.fftshift(f); mx.fft.fftshift(f, 1); mx.fft.fftshift(v, axes=0);
    mx.fft.fftshift(f, 5)
fft.ifftshift: mx.fft.ifftshift(f); mx.fft.ifftshift(v); mx.fft.ifftshift(f, (0, 1))
fft.fftfreq: mx.fft.fftfreq(5); mx.fft.fftfreq(4, 0.5); mx.fft.fftfreq(0)
fft.rfftfreq: mx.fft.rfftfreq(5); mx.fft.rfftfreq(4, d=0.5)
fft.stft: mx.fft.stft(mx.arange(32.0), 8); mx.fft.stft(mx.arange(32.0), n_fft=8, hop_length=4,
    center=False)
fft.istft: mx.fft.istft(mx.fft.stft(mx.arange(32.0), 8), 8)
""")

ATTEND = "mx.fast.scaled_dot_product_attention"
FAST = table(f"""
fast.layer_norm: mx.fast.layer_norm(f, w, w, 1e-5); mx.fast.layer_norm(t, None, None, 1e-5);
    mx.fast.layer_norm(h, None, None, eps=1e-5); mx.fast.layer_norm(f, v, None, 1e-5);
    mx.fast.layer_norm(i, None, None, 1e-5); mx.fast.layer_norm(z, None, None, 1e-5);
    mx.fast.layer_norm(b, w.astype(mx.bfloat16), None, 1e-5)
fast.rms_norm: mx.fast.rms_norm(f, w, 1e-5); mx.fast.rms_norm(t, None, 1e-5); mx.fast.rms_norm(h,
    w.astype(mx.float16), eps=1e-5); mx.fast.rms_norm(f, v, 1e-5); mx.fast.rms_norm(h, w, 1e-5)
fast.rope: mx.fast.rope(t, 4, traditional=False, base=10000.0, scale=1.0, offset=0);
    mx.fast.rope(t, 4, traditional=True, base=100.0, scale=0.5, offset=3); mx.fast.rope(t, 2,
    traditional=False, base=10000.0, scale=1.0, offset=1); mx.fast.rope(t, 4, traditional=False,
    base=None, scale=1.0, offset=0, freqs=w[:2] * w[:2] + 1); mx.fast.rope(t, 4,
    traditional=False, base=10000.0, scale=1.0, offset=mx.array([1, 2])); mx.fast.rope(w, 4,
    traditional=False, base=10000.0, scale=1.0, offset=0); mx.fast.rope(t.astype(mx.float16), 4,
    traditional=False, base=10000.0, scale=1.0, offset=5)
fast.scaled_dot_product_attention: {ATTEND}(t[None], t[None], t[None], scale=0.5);
    {ATTEND}(t[None], t[None], t[None], scale=0.5, mask='causal'); {ATTEND}(t[None], t[None],
    t[None], scale=0.5, mask=f[:, :3] > 0); {ATTEND}(t[None], t[None], t[None], scale=0.5,
    mask=f[:, :3]); {ATTEND}(t[None], t[None, :1], t[None, :1], scale=1.0); {ATTEND}(t, t, t,
    scale=1.0); {ATTEND}(t[None], t[None, :, :2], t[None, :, :2], scale=1.0, mask='causal');
    {ATTEND}(t[None], t[None], t[None], scale=1.0, sinks=w[:2]); {ATTEND}(t[None], t[None],
    t[None], scale=0.5, mask='other'); {ATTEND}(t[None].astype(mx.float16),
    t[None].astype(mx.float16), t[None].astype(mx.float16), scale=0.5)
fast.cross_entropy: mx.fast.cross_entropy(f, x[:3]); mx.fast.cross_entropy(h, x[:3])
""")
