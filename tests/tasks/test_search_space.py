"""The plan of a sweep: all combinations in order, samples of them, and spaces that are refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.search_space import combinations
from vitgeom.errors import InvalidInput, UnknownName

SPACE = {"hidden_dim": (0, 8), "orth_weight": (0.0, 0.5), "selection": ("holistic", (0, 2))}


def plan(space: dict[str, Any], num_samples: int | None = None, seed: int = 0) -> list[dict[str, Any]]:
    return combinations(space, num_samples=num_samples, num_layers=3, seed=seed)


def test_the_grid_holds_every_combination_once_the_last_parameter_changing_fastest() -> None:
    found = plan(SPACE)
    assert len(found) == 8
    assert found[:3] == [
        {"selection": "holistic", "orth_weight": 0.0, "hidden_dim": 0},
        {"selection": "holistic", "orth_weight": 0.0, "hidden_dim": 8},
        {"selection": "holistic", "orth_weight": 0.5, "hidden_dim": 0},
    ]


def test_a_sample_is_a_part_of_the_grid_in_order_and_depends_on_the_seed() -> None:
    grid, samples = plan(SPACE), [plan(SPACE, 3, seed) for seed in range(6)]
    for found in samples:
        places = [grid.index(one) for one in found]
        assert places == sorted(set(places))
        assert len(places) == 3
    assert any(found != samples[0] for found in samples)
    assert plan(SPACE, 3) == samples[0]
    assert plan(SPACE, 99) == grid


@pytest.mark.parametrize(
    ("space", "kind", "message"),
    [
        ({}, InvalidInput, "space must name at least 1 parameter"),
        (
            {"latent_dims": (4,)},
            UnknownName,
            "unknown parameter of the sweep 'latent_dims'. Did you mean 'latent_dim'?",
        ),
        ({"latent_dim": ()}, InvalidInput, "latent_dim must list at least 1 value"),
        ({"hidden_dim": (4, 8, 4)}, InvalidInput, "hidden_dim must list each value once, got 4 twice"),
        ({"orth_weight": (0.1, -1.0)}, InvalidInput, "orth_weight must be a number in"),
        ({"selection": ("holistik",)}, UnknownName, "Did you mean 'holistic'?"),
        ({"selection": ((0, 3),)}, InvalidInput, "selection must hold layers 0..2"),
        ({"layer_scaling": ("qualtiy",)}, UnknownName, "Did you mean 'quality'?"),
    ],
)
def test_a_space_that_cannot_be_used_is_refused_by_name(
    space: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as refused:
        plan(space)
    assert message in str(refused.value)
