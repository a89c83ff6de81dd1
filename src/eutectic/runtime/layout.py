"""Where a computed node's elements lie: a buffer, an offset, and strides."""

from __future__ import annotations

from typing import Any


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a row-major array."""
    strides = []
    step = 1
    for d in reversed(shape):
        strides.append(step)
        step *= d
    return tuple(reversed(strides))


class Data:
    """Memory of an array: `buffer`, `offset` in bytes, `strides` in elements (None: row-major)."""

    __slots__ = ("buffer", "offset", "strides")

    def __init__(self, buffer: Any, offset: int = 0, strides: tuple[int, ...] | None = None) -> None:
        self.buffer = buffer
        self.offset = offset
        self.strides = strides

    @property
    def ptr(self) -> int:
        """Address of the element with all indices zero."""
        return self.buffer.ptr + self.offset

    def strides_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return row_major(shape) if self.strides is None else self.strides


def is_row_major(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the elements lie in row-major order without gaps (axes of length 1 do not count)."""
    step = 1
    for d, s in zip(reversed(shape), reversed(strides)):
        if d != 1 and s != step:
            return False
        step *= d
    return True
