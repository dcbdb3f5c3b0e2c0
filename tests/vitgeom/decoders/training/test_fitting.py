from __future__ import annotations

from dataclasses import replace

import torch

from vitgeom.decoders.geometry import PatchGeometry
from vitgeom.decoders.training.fitting import WARM_UP, fit_head, schedule
from vitgeom.decoders.training.jobs import JOBS, HeadRecipe, predict

GEOMETRY = PatchGeometry(1, 1, (2, 2), (16, 16))


def test_a_head_learns_what_stands_in_the_tokens_and_the_same_seed_gives_the_same_weights():
    job = replace(JOBS["scenes_camera"], recipe=HeadRecipe(steps=150, batch=16))
    taps = torch.randn(64, 4, 5, 12, generator=torch.Generator().manual_seed(0))
    targets = torch.zeros(64, 9)
    targets[:, 6], targets[:, 7:] = 1, 0.8
    targets[:, 2] = 4 + taps[:, 0, 0, 0]
    heads = [fit_head(job, taps, targets, geometry=GEOMETRY, progress=lambda line: None) for _ in range(2)]
    for key, tensor in heads[0].state_dict().items():
        assert torch.equal(tensor, heads[1].state_dict()[key])
    assert not heads[0].training
    with torch.no_grad():
        found = job.loss(predict(heads[0], taps, geometry=GEOMETRY), targets)
        constant = job.loss(targets.mean(0).expand_as(targets), targets)
    assert float(found) < 0.5 * float(constant)


def test_progress_is_told_every_hundred_steps():
    lines = []
    job = replace(JOBS["scenes_camera"], recipe=HeadRecipe(steps=200, batch=2))
    fit_head(job, torch.randn(4, 4, 5, 12), torch.rand(4, 9), geometry=GEOMETRY, progress=lines.append)
    assert [line.split(":")[0] for line in lines] == [
        "scenes_camera step 100/200",
        "scenes_camera step 200/200",
    ]


def test_the_rate_rises_then_falls_to_nothing():
    shares = [schedule(number, steps=1000) for number in range(1000)]
    assert shares[0] == 1 / WARM_UP
    assert max(shares) == max(shares[: 2 * WARM_UP])
    assert shares[-1] < 1e-4
