from __future__ import annotations

import pytest
import torch
from torch import nn

from vitgeom.backbones.pretraining.muon import Muon
from vitgeom.backbones.pretraining.optimisation import WARM_UP, Descent, Rates, schedule


def test_schedule_warms_up_stays_and_ends_near_zero():
    steps = 1000
    values = [schedule(number, steps=steps) for number in range(steps)]
    assert values[0] == pytest.approx(1 / WARM_UP)
    assert values[WARM_UP : steps * 4 // 10] == pytest.approx([1.0] * (steps * 4 // 10 - WARM_UP))
    assert values[-1] == pytest.approx(1 / 600)
    assert all(
        later <= earlier for earlier, later in zip(values[WARM_UP:], values[WARM_UP + 1 :], strict=False)
    )


def test_matrices_of_blocks_go_to_muon_and_every_other_parameter_to_adam():
    block, head = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)), nn.Linear(4, 2)
    descent = Descent([block], [*block.parameters(), *head.parameters()], steps=10, rates=Rates())
    (muon, _), (adam, _) = descent._optimisers
    assert isinstance(muon, Muon)
    assert [p.shape for p in muon.param_groups[0]["params"]] == [(4, 4)]
    assert sum(p.numel() for p in adam.param_groups[0]["params"]) == 4 + 4 + 4 + 8 + 2


def test_steps_lower_a_loss():
    torch.manual_seed(0)
    block, head = nn.Linear(4, 4), nn.Linear(4, 1)
    inputs = torch.randn(64, 4)
    wanted = inputs[:, :1] * 2
    descent = Descent([block], [*block.parameters(), *head.parameters()], steps=300, rates=Rates(rest=1e-2))

    def loss():
        return (head(block(inputs)) - wanted).square().mean()

    before = loss().item()
    for number in range(300):
        descent.step(loss(), number)
    assert loss().item() < 0.01 * before
