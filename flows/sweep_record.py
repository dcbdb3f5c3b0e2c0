"""What sweeps leave in the experiment tracker: one run per profile, below it one run per trial with its learning curve.

Recorded when the sweeps are done, from their files. Trials are recognised by their sweep's digest, so a sweep that was interrupted, or is asked for
again, adds no second run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flows.outcome import Outcome
from flows.record import deliver, origin_tags
from flows.results import Results
from flows.study import Resolved
from tasks.receipt import Receipt
from tasks.tracking import Tracked
from tasks.tracking_record import CellRecord, Metric, StudyRecord, flatten
from vitgeom.store.fingerprint import fingerprint


def record_sweeps(wanted: Resolved, outcomes: Sequence[Outcome]) -> Tracked | None:
    """Record the sweeps of all cells that have one; a tracker that cannot be reached costs a warning.

    Args:
        wanted: The study.
        outcomes: What became of each cell.
    """
    record = sweep_record(wanted, outcomes)
    return deliver(record, uri=wanted.params.tracking.uri) if record.cells else None


def sweep_record(wanted: Resolved, outcomes: Sequence[Outcome]) -> StudyRecord:
    """Describe all sweeps of a study for the tracker."""
    done = [(outcome, outcome.receipt) for outcome in outcomes if outcome.receipt is not None]
    results = Results(wanted.out)
    files = [str(path.absolute()) for outcome, _ in done for path in results.sweep(outcome.cell).values()]
    digests = [[outcome.cell.name, receipt.digest] for outcome, receipt in done]
    return StudyRecord(
        experiment=wanted.params.tracking.experiment,
        name=f"{wanted.profile} sweep",
        key=fingerprint({"sweep": wanted.profile, "cells": digests}),
        params=flatten(
            {
                "seed": wanted.params.seed,
                "sweep": wanted.params.sweep.model_dump(mode="json", exclude={"datasets"}),
            }
        ),
        metrics=(Metric("cells_done", len(done)), Metric("cells_failed", len(outcomes) - len(done))),
        tags={"vitgeom.sweep": wanted.profile, **origin_tags()},
        artifacts=tuple(files),
        artifacts_digest=fingerprint(digests),
        cells=tuple(
            trial
            for outcome, receipt in done
            for trial in _trials(outcome.cell.name, receipt, results.sweep(outcome.cell)["trials.json"])
        ),
    )


def _trials(cell: str, swept: Receipt, file: Path) -> list[CellRecord]:
    best = swept.detail["index"]
    return [
        CellRecord(
            name=f"{cell}: trial {trial['index']}",
            key=fingerprint([swept.digest, trial["index"]]),
            params=flatten(trial["parameters"]),
            metrics=tuple(_metrics(trial)),
            tags={
                "vitgeom.cell": cell,
                "vitgeom.sweep": swept.uri,
                "vitgeom.trial": trial["state"],
                "vitgeom.best": str(trial["index"] == best),
                **({"vitgeom.problem": trial["problem"]} if trial["problem"] else {}),
            },
        )
        for trial in json.loads(file.read_bytes())["trials"]
    ]


def _metrics(trial: dict[str, Any]) -> list[Metric]:
    """Return the learning curve (the step is the epoch) and the figures of the whole trial, as far as there are any."""
    curve = [
        Metric("val_loss_by_epoch", loss, epoch)
        for epoch, loss in enumerate(trial["curve"])
        if loss is not None
    ]
    names = ("val_loss", "val_accuracy", "num_parameters", "epochs", "best_epoch")
    return [*curve, *(Metric(name, float(trial[name])) for name in names if trial[name] is not None)]
