"""Settings, read once from the environment (`EUTECTIC_*`); attributes may change at run time."""

from __future__ import annotations

import os
import warnings

from eutectic.errors import ArgumentError

VERSION = "0.1.0"


def _int(name: str, default: int) -> int:
    text = os.environ.get(name, "").strip()
    try:
        found = int(text) if text else default
    except ValueError:
        found = -1
    if found < 0:
        warnings.warn(f"{name}={text!r} is no whole number; {default} is used.", stacklevel=2)
        return default
    return found


def _bool(name: str, default: bool) -> bool:
    text = os.environ.get(name, "").strip().lower()
    return default if not text else text not in ("0", "false", "no", "off")


class Config:
    """The process-wide settings; one instance, `config`."""

    __slots__ = (
        "cache_dir", "changes", "check", "compile_cache_entries", "debug", "disable_compile",
        "disk_cache", "disk_cache_bytes", "num_threads",
    )

    changes: int
    """How often a setting was changed: whoever relies on settings notices by comparing."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "num_threads" and (type(value) is not int or value < 0):
            raise ArgumentError(
                f"[config] num_threads must be a whole number from 0 on, not {value!r}.")
        object.__setattr__(self, name, value)
        object.__setattr__(self, "changes", getattr(self, "changes", 0) + 1)

    def __init__(self) -> None:
        self.debug = _int("EUTECTIC_DEBUG", 0)
        """0 silent; 1 traces; 2 graphs after each pass; 3 kernels; 4 LLVM text; 5 assembly."""
        self.check = _bool("EUTECTIC_CHECK", False)
        """Run the graph checker between passes and LLVM's verifier on each module."""
        self.num_threads = _int("EUTECTIC_NUM_THREADS", 0)
        """Threads of the pool; 0 means the processors this process may use."""
        self.cache_dir = os.environ.get("EUTECTIC_CACHE_DIR", "")
        """Directory of the disk cache; empty means the user's cache directory."""
        self.disk_cache = _bool("EUTECTIC_DISK_CACHE", True)
        self.disk_cache_bytes = _int("EUTECTIC_DISK_CACHE_BYTES", 256 << 20)
        self.disable_compile = _bool("EUTECTIC_DISABLE_COMPILE",
                                     _bool("MLX_DISABLE_COMPILE", False))
        """Compiled functions run plainly; `disable_compile()` and `enable_compile()` set it."""
        self.compile_cache_entries = _int("EUTECTIC_COMPILE_CACHE_ENTRIES", 1024)
        """Traces kept for one compiled function before the least recently used is dropped."""


config = Config()
