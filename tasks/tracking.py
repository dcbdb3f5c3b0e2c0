"""Receipts and results -> MLflow: the only file that imports mlflow, and only once it is needed.

A study is one parent run, each dataset × backbone a child run below it. The driver alone writes, and only when the numbers are there, so
a killed run leaves no run open. A study is recognised by its key: recording it twice adds nothing, recording it after an interruption
completes it. When the tracker cannot be reached the record waits in a local queue and a later call delivers it.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.tracking_lookup import known_run
from tasks.tracking_queue import TrackingQueue, file_lock
from tasks.tracking_record import CellRecord, DatasetRecord, Metric, Scalar, StudyRecord

if TYPE_CHECKING:
    from mlflow import MlflowClient

QUEUE = Path(".vitgeom") / "tracking-queue.jsonl"
STUDY, CELL = "study", "cell"
MAX_PARAM, MAX_TAG, MAX_DIGEST = 6000, 8000, 36
METRICS_PER_CALL, PARAMS_PER_CALL = 1000, 100
# A server that is down must cost seconds: the record is safe in the queue.
IMPATIENCE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "10"}


@dataclass(frozen=True)
class Tracked:
    """What became of a record.

    Attributes:
        uri: The tracking URI that was used.
        run_id: The parent run, or None when the record was queued.
        reused: The study was known by its key; at most missing parts were added.
        delivered: Records of earlier studies that were waiting and went through now.
        problem: Why the record was not delivered, in one line; None when it was.
        queued: With a problem: whether the record waits in the queue, or could not even be put there.
    """

    uri: str
    run_id: str | None
    reused: bool = False
    delivered: int = 0
    problem: str | None = None
    queued: bool = False


def tracking_uri(uri: str | None = None, *, folder: Path = Path()) -> str:
    """Return the absolute tracking URI: the given one, ``MLFLOW_TRACKING_URI``, or ``mlflow.db`` in ``folder``."""
    chosen = uri or os.environ.get("MLFLOW_TRACKING_URI") or "sqlite:///mlflow.db"
    path = _sqlite_path(chosen, folder)
    return f"sqlite:///{path}" if path else chosen


def track(record: StudyRecord, *, uri: str | None = None, folder: Path = Path()) -> Tracked:
    """Record a study; never fails because of the tracker.

    Args:
        record: What is to be recorded.
        uri: A tracking URI; see ``tracking_uri``.
        folder: The project folder, which holds ``mlflow.db``, ``mlartifacts`` and the queue.

    Returns:
        The parent run, or why the record waits in ``.vitgeom/tracking-queue.jsonl``, or why it cannot even wait there.
    """
    folder = folder.resolve()
    uri = tracking_uri(uri, folder=folder)
    queue = TrackingQueue(folder / QUEUE)
    database = _sqlite_path(uri, folder)
    try:
        if database and not len(queue) and (known := known_run(database, record)):
            return Tracked(uri, known, reused=True)
        client = _connect(uri, folder)
        delivered = queue.drain(lambda waiting: _record(client, waiting, uri, folder))
        run_id, reused = _record(client, record, uri, folder)
    except Exception as error:  # whatever a tracker raises, the results are worth more than their record
        return _queue(record, queue, uri=uri, problem=_one_line(error))
    return Tracked(uri, run_id, reused, delivered)


def _queue(record: StudyRecord, queue: TrackingQueue, *, uri: str, problem: str) -> Tracked:
    """Put a record that was not delivered into the queue; a folder that cannot be written costs the record, not the results."""
    try:
        queue.add(record)
    except Exception as error:  # a read-only or full disk, or a queue file that somebody damaged
        lost = f"not recorded and cannot be queued: {problem}; {queue.path}: {_one_line(error)}"
        return Tracked(uri, None, problem=lost)
    return Tracked(uri, None, problem=problem, queued=True)


def _one_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"


def _connect(uri: str, folder: Path) -> MlflowClient:
    """Open the tracker; a new SQLite file is set up by exactly one process while the others wait."""
    for name, value in IMPATIENCE.items():
        os.environ.setdefault(name, value)
    from mlflow import MlflowClient

    for noisy in ("mlflow", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    with _start_lock(uri, folder):
        client = MlflowClient(uri)
        client.search_experiments(max_results=1)  # the tables are made on first use, not on opening
    return client


def _start_lock(uri: str, folder: Path) -> AbstractContextManager[None]:
    path = _sqlite_path(uri, folder)
    return file_lock(path.with_name(path.name + ".lock")) if path else nullcontext()


def _sqlite_path(uri: str, folder: Path) -> Path | None:
    if not uri.startswith("sqlite:///"):
        return None
    return (folder.resolve() / uri.removeprefix("sqlite:///")).absolute()


def _experiment(client: MlflowClient, name: str, uri: str, folder: Path) -> str:
    with _start_lock(uri, folder):
        if known := client.get_experiment_by_name(name):
            return str(known.experiment_id)
        local = _sqlite_path(uri, folder)
        location = (local.parent / "mlartifacts").as_uri() if local else None
        return str(client.create_experiment(name, artifact_location=location))


def _record(client: MlflowClient, record: StudyRecord, uri: str, folder: Path) -> tuple[str, bool]:
    experiment = _experiment(client, record.experiment, uri, folder)
    tags = {**record.tags, "vitgeom.kind": STUDY, "vitgeom.key": record.key}
    run_id, finished = _find(client, experiment, tags)
    reused = run_id is not None
    if run_id is None:
        run_id = _create(client, experiment, record.name, tags)
    if not finished:
        _log(client, run_id, record.params, record.metrics)
    for cell in record.cells:
        _record_cell(client, experiment, run_id, cell)
    _log_artifacts(client, run_id, record.artifacts)
    client.set_tag(run_id, "vitgeom.artifacts", record.artifacts_digest)
    if not finished:
        client.set_terminated(run_id)
    return run_id, reused


def _record_cell(client: MlflowClient, experiment: str, parent: str, cell: CellRecord) -> None:
    tags = {**cell.tags, "vitgeom.kind": CELL, "vitgeom.key": cell.key, "mlflow.parentRunId": parent}
    run_id, finished = _find(client, experiment, tags)
    if finished:
        return
    run_id = run_id or _create(client, experiment, cell.name, tags)
    _log(client, run_id, cell.params, cell.metrics)
    if cell.dataset:
        _log_dataset(client, run_id, cell.dataset)
    _log_artifacts(client, run_id, cell.artifacts)
    _log_artifacts(client, run_id, cell.fusion, folder="fusion")
    client.set_terminated(run_id)


def _find(client: MlflowClient, experiment: str, tags: Mapping[str, str]) -> tuple[str | None, bool]:
    """Return the newest run with the same kind, key and parent, and whether it is complete."""
    identity = ("vitgeom.kind", "vitgeom.key", "mlflow.parentRunId")
    query = " and ".join(f"tags.`{name}` = '{tags[name]}'" for name in identity if name in tags)
    runs = client.search_runs([experiment], query, max_results=1)
    return (runs[0].info.run_id, runs[0].info.status == "FINISHED") if runs else (None, False)


def _create(client: MlflowClient, experiment: str, name: str, tags: Mapping[str, str]) -> str:
    short = {key: value[:MAX_TAG] for key, value in tags.items()}
    return str(client.create_run(experiment, run_name=name, tags=short).info.run_id)


def _log(
    client: MlflowClient, run_id: str, params: Mapping[str, Scalar], metrics: tuple[Metric, ...]
) -> None:
    """Write numbers and parameters in as few calls as the tracker's limits allow: one, in practice."""
    from mlflow import entities

    moment = client.get_run(
        run_id
    ).info.start_time  # fixed per run: writing the same number again adds no second point
    all_metrics = [entities.Metric(metric.name, metric.value, moment, metric.step) for metric in metrics]
    all_params = [entities.Param(name, str(value)[:MAX_PARAM]) for name, value in params.items()]
    while all_metrics or all_params:
        client.log_batch(
            run_id, all_metrics[: METRICS_PER_CALL - PARAMS_PER_CALL], all_params[:PARAMS_PER_CALL]
        )
        all_metrics, all_params = (
            all_metrics[METRICS_PER_CALL - PARAMS_PER_CALL :],
            all_params[PARAMS_PER_CALL:],
        )


def _log_dataset(client: MlflowClient, run_id: str, dataset: DatasetRecord) -> None:
    from mlflow import entities

    source = {"source_type": dataset.uri.partition("://")[0] if "://" in dataset.uri else "local"}
    described: Any = entities.Dataset(
        name=dataset.name,
        digest=dataset.digest[:MAX_DIGEST],
        source=json.dumps({"uri": dataset.uri}),
        **source,
    )
    client.log_inputs(
        run_id, [entities.DatasetInput(described, [entities.InputTag("mlflow.data.context", "features")])]
    )


def _log_artifacts(
    client: MlflowClient, run_id: str, artifacts: tuple[str, ...], *, folder: str | None = None
) -> None:
    for artifact in map(Path, artifacts):
        if artifact.is_dir():
            client.log_artifacts(run_id, str(artifact), artifact.name)
        elif artifact.is_file():
            client.log_artifact(run_id, str(artifact), folder)
