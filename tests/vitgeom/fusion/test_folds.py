from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.fusion.folds import inner_validation, stratified_folds
from vitgeom.seeding import generator_for


def target_of(*sizes: int) -> torch.Tensor:
    labels = torch.cat([torch.full((size,), label) for label, size in enumerate(sizes)])
    return labels[torch.randperm(len(labels), generator=generator_for(1, "order"))]


def test_folds_are_of_equal_size_and_hold_each_class_evenly():
    target = target_of(23, 11, 7, 2)

    fold = stratified_folds(target, num_folds=5, generator=generator_for(0, "folds"))

    sizes = torch.bincount(fold)
    assert len(sizes) == 5
    assert sizes.max() - sizes.min() <= 1
    for label in range(4):
        members = torch.bincount(fold[target == label], minlength=5)
        assert members.max() - members.min() <= 1, (label, members)


def test_the_seed_decides_the_folds():
    target = target_of(20, 20)
    same = [stratified_folds(target, num_folds=4, generator=generator_for(3, "f")) for _ in range(2)]
    other = stratified_folds(target, num_folds=4, generator=generator_for(4, "f"))

    assert torch.equal(*same)
    assert not torch.equal(same[0], other)


@pytest.mark.parametrize("num_folds", [0, 1, 6])
def test_a_number_of_folds_that_cannot_be_is_refused(num_folds):
    with pytest.raises(
        InvalidInput, match=f"num_folds must lie between 2 and the 5 training rows, got {num_folds}"
    ):
        stratified_folds(target_of(3, 2), num_folds=num_folds, generator=generator_for(0, "f"))


def test_a_share_of_each_class_is_held_out_but_never_its_last_member():
    target = target_of(50, 10, 2, 1)

    held_out = inner_validation(target, fraction=0.2, generator=generator_for(0, "v"))

    assert [int(held_out[target == label].sum()) for label in range(4)] == [10, 2, 0, 0]


def test_someone_is_held_out_even_of_very_small_classes():
    held_out = inner_validation(target_of(2, 2), fraction=0.1, generator=generator_for(0, "v"))

    assert int(held_out.sum()) == 1


def test_rows_of_classes_with_one_member_each_leave_nothing_to_hold_out():
    with pytest.raises(InvalidInput, match="no class with 2 members"):
        inner_validation(torch.arange(4), fraction=0.2, generator=generator_for(0, "v"))


@pytest.mark.parametrize("fraction", [0.0, 1.0, -1.0])
def test_a_share_outside_of_0_and_1_is_refused(fraction):
    with pytest.raises(InvalidInput, match="val_fraction must lie strictly between 0 and 1"):
        inner_validation(target_of(3, 3), fraction=fraction, generator=generator_for(0, "v"))
