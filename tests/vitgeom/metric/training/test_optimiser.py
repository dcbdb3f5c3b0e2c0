from __future__ import annotations

import pytest
import torch
from torch import nn

from vitgeom.errors import NumericalFailure
from vitgeom.metric.training.optimiser import Optimiser
from vitgeom.seeding import generator_for


def module() -> nn.Module:
    layer = nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.fill_(1.0)
        layer.bias.fill_(1.0)
    return layer


def gradients(step: int) -> list[torch.Tensor]:
    generator = generator_for(0, "gradients", step)
    return [torch.randn(2, 3, generator=generator), torch.randn(2, generator=generator)]


def test_steps_are_those_of_pytorch_with_two_groups_and_clipping() -> None:
    ours, theirs = module(), module()
    mine = Optimiser(ours, learning_rate=0.1, weight_decay=0.2)
    groups = [{"params": [theirs.weight], "weight_decay": 0.2}, {"params": [theirs.bias], "weight_decay": 0.0}]  # fmt: skip
    reference = torch.optim.AdamW(groups, lr=0.1)
    for step in range(10):
        found = gradients(step)
        norm = mine.step(found, share=1.0, clip_norm=0.5)
        theirs.weight.grad, theirs.bias.grad = (one.clone() for one in found)
        assert norm == pytest.approx(float(nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)), rel=1e-6)
        reference.step()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
    assert mine.steps == 10


def test_short_gradients_and_zeros_are_not_lengthened() -> None:
    ours = module()
    optimiser = Optimiser(ours, learning_rate=0.1, weight_decay=0.5)
    assert optimiser.step([torch.zeros(2, 3), torch.zeros(2)], share=1.0, clip_norm=1.0) == 0
    assert ours.weight.unique().tolist() == pytest.approx([0.95])
    assert ours.bias.tolist() == [1.0, 1.0]


def test_frozen_weights_are_left_out() -> None:
    ours = module()
    ours.bias.requires_grad_(False)
    assert Optimiser(ours, learning_rate=0.1, weight_decay=0.0).names == ("weight",)


def test_moments_are_copies_and_lead_on() -> None:
    whole, half = module(), module()
    one = Optimiser(whole, learning_rate=0.1, weight_decay=0.1)
    for step in range(4):
        one.step(gradients(step), share=1.0, clip_norm=1.0)
    first = Optimiser(half, learning_rate=0.1, weight_decay=0.1)
    for step in range(2):
        first.step(gradients(step), share=1.0, clip_norm=1.0)
    kept = first.tensors()
    assert set(kept) == {"first.weight", "first.bias", "second.weight", "second.bias"}
    second = Optimiser(half, learning_rate=0.1, weight_decay=0.1)
    second.resume(kept, steps=2)
    for step in range(2, 4):
        second.step(gradients(step), share=1.0, clip_norm=1.0)
    assert torch.equal(half.weight, whole.weight)
    assert torch.equal(half.bias, whole.bias)
    assert not torch.equal(kept["first.weight"], second.tensors()["first.weight"])


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_a_gradient_that_is_not_finite_is_named_and_changes_nothing(bad: float) -> None:
    ours = module()
    optimiser = Optimiser(ours, learning_rate=0.1, weight_decay=0.1)
    with pytest.raises(NumericalFailure, match=r"gradient is not finite .*: bias"):
        optimiser.step([torch.ones(2, 3), torch.tensor([bad, 1.0])], share=1.0, clip_norm=1.0)
    assert ours.weight.unique().tolist() == [1.0]
