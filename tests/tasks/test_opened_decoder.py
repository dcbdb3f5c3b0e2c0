"""Directions among the latents of a bottleneck: against the dense Jacobian, and no other bottleneck than the one that was meant."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tasks.bottleneck_material import joined_of
from tasks.bottleneck_request import BottleneckRequest
from tasks.engine import SerialEngine
from tasks.opened import opened_backbone, opened_images
from tasks.opened_decoder import opened_decoder, prefix_of
from tasks.receipt import Receipt
from tasks.target_request import DecoderRef, TargetSettings, TrainedBottleneck
from tasks.target_set import make_target_set
from tasks.train_bottleneck import MODEL, run
from tests.support.small_bottleneck import BACKBONE, DATASET, bottleneck_request
from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck import FromLatents, ThroughBottleneck, load_bottleneck
from vitgeom.store.figures import read_figures
from vitgeom.store.targets import open_targets


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BottleneckRequest, DecoderRef]:
    folder = tmp_path_factory.mktemp("latents")
    request = bottleneck_request(folder)
    return folder, request, behind(request, run(request))


def behind(request: BottleneckRequest, receipt: Receipt) -> DecoderRef:
    bottleneck = TrainedBottleneck(path=request.path, digest=receipt.digest)
    return DecoderRef(name=request.decoder, layer=12, behind=bottleneck)


def targets_of(folder: Path, ref: DecoderRef) -> Receipt:
    return make_target_set(
        DATASET,
        BACKBONE,
        [ref],
        store=str(folder),
        settings=TargetSettings(images=2, rank=4, checks=False),
        engine=SerialEngine(),
        emit=lambda line: None,
        label="latents",
    )[ref]


def test_targets_of_latents_are_what_the_dense_jacobian_says(
    trained: tuple[Path, BottleneckRequest, DecoderRef],
) -> None:
    folder, request, ref = trained
    receipt = targets_of(folder, ref)
    assert "/scenes_camera-latents/" in receipt.uri
    store = open_targets(folder, receipt.detail["address"])
    assert (store.layout.num_tokens, store.layout.width) == (2, 3)
    joined = joined_of(request)
    decoder = FromLatents(ThroughBottleneck(joined, load_bottleneck(folder / request.path / MODEL, joined)))
    split = opened_images(DATASET.to_json()).splits["test"]
    figures = [each for start, _ in store.ranges("test") for each in read_figures(store, "test", start)]
    for row, each in enumerate(figures):
        bound = decoder.at(joined.backbone.preprocess(split.read(each["image"])))
        assert store.read("test", "features")[row] == pytest.approx(bound.features.numpy(), rel=1e-5)
        dense = torch.autograd.functional.jacobian(bound, bound.features).reshape(-1, 6).double()
        _, sigma, right = torch.linalg.svd(dense, full_matrices=False)
        assert store.read("test", "singular_values")[row] == pytest.approx(
            sigma[:4].numpy(), rel=1e-3, abs=1e-5
        )
        found = torch.from_numpy(store.read("test", "right_vectors")[row]).double().flatten(0, 1)
        assert abs(float(right[0] @ found[:, 0])) == pytest.approx(1, abs=1e-4)


def test_among_latents_none_is_a_prefix_token(trained: tuple[Path, BottleneckRequest, DecoderRef]) -> None:
    _, request, ref = trained
    backbone = opened_backbone(BACKBONE.to_json(), device="cpu")
    assert prefix_of(ref, backbone) == 0
    plain = DecoderRef(name=request.decoder, layer=8)
    assert prefix_of(plain, backbone) == backbone.spec.layout.num_prefix


def test_another_bottleneck_than_the_one_that_was_meant_is_refused(
    trained: tuple[Path, BottleneckRequest, DecoderRef],
) -> None:
    folder, _, ref = trained
    assert ref.behind is not None
    other = ref.model_copy(update={"behind": ref.behind.model_copy(update={"digest": "0" * 64})})
    with pytest.raises(InvalidInput, match="must be the one of digest 000000000000"):
        targets_of(folder, other)
    gone = ref.model_copy(update={"behind": ref.behind.model_copy(update={"path": "metric/nowhere"})})
    with pytest.raises(InvalidInput, match="got none that is whole"):
        targets_of(folder, gone)


def test_a_bottleneck_for_another_head_is_refused(
    trained: tuple[Path, BottleneckRequest, DecoderRef],
) -> None:
    folder, _, ref = trained
    backbone = opened_backbone(BACKBONE.to_json(), device="cpu")
    with pytest.raises(InvalidInput, match="scenes_camera"):
        opened_decoder(ref.model_copy(update={"name": "scenes_depth"}), backbone, store=str(folder))


def test_a_plain_reference_is_written_as_before_bottlenecks_could_be_named() -> None:
    assert DecoderRef(name="cls", layer=3).to_json() == {"name": "cls", "layer": 3, "metric": "euclidean"}
