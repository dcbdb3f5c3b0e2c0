from __future__ import annotations

from typing import Any

import pytest

from tests.support.feature_stores import describe
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.store.address import FeatureAddress, check_path, describe_features
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.schema import SCHEMA_VERSION


def test_the_path_is_made_of_labels_and_the_beginning_of_the_fingerprint() -> None:
    description = describe()
    address = FeatureAddress.of(description, dataset="digits", backbone="vit-small_14.x")
    assert address.fingerprint == fingerprint(description)
    assert address.path == f"features/digits/vit-small_14.x/{address.fingerprint[:16]}"
    check_path(address.path, description)


def test_the_same_inputs_have_the_same_address_whatever_their_order() -> None:
    assert describe(tokens=("mean", "cls")) == describe(tokens=("cls", "mean"))
    assert fingerprint(describe(preprocessing={"a": 1, "b": (2, 3)})) == fingerprint(
        describe(preprocessing={"b": [2, 3], "a": 1})
    )


@pytest.mark.parametrize(
    "change",
    [
        {"dataset_digest": "x"},
        {"weights_digest": "x"},
        {"preprocessing": {"resize": 9}},
        {"precision": "bfloat16"},
        {"storage_dtype": "float16"},
        {"tokens": ("cls",)},
        {"token_layers": (1,)},
        {"extra": {"image_size": 98}},
    ],
)
def test_whatever_changes_the_numbers_changes_the_address(change: dict[str, Any]) -> None:
    assert fingerprint(describe(**change)) != fingerprint(describe())


def test_token_layers_have_one_order_and_each_choice_an_address_of_its_own() -> None:
    assert describe(token_layers=(3, 1)) == describe(token_layers=(1, 3))
    assert fingerprint(describe(token_layers=(1, 3))) != fingerprint(describe(token_layers=(1, 2)))


def test_without_token_layers_an_address_is_what_it_was_before_there_were_any() -> None:
    """Stores that were written then are found again and not computed anew."""
    assert describe(token_layers=()) == describe()
    assert fingerprint(describe()) == "acd2f7bfe86f6e3dd46e98e60d3a57d35577201d9accb35388e0faee912d323f"


def test_the_schema_version_is_part_of_the_address() -> None:
    assert describe()["schema"] == SCHEMA_VERSION


@pytest.mark.parametrize("label", ["", "..", ".hidden", "a/b", "a b", "ä", "-x", "x" * 121])
def test_labels_unfit_for_a_path_are_refused(label: str) -> None:
    with pytest.raises(InvalidInput, match=r"dataset label .* is unfit for a path"):
        FeatureAddress.of(describe(), dataset=label, backbone="b")
    with pytest.raises(InvalidInput, match=r"backbone label .* is unfit for a path"):
        FeatureAddress.of(describe(), dataset="d", backbone=label)


def test_what_is_no_fingerprint_or_no_token_is_refused() -> None:
    with pytest.raises(InvalidInput, match="fingerprint must be 64 hex digits"):
        FeatureAddress(dataset="d", backbone="b", fingerprint="abc")
    with pytest.raises(UnknownName, match="unknown token 'patch'"):
        describe(tokens=("patch",))


def test_a_description_at_another_path_is_refused() -> None:
    with pytest.raises(InvalidInput, match="does not belong at 'features/d/b/0123'"):
        check_path("features/d/b/0123", describe())


def test_extra_is_left_out_when_there_is_none() -> None:
    assert "extra" not in describe_features(
        dataset_digest="d",
        weights_digest="w",
        preprocessing={},
        precision="float32",
        storage_dtype="float32",
        tokens=["cls"],
    )
