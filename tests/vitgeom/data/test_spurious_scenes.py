from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.scenes.solids import SOLIDS
from vitgeom.data.spurious_scenes import (
    CLASSES,
    SUBPOPULATIONS,
    group_of,
    open_spurious_scenes,
    render_row,
    solid_of,
)
from vitgeom.errors import InvalidInput


@pytest.fixture(scope="module")
def data():
    return open_spurious_scenes()


def test_the_background_goes_with_the_class_in_train_and_val_and_not_in_the_test(data):
    assert sum(len(split) for split in data.splits.values()) >= 1500
    assert data.classes == CLASSES
    assert data.subpopulations == SUBPOPULATIONS
    counts = {name: np.bincount(split.groups).tolist() for name, split in data.splits.items()}
    assert counts == {
        "train": [570, 30, 30, 570],
        "val": [190, 10, 10, 190],
        "test": [200, 200, 200, 200],
    }
    for split in data.splits.values():
        np.testing.assert_array_equal(split.labels, split.groups // 2)


@pytest.mark.parametrize("agreement", [0.5, 0.7, 0.95, 1.0])
def test_every_run_of_rows_has_its_share_of_usual_backgrounds(agreement):
    groups = np.array([group_of(row, agreement=agreement) for row in range(4000)])
    for label in (0, 1):
        usual = (groups[groups // 2 == label] % 2 == label).cumsum()
        expected = agreement * np.arange(1, len(usual) + 1)
        assert np.abs(usual - expected).max() <= 1


def test_group_names_say_shape_and_background(data):
    """The sea is bluer than the meadow, and the group says which one it is."""
    test = data.splits["test"]
    for place, channel in (("meadow", 1), ("sea", 2)):
        rows = [row for row in range(24) if SUBPOPULATIONS[test.groups[row]].endswith(place)]
        border = np.concatenate([np.asarray(test.read(row))[-3:].reshape(-1, 3) for row in rows])
        assert border.mean(axis=0).argmax() == channel
    assert SUBPOPULATIONS[3] == "angular on sea"


@pytest.mark.parametrize(("split", "agreement"), [("train", 0.95), ("test", 0.5)])
def test_solids_are_shared_equally_inside_every_group(data, split, agreement):
    groups = data.splits[split].groups
    solids = np.array([solid_of(row, agreement=agreement) for row in range(len(groups))])
    for group in range(4):
        numbers, counts = np.unique(solids[groups == group], return_counts=True)
        assert len(numbers) == (4, 6)[group // 2]
        assert counts.max() - counts.min() <= 1
        assert {SOLIDS[number].quadric is None for number in numbers} == {group >= 2}


def test_a_row_depends_on_its_arguments_alone(data):
    split = data.splits["val"]
    late = split.read(37).tobytes()
    split.read(0)
    assert split.read(37).tobytes() == late
    assert render_row(37, split="val", agreement=0.95, size=64, seed=0).tobytes() == late
    assert render_row(37, split="train", agreement=0.95, size=64, seed=0).tobytes() != late


def test_the_digest_names_the_content():
    small = {"size": 16, "train": 4, "val": 4, "test": 4}
    digests = [
        open_spurious_scenes(**{**small, **change}).digest
        for change in ({}, {"seed": 1}, {"size": 17}, {"train": 6}, {"agreement": 0.9})
    ]
    assert len(set(digests)) == 5
    assert open_spurious_scenes(**small).digest == digests[0]


def test_options_out_of_range_are_refused():
    with pytest.raises(InvalidInput, match=r"option 'agreement' must lie in 0.5 \.\. 1, got 0.4"):
        open_spurious_scenes(agreement=0.4)
    with pytest.raises(InvalidInput, match="option 'size' must be a whole number >= 16, got 8"):
        open_spurious_scenes(size=8)
    with pytest.raises(InvalidInput, match="option 'test' must be a whole number >= 2, got 1"):
        open_spurious_scenes(test=1)
