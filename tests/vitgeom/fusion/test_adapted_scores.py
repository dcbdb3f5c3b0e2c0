"""Scores with batch statistics against counting and resampling by loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.fusion.adapted_scores import ITSELF_AS_IS, LAST_ADAPTED, LAST_AS_IS, adapted_scores
from vitgeom.fusion.under_shift import ShiftScore
from vitgeom.seeding import generator_for

RIGHT = {
    "last_layer": torch.tensor([1.0, 0, 0, 1, 0, 1, 1, 0]).double(),
    "vfusion": torch.tensor([1.0, 2 / 3, 1 / 3, 1, 0, 0, 0, 1]).double(),
}
ADAPTED = {
    "last_layer": torch.tensor([1.0, 1, 0, 1, 0, 1, 1, 0]).double(),
    "vfusion": torch.tensor([1.0, 1, 1 / 3, 1, 1, 1, 1, 1]).double(),
}


def scored(right: dict[str, torch.Tensor], adapted: dict[str, torch.Tensor]) -> dict[str, ShiftScore]:
    found = adapted_scores(right, adapted, num_resamples=400, generator=generator_for(0, "test"))
    return {score.name: score for score in found}


def test_intervals_are_those_of_resampling_by_loops() -> None:
    found = scored(RIGHT, ADAPTED)
    drawn = torch.randint(8, (400, 8), generator=generator_for(0, "test")).numpy()
    for name in RIGHT:
        rivals = {
            ITSELF_AS_IS: RIGHT[name],
            LAST_AS_IS: RIGHT["last_layer"],
            LAST_ADAPTED: ADAPTED["last_layer"],
        }
        if name == "last_layer":
            del rivals[LAST_ADAPTED]
        assert list(found[name].differences) == list(rivals)
        assert found[name].accuracy.value == pytest.approx(float(ADAPTED[name].mean()))
        for rival, values in rivals.items():
            gains = (ADAPTED[name] - values).numpy()
            means = [np.mean([gains[row] for row in rows]) for rows in drawn]
            span = found[name].differences[rival]
            assert span.value == pytest.approx(gains.mean())
            assert [span.low, span.high] == pytest.approx(list(np.quantile(means, [0.025, 0.975])))


def test_where_nothing_changes_nothing_is_gained() -> None:
    span = scored(RIGHT, RIGHT)["vfusion"].differences[ITSELF_AS_IS]
    assert (span.value, span.low, span.high) == (0, 0, 0)


def test_without_a_last_layer_a_method_has_only_itself_to_be_compared_with() -> None:
    alone = scored({"vfusion": RIGHT["vfusion"]}, {"vfusion": ADAPTED["vfusion"]})
    assert set(alone["vfusion"].differences) == {ITSELF_AS_IS}


def test_other_methods_or_samples_are_refused() -> None:
    with pytest.raises(InvalidInput, match="must hold the same methods"):
        scored(RIGHT, {"vfusion": ADAPTED["vfusion"]})
    with pytest.raises(InvalidInput, match=r"on the same samples, got \{'a': 2\} and \{'a': 3\}"):
        scored({"a": torch.ones(2).double()}, {"a": torch.ones(3).double()})
    with pytest.raises(InvalidInput, match=r"at least one, .* got \{\} and \{\}"):
        scored({}, {})
