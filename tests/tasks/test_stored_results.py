"""Results of any unit: what they need to count, and what their digest covers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.request import ProbeRequest
from tasks.stored_results import finished_results, json_bytes, receipt_of, write_results
from vitgeom.store.uri import Root


def test_results_count_if_what_they_need_is_there(tmp_path: Path) -> None:
    record = write_results(Root(tmp_path), {"a": b"1", "b": b"2"}, rows=3, seconds=1, peak_bytes=2, detail={})
    assert finished_results(Root(tmp_path), required=("a",)) == record
    assert finished_results(Root(tmp_path), required=("a", "c")) is None
    (tmp_path / "b").write_bytes(b"3")
    assert finished_results(Root(tmp_path), required=("a",)) is None


def test_times_in_the_detail_do_not_change_the_digest(tmp_path: Path) -> None:
    digests = {
        write_results(
            Root(tmp_path / str(seconds)),
            {"a": b"1"},
            rows=3,
            seconds=seconds,
            peak_bytes=2,
            detail={"each": seconds},
        )["digest"]
        for seconds in (1.0, 2.0)
    }
    assert len(digests) == 1


def test_a_receipt_says_what_the_record_says(tmp_path: Path) -> None:
    request = ProbeRequest(store="/s", address="features/d/b/0", manifest_digest="d" * 64)
    record = write_results(Root(tmp_path), {"a": b"1"}, rows=3, seconds=1, peak_bytes=2, detail={"x": 1})
    receipt = receipt_of(request, Root(tmp_path), record, cached=True)
    assert (receipt.task, receipt.key, receipt.uri) == (request.task, request.key, str(tmp_path))
    assert (receipt.digest, receipt.rows, receipt.detail) == (record["digest"], 3, {"x": 1})


def test_json_is_the_same_for_equal_values_and_refuses_nan() -> None:
    assert json_bytes({"b": 1, "a": 2}) == json_bytes({"a": 2, "b": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_bytes({"a": float("nan")})
