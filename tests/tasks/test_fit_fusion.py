"""The fusion task: against a direct call of the library, cached, the same bytes again, and one bad method stops nobody."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load

from tasks import fit_fusion as task
from tasks.classifier_files import read_classifier
from tasks.fit_fusion import evidence_settings, memory, run, stored
from tasks.layer_source import layer_source
from tasks.receipt import Receipt
from tests.support.small_extraction import stored_bytes
from tests.support.small_fusion import METHODS, Sealed, fusion_request, sealed_features
from vitgeom.errors import InvalidInput, NumericalFailure, StoreError
from vitgeom.fusion.comparison import Comparison
from vitgeom.fusion.evidence import gather_evidence
from vitgeom.fusion.last_layer import LastLayerClassifier
from vitgeom.store.features import open_features
from vitgeom.store.uri import Root


@pytest.fixture(scope="module")
def features(tmp_path_factory: pytest.TempPathFactory) -> Sealed:
    return sealed_features(tmp_path_factory.mktemp("features"))


@pytest.fixture(scope="module")
def fused(features: Sealed) -> Receipt:
    return run(fusion_request(features))


def table(receipt: Receipt) -> dict[str, object]:
    return dict(json.loads(Path(receipt.uri, "comparison.json").read_bytes()))


def test_the_predictions_are_those_of_the_library(features: Sealed, fused: Receipt) -> None:
    store = open_features(features.store, features.address)
    rows = {
        split: layer_source(store, split, token="cls", last_layer="normed")
        for split in ("train", "val", "test")
    }
    labels = {split: store.read(split, "label") for split in rows}
    evidence = gather_evidence(
        rows["train"], labels["train"], rows["val"], labels["val"],
        settings=evidence_settings(fusion_request(features)),
    )  # fmt: skip
    direct = LastLayerClassifier(seed=0).fit_evidence(evidence).predict(rows["test"])
    predictions = load(Path(fused.uri, "predictions.safetensors").read_bytes())
    np.testing.assert_array_equal(evidence.data.classes[predictions["last_layer"][0].numpy()], direct)
    assert {name: len(tensor) for name, tensor in predictions.items() if name in METHODS} == {
        "last_layer": 1, "best_layer": 1, "mixture_of_experts": 2, "last4_concat": 1, "vfusion_no_orth": 2, "vfusion": 2,
    }  # fmt: skip
    assert predictions["layers"].shape == (3, 24)


def test_the_table_is_about_the_stored_predictions(fused: Receipt) -> None:
    told = table(fused)
    comparison = Comparison.from_json(told["comparison"])  # type: ignore[arg-type]
    predictions = load(Path(fused.uri, "predictions.safetensors").read_bytes())
    assert [row.name for row in comparison.rows] == list(METHODS)
    for row in comparison.rows:
        right = (predictions[row.name] == predictions["target"]).double()
        assert row.accuracy.value == pytest.approx(float(right.mean()))
        assert fused.detail["accuracy"][row.name] == row.accuracy.value
    assert comparison.reference == "vfusion"
    assert [entry["name"] for entry in told["methods"]] == list(METHODS)  # type: ignore[union-attr, attr-defined]
    assert told["failures"] == []
    assert "seconds" not in json.dumps(told)
    assert set(fused.detail["seconds_per_image"]) == set(METHODS)


def test_a_stored_classifier_predicts_what_was_stored(features: Sealed, fused: Receipt) -> None:
    store = open_features(features.store, features.address)
    test = layer_source(store, "test", token="cls", last_layer="normed")
    predictions = load(Path(fused.uri, "predictions.safetensors").read_bytes())
    for name, seed, line in (("vfusion", 1, 1), ("mixture_of_experts", 0, 0), ("last4_concat", None, 0)):
        classifier = read_classifier(Root(fused.uri), name, seed)
        assert torch.equal(
            torch.from_numpy(classifier.predict_log_proba(test).argmax(axis=1)), predictions[name][line]
        )


def test_a_second_run_computes_nothing(
    features: Sealed, fused: Receipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "fit_method", lambda *args, **named: pytest.fail("a method was fitted"))
    again = run(fusion_request(features))
    assert (again.cached, again.digest, again.seconds, again.detail) == (
        True,
        fused.digest,
        fused.seconds,
        fused.detail,
    )
    assert stored(fusion_request(features)) == again


def test_equal_inputs_give_equal_bytes(features: Sealed, fused: Receipt, tmp_path: Path) -> None:
    again = run(fusion_request(sealed_features(tmp_path)))
    first, second = stored_bytes(Path(fused.uri)), stored_bytes(Path(again.uri))
    names = first.keys() - {"done.json"}
    assert {name: second[name] for name in names} == {name: first[name] for name in names}
    assert again.digest == fused.digest


def test_one_method_that_fails_is_a_row_and_the_others_are_compared(features: Sealed) -> None:
    wanted = fusion_request(features, methods=("last_layer", "vfusion"))
    wanted = wanted.model_copy(update={"encoder": wanted.encoder.model_copy(update={"latent_dim": 5000})})
    receipt = run(wanted)
    [failure] = table(receipt)["failures"]  # type: ignore[misc, attr-defined]
    assert failure["name"] == "vfusion"
    assert failure["error"].startswith("InvalidInput: latent_dim must be at most")
    comparison = Comparison.from_json(table(receipt)["comparison"])  # type: ignore[arg-type]
    assert [row.name for row in comparison.rows] == ["last_layer"]
    assert comparison.reference == "last_layer"
    assert receipt.detail["failures"] == {"vfusion": failure["error"]}


def test_nothing_but_failures_is_a_failure(features: Sealed) -> None:
    wanted = fusion_request(features, methods=("vfusion",))
    wanted = wanted.model_copy(update={"encoder": wanted.encoder.model_copy(update={"latent_dim": 5000})})
    with pytest.raises(
        NumericalFailure, match=r"none of the methods vfusion could be fitted.*latent_dim must be"
    ):
        run(wanted)
    assert stored(wanted) is None


def test_other_features_than_those_pinned_are_refused(features: Sealed) -> None:
    with pytest.raises(InvalidInput, match="manifest_digest='000000000000' was asked for"):
        run(fusion_request(features, manifest_digest="0" * 64))


def test_a_damaged_result_is_computed_again(features: Sealed) -> None:
    wanted = fusion_request(features, methods=("last_layer",))
    first = run(wanted)
    Path(first.uri, "last_layer.safetensors").write_bytes(b"torn")
    assert stored(wanted) is None
    again = run(wanted)
    assert (again.cached, again.digest) == (False, first.digest)


def test_features_that_cannot_be_read_are_no_failure_of_a_method(
    features: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: object, evidence: object) -> None:
        raise StoreError("the place does not answer")

    monkeypatch.setattr(LastLayerClassifier, "_fit", broken)
    with pytest.raises(StoreError, match="does not answer"):
        run(fusion_request(features, methods=("last_layer", "best_layer"), seed=7))


def test_more_classifiers_need_more_memory(features: Sealed) -> None:
    assert memory(fusion_request(features, seeds=(0, 1, 2))) > memory(fusion_request(features))


def test_a_device_that_is_not_there_is_no_result_of_a_method(
    features: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    wanted = fusion_request(features, methods=("last_layer", "vfusion")).model_copy(update={"device": "cuda"})
    with pytest.raises(InvalidInput, match="cuda"):
        run(wanted)
    assert stored(wanted) is None
