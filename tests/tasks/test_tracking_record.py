"""Records survive a trip through JSON text, and names that trackers refuse are refused here."""

from __future__ import annotations

import json

import pytest

from tasks.tracking_record import CellRecord, DatasetRecord, Metric, StudyRecord, flatten
from vitgeom.errors import InvalidInput


def test_a_record_survives_json_text() -> None:
    cell = CellRecord(
        "digits × nano",
        "k",
        {"a": 1},
        (Metric("accuracy", 0.5, 3),),
        {"t": "x"},
        DatasetRecord("d", "ff", "s3://b"),
        fusion=("fusion/digits/nano.json",),
    )
    record = StudyRecord(
        "experiment",
        "name",
        "key",
        {"p": None},
        (Metric("m", 1.0),),
        {"tag": "v"},
        ("report.html",),
        "digest",
        (cell,),
    )

    assert StudyRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_a_record_that_waits_from_before_fusion_is_read() -> None:
    record = StudyRecord("experiment", "name", "key", cells=(CellRecord("digits × nano", "k"),))
    waiting = record.to_json()
    del waiting["cells"][0]["fusion"]
    assert StudyRecord.from_json(waiting) == record


def test_nested_parameters_become_dotted_ones() -> None:
    assert flatten({"a": {"b": {"c": 1}, "d": [1, 2]}, "e": None}) == {"a.b.c": 1, "a.d": "[1, 2]", "e": None}


def test_a_metric_name_with_an_at_sign_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'acc@1' must be non-empty and free of '@'"):
        Metric("acc@1", 0.5)
