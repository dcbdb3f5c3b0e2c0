"""Small look-alikes of the CIFAR-C files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

COUNT = 4
"""Images per severity."""


def write_arrays(folder: Path, *, num_classes: int = 3, side: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Write ``fog.npy`` and ``labels.npy``; return the images [5 n, H, W, 3] and labels [5 n]."""
    images = np.random.default_rng(0).integers(0, 256, size=(5 * COUNT, side, side, 3), dtype=np.uint8)
    labels = np.tile(np.arange(COUNT) % num_classes, 5)
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "fog.npy", images)
    np.save(folder / "labels.npy", labels)
    return images, labels
