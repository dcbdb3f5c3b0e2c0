from __future__ import annotations

import pytest
import torch

from tests.oracles import recoverability_by_counting as oracle
from vitgeom.recoverability import analyse
from vitgeom.recoverability.geometric_disagreement import cosine_distance
from vitgeom.seeding import generator_for


def run(logits, labels):
    return analyse(logits, labels, num_bootstrap=200, num_permutations=5, generator=generator_for(0))


def test_means_are_those_of_loops(verdicts):
    logits, labels = verdicts
    found = run(logits, labels).geometry
    plain = (logits.double().tolist(), labels.tolist())
    centred, raw = (
        [oracle.angle_disagreement(*plain, layer=layer, centred=how) for layer in range(3)]
        for how in (True, False)
    )
    assert [part.value for part in found.by_layer] == pytest.approx(centred)
    assert found.centred.value == pytest.approx(sum(centred) / 3)
    assert found.raw.value == pytest.approx(sum(raw) / 3)
    assert found.centred.low < found.centred.value < found.centred.high


def test_what_no_softmax_sees_does_not_count(verdicts):
    logits, labels = verdicts
    shifted = logits + torch.randn(4, 300, 1, generator=generator_for(2)) * 5
    assert run(shifted, labels).geometry.centred.value == pytest.approx(
        run(logits, labels).geometry.centred.value, abs=1e-5
    )
    assert run(shifted, labels).geometry.raw.value != pytest.approx(
        run(logits, labels).geometry.raw.value, abs=1e-2
    )


def test_same_orthogonal_opposite_and_empty_directions():
    last = torch.tensor([[1.0, -1.0, 0.0]])
    layers = [last, torch.tensor([[1.0, 1.0, -2.0]]), -last, torch.zeros(1, 3), last]
    assert cosine_distance(torch.stack(layers), centred=True)[:, 0].tolist() == pytest.approx([0, 1, 2, 1])


def test_without_an_error_or_an_earlier_layer_it_is_undefined(verdicts):
    logits, labels = verdicts
    assert run(logits[-1:], labels).geometry is None
    right = torch.nn.functional.one_hot(labels, 5).float().expand(3, 300, 5)
    assert run(right, labels).geometry is None
