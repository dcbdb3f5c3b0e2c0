from __future__ import annotations

import dataclasses

import pytest
import torch

from tests.support.fused_results import across, fused_pair
from vitgeom.errors import InvalidInput
from vitgeom.report.joined_pair import joined
from vitgeom.significance import mcnemar


def test_the_method_on_several_backbones_is_compared_on_the_same_images() -> None:
    pair, other = fused_pair(skills={"last_layer": 0.6, "vfusion": 0.8}), across()
    found = joined(pair, [across(dataset="photos"), other])

    assert [row.name for row in found.methods] == ["last_layer", "vfusion", "hfusion"]
    [*_, row] = found.methods
    assert (row.title, row.family, row.backbone_passes) == ("HFusion", "horizontal", 2)
    right = {name: given == found.answers.target for name, given in found.answers.predicted.items()}
    gain = right["hfusion"].double().mean() - right["vfusion"].double().mean()
    assert row.score.difference is not None
    assert row.score.difference.value == pytest.approx(float(gain))
    assert row.score.mcnemar_p == mcnemar(right["hfusion"][0], right["vfusion"][0]).p
    assert found.comparison.row("hfusion") == row.score


def test_a_dataset_with_one_backbone_stays_as_it_is() -> None:
    pair = fused_pair()
    assert joined(pair, [across(dataset="photos")]) is pair


def test_other_test_images_are_refused() -> None:
    other = across()
    answers = dataclasses.replace(other.answers, target=torch.ones_like(other.answers.target))
    with pytest.raises(
        InvalidInput, match=r"digits × a . b and digits × nano_supervised must have the same test images"
    ):
        joined(fused_pair(), [dataclasses.replace(other, answers=answers)])
