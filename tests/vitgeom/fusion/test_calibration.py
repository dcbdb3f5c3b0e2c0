from __future__ import annotations

import math

import pytest
import torch

from vitgeom.fusion.calibration import BOUNDS, best_scale, known_log_loss, log_prior
from vitgeom.fusion.quality import log_loss
from vitgeom.seeding import generator_for

G = generator_for(0, "logits")
LOGITS = torch.randn(200, 3, generator=G, dtype=torch.float64)
TARGET = (3.0 * LOGITS + torch.randn(200, 3, generator=G, dtype=torch.float64) * 4).argmax(dim=1)
ZERO = torch.zeros(3, dtype=torch.float64)


def test_no_scale_of_a_fine_grid_is_better():
    scale, loss = best_scale(LOGITS, TARGET, offset=ZERO)

    grid = [float(log_loss((s * LOGITS)[:, None], TARGET)[0]) for s in torch.logspace(-2, 2, 400).tolist()]
    assert loss <= min(grid) + 1e-9
    assert loss == pytest.approx(float(log_loss((scale * LOGITS)[:, None], TARGET)[0]))


def test_scaling_the_logits_scales_the_answer_back():
    one, _ = best_scale(LOGITS, TARGET, offset=ZERO)
    ten, _ = best_scale(10.0 * LOGITS, TARGET, offset=ZERO)

    assert ten == pytest.approx(one / 10.0, rel=1e-2)


def test_the_offset_is_not_scaled():
    offset = log_prior(torch.tensor([0.7, 0.2, 0.1], dtype=torch.float64))
    scale, loss = best_scale(LOGITS, TARGET, offset=offset)

    assert loss == pytest.approx(float(log_loss((offset + scale * LOGITS)[:, None], TARGET)[0]))


def test_separable_rows_end_at_the_bound_instead_of_at_infinity():
    scale, loss = best_scale(torch.eye(3, dtype=torch.float64), torch.arange(3), offset=ZERO)

    assert scale <= BOUNDS[1]
    assert loss == pytest.approx(0.0, abs=1e-6)


def test_rows_of_unknown_classes_say_nothing():
    mixed = torch.cat([TARGET, torch.tensor([-1, -1])])
    rows = torch.cat([LOGITS, torch.full((2, 3), 50.0, dtype=torch.float64)])

    assert best_scale(rows, mixed, offset=ZERO) == best_scale(LOGITS, TARGET, offset=ZERO)
    assert known_log_loss(rows, mixed) == known_log_loss(LOGITS, TARGET)


def test_without_any_known_row_there_is_no_loss():
    scale, loss = best_scale(LOGITS[:2], torch.tensor([-1, -1]), offset=ZERO)

    assert scale == 1.0
    assert math.isnan(loss)
    assert math.isnan(known_log_loss(LOGITS[:2], torch.tensor([-1, -1])))
