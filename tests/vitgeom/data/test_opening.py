from __future__ import annotations

import pytest

from vitgeom.data.opening import open_by_name, require_reference
from vitgeom.data.reference import DatasetRef
from vitgeom.errors import InvalidInput, UnknownName


def _plain(*, size: int, seed: int = 0) -> tuple[int, int]:
    return size, seed


def _any(*, size: int = 1, **more: int) -> dict[str, int]:
    return {"size": size, **more}


def opened(name: str, **options: object) -> object:
    return open_by_name(
        DatasetRef.from_options(name, **options),
        openers={"plain": _plain, "any": _any},
        kind="toy",
        hint="Look.",
    )


def test_options_become_keyword_arguments():
    assert opened("plain", size=3) == (3, 0)
    assert opened("plain", size=3, seed=4) == (3, 4)
    assert opened("any", other=2) == {"size": 1, "other": 2}


def test_unknown_names_and_options_and_missing_ones_are_refused():
    with pytest.raises(
        UnknownName, match=r"unknown toy 'plane'. Did you mean 'plain'\? Known: any, plain. Look."
    ):
        opened("plane")
    with pytest.raises(UnknownName, match=r"unknown option of toy 'plain' 'sice'. Did you mean 'size'"):
        opened("plain", size=1, sice=2)
    with pytest.raises(
        InvalidInput, match=r"option 'size' of toy 'plain' is missing. Give .*\('plain', size=..."
    ):
        opened("plain")


@pytest.mark.parametrize(
    ("given", "name"), [("noise", "noise"), (None, "digits"), ({"name": "noise"}, "digits")]
)
def test_what_is_no_reference_is_refused_with_the_one_that_was_meant(given, name):
    require_reference(DatasetRef("noise"))
    with pytest.raises(
        InvalidInput, match=rf"by a DatasetRef, got .*open_dataset\(DatasetRef.from_options\('{name}'\)\)"
    ):
        require_reference(given)
