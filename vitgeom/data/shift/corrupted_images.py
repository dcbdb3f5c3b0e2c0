"""``corrupted``: the test split of any dataset, damaged on the fly."""

from __future__ import annotations

import hashlib

import numpy as np
from PIL import Image

from vitgeom.data.corruptions import corrupt, corruption_named
from vitgeom.data.corruptions.registry import VERSION
from vitgeom.data.dataset import ImageDataset, Split
from vitgeom.data.reference import DatasetRef, Scalar
from vitgeom.data.shift.clean import clean_options, open_clean
from vitgeom.data.shift.shifted_test import ShiftedTest
from vitgeom.data.whole_numbers import require_whole
from vitgeom.seeding import derive_seed

_NUM_PROBES = 2
_CARD_SIDE = 64


def open_corrupted(*, of: str, corruption: str, severity: int, seed: int = 0, **clean: Scalar) -> ShiftedTest:
    """Open the damaged test split of a dataset.

    Args:
        of: Name of the clean dataset.
        corruption: A key of ``vitgeom.data.corruptions.CORRUPTIONS``.
        severity: 1 (mild) to 5 (strong).
        seed: Of the damage.
        **clean: Options of the clean dataset, with ``of_`` before each.

    Raises:
        UnknownName: The dataset, an option of it or the corruption is not known.
        InvalidInput: An option has a value that is refused.
    """
    corruption_named(corruption).strength(severity)
    return corrupted(open_clean(of, clean), corruption=corruption, severity=severity, seed=seed)


def corrupted_ref(clean: DatasetRef, *, corruption: str, severity: int, seed: int = 0) -> DatasetRef:
    """Return the reference of the damaged test split of a dataset.

    Args:
        clean: The dataset.
        corruption: A key of ``vitgeom.data.corruptions.CORRUPTIONS``.
        severity: 1 (mild) to 5 (strong).
        seed: Of the damage.

    Raises:
        UnknownName: The corruption is not known.
        InvalidInput: The severity is none.
    """
    corruption_named(corruption).strength(severity)
    return DatasetRef.from_options(
        "corrupted", corruption=corruption, severity=severity, seed=seed, **clean_options(clean)
    )


def corrupted(data: ImageDataset, *, corruption: str, severity: int, seed: int = 0) -> ShiftedTest:
    """Damage the test split of a dataset; train and val are not part of the result.

    Rows keep their order, sample ids, labels and groups, so that row i here is row i of the clean test. The digest covers the clean content, the
    corruption with its strengths, the seed, and what comes out for a fixed card and the first two rows: a library that rounds
    differently (JPEG, filters, random numbers) gives another digest only if it gives other pixels.

    Args:
        data: The clean dataset.
        corruption: A key of ``vitgeom.data.corruptions.CORRUPTIONS``.
        severity: 1 (mild) to 5 (strong).
        seed: Of the damage.

    Raises:
        UnknownName: The corruption is not known.
        InvalidInput: The severity is not one of 1 to 5, or the seed is negative.
    """
    strength = corruption_named(corruption).strength(severity)
    require_whole("seed", seed, at_least=0)
    test = corrupted_split(data.splits["test"], corruption=corruption, severity=severity, seed=seed)
    content = (
        f"corrupted v{VERSION} {data.digest} {corruption} {severity} {sorted(strength.items())} seed={seed}"
    )
    digest = hashlib.sha256(content.encode())
    card = corrupt(
        probe_card(), corruption=corruption, severity=severity, generator=_generator(seed, corruption, "card")
    )
    digest.update(card.tobytes())
    for row in range(min(_NUM_PROBES, len(test))):
        digest.update(test.read(row).tobytes())
    return ShiftedTest(
        name="corrupted",
        digest=digest.hexdigest(),
        classes=data.classes,
        test=test,
        clean_digest=data.digest,
        corruption=corruption,
        severity=severity,
        quarantine=(),
        source=f"test split under {corruption}, severity {severity} of 5 (seed {seed}); {data.source}",
        subpopulations=data.subpopulations,
    )


def corrupted_split(split: Split, *, corruption: str, severity: int, seed: int = 0) -> Split:
    """Damage every image of a split when it is read.

    The random numbers of a row come from the seed, the corruption and the sample id: not from other rows, and not from the severity, so
    that a picture under severity 4 is the one under severity 3 with more of the same.

    Args:
        split: The clean images.
        corruption: A key of ``vitgeom.data.corruptions.CORRUPTIONS``.
        severity: 1 (mild) to 5 (strong).
        seed: Of the damage.
    """

    def read(row: int) -> Image.Image:
        generator = _generator(seed, corruption, split.sample_ids[row])
        return corrupt(split.read(row), corruption=corruption, severity=severity, generator=generator)

    return Split(sample_ids=split.sample_ids, labels=split.labels, groups=split.groups, read=read)


def probe_card() -> Image.Image:
    """Return a fixed picture with slopes, edges and fine detail, by whole-number arithmetic."""
    rows, columns = np.indices((_CARD_SIDE, _CARD_SIDE))
    checks = 255 * ((rows // 8 + columns // 8) % 2)
    card = np.stack([4 * rows, (rows * columns) % 256, checks], axis=2)
    return Image.fromarray(card.astype(np.uint8))


def _generator(seed: int, corruption: str, name: str) -> np.random.Generator:
    return np.random.default_rng(derive_seed(seed, "corruption", corruption, name))
