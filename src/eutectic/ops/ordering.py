"""Order of elements in NumPy, in every dtype: what `ops.sorting` computes with.

All functions take rows (the last axis of a matrix) as NumPy arrays, bfloat16 as its bits in uint16,
and the dtype's name. The order is MLX's and stable: -0.0 equals 0.0, nan comes last, complex
numbers order by real part, then imaginary part, those with a nan last. Results do not depend on the
machine: wherever NumPy's fast sorts may exchange equal elements, the elements carry their position.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from eutectic.runtime.pool import get_num_threads

PARALLEL = 1 << 17
"""Elements from which a call is worth threads."""
_BLOCK = 1 << 15
"""Elements converted to keys at a time: their temporaries stay in cache."""
_INFINITY = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000,
             "float64": 0x7FF0000000000000}
_PACKED = frozenset(("bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "float16",
                     "bfloat16", "float32"))


def together(jobs: list[Callable[[], object]]) -> None:
    """Run jobs on a thread each; the first error is raised. NumPy's sorts release the GIL."""
    errors: list[BaseException] = []

    def run(job: Callable[[], object]) -> None:
        try:
            job()
        except BaseException as e:
            errors.append(e)

    # Threads of their own: none is left behind for a fork to lose.
    threads = [threading.Thread(target=run, args=(j,)) for j in jobs[1:]]
    for t in threads:
        t.start()
    run(jobs[0])
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def by_rows(work: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """`work` of the rows of a matrix, on several threads where it is large."""
    parts = min(get_num_threads(), x.shape[0], max(x.size // PARALLEL, 1))
    if parts <= 1:
        return work(x)
    cuts = [x.shape[0] * i // parts for i in range(parts + 1)]
    done: list[np.ndarray] = [x] * parts

    def job(i: int) -> None:
        done[i] = work(x[cuts[i]:cuts[i + 1]])

    together([lambda i=i: job(i) for i in range(parts)])  # type: ignore[misc]
    return np.concatenate(done)


def _sort_in_place(x: np.ndarray) -> None:
    """Sort contiguous rows; one large row is divided by its quantiles among threads."""
    n = x.shape[-1]
    parts = min(get_num_threads(), n // PARALLEL)
    if x.shape[0] != 1 or parts <= 1:
        x.sort(axis=-1)
        return
    row = x[0]
    cuts = [n * i // parts for i in range(parts + 1)]
    row.partition(cuts[1:-1])
    together([row[a:b].sort for a, b in pairwise(cuts)])


def bits(x: np.ndarray) -> np.ndarray:
    """The elements' bits as unsigned integers."""
    return x.view(f"u{x.dtype.itemsize}")


def _half_keys(x: np.ndarray, name: str) -> np.ndarray:
    """Bits of a 16-bit float as integers of the same order; zeros are equal, and so are nans."""
    b = bits(x)
    size = b & 0x7FFF
    keys = np.where(b >> 15 != 0, 0x8000 - size, 0x8000 + size).astype(np.uint16)
    keys[size > _INFINITY[name]] = 0xFFFF
    return keys


def _half_bits(keys: np.ndarray) -> np.ndarray:
    """Bits of keys; zeros come as 0.0, nans as some nan."""
    return np.where(keys < 0x8000, 0x8000 | (0x8000 - keys), keys - 0x8000).astype(np.uint16)


def _keys(x: np.ndarray, name: str) -> np.ndarray:
    """At most 32-bit elements as uint32 of the same order."""
    if name in ("float16", "bfloat16"):
        return _half_keys(x, name).astype(np.uint32)
    if name == "float32":
        b = (x + np.float32(0)).view(np.int32)  # -0.0 + 0 is 0
        keys = (b ^ (b >> 31 | np.int32(-1 << 31))).view(np.uint32)
        keys[np.isnan(x)] = 0xFFFFFFFF
        return keys
    if x.dtype.kind == "i":
        return x.astype(np.int32).view(np.uint32) ^ np.uint32(1 << 31)
    return x.astype(np.uint32)


def _packed(x: np.ndarray, name: str) -> np.ndarray:
    """Keys with the position in the row below them: all different, in the stable order."""
    rows, n = x.shape
    out = np.empty((rows, n), np.uint64)
    halves = out.view(np.uint32).reshape(rows, n, 2)
    step = max(_BLOCK // max(n, 1), 1)
    for i in range(0, rows, step):
        for j in range(0, n, _BLOCK):
            part = halves[i:i + step, j:j + _BLOCK]
            part[..., 1] = _keys(x[i:i + step, j:j + _BLOCK], name)
            part[..., 0] = np.arange(j, j + part.shape[1], dtype=np.uint32)
    return out


def _positions(packed: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(packed.view(np.uint32).reshape(*packed.shape, 2)[..., 0])


def _argsort_rows(x: np.ndarray, name: str) -> np.ndarray:
    if name == "complex64":
        unordered = np.isnan(x)
        whole = np.where(unordered, 0, x)
        return np.lexsort((whole.imag, whole.real, unordered), axis=-1).astype(np.uint32)
    if name in ("float16", "bfloat16"):
        x = _half_keys(x, name)
    if x.dtype.itemsize == 4:
        keys = _packed(x, name)
        _sort_in_place(keys)
        return _positions(keys)
    return np.argsort(x, axis=-1, kind="stable").astype(np.uint32)


def argsort(x: np.ndarray, name: str) -> np.ndarray:
    """Positions, as uint32, that sort each row."""
    return by_rows(lambda part: _argsort_rows(part, name), x)


def sort(x: np.ndarray, name: str) -> np.ndarray:
    """Each row sorted."""
    if name == "complex64":
        return np.take_along_axis(x, argsort(x, name), -1)
    return by_rows(lambda part: _sort_rows(part, name), x)


def _sort_rows(x: np.ndarray, name: str) -> np.ndarray:
    if name not in _INFINITY:
        out = np.array(x, order="C")
        _sort_in_place(out)
        return out
    if x.dtype.itemsize == 2:
        keys = _half_keys(x, name)
        keys.sort(axis=-1, kind="stable")  # radix sort
        out = _half_bits(keys).view(x.dtype)
    else:
        out = np.array(x, order="C")
        _sort_in_place(out)
    b, to = bits(np.ascontiguousarray(x)), bits(out)
    sign = 1 << (8 * x.dtype.itemsize - 1)
    if (b == sign).any():
        # Zeros of both signs stand in one run of each row; their order is the original one.
        to[to & (sign - 1) == 0] = b[b & (sign - 1) == 0]
    nans = b & (sign - 1) > _INFINITY[name]
    if nans.any():
        to[to & (sign - 1) > _INFINITY[name]] = b[nans]
    return out


def partition_order(x: np.ndarray, kth: int, name: str) -> np.ndarray:
    """Positions that put element `kth` of each row in its place, those before and behind it in
    their original order."""
    return by_rows(lambda part: _partition_rows(part, kth, name), x)


def _partition_rows(x: np.ndarray, kth: int, name: str) -> np.ndarray:
    rows, n = x.shape
    if name not in _PACKED:
        order = _argsort_rows(x, name)
        order[:, :kth].sort(axis=-1)
        order[:, kth + 1:].sort(axis=-1)
        return order
    keys = _packed(x, name)
    pivot = np.partition(keys, kth, axis=-1)[:, kth:kth + 1]
    order = np.empty((rows, n), np.uint32)
    order[:, kth:kth + 1] = _positions(pivot)
    # Every row has the same number of elements before the pivot, and behind it.
    for to, chosen in ((order[:, :kth], keys < pivot), (order[:, kth + 1:], keys > pivot)):
        to[...] = (np.flatnonzero(chosen) % n).reshape(to.shape)
    return order


def median(x: np.ndarray) -> np.ndarray:
    """The middle of each row of floats or complex numbers, nan where there is one."""
    n = x.shape[-1]
    low, high = (n - 1) // 2, n // 2
    part = np.partition(x, (low, high) if low != high else high, axis=-1)
    half = x.dtype.type(0.5)
    with np.errstate(invalid="ignore"):
        # Halves before the sum: it does not overflow.
        out = part[:, high] if low == high else part[:, low] * half + part[:, high] * half
        return np.where(np.isnan(x).any(axis=-1), x.dtype.type(np.nan), out + x.dtype.type(0))


def floats_of(x: np.ndarray, name: str) -> np.ndarray:
    """bfloat16 bits as float32; other dtypes as they are."""
    return (x.astype(np.uint32) << 16).view(np.float32) if name == "bfloat16" else x
