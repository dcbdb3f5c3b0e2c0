"""What the environment holds after a Ray connection was prepared."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tasks.cluster.surroundings import exported, prepare_environment


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.setenv(name, "to be restored")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return monkeypatch


def test_a_private_ray_gets_a_token_of_its_own_that_is_not_on_disk(
    clean_environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prepare_environment(private=True)
    assert os.environ["RAY_AUTH_MODE"] == "token"
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64
    assert list(tmp_path.iterdir()) == []


def test_a_named_cluster_is_met_with_the_token_that_there_is(clean_environment: pytest.MonkeyPatch) -> None:
    prepare_environment(private=False)
    assert os.environ["RAY_AUTH_MODE"] == "disabled"
    clean_environment.delenv("RAY_AUTH_MODE")
    clean_environment.setenv("RAY_AUTH_TOKEN_PATH", "/secrets/token")
    prepare_environment(private=False)
    assert os.environ["RAY_AUTH_MODE"] == "token"


def test_what_the_user_chose_is_kept(clean_environment: pytest.MonkeyPatch) -> None:
    clean_environment.setenv("RAY_AUTH_MODE", "disabled")
    prepare_environment(private=True)
    assert os.environ["RAY_AUTH_MODE"] == "disabled"
    assert "RAY_AUTH_TOKEN" not in os.environ


def test_exported_variables_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VITGEOM_TEST_OLD", "old")
    monkeypatch.delenv("VITGEOM_TEST_NEW", raising=False)
    with exported({"VITGEOM_TEST_OLD": "changed", "VITGEOM_TEST_NEW": "new"}):
        assert (os.environ["VITGEOM_TEST_OLD"], os.environ["VITGEOM_TEST_NEW"]) == ("changed", "new")
    assert os.environ["VITGEOM_TEST_OLD"] == "old"
    assert "VITGEOM_TEST_NEW" not in os.environ
