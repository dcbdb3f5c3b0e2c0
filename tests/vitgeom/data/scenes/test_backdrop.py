from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.scenes.backdrop import BACKDROPS, draw_backdrop
from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.world import draw_world


def worlds(backdrop):
    world = draw_world(3, generator=np.random.default_rng(0), size=32, difficulty=Difficulty())
    return world, draw_backdrop(world, backdrop, generator=np.random.default_rng(1), scale=1.6)


@pytest.mark.parametrize("backdrop", BACKDROPS, ids=str)
def test_only_the_room_is_replaced(backdrop):
    world, changed = worlds(backdrop)
    for name in ("bodies", "textures", "lamp", "highlights", "camera"):
        assert getattr(changed, name) is getattr(world, name)
    assert changed.floor is not world.floor


@pytest.mark.parametrize("backdrop", BACKDROPS, ids=str)
def test_colours_are_those_of_the_backdrop_within_the_jitter(backdrop):
    _, changed = worlds(backdrop)
    assert np.abs(changed.floor.colours - np.array(backdrop.ground)).max() <= 0.05
    assert np.abs(changed.walls.colours - np.array(backdrop.beyond)).max() <= 0.05
    assert changed.floor.pattern is backdrop.floor


def test_the_floor_repeats_half_as_often_as_objects_do():
    _, changed = worlds(BACKDROPS[0])
    assert np.abs(np.linalg.det(changed.floor.frame)) == pytest.approx(0.8**3)
