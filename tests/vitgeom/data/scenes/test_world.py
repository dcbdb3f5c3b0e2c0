from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.solids import SOLIDS
from vitgeom.data.scenes.world import (
    ROOM_HALF_WIDTH,
    ROOM_HEIGHT,
    World,
    _draw_poses,
    _draw_rotations,
    draw_world,
)

NUM_WORLDS = 60


def _world(seed: int, difficulty: Difficulty | None = None) -> World:
    generator = np.random.default_rng(seed)
    return draw_world(seed % len(SOLIDS), generator=generator, size=64, difficulty=difficulty or Difficulty())


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return [_world(seed) for seed in range(NUM_WORLDS)]


def test_the_target_is_the_asked_solid_and_the_one_nearest_to_the_image_centre(worlds):
    for seed, world in enumerate(worlds):
        assert world.bodies[0].solid is SOLIDS[seed % len(SOLIDS)]
        centres = np.stack([body.centre for body in world.bodies], axis=1)
        from_middle = np.hypot(*(world.camera.project(centres) - 32))
        assert from_middle.argmin() == 0
        assert from_middle[0] <= Difficulty().aim_error * 64 * 1.2


def test_bodies_touch_the_floor_and_not_each_other(worlds):
    for world in worlds:
        for k, body in enumerate(world.bodies):
            assert body.support(np.array([0.0, 0.0, -1.0])) == pytest.approx(0, abs=1e-12)
            for other in world.bodies[:k]:
                assert np.linalg.norm(body.centre - other.centre) >= body.reach + other.reach - 1e-9


def test_camera_and_lamp_are_in_the_room_and_outside_of_all_bodies(worlds):
    corner = np.array([ROOM_HALF_WIDTH, ROOM_HALF_WIDTH, ROOM_HEIGHT])
    for world in worlds:
        for place in (world.camera.position, world.lamp):
            assert (np.abs(place) < corner).all()
            assert place[2] > 0
            assert all(np.linalg.norm(place - body.centre) > body.reach for body in world.bodies)


def test_the_number_of_distractors_follows_the_difficulty(worlds):
    assert {len(world.bodies) - 1 for world in worlds} == {0, 1}
    crowd = Difficulty(min_distractors=1, max_distractors=3)
    counts = [len(_world(seed, crowd).bodies) - 1 for seed in range(NUM_WORLDS)]
    assert max(counts) == 3
    assert np.mean(counts) > 1.5
    alone = _world(3, Difficulty(min_distractors=0, max_distractors=0))
    assert len(alone.bodies) == 1


def test_extreme_difficulty_keeps_the_promises():
    hard = Difficulty(
        min_distractors=12,
        max_distractors=12,
        min_distance=9.0,
        max_distance=9.0,
        min_elevation=0.5,
        max_elevation=85.0,
        min_view=5.0,
        max_view=100.0,
        aim_error=0.3,
        stretch=0.5,
        overlap=1.0,
    )
    for seed in range(20):
        world = _world(seed, hard)
        assert 0 < world.camera.position[2] < ROOM_HEIGHT
        centres = np.stack([body.centre for body in world.bodies], axis=1)
        assert np.hypot(*(world.camera.project(centres) - 32)).argmin() == 0


def test_rotations_are_proper_and_uniform():
    rotations = _draw_rotations(2000, np.random.default_rng(0))
    np.testing.assert_allclose(
        rotations @ rotations.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (2000, 3, 3)), atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.det(rotations), 1, atol=1e-12)
    # Where a uniform rotation takes an axis is uniform on the sphere, so each coordinate is uniform on -1..1.
    for axis in range(3):
        for coordinate in range(3):
            assert stats.kstest(rotations[:, coordinate, axis], stats.uniform(-1, 2).cdf).pvalue > 1e-6


@pytest.mark.parametrize("tilt", [0.0, 15.0, 90.0, 180.0])
def test_poses_lean_by_at_most_the_tilt_and_evenly(tilt):
    poses = _draw_poses(2000, np.random.default_rng(0), tilt=tilt)
    np.testing.assert_allclose(
        poses @ poses.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (2000, 3, 3)), atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.det(poses), 1, atol=1e-12)
    upright, lowest = poses[:, 2, 2], np.cos(np.deg2rad(tilt))
    assert upright.min() >= lowest - 1e-12
    if tilt:
        # The height of a uniform point on a spherical cap is uniform; its compass direction too.
        assert stats.kstest(upright, stats.uniform(lowest, 1 - lowest).cdf).pvalue > 1e-6
        compass = np.arctan2(poses[:, 1, 2], poses[:, 0, 2])
        assert stats.kstest(compass, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-6


def test_the_widest_tilt_is_any_pose():
    poses = _draw_poses(2000, np.random.default_rng(1), tilt=180.0)
    for axis in range(3):
        for coordinate in range(3):
            assert stats.kstest(poses[:, coordinate, axis], stats.uniform(-1, 2).cdf).pvalue > 1e-6
