"""Where features live: a path made of the data set, the backbone and the fingerprint of everything that determines the numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vitgeom.errors import InvalidInput
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.schema import SCHEMA_VERSION, specs_for

_SLUG = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$")
_SHOWN_DIGITS = 16


def describe_features(
    *,
    dataset_digest: str,
    weights_digest: str,
    preprocessing: Mapping[str, Any],
    precision: str,
    storage_dtype: str,
    tokens: Sequence[str],
    token_layers: Sequence[int] = (),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the description whose fingerprint is the address: same inputs, same address, nothing recomputed.

    Args:
        dataset_digest: Digest of the data set's content.
        weights_digest: Digest of the backbone's weights.
        preprocessing: How an image becomes a tensor; JSON values.
        precision: Of the forward pass.
        storage_dtype: Of the stored features.
        tokens: Which tokens are stored; their order does not matter.
        token_layers: Layers, from 0, all of whose tokens are stored; their order does not matter. Without any, the description and so
            the address are those of a store that knows nothing of them.
        extra: Whatever else changes the numbers; JSON values.

    Raises:
        UnknownName: A token is not registered.
    """
    specs_for(tokens)
    description: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "dataset": dataset_digest,
        "weights": weights_digest,
        "preprocessing": dict(preprocessing),
        "precision": precision,
        "storage": storage_dtype,
        "tokens": sorted(tokens),
    }
    if token_layers:
        description["token_layers"] = sorted(int(layer) for layer in token_layers)
    if extra:
        description["extra"] = dict(extra)
    return description


@dataclass(frozen=True)
class FeatureAddress:
    """The address of one feature store.

    Attributes:
        dataset: Path-safe label of the data set.
        backbone: Path-safe label of the backbone.
        fingerprint: Of the description (64 hex digits).
    """

    dataset: str
    backbone: str
    fingerprint: str

    def __post_init__(self) -> None:
        for label, value in (("dataset", self.dataset), ("backbone", self.backbone)):
            if not _SLUG.match(value):
                raise InvalidInput(
                    f"{label} label {value!r} is unfit for a path: use 1-120 letters, digits, '.', '_' or '-', the first no sign."
                )
        if not re.fullmatch(r"[0-9a-f]{64}", self.fingerprint):
            raise InvalidInput(f"fingerprint must be 64 hex digits, got {self.fingerprint!r}.")

    @classmethod
    def of(cls, description: Mapping[str, Any], *, dataset: str, backbone: str) -> FeatureAddress:
        """Return the address of a description.

        Args:
            description: What determines the numbers, from :func:`describe_features`.
            dataset: Path-safe label of the data set.
            backbone: Path-safe label of the backbone.
        """
        return cls(dataset=dataset, backbone=backbone, fingerprint=fingerprint(description))

    @property
    def path(self) -> str:
        """Path below the store's root."""
        return f"features/{self.dataset}/{self.backbone}/{self.fingerprint[:_SHOWN_DIGITS]}"


def check_path(address_path: str, description: Mapping[str, Any]) -> None:
    """Refuse a description that does not belong to the path it was found at.

    Raises:
        InvalidInput: The last part of the path is not the beginning of the description's fingerprint.
    """
    found = fingerprint(description)[:_SHOWN_DIGITS]
    if address_path.rpartition("/")[2] != found:
        raise InvalidInput(f"description with fingerprint {found} does not belong at {address_path!r}.")
