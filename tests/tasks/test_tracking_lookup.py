"""A file that is no tracker's database means "ask the tracker", never an error."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tasks.tracking_lookup import known_run
from tasks.tracking_record import StudyRecord

RECORD = StudyRecord("experiment", "name", "key")


def test_a_missing_file_knows_nothing_and_is_not_made(tmp_path: Path) -> None:
    assert known_run(tmp_path / "mlflow.db", RECORD) is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_knows_nothing(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("no database at all, but long enough to be looked at as one" * 100)
    assert known_run(tmp_path / "mlflow.db", RECORD) is None


def test_a_database_with_other_tables_knows_nothing(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "mlflow.db") as connection:
        connection.execute("create table runs (id text)")
    connection.close()
    assert known_run(tmp_path / "mlflow.db", RECORD) is None
