"""``verify`` finds damage and changes nothing; after ``repair`` the same study computes only what was damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from flows import cli
from flows.full_benchmark import full_benchmark
from tests.support.feature_stores import describe, make_store, sealed_store
from vitgeom.store.lease import lease
from vitgeom.store.uri import Root

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
    assert ": good\n1 store below" in capsys.readouterr().out


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
    assert "0 stores below" in capsys.readouterr().out


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, list[Path]]:
    """A root with two good feature stores, and their folders in the order in which they are checked."""
    for labels in ({}, {"precision": "bfloat16"}):
        sealed_store(Root(tmp_path), description=describe(**labels))
    return tmp_path, sorted(tmp_path.glob("features/*/*/*"))


def cut_a_chunk(folder: Path) -> None:
    (folder / "train" / "cls" / "c" / "0" / "0" / "0").write_bytes(b"")


def test_what_is_no_feature_store_is_named_and_left_alone(
    two: tuple[Path, list[Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    root, [_, second] = two
    cut_a_chunk(second)
    for place in (".DS_Store", "digits/notes.json", "digits/nano/0.json"):
        (root / "features" / place).write_text("mine")
    (root / "features" / "digits" / "nano" / "copy" / "deep").mkdir(parents=True)

    assert cli.main(["verify", "--store", str(root)]) == 1
    told = capsys.readouterr().out
    assert (
        "not a store, left alone: features/.DS_Store, features/digits/nano/0.json,"
        " features/digits/nano/copy, features/digits/notes.json\n"
    ) in told
    assert ": good\n" in told
    assert ": 1 place damaged\n" in told
    assert f"2 stores below {root}, 1 place damaged\n" in told
    assert cli.main(["repair", "--store", str(root)]) == 0
    assert (root / "features" / "digits" / "nano" / "0.json").read_text() == "mine"


@pytest.mark.parametrize("damage", ["corrupt", "not JSON", "a folder", "missing"])
def test_a_store_without_a_whole_declaration_is_damage_and_the_others_are_checked(
    two: tuple[Path, list[Path]], capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    root, [first, second] = two
    cut_a_chunk(second)
    declaration = first / "address.json"
    whole = declaration.read_bytes()
    declaration.unlink()
    if damage == "a folder":
        (declaration / "deep").mkdir(parents=True)
    elif damage != "missing":
        declaration.write_bytes(b"{}" if damage == "corrupt" else b"{")

    assert cli.main(["verify", "--store", str(root)]) == 1
    told = capsys.readouterr().out
    assert f"{first.relative_to(root)}: 1 place damaged\n  address.json: the declaration is" in told
    assert f"{second.relative_to(root)}: 1 place damaged\n  train/cls/c/0/0/0: " in told
    assert "2 places damaged" in told
    assert cli.main(["repair", "--store", str(root)]) == 0
    assert not declaration.exists()
    for description in (describe(), describe(precision="bfloat16")):
        assert len(make_store(Root(root), description=description).missing()) in (0, 1)
    assert declaration.read_bytes() == whole
    assert cli.main(["verify", "--store", str(root)]) == 0
    assert "1 range not computed yet" in capsys.readouterr().out


def test_a_store_that_is_in_use_does_not_keep_the_others_from_repair(
    two: tuple[Path, list[Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    root, [first, second] = two
    cut_a_chunk(second)

    with lease(root, first.relative_to(root).as_posix()):
        assert cli.main(["repair", "--store", str(root)]) == 1

    told = capsys.readouterr()
    assert "is in use by" in told.err
    assert f"{second.relative_to(root)}: 1 place removed" in told.out


def test_repair_does_not_advise_to_run_repair(
    two: tuple[Path, list[Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    root, [first, second] = two
    cut_a_chunk(first)
    (first / "train" / "mean" / "zarr.json").write_text("{")
    next((first / "done" / "val").iterdir()).write_text("{}")
    (second / "manifest.json").write_text("{}")

    assert cli.main(["verify", "--store", str(root)]) == 1
    assert "Run `vitgeom repair`" in capsys.readouterr().out
    assert cli.main(["repair", "--store", str(root)]) == 0
    told = capsys.readouterr().out
    assert "vitgeom repair" not in told
    assert "4 places removed" in told
