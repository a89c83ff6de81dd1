"""`eutectic run`: runs a program as `python` would, with `mlx` being Eutectic.

The program sees what it sees under `python script.py` or `python -m module`: `sys.argv`,
`sys.path[0]`, `__main__`, `__file__`. Exit statuses and tracebacks are the same.
"""

from __future__ import annotations

import io
import os
import runpy
import sys
import zipfile
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from multiprocessing import spawn
from types import CodeType, ModuleType, TracebackType
from typing import Any

from eutectic.compat.imports import MAIN, install

USAGE = """usage: eutectic run SCRIPT [ARGUMENT ...]
       eutectic run -m MODULE [ARGUMENT ...]

Run a program that imports mlx, unchanged, on Eutectic: as `python SCRIPT` or `python -m MODULE`
would, except that mlx.core, mlx.nn, mlx.optimizers and mlx.utils are Eutectic's.
"""

_kept: list[ModuleType] = []
"""The former `__main__`, which is still running."""


def main(arguments: Sequence[str]) -> int:
    """Run the program that the arguments name; returns the exit status, or raises SystemExit.

    >>> main(["--help"])
    usage: eutectic run SCRIPT [ARGUMENT ...]
    ...
    0
    """
    first, *rest = arguments or [""]
    if first in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0
    if first == "-m" and rest:
        _install()
        sys.argv[:] = ["-m", *rest[1:]]
        _set_first_path(os.getcwd())
        return _run(lambda: _run_module(rest[0], True))
    if not first or first.startswith("-"):
        sys.stderr.write(USAGE)
        return 2
    _install()
    sys.argv[:] = [first, *rest]
    if os.path.isdir(first) or zipfile.is_zipfile(first):
        _set_first_path(os.path.abspath(first))
        return _run(lambda: _run_module("__main__", False))
    try:
        with io.open_code(os.path.abspath(first)) as file:
            source = file.read()
    except OSError as error:
        sys.stderr.write(f"eutectic run: can't open file {os.path.abspath(first)!r}: "
                         f"[Errno {error.errno}] {error.strerror}\n")
        return 2
    _set_first_path(os.path.dirname(os.path.realpath(first)))
    return _run(lambda: _run_source(source, os.path.abspath(first)))


def _install() -> None:
    """The import hook here, and in processes that do not inherit it by fork."""
    install()
    os.environ.pop(MAIN, None)
    prepare = spawn.get_preparation_data

    def prepared(name: str) -> dict[str, Any]:
        data = prepare(name)
        for kind in ("path", "name"):
            main = data.pop(f"init_main_from_{kind}", None)
            if main is not None and not main.endswith("__main__"):
                os.environ[MAIN] = f"{'module' if kind == 'name' else kind}:{main}"
        return data | {"init_main_from_name": "eutectic.compat.child"}

    spawn.get_preparation_data = prepared  # type: ignore[assignment]


def _set_first_path(folder: str) -> None:
    """Put a folder where Python puts the program's, in place of the command's own."""
    if getattr(sys.flags, "safe_path", False):
        return
    if sys.path:
        sys.path[0] = folder
    else:
        sys.path.append(folder)


def _fresh_main() -> ModuleType:
    _kept.append(sys.modules["__main__"])
    module = ModuleType("__main__")
    vars(module)["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = module
    return module


def _run_source(source: bytes, path: str) -> None:
    module = _fresh_main()
    code: CodeType = compile(source, path, "exec", dont_inherit=True)
    vars(module).update(__file__=path, __cached__=None,
                        __loader__=SourceFileLoader("__main__", path))
    exec(code, vars(module))


def _run_module(name: str, alter_argv: bool) -> None:
    _fresh_main()
    run: Callable[..., Any] = runpy._run_module_as_main  # type: ignore[attr-defined]
    run(name, alter_argv)  # what `python -m` calls


_OUR_FRAMES = 3
"""Frames of ours in the traceback of a program: of `_run`, the lambda, and what it calls."""


def _run(program: Callable[[], None]) -> int:
    """Run the program; an error that it lets out is shown as Python does, without our frames."""
    try:
        program()
    except SystemExit:
        raise
    except BaseException as error:
        trace: TracebackType | None = error.__traceback__
        for _ in range(_OUR_FRAMES):
            trace = trace.tb_next if trace is not None else None
        error.__traceback__ = trace
        sys.excepthook(type(error), error, trace)
        if isinstance(error, KeyboardInterrupt):
            # Python ends by the signal, once it has cleaned up: a calling shell stops as well.
            sys.excepthook = lambda *shown: None
            raise
        return 1
    return 0
