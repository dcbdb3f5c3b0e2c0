"""``spurious_scenes``: rendered scenes whose background goes with the class in training and not in the test.

After S. Sagawa et al., Distributionally Robust Neural Networks, ICLR 2020 (Waterbirds), with solids for birds: the class is whether the
central solid is round or angular, the background a meadow or a sea. In train and val most round solids lie on the meadow and most angular
ones on the sea; in the test each class is shared equally. A classifier that reads the background fails on the two rare groups.
"""

from __future__ import annotations

import hashlib

import numpy as np
from PIL import Image

from vitgeom.data.dataset import SPLITS, ImageDataset, Split
from vitgeom.data.sample_ids import NumberedIds
from vitgeom.data.scenes.backdrop import BACKDROPS, draw_backdrop
from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.rendering import render_world
from vitgeom.data.scenes.solids import SOLIDS
from vitgeom.data.scenes.world import draw_world
from vitgeom.data.whole_numbers import LARGEST_SIDE, MOST_IMAGES, require_whole
from vitgeom.errors import InvalidInput
from vitgeom.seeding import derive_seed

VERSION = 1
CLASSES = ("round", "angular")
SUBPOPULATIONS = tuple(f"{shape} on {place}" for shape in CLASSES for place in BACKDROPS)
"""Group = 2 class + background; the usual backgrounds are 0 for class 0 and 1 for class 1."""
_SOLIDS_OF = tuple(
    tuple(number for number, solid in enumerate(SOLIDS) if (solid.quadric is None) == angular)
    for angular in (False, True)
)
_NUM_PROBES = 2


def open_spurious_scenes(
    *,
    size: int = 64,
    train: int = 1200,
    val: int = 400,
    test: int = 800,
    agreement: float = 0.95,
    seed: int = 0,
) -> ImageDataset:
    """Open scenes with a misleading background; an image is rendered when its row is read, a label costs nothing.

    Args:
        size: Height and width in pixels, 16 .. 16384.
        train: Images in the train split.
        val: Images in the validation split.
        test: Images in the test split, where either background is as frequent with either class.
        agreement: Share of train and val where the background is the usual one of the class, 0.5 .. 1.
        seed: Of all three splits.

    Raises:
        InvalidInput: A number is not whole, too small or too large.
    """
    require_whole("size", size, at_least=16, at_most=LARGEST_SIDE)
    require_whole("seed", seed, at_least=0)
    counts = dict(zip(SPLITS, (train, val, test), strict=True))
    for split, count in counts.items():
        require_whole(split, count, at_least=2, at_most=MOST_IMAGES)
    if not 0.5 <= agreement <= 1:
        raise InvalidInput(f"option 'agreement' must lie in 0.5 .. 1, got {agreement!r}. 0.95 is usual.")
    shares = {"train": agreement, "val": agreement, "test": 0.5}
    return ImageDataset(
        name="spurious_scenes",
        digest=_digest(counts, shares, size, seed),
        classes=CLASSES,
        splits={split: _split(split, count, shares[split], size, seed) for split, count in counts.items()},
        quarantine=(),
        source=f"{sum(counts.values())} rendered scenes, {size} x {size}, background agrees with the class in {agreement:.0%} of train and val",
        subpopulations=SUBPOPULATIONS,
    )


def group_of(row: int, *, agreement: float) -> int:
    """Return the group of a row: classes take turns, and each class meets its unusual background at even distances.

    Args:
        row: Of the split.
        agreement: Share of the usual background.
    """
    number, label = divmod(row, 2)
    usual = _num_usual(number + 1, agreement) > _num_usual(number, agreement)
    return 2 * label + (label if usual else 1 - label)


def solid_of(row: int, *, agreement: float) -> int:
    """Return the number of the solid in the centre: inside a group the solids of the class take turns.

    So each solid is as frequent on either background of the test, and no solid gives its background away.

    Args:
        row: Of the split.
        agreement: Share of the usual background.
    """
    number, label = divmod(row, 2)
    usual = _num_usual(number, agreement)
    before = usual if group_of(row, agreement=agreement) % 2 == label else number - usual
    return _SOLIDS_OF[label][before % len(_SOLIDS_OF[label])]


def _num_usual(count: int, agreement: float) -> int:
    """Return how many of the first ``count`` images of a class have the usual background."""
    return int(count * agreement + 1e-9)


def render_row(row: int, *, split: str, agreement: float, size: int, seed: int) -> Image.Image:
    """Render one image; it depends on the arguments alone.

    Args:
        row: Of the split.
        split: Names the stream of random numbers.
        agreement: Share of the usual background.
        size: Height and width in pixels.
        seed: Of the split.
    """
    place, solid = group_of(row, agreement=agreement) % 2, solid_of(row, agreement=agreement)
    generator = np.random.default_rng(derive_seed(seed, "spurious scenes", split, row))
    difficulty = Difficulty()
    world = draw_world(solid, generator=generator, size=size, difficulty=difficulty)
    world = draw_backdrop(world, BACKDROPS[place], generator=generator, scale=difficulty.texture_scale)
    scene = render_world(world, label=solid, generator=generator, size=size, difficulty=difficulty)
    return Image.fromarray(scene.image)


def _digest(counts: dict[str, int], shares: dict[str, float], size: int, seed: int) -> str:
    """Hash the parameters and two rendered images per split, so that a changed renderer shows."""
    digest = hashlib.sha256(f"spurious_scenes v{VERSION} {counts} {shares} size={size} seed={seed}".encode())
    for split in SPLITS:
        for row in range(_NUM_PROBES):
            image = render_row(row, split=split, agreement=shares[split], size=size, seed=seed)
            digest.update(image.tobytes())
    return digest.hexdigest()


def _split(name: str, count: int, agreement: float, size: int, seed: int) -> Split:
    def read(row: int) -> Image.Image:
        return render_row(row, split=name, agreement=agreement, size=size, seed=seed)

    groups = np.array([group_of(row, agreement=agreement) for row in range(count)], dtype=np.int64)
    return Split(
        sample_ids=NumberedIds(f"spurious-{name}", count), labels=groups // 2, groups=groups, read=read
    )
