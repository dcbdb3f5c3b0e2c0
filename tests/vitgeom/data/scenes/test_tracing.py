from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles.scalar_ray import hit_scalar, trace_scalar
from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.intersection import Body
from vitgeom.data.scenes.solids import CLASSES, SOLIDS
from vitgeom.data.scenes.textures import Texture, plain
from vitgeom.data.scenes.tracing import colours, trace
from vitgeom.data.scenes.world import ROOM_HALF_WIDTH, ROOM_HEIGHT, World, draw_world

DIFFICULTY = Difficulty()
GREY = Texture(plain, np.eye(3), np.zeros(3), np.full((2, 3), 0.5))


def _world(seed: int) -> World:
    return draw_world(seed % 10, generator=np.random.default_rng(seed), size=64, difficulty=DIFFICULTY)


def _sphere_world() -> World:
    """A grey ball of radius 0.9 under a lamp straight above it, in a grey room."""
    ball = Body(SOLIDS[0], np.array([0.0, 0.0, 0.9]), np.eye(3), np.ones(3))
    lamp, none = np.array([0.0, 0.0, 9.0]), np.zeros(1)
    return replace(
        _world(0), bodies=(ball,), textures=(GREY,), floor=GREY, walls=GREY, lamp=lamp, highlights=none
    )


@pytest.mark.parametrize("seed", range(10))
def test_depth_and_instance_equal_the_scalar_oracle(seed):
    world = _world(seed)
    camera = world.camera
    directions = camera.directions(camera.pixel_centres()[:, seed::61])
    hits = trace(world, camera.position, directions)
    for k in range(directions.shape[1]):
        distance, instance = trace_scalar(world, camera.position, directions[:, k])
        assert hits.distance[k] == pytest.approx(distance, rel=1e-9)
        assert hits.instances[k] == instance


def test_every_ray_ends_on_a_wall_or_a_body():
    world = _world(1)
    directions = np.random.default_rng(0).standard_normal((3, 500))
    hits = trace(world, world.camera.position, directions)
    room = hits.instances == 0
    gaps = [ROOM_HALF_WIDTH - np.abs(hits.points[0]), ROOM_HALF_WIDTH - np.abs(hits.points[1])]
    gaps += [hits.points[2], ROOM_HEIGHT - hits.points[2]]
    assert np.abs(np.min(gaps, axis=0)[room]).max() < 1e-9
    np.testing.assert_allclose(
        hits.points, world.camera.position[:, None] + hits.distance * directions, atol=1e-12
    )
    assert ((hits.normals * directions).sum(axis=0) <= 0).all()


def test_rays_along_the_axes_of_the_room_are_no_special_case():
    world = _sphere_world()
    axes = np.concatenate([np.eye(3), -np.eye(3)], axis=1)
    hits = trace(world, np.array([0.0, 0.0, 5.0]), axes)
    np.testing.assert_allclose(hits.distance, [14, 14, 7, 14, 14, 3.2])
    np.testing.assert_allclose(hits.normals, -axes, atol=1e-12)


def test_light_on_a_matt_ball_follows_the_cosine():
    world = _sphere_world()
    viewer = np.array([3.0, 0.0, 6.0])
    hits = trace(
        world,
        viewer,
        world.bodies[0].centre[:, None]
        + np.random.default_rng(0).uniform(-0.5, 0.5, (3, 200))
        - viewer[:, None],
    )
    assert (hits.instances == 1).all()
    light = colours(world, hits, viewer, difficulty=DIFFICULTY)
    for k in range(200):
        to_lamp = world.lamp - hits.points[:, k]
        cosine = max(float(hits.normals[:, k] @ to_lamp) / np.linalg.norm(to_lamp), 0.0)
        ambient = DIFFICULTY.ambient * (0.75 + 0.25 * hits.normals[2, k])
        np.testing.assert_allclose(
            light[:, k], 0.5 * (ambient + (1 - DIFFICULTY.ambient) * cosine), rtol=1e-9
        )


def test_a_highlight_is_brightest_where_the_lamp_is_mirrored():
    world = replace(_sphere_world(), highlights=np.array([0.4]))
    viewer = np.array([0.0, 0.0, 8.0])
    grid = np.random.default_rng(0).uniform(-0.6, 0.6, (2, 300))
    hits = trace(world, viewer, np.concatenate([grid, np.full((1, 300), -7.1)]))
    extra = (
        colours(world, hits, viewer, difficulty=DIFFICULTY)
        - colours(_sphere_world(), hits, viewer, difficulty=DIFFICULTY)
    )[0]
    assert extra.argmax() == np.hypot(*grid).argmin()
    assert 0.35 < extra.max() <= 0.4
    assert extra.min() >= 0


@pytest.mark.parametrize("seed", range(6))
def test_shadows_equal_asking_for_every_point_whether_the_lamp_is_hidden(seed):
    world = _world(seed)
    dark = replace(DIFFICULTY, ambient=0.0)
    camera = world.camera
    hits = trace(world, camera.position, camera.directions(camera.pixel_centres()[:, seed::37]))
    white = Texture(plain, np.eye(3), np.zeros(3), np.ones((2, 3)))
    world = replace(
        world,
        textures=(white,) * len(world.bodies),
        floor=white,
        walls=white,
        highlights=np.zeros(len(world.bodies)),
    )
    light = colours(world, hits, camera.position, difficulty=dark)[0]
    shaded = 0
    for k, instance in enumerate(hits.instances):
        start = hits.points[:, k] + 1e-7 * hits.normals[:, k]
        towards = world.lamp - start
        cosine = float(hits.normals[:, k] @ towards) / np.linalg.norm(towards)
        if cosine < 1e-6:
            continue
        blocked = [
            hit_scalar(body, start, towards) for n, body in enumerate(world.bodies, 1) if n != instance
        ]
        hidden = any(s is not None and s < 1 for s in blocked)
        shaded += hidden
        assert light[k] == pytest.approx(0.0 if hidden else cosine, abs=1e-5)
    assert shaded > 0


@pytest.mark.parametrize("solid", SOLIDS, ids=CLASSES)
def test_a_convex_body_never_shades_a_point_of_its_own_that_faces_the_lamp(solid):
    body = Body(solid, np.array([0.2, -0.1, 1.5]), np.eye(3), np.array([1.1, 0.9, 1.0]))
    lamp = np.array([1.0, 2.0, 8.0])
    origin = np.array([2.0, 4.0, 5.0])
    directions = body.centre[:, None] + np.random.default_rng(0).uniform(-1, 1, (3, 100)) - origin[:, None]
    world = replace(_sphere_world(), bodies=(body,), lamp=lamp)
    hits = trace(world, origin, directions)
    for k in np.flatnonzero(hits.instances == 1):
        start = hits.points[:, k] + 1e-7 * hits.normals[:, k]
        if hits.normals[:, k] @ (lamp - start) > 1e-6:
            assert hit_scalar(body, start, lamp - start) is None
