from __future__ import annotations

import torch

from tests.vitgeom.metric.training.toy_learner import toy_examples
from vitgeom.metric.training.placement import Placement


def test_a_batch_knows_the_numbers_of_its_images() -> None:
    examples, rows = toy_examples(4), torch.tensor([2, 0])
    batch = Placement.on("cpu").batch(examples, rows)
    assert batch["rows"].tolist() == [2, 0]
    assert torch.equal(batch["wanted"], examples.batch(rows)["wanted"])


def test_precision_holds_inside_the_block_alone() -> None:
    one = torch.ones(2, 2)
    with Placement.on("cpu", precision="bfloat16").computing():
        assert (one @ one).dtype == torch.bfloat16
    with Placement.on("cpu").computing():
        assert (one @ one).dtype == torch.float32
    assert (one @ one).dtype == torch.float32
