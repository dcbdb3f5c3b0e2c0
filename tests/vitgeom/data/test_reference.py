from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from vitgeom.data.reference import DatasetRef, distinct_titles
from vitgeom.errors import InvalidInput


def test_it_survives_json_and_pickle_and_is_a_dictionary_key():
    ref = DatasetRef.from_options("folder", root="/data/My flowers", seed=3, index=None)
    assert DatasetRef.from_json(json.loads(json.dumps(ref.to_json()))) == ref
    assert pickle.loads(pickle.dumps(ref)) == ref
    assert len({ref, DatasetRef.from_options("folder", seed=3, index=None, root="/data/My flowers")}) == 1


def test_options_are_sorted_and_found_by_name():
    ref = DatasetRef("noise", (("size", 32), ("n", 10)))
    assert ref.options == (("n", 10), ("size", 32))
    assert ref.option("size") == 32
    assert ref.option("classes", 7) == 7


def test_a_relative_root_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert DatasetRef.from_options("folder", root="cats").option("root") == str(tmp_path / "cats")
    assert DatasetRef.from_options("folder", root=Path("cats")).option("root") == str(tmp_path / "cats")


def test_the_slug_is_short_safe_and_differs_with_the_options():
    assert DatasetRef("digits").slug == "digits"
    refs = [
        DatasetRef.from_options("folder", root="/a/flowers"),
        DatasetRef.from_options("folder", root="/b/flowers"),
        DatasetRef.from_options("folder", root="/a/flowers", seed=1),
        DatasetRef.from_options("scenes", size=32),
    ]
    slugs = [ref.slug for ref in refs]
    assert len(set(slugs)) == 4
    assert slugs[0].startswith("folder-flowers-")
    assert DatasetRef.from_options("folder", root="/a/flowers", index="/x/index.json").slug == slugs[0]
    odd = DatasetRef.from_options("folder", root="/a/../b/Blüten & Blätter: " + "x" * 300).slug
    assert len(odd) <= 80
    assert set(odd) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
    assert not odd.startswith((".", "-"))


def test_the_clean_dataset_of_a_shifted_one_counts_as_its_own_would():
    ref = DatasetRef.from_options("corrupted", of="folder", of_root="cats", corruption="fog", severity=3)
    assert ref.option("of_root") == str(Path.cwd() / "cats")
    assert ref.slug.startswith("corrupted-folder-fog-3-")
    indexed = DatasetRef.from_options(**{"name": "corrupted", **dict(ref.options), "of_index": "/x/i.json"})
    assert indexed.slug == ref.slug
    other = DatasetRef.from_options("corrupted", of="folder", of_root="cats", corruption="fog", severity=4)
    assert other.slug != ref.slug


def test_options_that_do_not_travel_are_refused():
    with pytest.raises(InvalidInput, match="option 'size' of dataset 'noise' must be text, a number"):
        DatasetRef.from_options("noise", size=[64, 64])
    with pytest.raises(InvalidInput, match="give a key twice: n, n"):
        DatasetRef("noise", (("n", 1), ("n", 2)))
    with pytest.raises(InvalidInput, match="has the keys name and options, got"):
        DatasetRef.from_json({"nam": "digits"})


def test_a_reader_sees_the_own_name_of_a_folder_and_the_slug_of_anything_else():
    assert DatasetRef.from_options("folder", root="/a/my flowers/", index="/x.json").title == "my flowers"
    for ref in (DatasetRef("digits"), DatasetRef.from_options("scenes", size=32)):
        assert ref.title == ref.slug
    assert (
        DatasetRef.from_options("folder", root="/").title == DatasetRef.from_options("folder", root="/").slug
    )
    assert DatasetRef.from_options("folder", root="/a/\udcff").title == "?"


def test_datasets_of_one_title_stay_distinguishable():
    one, other = (DatasetRef.from_options("folder", root=f"/{place}/flowers") for place in "ab")
    digits = DatasetRef.from_options("folder", root="/a/digits")
    refs = [one, DatasetRef("digits"), other, digits, DatasetRef("photos"), DatasetRef("photos")]
    assert distinct_titles(refs) == [one.slug, "digits", other.slug, digits.slug, "photos", "photos"]
    assert distinct_titles([one, digits]) == ["flowers", "digits"]
