"""Fitted classifiers of exactly the content that a request names: read here, and never written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tasks.classifier_files import read_classifier
from tasks.fusion_results import COMPARISON, REQUIRED
from tasks.stored_results import finished_results
from vitgeom.errors import IncompleteData, InvalidInput
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.store.uri import Root


@dataclass(frozen=True)
class FittedCell:
    """What a comparison left: its table, and the place of the classifiers behind it.

    Attributes:
        place: Where they lie.
        table: Content of ``comparison.json``.
        comparison_digest: SHA-256 of that file.
    """

    place: Root
    table: dict[str, Any]
    comparison_digest: str

    @property
    def features(self) -> dict[str, str]:
        """Address and manifest digest of the features that they were fitted on."""
        return dict(self.table["features"])

    @property
    def settings(self) -> dict[str, Any]:
        """What they were fitted with; token and last layer among it."""
        return dict(self.table["request"])

    def seeds(self) -> dict[str, tuple[int | None, ...]]:
        """Return the seeds of each fitted method, in the order of the table; a single None where it has no randomness."""
        return {entry["name"]: tuple(entry["seeds"]) or (None,) for entry in self.table["methods"]}

    def classifiers(self, method: str) -> Iterator[LayerClassifier]:
        """Yield the classifiers of one method, one in memory at a time.

        Args:
            method: Its name.
        """
        for seed in self.seeds()[method]:
            yield read_classifier(self.place, method, seed)


def pinned_fusion(uri: str, *, digest: str) -> FittedCell:
    """Open the results of a comparison and refuse others than those that were pinned.

    Args:
        uri: Where they lie, from the receipt of ``fit_fusion``.
        digest: Their digest, from the same receipt.

    Raises:
        IncompleteData: They are not whole.
        InvalidInput: They are others.
    """
    place = Root(uri)
    record = finished_results(place, required=REQUIRED)
    if record is None:
        raise IncompleteData(
            f"{place.uri} holds no finished comparison: a file is missing or changed. Run stage fuse again."
        )
    if record["digest"] != digest:
        raise InvalidInput(
            f"fused_digest={digest[:12]!r} was asked for, but the classifiers at {place.uri} are {record['digest'][:12]!r}. "
            "Take the digest from the receipt of stage fuse."
        )
    return FittedCell(place, place.read_json(COMPARISON), record["files"][COMPARISON])
