from __future__ import annotations

import pytest
import torch

from tests.oracles import recoverability_by_counting as oracle
from vitgeom.recoverability.tally import Tally
from vitgeom.seeding import generator_for


def ones(n):
    return torch.ones(1, n, dtype=torch.float64)


def test_rates_are_those_of_counting(verdicts):
    logits, labels = verdicts
    predictions = logits.argmax(dim=2)
    rates = Tally(predictions == labels, labels).rates(ones(300))
    said, true = predictions.tolist(), labels.tolist()
    each, any_layer = oracle.recoverability(said, true)
    assert rates.recoverability[0].tolist() == pytest.approx(each)
    assert rates.r_any.item() == pytest.approx(any_layer)
    assert rates.oracle.item() == pytest.approx(oracle.oracle_accuracy(said, true))
    for layer in range(4):
        assert rates.accuracy[0, layer].item() == pytest.approx(
            1 - len(oracle.errors_of(said[layer], true)) / 300
        )
        assert rates.accuracy_per_class[0, layer].item() == pytest.approx(
            oracle.accuracy_per_class(said[layer], true)
        )


def test_counts_mean_repeated_samples(verdicts):
    logits, labels = verdicts
    correct = logits.argmax(dim=2) == labels
    times = torch.randint(0, 3, (2, 300), generator=generator_for(1))
    times[1, labels == 2] = 0  # a class that this resample misses does not count as a class
    rates = Tally(correct, labels).rates(times.double())
    for b in range(2):
        rows = torch.arange(300).repeat_interleave(times[b])
        want = Tally(correct[:, rows], labels[rows]).rates(ones(len(rows)))
        for name in ("accuracy", "accuracy_per_class", "recoverability"):
            torch.testing.assert_close(getattr(rates, name)[b], getattr(want, name)[0])
        assert rates.r_any[b].item() == pytest.approx(want.r_any.item())
        assert rates.oracle[b].item() == pytest.approx(want.oracle.item())


def test_no_errors_are_undefined_not_0():
    labels = torch.tensor([0, 1, 1])
    rates = Tally(torch.tensor([[True, False, True], [True, True, True]]), labels).rates(ones(3))
    assert rates.recoverability.isnan().all()
    assert rates.r_any.isnan().all()
    assert rates.oracle.item() == 1


def test_one_layer_has_no_earlier_one():
    rates = Tally(torch.tensor([[True, False]]), torch.tensor([0, 1])).rates(ones(2))
    assert rates.recoverability.shape == (1, 0)
    assert rates.r_any.isnan().all()
    assert rates.oracle.item() == rates.accuracy.item() == 0.5
