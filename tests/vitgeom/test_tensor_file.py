from __future__ import annotations

import json

import pytest
import safetensors.torch
import torch

from vitgeom.errors import CorruptData, InvalidInput, StoreError
from vitgeom.tensor_file import packed, read_whole, unpacked, write_whole

TENSORS = {
    "a": torch.arange(6, dtype=torch.float32).reshape(2, 3),
    "half": torch.ones(3, dtype=torch.bfloat16),
    "one": torch.tensor(2.5, dtype=torch.float64),
    "none": torch.zeros(0, 4),
}
RECORD = {"name": "x", "numbers": [1, 2.5], "nested": {"deep": None}}


def content() -> bytes:
    return packed(TENSORS, RECORD, kind="model", version=3)


def test_tensors_and_record_come_back_as_they_were() -> None:
    tensors, record = unpacked(content(), kind="model", version=3, place="here")
    assert record == RECORD
    assert set(tensors) == set(TENSORS)
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        assert torch.equal(tensors[name], tensor)


def test_views_of_one_tensor_are_stored_each() -> None:
    whole = torch.arange(4.0)
    tensors, _ = unpacked(
        packed({"whole": whole, "part": whole[1:3], "turned": whole.view(2, 2).T}, {}, kind="k", version=1),
        kind="k",
        version=1,
        place="here",
    )
    assert tensors["part"].tolist() == [1, 2]
    assert tensors["turned"].tolist() == [[0, 2], [1, 3]]


@pytest.mark.parametrize("where", [-1, -20, 200])
def test_one_changed_byte_is_noticed(where: int) -> None:
    damaged = bytearray(content())
    damaged[where] ^= 1
    with pytest.raises(CorruptData, match=r"there (does not match its checksum|holds no model)"):
        unpacked(bytes(damaged), kind="model", version=3, place="there")


@pytest.mark.parametrize("cut", [0, 4, 100, -1])
def test_a_file_that_is_cut_short_is_noticed(cut: int) -> None:
    with pytest.raises(CorruptData, match="holds no model of vitgeom, or is cut short"):
        unpacked(content()[:cut], kind="model", version=3, place="there")


def test_a_changed_record_is_noticed() -> None:
    text = json.dumps({"kind": "model", "version": 3, "record": {"name": "y"}})
    forged = safetensors.torch.save(TENSORS, metadata={"vitgeom": text, "checksum": "0" * 64})
    with pytest.raises(CorruptData, match="does not match its checksum"):
        unpacked(forged, kind="model", version=3, place="there")


def test_another_kind_or_version_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must hold a state of version 3, got a model of version 3"):
        unpacked(content(), kind="state", version=3, place="there")
    with pytest.raises(InvalidInput, match="must hold a model of version 4, got a model of version 3"):
        unpacked(content(), kind="model", version=4, place="there")


def test_safetensors_of_others_are_refused() -> None:
    with pytest.raises(CorruptData, match="holds no model of vitgeom"):
        unpacked(safetensors.torch.save(TENSORS), kind="model", version=3, place="there")


def test_a_record_without_json_form_is_refused() -> None:
    for bad in (float("nan"), torch.ones(1), {1, 2}):
        with pytest.raises(InvalidInput, match="record must consist of numbers"):
            packed({}, {"bad": bad}, kind="k", version=1)


def test_a_file_appears_whole_and_alone(tmp_path) -> None:
    file = tmp_path / "deep" / "file"
    write_whole(b"one", file)
    write_whole(b"two", file)
    assert read_whole(file, kind="model") == b"two"
    assert [one.name for one in file.parent.iterdir()] == ["file"]


def test_places_that_cannot_be_used_are_named(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        write_whole(b"", tmp_path / "file" / "below")
    with pytest.raises(StoreError, match=r"there is no model at .*nowhere"):
        read_whole(tmp_path / "nowhere", kind="model")
