"""Requests: frozen, closed, with a digest that follows the fields."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tasks.request import ExtractRequest, ExtractSettings, Footprint, ProbeRequest

FOOTPRINT = Footprint(num_layers=2, width=8, num_tokens=5, image_pixels=64, weight_bytes=100)


def extract_request(**changes: object) -> ExtractRequest:
    fields = {
        "store": "/s",
        "address": "features/a/b/c",
        "split": "train",
        "start": 0,
        "stop": 64,
        "dataset": {"name": "noise", "options": {"n": 10}},
        "backbone": {"name": "nano", "options": {}},
        "footprint": FOOTPRINT,
    }
    return ExtractRequest(**{**fields, **changes})


def test_equal_fields_give_equal_digests_whatever_their_order() -> None:
    one = extract_request(dataset={"name": "noise", "options": {"n": 10, "size": 8}})
    other = extract_request(dataset={"options": {"size": 8, "n": 10}, "name": "noise"})
    assert one.digest == other.digest
    assert len(one.digest) == 64


def test_every_field_changes_the_digest() -> None:
    changes = [{"stop": 63}, {"split": "val"}, {"batch_size": 2}, {"precision": "float16"}, {"store": "/t"}]
    digests = {extract_request(**change).digest for change in [{}, *changes]}
    assert len(digests) == len(changes) + 1


def test_requests_of_two_tasks_never_share_a_digest() -> None:
    class Renamed(ExtractRequest):
        task = "something_else"

    request = extract_request()
    assert Renamed(**request.model_dump()).digest != request.digest


def test_a_request_survives_json() -> None:
    request = extract_request()
    assert ExtractRequest.model_validate_json(request.model_dump_json()) == request


def test_the_key_says_where_the_result_lies() -> None:
    assert extract_request().key == "features/a/b/c train[0:64]"
    assert (
        ProbeRequest(store="/s", address="features/a/b/c", manifest_digest="d", token="mean").key
        == "features/a/b/c mean"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"colour": 1}, "colour\n.*Extra inputs are not permitted"),
        ({"stop": 0}, "stop\n.*greater than or equal to 1"),
        ({"start": 64}, "stop must be > start, got rows 64:64"),
        ({"batch_size": 0}, "batch_size\n.*greater than or equal to 1"),
        ({"precision": "float8"}, "precision\n.*'float32', 'bfloat16' or 'float16'"),
    ],
)
def test_bad_fields_are_named(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        extract_request(**change)


def test_a_request_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        extract_request().start = 3  # type: ignore[misc]


def test_settings_refuse_unknown_keys_and_read_lists() -> None:
    assert ExtractSettings(token_layers=[3, 6]).token_layers == (3, 6)  # type: ignore[arg-type]
    assert ExtractSettings(tokens=["mean"]).tokens == ("mean",)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="Extra inputs"):
        ExtractSettings(rows=3)  # type: ignore[call-arg]
