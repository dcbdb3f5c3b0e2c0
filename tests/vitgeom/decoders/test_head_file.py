from __future__ import annotations

import json

import pytest
import safetensors.torch
import torch

from vitgeom.decoders import (
    CameraConfig,
    CameraHead,
    DptConfig,
    DptHead,
    HeadRecord,
    PointMapConfig,
    PointMapHead,
    UpconvConfig,
    UpconvHead,
    random_head,
    read_head,
    write_head,
)
from vitgeom.decoders.head_file import KINDS, read_record
from vitgeom.errors import InvalidInput, UnknownName

SMALL = DptConfig(8, channels=(4, 4), scales=(1, 0), features=4, hidden=2, readout="project", final="exp")
HEADS = {
    "dpt": lambda: DptHead(SMALL),
    "pointmap": lambda: PointMapHead(
        PointMapConfig(DptConfig(8, (4,), (0,), 4, 2, 4, final="identity"), "inv_log", True)
    ),
    "camera": lambda: CameraHead(CameraConfig(8, hidden=4)),
    "upconv": lambda: UpconvHead(UpconvConfig(8, (4, 2))),
}


def record(kind: str = "dpt", **changes) -> HeadRecord:
    fields = {
        "name": "x",
        "kind": kind,
        "taps": (3, 6),
        "normed": True,
        "backbone": "nano",
        "weights_digest": "ab",
    }
    return HeadRecord(**{**fields, "provenance": {"recipe": {"seed": 4}}, **changes})


def test_every_kind_of_head_is_known():
    assert set(HEADS) == set(KINDS)


@pytest.mark.parametrize("kind", list(HEADS))
def test_what_was_written_is_read_again(kind, tmp_path):
    head = random_head(HEADS[kind], seed=0)
    write_head(head, tmp_path / "new" / "h.safetensors", record=record(kind))
    found, described = read_head(tmp_path / "new" / "h.safetensors")
    assert described == record(kind) == read_record(tmp_path / "new" / "h.safetensors")
    assert found.config == head.config
    for key, tensor in found.state_dict().items():
        assert tensor.dtype in (torch.float32, torch.int64)
        assert torch.equal(tensor.float(), head.state_dict()[key].half().float()), key


def test_the_same_head_gives_the_same_bytes(tmp_path):
    head = random_head(HEADS["dpt"], seed=0)
    for name in ("a", "b"):
        write_head(head, tmp_path / name, record=record())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_weights_beyond_half_precision_are_refused(tmp_path):
    head = random_head(HEADS["dpt"], seed=0)
    torch.nn.init.constant_(head.shrink.bias, 1e6)
    with pytest.raises(InvalidInput, match=r"head 'x' are not finite in half precision: shrink.bias"):
        write_head(head, tmp_path / "h", record=record())
    assert not (tmp_path / "h").exists()


def test_files_that_are_no_heads_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="there is no head file"):
        read_head(tmp_path / "none.safetensors")
    (tmp_path / "text").write_text("not tensors")
    with pytest.raises(InvalidInput, match="cannot be read as safetensors"):
        read_head(tmp_path / "text")
    safetensors.torch.save_file({"w": torch.ones(2)}, tmp_path / "bare")
    with pytest.raises(InvalidInput, match="does not say what head it holds"):
        read_head(tmp_path / "bare")


def test_a_kind_that_this_version_does_not_know_is_named(tmp_path):
    write_head(random_head(HEADS["dpt"], seed=0), tmp_path / "h", record=record("dbt"))
    with pytest.raises(UnknownName, match=r"unknown kind of head 'dbt'. Did you mean 'dpt'"):
        read_head(tmp_path / "h")


def test_weights_that_do_not_fit_their_own_description_are_refused(tmp_path):
    metadata = {
        "head": json.dumps({**vars(record()), "provenance": {}}),
        "config": json.dumps({"width": 8, "hidden": 4}),
    }
    state = random_head(HEADS["camera"], seed=0).state_dict()
    safetensors.torch.save_file(state, tmp_path / "h", metadata=metadata)
    with pytest.raises(InvalidInput, match="does not hold the weights of the 'dpt' head that it describes"):
        read_head(tmp_path / "h")
    metadata["head"] = json.dumps({"name": "x"})
    safetensors.torch.save_file(state, tmp_path / "h", metadata=metadata)
    with pytest.raises(InvalidInput, match="describes its head in words that this version does not know"):
        read_record(tmp_path / "h")
