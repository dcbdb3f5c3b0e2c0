"""The evaluation under shift: against the library, cached, refused where things do not belong together, and nothing is ever fitted or labelled."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load

import tasks
import vitgeom.fusion
import vitgeom.probes
from tasks import evaluate_shift as task
from tasks import shift_results
from tasks.classifier_files import read_classifier
from tasks.evaluate_shift import memory, run, stored
from tasks.layer_source import layer_source
from tasks.method_fit import predicted_classes
from tasks.receipt import Receipt
from tests.oracles.restandardised import restandardised
from tests.support.small_extraction import stored_bytes
from tests.support.small_shift import (
    CONTRAST,
    METHODS,
    NUM_TEST,
    FusedCell,
    fused_cell,
    scenes,
    sealed,
    shift_request,
)
from vitgeom.backbones import BackboneRef
from vitgeom.data import corrupted_ref, subpopulations_ref
from vitgeom.errors import IncompleteData, InvalidInput
from vitgeom.fusion.adapted_scores import ITSELF_AS_IS, LAST_ADAPTED, LAST_AS_IS
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.fusion.methods import CLASSES
from vitgeom.probes.layers import RowSource
from vitgeom.store.features import FeatureStore, open_features
from vitgeom.store.uri import Root

FITS = re.compile(r"^_?(fit|choose|gather|select)(_|$)")
OTHER_BACKBONE = BackboneRef.from_options("nano_selfsup", pretrained=False, image_size=16)


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> FusedCell:
    return fused_cell(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def features(cell: FusedCell) -> Receipt:
    return sealed(cell.store, CONTRAST)


@pytest.fixture(scope="module")
def evaluated(cell: FusedCell, features: Receipt) -> Receipt:
    return run(shift_request(cell, features, CONTRAST))


def told(receipt: Receipt) -> dict[str, Any]:
    return dict(json.loads(Path(receipt.uri, "evaluation.json").read_bytes()))


def rows_by_name(receipt: Receipt) -> dict[str, Any]:
    return {row["name"]: row for row in told(receipt)["rows"]}


def test_figures_are_those_of_the_stored_classifiers_asked_one_by_one(
    cell: FusedCell, features: Receipt, evaluated: Receipt
) -> None:
    store = open_features(Root(str(cell.store)), features.detail["address"])
    rows = layer_source(store, "test", token="cls", last_layer="normed")
    labels = store.read("test", "label")
    shown = rows_by_name(evaluated)
    assert list(shown) == list(METHODS)
    for name, seeds in (
        ("last_layer", [None]),
        ("best_layer", [None]),
        ("mixture_of_experts", [0, 1]),
        ("vfusion", [0, 1]),
    ):
        shares = [
            np.mean(read_classifier(Root(cell.fused.uri), name, seed).predict(rows) == labels)
            for seed in seeds
        ]
        assert shown[name]["accuracy"]["value"] == pytest.approx(np.mean(shares))
        assert evaluated.detail["accuracy"][name] == shown[name]["accuracy"]["value"]
    assert shown["vfusion"]["differences"]["last_layer"]["value"] == pytest.approx(
        shown["vfusion"]["accuracy"]["value"] - shown["last_layer"]["accuracy"]["value"]
    )
    assert evaluated.rows == told(evaluated)["num_samples"] == NUM_TEST


def split_rows(cell: FusedCell, address: str, split: str) -> tuple[np.ndarray, np.ndarray]:
    store = open_features(Root(str(cell.store)), address)
    source = layer_source(store, split, token="cls", last_layer="normed")
    layers = [source(layer).numpy() for layer in range(source.num_layers)]
    return np.stack(layers, axis=1), store.read(split, "label")


def test_with_batch_statistics_they_are_asked_about_rows_restandardised_by_hand(
    cell: FusedCell, features: Receipt, evaluated: Receipt
) -> None:
    test, labels = split_rows(cell, features.detail["address"], "test")
    training, _ = split_rows(cell, told(evaluated)["origin"]["clean_features"]["address"], "train")
    adapted = restandardised(test, training).astype(np.float32)
    found = told(evaluated)["batch_statistics"]
    shown, as_is = {row["name"]: row for row in found["rows"]}, rows_by_name(evaluated)
    assert found["refused"] is None
    assert list(shown) == list(METHODS)
    for name, seeds in (("last_layer", [None]), ("best_layer", [None]), ("vfusion", [0, 1])):
        shares = [
            np.mean(read_classifier(Root(cell.fused.uri), name, seed).predict(adapted) == labels)
            for seed in seeds
        ]
        accuracy, differences = shown[name]["accuracy"]["value"], shown[name]["differences"]
        assert accuracy == pytest.approx(np.mean(shares))
        against = {rival: accuracy - span["value"] for rival, span in differences.items()}
        assert against[ITSELF_AS_IS] == pytest.approx(as_is[name]["accuracy"]["value"])
        assert against[LAST_AS_IS] == pytest.approx(as_is["last_layer"]["accuracy"]["value"])
        if name != "last_layer":
            assert against[LAST_ADAPTED] == pytest.approx(shown["last_layer"]["accuracy"]["value"])
    predictions = load(Path(evaluated.uri, "predictions.safetensors").read_bytes())
    assert set(predictions) == {"target", *METHODS, *(f"batch_statistics/{name}" for name in METHODS)}


def test_every_classifier_is_asked_about_rows_as_they_are_and_then_about_restandardised_ones(
    cell: FusedCell, features: Receipt, evaluated: Receipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[np.ndarray] = []

    def recorded(classifier: LayerClassifier, rows: RowSource) -> torch.Tensor:
        layers = [rows.rows(layer, 0, rows.num_rows).numpy() for layer in range(rows.num_layers)]
        asked.append(np.stack(layers, axis=1))
        return predicted_classes(classifier, rows)

    monkeypatch.setattr(task, "predicted_classes", recorded)
    run(shift_request(cell, features, CONTRAST, num_bootstrap=34))
    test, _ = split_rows(cell, features.detail["address"], "test")
    training, _ = split_rows(cell, told(evaluated)["origin"]["clean_features"]["address"], "train")
    by_hand = restandardised(test, training)
    assert np.abs(by_hand - test).max() > 0.1
    assert len(asked) == 2 * 6  # four methods, two of them with two seeds
    for as_is, adapted in zip(asked[::2], asked[1::2], strict=True):
        np.testing.assert_array_equal(as_is, test)
        np.testing.assert_allclose(adapted, by_hand, rtol=1e-4, atol=1e-4)


def test_labels_change_no_prediction(
    cell: FusedCell, features: Receipt, evaluated: Receipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = FeatureStore.read

    def permuted(store: FeatureStore, split: str, name: str, **which: Any) -> np.ndarray:
        found = read(store, split, name, **which)
        return np.roll(found, 1) if (split, name) == ("test", "label") else found

    monkeypatch.setattr(FeatureStore, "read", permuted)
    other = run(shift_request(cell, features, CONTRAST, num_bootstrap=31))
    one, two = (
        load(Path(receipt.uri, "predictions.safetensors").read_bytes()) for receipt in (evaluated, other)
    )
    before, after = one.pop("target"), two.pop("target")
    assert torch.equal(before.roll(1), after)
    assert not torch.equal(before, after)
    assert all(torch.equal(one[name], two[name]) for name in one | two)


def test_the_clean_test_split_says_what_batch_statistics_cost_there(cell: FusedCell) -> None:
    receipt = run(shift_request(cell, sealed(cell.store, scenes()), scenes()))
    found = told(receipt)
    assert found["condition"]["set"] == "clean"
    shown = {name: row["accuracy"]["value"] for name, row in rows_by_name(receipt).items()}
    clean = {name: span["value"] for name, span in found["clean"]["accuracy"].items()}
    assert shown == pytest.approx(clean)
    assert [row["name"] for row in found["batch_statistics"]["rows"]] == list(METHODS)


def test_too_few_rows_have_their_figures_as_they_are_and_the_reason_for_no_others(
    cell: FusedCell, features: Receipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (task, shift_results):
        monkeypatch.setattr(place, "MIN_ROWS", NUM_TEST + 1)
    receipt = run(shift_request(cell, features, CONTRAST, num_bootstrap=32))
    found = told(receipt)
    assert [row["name"] for row in found["rows"]] == list(METHODS)
    assert found["batch_statistics"]["rows"] == []
    assert found["batch_statistics"]["refused"].startswith(f"{NUM_TEST} test images are fewer than the 73")
    assert set(load(Path(receipt.uri, "predictions.safetensors").read_bytes())) == {"target", *METHODS}


def test_condition_clean_accuracy_and_origin_stand_beside(cell: FusedCell, evaluated: Receipt) -> None:
    found = told(evaluated)
    assert (found["condition"]["corruption"], found["condition"]["severity"]) == ("contrast", 4)
    table = json.loads(Path(cell.fused.uri, "comparison.json").read_bytes())
    clean = {row["name"]: row["accuracy"] for row in table["comparison"]["rows"]}
    assert found["clean"]["accuracy"] == clean
    assert found["origin"]["fused"] == cell.fused.digest
    assert found["origin"]["clean_features"] == table["features"]
    assert "seconds" not in json.dumps(found)


def test_groups_are_counted(cell: FusedCell, features: Receipt, evaluated: Receipt) -> None:
    store = open_features(Root(str(cell.store)), features.detail["address"])
    groups = store.read("test", "group")
    predictions = load(Path(evaluated.uri, "predictions.safetensors").read_bytes())
    found = told(evaluated)["groups"]
    assert sum(found["counts"].values()) == NUM_TEST
    names = ["round on meadow", "round on sea", "angular on meadow", "angular on sea"]
    for method in METHODS:
        right = (predictions[method] == predictions["target"]).double().mean(dim=0).numpy()
        by_group = {name: right[groups == number].mean() for number, name in enumerate(names)}
        shown = found["methods"][method]
        assert {name: span["value"] for name, span in shown["per_group"].items()} == pytest.approx(by_group)
        assert shown["worst"]["value"] == pytest.approx(min(by_group.values()))
        assert shown["mean"]["value"] == pytest.approx(np.mean(list(by_group.values())))
        assert by_group[shown["worst_group"]] == pytest.approx(min(by_group.values()))


def test_the_clean_test_split_by_sub_population_gives_the_clean_accuracy(cell: FusedCell) -> None:
    dataset = subpopulations_ref(scenes())
    receipt = run(shift_request(cell, sealed(cell.store, dataset), dataset))
    clean = told(receipt)["clean"]["accuracy"]
    shown = {name: row["accuracy"]["value"] for name, row in rows_by_name(receipt).items()}
    assert shown == pytest.approx({name: span["value"] for name, span in clean.items()})
    assert told(receipt)["condition"]["set"] == "subpopulations"


def test_a_second_run_computes_nothing(
    cell: FusedCell, features: Receipt, evaluated: Receipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "predicted_classes", lambda *args: pytest.fail("a classifier was asked"))
    request = shift_request(cell, features, CONTRAST)
    again = run(request)
    assert (again.cached, again.digest, again.seconds) == (True, evaluated.digest, evaluated.seconds)
    assert stored(request) == again


def test_equal_inputs_give_equal_bytes(cell: FusedCell, evaluated: Receipt, tmp_path: Path) -> None:
    other = fused_cell(tmp_path)
    again = run(shift_request(other, sealed(tmp_path, CONTRAST), CONTRAST, threads=2))
    assert again.digest == evaluated.digest
    assert stored_bytes(Path(again.uri)).keys() == stored_bytes(Path(evaluated.uri)).keys()


@pytest.fixture
def nothing_may_be_fitted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every function and method that fits, gathers evidence or chooses fails when it is called; returns their names."""
    found = []
    for module in _modules():
        for name, given in list(vars(module).items()):
            if FITS.match(name) and callable(given) and not isinstance(given, type):
                monkeypatch.setattr(module, name, _forbidden(f"{module.__name__}.{name}"))
                found.append(name)
    for kind in {LayerClassifier, *CLASSES}:
        for name in [name for name in dir(kind) if FITS.match(name)]:
            monkeypatch.setattr(kind, name, _forbidden(f"{kind.__name__}.{name}"))
            found.append(f"{kind.__name__}.{name}")
    return found


def _modules() -> Iterator[Any]:
    for package in (vitgeom.fusion, vitgeom.probes):
        yield package
        for about in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(about.name)
    for name in ("fit_fusion", "fit_probes", "fit_horizontal", "method_fit"):
        yield importlib.import_module(f"{tasks.__name__}.{name}")


def _forbidden(name: str) -> Any:
    def fail(*args: object, **named: object) -> None:
        raise AssertionError(f"{name} was called: something is fitted or chosen under shift")

    return fail


def test_nothing_is_fitted_or_chosen(cell: FusedCell, nothing_may_be_fitted: list[str]) -> None:
    for name in ("gather_evidence", "fit_layer", "fit_method", "choose_strength", "choose_layer"):
        assert name in nothing_may_be_fitted
    assert {"LayerClassifier.fit", "VFusionClassifier._fit", "VFusionClassifier.fit_evidence"} <= set(
        nothing_may_be_fitted
    )
    dataset = corrupted_ref(scenes(), corruption="brightness", severity=2)
    receipt = run(shift_request(cell, sealed(cell.store, dataset), dataset))
    assert not receipt.cached
    assert told(receipt)["batch_statistics"]["rows"]
    assert not run(shift_request(cell, sealed(cell.store, scenes()), scenes(), num_bootstrap=33)).cached
    with pytest.raises(AssertionError, match="something is fitted"):
        fused_cell(cell.store, methods=("last_layer",))


def test_shifted_rows_change_no_byte_of_the_fitted_results(cell: FusedCell, evaluated: Receipt) -> None:
    before = stored_bytes(Path(cell.fused.uri))
    severe = corrupted_ref(scenes(), corruption="contrast", severity=5)
    other = run(shift_request(cell, sealed(cell.store, severe), severe))
    assert stored_bytes(Path(cell.fused.uri)) == before
    assert other.uri != evaluated.uri
    one, two = (
        load(Path(receipt.uri, "predictions.safetensors").read_bytes()) for receipt in (evaluated, other)
    )
    assert torch.equal(one["target"], two["target"])
    assert told(evaluated)["samples"] == told(other)["samples"]


def test_features_with_rows_to_fit_on_are_refused(cell: FusedCell) -> None:
    other = scenes(seed=1)
    with pytest.raises(
        InvalidInput, match=r"has the splits .*train.*; a test set under shift has 'test' alone"
    ):
        run(shift_request(cell, sealed(cell.store, other), other))


def test_features_of_another_backbone_are_refused(cell: FusedCell) -> None:
    foreign = sealed(cell.store, CONTRAST, backbone=OTHER_BACKBONE)
    with pytest.raises(InvalidInput, match=r"another backbone .*: weights differ"):
        run(shift_request(cell, foreign, CONTRAST))
    larger = BackboneRef.from_options("nano_supervised", pretrained=False, image_size=32)
    with pytest.raises(InvalidInput, match=r"another backbone .*preprocessing differ"):
        run(shift_request(cell, sealed(cell.store, CONTRAST, backbone=larger), CONTRAST))


def test_features_without_the_token_are_refused(cell: FusedCell) -> None:
    means = sealed(cell.store, CONTRAST, tokens=("mean",))
    with pytest.raises(InvalidInput, match=r"fitted on token 'cls', but .* holds mean"):
        run(shift_request(cell, means, CONTRAST))


def test_a_shift_of_another_dataset_is_refused(cell: FusedCell) -> None:
    other = corrupted_ref(scenes(seed=1), corruption="contrast", severity=4)
    with pytest.raises(
        InvalidInput, match=r"is a shift of the dataset with digest .* but the classifiers were fitted on"
    ):
        run(shift_request(cell, sealed(cell.store, other), other))


def test_a_reference_that_is_not_that_of_the_features_is_refused(cell: FusedCell, features: Receipt) -> None:
    other = corrupted_ref(scenes(), corruption="fog", severity=4)
    with pytest.raises(InvalidInput, match="has other content now"):
        run(shift_request(cell, features, other, num_bootstrap=30))


def test_other_classifiers_or_features_than_those_pinned_are_refused(
    cell: FusedCell, features: Receipt
) -> None:
    with pytest.raises(InvalidInput, match="fused_digest='000000000000' was asked for"):
        run(shift_request(cell, features, CONTRAST, fused_digest="0" * 64))
    with pytest.raises(InvalidInput, match="manifest_digest='000000000000' was asked for"):
        run(shift_request(cell, features, CONTRAST, manifest_digest="0" * 64))


def test_damaged_classifiers_are_refused(features: Receipt, tmp_path: Path) -> None:
    broken = fused_cell(tmp_path, methods=("last_layer",))
    Path(broken.fused.uri, "last_layer.safetensors").write_bytes(b"torn")
    with pytest.raises(IncompleteData, match="holds no finished comparison"):
        run(shift_request(broken, sealed(tmp_path, CONTRAST), CONTRAST))


def test_a_damaged_result_is_computed_again(cell: FusedCell, features: Receipt) -> None:
    request = shift_request(cell, features, CONTRAST, num_bootstrap=20)
    first = run(request)
    Path(first.uri, "evaluation.json").write_bytes(b"{}")
    assert stored(request) is None
    again = run(request)
    assert (again.cached, again.digest) == (False, first.digest)


def test_memory_counts_the_rows_and_the_largest_classifier(cell: FusedCell, features: Receipt) -> None:
    assert memory(shift_request(cell, features, CONTRAST)) > task.PROCESS_BYTES
