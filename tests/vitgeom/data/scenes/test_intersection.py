from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.scalar_ray import hit_scalar
from vitgeom.data.scenes.intersection import Body, intersect, near
from vitgeom.data.scenes.solids import CLASSES, SOLIDS
from vitgeom.data.scenes.world import _draw_rotations

by_solid = pytest.mark.parametrize("solid", SOLIDS, ids=CLASSES)


def _body(solid, seed: int = 0) -> Body:
    rng = np.random.default_rng(seed)
    return Body(solid, rng.uniform(-1, 1, 3), _draw_rotations(1, rng)[0], rng.uniform(0.7, 1.4, 3))


def _rays(body: Body, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rays from one point outside towards the body and around it."""
    rng = np.random.default_rng(seed)
    away = rng.standard_normal(3)
    origin = body.centre + 4 * away / np.linalg.norm(away)
    targets = body.centre[:, None] + rng.uniform(-1.7, 1.7, (3, count))
    return origin, (targets - origin[:, None]) * rng.uniform(0.2, 3.0, count)


@by_solid
def test_first_hit_equals_the_scalar_oracle(solid):
    hits = 0
    for seed in range(4):
        body = _body(solid, seed)
        origin, directions = _rays(body, 80, seed)
        enter, leave, _ = intersect(body, origin, directions)
        for k in range(directions.shape[1]):
            expected = hit_scalar(body, origin, directions[:, k])
            if expected is None:
                assert enter[k] > leave[k] - 1e-9
            else:
                assert enter[k] == pytest.approx(expected, rel=1e-9)
                hits += 1
    assert 60 < hits < 315


@by_solid
def test_both_crossings_lie_on_the_surface_and_the_middle_inside(solid):
    body = _body(solid)
    origin, directions = _rays(body, 400)
    enter, leave, _ = intersect(body, origin, directions)
    hit = np.flatnonzero(enter < leave)
    enter, leave, directions = enter[hit], leave[hit], directions[:, hit]
    for s, sign in ((enter, 0), (leave, 0), ((enter + leave) / 2, -1), (enter - 0.01, 1), (leave + 0.01, 1)):
        local = body.to_local(origin[:, None] + s * directions)
        bounds = solid.normals @ local - solid.offsets[:, None]
        if solid.quadric is not None:
            q = solid.quadric
            curve = q.squares @ local**2 + 2 * q.linear @ local + q.constant
            bounds = np.concatenate([bounds, curve[None]])
        worst = bounds.max(axis=0)
        assert np.abs(worst).max() < 1e-9 if sign == 0 else (sign * worst > 0).all()


@by_solid
def test_normals_are_unit_face_the_ray_and_match_the_slope_of_the_surface(solid):
    body = _body(solid)
    origin, directions = _rays(body, 400)
    enter, leave, faces = intersect(body, origin, directions)
    hit = np.flatnonzero(enter < leave)
    points = origin[:, None] + enter[hit] * directions[:, hit]
    normals = body.normals(points, faces[hit])
    np.testing.assert_allclose((normals**2).sum(axis=0), 1, atol=1e-12)
    assert ((normals * directions[:, hit]).sum(axis=0) < 1e-9).all()
    # A supporting plane: on a convex body no other surface point lies beyond the tangent plane.
    beyond = (normals[:, :, None] * (points[:, None, :] - points[:, :, None])).sum(axis=0)
    assert beyond.max() < 1e-9


@by_solid
def test_support_is_reached_by_no_ray_and_nearly_reached_by_some(solid):
    body = _body(solid)
    origin, directions = _rays(body, 3000)
    enter, leave, _ = intersect(body, origin, directions)
    hit = enter < leave
    points = origin[:, None] + enter[hit] * directions[:, hit]
    towards = (origin - body.centre) / np.linalg.norm(origin - body.centre)
    heights = towards @ points
    assert body.support(towards) - 0.1 < heights.max() <= body.support(towards) + 1e-9


@by_solid
def test_the_cull_keeps_every_ray_that_hits(solid):
    body = _body(solid)
    origin, directions = _rays(body, 2000)
    enter, leave, _ = intersect(body, origin, directions)
    kept = near(body, origin, directions, (directions**2).sum(axis=0))
    hit = np.flatnonzero((enter <= leave) & (enter > 0))
    assert set(hit) <= set(kept)
    assert len(kept) < 2000
    behind = near(body, origin, -directions, (directions**2).sum(axis=0))
    assert len(behind) == 0


@pytest.mark.parametrize("name", ["cube", "cylinder", "cone", "hexagonal_prism"])
def test_rays_along_a_face_or_an_axis_are_no_special_case(name):
    solid = SOLIDS[CLASSES.index(name)]
    body = Body(solid, np.zeros(3), np.eye(3), np.ones(3))
    down = np.array([[0.0], [0.0], [-1.0]])
    for x in (0.0, 0.25, 5.0):
        origin = np.array([x, 0.1, 3.0])
        enter, leave, _ = intersect(body, origin, down)
        expected = hit_scalar(body, origin, down[:, 0])
        assert (enter[0] > leave[0]) if expected is None else enter[0] == pytest.approx(expected, rel=1e-9)


def test_no_rays_give_no_hits():
    enter, leave, faces = intersect(_body(SOLIDS[3]), np.full(3, 5.0), np.zeros((3, 0)))
    assert enter.shape == leave.shape == faces.shape == (0,)
