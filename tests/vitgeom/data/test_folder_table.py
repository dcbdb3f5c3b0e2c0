from __future__ import annotations

import numpy as np
import pytest

from tests.support.image_folder import make_folder
from vitgeom.data import DatasetRef, open_dataset
from vitgeom.data.folder_index import FolderIndex, index_folder
from vitgeom.data.folder_table import read_table
from vitgeom.errors import InvalidInput, UnknownName

WATERBIRDS = "img_id,img_filename,y,split,place,place_filename\n" + "".join(
    f"{k},birds/{k:03d}.png,{k % 2},{(0, 0, 0, 1, 2)[k % 5]},{k // 2 % 2},x\n" for k in range(20)
)


@pytest.fixture
def birds(tmp_path):
    make_folder(tmp_path, {"birds": 20})
    (tmp_path / "metadata.csv").write_text(WATERBIRDS)
    return tmp_path


def table(tmp_path, text, **options):
    make_folder(tmp_path, {"x": 4})
    (tmp_path / "m.csv").write_text(text)
    return read_table(tmp_path, "m.csv", **options)


def test_the_published_form_of_waterbirds_is_read_with_class_and_place_as_group(birds):
    ref = DatasetRef.from_options("folder", root=birds, metadata="metadata.csv", group="y+place")
    data = open_dataset(ref)
    assert data.classes == ("0", "1")
    assert data.subpopulations == ("y=0, place=0", "y=0, place=1", "y=1, place=0", "y=1, place=1")
    for split, remainders in (("train", (0, 1, 2)), ("val", (3,)), ("test", (4,))):
        part = data.splits[split]
        numbers = [int(name[6:9]) for name in part.sample_ids]
        assert numbers == [k for k in range(20) if k % 5 in remainders]
        assert part.labels.tolist() == [k % 2 for k in numbers]
        assert part.groups.tolist() == [2 * (k % 2) + k // 2 % 2 for k in numbers]
    assert data.skipped == {}


def test_named_groups_and_splits_and_rows_without_a_group(tmp_path):
    found = table(
        tmp_path,
        "filename,label,split,group\nx/001.png,b,valid,snow\nx/000.png,a,train,\nx/002.png,a,TEST,grass\n",
    )
    assert found.subpopulations == ("grass", "snow")
    assert [(c.path, c.class_name, c.split, found.group_of(c.path)) for c in found.scan.candidates] == [
        ("x/000.png", "a", "train", -1),
        ("x/001.png", "b", "val", 1),
        ("x/002.png", "a", "test", 0),
    ]
    assert found.scan.skipped == {"image that 'm.csv' does not name": 1}


def test_without_a_split_column_splits_are_drawn(tmp_path):
    make_folder(tmp_path, {"x": 20})
    lines = [f"x/{k:03d}.png,{'ab'[k % 2]},g" for k in range(20)]
    (tmp_path / "m.csv").write_text("path,class,group\n" + "\n".join(lines))
    data = open_dataset(DatasetRef.from_options("folder", root=tmp_path, metadata="m.csv"))
    assert {name: len(split) for name, split in data.splits.items()} == {"train": 12, "val": 4, "test": 4}
    assert data.subpopulations == ("g",)


def test_what_cannot_be_used_is_quarantined_with_its_reason(tmp_path):
    (tmp_path / "outside.png").write_bytes(b"")
    root = tmp_path / "in"
    make_folder(root, {"x": 2})
    (root / "x" / "001.png").unlink()
    (root / "x" / "001.png").symlink_to(tmp_path / "outside.png")
    (root / "m.csv").write_text(
        "path,label,group\nx/000.png,a,g\nx/001.png,a,g\nx/nothing.png,a,g\n../outside.png,a,g\n"
    )
    found = read_table(root, "m.csv")
    assert [(item.path, item.reason) for item in found.scan.quarantine] == [
        ("x/001.png", "link leads out of the folder"),
        ("x/nothing.png", "the file is not there"),
        ("../outside.png", "the path leads out of the folder"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("path,label\nx/000.png,a\n", r"unknown group column of 'm.csv' 'group'.*Give option 'group'"),
        (
            "file,label,group\nx/000.png,a,g\n",
            "no column path or filename or img_filename; it has file, label",
        ),
        ("path,kind,group\nx/000.png,a,g\n", "no column label or class or y"),
        ("path,label,group\nx/000.png,a,g\nx/000.png,b,g\n", "line 3 of 'm.csv' names 'x/000.png' a second"),
        ("path,label,group\nx/000.png,,g\n", "line 2 of 'm.csv' lacks its path or class"),
        ("path,label,split,group\nx/000.png,a,3,g\n", "line 2 of 'm.csv' has the split '3'. Use train, val"),
        ("path,label,group\n", "has no lines below its first"),
    ],
)
def test_tables_of_another_form_are_refused(tmp_path, text, message):
    with pytest.raises(InvalidInput, match=message):
        table(tmp_path, text)


def test_a_missing_table_and_a_misspelt_group_are_refused(birds):
    with pytest.raises(InvalidInput, match=r"metadata file .*nothing.csv' cannot be read"):
        read_table(birds, "nothing.csv")
    with pytest.raises(UnknownName, match="Did you mean 'place'"):
        read_table(birds, "metadata.csv", group="y+palce")


def test_the_index_keeps_the_groups_and_the_digest_covers_them(birds):
    index = index_folder(birds, metadata="metadata.csv", group="y+place")
    assert FolderIndex.from_json(index.to_json()) == index
    np.testing.assert_array_equal(
        [entry.group for entry in index.entries], [2 * (k % 2) + k // 2 % 2 for k in range(20)]
    )
    assert index_folder(birds, metadata="metadata.csv", group="place").digest != index.digest
