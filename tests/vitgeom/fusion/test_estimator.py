"""What all fused classifiers promise, on one that is fast to fit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tests.support.layered_features import layered_features
from vitgeom.errors import InvalidInput
from vitgeom.fusion import METHODS, VFusionClassifier, gather_evidence

X, Y = layered_features(90, 3, 5, 3, strength=1.0)
FAR = torch.full((4, 3, 5), 3e38)
SMALL = {
    "vfusion": {"hidden_dim": 4, "max_epochs": 1},
    "mixture_of_experts": {"hidden_dim": 4, "max_epochs": 1},
}


@pytest.fixture(scope="module")
def evidence():
    return gather_evidence(X, Y)


def test_a_bad_row_is_named_as_the_caller_counts_where_part_of_the_rows_is_held_out():
    for row in (0, 41, 89):
        x = X.clone()
        x[row, 2, 0] = torch.inf
        with pytest.raises(InvalidInput, match=rf"X must be finite.*at layer 2, first in row {row};"):
            METHODS["last_layer"].make(seed=0).fit(x, Y)


@pytest.mark.parametrize("name", ["vfusion", "mixture_of_experts"])
def test_a_row_that_overflows_is_refused_and_gets_no_class(evidence, name):
    model = METHODS[name].make(seed=0).set_params(**SMALL[name]).fit_evidence(evidence)
    x = torch.cat([X[:7], FAR])
    for ask in (
        model.predict,
        model.predict_proba,
        model.predict_log_proba,
        lambda x: list(model.log_proba_blocks(x)),
    ):
        with pytest.raises(InvalidInput, match="overflow float32, first in row 7;"):
            ask(x)
    assert np.isfinite(model.predict_proba(X[:7])).all()


def test_a_fused_token_that_overflows_is_refused(evidence):
    model = VFusionClassifier(**SMALL["vfusion"]).fit_evidence(evidence)
    with pytest.raises(InvalidInput, match="overflow float32, first in row 7;"):
        model.transform(torch.cat([X[:7], FAR]))


@pytest.mark.parametrize("seed", [None, 1.5, "0", True])
def test_a_seed_that_is_no_whole_number_is_refused(evidence, seed):
    model = METHODS["last_layer"].make().set_params(seed=seed)
    for fit in (lambda: model.fit(X, Y), lambda: model.fit_evidence(evidence)):
        with pytest.raises(InvalidInput, match=f"seed must be a whole number, got {seed!r}"):
            fit()


def test_scikit_learn_sees_whether_the_last_fit_went_well(evidence):
    model = VFusionClassifier(**SMALL["vfusion"])
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    check_is_fitted(model.fit_evidence(evidence))
    with pytest.raises(InvalidInput, match="latent_dim"):
        model.set_params(latent_dim=10_000).fit_evidence(evidence)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
