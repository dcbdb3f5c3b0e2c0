"""``photos``: the class is the photograph that a crop comes from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from PIL import Image

from vitgeom.data.dataset import SPLITS, ImageDataset, Split
from vitgeom.data.photos.crops import Box, CropPlan, cells, draw_crop, owners
from vitgeom.data.photos.photographs import (
    PHOTOGRAPHS,
    load_photograph,
    photograph_digests,
    photograph_size,
)
from vitgeom.data.whole_numbers import LARGEST_SIDE, require_whole
from vitgeom.seeding import derive_seed

VERSION = 1


@dataclass(frozen=True)
class _Crop:
    label: int
    group: int
    sample_id: str
    box: Box


def open_photos(*, size: int = 64, train: int = 160, val: int = 20, test: int = 40) -> ImageDataset:
    """Open square crops of real photographs at several scales, resized to RGB.

    The splits own disjoint regions of every photograph (see ``crops``), so a test crop shows parts that were never
    trained on. The group of a row is the cell it was cut from. Nothing is decoded before a row is read.

    Args:
        size: Height and width in pixels, 8 .. 16384.
        train: Train crops per photograph.
        val: Validation crops per photograph.
        test: Test crops per photograph.

    Raises:
        InvalidInput: A number is not whole, too small or too large, or a package with photographs is not installed.
    """
    require_whole("size", size, at_least=8, at_most=LARGEST_SIDE)
    counts = dict(zip(SPLITS, (train, val, test), strict=True))
    for split, count in counts.items():
        require_whole(split, count, at_least=1)
    plan = CropPlan()
    crops = _draw_all(counts, plan)
    total = sum(len(rows) for rows in crops.values())
    return ImageDataset(
        name="photos",
        digest=_digest(crops, size),
        classes=tuple(item.name for item in PHOTOGRAPHS),
        splits={split: _split(crops[split], size) for split in SPLITS},
        quarantine=(),
        source=f"{total:,} crops of {len(PHOTOGRAPHS)} photographs (scikit-image, scikit-learn), regions disjoint between splits",
    )


def _draw_all(counts: Mapping[str, int], plan: CropPlan) -> dict[str, list[_Crop]]:
    crops: dict[str, list[_Crop]] = {split: [] for split in counts}
    first_cell = 0
    for label, item in enumerate(PHOTOGRAPHS):
        grid = cells(*photograph_size(item), plan=plan)
        owned = owners(item.name, len(grid), plan=plan)
        for split, count in counts.items():
            generator = np.random.default_rng(derive_seed(plan.seed, "photos", item.name, split))
            for row in range(count):
                cell = int(owned[split][row % len(owned[split])])
                box = draw_crop(grid[cell], generator=generator, plan=plan)
                crops[split].append(_Crop(label, first_cell + cell, f"{item.name}-{split}-{row:04d}", box))
        first_cell += len(grid)
    return crops


def _digest(crops: Mapping[str, list[_Crop]], size: int) -> str:
    content = [f"photos v{VERSION} size={size}", *photograph_digests().values()]
    content += [f"{split} {crop.label} {crop.box}" for split in SPLITS for crop in crops[split]]
    return hashlib.sha256("\n".join(content).encode()).hexdigest()


def _split(crops: list[_Crop], size: int) -> Split:
    def read(row: int) -> Image.Image:
        crop = crops[row]
        part = load_photograph(PHOTOGRAPHS[crop.label]).crop(crop.box)
        return part.resize((size, size), Image.Resampling.BICUBIC)

    return Split(
        sample_ids=[crop.sample_id for crop in crops],
        labels=np.array([crop.label for crop in crops], dtype=np.int64),
        groups=np.array([crop.group for crop in crops], dtype=np.int64),
        read=read,
    )
