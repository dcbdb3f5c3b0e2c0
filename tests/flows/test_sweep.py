"""The sweep as a sub-flow: files in the results folder, runs in the tracker, nothing twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from flows.outcome import PartsFailed
from flows.study import Study
from flows.sweep import sweep


@pytest.fixture
def folder(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder of the small study."""
    copy = tmp_path / "study"
    shutil.copytree(finished, copy)
    monkeypatch.chdir(copy)
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return copy


def runs(folder: Path) -> list[Any]:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("small")
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id]))


@pytest.mark.filterwarnings("ignore")
def test_a_sweep_leaves_files_and_one_run_per_trial_however_often_it_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The probe step of the study has fitted them.
    monkeypatch.setattr("vitgeom.fusion.evidence.probe_layer", None)
    before = {run.info.run_id for run in runs(folder)}
    first = sweep.fn(Study())
    again = sweep.fn(Study())
    assert [outcome.receipt.cached for outcome in (*first, *again) if outcome.receipt] == [False, True]
    [best] = [path for path in (folder / "results/small/sweep").rglob("*.json") if "trials" not in path.name]
    trials = json.loads(best.with_suffix(".trials.json").read_bytes())["trials"]
    assert json.loads(best.read_bytes())["parameters"] in [trial["parameters"] for trial in trials]

    new = [run for run in runs(folder) if run.info.run_id not in before]
    [parent] = [run for run in new if run.data.tags["vitgeom.kind"] == "study"]
    children = [run for run in new if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    assert len(children) == len(new) - 1 == len(trials) == 4
    assert {run.info.status for run in new} == {"FINISHED"}
    assert [run.data.tags["vitgeom.best"] for run in children].count("True") == 1
    losses = sorted(run.data.metrics["val_loss"] for run in children)
    assert losses == pytest.approx(sorted(trial["val_loss"] for trial in trials))


def test_a_cell_whose_features_are_gone_fails_by_name(folder: Path) -> None:
    shutil.rmtree(folder / ".vitgeom")
    with pytest.raises(PartsFailed, match=r"sweep: 1 of 1 failed"):
        sweep.fn(Study())
