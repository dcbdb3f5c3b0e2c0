from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter

import pytest
from PIL import Image

from tests.support.image_folder import make_folder, picture
from vitgeom.data import folder_decoding
from vitgeom.data.dataset import Quarantined
from vitgeom.data.folder_index import FolderIndex, index_folder
from vitgeom.errors import InvalidInput


def _counts(index: FolderIndex) -> dict[tuple[str, str], int]:
    return dict(Counter((index.classes[entry.label], entry.split) for entry in index.entries))


def test_without_split_folders_each_class_is_shared_out(tmp_path):
    index = index_folder(make_folder(tmp_path, {"dog": 10, "cat": 20}))
    assert index.classes == ("cat", "dog")
    assert _counts(index) == {
        ("cat", "train"): 12, ("cat", "val"): 4, ("cat", "test"): 4, ("dog", "train"): 6, ("dog", "val"): 2, ("dog", "test"): 2,
    }  # fmt: skip
    assert index.notes == ("split 60/20/20 within each class (seed 0)",)
    for entry in index.entries:
        assert entry.path.startswith(index.classes[entry.label] + "/")
        assert entry.sha256 == hashlib.sha256((tmp_path / entry.path).read_bytes()).hexdigest()


def test_split_folders_are_kept_and_classes_are_the_union(tmp_path):
    index = index_folder(
        make_folder(tmp_path, {"train/b": 3, "train/a": 3, "valid/a": 2, "test/c": 1, "test/a": 1})
    )
    assert index.classes == ("a", "b", "c")
    assert all(
        {"train": "train", "valid": "val", "test": "test"}[e.path.split("/")[0]] == e.split
        for e in index.entries
    )
    assert index.notes == ("split by its folders", "1 classes without training images: c")


@pytest.mark.parametrize("missing", ["val", "test"])
def test_a_missing_split_is_a_fifth_of_train_and_the_notes_say_so(tmp_path, missing):
    other = "test" if missing == "val" else "val"
    index = index_folder(
        make_folder(tmp_path, {"train/a": 10, "train/b": 20, f"{other}/a": 3, f"{other}/b": 3})
    )
    counts = _counts(index)
    assert counts["a", missing] == 2
    assert counts["b", missing] == 4
    assert counts["a", other] == 3
    assert f"no usable {missing} folder: taken from train, 20 % of each class (seed 0)" in index.notes


def test_files_that_do_not_decode_are_quarantined_and_never_fatal(tmp_path):
    make_folder(tmp_path, {"a": 5, "b": 5})
    (tmp_path / "a" / "000.png").write_bytes(b"")
    (tmp_path / "a" / "zzz.jpg").write_bytes(b"no image")
    Image.effect_noise((64, 64), 50).save(tmp_path / "b" / "002.png")
    whole = (tmp_path / "b" / "002.png").read_bytes()
    (tmp_path / "b" / "002.png").write_bytes(whole[: len(whole) // 2])
    index = index_folder(tmp_path)
    assert [item.path for item in index.quarantine] == ["a/000.png", "a/zzz.jpg", "b/002.png"]
    assert index.quarantine[0] == Quarantined("a/000.png", "the file is empty")
    assert index.quarantine[1].reason == "no image in a format that is read here"
    assert index.quarantine[2].reason.startswith("damaged")
    assert len(index.entries) == 8


def test_a_file_without_permission_or_too_large_is_quarantined(tmp_path, monkeypatch):
    make_folder(tmp_path, {"a": 4, "b": 4})
    monkeypatch.setattr(folder_decoding, "LARGEST_FILE", 400)
    (tmp_path / "a" / "000.png").write_bytes(b"x" * 401)
    index = index_folder(tmp_path)
    assert [item.reason for item in index.quarantine] == [
        "the file has 401 bytes, more than 400 are not read"
    ]


def test_threads_and_order_on_disk_change_nothing(tmp_path):
    make_folder(tmp_path / "x", {"a": 9, "b": 7})
    shutil.copytree(tmp_path / "x", tmp_path / "y")
    one, many = index_folder(tmp_path / "x", threads=1), index_folder(tmp_path / "y", threads=8)
    assert one.entries == many.entries
    assert one.digest == many.digest  # where the folder lies does not matter


def test_the_digest_sees_bytes_names_classes_and_splits(tmp_path):
    base = index_folder(make_folder(tmp_path / "base", {"a": 5, "b": 5})).digest
    digests = {base, index_folder(tmp_path / "base", seed=1).digest}
    for change in ("bytes", "name", "class"):
        root = tmp_path / change
        shutil.copytree(tmp_path / "base", root)
        if change == "bytes":
            picture(99).save(root / "a" / "000.png")
        elif change == "name":
            (root / "a" / "000.png").rename(root / "a" / "0000.png")
        else:
            (root / "a").rename(root / "c")
        digests.add(index_folder(root).digest)
    assert len(digests) == 5


def test_copies_of_an_image_stay_in_one_split(tmp_path):
    make_folder(tmp_path, {"a": 10, "b": 10})
    for k in range(10):
        shutil.copy(tmp_path / "a" / f"{k:03d}.png", tmp_path / "a" / f"copy{k}.png")
    index = index_folder(tmp_path)
    splits: dict[str, set[str]] = {}
    for entry in index.entries:
        splits.setdefault(entry.sha256, set()).add(entry.split)
    assert all(len(names) == 1 for names in splits.values())
    assert not any("copies" in note for note in index.notes)


def test_copies_across_given_split_folders_are_reported(tmp_path):
    make_folder(tmp_path, {"train/a": 3, "train/b": 3, "val/a": 2, "test/b": 2})
    shutil.copy(tmp_path / "train" / "a" / "000.png", tmp_path / "test" / "b" / "leak.png")
    assert "1 val or test files are copies of train files" in index_folder(tmp_path).notes


def test_singletons_go_to_train_and_are_listed(tmp_path):
    index = index_folder(make_folder(tmp_path, {"a": 5, "b": 5, "rare": 1}))
    assert _counts(index)["rare", "train"] == 1
    assert "1 classes with a single image, kept in train: rare" in index.notes


def test_json_gives_back_an_equal_index(tmp_path):
    make_folder(tmp_path, {"ä b": 5, "c%d": 5})
    (tmp_path / "c%d" / "bad.gif").write_bytes(b"x")
    (tmp_path / "c%d" / "x.txt").write_bytes(b"x")
    index = index_folder(tmp_path)
    back = FolderIndex.from_json(json.loads(json.dumps(index.to_json())))
    assert back == index
    assert back.digest == index.digest


def test_progress_reaches_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_decoding, "_BATCH", 4)
    seen: list[tuple[int, int]] = []
    index_folder(
        make_folder(tmp_path, {"a": 5, "b": 5}), on_progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(4, 10), (8, 10), (10, 10)]


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({}, "has no usable images.*at least two sub-folders, one per class"),
        ({"a": 4}, "has only one class with images, 'a'"),
        ({"a": 4, "empty": 0}, "has only one class with images, 'a'"),
        ({"a": 1, "b": 1}, "leaves no validation images: 2 usable in all"),
        ({"a": 2, "b": 2}, "leaves no test images: 4 usable in all"),
        ({"train/a": 1, "train/b": 1, "test/a": 2}, "leaves no validation images.*a folder 'val'"),
        (
            {"train/a": 3, "val/a": 1, "val/b": 1, "test/a": 1, "test/b": 1},
            "training images of one class only, a; val and test have a, b. Put at least two",
        ),
        (
            {"train/a": 3, "train/b": 3, "val/a": 1, "test/c": 1, "test/d": 1},
            "no test image of a class that is trained on: train has a, b; test has c, d. Use the same class names",
        ),
        ({"train/a": 3, "train/b": 3, "val/A": 1, "test/a": 1}, "no val image of a class that is trained on"),
    ],
)
def test_a_folder_that_cannot_be_measured_is_refused(tmp_path, counts, message):
    make_folder(tmp_path, counts)
    with pytest.raises(InvalidInput, match=message):
        index_folder(tmp_path)


def test_the_refusal_says_what_was_found_instead(tmp_path):
    make_folder(tmp_path, {"a": 2})
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.jpg").write_bytes(b"broken")
    (tmp_path / "b" / "x.txt").write_bytes(b"text")
    with pytest.raises(
        InvalidInput,
        match=r"1 files could not be used \(first: 'b/x.jpg', no image.*passed over: 1 extension .txt",
    ):
        index_folder(tmp_path)


def test_an_index_of_another_version_or_shape_is_refused(tmp_path):
    good = index_folder(make_folder(tmp_path, {"a": 5, "b": 5})).to_json()
    with pytest.raises(InvalidInput, match="folder index has version 0, this code reads 1"):
        FolderIndex.from_json({**good, "version": 0})
    with pytest.raises(InvalidInput, match="folder index is not complete"):
        FolderIndex.from_json({key: value for key, value in good.items() if key != "entries"})
    with pytest.raises(InvalidInput, match="option 'threads' must be a whole number >= 1, got 0"):
        index_folder(tmp_path, threads=0)
