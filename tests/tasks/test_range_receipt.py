"""A receipt says what the done-marker says."""

from __future__ import annotations

from types import SimpleNamespace

from tasks.range_receipt import range_receipt


def test_it_holds_what_the_marker_holds() -> None:
    request = SimpleNamespace(
        task="extract_features", key="train[4:6]", store="s3://bucket", address="features/x", start=4, stop=6
    )
    marker = {"digest": "ab", "seconds": 1.5, "peak_bytes": 7, "notes": {"products": 3}}
    receipt = range_receipt(request, marker, cached=True)
    assert receipt.uri == "s3://bucket/features/x"
    assert (receipt.rows, receipt.digest, receipt.seconds, receipt.peak_bytes) == (2, "ab", 1.5, 7)
    assert receipt.cached
    assert receipt.detail == marker["notes"]
    assert receipt.detail is not marker["notes"]
