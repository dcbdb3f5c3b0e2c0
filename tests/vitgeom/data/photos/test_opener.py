from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from vitgeom.data.photos import opener
from vitgeom.data.photos.crops import CropPlan
from vitgeom.data.photos.opener import open_photos
from vitgeom.data.photos.photographs import PHOTOGRAPHS, load_photograph, photograph_size
from vitgeom.errors import InvalidInput

COUNTS = {"train": 60, "val": 20, "test": 40}


@pytest.fixture(scope="module")
def crops():
    return opener._draw_all(COUNTS, CropPlan())


def test_no_pixel_of_any_photograph_is_in_two_splits(crops):
    for label, item in enumerate(PHOTOGRAPHS):
        width, height = photograph_size(item)
        used = {split: np.zeros((height, width), dtype=bool) for split in COUNTS}
        for split, rows in crops.items():
            for crop in rows:
                if crop.label == label:
                    left, top, right, bottom = crop.box
                    used[split][top:bottom, left:right] = True
        assert sum(mask.astype(int) for mask in used.values()).max() == 1
        assert all(mask.any() for mask in used.values())


def test_reading_a_row_touches_only_pixels_of_its_box(crops, monkeypatch):
    """Outside of the box the photograph may be anything: the image stays the same."""
    data = open_photos()
    for split in COUNTS:
        crop = crops[split][7]
        before = np.asarray(data.splits[split].read(7))
        original = load_photograph(PHOTOGRAPHS[crop.label])
        spoiled = Image.new("RGB", original.size, "magenta")
        spoiled.paste(original.crop(crop.box), crop.box[:2])
        with monkeypatch.context() as patch:
            patch.setattr(opener, "load_photograph", lambda item, spoiled=spoiled: spoiled)
            np.testing.assert_array_equal(np.asarray(data.splits[split].read(7)), before)


def test_a_row_is_the_resized_crop_of_its_photograph(crops):
    data = open_photos(size=48)
    for row in (0, 333, 759):
        crop = crops["test"][row]
        expected = (
            load_photograph(PHOTOGRAPHS[crop.label]).crop(crop.box).resize((48, 48), Image.Resampling.BICUBIC)
        )
        np.testing.assert_array_equal(np.asarray(data.splits["test"].read(row)), np.asarray(expected))
        assert data.classes[data.splits["test"].labels[row]] == PHOTOGRAPHS[crop.label].name


def test_groups_are_cells_and_never_cross_splits():
    data = open_photos()
    groups = {split: set(part.groups.tolist()) for split, part in data.splits.items()}
    assert not groups["train"] & groups["val"]
    assert not groups["train"] & groups["test"]
    assert not groups["val"] & groups["test"]


def test_the_digest_names_size_counts_and_files(monkeypatch):
    base = open_photos()
    assert base.digest == open_photos().digest
    assert len({base.digest, open_photos(size=32).digest, open_photos(val=21).digest}) == 3
    monkeypatch.setattr(opener, "photograph_digests", lambda: {"astronaut": "another file"})
    assert open_photos().digest != base.digest


def test_one_crop_each_is_legal_and_none_is_refused():
    assert len(open_photos(train=1, val=1, test=1).splits["val"]) == len(PHOTOGRAPHS)
    with pytest.raises(InvalidInput, match="option 'test' must be a whole number >= 1, got 0"):
        open_photos(test=0)
