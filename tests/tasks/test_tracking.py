"""The tracker gets every number once, cold starts do not collide, and a tracker that is down loses nothing."""

from __future__ import annotations

import dataclasses
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tasks import tracking
from tasks.tracking import QUEUE, Tracked, track, tracking_uri
from tasks.tracking_queue import TrackingQueue
from tasks.tracking_record import CellRecord, DatasetRecord, Metric, StudyRecord

# Importing the tracker and its database layers announces changes of their own dependencies.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


@pytest.fixture
def study(tmp_path: Path) -> StudyRecord:
    report = tmp_path / "report.html"
    report.write_text("<p>report</p>")
    figures = tmp_path / "figures"
    figures.mkdir()
    (figures / "a.svg").write_text("<svg/>")
    cells = tuple(
        CellRecord(
            name=f"digits × {backbone}",
            key=backbone,
            params={"probe.token": "cls"},
            metrics=tuple(Metric("accuracy", 0.5 + 0.1 * layer, layer) for layer in range(3)),
            tags={"vitgeom.backbone": backbone},
            dataset=DatasetRecord("digits", "d" * 64, "s3://bucket/features/digits"),
        )
        for backbone in ("one", "two")
    )
    return StudyRecord(
        experiment="test",
        name="embedded",
        key="k1",
        params={"extract.batch_size": 64, "extract.image_size": None},
        metrics=(Metric("cells", 2),),
        tags={"git.commit": "abc"},
        artifacts=(str(report), str(figures)),
        artifacts_digest="files 1",
        cells=cells,
    )


def runs(folder: Path, **kinds: str) -> list:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri(None, folder=folder))
    experiment = client.get_experiment_by_name("test")
    query = " and ".join(f"tags.`vitgeom.{kind}` = '{value}'" for kind, value in kinds.items())
    return list(client.search_runs([experiment.experiment_id], query))


@pytest.fixture(autouse=True)
def _no_foreign_tracker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with tables and no run: making the tables takes seconds, and one test is enough for that."""
    folder = tmp_path_factory.mktemp("tables")
    tracking._connect(tracking_uri("sqlite:///mlflow.db", folder=folder), folder)
    return folder / "mlflow.db"


@pytest.fixture
def project(tmp_path: Path, tables: Path) -> Path:
    return Path(shutil.copy(tables, tmp_path / "mlflow.db")).parent


def test_a_study_is_a_parent_run_with_one_child_per_cell(study: StudyRecord, project: Path) -> None:
    from mlflow import MlflowClient

    done = track(study, folder=project)

    assert done.problem is None
    [parent] = runs(project, kind="study")
    assert parent.info.run_id == done.run_id
    assert parent.info.status == "FINISHED"
    assert parent.data.params == {"extract.batch_size": "64", "extract.image_size": "None"}
    assert parent.data.tags["git.commit"] == "abc"
    children = runs(project, kind="cell")
    assert {child.data.tags["vitgeom.key"] for child in children} == {"one", "two"}
    assert {child.data.tags["mlflow.parentRunId"] for child in children} == {done.run_id}
    client = MlflowClient(done.uri)
    history = client.get_metric_history(children[0].info.run_id, "accuracy")
    assert {point.step: point.value for point in history} == pytest.approx({0: 0.5, 1: 0.6, 2: 0.7})
    [lineage] = client.get_run(children[0].info.run_id).inputs.dataset_inputs
    assert lineage.dataset.source == '{"uri": "s3://bucket/features/digits"}'
    assert lineage.dataset.source_type == "s3"
    assert {file.path for file in client.list_artifacts(done.run_id)} == {"report.html", "figures"}


def test_comparisons_of_methods_lie_in_a_folder_of_their_own(
    study: StudyRecord, project: Path, tmp_path: Path
) -> None:
    from mlflow import MlflowClient

    places = [tmp_path / kind / "nano.json" for kind in ("recoverability", "fusion")]
    for place in places:
        place.parent.mkdir()
        place.write_text(f'"{place.parent.name}"')
    first, *rest = study.cells
    cell = dataclasses.replace(first, artifacts=(str(places[0]),), fusion=(str(places[1]),))
    done = track(dataclasses.replace(study, cells=(cell, *rest)), folder=project)

    [child] = runs(project, kind="cell", key=cell.key)
    client = MlflowClient(done.uri)
    stored = [
        Path(client.download_artifacts(child.info.run_id, name, str(project))).read_text()
        for name in ("nano.json", "fusion/nano.json")
    ]
    assert stored == ['"recoverability"', '"fusion"']


def test_the_default_tracker_lies_in_the_project_folder_with_absolute_addresses(
    study: StudyRecord, tmp_path: Path
) -> None:
    from mlflow import MlflowClient

    done = track(study, folder=tmp_path)

    assert done.uri == f"sqlite:///{tmp_path / 'mlflow.db'}"
    assert (tmp_path / "mlflow.db").exists()
    location = MlflowClient(done.uri).get_experiment_by_name("test").artifact_location
    assert location == (tmp_path / "mlartifacts").as_uri()


def test_recording_a_study_twice_adds_nothing(
    study: StudyRecord, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = track(study, folder=project)
    monkeypatch.setattr(tracking, "known_run", lambda database, record: None)
    second = track(study, folder=project)

    assert (first.reused, second.reused) == (False, True)
    assert second.run_id == first.run_id
    assert len(runs(project, kind="study")) == 1
    assert len(runs(project, kind="cell")) == 2


def test_a_known_study_is_recognised_without_opening_the_tracker(
    study: StudyRecord, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = track(study, folder=project)
    monkeypatch.setattr(tracking, "_connect", None)
    second = track(study, folder=project)

    assert second == Tracked(first.uri, first.run_id, reused=True)


def test_other_artifacts_replace_those_of_a_known_study(study: StudyRecord, project: Path) -> None:
    from mlflow import MlflowClient

    first = track(study, folder=project)
    Path(study.artifacts[0]).write_text("<p>newer report</p>")
    second = track(dataclasses.replace(study, artifacts_digest="files 2"), folder=project)

    assert (second.reused, second.run_id) == (True, first.run_id)
    stored = MlflowClient(first.uri).download_artifacts(first.run_id, "report.html", str(project))
    assert Path(stored).read_text() == "<p>newer report</p>"
    assert len(runs(project, kind="study")) == 1


def test_a_deleted_study_is_recorded_again(study: StudyRecord, project: Path) -> None:
    from mlflow import MlflowClient

    first = track(study, folder=project)
    MlflowClient(first.uri).delete_run(first.run_id)
    second = track(study, folder=project)

    assert not second.reused
    assert second.run_id != first.run_id


def test_another_result_is_another_run(study: StudyRecord, project: Path) -> None:
    first = track(study, folder=project)
    second = track(dataclasses.replace(study, key="k2"), folder=project)

    assert second.run_id != first.run_id
    assert len(runs(project, kind="cell")) == 4


def test_an_interrupted_record_is_completed_under_the_same_parent(
    study: StudyRecord, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tracking._log

    def breaks_at_the_second_cell(client, run_id, params, metrics):
        if client.get_run(run_id).data.tags["vitgeom.key"] == "two":
            raise ConnectionError("the tracker went away")
        whole(client, run_id, params, metrics)

    with monkeypatch.context() as patch:
        patch.setattr(tracking, "_log", breaks_at_the_second_cell)
        broken = track(study, folder=project)
    assert broken.problem == "ConnectionError: the tracker went away"
    assert [run.info.status for run in runs(project, kind="study")] == ["RUNNING"]

    done = track(study, folder=project)

    assert done.problem is None
    assert done.delivered == 1
    assert [run.info.status for run in runs(project, kind="study")] == ["FINISHED"]
    assert sorted(run.info.status for run in runs(project, kind="cell")) == ["FINISHED", "FINISHED"]
    assert not (project / QUEUE).exists()


def test_a_tracker_that_is_down_costs_seconds_and_loses_nothing(study: StudyRecord, project: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{unused.getsockname()[1]}"
    from mlflow import MlflowClient  # noqa: F401  (its import is not what is timed)

    began = time.monotonic()
    lost = track(study, uri=dead, folder=project)

    assert time.monotonic() - began < 20
    assert lost.run_id is None
    assert "MlflowException" in lost.problem
    assert len(TrackingQueue(project / QUEUE)) == 1
    found = track(dataclasses.replace(study, key="later"), folder=project)
    assert found.delivered == 1
    assert {run.data.tags["vitgeom.key"] for run in runs(project, kind="study")} == {"k1", "later"}


def test_a_record_that_waits_says_so(
    study: StudyRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "_connect", _refuse)

    assert track(study, folder=tmp_path) == Tracked(
        tracking_uri(folder=tmp_path), None, problem="ConnectionError: gone", queued=True
    )


@pytest.mark.parametrize("place", ["a file", "a file/below"])
def test_a_folder_that_cannot_be_written_costs_the_record_and_nothing_else(
    study: StudyRecord, tmp_path: Path, place: str
) -> None:
    (tmp_path / "a file").write_text("")

    lost = track(study, folder=tmp_path / place)

    assert (lost.run_id, lost.queued) == (None, False)
    assert str(lost.problem).startswith("not recorded and cannot be queued: ")
    assert str(tmp_path / place / QUEUE) in str(lost.problem)


def test_a_queue_that_somebody_damaged_costs_the_record_and_is_left_alone(
    study: StudyRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "_connect", _refuse)
    queue = tmp_path / QUEUE
    queue.parent.mkdir()
    queue.write_text("{}")

    lost = track(study, folder=tmp_path)

    assert "cannot be queued" in str(lost.problem)
    assert queue.read_text() == "{}"


def _refuse(uri: str, folder: Path) -> None:
    raise ConnectionError("gone")


def test_an_environment_variable_names_the_tracker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://tracker:5000")

    assert tracking_uri(None, folder=tmp_path) == "http://tracker:5000"
    assert tracking_uri("sqlite:///other.db", folder=tmp_path) == f"sqlite:///{tmp_path}/other.db"


COLD = """
import os, sys
from pathlib import Path
import mlflow                      # once for all eight: the race is about the database, not about imports
from tasks.tracking import track
from tasks.tracking_record import Metric, StudyRecord

def start(number):
    if child := os.fork():
        return child
    record = StudyRecord(experiment="test", name="cold", key=f"key-{number}", metrics=(Metric("a", 1.0),))
    done = track(record, folder=Path(sys.argv[1]))
    print(done.problem, flush=True)
    os._exit(done.problem is not None)

children = [start(number) for number in range(8)]
sys.exit(sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children))
"""


def test_eight_cold_starts_at_once_all_succeed(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    starts = subprocess.run(
        [sys.executable, "-c", COLD, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert starts.returncode == 0, starts.stdout + starts.stderr
    assert starts.stdout.split() == ["None"] * 8
    assert len(runs(tmp_path, kind="study")) == 8
