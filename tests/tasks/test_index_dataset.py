"""A folder is indexed once; a folder that changed is indexed again; content decides the digest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tasks import index_dataset
from tasks.index_dataset import IndexRequest
from vitgeom.data import DatasetRef, open_dataset
from vitgeom.errors import InvalidInput


@pytest.fixture
def images(tmp_path: Path) -> Path:
    root = tmp_path / "flowers"
    generator = np.random.default_rng(0)
    for name in ("rose", "tulip"):
        (root / name).mkdir(parents=True)
        for number in range(10):
            pixels = generator.integers(0, 256, size=(8, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(root / name / f"{number}.png")
    (root / "rose" / "broken.png").write_bytes(b"no picture")
    (root / "rose" / "notes.txt").write_text("not an image")
    return root


def request(images: Path, tmp_path: Path) -> IndexRequest:
    return IndexRequest(store=str(tmp_path / "store"), root=str(images))


def test_the_receipt_says_what_was_found_and_what_cannot_be_used(images: Path, tmp_path: Path) -> None:
    receipt = index_dataset.run(request(images, tmp_path))

    assert receipt.rows == 20
    assert receipt.detail["classes"] == ["rose", "tulip"]
    assert [path for path, _ in receipt.detail["quarantine"]] == ["rose/broken.png"]
    assert sum(receipt.detail["skipped"].values()) == 1
    data = open_dataset(DatasetRef.from_json(receipt.detail["dataset"]))
    assert data.digest == receipt.digest
    assert sum(len(split) for split in data.splits.values()) == 20


def test_a_second_run_decodes_nothing(images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = index_dataset.run(request(images, tmp_path))
    monkeypatch.setattr(index_dataset, "index_folder", None)
    second = index_dataset.run(request(images, tmp_path))

    assert (first.cached, second.cached) == (False, True)
    assert (second.uri, second.digest) == (first.uri, first.digest)


def test_a_changed_folder_is_indexed_again(images: Path, tmp_path: Path) -> None:
    first = index_dataset.run(request(images, tmp_path))
    Image.new("RGB", (9, 9)).save(images / "tulip" / "new.png")
    second = index_dataset.run(request(images, tmp_path))

    assert not second.cached
    assert second.digest != first.digest
    assert second.rows == 21


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        index_dataset.run(request(tmp_path / "nowhere", tmp_path))


def test_a_look_finds_the_same_and_writes_nothing(images: Path, tmp_path: Path) -> None:
    looked = index_dataset.look(request(images, tmp_path))
    assert not (tmp_path / "store").exists()
    made = index_dataset.run(request(images, tmp_path))
    assert (looked.digest, looked.rows, looked.cached) == (made.digest, made.rows, False)
    assert open_dataset(DatasetRef.from_json(looked.detail["dataset"])).digest == made.digest


def test_a_look_at_a_folder_that_is_indexed_decodes_nothing(
    images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = index_dataset.run(request(images, tmp_path))
    monkeypatch.setattr(index_dataset, "index_folder", None)
    looked = index_dataset.look(request(images, tmp_path))
    assert (looked.cached, looked.uri) == (True, made.uri)
