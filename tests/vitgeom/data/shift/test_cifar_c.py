from __future__ import annotations

import shutil

import numpy as np
import pytest

from tests.support.corruption_arrays import COUNT, write_arrays
from tests.support.image_folder import make_folder
from vitgeom.data import DatasetRef, open_dataset, open_shifted
from vitgeom.errors import InvalidInput


@pytest.fixture
def clean(tmp_path):
    """A dataset whose classes are in another order than the labels of the arrays."""
    return make_folder(tmp_path / "clean", {"ant": 5, "bee": 5, "cat": 5})


def opened(tmp_path, clean, **options):
    given = {"corruption": "fog", "severity": 3, "classes": "cat,ant,bee", **options}
    ref = DatasetRef.from_options("cifar_c", root=tmp_path / "c", of="folder", of_root=clean, **given)
    return open_shifted(ref)


def test_labels_become_those_of_the_clean_dataset_by_name(tmp_path, clean):
    images, labels = write_arrays(tmp_path / "c")
    data = opened(tmp_path, clean)
    rows = slice(2 * COUNT, 3 * COUNT)
    assert [data.classes[label] for label in data.test.labels] == [
        ("cat", "ant", "bee")[label] for label in labels[rows]
    ]
    for row in range(COUNT):
        np.testing.assert_array_equal(np.asarray(data.test.read(row)), images[rows][row])
    assert data.clean_digest == open_dataset(DatasetRef.from_options("folder", root=clean)).digest
    assert (data.corruption, data.severity, data.unknown_classes) == ("fog", 3, ())


def test_ids_are_the_same_at_every_severity(tmp_path, clean):
    write_arrays(tmp_path / "c")
    ids = [list(opened(tmp_path, clean, severity=severity).test.sample_ids) for severity in (1, 5)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == COUNT


def test_unknown_classes_are_refused_or_left_out_and_listed(tmp_path, clean):
    images, labels = write_arrays(tmp_path / "c")
    with pytest.raises(InvalidInput, match="has 1 classes that the clean dataset does not have: dog"):
        opened(tmp_path, clean, classes="cat,dog,bee")
    data = opened(tmp_path, clean, classes="cat,dog,bee", skip_unknown_classes=True)
    kept = np.flatnonzero(labels[:COUNT] != 1)
    assert data.unknown_classes == ("dog",)
    assert data.skipped == {"image of an unknown class": COUNT - len(kept)}
    assert list(data.test.sample_ids) == [f"image-{row:06d}" for row in kept]
    np.testing.assert_array_equal(np.asarray(data.test.read(1)), images[2 * COUNT + kept[1]])
    assert data.present == (1, 2)


def test_labels_without_a_name_are_refused(tmp_path, clean):
    write_arrays(tmp_path / "c")
    with pytest.raises(
        InvalidInput, match=r"labels in .* span 0\.\.2, but option 'classes' names 2: cat, bee"
    ):
        opened(tmp_path, clean, classes="cat,bee")


def test_the_digest_is_of_the_content_wherever_it_lies(tmp_path, clean):
    images, _ = write_arrays(tmp_path / "c")
    first = opened(tmp_path, clean).digest
    assert opened(tmp_path, clean, severity=4).digest != first
    assert opened(tmp_path, clean, classes="cat,bee,ant").digest != first
    shutil.move(tmp_path / "c", tmp_path / "moved" / "c")
    assert opened(tmp_path / "moved", clean).digest == first
    images[2 * COUNT, 0, 0, 0] ^= 1
    np.save(tmp_path / "moved" / "c" / "fog.npy", images)
    assert opened(tmp_path / "moved", clean).digest != first
