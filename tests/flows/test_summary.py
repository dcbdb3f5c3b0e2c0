"""The summary says the same on the terminal, on a Prefect page and to callers, and hides no failure."""

from __future__ import annotations

import pytest

from flows.cell import Cell
from flows.outcome import Outcome
from flows.summary import LEGEND, Summary
from tasks.receipt import Receipt
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef

DETAIL = {
    "accuracy_last": 0.8125,
    "accuracy_best": 0.875,
    "best_layer": 6,
    "oracle": 0.95,
    "r_any": 0.7,
    "r_any_luck": 0.65,
    "errors": 57,
}


def cell(name: str) -> Cell:
    return Cell(name, "nano", DatasetRef(name), BackboneRef("nano"))


def fitted(**changes: object) -> Receipt:
    detail = {**DETAIL, **changes}
    return Receipt(
        task="fit_probes",
        key="k",
        uri="/s/probes",
        digest="d",
        seconds=1,
        peak_bytes=1,
        cached=False,
        rows=9,
        detail=detail,
    )


def fused(**detail: object) -> Receipt:
    return fitted().model_copy(update={"task": "fit_fusion", "detail": detail})


@pytest.fixture
def summary() -> Summary:
    return Summary(
        "small",
        (
            Outcome(cell("digits"), receipt=fitted()),
            Outcome(cell("photos"), receipt=fitted(r_any=None, r_any_luck=None, errors=0)),
            Outcome(cell("scenes"), problem="StoreError: the disk is full"),
        ),
        (
            Outcome(cell("digits"), receipt=fused(accuracy={"vfusion": 0.9})),
            Outcome(cell("photos"), problem="NumericalFailure: no method"),
        ),
    )


def test_the_terminal_sees_an_aligned_table_and_every_failure(summary: Summary) -> None:
    lines = summary.lines()
    assert lines[:5] == [
        "dataset × backbone  last layer  best by validation  VFusion  any layer  errors  recovered  by luck",
        "digits × nano           81.2 %    87.5 % (layer 7)   90.0 %     95.0 %      57     70.0 %   65.0 %",
        "photos × nano           81.2 %    87.5 % (layer 7)        -     95.0 %       0          -        -",
        "scenes × nano  FAILED  StoreError: the disk is full",
        "fusion of photos × nano  FAILED  NumericalFailure: no method",
    ]
    assert " ".join(lines[5:]) == LEGEND


def test_the_page_links_to_the_report(summary: Summary) -> None:
    text = summary.markdown(page="/out/report.html")

    assert "[/out/report.html](file:///out/report.html)" in text
    assert "| digits × nano | 81.2 % | 87.5 % (layer 7) | 90.0 % | 95.0 % | 57 | 70.0 % | 65.0 % |" in text
    assert "- **scenes × nano** failed: StoreError: the disk is full" in text


def test_callers_get_plain_figures(summary: Summary) -> None:
    told = summary.to_json(page="s3://bucket/report.html")

    assert told["report"] == "s3://bucket/report.html"
    assert told["cells"]["digits × nano"]["r_any"] == 0.7
    assert told["fusion"]["digits × nano"] == {"accuracy": {"vfusion": 0.9}}
    assert told["cells"]["scenes × nano"] == {"failed": "StoreError: the disk is full"}
