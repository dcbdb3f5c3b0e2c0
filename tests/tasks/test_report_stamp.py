"""A report is taken as it is only if it is whole and of the same content; see also the tests of ``render_report``."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tasks.receipt import Receipt
from tasks.report_stamp import STAMP, finished_report, stamp_of, write_stamp
from vitgeom.store.uri import Root

PAGE = b"<p>page</p>"


@pytest.fixture
def out(tmp_path: Path) -> Root:
    root = Root(tmp_path)
    root.write_bytes("report.html", PAGE)
    detail = {"files": {"report.html": hashlib.sha256(PAGE).hexdigest()}}
    receipt = Receipt(
        task="render_report", key="k", uri=str(tmp_path), digest="d", seconds=1.0, peak_bytes=1, cached=False, rows=3, detail=detail,
    )  # fmt: skip
    write_stamp(root, "s", receipt)
    return root


def found(out: Root, stamp: str = "s") -> Receipt | None:
    return finished_report(out, stamp, key="report", uri="here/report.html")


def test_the_same_report_is_found_with_its_new_place(out: Root, tmp_path: Path) -> None:
    receipt = found(out)
    assert receipt is not None
    assert (receipt.cached, receipt.key, receipt.uri) == (True, "report", "here/report.html")
    assert str(tmp_path) not in (tmp_path / STAMP).read_text()


def test_another_content_or_an_edited_file_is_not(out: Root) -> None:
    assert found(out, "other") is None
    out.write_bytes("report.html", b"edited")
    assert found(out) is None


@pytest.mark.parametrize("record", ["{}", "[]", '{"stamp": "s", "receipt": {}}', '{"stamp":'])
def test_a_stamp_that_is_none_counts_as_absent(out: Root, tmp_path: Path, record: str) -> None:
    (tmp_path / STAMP).write_text(record)
    assert found(out) is None


def test_every_part_changes_the_stamp() -> None:
    stamps = {
        stamp_of({"title": "a"}, [1]),
        stamp_of({"title": "b"}, [1]),
        stamp_of({"title": "a"}, [2]),
        stamp_of({"title": "a"}, [1, 1]),
    }
    assert len(stamps) == 4
    assert stamp_of({"title": "a"}, [1]) in stamps
