from __future__ import annotations

from typing import Any

import pytest

from tests.support.directed_results import directed_pair
from vitgeom.errors import InvalidInput
from vitgeom.report.directions_metrics import metric_sentences

DECODERS = (("scenes_camera", 10), ("scenes_camera:so3", 10))


def agreement(**changes: Any) -> dict[str, Any]:
    rank = {"images": 3, "mean": {"value": 0.9982, "low": 0.9971, "high": 0.9991}}
    found = {
        "decoder": "scenes_camera",
        "layer": 10,
        "metric": "so3",
        "rank_agreement": {"importance": rank, "block_norms": rank},
    }
    return {**found, **changes}


def test_both_shares_and_the_agreement_are_told_beside_the_paper() -> None:
    pair = directed_pair(decoders=DECODERS, agreements=[agreement()])
    assert [one.label for one in pair.decoders] == [
        "camera pose from layer 10",
        "camera pose, rotations as angles from layer 10",
    ]
    [told] = metric_sentences(pair)
    assert told.startswith(
        "Camera pose, rotations as angles from layer 10, beside the plain measure: the best directions hold"
    )
    assert "0.998 (Spearman, 95 % interval 0.997 to 0.999, n = 3 images)" in told
    assert "0.995" in told


def test_images_without_ranks_are_told() -> None:
    none = {"importance": None, "block_norms": None}
    [told] = metric_sentences(directed_pair(decoders=DECODERS, agreements=[agreement(rank_agreement=none)]))
    assert "no image ranks its tokens" in told


def test_without_another_measure_nothing_is_said() -> None:
    assert metric_sentences(directed_pair()) == []


def test_a_comparison_with_what_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput, match="compare scenes_camera-so3-layer9, which is not among them"):
        directed_pair(decoders=DECODERS, agreements=[agreement(layer=9)])
