from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck.moments import READ, TrainingBlocks, moments
from vitgeom.metric.training import InMemoryExamples


def test_blocks_change_nothing():
    values = torch.randn(70, 3, 4, generator=torch.Generator().manual_seed(0)) * 3 + 100
    found = moments(values.split(9), name="features")
    torch.testing.assert_close(found.mean, values.mean(0))
    torch.testing.assert_close(found.variance, values.var(0, correction=0))
    assert found.mean.dtype == torch.float32


@pytest.mark.parametrize("count", [1, 5])
def test_images_that_are_all_the_same_are_refused(count):
    values = torch.ones(count, 3, 4)
    with pytest.raises(
        InvalidInput, match=rf"features of all {count} training images are the same.*Give more images"
    ):
        moments([values], name="features")


def test_examples_are_read_in_blocks_as_often_as_asked():
    values = torch.arange(2.0 * READ + 3)[:, None]
    blocks = TrainingBlocks(InMemoryExamples({"features": values}), "features", dtype=torch.float32)
    for _ in range(2):
        parts = list(blocks)
        assert [len(part) for part in parts] == [READ, READ, 3]
        assert torch.equal(torch.cat(parts), values)
    wide = next(iter(TrainingBlocks(InMemoryExamples({"features": values}), "features", dtype=torch.float64)))
    assert wide.dtype == torch.float64


def test_examples_without_the_array_are_refused():
    blocks = TrainingBlocks(InMemoryExamples({"features": torch.ones(2, 3)}), "output", dtype=torch.float32)
    with pytest.raises(InvalidInput, match="batch lacks output"):
        next(iter(blocks))
