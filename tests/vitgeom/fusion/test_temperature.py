from __future__ import annotations

import pytest
import torch
from scipy.optimize import minimize_scalar

from vitgeom.fusion.temperature import LARGEST, SMALLEST, fit_temperatures
from vitgeom.seeding import generator_for


def noisy(scale: float, *, rows: int = 200, classes: int = 4, seed: int = 0):
    g = generator_for(seed, "temperature")
    target = torch.randint(classes, (rows,), generator=g)
    logits = torch.randn(rows, classes, generator=g, dtype=torch.float64)
    logits[torch.arange(rows), target] += 1.0
    return scale * logits, target


def log_loss(logits, target, temperature: float) -> float:
    return float(torch.nn.functional.cross_entropy(logits / temperature, target))


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_the_loss_is_least_where_a_scalar_minimiser_finds_it(scale):
    logits, target = noisy(scale)
    found = float(fit_temperatures(logits[:, None], target)[0])
    oracle = minimize_scalar(
        lambda beta: log_loss(logits, target, 1 / beta), bounds=(1 / LARGEST, 1 / SMALLEST), method="bounded"
    )
    assert found == pytest.approx(1 / oracle.x, rel=1e-3)
    assert log_loss(logits, target, found) <= oracle.fun + 1e-12


def test_layers_are_independent_and_scaled_logits_have_a_scaled_temperature():
    logits, target = noisy(1.0)
    found = fit_temperatures(torch.stack([logits, 4 * logits, logits], dim=1), target)
    assert found[1] == pytest.approx(4 * float(found[0]), rel=1e-9)
    assert found[2] == found[0]


def test_temperatures_stay_within_their_bounds():
    logits, target = noisy(1.0)
    sure = 10 * torch.nn.functional.one_hot(target, 4).double()
    found = fit_temperatures(torch.stack([sure, -sure, torch.zeros_like(sure)], dim=1), target)
    assert found[0] == pytest.approx(SMALLEST)
    assert found[1] == pytest.approx(LARGEST)
    assert SMALLEST <= found[2] <= LARGEST
    assert logits.shape == sure.shape


def test_rows_of_an_unknown_class_have_no_say():
    logits, target = noisy(2.0)
    some = target.clone()
    some[:50] = -1
    assert fit_temperatures(logits[:, None], some)[0] == pytest.approx(
        float(fit_temperatures(logits[50:, None], target[50:])[0]), rel=1e-12
    )
    assert fit_temperatures(logits[:, None], torch.full_like(target, -1)).tolist() == [1.0]
