from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from tests.oracles.scalar_ray import VERTICES
from vitgeom.data.scenes.solids import CLASSES, SOLIDS, Solid, halfspaces

_FACES = {
    "cube": 6,
    "tetrahedron": 4,
    "octahedron": 8,
    "square_pyramid": 5,
    "triangular_prism": 5,
    "hexagonal_prism": 8,
}


def _inside(solid: Solid, points: np.ndarray) -> np.ndarray:
    """Membership [n] by the definition in the docstring of the class."""
    flat = (solid.normals @ points.T <= solid.offsets[:, None] + 1e-12).all(axis=0)
    if solid.quadric is None:
        return flat
    q = solid.quadric
    return flat & ((points**2) @ q.squares + 2 * points @ q.linear + q.constant <= 1e-12)


def test_there_are_ten_classes_with_names_of_their_own():
    assert len(CLASSES) == len(set(CLASSES)) == 10


@pytest.mark.parametrize("name", sorted(VERTICES))
def test_halfspaces_equal_those_of_the_convex_hull(name):
    vertices = np.array(VERTICES[name], dtype=float)
    normals, offsets = halfspaces(vertices)
    assert len(normals) == _FACES[name]
    hull = ConvexHull(vertices).equations  # one row per triangle, n.x + c <= 0
    mine = {tuple(np.round([*n, -o], 9) + 0.0) for n, o in zip(normals, offsets, strict=True)}
    assert mine == {tuple(np.round(row, 9) + 0.0) for row in hull}


@pytest.mark.parametrize("solid", SOLIDS, ids=CLASSES)
def test_support_and_reach_bound_the_body_and_are_reached(solid):
    rng = np.random.default_rng(0)
    points = rng.uniform(-1.6, 1.6, (200_000, 3))
    body = points[_inside(solid, points)]
    assert len(body) > 5_000
    lengths = np.sqrt((body**2).sum(axis=1))
    assert lengths.max() <= solid.reach + 1e-9
    for u in rng.standard_normal((30, 3)):
        u /= np.linalg.norm(u)
        reached = (body @ u).max()
        assert reached <= solid.support(u) + 1e-9
        assert reached >= 0.8 * solid.support(u)  # sharp corners are rarely sampled


@pytest.mark.parametrize("solid", SOLIDS, ids=CLASSES)
def test_support_is_that_of_a_convex_set(solid):
    rng = np.random.default_rng(1)
    for u, v in rng.standard_normal((30, 2, 3)):
        assert solid.support(2.5 * u) == pytest.approx(2.5 * solid.support(u), rel=1e-12)
        assert solid.support(u + v) <= solid.support(u) + solid.support(v) + 1e-12


@pytest.mark.parametrize("solid", SOLIDS, ids=CLASSES)
def test_the_origin_lies_inside(solid):
    assert _inside(solid, np.zeros((1, 3))).all()
    assert not _inside(solid, np.array([[0.0, 0.0, 2.0]])).any()
