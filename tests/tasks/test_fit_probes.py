"""The probe task: against a direct call of the library, cached, pinned, refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load

from tasks import fit_probes as task
from tasks.engine import SerialEngine
from tasks.extract_dataset import extract
from tasks.fit_probes import run
from tasks.receipt import Receipt
from tasks.request import ProbeRequest
from tests.support.small_extraction import BACKBONE, noise, settings, stored_bytes
from vitgeom.data import corrupted_ref
from vitgeom.errors import IncompleteData, InvalidInput
from vitgeom.probes import LayerProbes, fit_probes
from vitgeom.recoverability import RecoverabilityReport
from vitgeom.store.features import open_features

L2 = (0.01, 0.1)


@pytest.fixture(scope="module")
def features(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Receipt]:
    folder = tmp_path_factory.mktemp("features")
    sealed = extract(
        noise(120),
        BACKBONE,
        store=str(folder),
        settings=settings(rows_per_range=32, batch_size=16),
        engine=SerialEngine(),
    )
    return folder, sealed


def request(features: tuple[Path, Receipt], **changes: object) -> ProbeRequest:
    folder, sealed = features
    fields = {
        "store": str(folder),
        "address": sealed.detail["address"],
        "manifest_digest": sealed.digest,
        "l2": L2,
        "num_bootstrap": 50,
        "max_iter": 100,
    }
    return ProbeRequest(**{**fields, **changes})


@pytest.fixture(scope="module")
def fitted(features: tuple[Path, Receipt]) -> Receipt:
    return run(request(features))


def read_json(receipt: Receipt, name: str) -> dict[str, object]:
    return dict(json.loads(Path(receipt.uri, name).read_bytes()))


def test_the_probes_are_those_of_the_library(features: tuple[Path, Receipt], fitted: Receipt) -> None:
    folder, sealed = features
    store = open_features(folder, sealed.detail["address"])
    matrices = {}
    for split in ("train", "val", "test"):
        layers = store.read(split, "cls").copy()
        layers[:, -1] = store.read(split, "cls_normed")
        matrices[split] = torch.from_numpy(layers)
    labels = {split: store.read(split, "label") for split in matrices}
    direct = fit_probes(
        matrices["train"], labels["train"], X_val=matrices["val"], y_val=labels["val"], l2=L2, max_iter=100
    )
    tensors = load(Path(fitted.uri, "probes.safetensors").read_bytes())
    stored = LayerProbes.from_parts(tensors, read_json(fitted, "probes.json")["meta"])  # type: ignore[arg-type]
    torch.testing.assert_close(stored.weight, direct.weight, rtol=1e-4, atol=1e-5)
    assert stored.best_layer == direct.best_layer
    predictions = load(Path(fitted.uri, "predictions.safetensors").read_bytes())
    torch.testing.assert_close(
        predictions["test_logits"], direct.logits(matrices["test"]), rtol=1e-3, atol=1e-4
    )
    assert predictions["val_logits"].shape == (24, 12, 3)
    np.testing.assert_array_equal(stored.classes[predictions["test_targets"].numpy()], labels["test"])


def test_the_findings_are_about_the_stored_predictions(fitted: Receipt) -> None:
    findings = read_json(fitted, "recoverability.json")
    report = RecoverabilityReport.from_json(findings["report"])  # type: ignore[arg-type]
    predictions = load(Path(fitted.uri, "predictions.safetensors").read_bytes())
    correct = predictions["test_logits"].argmax(dim=2) == predictions["test_targets"][:, None]
    assert [interval.value for interval in report.accuracy] == pytest.approx(
        correct.double().mean(dim=0).tolist()
    )
    wrong = ~correct[:, -1]
    assert report.errors == int(wrong.sum()) == fitted.detail["errors"]
    assert report.r_any is not None
    assert report.r_any.value == pytest.approx(float(correct[wrong, :-1].any(dim=1).double().mean()))
    assert fitted.detail["accuracy_last"] == pytest.approx(float(correct[:, -1].double().mean()))
    assert len(findings["refit_control"]["refit_accuracy"]) == 11  # type: ignore[index,call-overload]
    best = correct[:, fitted.detail["best_layer"]].double().mean() - correct[:, -1].double().mean()
    assert findings["best_minus_last"]["value"] == pytest.approx(float(best))  # type: ignore[index,call-overload]


def test_a_second_run_computes_nothing(
    features: tuple[Path, Receipt], fitted: Receipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "fit_probes", lambda *args, **named: pytest.fail("probes were fitted"))
    again = run(request(features))
    assert (again.cached, again.digest, again.seconds, again.detail) == (
        True,
        fitted.digest,
        fitted.seconds,
        fitted.detail,
    )


def test_a_lost_file_is_computed_again_to_the_same_bytes(
    features: tuple[Path, Receipt], fitted: Receipt
) -> None:
    before = stored_bytes(Path(fitted.uri))
    Path(fitted.uri, "predictions.safetensors").unlink()
    again = run(request(features))
    assert not again.cached
    assert again.digest == fitted.digest
    assert stored_bytes(Path(fitted.uri)) == before


def test_only_the_record_holds_a_time(fitted: Receipt) -> None:
    for name in ("probes.json", "recoverability.json"):
        assert "seconds" not in Path(fitted.uri, name).read_text()
    assert read_json(fitted, "done.json")["seconds"] > 0


def test_raw_and_normed_last_layers_differ_in_the_last_layer_only(
    features: tuple[Path, Receipt], fitted: Receipt
) -> None:
    raw = run(request(features, last_layer="raw"))
    one, other = (
        load(Path(receipt.uri, "predictions.safetensors").read_bytes())["test_logits"]
        for receipt in (fitted, raw)
    )
    assert torch.equal(one[:, :-1], other[:, :-1])
    assert not torch.equal(one[:, -1], other[:, -1])


def test_the_patch_mean_can_be_probed(features: tuple[Path, Receipt], fitted: Receipt) -> None:
    assert run(request(features, token="mean")).digest != fitted.digest


def test_other_features_than_pinned_are_refused(features: tuple[Path, Receipt]) -> None:
    with pytest.raises(
        InvalidInput, match="manifest_digest='000000000000' was asked for, but the features at"
    ):
        run(request(features, manifest_digest="0" * 64))


def test_unsealed_features_are_refused(features: tuple[Path, Receipt], tmp_path: Path) -> None:
    sealed = extract(noise(), BACKBONE, store=str(tmp_path), settings=settings(), engine=SerialEngine())
    Path(tmp_path, sealed.detail["address"], "manifest.json").unlink()
    asked = request(
        features, store=str(tmp_path), address=sealed.detail["address"], manifest_digest=sealed.digest
    )
    with pytest.raises(IncompleteData, match="not sealed"):
        run(asked)


def test_a_token_that_was_not_extracted_is_refused(features: tuple[Path, Receipt], tmp_path: Path) -> None:
    chosen = settings(tokens=("mean",))
    sealed = extract(noise(), BACKBONE, store=str(tmp_path), settings=chosen, engine=SerialEngine())
    asked = request(
        features, store=str(tmp_path), address=sealed.detail["address"], manifest_digest=sealed.digest
    )
    with pytest.raises(InvalidInput, match="array 'cls' is not in this store"):
        run(asked)


def test_nothing_is_fitted_on_a_test_set_under_shift(features: tuple[Path, Receipt], tmp_path: Path) -> None:
    ref = corrupted_ref(noise(), corruption="fog", severity=1)
    sealed = extract(ref, BACKBONE, store=str(tmp_path), settings=settings(), engine=SerialEngine())
    asked = request(
        features, store=str(tmp_path), address=sealed.detail["address"], manifest_digest=sealed.digest
    )
    for attempt in (run, task.memory):
        with pytest.raises(
            InvalidInput, match="have no split train or val, only test: a test set under shift"
        ):
            attempt(asked)
