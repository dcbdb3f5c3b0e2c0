"""Many pairs in one call of the engine: the same features as one by one, what is stored is left alone, what cannot be done is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks import extract_together as module
from tasks.extract_dataset import extract
from tasks.extract_together import extract_together
from tasks.plan_extraction import plan
from tests.support.counting_engine import CountingEngine
from tests.support.small_extraction import BACKBONE, NO_CLASS_TOKEN, noise, settings, stored_bytes
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef, corrupted_ref
from vitgeom.store.lease import lease
from vitgeom.store.uri import Root

SHIFTS = {
    f"contrast {severity}": (corrupted_ref(noise(), corruption="contrast", severity=severity), BACKBONE)
    for severity in (1, 5)
}


def together(
    folder: Path,
    engine: CountingEngine,
    lines: list[str] | None = None,
    pairs: dict[str, tuple[DatasetRef, BackboneRef]] | None = None,
) -> dict[str, str]:
    sealed = extract_together(
        SHIFTS if pairs is None else pairs,
        store=str(folder),
        settings=settings(),
        engine=engine,
        emit=(lines if lines is not None else []).append,
        label="2 sets",
    )
    return {name: receipt.digest for name, receipt in sealed.items()}


def test_one_call_gives_what_single_extractions_give(tmp_path: Path) -> None:
    engine, lines = CountingEngine(), list[str]()
    found = together(tmp_path / "together", engine, lines)
    assert [name for name, _ in engine.calls] == ["extract_features"]
    single = {
        name: extract(
            dataset, backbone, store=str(tmp_path / "single"), settings=settings(), engine=CountingEngine()
        ).digest
        for name, (dataset, backbone) in SHIFTS.items()
    }
    assert found == single
    assert stored_bytes(tmp_path / "together").keys() == stored_bytes(tmp_path / "single").keys()
    assert lines[-1].startswith("extract 2 sets")


def test_what_is_stored_is_not_computed_again(tmp_path: Path) -> None:
    engine = CountingEngine()
    first = together(tmp_path, engine, pairs={"contrast 1": SHIFTS["contrast 1"]})
    half = engine.calls[0][1]
    assert together(tmp_path, engine)["contrast 1"] == first["contrast 1"]
    assert [units for _, units in engine.calls] == [half, half]
    together(tmp_path, engine)
    assert len(engine.calls) == 2


def test_a_pair_that_cannot_be_planned_is_told_and_the_others_are_done(tmp_path: Path) -> None:
    lines: list[str] = []
    pairs = {**SHIFTS, "no class token": (noise(), NO_CLASS_TOKEN)}
    assert set(together(tmp_path, CountingEngine(), lines, pairs=pairs)) == set(SHIFTS)
    assert any(line.startswith("extract no class token: cannot be planned: ") for line in lines)


def test_a_pair_that_another_driver_holds_is_left_out(tmp_path: Path) -> None:
    dataset, backbone = SHIFTS["contrast 5"]
    work = plan(dataset, backbone, store=str(tmp_path), settings=settings())
    lines: list[str] = []
    with lease(Root(str(tmp_path)), work.address):
        assert together(tmp_path, CountingEngine(), lines) == {}
    assert any("the rest is tried one by one" in line for line in lines)


def test_leases_are_held_for_some_pairs_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HELD_AT_ONCE", 1)
    engine = CountingEngine()
    assert set(together(tmp_path, engine)) == set(SHIFTS)
    assert len(engine.calls) == 2
