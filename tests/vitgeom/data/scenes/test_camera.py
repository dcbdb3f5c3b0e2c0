from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.scenes.camera import Camera, look_at
from vitgeom.errors import InvalidInput

POSITION = np.array([3.0, -4.0, 2.5])
AIM = np.array([0.5, 0.25, 0.75])


def _camera(roll: float = 0.2) -> Camera:
    return look_at(POSITION, AIM, roll=roll, field_of_view=0.8, size=48)


def test_projection_equals_the_textbook_formula_point_by_point():
    camera = _camera()
    points = np.random.default_rng(0).uniform(-1, 1, (3, 20))
    got = camera.project(points)
    for k in range(20):
        x, y, z = camera.rotation @ points[:, k] + camera.translation
        u = camera.intrinsics[0, 0] * x / z + camera.intrinsics[0, 2]
        v = camera.intrinsics[1, 1] * y / z + camera.intrinsics[1, 2]
        np.testing.assert_allclose(got[:, k], [u, v], rtol=1e-12)


def test_a_ray_at_parameter_z_has_depth_z_and_projects_back():
    camera = _camera()
    uv = np.random.default_rng(1).uniform(0, 48, (2, 50))
    depth = np.random.default_rng(2).uniform(1, 9, 50)
    points = camera.position[:, None] + depth * camera.directions(uv)
    np.testing.assert_allclose(camera.project(points), uv, atol=1e-10)
    np.testing.assert_allclose(camera.rotation[2] @ points + camera.translation[2], depth, rtol=1e-12)


def test_pose_is_a_rotation_about_the_given_position():
    camera = _camera()
    np.testing.assert_allclose(camera.rotation @ camera.rotation.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(camera.rotation) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(camera.position, POSITION, atol=1e-12)
    np.testing.assert_allclose(camera.project(AIM[:, None])[:, 0], [24, 24], atol=1e-10)


def test_without_roll_the_world_stands_upright_in_the_image():
    camera = _camera(roll=0.0)
    higher = camera.project(np.stack([AIM, AIM + np.array([0, 0, 0.5])], axis=1))
    assert higher[0, 1] == pytest.approx(higher[0, 0], abs=1e-9)
    assert higher[1, 1] < higher[1, 0] - 1  # rows count downwards


def test_first_pixel_centre_is_half_a_pixel_from_the_corner():
    centres = _camera().pixel_centres()
    np.testing.assert_array_equal(centres[:, [0, 1, 48]].T, [[0.5, 0.5], [1.5, 0.5], [0.5, 1.5]])


def test_field_of_view_reaches_from_edge_to_edge():
    camera = _camera()
    left, right = camera.directions(np.array([[0.0, 48.0], [24.0, 24.0]])).T
    angle = np.arccos(left @ right / np.linalg.norm(left) / np.linalg.norm(right))
    assert angle == pytest.approx(0.8, abs=1e-12)


def test_looking_straight_down_is_refused():
    with pytest.raises(InvalidInput, match="straight above or below"):
        look_at(POSITION, POSITION - [0, 0, 1.0], roll=0.0, field_of_view=0.8, size=48)
