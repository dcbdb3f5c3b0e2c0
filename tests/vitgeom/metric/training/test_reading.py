from __future__ import annotations

import pytest
import torch

from tests.vitgeom.metric.training.toy_learner import toy_examples
from vitgeom.errors import InvalidInput
from vitgeom.metric.training import all_of, batches_of


def test_all_images_in_order_some_at_a_time() -> None:
    examples = toy_examples(37)
    sizes = [len(batch["features"]) for batch in batches_of(examples)]
    assert sum(sizes) == 37
    assert max(sizes) == 16
    (wanted,) = all_of(examples, "wanted")
    assert torch.equal(wanted, examples.batch(torch.arange(37))["wanted"])
    with pytest.raises(InvalidInput, match="batch lacks importance"):
        all_of(examples, "importance")
