"""Calls on which eutectic and mlx differ, by reason; docs/mlx-differences.md explains each."""

from __future__ import annotations

from calls_methods import ARRAYS

ATTEND = "mx.fast.scaled_dot_product_attention"

BY_REASON: dict[str, tuple[str, ...]] = {
    "accepts more": (
        "mx.positive(3)",
        "mx.positive(2.5)",
        "mx.stop_gradient(3)",
        "mx.stop_gradient(2.5)",
        "mx.trunc(3)",
        "mx.trunc(2.5)",
        "mx.isclose(f, 1.0)",
        "mx.put_along_axis(f, mx.array([[1], [0], [2]]), 5.0, 1)",
        "mx.inner(f, 2.0)",
        "mx.inner(i, j)",
        "mx.vecdot(f, w)",
        "mx.linspace(2, 3, 7, mx.float16)",
        "mx.reshape(f, -1)",
        "mx.atleast_1d(2)",
        "mx.searchsorted(mx.arange(5), 2)",
        "mx.searchsorted(mx.arange(5), 2, side='right')",
        "mx.take(f, -1, 1)",
        "put(f, 0, [1, 2, 3, 4])",
        *(f"{a}.reshape(np.int64(-1))" for a in ARRAYS),
        *(f"{a}.transpose(None)" for a in ARRAYS),
        *(f"{a}.sum(0, 1)" for a in ARRAYS if a not in ("o", "z")),
    ),
    "masks": (
        "f[True]",
        "f[np.array([0, 1])]",
        "f[m]",
        "f.at[m].add(1.0)",
    ),
    "range of indices": (
        "f[5]",
        "put(f, 5, 1)",
    ),
    "checks more": (
        "mx.concatenate([f], 2)",
        "mx.linalg.eigvalsh((k @ k.T + 4 * mx.eye(4)), 'X')",
        "mx.grad(lambda a: a.sum())(i)",
        *(f"{a}.reshape((4, 3), 1)" for a in ARRAYS if a not in ("t", "o", "z", "w")),
        "w.transpose((0,), (1,))",
        "s.transpose((0,), (1,))",
    ),
    "complex order": (
        "mx.argmax(c)",
        "mx.argmax(c, 0)",
        "mx.argmin(c)",
        "mx.argmin(c, 0)",
        "c.argmax()",
        "c.argmax(0)",
        "c.argmin()",
        "c.argmin(0)",
        "mx.floor_divide(c, d)",
        "mx.floor_divide(c, f)",
        "mx.floor_divide(c, 2)",
    ),
    "sign of nan": (
        "mx.sign(s)",
        "mx.sign(s16)",
    ),
    "integer division": (
        "mx.divmod(m, n)",
        "mx.remainder(m, n)",
        "mx.remainder(i, m)",
        "m.__mod__(n)",
        "m.__rmod__(n)",
        "change(m, '__imod__', n)",
    ),
    "integer power": (
        "i.__rpow__(p)",
    ),
    "infinite quotient": (
        "mx.floor_divide(s, s[::-1])",
        "mx.divmod(s, s[::-1])",
    ),
    "float to integer": (
        "mx.astype(s, mx.int32)",
    ),
    "arange": (
        "mx.arange(0, 1e3, 7.7)",
    ),
    "dtype over no axes": (
        "m.sum(())",
        "u8.sum(())",
    ),
    "dtype of full": (
        "mx.full((3, 4), f, dtype=mx.int32)",
    ),
    "tuple": (
        "mx.broadcast_arrays(f, w)",
        "mx.broadcast_arrays(f, z, t)",
        "mx.broadcast_arrays(w)",
    ),
    "accuracy": (
        "mx.erf(f)",
        "mx.erf(s)",
        "mx.erf(u)",
        "mx.exp(f64)",
        "f64.sin()",
        "f64.round(1)",
        "f64.round(decimals=1)",
        "f64.round(mx.array(1))",
        "mx.fast.cross_entropy(h, x[:3])",
    ),
    "logsumexp of integers": (
        "mx.logsumexp(m)",
        "mx.logsumexp(m, 0)",
        "mx.logsumexp(u8)",
        "mx.logsumexp(u8, 0)",
        "m.logsumexp()",
        "m.logsumexp(0)",
        "u8.logsumexp()",
        "u8.logsumexp(0)",
    ),
    "nothing to attend to": (
        f"{ATTEND}(t[None], t[None], t[None], scale=0.5, mask=f[:, :3] > 0)",
        f"{ATTEND}(t[None], t[None, :, :2], t[None, :, :2], scale=1.0, mask='causal')",
    ),
}

REASONS = set(BY_REASON)
DIFFERENCES = {call: reason for reason, calls in BY_REASON.items() for call in calls}

# Names without a call, by why.
_WITHOUT: dict[str, str] = {
    "a class or value: used by other calls": (
        "ArrayAt ArrayLike Device DeviceType DtypeCategory PrintOptions Stream StreamContext "
        "ThreadLocalStream complexfloating floating generic gpu inexact integer number "
        "signedinteger unsignedinteger"),
    "changes or reads the process's state": (
        "clear_streams disable_compile get_array_buffer_size get_memory_limit new_stream "
        "new_thread_local_stream new_thread_unsafe_stream printoptions set_cache_limit "
        "set_default_device set_default_stream set_memory_limit set_printoptions "
        "set_wired_limit stream"),
    "writes or reads files of its own format (tests/export)": (
        "FunctionExporter export_function export_to_dot exporter import_function"),
    "not there yet (tests/test_surface.py)": (
        "ArrayIterator array.__setstate__ dequantize fast.cuda_kernel fast.gated_delta_update "
        "fast.metal_kernel fast.precompiled_cuda_kernel from_fp8 gather_qmm gather_qqmm qqmm "
        "quantize quantized_matmul to_fp8"),
}
NOT_COMPARED = {name: why for why, names in _WITHOUT.items() for name in names.split()}
