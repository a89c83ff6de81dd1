"""EUTECTIC_DEBUG: what the compiler does, on stderr. Whatever a level shows is printed here.

1 a line for each trace; 2 the graph after each pass; 3 the kernels; 4 their LLVM text; 5 their
assembly. A level shows what the levels below it show. `docs/debugging.md` has examples.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from eutectic.config import config
from eutectic.graph.ir import Graph
from eutectic.graph.show import show

if TYPE_CHECKING:
    from eutectic.engine.plan import Plan


def report_trace(name: str, line: tuple[str, int] | None, why: str, seconds: float,
                 plan: Plan) -> None:
    """Level 1: a function was traced and planned."""
    if config.debug >= 1:
        where = f" ({line[0]}:{line[1]})" if line else ""
        count = len(plan.steps)
        _say(f"traced {name}{where}: {why}; {count} step{'s' * (count != 1)}, "
             f"{seconds * 1e3:.1f} ms")


def report_break(name: str, place: str) -> None:
    """Level 1: a call that was to be traced runs plainly, because something needs a value."""
    if config.debug >= 1:
        _say(f"{name} runs plainly: {place}")


def report_graph(stage: str, graph: Graph, before: Graph | None = None) -> None:
    """Level 2: a pass is done."""
    if config.debug >= 2:
        text = show(graph, sources=True)
        if before is not None and show(before, sources=True) == text:
            _say(f"{graph.name} after {stage}: unchanged")
        else:
            _say(f"{graph.name} after {stage}\n{text}")


def report_kernels(name: str, plan: Plan) -> None:
    """Levels 3 to 5: the kernels of a plan, from the structure down to the processor."""
    if config.debug < 3:
        return
    # Not needed unless asked for: LLVM is not imported on a warm start.
    from eutectic.engine.kernels import llvm_text
    from eutectic.runtime.jit import assembly

    for i, k in enumerate(plan.kernels):
        cost = k.codegen + k.llvm + k.load
        _say(f"{name} kernel {i} ({k.name}, from {_ORIGIN[k.origin]}, {cost * 1e3:.1f} ms)\n"
             f"{k.spec.text()}")
        if config.debug >= 4:
            text = llvm_text(k.spec)
            _say(f"{name} kernel {i}, LLVM\n{text}")
            if config.debug >= 5:
                _say(f"{name} kernel {i}, assembly\n{assembly(text)}")


_ORIGIN = {"compiled": "LLVM", "disk": "the disk cache"}


def _say(text: str) -> None:
    sys.stderr.write(f"eutectic: {text}\n")
