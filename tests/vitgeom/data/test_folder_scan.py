from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.image_folder import make_folder
from vitgeom.data.folder_scan import scan_classes, scan_folder
from vitgeom.errors import InvalidInput


def _paths(root: Path) -> list[tuple[str, str, str | None]]:
    return [(item.path, item.class_name, item.split) for item in scan_folder(root).candidates]


def test_classes_are_first_level_folders_however_deep_the_images_lie(tmp_path):
    make_folder(tmp_path, {"cat": 1, "cat/old/scans": 1, "dog": 1})
    assert _paths(tmp_path) == [
        ("cat/000.png", "cat", None),
        ("cat/old/scans/000.png", "cat", None),
        ("dog/000.png", "dog", None),
    ]


@pytest.mark.parametrize("name", ["val", "valid", "validation", "Validation"])
def test_split_folders_go_by_their_usual_names(tmp_path, name):
    make_folder(tmp_path, {"train/cat": 1, f"{name}/cat": 1, "test/dog": 1})
    assert {(path.split("/")[0], split) for path, _, split in _paths(tmp_path)} == {
        ("train", "train"),
        (name, "val"),
        ("test", "test"),
    }


def test_a_class_may_be_called_test(tmp_path):
    make_folder(tmp_path, {"test": 1, "reference": 1})
    assert [split for _, _, split in _paths(tmp_path)] == [None, None]


def test_everything_passed_over_is_counted(tmp_path):
    make_folder(tmp_path, {"cat": 2, ".cache": 3, "dog": 1})
    (tmp_path / "README.md").write_text("x")
    (tmp_path / "cat" / ".hidden.png").write_bytes(b"x")
    (tmp_path / "cat" / "labels.CSV").write_text("x")
    (tmp_path / "cat" / "noextension").write_text("x")
    scan = scan_folder(tmp_path)
    assert len(scan.candidates) == 3
    assert scan.skipped == {
        "hidden": 2,
        "file outside of class folders": 1,
        "extension .csv": 1,
        "extension (none)": 1,
    }


def test_things_beside_split_folders_are_counted(tmp_path):
    make_folder(tmp_path, {"train/cat": 1, "train/dog": 1, "test/cat": 1, ".cache": 2, "docs/.previews": 2})
    (tmp_path / "empty").mkdir()
    (tmp_path / "docs" / "notes.txt").write_text("x")
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "latest").symlink_to("train")
    scan = scan_folder(tmp_path)
    assert len(scan.candidates) == 3
    assert scan.skipped == {"beside the split folders": 4, "hidden": 1}


def test_extensions_are_known_in_any_case(tmp_path):
    make_folder(tmp_path, {"a": 1}, extension=".JPG")
    make_folder(tmp_path, {"b": 1}, extension=".Jpeg")
    assert len(_paths(tmp_path)) == 2


def test_links_out_of_the_folder_are_refused_one_by_one(tmp_path):
    outside = make_folder(tmp_path / "outside", {"x": 1})
    root = make_folder(tmp_path / "root", {"cat": 1, "dog": 1})
    (root / "cat" / "link.png").symlink_to(outside / "x" / "000.png")
    (root / "fish").symlink_to(outside / "x")
    (root / "dog" / "gone.png").symlink_to(root / "nowhere.png")
    scan = scan_folder(root)
    assert [item.path for item in scan.candidates] == ["cat/000.png", "dog/000.png"]
    assert {(item.path, item.reason) for item in scan.quarantine} == {
        ("cat/link.png", "link leads out of the folder"),
        ("fish", "link leads out of the folder"),
        ("dog/gone.png", "broken link or special file"),
    }


def test_linked_folders_inside_are_not_counted_twice_and_loops_end(tmp_path):
    make_folder(tmp_path, {"cat": 1, "dog": 1})
    (tmp_path / "cat" / "again").symlink_to(tmp_path)
    (tmp_path / "pets").symlink_to(tmp_path / "cat")
    scan = scan_folder(tmp_path)
    assert len(scan.candidates) == 2
    assert scan.skipped == {"linked folder": 2}


def test_links_that_lead_to_themselves_are_refused_one_by_one(tmp_path):
    make_folder(tmp_path, {"cat": 1, "dog": 1})
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "cat" / "self").symlink_to("self")
    (tmp_path / "dog" / "a.png").symlink_to("b.png")
    (tmp_path / "dog" / "b.png").symlink_to("a.png")
    scan = scan_folder(tmp_path)
    assert [item.path for item in scan.candidates] == ["cat/000.png", "dog/000.png"]
    assert {item.path for item in scan.quarantine} == {"self", "cat/self", "dog/a.png", "dog/b.png"}
    assert {item.reason for item in scan.quarantine} == {"a link that leads to itself"}


def test_a_link_that_cannot_be_followed_is_refused_alone(tmp_path):
    make_folder(tmp_path, {"cat": 1, "dog": 1})
    (tmp_path / "cat" / "far").symlink_to("x" * 300)
    scan = scan_folder(tmp_path)
    assert len(scan.candidates) == 2
    assert [item.reason for item in scan.quarantine] == ["link cannot be followed: File name too long"]


def test_a_linked_root_is_the_user_s_own_choice(tmp_path):
    real = make_folder(tmp_path / "real", {"cat": 1, "dog": 1})
    (tmp_path / "link").symlink_to(real)
    assert len(_paths(tmp_path / "link")) == 2


def test_special_files_are_not_opened(tmp_path):
    make_folder(tmp_path, {"cat": 1})
    os.mkfifo(tmp_path / "cat" / "pipe.png")
    scan = scan_folder(tmp_path)
    assert [item.reason for item in scan.quarantine] == ["broken link or special file"]


def test_a_name_that_is_no_text_is_refused_alone(tmp_path):
    make_folder(tmp_path, {"cat": 1})
    with open(os.path.join(os.fsencode(tmp_path), b"cat", b"bad\xff.png"), "wb") as file:
        file.write(b"x")
    scan = scan_folder(tmp_path)
    assert [item.path for item in scan.candidates] == ["cat/000.png"]
    assert [item.reason for item in scan.quarantine] == ["the name is not valid UTF-8"]


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (
            {"train/a": 1, "val/a": 1, "validation/a": 1},
            "two folders for one split among train, val, validation",
        ),
        ({"val/a": 1, "test/a": 1}, "has test, val but no 'train'"),
        (
            {"train": 2, "bus": 2, "car": 2},
            r"'train' would be taken as its split folders, but 2 other folders with images lie beside \(bus, car\)\. "
            r"If 'train' is a class, rename it; if all are classes, put them below train/, val/ and test/",
        ),
        (
            {"Train/old": 2, **{f"c{i:02d}": 1 for i in range(12)}},
            r"'Train' would .* 12 other folders .*c04, \.\.\.\)\. If 'Train' is a class",
        ),
        (
            {"train/steam": 2, "train/diesel": 2, "bus": 2, "car/old/scans": 2},
            r"2 other folders with images lie beside \(bus, car\)\. If 'train' is a class, rename it",
        ),
        (
            {"train/a": 1, "train/b": 1, "val/a": 1, "unlabelled": 2},
            r"'train' and 'val' would .* 1 other folder with images .*\(unlabelled\).* move them out, or let their names begin with a dot",
        ),
    ],
)
def test_contradicting_split_folders_are_refused(tmp_path, counts, message):
    make_folder(tmp_path, counts)
    with pytest.raises(InvalidInput, match=message):
        scan_folder(tmp_path)


def test_a_missing_folder_and_a_file_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"image folder '.*nowhere' does not exist\. Give a folder"):
        scan_folder(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput, match="is not a folder"):
        scan_folder(tmp_path / "file")


def test_classes_may_be_called_like_splits_where_there_are_none(tmp_path):
    make_folder(tmp_path, {"train": 1, "val/deep": 1, "z": 1})
    found = scan_classes(tmp_path).candidates
    assert [(item.path, item.class_name, item.split) for item in found] == [
        ("train/000.png", "train", None),
        ("val/deep/000.png", "val", None),
        ("z/000.png", "z", None),
    ]
    with pytest.raises(InvalidInput, match="does not exist"):
        scan_classes(tmp_path / "nowhere")
