"""Whose code something is: the user's, this package's, Python's own, or another library's."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

_PACKAGE = __name__.split(".")[0]
_STDLIB: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset())


def can_look_into(x: Any) -> bool:
    """Whether an object may hold something of the user's that its identity does not fix."""
    if isinstance(x, (types.FunctionType, types.MethodType, functools.partial)):
        return True
    module = x.__module__ if isinstance(x, type) else type(x).__module__
    return is_ours(module) or not is_library(module) or hasattr(x, "__wrapped__")


def is_ours(module: str | None) -> bool:
    return bool(module) and str(module).split(".")[0] == _PACKAGE


def is_standard(module: str | None) -> bool:
    """Whether a module is Python's own, or NumPy's or the like, on which operations are built."""
    root = str(module).split(".")[0]
    return root in _BELOW or (root in _STDLIB and root != "__main__")


_BELOW = frozenset(("numpy", "scipy", "llvmlite", "ml_dtypes"))


@functools.lru_cache(4096)
def is_library(module: str | None) -> bool:
    """Whether a module is no part of the user's program."""
    if not isinstance(module, str):  # a descriptor: of a type that some native code makes
        return module is not None
    if not module:
        return False
    root = module.split(".")[0]
    if root == _PACKAGE or (root in _STDLIB and root != "__main__"):
        return True
    found = sys.modules.get(root)
    path = getattr(found, "__file__", None) or ""
    return "site-packages" in path or "dist-packages" in path
