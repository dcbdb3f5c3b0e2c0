from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.support.fusion_data import NUM_CLASSES, NUM_LAYERS, TEST, TRAIN, VAL, WIDTH, evidence, part
from vitgeom.errors import InvalidInput
from vitgeom.fusion import gather_evidence
from vitgeom.fusion.all_layer_concat import AllLayerConcatClassifier
from vitgeom.probes import fit_probes


def as_one_layer(rows: slice) -> torch.Tensor:
    x, _ = part(rows)
    return x.reshape(len(x), 1, -1)


@pytest.mark.parametrize("rows", [200, 20])
def test_it_is_the_probe_of_all_columns(rows):
    """With 20 rows of 24 columns the axes come from the rows' Gram matrix, with 200 from the columns'."""
    (x, y), (x_val, y_val), (x_test, _) = part(TRAIN), part(VAL), part(TEST)
    grid = (1e-2, 1e-1, 1.0)
    fitted = AllLayerConcatClassifier(l2=grid).fit(x[:rows], y[:rows], x_val, y_val)
    probes = fit_probes(as_one_layer(TRAIN)[:rows], y[:rows], X_val=as_one_layer(VAL), y_val=y_val, l2=grid)
    assert fitted.l2_ == float(probes.chosen_l2[0])
    expected = torch.log_softmax(probes.logits(as_one_layer(TEST))[:, 0], dim=1)
    torch.testing.assert_close(
        torch.from_numpy(fitted.predict_log_proba(x_test)), expected, atol=2e-3, rtol=1e-3
    )


def test_leaving_out_axes_of_least_variance_changes_little():
    x, _ = part(TEST)
    whole, cut = (
        AllLayerConcatClassifier(l2=(1.0,), max_components=most).fit_evidence(evidence()).predict_proba(x)
        for most in (4096, 20)
    )
    assert 0 < np.abs(whole - cut).max() < 0.05


def test_bias_is_counted_once():
    fitted = AllLayerConcatClassifier().fit_evidence(evidence())
    assert fitted.num_parameters() == (NUM_LAYERS * WIDTH + 1) * NUM_CLASSES


def test_the_strength_of_least_validation_loss_is_kept():
    of = evidence()
    target = of.data.val_target.numpy()
    losses = {}
    for l2 in (1e-3, 1e-1, 10.0):
        log_p = AllLayerConcatClassifier(l2=(l2,)).fit_evidence(of).predict_log_proba(of.data.val)
        losses[l2] = -log_p[np.arange(len(target)), target].mean()
    chosen = AllLayerConcatClassifier(l2=tuple(losses)).fit_evidence(of)
    assert chosen.l2_ == min(losses, key=losses.get)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"l2": ()}, "l2 must hold positive finite strengths, got \\[\\]"),
        ({"l2": (0.0,)}, "l2 must hold positive finite strengths"),
        ({"l2": ("a",)}, r"l2 must be a list of positive finite strengths, got \('a',\)"),
        ({"max_components": 0}, "max_components must be >= 1, got 0"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, words):
    x, y = part(TRAIN)
    with pytest.raises(InvalidInput, match=words):
        AllLayerConcatClassifier().set_params(**parameters).fit_evidence(gather_evidence(x[:60], y[:60]))
