from __future__ import annotations

import itertools

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.recoverability.permutation_floor import expected_floor, permutation_floor
from vitgeom.seeding import generator_for


def test_expectation_is_the_mean_over_all_permutations():
    labels, layers = torch.tensor([0, 0, 1, 2]), torch.tensor([[0, 1, 1, 2], [2, 2, 0, 1]])
    rates = []
    for a, b in itertools.product(itertools.permutations(range(4)), repeat=2):
        hits = (layers[0][list(a)] == labels) | (layers[1][list(b)] == labels)
        rates.append(hits.double().mean().item())
    assert expected_floor(layers, labels) == pytest.approx(sum(rates) / len(rates))


def test_sampled_mean_agrees_with_the_expectation(verdicts):
    logits, labels = verdicts
    said = logits.argmax(dim=2)[:3]
    floor = permutation_floor(said, labels, num_permutations=400, generator=generator_for(0))
    stderr = (floor.high - floor.low) / (2 * 1.96) / 400**0.5
    assert stderr > 0
    assert abs(floor.mean - floor.expected) < 5 * stderr
    assert floor.low < floor.mean < floor.high
    assert floor.permutations == 400


def test_uniform_predictions_give_the_uniform_floor():
    labels = torch.arange(1000) % 10
    said = labels.repeat(11, 1)
    assert expected_floor(said, labels) == pytest.approx(1 - 0.9**11)


def test_shuffling_takes_skill_away():
    labels = torch.arange(200) % 4
    floor = permutation_floor(labels[None], labels, num_permutations=50, generator=generator_for(0))
    assert floor.mean == pytest.approx(0.25, abs=0.03)


def test_one_error_is_its_own_shuffle():
    floor = permutation_floor(
        torch.tensor([[1], [0]]), torch.tensor([0]), num_permutations=3, generator=generator_for(0)
    )
    assert (floor.mean, floor.low, floor.high, floor.expected) == (1, 1, 1, 1)


def test_a_class_that_nobody_can_say_is_never_hit():
    said, labels = torch.tensor([[0, 1, 1]]), torch.tensor([-1, -1, 0])
    floor = permutation_floor(said, labels, num_permutations=100, generator=generator_for(0))
    assert floor.expected == pytest.approx(1 / 9)
    assert floor.high <= 1 / 3


@pytest.mark.parametrize(("layers", "errors", "permutations"), [(1, 0, 5), (0, 3, 5), (1, 3, 0)])
def test_nothing_to_shuffle_is_refused(layers, errors, permutations):
    said, labels = torch.zeros(layers, errors, dtype=torch.int64), torch.zeros(errors, dtype=torch.int64)
    with pytest.raises(
        InvalidInput,
        match=r"needs at least 1 error and 1 earlier layer|num_permutations must be a whole number >= 1, got 0",
    ):
        permutation_floor(said, labels, num_permutations=permutations, generator=generator_for(0))
