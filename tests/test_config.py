"""Settings from the environment."""

from __future__ import annotations

from typing import Any

import pytest

from eutectic.config import Config
from eutectic.errors import ArgumentError


def test_a_setting_that_is_no_number_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUTECTIC_DEBUG", "x")
    with pytest.warns(UserWarning, match="EUTECTIC_DEBUG='x' is no whole number; 0 is used"):
        assert Config().debug == 0


def test_settings_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUTECTIC_NUM_THREADS", "3")
    monkeypatch.setenv("EUTECTIC_DISK_CACHE", "off")
    found = Config()
    assert found.num_threads == 3 and not found.disk_cache


@pytest.mark.parametrize("value", [-1, 2.5, "2", None, True])
def test_threads_that_cannot_be_are_refused(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Config()
    with pytest.raises(ArgumentError, match=r"\[config\] num_threads must be a whole number"):
        found.num_threads = value
    monkeypatch.setenv("EUTECTIC_NUM_THREADS", "-1")
    with pytest.warns(UserWarning, match="EUTECTIC_NUM_THREADS='-1' is no whole number; 0 is"):
        assert Config().num_threads == 0
