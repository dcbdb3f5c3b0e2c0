"""The closed list of datasets and the one function that opens them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

from vitgeom.data.dataset import ImageDataset
from vitgeom.data.digits import open_digits
from vitgeom.data.folder import open_folder
from vitgeom.data.noise import open_noise
from vitgeom.data.photos import open_photos
from vitgeom.data.reference import DatasetRef
from vitgeom.data.scenes import open_scenes
from vitgeom.errors import InvalidInput, UnknownName

DATASETS: Mapping[str, Callable[..., ImageDataset]] = {
    "digits": open_digits,
    "folder": open_folder,
    "noise": open_noise,
    "photos": open_photos,
    "scenes": open_scenes,
}


def open_dataset(ref: DatasetRef) -> ImageDataset:
    """Open the dataset that a reference names.

    Args:
        ref: Name and options; the options are the keyword arguments of the opener in ``DATASETS``.

    Raises:
        UnknownName: No dataset, or no option of that dataset, has this name; the nearest one is suggested.
        InvalidInput: It is no reference, or an option has a value that the dataset refuses.
    """
    require_reference(ref)
    if ref.name not in DATASETS:
        raise UnknownName(
            "dataset",
            ref.name,
            DATASETS,
            hint="Images of your own: DatasetRef.from_options('folder', root=...).",
        )
    opener = DATASETS[ref.name]
    parameters = inspect.signature(opener).parameters.values()
    known = [item.name for item in parameters if item.kind is not inspect.Parameter.VAR_KEYWORD]
    takes_more = len(known) < len(parameters)  # such an opener checks the other names itself
    for key, _ in ref.options:
        if key not in known and not takes_more:
            raise UnknownName(f"option of dataset {ref.name!r}", key, known)
    required = [item.name for item in parameters if item.default is item.empty and item.name in known]
    for key in required:
        if ref.option(key) is None:
            raise InvalidInput(
                f"option {key!r} of dataset {ref.name!r} is missing. Give DatasetRef.from_options({ref.name!r}, {key}=...)."
            )
    return opener(**dict(ref.options))


def require_reference(ref: object) -> None:
    """Refuse what is no reference, and name the one that was probably meant.

    Args:
        ref: What the caller gave.

    Raises:
        InvalidInput: It is no ``DatasetRef``.
    """
    if isinstance(ref, DatasetRef):
        return
    name = ref if isinstance(ref, str) else "digits"
    raise InvalidInput(
        f"a dataset is opened by a DatasetRef, got {type(ref).__name__} {str(ref)[:80]!r}. "
        f"Give open_dataset(DatasetRef.from_options({name!r}))."
    )
