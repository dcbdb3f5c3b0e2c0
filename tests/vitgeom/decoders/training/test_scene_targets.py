from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.data.scenes import render_scene
from vitgeom.decoders.camera import QUATERNION, TRANSLATION
from vitgeom.decoders.quaternions import as_matrix
from vitgeom.decoders.training.scene_targets import pose_of, render_targets


@pytest.fixture(scope="module")
def targets():
    return render_targets(3, seed=0, stream="test")


def test_targets_are_the_scenes_own(targets):
    scene = render_scene(0, 1, stream="test")
    assert np.array_equal(targets.images[1].numpy(), scene.image.transpose(2, 0, 1))
    np.testing.assert_allclose(targets.depth[1, 0].numpy(), scene.depth, rtol=1e-6)
    np.testing.assert_allclose(
        targets.points[1].numpy().transpose(1, 2, 0), scene.points_camera, rtol=1e-5, atol=1e-6
    )
    assert torch.equal(targets.points[:, 2:], targets.depth)


@pytest.mark.parametrize("index", range(3))
def test_the_pose_brings_points_of_a_turned_world_into_the_camera(index, targets):
    scene = render_scene(0, index, stream="test")
    rotation = as_matrix(targets.pose[index, QUATERNION].double()).numpy()
    shift = targets.pose[index, TRANSLATION].double().numpy()
    world = (scene.points_camera - shift) @ rotation
    np.testing.assert_allclose(world[..., 2], scene.points_world[..., 2], atol=1e-5)
    np.testing.assert_allclose(
        np.linalg.norm(world[..., :2], axis=2), np.linalg.norm(scene.points_world[..., :2], axis=2), atol=1e-5
    )


def test_the_camera_looks_towards_plus_y(targets):
    forward = as_matrix(targets.pose[:, QUATERNION])[:, 2]
    assert bool((forward[:, 0].abs() < 1e-5).all())
    assert bool((forward[:, 1] > 0).all())


def test_the_field_of_view_spans_the_image():
    scene = render_scene(0, 0, stream="test")
    view = pose_of(scene)[7:]
    focal = scene.intrinsics[0, 0]
    torch.testing.assert_close(torch.tan(view / 2), torch.full((2,), 32 / focal, dtype=torch.float32))
