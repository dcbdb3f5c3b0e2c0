"""What is told to the tracker: one curve per layer, where the features lie, and a key that only results change."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from flows.cell import together
from flows.fusion_requests import fusion_request_for
from flows.outcome import Outcome
from flows.probe import request_for
from flows.record import origin_tags, study_record
from flows.results import Results
from flows.study import Resolved, Study
from tasks import fit_fusion, fit_probes
from tasks.receipt import Receipt
from tasks.tracking_record import StudyRecord
from tests.support.directed_results import planted_directions
from tests.support.learnt_results import planted_metric
from tests.support.shifted_results import planted_shift

PAGE = Receipt(
    task="render_report",
    key="k",
    uri="report.html",
    digest="page",
    seconds=0,
    peak_bytes=0,
    cached=False,
    rows=1,
)


@pytest.fixture
def wanted(finished: Path, monkeypatch: pytest.MonkeyPatch) -> Resolved:
    monkeypatch.chdir(finished)
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    return Study().resolve()


def described(wanted: Resolved, **changes: object) -> StudyRecord:
    [cell] = wanted.cells
    results = Results(wanted.out)
    probed = Outcome(cell, receipt=fit_probes.stored(request_for(cell, wanted, results)))
    fused = Outcome(cell, receipt=fit_fusion.stored(fusion_request_for(cell, wanted, results)))
    given: dict[str, Any] = {
        "probed": [probed],
        "fused": [fused],
        "page": PAGE,
        "tags": {"vitgeom.engine": "serial"},
    }
    return study_record(wanted, **{**given, **changes})


def test_curves_have_one_point_per_layer(wanted: Resolved) -> None:
    [cell] = described(wanted).cells

    steps = {
        name: [metric.step for metric in cell.metrics if metric.name == name]
        for name in ("accuracy", "accuracy_per_class", "recoverability", "r_any")
    }
    assert steps == {
        "accuracy": list(range(1, 13)),
        "accuracy_per_class": list(range(1, 13)),
        "recoverability": list(range(1, 12)),
        "r_any": [0],
    }


def test_methods_have_their_figures_and_files(wanted: Resolved) -> None:
    [cell] = described(wanted).cells
    figures = {metric.name: metric.value for metric in cell.metrics}
    table = Results(wanted.out).read_fusion(wanted.cells[0])["comparison"]
    for row in table["rows"]:
        assert figures[f"method_accuracy.{row['name']}"] == row["accuracy"]["value"]
    assert "method_deviation.vfusion" in figures
    assert "method_deviation.last_layer" not in figures
    assert [Path(path).suffix for path in cell.fusion] == [".json", ".safetensors"]


def test_a_cell_without_fusion_is_recorded_with_its_probes(wanted: Resolved) -> None:
    [with_fusion], [without] = described(wanted).cells, described(wanted, fused=[]).cells
    assert without.fusion == ()
    assert "accuracy" in {metric.name for metric in without.metrics}
    assert without.key != with_fusion.key


def test_several_backbones_together_are_figures_of_the_study(wanted: Resolved) -> None:
    [cell] = wanted.cells
    across = PAGE.model_copy(update={"detail": {"accuracy": {"hfusion": 0.75}}})
    record = described(wanted, fused=[Outcome(together([cell, cell]), receipt=across)])
    assert {metric.name: metric.value for metric in record.metrics}[
        f"horizontal_accuracy.{cell.dataset}"
    ] == 0.75


def test_a_cell_names_the_features_it_was_computed_from(wanted: Resolved, finished: Path) -> None:
    [cell] = described(wanted).cells

    assert cell.dataset is not None
    assert cell.dataset.digest == cell.tags["vitgeom.manifest"]
    assert (Path(cell.dataset.uri) / "manifest.json").is_file()
    assert cell.dataset.uri.startswith(str(finished / ".vitgeom" / "store" / "features"))
    assert cell.params["probe.tol"] == 1e-5


def test_the_key_depends_on_parameters_and_results_and_not_on_how_they_were_computed(
    wanted: Resolved,
) -> None:
    key = described(wanted).key
    ray = wanted.params.model_copy(update={"engine": wanted.params.engine.model_copy(update={"kind": "ray"})})
    assert described(dataclasses.replace(wanted, params=ray)).key == key
    seed = wanted.params.model_copy(update={"datasets": ()})
    assert described(dataclasses.replace(wanted, params=seed)).key != key


def test_a_failed_cell_is_counted(wanted: Resolved) -> None:
    [cell] = wanted.cells
    record = study_record(wanted, probed=[Outcome(cell, problem="gone")], fused=[], page=PAGE, tags={})

    assert {metric.name: metric.value for metric in record.metrics} == {"cells_done": 0, "cells_failed": 1}
    assert record.cells == ()


def test_only_origins_that_are_there_become_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    assert origin_tags() == {}
    monkeypatch.setenv("RAY_JOB_ID", "job-7")
    monkeypatch.setenv("DVC_EXP_BASELINE_REV", "abc")
    assert origin_tags() == {"ray.job_id": "job-7", "dvc.rev": "abc"}


def test_figures_under_shift_are_recorded_where_they_are_of_these_classifiers(
    wanted: Resolved, tmp_path: Path
) -> None:
    [cell] = wanted.cells
    shutil.copytree(wanted.out, tmp_path / "results")
    moved = dataclasses.replace(wanted, out=tmp_path / "results")
    results = Results(moved.out)
    plain = described(moved)
    content = planted_shift(groups=True)
    results.write_shift(cell, json.dumps(content).encode())
    assert described(moved) == plain, "figures of other classifiers are no part of the record"

    results.write_shift(cell, json.dumps({**content, "comparison": results.fusion_digest(cell)}).encode())
    shifted = described(moved)
    figures = {metric.name: metric.value for metric in shifted.cells[0].metrics}
    means = {row["name"]: row["accuracy"]["value"] for row in content["mean"]["rows"]}
    assert {name: figures[f"mean_corruption_accuracy.{name}"] for name in means} == means
    for figure, rows in (
        ("mean_corruption_accuracy_batch_statistics", content["mean"]["batch_statistics"]["rows"]),
        ("method_accuracy_batch_statistics", content["clean"]["batch_statistics"]["rows"]),
    ):
        adapted = {row["name"]: row["accuracy"]["value"] for row in rows}
        assert {name: figures[f"{figure}.{name}"] for name in means} == adapted
    assert figures["worst_group_accuracy.vfusion"] == pytest.approx(0.7)
    assert shifted.key != plain.key


def test_directions_are_recorded_and_change_the_key(wanted: Resolved, tmp_path: Path) -> None:
    [cell] = wanted.cells
    shutil.copytree(wanted.out, tmp_path / "results")
    moved = dataclasses.replace(wanted, out=tmp_path / "results")
    results = Results(moved.out)
    plain = described(moved)
    content = planted_directions(silent=("patch_mean",))
    results.write_directions(cell, json.dumps(content).encode())
    directed = described(moved)

    figures = {metric.name: metric.value for metric in directed.cells[0].metrics}
    measured = content["pairs"][0]["figures"]["figures"]
    for name in ("kappa", "variation_patches", "participation_ratio"):
        assert figures[f"directions.{name}.cls-layer4"] == measured[name]["mean"]["value"]
    assert "directions.kappa.patch_mean-layer8" not in figures, "what is undefined is no figure"
    assert directed.key != plain.key

    content["pairs"].pop()
    results.write_directions(cell, json.dumps(content).encode())
    assert described(moved).key != directed.key
    assert described(moved, fused=[]).key != described(wanted, fused=[]).key


def test_learnt_metrics_are_recorded_and_change_the_key(wanted: Resolved, tmp_path: Path) -> None:
    [cell] = wanted.cells
    shutil.copytree(wanted.out, tmp_path / "results")
    moved = dataclasses.replace(wanted, out=tmp_path / "results")
    plain, content = described(moved), planted_metric()
    Results(moved.out).write_metric(cell, json.dumps(content).encode())
    learnt = described(moved)

    figures = {metric.name: metric.value for metric in learnt.cells[0].metrics}
    pair = content["pairs"][0]
    name = f"metric.{pair['decoder']['name']}-layer{pair['decoder']['layer']}"
    for target in ("importance", "block_norms"):
        scores = pair["importance"]["scores"]
        assert figures[f"{name}.rho_{target}.importance"] == scores["importance"][target]["mean"]["value"]
        assert (
            figures[f"{name}.rho_{target}.ceiling"] == pair["importance"]["ceiling"][target]["mean"]["value"]
        )
    assert learnt.key != plain.key
