"""The disk cache: whatever happens to its files, it answers with what was stored or with a miss."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eutectic.config import config
from eutectic.runtime import diskcache
from eutectic.runtime.diskcache import DiskCache


def key_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


KEY = key_of("entry")


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "cache", 1 << 20)


def entry_file(cache: DiskCache, key: str = KEY) -> Path:
    assert cache.directory is not None
    return Path(cache.directory) / key[:2] / f"{key}.bin"


def test_round_trip_also_in_another_instance(cache: DiskCache) -> None:
    assert cache.get(KEY) is None
    assert cache.put(KEY, b"payload")
    assert cache.get(KEY) == b"payload"
    assert DiskCache(cache.directory, 1 << 20).get(KEY) == b"payload"
    assert (cache.stats.hits, cache.stats.misses, cache.stats.writes) == (1, 1, 1)


def test_empty_payload_is_not_a_miss(cache: DiskCache) -> None:
    cache.put(KEY, b"")
    assert cache.get(KEY) == b""


def test_everything_is_private_to_the_user(cache: DiskCache) -> None:
    cache.put(KEY, b"payload")
    file = entry_file(cache)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.parent.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", ["flip", "truncate", "extend", "empty", "header", "zeros"])
def test_a_damaged_entry_is_a_miss_and_goes_away(cache: DiskCache, damage: str) -> None:
    cache.put(KEY, b"payload" * 100)
    file = entry_file(cache)
    good = file.read_bytes()
    bad = {
        "flip": good[:-1] + bytes([good[-1] ^ 1]),
        "truncate": good[:-1],
        "extend": good + b"x",
        "empty": b"",
        "header": good[:10],
        "zeros": bytes(len(good)),
    }[damage]
    file.write_bytes(bad)
    assert cache.get(KEY) is None
    assert cache.stats.errors == 1
    assert not file.exists()
    assert cache.put(KEY, b"again") and cache.get(KEY) == b"again"


def test_every_byte_of_an_entry_matters(cache: DiskCache) -> None:
    cache.put(KEY, b"ab")
    good = entry_file(cache).read_bytes()
    for at in range(len(good)):
        entry_file(cache).write_bytes(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1:])
        assert cache.get(KEY) is None, at


def test_an_entry_under_anothers_name_is_a_miss(cache: DiskCache) -> None:
    other = key_of("other")
    cache.put(KEY, b"payload")
    entry_file(cache, other).parent.mkdir(exist_ok=True)
    os.replace(entry_file(cache), entry_file(cache, other))
    assert cache.get(other) is None


def test_an_entry_of_another_format_is_a_miss(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.put(KEY, b"payload")
    monkeypatch.setattr(diskcache, "FORMAT", diskcache.FORMAT + 1)
    assert cache.get(KEY) is None


def test_something_else_in_the_place_of_an_entry_is_a_miss(cache: DiskCache) -> None:
    cache.put(KEY, b"payload")
    entry_file(cache).unlink()
    entry_file(cache).mkdir()
    assert cache.get(KEY) is None
    assert not cache.put(KEY, b"payload")
    assert cache.stats.errors == 2


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o770])
def test_a_directory_that_others_may_write_is_not_used(tmp_path: Path, mode: int) -> None:
    cache = DiskCache(tmp_path / "cache", 1 << 20)
    cache.put(KEY, b"payload")
    (tmp_path / "cache").chmod(mode)
    fresh = DiskCache(tmp_path / "cache", 1 << 20)
    assert fresh.get(KEY) is None
    assert not fresh.put(KEY, b"payload")
    assert "writable by others" in fresh.stats.disabled


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_directory_or_file_of_another_user_is_not_used(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 1 << 20)
    cache.put(KEY, b"payload")
    os.chown(entry_file(cache), 12345, 12345)
    assert cache.get(KEY) is None
    cache.put(KEY, b"payload")
    os.chown(tmp_path / "cache", 12345, 12345)
    fresh = DiskCache(tmp_path / "cache", 1 << 20)
    assert fresh.get(KEY) is None and fresh.stats.disabled


def test_no_place_to_write_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = DiskCache(tmp_path / "file" / "cache", 1 << 20)
    assert cache.get(KEY) is None
    assert not cache.put(KEY, b"payload")
    assert cache.stats.disabled
    homeless = DiskCache(None, 1 << 20)
    assert homeless.get(KEY) is None and not homeless.put(KEY, b"payload")
    assert homeless.stats.disabled == "no home directory"


def test_a_full_disk_is_no_error(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not cache.put(KEY, b"payload")
    assert cache.stats.errors == 1
    assert not list(Path(str(cache.directory)).rglob("*.tmp"))
    monkeypatch.undo()
    assert cache.put(KEY, b"payload")


def test_switched_off(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 1 << 20, enabled=False)
    assert not cache.put(KEY, b"payload")
    assert cache.get(KEY) is None
    assert not (tmp_path / "cache").exists()


def test_the_least_recently_used_entries_are_evicted(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 100_000)
    keys = [key_of(str(i)) for i in range(40)]
    long_ago = time.time() - 10 * 86400
    for i, key in enumerate(keys):
        assert cache.put(key, bytes(4000))
        os.utime(entry_file(cache, key), (long_ago + i, long_ago + i))
        if i == 10:
            assert cache.get(keys[3]) is not None  # a use makes it young again
    assert cache.size() <= 110_000  # the bound plus what is written between two sweeps
    assert cache.stats.evictions > 0
    assert cache.get(keys[3]) is not None
    assert cache.get(keys[0]) is None
    assert cache.get(keys[-1]) is not None


def test_writing_does_not_scan_each_time(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans = []
    monkeypatch.setattr(cache, "_sweep", lambda: scans.append(1))
    for i in range(100):
        cache.put(key_of(str(i)), b"small")
    assert len(scans) <= 3


def test_remains_of_a_dead_writer_are_swept(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 1 << 20)
    cache.put(KEY, b"payload")
    orphan = entry_file(cache).with_suffix(".bin.1.2.tmp")
    orphan.write_bytes(b"half")
    os.utime(orphan, (1, 1))
    fresh = DiskCache(tmp_path / "cache", 1 << 20)
    fresh.put(key_of("next"), b"payload")
    assert not orphan.exists()
    assert fresh.get(KEY) == b"payload"


def test_a_key_is_a_sha256(cache: DiskCache) -> None:
    for bad in ("", "../../etc/passwd", "A" * 64, "0" * 63):
        with pytest.raises(ValueError, match="64 hexadecimal digits"):
            cache.get(bad)
        with pytest.raises(ValueError, match="64 hexadecimal digits"):
            cache.put(bad, b"")


def test_clear(cache: DiskCache) -> None:
    cache.put(KEY, b"payload")
    cache.clear()
    assert cache.get(KEY) is None and cache.size() == 0


def test_where_the_directory_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cache_dir", "/some/where")
    assert diskcache.default_directory() == "/some/where"
    monkeypatch.setattr(config, "cache_dir", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert diskcache.default_directory() == "/xdg/eutectic"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/someone")
    assert diskcache.default_directory() == "/home/someone/.cache/eutectic"


WRITER = """
import hashlib, sys
from eutectic.runtime.diskcache import DiskCache
cache = DiskCache(sys.argv[1], 1 << 24)
for round in range(20):
    for i in range(20):
        key = hashlib.sha256(str(i).encode()).hexdigest()
        payload = str(i).encode() * 2000
        found = cache.get(key)
        assert found is None or found == payload, i
        assert cache.put(key, payload)
assert cache.stats.errors == 0, cache.stats
"""


def test_two_processes_fill_it_at_once(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "cache")]) for _ in range(2)
    ]
    assert [writer.wait(30) for writer in writers] == [0, 0]
    cache = DiskCache(tmp_path / "cache", 1 << 24)
    for i in range(20):
        assert cache.get(key_of(str(i))) == str(i).encode() * 2000
    assert not list((tmp_path / "cache").rglob("*.tmp"))
