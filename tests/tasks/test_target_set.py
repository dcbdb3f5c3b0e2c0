from __future__ import annotations

from pathlib import Path

import pytest

from tasks.target_set import make_target_set
from tests.support.counting_engine import CountingEngine
from tests.support.small_extraction import BACKBONE, noise
from tests.support.small_targets import CLS, MEAN, make, settings
from vitgeom.errors import StoreLocked
from vitgeom.store.lease import lease
from vitgeom.store.targets import open_targets
from vitgeom.store.uri import Root


def test_all_ranges_of_all_decoders_go_to_the_engine_at_once(tmp_path: Path) -> None:
    engine = CountingEngine()
    sealed = make(tmp_path, CLS, MEAN, engine=engine)
    assert engine.calls == [("make_targets", 6)]
    assert {decoder.name: receipt.rows for decoder, receipt in sealed.items()} == {"cls": 5, "patch_mean": 5}


def test_the_seal_says_what_was_spent_and_how(tmp_path: Path) -> None:
    [receipt] = make(tmp_path).values()
    # 96 outputs: exact, one product each.
    assert receipt.detail["recipe"] == "exact"
    assert receipt.detail["products"] == 5 * 96
    assert receipt.detail["jvp_path"] == "written out"
    assert open_targets(tmp_path, receipt.detail["address"]).manifest().digest == receipt.digest


def test_another_driver_at_work_is_told(tmp_path: Path) -> None:
    [receipt] = make(tmp_path / "a").values()
    with lease(Root(tmp_path / "b"), receipt.detail["address"]), pytest.raises(StoreLocked, match="process"):
        make(tmp_path / "b")


def test_fewer_images_than_were_asked_for_are_told(tmp_path: Path) -> None:
    told: list[str] = []
    make_target_set(
        noise(),
        BACKBONE,
        (CLS,),
        store=str(tmp_path),
        settings=settings(images=10**6, recipe="krylov", rank=1, budget=12),
        engine=CountingEngine(),
        emit=told.append,
        label="noise",
    )
    assert "which has fewer than the 1,000,000 that were asked for" in told[0]
