"""Settings from the environment."""

from __future__ import annotations

import pytest

from eutectic.config import Config


def test_a_setting_that_is_no_number_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUTECTIC_DEBUG", "x")
    with pytest.warns(UserWarning, match="EUTECTIC_DEBUG='x' is no whole number; 0 is used"):
        assert Config().debug == 0


def test_settings_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUTECTIC_NUM_THREADS", "3")
    monkeypatch.setenv("EUTECTIC_DISK_CACHE", "off")
    found = Config()
    assert found.num_threads == 3 and not found.disk_cache
