from __future__ import annotations

import pytest

from vitgeom.data import DatasetRef, open_dataset
from vitgeom.data.shift.clean import clean_options, open_clean
from vitgeom.errors import InvalidInput, UnknownName


def test_options_pass_through_the_prefix_and_back():
    ref = DatasetRef.from_options("noise", n=20, size=8, seed=3)
    options = clean_options(ref)
    assert options == {"of": "noise", "of_n": 20, "of_size": 8, "of_seed": 3}
    assert open_clean(**{"of": options.pop("of"), "options": options}).digest == open_dataset(ref).digest


def test_unknown_datasets_and_options_are_refused():
    with pytest.raises(InvalidInput, match=r"option 'size' is not known here.*of_size="):
        open_clean("digits", {"size": 32})
    with pytest.raises(UnknownName, match=r"unknown option of dataset 'digits' 'sice'.*Did you mean 'size'"):
        open_clean("digits", {"of_sice": 32})
    with pytest.raises(UnknownName, match="unknown dataset 'digit'"):
        open_clean("digit", {})
