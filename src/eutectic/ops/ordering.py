"""Order of elements in NumPy, in every dtype: what `ops.sorting` computes with.

All functions take rows (the last axis of a matrix) as NumPy arrays, bfloat16 as its bits in uint16,
and the dtype's name. The order is MLX's and stable: -0.0 equals 0.0, nan comes last, complex
numbers order by real part, then imaginary part, those with a nan last. Results do not depend on the
machine: wherever NumPy's fast sorts may exchange equal elements, the elements carry their position.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from eutectic.ops import radix
from eutectic.runtime.jobs import together
from eutectic.runtime.pool import get_num_threads

PARALLEL = 1 << 17
"""Elements from which a call is worth threads; NumPy's sorts release the GIL."""
_SHORT = 512
"""Longest row for which sorting costs less than a radix sort's counters or a partition."""
_BLOCK = 1 << 15
"""Elements converted to keys at a time: their temporaries stay in cache."""
_INFINITY = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000,
             "float64": 0x7FF0000000000000}
_PACKED = frozenset(("bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "float16",
                     "bfloat16", "float32"))


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


def _each(work: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """`work` of each row of a matrix, which gives a row of its own."""
    return work(x[0])[None] if x.shape[0] == 1 else np.stack([work(row) for row in x])


def _sorted(x: np.ndarray) -> np.ndarray:
    """Rows sorted by NumPy; of one large row each thread sorts a part."""
    n = x.shape[-1]
    x = np.array(x, order="C")
    parts = radix.shares(n)
    if x.shape[0] != 1 or len(parts) == 1:
        x.sort(axis=-1)
        return x
    row = x[0]
    together([row[a:b].sort for a, b in parts])
    row.sort(kind="stable")  # timsort finds the sorted runs and merges them
    return x


def bits(x: np.ndarray) -> np.ndarray:
    """The elements' bits as unsigned integers."""
    return x.view(f"u{x.dtype.itemsize}")


@cache
def _half_tables(name: str) -> tuple[np.ndarray, np.ndarray]:
    """For all bits of a 16-bit float an integer of the same order, equal for zeros and for nans;
    and for these integers the bits: of zero those of 0.0, of nan those of some nan."""
    b = np.arange(1 << 16, dtype=np.int64)
    size = b & 0x7FFF
    keys = np.where(b >> 15 != 0, 0x8000 - size, 0x8000 + size)
    keys[size > _INFINITY[name]] = 0xFFFF
    back = np.where(b < 0x8000, 0x10000 - b, b - 0x8000)
    return keys.astype(np.uint16), back.astype(np.uint16)


def _half_keys(x: np.ndarray, name: str) -> np.ndarray:
    return _half_tables(name)[0][bits(x)]


def _keys(x: np.ndarray, name: str) -> np.ndarray:
    """At most 32-bit elements as uint32 of the same order."""
    if name in ("float16", "bfloat16"):
        return _half_keys(x, name).astype(np.uint32)
    if name == "float32":
        with np.errstate(invalid="ignore"):
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

    def pack(low: int, high: int) -> None:
        for i in range(0, rows, step):
            for j in range(low, high, _BLOCK):
                part = halves[i:i + step, j:min(j + _BLOCK, high)]
                part[..., 1] = _keys(x[i:i + step, j:min(j + _BLOCK, high)], name)
                part[..., 0] = np.arange(j, j + part.shape[1], dtype=np.uint32)

    together([partial(pack, *part) for part in (radix.shares(n) if rows == 1 else [(0, n)])])
    return out


def _positions(packed: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(packed.view(np.uint32).reshape(*packed.shape, 2)[..., 0])


def _long_keys(x: np.ndarray, name: str) -> np.ndarray:
    """64-bit elements as uint64 of the same order."""
    if name == "float64":
        with np.errstate(invalid="ignore"):
            b = (x + 0.0).view(np.int64)  # -0.0 + 0 is 0
        keys = (b ^ (b >> 63 | np.int64(-1 << 63))).view(np.uint64)
        keys[np.isnan(x)] = 0xFFFFFFFFFFFFFFFF
        return keys
    return x.view(np.uint64) ^ np.uint64(1 << 63) if name == "int64" else x


def _long_order(row: np.ndarray, name: str) -> np.ndarray:
    """Positions that sort one row of 64-bit elements: by the low halves of keys, then the high."""
    n = row.size
    words = np.empty((n, 2), np.uint32)
    high = np.empty(n, np.uint32)
    order = np.arange(n, dtype=np.uint32)

    def low_halves(first: int, end: int) -> None:
        for i in range(first, end, _BLOCK):
            j = min(i + _BLOCK, end)
            keys = _long_keys(row[i:j], name).view(np.uint32).reshape(-1, 2)
            words[i:j, 1], high[i:j] = keys[:, 0], keys[:, 1]
            words[i:j, 0] = order[i:j]

    def high_halves(first: int, end: int) -> None:
        for i in range(first, end, _BLOCK):
            j = min(i + _BLOCK, end)
            words[i:j, 1] = high[order[i:j]]
            words[i:j, 0] = order[i:j]

    for halves in (low_halves, high_halves):
        together([partial(halves, *part) for part in radix.shares(n)])
        order = radix.ordered(words.view(np.uint64).ravel(), 32, signed=False, kept=32, owned=True)
    return order


def _argsort_rows(x: np.ndarray, name: str) -> np.ndarray:
    if name == "complex64":
        unordered = np.isnan(x)
        whole = np.where(unordered, 0, x)
        return np.lexsort((whole.imag, whole.real, unordered), axis=-1).astype(np.uint32)
    size, n = x.dtype.itemsize, x.shape[1]
    if size == 8 and n >= radix.LONG:
        return _each(lambda row: _long_order(row, name), x)
    if size == 4 and n >= radix.LONG:
        return _each(lambda row: radix.ordered(_packed(row[None], name)[0], 32, signed=False,
                                               kept=32, owned=True), x)
    if size == 4 or (name in _PACKED and n <= _SHORT):
        return _positions(_sorted(_packed(x, name)))
    if name in ("float16", "bfloat16"):
        x = _half_keys(x, name)
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
        if x.dtype.itemsize >= 4 and x.shape[1] >= radix.LONG:
            signed, kept = x.dtype.kind == "i", 8 * x.dtype.itemsize
            return _each(lambda row: radix.ordered(bits(row), 0, signed, kept, owned=False),
                         x).view(x.dtype)
        return _sorted(x)
    if x.dtype.itemsize == 2:
        keys = _half_keys(x, name)
        keys.sort(axis=-1, kind="stable" if x.shape[1] > _SHORT else None)  # stable: radix sort
        out = _half_tables(name)[1][keys].view(x.dtype)
    else:
        out = _sorted(x)
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
    def work(part: np.ndarray) -> np.ndarray:
        places = np.arange(part.shape[1], dtype=np.uint32)
        return _partitioned(part, np.broadcast_to(places, part.shape), kth, name)
    return by_rows(work, x)


def partition(x: np.ndarray, kth: int, name: str) -> np.ndarray:
    """The elements that `partition_order` names."""
    return by_rows(lambda part: _partitioned(part, part, kth, name), x)


def _partitioned(x: np.ndarray, taken: np.ndarray, kth: int, name: str) -> np.ndarray:
    """`taken`, of the shape of x, in the order of a partition of x."""
    rows = x.shape[0]
    if name not in _PACKED or x.shape[1] <= _SHORT:
        order = _argsort_rows(x, name)
        order[:, :kth].sort(axis=-1)
        order[:, kth + 1:].sort(axis=-1)
        return np.take_along_axis(taken, order, -1)
    keys = _packed(x, name)
    pivot = np.partition(keys, kth, axis=-1)[:, kth:kth + 1]
    out = np.empty(x.shape, taken.dtype)
    out[:, kth:kth + 1] = np.take_along_axis(taken, _positions(pivot), -1)
    # Every row has the same number of elements before the pivot, and behind it.
    out[:, :kth] = taken[keys < pivot].reshape(rows, kth)
    out[:, kth + 1:] = taken[keys > pivot].reshape(rows, -1)
    return out


def top(x: np.ndarray, k: int, name: str) -> np.ndarray:
    """The last k elements of `partition` at k from the end; 0 < k < length."""
    return by_rows(lambda part: _top_rows(part, k, name), x)


def _top_rows(x: np.ndarray, k: int, name: str) -> np.ndarray:
    n = x.shape[1]
    width = min(n // (2 * k), 256)
    if width >= 8 and name in _PACKED:
        # The k-th greatest of the maxima of blocks is a bound: k elements are not below it.
        ordered = _half_keys(x, name) if name in ("float16", "bfloat16") else x
        count = n // width
        maxima = ordered[:, :count * width].reshape(-1, count, width).max(axis=-1)
        if ordered.dtype.kind != "f" or not np.isnan(maxima).any():
            bound = np.partition(maxima, count - k, axis=-1)[:, count - k, None]
            x = _right_aligned(x, ~(ordered < bound), name)
    return _partitioned(x, x, x.shape[1] - k, name)[:, x.shape[1] - k:]


def _right_aligned(x: np.ndarray, chosen: np.ndarray, name: str) -> np.ndarray:
    """The chosen elements of each row in their order, at its end; before them least elements."""
    counts = np.count_nonzero(chosen, axis=-1)
    most = int(counts.max())
    if x.dtype.kind == "f":
        least: Any = -np.inf
    elif name == "bfloat16":
        least = 0xFF80  # -inf
    else:
        least = False if name == "bool" else np.iinfo(x.dtype).min
    out = np.full((x.shape[0], most), least, x.dtype)
    out[np.arange(most) >= most - counts[:, None]] = x[chosen]
    return out


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
