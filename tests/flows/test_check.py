"""``verify`` finds damage and changes nothing; after ``repair`` the same study computes only what was damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from flows import cli
from flows.full_benchmark import full_benchmark
from vitgeom.store.lease import lease

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


@pytest.fixture
def copy(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return folder


def flip_one_bit(folder: Path) -> None:
    chunk = sorted((folder / ".vitgeom" / "store").glob("features/*/*/*/train/cls/c/*/*/*"))[0]
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1
    chunk.write_bytes(bytes(data))


def test_a_good_store_passes(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify"]) == 0
    assert ": good\n1 feature store below" in capsys.readouterr().out


def test_damage_is_found_named_repaired_and_only_it_is_computed_again(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted((copy / "results" / "small").rglob("features/*/*.json"))[0].read_bytes()
    flip_one_bit(copy)
    assert cli.main(["verify"]) == 1
    assert "train/cls" in capsys.readouterr().out
    assert cli.main(["repair"]) == 0
    assert cli.main(["verify"]) == 0

    full_benchmark.fn()

    told = json.loads((copy / "results" / "small" / "run.json").read_text())["steps"]
    assert [cell["cached"] for step in ("extract", "probe") for cell in told[step].values()] == [False, True]
    assert sorted((copy / "results" / "small").rglob("features/*/*.json"))[0].read_bytes() == before
    assert cli.main(["verify"]) == 0


def test_a_repair_does_not_come_between_a_driver_and_its_work(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flip_one_bit(copy)
    store = copy / ".vitgeom" / "store"
    [address] = [path.relative_to(store).as_posix() for path in store.glob("features/*/*/*")]

    with lease(store, address):
        assert cli.main(["repair"]) == 1

    assert "is in use by" in capsys.readouterr().err
    assert cli.main(["verify"]) == 1, "the damage is still there"
    assert cli.main(["repair"]) == 0


def test_an_empty_store_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "--store", str(tmp_path / "nothing")]) == 0
    assert "0 feature stores below" in capsys.readouterr().out
