"""``cifar_c``: the published arrays of CIFAR-10-C and CIFAR-100-C, evaluated against classes that were trained on."""

from __future__ import annotations

import hashlib

import numpy as np
from PIL import Image

from vitgeom.data.dataset import Split
from vitgeom.data.reference import Scalar
from vitgeom.data.sample_ids import NumberedIds
from vitgeom.data.shift.cifar_classes import label_names
from vitgeom.data.shift.class_mapping import map_classes
from vitgeom.data.shift.clean import open_clean
from vitgeom.data.shift.corruption_arrays import CorruptionArrays, open_arrays
from vitgeom.data.shift.shifted_test import ShiftedTest
from vitgeom.errors import InvalidInput

VERSION = 1


def open_cifar_c(
    *,
    root: str,
    corruption: str,
    severity: int,
    of: str,
    classes: str = "cifar10",
    skip_unknown_classes: bool = False,
    **clean: Scalar,
) -> ShiftedTest:
    """Open one corruption and severity of a folder of arrays; its bytes are hashed now, pixels are read from disk row by row.

    Args:
        root: Folder with ``<corruption>.npy`` and ``labels.npy``.
        corruption: Name of a file without ``.npy``.
        severity: 1 to 5.
        of: Name of the clean dataset, whose class names are looked for.
        classes: Names of the labels: ``"cifar10"``, ``"cifar100"``, or a list with commas between.
        skip_unknown_classes: Leave out classes that the clean dataset does not have, instead of refusing them.
        **clean: Options of the clean dataset, with ``of_`` before each.

    Raises:
        UnknownName: There is no such file, or the clean dataset is not known.
        InvalidInput: A file is missing, damaged or of another form, a label has no name, or classes are unknown.
    """
    arrays = open_arrays(root, corruption=corruption, severity=severity)
    names = label_names(classes)
    _require_named(arrays, names, root)
    data = open_clean(of, clean)
    mapping = map_classes(
        names, clean=data.classes, what=f"array folder {root!r}", skip_unknown=skip_unknown_classes
    )
    labels = mapping.labels[arrays.labels]
    rows = np.flatnonzero(labels >= 0)
    left_out = len(labels) - len(rows)
    return ShiftedTest(
        name="cifar_c",
        digest=_digest(arrays, names, data.classes, rows),
        classes=data.classes,
        test=_split(arrays, labels, rows),
        clean_digest=data.digest,
        corruption=corruption,
        severity=severity,
        quarantine=(),
        source=f"{len(rows)} images from arrays, {corruption}, severity {severity} of 5",
        skipped={"image of an unknown class": left_out} if left_out else {},
        unknown_classes=mapping.unknown,
    )


def _require_named(arrays: CorruptionArrays, names: tuple[str, ...], root: str) -> None:
    low, high = int(arrays.labels.min()), int(arrays.labels.max())
    if low < 0 or high >= len(names):
        raise InvalidInput(
            f"labels in {root!r} span {low}..{high}, but option 'classes' names {len(names)}: {', '.join(names[:3])}, ... "
            f"Give classes='cifar100', or the names in order."
        )


def _digest(
    arrays: CorruptionArrays, names: tuple[str, ...], clean: tuple[str, ...], rows: np.ndarray
) -> str:
    content = hashlib.sha256(f"cifar_c v{VERSION} {arrays.images.shape} {names} {clean}".encode())
    content.update(np.ascontiguousarray(arrays.labels).tobytes())
    content.update(np.ascontiguousarray(rows).tobytes())
    content.update(arrays.images.data)
    return content.hexdigest()


def _split(arrays: CorruptionArrays, labels: np.ndarray, rows: np.ndarray) -> Split:
    """Return the rows that have a label; their ids count the images of the file, and are those of every corruption and severity."""

    def read(row: int) -> Image.Image:
        return Image.fromarray(np.array(arrays.images[rows[row]]))

    numbered = NumberedIds("image", len(labels))
    return Split(
        sample_ids=numbered if len(rows) == len(labels) else [numbered[int(row)] for row in rows],
        labels=labels[rows],
        groups=np.full(len(rows), -1, dtype=np.int64),
        read=read,
    )
