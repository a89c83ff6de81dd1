"""Numbers as people read them."""

from __future__ import annotations

import math
import re
import textwrap

WIDTH = 80
GLUE = "\0"
_UNIT = re.compile(r"(\d) (%|s|ms|us|B|[KMG]iB|G?B/s|G?FLOP/s|[kMG]?FLOP)(?![\w/])")


def seconds_text(s: float) -> str:
    """Seconds with three or four digits in the unit that fits.

    >>> seconds_text(0.000969), seconds_text(2.5), seconds_text(3.2e-6), seconds_text(0.0)
    ('0.969 ms', '2.500 s', '3.20 us', '0 ms')
    """
    if s == 0:
        return "0 ms"
    if not math.isfinite(s):
        return "never"
    if s >= 1:
        return f"{s:.3f} s"
    if s >= 1e-4:
        return f"{s * 1e3:.3f} ms" if s < 0.1 else f"{s * 1e3:.1f} ms"
    return f"{s * 1e6:.2f} us"


def bytes_text(n: float) -> str:
    """Bytes in binary units.

    >>> bytes_text(4), bytes_text(1 << 20), bytes_text(127926276)
    ('4 B', '1.0 MiB', '122.0 MiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            break
        n /= 1024
    return f"{n:.0f} B" if unit == "B" else f"{n:.1f} {unit}"


def rate_text(per_second: float, unit: str) -> str:
    """A rate in units of 10^9.

    >>> rate_text(27.97e9, "B/s"), rate_text(2.5e9, "FLOP/s")
    ('28 GB/s', '2.5 GFLOP/s')
    """
    value = per_second / 1e9
    return f"{value:.0f} G{unit}" if value >= 10 else f"{value:.2g} G{unit}"


def percent_text(part: float) -> str:
    """A part as a whole percentage.

    >>> percent_text(0.534), percent_text(0.0004)
    ('53 %', '0 %')
    """
    return f"{part * 100:.0f} %"


def count_text(n: int, noun: str) -> str:
    """A number with its noun.

    >>> count_text(1, "kernel"), count_text(1200, "call")
    ('1 kernel', '1,200 calls')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def times_text(factor: float) -> str:
    """A speed-up.

    >>> times_text(3.1771)
    '3.18x'
    """
    return f"{factor:.2f}x" if factor < 100 else f"{factor:.0f}x"


def wrapped(text: str, indent: str = "") -> str:
    """Text broken at 80 columns; lines after the first are indented.

    No line ends between a number and its unit, nor at a `GLUE`, which becomes a space.
    """
    text = _UNIT.sub(rf"\1{GLUE}\2", text)
    lines = textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False,
                          break_on_hyphens=False)
    return lines.replace(GLUE, " ")
