"""Fitted classifiers as files of a store: they can be read back and asked about any other split."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from vitgeom.errors import StoreError
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.fusion.saving import load, save
from vitgeom.store.uri import Root


def classifier_name(method: str, seed: int | None) -> str:
    """Return the name of the file of one fitted classifier.

    Args:
        method: Name of the method.
        seed: Its seed; None where the method has no randomness.
    """
    return f"{method}.safetensors" if seed is None else f"{method}-{seed}.safetensors"


def classifier_bytes(classifier: LayerClassifier) -> bytes:
    """Return the file of a fitted classifier; equal classifiers give equal bytes."""
    with TemporaryDirectory() as folder:
        return save(classifier, Path(folder)).read_bytes()


def read_classifier(place: Root, method: str, seed: int | None) -> LayerClassifier:
    """Read one fitted classifier.

    Args:
        place: Where a fit put its results.
        method: Name of the method.
        seed: Its seed; None where the method has no randomness.

    Raises:
        StoreError: It is not there.
        CorruptData: It is damaged.
    """
    name = classifier_name(method, seed)
    data = place.get(name)
    if data is None:
        raise StoreError(
            f"{place.uri} holds no {name}; name a method and a seed that were fitted there, or fit again."
        )
    with TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_bytes(data)
        return load(file)
