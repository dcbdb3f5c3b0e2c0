"""Which test sets a fitted classifier may be asked about.

Shifts of its clean dataset, under the same backbone and token, with the test split alone; and the clean test split itself.
"""

from __future__ import annotations

from typing import Any

from tasks.opened import opened_dataset, opened_images
from tasks.pinned_features import pinned_features
from tasks.pinned_fusion import FittedCell
from vitgeom.data import ImageDataset, ShiftedTest
from vitgeom.errors import InvalidInput
from vitgeom.store.features import FeatureStore

TEST = "test"
_BACKBONE = ("weights", "preprocessing", "precision", "schema")
"""Parts of a description that must be the same; the number format of the store may differ, for features under shift can need a wider one."""


def admitted(
    features: FeatureStore, fitted: FittedCell, *, dataset: dict[str, Any], store: str
) -> ShiftedTest | ImageDataset:
    """Return the images behind sealed features, or refuse them.

    Features that the classifiers were fitted on are admitted for their test split: it says what batch statistics cost where nothing changed.

    Args:
        features: Of the shifted test set.
        fitted: The classifiers.
        dataset: Reference that the features were extracted from.
        store: URI of the store, which holds the features that the classifiers were fitted on.

    Raises:
        InvalidInput: There are other splits than test, the features are of another backbone or lack the token, or the set is a shift of
            another dataset than the classifiers were fitted on.
    """
    pinned = fitted.features
    clean = pinned_features(store, pinned["address"], manifest_digest=pinned["manifest_digest"])
    if features.root.uri == clean.root.uri:
        return opened_dataset(dataset, digest=clean.description["dataset"])
    _require_test_alone(features)
    _require_same_backbone(features, clean)
    _require_token(features, fitted.settings["token"])
    images = opened_images(dataset, digest=features.description["dataset"])
    assert isinstance(images, ShiftedTest), "a dataset has a train split, which was refused above"
    if images.clean_digest != clean.description["dataset"]:
        raise InvalidInput(
            f"{features.root.uri} is a shift of the dataset with digest {images.clean_digest[:12]!r}, but the classifiers were fitted on "
            f"{clean.description['dataset'][:12]!r} ({pinned['address']}). Extract the shift of that dataset."
        )
    return images


def _require_test_alone(features: FeatureStore) -> None:
    if list(features.splits) != [TEST]:
        raise InvalidInput(
            f"{features.root.uri} has the splits {', '.join(features.splits)}; a test set under shift has 'test' alone, so that nothing can be "
            "fitted or chosen on it, and these are not the features that the classifiers were fitted on. Extract one by its reference, such as "
            "corrupted_ref(...)."
        )


def _require_same_backbone(features: FeatureStore, clean: FeatureStore) -> None:
    given, wanted = features.description, clean.description
    other = [part for part in _BACKBONE if given[part] != wanted[part]]
    if (features.num_layers, features.width) != (clean.num_layers, clean.width):
        other.append("layers")
    if other:
        raise InvalidInput(
            f"{features.root.uri} was extracted with another backbone than the classifiers' features at {clean.root.uri}: "
            f"{', '.join(other)} differ. Extract the shifted test set with the same backbone and precision."
        )


def _require_token(features: FeatureStore, token: str) -> None:
    if token not in features.description["tokens"]:
        raise InvalidInput(
            f"the classifiers were fitted on token {token!r}, but {features.root.uri} holds {', '.join(features.description['tokens'])}. "
            f"Extract the shifted test set with extract.tokens that name {token!r}."
        )
