from __future__ import annotations

import csv
import io
import json

from tests.support.report_results import combination, material, no_errors, not_beyond_chance, one_layer
from vitgeom.report.combination import Failure
from vitgeom.report.metrics import COLUMNS, metrics_csv, summary


def test_one_row_per_layer_with_every_column() -> None:
    rows = list(csv.DictReader(io.StringIO(metrics_csv([combination(), one_layer()]))))
    assert len(rows) == 6
    assert tuple(rows[0]) == COLUMNS
    assert [row["is_best"] for row in rows[:5]] == ["0", "0", "0", "1", "0"]
    assert float(rows[3]["test_accuracy"]) == 0.86


def test_what_does_not_exist_is_empty() -> None:
    rows = list(csv.DictReader(io.StringIO(metrics_csv([no_errors()]))))
    assert {row["recoverability"] for row in rows} == {""}
    assert list(csv.reader(io.StringIO(metrics_csv([])))) == [list(COLUMNS)]


def test_names_survive_the_table() -> None:
    name = 'a,"b"\nc'
    assert next(csv.DictReader(io.StringIO(metrics_csv([combination(dataset=name)]))))["dataset"] == name


def test_summary_is_plain_json_with_nulls() -> None:
    shown = material(combination(), no_errors(), not_beyond_chance(), failed=[Failure("a", "b", "why")])
    read = json.loads(json.dumps(summary(shown), allow_nan=False))
    assert [pair["answer"] for pair in read["finished"]] == [
        "yes, beyond chance",
        "no errors to recover",
        "not beyond chance",
    ]
    assert read["finished"][0]["r_any"] == {"value": 0.7, "low": 0.61, "high": 0.79}
    assert read["finished"][1]["r_any"] is None
    assert read["finished"][2]["unconverged_layers"] == [1]
    assert read["failed"] == [{"dataset": "a", "backbone": "b", "reason": "why"}]
