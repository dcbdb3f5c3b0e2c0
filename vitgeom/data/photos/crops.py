"""Which crops of a photograph belong to which split: a grid of cells, each cell owned by one split.

A crop lies inside one cell and is cut out before it is resized, so no pixel ever reaches two splits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vitgeom.data.splits import stratified_split
from vitgeom.seeding import derive_seed

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class CropPlan:
    """How crops are drawn; lengths in pixels of the photograph.

    Attributes:
        cells_across: Cells along the shorter side of the photograph, where these are not too small.
        smallest_cell: No cell is made smaller than this.
        smallest_crop: Shortest side of a crop as a share of the shorter side of its cell.
        fractions: Share of the cells that each split owns.
        seed: Decides owners and crops.
    """

    cells_across: int = 5
    smallest_cell: int = 56
    smallest_crop: float = 0.5
    fractions: tuple[tuple[str, float], ...] = (("train", 0.5), ("val", 0.17), ("test", 0.33))
    seed: int = 0


def cells(width: int, height: int, *, plan: CropPlan) -> list[Box]:
    """Cut a photograph into a grid of nearly square cells that cover it without overlap.

    Args:
        width: Of the photograph.
        height: Of the photograph.
        plan: Decides the side of a cell.

    Returns:
        (left, top, right, bottom) of each cell, row by row.
    """
    side = max(plan.smallest_cell, min(width, height) // plan.cells_across)
    columns, rows = width // side, height // side
    lefts = [width * column // columns for column in range(columns + 1)]
    tops = [height * row // rows for row in range(rows + 1)]
    return [(lefts[c], tops[r], lefts[c + 1], tops[r + 1]) for r in range(rows) for c in range(columns)]


def owners(name: str, num_cells: int, *, plan: CropPlan) -> Mapping[str, np.ndarray]:
    """Return split -> numbers of the cells of photograph ``name`` that it owns; disjoint, together all cells."""
    return stratified_split(
        [name] * num_cells, seed=derive_seed(plan.seed, "photos"), fractions=dict(plan.fractions)
    ).rows


def draw_crop(cell: Box, *, generator: np.random.Generator, plan: CropPlan) -> Box:
    """Draw a square inside a cell: side log-uniform between ``smallest_crop`` and the whole cell, then its place.

    Args:
        cell: (left, top, right, bottom).
        generator: The only source of randomness.
        plan: Gives the smallest side.
    """
    left, top, right, bottom = cell
    longest = min(right - left, bottom - top)
    side = round(longest * plan.smallest_crop ** generator.uniform())
    x = int(generator.integers(left, right - side + 1))
    y = int(generator.integers(top, bottom - side + 1))
    return x, y, x + side, y + side
