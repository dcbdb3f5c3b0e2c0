from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.metric.training import InMemoryExamples


def arrays(count: int = 5) -> dict[str, torch.Tensor]:
    features = torch.arange(count * 6, dtype=torch.float32).reshape(count, 2, 3)
    return {"features": features, "importance": torch.ones(count, 2), "num_found": torch.arange(count)}


def test_batches_are_rows_in_the_order_asked_for() -> None:
    examples = InMemoryExamples(arrays())
    batch = examples.batch(torch.tensor([3, 0]))
    assert batch["num_found"].tolist() == [3, 0]
    assert torch.equal(batch["features"], arrays()["features"][[3, 0]])
    assert (examples.num_images, examples.skipped) == (5, ())


def test_images_that_are_not_finite_are_left_out_named_and_counted() -> None:
    given = arrays()
    given["importance"][1, 0] = torch.nan
    given["features"][3, 1, 1] = torch.inf
    given["importance"][3, 1] = -torch.inf
    examples = InMemoryExamples(given, sample_ids=["a", "b", "c", "d", "e"])
    assert examples.num_images == 3
    assert examples.sample_ids == ("a", "c", "e")
    assert examples.batch(torch.arange(3))["num_found"].tolist() == [0, 2, 4]
    assert [(one.row, one.sample_id, one.reason) for one in examples.skipped] == [
        (1, "b", "importance: not finite"),
        (3, "d", "features, importance: not finite"),
    ]


def test_no_images_are_none() -> None:
    assert InMemoryExamples(arrays(0)).num_images == 0


def test_arrays_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(InvalidInput, match="arrays must hold 'features' and others with as many rows"):
        InMemoryExamples({**arrays(), "importance": torch.ones(4, 2)})
    with pytest.raises(InvalidInput, match="arrays must hold 'features'"):
        InMemoryExamples({"importance": torch.ones(4, 2)})
    with pytest.raises(InvalidInput, match="sample_ids must name all 5 images, got 2 names"):
        InMemoryExamples(arrays(), sample_ids=["a", "b"])
