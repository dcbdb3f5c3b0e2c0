from __future__ import annotations

import math

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.fusion.quality import log_loss, quality_scale

LOSS = torch.tensor([1.2, 0.7, 0.4, 0.5], dtype=torch.float64)


def test_the_formula_layer_by_layer():
    raw = [math.exp(-5.0 * (loss - 0.4)) for loss in LOSS.tolist()]
    size = math.sqrt(sum(value**2 for value in raw) / 4)

    assert quality_scale(LOSS, temperature=5.0).tolist() == pytest.approx([value / size for value in raw])


def test_no_temperature_is_plain_concatenation():
    assert torch.equal(quality_scale(LOSS, temperature=0.0), torch.ones(4, dtype=torch.float64))


def test_a_very_high_temperature_leaves_the_best_layer_alone():
    assert quality_scale(LOSS, temperature=1e6).tolist() == [0.0, 0.0, 2.0, 0.0]


@pytest.mark.parametrize("temperature", [-1.0, float("inf"), float("nan")])
def test_a_temperature_that_cannot_be_is_refused(temperature):
    with pytest.raises(InvalidInput, match="must be >= 0 and finite"):
        quality_scale(LOSS, temperature=temperature)


def test_a_loss_that_is_not_finite_is_refused():
    with pytest.raises(InvalidInput, match="layer losses must be finite"):
        quality_scale(torch.tensor([1.0, float("nan")], dtype=torch.float64), temperature=1.0)


def test_log_loss_is_the_mean_over_rows():
    logits = torch.tensor([[[2.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [5.0, 5.0]]])
    first = (math.log(1 + math.exp(-2.0)) + math.log(1 + math.exp(1.0))) / 2

    assert log_loss(logits, torch.tensor([0, 0])).tolist() == pytest.approx([first, math.log(2)])
