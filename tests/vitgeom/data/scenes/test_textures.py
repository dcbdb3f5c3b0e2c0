from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.scenes.textures import PATTERNS, Texture, checker, plain, spots, stripes

POINTS = np.random.default_rng(0).uniform(-6, 6, (3, 4000))


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_weights_stay_between_the_two_colours_and_use_both(pattern):
    weights = pattern(POINTS)
    assert weights.min() >= 0
    assert weights.max() <= 1
    if pattern is not plain:
        assert 0.1 < weights.mean() < 0.9
        assert weights.std() > 0.2


@pytest.mark.parametrize(
    ("pattern", "shift"),
    [(checker, [2, 0, 0]), (checker, [1, 1, 0]), (stripes, [2, 7.3, -1]), (spots, [1, 0, -3])],
)
def test_regular_patterns_repeat(pattern, shift):
    np.testing.assert_allclose(pattern(POINTS + np.array(shift)[:, None]), pattern(POINTS), atol=1e-9)


def test_checker_equals_counting_cells_one_by_one():
    expected = [(int(np.floor(x)) + int(np.floor(y)) + int(np.floor(z))) % 2 for x, y, z in POINTS.T]
    np.testing.assert_array_equal(checker(POINTS), expected)


def test_a_texture_mixes_its_colours_in_its_own_frame():
    colours = np.array([[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]])
    texture = Texture(checker, 2 * np.eye(3), np.array([0.25, 0.0, 0.0]), colours)
    points = np.array([[0.1, 0.4], [0.1, 0.1], [0.1, 0.1]])  # 2 x + 0.25 = 0.45 and 1.05
    np.testing.assert_allclose(texture.at(points), colours.T)
