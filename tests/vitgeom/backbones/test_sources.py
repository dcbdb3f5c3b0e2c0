from __future__ import annotations

from pathlib import Path

import pytest
import torch

from vitgeom.backbones import hub
from vitgeom.backbones.sources import resolve
from vitgeom.errors import InvalidInput, UnknownName


@pytest.fixture(autouse=True)
def empty_caches(tmp_path, monkeypatch):
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))


@pytest.fixture
def file(tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "w.pth")
    return tmp_path / "w.pth"


def test_embedded_names_come_from_the_package():
    source = resolve("nano_selfsup", architecture=None, pretrained=True)
    assert source.file.name == "nano_selfsup.safetensors"
    assert (source.family, source.fetch, source.note) == ("vision_transformer", False, "embedded in vitgeom")


def test_random_weights_need_no_file():
    for name in ("nano_selfsup", "vit_small_patch16_224", "vit_small_patch14_dinov2.lvd142m"):
        source = resolve(name, architecture=None, pretrained=False)
        assert (source.file, source.fetch, source.note) == (None, False, "random weights")


def test_a_file_needs_its_architecture(file):
    assert resolve(file, architecture="test_vit", pretrained=True).file == file
    assert resolve(str(file), architecture="test_vit", pretrained=True).name == "w"
    with pytest.raises(
        InvalidInput, match=r"does not say which architecture it holds.*architecture='vit_small_patch16_224'"
    ):
        resolve(file, architecture=None, pretrained=True)


def test_a_file_may_hold_an_embedded_architecture(file):
    assert resolve(file, architecture="nano_selfsup", pretrained=True).family == "vision_transformer"


def test_a_missing_file_is_refused_before_its_architecture_is_asked_for():
    with pytest.raises(InvalidInput, match=r"there is no checkpoint file 'weights/nope\.safetensors'"):
        resolve("weights/nope.safetensors", architecture=None, pretrained=True)


def test_a_file_of_an_unsupported_architecture_is_refused(file):
    with pytest.raises(InvalidInput, match="'resnet18' is no plain Vision Transformer"):
        resolve(file, architecture="resnet18", pretrained=True)


def test_contradictions_are_refused(file):
    with pytest.raises(InvalidInput, match=r"architecture='test_vit' belongs to a checkpoint file"):
        resolve("nano_selfsup", architecture="test_vit", pretrained=True)
    with pytest.raises(
        InvalidInput, match=r"pretrained=False draws random weights, but '.*w\.pth' is a checkpoint file"
    ):
        resolve(file, architecture="test_vit", pretrained=False)


def test_unknown_names_are_refused_whether_pretrained_or_not():
    for pretrained in (True, False):
        with pytest.raises(UnknownName, match=r"Did you mean 'nano_selfsup'\?"):
            resolve("nano_selfsupp", architecture=None, pretrained=pretrained)


def test_an_unknown_tag_is_refused_wherever_it_is_given(file):
    with pytest.raises(UnknownName, match=r"unknown weights tag 'nonsense'.*tags of 'test_vit'"):
        resolve("test_vit.nonsense", architecture=None, pretrained=False)
    with pytest.raises(UnknownName, match="unknown weights tag 'nonsense'"):
        resolve(file, architecture="test_vit.nonsense", pretrained=True)


def test_without_a_copy_and_offline_the_ways_out_are_named():
    with pytest.raises(
        InvalidInput,
        match=r"'vit_tiny_patch16_224' has no weights on this machine.*HF_HUB_OFFLINE=1 forbids.*pretrained=False",
    ):
        resolve("vit_tiny_patch16_224", architecture=None, pretrained=True)


def test_a_copy_on_this_disk_needs_no_connection(tmp_path):
    folder = tmp_path / "hf/hub/models--timm--test_vit.r160_in1k/snapshots/abc"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"")
    source = resolve("test_vit", architecture=None, pretrained=True)
    assert source.file == folder / "model.safetensors"
    assert source.note == "downloaded earlier from timm/test_vit.r160_in1k"


def test_with_a_connection_the_weights_are_fetched(monkeypatch):
    monkeypatch.setattr(hub, "why_offline", lambda: None)
    source = resolve("test_vit", architecture=None, pretrained=True)
    assert source.fetch
    assert source.file is None


def test_a_path_object_is_always_a_file():
    with pytest.raises(InvalidInput, match="there is no checkpoint file 'nano_selfsup'"):
        resolve(Path("nano_selfsup"), architecture=None, pretrained=True)
