from __future__ import annotations

import shutil

import numpy as np
import pytest
from PIL import Image

from tests.support.image_folder import make_folder
from vitgeom.data import DatasetRef, open_dataset, open_shifted
from vitgeom.data.shift.shifted_index import index_shifted_folder
from vitgeom.errors import InvalidInput
from vitgeom.store.uri import Root


@pytest.fixture
def clean(tmp_path):
    return make_folder(tmp_path / "clean", {"ant": 5, "bee": 5, "cat": 5, "dog": 5})


def opened(root, clean, **options):
    return open_shifted(
        DatasetRef.from_options("shifted_folder", root=root, of="folder", of_root=clean, **options)
    )


def test_a_tree_of_corruptions_is_read_by_corruption_and_severity(tmp_path, clean):
    root = make_folder(
        tmp_path / "c", {f"fog/{s}/{c}": 2 for s in (1, 2) for c in ("ant", "bee", "cat", "dog")}
    )
    data = opened(root, clean, corruption="fog", severity=2)
    assert (data.corruption, data.severity) == ("fog", 2)
    assert data.present == (0, 1, 2, 3)
    for row, name in enumerate(data.test.sample_ids):
        assert name.split("/")[0] == data.classes[data.test.labels[row]]
        with Image.open(root / "fog" / "2" / name) as image:
            np.testing.assert_array_equal(np.asarray(data.test.read(row)), np.asarray(image))


def test_a_subset_of_the_classes_keeps_the_labels_that_were_trained_on(tmp_path, clean):
    data = opened(make_folder(tmp_path / "r", {"dog": 2, "bee": 1}), clean)
    assert data.classes == ("ant", "bee", "cat", "dog")
    assert data.test.labels.tolist() == [1, 3, 3]
    assert data.present == (1, 3)
    assert (data.corruption, data.severity) == (None, None)
    assert data.clean_digest == open_dataset(DatasetRef.from_options("folder", root=clean)).digest


def test_unknown_classes_are_refused_or_left_out_and_listed(tmp_path, clean):
    root = make_folder(tmp_path / "r", {"dog": 2, "elk": 3})
    with pytest.raises(InvalidInput, match="has 1 classes that the clean dataset does not have: elk"):
        opened(root, clean)
    data = opened(root, clean, skip_unknown_classes=True)
    assert list(data.test.sample_ids) == ["dog/000.png", "dog/001.png"]
    assert data.unknown_classes == ("elk",)
    assert data.skipped["image of an unknown class"] == 3


def test_files_that_do_not_decode_are_quarantined(tmp_path, clean):
    root = make_folder(tmp_path / "r", {"dog": 2, "cat": 2})
    (root / "dog" / "001.png").write_bytes(b"")
    data = opened(root, clean)
    assert [(item.path, item.reason) for item in data.quarantine] == [("dog/001.png", "the file is empty")]
    assert len(data.test) == 3


def test_a_stored_index_gives_the_same_test_set_without_decoding(tmp_path, clean, monkeypatch):
    root = make_folder(tmp_path / "c", {"fog/1/ant": 2, "fog/1/dog": 2})
    options = {"corruption": "fog", "severity": 1}
    first = opened(root, clean, **options)
    Root(str(tmp_path / "store")).write_json("i.json", index_shifted_folder(str(root), **options).to_json())
    monkeypatch.setattr(
        "vitgeom.data.shift.shifted_folder.index_shifted_folder", lambda *a, **k: pytest.fail("indexed again")
    )
    stored = opened(root, clean, index=f"{tmp_path}/store/i.json", **options)
    assert stored.digest == first.digest
    assert stored.test.read(1).tobytes() == first.test.read(1).tobytes()


def test_the_digest_is_of_the_content_wherever_it_lies(tmp_path, clean):
    root = make_folder(tmp_path / "r", {"dog": 2, "bee": 2})
    first = opened(root, clean).digest
    moved = shutil.move(root, tmp_path / "moved")
    assert opened(moved, clean).digest == first
    Image.new("RGB", (5, 5)).save(moved / "dog" / "000.png")
    assert opened(moved, clean).digest != first
