"""The files of CIFAR-10-C and CIFAR-100-C: one array of images per corruption, one of labels; mapped, not loaded.

``<corruption>.npy`` holds uint8 [5 n, H, W, 3], n images at severity 1, the same n at severity 2, and so on to 5; ``labels.npy`` holds whole
numbers [5 n]. In the published files n is 10,000 and H = W = 32; other sizes are read as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int64, UInt8

from vitgeom.data.corruptions.corruption import SEVERITIES, require_severity
from vitgeom.errors import InvalidInput, UnknownName

LABELS = "labels"


@dataclass(frozen=True)
class CorruptionArrays:
    """The images of one corruption at one severity.

    Attributes:
        images: [n, H, W, 3], a view of the mapped file.
        labels: [n] as in the file.
    """

    images: UInt8[np.ndarray, "n h w 3"]
    labels: Int64[np.ndarray, " n"]


def open_arrays(root: str, *, corruption: str, severity: int) -> CorruptionArrays:
    """Map the images of one corruption and severity; no pixel is read.

    Args:
        root: The folder of the files.
        corruption: Name of a file without ``.npy``.
        severity: 1 to 5.

    Raises:
        UnknownName: There is no such file; the nearest one is suggested.
        InvalidInput: The folder or ``labels.npy`` is missing, a file is damaged or cut off, or has another shape or type than said above.
    """
    require_severity(severity)
    folder = Path(root)
    if not folder.is_dir():
        raise InvalidInput(
            f"folder {root!r} does not exist. Give the unpacked folder that holds <corruption>.npy and labels.npy."
        )
    names = sorted(path.stem for path in folder.glob("*.npy") if path.stem != LABELS)
    if corruption not in names:
        raise UnknownName("corruption file", corruption, names, hint=f"They are the .npy files in {root!r}.")
    images = _images(folder / f"{corruption}.npy")
    labels = _labels(folder / f"{LABELS}.npy", len(images))
    per_severity = len(images) // len(SEVERITIES)
    rows = slice((severity - 1) * per_severity, severity * per_severity)
    return CorruptionArrays(images[rows], labels[rows])


def _images(path: Path) -> np.ndarray:
    images = _mapped(path)
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != 3 or 0 in images.shape:
        raise InvalidInput(
            f"{str(path)!r} must hold uint8 [5 n, H, W, 3], got {images.dtype} {list(images.shape)}. Save it as the published files are."
        )
    if len(images) % len(SEVERITIES):
        raise InvalidInput(
            f"{str(path)!r} holds {len(images)} images, which is no multiple of 5: it needs the same n at each of five severities."
        )
    return images


def _labels(path: Path, count: int) -> np.ndarray:
    if not path.is_file():
        raise InvalidInput(
            f"{str(path)!r} is missing. Put labels.npy of the same download beside the images."
        )
    labels = _mapped(path)
    if labels.dtype.kind not in "iu" or labels.shape != (count,):
        raise InvalidInput(
            f"{str(path)!r} must hold one whole number for each of {count} images, got {labels.dtype} {list(labels.shape)}."
        )
    return np.asarray(labels, dtype=np.int64)


def _mapped(path: Path) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InvalidInput(
            f"{str(path)!r} is damaged, cut off, or no array of numbers ({error}). Download it again."
        ) from error
