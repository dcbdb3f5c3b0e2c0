"""What every source of images gives: three splits of labelled images, read one at a time.

Groups. A row's group is a number, and a dataset has groups of one kind. Where it names ``subpopulations``, the number is an index into them
(a class on one background, say), and accuracy per group means something. Where it names none, a group is an origin: images cut from one
place, which resampling must keep together. -1 is no group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

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
        groups: int64 [n], sub-population or origin of each row, as the dataset says; -1 where there is none.
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


@runtime_checkable
class LabelledImages(Protocol):
    """What can be extracted: a dataset with its three splits, or a test set under shift with one."""

    @property
    def name(self) -> str:
        """The name it was opened under."""
        ...

    @property
    def digest(self) -> str:
        """Hash of everything that decides the pixels, labels and their order."""
        ...

    @property
    def classes(self) -> tuple[str, ...]:
        """Original labels as text; the index is the label."""
        ...

    @property
    def splits(self) -> Mapping[str, Split]:
        """What there is to read."""
        ...

    @property
    def quarantine(self) -> tuple[Quarantined, ...]:
        """Files that were found but cannot be used."""
        ...

    @property
    def source(self) -> str:
        """One line for reports: where the images come from."""
        ...

    @property
    def skipped(self) -> Mapping[str, int]:
        """Kind of thing -> how many were passed over."""
        ...

    @property
    def subpopulations(self) -> tuple[str, ...]:
        """Names of the groups, by number; empty where groups are origins or there are none."""
        ...


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
        subpopulations: Names of the groups, by number; empty where groups are origins or there are none.
    """

    name: str
    digest: str
    classes: tuple[str, ...]
    splits: Mapping[str, Split]
    quarantine: tuple[Quarantined, ...]
    source: str
    skipped: Mapping[str, int] = field(default_factory=dict)
    subpopulations: tuple[str, ...] = ()

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
            check_split(split, name=name, of=self)

    @property
    def chance(self) -> float:
        """Test accuracy of always answering the class that is most frequent in the train split."""
        favourite = np.bincount(self.splits["train"].labels, minlength=len(self.classes)).argmax()
        return float(np.mean(self.splits["test"].labels == favourite))


def check_split(split: Split, *, name: str, of: LabelledImages) -> None:
    """Refuse a split that is empty, or whose labels or groups are not among those that its dataset names.

    Args:
        split: One of the dataset's splits.
        name: Under which it is there.
        of: The dataset.

    Raises:
        InvalidInput: What is wrong with it.
    """
    if not len(split):
        raise InvalidInput(
            f"split {name!r} of dataset {of.name!r} has no images; each split needs at least one."
        )
    low, high = int(split.labels.min()), int(split.labels.max())
    if low < 0 or high >= len(of.classes):
        raise InvalidInput(
            f"labels of split {name!r} span {low}..{high}, but there are {len(of.classes)} classes."
        )
    low, high = int(split.groups.min()), int(split.groups.max())
    if low < -1 or (of.subpopulations and high >= len(of.subpopulations)):
        raise InvalidInput(
            f"groups of split {name!r} span {low}..{high}, but must be -1 (none) or one of the {len(of.subpopulations)} sub-populations "
            f"of dataset {of.name!r}."
        )
