from __future__ import annotations

import time

import numpy as np
import pytest

from vitgeom.data.scenes import CLASSES, Difficulty, Scene, render_scene, scene_label
from vitgeom.data.scenes.camera import Camera


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return [render_scene(5, index, stream="identities") for index in range(12)]


def test_depth_intrinsics_and_pose_give_back_the_point_maps(scenes):
    rows, columns = np.indices((64, 64))
    for scene in scenes:
        focal, middle = scene.intrinsics[0, 0], scene.intrinsics[0, 2]
        camera = np.stack(
            [
                (columns + 0.5 - middle) / focal * scene.depth,
                (rows + 0.5 - middle) / focal * scene.depth,
                scene.depth,
            ],
            axis=-1,
        )
        np.testing.assert_allclose(camera, scene.points_camera, atol=1e-9)
        world = (scene.points_camera - scene.translation) @ scene.rotation  # R^T (x - t), row by row
        np.testing.assert_allclose(world, scene.points_world, atol=1e-9)


def test_points_project_onto_their_own_pixel(scenes):
    for scene in scenes:
        camera = Camera(scene.intrinsics, scene.rotation, scene.translation, 64)
        uv = camera.project(scene.points_world.reshape(-1, 3).T)
        np.testing.assert_allclose(uv, camera.pixel_centres(), atol=1e-8)


def test_normals_are_those_of_the_point_map_away_from_edges(scenes):
    """On flat surfaces the cross product of neighbouring points gives the normal; on curved ones nearly."""
    for scene in scenes:
        dx = scene.points_world[1:-1, 2:] - scene.points_world[1:-1, :-2]
        dy = scene.points_world[2:, 1:-1] - scene.points_world[:-2, 1:-1]
        estimated = np.cross(dy, dx)
        estimated /= np.linalg.norm(estimated, axis=-1, keepdims=True)
        exact = scene.normals[1:-1, 1:-1]
        np.testing.assert_allclose((exact**2).sum(axis=-1), 1, atol=1e-12)
        neighbours = [
            scene.instances[1:-1, 2:],
            scene.instances[1:-1, :-2],
            scene.instances[2:, 1:-1],
            scene.instances[:-2, 1:-1],
        ]
        around = [
            scene.normals[1:-1, 2:],
            scene.normals[1:-1, :-2],
            scene.normals[2:, 1:-1],
            scene.normals[:-2, 1:-1],
        ]
        same = np.all([n == scene.instances[1:-1, 1:-1] for n in neighbours], axis=0)
        flat = same & np.all([(n * exact).sum(axis=-1) > 1 - 1e-12 for n in around], axis=0)
        assert flat.sum() > 500
        assert np.abs((estimated * exact).sum(axis=-1)[flat] - 1).max() < 1e-9


def test_the_label_is_the_shape_of_the_central_object_and_it_is_seen(scenes):
    for index, scene in enumerate(scenes):
        assert scene.label == scene_label(index)
        assert scene.shapes[0] == CLASSES[scene.label]
        assert (scene.instances == 1).sum() >= 20
        assert scene.instances.max() <= len(scene.shapes)
        np.testing.assert_array_equal(scene.foreground, scene.instances > 0)


def test_shapes_and_ranges_of_all_maps(scenes):
    for scene in scenes:
        assert scene.image.shape == (64, 64, 3)
        assert scene.image.dtype == np.uint8
        assert scene.image.std() > 5
        assert np.isfinite(scene.depth).all()
        assert scene.depth.min() > 0
        assert scene.points_world[..., 2].min() > -1e-9  # nothing lies under the floor


def test_a_scene_depends_on_seed_stream_and_index_alone():
    again = render_scene(5, 3, stream="identities")
    np.testing.assert_array_equal(again.image, render_scene(5, 3, stream="identities").image)
    for other in (
        render_scene(6, 3, stream="identities"),
        render_scene(5, 3),
        render_scene(5, 4, stream="identities"),
    ):
        assert (other.image != again.image).mean() > 0.5


def test_another_size_shows_the_same_world():
    small, large = (render_scene(0, 7, size=size) for size in (32, 96))
    np.testing.assert_allclose(small.rotation, large.rotation, atol=1e-12)
    assert small.shapes == large.shapes
    np.testing.assert_allclose(
        small.depth, large.depth[1::3, 1::3], rtol=1e-9
    )  # the middle pixel of each 3 x 3
    np.testing.assert_array_equal(small.instances, large.instances[1::3, 1::3])


def test_without_pixel_noise_a_flat_region_is_smooth_and_noise_has_the_stated_spread():
    clean = render_scene(2, 4, difficulty=Difficulty(noise=0.0)).image.astype(float)
    noisy = render_scene(2, 4, difficulty=Difficulty(noise=6.0)).image.astype(float)
    inside = (clean > 40) & (clean < 215)  # far from clipping
    assert (noisy - clean)[inside].std() == pytest.approx(6.0, rel=0.1)


def test_edges_are_smoothed():
    """Along the outline of objects the picture holds in-between colours: more values than one sample per pixel could give."""
    scene = render_scene(0, 4, difficulty=Difficulty(noise=0.0, contrast=0.0, highlight=0.0))
    target = scene.instances == 1
    inner = target.copy()
    inner[1:-1, 1:-1] &= target[2:, 1:-1] & target[:-2, 1:-1] & target[1:-1, 2:] & target[1:-1, :-2]
    rim = scene.image[target & ~inner].astype(float)
    middle = scene.image[inner].astype(float)
    assert rim.std(axis=0).sum() > 0
    distance = np.abs(rim[:, None] - middle[None]).sum(axis=-1).min(axis=1)
    assert (distance > 8).mean() > 0.1


def test_a_picture_takes_milliseconds():
    start = time.process_time()
    for index in range(20):
        render_scene(1, index)
    assert (time.process_time() - start) / 20 < 0.15  # checks of every array are on and the machine is shared
