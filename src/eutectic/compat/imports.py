"""The import hook: `mlx`, `mlx.core`, `mlx.nn` and the rest are Eutectic's modules.

A finder before all others answers for `mlx` and everything below it, so an installed `mlx` is
neither needed nor loaded. `mlx.core` *is* `eutectic.core`, not a copy: one array class, one state.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType

from eutectic.config import VERSION, config
from eutectic.errors import ArgumentError

_NAME, _OURS = "mlx", "eutectic"
MAIN = "EUTECTIC_RUN_MAIN"
"""Environment variable that tells child processes which main module to import; see `child`."""
_PARTS = frozenset(("core", "nn", "optimizers", "utils"))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and loads `mlx` and its submodules."""

    def find_spec(self, fullname: str, path: Sequence[str] | None,
                  target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        if fullname == _NAME:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        if not fullname.startswith(_NAME + "."):
            return None
        name = _ours(fullname)
        part = name.split(".")[1]
        if part not in _PARTS or importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(
                f"{fullname} is not there yet: Eutectic {VERSION} has no {name}.", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == _NAME:
            module.__path__ = []
            module.__doc__ = "Eutectic under the name of MLX."
        else:  # the import system takes the module from here
            sys.modules[module.__name__] = importlib.import_module(_ours(module.__name__))


_finder = _Finder()


def _ours(name: str) -> str:
    return _OURS + name[len(_NAME):]


def install() -> None:
    """Let `import mlx.core` and its like give Eutectic's modules, from now on.

    Raises ArgumentError where another `mlx` has been imported already.

    >>> import subprocess, sys
    >>> code = "import eutectic.compat.mlx, mlx.core as mx; print(mx.array([1, 2]) + 1)"
    >>> subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    'array([2, 3], dtype=int32)\\n'
    """
    if _finder in sys.meta_path:
        return
    loaded = [name for name, module in sys.modules.items()
              if (name == _NAME or name.startswith(_NAME + ".")) and module is not None]
    if loaded:
        raise ArgumentError(f"[compat] {loaded[0]} has been imported already; import "
                            "eutectic.compat.mlx before it.")
    sys.meta_path.insert(0, _finder)
    if config.debug >= 1:
        sys.stderr.write(f"eutectic: import mlx gives Eutectic {VERSION}{_passed_over()}\n")


def _passed_over() -> str:
    try:
        return f", not the installed mlx {importlib.metadata.version(_NAME)}"
    except importlib.metadata.PackageNotFoundError:
        return ""


def uninstall() -> None:
    """Undo `install`; modules that have been imported stay with whoever has them."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        for name in [n for n in sys.modules if n == _NAME or n.startswith(_NAME + ".")]:
            del sys.modules[name]
