from __future__ import annotations

import pytest

from vitgeom.data import (
    DATASETS,
    SHIFTED,
    DatasetRef,
    ImageDataset,
    ShiftedTest,
    open_dataset,
    open_images,
    open_shifted,
)
from vitgeom.errors import InvalidInput, UnknownName

FOG = DatasetRef.from_options("corrupted", of="noise", of_n=20, of_size=8, corruption="fog", severity=1)


def test_the_lists_are_closed_and_share_no_name():
    assert sorted(SHIFTED) == ["cifar_c", "corrupted", "shifted_folder", "subpopulations"]
    assert not set(SHIFTED) & set(DATASETS)


def test_what_is_extracted_is_a_dataset_or_a_shifted_test():
    assert isinstance(open_images(FOG), ShiftedTest)
    assert isinstance(open_images(DatasetRef.from_options("noise", n=20, size=8)), ImageDataset)


def test_neither_kind_is_opened_as_the_other():
    with pytest.raises(UnknownName, match=r"unknown dataset 'corrupted'.*under shift: open_shifted\(ref\)"):
        open_dataset(FOG)
    with pytest.raises(UnknownName, match=r"unknown shifted test set 'digits'.*open_dataset\(ref\)"):
        open_shifted(DatasetRef("digits"))
    with pytest.raises(UnknownName, match="unknown dataset 'corrupted'"):
        open_shifted(DatasetRef.from_options("corrupted", of="corrupted", corruption="fog", severity=1))


def test_unknown_names_and_options_are_refused():
    with pytest.raises(UnknownName, match="unknown dataset 'corupted'"):
        open_images(DatasetRef("corupted"))
    with pytest.raises(InvalidInput, match="option 'size' is not known here"):
        open_shifted(DatasetRef.from_options("corrupted", of="digits", corruption="fog", severity=1, size=3))
    with pytest.raises(InvalidInput, match="option 'of' of shifted test set 'corrupted' is missing"):
        open_shifted(DatasetRef.from_options("corrupted", corruption="fog", severity=1))
