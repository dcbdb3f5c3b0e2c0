"""Horizontal fusion: several backbones of one dataset, pinned, the same images, cached, the same bytes again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from safetensors.torch import load

from tasks import fit_horizontal as task
from tasks import fit_probes
from tasks.classifier_files import read_classifier
from tasks.fit_horizontal import memory, run, stored
from tasks.receipt import Receipt
from tasks.request import ProbeRequest
from tests.support import small_fusion
from tests.support.small_fusion import QUICK, Sealed, horizontal_request, sealed_features
from vitgeom.errors import InvalidInput
from vitgeom.fusion import evidence
from vitgeom.fusion.comparison import Comparison
from vitgeom.store.uri import Root


@pytest.fixture(scope="module")
def backbones(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sealed, Sealed]:
    folder = tmp_path_factory.mktemp("features")
    return sealed_features(folder), sealed_features(folder, weights="f")


@pytest.fixture(scope="module")
def fused(backbones: tuple[Sealed, Sealed]) -> Receipt:
    return run(horizontal_request(*backbones))


def test_the_table_has_each_backbone_alone_and_all_together(fused: Receipt) -> None:
    told = json.loads(Path(fused.uri, "comparison.json").read_bytes())
    comparison = Comparison.from_json(told["comparison"])
    assert [row.name for row in comparison.rows] == [
        "last layer of backbone0",
        "last layer of backbone1",
        "hfusion",
    ]
    assert comparison.reference == "hfusion"
    assert [entry["backbone_passes"] for entry in told["methods"]] == [2]
    assert [entry["backbone"] for entry in told["features"]] == ["backbone0", "backbone1"]
    predictions = load(Path(fused.uri, "predictions.safetensors").read_bytes())
    for row in comparison.rows:
        right = (predictions[row.name] == predictions["target"]).double()
        assert row.accuracy.value == pytest.approx(float(right.mean()))
    assert read_classifier(Root(fused.uri), "hfusion", 1).widths_ == (5, 5)


def test_stored_probes_of_the_last_layers_are_taken_and_change_no_byte(
    backbones: tuple[Sealed, Sealed], fused: Receipt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probes = tuple(
        fit_probes.run(
            ProbeRequest(
                store=str(one.store),
                address=one.address,
                manifest_digest=one.digest,
                l2=QUICK["l2"],
                tol=QUICK["tol"],
                num_bootstrap=20,
            )
        ).uri
        for one in backbones
    )
    again = tuple(sealed_features(tmp_path, weights=weights) for weights in ("e", "f"))
    monkeypatch.setattr(evidence, "probe_layer", lambda *args, **named: pytest.fail("a probe was fitted"))
    found = run(horizontal_request(*again, probes=probes))

    assert not found.cached
    assert found.digest == fused.digest
    assert (
        horizontal_request(*again, probes=probes).content() == horizontal_request(*again, probes=()).content()
    )


def test_probes_have_one_entry_per_backbone(backbones: tuple[Sealed, Sealed]) -> None:
    with pytest.raises(ValueError, match="probes must have one entry per backbone, 2, or none, got 1"):
        horizontal_request(*backbones, probes=(None,))


def test_a_second_run_computes_nothing(
    backbones: tuple[Sealed, Sealed], fused: Receipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "fit_method", lambda *args, **named: pytest.fail("a method was fitted"))
    again = run(horizontal_request(*backbones))
    assert again == fused.model_copy(update={"cached": True})
    assert stored(horizontal_request(*backbones)) == again


def test_order_and_names_of_backbones_belong_to_the_address(backbones: tuple[Sealed, Sealed]) -> None:
    assert stored(horizontal_request(*reversed(backbones))) is None
    assert stored(horizontal_request(*backbones, backbones=("a", "b"))) is None


def test_features_of_other_images_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sealed_features(tmp_path)
    monkeypatch.setattr(small_fusion, "SPLITS", {"train": 60, "val": 20, "test": 23})
    with pytest.raises(InvalidInput, match="must be of the same images in the same order, but split 'test'"):
        run(horizontal_request(first, sealed_features(tmp_path, weights="f")))


def test_other_features_than_those_pinned_are_refused(backbones: tuple[Sealed, Sealed]) -> None:
    with pytest.raises(InvalidInput, match="manifest_digest='000000000000' was asked for"):
        run(horizontal_request(*backbones, manifest_digests=(backbones[0].digest, "0" * 64)))


def test_more_classifiers_need_more_memory(backbones: tuple[Sealed, Sealed]) -> None:
    assert memory(horizontal_request(*backbones, seeds=(0, 1, 2))) > memory(horizontal_request(*backbones))


def test_a_device_that_is_not_there_is_no_result_of_a_method(
    backbones: tuple[Sealed, Sealed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    wanted = horizontal_request(*backbones).model_copy(update={"device": "cuda"})
    with pytest.raises(InvalidInput, match="cuda"):
        run(wanted)
    assert stored(wanted) is None
