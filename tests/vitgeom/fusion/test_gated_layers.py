from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.support.fusion_data import NUM_CLASSES, NUM_LAYERS, TEST, TRAIN, WIDTH, evidence, part
from vitgeom.errors import InvalidInput
from vitgeom.fusion.mixture_of_experts import MixtureOfExpertsClassifier
from vitgeom.fusion.neural_logit_controller import NeuralLogitControllerClassifier

BOTH = (NeuralLogitControllerClassifier, MixtureOfExpertsClassifier)


@pytest.mark.parametrize("kind", BOTH)
def test_inputs_of_the_net_have_mean_square_1(kind):
    fitted = kind(max_epochs=1, components=6).fit_evidence(evidence())
    x, _ = part(TRAIN)
    z = [scaler(x[:, layer]) for layer, scaler in enumerate(fitted.maps_.standardisers)]
    inputs = torch.cat(z, dim=1).float() @ fitted.directions_
    assert inputs.shape == (len(x), 6)
    assert float(inputs.square().mean()) == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("kind", BOTH)
def test_validation_never_prefers_the_start_to_what_is_kept(kind):
    of = evidence()
    start, trained = kind(max_epochs=1, learning_rate=1e-12), kind(max_epochs=20, hidden_dim=16)
    known = of.data.val_target.numpy()
    losses = []
    for made in (start, trained):
        log_p = made.fit_evidence(of).predict_log_proba(of.data.val)
        losses.append(-log_p[np.arange(len(known)), known].mean())
    assert losses[1] <= losses[0] + 1e-6


@pytest.mark.parametrize("kind", BOTH)
def test_parameters_and_operations_are_those_of_its_matrices(kind):
    fitted = kind(max_epochs=1, components=6, hidden_dim=5).fit_evidence(evidence())
    columns = NUM_LAYERS * WIDTH
    probes = NUM_LAYERS * (WIDTH + 1) * NUM_CLASSES
    net = 6 * 5 + 5 + 5 * NUM_LAYERS + NUM_LAYERS
    assert fitted.num_parameters() == probes + columns * 6 + net + NUM_LAYERS
    assert fitted.flops_per_row() > 2 * (columns * NUM_CLASSES + columns * 6 + 6 * 5 + 5 * NUM_LAYERS)


@pytest.mark.parametrize("kind", BOTH)
def test_settings_are_refused_when_fitting(kind):
    with pytest.raises(InvalidInput, match="components must be >= 1, got 0"):
        kind(components=0).fit_evidence(evidence())
    with pytest.raises(InvalidInput, match="dropout must be"):
        kind(dropout=1.5).fit_evidence(evidence())


def test_a_row_is_trained_on_scores_of_probes_that_have_not_seen_it():
    """With the probes' own training scores, which are far too sure, the net would be another."""
    of = evidence()
    fitted = MixtureOfExpertsClassifier(max_epochs=2).fit_evidence(of)
    rows = fitted._gate_rows(of.data.train, of.data.target, scores=of.held_out, byte_budget=of.byte_budget)
    for layer in range(NUM_LAYERS):
        expected = of.held_out(layer) / fitted.temperature_[layer]
        torch.testing.assert_close(
            rows.scores.view(len(rows.target), NUM_LAYERS, -1)[:, layer], expected.float()
        )


def test_predictions_do_not_depend_on_what_stands_beside_a_row():
    x, _ = part(TEST)
    fitted = NeuralLogitControllerClassifier(max_epochs=2).fit_evidence(evidence())
    np.testing.assert_allclose(fitted.predict_log_proba(x[::7]), fitted.predict_log_proba(x)[::7], atol=1e-5)
