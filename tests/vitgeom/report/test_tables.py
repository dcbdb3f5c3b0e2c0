from __future__ import annotations

import re

from tests.support.report_results import combination, no_errors, not_beyond_chance, one_layer
from vitgeom.report import tables
from vitgeom.report.material import Cost


def cells(text: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", text)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_accuracy_table_has_one_cell_per_column() -> None:
    head, *rows = cells(tables.accuracies([combination(), one_layer()]))
    assert [len(row) for row in rows] == [len(head)] * 2
    assert rows[0][:6] == [
        "digits × nano_supervised",
        "360",
        "5",
        "4",
        "86.0 % (83.0 to 89.0 %)",
        "84.0 % (81.0 to 87.0 %)",
    ]
    assert rows[0][6:8] == ["+2.0 points (+0.4 to +3.6)", "0.012"]


def test_nulls_are_words() -> None:
    _, without_errors, single = cells(tables.recoverability([no_errors(), one_layer()]))
    assert (without_errors[1], without_errors[3:]) == ("no errors to recover", ["no errors"] * 4)
    assert (single[1], single[3:]) == ("one layer only", ["one layer"] * 4)
    assert "no errors" in tables.layers(no_errors())
    assert not re.search(r"\bnan\b", tables.layers(no_errors()), flags=re.IGNORECASE)


def test_layer_table_marks_the_best_and_the_doubtful() -> None:
    _, *rows = cells(tables.layers(not_beyond_chance()))
    assert [row[0] for row in rows] == ["1", "2", "3", "4 (best)", "5"]
    assert [row[-1] for row in rows] == ["NO", "yes", "yes", "yes", "yes"]
    assert rows[-1][3] == "last"


def test_costs_leave_out_what_nothing_is_known_of() -> None:
    entries = [Cost("extract", "d", "b", 3.21, num_bytes=2000, rows=1797), Cost("probe", "d", "b", 0.5)]
    head, first, second = cells(tables.costs(entries))
    assert head == ["stage", "dataset", "backbone", "images", "time", "stored"]
    assert first == ["extract", "d", "b", "1,797", "3.21 s", "2.0 kB"]
    assert second == ["probe", "d", "b", "not recorded", "0.50 s", "not recorded"]


def test_quarantine_counts_its_files() -> None:
    assert "Quarantine: 1 file could" in tables.quarantine([("d", "<p>", "r")])
    assert "&lt;p&gt;" in tables.quarantine([("d", "<p>", "r")])
    assert "Quarantine: 2 files could" in tables.quarantine([("d", "p", "r"), ("d", "q", "r")])
