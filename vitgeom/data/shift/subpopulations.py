"""``subpopulations``: the test split of a dataset that names its groups, to be asked how each group fares (A12)."""

from __future__ import annotations

import hashlib

import numpy as np

from vitgeom.data.dataset import ImageDataset
from vitgeom.data.reference import DatasetRef, Scalar
from vitgeom.data.shift.clean import clean_options, open_clean
from vitgeom.data.shift.shifted_test import ShiftedTest
from vitgeom.errors import InvalidInput

VERSION = 1


def open_subpopulations(*, of: str, **clean: Scalar) -> ShiftedTest:
    """Open the test split of a dataset by its sub-populations.

    Args:
        of: Name of the clean dataset.
        **clean: Options of the clean dataset, with ``of_`` before each.

    Raises:
        UnknownName: The dataset, or an option of it, is not known.
        InvalidInput: An option has a value that is refused, or the dataset has no sub-populations in its test split.
    """
    return subpopulations(open_clean(of, clean))


def subpopulations_ref(clean: DatasetRef) -> DatasetRef:
    """Return the reference of the test split of a dataset by its sub-populations.

    Args:
        clean: The dataset.
    """
    return DatasetRef.from_options("subpopulations", **clean_options(clean))


def has_subpopulations(data: ImageDataset) -> bool:
    """Return True where groups are named and at least one test image belongs to one.

    Args:
        data: The clean dataset.
    """
    return bool(data.subpopulations) and bool(np.any(data.splits["test"].groups >= 0))


def subpopulations(data: ImageDataset) -> ShiftedTest:
    """Take the test split as it is; what shifts is how often each sub-population occurs, not how an image looks.

    Args:
        data: The clean dataset.

    Raises:
        InvalidInput: It has no sub-populations in its test split.
    """
    if not has_subpopulations(data):
        raise InvalidInput(
            f"dataset {data.name!r} names no sub-populations of its test images. Take one that does, such as "
            "DatasetRef('spurious_scenes') or a folder with metadata."
        )
    return ShiftedTest(
        name="subpopulations",
        digest=hashlib.sha256(f"subpopulations v{VERSION} {data.digest}".encode()).hexdigest(),
        classes=data.classes,
        test=data.splits["test"],
        clean_digest=data.digest,
        corruption=None,
        severity=None,
        quarantine=(),
        source=f"test split by sub-population; {data.source}",
        subpopulations=data.subpopulations,
    )
