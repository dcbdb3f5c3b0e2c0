from __future__ import annotations

import json

import pytest
import torch

from tests.oracles import recoverability_by_counting as oracle
from vitgeom.recoverability import analyse
from vitgeom.recoverability.diversity import Diversity
from vitgeom.seeding import generator_for


def run(logits, labels):
    return analyse(logits, labels, num_bootstrap=200, num_permutations=5, generator=generator_for(0))


def test_every_pair_is_that_of_counting(verdicts):
    logits, labels = verdicts
    found = run(logits, labels).diversity
    said, true = logits.argmax(dim=2).tolist(), labels.tolist()
    means = [0.0, 0.0, 0.0]
    for first in range(4):
        for second in range(4):
            n11, n10, n01, n00 = oracle.pair_counts(said[first], said[second], true)
            agree = sum(a == b for a, b in zip(said[first], said[second], strict=True)) / 300
            q = (n11 * n00 - n01 * n10) / (n11 * n00 + n01 * n10)
            assert found.agreement_by_pair[first][second] == pytest.approx(agree)
            assert found.disagreement_by_pair[first][second] == pytest.approx((n10 + n01) / 300)
            assert found.q_by_pair[first][second] == pytest.approx(q)
            assert found.double_fault_by_pair[first][second] == pytest.approx(n00 / 300)
            if first < second:
                means = [
                    mean + part / 6
                    for mean, part in zip(means, ((n10 + n01) / 300, q, n00 / 300), strict=True)
                ]
    intervals = (found.disagreement, found.q_statistic, found.double_fault)
    assert [part.value for part in intervals] == pytest.approx(means)
    assert all(part.low < part.value < part.high for part in intervals)


def test_independent_layers_have_q_near_zero_and_equal_layers_one():
    g = generator_for(3)
    labels = torch.randint(2, (20_000,), generator=g)
    right = torch.rand(3, 20_000, generator=g) < 0.6
    independent = torch.nn.functional.one_hot(torch.where(right, labels, 1 - labels), 2).float()
    # The standard error of one pair's Q is 1 / sqrt(n) up to a constant near 1.
    assert abs(run(independent, labels).diversity.q_statistic.value) < 5 / 20_000**0.5
    twins = independent[:1].expand(2, -1, -1)
    found = run(twins, labels).diversity
    assert (found.q_statistic.value, found.disagreement.value) == (1, 0)


def test_where_no_pair_has_a_q_it_is_null():
    labels = torch.tensor([0, 1, 1])
    right = torch.nn.functional.one_hot(labels, 2).float().expand(2, 3, 2)
    found = run(right, labels).diversity
    assert found.q_statistic is None
    assert found.q_by_pair == ((1.0, None), (None, 1.0))
    assert found.double_fault.value == 0
    assert Diversity.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False))) == found


def test_a_single_layer_has_no_diversity(verdicts):
    logits, labels = verdicts
    assert run(logits[-1:], labels).diversity is None
