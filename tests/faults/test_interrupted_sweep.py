"""A sweep whose driver dies goes on where it was, on Ray Tune, and ends with the bytes of an undisturbed serial one."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks.sweep_fusion import run
from tests.support.marked_processes import Driver
from tests.support.sweep_features import sweep_request, sweep_store
from vitgeom.store.feature_store import FeatureStore

# On a busy machine Ray and torch need minutes to start.
pytestmark = [pytest.mark.timeout(900), pytest.mark.services]

SPACE = {
    "selection": ("last", (0,)),
    "layer_scaling": ("none",),
    "orth_weight": (0.0, 0.1, 1.0),
    "hidden_dim": (4, 16),
}
TRIALS = 12


def long_request(store: FeatureStore, folder: Path) -> Any:
    """A sweep with early stopping whose trials have many epochs."""
    return sweep_request(
        store, folder, space=SPACE, max_epochs=60, patience=60, grace_epochs=8, reduction_factor=2
    )


class SweepDriver(Driver):
    """A sweep on Ray in a process of its own."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        request = long_request(sweep_store(str(folder)), folder)
        (scratch / "request.json").write_text(request.model_dump_json())
        program = ("tests.support.sweep_driver", str(scratch / "request.json"), "ray")
        super().__init__(folder, kind="ray", pause=0.0, scratch=scratch, program=program)

    def receipt(self) -> dict[str, Any]:
        output, errors = self.process.communicate(timeout=900)
        assert self.process.returncode == 0, errors
        return dict(json.loads(output.splitlines()[-1]))


@pytest.fixture
def drivers(tmp_path: Path) -> Iterator[list[SweepDriver]]:
    started: list[SweepDriver] = []
    yield started
    for driver in started:
        driver.kill_leftovers()


def interrupted(driver: SweepDriver, folder: Path, number: signal.Signals) -> dict[Path, int]:
    """Send a signal while trials run; return the finished ones with the times of their files."""
    driver.wait_ready()
    driver.wait_for_files("trials/*.json", 2)
    os.kill(driver.process.pid, number)
    driver.process.wait(timeout=60)
    finished = {path: path.stat().st_mtime_ns for path in folder.rglob("trials/*.json")}
    assert 2 <= len(finished) < TRIALS
    return finished


def assert_resumed(detail: dict[str, Any], finished: dict[Path, int]) -> None:
    """Only missing trials were computed, and some were stopped early."""
    assert detail["computed_trials"] == TRIALS - len(finished)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert detail["trials"]["stopped"] > 0


def undisturbed_digest(folder: Path) -> str:
    return run(long_request(sweep_store(str(folder)), folder)).digest


def test_a_killed_sweep_goes_on_where_it_was(drivers: list[SweepDriver], tmp_path: Path) -> None:
    folder, scratch = tmp_path / "store", tmp_path / "scratch"
    scratch.mkdir()
    drivers.append(SweepDriver(folder, scratch))
    finished = interrupted(drivers[0], folder, signal.SIGKILL)
    assert list(scratch.glob(".vitgeom/tune/*/tuner.pkl"))

    # At once: what the dead driver's Ray has left for a minute writes nothing.
    drivers.append(SweepDriver(folder, scratch))
    resumed = drivers[1].receipt()
    assert_resumed(resumed["detail"], finished)
    assert not list(scratch.glob(".vitgeom/tune/*"))
    assert resumed["digest"] == undisturbed_digest(tmp_path / "serial")


def test_a_terminated_sweep_leaves_no_process_and_goes_on_without_ray(
    drivers: list[SweepDriver], tmp_path: Path
) -> None:
    folder, scratch = tmp_path / "store", tmp_path / "scratch"
    scratch.mkdir()
    drivers.append(SweepDriver(folder, scratch))
    finished = interrupted(drivers[0], folder, signal.SIGTERM)
    assert drivers[0].process.returncode == 143
    drivers[0].assert_all_gone(seconds=20)

    resumed = run(long_request(sweep_store(str(folder)), folder))
    assert_resumed(resumed.detail, finished)
    assert resumed.digest == undisturbed_digest(tmp_path / "serial")
