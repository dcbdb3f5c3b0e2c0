"""The closed list of test sets under shift, and the functions that open them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vitgeom.data.catalogue import open_dataset
from vitgeom.data.dataset import LabelledImages
from vitgeom.data.opening import open_by_name
from vitgeom.data.reference import DatasetRef
from vitgeom.data.shift.cifar_c import open_cifar_c
from vitgeom.data.shift.corrupted_images import open_corrupted
from vitgeom.data.shift.shifted_folder import open_shifted_folder
from vitgeom.data.shift.shifted_test import ShiftedTest
from vitgeom.data.shift.subpopulations import open_subpopulations

SHIFTED: Mapping[str, Callable[..., ShiftedTest]] = {
    "cifar_c": open_cifar_c,
    "corrupted": open_corrupted,
    "shifted_folder": open_shifted_folder,
    "subpopulations": open_subpopulations,
}


def open_shifted(ref: DatasetRef) -> ShiftedTest:
    """Open the test set under shift that a reference names.

    Args:
        ref: Name and options; the options are the keyword arguments of the opener in ``SHIFTED``, and those of the clean dataset with
            ``of_`` before each.

    Raises:
        UnknownName: No test set, or no option of it, has this name; the nearest one is suggested.
        InvalidInput: It is no reference, or an option has a value that is refused.
    """
    return open_by_name(
        ref,
        openers=SHIFTED,
        kind="shifted test set",
        hint="Datasets with splits to fit on: open_dataset(ref).",
    )


def open_images(ref: DatasetRef) -> LabelledImages:
    """Open what a reference names to extract features from: a dataset, or a test set under shift.

    Args:
        ref: Name and options.

    Raises:
        UnknownName: Neither list has this name, or the options are not known.
        InvalidInput: It is no reference, or an option has a value that is refused.
    """
    if isinstance(ref, DatasetRef) and ref.name in SHIFTED:
        return open_shifted(ref)
    return open_dataset(ref)
