"""Backbones and data sets that this process has open: a few of each, so that its next unit need not load them again."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from vitgeom.backbones import Backbone, BackboneRef, open_backbone
from vitgeom.data import DatasetRef, ImageDataset, LabelledImages, open_images
from vitgeom.errors import InvalidInput

T = TypeVar("T")

KEPT = 2
"""Open things of each kind per process."""


class Recent(Generic[T]):
    """The last few things that were opened, oldest dropped first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._things: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str, build: Callable[[], T], *, accept: Callable[[T], bool]) -> T:
        """Return the thing under ``key`` if it is still acceptable, else open it (again).

        Args:
            key: What the thing is.
            build: Opens it.
            accept: Whether a kept one is still what is wanted.
        """
        thing = self._things.pop(key, None)
        if thing is None or not accept(thing):
            # Dropped before the next one is opened: at no time are more than ``size`` alive.
            thing = None
            while len(self._things) >= self._size:
                self._things.popitem(last=False)
            thing = build()
        self._things[key] = thing
        return thing


_backbones: Recent[Backbone] = Recent(KEPT)
_datasets: Recent[LabelledImages] = Recent(KEPT)


def opened_backbone(
    reference: Mapping[str, Any], *, device: str, weights_digest: str | None = None
) -> Backbone:
    """Return the backbone of a reference.

    Args:
        reference: ``BackboneRef.to_json()``.
        device: Where it computes.
        weights_digest: The weights that are wanted; None takes those that there are. A file that changed is loaded again.

    Raises:
        InvalidInput: The weights are others than those the work was planned for.
    """
    ref = BackboneRef.from_json(reference)

    def wanted(backbone: Backbone) -> bool:
        return weights_digest in (None, backbone.spec.weights_digest)

    key = _key(reference, device, *_file_stamp(ref.name))
    backbone = _backbones.get(key, lambda: open_backbone(ref, device=device), accept=wanted)
    if not wanted(backbone):
        raise InvalidInput(
            f"backbone {ref.name!r} has other weights now ({backbone.spec.weights_digest[:12]}) than when the extraction was planned "
            f"({str(weights_digest)[:12]}). Put the weights back, or plan again: new weights get an address of their own."
        )
    return backbone


def opened_dataset(reference: Mapping[str, Any], *, digest: str | None = None) -> ImageDataset:
    """Return the data set of a reference.

    Args:
        reference: ``DatasetRef.to_json()``.
        digest: The content that is wanted; None opens it afresh.

    Raises:
        InvalidInput: The content is other than that the work was planned for, or it is a test set under shift.
    """
    data = opened_images(reference, digest=digest)
    if not isinstance(data, ImageDataset):
        raise InvalidInput(
            f"{DatasetRef.from_json(reference).slug!r} is a test set under shift; here a data set with train and val is needed. "
            "Give the reference of the clean one."
        )
    return data


def opened_images(reference: Mapping[str, Any], *, digest: str | None = None) -> LabelledImages:
    """Return the data set, or the test set under shift, of a reference.

    Args:
        reference: ``DatasetRef.to_json()``.
        digest: The content that is wanted; None opens it afresh.

    Raises:
        InvalidInput: The content is other than that the work was planned for.
    """
    ref = DatasetRef.from_json(reference)
    data = _datasets.get(_key(reference), lambda: open_images(ref), accept=lambda kept: kept.digest == digest)
    if digest not in (None, data.digest):
        raise InvalidInput(
            f"dataset {ref.slug!r} has other content now ({data.digest[:12]}) than when the extraction was planned "
            f"({str(digest)[:12]}). Put the files back, or plan again: new content gets an address of its own."
        )
    return data


def _file_stamp(name: str) -> tuple[str, ...]:
    """Return size and time of change of a weights file; nothing for a backbone that is known by name."""
    try:
        about = os.stat(name)
    except OSError:
        return ()
    return str(about.st_size), str(about.st_mtime_ns)


def _key(reference: Mapping[str, Any], *more: str) -> str:
    return json.dumps([dict(reference), *more], sort_keys=True)
