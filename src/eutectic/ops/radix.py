"""Radix sort of one long row: stable, in passes over eight bits of a key that threads share.

The order of equal keys is the original one and so the result is one, whatever shares of the row
threads take.
"""

from __future__ import annotations

import ctypes
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from eutectic.codegen.radix import DIGITS, Slot, emit
from eutectic.runtime import jit
from eutectic.runtime.jobs import together
from eutectic.runtime.pool import get_num_threads

LONG = 1 << 14
"""Elements of a row from which this is faster than NumPy's sorts of words."""
_SHARE = 1 << 17
"""Elements of a row for each thread."""

# A call through it releases the GIL.
_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@cache
def _loops(width: int, kept: int) -> tuple[Any, Any]:
    text, *names = emit(width, kept)
    module = jit.compile_module(text, names)
    count, move = (_LOOP(module[name]) for name in names)
    return count, move


def shares(n: int) -> list[tuple[int, int]]:
    """The parts of a row of n elements that threads take, as ranges."""
    parts = max(1, min(get_num_threads(), n // _SHARE))
    return list(pairwise([n * i // parts for i in range(parts + 1)]))


def _share_out(loop: Any, blocks: list[np.ndarray], parts: list[tuple[int, int]]) -> None:
    together([partial(loop, b.ctypes.data, *part) for b, part in zip(blocks, parts)])


def ordered(words: np.ndarray, low: int, signed: bool, kept: int, owned: bool) -> np.ndarray:
    """The low `kept` bits of the words of one row, in the order of their bits from `low` on.

    `words` are contiguous uint32 or uint64; `signed`: their highest bit is a sign. `owned`: their
    memory may be written over.
    """
    n, width = words.size, 8 * words.itemsize
    whole = width == kept
    parts = shares(n)
    source, spare = words, None
    for shift in range(low, width, 8):
        last = shift + 8 == width
        flip = 0x80 if signed and last else 0
        bits = kept if last else width
        count, move = _loops(width, bits)
        tables = np.zeros((len(parts), DIGITS), np.int64)
        blocks = [np.array([source.ctypes.data, t.ctypes.data, 0, shift, flip], np.int64)
                  for t in tables]
        _share_out(count, blocks, parts)
        if tables.sum(axis=0).max() == n and (whole or not last):
            continue  # all have the same digit
        # Those of a digit lie together, in the order of the parts.
        ends = np.cumsum(tables.T.ravel()).reshape(DIGITS, len(parts)).T
        tables[:] = ends - tables
        out = spare if bits == width and spare is not None else np.empty(n, f"u{bits // 8}")
        for b in blocks:
            b[Slot.OUT] = out.ctypes.data
        _share_out(move, blocks, parts)
        spare = source if owned or source is not words else None
        source = out
    return source if owned or source is not words else words.copy()
