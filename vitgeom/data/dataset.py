"""What every source of images gives: three splits of labelled images, read one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from vitgeom.errors import InvalidInput

SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class Quarantined:
    """A file that could not be used, and why."""

    path: str
    reason: str


class NoSuchRow(InvalidInput, IndexError):
    """A row number that is not in the split."""


@dataclass(frozen=True)
class Split:
    """Images in a fixed order; row i has ``sample_ids[i]``, ``labels[i]``, ``groups[i]`` and ``read(i)``.

    Attributes:
        sample_ids: [n] unique names, stable between runs.
        labels: int64 [n], indices into ``ImageDataset.classes``.
        groups: int64 [n], rows of one group come from one origin; -1 where there is none.
        read: Row -> image of mode RGB. Pure, safe to call from several threads and processes; rows outside 0 .. n - 1 are refused
            here, for every source.
    """

    sample_ids: Sequence[str]
    labels: np.ndarray
    groups: np.ndarray
    read: Callable[[int], Image.Image]

    def __post_init__(self) -> None:
        counts = {"sample_ids": len(self.sample_ids), "labels": len(self.labels), "groups": len(self.groups)}
        if len(set(counts.values())) > 1:
            raise InvalidInput(f"a split needs one sample id, label and group per row, got {counts}.")
        for name, array in (("labels", self.labels), ("groups", self.groups)):
            if array.dtype != np.int64 or array.ndim != 1:
                raise InvalidInput(
                    f"{name} must be an int64 vector, got {array.dtype} of shape {array.shape}."
                )
        object.__setattr__(self, "read", _within(len(self), self.read))

    def __len__(self) -> int:
        return len(self.sample_ids)


def _within(count: int, read: Callable[[int], Image.Image]) -> Callable[[int], Image.Image]:
    def checked(row: int) -> Image.Image:
        if not 0 <= row < count:
            raise NoSuchRow(f"row {row} is not in this split of {count}. Rows count from 0 to {count - 1}.")
        return read(row)

    return checked


@dataclass(frozen=True)
class ImageDataset:
    """Labelled images in the splits train, val and test.

    Attributes:
        name: The name it was opened under.
        digest: Hash of everything that decides the pixels, labels and their order.
        classes: Original labels as text; the index is the label.
        splits: The keys are ``SPLITS``; each has at least one row.
        quarantine: Files that were found but cannot be used.
        source: One line for reports: where the images come from and how they were split.
        skipped: Kind of thing -> how many were passed over (hidden files, unknown extensions).
    """

    name: str
    digest: str
    classes: tuple[str, ...]
    splits: Mapping[str, Split]
    quarantine: tuple[Quarantined, ...]
    source: str
    skipped: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if tuple(sorted(self.splits)) != tuple(sorted(SPLITS)):
            raise InvalidInput(
                f"dataset {self.name!r} needs the splits {', '.join(SPLITS)}, got {', '.join(self.splits)}."
            )
        if len(self.classes) < 2:
            raise InvalidInput(
                f"dataset {self.name!r} has {len(self.classes)} class; a probe needs at least 2."
            )
        for name, split in self.splits.items():
            self._check(name, split)

    def _check(self, name: str, split: Split) -> None:
        if not len(split):
            raise InvalidInput(
                f"split {name!r} of dataset {self.name!r} has no images; each split needs at least one."
            )
        low, high = int(split.labels.min()), int(split.labels.max())
        if low < 0 or high >= len(self.classes):
            raise InvalidInput(
                f"labels of split {name!r} span {low}..{high}, but there are {len(self.classes)} classes."
            )

    @property
    def chance(self) -> float:
        """Test accuracy of always answering the class that is most frequent in the train split."""
        favourite = np.bincount(self.splits["train"].labels, minlength=len(self.classes)).argmax()
        return float(np.mean(self.splits["test"].labels == favourite))
