"""Only the features that were named are opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.pinned_features import pinned_features
from tests.support.small_fusion import sealed_features
from vitgeom.errors import InvalidInput


def test_features_of_the_digest_are_opened_and_others_refused(tmp_path: Path) -> None:
    sealed = sealed_features(tmp_path)
    features = pinned_features(str(tmp_path), sealed.address, manifest_digest=sealed.digest)
    assert features.manifest().digest == sealed.digest
    with pytest.raises(
        InvalidInput, match="manifest_digest='000000000000' was asked for, but the features at"
    ):
        pinned_features(str(tmp_path), sealed.address, manifest_digest="0" * 64)
