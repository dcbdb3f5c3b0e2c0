"""One trial: told epoch by epoch, ended by its listener, and unusable where its parameters or the rows give no result."""

from __future__ import annotations

import pytest

from tasks.sweep_evidence import store_evidence, stored_evidence
from tasks.sweep_request import SweepRequest
from tasks.sweep_trial import run_trial
from tasks.trials import UnusableTrial
from tests.support.sweep_features import sweep_request, sweep_store
from vitgeom.fusion.vfusion import VFusionClassifier

PARAMETERS = {"selection": "last", "layer_scaling": "none", "hidden_dim": 4}
SPACE = {name: (value,) for name, value in PARAMETERS.items()}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> SweepRequest:
    folder = tmp_path_factory.mktemp("features")
    request = sweep_request(sweep_store(str(folder)), folder, space=SPACE, max_epochs=4, patience=9)
    store_evidence(request, layers=(2,))
    return request


def listened(request: SweepRequest, last: int) -> list[tuple[int, float, float]]:
    told: list[tuple[int, float, float]] = []

    def tell(epoch: int, loss: float, accuracy: float) -> bool:
        told.append((epoch, loss, accuracy))
        return epoch < last

    run_trial(request, PARAMETERS, on_epoch=tell)
    return told


def test_every_epoch_is_told_until_the_listener_has_enough(asked: SweepRequest) -> None:
    whole = listened(asked, 99)
    assert [epoch for epoch, _, _ in whole] == [0, 1, 2, 3, 4]
    assert listened(asked, 2) == whole[:3]


def test_settings_that_are_not_swept_are_those_of_the_encoder(asked: SweepRequest) -> None:
    encoder = asked.encoder.model_copy(update={"learning_rate": 0.1})
    changed = asked.model_copy(update={"encoder": encoder})
    store_evidence(changed, layers=(2,))
    told = listened(changed, 99)
    alone = VFusionClassifier(**PARAMETERS, max_epochs=4, patience=9, learning_rate=0.1)
    alone.fit_evidence(stored_evidence(changed.model_dump_json(), "alone"))
    assert min(loss for _, loss, _ in told) == alone.summary()["val_loss"]
    assert told[1:] != listened(asked, 99)[1:]


def test_parameters_that_do_not_fit_the_rows_are_the_trials_own_fault(asked: SweepRequest) -> None:
    with pytest.raises(UnusableTrial, match="latent_dim must be at most"):
        run_trial(asked, {**PARAMETERS, "latent_dim": 5000}, on_epoch=lambda *_: True)
