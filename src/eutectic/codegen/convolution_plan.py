"""The parameters of one convolution: phases, blocking, slots of the parameter block.

With a dilated input, output positions that differ by a period meet the same kernel positions: each
such phase is an ordinary convolution with a part of the kernel, a stride and a dilation of its own.
All sizes are here and none in the machine code. Every convolution has three spatial axes; those
that are missing have length 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from eutectic.codegen.matmul_types import Numeric, Tile
from eutectic.codegen.targets import Target

AXES = 3


class Slot(IntEnum):
    """Words that all phases share; strides in elements, TH_* in bytes of a thread's scratch."""

    IN = 0
    WEIGHT = 1
    OUT = 2
    PACKED = 3
    SCRATCH = 4
    SCRATCH_STRIDE = 5
    PHASES = 6
    BATCH = 7
    GROUPS = 8
    CHANNELS = 9  # of a group
    COLUMNS = 10  # output channels of a group
    COLUMN_BLOCK = 11
    COLUMN_BLOCKS = 12
    PANELS = 13  # packed panels of a group
    IN_BATCH = 14
    IN_STRIDES = 15  # three spatial axes
    IN_CHANNEL = 18
    IN_SIZES = 19
    OUT_BATCH = 22
    W_OUT = 23  # stride of the weights from an output channel to the next
    TH_ROWS = 24  # addresses of a block's rows in the input
    TH_OUT = 25  # the same in the output
    TH_SUMS = 26  # addresses of accumulators
    TH_ACC = 27  # accumulators of columns that cannot stand in the output
    SPREAD = 28  # of a deep convolution: output channels that share input channels


SHARED_SLOTS = Slot.SPREAD + 1


class Phase(IntEnum):
    """Words of a phase, from its own start."""

    FIRST_TASK = 0
    COUNTS = 1  # output positions along three axes
    BLOCK_H = 4
    BLOCK_W = 5
    BLOCKS_H = 6
    BLOCKS_W = 7
    STRIDES = 8
    LOW = 11
    DIRECT = 14  # rows are read from the input itself
    PLANES = 15
    PLANE_STEP = 16
    SLAB_H = 17
    SLAB_W = 18
    PITCH = 19  # accumulators from a pixel to the next
    ROW_H = 20  # bytes of a step of an output position along the last two axes, in the slab
    ROW_W = 21
    OUT_FIRST = 22  # elements
    OUT_STRIDES = 23
    K_BLOCKS = 26
    K_TABLE = 27  # words from the phase's start: segments' place, count, bytes of packed weights
    PACKED_AT = 28  # bytes
    PANEL_BYTES = 29
    W_FIRST = 30  # elements
    W_COUNTS = 31  # kernel positions to pack, and elements of each
    W_RUN = 34
    W_STRIDES = 35
    W_ALONG = 38
    REACH = 39  # pixels of the slab beside a block's last position, two axes
    FIRST_UNIT = 41
    BLOCK_N = 42  # images of a block
    SLAB_BYTES = 43


PHASE_SLOTS = Phase.SLAB_BYTES + 1


@dataclass(frozen=True, slots=True)
class Axis:
    """One phase along one axis: output `first + period*q` for q < count is the sum over j < kernel
    of weight position `k_first + k_step*j` times input `q*stride + j*dilation - low`.
    """

    first: int
    period: int
    count: int
    stride: int
    dilation: int
    low: int
    k_first: int
    k_step: int
    kernel: int


def axis_phases(size: int, kernel: int, stride: int, low: int, dilation: int,
                input_dilation: int) -> list[Axis]:
    """The phases of an axis with `size` output positions.

    >>> [(p.k_first, p.k_step, p.kernel) for p in axis_phases(4, 3, 1, 1, 1, 2)]
    [(1, 2, 1), (0, 2, 2)]
    """
    if input_dilation == 1:
        return [Axis(0, 1, size, stride, dilation, low, 0, 1, kernel)]
    period = input_dilation // math.gcd(stride, input_dilation)
    step = input_dilation // math.gcd(dilation, input_dilation)
    out = []
    for first in range(min(period, size)):
        hits = [k for k in range(min(step, kernel))
                if (first * stride + k * dilation - low) % input_dilation == 0]
        k_first = hits[0] if hits else 0
        count = -(-(size - first) // period)
        taps = -(-(kernel - k_first) // step) if hits else 0
        start = (first * stride + k_first * dilation - low) // input_dilation if hits else 0
        out.append(Axis(first, period, count, period * stride // input_dilation,
                        step * dilation // input_dilation, -start, k_first, step, taps))
    return out


@dataclass(frozen=True, slots=True)
class Problem:
    """A convolution as the code sees it; spatial tuples have three entries."""

    batch: int
    channels: int  # of a group
    columns: int  # output channels of a group
    groups: int
    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    out: tuple[int, ...]
    stride: tuple[int, ...]
    low: tuple[int, ...]
    dilation: tuple[int, ...]
    input_dilation: tuple[int, ...]
    in_strides: tuple[int, ...]  # batch, three axes, channel
    w_strides: tuple[int, ...]  # output channel, three axes, channel
    spread: int = 0
    """Where groups are small, lanes run across them: `columns` are then all output channels, in
    groups of `spread`, and `groups` is 1."""

    @property
    def deep(self) -> bool:
        return self.spread > 0

    @property
    def depthwise(self) -> bool:
        """Every output channel sees the input channel of the same number."""
        return self.spread == self.channels == 1


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameter block, the sizes of its two parallel regions, and bytes of memory."""

    params: list[int]
    units: int
    tasks: int
    grain: int
    units_grain: int
    packed_bytes: int
    scratch_bytes: int


_DEPTH = 4096  # bytes of a row in a block of the inner sum
_ROWS = 288
_DEEP_ROWS = 2048
_TASK_COST = 3000.0
_COPY_COST = 0.3  # cycles of copying an element, beside a multiply-add of a vector: 1
_WEIGHTS_COST = 4  # of bringing weights into the cache, as so many rows
FAR = 256  # pixels between the ends of a kernel that are better not copied
_SMALL_UNITS = 1 << 18  # bytes of packed weights that one thread prepares at least
_ALIAS = 2048  # bytes between neighbours that share too few cache sets


def _up(n: int, step: int) -> int:
    return -(-n // step) * step


def _splits(n: int, most: int) -> list[int]:
    """Lengths up to `most` to cut n into: whole, equal parts, and a few that are short."""
    parts = {-(-n // p) for p in (1, 2, 3, 4, 5, 6, 8, 12, 16)} | {1, 12, 48, 144, 288}
    return sorted(b for b in parts if b <= min(n, most))


@dataclass(frozen=True, slots=True)
class _Work:
    """What the choice of a block depends on; pairs are of the last two axes."""

    counts: tuple[int, int]
    strides: tuple[int, int]
    reach: tuple[int, int]  # pixels that a position sees
    planes: int
    depth: int  # multiply-adds of an output
    vectors: int  # of a column block
    pitch: int  # bytes of a pixel to copy; 0: nothing is copied
    copied: int  # elements of it
    images: int  # that may share a block
    others: int  # tasks for each block of positions and images
    most: int  # positions of a block

    def extent(self, axis: int, block: int) -> int:
        """Pixels that a block of positions sees along an axis."""
        return (block - 1) * self.strides[axis] + self.reach[axis] if self.reach[axis] else 0


@lru_cache(maxsize=1024)
def _block(work: _Work, tile: Tile, l2: int, threads: int) -> tuple[int, int, int, float]:
    """Images and lengths of the block that takes the least time, and its time in cycles.

    A simple count, which also weighs how evenly the tasks fall on the threads.
    """
    best, found = math.inf, (1, 1, 1, 1.0)
    for bw in _splits(work.counts[1], work.most):
        for bh in _splits(work.counts[0], work.most // bw):
            pixels = work.planes * work.extent(0, bh) * work.extent(1, bw)
            far = pixels * work.pitch > l2 // 3
            whole = (bh, bw) == work.counts
            for n in range(1, 1 + (min(work.images, work.most // (bh * bw), 8) if whole else 1)):
                if n > 1 and n * pixels * work.pitch > l2 // 2:
                    break
                tall, rest = divmod(n * bw * bh, tile.rows)
                rows = tall * tile.rows + 1.2 * _up(rest, tile.few)
                cost = ((rows + _WEIGHTS_COST) * work.vectors * work.depth + 6 * n * bw * bh
                        + _TASK_COST + _COPY_COST * (4 if far else 1) * n * pixels * work.copied)
                tasks = work.others * -(-work.images // n) * -(-work.counts[0] // bh) * -(
                    -work.counts[1] // bw)
                # Tasks are taken one by one: a last round that is not full costs its part.
                rounds = max(tasks / threads + 0.5 * (1 - 1 / threads), 1)
                if cost * rounds < best:
                    best, found = cost * rounds, (n, bh, bw, cost)
    return found


def make_plan(p: Problem, numeric: Numeric, tile: Tile, target: Target, threads: int) -> Plan:
    """Blocking and parameters of a convolution on so many threads."""
    item = numeric.acc_size
    params = [0] * SHARED_SLOTS
    per_axis = [axis_phases(*given) for given in zip(p.out, p.kernel, p.stride, p.low, p.dilation,
                                                     p.input_dilation)]
    phases = list(itertools.product(*per_axis))
    panels = -(-p.columns // tile.columns)
    column_block = _column_block(p, phases, tile, threads)
    column_blocks = -(-p.columns // column_block)
    out_strides = (p.out[1] * p.out[2], p.out[2], 1)
    total = p.groups * p.columns  # output channels
    tasks = units = packed = rows = slab_bytes = 0
    cost = math.inf
    blocks: list[list[int]] = []
    for axes in phases:
        words = [0] * PHASE_SLOTS
        direct = _direct(p, axes, numeric, tile)
        pitch = _pitch(p, axes, tile, column_block, item)
        taps = [a.kernel for a in axes]
        reach_h, reach_w = ((a.kernel - 1) * a.dilation + 1 if a.kernel else 0 for a in axes[1:])
        work = _Work((axes[1].count, axes[2].count), (axes[1].stride, axes[2].stride),
                     (reach_h, reach_w), taps[0], math.prod(taps) * p.channels,
                     -(-min(p.columns, column_block) // tile.lanes), 0 if direct else pitch * item,
                     0 if direct else pitch, p.batch, p.groups * column_blocks * axes[0].count,
                     _DEEP_ROWS if p.deep else _ROWS)
        block_n, block_h, block_w, time = _block(work, tile, target.l2, threads)
        cost = min(cost, time)
        slab = [taps[0], work.extent(0, block_h), work.extent(1, block_w)]
        steps = [slab[1] * slab[2] * pitch * item, slab[2] * pitch * item, pitch * item]
        if direct:
            steps = [s * numeric.size for s in p.in_strides[1:4]]
            steps[0] *= axes[0].dilation
        else:
            slab_bytes = max(slab_bytes, block_n * math.prod(slab) * pitch * item)
        segments = _segments(p, axes, steps, item, column_block)
        table, depth = _k_blocks(segments, tile, item, p.deep)
        many = [-(-axes[1].count // block_h), -(-axes[2].count // block_w)]
        w_run, w_counts, along = p.channels, taps, p.w_strides[4]
        if _contiguous(p, axes):
            w_run, w_counts, along = math.prod(taps) * w_run, [1, 1, 1], 1
        for slot, values in (
                (Phase.FIRST_TASK, [tasks]), (Phase.COUNTS, [a.count for a in axes]),
                (Phase.BLOCK_H, [block_h, block_w, *many]),
                (Phase.STRIDES, [a.stride for a in axes]), (Phase.LOW, [a.low for a in axes]),
                (Phase.DIRECT, [int(direct), slab[0], axes[0].dilation, slab[1], slab[2], pitch]),
                (Phase.ROW_H, [steps[1] * axes[1].stride, steps[2] * axes[2].stride]),
                (Phase.OUT_FIRST, [total * sum(a.first * s for a, s in zip(axes, out_strides))]),
                (Phase.OUT_STRIDES, [a.period * s * total for a, s in zip(axes, out_strides)]),
                (Phase.PACKED_AT, [packed, depth * tile.columns * item]),
                (Phase.W_FIRST, [sum(a.k_first * s for a, s in zip(axes, p.w_strides[1:4]))]),
                (Phase.W_COUNTS, w_counts), (Phase.W_RUN, [w_run]),
                (Phase.W_STRIDES, [a.k_step * s for a, s in zip(axes, p.w_strides[1:4])]),
                (Phase.W_ALONG, [along]),
                (Phase.REACH, [reach_h, reach_w]),
                (Phase.BLOCK_N, [block_n, math.prod(slab) * pitch * item]),
                (Phase.FIRST_UNIT, [units])):
            words[slot:slot + len(values)] = values
        words[Phase.K_BLOCKS], words[Phase.K_TABLE] = len(table), PHASE_SLOTS
        _place(words, table, segments)
        blocks.append(words)
        packed += _up(p.groups * panels * depth * tile.columns * item, 64)
        units += p.groups * panels
        tasks += work.others * -(-p.batch // block_n) * many[0] * many[1]
        rows = max(rows, block_n * block_h * block_w + tile.rows)
    tables = _up(8 * rows, 64)
    at = _up(slab_bytes, 64) + 64
    own = [at, at + tables, at + 2 * tables, at + 3 * tables]
    # Rows beyond a block's last one write behind the accumulators.
    accumulators = _up(rows * tile.columns * item, 64) + column_block * item
    stride = _up(own[3] + accumulators, 4096) + 64
    params[Slot.SCRATCH_STRIDE:Slot.SCRATCH_STRIDE + 9] = [
        stride, len(blocks), p.batch, p.groups, p.channels, p.columns, column_block, column_blocks,
        panels]
    params[Slot.IN_BATCH:Slot.IN_SIZES + 3] = [*p.in_strides, *p.sizes]
    params[Slot.OUT_BATCH] = math.prod(p.out) * total
    params[Slot.W_OUT] = p.w_strides[0]
    params[Slot.TH_ROWS:Slot.SPREAD + 1] = [*own, p.spread]
    # Phases lie behind a table of their places.
    places = len(params)
    params += [0] * len(blocks)
    for i, words in enumerate(blocks):
        params[places + i] = len(params)
        params += words
    grain = max(1, int((1 << 16) // cost)) if cost < math.inf else 1
    units_grain = max(1, _SMALL_UNITS * units // max(packed, 1))
    return Plan(params, units, tasks, grain, units_grain, packed, stride * threads)


def _column_block(p: Problem, phases: Sequence[Sequence[Axis]], tile: Tile, threads: int) -> int:
    """Output channels of a task: many, unless too few tasks would remain."""
    if p.deep:
        step = math.lcm(tile.columns, p.spread)
        return min(_up(p.columns, tile.columns), max(step, 2 * tile.columns))
    block = min(_up(p.columns, tile.columns), 512)
    positions = p.batch * p.groups * math.prod(p.out)
    while block > 2 * tile.columns and (positions // 64) * -(-p.columns // block) < 4 * threads:
        block = _up(-(-block // 2), tile.columns)
    return block


def _pitch(p: Problem, axes: Sequence[Axis], tile: Tile, column_block: int, item: int) -> int:
    """Accumulators between neighbouring pixels of the slab."""
    if p.deep:
        return p.channels * column_block
    bad = (p.channels * item * axes[2].stride) % _ALIAS == 0
    return p.channels + (tile.lanes if bad else 0)


def _direct(p: Problem, axes: Sequence[Axis], numeric: Numeric, tile: Tile) -> bool:
    """Whether rows can be read where they are: nothing to convert, no element outside."""
    if not all(a.kernel for a in axes):
        return True  # nothing is read
    if numeric.widened or p.in_strides[4] != 1:
        return False
    if p.deep and (not p.depthwise or p.columns % tile.columns):
        return False
    near = (axes[2].kernel - 1) * axes[2].dilation < FAR
    if not p.deep and near and p.in_strides[3] * axes[2].stride * numeric.size % _ALIAS == 0:
        return False
    return all(a.low <= 0 and (a.count - 1) * a.stride + (a.kernel - 1) * a.dilation - a.low < size
               for a, size in zip(axes, p.sizes))


def _segments(p: Problem, axes: Sequence[Axis], steps: Sequence[int], item: int,
              column_block: int) -> list[tuple[int, int]]:
    """(byte offset from a row's start, bytes): the runs of the inner sum, in its order."""
    d, h, w = axes
    size = item * p.channels
    run = w.kernel
    joined = not p.deep and w.dilation == 1 and steps[2] == size
    out = []
    # Planes of the slab lie behind each other; in the input itself they are a dilation apart.
    for z, y in itertools.product(range(d.kernel), range(h.kernel)):
        at = z * steps[0] + y * h.dilation * steps[1]
        if joined and run:
            out.append((at, run * size))
        else:
            out += [(at + x * w.dilation * steps[2], size) for x in range(run)]
    if p.deep:  # a step at a time
        out = [(at + c * column_block * item, item) for at, _size in out
               for c in range(p.channels)]
    return out


def _k_blocks(segments: list[tuple[int, int]], tile: Tile, item: int,
              deep: bool) -> tuple[list[tuple[int, int, int]], int]:
    """Blocks of the inner sum (first segment, segments, first step), cut evenly; and its length.

    Segments longer than a block are cut as well.
    """
    if not deep:
        cut = []
        for at, size in segments:
            parts = max(1, -(-size // _DEPTH))
            step = _up(-(-size // parts), 16 * item)
            cut += [(at + s, min(step, size - s)) for s in range(0, size, step)]
        segments[:] = cut
    depth = sum(size for _at, size in segments)
    limit = depth / max(1, -(-depth // _DEPTH)) + 16 * item
    table = []
    first = start = length = 0
    for i, (_at, size) in enumerate(segments):
        if length and length + size > limit and not deep:
            table.append((first, i - first, start // item))
            first, start, length = i, start + length, 0
        length += size
    table.append((first, len(segments) - first, start // item))
    return table, depth // item


def _place(words: list[int], table: list[tuple[int, int, int]],
           segments: list[tuple[int, int]]) -> None:
    """Append the table of blocks and the segments to a phase's words."""
    base = len(words) + 3 * len(table)
    for first, count, step in table:
        words += [base + 2 * first, count, step]
    for segment in segments:
        words += segment


def _contiguous(p: Problem, axes: Sequence[Axis]) -> bool:
    """Whether all weights of an output channel lie in the order of the sum."""
    step = 1
    for a, size in zip(axes, p.kernel):
        if a.k_first or a.k_step != 1 or a.kernel != size:
            return False
    for size, stride in zip((p.channels, *p.kernel[::-1]), p.w_strides[:0:-1]):
        if size != 1 and stride != step:
            return False
        step *= size
    return True
