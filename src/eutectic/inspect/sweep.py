"""The exercise of the benchmark: change one thing at a time, the shape or the number of loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from eutectic.inspect.measure import Measurement, measure_call
from eutectic.inspect.seed import data, heavy_of
from eutectic.inspect.units import times_text, wrapped

SHAPES = (512, 1024, 2048, 4096)
LOOPS = (20, 10, 5, 2, 1)
SAME = 0.1
"""Speed-ups that differ by less than this part are called the same."""


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement of the sweep."""

    n: int
    loops: int
    measurement: Measurement


@dataclass(frozen=True, slots=True)
class Sweep:
    """All points: shapes at the first number of loops, then loops at the first shape."""

    shapes: tuple[Point, ...]
    loops: tuple[Point, ...]

    def points(self) -> tuple[Point, ...]:
        """Every point once."""
        return (*self.shapes, *self.loops[1:])

    def conclusion(self) -> str:
        """What the numbers show."""
        parts = []
        if len(self.shapes) > 1:
            a, b = self.shapes[0], self.shapes[-1]
            parts.append(f"From ({a.n}, {a.n}) to ({b.n}, {b.n}) with {_loops(a.loops)} "
                         + trend([p.measurement.speedup for p in self.shapes]))
        if len(self.loops) > 1:
            a, b = self.loops[0], self.loops[-1]
            parts.append(f"From {_loops(a.loops)} to {b.loops} on ({a.n}, {a.n}) "
                         + trend([p.measurement.speedup for p in self.loops]))
        points = self.points()
        best = max(points, key=lambda p: p.measurement.speedup)
        least = min(points, key=lambda p: p.measurement.speedup)
        if best is not least:
            parts.append(f"Compiling helped most with {_loops(best.loops)} on ({best.n}, {best.n}) "
                         f"({times_text(best.measurement.speedup)}) and least with "
                         f"{_loops(least.loops)} on ({least.n}, {least.n}) "
                         f"({times_text(least.measurement.speedup)}).")
        return " ".join(parts)

    def warnings(self) -> list[str]:
        """What makes the numbers doubtful, a paragraph each."""
        found = []
        points = self.points()
        noisy = sum([p.measurement.noisy for p in points])
        if noisy:
            found.append(wrapped(f"Warning: The machine was noisy in {noisy} of {len(points)} "
                                 "measurements. Measure again on an idle one."))
        if any(not p.measurement.identical for p in points):
            found.append(wrapped("Warning: plain and compiled gave different bits."))
        return found

    def to_dict(self) -> dict[str, Any]:
        """The numbers, for JSON."""
        return {"points": [{"shape": [p.n, p.n], "loops": p.loops, **p.measurement.to_dict()}
                           for p in self.points()], "conclusion": self.conclusion()}

    def __str__(self) -> str:
        head = f"  {'shape':<14}{'loops':>5}{'plain':>12}{'compiled':>12}{'speed-up':>10}"
        lines = [head + "  verdict, bound by"]
        for p in self.points():
            m = p.measurement
            lines.append(f"  {f'({p.n}, {p.n})':<14}{p.loops:>5}{_ms(m.plain.median):>12}"
                         f"{_ms(m.compiled.median):>12}{times_text(m.speedup):>10}"
                         f"  {m.verdict.outcome}, {m.verdict.bound}")
        return "\n".join([*lines, "", wrapped(self.conclusion())])


def trend(factors: Sequence[float]) -> str:
    """What happens to the speed-up along a series.

    >>> trend([5.0, 5.2]), trend([4.0, 3.0, 1.0])
    ('the speed-up holds (5.00x to 5.20x).', 'the speed-up shrinks from 4.00x to 1.00x.')
    """
    first, last = factors[0], factors[-1]
    span = f"from {times_text(first)} to {times_text(last)}"
    if max(factors) <= min(factors) * (1 + SAME):
        return f"the speed-up holds ({times_text(first)} to {times_text(last)})."
    inner = factors[1:-1]
    if inner and max(inner) > max(first, last) * (1 + SAME):
        return f"the speed-up goes {span}, with up to {times_text(max(inner))} between."
    if inner and min(inner) < min(first, last) * (1 - SAME):
        return f"the speed-up goes {span}, with down to {times_text(min(inner))} between."
    return f"the speed-up {'grows' if last > first else 'shrinks'} {span}."


def sweep(shapes: Sequence[int] = SHAPES, loops: Sequence[int] = LOOPS, budget: float = 1.0,
          progress: Callable[[float, str], None] | None = None) -> Sweep:
    """Measure each shape with `loops[0]` loops and each number of loops on `shapes[0]`."""
    jobs = [(n, loops[0]) for n in shapes] + [(shapes[0], k) for k in loops[1:]]
    points = []
    for i, (n, k) in enumerate(jobs):
        def step(part: float, at: int = i, text: str = f"({n}, {n}), {_loops(k)}") -> None:
            if progress is not None:
                progress((at + part) / len(jobs), text)
        step(0.0)
        points.append(Point(n, k, measure_call(heavy_of(k), [data(n)], {}, budget, "heavy", step)))
    by_shape = tuple(points[:len(shapes)])
    return Sweep(by_shape, (by_shape[0], *points[len(shapes):]))


def _loops(k: int) -> str:
    return f"{k} loop{'' if k == 1 else 's'}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"
