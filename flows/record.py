"""What a study leaves in the experiment tracker: parameters, figures per layer, where the features lie, and the report.

Built from the results folder and the receipts. A study is recognised by what it depends on and what came out, so running it again, from
here or from DVC, adds no second record.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows import console
from flows.cell import Cell
from flows.outcome import Outcome
from flows.provenance import git_state
from flows.rank_records import rank_records
from flows.results import Results
from flows.steps import inside_flow_run
from flows.study import Resolved
from tasks.receipt import Receipt
from tasks.tracking import QUEUE, Tracked, track
from tasks.tracking_record import CellRecord, DatasetRecord, Metric, Scalar, StudyRecord, flatten
from vitgeom.bootstrap import Interval
from vitgeom.fusion.comparison import Comparison
from vitgeom.recoverability import RecoverabilityReport
from vitgeom.store.fingerprint import fingerprint

BY_GROUP = "subpopulations"
"""The shifted test set that is looked at group by group."""


def record(
    wanted: Resolved,
    *,
    probed: Sequence[Outcome],
    fused: Sequence[Outcome],
    page: Receipt,
    tags: Mapping[str, str],
) -> Tracked:
    """Record a study and say where; a tracker that cannot be reached costs a warning, not the study.

    Args:
        wanted: The study.
        probed: What became of each cell; those without a receipt are left out.
        fused: What became of its fusion; a cell without it is recorded without the figures of methods. What several backbones
            reach together belongs to the study as a whole.
        page: The receipt of the report.
        tags: How it was run.
    """
    described = study_record(wanted, probed=probed, fused=fused, page=page, tags=tags)
    return deliver(described, uri=wanted.params.tracking.uri)


def deliver(described: StudyRecord, *, uri: str | None) -> Tracked:
    """Hand a record to the tracker and say where it is, or why it is not there.

    Args:
        described: What is to be recorded.
        uri: The tracking URI of the parameters.
    """
    tracked = track(described, uri=uri)
    if tracked.queued:
        console.warn(
            f"not recorded in {tracked.uri} yet: {tracked.problem}. The record waits in {QUEUE} for the next run."
        )
    elif tracked.problem:
        console.warn(
            f"{tracked.problem}. The results are complete; the same command in a folder that can be written records them in {tracked.uri}."
        )
    else:
        known = " (known before)" if tracked.reused else ""
        console.say(f"recorded: run {tracked.run_id} in {tracked.uri}{known}; look at it with: vitgeom ui")
    return tracked


def study_record(
    wanted: Resolved,
    *,
    probed: Sequence[Outcome],
    fused: Sequence[Outcome],
    page: Receipt,
    tags: Mapping[str, str],
) -> StudyRecord:
    """Describe a study for the tracker."""
    done = [(outcome, outcome.receipt) for outcome in probed if outcome.receipt is not None]
    params = flatten(wanted.params.model_dump(mode="json", exclude={"engine", "tracking", "sweep", "metric"}))
    comparisons = {outcome.cell.name: outcome.receipt for outcome in fused}
    cells = tuple(
        _cell_record(wanted, outcome, receipt, params, fused=comparisons.get(outcome.cell.name))
        for outcome, receipt in done
    )
    key = fingerprint(
        {"profile": wanted.profile, "params": params, "cells": [[cell.name, cell.key] for cell in cells]}
    )
    failed = len(probed) - len(done)
    figures = wanted.out / "figures"
    return StudyRecord(
        experiment=wanted.params.tracking.experiment,
        name=wanted.subject,
        key=key,
        params=params,
        metrics=(
            Metric("cells_done", len(done)),
            Metric("cells_failed", failed),
            *_horizontal_metrics(fused),
        ),
        tags={**tags, **origin_tags()},
        artifacts=(str(Path(wanted.out, "report.html").absolute()), str(figures.absolute())),
        artifacts_digest=page.digest,
        cells=(
            *cells,
            *(
                trial
                for outcome, _ in done
                for trial in rank_records(outcome.cell.name, Results(wanted.out).read_metric(outcome.cell))
            ),
        ),
    )


def origin_tags() -> dict[str, str]:
    """Return where the run comes from: commit, Prefect's run, Ray's job, DVC's revision; only what there is."""
    found: dict[str, Any] = {
        "git.commit": git_state().get("commit"),
        "prefect.flow_run_id": _flow_run_id(),
        "ray.job_id": os.environ.get("RAY_JOB_ID") or os.environ.get("RAY_SUBMISSION_ID"),
        "dvc.rev": os.environ.get("DVC_EXP_BASELINE_REV"),
        "dvc.experiment": os.environ.get("DVC_EXP_NAME"),
    }
    return {name: str(value) for name, value in found.items() if value}


def _flow_run_id() -> str | None:
    if not inside_flow_run():
        return None
    from prefect.runtime import flow_run

    return flow_run.get_id()


def _cell_record(
    wanted: Resolved,
    outcome: Outcome,
    fitted: Receipt,
    params: Mapping[str, Scalar],
    *,
    fused: Receipt | None,
) -> CellRecord:
    cell, results = outcome.cell, Results(wanted.out)
    manifest, _ = results.read_features(cell)
    findings = RecoverabilityReport.from_json(results.read_recoverability(cell)["report"])
    shifted = None if fused is None else _current_shift(results, cell)
    directed, learnt = results.read_directions(cell), results.read_metric(cell)
    return CellRecord(
        name=cell.name,
        key=_key(fitted, fused, shifted, directed, learnt),
        params=dict(params),
        metrics=(
            *_metrics(findings),
            *([] if fused is None else _method_metrics(results.read_fusion(cell))),
            *([] if shifted is None else _shift_metrics(shifted)),
            *([] if directed is None else _direction_metrics(directed)),
            *([] if learnt is None else _learnt_metrics(learnt)),
        ),
        tags={
            "vitgeom.dataset": cell.dataset,
            "vitgeom.backbone": cell.backbone,
            "vitgeom.manifest": manifest.digest,
            "vitgeom.probes": fitted.uri,
            **({} if fused is None else {"vitgeom.fusion": fused.uri}),
        },
        dataset=DatasetRecord(cell.path, manifest.digest, f"{wanted.store}/{manifest.address}"),
        artifacts=(str(results.probes(cell)["recoverability.json"].absolute()),),
        fusion=tuple(str(path.absolute()) for path in results.fusion(cell).values()) if fused else (),
    )


def _key(fitted: Receipt, fused: Receipt | None, *asked: Mapping[str, Any] | None) -> str:
    """Return what came out for a cell, in one digest; steps beyond the usual count where they were asked for."""
    parts = [
        fitted.digest,
        *([] if fused is None else [fused.digest]),
        *(fingerprint(found) for found in asked if found is not None),
    ]
    return fitted.digest if len(parts) == 1 else fingerprint(parts)


def _current_shift(results: Results, cell: Cell) -> dict[str, Any] | None:
    """Return what the classifiers of a comparison do under shift; None where nobody asked these."""
    found = results.read_shift(cell)
    return found if found is not None and found["comparison"] == results.fusion_digest(cell) else None


def _shift_metrics(shifted: Mapping[str, Any]) -> list[Metric]:
    """Return the mean corruption accuracy of every method both ways, and its worst group where there are sub-populations."""
    mean, clean = shifted["mean"] or {}, shifted["clean"]["batch_statistics"] or {}
    by_figure = {
        "mean_corruption_accuracy": mean.get("rows", []),
        "mean_corruption_accuracy_batch_statistics": mean.get("batch_statistics", {}).get("rows", []),
        "method_accuracy_batch_statistics": clean.get("rows", []),
    }
    groups = [
        one["groups"]["methods"] for one in shifted["conditions"] if one["condition"]["set"] == BY_GROUP
    ]
    return [
        *(
            Metric(f"{figure}.{row['name']}", row["accuracy"]["value"])
            for figure, rows in by_figure.items()
            for row in rows
        ),
        *(
            Metric(f"worst_group_accuracy.{name}", one["worst"]["value"])
            for methods in groups
            for name, one in methods.items()
        ),
    ]


def _direction_metrics(directed: Mapping[str, Any]) -> list[Metric]:
    """Return the mean over images of every figure of every decoder and layer that is defined."""
    return [
        Metric(
            f"directions.{name}.{pair['decoder']['name']}-layer{pair['decoder']['layer']}",
            found["mean"]["value"],
        )
        for pair in directed["pairs"]
        for name, found in pair["figures"]["figures"].items()
        if found is not None
    ]


def _learnt_metrics(learnt: Mapping[str, Any]) -> list[Metric]:
    """Return rank correlations of every score with both targets, their ceilings, and how well the network's directions are aligned, by decoder and layer."""
    found: list[Metric] = []
    for pair in learnt["pairs"]:
        name = f"metric.{pair['decoder']['name']}-layer{pair['decoder']['layer']}"
        importance, alignment = pair["importance"], pair["alignment"] or {}
        summaries = {
            **{
                f"rho_{target}.{score.replace(' ', '_')}": summary
                for score, by_target in importance["scores"].items()
                for target, summary in by_target.items()
            },
            **{f"rho_{target}.ceiling": summary for target, summary in importance["ceiling"].items()},
            **{f"alignment.{kind}": alignment.get(kind) for kind in ("learnt", "ceiling", "constant")},
        }
        found += [
            Metric(f"{name}.{figure}", summary["mean"]["value"])
            for figure, summary in summaries.items()
            if summary is not None
        ]
    return found


def _horizontal_metrics(fused: Sequence[Outcome]) -> list[Metric]:
    return [
        Metric(f"horizontal_accuracy.{outcome.cell.dataset}", outcome.receipt.detail["accuracy"]["hfusion"])
        for outcome in fused
        if outcome.receipt is not None and "hfusion" in outcome.receipt.detail["accuracy"]
    ]


def _method_metrics(table: Mapping[str, Any]) -> list[Metric]:
    """Return accuracy, spread over seeds and gap closure of every method that could be fitted."""
    comparison = Comparison.from_json(table["comparison"])
    values = {
        f"{figure}.{row.name}": value
        for row in comparison.rows
        for figure, value in (
            ("method_accuracy", row.accuracy.value),
            ("method_deviation", row.seed_deviation),
            ("method_gap_closure", row.gap_closure),
        )
    }
    return [Metric(name, value) for name, value in values.items() if value is not None]


def _metrics(findings: RecoverabilityReport) -> list[Metric]:
    """Return one point per layer (the step, from 1) of what has one value per layer, and the figures of the whole."""
    curves = {
        "accuracy": findings.accuracy,
        "accuracy_per_class": findings.accuracy_per_class,
        "recoverability": findings.recoverability,
    }
    points = [
        Metric(name, interval.value, layer)
        for name, intervals in curves.items()
        for layer, interval in enumerate(intervals, start=1)
        if interval is not None
    ]
    whole: dict[str, Interval | float | None] = {
        "r_any": findings.r_any,
        "floor_uniform": findings.floor_uniform,
        "floor_permutation": None if findings.floor_permutation is None else findings.floor_permutation.mean,
        "oracle": findings.oracle,
        "gap": findings.gap,
        "errors": float(findings.errors),
        "best_layer": None if findings.best_layer is None else float(findings.best_layer + 1),
    }
    values = {name: value.value if isinstance(value, Interval) else value for name, value in whole.items()}
    return [*points, *(Metric(name, value) for name, value in values.items() if value is not None)]
