"""An explanation as text of 80 columns, and as plain data."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Sequence
from typing import Any

from eutectic.inspect.cold import passes_seconds
from eutectic.inspect.explain import (
    KINDS, BodyInfo, Explanation, KernelInfo, NotFused, Operand, Operation)
from eutectic.inspect.units import GLUE, WIDTH, bytes_text, count_text, seconds_text, wrapped
from eutectic.tracing.history import CompileStats

_MOST_LISTED = 6
"""Arrays, and refused pairs of one reason, that are listed one by one."""


def explanation_text(x: Explanation) -> str:
    """The whole explanation, without the texts of graphs and kernels."""
    parts = [_head(x), *[kernel_text(k) for k in x.kernels]]
    if x.not_fused:
        parts.append(_not_fused(x.not_fused))
    tail = f"{_memory(x)}\n{_cost(x)}"
    if x.holds is not None and x.holds.misses:
        tail += f"\n{_holds(x.holds)}"
    return "\n\n".join([*parts, tail])


def _head(x: Explanation) -> str:
    inputs = ", ".join([o.type for o in x.inputs])
    why = "" if x.why.part == "first" else f"; traced because {x.why.whole}"
    if not x.kernels:
        return wrapped(f"{x.name}({inputs}) computes nothing: its results are inputs, views of "
                       f"them, or constants{why}", "  ")
    count = f"{count_text(x.operations, 'operation')} in {count_text(len(x.kernels), 'kernel')}"
    return wrapped(f"{x.name}({inputs}): {count}, on {count_text(x.threads, 'thread')}{why}", "  ")


def _holds(s: CompileStats) -> str:
    """What a compiled function has done and holds, and why it was traced again."""
    m = s.memory
    parts = [count_text(s.entries, "trace"), count_text(s.hits, "hit"),
             f"{s.misses:,} miss{'es' * (s.misses != 1)}", count_text(s.evictions, "eviction")]
    if s.broken_calls:
        parts.append(count_text(s.broken_calls, "call") + " run uncompiled")
    lines = [wrapped(f"holds   {', '.join(parts)}; {bytes_text(s.bytes)}: temporaries "
                     f"{bytes_text(m.temporaries)}, constants {bytes_text(m.constants)}, code "
                     f"{bytes_text(m.code)}", " " * 8)]
    lines += [wrapped(f"traced  {why.whole}", " " * 8) for why in s.reasons if why.part != "first"]
    lines += [wrapped(f"breaks  {place}, {count_text(n, 'call')}", " " * 8)
              for place, n in s.breaks]
    return "\n".join(lines)


def kernel_text(k: KernelInfo) -> str:
    """A kernel without its code."""
    lines = [f"kernel {k.index}: {KINDS[k.kind]}"]
    if not k.operations:
        lines.append("  copies an array into the order in which the next kernel reads it")
    lines += [_operands("reads", k.inputs, k.work.read), _operands("writes", k.outputs,
                                                                   k.work.written)]
    lines.append(f"  work    {_work(k)}")
    lines += _operations(k.operations)
    for b in k.bodies:
        lines.append(textwrap.indent(_body(b), "    "))
    return "\n".join([line for line in lines if line])


def _body(b: BodyInfo) -> str:
    """A body with its kernels, which have numbers of their own."""
    count = count_text(len(b.kernels), "kernel")
    times = "" if b.times is None else f", {count_text(b.times, 'time')}"
    parts = [f"{b.name}: {count}{times}", *[kernel_text(k) for k in b.kernels]]
    if b.not_fused:
        parts.append(_not_fused(b.not_fused))
    return "\n".join(parts)


def _operands(label: str, operands: Sequence[Operand], nbytes: int) -> str:
    listed = [f"{o.name} {o.type}" for o in operands[:_MOST_LISTED]]
    if len(operands) > _MOST_LISTED:
        listed.append(f"and {len(operands) - _MOST_LISTED} more")
    # A name and its type stay on one line.
    items = ", ".join([text.replace(" ", GLUE) for text in listed])
    text = f"  {label:<8}{bytes_text(nbytes)}" + (": " if listed else "") + items
    return wrapped(text, " " * 10)


def _work(k: KernelInfo) -> str:
    flops = k.work.flops
    if not flops:
        return "no floating-point operations"
    value, unit = next((flops / size, name) for size, name in (
        (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")) if flops >= size)
    number = f"{value:.1f} {unit}FLOP" if unit else f"{flops} FLOP"
    return f"{number}, {flops / max(k.work.moved, 1):.1f} a byte moved"


def _operations(operations: Sequence[Operation]) -> list[str]:
    """The operations by the user's line, with the line itself."""
    by_line: dict[tuple[str | None, int | None], dict[str, int]] = {}
    for o in operations:
        counts = by_line.setdefault((o.file, o.line), {})
        counts[o.op] = counts.get(o.op, 0) + 1
    lines = []
    for (file, number), counts in by_line.items():
        ops = ", ".join([op if n == 1 else f"{n} {op}" for op, n in counts.items()])
        where = next(o.where for o in operations if (o.file, o.line) == (file, number))
        lines.append(wrapped(f"  {where or 'unknown line'}: {ops}", " " * 6))
        source = linecache.getline(file, number).strip() if file and number else ""
        if source:
            room = WIDTH - 6
            lines.append("      " + (source if len(source) <= room else source[:room - 3] + "..."))
    return lines


def _not_fused(pairs: Sequence[NotFused]) -> str:
    """The pairs by reason."""
    by_reason: dict[tuple[str, str], list[NotFused]] = {}
    for p in pairs:
        by_reason.setdefault((p.rule, p.reason), []).append(p)
    lines = ["not fused"]
    for (rule, reason), some in by_reason.items():
        lines.append(wrapped(f"  {rule}: {reason}", " " * 6))
        lines += [f"    {p.producer} -> {p.consumer}" for p in some[:_MOST_LISTED]]
        if len(some) > _MOST_LISTED:
            lines.append(f"    and {len(some) - _MOST_LISTED} more pairs")
    return "\n".join(lines)


def _memory(x: Explanation) -> str:
    m = x.memory
    return (f"memory  inputs {bytes_text(m.inputs)}, results {bytes_text(m.results)}, temporaries "
            f"{bytes_text(m.temporaries)}")


def _cost(x: Explanation) -> str:
    s = x.seconds
    parts = [f"{name} {seconds_text(v)}" for name, v in (
        ("trace", s["trace"]), ("passes", passes_seconds(s)), ("plan", s["plan"]),
        ("code", s["codegen"]), ("LLVM", s["llvm"]), ("load", s["load"]))]
    return wrapped("cost    " + ", ".join(parts), " " * 8)


def to_dict(x: Explanation, llvm: bool, assembly: bool) -> dict[str, Any]:
    """Plain data for JSON."""
    return {
        "name": x.name, "why": str(x.why), "threads": x.threads,
        "inputs": [_operand(o) for o in x.inputs], "results": [_operand(o) for o in x.results],
        "graphs": dict(x.graphs), "kernels": [_kernel(k, llvm, assembly) for k in x.kernels],
        "not_fused": [_pair(p) for p in x.not_fused],
        "memory": {"inputs": x.memory.inputs, "results": x.memory.results,
                   "temporaries": x.memory.temporaries},
        "seconds": x.seconds, "holds": None if x.holds is None else _stats(x.holds)}


def _stats(s: CompileStats) -> dict[str, Any]:
    return {
        "traces": s.traces, "hits": s.hits, "misses": s.misses, "evictions": s.evictions,
        "entries": s.entries, "plain_calls": s.plain_calls, "broken_calls": s.broken_calls,
        "breaks": [{"operation": b.operation, "file": b.file, "line": b.line, "text": b.text,
                    "calls": n} for b, n in s.breaks],
        "reasons": [str(why) for why in s.reasons], "bytes": s.bytes,
        "memory": {"temporaries": s.memory.temporaries, "constants": s.memory.constants,
                   "code": s.memory.code}}


def _kernel(k: KernelInfo, llvm: bool, assembly: bool) -> dict[str, Any]:
    w = k.work
    item: dict[str, Any] = {
        "index": k.index, "kind": k.kind, "operations": [_operation(o) for o in k.operations],
        "inputs": [_operand(o) for o in k.inputs], "outputs": [_operand(o) for o in k.outputs],
        "bytes_read": w.read, "bytes_written": w.written, "flops": w.flops, "text": k.text}
    if k.bodies:
        item["bodies"] = [{
            "name": b.name, "times": b.times, "graphs": dict(b.graphs),
            "kernels": [_kernel(inner, llvm, assembly) for inner in b.kernels],
            "not_fused": [_pair(p) for p in b.not_fused]} for b in k.bodies]
    if llvm:
        item["llvm"] = k.llvm
    if assembly:
        item["assembly"] = k.assembly
    return item


def _pair(p: NotFused) -> dict[str, Any]:
    return {"producer": _operation(p.producer), "consumer": _operation(p.consumer),
            "kernels": list(p.kernels), "rule": p.rule, "reason": p.reason}


def _operation(o: Operation) -> dict[str, Any]:
    return {"name": o.name, "op": o.op, "type": o.type, "file": o.file, "line": o.line}


def _operand(o: Operand) -> dict[str, Any]:
    return {"name": o.name, "type": o.type, "bytes": o.nbytes}
