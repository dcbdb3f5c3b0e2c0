from __future__ import annotations

import dataclasses

import pytest

from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.errors import InvalidInput


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": -1.0}, "difficulty 'noise' must be >= 0, got -1.0"),
        ({"min_distractors": 5}, "'min_distractors' must be <= 'max_distractors'"),
        ({"min_distance": 1.0}, "between 2.5 and 9 units"),
        ({"min_elevation": 0.0}, "above the floor"),
        ({"max_view": 120.0}, "views must lie in 5..100 degrees"),
        ({"overlap": 1.5}, "'overlap' <= 1"),
        ({"tilt": 181.0}, "'tilt' must be <= 180 degrees"),
        ({"stretch": 0.9}, "'stretch' must be <= 0.5"),
        ({"noise": float("nan")}, "difficulty 'noise' must be >= 0, got nan"),
    ],
)
def test_ranges_that_make_no_scene_are_refused(change, message):
    with pytest.raises(InvalidInput, match=message):
        Difficulty(**change)


def test_values_from_outside_are_converted_to_the_type_of_their_field():
    given = Difficulty.from_options({"noise": 3, "max_distractors": 4.0})
    assert given == Difficulty(noise=3.0, max_distractors=4)
    assert (type(given.noise), type(given.max_distractors)) == (float, int)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": "loud"}, "difficulty 'noise' must be a number, got 'loud'"),
        ({"noise": float("inf")}, "difficulty 'noise' must be a number, got inf"),
        ({"noise": True}, "difficulty 'noise' must be a number, got True"),
        ({"max_distractors": 2.5}, "difficulty 'max_distractors' must be a whole number, got 2.5"),
        ({"nois": 1.0}, "Did you mean 'noise'"),
    ],
)
def test_values_from_outside_are_checked(options, message):
    with pytest.raises(InvalidInput, match=message):
        Difficulty.from_options(options)


def test_it_is_frozen_and_compares_by_value():
    assert Difficulty(noise=2.0) == dataclasses.replace(Difficulty(), noise=2.0) != Difficulty()
    with pytest.raises(dataclasses.FrozenInstanceError):
        Difficulty().noise = 3.0  # type: ignore[misc]


def test_a_range_of_one_value_is_legal():
    assert (
        Difficulty(min_distractors=0, max_distractors=0, min_distance=5.0, max_distance=5.0).max_distractors
        == 0
    )
