from __future__ import annotations

import torch

from vitgeom.adamw import AdamW
from vitgeom.seeding import generator_for


def test_steps_are_those_of_pytorch():
    g = generator_for(0, "adamw")
    start = [torch.randn(4, 3, generator=g), torch.randn(5, generator=g)]
    ours, theirs = ([part.clone().requires_grad_() for part in start] for _ in range(2))
    mine = AdamW(ours, learning_rate=0.03, weight_decay=0.1)
    reference = torch.optim.AdamW(theirs, lr=0.03, weight_decay=0.1)
    for _ in range(20):
        gradients = [torch.randn(part.shape, generator=g) for part in start]
        mine.step(gradients)
        for part, gradient in zip(theirs, gradients, strict=True):
            part.grad = gradient.clone()
        reference.step()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_without_gradient_only_the_decay_acts():
    weight = torch.ones(3, requires_grad=True)
    AdamW([weight], learning_rate=0.1, weight_decay=0.5).step([torch.zeros(3)])
    assert weight.tolist() == torch.full((3,), 0.95).tolist()


def test_it_goes_on_from_stored_moments_as_if_nothing_had_happened():
    g = generator_for(0, "resumed")
    weight, gradients = torch.randn(6, generator=g), torch.randn(8, 6, generator=g)
    whole, first, second = (weight.clone().requires_grad_() for _ in range(3))
    settings = {"learning_rate": 0.02, "weight_decay": 0.1}
    one, before, after = (AdamW([each], **settings) for each in (whole, first, second))
    for gradient in gradients:
        one.step([gradient])
    for gradient in gradients[:5]:
        before.step([gradient])
    with torch.no_grad():
        second.copy_(first)
    *moments, steps = before.moments()
    after.resume(*moments, steps=steps)
    for gradient in gradients[5:]:
        after.step([gradient])
    assert torch.equal(second, whole)
