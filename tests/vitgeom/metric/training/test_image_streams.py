from __future__ import annotations

import torch

from vitgeom.metric.training import image_generators
from vitgeom.seeding import generator_for


def drawn(rows: list[int], *, epoch: int = 1) -> list[float]:
    streams = image_generators(generator_for(0, "loss", epoch), torch.tensor(rows))
    return [float(torch.rand((), generator=one)) for one in streams]


def test_what_is_drawn_belongs_to_the_image_not_to_its_place() -> None:
    assert drawn([4, 7]) == drawn([7, 4])[::-1] == [*drawn([4]), *drawn([7])]
    assert len(set(drawn(list(range(20))))) == 20


def test_another_step_draws_anew_and_the_steps_generator_is_left_alone() -> None:
    assert drawn([4]) != drawn([4], epoch=2)
    step = generator_for(0, "loss", 1)
    before = step.get_state()
    image_generators(step, torch.arange(3))
    assert torch.equal(step.get_state(), before)
