"""One unit of extraction, against features computed image by image."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from tasks import extract_features
from tasks.extract_features import check_fits, halve_batch, memory, run, torch_threads
from tasks.failure import StorageOverflow, WorkerOutOfMemory
from tasks.plan_extraction import ExtractionPlan, plan
from tasks.request import ExtractRequest
from tests.oracles.tokens_by_hooks import tokens_by_hooks
from tests.support.small_extraction import BACKBONE, TOKEN_LAYERS, noise, settings
from vitgeom.backbones import Backbone, open_backbone
from vitgeom.backbones.capture import LayerCapture
from vitgeom.data import DatasetRef, open_dataset
from vitgeom.errors import InvalidInput
from vitgeom.store.features import open_features


def planned(folder: Path, **options: object) -> ExtractionPlan:
    return plan(noise(), BACKBONE, store=str(folder), settings=settings(**options))


def request_for(work: ExtractionPlan, split: str, start: int) -> ExtractRequest:
    return next(request for request in work.requests if (request.split, request.start) == (split, start))


def test_features_equal_those_of_single_images(tmp_path: Path) -> None:
    work = planned(tmp_path)
    for request in work.requests:
        if request.split == "val":
            run(request)
    store = open_features(tmp_path, work.address)
    backbone, split = open_backbone(BACKBONE), open_dataset(noise()).splits["val"]
    singles = [backbone.capture(backbone.preprocess(split.read(row))[None]) for row in range(len(split))]
    for name in ("cls", "mean", "cls_normed", "mean_normed"):
        expected = np.concatenate([capture.tensors()[name].numpy() for capture in singles])
        np.testing.assert_allclose(store.read("val", name), expected, rtol=1e-4, atol=1e-5)
    assert store.read("val", "label").tolist() == split.labels.tolist()
    assert store.read("val", "group").tolist() == split.groups.tolist()
    assert store.sample_ids("val") == list(split.sample_ids)


def test_the_receipt_describes_the_range(tmp_path: Path) -> None:
    work = planned(tmp_path)
    receipt = run(request_for(work, "train", 8))
    marker = open_features(tmp_path, work.address).marker("train", 8)
    assert marker is not None
    assert (receipt.digest, receipt.rows, receipt.cached, receipt.detail) == (
        marker["digest"],
        8,
        False,
        {"recomputed": 0},
    )
    assert receipt.peak_bytes > 50e6
    assert receipt.uri == f"{tmp_path}/{work.address}"


def test_a_second_run_computes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_for(planned(tmp_path), "val", 0)
    first = run(request)
    monkeypatch.setattr(
        extract_features, "opened_backbone", lambda *args, **named: pytest.fail("the backbone was opened")
    )
    second = run(request)
    assert (second.cached, second.peak_bytes) == (True, first.peak_bytes)
    assert (second.digest, second.seconds) == (first.digest, first.seconds)


def test_a_damaged_marker_is_written_again(tmp_path: Path) -> None:
    work = planned(tmp_path)
    request = request_for(work, "val", 0)
    first = run(request)
    store = open_features(tmp_path, work.address)
    Path(tmp_path, work.address, store.markers.key("val", 0)).write_bytes(b"{}")
    assert run(request).digest == first.digest
    assert run(request).cached


def test_order_of_ranges_changes_no_byte(tmp_path: Path) -> None:
    digests = []
    for name, step in (("forward", 1), ("backward", -1)):
        receipts = [run(request) for request in planned(tmp_path / name).requests[::step]]
        digests.append([receipt.digest for receipt in receipts[::step]])
    assert digests[0] == digests[1]


def test_only_the_tokens_asked_for_are_stored(tmp_path: Path) -> None:
    work = planned(tmp_path, tokens=("mean",))
    run(request_for(work, "val", 0))
    assert not Path(tmp_path, work.address, "val", "cls").exists()
    assert Path(tmp_path, work.address, "val", "mean_normed").exists()


def test_all_tokens_of_chosen_layers_are_those_of_the_models_own_pass(tmp_path: Path) -> None:
    work = planned(tmp_path, token_layers=TOKEN_LAYERS)
    for request in work.requests:
        if request.split == "val":
            run(request)
    store = open_features(tmp_path, work.address)
    backbone, split = open_backbone(BACKBONE), open_dataset(noise()).splits["val"]
    images = torch.stack([backbone.preprocess(split.read(row)) for row in range(len(split))])
    expected = tokens_by_hooks(backbone.model, images).numpy()
    assert store.token_layers == (0, 11)
    assert store.read("val", "tokens").shape == (12, 2, backbone.spec.layout.num_tokens, 96)
    for layer in store.token_layers:
        found = store.read("val", "tokens", layer=layer)
        np.testing.assert_allclose(found, expected[:, layer], rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(found[:, 0], store.read("val", "cls", layer=layer))


def test_tokens_change_no_other_array(tmp_path: Path) -> None:
    first, second = planned(tmp_path), planned(tmp_path, token_layers=TOKEN_LAYERS)
    stores = []
    for work in (first, second):
        run(request_for(work, "val", 0))
        stores.append(open_features(tmp_path, work.address).marker("val", 0))
    without, with_tokens = (dict(marker["chunks"]) for marker in stores if marker is not None)
    assert len(with_tokens.pop("tokens")) == 2
    assert with_tokens == without


def test_tokens_too_large_for_float16_name_their_layer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Backbone.capture

    def capture(self: Backbone, images: torch.Tensor, **how: Any) -> LayerCapture:
        exact = own(self, images, **how)
        if exact.tokens is not None:
            exact.tokens[:, 1, 2] *= 1e7
        return exact

    monkeypatch.setattr(Backbone, "capture", capture)
    narrow = planned(tmp_path, storage="float16", token_layers=TOKEN_LAYERS)
    with pytest.raises(StorageOverflow, match=r"cannot hold tokens of row 8 of split 'train', layer 12: "):
        run(request_for(narrow, "train", 8))
    store = open_features(tmp_path, narrow.address)
    assert store.marker("train", 8) is None
    assert not list(Path(tmp_path, narrow.address).rglob("c/*"))


def enlarged(factor: float) -> object:
    own = Backbone.capture

    def capture(self: Backbone, images: torch.Tensor, **how: Any) -> LayerCapture:
        exact = own(self, images, **how)
        exact.mean[:, 3] *= factor
        return exact

    return capture


def test_features_too_large_for_float16_are_refused_and_fit_float32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backbone, "capture", enlarged(1e7))
    narrow = request_for(planned(tmp_path, storage="float16"), "train", 8)
    with pytest.raises(
        StorageOverflow,
        match=r"storage='float16' cannot hold mean of row 8 of split 'train', layer 4: .* 65504. Use storage='float32'",
    ):
        run(narrow)
    work = planned(tmp_path, storage="float32")
    assert run(request_for(work, "train", 8)).rows == 8


def test_the_overflow_check_names_row_and_array() -> None:
    wide = torch.tensor([[1.0, 2.0], [3.0, 7e4]])
    check_fits(wide, wide, name="cls_normed", split="test", first_row=64)
    with pytest.raises(
        StorageOverflow, match=r"cannot hold cls_normed of row 65 of split 'test': values reach 7e\+04"
    ):
        check_fits(wide.half(), wide, name="cls_normed", split="test", first_row=64)


def test_recomputed_images_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Backbone.capture

    def capture(self: Backbone, images: torch.Tensor, **how: Any) -> LayerCapture:
        exact = own(self, images, **how)
        return LayerCapture(**{**exact.__dict__, "recomputed": 1})

    monkeypatch.setattr(Backbone, "capture", capture)
    assert run(request_for(planned(tmp_path), "val", 0)).detail == {"recomputed": 3}


def test_a_file_that_vanished_since_the_plan_is_named(tmp_path: Path) -> None:
    for label in "ab":
        for number in range(5):
            file = tmp_path / "data" / label / f"{number}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (8, 8), (number, ord(label), 0)).save(file)
    ref = DatasetRef.from_options("folder", root=str(tmp_path / "data"))
    work = plan(ref, BACKBONE, store=str(tmp_path / "store"), settings=settings())
    for file in (tmp_path / "data" / "a").iterdir():
        file.unlink()
    with pytest.raises(InvalidInput, match=r"a/\d.png"):
        all(run(request) for request in work.requests)


def test_other_content_than_planned_is_refused(tmp_path: Path) -> None:
    request = request_for(planned(tmp_path), "val", 0)
    with pytest.raises(InvalidInput, match="has other content now"):
        run(request.model_copy(update={"dataset": noise(seed=3).to_json()}))
    with pytest.raises(InvalidInput, match="has other weights now"):
        run(
            request.model_copy(
                update={"backbone": {"name": BACKBONE.name, "options": {**dict(BACKBONE.options), "seed": 3}}}
            )
        )


def test_threads_are_those_of_the_request_inside_and_the_callers_outside() -> None:
    before = torch.get_num_threads()
    with torch_threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before


def test_a_full_device_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Backbone, images: torch.Tensor, **how: Any) -> LayerCapture:
        raise torch.OutOfMemoryError("CUDA out of memory")

    request = request_for(planned(tmp_path), "val", 0)
    monkeypatch.setattr(Backbone, "capture", full)
    with pytest.raises(WorkerOutOfMemory, match="batch_size=3 does not fit into the memory of device 'cpu'"):
        run(request)


def test_half_a_batch_needs_less_and_gives_the_same_features(tmp_path: Path) -> None:
    request = request_for(planned(tmp_path / "a", batch_size=8), "train", 0)
    half = halve_batch(request)
    assert (
        half.batch_size,
        halve_batch(halve_batch(half)).batch_size,
        halve_batch(request_for(planned(tmp_path, batch_size=1), "val", 0)).batch_size,
    ) == (4, 1, 1)
    assert memory(half) < memory(request)
    run(request)
    work = planned(tmp_path / "b")
    run(half.model_copy(update={"store": str(tmp_path / "b"), "address": work.address}))
    for name in ("cls", "mean_normed"):
        one, other = (
            open_features(tmp_path / folder, work.address).array("train", spec)
            for folder in "ab"
            for spec in open_features(tmp_path / folder, work.address).layout.specs
            if spec.name == name
        )
        np.testing.assert_allclose(one[:8], other[:8], rtol=1e-4, atol=1e-5)
