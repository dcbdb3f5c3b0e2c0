"""``digits``: 1,797 handwritten digits of 13 writers, 8 x 8 pixels, as stored in scikit-learn.

Source: E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998 (its test part).
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from PIL import Image

from vitgeom.data.dataset import SPLITS, ImageDataset, Split
from vitgeom.data.packaged_file import packaged_file
from vitgeom.data.splits import stratified_split
from vitgeom.data.whole_numbers import LARGEST_SIDE, require_whole
from vitgeom.seeding import derive_seed

VERSION = 2
_FILE = ("datasets", "data", "digits.csv.gz")
_SPLIT_SEED = derive_seed(0, "digits")

FRACTIONS = {"train": 1 / 9, "val": 2 / 9, "test": 6 / 9}
"""About 20 labelled images per class: with more, probes of a small backbone leave too few errors to study."""


def open_digits(*, size: int = 64) -> ImageDataset:
    """Open the digits, enlarged by bicubic interpolation to RGB images with three equal channels.

    The split is stratified (1/9 train, 2/9 val, 6/9 test) and the same in every run. Rows of one writer are not marked in the source, so a
    writer may appear in several splits.

    Args:
        size: Height and width in pixels, 8 .. 16384.

    Raises:
        InvalidInput: ``size`` is not a whole number in these bounds.
    """
    require_whole("size", size, at_least=8, at_most=LARGEST_SIDE)
    pixels, labels = _measured()
    rows = stratified_split(labels, seed=_SPLIT_SEED, fractions=FRACTIONS).rows
    digest = hashlib.sha256(f"digits v{VERSION} size={size}".encode())
    for part in (pixels, labels, *(rows[split] for split in SPLITS)):
        digest.update(np.ascontiguousarray(part).tobytes())
    return ImageDataset(
        name="digits",
        digest=digest.hexdigest(),
        classes=tuple(str(digit) for digit in range(10)),
        splits={split: _split(pixels, labels, rows[split], size) for split in SPLITS},
        quarantine=(),
        source=f"1,797 handwritten digits (scikit-learn), 8 x 8 enlarged to {size} x {size}, stratified 1/9, 2/9, 6/9",
    )


@lru_cache(maxsize=1)
def _measured() -> tuple[np.ndarray, np.ndarray]:
    """Return grey levels uint8 [n, 8, 8] (0..16 in the source, scaled to 0..255) and labels int64 [n]."""
    rows = np.loadtxt(packaged_file("sklearn", *_FILE), delimiter=",", dtype=np.int64)
    pixels, labels = rows[:, :-1].reshape(-1, 8, 8), rows[:, -1]
    return np.rint(pixels * (255 / 16)).astype(np.uint8), labels


def _split(pixels: np.ndarray, labels: np.ndarray, rows: np.ndarray, size: int) -> Split:
    def read(row: int) -> Image.Image:
        small = Image.fromarray(pixels[rows[row]])
        return small.resize((size, size), Image.Resampling.BICUBIC).convert("RGB")

    return Split(
        sample_ids=[f"digit-{row:04d}" for row in rows],
        labels=labels[rows],
        groups=np.full(len(rows), -1, dtype=np.int64),
        read=read,
    )
