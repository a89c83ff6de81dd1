"""The command `eutectic`: measure, explain, cache, claims, run.

Results go to standard output, progress and errors to standard error. Exit status: 0, 1 where the
user's function fails, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import time
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eutectic.config import VERSION
from eutectic.errors import ArgumentError

if TYPE_CHECKING:
    from eutectic.inspect.explain import Explanation

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_FUNCTION = "package.module:function or path/to/file.py:function; without it, the benchmark: 20 " \
    "serial tanh on (512, 512)"
_INPUT = "an argument: f32[512,512] (f16 bf16 f32 f64 i8-i64 u8-u64 bool c64), 2.5, True, None; " \
    "once for each argument"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    >>> main(["--version"])
    eutectic 0.1.0
    0
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ["run"]:  # all that follows is the program's, and so are its errors
        from eutectic.compat import run

        return run.main(words[1:])
    if words[:1] == ["claims"]:  # its options are those of the script
        from eutectic.inspect import claims

        return claims.main(words[1:])
    parser = _parser()
    try:
        given = parser.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    if given.version:
        _out().print(f"eutectic {VERSION}", markup=False)
        return 0
    if given.command is None:
        parser.print_help()
        return 0
    from eutectic.inspect.inputs import UsageError

    try:
        return given.run(given)
    except UsageError as error:
        sys.stderr.write(f"eutectic {given.command}: {error}\n")
        return 2
    except BrokenPipeError:  # whoever reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    except Exception as error:
        # Whatever the user's function raises is shown as theirs.
        sys.stderr.write(_shortened(error))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="eutectic", description="Measure and explain what compiling a function does.")
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    measure = commands.add_parser(
        "measure", help="time a function plain and compiled",
        description="Time a function plain and compiled on this machine and say whether compiling "
                    "is worth it.")
    _add_function(measure)
    measure.add_argument("--sweep", action="store_true",
                         help="the benchmark for several shapes, then several numbers of loops")
    measure.add_argument("--shapes", type=_sizes, metavar="N,...",
                         help="sizes n of the sweep's (n, n) arrays (512,1024,2048,4096)")
    measure.add_argument("--loops", type=_sizes, metavar="N,...",
                         help="numbers of serial tanh of the sweep (20,10,5,2,1)")
    measure.add_argument("--threads", type=_positive, metavar="N", help="threads to use")
    measure.add_argument("--budget", type=_seconds, metavar="SECONDS",
                         help="time for each measurement (2; in a sweep 1)")
    measure.set_defaults(run=_measure)

    explain = commands.add_parser(
        "explain", help="show kernels, the operations in each, and refused fusions",
        description="Show what compiling a function does: kernels, the operations in each, why "
                    "others were not fused, memory, and cost by stage.")
    _add_function(explain)
    explain.add_argument("--kernel", type=_index, metavar="N", help="show one kernel in full")
    explain.add_argument("--graphs", action="store_true", help="show the graph after each pass")
    explain.add_argument("--llvm", action="store_true", help="show LLVM text of the kernels")
    explain.add_argument("--asm", action="store_true", help="show assembly of the kernels")
    explain.set_defaults(run=_explain)

    cache = commands.add_parser("cache", help="show or clear the disk cache of machine code",
                                description="Show where the disk cache is and how much it holds.")
    cache.add_argument("action", nargs="?", choices=("show", "clear"), default="show")
    cache.add_argument("--json", action="store_true", help="print JSON")
    cache.set_defaults(run=_cache)

    commands.add_parser("claims", help="check what is said about mx.compile; writes docs/claims.md")
    commands.add_parser("run", help="run a program that imports mlx, unchanged")
    return parser


def _add_function(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("function", nargs="?", metavar="FUNCTION", help=_FUNCTION)
    parser.add_argument("--input", action="append", default=[], metavar="SPEC", help=_INPUT)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


# ---- types of arguments -------------------------------------------------------------------------


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _index(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a kernel")
    return int(text)


def _sizes(text: str) -> list[int]:
    return [_positive(part.strip()) for part in text.split(",")]


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


# ---- measure ------------------------------------------------------------------------------------


def _measure(given: argparse.Namespace) -> int:
    from eutectic.inspect.inputs import UsageError
    from eutectic.inspect.measure import BUDGET, measure_call
    from eutectic.runtime import pool

    if given.threads is not None:
        try:
            pool.set_num_threads(given.threads)
        except ArgumentError as error:
            raise UsageError(str(error)) from None
    if given.sweep or given.shapes or given.loops:
        if given.function is not None:
            raise UsageError("[measure] a sweep is of the benchmark: it takes no function.")
        return _sweep(given)
    name, fun, args = _call(given)
    with _Bar() as bar, _users_output():
        found = measure_call(fun, args, {}, given.budget or BUDGET, name,
                             lambda part: bar(part, f"measuring {name}"))
    own = given.function is None
    if given.json:
        from eutectic.inspect.seed import REFERENCE
        return _json(found.to_dict() | ({"reference": REFERENCE} if own else {}))
    from eutectic.inspect import report

    out = _out()
    out.print(report.body(found), markup=False)
    if own:
        out.print(_reference(), markup=False)
    out.print()
    out.print(report.verdict(found), markup=False, style="bold")
    for warning in report.warnings(found):
        out.print()
        out.print(warning, markup=False, style="yellow")
    return 0


def _reference() -> str:
    from eutectic.inspect.report import field
    from eutectic.inspect.seed import REFERENCE as r

    return field("published", f"{r['plain_ms']} ms plain, {r['compiled_ms']} ms compiled, "
                              f"{r['speedup']}x ({r['machine']})")


def _sweep(given: argparse.Namespace) -> int:
    from eutectic.inspect.sweep import LOOPS, SHAPES, sweep

    with _Bar() as bar:
        found = sweep(given.shapes or SHAPES, given.loops or LOOPS, given.budget or 1.0, bar)
    if given.json:
        return _json(found.to_dict())
    out = _out()
    out.print(str(found), markup=False)
    for warning in found.warnings():
        out.print()
        out.print(warning, markup=False, style="yellow")
    return 0


def _call(given: argparse.Namespace) -> tuple[str, Any, list[Any]]:
    """(name, function, arguments) that the command line names."""
    from eutectic.inspect.inputs import UsageError, load_function, make_input
    from eutectic.inspect.units import count_text
    from eutectic.tracing.paths import signature_of

    if given.function is None:
        from eutectic.inspect.seed import data, heavy_of

        if given.input:
            raise UsageError("[input] the benchmark has inputs of its own; name a function first.")
        return "heavy", heavy_of(), [data()]
    args = [make_input(spec, i) for i, spec in enumerate(given.input)]
    with _users_output():
        fun = load_function(given.function)
    name = given.function.rpartition(":")[2]
    signature = signature_of(fun)
    if signature is not None:
        try:
            signature.bind(*args)
        except TypeError as error:
            given_text = count_text(len(args), "input")
            raise UsageError(f"[input] {name}{signature} with {given_text}: {error}; give "
                             "--input once for each argument.") from None
    return name, fun, args


# ---- explain ------------------------------------------------------------------------------------


def _explain(given: argparse.Namespace) -> int:
    from eutectic.inspect.explain import explain
    from eutectic.inspect.inputs import UsageError

    _name, fun, args = _call(given)
    with _users_output():
        found = explain(fun, *args)
    if given.kernel is not None and given.kernel >= len(found.kernels):
        raise UsageError(f"[explain] there is no kernel {given.kernel}; the kernels are 0 to "
                         f"{len(found.kernels) - 1}." if found.kernels else
                         "[explain] there are no kernels.")
    if given.json:
        return _json(found.to_dict(llvm=given.llvm, assembly=given.asm))
    _out().print("\n\n".join(_explained(found, given)), markup=False)
    return 0


def _explained(found: Explanation, given: argparse.Namespace) -> list[str]:
    """The parts of an explanation that were asked for."""
    kernels = found.kernels
    if given.kernel is not None:
        kernels = (found.kernels[given.kernel],)
        parts = [f"{kernels[0]}\n\n{kernels[0].text}"]
    else:
        parts = [str(found)]
        if given.graphs:
            parts += [f"after {stage}\n{text}" for stage, text in found.graphs]
    for k in kernels:
        if given.llvm:
            parts.append(f"; kernel {k.index}\n{k.llvm}")
        if given.asm:
            parts.append(f"# kernel {k.index}\n{k.assembly}")
    return parts


# ---- cache --------------------------------------------------------------------------------------


def _cache(given: argparse.Namespace) -> int:
    from eutectic.inspect.units import bytes_text
    from eutectic.runtime import diskcache

    disk = diskcache.default()
    before = disk.size()
    if given.action == "clear":
        disk.clear()
    size = disk.size()
    if given.json:
        return _json({"directory": disk.directory, "bytes": size, "limit": disk.limit,
                      "enabled": disk.enabled, "why_disabled": disk.stats.disabled,
                      "removed_bytes": before - size})
    out = _out()
    if given.action == "clear":
        out.print(f"removed {bytes_text(before - size)} from {disk.directory}", markup=False)
    elif disk.enabled:
        out.print(f"{disk.directory}\n{bytes_text(size)} of at most {bytes_text(disk.limit)}",
                  markup=False)
    else:
        out.print(f"the disk cache is off: {disk.stats.disabled}", markup=False)
    return 0


# ---- output -------------------------------------------------------------------------------------


def _users_output() -> Any:
    """What the user's code prints is no part of a report or of its JSON: it goes beside it."""
    return contextlib.redirect_stdout(sys.stderr)


def _out() -> Any:
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def _json(value: Any) -> int:
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")
    return 0


class _Bar:
    """A line of progress on a terminal's standard error, for what takes long."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._shown = 0.0
        self._progress: Any = None
        self._task: Any = None

    def __enter__(self) -> _Bar:
        return self

    def __call__(self, part: float, text: str) -> None:
        """Show that `part` is done. Draws only here: a thread that draws would disturb timing."""
        now = time.perf_counter()
        if not sys.stderr.isatty() or now - self._start < 0.5 or now - self._shown < 0.25:
            return
        self._shown = now
        if self._progress is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True,
                                      auto_refresh=False)
            self._task = self._progress.add_task(text, total=1.0)
            self._progress.start()
        self._progress.update(self._task, completed=part, description=text, refresh=True)

    def __exit__(self, *error: Any) -> None:
        if self._progress is not None:
            self._progress.stop()


def _shortened(error: BaseException) -> str:
    """A traceback with the user's frames only."""
    frames = [f for f in traceback.extract_tb(error.__traceback__)
              if not f.filename.startswith((_PACKAGE, "<frozen"))]
    head = ["Traceback (most recent call last):\n"] if frames else []
    return "".join([*head, *traceback.format_list(frames),
                    *traceback.format_exception_only(type(error), error)])
