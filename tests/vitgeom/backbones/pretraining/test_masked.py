from __future__ import annotations

import dataclasses

import pytest
import torch

from vitgeom.backbones.embedded import ARCHITECTURES, DATA_CONFIG
from vitgeom.backbones.pretraining.masked import (
    Decoder,
    MaskedRecipe,
    augment,
    encode,
    pretrain,
    whole_picture_loss,
)
from vitgeom.backbones.pretraining.targets import edges_and_colours
from vitgeom.backbones.timm_models import build_plain

SHORT = MaskedRecipe(steps=4, batch=6)


@pytest.fixture
def pools(pool):
    return [pool.images[:8], pool.images[8:14], pool.images[14:]]


def test_training_depends_on_seed_and_pictures_alone(pools):
    def weights(seed):
        torch.manual_seed(int(torch.seed()) % 2**31)
        return pretrain(
            pools, recipe=dataclasses.replace(SHORT, seed=seed), progress=lambda line: None
        ).state_dict()

    first, again, other = weights(0), weights(0), weights(1)
    assert all(torch.equal(tensor, again[name]) for name, tensor in first.items())
    assert not torch.equal(first["blocks.0.attn.qkv.weight"], other["blocks.0.attn.qkv.weight"])


def test_training_leaves_global_randomness_alone(pools):
    before = torch.random.get_rng_state()
    pretrain(pools, recipe=SHORT, progress=lambda line: None)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_training_explains_hidden_patches_better_than_their_mean(pools):
    lines = []
    pretrain(pools, recipe=MaskedRecipe(steps=200, batch=16), progress=lines.append)
    hidden, whole = (
        float(lines[-1].split(f"{part} ")[1].split(",")[0]) for part in ("hidden patches", "whole picture")
    )
    assert hidden < 0.9
    assert whole < 1.4


def test_all_patches_visible_give_the_models_own_forward_pass():
    model = build_plain(ARCHITECTURES["nano_selfsup"], DATA_CONFIG, seed=0).eval()
    images = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(
        encode(model, images, torch.arange(64).expand(2, 64)), model.forward_features(images)
    )


def test_hidden_patches_do_not_reach_the_encoder():
    model = build_plain(ARCHITECTURES["nano_selfsup"], DATA_CONFIG, seed=0).eval()
    images = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    changed = images.clone()
    changed[:, :, :8, :8] = 5.0  # patch 0
    visible = torch.arange(1, 25)[None]
    assert torch.equal(encode(model, images, visible), encode(model, changed, visible))
    assert not torch.equal(encode(model, images, visible - 1), encode(model, changed, visible - 1))


def test_the_decoder_knows_where_it_is_asked():
    torch.manual_seed(0)
    decoder = Decoder(width=96, prefix=5, patches=64, recipe=MaskedRecipe())
    tokens, visible = torch.randn(1, 29, 96), torch.arange(24)[None]
    answers = decoder(tokens, visible, torch.tensor([[40, 50]]))
    swapped = decoder(tokens, visible, torch.tensor([[50, 40]]))
    assert answers.shape == (1, 2, 12)
    torch.testing.assert_close(answers.flip(1), swapped, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(answers[:, 0], answers[:, 1], atol=1e-4)


def test_colours_are_means_over_patches(pool):
    images = pool.images.float()
    _, colours = edges_and_colours(images)
    torch.testing.assert_close(colours[2, 8 * 3 + 5], images[2, :, 24:32, 40:48].mean((1, 2)))


def test_the_whole_picture_loss_is_zero_at_the_truth_only(pool):
    histograms, colours = edges_and_colours(pool.images.float() / 255)
    coarse = colours.mT.unflatten(2, (8, 8)).unflatten(2, (4, 2)).unflatten(4, (4, 2)).mean((3, 5)).flatten(1)
    truth = torch.cat([histograms.flatten(1), coarse], dim=1)
    spread = torch.ones(12)
    assert float(whole_picture_loss(truth, histograms, colours, spread=spread)) < 1e-10
    assert float(whole_picture_loss(truth + 1, histograms, colours, spread=spread)) == pytest.approx(
        1.5, rel=1e-4
    )


def test_augmentation_keeps_shape_and_depends_on_the_generator_alone(pool):
    images = pool.images.float() / 255
    first, again, other = (
        augment(images, generator=torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)
    )
    assert first.shape == images.shape
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
