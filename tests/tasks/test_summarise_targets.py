from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tasks.opened import opened_backbone, opened_images
from tasks.summarise_targets import SHOWN, summarise_targets
from tests.support.small_extraction import BACKBONE, noise
from tests.support.small_targets import CLS, MEAN, make
from vitgeom.errors import CorruptData
from vitgeom.store.targets import open_targets


def summary(folder: Path, **options: Any) -> tuple[dict[str, Any], Any, Any]:
    sealed = make(folder, CLS, MEAN, **options)
    content, receipt = summarise_targets(
        sealed,
        dataset=noise(),
        backbone=opened_backbone(BACKBONE.to_json(), device="cpu"),
        store=str(folder),
        num_bootstrap=50,
        seed=0,
        asked={"rank": 3},
        name="noise",
    )
    return json.loads(content), receipt, sealed


def test_every_pair_has_figures_over_its_images(tmp_path: Path) -> None:
    content, receipt, sealed = summary(tmp_path)
    assert [pair["decoder"] for pair in content["pairs"]] == [each.to_json() for each in sealed]
    for pair, seal in zip(content["pairs"], sealed.values(), strict=True):
        kappa = pair["figures"]["figures"]["kappa"]
        assert kappa["images"] == len(pair["images"]) == 5
        assert kappa["mean"]["value"] == pytest.approx(
            sum(each["kappa"]["value"] for each in pair["images"]) / 5
        )
        assert kappa["mean"]["low"] <= kappa["mean"]["value"] <= kappa["mean"]["high"]
        assert pair["origin"]["digest"] == seal.digest
        assert pair["advice"]["regime"] in pair["figures"]["regimes"]
        for each in pair["images"]:
            assert {check["theorem"] for check in each["theorems"]} == {1, 2, 4}
            assert all(check["holds"] for check in each["theorems"])
    assert receipt.detail["products"] == 2 * 5 * 96


def test_token_maps_come_with_their_pictures(tmp_path: Path) -> None:
    content, _, sealed = summary(tmp_path)
    [store, _] = [open_targets(tmp_path, seal.detail["address"]) for seal in sealed.values()]
    maps = content["pairs"][0]["maps"]
    assert len(maps) == SHOWN
    for row, each in enumerate(maps):
        assert each["importance"] == pytest.approx(store.read("test", "importance")[row], rel=1e-5)
        picture = Image.open(io.BytesIO(base64.b64decode(content["pictures"][each["sample"]])))
        assert max(picture.size) <= 112
    assert content["of"]["weights"] == opened_backbone(BACKBONE.to_json(), device="cpu").spec.weights_digest
    assert content["of"]["dataset"] == opened_images(noise().to_json()).digest


def test_equal_targets_give_equal_bytes(tmp_path: Path) -> None:
    one, other = summary(tmp_path / "a"), summary(tmp_path / "b", rows_per_range=3)
    assert one[0] == other[0] | {"pairs": one[0]["pairs"]}
    assert [pair["figures"] for pair in one[0]["pairs"]] == [pair["figures"] for pair in other[0]["pairs"]]


def test_damaged_figures_are_refused(tmp_path: Path) -> None:
    _, _, sealed = summary(tmp_path)
    store = open_targets(tmp_path, sealed[CLS].detail["address"])
    store.root.write_bytes("figures/test/0000000000.json", b"{}")
    with pytest.raises(CorruptData, match="do not match their checksum"):
        summarise_targets(
            sealed,
            dataset=noise(),
            backbone=opened_backbone(BACKBONE.to_json(), device="cpu"),
            store=str(tmp_path),
            num_bootstrap=50,
            seed=0,
            asked={"rank": 3},
            name="noise",
        )
