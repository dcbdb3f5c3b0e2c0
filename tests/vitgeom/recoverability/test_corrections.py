from __future__ import annotations

import math

import pytest
import torch

from tests.oracles import recoverability_by_counting as oracle
from vitgeom.recoverability import analyse
from vitgeom.recoverability.corrections import CREDITS, CorrectionRates, Corrections, credit_of_layers
from vitgeom.seeding import generator_for


def run(logits, labels):
    return analyse(logits, labels, num_bootstrap=200, num_permutations=5, generator=generator_for(0))


@pytest.mark.parametrize("credit", CREDITS)
def test_shares_are_those_of_counting_and_sum_to_one(verdicts, credit):
    logits, labels = verdicts
    found = run(logits, labels).corrections[credit]
    expected = oracle.correction_shares(logits.argmax(dim=2).tolist(), labels.tolist(), credit=credit)
    assert [part.value for part in found.share] == pytest.approx(expected)
    assert sum(part.value for part in found.share) == pytest.approx(1)
    entropy = -sum(q * math.log(q) for q in expected if q) / math.log(3)
    assert found.entropy.value == pytest.approx(entropy)
    assert all(part.low <= part.value <= part.high for part in found.share)


def test_every_corrected_sample_gives_one_credit_under_every_rule():
    right = torch.rand(5, 40, generator=generator_for(1)) < 0.3
    for rule in CREDITS:
        credit = credit_of_layers(right, credit=rule)
        assert torch.allclose(credit.sum(dim=0), right.any(dim=0).double())
        assert not bool(credit[~right].any())
    first = credit_of_layers(right, credit="earliest").argmax(dim=0)
    last = credit_of_layers(right, credit="deepest").argmax(dim=0)
    assert bool((first <= last).all())


def test_evenly_spread_corrections_have_entropy_one_and_a_single_corrector_zero():
    even = CorrectionRates(torch.eye(4, dtype=torch.bool))
    counts = torch.ones(1, 4, dtype=torch.float64)
    assert even.rates(counts)[0, 4] == pytest.approx(1)
    alone = torch.zeros(4, 4, dtype=torch.bool)
    alone[2] = True
    assert CorrectionRates(alone).rates(counts)[0, 4] == 0


def test_without_a_correction_there_is_nothing_to_share():
    labels = torch.tensor([0, 1, 0])
    always_one = torch.eye(2)[torch.ones(3, dtype=torch.int64)].expand(3, 3, 2)
    assert run(always_one, labels).corrections is None


def test_one_earlier_layer_has_a_share_but_no_entropy(verdicts):
    logits, labels = verdicts
    found = run(logits[-2:], labels).corrections["shared"]
    assert [part.value for part in found.share] == [1]
    assert found.entropy is None
    assert Corrections.from_json(found.to_json()) == found
