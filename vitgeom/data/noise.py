"""``noise``: images without any content, made on the fly, for tests and memory measurements."""

from __future__ import annotations

import hashlib

import numpy as np
from PIL import Image

from vitgeom.data.dataset import SPLITS, ImageDataset, Split
from vitgeom.data.sample_ids import NumberedIds
from vitgeom.data.whole_numbers import LARGEST_SIDE, MOST_CLASSES, MOST_IMAGES, require_whole
from vitgeom.seeding import derive_seed

VERSION = 1


def open_noise(*, n: int = 1000, classes: int = 10, size: int = 64, seed: int = 0) -> ImageDataset:
    """Open ``n`` images of independent uniform pixels; the label says nothing about them.

    A fifth of the images is val and a fifth is test. Memory is two int64 per image; no image is kept.

    Args:
        n: Images in all splits together, 5 .. 100 million.
        classes: Number of labels, 2 .. 1 million; row i has label ``i mod classes``.
        size: Height and width in pixels, 1 .. 16384.
        seed: Decides the pixels.

    Raises:
        InvalidInput: A number is not whole, too small or too large.
    """
    require_whole("n", n, at_least=5, at_most=MOST_IMAGES)
    require_whole("classes", classes, at_least=2, at_most=MOST_CLASSES)
    require_whole("size", size, at_least=1, at_most=LARGEST_SIDE)
    require_whole("seed", seed, at_least=0)
    fifth = n // 5
    counts = dict(zip(SPLITS, (n - 2 * fifth, fifth, fifth), strict=True))
    description = f"noise v{VERSION} n={n} classes={classes} size={size} seed={seed}"
    return ImageDataset(
        name="noise",
        digest=hashlib.sha256(description.encode()).hexdigest(),
        classes=tuple(str(label) for label in range(classes)),
        splits={split: _split(split, count, classes, size, seed) for split, count in counts.items()},
        quarantine=(),
        source=f"{n:,} images of uniform noise, {size} x {size}, made on the fly",
    )


def _split(name: str, count: int, classes: int, size: int, seed: int) -> Split:
    def read(row: int) -> Image.Image:
        generator = np.random.default_rng(derive_seed(seed, "noise", name, row))
        return Image.fromarray(generator.integers(0, 256, size=(size, size, 3), dtype=np.uint8))

    return Split(
        sample_ids=NumberedIds(f"noise-{name}", count),
        labels=np.arange(count, dtype=np.int64) % classes,
        groups=np.full(count, -1, dtype=np.int64),
        read=read,
    )
