"""Pictures of the embedded datasets for tests of what is done to pictures."""

from __future__ import annotations

import numpy as np
from PIL import Image

from vitgeom.data import DatasetRef, open_dataset

EMBEDDED = ("digits", "photos", "scenes")


def embedded_pictures(name: str, count: int) -> list[Image.Image]:
    """Return test images of a dataset, spread over the split."""
    split = open_dataset(DatasetRef(name)).splits["test"]
    return [split.read(int(row)) for row in np.linspace(0, len(split) - 1, count)]


def difference(first: Image.Image, second: Image.Image) -> float:
    """Return the root mean square difference of two images of one size, in grey levels."""
    one, two = (np.asarray(image, dtype=np.float64) for image in (first, second))
    return float(np.sqrt(np.mean((one - two) ** 2)))
