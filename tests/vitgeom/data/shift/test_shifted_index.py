from __future__ import annotations

import json

import pytest

from tests.support.image_folder import make_folder
from vitgeom.data.folder_index import FolderIndex
from vitgeom.data.shift.shifted_index import index_shifted_folder
from vitgeom.errors import InvalidInput, UnknownName


def test_all_usable_images_are_in_the_test_split(tmp_path):
    root = make_folder(tmp_path, {"fog/3/a": 2, "fog/3/b": 1, "fog/4/a": 1})
    index = index_shifted_folder(str(root), corruption="fog", severity=3)
    assert [entry.path for entry in index.entries] == ["a/000.png", "a/001.png", "b/000.png"]
    assert {entry.split for entry in index.entries} == {"test"}
    assert index.classes == ("a", "b")
    assert FolderIndex.from_json(json.loads(json.dumps(index.to_json()))) == index


def test_a_class_may_be_called_like_a_split(tmp_path):
    index = index_shifted_folder(str(make_folder(tmp_path, {"train": 2, "test": 1})))
    assert index.classes == ("test", "train")
    assert len(index.entries) == 3


def test_files_that_do_not_decode_are_quarantined_with_their_reason(tmp_path):
    make_folder(tmp_path, {"a": 2, "b": 1})
    (tmp_path / "a" / "001.png").write_bytes(b"no image")
    index = index_shifted_folder(str(tmp_path))
    assert [(item.path, item.reason) for item in index.quarantine] == [
        ("a/001.png", "no image in a format that is read here")
    ]
    assert len(index.entries) == 2


def test_missing_folders_and_halves_of_a_name_are_refused(tmp_path):
    make_folder(tmp_path, {"fog/3/a": 1})
    with pytest.raises(UnknownName, match=r"unknown corruption folder 'fogg'. Did you mean 'fog'"):
        index_shifted_folder(str(tmp_path), corruption="fogg", severity=3)
    with pytest.raises(UnknownName, match="unknown severity folder '4'"):
        index_shifted_folder(str(tmp_path), corruption="fog", severity=4)
    with pytest.raises(InvalidInput, match="'corruption' and 'severity' belong together"):
        index_shifted_folder(str(tmp_path), corruption="fog")
    with pytest.raises(InvalidInput, match="does not exist"):
        index_shifted_folder(str(tmp_path / "nowhere"))


def test_a_folder_without_usable_images_is_refused(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.png").write_bytes(b"")
    with pytest.raises(
        InvalidInput, match=r"has no usable images; 1 files .*first: 'a/x.png', the file is empty"
    ):
        index_shifted_folder(str(tmp_path))
