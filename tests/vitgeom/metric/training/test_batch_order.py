from __future__ import annotations

import pytest
import torch

from vitgeom.metric.training.batch_order import epoch_batches, num_batches, shard


@pytest.mark.parametrize(("images", "size"), [(1, 8), (8, 8), (9, 8), (23, 5), (200, 16)])
def test_every_image_once_in_batches_of_nearly_one_size(images: int, size: int) -> None:
    batches = epoch_batches(images, batch_size=size, seed=0, epoch=1)
    lengths = [len(rows) for rows in batches]
    assert torch.cat(batches).sort().values.tolist() == list(range(images))
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1
    assert len(batches) == num_batches(images, batch_size=size) == -(-images // size)


def test_the_order_depends_on_seed_and_epoch_alone() -> None:
    def order(seed: int, epoch: int) -> list[int]:
        return torch.cat(epoch_batches(50, batch_size=8, seed=seed, epoch=epoch)).tolist()

    assert order(0, 3) == order(0, 3)
    assert len({tuple(order(seed, epoch)) for seed in (0, 1) for epoch in (1, 2)}) == 4


@pytest.mark.parametrize("world_size", [1, 2, 3, 8])
def test_shards_together_are_the_batch(world_size: int) -> None:
    rows = torch.tensor([9, 4, 7, 1, 0])
    parts = [shard(rows, rank=rank, world_size=world_size) for rank in range(world_size)]
    assert sorted(torch.cat(parts).tolist()) == [0, 1, 4, 7, 9]
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
