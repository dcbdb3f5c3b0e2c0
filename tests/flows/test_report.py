"""What the page is given about shift, directions and learnt metrics: figures of what it shows, and a word where they are of something earlier."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from flows.report import request_for_page
from flows.results import Results
from flows.study import Resolved, Study
from tests.support.directed_results import planted_directions
from tests.support.learnt_results import planted_metric
from tests.support.shifted_results import planted_shift


@pytest.fixture
def wanted(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Resolved:
    """The small study, with a copy of its results."""
    monkeypatch.chdir(finished)
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    study = Study().resolve()
    shutil.copytree(study.out, tmp_path / "results")
    return dataclasses.replace(study, out=tmp_path / "results")


def test_figures_under_shift_reach_the_page_if_they_are_of_its_classifiers(
    wanted: Resolved, capsys: pytest.CaptureFixture[str]
) -> None:
    [cell] = wanted.cells
    results = Results(wanted.out)
    assert request_for_page(wanted, {}, {}, {}, {}).shift == ()

    content = {**planted_shift(), "comparison": results.fusion_digest(cell)}
    results.write_shift(cell, json.dumps(content).encode())
    [source] = request_for_page(wanted, {}, {}, {}, {}).shift
    assert source.evaluation == str(results.shift(cell).absolute())
    assert request_for_page(wanted, {}, {cell.name: "failed"}, {}, {}).shift == ()

    results.write_shift(cell, json.dumps(planted_shift()).encode())
    [source] = request_for_page(wanted, {}, {}, {}, {}).shift
    assert source.evaluation is None
    assert "of earlier classifiers. Run vitgeom shift again" in str(source.failed)
    assert "of earlier classifiers" in capsys.readouterr().err


def test_directions_reach_the_page_if_they_are_of_its_images_and_weights(
    wanted: Resolved, capsys: pytest.CaptureFixture[str]
) -> None:
    [cell] = wanted.cells
    results = Results(wanted.out)
    assert request_for_page(wanted, {}, {}, {}, {}).directions == ()

    description = results.read_features(cell)[0].description
    of = {"dataset": description["dataset"], "weights": description["weights"]}
    asked = {"rank": 7, "images": 3}
    results.write_directions(cell, json.dumps({**planted_directions(), "of": of, "asked": asked}).encode())
    request = request_for_page(wanted, {}, {}, {}, {})
    [source] = request.directions
    assert source.figures == str(results.directions(cell).absolute())
    # What the figures were asked for, not what the parameters say now.
    assert request.provenance["diagnose"] == {cell.name: asked}
    assert not {"diagnose", "metric", "shift", "sweep"} & set(request.provenance["params"])

    results.write_directions(cell, json.dumps(planted_directions()).encode())
    [source] = request_for_page(wanted, {}, {}, {}, {}).directions
    assert source.figures is None
    assert "of other images or weights. Run vitgeom stage diagnose again" in str(source.failed)
    assert "of other images or weights" in capsys.readouterr().err


def test_a_cell_that_could_not_be_diagnosed_is_told_with_the_reason(wanted: Resolved) -> None:
    [cell] = wanted.cells
    [source] = request_for_page(wanted, {}, {}, {cell.name: "no such layer"}, {}).directions
    assert (source.figures, source.failed) == (None, "no such layer")


def test_directions_of_a_cell_without_probes_are_shown(wanted: Resolved) -> None:
    [cell] = wanted.cells
    results = Results(wanted.out)
    results.write_directions(cell, json.dumps(planted_directions()).encode())
    [source] = request_for_page(wanted, {cell.name: "probes failed"}, {}, {}, {}).directions
    assert source.figures == str(results.directions(cell).absolute())


def test_learnt_metrics_reach_the_page_if_they_are_of_its_images_and_weights(
    wanted: Resolved, capsys: pytest.CaptureFixture[str]
) -> None:
    [cell] = wanted.cells
    results = Results(wanted.out)
    assert request_for_page(wanted, {}, {}, {}, {}).metrics == ()

    description = results.read_features(cell)[0].description
    of = {"dataset": description["dataset"], "weights": description["weights"]}
    results.write_metric(cell, json.dumps({**planted_metric(), "of": of}).encode())
    [source] = request_for_page(wanted, {}, {}, {}, {}).metrics
    assert source.figures == str(results.metric(cell).absolute())

    results.write_metric(cell, json.dumps(planted_metric()).encode())
    [source] = request_for_page(wanted, {}, {}, {}, {}).metrics
    assert source.figures is None
    assert "of other images or weights. Run vitgeom stage metric again" in str(source.failed)
    assert "learnt metrics are of other images or weights" in capsys.readouterr().err


def test_a_cell_of_which_nothing_could_be_learnt_is_told_with_the_reason(wanted: Resolved) -> None:
    [cell] = wanted.cells
    [source] = request_for_page(wanted, {}, {}, {}, {cell.name: "the loss is nan"}).metrics
    assert (source.figures, source.failed) == (None, "the loss is nan")


def test_learnt_metrics_of_a_cell_without_probes_are_shown(wanted: Resolved) -> None:
    [cell] = wanted.cells
    results = Results(wanted.out)
    results.write_metric(cell, json.dumps(planted_metric()).encode())
    [source] = request_for_page(wanted, {cell.name: "probes failed"}, {}, {}, {}).metrics
    assert source.figures == str(results.metric(cell).absolute())
