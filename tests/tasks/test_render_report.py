from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from safetensors.torch import save

from tasks import render_report
from tasks.render_report import run
from tasks.report_request import (
    CombinationSource,
    DatasetNote,
    DirectionSource,
    FusionSource,
    MetricSource,
    QuarantineNote,
    RenderRequest,
    StageCost,
)
from tests.support.directed_results import planted_directions
from tests.support.fused_results import SKILLS, planted_answers, planted_table
from tests.support.html_checks import read_page
from tests.support.learnt_results import planted_metric
from tests.support.result_files import planted_results
from vitgeom.errors import InvalidInput, StoreError
from vitgeom.store.uri import Root


def stored(place: str, **planted: Any) -> dict[str, str]:
    """Write the result files of one pair and return their URIs."""
    root = Root(place)
    names = ("manifest", "probes", "recoverability")
    for name, content in zip(names, planted_results(**planted), strict=True):
        root.write_json(f"{name}.json", content)
    return {name: f"{root.uri}/{name}.json" for name in names}


def request(*sources: CombinationSource, out: str, **more: Any) -> RenderRequest:
    return RenderRequest(
        profile="embedded", title="What do layers know?", combinations=sources, out=out, **more
    )


@pytest.fixture
def sources(tmp_path: Path) -> tuple[CombinationSource, ...]:
    return (
        CombinationSource(dataset="digits", backbone="nano", **stored(f"{tmp_path}/a")),
        CombinationSource(
            dataset="photos", backbone="nano", **stored(f"{tmp_path}/b", skills=(0.3, 0.5, 0.7, 1.0), best=3)
        ),
        CombinationSource(dataset="scenes", backbone="nano", failed="StoreError: the disk is <full>"),
    )


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_page_figures_table_and_summary_are_written(
    tmp_path: Path, sources: tuple[CombinationSource, ...]
) -> None:
    out = tmp_path / "results"
    note = DatasetNote(
        name="digits", source="scans", quarantine=(QuarantineNote(path="x.png", reason="torn"),)
    )
    cost = StageCost(stage="extract", dataset="digits", backbone="nano", seconds=2.5, bytes=1000, rows=520)
    provenance = {"git": {"commit": "abc123"}, "engine": "serial"}
    receipt = run(request(*sources, out=str(out), datasets=(note,), costs=(cost,), provenance=provenance))
    files = tree(out)
    assert sorted(files) == sorted([*receipt.detail["files"], ".report.json"])
    assert {"report.html", "metrics.csv", "summary.json", "figures/overview.svg"} <= set(files)
    assert receipt.uri == f"{out}/report.html"
    assert (receipt.detail["finished"], receipt.detail["failed"], receipt.rows) == (2, 1, 240)
    words = " ".join(read_page(files["report.html"].decode()).texts)
    for part in ("StoreError: the disk is <full>", "x.png", "abc123", "2.50 s", "no errors"):
        assert part in words
    rows = list(csv.DictReader(files["metrics.csv"].decode().splitlines()))
    assert [(row["dataset"], row["layer"]) for row in rows] == [
        (name, str(n)) for name in ("digits", "photos") for n in range(1, 5)
    ]
    summary = json.loads(files["summary.json"])
    assert summary["failed"][0]["reason"] == "StoreError: the disk is <full>"
    assert summary["finished"][0]["errors"] > summary["finished"][1]["errors"] == 0


def test_comparisons_of_methods_are_read_and_a_changed_one_is_drawn_again(
    tmp_path: Path, sources: tuple[CombinationSource, ...]
) -> None:
    place = Root(f"{tmp_path}/fusion")
    place.write_json("digits.json", planted_table())
    place.write_bytes("digits.safetensors", save(planted_answers()))
    fusion = (
        FusionSource(
            dataset="digits",
            backbone="nano",
            comparison=f"{place.uri}/digits.json",
            predictions=f"{place.uri}/digits.safetensors",
            seconds_per_image={"vfusion": 1e-3},
        ),
        FusionSource(dataset="photos", backbone="nano", failed="NumericalFailure: <no>"),
    )
    out = tmp_path / "results"
    run(request(*sources, out=str(out), fusion=fusion))
    words = " ".join(read_page((out / "report.html").read_text()).texts)
    for part in ("VFusion", "1 ms", "NumericalFailure: <no>"):
        assert part in words
    [told] = json.loads((out / "summary.json").read_text())["fusion"]
    assert list(told["accuracy"]) == list(SKILLS)
    assert (out / "figures" / "methods-1.svg").is_file()
    assert run(request(*sources, out=str(out), fusion=fusion)).cached
    better = {**SKILLS, "vfusion": 0.95}
    place.write_bytes("digits.safetensors", save(planted_answers(better)))
    assert not run(request(*sources, out=str(out), fusion=fusion)).cached
    place.write_json("digits.json", planted_table(better))
    assert not run(request(*sources, out=str(out), fusion=fusion)).cached


def test_a_comparison_was_made_or_failed() -> None:
    with pytest.raises(ValidationError, match="must give either comparison"):
        FusionSource(dataset="d", backbone="b")
    with pytest.raises(ValidationError, match="must give either comparison and predictions"):
        FusionSource(dataset="d", backbone="b", comparison="a.json")


def test_directions_are_read_and_changed_ones_are_drawn_again(
    tmp_path: Path, sources: tuple[CombinationSource, ...]
) -> None:
    place = Root(f"{tmp_path}/features")
    place.write_json("digits.directions.json", planted_directions())
    directions = (
        DirectionSource(dataset="digits", backbone="nano", figures=f"{place.uri}/digits.directions.json"),
        DirectionSource(dataset="photos", backbone="nano", failed="InvalidInput: <no layer>"),
    )
    out = tmp_path / "results"
    run(request(*sources, out=str(out), directions=directions))
    words = " ".join(read_page((out / "report.html").read_text()).texts)
    for part in ("Directions and tokens", "class token from layer 4", "InvalidInput: <no layer>"):
        assert part in words
    [told] = json.loads((out / "summary.json").read_text())["directions"]
    assert set(told["decoders"]) == {"cls-layer4", "cls-layer8", "patch_mean-layer8"}
    assert (out / "figures" / "regimes.svg").is_file()
    assert run(request(*sources, out=str(out), directions=directions)).cached
    place.write_json("digits.directions.json", planted_directions(images=2))
    assert not run(request(*sources, out=str(out), directions=directions)).cached


def test_directions_were_made_or_failed() -> None:
    with pytest.raises(ValidationError, match="must give either figures"):
        DirectionSource(dataset="d", backbone="b")


def test_learnt_metrics_are_read_and_changed_ones_are_drawn_again(
    tmp_path: Path, sources: tuple[CombinationSource, ...]
) -> None:
    place = Root(f"{tmp_path}/features")
    place.write_json("digits.metric.json", planted_metric())
    metrics = (
        MetricSource(dataset="digits", backbone="nano", figures=f"{place.uri}/digits.metric.json"),
        MetricSource(dataset="photos", backbone="nano", failed="NumericalFailure: <nan>"),
    )
    out = tmp_path / "results"
    run(request(*sources, out=str(out), metrics=metrics))
    words = " ".join(read_page((out / "report.html").read_text()).texts)
    for part in ("What models learn of directions and tokens", "importance head", "NumericalFailure: <nan>"):
        assert part in words
    [told] = json.loads((out / "summary.json").read_text())["learnt"]
    assert set(told["decoders"]) == {"cls-layer4", "scenes_depth-layer8", "patch_mean-layer8"}
    assert (out / "figures" / "rho-1-1.svg").is_file()
    assert run(request(*sources, out=str(out), metrics=metrics)).cached
    place.write_json("digits.metric.json", planted_metric(truncation=0.5))
    assert not run(request(*sources, out=str(out), metrics=metrics)).cached


def test_learnt_metrics_were_made_or_failed() -> None:
    with pytest.raises(ValidationError, match="must give either figures"):
        MetricSource(dataset="d", backbone="b")
    with pytest.raises(ValidationError, match="must give either figures"):
        MetricSource(dataset="d", backbone="b", figures="a.json", failed="why")


def test_again_gives_the_same_bytes_and_touches_nothing(
    tmp_path: Path, sources: tuple[CombinationSource, ...]
) -> None:
    out = tmp_path / "results"
    first = run(request(*sources, out=str(out)))
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    second = run(request(*sources, out=str(out)))
    assert first.digest == second.digest
    assert (first.cached, second.cached) == (False, True)
    assert times == {path: path.stat().st_mtime_ns for path in out.rglob("*")}


def test_an_unchanged_report_is_not_drawn_again(
    tmp_path: Path, sources: tuple[CombinationSource, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(request(*sources, out=str(tmp_path / "results")))
    monkeypatch.setattr(render_report, "paint_gallery", lambda material: pytest.fail("a figure was drawn"))
    second = run(request(*sources, out=str(tmp_path / "results")))
    assert second == first.model_copy(update={"cached": True})
    (tmp_path / "results").rename(tmp_path / "moved")
    moved = run(request(*sources, out=str(tmp_path / "moved")))
    assert moved.cached
    assert moved.uri == f"{tmp_path}/moved/report.html"


@pytest.mark.parametrize(
    "change",
    ["page edited", "figure gone", "stamp torn", "result changed", "title changed", "subject changed"],
)
def test_a_report_that_is_not_whole_or_not_of_these_results_is_drawn_again(
    tmp_path: Path, sources: tuple[CombinationSource, ...], change: str
) -> None:
    out = tmp_path / "results"
    wanted = request(*sources, out=str(out))
    run(wanted)
    before = tree(out)
    if change == "page edited":
        (out / "report.html").write_text("mine")
    elif change == "figure gone":
        (out / "figures" / "overview.svg").unlink()
    elif change == "stamp torn":
        (out / ".report.json").write_text('{"stamp":')
    elif change == "result changed":
        stored(f"{tmp_path}/a", num_test=130)
    elif change == "title changed":
        wanted = wanted.model_copy(update={"title": "Another question?"})
    else:
        wanted = wanted.model_copy(update={"subject": "my images"})
    again = run(wanted)
    assert not again.cached
    assert (tree(out)["report.html"] == before["report.html"]) == (
        change not in {"result changed", "title changed", "subject changed"}
    )
    assert (out / "figures" / "overview.svg").exists()


def test_figures_of_an_earlier_report_are_removed(
    tmp_path: Path, sources: tuple[CombinationSource, ...]
) -> None:
    out = tmp_path / "results"
    run(request(*sources, out=str(out)))
    assert (out / "figures" / "accuracy-2.svg").exists()
    run(request(sources[0], out=str(out)))
    assert sorted(path.name for path in (out / "figures").iterdir()) == [
        "accuracy-1.svg",
        "agreement-1.svg",
        "corrections-1.svg",
        "overview.svg",
        "recoverability-1.svg",
    ]


def test_results_may_lie_at_any_uri() -> None:
    source = CombinationSource(dataset="digits", backbone="nano", **stored("memory://report-test/in"))
    run(request(source, out="memory://report-test/out"))
    page = Root("memory://report-test/out").read_bytes("report.html").decode()
    assert "digits × nano" in " ".join(read_page(page).texts)


def test_only_failed_pairs_still_give_a_page(tmp_path: Path, sources: tuple[CombinationSource, ...]) -> None:
    receipt = run(request(sources[2], out=str(tmp_path / "results")))
    assert receipt.detail["headline"].startswith("No answer")


def test_a_missing_result_file_is_named(tmp_path: Path, sources: tuple[CombinationSource, ...]) -> None:
    (tmp_path / "a" / "probes.json").unlink()
    with pytest.raises(StoreError, match=re.escape("a/probes.json: it does not exist")):
        run(request(*sources, out=str(tmp_path / "results")))
    assert not (tmp_path / "results").exists()


def test_files_of_another_pair_are_refused(tmp_path: Path) -> None:
    uris = stored(f"{tmp_path}/a")
    uris["manifest"] = stored(f"{tmp_path}/b", num_test=90)["manifest"]
    with pytest.raises(
        InvalidInput, match="digits × nano do not belong together: number of test samples is 90, 120"
    ):
        run(
            request(
                CombinationSource(dataset="digits", backbone="nano", **uris), out=str(tmp_path / "results")
            )
        )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"manifest": "m", "probes": "p"},
        {"manifest": "m", "probes": "p", "recoverability": "r", "failed": "why"},
    ],
)
def test_a_pair_is_finished_or_failed(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="must give either manifest, probes and recoverability"):
        CombinationSource(dataset="d", backbone="b", **given)


def test_a_page_about_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="at least 1 item"):
        request(out="x")
