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

    def __init__(self, buffer: Any, offset: int = 0,
                 strides: tuple[int, ...] | None = None) -> None:
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


def view_layout(view: Any, offset: int, strides: tuple[int, ...]) -> tuple[
        int, tuple[int, ...]] | None:
    """(offset, strides) of a view node over memory that its input has at (offset, strides).

    None where no strides describe it (a reshape of memory with gaps or another order).
    """
    name, source = view.prim.name, view.inputs[0].shape
    if name == "transpose":
        return offset, tuple([strides[p] for p in view.attrs[0]])
    if name == "slice":
        starts, steps = view.attrs
        moved = offset + sum([a * s for a, s in zip(starts, strides)])
        return moved, tuple([k * s for k, s in zip(steps, strides)])
    if name == "broadcast_to":
        pad = len(view.shape) - len(source)
        kept = [0 if d == 1 and view.shape[pad + i] != 1 else strides[i]
                for i, d in enumerate(source)]
        return offset, (*[0] * pad, *kept)
    found = reshape_strides(source, strides, view.shape)
    return None if found is None else (offset, found)


def reshape_strides(shape: tuple[int, ...], strides: tuple[int, ...],
                    new: tuple[int, ...]) -> tuple[int, ...] | None:
    """Strides after a row-major reshape without moving anything, or None."""
    if 0 in shape:
        return row_major(new)
    # Merge axes that lie without gaps into runs, then cut the new axes out of the runs.
    runs: list[tuple[int, int]] = []
    for d, s in zip(shape, strides):
        if d == 1:
            continue
        if runs and runs[-1][1] == d * s:
            runs[-1] = (runs[-1][0] * d, s)
        else:
            runs.append((d, s))
    out = [0] * len(new)
    i = len(new) - 1
    for size, step in reversed(runs):
        left = size
        while left > 1:
            if i < 0:
                return None
            if left % new[i]:
                return None
            out[i] = step
            step *= new[i]
            left //= new[i]
            i -= 1
    # Axes of length 1 may have any stride; keep them row-major-like.
    step = 1
    for k in range(len(new) - 1, -1, -1):
        if new[k] == 1:
            out[k] = step
        step = out[k] * new[k]
    return tuple(out)
