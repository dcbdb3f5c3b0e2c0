from __future__ import annotations

import pytest
import torch

from vitgeom.recoverability import analyse
from vitgeom.recoverability.top_accuracy import among_top
from vitgeom.seeding import generator_for


def run(logits, labels):
    return analyse(logits, labels, num_bootstrap=50, num_permutations=5, generator=generator_for(0))


def test_it_is_that_of_sorting():
    g = generator_for(4)
    logits, labels = torch.randn(3, 200, 9, generator=g), torch.randint(9, (200,), generator=g)
    for layer, interval in enumerate(run(logits, labels).accuracy_top5):
        hits = [
            int(label) in sorted(range(9), key=lambda k, row=row: -row[k])[:5]
            for row, label in zip(logits[layer].tolist(), labels, strict=True)
        ]
        assert interval.value == pytest.approx(sum(hits) / 200)


def test_with_five_classes_or_fewer_it_says_nothing(verdicts):
    assert run(*verdicts).accuracy_top5 is None


def test_of_equal_logits_the_lower_classes_come_first_and_an_unknown_class_never():
    flat = torch.zeros(1, 7, 6)
    assert among_top(flat, torch.tensor([0, 1, 2, 3, 4, 5, -1])).tolist() == [[True] * 5 + [False] * 2]
