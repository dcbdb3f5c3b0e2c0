from __future__ import annotations

import os

import pytest

from tasks import environment


def test_telemetry_is_off_even_where_the_shell_left_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    environment.apply()
    assert {name: os.environ[name] for name in environment.TELEMETRY_OFF} == environment.TELEMETRY_OFF


def test_a_default_gives_way_to_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "7")
    environment.apply()
    assert os.environ["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"] == "7"
