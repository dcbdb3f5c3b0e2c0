from __future__ import annotations

import pytest
import torch

from tests.vitgeom.metric.training.toy_learner import toy_examples
from vitgeom.errors import InvalidInput
from vitgeom.metric.training.examples import Examples, check_examples, needed


def test_arrays_in_memory_are_examples() -> None:
    assert isinstance(toy_examples(2), Examples)
    check_examples(toy_examples(2), name="train_examples")


def test_other_things_and_empty_ones_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"train_examples must have num_images and batch.*got list"):
        check_examples([1, 2], name="train_examples")
    with pytest.raises(InvalidInput, match="val_examples must hold at least one image, got 0"):
        check_examples(toy_examples(0), name="val_examples")


def test_missing_arrays_are_named() -> None:
    batch = {"features": torch.zeros(1), "importance": torch.ones(1)}
    assert needed(batch, "importance")[0] is batch["importance"]
    with pytest.raises(
        InvalidInput, match="batch lacks right_vectors, num_found; it holds features, importance"
    ):
        needed(batch, "features", "right_vectors", "num_found")
