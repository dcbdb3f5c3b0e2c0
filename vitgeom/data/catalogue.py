"""The closed list of datasets and the one function that opens them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vitgeom.data.dataset import ImageDataset
from vitgeom.data.digits import open_digits
from vitgeom.data.folder import open_folder
from vitgeom.data.noise import open_noise
from vitgeom.data.opening import open_by_name
from vitgeom.data.photos import open_photos
from vitgeom.data.reference import DatasetRef
from vitgeom.data.scenes import open_scenes
from vitgeom.data.spurious_scenes import open_spurious_scenes

DATASETS: Mapping[str, Callable[..., ImageDataset]] = {
    "digits": open_digits,
    "folder": open_folder,
    "noise": open_noise,
    "photos": open_photos,
    "scenes": open_scenes,
    "spurious_scenes": open_spurious_scenes,
}


def open_dataset(ref: DatasetRef) -> ImageDataset:
    """Open the dataset that a reference names.

    Args:
        ref: Name and options; the options are the keyword arguments of the opener in ``DATASETS``.

    Raises:
        UnknownName: No dataset, or no option of that dataset, has this name; the nearest one is suggested.
        InvalidInput: It is no reference, or an option has a value that the dataset refuses.
    """
    return open_by_name(
        ref,
        openers=DATASETS,
        kind="dataset",
        hint="Images of your own: DatasetRef.from_options('folder', root=...). Test sets under shift: open_shifted(ref).",
    )
