from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data import (
    DatasetRef,
    ShiftedTest,
    has_subpopulations,
    open_dataset,
    open_images,
    open_shifted,
    subpopulations_ref,
)
from vitgeom.errors import InvalidInput

SCENES = DatasetRef.from_options("spurious_scenes", size=16, train=8, val=4, test=8)


def test_it_is_the_test_split_of_the_clean_dataset_and_nothing_else() -> None:
    clean, shifted = open_dataset(SCENES), open_shifted(subpopulations_ref(SCENES))
    test = clean.splits["test"]
    assert list(shifted.splits) == ["test"]
    assert list(shifted.test.sample_ids) == list(test.sample_ids)
    np.testing.assert_array_equal(shifted.test.groups, test.groups)
    np.testing.assert_array_equal(np.asarray(shifted.test.read(3)), np.asarray(test.read(3)))
    assert shifted.subpopulations == clean.subpopulations
    assert (shifted.corruption, shifted.severity) == (None, None)


def test_it_knows_the_dataset_that_classifiers_must_come_from() -> None:
    clean, shifted = open_dataset(SCENES), open_images(subpopulations_ref(SCENES))
    assert isinstance(shifted, ShiftedTest)
    assert shifted.clean_digest == clean.digest
    assert shifted.digest != clean.digest
    other = DatasetRef.from_options("spurious_scenes", size=16, train=8, val=4, test=8, seed=1)
    assert open_images(subpopulations_ref(other)).digest != shifted.digest


def test_a_dataset_without_groups_is_refused() -> None:
    noise = DatasetRef.from_options("noise", n=30, classes=3, size=16)
    assert has_subpopulations(open_dataset(SCENES))
    assert not has_subpopulations(open_dataset(noise))
    with pytest.raises(InvalidInput, match=r"'noise' names no sub-populations .*spurious_scenes"):
        open_shifted(subpopulations_ref(noise))
