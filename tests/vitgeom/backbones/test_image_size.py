from __future__ import annotations

import pytest

from vitgeom.backbones.image_size import as_height_width, check_image_size, legal_neighbours
from vitgeom.errors import InvalidInput


@pytest.mark.parametrize(
    ("side", "legal"),
    [(225, [224, 238]), (224, [224]), (3, [14]), (14, [14]), (1, [14]), (0, [14]), (-5, [14])],
)
def test_neighbours_are_multiples_around_the_side(side, legal):
    assert legal_neighbours(side, 14) == legal


def test_square_and_pair_are_both_sizes():
    assert as_height_width(64) == (64, 64)
    assert as_height_width((32, 64)) == as_height_width([32, 64]) == (32, 64)


@pytest.mark.parametrize("size", [(1, 2, 3), (64.0, 64), "ab", 64.0])
def test_other_things_are_no_size(size):
    with pytest.raises(InvalidInput, match=r"image_size must be one number of pixels or \(height, width\)"):
        as_height_width(size)


def test_whole_patches_fit_in_both_directions():
    check_image_size((28, 42), patch_size=(14, 14), name="x")


def test_other_sizes_name_the_legal_neighbours():
    with pytest.raises(
        InvalidInput,
        match=r"225x230 does not fit backbone 'x'.*14x14.*height 224 or 238 and width 224 or 238",
    ):
        check_image_size((225, 230), patch_size=(14, 14), name="x")


@pytest.mark.parametrize("size", [(0, 14), (-14, 14)])
def test_empty_and_negative_sizes_are_refused(size):
    with pytest.raises(InvalidInput, match="height 14 and width 14"):
        check_image_size(size, patch_size=(14, 14), name="x")


@pytest.mark.parametrize("size", [(14, 1_000_000), (1_000_000, 1_000_000), (16_394, 14)])
def test_sizes_that_no_memory_holds_are_refused(size):
    check_image_size((16_380, 14), patch_size=(14, 14), name="x")
    with pytest.raises(
        InvalidInput, match=r"for backbone 'x' is more than 16384 pixels a side\. .*example 252\."
    ):
        check_image_size(size, patch_size=(14, 14), name="x")
