"""The parameters of one matrix product: slots of the kernel ABI, blocking, workspace.

Everything that depends on sizes is decided here and passed in slots, so that one piece of machine
code serves every shape. Strides are only known at run time: the code itself falls back from
reading an operand in place to packing it where its strides ask for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from eutectic.codegen.matmul_types import NUMERICS, Tile, tile_for
from eutectic.codegen.targets import Target


class Slot(IntEnum):
    """Positions in the i64 parameter array; strides and offsets in elements, WS_* in bytes."""

    A = 0
    B = 1
    C = 2
    M = 3
    N = 4
    K = 5
    A_ROW = 6
    A_COL = 7
    B_ROW = 8
    B_COL = 9
    C_ROW = 10
    BATCH = 11
    A_OFFSETS = 12  # pointer to i64 offsets by batch entry; 0: none
    B_OFFSETS = 13
    C_BATCH = 14
    WORKSPACE = 15  # 64-byte aligned
    EPILOGUE = 16  # kernel-ABI function over flat ranges of the (batch, M, N) output; 0: none
    EPILOGUE_PARAMS = 17
    # From the plan: functions of the shape, the dtype, the target and the number of threads.
    ROW_BLOCK = 18
    COLUMN_BLOCK = 19
    K_BLOCK = 20
    ROW_SPAN = 21  # the part of the product that is packed at once
    COLUMN_SPAN = 22
    K_SPAN = 23
    GRAIN = 24
    A_FROM = 25  # a Source
    B_FROM = 26
    WS_B = 27
    WS_THREADS = 28
    WS_THREAD_SIZE = 29
    WS_THREAD_B = 30
    WS_THREAD_C = 31
    DOWN = 32  # 1: tasks go down the columns of blocks, not along the rows
    # Written by the code itself, in its own copy.
    BATCH_BASE = 33
    ROW_BASE = 34
    COLUMN_BASE = 35
    K_BASE = 36
    ROWS = 37
    COLUMNS = 38
    DEPTH = 39
    FIRST = 40
    LAST = 41
    ROW_BLOCKS = 42
    COLUMN_BLOCKS = 43
    A_UNITS = 44


SLOTS = len(Slot)
PARAMS = Slot.DOWN + 1  # what a caller fills in


class Source(IntEnum):
    """Where the microkernel reads an operand from."""

    DIRECT = 0  # from the array itself, if its strides allow
    LOCAL = 1  # panels that a thread packs for its own block
    SHARED = 2  # panels that all threads pack before any of them multiplies


@dataclass(frozen=True, slots=True)
class Plan:
    """Blocking of one product; sizes in elements, offsets in bytes of the workspace."""

    row_block: int
    column_block: int
    k_block: int
    row_span: int
    column_span: int
    k_span: int
    grain: int
    a_from: Source
    b_from: Source
    b_offset: int
    threads_offset: int
    thread_size: int
    thread_b: int
    thread_c: int
    down: bool
    bytes: int


PANEL_PAD = 4  # k steps between shared panels: a power of two would put all into one cache set
_EPILOGUE_COLUMNS = 64  # row segments handed to an epilogue start at multiples of this
_SMALL_WORK = 1 << 21  # multiply-adds that do not repay a round of shared packing
_DIRECT_BYTES = 7 << 19  # largest B that is read in place
_ROW_BLOCK = 132
_COLUMN_BLOCK = 256
_DEPTH = 4096  # bytes of a row of A in a block
_SHARED_DEPTH = 2048
_TASKS = 4  # blocks a thread, so that stealing evens out; fewer where they divide evenly
_LONG_TASK = 1 << 24  # multiply-adds
_SHORT_TASK = 1 << 18
_K_SPAN = 4096
_SPAN = 4096


def _up(n: int, step: int) -> int:
    return -(-n // step) * step


def _even(n: int, parts: int, step: int) -> int:
    """The block length, a multiple of step, that cuts n into so many equal parts, or fewer."""
    return max(step, _up(-(-n // parts), step))


def _blocks(m: int, n: int, k: int, copies: int, tile: Tile, threads: int,
            most: tuple[int, int], by_columns: bool) -> tuple[int, int]:
    """Rows and columns of a block: at most `most`, cut further while threads lack tasks."""
    parts_m, parts_n = max(1, -(-m // most[0])), max(1, -(-n // most[1]))
    while True:
        rows = _even(m, parts_m, tile.rows)
        columns = _even(n, parts_n, _EPILOGUE_COLUMNS)
        tasks = copies * -(-m // rows) * -(-n // columns)
        work = rows * columns * k
        level = tasks % threads == 0 and work < _LONG_TASK
        if tasks >= _TASKS * threads or level or work < _SHORT_TASK:
            return rows, columns
        wide, tall = columns > _EPILOGUE_COLUMNS, rows > 2 * tile.rows
        if tall and not (wide and (by_columns or columns > rows)):
            parts_m += 1
        elif wide:
            parts_n += 1
        else:
            return rows, columns


def make_plan(dtype: str, target: Target, m: int, n: int, k: int, batch: int,
              threads: int) -> Plan:
    """Blocking for C[batch, m, n] = A[batch, m, k] @ B[batch, k, n] on so many threads."""
    numeric = NUMERICS[dtype]
    tile = tile_for(numeric, target)
    item = numeric.acc_size * numeric.planes
    small = m * n * k <= _SMALL_WORK or m <= 2 * tile.rows
    shared = not small and k * n * item > _DIRECT_BYTES
    if numeric.widened and k > _K_SPAN:
        shared = False  # accumulators live in a block's buffer, which does not outlast a span
    # Few rows: B passes once, from memory, so blocks follow its rows.
    thin = m <= 2 * tile.rows and k * n * item > target.l2
    # Rows of B a page or more apart share few cache sets: packing pays in tall blocks.
    apart = numeric.direct and not shared and not thin and n * item >= 4096
    # All of k at once: C is touched once, and narrow blocks keep their panels of B in L2.
    at_once = shared and numeric.direct and k * item <= _DEPTH
    most = (2 * _ROW_BLOCK, _COLUMN_BLOCK)
    if at_once:
        most = (2 * _ROW_BLOCK, _EPILOGUE_COLUMNS)
    elif shared or numeric.widened:
        most = (_ROW_BLOCK, _COLUMN_BLOCK)
    elif thin:
        most = (_ROW_BLOCK, 4 * _COLUMN_BLOCK)
    elif n <= _EPILOGUE_COLUMNS:  # preparing few columns is most of a block's cost
        most = (4 * _ROW_BLOCK, _COLUMN_BLOCK)
    rows, columns = _blocks(m, n, k, 1 if shared else batch, tile, threads, most, apart)
    deepest = 32 if thin else (_SHARED_DEPTH if shared and not at_once else _DEPTH) // item
    k_block = _even(k, max(1, -(-k // deepest)), 8)
    k_span, row_span, column_span = max(k, 1), max(m, 1), max(n, 1)
    a_from = b_from = Source.SHARED
    if shared:
        k_span = min(k_span, _up(_K_SPAN, k_block))
        row_span, column_span = min(_up(m, rows), _up(_SPAN, rows)), min(n, _SPAN)
    elif numeric.direct:
        b_from = Source.LOCAL if apart else Source.DIRECT
        # The same for a tile's rows of A, where enough columns share the cost.
        far = k * item >= 4096 and m > 2 * tile.rows and columns >= 2 * _EPILOGUE_COLUMNS
        a_from = Source.LOCAL if far else Source.DIRECT
    else:
        a_from = b_from = Source.LOCAL

    # Rows are cut at multiples of 12, so that the last block of rows is often a short one.
    down = m % rows != 0 and n % columns == 0 and n // columns % threads == 0
    if at_once and down and m <= row_span:
        # Blocks of all rows: a thread packs the panels of B that it alone needs.
        rows, b_from = row_span, Source.LOCAL

    pitch = (k_span + PANEL_PAD) * item if shared else 0
    panels_a = _up(row_span, tile.rows) * pitch
    panels_b = _up(column_span, tile.columns) * pitch if b_from == Source.SHARED else 0
    local_a = 0 if shared else _up(rows, tile.rows) * k_block * item
    local_b = _up(columns, tile.columns) * k_block * item if b_from != Source.SHARED else 0
    local_c = (_up(rows, tile.rows) * _up(columns, tile.columns) if numeric.widened
               else tile.rows * tile.columns) * item
    b_offset = _up(panels_a, 64)
    threads_offset = b_offset + _up(panels_b, 64)
    thread_b = _up(local_a, 64)
    thread_c = thread_b + _up(local_b, 64)
    thread_size = _up(thread_c + local_c, 4096) + 64
    grain = max(1, (1 << 18) // (rows * columns * max(k, 1)))
    return Plan(rows, columns, k_block, row_span, column_span, k_span, grain, a_from, b_from,
                b_offset, threads_offset, thread_size, thread_b, thread_c, down,
                threads_offset + threads * thread_size)


def plan_slots(plan: Plan) -> Sequence[int]:
    """The plan in the order of the slots ROW_BLOCK to DOWN."""
    return (plan.row_block, plan.column_block, plan.k_block, plan.row_span, plan.column_span,
            plan.k_span, plan.grain, int(plan.a_from), int(plan.b_from), plan.b_offset,
            plan.threads_offset, plan.thread_size, plan.thread_b, plan.thread_c, int(plan.down))
