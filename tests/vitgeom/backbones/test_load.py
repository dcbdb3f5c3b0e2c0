from __future__ import annotations

import pytest
import safetensors.torch
import torch

from vitgeom.backbones import load_backbone
from vitgeom.backbones.load import refuse_difference
from vitgeom.errors import InvalidInput, NumericalFailure, UnknownName


def test_spec_tells_what_was_loaded():
    spec = load_backbone("vit_small_patch14_reg4_dinov2", pretrained=False, image_size=(28, 42)).spec
    assert (spec.name, spec.source) == ("vit_small_patch14_reg4_dinov2", "random weights")
    assert (spec.num_blocks, spec.width, spec.image_size, spec.patch_size) == (12, 384, (28, 42), (14, 14))
    assert (spec.layout.num_cls, spec.layout.num_registers, spec.layout.grid) == (1, 4, (2, 3))
    assert spec.preprocessing["crop"] == [28, 42]
    assert spec.preprocessing["mean"] == pytest.approx([0.485, 0.456, 0.406])


def test_weights_of_a_file_are_the_ones_that_compute(tmp_path, images):
    first = load_backbone("test_vit", pretrained=False, seed=4, image_size=64)
    safetensors.torch.save_file(
        first.model.state_dict(), tmp_path / "w.safetensors", metadata={"architecture": "test_vit"}
    )
    again = load_backbone(tmp_path / "w.safetensors")
    pixels = images(first)
    assert again.spec.image_size == (64, 64)
    assert torch.equal(again.capture(pixels).cls, first.capture(pixels).cls)


def test_half_precision_files_compute_in_float32(tmp_path):
    state = {
        name: tensor.half()
        for name, tensor in load_backbone("test_vit", pretrained=False).model.state_dict().items()
    }
    safetensors.torch.save_file(state, tmp_path / "w.safetensors")
    assert load_backbone(tmp_path / "w.safetensors", architecture="test_vit").dtype == torch.float32


def test_seeds_draw_different_weights_without_touching_global_randomness():
    before = torch.random.get_rng_state()
    digests = [
        load_backbone("nano_selfsup", pretrained=False, seed=seed).spec.weights_digest for seed in (0, 0, 1)
    ]
    assert torch.equal(torch.random.get_rng_state(), before)
    assert digests[0] == digests[1] != digests[2]


def test_float64_is_a_reference_for_float32(images):
    exact = load_backbone("test_vit", pretrained=False, image_size=64, dtype=torch.float64)
    usual = load_backbone("test_vit", pretrained=False, image_size=64)
    pixels = images(usual)
    assert exact.check() < 1e-12
    assert exact.capture(pixels).cls.dtype == torch.float64
    torch.testing.assert_close(
        usual.capture(pixels).cls.double(), exact.capture(pixels).cls, rtol=1e-4, atol=1e-4
    )
    assert exact.spec.weights_digest == usual.spec.weights_digest


def test_narrow_dtypes_are_an_option_of_capture():
    with pytest.raises(
        InvalidInput,
        match=r"dtype=torch\.float16 must be torch\.float32 or torch\.float64.*precision='bfloat16'",
    ):
        load_backbone("nano_selfsup", pretrained=False, dtype=torch.float16)


@pytest.mark.parametrize("device", ["cuda", "xx"])
def test_a_device_that_is_not_there_is_refused_before_anything_is_read(device, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InvalidInput, match=f"device='{device}' is no.* are: cpu"):
        load_backbone("nowhere/w.pth", device=device)


def test_illegal_image_size_names_legal_ones():
    with pytest.raises(InvalidInput, match=r"image_size=225x225.*height 224 or 238"):
        load_backbone("vit_small_patch14_dinov2", pretrained=False, image_size=225)


def test_another_architecture_is_refused(tmp_path):
    safetensors.torch.save_file(
        load_backbone("test_vit", pretrained=False).model.state_dict(), tmp_path / "w.safetensors"
    )
    with pytest.raises(InvalidInput, match=r"does not fit architecture='nano_supervised'"):
        load_backbone(tmp_path / "w.safetensors", architecture="nano_supervised")


def test_unknown_name_is_refused():
    with pytest.raises(UnknownName, match="unknown backbone 'nanosupervised'"):
        load_backbone("nanosupervised")


@pytest.mark.parametrize("factor", [1.001, float("nan")])
def test_a_model_that_differs_from_its_own_forward_pass_is_refused(nano, factor):
    own = nano.model.forward_features
    nano.model.forward_features = lambda images: own(images) * factor
    with pytest.raises(
        NumericalFailure,
        match=r"'nano_selfsup'.*differs from its own forward pass by (0\.001|nan) relative, more than 0\.0001",
    ):
        refuse_difference(nano)


@pytest.mark.weights
def test_real_weights_load_at_their_own_and_at_another_size(weights_dir, images):
    file = weights_dir / "dinov2_vits14_518.fp16.safetensors"
    backbone = load_backbone(file, architecture="vit_small_patch14_dinov2", image_size=(112, 140))
    assert backbone.spec.layout.grid == (8, 10)
    pixels = images(backbone, 2)
    theirs = backbone.model.forward_intermediates(
        pixels, return_prefix_tokens=True, output_fmt="NLC", intermediates_only=True
    )
    capture = backbone.capture(pixels)
    for layer, (patches, prefix) in enumerate(theirs):
        torch.testing.assert_close(capture.cls[:, layer], prefix[:, 0])
        torch.testing.assert_close(capture.mean[:, layer], patches.mean(1), rtol=1e-4, atol=1e-4)
