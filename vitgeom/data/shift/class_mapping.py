"""From the classes of a shifted source to those that were trained on, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from vitgeom.data.folder_splits import few
from vitgeom.errors import InvalidInput, nearest


@dataclass(frozen=True)
class ClassMapping:
    """Which class of the clean dataset each class of the source is.

    Attributes:
        labels: [K] label in the clean dataset, or -1 where it has no such class.
        unknown: Names of the latter.
    """

    labels: Int64[np.ndarray, " K"]
    unknown: tuple[str, ...]


def map_classes(names: Sequence[str], *, clean: Sequence[str], what: str, skip_unknown: bool) -> ClassMapping:
    """Find each class of a source among the classes of the clean dataset; the source may cover a subset.

    Args:
        names: [K] classes of the source.
        clean: Classes of the clean dataset.
        what: The source, for messages.
        skip_unknown: Leave out classes that the clean dataset does not have, instead of refusing them.

    Raises:
        InvalidInput: A name occurs twice, none is known, or some are not and they are not to be skipped.
    """
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if list(names).count(name) > 1})
        raise InvalidInput(f"{what} names a class twice: {few(twice)}. Name each class once.")
    label_of = {name: label for label, name in enumerate(clean)}
    labels = np.array([label_of.get(name, -1) for name in names], dtype=np.int64)
    unknown = tuple(name for name in names if name not in label_of)
    if len(unknown) == len(names):
        raise InvalidInput(
            f"{what} shares no class with the clean dataset: it has {few(list(names))}; the dataset has {few(list(clean))}."
        )
    if unknown and not skip_unknown:
        raise InvalidInput(
            f"{what} has {len(unknown)} classes that the clean dataset does not have: {few(list(unknown))}."
            f"{nearest(unknown[0], list(clean))} Give skip_unknown_classes=True to leave their images out and list them."
        )
    return ClassMapping(labels, unknown)
