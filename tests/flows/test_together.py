"""Units of many cells in one call: what is done is told, and a failure is left to its cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from flows.together import map_together
from tasks.engine import SerialEngine
from tasks.receipt import Receipt
from tasks.request import ProbeRequest
from vitgeom.errors import StoreError


def probe_of(dataset: str) -> ProbeRequest:
    return ProbeRequest(store="/s", address=f"features/{dataset}/nano/00aa", manifest_digest="d" * 64)


def receipt_of(request: ProbeRequest) -> Receipt:
    return Receipt(
        task="fit_probes",
        key=request.key,
        uri="/s",
        digest="d",
        seconds=1,
        peak_bytes=1,
        cached=False,
        rows=1,
    )


class Broken(SerialEngine):
    """Does all but the last unit."""

    def map(
        self, task_name: str, requests: Sequence[Any], *, on_receipt: Any = None, **options: Any
    ) -> list[Receipt]:
        for request in requests[:-1]:
            on_receipt(receipt_of(request))
        raise StoreError("the disk is full")


def test_what_was_done_before_a_failure_is_kept_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    missing = {"digits": probe_of("digits"), "photos": probe_of("photos")}
    fitted = map_together(
        missing,
        engine=Broken(),
        what="probes",
        said=lambda name, receipt: f"{name} took {receipt.seconds:.0f} s",
    )

    assert list(fitted) == [missing["digits"].key]
    told = capsys.readouterr()
    text = told.out + told.err
    assert "fitting the probes of 2 cells" in text
    assert "digits took 1 s  (1 of 2)" in text
    assert (
        "not all of 2 cells could be fitted together, the rest is tried one by one: the disk is full" in text
    )
