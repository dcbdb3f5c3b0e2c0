"""Scores under shift against counting and resampling by loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.fusion.under_shift import ShiftScore, share_right, shift_scores
from vitgeom.seeding import generator_for

RIGHT = {
    "last_layer": torch.tensor([1.0, 0, 0, 1, 0, 1, 1, 0]).double(),
    "stacking": torch.tensor([1.0, 1, 0, 1, 0, 1, 0, 1]).double(),
    "vfusion": torch.tensor([1.0, 2 / 3, 1 / 3, 1, 0, 1, 1, 1]).double(),
}


def scored(right: dict[str, torch.Tensor], **options: object) -> dict[str, ShiftScore]:
    given = {"num_resamples": 400, "generator": generator_for(0, "test"), **options}
    return {score.name: score for score in shift_scores(right, **given)}  # type: ignore[arg-type]


def test_a_share_is_counted_seed_by_seed_and_an_unknown_class_is_never_right() -> None:
    predicted = torch.tensor([[0, 1, 2, 0], [0, 2, 2, 0], [1, 1, 2, 0]])
    target = torch.tensor([0, 1, 1, -1])
    counted = [sum(int(line[row] == target[row]) for line in predicted) / len(predicted) for row in range(4)]
    assert share_right(predicted, target).tolist() == pytest.approx(counted)


def test_intervals_are_those_of_resampling_by_loops() -> None:
    found = scored(RIGHT)
    generator, size = generator_for(0, "test"), 8
    # The draws of ``vitgeom.bootstrap``: all resamples of so few samples are drawn at once.
    drawn = torch.randint(size, (400, size), generator=generator).numpy()
    values = {name: share.numpy() for name, share in RIGHT.items()}
    for name in RIGHT:
        means = [np.mean([values[name][row] for row in rows]) for rows in drawn]
        gains = [np.mean([values[name][row] - values["last_layer"][row] for row in rows]) for rows in drawn]
        accuracy = found[name].accuracy
        assert accuracy.value == pytest.approx(values[name].mean())
        assert [accuracy.low, accuracy.high] == pytest.approx(list(np.quantile(means, [0.025, 0.975])))
        if name != "last_layer":
            gain = found[name].differences["last_layer"]
            assert gain.value == pytest.approx(values[name].mean() - values["last_layer"].mean())
            assert [gain.low, gain.high] == pytest.approx(list(np.quantile(gains, [0.025, 0.975])))


def test_a_method_is_not_compared_with_itself_and_a_missing_reference_with_nobody() -> None:
    found = scored(RIGHT)
    assert {name: set(score.differences) for name, score in found.items()} == {
        "last_layer": {"vfusion"},
        "stacking": {"vfusion", "last_layer"},
        "vfusion": {"last_layer"},
    }
    alone = scored({"stacking": RIGHT["stacking"]})
    assert alone["stacking"].differences == {}


def test_equal_methods_have_no_difference_and_no_width() -> None:
    found = scored({"last_layer": RIGHT["vfusion"], "vfusion": RIGHT["vfusion"]})
    span = found["vfusion"].differences["last_layer"]
    assert (span.value, span.low, span.high) == (0, 0, 0)


def test_a_row_survives_its_json() -> None:
    score = scored(RIGHT)["stacking"]
    assert ShiftScore.from_json(score.to_json()) == score


def test_other_samples_are_refused() -> None:
    with pytest.raises(InvalidInput, match="same samples, got 4 and 3"):
        share_right(torch.zeros(2, 4, dtype=torch.int64), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(InvalidInput, match=r"as many samples of each, got \{'a': 2, 'b': 3\}"):
        scored({"a": torch.ones(2).double(), "b": torch.ones(3).double()})
    with pytest.raises(InvalidInput, match=r"at least one method, and .* got \{\}"):
        scored({})
