from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from vitgeom.backbones import load_backbone
from vitgeom.backbones.pretraining.pictures import (
    draw_from,
    normalise,
    pictures_digest,
    render_pool,
    train_images,
)
from vitgeom.data import DatasetRef, open_dataset
from vitgeom.data.scenes import scene_stream


def test_a_pool_is_the_stream_with_its_geometry_per_patch(pool):
    for row, scene in enumerate(scene_stream(3, 0, 20)):
        assert np.array_equal(pool.images[row].permute(1, 2, 0).numpy(), scene.image)
        assert int(pool.labels[row]) == scene.label
        top, left = 3, 4
        corner = (slice(8 * top, 8 * top + 8), slice(8 * left, 8 * left + 8))
        assert float(pool.target[row, 8 * top + left]) == pytest.approx((scene.instances[corner] == 1).mean())
        assert float(pool.depth[row, 8 * top + left]) == pytest.approx(
            np.log(scene.depth[corner]).mean(), rel=1e-5
        )
        facing = (scene.normals[corner] @ scene.rotation.T).mean((0, 1))
        np.testing.assert_allclose(pool.normals[row, 8 * top + left].numpy(), facing, atol=1e-6)


def test_visible_surfaces_face_the_camera(pool):
    assert (pool.normals[..., 2] < 0.3).all()
    assert pool.normals.norm(dim=-1).max() <= 1 + 1e-6


def test_pretraining_never_sees_a_picture_of_the_benchmark(pool):
    """Masked training reads train splits; scenes come from a stream of their own."""
    seen = {image.numpy().tobytes() for image in render_pool(30, seed=0).images}
    scenes = open_dataset(DatasetRef("scenes"))
    for name in ("train", "val", "test"):
        for row in range(30):
            assert np.asarray(scenes.splits[name].read(row)).transpose(2, 0, 1).tobytes() not in seen
    digits = open_dataset(DatasetRef("digits"))
    trained = {image.numpy().tobytes() for image in train_images("digits")}
    assert len(trained) == len(digits.splits["train"])
    for name in ("val", "test"):
        split = digits.splits[name]
        assert not any(
            np.asarray(split.read(row)).transpose(2, 0, 1).tobytes() in trained for row in range(len(split))
        )


def test_pixels_are_scaled_as_the_backbone_scales_them(pool):
    backbone = load_backbone("nano_selfsup", pretrained=False)
    picture = Image.fromarray(pool.images[0].permute(1, 2, 0).numpy())
    torch.testing.assert_close(normalise(pool.images[:1])[0], backbone.preprocess(picture))


def test_draws_follow_the_shares():
    """3000 draws, within five standard errors."""
    pools = [torch.full((4, 3, 2, 2), value, dtype=torch.uint8) for value in (1, 2, 3)]
    shares = (0.6, 0.3, 0.1)
    drawn = draw_from(pools, shares, 3000, generator=torch.Generator().manual_seed(0))[:, 0, 0, 0]
    for value, share in zip((1, 2, 3), shares, strict=True):
        assert abs(float((drawn == value).float().mean()) - share) < 5 * (share * (1 - share) / 3000) ** 0.5


def test_every_picture_of_a_pool_is_drawn():
    pools = [torch.arange(5, dtype=torch.uint8).view(5, 1, 1, 1).expand(5, 3, 1, 1)]
    drawn = draw_from(pools, (1.0,), 200, generator=torch.Generator().manual_seed(0))
    assert set(drawn[:, 0, 0, 0].tolist()) == {0, 1, 2, 3, 4}


def test_digest_sees_one_pixel(pool):
    changed = pool.images.clone()
    changed[0, 0, 0, 0] ^= 1
    assert pictures_digest(pool.images) != pictures_digest(changed)
