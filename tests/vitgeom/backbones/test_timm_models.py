from __future__ import annotations

import pytest
import timm
import torch

from vitgeom.backbones import timm_models
from vitgeom.errors import InvalidInput, UnknownName


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("vit_small_patch14_dinov2.lvd142m", "vision_transformer"),
        ("deit3_small_patch16_224", "deit"),
        ("vit_small_patch16_dinov3", "eva"),
        ("vit_tiny_r_s16_p8_224", "vision_transformer_hybrid"),
    ],
)
def test_supported_families_are_recognised(name, family):
    assert timm_models.family_of(name) == family


@pytest.mark.parametrize(
    "name", ["resnet18", "swin_tiny_patch4_window7_224", "convnext_tiny", "mixer_b16_224"]
)
def test_models_that_are_no_plain_vit_are_refused_with_the_reason(name):
    with pytest.raises(
        InvalidInput,
        match=rf"'{name}' is no plain Vision Transformer \(it lives in timm\.models\..*one sequence of blocks",
    ):
        timm_models.family_of(name)


def test_a_misspelt_name_gets_the_nearest_ones():
    with pytest.raises(
        UnknownName,
        match=r"unknown backbone 'vit_smal_patch14_dinov2'\. Did you mean 'vit_small_patch14_dinov2'\?",
    ):
        timm_models.family_of("vit_smal_patch14_dinov2")
    with pytest.raises(UnknownName, match=r"Did you mean 'nano_supervised'\?"):
        timm_models.family_of("nano_supervisd", embedded=("nano_supervised",))


def test_the_seed_alone_decides_random_weights_and_global_randomness_is_left_alone():
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    first = timm_models.build("test_vit", seed=1)
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(8)
    again, other = timm_models.build("test_vit", seed=1), timm_models.build("test_vit", seed=2)
    weight = "blocks.0.attn.qkv.weight"
    assert torch.equal(first.state_dict()[weight], again.state_dict()[weight])
    assert not torch.equal(first.state_dict()[weight], other.state_dict()[weight])


def test_no_classifier_is_built():
    model = timm_models.build("deit_tiny_distilled_patch16_224", seed=0)
    assert not [name for name, _ in model.named_parameters() if name.startswith("head")]


def test_published_places_are_told():
    assert timm_models.published_at("test_vit") == {"hub_id": "timm/test_vit.r160_in1k"}
    assert timm_models.published_at("vit_small_patch14_dinov2.lvd142m")["url"].endswith(
        "dinov2_vits14_pretrain.pth"
    )


def test_a_name_without_weights_has_no_place():
    unpublished = next(
        name
        for name in timm.list_models(module="vision_transformer")
        if not timm.list_pretrained(f"{name}.*")
    )
    assert timm_models.published_at(unpublished) == {}


def test_an_unknown_tag_names_the_known_ones():
    with pytest.raises(UnknownName, match=r"unknown weights tag 'r161_in1k'\. Did you mean 'r160_in1k'\?"):
        timm_models.published_at("test_vit.r161_in1k")
    with pytest.raises(UnknownName, match=r"'foo'.*Known: augreg_in21k.*tags of 'vit_tiny_patch16_224'"):
        timm_models.family_of("vit_tiny_patch16_224.foo")


def test_a_tag_without_published_weights_is_still_a_name():
    base = "vit_small_resnet50d_s16_224"
    assert timm_models.family_of(f"{base}.untrained") == "vision_transformer_hybrid"
    assert timm_models.published_at(f"{base}.untrained") == {}


def test_data_configuration_follows_the_image_size():
    model = timm_models.build("test_vit", seed=0)
    config = timm_models.resolved_data_config(model.pretrained_cfg, image_size=(32, 48))
    assert config["input_size"] == (3, 32, 48)
    assert config["mean"] == (0.5, 0.5, 0.5)
    assert config["crop_pct"] == 0.95
