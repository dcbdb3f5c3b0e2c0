from __future__ import annotations

import numpy as np
import pytest

from tests.support.corruption_arrays import COUNT, write_arrays
from vitgeom.data.shift.corruption_arrays import open_arrays
from vitgeom.errors import InvalidInput, UnknownName


def test_each_severity_is_its_fifth_of_the_file(tmp_path):
    images, labels = write_arrays(tmp_path)
    for severity in range(1, 6):
        arrays = open_arrays(str(tmp_path), corruption="fog", severity=severity)
        rows = slice((severity - 1) * COUNT, severity * COUNT)
        np.testing.assert_array_equal(arrays.images, images[rows])
        np.testing.assert_array_equal(arrays.labels, labels[rows])


def test_images_are_mapped_and_cannot_be_written(tmp_path):
    write_arrays(tmp_path)
    images = open_arrays(str(tmp_path), corruption="fog", severity=2).images
    assert isinstance(images, np.memmap)
    assert not images.flags.writeable


def spoil(folder, images=None, labels=None):
    write_arrays(folder)
    if images is not None:
        np.save(folder / "fog.npy", images)
    if labels is not None:
        np.save(folder / "labels.npy", labels, allow_pickle=True)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((10, 8, 8, 3), dtype=np.float32), r"must hold uint8 \[5 n, H, W, 3\], got float32"),
        (np.zeros((10, 3, 8, 8), dtype=np.uint8), r"must hold uint8 .* got uint8 \[10, 3, 8, 8\]"),
        (np.zeros((10, 8, 8), dtype=np.uint8), r"got uint8 \[10, 8, 8\]"),
        (np.zeros((0, 8, 8, 3), dtype=np.uint8), r"got uint8 \[0, 8, 8, 3\]"),
        (np.zeros((11, 8, 8, 3), dtype=np.uint8), "holds 11 images, which is no multiple of 5"),
    ],
)
def test_images_of_another_form_are_refused(tmp_path, images, message):
    spoil(tmp_path, images=images)
    with pytest.raises(InvalidInput, match=message):
        open_arrays(str(tmp_path), corruption="fog", severity=1)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(COUNT, dtype=np.int64), "one whole number for each of 20 images, got int64"),
        (np.zeros(5 * COUNT), "got float64"),
        (np.zeros((5 * COUNT, 1), dtype=np.int64), r"got int64 \[20, 1\]"),
        (np.array([None] * 5 * COUNT), "damaged, cut off, or no array of numbers"),
    ],
)
def test_labels_of_another_form_are_refused(tmp_path, labels, message):
    spoil(tmp_path, labels=labels)
    with pytest.raises(InvalidInput, match=message):
        open_arrays(str(tmp_path), corruption="fog", severity=1)


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    write_arrays(tmp_path)
    file = tmp_path / "fog.npy"
    for keep in (file.stat().st_size - 1, 40, 0):
        file.write_bytes(file.read_bytes()[:keep])
        with pytest.raises(InvalidInput, match=r"fog.npy' is damaged, cut off"):
            open_arrays(str(tmp_path), corruption="fog", severity=1)


def test_missing_files_are_refused_and_the_nearest_is_named(tmp_path):
    write_arrays(tmp_path)
    with pytest.raises(UnknownName, match=r"unknown corruption file 'fogg'. Did you mean 'fog'"):
        open_arrays(str(tmp_path), corruption="fogg", severity=1)
    with pytest.raises(UnknownName, match="unknown corruption file 'labels'"):
        open_arrays(str(tmp_path), corruption="labels", severity=1)
    (tmp_path / "labels.npy").unlink()
    with pytest.raises(InvalidInput, match=r"labels.npy' is missing"):
        open_arrays(str(tmp_path), corruption="fog", severity=1)
    with pytest.raises(InvalidInput, match="does not exist"):
        open_arrays(str(tmp_path / "nowhere"), corruption="fog", severity=1)
    with pytest.raises(InvalidInput, match="severity must be one of"):
        open_arrays(str(tmp_path), corruption="fog", severity=6)
