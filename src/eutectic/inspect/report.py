"""The report of a measurement, as plain text of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eutectic.inspect.units import (
    bytes_text, count_text, percent_text, rate_text, seconds_text, times_text, wrapped)

if TYPE_CHECKING:
    from eutectic.inspect.cold import FirstCall
    from eutectic.inspect.measure import Measurement, Side

_LABEL = 14
_COLUMN = 26


def report(m: Measurement) -> str:
    """The whole report."""
    return "\n\n".join([body(m), verdict(m), *warnings(m)])


def body(m: Measurement) -> str:
    """The numbers."""
    lines = [title(m), "", row("", "plain", "compiled"), *_table(m), ""]
    lines += [*_first_call(m), ""]
    lines.append(field("bits", "identical" if m.identical else "DIFFERENT"))
    return "\n".join([*lines, *_machine(m)])


def verdict(m: Measurement) -> str:
    """The conclusion."""
    return wrapped(m.verdict.sentence)


def warnings(m: Measurement) -> list[str]:
    """What makes the numbers doubtful, a paragraph each."""
    return [wrapped("Warning: " + w) for w in m.warnings]


def title(m: Measurement) -> str:
    """The function, its inputs and the threads."""
    return wrapped(f"{m.name}({', '.join(m.inputs)}) on "
                   f"{count_text(m.machine.threads, 'thread')}", "  ")


def row(label: str, *cells: str) -> str:
    """A line of the table."""
    return (f"  {label:<{_LABEL}}" + "".join([f"{c:<{_COLUMN}}" for c in cells])).rstrip()


def field(label: str, text: str) -> str:
    """A labelled line, wrapped under its text."""
    return wrapped(f"  {label:<{_LABEL}}{text}", " " * (_LABEL + 2))


def _table(m: Measurement) -> list[str]:
    p, c = m.plain, m.compiled
    return [
        row("median", seconds_text(p.median), f"{seconds_text(c.median)}   "
                                              f"{_speed(m.speedup)}"),
        row("quartiles", _quartiles(p), _quartiles(c)),
        row("minimum", seconds_text(p.samples.minimum), seconds_text(c.samples.minimum)),
        row("rounds", _rounds(p), f"{_rounds(c)}, faster in {percent_text(m.wins)}"),
        row("kernels", str(p.kernels), str(c.kernels)),
        row("in kernels", _inside(p), _inside(c)),
        row("bytes moved", bytes_text(p.work.moved), bytes_text(c.work.moved)),
        row("bandwidth", _bandwidth(p), _bandwidth(c)),
        row("arithmetic", _arithmetic(p, m), _arithmetic(c, m)),
    ]


def _speed(factor: float) -> str:
    return f"{times_text(factor)} faster" if factor >= 1 else f"{times_text(1 / factor)} slower"


def _quartiles(s: Side) -> str:
    low, high = seconds_text(s.samples.lower), seconds_text(s.samples.upper)
    number, unit = low.split(" ")
    return f"{number} - {high}" if unit == high.split(" ")[1] else f"{low} - {high}"


def _rounds(s: Side) -> str:
    calls = s.samples.calls
    return f"{len(s.samples.seconds)}" + (f" of {count_text(calls, 'call')}" if calls > 1 else "")


def _inside(s: Side) -> str:
    return f"{seconds_text(s.in_kernels)} ({percent_text(s.in_kernels / s.median)})"


def _bandwidth(s: Side) -> str:
    if not s.work.moved or not s.in_kernels:
        return "-"
    moved = rate_text(s.work.moved / s.in_kernels, "B/s")
    return f"{moved} ({percent_text(s.bandwidth_part)})"


def _arithmetic(s: Side, m: Measurement) -> str:
    if not s.work.flops:
        return "-"
    return f"{rate_text(s.rate, 'FLOP/s')} ({percent_text(s.rate / m.machine.flops)})"


def _first_call(m: Measurement) -> list[str]:
    first = m.first
    lines = [field("first call", f"{seconds_text(first.cold.total)} with empty caches: "
                                 f"{_stages(first.cold)}"),
             field("", f"{seconds_text(first.disk.total)} in a later process (kernels on disk), "
                       f"{seconds_text(first.memory.total)} for a new shape"),
             field("", f"{seconds_text(first.plain)} plain, with empty caches")]
    calls = m.verdict.calls
    pays = ("not known: the rounds disagree" if m.verdict.outcome == "cannot tell" else
            "never" if calls == float("inf") else f"after {count_text(int(calls), 'call')}")
    return [*lines, field("pays", pays)]


def _stages(f: FirstCall) -> str:
    parts = (("trace", f.trace), ("passes", f.passes), ("plan", f.plan), ("code", f.codegen),
             ("LLVM", f.llvm), ("load", f.load), ("run", f.run))
    return ", ".join(f"{name} {seconds * 1e3:.1f}" for name, seconds in parts)


def _machine(m: Measurement) -> list[str]:
    this = m.machine
    small, large = this.bandwidth[0], this.bandwidth[-1]
    return [field("100 % is", f"{rate_text(this.flops, 'FLOP/s')} of fma, and copying at "
                              f"{rate_text(small.copy, 'B/s')} within "
                              f"{bytes_text(small.working_set)} to {rate_text(large.copy, 'B/s')} "
                              f"within {bytes_text(large.working_set)} ({this.processor})")]
