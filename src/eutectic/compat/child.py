"""`__main__` of a process that a program under `eutectic run` started by spawn or forkserver.

`multiprocessing` imports a program's main module again in such a process. It is given this module,
which puts the import hook in place first. Only the program's own main says what it is: the
environment variable names it.
"""

from __future__ import annotations

import os
import runpy

from eutectic.compat.imports import MAIN, install

_NAME = "__mp_main__"

if __name__ == _NAME:
    install()
    _kind, _, _main = os.environ.get(MAIN, "").partition(":")
    if _kind == "path":
        globals().update(runpy.run_path(_main, run_name=_NAME))
    elif _kind == "module":
        globals().update(runpy.run_module(_main, run_name=_NAME, alter_sys=True))
