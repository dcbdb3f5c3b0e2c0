"""Sealing: only what is complete, always to the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.extract_features import run
from tasks.plan_extraction import ExtractionPlan, plan
from tasks.seal_features import seal
from tests.support.small_extraction import BACKBONE, noise, settings
from vitgeom.errors import IncompleteData


def planned(folder: Path) -> ExtractionPlan:
    return plan(noise(), BACKBONE, store=str(folder), settings=settings())


def test_an_incomplete_store_is_not_sealed(tmp_path: Path) -> None:
    work = planned(tmp_path)
    for request in work.requests[1:]:
        run(request)
    with pytest.raises(IncompleteData, match="test"):
        seal(work)


def test_the_seal_pins_the_content_and_not_the_way_to_it(tmp_path: Path) -> None:
    receipts, manifests = [], []
    for name, step in (("a", 1), ("b", -1)):
        work = planned(tmp_path / name)
        for request in work.requests[::step]:
            run(request)
        receipts.append(seal(work))
        manifests.append(Path(tmp_path, name, work.address, "manifest.json").read_bytes())
    assert manifests[0] == manifests[1]
    assert receipts[0].digest == receipts[1].digest
    assert receipts[0].rows == 60
    assert receipts[0].detail["splits"] == {"test": 12, "train": 36, "val": 12}
    assert (
        receipts[0].detail["ranges"],
        receipts[0].detail["recomputed"],
        receipts[0].detail["quarantined"],
    ) == (9, 0, 0)


def test_sealing_again_changes_nothing(tmp_path: Path) -> None:
    work = planned(tmp_path)
    for request in work.requests:
        run(request)
    first, second = seal(work), seal(work)
    assert (first.cached, second.cached) == (False, True)
    assert first.digest == second.digest
