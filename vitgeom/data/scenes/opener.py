"""``scenes``: rendered scenes whose class is the shape of the central object."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
from PIL import Image

from vitgeom.data.dataset import SPLITS, ImageDataset, Split
from vitgeom.data.reference import Scalar
from vitgeom.data.sample_ids import NumberedIds
from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.rendering import Scene, render_scene, scene_label
from vitgeom.data.scenes.solids import CLASSES
from vitgeom.data.whole_numbers import LARGEST_SIDE, MOST_IMAGES, require_whole

VERSION = 1
_NUM_PROBES = 2


def open_scenes(
    *,
    size: int = 64,
    train: int = 1200,
    val: int = 400,
    test: int = 800,
    seed: int = 0,
    **ranges: Scalar,
) -> ImageDataset:
    """Open rendered scenes; an image is rendered when its row is read, a label costs nothing.

    Args:
        size: Height and width in pixels, 16 .. 16384.
        train: Images in the train split.
        val: Images in the validation split.
        test: Images in the test split.
        seed: Of all three streams.
        **ranges: Fields of ``Difficulty`` that differ from the defaults.

    Raises:
        InvalidInput: A number is not whole, too small or too large, or a range is refused by ``Difficulty``.
        UnknownName: ``Difficulty`` has no such field.
    """
    require_whole("size", size, at_least=16, at_most=LARGEST_SIDE)
    require_whole("seed", seed, at_least=0)
    counts = dict(zip(SPLITS, (train, val, test), strict=True))
    for split, count in counts.items():
        require_whole(split, count, at_least=1, at_most=MOST_IMAGES)
    difficulty = Difficulty.from_options(ranges)
    return ImageDataset(
        name="scenes",
        digest=_digest(counts, size, seed, difficulty),
        classes=CLASSES,
        splits={split: _split(split, count, size, seed, difficulty) for split, count in counts.items()},
        quarantine=(),
        source=f"{sum(counts.values()):,} rendered scenes, {size} x {size}, class = shape of the central object of {len(CLASSES)}",
    )


def scene_stream(
    seed: int, start: int, stop: int, *, size: int = 64, difficulty: Difficulty | None = None
) -> Iterator[Scene]:
    """Yield scenes ``start`` .. ``stop - 1`` of the endless stream for pre-training.

    It shares no scene with the splits of ``open_scenes``, whatever the seeds: its random numbers come from another name.

    Args:
        seed: Of the stream.
        start: First scene.
        stop: One past the last.
        size: Height and width in pixels.
        difficulty: Ranges that scenes are drawn from; None for the defaults.
    """
    for index in range(start, stop):
        yield render_scene(seed, index, stream="pretrain", size=size, difficulty=difficulty)


def _digest(counts: dict[str, int], size: int, seed: int, difficulty: Difficulty) -> str:
    """Hash the parameters and two rendered images per split, so that a changed renderer shows."""
    digest = hashlib.sha256(f"scenes v{VERSION} {counts} size={size} seed={seed}".encode())
    digest.update(repr(sorted(asdict(difficulty).items())).encode())
    for split in SPLITS:
        for index in range(_NUM_PROBES):
            digest.update(
                render_scene(seed, index, stream=split, size=size, difficulty=difficulty).image.tobytes()
            )
    return digest.hexdigest()


def _split(name: str, count: int, size: int, seed: int, difficulty: Difficulty) -> Split:
    def read(row: int) -> Image.Image:
        return Image.fromarray(render_scene(seed, row, stream=name, size=size, difficulty=difficulty).image)

    return Split(
        sample_ids=NumberedIds(f"scene-{name}", count),
        labels=np.array([scene_label(row) for row in range(count)], dtype=np.int64),
        groups=np.full(count, -1, dtype=np.int64),
        read=read,
    )
