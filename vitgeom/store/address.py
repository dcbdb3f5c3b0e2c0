"""Where stores live: a path made of the data set, the backbone and the fingerprint of everything that determines the numbers."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vitgeom.errors import InvalidInput
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.schema import SCHEMA_VERSION, TARGET_VERSION, specs_for

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


def describe_targets(
    *,
    dataset_digest: str,
    weights_digest: str,
    preprocessing: Mapping[str, Any],
    decoder: Mapping[str, Any],
    recipe: Mapping[str, Any],
    storage_dtype: str,
) -> dict[str, Any]:
    """Return the description of a store of targets, whose fingerprint is its address.

    Args:
        dataset_digest: Digest of the data set's content.
        weights_digest: Digest of the backbone's weights.
        preprocessing: How an image becomes a tensor; JSON values.
        decoder: Name, layer and digest of the decoder's own weights; JSON values.
        recipe: How the products are spent, rank, budget, seed and precision; JSON values.
        storage_dtype: Of the stored directions.
    """
    return {
        "schema": SCHEMA_VERSION,
        "kind": "targets",
        "version": TARGET_VERSION,
        "dataset": dataset_digest,
        "weights": weights_digest,
        "preprocessing": dict(preprocessing),
        "decoder": dict(decoder),
        "recipe": dict(recipe),
        "storage": storage_dtype,
    }


@dataclass(frozen=True)
class Address(ABC):
    """Where one store lies.

    Attributes:
        dataset: Path-safe label of the data set.
        backbone: Path-safe label of the backbone.
        fingerprint: Of the description (64 hex digits).
    """

    dataset: str
    backbone: str
    fingerprint: str

    def __post_init__(self) -> None:
        for label, value in self._labels().items():
            if not _SLUG.match(value):
                raise InvalidInput(
                    f"{label} label {value!r} is unfit for a path: use 1-120 letters, digits, '.', '_' or '-', the first no sign."
                )
        if not re.fullmatch(r"[0-9a-f]{64}", self.fingerprint):
            raise InvalidInput(f"fingerprint must be 64 hex digits, got {self.fingerprint!r}.")

    @property
    def path(self) -> str:
        """Path below the store's root."""
        return "/".join([self._kind, *self._labels().values(), self.fingerprint[:_SHOWN_DIGITS]])

    @property
    @abstractmethod
    def _kind(self) -> str:
        """Folder of all stores of this kind."""

    def _labels(self) -> dict[str, str]:
        return {"dataset": self.dataset, "backbone": self.backbone}


@dataclass(frozen=True)
class FeatureAddress(Address):
    """The address of one store of layer features: ``features/<dataset>/<backbone>/<fingerprint>``."""

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
    def _kind(self) -> str:
        return "features"


@dataclass(frozen=True)
class TargetAddress(Address):
    """The address of one store of targets: ``targets/<dataset>/<backbone>/<decoder>/<fingerprint>``.

    Attributes:
        decoder: Path-safe label of the decoder and its layer.
    """

    decoder: str

    @classmethod
    def of(
        cls, description: Mapping[str, Any], *, dataset: str, backbone: str, decoder: str
    ) -> TargetAddress:
        """Return the address of a description.

        Args:
            description: What determines the numbers, from :func:`describe_targets`.
            dataset: Path-safe label of the data set.
            backbone: Path-safe label of the backbone.
            decoder: Path-safe label of the decoder and its layer.
        """
        return cls(dataset=dataset, backbone=backbone, decoder=decoder, fingerprint=fingerprint(description))

    @property
    def _kind(self) -> str:
        return "targets"

    def _labels(self) -> dict[str, str]:
        return {**super()._labels(), "decoder": self.decoder}


def check_path(address_path: str, description: Mapping[str, Any]) -> None:
    """Refuse a description that does not belong to the path it was found at.

    Raises:
        InvalidInput: The last part of the path is not the beginning of the description's fingerprint.
    """
    found = fingerprint(description)[:_SHOWN_DIGITS]
    if address_path.rpartition("/")[2] != found:
        raise InvalidInput(f"description with fingerprint {found} does not belong at {address_path!r}.")
