from __future__ import annotations

import dataclasses

import pytest
import torch

from vitgeom.backbones.embedded import ARCHITECTURES, DATA_CONFIG
from vitgeom.backbones.pretraining.supervised import (
    SupervisedRecipe,
    choose_patches,
    draw_batch,
    forward,
    geometry_loss,
    mirrored,
    pretrain,
)
from vitgeom.backbones.timm_models import build_plain

SHORT = SupervisedRecipe(steps=4, batch=6)


def test_training_depends_on_seed_and_pictures_alone(pool):
    def weights(seed):
        torch.manual_seed(int(torch.seed()) % 2**31)
        model = pretrain(pool, recipe=dataclasses.replace(SHORT, seed=seed), progress=lambda line: None)
        return model.state_dict()

    first, again, other = weights(0), weights(0), weights(1)
    assert all(torch.equal(tensor, again[name]) for name, tensor in first.items())
    assert not torch.equal(first["blocks.0.attn.qkv.weight"], other["blocks.0.attn.qkv.weight"])


def test_training_leaves_global_randomness_alone(pool):
    before = torch.random.get_rng_state()
    pretrain(pool, recipe=SHORT, progress=lambda line: None)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_training_learns_a_few_scenes_by_heart(pool):
    lines = []
    pretrain(pool, recipe=SupervisedRecipe(steps=200, batch=16, keep=40), progress=lines.append)
    accuracy = float(lines[-1].split("train accuracy ")[1].split(",")[0])
    assert accuracy > 0.5, lines


def test_all_patches_give_the_models_own_forward_pass():
    model = build_plain(ARCHITECTURES["nano_supervised"], DATA_CONFIG, seed=0).eval()
    images = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    order = torch.arange(64).expand(2, 64)
    cls, described = forward(model, images, order, geometry_block=8)
    torch.testing.assert_close(cls, model.forward_features(images)[:, 0])
    patches = model.forward_intermediates(images, indices=[7], intermediates_only=True, output_fmt="NLC")[0]
    torch.testing.assert_close(described, patches)


def test_a_mirror_twice_is_the_identity_and_once_moves_columns_and_normals(pool):
    geometry = torch.cat([pool.target[..., None], pool.normals, pool.depth[..., None]], dim=2)
    assert torch.equal(mirrored(mirrored(geometry)), geometry)
    once = mirrored(geometry)
    assert torch.equal(once[:, 8 * 2 + 1, [0, 2, 3, 4]], geometry[:, 8 * 2 + 6, [0, 2, 3, 4]])
    assert torch.equal(once[:, 8 * 2 + 1, 1], -geometry[:, 8 * 2 + 6, 1])


def test_geometry_of_a_mirrored_batch_still_fits_its_pictures(pool):
    """The covered patches differ from their surroundings in the picture too: contrast inside and outside of the mask agrees."""
    for seed in range(4):
        batch = draw_batch(pool, 20, generator=torch.Generator().manual_seed(seed))
        assert batch.images.shape == (20, 3, 64, 64)
        assert batch.geometry.shape == (20, 64, 5)
        assert (batch.geometry[..., 0] >= 0).all()
        assert (batch.geometry[..., 3] < 0.3).all()
        assert batch.labels.min() >= 0


def test_fewer_patches_enter_until_the_last_part(pool):
    generator = torch.Generator().manual_seed(0)
    batch = draw_batch(pool, 5, generator=generator)
    recipe = SupervisedRecipe(steps=100, keep=28, all_patches_from=0.85)

    def chosen(number):
        return choose_patches(number, batch, recipe=recipe, grid=(8, 8), generator=generator)

    assert chosen(84).shape == (5, 28)
    assert chosen(85).shape == (5, 64)


def test_patches_of_the_middle_enter_more_often(pool):
    generator = torch.Generator().manual_seed(0)
    batch = draw_batch(pool, 20, generator=generator)
    recipe = SupervisedRecipe(keep=16)
    drawn = torch.cat(
        [choose_patches(0, batch, recipe=recipe, grid=(8, 8), generator=generator) for _ in range(20)]
    )
    counts = torch.bincount(drawn.flatten(), minlength=64).view(8, 8)
    assert counts[3:5, 3:5].float().mean() > 4 * counts[[0, 0, 7, 7], [0, 7, 0, 7]].float().mean()


def test_geometry_loss_is_smallest_at_the_truth(pool):
    wanted = torch.cat([(pool.target[..., None] > 0.5).float(), pool.normals, pool.depth[..., None]], dim=2)
    right = wanted.clone()
    right[..., 0] = 20 * (2 * wanted[..., 0] - 1)
    assert float(geometry_loss(right, wanted)) < 1e-6
    for channel in range(5):
        wrong = right.clone()
        wrong[..., channel] = -wrong[..., channel] + 1
        assert float(geometry_loss(wrong, wanted)) > 0.01, channel


def test_progress_is_told(pool):
    lines = []
    pretrain(pool, recipe=dataclasses.replace(SHORT, steps=100, batch=2), progress=lines.append)
    assert len(lines) == 1
    assert lines[0].startswith("supervised step 100/100: train accuracy 0.")


def test_recipes_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SHORT.steps = 5  # type: ignore[misc]
