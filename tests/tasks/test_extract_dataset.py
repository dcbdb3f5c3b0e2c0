"""A whole extraction in the driver: cached, resumed, widened, refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tasks import extract_dataset
from tasks.engine import SerialEngine
from tasks.extract_dataset import OVERFLOW_NOTE, extract
from tasks.failure import StorageOverflow
from tasks.plan_extraction import plan
from tasks.receipt import Receipt
from tests.support.small_extraction import (
    BACKBONE,
    NO_CLASS_TOKEN,
    TOKEN_LAYERS,
    noise,
    settings,
    stored_bytes,
)
from vitgeom.backbones import Backbone
from vitgeom.backbones.capture import LayerCapture
from vitgeom.data import corrupted_ref, open_shifted
from vitgeom.errors import InvalidInput, StoreLocked
from vitgeom.store.features import open_features
from vitgeom.store.lease import lease
from vitgeom.store.uri import Root


def extracted(folder: Path, lines: list[str] | None = None, **options: object) -> Receipt:
    emit = None if lines is None else lines.append
    return extract(
        noise(), BACKBONE, store=str(folder), settings=settings(**options), engine=SerialEngine(), emit=emit
    )


def test_everything_is_extracted_and_sealed(tmp_path: Path) -> None:
    lines: list[str] = []
    sealed = extracted(tmp_path, lines)
    assert (sealed.rows, sealed.cached, sealed.detail["computed_ranges"], sealed.detail["widened"]) == (
        60,
        False,
        9,
        False,
    )
    assert open_features(tmp_path, sealed.detail["address"]).manifest().digest == sealed.digest
    assert lines[-1].startswith("extract noise-")
    assert "9/9 ranges  60/60 images" in lines[-1]


def test_a_second_extraction_opens_no_image_and_changes_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = extracted(tmp_path)
    before = stored_bytes(tmp_path)
    monkeypatch.setattr(Backbone, "preprocess", lambda self, image: pytest.fail("an image was decoded"))
    second = extracted(tmp_path)
    assert (second.cached, second.detail["computed_ranges"], second.digest) == (True, 0, first.digest)
    assert stored_bytes(tmp_path) == before


def test_only_missing_ranges_are_computed(tmp_path: Path) -> None:
    first = extracted(tmp_path / "a")
    extracted(tmp_path / "b")
    store = open_features(tmp_path / "b", first.detail["address"])
    Path(store.root.uri, "manifest.json").unlink()
    store.markers.remove("train", 16)
    again = extracted(tmp_path / "b")
    assert (again.detail["computed_ranges"], again.detail["computed_rows"]) == (1, 8)
    assert stored_bytes(tmp_path / "a") == stored_bytes(tmp_path / "b")


def test_a_complete_store_without_a_seal_is_sealed(tmp_path: Path) -> None:
    first = extracted(tmp_path)
    Path(tmp_path, first.detail["address"], "manifest.json").unlink()
    assert extracted(tmp_path).digest == first.digest


@pytest.fixture
def huge_features(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Features of layer 4 leave float16; returns how often an image batch was computed."""
    own, calls = Backbone.capture, []

    def capture(self: Backbone, images: torch.Tensor, **how: Any) -> LayerCapture:
        calls.append(len(images))
        exact = own(self, images, **how)
        exact.mean[:, 3] *= 1e7
        return exact

    monkeypatch.setattr(Backbone, "capture", capture)
    return calls


def test_features_that_do_not_fit_are_stored_wider_and_the_receipt_says_so(
    tmp_path: Path, huge_features: list[int]
) -> None:
    lines: list[str] = []
    sealed = extracted(tmp_path, lines, storage="float16")
    assert (sealed.detail["widened"], sealed.detail["storage"], sealed.rows) == (True, "float32", 60)
    assert any(
        "do not fit float16 and are stored as float32 instead: storage='float16' cannot hold mean" in line
        for line in lines
    )
    store = open_features(tmp_path, sealed.detail["address"])
    assert float(abs(store.read("train", "mean", layer=3)).max()) > 65504
    assert extracted(tmp_path, storage="float32").digest == sealed.digest


def test_tokens_are_widened_with_everything_else(tmp_path: Path, huge_features: list[int]) -> None:
    sealed = extracted(tmp_path, storage="float16", token_layers=TOKEN_LAYERS)
    store = open_features(tmp_path, sealed.detail["address"])
    assert sealed.detail["widened"]
    assert store.read("val", "tokens", layer=11).dtype == np.float32
    assert extracted(tmp_path, storage="float32", token_layers=TOKEN_LAYERS).digest == sealed.digest


def test_a_known_overflow_is_not_tried_again(tmp_path: Path, huge_features: list[int]) -> None:
    first = extracted(tmp_path, storage="float16")
    planned = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings(storage="float16"))
    assert Path(tmp_path, planned.address, OVERFLOW_NOTE).exists()
    computed = len(huge_features)
    second = extracted(tmp_path, storage="float16")
    # Opening the backbone runs its own check on two images; no range is computed.
    assert [size for size in huge_features[computed:] if size != 2] == []
    assert (second.cached, second.detail["widened"], second.digest) == (True, True, first.digest)


def test_an_overflow_of_the_widest_format_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overflow(work: object, **named: object) -> Receipt:
        raise StorageOverflow("storage='float32' cannot hold it.")

    monkeypatch.setattr(extract_dataset, "_finish", overflow)
    with pytest.raises(StorageOverflow, match="storage='float32' cannot hold it"):
        extracted(tmp_path)


def test_a_store_that_another_driver_holds_is_refused(tmp_path: Path) -> None:
    planned = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings())
    with (
        lease(Root(str(tmp_path)), planned.address),
        pytest.raises(StoreLocked, match="is in use by process"),
    ):
        extracted(tmp_path)
    assert extracted(tmp_path).rows == 60


def test_a_missing_class_token_is_refused_with_the_alternative(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"Use tokens='mean'"):
        extract(noise(), NO_CLASS_TOKEN, store=str(tmp_path), settings=settings(), engine=SerialEngine())
    assert list(tmp_path.iterdir()) == []


def test_memory_and_object_stores_work_alike(tmp_path: Path) -> None:
    local = extracted(tmp_path)
    memory = extract(
        noise(), BACKBONE, store="memory://test-extract-dataset", settings=settings(), engine=SerialEngine()
    )
    assert memory.digest == local.digest


def test_lines_call_the_pair_as_the_caller_does(tmp_path: Path) -> None:
    lines: list[str] = []
    extract(
        noise(),
        BACKBONE,
        store=str(tmp_path),
        settings=settings(),
        engine=SerialEngine(),
        emit=lines.append,
        label="my images × nano",
    )
    assert lines
    assert all(line.startswith("extract my images × nano  ") for line in lines)


def test_a_test_set_under_shift_is_extracted_into_a_store_of_its_test_split_alone(tmp_path: Path) -> None:
    clean = extracted(tmp_path)
    ref = corrupted_ref(noise(), corruption="gaussian_noise", severity=5)
    receipt = extract(ref, BACKBONE, store=str(tmp_path), settings=settings(), engine=SerialEngine())
    shifted = open_features(tmp_path, receipt.detail["address"])
    data = open_shifted(ref)
    assert shifted.splits == {"test": len(data.test)} == receipt.detail["splits"]
    assert shifted.description["dataset"] == data.digest
    before = open_features(tmp_path, clean.detail["address"])
    assert list(shifted.sample_ids("test")) == list(before.sample_ids("test")) == list(data.test.sample_ids)
    assert (shifted.read("test", "label") == before.read("test", "label")).all()
    first, second = (store.read("test", "mean", layer=1) for store in (before, shifted))
    assert first.shape == second.shape
    assert abs(first - second).max() > 0.01
    again = extract(ref, BACKBONE, store=str(tmp_path), settings=settings(), engine=SerialEngine())
    assert (again.cached, again.digest) == (True, receipt.digest)
