from __future__ import annotations

import torch

from vitgeom.metric.training import WorkerGroup
from vitgeom.metric.training.worker_group import Alone


def test_one_worker_alone_is_a_group_that_changes_nothing() -> None:
    alone, tensor = Alone(), torch.arange(3.0)
    alone.all_reduce(tensor)
    assert isinstance(alone, WorkerGroup)
    assert tensor.tolist() == [0, 1, 2]
    assert (alone.rank, alone.world_size) == (0, 1)
