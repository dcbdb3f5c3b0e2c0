from __future__ import annotations

import torch
from torch import Tensor

from tests.vitgeom.metric.training.toy_learner import ToyLearner, toy_examples
from vitgeom.metric.training.placement import Placement
from vitgeom.metric.training.step import gradients_of
from vitgeom.metric.training.worker_group import Alone
from vitgeom.seeding import generator_for


class Recorded:
    """A worker whose sums are written down instead of exchanged."""

    def __init__(self, rank: int, world_size: int) -> None:
        self.rank, self.world_size = rank, world_size
        self.given: list[Tensor] = []

    def all_reduce(self, tensor: Tensor) -> None:
        self.given.append(tensor.clone())


def step(group, rows: Tensor) -> list[Tensor]:
    learner = ToyLearner()
    gradients, _ = gradients_of(
        learner,
        toy_examples(9),
        rows,
        weights=list(learner.module.parameters()),
        placement=Placement.on("cpu"),
        group=group,
        generator=generator_for(0, "step"),
    )
    return gradients


def test_shares_of_several_workers_add_up_to_the_gradient_of_one() -> None:
    for rows in (torch.tensor([3, 1, 8, 0, 5]), torch.tensor([2])):
        alone = torch.cat([one.flatten() for one in step(Alone(), rows)])
        for world_size in (2, 3, 6):
            groups = [Recorded(rank, world_size) for rank in range(world_size)]
            for group in groups:
                step(group, rows)
            assert all(len(group.given) == 1 for group in groups)
            total = torch.stack([group.given[0] for group in groups]).sum(dim=0)
            torch.testing.assert_close(total[: len(alone)], alone, rtol=1e-5, atol=1e-6)


def test_weights_that_the_loss_does_not_touch_get_zeros() -> None:
    learner = ToyLearner()
    learner.module.unused = torch.nn.Parameter(torch.ones(2))
    gradients, terms = gradients_of(
        learner,
        toy_examples(3),
        torch.arange(3),
        weights=list(learner.module.parameters()),
        placement=Placement.on("cpu"),
        group=Alone(),
        generator=generator_for(0, "step"),
    )
    assert gradients[-1].tolist() == [0, 0]
    assert set(terms) == {"total", "size"}
