"""A disk cache of machine code: content-addressed, checksummed, atomic, bounded, the user's own.

Whatever is wrong with the disk (corrupt, truncated or foreign files, no home, a full or read-only
file system) costs a compilation and a count in the statistics, never an error. Nothing is handed
out before its checksum matches, and nothing is read from a directory that others could write to.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import threading
import time
from dataclasses import dataclass

from eutectic.config import config

FORMAT = 1
"""Bump when the meaning of an entry changes: older files then become misses."""

_MAGIC = b"EUTECTIC"
_HEADER = struct.Struct("<8sI64sQ32s")  # magic, format, key (hex), payload length, sha256(payload)
_SUFFIX = ".bin"
_WRITES_BETWEEN_SWEEPS = 64
_STALE_TEMPORARY_SECONDS = 3600.0
_TOUCH_SECONDS = 3600.0


@dataclass(slots=True)
class CacheStats:
    """What one process did with its disk cache."""

    hits: int = 0
    misses: int = 0
    writes: int = 0
    errors: int = 0
    evictions: int = 0
    disabled: str = ""
    """Why nothing is read from or written to disk; empty when the cache works."""


def default_directory() -> str | None:
    """The cache directory by the settings: `EUTECTIC_CACHE_DIR`, XDG's, or `~/.cache/eutectic`."""
    if config.cache_dir:
        return config.cache_dir
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base and os.path.isabs(base):
        return os.path.join(base, "eutectic")
    home = os.path.expanduser("~")
    return os.path.join(home, ".cache", "eutectic") if os.path.isabs(home) else None


class DiskCache:
    """Entries of bytes under hexadecimal keys of 64 digits (a sha256).

    >>> import tempfile
    >>> cache = DiskCache(tempfile.mkdtemp() + "/cache", 1 << 20)
    >>> key = hashlib.sha256(b"what it depends on").hexdigest()
    >>> cache.get(key), cache.put(key, b"code"), cache.get(key)
    (None, True, b'code')
    """

    def __init__(
        self, directory: str | os.PathLike[str] | None, limit: int, enabled: bool = True
    ) -> None:
        self.directory = None if directory is None else os.fspath(directory)
        self.limit = limit
        self.stats = CacheStats()
        self._root = ""
        self._opened = False
        self._writes_left = 0
        self._bytes_left = 0
        self._lock = threading.Lock()
        if not enabled:
            self._disable("switched off")
        elif directory is None:
            self._disable("no home directory")

    @property
    def enabled(self) -> bool:
        """Whether entries are kept on disk, as far as is known; `stats.disabled` says why not."""
        return not self.stats.disabled

    def get(self, key: str) -> bytes | None:
        """Return the payload stored under `key`, or None; a damaged entry is removed."""
        _check_key(key)
        if not self._open(create=False):
            self.stats.misses += 1
            return None
        path = self._path(key)
        try:
            with open(path, "rb", buffering=0) as file:
                info = os.fstat(file.fileno())
                data = file.read(info.st_size + 1)
        except FileNotFoundError:
            self.stats.misses += 1
            return None
        except OSError:
            self.stats.misses += 1
            self.stats.errors += 1
            return None
        payload = _payload(data, key) if _is_private(info, stat.S_ISREG) else None
        if payload is None:
            self.stats.misses += 1
            self.stats.errors += 1
            _remove(path)
            return None
        self.stats.hits += 1
        self._touch(path, info)
        return payload

    def exists(self) -> bool:
        """Whether the directory is there: without it nothing was ever kept."""
        return self._open(create=False)

    def has(self, key: str) -> bool:
        """Whether there is an entry under `key`, sound or not."""
        _check_key(key)
        return self._open(create=False) and os.path.exists(self._path(key))

    def put(self, key: str, payload: bytes) -> bool:
        """Store `payload` under `key`; False when the disk does not take it."""
        _check_key(key)
        if len(payload) > self.limit or not self._open(create=True):
            return False
        path = self._path(key)
        header = _HEADER.pack(_MAGIC, FORMAT, key.encode(), len(payload),
                              hashlib.sha256(payload).digest())
        temporary = f"{path}.{os.getpid()}.{threading.get_ident()}.tmp"
        try:
            folder = os.path.dirname(path)
            try:
                descriptor = _create(temporary)
            except FileNotFoundError:
                os.makedirs(folder, mode=0o700, exist_ok=True)
                descriptor = _create(temporary)
            with open(descriptor, "wb", buffering=0) as file:
                if file.write(header + payload) != len(header) + len(payload):
                    raise OSError("short write")
            os.replace(temporary, path)
        except OSError:
            self.stats.errors += 1
            _remove(temporary)
            return False
        self.stats.writes += 1
        self._account(len(header) + len(payload))
        return True

    def clear(self) -> None:
        """Remove every entry."""
        if self._open(create=False):
            for path, _, _ in self._entries():
                _remove(path)

    def size(self) -> int:
        """Bytes on disk (scans the directory)."""
        return sum(size for _, size, _ in self._entries()) if self._open(create=False) else 0

    def _path(self, key: str) -> str:
        return f"{self._root}/{key[:2]}/{key}{_SUFFIX}"

    def _disable(self, reason: str) -> None:
        self.stats.disabled = reason

    def _open(self, create: bool) -> bool:
        """Check the directory once; while it does not exist only `create` makes it."""
        if self._opened or self.stats.disabled:
            return self._opened
        directory = self.directory
        assert directory is not None
        try:
            if create:
                os.makedirs(directory, mode=0o700, exist_ok=True)
            info = os.stat(directory)
        except FileNotFoundError:
            if create:
                self._disable(f"{directory} cannot be made")
            return False
        except OSError as error:
            self.stats.errors += 1
            self._disable(f"{directory}: {error.strerror}")
            return False
        if not _is_private(info, stat.S_ISDIR):
            self._disable(f"{directory} belongs to or is writable by others")
            return False
        self._root = directory
        self._opened = True
        return True

    def _touch(self, path: str, info: os.stat_result) -> None:
        # Eviction goes by modification time (many disks keep no access times): refresh it hourly.
        if time.time() - info.st_mtime < _TOUCH_SECONDS:
            return
        try:
            os.utime(path)
        except OSError:
            self.stats.errors += 1

    def _account(self, written: int) -> None:
        """Count writes; scan the directory only every so often or after an eighth of the limit."""
        with self._lock:
            self._writes_left -= 1
            self._bytes_left -= written
            if self._writes_left >= 0 and self._bytes_left >= 0:
                return
            self._writes_left = _WRITES_BETWEEN_SWEEPS
            self._bytes_left = self.limit // 8
        self._sweep()

    def _sweep(self) -> None:
        """Remove the oldest entries until an eighth of the limit is free for what comes."""
        entries = sorted(self._entries(), key=lambda entry: entry[2])
        total = sum(size for _, size, _ in entries)
        target = self.limit - self.limit // 8
        for path, size, _ in entries:
            if total <= target:
                break
            _remove(path)
            self.stats.evictions += 1
            total -= size

    def _entries(self) -> list[tuple[str, int, float]]:
        found = []
        try:
            folders = [entry.path for entry in os.scandir(self._root) if len(entry.name) == 2]
            for folder in folders:
                for entry in os.scandir(folder):
                    try:
                        info = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:  # another process removed it
                        continue
                    if entry.name.endswith(_SUFFIX):
                        found.append((entry.path, info.st_size, info.st_mtime))
                    elif time.time() - info.st_mtime > _STALE_TEMPORARY_SECONDS:
                        _remove(entry.path)  # left by a process that died while writing
        except OSError:
            self.stats.errors += 1
        return found


def _check_key(key: str) -> None:
    if len(key) != 64 or key.strip("0123456789abcdef"):
        raise ValueError(f"a cache key is 64 hexadecimal digits, not {key!r}")


def _create(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _is_private(info: os.stat_result, is_kind) -> bool:
    """Whether a file or directory is ours alone to write."""
    if not is_kind(info.st_mode) or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return False
    return not hasattr(os, "getuid") or info.st_uid == os.getuid()


def _payload(data: bytes, key: str) -> bytes | None:
    """The payload of a whole, undamaged entry that was written for this key; else None."""
    if len(data) < _HEADER.size:
        return None
    magic, version, stored_key, length, checksum = _HEADER.unpack_from(data)
    payload = data[_HEADER.size:]
    if (magic, version, stored_key, length) != (_MAGIC, FORMAT, key.encode(), len(payload)):
        return None
    return payload if hashlib.sha256(payload).digest() == checksum else None


_default: DiskCache | None = None


def default() -> DiskCache:
    """The process's cache, made by the settings at the first use."""
    global _default
    if _default is None:
        _default = DiskCache(default_directory(), config.disk_cache_bytes, config.disk_cache)
    return _default


def reset() -> None:
    """Forget the process's cache, so that changed settings take effect."""
    global _default
    _default = None
