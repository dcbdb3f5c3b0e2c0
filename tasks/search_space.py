"""The trials of a sweep: every combination of a few values per parameter, or a sample of them. Pure arithmetic.

Numbered in the order of the lists, the last parameter changing fastest, so that equal requests mean equal trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import torch

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.fusion.selection import select_layers
from vitgeom.fusion.vfusion import VFusionClassifier
from vitgeom.fusion.vfusion_settings import checked_settings
from vitgeom.seeding import generator_for

PARAMETERS = ("selection", "layer_scaling", "latent_dim", "orth_weight", "hidden_dim")
Parameters = dict[str, Any]


def combinations(
    space: Mapping[str, Sequence[Any]], *, num_samples: int | None, num_layers: int, seed: int
) -> list[Parameters]:
    """Return the parameters of each trial, in order.

    Args:
        space: Values per parameter; what is left out keeps VFusion's default.
        num_samples: Only so many combinations, drawn without repetition and kept in order; None for all.
        num_layers: L of the features, which selections must fit.
        seed: Decides the draw.

    Raises:
        UnknownName: No such parameter, selection or kind of scaling.
        InvalidInput: No value, the same value twice, or one that VFusion cannot use.
    """
    _check(space, num_layers=num_layers)
    names = [name for name in PARAMETERS if name in space]
    grid = [dict(zip(names, values, strict=True)) for values in product(*(space[name] for name in names))]
    if num_samples is None or num_samples >= len(grid):
        return grid
    drawn = torch.randperm(len(grid), generator=generator_for(seed, "sweep"))[:num_samples]
    return [grid[place] for place in sorted(drawn.tolist())]


def _check(space: Mapping[str, Sequence[Any]], *, num_layers: int) -> None:
    if not space:
        raise InvalidInput(f"space must name at least 1 parameter of {', '.join(PARAMETERS)}, got none.")
    for name, values in space.items():
        if name not in PARAMETERS:
            raise UnknownName("parameter of the sweep", name, PARAMETERS)
        if not values:
            raise InvalidInput(
                f"space: {name} must list at least 1 value, got an empty list. Leave {name} out to keep VFusion's default."
            )
        twice = [value for place, value in enumerate(values) if value in values[:place]]
        if twice:
            raise InvalidInput(f"space: {name} must list each value once, got {twice[0]!r} twice.")
        for value in values:
            checked_settings(VFusionClassifier(**{name: value}))
            if name == "selection":
                select_layers(value, num_layers=num_layers)
