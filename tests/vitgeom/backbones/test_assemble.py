from __future__ import annotations

import pytest
import safetensors.torch
import torch

from vitgeom.backbones import hub, timm_models
from vitgeom.backbones.assemble import assemble
from vitgeom.backbones.sources import WeightSource, resolve
from vitgeom.errors import InvalidInput


def random_source(name="test_vit"):
    return resolve(name, architecture=None, pretrained=False)


def test_the_native_size_is_kept_without_a_wish():
    model, digest, note = assemble(random_source(), image_size=None, seed=0)
    assert model.patch_embed.img_size == (160, 160)
    assert note == "learned 10x10"
    assert len(digest) == 64


def test_positions_are_resampled_to_the_wished_grid_and_the_digest_stays():
    native, digest, _ = assemble(random_source(), image_size=None, seed=0)
    model, again, note = assemble(random_source(), image_size=(32, 80), seed=0)
    assert note == "learned 10x10 resampled to 2x5 (bicubic, anti-aliased)"
    assert model.pos_embed.shape == (1, 1 + 10, 64)
    assert again == digest
    assert torch.equal(model.pos_embed[:, 0], native.pos_embed[:, 0])


def test_a_checkpoint_of_another_grid_is_resampled_once(tmp_path):
    """Through the architecture's own grid the embedding would lose detail on the way."""
    trained, _, _ = assemble(random_source(), image_size=(64, 64), seed=3)
    safetensors.torch.save_file(trained.state_dict(), tmp_path / "w.safetensors")
    source = resolve(tmp_path / "w.safetensors", architecture="test_vit", pretrained=True)
    same, digest, note = assemble(source, image_size=(64, 64), seed=0)
    assert torch.equal(same.pos_embed, trained.pos_embed)
    assert note == "learned 4x4"
    default, again, _ = assemble(source, image_size=None, seed=0)
    assert default.patch_embed.img_size == (64, 64)
    assert again == digest


def test_an_illegal_size_is_refused_before_the_weights_are_read(tmp_path):
    (tmp_path / "w.pth").write_bytes(b"would fail when read")
    source = WeightSource("w", "test_vit", "vision_transformer", tmp_path / "w.pth", False, "")
    with pytest.raises(
        InvalidInput, match=r"image_size=65x64 does not fit backbone 'w'.*height 64 or 80 and width 64"
    ):
        assemble(source, image_size=(65, 64), seed=0)


def test_an_answer_of_the_hub_that_is_no_file_is_explained(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("403 Forbidden")

    monkeypatch.setattr(timm_models, "build", refuse)
    source = WeightSource("test_vit", "test_vit", "vision_transformer", None, True, "")
    with pytest.raises(
        InvalidInput, match=rf"no weights on this machine.*{hub.endpoint()} answered: 403 Forbidden.*Ways out"
    ):
        assemble(source, image_size=None, seed=0)


@pytest.mark.weights
def test_real_weights_resample_as_timm_does_it(weights_dir):
    import timm

    file = weights_dir / "dinov2_vits14_518.fp16.safetensors"
    source = resolve(file, architecture="vit_small_patch14_dinov2", pretrained=True)
    ours, _, note = assemble(source, image_size=(224, 224), seed=0)
    theirs = timm.create_model(
        source.architecture,
        pretrained=True,
        num_classes=0,
        img_size=224,
        pretrained_cfg_overlay={"file": str(file)},
    )
    assert note == "learned 37x37 resampled to 16x16 (bicubic, anti-aliased)"
    # timm rounds the resampled embedding back to the half precision of the file, we do not.
    assert (ours.pos_embed - theirs.pos_embed).abs().max() < 2e-4
    state = theirs.state_dict()
    assert all(
        torch.equal(tensor, state[name]) for name, tensor in ours.state_dict().items() if name != "pos_embed"
    )
