from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from tests.support.image_folder import make_folder, picture
from vitgeom.data import DatasetRef, folder, open_dataset
from vitgeom.data.folder import open_folder
from vitgeom.data.folder_index import index_folder
from vitgeom.errors import InvalidInput, StoreError


def test_rows_are_the_pictures_with_the_name_of_their_folder(tmp_path):
    make_folder(tmp_path, {"cat": 8, "dog": 8})
    data = open_folder(root=str(tmp_path))
    seen = []
    for split in data.splits.values():
        for row, name in enumerate(split.sample_ids):
            class_name, file = name.split("/")
            number = int(file[:3]) + (8 if class_name == "dog" else 0)
            np.testing.assert_array_equal(np.asarray(split.read(row)), np.asarray(picture(number)))
            assert data.classes[split.labels[row]] == class_name
            seen.append(name)
        assert (split.groups == -1).all()
    assert len(set(seen)) == 16
    assert data.source.startswith(f"image folder '{tmp_path.name}', 16 images; split 60/20/20")
    assert data.chance == pytest.approx(0.5)


def test_a_stored_index_gives_the_same_dataset_without_looking_at_the_folder(tmp_path, monkeypatch):
    root = make_folder(tmp_path / "images", {"a": 6, "b": 6})
    (root / "a" / "bad.png").write_bytes(b"x")
    (root / "a" / "x.txt").write_bytes(b"x")
    scanned = open_folder(root=str(root))
    (tmp_path / "index.json").write_text(json.dumps(index_folder(root).to_json()))

    def forbidden(*args: object, **options: object) -> None:
        raise AssertionError("the folder was scanned again")

    monkeypatch.setattr(folder, "index_folder", forbidden)
    stored = open_dataset(DatasetRef.from_options("folder", root=root, index=tmp_path / "index.json"))
    assert stored.digest == scanned.digest
    assert stored.quarantine == scanned.quarantine
    assert stored.skipped == scanned.skipped == {"extension .txt": 1}
    for name, split in stored.splits.items():
        assert list(split.sample_ids) == list(scanned.splits[name].sample_ids)
        np.testing.assert_array_equal(split.labels, scanned.splits[name].labels)


def test_an_index_is_read_through_any_store_url(tmp_path):
    from vitgeom.store.uri import Root

    root = make_folder(tmp_path / "images", {"a": 5, "b": 5})
    Root("memory://folder-test/made").write_json("index.json", index_folder(root).to_json())
    data = open_folder(root=str(root), index="memory://folder-test/made/index.json")
    assert data.digest == open_folder(root=str(root)).digest


def test_a_folder_that_moved_is_read_at_its_new_place(tmp_path):
    root = make_folder(tmp_path / "old", {"a": 5, "b": 5})
    (tmp_path / "index.json").write_text(json.dumps(index_folder(root).to_json()))
    shutil.move(root, tmp_path / "new")
    data = open_folder(root=str(tmp_path / "new"), index=str(tmp_path / "index.json"))
    assert data.splits["val"].read(0).size == (12, 10)


def test_a_file_that_changed_or_vanished_since_is_refused(tmp_path):
    root = make_folder(tmp_path, {"a": 5, "b": 5})
    data = open_folder(root=str(root))
    path = root / data.splits["train"].sample_ids[0]
    picture(200).save(path)
    with pytest.raises(InvalidInput, match="has changed since the folder was indexed"):
        data.splits["train"].read(0)
    path.unlink()
    with pytest.raises(
        InvalidInput, match=r"cannot be read any more \(No such file or directory\). Index the folder again"
    ):
        data.splits["train"].read(0)


def test_an_index_that_cannot_be_read_is_refused(tmp_path):
    root = make_folder(tmp_path, {"a": 5, "b": 5})
    with pytest.raises(InvalidInput, match="must be the full path or URL of a stored index, got"):
        open_folder(root=str(root), index="index.json")
    with pytest.raises(StoreError, match="missing"):
        open_folder(root=str(root), index=str(tmp_path / "missing.json"))
