"""Fitted classifiers travel through a store: the same predictions, the same bytes, and a clear word where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.classifier_files import classifier_bytes, classifier_name, read_classifier
from tests.support.fusion_data import TEST, evidence, part
from vitgeom.errors import CorruptData, StoreError
from vitgeom.fusion.last_layer import LastLayerClassifier
from vitgeom.store.uri import Root

PLACE = Root("memory://classifier-files")


def test_what_is_read_predicts_what_was_written() -> None:
    fitted = LastLayerClassifier().fit_evidence(evidence())
    assert classifier_bytes(fitted) == classifier_bytes(fitted)
    PLACE.write_bytes(classifier_name("last_layer", None), classifier_bytes(fitted))
    x, _ = part(TEST)
    np.testing.assert_array_equal(
        read_classifier(PLACE, "last_layer", None).predict_log_proba(x), fitted.predict_log_proba(x)
    )


def test_seeds_have_files_of_their_own() -> None:
    assert classifier_name("vfusion", 2) == "vfusion-2.safetensors"


def test_a_missing_or_damaged_file_is_told() -> None:
    with pytest.raises(StoreError, match=r"holds no vfusion-7\.safetensors"):
        read_classifier(PLACE, "vfusion", 7)
    PLACE.write_bytes("torn.safetensors", b"torn")
    with pytest.raises(CorruptData, match="holds no classifier"):
        read_classifier(PLACE, "torn", None)
