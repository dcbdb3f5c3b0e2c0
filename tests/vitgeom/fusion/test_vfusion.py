from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from tests.support.layered_features import layered_features
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.fusion import VFusionClassifier, gather_evidence
from vitgeom.fusion.fused_inputs import start_of_training
from vitgeom.probes import FunctionLayers

X, Y = layered_features(150, 4, 6, 3, strength=1.0)
X_VAL, Y_VAL = layered_features(80, 4, 6, 3, strength=1.0, seed=1)
X_TEST, Y_TEST = layered_features(80, 4, 6, 3, strength=1.0, seed=2)
SMALL = {"hidden_dim": 8, "max_epochs": 4, "latent_dim": 4}


@pytest.fixture(scope="module")
def evidence():
    return gather_evidence(X, Y, X_VAL, Y_VAL)


@pytest.fixture(scope="module")
def fitted(evidence):
    return VFusionClassifier(**SMALL).fit_evidence(evidence)


def planted(num_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features of which layer 0 tells class 0, layer 1 class 1 and layer 2 class 2, and no layer tells all."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, num_rows)
    x = rng.normal(size=(num_rows, 3, 5)).astype(np.float32)
    for layer in range(3):
        x[y == layer, layer, 0] += 4.0
    return x, y


def test_what_no_single_layer_knows_is_put_together_from_all():
    (x, y), (x_val, y_val), (x_test, y_test) = planted(300, 0), planted(150, 1), planted(600, 2)

    fused = VFusionClassifier(**SMALL).fit(x, y, x_val, y_val)

    alone = [VFusionClassifier(**SMALL, selection=[layer]).fit(x, y, x_val, y_val) for layer in range(3)]
    assert fused.score(x_test, y_test) > 0.93
    assert max(one.score(x_test, y_test) for one in alone) < 0.8


def test_probabilities_sum_to_one_and_name_the_prediction(fitted):
    p = fitted.predict_proba(X_TEST)

    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-5)
    assert np.array_equal(fitted.classes_[p.argmax(axis=1)], fitted.predict(X_TEST))
    np.testing.assert_allclose(np.log(p), fitted.predict_log_proba(X_TEST), atol=1e-4)


def test_logits_are_the_head_on_the_fused_token(fitted):
    z = torch.from_numpy(fitted.transform(X_TEST))

    assert z.shape == (80, 4)
    logits = fitted.model_.logits(z[None])[0]
    torch.testing.assert_close(
        torch.log_softmax(logits, dim=1), torch.from_numpy(fitted.predict_log_proba(X_TEST))
    )


def test_the_start_is_one_linear_map_of_the_features(evidence):
    linear = VFusionClassifier(hidden_dim=0).fit_evidence(evidence)

    def logits(x: torch.Tensor) -> torch.Tensor:
        found = torch.from_numpy(linear.predict_log_proba(x)).double()
        return found - found.mean(dim=1, keepdim=True)

    middle = 0.5 * (X_TEST[:40] + X_TEST[40:])
    torch.testing.assert_close(
        logits(middle), 0.5 * (logits(X_TEST[:40]) + logits(X_TEST[40:])), atol=2e-3, rtol=1e-3
    )


def test_latents_start_uncorrelated_and_of_unit_variance_on_held_out_scores(evidence):
    start = start_of_training(evidence, [0, 1, 2, 3], temperatures=(0.0, 5.0), components=16, seed=0)

    z = start.train.double() @ start.factors(5).encoder

    torch.testing.assert_close(
        torch.cov(z.T, correction=0), torch.eye(5, dtype=torch.float64), atol=1e-5, rtol=0.0
    )


def test_training_never_ends_worse_on_validation_than_it_began(fitted):
    summary = fitted.summary()

    assert summary["val_loss"] <= summary["val_loss_of_linear_stage"]
    assert summary["layers"] == [0, 1, 2, 3]


def test_the_same_seed_gives_the_same_classifier_and_inputs_stay_as_they_are(evidence, fitted):
    before = X.clone()
    again = VFusionClassifier(**SMALL).fit_evidence(evidence)

    assert np.array_equal(again.predict_proba(X_TEST), fitted.predict_proba(X_TEST))
    assert torch.equal(X, before)


def test_several_seeds_together_are_the_seeds_alone(evidence, fitted):
    several = VFusionClassifier(**SMALL).fit_evidence_seeds([0, 7], evidence)

    np.testing.assert_allclose(several[0].predict_proba(X_TEST), fitted.predict_proba(X_TEST), atol=1e-3)
    assert [one.seed for one in several] == [0, 7]
    assert not np.array_equal(several[0].model_.enter, several[1].model_.enter)


def test_fit_seeds_takes_features(fitted):
    [one] = VFusionClassifier(**SMALL).fit_seeds([0], X, Y, X_VAL, Y_VAL)

    assert np.array_equal(one.predict(X_TEST), fitted.predict(X_TEST))
    with pytest.raises(InvalidInput, match="seeds must name at least 1 seed"):
        VFusionClassifier().fit_seeds([], X, Y, X_VAL, Y_VAL)


def test_it_works_in_cross_validation_and_can_be_cloned():
    model = VFusionClassifier(**SMALL, selection="last_half", seed=3)

    scores = cross_val_score(model, X.numpy(), Y.numpy(), cv=3)

    assert scores.mean() > 0.6
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(orth_weight=1.0).orth_weight == 1.0


def test_a_source_of_rows_is_read_as_the_array_is(fitted):
    source = FunctionLayers(
        num_layers=4, num_rows=80, read_rows=lambda layer, start, stop: X_TEST[start:stop, layer]
    )

    assert np.array_equal(fitted.predict_proba(source), fitted.predict_proba(X_TEST))


@pytest.mark.parametrize(("selection", "layers"), [("last", [3]), ("strided(2)", [1, 3]), ([0, 2], [0, 2])])
def test_only_chosen_layers_matter(selection, layers):
    fused = VFusionClassifier(**SMALL, selection=selection).fit(X, Y, X_VAL, Y_VAL)
    other = X_TEST.clone()
    rest = [layer for layer in range(4) if layer not in layers]
    other[:, rest] = 100.0

    assert np.array_equal(fused.predict_proba(other), fused.predict_proba(X_TEST))


def test_layer_scaling_can_be_fixed(evidence):
    chosen = {
        scaling: VFusionClassifier(**SMALL, layer_scaling=scaling)
        .fit_evidence(evidence)
        .summary()["temperature"]
        for scaling in ("none", 7.5)
    }

    assert chosen == {"none": 0.0, 7.5: 7.5}


@pytest.mark.parametrize("labels", [np.array([0, 1, 7]), np.array(["cat", "dog", "heron"])])
def test_labels_come_back_as_they_were(fitted, labels):
    fused = VFusionClassifier(**SMALL).fit(X, labels[Y.numpy()], X_VAL, labels[Y_VAL.numpy()])

    assert np.array_equal(fused.classes_, labels)
    assert set(fused.predict(X_TEST)) <= set(labels.tolist())
    assert np.array_equal(fused.predict(X_TEST), labels[fitted.predict(X_TEST)])


def test_constant_columns_one_layer_and_few_rows_are_no_obstacle():
    x = X[:7, :1].clone()
    x[:, :, 2] = 3.0

    fused = VFusionClassifier(max_epochs=2, hidden_dim=4).fit(x, torch.tensor([0, 1, 2, 3, 4, 0, 1]))

    assert np.isfinite(fused.predict_proba(X_TEST[:, :1])).all()


def test_more_rows_than_a_block_are_predicted_the_same(fitted, monkeypatch):
    whole = fitted.predict_proba(X_TEST)
    monkeypatch.setattr("vitgeom.fusion.scaled_rows.BLOCK_BYTES", 1)

    np.testing.assert_allclose(fitted.predict_proba(X_TEST), whole, atol=1e-6)


def test_a_fitted_classifier_survives_its_file_form(fitted):
    copy = VFusionClassifier(**SMALL)
    copy.classes_, copy.widths_ = fitted.classes_, fitted.widths_
    copy._restore(fitted.tensors(), fitted.meta())

    assert np.array_equal(copy.predict_proba(X_TEST), fitted.predict_proba(X_TEST))
    assert copy.summary() == fitted.summary()
    assert copy.num_parameters() == fitted.num_parameters() > 0


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"selection": "holistc"}, UnknownName, "Did you mean 'holistic'"),
        ({"layer_scaling": "qualty"}, UnknownName, "Did you mean 'quality'"),
        (
            {"layer_scaling": None},
            InvalidInput,
            'layer_scaling must be "quality", "none" or a number >= 0, got None',
        ),
        ({"layer_scaling": [1.0]}, InvalidInput, r"or a number >= 0, got \[1.0\]"),
        ({"layer_scaling": -1.0}, InvalidInput, "temperature of layer_scaling must be >= 0"),
        ({"latent_dim": 0}, InvalidInput, "latent_dim must be an integer >= 1, got 0"),
        ({"latent_dim": 10_000}, InvalidInput, r"latent_dim must be at most \d+, the independent directions"),
        ({"hidden_dim": 2.5}, InvalidInput, "hidden_dim must be an integer >= 0, got 2.5"),
        ({"orth_weight": -0.1}, InvalidInput, "orth_weight must be a number in"),
        ({"dropout": 1.0}, InvalidInput, r"dropout must be a number in \[0, 1\), got 1.0"),
        ({"patience": True}, InvalidInput, "patience must be an integer >= 1, got True"),
        ({"device": "cuda:99"}, InvalidInput, "device='cuda:99' cannot compute here"),
        ({"batch_size": 0}, InvalidInput, "batch_size must be an integer >= 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(evidence, settings, error, words):
    with pytest.raises(error, match=words):
        VFusionClassifier().set_params(**settings).fit_evidence(evidence)


def test_features_that_cannot_be_predicted_on_are_refused(fitted):
    with pytest.raises(NotFittedError, match="call fit"):
        VFusionClassifier().predict(X_TEST)
    with pytest.raises(InvalidInput, match="X must have the 4 layers of training, got 3"):
        fitted.predict(X_TEST[:, :3])
    with pytest.raises(InvalidInput, match="training width 6 at layer 0, got 5"):
        fitted.predict(X_TEST[:, :, :5])
    with pytest.raises(InvalidInput, match="at least 1 row, got 0"):
        fitted.predict(X_TEST[:0])


def test_a_row_that_is_not_finite_is_named():
    x = X.clone()
    x[17, 2, 3] = float("nan")
    with pytest.raises(InvalidInput, match="layer 2, first in row 17"):
        VFusionClassifier(**SMALL).fit(x, Y, X_VAL, Y_VAL)
    fused = VFusionClassifier(**SMALL).fit(X, Y, X_VAL, Y_VAL)
    with pytest.raises(InvalidInput, match="layer 2, first in row 17"):
        fused.predict(x)


def test_a_fit_that_failed_leaves_nothing_that_looks_fitted(evidence):
    model = VFusionClassifier(latent_dim=10_000)
    with pytest.raises(InvalidInput, match="latent_dim must be at most"):
        model.fit_evidence(evidence)
    with pytest.raises(NotFittedError, match="call fit"):
        model.predict(X_TEST)


def test_features_that_never_change_give_the_class_shares():
    x, y = torch.ones(60, 2, 4), torch.arange(60) % 3

    fused = VFusionClassifier(max_epochs=2, hidden_dim=4).fit(x, y)

    np.testing.assert_allclose(fused.predict_proba(x[:2]), 1 / 3, atol=0.01)


def test_without_a_known_class_in_validation_there_is_no_loss_to_tell():
    fused = VFusionClassifier(**SMALL).fit(X, Y, X_VAL[:5], np.full(5, 9))

    assert (fused.summary()["val_loss"], fused.summary()["epoch"]) == (None, 0)
    assert np.isfinite(fused.predict_proba(X_TEST)).all()
