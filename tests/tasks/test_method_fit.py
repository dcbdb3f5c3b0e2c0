"""One method: a line per seed, its cost, and errors that stay its own."""

from __future__ import annotations

import pytest
import torch

from tasks.method_fit import FailedMethod, FittedMethod, fit_method
from tests.support.fusion_data import TEST, evidence, part
from vitgeom.errors import StoreError
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.fusion.last_layer import LastLayerClassifier
from vitgeom.fusion.methods import METHODS
from vitgeom.fusion.mixture_of_experts import MixtureOfExpertsClassifier
from vitgeom.fusion.vfusion import VFusionClassifier
from vitgeom.probes.row_access import as_rows


def fitted(name: str, unfitted: LayerClassifier) -> FittedMethod | FailedMethod:
    test = as_rows(part(TEST)[0], name="X")
    return fit_method(METHODS[name], unfitted, evidence(), test=test, seeds=(3, 5))


@pytest.mark.parametrize(
    ("name", "unfitted"),
    [
        ("vfusion", VFusionClassifier(hidden_dim=4, max_epochs=1, components=8)),
        ("mixture_of_experts", MixtureOfExpertsClassifier(components=4, hidden_dim=4, max_epochs=1)),
    ],
)
def test_a_method_with_randomness_has_a_line_per_seed(name: str, unfitted: LayerClassifier) -> None:
    method = fitted(name, unfitted)
    assert isinstance(method, FittedMethod)
    assert method.seeds == (3, 5)
    assert [one.get_params()["seed"] for one in method.classifiers] == [3, 5]
    for line, one in zip(method.predicted, method.classifiers, strict=True):
        assert torch.equal(line, torch.from_numpy(one.predict_log_proba(part(TEST)[0]).argmax(axis=1)))
    told = method.describe()
    assert (told["seeds"], len(told["summaries"])) == ([3, 5], 2)
    assert told["parameters"] == method.classifiers[0].num_parameters()
    assert method.cost.seconds_per_image > 0


def test_a_method_without_randomness_is_fitted_once() -> None:
    method = fitted("last_layer", LastLayerClassifier())
    assert isinstance(method, FittedMethod)
    assert (method.seeds, len(method.classifiers), method.describe()["seeds"]) == ((None,), 1, [])


def test_what_is_wrong_with_a_method_becomes_its_row() -> None:
    failed = fitted("vfusion", VFusionClassifier(latent_dim=999))
    assert isinstance(failed, FailedMethod)
    assert failed.describe()["error"].startswith("InvalidInput: latent_dim must be at most")


def test_predictions_of_nan_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = torch.full((len(part(TEST)[1]), 4), torch.nan)
    monkeypatch.setattr(LastLayerClassifier, "_log_proba_blocks", lambda self, rows: iter([broken]))
    failed = fitted("last_layer", LastLayerClassifier())
    assert isinstance(failed, FailedMethod)
    assert failed.error.startswith("InvalidInput: X must be of the same scale as the training rows")


def test_a_summary_that_is_not_finite_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LastLayerClassifier, "summary", lambda self: {"loss": float("nan")})
    failed = fitted("last_layer", LastLayerClassifier())
    assert isinstance(failed, FailedMethod)
    assert "not JSON compliant" in failed.error


@pytest.mark.parametrize(
    "error", [StoreError("no answer"), MemoryError("full"), torch.OutOfMemoryError("device is full")]
)
def test_what_concerns_every_method_is_raised(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, evidence: object) -> None:
        raise error

    monkeypatch.setattr(LastLayerClassifier, "_fit", broken)
    with pytest.raises(type(error), match=str(error)):
        fitted("last_layer", LastLayerClassifier())
