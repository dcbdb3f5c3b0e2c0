"""Addresses that may not be joined, and what the environment holds afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.cluster.connect import (
    LONGEST_TEMP,
    _prepare_environment,
    _short_folder,
    check_address,
    exported,
    run_unit,
)
from tests.support.toy_tasks import ToyRequest, run_toy
from vitgeom.errors import InvalidInput


@pytest.mark.parametrize(
    "address", ["auto", "", "ray://head:10001", "head", "head:", "http://head:8265", "local:"]
)
def test_an_address_that_is_not_exact_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="address must be 'local' or 'host:port'"):
        check_address(address, num_cpus=None)


@pytest.mark.parametrize("address", ["local", "127.0.0.1:6379", "ray-head.ns.svc:6379", "[::1]:6379"])
def test_exact_addresses_are_accepted(address: str) -> None:
    check_address(address, num_cpus=None)


def test_only_a_private_ray_can_be_told_its_size() -> None:
    check_address("local", num_cpus=2)
    with pytest.raises(InvalidInput, match="num_cpus=2 goes with address='local' only"):
        check_address("head:6379", num_cpus=2)
    with pytest.raises(InvalidInput, match="num_cpus must be >= 1, got 0"):
        check_address("local", num_cpus=0)


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
    _prepare_environment(private=True)
    assert os.environ["RAY_AUTH_MODE"] == "token"
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64
    assert list(tmp_path.iterdir()) == []


def test_a_named_cluster_is_met_with_the_token_that_there_is(clean_environment: pytest.MonkeyPatch) -> None:
    _prepare_environment(private=False)
    assert os.environ["RAY_AUTH_MODE"] == "disabled"
    clean_environment.delenv("RAY_AUTH_MODE")
    clean_environment.setenv("RAY_AUTH_TOKEN_PATH", "/secrets/token")
    _prepare_environment(private=False)
    assert os.environ["RAY_AUTH_MODE"] == "token"


def test_what_the_user_chose_is_kept(clean_environment: pytest.MonkeyPatch) -> None:
    clean_environment.setenv("RAY_AUTH_MODE", "disabled")
    _prepare_environment(private=True)
    assert os.environ["RAY_AUTH_MODE"] == "disabled"
    assert "RAY_AUTH_TOKEN" not in os.environ


def test_the_folder_is_short_and_ours_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    long = tmp_path / ("x" * LONGEST_TEMP)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    folder = Path(_short_folder())
    try:
        assert len(str(folder)) <= LONGEST_TEMP
        assert folder.stat().st_mode & 0o777 == 0o700
    finally:
        folder.rmdir()


def test_a_worker_switches_telemetry_off_before_it_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "0")
    assert run_unit(run_toy, ToyRequest(folder=str(tmp_path), number=3)).digest == "9"
    assert os.environ["DO_NOT_TRACK"] == "true"


def test_exported_variables_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VITGEOM_TEST_OLD", "old")
    monkeypatch.delenv("VITGEOM_TEST_NEW", raising=False)
    with exported({"VITGEOM_TEST_OLD": "changed", "VITGEOM_TEST_NEW": "new"}):
        assert (os.environ["VITGEOM_TEST_OLD"], os.environ["VITGEOM_TEST_NEW"]) == ("changed", "new")
    assert os.environ["VITGEOM_TEST_OLD"] == "old"
    assert "VITGEOM_TEST_NEW" not in os.environ


@pytest.mark.services
def test_a_ray_that_was_imported_first_still_gets_the_token() -> None:
    code = (
        "import ray\nfrom tasks.cluster.connect import Connection\n"
        "connection = Connection(address='local', num_cpus=1)\nprint('nodes', len(connection.nodes()))\nconnection.close()"
    )
    left_out = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
    variables = {name: value for name, value in os.environ.items() if name not in left_out}
    variables["PYTHONPATH"] = str(Path(__file__).resolve().parents[3])
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False
    )
    assert "nodes 1" in done.stdout, done.stderr
