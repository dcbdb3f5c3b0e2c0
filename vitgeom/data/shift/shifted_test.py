"""A test set under shift: one split, and a type of its own, so that nothing can be fitted or selected on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from vitgeom.data.dataset import Quarantined, Split, check_split


@dataclass(frozen=True)
class ShiftedTest:
    """Labelled images to evaluate on, for classifiers that were fitted on the clean dataset.

    It is no ``ImageDataset``, and ``splits`` is made from ``test`` alone: there is no way to give it rows to fit or select on. Features of
    it are extracted like those of a dataset, into a store whose only split is ``test``.

    Attributes:
        name: The name it was opened under.
        digest: Hash of everything that decides the pixels, labels and their order; it includes ``clean_digest`` where the pixels
            are made from the clean ones.
        classes: Those of the clean dataset; the index is the label, the same one that was trained on.
        test: The images.
        clean_digest: Digest of the clean dataset, whose classifiers may be evaluated here.
        corruption: What was done to the images, or None where the source has no name for it.
        severity: 1 (mild) to 5 (strong), or None.
        quarantine: Files that were found but cannot be used.
        source: One line for reports: where the images come from.
        skipped: Kind of thing -> how many were passed over.
        unknown_classes: Classes of the source that the clean dataset does not have; their images were left out, as was asked.
        subpopulations: Names of the groups, by number; empty where groups are origins or there are none.
    """

    name: str
    digest: str
    classes: tuple[str, ...]
    test: Split
    clean_digest: str
    corruption: str | None
    severity: int | None
    quarantine: tuple[Quarantined, ...]
    source: str
    skipped: Mapping[str, int] = field(default_factory=dict)
    unknown_classes: tuple[str, ...] = ()
    subpopulations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_split(self.test, name="test", of=self)

    @property
    def splits(self) -> Mapping[str, Split]:
        """The test split and no other."""
        return MappingProxyType({"test": self.test})

    @property
    def present(self) -> tuple[int, ...]:
        """Labels that occur, ascending: all classes, or the subset that the source covers."""
        return tuple(sorted(set(self.test.labels.tolist())))
