"""The clean dataset that a test set is a shift of, from the options of the latter."""

from __future__ import annotations

from collections.abc import Mapping

from vitgeom.data.catalogue import open_dataset
from vitgeom.data.dataset import ImageDataset
from vitgeom.data.reference import CLEAN, DatasetRef, Scalar
from vitgeom.errors import InvalidInput


def open_clean(of: str, options: Mapping[str, Scalar]) -> ImageDataset:
    """Open the clean dataset.

    Args:
        of: Its name.
        options: Its options with ``of_`` before each: ``of_size=32`` is ``size=32`` of the clean dataset.

    Raises:
        UnknownName: The clean dataset, or an option of it, is not known.
        InvalidInput: An option does not begin with ``of_``, or has a value that is refused.
    """
    for key in options:
        if not key.startswith(CLEAN):
            raise InvalidInput(
                f"option {key!r} is not known here. Options of the clean dataset begin with {CLEAN!r}: {CLEAN}{key}=..."
            )
    own = {key.removeprefix(CLEAN): value for key, value in options.items()}
    return open_dataset(DatasetRef.from_options(of, **own))


def clean_options(ref: DatasetRef) -> dict[str, Scalar]:
    """Return the options by which a test set under shift names its clean dataset."""
    return {"of": ref.name, **{CLEAN + key: value for key, value in ref.options}}
