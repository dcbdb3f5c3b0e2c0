"""``shifted_folder``: test images in a tree of folders, such as those of ImageNet-C, ImageNet-R and ImageNet-A."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from vitgeom.data.dataset import Split
from vitgeom.data.folder import entries_split, stored_index
from vitgeom.data.folder_index import FolderIndex
from vitgeom.data.reference import Scalar
from vitgeom.data.shift.class_mapping import ClassMapping, map_classes
from vitgeom.data.shift.clean import open_clean
from vitgeom.data.shift.shifted_index import index_shifted_folder
from vitgeom.data.shift.shifted_test import ShiftedTest

VERSION = 1


def open_shifted_folder(
    *,
    root: str,
    of: str,
    corruption: str | None = None,
    severity: int | None = None,
    skip_unknown_classes: bool = False,
    index: str | None = None,
    **clean: Scalar,
) -> ShiftedTest:
    """Open a folder of test images whose classes are some or all of those that were trained on.

    A class is found by the name of its folder. Labels are those of the clean dataset; ``present`` lists the ones that occur.

    Args:
        root: ``root/corruption/severity/class/image``, or ``root/class/image`` where neither of corruption and severity is given.
        of: Name of the clean dataset.
        corruption: Name of a folder.
        severity: Number of a folder below it.
        skip_unknown_classes: Leave out classes that the clean dataset does not have, instead of refusing them.
        index: URI of a stored index (``index_shifted_folder(...).to_json()``); without it every file is decoded now.
        **clean: Options of the clean dataset, with ``of_`` before each.

    Raises:
        UnknownName: A folder or the clean dataset is not known.
        InvalidInput: The folder cannot be used, or classes are unknown.
        StoreError: The index cannot be read.
    """
    if index is None:
        found = index_shifted_folder(root, corruption=corruption, severity=severity)
    else:
        found = stored_index(index)
    folder = Path(root) if corruption is None else Path(root, corruption, str(severity))
    data = open_clean(of, clean)
    mapping = map_classes(
        found.classes, clean=data.classes, what=f"folder {str(folder)!r}", skip_unknown=skip_unknown_classes
    )
    test = _split(folder, found, mapping)
    left_out = len(found.entries) - len(test)
    shown = Path(root).name if corruption is None else f"{Path(root).name}/{corruption}/{severity}"
    return ShiftedTest(
        name="shifted_folder",
        digest=_digest(found, data.classes, mapping),
        classes=data.classes,
        test=test,
        clean_digest=data.digest,
        corruption=corruption,
        severity=severity,
        quarantine=found.quarantine,
        source=f"test folder {shown!r}, {len(test)} images of {len(found.classes) - len(mapping.unknown)} classes",
        skipped={**found.skipped, **({"image of an unknown class": left_out} if left_out else {})},
        unknown_classes=mapping.unknown,
    )


def _digest(found: FolderIndex, clean: tuple[str, ...], mapping: ClassMapping) -> str:
    content = f"shifted_folder v{VERSION} {found.digest} {clean} {mapping.labels.tolist()}"
    return hashlib.sha256(content.encode()).hexdigest()


def _split(folder: Path, found: FolderIndex, mapping: ClassMapping) -> Split:
    entries = [entry for entry in found.entries if mapping.labels[entry.label] >= 0]
    labels = mapping.labels[np.array([entry.label for entry in entries], dtype=np.int64)]
    return entries_split(folder, entries, labels=labels)
