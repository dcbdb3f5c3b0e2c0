from __future__ import annotations

import pytest
import torch

from vitgeom.decoders.embedded_heads import SCENE_HEADS
from vitgeom.decoders.geometry import PatchGeometry
from vitgeom.decoders.head_file import KINDS
from vitgeom.decoders.training.jobs import JOBS, TAPS, mean_pose, median_map, predict

GEOMETRY = PatchGeometry(1, 1, (8, 8), (64, 64))


def test_there_is_a_job_for_every_head_that_comes_with_the_package():
    assert tuple(JOBS) == SCENE_HEADS


@pytest.mark.parametrize("name", list(JOBS))
def test_each_builds_the_kind_of_head_that_it_names(name):
    head = JOBS[name].build(96)
    assert type(head) is KINDS[JOBS[name].kind][1]
    taps = torch.randn(51, len(TAPS), 65, 96)
    whole = predict(head.eval(), taps, geometry=GEOMETRY)
    alone = head(list(taps[50:].unbind(1)), geometry=GEOMETRY)
    torch.testing.assert_close(whole[50:], alone, rtol=1e-4, atol=1e-5)


def test_constants_by_hand():
    assert median_map(torch.tensor([[1.0, 5.0], [2.0, 4.0], [9.0, 3.0]])).tolist() == [2.0, 4.0]
    poses = torch.zeros(2, 9)
    poses[0, 3:7], poses[1, 3:7] = torch.tensor([1.0, 0, 0, 0]), torch.tensor([0, 1.0, 0, 0])
    poses[1, 0] = 2
    mean = mean_pose(poses)
    assert float(mean[0]) == 1
    torch.testing.assert_close(mean[3:7], torch.tensor([0.5**0.5, 0.5**0.5, 0, 0]))
