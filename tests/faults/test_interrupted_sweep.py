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
pytestmark = [pytest.mark.timeout(1800), pytest.mark.services]

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


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_only_missing_trials_are_computed_again(
    number: signal.Signals, drivers: list[SweepDriver], tmp_path: Path
) -> None:
    folder, scratch = tmp_path / "store", tmp_path / "scratch"
    scratch.mkdir()
    drivers.append(SweepDriver(folder, scratch))
    drivers[-1].wait_ready()
    drivers[-1].wait_for_files("trials/*.json", 2)
    os.kill(drivers[-1].process.pid, number)
    drivers[-1].process.wait(timeout=60)
    # Ray's own agents look for their node for most of a minute before they end; they compute nothing.
    drivers[-1].assert_all_gone(seconds=150)
    finished = {path: path.stat().st_mtime_ns for path in folder.rglob("trials/*.json")}
    assert 2 <= len(finished) < TRIALS
    assert list(scratch.glob(".vitgeom/tune/*/tuner.pkl"))

    drivers.append(SweepDriver(folder, scratch))
    resumed = drivers[-1].receipt()
    drivers[-1].assert_all_gone(seconds=150)
    assert resumed["detail"]["computed_trials"] == TRIALS - len(finished)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert resumed["detail"]["trials"]["stopped"] > 0
    assert not list(scratch.glob(".vitgeom/tune/*"))

    undisturbed = run(long_request(sweep_store(str(tmp_path / "serial")), tmp_path / "serial"))
    assert resumed["digest"] == undisturbed.digest
